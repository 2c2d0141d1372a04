/* SPDX-License-Identifier: Apache-2.0 */

/* Every operator has a time; those of decoders like Llama, in a
 * layer of a decoder made by hand: heads of queries that share keys, windows,
 * gates, norms over squares. */

#include "data/flops.h"
#include "engine/predict.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A layer's shapes: of Llama 3 8B (Grattafiori et al. 2024), of one sequence.
 */
#define SEQUENCE   4096
#define HIDDEN     4096
#define HEADS      32
#define GROUPS     8
#define HEAD       128
#define BETWEEN    14336
#define VOCABULARY 128256

static QmCatalog *catalog;
static QmCalibration calibration;

static QmValueId
value (QmGraph *graph, QmType type, int64_t rows, int64_t columns)
{
  return qm_graph_value (graph, QM_ROLE_TEMPORARY, type, 2,
                         (int64_t[]){ rows, columns }, "value");
}

static QmValueId
heads (QmGraph *graph, int64_t n)
{
  return qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_BF16, 4,
                         (int64_t[]){ 1, n, SEQUENCE, HEAD }, "heads");
}

static QmValueId
row_of (QmGraph *graph, int64_t n)
{
  return qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                         (int64_t[]){ n }, "row");
}

static void
add_product (QmGraph *graph, int64_t out, int64_t in)
{
  QmValueId x = value (graph, QM_TYPE_BF16, SEQUENCE, in);
  QmValueId y = value (graph, QM_TYPE_BF16, SEQUENCE, out);
  QmValueId weight = value (graph, QM_TYPE_BF16, out, in);
  QmNode *node = qm_graph_append (graph, QM_OP_LINEAR);

  node->inputs[0] = x;
  node->inputs[1] = weight;
  node->outputs[0] = y;
  node = qm_graph_append (graph, QM_OP_LINEAR_INPUT_GRAD);
  node->inputs[0] = y;
  node->inputs[1] = weight;
  node->outputs[0] = value (graph, QM_TYPE_BF16, SEQUENCE, in);
  node = qm_graph_append (graph, QM_OP_LINEAR_WEIGHT_GRAD);
  node->inputs[0] = y;
  node->inputs[1] = x;
  node->outputs[0] = value (graph, QM_TYPE_F32, out, in);
}

static void
add_attention (QmGraph *graph, int64_t groups, int64_t window)
{
  QmValueId q = heads (graph, HEADS), k = heads (graph, groups);
  QmValueId v = heads (graph, groups), o = heads (graph, HEADS);
  QmValueId lse = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 3,
                                  (int64_t[]){ 1, HEADS, SEQUENCE }, "lse");
  QmNode *node = qm_graph_append (graph, QM_OP_ATTENTION);
  const QmAttributes attributes = { .causal = QM_CAUSAL_RESULT,
                                    .window = window,
                                    .scale = 1 };

  node->attributes = attributes;
  node->inputs[0] = q;
  node->inputs[1] = k;
  node->inputs[2] = v;
  node->outputs[0] = o;
  node->outputs[1] = lse;
  node = qm_graph_append (graph, QM_OP_ATTENTION_BACKWARD);
  node->attributes = attributes;
  node->inputs[0] = heads (graph, HEADS);
  node->inputs[1] = q;
  node->inputs[2] = k;
  node->inputs[3] = v;
  node->inputs[4] = o;
  node->inputs[5] = lse;
  node->outputs[0] = heads (graph, HEADS);
  node->outputs[1] = heads (graph, groups);
  node->outputs[2] = heads (graph, groups);
}

/* Of sums of fp32, with `rms` or with a mean. */
static void
add_norm (QmGraph *graph, bool rms)
{
  QmValueId sum = value (graph, QM_TYPE_F32, SEQUENCE, HIDDEN);
  QmValueId gamma = row_of (graph, HIDDEN), rstd = row_of (graph, SEQUENCE);
  QmValueId mean = rms ? QM_NO_VALUE : row_of (graph, SEQUENCE);
  QmNode *node = qm_graph_append (graph, QM_OP_LAYER_NORM);

  node->attributes.rms = rms;
  node->inputs[0] = sum;
  node->inputs[1] = gamma;
  node->inputs[2] = rms ? QM_NO_VALUE : row_of (graph, HIDDEN);
  node->outputs[0] = value (graph, QM_TYPE_BF16, SEQUENCE, HIDDEN);
  node->outputs[1] = mean;
  node->outputs[2] = rstd;
  node = qm_graph_append (graph, QM_OP_LAYER_NORM_BACKWARD);
  node->attributes.rms = rms;
  node->inputs[0] = value (graph, QM_TYPE_BF16, SEQUENCE, HIDDEN);
  node->inputs[1] = sum;
  node->inputs[2] = gamma;
  node->inputs[3] = mean;
  node->inputs[4] = rstd;
  node->outputs[0] = value (graph, QM_TYPE_F32, SEQUENCE, HIDDEN);
  node->outputs[1] = row_of (graph, HIDDEN);
  node->outputs[2] = rms ? QM_NO_VALUE : row_of (graph, HIDDEN);
}

static void
add_gate (QmGraph *graph)
{
  QmValueId values[6];
  QmNode *node;

  for (int i = 0; i < 6; i++)
    values[i] = value (graph, QM_TYPE_BF16, SEQUENCE, BETWEEN);
  node = qm_graph_append (graph, QM_OP_GATE);
  node->attributes.activation = QM_FUNCTION_SILU;
  node->inputs[0] = values[0];
  node->inputs[1] = values[1];
  node->outputs[0] = values[2];
  node = qm_graph_append (graph, QM_OP_GATE_BACKWARD);
  node->attributes.activation = QM_FUNCTION_SILU;
  node->inputs[0] = values[3];
  node->inputs[1] = values[0];
  node->inputs[2] = values[1];
  node->outputs[0] = values[4];
  node->outputs[1] = values[5];
}

static void
add_repeats (QmGraph *graph)
{
  QmNode *node = qm_graph_append (graph, QM_OP_REPEAT_HEADS);

  node->inputs[0] = heads (graph, GROUPS);
  node->outputs[0] = heads (graph, HEADS);
  node = qm_graph_append (graph, QM_OP_REPEAT_HEADS_BACKWARD);
  node->inputs[0] = heads (graph, HEADS);
  node->outputs[0] = heads (graph, GROUPS);
}

static void
add_loss (QmGraph *graph)
{
  QmValueId labels = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                                     (int64_t[]){ 1, SEQUENCE }, "labels");
  QmNode *node;

  add_product (graph, VOCABULARY, HIDDEN);
  node = qm_graph_append (graph, QM_OP_CROSS_ENTROPY);
  node->inputs[0] = value (graph, QM_TYPE_BF16, SEQUENCE, VOCABULARY);
  node->inputs[1] = labels;
  node->inputs[2] = row_of (graph, 2);
  node->outputs[0] = value (graph, QM_TYPE_BF16, SEQUENCE, VOCABULARY);
  node->outputs[1] = row_of (graph, SEQUENCE);
}

/* The work of a graph, which it frees; every call of it is one that kernels
 * take. */
static QmWork *
work_of (QmGraph *graph)
{
  const QmPlan plan = {
    .recipe = { .batch_size = 1, .steps = 1 },
    .accumulation = 1,
    .type = QM_TYPE_BF16,
    .parts = 1,
    .graph = graph,
  };
  QmWork *work = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_graph_status (graph, &error), QM_OK);
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      QmOpCall call;

      qm_graph_call (graph, &graph->nodes[i], &call);
      CHECK_INT (qm_op_check (&call, &error), QM_OK);
      CHECK_STRING (error.message, "");
    }
  CHECK_INT (qm_work_new (&plan, &work, &error), QM_OK);
  qm_graph_free (graph);
  return work;
}

static double
pass_of (const QmWork *work, const char *level, double *by_op)
{
  QmSpeeds speeds;
  QmPrediction prediction;
  QmError error = { 0 };

  CHECK_INT (qm_speeds_of_gpu (&calibration,
                               qm_catalog_gpu (catalog, "h100-80gb-sxm"), 1,
                               QM_INTERCONNECT_OF_GPU, &speeds, &error),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds,
                         qm_calibration_level (&calibration, level),
                         &prediction, &error),
             QM_OK);
  if (by_op != NULL)
    memcpy (by_op, prediction.by_op, sizeof prediction.by_op);
  return prediction.pass;
}

/* What one kind of call takes forward and backward, made by `add`. */
static double
pair_of (void (*add) (QmGraph *), const char *level)
{
  QmGraph *graph = qm_graph_new ();
  QmWork *work;
  double pass;

  add (graph);
  work = work_of (graph);
  pass = pass_of (work, level, NULL);
  qm_work_free (work);
  return pass;
}

/* A layer and the loss: its operations are those that a formula has, it takes
 * what the peak allows and no more than some times that, and every operator of
 * it counts. */
static void
test_layer (void)
{
  static const QmOp ops[] = { QM_OP_LINEAR,
                              QM_OP_LINEAR_INPUT_GRAD,
                              QM_OP_LINEAR_WEIGHT_GRAD,
                              QM_OP_ATTENTION,
                              QM_OP_ATTENTION_BACKWARD,
                              QM_OP_LAYER_NORM,
                              QM_OP_LAYER_NORM_BACKWARD,
                              QM_OP_GATE,
                              QM_OP_GATE_BACKWARD,
                              QM_OP_CROSS_ENTROPY };
  const double kv = GROUPS * HEAD;
  const double weights = HIDDEN * (2.0 * HIDDEN + 2 * kv)
                         + 3.0 * HIDDEN * BETWEEN + HIDDEN * VOCABULARY;
  const double flops =
      6 * weights * SEQUENCE
      + 3 * 2.0 * HEADS * HEAD * SEQUENCE * SEQUENCE; /* causal: half of 4 */
  QmGraph *graph = qm_graph_new ();
  QmWork *work;
  double counted = 0;

  add_norm (graph, true);
  add_product (graph, HIDDEN + 2 * (int64_t) kv, HIDDEN);
  add_attention (graph, GROUPS, 0);
  add_product (graph, HIDDEN, HIDDEN);
  add_norm (graph, true);
  add_product (graph, BETWEEN, HIDDEN);
  add_product (graph, BETWEEN, HIDDEN);
  add_gate (graph);
  add_product (graph, HIDDEN, BETWEEN);
  add_loss (graph);
  work = work_of (graph);
  for (size_t i = 0; i < work->n; i++)
    counted += work->rows[i].count * work->rows[i].flops;
  CHECK_NEAR (counted / flops, 1, 1e-12);
  for (size_t i = 0; i < calibration.n_levels; i++)
    {
      double by_op[QM_OP_COUNT], sum = 0;
      double pass = pass_of (work, calibration.levels[i].name, by_op);

      for (int op = 0; op < QM_OP_COUNT; op++)
        sum += by_op[op];
      for (size_t j = 0; j < sizeof ops / sizeof ops[0]; j++)
        CHECK (by_op[ops[j]] > 0);
      CHECK (sum <= pass * (1 + 1e-9));
      CHECK (pass > flops / 989.4e12 && pass < 6 * flops / 989.4e12);
    }
  qm_work_free (work);
}

/* Attention by itself: forward and backward. */
static double
attention_of (int64_t groups, int64_t window, double *length)
{
  QmGraph *graph = qm_graph_new ();
  QmWork *work;
  double pass;

  add_attention (graph, groups, window);
  work = work_of (graph);
  CHECK_INT (work->n, 2);
  *length = work->rows[0].length;
  pass = pass_of (work, "engine", NULL);
  qm_work_free (work);
  return pass;
}

/* Keys that heads share are fewer bytes and no fewer operations.  A window of
 * the whole sequence is none; a small one takes as much less as there is less
 * to do, and somewhat more than that, as short sequences do. */
static void
test_attention (void)
{
  double length, whole = attention_of (HEADS, 0, &length), last = 0;

  CHECK_NEAR (length, SEQUENCE, 0);
  CHECK (attention_of (GROUPS, 0, &length) < whole);
  CHECK (attention_of (GROUPS, 0, &length) > 0.8 * whole);
  CHECK_NEAR (attention_of (HEADS, SEQUENCE, &length), whole, 1e-12);
  for (int64_t window = 64; window <= SEQUENCE; window *= 2)
    {
      double share = (double) window / SEQUENCE;
      double pass = attention_of (HEADS, window, &length);

      CHECK_NEAR (length, SEQUENCE * share * (2 - share), 1e-9);
      CHECK (pass > last && pass <= whole);
      CHECK (pass >= whole * share * (2 - share));
      last = pass;
    }
  CHECK (attention_of (HEADS, 256, &length) < whole / 3);
}

static void
add_rms (QmGraph *graph)
{
  add_norm (graph, true);
}

static void
add_mean (QmGraph *graph)
{
  add_norm (graph, false);
}

/* Norms over squares and gates that software makes of simple operators take
 * longer than norms with a mean, whose backward is not fused there either;
 * those that have a kernel take no longer than these. */
static void
test_without_kernels (void)
{
  static const char *const fused[] = { "engine", "tuned", "cuda" };
  static const char *const unfused[] = { "eager", "naive" };

  for (size_t i = 0; i < sizeof fused / sizeof fused[0]; i++)
    {
      double rms = pair_of (add_rms, fused[i]);

      CHECK (rms <= pair_of (add_mean, fused[i]) * 1.01);
      CHECK (rms > pair_of (add_mean, fused[i]) * 0.9);
    }
  for (size_t i = 0; i < sizeof unfused / sizeof unfused[0]; i++)
    CHECK (pair_of (add_rms, unfused[i])
           > 1.3 * pair_of (add_mean, unfused[i]));
  CHECK (pair_of (add_gate, "eager") > 1.2 * pair_of (add_gate, "tuned"));
  CHECK (pair_of (add_repeats, "naive") > 0);
}

/* Of whatever a pass consists: what moves a gigabyte takes some time, and what
 * computes besides no less. */
static void
test_every_operator (void)
{
  for (size_t i = 0; i < calibration.n_levels; i++)
    for (int op = 0; op < QM_OP_COUNT; op++)
      {
        QmWorkRow row = { .op = (QmOp) op,
                          .count = 1,
                          .bytes = 1e9,
                          .inner = 128,
                          .rows = 4096,
                          .columns = 4096 };
        const QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };
        double moved = pass_of (&work, calibration.levels[i].name, NULL);

        CHECK (moved > 0.2 * 1e9 / 3.35e12 && moved < 100 * 1e9 / 3.35e12);
        row.length =
            op == QM_OP_ATTENTION || op == QM_OP_ATTENTION_BACKWARD ? 4096 : 0;
        row.flops = 1e13;
        CHECK (pass_of (&work, calibration.levels[i].name, NULL) >= moved);
      }
}

/* In place, of heads of which so many elements turn. */
static QmWork *
rotary_of (int64_t turned)
{
  QmGraph *graph = qm_graph_new ();
  QmValueId fused =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_BF16, 5,
                      (int64_t[]){ 1, SEQUENCE, 3, HEADS, HEAD }, "fused");
  QmValueId angles = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 2,
                                     (int64_t[]){ SEQUENCE, turned }, "angles");
  QmNode *node = qm_graph_append (graph, QM_OP_ROTARY);

  node->attributes = (QmAttributes){ .rotary = turned, .count = 2 };
  node->inputs[0] = node->outputs[0] = fused;
  node->inputs[1] = angles;
  return work_of (graph);
}

/* Where a quarter of heads turns, our kernels leave the rest alone, compiled
 * software moves it, too, and simple operators copy it again and again. */
static void
test_rotary (void)
{
  static const struct
  {
    const char *level;
    double low, high; /* of a quarter, as a share of all */
  } cases[] = { { "engine", 0.2, 0.55 },
                { "cuda", 0.2, 0.55 },
                { "tuned", 0.9, 1.1 },
                { "eager", 0.5, 0.75 } };
  QmWork *part = rotary_of (HEAD / 4), *all = rotary_of (HEAD);
  const double heads = 2.0 * SEQUENCE * HEADS * HEAD * 2;

  CHECK_NEAR (part->rows[0].whole, 2 * heads, 1e-12);
  CHECK (all->rows[0].whole == 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      double share = pass_of (part, cases[i].level, NULL)
                     / pass_of (all, cases[i].level, NULL);

      CHECK (share > cases[i].low && share < cases[i].high);
    }
  CHECK (pass_of (all, "eager", NULL) > 4 * pass_of (all, "tuned", NULL));
  qm_work_free (part);
  qm_work_free (all);
}

/* Gradients of heads that are turned back, planned for a GPU that does not. */
static QmWork *
turned_of (bool turned)
{
  QmGraph *graph = qm_graph_new ();
  QmValueId angles = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 2,
                                     (int64_t[]){ SEQUENCE, HEAD }, "angles");
  QmPlan plan = { .recipe = { .batch_size = 1, .steps = 1 },
                  .options = { .target = { QM_DEVICE_CUDA, 80 } },
                  .accumulation = 1,
                  .type = QM_TYPE_BF16,
                  .parts = 1,
                  .graph = graph };
  QmWork *work = NULL;

  add_attention (graph, GROUPS, 0);
  if (turned)
    {
      graph->nodes[1].inputs[7] = angles;
      graph->nodes[1].attributes.rotary = HEAD;
    }
  CHECK_INT (qm_work_new (&plan, &work, NULL), QM_OK);
  qm_graph_free (graph);
  return work;
}

static QmPrediction
predicted_on (const char *gpu, const QmWork *work, const QmLevel *level)
{
  QmPrediction prediction = { 0 };
  double seconds[3];
  QmSpeeds speeds;

  CHECK_INT (qm_speeds_of_gpu (&calibration, qm_catalog_gpu (catalog, gpu), 1,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, NULL), QM_OK);
  CHECK_INT (qm_predict_rows (work, &speeds, level, seconds, NULL), QM_OK);
  CHECK_NEAR (work->n > 2 ? seconds[2] : 0, prediction.by_op[QM_OP_ROTARY], 0);
  return prediction;
}

/* Where gradients are turned as they are made nothing is started for that;
 * elsewhere it takes what queries and keys do that are turned in place. */
static void
test_turned (void)
{
  const char *const gpus[] = { "a100-80gb-sxm", "h100-80gb-sxm" };
  QmLevel level = *qm_calibration_level (&calibration, "engine");

  for (int i = 0; i < 2; i++)
    {
      QmWork *plain = turned_of (false), *work = turned_of (true);
      QmPrediction a, b;

      check_case (i == 0 ? "turned in memory" : "turned in registers");
      CHECK_INT (plain->n, 2);
      CHECK_INT (work->n, 3);
      CHECK (memcmp (plain->rows, work->rows, 2 * sizeof *plain->rows) == 0);
      CHECK (work->rows[2].op == QM_OP_ROTARY && work->rows[2].turned);
      CHECK_NEAR (work->rows[2].bytes,
                  2.0 * SEQUENCE * (HEADS + GROUPS) * HEAD * 2
                      + 4.0 * SEQUENCE * HEAD,
                  1e-12);
      level.constants[QM_CONSTANT_DISPATCH] = 0;
      a = predicted_on (gpus[i], plain, &level);
      b = predicted_on (gpus[i], work, &level);
      CHECK ((b.by_op[QM_OP_ROTARY] > 0) == (i == 0));
      CHECK_NEAR (b.pass, a.pass + b.by_op[QM_OP_ROTARY], i == 0 ? 1e-3 : 0);
      level.constants[QM_CONSTANT_DISPATCH] = 1;
      b = predicted_on (gpus[i], work, &level);
      CHECK_NEAR (b.pass, i == 0 ? 3 : 2, 0);
      qm_work_free (plain);
      qm_work_free (work);
    }
}

/* All that attends to texts is given a mask where PyTorch compiles, and ViT; no
 * other tower of images is, but the encoder of MAE. */
static void
test_who_is_masked (void)
{
  static const struct
  {
    const char *model;
    int64_t tokens;
    bool masked;
  } cases[] = { { "pythia-1b", 2049, true },
                { "roberta-large", 512, true },
                { "modernbert-large", 1024, true },
                { "vit-large", 197, true },
                { "mae-large", 50, true },
                { "mae-large", 197, false },
                { "clip-vit-l-14", 77, true },
                { "clip-vit-l-14", 257, false },
                { "dinov2-large-supervised", 257, false },
                { "dinov2-large", 257, false },
                { "dinov3-large-supervised", 201, false },
                { "dit-xl-2", 256, false } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    CHECK_INT (
        qm_model_has_mask (&qm_catalog_model (catalog, cases[i].model)->config,
                           cases[i].tokens),
        cases[i].masked);
}

static double
pass_of_row (const QmWorkRow *row, const char *level)
{
  QmWorkRow copy = *row;
  const QmWork work = { .rows = &copy, .n = 1, .passes = 1, .steps = 1 };

  return pass_of (&work, level, NULL);
}

/* Our scans go through 32 channels of a sequence in a block, so that 160 blocks
 * keep an H100's 132 multiprocessors as long as 264; others' do not. */
static void
test_scan_waves (void)
{
  QmWorkRow row = { .op = QM_OP_SELECTIVE_SCAN_BACKWARD,
                    .count = 1,
                    .flops = 1e15,
                    .rows = 1,
                    .columns = 5120 };
  QmWorkRow full = row;

  full.columns = 2 * 132 * 32;
  CHECK (fabs (pass_of_row (&row, "engine") / pass_of_row (&full, "engine")
               - 264.0 / 160)
         < 1e-3);
  CHECK_NEAR (pass_of_row (&row, "tuned") / pass_of_row (&full, "tuned"), 1,
              1e-12);
  /* Nine channels are as many blocks as 32. */
  row.rows = 132;
  row.columns = 9;
  CHECK (fabs (pass_of_row (&row, "engine") / pass_of_row (&full, "engine") - 1)
         < 1e-3);
}

/* A mask keeps compiled attention on Hopper from its fastest kernel, and
 * nothing else; its work says so. */
static void
test_masks (void)
{
  static const char *const others[] = { "engine", "eager", "naive", "cuda" };
  QmWorkRow row = { .op = QM_OP_ATTENTION,
                    .count = 1,
                    .flops = 1e13,
                    .bytes = 1e9,
                    .inner = 64,
                    .length = 257 };
  QmWorkRow masked = row;
  QmGraph *graph = qm_graph_new ();
  QmWork *work;

  masked.masked = true;
  CHECK (pass_of_row (&masked, "tuned") > 1.5 * pass_of_row (&row, "tuned"));
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    CHECK_NEAR (pass_of_row (&masked, others[i]), pass_of_row (&row, others[i]),
                0);
  add_attention (graph, GROUPS, 0);
  add_product (graph, HIDDEN, HIDDEN);
  work = work_of (graph);
  for (size_t i = 0; i < work->n; i++)
    CHECK_INT (work->rows[i].masked, work->rows[i].length > 0);
  qm_work_free (work);
}

/* PyTorch computes experts in fp32, which no kernel of ours does. */
static void
test_experts (void)
{
  static const QmOp ops[] = {
    QM_OP_GROUPED_LINEAR,        QM_OP_GROUPED_INPUT_GRAD,
    QM_OP_GROUPED_WEIGHT_GRAD,   QM_OP_GATHER_ROWS,
    QM_OP_COMBINE_ROWS,          QM_OP_WEIGHTED_GATE,
    QM_OP_WEIGHTED_GATE_BACKWARD
  };

  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    {
      bool grouped = ops[i] == QM_OP_GROUPED_LINEAR
                     || ops[i] == QM_OP_GROUPED_INPUT_GRAD
                     || ops[i] == QM_OP_GROUPED_WEIGHT_GRAD;
      const QmWorkRow row = { .op = ops[i],
                              .count = 1,
                              .flops = grouped ? 1e13 : 0,
                              .bytes = 1e10,
                              .inner = 2048,
                              .rows = 65536,
                              .columns = 2048,
                              .groups = 64 };

      CHECK (pass_of_row (&row, "tuned") > 1.2 * pass_of_row (&row, "engine"));
    }
}

/* Nothing streams faster than memory is rated, where it is slow, too. */
static void
test_streams (void)
{
  static const char *const gpus[] = { "rtx3090", "l4", "h200-141gb-sxm" };
  QmWorkRow row = { .op = QM_OP_ADD, .count = 1, .bytes = 1e9 };
  const QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };

  for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++)
    for (size_t j = 0; j < calibration.n_levels; j++)
      {
        QmSpeeds speeds;
        QmPrediction prediction;

        CHECK_INT (qm_speeds_of_gpu (&calibration,
                                     qm_catalog_gpu (catalog, gpus[i]), 1,
                                     QM_INTERCONNECT_OF_GPU, &speeds, NULL),
                   QM_OK);
        CHECK_INT (qm_predict (&work, &speeds, &calibration.levels[j],
                               &prediction, NULL),
                   QM_OK);
        CHECK (prediction.pass >= 1e9 / speeds.bandwidth);
      }
}

/* Of a scan that exponentials bind, a faster memory changes little; where only
 * its bytes are known, it changes all. */
static void
test_scan (void)
{
  QmWorkRow row = { .op = QM_OP_SELECTIVE_SCAN,
                    .count = 1,
                    .flops = 1e9 * QM_MAMBA_SCAN_FLOPS,
                    .bytes = 5e8 };
  const QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };
  QmGpu gpu = *qm_catalog_gpu (catalog, "h100-80gb-sxm");
  const char *const levels[] = { "engine", "tuned", "eager", "naive" };
  double steps[4][2];

  for (int faster = 0; faster < 2; faster++)
    for (int i = 0; i < 4; i++)
      {
        QmSpeeds speeds;
        QmPrediction prediction;

        gpu.memory_bandwidth_gbs = faster ? 1e6 : 3350;
        CHECK_INT (qm_speeds_of_gpu (&calibration, &gpu, 1,
                                     QM_INTERCONNECT_OF_GPU, &speeds, NULL),
                   QM_OK);
        CHECK_INT (qm_predict (&work, &speeds,
                               qm_calibration_level (&calibration, levels[i]),
                               &prediction, NULL),
                   QM_OK);
        steps[i][faster] = prediction.pass;
      }
  for (int i = 0; i < 3; i++)
    CHECK (steps[i][1] > 0.5 * steps[i][0]);
  CHECK (steps[3][1] < 0.5 * steps[3][0]);
}

/* Products of chunks take what tensor cores take for them, in fp32 more; what
 * is moved binds where there is little to compute. */
static void
test_dual_scan (void)
{
  QmWorkRow row = { .op = QM_OP_DUAL_SCAN_BACKWARD,
                    .arithmetic = QM_ARITHMETIC_16,
                    .count = 1,
                    .computed = 1e12,
                    .bytes = 1e6 };
  const QmWork work = { .rows = &row, .n = 1, .passes = 1, .steps = 1 };
  double pass[3];

  for (int i = 0; i < 3; i++)
    {
      QmSpeeds speeds;
      QmPrediction prediction;

      row.arithmetic = i == 1 ? QM_ARITHMETIC_FP32 : QM_ARITHMETIC_16;
      row.computed = i == 2 ? 0 : 1e12;
      row.bytes = i == 2 ? 1e9 : 1e6;
      CHECK_INT (qm_speeds_of_gpu (&calibration,
                                   qm_catalog_gpu (catalog, "h100-80gb-sxm"), 1,
                                   QM_INTERCONNECT_OF_GPU, &speeds, NULL),
                 QM_OK);
      CHECK_INT (qm_predict (&work, &speeds,
                             qm_calibration_level (&calibration, "engine"),
                             &prediction, NULL),
                 QM_OK);
      pass[i] = prediction.pass;
    }
  /* More than at the rated 989 TFLOP/s, and less than at a tenth of that. */
  CHECK (pass[0] > 1e12 / 989e12 && pass[0] < 1e12 / 98.9e12);
  CHECK (pass[1] > 5 * pass[0]);
  /* States and parts are moved besides. */
  CHECK (pass[2] > 3e9 / 3352e9 && pass[2] < 10e9 / 3352e9);
}

/* Products of cards that add up at half their speed reach more of it. */
static void
test_half_rate (void)
{
  static const struct
  {
    const char *gpu;
    bool half;
  } cases[] = { { "rtx3090", true },        { "rtx4090", true },
                { "rtx5090", true },        { "a6000", false },
                { "l40s", false },          { "rtxpro6000-ws", false },
                { "a100-80gb-sxm", false }, { "h200-141gb-sxm", false } };

  CHECK (calibration.half_rate > 1 && calibration.half_rate < 1.3);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmSpeeds speeds;

      CHECK_INT (qm_speeds_of_gpu (&calibration,
                                   qm_catalog_gpu (catalog, cases[i].gpu), 1,
                                   QM_INTERCONNECT_OF_GPU, &speeds, NULL),
                 QM_OK);
      CHECK_NEAR (speeds.half_rate, cases[i].half ? calibration.half_rate : 1,
                  0);
    }
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  QmError error = { 0 };

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  test_layer ();
  test_attention ();
  test_without_kernels ();
  test_every_operator ();
  test_rotary ();
  test_turned ();
  test_who_is_masked ();
  test_masks ();
  test_experts ();
  test_streams ();
  test_scan ();
  test_dual_scan ();
  test_scan_waves ();
  test_half_rate ();
  qm_catalog_free (catalog);
  return check_report ();
}
