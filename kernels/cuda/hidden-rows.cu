/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of patches that are hidden of the first crop of an image, and rows that
 * are pushed apart. */

#include "kernels/cuda/cuda-rows.cuh"

#include <float.h>

namespace
{

constexpr int threads = 256;

struct Hidden
{
  QmRows x, token, y;
  const int32_t *indices;           /* hidden, or places */
  int64_t rows, each, length, from; /* each: rows of an image, length: of a
                                       crop, from: where its patches begin */
  int64_t per_image;                /* indices, or rows that were picked */
  int columns, all;

  /* The place of the patch that row r is, or -1. */
  __device__ __forceinline__ int
  place (int64_t r, int64_t *image) const
  {
    int64_t in = r % each;

    *image = r / each;
    return in >= from && in < length ? indices[*image * all + in - from] : -1;
  }
};

/* A block has a row. */
__global__ void
__launch_bounds__ (threads) hide_kernel (const __grid_constant__ Hidden work)
{
  int64_t r = blockIdx.x, image;
  bool hidden = work.place (r, &image) >= 0;
  QmArray x = { work.x.row (r), work.x.type };
  QmArray token = { work.token.data, work.token.type };
  QmArray y = { work.y.row (r), work.y.type };

  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    qm_store (y, j, !hidden ? qm_load (x, j) : token ? qm_load (token, j) : 0);
}

/* Groups that a thread has of a row, which may be that of a whole sample. */
constexpr int ahead = 4;

/* What a block has of row `from` of x, which may be none, to row `to` of y. */
template <bool whole>
__device__ __forceinline__ void
move_row (const Hidden &work, int64_t from, int64_t to)
{
  int64_t first =
      ((int64_t) blockIdx.y * ahead * threads + threadIdx.x) * QM_GROUP;
  QmRaw raw[ahead];

#pragma unroll
  for (int u = 0; u < ahead; u++)
    raw[u] = from < 0 ? QmRaw{}
                      : qm_fetch_group<whole> (work.x.row (from),
                                               first + u * threads * QM_GROUP,
                                               work.columns, work.x.type);
#pragma unroll
  for (int u = 0; u < ahead; u++)
    {
      int64_t column = first + u * threads * QM_GROUP;
      float x[QM_GROUP];

      qm_unpack (raw[u], work.x.type, x);
      if (column < work.columns)
        qm_put_group<whole> (work.y.row (to), column, work.columns, work.y.type,
                             x);
    }
}

template <bool whole>
__global__ void
__launch_bounds__ (threads) pick_kernel (const __grid_constant__ Hidden work)
{
  int64_t i = blockIdx.x, image = i / work.per_image;

  move_row<whole> (work, image * work.each + work.from + work.indices[i], i);
}

template <bool whole>
__global__ void
__launch_bounds__ (threads)
    pick_backward_kernel (const __grid_constant__ Hidden work)
{
  int64_t r = blockIdx.x, image;
  int place = work.place (r, &image);

  move_row<whole> (work, place < 0 ? -1 : image * work.per_image + place, r);
}

dim3
pick_grid (const Hidden &work, int64_t rows)
{
  return dim3 ((unsigned) rows,
               qm_blocks (work.columns, ahead * threads * QM_GROUP));
}

bool
all_whole (const QmOpCall *call)
{
  return qm_cuda_vectors (&call->inputs[0], QM_GROUP)
         && qm_cuda_vectors (&call->outputs[0], QM_GROUP);
}

struct Spread
{
  QmRows x, dx;
  const float *state;
  float *losses, *factors, *distances;
  int32_t *nearest;
  int64_t rows, crops;
  int columns;
  float scale, epsilon;

  __device__ __forceinline__ float
  at (int64_t r, int j) const
  {
    return qm_load ({ x.row (r), x.type }, j) * factors[r];
  }
};

__global__ void
__launch_bounds__ (threads) lengths_kernel (const __grid_constant__ Spread work)
{
  __shared__ float shared[32];
  int64_t r = blockIdx.x;
  float sum = 0;

  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    {
      float x = qm_load ({ work.x.row (r), work.x.type }, j);

      sum += x * x;
    }
  sum = qm_block_sum (sum, shared);
  if (threadIdx.x == 0)
    work.factors[r] = rsqrtf (sum);
}

/* A block has a row, and each of its warps some of the others; of equally near
 * ones the first is taken. */
__global__ void
__launch_bounds__ (threads) nearest_kernel (const __grid_constant__ Spread work)
{
  __shared__ float shared[32], most_of[threads / 32];
  __shared__ int64_t row_of[threads / 32];
  int64_t r = blockIdx.x, nearest = r;
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  float most = -FLT_MAX, sum = 0;

  for (int64_t i = r % work.crops + warp * work.crops; i < work.rows;
       i += threads / 32 * work.crops)
    {
      float dot = 0;

      for (int j = lane; j < work.columns; j += 32)
        dot += work.at (r, j) * work.at (i, j);
      dot = qm_warp_sum (dot);
      if (i != r && dot > most)
        {
          most = dot;
          nearest = i;
        }
    }
  if (lane == 0)
    {
      most_of[warp] = most;
      row_of[warp] = nearest;
    }
  __syncthreads ();
  most = -FLT_MAX;
  nearest = r;
  for (int i = 0; i < threads / 32; i++)
    if (most_of[i] > most
        || (most_of[i] == most && most > -FLT_MAX && row_of[i] < nearest))
      {
        most = most_of[i];
        nearest = row_of[i];
      }
  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    {
      float away = work.at (r, j) - work.at (nearest, j) + work.epsilon;

      sum += away * away;
    }
  sum = sqrtf (qm_block_sum (sum, shared));
  if (threadIdx.x == 0)
    {
      work.nearest[r] = (int32_t) nearest;
      work.distances[r] = sum;
      work.losses[r] = -work.scale * logf (sum + work.epsilon);
    }
}

/* The slope of all losses along element j of row r, of length 1: of its own,
 * and of those that it is the nearest of, in their order. */
__device__ __forceinline__ float
slope_of (const Spread &work, int64_t r, int j)
{
  float z = work.at (r, j), d = work.distances[r];
  float slope = (z - work.at (work.nearest[r], j) + work.epsilon)
                / ((d + work.epsilon) * d);

  for (int64_t i = r % work.crops; i < work.rows; i += work.crops)
    if (work.nearest[i] == r && i != r)
      {
        d = work.distances[i];
        slope -= (work.at (i, j) - z + work.epsilon) / ((d + work.epsilon) * d);
      }
  return slope;
}

__global__ void
__launch_bounds__ (threads) spread_kernel (const __grid_constant__ Spread work)
{
  __shared__ float shared[32];
  int64_t r = blockIdx.x;
  float factor = -work.scale * work.state[QM_STATE_LOSS_SCALE];
  QmArray dx = { work.dx.row (r), work.dx.type };
  float dot = 0;

  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    dot += slope_of (work, r, j) * work.at (r, j);
  dot = qm_block_sum (dot, shared);
  for (int j = (int) threadIdx.x; j < work.columns; j += threads)
    qm_store (dx, j,
              factor * work.factors[r]
                  * (slope_of (work, r, j) - dot * work.at (r, j)));
}

Hidden
hidden_of (const QmOpCall *call, const QmTensor &rows, const QmTensor &indices)
{
  int64_t each = rows.shape[0] / indices.shape[0];

  return { .x = qm_rows (call->inputs[0]),
           .token = {},
           .y = qm_rows (call->outputs[0]),
           .indices = (const int32_t *) indices.data,
           .rows = rows.shape[0],
           .each = each,
           .length = each / call->attributes.count,
           .from = call->attributes.first,
           .per_image = indices.shape[1],
           .columns = (int) rows.shape[1],
           .all = (int) indices.shape[1] };
}

} /* namespace */

QmStatus
qm_cuda_hide_rows (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  Hidden work = hidden_of (call, call->inputs[0], call->inputs[1]);

  if (qm_tensor_present (&call->inputs[2]))
    work.token = qm_rows (call->inputs[2]);
  hide_kernel<<<(unsigned) work.rows, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_pick_rows (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  Hidden work = hidden_of (call, call->inputs[0], call->inputs[1]);
  auto kernel = all_whole (call) ? pick_kernel<true> : pick_kernel<false>;

  kernel<<<pick_grid (work, call->outputs[0].shape[0]), threads, 0, stream>>> (
      work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_pick_rows_backward (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  Hidden work = hidden_of (call, call->outputs[0], call->inputs[1]);
  auto kernel = all_whole (call) ? pick_backward_kernel<true>
                                 : pick_backward_kernel<false>;

  work.per_image = call->inputs[0].shape[0] / call->inputs[1].shape[0];
  kernel<<<pick_grid (work, work.rows), threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_spread_loss (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor &x = call->inputs[0];
  unsigned rows = (unsigned) x.shape[0];
  Spread work = { .x = qm_rows (x),
                  .dx = qm_rows (call->outputs[0]),
                  .state = (const float *) call->inputs[1].data,
                  .losses = (float *) call->outputs[1].data,
                  .factors = (float *) call->outputs[3].data,
                  .distances = (float *) call->outputs[3].data + x.shape[0],
                  .nearest = (int32_t *) call->outputs[2].data,
                  .rows = x.shape[0],
                  .crops = call->attributes.count,
                  .columns = (int) x.shape[1],
                  .scale = (float) call->attributes.scale,
                  .epsilon = (float) call->attributes.epsilon };

  lengths_kernel<<<rows, threads, 0, stream>>> (work);
  nearest_kernel<<<rows, threads, 0, stream>>> (work);
  spread_kernel<<<rows, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
