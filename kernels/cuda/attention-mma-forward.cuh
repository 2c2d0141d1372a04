/* SPDX-License-Identifier: Apache-2.0 */

/* Forward attention on compute capability 7.5 and above.  One block takes BM
 * rows of one head and walks over its columns, BN at a time.  Where K and V
 * have one buffer each, each is filled while the other is used. */

#ifndef QM_KERNELS_CUDA_ATTENTION_MMA_FORWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_MMA_FORWARD_CUH

#include "kernels/cuda/attention-mma.cuh"

namespace qm_attention
{

/* How a block divides its work: rows, columns at a time, warps (each has
 * rows of its own), and buffers of K and V. */
template <int BM_, int BN_, int WARPS_, int STAGES_> struct ForwardShape
{
  static constexpr int BM = BM_, BN = BN_, WARPS = WARPS_, STAGES = STAGES_;
};

template <class T, int D, class Shape> struct ForwardTiles
{
  static constexpr int LD = D + 16 / (int) sizeof (T);
  static constexpr int SHARED =
      (Shape::BM + 2 * Shape::STAGES * Shape::BN) * LD * (int) sizeof (T);
};

template <class T, int D, class Shape, bool DROP>
__device__ __forceinline__ void
forward_block (const Params &p)
{
  using M = Mma<T>;
  constexpr int BM = Shape::BM, BN = Shape::BN, WARPS = Shape::WARPS;
  constexpr int LD = ForwardTiles<T, D, Shape>::LD, STAGES = Shape::STAGES;
  constexpr int THREADS = WARPS * 32;
  constexpr int MI = BM / (WARPS * 16); /* 16-row tiles a warp */
  constexpr int NS = BN / 8, NO = D / 8;

  extern __shared__ __align__ (128) char shared[];
  T *sq = reinterpret_cast<T *> (shared);
  T *sk_base = sq + BM * LD;
  T *sv_base = sk_base + STAGES * BN * LD;

  const int row_blocks = (p.seq + BM - 1) / BM;
  const int bh = blockIdx.x / row_blocks;
  /* the longest rows first, where causal */
  const int row0 = (row_blocks - 1 - blockIdx.x % row_blocks) * BM;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int g = lane / 4, t = lane % 4;
  const T *k_head = head_base<T> (p.k, bh / p.shared, p.groups);
  const T *v_head = head_base<T> (p.v, bh / p.shared, p.groups);
  const int first = first_column (p, row0) / BN;
  const int blocks = (end_column (p, row0 + BM - 1) + BN - 1) / BN;

  load_tile_async<T, D, BM, THREADS> (sq, head_base<T> (p.q, bh, p.heads),
                                      p.q.seq_stride, row0, p.seq, p.head_dim);
  load_tile_async<T, D, BN, THREADS> (sk_base, k_head, p.k.seq_stride,
                                      first * BN, p.seq, p.head_dim);
  if (STAGES > 1)
    load_tile_async<T, D, BN, THREADS> (sv_base, v_head, p.v.seq_stride,
                                        first * BN, p.seq, p.head_dim);
  qm_async_commit ();

  float acc[MI][NO][4] = {};
  float row_max[MI][2], row_sum[MI][2];
  Dropout drop;

#pragma unroll
  for (int i = 0; i < MI; i++)
    {
      row_max[i][0] = row_max[i][1] = -INFINITY;
      row_sum[i][0] = row_sum[i][1] = 0;
    }
  if (DROP)
    drop.init (p, bh);

  for (int block = first; block < blocks; block++)
    {
      const int column0 = block * BN;
      const int stage = STAGES > 1 ? (block - first) % 2 * BN * LD : 0;
      const int other = STAGES > 1 ? BN * LD - stage : 0;
      const T *sk = sk_base + stage, *sv = sv_base + stage;
      float s[MI][NS][4] = {};

      qm_async_wait<0> ();
      __syncthreads ();
      if (STAGES == 1)
        load_tile_async<T, D, BN, THREADS> (sv_base, v_head, p.v.seq_stride,
                                            column0, p.seq, p.head_dim);
      else if (block + 1 < blocks)
        {
          load_tile_async<T, D, BN, THREADS> (sk_base + other, k_head,
                                              p.k.seq_stride, column0 + BN,
                                              p.seq, p.head_dim);
          load_tile_async<T, D, BN, THREADS> (sv_base + other, v_head,
                                              p.v.seq_stride, column0 + BN,
                                              p.seq, p.head_dim);
        }
      qm_async_commit ();

#pragma unroll
      for (int k = 0; k < D; k += M::K)
        {
          uint32_t a[MI][4];

#pragma unroll
          for (int i = 0; i < MI; i++)
            M::load_a (a[i], sq, LD, (warp * MI + i) * 16, k, lane);
#pragma unroll
          for (int n = 0; n < BN; n += 16)
            {
              uint32_t b[2][2];

              M::load_b (b, sk, LD, n, k, lane);
#pragma unroll
              for (int i = 0; i < MI; i++)
                {
                  M::multiply (s[i][n / 8], a[i], b[0]);
                  M::multiply (s[i][n / 8 + 1], a[i], b[1]);
                }
            }
        }

      const bool masked = column0 + BN > end_column (p, row0)
                          || column0 < first_column (p, row0 + BM - 1);

#pragma unroll
      for (int i = 0; i < MI; i++)
        {
          const int row = row0 + (warp * MI + i) * 16 + g;

          if (masked)
            {
#pragma unroll
              for (int h = 0; h < 2; h++)
                {
                  /* what the row sees, from the lane's first column on */
                  const int r = row + 8 * h, origin = column0 + t * 2;
                  const int least = r - p.before - origin;
                  const int most = min (p.seq - 1, r + p.after) - origin;

#pragma unroll
                  for (int n = 0; n < 2 * NS; n++)
                    {
                      const int column = n / 2 * 8 + n % 2;

                      if ((column < least) | (column > most))
                        s[i][n / 2][2 * h + n % 2] = -INFINITY;
                    }
                }
            }

#pragma unroll
          for (int h = 0; h < 2; h++)
            {
              float m = row_max[i][h];

#pragma unroll
              for (int n = 0; n < NS; n++)
                m = fmaxf (m, fmaxf (s[i][n][2 * h], s[i][n][2 * h + 1]));
              m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 1));
              m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 2));

              /* a row may have seen no column yet */
              const float base = m == -INFINITY ? 0.0f : m;
              float rescale =
                  exp2_approx ((row_max[i][h] - base) * p.scale_log2);
              float shift = base * p.scale_log2;
              float sum = 0;

              row_max[i][h] = m;
#pragma unroll
              for (int n = 0; n < NS; n++)
#pragma unroll
                for (int e = 2 * h; e < 2 * h + 2; e++)
                  {
                    s[i][n][e] =
                        exp2_approx (fmaf (s[i][n][e], p.scale_log2, -shift));
                    sum += s[i][n][e];
                  }
              row_sum[i][h] = row_sum[i][h] * rescale + sum;
#pragma unroll
              for (int n = 0; n < NO; n++)
                {
                  acc[i][n][2 * h] *= rescale;
                  acc[i][n][2 * h + 1] *= rescale;
                }
            }

          if (DROP)
            {
#pragma unroll
              for (int n = 0; n < NS; n += 2)
                {
                  uint32_t bits[4];

                  drop.bits (bits, (row - g) / 16, (column0 + n * 8) / 16,
                             lane);
#pragma unroll
                  for (int w = 0; w < 4; w++)
                    {
                      float *x = &s[i][n + w / 2][w % 2 * 2];

                      x[0] = drop.keep_low (bits[w]) ? x[0] : 0.0f;
                      x[1] = drop.keep_high (bits[w]) ? x[1] : 0.0f;
                    }
                }
            }
        }

      if (STAGES == 1)
        {
          qm_async_wait<0> ();
          __syncthreads ();
          if (block + 1 < blocks)
            load_tile_async<T, D, BN, THREADS> (sk_base, k_head, p.k.seq_stride,
                                                column0 + BN, p.seq,
                                                p.head_dim);
          qm_async_commit ();
        }

#pragma unroll
      for (int k = 0; k < BN; k += M::K)
        {
          uint32_t a[MI][4];

#pragma unroll
          for (int i = 0; i < MI; i++)
            M::from_accumulators (a[i], s[i], k / M::K);
#pragma unroll
          for (int n = 0; n < D; n += 16)
            {
              uint32_t b[2][2];

              M::load_b_trans (b, sv, LD, n, k, lane);
#pragma unroll
              for (int i = 0; i < MI; i++)
                {
                  M::multiply (acc[i][n / 8], a[i], b[0]);
                  M::multiply (acc[i][n / 8 + 1], a[i], b[1]);
                }
            }
        }
    }

  T *o_head = head_base<T> (p.o, bh, p.heads);

#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      {
        const int row = row0 + (warp * MI + i) * 16 + g + 8 * h;
        float sum = row_sum[i][h];

        sum += __shfl_xor_sync (0xffffffffu, sum, 1);
        sum += __shfl_xor_sync (0xffffffffu, sum, 2);
        if (row >= p.seq)
          continue;
        if (t == 0)
          p.lse[(int64_t) bh * p.seq + row] =
              row_max[i][h] * p.scale + logf (sum);

        float factor = (DROP ? p.keep_scale : 1.0f) / sum;

#pragma unroll
        for (int n = 0; n < NO; n++)
          if (n * 8 < p.head_dim)
            M::store_pair (o_head + row * p.o.seq_stride + n * 8 + t * 2,
                           acc[i][n][2 * h] * factor,
                           acc[i][n][2 * h + 1] * factor);
      }
}

template <class T, int D, class Shape, bool DROP>
__global__ void
__launch_bounds__ (Shape::WARPS * 32, 1)
    portable_forward (const __grid_constant__ Params p)
{
  if constexpr (is_started<T> (ForwardTiles<T, D, Shape>::SHARED))
    forward_block<T, D, Shape, DROP> (p);
  else
    __trap ();
}

template <class T, int D, class Shape>
cudaError_t
launch_forward_shape (const Params &p, cudaStream_t stream)
{
  constexpr int SHARED = ForwardTiles<T, D, Shape>::SHARED;
  auto kernel = p.threshold ? portable_forward<T, D, Shape, true>
                            : portable_forward<T, D, Shape, false>;
  unsigned blocks =
      (unsigned) p.batch * p.heads * ((p.seq + Shape::BM - 1) / Shape::BM);
  cudaError_t status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            SHARED);

  if (status != cudaSuccess)
    return status;
  kernel<<<blocks, Shape::WARPS * 32, SHARED, stream>>> (p);
  return cudaGetLastError ();
}

/* The first of the shapes that a block has enough shared memory for. */
template <class T, int D, class Shape, class... Others>
cudaError_t
launch_forward_fitting (const Params &p, cudaStream_t stream)
{
  if constexpr (sizeof...(Others) > 0)
    if (ForwardTiles<T, D, Shape>::SHARED > p.smem_limit)
      return launch_forward_fitting<T, D, Others...> (p, stream);
  return launch_forward_shape<T, D, Shape> (p, stream);
}

/* The fastest on an H100 of the shapes that fit: 227 KiB there, 163 of 8.0, 99
 * since 8.6, 64 of 7.5 (which has no TF32). */
template <class T, int D>
cudaError_t
launch_portable_forward (const Params &p, cudaStream_t stream)
{
  if constexpr (sizeof (T) == 4 && D <= 128)
    return launch_forward_fitting<
        T, D, ForwardShape<64, (D <= 64 ? 64 : 32), 4, 1>> (p, stream);
  else if constexpr (sizeof (T) == 4)
    return launch_forward_fitting<T, D, ForwardShape<128, 32, 8, 1>,
                                  ForwardShape<64, 16, 4, 1>> (p, stream);
  else if constexpr (D <= 96)
    return launch_forward_fitting<
        T, D, ForwardShape<128, 64, 4, (D <= 32 ? 2 : 1)>> (p, stream);
  else if constexpr (D <= 128)
    return launch_forward_fitting<T, D, ForwardShape<128, 32, 4, 2>,
                                  ForwardShape<128, 32, 4, 1>> (p, stream);
  else
    return launch_forward_fitting<T, D, ForwardShape<64, 64, 4, 1>,
                                  ForwardShape<64, 16, 4, 1>> (p, stream);
}

}

#endif
