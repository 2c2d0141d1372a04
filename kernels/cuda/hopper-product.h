/* SPDX-License-Identifier: Apache-2.0 */

/* An own product of matrices for compute capability 9.0a, which finishes what
 * it multiplied before it is written; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_HOPPER_PRODUCT_H
#define QM_KERNELS_CUDA_HOPPER_PRODUCT_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

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

  /* Elements from one row of a matrix to the next; of one row, which has none,
   * what the copy engine takes. */
  int64_t qm_hopper_step (const QmTensor *matrix);

  /* Whether there is a kernel for it: whether the device is of compute
   * capability 9.0, the type has 16 bits, the activation is known, what turns
   * are 16, 32, 64 or 128 elements at multiples of as many, and the copy engine
   * can reach all rows and write no more than them (addresses, steps and
   * columns of whole 16 bytes). */
  bool qm_hopper_product_fits (const QmCudaContext *context,
                               const QmHopperProduct *product);

  /* Queues a product that fits; the same each time, to the bit. */
  QmStatus qm_hopper_product (const QmCudaContext *context,
                              cudaStream_t stream,
                              const QmHopperProduct *product,
                              QmError *error);

  /* The same as a way of kernels/cuda/cuda-choice.h: of a QmHopperProduct. */
  QmStatus qm_hopper_product_way (QmCudaContext *context,
                                  cudaStream_t stream,
                                  const void *product,
                                  QmError *error);

  /* Whether a call has to take it, as it has to be deterministic, which times
   * are not. */
  bool qm_hopper_product_required (const QmCudaContext *context,
                                   const QmOpCall *call);

  /* Says that there is none for a call that was to have one. */
  QmStatus qm_hopper_product_refuse (const QmOpCall *call, QmError *error);

#ifdef __cplusplus
}
#endif

#endif
