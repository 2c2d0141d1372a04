/* SPDX-License-Identifier: Apache-2.0 */

/* The products of one element type that end in a gate, or in its gradient;
 * hopper-product.cu has all others. */

#include "kernels/cuda/hopper-launch.cuh"

namespace qm_product
{

namespace
{

template <QmFunction F>
cudaError_t
launch_gate (const Work &w, int processors, cudaStream_t stream)
{
  constexpr QmHopperFinish GATE = QM_HOPPER_FINISH_GATE;

  if (w.steps >= 24)
    return launch_spread<false, GATE, F, 24> (w, processors, stream);
  if (w.steps >= 12)
    return launch_spread<false, GATE, F, 12> (w, processors, stream);
  return launch_spread<false, GATE, F, 8> (w, processors, stream);
}

template <QmFunction F>
cudaError_t
launch_slope (const Work &w, int processors, cudaStream_t stream)
{
  constexpr QmHopperFinish SLOPE = QM_HOPPER_FINISH_GATE_SLOPE;

  if (w.steps >= MANY_STEPS)
    return launch_spread<true, SLOPE, F, 32> (w, processors, stream);
  if (w.steps >= 16)
    return launch_spread<true, SLOPE, F, 16> (w, processors, stream);
  if (w.steps >= 12)
    return launch_spread<true, SLOPE, F, 12> (w, processors, stream);
  return launch_spread<true, SLOPE, F, 8> (w, processors, stream);
}

template <QmFunction F>
cudaError_t
launch (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  Work w = {};
  cudaError_t status;

  arrange (&w, p, processors / CLUSTER);
  status = describe (&w, p);
  if (status != cudaSuccess)
    return status;
  return p.finish == QM_HOPPER_FINISH_GATE
             ? launch_gate<F> (w, processors, stream)
             : launch_slope<F> (w, processors, stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperProduct *product,
                int processors,
                cudaStream_t stream)
{
  using namespace qm_product;

  switch (product->activation)
    {
    case QM_FUNCTION_GELU:
      return launch<QM_FUNCTION_GELU> (*product, processors, stream);
    case QM_FUNCTION_GELU_TANH:
      return launch<QM_FUNCTION_GELU_TANH> (*product, processors, stream);
    default:
      return launch<QM_FUNCTION_SILU> (*product, processors, stream);
    }
}
