/* SPDX-License-Identifier: Apache-2.0 */

/* The selective scan of channels with 16 states, in 16-bit types.
 *
 * Four lanes share a channel, each with four of its states in registers, and go
 * through the rows one after the other: nothing is computed twice, and the
 * recurrence costs one multiply-add a row, behind exponentials that do not
 * depend on it.  A warp has eight channels; a block has four warps and tiles of
 * 32 rows.  What belongs to a row and a channel is worked out by one thread,
 * for eight channels of a row, and goes to the lanes through shared memory; so
 * do b and c.  Sums over the states of four rows are spread over the four
 * lanes. */

#ifndef QM_KERNELS_CUDA_SCAN_STATES_CUH
#define QM_KERNELS_CUDA_SCAN_STATES_CUH

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/scan.cuh"

#include <type_traits>

namespace qm_scan
{
namespace states
{

constexpr int n = 16, lanes = 4; /* states and lanes of a channel */
constexpr int each = n / lanes;  /* states of a lane */
constexpr int rows = 32, channels = 32, threads = 128;
constexpr int at_once = 8; /* channels of a row that a thread moves */
constexpr int y_pitch = channels + 4;

static_assert (rows * channels == threads * at_once && lanes * each == n
                   && rows * n == threads * each,
               "every thread moves one vector of each kind");

struct States
{
  Inputs in;
  Matrix y;
  float *kept;
  int64_t chunk, chunks;
};

struct Shared
{
  float2 time[rows][channels]; /* time step, and the same times u */
  float4 b[rows][lanes], c[rows][lanes];
  float y[rows][y_pitch];
};

template <class S>
__device__ __forceinline__ void
unpack (unsigned raw, float &low, float &high)
{
  if (sizeof (S) == 2 && __is_same(S, __half))
    qm_unpack_f16 (raw, low, high);
  else
    qm_unpack_bf16 (raw, low, high);
}

/* Four states of b or c. */
template <class S>
__device__ __forceinline__ float4
widen (uint2 raw)
{
  float4 x;

  unpack<S> (raw.x, x.x, x.y);
  unpack<S> (raw.y, x.z, x.w);
  return x;
}

/* What a thread moves of a tile. */
template <class S, bool gated> struct Part
{
  uint4 u, dt, z;
  uint2 b, c;

  /* Row `row` of the sequence, which may be past its end. */
  __device__ __forceinline__ void
  fetch (const States &scan, int64_t row, int column)
  {
    const Inputs &in = scan.in;
    int64_t at = blockIdx.y * in.width + row;
    int state = (int) threadIdx.x % lanes * each;

    u = dt = z = {};
    b = c = {};
    if (row >= in.width)
      return;
    b = *(const uint2 *) ((const S *) in.b.array.data + at * in.b.step + state);
    c = *(const uint2 *) ((const S *) in.c.array.data + at * in.c.step + state);
    if (column >= in.columns)
      return;
    u = *(const uint4 *) ((const S *) in.u.array.data + at * in.u.step
                          + column);
    dt = *(const uint4 *) ((const S *) in.dt.array.data + at * in.dt.step
                           + column);
    if (gated)
      z = *(const uint4 *) ((const S *) in.z.array.data + at * in.z.step
                            + column);
  }

  /* Makes what the lanes need. */
  __device__ __forceinline__ void
  put (Shared &shared, const float *bias, bool inside) const
  {
    int r = (int) threadIdx.x / lanes, part = (int) threadIdx.x % lanes;
    const unsigned us[] = { u.x, u.y, u.z, u.w };
    const unsigned dts[] = { dt.x, dt.y, dt.z, dt.w };

    shared.b[r][part] = widen<S> (b);
    shared.c[r][part] = widen<S> (c);
#pragma unroll
    for (int i = 0; i < at_once / 2; i++)
      {
        float x[2], s[2];

        unpack<S> (us[i], x[0], x[1]);
        unpack<S> (dts[i], s[0], s[1]);
#pragma unroll
        for (int k = 0; k < 2; k++)
          {
            s[k] = softplus (s[k] + bias[part * at_once + 2 * i + k]);
            s[k] = inside ? s[k] : 0;
          }
        *(float4 *) &shared.time[r][part * at_once + 2 * i] =
            make_float4 (s[0], s[0] * x[0], s[1], s[1] * x[1]);
      }
  }

  /* Writes a row's eight channels. */
  __device__ __forceinline__ void
  finish (const States &scan,
          const Shared &shared,
          const float *skip,
          int64_t row,
          int column) const
  {
    int r = (int) threadIdx.x / lanes, part = (int) threadIdx.x % lanes;
    const unsigned us[] = { u.x, u.y, u.z, u.w };
    const unsigned zs[] = { z.x, z.y, z.z, z.w };
    __align__ (16) S y[at_once];

#pragma unroll
    for (int i = 0; i < at_once / 2; i++)
      {
        float x[2], gate[2];

        unpack<S> (us[i], x[0], x[1]);
        unpack<S> (zs[i], gate[0], gate[1]);
#pragma unroll
        for (int k = 0; k < 2; k++)
          {
            int channel = part * at_once + 2 * i + k;
            float sum = shared.y[r][channel] + skip[channel] * x[k];

            if (gated)
              sum *= qm_activation<false> (QM_FUNCTION_SILU, gate[k]);
            y[2 * i + k] = qm_from_float<S> (sum);
          }
      }
    if (scan.y.array && row < scan.in.width && column < scan.in.columns)
      *(uint4 *) ((S *) scan.y.array.data
                  + (blockIdx.y * scan.in.width + row) * scan.y.step + column) =
          *(const uint4 *) y;
  }
};

/* Sums four numbers, each over the four lanes of a channel; lane i has the sum
 * of number i. */
__device__ __forceinline__ float
spread_sums (const float (&x)[lanes])
{
  bool upper = threadIdx.x & 2, odd = threadIdx.x & 1;
  float first = (upper ? x[2] : x[0])
                + __shfl_xor_sync (0xffffffffu, upper ? x[0] : x[2], 2);
  float second = (upper ? x[3] : x[1])
                 + __shfl_xor_sync (0xffffffffu, upper ? x[1] : x[3], 2);

  return (odd ? second : first)
         + __shfl_xor_sync (0xffffffffu, odd ? first : second, 1);
}

/* What a lane needs of a row. */
struct Row
{
  float2 time;
  float4 b, c;

  __device__ __forceinline__
  Row (const Shared &shared, int r, int channel, int lane)
      : time (shared.time[r][channel]), b (shared.b[r][lane]),
        c (shared.c[r][lane])
  {
  }
};

/* One row of a lane's four states. */
__device__ __forceinline__ float
step (const float (&rate)[each], float (&h)[each], const Row &row)
{
  const float bs[] = { row.b.x, row.b.y, row.b.z, row.b.w };
  const float cs[] = { row.c.x, row.c.y, row.c.z, row.c.w };
  float y = 0;

#pragma unroll
  for (int i = 0; i < each; i++)
    {
      h[i] =
          fmaf (qm_power_of_2 (rate[i] * row.time.x), h[i], row.time.y * bs[i]);
      y = fmaf (cs[i], h[i], y);
    }
  return y;
}

/* States are kept before each row that `chunk`, a multiple of four, divides;
 * with `every` they may be anywhere, else before the first rows of tiles alone.
 * With `gated`, there is z.  All five blocks that a multiprocessor gets of
 * mamba-2.8b at batch 4 fit. */
template <class S, bool gated, bool every>
__global__ void
__launch_bounds__ (threads, 5) kernel (const __grid_constant__ States scan)
{
  __shared__ Shared shared;
  __shared__ float bias[channels], skip[channels];
  const Inputs &in = scan.in;
  int first = (int) blockIdx.x * channels, lane = (int) threadIdx.x % lanes;
  int mine = (int) threadIdx.x / lanes;
  bool inside = first + mine < in.columns;
  int column = first + lane * at_once;
  int64_t next = 0;
  float *kept = scan.kept
                + (blockIdx.y * scan.chunks * n + lane * each) * in.columns
                + first + mine;
  float rate[each], h[each] = {};
  Part<S, gated> part, following;

#pragma unroll
  for (int i = 0; i < each; i++)
    rate[i] = inside
                  ? -expf (in.a[(int64_t) (first + mine) * n + lane * each + i])
                        * log2_e
                  : 0;
  if (threadIdx.x < channels)
    {
      int at = first + (int) threadIdx.x;

      bias[threadIdx.x] =
          at < in.columns && in.bias != nullptr ? in.bias[at] : 0;
      skip[threadIdx.x] = at < in.columns ? in.skip[at] : 0;
    }
  auto keep = [&] (int64_t r) {
    if (r != next || next >= in.width)
      return;
    next += scan.chunk;
#pragma unroll
    for (int i = 0; i < each; i++)
      if (inside)
        kept[(int64_t) i * in.columns] = h[i];
    kept += (int64_t) n * in.columns;
  };
  part.fetch (scan, mine, column);
  __syncthreads ();
  for (int64_t begin = 0; begin < in.width; begin += rows)
    {
      part.put (shared, bias, begin + mine < in.width && column < in.columns);
      following.fetch (scan, begin + rows + mine, column);
      __syncthreads ();
      Row row (shared, 0, mine, lane);
      if (!every)
        keep (begin);
#pragma unroll 4
      for (int r = 0; r < rows; r += lanes)
        {
          float y[lanes];

          if (every)
            keep (begin + r);
#pragma unroll
          for (int k = 0; k < lanes; k++)
            {
              /* Loaded before sums of other rows are stored: a load would wait
               * for them. */
              Row next (shared, (r + k + 1) % rows, mine, lane);

              y[k] = step (rate, h, row);
              row = next;
            }
          shared.y[r + lane][mine] = spread_sums (y);
        }
      __syncthreads ();
      part.finish (scan, shared, skip, begin + mine, column);
      part = following;
    }
}

} /* namespace states */
} /* namespace qm_scan */

#endif
