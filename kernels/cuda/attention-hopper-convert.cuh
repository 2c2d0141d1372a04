/* SPDX-License-Identifier: Apache-2.0 */

/* dQ of backward attention on Hopper, from fp32 sums in the order of the
 * accumulators ([row / 64][column / 8][thread][4]) to rows of its own type. */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_CONVERT_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_CONVERT_CUH

#include "kernels/cuda/attention-reduce.cuh"
#include "kernels/cuda/attention-turn.cuh"
#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* Where a thread finds rows g and g + 8 of a warp, and where they go. */
template <class T, int D> struct DqRows
{
  const float4 *from; /* columns 0 .. 7 of row g */
  T *to;              /* row g */
  int row;
  bool there;

  /* A block of 64 rows has 32 such pairs of rows: index is that of all. */
  __device__ __forceinline__
  DqRows (const Params &p, int64_t index)
  {
    const int pair = (int) (index % 32);
    const int64_t block = index / 32;
    const int blocks = p.padded_seq / 64;
    const int bh = (int) (block / blocks);

    row = (int) (block % blocks) * 64 + pair / 8 * 16 + pair % 8;
    there = bh < p.batch * p.heads && row < p.seq;
    from =
        reinterpret_cast<const float4 *> (p.dq_acc + block * 64 * D) + pair * 4;
    to = head_base<T> (p.dq, bh, p.heads) + row * p.dq.seq_stride;
  }

  /* Columns 8 n .. 8 n + 7 of both. */
  __device__ __forceinline__ void
  load (float (&x)[2][8], int n) const
  {
#pragma unroll
    for (int t = 0; t < 4; t++)
      {
        const float4 y = __ldcs (from + n * WARPGROUP + t);

        x[0][2 * t] = y.x;
        x[0][2 * t + 1] = y.y;
        x[1][2 * t] = y.z;
        x[1][2 * t + 1] = y.w;
      }
  }

  __device__ __forceinline__ void
  store (const Params &p, const float (&x)[2][8], int n) const
  {
    uint32_t out[2][4];

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int t = 0; t < 4; t++)
        out[i][t] = pack2<T> (x[i][2 * t] * p.grad_scale,
                              x[i][2 * t + 1] * p.grad_scale);
    *reinterpret_cast<uint4 *> (to + n * 8) =
        make_uint4 (out[0][0], out[0][1], out[0][2], out[0][3]);
    if (row + 8 < p.seq)
      *reinterpret_cast<uint4 *> (to + 8 * p.dq.seq_stride + n * 8) =
          make_uint4 (out[1][0], out[1][1], out[1][2], out[1][3]);
  }
};

/* A thread takes 8 columns. */
template <class T, int D>
__global__ void __launch_bounds__ (256)
    convert_dq_blocks (const __grid_constant__ Params p)
{
  const int64_t index = (int64_t) blockIdx.x * 256 + threadIdx.x;
  const int n = (int) (index % (D / 8));
  const DqRows<T, D> rows (p, index / (D / 8));
  float x[2][8];

  if (!rows.there || n * 8 >= p.head_dim)
    return;
  rows.load (x, n);
  rows.store (p, x, n);
}

/* A thread takes 8 columns and those that they turn with, or 8 behind all that
 * turn. */
template <class T, int D>
__global__ void __launch_bounds__ (256)
    turn_dq_blocks (const __grid_constant__ Params p)
{
  const int half = p.half / 8, each = D / 8 - half;
  const int64_t index = (int64_t) blockIdx.x * 256 + threadIdx.x;
  const int n = (int) (index % each);
  const DqRows<T, D> rows (p, index / each);
  float x[2][8], y[2][8];

  if (!rows.there)
    return;
  if (n >= half)
    {
      rows.load (x, n + half);
      rows.store (p, x, n + half);
      return;
    }
  rows.load (x, n);
  rows.load (y, n + half);
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      /* The last row's again where there is none: it is not stored. */
      const int row = min (rows.row + 8 * i, p.seq - 1);
      const float4 *table = reinterpret_cast<const float4 *> (
                                p.table + (int64_t) row * 2 * p.half)
                            + 2 * n;

#pragma unroll
      for (int t = 0; t < 2; t++)
        {
          const float4 cosine = __ldg (table + t);
          const float4 sine = __ldg (table + p.half / 4 + t);

          turn_pair (x[i][4 * t], y[i][4 * t], cosine.x, sine.x);
          turn_pair (x[i][4 * t + 1], y[i][4 * t + 1], cosine.y, sine.y);
          turn_pair (x[i][4 * t + 2], y[i][4 * t + 2], cosine.z, sine.z);
          turn_pair (x[i][4 * t + 3], y[i][4 * t + 3], cosine.w, sine.w);
        }
    }
  rows.store (p, x, n);
  rows.store (p, y, n + half);
}

template <class T, int D>
cudaError_t
launch_convert_dq_blocks (const Params &p, cudaStream_t stream)
{
  const int64_t pairs = (int64_t) p.batch * p.heads * p.padded_seq / 2;
  const int64_t threads = pairs * (D / 8 - p.half / 8);
  const auto kernel =
      p.half > 0 ? turn_dq_blocks<T, D> : convert_dq_blocks<T, D>;

  kernel<<<(unsigned) ((threads + 255) / 256), 256, 0, stream>>> (p);
  return cudaGetLastError ();
}

}

#endif
