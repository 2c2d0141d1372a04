/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-price.h"
#include "pricing/qm-order.h"

#include <math.h>
#include <string.h>

#define COUNTED_IN    "USD"
#define DAYS_OF_YEAR  365.25
#define SPREAD_COVERS 0.9
/* Beyond any price of the catalog, and far from the end of an int64. */
#define MAX_MICROS 1e17

gboolean
qm_price_is_weak (const QmPrice *price)
{
  g_return_val_if_fail (price != NULL, FALSE);

  switch (price->kind)
    {
    case QM_PRICE_QUOTE:
    case QM_PRICE_STREET:
    case QM_PRICE_ESTIMATE:
      return FALSE;
    case QM_PRICE_LIST:
      return price->observed_on.year == 0;
    case QM_PRICE_RESALE:
    case QM_PRICE_PUBLISHED:
    case QM_PRICE_CLAIM:
    case QM_PRICE_CLOUD:
    default:
      return !price->from_user || price->kind == QM_PRICE_CLAIM;
    }
}

/* Of a range the middle. */
static gint64
asked_micros (const QmPrice *price)
{
  if (price->micros >= 0)
    return price->micros;
  return price->low_micros >= 0
             ? price->low_micros + (price->high_micros - price->low_micros) / 2
             : price->high_micros;
}

/* What an amount of a price has to be multiplied with to be one in USD without
 * tax; NAN where there is no exchange rate. */
static double
factor_of (const QmPrice *price, QmRates *rates)
{
  double without_tax = 1 / (1 + price->tax_percent / 100);
  QmCrossRate rate;

  if (strcmp (price->currency, COUNTED_IN) == 0)
    return without_tax;
  if (rates == NULL || qm_rates_last_day (rates).year == 0
      || !qm_rates_find (rates, price->currency, COUNTED_IN,
                         qm_rates_last_day (rates), QM_RATES_STALE_DAYS, &rate,
                         NULL))
    return NAN;
  return without_tax * (double) rate.numerator / (double) rate.denominator;
}

static gint64
scaled (gint64 micros, double factor)
{
  /* As it is written, where that is what counts. */
  return factor == 1
             ? micros
             : (gint64) fmin (round ((double) micros * factor), MAX_MICROS);
}

/* Whether a price counts in USD: it is in USD, or there is an exchange rate. */
static gboolean
has_rate (const QmPrice *price, QmRates *rates)
{
  g_return_val_if_fail (price != NULL, FALSE);

  return !isnan (factor_of (price, rates));
}

gint64
qm_price_counted_micros (const QmPrice *price, QmRates *rates)
{
  double factor;

  g_return_val_if_fail (price != NULL, -1);

  factor = factor_of (price, rates);
  return isnan (factor) || asked_micros (price) < 0
             ? -1
             : scaled (asked_micros (price), factor);
}

static gboolean
is_purchase_price (const QmPrice *price, QmPriceUnit unit)
{
  return price->unit == unit && price->kind != QM_PRICE_CLOUD
         && asked_micros (price) >= 0;
}

GPtrArray *
qm_prices_without_rate (const QmCatalog *catalog, QmRates *rates)
{
  GPtrArray *without = g_ptr_array_new ();
  size_t n;
  const QmPrice *prices;

  g_return_val_if_fail (catalog != NULL, without);

  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (prices[i].from_user && is_purchase_price (&prices[i], prices[i].unit)
        && !has_rate (&prices[i], rates))
      g_ptr_array_add (without, (gpointer) &prices[i]);
  return without;
}

/* How much a kind is worth among prices of one day. */
static int
kind_rank (QmPriceKind kind)
{
  static const QmPriceKind order[] = { QM_PRICE_CLAIM,  QM_PRICE_PUBLISHED,
                                       QM_PRICE_RESALE, QM_PRICE_ESTIMATE,
                                       QM_PRICE_LIST,   QM_PRICE_STREET,
                                       QM_PRICE_QUOTE };

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    if (order[i] == kind)
      return (int) i;
  return -1;
}

/* What goes before everything of a lower tier, however old it is. */
static int
tier (const QmPrice *price, QmPriceBasis basis)
{
  if (price->kind == QM_PRICE_CLAIM)
    return 0;
  if (price->from_user)
    return 3;
  return basis == QM_PRICES_ANY || !qm_price_is_weak (price) ? 2 : 1;
}

static gboolean
is_better_price (const QmPrice *a, const QmPrice *b, QmPriceBasis basis)
{
  int order = tier (a, basis) - tier (b, basis);

  if (order == 0)
    order = qm_date_compare (a->observed_on, b->observed_on);
  if (order == 0)
    order = kind_rank (a->kind) - kind_rank (b->kind);
  return order > 0;
}

const QmPrice *
qm_price_choose (const QmCatalog *catalog,
                 QmRates *rates,
                 const char *item,
                 QmPriceUnit unit,
                 QmPriceBasis basis)
{
  const QmPrice *best = NULL;
  size_t n;
  const QmPrice *prices;

  g_return_val_if_fail (catalog != NULL && item != NULL, NULL);

  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (is_purchase_price (&prices[i], unit)
        && strcmp (prices[i].item, item) == 0 && has_rate (&prices[i], rates)
        && (basis != QM_PRICES_PUBLISHED
            || (prices[i].kind == QM_PRICE_PUBLISHED && !prices[i].from_user))
        && (best == NULL || is_better_price (&prices[i], best, basis)))
      best = &prices[i];
  return best;
}

/* Whether a price is one of the history: dated, and of goods that are sold, new
 * ones or used ones. */
static gboolean
is_history (const QmPrice *price)
{
  return is_purchase_price (price, price->unit) && !price->from_user
         && strcmp (price->currency, COUNTED_IN) == 0
         && price->observed_on.year > 0
         && (price->kind == QM_PRICE_RESALE || !qm_price_is_weak (price));
}

static gboolean
is_same (const QmPrice *a, const QmPrice *b)
{
  return strcmp (a->item, b->item) == 0
         && (a->kind == QM_PRICE_RESALE) == (b->kind == QM_PRICE_RESALE);
}

/* How far two prices of one thing are from each other, per root of a year; NAN
 * where that tells nothing. */
static double
move_between (const QmPrice *a, const QmPrice *b)
{
  int days = qm_date_days_between (a->observed_on, b->observed_on);

  if (days < QM_PRICE_SPREAD_DAYS || !is_same (a, b) || asked_micros (a) == 0
      || asked_micros (b) == 0)
    return NAN;
  return fabs (log ((double) asked_micros (b) / (double) asked_micros (a)))
         / sqrt (days / DAYS_OF_YEAR);
}

double
qm_price_spread (const QmCatalog *catalog, guint *n_pairs)
{
  g_autoptr (GArray) moves = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GPtrArray) history = g_ptr_array_new ();
  size_t n;
  const QmPrice *prices;

  g_return_val_if_fail (catalog != NULL, 0);

  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (is_history (&prices[i]))
      g_ptr_array_add (history, (gpointer) &prices[i]);
  for (guint i = 0; i < history->len; i++)
    for (guint j = 0; j < history->len; j++)
      {
        double move = move_between (g_ptr_array_index (history, i),
                                    g_ptr_array_index (history, j));

        if (!isnan (move))
          g_array_append_val (moves, move);
      }
  if (n_pairs != NULL)
    *n_pairs = moves->len;
  if (moves->len < QM_PRICE_SPREAD_MIN)
    return 0;
  g_array_sort (moves, qm_order_doubles);
  return g_array_index (moves, double,
                        (guint) ceil (SPREAD_COVERS * moves->len) - 1);
}

void
qm_price_interval (const QmPrice *price,
                   QmRates *rates,
                   double spread,
                   QmDate today,
                   gint64 *low,
                   gint64 *high)
{
  double days = 0;
  double in_usd, age;

  g_return_if_fail (price != NULL && low != NULL && high != NULL);

  in_usd = factor_of (price, rates);
  g_return_if_fail (!isnan (in_usd));
  if (price->observed_on.year > 0 && today.year > 0)
    days = MAX (qm_date_days_between (price->observed_on, today), 0);
  age = exp (spread * sqrt (days / DAYS_OF_YEAR));
  *low = price->micros < 0 && price->low_micros >= 0 ? price->low_micros
                                                     : asked_micros (price);
  *high = price->micros < 0 ? price->high_micros : asked_micros (price);
  *low = scaled (*low, in_usd / age);
  *high = scaled (*high, in_usd * age);
}
