/* SPDX-License-Identifier: Apache-2.0 */

/* What experts compute of their rows. */

#include "kernels/cpu/cpu.h"

#include <math.h>

bool
qm_cpu_weighted_gate (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *gate = &call->inputs[0], *up = &call->inputs[1];
  const QmTensor *y = &call->outputs[0];
  const float *weights = call->inputs[2].data;
  const int32_t *rows = call->inputs[3].data;
  int64_t n = gate->shape[1];
  float *g = qm_cpu_floats (n), *u = qm_cpu_floats (n);
  bool ok = g != NULL && u != NULL;

  for (int64_t r = 0; ok && r < gate->shape[0]; r++)
    {
      qm_cpu_load (gate, r * gate->stride[0], n, g);
      qm_cpu_load (up, r * up->stride[0], n, u);
      for (int64_t i = 0; i < n; i++)
        g[i] = weights[rows[r]]
               * (qm_cpu_function (call->attributes.activation, g[i]) * u[i]);
      qm_cpu_store (y, r * y->stride[0], n, g);
    }
  free (g);
  free (u);
  return ok;
}

/* Gradients of a row take the place of its gate and its up; returns that of its
 * weight. */
static float
row_backward (QmFunction function,
              int64_t n,
              float weight,
              const float *dy,
              float *gate,
              float *up)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++)
    {
      float y = qm_cpu_function (function, gate[i]), d = weight * dy[i];

      sum += (double) dy[i] * (y * up[i]);
      gate[i] = d * up[i] * qm_cpu_function_slope (function, gate[i]);
      up[i] = d * y;
    }
  return (float) sum;
}

bool
qm_cpu_weighted_gate_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *gate = &call->inputs[1];
  const QmTensor *up = &call->inputs[2], *out = call->outputs;
  const float *weights = call->inputs[3].data;
  const int32_t *rows = call->inputs[4].data;
  float *dweights = out[2].data;
  int64_t n = gate->shape[1];
  float *d = qm_cpu_floats (n), *g = qm_cpu_floats (n), *u = qm_cpu_floats (n);
  bool ok = d != NULL && g != NULL && u != NULL;

  for (int64_t r = 0; ok && r < gate->shape[0]; r++)
    {
      qm_cpu_load (dy, r * dy->stride[0], n, d);
      qm_cpu_load (gate, r * gate->stride[0], n, g);
      qm_cpu_load (up, r * up->stride[0], n, u);
      dweights[rows[r]] = row_backward (call->attributes.activation, n,
                                        weights[rows[r]], d, g, u);
      qm_cpu_store (&out[0], r * out[0].stride[0], n, g);
      qm_cpu_store (&out[1], r * out[1].stride[0], n, u);
    }
  free (d);
  free (g);
  free (u);
  return ok;
}

/* `n` rows of a matrix from `first` on. */
static QmCpuMatrix
some_rows (const QmTensor *tensor, int64_t first, int64_t n)
{
  QmCpuMatrix matrix = qm_cpu_matrix (tensor, first * tensor->stride[0]);

  matrix.rows = n;
  return matrix;
}

/* y = x w' or, not `transposed`, x w, group by group. */
static bool
multiply_groups (QmThreads *threads, const QmOpCall *call, bool transposed)
{
  const QmTensor *x = &call->inputs[0], *w = &call->inputs[1];
  const QmTensor *y = &call->outputs[0];
  const int32_t *offsets = call->inputs[2].data;
  int64_t n = y->shape[1];
  float *c = qm_cpu_floats (y->shape[0] * n);
  bool ok = c != NULL;

  for (int64_t e = 0; ok && e < w->shape[0]; e++)
    {
      int64_t first = offsets[e], rows = offsets[e + 1] - first;
      QmCpuMatrix own = qm_cpu_matrix (w, e * w->stride[0]);

      if (rows == 0)
        continue;
      ok = qm_cpu_product (threads, some_rows (x, first, rows),
                           transposed ? qm_cpu_transpose (own) : own, c);
      for (int64_t r = 0; ok && r < rows; r++)
        qm_cpu_store (y, (first + r) * y->stride[0], n, c + r * n);
    }
  free (c);
  return ok;
}

bool
qm_cpu_grouped_linear (QmThreads *threads, const QmOpCall *call)
{
  return multiply_groups (threads, call, true);
}

bool
qm_cpu_grouped_input_grad (QmThreads *threads, const QmOpCall *call)
{
  return multiply_groups (threads, call, false);
}

bool
qm_cpu_grouped_weight_grad (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *x = &call->inputs[1];
  const QmTensor *dw = &call->outputs[0];
  const int32_t *offsets = call->inputs[2].data;
  int64_t size = dw->shape[1] * dw->shape[2];
  float *c = qm_cpu_floats (size);
  bool ok = c != NULL;

  for (int64_t e = 0; ok && e < dw->shape[0]; e++)
    {
      int64_t first = offsets[e], rows = offsets[e + 1] - first;
      float *own = qm_cpu_at (dw, e * size);

      if (rows == 0)
        continue;
      ok = qm_cpu_product (threads,
                           qm_cpu_transpose (some_rows (dy, first, rows)),
                           some_rows (x, first, rows), c);
      for (int64_t i = 0; ok && i < size; i++)
        own[i] += c[i];
    }
  free (c);
  return ok;
}
