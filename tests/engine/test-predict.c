/* SPDX-License-Identifier: Apache-2.0 */

/* Predicted times: what is better is faster, whatever it is; power is a limit;
 * a calibration that lacks anything is refused. */

#include "data/architecture.h"
#include "engine/predict.h"
#include "tests/data/check.h"
#include "tests/engine/graph-sums.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = {
  "pythia-160m",     "pythia-1b",  "roberta-large",          "vit-large",
  "convnext-xlarge", "mamba-2.8b", "dinov3-large-supervised"
};
#define N_MODELS (sizeof models / sizeof models[0])

static QmCatalog *catalog;
static QmCalibration calibration;

static QmWork *
work_offloaded (const char *id, int64_t micro_batch, QmSharding sharding)
{
  const QmModel *model = qm_catalog_model (catalog, id);
  const QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                                  .micro_batch = micro_batch,
                                  .methods = QM_METHOD_ALL,
                                  .sharding = sharding,
                                  .offload = sharding != QM_SHARDING_NONE };
  QmPlan *plan = NULL;
  QmWork *work = NULL;
  QmError error = { 0 };

  CHECK (model != NULL);
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          &error),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, &error), QM_OK);
  qm_plan_free (plan);
  return work;
}

static QmWork *
work_of (const char *id, int64_t micro_batch)
{
  return work_offloaded (id, micro_batch, QM_SHARDING_NONE);
}

static double
step_of (const QmWork *work, const QmGpu *gpu, int gpus, const QmLevel *level)
{
  QmSpeeds speeds;
  QmPrediction prediction;
  QmError error = { 0 };

  CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, gpus, QM_INTERCONNECT_OF_GPU,
                               &speeds, &error),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, &error), QM_OK);
  CHECK (prediction.step > 0 && isfinite (prediction.step));
  CHECK (prediction.days_low < prediction.days
         && prediction.days < prediction.days_high);
  CHECK (isnan (speeds.watts) || prediction.watts <= speeds.watts * 1.0001);
  CHECK (prediction.clock <= speeds.power.clock);
  return prediction.step;
}

/* Whether a norm scales what it adds, or lets it through a gate, or is the
 * gradient of one: predicted as the two operators that rates are known of. */
static bool
is_scaled_norm (const QmNode *node)
{
  return (node->op == QM_OP_LAYER_NORM && node->inputs[8] != QM_NO_VALUE)
         || (node->op == QM_OP_LAYER_NORM_BACKWARD
             && node->inputs[10] != QM_NO_VALUE)
         || (node->op == QM_OP_ADAPTIVE_NORM && node->inputs[3] != QM_NO_VALUE)
         || (node->op == QM_OP_ADAPTIVE_NORM_BACKWARD
             && node->inputs[6] != QM_NO_VALUE);
}

/* Calls are put together, and none is lost; what turns what it makes is
 * predicted as two operators, too. */
static void
test_work (void)
{
  for (size_t i = 0; i <= N_MODELS; i++)
    {
      const char *name = i < N_MODELS ? models[i] : "dit-xl-2";
      const QmModel *model = qm_catalog_model (catalog, name);
      const QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                                      .micro_batch = 4,
                                      .methods = QM_METHOD_ALL };
      QmPlan *plan = NULL;
      QmWork *work = NULL;
      QmError error = { 0 };
      double flops = 0, calls = 0, planned = 0, twice = 0, turned = 0;

      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                              &error),
                 QM_OK);
      CHECK_INT (qm_work_new (plan, &work, &error), QM_OK);
      for (size_t j = 0; j < work->n; j++)
        if (!work->rows[j].update)
          {
            flops += work->rows[j].count * work->rows[j].flops;
            calls += work->rows[j].count;
          }
      for (size_t j = 0; j < plan->graph->n_nodes; j++)
        {
          QmOpCall call;

          qm_graph_call (plan->graph, &plan->graph->nodes[j], &call);
          planned += qm_op_flops (&call);
          twice += is_scaled_norm (&plan->graph->nodes[j]);
          turned += call.op == QM_OP_ROTARY_LINEAR
                    || (call.op == QM_OP_ATTENTION_BACKWARD
                        && qm_tensor_present (&call.inputs[7]));
        }
      CHECK (fabs (flops / planned - 1) < 1e-9);
      CHECK (calls == (double) graph_pass_nodes (plan->graph) + twice + turned
             && calls == work->calls);
      CHECK ((twice > 0)
             == (strcmp (name, "dinov3-large-supervised") == 0
                 || strcmp (name, "dit-xl-2") == 0));
      CHECK (work->n < 120);
      CHECK (work->passes == (double) plan->accumulation);
      qm_work_free (work);
      qm_plan_free (plan);
    }
}

/* Of a GPU that is better in one respect no training takes longer. */
static void
test_better_is_faster (void)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t m = 0; m < N_MODELS; m++)
    for (size_t l = 0; l < calibration.n_levels; l++)
      {
        QmWork *work = work_of (models[m], 4);
        const QmLevel *level = &calibration.levels[l];

        for (size_t i = 0; i < n; i++)
          for (int what = 0; what < 5 && qm_gpu_architecture (&gpus[i]) > 0;
               what++)
            {
              QmGpu better = gpus[i];

              better.fp16_tflops *= what == 0 ? 1.5 : 1;
              better.tf32_tflops *= what == 1 ? 1.5 : 1;
              better.memory_bandwidth_gbs *= what == 2 ? 1.5 : 1;
              better.tdp_w *= what == 3 ? 1.5 : 1;
              better.nvlink_gbs *= what == 4 ? 1.5 : 1;
              CHECK (step_of (work, &better, 4, level)
                     <= step_of (work, &gpus[i], 4, level) * (1 + 1e-9));
            }
        qm_work_free (work);
      }
}

static QmWay
way_of (const char *id, int gpus, QmInterconnect link, double *exchange)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, id);
  QmSpeeds speeds;
  QmError error = { 0 };

  CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, gpus, link, &speeds, &error),
             QM_OK);
  *exchange = speeds.exchange;
  return speeds.way;
}

/* A board, a card with a bridge, one that reads its neighbours' memory, and one
 * that does not. */
static void
test_ways_to_exchange (void)
{
  double board, bridge, peers, host;

  CHECK_INT (way_of ("a100-80gb-sxm", 8, QM_INTERCONNECT_OF_GPU, &board),
             QM_WAY_NVLINK);
  CHECK_INT (way_of ("a100-80gb-pcie", 2, QM_INTERCONNECT_NVLINK, &bridge),
             QM_WAY_NVLINK);
  CHECK_INT (way_of ("a100-80gb-pcie", 2, QM_INTERCONNECT_OF_GPU, &peers),
             QM_WAY_PCIE);
  CHECK (board == bridge && bridge > 5 * peers);
  CHECK_INT (way_of ("a100-80gb-pcie", 4, QM_INTERCONNECT_NVLINK, &bridge),
             QM_WAY_PCIE);
  CHECK_INT (way_of ("h200-141gb-nvl", 4, QM_INTERCONNECT_NVLINK, &bridge),
             QM_WAY_NVLINK);
  CHECK_INT (way_of ("rtxpro6000-ws", 4, QM_INTERCONNECT_OF_GPU, &peers),
             QM_WAY_PCIE);
  CHECK_INT (way_of ("rtx5090", 4, QM_INTERCONNECT_OF_GPU, &host), QM_WAY_HOST);
  CHECK (host < peers);
  CHECK_INT (way_of ("rtx4090", 2, QM_INTERCONNECT_NVLINK, &host), QM_WAY_HOST);
  CHECK_INT (way_of ("rtx3090", 2, QM_INTERCONNECT_OF_GPU, &host), QM_WAY_HOST);
  CHECK_INT (way_of ("rtx3090", 2, QM_INTERCONNECT_NVLINK, &bridge),
             QM_WAY_NVLINK);
  CHECK_INT (way_of ("a100-80gb-sxm", 8, QM_INTERCONNECT_PCIE, &peers),
             QM_WAY_PCIE);
  CHECK (bridge > host && board > peers);
}

static bool
is_no_worse (const QmGpu *a, const QmGpu *b)
{
  return qm_gpu_architecture (a) >= qm_gpu_architecture (b)
         && a->fp16_tflops >= b->fp16_tflops && a->tf32_tflops >= b->tf32_tflops
         && a->fp32_tflops >= b->fp32_tflops
         && a->memory_bandwidth_gbs >= b->memory_bandwidth_gbs
         && a->tdp_w >= b->tdp_w && a->multiprocessors >= b->multiprocessors
         && a->fp16_tflops / a->multiprocessors
                >= b->fp16_tflops / b->multiprocessors;
}

/* As it would be trained with that software. */
static QmWork *
work_of_level (const QmModel *model, const char *level)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .micro_batch = 8,
                            .methods = QM_METHOD_ALL };
  QmPlan *plan = NULL;
  QmWork *work = NULL;
  QmError error = { 0 };

  if (strcmp (level, "eager") == 0)
    options.methods = QM_METHOD_KERNELS | QM_METHOD_TF32;
  if (strcmp (level, "naive") == 0)
    options.methods = 0;
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          &error),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, &error), QM_OK);
  qm_plan_free (plan);
  return work;
}

/* Counts the pairs of GPUs of which the first is at least as good. */
static size_t
check_pairs (const QmGpu *gpus, const double *steps, size_t n, const char *what)
{
  size_t pairs = 0;

  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      if (i != j && steps[i] > 0 && steps[j] > 0
          && is_no_worse (&gpus[i], &gpus[j]))
        {
          pairs++;
          if (steps[i] > steps[j] * 1.02)
            fprintf (stderr, "%s: %s takes %.3f of %s\n", what, gpus[i].id,
                     steps[i] / steps[j], gpus[j].id);
          CHECK (steps[i] <= steps[j] * 1.02);
        }
  return pairs;
}

/* No GPU of the catalog that is at least as good in every column is predicted
 * to be more than 2 % slower, of any model, with any software. */
static void
test_order_of_gpus (void)
{
  size_t n, n_models;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  const QmModel *all = qm_catalog_models (catalog, &n_models);
  double *steps = calloc (n, sizeof *steps);

  CHECK (n_models >= 9);
  for (size_t m = 0; m < n_models; m++)
    for (size_t l = 0; l < calibration.n_levels; l++)
      {
        const QmLevel *level = &calibration.levels[l];
        QmWork *work = work_of_level (&all[m], level->name);
        char what[128];

        for (size_t i = 0; i < n; i++)
          steps[i] = qm_gpu_architecture (&gpus[i]) > 0
                         ? step_of (work, &gpus[i], 1, level)
                         : 0;
        snprintf (what, sizeof what, "%s, %s", all[m].id, level->name);
        CHECK (check_pairs (gpus, steps, n, what) > 100);
        qm_work_free (work);
      }
  free (steps);
}

/* A product takes as many rounds as its tiles need: one tile more than there
 * are multiprocessors takes as long as nearly twice as many; fewer than half
 * are shared.  Where it is not known how many there are, none is left idle. */
static void
test_waves (void)
{
  static const struct
  {
    double rows, columns, inner, multiprocessors;
    double waves, tiles; /* rounds, and what they would be if all had work */
    double groups;
  } cases[] = {
    { 1280, 1280, 4096, 100, 1, 1 },
    { 1280, 1281, 4096, 100, 2, 1.1 },
    { 1280, 2560, 4096, 100, 2, 2 },
    { 640, 1280, 4096, 100, 1, 1 },
    { 640, 1280, 1000, 100, 1, 0.5 },
    { 128, 128, 65536, 100, 1, 0.64 },
    { 1280, 1281, 4096, NAN, 1.1, 1.1 },
    /* Ten groups of 128 rows, and of 129, which need two tiles each. */
    { 1280, 1281, 4096, 100, 2, 1.1, 10 },
    { 1290, 1281, 4096, 100, 3, 2.2, 10 },
  };
  const QmLevel *level = qm_calibration_level (&calibration, "engine");

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmWorkRow row = { .op = QM_OP_LINEAR,
                        .count = 1,
                        .flops = 1e15,
                        .inner = cases[i].inner,
                        .rows = cases[i].rows,
                        .columns = cases[i].columns,
                        .groups = cases[i].groups };
      QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };
      QmGpu gpu = *qm_catalog_gpu (catalog, "h200-141gb-sxm");
      double full;

      gpu.tdp_w = 1e5;
      gpu.multiprocessors = NAN;
      full = step_of (&work, &gpu, 1, level);
      gpu.multiprocessors = cases[i].multiprocessors;
      CHECK (fabs (step_of (&work, &gpu, 1, level) / full
                   - cases[i].waves / cases[i].tiles)
             < 1e-3);
    }
}

/* Seconds of a call of its own, of an H200 that power does not limit. */
static double
seconds_of_row (QmWorkRow row, const char *level)
{
  QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };
  QmGpu gpu = *qm_catalog_gpu (catalog, "h200-141gb-sxm");

  gpu.tdp_w = 1e5;
  row.count = 1;
  return step_of (&work, &gpu, 1, qm_calibration_level (&calibration, level));
}

/* What rows without alignment, and an activation without a kernel, cost:
 * compiled PyTorch pads those rows, of other engines nobody knows better, and
 * all else loads them element by element: several times longer in 16 bits,
 * about twice in TF32, no longer in fp32. */
static void
test_simple_operators (void)
{
  static const struct
  {
    const char *level;
    double unaligned, most; /* how many times longer, about */
    bool composed;          /* whether it takes longer */
  } cases[] = { { "engine", 3, 8, false },
                { "cuda", 1, 1, false },
                { "tuned", 1.05, 2, false },
                { "eager", 3, 8, true },
                { "naive", 3, 8, true } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      const char *level = cases[i].level;
      /* 8192 x 1024 by 1024 x 50257, tiles of 128 a side. */
      const double flops = 2.0 * 8192 * 1024 * 50304;
      QmWorkRow row = { .op = QM_OP_LINEAR, .flops = flops, .inner = 1024 };
      QmWorkRow narrow = row;
      double longer, half;

      narrow.unaligned = true;
      narrow.accesses = flops / 2 / 1024 * (2 * 1024 / 128.0 + 1);
      longer = seconds_of_row (narrow, level) / seconds_of_row (row, level);
      CHECK (longer > cases[i].unaligned * (1 - 1e-9)
             && longer < cases[i].most * (1 + 1e-9));
      row.arithmetic = narrow.arithmetic = QM_ARITHMETIC_TF32;
      half = seconds_of_row (narrow, level) / seconds_of_row (row, level);
      CHECK (half < longer * 1.001);
      row.arithmetic = narrow.arithmetic = QM_ARITHMETIC_FP32;
      CHECK_NEAR (seconds_of_row (narrow, level) / seconds_of_row (row, level),
                  1, 1e-9);
      row = (QmWorkRow){ .op = QM_OP_ACTIVATION, .bytes = 1e12 };
      longer = seconds_of_row (row, level);
      row.composed = true;
      longer = seconds_of_row (row, level) / longer;
      CHECK (cases[i].composed ? longer > 5 : fabs (longer - 1) < 1e-9);
    }
}

/* What a softmax takes grows with the length of its rows by more than what it
 * moves where PyTorch can keep them no more, and of ours where its threads have
 * room for twice as many. */
static void
test_softmax (void)
{
  static const struct
  {
    const char *level;
    double kept, longer; /* columns */
    QmOp op;
    double times;
  } cases[] = { { "naive", 2048, 2049, QM_OP_SOFTMAX, 2 },
                { "naive", 2048, 2049, QM_OP_SOFTMAX_BACKWARD, 5.0 / 3 },
                { "naive", 512, 2048, QM_OP_SOFTMAX, 1 },
                { "engine", 2048, 4096, QM_OP_SOFTMAX, 1 },
                { "engine", 2048, 2304, QM_OP_SOFTMAX, 4096.0 / 2304 } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmWorkRow row = { .op = cases[i].op,
                        .bytes = 1e12,
                        .columns = cases[i].kept };
      double kept = seconds_of_row (row, cases[i].level);

      row.columns = cases[i].longer;
      CHECK_NEAR (seconds_of_row (row, cases[i].level) / kept, cases[i].times,
                  1e-3);
    }
}

/* Unfused attention over so many tokens: its products, of a plan of Pythia. */
static QmWorkRow
unfused_row (int64_t tokens)
{
  const QmModel *model = qm_catalog_model (catalog, "pythia-160m");
  QmRecipe recipe = model->recipe;
  QmPlanOptions options = { .micro_batch = 1 };
  QmPlan *plan = NULL;
  QmWork *work = NULL;
  QmWorkRow row = { 0 };

  recipe.sequence_length = tokens;
  CHECK_INT (qm_plan_new (&model->config, &recipe, &options, &plan, NULL),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  for (size_t i = 0; work != NULL && i < work->n; i++)
    if (work->rows[i].op == QM_OP_MATMUL && row.count == 0)
      row = work->rows[i];
  qm_work_free (work);
  qm_plan_free (plan);
  return row;
}

/* All pairs are computed, in tiles of 64, and element by element where rows of
 * scores are no multiple of 16 bytes: so one token more costs several times as
 * much (four, measured on an H200 with cuBLAS, 26 November 2026). */
static void
test_unfused (void)
{
  static const char *const levels[] = { "engine", "naive" };
  const double heads = 12, width = 64;
  QmWorkRow even = unfused_row (2048), odd = unfused_row (2049);
  QmWorkRow half = unfused_row (2052);

  CHECK_NEAR (even.computed, 2 * heads * 2048 * 2048 * width, 1e-9);
  CHECK_NEAR (odd.computed, 2 * heads * 2112 * 2112 * width, 1e-9);
  CHECK_NEAR (even.accesses, heads * 2048 * 2048 * (2 * width / 64 + 1) / 8,
              1e-9);
  CHECK_NEAR (odd.accesses, heads * 2112 * 2112 * (2 * width / 64 + 1), 1e-9);
  CHECK_NEAR (half.accesses, odd.accesses / 4, 1e-9);
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
    {
      double times =
          seconds_of_row (odd, levels[i]) / seconds_of_row (even, levels[i]);

      CHECK (times > 1.8 && times < 6);
    }
}

/* Rows of a plan of GPT-2 with that vocabulary and activation. */
static void
count_simple (const char *vocabulary,
              const char *activation,
              int *unaligned,
              int *composed)
{
  char text[256];
  QmModelConfig config;
  QmRecipe recipe = qm_catalog_model (catalog, "gpt2-124m")->recipe;
  QmPlanOptions options = { .micro_batch = 1, .methods = QM_METHOD_TF32 };
  QmPlan *plan = NULL;
  QmWork *work = NULL;

  snprintf (text, sizeof text,
            "{\"model_type\": \"gpt2\", \"architectures\": "
            "[\"GPT2LMHeadModel\"], \"n_layer\": 2, \"vocab_size\": %s, "
            "\"activation_function\": \"%s\"}",
            vocabulary, activation);
  CHECK_INT (qm_model_config_parse (text, strlen (text), "config", &config,
                                    NULL),
             QM_OK);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "recipe", NULL), QM_OK);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  *unaligned = *composed = 0;
  for (size_t i = 0; work != NULL && i < work->n; i++)
    {
      *unaligned += work->rows[i].unaligned;
      *composed += work->rows[i].composed;
    }
  qm_work_free (work);
  qm_plan_free (plan);
}

/* The head, its two gradients; the activation and its gradient. */
static void
test_simple_rows (void)
{
  int unaligned, composed;

  count_simple ("50257", "gelu_new", &unaligned, &composed);
  CHECK_INT (unaligned, 3);
  CHECK_INT (composed, 2);
  count_simple ("50304", "gelu_pytorch_tanh", &unaligned, &composed);
  CHECK_INT (unaligned, 0);
  CHECK_INT (composed, 0);
}

/* A card's interval is no narrower than a board's, of any level. */
static void
test_spreads (void)
{
  const QmGpu *board = qm_catalog_gpu (catalog, "a100-80gb-sxm");
  const QmGpu *card = qm_catalog_gpu (catalog, "a100-80gb-pcie");
  QmGpu unstated = *board;

  unstated.cooling = QM_GPU_COOLING_UNSTATED;
  CHECK_INT (qm_constant_spread (board), QM_CONSTANT_SPREAD);
  CHECK_INT (qm_constant_spread (card), QM_CONSTANT_SPREAD_CARDS);
  CHECK_INT (qm_constant_spread (&unstated), QM_CONSTANT_SPREAD_CARDS);
  for (size_t i = 0; i < calibration.n_levels; i++)
    {
      const double *constants = calibration.levels[i].constants;
      QmWork *work = work_of ("pythia-1b", 8);
      QmSpeeds speeds;
      QmPrediction prediction;
      QmError error = { 0 };

      CHECK (constants[QM_CONSTANT_SPREAD_CARDS]
             >= constants[QM_CONSTANT_SPREAD]);
      CHECK_INT (qm_speeds_of_gpu (&calibration, card, 1,
                                   QM_INTERCONNECT_OF_GPU, &speeds, &error),
                 QM_OK);
      CHECK_INT (qm_predict (work, &speeds, &calibration.levels[i], &prediction,
                             &error),
                 QM_OK);
      CHECK (fabs (log (prediction.days_high / prediction.days)
                   - constants[QM_CONSTANT_SPREAD_CARDS])
             < 1e-9);
      qm_work_free (work);
    }
}

/* A board that may draw less runs slower, and never faster than it may. */
static void
test_power (void)
{
  QmGpu gpu = *qm_catalog_gpu (catalog, "h200-141gb-sxm");
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  QmWork *work = work_of ("pythia-1b", 32);
  double before = INFINITY;

  for (double watts = 200; watts < 1500; watts += 100)
    {
      double step;

      gpu.tdp_w = watts;
      step = step_of (work, &gpu, 1, level);
      CHECK (step <= before);
      before = step;
    }
  gpu.tdp_w = 700;
  CHECK (step_of (work, &gpu, 1, level) > before * 1.2);
  qm_work_free (work);
}

static const QmSharding offloads[] = { QM_SHARDING_ZERO_1, QM_SHARDING_ZERO_2,
                                       QM_SHARDING_ZERO_3, QM_SHARDING_FSDP_2,
                                       QM_SHARDING_FSDP_3 };
#define N_OFFLOADS (sizeof offloads / sizeof offloads[0])

/* What moves is what the way to offload says: gradients once in every pass, and
 * weights once or twice, in the type of the products; with the update what does
 * not move in passes. */
static void
test_what_moves (void)
{
  for (size_t m = 0; m < N_MODELS; m++)
    for (size_t i = 0; i < N_OFFLOADS; i++)
      {
        QmWork *work = work_offloaded (models[m], 4, offloads[i]);
        double all = work->parameters * (double) qm_type_size (work->type);

        if (qm_sharding_gradients (offloads[i]))
          CHECK (work->down > all * 0.98 && work->down < all * 1.02);
        else
          CHECK (work->down <= 0);
        if (qm_sharding_weights (offloads[i]))
          CHECK (work->up > all * 0.95 && work->up < all * 2.02);
        else
          CHECK (work->up <= 0);
        CHECK_NEAR (work->update_down,
                    qm_sharding_gradients (offloads[i]) ? 0
                                                        : work->parameters * 4,
                    0);
        CHECK_NEAR (work->update_up,
                    qm_sharding_weights (offloads[i]) ? 0 : all, 0);
        for (size_t j = 0; j < work->n; j++)
          CHECK (work->rows[j].op != QM_OP_FETCH
                 && work->rows[j].op != QM_OP_SEND);
        qm_work_free (work);
      }
}

/* Offloading is never faster than the pass alone; with more parameters, fewer
 * lanes or a slower host it is not faster. */
static void
check_offload (const QmWork *work, const QmGpu *gpu, int gpus)
{
  const QmLevel *level = qm_calibration_level (&calibration, "tuned");
  const double step = step_of (work, gpu, gpus, level);
  const QmHostSpeeds host = calibration.host;
  QmWork more = *work;
  QmGpu better = *gpu;
  QmSpeeds speeds;
  QmPrediction prediction;

  more.parameters *= 1.5;
  more.down *= 1.5;
  more.up *= 1.5;
  CHECK (step_of (&more, gpu, gpus, level) > step);
  better.pcie_generation++;
  CHECK (step_of (work, &better, gpus, level) <= step);
  better = *gpu;
  better.pcie_lanes *= 2;
  CHECK (step_of (work, &better, gpus, level) <= step);
  calibration.host.adam *= 2;
  CHECK (step_of (work, gpu, gpus, level) > step);
  /* An average of weights is read and written, too. */
  more = *work;
  more.averaged = true;
  CHECK (step_of (&more, gpu, gpus, level) > step_of (work, gpu, gpus, level));
  calibration.host = host;
  calibration.host.add *= 2;
  CHECK (step_of (work, gpu, gpus, level) >= step);
  calibration.host = host;
  CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, gpus, QM_INTERCONNECT_OF_GPU,
                               &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, NULL), QM_OK);
  CHECK (prediction.pass >= prediction.alone);
  /* All GPUs share the host. */
  CHECK (prediction.update >= work->parameters * host.adam);
}

static void
test_offload (void)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t m = 0; m < N_MODELS; m++)
    for (size_t i = 0; i < N_OFFLOADS; i++)
      {
        QmWork *work = work_offloaded (models[m], 2, offloads[i]);

        for (size_t j = 0; j < n; j++)
          if (qm_gpu_architecture (&gpus[j]) > 0 && gpus[j].pcie_lanes > 0)
            {
              check_offload (work, &gpus[j], 1);
              check_offload (work, &gpus[j], 8);
            }
        qm_work_free (work);
      }
}

/* What waits for the host says so: a GPU on one lane does. */
static void
test_bound_by_host (void)
{
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  QmGpu gpu = *qm_catalog_gpu (catalog, "h100-80gb-sxm");
  QmWork *work = work_offloaded ("pythia-1b", 1, QM_SHARDING_FSDP_3);
  QmSpeeds speeds;
  QmPrediction prediction;

  gpu.pcie_lanes = 1;
  CHECK_INT (qm_speeds_of_gpu (&calibration, &gpu, 1, QM_INTERCONNECT_OF_GPU,
                               &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, NULL), QM_OK);
  CHECK (prediction.bound == QM_BOUND_HOST);
  CHECK (prediction.pass > work->up / speeds.host.copies);
  gpu.pcie_lanes = NAN;
  CHECK_INT (qm_speeds_of_gpu (&calibration, &gpu, 1, QM_INTERCONNECT_OF_GPU,
                               &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, NULL),
             QM_STATUS_UNSUPPORTED);
  qm_work_free (work);
}

static void
test_refusals (void)
{
  QmSpeeds speeds;
  QmError error = { 0 };

  CHECK (qm_speeds_of_gpu (&calibration, qm_catalog_gpu (catalog, "mi300x"), 1,
                           QM_INTERCONNECT_OF_GPU, &speeds, &error)
         == QM_STATUS_UNSUPPORTED);
  CHECK_INT (qm_speeds_of_gpu (&calibration,
                               qm_catalog_gpu (catalog, "rtx4090"), 1,
                               QM_INTERCONNECT_OF_GPU, &speeds, &error),
             QM_OK);
}

static QmStatus
load_text (const char *text)
{
  QmCalibration read;
  QmError error = { 0 };

  scratch_write_text ("calibration.csv", text);
  return qm_calibration_load (scratch_path ("calibration.csv"), &read, &error);
}

#define HEAD "scope,name,constant,value,basis\n"

static void
test_files (void)
{
  static const char *const broken[] = {
    "",
    HEAD,
    HEAD "level,tuned,product-16,0.9,fit\n",
    HEAD "level,tuned,product-17,0.9,fit\n",
    HEAD "level,tuned,product-16,-1,fit\n",
    HEAD "level,tuned,product-16,nan,fit\n",
    HEAD "level,tuned,product-16,,fit\n",
    HEAD "generation,90,clock,1,fit\n",
    HEAD "generation,x,clock,1,fit\n",
    HEAD "power,all,nonsense,1,fit\n",
    HEAD "elsewhere,all,base,1,fit\n",
  };
  char many[8192] = HEAD;

  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    CHECK (load_text (broken[i]) != QM_OK);
  for (int i = 0; i < 40; i++)
    snprintf (many + strlen (many), sizeof many - strlen (many),
              "level,level-%d,product-16,1,fit\ngeneration,%d,clock,1,fit\n", i,
              i + 1);
  CHECK (load_text (many) != QM_OK);
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  QmError error = { 0 };

  scratch_begin ();
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  test_work ();
  test_better_is_faster ();
  test_order_of_gpus ();
  test_waves ();
  test_simple_operators ();
  test_softmax ();
  test_unfused ();
  test_simple_rows ();
  test_spreads ();
  test_power ();
  test_ways_to_exchange ();
  test_what_moves ();
  test_offload ();
  test_bound_by_host ();
  test_refusals ();
  test_files ();
  qm_catalog_free (catalog);
  scratch_end ();
  return check_report ();
}
