/* SPDX-License-Identifier: Apache-2.0 */

/* The watch list behind the window: pages and price feeds, and the exchange
 * rates, whose newest state is fetched when the user asks for it.
 *
 * The network is used in another thread and only by what is called here; a
 * switch in the settings, which is off at first, makes
 * qm_price_watch_refresh_at_start() one of the callers. */

#pragma once

#include "pricing/fetch/qm-watch-list.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "ui/quotes/qm-quote-book.h"

G_BEGIN_DECLS

#define QM_TYPE_PRICE_WATCH (qm_price_watch_get_type ())
G_DECLARE_FINAL_TYPE (QmPriceWatch, qm_price_watch, QM, PRICE_WATCH, GObject)

/* Signals:
 *
 *   "changed"                the list, what is known of an entry, or the
 *                            progress of a refresh is another
 *   "finished" (const char*) a refresh is over, in a sentence
 */

/* What a refresh looks at. */
typedef enum
{
  QM_PRICE_WATCH_PRICES = 1 << 0,
  QM_PRICE_WATCH_RATES = 1 << 1
} QmPriceWatchParts;

/* settings: (nullable): without them nothing is remembered of when prices were
 *   refreshed.
 *
 * Returns: (transfer full). */
QmPriceWatch *qm_price_watch_new (QmQuoteBook *book, GSettings *settings);

/* Cancels, and waits until no thread works any more. */
void qm_price_watch_close (QmPriceWatch *self);

QmQuoteBook *qm_price_watch_get_book (QmPriceWatch *self);

/* (nullable) */
GSettings *qm_price_watch_get_settings (QmPriceWatch *self);

/* What is watched, in the order in which it was added.
 *
 * Returns: (transfer full): of QmWatched; NULL with an error. */
GPtrArray *qm_price_watch_list (QmPriceWatch *self, GError **error);

/* Watches a page or feed, without fetching it.  What is known of an address
 * that is on the list stays, but for the item.
 *
 * address: (nullable): NULL: that of the feed `kind`.
 * item: (nullable): the GPU or machine of the catalog that a page sells.
 *
 * Returns: (transfer full): the address as it is kept; NULL with an error. */
char *qm_price_watch_add (QmPriceWatch *self,
                          QmWatchKind kind,
                          const char *address,
                          const char *item,
                          GError **error);

/* Puts back what was taken off. */
gboolean qm_price_watch_put_back (QmPriceWatch *self,
                                  const QmWatched *watched,
                                  GError **error);

/* Stops watching; prices that were seen stay. */
gboolean
qm_price_watch_remove (QmPriceWatch *self, const char *address, GError **error);

/* Fetches; nothing happens while something is fetched already.
 *
 * address: (nullable): of the only entry to look at; NULL: all. */
void qm_price_watch_refresh (QmPriceWatch *self,
                             QmPriceWatchParts parts,
                             const char *address);

/* Refreshes everything where the settings allow it and the last time is more
 * than a day ago; the book must be open. */
void qm_price_watch_refresh_at_start (QmPriceWatch *self);

void qm_price_watch_cancel (QmPriceWatch *self);

gboolean qm_price_watch_is_busy (QmPriceWatch *self);

/* How many of how many are finished; what is left, in seconds, or -1 where it
 * cannot be told yet. */
void qm_price_watch_get_progress (QmPriceWatch *self,
                                  guint *done,
                                  guint *total,
                                  int *seconds_left);

/* Why exchange rates could not be fetched the last time; NULL: they could, or
 * it was not tried. */
const char *qm_price_watch_get_rates_failure (QmPriceWatch *self);

G_END_DECLS
