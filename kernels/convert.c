/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/convert.h"

#include <math.h>
#include <string.h>

static float
from_bits (uint32_t bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static uint32_t
to_bits (float value)
{
  uint32_t bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

float
qm_float_from_f16 (uint16_t bits)
{
  uint32_t sign = (uint32_t) (bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31;
  uint32_t fraction = bits & 0x3ff;

  if (exponent == 0)
    return copysignf ((float) fraction * 0x1p-24f, from_bits (sign));
  if (exponent == 31)
    return from_bits (sign | 0x7f800000 | fraction << 13);
  return from_bits (sign | (exponent + 112) << 23 | fraction << 13);
}

/* Drops `n` low bits, to nearest even. */
static uint32_t
drop_bits (uint32_t value, uint32_t n)
{
  uint32_t half = (UINT32_C (1) << (n - 1)) - 1;

  return (value + half + (value >> n & 1)) >> n;
}

uint16_t
qm_float_to_f16 (float value)
{
  uint32_t bits = to_bits (value);
  uint16_t sign = (uint16_t) (bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;

  if (magnitude > 0x7f800000)
    return (uint16_t) (sign | 0x7e00);
  /* From half way between the largest number and the next power of two. */
  if (magnitude >= 0x477ff000)
    return (uint16_t) (sign | 0x7c00);
  if (magnitude < 0x38800000)
    return (uint16_t) (sign
                       | (uint16_t) lrintf (from_bits (magnitude) * 0x1p24f));
  return (uint16_t) (sign | drop_bits (magnitude - 0x38000000, 13));
}

float
qm_float_from_bf16 (uint16_t bits)
{
  return from_bits ((uint32_t) bits << 16);
}

uint16_t
qm_float_to_bf16 (float value)
{
  uint32_t bits = to_bits (value);

  if (isnan (value))
    return (uint16_t) (bits >> 16 | 0x40);
  return (uint16_t) drop_bits (bits, 16);
}

static float
float_from_e4m3 (uint8_t bits)
{
  uint32_t sign = (uint32_t) (bits & 0x80) << 24;
  uint32_t magnitude = bits & 0x7f;

  if (magnitude == 0x7f)
    return from_bits (sign | 0x7fc00000);
  if (magnitude < 8)
    return copysignf ((float) magnitude * 0x1p-9f, from_bits (sign));
  return from_bits (sign | (magnitude + (120 << 3)) << 20);
}

static float
float_from_e5m2 (uint8_t bits)
{
  return qm_float_from_f16 ((uint16_t) (bits << 8));
}

/* To a type of `fraction` bits whose least normal number is `least`, the
 * largest finite one `most` as bits. */
static uint8_t
to_eight_bits (float value, uint32_t fraction, float least, uint8_t most)
{
  uint32_t bits = to_bits (value), magnitude = bits & 0x7fffffff, code;
  uint8_t sign = (uint8_t) (bits >> 24 & 0x80);
  /* The biased exponent that is 0 there. */
  uint32_t zero = (to_bits (least) >> 23) - 1;

  if (magnitude > 0x7f800000)
    return 0x7f;
  if (magnitude < to_bits (least))
    code = (uint32_t) lrintf (from_bits (magnitude) / least
                              * (float) (1 << fraction));
  else
    code = drop_bits (magnitude - (zero << 23), 23 - fraction);
  return (uint8_t) (sign | (code < most ? code : most));
}

static uint8_t
float_to_e4m3 (float value)
{
  return to_eight_bits (value, 3, 0x1p-6f, 0x7e);
}

static uint8_t
float_to_e5m2 (float value)
{
  return to_eight_bits (value, 2, 0x1p-14f, 0x7b);
}

void
qm_floats_load (
    QmType type, const void *from, int64_t stride, int64_t n, float *to)
{
  const uint16_t *halves = from;
  const uint8_t *octets = from;
  const float *floats = from;

  switch (type)
    {
    case QM_TYPE_F32:
      if (stride == 1 && n > 0)
        memcpy (to, floats, (size_t) n * sizeof *to);
      else
        for (int64_t i = 0; i < n; i++)
          to[i] = floats[i * stride];
      break;
    case QM_TYPE_F16:
      for (int64_t i = 0; i < n; i++)
        to[i] = qm_float_from_f16 (halves[i * stride]);
      break;
    case QM_TYPE_BF16:
      for (int64_t i = 0; i < n; i++)
        to[i] = qm_float_from_bf16 (halves[i * stride]);
      break;
    case QM_TYPE_E4M3:
      for (int64_t i = 0; i < n; i++)
        to[i] = float_from_e4m3 (octets[i * stride]);
      break;
    case QM_TYPE_E5M2:
      for (int64_t i = 0; i < n; i++)
        to[i] = float_from_e5m2 (octets[i * stride]);
      break;
    case QM_TYPE_I32:
    case QM_TYPE_NONE:
      break;
    }
}

void
qm_floats_store (
    QmType type, void *to, int64_t stride, int64_t n, const float *from)
{
  uint16_t *halves = to;
  uint8_t *octets = to;
  float *floats = to;

  switch (type)
    {
    case QM_TYPE_F32:
      if (stride == 1 && n > 0)
        memcpy (floats, from, (size_t) n * sizeof *from);
      else
        for (int64_t i = 0; i < n; i++)
          floats[i * stride] = from[i];
      break;
    case QM_TYPE_F16:
      for (int64_t i = 0; i < n; i++)
        halves[i * stride] = qm_float_to_f16 (from[i]);
      break;
    case QM_TYPE_BF16:
      for (int64_t i = 0; i < n; i++)
        halves[i * stride] = qm_float_to_bf16 (from[i]);
      break;
    case QM_TYPE_E4M3:
      for (int64_t i = 0; i < n; i++)
        octets[i * stride] = float_to_e4m3 (from[i]);
      break;
    case QM_TYPE_E5M2:
      for (int64_t i = 0; i < n; i++)
        octets[i * stride] = float_to_e5m2 (from[i]);
      break;
    case QM_TYPE_I32:
    case QM_TYPE_NONE:
      break;
    }
}
