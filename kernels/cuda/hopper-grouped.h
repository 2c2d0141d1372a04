/* SPDX-License-Identifier: Apache-2.0 */

/* Products of groups of rows for compute capability 9.0a; only for
 * kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_HOPPER_GROUPED_H
#define QM_KERNELS_CUDA_HOPPER_GROUPED_H

#include "kernels/cuda/cuda-ops.h"

/* As many as fit the memory that the products leave. */
#define QM_HOPPER_GROUPS 255

#ifdef __cplusplus
extern "C"
{
#endif

  /* Whether there is a kernel for QM_OP_GROUPED_LINEAR,
   * QM_OP_GROUPED_INPUT_GRAD or QM_OP_GROUPED_WEIGHT_GRAD: whether the device
   * is of compute capability 9.0, all but gradients of weights has one type of
   * 16 bits, the copy engine can reach all rows, and no box of a matrix has
   * elements of the next one that count. */
  bool qm_hopper_grouped_fits (const QmCudaContext *context,
                               const QmOpCall *call);

  /* Queues a call that fits; the same each time, to the bit. */
  QmStatus qm_hopper_grouped (const QmCudaContext *context,
                              cudaStream_t stream,
                              const QmOpCall *call,
                              QmError *error);

#ifdef __cplusplus
}
#endif

#endif
