/* SPDX-License-Identifier: Apache-2.0 */

/* Which price of an item counts, and how well it is known.
 *
 * A price is sound where somebody sells at it: a quote, a retailer's, a dated
 * list price, or the sum of such prices.  Of used goods, claims, undated list
 * prices and those of a publication that is not so: they count only where
 * nothing else is known, or where they are asked for.
 *
 * Of a range the middle counts, and the range is its interval.  Prices move, so
 * that the interval grows with age, by as much as prices of the catalog did:
 *
 *   low exp (-s sqrt (years)) to high exp (s sqrt (years)),
 *
 * with years of 365.25 days, as the logarithm of a price walks at random.  s
 * holds nine of ten of what two prices of one thing at different days say of
 * it, qm_price_spread().
 *
 * What counts is in USD and without tax: a price in another currency counts at
 * the newest exchange rate that is known (`rates`; NULL: it does not count),
 * since it is in that currency that it stands until it is paid. */

#pragma once

#include "data/catalog.h"
#include "pricing/qm-rates.h"

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  QM_PRICES_CURRENT,  /* the newest sound one */
  QM_PRICES_ANY,      /* the newest one, whether sound or not */
  QM_PRICES_PUBLISHED /* that of the published analysis, and no other */
} QmPriceBasis;

/* The price of an item that counts on that basis, or NULL.  But for the
 * published ones, the user's own newest price goes before all, and claims come
 * last; of one day a quote goes before a street, a list, an estimated, a resale
 * and a published price.  Never a rent, or one without an exchange rate.
 *
 * unit: QM_PRICE_EACH, or QM_PRICE_GIB of memory. */
const QmPrice *qm_price_choose (const QmCatalog *catalog,
                                QmRates *rates,
                                const char *item,
                                QmPriceUnit unit,
                                QmPriceBasis basis);

/* Whether it is not sound: nobody is known to sell a new one at it. */
gboolean qm_price_is_weak (const QmPrice *price);

/* The user's own prices (const QmPrice*) to buy at that do not count, for want
 * of an exchange rate.  (transfer container) */
GPtrArray *qm_prices_without_rate (const QmCatalog *catalog, QmRates *rates);

/* What a price counts as, in millionths of a USD without tax: of a range its
 * middle; -1 where there is no exchange rate. */
gint64 qm_price_counted_micros (const QmPrice *price, QmRates *rates);

/* By how much prices move: the s of above, over a year; 0 where fewer than
 * QM_PRICE_SPREAD_MIN pairs of prices are known to tell it.  A pair is two
 * sound prices of one item, or two of its used ones, at least
 * QM_PRICE_SPREAD_DAYS apart: nearer ones differ by what two dealers ask on one
 * day, not by age.  The user's own do not count, since they are of one vendor.
 */
#define QM_PRICE_SPREAD_MIN  10
#define QM_PRICE_SPREAD_DAYS 365
double qm_price_spread (const QmCatalog *catalog, guint *n_pairs);

/* The interval of a price that counts, in millionths of a USD without tax.
 *
 * spread: of qm_price_spread().
 * today: year 0: as on the day of the price. */
void qm_price_interval (const QmPrice *price,
                        QmRates *rates,
                        double spread,
                        QmDate today,
                        gint64 *low,
                        gint64 *high);

G_END_DECLS
