/* SPDX-License-Identifier: Apache-2.0 */

/* Loops of updates over elements that have nothing to do with each other. */

#ifndef QM_KERNELS_CUDA_UPDATE_CUH
#define QM_KERNELS_CUDA_UPDATE_CUH

#include "kernels/cuda/cuda-rows.cuh"

#define QM_UPDATE_THREADS 256

/* `Work` has `n` elements, a `Step` that is the same for all of them, which
 * begin() makes, and elements<N>(), which does N from an index on. */
template <int N, class Work>
__global__ void
__launch_bounds__ (QM_UPDATE_THREADS)
    qm_update_kernel (const __grid_constant__ Work work)
{
  int64_t first = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int64_t step_size = (int64_t) gridDim.x * blockDim.x;
  int64_t vectors = work.n / N;
  const typename Work::Step step = work.begin ();

  for (int64_t i = first; i < vectors; i += step_size)
    work.template elements<N> (step, i * N);
  for (int64_t i = vectors * N + first; i < work.n; i += step_size)
    work.template elements<1> (step, i);
}

/* Four at a time where all tensors of the call are aligned. */
template <class Work>
static inline QmStatus
qm_update_elements (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    const Work &work,
                    QmError *error)
{
  bool aligned = true;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (qm_tensor_elements (&call->inputs[i]) == work.n)
      aligned = aligned && (uintptr_t) call->inputs[i].data % 16 == 0;
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (qm_tensor_present (&call->outputs[i]))
      aligned = aligned && (uintptr_t) call->outputs[i].data % 16 == 0;
  if (aligned)
    qm_update_kernel<4>
        <<<qm_resident (context, qm_update_kernel<4, Work>, QM_UPDATE_THREADS,
                        work.n / 4 / QM_UPDATE_THREADS + 1),
           QM_UPDATE_THREADS, 0, stream>>> (work);
  else
    qm_update_kernel<1>
        <<<qm_resident (context, qm_update_kernel<1, Work>, QM_UPDATE_THREADS,
                        work.n / QM_UPDATE_THREADS + 1),
           QM_UPDATE_THREADS, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

#endif
