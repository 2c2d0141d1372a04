/* SPDX-License-Identifier: Apache-2.0 */

/* How well the prices of a candidate are known, in words. */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

#define DAYS_OF_YEAR 365

/* Ends of an interval that are nearer to the cost than that are not worth a
 * sentence. */
#define NARROW 0.02

/* What a price is that nobody sells at. */
static const char *
weakness_text (const QmPrice *price)
{
  switch (price->kind)
    {
    case QM_PRICE_RESALE:
      return _ ("used");
    case QM_PRICE_PUBLISHED:
      return C_ ("price", "published");
    case QM_PRICE_LIST:
      return C_ ("price", "undated");
    case QM_PRICE_CLAIM:
    case QM_PRICE_QUOTE:
    case QM_PRICE_STREET:
    case QM_PRICE_ESTIMATE:
    case QM_PRICE_CLOUD:
    default:
      return C_ ("price", "claimed");
    }
}

/* The one with the older date, of those that are dated. */
static const QmPrice *
older_of (const QmPrice *a, const QmPrice *b)
{
  if (a == NULL || a->observed_on.year == 0)
    return b;
  if (b == NULL || b->observed_on.year == 0)
    return a;
  return qm_date_compare (a->observed_on, b->observed_on) <= 0 ? a : b;
}

char *
qm_prose_price_quality (const QmCandidate *candidate, QmDate today)
{
  const QmPrice *weak = NULL;
  const QmPrice *oldest;
  g_autofree char *age = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->machine_price != NULL
      && qm_price_is_weak (candidate->machine_price))
    weak = candidate->machine_price;
  if (candidate->gpu_price != NULL && qm_price_is_weak (candidate->gpu_price))
    weak = candidate->gpu_price;
  oldest = older_of (candidate->gpu_price, candidate->machine_price);
  if (oldest != NULL && oldest->observed_on.year > 0 && today.year > 0
      && qm_date_days_between (oldest->observed_on, today) > DAYS_OF_YEAR)
    age = qm_format_age (oldest->observed_on, today);
  if (weak != NULL && age != NULL)
    /* Translators: "used", "claimed", "2 years old". */
    return g_strdup_printf (_ ("%s price, %s"), weakness_text (weak), age);
  if (weak != NULL)
    /* Translators: "used", "claimed". */
    return g_strdup_printf (_ ("%s price"), weakness_text (weak));
  return age != NULL
             /* Translators: "2 years old". */
             ? g_strdup_printf (_ ("a price %s"), age)
             : NULL;
}

char *
qm_prose_cost_interval (const QmCandidate *candidate, const QmPurse *purse)
{
  double width;
  g_autofree char *low = NULL;
  g_autofree char *high = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->cost_low_minor < 0 || candidate->cost_high_minor < 0
      || candidate->cost_minor <= 0)
    return NULL;
  width = (double) (candidate->cost_high_minor - candidate->cost_low_minor);
  if (width < 2 * NARROW * (double) candidate->cost_minor)
    return NULL;
  low = qm_purse_format (purse, candidate->cost_low_minor);
  high = qm_purse_format (purse, candidate->cost_high_minor);
  /* Translators: two amounts. */
  return g_strdup_printf (_ ("By what is known of the prices it costs %s to "
                             "%s."),
                          low, high);
}
