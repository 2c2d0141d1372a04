/* SPDX-License-Identifier: Apache-2.0 */

/* An own product of matrices for GPUs of every kind, where there is no
 * cuBLASLt; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_PORTABLE_PRODUCT_H
#define QM_KERNELS_CUDA_PORTABLE_PRODUCT_H

#include "kernels/cuda/cuda-products.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* Queues a product of any shape, alignment and type of its factors, on a GPU
   * of so many multiprocessors.  QM_STATUS_UNSUPPORTED for epilogues other than
   * none and a bias.  The same each time, to the bit, unless
   * the product may be added in any order. */
  QmStatus qm_cuda_portable_product (int processors,
                                     cudaStream_t stream,
                                     const QmCudaProduct *product,
                                     QmError *error);

#ifdef __cplusplus
}
#endif

#endif
