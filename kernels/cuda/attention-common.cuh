/* SPDX-License-Identifier: Apache-2.0 */

/* What all attention kernels share: launch parameters and dropout. */

#ifndef QM_KERNELS_CUDA_ATTENTION_COMMON_CUH
#define QM_KERNELS_CUDA_ATTENTION_COMMON_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/cuda/attention.h"

namespace qm_attention
{

/* Rows that the workspace arrays are padded to per (batch, head). */
constexpr int ROW_PAD = 128;

struct Params
{
  QmAttentionTensor q, k, v, o, dout, dq, dk, dv;
  float *lse;
  float *delta;   /* [batch * heads][padded_seq]: sum (o * dout) */
  float *lse_log2; /* [batch * heads][padded_seq]: lse * log2 (e) */
  int *queue;      /* [2]: the next tile that nobody has taken */
  float *dq_acc;  /* [batch * heads][padded_seq][head_dim of the kernel] */
  int *semaphore; /* [batch * heads][padded_seq / 16], zeroed */
  const uint64_t *seed;
  int batch, heads, seq, head_dim, padded_seq;
  float scale;
  float scale_log2; /* scale * log2 (e) */
  float keep_scale; /* 1 / probability to keep */
  uint32_t threshold;
  uint32_t stream;
  bool causal;
  bool deterministic;
  int sm_count;
  int smem_limit; /* bytes a block may have */
};

constexpr float LOG2E = 1.4426950408889634f;
constexpr float LN2 = 0.6931471805599453f;

/* Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", 2011). */
__host__ __device__ __forceinline__ void
philox (uint32_t (&c)[4], uint32_t k0, uint32_t k1)
{
#pragma unroll
  for (int round = 0; round < 10; round++)
    {
      uint64_t a = (uint64_t) 0xD2511F53u * c[0];
      uint64_t b = (uint64_t) 0xCD9E8D57u * c[2];
      uint32_t n0 = (uint32_t) (b >> 32) ^ c[1] ^ k0;
      uint32_t n2 = (uint32_t) (a >> 32) ^ c[3] ^ k1;

      c[1] = (uint32_t) b;
      c[3] = (uint32_t) a;
      c[0] = n0;
      c[2] = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
}

/* Random bits for 16 x 16 elements of the score matrix, one call a lane: the
 * lane of group g = lane / 4 and t = lane % 4 holds rows g, g + 8 and columns
 * 2t, 2t + 1, 2t + 8, 2t + 9, as in the accumulators of a matrix instruction.
 * bits[rowhalf + 2 * colhalf] holds the pair of columns as 16-bit halves. */
struct Dropout
{
  uint32_t k0, k1, batch_head, stream, threshold;

  __device__ __forceinline__ void
  init (const Params &p, uint32_t bh)
  {
    uint64_t seed = *p.seed;

    k0 = (uint32_t) seed;
    k1 = (uint32_t) (seed >> 32);
    batch_head = bh;
    stream = p.stream;
    threshold = p.threshold;
  }

  __device__ __forceinline__ void
  bits (uint32_t (&c)[4], uint32_t row16, uint32_t col16, uint32_t lane) const
  {
    c[0] = row16 * 8 + lane / 4;
    c[1] = col16 * 4 + lane % 4;
    c[2] = batch_head;
    c[3] = stream;
    philox (c, k0, k1);
  }

  __device__ __forceinline__ bool
  keep_low (uint32_t pair) const
  {
    return (pair & 0xffffu) >= threshold;
  }

  __device__ __forceinline__ bool
  keep_high (uint32_t pair) const
  {
    return (pair >> 16) >= threshold;
  }
};

/* Transposes an 8 x 8 matrix of 16-bit elements held across the warp in the
 * accumulators' layout. */
__device__ __forceinline__ uint32_t
transpose8x8 (uint32_t x)
{
  uint32_t y;

  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\n"
               : "=r"(y)
               : "r"(x));
  return y;
}

__device__ __forceinline__ float
exp2_approx (float x)
{
  float y;

  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
  return y;
}

template <class T>
__device__ __forceinline__ uint32_t pack2 (float lo, float hi);

template <>
__device__ __forceinline__ uint32_t
pack2<__half> (float lo, float hi)
{
  uint32_t r;

  asm("cvt.rn.f16x2.f32 %0, %1, %2;\n" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}

template <>
__device__ __forceinline__ uint32_t
pack2<__nv_bfloat16> (float lo, float hi)
{
  uint32_t r;

  asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}

/* Halves with their sign set become zero. */
__device__ __forceinline__ uint32_t
zero_negative (uint32_t pair)
{
  return pair & ~__vcmplts2 (pair, 0);
}

template <class T> __device__ __forceinline__ float2 unpack2 (uint32_t x);

template <>
__device__ __forceinline__ float2
unpack2<__half> (uint32_t x)
{
  return __half22float2 (*reinterpret_cast<__half2 *> (&x));
}

template <>
__device__ __forceinline__ float2
unpack2<__nv_bfloat16> (uint32_t x)
{
  return make_float2 (__uint_as_float (x << 16),
                      __uint_as_float (x & 0xffff0000u));
}

/* The first element of (batch * heads) index bh. */
template <class T>
__device__ __forceinline__ T *
head_base (const QmAttentionTensor &t, int bh, int heads)
{
  return static_cast<T *> (t.data) + (bh / heads) * t.batch_stride
         + (bh % heads) * t.head_stride;
}

/* Entry points of the paths, each compiled for one element type and head
 * size. */
template <class T, int D>
cudaError_t launch_portable_forward (const Params &p, cudaStream_t stream);
template <class T, int D>
cudaError_t launch_portable_backward (const Params &p, cudaStream_t stream);
template <class T, int D>
cudaError_t launch_hopper_forward (const Params &p, cudaStream_t stream);
template <class T, int D>
cudaError_t launch_hopper_backward (const Params &p, cudaStream_t stream);

}

#endif
