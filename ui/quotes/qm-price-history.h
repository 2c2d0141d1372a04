/* SPDX-License-Identifier: Apache-2.0 */

/* How the price of a GPU or machine went: quotes and prices that were seen,
 * over time, as a plot and in words. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_PRICE_HISTORY (qm_price_history_get_type ())
G_DECLARE_FINAL_TYPE (
    QmPriceHistory, qm_price_history, QM, PRICE_HISTORY, AdwWindow)

/* A window on the prices of an item of the catalog, those of one currency and
 * unit at a time, or all in USD at the rates of their days.  They are read in
 * the background; closing the window cancels that. */
GtkWidget *
qm_price_history_new (GtkWindow *parent, QmQuoteBook *book, const char *item);

/* Shows the prices of another item; those that are being read are not shown
 * any more. */
void qm_price_history_set_item (QmPriceHistory *self, const char *item);

G_END_DECLS
