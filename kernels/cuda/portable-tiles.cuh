/* SPDX-License-Identifier: Apache-2.0 */

/* Tiles of products for every GPU: what a block does for one of them.  It makes
 * a tile of d from tiles of a and b that copies bring to shared memory some
 * steps ahead.  Numbers of 16 bits, and of 32 in TF32, go through tensor cores,
 * others are multiplied one by one. */

#ifndef QM_KERNELS_CUDA_PORTABLE_TILES_CUH
#define QM_KERNELS_CUDA_PORTABLE_TILES_CUH

#include "kernels/cuda/attention-mma.cuh"
#include "kernels/cuda/cuda-common.cuh"

namespace qm_portable
{

constexpr int TILE = 128; /* rows and columns of d of a block */
constexpr int THREADS = 256, STAGES = 3;
constexpr int CHUNK = 16; /* bytes that are copied at once */
/* One factor: `outer` of it are rows of a or columns of b. */
struct Factor
{
  const void *data;
  int64_t outer, step, batch_stride;
  bool vectors; /* whether chunks lie where they can be copied at once */
};

/* How a tile of a factor lies in shared memory: as in memory, ALONG the sum or
 * across it.  Rows are a little longer, so that reads do not meet in a bank. */
template <class T, bool ALONG> struct Layout
{
  static constexpr int EACH = CHUNK / (int) sizeof (T);
  static constexpr int INNER = 4 * EACH; /* steps of the sum in a tile */
  static constexpr int ROWS = ALONG ? TILE : INNER;
  static constexpr int COLUMNS = ALONG ? INNER : TILE;
  static constexpr int LD = COLUMNS + (ALONG ? EACH : 8);
  static constexpr int SIZE = ROWS * LD;
};

/* Starts to bring a tile of a factor, `outer` and `inner` being where it
 * begins; what is outside of the matrix, or from `end` of the sum on, is 0. */
template <class T, bool ALONG>
__device__ __forceinline__ void
bring (T *tile,
       const Factor &factor,
       const T *data,
       int64_t outer,
       int64_t inner,
       int64_t end)
{
  using L = Layout<T, ALONG>;
  constexpr int PER_ROW = L::COLUMNS / L::EACH;
  const int64_t rows = ALONG ? factor.outer - outer : end - inner;
  const int64_t columns = ALONG ? end - inner : factor.outer - outer;
  const T *from = ALONG ? data + outer * factor.step + inner
                        : data + inner * factor.step + outer;

#pragma unroll
  for (int i = 0; i < L::ROWS * PER_ROW / THREADS; i++)
    {
      int chunk = (int) threadIdx.x + i * THREADS;
      int row = chunk / PER_ROW, column = chunk % PER_ROW * L::EACH;
      T *to = tile + row * L::LD + column;
      int64_t there = row < rows ? columns - column : 0;
      int n = there < 0 ? 0 : there < L::EACH ? (int) there : L::EACH;

      if (factor.vectors)
        qm_async_copy<CHUNK> (to,
                              n > 0 ? from + row * factor.step + column : data,
                              n * (int) sizeof (T));
      else
#pragma unroll
        for (int j = 0; j < L::EACH; j++)
          to[j] = j < n ? from[row * factor.step + column + j]
                        : qm_from_float<T> (0);
    }
}

/* Through tensor cores: eight warps, each with 64 x 32 elements of d. */
template <class T, bool ALONG_A, bool ALONG_B> struct Tensor
{
  using Mma = qm_attention::Mma<T>;
  using LA = Layout<T, ALONG_A>;
  using LB = Layout<T, ALONG_B>;
  static constexpr int ROWS = 64, COLUMNS = 32;

  float sums[ROWS / 16][COLUMNS / 8][4];
  int lane, row, column;

  __device__ __forceinline__
  Tensor ()
      : sums{}
  {
    int warp = (int) threadIdx.x / 32;

    lane = (int) threadIdx.x % 32;
    row = warp / 4 * ROWS;
    column = warp % 4 * COLUMNS;
  }

  static __device__ __forceinline__ void
  load_a (uint32_t (&a)[4], const T *s, int row, int k, int lane)
  {
    if constexpr (ALONG_A)
      Mma::load_a (a, s, LA::LD, row, k, lane);
    else if constexpr (sizeof (T) == 2)
      Mma::load_a_trans (a, s, LA::LD, row, k, lane);
    else
      {
        const float *p = s + (k + lane % 4) * LA::LD + row + lane / 4;

        a[0] = Mma::round (p[0]);
        a[1] = Mma::round (p[8]);
        a[2] = Mma::round (p[4 * LA::LD]);
        a[3] = Mma::round (p[4 * LA::LD + 8]);
      }
  }

  static __device__ __forceinline__ void
  load_b (uint32_t (&b)[2][2], const T *s, int n, int k, int lane)
  {
    if constexpr (ALONG_B)
      Mma::load_b (b, s, LB::LD, n, k, lane);
    else if constexpr (sizeof (T) == 2)
      Mma::load_b_trans (b, s, LB::LD, n, k, lane);
    else
      {
        const float *p = s + (k + lane % 4) * LB::LD + n + lane / 4;

        b[0][0] = Mma::round (p[0]);
        b[0][1] = Mma::round (p[4 * LB::LD]);
        b[1][0] = Mma::round (p[8]);
        b[1][1] = Mma::round (p[4 * LB::LD + 8]);
      }
  }

  __device__ __forceinline__ void
  add (const T *a, const T *b)
  {
#pragma unroll
    for (int k = 0; k < LA::INNER; k += Mma::K)
      {
        uint32_t fa[ROWS / 16][4], fb[COLUMNS / 16][2][2];

#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
          load_a (fa[i], a, row + i * 16, k, lane);
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; j++)
          load_b (fb[j], b, column + j * 16, k, lane);
#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
          for (int j = 0; j < COLUMNS / 8; j++)
            Mma::multiply (sums[i][j], fa[i], fb[j / 2][j % 2]);
      }
  }

  /* Calls finish (row, column, sum) for every element. */
  template <class Finish>
  __device__ __forceinline__ void
  store (int64_t first_row, int64_t first_column, Finish finish) const
  {
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
        for (int n = 0; n < 4; n++)
          finish (first_row + row + i * 16 + lane / 4 + n / 2 * 8,
                  first_column + column + j * 8 + lane % 4 * 2 + n % 2,
                  sums[i][j][n]);
  }
};

/* In fp32: 16 x 16 threads, each with 8 x 8 elements of d that lie 16 apart. */
template <bool ALONG_A, bool ALONG_B> struct Exact
{
  using LA = Layout<float, ALONG_A>;
  using LB = Layout<float, ALONG_B>;
  static constexpr int APART = 16, EACH = TILE / APART, STEPS = 4;

  float sums[EACH][EACH];
  int row, column;

  __device__ __forceinline__
  Exact ()
      : sums{}
  {
    row = (int) threadIdx.x / APART;
    column = (int) threadIdx.x % APART;
  }

  template <bool ALONG>
  static __device__ __forceinline__ void
  load (float (&x)[EACH][STEPS], const float *s, int first, int k)
  {
    constexpr int LD = Layout<float, ALONG>::LD;

#pragma unroll
    for (int i = 0; i < EACH; i++)
      if constexpr (ALONG)
        {
          float4 four = *(const float4 *) (s + (first + i * APART) * LD + k);

          x[i][0] = four.x;
          x[i][1] = four.y;
          x[i][2] = four.z;
          x[i][3] = four.w;
        }
      else
#pragma unroll
        for (int j = 0; j < STEPS; j++)
          x[i][j] = s[(k + j) * LD + first + i * APART];
  }

  __device__ __forceinline__ void
  add (const float *a, const float *b)
  {
#pragma unroll 1
    for (int k = 0; k < LA::INNER; k += STEPS)
      {
        float xa[EACH][STEPS], xb[EACH][STEPS];

        load<ALONG_A> (xa, a, row, k);
        load<ALONG_B> (xb, b, column, k);
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
          for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
              sums[i][j] += xa[i][step] * xb[j][step];
      }
  }

  /* Calls finish (row, column, sum) for every element. */
  template <class Finish>
  __device__ __forceinline__ void
  store (int64_t first_row, int64_t first_column, Finish finish) const
  {
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
      for (int j = 0; j < EACH; j++)
        finish (first_row + row + i * APART, first_column + column + j * APART,
                sums[i][j]);
  }
};

/* Adds the steps [begin, end) of the sum of the tile that begins at a row and a
 * column of d, with factors at `a` and `b`. */
template <class T, bool ALONG_A, bool ALONG_B, class Sums>
__device__ __forceinline__ void
add_steps (Sums &sums,
           unsigned char *shared,
           const Factor &factor_a,
           const T *a,
           const Factor &factor_b,
           const T *b,
           int64_t row,
           int64_t column,
           int64_t begin,
           int64_t end)
{
  using LA = Layout<T, ALONG_A>;
  using LB = Layout<T, ALONG_B>;
  constexpr int STEP = LA::INNER;
  T *tiles_a = (T *) shared, *tiles_b = tiles_a + STAGES * LA::SIZE;
  int steps = (int) ((end - begin + STEP - 1) / STEP);

  auto bring_step = [&] (int step) {
    if (step < steps)
      {
        int64_t inner = begin + (int64_t) step * STEP;
        int stage = step % STAGES;

        bring<T, ALONG_A> (tiles_a + stage * LA::SIZE, factor_a, a, row, inner,
                           end);
        bring<T, ALONG_B> (tiles_b + stage * LB::SIZE, factor_b, b, column,
                           inner, end);
      }
    qm_async_commit ();
  };

#pragma unroll
  for (int step = 0; step < STAGES - 1; step++)
    bring_step (step);
  for (int step = 0; step < steps; step++)
    {
      qm_async_wait<STAGES - 2> ();
      /* Also: nobody reads any longer what is overwritten now. */
      __syncthreads ();
      bring_step (step + STAGES - 1);
      sums.add (tiles_a + step % STAGES * LA::SIZE,
                tiles_b + step % STAGES * LB::SIZE);
    }
}

/* Shared memory of a block. */
template <class T, bool ALONG_A, bool ALONG_B>
constexpr int
tile_bytes ()
{
  return STAGES * (Layout<T, ALONG_A>::SIZE + Layout<T, ALONG_B>::SIZE)
         * (int) sizeof (T);
}

}

#endif
