/* SPDX-License-Identifier: Apache-2.0 */

/* Muon but for its products. */

#include "kernels/cuda/update.cuh"

namespace
{

struct Momentum
{
  struct Step
  {
    float factor;
    bool finite;
  };

  const float *state;
  float *gradient, *m;
  int64_t n;
  float beta;

  __device__ __forceinline__ Step
  begin () const
  {
    return { state[QM_STATE_FACTOR], state[QM_STATE_NOT_FINITE] == 0 };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    float g[N] = {}, momentum[N];

    if (step.finite)
      {
        qm_load_as<float, N> (gradient, i, g);
        qm_load_as<float, N> (m, i, momentum);
#pragma unroll
        for (int j = 0; j < N; j++)
          {
            g[j] *= step.factor;
            momentum[j] = beta * momentum[j] + (1 - beta) * g[j];
            g[j] = beta * momentum[j] + (1 - beta) * g[j];
          }
        qm_store_as<float, N> (m, i, momentum);
      }
    qm_store_as<float, N> (gradient, i, g);
  }
};

struct Normalize
{
  struct Step
  {
    float factor;
  };

  const float *sum;
  float *x;
  QmArray y;
  int64_t n;
  float epsilon;

  __device__ __forceinline__ Step
  begin () const
  {
    return { 1 / fmaxf (sqrtf (sum[0]), epsilon) };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    const float zeros[N] = {};
    float values[N];

    qm_load_as<float, N> (x, i, values);
#pragma unroll
    for (int j = 0; j < N; j++)
      values[j] *= step.factor;
    qm_store<N> (y, i, values);
    qm_store_as<float, N> (x, i, zeros);
  }
};

struct Polynomial
{
  struct Step
  {
  };

  QmArray a, a2, y;
  int64_t n, side;

  __device__ __forceinline__ Step
  begin () const
  {
    return {};
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &, int64_t i) const
  {
    float x[N], square[N];

    qm_load<N> (a, i, x);
    qm_load<N> (a2, i, square);
#pragma unroll
    for (int j = 0; j < N; j++)
      x[j] = ((i + j) % (side + 1) == 0 ? (float) QM_MUON_CONSTANT : 0)
             + (float) QM_MUON_LINEAR * x[j]
             + (float) QM_MUON_QUADRATIC * square[j];
    qm_store<N> (y, i, x);
  }
};

struct Update
{
  struct Step
  {
    bool finite;
    float follows;
  };

  const float *state;
  QmArray x;
  float *master;
  QmArray w;
  int64_t n;
  float decay, size, cap;

  __device__ __forceinline__ Step
  begin () const
  {
    return { state[QM_STATE_NOT_FINITE] == 0,
             cap > 0 ? state[QM_STATE_LEARNING_RATE] / cap : 1 };
  }

  template <int N>
  __device__ __forceinline__ void
  elements (const Step &step, int64_t i) const
  {
    float values[N], weights[N];

    if (!step.finite)
      return;
    qm_load<N> (x, i, values);
    qm_load_as<float, N> (master, i, weights);
#pragma unroll
    for (int j = 0; j < N; j++)
      {
        weights[j] -= step.follows * decay * weights[j];
        weights[j] -= step.follows * size * values[j];
      }
    qm_store_as<float, N> (master, i, weights);
    if (w)
      qm_store<N> (w, i, weights);
  }
};

} /* namespace */

QmStatus
qm_cuda_muon_momentum (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const Momentum momentum = {
    .state = (const float *) call->inputs[0].data,
    .gradient = (float *) call->outputs[0].data,
    .m = (float *) call->outputs[1].data,
    .n = call->outputs[0].shape[0],
    .beta = (float) call->attributes.beta1,
  };

  return qm_update_elements (context, stream, call, momentum, error);
}

QmStatus
qm_cuda_muon_normalize (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  const Normalize normalize = {
    .sum = (const float *) call->inputs[0].data,
    .x = (float *) call->outputs[0].data,
    .y = qm_array (call->outputs[1]),
    .n = call->outputs[0].shape[0],
    .epsilon = (float) call->attributes.epsilon,
  };

  return qm_update_elements (context, stream, call, normalize, error);
}

QmStatus
qm_cuda_muon_polynomial (QmCudaContext *context,
                         cudaStream_t stream,
                         const QmOpCall *call,
                         QmError *error)
{
  const Polynomial polynomial = {
    .a = qm_array (call->inputs[0]),
    .a2 = qm_array (call->inputs[1]),
    .y = qm_array (call->outputs[0]),
    .n = qm_tensor_elements (&call->outputs[0]),
    .side = call->outputs[0].shape[0],
  };

  return qm_update_elements (context, stream, call, polynomial, error);
}

QmStatus
qm_cuda_muon_update (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const Update update = {
    .state = (const float *) call->inputs[0].data,
    .x = qm_array (call->inputs[1]),
    .master = (float *) call->outputs[0].data,
    .w = qm_array (call->outputs[1]),
    .n = call->outputs[0].shape[0],
    .decay = (float) (attributes.value * attributes.weight_decay),
    .size = (float) (attributes.value * attributes.scale),
    .cap = (float) attributes.cap,
  };

  return qm_update_elements (context, stream, call, update, error);
}
