/* SPDX-License-Identifier: Apache-2.0 */

/* Noise that is added to images, and what was told of it. */

#include "kernels/cpu/cpu.h"
#include "kernels/diffusion.h"

bool
qm_cpu_draw_noise (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *noise = &call->outputs[2];
  const int32_t *labels = call->inputs[0].data, *rng = call->inputs[1].data;
  int32_t *times = call->outputs[0].data, *classes = call->outputs[1].data;
  int64_t batch = noise->shape[0], each = qm_tensor_elements (noise) / batch;
  uint32_t site = call->attributes.site;
  uint32_t threshold = qm_dropout_threshold (call->attributes.dropout);

  for (int64_t b = 0; b < batch; b++)
    {
      uint64_t sample = qm_mask_sample (rng, batch, b);
      QmRandomBits bits = qm_diffusion_bits (rng, site, sample, 0);
      float *to = (float *) noise->data + b * each;

      times[b] = qm_diffusion_time (bits, call->attributes.count);
      classes[b] = qm_diffusion_drops (bits, threshold)
                       ? (int32_t) call->attributes.padding
                       : labels[b];
      for (int64_t e = 0; e < each; e++)
        {
          if (e % 4 == 0)
            bits =
                qm_diffusion_bits (rng, site, sample, 1 + (uint32_t) (e / 4));
          to[e] = qm_random_normal (bits, (int) (e % 4));
        }
    }
  return true;
}

/* Of a pixel and channel of an image. */
static float
load_at (
    const QmTensor *image, int64_t b, int64_t channel, int64_t y, int64_t x)
{
  float value;

  qm_cpu_load (image,
               b * image->stride[0] + channel * image->stride[1]
                   + y * image->stride[2] + x * image->stride[3],
               1, &value);
  return value;
}

bool
qm_cpu_add_noise (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *image = &call->inputs[0], *noise = &call->inputs[1];
  const QmTensor *y = &call->outputs[0];
  const int32_t *times = call->inputs[2].data;
  const float *schedule = call->inputs[3].data;
  const int64_t *n = image->shape;

  for (int64_t b = 0; b < n[0]; b++)
    for (int64_t c = 0; c < n[1]; c++)
      for (int64_t i = 0; i < n[2]; i++)
        for (int64_t j = 0; j < n[3]; j++)
          {
            const float *at = schedule + times[b] * QM_SCHEDULE_SIZE;
            float value = at[QM_SCHEDULE_SIGNAL] * load_at (image, b, c, i, j)
                          + at[QM_SCHEDULE_NOISE] * load_at (noise, b, c, i, j);

            qm_cpu_store (y, ((b * n[1] + c) * n[2] + i) * n[3] + j, 1, &value);
          }
  return true;
}

/* The sum of one row's losses; `x` becomes their gradient. */
static double
row_loss (const QmOpCall *call, int64_t row, double slope, float *x)
{
  const QmTensor *image = &call->inputs[1], *noise = &call->inputs[2];
  const QmAttributes *attributes = &call->attributes;
  int64_t side = attributes->patch, channels = image->shape[1];
  int64_t across = image->shape[3] / side;
  int64_t patches = image->shape[2] / side * across;
  int64_t b = row / patches, patch = row % patches;
  int64_t told = channels * (attributes->learned ? 2 : 1);
  int32_t t = ((const int32_t *) call->inputs[3].data)[b];
  const float *schedule =
      (const float *) call->inputs[4].data + t * QM_SCHEDULE_SIZE;
  double sum = 0;

  for (int64_t e = 0; e < side * side * channels; e++)
    {
      int64_t pixel = e / channels, channel = e % channels;
      int64_t i = patch / across * side + pixel / side;
      int64_t j = patch % across * side + pixel % side;
      float *at = x + pixel * told + channel;
      float added = load_at (noise, b, channel, i, j), along;
      double wrong = (double) at[0] - added;

      sum += wrong * wrong;
      if (attributes->learned)
        {
          sum += qm_diffusion_bound (schedule, t,
                                     load_at (image, b, channel, i, j), added,
                                     at[0], at[channels], &along);
          at[channels] = (float) (slope * along);
        }
      at[0] = (float) (2 * slope * wrong);
    }
  return sum;
}

bool
qm_cpu_noise_loss (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *dx = &call->outputs[0];
  const float *state = call->inputs[5].data;
  float *losses = call->outputs[1].data;
  double weight =
      call->attributes.scale / (double) qm_tensor_elements (&call->inputs[1]);
  int64_t n = x->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < x->shape[0]; r++)
    {
      qm_cpu_load (x, r * x->stride[0], n, row);
      losses[r] =
          (float) (weight
                   * row_loss (call, r, weight * state[QM_STATE_LOSS_SCALE],
                               row));
      qm_cpu_store (dx, r * dx->stride[0], n, row);
    }
  free (row);
  return true;
}
