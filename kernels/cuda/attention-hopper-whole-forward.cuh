/* SPDX-License-Identifier: Apache-2.0 */

/* Forward attention on Hopper of sequences that fit into shared memory, without
 * mask and dropout.  A block takes head after head; one warp fetches the next,
 * two warpgroups multiply, 64 rows of the head at a time, in turns:
 *
 *   S = Q K'     P = exp (S - max)     O = P V
 *
 * A warpgroup has its rows of S in registers, so that nothing is added up and
 * scaled again, and the columns are as many as the sequence is long to the next
 * 16 or 64, not 128; while one computes exponentials, the other multiplies.  O
 * leaves through the memory of the rows of Q that it was made of. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_WHOLE_FORWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_WHOLE_FORWARD_CUH

#include "kernels/cuda/attention-hopper-whole.cuh"

namespace qm_attention
{

struct HopperWholeForwardParams
{
  Params p;
  int heads;  /* of all sequences */
  int rows;   /* of a head in shared memory: blocks, and a tail or none */
  int groups; /* of 64 rows that are shared out */
  CUtensorMap q, k, v; /* half of the rows at a time, without chunks */
  CUtensorMap o;       /* 64 rows */
};

/* Q, K and V of head after head go through a ring of tiles. */
template <int D> struct alignas (1024) HopperWholeForwardShared
{
  static constexpr int TILES = D <= 64 ? 6 : 5;

  uint16_t tile[TILES][WHOLE_ROWS * D];
  /* What the rows behind a tail read, and nobody stores. */
  uint16_t beyond[(SIDE_ROWS - WHOLE_TAIL) * D];
  uint64_t full[TILES], empty[TILES];
};

template <int D>
__device__ __forceinline__ void
whole_forward_producer (const HopperWholeForwardParams &h,
                        HopperWholeForwardShared<D> &s)
{
  constexpr int E = Chunk<D>::ELEMENTS;
  const CUtensorMap *const maps[] = { &h.q, &h.k, &h.v };
  const int half = h.rows / 2;
  Ring<HopperWholeForwardShared<D>::TILES> ring;

  for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x)
    {
      const int batch = bh / h.p.heads, head = bh % h.p.heads;

#pragma unroll
      for (int i = 0; i < 3; i++)
        {
          uint64_t *full = &s.full[ring.index];

          barrier_wait (&s.empty[ring.index], ring.parity ^ 1);
          barrier_expect (full, h.rows * D * 2);
          for (int row = 0; row < h.rows; row += half)
            for (int c = 0; c < Chunk<D>::COUNT; c++)
              load_box (s.tile[ring.index] + (c * WHOLE_ROWS + row) * E,
                        maps[i], full, c * E, row,
                        i == 0 ? head : head / h.p.shared, batch);
          ring.advance ();
        }
    }
}

template <class T, int D, int BLOCKS, bool TAIL> struct WholeForwardConsumer
{
  using Shared = HopperWholeForwardShared<D>;
  static constexpr int COLUMNS = BLOCKS * SIDE_ROWS;

  const HopperWholeForwardParams &h;
  Shared &s;
  const Place at;
  Ring<Shared::TILES> q, k, v;
  int held; /* the tile of Q before, not given back yet, or -1 */
  float o[D / 2];
  float scores[COLUMNS / 2], tail[WHOLE_TAIL / 2];
  uint32_t p[COLUMNS / 16][4], tail_p[1][4];
  float row_max[2], row_sum[2];

  __device__ __forceinline__
  WholeForwardConsumer (const HopperWholeForwardParams &h, Shared &s)
      : h (h), s (s), held (-1)
  {
    k.advance ();
    v.advance ();
    v.advance ();
  }

  /* What was stored from there is read. */
  __device__ __forceinline__ void
  give_back_held ()
  {
    if (held < 0)
      return;
    if (threadIdx.x % WARPGROUP == 0)
      bulk_wait_read<0> ();
    warp_arrive (&s.empty[held], at.lane);
    held = -1;
  }

  __device__ __forceinline__ void
  multiply_scores (int row0)
  {
    const uint32_t left = shared_u32 (s.tile[q.index]) + row0 * Chunk<D>::BYTES;
    const uint32_t right = shared_u32 (s.tile[k.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
      Product<T, COLUMNS>::template shared<0, 0> (
          scores, along_rows<D, WHOLE_ROWS> (left, 0, i),
          along_rows<D, WHOLE_ROWS> (right, 0, i), i > 0);
    if (TAIL)
#pragma unroll
      for (int i = 0; i < D / 16; i++)
        Product<T, WHOLE_TAIL>::template shared<0, 0> (
            tail, along_rows<D, WHOLE_ROWS> (left, 0, i),
            along_rows<D, WHOLE_ROWS> (right, COLUMNS, i), i > 0);
    products_commit ();
  }

  __device__ __forceinline__ void
  multiply_values ()
  {
    const uint32_t right = shared_u32 (s.tile[v.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < COLUMNS / 16; i++)
      Product<T, D>::template registers<1> (
          o, p[i], down_rows<D, WHOLE_ROWS> (right, 0, i), i > 0);
    if (TAIL)
      Product<T, D>::template registers<1> (
          o, tail_p[0], down_rows<D, WHOLE_ROWS> (right, 0, COLUMNS / 16), 1);
    products_commit ();
  }

  /* Columns from column0 on that are none become nothing. */
  template <int R>
  __device__ __forceinline__ void
  mask (float (&x)[R], int first, int column0)
  {
    const int limit = h.p.seq - column0 - at.lane % 4 * 2;

#pragma unroll
    for (int i = first; i < R; i++)
      if (i / 4 * 8 + i % 2 >= limit)
        x[i] = -INFINITY;
  }

  template <int R>
  __device__ __forceinline__ void
  largest (const float (&x)[R])
  {
#pragma unroll
    for (int i = 0; i < R; i++)
      row_max[i / 2 % 2] = fmaxf (row_max[i / 2 % 2], x[i]);
  }

  template <int R>
  __device__ __forceinline__ void
  exponentials (const float (&x)[R],
                const float (&shift)[2],
                uint32_t (&packed)[R / 8][4])
  {
#pragma unroll
    for (int i = 0; i < R; i += 2)
      {
        const int r = i / 2 % 2;
        const float a = exp2_approx (fmaf (x[i], h.p.scale_log2, -shift[r]));
        const float b =
            exp2_approx (fmaf (x[i + 1], h.p.scale_log2, -shift[r]));

        row_sum[r] += a + b;
        packed[i / 8][i / 4 % 2 * 2 + r] = pack2<T> (a, b);
      }
  }

  /* P of the scores, packed, and the sums of its rows. */
  __device__ __forceinline__ void
  softmax ()
  {
    float shift[2];

    if (TAIL)
      mask (tail, 0, COLUMNS);
    else
      mask (scores, (COLUMNS - SIDE_ROWS) / 2, 0);
#pragma unroll
    for (int i = 0; i < 2; i++)
      row_max[i] = -INFINITY;
    largest (scores);
    if (TAIL)
      largest (tail);
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        row_max[i] =
            fmaxf (row_max[i], __shfl_xor_sync (0xffffffffu, row_max[i], 1));
        row_max[i] =
            fmaxf (row_max[i], __shfl_xor_sync (0xffffffffu, row_max[i], 2));
        shift[i] = row_max[i] * h.p.scale_log2;
        row_sum[i] = 0;
      }
    exponentials (scores, shift, p);
    if (TAIL)
      exponentials (tail, shift, tail_p);
  }

  /* The rows' O, and the logarithms of their sums; what is beyond the last the
   * copy engine leaves out. */
  __device__ __forceinline__ void
  store (int bh, int row0)
  {
    constexpr int E = Chunk<D>::ELEMENTS;
    const int row = row0 + at.warp * 16 + at.lane / 4;
    float factor[2];

#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        float sum = row_sum[i];

        sum += __shfl_xor_sync (0xffffffffu, sum, 1);
        sum += __shfl_xor_sync (0xffffffffu, sum, 2);
        factor[i] = 1.0f / sum;
        if (at.lane % 4 == 0 && row + 8 * i < h.p.seq)
          h.p.lse[(int64_t) bh * h.p.seq + row + 8 * i] =
              row_max[i] * h.p.scale + logf (sum);
      }
    /* all warps are through with these rows of Q */
    named_sync (1 + at.group, WARPGROUP);
    if (row0 + at.warp * 16 < h.rows)
#pragma unroll
      for (int i = 0; i < D / 16; i++)
        {
          const uint32_t to = matrix_row<D, WHOLE_ROWS> (
              s.tile[q.index], row0 + at.warp * 16 + at.lane % 16, i, at.lane);
          uint32_t words[4];

#pragma unroll
          for (int w = 0; w < 4; w++)
            {
              const float *x = &o[(2 * i + w / 2) * 4 + w % 2 * 2];

              words[w] = pack2<T> (x[0] * factor[w % 2], x[1] * factor[w % 2]);
            }
          store_matrices (to, words);
        }
    fence_async_proxy ();
    named_sync (1 + at.group, WARPGROUP);
    if (threadIdx.x % WARPGROUP == 0)
      {
        for (int c = 0; c * E < h.p.head_dim; c++)
          store_box (&h.o, s.tile[q.index] + (c * WHOLE_ROWS + row0) * E, c * E,
                     row0, bh % h.p.heads, bh / h.p.heads);
        bulk_commit ();
      }
  }

  __device__ __forceinline__ void
  unit (int bh, int row0, bool last)
  {
    multiply_scores (row0);
    give_back_held ();
    products_wait<0> ();
    pin (scores);
    if (TAIL)
      pin (tail);
    if (last)
      warp_arrive (&s.empty[k.index], at.lane);
    softmax ();
    pin (p);
    if (TAIL)
      pin (tail_p);
    barrier_wait (&s.full[v.index], v.parity);
    multiply_values ();
    products_wait<0> ();
    pin (o);
    if (last)
      warp_arrive (&s.empty[v.index], at.lane);
    store (bh, row0);
  }

  /* The groups of a head that are this warpgroup's turn: every other one, of
   * all heads in a row. */
  __device__ __forceinline__ void
  head (int bh, int turn)
  {
    const int first = (turn * h.groups + at.group) % 2;

    barrier_wait (&s.full[q.index], q.parity);
    barrier_wait (&s.full[k.index], k.parity);
    for (int g = first; g < h.groups; g += 2)
      unit (bh, g * SIDE_ROWS, g + 2 >= h.groups);
    if (first < h.groups)
      {
        held = q.index;
        return;
      }
    give_back_held ();
    barrier_wait (&s.full[v.index], v.parity);
    warp_arrive (&s.empty[q.index], at.lane);
    warp_arrive (&s.empty[k.index], at.lane);
    warp_arrive (&s.empty[v.index], at.lane);
  }

  __device__ __forceinline__ void
  run ()
  {
    int turn = 0;

    for (int bh = blockIdx.x; bh < h.heads; bh += gridDim.x, turn++)
      {
        head (bh, turn);
#pragma unroll
        for (int i = 0; i < 3; i++)
          {
            q.advance ();
            k.advance ();
            v.advance ();
          }
      }
    if (threadIdx.x % WARPGROUP == 0)
      bulk_wait<0> ();
  }
};

template <class T, int D, int BLOCKS, bool TAIL>
__global__ void __launch_bounds__ (3 * WARPGROUP, 1)
    hopper_whole_forward (const __grid_constant__ HopperWholeForwardParams h)
{
  constexpr int REGISTERS = 240; /* of a thread that multiplies */
  extern __shared__ char raw[];
  auto &s = side_memory<HopperWholeForwardShared<D>> (raw);

  if (threadIdx.x == 0)
    {
      prefetch_map (&h.q);
      prefetch_map (&h.k);
      prefetch_map (&h.v);
      prefetch_map (&h.o);
      for (int i = 0; i < HopperWholeForwardShared<D>::TILES; i++)
        {
          barrier_init (&s.full[i], 1);
          barrier_init (&s.empty[i], 8);
        }
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<504 - 2 * REGISTERS> ();
      if (threadIdx.x == 0)
        whole_forward_producer<D> (h, s);
    }
  else
    {
      take_registers<REGISTERS> ();
      WholeForwardConsumer<T, D, BLOCKS, TAIL> (h, s).run ();
    }
}

/* Whether the kernel can do it. */
inline bool
fits_hopper_whole_forward (const Params &p)
{
  return p.seq <= WHOLE_MAX_SEQ && !p.threshold && p.before >= p.seq
         && p.after >= p.seq;
}

template <class T, int D, int BLOCKS, bool TAIL>
cudaError_t
start_hopper_whole_forward (const HopperWholeForwardParams &h,
                            cudaStream_t stream)
{
  return start_side<HopperWholeForwardShared<D>> (
      hopper_whole_forward<T, D, BLOCKS, TAIL>, h.heads, h, stream);
}

template <class T, int D>
cudaError_t
launch_hopper_whole_forward (const Params &p, cudaStream_t stream)
{
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  const int rest = p.seq % SIDE_ROWS;
  const bool tail = p.seq > SIDE_ROWS && rest > 0 && rest <= WHOLE_TAIL;
  HopperWholeForwardParams h;
  cudaError_t status;

  h.p = p;
  h.heads = p.batch * p.heads;
  h.groups = (p.seq + SIDE_ROWS - 1) / SIDE_ROWS;
  const int blocks = h.groups - tail;
  h.rows = blocks * SIDE_ROWS + (tail ? WHOLE_TAIL : 0);
  status = make_map<D> (&h.q, p, p.q, p.heads, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.k, p, p.k, p.groups, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.v, p, p.v, p.groups, h.rows / 2, BF16, false);
  if (status == cudaSuccess)
    status = make_map<D> (&h.o, p, p.o, p.heads, SIDE_ROWS, BF16, false);
  if (status != cudaSuccess)
    return status;
  switch (2 * blocks + tail)
    {
    case 2:
      return start_hopper_whole_forward<T, D, 1, false> (h, stream);
    case 3:
      return start_hopper_whole_forward<T, D, 1, true> (h, stream);
    case 4:
      return start_hopper_whole_forward<T, D, 2, false> (h, stream);
    case 5:
      return start_hopper_whole_forward<T, D, 2, true> (h, stream);
    case 6:
      return start_hopper_whole_forward<T, D, 3, false> (h, stream);
    case 7:
      return start_hopper_whole_forward<T, D, 3, true> (h, stream);
    case 8:
      return start_hopper_whole_forward<T, D, 4, false> (h, stream);
    case 9:
      return start_hopper_whole_forward<T, D, 4, true> (h, stream);
    }
  return cudaErrorInvalidValue;
}

}

#endif
