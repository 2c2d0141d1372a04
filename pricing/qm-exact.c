/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-exact.h"

static QmInt128
greatest_common_divisor (QmInt128 a, QmInt128 b)
{
  while (b != 0)
    {
      QmInt128 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

gboolean
qm_exact_scale (gint64 value,
                QmInt128 numerator,
                QmInt128 denominator,
                gint64 *result)
{
  QmInt128 divisor, product, whole, rest;

  g_return_val_if_fail (numerator >= 0 && denominator > 0, FALSE);

  divisor = greatest_common_divisor (numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
  if (__builtin_mul_overflow ((QmInt128) value, numerator, &product))
    return FALSE;
  whole = product / denominator;
  rest = product % denominator;
  if (rest < 0)
    whole -= -rest >= denominator + rest;
  else
    whole += rest >= denominator - rest;
  if (whole > G_MAXINT64 || whole < G_MININT64)
    return FALSE;
  *result = (gint64) whole;
  return TRUE;
}

gboolean
qm_exact_add (gint64 *sum, gint64 value)
{
  gint64 added;

  if (__builtin_add_overflow (*sum, value, &added))
    return FALSE;
  *sum = added;
  return TRUE;
}
