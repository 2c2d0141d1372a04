/* SPDX-License-Identifier: Apache-2.0 */

/* UBL quotations.  What was read and written once is written the same again. */

#include "pricing/formats/qm-quote-ubl.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/fuzz/fuzz-quotes.h"

static void
write_again (const QmQuote *quote)
{
  GBytes *first = qm_quote_ubl_write (quote, NULL), *second;
  QmQuote *again;

  if (first == NULL)
    return;
  again = qm_quote_ubl_read (g_bytes_get_data (first, NULL),
                             g_bytes_get_size (first), NULL, NULL);
  require (again != NULL && again->lines->len == quote->lines->len);
  require (strcmp (again->currency, quote->currency) == 0);
  second = qm_quote_ubl_write (again, NULL);
  require (second != NULL && g_bytes_equal (first, second));
  qm_quote_free (again);
  g_bytes_unref (first);
  g_bytes_unref (second);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *copy = copy_input (data, size);
  GError *error = NULL;
  QmQuote *quote = qm_quote_ubl_read (copy, size, NULL, &error);

  require_outcome (quote != NULL, error);
  if (quote != NULL)
    {
      require (quote->lines->len > 0);
      require_quote (quote);
      write_again (quote);
      qm_quote_check (quote);
      require_quote (quote);
    }
  qm_quote_free (quote);
  free (copy);
  return 0;
}
