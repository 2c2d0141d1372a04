/* SPDX-License-Identifier: Apache-2.0 */

/* Steps of training against those of PyTorch, from the same weights on the same
 * batches: whole, in micro-batches, and in the precisions that only come near.
 * usage: test-training FOLDER */

#include "engine/safetensors.h"
#include "engine/train.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  20
#define LENGTH 16
#define BATCH  4

typedef struct Run
{
  float wanted[STEPS];
  double tolerance;
  int64_t steps;
} Run;

static bool
on_step (void *data, const QmTrainStep *step)
{
  Run *run = data;

  CHECK_NEAR (step->loss, run->wanted[step->number - 1], run->tolerance);
  CHECK (step->seconds >= 0);
  CHECK (step->norm > 0);
  CHECK_NEAR (step->learning_rate, 0.01, 0);
  CHECK (!step->skipped);
  run->steps = step->number;
  return true;
}

static void
read_losses (const char *folder, const char *name, float losses[STEPS])
{
  char path[512];
  QmSafetensors *file = NULL;

  snprintf (path, sizeof path, "%s/training.safetensors", folder);
  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  if (file == NULL)
    return;
  CHECK_INT (qm_safetensors_read_floats (file, qm_safetensors_find (file, name),
                                         losses, NULL),
             QM_OK);
  qm_safetensors_close (file);
}

/* That the name of a golden list begins with. */
static QmOptimizer
optimizer_of (const char *text)
{
  QmOptimizer found = QM_OPTIMIZER_ADAM;

  for (int i = 0; i < QM_N_OPTIMIZERS; i++)
    {
      const char *name = qm_optimizer_name ((QmOptimizer) i);

      if (strncmp (text, name, strlen (name)) == 0)
        found = (QmOptimizer) i;
    }
  return found;
}

static void
test_run (const char *folder,
          QmDevice *device,
          const char *optimizer,
          QmPrecision precision,
          unsigned methods,
          int64_t micro_batch,
          QmSharding sharding,
          double tolerance)
{
  static int32_t ids[STEPS * BATCH * LENGTH];
  char name[80], weights[512];
  QmSamples samples = { .ids = ids, .n = STEPS * BATCH * LENGTH };
  QmRecipe recipe = { .batch_size = BATCH,
                      .steps = STEPS,
                      .sequence_length = LENGTH,
                      .precision = precision,
                      .optimizer = optimizer_of (optimizer),
                      .learning_rate = 0.01,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .weight_decay = 0.1,
                      .max_grad_norm = 0.5,
                      .dropout = NAN,
                      .muon_learning_rate = 0.02,
                      .muon_momentum = 0.9,
                      .muon_weight_decay = 0.05,
                      .muon_scale = strcmp (optimizer, "muon_moonshot") == 0
                                        ? QM_MUON_SCALE_MOONSHOT
                                        : QM_MUON_SCALE_JORDAN };
  QmPlanOptions options = { .micro_batch = micro_batch,
                            .methods = methods,
                            .sharding = sharding,
                            .offload = sharding != QM_SHARDING_NONE,
                            .bucket = 2000 };
  Run run = { .tolerance = tolerance };
  QmTrainOptions training = {
    .steps = STEPS, .weights = weights, .step = on_step, .data = &run
  };
  QmModelConfig config = { 0 };
  QmPlan *plan = NULL;
  QmError error = { 0 };

  snprintf (name, sizeof name, "%s, %s, %u, %d, %s", optimizer,
            qm_precision_name (precision), methods, (int) micro_batch,
            qm_sharding_name (sharding));
  check_case (name);
  snprintf (weights, sizeof weights, "%s/gpt-neox-parallel.weights.safetensors",
            folder);
  for (int i = 0; i < STEPS * BATCH * LENGTH; i++)
    ids[i] = (7 * i + i / 5) % 67;
  golden_config (folder, "gpt-neox-parallel", &config);
  read_losses (folder, optimizer, run.wanted);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, &error), QM_OK);
  if (plan != NULL)
    CHECK_INT (qm_train (plan, device, &samples, &training, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (run.steps, STEPS);
  qm_plan_free (plan);
}

/* After so many updates in a row the loss scale doubles, where there is one:
 * what is not fp16 needs none. */
static void
test_scale (const char *folder, QmDevice *device, QmPrecision precision)
{
  QmRecipe recipe = { .batch_size = BATCH,
                      .steps = 1,
                      .sequence_length = LENGTH,
                      .precision = precision,
                      .learning_rate = 1e-6,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .dropout = NAN };
  QmPlanOptions options = { .micro_batch = BATCH };
  QmModelConfig config = { 0 };
  QmPlan *plan = NULL;
  QmExecutor *executor = NULL;
  float before = 0, after = 0;

  check_case (qm_precision_name (precision));
  golden_config (folder, "gpt-neox-parallel", &config);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  if (plan != NULL)
    CHECK_INT (qm_executor_new (plan, device, NULL, 3, &executor, NULL), QM_OK);
  if (executor != NULL)
    {
      CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_write_state (executor, QM_STATE_GROWTH,
                                          QM_SCALE_GROWTH - 1, NULL),
                 QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_LOSS_SCALE, &before,
                                         NULL),
                 QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_LOSS_SCALE, &after,
                                         NULL),
                 QM_OK);
    }
  CHECK_NEAR (before, precision == QM_PRECISION_FP16 ? QM_SCALE_FIRST : 1, 0);
  CHECK_NEAR (after, precision == QM_PRECISION_FP16 ? 2 * before : 1, 0);
  qm_executor_free (executor);
  qm_plan_free (plan);
}

/* Those that hosts do not have. */
static void
test_others (const char *folder, QmDevice *device)
{
  const char *const optimizers[] = { "lamb", "muon_jordan", "muon_moonshot" };

  for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++)
    {
      test_run (folder, device, optimizers[i], QM_PRECISION_FP32, 0, 4,
                QM_SHARDING_NONE, 1e-4);
      test_run (folder, device, optimizers[i], QM_PRECISION_FP32, QM_METHOD_ALL,
                1, QM_SHARDING_NONE, 1e-4);
      test_run (folder, device, optimizers[i], QM_PRECISION_FP16, QM_METHOD_ALL,
                2, QM_SHARDING_NONE, 0.01);
      test_run (folder, device, optimizers[i], QM_PRECISION_BF16, QM_METHOD_ALL,
                4, QM_SHARDING_NONE, 0.05);
    }
  /* What rounding to bf16 changes, as PyTorch does it. */
  test_run (folder, device, "muon_bf16", QM_PRECISION_FP32, 0, 4,
            QM_SHARDING_NONE, 1e-3);
}

int
main (int argc, char **argv)
{
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc != 2 || device == NULL)
    return check_report ();
  for (int i = QM_PRECISION_FP32; i <= QM_PRECISION_BF16; i++)
    test_scale (argv[1], device, (QmPrecision) i);
  for (int i = 0; i < 2; i++)
    {
      const char *optimizer = i == 0 ? "adam" : "adamw";

      for (int j = 0; j < QM_N_SHARDINGS; j++)
        {
          QmSharding sharding = (QmSharding) j;

          test_run (argv[1], device, optimizer, QM_PRECISION_FP32, 0, 4,
                    sharding, 1e-4);
          test_run (argv[1], device, optimizer, QM_PRECISION_FP32,
                    QM_METHOD_ALL, 1, sharding, 1e-4);
          test_run (argv[1], device, optimizer, QM_PRECISION_FP16,
                    QM_METHOD_ALL, 2, sharding, 0.01);
          test_run (argv[1], device, optimizer, QM_PRECISION_BF16,
                    QM_METHOD_ALL, 4, sharding, 0.05);
        }
    }
  test_others (argv[1], device);
  qm_device_close (device);
  return check_report ();
}
