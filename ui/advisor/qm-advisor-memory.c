/* SPDX-License-Identifier: Apache-2.0 */

/* Whether predicted trainings fit into the memory: qm-bench plans them in a
 * child process, one model after the other, and each once. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"
#include "ui/machine/qm-bench-process.h"

/* A question under way. */
typedef struct
{
  GWeakRef advisor;
  char *model;
} Look;

static void
look_free (Look *look)
{
  g_weak_ref_clear (&look->advisor);
  g_free (look->model);
  g_free (look);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Look, look_free)

static void ask_next (QmAdvisor *self);

static void
answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (Look) look = data;
  g_autoptr (QmAdvisor) self = g_weak_ref_get (&look->advisor);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = qm_bench_query_finish (result, NULL, &error);

  if (self == NULL)
    return;
  g_clear_object (&self->looking);
  if (lines == NULL)
    g_debug ("no plan of %s: %s", look->model, error->message);
  for (guint i = 0; lines != NULL && i < lines->len; i++)
    qm_memory_fit_add (self->memory, look->model, g_ptr_array_index (lines, i));
  ask_next (self);
  qm_advisor_queue_rebuild (self);
}

static void
ask_next (QmAdvisor *self)
{
  g_autofree char *model = g_queue_pop_head (&self->to_look_at);
  const char *arguments[] = { "plan",      "--model", model,    "--gpu", "all",
                              "--methods", "all",     "--json", NULL };
  Look *look;

  qm_memory_fit_set_pending (self->memory, model != NULL);
  if (model == NULL)
    return;
  look = g_new0 (Look, 1);
  g_weak_ref_init (&look->advisor, self);
  look->model = g_steal_pointer (&model);
  self->looking = g_cancellable_new ();
  qm_bench_query_async (arguments, 0, self->looking, answered_cb, look);
}

void
qm_advisor_look_at_memory (QmAdvisor *self,
                           const QmQuestion *question,
                           const char *id)
{
  const QmModel *model = qm_catalog_model (self->catalog, id);

  if (model == NULL || g_hash_table_contains (self->looked_at, id)
      || !qm_question_predicts (question, self->catalog, model))
    return;
  g_hash_table_add (self->looked_at, g_strdup (id));
  g_queue_push_tail (&self->to_look_at, g_strdup (id));
  if (self->looking == NULL)
    ask_next (self);
}

void
qm_advisor_forget_memory (QmAdvisor *self)
{
  if (self->looking != NULL)
    g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  g_queue_clear_full (&self->to_look_at, g_free);
}
