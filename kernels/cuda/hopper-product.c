/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/hopper-product.h"

/* In hopper-product.cu, hopper-gated.cu and hopper-rotary.cu, once for each
 * type. */
cudaError_t qm_hopper_product_f16 (const QmHopperProduct *product,
                                   int processors,
                                   cudaStream_t stream);
cudaError_t qm_hopper_product_bf16 (const QmHopperProduct *product,
                                    int processors,
                                    cudaStream_t stream);

cudaError_t qm_hopper_gated_f16 (const QmHopperProduct *product,
                                 int processors,
                                 cudaStream_t stream);
cudaError_t qm_hopper_gated_bf16 (const QmHopperProduct *product,
                                  int processors,
                                  cudaStream_t stream);

cudaError_t qm_hopper_rotary_f16 (const QmHopperProduct *product,
                                  int processors,
                                  cudaStream_t stream);
cudaError_t qm_hopper_rotary_bf16 (const QmHopperProduct *product,
                                   int processors,
                                   cudaStream_t stream);

typedef cudaError_t (*Run) (const QmHopperProduct *, int, cudaStream_t);

static Run
run_of (const QmHopperProduct *product)
{
  bool half = product->type == QM_TYPE_F16;

  switch (product->finish)
    {
    case QM_HOPPER_FINISH_GATE:
    case QM_HOPPER_FINISH_GATE_SLOPE:
      return half ? qm_hopper_gated_f16 : qm_hopper_gated_bf16;
    case QM_HOPPER_FINISH_ROTARY:
      return half ? qm_hopper_rotary_f16 : qm_hopper_rotary_bf16;
    default:
      return half ? qm_hopper_product_f16 : qm_hopper_product_bf16;
    }
}

QmStatus
qm_hopper_product (const QmCudaContext *context,
                   cudaStream_t stream,
                   const QmHopperProduct *product,
                   QmError *error)
{
  cudaError_t code = run_of (product) (product, context->processors, stream);

  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, "a product", error);
}

QmStatus
qm_hopper_product_way (QmCudaContext *context,
                       cudaStream_t stream,
                       const void *product,
                       QmError *error)
{
  return qm_hopper_product (context, stream, product, error);
}

bool
qm_hopper_product_required (const QmCudaContext *context, const QmOpCall *call)
{
  return call->attributes.deterministic
         && context->preference == QM_CUDA_PREFER_FASTEST;
}

QmStatus
qm_hopper_product_refuse (const QmOpCall *call, QmError *error)
{
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "%s: there is no own product for this",
                       qm_op_name (call->op));
}
