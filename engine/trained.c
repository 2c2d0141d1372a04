/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/trained.h"

#include "data/architecture.h"
#include "data/flops.h"
#include "data/result-terms.h"
#include "engine/predict-exchange.h"
#include "engine/residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a GPU's memory, what a training has to itself. */
#define USABLE 0.97

/* What is more than that share of it is taken to be divided. */
#define CROWDED 0.8

static bool
is_cuda (const QmTrained *trained)
{
  return strcmp (trained->level, "cuda") == 0;
}

/* How it was trained beyond its level: words with '+' between them. */
static QmStatus
read_settings (const QmTrainingRate *rate, QmTrained *trained, QmError *error)
{
  QmPlanOptions *options = &trained->options;
  bool naive = strcmp (rate->level, "naive") == 0, unfused = false;
  unsigned compiled =
      strcmp (rate->level, "tuned") == 0 ? QM_METHOD_COMPILE : 0;
  const char *word = rate->settings;

  while (*word != '\0')
    {
      size_t length = strcspn (word, "+");
      char one[32];

      snprintf (one, sizeof one, "%.*s", length < 31 ? (int) length : 31, word);
      if (strcmp (one, "naive") == 0)
        naive = true;
      else if (strcmp (one, "unfused-attention") == 0)
        unfused = true;
      else if (strcmp (one, "narrow") == 0)
        options->narrow = true;
      else if (strcmp (one, "unmasked") == 0)
        trained->unmasked = true;
      else if (!qm_sharding_parse (one, &options->sharding))
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "'%s' is no setting that is known", one);
      word += length + (word[length] == '+');
    }
  /* Of shardings only those that offload are told apart. */
  options->offload = options->sharding != QM_SHARDING_NONE;
  options->methods = naive     ? 0
                     : unfused ? QM_METHOD_TF32 | compiled
                     : strcmp (rate->level, "eager") == 0
                         ? QM_METHOD_KERNELS | QM_METHOD_TF32
                         : QM_METHOD_ALL;
  return QM_OK;
}

/* The model and how it is trained. */
static QmStatus
read_trained_model (const QmTrainingRate *rate,
                    const QmCatalog *catalog,
                    QmModelConfig *config,
                    QmRecipe *recipe,
                    QmError *error)
{
  const QmModel *model = qm_catalog_model (catalog, rate->model);
  QmStatus status = QM_OK;

  if (rate->config[0] != '\0')
    {
      *recipe = (QmRecipe){ .steps = 1,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .learning_rate = 1e-4,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .max_grad_norm = 1,
                            .dropout = NAN };
      status = qm_model_config_parse (rate->config, strlen (rate->config),
                                      "config", config, error);
    }
  else if (model == NULL)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "there is no model '%.64s'", rate->model);
  else
    {
      *config = model->config;
      *recipe = model->recipe;
    }
  recipe->sequence_length = rate->sequence;
  recipe->image_size = rate->image;
  recipe->batch_size = (rate->batch + rate->gpus - 1) / rate->gpus;
  recipe->precision = rate->precision;
  if (recipe->precision != QM_PRECISION_FP8)
    recipe->fp8 = (QmFp8){ 0 };
  return status == QM_OK
             ? qm_model_apply_recipe (config, recipe, "rates", error)
             : status;
}

QmStatus
qm_trained_read (const QmTrainingRate *rate,
                 const QmCatalog *catalog,
                 QmTrained *trained,
                 QmError *error)
{
  QmStatus status;

  *trained = (QmTrained){
    .gpu = qm_catalog_gpu (catalog, rate->gpu),
    .gpus = rate->gpus,
    .link = strcmp (rate->link, "nvlink") == 0 ? QM_INTERCONNECT_NVLINK
            : strcmp (rate->link, "pcie") == 0 ? QM_INTERCONNECT_PCIE
                                               : QM_INTERCONNECT_OF_GPU,
    .level = rate->level,
    .gates_apart = qm_trained_before_gates (rate->measured_on),
    .options = { .micro_batch = rate->micro_batch,
                 .checkpoint = rate->checkpointing,
                 .loss_rows = qm_level_loss_rows (rate->level) },
  };
  if (trained->gpu == NULL)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "there is no GPU '%s'", rate->gpu);
  status = read_settings (rate, trained, error);
  return status == QM_OK ? read_trained_model (rate, catalog, &trained->config,
                                               &trained->recipe, error)
                         : status;
}

bool
qm_trained_before_gates (QmDate measured_on)
{
  static const QmDate came = { 2026, 11, 28 };

  return qm_date_compare (measured_on, came) < 0;
}

/* PyTorch is measured compiled, but for naive settings. */
bool
qm_trained_of_result (const QmResult *result,
                      const QmCatalog *catalog,
                      const QmModelConfig *config,
                      const QmRecipe *recipe,
                      QmTrained *trained)
{
  *trained = (QmTrained){ .gpu = qm_catalog_gpu (catalog, result->gpu),
                          .gpus = result->gpus,
                          .config = *config,
                          .recipe = *recipe,
                          .options = { .micro_batch = result->micro_batch,
                                       .offload = result->offloading,
                                       .checkpoint = result->checkpointing } };
  trained->recipe.batch_size =
      (recipe->batch_size + result->gpus - 1) / result->gpus;
  trained->level = strcmp (result->engine, "quartermaster") == 0 ? "engine"
                   : strcmp (result->settings, "naive") == 0     ? "naive"
                                                                 : "tuned";
  trained->gates_apart = qm_trained_before_gates (result->measured_on);
  if (result->offloading)
    qm_sharding_parse (result->sharding, &trained->options.sharding);
  return result->status == QM_RESULT_MEASURED && !result->deterministic
         && trained->gpu != NULL
         && qm_result_aside (result, trained->gpu) == QM_ASIDE_NOT
         && qm_methods_parse (result->settings, &trained->options.methods);
}

bool
qm_trained_is_plain (const QmTrained *trained)
{
  const QmPlanOptions *options = &trained->options;

  return !options->offload && !options->checkpoint
         && (options->methods != 0 || strcmp (trained->level, "naive") == 0);
}

/* PyTorch's autocast has softmax and powers computed in fp32, and what that
 * moves is in the constants of levels; where nothing is cast it is half of it.
 */
static void
narrow_softmax (QmWork *work)
{
  for (size_t i = 0; i < work->n; i++)
    if (work->rows[i].op == QM_OP_SOFTMAX
        || work->rows[i].op == QM_OP_SOFTMAX_BACKWARD || work->rows[i].composed)
      work->rows[i].bytes /= 2;
}

/* What the settings of a training change in its work. */
static void
adapt (const QmTrained *trained, QmWork *work)
{
  if (trained->options.narrow)
    narrow_softmax (work);
  if (trained->gates_apart)
    qm_work_part_gates (work);
  for (size_t i = 0; trained->unmasked && i < work->n; i++)
    work->rows[i].masked = false;
}

/* Optimizer states are divided without more exchange (ZeRO 1 and 2).  Other
 * engines that were reported keep gradients and states in 16 bits. */
static bool
is_sharded (const QmTrained *trained, const QmMemory *memory, double bytes)
{
  double states =
      (double) memory->gradients
      + (double) (memory->master + memory->optimizer) / trained->gpus;

  return trained->gpus > 1
         && (double) memory->weights + states * (is_cuda (trained) ? 0.5 : 1)
                > bytes * CROWDED;
}

/* What each of several GPUs needs that divide what a training keeps of a model.
 */
static double
divided_bytes (const QmTrained *trained, const QmMemory *memory)
{
  double states = (double) memory->gradients + (double) memory->master
                  + (double) memory->optimizer;
  double weights = (double) memory->weights;

  return (double) memory->total - states - weights
         + (states * (is_cuda (trained) ? 0.5 : 1) + weights) / trained->gpus;
}

/* With the micro-batch that is said, or the largest that fits, or a small one.
 */
static QmStatus
make_plan (QmTrained *trained, double bytes, QmPlan **plan, QmError *error)
{
  QmPlanOptions *options = &trained->options;
  const QmRecipe *recipe = &trained->recipe;
  QmStatus status;

  options->target.kind = QM_DEVICE_CUDA;
  options->target.architecture = qm_gpu_architecture (trained->gpu);
  options->foreign = strcmp (trained->level, "engine") != 0;
  status = options->micro_batch > 0
               ? qm_plan_new (&trained->config, recipe, options, plan, error)
               : qm_plan_largest (&trained->config, recipe, options,
                                  (uint64_t) bytes, plan, error);
  if (status == QM_STATUS_DEVICE_FULL)
    {
      options->micro_batch = recipe->batch_size < 4 ? recipe->batch_size : 4;
      status = qm_plan_new (&trained->config, recipe, options, plan, error);
    }
  if (status == QM_OK)
    options->micro_batch = (*plan)->options.micro_batch;
  return status;
}

QmStatus
qm_trained_plan (QmTrained *trained, QmError *error)
{
  double memory = trained->gpu->memory_gib * 0x1p30;
  QmPlan *plan = NULL;
  QmStatus status = make_plan (trained, memory * USABLE, &plan, error);

  if (status != QM_OK)
    return status;
  trained->sharded = is_sharded (trained, &plan->memory, memory * USABLE);
  trained->fits = divided_bytes (trained, &plan->memory) <= memory;
  status = qm_work_new (plan, &trained->work, error);
  qm_plan_free (plan);
  if (status == QM_OK)
    adapt (trained, trained->work);
  return status;
}

void
qm_trained_key (const QmTrained *trained,
                const char *name,
                const QmCatalog *catalog,
                char key[QM_MODEL_KEY_BYTES])
{
  const QmModel *model = qm_catalog_model (catalog, name);

  if (model != NULL
      && model->recipe.sequence_length == trained->recipe.sequence_length
      && model->recipe.image_size == trained->recipe.image_size
      && model->recipe.precision == trained->recipe.precision)
    qm_residual_key (&model->config, &model->recipe, key);
  else
    qm_residual_key (&trained->config, &trained->recipe, key);
}

void
qm_trained_clear (QmTrained *trained)
{
  qm_work_free (trained->work);
  trained->work = NULL;
}

QmStatus
qm_trained_predict (const QmTrained *trained,
                    const QmCalibration *calibration,
                    QmPrediction *prediction,
                    QmError *error)
{
  const QmLevel *level = qm_calibration_level (calibration, trained->level);
  QmSpeeds speeds;
  QmStatus status;

  if (level == NULL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "there is no level '%s'", trained->level);
  status = qm_speeds_of_gpu (calibration, trained->gpu, trained->gpus,
                             trained->link, &speeds, error);
  if (status != QM_OK)
    return status;
  speeds.sharded = trained->sharded;
  return qm_predict (trained->work, &speeds, level, prediction, error);
}

/* Its work as that of several GPUs. */
static QmStatus
plan_ranks (const QmTrained *trained, QmWork **work, QmError *error)
{
  QmPlanOptions options = trained->options;
  QmRecipe recipe = trained->recipe;
  QmPlan *plan = NULL;
  QmStatus status;

  recipe.batch_size *= trained->gpus;
  options.ranks = trained->gpus;
  if (trained->sharded && !options.offload)
    options.sharding = QM_SHARDING_ZERO_3;
  status = qm_plan_new (&trained->config, &recipe, &options, &plan, error);
  if (status == QM_OK)
    status = qm_work_new (plan, work, error);
  qm_plan_free (plan);
  if (status == QM_OK)
    adapt (trained, *work);
  return status;
}

QmStatus
qm_trained_predict_ranks (const QmTrained *trained,
                          const QmCalibration *calibration,
                          QmPrediction *prediction,
                          QmError *error)
{
  const QmLevel *level = qm_calibration_level (calibration, trained->level);
  QmWork *work = NULL;
  QmExchange exchange;
  QmSpeeds speeds;
  QmStatus status;

  if (trained->gpus == 1 || level == NULL)
    return qm_trained_predict (trained, calibration, prediction, error);
  status = qm_speeds_of_gpu (calibration, trained->gpu, trained->gpus,
                             trained->link, &speeds, error);
  if (status == QM_OK)
    status = plan_ranks (trained, &work, error);
  exchange = qm_exchange_of (&speeds, level, NULL);
  if (status == QM_OK)
    status = qm_predict_ranks (work, &exchange, level, prediction, NULL, error);
  qm_work_free (work);
  return status;
}

double
qm_trained_utilization (const QmTrained *trained, double samples_per_s)
{
  bool tf32 = (trained->options.methods & QM_METHOD_TF32) != 0;
  double peak =
      qm_gpu_peak_tflops (trained->gpu, trained->recipe.precision, tf32);

  return peak > 0 ? qm_flops_train_sample (&trained->config, &trained->recipe)
                        * samples_per_s / (trained->gpus * peak * 1e12)
                  : NAN;
}
