/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-predictions.h"

#include "pricing/advice/qm-selection.h"

/* Whether a selection has a time there that was asked for. */
static gboolean
is_known (const GArray *selection, const QmGpu *gpu, int gpus)
{
  for (guint i = 0; i < selection->len; i++)
    {
      const QmSelected *selected = &g_array_index (selection, QmSelected, i);
      const QmMeasurement *time = selected->measurement;

      if (time->gpu == gpu && time->gpus == gpus && !selected->foreign
          && time->feasibility != QM_ILLEGIBLE)
        return TRUE;
    }
  return FALSE;
}

static int
compare_ints (gconstpointer a, gconstpointer b)
{
  const int *p = a;
  const int *q = b;

  return (*p > *q) - (*p < *q);
}

GArray *
qm_predictions_sizes (const QmCatalog *catalog)
{
  GArray *sizes;
  const QmMachine *machines;
  size_t n;

  g_return_val_if_fail (catalog != NULL, NULL);

  sizes = g_array_new (FALSE, FALSE, sizeof (int));
  machines = qm_catalog_machines (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      gboolean seen = FALSE;

      for (guint j = 0; j < sizes->len; j++)
        seen |= g_array_index (sizes, int, j) == machines[i].gpus;
      if (!seen)
        g_array_append_val (sizes, machines[i].gpus);
    }
  g_array_sort (sizes, compare_ints);
  return sizes;
}

static QmEngine
engine_of (QmTimesOf times_of)
{
  switch (times_of)
    {
    case QM_TIMES_OF_QUARTERMASTER:
      return QM_ENGINE_QUARTERMASTER;
    case QM_TIMES_OF_PUBLICATION:
      return QM_ENGINE_UNSTATED;
    case QM_TIMES_OF_PYTORCH:
    case QM_N_TIMES_OF:
    default:
      return QM_ENGINE_PYTORCH;
    }
}

/* (transfer full) (nullable): NULL where too little is known. */
static QmPrediction *
predict (const QmQuestion *question,
         const QmModel *model,
         QmForecasts *forecasts,
         const QmGpu *gpu,
         int gpus)
{
  g_autofree QmPrediction *made = g_new0 (QmPrediction, 1);
  QmForecast *forecast = &made->forecast;

  if (!qm_forecasts_predict (forecasts, model, gpu, gpus, forecast))
    return NULL;
  made->fit = qm_memory_fit_look (question->memory, model->id, gpu, gpus,
                                  question->settings, &made->host_bytes);
  made->time = (QmMeasurement){
    .model = model,
    .gpu = gpu,
    .gpus = gpus,
    .settings = question->settings,
    .feasibility = made->fit == QM_FIT_NOT ? QM_INFEASIBLE : QM_FEASIBLE,
    .days = made->fit == QM_FIT_NOT ? NAN : forecast->days,
    .days_low = made->fit == QM_FIT_NOT ? NAN : forecast->low,
    .days_high = made->fit == QM_FIT_NOT ? NAN : forecast->high,
    .rounding_days = NAN,
    .checkpointing = QM_UNSTATED,
    .sharding = "",
    .offloading = QM_UNSTATED,
    .provenance = QM_PROVENANCE_PREDICTED,
    .engine = engine_of (question->times_of),
    .engine_version = "",
    .source = "",
  };
  return g_steal_pointer (&made);
}

void
qm_predictions_add (const QmCatalog *catalog,
                    const QmQuestion *question,
                    const QmModel *model,
                    QmForecasts *forecasts,
                    GArray *selection,
                    GPtrArray *predictions)
{
  g_autoptr (GArray) sizes = NULL;
  const QmGpu *gpus;
  guint n_known;
  size_t n;

  g_return_if_fail (catalog != NULL && question != NULL && model != NULL);
  g_return_if_fail (forecasts != NULL && selection != NULL);

  n_known = selection->len;
  sizes = question->counts != NULL ? g_array_copy (question->counts)
                                   : qm_predictions_sizes (catalog);
  gpus = qm_catalog_gpus (catalog, &n);
  for (size_t i = 0; i < n; i++)
    for (guint j = 0; j < sizes->len; j++)
      {
        int size = g_array_index (sizes, int, j);
        QmSelected selected = { 0 };
        QmPrediction *made;

        /* One that is part of a machine is there once. */
        if ((size > 1 && !qm_gpu_is_card (&gpus[i])
             && !qm_gpu_is_mezzanine (&gpus[i]))
            || !qm_selection_allows (question, &gpus[i], size)
            || (n_known > 0 && is_known (selection, &gpus[i], size))
            || (made = predict (question, model, forecasts, &gpus[i], size))
                   == NULL)
          continue;
        g_ptr_array_add (predictions, made);
        selected.measurement = &made->time;
        selected.prediction = made;
        g_array_append_val (selection, selected);
      }
}
