/* SPDX-License-Identifier: Apache-2.0 */

/* The average of weights. */

/* First: it takes the headers of C as such. */
#include "kernels/cuda/update.cuh"

#include "kernels/average.h"

namespace
{

struct Average
{
  struct Step
  {
    bool due;
  };

  const float *state, *master;
  float *average;
  QmArray copy;
  int64_t n;
  float decay;
  bool first;

  __device__ __forceinline__ Step
  begin () const
  {
    return { qm_average_is_due (state, first) };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    float a[N] = {}, w[N];

    if (!step.due)
      return;
    qm_load_as<float, N> (master, i, w);
    if (!first)
      qm_load_as<float, N> (average, i, a);
#pragma unroll
    for (int j = 0; j < N; j++)
      a[j] = first ? w[j] : qm_average_next (a[j], w[j], decay);
    qm_store_as<float, N> (average, i, a);
    if (copy)
      qm_store<N> (copy, i, a);
  }
};

} /* namespace */

QmStatus
qm_cuda_average (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  const Average average = {
    .state = (const float *) call->inputs[0].data,
    .master = (const float *) call->inputs[1].data,
    .average = (float *) call->outputs[0].data,
    .copy = qm_array (call->outputs[1]),
    .n = call->outputs[0].shape[0],
    .decay = (float) call->attributes.value,
    .first = call->attributes.first > 0,
  };

  return qm_update_elements (context, stream, call, average, error);
}
