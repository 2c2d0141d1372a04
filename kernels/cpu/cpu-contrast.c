/* SPDX-License-Identifier: Apache-2.0 */

/* Pairs of images and texts that are to be told from all others. */

#include "kernels/cpu/cpu.h"
#include "kernels/random.h"

#include <math.h>

bool
qm_cpu_find_tokens (QmThreads *threads, const QmOpCall *call)
{
  const int32_t *ids = call->inputs[0].data;
  int64_t batch = call->inputs[0].shape[0], length = call->inputs[0].shape[1];
  int64_t token = call->attributes.padding;
  int32_t *found = call->outputs[0].data, *places = call->outputs[1].data;

  for (int64_t b = 0; b < batch; b++)
    {
      const int32_t *row = ids + b * length;
      int64_t place = 0;

      if (token < 0)
        {
          for (int64_t s = 1; s < length; s++)
            if (row[s] > row[place])
              place = s;
        }
      else
        {
          while (place < length && row[place] != token)
            place++;
          place %= length;
        }
      found[b] = (int32_t) place;
      for (int64_t s = 0; s < length; s++)
        places[b * length + s] = s == place ? 0 : -1;
    }
  return true;
}

bool
qm_cpu_keep_rows (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *all = &call->outputs[0];
  const int32_t *rng = call->inputs[1].data;
  int64_t rows = x->shape[0], n = x->shape[1];
  int64_t first = qm_kept_row ((uint32_t) rng[QM_RNG_PASS], rows,
                               call->attributes.count, call->attributes.chunk);
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  *(int32_t *) call->outputs[1].data = (int32_t) first;
  for (int64_t i = 0; i < rows; i++)
    {
      qm_cpu_load (x, i * x->stride[0], n, row);
      qm_cpu_store (all, (first + i) * all->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_contrast_sums (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0];
  double factor = exp (*(const float *) call->inputs[1].data);
  float *sums = call->outputs[0].data;
  int64_t n = x->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t i = 0; i < x->shape[0]; i++)
    {
      double largest = -INFINITY, sum = 0;

      qm_cpu_load (x, i * x->stride[0], n, row);
      for (int64_t j = 0; j < n; j++)
        largest = fmax (largest, factor * row[j]);
      for (int64_t j = 0; j < n; j++)
        sum += exp (factor * row[j] - largest);
      sums[i] = (float) (log (sum) + largest);
    }
  free (row);
  return true;
}

/* log (1 + exp (x)) */
static double
softplus (double x)
{
  return fmax (x, 0) + log1p (exp (-fabs (x)));
}

/* A row's loss, and its slopes along s and, as sums over j, along the
 * temperature and the bias, for a scale of 1. */
typedef struct Row
{
  double loss, temperature, bias;
} Row;

/* In the place of x, ds. */
static Row
of_directions (float *x,
               int64_t n,
               int64_t match,
               double factor,
               const float *own,
               const float *others)
{
  Row row = { .loss = own[match] - factor * x[match] };

  for (int64_t j = 0; j < n; j++)
    {
      double s = factor * x[j], slope = exp (s - own[match]) - (j == match);

      row.temperature += slope * s;
      x[j] = (float) (slope + exp (s - others[j]) - (j == match));
    }
  return row;
}

static Row
of_pairs (float *x, int64_t n, int64_t match, double factor, double bias)
{
  Row row = { 0 };

  for (int64_t j = 0; j < n; j++)
    {
      double y = j == match ? 1 : -1, s = factor * x[j] + bias;
      double slope = -y / (1 + exp (y * s));

      row.loss += softplus (-y * s);
      row.temperature += slope * factor * x[j];
      row.bias += slope;
      x[j] = (float) (2 * slope);
    }
  return row;
}

bool
qm_cpu_contrast_loss (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  double factor = exp (*(const float *) in[1].data);
  const float *bias = in[2].data, *state = in[6].data;
  int64_t first = *(const int32_t *) in[3].data, n = in[0].shape[1];
  double scale = call->attributes.scale;
  double slope = scale * state[QM_STATE_LOSS_SCALE];
  float *losses = out[1].data, *temperatures = out[2].data;
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t i = 0; i < in[0].shape[0]; i++)
    {
      Row got;

      qm_cpu_load (&in[0], i * in[0].stride[0], n, row);
      got = qm_tensor_present (&in[2])
                ? of_pairs (row, n, first + i, factor, *bias)
                : of_directions (row, n, first + i, factor, in[4].data,
                                 in[5].data);
      losses[i] = (float) (scale * got.loss);
      temperatures[i] = (float) (slope * got.temperature);
      if (qm_tensor_present (&out[3]))
        ((float *) out[3].data)[i] = (float) (slope * got.bias);
      for (int64_t j = 0; j < n; j++)
        row[j] = (float) (slope * factor * row[j]);
      qm_cpu_store (&out[0], i * out[0].stride[0], n, row);
    }
  free (row);
  return true;
}
