/* SPDX-License-Identifier: Apache-2.0 */

/* Students and teachers: gradients, what the teacher reads, what it needs, and
 * where it cannot be.  usage: test-teacher FOLDER */

#include "data/flops.h"
#include "engine/executor.h"
#include "engine/weights.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static QmValueId
append_random (GradientBench *bench, int64_t rows, int64_t columns)
{
  QmValueId value = gradient_value (bench, 2, (int64_t[]){ rows, columns });
  QmNode *node = gradient_append (bench, QM_OP_RANDOM);

  node->attributes.distribution = QM_DISTRIBUTION_UNIFORM;
  node->attributes.scale = 1;
  node->inputs[0] = bench->graph->rng;
  node->outputs[0] = value;
  return value;
}

static void
test_loss (int64_t told, int64_t others)
{
  GradientBench bench;
  int64_t images = 2, rows = images * (told + others);
  QmValueId x, copy, shares, losses, dx;
  QmNode *node;

  gradient_begin (&bench, "loss with a teacher");
  x = gradient_input2 (&bench, rows, 5);
  shares = append_random (&bench, images * told, 5);
  copy = gradient_copy (&bench, x);
  dx = gradient_value (&bench, 2, (int64_t[]){ rows, 5 });
  losses = gradient_value (&bench, 1, &rows);
  node = gradient_append (&bench, QM_OP_TEACHER_LOSS);
  node->attributes.value = 0.8;
  node->attributes.scale = 0.3;
  node->attributes.count = told;
  node->inputs[0] = copy;
  node->inputs[1] = shares;
  node->inputs[2] = bench.graph->state;
  node->outputs[0] = dx;
  node->outputs[1] = losses;
  gradient_sum (&bench, losses);
  gradient_end (&bench);
}

/* Which of 4 patches of two images are hidden. */
static QmValueId
append_mask (GradientBench *bench, QmValueId *places)
{
  QmGraph *graph = bench->graph;
  QmValueId hidden = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                                     (int64_t[]){ 2, 3 }, "hidden");
  QmNode *node;

  *places = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                            (int64_t[]){ 2, 4 }, "places");
  node = gradient_append (bench, QM_OP_MASK_PATCHES);
  node->inputs[1] = graph->rng;
  node->outputs[0] = hidden;
  node->outputs[1] = *places;
  return hidden;
}

/* Of one of `crops`, with `first` tokens before patches. */
static void
test_hidden (int64_t crops, int64_t first)
{
  GradientBench bench;
  QmValueId x, token, hidden, places;
  int64_t rows = 2 * crops * (first + 4);
  QmNode *node;

  gradient_begin (&bench, "hidden rows");
  x = gradient_input2 (&bench, rows, 3);
  token = gradient_input1 (&bench, 3);
  hidden = append_mask (&bench, &places);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ rows, 3 });
  node = gradient_append (&bench, QM_OP_HIDE_ROWS);
  node->attributes.count = crops;
  node->attributes.first = first;
  node->inputs[0] = x;
  node->inputs[1] = places;
  node->inputs[2] = token;
  node->inputs[3] = hidden;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_picked (void)
{
  GradientBench bench;
  QmValueId x, hidden, places;
  QmNode *node;

  gradient_begin (&bench, "picked rows");
  x = gradient_input2 (&bench, 2 * 2 * 5, 3);
  hidden = append_mask (&bench, &places);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2 * 3, 3 });
  node = gradient_append (&bench, QM_OP_PICK_ROWS);
  node->attributes.count = 2;
  node->attributes.first = 1;
  node->inputs[0] = x;
  node->inputs[1] = hidden;
  node->inputs[2] = places;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* A branch that 3 of 4 samples of two rows go through, of which two draws are
 * one after the other. */
static void
test_some (bool gain, bool residual)
{
  GradientBench bench;
  QmValueId x, picked, kept, places, scale = QM_NO_VALUE;
  QmNode *node;

  gradient_begin (&bench, "some samples");
  x = gradient_input2 (&bench, 4 * 2, 3);
  if (gain)
    scale = gradient_input1 (&bench, 3);
  kept = append_mask (&bench, &places);
  kept = qm_graph_view (bench.graph, kept, 2, (int64_t[]){ 1, 3 },
                        (int64_t[]){ 3, 1 }, 3);
  places = qm_graph_view (bench.graph, places, 2, (int64_t[]){ 1, 4 },
                          (int64_t[]){ 4, 1 }, 4);
  picked = gradient_value (&bench, 2, (int64_t[]){ 3 * 2, 3 });
  node = gradient_append (&bench, QM_OP_PICK_ROWS);
  node->attributes.count = 1;
  node->inputs[0] =
      qm_graph_reshape (bench.graph, x, 2, (int64_t[]){ 4, 2 * 3 });
  node->inputs[1] = kept;
  node->inputs[2] = places;
  node->outputs[0] =
      qm_graph_reshape (bench.graph, picked, 2, (int64_t[]){ 3, 2 * 3 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 4 * 2, 3 });
  node = gradient_append (&bench, QM_OP_LAYER_SCALE);
  node->attributes.scale = 4.0 / 3;
  node->inputs[0] = picked;
  node->inputs[1] = scale;
  node->inputs[2] = residual ? x : QM_NO_VALUE;
  node->inputs[4] = places;
  node->inputs[5] = kept;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_spread (void)
{
  GradientBench bench;
  int64_t rows = 2 * 4;
  QmValueId x, copy, dx, losses, nearest, factors;
  QmNode *node;

  gradient_begin (&bench, "spread rows");
  x = gradient_input2 (&bench, rows, 5);
  copy = gradient_copy (&bench, x);
  dx = gradient_value (&bench, 2, (int64_t[]){ rows, 5 });
  losses = gradient_value (&bench, 1, &rows);
  factors = gradient_value (&bench, 2, (int64_t[]){ 2, rows });
  nearest = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 1,
                            &rows, "nearest");
  node = gradient_append (&bench, QM_OP_SPREAD_LOSS);
  node->attributes.count = 2;
  node->attributes.scale = 0.3;
  node->attributes.epsilon = 1e-8;
  node->inputs[0] = copy;
  node->inputs[1] = bench.graph->state;
  node->outputs[0] = dx;
  node->outputs[1] = losses;
  node->outputs[2] = nearest;
  node->outputs[3] = factors;
  gradient_sum (&bench, losses);
  gradient_end (&bench);
}

/* A layer whose weights are normed first. */
static void
test_made_weights (void)
{
  GradientBench bench;
  QmValueId x, v, w, gamma, rstd;
  QmNode *node;

  gradient_begin (&bench, "weights that are made");
  x = gradient_input2 (&bench, 3, 6);
  v = gradient_input2 (&bench, 4, 6);
  gamma = gradient_value (&bench, 1, (int64_t[]){ 6 });
  w = gradient_value (&bench, 2, (int64_t[]){ 4, 6 });
  rstd = gradient_value (&bench, 1, (int64_t[]){ 4 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 3, 4 });
  node = gradient_append (&bench, QM_OP_FILL);
  node->attributes.value = 1 / sqrt (6);
  node->outputs[0] = gamma;
  node = gradient_append (&bench, QM_OP_LAYER_NORM);
  node->attributes.rms = true;
  node->attributes.epsilon = 1e-24;
  node->inputs[0] = v;
  node->inputs[1] = gamma;
  node->outputs[0] = w;
  node->outputs[2] = rstd;
  node = gradient_append (&bench, QM_OP_LINEAR);
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* Positions that are sums of others. */
static void
test_made_positions (void)
{
  GradientBench bench;
  QmValueId x, token, position, table, made;
  QmNode *node;

  gradient_begin (&bench, "positions that are made");
  x = gradient_input2 (&bench, 2 * 4, 3);
  token = gradient_input1 (&bench, 3);
  position = gradient_input (&bench, 4, (int64_t[]){ 1, 1, 7, 3 });
  table = append_random (&bench, 5, 7);
  made = gradient_value (&bench, 4, (int64_t[]){ 1, 1, 5, 3 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2 * 5, 3 });
  table = qm_graph_reshape (bench.graph, table, 4, (int64_t[]){ 1, 1, 5, 7 });
  node = gradient_append (&bench, QM_OP_MATMUL);
  node->attributes.scale = 1;
  node->inputs[0] = table;
  node->inputs[1] = position;
  node->outputs[0] = made;
  made = qm_graph_reshape (bench.graph, made, 2, (int64_t[]){ 5, 3 });
  node = gradient_append (&bench, QM_OP_CLASS_TOKEN);
  node->inputs[0] = x;
  node->inputs[1] = token;
  node->inputs[2] = made;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* Weights that tell images apart, as new ones do not. */
static void
load (const QmPlan *plan, QmExecutor *executor, const char *path)
{
  QmSafetensors *file = NULL;

  CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
  if (file != NULL)
    CHECK_INT (qm_weights_load (plan, executor, file, path, NULL, NULL), QM_OK);
  qm_safetensors_close (file);
}

typedef struct Run
{
  QmPlan *plan;
  QmExecutor *executor;
} Run;

static QmRecipe
make_recipe (const QmModelConfig *config, QmPrecision precision)
{
  return (QmRecipe){ .batch_size = 2,
                     .steps = 1,
                     .image_size = vary_image_size (config),
                     .precision = precision,
                     .optimizer = QM_OPTIMIZER_ADAMW,
                     .learning_rate = 0.004,
                     .beta1 = 0.9,
                     .beta2 = 0.999,
                     .epsilon = 1e-8,
                     .dropout = NAN,
                     .ema_decay = 0.8 };
}

static bool
begin (Run *run,
       QmDevice *device,
       const QmModelConfig *config,
       const char *weights,
       QmPrecision precision,
       unsigned methods)
{
  const QmRecipe recipe = make_recipe (config, precision);
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = 2,
                                  .methods = methods,
                                  .no_dropout = true };

  *run = (Run){ NULL };
  CHECK_INT (qm_plan_new (config, &recipe, &options, &run->plan, NULL), QM_OK);
  if (run->plan == NULL)
    return false;
  CHECK_INT (qm_executor_new (run->plan, device, NULL, 3, &run->executor, NULL),
             QM_OK);
  if (run->executor == NULL)
    return false;
  load (run->plan, run->executor, weights);
  CHECK_INT (qm_executor_random_batch (run->executor, NULL), QM_OK);
  CHECK_INT (qm_executor_write_state (run->executor, QM_STATE_LOSS_SCALE, 64,
                                      NULL),
             QM_OK);
  return true;
}

static void
end (Run *run)
{
  qm_executor_free (run->executor);
  qm_plan_free (run->plan);
}

static float
loss_of (Run *run)
{
  float loss = NAN;

  CHECK_INT (qm_executor_clear (run->executor, NULL), QM_OK);
  CHECK_INT (qm_executor_pass (run->executor, true, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (run->executor, run->plan->graph->loss,
                                      &loss, NULL),
             QM_OK);
  return loss;
}

/* Sets all weights of `to` to those, or averages, of `from`. */
static void
take (Run *to, Run *from, bool averages)
{
  const QmGraph *graph = from->plan->graph;

  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      QmValueId id = graph->parameters[i].value;
      size_t n = (size_t) qm_tensor_elements (qm_graph_tensor (graph, id));
      float *values = calloc (n + 1, sizeof *values);

      CHECK_INT (
          averages ? qm_executor_read_average (from->executor, i, values, NULL)
                   : qm_executor_read_floats (from->executor, id, values, NULL),
          QM_OK);
      CHECK_INT (qm_executor_write_floats (to->executor, id, values, NULL),
                 QM_OK);
      free (values);
    }
}

/* After some updates, a pass is as with a teacher whose weights were set to the
 * average; one that has the student's says something else. */
static void
test_follows (QmDevice *device,
              const QmModelConfig *config,
              const char *weights,
              QmPrecision precision,
              unsigned methods)
{
  Run trained, set;
  float first, loss;

  if (begin (&trained, device, config, weights, precision, methods)
      && begin (&set, device, config, weights, precision, methods))
    {
      CHECK_INT ((int64_t) qm_executor_allocated (trained.executor),
                 (int64_t) (trained.plan->memory.total
                            - trained.plan->memory.reserved));
      CHECK_INT (qm_executor_write_state (trained.executor,
                                          QM_STATE_LEARNING_RATE, 0.004f, NULL),
                 QM_OK);
      first = loss_of (&trained);
      CHECK_NEAR (loss_of (&set), first, 0);
      for (int step = 0; step < 3; step++)
        {
          CHECK_INT (qm_executor_pass (trained.executor, true, NULL), QM_OK);
          CHECK_INT (qm_executor_update (trained.executor, NULL), QM_OK);
        }
      loss = loss_of (&trained);
      CHECK (isfinite (loss) && fabsf (loss - first) > 1e-3f * first);
      take (&set, &trained, true);
      CHECK_INT (qm_executor_teach (set.executor, NULL), QM_OK);
      take (&set, &trained, false);
      CHECK_NEAR (loss_of (&set), loss,
                  precision == QM_PRECISION_FP32 ? 1e-6 : 0);
      CHECK_INT (qm_executor_teach (set.executor, NULL), QM_OK);
      CHECK (fabsf (loss_of (&set) - loss) > 2e-5f * loss);
      end (&set);
    }
  end (&trained);
}

/* Where products are of 16 bits, the teacher has a copy in them beside the
 * average; else nothing. */
static void
test_memory (const QmModelConfig *config)
{
  static const QmPrecision precisions[2] = { QM_PRECISION_FP32,
                                             QM_PRECISION_BF16 };
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = 2 };

  check_case ("memory");
  for (int i = 0; i < 2; i++)
    {
      const QmRecipe recipe = make_recipe (config, precisions[i]);
      QmPlan *plan = NULL;

      CHECK_INT (qm_plan_new (config, &recipe, &options, &plan, NULL), QM_OK);
      if (plan == NULL)
        continue;
      CHECK_INT ((int64_t) plan->memory.optimizer,
                 plan->slab * (3 * 4 + 2 * i));
      for (size_t j = 0; j < plan->graph->n_values; j++)
        CHECK (plan->graph->values[j].role != QM_ROLE_TEACHER);
      qm_plan_free (plan);
    }
}

/* In training, branches of the student have some of the samples, those of the
 * teacher all, all that it does being before what it says. */
static void
test_depth (const QmModelConfig *config)
{
  const QmRecipe recipe = make_recipe (config, QM_PRECISION_FP32);
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = 2 };
  QmModelConfig copy = *config;
  QmPlan *plan = NULL;
  int left_out[2] = { 0, 0 }, all[2] = { 0, 0 };
  bool said = false;

  check_case ("stochastic depth");
  vary_number (&copy, "drop_path_rate", 0.3);
  CHECK_INT (qm_plan_new (&copy, &recipe, &options, &plan, NULL), QM_OK);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];

      said |= node->op == QM_OP_SHARE_OUT;
      if (node->op != QM_OP_LAYER_SCALE)
        continue;
      all[said]++;
      left_out[said] += node->inputs[4] != QM_NO_VALUE;
      CHECK_NEAR (node->attributes.dropout, 0, 0);
    }
  CHECK_INT (all[0], 2 * config->dino.layers);
  CHECK_INT (left_out[0], 0);
  CHECK_INT (left_out[1], 4 * config->dino.layers);
  qm_plan_free (plan);
}

static void
check_refused (const QmModelConfig *config,
               const QmRecipe *recipe,
               const QmPlanOptions *options,
               QmStatus wanted,
               const char *what)
{
  QmPlan *plan = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_plan_new (config, recipe, options, &plan, &error), wanted);
  CHECK_CONTAINS (error.message, what);
  if (wanted == QM_STATUS_UNSUPPORTED)
    CHECK (!qm_plan_takes (config, recipe, options->sharding, options->offload,
                           options->ranks));
  qm_plan_free (plan);
}

static void
test_refused (const QmModelConfig *config)
{
  QmRecipe recipe = make_recipe (config, QM_PRECISION_BF16);
  QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                            .micro_batch = 1,
                            .ranks = 2 };
  QmModelConfig copy = *config;
  QmPlan *plan = NULL;
  QmError error = { 0 };

  check_case ("refused");
  CHECK_INT (qm_plan_new (config, &recipe, &options, &plan, NULL), QM_OK);
  CHECK (qm_plan_takes (config, &recipe, QM_SHARDING_NONE, false, 2));
  qm_plan_free (plan);
  for (int i = QM_SHARDING_ZERO_1; i < QM_N_SHARDINGS; i++)
    {
      options.sharding = (QmSharding) i;
      options.offload = false;
      options.ranks = 2;
      check_refused (config, &recipe, &options, QM_STATUS_UNSUPPORTED,
                     qm_sharding_name (options.sharding));
      options.offload = true;
      options.ranks = 1;
      check_refused (config, &recipe, &options, QM_STATUS_UNSUPPORTED,
                     "teacher");
    }
  options = (QmPlanOptions){ .target = { QM_DEVICE_CPU, 0 }, .micro_batch = 1 };
  recipe.ema_decay = 0;
  check_refused (config, &recipe, &options, QM_STATUS_INVALID, "ema_decay");
  CHECK_INT (qm_model_apply_recipe (&copy, &recipe, "file", &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "ema_decay");
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "dinov2-pair", "dinov2-pair-registers",
                                        "dinov2-pair-hidden", "dinov3-pair" };
  static const QmPrecision precisions[] = { QM_PRECISION_FP32,
                                            QM_PRECISION_BF16,
                                            QM_PRECISION_FP16 };
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc != 2 || device == NULL)
    return check_report ();
  test_loss (2, 3);
  test_loss (1, 1);
  test_loss (3, 0);
  test_hidden (1, 1);
  test_hidden (3, 0);
  test_picked ();
  for (int i = 0; i < 4; i++)
    test_some (i % 2 == 0, i < 2);
  test_spread ();
  test_made_weights ();
  test_made_positions ();
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    {
      QmModelConfig config = { 0 };
      char weights[512];

      snprintf (weights, sizeof weights, "%s/%s.weights.safetensors", argv[1],
                models[i]);
      golden_config (argv[1], models[i], &config);
      for (size_t j = 0; j < sizeof precisions / sizeof precisions[0]; j++)
        for (unsigned all = 0; all < 2; all++)
          {
            char name[96];

            snprintf (name, sizeof name, "%s, %s, methods %u", models[i],
                      qm_precision_name (precisions[j]), all);
            check_case (name);
            test_follows (device, &config, weights, precisions[j],
                          all ? QM_METHOD_ALL : 0);
          }
      test_memory (&config);
      test_depth (&config);
      test_refused (&config);
    }
  qm_device_close (device);
  return check_report ();
}
