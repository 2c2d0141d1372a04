/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of a table that was looked up.  Tokens are sorted by their id,
 * keeping their order where ids are equal, so that every row of the table is
 * the sum of a run of tokens, added in an order that is always the same.  Runs
 * are added in chunks of tokens; a run that crosses chunks leaves a part in
 * each, and a second kernel adds those. */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

const int sort_threads = 256;
const int sort_warps = sort_threads / 32;
const int sort_rounds = QM_CUDA_SORT_TILE / sort_threads;
const int chunk_size = QM_CUDA_SORT_CHUNK;

/* How many keys of a tile have each digit: counts[digit, tile]. */
__global__ void
__launch_bounds__ (sort_threads)
    count_kernel (const int32_t *keys, int64_t n, int shift, int32_t *counts)
{
  __shared__ int shared[QM_CUDA_SORT_DIGITS];
  int64_t first = (int64_t) blockIdx.x * QM_CUDA_SORT_TILE;

  shared[threadIdx.x] = 0;
  __syncthreads ();
  for (int round = 0; round < sort_rounds; round++)
    {
      int64_t i = first + round * sort_threads + threadIdx.x;

      if (i < n)
        atomicAdd (&shared[(uint32_t) keys[i] >> shift & 255], 1);
    }
  __syncthreads ();
  counts[(int64_t) threadIdx.x * gridDim.x + blockIdx.x] = shared[threadIdx.x];
}

/* Every element becomes the sum of those before it; one block, four elements a
 * thread; n is a multiple of four. */
__global__ void __launch_bounds__ (1024) scan_kernel (int4 *counts, int64_t n)
{
  __shared__ int32_t sums[2][32];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32, parity = 0;
  int32_t before = 0;

  for (int64_t first = 0; first < n / 4; first += 1024, parity = 1 - parity)
    {
      bool there = first + threadIdx.x < n / 4;
      int4 count = there ? counts[first + threadIdx.x] : int4{};
      int32_t own = count.x + count.y + count.z + count.w, sum = own, warps;

#pragma unroll
      for (int lanes = 1; lanes < 32; lanes *= 2)
        {
          int32_t other = __shfl_up_sync (0xffffffffu, sum, lanes);

          sum += lane >= lanes ? other : 0;
        }
      if (lane == 31)
        sums[parity][warp] = sum;
      __syncthreads ();
      warps = sums[parity][lane];
#pragma unroll
      for (int lanes = 1; lanes < 32; lanes *= 2)
        {
          int32_t other = __shfl_up_sync (0xffffffffu, warps, lanes);

          warps += lane >= lanes ? other : 0;
        }
      sum += before - own;
      if (warp > 0)
        sum += __shfl_sync (0xffffffffu, warps, warp - 1);
      before += __shfl_sync (0xffffffffu, warps, 31);
      if (there)
        counts[first + threadIdx.x] =
            make_int4 (sum, sum + count.x, sum + count.x + count.y,
                       sum + count.x + count.y + count.z);
    }
}

struct Scatter
{
  const int32_t *keys, *values; /* values NULL: 0, 1, 2, ... */
  int32_t *keys_out, *values_out;
  const int32_t *places;
  int64_t n;
  int shift;
};

/* Moves a tile's tokens to their places, in order. */
__global__ void
__launch_bounds__ (sort_threads) scatter_kernel (const Scatter scatter)
{
  __shared__ int32_t place[QM_CUDA_SORT_DIGITS];
  __shared__ int32_t counts[sort_warps][QM_CUDA_SORT_DIGITS];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;

  place[threadIdx.x] =
      scatter.places[(int64_t) threadIdx.x * gridDim.x + blockIdx.x];
  for (int w = 0; w < sort_warps; w++)
    counts[w][threadIdx.x] = 0;
  __syncthreads ();
  for (int round = 0; round < sort_rounds; round++)
    {
      int64_t i = (int64_t) blockIdx.x * QM_CUDA_SORT_TILE
                  + round * sort_threads + threadIdx.x;
      int32_t key = i < scatter.n ? scatter.keys[i] : 0;
      int digit = i < scatter.n ? (int) ((uint32_t) key >> scatter.shift & 255)
                                : QM_CUDA_SORT_DIGITS;
      unsigned same = __match_any_sync (0xffffffffu, digit);
      int rank = __popc (same & ((1u << lane) - 1));

      if (i < scatter.n && rank == 0)
        counts[warp][digit] = __popc (same);
      __syncthreads ();
      if (i < scatter.n)
        {
          int32_t to = place[digit] + rank;

          for (int w = 0; w < warp; w++)
            to += counts[w][digit];
          scatter.keys_out[to] = key;
          scatter.values_out[to] =
              scatter.values != nullptr ? scatter.values[i] : (int32_t) i;
        }
      __syncthreads ();
      for (int w = 0; w < sort_warps; w++)
        {
          place[threadIdx.x] += counts[w][threadIdx.x];
          counts[w][threadIdx.x] = 0;
        }
      __syncthreads ();
    }
}

struct Gradient
{
  const int32_t *keys, *tokens; /* sorted */
  QmRows dy, dw;
  float *parts; /* [chunks, 2, columns]: a run's end, a run's beginning */
  int64_t n;
  int columns, slices; /* of 32 groups a warp */
  int64_t padding;
};

/* The new value of a row of the table. */
template <bool whole>
__device__ __forceinline__ void
write_row (const Gradient &gradient,
           int32_t key,
           int column,
           const float (&sum)[QM_GROUP])
{
  if (key != gradient.padding)
    qm_put_group<whole> (gradient.dw.row (key), column, gradient.columns,
                         QM_TYPE_F32, sum);
}

__device__ __forceinline__ char *
part_of (const Gradient &gradient, int64_t part)
{
  return (char *) (gradient.parts + part * gradient.columns);
}

/* A run is over that did not go on in the next chunk. */
template <bool whole>
__device__ __forceinline__ void
end_run (const Gradient &gradient,
         int64_t chunk,
         bool open,
         int32_t key,
         int column,
         const float (&sum)[QM_GROUP])
{
  if (open)
    qm_put_group<whole> (part_of (gradient, 2 * chunk), column,
                         gradient.columns, QM_TYPE_F32, sum);
  else
    write_row<whole> (gradient, key, column, sum);
}

/* A warp adds the runs of a chunk, in 32 groups of columns.  A sum begins with
 * what the table has where a run begins, which is fetched together with the
 * tokens. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    runs_kernel (const __grid_constant__ Gradient gradient)
{
  constexpr int ahead = 4;
  int64_t work = (int64_t) blockIdx.x * 4 + threadIdx.x / 32;
  int64_t chunk = work / gradient.slices, begin = chunk * chunk_size;
  int64_t end = min (begin + chunk_size, gradient.n);
  int column =
      (int) (work % gradient.slices * 32 + threadIdx.x % 32) * QM_GROUP;
  int32_t key, next[ahead], next_keys[ahead];
  bool open; /* the run began in the chunk before */
  float sum[QM_GROUP] = {};

  if (begin >= gradient.n || column >= gradient.columns)
    return;
#pragma unroll
  for (int i = 0; i < ahead; i++)
    {
      next[i] = begin + i < end ? gradient.tokens[begin + i] : 0;
      next_keys[i] = begin + i < end ? gradient.keys[begin + i] : 0;
    }
  key = begin > 0 ? gradient.keys[begin - 1] : -1;
  open = key == next_keys[0];
  key = open ? key : -1;
  for (int64_t at = begin; at < end; at += ahead)
    {
      int32_t keys[ahead];
      QmRaw raw[ahead], old[ahead];

#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (at + i < end)
          {
            keys[i] = next_keys[i];
            raw[i] = qm_fetch_group<whole> (gradient.dy.row (next[i]), column,
                                            gradient.columns, gradient.dy.type);
            if (keys[i] != (i > 0 ? keys[i > 0 ? i - 1 : 0] : key))
              old[i] = qm_fetch_group<whole> (gradient.dw.row (keys[i]), column,
                                              gradient.columns, QM_TYPE_F32);
          }
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (at + ahead + i < end)
          {
            next[i] = gradient.tokens[at + ahead + i];
            next_keys[i] = gradient.keys[at + ahead + i];
          }
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (at + i < end)
          {
            float x[QM_GROUP];

            if (keys[i] != key)
              {
                if (key >= 0)
                  end_run<whole> (gradient, chunk, open, key, column, sum);
                open = false;
                key = keys[i];
                qm_unpack (old[i], QM_TYPE_F32, sum);
              }
            qm_unpack (raw[i], gradient.dy.type, x);
#pragma unroll
            for (int j = 0; j < QM_GROUP; j++)
              sum[j] += x[j];
          }
    }
  if (!open && end < gradient.n && gradient.keys[end] == key)
    qm_put_group<whole> (part_of (gradient, 2 * chunk + 1), column,
                         gradient.columns, QM_TYPE_F32, sum);
  else
    end_run<whole> (gradient, chunk, open, key, column, sum);
}

/* The place after the last of the tokens with `key`, which is after `from`. */
__device__ int64_t
end_of_run (const Gradient &gradient, int32_t key, int64_t from)
{
  int64_t to = gradient.n;

  while (from < to)
    {
      int64_t middle = (from + to) / 2;

      if (gradient.keys[middle] == key)
        from = middle + 1;
      else
        to = middle;
    }
  return to;
}

const int part_warps = 16;

/* A block adds the parts of the run that begins in its chunk and ends in
 * another; each warp a share of them that follow each other. */
template <bool whole>
__global__ void
__launch_bounds__ (part_warps * 32)
    parts_kernel (const __grid_constant__ Gradient gradient)
{
  __shared__ float shared[part_warps][32 * QM_GROUP];
  int64_t chunk = blockIdx.x / gradient.slices, begin = chunk * chunk_size;
  int64_t end = begin + chunk_size, last, each, from, to;
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int column = (int) (blockIdx.x % gradient.slices * 32 + lane) * QM_GROUP;
  int32_t key;
  float sum[QM_GROUP] = {};

  if (end >= gradient.n)
    return;
  key = gradient.keys[end - 1];
  if (gradient.keys[end] != key
      || (begin > 0 && gradient.keys[begin - 1] == key))
    return;
  last = (end_of_run (gradient, key, end) - 1) / chunk_size;
  each = (last - chunk + part_warps) / part_warps;
  from = chunk + warp * each;
  to = min (from + each, last + 1);
#pragma unroll 8
  for (int64_t c = from; c < to; c++)
    {
      QmRaw raw =
          qm_fetch_group<whole> (part_of (gradient, 2 * c + (c == chunk)),
                                 column, gradient.columns, QM_TYPE_F32);
      float x[QM_GROUP];

      qm_unpack (raw, QM_TYPE_F32, x);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        sum[i] += x[i];
    }
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    shared[warp][i * 32 + lane] = sum[i];
  __syncthreads ();
  if (warp > 0 || column >= gradient.columns)
    return;
  for (int w = 1; w < part_warps; w++)
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      sum[i] += shared[w][i * 32 + lane];
  write_row<whole> (gradient, key, column, sum);
}

/* Sorts tokens by id; afterwards gradient->keys and ->tokens are there. */
void
sort (cudaStream_t stream,
      const int32_t *ids,
      int64_t rows,
      int32_t *workspace,
      const QmCudaSortLayout &layout,
      Gradient *gradient)
{
  unsigned tiles = (unsigned) qm_cuda_sort_tiles (gradient->n);
  int32_t *counts = workspace + layout.counts;
  Scatter scatter = { .keys = ids, .places = counts, .n = gradient->n };
  int side = 0;

  do
    {
      scatter.keys_out = workspace + layout.keys[side];
      scatter.values_out = workspace + layout.values[side];
      count_kernel<<<tiles, sort_threads, 0, stream>>> (scatter.keys, scatter.n,
                                                        scatter.shift, counts);
      scan_kernel<<<1, 1024, 0, stream>>> (
          (int4 *) counts, (int64_t) QM_CUDA_SORT_DIGITS * tiles);
      scatter_kernel<<<tiles, sort_threads, 0, stream>>> (scatter);
      scatter.keys = scatter.keys_out;
      scatter.values = scatter.values_out;
      scatter.shift += 8;
      side = 1 - side;
    }
  while (scatter.shift < 32 && (rows - 1) >> scatter.shift != 0);
  gradient->keys = scatter.keys;
  gradient->tokens = scatter.values;
}

template <bool whole>
void
add (cudaStream_t stream, const Gradient &gradient)
{
  int64_t warps = qm_cuda_sort_chunks (gradient.n) * gradient.slices;

  runs_kernel<whole>
      <<<(unsigned) ((warps + 3) / 4), 128, 0, stream>>> (gradient);
  parts_kernel<whole>
      <<<(unsigned) warps, part_warps * 32, 0, stream>>> (gradient);
}

} /* namespace */

QmStatus
qm_cuda_embedding_backward (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  const QmTensor *dy = &call->inputs[0], *dw = &call->outputs[0];
  QmCudaSortLayout layout = qm_cuda_sort_layout (dy->shape[0], dy->shape[1]);
  Gradient gradient = {
    .dy = qm_rows (*dy),
    .dw = qm_rows (*dw),
    .parts = (float *) call->workspace + layout.parts,
    .n = dy->shape[0],
    .columns = (int) dy->shape[1],
    .slices = (int) ((dy->shape[1] + 32 * QM_GROUP - 1) / (32 * QM_GROUP)),
    .padding = call->attributes.padding,
  };

  sort (stream, (const int32_t *) call->inputs[1].data, dw->shape[0],
        (int32_t *) call->workspace, layout, &gradient);
  if (qm_cuda_vectors (dy, QM_GROUP) && qm_cuda_vectors (dw, QM_GROUP))
    add<true> (stream, gradient);
  else
    add<false> (stream, gradient);
  return qm_cuda_launched (call, error);
}
