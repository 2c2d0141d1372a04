/* SPDX-License-Identifier: Apache-2.0 */

/* The tiles of backward attention on Hopper, and the order in which they are
 * worked on and add to dQ. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_ORDER_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_ORDER_CUH

#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Bytes of Q, dO and dQ that may be in use at a time. */
constexpr int64_t BACKWARD_L2_SHARE = (int64_t) 12 << 20;
/* Tiles of a head that may be in work at a time: they add to the same rows. */
constexpr int BACKWARD_TILES = 11;

struct HopperBackwardParams
{
  Params p;
  HeadGroups work; /* of columns of parts of heads of K */
  CUtensorMap q, k, v, dout;
};

/* Which columns of which head of K a tile is, with which of the heads of Q that
 * share it, and its range of row blocks in each of these. */
struct ColumnTile
{
  int place, column0, bh; /* of K */
  int part, query, heads; /* heads of Q: from `query` on, of all batches' */
  int first, last;

  template <int M, int N>
  static __device__ __forceinline__ ColumnTile
  at (const HopperBackwardParams &h, int index)
  {
    const HeadGroups::Tile tile = h.work.at (index);
    ColumnTile t;

    t.place = tile.place;
    /* A fixed order of sums costs no time where the tiles of the last columns
     * come first, for these add first to the rows that all have in common. */
    if (h.p.causal && h.p.deterministic)
      t.place = h.work.per_head - 1 - t.place;
    t.column0 = t.place * N;
    t.bh = tile.bh / h.p.parts;
    t.part = tile.bh - t.bh * h.p.parts;
    t.heads = h.p.shared / h.p.parts;
    t.query = tile.bh * t.heads;
    t.first = first_row (h.p, t.column0) / M;
    t.last = (end_row (h.p, t.column0 + N - 1) + M - 1) / M;
    return t;
  }
};

/* How many tiles add to row block m before tile t, where the order is fixed:
 * that in which the queue has them. */
template <int M, int N>
__device__ __forceinline__ int
turn_of (const HopperBackwardParams &h, const ColumnTile &t, int m)
{
  return h.p.causal ? (end_column (h.p, m * M + M - 1) - 1) / N - t.place
                    : t.place - first_column (h.p, m * M) / N;
}

template <int D, int N>
HeadGroups
backward_groups (const Params &p)
{
  const int64_t head_bytes =
      (int64_t) p.seq * (p.shared / p.parts) * D * (2 * 2 + 4);
  const int per_head = (p.seq + N - 1) / N;
  const int heads = p.batch * p.groups * p.parts;
  int64_t fit = max (BACKWARD_L2_SHARE / head_bytes,
                     (int64_t) p.sm_count / BACKWARD_TILES);

  /* In a fixed order each tile waits for the one before it, which should then
   * have begun long ago: all groups as large as the last. */
  if (p.deterministic)
    {
      const int groups =
          (int) max (heads / max (fit, last_heads (p, per_head)), (int64_t) 1);

      fit = (heads + groups - 1) / groups;
    }
  return head_groups (p, heads, per_head, fit);
}

}

#endif
