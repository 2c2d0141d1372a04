/* SPDX-License-Identifier: Apache-2.0 */

/* What a student learns from a teacher: shares of prototypes, and the cross
 * entropy with them. */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* columns[k] = 1 / sum over t of rows[t] e[t, k]; with `of_rows` the other way
 * round. */
static void
scale_side (const float *e,
            int64_t t,
            int64_t v,
            bool of_rows,
            const float *from,
            float *to)
{
  int64_t n = of_rows ? t : v, m = of_rows ? v : t;

  for (int64_t i = 0; i < n; i++)
    {
      double sum = 0;

      for (int64_t j = 0; j < m; j++)
        sum += (double) from[j] * (of_rows ? e[i * v + j] : e[j * v + i]);
      to[i] = (float) (1 / sum);
    }
}

bool
qm_cpu_share_out (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *p = &call->outputs[0];
  float *columns = call->outputs[1].data, *rows = call->outputs[2].data;
  float temperature = (float) call->attributes.value;
  int64_t t = x->shape[0], v = x->shape[1];
  float *e = qm_cpu_floats (t * v);

  if (e == NULL)
    return false;
  for (int64_t i = 0; i < t; i++)
    {
      qm_cpu_load (x, i * x->stride[0], v, e + i * v);
      for (int64_t k = 0; k < v; k++)
        e[i * v + k] = expf ((e[i * v + k] - 1) / temperature);
      rows[i] = 1;
    }
  for (int64_t i = 0; i < call->attributes.count; i++)
    {
      scale_side (e, t, v, false, rows, columns);
      scale_side (e, t, v, true, columns, rows);
    }
  for (int64_t i = 0; i < t; i++)
    {
      for (int64_t k = 0; k < v; k++)
        e[i * v + k] *= rows[i] * columns[k];
      qm_cpu_store (p, i * p->stride[0], v, e + i * v);
    }
  free (e);
  return true;
}

/* The sum of what is told of the image of a row; `row` is room for one. */
static void
add_targets (const QmOpCall *call, int64_t r, float *row, float *sum)
{
  const QmTensor *x = &call->inputs[0], *p = &call->inputs[1];
  int64_t crops = call->attributes.count, told = p->shape[0], v = x->shape[1];
  int64_t others = (x->shape[0] - told) / (told / crops);
  int64_t image = r < told ? r / crops : (r - told) / others;

  memset (sum, 0, (size_t) v * sizeof *sum);
  for (int64_t i = image * crops; i < (image + 1) * crops; i++)
    if (i != r)
      {
        qm_cpu_load (p, i * p->stride[0], v, row);
        for (int64_t k = 0; k < v; k++)
          sum[k] += row[k];
      }
}

bool
qm_cpu_teacher_loss (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *dx = &call->outputs[0];
  const float *state = call->inputs[2].data;
  float *losses = call->outputs[1].data;
  double temperature = call->attributes.value, scale = call->attributes.scale;
  double slope = scale * state[QM_STATE_LOSS_SCALE] / temperature;
  int64_t v = x->shape[1];
  float *row = qm_cpu_floats (2 * v), *target = row + v;

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < x->shape[0]; r++)
    {
      double largest = -INFINITY, sum = 0, told = 0, loss = 0, all;

      add_targets (call, r, row, target);
      qm_cpu_load (x, r * x->stride[0], v, row);
      for (int64_t k = 0; k < v; k++)
        largest = fmax (largest, row[k] / temperature);
      for (int64_t k = 0; k < v; k++)
        {
          sum += exp (row[k] / temperature - largest);
          told += target[k];
        }
      all = log (sum) + largest;
      for (int64_t k = 0; k < v; k++)
        {
          double below = row[k] / temperature - all;

          loss -= target[k] * below;
          row[k] = (float) (slope * (told * exp (below) - target[k]));
        }
      losses[r] = (float) (scale * loss);
      qm_cpu_store (dx, r * dx->stride[0], v, row);
    }
  free (row);
  return true;
}
