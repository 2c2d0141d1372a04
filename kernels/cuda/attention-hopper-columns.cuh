/* SPDX-License-Identifier: Apache-2.0 */

/* The half of the split backward attention on Hopper that makes dK and dV; see
 * attention-hopper-split.cuh. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_COLUMNS_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_COLUMNS_CUH

#include "kernels/cuda/attention-hopper-queue.cuh"
#include "kernels/cuda/attention-turn.cuh"

namespace qm_attention
{

template <int D> struct alignas (1024) SplitColumnsShared
{
  static constexpr int M = 64, N = 64, STAGES = 2;

  uint16_t k[N * D], v[N * D];
  uint16_t q[STAGES][M * D], dout[STAGES][M * D];
  uint4 p[2][4][WARPGROUP]; /* P' in the order of the accumulators */
  float lse[STAGES][M], delta[STAGES][M];
  uint64_t kv_full, kv_empty;
  uint64_t q_full[STAGES], q_empty[STAGES];
  uint64_t o_full[STAGES], o_empty[STAGES];
  uint64_t p_full[2], p_empty[2];
  TileQueue queue;
};

/* The rows that 64 columns meet, in blocks, and those of these that need a
 * mask: all but those from `whole` on and below `unmasked`. */
struct ColumnRows
{
  int first, end, whole, unmasked;

  __device__ __forceinline__
  ColumnRows (const Params &p, int column0, int block)
  {
    const int last = column0 + block - 1;

    first = first_row (p, column0) / block * block;
    end = end_row (p, last);
    whole = last < p.seq ? first_row (p, last) : p.seq;
    unmasked = column0 + p.before + 2 - block;
  }

  __device__ __forceinline__ bool
  masked (int row0) const
  {
    return row0 < whole || row0 >= unmasked;
  }
};

template <int D>
__device__ __forceinline__ void
split_columns_producer (const HopperSplitParams &h, SplitColumnsShared<D> &s)
{
  constexpr int M = 64, N = 64;
  Ring<2> ring;
  QueuePlace place;
  int index = blockIdx.x, kv_parity = 1;

  while (index < h.work.tiles ())
    {
      const SplitTile t = h.work.at (index);
      const int key_head = t.bh % h.p.groups, batch = t.bh / h.p.groups;
      const ColumnRows rows (h.p, t.place * N, M);

      index = gridDim.x + atomicAdd (h.p.queue, 1);
      barrier_wait (&s.kv_empty, kv_parity);
      kv_parity ^= 1;
      barrier_expect (&s.kv_full, sizeof s.k + sizeof s.v);
      load_rows<D, N> (h.p, s.k, &h.k, &s.kv_full, t.place * N, key_head,
                       batch);
      load_rows<D, N> (h.p, s.v, &h.v, &s.kv_full, t.place * N, key_head,
                       batch);
      for (int i = 0; i < h.p.shared; i++)
        {
          const int head = key_head * h.p.shared + i;
          const float *lse =
              h.p.lse_log2 + ((int64_t) t.bh * h.p.shared + i) * h.p.padded_seq;

          for (int row = rows.first; row < rows.end; row += M)
            {
              barrier_wait (&s.q_empty[ring.index], ring.parity ^ 1);
              barrier_expect (&s.q_full[ring.index], sizeof s.q[0] + M * 4);
              load_rows<D, M> (h.p, s.q[ring.index], &h.q,
                               &s.q_full[ring.index], row, head, batch);
              load_bytes (s.lse[ring.index], lse + row, M * 4,
                          &s.q_full[ring.index]);
              ring.advance ();
            }
        }
      place.publish (s.queue, index);
    }
}

template <int D>
__device__ __forceinline__ void
split_columns_dout_producer (const HopperSplitParams &h,
                             SplitColumnsShared<D> &s)
{
  constexpr int M = 64, N = 64;
  Ring<2> ring;
  QueuePlace place;
  int index = blockIdx.x;

  while (index < h.work.tiles ())
    {
      const SplitTile t = h.work.at (index);
      const int key_head = t.bh % h.p.groups, batch = t.bh / h.p.groups;
      const ColumnRows rows (h.p, t.place * N, M);

      for (int i = 0; i < h.p.shared; i++)
        {
          const int head = key_head * h.p.shared + i;
          const float *delta =
              h.p.delta + ((int64_t) t.bh * h.p.shared + i) * h.p.padded_seq;

          for (int row = rows.first; row < rows.end; row += M)
            {
              barrier_wait (&s.o_empty[ring.index], ring.parity ^ 1);
              barrier_expect (&s.o_full[ring.index], sizeof s.dout[0] + M * 4);
              load_rows<D, M> (h.p, s.dout[ring.index], &h.dout,
                               &s.o_full[ring.index], row, head, batch);
              load_bytes (s.delta[ring.index], delta + row, M * 4,
                          &s.o_full[ring.index]);
              ring.advance ();
            }
        }
      index = place.next (s.queue);
    }
}

/* Both multiplying warpgroups: x = A B' for 64 x 64 scores, sum += x B for
 * 64 x D results, and the way to store these. */
template <class T, int D> struct SplitColumns
{
  static constexpr int M = 64, N = 64;

  const HopperSplitParams &h;
  SplitColumnsShared<D> &s;
  const int lane, warp;
  Ring<2> q_ring, o_ring, p_ring;
  QueuePlace place;
  int kv_parity = 0;
  float sum[D / 2];
  float x[M / 2];
  uint32_t packed[M / 16][4];

  __device__ __forceinline__
  SplitColumns (const HopperSplitParams &h, SplitColumnsShared<D> &s)
      : h (h), s (s), lane (threadIdx.x % 32), warp (threadIdx.x / 32 % 4)
  {
  }

  __device__ __forceinline__ void
  multiply_rows (const void *a, const void *b)
  {
    const uint32_t left = shared_base (a), right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
      Product<T, M>::template shared<0, 0> (x, along_rows<D, N> (left, 0, i),
                                            along_rows<D, M> (right, 0, i),
                                            i > 0);
    products_commit ();
  }

  __device__ __forceinline__ void
  multiply_columns (const void *b)
  {
    const uint32_t right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < M / 16; i++)
      Product<T, D>::template registers<1> (sum, packed[i],
                                            down_rows<D, M> (right, 0, i), 1);
    products_commit ();
  }

  __device__ __forceinline__ void
  clear ()
  {
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      sum[i] = 0;
  }

  __device__ __forceinline__ void
  store (const QmAttentionTensor &to, const SplitTile &t, float factor)
  {
    T *head = head_base<T> (to, t.bh, h.p.groups);

#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        const int c = t.place * N + warp * 16 + lane / 4 + 8 * i;
        T *row = head + c * to.seq_stride + lane % 4 * 2;

        if (c >= h.p.seq)
          continue;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
          if (n * 8 < h.p.head_dim)
            *reinterpret_cast<uint32_t *> (row + n * 8) =
                pack2<T> (sum[n * 4 + i * 2] * factor,
                          sum[n * 4 + i * 2 + 1] * factor);
      }
  }
};

/* P' and dV */
template <class T, int D, bool DROP>
struct SplitValues : public SplitColumns<T, D>
{
  using Base = SplitColumns<T, D>;
  using Base::h, Base::s, Base::lane, Base::warp, Base::x, Base::packed;
  using Base::q_ring, Base::o_ring, Base::p_ring, Base::sum;
  static constexpr int M = Base::M, N = Base::N;
  Dropout drop;

  using Base::Base;

  /* x becomes P'; with dropout, the sign of an element tells that it was
   * dropped */
  template <bool MASKED>
  __device__ __forceinline__ void
  exponentials (int column, int row0)
  {
    const uint32_t lse = shared_u32 (s.lse[q_ring.index]) + lane % 4 * 8;
    uint32_t bits[4];

#pragma unroll
    for (int n = 0; n < M / 8; n++)
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
        if (DROP)
          {
            if (n % 2 == 0)
              drop.bits (bits, (row0 + n * 8) / 16, column / 16, lane);
            uint32_t low = transpose8x8 (bits[n % 2]);
            uint32_t high = transpose8x8 (bits[n % 2 + 2]);

            y[0] = drop.keep_low (low) ? y[0] : -y[0];
            y[1] = drop.keep_high (low) ? y[1] : -y[1];
            y[2] = drop.keep_low (high) ? y[2] : -y[2];
            y[3] = drop.keep_high (high) ? y[3] : -y[3];
          }
      }
  }

  template <bool MASKED>
  __device__ __forceinline__ void
  step (const SplitTile &t, int row0, bool first)
  {
    const int column = t.place * N + warp * 16 + lane / 4;

    barrier_wait (&s.q_full[q_ring.index], q_ring.parity);
    this->multiply_rows (s.k, s.q[q_ring.index]);
    if (!first)
      {
        barrier_wait (&s.o_full[o_ring.index], o_ring.parity);
        this->multiply_columns (s.dout[o_ring.index]);
        products_wait<1> ();
      }
    else
      products_wait<0> ();
    pin (x);
    exponentials<MASKED> (column, row0);
    pin (x);
    barrier_arrive (&s.q_empty[q_ring.index]);
    q_ring.advance ();
    if (!first)
      {
        products_wait<0> ();
        pin (sum);
        barrier_arrive (&s.o_empty[o_ring.index]);
        o_ring.advance ();
      }
    const uint32_t to =
        shared_u32 (s.p[p_ring.index]) + threadIdx.x % WARPGROUP * 16;

    barrier_wait (&s.p_empty[p_ring.index], p_ring.parity ^ 1);
#pragma unroll
    for (int i = 0; i < M / 16; i++)
      {
#pragma unroll
        for (int w = 0; w < 4; w++)
          packed[i][w] = pack2<T> (x[(2 * i + w / 2) * 4 + w % 2 * 2],
                                   x[(2 * i + w / 2) * 4 + w % 2 * 2 + 1]);
        store_shared4 (to + i * WARPGROUP * 16, packed[i]);
        if (DROP)
#pragma unroll
          for (int w = 0; w < 4; w++)
            packed[i][w] = zero_negative (packed[i][w]);
      }
    barrier_arrive (&s.p_full[p_ring.index]);
    p_ring.advance ();
  }

  __device__ __forceinline__ void
  tile (const SplitTile &t)
  {
    const ColumnRows rows (h.p, t.place * N, M);
    int row0 = rows.first;

    this->clear ();
    if (DROP)
      drop.init (h.p, t.bh * h.p.shared);
    barrier_wait (&s.kv_full, this->kv_parity);
    step<true> (t, row0, true);
    row0 += M;
    for (int i = 1;; i++)
      {
        for (; row0 < rows.end; row0 += M)
          if (rows.masked (row0))
            step<true> (t, row0, false);
          else
            step<false> (t, row0, false);
        if (i == h.p.shared)
          break;
        if (DROP)
          drop.init (h.p, t.bh * h.p.shared + i);
        row0 = rows.first;
      }
    warp_arrive (&s.kv_empty, lane);
    barrier_wait (&s.o_full[o_ring.index], o_ring.parity);
    this->multiply_columns (s.dout[o_ring.index]);
    products_wait<0> ();
    pin (sum);
    barrier_arrive (&s.o_empty[o_ring.index]);
    o_ring.advance ();
    this->store (h.p.dv, t, DROP ? h.p.keep_scale : 1.0f);
  }
};

/* dS' and dK */
template <class T, int D, bool DROP>
struct SplitKeys : public SplitColumns<T, D>
{
  using Base = SplitColumns<T, D>;
  using Base::h, Base::s, Base::lane, Base::warp, Base::x, Base::packed;
  using Base::q_ring, Base::o_ring, Base::p_ring, Base::sum;
  static constexpr int M = Base::M, N = Base::N;

  using Base::Base;

  /* x becomes dS' */
  __device__ __forceinline__ void
  differentiate ()
  {
    const uint32_t delta = shared_u32 (s.delta[o_ring.index]) + lane % 4 * 8;
    const uint32_t from =
        shared_u32 (s.p[p_ring.index]) + threadIdx.x % WARPGROUP * 16;

#pragma unroll
    for (int i = 0; i < M / 16; i++)
      {
        uint32_t words[4];

        load_shared4 (words, from + i * WARPGROUP * 16);
#pragma unroll
        for (int w = 0; w < 4; w++)
          {
            const int n = 2 * i + w / 2;
            const float2 d = load_shared2 (delta + n * 32);
            float2 p = unpack2<T> (words[w]);
            float &a = x[n * 4 + w % 2 * 2], &b = x[n * 4 + w % 2 * 2 + 1];

            if (DROP)
              {
                a = signbit (p.x) ? 0.0f : a;
                b = signbit (p.y) ? 0.0f : b;
                p.x = fabsf (p.x);
                p.y = fabsf (p.y);
              }
            a = p.x * (a - d.x);
            b = p.y * (b - d.y);
          }
      }
  }

  __device__ __forceinline__ void
  step (bool first)
  {
    barrier_wait (&s.o_full[o_ring.index], o_ring.parity);
    this->multiply_rows (s.v, s.dout[o_ring.index]);
    if (!first)
      {
        barrier_wait (&s.q_full[q_ring.index], q_ring.parity);
        this->multiply_columns (s.q[q_ring.index]);
        products_wait<1> ();
      }
    else
      products_wait<0> ();
    pin (x);
    barrier_wait (&s.p_full[p_ring.index], p_ring.parity);
    differentiate ();
    pin (x);
    barrier_arrive (&s.o_empty[o_ring.index]);
    o_ring.advance ();
    barrier_arrive (&s.p_empty[p_ring.index]);
    p_ring.advance ();
    if (!first)
      {
        products_wait<0> ();
        pin (sum);
        barrier_arrive (&s.q_empty[q_ring.index]);
        q_ring.advance ();
      }
#pragma unroll
    for (int i = 0; i < M / 16; i++)
#pragma unroll
      for (int w = 0; w < 4; w++)
        packed[i][w] = pack2<T> (x[(2 * i + w / 2) * 4 + w % 2 * 2],
                                 x[(2 * i + w / 2) * 4 + w % 2 * 2 + 1]);
  }

  __device__ __forceinline__ void
  tile (const SplitTile &t)
  {
    const ColumnRows rows (h.p, t.place * N, M);
    const int blocks = (rows.end - rows.first + M - 1) / M * h.p.shared;

    this->clear ();
    barrier_wait (&s.kv_full, this->kv_parity);
    step (true);
    for (int i = 1; i < blocks; i++)
      step (false);
    warp_arrive (&s.kv_empty, lane);
    barrier_wait (&s.q_full[q_ring.index], q_ring.parity);
    this->multiply_columns (s.q[q_ring.index]);
    products_wait<0> ();
    pin (sum);
    barrier_arrive (&s.q_empty[q_ring.index]);
    q_ring.advance ();
    if (!DROP)
      turn_back<D> (sum, h.p, t.place * N + warp * 16 + lane / 4, lane);
    this->store (h.p.dk, t, h.p.grad_scale);
  }
};

template <class Consumer>
__device__ __forceinline__ void
split_consume (Consumer c)
{
  int index = blockIdx.x;

  while (index < c.h.work.tiles ())
    {
      c.tile (c.h.work.at (index));
      c.kv_parity ^= 1;
      index = c.place.next_for_warp (c.s.queue, c.lane);
    }
}

template <class T, int D, bool DROP>
__global__ void
__launch_bounds__ (SPLIT_THREADS, 1)
    split_columns (const __grid_constant__ HopperSplitParams h)
{
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<SplitColumnsShared<D> *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.dout);
      barrier_init (&s.kv_full, 1);
      barrier_init (&s.kv_empty, 8);
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.q_full[i], 1);
          barrier_init (&s.q_empty[i], 2 * WARPGROUP);
          barrier_init (&s.o_full[i], 1);
          barrier_init (&s.o_empty[i], 2 * WARPGROUP);
          barrier_init (&s.p_full[i], WARPGROUP);
          barrier_init (&s.p_empty[i], WARPGROUP);
        }
      queue_init (s.queue, 8 + 1);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<40> ();
      if (threadIdx.x == 0)
        split_columns_producer<D> (h, s);
      else if (threadIdx.x == 32)
        split_columns_dout_producer<D> (h, s);
    }
  else if (threadIdx.x < 2 * WARPGROUP)
    {
      take_registers<232> ();
      split_consume (SplitValues<T, D, DROP> (h, s));
    }
  else
    {
      take_registers<232> ();
      split_consume (SplitKeys<T, D, DROP> (h, s));
    }
}

}

#endif
