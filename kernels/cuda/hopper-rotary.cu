/* SPDX-License-Identifier: Apache-2.0 */

/* The products of one element type whose result turns; hopper-product.cu and
 * hopper-gated.cu have all others. */

#include "kernels/cuda/hopper-launch.cuh"

namespace qm_product
{

namespace
{

template <int TURNED>
cudaError_t
launch (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  constexpr QmHopperFinish ROTARY = QM_HOPPER_FINISH_ROTARY;
  constexpr QmFunction NONE = QM_FUNCTION_NONE;
  Work w = {};
  cudaError_t status;

  arrange (&w, p, processors / CLUSTER);
  status = describe (&w, p);
  if (status != cudaSuccess)
    return status;
  if (w.steps >= 16)
    return launch_spread<false, ROTARY, NONE, 16, TURNED> (w, processors,
                                                           stream);
  return launch_spread<false, ROTARY, NONE, 8, TURNED> (w, processors, stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperProduct *product,
                int processors,
                cudaStream_t stream)
{
  using namespace qm_product;

  switch (product->rotary.rotary)
    {
    case 16:
      return launch<16> (*product, processors, stream);
    case 32:
      return launch<32> (*product, processors, stream);
    case 64:
      return launch<64> (*product, processors, stream);
    default:
      return launch<128> (*product, processors, stream);
    }
}
