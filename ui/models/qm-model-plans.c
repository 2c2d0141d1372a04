/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-model-plans.h"

#include "data/model-file.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

/* Milliseconds without another key before a child is started. */
#define QUIET 200

struct _QmModelPlans
{
  GObject parent_instance;

  char *config_text;
  QmRecipe recipe;
  gint64 host_gib;
  guint source;
  GCancellable *cancellable; /* of the question under way */
  GPtrArray *plans;
  QmForecasts *forecasts;
  char *counts;
  char *problem;
};

G_DEFINE_FINAL_TYPE (QmModelPlans, qm_model_plans, G_TYPE_OBJECT)

/* A question under way, with the files that it is asked by. */
typedef struct
{
  GWeakRef owner;
  GCancellable *cancellable;
  char *folder;
  char *config, *recipe;
  char *host;       /* NULL: as much as it takes */
  GPtrArray *plans; /* json_t *, of the first half of the answer */
} Question;

static void
question_free (Question *question)
{
  if (question->config != NULL)
    g_unlink (question->config);
  if (question->recipe != NULL)
    g_unlink (question->recipe);
  if (question->folder != NULL)
    g_rmdir (question->folder);
  g_free (question->config);
  g_free (question->recipe);
  g_free (question->folder);
  g_free (question->host);
  g_clear_pointer (&question->plans, g_ptr_array_unref);
  g_clear_object (&question->cancellable);
  g_weak_ref_clear (&question->owner);
  g_free (question);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Question, question_free)

static void
plan_free (gpointer data)
{
  QmModelPlan *plan = data;

  json_decref (plan->line);
  g_free (plan);
}

char *
qm_model_plan_name (const QmModelPlan *plan)
{
  return plan->settings != NULL
             ? qm_machine_text_method (plan->settings, plan->checkpointing,
                                       NULL, plan->offloading)
             : g_strdup (_ ("Not supported"));
}

static const char *
read_text (const json_t *object, const char *name)
{
  return json_string_value (json_object_get (object, name));
}

static gint64
read_whole (const json_t *object, const char *name)
{
  return json_integer_value (json_object_get (object, name));
}

/* NULL where the line is not what it should be. */
static QmModelPlan *
read_plan (json_t *line)
{
  const json_t *memory = json_object_get (line, "memory_bytes");
  QmModelPlan *plan = g_new0 (QmModelPlan, 1);

  plan->line = json_incref (line);
  plan->gpu = read_text (line, "gpu_id");
  plan->settings = read_text (line, "settings");
  plan->offloading = read_text (line, "sharding");
  plan->unsupported = read_text (line, "unsupported");
  plan->checkpointing = json_is_true (json_object_get (line, "checkpointing"));
  plan->fits = json_is_true (json_object_get (line, "fits"));
  plan->micro_batch = read_whole (line, "micro_batch");
  plan->pairs = read_whole (line, "pairs_compared");
  plan->bytes = read_whole (memory, "total");
  plan->host_bytes = read_whole (memory, "host");
  plan->available_bytes = read_whole (line, "available_bytes");
  plan->smallest_bytes = read_whole (line, "smallest_bytes");
  if (plan->gpu != NULL
      && (plan->unsupported != NULL
          || (plan->settings != NULL && plan->micro_batch > 0)))
    return plan;
  plan_free (plan);
  return NULL;
}

static void
forget_plans (QmModelPlans *self)
{
  g_ptr_array_set_size (self->plans, 0);
  g_clear_pointer (&self->forecasts, qm_forecasts_unref);
  self->forecasts = qm_forecasts_new ();
}

/* `predictions` is NULL where they failed: what fits is known nevertheless. */
static void
take_answer (QmModelPlans *self, GPtrArray *plans, GPtrArray *predictions)
{
  forget_plans (self);
  for (guint i = 0; i < plans->len; i++)
    {
      QmModelPlan *plan = read_plan (g_ptr_array_index (plans, i));

      if (plan != NULL)
        g_ptr_array_add (self->plans, plan);
    }
  for (guint i = 0; predictions != NULL && i < predictions->len; i++)
    qm_forecasts_add (self->forecasts, QM_MODEL_PLANS_MODEL,
                      g_ptr_array_index (predictions, i));
}

static void
predicted_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (Question) question = data;
  g_autoptr (QmModelPlans) self = g_weak_ref_get (&question->owner);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = qm_bench_query_finish (result, NULL, &error);

  if (self == NULL || self->cancellable != question->cancellable)
    return;
  if (lines == NULL)
    g_debug ("no prediction: %s", error->message);
  g_clear_object (&self->cancellable);
  take_answer (self, question->plans, lines);
  g_signal_emit_by_name (self, "changed");
}

static void
ask_time (QmModelPlans *self, Question *question)
{
  const char *memory = question->host != NULL ? "--host-memory" : NULL;
  const char *arguments[] = { "predict",
                              "--config",
                              question->config,
                              "--recipe",
                              question->recipe,
                              "--gpu",
                              "all",
                              "--gpus",
                              self->counts,
                              "--level",
                              QM_MODEL_PLANS_LEVEL,
                              "--json",
                              memory,
                              question->host,
                              NULL };

  qm_bench_query_async (arguments, 0, question->cancellable, predicted_cb,
                        question);
}

static void
planned_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (Question) question = data;
  g_autoptr (QmModelPlans) self = g_weak_ref_get (&question->owner);
  g_autoptr (GError) error = NULL;
  GPtrArray *lines = qm_bench_query_finish (result, NULL, &error);

  question->plans = lines;
  if (self == NULL || self->cancellable != question->cancellable)
    return;
  g_clear_pointer (&self->problem, g_free);
  if (lines != NULL)
    {
      ask_time (self, g_steal_pointer (&question));
      return;
    }
  g_clear_object (&self->cancellable);
  self->problem = g_strdup (error->message);
  forget_plans (self);
  g_signal_emit_by_name (self, "changed");
}

/* Writes the files that the child reads. */
static gboolean
write_files (QmModelPlans *self, Question *question, GError **error)
{
  char *recipe = qm_recipe_format (&self->recipe);
  gboolean written = FALSE;

  question->folder = g_dir_make_tmp ("quartermaster-XXXXXX", error);
  if (question->folder != NULL && recipe != NULL)
    {
      question->config =
          g_build_filename (question->folder, "config.json", NULL);
      question->recipe =
          g_build_filename (question->folder, "recipe.json", NULL);
      written =
          g_file_set_contents (question->config, self->config_text, -1, error)
          && g_file_set_contents (question->recipe, recipe, -1, error);
    }
  free (recipe);
  return written;
}

/* Takes the question. */
static void
ask_memory (Question *question)
{
  const char *memory = question->host != NULL ? "--host-memory" : NULL;
  const char *arguments[] = { "plan",     "--config",       question->config,
                              "--recipe", question->recipe, "--gpu",
                              "all",      "--methods",      "all",
                              "--json",   memory,           question->host,
                              NULL };

  qm_bench_query_async (arguments, 0, question->cancellable, planned_cb,
                        question);
}

static gboolean
ask_cb (gpointer data)
{
  QmModelPlans *self = data;
  g_autoptr (Question) question = g_new0 (Question, 1);
  g_autoptr (GError) error = NULL;

  self->source = 0;
  g_weak_ref_init (&question->owner, self);
  if (!write_files (self, question, &error))
    {
      self->problem = g_strdup (error != NULL ? error->message : "");
      g_signal_emit_by_name (self, "changed");
      return G_SOURCE_REMOVE;
    }
  self->cancellable = g_cancellable_new ();
  question->cancellable = g_object_ref (self->cancellable);
  if (self->host_gib > 0)
    question->host =
        g_strdup_printf ("%" G_GINT64_FORMAT "GiB", self->host_gib);
  ask_memory (g_steal_pointer (&question));
  return G_SOURCE_REMOVE;
}

static void
forget_question (QmModelPlans *self)
{
  g_clear_handle_id (&self->source, g_source_remove);
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->problem, g_free);
}

void
qm_model_plans_ask (QmModelPlans *self,
                    const char *config_text,
                    const QmRecipe *recipe,
                    gint64 host_gib)
{
  g_return_if_fail (QM_IS_MODEL_PLANS (self));
  g_return_if_fail (config_text != NULL && recipe != NULL);

  forget_question (self);
  g_free (self->config_text);
  self->config_text = g_strdup (config_text);
  self->recipe = *recipe;
  self->host_gib = host_gib;
  self->source = g_timeout_add (QUIET, ask_cb, self);
  g_signal_emit_by_name (self, "changed");
}

void
qm_model_plans_clear (QmModelPlans *self)
{
  g_return_if_fail (QM_IS_MODEL_PLANS (self));

  forget_question (self);
  forget_plans (self);
  g_signal_emit_by_name (self, "changed");
}

gboolean
qm_model_plans_is_busy (QmModelPlans *self)
{
  g_return_val_if_fail (QM_IS_MODEL_PLANS (self), FALSE);

  return self->source != 0 || self->cancellable != NULL;
}

const char *
qm_model_plans_get_problem (QmModelPlans *self)
{
  g_return_val_if_fail (QM_IS_MODEL_PLANS (self), NULL);

  return self->problem;
}

GPtrArray *
qm_model_plans_get (QmModelPlans *self)
{
  g_return_val_if_fail (QM_IS_MODEL_PLANS (self), NULL);

  return self->plans;
}

const QmForecasts *
qm_model_plans_get_forecasts (QmModelPlans *self)
{
  g_return_val_if_fail (QM_IS_MODEL_PLANS (self), NULL);

  return self->forecasts;
}

void
qm_model_plans_set_counts (QmModelPlans *self, const char *counts)
{
  g_return_if_fail (QM_IS_MODEL_PLANS (self));
  g_return_if_fail (counts != NULL);

  g_free (self->counts);
  self->counts = g_strdup (counts);
}

QmModelPlans *
qm_model_plans_new (void)
{
  return g_object_new (QM_TYPE_MODEL_PLANS, NULL);
}

static void
qm_model_plans_finalize (GObject *object)
{
  QmModelPlans *self = QM_MODEL_PLANS (object);

  forget_question (self);
  g_ptr_array_unref (self->plans);
  qm_forecasts_unref (self->forecasts);
  g_free (self->counts);
  g_free (self->config_text);
  G_OBJECT_CLASS (qm_model_plans_parent_class)->finalize (object);
}

static void
qm_model_plans_class_init (QmModelPlansClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_model_plans_finalize;
  g_signal_new ("changed", QM_TYPE_MODEL_PLANS, G_SIGNAL_RUN_LAST, 0, NULL,
                NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_model_plans_init (QmModelPlans *self)
{
  self->plans = g_ptr_array_new_with_free_func (plan_free);
  self->forecasts = qm_forecasts_new ();
  self->counts = g_strdup ("1");
}
