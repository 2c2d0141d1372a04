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

static bool
reachable (const void *address, int64_t step)
{
  return (uintptr_t) address % 16 == 0 && step % 8 == 0;
}

/* Both of what turns together are in one tile, and one thread has them. */
static bool
turns (const QmHopperRotary *rotary)
{
  int64_t turned = rotary->rotary;

  return (turned == 16 || turned == 32 || turned == 64 || turned == 128)
         && rotary->width % turned == 0 && rotary->length > 0
         && rotary->length <= INT32_MAX / turned && rotary->width < INT32_MAX
         && rotary->chunk < INT32_MAX && (uintptr_t) rotary->table % 8 == 0;
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
    case QM_HOPPER_FINISH_ROTARY:
      return turns (&product->rotary) && product->transposed
             && product->pre == NULL;
    default:
      return gelu && !product->transposed && product->pre != NULL
             && product->bias == NULL;
    }
}

int64_t
qm_hopper_step (const QmTensor *matrix)
{
  return matrix->shape[0] > 1 || matrix->stride[0] > matrix->shape[1]
             ? matrix->stride[0]
             : matrix->shape[1];
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
