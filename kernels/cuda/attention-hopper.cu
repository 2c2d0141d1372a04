/* SPDX-License-Identifier: Apache-2.0 */

/* The Hopper kernels for one element type, which the build gives as
 * QM_ATTENTION_T, and for each head size of its list QM_ATTENTION_SIZES. */

#include "kernels/cuda/attention-hopper-backward.cuh"
#include "kernels/cuda/attention-hopper-band.cuh"
#include "kernels/cuda/attention-hopper-forward.cuh"
#include "kernels/cuda/attention-hopper-split.cuh"
#include "kernels/cuda/attention-hopper-whole-forward.cuh"
#include "kernels/cuda/attention-hopper-whole.cuh"
#include "kernels/cuda/attention-map.cuh"

namespace qm_attention
{

template <class T, int D>
cudaError_t
launch_hopper_forward (const Params &p, cudaStream_t stream)
{
  if constexpr (D <= 80)
    if (fits_hopper_whole_forward (p))
      return launch_hopper_whole_forward<T, D> (p, stream);
  if constexpr (D <= 32)
    return cudaErrorInvalidValue;
  else
    return p.threshold ? launch_hopper_forward<T, D, true> (p, stream)
                       : launch_hopper_forward<T, D, false> (p, stream);
}

template <class T, int D>
cudaError_t
launch_hopper_backward (const Params &p, cudaStream_t stream)
{
  if constexpr (D <= 80)
    if (fits_hopper_whole<D> (p))
      return launch_hopper_whole<T, D> (p, stream);
  if constexpr (D == 64)
    if (fits_hopper_band (p))
      return launch_hopper_band<T, D> (p, stream);
  if constexpr (D <= 32)
    return cudaErrorInvalidValue;
  else if constexpr (D == 256)
    return p.threshold ? launch_hopper_split<T, D, true> (p, stream)
                       : launch_hopper_split<T, D, false> (p, stream);
  else
    return p.threshold ? launch_hopper_backward<T, D, true> (p, stream)
                       : launch_hopper_backward<T, D, false> (p, stream);
}

#define SIZE(D)                                                    \
  template cudaError_t launch_hopper_forward<QM_ATTENTION_T, D> (  \
      const Params &, cudaStream_t);                               \
  template cudaError_t launch_hopper_backward<QM_ATTENTION_T, D> ( \
      const Params &, cudaStream_t);

QM_ATTENTION_SIZES (SIZE)

}
