/* SPDX-License-Identifier: Apache-2.0 */

/* LAMB: a pass that finds directions, and, behind sums of squares by tensor,
 * one that updates. */

#include "kernels/cuda/update.cuh"

namespace
{

struct Direction
{
  struct Step
  {
    float factor, correction1, correction2;
    bool finite;
  };

  const float *state, *master;
  float *gradient, *m, *v;
  int64_t n;
  float beta1, beta2, decay, epsilon;

  __device__ __forceinline__ Step
  begin () const
  {
    float updates = state[QM_STATE_UPDATES];

    return { state[QM_STATE_FACTOR], 1 - powf (beta1, updates),
             1 - powf (beta2, updates), state[QM_STATE_NOT_FINITE] == 0 };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    float g[N] = {}, w[N], first[N], second[N];

    if (step.finite)
      {
        qm_load_as<float, N> (gradient, i, g);
        qm_load_as<float, N> (master, i, w);
        qm_load_as<float, N> (m, i, first);
        qm_load_as<float, N> (v, i, second);
#pragma unroll
        for (int j = 0; j < N; j++)
          {
            g[j] *= step.factor;
            first[j] = beta1 * first[j] + (1 - beta1) * g[j];
            second[j] = beta2 * second[j] + (1 - beta2) * g[j] * g[j];
            g[j] = (first[j] / step.correction1)
                       / (sqrtf (second[j] / step.correction2) + epsilon)
                   + decay * w[j];
          }
        qm_store_as<float, N> (m, i, first);
        qm_store_as<float, N> (v, i, second);
      }
    qm_store_as<float, N> (gradient, i, g);
  }
};

struct Update
{
  struct Step
  {
    float size;
    bool finite;
  };

  const float *state, *norms;
  float *u, *master;
  QmArray w;
  int64_t n;

  __device__ __forceinline__ Step
  begin () const
  {
    float trust =
        norms[0] > 0 && norms[1] > 0 ? sqrtf (norms[0]) / sqrtf (norms[1]) : 1;

    return { state[QM_STATE_LEARNING_RATE] * trust,
             state[QM_STATE_NOT_FINITE] == 0 };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    float x[N], y[N];

    if (step.finite)
      {
        qm_load_as<float, N> (u, i, x);
        qm_load_as<float, N> (master, i, y);
#pragma unroll
        for (int j = 0; j < N; j++)
          y[j] -= step.size * x[j];
        qm_store_as<float, N> (master, i, y);
        if (w)
          qm_store<N> (w, i, y);
      }
#pragma unroll
    for (int j = 0; j < N; j++)
      x[j] = 0;
    qm_store_as<float, N> (u, i, x);
  }
};

} /* namespace */

QmStatus
qm_cuda_lamb_direction (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const Direction direction = {
    .state = (const float *) call->inputs[0].data,
    .master = (const float *) call->inputs[1].data,
    .gradient = (float *) call->outputs[0].data,
    .m = (float *) call->outputs[1].data,
    .v = (float *) call->outputs[2].data,
    .n = call->outputs[0].shape[0],
    .beta1 = (float) attributes.beta1,
    .beta2 = (float) attributes.beta2,
    .decay = (float) attributes.weight_decay,
    .epsilon = (float) attributes.epsilon,
  };

  return qm_update_elements (context, stream, call, direction, error);
}

QmStatus
qm_cuda_lamb_update (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const Update update = {
    .state = (const float *) call->inputs[0].data,
    .norms = (const float *) call->inputs[1].data,
    .u = (float *) call->outputs[0].data,
    .master = (float *) call->outputs[1].data,
    .w = qm_array (call->outputs[2]),
    .n = call->outputs[0].shape[0],
  };

  return qm_update_elements (context, stream, call, update, error);
}
