/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of attention: on tensor cores where they take the type, size
 * and alignment. */

#include "kernels/cuda/attention-plain.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-ops.h"

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

static QmAttention
describe_attention (const QmCudaContext *context,
                    const QmOpCall *call,
                    const QmTensor *q,
                    const QmTensor *k,
                    const QmTensor *rng)
{
  const QmAttributes *attributes = &call->attributes;
  QmAttention attention = {
    .type = q->type == QM_TYPE_F16    ? QM_ATTENTION_FP16
            : q->type == QM_TYPE_BF16 ? QM_ATTENTION_BF16
                                      : QM_ATTENTION_TF32,
    .path = qm_cuda_has_hopper (context) ? QM_ATTENTION_PATH_AUTO
                                         : QM_ATTENTION_PATH_PORTABLE,
    .batch = (int) q->shape[0],
    .heads = (int) q->shape[1],
    .groups = (int) k->shape[1],
    .seq = (int) q->shape[2],
    .head_dim = (int) q->shape[3],
    .scale = (float) attributes->scale,
    .causal = attributes->causal != QM_CAUSAL_NONE,
    .window = attributes->window < q->shape[2] ? (int) attributes->window : 0,
    .deterministic = attributes->deterministic,
    .architecture = context->architecture,
  };

  if (qm_dropout_is_on (attributes->dropout))
    {
      attention.dropout = attributes->dropout;
      attention.site = attributes->site;
      attention.rng = rng->data;
    }
  return attention;
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

  if (!qm_cuda_attends_on_tensor_cores (context->architecture, call))
    return qm_cuda_attention_plain (context, stream, call, error);
  attention = describe_attention (context, call, tensors[0], tensors[1],
                                  &call->inputs[3]);
  for (size_t i = 0; i < 4; i++)
    parts[i] = heads (tensors[i]);
  return qm_attention_forward (&attention, &parts[0], &parts[1], &parts[2],
                               &parts[3], call->outputs[1].data,
                               call->workspace, stream, error);
}

static QmStatus
plain_backward (QmCudaContext *context,
                cudaStream_t stream,
                const QmOpCall *call,
                QmError *error)
{
  const QmTensor *table = &call->inputs[7];
  QmStatus status =
      qm_cuda_attention_plain_backward (context, stream, call, error);

  if (status != QM_OK || !qm_tensor_present (table))
    return status;
  return qm_cuda_turn_back (stream, &call->outputs[0], &call->outputs[1],
                            table->data, call->attributes.rotary, error);
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

  if (!qm_cuda_attends_on_tensor_cores (context->architecture, call))
    return plain_backward (context, stream, call, error);
  attention = describe_attention (context, call, tensors[0], tensors[1],
                                  &call->inputs[6]);
  if (qm_tensor_present (&call->inputs[7]))
    {
      attention.table = call->inputs[7].data;
      attention.rotary = (int) call->attributes.rotary;
    }
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
