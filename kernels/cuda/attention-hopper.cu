/* SPDX-License-Identifier: Apache-2.0 */

/* The Hopper kernels for one element type and head size, which the build
 * gives as QM_ATTENTION_T and QM_ATTENTION_D. */

#include "kernels/cuda/attention-hopper-forward.cuh"
#include "kernels/cuda/attention-map.cuh"

namespace qm_attention
{

template cudaError_t
launch_hopper_forward<QM_ATTENTION_T, QM_ATTENTION_D> (const Params &,
                                                       cudaStream_t);

}
