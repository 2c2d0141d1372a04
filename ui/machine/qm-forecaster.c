/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-forecaster.h"

#include "ui/machine/qm-bench-process.h"

struct _QmForecaster
{
  GObject parent_instance;

  QmForecasts *forecasts;
  GHashTable *asked;         /* char*: what was asked, or will be */
  GQueue waiting;            /* Ask */
  GCancellable *cancellable; /* of what is under way; NULL: nothing */
  guint begin_source;        /* the first question waits for a quiet moment */
};

enum
{
  CHANGED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmForecaster, qm_forecaster, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];

/* A question under way, or to come. */
typedef struct
{
  GWeakRef owner;
  GCancellable *cancellable;
  char *model, *level, *gpu, *counts;
} Ask;

static void
ask_free (Ask *ask)
{
  g_weak_ref_clear (&ask->owner);
  g_clear_object (&ask->cancellable);
  g_free (ask->model);
  g_free (ask->level);
  g_free (ask->gpu);
  g_free (ask->counts);
  g_free (ask);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ask, ask_free)

static void ask_next (QmForecaster *self);

static void
predictions_answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (Ask) ask = data;
  g_autoptr (QmForecaster) self = g_weak_ref_get (&ask->owner);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = qm_bench_query_finish (result, NULL, &error);

  if (self == NULL || self->cancellable != ask->cancellable)
    return;
  g_clear_object (&self->cancellable);
  qm_forecasts_set_problem (self->forecasts, ask->model, ask->level,
                            lines == NULL ? error->message : NULL);
  for (guint i = 0; lines != NULL && i < lines->len; i++)
    qm_forecasts_add (self->forecasts, ask->model,
                      g_ptr_array_index (lines, i));
  ask_next (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
ask_next (QmForecaster *self)
{
  Ask *ask = g_queue_pop_head (&self->waiting);
  const char *arguments[] = { "predict", "--model", NULL, "--gpu",
                              NULL,      "--gpus",  NULL, "--level",
                              NULL,      "--json",  NULL };

  qm_forecasts_set_pending (self->forecasts, ask != NULL);
  if (ask == NULL)
    return;
  arguments[2] = ask->model;
  arguments[4] = ask->gpu;
  arguments[6] = ask->counts;
  arguments[8] = ask->level;
  self->cancellable = g_cancellable_new ();
  ask->cancellable = g_object_ref (self->cancellable);
  qm_bench_query_async (arguments, 0, ask->cancellable, predictions_answered_cb,
                        ask);
}

/* After the frame that shows the answer without it, which at the start is the
 * first: where there are few processors, both would take longer. */
static gboolean
begin_cb (gpointer data)
{
  QmForecaster *self = data;

  self->begin_source = 0;
  ask_next (self);
  return G_SOURCE_REMOVE;
}

void
qm_forecaster_ask (QmForecaster *self,
                   const char *model,
                   const char *level,
                   const char *gpu,
                   const char *counts)
{
  g_autofree char *key = NULL;
  Ask *ask;

  g_return_if_fail (QM_IS_FORECASTER (self));
  g_return_if_fail (model != NULL && level != NULL);
  g_return_if_fail (gpu != NULL && counts != NULL);

  key = g_strjoin ("\n", model, level, gpu, counts, NULL);
  if (!g_hash_table_add (self->asked, g_steal_pointer (&key)))
    return;
  ask = g_new0 (Ask, 1);
  g_weak_ref_init (&ask->owner, self);
  ask->model = g_strdup (model);
  ask->level = g_strdup (level);
  ask->gpu = g_strdup (gpu);
  ask->counts = g_strdup (counts);
  g_queue_push_tail (&self->waiting, ask);
  qm_forecasts_set_pending (self->forecasts, TRUE);
  if (self->cancellable == NULL && self->begin_source == 0)
    self->begin_source = g_idle_add_full (G_PRIORITY_LOW, begin_cb, self, NULL);
}

QmForecasts *
qm_forecaster_get (QmForecaster *self)
{
  g_return_val_if_fail (QM_IS_FORECASTER (self), NULL);

  return self->forecasts;
}

static void
end (QmForecaster *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_handle_id (&self->begin_source, g_source_remove);
  g_queue_clear_full (&self->waiting, (GDestroyNotify) ask_free);
  g_hash_table_remove_all (self->asked);
}

void
qm_forecaster_forget (QmForecaster *self)
{
  g_return_if_fail (QM_IS_FORECASTER (self));

  end (self);
  qm_forecasts_unref (self->forecasts);
  self->forecasts = qm_forecasts_new ();
}

QmForecaster *
qm_forecaster_new (void)
{
  return g_object_new (QM_TYPE_FORECASTER, NULL);
}

static void
qm_forecaster_dispose (GObject *object)
{
  end (QM_FORECASTER (object));
  G_OBJECT_CLASS (qm_forecaster_parent_class)->dispose (object);
}

static void
qm_forecaster_finalize (GObject *object)
{
  QmForecaster *self = QM_FORECASTER (object);

  qm_forecasts_unref (self->forecasts);
  g_hash_table_unref (self->asked);
  G_OBJECT_CLASS (qm_forecaster_parent_class)->finalize (object);
}

static void
qm_forecaster_class_init (QmForecasterClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->dispose = qm_forecaster_dispose;
  object_class->finalize = qm_forecaster_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_forecaster_init (QmForecaster *self)
{
  self->forecasts = qm_forecasts_new ();
  self->asked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_queue_init (&self->waiting);
}
