/* SPDX-License-Identifier: Apache-2.0 */

/* The product of two matrices of 16-bit numbers on Hopper.
 *
 * A cluster is two blocks, one below the other: they have rows of their own and
 * share the columns, of which each fetches one half for both.  Or they lie
 * beside each other and share rows, where that leaves fewer tiles partly empty.
 * Blocks stay on their multiprocessors and take tile after tile.  One warp
 * fetches; two warpgroups multiply, 64 rows each.  They share nothing but the
 * ring of stages, so one may be as far ahead of the other as the ring is long:
 * while one finishes and stores its part of a tile, the other one has the
 * tensor cores for itself.
 *
 * A warp stores its 16 rows on its own, 64 columns at a time, through the copy
 * engine; where the slope of an activation is wanted, its argument comes the
 * same way, into the memory where the result will be.
 *
 * With a gate, half of a tile's columns are of the gate and half of what it
 * gates, so that a thread has both of an element; what is multiplied before and
 * what is gated then go through the same memory, one after the other.  In the
 * gradient both come and go in pairs of 32 columns.
 *
 * What turns together is in one thread, too, as it is a multiple of 8 columns
 * apart; all heads of a tile turn by an angle before the next angle.
 *
 * Tiles, and what fetches for them, are in kernels/cuda/hopper-tiles.cuh. */

#ifndef QM_KERNELS_CUDA_HOPPER_PRODUCT_CUH
#define QM_KERNELS_CUDA_HOPPER_PRODUCT_CUH

#include "kernels/cuda/gelu.cuh"
#include "kernels/cuda/hopper-tiles.cuh"

namespace qm_product
{

__device__ __forceinline__ void
load_matrices (uint32_t from, uint32_t (&r)[4])
{
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(from)
      : "memory");
}

/* -- multiplying ----------------------------------------------------------- */

/* Where the exponential is too small for a normal number, it is nothing beside
 * 1. */
__device__ __forceinline__ float
sigmoid (float x)
{
  return qm_reciprocal (1 + qm_power_of_2 (-1.44269504088896341f * x));
}

template <QmFunction F>
__device__ __forceinline__ float
activation (float x)
{
  return F == QM_FUNCTION_GELU        ? qm_gelu (x, true)
         : F == QM_FUNCTION_GELU_TANH ? qm_gelu_tanh (x)
         : F == QM_FUNCTION_SILU      ? x * sigmoid (x)
                                      : x;
}

template <QmFunction F>
__device__ __forceinline__ float
slope (float x)
{
  return F == QM_FUNCTION_GELU        ? qm_gelu_slope (x, true)
         : F == QM_FUNCTION_GELU_TANH ? qm_gelu_tanh_slope (x)
         : F == QM_FUNCTION_SILU ? sigmoid (x) * (1 + x * (1 - sigmoid (x)))
                                 : 1;
}

/* What one thread of a multiplying warpgroup holds: rows g and g + 8 of its
 * warp's 16, columns 2 q and 2 q + 1 of every 8.  The sums of a tile that was
 * multiplied, rounded to 16 bits, are finished and stored while the next one is
 * multiplied: 16 columns, or twice or half as many, after each of its first
 * SPREAD steps, so that little keeps the warps from sending the next step. */
template <class T,
          bool DOWN,
          QmHopperFinish FINISH,
          QmFunction F,
          int SPREAD,
          int BN,
          int TURNED,
          class AnyWalk>
struct Consumer
{
  using Place = typename AnyWalk::Place;

  static constexpr int STAGES = Shared<BN>::STAGES;
  static constexpr int PARTS = Shared<BN>::PARTS;
  static constexpr int ACROSS = BN / PART_COLUMNS;
  static constexpr int UNITS = BN / 16;
  static constexpr bool GATES = FINISH == QM_HOPPER_FINISH_GATE;
  static constexpr bool PAIRS = FINISH == QM_HOPPER_FINISH_GATE_SLOPE;
  static constexpr bool LOADS = FINISH == QM_HOPPER_FINISH_SLOPE || PAIRS;
  static constexpr bool ACTIVATES = FINISH == QM_HOPPER_FINISH_ACTIVATE;

  static_assert (PARTS == 2 && ACROSS % PARTS == 0,
                 "all parts are used equally often");
  static constexpr bool HALVES = SPREAD == 2 * UNITS;
  /* Gate, up and what is gated. */
  static constexpr int GATE_UNITS = UNITS / 2 * 3;
  /* What is loaded at a time, of how many columns. */
  static constexpr int LOADED = PAIRS ? PAIR_COLUMNS : PART_COLUMNS;

  /* Groups of columns that turn or do not; how many blocks of 8 columns those
   * that turn together are apart; and units, of angles for 8 columns and as
   * many as PIECE groups, then of 16 columns to store. */
  static constexpr bool TURNS = FINISH == QM_HOPPER_FINISH_ROTARY;
  static constexpr int GROUPS = BN / (TURNS ? TURNED : BN);
  static constexpr int APART = TURNED / 16;
  static constexpr int PIECE = GROUPS < 4 ? GROUPS : 4, PIECES = GROUPS / PIECE;
  static constexpr int TURN_UNITS = APART * PIECES;

  static_assert (!TURNS || (APART * 16 == TURNED && GROUPS * TURNED == BN),
                 "in one thread and one tile");
  static_assert (!GATES || GATE_UNITS % SPREAD == 0, "as many units a step");
  static_assert (GATES || HALVES || (SPREAD >= UNITS / 2 && SPREAD <= UNITS),
                 "one, two or a half a step");

  const AnyWalk &walk;
  const Work &w;
  Shared<BN> &s;
  const int rank, warp, lane; /* warp of those that multiply */
  Ring<STAGES> ring;
  int step, last;   /* last: the stage of the step before */
  int parity;       /* of the parts that are loaded */
  Place tile, done; /* the first elements of this warp */
  float sum[BN / 2];
  uint32_t packed[BN / 4];
  uint32_t turning;      /* which groups */
  int angles[2];         /* where those of both rows begin */
  float2 turns[2][2][2]; /* of this unit and the next, cosines and sines of both
                            rows */

  __device__ __forceinline__
  Consumer (const AnyWalk &walk, Shared<BN> &s, int rank, int warp, int lane)
      : walk (walk), w (walk.w), s (s), rank (rank), warp (warp), lane (lane),
        parity (0)
  {
  }

  __device__ __forceinline__ void
  release (int stage)
  {
    if (lane < CLUSTER)
      barrier_arrive_at (&s.empty[stage], lane);
  }

  /* Sends one more step on its way, and waits for the one before. */
  __device__ __forceinline__ void
  multiply_step ()
  {
    barrier_wait (&s.full[ring.index], ring.parity);

    const uint32_t a = shared_base (s.a[ring.index]) & IN_BLOCK;
    const uint32_t b = shared_base (s.b[ring.index]) & IN_BLOCK;

    products_begin ();
#pragma unroll
    for (int i = 0; i < BK / 16; i++)
      Product<T, BN>::template shared<0, DOWN> (
          sum, along_rows<BK, BM> (a, warp / 4 * 64, i),
          DOWN ? down_rows<64, BK> (b, 0, i) : along_rows<BK, BN> (b, 0, i),
          i > 0 || step > 0);
    products_commit ();
    products_wait<1> ();
    if (step > 0)
      release (last);
    last = ring.index;
    ring.advance ();
    step++;
  }

  /* Two columns at a time; beyond the last ones any will do. */
  __device__ __forceinline__ void
  load_bias (uint32_t (&bias)[BN / 8]) const
  {
    const uint16_t *from = static_cast<const uint16_t *> (w.bias);
    const int first = tile.column + lane % 4 * 2;

#pragma unroll
    for (int j = 0; j < BN / 8; j++)
      {
        const bool up = GATES && j >= BN / 16;
        const int column = first + (up ? j - BN / 16 : j) * 8;

        bias[j] = __ldg (reinterpret_cast<const uint32_t *> (
            from + min (column, w.columns - 2) + (up ? w.columns : 0)));
      }
  }

  __device__ __forceinline__ void
  pack ()
  {
    uint32_t bias[BN / 8];

    if (w.bias)
      load_bias (bias);
    else if (TURNS) /* else the compiler keeps those of the tile before */
#pragma unroll
      for (int j = 0; j < BN / 8; j++)
        bias[j] = 0;
    products_wait<0> ();
    pin (sum);
    release (last);
    if (w.bias)
#pragma unroll
      for (int j = 0; j < BN / 8; j++)
        {
          const float2 x = unpack2<T> (bias[j]);

#pragma unroll
          for (int i = 0; i < 4; i++)
            sum[j * 4 + i] += i % 2 ? x.y : x.x;
        }
#pragma unroll
    for (int i = 0; i < BN / 4; i++)
      packed[i] = pack2<T> (sum[2 * i], sum[2 * i + 1]);
  }

  /* Where this lane's row of the matrices of 8 x 8 of 16 columns begins. */
  __device__ __forceinline__ uint32_t
  matrix_row (int part, int pair) const
  {
    return shared_u32 (s.part[warp][part]) + (lane % 16) * (PART_COLUMNS * 2)
           + (((pair * 2 + lane / 16) ^ (lane % 8)) << 4);
  }

  __device__ __forceinline__ void
  load_part (const Place &from, int c)
  {
    uint64_t *full = &s.part_full[warp][c % PARTS];

    barrier_expect (full, sizeof s.part[0][0]);
    load_box (s.part[warp][c % PARTS], &w.pre, full, from.column + c * LOADED,
              from.row);
    if constexpr (PAIRS)
      load_box (s.part[warp][c % PARTS] + PART_ROWS * PAIR_COLUMNS, &w.pre_up,
                full, from.column + c * LOADED, from.row);
  }

  /* The others are on their way to the L2 cache, meanwhile. */
  __device__ __forceinline__ void
  load_first_parts ()
  {
    if (lane == 0)
      {
#pragma unroll
        for (int c = PARTS; c < BN / LOADED; c++)
          {
            prefetch_box (&w.pre, tile.column + c * LOADED, tile.row);
            if constexpr (PAIRS)
              prefetch_box (&w.pre_up, tile.column + c * LOADED, tile.row);
          }
        bulk_wait_read<0> ();
#pragma unroll
        for (int c = 0; c < PARTS; c++)
          load_part (tile, c);
      }
  }

  __device__ __forceinline__ void
  store_part (const CUtensorMap *map, int part, int c)
  {
    store_box (map, s.part[warp][part], done.column + c * PART_COLUMNS,
               done.row);
    bulk_commit ();
  }

  /* Before the first columns of a part: its memory. */
  template <int C>
  __device__ __forceinline__ void
  begin_part ()
  {
    if (LOADS)
      {
        if (C > 0 && C - 1 + PARTS < BN / LOADED && lane == 0)
          {
            bulk_wait_read<0> ();
            load_part (done, C - 1 + PARTS);
          }
        __syncwarp ();
        barrier_wait (&s.part_full[warp][C % PARTS], parity);
        if (C % PARTS == PARTS - 1)
          parity ^= 1;
        return;
      }
    if (lane == 0)
      bulk_wait_read<ACTIVATES ? 0 : PARTS - 1> ();
    __syncwarp ();
  }

  template <int C>
  __device__ __forceinline__ void
  end_part ()
  {
    if constexpr (AnyWalk::GROUPED)
      if (done.end - done.row < PART_ROWS)
        {
          __syncwarp ();
          walk.store_rows (s.part[warp][C % PARTS], done,
                           done.column + C * PART_COLUMNS, lane);
          /* as many as there are of the others, which are waited for */
          if (lane == 0)
            bulk_commit ();
          return;
        }
    fence_async_proxy ();
    __syncwarp ();
    if (lane == 0)
      {
        if (ACTIVATES && w.store_pre)
          store_part (&w.pre, 0, C);
        store_part (&w.d, ACTIVATES ? 1 : C % PARTS, C);
      }
  }

  /* 16 columns. */
  template <int UNIT, bool MULTIPLIES>
  __device__ __forceinline__ void
  finish_unit ()
  {
    constexpr int C = UNIT / 4, PAIR = UNIT % 4;
    /* an activation's argument goes to the first part */
    constexpr int PART = ACTIVATES ? 1 : C % PARTS;
    uint32_t r[4];

    if (PAIR == 0)
      begin_part<C> ();
    if (LOADS)
      load_matrices (matrix_row (PART, PAIR), r);
    else if (ACTIVATES && w.store_pre)
      {
#pragma unroll
        for (int i = 0; i < 4; i++)
          r[i] = packed[UNIT * 4 + i];
        store_matrices (matrix_row (0, PAIR), r);
      }
#pragma unroll
    for (int i = 0; i < 4; i++)
      {
        const float2 x = unpack2<T> (packed[UNIT * 4 + i]);

        if (MULTIPLIES && HALVES && i == 2)
          multiply_step ();
        if (LOADS)
          {
            const float2 pre = unpack2<T> (r[i]);

            r[i] = pack2<T> (x.x * slope<F> (pre.x), x.y * slope<F> (pre.y));
          }
        else if (ACTIVATES)
          r[i] = pack2<T> (activation<F> (x.x), activation<F> (x.y));
        else
          r[i] = packed[UNIT * 4 + i];
      }
    store_matrices (matrix_row (PART, PAIR), r);
    if (PAIR == 3)
      end_part<C> ();
  }

  /* 16 columns of the gate, of what it gates, or of what is gated: of 64
   * columns each, in turns through either part. */
  template <int UNIT, bool MULTIPLIES>
  __device__ __forceinline__ void
  finish_gate ()
  {
    constexpr int C = UNIT / 12, KIND = UNIT / 4 % 3, PAIR = UNIT % 4;
    constexpr int PART = UNIT / 4 % PARTS;
    constexpr int GATE = (C * 4 + PAIR) * 4, UP = GATE + BN / 8;
    uint32_t r[4];

    if (MULTIPLIES && UNIT % (GATE_UNITS / SPREAD) == 0)
      multiply_step ();
    if (KIND < 2 && !w.store_pre)
      return;
    if (PAIR == 0)
      {
        if (lane == 0)
          bulk_wait_read<PARTS - 1> ();
        __syncwarp ();
      }
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (KIND == 2)
        {
          const float2 gate = unpack2<T> (packed[GATE + i]);
          const float2 up = unpack2<T> (packed[UP + i]);

          r[i] = pack2<T> (activation<F> (gate.x) * up.x,
                           activation<F> (gate.y) * up.y);
        }
      else
        r[i] = packed[(KIND == 0 ? GATE : UP) + i];
    store_matrices (matrix_row (PART, PAIR), r);
    if (PAIR < 3)
      return;
    fence_async_proxy ();
    __syncwarp ();
    if (lane == 0)
      store_part (KIND == 0 ? &w.pre : KIND == 1 ? &w.pre_up : &w.d, PART, C);
  }

  /* Where this lane's row of the matrices of 8 x 8 of 8 columns begins, of both
   * halves of a pair, whose rows are of 64 bytes. */
  __device__ __forceinline__ uint32_t
  pair_row (int part, int piece) const
  {
    return shared_u32 (s.part[warp][part]) + lane * (PAIR_COLUMNS * 2)
           + ((piece ^ (lane / 2 % 4)) << 4);
  }

  /* 16 columns of both halves of a gradient. */
  template <int UNIT, bool MULTIPLIES>
  __device__ __forceinline__ void
  finish_pair ()
  {
    constexpr int C = UNIT / 2, SIDE = UNIT % 2, PART = C % PARTS;

    if (SIDE == 0)
      begin_part<C> ();
#pragma unroll
    for (int piece = 0; piece < 2; piece++)
      {
        const uint32_t row = pair_row (PART, SIDE * 2 + piece);
        uint32_t r[4]; /* gate of rows g and g + 8, then up */

        if (MULTIPLIES && HALVES && piece == 1)
          multiply_step ();
        load_matrices (row, r);
#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            const float2 dy = unpack2<T> (packed[UNIT * 4 + piece * 2 + i]);
            const float2 gate = unpack2<T> (r[i]), up = unpack2<T> (r[2 + i]);

            r[i] = pack2<T> (dy.x * up.x * slope<F> (gate.x),
                             dy.y * up.y * slope<F> (gate.y));
            r[2 + i] = pack2<T> (dy.x * activation<F> (gate.x),
                                 dy.y * activation<F> (gate.y));
          }
        store_matrices (row, r);
      }
    if (SIDE == 0)
      return;
    fence_async_proxy ();
    __syncwarp ();
    if (lane == 0)
      {
        const int column = done.column + C * PAIR_COLUMNS;

        store_box (&w.d, s.part[warp][PART], column, done.row);
        store_box (&w.d_up, s.part[warp][PART] + PART_ROWS * PAIR_COLUMNS,
                   column, done.row);
        bulk_commit ();
      }
  }

  /* Which groups begin a head that turns, a lane each; and angles of rows. */
  __device__ __forceinline__ void
  find_angles ()
  {
    const int column = tile.column + lane * TURNED, head = column / w.width;

    turning = __ballot_sync (0xffffffffu, column == head * w.width
                                              && head % w.chunk < w.count);
#pragma unroll
    for (int i = 0; i < 2; i++)
      angles[i] =
          (tile.row + lane / 4 + i * 8) % w.length * TURNED + lane % 4 * 2;
  }

  template <int ANGLE>
  __device__ __forceinline__ void
  load_angles ()
  {
#pragma unroll
    for (int side = 0; side < 2; side++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        turns[ANGLE % 2][side][i] = __ldg (reinterpret_cast<const float2 *> (
            w.table + angles[i] + side * (TURNED / 2) + ANGLE * 8));
  }

  /* A block of groups from the first on, and what turns with it. */
  template <int ANGLE, int FIRST>
  __device__ __forceinline__ void
  turn ()
  {
#pragma unroll
    for (int g = FIRST; g < FIRST + PIECE; g++)
      if (turning >> g & 1)
#pragma unroll
        for (int i = 0; i < 2; i++)
          {
            const int at = (g * 2 * APART + ANGLE) * 2 + i;
            const float2 a = unpack2<T> (packed[at]);
            const float2 b = unpack2<T> (packed[at + 2 * APART]);
            const float2 c = turns[ANGLE % 2][0][i];
            const float2 s = turns[ANGLE % 2][1][i];

            packed[at] =
                pack2<T> (a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
            packed[at + 2 * APART] =
                pack2<T> (b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
          }
  }

  /* Angles are fetched while those before them are used. */
  template <int UNIT, bool MULTIPLIES>
  __device__ __forceinline__ void
  finish_turned ()
  {
    constexpr int ANGLE = UNIT / PIECES, ALL = TURN_UNITS + UNITS;

    if constexpr (UNIT == 0)
      load_angles<0> ();
    if constexpr (UNIT % PIECES == 0 && ANGLE + 1 < APART)
      load_angles<ANGLE + 1> ();
    if (MULTIPLIES
        && (UNIT == 0 || UNIT * SPREAD / ALL != (UNIT - 1) * SPREAD / ALL))
      multiply_step ();
    if constexpr (UNIT < TURN_UNITS)
      turn<ANGLE, UNIT % PIECES * PIECE> ();
    else
      finish_unit<UNIT - TURN_UNITS, false> ();
  }

  template <int UNIT, bool MULTIPLIES>
  __device__ __forceinline__ void
  finish ()
  {
    if constexpr (TURNS)
      {
        if constexpr (UNIT < TURN_UNITS + UNITS)
          {
            finish_turned<UNIT, MULTIPLIES> ();
            finish<UNIT + 1, MULTIPLIES> ();
          }
      }
    else if constexpr (GATES)
      {
        if constexpr (UNIT < GATE_UNITS)
          {
            finish_gate<UNIT, MULTIPLIES> ();
            finish<UNIT + 1, MULTIPLIES> ();
          }
      }
    else if constexpr (UNIT < UNITS)
      {
        /* two units a step, at first, where there are fewer steps */
        if (MULTIPLIES && (UNIT % 2 == 0 || UNIT / 2 >= UNITS - SPREAD))
          multiply_step ();
        if constexpr (PAIRS)
          finish_pair<UNIT, MULTIPLIES> ();
        else
          finish_unit<UNIT, MULTIPLIES> ();
        finish<UNIT + 1, MULTIPLIES> ();
      }
  }

  __device__ __forceinline__ void
  multiply_rest (int index)
  {
    tile = walk.at (index);
    tile.row += (w.beside ? 0 : rank * BM) + warp * PART_ROWS;
    tile.column += w.beside ? rank * (GATES ? BN / 2 : BN) : 0;
    if (LOADS)
      load_first_parts ();
    if constexpr (TURNS)
      find_angles ();
    while (step < w.steps)
      multiply_step ();
    pack ();
  }

  __device__ __forceinline__ void
  run ()
  {
    const int tiles = walk.tiles ();
    bool pending = false;

    for (int i = blockIdx.x / CLUSTER;; i += gridDim.x / CLUSTER)
      {
        const bool more = i < tiles;

        step = 0;
        /* two ways, so that the compiler need not wait where they meet */
        if (pending && more && w.steps >= SPREAD)
          {
            finish<0, true> ();
            multiply_rest (i);
          }
        else
          {
            if (pending)
              finish<0, false> ();
            if (!more)
              break;
            multiply_rest (i);
          }
        done = tile;
        pending = true;
      }
    if (lane == 0)
      bulk_wait_read<0> ();
  }
};

template <class T,
          bool DOWN,
          QmHopperFinish FINISH,
          QmFunction F,
          int SPREAD,
          int BN,
          int TURNED = 0,
          class AnyWalk>
__device__ __forceinline__ void
run_block (const AnyWalk &walk, Shared<BN> &s)
{
  const int rank = cluster_rank ();
  const int warp = __shfl_sync (0xffffffffu, threadIdx.x / 32, 0);

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < Shared<BN>::STAGES; i++)
        {
          barrier_init (&s.full[i], 1);
          barrier_init (&s.empty[i], CLUSTER * WARPS);
        }
      for (int i = 0; i < WARPS * Shared<BN>::PARTS; i++)
        barrier_init (&s.part_full[0][0] + i, 1);
      barrier_init_fence ();
    }
  cluster_sync ();
  if (warp >= WARPS)
    {
      give_registers<24> ();
      if (threadIdx.x == WARPS * 32)
        produce<DOWN, FINISH == QM_HOPPER_FINISH_GATE, BN> (walk, s, rank);
      __syncwarp ();
    }
  else
    {
      take_registers<240> ();
      Consumer<T, DOWN, FINISH, F, SPREAD, BN, TURNED, AnyWalk> (
          walk, s, rank, warp, threadIdx.x % 32)
          .run ();
      __syncwarp ();
    }
  /* Neither block leaves while the other one may still write to it. */
  cluster_sync ();
}

template <class T,
          bool DOWN,
          QmHopperFinish FINISH,
          QmFunction F,
          int SPREAD,
          int BN,
          int TURNED>
__global__ void
__cluster_dims__ (CLUSTER, 1, 1) __launch_bounds__ (THREADS, 1)
    product_kernel (const __grid_constant__ Work w)
{
  extern __shared__ __align__ (1024) unsigned char memory[];

  run_block<T, DOWN, FINISH, F, SPREAD, BN, TURNED> (
      Walk{ w }, *reinterpret_cast<Shared<BN> *> (memory));
}

}

#endif
