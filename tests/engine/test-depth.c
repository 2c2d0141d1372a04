/* SPDX-License-Identifier: Apache-2.0 */

/* Stochastic depth of whole models, with an average of weights beside it: what
 * is drawn follows from the seed and the number of the pass alone, and memory
 * is as planned.  That its mean is right is tests/kernels/test-families.c's. Of
 * students, of whose branches what is left out is not computed, loss and
 * gradients are those of PyTorch with the same samples.
 * usage: test-depth FOLDER [DEVICE]; on another device only the last */

#include "engine/executor.h"
#include "engine/weights.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 6

static QmRecipe
make_recipe (const QmModelConfig *config, QmPrecision precision, int64_t batch)
{
  return (QmRecipe){ .batch_size = batch,
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
}

static QmPlan *
make_plan_in (const QmModelConfig *config,
              QmPrecision precision,
              unsigned methods,
              bool no_dropout)
{
  const QmRecipe recipe = make_recipe (config, precision, 8);
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

/* A value of the batch, or of the results, of that name. */
static float *
load_tensor (const char *path, const char *name, size_t *n)
{
  QmSafetensors *file = NULL;
  const QmStoredTensor *tensor = NULL;
  float *values = NULL;

  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  if (file != NULL)
    tensor = qm_safetensors_find (file, name);
  CHECK (tensor != NULL);
  *n = tensor != NULL ? (size_t) tensor->elements : 0;
  if (tensor != NULL)
    values = calloc (*n + 1, sizeof *values);
  if (values != NULL)
    CHECK_INT (qm_safetensors_read_floats (file, tensor, values, NULL), QM_OK);
  qm_safetensors_close (file);
  return values;
}

static void
write_input (QmExecutor *executor,
             const QmPlan *plan,
             const char *path,
             const char *name,
             QmValueId id)
{
  size_t n;
  float *values = load_tensor (path, name, &n);

  CHECK_INT ((int64_t) n,
             qm_tensor_elements (qm_graph_tensor (plan->graph, id)));
  if (values != NULL)
    CHECK_INT (qm_executor_write_floats (executor, id, values, NULL), QM_OK);
  free (values);
}

static void
compare_values (QmExecutor *executor,
                QmValueId id,
                const char *path,
                const char *name,
                double allowed)
{
  size_t n;
  float *theirs = load_tensor (path, name, &n);
  float *ours = calloc (n + 1, sizeof *ours);
  double wrong = 0, all = 0;

  CHECK_INT (qm_executor_read_floats (executor, id, ours, NULL), QM_OK);
  for (size_t i = 0; theirs != NULL && i < n; i++)
    {
      wrong += ((double) ours[i] - theirs[i]) * ((double) ours[i] - theirs[i]);
      all += (double) theirs[i] * theirs[i];
    }
  if (!(sqrt (wrong) <= allowed * sqrt (all) + 1e-7))
    printf ("%s: %g of %g\n", name, sqrt (wrong), sqrt (all));
  CHECK (sqrt (wrong) <= allowed * sqrt (all) + 1e-7);
  free (ours);
  free (theirs);
}

/* One pass on the weights and images of tests/golden. */
static void
pass_like_golden (QmDevice *device,
                  const QmPlan *plan,
                  const char *folder,
                  const char *model)
{
  static const int32_t seed[3] = { 1, 0, 0 };
  const QmGraph *graph = plan->graph;
  QmExecutor *executor = NULL;
  QmSafetensors *weights = NULL;
  char path[512], name[128];

  CHECK_INT (qm_executor_new (plan, device, NULL, 1, &executor, NULL), QM_OK);
  snprintf (path, sizeof path, "%s/%s.weights.safetensors", folder, model);
  CHECK_INT (qm_safetensors_open (path, &weights, NULL), QM_OK);
  if (executor == NULL || weights == NULL)
    return;
  CHECK_INT (qm_weights_load (plan, executor, weights, path, NULL, NULL),
             QM_OK);
  CHECK_INT (qm_executor_write_ints (executor, graph->rng, seed, NULL), QM_OK);
  CHECK_INT (qm_executor_write_state (executor, QM_STATE_LOSS_SCALE, 1, NULL),
             QM_OK);
  snprintf (path, sizeof path, "%s/%s.batch.safetensors", folder, model);
  write_input (executor, plan, path, "pixel_values", graph->pixels);
  write_input (executor, plan, path, "local_pixel_values", graph->local_pixels);
  CHECK_INT (qm_executor_clear (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_pass (executor, false, NULL), QM_OK);
  snprintf (path, sizeof path, "%s/%s.depth.safetensors", folder, model);
  compare_values (executor, graph->loss, path, "loss", 1e-5);
  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      const QmParameter *parameter = &graph->parameters[i];

      snprintf (name, sizeof name, "grad.%s",
                parameter->alias != NULL ? parameter->alias : parameter->name);
      compare_values (executor, parameter->gradient, path, name, 1e-4);
    }
  qm_safetensors_close (weights);
  qm_executor_free (executor);
}

/* Of what is left out nothing is in memory, and where operators are joined,
 * what goes through a branch is added in the place of what it is added to. */
static void
test_some (QmDevice *device,
           const char *folder,
           const char *model,
           double rate,
           const char *settings,
           bool checkpoint)
{
  QmModelConfig config = { 0 };
  QmRecipe recipe;
  QmPlanOptions options = { .target = qm_device_info (device)->target,
                            .micro_batch = 3,
                            .checkpoint = checkpoint };
  QmPlan *plan = NULL;
  bool joined =
      strcmp (settings, "naive") != 0 && strcmp (settings, "kernels") != 0;
  int64_t layers;
  char name[96];

  snprintf (name, sizeof name, "some of %s, %s%s", model, settings,
            checkpoint ? ", checkpointing" : "");
  check_case (name);
  golden_config (folder, model, &config);
  vary_number (&config, "drop_path_rate", rate);
  layers = config.dino.layers;
  CHECK (qm_methods_parse (settings, &options.methods));
  options.methods &= ~(unsigned) QM_METHOD_TF32;
  recipe = make_recipe (&config, QM_PRECISION_FP32, 3);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  if (plan == NULL)
    return;
  /* Of the student's global and local crops; the teacher has all. */
  CHECK_INT (count_of (plan, QM_OP_MASK_PATCHES), 2);
  CHECK_INT (count_of (plan, QM_OP_PICK_ROWS),
             (checkpoint ? 2 : 1) * 4 * layers);
  CHECK_INT (count_of (plan, QM_OP_PICK_ROWS_BACKWARD),
             joined ? 0 : 4 * layers);
  CHECK_INT (count_of (plan, QM_OP_LAYER_SCALE_BACKWARD), 4 * layers);
  pass_like_golden (device, plan, folder, model);
  qm_plan_free (plan);
}

/* One sample goes through all. */
static void
test_alone (const char *folder)
{
  QmModelConfig config = { 0 };
  QmRecipe recipe;
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = 1 };
  QmPlan *plan = NULL;
  int chosen[3] = { 0, 0, 0 };

  check_case ("one image");
  golden_config (folder, "dinov2-pair", &config);
  vary_number (&config, "drop_path_rate", 0.9);
  config.dino.local_crops = 1;
  recipe = make_recipe (&config, QM_PRECISION_FP32, 1);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];

      if (node->op != QM_OP_LAYER_SCALE)
        continue;
      CHECK_NEAR (node->attributes.dropout, 0, 0);
      if (node->inputs[4] == QM_NO_VALUE)
        chosen[0]++;
      else if (node->attributes.scale > 1)
        {
          CHECK_NEAR (node->attributes.scale, 2, 0);
          chosen[1]++;
        }
      else
        chosen[2]++;
    }
  /* The teacher's and those of the one local crop; those of two global ones. */
  CHECK_INT (chosen[0], 4 * config.dino.layers);
  CHECK_INT (chosen[1], 2 * config.dino.layers);
  CHECK_INT (chosen[2], 0);
  qm_plan_free (plan);
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "dinov2", "dinov2-registers",
                                        "dinov3-gated", "convnext",
                                        "dinov2-pair-hidden" };
  static const char *const settings[] = { "naive", "free-lunch" };
  static const char *const all_settings[] = { "naive", "kernels", "compile",
                                              "free-lunch" };
  QmDevice *device = NULL;

  CHECK (argc == 2 || argc == 3);
  CHECK_INT (qm_device_open (argc > 2 ? argv[2] : "cpu", 0, &device, NULL),
             QM_OK);
  if (argc < 2 || device == NULL)
    return check_report ();
  for (int i = 0; i < 4; i++)
    for (int checkpoint = 0; checkpoint < 2; checkpoint++)
      {
        test_some (device, argv[1], "dinov2-pair", 0.3, all_settings[i],
                   checkpoint > 0);
        test_some (device, argv[1], "dinov2-pair-registers", 0.4,
                   all_settings[i], checkpoint > 0);
      }
  if (argc > 2)
    {
      qm_device_close (device);
      return check_report ();
    }
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    for (size_t j = 0; j < sizeof settings / sizeof settings[0]; j++)
      test (device, argv[1], models[i], settings[j]);
  test_alone (argv[1]);
  test_fused (device, argv[1], "dinov2", 4, 0);
  test_fused (device, argv[1], "dinov3-gated", 4, 0);
  test_fused (device, argv[1], "convnext", 4, 4);
  qm_device_close (device);
  return check_report ();
}
