/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on Hopper of sequences that fit into shared memory with
 * all that belongs to them, without mask and dropout.  A block has a whole
 * head at a time; one warp fetches the next, two warpgroups multiply, each on
 * its own.  First they share out the columns of the scores, 64 at a time, then
 * the rows:
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

struct HopperWholeParams
{
  Params p;
  int heads;  /* of all sequences */
  int rows;   /* of a head in shared memory: blocks, and a tail or none */
  int groups; /* of 64 columns or rows that are shared out */
  CUtensorMap q, k, v, dout; /* half of the rows at a time, without chunks */
  CUtensorMap dq, dk, dv;    /* 64 rows */
};

template <int D> struct alignas (1024) HopperWholeShared
{
  /* With two, the next head's K and V are there in time. */
  static constexpr int STAGES = D <= 64 ? 2 : 1;

  uint16_t k[STAGES][WHOLE_ROWS * D], v[STAGES][WHOLE_ROWS * D];
  uint16_t q[WHOLE_ROWS * D], dout[WHOLE_ROWS * D];
  uint16_t out[2][SIDE_ROWS * D]; /* of either warpgroup, on its way */
  float lse[STAGES][WHOLE_ROWS + SIDE_ROWS];
  float delta[STAGES][WHOLE_ROWS + SIDE_ROWS];
  uint64_t kv_full[STAGES], kv_empty[STAGES];
  uint64_t q_full[2], q_empty[2]; /* of either half */
};

/* Half of the rows of a head. */
template <int D>
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
    load_box (tile + (c * WHOLE_ROWS + row) * E, map, barrier, c * E, row,
              bh % h.p.heads, bh / h.p.heads);
}

template <int D>
__device__ __forceinline__ void
whole_producer (const HopperWholeParams &h, HopperWholeShared<D> &s)
{
  const int half = h.rows / 2;
  const int sums = h.groups * SIDE_ROWS * 4;
  Ring<HopperWholeShared<D>::STAGES> kv;
  int q_parity = 1;

  for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x)
    {
      const int64_t at = (int64_t) bh * h.p.padded_seq;

      barrier_wait (&s.kv_empty[kv.index], kv.parity ^ 1);
      barrier_expect (&s.kv_full[kv.index], 2 * h.rows * D * 2 + 2 * sums);
      for (int i = 0; i < 2; i++)
        {
          load_half<D> (h, s.k[kv.index], &h.k, &s.kv_full[kv.index], i * half,
                        bh);
          load_half<D> (h, s.v[kv.index], &h.v, &s.kv_full[kv.index], i * half,
                        bh);
        }
      load_bytes (s.lse[kv.index], h.p.lse_log2 + at, sums,
                  &s.kv_full[kv.index]);
      load_bytes (s.delta[kv.index], h.p.delta + at, sums,
                  &s.kv_full[kv.index]);
      for (int i = 0; i < 2; i++)
        {
          barrier_wait (&s.q_empty[i], q_parity);
          barrier_expect (&s.q_full[i], 2 * half * D * 2);
          load_half<D> (h, s.q, &h.q, &s.q_full[i], i * half, bh);
          load_half<D> (h, s.dout, &h.dout, &s.q_full[i], i * half, bh);
        }
      q_parity ^= 1;
      kv.advance ();
    }
}

template <class T, int D, int BLOCKS, bool TAIL> struct WholeConsumer
{
  const HopperWholeParams &h;
  HopperWholeShared<D> &s;
  const Place at;
  Ring<HopperWholeShared<D>::STAGES> kv;
  int q_parity = 0;
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
  WholeConsumer (const HopperWholeParams &h, HopperWholeShared<D> &s)
      : h (h), s (s)
  {
  }

  /* Rows from row0 on as left operands.  What is beyond the last row makes
   * results that nobody stores. */
  __device__ __forceinline__ void
  take_left (Left &to, const void *tile, int row0)
  {
    to.base = shared_u32 (tile) + row0 * Chunk<D>::BYTES;
    if constexpr (IN_REGISTERS)
      take_rows<D, WHOLE_ROWS> (
          to.words, tile, min (row0 + at.warp * 16 + at.lane % 16, h.rows - 1),
          at.lane);
  }

  /* x = left right', R rows from row0 on */
  template <int R>
  __device__ __forceinline__ void
  multiply (float (&x)[R / 2], const Left &left, const void *right, int row0)
  {
    const uint32_t base = shared_u32 (right) + row0 * Chunk<D>::BYTES;

    if constexpr (IN_REGISTERS)
      multiply_rows<T, D, WHOLE_ROWS, R> (x, left.words, base);
    else
#pragma unroll
      for (int i = 0; i < D / 16; i++)
        Product<T, R>::template shared<0, 0> (
            x, along_rows<D, WHOLE_ROWS> (left.base, 0, i),
            along_rows<D, WHOLE_ROWS> (base, 0, i), i > 0);
  }

  /* sum += left right */
  template <int R>
  __device__ __forceinline__ void
  add_product (float (&sum)[D / 2],
               const uint32_t (&left)[R / 16][4],
               const void *right,
               int row0)
  {
    add_rows<T, D, WHOLE_ROWS, R> (sum, left,
                                   shared_u32 (right) + row0 * Chunk<D>::BYTES);
  }

  /* x becomes P, packed; row0 is the first on the other side. */
  template <bool COLUMNS, bool MASKED, int R>
  __device__ __forceinline__ void
  exponentials (SideScores<R> &c, int row0)
  {
    const uint32_t from =
        shared_u32 (s.lse[kv.index]) + (row0 + at.lane % 4 * 2) * 4;

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
    differentiate_scores<T, COLUMNS> (c,
                                      shared_u32 (s.delta[kv.index])
                                          + (row0 + at.lane % 4 * 2) * 4,
                                      delta);
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
    for (int g = at.group; g < h.groups; g += 2)
      {
        take_left (a, s.k[kv.index], g * SIDE_ROWS);
        take_left (b, s.v[kv.index], g * SIDE_ROWS);
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
    if (kept && (g + 2) * SIDE_ROWS >= h.rows / 2)
      {
        warp_arrive (&s.q_empty[0], at.lane);
        kept = false;
      }
    if (g + 2 >= h.groups)
      warp_arrive (&s.q_empty[1], at.lane);
  }

  /* The warpgroup that has fewer columns has more rows. */
  __device__ __forceinline__ void
  rows (int bh)
  {
    bool kept = true; /* the first half of Q and dO */

    for (int g = 1 - at.group; g < h.groups; g += 2)
      {
        const int row0 = g * SIDE_ROWS;
        const int row = row0 + at.warp * 16 + at.lane / 4;

        take_left (a, s.q, row0);
        take_left (b, s.dout, row0);
#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            lse[i] = s.lse[kv.index][row + 8 * i];
            delta[i] = s.delta[kv.index][row + 8 * i];
          }
        if (IN_REGISTERS)
          give_back (g, kept);
        side<false> (s.k[kv.index], s.v[kv.index]);
        if (!IN_REGISTERS)
          give_back (g, kept);
        turn_back<D> (by_ds, h.p, row, at.lane);
        store (by_ds, &h.dq, bh, row0, h.p.grad_scale);
      }
  }

  __device__ __forceinline__ void
  run ()
  {
    for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x)
      {
        barrier_wait (&s.kv_full[kv.index], kv.parity);
        barrier_wait (&s.q_full[0], q_parity);
        barrier_wait (&s.q_full[1], q_parity);
        q_parity ^= 1;
        columns (bh);
        rows (bh);
        warp_arrive (&s.kv_empty[kv.index], at.lane);
        kv.advance ();
      }
    if (threadIdx.x % WARPGROUP == 0)
      bulk_wait<0> ();
  }
};

template <class T, int D, int BLOCKS, bool TAIL>
__global__ void __launch_bounds__ (3 * WARPGROUP, 1)
    hopper_whole_backward (const __grid_constant__ HopperWholeParams h)
{
  constexpr int REGISTERS = 240; /* of a thread that multiplies */
  extern __shared__ char raw[];
  auto &s = side_memory<HopperWholeShared<D>> (raw);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.dout);
      for (int i = 0; i < HopperWholeShared<D>::STAGES; i++)
        {
          barrier_init (&s.kv_full[i], 1);
          barrier_init (&s.kv_empty[i], 8);
        }
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.q_full[i], 1);
          barrier_init (&s.q_empty[i], 8);
        }
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * REGISTERS> ();
      if (threadIdx.x == 0)
        whole_producer<D> (h, s);
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
  return start_side<HopperWholeShared<D>> (
      hopper_whole_backward<T, D, BLOCKS, TAIL>, h.heads, h, stream);
}

template <class T, int D>
cudaError_t
launch_hopper_whole (const Params &p, cudaStream_t stream)
{
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  const int rest = p.seq % SIDE_ROWS;
  const bool tail = rest > 0 && rest <= WHOLE_TAIL;
  HopperWholeParams h;
  cudaError_t status;

  h.p = p;
  h.heads = p.batch * p.heads;
  h.groups = (p.seq + SIDE_ROWS - 1) / SIDE_ROWS;
  const int blocks = h.groups - tail;
  h.rows = blocks * SIDE_ROWS + (tail ? WHOLE_TAIL : 0);
  status = make_map<D> (&h.q, p, p.q, p.heads, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.k, p, p.k, p.heads, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.v, p, p.v, p.heads, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dout, p, p.dout, p.heads, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dq, p, p.dq, p.heads, SIDE_ROWS, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dk, p, p.dk, p.heads, SIDE_ROWS, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.dv, p, p.dv, p.heads, SIDE_ROWS, BF16, false);
  if (status == cudaSuccess)
    status = launch_row_sums<T, D, Zeroed::NOTHING> (p, stream);
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
