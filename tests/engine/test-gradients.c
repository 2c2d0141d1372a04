/* SPDX-License-Identifier: Apache-2.0 */

/* Every operator's gradient against central differences: for a random direction
 * in the space of each input, the derivative of sum (weights x output) along
 * it.
 */

#include "engine/differentiate.h"
#include "kernels/random.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP       1e-2
#define TOLERANCE  3e-3
#define MAX_INPUTS 8

/* A graph of one operator under test, each value with memory of its own. */
typedef struct Bench
{
  QmGraph *graph;
  QmDevice *device;
  QmStream *stream;
  void **memory; /* by value */
  uint32_t seed;
  QmValueId inputs[MAX_INPUTS]; /* float inputs, as parameters */
  int n_inputs;
  QmValueId output, weights; /* the sum's */
  bool unit;                 /* weights are 1, and the graph knows already */
} Bench;

static void
begin (Bench *bench, const char *name)
{
  static uint32_t seed;

  check_case (name);
  memset (bench, 0, sizeof *bench);
  bench->graph = qm_graph_new ();
  bench->seed = ++seed * 1000;
  bench->graph->rng = qm_graph_value (bench->graph, QM_ROLE_STATE, QM_TYPE_I32,
                                      1, (int64_t[]){ 3 }, "rng");
  bench->graph->state =
      qm_graph_value (bench->graph, QM_ROLE_STATE, QM_TYPE_F32, 1,
                      (int64_t[]){ QM_STATE_SIZE }, "state");
}

static QmValueId
input (Bench *bench, int32_t rank, const int64_t *shape)
{
  char name[16];
  QmValueId id;

  snprintf (name, sizeof name, "input %d", bench->n_inputs);
  id = qm_graph_value (bench->graph, QM_ROLE_PARAMETER, QM_TYPE_F32, rank,
                       shape, "%s", name);
  qm_graph_parameter (bench->graph, id, QM_INITIAL_NORMAL, name, NULL);
  bench->inputs[bench->n_inputs++] = id;
  return id;
}

static QmValueId
input2 (Bench *bench, int64_t rows, int64_t columns)
{
  return input (bench, 2, (int64_t[]){ rows, columns });
}

static QmValueId
input1 (Bench *bench, int64_t n)
{
  return input (bench, 1, &n);
}

static QmValueId
value (Bench *bench, int32_t rank, const int64_t *shape)
{
  return qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, rank,
                         shape, "value");
}

static QmNode *
append (Bench *bench, QmOp op)
{
  return qm_graph_append (bench->graph, op);
}

static float
normal (uint32_t seed, uint32_t index)
{
  return qm_random_normal (qm_philox (seed, 7, index, 0, 0, 0), 0);
}

static void
fill (Bench *bench, QmValueId id, uint32_t seed, float scale)
{
  float *values = bench->memory[id];
  int64_t room = bench->graph->values[id].room;

  for (int64_t i = 0; i < room; i++)
    values[i] = scale * normal (seed, (uint32_t) i);
}

static void
allocate (Bench *bench)
{
  const QmGraph *graph = bench->graph;

  bench->memory = calloc (graph->n_values, sizeof *bench->memory);
  for (size_t i = 0; i < graph->n_values; i++)
    if (graph->values[i].owner == (QmValueId) i)
      qm_device_allocate (bench->device, (size_t) graph->values[i].room * 4,
                          &bench->memory[i], NULL);
  for (int i = 0; i < bench->n_inputs; i++)
    fill (bench, bench->inputs[i], bench->seed + (uint32_t) i, 1);
  fill (bench, bench->weights, bench->seed + 100, 1);
  if (bench->unit)
    *(float *) bench->memory[bench->weights] = 1;
  memcpy (bench->memory[graph->rng], (int32_t[]){ 5, 6, 7 }, 12);
  ((float *) bench->memory[graph->state])[QM_STATE_LOSS_SCALE] = 1;
}

static void
bind (const Bench *bench, QmValueId id, QmTensor *tensor)
{
  const QmValue *v;

  if (id == QM_NO_VALUE)
    return;
  v = &bench->graph->values[id];
  tensor->data = (char *) bench->memory[v->owner] + v->offset * 4;
}

static void
run (Bench *bench, QmPhase phase)
{
  for (size_t i = 0; i < bench->graph->n_nodes; i++)
    {
      const QmNode *node = &bench->graph->nodes[i];
      QmOpCall call;
      QmError error = { 0 };

      if (node->phase != phase)
        continue;
      qm_graph_call (bench->graph, node, &call);
      for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
        bind (bench, node->inputs[j], &call.inputs[j]);
      for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
        bind (bench, node->outputs[j], &call.outputs[j]);
      CHECK_INT (qm_op_run (bench->device, bench->stream, &call, &error),
                 QM_OK);
      CHECK_STRING (error.message, "");
    }
}

/* sum (weights x output); the output's owner has the layout of the weights. */
static double
objective (Bench *bench)
{
  QmValueId owner = bench->graph->values[bench->output].owner;
  const float *weights = bench->memory[bench->weights];
  const float *values = bench->memory[owner];
  double sum = 0;

  run (bench, QM_PHASE_FORWARD);
  for (int64_t i = 0; i < bench->graph->values[owner].room; i++)
    sum += (double) weights[i] * values[i];
  return sum;
}

/* Moves an input along its direction. */
static void
move (Bench *bench, int i, double step)
{
  float *values = bench->memory[bench->inputs[i]];
  int64_t n = bench->graph->values[bench->inputs[i]].room;

  for (int64_t j = 0; j < n; j++)
    values[j] +=
        (float) step * normal (bench->seed + 50 + (uint32_t) i, (uint32_t) j);
}

static void
compare (Bench *bench, int i)
{
  QmValueId gradient = bench->graph->parameters[i].gradient;
  const float *values = bench->memory[gradient];
  int64_t n = bench->graph->values[gradient].room;
  double slope = 0, size = 0, above, below, scale;

  for (int64_t j = 0; j < n; j++)
    {
      float d = normal (bench->seed + 50 + (uint32_t) i, (uint32_t) j);

      slope += (double) values[j] * d;
      size += (double) values[j] * values[j];
    }
  move (bench, i, STEP);
  above = objective (bench);
  move (bench, i, -2 * STEP);
  below = objective (bench);
  move (bench, i, STEP);
  scale = fmax (sqrt (size), fabs (slope));
  if (!(fabs ((above - below) / (2 * STEP) - slope) <= TOLERANCE * scale))
    printf ("input %d: %g by differences, %g\n", i,
            (above - below) / (2 * STEP), slope);
  CHECK (scale > 0);
  CHECK (fabs ((above - below) / (2 * STEP) - slope) <= TOLERANCE * scale);
}

static void
end (Bench *bench)
{
  QmGraph *graph = bench->graph;
  QmValueId owner = graph->values[bench->output].owner;
  const QmTensor *shape = &graph->values[owner].tensor;
  QmError error = { 0 };

  bench->weights = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_F32,
                                   shape->rank, shape->shape, "weights");
  CHECK_INT (qm_graph_differentiate (graph, bench->unit ? QM_NO_VALUE : owner,
                                     bench->weights, &error),
             QM_OK);
  CHECK_INT (qm_graph_check (graph, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (qm_device_open ("cpu", &bench->device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench->device, &bench->stream, NULL), QM_OK);
  allocate (bench);
  for (size_t i = 0; i < graph->n_parameters; i++)
    memset (bench->memory[graph->parameters[i].gradient], 0,
            (size_t) graph->values[graph->parameters[i].gradient].room * 4);
  run (bench, QM_PHASE_FORWARD);
  run (bench, QM_PHASE_BACKWARD);
  for (int i = 0; i < bench->n_inputs; i++)
    compare (bench, i);
  for (size_t i = 0; i < graph->n_values; i++)
    qm_device_free (bench->device, bench->memory[i]);
  free (bench->memory);
  qm_stream_free (bench->device, bench->stream);
  qm_device_close (bench->device);
  qm_graph_free (graph);
}

static void
test_pointwise (void)
{
  static const QmFunction functions[] = {
    QM_FUNCTION_GELU, QM_FUNCTION_GELU_TANH, QM_FUNCTION_RELU,
    QM_FUNCTION_SILU, QM_FUNCTION_TANH,      QM_FUNCTION_RELU2
  };
  Bench bench;
  QmNode *node;
  QmValueId x;

  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    {
      begin (&bench, "activation");
      x = input2 (&bench, 5, 7);
      bench.output = value (&bench, 2, (int64_t[]){ 5, 7 });
      node = append (&bench, QM_OP_ACTIVATION);
      node->attributes.activation = functions[i];
      node->inputs[0] = x;
      node->outputs[0] = bench.output;
      end (&bench);
    }
  begin (&bench, "add and dropout; one value used twice");
  x = input2 (&bench, 5, 9);
  bench.output = value (&bench, 2, (int64_t[]){ 5, 9 });
  QmValueId dropped = value (&bench, 2, (int64_t[]){ 5, 9 });
  node = append (&bench, QM_OP_DROPOUT);
  node->attributes.dropout = 0.3;
  node->attributes.site = 3;
  node->inputs[0] = x;
  node->inputs[1] = bench.graph->rng;
  node->outputs[0] = dropped;
  node = append (&bench, QM_OP_ADD);
  node->inputs[0] = dropped;
  node->inputs[1] = x;
  node->outputs[0] = bench.output;
  end (&bench);
}

/* One half of a value is used twice, and the other not at all: together the
 * uses are as large as the value, but they are not all of it. */
static void
test_half_twice (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x, y, half;

  begin (&bench, "one half used twice");
  x = input2 (&bench, 6, 5);
  y = value (&bench, 2, (int64_t[]){ 6, 5 });
  node = append (&bench, QM_OP_ACTIVATION);
  node->attributes.activation = QM_FUNCTION_SILU;
  node->inputs[0] = x;
  node->outputs[0] = y;
  half = qm_graph_view (bench.graph, y, 2, (int64_t[]){ 3, 5 },
                        (int64_t[]){ 5, 1 }, 0);
  bench.output = value (&bench, 2, (int64_t[]){ 3, 5 });
  node = append (&bench, QM_OP_ADD);
  node->inputs[0] = half;
  node->inputs[1] = half;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_linear (QmFunction function, bool bias)
{
  Bench bench;
  QmNode *node;
  QmValueId x, w, b;

  begin (&bench, "linear");
  x = input2 (&bench, 6, 5);
  w = input2 (&bench, 4, 5);
  b = bias ? input1 (&bench, 4) : QM_NO_VALUE;
  bench.output = value (&bench, 2, (int64_t[]){ 6, 4 });
  QmValueId pre = function != QM_FUNCTION_NONE
                      ? value (&bench, 2, (int64_t[]){ 6, 4 })
                      : QM_NO_VALUE;
  node = append (&bench, QM_OP_LINEAR);
  node->attributes.activation = function;
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = b;
  node->outputs[0] = bench.output;
  node->outputs[1] = pre;
  end (&bench);
}

static void
test_matmul (QmCausal causal)
{
  Bench bench;
  QmNode *node;
  QmValueId a, b;

  begin (&bench, "softmax between two products");
  a = input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  b = input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  QmValueId v = input (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  QmValueId scores = value (&bench, 4, (int64_t[]){ 2, 2, 5, 5 });
  QmValueId weights = value (&bench, 4, (int64_t[]){ 2, 2, 5, 5 });
  QmValueId columns =
      qm_graph_view (bench.graph, b, 4, (int64_t[]){ 2, 2, 3, 5 },
                     (int64_t[]){ 30, 15, 1, 3 }, 0);
  bench.output = value (&bench, 4, (int64_t[]){ 2, 2, 5, 3 });
  node = append (&bench, QM_OP_MATMUL);
  node->attributes.scale = 0.6;
  node->attributes.causal = causal;
  node->inputs[0] = a;
  node->inputs[1] = columns;
  node->outputs[0] = scores;
  node = append (&bench, QM_OP_SOFTMAX);
  node->attributes.causal = causal;
  node->inputs[0] = scores;
  node->outputs[0] = weights;
  node = append (&bench, QM_OP_MATMUL);
  node->attributes.scale = 1;
  node->attributes.causal =
      causal == QM_CAUSAL_RESULT ? QM_CAUSAL_LOWER : QM_CAUSAL_NONE;
  node->inputs[0] = weights;
  node->inputs[1] = v;
  node->outputs[0] = bench.output;
  end (&bench);
}

/* On packed queries, keys and values, as models have them. */
static void
test_attention (QmCausal causal, double dropout)
{
  const int64_t shape[4] = { 2, 3, 19, 4 };
  const int64_t strides[4] = { 19 * 36, 4, 36, 1 };
  Bench bench;
  QmNode *node;
  QmValueId packed, parts[3];

  begin (&bench, "attention");
  packed = input2 (&bench, 2 * 19, 36);
  for (int i = 0; i < 3; i++)
    parts[i] = qm_graph_view (bench.graph, packed, 4, shape, strides, i * 12);
  QmValueId out = value (&bench, 2, (int64_t[]){ 2 * 19, 12 });
  QmValueId lse = value (&bench, 3, shape);
  bench.output = qm_graph_view (bench.graph, out, 4, shape,
                                (int64_t[]){ 19 * 12, 4, 12, 1 }, 0);
  node = append (&bench, QM_OP_ATTENTION);
  node->attributes.causal = causal;
  node->attributes.scale = 0.5;
  node->attributes.dropout = dropout;
  node->attributes.site = 9;
  for (int i = 0; i < 3; i++)
    node->inputs[i] = parts[i];
  node->inputs[3] = bench.graph->rng;
  node->outputs[0] = bench.output;
  node->outputs[1] = lse;
  end (&bench);
}

static void
test_layer_norm (int branches, bool second, double dropout, bool rms)
{
  Bench bench;
  QmNode *node;
  QmValueId in[7], out[5];

  begin (&bench, rms ? "rms norm" : "layer norm");
  for (int i = 0; i < 7; i++)
    in[i] = QM_NO_VALUE;
  for (int i = 0; i < 5; i++)
    out[i] = QM_NO_VALUE;
  in[0] = input2 (&bench, 6, 11);
  in[1] = input1 (&bench, 11);
  if (!rms)
    in[2] = input1 (&bench, 11);
  for (int i = 0; i < branches; i++)
    in[3 + i] = input2 (&bench, 6, 11);
  for (int i = 0; second && i < (rms ? 1 : 2); i++)
    in[5 + i] = input1 (&bench, 11);
  out[0] = value (&bench, 2, (int64_t[]){ 6, 11 });
  if (!rms)
    out[1] = value (&bench, 1, (int64_t[]){ 6 });
  out[2] = value (&bench, 1, (int64_t[]){ 6 });
  if (branches > 0)
    out[3] = value (&bench, 2, (int64_t[]){ 6, 11 });
  if (second)
    out[4] = value (&bench, 2, (int64_t[]){ 6, 11 });
  node = append (&bench, QM_OP_LAYER_NORM);
  node->attributes.epsilon = 1e-3;
  node->attributes.dropout = dropout;
  node->attributes.site = 1;
  node->attributes.site2 = 2;
  node->attributes.rms = rms;
  memcpy (node->inputs, in, sizeof in);
  node->inputs[7] = dropout > 0 ? bench.graph->rng : QM_NO_VALUE;
  memcpy (node->outputs, out, sizeof out);
  bench.output = out[0];
  /* The sum of all outputs, so that each has a gradient. */
  for (int i = 3; i < 5; i++)
    if (out[i] != QM_NO_VALUE)
      {
        QmValueId sum = value (&bench, 2, (int64_t[]){ 6, 11 });

        node = append (&bench, QM_OP_ADD);
        node->inputs[0] = bench.output;
        node->inputs[1] = out[i];
        node->outputs[0] = bench.output = sum;
      }
  end (&bench);
}

/* The result twice, as a model reads it that adds after its norms. */
static void
test_layer_norm_twice (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x, gamma, beta, y, copy, mean, rstd;

  begin (&bench, "layer norm, written twice");
  x = input2 (&bench, 6, 11);
  gamma = input1 (&bench, 11);
  beta = input1 (&bench, 11);
  y = value (&bench, 2, (int64_t[]){ 6, 11 });
  copy = value (&bench, 2, (int64_t[]){ 6, 11 });
  mean = value (&bench, 1, (int64_t[]){ 6 });
  rstd = value (&bench, 1, (int64_t[]){ 6 });
  bench.output = value (&bench, 2, (int64_t[]){ 6, 11 });
  node = append (&bench, QM_OP_LAYER_NORM);
  node->attributes.epsilon = 1e-3;
  node->inputs[0] = x;
  node->inputs[1] = gamma;
  node->inputs[2] = beta;
  node->outputs[0] = y;
  node->outputs[1] = mean;
  node->outputs[2] = rstd;
  node->outputs[4] = copy;
  node = append (&bench, QM_OP_ACTIVATION);
  node->attributes.activation = QM_FUNCTION_TANH;
  node->inputs[0] = copy;
  node->outputs[0] = x = value (&bench, 2, (int64_t[]){ 6, 11 });
  node = append (&bench, QM_OP_ADD);
  node->inputs[0] = x;
  node->inputs[1] = y;
  node->outputs[0] = bench.output;
  end (&bench);
}

/* The gradient of the logits that the operator writes beside the losses is that
 * of their sum. */
static void
test_cross_entropy (bool shift, double cap, double z_loss)
{
  Bench bench;
  QmNode *node;
  QmValueId x, labels, weight, dlogits, losses, logits, row;

  begin (&bench, "cross entropy");
  x = input2 (&bench, 8, 5);
  labels = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                           (int64_t[]){ 2, 4 }, "labels");
  weight = value (&bench, 1, (int64_t[]){ 2 });
  logits = value (&bench, 2, (int64_t[]){ 8, 5 });
  dlogits = value (&bench, 2, (int64_t[]){ 8, 5 });
  losses = value (&bench, 1, (int64_t[]){ 8 });
  bench.output = value (&bench, 1, (int64_t[]){ 1 });
  node = append (&bench, QM_OP_RANDOM);
  node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->attributes.count = 5;
  node->inputs[0] = bench.graph->rng;
  node->outputs[0] = labels;
  node = append (&bench, QM_OP_LABEL_WEIGHT);
  node->attributes.scale = 1;
  node->attributes.shift = shift;
  node->inputs[0] = labels;
  node->inputs[1] = bench.graph->state;
  node->outputs[0] = weight;
  node = append (&bench, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] = logits;
  node = append (&bench, QM_OP_CROSS_ENTROPY);
  node->attributes.shift = shift;
  node->attributes.cap = cap;
  node->attributes.z_loss = z_loss;
  node->inputs[0] = logits;
  node->inputs[1] = labels;
  node->inputs[2] = weight;
  node->outputs[0] = dlogits;
  node->outputs[1] = losses;
  row = qm_graph_reshape (bench.graph, losses, 2, (int64_t[]){ 8, 1 });
  node = append (&bench, QM_OP_FILL);
  node->outputs[0] = bench.output;
  node = append (&bench, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = row;
  node->outputs[0] = bench.output;
  bench.unit = true;
  end (&bench);
}

static void
test_rotary (void)
{
  const int64_t shape[5] = { 2, 3, 3, 2, 6 };
  const int64_t strides[5] = { 108, 36, 6, 18, 1 };
  Bench bench;
  QmNode *node;
  QmValueId x, y, table;

  begin (&bench, "rotary");
  x = input2 (&bench, 6, 36);
  y = value (&bench, 2, (int64_t[]){ 6, 36 });
  /* Any numbers do: what is tested is linear. */
  table = qm_graph_value (bench.graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                          (int64_t[]){ 3, 4 }, "table");
  x = qm_graph_view (bench.graph, x, 5, shape, strides, 0);
  bench.output = qm_graph_view (bench.graph, y, 5, shape, strides, 0);
  node = append (&bench, QM_OP_FILL);
  node->attributes.value = 0.7;
  node->outputs[0] = table;
  node = append (&bench, QM_OP_ROTARY);
  node->attributes = (QmAttributes){ .rotary = 4, .count = 2 };
  node->inputs[0] = x;
  node->inputs[1] = table;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_embedding (int64_t padding)
{
  Bench bench;
  QmNode *node;
  QmValueId table, positions;

  begin (&bench, "embedding");
  table = input2 (&bench, 9, 4);
  positions = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                              (int64_t[]){ 2, 5 }, "ids");
  bench.output = value (&bench, 2, (int64_t[]){ 10, 4 });
  node = append (&bench, QM_OP_RANDOM);
  node->attributes.distribution = QM_DISTRIBUTION_INDEX;
  node->attributes.count = 9;
  node->inputs[0] = bench.graph->rng;
  node->outputs[0] = positions;
  node = append (&bench, QM_OP_EMBEDDING);
  node->attributes.padding = padding;
  node->inputs[0] = positions;
  node->inputs[1] = table;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_class_token (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x, token, position;

  begin (&bench, "class token");
  x = input2 (&bench, 2 * 3, 5);
  token = input1 (&bench, 5);
  position = input2 (&bench, 4, 5);
  bench.output = value (&bench, 2, (int64_t[]){ 2 * 4, 5 });
  node = append (&bench, QM_OP_CLASS_TOKEN);
  node->inputs[0] = x;
  node->inputs[1] = token;
  node->inputs[2] = position;
  node->outputs[0] = bench.output;
  end (&bench);
}

/* Of a map of features with channels last, of which a column is in no patch. */
static void
test_patchify (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x;

  begin (&bench, "patches");
  x = input2 (&bench, 2 * 4 * 5, 3);
  x = qm_graph_view (bench.graph, x, 4, (int64_t[]){ 2, 3, 4, 5 },
                     (int64_t[]){ 60, 1, 15, 3 }, 0);
  bench.output = value (&bench, 2, (int64_t[]){ 2 * 2 * 2, 12 });
  node = append (&bench, QM_OP_PATCHIFY);
  node->attributes.patch = 2;
  node->inputs[0] = x;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_depthwise_conv (int64_t side, bool causal, QmFunction function, bool bias)
{
  Bench bench;
  QmNode *node;
  QmValueId x, w, b;

  begin (&bench, causal ? "causal convolution" : "convolution");
  x = input2 (&bench, 2 * 4 * 5, 3);
  w = input (&bench, 3, (int64_t[]){ 3, causal ? 1 : side, side });
  b = bias ? input1 (&bench, 3) : QM_NO_VALUE;
  bench.output = value (&bench, 2, (int64_t[]){ 2 * 4 * 5, 3 });
  node = append (&bench, QM_OP_DEPTHWISE_CONV);
  node->attributes.height = causal ? 1 : 4;
  node->attributes.width = causal ? 20 : 5;
  node->attributes.causal = causal ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  node->attributes.activation = function;
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = b;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_layer_scale (bool scale, bool residual, double dropout)
{
  Bench bench;
  QmNode *node;

  begin (&bench, "layer scale");
  bench.output = value (&bench, 2, (int64_t[]){ 24, 5 });
  QmValueId x = input2 (&bench, 24, 5);
  QmValueId gamma = scale ? input1 (&bench, 5) : QM_NO_VALUE;
  QmValueId other = residual ? input2 (&bench, 24, 5) : QM_NO_VALUE;
  node = append (&bench, QM_OP_LAYER_SCALE);
  node->attributes.height = 2;
  node->attributes.width = 2;
  node->attributes.dropout = dropout;
  node->attributes.site = 4;
  node->inputs[0] = x;
  node->inputs[1] = gamma;
  node->inputs[2] = other;
  node->inputs[3] = dropout > 0 ? bench.graph->rng : QM_NO_VALUE;
  node->outputs[0] = bench.output;
  end (&bench);
}

static void
test_pool (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x;

  begin (&bench, "pool");
  x = input2 (&bench, 12, 5);
  bench.output = value (&bench, 2, (int64_t[]){ 3, 5 });
  node = append (&bench, QM_OP_POOL);
  node->inputs[0] = x;
  node->outputs[0] = bench.output;
  end (&bench);
}

/* b and c are parts of one value, as models have them. */
static void
test_selective_scan (int64_t chunk, bool bias, bool gate)
{
  const int64_t rows = 2 * 7, channels = 3, states = 2;
  const int64_t strides[2] = { 2 * states, 1 };
  Bench bench;
  QmValueId in[8], both;
  QmNode *node;

  begin (&bench, "selective scan");
  in[0] = input2 (&bench, rows, channels);
  in[1] = input2 (&bench, rows, channels);
  in[2] = input2 (&bench, channels, states);
  both = input2 (&bench, rows, 2 * states);
  for (int i = 0; i < 2; i++)
    in[3 + i] =
        qm_graph_view (bench.graph, both, 2, (int64_t[]){ rows, states },
                       strides, i * states);
  in[5] = input1 (&bench, channels);
  in[6] = bias ? input1 (&bench, channels) : QM_NO_VALUE;
  in[7] = gate ? input2 (&bench, rows, channels) : QM_NO_VALUE;
  bench.output = value (&bench, 2, (int64_t[]){ rows, channels });
  QmValueId kept =
      value (&bench, 4,
             (int64_t[]){ 2, (7 + chunk - 1) / chunk, states, channels });
  node = append (&bench, QM_OP_SELECTIVE_SCAN);
  node->attributes.width = 7;
  node->attributes.chunk = chunk;
  memcpy (node->inputs, in, sizeof in);
  node->outputs[0] = bench.output;
  node->outputs[1] = kept;
  end (&bench);
}

/* The first row of every three: a part of a value, which is not all of it. */
static void
test_part (void)
{
  Bench bench;
  QmNode *node;
  QmValueId x, y, part;

  begin (&bench, "part");
  x = input2 (&bench, 6, 4);
  y = value (&bench, 2, (int64_t[]){ 6, 4 });
  bench.output = value (&bench, 2, (int64_t[]){ 2, 4 });
  part = qm_graph_view (bench.graph, y, 2, (int64_t[]){ 2, 4 },
                        (int64_t[]){ 12, 1 }, 0);
  node = append (&bench, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] = y;
  node = append (&bench, QM_OP_COPY);
  node->inputs[0] = part;
  node->outputs[0] = bench.output;
  end (&bench);
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
  for (int i = 0; i < 4; i++)
    test_attention (i % 2 == 0 ? QM_CAUSAL_NONE : QM_CAUSAL_RESULT,
                    i < 2 ? 0 : 0.2);
  for (int branches = 0; branches < 3; branches++)
    for (int i = 0; i < 4; i++)
      if (branches > 0 || i < 2)
        for (int rms = 0; rms < 2; rms++)
          test_layer_norm (branches, i % 2 == 1, i < 2 ? 0 : 0.25, rms == 1);
  test_layer_norm_twice ();
  for (int i = 0; i < 8; i++)
    test_cross_entropy (i % 2 != 0, i / 2 % 2 * 1.5, i / 4 * 0.1);
  test_rotary ();
  test_embedding (-1);
  test_class_token ();
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
  test_pool ();
  for (int i = 0; i < 6; i++)
    test_selective_scan (1 + i / 2 * 3, i % 2 == 0, i / 2 == 1 || i % 2 == 1);
  return check_report ();
}
