/* SPDX-License-Identifier: Apache-2.0 */

/* Products whose result turns: as one of our own, or as a product, and then
 * what rotary.cu does, in its place. */

#include "kernels/cuda/cuda-choice.h"
#include "kernels/cuda/hopper-product.h"

static QmStatus
composed_rotary (QmCudaContext *context,
                 cudaStream_t stream,
                 const void *what,
                 QmError *error)
{
  QmOpCall linear, rotary;
  QmStatus status;

  qm_op_split_rotary (what, &linear, &rotary);
  status = qm_cuda_linear (context, stream, &linear, error);
  return status == QM_OK ? qm_cuda_rotary (context, stream, &rotary, error)
                         : status;
}

static bool
own_of (const QmOpCall *call, QmHopperProduct *product)
{
  const QmAttributes *attributes = &call->attributes;
  const QmTensor *table = &call->inputs[3];
  bool fits = qm_hopper_linear (call, product);

  product->finish = QM_HOPPER_FINISH_ROTARY;
  product->activation = QM_FUNCTION_NONE;
  product->rotary = (QmHopperRotary){ .table = table->data,
                                      .length = table->shape[0],
                                      .rotary = attributes->rotary,
                                      .width = attributes->width,
                                      .count = attributes->count,
                                      .chunk = attributes->chunk };
  return fits;
}

QmStatus
qm_cuda_rotary_linear (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  QmHopperProduct own;
  bool fits = own_of (call, &own);
  const QmHopperRotary *rotary = &own.rotary;
  const QmCudaWay ours = { qm_hopper_product_way, &own };
  const QmCudaWay theirs = { composed_rotary, call };
  const QmCudaFacts facts = {
    { call->op, own.type, own.rows, own.columns, own.inner, own.step_a,
      own.step_b, own.step_d, own.bias != NULL, rotary->length, rotary->rotary,
      rotary->width, rotary->count, rotary->chunk }
  };

  if (fits && qm_hopper_product_fits (context->architecture, &own)
      && (qm_hopper_product_required (context, call)
          || qm_cuda_choose_own (context, stream, &facts, &ours, &theirs)))
    return qm_hopper_product (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return composed_rotary (context, stream, call, error);
}
