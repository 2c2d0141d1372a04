/* SPDX-License-Identifier: Apache-2.0 */

/* The passes around a backward kernel: row sums of o * dout before it, dQ
 * from fp32 to its own type after it, and the ordered sum between blocks. */

#ifndef QM_KERNELS_CUDA_ATTENTION_REDUCE_CUH
#define QM_KERNELS_CUDA_ATTENTION_REDUCE_CUH

#include "kernels/cuda/attention-common.cuh"

namespace qm_attention
{

__device__ __forceinline__ void
add2 (float *to, float x, float y)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};\n" ::"l"(to), "f"(x),
               "f"(y)
               : "memory");
#else
  atomicAdd (to, x);
  atomicAdd (to + 1, y);
#endif
}

__device__ __forceinline__ int
look (const int *semaphore)
{
  int seen;

  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];\n"
               : "=r"(seen)
               : "l"(semaphore)
               : "memory");
  return seen;
}

/* Blocks are started in the order of their index, and a block only waits for
 * blocks of lower index, so that some block can always go on. */
__device__ __forceinline__ void
poll (const int *semaphore, int turn)
{
  while (look (semaphore) != turn)
    ;
}

__device__ __forceinline__ void
publish (int *semaphore, int turn)
{
  asm volatile("st.release.gpu.global.s32 [%0], %1;\n" ::"l"(semaphore),
               "r"(turn)
               : "memory");
}

/* All threads of the block wait until `turn` blocks have passed. */
__device__ __forceinline__ void
wait_turn (int *semaphore, int turn)
{
  if (threadIdx.x == 0)
    poll (semaphore, turn);
  __syncthreads ();
}

__device__ __forceinline__ void
pass_turn (int *semaphore, int turn)
{
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    publish (semaphore, turn + 1);
}

/* 16 bytes as floats */
template <class T>
__device__ __forceinline__ void
load16 (float (&x)[16 / sizeof (T)], const T *from)
{
  uint4 r = __ldg (reinterpret_cast<const uint4 *> (from));
  uint32_t w[4] = { r.x, r.y, r.z, r.w };

#pragma unroll
  for (int i = 0; i < 4; i++)
    if constexpr (sizeof (T) == 4)
      x[i] = __uint_as_float (w[i]);
    else
      {
        float2 y = unpack2<T> (w[i]);

        x[2 * i] = y.x;
        x[2 * i + 1] = y.y;
      }
}

/* What a backward kernel needs to be zero before it. */
enum class Zeroed
{
  NOTHING,
  TURNS, /* semaphores */
  SUMS,  /* and what is added to */
};

/* One row of one head takes LANES lanes. */
template <class T, int D, int LANES, Zeroed ZEROED>
__global__ void __launch_bounds__ (256)
    row_sums (const __grid_constant__ Params p)
{
  constexpr int PER = 16 / sizeof (T), ROWS = 256 / LANES;
  static_assert (ROW_PAD % ROWS == 0, "a block has rows of one head");
  const unsigned blocks = (unsigned) p.padded_seq / ROWS;
  const int bh = (int) (blockIdx.x / blocks), lane = threadIdx.x % LANES;
  const int row =
      (int) (blockIdx.x % blocks) * ROWS + (int) threadIdx.x / LANES;
  const int64_t index = (int64_t) bh * p.padded_seq + row;
  float sum = 0;

  if (row < p.seq)
    {
      const T *o = head_base<T> (p.o, bh, p.heads) + row * p.o.seq_stride;
      const T *d = head_base<T> (p.dout, bh, p.heads) + row * p.dout.seq_stride;

      for (int c = lane * PER; c < p.head_dim; c += LANES * PER)
        {
          float x[PER], y[PER];

          load16<T> (x, o + c);
          load16<T> (y, d + c);
#pragma unroll
          for (int i = 0; i < PER; i++)
            sum += x[i] * y[i];
        }
    }
#pragma unroll
  for (int i = LANES / 2; i > 0; i /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, i);

  float4 *acc = reinterpret_cast<float4 *> (p.dq_acc + index * D);

  for (int c = lane; ZEROED == Zeroed::SUMS && c < D / 4; c += LANES)
    acc[c] = make_float4 (0, 0, 0, 0);
  if (lane == 0)
    {
      p.delta[index] = sum / p.keep_scale;
      /* an infinite lse makes P zero in the rows past the end */
      p.lse_log2[index] =
          row < p.seq ? p.lse[(int64_t) bh * p.seq + row] * LOG2E : INFINITY;
      if (index == 0)
        p.queue[0] = p.queue[1] = 0;
      if (ZEROED != Zeroed::NOTHING && row % 16 == 0)
        p.semaphore[index / 16] = 0;
    }
}

template <class T, int D>
__global__ void __launch_bounds__ (256)
    convert_dq (const __grid_constant__ Params p)
{
  constexpr int PER = 16 / sizeof (T);
  const int chunks = p.head_dim / PER;
  const int64_t index = (int64_t) blockIdx.x * 256 + threadIdx.x;

  if (index >= (int64_t) p.batch * p.heads * p.seq * chunks)
    return;

  const int c = (int) (index % chunks) * PER;
  const int row = (int) (index / chunks % p.seq);
  const int bh = (int) (index / chunks / p.seq);
  const float4 *from = reinterpret_cast<const float4 *> (
      p.dq_acc + ((int64_t) bh * p.padded_seq + row) * D + c);
  uint32_t out[4];

#pragma unroll
  for (int i = 0; i < PER / 4; i++)
    {
      float4 x = __ldcs (from + i);

      if constexpr (sizeof (T) == 4)
        {
          out[0] = __float_as_uint (x.x * p.grad_scale);
          out[1] = __float_as_uint (x.y * p.grad_scale);
          out[2] = __float_as_uint (x.z * p.grad_scale);
          out[3] = __float_as_uint (x.w * p.grad_scale);
        }
      else
        {
          out[2 * i] = pack2<T> (x.x * p.grad_scale, x.y * p.grad_scale);
          out[2 * i + 1] = pack2<T> (x.z * p.grad_scale, x.w * p.grad_scale);
        }
    }
  *reinterpret_cast<uint4 *> (head_base<T> (p.dq, bh, p.heads)
                              + row * p.dq.seq_stride + c) =
      make_uint4 (out[0], out[1], out[2], out[3]);
}

template <class T, int D, Zeroed ZEROED>
cudaError_t
launch_row_sums (const Params &p, cudaStream_t stream)
{
  constexpr int LANES = D * sizeof (T) <= 128 ? 8 : 16;
  int64_t rows = (int64_t) p.batch * p.heads * p.padded_seq;

  row_sums<T, D, LANES, ZEROED>
      <<<(unsigned) (rows * LANES / 256), 256, 0, stream>>> (p);
  return cudaGetLastError ();
}

template <class T, int D>
cudaError_t
launch_convert_dq (const Params &p, cudaStream_t stream)
{
  int64_t chunks =
      (int64_t) p.batch * p.heads * p.seq * p.head_dim * sizeof (T) / 16;

  convert_dq<T, D><<<(unsigned) ((chunks + 255) / 256), 256, 0, stream>>> (p);
  return cudaGetLastError ();
}

}

#endif
