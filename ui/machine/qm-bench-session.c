/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-session-private.h"

#include <math.h>
#include <signal.h>

/* Milliseconds between a change of the question and its estimate: several may
 * come at once. */
#define DELAY 150

G_DEFINE_FINAL_TYPE (QmBenchSession, qm_bench_session, G_TYPE_OBJECT)

enum
{
  CHANGED,
  MEASURED,
  FINISHED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
question_clear (QmBenchQuestion *question)
{
  g_clear_pointer (&question->device, g_free);
  g_clear_pointer (&question->gpus, g_free);
  g_clear_pointer (&question->models, g_strfreev);
}

void
qm_bench_session_tell (QmBenchSession *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

void
qm_bench_session_tell_measured (QmBenchSession *self, QmBenchRow *row)
{
  g_signal_emit (self, signals[MEASURED], 0, row);
}

void
qm_bench_session_set_state (QmBenchSession *self, QmBenchSessionState state)
{
  g_autoptr (GPtrArray) waiting = NULL;

  self->state = state;
  if (!qm_bench_session_is_busy (self) && self->waiting->len > 0)
    {
      waiting = g_steal_pointer (&self->waiting);
      self->waiting = g_ptr_array_new_with_free_func (g_object_unref);
      for (guint i = 0; i < waiting->len; i++)
        g_task_return_boolean (g_ptr_array_index (waiting, i), TRUE);
    }
  qm_bench_session_tell (self);
  if (state == QM_BENCH_SESSION_FINISHED)
    g_signal_emit (self, signals[FINISHED], 0);
}

double
qm_bench_session_elapsed (QmBenchSession *self)
{
  return self->elapsed
         + (self->began > 0
                ? (double) (g_get_monotonic_time () - self->began) * 1e-6
                : 0);
}

static gboolean
delayed_cb (gpointer data)
{
  QmBenchSession *self = data;

  self->delay = 0;
  qm_bench_session_run (self, FALSE);
  return G_SOURCE_REMOVE;
}

/* Plans what the question says. */
static void
plan (QmBenchSession *self, QmBenchSessionState next)
{
  qm_bench_session_drop (self);
  self->next = next;
  self->seconds_left = NAN;
  self->delay = g_timeout_add (DELAY, delayed_cb, self);
  qm_bench_session_set_state (self, QM_BENCH_SESSION_ESTIMATING);
}

static void
forget_question (QmBenchSession *self)
{
  question_clear (&self->question);
  self->elapsed = 0;
  self->again = FALSE;
}

static void
be_idle (QmBenchSession *self)
{
  qm_bench_session_drop (self);
  g_list_store_remove_all (self->rows);
  g_ptr_array_set_size (self->numbered, 0);
  g_hash_table_remove_all (self->by_key);
  g_clear_pointer (&self->failure, g_free);
  self->seconds_left = NAN;
  qm_bench_session_set_state (self, QM_BENCH_SESSION_IDLE);
}

void
qm_bench_session_estimate (QmBenchSession *self,
                           const char *device,
                           const char *gpus,
                           const char *const *models,
                           QmBenchMethods methods)
{
  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  if (qm_bench_session_is_busy (self))
    return;
  forget_question (self);
  if (device == NULL || models == NULL || models[0] == NULL)
    {
      be_idle (self);
      return;
    }
  self->question.device = g_strdup (device);
  self->question.gpus = g_strdup (gpus);
  self->question.models = g_strdupv ((char **) models);
  self->question.methods = methods;
  plan (self, QM_BENCH_SESSION_READY);
}

gboolean
qm_bench_session_restore (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), FALSE);

  if (qm_bench_session_is_busy (self))
    return FALSE;
  forget_question (self);
  if (!qm_bench_session_recall (self))
    {
      forget_question (self);
      return FALSE;
    }
  plan (self, QM_BENCH_SESSION_PAUSED);
  return TRUE;
}

void
qm_bench_session_start (QmBenchSession *self)
{
  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  if (self->state != QM_BENCH_SESSION_READY
      && self->state != QM_BENCH_SESSION_PAUSED
      && self->state != QM_BENCH_SESSION_FAILED
      && !(self->state == QM_BENCH_SESSION_FINISHED && self->again))
    return;
  if (self->state == QM_BENCH_SESSION_READY)
    self->elapsed = 0;
  qm_bench_session_keep (self);
  qm_bench_session_run (self, TRUE);
  qm_bench_session_set_state (self, QM_BENCH_SESSION_RUNNING);
}

void
qm_bench_session_set_again (QmBenchSession *self, gboolean again)
{
  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  self->again = again;
}

static void
stop (QmBenchSession *self, QmBenchSessionState next)
{
  self->next = next;
  qm_bench_process_stop (self->process);
  qm_bench_session_set_state (self, QM_BENCH_SESSION_STOPPING);
}

void
qm_bench_session_pause (QmBenchSession *self)
{
  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  if (qm_bench_session_is_busy (self))
    stop (self, self->state == QM_BENCH_SESSION_STOPPING
                    ? self->next
                    : QM_BENCH_SESSION_PAUSED);
}

void
qm_bench_session_cancel (QmBenchSession *self)
{
  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  if (qm_bench_session_is_busy (self))
    stop (self, QM_BENCH_SESSION_READY);
  else if (self->state == QM_BENCH_SESSION_PAUSED
           || self->state == QM_BENCH_SESSION_FAILED)
    {
      qm_bench_session_forget ();
      g_clear_pointer (&self->failure, g_free);
      self->elapsed = 0;
      qm_bench_session_set_state (self, QM_BENCH_SESSION_READY);
    }
}

gboolean
qm_bench_session_is_busy (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), FALSE);

  return self->state == QM_BENCH_SESSION_RUNNING
         || self->state == QM_BENCH_SESSION_STOPPING;
}

void
qm_bench_session_stop_async (QmBenchSession *self,
                             GAsyncReadyCallback callback,
                             gpointer data)
{
  GTask *task;

  g_return_if_fail (QM_IS_BENCH_SESSION (self));

  task = g_task_new (self, NULL, callback, data);
  g_task_set_source_tag (task, qm_bench_session_stop_async);
  if (!qm_bench_session_is_busy (self))
    {
      g_task_return_boolean (task, TRUE);
      g_object_unref (task);
      return;
    }
  g_ptr_array_add (self->waiting, task);
  qm_bench_session_pause (self);
}

void
qm_bench_session_stop_finish (QmBenchSession *self, GAsyncResult *result)
{
  g_return_if_fail (g_task_is_valid (result, self));

  g_task_propagate_boolean (G_TASK (result), NULL);
}

QmBenchSessionState
qm_bench_session_get_state (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), QM_BENCH_SESSION_IDLE);

  return self->state;
}

const char *
qm_bench_session_get_device (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->question.device;
}

const char *
qm_bench_session_get_gpus (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->question.gpus;
}

guint
qm_bench_session_n_counts (QmBenchSession *self)
{
  guint n = 1;

  for (const char *c = self->question.gpus; c != NULL && *c != '\0'; c++)
    n += *c == ',';
  return n;
}

const char *
qm_bench_session_get_gpu (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->gpu;
}

const char *const *
qm_bench_session_get_models (QmBenchSession *self)
{
  static const char *const none[] = { NULL };

  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->question.models != NULL
             ? (const char *const *) self->question.models
             : none;
}

QmBenchMethods
qm_bench_session_get_methods (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), QM_BENCH_METHODS_ALL);

  return self->question.methods;
}

GListModel *
qm_bench_session_get_rows (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return G_LIST_MODEL (self->rows);
}

guint
qm_bench_session_get_n_done (QmBenchSession *self)
{
  guint n, done = 0;

  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), 0);

  n = g_list_model_get_n_items (G_LIST_MODEL (self->rows));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row =
          g_list_model_get_item (G_LIST_MODEL (self->rows), i);
      QmBenchRowState state = qm_bench_row_get_state (row);

      done += state != QM_BENCH_ROW_WAITING && state != QM_BENCH_ROW_RUNNING;
    }
  return done;
}

double
qm_bench_session_get_progress (QmBenchSession *self)
{
  double elapsed;

  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), 0);

  elapsed = qm_bench_session_elapsed (self);
  if (self->state == QM_BENCH_SESSION_FINISHED)
    return 1;
  return elapsed > 0 && isfinite (self->seconds_left)
             ? elapsed / (elapsed + fmax (self->seconds_left, 0))
             : 0;
}

double
qm_bench_session_get_seconds_left (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NAN);

  return self->seconds_left;
}

QmBenchRow *
qm_bench_session_get_current (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->current;
}

double
qm_bench_session_get_celsius (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NAN);

  return self->celsius;
}

double
qm_bench_session_get_watts (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NAN);

  return self->watts;
}

double
qm_bench_session_get_watts_limit (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NAN);

  return self->watts_limit;
}

const char *
qm_bench_session_get_throttle (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->throttle != NULL ? self->throttle : "";
}

const char *
qm_bench_session_get_failure (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->failure;
}

const char *
qm_bench_session_get_log (QmBenchSession *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SESSION (self), NULL);

  return self->log != NULL ? self->log : "";
}

QmBenchSession *
qm_bench_session_new (QmCatalogKeeper *keeper)
{
  QmBenchSession *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);

  self = g_object_new (QM_TYPE_BENCH_SESSION, NULL);
  self->keeper = g_object_ref (keeper);
  g_signal_connect_object (keeper, "changed",
                           G_CALLBACK (qm_bench_session_predict_again), self,
                           G_CONNECT_SWAPPED);
  return self;
}

static void
qm_bench_session_dispose (GObject *object)
{
  QmBenchSession *self = QM_BENCH_SESSION (object);

  qm_bench_session_drop (self);
  g_clear_object (&self->forecaster);
  g_clear_object (&self->current);
  g_clear_object (&self->keeper);
  G_OBJECT_CLASS (qm_bench_session_parent_class)->dispose (object);
}

static void
qm_bench_session_finalize (GObject *object)
{
  QmBenchSession *self = QM_BENCH_SESSION (object);

  question_clear (&self->question);
  g_ptr_array_unref (self->waiting);
  g_ptr_array_unref (self->listed);
  g_ptr_array_unref (self->numbered);
  g_object_unref (self->rows);
  g_hash_table_unref (self->by_key);
  g_free (self->gpu);
  g_free (self->throttle);
  g_free (self->failure);
  g_free (self->trouble);
  g_free (self->log);
  G_OBJECT_CLASS (qm_bench_session_parent_class)->finalize (object);
}

static void
qm_bench_session_class_init (QmBenchSessionClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->dispose = qm_bench_session_dispose;
  object_class->finalize = qm_bench_session_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[MEASURED] =
      g_signal_new ("measured", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, QM_TYPE_BENCH_ROW);
  signals[FINISHED] =
      g_signal_new ("finished", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_bench_session_init (QmBenchSession *self)
{
  self->rows = g_list_store_new (QM_TYPE_BENCH_ROW);
  self->by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  self->listed = g_ptr_array_new ();
  self->numbered = g_ptr_array_new_with_free_func (g_object_unref);
  self->forecaster = qm_forecaster_new ();
  g_signal_connect_object (self->forecaster, "changed",
                           G_CALLBACK (qm_bench_session_predict_rows), self,
                           G_CONNECT_SWAPPED);
  self->waiting = g_ptr_array_new_with_free_func (g_object_unref);
  self->seconds_left = self->celsius = self->watts = self->watts_limit = NAN;
}
