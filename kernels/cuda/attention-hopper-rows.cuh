/* SPDX-License-Identifier: Apache-2.0 */

/* The half of the split backward attention on Hopper that makes dQ; see
 * attention-hopper-split.cuh. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_ROWS_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_ROWS_CUH

#include "kernels/cuda/attention-hopper-queue.cuh"
#include "kernels/cuda/attention-turn.cuh"

namespace qm_attention
{

/* Registers of a thread that multiplies. */
constexpr int SPLIT_ROWS_REGISTERS = 240;

template <int D> struct alignas (1024) SplitRowsShared
{
  static constexpr int M = 128, N = 64;

  uint16_t q[M * D], dout[M * D];
  uint16_t k[2][N * D], v[N * D];
  uint64_t rows_full, rows_empty;
  uint64_t k_full[2], k_empty[2];
  uint64_t v_full, v_empty;
  TileQueue queue;
};

template <int D>
__device__ __forceinline__ void
split_rows_producer (const HopperSplitParams &h, SplitRowsShared<D> &s)
{
  constexpr int M = 128, N = 64;
  Ring<2> k_ring;
  QueuePlace place;
  int index = blockIdx.x, rows_parity = 1, v_parity = 1;

  while (index < h.work.tiles ())
    {
      const SplitTile t = h.work.at (index);
      const int head = t.bh % h.p.heads, batch = t.bh / h.p.heads;
      const int key_head = head / h.p.shared;
      const int row0 = (h.work.per_head - 1 - t.place) * M;
      const int first = first_column (h.p, row0) / N;
      const int columns = end_column (h.p, row0 + M - 1);

      index = gridDim.x + atomicAdd (h.p.queue + 1, 1);
      barrier_wait (&s.rows_empty, rows_parity);
      rows_parity ^= 1;
      barrier_expect (&s.rows_full, sizeof s.q + sizeof s.dout);
      load_rows<D, M> (h.p, s.q, &h.q, &s.rows_full, row0, head, batch);
      load_rows<D, M> (h.p, s.dout, &h.dout, &s.rows_full, row0, head, batch);
      for (int block = (columns + N - 1) / N - 1; block >= first; block--)
        {
          barrier_wait (&s.k_empty[k_ring.index], k_ring.parity ^ 1);
          barrier_expect (&s.k_full[k_ring.index], sizeof s.k[0]);
          load_rows<D, N> (h.p, s.k[k_ring.index], &h.k,
                           &s.k_full[k_ring.index], block * N, key_head, batch);
          k_ring.advance ();
          barrier_wait (&s.v_empty, v_parity);
          v_parity ^= 1;
          barrier_expect (&s.v_full, sizeof s.v);
          load_rows<D, N> (h.p, s.v, &h.v, &s.v_full, block * N, key_head,
                           batch);
        }
      place.publish (s.queue, index);
    }
}

template <class T, int D, bool DROP> struct SplitRows
{
  static constexpr int M = 128, N = 64;

  const HopperSplitParams &h;
  SplitRowsShared<D> &s;
  const int group, lane, warp;
  Ring<2> k_ring;
  int last_k = 0, v_parity = 0, rows_parity = 0;
  QueuePlace place;
  Dropout drop;
  int row; /* of the first of this thread's two rows */
  float lse[2], delta[2];
  float dq[D / 2];
  float x[N / 2], dp[N / 2];
  uint32_t packed[N / 16][4];

  __device__ __forceinline__
  SplitRows (const HopperSplitParams &h, SplitRowsShared<D> &s)
      : h (h), s (s),
        group (__shfl_sync (0xffffffffu, threadIdx.x / WARPGROUP - 1, 0)),
        lane (threadIdx.x % 32), warp (threadIdx.x / 32 % 4)
  {
  }

  __device__ __forceinline__ void
  multiply_rows (float (&to)[N / 2], const void *a, const void *b)
  {
    const uint32_t left = shared_base (a), right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
      Product<T, N>::template shared<0, 0> (
          to, along_rows<D, M> (left, group * 64, i),
          along_rows<D, N> (right, 0, i), i > 0);
    products_commit ();
  }

  __device__ __forceinline__ void
  multiply_dq ()
  {
    const uint32_t k = shared_base (s.k[last_k]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < N / 16; i++)
      Product<T, D>::template registers<1> (dq, packed[i],
                                            down_rows<D, N> (k, 0, i), 1);
    products_commit ();
  }

  template <bool MASKED>
  __device__ __forceinline__ void
  exponentials (int block)
  {
#pragma unroll
    for (int n = 0; n < N / 8; n++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        {
          float &y = x[n * 4 + e];

          y = exp2_approx (fmaf (y, h.p.scale_log2, -lse[e / 2]));
          if (MASKED)
            {
              const int c = block * N + n * 8 + lane % 4 * 2 + e % 2;

              if (c >= h.p.seq || !sees (h.p, row + e / 2 * 8, c))
                y = 0;
            }
        }
  }

  /* x becomes dS */
  __device__ __forceinline__ void
  differentiate (int block)
  {
    uint32_t bits[4];

#pragma unroll
    for (int n = 0; n < N / 8; n++)
      {
        if (DROP && n % 2 == 0)
          drop.bits (bits, row / 16, (block * N + n * 8) / 16, lane);
#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            float y = dp[n * 4 + e];

            if (DROP)
              {
                const uint32_t pair = bits[e / 2 + n % 2 * 2];

                y = (e % 2 ? drop.keep_high (pair) : drop.keep_low (pair))
                        ? y
                        : 0.0f;
              }
            x[n * 4 + e] *= y - delta[e / 2];
          }
      }
  }

  template <bool MASKED>
  __device__ __forceinline__ void
  step (int block, bool first)
  {
    barrier_wait (&s.k_full[k_ring.index], k_ring.parity);
    multiply_rows (x, s.q, s.k[k_ring.index]);
    barrier_wait (&s.v_full, v_parity);
    v_parity ^= 1;
    multiply_rows (dp, s.dout, s.v);
    if (!first)
      {
        multiply_dq ();
        products_wait<2> ();
      }
    else
      products_wait<1> ();
    pin (x);
    exponentials<MASKED> (block);
    pin (x);
    if (!first)
      products_wait<1> ();
    else
      products_wait<0> ();
    pin (dp);
    warp_arrive (&s.v_empty, lane);
    differentiate (block);
    pin (x);
    if (!first)
      {
        products_wait<0> ();
        pin (dq);
        warp_arrive (&s.k_empty[last_k], lane);
      }
    last_k = k_ring.index;
    k_ring.advance ();
#pragma unroll
    for (int i = 0; i < N / 16; i++)
#pragma unroll
      for (int w = 0; w < 4; w++)
        packed[i][w] = pack2<T> (x[(2 * i + w / 2) * 4 + w % 2 * 2],
                                 x[(2 * i + w / 2) * 4 + w % 2 * 2 + 1]);
  }

  __device__ __forceinline__ void
  store (const SplitTile &t)
  {
    T *head = head_base<T> (h.p.dq, t.bh, h.p.heads);

    if (!DROP)
      turn_back<D> (dq, h.p, row, lane);
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        T *to = head + (row + 8 * i) * h.p.dq.seq_stride + lane % 4 * 2;

        if (row + 8 * i >= h.p.seq)
          continue;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
          if (n * 8 < h.p.head_dim)
            *reinterpret_cast<uint32_t *> (to + n * 8) =
                pack2<T> (dq[n * 4 + i * 2] * h.p.grad_scale,
                          dq[n * 4 + i * 2 + 1] * h.p.grad_scale);
      }
  }

  __device__ __forceinline__ void
  tile (const SplitTile &t)
  {
    const int row0 = (h.work.per_head - 1 - t.place) * M;
    const int first = first_column (h.p, row0) / N;
    const int columns = end_column (h.p, row0 + M - 1);
    /* blocks from `least` on and below `whole` need no mask */
    const int whole = end_column (h.p, row0) / N;
    const int least = (first_column (h.p, row0 + M - 1) + N - 1) / N;
    const int64_t at = (int64_t) t.bh * h.p.padded_seq;
    int block = (columns + N - 1) / N - 1;

    row = row0 + group * 64 + warp * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        lse[i] = h.p.lse_log2[at + row + 8 * i];
        delta[i] = h.p.delta[at + row + 8 * i];
      }
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      dq[i] = 0;
    if (DROP)
      drop.init (h.p, t.bh);
    barrier_wait (&s.rows_full, rows_parity);
    rows_parity ^= 1;
    step<true> (block, true);
    for (block--; block >= first; block--)
      if (block >= whole || block < least)
        step<true> (block, false);
      else
        step<false> (block, false);
    warp_arrive (&s.rows_empty, lane);
    multiply_dq ();
    products_wait<0> ();
    pin (dq);
    warp_arrive (&s.k_empty[last_k], lane);
    store (t);
  }

  __device__ __forceinline__ void
  run ()
  {
    int index = blockIdx.x;

    while (index < h.work.tiles ())
      {
        tile (h.work.at (index));
        index = place.next_for_warp (s.queue, lane);
      }
  }
};

template <class T, int D, bool DROP>
__global__ void
__launch_bounds__ (SPLIT_THREADS, 1)
    split_rows (const __grid_constant__ HopperSplitParams h)
{
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<SplitRowsShared<D> *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.dout);
      barrier_init (&s.rows_full, 1);
      barrier_init (&s.rows_empty, 8);
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.k_full[i], 1);
          barrier_init (&s.k_empty[i], 8);
        }
      barrier_init (&s.v_full, 1);
      barrier_init (&s.v_empty, 8);
      queue_init (s.queue, 8);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * SPLIT_ROWS_REGISTERS> ();
      if (threadIdx.x == 0)
        split_rows_producer<D> (h, s);
    }
  else
    {
      take_registers<SPLIT_ROWS_REGISTERS> ();
      SplitRows<T, D, DROP> (h, s).run ();
    }
}

}

#endif
