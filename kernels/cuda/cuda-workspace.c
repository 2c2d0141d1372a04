/* SPDX-License-Identifier: Apache-2.0 */

/* How much workspace the CUDA operators may use; plain C, because plans for a
 * GPU are made where there is none. */

#include "kernels/cuda/cuda-workspace.h"

#include "kernels/backend.h"
#include "kernels/cuda/attention-parts.h"

#define MIB ((size_t) 1 << 20)

/* What NVIDIA advises for cuBLAS: 32 MiB on Hopper, 4 MiB before. */
static size_t
product_workspace (int architecture)
{
  return (architecture >= 90 ? 32 : 4) * MIB;
}

static size_t
floats (int64_t count)
{
  return ((size_t) count * sizeof (float) + 255) & ~(size_t) 255;
}

/* Gradients of queries are summed in fp32, two numbers belong to each row, and
 * counters put work in order; gradients of keys and values may come in parts.
 * The layout is in attention.cu. */
static size_t
attention_backward_workspace (int architecture,
                              const QmTensor *q,
                              const QmTensor *k)
{
  static const int64_t sizes[] = { 32, 64, 80, 96, 128, 256 };
  int64_t rows = q->shape[0] * q->shape[1] * ((q->shape[2] + 127) / 128 * 128);
  int64_t key_rows = rows / q->shape[1] * k->shape[1], size = q->shape[3];
  int64_t parts = 1;

  if (qm_cuda_is_hopper (architecture))
    parts = qm_attention_parts (k->shape[0] * k->shape[1],
                                (int) (q->shape[1] / k->shape[1]), q->shape[2],
                                q->shape[3]);
  for (size_t i = sizeof sizes / sizeof sizes[0]; i-- > 0;)
    if (q->shape[3] <= sizes[i])
      size = sizes[i];
  return floats (rows * size) + 2 * floats (rows) + floats (rows / 16)
         + floats (1) + (parts > 1 ? floats (2 * parts * key_rows * size) : 0);
}

/* Sums over rows are made in two steps: partial sums of up to `parts` groups of
 * rows, then their sum. */
static size_t
column_workspace (int64_t columns, int sums)
{
  const int64_t parts = 264;

  return floats (parts * columns) * (size_t) sums;
}

static size_t
scan_backward_workspace (const QmOpCall *call)
{
  const QmTensor *a = &call->inputs[3];

  return floats (
      qm_cuda_scan_layout (call->inputs[0].shape[0], call->attributes.width,
                           call->attributes.chunk, a->shape[0], a->shape[1])
          .size);
}

static size_t
dual_backward_workspace (int architecture, const QmOpCall *call)
{
  const QmTensor *in = call->inputs;
  const QmTensor *factors[] = { &in[0], &in[1], &in[4], &in[5] };
  QmCudaDualShape shape =
      qm_cuda_dual_shape (architecture, factors, 4,
                          in[4].shape[1] / call->attributes.count);

  return floats (qm_cuda_dual_layout (&shape, call).size);
}

static size_t
weight_grad_workspace (int architecture, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0];
  int64_t padded = call->attributes.padded;
  int64_t columns = padded > dy->shape[1] ? padded : dy->shape[1];
  size_t bytes = product_workspace (architecture);

  if (qm_tensor_present (&call->outputs[1]))
    bytes += column_workspace (columns, 1);
  if (qm_cuda_transposes (architecture, dy, call->attributes.tf32))
    bytes += floats (qm_cuda_transposed_size (dy->shape[0], columns,
                                              call->inputs[1].shape[1]));
  return bytes;
}

/* What a product makes for a gate, where it has no other place, of some rows at
 * a time. */
static size_t
gated_workspace (int architecture, const QmOpCall *call)
{
  bool forward = call->op == QM_OP_GATED_LINEAR;
  const QmTensor *result = &call->outputs[0];
  size_t bytes = product_workspace (architecture);

  if (!forward || !qm_tensor_present (&call->outputs[1]))
    bytes += floats (
        qm_cuda_gated_size (result, call->inputs[1].shape[forward ? 0 : 1]));
  return bytes;
}

/* Sums of samples, where they are divided. */
static int64_t
adaptive_sums (const QmOpCall *call)
{
  int64_t batch = call->inputs[2].shape[0];
  int64_t columns = call->inputs[0].shape[1];
  int64_t parts =
      qm_cuda_sample_parts (call->inputs[0].shape[0], batch, columns);

  return parts > 1 ? 3 * batch * parts * columns : 0;
}

bool
qm_cuda_has_workspace (QmOp op)
{
  switch (op)
    {
    case QM_OP_LINEAR:
    case QM_OP_LINEAR_INPUT_GRAD:
    case QM_OP_GATED_LINEAR:
    case QM_OP_GATED_INPUT_GRAD:
    case QM_OP_ROTARY_LINEAR:
    case QM_OP_LINEAR_WEIGHT_GRAD:
    case QM_OP_MATMUL:
    case QM_OP_QUANTIZE:
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
    case QM_OP_COLUMN_SUM:
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
    case QM_OP_LAYER_NORM_BACKWARD:
    case QM_OP_GATED_NORM_BACKWARD:
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
    case QM_OP_LAYER_SCALE_BACKWARD:
    case QM_OP_EMBEDDING_BACKWARD:
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
    case QM_OP_DUAL_SCAN_BACKWARD:
    case QM_OP_RESTORE_TOKENS_BACKWARD:
    case QM_OP_EXPERT_LOAD:
    case QM_OP_SUM_SQUARES:
      return true;
    default:
      return false;
    }
}

size_t
qm_cuda_workspace (int architecture, const QmOpCall *call)
{
  const QmTensor *first = &call->inputs[0];

  if (!qm_cuda_has_workspace (call->op))
    return 0;
  switch (call->op)
    {
    case QM_OP_LINEAR:
    case QM_OP_LINEAR_INPUT_GRAD:
    case QM_OP_ROTARY_LINEAR:
    case QM_OP_MATMUL:
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
      return product_workspace (architecture);
    case QM_OP_QUANTIZE:
      return floats (qm_cuda_amax_layout (first->shape[0], first->shape[1],
                                          call->attributes.by_row)
                         .size);
    case QM_OP_LINEAR_WEIGHT_GRAD:
      return weight_grad_workspace (architecture, call);
    case QM_OP_GATED_LINEAR:
    case QM_OP_GATED_INPUT_GRAD:
      return gated_workspace (architecture, call);
    case QM_OP_COLUMN_SUM:
      return first->shape[0] > 1 ? column_workspace (first->shape[1], 1) : 0;
    case QM_OP_ATTENTION:
      return floats (1);
    case QM_OP_ATTENTION_BACKWARD:
      return attention_backward_workspace (architecture, &call->inputs[1],
                                           &call->inputs[2]);
    case QM_OP_LAYER_NORM_BACKWARD:
      return floats (qm_cuda_norm_sums (call) * QM_CUDA_NORM_PARTS
                     * first->shape[1]);
    case QM_OP_GATED_NORM_BACKWARD:
      return floats (QM_CUDA_NORM_PARTS * first->shape[1]);
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
      return floats (adaptive_sums (call));
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
      return floats (qm_cuda_conv_layout (call).size);
    case QM_OP_LAYER_SCALE_BACKWARD:
      return qm_tensor_present (&call->outputs[1])
                 ? floats (QM_CUDA_SCALE_PARTS * first->shape[1])
                 : 0;
    case QM_OP_EMBEDDING_BACKWARD:
      return floats (
          qm_cuda_sort_layout (first->shape[0], first->shape[1]).size);
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
      return scan_backward_workspace (call);
    case QM_OP_DUAL_SCAN_BACKWARD:
      return dual_backward_workspace (architecture, call);
    case QM_OP_RESTORE_TOKENS_BACKWARD:
      return floats (QM_CUDA_MASK_PARTS * call->inputs[1].shape[1]
                     * first->shape[1]);
    case QM_OP_EXPERT_LOAD:
      return floats (QM_CUDA_LOAD_PARTS * first->shape[1]);
    case QM_OP_SUM_SQUARES:
      return floats (2 * QM_CUDA_SQUARES_PARTS);
    default:
      return 0;
    }
}

/* A context, its stacks and the libraries' handles: about half a GiB. */
uint64_t
qm_cuda_reserved (int architecture)
{
  return 512 * MIB;
}
