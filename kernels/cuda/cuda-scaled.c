/* SPDX-License-Identifier: Apache-2.0 */

/* Products in FP8 (kernels/scaled.h), of which cuBLASLt has all that
 * qm_cuda_takes() takes. */

#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-products.h"
#include "kernels/scaled.h"

static QmCudaMatrix
dense_or_gaps (const QmTensor *tensor)
{
  int64_t step = tensor->stride[0] > tensor->shape[1] ? tensor->stride[0]
                                                      : tensor->shape[1];

  return (QmCudaMatrix){ .data = tensor->data,
                         .type = tensor->type,
                         .rows = tensor->shape[0],
                         .columns = tensor->shape[1],
                         .step = step };
}

/* a b' with their scales, to be written to d. */
static QmCudaProduct
scaled_product (const QmOpCall *call)
{
  const QmTensor *in = call->inputs;
  QmCudaProduct product = {
    .a = dense_or_gaps (&in[0]),
    .b = dense_or_gaps (&in[1]),
    .d = dense_or_gaps (&call->outputs[0]),
    .batch = 1,
    .alpha = 1,
    .deterministic = call->attributes.deterministic,
    .by_row = qm_scaled_by_row (call),
    .scale_a = in[2].data,
    .scale_b = in[3].data,
    .workspace = call->workspace,
    .workspace_bytes = call->workspace_bytes,
  };

  product.b.transposed = true;
  product.b.rows = in[1].shape[1];
  product.b.columns = in[1].shape[0];
  return product;
}

QmStatus
qm_cuda_scaled_linear (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor *bias = &call->inputs[4], *y = &call->outputs[0];
  bool has_bias = qm_tensor_present (bias);
  QmCudaProduct product = scaled_product (call);
  QmStatus status = qm_cuda_takes (context->architecture, call, error);

  if (status != QM_OK)
    return status;
  if (has_bias
      && bias->type == (y->type == QM_TYPE_F32 ? QM_TYPE_BF16 : y->type))
    {
      product.epilogue = QM_CUDA_EPILOGUE_BIAS;
      product.bias = bias->data;
      status = qm_cuda_product (context->products, stream, &product, error);
      if (status != QM_STATUS_UNSUPPORTED)
        return status;
      product.epilogue = QM_CUDA_EPILOGUE_NONE;
      product.bias = NULL;
    }
  status = qm_cuda_product (context->products, stream, &product, error);
  if (status != QM_OK || !has_bias)
    return status;
  return qm_cuda_finish_linear (context, stream, y, bias, NULL,
                                QM_FUNCTION_NONE, y, error);
}

QmStatus
qm_cuda_scaled_weight_grad (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  QmCudaProduct product = scaled_product (call);
  QmStatus status = qm_cuda_takes (context->architecture, call, error);

  if (status != QM_OK)
    return status;
  product.c = product.d;
  product.any_order = !product.deterministic;
  return qm_cuda_product (context->products, stream, &product, error);
}
