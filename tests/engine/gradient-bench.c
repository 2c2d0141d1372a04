/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/engine/gradient-bench.h"

#include "engine/differentiate.h"
#include "kernels/random.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP      1e-2
#define TOLERANCE 3e-3

void
gradient_begin (GradientBench *bench, const char *name)
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

QmValueId
gradient_input (GradientBench *bench, int32_t rank, const int64_t *shape)
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

QmValueId
gradient_input2 (GradientBench *bench, int64_t rows, int64_t columns)
{
  return gradient_input (bench, 2, (int64_t[]){ rows, columns });
}

QmValueId
gradient_input1 (GradientBench *bench, int64_t n)
{
  return gradient_input (bench, 1, &n);
}

QmValueId
gradient_value (GradientBench *bench, int32_t rank, const int64_t *shape)
{
  return qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, rank,
                         shape, "value");
}

QmNode *
gradient_append (GradientBench *bench, QmOp op)
{
  return qm_graph_append (bench->graph, op);
}

QmValueId
gradient_copy (GradientBench *bench, QmValueId x)
{
  const QmTensor *tensor = qm_graph_tensor (bench->graph, x);
  QmValueId copy =
      gradient_value (bench, 2,
                      (int64_t[]){ tensor->shape[0], tensor->shape[1] });
  QmNode *node = gradient_append (bench, QM_OP_COPY);

  node->inputs[0] = x;
  node->outputs[0] = copy;
  return copy;
}

void
gradient_sum (GradientBench *bench, QmValueId losses)
{
  int64_t rows = qm_graph_tensor (bench->graph, losses)->shape[0];
  QmNode *node;

  bench->output = gradient_value (bench, 1, (int64_t[]){ 1 });
  losses = qm_graph_reshape (bench->graph, losses, 2, (int64_t[]){ rows, 1 });
  gradient_append (bench, QM_OP_FILL)->outputs[0] = bench->output;
  node = gradient_append (bench, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = losses;
  node->outputs[0] = bench->output;
  bench->unit = true;
}

static float
normal (uint32_t seed, uint32_t index)
{
  return qm_random_normal (qm_philox (seed, 7, index, 0, 0, 0), 0);
}

static void
fill (GradientBench *bench, QmValueId id, uint32_t seed, float scale)
{
  float *values = bench->memory[id];
  int64_t room = bench->graph->values[id].room;

  for (int64_t i = 0; i < room; i++)
    values[i] = scale * normal (seed, (uint32_t) i);
}

static void
allocate (GradientBench *bench)
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
bind (const GradientBench *bench, QmValueId id, QmTensor *tensor)
{
  const QmValue *v;

  if (id == QM_NO_VALUE)
    return;
  v = &bench->graph->values[id];
  tensor->data = (char *) bench->memory[v->owner] + v->offset * 4;
}

static void
run (GradientBench *bench, QmPhase phase)
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
objective (GradientBench *bench)
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
move (GradientBench *bench, int i, double step)
{
  float *values = bench->memory[bench->inputs[i]];
  int64_t n = bench->graph->values[bench->inputs[i]].room;

  for (int64_t j = 0; j < n; j++)
    values[j] +=
        (float) step * normal (bench->seed + 50 + (uint32_t) i, (uint32_t) j);
}

static void
compare (GradientBench *bench, int i)
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

void
gradient_end (GradientBench *bench)
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
  if (bench->pass != NULL)
    CHECK_INT (bench->pass (graph, &error), QM_OK);
  CHECK_INT (qm_graph_check (graph, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (qm_device_open ("cpu", 0, &bench->device, NULL), QM_OK);
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
