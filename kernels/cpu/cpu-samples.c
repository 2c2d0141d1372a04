/* SPDX-License-Identifier: Apache-2.0 */

/* What samples have of their own: positions of rows, and what norms and gates
 * are told of a sample. */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

bool
qm_cpu_add_positions (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *position = &call->inputs[1];
  const QmTensor *y = &call->outputs[0];
  int64_t n = x->shape[1], length = position->shape[0];
  float *row = qm_cpu_floats (2 * n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < x->shape[0]; r++)
    {
      qm_cpu_load (x, r * x->stride[0], n, row);
      qm_cpu_load (position, r % length * position->stride[0], n, row + n);
      for (int64_t j = 0; j < n; j++)
        row[j] += row[n + j];
      qm_cpu_store (y, r * y->stride[0], n, row);
    }
  free (row);
  return true;
}

/* The row of a sample that a row of `rows` belongs to. */
static void
load_of_sample (const QmTensor *vectors, int64_t row, int64_t rows, float *to)
{
  int64_t b = row / (rows / vectors->shape[0]);

  qm_cpu_load (vectors, b * vectors->stride[0], vectors->shape[1], to);
}

static void
normalize_sample (
    float *row, int64_t n, double epsilon, float *mean, float *rstd)
{
  double sum = 0, squares = 0;

  for (int64_t j = 0; j < n; j++)
    sum += row[j];
  sum /= (double) n;
  for (int64_t j = 0; j < n; j++)
    squares += (row[j] - sum) * (row[j] - sum);
  *mean = (float) sum;
  *rstd = (float) (1 / sqrt (squares / (double) n + epsilon));
  for (int64_t j = 0; j < n; j++)
    row[j] = (row[j] - *mean) * *rstd;
}

/* The row becomes the sum of it and the gated branch, which is stored. */
static void
add_gated (const QmOpCall *call, int64_t r, float *row, float *a, float *gate)
{
  const QmTensor *in = call->inputs, *sum = &call->outputs[3];
  int64_t rows = in[0].shape[0], n = in[0].shape[1];

  qm_cpu_load (&in[3], r * in[3].stride[0], n, a);
  load_of_sample (&in[4], r, rows, gate);
  for (int64_t j = 0; j < n; j++)
    row[j] += gate[j] * a[j];
  qm_cpu_store (sum, r * sum->stride[0], n, row);
}

bool
qm_cpu_adaptive_norm (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], n = in[0].shape[1];
  float *mean = out[1].data, *rstd = out[2].data;
  float *row = qm_cpu_floats (3 * n), *shift = row + n, *scale = row + 2 * n;

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      qm_cpu_load (&in[0], r * in[0].stride[0], n, row);
      if (qm_tensor_present (&in[3]))
        add_gated (call, r, row, shift, scale);
      load_of_sample (&in[1], r, rows, shift);
      load_of_sample (&in[2], r, rows, scale);
      normalize_sample (row, n, call->attributes.epsilon, &mean[r], &rstd[r]);
      for (int64_t j = 0; j < n; j++)
        row[j] = row[j] * (1 + scale[j]) + shift[j];
      qm_cpu_store (&out[0], r * out[0].stride[0], n, row);
    }
  free (row);
  return true;
}

/* Sums of a sample, from one row to the next; stored after its last. */
static void
end_sample (
    const QmTensor *to, int64_t row, int64_t rows, double *sums, float *scratch)
{
  int64_t each = rows / to->shape[0], n = to->shape[1];

  if (row % each != each - 1)
    return;
  for (int64_t j = 0; j < n; j++)
    scratch[j] = (float) sums[j];
  qm_cpu_store (to, row / each * to->stride[0], n, scratch);
  memset (sums, 0, (size_t) n * sizeof *sums);
}

/* `dy` becomes dx; `norm` is the row, and `scale` that of its sample. */
static void
norm_row_backward (const QmOpCall *call,
                   int64_t r,
                   float *dy,
                   float *norm,
                   float *scale,
                   double *sums)
{
  const QmTensor *in = call->inputs;
  int64_t n = in[0].shape[1];
  float mean = ((const float *) in[3].data)[r];
  float rstd = ((const float *) in[4].data)[r];
  double sum = 0, dot = 0;

  for (int64_t j = 0; j < n; j++)
    {
      norm[j] = (norm[j] - mean) * rstd;
      sums[j] += dy[j];
      sums[n + j] += (double) dy[j] * norm[j];
      dy[j] *= 1 + scale[j];
      sum += dy[j];
      dot += (double) dy[j] * norm[j];
    }
  for (int64_t j = 0; j < n; j++)
    dy[j] = rstd
            * (float) (dy[j] - sum / (double) n - norm[j] * (dot / (double) n));
  if (!qm_tensor_present (&in[5]))
    return;
  qm_cpu_load (&in[5], r * in[5].stride[0], n, scale);
  for (int64_t j = 0; j < n; j++)
    dy[j] += scale[j];
}

/* `dx` becomes the gradient of the branch. */
static void
gate_row_backward (const QmOpCall *call,
                   int64_t r,
                   float *dx,
                   float *a,
                   float *gate,
                   double *sums)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], n = in[0].shape[1];

  qm_cpu_load (&out[0], r * out[0].stride[0], n, dx); /* rounded */
  qm_cpu_load (&in[6], r * in[6].stride[0], n, a);
  load_of_sample (&in[7], r, rows, gate);
  for (int64_t j = 0; j < n; j++)
    {
      sums[j] += (double) a[j] * dx[j];
      dx[j] *= gate[j];
    }
  qm_cpu_store (&out[3], r * out[3].stride[0], n, dx);
}

bool
qm_cpu_adaptive_norm_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], n = in[0].shape[1];
  bool gated = qm_tensor_present (&in[6]);
  float *dy = qm_cpu_floats (3 * n), *norm = dy + n, *scale = dy + 2 * n;
  double *sums = calloc ((size_t) (3 * n), sizeof *sums);
  bool ok = dy != NULL && sums != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    {
      qm_cpu_load (&in[0], r * in[0].stride[0], n, dy);
      qm_cpu_load (&in[1], r * in[1].stride[0], n, norm);
      load_of_sample (&in[2], r, rows, scale);
      norm_row_backward (call, r, dy, norm, scale, sums);
      qm_cpu_store (&out[0], r * out[0].stride[0], n, dy);
      if (gated)
        {
          gate_row_backward (call, r, dy, norm, scale, sums + 2 * n);
          end_sample (&out[4], r, rows, sums + 2 * n, dy);
        }
      end_sample (&out[1], r, rows, sums, dy);
      end_sample (&out[2], r, rows, sums + n, dy);
    }
  free (dy);
  free (sums);
  return ok;
}

bool
qm_cpu_gated_add (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *y = &call->outputs[0];
  int64_t rows = y->shape[0], n = y->shape[1];
  float *x = qm_cpu_floats (3 * n), *gate = x + n, *sum = x + 2 * n;

  if (x == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      qm_cpu_load (&in[0], r * in[0].stride[0], n, x);
      load_of_sample (&in[1], r, rows, gate);
      qm_cpu_load (&in[2], r * in[2].stride[0], n, sum);
      for (int64_t j = 0; j < n; j++)
        sum[j] += gate[j] * x[j];
      qm_cpu_store (y, r * y->stride[0], n, sum);
    }
  free (x);
  return true;
}

bool
qm_cpu_gated_add_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], n = in[0].shape[1];
  float *dy = qm_cpu_floats (3 * n), *x = dy + n, *gate = dy + 2 * n;
  double *sums = calloc ((size_t) n, sizeof *sums);
  bool ok = dy != NULL && sums != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    {
      qm_cpu_load (&in[0], r * in[0].stride[0], n, dy);
      qm_cpu_load (&in[1], r * in[1].stride[0], n, x);
      load_of_sample (&in[2], r, rows, gate);
      for (int64_t j = 0; j < n; j++)
        {
          sums[j] += (double) x[j] * dy[j];
          dy[j] *= gate[j];
        }
      qm_cpu_store (&out[0], r * out[0].stride[0], n, dy);
      end_sample (&out[1], r, rows, sums, dy);
    }
  free (dy);
  free (sums);
  return ok;
}
