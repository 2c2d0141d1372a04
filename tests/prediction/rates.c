/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/rates.h"

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

/* PyTorch was measured compiled, but for naive settings. */
static void
add_result (Rates *rates, const QmResult *result)
{
  Rate *rate = &rates->rates[rates->n];
  const QmModel *model = qm_catalog_model (rates->catalog, result->model);
  bool ours = strcmp (result->engine, "quartermaster") == 0;
  QmTrained trained = { .gpu = qm_catalog_gpu (rates->catalog, result->gpu),
                        .gpus = result->gpus,
                        .options = { .micro_batch = result->micro_batch,
                                     .offload = result->offloading,
                                     .checkpoint = result->checkpointing } };

  if (rates->n == MAX_RATES || result->status != QM_RESULT_MEASURED
      || result->deterministic || model == NULL || trained.gpu == NULL
      || !qm_methods_parse (result->settings, &trained.options.methods))
    return;
  if (result->offloading)
    qm_sharding_parse (result->sharding, &trained.options.sharding);
  trained.config = model->config;
  trained.recipe = model->recipe;
  trained.recipe.batch_size =
      (model->recipe.batch_size + result->gpus - 1) / result->gpus;
  trained.level = ours                                      ? "engine"
                  : strcmp (result->settings, "naive") == 0 ? "naive"
                                                            : "tuned";
  rate->id = rate->model = model->id;
  rate->source = "measured";
  rate->defect = "";
  rate->held = rate->measured = true;
  rate->clock = NAN;
  rate->samples_per_s = (double) model->recipe.batch_size / result->step;
  rate->trained = trained;
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
