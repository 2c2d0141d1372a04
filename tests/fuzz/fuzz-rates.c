/* SPDX-License-Identifier: Apache-2.0 */

/* Documents of exchange rates.  The first byte chooses the form: x for the
 * ECB's XML, c for CSV. */

#include "pricing/qm-rates.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

/* Each rate is found on its own day, and converts. */
static void
check_rate (QmRates *rates, const QmRate *rate)
{
  g_autoptr (GError) error = NULL;
  QmCrossRate cross;
  QmMoney amount = { .minor = 123456789 };
  QmMoney converted;

  require (qm_currency_valid (rate->currency) && rate->nanos > 0);
  require (qm_rates_find (rates, rate->currency, "EUR", rate->date, 7, &cross,
                          &error));
  require (cross.denominator == rate->nanos && cross.age_days == 0);
  require (!cross.stale);
  memcpy (amount.currency, rate->currency, sizeof amount.currency);
  require (qm_cross_rate_convert (&cross, amount, &converted, &error)
           == (error == NULL));
}

/* Any two currencies on the last day: found, or refused with a sentence. */
static void
check_cross (QmRates *rates)
{
  const char *const *currencies = qm_rates_currencies (rates);

  for (guint i = 1;
       currencies[i - 1] != NULL && currencies[i] != NULL && i < 50; i++)
    {
      g_autoptr (GError) error = NULL;
      QmCrossRate cross;
      gint64 micros;

      if (qm_rates_find (rates, currencies[i - 1], currencies[i],
                         qm_rates_last_day (rates), 7, &cross, &error))
        {
          g_autofree char *text = qm_cross_rate_text (&cross);

          require (cross.age_days >= 0 && *text != '\0');
          require (
              qm_cross_rate_convert_micros (&cross, G_MAXINT64, &micros, &error)
              == (error == NULL));
        }
      else
        require (error != NULL && error->message[0] != '\0');
    }
}

static void
check (QmRates *rates)
{
  g_autoptr (QmRates) again = NULL;
  gsize n, m;
  const QmRate *list = qm_rates_list (rates, &n);

  require (n > 0);
  for (gsize i = 0; i < n; i++)
    {
      check_rate (rates, &list[i]);
      if (i > 0)
        require (strcmp (list[i - 1].currency, list[i].currency) < 0
                 || qm_date_compare (list[i - 1].date, list[i].date) < 0);
    }
  check_cross (rates);
  again = qm_rates_merge (rates, rates);
  qm_rates_list (again, &m);
  require (n == m);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRates) rates = NULL;

  if (size == 0 || (data[0] != 'x' && data[0] != 'c'))
    return 0;
  bytes = g_bytes_new (data + 1, size - 1);
  rates = data[0] == 'x' ? qm_rates_new_from_ecb (bytes, "fuzz", &error)
                         : qm_rates_new_from_csv (bytes, "fuzz", &error);
  require ((rates != NULL) == (error == NULL));
  if (rates != NULL)
    check (rates);
  else
    require (g_utf8_validate (error->message, -1, NULL)
             && g_str_has_prefix (error->message, "fuzz"));
  return 0;
}
