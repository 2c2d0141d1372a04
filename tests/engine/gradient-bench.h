/* SPDX-License-Identifier: Apache-2.0 */

/* Every operator's gradient against central differences: for a random direction
 * in the space of each input, the derivative of sum (weights x output) along
 * it. */

#ifndef QM_TESTS_ENGINE_GRADIENT_BENCH_H
#define QM_TESTS_ENGINE_GRADIENT_BENCH_H

#include "engine/graph.h"
#include "kernels/device.h"

#define GRADIENT_MAX_INPUTS 8

/* A graph of one operator under test, each value with memory of its own. */
typedef struct GradientBench
{
  QmGraph *graph;
  QmDevice *device;
  QmStream *stream;
  void **memory; /* by value */
  uint32_t seed;
  QmValueId inputs[GRADIENT_MAX_INPUTS]; /* float inputs, as parameters */
  int n_inputs;
  QmValueId output, weights; /* the sum's */
  bool unit;                 /* weights are 1, and the graph knows already */
  QmStatus (*pass) (QmGraph *graph, QmError *error); /* after differentiation */
} GradientBench;

/* Begins a graph; `name` is the case's. */
void gradient_begin (GradientBench *bench, const char *name);

/* An input that is to have a gradient. */
QmValueId
gradient_input (GradientBench *bench, int32_t rank, const int64_t *shape);
QmValueId gradient_input2 (GradientBench *bench, int64_t rows, int64_t columns);
QmValueId gradient_input1 (GradientBench *bench, int64_t n);

/* What an operator makes. */
QmValueId
gradient_value (GradientBench *bench, int32_t rank, const int64_t *shape);

QmNode *gradient_append (GradientBench *bench, QmOp op);

/* A copy of a matrix, for what writes over it. */
QmValueId gradient_copy (GradientBench *bench, QmValueId x);

/* Of a loss that tells its gradient itself: the sum of the losses of rows is
 * the output, of weight 1. */
void gradient_sum (GradientBench *bench, QmValueId losses);

/* Checks the gradients of all inputs, and frees everything. */
void gradient_end (GradientBench *bench);

#endif
