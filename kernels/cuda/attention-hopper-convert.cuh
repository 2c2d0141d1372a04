/* SPDX-License-Identifier: Apache-2.0 */

/* Gradients of backward attention on Hopper, from fp32 sums in the order of the
 * accumulators ([row / 64][column / 8][thread][4]) to rows of their own type:
 * dQ, and dK and dV where these come in parts. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_CONVERT_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_CONVERT_CUH

#include "kernels/cuda/attention-reduce.cuh"
#include "kernels/cuda/attention-turn.cuh"
#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Blocks of 8 columns that a warp converts at a time, of 16 rows. */
constexpr int SUM_BLOCKS = 4;

/* What is converted. */
struct Sums
{
  const float *from; /* [parts][batch * heads][padded_seq][...] */
  QmAttentionTensor to;
  int heads, parts;
  int half; /* elements of a head that turn with others */
  float factor;
};

/* Which blocks of a head those are: first those that turn, two of them and the
 * two that they turn with, then the others. */
struct SumColumns
{
  int half;    /* blocks that turn with others */
  int turning; /* places of which half turn with the other half */
  int places;

  __host__ __device__ __forceinline__
  SumColumns (int elements, int head_dim)
      : half (elements / 8), turning ((half + 1) / 2),
        places (turning
                + (head_dim / 8 - 2 * half + SUM_BLOCKS - 1) / SUM_BLOCKS)
  {
  }

  /* Block i of a place, at or past `end` if there is none. */
  __device__ __forceinline__ int
  block (int place, int i, int end) const
  {
    const int n = 2 * place + i % 2;

    if (place >= turning)
      return 2 * half + (place - turning) * SUM_BLOCKS + i;
    return n < half ? n + i / 2 * half : end;
  }
};

/* x[i] of lanes 4 q .. 4 q + 3 becomes what lane 4 q + i had at its own place
 * among them. */
__device__ __forceinline__ void
transpose_quad (uint32_t (&x)[4], int lane)
{
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2)
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (!(i & bit))
        {
          const bool upper = lane & bit;
          const uint32_t y =
              __shfl_xor_sync (0xffffffffu, upper ? x[i] : x[i | bit], bit);

          if (upper)
            x[i] = y;
          else
            x[i | bit] = y;
        }
}

__device__ __forceinline__ void
add4 (float4 &x, const float4 &y)
{
  x.x += y.x;
  x.y += y.y;
  x.z += y.z;
  x.w += y.w;
}

/* Turns two blocks, of which a thread has columns 2 (lane % 4) and the next
 * in rows `row` and `row` + 8. */
__device__ __forceinline__ void
turn_blocks (float4 &a, float4 &b, const Params &p, int row, int column)
{
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      /* The last row's again where there is none: it is not stored. */
      const float *table = p.table
                           + (int64_t) min (row + 8 * i, p.seq - 1) * 2 * p.half
                           + column;
      const float2 cosine = __ldg (reinterpret_cast<const float2 *> (table));
      const float2 sine =
          __ldg (reinterpret_cast<const float2 *> (table + p.half));

      turn_pair (i ? a.z : a.x, i ? b.z : b.x, cosine.x, sine.x);
      turn_pair (i ? a.w : a.y, i ? b.w : b.y, cosine.y, sine.y);
    }
}

/* Four blocks of two rows of each lane to rows of `to`, four lanes a row. */
template <class T>
__device__ __forceinline__ void
store_blocks (const float4 (&x)[SUM_BLOCKS],
              const Sums &s,
              T *to,
              int rows,
              bool there,
              int lane)
{
  uint32_t out[2][SUM_BLOCKS];

#pragma unroll
  for (int i = 0; i < SUM_BLOCKS; i++)
    {
      out[0][i] = pack2<T> (x[i].x * s.factor, x[i].y * s.factor);
      out[1][i] = pack2<T> (x[i].z * s.factor, x[i].w * s.factor);
    }
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      transpose_quad (out[i], lane);
      if (there && 8 * i < rows)
        *reinterpret_cast<uint4 *> (to + 8 * i * s.to.seq_stride) =
            make_uint4 (out[i][0], out[i][1], out[i][2], out[i][3]);
    }
}

/* A warp takes 16 rows of a place's columns: it reads and, four lanes after
 * each other, writes without gaps.  32 bits hold its number as long as the
 * sums have less than 8 TiB. */
template <class T, int D>
__global__ void __launch_bounds__ (256)
    convert_sums (const __grid_constant__ Params p,
                  const __grid_constant__ Sums s)
{
  const SumColumns columns (s.half, p.head_dim);
  const unsigned warp = blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32, place = (int) (warp % columns.places);
  const unsigned slice = warp / columns.places;
  const unsigned slices = (unsigned) p.padded_seq / 16;
  const int bh = (int) (slice / slices);
  const int row = (int) (slice % slices) * 16 + lane / 4;
  const int end = p.head_dim / 8, n = columns.block (place, lane % 4, end);

  if (bh >= p.batch * s.heads || row - lane / 4 >= p.seq)
    return;

  const int64_t apart = (int64_t) p.batch * s.heads * p.padded_seq * (D / 4);
  const float4 *from =
      reinterpret_cast<const float4 *> (s.from + (int64_t) (slice / 4) * 64 * D)
      + slice % 4 * 32 + lane;
  T *to = head_base<T> (s.to, bh, s.heads) + row * s.to.seq_stride + n * 8;
  float4 x[SUM_BLOCKS];

#pragma unroll
  for (int i = 0; i < SUM_BLOCKS; i++)
    {
      const int m = columns.block (place, i, end);

      x[i] = m < end ? __ldcs (from + m * WARPGROUP) : make_float4 (0, 0, 0, 0);
    }
  for (int part = 1; part < s.parts; part++)
#pragma unroll
    for (int i = 0; i < SUM_BLOCKS; i++)
      {
        const int m = columns.block (place, i, end);

        if (m < end)
          add4 (x[i], __ldcs (from + part * apart + m * WARPGROUP));
      }
  if (place < columns.turning)
#pragma unroll
    for (int i = 0; i < 2; i++)
      if (2 * place + i < columns.half)
        turn_blocks (x[i], x[i + 2], p, row,
                     (2 * place + i) * 8 + lane % 4 * 2);
  store_blocks<T> (x, s, to, p.seq - row, n < end, lane);
}

template <class T, int D>
cudaError_t
launch_convert_sums (const Params &p, const Sums &s, cudaStream_t stream)
{
  const int64_t slices = (int64_t) p.batch * s.heads * (p.padded_seq / 16);
  const int64_t warps = slices * SumColumns (s.half, p.head_dim).places;

  convert_sums<T, D><<<(unsigned) ((warps + 7) / 8), 256, 0, stream>>> (p, s);
  return cudaGetLastError ();
}

template <class T, int D>
cudaError_t
launch_convert_dq_sums (const Params &p, cudaStream_t stream)
{
  const Sums dq = { p.dq_acc, p.dq, p.heads, 1, p.half, p.grad_scale };

  return launch_convert_sums<T, D> (p, dq, stream);
}

template <class T, int D>
cudaError_t
launch_convert_dkv_sums (const Params &p, cudaStream_t stream)
{
  const int64_t rows = (int64_t) p.parts * p.batch * p.groups * p.padded_seq;
  const Sums dk = { p.dkv_acc, p.dk, p.groups, p.parts, p.half, p.grad_scale };
  const Sums dv = { p.dkv_acc + rows * D, p.dv, p.groups, p.parts, 0,
                    p.keep_scale };
  cudaError_t status = launch_convert_sums<T, D> (p, dk, stream);

  return status == cudaSuccess ? launch_convert_sums<T, D> (p, dv, stream)
                               : status;
}

}

#endif
