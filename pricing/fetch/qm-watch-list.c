/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-watch-list.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* More at a time would only wait for their hosts. */
#define MAX_THREADS 4

static QmFeed
feed_of (QmWatchKind kind)
{
  return kind == QM_WATCH_AZURE  ? QM_FEED_AZURE
         : kind == QM_WATCH_VAST ? QM_FEED_VAST
                                 : QM_FEED_RUNPOD;
}

QmWatchKind
qm_watch_kind_of_address (const char *address)
{
  g_autoptr (GUri) uri = NULL;

  g_return_val_if_fail (address != NULL, QM_WATCH_PAGE);

  uri = g_uri_parse (address, G_URI_FLAGS_ENCODED, NULL);
  for (guint kind = QM_WATCH_PAGE + 1; uri != NULL && kind < QM_N_WATCH_KINDS;
       kind++)
    {
      g_autoptr (GUri) feed = g_uri_parse (qm_feed_address (feed_of (kind)),
                                           G_URI_FLAGS_ENCODED, NULL);

      if (g_uri_get_host (uri) != NULL
          && g_ascii_strcasecmp (g_uri_get_host (uri), g_uri_get_host (feed))
                 == 0)
        return kind;
    }
  return QM_WATCH_PAGE;
}

QmWatch *
qm_watch_new (QmWatchKind kind, const char *address, GError **error)
{
  g_autofree char *checked = NULL;
  QmWatch *watch;

  g_return_val_if_fail (kind < QM_N_WATCH_KINDS, NULL);
  g_return_val_if_fail (address != NULL || kind != QM_WATCH_PAGE, NULL);

  if (address == NULL)
    address = qm_feed_address (feed_of (kind));
  checked = qm_fetch_check_address (address, error);
  if (checked == NULL)
    return NULL;
  watch = g_new0 (QmWatch, 1);
  watch->kind = kind;
  watch->address = g_steal_pointer (&checked);
  return watch;
}

void
qm_watch_free (QmWatch *watch)
{
  if (watch == NULL)
    return;
  g_free (watch->address);
  g_free (watch->etag);
  g_free (watch->last_modified);
  g_free (watch->failure);
  g_clear_pointer (&watch->quote, qm_quote_free);
  g_free (watch);
}

/* What a thread brings back. */
typedef struct
{
  QmWatch *watch;        /* borrowed: one of the list */
  QmFetchResult *result; /* of a page */
  QmQuote *quote;        /* of a feed */
  GError *error;
} Catch;

static void
catch_free (gpointer data)
{
  Catch *caught = data;

  qm_fetch_result_free (caught->result);
  g_clear_pointer (&caught->quote, qm_quote_free);
  g_clear_error (&caught->error);
  g_free (caught);
}

typedef struct
{
  QmFetcher *fetcher;
  GCancellable *cancellable;
  GAsyncQueue *caught; /* Catch */
} Hunt;

static void
fetch_page (Hunt *hunt, Catch *caught)
{
  const QmWatch *watch = caught->watch;
  /* What was not understood is asked for again whole. */
  gboolean known = watch->quote != NULL;
  QmFetchRequest request = {
    .address = watch->address,
    .accept = "text/html, application/xhtml+xml, */*;q=0.5",
    .etag = known ? watch->etag : NULL,
    .last_modified = known ? watch->last_modified : NULL,
  };

  caught->result = qm_fetcher_fetch (hunt->fetcher, &request, NULL, NULL,
                                     hunt->cancellable, &caught->error);
}

static void
fetch_feed (Hunt *hunt, Catch *caught)
{
  QmFeed feed = feed_of (caught->watch->kind);
  g_autoptr (QmFeedPage) page =
      qm_feed_fetch (feed, caught->watch->address, hunt->fetcher,
                     hunt->cancellable, &caught->error);

  if (page != NULL)
    caught->quote = qm_feed_page_to_quote (page, feed, caught->watch->address,
                                           qm_date_today (), &caught->error);
}

static void
fetch_thread (gpointer data, gpointer user_data)
{
  Hunt *hunt = user_data;
  Catch *caught = g_new0 (Catch, 1);

  caught->watch = data;
  if (caught->watch->kind == QM_WATCH_PAGE)
    fetch_page (hunt, caught);
  else
    fetch_feed (hunt, caught);
  g_async_queue_push (hunt->caught, caught);
}

static gboolean
same_text (const char *a, const char *b)
{
  return a == NULL || b == NULL || strcmp (a, b) == 0;
}

/* Whether two readings name the same prices; when they were read, and how their
 * findings go, does not matter. */
static gboolean
same_prices (const QmQuote *a, const QmQuote *b)
{
  if (strcmp (a->currency, b->currency) != 0 || a->lines->len != b->lines->len)
    return FALSE;
  if (a->tax_included != QM_UNSTATED && b->tax_included != QM_UNSTATED
      && a->tax_included != b->tax_included)
    return FALSE;
  for (guint i = 0; i < a->lines->len; i++)
    {
      const QmQuoteLine *p = g_ptr_array_index (a->lines, i);
      const QmQuoteLine *q = g_ptr_array_index (b->lines, i);

      if (p->price_micros != q->price_micros
          || (p->gpus != 0 && q->gpus != 0 && p->gpus != q->gpus)
          || !same_text (p->description, q->description)
          || !same_text (p->part_number, q->part_number))
        return FALSE;
    }
  return TRUE;
}

static QmWatchOutcome
take_quote (QmWatch *watch, QmQuote *quote)
{
  QmWatchOutcome outcome = QM_WATCH_FIRST;

  if (watch->quote != NULL)
    outcome =
        same_prices (watch->quote, quote) ? QM_WATCH_SAME : QM_WATCH_CHANGED;
  g_clear_pointer (&watch->quote, qm_quote_free);
  watch->quote = quote;
  watch->read_at = watch->tried_at;
  return outcome;
}

/* Finds the GPUs of the catalog in the lines of a feed.  How many are rented
 * together the feed itself knows. */
static void
match_lines (const QmMatcher *matcher, QmQuote *quote)
{
  g_autofree int *gpus = g_new (int, quote->lines->len);

  for (guint i = 0; i < quote->lines->len; i++)
    gpus[i] = ((const QmQuoteLine *) g_ptr_array_index (quote->lines, i))->gpus;
  qm_matcher_apply (matcher, quote);
  for (guint i = 0; i < quote->lines->len; i++)
    ((QmQuoteLine *) g_ptr_array_index (quote->lines, i))->gpus = gpus[i];
}

/* Writes into the entry what was brought back. */
static QmWatchOutcome
conclude_catch (Catch *caught,
                const QmMatcher *matcher,
                QmWatchExtract extract,
                gpointer user_data,
                GCancellable *cancellable)
{
  QmWatch *watch = caught->watch;
  const QmFetchResult *result = caught->result;
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  QmWatchOutcome outcome;

  if (caught->quote != NULL && matcher != NULL)
    match_lines (matcher, caught->quote);
  if (result != NULL && !result->not_modified)
    caught->quote =
        extract (watch, result, user_data, cancellable, &caught->error);
  if (g_error_matches (caught->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return QM_WATCH_CANCELLED;

  watch->tried_at = now;
  if (caught->error != NULL
      || (caught->quote == NULL && (result == NULL || !result->not_modified)))
    {
      qm_watch_set_text (&watch->failure, caught->error != NULL
                                              ? caught->error->message
                                              : _ ("the page says no price"));
      return QM_WATCH_FAILED;
    }
  g_clear_pointer (&watch->failure, g_free);
  if (caught->quote == NULL)
    {
      watch->read_at = now;
      return QM_WATCH_SAME;
    }
  outcome = take_quote (watch, g_steal_pointer (&caught->quote));
  qm_watch_set_text (&watch->etag, result != NULL ? result->etag : NULL);
  qm_watch_set_text (&watch->last_modified,
                     result != NULL ? result->last_modified : NULL);
  return outcome;
}

guint
qm_watch_list_refresh (GPtrArray *watches,
                       QmFetcher *fetcher,
                       const QmMatcher *matcher,
                       QmWatchExtract extract,
                       QmWatchReport report,
                       gpointer user_data,
                       GCancellable *cancellable)
{
  g_autoptr (GAsyncQueue) queue = g_async_queue_new_full (catch_free);
  Hunt hunt = { fetcher, cancellable, queue };
  GThreadPool *pool;
  guint failed = 0;

  g_return_val_if_fail (watches != NULL && fetcher != NULL, 0);
  g_return_val_if_fail (extract != NULL, 0);

  pool = g_thread_pool_new (fetch_thread, &hunt, MAX_THREADS, FALSE, NULL);
  for (guint i = 0; i < watches->len; i++)
    g_thread_pool_push (pool, g_ptr_array_index (watches, i), NULL);
  for (guint i = 0; i < watches->len; i++)
    {
      Catch *caught = g_async_queue_pop (queue);
      QmWatchOutcome outcome =
          conclude_catch (caught, matcher, extract, user_data, cancellable);

      failed += outcome == QM_WATCH_FAILED;
      if (report != NULL)
        report (caught->watch, outcome, i + 1, watches->len, user_data);
      catch_free (caught);
    }
  g_thread_pool_free (pool, FALSE, TRUE);
  return failed;
}
