/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of patches that are hidden of the first crop of an image, and rows that
 * are pushed apart. */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* The row of patch 0 of the first crop of image b. */
static int64_t
first_patch (const QmOpCall *call, int64_t rows, int64_t images, int64_t b)
{
  return b * (rows / images) + call->attributes.first;
}

/* The patch that row r of all is, of the first crop of its image, or -1. */
static int64_t
patch_of (const QmOpCall *call, int64_t rows, int64_t images, int64_t r)
{
  int64_t each = rows / images, length = each / call->attributes.count;
  int64_t place = r % each - call->attributes.first;

  return place >= 0 && r % each < length ? place : -1;
}

bool
qm_cpu_hide_rows (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *token = &call->inputs[2];
  const QmTensor *y = &call->outputs[0];
  const int32_t *places = call->inputs[1].data;
  int64_t images = call->inputs[1].shape[0], all = call->inputs[1].shape[1];
  int64_t rows = x->shape[0], n = x->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      int64_t patch = patch_of (call, rows, images, r);

      if (patch < 0 || places[r / (rows / images) * all + patch] < 0)
        qm_cpu_load (x, r * x->stride[0], n, row);
      else if (qm_tensor_present (token))
        qm_cpu_load (token, 0, n, row);
      else
        memset (row, 0, (size_t) n * sizeof *row);
      qm_cpu_store (y, r * y->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_pick_rows (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t *hidden = call->inputs[1].data;
  int64_t images = call->inputs[1].shape[0], each = call->inputs[1].shape[1];
  int64_t n = x->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t i = 0; i < images * each; i++)
    {
      int64_t r = first_patch (call, x->shape[0], images, i / each) + hidden[i];

      qm_cpu_load (x, r * x->stride[0], n, row);
      qm_cpu_store (y, i * y->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_pick_rows_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *dx = &call->outputs[0];
  const int32_t *places = call->inputs[1].data;
  int64_t images = call->inputs[1].shape[0], all = call->inputs[1].shape[1];
  int64_t rows = dx->shape[0], n = dx->shape[1];
  int64_t each = dy->shape[0] / images;
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      int64_t patch = patch_of (call, rows, images, r), b = r / (rows / images);
      int32_t place = patch < 0 ? -1 : places[b * all + patch];

      if (place < 0)
        memset (row, 0, (size_t) n * sizeof *row);
      else
        qm_cpu_load (dy, (b * each + place) * dy->stride[0], n, row);
      qm_cpu_store (dx, r * dx->stride[0], n, row);
    }
  free (row);
  return true;
}

/* Rows of length 1, and what they were divided by. */
static void
normalize_rows (const QmTensor *x, float *z, float *factors)
{
  int64_t n = x->shape[1];

  for (int64_t r = 0; r < x->shape[0]; r++)
    {
      double sum = 0;

      qm_cpu_load (x, r * x->stride[0], n, z + r * n);
      for (int64_t j = 0; j < n; j++)
        sum += (double) z[r * n + j] * z[r * n + j];
      factors[r] = (float) (1 / sqrt (sum));
      for (int64_t j = 0; j < n; j++)
        z[r * n + j] *= factors[r];
    }
}

static int32_t
nearest_of (const float *z, int64_t rows, int64_t n, int64_t r, int64_t crops)
{
  double most = -INFINITY;
  int64_t nearest = r;

  for (int64_t i = r % crops; i < rows; i += crops)
    {
      double dot = 0;

      for (int64_t j = 0; j < n; j++)
        dot += (double) z[r * n + j] * z[i * n + j];
      if (i != r && dot > most)
        {
          most = dot;
          nearest = i;
        }
    }
  return (int32_t) nearest;
}

static double
distance (const float *a, const float *b, int64_t n, double epsilon)
{
  double sum = 0;

  for (int64_t j = 0; j < n; j++)
    {
      double away = (double) a[j] - b[j] + epsilon;

      sum += away * away;
    }
  return sqrt (sum);
}

bool
qm_cpu_spread_loss (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *dx = &call->outputs[0];
  const float *state = call->inputs[1].data;
  float *losses = call->outputs[1].data, *factors = call->outputs[3].data;
  int32_t *nearest = call->outputs[2].data;
  double scale = call->attributes.scale, epsilon = call->attributes.epsilon;
  int64_t rows = x->shape[0], n = x->shape[1];
  float *z = qm_cpu_floats (2 * rows * n), *slopes = z + rows * n;

  if (z == NULL)
    return false;
  memset (slopes, 0, (size_t) (rows * n) * sizeof *slopes);
  normalize_rows (x, z, factors);
  for (int64_t r = 0; r < rows; r++)
    {
      double d, slope;
      const float *other;

      nearest[r] = nearest_of (z, rows, n, r, call->attributes.count);
      other = z + nearest[r] * n;
      d = distance (z + r * n, other, n, epsilon);
      factors[rows + r] = (float) d;
      losses[r] = (float) (-scale * log (d + epsilon));
      slope = -scale * state[QM_STATE_LOSS_SCALE] / ((d + epsilon) * d);
      for (int64_t j = 0; j < n; j++)
        {
          float away =
              (float) (slope * ((double) z[r * n + j] - other[j] + epsilon));

          slopes[r * n + j] += away;
          slopes[nearest[r] * n + j] -= away;
        }
    }
  for (int64_t r = 0; r < rows; r++)
    {
      double dot = 0;

      for (int64_t j = 0; j < n; j++)
        dot += (double) slopes[r * n + j] * z[r * n + j];
      for (int64_t j = 0; j < n; j++)
        slopes[r * n + j] =
            (float) ((slopes[r * n + j] - dot * z[r * n + j]) * factors[r]);
      qm_cpu_store (dx, r * dx->stride[0], n, slopes + r * n);
    }
  free (z);
  return true;
}
