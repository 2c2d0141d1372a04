/* SPDX-License-Identifier: Apache-2.0 */

/* The portable kernels for one element type, which the build gives as
 * QM_ATTENTION_T, and for each head size of its list QM_ATTENTION_SIZES: mostly
 * one an object, so that they compile side by side. */

#include "kernels/cuda/attention-mma-backward.cuh"
#include "kernels/cuda/attention-mma-forward.cuh"

namespace qm_attention
{

#define SIZE(D)                                                      \
  template cudaError_t launch_portable_forward<QM_ATTENTION_T, D> (  \
      const Params &, cudaStream_t);                                 \
  template cudaError_t launch_portable_backward<QM_ATTENTION_T, D> ( \
      const Params &, cudaStream_t);                                 \
  template cudaError_t launch_whole_backward<QM_ATTENTION_T, D> (    \
      const Params &, cudaStream_t, bool *);

QM_ATTENTION_SIZES (SIZE)

}
