/* SPDX-License-Identifier: Apache-2.0 */

/* Diffusion of images, the same in C and in CUDA C++: what is drawn of a
 * sample, and the term of the variational bound that a learned variance has.
 *
 * With philox's counter (block, sample, site, upper half of the sample), as
 * masks have it (kernels/random.h): of block 0, word 0 is the time, and the
 * lower half of word 1 says whether the class is dropped; element e of the
 * noise is element e % 4 of block 1 + e / 4, normal.
 */

#ifndef QM_KERNELS_DIFFUSION_H
#define QM_KERNELS_DIFFUSION_H

#include "kernels/random.h"

#include <stdbool.h>

/* Columns of a schedule, of every time t from 0 on (Ho et al. 2020, equations 4
 * and 7; Nichol and Dhariwal 2021, equation 15): with betas b, a = 1 - b and A
 * the product of a up to t, that up to t - 1 being P. */
enum
{
  QM_SCHEDULE_SIGNAL, /* sqrt (A) */
  QM_SCHEDULE_NOISE,  /* sqrt (1 - A) */
  /* The mean of the step before is the first of these times the image, and the
   * second times the noisy one. */
  QM_SCHEDULE_MEAN,       /* b sqrt (P) / (1 - A) */
  QM_SCHEDULE_MEAN_NOISY, /* (1 - P) sqrt (a) / (1 - A) */
  /* Between these is the logarithm of a variance that is learned. */
  QM_SCHEDULE_LEAST, /* log (b (1 - P) / (1 - A)), for 0 that of time 1 */
  QM_SCHEDULE_MOST,  /* log (b) */
  QM_SCHEDULE_SIZE
};

static inline QM_HOST_DEVICE QmRandomBits
qm_diffusion_bits (const int32_t *rng,
                   uint32_t site,
                   uint64_t sample,
                   uint32_t block)
{
  return qm_philox ((uint32_t) rng[QM_RNG_SEED],
                    (uint32_t) rng[QM_RNG_SEED_HIGH], block, (uint32_t) sample,
                    site, (uint32_t) (sample >> 32));
}

/* A time below `count`, from the bits of block 0. */
static inline QM_HOST_DEVICE int32_t
qm_diffusion_time (QmRandomBits bits, int64_t count)
{
  return (int32_t) ((uint64_t) bits.word[0] * (uint64_t) count >> 32);
}

static inline QM_HOST_DEVICE bool
qm_diffusion_drops (QmRandomBits bits, uint32_t threshold)
{
  return (bits.word[1] & 0xffff) < threshold;
}

/* About the share of N(0, 1) below x, and its slope, as the authors have it
 * (openai/improved-diffusion, losses.py), with 1 + tanh (u) as what does not
 * lose small ones to rounding. */
static inline QM_HOST_DEVICE float
qm_diffusion_share (float x, float *slope)
{
  const float factor = 0.79788456080286536f; /* sqrt (2 / pi) */
  float share = 1 / (1 + expf (-2 * factor * (x + 0.044715f * x * x * x)));
  float rest = 1 / (1 + expf (2 * factor * (x + 0.044715f * x * x * x)));

  *slope = 2 * share * rest * factor * (1 + 3 * 0.044715f * x * x);
  return share;
}

#define QM_DIFFUSION_BITS 1.44269504088896341f /* 1 / log (2) */

/* Minus the logarithm of the share of N(mean, exp (log_scale)^2) in 1/255 to
 * either side of x, beyond 0.999 all that is beyond; its slope is that along
 * `log_scale`.  Shares below 1e-12 count as that. */
static inline QM_HOST_DEVICE float
qm_diffusion_surprise (float x, float mean, float log_scale, float *slope)
{
  float narrow = expf (-log_scale);
  float above = narrow * (x - mean + 1.0f / 255);
  float below = narrow * (x - mean - 1.0f / 255);
  bool mirrored = x > 0.999f || (x >= -0.999f && above + below > 0);
  /* Of shares near 1, what is left is told apart better. */
  float high = mirrored ? -below : above, low = mirrored ? -above : below;
  float slope_high, slope_low, share, change;

  share = qm_diffusion_share (high, &slope_high);
  change = -high * slope_high;
  if (x >= -0.999f && x <= 0.999f)
    {
      share -= qm_diffusion_share (low, &slope_low);
      change += low * slope_low;
    }
  *slope = share > 1e-12f ? -change / share : 0;
  return -logf (share > 1e-12f ? share : 1e-12f);
}

/* The term of one element in bits: x is the image, `noise` was added to it, of
 * which `told` is what the model says, at time t, whose row `schedule` is of.
 * `variance` is the model's, -1 the least and 1 the most; *slope is along it.
 */
static inline QM_HOST_DEVICE float
qm_diffusion_bound (const float *schedule,
                    int32_t t,
                    float x,
                    float noise,
                    float told,
                    float variance,
                    float *slope)
{
  float least = schedule[QM_SCHEDULE_LEAST];
  float half = 0.5f * (schedule[QM_SCHEDULE_MOST] - least);
  float logarithm = least + half * (variance + 1);
  float missed = schedule[QM_SCHEDULE_NOISE] / schedule[QM_SCHEDULE_SIGNAL]
                 * (noise - told);
  float bound;

  if (t == 0)
    {
      float mean = schedule[QM_SCHEDULE_MEAN] * (x + missed)
                   + schedule[QM_SCHEDULE_MEAN_NOISY]
                         * (schedule[QM_SCHEDULE_SIGNAL] * x
                            + schedule[QM_SCHEDULE_NOISE] * noise);

      bound = qm_diffusion_surprise (x, mean, 0.5f * logarithm, slope);
      *slope *= 0.5f * half * QM_DIFFUSION_BITS;
    }
  else
    {
      float away = schedule[QM_SCHEDULE_MEAN] * missed;
      float ratio = expf (least - logarithm);
      float square = away * away * expf (-logarithm);

      bound = 0.5f * (logarithm - least - 1 + ratio + square);
      *slope = 0.5f * half * (1 - ratio - square) * QM_DIFFUSION_BITS;
    }
  return bound * QM_DIFFUSION_BITS;
}

#endif
