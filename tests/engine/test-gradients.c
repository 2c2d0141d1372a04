/* SPDX-License-Identifier: Apache-2.0 */

/* The gradients of all operators. */

#include "tests/data/check.h"
#include "tests/engine/gradient-bench.h"

#include <string.h>

static void
test_pointwise (void)
{
  static const QmFunction functions[] = {
    QM_FUNCTION_GELU,      QM_FUNCTION_GELU_TANH, QM_FUNCTION_RELU,
    QM_FUNCTION_SILU,      QM_FUNCTION_TANH,      QM_FUNCTION_RELU2,
    QM_FUNCTION_QUICK_GELU
  };
  GradientBench bench;
  QmNode *node;
  QmValueId x;

  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    {
      gradient_begin (&bench, "activation");
      x = gradient_input2 (&bench, 5, 7);
      bench.output = gradient_value (&bench, 2, (int64_t[]){ 5, 7 });
      node = gradient_append (&bench, QM_OP_ACTIVATION);
      node->attributes.activation = functions[i];
      node->inputs[0] = x;
      node->outputs[0] = bench.output;
      gradient_end (&bench);
    }
  gradient_begin (&bench, "add and dropout; one value used twice");
  x = gradient_input2 (&bench, 5, 9);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 5, 9 });
  QmValueId dropped = gradient_value (&bench, 2, (int64_t[]){ 5, 9 });
  node = gradient_append (&bench, QM_OP_DROPOUT);
  node->attributes.dropout = 0.3;
  node->attributes.site = 3;
  node->inputs[0] = x;
  node->inputs[1] = bench.graph->rng;
  node->outputs[0] = dropped;
  node = gradient_append (&bench, QM_OP_ADD);
  node->inputs[0] = dropped;
  node->inputs[1] = x;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* One half of a value is used twice, and the other not at all: together the
 * uses are as large as the value, but they are not all of it. */
static void
test_half_twice (void)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, y, half;

  gradient_begin (&bench, "one half used twice");
  x = gradient_input2 (&bench, 6, 5);
  y = gradient_value (&bench, 2, (int64_t[]){ 6, 5 });
  node = gradient_append (&bench, QM_OP_ACTIVATION);
  node->attributes.activation = QM_FUNCTION_SILU;
  node->inputs[0] = x;
  node->outputs[0] = y;
  half = qm_graph_view (bench.graph, y, 2, (int64_t[]){ 3, 5 },
                        (int64_t[]){ 5, 1 }, 0);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 3, 5 });
  node = gradient_append (&bench, QM_OP_ADD);
  node->inputs[0] = half;
  node->inputs[1] = half;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_linear (QmFunction function, bool bias)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, w, b;

  gradient_begin (&bench, "linear");
  x = gradient_input2 (&bench, 6, 5);
  w = gradient_input2 (&bench, 4, 5);
  b = bias ? gradient_input1 (&bench, 4) : QM_NO_VALUE;
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 6, 4 });
  QmValueId pre = function != QM_FUNCTION_NONE
                      ? gradient_value (&bench, 2, (int64_t[]){ 6, 4 })
                      : QM_NO_VALUE;
  node = gradient_append (&bench, QM_OP_LINEAR);
  node->attributes.activation = function;
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = b;
  node->outputs[0] = bench.output;
  node->outputs[1] = pre;
  gradient_end (&bench);
}

static void
test_matmul (QmCausal causal)
{
  GradientBench bench;
  QmNode *node;
  QmValueId a, b;

  gradient_begin (&bench, "softmax between two products");
  a = gradient_input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  b = gradient_input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  QmValueId v = gradient_input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  QmValueId scores = gradient_value (&bench, 4, (int64_t[]){ 2, 2, 5, 5 });
  QmValueId weights = gradient_value (&bench, 4, (int64_t[]){ 2, 2, 5, 5 });
  QmValueId columns =
      qm_graph_view (bench.graph, b, 4, (int64_t[]){ 2, 2, 3, 5 },
                     (int64_t[]){ 30, 15, 1, 3 }, 0);
  bench.output = gradient_value (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  node = gradient_append (&bench, QM_OP_MATMUL);
  node->attributes.scale = 0.6;
  node->attributes.causal = causal;
  node->inputs[0] = a;
  node->inputs[1] = columns;
  node->outputs[0] = scores;
  node = gradient_append (&bench, QM_OP_SOFTMAX);
  node->attributes.causal = causal;
  node->inputs[0] = scores;
  node->outputs[0] = weights;
  node = gradient_append (&bench, QM_OP_MATMUL);
  node->attributes.scale = 1;
  node->attributes.causal =
      causal == QM_CAUSAL_RESULT ? QM_CAUSAL_LOWER : QM_CAUSAL_NONE;
  node->inputs[0] = weights;
  node->inputs[1] = v;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* On packed queries, keys and values, as models have them. */
static void
test_attention (QmCausal causal, double dropout, int64_t window)
{
  const int64_t shape[4] = { 2, 3, 19, 4 };
  const int64_t strides[4] = { 19 * 36, 4, 36, 1 };
  GradientBench bench;
  QmNode *node;
  QmValueId packed, parts[3];

  gradient_begin (&bench, "attention");
  packed = gradient_input2 (&bench, 2 * 19, 36);
  for (int i = 0; i < 3; i++)
    parts[i] = qm_graph_view (bench.graph, packed, 4, shape, strides, i * 12);
  QmValueId out = gradient_value (&bench, 2, (int64_t[]){ 2 * 19, 12 });
  QmValueId lse = gradient_value (&bench, 3, shape);
  bench.output = qm_graph_view (bench.graph, out, 4, shape,
                                (int64_t[]){ 19 * 12, 4, 12, 1 }, 0);
  node = gradient_append (&bench, QM_OP_ATTENTION);
  node->attributes.causal = causal;
  node->attributes.window = window;
  node->attributes.scale = 0.5;
  node->attributes.dropout = dropout;
  node->attributes.site = 9;
  for (int i = 0; i < 3; i++)
    node->inputs[i] = parts[i];
  node->inputs[3] = bench.graph->rng;
  node->outputs[0] = bench.output;
  node->outputs[1] = lse;
  gradient_end (&bench);
}

/* The gradient of the logits that the operator writes beside the losses is that
 * of their sum. */
static void
test_cross_entropy (bool shift, double cap, double z_loss)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, labels, weight, dlogits, losses, logits, row;

  gradient_begin (&bench, "cross entropy");
  x = gradient_input2 (&bench, 8, 5);
  labels = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                           (int64_t[]){ 2, 4 }, "labels");
  weight = gradient_value (&bench, 1, (int64_t[]){ 2 });
  logits = gradient_value (&bench, 2, (int64_t[]){ 8, 5 });
  dlogits = gradient_value (&bench, 2, (int64_t[]){ 8, 5 });
  losses = gradient_value (&bench, 1, (int64_t[]){ 8 });
  bench.output = gradient_value (&bench, 1, (int64_t[]){ 1 });
  node = gradient_append (&bench, QM_OP_RANDOM);
  node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->attributes.count = 5;
  node->inputs[0] = bench.graph->rng;
  node->outputs[0] = labels;
  node = gradient_append (&bench, QM_OP_LABEL_WEIGHT);
  node->attributes.scale = 1;
  node->attributes.shift = shift;
  node->inputs[0] = labels;
  node->inputs[1] = bench.graph->state;
  node->outputs[0] = weight;
  node = gradient_append (&bench, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] = logits;
  node = gradient_append (&bench, QM_OP_CROSS_ENTROPY);
  node->attributes.shift = shift;
  node->attributes.cap = cap;
  node->attributes.z_loss = z_loss;
  node->inputs[0] = logits;
  node->inputs[1] = labels;
  node->inputs[2] = weight;
  node->outputs[0] = dlogits;
  node->outputs[1] = losses;
  row = qm_graph_reshape (bench.graph, losses, 2, (int64_t[]){ 8, 1 });
  node = gradient_append (&bench, QM_OP_FILL);
  node->outputs[0] = bench.output;
  node = gradient_append (&bench, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = row;
  node->outputs[0] = bench.output;
  bench.unit = true;
  gradient_end (&bench);
}

static void
test_rotary (void)
{
  const int64_t shape[5] = { 2, 3, 3, 2, 6 };
  const int64_t strides[5] = { 108, 36, 6, 18, 1 };
  GradientBench bench;
  QmNode *node;
  QmValueId x, y, table;

  gradient_begin (&bench, "rotary");
  x = gradient_input2 (&bench, 6, 36);
  y = gradient_value (&bench, 2, (int64_t[]){ 6, 36 });
  /* Any numbers do: what is tested is linear. */
  table = qm_graph_value (bench.graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                          (int64_t[]){ 3, 4 }, "table");
  x = qm_graph_view (bench.graph, x, 5, shape, strides, 0);
  bench.output = qm_graph_view (bench.graph, y, 5, shape, strides, 0);
  node = gradient_append (&bench, QM_OP_FILL);
  node->attributes.value = 0.7;
  node->outputs[0] = table;
  node = gradient_append (&bench, QM_OP_ROTARY);
  node->attributes = (QmAttributes){ .rotary = 4, .count = 2 };
  node->inputs[0] = x;
  node->inputs[1] = table;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_embedding (int64_t padding)
{
  GradientBench bench;
  QmNode *node;
  QmValueId table, positions;

  gradient_begin (&bench, "embedding");
  table = gradient_input2 (&bench, 9, 4);
  positions = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                              (int64_t[]){ 2, 5 }, "ids");
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 10, 4 });
  node = gradient_append (&bench, QM_OP_RANDOM);
  node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->attributes.count = 9;
  node->inputs[0] = bench.graph->rng;
  node->outputs[0] = positions;
  node = gradient_append (&bench, QM_OP_EMBEDDING);
  node->attributes.padding = padding;
  node->inputs[0] = positions;
  node->inputs[1] = table;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_token_dropout (void)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, ids;

  gradient_begin (&bench, "token dropout");
  x = gradient_input2 (&bench, 10, 4);
  ids = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                        (int64_t[]){ 2, 5 }, "ids");
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 10, 4 });
  node = gradient_append (&bench, QM_OP_RANDOM);
  node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->attributes.count = 3;
  node->inputs[0] = bench.graph->rng;
  node->outputs[0] = ids;
  node = gradient_append (&bench, QM_OP_TOKEN_DROPOUT);
  node->attributes.padding = 1;
  node->attributes.value = 0.75;
  node->inputs[0] = x;
  node->inputs[1] = ids;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static QmValueId
ints (GradientBench *bench, int64_t rows, int64_t columns)
{
  return qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_I32,
                         columns > 0 ? 2 : 1, (int64_t[]){ rows, columns },
                         "whole numbers");
}

/* A router, whose outputs but the first are `routes`: experts, rows, places,
 * offsets.  Returns the weights. */
static QmValueId
append_route (GradientBench *bench,
              QmValueId logits,
              int64_t k,
              bool normalized,
              QmValueId routes[4])
{
  int64_t tokens = qm_graph_tensor (bench->graph, logits)->shape[0];
  int64_t experts = qm_graph_tensor (bench->graph, logits)->shape[1];
  QmValueId weights = gradient_value (bench, 2, (int64_t[]){ tokens, k });
  QmNode *node;

  routes[0] = ints (bench, tokens, k);
  routes[1] = ints (bench, tokens * k, 0);
  routes[2] = ints (bench, tokens, k);
  routes[3] = ints (bench, experts + 1, 0);
  node = gradient_append (bench, QM_OP_ROUTE);
  node->attributes.normalized = normalized;
  node->inputs[0] = logits;
  node->outputs[0] = weights;
  for (int i = 0; i < 4; i++)
    node->outputs[1 + i] = routes[i];
  return weights;
}

/* All that is between a router and what it weighs. */
static void
test_experts (int64_t k, bool normalized)
{
  enum
  {
    TOKENS = 6,
    EXPERTS = 5,
    FEATURES = 4,
    INNER = 3
  };
  int64_t rows = TOKENS * k;
  GradientBench bench;
  QmNode *node;
  QmValueId x, w, weights, routes[4], values[4];
  static const QmOp ops[] = { QM_OP_GATHER_ROWS, QM_OP_GROUPED_LINEAR,
                              QM_OP_WEIGHTED_GATE, QM_OP_COMBINE_ROWS };

  gradient_begin (&bench,
                  normalized ? "experts, weights add up to 1" : "experts");
  x = gradient_input2 (&bench, TOKENS, EXPERTS);
  weights = append_route (&bench, x, k, normalized, routes);
  x = gradient_input2 (&bench, TOKENS, FEATURES);
  w = gradient_input (&bench, 3, (int64_t[]){ EXPERTS, 2 * INNER, FEATURES });
  values[0] = gradient_value (&bench, 2, (int64_t[]){ rows, FEATURES });
  values[1] = gradient_value (&bench, 2, (int64_t[]){ rows, 2 * INNER });
  values[2] = gradient_value (&bench, 2, (int64_t[]){ rows, INNER });
  bench.output = values[3] =
      gradient_value (&bench, 2, (int64_t[]){ TOKENS, INNER });
  for (int i = 0; i < 4; i++)
    {
      QmValueId first = i == 0 ? x : values[i - 1], up = QM_NO_VALUE;

      if (i == 2)
        {
          first = qm_graph_view (bench.graph, values[1], 2,
                                 (int64_t[]){ rows, INNER },
                                 (int64_t[]){ 2 * INNER, 1 }, 0);
          up = qm_graph_view (bench.graph, values[1], 2,
                              (int64_t[]){ rows, INNER },
                              (int64_t[]){ 2 * INNER, 1 }, INNER);
        }
      node = gradient_append (&bench, ops[i]);
      node->inputs[0] = first;
      node->inputs[1] = i == 1 ? w : i == 2 ? up : routes[1];
      node->inputs[2] = i == 1 ? routes[3] : i == 2 ? weights : routes[2];
      node->inputs[3] = i == 2 ? routes[1] : QM_NO_VALUE;
      node->outputs[0] = values[i];
      if (i == 2)
        node->attributes.activation = QM_FUNCTION_SILU;
    }
  gradient_end (&bench);
}

/* Of two layers at once, which share one output. */
static void
test_balance (void)
{
  enum
  {
    TOKENS = 7,
    EXPERTS = 4
  };
  GradientBench bench;
  QmNode *node;
  QmValueId load, dload;

  gradient_begin (&bench, "balance of experts");
  load = gradient_value (&bench, 3, (int64_t[]){ 2, 2, EXPERTS });
  dload = gradient_value (&bench, 3, (int64_t[]){ 2, 2, EXPERTS });
  bench.output = gradient_value (&bench, 1, (int64_t[]){ 1 });
  for (int i = 0; i < 2; i++)
    {
      QmValueId x = gradient_input2 (&bench, TOKENS, EXPERTS), routes[4];
      QmValueId logits =
          gradient_value (&bench, 2, (int64_t[]){ TOKENS, EXPERTS });

      node = gradient_append (&bench, QM_OP_COPY);
      node->inputs[0] = x;
      node->outputs[0] = logits;
      append_route (&bench, logits, 2, false, routes);
      node = gradient_append (&bench, QM_OP_EXPERT_LOAD);
      node->inputs[0] = logits;
      node->inputs[1] = routes[3];
      node->outputs[0] =
          qm_graph_view (bench.graph, load, 2, (int64_t[]){ 2, EXPERTS },
                         (int64_t[]){ EXPERTS, 1 }, i * 2 * EXPERTS);
    }
  node = gradient_append (&bench, QM_OP_FILL);
  node->outputs[0] = bench.output;
  node = gradient_append (&bench, QM_OP_BALANCE);
  node->attributes.scale = 2;
  node->attributes.count = TOKENS;
  node->inputs[0] = load;
  node->inputs[1] = bench.graph->state;
  node->outputs[0] = dload;
  node->outputs[1] = bench.output;
  bench.unit = true;
  gradient_end (&bench);
}

static void
test_class_token (bool positions, int64_t registers)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, token, position, others;

  gradient_begin (&bench, "class token");
  x = gradient_input2 (&bench, 2 * 3, 5);
  token = gradient_input1 (&bench, 5);
  position = positions ? gradient_input2 (&bench, 4, 5) : QM_NO_VALUE;
  others = registers > 0 ? gradient_input2 (&bench, registers, 5) : QM_NO_VALUE;
  bench.output =
      gradient_value (&bench, 2, (int64_t[]){ 2 * (4 + registers), 5 });
  node = gradient_append (&bench, QM_OP_CLASS_TOKEN);
  node->inputs[0] = x;
  node->inputs[1] = token;
  node->inputs[2] = position;
  node->inputs[3] = others;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* Of a map of features with channels last, of which a column is in no patch. */
static void
test_patchify (void)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x;

  gradient_begin (&bench, "patches");
  x = gradient_input2 (&bench, 2 * 4 * 5, 3);
  x = qm_graph_view (bench.graph, x, 4, (int64_t[]){ 2, 3, 4, 5 },
                     (int64_t[]){ 60, 1, 15, 3 }, 0);
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2 * 2 * 2, 12 });
  node = gradient_append (&bench, QM_OP_PATCHIFY);
  node->attributes.patch = 2;
  node->inputs[0] = x;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_depthwise_conv (int64_t side, bool causal, QmFunction function, bool bias)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, w, b;

  gradient_begin (&bench, causal ? "causal convolution" : "convolution");
  x = gradient_input2 (&bench, 2 * 4 * 5, 3);
  w = gradient_input (&bench, 3, (int64_t[]){ 3, causal ? 1 : side, side });
  b = bias ? gradient_input1 (&bench, 3) : QM_NO_VALUE;
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2 * 4 * 5, 3 });
  node = gradient_append (&bench, QM_OP_DEPTHWISE_CONV);
  node->attributes.height = causal ? 1 : 4;
  node->attributes.width = causal ? 20 : 5;
  node->attributes.causal = causal ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  node->attributes.activation = function;
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = b;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_layer_scale (bool scale, bool residual, double dropout)
{
  GradientBench bench;
  QmNode *node;

  gradient_begin (&bench, "layer scale");
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 24, 5 });
  QmValueId x = gradient_input2 (&bench, 24, 5);
  QmValueId gamma = scale ? gradient_input1 (&bench, 5) : QM_NO_VALUE;
  QmValueId other = residual ? gradient_input2 (&bench, 24, 5) : QM_NO_VALUE;
  node = gradient_append (&bench, QM_OP_LAYER_SCALE);
  node->attributes.height = 2;
  node->attributes.width = 2;
  node->attributes.dropout = dropout;
  node->attributes.site = 4;
  node->inputs[0] = x;
  node->inputs[1] = gamma;
  node->inputs[2] = other;
  node->inputs[3] = dropout > 0 ? bench.graph->rng : QM_NO_VALUE;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

static void
test_pool (int64_t first)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x;

  gradient_begin (&bench, "pool");
  x = gradient_input2 (&bench, 12, 5);
  bench.output =
      gradient_value (&bench, 2, (int64_t[]){ 3, first > 0 ? 10 : 5 });
  node = gradient_append (&bench, QM_OP_POOL);
  node->attributes.first = first;
  node->inputs[0] = x;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* b and c are parts of one value, as models have them. */
static void
test_selective_scan (int64_t chunk, bool bias, bool gate)
{
  const int64_t rows = 2 * 7, channels = 3, states = 2;
  const int64_t strides[2] = { 2 * states, 1 };
  GradientBench bench;
  QmValueId in[8], both;
  QmNode *node;

  gradient_begin (&bench, "selective scan");
  in[0] = gradient_input2 (&bench, rows, channels);
  in[1] = gradient_input2 (&bench, rows, channels);
  in[2] = gradient_input2 (&bench, channels, states);
  both = gradient_input2 (&bench, rows, 2 * states);
  for (int i = 0; i < 2; i++)
    in[3 + i] =
        qm_graph_view (bench.graph, both, 2, (int64_t[]){ rows, states },
                       strides, i * states);
  in[5] = gradient_input1 (&bench, channels);
  in[6] = bias ? gradient_input1 (&bench, channels) : QM_NO_VALUE;
  in[7] = gate ? gradient_input2 (&bench, rows, channels) : QM_NO_VALUE;
  bench.output = gradient_value (&bench, 2, (int64_t[]){ rows, channels });
  QmValueId kept = gradient_value (
      &bench, 4, (int64_t[]){ 2, (7 + chunk - 1) / chunk, states, channels });
  node = gradient_append (&bench, QM_OP_SELECTIVE_SCAN);
  node->attributes.width = 7;
  node->attributes.chunk = chunk;
  memcpy (node->inputs, in, sizeof in);
  node->outputs[0] = bench.output;
  node->outputs[1] = kept;
  gradient_end (&bench);
}

/* x, b and c are parts of one value; limits, where there are some, keep a part
 * of the steps, away from where finite differences would see both sides. */
static void
test_dual_scan (int64_t groups, bool bias, bool limits)
{
  const int64_t rows = 2 * 7, heads = 4, size = 3, states = 2;
  const int64_t columns = heads * size + 2 * groups * states;
  const int64_t strides[2] = { columns, 1 };
  GradientBench bench;
  QmValueId in[7], all;
  QmNode *node;

  gradient_begin (&bench, "dual scan");
  all = gradient_input2 (&bench, rows, columns);
  in[0] = qm_graph_view (bench.graph, all, 2, (int64_t[]){ rows, heads * size },
                         strides, 0);
  in[1] = gradient_input2 (&bench, rows, heads);
  in[2] = gradient_input1 (&bench, heads);
  for (int i = 0; i < 2; i++)
    in[3 + i] = qm_graph_view (bench.graph, all, 2,
                               (int64_t[]){ rows, groups * states }, strides,
                               heads * size + i * groups * states);
  in[5] = gradient_input1 (&bench, heads);
  in[6] = bias ? gradient_input1 (&bench, heads) : QM_NO_VALUE;
  bench.output = gradient_value (&bench, 2, (int64_t[]){ rows, heads * size });
  node = gradient_append (&bench, QM_OP_DUAL_SCAN);
  node->attributes.width = 7;
  node->attributes.count = groups;
  node->attributes.value = limits ? 0.4 : 0;
  node->attributes.cap = limits ? 1.1 : 0;
  memcpy (node->inputs, in, sizeof in);
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

/* The first row of every three: a part of a value, which is not all of it. */
static void
test_part (void)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, y, part;

  gradient_begin (&bench, "part");
  x = gradient_input2 (&bench, 6, 4);
  y = gradient_value (&bench, 2, (int64_t[]){ 6, 4 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 2, 4 });
  part = qm_graph_view (bench.graph, y, 2, (int64_t[]){ 2, 4 },
                        (int64_t[]){ 12, 1 }, 0);
  node = gradient_append (&bench, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] = y;
  node = gradient_append (&bench, QM_OP_COPY);
  node->inputs[0] = part;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

int
main (void)
{
  test_pointwise ();
  test_half_twice ();
  for (int i = QM_FUNCTION_NONE; i <= QM_FUNCTION_TANH; i++)
    test_linear ((QmFunction) i, i % 2 == 0);
  test_matmul (QM_CAUSAL_NONE);
  test_matmul (QM_CAUSAL_RESULT);
  for (int i = 0; i < 12; i++)
    test_attention (i % 2 == 0 ? QM_CAUSAL_NONE : QM_CAUSAL_RESULT,
                    i / 2 % 2 == 0 ? 0 : 0.2, (int64_t[]){ 0, 5, 30 }[i / 4]);
  for (int i = 0; i < 8; i++)
    test_cross_entropy (i % 2 != 0, i / 2 % 2 * 1.5, i / 4 * 0.1);
  test_rotary ();
  test_embedding (-1);
  test_token_dropout ();
  /* A single weight that was divided by itself has no gradient. */
  test_experts (1, false);
  for (int i = 0; i < 4; i++)
    test_experts (i < 2 ? 2 : 5, i % 2 != 0);
  test_balance ();
  test_class_token (true, 0);
  test_class_token (true, 2);
  test_class_token (false, 3);
  test_part ();
  test_patchify ();
  for (int i = 0; i < 2; i++)
    {
      test_depthwise_conv (4, true, QM_FUNCTION_SILU, i == 0);
      test_depthwise_conv (3, true, QM_FUNCTION_NONE, i == 1);
      test_depthwise_conv (7, false, QM_FUNCTION_NONE, i == 0);
      test_depthwise_conv (3, false, QM_FUNCTION_GELU, i == 1);
      for (int j = 0; j < 4; j++)
        if (i > 0 || j % 2 == 1)
          test_layer_scale (i == 0, j < 2, j % 2 == 0 ? 0 : 0.4);
      test_layer_scale (true, i == 0, 0);
    }
  test_pool (0);
  test_pool (1);
  test_pool (3);
  for (int i = 0; i < 6; i++)
    test_selective_scan (1 + i / 2 * 3, i % 2 == 0, i / 2 == 1 || i % 2 == 1);
  for (int i = 0; i < 6; i++)
    test_dual_scan ((int64_t[]){ 1, 2, 4 }[i % 3], i % 2 == 0, i > 2);
  return check_report ();
}
