/* SPDX-License-Identifier: Apache-2.0 */

/* Pairs of images and texts that are to be told from all others. */

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/cuda-rows.cuh"

#include <float.h>
#include <limits.h>

namespace
{

constexpr int threads = 256;
constexpr int vector = 8;

struct Find
{
  const int32_t *ids;
  int32_t *found, *places;
  int64_t batch;
  int length, token; /* token -1: the largest */
};

/* A warp has a text.  What is looked for has the larger key: that of a token is
 * itself, or whether it is the one. */
__global__ void
__launch_bounds__ (threads) find_kernel (const __grid_constant__ Find work)
{
  int64_t b = ((int64_t) blockIdx.x * threads + threadIdx.x) / 32;
  int lane = (int) threadIdx.x % 32, best = INT_MIN, place = 0;

  if (b >= work.batch)
    return;
  for (int s = lane; s < work.length; s += 32)
    {
      int id = work.ids[b * work.length + s];
      int key = work.token < 0 ? id : id == work.token;

      if (s == lane || key > best)
        {
          best = key;
          place = s;
        }
    }
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    {
      int other = __shfl_xor_sync (0xffffffffu, best, lanes);
      int there = __shfl_xor_sync (0xffffffffu, place, lanes);

      if (other > best || (other == best && there < place))
        {
          best = other;
          place = there;
        }
    }
  if (lane == 0)
    work.found[b] = place;
  for (int s = lane; s < work.length; s += 32)
    work.places[b * work.length + s] = s == place ? 0 : -1;
}

struct Keep
{
  QmRows x, all;
  const int32_t *rng;
  int32_t *first;
  int64_t rows, ranks, passes;
  int columns;
};

/* A block has a row. */
__global__ void
__launch_bounds__ (threads) keep_kernel (const __grid_constant__ Keep work)
{
  int64_t first = qm_kept_row ((uint32_t) work.rng[QM_RNG_PASS], work.rows,
                               work.ranks, work.passes);
  QmArray x = { work.x.row (blockIdx.x), work.x.type };
  QmArray y = { work.all.row (first + blockIdx.x), work.all.type };

  if (blockIdx.x == 0 && threadIdx.x == 0)
    *work.first = (int32_t) first;
  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    qm_store (y, j, qm_load (x, j));
}

struct Contrast
{
  QmRows x, dx;
  const float *temperature, *bias, *own, *others, *state;
  const int32_t *first;
  float *losses, *temperatures, *biases; /* of sums: losses */
  int columns;
  float scale;
};

/* A block has a row. */
template <int N>
__global__ void
__launch_bounds__ (threads) sums_kernel (const __grid_constant__ Contrast work)
{
  __shared__ float shared[32];
  QmArray x = { work.x.row (blockIdx.x), work.x.type };
  float factor = expf (*work.temperature);
  float largest = -FLT_MAX, sum = 0, most;

  for (int j = (int) threadIdx.x * N; j < work.columns; j += threads * N)
    {
      float s[N], here = largest;

      qm_load<N> (x, j, s);
#pragma unroll
      for (int i = 0; i < N; i++)
        {
          s[i] *= factor;
          here = fmaxf (here, s[i]);
        }
      sum *= expf (largest - here);
      largest = here;
#pragma unroll
      for (int i = 0; i < N; i++)
        sum += expf (s[i] - largest);
    }
  most = qm_block_max (largest, shared);
  sum = qm_block_sum (sum * expf (largest - most), shared);
  if (threadIdx.x == 0)
    work.losses[blockIdx.x] = logf (sum) + most;
}

/* log (1 + exp (x)) */
__device__ __forceinline__ float
softplus (float x)
{
  return fmaxf (x, 0) + log1pf (expf (-fabsf (x)));
}

/* The same; the sums of a row are known. */
template <int N, bool pairs>
__global__ void
__launch_bounds__ (threads) loss_kernel (const __grid_constant__ Contrast work)
{
  __shared__ float shared[32];
  int match = *work.first + (int) blockIdx.x;
  QmArray x = { work.x.row (blockIdx.x), work.x.type };
  QmArray dx = { work.dx.row (blockIdx.x), work.dx.type };
  float factor = expf (*work.temperature), bias = pairs ? *work.bias : 0;
  float own = pairs ? 0 : work.own[match];
  float slope = work.scale * work.state[QM_STATE_LOSS_SCALE];
  float loss = 0, along = 0, shift = 0;

  for (int j = (int) threadIdx.x * N; j < work.columns; j += threads * N)
    {
      float y[N];

      qm_load<N> (x, j, y);
#pragma unroll
      for (int i = 0; i < N; i++)
        {
          float s = factor * y[i], mine = j + i == match ? 1 : 0, here;

          if (pairs)
            {
              float sign = 2 * mine - 1;

              here = -sign / (1 + expf (sign * (s + bias)));
              loss += softplus (-sign * (s + bias));
              shift += here;
              y[i] = 2 * here;
            }
          else
            {
              here = expf (s - own) - mine;
              loss += mine * (own - s);
              y[i] = here + expf (s - work.others[j + i]) - mine;
            }
          along += here * s;
          y[i] *= slope * factor;
        }
      qm_store<N> (dx, j, y);
    }
  loss = qm_block_sum (loss, shared);
  along = qm_block_sum (along, shared);
  if (pairs)
    shift = qm_block_sum (shift, shared);
  if (threadIdx.x != 0)
    return;
  work.losses[blockIdx.x] = work.scale * loss;
  work.temperatures[blockIdx.x] = slope * along;
  if (pairs)
    work.biases[blockIdx.x] = slope * shift;
}

} /* namespace */

QmStatus
qm_cuda_find_tokens (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor &ids = call->inputs[0];
  Find work = { .ids = (const int32_t *) ids.data,
                .found = (int32_t *) call->outputs[0].data,
                .places = (int32_t *) call->outputs[1].data,
                .batch = ids.shape[0],
                .length = (int) ids.shape[1],
                .token = (int) call->attributes.padding };

  find_kernel<<<qm_blocks (work.batch * 32, threads), threads, 0, stream>>> (
      work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_keep_rows (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor &x = call->inputs[0];
  Keep work = { .x = qm_rows (x),
                .all = qm_rows (call->outputs[0]),
                .rng = (const int32_t *) call->inputs[1].data,
                .first = (int32_t *) call->outputs[1].data,
                .rows = x.shape[0],
                .ranks = call->attributes.count,
                .passes = call->attributes.chunk,
                .columns = (int) x.shape[1] };

  keep_kernel<<<(unsigned) work.rows, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_contrast_sums (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor &x = call->inputs[0];
  Contrast work = { .x = qm_rows (x),
                    .temperature = (const float *) call->inputs[1].data,
                    .losses = (float *) call->outputs[0].data,
                    .columns = (int) x.shape[1] };
  unsigned rows = (unsigned) x.shape[0];

  if (x.shape[1] % vector == 0 && qm_cuda_vectors (&x, vector))
    sums_kernel<vector><<<rows, threads, 0, stream>>> (work);
  else
    sums_kernel<1><<<rows, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_contrast_loss (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  Contrast work = { .x = qm_rows (in[0]),
                    .dx = qm_rows (out[0]),
                    .temperature = (const float *) in[1].data,
                    .bias = (const float *) in[2].data,
                    .own = (const float *) in[4].data,
                    .others = (const float *) in[5].data,
                    .state = (const float *) in[6].data,
                    .first = (const int32_t *) in[3].data,
                    .losses = (float *) out[1].data,
                    .temperatures = (float *) out[2].data,
                    .biases = (float *) out[3].data,
                    .columns = (int) in[0].shape[1],
                    .scale = (float) call->attributes.scale };
  unsigned rows = (unsigned) in[0].shape[0];
  bool pairs = qm_tensor_present (&in[2]);
  bool wide = in[0].shape[1] % vector == 0 && qm_cuda_vectors (&in[0], vector)
              && qm_cuda_vectors (&out[0], vector);

  if (wide && pairs)
    loss_kernel<vector, true><<<rows, threads, 0, stream>>> (work);
  else if (wide)
    loss_kernel<vector, false><<<rows, threads, 0, stream>>> (work);
  else if (pairs)
    loss_kernel<1, true><<<rows, threads, 0, stream>>> (work);
  else
    loss_kernel<1, false><<<rows, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
