/* SPDX-License-Identifier: Apache-2.0 */

/* Prices of one GPU or machine over time as a plot, a series for each vendor or
 * site.
 *
 * Prices in different currencies, and those to buy and to rent, are never on
 * one plot: they are groups of which one is shown at a time.  Only where it
 * says so are prices converted, at the rates of their days. */

#pragma once

#include "pricing/quotes/qm-quote-store-prices.h"
#include "ui/qm-plot-source.h"

G_BEGIN_DECLS

/* Prices that can be compared. */
typedef struct
{
  char currency[4];
  QmPriceUnit unit;
  gboolean converted; /* into it, from all currencies */
} QmPriceGroup;

/* The groups of a history: where prices to buy are in several currencies first
 * all of them in US dollars, then one for each currency and unit, the larger
 * ones first.
 *
 * history: of QmPricePoint.
 *
 * Returns: (transfer full): of QmPriceGroup. */
GArray *qm_price_groups (GPtrArray *history);

/* "EUR", "USD, for an hour", "All, in USD".  (transfer full) */
char *qm_price_group_text (const QmPriceGroup *group);

#define QM_TYPE_PRICE_SOURCE (qm_price_source_get_type ())
G_DECLARE_FINAL_TYPE (
    QmPriceSource, qm_price_source, QM, PRICE_SOURCE, QmPlotSource)

/* name: of the GPU or machine.
 * history: of QmPricePoint, by date; kept.
 * rates: (nullable): to convert with; kept.
 *
 * Returns: (transfer full): shows nothing until a group is chosen. */
QmPlotSource *
qm_price_source_new (const char *name, GPtrArray *history, QmRates *rates);

/* Shows a group.
 *
 * Returns: how many of its prices cannot be shown, since no rate of their day
 *   is known. */
guint qm_price_source_set_group (QmPriceSource *self,
                                 const QmPriceGroup *group);

G_END_DECLS
