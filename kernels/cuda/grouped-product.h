/* SPDX-License-Identifier: Apache-2.0 */

/* Products of groups of rows; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_GROUPED_PRODUCT_H
#define QM_KERNELS_CUDA_GROUPED_PRODUCT_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* Queues QM_OP_GROUPED_LINEAR, QM_OP_GROUPED_INPUT_GRAD or
   * QM_OP_GROUPED_WEIGHT_GRAD of any shape and alignment, on any GPU; factors
   * share their type.  The same each time, to the bit. */
  QmStatus qm_cuda_portable_grouped (cudaStream_t stream,
                                     const QmOpCall *call,
                                     QmError *error);

#ifdef __cplusplus
}
#endif

#endif
