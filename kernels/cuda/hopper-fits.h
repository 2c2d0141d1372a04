/* SPDX-License-Identifier: Apache-2.0 */

/* What the products of kernels/cuda/hopper-product.h are asked for, and which
 * of them there are kernels for; plain C, compiled also where no GPU can be
 * used. */

#ifndef QM_KERNELS_CUDA_HOPPER_FITS_H
#define QM_KERNELS_CUDA_HOPPER_FITS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "kernels/operators.h"

  typedef enum QmHopperFinish
  {
    QM_HOPPER_FINISH_NONE,       /* d = s */
    QM_HOPPER_FINISH_ACTIVATE,   /* pre = s, where there is room for it;
                                    d = activation (s) */
    QM_HOPPER_FINISH_SLOPE,      /* d = s activation' (pre) */
    QM_HOPPER_FINISH_GATE,       /* of twice as many columns, gate and up: pre =
                                    s, where there is room for it; d =
                                    activation (gate) up */
    QM_HOPPER_FINISH_GATE_SLOPE, /* d = s up activation' (gate), then as many
                                    columns of s activation (gate), with gate
                                    and up beside each other in pre */
    QM_HOPPER_FINISH_ROTARY      /* d = s, turned as QM_OP_ROTARY_LINEAR does */
  } QmHopperFinish;

  /* Heads of `width` columns, of every `chunk` of which the first `count` turn
   * by the angles of table [length, rotary]. */
  typedef struct QmHopperRotary
  {
    const float *table;
    int64_t length, rotary, width, count, chunk;
  } QmHopperRotary;

  /* s = a b + bias, with a [rows, inner], d and pre [rows, columns] row by row,
   * b [inner, columns] row by row, or column by column where `transposed`; with
   * a gate pre, what is multiplied for it (b and bias, or d) have twice as many
   * columns.  All are of one type; each step is the number of elements from one
   * row (column) to the next.  bias and pre may be NULL where nothing needs
   * them. */
  typedef struct QmHopperProduct
  {
    QmType type;
    QmHopperFinish finish;
    QmFunction activation; /* none, either GELU, or SiLU of a gate */
    bool transposed;
    int64_t rows, columns, inner;
    int64_t step_a, step_b, step_d, step_pre;
    const void *a, *b, *bias;
    void *d, *pre;
    QmHopperRotary rotary;
  } QmHopperProduct;

  /* Whether there is a kernel for it on a GPU of that architecture: whether
   * that is 9.0, the type has 16 bits, the activation is known, what turns are
   * 16, 32, 64 or 128 elements at multiples of as many, and the copy engine can
   * reach all rows and write no more than them (addresses, steps and columns of
   * whole 16 bytes). */
  bool qm_hopper_product_fits (int architecture,
                               const QmHopperProduct *product);

  /* The product of a call that begins with x, w and a bias or none, to its
   * first output, without what ends it; false where not all of it is of one
   * type. */
  bool qm_hopper_linear (const QmOpCall *call, QmHopperProduct *product);

  /* The product that a call of QM_OP_GATED_LINEAR or QM_OP_GATED_INPUT_GRAD is;
   * false where not all of it is of one type. */
  bool qm_hopper_gated (const QmOpCall *call, QmHopperProduct *product);

#ifdef __cplusplus
}
#endif

#endif
