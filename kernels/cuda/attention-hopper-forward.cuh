/* SPDX-License-Identifier: Apache-2.0 */

/* Forward attention on Hopper.  A block stays on its multiprocessor and takes
 * tiles of BM rows of one head from a queue, the longest of a few heads
 * first, so that those heads' K and V stay in the L2 cache.  One warpgroup
 * fetches, the others multiply, 64 rows each:
 *
 *   - within a warpgroup, the scores of block j + 1 are multiplied while the
 *     softmax of block j ... is still added up: S(j + 1) = Q K' and
 *     O += P(j) V are in flight together;
 *   - between warpgroups, products are issued in turns, so that one computes
 *     exponentials while the next keeps the tensor cores busy.
 *
 * (Shah et al., "FlashAttention-3", 2024.)  Blocks of columns are walked from
 * the diagonal down, so that only the first need masks. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_FORWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_FORWARD_CUH

#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Bytes of K and V that may be in use at a time: a part of the L2 cache. */
constexpr int64_t L2_SHARE = (int64_t) 16 << 20;

struct HopperForwardParams
{
  Params p;
  int row_tiles;
  int tiles;
  int group; /* heads of Q whose K and V fit into the L2 cache */
  CUtensorMap q, k, v;
};

template <int D, bool DROP> struct HopperForwardTiles
{
  static constexpr int GROUPS = D == 64 || (D == 80 && !DROP) ? 3 : 2;
  static constexpr int BM = 64 * GROUPS;
  static constexpr int BN = D == 64 && DROP    ? 64
                            : D == 80 && !DROP ? 96
                            : D <= 128         ? 128
                                               : 80;
  static constexpr int STAGES = 2;
  static constexpr int THREADS = (GROUPS + 1) * WARPGROUP;
};

template <class Tiles, int D> struct alignas (1024) HopperForwardShared
{
  uint16_t q[Tiles::BM * D];
  uint16_t k[Tiles::STAGES][Tiles::BN * D];
  uint16_t v[Tiles::STAGES][Tiles::BN * D];
  uint64_t q_full, q_empty;
  uint64_t k_full[Tiles::STAGES], k_empty[Tiles::STAGES];
  uint64_t v_full[Tiles::STAGES], v_empty[Tiles::STAGES];
  TileQueue queue;
};

/* Which rows of which head a tile is, and its blocks of columns. */
struct Tile
{
  int row0, bh, first, blocks; /* blocks: behind the last */

  template <int BM, int BN>
  static __device__ __forceinline__ Tile
  at (const HopperForwardParams &h, int index)
  {
    Tile t;
    int in_group = h.group * h.row_tiles;
    int group = index / in_group;
    int rest = index - group * in_group;
    int heads = min (h.group, h.p.batch * h.p.heads - group * h.group);

    t.row0 = (h.row_tiles - 1 - rest / heads) * BM;
    t.bh = group * h.group + rest % heads;
    t.first = first_column (h.p, t.row0) / BN;
    t.blocks = (end_column (h.p, t.row0 + BM - 1) + BN - 1) / BN;
    return t;
  }
};

template <class Tiles, int D>
__device__ __forceinline__ void
forward_producer (const HopperForwardParams &h,
                  HopperForwardShared<Tiles, D> &s)
{
  constexpr int BM = Tiles::BM, BN = Tiles::BN, STAGES = Tiles::STAGES;
  Ring<STAGES> ring;
  QueuePlace place;
  int index = blockIdx.x, q_parity = 1;

  while (index < h.tiles)
    {
      const Tile t = Tile::at<BM, BN> (h, index);
      const int head = t.bh % h.p.heads, batch = t.bh / h.p.heads;
      const int key_head = head / h.p.shared;

      index = gridDim.x + atomicAdd (h.p.queue, 1);
      barrier_wait (&s.q_empty, q_parity);
      q_parity ^= 1;
      barrier_expect (&s.q_full, sizeof s.q);
      load_rows<D, BM> (h.p, s.q, &h.q, &s.q_full, t.row0, head, batch);
      for (int block = t.blocks - 1; block >= t.first; block--)
        {
          barrier_wait (&s.k_empty[ring.index], ring.parity ^ 1);
          barrier_expect (&s.k_full[ring.index], sizeof s.k[0]);
          load_rows<D, BN> (h.p, s.k[ring.index], &h.k, &s.k_full[ring.index],
                            block * BN, key_head, batch);
          barrier_wait (&s.v_empty[ring.index], ring.parity ^ 1);
          barrier_expect (&s.v_full[ring.index], sizeof s.v[0]);
          load_rows<D, BN> (h.p, s.v[ring.index], &h.v, &s.v_full[ring.index],
                            block * BN, key_head, batch);
          ring.advance ();
        }
      place.publish (s.queue, index);
    }
}

/* What one thread of a multiplying warpgroup holds: rows g and g + 8 of its
 * warp's 16. */
template <class T, int D, bool DROP> struct ForwardConsumer
{
  using Tiles = HopperForwardTiles<D, DROP>;
  using Shared = HopperForwardShared<Tiles, D>;
  static constexpr int BM = Tiles::BM, BN = Tiles::BN;
  static constexpr int GROUPS = Tiles::GROUPS, STAGES = Tiles::STAGES;

  const HopperForwardParams &h;
  Shared &s;
  const int group, lane, warp; /* warp in the group */
  Ring<STAGES> k_ring, v_ring;
  int row; /* of the first of this thread's two rows */
  Dropout drop;
  float o[D / 2];
  float scores[BN / 2];
  uint32_t probabilities[BN / 16][4];
  uint32_t kept[BN / 16][4]; /* with dropout: masks of the scores */
  float row_max[2], row_sum[2], rescale[2];

  __device__ __forceinline__
  ForwardConsumer (const HopperForwardParams &h, Shared &s)
      : h (h), s (s), group (threadIdx.x / WARPGROUP - 1),
        lane (threadIdx.x % 32), warp (threadIdx.x / 32 % 4)
  {
  }

  __device__ __forceinline__ void
  take_turn ()
  {
    named_sync (1 + group, 2 * WARPGROUP);
  }

  __device__ __forceinline__ void
  pass_turn_on ()
  {
    named_arrive (1 + (group + 1) % GROUPS, 2 * WARPGROUP);
  }

  /* scores = Q K' for the block in the ring */
  __device__ __forceinline__ void
  multiply_scores ()
  {
    const uint32_t q = shared_base (s.q), k = shared_base (s.k[k_ring.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
      Product<T, BN>::template shared<0, 0> (
          scores, along_rows<D, BM> (q, group * 64, i),
          along_rows<D, BN> (k, 0, i), i > 0);
    products_commit ();
  }

  /* o += probabilities V */
  __device__ __forceinline__ void
  multiply_values ()
  {
    const uint32_t v = shared_base (s.v[v_ring.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < BN / 16; i++)
      Product<T, D>::template registers<1> (o, probabilities[i],
                                            down_rows<D, BN> (v, 0, i), 1);
    products_commit ();
  }

  template <bool MASKED, bool FIRST>
  __device__ __forceinline__ void
  softmax (int block)
  {
    if (MASKED)
      {
        const int column0 = block * BN + lane % 4 * 2;

#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            const int limit =
                min (row + 8 * i + h.p.after, h.p.seq - 1) - column0;
            const int least = row + 8 * i - h.p.before - column0;

#pragma unroll
            for (int n = 0; n < BN / 8; n++)
#pragma unroll
              for (int e = 0; e < 2; e++)
                if (n * 8 + e > limit || n * 8 + e < least)
                  scores[n * 4 + i * 2 + e] = -INFINITY;
          }
      }

#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        float m = FIRST ? -INFINITY : row_max[i];

#pragma unroll
        for (int n = 0; n < BN / 8; n++)
          m = fmaxf (m,
                     fmaxf (scores[n * 4 + i * 2], scores[n * 4 + i * 2 + 1]));
        m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 1));
        m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 2));

        /* a row may have seen no column yet */
        float shift = MASKED && m == -INFINITY ? 0.0f : m * h.p.scale_log2;
        float sum = 0;

        if (!FIRST)
          rescale[i] = exp2_approx (row_max[i] * h.p.scale_log2 - shift);
        row_max[i] = m;
#pragma unroll
        for (int n = 0; n < BN / 8; n++)
#pragma unroll
          for (int e = 0; e < 2; e++)
            {
              float &x = scores[n * 4 + i * 2 + e];

              x = exp2_approx (fmaf (x, h.p.scale_log2, -shift));
              sum += x;
            }
        row_sum[i] = FIRST ? sum : row_sum[i] * rescale[i] + sum;
      }
  }

  __device__ __forceinline__ void
  draw (int block)
  {
    if (DROP)
#pragma unroll
      for (int i = 0; i < BN / 16; i++)
        {
          drop.bits (kept[i], row / 16, block * (BN / 16) + i, lane);
          drop.masks (kept[i]);
        }
  }

  __device__ __forceinline__ void
  pack ()
  {
#pragma unroll
    for (int i = 0; i < BN / 16; i++)
#pragma unroll
      for (int w = 0; w < 4; w++)
        {
          const float *x = &scores[(2 * i + w / 2) * 4 + w % 2 * 2];

          probabilities[i][w] =
              pack2<T> (x[0], x[1]) & (DROP ? kept[i][w] : 0xffffffffu);
        }
  }

  /* The next block's scores, this block's share of o. */
  template <bool MASKED>
  __device__ __forceinline__ void
  step (int block)
  {
    barrier_wait (&s.k_full[k_ring.index], k_ring.parity);
    take_turn ();
    multiply_scores ();
    barrier_wait (&s.v_full[v_ring.index], v_ring.parity);
    multiply_values ();
    pass_turn_on ();
    products_wait<1> ();
    pin (scores);
    warp_arrive (&s.k_empty[k_ring.index], lane);
    k_ring.advance ();
    softmax<MASKED, false> (block);
    draw (block);
    pin (scores);
    if (DROP)
      pin (kept);
    products_wait<0> ();
    pin (o);
    warp_arrive (&s.v_empty[v_ring.index], lane);
    v_ring.advance ();
    pack ();
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      o[i] *= rescale[i / 2 % 2];
  }

  /* Lets a block pass of which this warpgroup needs nothing. */
  __device__ __forceinline__ void
  skip (bool first)
  {
    barrier_wait (&s.k_full[k_ring.index], k_ring.parity);
    if (!first)
      {
        take_turn ();
        pass_turn_on ();
      }
    warp_arrive (&s.k_empty[k_ring.index], lane);
    k_ring.advance ();
    barrier_wait (&s.v_full[v_ring.index], v_ring.parity);
    warp_arrive (&s.v_empty[v_ring.index], lane);
    v_ring.advance ();
  }

  __device__ __forceinline__ void
  store (const Tile &t)
  {
    T *head = head_base<T> (h.p.o, t.bh, h.p.heads);

#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        const int r = row + 8 * i;
        float sum = row_sum[i];

        sum += __shfl_xor_sync (0xffffffffu, sum, 1);
        sum += __shfl_xor_sync (0xffffffffu, sum, 2);
        if (r >= h.p.seq)
          continue;
        if (lane % 4 == 0)
          h.p.lse[(int64_t) t.bh * h.p.seq + r] =
              row_max[i] * h.p.scale + logf (sum);

        const float factor = (DROP ? h.p.keep_scale : 1.0f) / sum;
        T *to = head + r * h.p.o.seq_stride + lane % 4 * 2;

#pragma unroll
        for (int n = 0; n < D / 8; n++)
          if (n * 8 < h.p.head_dim)
            *reinterpret_cast<uint32_t *> (to + n * 8) =
                pack2<T> (o[n * 4 + i * 2] * factor,
                          o[n * 4 + i * 2 + 1] * factor);
      }
  }

  __device__ __forceinline__ void
  tile (const Tile &t, int q_parity)
  {
    const int first_row = t.row0 + group * 64;
    const int columns = end_column (h.p, first_row + 63);
    const int needed = first_row < h.p.seq ? (columns + BN - 1) / BN : 0;
    /* blocks from `least` on and below `whole` need no mask */
    const int whole = end_column (h.p, first_row) / BN;
    const int least = (first_column (h.p, first_row + 63) + BN - 1) / BN;
    int block = t.blocks - 1;

    row = first_row + warp * 16 + lane / 4;
    for (; block >= max (needed, t.first); block--)
      skip (block == t.blocks - 1);
    barrier_wait (&s.q_full, q_parity);
    if (needed == 0)
      {
        warp_arrive (&s.q_empty, lane);
        return;
      }

    if (DROP)
      drop.init (h.p, t.bh);
    barrier_wait (&s.k_full[k_ring.index], k_ring.parity);
    if (block < t.blocks - 1)
      take_turn ();
    multiply_scores ();
    if (block < t.blocks - 1)
      pass_turn_on ();
    products_wait<0> ();
    pin (scores);
    warp_arrive (&s.k_empty[k_ring.index], lane);
    k_ring.advance ();
    softmax<true, true> (block);
    draw (block);
    pack ();
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      o[i] = 0;

    for (block--; block >= t.first; block--)
      if (block >= whole || block < least)
        step<true> (block);
      else
        step<false> (block);
    warp_arrive (&s.q_empty, lane);

    barrier_wait (&s.v_full[v_ring.index], v_ring.parity);
    multiply_values ();
    products_wait<0> ();
    pin (o);
    warp_arrive (&s.v_empty[v_ring.index], lane);
    v_ring.advance ();
    store (t);
  }

  __device__ __forceinline__ void
  run ()
  {
    QueuePlace place;
    int index = blockIdx.x, q_parity = 0;

    if (group == GROUPS - 1)
      named_arrive (1, 2 * WARPGROUP);
    while (index < h.tiles)
      {
        tile (Tile::at<BM, BN> (h, index), q_parity);
        q_parity ^= 1;
        index = place.next_for_warp (s.queue, lane);
      }
  }
};

template <class T, int D, bool DROP>
__global__ void
__launch_bounds__ (HopperForwardTiles<D, DROP>::THREADS, 1)
    hopper_forward (const __grid_constant__ HopperForwardParams h)
{
  using Tiles = HopperForwardTiles<D, DROP>;
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<HopperForwardShared<Tiles, D> *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      constexpr int WARPS = Tiles::GROUPS * 4;

      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      barrier_init (&s.q_full, 1);
      barrier_init (&s.q_empty, WARPS);
      for (int i = 0; i < Tiles::STAGES; i++)
        {
          barrier_init (&s.k_full[i], 1);
          barrier_init (&s.k_empty[i], WARPS);
          barrier_init (&s.v_full[i], 1);
          barrier_init (&s.v_empty[i], WARPS);
        }
      queue_init (s.queue, WARPS);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<Tiles::GROUPS == 3 ? 32 : (D > 128 ? 24 : 40)> ();
      if (threadIdx.x == 0)
        forward_producer<Tiles, D> (h, s);
    }
  else
    {
      take_registers<Tiles::GROUPS == 3 ? 160 : (D > 128 ? 240 : 232)> ();
      ForwardConsumer<T, D, DROP> (h, s).run ();
    }
}

template <class T, int D, bool DROP>
cudaError_t
launch_hopper_forward (const Params &p, cudaStream_t stream)
{
  using Tiles = HopperForwardTiles<D, DROP>;
  constexpr int SHARED = sizeof (HopperForwardShared<Tiles, D>) + 1024;
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  const int64_t head_bytes = (int64_t) p.seq * D * 2 * sizeof (T);
  const auto kernel = hopper_forward<T, D, DROP>;
  HopperForwardParams h;
  cudaError_t status;

  h.p = p;
  h.row_tiles = (p.seq + Tiles::BM - 1) / Tiles::BM;
  h.tiles = h.row_tiles * p.batch * p.heads;
  h.group = (int) max ((int64_t) 1, L2_SHARE / head_bytes) * p.shared;
  status = make_map<D> (&h.q, p, p.q, p.heads, Tiles::BM, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h.k, p, p.k, p.groups, Tiles::BN, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h.v, p, p.v, p.groups, Tiles::BN, BF16, !ragged<D> (p));
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute (kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   SHARED);
  if (status == cudaSuccess)
    status = cudaMemsetAsync (p.queue, 0, sizeof (int), stream);
  if (status != cudaSuccess)
    return status;
  kernel<<<min (h.tiles, p.sm_count), Tiles::THREADS, SHARED, stream>>> (h);
  return cudaGetLastError ();
}

}

#endif
