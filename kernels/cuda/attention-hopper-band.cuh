/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on Hopper of rows that see only a few columns around
 * them: a window of at most 65, without dropout.  A block goes down a head, 128
 * rows at a time.  One warp fetches blocks of 64 rows of Q, dO, K and V into a
 * ring, each once; two warpgroups have a block each in turn, and multiply as
 * attention-hopper-whole.cuh says: first its columns, then its rows, each with
 * the block before, the block itself and the one behind.  So nothing is handed
 * from one warpgroup to the other, and no sum of dQ is in memory.  Two more
 * warps sum the rows of O * dO, as blocks come in. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_BAND_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_BAND_CUH

#include "kernels/cuda/attention-hopper-side.cuh"

namespace qm_attention
{

/* Rows of a block, which is as far as a row may see, and blocks it meets. */
constexpr int BAND_BLOCK = SIDE_ROWS, BAND_MET = 3;

struct HopperBandParams
{
  Params p;
  int blocks; /* of a head */
  int pairs;  /* of these, the last perhaps of one */
  int total;  /* pairs of all heads */
  CUtensorMap q, k, v, o, dout, dq, dk, dv; /* a block at a time */
};

template <int D> struct alignas (1024) HopperBandShared
{
  /* Two pairs need 4 of them at a time, so that 2 are on their way. */
  static constexpr int STAGES = 6;

  uint16_t q[STAGES][BAND_BLOCK * D], dout[STAGES][BAND_BLOCK * D];
  uint16_t k[STAGES][BAND_BLOCK * D], v[STAGES][BAND_BLOCK * D];
  uint16_t out[2][BAND_BLOCK * D]; /* of either warpgroup, on its way */
  uint16_t o[BAND_BLOCK * D];      /* until its rows are summed */
  float lse[STAGES][BAND_BLOCK], delta[STAGES][BAND_BLOCK];
  uint64_t full[STAGES], empty[STAGES];
  uint64_t sums_full[STAGES]; /* lse and delta */
  uint64_t o_full, o_empty;
};

/* Pairs of one head that a block takes one after the other. */
struct BandRun
{
  int bh;
  int pair, end;   /* the first, and the one behind the last */
  int first, last; /* blocks that they meet */

  /* Pairs from `index` of all heads on, to the head's end or before `stop`. */
  static __device__ __forceinline__ BandRun
  from (const HopperBandParams &h, int index, int stop)
  {
    BandRun r;

    r.bh = index / h.pairs;
    r.pair = index - r.bh * h.pairs;
    r.end = min (h.pairs, r.pair + stop - index);
    r.first = max (2 * r.pair - 1, 0);
    r.last = min (2 * r.end, h.blocks - 1);
    return r;
  }
};

/* The pairs of this block are those from here on; the next block's follow. */
__device__ __forceinline__ int
band_start (const HopperBandParams &h, int block)
{
  return (int) ((int64_t) h.total * block / gridDim.x);
}

/* Calls `with (block, bh)` for all blocks that this block of threads fetches.
 */
template <class Function>
__device__ __forceinline__ void
for_band_blocks (const HopperBandParams &h, const Function &with)
{
  const int stop = band_start (h, blockIdx.x + 1);

  for (int i = band_start (h, blockIdx.x); i < stop;)
    {
      const BandRun r = BandRun::from (h, i, stop);

#pragma unroll 1
      for (int b = r.first; b <= r.last; b++)
        with (b, r.bh);
      i += r.end - r.pair;
    }
}

template <int D>
__device__ __forceinline__ void
band_producer (const HopperBandParams &h, HopperBandShared<D> &s)
{
  Ring<HopperBandShared<D>::STAGES> ring;

  for_band_blocks (h, [&] (int b, int bh) {
    const int n = ring.index, row = b * BAND_BLOCK;
    const int head = bh % h.p.heads, batch = bh / h.p.heads;
    uint64_t *full = &s.full[n];

    barrier_wait (&s.empty[n], ring.parity ^ 1);
    barrier_expect (full, 4 * BAND_BLOCK * D * 2);
    load_box (s.dout[n], &h.dout, full, 0, row, head, batch);
    load_box (s.k[n], &h.k, full, 0, row, head, batch);
    load_box (s.v[n], &h.v, full, 0, row, head, batch);
    load_box (s.q[n], &h.q, full, 0, row, head, batch);
    ring.advance ();
  });
}

template <int D>
__device__ __forceinline__ void
band_o_producer (const HopperBandParams &h, HopperBandShared<D> &s)
{
  int parity = 1;

  for_band_blocks (h, [&] (int b, int bh) {
    barrier_wait (&s.o_empty, parity);
    barrier_expect (&s.o_full, BAND_BLOCK * D * 2);
    load_box (s.o, &h.o, &s.o_full, 0, b * BAND_BLOCK, bh % h.p.heads,
              bh / h.p.heads);
    parity ^= 1;
  });
}

/* One of two warps: lse and delta of half of the rows of each block. */
template <class T, int D>
__device__ __forceinline__ void
band_sums (const HopperBandParams &h,
           HopperBandShared<D> &s,
           int half,
           int lane)
{
  constexpr int ROWS = BAND_BLOCK / 2, LANES = D / 8;
  Ring<HopperBandShared<D>::STAGES> ring;
  int parity = 0;

  static_assert (ROWS == 32, "a lane has the lse of a row");
  for_band_blocks (h, [&] (int b, int bh) {
    const int n = ring.index;
    const float lse = side_lse (h.p, bh, b * BAND_BLOCK + half * ROWS + lane);

    /* which the producer did too, but tools do not see that through copies */
    barrier_wait (&s.empty[n], ring.parity ^ 1);
    barrier_wait (&s.o_full, parity);
    barrier_wait (&s.full[n], ring.parity);
    s.lse[n][half * ROWS + lane] = lse;
#pragma unroll 1
    for (int i = 0; i < ROWS * LANES / 32; i++)
      {
        const int r = half * ROWS + i * (32 / LANES) + lane / LANES;
        /* in any order along the row: both are swizzled alike */
        const uint32_t at = r * Chunk<D>::BYTES + lane % LANES * 16;
        uint32_t x[4], y[4];
        float sum = 0;

        load_shared4 (x, shared_u32 (s.o) + at);
        load_shared4 (y, shared_u32 (s.dout[n]) + at);
        add_dot<T> (sum, x, y);
        sum = sum_lanes<LANES> (sum);
        if (lane % LANES == 0)
          s.delta[n][r] = sum;
      }
    warp_arrive (&s.o_empty, lane);
    barrier_arrive (&s.sums_full[n]); /* each lane, of what it wrote */
    parity ^= 1;
    ring.advance ();
  });
}

template <class T, int D> struct BandConsumer
{
  static constexpr int STAGES = HopperBandShared<D>::STAGES;

  const HopperBandParams &h;
  HopperBandShared<D> &s;
  const Place at;
  BandRun run;
  int count = 0;                       /* blocks fetched before this run */
  int met[BAND_MET];                   /* where they are in the ring */
  uint32_t a[D / 16][4], b[D / 16][4]; /* left operands: K and V, or Q and dO */
  float by_p[D / 2], by_ds[D / 2];     /* dV and dK; or dQ, the second */
  SideScores<BAND_BLOCK> block;
  bool hides;             /* a block something of itself */
  float lse[2], delta[2]; /* of this thread's rows */
  /* what its rows, or columns, see: from here, to there */
  int seen[2], unseen[2];

  __device__ __forceinline__
  BandConsumer (const HopperBandParams &h, HopperBandShared<D> &s)
      : h (h), s (s)
  {
  }

  /* Where block i of this run is, once it is there. */
  __device__ __forceinline__ int
  wait_for (int i)
  {
    const int n = count + i - run.first;

    barrier_wait (&s.full[n % STAGES], n / STAGES % 2);
    barrier_wait (&s.sums_full[n % STAGES], n / STAGES % 2);
    return n % STAGES;
  }

  __device__ __forceinline__ void
  take_left (uint32_t (&to)[D / 16][4], const void *tile)
  {
    take_rows<D, BAND_BLOCK> (to, tile, at.warp * 16 + at.lane % 16, at.lane);
  }

  /* x = left right' */
  __device__ __forceinline__ void
  multiply (float (&x)[BAND_BLOCK / 2],
            const uint32_t (&left)[D / 16][4],
            const void *right)
  {
    products_begin ();
    multiply_rows<T, D, BAND_BLOCK, BAND_BLOCK> (x, left, shared_u32 (right));
    products_commit ();
  }

  /* sum += left right */
  __device__ __forceinline__ void
  add_product (float (&sum)[D / 2],
               const uint32_t (&left)[BAND_BLOCK / 16][4],
               const void *right)
  {
    products_begin ();
    add_rows<T, D, BAND_BLOCK, BAND_BLOCK> (sum, left, shared_u32 (right));
    products_commit ();
  }

  /* What row `own` sees, or who sees column `own`: `lower` before it, `upper`
   * behind, of those that there are. */
  __device__ __forceinline__ void
  look (int own, int lower, int upper)
  {
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        seen[i] = max (own + 8 * i - lower, 0);
        unseen[i] = min (own + 8 * i + upper + 1, h.p.seq);
      }
  }

  /* x becomes P, packed; other0 is the first on the other side.  FROM: some may
   * be before what is seen; TO: some may be behind it. */
  template <bool COLUMNS, bool FROM, bool TO>
  __device__ __forceinline__ void
  exponentials (int stage, int other0)
  {
    const uint32_t lse_from = shared_u32 (s.lse[stage]) + at.lane % 4 * 8;
    const int other = other0 + at.lane % 4 * 2;
    const int from[2] = { seen[0] - other, seen[1] - other };
    const int to[2] = { unseen[0] - other, unseen[1] - other };

#pragma unroll
    for (int n = 0; n < BAND_BLOCK / 8; n++)
      {
        float2 l = make_float2 (0, 0);
        float y[4];

        if (COLUMNS)
          l = load_shared2 (lse_from + n * 32);
#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            const float minus = COLUMNS ? (e % 2 ? l.y : l.x) : lse[e / 2];
            const int place = n * 8 + e % 2;

            y[e] =
                exp2_approx (fmaf (block.x[n * 4 + e], h.p.scale_log2, -minus));
            if ((FROM && place < from[e / 2]) || (TO && place >= to[e / 2]))
              y[e] = 0;
          }
        block.p[n / 2][n % 2 * 2] = pack2<T> (y[0], y[1]);
        block.p[n / 2][n % 2 * 2 + 1] = pack2<T> (y[2], y[3]);
      }
  }

  template <bool COLUMNS>
  __device__ __forceinline__ void
  differentiate (int stage)
  {
    differentiate_scores<T, COLUMNS> (
        block, shared_u32 (s.delta[stage]) + at.lane % 4 * 8, delta);
  }

  /* Block I of those met and those that follow.  While probabilities are
   * computed, products of the gradient are under way, and while these are
   * differentiated, those of the next scores. */
  template <bool COLUMNS, int I>
  __device__ __forceinline__ void
  steps (int own)
  {
    constexpr bool LAST = I == BAND_MET - 1;
    constexpr int NEXT = LAST ? I : I + 1;
    const auto &first = COLUMNS ? s.q : s.k, &second = COLUMNS ? s.dout : s.v;

    products_wait<I == 0 ? 1 : 2> ();
    pin (block.x);
    if (I != 1)
      exponentials<COLUMNS, I == 0, LAST> (met[I], (own + I - 1) * BAND_BLOCK);
    else if (hides)
      exponentials<COLUMNS, true, true> (met[I], own * BAND_BLOCK);
    else
      exponentials<COLUMNS, false, false> (met[I], own * BAND_BLOCK);
    pin (block.p);
    if (!LAST)
      multiply (block.x, a, first[met[NEXT]]);
    if (COLUMNS)
      add_product (by_p, block.p, second[met[I]]);

    products_wait<!LAST + COLUMNS> ();
    pin (block.dp);
    differentiate<COLUMNS> (met[I]);
    pin (block.ds);
    if (!LAST)
      multiply (block.dp, b, second[met[NEXT]]);
    add_product (by_ds, block.ds, first[met[I]]);
    if constexpr (!LAST)
      steps<COLUMNS, I + 1> (own);
  }

  /* 64 columns with the rows that see them, or 64 rows with columns. */
  template <bool COLUMNS>
  __device__ __forceinline__ void
  side (int own)
  {
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      {
        by_ds[i] = 0;
        if (COLUMNS)
          by_p[i] = 0;
      }
    multiply (block.x, a, COLUMNS ? s.q[met[0]] : s.k[met[0]]);
    multiply (block.dp, b, COLUMNS ? s.dout[met[0]] : s.v[met[0]]);
    steps<COLUMNS, 0> (own);
    products_wait<0> ();
    pin (by_ds);
    if (COLUMNS)
      pin (by_p);
  }

  __device__ __forceinline__ void
  store (const float (&sum)[D / 2],
         const CUtensorMap *to,
         int own,
         float factor)
  {
    store_rows<T, D> (h.p, at, s.out[at.group], sum, factor, to, run.bh,
                      own * BAND_BLOCK);
  }

  /* In place of a block before the first or behind the last there is the
   * block itself, of which nothing is seen so far away. */
  __device__ __forceinline__ void
  multiply_block (int own)
  {
    const int row = own * BAND_BLOCK + at.warp * 16 + at.lane / 4;

    hides = min (h.p.before, h.p.after) < BAND_BLOCK - 1
            || (own + 1) * BAND_BLOCK > h.p.seq;
#pragma unroll
    for (int i = 0; i < BAND_MET; i++)
      {
        const int other = own + i - 1;

        met[i] = wait_for (other >= 0 && other < h.blocks ? other : own);
      }
    take_left (a, s.k[met[1]]);
    take_left (b, s.v[met[1]]);
    look (row, h.p.after, h.p.before);
    side<true> (own);
    store (by_p, &h.dv, own, 1.0f);
    turn_back<D> (by_ds, h.p, row, at.lane);
    store (by_ds, &h.dk, own, h.p.grad_scale);

    take_left (a, s.q[met[1]]);
    take_left (b, s.dout[met[1]]);
    look (row, h.p.before, h.p.after);
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        lse[i] = s.lse[met[1]][at.warp * 16 + at.lane / 4 + 8 * i];
        delta[i] = s.delta[met[1]][at.warp * 16 + at.lane / 4 + 8 * i];
      }
    side<false> (own);
    turn_back<D> (by_ds, h.p, row, at.lane);
    store (by_ds, &h.dq, own, h.p.grad_scale);
  }

  __device__ __forceinline__ void
  multiply_all ()
  {
    const int stop = band_start (h, blockIdx.x + 1);

    for (int i = band_start (h, blockIdx.x); i < stop; i += run.end - run.pair)
      {
        run = BandRun::from (h, i, stop);
        int given = run.first; /* back, those before */

        for (int pair = run.pair; pair < run.end; pair++)
          {
            const int own = 2 * pair + at.group;
            const int keep = pair + 1 < run.end ? 2 * pair + 1 : run.last + 1;

            if (own < h.blocks)
              multiply_block (own);
            /* Waits for what this warpgroup had no use for, too: it must not
             * give the same place back twice before the other one has. */
            for (; given < keep; given++)
              warp_arrive (&s.empty[wait_for (given)], at.lane);
          }
        count += run.last + 1 - run.first;
      }
    if (threadIdx.x % WARPGROUP == 0)
      bulk_wait<0> ();
  }
};

template <class T, int D>
__global__ void __launch_bounds__ (3 * WARPGROUP, 1)
    hopper_band_backward (const __grid_constant__ HopperBandParams h)
{
  constexpr int REGISTERS = 232; /* of a thread that multiplies */
  extern __shared__ char raw[];
  auto &s = side_memory<HopperBandShared<D>> (raw);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.o);
      prefetch_map (&h.dout);
      for (int i = 0; i < HopperBandShared<D>::STAGES; i++)
        {
          barrier_init (&s.full[i], 1);
          barrier_init (&s.empty[i], 8);
          barrier_init (&s.sums_full[i], 2 * 32);
        }
      barrier_init (&s.o_full, 1);
      barrier_init (&s.o_empty, 2);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * REGISTERS> ();
      if (threadIdx.x == 0)
        band_producer<D> (h, s);
      else if (threadIdx.x == 32)
        band_o_producer<D> (h, s);
      else if (threadIdx.x >= 64)
        band_sums<T, D> (h, s, threadIdx.x / 32 - 2, threadIdx.x % 32);
    }
  else
    {
      take_registers<REGISTERS> ();
      BandConsumer<T, D> (h, s).multiply_all ();
    }
}

/* Whether the kernel can do it. */
inline bool
fits_hopper_band (const Params &p)
{
  return p.before <= BAND_BLOCK && p.after <= BAND_BLOCK && p.shared == 1
         && !p.threshold;
}

template <class T, int D>
cudaError_t
launch_hopper_band (const Params &p, cudaStream_t stream)
{
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  HopperBandParams h;
  const struct
  {
    CUtensorMap *map;
    const QmAttentionTensor *tensor;
  } maps[] = { { &h.q, &p.q },   { &h.k, &p.k },       { &h.v, &p.v },
               { &h.o, &p.o },   { &h.dout, &p.dout }, { &h.dq, &p.dq },
               { &h.dk, &p.dk }, { &h.dv, &p.dv } };
  cudaError_t status;

  static_assert (Chunk<D>::COUNT == 1 && D == 64, "a box has whole rows");
  h.p = p;
  h.blocks = (p.seq + BAND_BLOCK - 1) / BAND_BLOCK;
  h.pairs = (h.blocks + 1) / 2;
  h.total = h.pairs * p.batch * p.heads;
  for (const auto &m : maps)
    {
      status =
          make_map<D> (m.map, p, *m.tensor, p.heads, BAND_BLOCK, BF16, false);
      if (status != cudaSuccess)
        return status;
    }
  return start_side<HopperBandShared<D>> (hopper_band_backward<T, D>, h.total,
                                          h, stream);
}

}

#endif
