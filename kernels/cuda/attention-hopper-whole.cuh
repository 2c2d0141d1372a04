/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on Hopper of sequences that fit into shared memory with
 * all that belongs to them, without mask and dropout.  A block has a whole
 * head at a time; one warp fetches the next, three sum the rows of its O * dO,
 * two warpgroups multiply, each on its own.  First they share out the columns
 * of the scores, 64 at a time, then the rows:
 *
 *   S' = K Q'     P' = exp (S' - lse)     dV += P' dO
 *   dP' = V dO'   dS' = P' (dP' - delta)  dK += dS' Q
 *
 *   S = Q K'      P = exp (S - lse)
 *   dP = dO V'    dS = P (dP - delta)     dQ += dS K
 *
 * That makes scores twice, 7 products instead of 5; but nothing is handed from
 * one warpgroup to the other, no sum of dQ is in memory, and the other side of
 * the scores is as long as the sequence to the next 16, not 128. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_WHOLE_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_WHOLE_CUH

#include "kernels/cuda/attention-hopper-side.cuh"

namespace qm_attention
{

constexpr int WHOLE_TAIL = 16;
/* Rows of a head that there is room for. */
constexpr int WHOLE_ROWS = WHOLE_MAX_SEQ;
static_assert (WHOLE_ROWS == 4 * SIDE_ROWS + WHOLE_TAIL
                   && WHOLE_MIN_SEQ == SIDE_ROWS + WHOLE_TAIL + 1,
               "two to four blocks and a tail");

/* Rows of a head in shared memory. */
__host__ __device__ constexpr int
whole_rows (int blocks, bool tail)
{
  return blocks * SIDE_ROWS + (tail ? WHOLE_TAIL : 0);
}

struct HopperWholeParams
{
  Params p;
  int heads; /* of all sequences */
  /* half of the rows at a time, without chunks */
  CUtensorMap q, k, v, o, dout;
  CUtensorMap dq, dk, dv; /* 64 rows */
};

/* Threads that sum rows. */
constexpr int WHOLE_SUMMERS = 3 * 32;

/* ROWS: of a head, blocks, and a tail or none. */
template <int D, int ROWS> struct alignas (1024) HopperWholeShared
{
  /* With two, the next head's K and V are there in time. */
  static constexpr int STAGES = D <= 64 ? 2 : 1;
  /* Whether there is room for O beside the rest.  Else it is in Q's place, half
   * of it at a time, which Q gets when the rows are summed: in time, if the
   * last rows of the head before take long enough. */
  static constexpr bool APART =
      ((2 * STAGES + 3) * ROWS + 2 * SIDE_ROWS) * D * 2 + 4 * ROWS * 4 + 192
      <= SIDE_MEMORY;

  uint16_t k[STAGES][ROWS * D], v[STAGES][ROWS * D];
  uint16_t q[ROWS * D], dout[ROWS * D];
  uint16_t out[2][SIDE_ROWS * D]; /* of either warpgroup, on its way */
  uint16_t apart[APART ? ROWS * D : 8];
  float lse[2][ROWS], delta[2][ROWS]; /* of this head and the next */
  uint64_t kv_full[STAGES], kv_empty[STAGES];
  uint64_t lse_full[2], delta_full[2], sums_empty[2];
  /* of either half; empty: of Q and dO */
  uint64_t q_full[2], dout_full[2], q_empty[2], o_full[2], o_empty[2];

  __device__ __forceinline__ uint16_t *
  o ()
  {
    return APART ? apart : q;
  }
};

/* Half of the rows of a head. */
template <int D, int ROWS>
__device__ __forceinline__ void
load_half (const HopperWholeParams &h,
           uint16_t *tile,
           const CUtensorMap *map,
           uint64_t *barrier,
           int row,
           int bh)
{
  constexpr int E = Chunk<D>::ELEMENTS;

  for (int c = 0; c < Chunk<D>::COUNT; c++)
    load_box (tile + (c * ROWS + row) * E, map, barrier, c * E, row,
              bh % h.p.heads, bh / h.p.heads);
}

template <int D, int ROWS>
__device__ __forceinline__ void
whole_producer (const HopperWholeParams &h, HopperWholeShared<D, ROWS> &s)
{
  using Shared = HopperWholeShared<D, ROWS>;
  constexpr int STAGES = Shared::STAGES, HALF = ROWS / 2, BYTES = HALF * D * 2;
  constexpr bool APART = Shared::APART;
  const auto load_o = [&] (int bh, int i) {
    barrier_expect (&s.o_full[i], BYTES);
    load_half<D, ROWS> (h, s.o (), &h.o, &s.o_full[i], i * HALF, bh);
  };
  int turn = 0;

  for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x, turn++)
    {
      const int n = turn % STAGES;

      if constexpr (APART) /* first, for its place is the first to be free */
        for (int i = 0; i < 2; i++)
          {
            barrier_wait (&s.o_empty[i], turn % 2 ^ 1);
            load_o (bh, i);
          }
      barrier_wait (&s.kv_empty[n], turn / STAGES % 2 ^ 1);
      barrier_expect (&s.kv_full[n], 4 * BYTES);
      for (int i = 0; i < 2; i++)
        {
          load_half<D, ROWS> (h, s.k[n], &h.k, &s.kv_full[n], i * HALF, bh);
          load_half<D, ROWS> (h, s.v[n], &h.v, &s.kv_full[n], i * HALF, bh);
        }
      for (int i = 0; i < 2; i++)
        {
          barrier_wait (&s.q_empty[i], turn % 2 ^ 1);
          if constexpr (!APART)
            load_o (bh, i);
          barrier_expect (&s.dout_full[i], BYTES);
          load_half<D, ROWS> (h, s.dout, &h.dout, &s.dout_full[i], i * HALF,
                              bh);
          if constexpr (!APART)
            barrier_wait (&s.o_empty[i], turn % 2);
          barrier_expect (&s.q_full[i], BYTES);
          load_half<D, ROWS> (h, s.q, &h.q, &s.q_full[i], i * HALF, bh);
        }
    }
}

/* The sum of o * dout of row r, in any order: both are swizzled alike.  So
 * neighbours read 16 bytes at a time from different banks. */
template <class T, int D, int ROWS>
__device__ __forceinline__ float
sum_row (uint32_t o, uint32_t dout, unsigned r)
{
  constexpr int BYTES = Chunk<D>::BYTES;
  const uint32_t row = r * BYTES + r / (128 / BYTES) % (BYTES / 16) * 16;
  float sum = 0;

#pragma unroll 1
  for (int chunk = 0; chunk < D * 2 / BYTES; chunk++)
#pragma unroll
    for (int part = 0; part < BYTES; part += 16)
      {
        const uint32_t at = chunk * (ROWS * BYTES) + (row ^ part);
        uint32_t x[4], y[4];

        load_shared4 (x, o + at);
        load_shared4 (y, dout + at);
        add_dot<T> (sum, x, y);
      }
  return sum;
}

/* One thread of three warps: lse of each head, before its turn, and delta of
 * either half once dO is there.  Who multiplies gives dO back when delta is
 * there. */
template <class T, int D, int ROWS>
__device__ __forceinline__ void
whole_sums (const HopperWholeParams &h, HopperWholeShared<D, ROWS> &s)
{
  constexpr int HALF = ROWS / 2;
  const unsigned thread = threadIdx.x - 32;

#pragma unroll 1
  for (unsigned halves = 0;; halves++)
    {
      const int turn = halves / 2, n = turn % 2, i = halves % 2;
      const int bh = blockIdx.x + turn * gridDim.x;

      if (bh >= h.heads)
        return;
      if (i == 0)
        {
          /* Who gave dO of the last head back had read these before, but tools
           * do not see that through copies. */
          barrier_wait (&s.sums_empty[n], turn / 2 % 2 ^ 1);
#pragma unroll 1
          for (unsigned r = thread; r < ROWS; r += WHOLE_SUMMERS)
            store_shared (shared_u32 (s.lse[n]) + r * 4, side_lse (h.p, bh, r));
          barrier_arrive (&s.lse_full[n]); /* each thread, of what it wrote */
        }
      barrier_wait (&s.o_full[i], turn % 2);
      barrier_wait (&s.dout_full[i], turn % 2);
#pragma unroll 1
      for (unsigned r = thread; r < HALF; r += WHOLE_SUMMERS)
        store_shared (shared_u32 (s.delta[n] + i * HALF) + r * 4,
                      sum_row<T, D, ROWS> (shared_u32 (s.o ()),
                                           shared_u32 (s.dout), i * HALF + r));
      barrier_arrive (&s.o_empty[i]);
      barrier_arrive (&s.delta_full[n]);
    }
}

template <class T, int D, int BLOCKS, bool TAIL> struct WholeConsumer
{
  static constexpr int ROWS = whole_rows (BLOCKS, TAIL);
  static constexpr int GROUPS = BLOCKS + TAIL; /* of columns or rows */
  using Shared = HopperWholeShared<D, ROWS>;

  const HopperWholeParams &h;
  Shared &s;
  const Place at;
  int turn = 0; /* heads before this one */
  /* Left operands: 64 rows of K and V, or of Q and dO; in registers, but for
   * heads that leave too few. */
  static constexpr bool IN_REGISTERS = D <= 64;
  struct Left
  {
    uint32_t words[IN_REGISTERS ? D / 16 : 1][4];
    uint32_t base;
  };
  Left a, b;
  float by_p[D / 2], by_ds[D / 2]; /* dV and dK; or dQ, the second */
  SideScores<SIDE_ROWS> block;
  SideScores<WHOLE_TAIL> tail; /* after the last block */
  float lse[2], delta[2];      /* of this thread's rows */

  __device__ __forceinline__
  WholeConsumer (const HopperWholeParams &h, Shared &s)
      : h (h), s (s)
  {
  }

  /* Where K and V of this head are. */
  __device__ __forceinline__ int
  kv () const
  {
    return turn % Shared::STAGES;
  }

  /* Where lse and delta are. */
  __device__ __forceinline__ int
  sums () const
  {
    return turn % 2;
  }

  /* Rows from row0 on as left operands.  What is beyond the last row makes
   * results that nobody stores. */
  __device__ __forceinline__ void
  take_left (Left &to, const void *tile, int row0)
  {
    to.base = shared_u32 (tile) + row0 * Chunk<D>::BYTES;
    if constexpr (IN_REGISTERS)
      take_rows<D, ROWS> (to.words, tile,
                          min (row0 + at.warp * 16 + at.lane % 16, ROWS - 1),
                          at.lane);
  }

  /* x = left right', R rows from row0 on */
  template <int R>
  __device__ __forceinline__ void
  multiply (float (&x)[R / 2], const Left &left, const void *right, int row0)
  {
    const uint32_t base = shared_u32 (right) + row0 * Chunk<D>::BYTES;

    if constexpr (IN_REGISTERS)
      multiply_rows<T, D, ROWS, R> (x, left.words, base);
    else
#pragma unroll
      for (int i = 0; i < D / 16; i++)
        Product<T, R>::template shared<0, 0> (
            x, along_rows<D, ROWS> (left.base, 0, i),
            along_rows<D, ROWS> (base, 0, i), i > 0);
  }

  /* sum += left right */
  template <int R>
  __device__ __forceinline__ void
  add_product (float (&sum)[D / 2],
               const uint32_t (&left)[R / 16][4],
               const void *right,
               int row0)
  {
    add_rows<T, D, ROWS, R> (sum, left,
                             shared_u32 (right) + row0 * Chunk<D>::BYTES);
  }

  /* x becomes P, packed; row0 is the first on the other side. */
  template <bool COLUMNS, bool MASKED, int R>
  __device__ __forceinline__ void
  exponentials (SideScores<R> &c, int row0)
  {
    const uint32_t from =
        shared_u32 (s.lse[sums ()]) + (row0 + at.lane % 4 * 2) * 4;

#pragma unroll
    for (int n = 0; n < R / 8; n++)
      {
        float2 l = make_float2 (0, 0);
        float y[4];

        if (COLUMNS)
          l = load_shared2 (from + n * 32);
#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            const float minus = COLUMNS ? (e % 2 ? l.y : l.x) : lse[e / 2];

            y[e] = exp2_approx (fmaf (c.x[n * 4 + e], h.p.scale_log2, -minus));
            if (MASKED && row0 + n * 8 + at.lane % 4 * 2 + e % 2 >= h.p.seq)
              y[e] = 0;
          }
        c.p[n / 2][n % 2 * 2] = pack2<T> (y[0], y[1]);
        c.p[n / 2][n % 2 * 2 + 1] = pack2<T> (y[2], y[3]);
      }
  }

  template <bool COLUMNS, int R>
  __device__ __forceinline__ void
  differentiate (SideScores<R> &c, int row0)
  {
    differentiate_scores<T, COLUMNS> (
        c, shared_u32 (s.delta[sums ()]) + (row0 + at.lane % 4 * 2) * 4, delta);
  }

  /* The first products of block I of the other side, with the tail where that
   * is the last: scores, or their gradient. */
  template <int I>
  __device__ __forceinline__ void
  multiply_scores (const void *first)
  {
    if (I == BLOCKS)
      return;
    products_begin ();
    multiply<SIDE_ROWS> (block.x, a, first, I * SIDE_ROWS);
    if (TAIL && I == BLOCKS - 1)
      multiply<WHOLE_TAIL> (tail.x, a, first, BLOCKS * SIDE_ROWS);
    products_commit ();
  }

  template <int I>
  __device__ __forceinline__ void
  multiply_gradients (const void *second)
  {
    if (I == BLOCKS)
      return;
    products_begin ();
    multiply<SIDE_ROWS> (block.dp, b, second, I * SIDE_ROWS);
    if (TAIL && I == BLOCKS - 1)
      multiply<WHOLE_TAIL> (tail.dp, b, second, BLOCKS * SIDE_ROWS);
    products_commit ();
  }

  /* Block I of the other side and those that follow.  While probabilities are
   * computed, products of the gradient are under way, and while these are
   * differentiated, those of the next scores. */
  template <bool COLUMNS, int I>
  __device__ __forceinline__ void
  steps (const void *first, const void *second)
  {
    constexpr bool LAST = I == BLOCKS - 1, HERE = TAIL && LAST;
    constexpr int ROW0 = I * SIDE_ROWS, NEXT = ROW0 + SIDE_ROWS;

    products_wait<I == 0 ? 1 : 2> ();
    pin (block.x);
    exponentials<COLUMNS, !COLUMNS && LAST> (block, ROW0);
    pin (block.p);
    if (HERE)
      {
        pin (tail.x);
        exponentials<COLUMNS, !COLUMNS> (tail, NEXT);
        pin (tail.p);
      }
    multiply_scores<I + 1> (first);
    if (COLUMNS)
      {
        products_begin ();
        add_product<SIDE_ROWS> (by_p, block.p, second, ROW0);
        if (HERE)
          add_product<WHOLE_TAIL> (by_p, tail.p, second, NEXT);
        products_commit ();
      }

    if (COLUMNS && I == 0)
      barrier_wait (&s.delta_full[sums ()], turn / 2 % 2);
    products_wait<!LAST + COLUMNS> ();
    pin (block.dp);
    differentiate<COLUMNS> (block, ROW0);
    pin (block.ds);
    if (HERE)
      {
        pin (tail.dp);
        differentiate<COLUMNS> (tail, NEXT);
        pin (tail.ds);
      }
    multiply_gradients<I + 1> (second);
    products_begin ();
    add_product<SIDE_ROWS> (by_ds, block.ds, first, ROW0);
    if (HERE)
      add_product<WHOLE_TAIL> (by_ds, tail.ds, first, NEXT);
    products_commit ();
    if constexpr (!LAST)
      steps<COLUMNS, I + 1> (first, second);
  }

  /* 64 columns with all rows, or 64 rows with all columns. */
  template <bool COLUMNS>
  __device__ __forceinline__ void
  side (const void *first, const void *second)
  {
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      {
        by_ds[i] = 0;
        if (COLUMNS)
          by_p[i] = 0;
      }
    multiply_scores<0> (first);
    multiply_gradients<0> (second);
    steps<COLUMNS, 0> (first, second);
    products_wait<0> ();
    pin (by_ds);
    if (COLUMNS)
      pin (by_p);
  }

  __device__ __forceinline__ void
  store (const float (&sum)[D / 2],
         const CUtensorMap *to,
         int bh,
         int row0,
         float factor)
  {
    store_rows<T, D> (h.p, at, s.out[at.group], sum, factor, to, bh, row0);
  }

  __device__ __forceinline__ void
  columns (int bh)
  {
#pragma unroll 1
    for (int g = at.group; g < GROUPS; g += 2)
      {
        take_left (a, s.k[kv ()], g * SIDE_ROWS);
        take_left (b, s.v[kv ()], g * SIDE_ROWS);
        side<true> (s.q, s.dout);
        store (by_p, &h.dv, bh, g * SIDE_ROWS, 1.0f);
        turn_back<D> (by_ds, h.p, g * SIDE_ROWS + at.warp * 16 + at.lane / 4,
                      at.lane);
        store (by_ds, &h.dk, bh, g * SIDE_ROWS, h.p.grad_scale);
      }
  }

  /* Gives back what this warpgroup needs no more of Q and dO: all after its
   * last rows, the first half once the next are in the second. */
  __device__ __forceinline__ void
  give_back (int g, bool &kept)
  {
    if (kept && (g + 2) * SIDE_ROWS >= ROWS / 2)
      {
        warp_arrive (&s.q_empty[0], at.lane);
        kept = false;
      }
    if (g + 2 >= GROUPS)
      warp_arrive (&s.q_empty[1], at.lane);
  }

  /* The warpgroup that has fewer columns has more rows. */
  __device__ __forceinline__ void
  rows (int bh)
  {
    bool kept = true; /* the first half of Q and dO */

#pragma unroll 1
    for (int g = 1 - at.group; g < GROUPS; g += 2)
      {
        const int row0 = g * SIDE_ROWS;
        const int row = row0 + at.warp * 16 + at.lane / 4;

        take_left (a, s.q, row0);
        take_left (b, s.dout, row0);
#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            lse[i] = s.lse[sums ()][min (row + 8 * i, ROWS - 1)];
            delta[i] = s.delta[sums ()][min (row + 8 * i, ROWS - 1)];
          }
        if (IN_REGISTERS)
          give_back (g, kept);
        side<false> (s.k[kv ()], s.v[kv ()]);
        if (!IN_REGISTERS)
          give_back (g, kept);
        turn_back<D> (by_ds, h.p, row, at.lane);
        store (by_ds, &h.dq, bh, row0, h.p.grad_scale);
      }
  }

  __device__ __forceinline__ void
  run ()
  {
    for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x, turn++)
      {
        barrier_wait (&s.kv_full[kv ()], turn / Shared::STAGES % 2);
        barrier_wait (&s.lse_full[sums ()], turn / 2 % 2);
        for (int i = 0; i < 2; i++)
          {
            barrier_wait (&s.q_full[i], turn % 2);
            barrier_wait (&s.dout_full[i], turn % 2);
          }
        columns (bh);
        rows (bh);
        warp_arrive (&s.kv_empty[kv ()], at.lane);
        warp_arrive (&s.sums_empty[sums ()], at.lane);
      }
    if (threadIdx.x % WARPGROUP == 0)
      bulk_wait<0> ();
  }
};

template <class T, int D, int BLOCKS, bool TAIL>
__global__ void __launch_bounds__ (3 * WARPGROUP, 1)
    hopper_whole_backward (const __grid_constant__ HopperWholeParams h)
{
  /* of a thread that multiplies */
  constexpr int REGISTERS = D == 64 && TAIL ? 240 : 232;
  constexpr int ROWS = whole_rows (BLOCKS, TAIL);
  using Shared = HopperWholeShared<D, ROWS>;
  extern __shared__ char raw[];
  auto &s = side_memory<Shared> (raw);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.o);
      prefetch_map (&h.dout);
      for (int i = 0; i < Shared::STAGES; i++)
        {
          barrier_init (&s.kv_full[i], 1);
          barrier_init (&s.kv_empty[i], 8);
        }
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.q_full[i], 1);
          barrier_init (&s.dout_full[i], 1);
          barrier_init (&s.q_empty[i], 8);
          barrier_init (&s.o_full[i], 1);
          barrier_init (&s.o_empty[i], WHOLE_SUMMERS);
          barrier_init (&s.lse_full[i], WHOLE_SUMMERS);
          barrier_init (&s.delta_full[i], 2 * WHOLE_SUMMERS); /* two halves */
          barrier_init (&s.sums_empty[i], 8);
        }
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * REGISTERS> ();
      if (threadIdx.x == 0)
        whole_producer<D, ROWS> (h, s);
      else if (threadIdx.x >= 32)
        whole_sums<T, D, ROWS> (h, s);
    }
  else
    {
      take_registers<REGISTERS> ();
      WholeConsumer<T, D, BLOCKS, TAIL> (h, s).run ();
    }
}

/* Whether the kernel can do it.  Large heads leave no registers for a tail. */
template <int D>
bool
fits_hopper_whole (const Params &p)
{
  const int rest = p.seq % SIDE_ROWS;

  return p.seq >= WHOLE_MIN_SEQ && p.seq <= WHOLE_MAX_SEQ
         && (D <= 64 || rest == 0 || rest > WHOLE_TAIL) && p.shared == 1
         && !p.threshold && p.before >= p.seq && p.after >= p.seq;
}

template <class T, int D, int BLOCKS, bool TAIL>
cudaError_t
start_hopper_whole (const HopperWholeParams &h, cudaStream_t stream)
{
  using Shared = HopperWholeShared<D, whole_rows (BLOCKS, TAIL)>;

  return start_side<Shared> (hopper_whole_backward<T, D, BLOCKS, TAIL>, h.heads,
                             h, stream);
}

template <class T, int D>
cudaError_t
launch_hopper_whole (const Params &p, cudaStream_t stream)
{
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  const int rest = p.seq % SIDE_ROWS;
  const bool tail = rest > 0 && rest <= WHOLE_TAIL;
  const int blocks = (p.seq + SIDE_ROWS - 1) / SIDE_ROWS - tail;
  const int half = whole_rows (blocks, tail) / 2;
  HopperWholeParams h;
  cudaError_t status;

  h.p = p;
  h.heads = p.batch * p.heads;
  status = make_map<D> (&h.q, p, p.q, p.heads, half, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.k, p, p.k, p.heads, half, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.v, p, p.v, p.heads, half, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.o, p, p.o, p.heads, half, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dout, p, p.dout, p.heads, half, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dq, p, p.dq, p.heads, SIDE_ROWS, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dk, p, p.dk, p.heads, SIDE_ROWS, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dv, p, p.dv, p.heads, SIDE_ROWS, BF16, false);
  if (status != cudaSuccess)
    return status;
  switch (2 * blocks + tail)
    {
    case 4:
      return start_hopper_whole<T, D, 2, false> (h, stream);
    case 5:
      if constexpr (D <= 64)
        return start_hopper_whole<T, D, 2, true> (h, stream);
    case 6:
      return start_hopper_whole<T, D, 3, false> (h, stream);
    case 7:
      if constexpr (D <= 64)
        return start_hopper_whole<T, D, 3, true> (h, stream);
    case 8:
      return start_hopper_whole<T, D, 4, false> (h, stream);
    case 9:
      if constexpr (D <= 64)
        return start_hopper_whole<T, D, 4, true> (h, stream);
    }
  return cudaErrorInvalidValue;
}

}

#endif
