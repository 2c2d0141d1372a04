/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-advice.h"

#include <string.h>

gboolean
qm_price_is_claimed (const QmPrice *price)
{
  g_return_val_if_fail (price != NULL, FALSE);

  return price->kind == QM_PRICE_CLAIM || price->micros < 0;
}

gint64
qm_price_counted_micros (const QmPrice *price)
{
  g_return_val_if_fail (price != NULL, -1);

  return price->micros >= 0 ? price->micros : price->high_micros;
}

static gboolean
is_purchase_price (const QmPrice *price)
{
  return price->unit == QM_PRICE_EACH && price->kind != QM_PRICE_CLOUD
         && qm_price_counted_micros (price) >= 0
         && strcmp (price->currency, "USD") == 0;
}

/* How much a kind is worth among prices of one day. */
static int
kind_rank (QmPriceKind kind)
{
  switch (kind)
    {
    case QM_PRICE_QUOTE:
      return 5;
    case QM_PRICE_STREET:
      return 4;
    case QM_PRICE_RESALE:
      return 3;
    case QM_PRICE_PUBLISHED:
      return 2;
    case QM_PRICE_LIST:
      return 1;
    case QM_PRICE_CLAIM:
    case QM_PRICE_CLOUD:
    default:
      return 0;
    }
}

static gboolean
is_better (const QmPrice *a, const QmPrice *b, QmPriceBasis basis)
{
  int order;

  if (qm_price_is_claimed (a) != qm_price_is_claimed (b))
    return qm_price_is_claimed (b);
  if (a->from_user != b->from_user)
    return a->from_user;
  if (basis == QM_PRICES_PUBLISHED && !a->from_user
      && (a->kind == QM_PRICE_PUBLISHED) != (b->kind == QM_PRICE_PUBLISHED))
    return a->kind == QM_PRICE_PUBLISHED;
  order = qm_date_compare (a->observed_on, b->observed_on);
  if (order != 0)
    return order > 0;
  return kind_rank (a->kind) > kind_rank (b->kind);
}

const QmPrice *
qm_price_choose (const QmCatalog *catalog, const char *item, QmPriceBasis basis)
{
  const QmPrice *best = NULL;
  size_t n;
  const QmPrice *prices;

  g_return_val_if_fail (catalog != NULL && item != NULL, NULL);

  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (is_purchase_price (&prices[i]) && strcmp (prices[i].item, item) == 0
        && (best == NULL || is_better (&prices[i], best, basis)))
      best = &prices[i];
  return best;
}
