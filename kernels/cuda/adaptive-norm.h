/* SPDX-License-Identifier: Apache-2.0 */

/* Norms of samples whose rows a block keeps in registers, one group of eight
 * columns a thread; what kernels/cuda/samples.cu has is for all others. */

#ifndef QM_KERNELS_CUDA_ADAPTIVE_NORM_H
#define QM_KERNELS_CUDA_ADAPTIVE_NORM_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* Whether a call of QM_OP_ADAPTIVE_NORM or of its gradient, all groups of
   * whose rows are aligned, is one for the functions below: rows that are not
   * too long, sums of them in fp32, and all else in one type. */
  bool qm_cuda_keeps_adaptive (const QmOpCall *call);

  /* Launch that, and report as other operators do. */
  QmStatus qm_cuda_kept_adaptive_norm (QmCudaContext *context,
                                       cudaStream_t stream,
                                       const QmOpCall *call,
                                       QmError *error);
  QmStatus qm_cuda_kept_adaptive_norm_backward (QmCudaContext *context,
                                                cudaStream_t stream,
                                                const QmOpCall *call,
                                                QmError *error);

#ifdef __cplusplus
}
#endif

#endif
