/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on compute capability 7.5 and above.  One block keeps N
 * columns (K and V) of one head and walks over the rows, M at a time.  Scores
 * are computed transposed, S' = K Q', so that P' and dS' are left operands of
 * dV += P' dO and dK += dS' Q as they come, or through shared memory where
 * warps share columns.  dQ is summed over blocks in an fp32 workspace; where
 * one block has all columns of a head, it has the whole of dQ and writes it. */

#ifndef QM_KERNELS_CUDA_ATTENTION_MMA_BACKWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_MMA_BACKWARD_CUH

#include "kernels/cuda/attention-mma.cuh"
#include "kernels/cuda/attention-reduce.cuh"

namespace qm_attention
{

/* How a block divides its work: N columns, M rows at a time, over
 * WARPS warps; SN of these are along the columns of the scores, KN along those
 * of dK and dV, QM along the rows of dQ, and all others along the rows of the
 * scores or the head size.  STAGES buffers of Q and dO; KEEP: the operands of
 * K and V for the scores stay in registers; BLOCKS that a multiprocessor is to
 * have; WHOLE: no sequence is longer than N. */
template <int N_,
          int M_,
          int WARPS_,
          int SN_,
          int KN_,
          int QM_,
          int STAGES_,
          bool KEEP_ = false,
          int BLOCKS_ = 1,
          bool WHOLE_ = false>
struct BackwardShape
{
  static constexpr int N = N_, M = M_, WARPS = WARPS_, STAGES = STAGES_;
  static constexpr int SN = SN_, SM = WARPS / SN_;
  static constexpr int KN = KN_, KD = WARPS / KN_;
  static constexpr int QM = QM_, QD = WARPS / QM_;
  static constexpr bool KEEP = KEEP_;
  static constexpr int BLOCKS = BLOCKS_;
  static constexpr bool WHOLE = WHOLE_;
  /* Whether P' and dS' go through shared memory to where they are
   * multiplied. */
  static constexpr bool SHARE = SM > 1 || KN != SN;
};

template <class T, int D, class Shape> struct BackwardTiles
{
  static constexpr bool WIDE = sizeof (T) == 4;
  static constexpr int N = Shape::N, M = Shape::M;
  static constexpr int LD = D + 16 / (int) sizeof (T);
  static constexpr int LDS = (WIDE ? N : M) + 16 / (int) sizeof (T);
  static constexpr int SCORES = (WIDE ? M : N) * LDS;
  static constexpr int SHARED =
      (2 * N + 2 * Shape::STAGES * M) * LD * (int) sizeof (T)
      + (Shape::SHARE ? 2 : 1) * SCORES * (int) sizeof (T) + 2 * M * 4;
};

/* c[i] += A[i] B for the C columns from n on, B from s[k][n] */
template <class T, int C, int I>
__device__ __forceinline__ void
multiply_trans (float (&c)[I][C / 8][4],
                const uint32_t (&a)[I][4],
                const T *s,
                int ld,
                int n,
                int k,
                int lane)
{
  using M = Mma<T>;

#pragma unroll
  for (int j = 0; j + 16 <= C; j += 16)
    {
      uint32_t b[2][2];

      M::load_b_trans (b, s, ld, n + j, k, lane);
#pragma unroll
      for (int i = 0; i < I; i++)
        {
          M::multiply (c[i][j / 8], a[i], b[0]);
          M::multiply (c[i][j / 8 + 1], a[i], b[1]);
        }
    }
  if constexpr (C % 16 != 0)
    {
      uint32_t b[2];

      M::load_b8_trans (b, s, ld, n + C - 8, k, lane);
#pragma unroll
      for (int i = 0; i < I; i++)
        M::multiply (c[i][C / 8 - 1], a[i], b);
    }
}

/* c[i] = A[i] B over the head size: A rows of `left` from row on, or `kept`,
 * B the C rows of `right` from n on. */
template <class T, int D, int C, int I, bool KEPT, int STEPS>
__device__ __forceinline__ void
multiply_rows (float (&c)[I][C / 8][4],
               const uint32_t (&kept)[STEPS][I][4],
               const T *left,
               const T *right,
               int row,
               int n,
               int lane)
{
  using M = Mma<T>;
  constexpr int LD = D + 16 / (int) sizeof (T);

#pragma unroll
  for (int k = 0; k < D; k += M::K)
    {
      uint32_t a[I][4];

#pragma unroll
      for (int i = 0; i < I; i++)
        if constexpr (KEPT)
#pragma unroll
          for (int j = 0; j < 4; j++)
            a[i][j] = kept[k / M::K][i][j];
        else
          M::load_a (a[i], left, LD, row + i * 16, k, lane);
      if constexpr (C % 16 == 0)
#pragma unroll
        for (int j = 0; j < C; j += 16)
          {
            uint32_t b[2][2];

            M::load_b (b, right, LD, n + j, k, lane);
#pragma unroll
            for (int i = 0; i < I; i++)
              {
                M::multiply (c[i][j / 8], a[i], b[0]);
                M::multiply (c[i][j / 8 + 1], a[i], b[1]);
              }
          }
      else
        {
          /* both halves are loaded, each warp uses its own */
          uint32_t b[2][2];

          static_assert (C == 8);
          M::load_b (b, right, LD, n / 16 * 16, k, lane);
#pragma unroll
          for (int i = 0; i < I; i++)
            M::multiply (c[i][0], a[i], b[n / 8 % 2]);
        }
    }
}

/* c += S' B for the scores of one step: S' from a shared tile, or `own`, and
 * the C columns of B from n on. */
template <class T, class Tiles, int C, int I, int SI, int SC, bool SHARE>
__device__ __forceinline__ void
add_products (float (&c)[I][C / 8][4],
              const float (&own)[SI][SC / 8][4],
              const T *tile,
              const T *right,
              int row,
              int n,
              int lane)
{
  using MM = Mma<T>;

#pragma unroll
  for (int k = 0; k < Tiles::M; k += MM::K)
    {
      uint32_t a[I][4];

#pragma unroll
      for (int i = 0; i < I; i++)
        if constexpr (SHARE)
          MM::load_tile (a[i], tile, Tiles::LDS, row + i * 16, k, lane);
        else
          MM::from_accumulators (a[i], own[i], k / MM::K);
      multiply_trans<T, C, I> (c, a, right, Tiles::LD, n, k, lane);
    }
}

/* The sums of dQ lie in the order of the accumulators, 16 x 8 elements after
 * each other, so that what a warp adds at once lies together: four of a lane,
 * or one of every lane where the GPU adds no more at once. */
__device__ __forceinline__ void
add_fragment (float *to, const float (&x)[4], int lane)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(
                   to + lane * 4),
               "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
#else
#pragma unroll
  for (int e = 0; e < 4; e++)
    atomicAdd (to + e * 32 + lane, x[e]);
#endif
}

/* Rows g and g + 8 of such a piece. */
__device__ __forceinline__ void
load_fragment (float (&x)[2][8], const float *from, int g)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    {
#if __CUDA_ARCH__ >= 900
      float4 y = __ldcs (reinterpret_cast<const float4 *> (from) + g * 4 + i);

      x[0][2 * i] = y.x;
      x[0][2 * i + 1] = y.y;
      x[1][2 * i] = y.z;
      x[1][2 * i + 1] = y.w;
#else
      float4 y = __ldcs (reinterpret_cast<const float4 *> (from) + i * 8 + g);

      x[i / 2][i % 2] = y.x;
      x[i / 2][i % 2 + 2] = y.y;
      x[i / 2][i % 2 + 4] = y.z;
      x[i / 2][i % 2 + 6] = y.w;
#endif
    }
}

/* dQ in its own type; a thread has 8 columns of two rows. */
template <class T, int D>
__global__ void __launch_bounds__ (256)
    convert_fragments (const __grid_constant__ Params p)
{
  const int64_t index = (int64_t) blockIdx.x * 256 + threadIdx.x;
  const int g = (int) (index % 8);
  const int columns = p.head_dim / 8, tiles = (p.seq + 15) / 16;
  const int column = (int) (index / 8 % columns);
  const int tile = (int) (index / 8 / columns % tiles);
  const int64_t bh = index / 8 / columns / tiles;
  float x[2][8];

  if (bh >= (int64_t) p.batch * p.heads)
    return;
  load_fragment (
      x,
      p.dq_acc + ((bh * (p.padded_seq / 16) + tile) * (D / 8) + column) * 128,
      g);
#pragma unroll
  for (int h = 0; h < 2; h++)
    {
      const int row = tile * 16 + g + 8 * h;
      T *to = head_base<T> (p.dq, (int) bh, p.heads) + row * p.dq.seq_stride
              + column * 8;
      uint32_t out[2 * sizeof (T)];

      if (row >= p.seq)
        continue;
#pragma unroll
      for (int i = 0; i < 8; i++)
        x[h][i] *= p.grad_scale;
      if constexpr (sizeof (T) == 4)
#pragma unroll
        for (int i = 0; i < 8; i++)
          out[i] = __float_as_uint (x[h][i]);
      else
#pragma unroll
        for (int i = 0; i < 4; i++)
          out[i] = pack2<T> (x[h][2 * i], x[h][2 * i + 1]);
#pragma unroll
      for (int i = 0; i < (int) sizeof (T) / 2; i++)
        reinterpret_cast<uint4 *> (to)[i] =
            make_uint4 (out[4 * i], out[4 * i + 1], out[4 * i + 2],
                        out[4 * i + 3]);
    }
}

/* From scores and their gradient (before the softmax) of 16 x C elements of
 * S' to P' and dS'.  column and row are those of the first. */
template <bool DROP, int C>
__device__ __forceinline__ void
differentiate (const Params &p,
               const Dropout &drop,
               float (&s)[C / 8][4],
               float (&dp)[C / 8][4],
               const float *s_lse,
               const float *s_delta,
               int column,
               int row,
               bool masked,
               int lane)
{
  const int g = lane / 4, t = lane % 4;
  uint32_t bits[4];

#pragma unroll
  for (int n = 0; n < C / 8; n++)
    {
      const float2 l =
          *reinterpret_cast<const float2 *> (s_lse + n * 8 + t * 2);
#pragma unroll
      for (int e = 0; e < 4; e++)
        s[n][e] =
            exp2_approx (fmaf (s[n][e], p.scale_log2, e % 2 ? -l.y : -l.x));
    }
  if (masked)
#pragma unroll
    for (int h = 0; h < 2; h++)
      {
        /* the rows that see the column, from the lane's first on */
        const int c = column + g + 8 * h, origin = row + t * 2;
        const int least = c < p.seq ? c - p.after - origin : NO_WINDOW;
        const int most = c + p.before - origin;

#pragma unroll
        for (int n = 0; n < C / 4; n++)
          {
            const int r = n / 2 * 8 + n % 2;

            if ((r < least) | (r > most))
              s[n / 2][2 * h + n % 2] = 0;
          }
      }
#pragma unroll
  for (int n = 0; n < C / 8; n++)
    {
      const float2 d =
          *reinterpret_cast<const float2 *> (s_delta + n * 8 + t * 2);
      uint32_t keep = 0xf;

      if (DROP)
        {
          /* a warp may have either half of 16 rows */
          const int half = C % 16 == 0 ? n % 2 : row / 8 % 2;

          if (n % 2 == 0)
            drop.bits (bits, (row + n * 8) / 16, column / 16, lane);
          uint32_t low = transpose8x8 (half ? bits[1] : bits[0]);
          uint32_t high = transpose8x8 (half ? bits[3] : bits[2]);

          keep = drop.keep_low (low) | drop.keep_high (low) << 1
                 | drop.keep_low (high) << 2 | drop.keep_high (high) << 3;
        }
#pragma unroll
      for (int e = 0; e < 4; e++)
        {
          const bool kept = keep >> e & 1;
          const float x = s[n][e];

          dp[n][e] = x * ((kept ? dp[n][e] : 0.0f) - (e % 2 ? d.y : d.x));
          if (DROP)
            s[n][e] = kept ? x : 0.0f;
        }
    }
}

/* dQ of a piece of rows and columns, QI x 16 and QC: the transpose of dS' times
 * K. */
template <class T, class Tiles, int QI, int QC>
__device__ __forceinline__ void
multiply_dq (float (&dq)[QI][QC / 8][4],
             const T *sds,
             const T *sk,
             int row,
             int column,
             int lane)
{
  using MM = Mma<T>;

#pragma unroll
  for (int k = 0; k < Tiles::N; k += MM::K)
    {
      uint32_t a[QI][4];

#pragma unroll
      for (int i = 0; i < QI; i++)
        MM::load_tile_trans (a[i], sds, Tiles::LDS, row + i * 16, k, lane);
      multiply_trans<T, QC, QI> (dq, a, sk, Tiles::LD, column, k, lane);
    }
}

/* Writes such a piece, which is the whole sum, from that row of the head on. */
template <class T, int QI, int QC>
__device__ __forceinline__ void
write_dq (
    const Params &p, const float (&dq)[QI][QC / 8][4], int bh, int row, int c)
{
  const int lane = threadIdx.x % 32, t = lane % 4;
  T *head = head_base<T> (p.dq, bh, p.heads);

#pragma unroll
  for (int i = 0; i < 2 * QI; i++)
    {
      const int r = row + lane / 4 + 8 * i, h = i % 2;

      if (r >= p.seq)
        continue;
#pragma unroll
      for (int n = 0; n < QC / 8; n++)
        if (c + n * 8 < p.head_dim)
          Mma<T>::store_pair (head + r * p.dq.seq_stride + c + n * 8 + t * 2,
                              dq[i / 2][n][2 * h] * p.grad_scale,
                              dq[i / 2][n][2 * h + 1] * p.grad_scale);
    }
}

/* Adds such a piece to what other blocks have, in its turn where the order is
 * to be one. */
template <int QI, int QC, int D>
__device__ __forceinline__ void
add_dq (const Params &p,
        const float (&dq)[QI][QC / 8][4],
        int bh,
        int row,
        int c,
        int *semaphore,
        int turn)
{
  float *to = p.dq_acc + ((int64_t) bh * p.padded_seq + row) * D + c * 16;

  if (p.deterministic)
    wait_turn (semaphore, turn);
#pragma unroll
  for (int i = 0; i < QI; i++)
#pragma unroll
    for (int n = 0; n < QC / 8; n++)
      add_fragment (to + i * 16 * D + n * 128, dq[i][n], threadIdx.x % 32);
  if (p.deterministic)
    pass_turn (semaphore, turn);
}

template <class T, int D, class Shape, bool DROP>
__device__ __forceinline__ void
backward_block (const Params &p)
{
  using MM = Mma<T>;
  using Tiles = BackwardTiles<T, D, Shape>;
  constexpr int N = Shape::N, M = Shape::M, LD = Tiles::LD, LDS = Tiles::LDS;
  constexpr int THREADS = Shape::WARPS * 32, STAGES = Shape::STAGES;
  constexpr bool SHARE = Shape::SHARE, KEEP = Shape::KEEP;
  /* Of a warp: its columns and rows of S', in 16 and 1; its columns of dK and
   * dV and its part of the head size; its rows of dQ and its part. */
  constexpr int SI = N / Shape::SN / 16, SC = M / Shape::SM;
  constexpr int KI = N / Shape::KN / 16, KC = D / Shape::KD;
  constexpr int QI = M / Shape::QM / 16, QC = D / Shape::QD;
  static_assert (SI * Shape::SN * 16 == N && KI * Shape::KN * 16 == N
                 && QI * Shape::QM * 16 == M);
  static_assert (SC % 8 == 0 && KC % 8 == 0 && QC % 8 == 0);

  extern __shared__ __align__ (128) char shared[];
  T *sk = reinterpret_cast<T *> (shared);
  T *sv = sk + N * LD;
  T *sq_base = sv + N * LD;
  T *so_base = sq_base + STAGES * M * LD;
  T *sds = so_base + STAGES * M * LD;
  T *sp = sds + (SHARE ? Tiles::SCORES : 0);
  float *s_lse = reinterpret_cast<float *> (sp + Tiles::SCORES);
  float *s_delta = s_lse + M;

  const int column_blocks = (p.seq + N - 1) / N;
  const int key_bh = blockIdx.x / column_blocks;
  const int block = blockIdx.x % column_blocks;
  const int column0 = block * N;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int sn = warp % Shape::SN * (N / Shape::SN);
  const int sm = warp / Shape::SN * SC;
  const int kn = warp % Shape::KN * (N / Shape::KN);
  const int kd = warp / Shape::KN * KC;
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
    lse = p.lse_log2 + (int64_t) head * p.padded_seq;
    delta = p.delta + (int64_t) head * p.padded_seq;
  };

  auto bring_rows = [&] (int row0, int stage) {
    load_tile_async<T, D, M, THREADS> (sq_base + stage * M * LD, q_head,
                                       p.q.seq_stride, row0, p.seq, p.head_dim);
    load_tile_async<T, D, M, THREADS> (so_base + stage * M * LD, o_head,
                                       p.dout.seq_stride, row0, p.seq,
                                       p.head_dim);
    qm_async_commit ();
  };

  take_head (bh);
  load_tile_async<T, D, N, THREADS> (sk, head_base<T> (p.k, key_bh, p.groups),
                                     p.k.seq_stride, column0, p.seq,
                                     p.head_dim);
  load_tile_async<T, D, N, THREADS> (sv, head_base<T> (p.v, key_bh, p.groups),
                                     p.v.seq_stride, column0, p.seq,
                                     p.head_dim);
  bring_rows (first * M, 0);

  float dk[KI][KC / 8][4] = {}, dv[KI][KC / 8][4] = {};
  float my_lse = INFINITY, my_delta = 0;
  uint32_t kept_k[KEEP ? D / MM::K : 1][SI][4];
  uint32_t kept_v[KEEP ? D / MM::K : 1][SI][4];
  Dropout drop;

  auto load_row = [&] (int row0) {
    if (threadIdx.x < M)
      {
        my_lse = lse[row0 + threadIdx.x];
        my_delta = delta[row0 + threadIdx.x];
      }
  };

  load_row (first * M);
  if (DROP)
    drop.init (p, bh);
  if constexpr (KEEP)
    {
      qm_async_wait<0> ();
      __syncthreads ();
#pragma unroll
      for (int k = 0; k < D; k += MM::K)
#pragma unroll
        for (int i = 0; i < SI; i++)
          {
            MM::load_a (kept_k[k / MM::K][i], sk, LD, sn + i * 16, k, lane);
            MM::load_a (kept_v[k / MM::K][i], sv, LD, sn + i * 16, k, lane);
          }
    }

  for (int step = 0, m = first; step < steps; step++)
    {
      const int row0 = m * M;
      const bool head_ends = m + 1 == last;
      const int next_row0 = head_ends ? first * M : row0 + M;
      const int stage = STAGES == 2 ? step % 2 : 0;
      const T *sq = sq_base + stage * M * LD;
      const T *so = so_base + stage * M * LD;
      float s[SI][SC / 8][4] = {}, dp[SI][SC / 8][4] = {};

      if (threadIdx.x < M)
        {
          s_lse[threadIdx.x] = my_lse;
          s_delta[threadIdx.x] = my_delta;
        }
      qm_async_wait<0> ();
      __syncthreads ();
      if (step + 1 < steps)
        {
          if (head_ends)
            take_head (bh + 1);
          load_row (next_row0);
          if (STAGES == 2)
            bring_rows (next_row0, stage ^ 1);
        }

      multiply_rows<T, D, SC, SI, KEEP> (s, kept_k, sk, sq, sn, sm, lane);
      multiply_rows<T, D, SC, SI, KEEP> (dp, kept_v, sv, so, sn, sm, lane);

      const bool masked = column0 + N > p.seq
                          || row0 < first_row (p, column0 + N - 1)
                          || row0 + M > column0 + p.before + 1;

#pragma unroll
      for (int i = 0; i < SI; i++)
        {
          differentiate<DROP, SC> (p, drop, s[i], dp[i], s_lse + sm,
                                   s_delta + sm, column0 + sn + i * 16,
                                   row0 + sm, masked, lane);
#pragma unroll
          for (int n = 0; n < SC / 8; n++)
            {
              MM::store_tile (sds, LDS, dp[i][n], sn + i * 16, sm + n * 8,
                              lane);
              if (SHARE)
                MM::store_tile (sp, LDS, s[i][n], sn + i * 16, sm + n * 8,
                                lane);
            }
        }
      if (SHARE)
        __syncthreads ();

      add_products<T, Tiles, KC, KI, SI, SC, SHARE> (dv, s, sp, so, kn, kd,
                                                     lane);
      add_products<T, Tiles, KC, KI, SI, SC, SHARE> (dk, dp, sds, sq, kn, kd,
                                                     lane);
      /* dS' is there, and the rows are needed no longer */
      __syncthreads ();
      if (STAGES == 1 && step + 1 < steps)
        bring_rows (next_row0, 0);

      {
        float dq[QI][QC / 8][4] = {};
        const int r = warp % Shape::QM * (M / Shape::QM);
        const int c = warp / Shape::QM * QC;

        multiply_dq<T, Tiles, QI, QC> (dq, sds, sk, r, c, lane);
        if constexpr (Shape::WHOLE)
          write_dq<T, QI, QC> (p, dq, bh, row0 + r, c);
        else
          add_dq<QI, QC, D> (p, dq, bh, row0 + r, c,
                             p.semaphore + (int64_t) bh * (p.padded_seq / 16)
                                 + m,
                             block - first_column (p, row0) / N);
      }
      if (head_ends)
        {
          bh++;
          if (DROP && step + 1 < steps)
            drop.init (p, bh);
        }
      m = head_ends ? first : m + 1;
    }

  T *dk_head = head_base<T> (p.dk, key_bh, p.groups);
  T *dv_head = head_base<T> (p.dv, key_bh, p.groups);
  const float v_factor = DROP ? p.keep_scale : 1.0f;

#pragma unroll
  for (int i = 0; i < 2 * KI; i++)
    {
      const int h = i % 2, column = column0 + kn + g + 8 * i;

      if (column >= p.seq)
        continue;
#pragma unroll
      for (int n = 0; n < KC / 8; n++)
        {
          const int d = kd + n * 8;

          if (d >= p.head_dim)
            continue;
          MM::store_pair (dk_head + column * p.dk.seq_stride + d + t * 2,
                          dk[i / 2][n][2 * h] * p.grad_scale,
                          dk[i / 2][n][2 * h + 1] * p.grad_scale);
          MM::store_pair (dv_head + column * p.dv.seq_stride + d + t * 2,
                          dv[i / 2][n][2 * h] * v_factor,
                          dv[i / 2][n][2 * h + 1] * v_factor);
        }
    }
}

template <class T, int D, class Shape, bool DROP>
__global__ void
__launch_bounds__ (Shape::WARPS * 32, Shape::BLOCKS)
    portable_backward (const __grid_constant__ Params p)
{
  if constexpr (is_started<T> (BackwardTiles<T, D, Shape>::SHARED))
    backward_block<T, D, Shape, DROP> (p);
  else
    __trap ();
}

template <class T, int D, class Shape>
cudaError_t
launch_backward_shape (const Params &p, cudaStream_t stream)
{
  constexpr int SHARED = BackwardTiles<T, D, Shape>::SHARED;
  constexpr Zeroed ZEROED = Shape::WHOLE ? Zeroed::NOTHING : Zeroed::SUMS;
  auto kernel = portable_backward<T, D, Shape, false>;
  unsigned blocks =
      (unsigned) p.batch * p.groups * ((p.seq + Shape::N - 1) / Shape::N);
  int64_t pieces =
      (int64_t) p.batch * p.heads * ((p.seq + 15) / 16) * (p.head_dim / 8) * 8;
  cudaError_t status;

  if constexpr (!Shape::WHOLE)
    if (p.threshold)
      kernel = portable_backward<T, D, Shape, true>;
  status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            SHARED);

  if (status != cudaSuccess)
    return status;
  status = launch_row_sums<T, D, ZEROED> (p, stream);
  if (status != cudaSuccess)
    return status;
  kernel<<<blocks, Shape::WARPS * 32, SHARED, stream>>> (p);
  status = cudaGetLastError ();
  if (status != cudaSuccess || Shape::WHOLE)
    return status;
  convert_fragments<T, D>
      <<<(unsigned) ((pieces + 255) / 256), 256, 0, stream>>> (p);
  return cudaGetLastError ();
}

/* The first of the shapes whose blocks have enough shared memory. */
template <class T, int D, class Shape, class... Others>
cudaError_t
launch_backward_fitting (const Params &p, cudaStream_t stream)
{
  if constexpr (sizeof...(Others) > 0)
    if (Shape::BLOCKS * BackwardTiles<T, D, Shape>::SHARED > p.smem_limit)
      return launch_backward_fitting<T, D, Others...> (p, stream);
  return launch_backward_shape<T, D, Shape> (p, stream);
}

/* The fastest on an H100 of the shapes that fit, as forward has it; but heads
 * of 64, 80 and 96 in 16 bits take `Small` for want of a wider one that fits
 * (of 64: as often as it is to), not by a comparison. */
template <class T, int D>
cudaError_t
launch_portable_backward (const Params &p, cudaStream_t stream)
{
  using Small = BackwardShape<64, 64, 4, 4, 4, 4, 1>;

  if constexpr (sizeof (T) == 4)
    {
      using Fp32 = BackwardShape<32, 32, 4, 2, 2, 2, 1>;

      if constexpr (D <= 64)
        return launch_backward_fitting<T, D, Small> (p, stream);
      else if constexpr (D <= 96)
        return launch_backward_fitting<T, D, Fp32> (p, stream);
      else if constexpr (D <= 128)
        return launch_backward_fitting<
            T, D, BackwardShape<64, 32, 4, 4, 4, 2, 1>, Fp32> (p, stream);
      else
        return launch_backward_fitting<
            T, D, Fp32, BackwardShape<16, 16, 2, 1, 1, 1, 1>> (p, stream);
    }
  else if constexpr (D <= 32)
    return launch_backward_fitting<
        T, D, BackwardShape<128, 32, 4, 4, 4, 2, 2, true, 2>> (p, stream);
  else if constexpr (D <= 64)
    return launch_backward_fitting<
        T, D, BackwardShape<128, 32, 4, 4, 4, 2, 2, false, 2>, Small> (p,
                                                                       stream);
  else if constexpr (D <= 96)
    return launch_backward_fitting<T, D, BackwardShape<128, 64, 8, 4, 4, 4, 2>,
                                   BackwardShape<128, 64, 8, 8, 8, 4, 1>,
                                   Small> (p, stream);
  else if constexpr (D <= 128)
    return launch_backward_fitting<T, D, BackwardShape<128, 64, 8, 4, 4, 2, 2>,
                                   BackwardShape<128, 64, 8, 4, 4, 2, 1>, Small,
                                   BackwardShape<64, 32, 4, 4, 4, 2, 1>> (
        p, stream);
  else
    return launch_backward_fitting<T, D, BackwardShape<64, 64, 8, 4, 2, 2, 2>,
                                   BackwardShape<64, 64, 8, 4, 2, 2, 1>,
                                   BackwardShape<32, 32, 4, 2, 2, 2, 1>,
                                   BackwardShape<32, 16, 4, 2, 2, 1, 1>> (
        p, stream);
}

/* Sequences of at most 64, a block each: two warps of 32 columns.  Of 50 tokens
 * on an H100 that takes 0.33 to 0.35 of the time of the kernels for any. Longer
 * ones, in as many warps of one block as they need, took longer than those:
 * seven to nine warps are too few for a multiprocessor, and all wait for each
 * other. */
template <class T, int D>
cudaError_t
launch_whole_backward (const Params &p, cudaStream_t stream, bool *done)
{
  *done = false;
  if constexpr (sizeof (T) == 2 && D <= 64)
    {
      using Shape = BackwardShape<64, 32, 2, 2, 2, 2, 2, false, 4, true>;

      *done = p.whole && p.seq <= Shape::N && p.threshold == 0
              && p.before == NO_WINDOW && p.after == NO_WINDOW
              && BackwardTiles<T, D, Shape>::SHARED <= p.smem_limit;
      if (*done)
        return launch_backward_shape<T, D, Shape> (p, stream);
    }
  return cudaSuccess;
}

}

#endif
