/* SPDX-License-Identifier: Apache-2.0 */

/* GELU as the kernels of a GPU compute it, against the mathematical library in
 * double precision: all numbers of 16 bits, and many of 32. */

#include "kernels/convert.h"
#include "kernels/cuda/gelu.cuh"
#include "tests/data/check.h"

#include <math.h>
#include <string.h>

/* Below this, results of fp16 have fewer digits. */
#define F16_LEAST_NORMAL 0x1p-14

typedef struct Errors
{
  double value, slope, tanh_value, tanh_slope;
} Errors;

static double
phi (double x)
{
  return exp (-0.5 * x * x) * 0.39894228040143268;
}

static double
normal (double x)
{
  return 0.5 * erfc (-x * 0.70710678118654752);
}

static double
inner (double x)
{
  return 0.79788456080286536 * (x + 0.044715 * x * x * x);
}

/* 1 / (1 + exp (-2 u)) = (1 + tanh (u)) / 2 without the cancellation. */
static double
share (double x)
{
  return 1 / (1 + exp (-2 * inner (x)));
}

static double
tanh_slope (double x)
{
  double s = share (x);

  return s
         + 2 * x * s * (1 - s) * 0.79788456080286536
               * (1 + 3 * 0.044715 * x * x);
}

static void
larger (double *most, double error)
{
  if (!(error <= *most))
    *most = error;
}

/* `least`: errors of smaller results are measured by it. */
static void
add (Errors *errors, float x, bool narrow, double least)
{
  double value = x * normal (x), tanh_value = x * share (x);

  larger (&errors->value,
          fabs (qm_gelu (x, narrow) - value) / fmax (fabs (value), least));
  larger (&errors->slope,
          fabs (qm_gelu_slope (x, narrow) - (normal (x) + x * phi (x))));
  larger (&errors->tanh_value, fabs (qm_gelu_tanh (x) - tanh_value)
                                   / fmax (fabs (tanh_value), least));
  larger (&errors->tanh_slope, fabs (qm_gelu_tanh_slope (x) - tanh_slope (x)));
}

static void
test_f16 (void)
{
  Errors errors = { 0 };

  check_case ("all of fp16");
  for (uint32_t bits = 0; bits < 65536; bits++)
    {
      float x = qm_float_from_f16 ((uint16_t) bits);

      if (isfinite (x))
        add (&errors, x, true, F16_LEAST_NORMAL);
    }
  CHECK (errors.value < 8.6e-5);
  CHECK (errors.slope < 5e-5);
  CHECK (errors.tanh_value < 3e-6);
  CHECK (errors.tanh_slope < 3e-6);
}

static void
test_bf16 (void)
{
  Errors errors = { 0 };

  check_case ("all of bf16");
  for (uint32_t bits = 0; bits < 65536; bits++)
    {
      float x = qm_float_from_bf16 ((uint16_t) bits);

      if (fabsf (x) < 1e4f)
        add (&errors, x, true, F16_LEAST_NORMAL);
    }
  CHECK (errors.value < 8.6e-5);
  CHECK (errors.slope < 5e-5);
}

static void
test_f32 (void)
{
  Errors errors = { 0 };
  double absolute = 0;

  check_case ("fp32");
  for (uint32_t bits = 0; bits < 0x42000000; bits += 1999)
    for (int sign = 0; sign < 2; sign++)
      {
        uint32_t word = bits | (uint32_t) sign << 31;
        float x;

        memcpy (&x, &word, sizeof x);
        add (&errors, x, false, F16_LEAST_NORMAL);
        if (fabsf (x) > 0x1p-100f)
          larger (&absolute, fabs (qm_gelu (x, false) - x * normal (x))
                                 / fabs ((double) x));
      }
  CHECK (absolute < 2e-7);
  CHECK (errors.value < 5e-6);
  CHECK (errors.slope < 4e-7);
  CHECK (errors.tanh_value < 3e-6);
  CHECK (errors.tanh_slope < 1e-6);
}

static void
test_ends (void)
{
  check_case ("ends");
  for (int narrow = 0; narrow < 2; narrow++)
    {
      CHECK_NEAR (qm_gelu (3e38f, narrow), 3e38f, 0);
      CHECK_NEAR (qm_gelu (-3e38f, narrow), 0, 0);
      CHECK_NEAR (qm_gelu_slope (3e38f, narrow), 1, 0);
      CHECK_NEAR (qm_gelu_slope (-3e38f, narrow), 0, 0);
      CHECK (isnan (qm_gelu (NAN, narrow)));
      CHECK (isnan (qm_gelu_slope (NAN, narrow)));
      CHECK (!isfinite (qm_gelu (INFINITY, narrow)));
    }
  CHECK_NEAR (qm_gelu_tanh (3e38f), 3e38f, 0);
  CHECK_NEAR (qm_gelu_tanh (-3e38f), 0, 0);
  CHECK_NEAR (qm_gelu_tanh_slope (65504), 1, 0);
  CHECK (fabsf (qm_gelu_tanh_slope (-65504)) < 1e-20f);
  CHECK (isnan (qm_gelu_tanh (NAN)));
  CHECK (isnan (qm_gelu_tanh_slope (NAN)));
  CHECK (!isfinite (qm_gelu_tanh (INFINITY)));
}

int
main (void)
{
  test_f16 ();
  test_bf16 ();
  test_f32 ();
  test_ends ();
  return check_report ();
}
