/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/rates.h"

#include "data/architecture.h"
#include "data/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
complain (const QmError *error)
{
  fprintf (stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  return false;
}

static bool
add_row (Rates *rates, const QmTrainingRate *row)
{
  Rate *rate = &rates->rates[rates->n];
  QmError error = { 0 };

  if (rates->n == MAX_RATES
      || qm_trained_read (row, rates->catalog, &rate->trained, &error) != QM_OK)
    {
      fprintf (stderr, "%s: %s\n", row->id,
               rates->n == MAX_RATES ? "is one too many" : error.message);
      return false;
    }
  rate->id = row->id;
  rate->model = row->model;
  rate->source = row->source;
  snprintf (rate->origin, sizeof rate->origin, "%.*s",
            (int) strcspn (rate->source, "@ "), rate->source);
  rate->defect = row->defect;
  rate->measured = !row->reported;
  rate->samples_per_s = row->samples_per_s;
  rate->rounding = row->rounding;
  rate->clock = row->sm_mhz;
  qm_trained_key (&rate->trained, rate->model, rates->catalog, rate->key);
  qm_trained_plan (&rate->trained, &rate->problem);
  rates->n++;
  return true;
}

bool
rates_load (const char *data_dir, Rates *rates)
{
  QmError error = { 0 };
  const QmTrainingRate *rows;
  size_t n;
  bool good = true;

  memset (rates, 0, sizeof *rates);
  rates->rates = calloc (MAX_RATES, sizeof *rates->rates);
  if (qm_catalog_load (data_dir, NULL, &rates->catalog, &error) != QM_OK
      || qm_training_rates_load (data_dir, &rates->rows, &error) != QM_OK)
    return complain (&error);
  rows = qm_training_rates_list (rates->rows, &n);
  for (size_t i = 0; good && i < n; i++)
    good = add_row (rates, &rows[i]);
  return good;
}

static void
add_result (Rates *rates, const QmResult *result)
{
  Rate *rate = &rates->rates[rates->n];
  const QmModel *model = qm_catalog_model (rates->catalog, result->model);
  QmTrained trained;

  if (rates->n == MAX_RATES || model == NULL
      || !qm_trained_of_result (result, rates->catalog, &model->config,
                                &model->recipe, &trained))
    return;
  rate->id = rate->model = model->id;
  rate->source = "measured";
  rate->defect = "";
  rate->held = HELD_RESULT;
  rate->measured = true;
  rate->clock = NAN;
  rate->samples_per_s = (double) model->recipe.batch_size / result->step;
  rate->trained = trained;
  qm_trained_key (&rate->trained, rate->model, rates->catalog, rate->key);
  if (qm_trained_plan (&rate->trained, &rate->problem) == QM_OK)
    rates->n++;
}

bool
rates_add_results (Rates *rates, const char *path)
{
  QmResults *results = qm_results_new ();
  QmError error = { 0 };
  const QmResult *list;
  size_t n;
  bool good = qm_results_read (results, path, NULL, NULL, &error) == QM_OK
              || complain (&error);

  list = qm_results_list (results, &n);
  for (size_t i = 0; good && i < n; i++)
    add_result (rates, &list[i]);
  qm_results_free (results);
  return good;
}

static bool
has_place (const Rates *rates, const QmMeasurement *time, const char *level)
{
  for (size_t i = 0; i < rates->n; i++)
    if (strcmp (rates->rates[i].model, time->model->id) == 0
        && strcmp (rates->rates[i].trained.level, level) == 0
        && rates->rates[i].trained.gpu == time->gpu
        && rates->rates[i].trained.gpus == time->gpus)
      return true;
  return false;
}

static const char *
level_of_time (const QmMeasurement *time)
{
  if (time->engine == QM_ENGINE_QUARTERMASTER)
    return "engine";
  return time->settings == QM_SETTINGS_EAGER   ? "eager"
         : time->settings == QM_SETTINGS_NAIVE ? "naive"
                                               : "tuned";
}

static unsigned
methods_of (const QmMeasurement *time)
{
  return time->settings == QM_SETTINGS_NAIVE ? 0
         : time->settings == QM_SETTINGS_EAGER
             ? QM_METHOD_KERNELS | QM_METHOD_TF32
             : QM_METHOD_ALL;
}

static void
add_time (Rates *rates, const QmMeasurement *time, const char *level)
{
  const QmModel *model = time->model;
  Rate *rate = &rates->rates[rates->n];

  *rate = (Rate){ .id = model->id,
                  .model = model->id,
                  .source = "measured",
                  .origin = "measured",
                  .defect = "",
                  .held = HELD_TIME,
                  .measured = true,
                  .clock = NAN };
  rate->samples_per_s =
      (double) (model->recipe.batch_size * model->recipe.steps)
      / (86400 * time->days);
  rate->trained = (QmTrained){
    .gpu = time->gpu,
    .gpus = time->gpus,
    .level = level,
    .gates_apart = qm_trained_before_gates (time->measured_on),
    .config = model->config,
    .recipe = model->recipe,
    .options = { .micro_batch = time->micro_batch_size,
                 .checkpoint = time->checkpointing == QM_YES,
                 .loss_rows = qm_level_loss_rows (level),
                 .methods = methods_of (time) },
  };
  rate->trained.recipe.batch_size =
      (model->recipe.batch_size + time->gpus - 1) / time->gpus;
  qm_trained_key (&rate->trained, rate->model, rates->catalog, rate->key);
  if (qm_trained_plan (&rate->trained, &rate->problem) == QM_OK)
    rates->n++;
}

void
rates_add_times (Rates *rates)
{
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (rates->catalog, &n);

  for (size_t i = 0; i < n && rates->n < MAX_RATES; i++)
    {
      const char *level = level_of_time (&times[i]);

      if (times[i].feasibility == QM_FEASIBLE
          && times[i].provenance == QM_PROVENANCE_MEASURED
          && times[i].engine != QM_ENGINE_UNSTATED
          && times[i].offloading != QM_YES
          && !has_place (rates, &times[i], level))
        add_time (rates, &times[i], level);
    }
}

void
rates_clear (Rates *rates)
{
  for (size_t i = 0; i < rates->n; i++)
    qm_trained_clear (&rates->rates[i].trained);
  free (rates->rates);
  qm_training_rates_free (rates->rows);
  qm_catalog_free (rates->catalog);
}

bool
is_plain (const Rate *rate)
{
  return rate->trained.work != NULL && rate->defect[0] == '\0'
         && qm_trained_is_plain (&rate->trained);
}

QmResidualPlace
residual_place_of (const Rate *rate)
{
  return (QmResidualPlace){ .gpu = rate->trained.gpu->id,
                            .generation =
                                qm_gpu_architecture (rate->trained.gpu),
                            .gpus = rate->trained.gpus };
}

bool
is_offloaded (const Rate *rate)
{
  return rate->trained.options.offload;
}

double
rates_predict (const Rate *rate,
               const QmCalibration *calibration,
               double *clock)
{
  const QmTrained *trained = &rate->trained;
  QmPrediction prediction;

  if (trained->work == NULL
      || qm_trained_predict (trained, calibration, &prediction, NULL) != QM_OK)
    return NAN;
  if (clock != NULL)
    *clock = prediction.clock;
  return prediction.step / (trained->work->samples * trained->gpus);
}

double
rates_predict_ranks (const Rate *rate, const QmCalibration *calibration)
{
  const QmTrained *trained = &rate->trained;
  QmPrediction prediction;
  QmError error = { 0 };

  if (trained->work == NULL
      || qm_trained_predict_ranks (trained, calibration, &prediction, &error)
             != QM_OK)
    return NAN;
  return prediction.step / (trained->work->samples * trained->gpus);
}
