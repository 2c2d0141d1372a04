/* SPDX-License-Identifier: Apache-2.0 */

/* Spreadsheets: guessing how they are to be read, and reading them.  What was
 * read and written once is written the same again. */

#include "pricing/formats/qm-quote-csv.h"
#include "tests/fuzz/fuzz-quotes.h"

static GPtrArray *
read_table (const char *data, gsize size, GError **error)
{
  QmCsvMapping *mapping = qm_csv_mapping_guess (data, size, error);
  GPtrArray *quotes = NULL;

  if (mapping != NULL)
    quotes = qm_quote_csv_read (data, size, mapping, 0, NULL, error);
  qm_csv_mapping_free (mapping);
  return quotes;
}

static void
write_again (GPtrArray *quotes)
{
  GBytes *first = qm_quote_csv_write (quotes), *second;
  GPtrArray *again = read_table (g_bytes_get_data (first, NULL),
                                 g_bytes_get_size (first), NULL);

  require (again != NULL && again->len == quotes->len);
  second = qm_quote_csv_write (again);
  require (g_bytes_equal (first, second));
  g_ptr_array_unref (again);
  g_bytes_unref (first);
  g_bytes_unref (second);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *copy = copy_input (data, size);
  GError *error = NULL;
  GPtrArray *quotes = read_table (copy, size, &error);

  require_outcome (quotes != NULL, error);
  if (quotes != NULL)
    {
      require (quotes->len > 0);
      for (guint i = 0; i < quotes->len; i++)
        require_quote (g_ptr_array_index (quotes, i));
      write_again (quotes);
      for (guint i = 0; i < quotes->len; i++)
        qm_quote_check (g_ptr_array_index (quotes, i));
      g_ptr_array_unref (quotes);
    }
  free (copy);
  return 0;
}
