/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench predict --rates: the rates of the catalog, each beside what is
 * predicted of the same training, and judged as training times are
 * (pricing/advice/qm-audit.c).  What rates of the same model tell of a
 * prediction counts here, too, but for those of the place of the rate itself,
 * which would be judged by itself. */

#include "app/qm-bench-search.h"

#include "engine/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rate and what is found of it; NaN: not known. */
typedef struct Audited
{
  const QmTrainingRate *rate;
  QmTrained trained;
  bool planned;                /* else nothing is predicted */
  double predicted, low, high; /* samples a second of all GPUs; nine of ten are
                                  between */
  double utilization;
  QmResidual residual; /* of rates of other places */
  QmError problem;     /* why nothing is predicted */
} Audited;

static void
predict (Audited *audited, const QmBenchRates *rates)
{
  const QmTrained *trained = &audited->trained;
  const QmLevel *level;
  char key[QM_MODEL_KEY_BYTES];
  QmPrediction prediction;
  double spread;

  if (qm_trained_predict_ranks (trained, rates->calibration, &prediction,
                                &audited->problem)
      != QM_OK)
    return;
  level = qm_calibration_level (rates->calibration, trained->level);
  qm_trained_key (trained, audited->rate->model, rates->catalog, key);
  audited->residual = qm_residuals_find_elsewhere (rates->residuals, level, key,
                                                   trained->gpu, trained->gpus);
  qm_residual_apply (&audited->residual, &prediction);
  spread = exp (level->constants[qm_constant_spread (trained->gpu)]
                * sqrt (audited->residual.left));
  audited->predicted = trained->work->samples * trained->gpus / prediction.step;
  audited->low = audited->predicted / spread;
  audited->high = audited->predicted * spread;
}

static void
audit (Audited *audited, const QmBenchRates *rates)
{
  QmTrained *trained = &audited->trained;

  if (qm_trained_read (audited->rate, rates->catalog, trained,
                       &audited->problem)
      != QM_OK)
    return;
  audited->utilization =
      qm_trained_utilization (trained, audited->rate->samples_per_s);
  audited->planned = qm_trained_plan (trained, &audited->problem) == QM_OK;
  if (audited->planned)
    {
      /* That nothing fits, and a small micro-batch was taken, is no problem. */
      audited->problem = (QmError){ 0 };
      predict (audited, rates);
    }
  qm_trained_clear (trained);
}

/* As pricing/ calls verdicts, and "defect". */
static const char *
verdict_of (const Audited *audited)
{
  if (audited->rate->defect[0] != '\0')
    return "defect";
  if (isnan (audited->utilization))
    return "unknown";
  if (audited->utilization > 1)
    return "impossible";
  if (isnan (audited->predicted))
    return "possible";
  return audited->rate->samples_per_s > audited->high ? "doubtful" : "ok";
}

static json_t *
text_or_null (const char *text)
{
  return text[0] != '\0' ? json_string (text) : json_null ();
}

static void
add_rate (json_t *object, const Audited *audited)
{
  const QmTrainingRate *rate = audited->rate;
  const QmTrained *trained = &audited->trained;

  json_object_set_new (object, "id", json_string (rate->id));
  json_object_set_new (object, "provenance",
                       json_string (rate->reported ? "reported" : "measured"));
  json_object_set_new (object, "model", json_string (rate->model));
  json_object_set_new (object, "gpu",
                       json_string (trained->gpu != NULL ? trained->gpu->name
                                                         : rate->gpu));
  json_object_set_new (object, "gpu_id", json_string (rate->gpu));
  json_object_set_new (object, "gpus", json_integer (rate->gpus));
  json_object_set_new (object, "link",
                       json_string (rate->link[0] != '\0' ? rate->link
                                                          : "auto"));
  json_object_set_new (object, "level", json_string (rate->level));
  json_object_set_new (object, "batch_size", json_integer (rate->batch));
  json_object_set_new (object, "micro_batch",
                       audited->planned
                           ? json_integer (trained->options.micro_batch)
                           : json_null ());
  json_object_set_new (object, "checkpointing",
                       json_boolean (rate->checkpointing));
  json_object_set_new (object, "source", json_string (rate->source));
  json_object_set_new (object, "defect", text_or_null (rate->defect));
}

static void
print_audited_json (const Audited *audited)
{
  json_t *object = json_object ();

  add_rate (object, audited);
  qm_bench_json_number (object, "samples_per_s", audited->rate->samples_per_s);
  qm_bench_json_number (object, "predicted", audited->predicted);
  qm_bench_json_number (object, "predicted_low", audited->low);
  qm_bench_json_number (object, "predicted_high", audited->high);
  json_object_set_new (object, "residual",
                       qm_bench_json_residual (&audited->residual));
  qm_bench_json_number (object, "utilization", audited->utilization);
  json_object_set_new (object, "fits",
                       audited->planned ? json_boolean (audited->trained.fits)
                                        : json_null ());
  json_object_set_new (object, "verdict", json_string (verdict_of (audited)));
  json_object_set_new (object, "problem",
                       text_or_null (audited->problem.message));
  qm_bench_print_json (object);
}

static void
add_head (QmBenchTable *table)
{
  static const char *const heads[] = {
    "rate",      "level", "model", "GPUs", "known as", "samples/s",
    "predicted", "from",  "to",    "by",   "of peak",  "verdict",
  };
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  for (int i = 0; cells != NULL && i < table->columns; i++)
    snprintf (cells[i], QM_BENCH_CELL, "%s", heads[i]);
}

static void
format_verdict (const Audited *audited, char cell[QM_BENCH_CELL])
{
  const char *verdict = verdict_of (audited);

  if (audited->rate->defect[0] != '\0')
    snprintf (cell, QM_BENCH_CELL, "%.*s", QM_BENCH_CELL - 1,
              audited->rate->defect);
  else
    snprintf (cell, QM_BENCH_CELL, "%s%s%.100s",
              strcmp (verdict, "ok") == 0 ? "plausible" : verdict,
              audited->problem.message[0] != '\0' ? ": " : "",
              audited->problem.message);
}

static bool
add_audited_line (QmBenchTable *table, const Audited *audited)
{
  const QmTrainingRate *rate = audited->rate;
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  if (cells == NULL)
    return false;
  snprintf (cells[0], QM_BENCH_CELL, "%s", rate->id);
  snprintf (cells[1], QM_BENCH_CELL, "%s", rate->level);
  snprintf (cells[2], QM_BENCH_CELL, "%.40s", rate->model);
  snprintf (cells[3], QM_BENCH_CELL, "%d x %s", rate->gpus, rate->gpu);
  snprintf (cells[4], QM_BENCH_CELL, "%s",
            rate->reported ? "reported" : "measured");
  qm_bench_format (rate->samples_per_s, cells[5]);
  qm_bench_format (audited->predicted, cells[6]);
  qm_bench_format (audited->low, cells[7]);
  qm_bench_format (audited->high, cells[8]);
  snprintf (cells[9], QM_BENCH_CELL, "%zu", audited->residual.rates);
  if (isnan (audited->utilization))
    snprintf (cells[10], QM_BENCH_CELL, "-");
  else
    snprintf (cells[10], QM_BENCH_CELL, "%.1f %%", 100 * audited->utilization);
  format_verdict (audited, cells[11]);
  return true;
}

/* Whether it is one of those that are asked for. */
static bool
is_asked (const QmBenchRates *rates, const QmTrainingRate *rate)
{
  const QmGpu *gpu = qm_catalog_gpu (rates->catalog, rate->gpu);
  size_t i = 0;

  if (rates->asked != NULL && (gpu == NULL || !rates->asked[gpu - rates->gpus]))
    return false;
  while (i < rates->n_levels
         && strcmp (rates->levels[i]->name, rate->level) != 0)
    i++;
  return rates->n_levels == 0 || i < rates->n_levels;
}

QmStatus
qm_bench_print_rates (const QmBenchRates *rates,
                      const QmTrainingRates *all,
                      QmError *error)
{
  QmBenchTable table = { .columns = 12, .left = 5 };
  QmStatus status = QM_OK;
  size_t n;
  const QmTrainingRate *list = qm_training_rates_list (all, &n);

  add_head (&table);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      Audited audited = { .rate = &list[i],
                          .predicted = NAN,
                          .low = NAN,
                          .high = NAN,
                          .utilization = NAN };

      if (!is_asked (rates, &list[i]))
        continue;
      if (qm_bench_interrupted ())
        status = qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
      else
        audit (&audited, rates);
      if (status == QM_OK && rates->json)
        print_audited_json (&audited);
      else if (status == QM_OK && !add_audited_line (&table, &audited))
        status = qm_error_no_memory (error);
    }
  if (status == QM_OK && table.n > 1)
    {
      qm_bench_table_print (&table);
      qm_bench_say ("by: how many rates of the same model and level in other "
                    "places made a prediction nearer");
    }
  else
    {
      free (table.cells);
      if (status == QM_OK && !rates->json)
        qm_bench_say ("the catalog has no such rates");
    }
  return status;
}
