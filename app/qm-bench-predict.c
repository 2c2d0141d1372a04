/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench predict. */

#include "app/qm-bench.h"

#include "data/architecture.h"
#include "data/datadir.h"
#include "engine/predict.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LEVEL "tuned"

/* What is asked. */
typedef struct Question
{
  QmBenchModel model;
  QmCatalog *catalog;
  const QmGpu *gpu;
  int gpus;
  QmInterconnect link;
  QmCalibration calibration;
  const QmLevel *level;
} Question;

static QmStatus
read_level (const QmBenchOptions *options, Question *question, QmError *error)
{
  const char *name = options->level != NULL ? options->level : DEFAULT_LEVEL;
  char folder[PATH_MAX], path[PATH_MAX + 32], list[160] = "";
  const QmCalibration *calibration = &question->calibration;
  QmStatus status;

  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  status = qm_calibration_load (path, &question->calibration, error);
  if (status != QM_OK)
    return status;
  question->level = qm_calibration_level (calibration, name);
  if (question->level != NULL)
    return QM_OK;
  for (size_t i = 0; i < calibration->n_levels; i++)
    snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s",
              i > 0 ? ", " : "", calibration->levels[i].name);
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "there is no level '%.32s'; there are %s", name, list);
}

static QmStatus
read_gpus (const QmBenchOptions *options, Question *question, QmError *error)
{
  static const char *const links[] = { "auto", "nvlink", "pcie" };
  const char *link = options->link != NULL ? options->link : links[0];
  QmStatus status;

  if (options->gpu == NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--gpu has to say on which GPU");
  status = qm_bench_load_catalog (&question->catalog, error);
  if (status == QM_OK)
    status = qm_bench_named_gpu (question->catalog, options->gpu,
                                 &question->gpu, error);
  if (status != QM_OK)
    return status;
  question->gpus = options->gpus > 0 ? (int) options->gpus : 1;
  for (int i = 0; i < 3; i++)
    if (strcmp (link, links[i]) == 0)
      {
        question->link = (QmInterconnect) i;
        return QM_OK;
      }
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "there is no link '%.32s'; there are auto, nvlink and "
                       "pcie",
                       link);
}

static QmStatus
read_question (const QmBenchOptions *options,
               Question *question,
               QmError *error)
{
  QmStatus status = read_gpus (options, question, error);

  if (status == QM_OK)
    status = read_level (options, question, error);
  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &question->model, error);
  if (status == QM_OK && question->gpus > question->model.recipe.batch_size)
    status = qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "a batch of %lld has no share for each of %d GPUs",
                           (long long) question->model.recipe.batch_size,
                           question->gpus);
  return status;
}

static void
clear_question (Question *question)
{
  qm_bench_clear_model (&question->model);
  qm_catalog_free (question->catalog);
}

/* The plan of one GPU's share, with what the level of software does. */
static QmStatus
make_plan (const QmBenchOptions *options,
           const Question *question,
           QmPlan **plan,
           QmError *error)
{
  const QmTarget target = { QM_DEVICE_CUDA,
                            qm_gpu_architecture (question->gpu) };
  QmBenchOptions like_level = *options;
  QmBenchModel share = question->model;

  share.recipe.batch_size =
      (share.recipe.batch_size + question->gpus - 1) / question->gpus;
  if (strcmp (question->level->name, "naive") == 0)
    like_level.settings = "naive";
  else if (strcmp (question->level->name, "eager") == 0)
    like_level.settings = "kernels+tf32";
  return qm_bench_make_plan (&like_level, &share, &target,
                             qm_bench_gpu_memory (question->gpu), plan, error);
}

static json_t *
shares_json (const QmPrediction *prediction)
{
  json_t *shares = json_object ();
  double sum = 0;

  for (int i = 0; i < QM_OP_COUNT; i++)
    sum += prediction->by_op[i];
  for (int i = 0; i < QM_OP_COUNT; i++)
    if (prediction->by_op[i] > 0)
      json_object_set_new (shares, qm_op_name ((QmOp) i),
                           json_real (prediction->by_op[i] / sum));
  return shares;
}

static void
print_json (const Question *question,
            const QmPlan *plan,
            const QmPrediction *prediction)
{
  json_t *object = qm_bench_json_plan (plan);
  const struct
  {
    const char *name;
    double value;
  } numbers[] = {
    { "pass_s", prediction->pass },
    { "update_s", prediction->update },
    { "exchange_s", prediction->exchange },
    { "step_s", prediction->step },
    { "days", prediction->days },
    { "days_low", prediction->days_low },
    { "days_high", prediction->days_high },
    { "clock", prediction->clock },
  };

  json_object_set_new (object, "model", json_string (question->model.name));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  json_object_set_new (object, "gpu", json_string (question->gpu->id));
  json_object_set_new (object, "gpus", json_integer (question->gpus));
  json_object_set_new (object, "level", json_string (question->level->name));
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    json_object_set_new (object, numbers[i].name, json_real (numbers[i].value));
  json_object_set_new (object, "bound",
                       json_string (qm_bound_name (prediction->bound)));
  json_object_set_new (object, "shares", shares_json (prediction));
  qm_bench_print_json (object);
}

static void
print_text (const Question *question,
            const QmPlan *plan,
            const QmPrediction *prediction)
{
  qm_bench_print ("%s on %d x %s, %s, predicted: %.3g days (%.3g to %.3g)",
                  question->model.name, question->gpus, question->gpu->name,
                  question->level->name, prediction->days, prediction->days_low,
                  prediction->days_high);
  qm_bench_print ("  step     %10.4f s: %lld passes of %lld samples",
                  prediction->step, (long long) plan->accumulation,
                  (long long) plan->options.micro_batch);
  qm_bench_print ("  pass     %10.4f s, bound by %s", prediction->pass,
                  qm_bound_name (prediction->bound));
  qm_bench_print ("  update   %10.4f s", prediction->update);
  if (question->gpus > 1)
    qm_bench_print ("  exchange %10.4f s that no pass hides",
                    prediction->exchange);
  for (int i = 0; i < QM_OP_COUNT; i++)
    if (prediction->by_op[i] >= prediction->pass / 100)
      qm_bench_print ("  %5.1f %%  %s",
                      100 * prediction->by_op[i] / prediction->pass,
                      qm_op_name ((QmOp) i));
}

int
qm_bench_predict (const QmBenchOptions *options)
{
  Question question = { 0 };
  QmPlan *plan = NULL;
  QmWork *work = NULL;
  QmSpeeds speeds;
  QmPrediction prediction;
  QmError error = { 0 };
  QmStatus status = read_question (options, &question, &error);

  if (status == QM_OK)
    status = qm_speeds_of_gpu (&question.calibration, question.gpu,
                               question.gpus, question.link, &speeds, &error);
  if (status == QM_OK)
    status = make_plan (options, &question, &plan, &error);
  if (status == QM_OK)
    status = qm_work_new (plan, &work, &error);
  if (status == QM_OK)
    status = qm_predict (work, &speeds, question.level, &prediction, &error);
  if (status == QM_OK && options->json)
    print_json (&question, plan, &prediction);
  else if (status == QM_OK)
    print_text (&question, plan, &prediction);
  qm_work_free (work);
  qm_plan_free (plan);
  clear_question (&question);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
