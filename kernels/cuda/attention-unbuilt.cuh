/* SPDX-License-Identifier: Apache-2.0 */

/* Attention for an element type and a head size that a build leaves out which
 * no GPU will run (QM_CHECK_ONLY): others stand for them. */

#ifndef QM_KERNELS_CUDA_ATTENTION_UNBUILT_CUH
#define QM_KERNELS_CUDA_ATTENTION_UNBUILT_CUH

#include "kernels/cuda/attention-common.cuh"

/* Defines the entry point NAME of attention-common.cuh, which fails. */
#define QM_ATTENTION_UNBUILT(NAME)                                 \
  template <>                                                      \
  cudaError_t qm_attention::NAME<QM_ATTENTION_T, QM_ATTENTION_D> ( \
      const qm_attention::Params &, cudaStream_t)                  \
  {                                                                \
    return cudaErrorNoKernelImageForDevice;                        \
  }

#endif
