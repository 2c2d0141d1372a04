/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers in FP8 and their scales: what the operators that make and multiply
 * them agree on, on every device to the bit.
 *
 * QM_OP_QUANTIZE.  A group of numbers is all of x, or with `by_row` a row of it
 * for q and a column of it, which is a row of qt, for qt; qt is the transpose,
 * and columns of it behind the last row of x, where it has more, are zero.
 * Both have the type of the tensors that they are written to.  Of a group,
 *
 *   amax    = the largest magnitude, not a number where one of them is none
 *   scale   = amax / most, 1 where that is 0 or subnormal
 *   q       = x (1 / scale), rounded to nearest even, what is more than `most`
 *             to that
 *
 * with `most` the largest number of the type, 448 or 57344, each step rounded
 * to fp32.  So scale is what q is multiplied by to give x back.  What is
 * infinite or not a number in a group makes its scale so, too, and what is
 * computed from it; nobody goes on with a gradient of that kind.
 *
 * With a history (Micikevicius et al. 2022, arXiv 2209.05433, 3.1; NVIDIA's
 * Transformer Engine, DelayedScaling), there is one group, and amax is the
 * largest of the history; while that is 0, as it is at first, the one of x.
 * What is infinite is then rounded to the largest number.  The amax of x goes
 * to output 4, where that is there, and from there by QM_OP_NOTE_AMAX into the
 * history: behind all of a pass, so that what is quantised once more in it has
 * the same scale. What is not finite is noted as 0.  Row i of a history is
 * dense and belongs to amax[i]:
 *
 *   history[i] = amax[i], history[i][0], ..., history[i][n - 2]
 *
 * QM_OP_SCALED_LINEAR, y = (sa sb) (a b') + bias, and QM_OP_SCALED_WEIGHT_GRAD,
 * dw += (sa sb) (a b').  Both factors lie by rows of what is summed, as tensor
 * cores want them; each is in either type.  sa and sb are one number each, or
 * both one for each row of their factor.  Sums are in fp32, and a result is
 * rounded once, on a CPU.  Tensor cores of Hopper add 32 products and what
 * there was with about 13 bits below the largest of them, and every 128 in
 * fp32; and a bias that the product cannot take is added to what was rounded to
 * the type of y, which is then rounded once more.  So, with dy in FP8, is the
 * gradient of the input the first of a = dy, b = the transpose of the weights,
 * and the gradient of the weights the second of a = the transpose of dy, b =
 * that of x. */

#ifndef QM_KERNELS_SCALED_H
#define QM_KERNELS_SCALED_H

#include "kernels/operators.h"

#include <float.h>

/* What columns of products in FP8 and of their factors are multiples of on
 * tensor cores, which read 16 bytes at a time; rows of the first are of any
 * number.  From one row of the result to the next are so many bytes, too. */
#define QM_SCALED_MULTIPLE 16

/* Whether a product has a scale for each row of its factors.  The one of a
 * factor of a single row looks like that of all of it, so that the other tells.
 */
static inline bool
qm_scaled_by_row (const QmOpCall *call)
{
  return qm_tensor_elements (&call->inputs[2]) > 1
         || qm_tensor_elements (&call->inputs[3]) > 1;
}

/* The largest number of a type of FP8. */
static inline float
qm_scaled_most (QmType type)
{
  return type == QM_TYPE_E4M3 ? 448.0f : 57344.0f;
}

/* The scale of a group in that type. */
static inline float
qm_scaled_scale (float amax, QmType type)
{
  float scale = amax / qm_scaled_most (type);

  return scale < FLT_MIN ? 1 : scale;
}

#endif
