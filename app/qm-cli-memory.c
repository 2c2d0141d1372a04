/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-memory.h"

#include "ui/machine/qm-bench-process.h"

static void
answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  GAsyncResult **answer = data;

  *answer = g_object_ref (result);
}

/* (transfer full) (nullable): the lines, or NULL where it does not answer. */
static GPtrArray *
ask (const char *model)
{
  const char *arguments[] = { "plan",      "--model", model,    "--gpu", "all",
                              "--methods", "all",     "--json", NULL };
  g_autoptr (GAsyncResult) answer = NULL;
  g_autoptr (GError) error = NULL;
  GPtrArray *lines;

  qm_bench_query_async (arguments, 0, NULL, answered_cb, &answer);
  while (answer == NULL)
    g_main_context_iteration (NULL, TRUE);
  lines = qm_bench_query_finish (answer, NULL, &error);
  if (lines == NULL)
    g_debug ("no plan of %s: %s", model, error->message);
  return lines;
}

static void
look_at (QmQuestion *question, const QmCatalog *catalog, const char *id)
{
  const QmModel *model = qm_catalog_model (catalog, id);
  g_autoptr (GPtrArray) lines = NULL;

  if (model == NULL || !qm_question_predicts (question, catalog, model))
    return;
  lines = ask (id);
  if (lines == NULL)
    return;
  if (question->memory == NULL)
    question->memory = qm_memory_fit_new ();
  for (guint i = 0; i < lines->len; i++)
    qm_memory_fit_add (question->memory, id, g_ptr_array_index (lines, i));
}

void
qm_cli_memory_look (QmQuestion *question, const QmCatalog *catalog)
{
  g_return_if_fail (question != NULL && catalog != NULL);

  if (question->model != NULL)
    look_at (question, catalog, question->model);
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    look_at (question, catalog, g_array_index (question->runs, QmRun, i).model);
}
