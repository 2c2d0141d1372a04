/* SPDX-License-Identifier: Apache-2.0 */

/* What the Hopper kernels have in common whose warpgroups have 64 rows, or
 * columns, of the scores each, with all of the other side that these meet in
 * shared memory: a whole head (attention-hopper-whole.cuh, and its forward
 * pass), or what a narrow window lets them see (attention-hopper-band.cuh). */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_SIDE_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_SIDE_CUH

#include "kernels/cuda/attention-turn.cuh"
#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Rows, or columns, of a warpgroup. */
constexpr int SIDE_ROWS = 64;
/* Bytes of shared memory from a multiple of 1024 on. */
constexpr int SIDE_MEMORY = 232448 - 1024;

/* Where a lane has 16 bytes of a row: of step i of the inner dimension, the
 * half that the lane is of. */
template <int D, int ROWS>
__device__ __forceinline__ uint32_t
matrix_row (const void *tile, int r, int i, int lane)
{
  constexpr int BYTES = Chunk<D>::BYTES;
  const int part = i * 32 % BYTES / 16 + lane / 16;

  return shared_u32 (tile) + i * 32 / BYTES * (ROWS * BYTES) + r * BYTES
         + (part ^ (r / (128 / BYTES) % (BYTES / 16))) * 16;
}

/* Scores, or their gradient, of one side's 64 with a block of the other: what
 * is in registers until the products that need it are done. */
template <int R> struct SideScores
{
  float x[R / 2], dp[R / 2];
  uint32_t p[R / 16][4], ds[R / 16][4];
};

/* Which warpgroup of those that multiply a thread is of, and where it is there.
 */
struct Place
{
  const int group, lane, warp;

  __device__ __forceinline__
  Place ()
      : group (__shfl_sync (0xffffffffu, threadIdx.x / WARPGROUP - 1, 0)),
        lane (threadIdx.x % 32), warp (threadIdx.x / 32 % 4)
  {
  }
};

/* Rows of a tile as a left operand in registers: 16 a warp, of which a lane
 * fetches row r. */
template <int D, int ROWS>
__device__ __forceinline__ void
take_rows (uint32_t (&to)[D / 16][4], const void *tile, int r, int lane)
{
#pragma unroll
  for (int i = 0; i < D / 16; i++)
    load_matrices (to[i], matrix_row<D, ROWS> (tile, r, i, lane));
}

/* x = left right', R rows from `right` on */
template <class T, int D, int ROWS, int R>
__device__ __forceinline__ void
multiply_rows (float (&x)[R / 2],
               const uint32_t (&left)[D / 16][4],
               uint32_t right)
{
#pragma unroll
  for (int i = 0; i < D / 16; i++)
    Product<T, R>::template registers<0> (x, left[i],
                                          along_rows<D, ROWS> (right, 0, i),
                                          i > 0);
}

/* sum += left right, R rows from `right` on */
template <class T, int D, int ROWS, int R>
__device__ __forceinline__ void
add_rows (float (&sum)[D / 2],
          const uint32_t (&left)[R / 16][4],
          uint32_t right)
{
#pragma unroll
  for (int i = 0; i < R / 16; i++)
    Product<T, D>::template registers<1> (sum, left[i],
                                          down_rows<D, ROWS> (right, 0, i), 1);
}

/* ds = P (dP - delta); with COLUMNS the other side's are at `from`. */
template <class T, bool COLUMNS, int R>
__device__ __forceinline__ void
differentiate_scores (SideScores<R> &c, uint32_t from, const float (&delta)[2])
{
#pragma unroll
  for (int n = 0; n < R / 8; n++)
    {
      float2 d = make_float2 (0, 0);

      if (COLUMNS)
        d = load_shared2 (from + n * 32);
#pragma unroll
      for (int i = 0; i < 2; i++)
        {
          const float2 p = unpack2<T> (c.p[n / 2][n % 2 * 2 + i]);
          const float *dp = c.dp + n * 4 + 2 * i;

          c.ds[n / 2][n % 2 * 2 + i] =
              pack2<T> (p.x * (dp[0] - (COLUMNS ? d.x : delta[i])),
                        p.y * (dp[1] - (COLUMNS ? d.y : delta[i])));
        }
    }
}

/* What exponentials to base 2 of a row take: an infinite one makes P zero in
 * the rows past the end. */
__device__ __forceinline__ float
side_lse (const Params &p, int bh, int row)
{
  return row < p.seq ? p.lse[(int64_t) bh * p.seq + row] * LOG2E : INFINITY;
}

/* sum += x y, of 16 bytes each */
template <class T>
__device__ __forceinline__ void
add_dot (float &sum, const uint32_t (&x)[4], const uint32_t (&y)[4])
{
#pragma unroll
  for (int w = 0; w < 4; w++)
    {
      const float2 a = unpack2<T> (x[w]), b = unpack2<T> (y[w]);

      sum = fmaf (a.x, b.x, sum);
      sum = fmaf (a.y, b.y, sum);
    }
}

/* The sum over LANES neighbours, for each. */
template <int LANES>
__device__ __forceinline__ float
sum_lanes (float sum)
{
#pragma unroll
  for (int m = LANES / 2; m > 0; m /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, m);
  return sum;
}

/* Stores factor * sum through `out`, of the warpgroup, to the rows of a head
 * from row0 on; what is beyond the last the copy engine leaves out. */
template <class T, int D>
__device__ __forceinline__ void
store_rows (const Params &p,
            const Place &place,
            uint16_t *out,
            const float (&sum)[D / 2],
            float factor,
            const CUtensorMap *to,
            int bh,
            int row0)
{
  const bool first = threadIdx.x % WARPGROUP == 0;
  const int r = place.warp * 16 + place.lane % 16;
  constexpr int E = Chunk<D>::ELEMENTS;

  if (first)
    bulk_wait_read<0> ();
  named_sync (1 + place.group, WARPGROUP);
#pragma unroll
  for (int i = 0; i < D / 16; i++)
    {
      uint32_t words[4];

#pragma unroll
      for (int w = 0; w < 4; w++)
        words[w] = pack2<T> (sum[(2 * i + w / 2) * 4 + w % 2 * 2] * factor,
                             sum[(2 * i + w / 2) * 4 + w % 2 * 2 + 1] * factor);
      store_matrices (matrix_row<D, SIDE_ROWS> (out, r, i, place.lane), words);
    }
  fence_async_proxy ();
  named_sync (1 + place.group, WARPGROUP);
  if (first)
    {
#pragma unroll 1
      for (int c = 0; c < Chunk<D>::COUNT && (c == 0 || c * E < p.head_dim);
           c++)
        store_box (to, out + c * SIDE_ROWS * E, c * E, row0, bh % p.heads,
                   bh / p.heads);
      bulk_commit ();
    }
}

/* Starts a kernel of three warpgroups in blocks that stay on their
 * multiprocessors, with memory for an S that begins at a multiple of 1024. */
template <class S, class H>
cudaError_t
start_side (void (*kernel) (H), int blocks, const H &h, cudaStream_t stream)
{
  constexpr int SHARED = sizeof (S) + 1024; /* for where it begins */
  cudaError_t status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            SHARED);

  static_assert (sizeof (S) <= SIDE_MEMORY, "shared memory");
  if (status != cudaSuccess)
    return status;
  kernel<<<min (blocks, h.p.sm_count), 3 * WARPGROUP, SHARED, stream>>> (h);
  return cudaGetLastError ();
}

/* Where that S is. */
template <class S>
__device__ __forceinline__ S &
side_memory (char *raw)
{
  return *reinterpret_cast<S *> ((reinterpret_cast<uintptr_t> (raw) + 1023)
                                 / 1024 * 1024);
}

}

#endif
