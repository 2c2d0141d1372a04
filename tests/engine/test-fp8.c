/* SPDX-License-Identifier: Apache-2.0 */

/* Training in FP8: which products become such, that gradients are near those of
 * fp32 and not those of bf16, that checkpointing, offloading and ranks change
 * nothing, and how the loss falls beside bf16's. */

#include "engine/executor.h"
#include "engine/passes.h"
#include "engine/train.h"
#include "engine/work.h"
#include "kernels/scaled.h"
#include "tests/data/check.h"
#include "tests/engine/in-ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 16
#define BATCH  4
#define VOCAB  96

static const char *const configs[] = {
  "{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_hidden_layers\": 2,"
  " \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
  " \"intermediate_size\": 64, \"vocab_size\": 96, \"rms_norm_eps\": 1e-5,"
  " \"max_position_embeddings\": 64, \"hidden_act\": \"silu\","
  " \"tie_word_embeddings\": false}",
  "{\"model_type\": \"gpt2\", \"n_embd\": 32, \"n_layer\": 2, \"n_head\": 4,"
  " \"vocab_size\": 96, \"n_positions\": 64, \"embd_pdrop\": 0,"
  " \"resid_pdrop\": 0, \"attn_pdrop\": 0}",
  "{\"model_type\": \"olmoe\", \"hidden_size\": 32, \"num_hidden_layers\": 2,"
  " \"num_attention_heads\": 4, \"intermediate_size\": 16,"
  " \"vocab_size\": 96, \"rms_norm_eps\": 1e-5, \"num_experts\": 16,"
  " \"num_experts_per_tok\": 2, \"max_position_embeddings\": 64,"
  " \"hidden_act\": \"silu\", \"tie_word_embeddings\": false}",
};

enum
{
  LLAMA,
  GPT2,
  OLMOE,
  N_CONFIGS
};

static const QmFp8 ways[] = {
  { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E5M2 },
  { QM_FP8_SCALES_TENSOR, QM_FP8_AMAX_DELAYED, QM_FP8_GRADIENTS_E5M2 },
  { QM_FP8_SCALES_ROW, QM_FP8_AMAX_CURRENT, QM_FP8_GRADIENTS_E4M3 },
};

#define N_WAYS (sizeof ways / sizeof ways[0])

static QmRecipe
recipe_of (QmPrecision precision, const QmFp8 *fp8)
{
  QmRecipe recipe = { .batch_size = BATCH,
                      .steps = 1,
                      .sequence_length = LENGTH,
                      .precision = precision,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .learning_rate = 2e-3,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .weight_decay = 0.1,
                      .max_grad_norm = 1,
                      .dropout = NAN };

  if (fp8 != NULL)
    recipe.fp8 = *fp8;
  return recipe;
}

static QmModelConfig
config_of (int model)
{
  QmModelConfig config = { 0 };

  CHECK_INT (qm_model_config_parse (configs[model], strlen (configs[model]), "",
                                    &config, NULL),
             QM_OK);
  return config;
}

static QmPlan *
planned (int model,
         QmPrecision precision,
         const QmFp8 *fp8,
         const QmPlanOptions *options)
{
  QmModelConfig config = config_of (model);
  QmRecipe recipe = recipe_of (precision, fp8);
  QmPlan *plan = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", &error), QM_OK);
  CHECK_INT (qm_plan_new (&config, &recipe, options, &plan, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return plan;
}

static int
count (const QmPlan *plan, QmOp op, int phase)
{
  int n = 0;

  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    n += plan->graph->nodes[i].op == op
         && (phase < 0 || plan->graph->nodes[i].phase == (QmPhase) phase);
  return n;
}

/* Gradients alone are in E5M2, where they are. */
static void
check_types (const QmPlan *plan)
{
  const QmGraph *graph = plan->graph;
  bool wide = plan->recipe.fp8.gradients == QM_FP8_GRADIENTS_E5M2;

  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];
      QmOpCall call;
      bool gradients = node->op == QM_OP_SCALED_WEIGHT_GRAD
                       || (node->op == QM_OP_SCALED_LINEAR
                           && node->phase == QM_PHASE_BACKWARD);

      if (node->op != QM_OP_SCALED_LINEAR
          && node->op != QM_OP_SCALED_WEIGHT_GRAD)
        continue;
      qm_graph_call (graph, node, &call);
      CHECK_INT (call.inputs[0].type,
                 gradients && wide ? QM_TYPE_E5M2 : QM_TYPE_E4M3);
      CHECK_INT (call.inputs[1].type, QM_TYPE_E4M3);
      CHECK_INT (call.inputs[0].shape[1] % QM_SCALED_MULTIPLE, 0);
      CHECK (plan->recipe.fp8.scales == QM_FP8_SCALES_ROW
                 ? call.inputs[2].shape[0] == call.inputs[0].shape[0]
                 : call.inputs[2].shape[0] == 1);
    }
}

/* Each operand has a row of the history, which all that quantise it read, and
 * the first of them notes in the place of that row. */
#define MOST_OPERANDS 64

static void
check_history (const QmPlan *plan)
{
  const QmGraph *graph = plan->graph;
  QmValueId operands[MOST_OPERANDS]; /* by row */
  int64_t rows = 0, known = 0;

  for (int i = 0; i < MOST_OPERANDS; i++)
    operands[i] = QM_NO_VALUE;
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];
      int64_t row;

      if (node->op == QM_OP_NOTE_AMAX)
        rows = qm_graph_tensor (graph, node->inputs[0])->shape[0];
      if (node->op != QM_OP_QUANTIZE)
        continue;
      CHECK (node->inputs[1] != QM_NO_VALUE);
      if (node->inputs[1] == QM_NO_VALUE)
        continue;
      row = graph->values[node->inputs[1]].offset / QM_FP8_HISTORY;
      CHECK_INT (graph->values[node->inputs[1]].offset % QM_FP8_HISTORY, 0);
      CHECK (row < MOST_OPERANDS);
      CHECK ((operands[row] == QM_NO_VALUE)
             == (node->outputs[4] != QM_NO_VALUE));
      if (node->outputs[4] != QM_NO_VALUE)
        CHECK_INT (graph->values[node->outputs[4]].offset, row);
      if (operands[row] == QM_NO_VALUE)
        {
          operands[row] = node->inputs[0];
          known++;
        }
      for (int64_t j = 0; j < MOST_OPERANDS; j++)
        if (operands[j] != QM_NO_VALUE)
          CHECK ((j == row)
                 == qm_graph_same_view (graph, operands[j], node->inputs[0]));
    }
  CHECK_INT (known, rows);
}

/* Four layers of a block are in FP8, of OLMoE's those of attention alone, whose
 * experts and what chooses them are not; without fusion, products of one input
 * are apart. */
static void
test_graph (int model, const QmFp8 *way, int layers)
{
  QmPlanOptions options = { .micro_batch = BATCH, .methods = QM_METHOD_ALL };
  QmPlan *plan = planned (model, QM_PRECISION_FP8, way, &options), *naive;
  const int routers = model == OLMOE ? 2 : 0;

  check_case ("graph");
  if (plan == NULL)
    return;
  check_types (plan);
  if (way->amax == QM_FP8_AMAX_DELAYED)
    check_history (plan);
  CHECK_INT (count (plan, QM_OP_SCALED_LINEAR, QM_PHASE_FORWARD), 2 * layers);
  CHECK_INT (count (plan, QM_OP_SCALED_LINEAR, QM_PHASE_BACKWARD), 2 * layers);
  CHECK_INT (count (plan, QM_OP_SCALED_WEIGHT_GRAD, -1), 2 * layers);
  CHECK_INT (count (plan, QM_OP_LINEAR, -1), 1 + routers);
  CHECK_INT (count (plan, QM_OP_LINEAR_INPUT_GRAD, -1), 1 + routers);
  CHECK_INT (count (plan, QM_OP_LINEAR_WEIGHT_GRAD, -1), 1 + routers);
  CHECK_INT (count (plan, QM_OP_NOTE_AMAX, -1),
             way->amax == QM_FP8_AMAX_DELAYED);
  /* Each weight twice, each gradient once, and inputs, which layers may share,
   * once or twice. */
  CHECK (count (plan, QM_OP_QUANTIZE, -1) > 2 * layers * 3);
  CHECK (count (plan, QM_OP_QUANTIZE, -1) <= 2 * layers * 5);
  options.methods = 0;
  naive = planned (model, QM_PRECISION_FP8, way, &options);
  if (naive != NULL)
    {
      CHECK (count (naive, QM_OP_SCALED_LINEAR, -1)
             >= count (plan, QM_OP_SCALED_LINEAR, -1));
      CHECK_INT (count (naive, QM_OP_LINEAR, -1), 1 + routers);
    }
  qm_plan_free (naive);
  qm_plan_free (plan);
}

static void
make_tokens (int32_t *ids, size_t n)
{
  uint32_t seed = 3;

  /* A word follows from the one before, but for one in eight. */
  for (size_t i = 0; i < n; i++)
    {
      seed = seed * 1664525 + 1013904223;
      ids[i] = i == 0 || seed >> 29 == 0 ? (int32_t) ((seed >> 12) % VOCAB)
                                         : (ids[i - 1] * 5 + 11) % VOCAB;
    }
}

/* Gives biases, which begin as 0, and all else of one row numbers of their own.
 */
static void
move_biases (QmExecutor *executor, const QmGraph *graph)
{
  uint32_t seed = 11;

  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      const QmValueId value = graph->parameters[i].value;
      const QmTensor *tensor = qm_graph_tensor (graph, value);
      float numbers[256];

      if (tensor->rank != 1)
        continue;
      CHECK (tensor->shape[0] <= 256);
      CHECK_INT (qm_executor_read_floats (executor, value, numbers, NULL),
                 QM_OK);
      for (int64_t j = 0; j < tensor->shape[0]; j++)
        {
          seed = seed * 1664525 + 1013904223;
          numbers[j] += (float) (seed >> 8) * 0x1p-24f - 0.5f;
        }
      CHECK_INT (qm_executor_write_floats (executor, value, numbers, NULL),
                 QM_OK);
    }
}

/* The gradients of a pass from the same weights and words; NULL: none. */
static float *
gradients_of (QmDevice *device, QmPlan *plan, size_t *n, float *loss)
{
  int32_t ids[BATCH * LENGTH];
  QmExecutor *executor = NULL;
  float *all = NULL;
  QmError error = { 0 };
  size_t at = 0;

  *n = 0;
  for (size_t i = 0; i < plan->graph->n_parameters; i++)
    *n += (size_t) qm_tensor_elements (
        qm_graph_tensor (plan->graph, plan->graph->parameters[i].value));
  CHECK_INT (qm_executor_new (plan, device, NULL, 5, &executor, &error), QM_OK);
  if (executor == NULL)
    return NULL;
  CHECK_INT ((int64_t) qm_executor_allocated (executor),
             (int64_t) (plan->memory.total - plan->memory.reserved));
  make_tokens (ids, BATCH * LENGTH);
  all = calloc (*n, sizeof *all);
  CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
  move_biases (executor, plan->graph);
  CHECK_INT (qm_executor_write_ints (executor, plan->graph->ids, ids, &error),
             QM_OK);
  if (plan->graph->labels != plan->graph->ids)
    CHECK_INT (qm_executor_write_ints (executor, plan->graph->labels, ids,
                                       &error),
               QM_OK);
  CHECK_INT (qm_executor_pass (executor, true, &error), QM_OK);
  CHECK_INT (qm_executor_read_floats (executor, plan->graph->loss, loss,
                                      &error),
             QM_OK);
  for (size_t i = 0; i < plan->graph->n_parameters; i++)
    {
      const QmParameter *parameter = &plan->graph->parameters[i];

      CHECK_INT (qm_executor_read_floats (executor, parameter->gradient,
                                          all + at, &error),
                 QM_OK);
      at += (size_t) qm_tensor_elements (
          qm_graph_tensor (plan->graph, parameter->value));
    }
  CHECK_STRING (error.message, "");
  qm_executor_free (executor);
  return all;
}

/* Relative, by their norms. */
static double
difference (const float *a, const float *b, size_t n)
{
  double sum = 0, norm = 0;

  for (size_t i = 0; i < n; i++)
    {
      sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
      norm += (double) b[i] * b[i];
    }
  return sqrt (sum / norm);
}

/* E4M3 rounds by up to a sixteenth, E5M2 by up to an eighth, which is a third
 * and a half of that on average, and sums are of several. */
static void
test_gradients (QmDevice *device, int model, unsigned methods)
{
  const QmPlanOptions options = { .micro_batch = BATCH, .methods = methods };
  QmPlan *exact = planned (model, QM_PRECISION_FP32, NULL, &options);
  QmPlan *half = planned (model, QM_PRECISION_BF16, NULL, &options);
  float loss = 0, of_half = 0, of_way = 0;
  size_t n = 0;
  float *truth, *bf16;

  if (exact == NULL || half == NULL)
    return;
  truth = gradients_of (device, exact, &n, &loss);
  bf16 = gradients_of (device, half, &n, &of_half);
  for (size_t i = 0; i < N_WAYS; i++)
    {
      QmPlan *plan = planned (model, QM_PRECISION_FP8, &ways[i], &options);
      float *got =
          plan != NULL ? gradients_of (device, plan, &n, &of_way) : NULL;
      char name[80];

      snprintf (name, sizeof name, "gradients of %d, %u, way %d", model,
                methods, (int) i);
      check_case (name);
      if (got != NULL)
        {
          double error = difference (got, truth, n);

          CHECK_NEAR (of_way, loss, 0.01);
          CHECK (error > 2 * difference (bf16, truth, n));
          CHECK (error < 0.1);
          CHECK (difference (got, bf16, n) > 0.005);
        }
      free (got);
      qm_plan_free (plan);
    }
  free (truth);
  free (bf16);
  qm_plan_free (exact);
  qm_plan_free (half);
}

/* The losses of some steps, which tell little of gradients, whose size is
 * nothing to Adam, and therefore their norms. */
#define MOST_STEPS 500

typedef struct Curve
{
  float losses[MOST_STEPS];
  double norms[MOST_STEPS]; /* of gradients */
  int64_t steps;
} Curve;

static bool
on_step (void *data, const QmTrainStep *step)
{
  Curve *curve = data;

  CHECK (isfinite (step->loss) && !step->skipped);
  curve->losses[step->number - 1] = (float) step->loss;
  curve->norms[step->number - 1] = step->norm;
  return true;
}

static QmStatus
train_steps (QmDevice *device,
             QmPlan *plan,
             QmCommunicator *communicator,
             Curve *curve,
             QmError *error)
{
  static int32_t ids[8192];
  const QmSamples samples = { .ids = ids, .n = 8192 };
  const QmTrainOptions options = { .steps = curve->steps,
                                   .seed = 9,
                                   .communicator = communicator,
                                   .step = on_step,
                                   .data = curve };

  if (communicator == NULL || qm_communicator_rank (communicator) == 0)
    make_tokens (ids, 8192);
  return qm_train (plan, device, &samples, &options, error);
}

static Curve
curve_of (QmDevice *device, QmPlan *plan, int64_t steps)
{
  Curve curve = { .steps = steps };
  QmError error = { 0 };

  if (plan == NULL)
    return curve;
  CHECK_INT (train_steps (device, plan, NULL, &curve, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return curve;
}

static int
same_losses (const Curve *a, const Curve *b)
{
  return memcmp (a->losses, b->losses, (size_t) a->steps * sizeof a->losses[0])
         == 0;
}

static void
check_curves (const Curve *a, const Curve *b)
{
  for (int64_t s = 0; s < a->steps; s++)
    {
      CHECK_NEAR (a->losses[s], b->losses[s], 0.01);
      CHECK_NEAR (a->norms[s], b->norms[s], 0.02);
    }
}

/* Blocks made once more, states on the host, weights fetched and several passes
 * in a step: to the bit, but that sums of passes go through bf16 where they
 * leave the device. */
static void
test_methods (QmDevice *device, int model, const QmFp8 *way)
{
  const int64_t steps = 6;
  QmPlanOptions options = { .micro_batch = 2, .methods = QM_METHOD_ALL };
  QmPlan *plan = planned (model, QM_PRECISION_FP8, way, &options);
  Curve plain = curve_of (device, plan, steps), other;

  check_case ("methods");
  qm_plan_free (plan);
  options.checkpoint = true;
  plan = planned (model, QM_PRECISION_FP8, way, &options);
  if (plan != NULL)
    CHECK (count (plan, QM_OP_QUANTIZE, QM_PHASE_RECOMPUTE) > 0);
  other = curve_of (device, plan, steps);
  CHECK (same_losses (&plain, &other));
  qm_plan_free (plan);
  options.offload = true;
  options.bucket = 2000;
  for (int i = QM_SHARDING_ZERO_1; i <= QM_SHARDING_FSDP_3; i++)
    {
      options.sharding = (QmSharding) i;
      plan = planned (model, QM_PRECISION_FP8, way, &options);
      other = curve_of (device, plan, steps);
      check_curves (&other, &plain);
      CHECK (other.losses[0] == plain.losses[0]);
      qm_plan_free (plan);
    }
}

typedef struct Rank
{
  const QmFp8 *way;
  QmSharding sharding;
  int ranks;
  Curve curve;
} Rank;

static QmStatus
train_rank (void *data,
            int rank,
            QmDevice *device,
            QmCommunicator *communicator,
            QmError *error)
{
  Rank *self = data;
  const QmPlanOptions options = { .micro_batch = 1,
                                  .methods = QM_METHOD_ALL,
                                  .ranks = self->ranks,
                                  .rank = rank,
                                  .sharding = self->sharding,
                                  .bucket = 2000 };
  QmModelConfig config = config_of (LLAMA);
  const QmRecipe recipe = recipe_of (QM_PRECISION_FP8, self->way);
  QmPlan *plan = NULL;
  QmStatus status = qm_plan_new (&config, &recipe, &options, &plan, error);

  if (status == QM_OK)
    CHECK_INT (qm_plan_sums (&options, &recipe),
               qm_sharding_gradients (self->sharding) ? QM_PRECISION_BF16
                                                      : QM_PRECISION_FP32);
  if (status == QM_OK)
    status = train_steps (device, plan, communicator, &self->curve, error);
  qm_plan_free (plan);
  return status;
}

/* Two ranks, each of which has scales of its own samples, beside one. */
static void
test_ranks (const QmFp8 *way)
{
  const RanksPlace place = in_ranks_place ("cpu");
  Rank one[1] = { { .way = way, .ranks = 1, .curve.steps = 6 } };

  check_case ("ranks");
  in_ranks_run (&place, 1, train_rank, one, sizeof one[0]);
  for (int i = QM_SHARDING_NONE; i <= QM_SHARDING_FSDP_3; i++)
    {
      Rank two[2] = { { way, (QmSharding) i, 2, { .steps = 6 } },
                      { way, (QmSharding) i, 2, { .steps = 6 } } };

      in_ranks_run (&place, 2, train_rank, two, sizeof two[0]);
      check_curves (&two[0].curve, &one[0].curve);
    }
}

static double
last_of (const Curve *curve, int64_t n)
{
  double sum = 0;

  for (int64_t i = curve->steps - n; i < curve->steps; i++)
    sum += curve->losses[i];
  return sum / (double) n;
}

/* As low as in bf16, which is far below where it began. */
static void
test_curve (QmDevice *device, int64_t steps)
{
  const QmPlanOptions options = { .micro_batch = BATCH,
                                  .methods = QM_METHOD_ALL };
  QmPlan *plan = planned (LLAMA, QM_PRECISION_BF16, NULL, &options);
  Curve half = curve_of (device, plan, steps);
  const int64_t last = steps / 5;

  qm_plan_free (plan);
  for (size_t i = 0; i < N_WAYS; i++)
    {
      Curve curve;

      check_case ("curve");
      plan = planned (LLAMA, QM_PRECISION_FP8, &ways[i], &options);
      curve = curve_of (device, plan, steps);
      printf ("way %d: %.4f after %.4f, in bf16 %.4f\n", (int) i,
              last_of (&curve, last), curve.losses[0], last_of (&half, last));
      CHECK (!same_losses (&curve, &half));
      CHECK_NEAR (last_of (&curve, last), last_of (&half, last), 0.02);
      CHECK (last_of (&curve, last) < 0.9 * curve.losses[0]);
      qm_plan_free (plan);
    }
}

static void
check_refused (const QmRecipe *recipe,
               const QmPlanOptions *options,
               const char *why)
{
  QmModelConfig config = config_of (LLAMA);
  QmPlan *plan = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_plan_new (&config, recipe, options, &plan, &error),
             QM_STATUS_UNSUPPORTED);
  CHECK_CONTAINS (error.message, why);
  qm_plan_free (plan);
}

/* GPUs that have none, and layers that cannot be. */
static void
test_refused (void)
{
  QmRecipe recipe = recipe_of (QM_PRECISION_FP8, &ways[0]);
  QmPlanOptions options = { .micro_batch = 1, .methods = QM_METHOD_ALL };
  QmModelConfig config;
  QmPlan *plan = NULL;
  QmError error = { 0 };

  check_case ("refused");
  options.target = (QmTarget){ QM_DEVICE_CUDA, 86 };
  check_refused (&recipe, &options, "8.6 has no FP8");
  options.target.architecture = 89;
  recipe.fp8 = ways[2];
  check_refused (&recipe, &options, "a scale for each row");
  recipe.fp8 = ways[0];
  config = config_of (LLAMA);
  config.llama.hidden_size = 40;
  config.llama.head_size = 10;
  options.target = (QmTarget){ QM_DEVICE_CPU, 0 };
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, &error),
             QM_STATUS_UNSUPPORTED);
  CHECK_CONTAINS (error.message, "nothing would be in FP8");
  CHECK (plan == NULL);
}

/* Tokens that are no multiple of 16. */
static void
test_odd_tokens (QmDevice *device, const QmFp8 *way)
{
  QmPlanOptions options = { .micro_batch = 3, .methods = QM_METHOD_ALL };
  QmModelConfig config = config_of (GPT2);
  QmRecipe recipe = recipe_of (QM_PRECISION_FP8, way);
  QmPlan *plan = NULL, *exact = NULL;
  float loss = 0, wanted = 0, *got, *truth;
  size_t n;

  check_case ("odd tokens");
  recipe.sequence_length = 13;
  recipe.batch_size = 3;
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  recipe.precision = QM_PRECISION_FP32;
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &exact, NULL), QM_OK);
  if (plan == NULL || exact == NULL)
    return;
  check_types (plan);
  CHECK_INT (count (plan, QM_OP_SCALED_LINEAR, -1), 2 * 2 * 4);
  CHECK_INT (count (plan, QM_OP_SCALED_WEIGHT_GRAD, -1), 2 * 4);
  got = gradients_of (device, plan, &n, &loss);
  truth = gradients_of (device, exact, &n, &wanted);
  CHECK_NEAR (loss, wanted, 0.01);
  CHECK (difference (got, truth, n) < 0.1);
  free (got);
  free (truth);
  qm_plan_free (plan);
  qm_plan_free (exact);
}

/* Of layers of a bf16 graph, one of which is made padded to so many columns
 * more than it has, and its result to begin at that element of something. */
static int
chosen_of_changed (int64_t more, int64_t offset)
{
  const QmPlanOptions options = { .micro_batch = BATCH };
  QmPlan *plan = planned (GPT2, QM_PRECISION_BF16, NULL, &options);
  QmNode *padded = NULL;
  int n;

  if (plan == NULL)
    return -1;
  for (size_t i = 0; i < plan->graph->n_nodes && padded == NULL; i++)
    {
      QmNode *node = &plan->graph->nodes[i];
      QmOpCall call;

      qm_graph_call (plan->graph, node, &call);
      if (node->op == QM_OP_LINEAR
          && call.inputs[1].shape[0] > call.inputs[1].shape[1])
        padded = node;
    }
  CHECK (padded != NULL);
  if (padded != NULL)
    {
      padded->attributes.padded =
          qm_graph_tensor (plan->graph, padded->inputs[1])->shape[0] + more;
      plan->graph->values[padded->outputs[0]].offset = offset;
    }
  CHECK_INT (qm_pass_fp8 (plan->graph, &ways[0], NULL), QM_OK);
  n = count (plan, QM_OP_SCALED_LINEAR, QM_PHASE_FORWARD);
  qm_plan_free (plan);
  return n;
}

/* Layers that write a part of rows of another number of bytes stay as they are,
 * and so do those with room behind their columns. */
static void
test_left (void)
{
  static const char mamba[] =
      "{\"model_type\": \"mamba\", \"hidden_size\": 32,"
      " \"num_hidden_layers\": 2, \"state_size\": %d, \"time_step_rank\": 16,"
      " \"vocab_size\": 96, \"conv_kernel\": 4, \"expand\": 2}";
  const QmPlanOptions options = { .micro_batch = BATCH,
                                  .methods = QM_METHOD_ALL,
                                  .target = { QM_DEVICE_CUDA, 90 } };
  QmRecipe recipe = recipe_of (QM_PRECISION_FP8, &ways[0]);

  check_case ("left");
  for (int states = 2; states <= 8; states += 6)
    {
      QmModelConfig config = { 0 };
      QmPlan *plan = NULL;
      QmError error = { 0 };
      char text[512];
      int n = snprintf (text, sizeof text, mamba, states);

      CHECK_INT (qm_model_config_parse (text, (size_t) n, "", &config, NULL),
                 QM_OK);
      CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
      if (plan == NULL)
        continue;
      /* Steps of time are 16 of the columns that there are with the states'. */
      CHECK_INT (count (plan, QM_OP_SCALED_LINEAR, QM_PHASE_FORWARD),
                 2 * (states == 2 ? 3 : 4));
      CHECK_INT (count (plan, QM_OP_SCALED_LINEAR, QM_PHASE_BACKWARD),
                 2 * (states == 2 ? 2 : 4));
      qm_plan_free (plan);
    }
  CHECK_INT (chosen_of_changed (0, 8), 2 * 4);
  CHECK_INT (chosen_of_changed (16, 0), 2 * 4 - 1);
  CHECK_INT (chosen_of_changed (0, 4), 2 * 4 - 1);
}

/* Activations, half of which are half as large; and times, which nobody knows.
 */
static void
test_memory (void)
{
  QmPlanOptions options = { .micro_batch = BATCH, .methods = QM_METHOD_ALL };
  QmPlan *half = planned (GPT2, QM_PRECISION_BF16, NULL, &options);
  QmPlan *plan = planned (GPT2, QM_PRECISION_FP8, &ways[0], &options);
  QmPlan *delayed = planned (GPT2, QM_PRECISION_FP8, &ways[1], &options);
  QmWork *work = NULL;
  QmError error = { 0 };

  check_case ("memory");
  if (plan != NULL)
    {
      CHECK_INT (qm_work_new (plan, &work, &error), QM_STATUS_UNSUPPORTED);
      CHECK_CONTAINS (error.message, "FP8 are is not known");
      CHECK (work == NULL);
    }
  if (half != NULL && plan != NULL && delayed != NULL)
    {
      CHECK (plan->memory.live < half->memory.live);
      CHECK_NEAR (qm_plan_fp8_share (half) + 1, 1, 0);
      CHECK (qm_plan_fp8_share (plan) > 0.7 && qm_plan_fp8_share (plan) < 0.95);
      CHECK_INT ((int64_t) plan->memory.weights,
                 (int64_t) half->memory.weights);
      CHECK_INT ((int64_t) plan->memory.optimizer,
                 (int64_t) half->memory.optimizer);
      /* A history for x, w and dy of each layer. */
      CHECK_INT ((int64_t) (delayed->memory.other - plan->memory.other),
                 2 * 4 * 3 * QM_FP8_HISTORY * 4);
    }
  qm_plan_free (half);
  qm_plan_free (plan);
  qm_plan_free (delayed);
}

int
main (void)
{
  const char *full = getenv ("QM_TEST_FULL");
  QmDevice *device = NULL;

  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  for (size_t i = 0; i < N_WAYS; i++)
    {
      test_graph (LLAMA, &ways[i], 4);
      test_graph (GPT2, &ways[i], 4);
      test_graph (OLMOE, &ways[i], 4);
      test_methods (device, LLAMA, &ways[i]);
      test_methods (device, GPT2, &ways[i]);
      test_ranks (&ways[i]);
      test_odd_tokens (device, &ways[i]);
    }
  for (int i = 0; i < N_CONFIGS; i++)
    {
      test_gradients (device, i, 0);
      test_gradients (device, i, QM_METHOD_ALL);
    }
  test_refused ();
  test_left ();
  test_memory ();
  test_curve (device, full != NULL && full[0] == '1' ? MOST_STEPS : 100);
  qm_device_close (device);
  return check_report ();
}
