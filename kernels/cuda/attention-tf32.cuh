/* SPDX-License-Identifier: Apache-2.0 */

/* Attention in TF32 on Hopper: fp32 tensors, heads of 64, no causal mask and
 * no dropout (vision transformers).
 *
 * wgmma takes TF32 operands from shared memory only with their inner
 * dimension running along rows, and cuts off what a float has more.  So
 * tensors pass through registers on their way to shared memory: there they
 * are rounded, and where a product runs down the rows they are stored
 * transposed.  A tile of R rows lies as chunks of R rows of 32 floats (128
 * bytes, swizzled), as attention-wgmma.cuh has it for 16-bit types.
 *
 * Accumulators go on as left operands as they stand: they hold columns 2t and
 * 2t + 1 where the operand has steps t and t + 4, so the right operand's
 * inner dimension is stored in that order ("paired") within each 8. */

#ifndef QM_KERNELS_CUDA_ATTENTION_TF32_CUH
#define QM_KERNELS_CUDA_ATTENTION_TF32_CUH

#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

constexpr int TF32_D = 64;       /* head size */
constexpr int TF32_VECTORS = 16; /* of 4 floats in a row */

/* What products make of this is x to the nearest, for they cut off the last
 * 13 bits; the instruction that rounds is three or four in truth. */
__device__ __forceinline__ uint32_t
tf32 (float x)
{
  return __float_as_uint (x) + 0x1000;
}

/* Descriptor of 8 steps of the inner dimension, from 8 * step on. */
template <int ROWS>
__device__ __forceinline__ uint64_t
tf32_operand (uint32_t tile, int row, int step)
{
  return along_rows<64, ROWS> (tile, row, step);
}

/* A thread's share of 8 rows of a tile, which a warpgroup moves at once: a
 * warp takes 8 of the 16 vectors of 4 rows, so that every line that it asks
 * for is wanted whole, and no store meets another's bank.  PAIRED: the four
 * rows are every second, which pairing puts side by side. */
template <bool PAIRED> struct Tf32Lane
{
  const int row;      /* of 8 */
  const int vector;   /* of 16 */
  const int rotation; /* see store_transposed() */

  __device__ __forceinline__
  Tf32Lane (int thread)
      : row (PAIRED ? thread / 8 % 4 * 2 + thread / 64 % 2
                    : thread / 8 % 4 + thread / 64 % 2 * 4),
        vector (thread / 32 % 2 * 8 + thread % 8), rotation (thread / 2 % 4)
  {
  }
};

/* Vector of row `row` of a head, or zeros past its end. */
__device__ __forceinline__ float4
tf32_load (const float *head, int64_t stride, int row, int seq, int vector)
{
  return row < seq ? __ldg (
             reinterpret_cast<const float4 *> (head + row * stride) + vector)
                   : make_float4 (0, 0, 0, 0);
}

struct Tf32Vector
{
  uint32_t x[4];

  __device__ __forceinline__
  Tf32Vector (float4 v)
      : x{ tf32 (v.x), tf32 (v.y), tf32 (v.z), tf32 (v.w) }
  {
  }

  /* to row `row` of a tile of `rows` rows */
  __device__ __forceinline__ void
  store (uint32_t tile, int rows, int row, int vector) const
  {
    store_shared4 (tile + vector / 8 * (rows * 128) + row * 128
                       + ((vector ^ row) % 8) * 16,
                   x);
  }

  /* to column `place` (of 32) of rows 4 vector .. + 3 of a chunk.  Lanes
   * begin with different rows, or several would meet in each bank. */
  __device__ __forceinline__ void
  store_transposed (uint32_t chunk, int place, int vector, int rotation) const
  {
    const bool one = rotation % 2 != 0, two = rotation / 2 != 0;
    uint32_t y[4];

#pragma unroll
    for (int e = 0; e < 4; e++)
      y[e] = one ? x[(e + 1) % 4] : x[e];
#pragma unroll
    for (int e = 0; e < 4; e++)
      {
        const int row = vector * 4 + (e + rotation) % 4;

        asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(
                         chunk + row * 128 + ((place / 4) ^ (row % 8)) * 16
                         + place % 4 * 4),
                     "r"(two ? y[(e + 2) % 4] : y[e])
                     : "memory");
      }
  }
};

/* Where column `column` of 8 goes when they are paired. */
__device__ __forceinline__ int
tf32_paired (int column)
{
  return column / 2 + column % 2 * 4;
}

/* D (64 x N) = A B + (accumulate ? D : 0), 8 steps of the inner dimension. */
template <int N> struct Tf32Product;

#define QM_LIST_40  QM_LIST_32 ",%16,%17,%18,%19"
#define QM_LIST_200 QM_LIST_192 ",%96,%97,%98,%99"
#define QM_OUT_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define QM_OUT_40   QM_OUT_32, QM_OUT_4 (16)
#define QM_OUT_200  QM_OUT_192, QM_OUT_4 (96)

#define QM_TF32_PRODUCT(N, i0, i1, i2, i3, i4, i5)                        \
  template <> struct Tf32Product<N>                                       \
  {                                                                       \
    static __device__ __forceinline__ void                                \
    shared (float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate)    \
    {                                                                     \
      asm volatile("{\n"                                                  \
                   ".reg .pred p;\n"                                      \
                   "setp.ne.b32 p, %" #i2 ", 0;\n"                        \
                   "wgmma.mma_async.sync.aligned.m64n" #N                 \
                   "k8.f32.tf32.tf32 {" QM_LIST_##N "}, %" #i0 ", %" #i1  \
                                                    ", p, 1, 1;\n"        \
                                                    "}\n"                 \
                   : QM_OUT_##N                                           \
                   : "l"(a), "l"(b), "r"(accumulate));                    \
    }                                                                     \
    static __device__ __forceinline__ void                                \
    registers (float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b)     \
    {                                                                     \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N                 \
                   "k8.f32.tf32.tf32 {" QM_LIST_##N                       \
                   "}, {%" #i0 ", %" #i1 ", %" #i2 ", %" #i3 "}, %" #i4   \
                   ", 1, 1, 1;\n"                                         \
                   : QM_OUT_##N                                           \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)); \
    }                                                                     \
  };

QM_TF32_PRODUCT (40, 20, 21, 22, 23, 24, 25)
QM_TF32_PRODUCT (64, 32, 33, 34, 35, 36, 37)
QM_TF32_PRODUCT (200, 100, 101, 102, 103, 104, 105)
QM_TF32_PRODUCT (256, 128, 129, 130, 131, 132, 133)

}

#endif
