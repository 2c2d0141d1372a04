/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-purse.h"

#include "pricing/qm-format.h"

#include <math.h>
#include <string.h>

#define USD "USD"

/* Beyond that a double has no whole cents. */
#define MOST_MINOR 9e15

/* An amount that came through a quotient is this much of a cent off at most,
 * which must not cost a whole one. */
#define ROUNDING 1e-6

QmPurse
qm_purse_default (void)
{
  QmPurse purse = {
    .currency = USD,
    .rate = { .from = USD, .to = USD, .numerator = 1, .denominator = 1 },
    .budget_minor = -1,
    .machine_least = -1,
    .machine_most = -1
  };

  return purse;
}

gboolean
qm_purse_is_plain (const QmPurse *purse)
{
  g_return_val_if_fail (purse != NULL, TRUE);

  return strcmp (purse->currency, USD) == 0 && purse->tax_percent == 0;
}

gboolean
qm_purse_set_currency (QmPurse *purse,
                       const char *currency,
                       QmRates *rates,
                       QmDate day,
                       GError **error)
{
  QmCrossRate rate = qm_purse_default ().rate;

  g_return_val_if_fail (purse != NULL && currency != NULL, FALSE);

  if (strcmp (currency, USD) != 0)
    {
      g_return_val_if_fail (rates != NULL, FALSE);
      if (!qm_rates_find (rates, USD, currency, day, QM_RATES_STALE_DAYS, &rate,
                          error))
        return FALSE;
    }
  g_strlcpy (purse->currency, currency, sizeof purse->currency);
  purse->rate = rate;
  return TRUE;
}

/* Major units of the currency that a USD is worth. */
static double
rate_of (const QmPurse *purse)
{
  return (double) purse->rate.numerator / (double) purse->rate.denominator;
}

static double
minor_of_unit (const char *currency)
{
  return pow (10, qm_currency_decimals (currency));
}

static double
tax_factor (const QmPurse *purse)
{
  return 1 + purse->tax_percent / 100;
}

gint64
qm_purse_to_usd (const QmPurse *purse, gint64 minor)
{
  double cents;

  g_return_val_if_fail (purse != NULL, -1);

  if (minor < 0)
    return -1;
  if (strcmp (purse->currency, USD) == 0 && !purse->gross)
    return minor;
  /* From here on a cost would be told as a minor unit more. */
  cents = ((double) minor + 0.5) / minor_of_unit (purse->currency)
          / rate_of (purse) * minor_of_unit (USD);
  if (purse->gross)
    cents /= tax_factor (purse);
  return cents < MOST_MINOR ? (gint64) ceil (cents - ROUNDING) - 1
                            : (gint64) MOST_MINOR;
}

double
qm_purse_from_usd (const QmPurse *purse, gint64 usd_minor, gboolean with_tax)
{
  double major;

  g_return_val_if_fail (purse != NULL, NAN);

  major = (double) usd_minor / minor_of_unit (USD);
  if (strcmp (purse->currency, USD) != 0)
    major *= rate_of (purse);
  return with_tax ? major * tax_factor (purse) : major;
}

char *
qm_purse_format (const QmPurse *purse, gint64 usd_minor)
{
  if (purse == NULL)
    return qm_format_money ((double) usd_minor / 100, USD, FALSE);
  return qm_format_money (qm_purse_from_usd (purse, usd_minor, purse->gross),
                          purse->currency, FALSE);
}

double
qm_purse_scale (const QmPurse *purse)
{
  g_return_val_if_fail (purse != NULL, 1);

  return pow (10, round (log10 (rate_of (purse))));
}

gboolean
qm_purse_funds (const QmPurse *purse, gint64 usd_minor)
{
  g_return_val_if_fail (purse != NULL, TRUE);

  if (usd_minor < 0)
    return TRUE;
  /* One cent less than the least has to be what is too little. */
  return (purse->machine_least < 1
          || usd_minor > qm_purse_to_usd (purse, purse->machine_least - 1))
         && (purse->machine_most < 0
             || usd_minor <= qm_purse_to_usd (purse, purse->machine_most));
}
