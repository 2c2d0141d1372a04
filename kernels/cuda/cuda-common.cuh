/* SPDX-License-Identifier: Apache-2.0 */

/* What kernels share: elements whose type is known when they run, sums over
 * warps and blocks, random numbers.
 *
 * Kernels here are bound by memory, and their tensors may each have their own
 * type.  A switch on the type is the same for all threads and costs less than
 * compiling every combination of types would. */

#ifndef QM_KERNELS_CUDA_CUDA_COMMON_CUH
#define QM_KERNELS_CUDA_CUDA_COMMON_CUH

#include "kernels/cuda/cuda-ops.h"
#include "kernels/random.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* A tensor's memory as a kernel's argument; NULL where absent. */
struct QmArray
{
  void *data;
  QmType type;

  __device__ __forceinline__ operator bool () const
  {
    return data != nullptr;
  }
};

static inline QmArray
qm_array (const QmTensor &tensor)
{
  return { qm_tensor_present (&tensor) ? tensor.data : nullptr, tensor.type };
}

/* Elements between the rows of a matrix; 0 for "no tensor". */
static inline int64_t
qm_row_stride (const QmTensor &tensor)
{
  return tensor.rank >= 2 ? tensor.stride[tensor.rank - 2] : 0;
}

/* A vector of 16-bit words or of floats that is read at once. */
template <int bytes> struct QmWord;
template <> struct QmWord<2>
{
  using type = unsigned short;
};
template <> struct QmWord<4>
{
  using type = unsigned int;
};
template <> struct QmWord<8>
{
  using type = uint2;
};
template <> struct QmWord<16>
{
  using type = uint4;
};

static __device__ __forceinline__ float
qm_to_float (__half x)
{
  return __half2float (x);
}

static __device__ __forceinline__ float
qm_to_float (__nv_bfloat16 x)
{
  return __bfloat162float (x);
}

static __device__ __forceinline__ float
qm_to_float (float x)
{
  return x;
}

template <class T> __device__ __forceinline__ T qm_from_float (float x);

template <>
__device__ __forceinline__ float
qm_from_float<float> (float x)
{
  return x;
}

template <>
__device__ __forceinline__ __half
qm_from_float<__half> (float x)
{
  return __float2half_rn (x);
}

template <>
__device__ __forceinline__ __nv_bfloat16
qm_from_float<__nv_bfloat16> (float x)
{
  return __float2bfloat16_rn (x);
}

template <class T, int N>
__device__ __forceinline__ void
qm_load_as (const void *data, int64_t index, float (&x)[N])
{
  constexpr int bytes = N * (int) sizeof (T) < 16 ? N * (int) sizeof (T) : 16;
  constexpr int words = N * (int) sizeof (T) / bytes;
  using Word = typename QmWord<bytes>::type;
  union
  {
    Word word[words];
    unsigned char bytes[N * sizeof (T)];
  } raw;
  const Word *from = (const Word *) ((const T *) data + index);

#pragma unroll
  for (int i = 0; i < words; i++)
    raw.word[i] = from[i];
#pragma unroll
  for (int i = 0; i < N; i++)
    x[i] = qm_to_float (((const T *) raw.bytes)[i]);
}

template <class T, int N>
__device__ __forceinline__ void
qm_store_as (void *data, int64_t index, const float (&x)[N])
{
  constexpr int bytes = N * (int) sizeof (T) < 16 ? N * (int) sizeof (T) : 16;
  constexpr int words = N * (int) sizeof (T) / bytes;
  using Word = typename QmWord<bytes>::type;
  union
  {
    Word word[words];
    unsigned char bytes[N * sizeof (T)];
  } raw;
  Word *to = (Word *) ((T *) data + index);

#pragma unroll
  for (int i = 0; i < N; i++)
    ((T *) raw.bytes)[i] = qm_from_float<T> (x[i]);
#pragma unroll
  for (int i = 0; i < words; i++)
    to[i] = raw.word[i];
}

/* N elements from `index` on, N = 1, 2, 4 or 8, in accesses of up to 16 bytes;
 * qm_cuda_vectors() tells where N > 1 may be used. */
template <int N>
__device__ __forceinline__ void
qm_load (const QmArray &array, int64_t index, float (&x)[N])
{
  if (array.type == QM_TYPE_F32)
    qm_load_as<float, N> (array.data, index, x);
  else if (array.type == QM_TYPE_F16)
    qm_load_as<__half, N> (array.data, index, x);
  else
    qm_load_as<__nv_bfloat16, N> (array.data, index, x);
}

template <int N>
__device__ __forceinline__ void
qm_store (const QmArray &array, int64_t index, const float (&x)[N])
{
  if (array.type == QM_TYPE_F32)
    qm_store_as<float, N> (array.data, index, x);
  else if (array.type == QM_TYPE_F16)
    qm_store_as<__half, N> (array.data, index, x);
  else
    qm_store_as<__nv_bfloat16, N> (array.data, index, x);
}

static __device__ __forceinline__ float
qm_load (const QmArray &array, int64_t index)
{
  float x[1];

  qm_load<1> (array, index, x);
  return x[0];
}

static __device__ __forceinline__ void
qm_store (const QmArray &array, int64_t index, float value)
{
  const float x[1] = { value };

  qm_store<1> (array, index, x);
}

/* Sums over a warp; every lane gets the result.  All lanes take part. */
static __device__ __forceinline__ float
qm_warp_sum (float x)
{
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    x += __shfl_xor_sync (0xffffffffu, x, lanes);
  return x;
}

static __device__ __forceinline__ float
qm_warp_max (float x)
{
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    x = fmaxf (x, __shfl_xor_sync (0xffffffffu, x, lanes));
  return x;
}

/* The same over a block of up to 1024 threads, a multiple of 32, in a fixed
 * order.  `shared` is 32 floats that nobody else uses until the next barrier;
 * may be called again with the same ones. */
static __device__ __forceinline__ float
qm_block_sum (float x, float *shared)
{
  int warps = (int) blockDim.x / 32;

  x = qm_warp_sum (x);
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = (int) (threadIdx.x % 32) < warps ? shared[threadIdx.x % 32] : 0;
  return qm_warp_sum (x);
}

static __device__ __forceinline__ float
qm_block_max (float x, float *shared)
{
  int warps = (int) blockDim.x / 32;

  x = qm_warp_max (x);
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = shared[(int) (threadIdx.x % 32) < warps ? threadIdx.x % 32 : 0];
  return qm_warp_max (x);
}

/* Dropout as an argument of kernels: numbers that the host works out once.
 * `rng` is NULL where nothing is dropped. */
struct QmDropout
{
  const int32_t *rng;
  uint32_t site, threshold;
  float scale;

  /* Multiplies the N elements from `index` on; N divides 8 and `index`. */
  template <int N>
  __device__ __forceinline__ void
  apply (int64_t index, float (&x)[N]) const
  {
    QmRandomBits bits = qm_random_block (rng, site, (uint64_t) index / 8);
    int first = (int) (index % 8);

#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] = qm_random_half (bits, first + i) >= threshold ? x[i] * scale : 0;
  }
};

static inline QmDropout
qm_dropout (const QmAttributes &attributes, uint32_t site, const QmTensor &rng)
{
  bool on = qm_dropout_is_on (attributes.dropout) && qm_tensor_present (&rng);

  return { on ? (const int32_t *) rng.data : nullptr, site,
           qm_dropout_threshold (attributes.dropout),
           qm_dropout_scale (attributes.dropout) };
}

/* Blocks of `threads` threads for `items` of them in a loop over the grid: no
 * more than fill the device. */
static inline unsigned
qm_grid (const QmCudaContext *context, int64_t items, int threads)
{
  int64_t blocks = (items + threads - 1) / threads;
  int64_t most = (int64_t) context->processors * (2048 / threads);

  return (unsigned) (blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#endif
