/* SPDX-License-Identifier: Apache-2.0 */

/* The update: the norm of the gradients, the state of training, Adam. */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

const int threads = 256;

__device__ __forceinline__ double
warp_sum (double x)
{
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    x += __shfl_xor_sync (0xffffffffu, x, lanes);
  return x;
}

/* Sum of the block's values, in its first thread. */
__device__ __forceinline__ double
block_sum (double x)
{
  __shared__ double shared[32];

  x = warp_sum (x);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  if (threadIdx.x < 32)
    x = warp_sum (threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0);
  return x;
}

/* Squares are added in fp32 by each thread, which sees a small share of them,
 * and in fp64 from then on. */
__global__ void
__launch_bounds__ (threads)
    squares_kernel (const float *x, int64_t n, bool aligned, double *parts)
{
  int64_t first = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int64_t step = (int64_t) gridDim.x * blockDim.x;
  int64_t vectors = aligned ? n / 4 : 0;
  float sum[4] = {};
  double total;

#pragma unroll 4
  for (int64_t i = first; i < vectors; i += step)
    {
      float4 v = ((const float4 *) x)[i];

      sum[0] += v.x * v.x;
      sum[1] += v.y * v.y;
      sum[2] += v.z * v.z;
      sum[3] += v.w * v.w;
    }
  for (int64_t i = 4 * vectors + first; i < n; i += step)
    sum[0] += x[i] * x[i];
  total = block_sum ((double) sum[0] + sum[1] + sum[2] + sum[3]);
  if (threadIdx.x == 0)
    parts[blockIdx.x] = total;
}

__global__ void __launch_bounds__ (1024)
    squares_sum_kernel (const double *parts, int n, float *sum)
{
  double total = 0;

  for (int i = (int) threadIdx.x; i < n; i += (int) blockDim.x)
    total += parts[i];
  total = block_sum (total);
  if (threadIdx.x == 0)
    sum[0] = (float) total;
}

__global__ void
state_kernel (const float *squares, float *state, double max_norm, bool dynamic)
{
  float scale = state[QM_STATE_LOSS_SCALE];
  float norm = sqrtf (squares[0]) / scale;
  bool finite = isfinite (squares[0]);

  state[QM_STATE_NORM] = norm;
  state[QM_STATE_NOT_FINITE] = finite ? 0 : 1;
  state[QM_STATE_FACTOR] = 1 / scale;
  /* The small addend is that of PyTorch's clip_grad_norm_(). */
  if (max_norm > 0 && norm + 1e-6 > max_norm)
    state[QM_STATE_FACTOR] = (float) (max_norm / (norm + 1e-6)) / scale;
  if (finite)
    state[QM_STATE_UPDATES] += 1;
  if (!dynamic)
    return;
  state[QM_STATE_GROWTH] = finite ? state[QM_STATE_GROWTH] + 1 : 0;
  if (!finite)
    state[QM_STATE_LOSS_SCALE] = scale * 0.5f;
  else if (state[QM_STATE_GROWTH] >= QM_SCALE_GROWTH)
    {
      state[QM_STATE_LOSS_SCALE] = scale * 2;
      state[QM_STATE_GROWTH] = 0;
    }
}

struct Adam
{
  const float *state;
  float *gradient, *master, *m, *v;
  QmArray w;
  int64_t n;
  float beta1, beta2, decay, epsilon;
  bool decoupled;
};

/* What is the same for all elements. */
struct Step
{
  float rate, factor, correction1, correction2;
};

__device__ __forceinline__ void
adam_element (
    const Adam &adam, const Step &step, float g, float &w, float &m, float &v)
{
  g *= step.factor;
  if (adam.decoupled)
    w -= step.rate * adam.decay * w;
  else
    g += adam.decay * w;
  m = adam.beta1 * m + (1 - adam.beta1) * g;
  v = adam.beta2 * v + (1 - adam.beta2) * g * g;
  w -= step.rate * (m / step.correction1)
       / (sqrtf (v / step.correction2) + adam.epsilon);
}

template <int N>
__device__ __forceinline__ void
adam_elements (const Adam &adam, const Step &step, int64_t i)
{
  float g[N], w[N], m[N], v[N];

  qm_load_as<float, N> (adam.gradient, i, g);
  qm_load_as<float, N> (adam.master, i, w);
  qm_load_as<float, N> (adam.m, i, m);
  qm_load_as<float, N> (adam.v, i, v);
#pragma unroll
  for (int j = 0; j < N; j++)
    {
      adam_element (adam, step, g[j], w[j], m[j], v[j]);
      g[j] = 0;
    }
  qm_store_as<float, N> (adam.gradient, i, g);
  qm_store_as<float, N> (adam.master, i, w);
  qm_store_as<float, N> (adam.m, i, m);
  qm_store_as<float, N> (adam.v, i, v);
  if (adam.w)
    qm_store<N> (adam.w, i, w);
}

template <int N>
__global__ void
__launch_bounds__ (threads) adam_kernel (const __grid_constant__ Adam adam)
{
  int64_t first = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int64_t step_size = (int64_t) gridDim.x * blockDim.x;
  int64_t vectors = adam.n / N;
  float updates = adam.state[QM_STATE_UPDATES];
  Step step = { adam.state[QM_STATE_LEARNING_RATE], adam.state[QM_STATE_FACTOR],
                1 - powf (adam.beta1, updates),
                1 - powf (adam.beta2, updates) };
  const float zeros[N] = {};

  if (adam.state[QM_STATE_NOT_FINITE] != 0)
    {
      for (int64_t i = first; i < vectors; i += step_size)
        qm_store_as<float, N> (adam.gradient, i * N, zeros);
      for (int64_t i = vectors * N + first; i < adam.n; i += step_size)
        adam.gradient[i] = 0;
      return;
    }
  for (int64_t i = first; i < vectors; i += step_size)
    adam_elements<N> (adam, step, i * N);
  for (int64_t i = vectors * N + first; i < adam.n; i += step_size)
    adam_elements<1> (adam, step, i);
}

} /* namespace */

QmStatus
qm_cuda_sum_squares (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor *x = &call->inputs[0];
  int64_t n = x->shape[0];
  int64_t blocks = qm_grid (context, (n + 3) / 4, threads);
  double *parts = (double *) call->workspace;

  if (blocks > QM_CUDA_SQUARES_PARTS)
    blocks = QM_CUDA_SQUARES_PARTS;
  squares_kernel<<<(unsigned) blocks, threads, 0, stream>>> (
      (const float *) x->data, n, (uintptr_t) x->data % 16 == 0, parts);
  squares_sum_kernel<<<1, 1024, 0, stream>>> (parts, (int) blocks,
                                              (float *) call->outputs[0].data);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_update_state (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  state_kernel<<<1, 1, 0, stream>>> ((const float *) call->inputs[0].data,
                                     (float *) call->outputs[0].data,
                                     call->attributes.max_norm,
                                     call->attributes.dynamic);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_adam (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const QmTensor *out = call->outputs;
  Adam adam = { .state = (const float *) call->inputs[0].data,
                .gradient = (float *) out[0].data,
                .master = (float *) out[1].data,
                .m = (float *) out[2].data,
                .v = (float *) out[3].data,
                .w = qm_array (out[4]),
                .n = out[0].shape[0],
                .beta1 = (float) attributes.beta1,
                .beta2 = (float) attributes.beta2,
                .decay = (float) attributes.weight_decay,
                .epsilon = (float) attributes.epsilon,
                .decoupled = attributes.decoupled };
  bool aligned = true;

  for (int i = 0; i <= 4; i++)
    aligned = aligned && (uintptr_t) out[i].data % 16 == 0;
  if (aligned)
    adam_kernel<4><<<qm_resident (context, adam_kernel<4>, threads,
                                  adam.n / 4 / threads + 1),
                     threads, 0, stream>>> (adam);
  else
    adam_kernel<1>
        <<<qm_resident (context, adam_kernel<1>, threads, adam.n / threads + 1),
           threads, 0, stream>>> (adam);
  return qm_cuda_launched (call, error);
}
