/* SPDX-License-Identifier: Apache-2.0 */

/* Patches that are hidden, tokens in their stead, and what was made of them. */

#include "kernels/cpu/cpu.h"
#include "kernels/random.h"

#include <math.h>
#include <string.h>

/* A patch of a sample, to be sorted. */
typedef struct Patch
{
  uint32_t key;
  int32_t number;
} Patch;

static int
compare_keys (const void *a, const void *b)
{
  const Patch *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t
key_of_patch (const QmOpCall *call, int64_t b, int64_t n)
{
  const float *noise = call->inputs[0].data;
  const int32_t *rng = call->inputs[1].data;
  int64_t batch = call->outputs[1].shape[0], all = call->outputs[1].shape[1];
  uint32_t bits;

  if (!qm_tensor_present (&call->inputs[0]))
    return qm_mask_key (rng, call->attributes.site,
                        qm_mask_sample (rng, batch, b), n);
  memcpy (&bits, &noise[b * all + n], sizeof bits);
  return qm_noise_key (bits);
}

bool
qm_cpu_mask_patches (QmThreads *threads, const QmOpCall *call)
{
  int32_t *kept = call->outputs[0].data, *places = call->outputs[1].data;
  int64_t batch = call->outputs[1].shape[0], all = call->outputs[1].shape[1];
  int64_t keeps = call->outputs[0].shape[1];
  Patch *patches = malloc ((size_t) all * sizeof *patches);

  if (patches == NULL)
    return false;
  for (int64_t b = 0; b < batch; b++)
    {
      int32_t *place = places + b * all, next = 0;

      for (int64_t n = 0; n < all; n++)
        {
          patches[n] = (Patch){ key_of_patch (call, b, n), (int32_t) n };
          place[n] = -1;
        }
      qsort (patches, (size_t) all, sizeof *patches, compare_keys);
      for (int64_t i = 0; i < keeps; i++)
        place[patches[i].number] = 0;
      for (int64_t n = 0; n < all; n++)
        if (place[n] == 0)
          {
            kept[b * keeps + next] = (int32_t) n;
            place[n] = next++;
          }
    }
  free (patches);
  return true;
}

bool
qm_cpu_restore_tokens (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *token = &call->inputs[1];
  const QmTensor *position = &call->inputs[3], *y = &call->outputs[0];
  const int32_t *places = call->inputs[2].data;
  int64_t batch = call->inputs[2].shape[0], all = call->inputs[2].shape[1];
  int64_t n = y->shape[1], length = x->shape[0] / batch;
  float *row = qm_cpu_floats (2 * n);

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < y->shape[0]; t++)
    {
      int64_t b = t / (all + 1), s = t % (all + 1);
      int64_t from = s == 0 ? 0 : 1 + places[b * all + s - 1];

      if (s > 0 && from == 0)
        qm_cpu_load (token, 0, n, row);
      else
        qm_cpu_load (x, (b * length + from) * x->stride[0], n, row);
      if (qm_tensor_present (position))
        {
          qm_cpu_load (position, s * position->stride[0], n, row + n);
          for (int64_t j = 0; j < n; j++)
            row[j] += row[n + j];
        }
      qm_cpu_store (y, t * y->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_restore_tokens_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *dx = &call->outputs[0];
  const int32_t *places = call->inputs[1].data;
  int64_t batch = call->inputs[1].shape[0], all = call->inputs[1].shape[1];
  int64_t n = dy->shape[1], length = dx->shape[0] / batch;
  float *row = qm_cpu_floats (n), *token = call->outputs[1].data;
  double *sums = calloc ((size_t) n, sizeof *sums);
  bool ok = row != NULL && sums != NULL;

  for (int64_t t = 0; ok && t < dy->shape[0]; t++)
    {
      int64_t b = t / (all + 1), s = t % (all + 1);
      int64_t to = s == 0 ? 0 : 1 + places[b * all + s - 1];

      qm_cpu_load (dy, t * dy->stride[0], n, row);
      if (s == 0 || to > 0)
        qm_cpu_store (dx, (b * length + to) * dx->stride[0], n, row);
      else
        for (int64_t j = 0; j < n; j++)
          sums[j] += row[j];
    }
  for (int64_t j = 0; ok && j < n; j++)
    token[j] += (float) sums[j];
  free (row);
  free (sums);
  return ok;
}

/* What element `e` of a patch should be, a row of pixels after the other, all
 * channels of each. */
static float
pixel_of (const QmOpCall *call, int64_t b, int64_t patch, int64_t e)
{
  const QmTensor *image = &call->inputs[1];
  int64_t side = call->attributes.patch, channels = image->shape[1];
  int64_t across = image->shape[3] / side, pixel = e / channels;
  int64_t y = patch / across * side + pixel / side;
  int64_t x = patch % across * side + pixel % side;
  float value;

  qm_cpu_load (image,
               b * image->stride[0] + e % channels * image->stride[1]
                   + y * image->stride[2] + x * image->stride[3],
               1, &value);
  return value;
}

static void
load_target (const QmOpCall *call, int64_t b, int64_t patch, float *t)
{
  int64_t n = call->inputs[0].shape[1];
  double sum = 0, squares = 0, mean;

  for (int64_t e = 0; e < n; e++)
    {
      t[e] = pixel_of (call, b, patch, e);
      sum += t[e];
    }
  if (!call->attributes.normalized)
    return;
  mean = sum / (double) n;
  for (int64_t e = 0; e < n; e++)
    squares += (t[e] - mean) * (t[e] - mean);
  for (int64_t e = 0; e < n; e++)
    t[e] = (float) ((t[e] - mean)
                    / sqrt (squares / (double) (n - 1)
                            + call->attributes.epsilon));
}

bool
qm_cpu_pixel_loss (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *dx = &call->outputs[0];
  const int32_t *places = call->inputs[2].data;
  const float *state = call->inputs[3].data;
  float *losses = call->outputs[1].data;
  int64_t batch = call->inputs[2].shape[0], all = call->inputs[2].shape[1];
  int64_t n = x->shape[1];
  double weight = call->attributes.scale
                  / ((double) (batch * call->attributes.count) * (double) n);
  float *row = qm_cpu_floats (2 * n), *target = row + n;

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < x->shape[0]; t++)
    {
      int64_t b = t / (all + 1), s = t % (all + 1);
      bool hidden = s > 0 && places[b * all + s - 1] < 0;
      double sum = 0;

      for (int64_t e = 0; e < 2 * n; e++)
        row[e] = 0;
      if (hidden)
        {
          qm_cpu_load (x, t * x->stride[0], n, row);
          load_target (call, b, s - 1, target);
        }
      for (int64_t e = 0; e < n; e++)
        {
          double wrong = (double) row[e] - target[e];

          sum += wrong * wrong;
          row[e] = (float) (2 * weight * state[QM_STATE_LOSS_SCALE] * wrong);
        }
      losses[t] = (float) (weight * sum);
      qm_cpu_store (dx, t * dx->stride[0], n, row);
    }
  free (row);
  return true;
}
