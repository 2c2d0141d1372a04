/* SPDX-License-Identifier: Apache-2.0 */

/* Products of groups of rows on Hopper, each with a matrix of its own: what of
 * hopper-product.cuh and hopper-weight-grad.cuh is another for them, which is
 * what tiles there are.  Where groups begin is in memory of the device; every
 * block reads that before it begins.
 *
 * Boxes may begin at any row.  What a box has of the rows of the next group is
 * multiplied, and not stored; in sums over rows it counts as 0. */

#ifndef QM_KERNELS_CUDA_HOPPER_GROUPED_CUH
#define QM_KERNELS_CUDA_HOPPER_GROUPED_CUH

#include "kernels/cuda/hopper-product.cuh"
#include "kernels/cuda/hopper-weight-grad.cuh"

namespace qm_grouped
{

using qm_product::CLUSTER;

/* Where groups begin, and how many row tiles of `tile` rows are before each. */
struct Groups
{
  int offsets[QM_HOPPER_GROUPS + 1];
  int tiles[QM_HOPPER_GROUPS + 1];
};

/* By all threads of a block, before a barrier. */
__device__ __forceinline__ void
load_groups (Groups &groups, const int32_t *offsets, int n, int tile)
{
  const int lane = threadIdx.x % 32;
  int before = 0;

  if (threadIdx.x >= 32)
    return;
  for (int base = 0; base < n; base += 32)
    {
      const int group = base + lane;
      const int begin = offsets[min (group, n)];
      const int end = offsets[min (group + 1, n)];
      const int own = (end - begin + tile - 1) / tile;
      int sum = own;

#pragma unroll
      for (int i = 1; i < 32; i *= 2)
        {
          const int other = __shfl_up_sync (0xffffffffu, sum, i);

          sum += lane >= i ? other : 0;
        }
      if (group < n)
        {
          groups.offsets[group] = begin;
          groups.tiles[group] = before + sum - own;
        }
      before += __shfl_sync (0xffffffffu, sum, 31);
    }
  if (lane == 0)
    {
      groups.offsets[n] = offsets[n];
      groups.tiles[n] = before;
    }
}

/* -- rows ------------------------------------------------------------------ */

struct RowWork : qm_product::Work
{
  const int32_t *offsets;
  int groups;
  int height; /* rows of b of a group */
  void *rows_of_d;
  int64_t step_d;
};

/* The first elements, and where the group's rows end. */
struct RowTile
{
  int row, column, end, group;
};

struct RowWalk
{
  static constexpr bool GROUPED = true;
  using Place = RowTile;

  const RowWork &w;
  const Groups &groups;

  __device__ __forceinline__ int
  tiles () const
  {
    return groups.tiles[w.groups] * w.column_tiles;
  }

  __device__ __forceinline__ RowTile
  at (int index) const
  {
    const int in_group = w.group * w.column_tiles;
    const int part = index / in_group, rest = index - part * in_group;
    const int rows = min (w.group, groups.tiles[w.groups] - part * w.group);
    const int across = rest / rows;
    const int row = part * w.group + rest - across * rows;
    int low = 0, high = w.groups;

    /* The last group with no more tiles before it, which is not empty. */
    while (high - low > 1)
      {
        const int middle = (low + high) / 2;

        if (groups.tiles[middle] <= row)
          low = middle;
        else
          high = middle;
      }
    return { groups.offsets[low] + (row - groups.tiles[low]) * w.tile_rows,
             across * w.tile_columns, groups.offsets[low + 1], low };
  }

  __device__ __forceinline__ int
  base (const RowTile &tile) const
  {
    return tile.group * w.height;
  }

  /* Stores those of a warp's 16 rows, of 64 columns, that are the group's, from
   * where the copy engine would take them. */
  __device__ __forceinline__ void
  store_rows (const uint16_t *part,
              const RowTile &tile,
              int column,
              int lane) const
  {
    constexpr int PIECE = 8; /* elements, of 16 bytes */
    constexpr int ACROSS = qm_product::PART_COLUMNS / PIECE;

#pragma unroll
    for (int i = lane; i < qm_product::PART_ROWS * ACROSS; i += 32)
      {
        const int row = i / ACROSS, piece = i % ACROSS;

        if (tile.row + row < tile.end && column + piece * PIECE < w.columns)
          *reinterpret_cast<uint4 *> (static_cast<uint16_t *> (w.rows_of_d)
                                      + (tile.row + row) * w.step_d + column
                                      + piece * PIECE) =
              *reinterpret_cast<const uint4 *> (part
                                                + row * qm_product::PART_COLUMNS
                                                + (piece ^ row % 8) * PIECE);
      }
  }
};

template <class T, bool DOWN, int BN>
__global__ void
__cluster_dims__ (CLUSTER, 1, 1) __launch_bounds__ (qm_product::THREADS, 1)
    rows_kernel (const __grid_constant__ RowWork w)
{
  extern __shared__ __align__ (1024) unsigned char memory[];
  auto &s = *reinterpret_cast<qm_product::Shared<BN> *> (memory);
  Groups &groups = *reinterpret_cast<Groups *> (memory + sizeof s);

  load_groups (groups, w.offsets, w.groups, qm_product::BM);
  qm_product::run_block<T, DOWN, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE, 8,
                        BN> (RowWalk{ w, groups }, s);
}

/* -- weights --------------------------------------------------------------- */

struct WeightWork : qm_weight_grad::Work
{
  const int32_t *offsets;
  int groups;
  int height; /* rows of dw of a group */

  /* In the shared memory behind that of the products. */
  __device__ __forceinline__ Groups &
  begins () const
  {
    extern __shared__ __align__ (1024) unsigned char memory[];

    return *reinterpret_cast<Groups *> (memory
                                        + sizeof (qm_weight_grad::Shared));
  }
};

/* Of a group: row and column of its dw, its first row of dy and x, and how many
 * steps there are, with so many rows in the last. */
struct WeightShare
{
  int row, column, first, steps, last, group;
};

struct WeightWalk
{
  static constexpr bool GROUPED = true;
  using Part = WeightShare;
  using Source = WeightWork;

  const WeightWork &w;
  const Groups &groups;
  int unit;

  __device__ __forceinline__
  WeightWalk (const WeightWork &w)
      : w (w), groups (w.begins ()), unit (blockIdx.x / CLUSTER)
  {
  }

  __device__ __forceinline__ bool
  next (WeightShare &share)
  {
    const int tiles = w.row_tiles * w.column_tiles;

    for (; unit < w.groups * tiles; unit += gridDim.x / CLUSTER)
      {
        const int group = unit / tiles, tile = unit - group * tiles;
        const int begin = groups.offsets[group];
        const int rows = groups.offsets[group + 1] - begin;

        if (rows == 0)
          continue;
        share.row = tile % w.row_tiles * (CLUSTER * qm_weight_grad::BM);
        share.column = tile / w.row_tiles * qm_weight_grad::BN;
        share.first = begin;
        share.steps = (rows + qm_weight_grad::BK - 1) / qm_weight_grad::BK;
        share.last = rows - (share.steps - 1) * qm_weight_grad::BK;
        share.group = group;
        unit += gridDim.x / CLUSTER;
        return true;
      }
    return false;
  }

  static __device__ __forceinline__ int
  row_of_step (const WeightShare &share, int step)
  {
    return share.first + step * qm_weight_grad::BK;
  }

  /* Rows of dw before those of the share's group. */
  static __device__ __forceinline__ int
  base (const WeightWork &w, const WeightShare &share)
  {
    return share.group * w.height;
  }
};

template <class T>
__global__ void
__cluster_dims__ (CLUSTER, 1, 1) __launch_bounds__ (qm_weight_grad::THREADS, 1)
    weights_kernel (const __grid_constant__ WeightWork w)
{
  extern __shared__ __align__ (1024) unsigned char memory[];

  load_groups (w.begins (), w.offsets, w.groups, qm_weight_grad::BK);
  qm_weight_grad::run_block<T, WeightWalk> (
      w, *reinterpret_cast<qm_weight_grad::Shared *> (memory));
}

}

#endif
