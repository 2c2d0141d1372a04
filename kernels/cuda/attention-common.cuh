/* SPDX-License-Identifier: Apache-2.0 */

/* What all attention kernels share: launch parameters and dropout. */

#ifndef QM_KERNELS_CUDA_ATTENTION_COMMON_CUH
#define QM_KERNELS_CUDA_ATTENTION_COMMON_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/cuda/attention-parts.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/head-groups.h"
#include "kernels/random.h"

namespace qm_attention
{

/* Rows that the workspace arrays are padded to per (batch, head). */
constexpr int ROW_PAD = 128;

/* More than any sequence. */
constexpr int NO_WINDOW = 1 << 25;

struct Params
{
  QmAttentionTensor q, k, v, o, dout, dq, dk, dv;
  float *lse;
  float *delta;    /* [batch * heads][padded_seq]: sum (o * dout) */
  float *lse_log2; /* [batch * heads][padded_seq]: lse * log2 (e) */
  int *queue;      /* [2]: the next tile that nobody has taken */
  float *dq_acc;   /* [batch * heads][padded_seq][head_dim of the kernel] */
  int *semaphore;  /* [batch * heads][padded_seq / 16], zeroed */
  float *dkv_acc;  /* [2][parts][batch * groups][padded_seq][head_dim of the
                      kernel], dK's and dV's parts where there are several */
  const int32_t *rng;
  int batch, heads, seq, head_dim, padded_seq;
  int groups; /* heads of k and v */
  int shared; /* heads of q that share one of these */
  int parts;  /* of these: see qm_attention_parts() */
  /* Row i sees columns i - before .. i + after. */
  int before, after;
  float scale;
  float scale_log2; /* scale * log2 (e) */
  float keep_scale; /* 1 / probability to keep */
  /* delta is multiplied by the probability to keep and dropped dP is not
   * scaled, so that scale * keep_scale remains for dQ and dK. */
  float grad_scale;
  uint32_t threshold;
  uint32_t site;
  bool causal;
  bool deterministic;
  bool whole; /* short sequences may have kernels of their own */
  int sm_count;
  int smem_limit;     /* bytes a block may have */
  int half;           /* elements of a head that turn with others; 0: none */
  const float *table; /* [seq][2 * half]: cosines, then sines */
};

constexpr float LOG2E = 1.4426950408889634f;
constexpr float LN2 = 0.6931471805599453f;

/* Random bits for 16 x 16 elements of the score matrix, one call a lane: the
 * lane of group g = lane / 4 and t = lane % 4 holds rows g, g + 8 and columns
 * 2t, 2t + 1, 2t + 8, 2t + 9, as in the accumulators of a matrix instruction.
 * bits[rowhalf + 2 * colhalf] holds the pair of columns as 16-bit halves. */
struct Dropout
{
  uint32_t k0, k1, row_tiles, site, pass, threshold;

  __device__ __forceinline__ void
  init (const Params &p, uint32_t bh)
  {
    k0 = (uint32_t) p.rng[QM_RNG_SEED];
    k1 = (uint32_t) p.rng[QM_RNG_SEED_HIGH];
    pass = (uint32_t) p.rng[QM_RNG_PASS];
    row_tiles = bh * (uint32_t) ((p.seq + 15) / 16);
    site = p.site;
    threshold = p.threshold;
  }

  /* As qm_tile_bits(), whose words are by rows first. */
  __device__ __forceinline__ void
  bits (uint32_t (&c)[4], uint32_t row16, uint32_t col16, uint32_t lane) const
  {
    QmRandomBits random =
        qm_philox (k0, k1, col16 * 32 + lane, row_tiles + row16, site, pass);

    c[0] = random.word[0];
    c[1] = random.word[2];
    c[2] = random.word[1];
    c[3] = random.word[3];
  }

  /* Masks of the halves to keep: all ones or zeros.  As floats, halves
   * without their sign are in the order of integers, and those beyond
   * infinity compare as unordered; so one comparison serves for two, as long
   * as the threshold is a number. */
  __device__ __forceinline__ void
  masks (uint32_t (&c)[4]) const
  {
    const uint32_t limits = threshold * 0x10001u;

    if (threshold <= 0x7c00)
#pragma unroll
      for (int i = 0; i < 4; i++)
        {
          const __half2 x = *reinterpret_cast<const __half2 *> (&c[i]);
          const __half2 limit = *reinterpret_cast<const __half2 *> (&limits);
          uint32_t above;

          asm("prmt.b32 %0, %1, %1, 0xbb99;\n" : "=r"(above) : "r"(c[i]));
          c[i] = __hgeu2_mask (__habs2 (x), limit) | above;
        }
    else
#pragma unroll
      for (int i = 0; i < 4; i++)
        c[i] = __vcmpgeu2 (c[i], limits);
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
#if __CUDA_ARCH__ >= 800
  uint32_t r;

  asm("cvt.rn.f16x2.f32 %0, %1, %2;\n" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
#else
  __half2 pair = __floats2half2_rn (lo, hi);

  return *reinterpret_cast<uint32_t *> (&pair);
#endif
}

template <>
__device__ __forceinline__ uint32_t
pack2<__nv_bfloat16> (float lo, float hi)
{
#if __CUDA_ARCH__ >= 800
  uint32_t r;

  asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
#else
  __nv_bfloat162 pair = __floats2bfloat162_rn (lo, hi);

  return *reinterpret_cast<uint32_t *> (&pair);
#endif
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

/* Whether row r sees column c, both being there. */
__device__ __forceinline__ bool
sees (const Params &p, int r, int c)
{
  return c <= r + p.after && c >= r - p.before;
}

/* The columns, or rows, that a range [first, last] of rows, or columns, meets:
 * those from here on ... */
__device__ __forceinline__ int
first_column (const Params &p, int first_row)
{
  return max (0, first_row - p.before);
}

__device__ __forceinline__ int
first_row (const Params &p, int first_column)
{
  return max (0, first_column - p.after);
}

/* ... and up to these, which do not count. */
__device__ __forceinline__ int
end_column (const Params &p, int last_row)
{
  return min (p.seq, last_row + p.after + 1);
}

__device__ __forceinline__ int
end_row (const Params &p, int last_column)
{
  return min (p.seq, last_column + p.before + 1);
}

/* Entry points of the paths, each compiled for one element type and head
 * size. */
template <class T, int D>
cudaError_t launch_portable_forward (const Params &p, cudaStream_t stream);
template <class T, int D>
cudaError_t launch_portable_backward (const Params &p, cudaStream_t stream);
/* Backward of sequences that are no longer than a block has columns; unless
 * `done`, there is no such kernel for them. */
template <class T, int D>
cudaError_t
launch_whole_backward (const Params &p, cudaStream_t stream, bool *done);
template <class T, int D>
cudaError_t launch_hopper_forward (const Params &p, cudaStream_t stream);
template <class T, int D>
cudaError_t launch_hopper_backward (const Params &p, cudaStream_t stream);

/* For heads of 64 and no more rows than this. */
constexpr int TF32_MAX_SEQ = 256;

/* Rows of heads that the kernels for whole heads on Hopper take; the one
 * forward takes fewer, too, but of small heads only what both do. */
constexpr int WHOLE_MIN_SEQ = 81, WHOLE_MAX_SEQ = 272;

cudaError_t launch_tf32_forward (const Params &p, cudaStream_t stream);
cudaError_t launch_tf32_backward (const Params &p, cudaStream_t stream);

/* The order in which tiles of heads are worked on. */
struct HeadGroups : QmHeadGroups
{
  using Tile = QmHeadTile;

  __host__ __device__ __forceinline__ int
  tiles () const
  {
    return qm_head_tiles (this);
  }

  __device__ __forceinline__ Tile
  at (int index) const
  {
    return qm_head_tile (this, index);
  }
};

inline int64_t
last_heads (const Params &p, int per_head)
{
  return qm_head_groups_last (p.causal, p.sm_count, per_head);
}

/* Groups of `fit` heads, and a last one that may be larger. */
inline HeadGroups
head_groups (const Params &p, int heads, int per_head, int64_t fit)
{
  HeadGroups g;

  static_cast<QmHeadGroups &> (g) =
      qm_head_groups (heads, per_head, fit, last_heads (p, per_head));
  return g;
}

}

#endif
