/* SPDX-License-Identifier: Apache-2.0 */

/* An own product of matrices for compute capability 9.0a, which finishes what
 * it multiplied before it is written; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_HOPPER_PRODUCT_H
#define QM_KERNELS_CUDA_HOPPER_PRODUCT_H

#include "kernels/cuda/cuda-ops.h"
#include "kernels/cuda/hopper-fits.h"

#ifdef __cplusplus
extern "C"
{
#endif

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
