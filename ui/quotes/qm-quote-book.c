/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-book.h"

#include "data/datadir.h"
#include "pricing/quotes/qm-quote-store-prices.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

#define POLL_MS           1000
#define MAX_MAPPINGS_SIZE (1 << 20)

/* What a thread has read of the store. */
typedef struct
{
  QmQuoteStore *store; /* opened; NULL: was open before */
  QmQuoteIndex *index;
  QmOffers *offers;
  QmRates *rates;
  QmMatcher *matcher; /* NULL: was there before */
} State;

/* What a thread needs to know. */
typedef struct
{
  const QmCatalog *catalog;
  char *path;
  QmQuoteStore *store; /* to open again; NULL: to open */
  gboolean needs_matcher;
} Job;

struct _QmQuoteBook
{
  GObject parent_instance;

  const QmCatalog *catalog;
  char *path;
  char *mappings;

  QmQuoteStore *store;
  QmQuoteIndex *index;
  QmOffers *offers;
  QmRates *rates;
  QmMatcher *matcher;

  guint poll;
  guint64 changes; /* of the store, when it was last read */
  gboolean loading;
  gboolean again;  /* it has changed meanwhile */
  guint n_readers; /* of prices */
  gboolean closed;
};

enum
{
  CHANGED,
  FAILED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmQuoteBook, qm_quote_book, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];

static void load (QmQuoteBook *self);

static void
state_free (State *state)
{
  g_clear_pointer (&state->index, qm_quote_index_free);
  g_clear_pointer (&state->store, qm_quote_store_close);
  g_clear_pointer (&state->offers, qm_offers_unref);
  g_clear_pointer (&state->rates, qm_rates_unref);
  g_clear_pointer (&state->matcher, qm_matcher_free);
  g_free (state);
}

static void
job_free (Job *job)
{
  g_free (job->path);
  g_free (job);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (State, state_free)

/* Without the shipped table the fetched rates serve alone. */
static QmRates *
read_rates (QmQuoteStore *store, GError **error)
{
  char shipped[PATH_MAX];
  g_autoptr (QmRates) known = NULL;
  g_autoptr (QmRates) own = qm_quote_store_get_rates (store, error);

  if (own == NULL)
    return NULL;
  if (qm_data_dir (shipped, sizeof shipped))
    known = qm_rates_new_shipped (shipped, NULL);
  return known != NULL ? qm_rates_merge (known, own) : g_steal_pointer (&own);
}

static gboolean
read_store (State *state, QmQuoteStore *store, const Job *job, GError **error)
{
  g_autoptr (GPtrArray) quotes = NULL;
  char shipped[PATH_MAX];
  char user[PATH_MAX];

  state->index = qm_quote_index_new (store, NULL, error);
  if (state->index == NULL || (state->rates = read_rates (store, error)) == NULL
      || (quotes = qm_quote_store_get_all (store, TRUE, NULL, error)) == NULL)
    return FALSE;
  state->offers =
      qm_offers_new (job->catalog, quotes, state->rates, qm_date_today ());
  if (!job->needs_matcher)
    return TRUE;
  state->matcher = qm_matcher_new (
      job->catalog, qm_data_dir (shipped, sizeof shipped) ? shipped : NULL,
      qm_user_data_dir (user, sizeof user) ? user : NULL, error);
  return state->matcher != NULL;
}

static State *
run_job (const Job *job, GError **error)
{
  g_autoptr (State) state = g_new0 (State, 1);
  g_autoptr (QmQuoteStore) own = NULL;
  gboolean memory = strcmp (job->path, QM_QUOTE_STORE_IN_MEMORY) == 0;
  QmQuoteStore *store = job->store;

  if (store == NULL)
    store = state->store = qm_quote_store_open (job->path, error);
  else if (!memory)
    store = own = qm_quote_store_open_again (job->store, error);
  if (store == NULL || !read_store (state, store, job, error))
    return NULL;
  return g_steal_pointer (&state);
}

static void
thread_cb (GTask *task,
           gpointer source,
           gpointer task_data,
           GCancellable *cancellable)
{
  GError *error = NULL;
  State *state = run_job (task_data, &error);

  if (state != NULL)
    g_task_return_pointer (task, state, (GDestroyNotify) state_free);
  else
    g_task_return_error (task, error);
}

/* Rows of the index before are used until "changed" has been handled. */
static void
take_state (QmQuoteBook *self, State *state)
{
  g_autoptr (QmQuoteIndex) before = g_steal_pointer (&self->index);

  self->index = g_steal_pointer (&state->index);
  g_clear_pointer (&self->offers, qm_offers_unref);
  self->offers = g_steal_pointer (&state->offers);
  g_clear_pointer (&self->rates, qm_rates_unref);
  self->rates = g_steal_pointer (&state->rates);
  if (state->matcher != NULL)
    self->matcher = g_steal_pointer (&state->matcher);
  if (state->store != NULL)
    {
      self->store = g_steal_pointer (&state->store);
      self->changes = qm_quote_store_changes (self->store);
      /* Something may have been written between reading and now. */
      self->again |= !qm_quote_index_is_current (self->index, self->store);
    }
  g_signal_emit (self, signals[CHANGED], 0);
}

static gboolean
poll_cb (gpointer user_data)
{
  QmQuoteBook *self = user_data;

  if (!self->loading && qm_quote_store_changes (self->store) != self->changes)
    load (self);
  return G_SOURCE_CONTINUE;
}

static void
finish_load (QmQuoteBook *self, State *state, GError *error)
{
  gboolean opening = self->store == NULL;

  self->loading = FALSE;
  if (self->closed)
    return;
  if (state != NULL)
    take_state (self, state);
  else
    g_signal_emit (self, signals[FAILED], 0, error->message);
  if (opening && self->store != NULL && self->poll == 0)
    self->poll = g_timeout_add (POLL_MS, poll_cb, self);
  if (self->again && self->store != NULL)
    {
      self->again = FALSE;
      load (self);
    }
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (State) state = g_task_propagate_pointer (G_TASK (result), &error);

  finish_load (QM_QUOTE_BOOK (source), state, error);
}

static void
load (QmQuoteBook *self)
{
  g_autoptr (GTask) task = NULL;
  Job *job;

  if (self->closed)
    return;
  if (self->loading)
    {
      self->again = TRUE;
      return;
    }
  self->loading = TRUE;
  if (self->store != NULL)
    self->changes = qm_quote_store_changes (self->store);
  job = g_new0 (Job, 1);
  job->catalog = self->catalog;
  job->path = g_strdup (self->path);
  job->store = self->store;
  job->needs_matcher = self->matcher == NULL;
  if (self->store != NULL && strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (State) state = run_job (job, &error);

      job_free (job);
      finish_load (self, state, error);
      return;
    }
  task = g_task_new (self, NULL, loaded_cb, NULL);
  g_task_set_source_tag (task, load);
  g_task_set_task_data (task, job, (GDestroyNotify) job_free);
  g_task_run_in_thread (task, thread_cb);
}

static char *
mappings_path (QmQuoteBook *self)
{
  g_autofree char *folder = NULL;

  if (strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return NULL;
  folder = g_path_get_dirname (self->path);
  return g_build_filename (folder, "csv-mappings.json", NULL);
}

static void
read_mappings (QmQuoteBook *self)
{
  g_autofree char *path = mappings_path (self);
  gsize size = 0;

  if (path != NULL && g_file_get_contents (path, &self->mappings, &size, NULL)
      && (size > MAX_MAPPINGS_SIZE
          || !g_utf8_validate (self->mappings, (gssize) size, NULL)))
    g_clear_pointer (&self->mappings, g_free);
}

QmQuoteBook *
qm_quote_book_new (const QmCatalog *catalog, const char *path)
{
  QmQuoteBook *self;

  g_return_val_if_fail (catalog != NULL, NULL);
  g_return_val_if_fail (path != NULL, NULL);

  self = g_object_new (QM_TYPE_QUOTE_BOOK, NULL);
  self->catalog = catalog;
  self->path = g_strdup (path);
  read_mappings (self);
  load (self);
  return self;
}

void
qm_quote_book_close (QmQuoteBook *self)
{
  g_return_if_fail (QM_IS_QUOTE_BOOK (self));

  self->closed = TRUE;
  g_clear_handle_id (&self->poll, g_source_remove);
  while (self->loading || self->n_readers > 0)
    g_main_context_iteration (NULL, TRUE);
}

const QmCatalog *
qm_quote_book_get_catalog (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->catalog;
}

QmQuoteIndex *
qm_quote_book_get_index (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->index;
}

QmOffers *
qm_quote_book_get_offers (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->offers;
}

QmRates *
qm_quote_book_get_rates (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->rates;
}

const QmMatcher *
qm_quote_book_get_matcher (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->matcher;
}

QmQuoteStore *
qm_quote_book_get_store (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->store;
}

const char *
qm_quote_book_get_mappings (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->mappings;
}

gboolean
qm_quote_book_remember_mapping (QmQuoteBook *self,
                                const char *fingerprint,
                                const QmCsvMapping *mapping,
                                GError **error)
{
  g_autofree char *path = NULL;
  char *mappings;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), FALSE);
  g_return_val_if_fail (fingerprint != NULL && mapping != NULL, FALSE);

  mappings = qm_csv_mappings_add (self->mappings, fingerprint, mapping);
  g_free (self->mappings);
  self->mappings = mappings;
  path = mappings_path (self);
  return path == NULL || g_file_set_contents (path, mappings, -1, error);
}

/* Nothing can be asked of a store that is not open yet. */
static gboolean
check_open (QmQuoteBook *self, GError **error)
{
  if (self->store != NULL)
    return TRUE;
  g_set_error_literal (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_IO,
                       _ ("the store of quotes is not open"));
  return FALSE;
}

QmQuote *
qm_quote_book_get (QmQuoteBook *self, gint64 id, GError **error)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return check_open (self, error) ? qm_quote_store_get (self->store, id, error)
                                  : NULL;
}

GArray *
qm_quote_book_relate (QmQuoteBook *self, GPtrArray *quotes, GError **error)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return check_open (self, error)
             ? qm_quote_store_relate (self->store, quotes, error)
             : NULL;
}

GArray *
qm_quote_book_add_all (QmQuoteBook *self,
                       GPtrArray *quotes,
                       GPtrArray *attachments,
                       guint *added,
                       GError **error)
{
  GArray *ids;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  if (!check_open (self, error))
    return NULL;
  ids = qm_quote_store_add_all (self->store, quotes, attachments, added, error);
  if (ids != NULL)
    load (self);
  return ids;
}

gboolean
qm_quote_book_update (QmQuoteBook *self,
                      const QmQuote *quote,
                      const QmQuote *before,
                      GError **error)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), FALSE);

  if (!check_open (self, error)
      || !qm_quote_store_update (self->store, quote, before, error))
    return FALSE;
  load (self);
  return TRUE;
}

gboolean
qm_quote_book_delete (QmQuoteBook *self, gint64 id, GError **error)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), FALSE);

  if (!check_open (self, error)
      || !qm_quote_store_delete (self->store, id, error))
    return FALSE;
  load (self);
  return TRUE;
}

gboolean
qm_quote_book_restore (QmQuoteBook *self, gint64 id, GError **error)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), FALSE);

  if (!check_open (self, error)
      || !qm_quote_store_restore (self->store, id, error))
    return FALSE;
  load (self);
  return TRUE;
}

/* Prices. */

static void
prices_cb (GTask *task,
           gpointer source,
           gpointer item,
           GCancellable *cancellable)
{
  QmQuoteBook *self = source;
  GError *error = NULL;
  g_autoptr (QmQuoteStore) own = NULL;
  QmQuoteStore *store = self->store;
  GPtrArray *prices = NULL;

  if (g_task_return_error_if_cancelled (task))
    return;
  if (strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) != 0)
    store = own = qm_quote_store_open_again (self->store, &error);
  if (store != NULL)
    prices = qm_quote_store_price_history (store, self->catalog, item, &error);
  if (prices != NULL)
    g_task_return_pointer (task, prices, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static void
prices_completed_cb (QmQuoteBook *self)
{
  self->n_readers--;
}

void
qm_quote_book_read_prices_async (QmQuoteBook *self,
                                 const char *item,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  g_autoptr (GError) error = NULL;

  g_return_if_fail (QM_IS_QUOTE_BOOK (self) && item != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, qm_quote_book_read_prices_async);
  g_task_set_task_data (task, g_strdup (item), g_free);
  self->n_readers++;
  g_signal_connect_object (task, "notify::completed",
                           G_CALLBACK (prices_completed_cb), self,
                           G_CONNECT_SWAPPED);
  if (!check_open (self, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else if (strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    prices_cb (task, self, g_task_get_task_data (task), cancellable);
  else
    g_task_run_in_thread (task, prices_cb);
}

GPtrArray *
qm_quote_book_read_prices_finish (QmQuoteBook *self,
                                  GAsyncResult *result,
                                  GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
qm_quote_book_finalize (GObject *object)
{
  QmQuoteBook *self = QM_QUOTE_BOOK (object);

  g_clear_handle_id (&self->poll, g_source_remove);
  g_clear_pointer (&self->index, qm_quote_index_free);
  g_clear_pointer (&self->offers, qm_offers_unref);
  g_clear_pointer (&self->rates, qm_rates_unref);
  g_clear_pointer (&self->matcher, qm_matcher_free);
  g_clear_pointer (&self->store, qm_quote_store_close);
  g_free (self->path);
  g_free (self->mappings);

  G_OBJECT_CLASS (qm_quote_book_parent_class)->finalize (object);
}

static void
qm_quote_book_class_init (QmQuoteBookClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = qm_quote_book_finalize;

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] =
      g_signal_new ("failed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
qm_quote_book_init (QmQuoteBook *self)
{
}
