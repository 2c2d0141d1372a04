/* SPDX-License-Identifier: Apache-2.0 */

/* Plain C, compiled also where no GPU can be used: a call of a plan has no
 * addresses. */

#include "kernels/cuda/hopper-fits.h"

#include "kernels/backend.h"
#include "kernels/cuda/cuda-support.h"

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
      return gates && !product->transposed && product->step_pre > 0
             && product->bias == NULL;
    case QM_HOPPER_FINISH_ROTARY:
      return turns (&product->rotary) && product->transposed
             && product->pre == NULL;
    default:
      return gelu && !product->transposed && product->step_pre > 0
             && product->bias == NULL;
    }
}

/* Elements from one row of a matrix to the next; of one row, which has none,
 * what the copy engine takes. */
static int64_t
step_of (const QmTensor *matrix)
{
  return matrix->shape[0] > 1 || matrix->stride[0] > matrix->shape[1]
             ? matrix->stride[0]
             : matrix->shape[1];
}

bool
qm_hopper_product_fits (int architecture, const QmHopperProduct *product)
{
  const int64_t most = INT32_MAX - 512;

  return qm_cuda_is_hopper (architecture)
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

bool
qm_hopper_linear (const QmOpCall *call, QmHopperProduct *product)
{
  const QmTensor *x = &call->inputs[0], *w = &call->inputs[1];
  const QmTensor *bias = &call->inputs[2], *y = &call->outputs[0];

  *product = (QmHopperProduct){
    .type = x->type,
    .transposed = true,
    .rows = x->shape[0],
    .columns = y->shape[1],
    .inner = x->shape[1],
    .step_a = step_of (x),
    .step_b = step_of (w),
    .step_d = step_of (y),
    .a = x->data,
    .b = w->data,
    .bias = bias->data, /* NULL where there is none */
    .d = y->data,
  };
  return w->type == x->type && y->type == x->type
         && (!qm_tensor_present (bias) || bias->type == x->type);
}

static bool
gated_linear (const QmOpCall *call, QmHopperProduct *product)
{
  const QmTensor *pre = &call->outputs[1];
  bool fits = qm_hopper_linear (call, product);

  product->finish = QM_HOPPER_FINISH_GATE;
  product->activation = call->attributes.activation;
  if (!qm_tensor_present (pre))
    return fits;
  product->pre = pre->data;
  product->step_pre = step_of (pre);
  return fits && pre->type == product->type;
}

static bool
gated_input_grad (const QmOpCall *call, QmHopperProduct *product)
{
  const QmTensor *dy = &call->inputs[0], *w = &call->inputs[1];
  const QmTensor *pre = &call->inputs[2], *dpre = &call->outputs[0];

  *product = (QmHopperProduct){
    .type = dy->type,
    .finish = QM_HOPPER_FINISH_GATE_SLOPE,
    .activation = call->attributes.activation,
    .rows = dy->shape[0],
    .columns = w->shape[1],
    .inner = dy->shape[1],
    .step_a = step_of (dy),
    .step_b = step_of (w),
    .step_d = step_of (dpre),
    .step_pre = step_of (pre),
    .a = dy->data,
    .b = w->data,
    .d = dpre->data,
    .pre = pre->data,
  };
  return w->type == dy->type && pre->type == dy->type && dpre->type == dy->type;
}

bool
qm_hopper_gated (const QmOpCall *call, QmHopperProduct *product)
{
  return call->op == QM_OP_GATED_LINEAR ? gated_linear (call, product)
                                        : gated_input_grad (call, product);
}

bool
qm_cuda_gates (int architecture, const QmOpCall *call)
{
  QmHopperProduct own;

  return (call->op == QM_OP_GATED_LINEAR || call->op == QM_OP_GATED_INPUT_GRAD)
         && qm_hopper_gated (call, &own)
         && qm_hopper_product_fits (architecture, &own);
}

bool
qm_cuda_has_gates (int architecture)
{
  return qm_cuda_is_hopper (architecture);
}
