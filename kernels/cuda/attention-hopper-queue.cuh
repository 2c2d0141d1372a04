/* SPDX-License-Identifier: Apache-2.0 */

/* What both kernels of the split backward attention on Hopper are given, and
 * the order in which their tiles are worked on. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_QUEUE_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_QUEUE_CUH

#include "kernels/cuda/attention-reduce.cuh"
#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Bytes of two tensors of the heads in work at a time. */
constexpr int64_t SPLIT_L2_SHARE = (int64_t) 20 << 20;
constexpr int SPLIT_THREADS = 3 * WARPGROUP;

struct HopperSplitParams
{
  Params p;
  int per_head; /* tiles */
  int tiles;
  int heads; /* whose tiles they are: those of Q or those of K */
  int group; /* heads in work at a time */
  CUtensorMap q, k, v, dout;
};

/* Tile `index` of a queue in which the heads of a group take turns. */
struct SplitTile
{
  int place, bh;

  static __device__ __forceinline__ SplitTile
  at (const HopperSplitParams &h, int index)
  {
    SplitTile t;
    int in_group = h.group * h.per_head;
    /* Counted from the end, so that the last group is a whole one. */
    int back = h.tiles - 1 - index;
    int group = back / in_group;
    int rest = back - group * in_group;
    int heads = min (h.group, h.p.batch * h.heads - group * h.group);

    t.place = h.per_head - 1 - rest / heads;
    t.bh = group * h.group + rest % heads;
    return t;
  }
};

}

#endif
