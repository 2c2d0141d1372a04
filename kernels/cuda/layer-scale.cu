/* SPDX-License-Identifier: Apache-2.0 */

/* Layer scale with stochastic depth, and means over the pixels of an image. */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

/* A row of y or dy, and that of the branch that belongs to it: x, or dx. */
struct Pair
{
  int64_t all, branch; /* branch: -1: none */
};

struct Scale
{
  QmRows x, dy, gamma, residual, y; /* y: or dx */
  QmDropout dropout;
  const int32_t *samples; /* with `some`: their places, or `kept` ones */
  QmDivisor each;         /* rows of a sample of these */
  float *parts;
  int64_t rows, sample; /* rows of a sample */
  int columns;
  float chosen; /* what rows of samples that were chosen are multiplied by */
  bool kept;

  template <bool some>
  __device__ __forceinline__ float
  factor (int64_t row) const
  {
    return some ? chosen : qm_depth_factor (dropout, sample, row);
  }

  /* Of the rows that there are to go through, row r. */
  template <bool some>
  __device__ __forceinline__ Pair
  pair (int64_t r) const
  {
    uint32_t within, of;
    int64_t other;

    if (!some)
      return { r, r };
    of = each.quotient ((uint32_t) r, within);
    other = samples[of];
    if (other >= 0)
      other = other * each.divisor + within;
    return kept ? Pair{ other, r } : Pair{ r, other };
  }
};

/* gamma of a group of columns; ones where there is none. */
template <bool whole>
__device__ __forceinline__ void
read_gamma (const Scale &scale, int column, float (&gamma)[QM_GROUP])
{
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    gamma[i] = 1;
  if (scale.gamma)
    qm_unpack (qm_fetch_group<whole> (scale.gamma.data, column, scale.columns,
                                      scale.gamma.type),
               scale.gamma.type, gamma);
}

/* 32 x 8 threads: groups of columns beside each other, rows below. */
constexpr int beside = 32, below = 8, ahead = 4;

template <bool whole, bool some>
__global__ void
__launch_bounds__ (beside *below)
    scale_kernel (const __grid_constant__ Scale scale)
{
  int column = (int) (blockIdx.x * beside + threadIdx.x) * QM_GROUP;
  float gamma[QM_GROUP];
  Pair pair[ahead];

  if (column >= scale.columns)
    return;
  read_gamma<whole> (scale, column, gamma);
  for (int64_t first = blockIdx.y * (int64_t) below + threadIdx.y;
       first < scale.rows; first += (int64_t) gridDim.y * below * ahead)
    {
      QmRaw x[ahead], residual[ahead];

#pragma unroll
      for (int u = 0; u < ahead; u++)
        {
          int64_t row = first + (int64_t) u * gridDim.y * below;

          if (row >= scale.rows)
            continue;
          pair[u] = scale.pair<some> (row);
          x[u] =
              some && pair[u].branch < 0
                  ? QmRaw{}
                  : qm_fetch_group<whole> (scale.x.row (pair[u].branch), column,
                                           scale.columns, scale.x.type);
          if (scale.residual)
            residual[u] =
                qm_fetch_group<whole> (scale.residual.row (pair[u].all), column,
                                       scale.columns, scale.residual.type);
        }
#pragma unroll
      for (int u = 0; u < ahead; u++)
        {
          int64_t row = first + (int64_t) u * gridDim.y * below;
          float sum[QM_GROUP] = {}, values[QM_GROUP], factor;

          if (row >= scale.rows)
            continue;
          factor = scale.factor<some> (row);
          if (scale.residual)
            qm_unpack (residual[u], scale.residual.type, sum);
          qm_unpack (x[u], scale.x.type, values);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            sum[i] += factor * gamma[i] * values[i];
          qm_put_group<whole> (scale.y.row (pair[u].all), column, scale.columns,
                               scale.y.type, sum);
        }
    }
}

/* The same grid; every row of blocks makes one part of the sums. */
template <bool whole, bool some>
__global__ void
__launch_bounds__ (beside *below)
    scale_backward_kernel (const __grid_constant__ Scale scale)
{
  __shared__ float shared[below][QM_GROUP][beside];
  int column = (int) (blockIdx.x * beside + threadIdx.x) * QM_GROUP;
  float gamma[QM_GROUP], sums[QM_GROUP] = {};

  if (column < scale.columns)
    {
      read_gamma<whole> (scale, column, gamma);
      for (int64_t first = blockIdx.y * (int64_t) below + threadIdx.y;
           first < scale.rows; first += (int64_t) gridDim.y * below * ahead)
        {
          QmRaw x[ahead], dy[ahead];

#pragma unroll
          for (int u = 0; u < ahead; u++)
            {
              int64_t row = first + (int64_t) u * gridDim.y * below;

              if (row >= scale.rows)
                continue;
              dy[u] = qm_fetch_group<whole> (
                  scale.dy.row (scale.pair<some> (row).all), column,
                  scale.columns, scale.dy.type);
              if (scale.parts != nullptr)
                x[u] = qm_fetch_group<whole> (scale.x.row (row), column,
                                              scale.columns, scale.x.type);
            }
#pragma unroll
          for (int u = 0; u < ahead; u++)
            {
              int64_t row = first + (int64_t) u * gridDim.y * below;
              float slope[QM_GROUP], values[QM_GROUP] = {}, factor;

              if (row >= scale.rows)
                continue;
              factor = scale.factor<some> (row);
              qm_unpack (dy[u], scale.dy.type, slope);
              if (scale.parts != nullptr)
                qm_unpack (x[u], scale.x.type, values);
#pragma unroll
              for (int i = 0; i < QM_GROUP; i++)
                {
                  sums[i] += factor * values[i] * slope[i];
                  slope[i] *= factor * gamma[i];
                }
              qm_put_group<whole> (scale.y.row (row), column, scale.columns,
                                   scale.y.type, slope);
            }
        }
    }
  if (scale.parts == nullptr)
    return;
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    shared[threadIdx.y][i][threadIdx.x] = sums[i];
  __syncthreads ();
  if (threadIdx.y != 0)
    return;
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      float sum = 0;

      for (int y = 0; y < below; y++)
        sum += shared[y][i][threadIdx.x];
      if (column + i < scale.columns)
        scale.parts[(int64_t) blockIdx.y * scale.columns + column + i] = sum;
    }
}

struct Pool
{
  QmRows from, to;
  int64_t rows;  /* of a sample */
  int64_t first; /* of those that count; before it, row 0 goes along alone */
  int columns;

  /* The part of a pooled row that means are in. */
  __device__ __forceinline__ char *
  means (const QmRows &pooled, int64_t sample) const
  {
    return pooled.row (sample)
           + (first > 0 ? (int64_t) columns * pooled.size () : 0);
  }
};

/* The rows of one sample, in an order that does not depend on the run. */
template <bool whole>
__global__ void
__launch_bounds__ (beside *below)
    pool_kernel (const __grid_constant__ Pool pool)
{
  __shared__ float shared[below][QM_GROUP][beside];
  int column = (int) (blockIdx.y * beside + threadIdx.x) * QM_GROUP;
  float sums[QM_GROUP] = {};

  if (column < pool.columns)
#pragma unroll 4
    for (int64_t row = pool.first + threadIdx.y; row < pool.rows; row += below)
      {
        float x[QM_GROUP];

        qm_unpack (qm_fetch_group<whole> (pool.from.row (blockIdx.x * pool.rows
                                                         + row),
                                          column, pool.columns, pool.from.type),
                   pool.from.type, x);
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          sums[i] += x[i];
      }
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    shared[threadIdx.y][i][threadIdx.x] = sums[i];
  __syncthreads ();
  if (threadIdx.y != 0)
    return;
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      float sum = 0;

      for (int y = 0; y < below; y++)
        sum += shared[y][i][threadIdx.x];
      sums[i] = sum / (float) (pool.rows - pool.first);
    }
  if (column >= pool.columns)
    return;
  qm_put_group<whole> (pool.means (pool.to, blockIdx.x), column, pool.columns,
                       pool.to.type, sums);
  if (pool.first == 0)
    return;
  qm_unpack (qm_fetch_group<whole> (pool.from.row (blockIdx.x * pool.rows),
                                    column, pool.columns, pool.from.type),
             pool.from.type, sums);
  qm_put_group<whole> (pool.to.row (blockIdx.x), column, pool.columns,
                       pool.to.type, sums);
}

template <bool whole>
__global__ void
__launch_bounds__ (beside *below)
    pool_backward_kernel (const __grid_constant__ Pool pool)
{
  int column = (int) (blockIdx.y * beside + threadIdx.x) * QM_GROUP;
  float x[QM_GROUP];

  if (column >= pool.columns)
    return;
  for (int64_t row = threadIdx.y; row < pool.first; row += below)
    {
      float alone[QM_GROUP] = {};

      if (row == 0)
        qm_unpack (qm_fetch_group<whole> (pool.from.row (blockIdx.x), column,
                                          pool.columns, pool.from.type),
                   pool.from.type, alone);
      qm_put_group<whole> (pool.to.row (blockIdx.x * pool.rows + row), column,
                           pool.columns, pool.to.type, alone);
    }
  qm_unpack (qm_fetch_group<whole> (pool.means (pool.from, blockIdx.x), column,
                                    pool.columns, pool.from.type),
             pool.from.type, x);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    x[i] /= (float) (pool.rows - pool.first);
  for (int64_t row = pool.first + threadIdx.y; row < pool.rows; row += below)
    qm_put_group<whole> (pool.to.row (blockIdx.x * pool.rows + row), column,
                         pool.columns, pool.to.type, x);
}

Scale
scale_of (const QmOpCall *call,
          const QmTensor &x,
          const QmTensor &gamma,
          const QmTensor &rng)
{
  const QmAttributes &attributes = call->attributes;

  return { .x = qm_rows (x),
           .gamma = qm_rows (gamma),
           .y = qm_rows (call->outputs[0]),
           .dropout = qm_dropout (attributes, attributes.site, rng),
           .rows = x.shape[0],
           .sample = attributes.height * attributes.width,
           .columns = (int) x.shape[1],
           .chosen = (float) attributes.scale };
}

/* By rows of the branch, which `kept` says of, or by all rows. */
void
choose (Scale *scale, const QmOpCall *call, int64_t all, bool kept)
{
  const QmTensor &places = call->inputs[4];

  if (!qm_tensor_present (&places))
    return;
  scale->samples =
      (const int32_t *) (kept ? call->inputs[5].data : places.data);
  scale->each = qm_divisor (all / places.shape[1]);
  scale->kept = kept;
  if (!kept)
    scale->rows = all;
}

bool
all_whole (const QmOpCall *call)
{
  bool whole = qm_cuda_vectors (&call->outputs[0], QM_GROUP);

  for (int i = 0; i < 3; i++)
    whole = whole && qm_cuda_vectors (&call->inputs[i], QM_GROUP);
  return whole;
}

/* Rows of blocks that fill the device, none of them without work. */
template <class Kernel>
dim3
grid_of (const QmCudaContext *context,
         Kernel kernel,
         const Scale &scale,
         int64_t most)
{
  int64_t across = qm_blocks (scale.columns, beside * QM_GROUP);
  int64_t down =
      qm_resident (context, kernel, beside * below, INT64_C (1) << 30) / across;
  int64_t units = (scale.rows + below * ahead - 1) / (below * ahead);

  return dim3 ((unsigned) across,
               (unsigned) qm_even_parts (units, down < most ? down : most));
}

} /* namespace */

QmStatus
qm_cuda_layer_scale (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor *in = call->inputs;
  Scale scale = scale_of (call, in[0], in[1], in[3]);
  bool some = qm_tensor_present (&in[4]), whole = all_whole (call);
  auto kernel =
      some ? (whole ? scale_kernel<true, true> : scale_kernel<false, true>)
           : (whole ? scale_kernel<true, false> : scale_kernel<false, false>);

  scale.residual = qm_rows (in[2]);
  /* In place, what nothing is added to stays. */
  choose (&scale, call, call->outputs[0].shape[0],
          qm_tensor_present (&in[2]) && in[2].data == call->outputs[0].data);
  kernel<<<grid_of (context, kernel, scale, 65535), dim3 (beside, below), 0,
           stream>>> (scale);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_layer_scale_backward (QmCudaContext *context,
                              cudaStream_t stream,
                              const QmOpCall *call,
                              QmError *error)
{
  const QmTensor *in = call->inputs, &dgamma = call->outputs[1];
  Scale scale = scale_of (call, in[1], in[2], in[3]);
  bool some = qm_tensor_present (&in[4]), whole = all_whole (call);
  auto kernel = some ? (whole ? scale_backward_kernel<true, true>
                              : scale_backward_kernel<false, true>)
                     : (whole ? scale_backward_kernel<true, false>
                              : scale_backward_kernel<false, false>);
  dim3 grid = grid_of (context, kernel, scale, QM_CUDA_SCALE_PARTS);
  QmStatus status;

  scale.dy = qm_rows (in[0]);
  choose (&scale, call, in[0].shape[0], true);
  if (qm_tensor_present (&dgamma))
    scale.parts = (float *) call->workspace;
  kernel<<<grid, dim3 (beside, below), 0, stream>>> (scale);
  status = qm_cuda_launched (call, error);
  if (status == QM_OK && scale.parts != nullptr)
    status = qm_cuda_add_parts (stream, scale.parts, grid.y, scale.columns, 1,
                                (float *) dgamma.data, error);
  return status;
}

QmStatus
qm_cuda_pool (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  Pool pool = { .from = qm_rows (x),
                .to = qm_rows (y),
                .rows = x.shape[0] / y.shape[0],
                .first = call->attributes.first,
                .columns = (int) x.shape[1] };
  auto kernel = all_whole (call) ? pool_kernel<true> : pool_kernel<false>;

  kernel<<<dim3 ((unsigned) y.shape[0],
                 qm_blocks (pool.columns, beside * QM_GROUP)),
           dim3 (beside, below), 0, stream>>> (pool);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_pool_backward (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor &dy = call->inputs[0], &dx = call->outputs[0];
  Pool pool = { .from = qm_rows (dy),
                .to = qm_rows (dx),
                .rows = dx.shape[0] / dy.shape[0],
                .first = call->attributes.first,
                .columns = (int) dx.shape[1] };
  auto kernel = all_whole (call) ? pool_backward_kernel<true>
                                 : pool_backward_kernel<false>;

  kernel<<<dim3 ((unsigned) dy.shape[0],
                 qm_blocks (pool.columns, beside * QM_GROUP)),
           dim3 (beside, below), 0, stream>>> (pool);
  return qm_cuda_launched (call, error);
}
