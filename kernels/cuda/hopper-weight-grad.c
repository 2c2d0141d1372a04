/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/hopper-weight-grad.h"

/* In hopper-weight-grad.cu, once for each type. */
cudaError_t qm_hopper_weight_grad_f16 (const QmHopperWeightGrad *grad,
                                       int processors,
                                       cudaStream_t stream);
cudaError_t qm_hopper_weight_grad_bf16 (const QmHopperWeightGrad *grad,
                                        int processors,
                                        cudaStream_t stream);

static bool
reachable (const void *address, int64_t step, int64_t size)
{
  return (uintptr_t) address % 16 == 0 && step * size % 16 == 0;
}

bool
qm_hopper_weight_grad_fits (const QmCudaContext *context,
                            const QmHopperWeightGrad *grad)
{
  const int64_t most = INT32_MAX - 512;

  return qm_cuda_has_hopper (context)
         && (grad->type == QM_TYPE_F16 || grad->type == QM_TYPE_BF16)
         && grad->rows > 0 && grad->columns > 0 && grad->inner > 0
         && grad->rows < most && grad->columns < most && grad->inner < most
         && reachable (grad->dy, grad->step_dy, 2)
         && reachable (grad->x, grad->step_x, 2)
         && reachable (grad->dw, grad->step_dw, 4);
}

QmStatus
qm_hopper_weight_grad (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmHopperWeightGrad *grad,
                       QmError *error)
{
  cudaError_t code =
      grad->type == QM_TYPE_F16
          ? qm_hopper_weight_grad_f16 (grad, context->processors, stream)
          : qm_hopper_weight_grad_bf16 (grad, context->processors, stream);

  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, "a gradient of weights", error);
}
