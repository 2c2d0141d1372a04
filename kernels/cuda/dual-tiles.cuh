/* SPDX-License-Identifier: Apache-2.0 */

/* Products of tiles in shared memory, whose results a block keeps in
 * registers.
 *
 * A result of ROWS x COLUMNS is divided among eight warps in squares of 16,
 * which are two accumulators of matrix instructions each.  Functions that go
 * through a result are given row and column, and so know nothing of that. */

#ifndef QM_KERNELS_CUDA_DUAL_TILES_CUH
#define QM_KERNELS_CUDA_DUAL_TILES_CUH

#include "kernels/cuda/attention-mma.cuh"
#include "kernels/cuda/cuda-common.cuh"

namespace qm_dual
{

constexpr int warps = 8, threads = 32 * warps;

/* Whether code for this architecture is ever started for tiles of type T with
 * so much shared memory; fp32 is multiplied and added as it is, on all of them.
 */
template <class T>
__device__ constexpr bool
is_started (int shared_bytes)
{
#ifdef __CUDA_ARCH__
  return shared_bytes <= qm_cuda_shared_limit (__CUDA_ARCH__ / 10)
         && (__CUDA_ARCH__ >= 800 || !__is_same(T, __nv_bfloat16));
#else
  return true;
#endif
}

/* Rows of a tile are 16 bytes longer than what they hold, so that eight of them
 * never meet in a bank. */
template <class T>
__host__ __device__ constexpr int
pitch (int columns)
{
  return columns + 16 / (int) sizeof (T);
}

template <class T>
__device__ constexpr QmType
type_of ()
{
  return sizeof (T) == 4        ? QM_TYPE_F32
         : __is_same(T, __half) ? QM_TYPE_F16
                                : QM_TYPE_BF16;
}

/* How a result is divided: `down` warps below each other, `across` beside. */
template <int ROWS, int COLUMNS> struct Result
{
  static constexpr int down = ROWS / 16 < 4 ? ROWS / 16 : 4;
  static constexpr int across = warps / down;
  static constexpr int high = ROWS / 16 / down;
  static constexpr int squares = COLUMNS / 16;
  static constexpr int wide = (squares + across - 1) / across;

  static_assert (ROWS % 16 == 0 && COLUMNS % 16 == 0 && high * down * 16 == ROWS
                     && squares % wide == 0,
                 "squares of 16");

  float x[high][wide][2][4];

  static __device__ __forceinline__ int
  warp_row ()
  {
    return (int) threadIdx.x / 32 / across * high * 16;
  }

  static __device__ __forceinline__ int
  warp_column ()
  {
    return (int) threadIdx.x / 32 % across * wide * 16;
  }

  /* Small results leave warps with nothing. */
  static __device__ __forceinline__ bool
  takes_part ()
  {
    return warp_column () < COLUMNS;
  }

  __device__ __forceinline__ void
  clear ()
  {
#pragma unroll
    for (int i = 0; i < high; i++)
#pragma unroll
      for (int j = 0; j < wide; j++)
#pragma unroll
        for (int k = 0; k < 8; k++)
          x[i][j][k / 4][k % 4] = 0;
  }

  /* f(row, column, element) of all. */
  template <class F>
  __device__ __forceinline__ void
  each (F f)
  {
    int row = warp_row () + (int) threadIdx.x % 32 / 4;
    int column = warp_column () + (int) threadIdx.x % 4 * 2;

    if (takes_part ())
#pragma unroll
      for (int i = 0; i < high; i++)
#pragma unroll
        for (int j = 0; j < wide; j++)
#pragma unroll
          for (int k = 0; k < 8; k++)
            f (row + i * 16 + k / 2 % 2 * 8,
               column + j * 16 + k / 4 * 8 + k % 2, x[i][j][k / 4][k % 4]);
  }

  /* f(row, column, element, the next one) of all, in pairs of a row. */
  template <class F>
  __device__ __forceinline__ void
  pairs (F f)
  {
    int row = warp_row () + (int) threadIdx.x % 32 / 4;
    int column = warp_column () + (int) threadIdx.x % 4 * 2;

    if (takes_part ())
#pragma unroll
      for (int i = 0; i < high; i++)
#pragma unroll
        for (int j = 0; j < wide; j++)
#pragma unroll
          for (int k = 0; k < 4; k++)
            f (row + i * 16 + k % 2 * 8, column + j * 16 + k / 2 * 8,
               x[i][j][k / 2][k % 2 * 2], x[i][j][k / 2][k % 2 * 2 + 1]);
  }

  /* To `count` rows of memory that are `step` elements apart, `columns` of
   * each; with `fits` two elements at once where all columns are there. */
  template <class T>
  __device__ __forceinline__ void
  write (T *to, int64_t step, int count, int columns, bool fits) const
  {
    int lane = (int) threadIdx.x % 32, column = warp_column () + lane % 4 * 2;
    bool whole = fits && columns >= COLUMNS;

    if (takes_part ())
#pragma unroll
      for (int i = 0; i < 2 * high; i++)
        {
          int row = warp_row () + lane / 4 + i * 8;
          T *at = to + row * step + column;

          if (row < count && whole)
#pragma unroll
            for (int k = 0; k < 2 * wide; k++)
              qm_attention::Mma<T>::store_pair (
                  at + k * 8, x[i / 2][k / 2][k % 2][i % 2 * 2],
                  x[i / 2][k / 2][k % 2][i % 2 * 2 + 1]);
          else if (row < count)
#pragma unroll
            for (int k = 0; k < 4 * wide; k++)
              if (column + k / 2 * 8 + k % 2 < columns)
                at[k / 2 * 8 + k % 2] = qm_from_float<T> (
                    x[i / 2][k / 4][k / 2 % 2][i % 2 * 2 + k % 2]);
        }
  }

  /* The same to an array of any type, from `first` on. */
  template <class T>
  __device__ __forceinline__ void
  write_to (const QmArray &array,
            int64_t first,
            int64_t step,
            int count,
            int columns,
            bool fits)
  {
    if (array.type == type_of<T> ())
      write<T> ((T *) array.data + first, step, count, columns, fits);
    else
      each ([&] (int row, int column, float &element) {
        if (row < count && column < columns)
          qm_store (array, first + row * step + column, element);
      });
  }

  /* To a tile of ROWS x COLUMNS. */
  template <class T>
  __device__ __forceinline__ void
  store (T *to)
  {
    pairs ([&] (int row, int column, float &low, float &high_one) {
      qm_attention::Mma<T>::store_pair (to + row * pitch<T> (COLUMNS) + column,
                                        low, high_one);
    });
  }

  /* Sums of f(row, column, element, the next one) over the columns of each row,
   * as far as a warp has them: parts[n][ROWS], of n = across. */
  template <class F>
  __device__ __forceinline__ void
  row_sums (float *parts, F f)
  {
    int lane = (int) threadIdx.x % 32;
    float sum[high][2] = {};

    if (takes_part ())
#pragma unroll
      for (int i = 0; i < high; i++)
#pragma unroll
        for (int j = 0; j < wide; j++)
#pragma unroll
          for (int k = 0; k < 4; k++)
            sum[i][k % 2] +=
                f (warp_row () + lane / 4 + i * 16 + k % 2 * 8,
                   warp_column () + lane % 4 * 2 + j * 16 + k / 2 * 8,
                   x[i][j][k / 2][k % 2 * 2], x[i][j][k / 2][k % 2 * 2 + 1]);
#pragma unroll
    for (int i = 0; i < high; i++)
#pragma unroll
      for (int half = 0; half < 2; half++)
        {
          float all = sum[i][half];

          all += __shfl_xor_sync (0xffffffffu, all, 1);
          all += __shfl_xor_sync (0xffffffffu, all, 2);
          if (lane % 4 == 0)
            parts[(int) threadIdx.x / 32 % across * ROWS + warp_row ()
                  + lane / 4 + i * 16 + half * 8] = all;
        }
  }

  /* Of all elements over the rows of each column: parts[n][COLUMNS], of n =
   * down. */
  __device__ __forceinline__ void
  column_sums (float *parts)
  {
    int lane = (int) threadIdx.x % 32;

    if (!takes_part ())
      return;
#pragma unroll
    for (int j = 0; j < wide; j++)
#pragma unroll
      for (int k = 0; k < 4; k++)
        {
          float all = 0;

#pragma unroll
          for (int i = 0; i < high; i++)
            all += x[i][j][k / 2][k % 2] + x[i][j][k / 2][k % 2 + 2];
          all += __shfl_xor_sync (0xffffffffu, all, 4);
          all += __shfl_xor_sync (0xffffffffu, all, 8);
          all += __shfl_xor_sync (0xffffffffu, all, 16);
          if (lane < 4)
            parts[(int) threadIdx.x / 32 / across * COLUMNS + warp_column ()
                  + lane * 2 + j * 16 + k / 2 * 8 + k % 2] = all;
        }
  }
};

/* Two elements of a row of a tile, from an even column on. */
template <class T>
__device__ __forceinline__ float2
two (const T *from)
{
  if constexpr (sizeof (T) == 4)
    return *(const float2 *) from;
  else
    return qm_attention::unpack2<T> (*(const uint32_t *) from);
}

/* Elements that are 16 bytes. */
template <class T> struct Vector
{
  static constexpr int width = 16 / (int) sizeof (T);

  union
  {
    uint4 word;
    T x[width];
  };

  __device__ __forceinline__
  Vector ()
  {
  }
};

/* How a factor lies in shared memory: the left one as [rows][inner] or
 * [inner][rows], the right one as [columns][inner] or [inner][columns]. */
enum Order
{
  INNER_LAST,
  INNER_FIRST
};

/* result += left x right over `INNER`; tiles of T with their pitches. */
template <Order LEFT, Order RIGHT, int INNER, class T, int ROWS, int COLUMNS>
__device__ __forceinline__ void
multiply (Result<ROWS, COLUMNS> &result, const T *left, const T *right)
{
  using R = Result<ROWS, COLUMNS>;
  constexpr int ld_left = pitch<T> (LEFT == INNER_LAST ? INNER : ROWS);
  constexpr int ld_right = pitch<T> (RIGHT == INNER_LAST ? INNER : COLUMNS);
  int row = R::warp_row (), column = R::warp_column ();
  int lane = (int) threadIdx.x % 32;

  if (!R::takes_part ())
    return;
  if constexpr (sizeof (T) == 4)
    {
      for (int k = 0; k < INNER; k++)
        {
          float a[R::high][2], b[R::wide][2][2];

#pragma unroll
          for (int i = 0; i < R::high * 2; i++)
            {
              int r = row + lane / 4 + i * 8;

              a[i / 2][i % 2] = LEFT == INNER_LAST ? left[r * ld_left + k]
                                                   : left[k * ld_left + r];
            }
#pragma unroll
          for (int j = 0; j < R::wide * 4; j++)
            {
              int c = column + lane % 4 * 2 + j / 2 * 8 + j % 2;

              b[j / 4][j / 2 % 2][j % 2] = RIGHT == INNER_LAST
                                               ? right[c * ld_right + k]
                                               : right[k * ld_right + c];
            }
#pragma unroll
          for (int i = 0; i < R::high; i++)
#pragma unroll
            for (int j = 0; j < R::wide; j++)
#pragma unroll
              for (int e = 0; e < 8; e++)
                result.x[i][j][e / 4][e % 4] +=
                    a[i][e / 2 % 2] * b[j][e / 4][e % 2];
        }
    }
  else
    {
      using Mma = qm_attention::Mma<T>;

#pragma unroll 4
      for (int k = 0; k < INNER; k += Mma::K)
        {
          uint32_t a[R::high][4], b[2][2];

#pragma unroll
          for (int i = 0; i < R::high; i++)
            if (LEFT == INNER_LAST)
              Mma::load_a (a[i], left, ld_left, row + i * 16, k, lane);
            else
              Mma::load_a_trans (a[i], left, ld_left, row + i * 16, k, lane);
#pragma unroll
          for (int j = 0; j < R::wide; j++)
            {
              if (RIGHT == INNER_LAST)
                Mma::load_b (b, right, ld_right, column + j * 16, k, lane);
              else
                Mma::load_b_trans (b, right, ld_right, column + j * 16, k,
                                   lane);
#pragma unroll
              for (int i = 0; i < R::high; i++)
                {
                  Mma::multiply (result.x[i][j][0], a[i], b[0]);
                  Mma::multiply (result.x[i][j][1], a[i], b[1]);
                }
            }
        }
    }
}

} /* namespace qm_dual */

#endif
