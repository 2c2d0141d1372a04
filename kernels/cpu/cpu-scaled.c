/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers in FP8 and their products. */

#include "kernels/cpu/cpu.h"
#include "kernels/scaled.h"

#include <math.h>
#include <string.h>

/* The larger magnitude, or what is not a number. */
static void
take_amax (float *amax, float x)
{
  x = fabsf (x);
  if (isnan (x) || x > *amax)
    *amax = x;
}

/* Largest magnitudes of the rows, the columns and all of x, dense. */
typedef struct Largest
{
  float *rows, *columns, all;
} Largest;

static void
find_largest (const float *x, int64_t rows, int64_t columns, Largest *largest)
{
  memset (largest->rows, 0, (size_t) rows * sizeof (float));
  memset (largest->columns, 0, (size_t) columns * sizeof (float));
  largest->all = 0;
  for (int64_t r = 0; r < rows; r++)
    {
      for (int64_t c = 0; c < columns; c++)
        {
          take_amax (&largest->rows[r], x[r * columns + c]);
          take_amax (&largest->columns[c], x[r * columns + c]);
        }
      take_amax (&largest->all, largest->rows[r]);
    }
}

/* The largest noted, or, of none, that of x. */
static float
amax_of_history (const QmTensor *history, float all)
{
  const float *noted = history->data;
  float amax = 0;

  if (!qm_tensor_present (history))
    return all;
  for (int64_t i = 0; i < history->shape[0]; i++)
    amax = fmaxf (amax, noted[i]);
  return amax > 0 ? amax : all;
}

/* x as its rows, or its columns, are read: of each `n` numbers. */
typedef struct Lines
{
  const float *x;
  int64_t n, line_stride, stride;
} Lines;

/* q, or qt, with its scales where each row has its own; what is behind its line
 * is zero. */
static void
quantize_lines (const QmTensor *q,
                const QmTensor *scales,
                const float *amax,
                float scale,
                Lines lines,
                float *scratch)
{
  for (int64_t i = 0; qm_tensor_present (q) && i < q->shape[0]; i++)
    {
      const float *x = lines.x + i * lines.line_stride;
      float inverse;

      if (scales != NULL)
        scale = ((float *) scales->data)[i] =
            qm_scaled_scale (amax[i], q->type);
      inverse = 1 / scale;
      for (int64_t j = 0; j < q->shape[1]; j++)
        scratch[j] = j < lines.n ? x[j * lines.stride] * inverse : 0;
      qm_cpu_store (q, i * q->shape[1], q->shape[1], scratch);
    }
}

bool
qm_cpu_quantize (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *out = call->outputs;
  int64_t rows = x->shape[0], columns = x->shape[1];
  bool by_row = call->attributes.by_row;
  float *dense = qm_cpu_floats (rows * columns), scale = 1;
  float *scratch = qm_cpu_floats (
      columns + (qm_tensor_present (&out[2]) ? out[2].shape[1] : 0));
  Largest largest = { qm_cpu_floats (rows), qm_cpu_floats (columns), 0 };
  bool ok = dense != NULL && scratch != NULL && largest.rows != NULL
            && largest.columns != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    qm_cpu_load (x, r * x->stride[0], columns, dense + r * columns);
  if (ok)
    {
      QmType type = qm_tensor_present (&out[0]) ? out[0].type : out[2].type;

      find_largest (dense, rows, columns, &largest);
      if (!by_row)
        *(float *) out[1].data = scale =
            qm_scaled_scale (amax_of_history (&call->inputs[1], largest.all),
                             type);
      quantize_lines (&out[0], by_row ? &out[1] : NULL, largest.rows, scale,
                      (Lines){ dense, columns, columns, 1 }, scratch);
      quantize_lines (&out[2], by_row ? &out[3] : NULL, largest.columns, scale,
                      (Lines){ dense, rows, 1, columns }, scratch);
      if (qm_tensor_present (&out[4]))
        *(float *) out[4].data = largest.all;
    }
  free (dense);
  free (scratch);
  free (largest.rows);
  free (largest.columns);
  return ok;
}

bool
qm_cpu_note_amax (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *history = &call->outputs[0];
  const float *amax = call->inputs[0].data;
  int64_t n = history->shape[1];

  for (int64_t i = 0; i < history->shape[0]; i++)
    {
      float *row = (float *) history->data + i * n;

      memmove (row + 1, row, (size_t) (n - 1) * sizeof *row);
      row[0] = isfinite (amax[i]) ? amax[i] : 0;
    }
  return true;
}

static float
scale_at (const QmTensor *scales, int64_t row)
{
  return ((const float *) scales->data)[scales->shape[0] > 1 ? row : 0];
}

/* (sa sb) a b', dense. */
static bool
scaled_product (QmThreads *threads, const QmOpCall *call, float *c)
{
  const QmTensor *in = call->inputs;
  int64_t rows = in[0].shape[0], columns = in[1].shape[0];

  if (!qm_cpu_product (threads, qm_cpu_matrix (&in[0], 0),
                       qm_cpu_transpose (qm_cpu_matrix (&in[1], 0)), c))
    return false;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < columns; j++)
      c[r * columns + j] *= scale_at (&in[2], r) * scale_at (&in[3], j);
  return true;
}

bool
qm_cpu_scaled_linear (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *bias = &call->inputs[4], *y = &call->outputs[0];
  int64_t rows = y->shape[0], out = y->shape[1];
  float *c = qm_cpu_floats (rows * out), *offsets = qm_cpu_floats (out);
  bool ok = c != NULL && offsets != NULL && scaled_product (threads, call, c);

  if (ok && qm_tensor_present (bias))
    qm_cpu_load (bias, 0, out, offsets);
  for (int64_t r = 0; ok && r < rows; r++)
    {
      for (int64_t j = 0; qm_tensor_present (bias) && j < out; j++)
        c[r * out + j] += offsets[j];
      qm_cpu_store (y, r * y->stride[0], out, c + r * out);
    }
  free (c);
  free (offsets);
  return ok;
}

bool
qm_cpu_scaled_weight_grad (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dw = &call->outputs[0];
  int64_t out = dw->shape[0], in = dw->shape[1];
  float *c = qm_cpu_floats (out * in);
  bool ok = c != NULL && scaled_product (threads, call, c);

  for (int64_t o = 0; ok && o < out; o++)
    {
      float *row = qm_cpu_at (dw, o * dw->stride[0]);

      for (int64_t j = 0; j < in; j++)
        row[j] += c[o * in + j];
    }
  free (c);
  return ok;
}
