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
make_plan_in (const QmModelConfig *config,
              QmPrecision precision,
              unsigned methods,
              bool no_dropout)
{
  const QmRecipe recipe = { .batch_size = 8,
                            .steps = 1,
                            .image_size = vary_image_size (config),
                            .precision = precision,
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

static QmPlan *
make_plan (const QmModelConfig *config, unsigned methods, bool no_dropout)
{
  return make_plan_in (config, QM_PRECISION_BF16, methods, no_dropout);
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

/* All gradients after a few passes, one behind the other; the number of them.
 */
static size_t
run_gradients (QmDevice *device, const QmPlan *plan, float **all)
{
  const QmGraph *graph = plan->graph;
  QmExecutor *executor = NULL;
  size_t n = 0;

  *all = calloc ((size_t) plan->slab, sizeof **all);
  CHECK_INT (qm_executor_new (plan, device, NULL, 1, &executor, NULL), QM_OK);
  if (executor == NULL || *all == NULL)
    return 0;
  CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
  for (int i = 0; i < PASSES; i++)
    CHECK_INT (qm_executor_pass (executor, false, NULL), QM_OK);
  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      QmValueId id = graph->parameters[i].gradient;

      CHECK_INT (qm_executor_read_floats (executor, id, *all + n, NULL), QM_OK);
      n += (size_t) qm_tensor_elements (&graph->values[id].tensor);
    }
  qm_executor_free (executor);
  return n;
}

static int
count_of (const QmPlan *plan, QmOp op)
{
  int count = 0;

  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    count += plan->graph->nodes[i].op == op;
  return count;
}

/* The same branches are left out where a norm scales what it adds; `left`: of
 * the layer scales, those that are not in a norm. */
static void
test_fused (QmDevice *device,
            const char *folder,
            const char *model,
            int scales,
            int left)
{
  QmModelConfig config = { 0 };
  QmPlan *plans[2];
  float *gradients[2] = { NULL, NULL };
  double wrong = 0, all = 0;
  size_t n = 0;

  check_case (model);
  golden_config (folder, model, &config);
  vary_number (&config, "drop_path_rate", 0.5);
  vary_number (&config, "layer_scale_init", 1);
  for (int i = 0; i < 2; i++)
    {
      plans[i] = make_plan_in (&config, QM_PRECISION_FP32,
                               i == 0 ? 0 : QM_METHOD_COMPILE, false);
      if (plans[i] == NULL)
        return;
      CHECK_INT (count_of (plans[i], QM_OP_LAYER_SCALE),
                 i == 0 ? scales : left);
      CHECK_INT (count_of (plans[i], QM_OP_LAYER_SCALE_BACKWARD),
                 i == 0 ? scales : left);
      n = run_gradients (device, plans[i], &gradients[i]);
    }
  for (size_t i = 0; i < n; i++)
    {
      double difference = (double) gradients[0][i] - gradients[1][i];

      wrong += difference * difference;
      all += (double) gradients[0][i] * gradients[0][i];
    }
  CHECK (all > 0 && isfinite (all));
  CHECK (sqrt (wrong) <= 1e-5 * sqrt (all));
  for (int i = 0; i < 2; i++)
    {
      free (gradients[i]);
      qm_plan_free (plans[i]);
    }
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "dinov2", "dinov2-registers",
                                        "dinov3-gated", "convnext",
                                        "dinov2-pair-hidden" };
  static const char *const settings[] = { "naive", "free-lunch" };
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc != 2 || device == NULL)
    return check_report ();
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    for (size_t j = 0; j < sizeof settings / sizeof settings[0]; j++)
      test (device, argv[1], models[i], settings[j]);
  test_fused (device, argv[1], "dinov2", 4, 0);
  test_fused (device, argv[1], "dinov3-gated", 4, 0);
  test_fused (device, argv[1], "convnext", 4, 4);
  qm_device_close (device);
  return check_report ();
}
