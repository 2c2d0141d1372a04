/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-cli-forecast.h"

#include "app/qm-cli-json.h"
#include "pricing/advice/qm-predictions.h"
#include "ui/machine/qm-bench-process.h"

#include <signal.h>

static void
forecast_answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  GAsyncResult **answer = data;

  *answer = g_object_ref (result);
}

GPtrArray *
qm_cli_forecast_ask (const char *const *arguments, GError **error)
{
  g_autoptr (GAsyncResult) answer = NULL;
  struct sigaction broken_pipe;

  /* GLib from 2.80 or so on ignores the signal for good when it talks to a
   * child; who reads the advice may go away all the same, as head does. */
  sigaction (SIGPIPE, NULL, &broken_pipe);
  qm_bench_query_async (arguments, 0, NULL, forecast_answered_cb, &answer);
  while (answer == NULL)
    g_main_context_iteration (NULL, TRUE);
  sigaction (SIGPIPE, &broken_pipe, NULL);
  return qm_bench_query_finish (answer, NULL, error);
}

static void
predict (QmForecasts *forecasts,
         const char *model,
         const char *level,
         const char *gpus,
         const char *counts,
         QmGpuLink link)
{
  /* What goes wrong is told in files, too. */
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = qm_cli_forecast_ask (
      (const char *[]){ "predict", "--model", model, "--gpu", gpus, "--gpus",
                        counts, "--level", level, "--link",
                        qm_gpu_link_name (link), "--json", NULL },
      &error);

  if (lines == NULL)
    qm_forecasts_set_problem (forecasts, model, level, error->message);
  for (guint i = 0; lines != NULL && i < lines->len; i++)
    qm_forecasts_add (forecasts, model, g_ptr_array_index (lines, i));
}

static void
predict_audits (const QmQuestion *question,
                QmForecasts *forecasts,
                const QmCatalog *catalog,
                const char *model,
                QmGpuLink link)
{
  g_autofree char *gpus = NULL;
  g_autofree char *counts = NULL;

  if (qm_predictions_to_audit (catalog, question, model, &gpus, &counts))
    predict (forecasts, model, QM_FORECAST_LEVELS, gpus, counts, link);
}

void
qm_cli_forecast_audit (QmForecasts *forecasts,
                       const QmCatalog *catalog,
                       const char *model,
                       QmGpuLink link)
{
  predict_audits (NULL, forecasts, catalog, model, link);
}

/* What may be bought where nobody measured it, and what is to be held against
 * those that somebody did. */
static void
predict_model (QmQuestion *question,
               const QmCatalog *catalog,
               const char *model)
{
  const char *level = qm_question_level (question);
  g_autofree char *counts = qm_predictions_counts (catalog, question);

  if (level != NULL)
    predict (question->forecasts, model, level, "all", counts, question->link);
  predict_audits (question, question->forecasts, catalog, model,
                  question->link);
}

void
qm_cli_forecast (QmQuestion *question, const QmCatalog *catalog)
{
  g_return_if_fail (question != NULL && catalog != NULL);

  if (question->forecasts == NULL)
    question->forecasts = qm_forecasts_new ();
  if (question->model != NULL)
    predict_model (question, catalog, question->model);
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    predict_model (question, catalog,
                   g_array_index (question->runs, QmRun, i).model);
}

void
qm_cli_forecast_engine (QmQuestion *question,
                        const char *model,
                        const QmGpu *gpu,
                        int gpus)
{
  g_autofree char *count = g_strdup_printf ("%d", gpus);

  if (question->forecasts == NULL)
    question->forecasts = qm_forecasts_new ();
  predict (question->forecasts, model, "engine", gpu->id, count,
           question->link);
}

/* A model whose times are to be audited. */
typedef struct
{
  const char *model;
  GAsyncResult *answer; /* NULL: not yet */
} Audit;

/* Asks about a model wherever the catalog has a time of it, with any settings;
 * FALSE: it has none. */
static gboolean
ask_audit (const QmCatalog *catalog, Audit *audit)
{
  g_autofree char *gpus = NULL;
  g_autofree char *counts = NULL;
  const char *arguments[] = { "predict", "--model", audit->model,
                              "--gpu",   NULL,      "--gpus",
                              NULL,      "--level", QM_FORECAST_LEVELS,
                              "--json",  NULL };

  if (!qm_predictions_to_audit (catalog, NULL, audit->model, &gpus, &counts))
    return FALSE;
  arguments[4] = gpus;
  arguments[6] = counts;
  qm_bench_query_async (arguments, 0, NULL, forecast_answered_cb,
                        &audit->answer);
  return TRUE;
}

/* All at once: a model takes a fifth of a second. */
QmForecasts *
qm_cli_forecast_audits (const QmCatalog *catalog)
{
  QmForecasts *forecasts = qm_forecasts_new ();
  size_t n;
  const QmModel *models = qm_catalog_models (catalog, &n);
  g_autofree Audit *audits = g_new0 (Audit, n + 1);

  for (size_t i = 0; i < n; i++)
    {
      audits[i].model = models[i].id;
      if (!ask_audit (catalog, &audits[i]))
        audits[i].model = NULL;
    }
  for (size_t i = 0; i < n; i++)
    {
      g_autoptr (GPtrArray) lines = NULL;

      if (audits[i].model == NULL)
        continue;
      while (audits[i].answer == NULL)
        g_main_context_iteration (NULL, TRUE);
      lines = qm_bench_query_finish (audits[i].answer, NULL, NULL);
      g_object_unref (audits[i].answer);
      for (guint j = 0; lines != NULL && j < lines->len; j++)
        qm_forecasts_add (forecasts, audits[i].model,
                          g_ptr_array_index (lines, j));
    }
  return forecasts;
}
