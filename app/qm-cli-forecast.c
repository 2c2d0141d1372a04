/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-cli-forecast.h"

#include "app/qm-cli-json.h"
#include "pricing/advice/qm-predictions.h"
#include "ui/machine/qm-bench-process.h"

static void
answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  GAsyncResult **answer = data;

  *answer = g_object_ref (result);
}

/* (transfer full) (nullable): the lines, or NULL where it does not answer. */
static GPtrArray *
ask (const char *model, const char *level, const char *counts, GError **error)
{
  const char *arguments[] = { "predict", "--model", model,  "--gpu",
                              "all",     "--gpus",  counts, "--level",
                              level,     "--json",  NULL };
  g_autoptr (GAsyncResult) answer = NULL;

  qm_bench_query_async (arguments, 0, NULL, answered_cb, &answer);
  while (answer == NULL)
    g_main_context_iteration (NULL, TRUE);
  return qm_bench_query_finish (answer, NULL, error);
}

static void
predict (QmQuestion *question, const char *counts, const char *model)
{
  /* What goes wrong is told in files, too. */
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  g_autoptr (GError) error = NULL;
  const char *level = qm_question_level (question);
  g_autoptr (GPtrArray) lines = ask (model, level, counts, &error);

  if (lines == NULL)
    qm_forecasts_set_problem (question->forecasts, model, level,
                              error->message);
  for (guint i = 0; lines != NULL && i < lines->len; i++)
    qm_forecasts_add (question->forecasts, model, g_ptr_array_index (lines, i));
}

void
qm_cli_forecast (QmQuestion *question, const QmCatalog *catalog)
{
  g_autofree char *counts = NULL;

  g_return_if_fail (question != NULL && catalog != NULL);

  if (qm_question_level (question) == NULL)
    return;
  counts = qm_predictions_counts (catalog, question);
  if (question->forecasts == NULL)
    question->forecasts = qm_forecasts_new ();
  if (question->model != NULL)
    predict (question, counts, question->model);
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    predict (question, counts, g_array_index (question->runs, QmRun, i).model);
}
