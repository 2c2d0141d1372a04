/* SPDX-License-Identifier: Apache-2.0 */

/* What the scan of Mamba-2 and its gradient share.
 *
 * A block has a head of a sequence, or `P` of its columns, and goes through the
 * rows in chunks of `Q`, with the state of the head in registers, in fp32 (Dao
 * and Gu 2024, 6, with the recurrence over chunks in the block that makes
 * them: so no state goes through memory).  With d[i] the logarithm of how much
 * of the state before a chunk is left behind row i, s the time steps and u = s
 * x, of a chunk
 *
 *   y = ((c b') o L) u + e c S,   L[i, j] = exp(d[i] - d[j]) for j <= i
 *   S = exp(d[last]) S + b' (f u),   e = exp(d), f = exp(d[last] - d)
 *
 * are products of matrices.  No exponent is above 0.  Rows that a chunk lacks
 * have a time step of 0 and zeros otherwise, columns that a tile lacks are
 * zeros: so both change nothing. */

#ifndef QM_KERNELS_CUDA_DUAL_SCAN_CUH
#define QM_KERNELS_CUDA_DUAL_SCAN_CUH

#include "kernels/cuda/cuda-workspace.h"
#include "kernels/cuda/dual-tiles.cuh"
#include "kernels/cuda/scan.cuh"

namespace qm_dual
{

using qm_scan::Matrix;

/* What both are given. */
struct Inputs
{
  Matrix x, dt, b, c;
  const float *a, *skip, *bias;
  int64_t width, sequences;
  int heads, groups, n, p; /* n and p of one group and head */
  int slices;              /* of a head's columns, of P each */
  float least, most;       /* of time steps; `most` may be infinite */
  bool vectors; /* tiles of x, b and c can be read 16 bytes at a time */
};

/* `in` as the scan has it. */
Inputs inputs (const QmOpCall *call, const QmTensor *in, int columns);

/* Element type of tiles, rows of a chunk, and room for states and columns. */
template <class Element, int ROWS, int STATES, int COLUMNS> struct Shape
{
  using T = Element;
  static constexpr int Q = ROWS, N = STATES, P = COLUMNS;
  static constexpr int row_tile = Q * pitch<T> (N);    /* b, c */
  static constexpr int column_tile = Q * pitch<T> (P); /* x, dy */
  static constexpr int state_tile = N * pitch<T> (P);
  static constexpr int square_tile = Q * pitch<T> (Q);
};

/* Bytes of shared memory of the least GPU that a shape is taken for. */
template <class S>
constexpr size_t
room ()
{
  return (size_t) qm_cuda_shared_limit (S::N > 128 ? 86 : S::Q > 32 ? 80 : 75);
}

/* Which part a block has. */
struct Place
{
  int head, slice, group;
  int64_t sequence, row; /* its first */
  int columns;           /* of the slice */
  int64_t first;         /* of these, in rows of x */

  __device__ __forceinline__
  Place (const Inputs &in, int columns_each)
  {
    head = (int) blockIdx.x / in.slices;
    slice = (int) blockIdx.x % in.slices;
    group = head / (in.heads / in.groups);
    sequence = blockIdx.y;
    row = sequence * in.width;
    columns = min (in.p - slice * columns_each, columns_each);
    first = (int64_t) head * in.p + slice * columns_each;
  }
};

/* Copies `count` rows of `from`, from `row` on, and of them `columns` columns
 * from `first` on, to a tile of ROWS x COLUMNS; zeros are the rest. */
template <class T, int ROWS, int COLUMNS>
__device__ __forceinline__ void
load_tile (T *tile,
           const Matrix &from,
           int64_t row,
           int count,
           int64_t first,
           int columns,
           bool vectors)
{
  constexpr int width = 16 / (int) sizeof (T), across = COLUMNS / width;

  static_assert (threads % across == 0, "a thread has one column");
  if (vectors)
    {
      int c = (int) threadIdx.x % across * width;
      const T *data = (const T *) from.array.data;

      if (c < columns)
        data += (row + (int) threadIdx.x / across) * from.step + first + c;
      tile += c;
#pragma unroll
      for (int i = 0; i < (ROWS * across + threads - 1) / threads; i++)
        {
          int r = (int) threadIdx.x / across + i * (threads / across);
          bool inside = r < count && c < columns;

          if (ROWS * across % threads == 0 || r < ROWS)
            qm_async_copy<16> (tile + r * pitch<T> (COLUMNS),
                               inside ? data : (const T *) from.array.data,
                               inside ? 16 : 0);
          data += threads / across * from.step;
        }
    }
  else
#pragma unroll 1
    for (int i = (int) threadIdx.x; i < ROWS * COLUMNS; i += threads)
      {
        int r = i / COLUMNS, c = i % COLUMNS;
        bool inside = r < count && c < columns;

        tile[r * pitch<T> (COLUMNS) + c] = qm_from_float<T> (
            inside ? qm_load (from.array, (row + r) * from.step + first + c)
                   : 0);
      }
}

/* dt with its bias of rows of a chunk, of which a lane of the first warp has
 * some; read before they are needed. */
template <int Q> struct RawSteps
{
  static constexpr int each = Q / 32 > 1 ? Q / 32 : 1;
  float x[each];

  /* From row `first` of a sequence on, which may be none of it. */
  __device__ __forceinline__ void
  read (const Inputs &in, int head, int64_t sequence_row, int64_t first)
  {
    if (threadIdx.x < 32)
#pragma unroll
      for (int k = 0; k < each; k++)
        {
          int64_t r = first + (int) threadIdx.x * each + k;
          bool inside =
              (int) threadIdx.x * each + k < Q && r >= 0 && r < in.width;

          x[k] = inside ? qm_load (in.dt.array,
                                   (sequence_row + r) * in.dt.step + head)
                              + (in.bias != nullptr ? in.bias[head] : 0)
                        : 0;
        }
  }
};

/* What belongs to the rows of a chunk, in shared memory. */
template <int Q> struct Steps
{
  float s[Q];     /* time steps */
  float d[Q];     /* logarithm to the base 2 of what is left */
  float slope[Q]; /* of a step, by dt */

  /* By the first warp; `count` rows are there. */
  __device__ __forceinline__ void
  make (const Inputs &in, const RawSteps<Q> &raw, float rate, int count)
  {
    constexpr int each = RawSteps<Q>::each;
    int lane = (int) threadIdx.x;
    float sum[each], total = 0, before;

#pragma unroll
    for (int k = 0; k < each; k++)
      {
        int r = lane * each + k;
        float soft = qm_scan::softplus (raw.x[k]);
        /* What is no number stays none. */
        float held = soft < in.least ? in.least : soft;
        float step = r < count ? (held > in.most ? in.most : held) : 0;

        if (r < Q)
          {
            s[r] = step;
            slope[r] = soft < in.least || soft > in.most
                           ? 0
                           : qm_scan::softplus_slope (raw.x[k]);
          }
        total += step * rate * qm_scan::log2_e;
        sum[k] = total;
      }
    before = total;
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
      {
        float other = __shfl_up_sync (0xffffffffu, before, lanes);

        if (lane >= lanes)
          before += other;
      }
    before -= total;
#pragma unroll
    for (int k = 0; k < each; k++)
      if (lane * each + k < Q)
        d[lane * each + k] = before + sum[k];
  }

  /* What of row j is left behind row i. */
  __device__ __forceinline__ float
  left (int i, int j) const
  {
    return qm_power_of_2 (d[i] - d[j]);
  }
};

/* Rows of the chunk that begins at row `first` of a sequence. */
template <int Q>
__device__ __forceinline__ int
rows_left (const Inputs &in, int64_t first)
{
  int64_t left = in.width - first;

  return left < Q ? (int) left : Q;
}

/* A tile of columns whose row r is `from` times factor(r); may be `from`. */
template <class S, class F>
__device__ __forceinline__ void
scale_rows (typename S::T *to, const typename S::T *from, F factor)
{
  using T = typename S::T;
  constexpr int width = Vector<T>::width, across = S::P / width;

  for (int i = (int) threadIdx.x; i < S::Q * across; i += threads)
    {
      int r = i / across, at = r * pitch<T> (S::P) + i % across * width;
      float scale = factor (r);
      Vector<T> x;

      x.word = *(const uint4 *) (from + at);
#pragma unroll
      for (int k = 0; k < width; k++)
        x.x[k] = qm_from_float<T> (qm_to_float (x.x[k]) * scale);
      *(uint4 *) (to + at) = x.word;
    }
}

/* state = exp(d[last]) state + b' scaled. */
template <class S>
__device__ __forceinline__ void
advance (Result<S::N, S::P> &state,
         const typename S::T *b,
         const typename S::T *scaled,
         const Steps<S::Q> &steps)
{
  float left = qm_power_of_2 (steps.d[S::Q - 1]);

  state.each ([&] (int, int, float &x) { x *= left; });
  multiply<INNER_FIRST, INNER_FIRST, S::Q> (state, b, scaled);
}

/* States before every chunk, for the gradient: in dual-scan.cu. */
QmStatus keep_states (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      const Inputs &in,
                      const QmCudaDualShape &shape,
                      void *states,
                      QmError *error);

/* Starts a kernel that needs so much shared memory. */
template <class Argument>
QmStatus
start (QmCudaContext *context,
       cudaStream_t stream,
       const QmOpCall *call,
       void (*kernel) (Argument),
       size_t bytes,
       const Inputs &in,
       const Argument &argument,
       QmError *error)
{
  dim3 grid ((unsigned) (in.heads * in.slices), (unsigned) in.sequences);
  cudaError_t code;

  code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            (int) bytes);
  if (code != cudaSuccess)
    return qm_cuda_failed (code, qm_op_name (call->op), error);
  kernel<<<grid, threads, bytes, stream>>> (argument);
  return qm_cuda_launched (call, error);
}

/* Calls `run` with the shape as a type. */
template <class T, class F>
QmStatus
dispatch_as (const F &run,
             const QmCudaDualShape &shape,
             QmCudaContext *context,
             cudaStream_t stream,
             const QmOpCall *call,
             QmError *error)
{
  if constexpr (sizeof (T) == 4)
    return shape.states > 128
               ? run.template operator()<Shape<T, 16, 256, 16>> (context,
                                                                 stream, call,
                                                                 error)
               : run.template operator()<Shape<T, 16, 128, 32>> (context,
                                                                 stream, call,
                                                                 error);
  else if (shape.states > 128)
    return run.template operator()<Shape<T, 32, 256, 32>> (context, stream,
                                                           call, error);
  else
    return shape.rows > 32
               ? run.template operator()<Shape<T, 64, 128, 64>> (context,
                                                                 stream, call,
                                                                 error)
               : run.template operator()<Shape<T, 32, 128, 32>> (context,
                                                                 stream, call,
                                                                 error);
}

template <class F>
QmStatus
dispatch (const F &run,
          const QmCudaDualShape &shape,
          QmCudaContext *context,
          cudaStream_t stream,
          const QmOpCall *call,
          QmError *error)
{
  if (shape.type == QM_TYPE_F16)
    return dispatch_as<__half> (run, shape, context, stream, call, error);
  if (shape.type == QM_TYPE_BF16)
    return dispatch_as<__nv_bfloat16> (run, shape, context, stream, call,
                                       error);
  return dispatch_as<float> (run, shape, context, stream, call, error);
}

/* Whether tiles of these tensors, x first, can be read as vectors. */
static inline bool
reads_vectors (const Inputs &in,
               const QmTensor *const *tensors,
               int count,
               QmType type)
{
  int width = 16 / (int) qm_type_size (type);

  for (int i = 0; i < count; i++)
    if (tensors[i]->type != type || !qm_cuda_vectors (tensors[i], width))
      return false;
  return in.p % width == 0 && (count == 1 || in.n % width == 0);
}

} /* namespace qm_dual */

#endif
