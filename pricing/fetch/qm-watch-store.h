/* SPDX-License-Identifier: Apache-2.0 */

/* A watch list and the store that keeps it.
 *
 * Of a page the store keeps the last price; of a feed, whose prices are many,
 * it keeps those in whose lines a GPU of the catalog was found
 * (qm_watch_list_refresh) as price history, all of one refresh or none, each
 * under the feed's address with "#" and the line's description, or the name of
 * the GPU where prices are medians. */

#pragma once

#include "pricing/fetch/qm-watch-list.h"
#include "pricing/quotes/qm-quote-store-prices.h"

G_BEGIN_DECLS

/* The watched pages as entries to refresh.  What is known of a page's price
 * stands in a quote with one line that has nothing else; a feed begins anew, so
 * that its next outcome is QM_WATCH_FIRST.
 *
 * Returns: (transfer full): of QmWatch; NULL with an error. */
GPtrArray *qm_watch_store_load (QmQuoteStore *store, GError **error);

/* Keeps what a refresh has learned about an entry, and the prices that were
 * seen.  After QM_WATCH_FAILED the last price stays with its date; after
 * QM_WATCH_CANCELLED there is nothing to keep.  An address that is not watched
 * yet is added; title and item of one that is are left alone.
 *
 * Returns: FALSE with an error of the store. */
gboolean qm_watch_store_save (QmQuoteStore *store,
                              const QmWatch *watch,
                              QmWatchOutcome outcome,
                              GError **error);

G_END_DECLS
