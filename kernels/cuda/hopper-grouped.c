/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/hopper-grouped.h"

/* In hopper-grouped.cu, once for each type. */
cudaError_t qm_hopper_grouped_f16 (const QmOpCall *call,
                                   int processors,
                                   cudaStream_t stream);
cudaError_t qm_hopper_grouped_bf16 (const QmOpCall *call,
                                    int processors,
                                    cudaStream_t stream);

/* Columns of dw that a cluster makes, all of one group. */
#define WEIGHT_ROWS 256
/* What is added up in a step. */
#define STEP 64

static bool
reachable (const QmTensor *tensor)
{
  size_t size = qm_type_size (tensor->type);
  bool ok = (uintptr_t) tensor->data % 16 == 0;

  for (int32_t i = 0; i + 1 < tensor->rank; i++)
    ok = ok && (size_t) tensor->stride[i] * size % 16 == 0;
  return ok;
}

bool
qm_hopper_grouped_fits (const QmCudaContext *context, const QmOpCall *call)
{
  bool weights = call->op == QM_OP_GROUPED_WEIGHT_GRAD;
  const QmTensor *a = &call->inputs[0], *b = &call->inputs[1];
  const QmTensor *d = &call->outputs[0], *matrices = weights ? d : b;
  const int64_t most = INT32_MAX - 512;

  if (!qm_cuda_has_hopper (context)
      || (a->type != QM_TYPE_F16 && a->type != QM_TYPE_BF16)
      || b->type != a->type || !reachable (a) || !reachable (b)
      || !reachable (d) || matrices->shape[0] > QM_HOPPER_GROUPS
      || a->shape[0] >= most || matrices->shape[0] * matrices->shape[1] >= most)
    return false;
  if (weights)
    return d->shape[1] % WEIGHT_ROWS == 0;
  return d->type == a->type && a->shape[1] % STEP == 0 && d->shape[1] % 8 == 0;
}

QmStatus
qm_hopper_grouped (const QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  cudaError_t code =
      call->inputs[0].type == QM_TYPE_F16
          ? qm_hopper_grouped_f16 (call, context->processors, stream)
          : qm_hopper_grouped_bf16 (call, context->processors, stream);

  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, qm_op_name (call->op), error);
}
