/* SPDX-License-Identifier: Apache-2.0 */

/* What both kernels of the split backward attention on Hopper are given. */

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
  HeadGroups work; /* of heads of Q or of K */
  CUtensorMap q, k, v, dout;
};

using SplitTile = HeadGroups::Tile;

}

#endif
