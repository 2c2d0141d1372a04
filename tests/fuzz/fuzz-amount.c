/* SPDX-License-Identifier: Apache-2.0 */

/* Amounts, and amounts within text. */

#include "data/money.h"
#include "pricing/pages/qm-page-scan.h"
#include "pricing/qm-amount.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

static void
check_code (const char *currency)
{
  require (currency[0] == '\0' || qm_currency_valid (currency));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  gint64 micros;
  char currency[4];

  for (int decimal = QM_DECIMAL_GUESS; decimal <= QM_DECIMAL_COMMA; decimal++)
    if (qm_amount_parse (text, (QmDecimal) decimal, &micros, currency))
      {
        require (micros > G_MININT64);
        require (g_utf8_validate (text, -1, NULL));
        check_code (currency);
      }
  if (qm_amount_parse_currency (text, currency))
    check_code (currency);
  qm_amount_sign_may_mean (text, "USD");
  if (g_utf8_validate (text, -1, NULL))
    {
      g_autofree char *line = NULL;
      g_autoptr (GArray) found = qm_page_scan (text, &line);

      for (guint i = 0; i < found->len; i++)
        {
          const QmScannedAmount *amount =
              &g_array_index (found, QmScannedAmount, i);

          require (amount->start < amount->end && amount->end <= strlen (line));
          require (amount->micros >= 0);
          check_code (amount->currency);
        }
    }
  return 0;
}
