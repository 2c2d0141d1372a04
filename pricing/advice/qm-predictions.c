/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-predictions.h"

#include "data/training-rates.h"
#include "pricing/advice/qm-price.h"
#include "pricing/advice/qm-selection.h"
#include "pricing/qm-order.h"

#include <string.h>

/* Whether a selection has a time there that was asked for. */
static gboolean
is_time_known (const GArray *selection, const QmGpu *gpu, int gpus)
{
  for (guint i = 0; i < selection->len; i++)
    {
      const QmMeasurement *time =
          g_array_index (selection, QmSelected, i).measurement;

      if (time->gpu == gpu && time->gpus == gpus
          && time->feasibility != QM_ILLEGIBLE)
        return TRUE;
    }
  return FALSE;
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
  g_array_sort (sizes, qm_order_ints);
  return sizes;
}

char *
qm_predictions_counts (const QmCatalog *catalog, const QmQuestion *question)
{
  g_autoptr (GArray) counts = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  int last = 0;

  g_return_val_if_fail (catalog != NULL, NULL);

  counts = qm_predictions_sizes (catalog);
  if (question != NULL && question->counts != NULL)
    g_array_append_vals (counts, question->counts->data, question->counts->len);
  if (question != NULL && question->uses != NULL)
    for (guint i = 0; i < question->uses->len; i++)
      g_array_append_val (counts,
                          g_array_index (question->uses, QmUse, i).gpus);
  g_array_sort (counts, qm_order_ints);
  for (guint i = 0; i < counts->len; i++)
    {
      int count = g_array_index (counts, int, i);

      if (count != last)
        g_string_append_printf (text, "%s%d", last > 0 ? "," : "", count);
      last = count;
    }
  return g_strdup (text->str);
}

/* Adds where a time is, unless it is predicted or none. */
static void
add_place (GPtrArray *gpus, GArray *counts, const QmMeasurement *time)
{
  if (time->provenance == QM_PROVENANCE_PREDICTED || !qm_known (time->days))
    return;
  if (!g_ptr_array_find (gpus, time->gpu->id, NULL))
    g_ptr_array_add (gpus, (char *) time->gpu->id);
  for (guint i = 0; i < counts->len; i++)
    if (g_array_index (counts, int, i) == time->gpus)
      return;
  g_array_append_val (counts, time->gpus);
}

gboolean
qm_predictions_to_audit (const QmCatalog *catalog,
                         const QmQuestion *question,
                         const char *model,
                         char **gpus,
                         char **counts)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GArray) selection = NULL;
  const QmMeasurement *times = NULL;
  guint n = 0;

  g_return_val_if_fail (catalog != NULL && model != NULL, FALSE);

  if (question == NULL)
    {
      size_t n_all;

      times = qm_catalog_measurements (catalog, &n_all);
      n = (guint) n_all;
    }
  else
    {
      selection = qm_selection_new (catalog, question,
                                    qm_catalog_model (catalog, model));
      for (guint i = 0; i < selection->len; i++)
        add_place (names, numbers,
                   g_array_index (selection, QmSelected, i).measurement);
      if (question->host != NULL)
        times = qm_host_times_list (question->host, &n);
    }
  for (guint i = 0; i < n; i++)
    if (strcmp (times[i].model->id, model) == 0)
      add_place (names, numbers, &times[i]);
  if (names->len == 0)
    return FALSE;
  g_ptr_array_add (names, NULL);
  g_array_sort (numbers, qm_order_ints);
  for (guint i = 0; i < numbers->len; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "",
                            g_array_index (numbers, int, i));
  *gpus = g_strjoinv (",", (GStrv) names->pdata);
  *counts = g_strdup (text->str);
  return TRUE;
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

QmPredicted *
qm_predictions_make (const QmQuestion *question,
                     const QmModel *model,
                     const QmGpu *gpu,
                     int gpus)
{
  const QmForecast *forecast = NULL;
  const char *level;
  QmPredicted *made;

  g_return_val_if_fail (question != NULL && model != NULL, NULL);

  level = qm_question_level (question);
  if (level != NULL)
    forecast =
        qm_forecasts_look (question->forecasts, model->id, level, gpu, gpus);
  if (forecast == NULL || forecast->fit == QM_FIT_UNKNOWN)
    return NULL;
  made = g_new0 (QmPredicted, 1);
  made->forecast = *forecast;
  made->forecast.unsupported = NULL;
  made->time = (QmMeasurement){
    .model = model,
    .gpu = gpu,
    .gpus = gpus,
    .settings = question->settings,
    .feasibility = forecast->fit == QM_FIT_NOT ? QM_INFEASIBLE : QM_FEASIBLE,
    .days = forecast->days,
    .days_low = forecast->low,
    .days_high = forecast->high,
    .rounding_days = NAN,
    .checkpointing = forecast->checkpointing ? QM_YES : QM_NO,
    .sharding = forecast->sharding,
    .offloading = forecast->fit == QM_FIT_OFFLOADING ? QM_YES : QM_NO,
    .micro_batch_size = forecast->micro_batch,
    .provenance = QM_PROVENANCE_PREDICTED,
    .engine = engine_of (question->times_of),
    .engine_version = "",
    .source = "",
  };
  return made;
}

/* The shortest time that was measured of a model at a place. */
static void
note_measured (GPtrArray *best, const QmMeasurement *time)
{
  for (guint i = 0; i < best->len; i++)
    {
      const QmMeasurement *other = g_ptr_array_index (best, i);

      if (other->gpu != time->gpu || other->gpus != time->gpus)
        continue;
      if (time->days < other->days)
        best->pdata[i] = (gpointer) time;
      return;
    }
  g_ptr_array_add (best, (gpointer) time);
}

/* At each place where what a question asks for was measured, whatever its
 * filters let through. (transfer container) */
static GPtrArray *
list_measured (const QmCatalog *catalog,
               const QmQuestion *question,
               const QmModel *model)
{
  GPtrArray *best = g_ptr_array_new ();
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (all[i].model == model && all[i].provenance == QM_PROVENANCE_MEASURED
        && all[i].settings == question->settings
        && all[i].feasibility == QM_FEASIBLE
        && qm_selection_is_asked_for (question, &all[i]))
      note_measured (best, &all[i]);
  return best;
}

/* Makes a prediction no shorter than what was measured of better GPUs. */
static void
hold (QmPredicted *made, const GPtrArray *measured)
{
  QmMeasurement *time = &made->time;

  for (guint i = 0; i < measured->len; i++)
    {
      const QmMeasurement *other = g_ptr_array_index (measured, i);
      double longer = other->days / time->days;

      if (other->gpus != time->gpus || other->gpu == time->gpu || !(longer > 1)
          || !qm_gpu_is_no_worse (other->gpu, time->gpu))
        continue;
      time->days *= longer;
      time->days_low *= longer;
      time->days_high *= longer;
      made->held_by = other->gpu;
    }
}

void
qm_predictions_add (const QmCatalog *catalog,
                    const QmQuestion *question,
                    const QmModel *model,
                    GArray *selection,
                    GPtrArray *predictions)
{
  g_autoptr (GArray) sizes = NULL;
  g_autoptr (GPtrArray) measured = NULL;
  const QmGpu *gpus;
  size_t n;

  g_return_if_fail (catalog != NULL && question != NULL && model != NULL);
  g_return_if_fail (selection != NULL && predictions != NULL);

  if (qm_question_level (question) == NULL)
    return;
  measured = list_measured (catalog, question, model);
  sizes = question->counts != NULL ? g_array_copy (question->counts)
                                   : qm_predictions_sizes (catalog);
  gpus = qm_catalog_gpus (catalog, &n);
  for (size_t i = 0; i < n; i++)
    for (guint j = 0; j < sizes->len; j++)
      {
        int size = g_array_index (sizes, int, j);
        QmSelected selected = { 0 };
        QmPredicted *made;

        if (!qm_selection_allows (question, &gpus[i], size)
            || is_time_known (selection, &gpus[i], size)
            || (made = qm_predictions_make (question, model, &gpus[i], size))
                   == NULL)
          continue;
        hold (made, measured);
        g_ptr_array_add (predictions, made);
        selected.measurement = &made->time;
        selected.prediction = made;
        g_array_append_val (selection, selected);
      }
}

/* Whether a question names it, or lets it take part and somebody sells it. */
static gboolean
is_asked_about (const QmCatalog *catalog,
                const QmQuestion *question,
                const QmGpu *gpu)
{
  const QmPrice *price;

  if (question->gpus != NULL)
    return g_strv_contains ((const char *const *) question->gpus, gpu->id);
  price = qm_price_choose (catalog, question->rates, gpu->id, QM_PRICE_EACH,
                           QM_PRICES_CURRENT);
  return price != NULL && !qm_price_is_weak (price);
}

void
qm_predictions_add_unsupported (const QmCatalog *catalog,
                                const QmQuestion *question,
                                const QmModel *model,
                                GPtrArray *gpus,
                                GPtrArray *fp8)
{
  g_autoptr (GArray) sizes = NULL;
  const char *level = qm_question_level (question);
  const QmGpu *all;
  size_t n;

  g_return_if_fail (catalog != NULL && question != NULL && model != NULL);
  g_return_if_fail (gpus != NULL && fp8 != NULL);

  if (level == NULL)
    return;
  sizes = question->counts != NULL ? g_array_copy (question->counts)
                                   : qm_predictions_sizes (catalog);
  all = qm_catalog_gpus (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      gboolean unsupported = FALSE, some = FALSE, of_fp8 = FALSE;
      GPtrArray *to;

      for (guint j = 0; j < sizes->len && !some; j++)
        {
          const QmForecast *forecast =
              qm_forecasts_look (question->forecasts, model->id, level, &all[i],
                                 g_array_index (sizes, int, j));

          some = forecast != NULL && forecast->unsupported == NULL;
          unsupported |= forecast != NULL && forecast->unsupported != NULL;
          of_fp8 |=
              forecast != NULL
              && g_strcmp0 (forecast->unsupported, QM_PREDICT_NO_FP8) == 0;
        }
      to = of_fp8 ? fp8 : gpus;
      if (unsupported && !some && is_asked_about (catalog, question, &all[i])
          && !g_ptr_array_find (to, &all[i], NULL))
        g_ptr_array_add (to, (gpointer) &all[i]);
    }
}
