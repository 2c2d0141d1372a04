/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/hopper-product.h"

/* In hopper-product.cu and hopper-gated.cu, once for each type. */
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

static bool
reachable (const void *address, int64_t step)
{
  return (uintptr_t) address % 16 == 0 && step % 8 == 0;
}

static bool
known (const QmHopperProduct *product)
{
  bool gelu = product->activation == QM_FUNCTION_GELU
              || product->activation == QM_FUNCTION_GELU_TANH;
  bool gates = gelu || product->activation == QM_FUNCTION_SILU;

  switch (product->finish)
    {
    case QM_HOPPER_FINISH_NONE:
      return true;
    case QM_HOPPER_FINISH_ACTIVATE:
      return gelu && product->transposed;
    case QM_HOPPER_FINISH_GATE:
      return gates && product->transposed;
    case QM_HOPPER_FINISH_GATE_SLOPE:
      return gates && !product->transposed && product->pre != NULL
             && product->bias == NULL;
    default:
      return gelu && !product->transposed && product->pre != NULL
             && product->bias == NULL;
    }
}

bool
qm_hopper_product_fits (const QmCudaContext *context,
                        const QmHopperProduct *product)
{
  const int64_t most = INT32_MAX - 512;

  return context->architecture == 90
         && (product->type == QM_TYPE_F16 || product->type == QM_TYPE_BF16)
         && known (product) && product->rows > 0 && product->columns > 0
         && product->inner > 0 && product->rows < most
         && product->columns < most / 2 && product->inner < most
         && reachable (product->a, product->step_a)
         && reachable (product->b, product->step_b)
         && reachable (product->d, product->step_d)
         && reachable (product->pre, product->step_pre)
         && product->columns % 8 == 0 && (uintptr_t) product->bias % 4 == 0;
}

QmStatus
qm_hopper_product (const QmCudaContext *context,
                   cudaStream_t stream,
                   const QmHopperProduct *product,
                   QmError *error)
{
  bool gated = product->finish == QM_HOPPER_FINISH_GATE
               || product->finish == QM_HOPPER_FINISH_GATE_SLOPE;
  cudaError_t (*run) (const QmHopperProduct *, int, cudaStream_t) =
      product->type == QM_TYPE_F16
          ? (gated ? qm_hopper_gated_f16 : qm_hopper_product_f16)
          : (gated ? qm_hopper_gated_bf16 : qm_hopper_product_bf16);
  cudaError_t code = run (product, context->processors, stream);

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
