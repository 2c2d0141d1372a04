/* SPDX-License-Identifier: Apache-2.0 */

/* Warp-wide matrix instructions of compute capability 8.0 (mma.sync,
 * ldmatrix, cp.async), behind one interface for 16-bit types and TF32.
 * Capability 7.5 multiplies half as much of fp16 at once, copies through
 * registers, and has neither bf16 nor TF32: kernels for these are never
 * started there.
 *
 * In a warp, lane = 4 g + t.  An accumulator of 16 x 8 holds {(g, 2t),
 * (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)}.  Operands come from shared
 * memory tiles of `ld` elements a row; rows are 16 bytes longer than a
 * multiple of 32 bytes, so that eight rows never meet in a bank. */

#ifndef QM_KERNELS_CUDA_ATTENTION_MMA_CUH
#define QM_KERNELS_CUDA_ATTENTION_MMA_CUH

#include "kernels/cuda/async-copy.cuh"
#include "kernels/cuda/attention-common.cuh"

namespace qm_attention
{

/* Whether code for this architecture is ever started for type T with so much
 * shared memory: kernels that are not need not be compiled. */
template <class T>
__device__ constexpr bool
is_started (int shared_bytes)
{
#ifdef __CUDA_ARCH__
  return shared_bytes <= qm_cuda_shared_limit (__CUDA_ARCH__ / 10)
         && (__CUDA_ARCH__ >= 800 || __is_same(T, __half));
#else
  return true;
#endif
}

__device__ __forceinline__ uint32_t
shared_address (const void *p)
{
  return static_cast<uint32_t> (__cvta_generic_to_shared (p));
}

__device__ __forceinline__ void
ldmatrix4 (uint32_t (&r)[4], const void *p)
{
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(shared_address (p))
      : "memory");
}

__device__ __forceinline__ void
ldmatrix4_trans (uint32_t (&r)[4], const void *p)
{
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(shared_address (p))
      : "memory");
}

__device__ __forceinline__ void
ldmatrix2_trans (uint32_t (&r)[2], const void *p)
{
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
      : "=r"(r[0]), "=r"(r[1])
      : "r"(shared_address (p))
      : "memory");
}

/* 16-bit operands: one instruction takes 16 steps of the inner dimension. */
template <class T> struct Mma
{
  static constexpr int K = 16;
  /* A result may go on as the left operand through registers, or through a
   * shared tile; either way it is this type there. */
  using Shared = T;

  static __device__ __forceinline__ void
  multiply (float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
  {
#if __CUDA_ARCH__ >= 800
    if constexpr (__is_same(T, __half))
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};\n"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                     "r"(b[1]));
    else
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};\n"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                     "r"(b[1]));
#else
    if constexpr (__is_same(T, __half))
#pragma unroll
      for (int i = 0; i < 2; i++)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\n"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
    else
      __trap ();
#endif
  }

  /* A = s[row .. row + 16][k .. k + K] */
  static __device__ __forceinline__ void
  load_a (uint32_t (&a)[4], const T *s, int ld, int row, int k, int lane)
  {
    ldmatrix4 (a, s + (row + lane % 16) * ld + k + lane / 16 * 8);
  }

  /* A = transpose of s[k .. k + K][row .. row + 16] */
  static __device__ __forceinline__ void
  load_a_trans (uint32_t (&a)[4], const T *s, int ld, int row, int k, int lane)
  {
    ldmatrix4_trans (a, s + (k + lane % 8 + lane / 16 * 8) * ld + row
                            + lane / 8 % 2 * 8);
  }

  /* B for 16 columns n, from s[n][k] */
  static __device__ __forceinline__ void
  load_b (uint32_t (&b)[2][2], const T *s, int ld, int n, int k, int lane)
  {
    uint32_t r[4];

    ldmatrix4 (r,
               s + (n + lane % 8 + lane / 16 * 8) * ld + k + lane / 8 % 2 * 8);
    b[0][0] = r[0];
    b[0][1] = r[1];
    b[1][0] = r[2];
    b[1][1] = r[3];
  }

  /* B for 16 columns n, from s[k][n] */
  static __device__ __forceinline__ void
  load_b_trans (uint32_t (&b)[2][2], const T *s, int ld, int n, int k, int lane)
  {
    uint32_t r[4];

    ldmatrix4_trans (r, s + (k + lane % 16) * ld + n + lane / 16 * 8);
    b[0][0] = r[0];
    b[0][1] = r[1];
    b[1][0] = r[2];
    b[1][1] = r[3];
  }

  /* the same for 8 columns */
  static __device__ __forceinline__ void
  load_b8_trans (uint32_t (&b)[2], const T *s, int ld, int n, int k, int lane)
  {
    ldmatrix2_trans (b, s + (k + lane % 16) * ld + n);
  }

  /* The k-th step of A from accumulators of 16 x 8 tiles. */
  template <int N>
  static __device__ __forceinline__ void
  from_accumulators (uint32_t (&a)[4], const float (&c)[N][4], int step)
  {
    a[0] = pack2<T> (c[2 * step][0], c[2 * step][1]);
    a[1] = pack2<T> (c[2 * step][2], c[2 * step][3]);
    a[2] = pack2<T> (c[2 * step + 1][0], c[2 * step + 1][1]);
    a[3] = pack2<T> (c[2 * step + 1][2], c[2 * step + 1][3]);
  }

  /* Accumulators of rows `row` .. and columns `column` .. to the shared tile
   * s[row][column]. */
  static __device__ __forceinline__ void
  store_tile (T *s, int ld, const float (&c)[4], int row, int column, int lane)
  {
    T *p = s + (row + lane / 4) * ld + column + lane % 4 * 2;

    *reinterpret_cast<uint32_t *> (p) = pack2<T> (c[0], c[1]);
    *reinterpret_cast<uint32_t *> (p + 8 * ld) = pack2<T> (c[2], c[3]);
  }

  /* A = tile, or its transpose, as store_tile laid it out; K steps */
  static __device__ __forceinline__ void
  load_tile (uint32_t (&a)[4], const T *s, int ld, int row, int k, int lane)
  {
    load_a (a, s, ld, row, k, lane);
  }

  static __device__ __forceinline__ void
  load_tile_trans (
      uint32_t (&a)[4], const T *s, int ld, int row, int k, int lane)
  {
    load_a_trans (a, s, ld, row, k, lane);
  }

  static __device__ __forceinline__ void
  store_pair (T *p, float lo, float hi)
  {
    *reinterpret_cast<uint32_t *> (p) = pack2<T> (lo, hi);
  }
};

/* fp32 operands in TF32, 8 steps of the inner dimension.  Where the inner
 * dimension runs over rows of a tile, step t takes row 2t and step t + 4 row
 * 2t + 1, in A and B alike: then accumulators are left operands as they
 * stand.  The instruction ignores the low 13 bits, so half of the last place
 * is added first: rounding to nearest, ties away from zero. */
template <> struct Mma<float>
{
  static constexpr int K = 8;
  using Shared = float;

  static __device__ __forceinline__ uint32_t
  round (uint32_t x)
  {
    return x + 0x1000u;
  }

  static __device__ __forceinline__ uint32_t
  round (float x)
  {
    return round (__float_as_uint (x));
  }

  static __device__ __forceinline__ void
  multiply (float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
  {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
#else
    __trap ();
#endif
  }

  static __device__ __forceinline__ void
  load_a (uint32_t (&a)[4], const float *s, int ld, int row, int k, int lane)
  {
    ldmatrix4 (a, s + (row + lane % 16) * ld + k + lane / 16 * 4);
#pragma unroll
    for (int i = 0; i < 4; i++)
      a[i] = round (a[i]);
  }

  static __device__ __forceinline__ void
  load_b (uint32_t (&b)[2][2], const float *s, int ld, int n, int k, int lane)
  {
    uint32_t r[4];

    ldmatrix4 (r,
               s + (n + lane % 8 + lane / 16 * 8) * ld + k + lane / 8 % 2 * 4);
    b[0][0] = round (r[0]);
    b[0][1] = round (r[1]);
    b[1][0] = round (r[2]);
    b[1][1] = round (r[3]);
  }

  static __device__ __forceinline__ void
  load_b8_trans (
      uint32_t (&b)[2], const float *s, int ld, int n, int k, int lane)
  {
    const float *p = s + (k + lane % 4 * 2) * ld + n + lane / 4;

    b[0] = round (p[0]);
    b[1] = round (p[ld]);
  }

  static __device__ __forceinline__ void
  load_b_trans (
      uint32_t (&b)[2][2], const float *s, int ld, int n, int k, int lane)
  {
    load_b8_trans (b[0], s, ld, n, k, lane);
    load_b8_trans (b[1], s, ld, n + 8, k, lane);
  }

  template <int N>
  static __device__ __forceinline__ void
  from_accumulators (uint32_t (&a)[4], const float (&c)[N][4], int step)
  {
    a[0] = round (c[step][0]);
    a[1] = round (c[step][2]);
    a[2] = round (c[step][1]);
    a[3] = round (c[step][3]);
  }

  /* fp32 tiles are stored transposed: s[column][row] */
  static __device__ __forceinline__ void
  store_tile (
      float *s, int ld, const float (&c)[4], int row, int column, int lane)
  {
    float *p = s + (column + lane % 4 * 2) * ld + row + lane / 4;

    p[0] = c[0];
    p[ld] = c[1];
    p[8] = c[2];
    p[ld + 8] = c[3];
  }

  static __device__ __forceinline__ void
  load_tile (uint32_t (&a)[4], const float *s, int ld, int row, int k, int lane)
  {
    const float *p = s + (k + lane % 4 * 2) * ld + row + lane / 4;

    a[0] = round (p[0]);
    a[1] = round (p[8]);
    a[2] = round (p[ld]);
    a[3] = round (p[ld + 8]);
  }

  static __device__ __forceinline__ void
  load_tile_trans (
      uint32_t (&a)[4], const float *s, int ld, int row, int k, int lane)
  {
    const float *p = s + (row + lane / 4) * ld + k + lane % 4 * 2;
    float2 x = *reinterpret_cast<const float2 *> (p);
    float2 y = *reinterpret_cast<const float2 *> (p + 8 * ld);

    a[0] = round (x.x);
    a[1] = round (y.x);
    a[2] = round (x.y);
    a[3] = round (y.y);
  }

  static __device__ __forceinline__ void
  store_pair (float *p, float lo, float hi)
  {
    *reinterpret_cast<float2 *> (p) = make_float2 (lo, hi);
  }
};

/* Starts copying ROWS rows of D elements, from row `first` of a head, into a
 * padded tile.  Rows from `seq` on and columns from `head_dim` on are zeros.
 */
template <class T, int D, int ROWS, int THREADS>
__device__ __forceinline__ void
load_tile_async (T *tile,
                 const T *head,
                 int64_t seq_stride,
                 int first,
                 int seq,
                 int head_dim)
{
  constexpr int PER = 16 / sizeof (T);
  constexpr int CHUNKS = D / PER;
  constexpr int LD = D + PER;

  if constexpr (THREADS % CHUNKS == 0 && ROWS % (THREADS / CHUNKS) == 0)
    {
      /* a thread has one column of chunks, and rows STEP apart */
      constexpr int STEP = THREADS / CHUNKS;
      const int row = threadIdx.x / CHUNKS;
      const int column = threadIdx.x % CHUNKS * PER;
      const int left = column < head_dim ? seq - first - row : 0;
      const T *from = head + (first + row) * seq_stride + column;
      T *to = tile + row * LD + column;

#pragma unroll
      for (int i = 0; i < ROWS; i += STEP)
        {
          qm_async_copy<16> (to + i * LD, i < left ? from : head,
                             i < left ? 16 : 0);
          from += STEP * seq_stride;
        }
    }
  else
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * CHUNKS; i += THREADS)
      {
        int row = i / CHUNKS;
        int column = i % CHUNKS * PER;
        bool valid = first + row < seq && column < head_dim;
        const T *from =
            head + (valid ? (first + row) * seq_stride + column : 0);

        qm_async_copy<16> (tile + row * LD + column, from, valid ? 16 : 0);
      }
}

}

#endif
