/* SPDX-License-Identifier: Apache-2.0 */

/* What checks of calls know of tensors; nobody else includes this. */

#ifndef QM_KERNELS_OPERATOR_SIGNATURES_H
#define QM_KERNELS_OPERATOR_SIGNATURES_H

#include "kernels/operators.h"

/* The tensors of each operator, slots separated by spaces: type (f any float
 * but FP8, which is e, s f32, i i32, a any but FP8), '?' where it may be
 * absent, '#' where it has to be dense, '~' where it may have any strides; then
 * a letter for every dimension, equal letters for equal sizes, a digit for that
 * very size, and '*' for any shape, the same wherever it stands. */
typedef struct QmSignature
{
  const char *name;
  const char *inputs;
  const char *outputs;
} QmSignature;

/* By operator. */
extern const QmSignature qm_op_signatures[QM_OP_COUNT];

#endif
