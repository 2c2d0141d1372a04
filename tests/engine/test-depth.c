/* SPDX-License-Identifier: Apache-2.0 */

/* Stochastic depth of whole models, with an average of weights beside it: what
 * is drawn follows from the seed and the number of the pass alone, and memory
 * is as planned.  That its mean is right is tests/kernels/test-families.c's.
 * usage: test-depth FOLDER */

#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 6

static QmPlan *
make_plan (const QmModelConfig *config, unsigned methods, bool no_dropout)
{
  const QmRecipe recipe = { .batch_size = 8,
                            .steps = 1,
                            .image_size = vary_image_size (config),
                            .precision = QM_PRECISION_BF16,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .learning_rate = 0.01,
                            .beta1 = 0.9,
                            .beta2 = 0.999,
                            .epsilon = 1e-8,
                            .dropout = NAN,
                            .ema_decay = 0.9 };
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = 4,
                                  .methods = methods,
                                  .no_dropout = no_dropout };
  QmPlan *plan = NULL;

  CHECK_INT (qm_plan_new (config, &recipe, &options, &plan, NULL), QM_OK);
  return plan;
}

/* The losses of passes over the same images with the same weights. */
static void
run (QmDevice *device, const QmPlan *plan, uint64_t seed, float losses[PASSES])
{
  const QmMemory *memory = &plan->memory;
  QmExecutor *executor = NULL;

  CHECK_INT (qm_executor_new (plan, device, NULL, 1, &executor, NULL), QM_OK);
  if (executor == NULL)
    return;
  CHECK_INT ((int64_t) qm_executor_allocated (executor),
             (int64_t) (memory->total - memory->reserved));
  CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
  if (seed != 1)
    {
      const int32_t other[3] = { (int32_t) seed, 0, 0 };

      CHECK_INT (qm_executor_write_ints (executor, plan->graph->rng, other,
                                         NULL),
                 QM_OK);
    }
  for (int i = 0; i < PASSES; i++)
    {
      CHECK_INT (qm_executor_clear (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_pass (executor, false, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, plan->graph->loss,
                                          &losses[i], NULL),
                 QM_OK);
    }
  qm_executor_free (executor);
}

static void
test (QmDevice *device,
      const char *folder,
      const char *model,
      const char *settings)
{
  QmModelConfig config = { 0 };
  float first[PASSES] = { 0 }, again[PASSES] = { 0 }, other[PASSES] = { 0 };
  char name[64];
  unsigned methods;
  QmPlan *plan;
  int moved = 0;

  snprintf (name, sizeof name, "%s, %s", model, settings);
  check_case (name);
  golden_config (folder, model, &config);
  vary_number (&config, "drop_path_rate", 0.5);
  vary_number (&config, "layer_scale_init", 1);
  CHECK (qm_methods_parse (settings, &methods));
  plan = make_plan (&config, methods, false);
  if (plan == NULL)
    return;
  run (device, plan, 1, first);
  run (device, plan, 1, again);
  run (device, plan, 2, other);
  CHECK (memcmp (first, again, sizeof first) == 0);
  CHECK (memcmp (first, other, sizeof first) != 0);
  for (int i = 1; i < PASSES; i++)
    moved += first[i] < first[0] || first[i] > first[0];
  CHECK (isfinite (first[0]) && moved >= PASSES / 2);
  qm_plan_free (plan);
  plan = make_plan (&config, methods, true);
  if (plan == NULL)
    return;
  run (device, plan, 1, first);
  run (device, plan, 2, other);
  for (int i = 1; i < PASSES; i++)
    CHECK_NEAR (first[i], first[0], 0);
  CHECK (memcmp (first, other, sizeof first) == 0);
  qm_plan_free (plan);
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "dinov2", "dinov2-registers",
                                        "dinov3-gated", "convnext",
                                        "dinov2-pair" };
  static const char *const settings[] = { "naive", "free-lunch" };
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc != 2 || device == NULL)
    return check_report ();
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    for (size_t j = 0; j < sizeof settings / sizeof settings[0]; j++)
      test (device, argv[1], models[i], settings[j]);
  qm_device_close (device);
  return check_report ();
}
