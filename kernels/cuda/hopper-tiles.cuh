/* SPDX-License-Identifier: Apache-2.0 */

/* The tiles of a product of two matrices on Hopper, in which order they are
 * taken, and how the copy engine fetches what they are made of.
 *
 * Which tiles there are is said by a walk: the one here is of a single product,
 * that of kernels/cuda/hopper-grouped.cuh of the products of groups. */

#ifndef QM_KERNELS_CUDA_HOPPER_TILES_CUH
#define QM_KERNELS_CUDA_HOPPER_TILES_CUH

#include "kernels/cuda/hopper-boxes.cuh"
#include "kernels/cuda/hopper-product.h"

namespace qm_product
{

using namespace qm_attention;

constexpr int BM = 128, BK = 64;
constexpr int WARPS = 8; /* that multiply */
constexpr int THREADS = 3 * WARPGROUP;
constexpr int PART_ROWS = 16,
              PART_COLUMNS = 64; /* what a warp stores at once */
constexpr int PAIR_COLUMNS = 32; /* of both halves of a pair */

struct Work
{
  CUtensorMap a, b, d, pre;
  CUtensorMap d_up, pre_up; /* with a gate: the second halves */
  const void *bias;
  bool store_pre;
  int rows, columns;
  int steps; /* of the inner dimension */
  bool beside;
  int row_tiles, column_tiles, tile_rows, tile_columns; /* of clusters */
  int group;          /* row tiles that are worked on together */
  const float *table; /* of angles: see QmHopperRotary */
  int length, width, count, chunk;
};

template <int BN> struct alignas (1024) Shared
{
  static constexpr int STAGES = 4;
  static constexpr int PARTS = 2;

  uint16_t a[STAGES][BM * BK];
  uint16_t b[STAGES][BN * BK];
  uint16_t part[WARPS][PARTS][PART_ROWS * PART_COLUMNS];
  uint64_t full[STAGES], empty[STAGES];
  uint64_t part_full[WARPS][PARTS];
};

/* -- tiles ----------------------------------------------------------------- */

/* Tiles next to each other use the same rows or columns, so that these stay in
 * the L2 cache: a few row tiles at all columns, then the next few. */
struct Tile
{
  int row, column; /* the first, of the cluster */
};

struct Walk
{
  static constexpr bool GROUPED = false;
  using Place = Tile;

  const Work &w;

  __device__ __forceinline__ int
  tiles () const
  {
    return w.row_tiles * w.column_tiles;
  }

  __device__ __forceinline__ Tile
  at (int index) const
  {
    int in_group = w.group * w.column_tiles;
    int group = index / in_group, rest = index - group * in_group;
    int rows = min (w.group, w.row_tiles - group * w.group);
    int across = rest / rows;

    return { (group * w.group + rest - across * rows) * w.tile_rows,
             across * w.tile_columns };
  }

  /* Rows of b before those of the tile's product. */
  __device__ __forceinline__ int
  base (const Tile &) const
  {
    return 0;
  }
};

/* -- fetching -------------------------------------------------------------- */

/* A step of columns from `column` on: `n` of them. */
template <bool DOWN, class Load>
__device__ __forceinline__ void
load_columns (uint16_t *to, int n, int column, int step, int base, Load load)
{
  if (!DOWN)
    load (to, step * BK, base + column);
  else
#pragma unroll
    for (int c = 0; c < n; c += 64)
      load (to + c * BK, column + c, base + step * BK);
}

template <bool DOWN, bool GATES, int BN, class AnyWalk>
__device__ __forceinline__ void
produce (const AnyWalk &walk, Shared<BN> &s, int rank)
{
  const auto &w = walk.w;
  constexpr int STAGES = Shared<BN>::STAGES;
  constexpr int HALF = BN / CLUSTER, HALF_ROWS = BM / CLUSTER;
  const int tiles = walk.tiles ();
  Ring<STAGES> ring;

  for (int i = blockIdx.x / CLUSTER; i < tiles; i += gridDim.x / CLUSTER)
    {
      const typename AnyWalk::Place tile = walk.at (i);
      const int base = walk.base (tile);

      for (int step = 0; step < w.steps; step++)
        {
          uint64_t *full = &s.full[ring.index];
          uint16_t *a = s.a[ring.index], *b = s.b[ring.index];
          auto for_one = [&] (uint16_t *to, int x, int y) {
            load_box (to, &w.b, full, x, y);
          };
          auto for_all = [&] (uint16_t *to, int x, int y) {
            load_box_for_all (to, &w.b, full, x, y);
          };

          barrier_wait (&s.empty[ring.index], ring.parity ^ 1);
          barrier_expect (full, (BM + BN) * BK * 2);
          if (w.beside)
            {
              load_box_for_all (a + rank * HALF_ROWS * BK, &w.a, full,
                                step * BK, tile.row + rank * HALF_ROWS);
              if constexpr (GATES)
                {
                  const int column = tile.column + rank * HALF;

                  for_one (b, step * BK, column);
                  for_one (b + HALF * BK, step * BK, w.columns + column);
                }
              else
                load_columns<DOWN> (b, BN, tile.column + rank * BN, step, base,
                                    for_one);
            }
          else
            {
              load_box (a, &w.a, full, step * BK, tile.row + rank * BM);
              if constexpr (GATES)
                for_all (b + rank * HALF * BK, step * BK,
                         tile.column + rank * w.columns);
              else
                load_columns<DOWN> (b + rank * HALF * BK, HALF,
                                    tile.column + rank * HALF, step, base,
                                    for_all);
            }
          ring.advance ();
        }
    }
}

}

#endif
