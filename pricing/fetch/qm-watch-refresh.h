/* SPDX-License-Identifier: Apache-2.0 */

/* Refreshing what a store watches: fetching, reading, and keeping what was
 * learned. */

#pragma once

#include "pricing/fetch/qm-watch-store.h"
#include "pricing/pages/qm-page-rules.h"

G_BEGIN_DECLS

/* Called after each entry, when the store has it.
 *
 * before: (nullable): what the store knew of it.
 * now: what it knows.
 * done: how many of `total` entries are finished, this one included. */
typedef void (*QmWatchKept) (const QmWatch *watch,
                             const QmWatched *before,
                             const QmWatched *now,
                             QmWatchOutcome outcome,
                             guint done,
                             guint total,
                             gpointer user_data);

/* Refreshes entries of qm_watch_store_load() and keeps each as soon as it is
 * there, so that one that is interrupted keeps what it had.  A page's product
 * becomes its title.  Not for a thread that draws.
 *
 * rules: (nullable)
 * matcher: (nullable): finds the GPUs of the catalog in the lines of feeds, and
 *   tells where a page sells something else than it is watched for; such a page
 *   fails, and what was known stands.
 * rates: (nullable): to tell whether a price in another currency can be one.
 * kept: (nullable): called in this thread.
 *
 * Returns: FALSE with an error of the store, the first one, where something
 *   could not be kept.  An entry that failed is no error, nor is cancelling. */
gboolean qm_watch_refresh (QmQuoteStore *store,
                           GPtrArray *watches,
                           QmFetcher *fetcher,
                           const QmPageRules *rules,
                           const QmMatcher *matcher,
                           QmRates *rates,
                           QmWatchKept kept,
                           gpointer user_data,
                           GCancellable *cancellable,
                           GError **error);

G_END_DECLS
