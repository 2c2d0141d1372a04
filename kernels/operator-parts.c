/* SPDX-License-Identifier: Apache-2.0 */

/* What calls are made of that could be several, and of what there may be
 * nothing. */

#include "kernels/operators.h"
#include "kernels/random.h"

bool
qm_dropout_is_on (double dropout)
{
  return qm_dropout_threshold (dropout) > 0;
}

bool
qm_op_rotary_fits (const QmOpCall *call)
{
  const QmAttributes *a = &call->attributes;
  const int64_t *table = call->inputs[3].shape, *y = call->outputs[0].shape;

  return a->rotary == table[1] && table[1] % 2 == 0 && table[1] <= a->width
         && a->count >= 1 && a->count <= a->chunk && a->width <= y[1]
         && a->chunk <= y[1] / a->width && y[1] % (a->width * a->chunk) == 0
         && y[0] % table[0] == 0;
}

void
qm_op_split_rotary (const QmOpCall *call, QmOpCall *linear, QmOpCall *rotary)
{
  const QmAttributes *attributes = &call->attributes;
  const QmTensor *y = &call->outputs[0], *table = &call->inputs[3];
  int64_t width = attributes->width, parts = attributes->chunk;
  int64_t rows = y->shape[0], length = table->shape[0];
  int64_t step = y->stride[0];

  *linear = *call;
  linear->op = QM_OP_LINEAR;
  linear->inputs[3] = (QmTensor){ 0 };
  linear->attributes =
      (QmAttributes){ .tf32 = attributes->tf32,
                      .deterministic = attributes->deterministic };
  *rotary = (QmOpCall){ .op = QM_OP_ROTARY,
                        .attributes = { .rotary = attributes->rotary,
                                        .count = attributes->count,
                                        .deterministic =
                                            attributes->deterministic } };
  rotary->inputs[0] =
      (QmTensor){ .type = y->type,
                  .rank = 5,
                  .shape = { rows / length, length, parts,
                             y->shape[1] / (width * parts), width },
                  .stride = { length * step, step, width, parts * width, 1 },
                  .data = y->data };
  rotary->inputs[1] = *table;
  rotary->outputs[0] = rotary->inputs[0];
}
