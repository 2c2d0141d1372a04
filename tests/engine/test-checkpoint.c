/* SPDX-License-Identifier: Apache-2.0 */

/* Activation checkpointing: training is the same to the bit for every family
 * and setting, with dropout, and needs no more memory than the inputs of all
 * blocks and the values of one.  usage: test-checkpoint FOLDER */

#include "data/catalog.h"
#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/all-models.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/graph-sums.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  3
#define LAYERS 3

/* Drops values of the hidden states and of attention, and makes as many blocks
 * as there need to be for one that is neither the first nor the last. */
static void
change_config (QmModelConfig *config, int64_t layers, double dropout)
{
  /* Of the mamba of the golden files, and of stages, are enough. */
  if (config->family != QM_FAMILY_MAMBA)
    vary_whole (config, "layers", layers);
  vary_number (config, "hidden_dropout", dropout);
  vary_number (config, "attention_dropout", dropout);
  vary_number (config, "drop_path_rate", dropout);
}

/* One training, and what it left: losses, gradients of the last step, weights.
 */
typedef struct Training
{
  QmPlan *plan;
  QmExecutor *executor;
  float losses[STEPS];
} Training;

static bool
begin (Training *training,
       QmDevice *device,
       const QmModelConfig *config,
       const QmRecipe *recipe,
       unsigned methods,
       bool checkpoint)
{
  QmPlanOptions options = { .target = qm_device_info (device)->target,
                            .micro_batch = 2,
                            .methods = methods,
                            .checkpoint = checkpoint };
  QmError error = { 0 };

  *training = (Training){ NULL };
  CHECK_INT (qm_plan_new (config, recipe, &options, &training->plan, &error),
             QM_OK);
  if (training->plan != NULL)
    CHECK_INT (qm_executor_new (training->plan, device, NULL, 7,
                                &training->executor, &error),
               QM_OK);
  CHECK_STRING (error.message, "");
  return training->executor != NULL;
}

static void
end (Training *training)
{
  qm_executor_free (training->executor);
  qm_plan_free (training->plan);
}

/* Two passes in a step, and no update after the last. */
static void
train (Training *training)
{
  QmExecutor *executor = training->executor;

  CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
  for (int step = 0; step < STEPS; step++)
    {
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, training->plan->graph->loss,
                                          &training->losses[step], NULL),
                 QM_OK);
      if (step + 1 < STEPS)
        CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
    }
}

static float *
read_value (const Training *training, QmValueId value)
{
  const QmTensor *shape = qm_graph_tensor (training->plan->graph, value);
  float *values = malloc ((size_t) qm_tensor_elements (shape) * sizeof *values);

  if (values != NULL)
    CHECK_INT (qm_executor_read_floats (training->executor, value, values,
                                        NULL),
               QM_OK);
  return values;
}

static bool
same_bits (const Training *a, QmValueId x, const Training *b, QmValueId y)
{
  const QmTensor *shape = qm_graph_tensor (a->plan->graph, x);
  float *one = read_value (a, x), *other = read_value (b, y);
  bool same =
      one != NULL && other != NULL
      && memcmp (one, other, (size_t) qm_tensor_elements (shape) * sizeof *one)
             == 0;

  free (one);
  free (other);
  return same;
}

static size_t
count_recomputed (const QmGraph *graph)
{
  size_t count = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    count += graph->nodes[i].phase == QM_PHASE_RECOMPUTE;
  return count;
}

static bool
drops (const QmGraph *graph)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].phase == QM_PHASE_RECOMPUTE
        && qm_dropout_is_on (graph->nodes[i].attributes.dropout))
      return true;
  return false;
}

static void
compare (const Training *plain, const Training *saving)
{
  const QmGraph *a = plain->plan->graph, *b = saving->plan->graph;

  CHECK (isfinite (plain->losses[STEPS - 1]));
  CHECK (plain->losses[0] != plain->losses[STEPS - 1]);
  CHECK_INT (memcmp (plain->losses, saving->losses, sizeof plain->losses), 0);
  CHECK_INT (a->n_parameters, b->n_parameters);
  for (size_t i = 0; i < a->n_parameters; i++)
    {
      CHECK (same_bits (plain, a->parameters[i].gradient, saving,
                        b->parameters[i].gradient));
      CHECK (same_bits (plain, a->parameters[i].value, saving,
                        b->parameters[i].value));
    }
  CHECK_INT (count_recomputed (a), 0);
  CHECK (count_recomputed (b) > 0);
  CHECK (saving->plan->memory.activations < plain->plan->memory.activations);
}

/* 0 for models of text. */
static int64_t
image_size (const QmModelConfig *config)
{
  return vary_image_size (config);
}

static void
test_training (QmDevice *device,
               const char *model,
               const QmModelConfig *config,
               QmPrecision precision,
               unsigned methods)
{
  int64_t side = image_size (config);
  QmRecipe recipe = { .batch_size = 4,
                      .ema_decay = qm_model_has_teacher (config) ? 0.9 : 0,
                      .steps = STEPS,
                      .sequence_length = side > 0 ? 0 : 16,
                      .image_size = side,
                      .precision = precision,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .learning_rate = 0.01,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .max_grad_norm = 1 };
  Training plain, saving;
  char name[128];

  snprintf (name, sizeof name, "%s, %s, methods %u", model,
            qm_precision_name (precision), methods);
  check_case (name);
  if (begin (&plain, device, config, &recipe, methods, false))
    {
      if (begin (&saving, device, config, &recipe, methods, true))
        {
          train (&plain);
          train (&saving);
          compare (&plain, &saving);
          /* DiT leaves classes out, before its blocks. */
          CHECK (drops (saving.plan->graph)
                 == (config->family != QM_FAMILY_MAMBA
                     && config->family != QM_FAMILY_MAMBA2
                     && config->family != QM_FAMILY_DIT));
        }
      end (&saving);
    }
  end (&plain);
}

static void
test_family (const char *folder, const char *model, QmDevice *device)
{
  /* The CPU has no TF32: with and without, the same is computed. */
  static const unsigned methods[] = { 0, QM_METHOD_COMPILE, QM_METHOD_KERNELS,
                                      QM_METHOD_ALL };
  QmModelConfig config = { 0 };

  golden_config (folder, model, &config);
  change_config (&config, LAYERS, 0.1);
  for (int precision = QM_PRECISION_FP32; precision <= QM_PRECISION_BF16;
       precision++)
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
      test_training (device, model, &config, (QmPrecision) precision,
                     methods[i]);
}

/* The most bytes that live at one time, and FLOPs by phase. */
typedef struct Need
{
  uint64_t live, arena;
  double forward, backward, recomputed;
} Need;

static Need
find_need (const QmModel *model,
           int64_t layers,
           unsigned methods,
           bool checkpoint)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .micro_batch = 4,
                            .methods = methods,
                            .checkpoint = checkpoint };
  QmModelConfig config = model->config;
  Need need = { 0 };
  QmPlan *plan;

  change_config (&config, layers, 0.1);
  CHECK_INT (qm_plan_new (&config, &model->recipe, &options, &plan, NULL),
             QM_OK);
  if (plan == NULL)
    return need;
  need.live = plan->memory.live;
  need.arena = plan->memory.activations;
  need.forward = graph_flops (plan->graph, QM_PHASE_FORWARD);
  need.backward = graph_flops (plan->graph, QM_PHASE_BACKWARD);
  need.recomputed = graph_flops (plan->graph, QM_PHASE_RECOMPUTE);
  qm_plan_free (plan);
  return need;
}

/* Of a block more, nothing but its input lives on: [tokens, hidden] in fp32. */
static uint64_t
input_bytes (const QmModel *model)
{
  const QmModelConfig *config = &model->config;
  int64_t tokens = model->recipe.sequence_length, side;

  if (config->family == QM_FAMILY_DIT)
    return (uint64_t) (4 * qm_dit_patches (&config->dit)
                       * qm_dit_hidden (&config->dit) * 4);
  /* When most is there, in the tower of images, that of texts is done. */
  if (qm_family_info (config->family)->objective == QM_OBJECTIVE_PAIRS)
    return (uint64_t) (4 * qm_clip_vision_tokens (config)
                       * config->clip.vision.hidden_size * 4);
  if (config->family == QM_FAMILY_VIT)
    {
      side = config->vit.image_size / config->vit.patch_size;
      tokens = side * side + 1;
    }
  else if (config->family == QM_FAMILY_VIT_MAE)
    tokens = qm_mae_kept (&config->mae) + 1;
  else if (qm_family_has_images (config->family))
    {
      side = model->recipe.image_size / config->dino.patch_size;
      tokens = side * side + 1 + config->dino.registers;
      if (qm_model_has_teacher (config))
        {
          side = config->dino.local_size / config->dino.patch_size;
          tokens = QM_DINO_GLOBAL_CROPS * tokens
                   + config->dino.local_crops
                         * (side * side + 1 + config->dino.registers);
        }
    }
  return (uint64_t) (4 * tokens * vary_get_whole (config, "hidden_size") * 4);
}

/* And the load of its experts, which is balanced over all layers at once. */
static uint64_t
load_bytes (const QmModel *model)
{
  const QmModelConfig *config = &model->config;

  return config->family == QM_FAMILY_OLMOE && config->llama.balance > 0
             ? (uint64_t) config->llama.experts * 2 * 4
             : 0;
}

/* Numbers at most that say which of a student's 4 images' crops go through the
 * two branches of a block. */
static uint64_t
chosen_bytes (const QmModel *model)
{
  int64_t crops = QM_DINO_GLOBAL_CROPS + model->config.dino.local_crops;

  return qm_model_has_teacher (&model->config)
             ? 2 * 2 * 4 * (uint64_t) crops * 4
             : 0;
}

static uint64_t
align (uint64_t bytes)
{
  return (bytes + QM_MEMORY_ALIGNMENT - 1) / QM_MEMORY_ALIGNMENT
         * QM_MEMORY_ALIGNMENT;
}

static void
test_memory (const QmModel *model, unsigned methods)
{
  uint64_t input = align (input_bytes (model));
  uint64_t least = 7 * (input + load_bytes (model)), more;
  Need one = find_need (model, 1, methods, true);
  Need two = find_need (model, 2, methods, true);
  Need many = find_need (model, 9, methods, true);
  Need plain = find_need (model, 9, methods, false);
  Need plain_one = find_need (model, 1, methods, false);
  char name[96];

  snprintf (name, sizeof name, "memory of %s, methods %u", model->id, methods);
  check_case (name);
  more = many.live - two.live - least;
  CHECK (more <= (chosen_bytes (model) > 0
                      ? 7 * chosen_bytes (model) + 4 * QM_MEMORY_ALIGNMENT
                      : 0));
  CHECK (one.live <= plain_one.live);
  CHECK (two.live <= plain_one.live + 2 * input);
  CHECK ((double) many.arena <= 1.03 * (double) many.live);
  CHECK (many.live < plain.live / 2);
  CHECK_NEAR (many.forward, plain.forward, 0);
  CHECK_NEAR (many.backward, plain.backward, 0);
  CHECK_NEAR (plain.recomputed, 0, 0);
  /* The head and, but for post-norm models, the last product of every block
   * are not repeated. */
  CHECK (many.recomputed > 0 && many.recomputed < many.forward);
}

/* The gradients of layer scales that are apart go back into those of the norms
 * before them, which wait until what these read was made again; how many. */
static int64_t
join_scales (QmGraph *graph)
{
  int64_t count = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode scale = graph->nodes[i];
      QmNode norm;
      size_t j = i;

      if (scale.op != QM_OP_LAYER_SCALE_BACKWARD)
        continue;
      while (j > 0 && graph->nodes[j].outputs[0] != scale.inputs[0])
        j--;
      norm = graph->nodes[j];
      CHECK_INT (norm.op, QM_OP_LAYER_NORM_BACKWARD);
      CHECK (norm.inputs[8] == QM_NO_VALUE && norm.inputs[9] == QM_NO_VALUE
             && norm.outputs[5] == QM_NO_VALUE);
      CHECK (!qm_dropout_is_on (norm.attributes.dropout));
      norm.attributes = scale.attributes;
      norm.inputs[8] = scale.inputs[3];
      norm.inputs[9] = scale.inputs[1];
      norm.inputs[10] = scale.inputs[2];
      norm.outputs[5] = scale.outputs[0];
      norm.outputs[7] = scale.outputs[1];
      memmove (&graph->nodes[j], &graph->nodes[j + 1],
               (i - j) * sizeof *graph->nodes);
      graph->nodes[i] = norm;
      count++;
    }
  return count;
}

/* Where a block's feed-forward layer is gated, the gradient of its layer scale
 * is made apart from that of the norm that begins the next one: otherwise a
 * value of the stream in fp32, and in 16 bits half as much again, would be
 * there beside all of the block.  That the numbers are the same says
 * test_family(). */
static void
test_scales_apart (const QmModel *model, bool gated, QmPrecision precision)
{
  const QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                                  .micro_batch = 4,
                                  .methods = QM_METHOD_ALL,
                                  .checkpoint = true };
  uint64_t input = align (input_bytes (model)), arena = 0, live = 0;
  QmModelConfig config = model->config;
  QmRecipe recipe = model->recipe;
  int64_t *place;
  QmPlan *plan;

  check_case (model->id);
  config.dino.gated = gated;
  vary_number (&config, "drop_path_rate", 0.3);
  recipe.precision = precision;
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  place =
      plan != NULL ? calloc (plan->graph->n_values + 1, sizeof *place) : NULL;
  if (place == NULL)
    return;
  CHECK_INT (join_scales (plan->graph),
             gated ? vary_get_whole (&config, "layers") : 0);
  CHECK_INT (qm_memory_arena (plan->graph, place, &arena, &live, NULL), QM_OK);
  if (gated)
    CHECK (plan->memory.live
               + input / 4 * (precision == QM_PRECISION_FP32 ? 4 : 6)
           <= live);
  else
    CHECK_INT (live, plan->memory.live);
  free (place);
  qm_plan_free (plan);
}

static int64_t
find_largest (const QmModel *model, bool checkpoint)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .methods = QM_METHOD_ALL,
                            .checkpoint = checkpoint };
  QmPlan *plan;
  int64_t size = 0;

  qm_plan_largest (&model->config, &model->recipe, &options,
                   INT64_C (139) << 30, &plan, NULL);
  if (plan != NULL)
    size = plan->options.micro_batch;
  qm_plan_free (plan);
  return size;
}

/* An H200 takes at least twice the micro-batch, if there are so many samples.
 */
static void
test_largest (const QmModel *model)
{
  int64_t plain = find_largest (model, false);

  check_case (model->id);
  CHECK (plain > 0);
  CHECK (find_largest (model, true) >= 2 * plain
         || 2 * plain > model->recipe.batch_size);
}

static void
test_catalog (void)
{
  QmCatalog *catalog;
  const QmModel *models;
  size_t n;

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  models = qm_catalog_models (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (models[i].config.family != QM_FAMILY_CONVNEXT
        && models[i].config.family != QM_FAMILY_MAMBA)
      {
        test_memory (&models[i], 0);
        test_memory (&models[i], QM_METHOD_ALL);
        test_largest (&models[i]);
      }
  for (int i = 0; i < 8; i++)
    test_scales_apart (
        qm_catalog_model (catalog, i < 4 ? "dinov2-large-supervised"
                                         : "dinov3-large-supervised"),
        i % 2 == 0, i % 4 < 2 ? QM_PRECISION_FP32 : QM_PRECISION_BF16);
  qm_catalog_free (catalog);
}

int
main (int argc, char **argv)
{
  const char *const *models = all_models;
  size_t n = N_ALL_MODELS;
  QmDevice *device = NULL;

  CHECK (argc >= 2);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (argc < 2 || device == NULL)
    return check_report ();
  if (argc > 2)
    {
      models = (const char *const *) argv + 2;
      n = (size_t) argc - 2;
    }
  for (size_t i = 0; i < n; i++)
    test_family (argv[1], models[i], device);
  test_catalog ();
  qm_device_close (device);
  return check_report ();
}
