/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of the selective scan of channels with 16 states, in bf16.
 *
 * Two lanes share a channel; a warp has 16 channels, a block two warps.  Tiles
 * of 64 rows are gone through from the last to the first, from the states that
 * were kept before each: once forwards, to have the states before every eighth
 * row, and then in parts of eight rows and slabs of eight states, forwards,
 * with all states and decays in registers, and back.  So an exponential is
 * computed twice, but nothing is summed over lanes along the rows.
 *
 * Sums over the states of a channel end with one exchange between its two
 * lanes.  Sums over channels, the gradients of b and c, are products of the
 * tensor cores: of states or gradients of states, in rows, and four channels
 * with the factor that belongs to each.  Four such products of a warp are made
 * at once, most of whose results are of no use; what they leave is summed
 * through shared memory in a fixed order. */

#ifndef QM_KERNELS_CUDA_SCAN_STATES_BACKWARD_CUH
#define QM_KERNELS_CUDA_SCAN_STATES_BACKWARD_CUH

#include "kernels/cuda/scan-backward-tiles.cuh"

namespace qm_scan
{
namespace states_backward
{

/* TF32 keeps ten bits behind the point of a mantissa m and cuts the rest off:
 * on average 2^-11 / m of a number, where 1 / m is 0.72 on average.  This makes
 * up for both factors of a product. */
constexpr float uncut = 1 + 2 * 0.72134752f / 2048;

/* A lane's channel, and its states of each slab. */
struct Lane
{
  int channel, half;  /* of the block; of the states of a slab */
  int place;          /* of its sums for b and c of a row */
  bool inside, first; /* `first`: its products are of use */
  float rate[slabs][each], after[slabs][each], da[slabs][each];

  /* Number `i` of its states of a slab. */
  __device__ __forceinline__ int
  state (int slab_index, int i) const
  {
    return slab_index * slab + half * each + i;
  }

  /* Begins to copy the states that were kept before a tile. */
  __device__ __forceinline__ void
  fetch (const Backward &scan,
         const float *kept,
         float4 (&to)[slabs][threads]) const
  {
    const float *from = kept;

    if (inside)
      from += (int64_t) (half * each) * scan.channels + channel;
#pragma unroll
    for (int k = 0; k < slabs; k++)
#pragma unroll
      for (int i = 0; i < each; i++)
        copy_async<4> ((float *) &to[k][threadIdx.x] + i,
                       from + (int64_t) (k * slab + i) * scan.channels, inside);
  }

  /* The lane's states of b or c. */
  __device__ __forceinline__ void
  pick (const float4 (&row)[n / 4], int slab_index, float (&x)[each]) const
  {
    float4 four = row[slab_index * 2 + half];

    x[0] = four.x;
    x[1] = four.y;
    x[2] = four.z;
    x[3] = four.w;
  }

  /* One row forwards; gives the decays. */
  __device__ __forceinline__ void
  advance (const Shared &shared,
           float2 time,
           int row,
           int slab_index,
           float (&decay)[each],
           const float (&old)[each],
           float (&h)[each]) const
  {
    float b[each];

    pick (shared.b[row], slab_index, b);
#pragma unroll
    for (int i = 0; i < each; i++)
      {
        decay[i] = qm_power_of_2 (rate[slab_index][i] * time.x);
        h[i] = fmaf (decay[i], old[i], time.y * b[i]);
      }
  }
};

static_assert (each == 4, "states are moved as vectors");

/* The sums over four channels of x times `factor`, for the states of both of
 * the lanes that are `first` of them.  The product has a row for every lane / 4
 * and a second state of it, and a column for every lane / 4 and one of two
 * pairs of states: sums of a lane's states are with the factors of its own
 * channels where lane % 4 is lane / 8. */
__device__ __forceinline__ float4
sum_channels (const float (&x)[each], float factor, int half)
{
  float even = half ? 0 : factor, odd = half ? factor : 0;
  float4 sum;

#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=f"(sum.x), "=f"(sum.y), "=f"(sum.z), "=f"(sum.w)
      : "r"(__float_as_uint (x[0])), "r"(__float_as_uint (x[2])),
        "r"(__float_as_uint (x[1])), "r"(__float_as_uint (x[3])),
        "r"(__float_as_uint (even)), "r"(__float_as_uint (odd)), "f"(0.0f));
#else
  __trap (); /* bf16 alone comes here, which such a GPU is not asked for */
#endif
  return sum;
}

/* The sum of the two lanes of a channel, of `upper` in the one with the upper
 * states and of `lower` in the other. */
__device__ __forceinline__ float
spread_sums (float lower, float upper, int half)
{
  return (half ? upper : lower)
         + __shfl_xor_sync (0xffffffffu, half ? lower : upper, 4);
}

/* Sums over the states of a channel, of a part's rows. */
struct RowSums
{
  float y[part], ds[part], dhb[part];
};

/* What a lane needs of a row on the way back. */
struct Row
{
  float2 time;
  float dsum, b[each], c[each];

  __device__ __forceinline__
  Row (const Shared &shared, const Lane &lane, int begin, int r, int k)
      : time (shared.time[begin + r][lane.channel]),
        dsum (shared.dsum[r][lane.channel])
  {
    lane.pick (shared.b[begin + r], k, b);
    lane.pick (shared.c[r], k, c);
  }
};

/* A slab of states through a part, from the states before it: forwards, and
 * back.  What one row needs is loaded before the sums of those behind it are
 * stored, so that neither waits for the other. */
__device__ __forceinline__ void
do_slab (Shared &shared, Lane &lane, int index, int k, RowSums &sums)
{
  int begin = index * part;
  float decay[part][each], h[part + 1][each];
  float4 db, dc,
      four = shared.before[index > 0 ? index - 1 : 1][k][threadIdx.x];
  float *to = (float *) shared.sums + lane.place;
  constexpr int step = warps * 4 * 2 * slab; /* from row to row */

  h[0][0] = four.x;
  h[0][1] = four.y;
  h[0][2] = four.z;
  h[0][3] = four.w;
#pragma unroll
  for (int r = 0; r < part; r++)
    lane.advance (shared, shared.time[begin + r][lane.channel], begin + r, k,
                  decay[r], h[r], h[r + 1]);
  Row row (shared, lane, begin, part - 1, k);
#pragma unroll
  for (int r = part - 1; r >= 0; r--)
    {
      Row next (shared, lane, begin, r > 0 ? r - 1 : 0, k);
      float g[each];

      if (r < part - 1 && lane.first)
        {
          *(float4 *) (to + (r + 1) * step) = db;
          *(float4 *) (to + (r + 1) * step + slab) = dc;
        }
#pragma unroll
      for (int i = 0; i < each; i++)
        {
          float old = h[r][i];

          g[i] = fmaf (row.dsum, row.c[i], lane.after[k][i]);
          lane.after[k][i] = g[i] * decay[r][i];
          sums.y[r] = fmaf (row.c[i], h[r + 1][i], sums.y[r]);
          sums.dhb[r] = fmaf (g[i], row.b[i], sums.dhb[r]);
          old *= lane.after[k][i];
          sums.ds[r] = fmaf (lane.rate[k][i], old, sums.ds[r]);
          lane.da[k][i] = fmaf (row.time.x, old, lane.da[k][i]);
        }
      db = sum_channels (g, row.time.y, lane.half);
      dc = sum_channels (h[r + 1], row.dsum, lane.half);
      row = next;
    }
  if (lane.first)
    {
      *(float4 *) to = db;
      *(float4 *) (to + slab) = dc;
    }
}

/* Sums of a part's rows over the block's channels, for a slab of states. */
__device__ __forceinline__ void
add_sums (const Backward &scan,
          const Shared &shared,
          const Tile &tile,
          int index,
          int k)
{
  unsigned thread = thread_number ();
  int r = (int) (thread / slab), at = (int) (thread % slab) * 2;
  float2 sum = {};

#pragma unroll
  for (int warp = 0; warp < warps; warp++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      {
        float2 x = *(const float2 *) &shared.sums[r][warp][i][at];

        sum.x += x.x;
        sum.y += x.y;
      }
  sum.x *= uncut;
  sum.y *= uncut;
  r += index * part;
  if (r < tile.count)
    *(float2 *) (scan.columns
                 + ((int64_t) blockIdx.x * scan.rows + tile.row + r) * 2 * n
                 + at / slab * n + k * slab + at % slab) = sum;
}

static_assert (part * slab == threads, "every thread adds two sums");

/* A part of a tile. */
__device__ __forceinline__ void
do_part (const Backward &scan,
         Shared &shared,
         Lane &lane,
         const Tile &tile,
         int index)
{
  RowSums sums = {};

#pragma unroll
  for (int k = 0; k < slabs; k++)
    {
      do_slab (shared, lane, index, k, sums);
      if (k + 1 == slabs)
        break;
      __syncthreads ();
      add_sums (scan, shared, tile, index, k);
      __syncthreads ();
    }
#pragma unroll
  for (int r = 0; r < part; r += 2)
    {
      float y = spread_sums (sums.y[r], sums.y[r + 1], lane.half);
      float ds = spread_sums (sums.ds[r], sums.ds[r + 1], lane.half);
      float dhb = spread_sums (sums.dhb[r], sums.dhb[r + 1], lane.half);

      __syncwarp ();
      shared.dsum[r + lane.half][lane.channel] = y;
      shared.ds[r + lane.half][lane.channel] = ds;
      shared.time[index * part + r + lane.half][lane.channel].y = dhb;
    }
  __syncthreads ();
  add_sums (scan, shared, tile, index, slabs - 1);
}

/* 1 - exp (-s), the slope of softplus where its value is s: by a power of two,
 * or by the first terms of a series where that would cancel.  Both are made, so
 * that lanes need not part. */
__device__ __forceinline__ float
slope_of (float s)
{
  float series = s * fmaf (s, fmaf (s, 1.0f / 6, -0.5f), 1.0f);
  float rest = 1 - qm_power_of_2 (-log2_e * s);

  asm("{\n\t.reg .pred small;\n\t"
      "setp.lt.f32 small, %1, 0f3d000000;\n\t"
      "selp.f32 %0, %2, %0, small;\n\t}"
      : "+f"(rest)
      : "f"(s), "f"(series));
  return rest;
}

__device__ __forceinline__ void
write_pair (const Rows &to, int row, int column, const float (&x)[2])
{
  *(__nv_bfloat162 *) to.at (row, column) = __floats2bfloat162_rn (x[0], x[1]);
}

/* Writes the gradients of a part's rows; adds to those of skip and bias. */
template <bool gated>
__device__ __forceinline__ void
finish (const Backward &scan,
        const Shared &shared,
        const Raw &raw,
        const Tile &tile,
        int index,
        float (&dskip)[2],
        float (&dbias)[2])
{
  Pair pair (thread_number ());
  int column = (int) blockIdx.x * channels + pair.column;
  float2 skip = *(const float2 *) &shared.skip[pair.column];
  float du[2][2], ddt[2][2], dz[2][2];

#pragma unroll
  for (int k = 0; k < 2; k++)
    {
      int r = pair.row + k;
      float4 time =
          *(const float4 *) &shared.time[index * part + r][pair.column];
      float2 sum = *(const float2 *) &shared.dsum[r][pair.column];
      float2 ds = *(const float2 *) &shared.ds[r][pair.column];
      const float s[2] = { time.x, time.z }, dhb[2] = { time.y, time.w };
      const float y[2] = { sum.x, sum.y }, by_rates[2] = { ds.x, ds.y };
      const float skips[2] = { skip.x, skip.y };
      float u[2], z[2], dsum[2];

      qm_unpack_bf16 (raw.u[r][pair.column / 2], u[0], u[1]);
      qm_unpack_bf16 (raw.dy[r][pair.column / 2], dsum[0], dsum[1]);
      if (gated)
        qm_unpack_bf16 (raw.z[r][pair.column / 2], z[0], z[1]);
#pragma unroll
      for (int i = 0; i < 2; i++)
        {
          if (gated)
            {
              float t = qm_sigmoid (z[i]);

              dz[k][i] = dsum[i] * fmaf (skips[i], u[i], y[i])
                         * (t * (1 + z[i] * (1 - t)));
              dsum[i] *= z[i] * t;
            }
          ddt[k][i] = (by_rates[i] * ln_2 + u[i] * dhb[i]) * slope_of (s[i]);
          du[k][i] = dsum[i] * skips[i] + s[i] * dhb[i];
          dbias[i] += ddt[k][i];
          dskip[i] += dsum[i] * u[i];
        }
    }
#pragma unroll
  for (int k = 0; k < 2; k++)
    {
      int r = index * part + pair.row + k;

      if (r >= tile.count || column >= scan.channels)
        continue;
      write_pair (scan.du, tile.row + r, column, du[k]);
      write_pair (scan.ddt, tile.row + r, column, ddt[k]);
      if (gated)
        write_pair (scan.dz, tile.row + r, column, dz[k]);
    }
}

/* The states before each part but the first of those that there are. */
__device__ __forceinline__ void
go_forward (Shared &shared, const Lane &lane, int count)
{
  float h[slabs][each], decay[each];

#pragma unroll
  for (int k = 0; k < slabs; k++)
    {
      float4 four = shared.before[0][k][threadIdx.x];

      h[k][0] = four.x;
      h[k][1] = four.y;
      h[k][2] = four.z;
      h[k][3] = four.w;
      if (count == 1)
        shared.before[1][k][threadIdx.x] = four;
    }
#pragma unroll 1
  for (int index = 1; index < count; index++)
    {
#pragma unroll
      for (int r = -part; r < 0; r++)
        {
          float2 time = shared.time[index * part + r][lane.channel];

#pragma unroll
          for (int k = 0; k < slabs; k++)
            lane.advance (shared, time, index * part + r, k, decay, h[k], h[k]);
        }
#pragma unroll
      for (int k = 0; k < slabs; k++)
        shared.before[index - 1][k][threadIdx.x] =
            make_float4 (h[k][0], h[k][1], h[k][2], h[k][3]);
    }
}

/* The sums of a sequence for the weights of this block's channels. */
__device__ __forceinline__ void
write_sums (const Backward &scan,
            Shared &shared,
            const Lane &lane,
            const float (&dskip)[2],
            const float (&dbias)[2])
{
  int first = (int) blockIdx.x * channels, mine = (int) threadIdx.x;
  float *to = scan.sums + (int64_t) blockIdx.y * (n + 2) * scan.channels;
  float (*parts)[2][channels] = (float (*)[2][channels]) shared.sums;
  Pair pair (thread_number ());

#pragma unroll
  for (int i = 0; i < n / 2; i++)
    if (lane.inside)
      to[(int64_t) (first + lane.channel) * n
         + lane.state (i / each, i % each)] =
          lane.rate[i / each][i % each] * ln_2 * lane.da[i / each][i % each];
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      parts[pair.row / 2][0][pair.column + i] = dskip[i];
      parts[pair.row / 2][1][pair.column + i] = dbias[i];
    }
  __syncthreads ();
  if (first + mine % channels < scan.channels)
    to[(int64_t) (n + mine / channels) * scan.channels + first
       + mine % channels] = parts[0][mine / channels][mine % channels]
                            + parts[1][mine / channels][mine % channels]
                            + parts[2][mine / channels][mine % channels]
                            + parts[3][mine / channels][mine % channels];
}

__device__ __forceinline__ Lane
begin_lane (const Backward &scan)
{
  int place = (int) threadIdx.x % 32;
  Lane lane = {};
  int64_t column;

  lane.channel = (int) threadIdx.x / 32 * 16 + place / 8 * 4 + place % 4;
  lane.half = place / 4 % 2;
  lane.first = place % 4 == place / 8;
  lane.place =
      (((int) threadIdx.x / 32 * 4 + place / 8) * 2 * slab) + lane.half * each;
  column = blockIdx.x * channels + lane.channel;
  lane.inside = column < scan.channels;
#pragma unroll
  for (int i = 0; i < n / 2; i++)
    lane.rate[i / each][i % each] =
        lane.inside
            ? -expf (scan.a[column * n + lane.state (i / each, i % each)])
                  * log2_e
            : 0;
  return lane;
}

/* Begins to copy what is needed after part `index` of a tile that has `count`
 * of them: a part of the same tile, or of the one before it, whose beginning
 * comes too. */
template <bool gated>
__device__ __forceinline__ void
fetch_next (const Backward &scan,
            Shared &shared,
            const Lane &lane,
            const Tile &tile,
            int tile_index,
            int index,
            int count)
{
  Tile next (scan, tile_index > 0 ? tile_index - 1 : 0);
  int following = index > 0 ? index - 1 : parts - 1;

  if (index > 0 || tile_index > 0)
    fetch_part<gated> (scan, shared.raw[following % 2],
                       (index > 0 ? tile.row : next.row) + following * part,
                       index > 0 ? part : next.count - following * part);
  if (index == 1 || (index == 0 && tile_index > 0))
    lane.fetch (scan, index == 1 ? tile.kept : next.kept, shared.before[index]);
  if (tile_index > 0 && index == min (2, count - 1))
    fetch_b (scan, shared.raw_b (), next);
  if (tile_index > 0 && index == min (3, count - 1))
    fetch_times (scan, shared.raw_times (), next);
  __pipeline_commit ();
}

/* All five blocks that a multiprocessor gets of mamba-2.8b at batch 4 fit. With
 * `gated`, there is z. */
template <bool gated>
__global__ void
__launch_bounds__ (threads, 5) kernel (const __grid_constant__ Backward scan)
{
  __shared__ Shared shared;
  Lane lane = begin_lane (scan);
  float dskip[2] = {}, dbias[2] = {};
  int last = (scan.width + rows - 1) / rows - 1;

  if (threadIdx.x < channels)
    {
      int at = (int) (blockIdx.x * channels + threadIdx.x);

      shared.bias[threadIdx.x] =
          at < scan.channels && scan.bias != nullptr ? scan.bias[at] : 0;
      shared.skip[threadIdx.x] = at < scan.channels ? scan.skip[at] : 0;
    }
  for (int k = 0; k < slabs; k++)
    shared.before[0][k][threadIdx.x] = shared.before[1][k][threadIdx.x] = {};
  {
    Tile tile (scan, last);
    int index = (tile.count - 1) / part;

    lane.fetch (scan, tile.kept, shared.before[0]);
    fetch_b (scan, shared.raw_b (), tile);
    fetch_times (scan, shared.raw_times (), tile);
    fetch_part<gated> (scan, shared.raw[index % 2], tile.row + index * part,
                       tile.count - index * part);
    __pipeline_commit ();
  }
#pragma unroll 1
  for (int tile_index = last; tile_index >= 0; tile_index--)
    {
      Tile tile (scan, tile_index);
      int count = (tile.count + part - 1) / part;

      __pipeline_wait_prior (0);
      __syncthreads ();
      put_times (scan, shared, tile);
      put_b (shared);
      __syncthreads ();
      go_forward (shared, lane, count);
#pragma unroll 1
      for (int index = count; index-- > 0;)
        {
          const Raw &raw = shared.raw[index % 2];

          __pipeline_wait_prior (0);
          __syncthreads ();
          fetch_next<gated> (scan, shared, lane, tile, tile_index, index,
                             count);
          put_part<gated> (shared, raw);
          __syncthreads ();
          do_part (scan, shared, lane, tile, index);
          finish<gated> (scan, shared, raw, tile, index, dskip, dbias);
        }
    }
  write_sums (scan, shared, lane, dskip, dbias);
}

} /* namespace states_backward */
} /* namespace qm_scan */

#endif
