/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of the selective scan, as the lanes of a warp go back through
 * one state of four channels: eight lanes a channel, eight rows a lane. */

#ifndef QM_KERNELS_CUDA_SCAN_LANES_CUH
#define QM_KERNELS_CUDA_SCAN_LANES_CUH

#include "kernels/cuda/scan.cuh"

namespace qm_scan
{
namespace
{

/* What a lane knows of its rows, and sums over states. */
struct Lane
{
  float s[steps], su[steps], dsum[steps];
  float y[steps], ds[steps], dhb[steps];
  float total; /* of s */
};

/* The sum over the k of the lanes (lane % 4) of `upper` is added to row `row`
 * of a 16 x 8 matrix, that of `lower` to row 8 + row; columns are lane / 4. */
__device__ __forceinline__ void
add_lanes (float (&sum)[4], float one, float upper, float lower)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %5, %4}, {%6, %7}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint (one)), "r"(0), "r"(__float_as_uint (upper)),
        "r"(__float_as_uint (lower)));
#else
  /* a lane has columns 2 (lane % 4) and the next */
  const int column = (int) threadIdx.x % 4 * 8;

#pragma unroll
  for (int mask = 1; mask < 4; mask *= 2)
    {
      upper += __shfl_xor_sync (0xffffffffu, upper, mask);
      lower += __shfl_xor_sync (0xffffffffu, lower, mask);
    }
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      sum[i] += one * __shfl_sync (0xffffffffu, upper, column + 4 * i);
      sum[2 + i] += one * __shfl_sync (0xffffffffu, lower, column + 4 * i);
    }
#endif
}

/* What TF32 has of a number. */
__device__ __forceinline__ float
head (float x)
{
  return __uint_as_float (__float_as_uint (x) & 0xffffe000u);
}

/* The gradients of b and c of a row. With `exact`, numbers are taken in two
 * parts, so that the sum is as good as one in fp32. */
template <bool exact>
__device__ __forceinline__ void
add_row (float (&sum)[4], int row, float db, float dc)
{
  float one = (int) threadIdx.x % 32 / 4 == row ? 1.0f : 0.0f;

  if (exact)
    {
      float upper = head (db), lower = head (dc);

      add_lanes (sum, one, upper, lower);
      add_lanes (sum, one, db - upper, dc - lower);
    }
  else
    add_lanes (sum, one, db, dc);
}

/* The state before the rows of this lane, from that of the tile. */
__device__ __forceinline__ float
state_before (float sum, float whole, float before)
{
  int lane = (int) threadIdx.x % 32;

  if (lane < 4)
    sum += whole * before;
#pragma unroll
  for (int by = 4; by < 32; by *= 2)
    {
      float other = __shfl_up_sync (0xffffffffu, sum, by);
      float others = __shfl_up_sync (0xffffffffu, whole, by);

      if (lane >= by)
        {
          sum += whole * other;
          whole *= others;
        }
    }
  sum = __shfl_up_sync (0xffffffffu, sum, 4);
  return lane < 4 ? before : sum;
}

/* The gradient of the state after the rows of this lane, from that after the
 * tile, which becomes that before the rows of this lane. */
__device__ __forceinline__ float
gradient_after (float sum, float whole, float &carry)
{
  int lane = (int) threadIdx.x % 32;
  float after = carry;

  if (lane >= 28)
    sum += whole * carry;
#pragma unroll
  for (int by = 4; by < 32; by *= 2)
    {
      float other = __shfl_down_sync (0xffffffffu, sum, by);
      float others = __shfl_down_sync (0xffffffffu, whole, by);

      if (lane + by < 32)
        {
          sum += whole * other;
          whole *= others;
        }
    }
  carry = sum;
  sum = __shfl_down_sync (0xffffffffu, sum, 4);
  return lane >= 28 ? after : sum;
}

/* One state; gives the lane's share of the gradient of its rate, and in `sum`
 * the warp's of b and c. */
template <bool exact, int slab>
__device__ __forceinline__ float
step_back (float rate,
           float before,
           float &carry,
           const float *b_and_c,
           Lane &lane,
           float (&sum)[4])
{
  float decay[steps], add[steps], b[steps], c[steps], old[steps];
  float odd[4] = {}, whole = qm_power_of_2 (rate * lane.total), end = 0,
        start = 0;
  float h, da = 0;

  load_steps (b_and_c, b);
  load_steps (b_and_c + slab * pitch, c);
#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      decay[i] = qm_power_of_2 (rate * lane.s[i]);
      add[i] = lane.su[i] * b[i];
      end = decay[i] * end + add[i];
    }
#pragma unroll
  for (int i = steps - 1; i >= 0; i--)
    start = decay[i] * (lane.dsum[i] * c[i] + start);
  h = state_before (end, whole, before);
  end = gradient_after (start, whole, carry);
#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      old[i] = h;
      h = decay[i] * h + add[i];
      lane.y[i] += c[i] * h;
      add[i] = h;
    }
#pragma unroll
  for (int i = 0; i < 4; i++)
    sum[i] = 0;
#pragma unroll
  for (int i = steps - 1; i >= 0; i--)
    {
      float dh = lane.dsum[i] * c[i] + end;

      end = dh * decay[i];
      old[i] *= end;
      lane.ds[i] += rate * old[i];
      lane.dhb[i] += dh * b[i];
      da += lane.s[i] * old[i];
      add_row<exact> (i % 2 == 0 ? sum : odd, i, dh * lane.su[i],
                      lane.dsum[i] * add[i]);
    }
#pragma unroll
  for (int i = 0; i < 4; i++)
    sum[i] += odd[i];
  return da;
}

} /* namespace */
} /* namespace qm_scan */

#endif
