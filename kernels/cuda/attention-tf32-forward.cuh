/* SPDX-License-Identifier: Apache-2.0 */

/* Forward attention in TF32 on Hopper.  A block works on all of one head: one
 * warpgroup brings K, and V transposed, the other two take turns with 64 rows,
 * whose scores they have whole, so that the softmax needs no second look. */

#ifndef QM_KERNELS_CUDA_ATTENTION_TF32_FORWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_TF32_FORWARD_CUH

#include "kernels/cuda/attention-tf32.cuh"

namespace qm_attention
{

/* N: columns, at least those of the head. */
template <int N> struct alignas (1024) Tf32ForwardShared
{
  static constexpr int D = TF32_D, K_STAGES = 2, CHUNKS = (N + 31) / 32;

  float k[K_STAGES][N * D];
  float v_down[CHUNKS * D * 32];
  float q[2][64 * D];
  uint64_t k_full[K_STAGES], k_empty[K_STAGES];
  uint64_t v_full, v_empty;
};

template <int N> struct Tf32ColumnLoader
{
  using Shared = Tf32ForwardShared<N>;
  static constexpr int BATCH = N % 64 == 0 ? 8 : 5; /* of 8 rows */

  const Params &p;
  Shared &s;
  const Tf32Lane<true> lane;
  Ring<Shared::K_STAGES> ring;
  int v_parity = 1;

  __device__ __forceinline__
  Tf32ColumnLoader (const Params &p, Shared &s)
      : p (p), s (s), lane (threadIdx.x % WARPGROUP)
  {
  }

  __device__ __forceinline__ void
  load (float4 (&x)[BATCH], const float *head, int64_t stride, int row0)
  {
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      x[i] =
          tf32_load (head, stride, row0 + i * 8 + lane.row, p.seq, lane.vector);
  }

  __device__ __forceinline__ void
  publish (uint64_t *barrier)
  {
    fence_async_proxy ();
    __syncwarp ();
    if (threadIdx.x % 32 == 0)
      barrier_arrive (barrier);
  }

  __device__ __forceinline__ void
  head (int bh)
  {
    const float *k = head_base<float> (p.k, bh, p.heads);
    const float *v = head_base<float> (p.v, bh, p.heads);
    float4 x[BATCH];

#pragma unroll 1
    for (int row0 = 0; row0 < N; row0 += BATCH * 8)
      {
        load (x, k, p.k.seq_stride, row0);
        if (row0 == 0)
          barrier_wait (&s.k_empty[ring.index], ring.parity ^ 1);
#pragma unroll
        for (int i = 0; i < BATCH; i++)
          Tf32Vector (x[i]).store (shared_u32 (s.k[ring.index]), N,
                                   row0 + i * 8 + lane.row, lane.vector);
      }
    publish (&s.k_full[ring.index]);
    ring.advance ();
#pragma unroll 1
    for (int row0 = 0; row0 < N; row0 += BATCH * 8)
      {
        load (x, v, p.v.seq_stride, row0);
        if (row0 == 0)
          {
            barrier_wait (&s.v_empty, v_parity);
            v_parity ^= 1;
          }
#pragma unroll
        for (int i = 0; i < BATCH; i++)
          {
            const int row = row0 + i * 8;

            Tf32Vector (x[i]).store_transposed (
                shared_u32 (s.v_down) + row / 32 * (Shared::D * 128),
                row % 32 + tf32_paired (lane.row), lane.vector, lane.rotation);
          }
      }
    publish (&s.v_full);
  }

  __device__ __forceinline__ void
  run ()
  {
#pragma unroll 1
    for (int bh = blockIdx.x; bh < p.batch * p.heads; bh += gridDim.x)
      head (bh);
  }
};

/* Multiplies for 64 rows; a thread holds rows g and g + 8 of its warp's 16. */
template <int N> struct Tf32ForwardConsumer
{
  using Shared = Tf32ForwardShared<N>;
  static constexpr int D = TF32_D;
  static constexpr bool AHEAD = N <= 200; /* registers for the next rows */

  const Params &p;
  Shared &s;
  const int group, thread, warp, lane;
  Ring<Shared::K_STAGES> ring;
  int v_parity = 0;
  float4 q[8]; /* this thread's share of the next 64 rows */
  float scores[N / 2];
  uint32_t probabilities[N / 8][4];
  float o[D / 2];
  float sum[2];

  __device__ __forceinline__
  Tf32ForwardConsumer (const Params &p, Shared &s)
      : p (p), s (s),
        group (__shfl_sync (0xffffffffu, threadIdx.x / WARPGROUP - 1, 0)),
        thread (threadIdx.x % WARPGROUP), warp (thread / 32), lane (thread % 32)
  {
  }

  __device__ __forceinline__ void
  load_rows (int bh, int row0)
  {
    const Tf32Lane<false> at (thread);
    const float *head = head_base<float> (p.q, bh, p.heads);

#pragma unroll
    for (int i = 0; i < 8; i++)
      q[i] = tf32_load (head, p.q.seq_stride, row0 + i * 8 + at.row, p.seq,
                        at.vector);
  }

  /* The place of the rows after these; the last are followed by the first of
   * the next head. */
  __device__ __forceinline__ void
  load_next (int bh, int row0)
  {
    row0 += 128;
    if (row0 >= p.seq)
      {
        row0 = group * 64;
        bh += gridDim.x;
      }
    if (bh < p.batch * p.heads)
      load_rows (bh, row0);
  }

  __device__ __forceinline__ void
  store_rows ()
  {
    const Tf32Lane<false> at (thread);

#pragma unroll
    for (int i = 0; i < 8; i++)
      Tf32Vector (q[i]).store (shared_u32 (s.q[group]), 64, i * 8 + at.row,
                               at.vector);
    fence_async_proxy ();
    named_sync (1 + group, WARPGROUP);
  }

  __device__ __forceinline__ void
  multiply_scores ()
  {
    const uint32_t q = shared_base (s.q[group]);
    const uint32_t k = shared_base (s.k[ring.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 8; i++)
      Tf32Product<N>::shared (scores, tf32_operand<64> (q, 0, i),
                              tf32_operand<N> (k, 0, i), i > 0);
    products_commit ();
    products_wait<0> ();
    pin (scores);
  }

  __device__ __forceinline__ void
  softmax (int bh, int row)
  {
#pragma unroll
    for (int n = 0; n < N / 8; n++)
      if (n * 8 + 8 > p.seq)
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (n * 8 + lane % 4 * 2 + e % 2 >= p.seq)
            scores[n * 4 + e] = -INFINITY;
#pragma unroll
    for (int i = 0; i < 2; i++)
      {
        float m = -INFINITY, total = 0;

#pragma unroll
        for (int n = 0; n < N / 8; n++)
          m = fmaxf (m,
                     fmaxf (scores[n * 4 + i * 2], scores[n * 4 + i * 2 + 1]));
        m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 1));
        m = fmaxf (m, __shfl_xor_sync (0xffffffffu, m, 2));
#pragma unroll
        for (int n = 0; n < N / 8; n++)
#pragma unroll
          for (int e = 0; e < 2; e++)
            {
              float x = exp2_approx (fmaf (scores[n * 4 + i * 2 + e],
                                           p.scale_log2, -m * p.scale_log2));

              total += x;
              probabilities[n][e * 2 + i] = tf32 (x);
            }
        total += __shfl_xor_sync (0xffffffffu, total, 1);
        total += __shfl_xor_sync (0xffffffffu, total, 2);
        sum[i] = total;
        if (lane % 4 == 0 && row + 8 * i < p.seq)
          p.lse[(int64_t) bh * p.seq + row + 8 * i] =
              m * p.scale + logf (total);
      }
  }

  __device__ __forceinline__ void
  multiply_values ()
  {
    const uint32_t v = shared_base (s.v_down);

#pragma unroll
    for (int i = 0; i < D / 2; i++)
      o[i] = 0;
    products_begin ();
#pragma unroll
    for (int i = 0; i < N / 8; i++)
      Tf32Product<D>::registers (o, probabilities[i],
                                 tf32_operand<D> (v, 0, i));
    products_commit ();
  }

  __device__ __forceinline__ void
  store (int bh, int row)
  {
    float *head = head_base<float> (p.o, bh, p.heads) + lane % 4 * 2;

#pragma unroll
    for (int i = 0; i < 2; i++)
      if (row + 8 * i < p.seq)
        {
          const float factor = 1.0f / sum[i];

#pragma unroll
          for (int n = 0; n < D / 8; n++)
            *reinterpret_cast<float2 *> (head + (row + 8 * i) * p.o.seq_stride
                                         + n * 8) =
                make_float2 (o[n * 4 + i * 2] * factor,
                             o[n * 4 + i * 2 + 1] * factor);
        }
  }

  __device__ __forceinline__ void
  head (int bh)
  {
    barrier_wait (&s.k_full[ring.index], ring.parity);
#pragma unroll 1
    for (int row0 = group * 64; row0 < p.seq; row0 += 128)
      {
        const int row = row0 + warp * 16 + lane / 4;

        store_rows ();
        multiply_scores ();
        if (row0 + 128 >= p.seq)
          warp_arrive (&s.k_empty[ring.index], lane);
        softmax (bh, row);
        if (row0 < 128)
          barrier_wait (&s.v_full, v_parity);
        multiply_values ();
        if (AHEAD)
          load_next (bh, row0);
        products_wait<0> ();
        pin (o);
        if (row0 + 128 >= p.seq)
          warp_arrive (&s.v_empty, lane);
        store (bh, row);
        if (!AHEAD)
          load_next (bh, row0);
      }
    if (group * 64 >= p.seq)
      {
        warp_arrive (&s.k_empty[ring.index], lane);
        barrier_wait (&s.v_full, v_parity);
        warp_arrive (&s.v_empty, lane);
      }
    ring.advance ();
    v_parity ^= 1;
  }

  __device__ __forceinline__ void
  run ()
  {
    load_rows (blockIdx.x, group * 64);
#pragma unroll 1
    for (int bh = blockIdx.x; bh < p.batch * p.heads; bh += gridDim.x)
      head (bh);
  }
};

template <int N>
__global__ void __launch_bounds__ (3 * WARPGROUP, 1)
    tf32_forward (const __grid_constant__ Params p)
{
  using Shared = Tf32ForwardShared<N>;
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<Shared *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < Shared::K_STAGES; i++)
        {
          barrier_init (&s.k_full[i], 4);
          barrier_init (&s.k_empty[i], 8);
        }
      barrier_init (&s.v_full, 4);
      barrier_init (&s.v_empty, 8);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<88> ();
      Tf32ColumnLoader<N> (p, s).run ();
    }
  else
    {
      take_registers<208> ();
      Tf32ForwardConsumer<N> (p, s).run ();
    }
}

template <int N>
cudaError_t
launch_tf32_forward (const Params &p, cudaStream_t stream)
{
  constexpr int SHARED = sizeof (Tf32ForwardShared<N>) + 1024;
  cudaError_t status;

  static_assert (SHARED <= 232448, "shared memory");
  status = cudaFuncSetAttribute (tf32_forward<N>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 SHARED);
  if (status != cudaSuccess)
    return status;
  tf32_forward<N>
      <<<min (p.batch * p.heads, p.sm_count), 3 * WARPGROUP, SHARED, stream>>> (
          p);
  return cudaGetLastError ();
}

cudaError_t
launch_tf32_forward (const Params &p, cudaStream_t stream)
{
  return p.seq <= 200 ? launch_tf32_forward<200> (p, stream)
                      : launch_tf32_forward<256> (p, stream);
}

}

#endif
