/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

#include <string.h>

/* A convolution with everything in dense floats; weights by tap, [M N, C]. */
typedef struct Convolution
{
  const QmOpCall *call;
  int64_t rows, channels, height, width, down, across; /* the last: M, N */
  int64_t above, left; /* pixels that the window begins before its own */
  float *x, *w, *bias, *g;
  const QmTensor *dw;
} Convolution;

/* The row of a pixel `m` down and `n` to the right of row `r`'s, or -1. */
static int64_t
neighbour (const Convolution *c, int64_t r, int64_t m, int64_t n)
{
  int64_t i = r / c->width % c->height + m, j = r % c->width + n;

  return i < 0 || i >= c->height || j < 0 || j >= c->width
             ? -1
             : r + m * c->width + n;
}

static bool
load_rows (const QmTensor *tensor, float **to)
{
  int64_t columns = tensor->shape[1];

  *to = qm_cpu_floats (tensor->shape[0] * columns);
  for (int64_t r = 0; *to != NULL && r < tensor->shape[0]; r++)
    qm_cpu_load (tensor, r * tensor->stride[0], columns, *to + r * columns);
  return *to != NULL;
}

static bool
begin_convolution (Convolution *c,
                   const QmOpCall *call,
                   const QmTensor *x,
                   const QmTensor *w,
                   const QmTensor *bias)
{
  bool causal = call->attributes.causal != QM_CAUSAL_NONE;
  int64_t taps = w->shape[1] * w->shape[2];

  *c = (Convolution){ .call = call,
                      .rows = x->shape[0],
                      .channels = x->shape[1],
                      .height = call->attributes.height,
                      .width = call->attributes.width,
                      .down = w->shape[1],
                      .across = w->shape[2] };
  c->above = causal ? c->down - 1 : c->down / 2;
  c->left = causal ? c->across - 1 : c->across / 2;
  c->w = qm_cpu_floats (taps * c->channels);
  c->bias = calloc ((size_t) c->channels, sizeof *c->bias);
  if (!load_rows (x, &c->x) || c->w == NULL || c->bias == NULL)
    return false;
  for (int64_t i = 0; i < taps * c->channels; i++)
    qm_cpu_load (w, i % c->channels * taps + i / c->channels, 1, c->w + i);
  if (qm_tensor_present (bias))
    qm_cpu_load (bias, 0, c->channels, c->bias);
  return true;
}

static void
end_convolution (Convolution *c)
{
  free (c->x);
  free (c->w);
  free (c->bias);
  free (c->g);
}

/* to += the convolution of rows `from` at row `r`, or, turned, the gradient of
 * that: what row `r` gave to the others. */
static void
convolve (
    const Convolution *c, const float *from, int64_t r, bool turned, float *to)
{
  for (int64_t tap = 0; tap < c->down * c->across; tap++)
    {
      int64_t m = tap / c->across - c->above, n = tap % c->across - c->left;
      int64_t row = neighbour (c, r, turned ? -m : m, turned ? -n : n);
      const float *w = c->w + tap * c->channels;

      for (int64_t j = 0; row >= 0 && j < c->channels; j++)
        to[j] += w[j] * from[row * c->channels + j];
    }
}

static bool
convolve_rows (void *data, int64_t first, int64_t last)
{
  const Convolution *c = data;
  const QmTensor *y = &c->call->outputs[0];
  float *row = qm_cpu_floats (c->channels);

  for (int64_t r = first; row != NULL && r < last; r++)
    {
      memcpy (row, c->bias, (size_t) c->channels * sizeof *row);
      convolve (c, c->x, r, false, row);
      for (int64_t j = 0; j < c->channels; j++)
        row[j] = qm_cpu_function (c->call->attributes.activation, row[j]);
      qm_cpu_store (y, r * y->stride[0], c->channels, row);
    }
  free (row);
  return row != NULL;
}

bool
qm_cpu_depthwise_conv (QmThreads *threads, const QmOpCall *call)
{
  Convolution c;
  bool ok = begin_convolution (&c, call, &call->inputs[0], &call->inputs[1],
                               &call->inputs[2])
            && qm_cpu_parallel (threads, c.rows, qm_op_flops (call),
                                convolve_rows, &c);

  end_convolution (&c);
  return ok;
}

/* g = dy activation'(argument), in place. */
static bool
through_activation (void *data, int64_t first, int64_t last)
{
  const Convolution *c = data;
  float *row = qm_cpu_floats (c->channels);

  for (int64_t r = first; row != NULL && r < last; r++)
    {
      memcpy (row, c->bias, (size_t) c->channels * sizeof *row);
      convolve (c, c->x, r, false, row);
      for (int64_t j = 0; j < c->channels; j++)
        c->g[r * c->channels + j] *=
            qm_cpu_function_slope (c->call->attributes.activation, row[j]);
    }
  free (row);
  return row != NULL;
}

static bool
input_gradient (void *data, int64_t first, int64_t last)
{
  const Convolution *c = data;
  const QmTensor *add = &c->call->inputs[4], *dx = &c->call->outputs[0];
  float *row = qm_cpu_floats (c->channels);

  for (int64_t r = first; row != NULL && r < last; r++)
    {
      memset (row, 0, (size_t) c->channels * sizeof *row);
      if (qm_tensor_present (add))
        qm_cpu_load (add, r * add->stride[0], c->channels, row);
      convolve (c, c->g, r, true, row);
      qm_cpu_store (dx, r * dx->stride[0], c->channels, row);
    }
  free (row);
  return row != NULL;
}

/* The gradient of every channel's weight at one tap after another. */
static bool
weight_gradient (void *data, int64_t first, int64_t last)
{
  const Convolution *c = data;
  int64_t taps = c->down * c->across;
  double *sums = calloc ((size_t) c->channels, sizeof *sums);

  for (int64_t tap = first; sums != NULL && tap < last; tap++)
    {
      memset (sums, 0, (size_t) c->channels * sizeof *sums);
      for (int64_t r = 0; r < c->rows; r++)
        {
          int64_t row = neighbour (c, r, tap / c->across - c->above,
                                   tap % c->across - c->left);

          for (int64_t j = 0; row >= 0 && j < c->channels; j++)
            sums[j] += (double) c->g[r * c->channels + j]
                       * c->x[row * c->channels + j];
        }
      for (int64_t j = 0; j < c->channels; j++)
        ((float *) c->dw->data)[j * taps + tap] += (float) sums[j];
    }
  free (sums);
  return sums != NULL;
}

static void
bias_gradient (const Convolution *c, float *dbias)
{
  for (int64_t j = 0; j < c->channels; j++)
    {
      double sum = 0;

      for (int64_t r = 0; r < c->rows; r++)
        sum += c->g[r * c->channels + j];
      dbias[j] += (float) sum;
    }
}

bool
qm_cpu_depthwise_conv_backward (QmThreads *threads, const QmOpCall *call)
{
  double work = qm_op_flops (call) / 2;
  Convolution c;
  bool ok = begin_convolution (&c, call, &call->inputs[1], &call->inputs[2],
                               &call->inputs[3])
            && load_rows (&call->inputs[0], &c.g);

  c.dw = &call->outputs[1];
  if (ok && call->attributes.activation != QM_FUNCTION_NONE)
    ok = qm_cpu_parallel (threads, c.rows, work, through_activation, &c);
  ok = ok && qm_cpu_parallel (threads, c.rows, work, input_gradient, &c)
       && qm_cpu_parallel (threads, c.down * c.across, work, weight_gradient,
                           &c);
  if (ok && qm_tensor_present (&call->outputs[2]))
    bias_gradient (&c, call->outputs[2].data);
  end_convolution (&c);
  return ok;
}
