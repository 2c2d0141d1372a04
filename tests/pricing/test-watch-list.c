/* SPDX-License-Identifier: Apache-2.0 */

/* A watch list over the loopback: what a refresh learns, and what stays when it
 * learns nothing. */

#include "pricing/fetch/qm-rates-fetch.h"
#include "pricing/fetch/qm-watch-list.h"
#include "pricing/fetch/qm-watch-store.h"
#include "tests/pricing/server.h"

#include <stdlib.h>
#include <string.h>

static TestServer *server;
static QmFetcher *fetcher;
static QmCatalog *catalog;
static QmMatcher *matcher;

typedef struct
{
  guint extracted;
  guint outcomes[QM_N_WATCH_OUTCOMES];
  guint last_done;
  const char *answer; /* what the extractor makes of a page; NULL: nothing */
  GCancellable *cancel_after_first;
} Log;

/* Reads the price from the page itself: "hello" is worth 5 USD. */
static QmQuote *
extract_cb (const QmWatch *watch,
            const QmFetchResult *page,
            gpointer data,
            GCancellable *cancellable,
            GError **error)
{
  Log *log = data;
  QmQuote *quote;
  QmQuoteLine *line;

  log->extracted++;
  if (log->answer == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                           "two prices that contradict each other");
      return NULL;
    }
  quote = qm_quote_new ();
  strcpy (quote->currency, "USD");
  quote->kind = QM_PRICE_STREET;
  quote->tax_included = QM_YES;
  line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  line->description = g_strdup (log->answer);
  line->price_micros =
      (gint64) g_bytes_get_size (page->body) * QM_MICROS_PER_UNIT;
  return quote;
}

static void
report_cb (const QmWatch *watch,
           QmWatchOutcome outcome,
           guint done,
           guint total,
           gpointer data)
{
  Log *log = data;

  g_assert_cmpuint (done, ==, log->last_done + 1);
  g_assert_cmpuint (done, <=, total);
  g_assert_cmpint (outcome == QM_WATCH_FAILED, ==,
                   outcome != QM_WATCH_CANCELLED && watch->failure != NULL);
  log->last_done = done;
  log->outcomes[outcome]++;
  if (log->cancel_after_first != NULL)
    g_cancellable_cancel (log->cancel_after_first);
}

static GPtrArray *
list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) qm_watch_free);
}

static QmWatch *
add (GPtrArray *list, QmWatchKind kind, const char *path)
{
  g_autofree char *address = test_server_address (server, path);
  g_autoptr (GError) error = NULL;
  QmWatch *watch = qm_watch_new (kind, address, &error);

  g_assert_no_error (error);
  g_ptr_array_add (list, watch);
  return watch;
}

static guint
refresh (GPtrArray *list, Log *log)
{
  log->last_done = 0;
  memset (log->outcomes, 0, sizeof log->outcomes);
  return qm_watch_list_refresh (list, fetcher, matcher, extract_cb, report_cb,
                                log, NULL);
}

static gint64
price_of (const QmWatch *watch)
{
  const QmQuoteLine *line = g_ptr_array_index (watch->quote->lines, 0);

  return line->price_micros;
}

static void
set_address (QmWatch *watch, const char *path)
{
  g_free (watch->address);
  watch->address = test_server_address (server, path);
}

/* A page is read, found unchanged, lost, and found again. */
static void
test_life (void)
{
  g_autoptr (GPtrArray) list = list_new ();
  QmWatch *watch = add (list, QM_WATCH_PAGE, "/ok");
  Log log = { .answer = "GPU" };
  gint64 read_at;

  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FIRST], ==, 1);
  g_assert_cmpstr (watch->etag, ==, "\"v1\"");
  g_assert_cmpint (price_of (watch), ==, 5000000);
  g_assert_cmpint (watch->read_at, >, 0);

  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_SAME], ==, 1);
  g_assert_cmpuint (log.extracted, ==, 1); /* 304: nothing to extract */

  watch->read_at = read_at = 1700000000;
  set_address (watch, "/status/500");
  g_assert_cmpuint (refresh (list, &log), ==, 1);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FAILED], ==, 1);
  g_assert_nonnull (strstr (watch->failure, "500"));
  g_assert_cmpint (price_of (watch), ==, 5000000);
  g_assert_cmpint (watch->read_at, ==, read_at);
  g_assert_cmpint (watch->tried_at, >, read_at);
  g_assert_cmpstr (watch->etag, ==, "\"v1\"");

  set_address (watch, "/packed");
  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_CHANGED], ==, 1);
  g_assert_cmpint (price_of (watch), ==, G_GINT64_CONSTANT (5000000000));
  g_assert_null (watch->failure);
  g_assert_null (watch->etag);

  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_SAME], ==, 1);
  g_assert_cmpuint (log.extracted, ==, 3);
}

/* A page that is not understood is asked for whole again. */
static void
test_not_understood (void)
{
  g_autoptr (GPtrArray) list = list_new ();
  QmWatch *watch = add (list, QM_WATCH_PAGE, "/ok");
  Log log = { 0 };

  g_assert_cmpuint (refresh (list, &log), ==, 1);
  g_assert_cmpstr (watch->failure, ==, "two prices that contradict each other");
  g_assert_null (watch->quote);
  g_assert_null (watch->etag);
  log.answer = "GPU";
  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FIRST], ==, 1);
}

static void
test_feeds (void)
{
  g_autoptr (GPtrArray) list = list_new ();
  QmWatch *azure = add (list, QM_WATCH_AZURE, "/file/azure-1.json");
  QmWatch *vast = add (list, QM_WATCH_VAST, "/file/vast.json");
  QmWatch *runpod = add (list, QM_WATCH_RUNPOD, "/file/runpod.json");
  Log log = { 0 };

  g_assert_cmpuint (refresh (list, &log), ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FIRST], ==, 3);
  g_assert_cmpuint (log.extracted, ==, 0);
  g_assert_cmpuint (azure->quote->lines->len, ==, 4);
  g_assert_cmpint (vast->quote->kind, ==, QM_PRICE_CLOUD);
  g_assert_cmpuint (runpod->quote->lines->len, ==, 5);

  set_address (vast, "/file/vast-cheaper.json");
  set_address (runpod, "/file/runpod-error.json");
  g_assert_cmpuint (refresh (list, &log), ==, 1);
  g_assert_cmpuint (log.outcomes[QM_WATCH_SAME], ==, 1);
  g_assert_cmpuint (log.outcomes[QM_WATCH_CHANGED], ==, 1);
  g_assert_cmpint (price_of (vast), ==, 1200000);
  g_assert_cmpuint (runpod->quote->lines->len, ==, 5);
  g_assert_nonnull (strstr (runpod->failure, "gpuTypes"));
}

/* Some fail, and all are told of. */
static void
test_many (void)
{
  g_autoptr (GPtrArray) list = list_new ();
  Log log = { .answer = "GPU" };

  add (list, QM_WATCH_PAGE, "/slowly");
  for (int i = 0; i < 20; i++)
    add (list, QM_WATCH_PAGE, i % 4 == 0 ? "/status/404" : "/ok");
  g_assert_cmpuint (refresh (list, &log), ==, 5);
  g_assert_cmpuint (log.last_done, ==, 21);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FIRST], ==, 16);
}

static void
test_cancel (void)
{
  g_autoptr (GPtrArray) list = list_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Log log = { .answer = "GPU", .cancel_after_first = cancellable };
  QmWatch *drip;

  add (list, QM_WATCH_PAGE, "/ok");
  drip = add (list, QM_WATCH_PAGE, "/drip");
  for (int i = 0; i < 8; i++)
    add (list, QM_WATCH_PAGE, "/silent");
  qm_watch_list_refresh (list, fetcher, NULL, extract_cb, report_cb, &log,
                         cancellable);
  g_assert_cmpuint (log.outcomes[QM_WATCH_FIRST], ==, 1);
  g_assert_cmpuint (log.outcomes[QM_WATCH_CANCELLED], ==, 9);
  g_assert_cmpint (drip->tried_at, ==, 0);
  g_assert_null (drip->failure);

  /* One that is cancelled before it begins asks for nothing. */
  log = (Log){ .answer = "GPU" };
  qm_watch_list_refresh (list, fetcher, NULL, extract_cb, report_cb, &log,
                         cancellable);
  g_assert_cmpuint (log.extracted, ==, 0);
  g_assert_cmpuint (log.outcomes[QM_WATCH_CANCELLED], ==, list->len);
}

static void
test_entries (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmWatch) feed = qm_watch_new (QM_WATCH_VAST, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (feed->address, ==, qm_feed_address (QM_FEED_VAST));
  g_assert_cmpint (feed->kind, ==, QM_WATCH_VAST);
  for (guint kind = QM_WATCH_AZURE; kind < QM_N_WATCH_KINDS; kind++)
    {
      g_autoptr (QmWatch) own = qm_watch_new (kind, NULL, NULL);

      g_assert_cmpint (qm_watch_kind_of_address (own->address), ==, kind);
    }
  g_assert_cmpint (qm_watch_kind_of_address ("https://azure.example/prices"),
                   ==, QM_WATCH_PAGE);
  g_assert_null (qm_watch_new (QM_WATCH_PAGE, "file:///etc/passwd", &error));
  g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_ADDRESS);
}

static QmWatchOutcome outcomes[8];

static void
keep_cb (const QmWatch *watch,
         QmWatchOutcome outcome,
         guint done,
         guint total,
         gpointer data)
{
  outcomes[watch->id] = outcome;
}

/* Loads the list from the store, refreshes it, and keeps what was learned. */
static GPtrArray *
refresh_stored (QmQuoteStore *store, Log *log)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *list = qm_watch_store_load (store, &error);

  g_assert_no_error (error);
  qm_watch_list_refresh (list, fetcher, matcher, extract_cb, keep_cb, log,
                         NULL);
  for (guint i = 0; i < list->len; i++)
    {
      const QmWatch *watch = g_ptr_array_index (list, i);

      qm_watch_store_save (store, watch, outcomes[watch->id], &error);
      g_assert_no_error (error);
    }
  return list;
}

static void
test_store (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store =
      qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, &error);
  g_autofree char *address = test_server_address (server, "/ok");
  g_autoptr (QmWatched) page = qm_watched_new (address);
  g_autoptr (QmWatched) stored = NULL;
  g_autoptr (QmWatched) failed = NULL;
  g_autoptr (GPtrArray) history = NULL;
  g_autoptr (GPtrArray) list = NULL;
  const QmPricePoint *point;
  QmWatch *watch;
  Log log = { .answer = "GPU" };

  g_assert_no_error (error);
  page->title = g_strdup ("A GPU");
  page->item = g_strdup ("a6000");
  qm_quote_store_put_watched (store, page, NULL, &error);
  g_assert_no_error (error);

  g_ptr_array_unref (refresh_stored (store, &log));
  g_assert_cmpint (outcomes[1], ==, QM_WATCH_FIRST);
  g_ptr_array_unref (refresh_stored (store, &log));
  g_assert_cmpint (outcomes[1], ==, QM_WATCH_SAME);
  g_assert_cmpuint (log.extracted, ==, 1);
  stored = qm_quote_store_get_watched (store, address, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (stored->title, ==, "A GPU");
  g_assert_cmpint (stored->last_micros, ==, 5000000);
  g_assert_cmpint (qm_date_compare (stored->last_date, qm_date_today ()), ==,
                   0);
  history = qm_quote_store_price_history (store, NULL, "a6000", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (history->len, ==, 1);
  point = g_ptr_array_index (history, 0);
  g_assert_cmpint (point->tax_included, ==, QM_YES);

  /* It fails: the price stands. */
  list = qm_watch_store_load (store, &error);
  watch = g_ptr_array_index (list, 0);
  watch->failure = g_strdup ("nobody answers there");
  watch->tried_at += 100;
  g_assert_true (qm_watch_store_save (store, watch, QM_WATCH_FAILED, &error));
  failed = qm_quote_store_get_watched (store, address, &error);
  g_assert_cmpint (failed->last_micros, ==, 5000000);
  g_assert_cmpstr (failed->error, ==, "nobody answers there");
  g_assert_cmpint (failed->error_at, ==, watch->tried_at);
}

static void
assert_history (QmQuoteStore *store,
                const char *item,
                guint n,
                int gpus,
                gint64 last_micros)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) history =
      qm_quote_store_price_history (store, NULL, item, &error);
  const QmPricePoint *point;

  g_assert_no_error (error);
  g_assert_cmpuint (history->len, ==, n);
  if (n == 0)
    return;
  point = g_ptr_array_index (history, n - 1);
  g_assert_cmpint (point->kind, ==, QM_PRICE_CLOUD);
  g_assert_cmpint (point->unit, ==, QM_PRICE_HOUR);
  g_assert_cmpint (point->gpus, ==, gpus);
  g_assert_cmpint (point->micros, ==, last_micros);
}

/* How many prices an entry brought the last time. */
static gint64
count_prices (QmQuoteStore *store, const QmWatch *watch)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmWatched) watched =
      qm_quote_store_get_watched (store, watch->address, &error);
  gint64 n;

  g_assert_no_error (error);
  n = qm_quote_store_count_prices (store, watch->address, watched->last_date,
                                   &error);
  g_assert_no_error (error);
  return n;
}

/* Prices of feeds become history of the GPUs that are found in their lines. */
static void
test_stored_feeds (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store =
      qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, &error);
  g_autoptr (GPtrArray) list = list_new ();
  Log log = { 0 };

  g_assert_no_error (error);
  add (list, QM_WATCH_AZURE, "/file/azure-1.json");
  add (list, QM_WATCH_RUNPOD, "/file/runpod.json");
  add (list, QM_WATCH_VAST, "/file/vast.json");
  g_assert_cmpuint (refresh (list, &log), ==, 0);
  for (guint i = 0; i < list->len; i++)
    {
      qm_watch_store_save (store, g_ptr_array_index (list, i), QM_WATCH_FIRST,
                           &error);
      g_assert_no_error (error);
    }
  /* Azure in two regions, RunPod in two clouds, Vast.ai. */
  assert_history (store, "h100-80gb-sxm", 5, 1, 2002000);
  assert_history (store, "a100-80gb-sxm", 2, 1, 1025000);
  assert_history (store, "a100-40gb-sxm", 2, 1, 700000);
  assert_history (store, "rtx4090", 1, 1, 333333);
  g_assert_cmpint (count_prices (store, g_ptr_array_index (list, 0)), ==, 4);
  g_assert_cmpint (count_prices (store, g_ptr_array_index (list, 1)), ==, 5);
  g_assert_cmpint (count_prices (store, g_ptr_array_index (list, 2)), ==, 4);

  /* Another median of the day replaces the first, of however many offers. */
  set_address (g_ptr_array_index (list, 2), "/file/vast-cheaper.json");
  g_assert_cmpuint (refresh (list, &log), ==, 0);
  set_address (g_ptr_array_index (list, 2), "/file/vast.json");
  g_assert_true (qm_watch_store_save (store, g_ptr_array_index (list, 2),
                                      QM_WATCH_CHANGED, &error));
  assert_history (store, "h100-80gb-sxm", 5, 1, 1200000);
}

/* Without a matcher nothing is known of them; of a feed with one price that
 * cannot be kept, none is. */
static void
test_feed_as_a_whole (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store =
      qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, &error);
  g_autoptr (GPtrArray) list = list_new ();
  QmWatch *runpod = add (list, QM_WATCH_RUNPOD, "/file/runpod.json");
  QmQuoteLine *line;
  Log log = { 0 };

  g_assert_no_error (error);
  qm_watch_list_refresh (list, fetcher, NULL, extract_cb, report_cb, &log,
                         NULL);
  line = g_ptr_array_index (runpod->quote->lines, 0);
  g_assert_null (line->item);
  g_assert_cmpint (line->gpus, ==, 1);
  g_assert_cmpuint (refresh (list, &log), ==, 0);
  line =
      g_ptr_array_index (runpod->quote->lines, runpod->quote->lines->len - 1);
  g_assert_cmpstr (line->item, ==, "a100-80gb-sxm");
  g_free (line->item);
  line->item = g_strdup ("not \xff UTF-8");
  g_assert_false (qm_watch_store_save (store, runpod, QM_WATCH_FIRST, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID);
  assert_history (store, "h100-80gb-sxm", 0, 0, 0);
}

/* Exchange rates are refreshed on demand too. */
static void
test_rates (void)
{
  g_autofree char *address =
      test_server_address (server, "/file/ecb-daily.xml");
  g_autofree char *page = test_server_address (server, "/ok");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRates) rates =
      qm_rates_fetch (fetcher, address, NULL, NULL, NULL, &error);
  static const struct
  {
    QmDate today;
    const char *address;
  } cases[] = {
    { { 2026, 4, 13 }, QM_RATES_ECB_DAILY },
    { { 2026, 4, 14 }, QM_RATES_ECB_DAILY },
    { { 2026, 4, 15 }, QM_RATES_ECB_90_DAYS },
    { { 2026, 7, 9 }, QM_RATES_ECB_90_DAYS },
    { { 2026, 11, 21 }, QM_RATES_ECB_HISTORY },
  };

  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpstr (qm_rates_address_for (rates, cases[i].today), ==,
                     cases[i].address);
  g_assert_cmpstr (qm_rates_address_for (NULL, cases[0].today), ==,
                   QM_RATES_ECB_HISTORY);
  g_assert_null (qm_rates_fetch (fetcher, page, NULL, NULL, NULL, &error));
  g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT);
}

int
main (int argc, char **argv)
{
  QmFetchLimits limits = qm_fetch_limits_default ();
  const char *directory = g_getenv ("QM_SHIPPED_DATA_DIR");
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (directory, NULL, &catalog, NULL), ==,
                   QM_OK);
  matcher = qm_matcher_new (catalog, directory, NULL, NULL);
  limits.interval_ms = 0;
  server = test_server_start ();
  fetcher = qm_fetcher_new (&limits);
  g_test_add_func ("/watch-list/entries", test_entries);
  g_test_add_func ("/watch-list/life", test_life);
  g_test_add_func ("/watch-list/not-understood", test_not_understood);
  g_test_add_func ("/watch-list/feeds", test_feeds);
  g_test_add_func ("/watch-list/many", test_many);
  g_test_add_func ("/watch-list/cancel", test_cancel);
  g_test_add_func ("/watch-list/store", test_store);
  g_test_add_func ("/watch-list/stored-feeds", test_stored_feeds);
  g_test_add_func ("/watch-list/feed-as-a-whole", test_feed_as_a_whole);
  g_test_add_func ("/watch-list/rates", test_rates);
  status = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  qm_fetcher_free (fetcher);
  test_server_stop (server);
  return status;
}
