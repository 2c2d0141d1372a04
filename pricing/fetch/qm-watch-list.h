/* SPDX-License-Identifier: Apache-2.0 */

/* Pages and price feeds whose prices are looked at again when the user asks,
 * and never otherwise.
 *
 * The list itself is kept by whoever calls (the store); here it is an array.
 * What a refresh learns is written into its entries.  A refresh that fails
 * leaves the last price standing, with the time at which it was read, and says
 * why it failed. */

#pragma once

#include "pricing/fetch/qm-fetch.h"
#include "pricing/fetch/qm-price-feed.h"
#include "pricing/quotes/qm-match.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef enum
{
  QM_WATCH_PAGE, /* read by the caller's extractor */
  QM_WATCH_AZURE,
  QM_WATCH_VAST,
  QM_WATCH_RUNPOD,
  QM_N_WATCH_KINDS
} QmWatchKind;

/* The kind that an address is of: a feed where it has a feed's host, else a
 * page. */
QmWatchKind qm_watch_kind_of_address (const char *address);

typedef struct
{
  gint64 id; /* the caller's; not looked at here */
  QmWatchKind kind;
  char *address;
  char *etag;          /* of the answer that `quote` was read from; or NULL */
  char *last_modified; /* likewise */
  gint64 tried_at;     /* last try, seconds since 1970, UTC; 0: never */
  gint64 read_at;      /* when `quote` was read, or last found unchanged; 0 */
  char *failure;       /* why the last try failed; NULL: it did not */
  QmQuote *quote;      /* what was read last; NULL: nothing yet */
} QmWatch;

/* Returns: (transfer full): an entry that was never tried, or NULL with
 *   QM_FETCH_ERROR_ADDRESS.  A feed's address may be NULL for its own. */
QmWatch *qm_watch_new (QmWatchKind kind, const char *address, GError **error);

void qm_watch_free (QmWatch *watch);

/* What became of an entry. */
typedef enum
{
  QM_WATCH_FIRST,     /* a price where there was none */
  QM_WATCH_CHANGED,   /* another price or currency, or other lines; what one of
                         the two readings does not state does not count */
  QM_WATCH_SAME,      /* as before, whether fetched again or "not modified" */
  QM_WATCH_FAILED,    /* see `failure`; what was known stands */
  QM_WATCH_CANCELLED, /* not looked at: the entry is as it was */
  QM_N_WATCH_OUTCOMES
} QmWatchOutcome;

/* Reads a page.  Called in the thread that refreshes, one page at a time.
 *
 * Returns: (transfer full): a quote with at least one line, or NULL with an
 *   error whose message says why there is no price. */
typedef QmQuote *(*QmWatchExtract) (const QmWatch *watch,
                                    const QmFetchResult *page,
                                    gpointer user_data,
                                    GCancellable *cancellable,
                                    GError **error);

/* Tells what became of an entry, which is up to date by then.
 *
 * done: how many of `total` entries are finished, this one included. */
typedef void (*QmWatchReport) (const QmWatch *watch,
                               QmWatchOutcome outcome,
                               guint done,
                               guint total,
                               gpointer user_data);

/* Refreshes entries, several hosts at a time; returns when all are done: not
 * for a thread that draws.  Both callbacks are called in this thread.
 *
 * watches: of QmWatch.
 * matcher: (nullable): finds the GPUs of the catalog in the lines of feeds.
 * report: (nullable)
 *
 * Returns: how many failed; with `cancellable` cancelled, those that were not
 *   finished are reported as QM_WATCH_CANCELLED and do not count. */
guint qm_watch_list_refresh (GPtrArray *watches,
                             QmFetcher *fetcher,
                             const QmMatcher *matcher,
                             QmWatchExtract extract,
                             QmWatchReport report,
                             gpointer user_data,
                             GCancellable *cancellable);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmWatch, qm_watch_free)

/* Puts a copy of a text, or NULL, in the place of another. */
static inline void
qm_watch_set_text (char **text, const char *value)
{
  g_free (*text);
  *text = g_strdup (value);
}

G_END_DECLS
