/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers in FP8 and their scales, as kernels/scaled.h says.
 *
 * The largest magnitudes come first, in a pass of their own: they are compared
 * as whole numbers, which order magnitudes as they are, with what is not a
 * number above all; so it does not matter who comes first.  Then tiles of x
 * are read once more, in the opposite order, because what was read last is
 * still in the cache, and are written as they are and turned. */

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/cuda-workspace.h"
#include "kernels/scaled.h"

#include <cuda_fp8.h>

#include <climits>

namespace
{

constexpr int threads = 256, warps = threads / 32;

/* Of the pass for the largest: a strip is as many columns as a warp reads 8 of
 * a lane at once, and rows, which the warps of a block share; many where each
 * column has a largest of its own, which is told once a strip. */
constexpr int strip_columns = 32 * 8, rows_at_once = 4;
constexpr int rows_of_strip = warps * rows_at_once;
constexpr int rows_of_lines = 4 * rows_of_strip;

/* Of the other: a thread has 4 rows of 16 columns. */
constexpr int tile_rows = 128, tile_columns = 128;
constexpr int thread_rows = 4, thread_columns = 16;
constexpr int row_words = tile_rows / 4; /* of 4 turned numbers */

static_assert (rows_of_strip * 4 >= tile_rows && strip_columns >= tile_columns,
               "as in_tiles() says");
static_assert (tile_rows / thread_rows * (tile_columns / thread_columns)
                   == threads,
               "every thread has its part of a tile");
static_assert (strip_columns == threads, "a thread has a column at the end");
static_assert (warps * strip_columns * sizeof (uint32_t) <= 48 << 10
                   && (tile_columns * row_words + tile_rows + tile_columns)
                              * sizeof (uint32_t)
                          <= 48 << 10,
               "blocks have so much shared memory on every GPU");

/* Where the largest magnitudes go, as bits; each may be NULL.  With a history,
 * that of all is asked for only while nothing is in there. */
struct Largest
{
  uint32_t *rows, *columns, *all;
  const float *history;
  int n_history;
};

struct Matrix
{
  QmArray x;
  int64_t step, rows;
  int columns;
};

struct Quantize
{
  Matrix x;
  unsigned tiles, tiles_across;
  uint8_t *q, *qt;      /* NULL: is not wanted */
  int64_t turned_rows;  /* columns of qt; what is behind the rows of x is 0 */
  const uint32_t *all;  /* the largest of x, without a scale for each row */
  const float *history; /* or NULL */
  int n_history;
  uint32_t *noted;           /* where the largest of x is to go, or NULL */
  const uint32_t *by_row[2]; /* the largest of rows and of columns */
  float *scales[2];          /* of q and of qt, or the one of both */
  float most;
};

__device__ __forceinline__ uint32_t
magnitude (float x)
{
  return __float_as_uint (x) & 0x7fffffffu;
}

__device__ __forceinline__ uint32_t
warp_largest (uint32_t x)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync (0xffffffffu, x);
#else
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    x = max (x, __shfl_xor_sync (0xffffffffu, x, lanes));
  return x;
#endif
}

/* The largest of a history, in every lane. */
__device__ __forceinline__ float
largest_noted (const float *history, int n)
{
  float most = 0;

  for (int i = (int) (threadIdx.x % 32); i < n; i += 32)
    most = fmaxf (most, history[i]);
  return qm_warp_max (most);
}

__device__ __forceinline__ float
scale_of (float amax, float most)
{
  float scale = amax / most;

  return scale < FLT_MIN ? 1 : scale;
}

/* Number `i` of four words. */
template <class T>
__device__ __forceinline__ float number (const uint32_t (&words)[4], int i);

template <>
__device__ __forceinline__ float
number<float> (const uint32_t (&words)[4], int i)
{
  return __uint_as_float (words[i]);
}

template <>
__device__ __forceinline__ float
number<__half> (const uint32_t (&words)[4], int i)
{
  uint32_t word = words[i / 2];

  return __half2float (
      __ushort_as_half ((unsigned short) (i % 2 == 0 ? word : word >> 16)));
}

template <>
__device__ __forceinline__ float
number<__nv_bfloat16> (const uint32_t (&words)[4], int i)
{
  uint32_t word = words[i / 2];

  return __uint_as_float (i % 2 == 0 ? word << 16 : word & 0xffff0000u);
}

/* `count` neighbours of a row, a multiple of 16 bytes of them, as they lie in
 * memory. */
template <class T, int count> struct Raw
{
  static constexpr int vectors = count * (int) sizeof (T) / 16;
  static constexpr int each = 16 / (int) sizeof (T);

  uint32_t words[vectors][4];

  /* What is beyond the matrix is 0; columns are a multiple of `each`. */
  __device__ __forceinline__ void
  read (const Matrix &x, int64_t row, int column)
  {
    const T *from = (const T *) x.x.data + row * x.step + column;

#pragma unroll
    for (int i = 0; i < vectors; i++)
      {
        uint4 vector = make_uint4 (0, 0, 0, 0);

        if (row < x.rows && column + i * each < x.columns)
          vector = *(const uint4 *) (from + i * each);
        words[i][0] = vector.x;
        words[i][1] = vector.y;
        words[i][2] = vector.z;
        words[i][3] = vector.w;
      }
  }

  __device__ __forceinline__ float
  at (int i) const
  {
    return number<T> (words[i / each], i % each);
  }
};

/* The largest of each column of a strip, of all warps. */
__device__ __forceinline__ void
note_columns (const Largest &largest,
              const uint32_t (&most)[8],
              int first_column,
              int columns,
              uint32_t (*shared)[strip_columns])
{
  int lane = (int) (threadIdx.x % 32), warp = (int) (threadIdx.x / 32);
  int column = (int) threadIdx.x;
  uint32_t all = 0;

  __syncthreads ();
#pragma unroll
  for (int i = 0; i < 8; i++)
    shared[warp][lane * 8 + i] = most[i];
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < warps; i++)
    all = max (all, shared[i][column]);
  if (first_column + column < columns)
    atomicMax (largest.columns + first_column + column, all);
}

/* The largest of a strip, in every lane that of the warp's share. */
template <class T, bool lines>
__device__ __forceinline__ uint32_t
strip_largest (const Matrix &x,
               const Largest &largest,
               int64_t first,
               int first_column,
               uint32_t (*shared)[strip_columns])
{
  int lane = (int) (threadIdx.x % 32), warp = (int) (threadIdx.x / 32);
  int column = first_column + lane * 8;
  uint32_t columns[8] = { 0 }, all = 0;
  constexpr int rows = lines ? rows_of_lines : rows_of_strip;

  for (int r = warp * rows_at_once; r < rows; r += rows_of_strip)
    {
      Raw<T, 8> raw[rows_at_once];

#pragma unroll
      for (int i = 0; i < rows_at_once; i++)
        raw[i].read (x, first + r + i, column);
#pragma unroll
      for (int i = 0; i < rows_at_once; i++)
        {
          uint32_t row = 0;

#pragma unroll
          for (int j = 0; j < 8; j++)
            {
              uint32_t m = magnitude (raw[i].at (j));

              row = max (row, m);
              if (lines)
                columns[j] = max (columns[j], m);
            }
          if (lines && largest.rows != nullptr)
            {
              row = warp_largest (row);
              if (lane == 0 && first + r + i < x.rows)
                atomicMax (largest.rows + first + r + i, row);
            }
          all = max (all, row);
        }
    }
  if (lines && largest.columns != nullptr)
    note_columns (largest, columns, first_column, x.columns, shared);
  return all;
}

/* The largest of a block, in its first thread. */
__device__ __forceinline__ uint32_t
block_largest (uint32_t x, uint32_t *shared)
{
  x = warp_largest (x);
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  return warp_largest (threadIdx.x < warps ? shared[threadIdx.x] : 0);
}

template <class T, bool lines>
__global__ void
__launch_bounds__ (threads)
    largest_kernel (const __grid_constant__ Matrix x,
                    const __grid_constant__ Largest largest)
{
  __shared__ uint32_t shared[lines ? warps : 1][strip_columns];
  constexpr int rows = lines ? rows_of_lines : rows_of_strip;
  unsigned across = (unsigned) (x.columns + strip_columns - 1) / strip_columns;
  unsigned strips = (unsigned) ((x.rows + rows - 1) / rows) * across;
  uint32_t all = 0;

  if (largest.history != nullptr
      && largest_noted (largest.history, largest.n_history) > 0)
    return;
  for (unsigned i = blockIdx.x; i < strips; i += gridDim.x)
    all = max (all, strip_largest<T, lines> (x, largest,
                                             (int64_t) (i / across) * rows,
                                             (int) (i % across) * strip_columns,
                                             shared));
  if (lines)
    return;
  all = block_largest (all, shared[0]);
  if (threadIdx.x == 0)
    atomicMax (largest.all, all);
}

/* The same, number by number, for what cannot be read 16 bytes at a time. */
__global__ void
__launch_bounds__ (threads)
    largest_plain_kernel (const __grid_constant__ Matrix x,
                          const __grid_constant__ Largest largest)
{
  __shared__ uint32_t shared[warps];
  int64_t count = x.rows * x.columns;
  uint32_t all = 0;

  if (largest.history != nullptr
      && largest_noted (largest.history, largest.n_history) > 0)
    return;
  for (int64_t i = blockIdx.x * (int64_t) threads + threadIdx.x; i < count;
       i += (int64_t) gridDim.x * threads)
    {
      int64_t row = i / x.columns, column = i % x.columns;
      uint32_t m = magnitude (qm_load (x.x, row * x.step + column));

      all = max (all, m);
      if (largest.rows != nullptr)
        atomicMax (largest.rows + row, m);
      if (largest.columns != nullptr)
        atomicMax (largest.columns + column, m);
    }
  all = block_largest (all, shared);
  if (threadIdx.x == 0 && largest.all != nullptr)
    atomicMax (largest.all, all);
}

/* A number of FP8, for GPUs that have no instruction for it. */
template <__nv_fp8_interpretation_t form>
__device__ __forceinline__ uint32_t
convert (float x)
{
  constexpr int fraction = form == __NV_E4M3 ? 3 : 2;
  constexpr uint32_t most = form == __NV_E4M3 ? 0x7e : 0x7b;
  constexpr uint32_t least = (form == __NV_E4M3 ? 121u : 113u) << 23;
  uint32_t bits = magnitude (x), sign = __float_as_uint (x) >> 24 & 0x80;
  uint32_t half = (1u << (22 - fraction)) - 1, code;

  if (bits > 0x7f800000u)
    return 0x7f;
  if (bits < least)
    code = (uint32_t) rintf (__uint_as_float (bits)
                             * (form == __NV_E4M3 ? 0x1p9f : 0x1p16f));
  else
    {
      bits -= least - (1u << 23);
      code = (bits + half + (bits >> (23 - fraction) & 1)) >> (23 - fraction);
    }
  return sign | min (code, most);
}

/* Two numbers of FP8, the first in the lowest byte. */
template <__nv_fp8_interpretation_t form>
__device__ __forceinline__ uint32_t
pack (float a, float b)
{
#if __CUDA_ARCH__ >= 890
  return __nv_cvt_float2_to_fp8x2 (make_float2 (a, b), __NV_SATFINITE, form);
#else
  return convert<form> (a) | convert<form> (b) << 8;
#endif
}

template <__nv_fp8_interpretation_t form>
__device__ __forceinline__ uint32_t
pack (float a, float b, float c, float d)
{
  return pack<form> (a, b) | pack<form> (c, d) << 16;
}

/* Turns four words of four bytes each. */
__device__ __forceinline__ void
turn (const uint32_t (&from)[4], uint32_t (&to)[4])
{
  uint32_t a = __byte_perm (from[0], from[1], 0x5140);
  uint32_t b = __byte_perm (from[2], from[3], 0x5140);
  uint32_t c = __byte_perm (from[0], from[1], 0x7362);
  uint32_t d = __byte_perm (from[2], from[3], 0x7362);

  to[0] = __byte_perm (a, b, 0x5410);
  to[1] = __byte_perm (a, b, 0x7632);
  to[2] = __byte_perm (c, d, 0x5410);
  to[3] = __byte_perm (c, d, 0x7632);
}

/* Where four turned numbers of a column of the tile lie, in words.  Lanes that
 * write together have columns 16 apart, those that read 4 words each have the
 * words of one column: neither meets itself in the banks. */
__device__ __forceinline__ unsigned
turned_place (unsigned column, unsigned word)
{
  return column * row_words + (word ^ column / thread_columns % 8 * 4);
}

/* The scale of all numbers, in every thread; the first block tells it. */
__device__ __forceinline__ float
one_scale (const Quantize &work)
{
  float amax = 0, scale;

  if (work.history != nullptr)
    amax = largest_noted (work.history, work.n_history);
  if (!(amax > 0))
    amax = __uint_as_float (*work.all);
  scale = scale_of (amax, work.most);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *work.scales[0] = scale;
  return scale;
}

/* What the rows and the columns of a tile are multiplied by; the tiles of the
 * first column tell the scales of their rows, and so on. */
__device__ __forceinline__ void
find_factors (const Quantize &work,
              int64_t first,
              int first_column,
              float (&factors)[2][tile_rows])
{
  static_assert (2 * tile_rows == threads && tile_rows == tile_columns,
                 "a thread has a row or a column");
  int side = (int) (threadIdx.x / tile_rows),
      i = (int) (threadIdx.x % tile_rows);
  int64_t line = (side == 0 ? first : first_column) + i;
  int64_t lines = side == 0 ? work.x.rows : work.x.columns;
  bool told = side == 0 ? first_column == 0 : first == 0;
  float scale = 1;

  if (work.by_row[side] != nullptr && line < lines)
    {
      scale = scale_of (__uint_as_float (work.by_row[side][line]), work.most);
      if (told)
        work.scales[side][line] = scale;
    }
  factors[side][i] = 1 / scale;
}

/* The largest of what a thread has read. */
template <class T>
__device__ __forceinline__ uint32_t
thread_largest (const Raw<T, thread_columns> (&raw)[thread_rows])
{
  uint32_t all = 0;

#pragma unroll
  for (int r = 0; r < thread_rows; r++)
#pragma unroll
    for (int c = 0; c < thread_columns; c++)
      all = max (all, magnitude (raw[r].at (c)));
  return all;
}

__device__ __forceinline__ void
note_largest (const Quantize &work, uint32_t all, uint32_t *shared)
{
  all = block_largest (all, shared);
  if (threadIdx.x == 0)
    atomicMax (work.noted, all);
}

/* The first `count` bytes of a word, perhaps none, and zeros for the others. */
__device__ __forceinline__ uint32_t
kept (uint32_t word, int64_t count)
{
  return count >= 4  ? word
         : count > 0 ? word & ((1u << 8 * (int) count) - 1)
                     : 0;
}

/* From the turned tile to its place in qt. */
__device__ __forceinline__ void
write_turned (const Quantize &work,
              int64_t first,
              int first_column,
              const uint32_t *turned)
{
  int part = (int) (threadIdx.x % 8), column = (int) (threadIdx.x / 8);
  int64_t row = first + part * 16, n = work.x.rows - row;

#pragma unroll
  for (int i = 0; i < tile_columns / 32; i++, column += 32)
    if (row < work.turned_rows && first_column + column < work.x.columns)
      {
        const uint32_t *from = turned + turned_place (column, part * 4);
        uint4 v = *(const uint4 *) from;

        *(uint4 *) (work.qt + (first_column + column) * work.turned_rows
                    + row) = make_uint4 (kept (v.x, n), kept (v.y, n - 4),
                                         kept (v.z, n - 8), kept (v.w, n - 12));
      }
}

/* Blocks of a multiprocessor: as many as leave a thread the registers that it
 * needs. */
template <class T, bool lines>
constexpr int
resident ()
{
  return sizeof (T) == 4 ? 2 : lines ? 3 : 4;
}

/* Columns are a multiple of 16, and so are those of qt where there is one. */
template <class T, __nv_fp8_interpretation_t form, bool lines>
__global__ void
__launch_bounds__ (threads, resident<T, lines> ())
    quantize_kernel (const __grid_constant__ Quantize work)
{
  __shared__ __align__ (16) uint32_t turned[tile_columns * row_words];
  __shared__ __align__ (16) float factors[2][tile_rows];
  unsigned quad = threadIdx.x / 8;
  int row = (int) quad * thread_rows;
  int column = (int) (threadIdx.x % 8) * thread_columns;
  unsigned tile = work.tiles - 1 - blockIdx.x;
  int64_t first = (int64_t) (tile / work.tiles_across) * tile_rows;
  int first_column = (int) (tile % work.tiles_across) * tile_columns;
  Raw<T, thread_columns> raw[thread_rows];
  uint32_t made[thread_rows][4];
  float factor = 1;
  uint32_t all = 0;

#pragma unroll
  for (int r = 0; r < thread_rows; r++)
    raw[r].read (work.x, first + row + r, first_column + column);
  if (!lines && work.noted != nullptr)
    all = thread_largest (raw);
  if (lines)
    {
      find_factors (work, first, first_column, factors);
      __syncthreads ();
    }
  else
    factor = 1 / one_scale (work);
#pragma unroll
  for (int c = 0; c < 4; c++)
    {
      uint32_t four[4], to[4];

#pragma unroll
      for (int r = 0; r < thread_rows; r++)
        {
          float f = lines ? factors[0][row + r] : factor;

          four[r] = made[r][c] =
              pack<form> (raw[r].at (4 * c) * f, raw[r].at (4 * c + 1) * f,
                          raw[r].at (4 * c + 2) * f, raw[r].at (4 * c + 3) * f);
        }
      if (work.qt == nullptr)
        continue;
      if (!lines)
        turn (four, to);
#pragma unroll
      for (int i = 0; i < 4; i++)
        {
          int at = 4 * c + i;
          float f = lines ? factors[1][column + at] : 1;

          if (lines)
            to[i] = pack<form> (raw[0].at (at) * f, raw[1].at (at) * f,
                                raw[2].at (at) * f, raw[3].at (at) * f);
          turned[turned_place (column + at, quad)] = to[i];
        }
    }
  if (work.q != nullptr && first_column + column < work.x.columns)
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
      if (first + row + r < work.x.rows)
        *(uint4 *) (work.q + (first + row + r) * work.x.columns + first_column
                    + column) =
            make_uint4 (made[r][0], made[r][1], made[r][2], made[r][3]);
  if (work.qt != nullptr)
    {
      __syncthreads ();
      write_turned (work, first, first_column, turned);
    }
  if (!lines && work.noted != nullptr)
    note_largest (work, all, (uint32_t *) factors);
}

/* Number by number. */
template <__nv_fp8_interpretation_t form>
__global__ void
__launch_bounds__ (threads)
    quantize_plain_kernel (const __grid_constant__ Quantize work)
{
  __shared__ uint32_t shared[warps];
  int64_t columns = work.x.columns, count = work.x.rows * columns;
  bool lines = work.by_row[0] != nullptr || work.by_row[1] != nullptr;
  float scale = lines ? 1 : one_scale (work), scales[2] = { scale, scale };
  uint32_t all = 0;

  for (int64_t i = blockIdx.x * (int64_t) threads + threadIdx.x; i < count;
       i += (int64_t) gridDim.x * threads)
    {
      int64_t row = i / columns, column = i % columns;
      float x = qm_load (work.x.x, row * work.x.step + column);

      all = max (all, magnitude (x));
#pragma unroll
      for (int side = 0; side < 2; side++)
        if (work.by_row[side] != nullptr)
          {
            int64_t line = side == 0 ? row : column;

            scales[side] =
                scale_of (__uint_as_float (work.by_row[side][line]), work.most);
            if ((side == 0 ? column : row) == 0)
              work.scales[side][line] = scales[side];
          }
      if (work.q != nullptr)
        work.q[i] = (uint8_t) pack<form> (x * (1 / scales[0]), 0);
      if (work.qt != nullptr)
        work.qt[column * work.turned_rows + row] =
            (uint8_t) pack<form> (x * (1 / scales[1]), 0);
    }
  if (work.noted == nullptr)
    return;
  note_largest (work, all, shared);
}

__global__ void
note_amax_kernel (const float *amax, float *history, int64_t rows, int64_t n)
{
  for (int64_t row = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       row < rows; row += (int64_t) gridDim.x * blockDim.x)
    {
      float *to = history + row * n;

      for (int64_t i = n - 1; i > 0; i--)
        to[i] = to[i - 1];
      to[0] = isfinite (amax[row]) ? amax[row] : 0;
    }
}

template <class T>
void
queue_largest (const QmCudaContext *context,
               cudaStream_t stream,
               const Matrix &x,
               const Largest &largest)
{
  bool lines = largest.all == nullptr;
  int rows = lines ? rows_of_lines : rows_of_strip;
  int64_t strips = (x.rows + rows - 1) / rows
                   * ((x.columns + strip_columns - 1) / strip_columns);
  /* With a history blocks mostly leave at once. */
  int64_t most = (int64_t) context->processors
                 * (largest.history != nullptr ? 2 : 2048 / threads);
  unsigned grid = (unsigned) (strips < most ? strips : most);

  if (lines)
    largest_kernel<T, true><<<grid, threads, 0, stream>>> (x, largest);
  else
    largest_kernel<T, false><<<grid, threads, 0, stream>>> (x, largest);
}

template <class T, __nv_fp8_interpretation_t form>
void
queue_form (cudaStream_t stream, const Quantize &work)
{
  if (work.by_row[0] != nullptr || work.by_row[1] != nullptr)
    quantize_kernel<T, form, true><<<work.tiles, threads, 0, stream>>> (work);
  else
    quantize_kernel<T, form, false><<<work.tiles, threads, 0, stream>>> (work);
}

template <class T>
void
queue_tiles (const QmCudaContext *context,
             cudaStream_t stream,
             const Quantize &work,
             const Largest &largest,
             bool e4m3)
{
  queue_largest<T> (context, stream, work.x, largest);
  if (e4m3)
    queue_form<T, __NV_E4M3> (stream, work);
  else
    queue_form<T, __NV_E5M2> (stream, work);
}

void
queue_plain (const QmCudaContext *context,
             cudaStream_t stream,
             const Quantize &work,
             const Largest &largest,
             bool e4m3)
{
  unsigned grid = qm_grid (context, work.x.rows * work.x.columns, threads);

  if (work.turned_rows > work.x.rows)
    cudaMemsetAsync (work.qt, 0, (size_t) (work.turned_rows * work.x.columns),
                     stream);
  largest_plain_kernel<<<grid, threads, 0, stream>>> (work.x, largest);
  if (e4m3)
    quantize_plain_kernel<__NV_E4M3><<<grid, threads, 0, stream>>> (work);
  else
    quantize_plain_kernel<__NV_E5M2><<<grid, threads, 0, stream>>> (work);
}

/* Whether tiles can be read and written 16 bytes at a time, and counted, as can
 * strips, of which there are at most four times as many. */
bool
in_tiles (const QmOpCall *call, int64_t rows)
{
  const QmTensor &x = call->inputs[0];
  int64_t tiles = (rows + tile_rows - 1) / tile_rows
                  * ((x.shape[1] + tile_columns - 1) / tile_columns);

  return qm_cuda_vectors (&x, x.type == QM_TYPE_F32 ? 4 : 8)
         && qm_cuda_vectors (&call->outputs[0], 16)
         && qm_cuda_vectors (&call->outputs[2], 16)
         && x.shape[1] % thread_columns == 0 && tiles <= INT_MAX / 4;
}

/* What the call asks for; the largest magnitudes are cleared. */
Quantize
prepare (const QmOpCall *call, cudaStream_t stream, Largest *largest)
{
  const QmTensor &x = call->inputs[0], &history = call->inputs[1];
  const QmTensor *out = call->outputs;
  QmCudaAmaxLayout layout =
      qm_cuda_amax_layout (x.shape[0], x.shape[1], call->attributes.by_row);
  uint32_t *most = (uint32_t *) call->workspace;
  Quantize work = {};

  work.x = { qm_array (x), qm_row_stride (x), x.shape[0], (int) x.shape[1] };
  work.tiles_across =
      (unsigned) ((x.shape[1] + tile_columns - 1) / tile_columns);
  work.turned_rows = qm_tensor_present (&out[2]) ? out[2].shape[1] : x.shape[0];
  work.tiles = (unsigned) ((work.turned_rows + tile_rows - 1) / tile_rows)
               * work.tiles_across;
  work.q = (uint8_t *) qm_array (out[0]).data;
  work.qt = (uint8_t *) qm_array (out[2]).data;
  work.most = qm_scaled_most (work.q != nullptr ? out[0].type : out[2].type);
  work.scales[0] = (float *) qm_array (out[1]).data;
  work.scales[1] = (float *) qm_array (out[3]).data;
  cudaMemsetAsync (most, 0, (size_t) layout.size * sizeof *most, stream);
  if (call->attributes.by_row)
    {
      work.by_row[0] = largest->rows = work.q != nullptr ? most : nullptr;
      work.by_row[1] = largest->columns =
          work.qt != nullptr ? most + layout.columns : nullptr;
      return work;
    }
  work.all = largest->all = most;
  if (qm_tensor_present (&history))
    {
      work.history = largest->history = (const float *) history.data;
      work.n_history = largest->n_history = (int) history.shape[0];
      work.noted = (uint32_t *) qm_array (out[4]).data;
      if (work.noted != nullptr)
        cudaMemsetAsync (work.noted, 0, sizeof *work.noted, stream);
    }
  return work;
}

} /* namespace */

QmStatus
qm_cuda_quantize (QmCudaContext *context,
                  cudaStream_t stream,
                  const QmOpCall *call,
                  QmError *error)
{
  QmType type = call->inputs[0].type;
  Largest largest = {};
  Quantize work;
  bool e4m3;

  if (call->inputs[0].shape[1] > INT_MAX - tile_columns)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s: %lld columns are too many for a GPU",
                         qm_op_name (call->op),
                         (long long) call->inputs[0].shape[1]);
  work = prepare (call, stream, &largest);
  e4m3 = work.most == qm_scaled_most (QM_TYPE_E4M3);
  if (!in_tiles (call, work.turned_rows))
    queue_plain (context, stream, work, largest, e4m3);
  else if (type == QM_TYPE_F32)
    queue_tiles<float> (context, stream, work, largest, e4m3);
  else if (type == QM_TYPE_F16)
    queue_tiles<__half> (context, stream, work, largest, e4m3);
  else
    queue_tiles<__nv_bfloat16> (context, stream, work, largest, e4m3);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_note_amax (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor &history = call->outputs[0];

  note_amax_kernel<<<qm_grid (context, history.shape[0], threads), threads, 0,
                     stream>>> ((const float *) call->inputs[0].data,
                                (float *) history.data, history.shape[0],
                                history.shape[1]);
  return qm_cuda_launched (call, error);
}
