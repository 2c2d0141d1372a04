/* SPDX-License-Identifier: Apache-2.0 */

/* Products that end in a gate, or in its gradient: as one of our own, or as a
 * product and then the gate, where what is between them and nobody keeps is in
 * the workspace, of some rows at a time. */

#include "kernels/cuda/cuda-choice.h"
#include "kernels/cuda/cuda-workspace.h"
#include "kernels/cuda/hopper-product.h"

/* Rows from `begin` on, and columns from `first` on, of a matrix. */
static QmTensor
part_of (const QmTensor *tensor,
         int64_t begin,
         int64_t rows,
         int64_t first,
         int64_t columns)
{
  QmTensor part = *tensor;

  part.data = (char *) tensor->data
              + (size_t) (begin * tensor->stride[0] + first)
                    * qm_type_size (tensor->type);
  part.shape[0] = rows;
  part.shape[1] = columns;
  return part;
}

/* A matrix at the beginning of the workspace, and how much that takes. */
static QmTensor
scratch_of (const QmOpCall *call,
            const QmTensor *result,
            int64_t columns,
            size_t *bytes)
{
  QmTensor scratch = *result;

  scratch.data = call->workspace;
  scratch.shape[0] = qm_cuda_gated_rows (result, columns);
  scratch.shape[1] = columns;
  scratch.stride[0] = (columns + 7) / 8 * 8;
  *bytes =
      ((size_t) qm_cuda_gated_size (result, columns) * 4 + 255) & ~(size_t) 255;
  return scratch;
}

/* The product of a call, with what is left of the workspace. */
static QmOpCall
product_of (const QmOpCall *call, QmOp op, size_t used)
{
  QmOpCall product = { .op = op,
                       .attributes = call->attributes,
                       .workspace = (char *) call->workspace + used,
                       .workspace_bytes = call->workspace_bytes - used };

  product.attributes.activation = QM_FUNCTION_NONE;
  product.inputs[1] = call->inputs[1];
  return product;
}

static QmStatus
composed_linear (QmCudaContext *context,
                 cudaStream_t stream,
                 const void *what,
                 QmError *error)
{
  const QmOpCall *call = what;
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t n = y->shape[1];
  bool keeps = qm_tensor_present (&call->outputs[1]);
  size_t used = 0;
  QmTensor pre = keeps ? call->outputs[1] : scratch_of (call, y, 2 * n, &used);
  QmOpCall product = product_of (call, QM_OP_LINEAR, used);
  QmOpCall gate = { .op = QM_OP_GATE, .attributes = call->attributes };
  QmStatus status = QM_OK;

  product.inputs[2] = call->inputs[2];
  for (int64_t at = 0, left = x->shape[0]; left > 0 && status == QM_OK;)
    {
      int64_t rows = left < pre.shape[0] ? left : pre.shape[0];

      product.inputs[0] = part_of (x, at, rows, 0, x->shape[1]);
      product.outputs[0] = part_of (&pre, 0, rows, 0, 2 * n);
      status = qm_cuda_linear (context, stream, &product, error);
      gate.inputs[0] = part_of (&pre, 0, rows, 0, n);
      gate.inputs[1] = part_of (&pre, 0, rows, n, n);
      gate.outputs[0] = part_of (y, at, rows, 0, n);
      if (status == QM_OK)
        status = qm_cuda_gate (context, stream, &gate, error);
      at += rows;
      left -= rows;
    }
  return status;
}

static QmStatus
composed_input_grad (QmCudaContext *context,
                     cudaStream_t stream,
                     const void *what,
                     QmError *error)
{
  const QmOpCall *call = what;
  const QmTensor *dy = &call->inputs[0], *pre = &call->inputs[2];
  const QmTensor *dpre = &call->outputs[0];
  int64_t n = call->inputs[1].shape[1];
  size_t used;
  QmTensor scratch = scratch_of (call, dpre, n, &used);
  QmOpCall product = product_of (call, QM_OP_LINEAR_INPUT_GRAD, used);
  QmOpCall gate = { .op = QM_OP_GATE_BACKWARD, .attributes = call->attributes };
  QmStatus status = QM_OK;

  for (int64_t at = 0, left = dy->shape[0]; left > 0 && status == QM_OK;)
    {
      int64_t rows = left < scratch.shape[0] ? left : scratch.shape[0];

      product.inputs[0] = part_of (dy, at, rows, 0, dy->shape[1]);
      product.outputs[0] = part_of (&scratch, 0, rows, 0, n);
      status = qm_cuda_linear_input_grad (context, stream, &product, error);
      gate.inputs[0] = product.outputs[0];
      for (int i = 0; i < 2; i++)
        {
          gate.inputs[1 + i] = part_of (pre, at, rows, i * n, n);
          gate.outputs[i] = part_of (dpre, at, rows, i * n, n);
        }
      if (status == QM_OK)
        status = qm_cuda_gate_backward (context, stream, &gate, error);
      at += rows;
      left -= rows;
    }
  return status;
}

static QmCudaFacts
facts_of (const QmOpCall *call, const QmHopperProduct *own)
{
  return (QmCudaFacts){ { call->op, own->type, own->activation, own->rows,
                          own->columns, own->inner, own->step_a, own->step_b,
                          own->step_d, own->step_pre, own->bias != NULL,
                          own->pre != NULL } };
}

QmStatus
qm_cuda_gated_linear (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  QmHopperProduct own;
  bool fits = qm_hopper_gated (call, &own);
  const QmCudaFacts facts = facts_of (call, &own);
  const QmCudaWay ours = { qm_hopper_product_way, &own };
  const QmCudaWay theirs = { composed_linear, call };

  if (fits && qm_hopper_product_fits (context->architecture, &own)
      && (qm_hopper_product_required (context, call)
          || qm_cuda_choose_own (context, stream, &facts, &ours, &theirs)))
    return qm_hopper_product (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return composed_linear (context, stream, call, error);
}

/* Where the result takes the place of what it is made of, both ways are timed
 * on memory that nobody needs; where there is no such memory, it is ours. */
static bool
choose_own_gradient (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmHopperProduct *own,
                     const QmOpCall *call)
{
  const QmCudaFacts facts = facts_of (call, own);
  QmHopperProduct grad = *own;
  QmOpCall other = *call;
  const QmCudaWay ours = { qm_hopper_product_way, &grad };
  const QmCudaWay theirs = { composed_input_grad, &other };
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  int known = qm_cuda_choice (context, &facts);
  void *scratch = NULL;
  bool choice;

  if (known >= 0)
    return known != 0;
  if (cudaStreamIsCapturing (stream, &capture) != cudaSuccess
      || capture != cudaStreamCaptureStatusNone)
    return true;
  if (own->d == own->pre)
    {
      if (cudaMalloc (&scratch, (size_t) (own->rows * own->step_d)
                                    * qm_type_size (own->type))
          != cudaSuccess)
        {
          cudaGetLastError ();
          return true;
        }
      other.outputs[0].data = grad.d = scratch;
    }
  choice = qm_cuda_choose_own (context, stream, &facts, &ours, &theirs);
  if (scratch != NULL)
    cudaFree (scratch);
  return choice;
}

QmStatus
qm_cuda_gated_input_grad (QmCudaContext *context,
                          cudaStream_t stream,
                          const QmOpCall *call,
                          QmError *error)
{
  QmHopperProduct own;
  bool fits = qm_hopper_gated (call, &own);

  if (fits && qm_hopper_product_fits (context->architecture, &own)
      && (qm_hopper_product_required (context, call)
          || choose_own_gradient (context, stream, &own, call)))
    return qm_hopper_product (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return composed_input_grad (context, stream, call, error);
}
