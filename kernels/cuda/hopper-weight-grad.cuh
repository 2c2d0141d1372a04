/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of weights on Hopper: dw += dy' x.
 *
 * The sum runs over tens of thousands of rows, and the result is small, so the
 * sum is divided: into slabs, and the tiles that are left for a last, short
 * round once more (kernels/cuda/hopper-order.h).  Whatever part of a sum a
 * cluster made is added to dw by the copy engine, in fp32 in the L2 cache;
 * nothing is read for that.
 *
 * A cluster is two blocks, one below the other: they have rows of dw of their
 * own and share its columns, of which each fetches one half for both.  One warp
 * fetches; two warpgroups multiply, 64 rows each, and share nothing but the
 * ring of stages.  Two more warps add up the columns of dy for the bias. */

#ifndef QM_KERNELS_CUDA_HOPPER_WEIGHT_GRAD_CUH
#define QM_KERNELS_CUDA_HOPPER_WEIGHT_GRAD_CUH

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/hopper-boxes.cuh"
#include "kernels/cuda/hopper-weight-grad.h"

namespace qm_weight_grad
{

using namespace qm_product;

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int BOX = 64; /* columns of dy and x that are fetched at once */
constexpr int STAGES = 4;
constexpr int WARPS = 8; /* that multiply */
constexpr int SUM_WARPS = BM / BOX;
constexpr int THREADS = 3 * WARPGROUP;
constexpr int PARTS = 2, PART_ROWS = 16, PART_COLUMNS = 32;

struct Work
{
  CUtensorMap dy, x, dw;
  float *dbias;
  int sums;                    /* columns of dy that are added to dbias */
  int row_tiles, column_tiles; /* row_tiles: of clusters */
  int group;                   /* row tiles that are worked on together */
  int steps, slab;             /* of the sum; of a slab of it */
  int whole;                   /* units that clusters take as a whole */
  int rest, parts, part_steps; /* of the others: how many, and in which parts */
};

struct alignas (1024) Shared
{
  uint16_t dy[STAGES][BM * BK];
  uint16_t x[STAGES][BN * BK];
  float part[WARPS][PARTS][PART_ROWS * PART_COLUMNS];
  uint64_t full[STAGES], empty[STAGES];
};

/* -- the work -------------------------------------------------------------- */

/* Steps of the sum for a tile; row and column: the first, of the cluster. */
struct Share
{
  int row, column, first, steps;
};

/* The shares of one cluster, of a single product; those of groups of rows are
 * in kernels/cuda/hopper-grouped.cuh.  A unit is a tile in a slab; those of a
 * slab are next to each other, so that what they read stays in the L2 cache. */
struct Walk
{
  static constexpr bool GROUPED = false;
  using Part = Share;
  using Source = Work;

  const Work &w;
  int unit, clusters;
  int part; /* of all parts of the rest */

  __device__ __forceinline__
  Walk (const Work &w)
      : w (w), unit (blockIdx.x / CLUSTER), clusters (gridDim.x / CLUSTER),
        part (unit)
  {
  }

  /* Tiles next to each other use the same rows or columns. */
  __device__ __forceinline__ Share
  share (int index, int first, int steps) const
  {
    const int tiles = w.row_tiles * w.column_tiles;
    const int slab = index / tiles, tile = index - slab * tiles;
    const int in_group = w.group * w.column_tiles;
    const int group = tile / in_group, in = tile - group * in_group;
    const int rows = min (w.group, w.row_tiles - group * w.group);
    const int across = in / rows;
    const int start = slab * w.slab + first;

    return { (group * w.group + in - across * rows) * (CLUSTER * BM),
             across * BN, start, min (steps, w.steps - start) };
  }

  __device__ __forceinline__ bool
  next (Share &result)
  {
    while (unit < w.whole || part < w.rest * w.parts)
      {
        if (unit < w.whole)
          {
            result = share (unit, 0, w.slab);
            unit += clusters;
          }
        else
          {
            const int first = part / w.rest * w.part_steps;

            result = share (w.whole + part % w.rest, first,
                            min (w.part_steps, w.slab - first));
            part += clusters;
          }
        /* the last slab, or part, may be shorter */
        if (result.steps > 0)
          return true;
      }
    return false;
  }

  static __device__ __forceinline__ int
  row_of_step (const Share &share, int step)
  {
    return (share.first + step) * BK;
  }

  /* Rows of dw before those of the share's. */
  static __device__ __forceinline__ int
  base (const Work &, const Share &)
  {
    return 0;
  }
};

/* -- fetching -------------------------------------------------------------- */

template <class AnyWalk>
__device__ __forceinline__ void
produce (const typename AnyWalk::Source &w, Shared &s, int rank)
{
  constexpr int HALF = BN / CLUSTER;
  AnyWalk walk (w);
  Ring<STAGES> ring;
  typename AnyWalk::Part share;

  while (walk.next (share))
    for (int step = 0; step < share.steps; step++)
      {
        const int row = AnyWalk::row_of_step (share, step);
        uint64_t *full = &s.full[ring.index];
        uint16_t *dy = s.dy[ring.index];
        uint16_t *x = s.x[ring.index] + rank * HALF * BK;

        barrier_wait (&s.empty[ring.index], ring.parity ^ 1);
        barrier_expect (full, (BM + BN) * BK * 2);
#pragma unroll
        for (int c = 0; c < BM; c += BOX)
          load_box (dy + c * BK, &w.dy, full, share.row + rank * BM + c, row);
#pragma unroll
        for (int c = 0; c < HALF; c += BOX)
          load_box_for_all (x + c * BK, &w.x, full,
                            share.column + rank * HALF + c, row);
        ring.advance ();
      }
}

/* -- the bias -------------------------------------------------------------- */

/* One warp adds up 64 columns of dy: a lane 8 of every fourth row.  All blocks
 * with these columns fetch the same of dy, so each adds up a part of the steps,
 * by which none is slower than others. */
template <class T> struct Columns
{
  const Work &w;
  Shared &s;
  const int box, lane;
  float sum[8];

  __device__ __forceinline__
  Columns (const Work &w, Shared &s, int box, int lane)
      : w (w), s (s), box (box), lane (lane)
  {
  }

  __device__ __forceinline__ void
  add_step (int stage)
  {
    const uint32_t from = shared_u32 (s.dy[stage]) + box * (BOX * BK * 2);

#pragma unroll 4
    for (int row = lane / 8; row < BK; row += 4)
      {
        uint32_t r[4];

        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(from + row * (BOX * 2) + ((lane % 8 ^ row % 8) << 4))
                     : "memory");
#pragma unroll
        for (int i = 0; i < 4; i++)
          {
            const float2 x = unpack2<T> (r[i]);

            sum[2 * i] += x.x;
            sum[2 * i + 1] += x.y;
          }
      }
  }

  __device__ __forceinline__ void
  add_to_bias (int column)
  {
#pragma unroll
    for (int i = 0; i < 8; i++)
      {
        sum[i] += __shfl_xor_sync (0xffffffffu, sum[i], 8);
        sum[i] += __shfl_xor_sync (0xffffffffu, sum[i], 16);
        if (lane < 8 && column + i < w.sums)
          atomicAdd (w.dbias + column + i, sum[i]);
        sum[i] = 0;
      }
  }

  __device__ __forceinline__ void
  run (int rank)
  {
    Walk walk (w);
    Ring<STAGES> ring;
    Share share;

#pragma unroll
    for (int i = 0; i < 8; i++)
      sum[i] = 0;
    while (walk.next (share))
      {
        const int own = share.column / BN;

        for (int step = 0; step < share.steps; step++)
          {
            barrier_wait (&s.full[ring.index], ring.parity);
            if ((share.first + step) % w.column_tiles == own)
              add_step (ring.index);
            warp_arrive (&s.empty[ring.index], lane);
            ring.advance ();
          }
        add_to_bias (share.row + rank * BM + box * BOX + lane % 8 * 8);
      }
  }
};

/* -- multiplying ----------------------------------------------------------- */

/* What one thread of a multiplying warpgroup holds: rows g and g + 8 of its
 * warp's 16, columns 2 q and 2 q + 1 of every 8. */
template <class T, class AnyWalk> struct Consumer
{
  using Part = typename AnyWalk::Part;
  using Source = typename AnyWalk::Source;

  const Source &w;
  Shared &s;
  const int rank, warp, lane;
  Ring<STAGES> ring;
  float sum[BN / 2];

  __device__ __forceinline__
  Consumer (const Source &w, Shared &s, int rank, int warp, int lane)
      : w (w), s (s), rank (rank), warp (warp), lane (lane)
  {
  }

  __device__ __forceinline__ void
  release (int stage)
  {
    if (lane < CLUSTER)
      barrier_arrive_at (&s.empty[stage], lane);
  }

  /* Of the warpgroup's columns of dy, the rows from `rows` on are another
   * group's. */
  __device__ __forceinline__ void
  clear_rows (uint16_t *dy, int rows)
  {
    uint4 *box = reinterpret_cast<uint4 *> (dy + warp / 4 * (BOX * BK));

    for (int i = rows * 8 + warp % 4 * 32 + lane; i < BK * 8; i += WARPGROUP)
      box[i] = make_uint4 (0, 0, 0, 0);
    fence_async_proxy ();
    named_sync (1 + warp / 4, WARPGROUP);
  }

  __device__ __forceinline__ void
  multiply (const Part &share)
  {
    const int steps = share.steps;
    int last = 0;

    for (int step = 0; step < steps; step++)
      {
        barrier_wait (&s.full[ring.index], ring.parity);
        if constexpr (AnyWalk::GROUPED)
          if (step == steps - 1 && share.last < BK)
            clear_rows (s.dy[ring.index], share.last);

        const uint32_t dy = shared_base (s.dy[ring.index]) & IN_BLOCK;
        const uint32_t x = shared_base (s.x[ring.index]) & IN_BLOCK;

        products_begin ();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
          Product<T, BN>::template shared<1, 1> (
              sum, down_rows<BOX, BK> (dy, warp / 4 * 64, i),
              down_rows<BOX, BK> (x, 0, i), i > 0 || step > 0);
        products_commit ();
        products_wait<1> ();
        if (step > 0)
          release (last);
        last = ring.index;
        ring.advance ();
      }
    products_wait<0> ();
    pin (sum);
    release (last);
  }

  /* 32 columns of the warp's rows, as the copy engine wants them: the pieces of
   * 16 bytes of a row in another order in each of 8 rows. */
  template <int C>
  __device__ __forceinline__ void
  leave_part (float *part)
  {
#pragma unroll
    for (int j = 0; j < PART_COLUMNS / 8; j++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        {
          const int row = lane / 4 + i * 8;
          const int piece = (j * 2 + lane % 4 / 2) ^ (row % 8);
          const float *from = sum + C * (PART_COLUMNS / 2) + j * 4 + i * 2;

          asm volatile("st.shared.v2.f32 [%0], {%1, %2};\n" ::"r"(
                           shared_u32 (part) + row * (PART_COLUMNS * 4)
                           + piece * 16 + lane % 2 * 8),
                       "f"(from[0]), "f"(from[1])
                       : "memory");
        }
  }

  template <int C>
  __device__ __forceinline__ void
  add_parts (const Part &share)
  {
    if constexpr (C < BN / PART_COLUMNS)
      {
        float *part = s.part[warp][C % PARTS];

        if (lane == 0)
          bulk_wait_read<PARTS - 1> ();
        __syncwarp ();
        leave_part<C> (part);
        fence_async_proxy ();
        __syncwarp ();
        if (lane == 0)
          {
            add_box (&w.dw, part, share.column + C * PART_COLUMNS,
                     AnyWalk::base (w, share) + share.row + rank * BM
                         + warp * PART_ROWS);
            bulk_commit ();
          }
        add_parts<C + 1> (share);
      }
  }

  __device__ __forceinline__ void
  run ()
  {
    AnyWalk walk (w);
    Part share;

    while (walk.next (share))
      {
        multiply (share);
        add_parts<0> (share);
      }
    if (lane == 0)
      bulk_wait<0> ();
  }
};

template <class T, class AnyWalk>
__device__ __forceinline__ void
run_block (const typename AnyWalk::Source &w, Shared &s)
{
  const int rank = cluster_rank ();
  const int warp = __shfl_sync (0xffffffffu, threadIdx.x / 32, 0);
  const int lane = threadIdx.x % 32;

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < STAGES; i++)
        {
          barrier_init (&s.full[i], 1);
          barrier_init (&s.empty[i],
                        CLUSTER * WARPS + (w.dbias ? SUM_WARPS : 0));
        }
      barrier_init_fence ();
    }
  cluster_sync ();
  if (warp >= WARPS)
    {
      give_registers<72> ();
      if (threadIdx.x == WARPS * 32)
        produce<AnyWalk> (w, s, rank);
      else if constexpr (!AnyWalk::GROUPED)
        if (w.dbias && warp > WARPS && warp <= WARPS + SUM_WARPS)
          Columns<T> (w, s, warp - WARPS - 1, lane).run (rank);
      __syncwarp ();
    }
  else
    {
      take_registers<216> ();
      Consumer<T, AnyWalk> (w, s, rank, warp, lane).run ();
      __syncwarp ();
    }
  /* Neither block leaves while the other one may still write to it. */
  cluster_sync ();
}

template <class T>
__global__ void
__cluster_dims__ (CLUSTER, 1, 1) __launch_bounds__ (THREADS, 1)
    weight_grad_kernel (const __grid_constant__ Work w)
{
  extern __shared__ __align__ (1024) unsigned char memory[];

  run_block<T, Walk> (w, *reinterpret_cast<Shared *> (memory));
}

}

#endif
