/* SPDX-License-Identifier: Apache-2.0 */

/* Attention without tensor cores: for fp32 that must not be rounded, and for
 * head sizes and alignments that attention.h does not take.  Any float types,
 * any strides, head sizes up to 256. */

#ifndef QM_KERNELS_CUDA_ATTENTION_PLAIN_H
#define QM_KERNELS_CUDA_ATTENTION_PLAIN_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* QM_OP_ATTENTION and QM_OP_ATTENTION_BACKWARD; the latter's workspace holds
   * a float for each row. */
  QmStatus qm_cuda_attention_plain (QmCudaContext *context,
                                    cudaStream_t stream,
                                    const QmOpCall *call,
                                    QmError *error);
  QmStatus qm_cuda_attention_plain_backward (QmCudaContext *context,
                                             cudaStream_t stream,
                                             const QmOpCall *call,
                                             QmError *error);

#ifdef __cplusplus
}
#endif

#endif
