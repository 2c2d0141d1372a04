/* SPDX-License-Identifier: Apache-2.0 */

/* The user's store of quotes, for the commands that read or change it. */

#pragma once

#include "data/catalog.h"
#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "pricing/quotes/qm-quote-store.h"

G_BEGIN_DECLS

/* Adds "--store". */
void qm_cli_store_add_option (GArray *options, GStrv *typed);

/* Opens the store that "--store" names, or else the user's.  Where there is no
 * such file it is created only if `create` says so; else an empty store in
 * memory stands for it.  Returns: (transfer full): NULL with an error. */
QmQuoteStore *qm_cli_store_open (GStrv typed, gboolean create, GError **error);

/* The quotes of a store that name something of the catalog.
 *
 * Returns: (transfer full): of QmQuote; NULL with an error. */
GPtrArray *qm_cli_store_quotes (QmQuoteStore *store, GError **error);

/* The shipped exchange rates and those of the store, which go before them.
 * Returns: (transfer full): NULL with an error. */
QmRates *qm_cli_store_rates (QmQuoteStore *store, GError **error);

/* The rates that are shipped.  Returns: (transfer full): NULL with an error. */
QmRates *qm_cli_shipped_rates (GError **error);

G_END_DECLS
