/* SPDX-License-Identifier: Apache-2.0 */

/* GELU and its slope, cheap enough for kernels that are bound by memory and for
 * what follows a product; also C, so that they can be tested without a GPU.
 *
 * With t = |x| and Q(t) = 1 - Phi(t), gelu (x) = max (x, 0) - t Q(t): where x
 * is large nothing cancels, and where x is far below zero the small result is
 * itself a product.  log2 Q is smooth where Q falls over many powers of two, so
 * a short polynomial and one power of two make Q.
 *
 * The polynomials are fits of -log2 Q on [0, 6] that are best in the largest
 * weighted error (linear programming over 1200 Chebyshev points); beyond, they
 * keep rising, and t Q stays below 1e-8.
 *
 *   narrow  for results of 16 bits.  gelu: relative error 8.5e-5 (a rounding to
 *           fp16 is one of up to 4.9e-4, to bf16 of 3.9e-3), or, where the
 *           result is below 2^-14, that part of it.  Slope: error 4.2e-5.
 *   else    gelu: error 1.5e-7 |x|, and relative error 3.5e-6.  Slope: error
 *           1.8e-7.  The gradients of a model in fp32 differ by as much when
 *           sums are added in another order.
 *
 * Where x is not a number, so is the result; infinite x may give that too. */

#ifndef QM_KERNELS_CUDA_GELU_CUH
#define QM_KERNELS_CUDA_GELU_CUH

#include "kernels/random.h"

#include <stdbool.h>

static inline QM_HOST_DEVICE float
qm_power_of_2 (float x)
{
#ifdef __CUDA_ARCH__
  float y;

  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f (x);
#endif
}

static inline QM_HOST_DEVICE float
qm_reciprocal (float x)
{
#ifdef __CUDA_ARCH__
  float y;

  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}

/* 1 - Phi(t), t >= 0. */
static inline QM_HOST_DEVICE float
qm_normal_tail (float t, bool narrow)
{
  float bits;

  if (narrow)
    {
      bits = fmaf (t, 0.00032050794f, -0.0058272593f);
      bits = fmaf (t, bits, 0.048237167f);
      bits = fmaf (t, bits, 0.46412101f);
      bits = fmaf (t, bits, 1.1491758f);
      bits = fmaf (t, bits, 1.0001208f);
    }
  else
    {
      bits = fmaf (t, 8.1088939e-07f, -1.3338762e-05f);
      bits = fmaf (t, bits, 5.3316605e-05f);
      bits = fmaf (t, bits, 0.00047978145f);
      bits = fmaf (t, bits, -0.0075359885f);
      bits = fmaf (t, bits, 0.052834418f);
      bits = fmaf (t, bits, 0.4590953f);
      bits = fmaf (t, bits, 1.1511188f);
      bits = fmaf (t, bits, 0.99999976f);
    }
  return qm_power_of_2 (-bits);
}

static inline QM_HOST_DEVICE float
qm_gelu (float x, bool narrow)
{
  float t = fabsf (x);

  return fmaf (-t, qm_normal_tail (t, narrow), fmaxf (x, 0));
}

/* Phi(x) + x phi(x). */
static inline QM_HOST_DEVICE float
qm_gelu_slope (float x, bool narrow)
{
  float t = fabsf (x);
  /* log2 of the density: -t^2 / (2 ln 2) - log2 (sqrt (2 pi)). */
  float density = qm_power_of_2 (fmaf (-0.72134752f * t, t, -1.3257481f));
  float below = fmaf (-t, density, qm_normal_tail (t, narrow));

  return x < 0 ? below : 1 - below;
}

/* x / (1 + exp (-2 u)), u = sqrt (2 / pi) (x + 0.044715 x^3). */
static inline QM_HOST_DEVICE float
qm_gelu_tanh (float x)
{
  float bits = -x * fmaf (0.10294324f * x, x, 2.3022082f);

  return x * qm_reciprocal (1 + qm_power_of_2 (bits));
}

static inline QM_HOST_DEVICE float
qm_gelu_tanh_slope (float x)
{
  float bits = -x * fmaf (0.10294324f * x, x, 2.3022082f);
  /* The bound keeps infinity from meeting zero below. */
  float power = qm_power_of_2 (fminf (bits, 120));
  float share = qm_reciprocal (1 + power);
  float inner = fmaf (0.21406445f * x, x, 1.5957691f);

  return fmaf (x * inner * (power * share), share, share);
}

#endif
