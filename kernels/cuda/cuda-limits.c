/* SPDX-License-Identifier: Apache-2.0 */

/* Plain C, compiled also where no GPU can be used. */

#include "kernels/cuda/cuda-limits.h"

#include "kernels/backend.h"
#include "kernels/cuda/cuda-support.h"
#include "kernels/scaled.h"

/* Whether a tensor of [B, H, S, D] is of that type and its rows are read 16
 * bytes at a time. */
static bool
is_read_as_vectors (const QmTensor *tensor, QmType type)
{
  size_t size = qm_type_size (tensor->type);

  if (tensor->type != type || (uintptr_t) tensor->data % 16 != 0)
    return false;
  for (int d = 0; d < 3; d++)
    if (tensor->shape[d] > INT32_MAX
        || (size_t) tensor->stride[d] * size % 16 != 0)
      return false;
  return true;
}

bool
qm_cuda_attends_on_tensor_cores (int architecture, const QmOpCall *call)
{
  bool backward = call->op == QM_OP_ATTENTION_BACKWARD;
  const QmTensor *q = &call->inputs[backward ? 1 : 0];

  if (q->shape[3] % 8 != 0 || q->shape[3] > QM_ATTENTION_HEAD
      || (q->type == QM_TYPE_F32 && !call->attributes.tf32)
      || !qm_cuda_multiplies (architecture, q->type, true))
    return false;
  for (int i = 0; i < (backward ? 5 : 3); i++)
    if (!is_read_as_vectors (&call->inputs[i], q->type))
      return false;
  for (int i = 0; i < (backward ? 3 : 1); i++)
    if (!is_read_as_vectors (&call->outputs[i], q->type))
      return false;
  return true;
}

bool
qm_cuda_has_turns (int architecture)
{
  return qm_cuda_is_hopper (architecture);
}

bool
qm_cuda_turns (int architecture, const QmOpCall *call)
{
  const QmTensor *q = &call->inputs[1];
  const QmAttributes *attributes = &call->attributes;
  bool masked = attributes->causal != QM_CAUSAL_NONE
                || (attributes->window > 0 && attributes->window < q->shape[2]);

  return qm_cuda_has_turns (architecture)
         && qm_tensor_present (&call->inputs[7]) && q->type != QM_TYPE_F32
         && qm_cuda_attends_on_tensor_cores (architecture, call)
         && !qm_dropout_is_on (attributes->dropout)
         && qm_cuda_turns_in_end (q->shape[3], attributes->rotary)
         && (masked || q->shape[2] > QM_CUDA_WHOLE_ROWS || q->shape[3] > 64);
}

/* `what` of the call are `count`, of which there may be `most`. */
static QmStatus
at_most (const QmOpCall *call,
         const char *what,
         int64_t count,
         int64_t most,
         QmError *error)
{
  if (count <= most)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "%s: %lld %s; such a GPU has kernels for at most %lld",
                       qm_op_name (call->op), (long long) count, what,
                       (long long) most);
}

static QmStatus
attention_is_taken (int architecture, const QmOpCall *call, QmError *error)
{
  const QmTensor *q =
      &call->inputs[call->op == QM_OP_ATTENTION_BACKWARD ? 1 : 0];
  QmStatus status = at_most (call, "elements of a head", q->shape[3],
                             QM_ATTENTION_HEAD, error);

  if (status == QM_OK)
    status = at_most (call, "rows of a head", q->shape[2], QM_CUDA_ROWS, error);
  if (status != QM_OK)
    return status;
  return qm_cuda_attends_on_tensor_cores (architecture, call)
             ? at_most (call, "blocks of 16 rows of all heads",
                        q->shape[0] * q->shape[1] * ((q->shape[2] + 15) / 16),
                        INT32_MAX, error)
             : at_most (call, "heads of all samples", q->shape[0] * q->shape[1],
                        QM_CUDA_GRID, error);
}

/* Rates of decay have a row for each channel, or are one for each head. */
static QmStatus
scan_is_taken (int architecture, const QmOpCall *call, QmError *error)
{
  bool backward = call->op == QM_OP_SELECTIVE_SCAN_BACKWARD
                  || call->op == QM_OP_DUAL_SCAN_BACKWARD;
  const QmTensor *in = call->inputs + (backward ? 1 : 0);
  bool dual =
      call->op == QM_OP_DUAL_SCAN || call->op == QM_OP_DUAL_SCAN_BACKWARD;
  QmStatus status = dual ? at_most (call, "states of a head",
                                    in[3].shape[1] / call->attributes.count,
                                    qm_cuda_dual_states (architecture), error)
                         : at_most (call, "states of a channel", in[2].shape[1],
                                    qm_cuda_scan_states (architecture), error);

  if (status != QM_OK)
    return status;
  return at_most (call, "sequences", in[0].shape[0] / call->attributes.width,
                  QM_CUDA_GRID, error);
}

/* What tensor cores have in FP8, and how cuBLASLt reads it ("Using the
 * cublasLt API", cublasLtMatmul(), of CUDA 12.9): rows of 16 bytes, of both
 * factors and of the result, but any number of the first factor's
 * (pytorch/pytorch, pull request 108308, with its test of 17); two factors not
 * both of E5M2, and one scale for each row on Hopper's alone. */
static QmStatus
scaled_is_taken (int architecture, const QmOpCall *call, QmError *error)
{
  const QmTensor *a = &call->inputs[0], *b = &call->inputs[1];
  const QmTensor *y = &call->outputs[0];
  const char *why = NULL;

  if (!qm_cuda_multiplies (architecture, a->type, false))
    why = "no GPU of compute capability below 8.9 multiplies in FP8";
  else if (architecture / 10 != 9 && qm_scaled_by_row (call))
    why = "only GPUs of compute capability 9.0 have a scale for each row";
  else if (a->type == QM_TYPE_E5M2 && b->type == QM_TYPE_E5M2)
    why = "no GPU has kernels for two factors in E5M2";
  else if (a->shape[1] % QM_SCALED_MULTIPLE != 0
           || b->shape[0] % QM_SCALED_MULTIPLE != 0)
    why = "GPUs have kernels for columns in multiples of 16 alone";
  else if (y->stride[0] * (int64_t) qm_type_size (y->type) % QM_SCALED_MULTIPLE
           != 0)
    why = "GPUs have kernels for rows a multiple of 16 bytes apart alone";
  if (why == NULL)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0, "%s: %s",
                       qm_op_name (call->op), why);
}

bool
qm_cuda_has_limits (QmOp op)
{
  switch (op)
    {
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
    case QM_OP_SELECTIVE_SCAN:
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
    case QM_OP_DUAL_SCAN:
    case QM_OP_DUAL_SCAN_BACKWARD:
    case QM_OP_LAYER_NORM:
    case QM_OP_LAYER_NORM_BACKWARD:
    case QM_OP_GATED_NORM:
    case QM_OP_GATED_NORM_BACKWARD:
    case QM_OP_SOFTMAX:
    case QM_OP_SOFTMAX_BACKWARD:
    case QM_OP_DRAW_NOISE:
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
    case QM_OP_GATED_ADD_BACKWARD:
    case QM_OP_LAYER_SCALE:
    case QM_OP_LAYER_SCALE_BACKWARD:
      return true;
    default:
      return false;
    }
}

QmStatus
qm_cuda_takes (int architecture, const QmOpCall *call, QmError *error)
{
  const QmTensor *first = &call->inputs[0];

  switch (call->op)
    {
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
      return scaled_is_taken (architecture, call, error);
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      return attention_is_taken (architecture, call, error);
    case QM_OP_SELECTIVE_SCAN:
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
    case QM_OP_DUAL_SCAN:
    case QM_OP_DUAL_SCAN_BACKWARD:
      return scan_is_taken (architecture, call, error);
    case QM_OP_LAYER_NORM:
    case QM_OP_LAYER_NORM_BACKWARD:
    case QM_OP_GATED_NORM:
    case QM_OP_GATED_NORM_BACKWARD:
      return at_most (call, "elements of a row", first->shape[1],
                      QM_CUDA_NORM_COLUMNS, error);
    case QM_OP_SOFTMAX:
    case QM_OP_SOFTMAX_BACKWARD:
      return at_most (call, "elements of a row", first->shape[first->rank - 1],
                      QM_CUDA_SOFTMAX_COLUMNS, error);
    case QM_OP_DRAW_NOISE:
      return at_most (call, "images", call->outputs[2].shape[0], QM_CUDA_GRID,
                      error);
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
    case QM_OP_GATED_ADD_BACKWARD:
      return at_most (call, "samples", call->inputs[2].shape[0], QM_CUDA_GRID,
                      error);
    case QM_OP_LAYER_SCALE:
      return qm_tensor_present (&call->inputs[4])
                 ? at_most (call, "rows of all samples",
                            call->outputs[0].shape[0], INT32_MAX, error)
                 : QM_OK;
    case QM_OP_LAYER_SCALE_BACKWARD:
      return qm_tensor_present (&call->inputs[4])
                 ? at_most (call, "rows of all samples", first->shape[0],
                            INT32_MAX, error)
                 : QM_OK;
    default:
      return QM_OK;
    }
}
