/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-price-watch.h"

#include "pricing/fetch/qm-rates-fetch.h"
#include "pricing/fetch/qm-watch-refresh.h"
#include "ui/qm-patience.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Prices that are older than this are refreshed at the start, where that is
 * switched on. */
#define OLD_S (24 * 60 * 60)

struct _QmPriceWatch
{
  GObject parent_instance;

  QmQuoteBook *book;
  GSettings *settings;
  GCancellable *cancellable; /* of the refresh; NULL: there is none */
  char *rates_failure;
  gint64 began; /* monotonic */
  gboolean closed;

  GMutex lock; /* of these, which the thread writes: */
  guint done;
  guint total;
  gboolean told; /* an idle callback is on its way */
};

/* What a thread needs, and what became of it. */
typedef struct
{
  QmPriceWatchParts parts;
  char *path; /* of the store, which the book may close meanwhile */
  gboolean read_only;
  char *address; /* the only entry; NULL: all */
  char *rates_address;
  QmRates *known_rates;
  QmMatcher *matcher;
  char *rates_failure;
  gboolean rates_done;
  guint looked_at;
  guint failed;
} Job;

enum
{
  CHANGED,
  FINISHED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmPriceWatch, qm_price_watch, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];

static void
job_free (Job *job)
{
  g_clear_pointer (&job->known_rates, qm_rates_unref);
  g_clear_pointer (&job->matcher, qm_matcher_free);
  g_free (job->path);
  g_free (job->address);
  g_free (job->rates_address);
  g_free (job->rates_failure);
  g_free (job);
}

/* In the thread. */

static gboolean
tell_cb (gpointer user_data)
{
  QmPriceWatch *self = user_data;

  g_mutex_lock (&self->lock);
  self->told = FALSE;
  g_mutex_unlock (&self->lock);
  if (!self->closed)
    g_signal_emit (self, signals[CHANGED], 0);
  return G_SOURCE_REMOVE;
}

static void
set_progress (QmPriceWatch *self, guint done, guint total)
{
  g_mutex_lock (&self->lock);
  self->done = done;
  self->total = total;
  if (!self->told)
    g_idle_add_full (G_PRIORITY_DEFAULT, tell_cb, g_object_ref (self),
                     g_object_unref);
  self->told = TRUE;
  g_mutex_unlock (&self->lock);
}

typedef struct
{
  QmPriceWatch *watch;
  Job *job;
} Kept;

static void
kept_cb (const QmWatch *watch,
         const QmWatched *before,
         const QmWatched *now,
         QmWatchOutcome outcome,
         guint done,
         guint total,
         gpointer user_data)
{
  const Kept *kept = user_data;
  guint rates = kept->job->parts & QM_PRICE_WATCH_RATES ? 1 : 0;

  kept->job->looked_at += outcome != QM_WATCH_CANCELLED;
  kept->job->failed += outcome == QM_WATCH_FAILED;
  set_progress (kept->watch, done, total + rates);
}

/* The entries that are asked for.  (transfer full) */
static GPtrArray *
choose (const Job *job, QmQuoteStore *store, GError **error)
{
  GPtrArray *watches = qm_watch_store_load (store, error);

  for (guint i = watches != NULL ? watches->len : 0; i > 0; i--)
    {
      const QmWatch *watch = g_ptr_array_index (watches, i - 1);

      if (!(job->parts & QM_PRICE_WATCH_PRICES)
          || (job->address != NULL
              && strcmp (watch->address, job->address) != 0))
        g_ptr_array_remove_index (watches, i - 1);
    }
  return watches;
}

/* Why rates cannot be fetched is no error: the prices are there. */
static gboolean
refresh_rates (Job *job,
               QmQuoteStore *store,
               QmFetcher *fetcher,
               GCancellable *cancellable,
               GError **error)
{
  g_autoptr (GError) trouble = NULL;
  const char *address =
      job->rates_address != NULL
          ? job->rates_address
          : qm_rates_address_for (job->known_rates, qm_date_today ());
  g_autoptr (QmRates) rates =
      qm_rates_fetch (fetcher, address, NULL, NULL, cancellable, &trouble);

  if (g_error_matches (trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return TRUE;
  job->rates_done = TRUE;
  job->looked_at++;
  if (rates != NULL)
    return qm_quote_store_put_rates (store, rates, address, error);
  job->failed++;
  job->rates_failure = g_strdup (trouble->message);
  return TRUE;
}

static gboolean
run_job (QmPriceWatch *self,
         Job *job,
         GCancellable *cancellable,
         GError **error)
{
  g_autoptr (QmFetcher) fetcher = qm_fetcher_new (NULL);
  g_autoptr (QmPageRules) rules = qm_page_rules_load_default (NULL);
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) watches = NULL;
  guint rates = job->parts & QM_PRICE_WATCH_RATES ? 1 : 0;
  Kept kept = { self, job };

  store = qm_quote_store_open_again (job->path, job->read_only, error);
  if (store == NULL || (watches = choose (job, store, error)) == NULL)
    return FALSE;
  set_progress (self, 0, watches->len + rates);
  if (watches->len > 0
      && !qm_watch_refresh (store, watches, fetcher, rules, job->matcher,
                            job->known_rates, kept_cb, &kept, cancellable,
                            error))
    return FALSE;
  if (rates == 0 || g_cancellable_is_cancelled (cancellable))
    return TRUE;
  return refresh_rates (job, store, fetcher, cancellable, error);
}

static void
watch_thread_cb (GTask *task,
                 gpointer source,
                 gpointer task_data,
                 GCancellable *cancellable)
{
  GError *error = NULL;

  if (run_job (source, task_data, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* Afterwards. */

static char *
outcome_text (const Job *job, gboolean cancelled)
{
  if (cancelled)
    return g_strdup (_ ("Stopped: what was fetched until then is stored"));
  if (job->failed == 0)
    return g_strdup_printf (ngettext ("%u refreshed", "%u refreshed",
                                      job->looked_at),
                            job->looked_at);
  /* Translators: numbers of pages, feeds and tables of rates. */
  return g_strdup_printf (
      ngettext ("%u of %u could not be refreshed; it says why",
                "%u of %u could not be refreshed; each says why", job->failed),
      job->failed, job->looked_at);
}

static void
finished_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  QmPriceWatch *self = QM_PRICE_WATCH (source);
  Job *job = g_task_get_task_data (G_TASK (result));
  gboolean cancelled = g_cancellable_is_cancelled (self->cancellable);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gboolean done = g_task_propagate_boolean (G_TASK (result), &error);

  g_clear_object (&self->cancellable);
  if (job->rates_done)
    {
      g_free (self->rates_failure);
      self->rates_failure = g_steal_pointer (&job->rates_failure);
    }
  if (self->closed)
    return;
  if (done && !cancelled && job->address == NULL && self->settings != NULL
      && job->parts & QM_PRICE_WATCH_PRICES)
    g_settings_set_int64 (self->settings, "prices-refreshed",
                          g_get_real_time () / G_USEC_PER_SEC);
  text = done ? outcome_text (job, cancelled) : g_strdup (error->message);
  g_signal_emit (self, signals[CHANGED], 0);
  g_signal_emit (self, signals[FINISHED], 0, text);
}

void
qm_price_watch_refresh (QmPriceWatch *self,
                        QmPriceWatchParts parts,
                        const char *address)
{
  g_autoptr (GTask) task = NULL;
  QmQuoteStore *store;
  QmRates *rates;
  Job *job;

  g_return_if_fail (QM_IS_PRICE_WATCH (self));

  store = qm_quote_book_get_store (self->book);
  if (self->closed || self->cancellable != NULL || store == NULL)
    return;
  job = g_new0 (Job, 1);
  job->parts = parts;
  job->path = g_strdup (qm_quote_store_path (store));
  job->read_only = qm_quote_store_is_read_only (store);
  job->address = g_strdup (address);
  if (qm_quote_book_get_matcher (self->book) != NULL)
    job->matcher = qm_matcher_ref (qm_quote_book_get_matcher (self->book));
  rates = qm_quote_book_get_rates (self->book);
  job->known_rates = rates != NULL ? qm_rates_ref (rates) : NULL;
  if (self->settings != NULL)
    job->rates_address =
        g_settings_get_string (self->settings, "rates-address");
  if (job->rates_address != NULL && *job->rates_address == '\0')
    g_clear_pointer (&job->rates_address, g_free);
  self->cancellable = g_cancellable_new ();
  self->began = g_get_monotonic_time ();
  self->done = self->total = 0;
  task = g_task_new (self, self->cancellable, finished_cb, NULL);
  g_task_set_source_tag (task, qm_price_watch_refresh);
  /* What was fetched before it was cancelled is to be told. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, job, (GDestroyNotify) job_free);
  g_task_run_in_thread (task, watch_thread_cb);
  g_signal_emit (self, signals[CHANGED], 0);
}

void
qm_price_watch_refresh_at_start (QmPriceWatch *self)
{
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  gint64 last;

  g_return_if_fail (QM_IS_PRICE_WATCH (self));

  if (self->settings == NULL
      || !g_settings_get_boolean (self->settings, "refresh-prices-at-start"))
    return;
  last = g_settings_get_int64 (self->settings, "prices-refreshed");
  /* A clock that was set back does not keep prices old for ever. */
  if (last <= now - OLD_S || last > now)
    qm_price_watch_refresh (self, QM_PRICE_WATCH_PRICES | QM_PRICE_WATCH_RATES,
                            NULL);
}

void
qm_price_watch_cancel (QmPriceWatch *self)
{
  g_return_if_fail (QM_IS_PRICE_WATCH (self));

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
}

static gboolean
is_watch_busy (gpointer data)
{
  return qm_price_watch_is_busy (data);
}

void
qm_price_watch_close (QmPriceWatch *self)
{
  g_return_if_fail (QM_IS_PRICE_WATCH (self));

  self->closed = TRUE;
  qm_price_watch_cancel (self);
  if (!qm_patience_iterate (is_watch_busy, self, QM_PATIENCE_USEC))
    g_printerr (_ ("quartermaster: prices that were looked up could not be "
                   "saved: the disk does not answer\n"));
}

gboolean
qm_price_watch_is_busy (QmPriceWatch *self)
{
  g_return_val_if_fail (QM_IS_PRICE_WATCH (self), FALSE);

  return self->cancellable != NULL;
}

void
qm_price_watch_get_progress (QmPriceWatch *self,
                             guint *done,
                             guint *total,
                             int *seconds_left)
{
  double elapsed;

  g_return_if_fail (QM_IS_PRICE_WATCH (self));

  g_mutex_lock (&self->lock);
  *done = self->done;
  *total = self->total;
  g_mutex_unlock (&self->lock);
  elapsed = (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
  *seconds_left =
      *done > 0 ? (int) (elapsed / *done * (*total - *done) + 0.5) : -1;
}

const char *
qm_price_watch_get_rates_failure (QmPriceWatch *self)
{
  g_return_val_if_fail (QM_IS_PRICE_WATCH (self), NULL);

  return self->rates_failure;
}

QmQuoteBook *
qm_price_watch_get_book (QmPriceWatch *self)
{
  g_return_val_if_fail (QM_IS_PRICE_WATCH (self), NULL);

  return self->book;
}

GSettings *
qm_price_watch_get_settings (QmPriceWatch *self)
{
  g_return_val_if_fail (QM_IS_PRICE_WATCH (self), NULL);

  return self->settings;
}

/* The list. */

GPtrArray *
qm_price_watch_list (QmPriceWatch *self, GError **error)
{
  g_return_val_if_fail (QM_IS_PRICE_WATCH (self), NULL);
  g_return_val_if_fail (qm_quote_book_get_store (self->book) != NULL, NULL);

  return qm_quote_store_watched (qm_quote_book_get_store (self->book), error);
}

char *
qm_price_watch_add (QmPriceWatch *self,
                    QmWatchKind kind,
                    const char *address,
                    const char *item,
                    GError **error)
{
  QmQuoteStore *store = qm_quote_book_get_store (self->book);
  g_autoptr (QmWatch) watch = NULL;
  g_autoptr (QmWatched) watched = NULL;

  g_return_val_if_fail (QM_IS_PRICE_WATCH (self) && store != NULL, NULL);

  watch = qm_watch_new (kind, address, error);
  if (watch == NULL)
    return NULL;
  watched = qm_quote_store_get_watched (store, watch->address, NULL);
  if (watched == NULL)
    watched = qm_watched_new (watch->address);
  g_free (watched->item);
  watched->item = g_strdup (item);
  if (!qm_price_watch_put_back (self, watched, error))
    return NULL;
  return g_steal_pointer (&watch->address);
}

gboolean
qm_price_watch_put_back (QmPriceWatch *self,
                         const QmWatched *watched,
                         GError **error)
{
  QmQuoteStore *store = qm_quote_book_get_store (self->book);

  g_return_val_if_fail (QM_IS_PRICE_WATCH (self) && store != NULL, FALSE);

  if (qm_quote_store_put_watched (store, watched, NULL, error) == 0)
    return FALSE;
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

gboolean
qm_price_watch_remove (QmPriceWatch *self, const char *address, GError **error)
{
  QmQuoteStore *store = qm_quote_book_get_store (self->book);

  g_return_val_if_fail (QM_IS_PRICE_WATCH (self) && store != NULL, FALSE);

  if (!qm_quote_store_remove_watched (store, address, error))
    return FALSE;
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

static void
book_changed_cb (QmPriceWatch *self)
{
  if (!self->closed)
    g_signal_emit (self, signals[CHANGED], 0);
}

QmPriceWatch *
qm_price_watch_new (QmQuoteBook *book, GSettings *settings)
{
  QmPriceWatch *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (settings == NULL || G_IS_SETTINGS (settings), NULL);

  self = g_object_new (QM_TYPE_PRICE_WATCH, NULL);
  self->book = g_object_ref (book);
  g_set_object (&self->settings, settings);
  g_signal_connect_object (book, "changed", G_CALLBACK (book_changed_cb), self,
                           G_CONNECT_SWAPPED);
  return self;
}

static void
qm_price_watch_finalize (GObject *object)
{
  QmPriceWatch *self = QM_PRICE_WATCH (object);

  g_clear_object (&self->book);
  g_clear_object (&self->settings);
  g_free (self->rates_failure);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (qm_price_watch_parent_class)->finalize (object);
}

static void
qm_price_watch_class_init (QmPriceWatchClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_price_watch_finalize;

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FINISHED] =
      g_signal_new ("finished", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
qm_price_watch_init (QmPriceWatch *self)
{
  g_mutex_init (&self->lock);
}
