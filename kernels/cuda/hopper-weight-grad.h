/* SPDX-License-Identifier: Apache-2.0 */

/* An own gradient of weights for compute capability 9.0a, which adds to what is
 * there without reading it; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_HOPPER_WEIGHT_GRAD_H
#define QM_KERNELS_CUDA_HOPPER_WEIGHT_GRAD_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* dw += dy' x, with dy [inner, rows] and x [inner, columns] of a type of 16
   * bits and dw [rows, columns] in fp32, all row by row; each step is the
   * number of elements from one row to the next.  The columns of dy, the first
   * `sums` of them, are added to dbias, which may be NULL. */
  typedef struct QmHopperWeightGrad
  {
    QmType type;
    int64_t rows, columns, inner, sums;
    int64_t step_dy, step_x, step_dw;
    const void *dy, *x;
    float *dw, *dbias;
  } QmHopperWeightGrad;

  /* Whether there is a kernel for it: whether the device is of compute
   * capability 9.0, the type has 16 bits, and the copy engine can reach all
   * rows (addresses and steps of whole 16 bytes). */
  bool qm_hopper_weight_grad_fits (const QmCudaContext *context,
                                   const QmHopperWeightGrad *grad);

  /* Queues a gradient that fits.  The order in which parts of a sum are added
   * differs from time to time, and with it the last bits. */
  QmStatus qm_hopper_weight_grad (const QmCudaContext *context,
                                  cudaStream_t stream,
                                  const QmHopperWeightGrad *grad,
                                  QmError *error);

#ifdef __cplusplus
}
#endif

#endif
