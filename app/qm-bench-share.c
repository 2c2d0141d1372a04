/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench share: results that somebody gives away, and what a maintainer does
 * with them: holds each against the hardware, against itself and against what
 * is predicted of it, and takes it among the measurements. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-search.h"

#include "data/datadir.h"
#include "data/result-terms.h"
#include "data/results-file.h"
#include "data/shared.h"
#include "engine/trained.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much a step may be off what its passes and update come to: of one GPU,
 * and of several, of which the last pass takes longer. */
#define STEP_OFF       0.05
#define STEP_OFF_RANKS 0.3

/* What takes longer than so many times the slow end of its prediction is asked
 * about. */
#define MUCH_SLOWER 2

/* Where a maintainer keeps what was shared. */
#define SHARED_NAME "shared.jsonl"

typedef enum Verdict
{
  VERDICT_PLAUSIBLE,
  VERDICT_UNKNOWN, /* nothing to hold it against */
  VERDICT_DOUBTFUL,
  VERDICT_IMPOSSIBLE
} Verdict;

static const char *const verdicts[] = { "plausible", "unknown", "doubtful",
                                        "impossible" };

/* A result and what is found of it; NaN: not known. */
typedef struct Judged
{
  const QmResult *result;
  Verdict verdict;
  double low, high; /* days, predicted; nine of ten are between */
  double utilization;
  char why[160];
} Judged;

__attribute__ ((format (printf, 3, 4))) static void
judge (Judged *judged, Verdict verdict, const char *format, ...)
{
  va_list arguments;

  judged->verdict = verdict;
  va_start (arguments, format);
  vsnprintf (judged->why, sizeof judged->why, format, arguments);
  va_end (arguments);
}

/* Whether its numbers agree with each other and with the model's recipe. */
static bool
is_consistent (Judged *judged, const QmRecipe *recipe)
{
  const QmResult *r = judged->result;
  double pass = (double) r->micro_batch * r->gpus;
  double passes = ceil ((double) recipe->batch_size / pass);
  double step = passes * r->pass + r->update;
  double off = r->gpus > 1 ? STEP_OFF_RANKS : STEP_OFF;

  if (r->accumulation > 0 && fabs ((double) r->accumulation - passes) > 0.5)
    judge (judged, VERDICT_IMPOSSIBLE,
           "%lld passes make no step of %lld samples",
           (long long) r->accumulation, (long long) recipe->batch_size);
  else if (isfinite (step) && fabs (r->step / step - 1) > off)
    judge (judged, VERDICT_IMPOSSIBLE,
           "its passes and update come to %.4g s, its step to %.4g s", step,
           r->step);
  else if (fabs (r->days * 86400 / (r->step * (double) recipe->steps) - 1)
           > 0.01)
    judge (judged, VERDICT_IMPOSSIBLE, "its steps come to %.4g days",
           r->step * (double) recipe->steps / 86400);
  else
    return true;
  return false;
}

/* Holds it against what is predicted of it. */
static void
compare_with_predicted (Judged *judged,
                        QmTrained *trained,
                        const QmCalibration *calibration)
{
  const QmResult *r = judged->result;
  const QmLevel *level = qm_calibration_level (calibration, trained->level);
  QmPrediction prediction;
  QmError problem = { 0 };
  double days, spread;

  if (level == NULL || qm_trained_plan (trained, &problem) != QM_OK
      || qm_trained_predict_ranks (trained, calibration, &prediction, &problem)
             != QM_OK)
    {
      judge (judged, VERDICT_UNKNOWN, "it cannot be predicted: %.100s",
             problem.message);
      return;
    }
  spread = exp (level->constants[qm_constant_spread (trained->gpu)]);
  days = prediction.step / r->step * r->days;
  judged->low = days / spread;
  judged->high = days * spread;
  if (r->days < judged->low)
    judge (judged, VERDICT_DOUBTFUL, "it is faster than predicted");
  else if (r->days > judged->high * MUCH_SLOWER)
    judge (judged, VERDICT_DOUBTFUL, "it is much slower than predicted");
  else
    judge (judged, VERDICT_PLAUSIBLE, "%s", "");
}

static void
audit (Judged *judged,
       const QmCatalog *catalog,
       const QmCalibration *calibration)
{
  const QmResult *r = judged->result;
  const QmModel *model = qm_catalog_model (catalog, r->model);
  const QmGpu *gpu = qm_catalog_gpu (catalog, r->gpu);
  QmAside aside = gpu != NULL ? qm_result_aside (r, gpu) : QM_ASIDE_NOT;
  char key[QM_MODEL_KEY_BYTES] = "";
  QmTrained trained;

  if (model != NULL)
    qm_model_key (&model->config, &model->recipe, key);
  if (model == NULL || strcmp (key, r->model_key) != 0)
    {
      judge (judged, VERDICT_UNKNOWN, "the catalog has no such model");
      return;
    }
  if (!is_consistent (judged, &model->recipe))
    return;
  if (aside != QM_ASIDE_NOT)
    {
      judge (judged, VERDICT_UNKNOWN,
             aside == QM_ASIDE_MACHINES
                 ? "it is of %d machines, and nothing is advised by that"
                 : "its %d GPUs exchanged in a slower way than theirs, and "
                   "nothing is advised by that",
             aside == QM_ASIDE_MACHINES ? r->nodes : r->gpus);
      return;
    }
  if (!qm_trained_of_result (r, catalog, &model->config, &model->recipe,
                             &trained))
    {
      judge (judged, VERDICT_UNKNOWN,
             "nothing is known of its GPU or settings");
      return;
    }
  judged->utilization =
      qm_trained_utilization (&trained,
                              (double) model->recipe.batch_size / r->step);
  if (judged->utilization > 1)
    judge (judged, VERDICT_IMPOSSIBLE, "it would take %.0f %% of the peak",
           judged->utilization * 100);
  else
    compare_with_predicted (judged, &trained, calibration);
  qm_trained_clear (&trained);
}

static json_t *
number_or_null (double number)
{
  return isfinite (number) ? json_real (number) : json_null ();
}

static void
print_judged (const QmBenchOptions *options, const Judged *judged)
{
  const QmResult *r = judged->result;
  char range[64] = "", devices[320];

  if (options->json)
    {
      qm_bench_print_json (
          json_pack ("{s:s, s:s, s:i, s:i, s:s, s:f, s:o, s:o, s:o, s:s, s:s}",
                     "model", r->model, "gpu_id", r->gpu, "gpus", r->gpus,
                     "nodes", r->nodes, "engine", r->engine, "days", r->days,
                     "days_low", number_or_null (judged->low), "days_high",
                     number_or_null (judged->high), "mfu",
                     number_or_null (judged->utilization), "verdict",
                     verdicts[judged->verdict], "reason", judged->why));
      return;
    }
  if (isfinite (judged->low))
    snprintf (range, sizeof range, ", predicted %.3g to %.3g", judged->low,
              judged->high);
  qm_bench_print ("%s on %s, %s %s, %s%s, %s%s, micro-batch %lld: %.4g days%s: "
                  "%s%s%s",
                  r->model,
                  qm_bench_format_devices (r->gpus, r->nodes, r->device,
                                           devices, sizeof devices),
                  r->engine, r->version, r->settings,
                  r->checkpointing ? ", checkpointing" : "", r->sharding,
                  r->offloading ? ", offloading" : "",
                  (long long) r->micro_batch, r->days, range,
                  verdicts[judged->verdict], judged->why[0] != '\0' ? ", " : "",
                  judged->why);
}

/* Appends what a maintainer takes to the folder of measurements. */
static QmStatus
take_shared (const QmBenchOptions *options,
             const Judged *judged,
             size_t n,
             QmError *error)
{
  char path[PATH_MAX];
  QmResultsFile *file;
  bool busy;
  size_t taken = 0;
  QmStatus status;

  if (snprintf (path, sizeof path, "%s/" SHARED_NAME, options->take)
      >= (int) sizeof path)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--take names a folder that is too far away");
  status = qm_results_open (path, false, false, &busy, &file, error);
  if (status != QM_OK)
    return status;
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      const QmResult *known = qm_results_find (qm_results_file_content (file),
                                               judged[i].result->key);
      json_t *line;

      if (known != NULL && strcmp (known->text, judged[i].result->text) == 0)
        continue;
      line = json_loads (judged[i].result->text, 0, NULL);
      status = line != NULL ? qm_results_append (file, line, error)
                            : qm_error_no_memory (error);
      json_decref (line);
      taken += status == QM_OK;
    }
  qm_results_close (file);
  if (status == QM_OK)
    qm_bench_say ("%s: %zu results were taken, %zu were there", path, taken,
                  n - taken);
  return status;
}

/* Judges all that was read; takes it where that is wanted and nothing speaks
 * against it. */
static QmStatus
judge_all (const QmBenchOptions *options,
           const QmResults *results,
           const QmCatalog *catalog,
           const QmCalibration *calibration,
           QmError *error)
{
  size_t n, bad = 0;
  const QmResult *list = qm_results_list (results, &n);
  Judged *judged = calloc (n + 1, sizeof *judged);
  QmStatus status = QM_OK;

  if (judged == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < n && !qm_bench_interrupted (); i++)
    {
      judged[i] = (Judged){
        .result = &list[i], .low = NAN, .high = NAN, .utilization = NAN
      };
      audit (&judged[i], catalog, calibration);
      print_judged (options, &judged[i]);
      bad += judged[i].verdict == VERDICT_IMPOSSIBLE
             || (judged[i].verdict != VERDICT_PLAUSIBLE && !options->force);
    }
  if (qm_bench_interrupted ())
    status =
        qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0, "interrupted");
  else if (bad > 0)
    status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "%zu of %zu results are not plausible%s", bad, n,
                           options->take != NULL ? ", and none was taken" : "");
  else if (options->take != NULL)
    status = take_shared (options, judged, n, error);
  free (judged);
  return status;
}

static QmStatus
read_shared (const QmBenchOptions *options, QmError *error)
{
  char folder[PATH_MAX], path[PATH_MAX + 32];
  QmResults *results = qm_results_new ();
  QmCatalog *catalog = NULL;
  QmCalibration calibration;
  QmStatus status = results != NULL ? QM_OK : qm_error_no_memory (error);

  for (int i = 0; i < options->n_files && status == QM_OK; i++)
    status = qm_shared_read (results, options->files[i], error);
  if (status == QM_OK)
    status = qm_bench_load_catalog (&catalog, error);
  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  if (status == QM_OK)
    status = qm_calibration_load (path, &calibration, error);
  if (status == QM_OK)
    status = judge_all (options, results, catalog, &calibration, error);
  qm_catalog_free (catalog);
  qm_results_free (results);
  return status;
}

static QmStatus
give (const QmBenchOptions *options,
      const QmResults *results,
      const QmCatalog *catalog,
      QmError *error)
{
  const QmResult **given;
  size_t n;
  QmStatus status =
      qm_shared_choose (results, catalog, options->model, &given, &n, error);

  if (status != QM_OK)
    return status;
  status = qm_shared_write (options->out, given, n, error);
  if (status == QM_OK)
    qm_bench_say ("%s: %zu results.  Read it, it is text; then attach it to an "
                  "issue of the project, under \"" QM_SHARED_FORM "\"",
                  options->out, n);
  free (given);
  return status;
}

static QmStatus
write_shared (const QmBenchOptions *options, QmError *error)
{
  char own[PATH_MAX];
  const char *path = options->n_files > 0 ? options->files[0] : own;
  QmResults *results = NULL;
  QmCatalog *catalog = NULL;
  QmStatus status;

  if (options->n_files == 0 && !qm_results_default_path (own, sizeof own))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "there is no home folder: name a file");
  status = qm_bench_load_catalog (&catalog, error);
  if (status == QM_OK)
    {
      results = qm_results_new ();
      status = results != NULL
                   ? qm_results_read (results, path, NULL, NULL, error)
                   : qm_error_no_memory (error);
    }
  if (status == QM_OK)
    status = give (options, results, catalog, error);
  qm_results_free (results);
  qm_catalog_free (catalog);
  return status;
}

int
qm_bench_share (const QmBenchOptions *options)
{
  bool reads = options->audit || options->take != NULL;
  QmError error = { 0 };
  QmStatus status;

  if (reads
      && (options->n_files == 0 || options->out != NULL || options->sign_off
          || options->model != NULL))
    status = qm_error_set (&error, QM_STATUS_USAGE, "", 0, 0,
                           "--audit and --take read files that were shared, "
                           "which have to be named, and write none");
  else if (reads)
    status = read_shared (options, &error);
  else if (options->out == NULL || options->n_files > 1)
    status = qm_error_set (&error, QM_STATUS_USAGE, "", 0, 0,
                           "--out has to name the file to share, of one file "
                           "of results");
  else if (!options->sign_off)
    status = qm_error_set (&error, QM_STATUS_USAGE, "", 0, 0,
                           "with --sign-off you say: " QM_SHARED_STATEMENT);
  else
    status = write_shared (options, &error);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
