/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on compute capability 8.0 and above.  One block keeps N
 * columns (K and V) of one head and walks over the rows, M at a time.  Scores
 * are computed transposed, S' = K Q', so that P' and dS' are left operands of
 * dV += P' dO and dK += dS' Q as they come.  dQ is summed over blocks in an
 * fp32 workspace. */

#ifndef QM_KERNELS_CUDA_ATTENTION_MMA_BACKWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_MMA_BACKWARD_CUH

#include "kernels/cuda/attention-mma.cuh"
#include "kernels/cuda/attention-reduce.cuh"

namespace qm_attention
{

template <class T, int D> struct BackwardTiles
{
  static constexpr bool WIDE = sizeof (T) == 4;
  static constexpr int LEVEL = D <= 64 ? 0 : D <= 128 ? 1 : 2;
  static constexpr int N = WIDE       ? 64 >> LEVEL
                           : D <= 96  ? 128
                           : D <= 128 ? 64
                                      : 32;
  static constexpr int M = WIDE ? 64 >> LEVEL : D <= 128 ? 64 : 32;
  /* Warps along the columns, and along rows or parts of the head size. */
  static constexpr int WK = N / 16;
  static constexpr int WQ = WIDE ? (D <= 64 ? 1 : 2) : D <= 128 ? 1 : 2;
  static constexpr int WARPS = WK * WQ;
  static constexpr int STAGES = !WIDE && D <= 64 ? 2 : 1;
  static constexpr int LD = D + 16 / (int) sizeof (T);
  static constexpr int LDS = (WIDE ? N : M) + 16 / (int) sizeof (T);
  static constexpr int SCORES = (WIDE ? M : N) * LDS;
  /* P' goes through shared memory where warps share rows of dV. */
  static constexpr bool SHARE = WQ > 1;
  static constexpr int SHARED = (2 * N + 2 * STAGES * M) * LD * (int) sizeof (T)
                                + (SHARE ? 2 : 1) * SCORES * (int) sizeof (T)
                                + 2 * M * 4;
};

/* c += A B for the C columns from n on, B from s[k][n] */
template <class T, int C>
__device__ __forceinline__ void
multiply_trans (float (&c)[C / 8][4],
                const uint32_t (&a)[4],
                const T *s,
                int ld,
                int n,
                int k,
                int lane)
{
  using M = Mma<T>;

#pragma unroll
  for (int i = 0; i + 16 <= C; i += 16)
    {
      uint32_t b[2][2];

      M::load_b_trans (b, s, ld, n + i, k, lane);
      M::multiply (c[i / 8], a, b[0]);
      M::multiply (c[i / 8 + 1], a, b[1]);
    }
  if constexpr (C % 16 != 0)
    {
      uint32_t b[2];

      M::load_b8_trans (b, s, ld, n + C - 8, k, lane);
      M::multiply (c[C / 8 - 1], a, b);
    }
}

template <class T, int D, bool DROP>
__global__ void
__launch_bounds__ (BackwardTiles<T, D>::WARPS * 32)
    portable_backward (const __grid_constant__ Params p)
{
  using MM = Mma<T>;
  using Tiles = BackwardTiles<T, D>;
  constexpr int N = Tiles::N, M = Tiles::M, LD = Tiles::LD, LDS = Tiles::LDS;
  constexpr int WK = Tiles::WK, WQ = Tiles::WQ, WARPS = Tiles::WARPS;
  constexpr int THREADS = WARPS * 32, STAGES = Tiles::STAGES;
  constexpr int MS = M / WQ;           /* rows of S a warp computes */
  constexpr int DC = D / WQ;           /* columns of dK, dV a warp sums */
  constexpr int WC = WARPS / (M / 16); /* warps along dQ's columns */
  constexpr int QC = D / WC;
  static_assert (WARPS % (M / 16) == 0 && QC % 8 == 0 && DC % 8 == 0);

  extern __shared__ __align__ (128) char shared[];
  T *sk = reinterpret_cast<T *> (shared);
  T *sv = sk + N * LD;
  T *sq_base = sv + N * LD;
  T *so_base = sq_base + STAGES * M * LD;
  T *sds = so_base + STAGES * M * LD;
  T *sp = sds + (Tiles::SHARE ? Tiles::SCORES : 0);
  float *s_lse = reinterpret_cast<float *> (sp + Tiles::SCORES);
  float *s_delta = s_lse + M;

  const int column_blocks = (p.seq + N - 1) / N;
  const int key_bh = blockIdx.x / column_blocks;
  const int block = blockIdx.x % column_blocks;
  const int column0 = block * N;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int wk = warp % WK, wq = warp / WK;
  const int g = lane / 4, t = lane % 4;
  const int first = first_row (p, column0) / M;
  const int last = (end_row (p, column0 + N - 1) + M - 1) / M;
  const int steps = (last - first) * p.shared;
  int bh = key_bh * p.shared; /* of the rows in work */
  /* Of the rows that are fetched, which are one block ahead. */
  const T *q_head, *o_head;
  const float *lse, *delta;

  auto take_head = [&] (int head) {
    q_head = head_base<T> (p.q, head, p.heads);
    o_head = head_base<T> (p.dout, head, p.heads);
    lse = p.lse + (int64_t) head * p.seq;
    delta = p.delta + (int64_t) head * p.padded_seq;
  };

  take_head (bh);
  load_tile_async<T, D, N, THREADS> (sk, head_base<T> (p.k, key_bh, p.groups),
                                     p.k.seq_stride, column0, p.seq,
                                     p.head_dim);
  load_tile_async<T, D, N, THREADS> (sv, head_base<T> (p.v, key_bh, p.groups),
                                     p.v.seq_stride, column0, p.seq,
                                     p.head_dim);
  load_tile_async<T, D, M, THREADS> (sq_base, q_head, p.q.seq_stride, first * M,
                                     p.seq, p.head_dim);
  load_tile_async<T, D, M, THREADS> (so_base, o_head, p.dout.seq_stride,
                                     first * M, p.seq, p.head_dim);
  copy_commit ();

  float dk[DC / 8][4] = {}, dv[DC / 8][4] = {};
  float my_lse = INFINITY, my_delta = 0;
  Dropout drop;

  auto load_row = [&] (int row0) {
    int row = row0 + threadIdx.x;
    bool valid = threadIdx.x < M && row < p.seq;

    /* an infinite lse makes P zero in the rows past the end */
    my_lse = valid ? lse[row] * LOG2E : INFINITY;
    my_delta = valid ? delta[row] : 0.0f;
  };

  load_row (first * M);
  if (DROP)
    drop.init (p, bh);

  for (int i = 0, m = first; i < steps; i++)
    {
      const int row0 = m * M;
      const bool head_ends = m + 1 == last;
      const int next_row0 = head_ends ? first * M : row0 + M;
      const int stage = STAGES == 2 ? i % 2 : 0;
      const T *sq = sq_base + stage * M * LD;
      const T *so = so_base + stage * M * LD;
      float s[MS / 8][4] = {}, dp[MS / 8][4] = {};

      if (threadIdx.x < M)
        {
          s_lse[threadIdx.x] = my_lse;
          s_delta[threadIdx.x] = my_delta;
        }
      copy_wait<0> ();
      __syncthreads ();
      if (i + 1 < steps)
        {
          if (head_ends)
            take_head (bh + 1);
          load_row (next_row0);
          if (STAGES == 2)
            {
              load_tile_async<T, D, M, THREADS> (sq_base + (stage ^ 1) * M * LD,
                                                 q_head, p.q.seq_stride,
                                                 next_row0, p.seq, p.head_dim);
              load_tile_async<T, D, M, THREADS> (so_base + (stage ^ 1) * M * LD,
                                                 o_head, p.dout.seq_stride,
                                                 next_row0, p.seq, p.head_dim);
              copy_commit ();
            }
        }

#pragma unroll
      for (int k = 0; k < D; k += MM::K)
        {
          uint32_t a[4];

          MM::load_a (a, sk, LD, wk * 16, k, lane);
          if constexpr (MS % 16 == 0)
#pragma unroll
            for (int n = 0; n < MS; n += 16)
              {
                uint32_t b[2][2];

                MM::load_b (b, sq, LD, wq * MS + n, k, lane);
                MM::multiply (s[n / 8], a, b[0]);
                MM::multiply (s[n / 8 + 1], a, b[1]);
              }
          else
            {
              /* both halves are loaded, each warp uses its own */
              uint32_t b[2][2];

              MM::load_b (b, sq, LD, 0, k, lane);
              MM::multiply (s[0], a, b[wq]);
            }
        }
#pragma unroll
      for (int k = 0; k < D; k += MM::K)
        {
          uint32_t a[4];

          MM::load_a (a, sv, LD, wk * 16, k, lane);
          if constexpr (MS % 16 == 0)
#pragma unroll
            for (int n = 0; n < MS; n += 16)
              {
                uint32_t b[2][2];

                MM::load_b (b, so, LD, wq * MS + n, k, lane);
                MM::multiply (dp[n / 8], a, b[0]);
                MM::multiply (dp[n / 8 + 1], a, b[1]);
              }
          else
            {
              uint32_t b[2][2];

              MM::load_b (b, so, LD, 0, k, lane);
              MM::multiply (dp[0], a, b[wq]);
            }
        }

      const bool masked = column0 + N > p.seq
                          || row0 < first_row (p, column0 + N - 1)
                          || row0 + M > column0 + p.before + 1;
      uint32_t bits[4];

#pragma unroll
      for (int n = 0; n < MS / 8; n++)
        {
          const int r = wq * MS + n * 8 + t * 2; /* row in the tile */
          uint32_t keep = 0xf;

          if (DROP)
            {
              const int half = MS % 16 == 0 ? n % 2 : wq;

              if (n % 2 == 0)
                drop.bits (bits, (row0 + wq * MS + n * 8) / 16,
                           (column0 + wk * 16) / 16, lane);
              uint32_t low = transpose8x8 (half ? bits[1] : bits[0]);
              uint32_t high = transpose8x8 (half ? bits[3] : bits[2]);

              keep = drop.keep_low (low) | drop.keep_high (low) << 1
                     | drop.keep_low (high) << 2 | drop.keep_high (high) << 3;
            }
#pragma unroll
          for (int e = 0; e < 4; e++)
            {
              const float l = s_lse[r + e % 2], d = s_delta[r + e % 2];
              float x = exp2_approx (fmaf (s[n][e], p.scale_log2, -l));

              const int c = column0 + wk * 16 + g + e / 2 * 8;

              if (masked && (c >= p.seq || !sees (p, row0 + r + e % 2, c)))
                x = 0;
              if (DROP)
                {
                  bool kept = keep >> e & 1;

                  dp[n][e] = x * ((kept ? dp[n][e] : 0.0f) - d);
                  s[n][e] = kept ? x : 0.0f;
                }
              else
                {
                  dp[n][e] = x * (dp[n][e] - d);
                  s[n][e] = x;
                }
            }
          MM::store_tile (sds, LDS, dp[n], wk * 16, wq * MS + n * 8, lane);
          if (Tiles::SHARE)
            MM::store_tile (sp, LDS, s[n], wk * 16, wq * MS + n * 8, lane);
        }
      if (Tiles::SHARE)
        __syncthreads ();

#pragma unroll
      for (int k = 0; k < M; k += MM::K)
        {
          uint32_t a[4];

          if constexpr (Tiles::SHARE)
            MM::load_tile (a, sp, LDS, wk * 16, k, lane);
          else
            MM::from_accumulators (a, s, k / MM::K);
          multiply_trans<T, DC> (dv, a, so, LD, wq * DC, k, lane);
        }
#pragma unroll
      for (int k = 0; k < M; k += MM::K)
        {
          uint32_t a[4];

          if constexpr (Tiles::SHARE)
            MM::load_tile (a, sds, LDS, wk * 16, k, lane);
          else
            MM::from_accumulators (a, dp, k / MM::K);
          multiply_trans<T, DC> (dk, a, sq, LD, wq * DC, k, lane);
        }
      __syncthreads ();
      if (STAGES == 1 && i + 1 < steps)
        {
          load_tile_async<T, D, M, THREADS> (sq_base, q_head, p.q.seq_stride,
                                             next_row0, p.seq, p.head_dim);
          load_tile_async<T, D, M, THREADS> (so_base, o_head, p.dout.seq_stride,
                                             next_row0, p.seq, p.head_dim);
          copy_commit ();
        }

      {
        float dq[QC / 8][4] = {};
        float *dq_acc = p.dq_acc + (int64_t) bh * p.padded_seq * D;
        int *semaphore = p.semaphore + (int64_t) bh * (p.padded_seq / 16) + m;
        const int turn = block - first_column (p, row0) / N;
        const int r = warp % (M / 16) * 16, c = warp / (M / 16) * QC;

#pragma unroll
        for (int k = 0; k < N; k += MM::K)
          {
            uint32_t a[4];

            MM::load_tile_trans (a, sds, LDS, r, k, lane);
            multiply_trans<T, QC> (dq, a, sk, LD, c, k, lane);
          }
        if (p.deterministic)
          wait_turn (semaphore, turn);
#pragma unroll
        for (int n = 0; n < QC / 8; n++)
          {
            float *to = dq_acc + (row0 + r + g) * D + c + n * 8 + t * 2;

            add2 (to, dq[n][0], dq[n][1]);
            add2 (to + 8 * D, dq[n][2], dq[n][3]);
          }
        if (p.deterministic)
          pass_turn (semaphore, turn);
      }
      if (head_ends)
        {
          bh++;
          if (DROP && i + 1 < steps)
            drop.init (p, bh);
        }
      m = head_ends ? first : m + 1;
    }

  T *dk_head = head_base<T> (p.dk, key_bh, p.groups);
  T *dv_head = head_base<T> (p.dv, key_bh, p.groups);
  const float v_factor = DROP ? p.keep_scale : 1.0f;

#pragma unroll
  for (int h = 0; h < 2; h++)
    {
      const int column = column0 + wk * 16 + g + 8 * h;

      if (column >= p.seq)
        continue;
#pragma unroll
      for (int n = 0; n < DC / 8; n++)
        {
          const int d = wq * DC + n * 8;

          if (d >= p.head_dim)
            continue;
          MM::store_pair (dk_head + column * p.dk.seq_stride + d + t * 2,
                          dk[n][2 * h] * p.grad_scale,
                          dk[n][2 * h + 1] * p.grad_scale);
          MM::store_pair (dv_head + column * p.dv.seq_stride + d + t * 2,
                          dv[n][2 * h] * v_factor, dv[n][2 * h + 1] * v_factor);
        }
    }
}

template <class T, int D>
cudaError_t
launch_portable_backward (const Params &p, cudaStream_t stream)
{
  using Tiles = BackwardTiles<T, D>;
  auto kernel = p.threshold ? portable_backward<T, D, true>
                            : portable_backward<T, D, false>;
  unsigned blocks =
      (unsigned) p.batch * p.groups * ((p.seq + Tiles::N - 1) / Tiles::N);
  cudaError_t status;

  status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            Tiles::SHARED);
  if (status != cudaSuccess)
    return status;
  status = launch_row_sums<T, D> (p, stream);
  if (status != cudaSuccess)
    return status;
  kernel<<<blocks, Tiles::WARPS * 32, Tiles::SHARED, stream>>> (p);
  status = cudaGetLastError ();
  if (status != cudaSuccess)
    return status;
  return launch_convert_dq<T, D> (p, stream);
}

}

#endif
