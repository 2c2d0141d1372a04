/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/attention-plain.h"
#include "kernels/cuda/cuda-limits.h"

#include "kernels/cuda/cuda-common.cuh"

#define THREADS 128

/* [B, H, S, D], any strides but a dense last. */
struct Heads
{
  QmArray array;
  int64_t batch, head, row;
  int heads;
};

struct Attention
{
  Heads q, k, v, o, dout, dq, dk, dv;
  float *lse, *delta;
  QmDropout dropout;
  int rows, width;
  int shared;        /* heads of q that share one of k and v */
  int before, after; /* row i sees columns i - before .. i + after */
  float scale;
};

static __device__ __forceinline__ int64_t
row_of (const Heads &tensor, int head, int row)
{
  return head / tensor.heads * tensor.batch + head % tensor.heads * tensor.head
         + row * tensor.row;
}

/* TILE rows of a head from `first` on, zero beyond the last. */
template <int TILE, int WIDTH>
static __device__ __forceinline__ void
load_rows (const Attention &a,
           const Heads &tensor,
           int head,
           int first,
           float (*to)[WIDTH + 1])
{
  for (int i = threadIdx.x; i < TILE * WIDTH; i += THREADS)
    {
      int row = first + i / WIDTH, column = i % WIDTH;
      bool inside = row < a.rows && column < a.width;

      to[i / WIDTH][column] =
          inside ? qm_load (tensor.array, row_of (tensor, head, row) + column)
                 : 0;
    }
}

/* What dropout multiplies a weight with. */
static __device__ __forceinline__ float
kept (const Attention &a, int head, int row, int column)
{
  int half;
  uint32_t block;

  if (a.dropout.rng == nullptr)
    return 1;
  block = qm_tile_block (row, column, &half);
  return qm_random_half (qm_tile_bits (a.dropout.rng, a.dropout.site, head,
                                       a.rows, row, block),
                         half)
                 >= a.dropout.threshold
             ? a.dropout.scale
             : 0;
}

template <int WIDTH>
static __device__ __forceinline__ float
dot (const float *a, const float *b)
{
  float sum = 0;

#pragma unroll 16
  for (int i = 0; i < WIDTH; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Sums or maxima over the THREADS / TILE neighbours that share a row. */
template <int LANES>
static __device__ __forceinline__ float
row_sum (float x)
{
#pragma unroll
  for (int i = LANES / 2; i > 0; i /= 2)
    x += __shfl_xor_sync (0xffffffffu, x, i);
  return x;
}

template <int LANES>
static __device__ __forceinline__ float
row_max (float x)
{
#pragma unroll
  for (int i = LANES / 2; i > 0; i /= 2)
    x = fmaxf (x, __shfl_xor_sync (0xffffffffu, x, i));
  return x;
}

static __device__ __forceinline__ bool
visible (const Attention &a, int row, int column)
{
  return row < a.rows && column < a.rows && column <= row + a.after
         && column >= row - a.before;
}

/* The tile that has the first column that rows from `row` on see, or the first
 * row that sees columns from `column` on. */
template <int TILE>
static __device__ __forceinline__ int
first_tile (int at, int reach)
{
  return at > reach ? (at - reach) / TILE * TILE : 0;
}

/* Behind the last that the TILE ones from `at` on see or are seen by. */
template <int TILE>
static __device__ __forceinline__ int
end_of (const Attention &a, int at, int reach)
{
  return at + TILE + reach < a.rows ? at + TILE + reach : a.rows;
}

/* One block makes TILE rows of the output; LANES threads share a row. */
template <int WIDTH, int TILE>
__global__ void
__launch_bounds__ (THREADS) forward_kernel (Attention a)
{
  constexpr int LANES = THREADS / TILE;
  extern __shared__ float memory[];
  float (*q)[WIDTH + 1] = (float (*)[WIDTH + 1]) memory;
  float (*k)[WIDTH + 1] = q + TILE, (*v)[WIDTH + 1] = k + TILE;
  float (*p)[TILE + 1] = (float (*)[TILE + 1]) (v + TILE);
  int head = blockIdx.y, first = blockIdx.x * TILE;
  int r = threadIdx.x / LANES, lane = threadIdx.x % LANES, row = first + r;
  int end = end_of<TILE> (a, first, a.after);
  float out[WIDTH / LANES] = {}, most = -INFINITY, sum = 0;

  load_rows<TILE, WIDTH> (a, a.q, head, first, q);
  for (int begin = first_tile<TILE> (first, a.before); begin < end;
       begin += TILE)
    {
      float s[TILE / LANES], tile_most = most, factor;

      __syncthreads ();
      load_rows<TILE, WIDTH> (a, a.k, head / a.shared, begin, k);
      load_rows<TILE, WIDTH> (a, a.v, head / a.shared, begin, v);
      __syncthreads ();
#pragma unroll
      for (int i = 0; i < TILE / LANES; i++)
        {
          int j = lane + i * LANES;

          s[i] = visible (a, row, begin + j) ? a.scale * dot<WIDTH> (q[r], k[j])
                                             : -INFINITY;
          tile_most = fmaxf (tile_most, s[i]);
        }
      tile_most = row_max<LANES> (tile_most);
      factor = tile_most == -INFINITY ? 1 : expf (most - tile_most);
      most = tile_most;
      sum *= factor;
#pragma unroll
      for (int i = 0; i < TILE / LANES; i++)
        {
          int j = lane + i * LANES;
          float weight = s[i] == -INFINITY ? 0 : expf (s[i] - most);

          sum += weight;
          p[r][j] = weight == 0 ? 0 : weight * kept (a, head, row, begin + j);
        }
      __syncwarp ();
#pragma unroll
      for (int i = 0; i < WIDTH / LANES; i++)
        out[i] *= factor;
      for (int j = 0; j < TILE; j++)
#pragma unroll
        for (int i = 0; i < WIDTH / LANES; i++)
          out[i] += p[r][j] * v[j][lane + i * LANES];
    }
  sum = row_sum<LANES> (sum);
  if (row >= a.rows)
    return;
  for (int i = 0; i < WIDTH / LANES; i++)
    if (lane + i * LANES < a.width)
      qm_store (a.o.array, row_of (a.o, head, row) + lane + i * LANES,
                out[i] / sum);
  if (lane == 0)
    a.lse[(int64_t) head * a.rows + row] = most + logf (sum);
}

/* delta = sum of o dout, a warp a row. */
__global__ void
delta_kernel (Attention a, int64_t count)
{
  int64_t index = blockIdx.x * (int64_t) (THREADS / 32) + threadIdx.x / 32;
  float sum = 0;

  if (index >= count)
    return;
  int head = (int) (index / a.rows), row = (int) (index % a.rows);

  for (int i = threadIdx.x % 32; i < a.width; i += 32)
    sum += qm_load (a.o.array, row_of (a.o, head, row) + i)
           * qm_load (a.dout.array, row_of (a.dout, head, row) + i);
  sum = qm_warp_sum (sum);
  if (threadIdx.x % 32 == 0)
    a.delta[index] = sum;
}

/* One weight and the gradient of its score. */
static __device__ __forceinline__ void
score_gradient (const Attention &a,
                int head,
                int row,
                int column,
                float score,
                float dweight,
                float &weight,
                float &dscore)
{
  int64_t index = (int64_t) head * a.rows + row;
  float factor;

  weight = dscore = 0;
  if (!visible (a, row, column))
    return;
  factor = kept (a, head, row, column);
  weight = expf (a.scale * score - a.lse[index]);
  dscore = a.scale * weight * (factor * dweight - a.delta[index]);
  weight *= factor;
}

/* dq of TILE rows. */
template <int WIDTH, int TILE>
__global__ void
__launch_bounds__ (THREADS) query_gradient_kernel (Attention a)
{
  constexpr int LANES = THREADS / TILE;
  extern __shared__ float memory[];
  float (*q)[WIDTH + 1] = (float (*)[WIDTH + 1]) memory;
  float (*dout)[WIDTH + 1] = q + TILE, (*k)[WIDTH + 1] = dout + TILE;
  float (*v)[WIDTH + 1] = k + TILE;
  float (*ds)[TILE + 1] = (float (*)[TILE + 1]) (v + TILE);
  int head = blockIdx.y, first = blockIdx.x * TILE;
  int r = threadIdx.x / LANES, lane = threadIdx.x % LANES, row = first + r;
  int end = end_of<TILE> (a, first, a.after);
  float dq[WIDTH / LANES] = {};

  load_rows<TILE, WIDTH> (a, a.q, head, first, q);
  load_rows<TILE, WIDTH> (a, a.dout, head, first, dout);
  for (int begin = first_tile<TILE> (first, a.before); begin < end;
       begin += TILE)
    {
      __syncthreads ();
      load_rows<TILE, WIDTH> (a, a.k, head / a.shared, begin, k);
      load_rows<TILE, WIDTH> (a, a.v, head / a.shared, begin, v);
      __syncthreads ();
      for (int j = lane; j < TILE; j += LANES)
        {
          float weight;

          score_gradient (a, head, row, begin + j, dot<WIDTH> (q[r], k[j]),
                          dot<WIDTH> (dout[r], v[j]), weight, ds[r][j]);
        }
      __syncwarp ();
      for (int j = 0; j < TILE; j++)
#pragma unroll
        for (int i = 0; i < WIDTH / LANES; i++)
          dq[i] += ds[r][j] * k[j][lane + i * LANES];
    }
  if (row >= a.rows)
    return;
  for (int i = 0; i < WIDTH / LANES; i++)
    if (lane + i * LANES < a.width)
      qm_store (a.dq.array, row_of (a.dq, head, row) + lane + i * LANES, dq[i]);
}

/* dk and dv of TILE columns, of all heads of queries that share them. */
template <int WIDTH, int TILE>
__global__ void
__launch_bounds__ (THREADS) key_gradient_kernel (Attention a)
{
  constexpr int LANES = THREADS / TILE;
  extern __shared__ float memory[];
  float (*k)[WIDTH + 1] = (float (*)[WIDTH + 1]) memory;
  float (*v)[WIDTH + 1] = k + TILE, (*q)[WIDTH + 1] = v + TILE;
  float (*dout)[WIDTH + 1] = q + TILE;
  float (*p)[TILE + 1] = (float (*)[TILE + 1]) (dout + TILE);
  float (*ds)[TILE + 1] = p + TILE;
  int head = blockIdx.y, first = blockIdx.x * TILE;
  int c = threadIdx.x / LANES, lane = threadIdx.x % LANES, column = first + c;
  float dk[WIDTH / LANES] = {}, dv[WIDTH / LANES] = {};

  load_rows<TILE, WIDTH> (a, a.k, head, first, k);
  load_rows<TILE, WIDTH> (a, a.v, head, first, v);
  int begin_of_head = first_tile<TILE> (first, a.after);
  int end = end_of<TILE> (a, first, a.before);

  for (int query = head * a.shared; query < (head + 1) * a.shared; query++)
    for (int begin = begin_of_head; begin < end; begin += TILE)
      {
        __syncthreads ();
        load_rows<TILE, WIDTH> (a, a.q, query, begin, q);
        load_rows<TILE, WIDTH> (a, a.dout, query, begin, dout);
        __syncthreads ();
        for (int j = lane; j < TILE; j += LANES)
          score_gradient (a, query, begin + j, column, dot<WIDTH> (q[j], k[c]),
                          dot<WIDTH> (dout[j], v[c]), p[c][j], ds[c][j]);
        __syncwarp ();
        for (int j = 0; j < TILE; j++)
#pragma unroll
          for (int i = 0; i < WIDTH / LANES; i++)
            {
              dk[i] += ds[c][j] * q[j][lane + i * LANES];
              dv[i] += p[c][j] * dout[j][lane + i * LANES];
            }
      }
  if (column >= a.rows)
    return;
  for (int i = 0; i < WIDTH / LANES; i++)
    if (lane + i * LANES < a.width)
      {
        qm_store (a.dk.array, row_of (a.dk, head, column) + lane + i * LANES,
                  dk[i]);
        qm_store (a.dv.array, row_of (a.dv, head, column) + lane + i * LANES,
                  dv[i]);
      }
}

static Heads
heads (const QmTensor &tensor)
{
  return { qm_array (tensor), tensor.stride[0], tensor.stride[1],
           tensor.stride[2], (int) tensor.shape[1] };
}

/* Floats of shared memory: rows of `parts` tensors, and `scores` squares. */
static constexpr int
floats (int width, int tile, int parts, int scores)
{
  return parts * tile * (width + 1) + scores * tile * (tile + 1);
}

static cudaError_t
allow (const void *kernel, int bytes)
{
  return cudaFuncSetAttribute (kernel,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes);
}

template <int WIDTH, int TILE>
static cudaError_t
launch_forward (const Attention &a, int64_t count, cudaStream_t stream)
{
  constexpr int bytes = (int) sizeof (float) * floats (WIDTH, TILE, 3, 1);
  dim3 grid ((unsigned) ((a.rows + TILE - 1) / TILE), (unsigned) count);
  cudaError_t code = allow ((const void *) forward_kernel<WIDTH, TILE>, bytes);

  static_assert (bytes <= qm_cuda_shared_limit (75), "a block has so much");
  if (code == cudaSuccess)
    forward_kernel<WIDTH, TILE><<<grid, THREADS, bytes, stream>>> (a);
  return code;
}

template <int WIDTH, int TILE>
static cudaError_t
launch_backward (const Attention &a, int64_t count, cudaStream_t stream)
{
  constexpr int bytes = (int) sizeof (float) * floats (WIDTH, TILE, 4, 2);
  dim3 grid ((unsigned) ((a.rows + TILE - 1) / TILE), (unsigned) count);
  int64_t rows = count * a.rows;
  cudaError_t code =
      allow ((const void *) query_gradient_kernel<WIDTH, TILE>, bytes);

  if (code == cudaSuccess)
    code = allow ((const void *) key_gradient_kernel<WIDTH, TILE>, bytes);
  if (code != cudaSuccess)
    return code;
  delta_kernel<<<(unsigned) ((rows + 3) / 4), THREADS, 0, stream>>> (a, rows);
  query_gradient_kernel<WIDTH, TILE><<<grid, THREADS, bytes, stream>>> (a);
  grid.y /= (unsigned) a.shared;
  key_gradient_kernel<WIDTH, TILE><<<grid, THREADS, bytes, stream>>> (a);
  return cudaSuccess;
}

/* In tiles of half the size where a block has too little memory. */
template <int WIDTH, int TILE>
static cudaError_t
launch (const QmCudaContext *context,
        const Attention &a,
        int64_t count,
        bool backward,
        cudaStream_t stream)
{
  constexpr size_t bytes = sizeof (float) * floats (WIDTH, TILE, 4, 2);
  cudaError_t code;

  static_assert (sizeof (float) * floats (WIDTH, TILE / 2, 4, 2)
                     <= (size_t) qm_cuda_shared_limit (75),
                 "a block has so much");
  code = !backward ? launch_forward<WIDTH, TILE> (a, count, stream)
         : bytes <= context->shared_bytes
             ? launch_backward<WIDTH, TILE> (a, count, stream)
             : launch_backward<WIDTH, TILE / 2> (a, count, stream);
  return code == cudaSuccess ? cudaGetLastError () : code;
}

static QmStatus
run (const QmCudaContext *context,
     Attention &a,
     const QmTensor &q,
     const QmOpCall *call,
     bool backward,
     cudaStream_t stream,
     QmError *error)
{
  int64_t count = q.shape[0] * q.shape[1];
  cudaError_t code;

  a.rows = (int) q.shape[2];
  a.width = (int) q.shape[3];
  a.scale = (float) call->attributes.scale;
  a.shared = (int) (q.shape[1] / a.k.heads);
  a.before = a.rows;
  if (call->attributes.window > 0 && call->attributes.window < a.rows)
    a.before = (int) call->attributes.window - 1;
  a.after = call->attributes.causal != QM_CAUSAL_NONE ? 0 : a.before;
  if (a.width <= 64)
    code = launch<64, 32> (context, a, count, backward, stream);
  else if (a.width <= 128)
    code = launch<128, 32> (context, a, count, backward, stream);
  else
    code = launch<256, 16> (context, a, count, backward, stream);
  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, qm_op_name (call->op), error);
}

QmStatus
qm_cuda_attention_plain (QmCudaContext *context,
                         cudaStream_t stream,
                         const QmOpCall *call,
                         QmError *error)
{
  Attention a = {};

  a.q = heads (call->inputs[0]);
  a.k = heads (call->inputs[1]);
  a.v = heads (call->inputs[2]);
  a.o = heads (call->outputs[0]);
  a.lse = (float *) call->outputs[1].data;
  a.dropout =
      qm_dropout (call->attributes, call->attributes.site, call->inputs[3]);
  return run (context, a, call->inputs[0], call, false, stream, error);
}

QmStatus
qm_cuda_attention_plain_backward (QmCudaContext *context,
                                  cudaStream_t stream,
                                  const QmOpCall *call,
                                  QmError *error)
{
  Attention a = {};

  a.dout = heads (call->inputs[0]);
  a.q = heads (call->inputs[1]);
  a.k = heads (call->inputs[2]);
  a.v = heads (call->inputs[3]);
  a.o = heads (call->inputs[4]);
  a.lse = (float *) call->inputs[5].data;
  a.dq = heads (call->outputs[0]);
  a.dk = heads (call->outputs[1]);
  a.dv = heads (call->outputs[2]);
  a.delta = (float *) call->workspace;
  a.dropout =
      qm_dropout (call->attributes, call->attributes.site, call->inputs[6]);
  return run (context, a, call->inputs[1], call, true, stream, error);
}
