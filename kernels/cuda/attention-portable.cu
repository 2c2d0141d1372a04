/* SPDX-License-Identifier: Apache-2.0 */

/* The portable kernels for one element type and head size, which the build
 * gives as QM_ATTENTION_T and QM_ATTENTION_D: one object each, so that they
 * compile side by side. */

#include "kernels/cuda/attention-mma-backward.cuh"
#include "kernels/cuda/attention-mma-forward.cuh"

namespace qm_attention
{

template cudaError_t
launch_portable_forward<QM_ATTENTION_T, QM_ATTENTION_D> (const Params &,
                                                         cudaStream_t);
template cudaError_t
launch_portable_backward<QM_ATTENTION_T, QM_ATTENTION_D> (const Params &,
                                                          cudaStream_t);
template cudaError_t launch_whole_backward<QM_ATTENTION_T, QM_ATTENTION_D> (
    const Params &, cudaStream_t, bool *);

}
