/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-book.h"

#include "data/datadir.h"
#include "pricing/pages/qm-page-rules.h"
#include "pricing/quotes/qm-quote-store-backup.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "ui/qm-patience.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

#define POLL_MS 1000

/* What a thread has read of the store. */
typedef struct
{
  QmQuoteStore *store; /* opened; NULL: was open before */
  QmQuoteIndex *index;
  QmOffers *offers;
  QmRates *rates;
  QmMatcher *matcher; /* NULL: was there before */
  GStrv problems;
  GArray *own_problems; /* QmError, of the user's own files */
} State;

/* What a thread needs to know. */
typedef struct
{
  QmCatalog *catalog;
  char *path;
  QmQuoteStore *store;    /* to open again; NULL: to open */
  gboolean needs_matcher; /* and the user's own files */
  gboolean read_only;     /* the store that has that path */
  char *item;             /* whose prices are asked for */
} Job;

struct _QmQuoteBook
{
  GObject parent_instance;

  QmCatalogKeeper *keeper;
  gboolean stale; /* the matcher is of a catalog before */
  char *path;
  char *mappings;

  QmQuoteStore *store;
  QmQuoteIndex *index;
  QmOffers *offers;
  QmRates *rates;
  QmMatcher *matcher;
  GStrv problems;
  GArray *own_problems; /* QmError, of the user's own files */

  guint poll;
  guint64 changes; /* of the store, when it was last read */
  gboolean loading;
  gboolean again;  /* it has changed meanwhile */
  gboolean reopen; /* likewise; and is to be opened anew */
  guint n_readers; /* of prices */
  gboolean closed;
};

enum
{
  CHANGED,
  FAILED,
  PROBLEMS,
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
  g_strfreev (state->problems);
  g_clear_pointer (&state->own_problems, g_array_unref);
  g_free (state);
}

static void
job_free (Job *job)
{
  qm_catalog_free (job->catalog);
  g_free (job->path);
  g_free (job->item);
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

/* Beside the store; NULL: nowhere. */
static char *
mappings_path (const char *store)
{
  g_autofree char *folder = NULL;

  if (strcmp (store, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return NULL;
  folder = g_path_get_dirname (store);
  return g_build_filename (folder, "csv-mappings.json", NULL);
}

/* The user's own files that help to read quotes; what is wrong with one stops
 * nothing. */
static void
read_own_files (State *state, const Job *job)
{
  g_autofree char *mappings_file = mappings_path (job->path);
  g_autofree char *mappings = NULL;
  g_autoptr (QmPageRules) rules = NULL;
  char shipped[PATH_MAX];
  char user[PATH_MAX];

  state->own_problems = g_array_new (FALSE, FALSE, sizeof (QmError));
  state->matcher = qm_matcher_new (
      job->catalog, qm_data_dir (shipped, sizeof shipped) ? shipped : NULL,
      qm_user_data_dir (user, sizeof user) ? user : NULL, state->own_problems);
  /* Each page that is read takes them as they are then. */
  rules = qm_page_rules_load_default (state->own_problems);
  if (mappings_file != NULL)
    mappings = qm_csv_mappings_load (mappings_file, state->own_problems);
}

static gboolean
read_store (State *state,
            QmQuoteStore *store,
            const Job *job,
            GStrvBuilder *problems,
            GError **error)
{
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GPtrArray) unread = g_ptr_array_new_with_free_func (g_free);

  state->index = qm_quote_index_new (store, NULL, error);
  if (state->index == NULL || (state->rates = read_rates (store, error)) == NULL
      || (quotes = qm_quote_store_get_all (store, TRUE, unread, NULL, error))
             == NULL)
    return FALSE;
  for (guint i = 0; i < unread->len; i++)
    g_strv_builder_add (problems, g_ptr_array_index (unread, i));
  state->offers =
      qm_offers_new (job->catalog, quotes, state->rates, qm_date_today ());
  if (job->needs_matcher)
    read_own_files (state, job);
  return TRUE;
}

/* Opens a store for the first time: where it may not be written, to be read. */
static QmQuoteStore *
open_store (const Job *job, GStrvBuilder *problems, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autofree char *text = NULL;
  g_autofree char *missing = qm_quote_store_missing_text (job->path);
  QmQuoteStore *store = qm_quote_store_open (job->path, &trouble);

  if (store != NULL)
    {
      if (missing != NULL)
        g_strv_builder_add (problems, missing);
      return store;
    }
  store = qm_quote_store_open_read (job->path, NULL);
  if (store == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return NULL;
    }
  text = g_strconcat (
      trouble->message, " ",
      _ ("Your quotes count as they are there; none can be added or changed."),
      NULL);
  g_strv_builder_add (problems, text);
  if (qm_quote_store_trouble (store) != NULL)
    g_strv_builder_add (problems, qm_quote_store_trouble (store));
  return store;
}

/* What else is to be told; a backup that fails is, too. */
static void
look_after (QmQuoteStore *store, GStrvBuilder *problems)
{
  g_autoptr (GError) trouble = NULL;
  g_autoptr (GPtrArray) damages =
      qm_quote_store_damages (qm_quote_store_path (store));

  for (guint i = 0; i < damages->len; i++)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, i);

      g_strv_builder_add (problems, damage->text);
    }
  if (!qm_quote_store_maintain (store, &trouble))
    g_strv_builder_add (problems, trouble->message);
}

static State *
run_job (const Job *job, GError **error)
{
  g_autoptr (State) state = g_new0 (State, 1);
  g_autoptr (QmQuoteStore) own = NULL;
  gboolean memory = strcmp (job->path, QM_QUOTE_STORE_IN_MEMORY) == 0;
  QmQuoteStore *store = job->store;
  g_autoptr (GStrvBuilder) problems = g_strv_builder_new ();

  if (store == NULL)
    store = state->store = open_store (job, problems, error);
  else if (!memory)
    store = own =
        qm_quote_store_open_again (qm_quote_store_path (job->store),
                                   qm_quote_store_is_read_only (job->store),
                                   error);
  if (store == NULL || !read_store (state, store, job, problems, error))
    return NULL;
  look_after (store, problems);
  state->problems = g_strv_builder_end (problems);
  return g_steal_pointer (&state);
}

static void
book_thread_cb (GTask *task,
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

/* Returns whether they are others than before. */
static gboolean
take_problems (QmQuoteBook *self, GStrv problems)
{
  gboolean same = self->problems != NULL
                  && g_strv_equal ((const char *const *) self->problems,
                                   (const char *const *) problems);

  g_strfreev (self->problems);
  self->problems = problems;
  if (!same)
    g_signal_emit (self, signals[PROBLEMS], 0);
  return !same;
}

/* Nothing of the store counts, or not what was written last.  What fails again
 * and again is told once. */
static void
take_failure (QmQuoteBook *self, const char *message)
{
  const char *const problems[] = {
    message,
    self->store == NULL
        ? _ ("Your quotes do not count in the advice.")
        : _ ("The advice counts your quotes as they were before."),
    NULL
  };

  if (take_problems (self, g_strdupv ((GStrv) problems)))
    g_signal_emit (self, signals[FAILED], 0, message);
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
    {
      g_clear_pointer (&self->matcher, qm_matcher_free);
      self->matcher = g_steal_pointer (&state->matcher);
      g_clear_pointer (&self->own_problems, g_array_unref);
      self->own_problems = g_steal_pointer (&state->own_problems);
    }
  take_problems (self, g_steal_pointer (&state->problems));
  if (state->store != NULL)
    {
      g_clear_pointer (&self->store, qm_quote_store_close);
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

  if (self->loading)
    return G_SOURCE_CONTINUE;
  self->reopen = !qm_quote_store_is_in_place (self->store);
  if (self->reopen || qm_quote_store_changes (self->store) != self->changes)
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
    {
      self->stale = TRUE;
      take_failure (self, error->message);
    }
  if (opening && self->store != NULL && self->poll == 0)
    self->poll = g_timeout_add (POLL_MS, poll_cb, self);
  if (self->reopen || (self->again && self->store != NULL))
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
  gboolean reopened;
  Job *job;

  if (self->closed)
    return;
  if (self->loading)
    {
      self->again = TRUE;
      return;
    }
  self->loading = TRUE;
  reopened = self->reopen;
  self->reopen = FALSE;
  if (self->store != NULL)
    self->changes = qm_quote_store_changes (self->store);
  job = g_new0 (Job, 1);
  job->catalog = qm_catalog_ref (qm_catalog_keeper_get (self->keeper));
  job->path = g_strdup (self->path);
  job->store = reopened ? NULL : self->store;
  job->needs_matcher = self->matcher == NULL || self->stale;
  self->stale = FALSE;
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
  g_task_run_in_thread (task, book_thread_cb);
}

static void
book_catalog_cb (QmQuoteBook *self)
{
  self->stale = TRUE;
  load (self);
}

QmQuoteBook *
qm_quote_book_new (QmCatalogKeeper *keeper, const char *path)
{
  g_autofree char *file = NULL;
  QmQuoteBook *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);
  g_return_val_if_fail (path != NULL, NULL);

  self = g_object_new (QM_TYPE_QUOTE_BOOK, NULL);
  self->keeper = g_object_ref (keeper);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (book_catalog_cb),
                           self, G_CONNECT_SWAPPED);
  self->path = g_strdup (path);
  file = mappings_path (path);
  if (file != NULL)
    self->mappings = qm_csv_mappings_load (file, NULL);
  load (self);
  return self;
}

static gboolean
is_book_busy (gpointer self)
{
  return QM_QUOTE_BOOK (self)->loading || QM_QUOTE_BOOK (self)->n_readers > 0;
}

void
qm_quote_book_close (QmQuoteBook *self)
{
  g_return_if_fail (QM_IS_QUOTE_BOOK (self));

  self->closed = TRUE;
  g_clear_handle_id (&self->poll, g_source_remove);
  if (!qm_patience_iterate (is_book_busy, self, QM_PATIENCE_USEC))
    g_printerr (_ ("quartermaster: quotes are still being read or written: the "
                   "disk does not answer\n"));
}

QmCatalogKeeper *
qm_quote_book_get_keeper (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->keeper;
}

const QmCatalog *
qm_quote_book_get_catalog (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return qm_catalog_keeper_get (self->keeper);
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

const QmError *
qm_quote_book_get_own_problems (QmQuoteBook *self, guint *n)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self) && n != NULL, NULL);

  *n = self->own_problems->len;
  return (const QmError *) (gconstpointer) self->own_problems->data;
}

QmQuoteStore *
qm_quote_book_get_store (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->store;
}

const char *
qm_quote_book_get_path (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), NULL);

  return self->path;
}

const char *const *
qm_quote_book_get_problems (QmQuoteBook *self)
{
  static const char *const none[] = { NULL };

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), none);

  return self->problems != NULL ? (const char *const *) self->problems : none;
}

gboolean
qm_quote_book_is_writable (QmQuoteBook *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (self), FALSE);

  return self->store != NULL && !qm_quote_store_is_read_only (self->store);
}

void
qm_quote_book_reload (QmQuoteBook *self)
{
  g_return_if_fail (QM_IS_QUOTE_BOOK (self));

  if (strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return;
  self->reopen = !qm_quote_book_is_writable (self);
  load (self);
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
  path = mappings_path (self->path);
  return path == NULL || qm_csv_mappings_save (path, mappings, error);
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

/* Of the book as it was when they were asked for: what it has may be replaced
 * meanwhile. */
static void
prices_cb (GTask *task,
           gpointer source,
           gpointer task_data,
           GCancellable *cancellable)
{
  const Job *asked = task_data;
  GError *error = NULL;
  g_autoptr (QmQuoteStore) own = NULL;
  QmQuoteStore *store;
  GPtrArray *prices = NULL;

  if (g_task_return_error_if_cancelled (task))
    return;
  if (strcmp (asked->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    store = QM_QUOTE_BOOK (source)->store;
  else
    store = own =
        qm_quote_store_open_again (asked->path, asked->read_only, &error);
  if (store != NULL)
    prices = qm_quote_store_price_history (store, asked->catalog, asked->item,
                                           &error);
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
  Job *asked;

  g_return_if_fail (QM_IS_QUOTE_BOOK (self) && item != NULL);

  asked = g_new0 (Job, 1);
  asked->catalog = qm_catalog_ref (qm_catalog_keeper_get (self->keeper));
  asked->item = g_strdup (item);
  asked->read_only = !qm_quote_book_is_writable (self);
  if (self->store != NULL)
    asked->path = g_strdup (qm_quote_store_path (self->store));
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, qm_quote_book_read_prices_async);
  g_task_set_task_data (task, asked, (GDestroyNotify) job_free);
  self->n_readers++;
  g_signal_connect_object (task, "notify::completed",
                           G_CALLBACK (prices_completed_cb), self,
                           G_CONNECT_SWAPPED);
  if (!check_open (self, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else if (strcmp (self->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    prices_cb (task, self, asked, cancellable);
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
  g_strfreev (self->problems);
  g_clear_pointer (&self->own_problems, g_array_unref);
  g_clear_object (&self->keeper);
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
  signals[PROBLEMS] =
      g_signal_new ("problems", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_quote_book_init (QmQuoteBook *self)
{
  self->own_problems = g_array_new (FALSE, FALSE, sizeof (QmError));
}
