/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention in TF32 on Hopper.  A block works on all of one head, 128
 * columns (K and V) at a time, and for these on all rows, 40 at a time: so dQ
 * is summed by one thread per element, in the output itself, without other
 * memory and always in the same order.
 *
 *   - one warpgroup brings Q and dO, both as they are and transposed, and
 *     sums o * dout on the way;
 *   - two warpgroups have 64 columns each:
 *       S' = K Q'     P' = exp (S' - lse)     dV += P' dO
 *       dP' = V dO'   dS' = P' (dP' - delta)  dK += dS' Q
 *   - one takes dS' from them: dQ' += K' dS. */

#ifndef QM_KERNELS_CUDA_ATTENTION_TF32_BACKWARD_CUH
#define QM_KERNELS_CUDA_ATTENTION_TF32_BACKWARD_CUH

#include "kernels/cuda/attention-tf32.cuh"

namespace qm_attention
{

struct alignas (1024) Tf32BackwardShared
{
  static constexpr int M = 40, N = 128, D = TF32_D, STAGES = 2;

  float k[N * D], v[N * D];
  float k_down[D * N]; /* transposed */
  float q[STAGES][M * D], dout[STAGES][M * D];
  float q_down[STAGES][D * 32], dout_down[STAGES][D * 32];
  /* the last 8 rows of the two transposed, side by side */
  float rest_down[STAGES][D * 32];
  float ds[2][M * N];
  float lse[STAGES][M], delta[STAGES][M];
  float part[2][2][M]; /* of delta */
  uint64_t q_full[STAGES], q_empty[STAGES];
  uint64_t ds_full[2], ds_empty[2];
  uint64_t k_full, k_empty;
};

/* Brings rows. */
struct Tf32RowLoader
{
  using Shared = Tf32BackwardShared;
  static constexpr int M = Shared::M, N = Shared::N, D = Shared::D;

  const Params &p;
  Shared &s;
  const int thread;
  const Tf32Lane<true> lane;
  Ring<Shared::STAGES> ring;
  int half = 0; /* of s.part */

  __device__ __forceinline__
  Tf32RowLoader (const Params &p, Shared &s)
      : p (p), s (s), thread (threadIdx.x % WARPGROUP), lane (thread)
  {
  }

  __device__ __forceinline__ void
  load (float4 (&x)[M / 8], const QmAttentionTensor &t, int bh, int row0)
  {
    const float *head = head_base<float> (t, bh, p.heads);

#pragma unroll
    for (int i = 0; i < M / 8; i++)
      x[i] = tf32_load (head, t.seq_stride, row0 + i * 8 + lane.row, p.seq,
                        lane.vector);
  }

  /* `rest` is the place of the last 8 rows in s.rest_down. */
  __device__ __forceinline__ void
  store (const float4 (&x)[M / 8], float *rows, float *down, int rest)
  {
    const int place = tf32_paired (lane.row);

#pragma unroll
    for (int i = 0; i < M / 8; i++)
      {
        const Tf32Vector v (x[i]);

        v.store (shared_u32 (rows), M, i * 8 + lane.row, lane.vector);
        v.store_transposed (i < 4 ? shared_u32 (down)
                                  : shared_u32 (s.rest_down[ring.index]),
                            i < 4 ? i * 8 + place : rest + place, lane.vector,
                            lane.rotation);
      }
  }

  /* Row sums of o * dout, each half of the columns by one warp. */
  __device__ __forceinline__ void
  add_up (const float4 (&o)[M / 8], const float4 (&dout)[M / 8])
  {
#pragma unroll
    for (int i = 0; i < M / 8; i++)
      {
        float x = o[i].x * dout[i].x + o[i].y * dout[i].y + o[i].z * dout[i].z
                  + o[i].w * dout[i].w;

        x += __shfl_xor_sync (0xffffffffu, x, 1);
        x += __shfl_xor_sync (0xffffffffu, x, 2);
        x += __shfl_xor_sync (0xffffffffu, x, 4);
        if (thread % 8 == 0)
          s.part[half][thread / 32 % 2][i * 8 + lane.row] = x;
      }
    named_sync (1, WARPGROUP);
  }

  __device__ __forceinline__ void
  vectors (int bh, int row, bool first)
  {
    const int64_t at = (int64_t) bh * p.padded_seq + row;
    float delta = 0, lse = INFINITY; /* P is zero past the end */

    if (row < p.seq)
      {
        const float *part = s.part[half][0] + thread;

        lse = p.lse[(int64_t) bh * p.seq + row] * LOG2E;
        if (first)
          p.delta[at] = delta = part[0] + part[M];
        else
          delta = p.delta[at];
      }
    s.lse[ring.index][thread] = lse;
    s.delta[ring.index][thread] = delta;
  }

  __device__ __forceinline__ void
  tile (int bh, int row0, bool first)
  {
    float4 q[M / 8], dout[M / 8];

    load (q, p.q, bh, row0);
    load (dout, p.dout, bh, row0);
    if (first)
      {
        float4 o[M / 8];

        load (o, p.o, bh, row0);
        add_up (o, dout);
      }
    barrier_wait (&s.q_empty[ring.index], ring.parity ^ 1);
    store (q, s.q[ring.index], s.q_down[ring.index], 0);
    store (dout, s.dout[ring.index], s.dout_down[ring.index], 8);
    if (thread < M)
      vectors (bh, row0 + thread, first);
    fence_async_proxy ();
    barrier_arrive (&s.q_full[ring.index]);
    ring.advance ();
    if (first)
      half ^= 1;
  }

  __device__ __forceinline__ void
  run ()
  {
    for (int bh = blockIdx.x; bh < p.batch * p.heads; bh += gridDim.x)
      for (int column0 = 0; column0 < p.seq; column0 += N)
#pragma unroll 1
        for (int row0 = 0; row0 < p.seq; row0 += M)
          tile (bh, row0, column0 == 0);
  }
};

/* Multiplies for 64 columns; a thread holds columns g and g + 8 of its warp's
 * 16. */
struct Tf32BackwardConsumer
{
  using Shared = Tf32BackwardShared;
  static constexpr int M = Shared::M, N = Shared::N, D = Shared::D;

  const Params &p;
  Shared &s;
  const int group, thread, warp, lane;
  Ring<Shared::STAGES> ring;
  Ring<2> ds_ring;
  int k_parity = 1;
  bool valid[2]; /* whether this thread's columns are there */
  float dk[D / 2], dv[D / 2];
  float x[M / 2], dx[M / 2]; /* S', dP' */
  uint32_t probabilities[M / 8][4], dscores[M / 8][4];

  __device__ __forceinline__
  Tf32BackwardConsumer (const Params &p, Shared &s)
      : p (p), s (s),
        group (__shfl_sync (0xffffffffu, threadIdx.x / WARPGROUP - 1, 0)),
        thread (threadIdx.x % WARPGROUP), warp (thread / 32), lane (thread % 32)
  {
  }

  /* This group's rows of K and V. */
  __device__ __forceinline__ void
  load_columns (int bh, int column0)
  {
    const Tf32Lane<false> at (thread);
    const float *k_head = head_base<float> (p.k, bh, p.heads);
    const float *v_head = head_base<float> (p.v, bh, p.heads);
    float4 k[8], v[8];

#pragma unroll
    for (int i = 0; i < 8; i++)
      {
        const int row = column0 + group * 64 + i * 8 + at.row;

        k[i] = tf32_load (k_head, p.k.seq_stride, row, p.seq, at.vector);
        v[i] = tf32_load (v_head, p.v.seq_stride, row, p.seq, at.vector);
      }
    named_sync (2 + group, WARPGROUP);
    barrier_wait (&s.k_empty, k_parity);
    k_parity ^= 1;
#pragma unroll
    for (int i = 0; i < 8; i++)
      {
        const int row = group * 64 + i * 8 + at.row;
        const Tf32Vector x (k[i]);

        x.store (shared_u32 (s.k), N, row, at.vector);
        x.store_transposed (shared_u32 (s.k_down) + row / 32 * (D * 128),
                            row % 32, at.vector, at.rotation);
        Tf32Vector (v[i]).store (shared_u32 (s.v), N, row, at.vector);
      }
    fence_async_proxy ();
    named_sync (2 + group, WARPGROUP);
    warp_arrive (&s.k_full, lane);
  }

  /* to = A B', A the 64 rows of this group */
  __device__ __forceinline__ void
  multiply_rows (float (&to)[M / 2], const void *a, const void *b)
  {
    const uint32_t left = shared_base (a), right = shared_base (b);

    products_begin ();
#pragma unroll
    for (int i = 0; i < D / 8; i++)
      Tf32Product<M>::shared (to, tf32_operand<N> (left, group * 64, i),
                              tf32_operand<M> (right, 0, i), i > 0);
    products_commit ();
  }

  /* sum += A B, A in registers, B transposed */
  __device__ __forceinline__ void
  multiply_columns (float (&sum)[D / 2],
                    const uint32_t (&a)[M / 8][4],
                    const void *b,
                    int rest)
  {
    const uint32_t right = shared_base (b);
    const uint32_t last = shared_base (s.rest_down[ring.index]) + rest * 4;

    products_begin ();
#pragma unroll
    for (int i = 0; i < M / 8; i++)
      Tf32Product<D>::registers (sum, a[i],
                                 i < 4 ? tf32_operand<D> (right, 0, i)
                                       : tf32_operand<D> (last, 0, 0));
    products_commit ();
  }

  __device__ __forceinline__ void
  load_vector (float2 (&x)[M / 8], const float *from)
  {
#pragma unroll
    for (int n = 0; n < M / 8; n++)
      x[n] = load_shared2 (shared_u32 (from) + lane % 4 * 8 + n * 32);
  }

  __device__ __forceinline__ void
  exponentials (const float2 (&lse)[M / 8])
  {
#pragma unroll
    for (int n = 0; n < M / 8; n++)
      {
        const float2 l = lse[n];

#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            float y = exp2_approx (
                fmaf (x[n * 4 + e], p.scale_log2, e % 2 ? -l.y : -l.x));

            /* cut here too, for dS' shall have what dV has */
            probabilities[n][e % 2 * 2 + e / 2] =
                tf32 (valid[e / 2] ? y : 0.0f) & 0xffffe000u;
          }
      }
  }

  /* dS', also to shared memory: [column / 32][row][column % 32] */
  __device__ __forceinline__ void
  differentiate (const float2 (&delta)[M / 8])
  {
    const uint32_t to = shared_u32 (s.ds[ds_ring.index])
                        + (group * 2 + warp / 2) * (M * 128) + lane / 4 % 4 * 4
                        + lane % 4 * 256;
    const int slot = warp % 2 * 4 + lane / 16;

#pragma unroll
    for (int n = 0; n < M / 8; n++)
      {
        const float2 l = delta[n];

#pragma unroll
        for (int e = 0; e < 4; e++)
          {
            const int w = e % 2 * 2 + e / 2;
            const int row = lane % 4 * 2 + e % 2;

            dscores[n][w] = tf32 (__uint_as_float (probabilities[n][w])
                                  * (dx[n * 4 + e] - (e % 2 ? l.y : l.x)));
            asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(
                             to + n * 1024 + e % 2 * 128
                             + ((slot + e / 2 * 2) ^ row) * 16),
                         "r"(dscores[n][w])
                         : "memory");
          }
      }
  }

  __device__ __forceinline__ void
  step ()
  {
    float2 vector[M / 8];

    barrier_wait (&s.q_full[ring.index], ring.parity);
    multiply_rows (x, s.k, s.q[ring.index]);
    multiply_rows (dx, s.v, s.dout[ring.index]);
    load_vector (vector, s.lse[ring.index]);
    products_wait<1> ();
    pin (x);
    exponentials (vector);
    load_vector (vector, s.delta[ring.index]);
    multiply_columns (dv, probabilities, s.dout_down[ring.index], 8);
    products_wait<1> ();
    pin (dx);
    barrier_wait (&s.ds_empty[ds_ring.index], ds_ring.parity ^ 1);
    differentiate (vector);
    fence_async_proxy ();
    multiply_columns (dk, dscores, s.q_down[ring.index], 0);
    warp_arrive (&s.ds_full[ds_ring.index], lane);
    ds_ring.advance ();
    products_wait<0> ();
    pin (dk);
    pin (dv);
    barrier_arrive (&s.q_empty[ring.index]);
    ring.advance ();
  }

  __device__ __forceinline__ void
  store (const QmAttentionTensor &t,
         const float (&sum)[D / 2],
         float factor,
         int bh,
         int column)
  {
    float *head = head_base<float> (t, bh, p.heads) + lane % 4 * 2;

#pragma unroll
    for (int i = 0; i < 2; i++)
      if (valid[i])
#pragma unroll
        for (int n = 0; n < D / 8; n++)
          *reinterpret_cast<float2 *> (head + (column + 8 * i) * t.seq_stride
                                       + n * 8) =
              make_float2 (sum[n * 4 + i * 2] * factor,
                           sum[n * 4 + i * 2 + 1] * factor);
  }

  __device__ __forceinline__ void
  tile (int bh, int column0)
  {
    const int column = column0 + group * 64 + warp * 16 + lane / 4;

    load_columns (bh, column0);
#pragma unroll
    for (int i = 0; i < 2; i++)
      valid[i] = column + 8 * i < p.seq;
#pragma unroll
    for (int i = 0; i < D / 2; i++)
      dk[i] = dv[i] = 0;
#pragma unroll 1
    for (int row0 = 0; row0 < p.seq; row0 += M)
      step ();
    store (p.dk, dk, p.scale, bh, column);
    store (p.dv, dv, 1.0f, bh, column);
  }

  __device__ __forceinline__ void
  run ()
  {
    for (int bh = blockIdx.x; bh < p.batch * p.heads; bh += gridDim.x)
#pragma unroll 1
      for (int column0 = 0; column0 < p.seq; column0 += N)
        tile (bh, column0);
  }
};

/* dQ; a thread holds elements g and g + 8 of its warp's 16, of rows 2t and
 * 2t + 1. */
struct Tf32QueryGradient
{
  using Shared = Tf32BackwardShared;
  static constexpr int M = Shared::M, N = Shared::N, D = Shared::D;

  const Params &p;
  Shared &s;
  const int warp, lane;
  Ring<2> ring;
  int k_parity = 0;
  float dq[M / 2];

  __device__ __forceinline__
  Tf32QueryGradient (const Params &p, Shared &s)
      : p (p), s (s), warp (threadIdx.x / 32 % 4), lane (threadIdx.x % 32)
  {
  }

  __device__ __forceinline__ void
  multiply ()
  {
    const uint32_t k = shared_base (s.k_down);
    const uint32_t ds = shared_base (s.ds[ring.index]);

    products_begin ();
#pragma unroll
    for (int i = 0; i < N / 8; i++)
      Tf32Product<M>::shared (dq, tf32_operand<D> (k, 0, i),
                              tf32_operand<M> (ds, 0, i), i > 0);
    products_commit ();
    products_wait<0> ();
    pin (dq);
  }

  __device__ __forceinline__ void
  tile (float *head, int row0, bool first)
  {
    float *to =
        head + (row0 + lane % 4 * 2) * p.dq.seq_stride + warp * 16 + lane / 4;
    float before[M / 2];

    if (!first)
#pragma unroll
      for (int i = 0; i < M / 2; i++)
        if (row0 + i / 4 * 8 + lane % 4 * 2 + i % 2 < p.seq)
          before[i] = to[(i / 4 * 8 + i % 2) * p.dq.seq_stride + i / 2 % 2 * 8];
    barrier_wait (&s.ds_full[ring.index], ring.parity);
    multiply ();
    warp_arrive (&s.ds_empty[ring.index], lane);
    ring.advance ();
#pragma unroll
    for (int i = 0; i < M / 2; i++)
      if (row0 + i / 4 * 8 + lane % 4 * 2 + i % 2 < p.seq)
        to[(i / 4 * 8 + i % 2) * p.dq.seq_stride + i / 2 % 2 * 8] =
            dq[i] * p.scale + (first ? 0.0f : before[i]);
  }

  __device__ __forceinline__ void
  run ()
  {
    for (int bh = blockIdx.x; bh < p.batch * p.heads; bh += gridDim.x)
      for (int column0 = 0; column0 < p.seq; column0 += N)
        {
          float *head = head_base<float> (p.dq, bh, p.heads);

          barrier_wait (&s.k_full, k_parity);
          k_parity ^= 1;
#pragma unroll 1
          for (int row0 = 0; row0 < p.seq; row0 += M)
            tile (head, row0, column0 == 0);
          warp_arrive (&s.k_empty, lane);
        }
  }
};

__global__ void __launch_bounds__ (4 * WARPGROUP, 1)
    tf32_backward (const __grid_constant__ Params p)
{
  extern __shared__ char raw[];
  auto &s = *reinterpret_cast<Tf32BackwardShared *> (
      (reinterpret_cast<uintptr_t> (raw) + 1023) / 1024 * 1024);

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < 2; i++)
        {
          barrier_init (&s.q_full[i], WARPGROUP);
          barrier_init (&s.q_empty[i], 2 * WARPGROUP);
          barrier_init (&s.ds_full[i], 8);
          barrier_init (&s.ds_empty[i], 4);
        }
      barrier_init (&s.k_full, 8);
      barrier_init (&s.k_empty, 4);
      barrier_init_fence ();
    }
  __syncthreads ();

  if (threadIdx.x < WARPGROUP)
    {
      give_registers<88> ();
      Tf32RowLoader (p, s).run ();
    }
  else if (threadIdx.x < 3 * WARPGROUP)
    {
      take_registers<168> ();
      Tf32BackwardConsumer (p, s).run ();
    }
  else
    {
      give_registers<88> ();
      Tf32QueryGradient (p, s).run ();
    }
}

cudaError_t
launch_tf32_backward (const Params &p, cudaStream_t stream)
{
  constexpr int SHARED = sizeof (Tf32BackwardShared) + 1024;
  cudaError_t status;

  static_assert (SHARED <= 232448, "shared memory");
  status = cudaFuncSetAttribute (tf32_backward,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 SHARED);
  if (status != cudaSuccess)
    return status;
  tf32_backward<<<min (p.batch * p.heads, p.sm_count), 4 * WARPGROUP, SHARED,
                  stream>>> (p);
  return cudaGetLastError ();
}

}

#endif
