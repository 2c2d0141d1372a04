/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary positions in the end of attention's gradient: dQ and dK are turned
 * backwards in registers, before they are rounded.  What a kernel that does
 * not do so has made, the operator's own kernel turns in memory. */

#ifndef QM_KERNELS_CUDA_ATTENTION_TURN_CUH
#define QM_KERNELS_CUDA_ATTENTION_TURN_CUH

#include "kernels/cuda/attention-common.cuh"

namespace qm_attention
{

/* a and b, which are half a head apart, by what the table has of them. */
__device__ __forceinline__ void
turn_pair (float &a, float &b, float cosine, float sine)
{
  const float first = a;

  a = fmaf (first, cosine, b * sine);
  b = fmaf (b, cosine, -first * sine);
}

/* A row of a head of D, held as accumulators are: a thread has columns 8 n +
 * 2 (lane % 4) and the next of every n, at sum[4 n + at].  HALF is a multiple
 * of 8, so that both of a pair are the same thread's. */
template <int D, int HALF>
__device__ __forceinline__ void
turn_row (float (&sum)[D / 2], int at, const float *table, int lane)
{
  const float2 *cosines = reinterpret_cast<const float2 *> (table) + lane % 4;
  const float2 *sines = cosines + HALF / 2;

#pragma unroll
  for (int n = 0; n < HALF / 8; n++)
    {
      const float2 cosine = __ldg (cosines + 4 * n);
      const float2 sine = __ldg (sines + 4 * n);
      float *a = sum + 4 * n + at, *b = a + HALF / 2;

      turn_pair (a[0], b[0], cosine.x, sine.x);
      turn_pair (a[1], b[1], cosine.y, sine.y);
    }
}

/* Rows `row` and `row` + 8 of dQ or dK, where there is a table: the whole of a
 * head turns, or a quarter, as qm_cuda_turns_in_end() says. */
template <int D>
__device__ __forceinline__ void
turn_back (float (&sum)[D / 2], const Params &p, int row, int lane)
{
  if (p.half == 0)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      const float *table = p.table + (int64_t) (row + 8 * i) * 2 * p.half;

      if (row + 8 * i >= p.seq)
        continue;
      if (p.half == D / 2)
        turn_row<D, D / 2> (sum, 2 * i, table, lane);
      else if constexpr (D % 64 == 0)
        turn_row<D, D / 8> (sum, 2 * i, table, lane);
    }
}

}

#endif
