/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on Hopper.  A block stays on its multiprocessor and
 * takes tiles of N columns (K and V) of one head from a queue.  One warpgroup
 * fetches Q and dO, M rows at a time; two multiply, 64 columns each, with
 * scores transposed as in the portable kernel:
 *
 *   S' = K Q'     P' = exp (S' - lse)     dV += P' dO
 *   dP' = V dO'   dS' = P' (dP' - delta)  dK += dS' Q     dQ = dS K
 *
 * P' and dS' are left operands in registers; dS' also goes through shared
 * memory, for dQ needs all columns.  Products with dS of one step are issued
 * with the scores of the next, so that the tensor cores have work during the
 * exponentials. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_BACKWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_BACKWARD_CUH

#include "kernels/cuda/attention-hopper-convert.cuh"
#include "kernels/cuda/attention-hopper-order.cuh"
#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

template <int D, bool DROP> struct HopperBackwardTiles
{
  static constexpr int GROUPS = 2;
  static constexpr int M = D <= 64 && !DROP ? 128 : 64, N = 64 * GROUPS;
  static constexpr int Q_STAGES = 3, O_STAGES = 2;
  static constexpr int THREADS = (GROUPS + 1) * WARPGROUP;
  /* Of a thread that multiplies. */
  static constexpr int REGISTERS = (D == 64 || D == 128) && !DROP ? 240 : 232;
  /* Whether the first half of the probabilities is computed before the wait
   * for dQ of the step before, or wherever the compiler puts it. */
  static constexpr bool EARLY = D == 64;
  /* Whether dK takes dS' from shared memory, where registers are short. */
  static constexpr bool DS_SHARED = D == 128 && DROP;
  /* Whether the first tile to come writes its part of dQ, so that nobody has to
   * zero the sums: where a step takes long enough to ask who is first. */
  static constexpr bool WRITES_FIRST = M == 128 || D == 128;
  /* With M = 64, each group sums part of dQ's columns: the first and the last
   * DQ_COLUMNS, a multiple of the chunk, whose overlap only one writes. */
  static constexpr int DQ_COLUMNS = M == 128 ? D
                                             : (D / 2 + Chunk<D>::ELEMENTS - 1)
                                                   / Chunk<D>::ELEMENTS
                                                   * Chunk<D>::ELEMENTS;
};

template <class Tiles, int D> struct alignas (1024) HopperBackwardShared
{
  uint16_t k[Tiles::N * D], v[Tiles::N * D];
  uint16_t q[Tiles::Q_STAGES][Tiles::M * D];
  uint16_t dout[Tiles::O_STAGES][Tiles::M * D];
  uint16_t ds[2][Tiles::N * Tiles::M];
  float dq[Tiles::GROUPS][64 * Tiles::DQ_COLUMNS]; /* on its way out */
  float lse[Tiles::Q_STAGES][Tiles::M];
  float delta[Tiles::O_STAGES][Tiles::M];
  uint64_t kv_full, kv_empty;
  uint64_t q_full[Tiles::Q_STAGES], q_empty[Tiles::Q_STAGES];
  uint64_t o_full[Tiles::O_STAGES], o_empty[Tiles::O_STAGES];
  uint64_t ds_full[2];
  uint64_t dq_full[Tiles::GROUPS], dq_empty[Tiles::GROUPS];
  TileQueue queue;
  uint32_t sink;
};

/* Takes tiles from the queue and fetches K, V and Q. */
template <class Tiles, int D>
__device__ __forceinline__ void
backward_producer (const HopperBackwardParams &h,
                   HopperBackwardShared<Tiles, D> &s)
{
  constexpr int M = Tiles::M, N = Tiles::N;
  Ring<Tiles::Q_STAGES> ring;
  QueuePlace place;
  int index = blockIdx.x, kv_parity = 1;

  while (index < h.work.tiles ())
    {
      const ColumnTile t = ColumnTile::at<M, N> (h, index);
      const int key_head = t.bh % h.p.groups, batch = t.bh / h.p.groups;

      index = gridDim.x + atomicAdd (h.p.queue, 1);
      barrier_wait (&s.kv_empty, kv_parity);
      kv_parity ^= 1;
      barrier_expect (&s.kv_full, sizeof s.k + sizeof s.v);
      load_rows<D, N> (h.p, s.k, &h.k, &s.kv_full, t.column0, key_head, batch);
      load_rows<D, N> (h.p, s.v, &h.v, &s.kv_full, t.column0, key_head, batch);
      for (int i = t.query; i < t.query + t.heads; i++)
        {
          const int head = i - batch * h.p.heads;
          const float *lse = h.p.lse_log2 + (int64_t) i * h.p.padded_seq;

          for (int m = t.first; m < t.last; m++)
            {
              barrier_wait (&s.q_empty[ring.index], ring.parity ^ 1);
              barrier_expect (&s.q_full[ring.index], sizeof s.q[0] + M * 4);
              load_rows<D, M> (h.p, s.q[ring.index], &h.q,
                               &s.q_full[ring.index], m * M, head, batch);
              load_bytes (s.lse[ring.index], lse + m * M, M * 4,
                          &s.q_full[ring.index]);
              ring.advance ();
            }
        }
      place.publish (s.queue, index);
    }
}

/* Fetches dO. */
template <class Tiles, int D>
__device__ __forceinline__ void
backward_dout_producer (const HopperBackwardParams &h,
                        HopperBackwardShared<Tiles, D> &s)
{
  constexpr int M = Tiles::M, N = Tiles::N;
  Ring<Tiles::O_STAGES> ring;
  QueuePlace place;
  int index = blockIdx.x;

  while (index < h.work.tiles ())
    {
      const ColumnTile t = ColumnTile::at<M, N> (h, index);
      const int batch = t.bh / h.p.groups;

      for (int i = t.query; i < t.query + t.heads; i++)
        {
          const int head = i - batch * h.p.heads;
          const float *delta = h.p.delta + (int64_t) i * h.p.padded_seq;

          for (int m = t.first; m < t.last; m++)
            {
              barrier_wait (&s.o_empty[ring.index], ring.parity ^ 1);
              barrier_expect (&s.o_full[ring.index], sizeof s.dout[0] + M * 4);
              load_rows<D, M> (h.p, s.dout[ring.index], &h.dout,
                               &s.o_full[ring.index], m * M, head, batch);
              load_bytes (s.delta[ring.index], delta + m * M, M * 4,
                          &s.o_full[ring.index]);
              ring.advance ();
            }
        }
      index = place.next (s.queue);
    }
}

/* Where the order is not fixed: 0 for the first, which is to write at once, so
 * that nobody waits for a block that waits itself; 1 for the others, when that
 * one has written. */
__device__ __forceinline__ int
any_turn (int *semaphore)
{
  constexpr int TAKEN = -1;
  int seen;

  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, %2;\n"
               : "=r"(seen)
               : "l"(semaphore), "r"(TAKEN)
               : "memory");
  if (seen == TAKEN)
    poll (semaphore, 1);
  return seen != 0;
}

/* Adds what warpgroup `group` has of dQ to the sum of all tiles, in the order
 * of the accumulators: [row / 64][column / 8][thread][4]. */
template <class Tiles, int D>
__device__ __forceinline__ void
backward_dq_adder (const HopperBackwardParams &h,
                   HopperBackwardShared<Tiles, D> &s,
                   int group)
{
  constexpr int M = Tiles::M, N = Tiles::N, DQ = Tiles::DQ_COLUMNS;
  constexpr bool WHOLE_ROWS = M == 128;
  /* columns that the first group adds already */
  const int skip = WHOLE_ROWS || group == 0 ? 0 : 2 * DQ - D;
  const int column = WHOLE_ROWS || group == 0 ? 0 : DQ;
  const int bytes = 64 * (DQ - skip) * 4;
  QueuePlace place;
  int index = blockIdx.x, parity = 0;

  while (index < h.work.tiles ())
    {
      const ColumnTile t = ColumnTile::at<M, N> (h, index);

      for (int i = t.query; i < t.query + t.heads; i++)
        for (int m = t.first; m < t.last; m++)
          {
            const int64_t row = (int64_t) i * h.p.padded_seq + m * M
                                + (WHOLE_ROWS ? group * 64 : 0);
            int *semaphore =
                h.p.semaphore + row / 16 + (WHOLE_ROWS ? 0 : group);
            float *to = h.p.dq_acc + row * D + column * 64;
            const float *from = s.dq[group] + skip * 64;
            int turn = h.p.deterministic     ? turn_of<M, N> (h, t, m)
                       : Tiles::WRITES_FIRST ? look (semaphore)
                                             : 1;

            barrier_wait (&s.dq_full[group], parity);
            parity ^= 1;
            if (h.p.deterministic)
              poll (semaphore, turn);
            else if (turn != 1)
              turn = any_turn (semaphore);
            if (turn == 0)
              store_floats (to, from, bytes);
            else
              add_floats (to, from, bytes);
            bulk_commit ();
            bulk_wait_read<0> ();
            barrier_arrive (&s.dq_empty[group]);
            if (h.p.deterministic || turn == 0)
              {
                bulk_wait<0> ();
                __threadfence ();
                publish (semaphore, turn + 1);
              }
          }
      index = place.next (s.queue);
    }
}

/* What one thread of a multiplying warpgroup holds: columns g and g + 8 of
 * its warp's 16. */
template <class T, int D, bool DROP> struct BackwardConsumer
{
  using Tiles = HopperBackwardTiles<D, DROP>;
  using Shared = HopperBackwardShared<Tiles, D>;
  static constexpr int M = Tiles::M, N = Tiles::N;
  static constexpr int Q_STAGES = Tiles::Q_STAGES;
  static constexpr int DQ = Tiles::DQ_COLUMNS;

  const HopperBackwardParams &h;
  Shared &s;
  const int group, lane, warp;
  Ring<Q_STAGES> q_ring;
  Ring<Tiles::O_STAGES> o_ring;
  Ring<2> ds_ring;
  Ring<1> dq_ring;
  Ring<Q_STAGES> last_q; /* places of the step before */
  Ring<2> last_ds;
  int column; /* of the first of this thread's two columns */
  Dropout drop;
  float dk[D / 2], dv[D / 2];
  float x[M / 2]; /* S', then dP' */
  float dq[DQ / 2];
  uint32_t probabilities[M / 16][4], dscores[M / 16][4];
  uint32_t kept[M / 16][4]; /* with dropout */

  __device__ __forceinline__
  BackwardConsumer (const HopperBackwardParams &h, Shared &s)
      : h (h), s (s),
        group (__shfl_sync (0xffffffffu, threadIdx.x / WARPGROUP - 1, 0)),
        lane (threadIdx.x % 32), warp (threadIdx.x / 32 % 4)
  {
  }

  /* x = A B', A the 64 rows of this group */
  __device__ __forceinline__ void
  multiply_rows (const void *a, const void *b)
  {
    const uint32_t left = shared_base (a), right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
      Product<T, M>::template shared<0, 0> (
          x, along_rows<D, N> (left, group * 64, i),
          along_rows<D, M> (right, 0, i), i > 0);
    products_commit ();
  }

  /* sum += A B, A in registers */
  __device__ __forceinline__ void
  multiply_columns (float (&sum)[D / 2],
                    const uint32_t (&a)[M / 16][4],
                    const void *b)
  {
    const uint32_t right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < M / 16; i++)
      Product<T, D>::template registers<1> (sum, a[i],
                                            down_rows<D, M> (right, 0, i), 1);
    products_commit ();
  }

  /* dk += dS' Q of the step before */
  __device__ __forceinline__ void
  multiply_dk ()
  {
    if (!Tiles::DS_SHARED)
      {
        multiply_columns (dk, dscores, s.q[last_q.index]);
        return;
      }

    const uint32_t ds = shared_base (s.ds[last_ds.index]);
    const uint32_t q = shared_base (s.q[last_q.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < M / 16; i++)
      Product<T, D>::template shared<0, 1> (
          dk, along_rows<64, N> (ds, group * 64, i), down_rows<D, M> (q, 0, i),
          1);
    products_commit ();
  }

  __device__ __forceinline__ int
  dq_column () const
  {
    return M == 64 && group == 1 ? D - DQ : 0;
  }

  /* dq = dS K, rows or columns of this group, of the step before */
  __device__ __forceinline__ void
  multiply_dq ()
  {
    const uint32_t ds = shared_base (s.ds[last_ds.index]),
                   k = shared_base (s.k);
    const int row = M == 128 ? group * 64 : 0;

    products_begin ();
#pragma unroll
    for (int i = 0; i < N / 16; i++)
      Product<T, DQ>::template shared<1, 1> (
          dq, down_rows<64, N> (ds, row, i),
          down_rows<D, N> (k, dq_column (), i), i > 0);
    products_commit ();
  }

  /* Hands dq over to be added to the sum of all tiles. */
  __device__ __forceinline__ void
  hand_dq_over ()
  {
    const uint32_t to = shared_u32 (s.dq[group]) + threadIdx.x % WARPGROUP * 16;

    barrier_wait (&s.dq_empty[group], dq_ring.parity ^ 1);
    dq_ring.advance ();
#pragma unroll
    for (int n = 0; n < DQ / 8; n++)
      store_shared4 (to + n * WARPGROUP * 16, dq[4 * n], dq[4 * n + 1],
                     dq[4 * n + 2], dq[4 * n + 3]);
    fence_async_proxy ();
    __syncwarp ();
    warp_arrive (&s.dq_full[group], lane);
  }

  /* One half of x becomes P', packed into `probabilities`, and what dropout
   * leaves of it into `kept`. */
  template <bool MASKED, int HALF>
  __device__ __forceinline__ void
  exponentials (int row0)
  {
    const uint32_t lse = shared_u32 (s.lse[q_ring.index]) + lane % 4 * 8;
    uint32_t masks[4];

#pragma unroll
    for (int n = HALF * M / 16; n < (HALF + 1) * M / 16; n++)
      {
        const float2 l = load_shared2 (lse + n * 32);
        float *y = x + n * 4;

#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            y[e] =
                exp2_approx (fmaf (y[e], h.p.scale_log2, e % 2 ? -l.y : -l.x));
            if (MASKED)
              {
                const int c = column + e / 2 * 8;
                const int r = row0 + n * 8 + lane % 4 * 2 + e % 2;

                if (c >= h.p.seq || !sees (h.p, r, c))
                  y[e] = 0;
              }
          }
        if (DROP && n % 2 == 0)
          {
            drop.bits (masks, (row0 + n * 8) / 16, column / 16, lane);
            drop.masks (masks);
          }
#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            uint32_t &pair = probabilities[n / 2][n % 2 * 2 + i];

            pair = pack2<T> (y[2 * i], y[2 * i + 1]);
            if (DROP)
              kept[n / 2][n % 2 * 2 + i] =
                  pair & transpose8x8 (masks[n % 2 + 2 * i]);
          }
      }
  }

  /* dscores = P' (dP' - delta), also to shared memory */
  __device__ __forceinline__ void
  differentiate ()
  {
    const uint32_t delta = shared_u32 (s.delta[o_ring.index]) + lane % 4 * 8;

#pragma unroll
    for (int n = 0; n < M / 8; n++)
      {
        const float2 d = load_shared2 (delta + n * 32);

#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            float2 p = unpack2<T> (probabilities[n / 2][n % 2 * 2 + i]);
            float a = x[n * 4 + 2 * i], b = x[n * 4 + 2 * i + 1];

            if (DROP)
              {
                const float2 k = unpack2<T> (kept[n / 2][n % 2 * 2 + i]);

                a = fmaf (k.x, a, -p.x * d.x);
                b = fmaf (k.y, b, -p.y * d.y);
              }
            else
              {
                a = p.x * (a - d.x);
                b = p.y * (b - d.y);
              }
            dscores[n / 2][n % 2 * 2 + i] = pack2<T> (a, b);
          }
      }

    const int r = group * 64 + warp * 16 + lane % 16;
    const uint32_t to = shared_u32 (s.ds[ds_ring.index]) + r * 128;

#pragma unroll
    for (int i = 0; i < M / 16; i++)
      store_matrices (to + i / 4 * (N * 128)
                          + ((i % 4 * 2 + lane / 16) ^ (r % 8)) * 16,
                      dscores[i]);
  }

  __device__ __forceinline__ void
  compute_first_half ()
  {
    uint32_t all = 0xffffffffu;

#pragma unroll
    for (int i = 0; i < M / 32; i++)
#pragma unroll
      for (int w = 0; w < 4; w++)
        all &= DROP ? kept[i][w] : probabilities[i][w];
    compute_before_wait (all, &s.sink);
  }

  /* Issues dQ and dK of the step before. */
  __device__ __forceinline__ void
  multiply_last ()
  {
    barrier_wait (&s.ds_full[last_ds.index], last_ds.parity);
    multiply_dq ();
    multiply_dk ();
  }

  /* Row block m: S' and dP', and the products with dS of the block before.
   */
  template <bool FIRST, bool MASKED>
  __device__ __forceinline__ void
  step (int m)
  {
    barrier_wait (&s.q_full[q_ring.index], q_ring.parity);
    multiply_rows (s.k, s.q[q_ring.index]);
    if (!FIRST)
      multiply_last ();
    products_wait<FIRST ? 0 : 2> ();
    pin (x);
    exponentials<MASKED, 0> (m * M);
    if (!FIRST)
      {
        if (Tiles::EARLY)
          compute_first_half ();
        else
          pin (probabilities);
        products_wait<1> ();
        pin (dq);
        hand_dq_over ();
      }
    exponentials<MASKED, 1> (m * M);
    if (!Tiles::EARLY)
      pin (probabilities);

    barrier_wait (&s.o_full[o_ring.index], o_ring.parity);
    multiply_rows (s.v, s.dout[o_ring.index]);
    multiply_columns (dv, DROP ? kept : probabilities, s.dout[o_ring.index]);
    if (!FIRST)
      {
        products_wait<2> ();
        barrier_arrive (&s.q_empty[last_q.index]);
      }
    products_wait<1> ();
    pin (x);
    differentiate ();
    fence_async_proxy ();
    __syncwarp ();
    warp_arrive (&s.ds_full[ds_ring.index], lane);
    products_wait<0> ();
    pin (dv);
    barrier_arrive (&s.o_empty[o_ring.index]);
    last_q = q_ring;
    last_ds = ds_ring;
    q_ring.advance ();
    o_ring.advance ();
    ds_ring.advance ();
  }

  /* What these heads of Q add to dK and dV, in the order of the accumulators.
   */
  __device__ __forceinline__ void
  store_part (const ColumnTile &t)
  {
    const int64_t rows =
        (int64_t) h.p.batch * h.p.groups * h.p.parts * h.p.padded_seq;
    const int64_t row =
        ((int64_t) t.part * h.p.batch * h.p.groups + t.bh) * h.p.padded_seq
        + t.column0 + group * 64;
    float4 *to = reinterpret_cast<float4 *> (h.p.dkv_acc + row * D)
                 + threadIdx.x % WARPGROUP;

#pragma unroll
    for (int n = 0; n < D / 8; n++)
      {
        __stcg (to + n * WARPGROUP, make_float4 (dk[4 * n], dk[4 * n + 1],
                                                 dk[4 * n + 2], dk[4 * n + 3]));
        __stcg (to + rows * (D / 4) + n * WARPGROUP,
                make_float4 (dv[4 * n], dv[4 * n + 1], dv[4 * n + 2],
                             dv[4 * n + 3]));
      }
  }

  __device__ __forceinline__ void
  store (const ColumnTile &t)
  {
    T *dk_head = head_base<T> (h.p.dk, t.bh, h.p.groups);
    T *dv_head = head_base<T> (h.p.dv, t.bh, h.p.groups);
    const float v_factor = DROP ? h.p.keep_scale : 1.0f;

    if (!DROP)
      turn_back<D> (dk, h.p, column, lane);
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        const int c = column + 8 * i;

        if (c >= h.p.seq)
          continue;
        T *k_to = dk_head + c * h.p.dk.seq_stride + lane % 4 * 2;
        T *v_to = dv_head + c * h.p.dv.seq_stride + lane % 4 * 2;

#pragma unroll
        for (int n = 0; n < D / 8; n++)
          {
            if (n * 8 >= h.p.head_dim)
              continue;
            *reinterpret_cast<uint32_t *> (k_to + n * 8) =
                pack2<T> (dk[n * 4 + i * 2] * h.p.grad_scale,
                          dk[n * 4 + i * 2 + 1] * h.p.grad_scale);
            *reinterpret_cast<uint32_t *> (v_to + n * 8) =
                pack2<T> (dv[n * 4 + i * 2] * v_factor,
                          dv[n * 4 + i * 2 + 1] * v_factor);
          }
      }
  }

  __device__ __forceinline__ void
  tile (const ColumnTile &t, int kv_parity)
  {
    /* row blocks from `whole` on and below `end` need no mask */
    const int whole = t.column0 + N > h.p.seq
                          ? t.last
                          : (first_row (h.p, t.column0 + N - 1) + M - 1) / M;
    const int end = (t.column0 + h.p.before + 1) / M;
    int m = t.first;

    column = t.column0 + group * 64 + warp * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      dk[i] = dv[i] = 0;
    if (DROP)
      drop.init (h.p, t.query);
    barrier_wait (&s.kv_full, kv_parity);
    step<true, true> (m);
    m++;
    for (int i = 1;; i++)
      {
        for (; m < t.last; m++)
          if (m < whole || m >= end)
            step<false, true> (m);
          else
            step<false, false> (m);
        if (i == t.heads)
          break;
        if (DROP)
          drop.init (h.p, t.query + i);
        m = t.first;
      }
    multiply_last ();
    products_wait<1> ();
    pin (dq);
    warp_arrive (&s.kv_empty, lane);
    hand_dq_over ();
    products_wait<0> ();
    pin (dk);
    barrier_arrive (&s.q_empty[last_q.index]);
    if (h.p.parts > 1)
      store_part (t);
    else
      store (t);
  }

  __device__ __forceinline__ void
  run ()
  {
    QueuePlace place;
    int index = blockIdx.x, kv_parity = 0;

    while (index < h.work.tiles ())
      {
        tile (ColumnTile::at<M, N> (h, index), kv_parity);
        kv_parity ^= 1;
        index = place.next_for_warp (s.queue, lane);
      }
  }
};

template <class T, int D, bool DROP>
__global__ void
__launch_bounds__ (HopperBackwardTiles<D, DROP>::THREADS, 1)
    hopper_backward (const __grid_constant__ HopperBackwardParams h)
{
  using Tiles = HopperBackwardTiles<D, DROP>;
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<HopperBackwardShared<Tiles, D> *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      constexpr int WARPS = Tiles::GROUPS * 4;

      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.dout);
      barrier_init (&s.kv_full, 1);
      barrier_init (&s.kv_empty, WARPS);
      for (int i = 0; i < Tiles::Q_STAGES; i++)
        {
          barrier_init (&s.q_full[i], 1);
          barrier_init (&s.q_empty[i], 32 * WARPS);
        }
      for (int i = 0; i < Tiles::O_STAGES; i++)
        {
          barrier_init (&s.o_full[i], 1);
          barrier_init (&s.o_empty[i], 32 * WARPS);
        }
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.ds_full[i], WARPS);
          barrier_init (&s.dq_full[i], 4);
          barrier_init (&s.dq_empty[i], 1);
        }
      queue_init (s.queue, WARPS + 3);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * Tiles::REGISTERS> ();
      if (threadIdx.x == 0)
        backward_producer<Tiles, D> (h, s);
      else if (threadIdx.x == 32)
        backward_dout_producer<Tiles, D> (h, s);
      else if (threadIdx.x % 32 == 0)
        backward_dq_adder<Tiles, D> (h, s, threadIdx.x / 32 - 2);
    }
  else
    {
      take_registers<Tiles::REGISTERS> ();
      BackwardConsumer<T, D, DROP> (h, s).run ();
    }
}

template <class T, int D, bool DROP>
cudaError_t
launch_hopper_backward (const Params &p, cudaStream_t stream)
{
  using Tiles = HopperBackwardTiles<D, DROP>;
  constexpr int SHARED = sizeof (HopperBackwardShared<Tiles, D>) + 1024;
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  constexpr Zeroed ZEROED = Tiles::WRITES_FIRST ? Zeroed::TURNS : Zeroed::SUMS;
  const auto kernel = hopper_backward<T, D, DROP>;
  HopperBackwardParams h;
  cudaError_t status;

  static_assert (SHARED <= 232448, "shared memory");
  static_assert (Tiles::N == QM_ATTENTION_PART_COLUMNS, "as parts are counted");
  h.p = p;
  h.work = backward_groups<D, Tiles::N> (p);
  status = make_map<D> (&h.q, p, p.q, p.heads, Tiles::M, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h.k, p, p.k, p.groups, Tiles::N, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h.v, p, p.v, p.groups, Tiles::N, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status = make_map<D> (&h.dout, p, p.dout, p.heads, Tiles::M, BF16,
                          !ragged<D> (p));
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute (kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   SHARED);
  if (status == cudaSuccess)
    status = launch_row_sums<T, D, ZEROED> (p, stream);
  if (status != cudaSuccess)
    return status;
  kernel<<<min (h.work.tiles (), p.sm_count), Tiles::THREADS, SHARED,
           stream>>> (h);
  status = cudaGetLastError ();
  if (status != cudaSuccess)
    return status;
  if (p.parts > 1)
    status = launch_convert_dkv_sums<T, D> (p, stream);
  return status == cudaSuccess ? launch_convert_dq_sums<T, D> (p, stream)
                               : status;
}

}

#endif
