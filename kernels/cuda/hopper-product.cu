/* SPDX-License-Identifier: Apache-2.0 */

/* The products of one element type, which the build gives as QM_PRODUCT_T, and
 * how they are started, through a function of the name QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-launch.cuh"

namespace qm_product
{

namespace
{

template <bool DOWN, QmHopperFinish FINISH, QmFunction F>
cudaError_t
launch (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  Work w = {};
  cudaError_t status;

  arrange (&w, p, processors / CLUSTER);
  status = describe (&w, p);

  if (status != cudaSuccess)
    return status;
  if constexpr (FINISH != QM_HOPPER_FINISH_NONE)
    {
      if (w.steps >= MANY_STEPS)
        return launch_spread<DOWN, FINISH, F, 32> (w, processors, stream);
      if (w.steps >= 16)
        return launch_spread<DOWN, FINISH, F, 16> (w, processors, stream);
      if (w.steps >= 12)
        return launch_spread<DOWN, FINISH, F, 12> (w, processors, stream);
    }
  return launch_spread<DOWN, FINISH, F, 8> (w, processors, stream);
}

cudaError_t
run (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  const bool tanh = p.activation == QM_FUNCTION_GELU_TANH;

  if (p.finish == QM_HOPPER_FINISH_ACTIVATE)
    return tanh ? launch<false, QM_HOPPER_FINISH_ACTIVATE,
                         QM_FUNCTION_GELU_TANH> (p, processors, stream)
                : launch<false, QM_HOPPER_FINISH_ACTIVATE, QM_FUNCTION_GELU> (
                    p, processors, stream);
  if (p.finish == QM_HOPPER_FINISH_SLOPE)
    return tanh ? launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU_TANH> (
               p, processors, stream)
                : launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU> (
                    p, processors, stream);
  return p.transposed ? launch<false, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
             p, processors, stream)
                      : launch<true, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
                          p, processors, stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperProduct *product,
                int processors,
                cudaStream_t stream)
{
  return qm_product::run (*product, processors, stream);
}
