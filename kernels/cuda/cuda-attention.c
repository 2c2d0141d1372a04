/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of attention, in terms of kernels/cuda/attention.h. */

#include "kernels/cuda/attention.h"
#include "kernels/cuda/cuda-ops.h"

static QmStatus
refuse (const QmOpCall *call, const char *why, QmError *error)
{
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0, "%s: %s",
                       qm_op_name (call->op), why);
}

static QmAttentionTensor
heads (const QmTensor *tensor)
{
  return (QmAttentionTensor){
    .data = tensor->data,
    .batch_stride = tensor->stride[0],
    .head_stride = tensor->stride[1],
    .seq_stride = tensor->stride[2],
  };
}

/* Whether the kernels can read all of `n` tensors of [B, H, S, D]: one type,
 * and rows that begin where 16 bytes may. */
static bool
readable (const QmTensor *const *tensors, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      const QmTensor *tensor = tensors[i];
      size_t size = qm_type_size (tensor->type);

      if (tensor->type != tensors[0]->type
          || (uintptr_t) tensor->data % 16 != 0)
        return false;
      for (int d = 0; d < 3; d++)
        if ((size_t) tensor->stride[d] * size % 16 != 0)
          return false;
    }
  return true;
}

static QmStatus
describe (const QmOpCall *call,
          const QmTensor *q,
          const QmTensor *rng,
          QmAttention *attention,
          QmError *error)
{
  const QmAttributes *attributes = &call->attributes;

  if (q->shape[3] % 8 != 0 || q->shape[3] > 256)
    return refuse (call, "the head size is no multiple of 8 up to 256", error);
  if (q->type == QM_TYPE_F32 && !attributes->tf32)
    return refuse (call, "in fp32 there are only kernels with TF32", error);
  for (int d = 0; d < 3; d++)
    if (q->shape[d] > INT32_MAX)
      return refuse (call, "the sizes are too large", error);
  *attention = (QmAttention){
    .type = q->type == QM_TYPE_F16    ? QM_ATTENTION_FP16
            : q->type == QM_TYPE_BF16 ? QM_ATTENTION_BF16
                                      : QM_ATTENTION_TF32,
    .path = QM_ATTENTION_PATH_AUTO,
    .batch = (int) q->shape[0],
    .heads = (int) q->shape[1],
    .seq = (int) q->shape[2],
    .head_dim = (int) q->shape[3],
    .scale = (float) attributes->scale,
    .causal = attributes->causal != QM_CAUSAL_NONE,
    .deterministic = true,
  };
  if (qm_dropout_is_on (attributes->dropout))
    {
      attention->dropout = attributes->dropout;
      attention->site = attributes->site;
      attention->rng = rng->data;
    }
  return QM_OK;
}

QmStatus
qm_cuda_attention (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor *tensors[] = { &call->inputs[0], &call->inputs[1],
                                &call->inputs[2], &call->outputs[0] };
  QmAttentionTensor parts[4];
  QmAttention attention;
  QmStatus status;

  if (!readable (tensors, 4))
    return refuse (call, "the tensors are not aligned or differ in type",
                   error);
  status = describe (call, tensors[0], &call->inputs[3], &attention, error);
  if (status != QM_OK)
    return status;
  for (size_t i = 0; i < 4; i++)
    parts[i] = heads (tensors[i]);
  return qm_attention_forward (&attention, &parts[0], &parts[1], &parts[2],
                               &parts[3], call->outputs[1].data,
                               call->workspace, stream, error);
}

QmStatus
qm_cuda_attention_backward (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  const QmTensor *tensors[] = { &call->inputs[1],  &call->inputs[2],
                                &call->inputs[3],  &call->inputs[4],
                                &call->inputs[0],  &call->outputs[0],
                                &call->outputs[1], &call->outputs[2] };
  QmAttentionTensor parts[8];
  QmAttention attention;
  QmStatus status;

  if (!readable (tensors, 8))
    return refuse (call, "the tensors are not aligned or differ in type",
                   error);
  status = describe (call, tensors[0], &call->inputs[6], &attention, error);
  if (status != QM_OK)
    return status;
  if (qm_attention_backward_workspace (&attention) > call->workspace_bytes)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%s: the workspace is too small",
                         qm_op_name (call->op));
  for (size_t i = 0; i < 8; i++)
    parts[i] = heads (tensors[i]);
  return qm_attention_backward (&attention, &parts[0], &parts[1], &parts[2],
                                &parts[3], call->inputs[5].data, &parts[4],
                                &parts[5], &parts[6], &parts[7],
                                call->workspace, stream, error);
}
