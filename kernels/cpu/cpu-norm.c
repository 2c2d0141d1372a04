/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* to += dropout (branch), for one row. */
static void
add_branch (const QmOpCall *call,
            const QmTensor *branch,
            uint32_t site,
            int64_t row,
            float *scratch,
            float *to)
{
  int64_t n = branch->shape[1];
  bool drop = qm_dropout_is_on (call->attributes.dropout);

  qm_cpu_load (branch, row * branch->stride[0], n, scratch);
  for (int64_t j = 0; j < n; j++)
    to[j] += drop ? scratch[j]
                        * qm_cpu_dropout (&call->attributes, site,
                                          call->inputs[7].data, row * n + j)
                  : scratch[j];
}

/* to += gain a, of a sample that is left out nothing, for one row. */
static void
add_scaled_branch (const QmOpCall *call, int64_t row, float *scratch, float *to)
{
  const QmTensor *a = &call->inputs[3], *gain = &call->inputs[8];
  float factor = qm_cpu_depth (&call->attributes, call->inputs[7].data, row);
  int64_t n = a->shape[1];

  qm_cpu_load (a, row * a->stride[0], n, scratch);
  for (int64_t j = 0; j < n; j++)
    {
      float g;

      qm_cpu_load (gain, j, 1, &g);
      to[j] += factor * g * scratch[j];
    }
}

/* y = n gamma + beta, for one row. */
static void
scale_and_shift (const QmTensor *gamma,
                 const QmTensor *beta,
                 const float *n,
                 const QmTensor *y,
                 int64_t row,
                 float *scratch)
{
  int64_t columns = y->shape[1];

  for (int64_t j = 0; j < columns; j++)
    {
      float g, b = 0;

      qm_cpu_load (gamma, j, 1, &g);
      if (qm_tensor_present (beta))
        qm_cpu_load (beta, j, 1, &b);
      scratch[j] = n[j] * g + b;
    }
  qm_cpu_store (y, row * y->stride[0], columns, scratch);
}

static void
normalize_row (const QmAttributes *attributes,
               float *row,
               int64_t n,
               float *mean,
               float *rstd)
{
  double sum = 0, squares = 0;

  for (int64_t j = 0; j < n && !attributes->rms; j++)
    sum += row[j];
  sum /= (double) n;
  for (int64_t j = 0; j < n; j++)
    squares += (row[j] - sum) * (row[j] - sum);
  *mean = (float) sum;
  *rstd = (float) (1 / sqrt (squares / (double) n + attributes->epsilon));
  for (int64_t j = 0; j < n; j++)
    row[j] = (row[j] - *mean) * *rstd;
}

bool
qm_cpu_layer_norm (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], n = in[0].shape[1];
  bool second = qm_tensor_present (&in[5]);
  float *row = qm_cpu_floats (2 * n), *scratch = row != NULL ? row + n : NULL;

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      float mean;

      qm_cpu_load (&in[0], r * in[0].stride[0], n, row);
      if (qm_tensor_present (&in[8]))
        add_scaled_branch (call, r, scratch, row);
      else if (qm_tensor_present (&in[3]))
        add_branch (call, &in[3], call->attributes.site, r, scratch, row);
      if (qm_tensor_present (&in[4]))
        add_branch (call, &in[4], call->attributes.site2, r, scratch, row);
      if (qm_tensor_present (&out[3]))
        qm_cpu_store (&out[3], r * out[3].stride[0], n, row);
      normalize_row (&call->attributes, row, n, &mean,
                     (float *) out[2].data + r);
      if (qm_tensor_present (&out[1]))
        ((float *) out[1].data)[r] = mean;
      scale_and_shift (&in[1], &in[2], row, &out[0], r, scratch);
      if (qm_tensor_present (&out[4]))
        scale_and_shift (second ? &in[5] : &in[1], second ? &in[6] : &in[2],
                         row, &out[4], r, scratch);
    }
  free (row);
  return true;
}

/* Adds the gradients of one row's gamma and beta, and to `dn` that of the
 * normalized row `n`. */
static void
scale_backward (const QmTensor *dy,
                const QmTensor *gamma,
                const float *n,
                int64_t row,
                double *sums, /* gamma, then beta */
                float *dn)
{
  int64_t columns = dy->shape[1];

  for (int64_t j = 0; j < columns; j++)
    {
      float g, d;

      qm_cpu_load (gamma, j, 1, &g);
      qm_cpu_load (dy, row * dy->stride[0] + j, 1, &d);
      sums[j] += d * n[j];
      sums[columns + j] += d;
      dn[j] += d * g;
    }
}

/* From the gradient of the normalized row to that of the row. */
static void
normalize_backward (
    bool rms, float *dn, const float *n, float rstd, int64_t columns)
{
  double mean = 0, dot = 0;

  for (int64_t j = 0; j < columns; j++)
    {
      mean += rms ? 0 : dn[j];
      dot += (double) dn[j] * n[j];
    }
  mean /= (double) columns;
  dot /= (double) columns;
  for (int64_t j = 0; j < columns; j++)
    dn[j] = rstd * (float) (dn[j] - mean - n[j] * dot);
}

static void
store_branch (const QmOpCall *call,
              const QmTensor *branch,
              uint32_t site,
              int64_t row,
              const float *dx)
{
  int64_t n = branch->shape[1];
  bool drop = qm_dropout_is_on (call->attributes.dropout);

  for (int64_t j = 0; j < n; j++)
    {
      float value =
          drop ? dx[j]
                     * qm_cpu_dropout (&call->attributes, site,
                                       call->inputs[8].data, row * n + j)
               : dx[j];

      qm_cpu_store (branch, row * branch->stride[0] + j, 1, &value);
    }
}

/* Stores gain dx, and adds a dx to the gradient of the gain: nothing of a
 * sample that is left out.  The row of `a` is overwritten. */
static void
scaled_branch_backward (
    const QmOpCall *call, int64_t row, const float *dx, float *a, double *dgain)
{
  const QmTensor *gain = &call->inputs[10], *to = &call->outputs[5];
  float factor = qm_cpu_depth (&call->attributes, call->inputs[8].data, row);
  int64_t n = to->shape[1];

  for (int64_t j = 0; j < n; j++)
    {
      float g;

      qm_cpu_load (gain, j, 1, &g);
      dgain[j] += factor * a[j] * dx[j];
      a[j] = factor * g * dx[j];
    }
  qm_cpu_store (to, row * to->stride[0], n, a);
}

static void
norm_row_backward (
    const QmOpCall *call, int64_t r, float *n, float *dn, double *sums)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t columns = in[0].shape[1];
  bool second = qm_tensor_present (&in[7]);
  float mean = call->attributes.rms ? 0 : ((const float *) in[3].data)[r];
  float rstd = ((const float *) in[4].data)[r];

  qm_cpu_load (&in[1], r * in[1].stride[0], columns, n);
  for (int64_t j = 0; j < columns; j++)
    n[j] = (n[j] - mean) * rstd;
  memset (dn, 0, (size_t) columns * sizeof *dn);
  scale_backward (&in[0], &in[2], n, r, sums, dn);
  if (qm_tensor_present (&in[6]))
    scale_backward (&in[6], second ? &in[7] : &in[2], n, r,
                    sums + (second ? 2 * columns : 0), dn);
  normalize_backward (call->attributes.rms, dn, n, rstd, columns);
  if (qm_tensor_present (&in[5]))
    {
      qm_cpu_load (&in[5], r * in[5].stride[0], columns, n);
      for (int64_t j = 0; j < columns; j++)
        dn[j] += n[j];
    }
  if (qm_tensor_present (&in[9]))
    qm_cpu_load (&in[9], r * in[9].stride[0], columns, n);
  qm_cpu_store (&out[0], r * out[0].stride[0], columns, dn);
  if (qm_tensor_present (&in[9]))
    scaled_branch_backward (call, r, dn, n, sums + 4 * columns);
  else if (qm_tensor_present (&out[5]))
    store_branch (call, &out[5], call->attributes.site, r, dn);
  if (qm_tensor_present (&out[6]))
    store_branch (call, &out[6], call->attributes.site2, r, dn);
}

bool
qm_cpu_layer_norm_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t rows = in[0].shape[0], columns = in[0].shape[1];
  float *scratch = qm_cpu_floats (2 * columns);
  static const int slots[5] = { 1, 2, 3, 4, 7 };
  double *sums = calloc ((size_t) (5 * columns), sizeof *sums);
  bool ok = scratch != NULL && sums != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    norm_row_backward (call, r, scratch, scratch + columns, sums);
  for (int i = 0; ok && i < 5; i++)
    if (qm_tensor_present (&out[slots[i]]))
      for (int64_t j = 0; j < columns; j++)
        ((float *) out[slots[i]].data)[j] += (float) sums[i * columns + j];
  free (scratch);
  free (sums);
  return ok;
}

/* The row behind the gate, in the place of x. */
static void
gate_row (QmFunction function, const float *gate, float *x, int64_t n)
{
  for (int64_t j = 0; j < n; j++)
    x[j] *= qm_cpu_function (function, gate[j]);
}

bool
qm_cpu_gated_norm (QmThreads *threads, const QmOpCall *call)
{
  static const QmTensor none;
  const QmTensor *in = call->inputs, *out = call->outputs;
  QmAttributes attributes = call->attributes;
  int64_t n = in[0].shape[1];
  float *gate = qm_cpu_floats (2 * n), *x = gate != NULL ? gate + n : NULL;

  if (gate == NULL)
    return false;
  attributes.rms = true;
  for (int64_t r = 0; r < in[0].shape[0]; r++)
    {
      float mean;

      qm_cpu_load (&in[0], r * in[0].stride[0], n, gate);
      qm_cpu_load (&in[1], r * in[1].stride[0], n, x);
      gate_row (attributes.activation, gate, x, n);
      normalize_row (&attributes, x, n, &mean, (float *) out[1].data + r);
      scale_and_shift (&in[2], &none, x, &out[0], r, gate);
    }
  free (gate);
  return true;
}

/* `gate` to `dn` are as long as a row. */
static void
gated_row_backward (const QmOpCall *call,
                    int64_t r,
                    float *gate,
                    float *x,
                    float *n,
                    float *dn,
                    double *sums)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  QmFunction function = call->attributes.activation;
  float rstd = ((const float *) in[4].data)[r];
  int64_t columns = in[0].shape[1];

  qm_cpu_load (&in[1], r * in[1].stride[0], columns, gate);
  qm_cpu_load (&in[2], r * in[2].stride[0], columns, x);
  memcpy (n, x, (size_t) columns * sizeof *n);
  gate_row (function, gate, n, columns);
  for (int64_t j = 0; j < columns; j++)
    n[j] *= rstd;
  memset (dn, 0, (size_t) columns * sizeof *dn);
  scale_backward (&in[0], &in[3], n, r, sums, dn);
  normalize_backward (true, dn, n, rstd, columns);
  for (int64_t j = 0; j < columns; j++)
    {
      x[j] *= dn[j] * qm_cpu_function_slope (function, gate[j]);
      dn[j] *= qm_cpu_function (function, gate[j]);
    }
  qm_cpu_store (&out[0], r * out[0].stride[0], columns, x);
  qm_cpu_store (&out[1], r * out[1].stride[0], columns, dn);
}

bool
qm_cpu_gated_norm_backward (QmThreads *threads, const QmOpCall *call)
{
  int64_t rows = call->inputs[0].shape[0], n = call->inputs[0].shape[1];
  float *scratch = qm_cpu_floats (4 * n);
  double *sums = calloc ((size_t) (2 * n), sizeof *sums);
  bool ok = scratch != NULL && sums != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    gated_row_backward (call, r, scratch, scratch + n, scratch + 2 * n,
                        scratch + 3 * n, sums);
  for (int64_t j = 0; ok && j < n; j++)
    ((float *) call->outputs[2].data)[j] += (float) sums[j];
  free (scratch);
  free (sums);
  return ok;
}
