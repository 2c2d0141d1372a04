/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of tensors in groups of eight elements, one group a thread at a time.
 *
 * A group is fetched as it is in memory, and converted later: several fetches
 * are then under way at once, which conversions between them would not allow.
 */

#ifndef QM_KERNELS_CUDA_CUDA_ROWS_CUH
#define QM_KERNELS_CUDA_CUDA_ROWS_CUH

#include "kernels/cuda/cuda-common.cuh"

#define QM_GROUP 8

/* A matrix, or a dense tensor seen as one; NULL where absent. */
struct QmRows
{
  char *data;
  int64_t stride; /* in bytes */
  QmType type;

  __device__ __forceinline__ operator bool () const
  {
    return data != nullptr;
  }

  __device__ __forceinline__ char *
  row (int64_t index) const
  {
    return data + index * stride;
  }

  __device__ __forceinline__ int
  size () const
  {
    return type == QM_TYPE_F32 ? 4 : 2;
  }
};

/* A matrix by its rows; one row, if it has rank 1. */
static inline QmRows
qm_rows (const QmTensor &tensor)
{
  size_t size = qm_type_size (tensor.type);

  return { qm_tensor_present (&tensor) ? (char *) tensor.data : nullptr,
           qm_row_stride (tensor) * (int64_t) size, tensor.type };
}

/* A dense tensor as rows of `columns` elements. */
static inline QmRows
qm_dense_rows (const QmTensor &tensor, int64_t columns)
{
  size_t size = qm_type_size (tensor.type);

  return { qm_tensor_present (&tensor) ? (char *) tensor.data : nullptr,
           columns * (int64_t) size, tensor.type };
}

/* Eight elements as they are in memory. */
struct QmRaw
{
  uint4 low, high; /* 16-bit elements are all in `low` */
};

/* Fetches a group whose elements are all there and aligned to 16 bytes. */
static __device__ __forceinline__ QmRaw
qm_fetch (const char *row, int64_t column, QmType type)
{
  QmRaw raw = {};

  if (type == QM_TYPE_F32)
    {
      const uint4 *from = (const uint4 *) (row + column * 4);

      raw.low = from[0];
      raw.high = from[1];
    }
  else
    raw.low = *(const uint4 *) (row + column * 2);
  return raw;
}

/* The same one by one, with zeros for columns outside of [0, columns). */
static __device__ __forceinline__ QmRaw
qm_fetch_part (const char *row, int64_t column, int64_t columns, QmType type)
{
  uint32_t word[QM_GROUP];
  QmRaw raw = {};

#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    word[i] = 0;
  if (type == QM_TYPE_F32)
    {
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        if (column + i >= 0 && column + i < columns)
          word[i] = ((const uint32_t *) row)[column + i];
      raw.low = make_uint4 (word[0], word[1], word[2], word[3]);
      raw.high = make_uint4 (word[4], word[5], word[6], word[7]);
      return raw;
    }
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    if (column + i >= 0 && column + i < columns)
      word[i] = ((const uint16_t *) row)[column + i];
  raw.low = make_uint4 (word[0] | word[1] << 16, word[2] | word[3] << 16,
                        word[4] | word[5] << 16, word[6] | word[7] << 16);
  return raw;
}

/* `whole`: all groups may be fetched by qm_fetch(); a group that begins outside
 * of the row is zeros. */
template <bool whole>
static __device__ __forceinline__ QmRaw
qm_fetch_group (const char *row, int64_t column, int64_t columns, QmType type)
{
  if (!whole)
    return qm_fetch_part (row, column, columns, type);
  return column < columns ? qm_fetch (row, column, type) : QmRaw{};
}

static __device__ __forceinline__ void
qm_unpack_f16 (uint32_t word, float &first, float &second)
{
  float2 pair = __half22float2 (*(const __half2 *) &word);

  first = pair.x;
  second = pair.y;
}

static __device__ __forceinline__ void
qm_unpack_bf16 (uint32_t word, float &first, float &second)
{
  first = __uint_as_float (word << 16);
  second = __uint_as_float (word & 0xffff0000u);
}

static __device__ __forceinline__ void
qm_unpack (const QmRaw &raw, QmType type, float (&x)[QM_GROUP])
{
  const uint4 &low = raw.low, &high = raw.high;

  if (type == QM_TYPE_F32)
    {
      x[0] = __uint_as_float (low.x);
      x[1] = __uint_as_float (low.y);
      x[2] = __uint_as_float (low.z);
      x[3] = __uint_as_float (low.w);
      x[4] = __uint_as_float (high.x);
      x[5] = __uint_as_float (high.y);
      x[6] = __uint_as_float (high.z);
      x[7] = __uint_as_float (high.w);
    }
  else if (type == QM_TYPE_F16)
    {
      qm_unpack_f16 (low.x, x[0], x[1]);
      qm_unpack_f16 (low.y, x[2], x[3]);
      qm_unpack_f16 (low.z, x[4], x[5]);
      qm_unpack_f16 (low.w, x[6], x[7]);
    }
  else
    {
      qm_unpack_bf16 (low.x, x[0], x[1]);
      qm_unpack_bf16 (low.y, x[2], x[3]);
      qm_unpack_bf16 (low.z, x[4], x[5]);
      qm_unpack_bf16 (low.w, x[6], x[7]);
    }
}

static __device__ __forceinline__ uint32_t
qm_pack_f16 (float first, float second)
{
  __half2 pair = __floats2half2_rn (first, second);

  return *(const uint32_t *) &pair;
}

static __device__ __forceinline__ uint32_t
qm_pack_bf16 (float first, float second)
{
  __nv_bfloat162 pair = __floats2bfloat162_rn (first, second);

  return *(const uint32_t *) &pair;
}

static __device__ __forceinline__ QmRaw
qm_pack (const float (&x)[QM_GROUP], QmType type)
{
  QmRaw raw = {};

  if (type == QM_TYPE_F32)
    {
      raw.low = make_uint4 (__float_as_uint (x[0]), __float_as_uint (x[1]),
                            __float_as_uint (x[2]), __float_as_uint (x[3]));
      raw.high = make_uint4 (__float_as_uint (x[4]), __float_as_uint (x[5]),
                             __float_as_uint (x[6]), __float_as_uint (x[7]));
    }
  else if (type == QM_TYPE_F16)
    raw.low = make_uint4 (qm_pack_f16 (x[0], x[1]), qm_pack_f16 (x[2], x[3]),
                          qm_pack_f16 (x[4], x[5]), qm_pack_f16 (x[6], x[7]));
  else
    raw.low = make_uint4 (qm_pack_bf16 (x[0], x[1]), qm_pack_bf16 (x[2], x[3]),
                          qm_pack_bf16 (x[4], x[5]), qm_pack_bf16 (x[6], x[7]));
  return raw;
}

/* The counterparts of the fetches. */
static __device__ __forceinline__ void
qm_put (char *row, int64_t column, QmType type, const float (&x)[QM_GROUP])
{
  QmRaw raw = qm_pack (x, type);

  if (type == QM_TYPE_F32)
    {
      uint4 *to = (uint4 *) (row + column * 4);

      to[0] = raw.low;
      to[1] = raw.high;
    }
  else
    *(uint4 *) (row + column * 2) = raw.low;
}

static __device__ __forceinline__ void
qm_put_part (char *row,
             int64_t column,
             int64_t columns,
             QmType type,
             const float (&x)[QM_GROUP])
{
  QmRaw raw = qm_pack (x, type);
  const uint32_t word[QM_GROUP] = { raw.low.x,  raw.low.y,  raw.low.z,
                                    raw.low.w,  raw.high.x, raw.high.y,
                                    raw.high.z, raw.high.w };

#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    if (column + i >= 0 && column + i < columns)
      {
        if (type == QM_TYPE_F32)
          ((uint32_t *) row)[column + i] = word[i];
        else
          ((uint16_t *) row)[column + i] =
              (uint16_t) (word[i / 2] >> (16 * (i % 2)));
      }
}

template <bool whole>
static __device__ __forceinline__ void
qm_put_group (char *row,
              int64_t column,
              int64_t columns,
              QmType type,
              const float (&x)[QM_GROUP])
{
  if (!whole)
    qm_put_part (row, column, columns, type, x);
  else if (column < columns)
    qm_put (row, column, type, x);
}

/* Drops elements index, index + 1, ...; with `whole`, 8 divides index. */
template <bool whole>
static __device__ __forceinline__ void
qm_drop_group (const QmDropout &dropout, int64_t index, float (&x)[QM_GROUP])
{
  if constexpr (whole)
    {
      QmRandomBits bits = qm_random_block (dropout.rng, dropout.site,
                                           (uint64_t) index / QM_GROUP);

#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        x[i] = qm_random_half (bits, i) >= dropout.threshold
                   ? x[i] * dropout.scale
                   : 0;
    }
  else
    for (int i = 0; i < QM_GROUP; i++)
      {
        int half = (int) ((index + i) % 8);
        QmRandomBits bits = qm_random_block (dropout.rng, dropout.site,
                                             (uint64_t) (index + i) / 8);
        uint32_t word = half < 4 ? (half < 2 ? bits.word[0] : bits.word[1])
                                 : (half < 6 ? bits.word[2] : bits.word[3]);

        x[i] = (word >> (16 * (half % 2)) & 0xffff) >= dropout.threshold
                   ? x[i] * dropout.scale
                   : 0;
      }
}

/* What stochastic depth multiplies a row with, by the sample of so many rows
 * that it is of. */
static __device__ __forceinline__ float
qm_depth_factor (const QmDropout &dropout, int64_t sample, int64_t row)
{
  float factor[1] = { 1 };

  if (dropout.rng != nullptr)
    dropout.apply<1> (row / sample, factor);
  return factor[0];
}

/* The same of the rows of a warp, `step` apart, whose lanes all ask for each in
 * turn: a lane finds out one of the next 32, as one costs a thread more than
 * all else that it does for a row. */
struct QmDepths
{
  const QmDropout &dropout;
  int64_t sample, step;
  float mine = 1;
  int used = 32;

  __device__ __forceinline__ float
  next (int64_t row)
  {
    if (dropout.rng == nullptr)
      return 1;
    if (used == 32)
      {
        mine = qm_depth_factor (dropout, sample, row + threadIdx.x % 32 * step);
        used = 0;
      }
    return __shfl_sync (0xffffffffu, mine, used++);
  }
};

/* Sums over the `threads` that share a row: a warp, or the whole block.
 * `shared` are 32 floats; two calls that follow each other take different ones.
 */
template <int threads>
static __device__ __forceinline__ float
qm_row_sum (float x, float *shared)
{
  x = qm_warp_sum (x);
  if (threads == 32)
    return x;
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = threadIdx.x % 32 < threads / 32 ? shared[threadIdx.x % 32] : 0;
  return qm_warp_sum (x);
}

template <int threads>
static __device__ __forceinline__ float
qm_row_max (float x, float *shared)
{
  x = qm_warp_max (x);
  if (threads == 32)
    return x;
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = shared[threadIdx.x % 32 < threads / 32 ? threadIdx.x % 32 : 0];
  return qm_warp_max (x);
}

/* The same for a kernel that takes its barriers in every row: the last step is
 * done by each thread, which costs less than another round among lanes.
 * `shared` is aligned to 16 bytes; two calls that follow each other take
 * different ones. */
template <int threads>
static __device__ __forceinline__ float
qm_short_row_sum (float x, float *shared)
{
  constexpr int warps = threads / 32;

  x = qm_warp_sum (x);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = shared[0];
#pragma unroll
  for (int warp = 1; warp < warps; warp++)
    x += shared[warp];
  return x;
}

/* Division of numbers below 2^31 by one that does not change, with a
 * multiplication (Granlund and Montgomery 1994). */
struct QmDivisor
{
  uint32_t divisor, factor, shift;

  __device__ __forceinline__ uint32_t
  quotient (uint32_t x) const
  {
    return (__umulhi (x, factor) + x) >> shift;
  }

  __device__ __forceinline__ uint32_t
  quotient (uint32_t x, uint32_t &remainder) const
  {
    uint32_t result = quotient (x);

    remainder = x - result * divisor;
    return result;
  }
};

/* `divisor` is in [1, 2^31). */
static inline QmDivisor
qm_divisor (int64_t divisor)
{
  QmDivisor result = { (uint32_t) divisor, 0, 0 };

  while (UINT64_C (1) << result.shift < (uint64_t) divisor)
    result.shift++;
  result.factor =
      (uint32_t) ((((UINT64_C (1) << result.shift) - (uint64_t) divisor) << 32)
                  / (uint64_t) divisor)
      + 1;
  return result;
}

/* Rows of `each` items that are few enough for 32-bit numbers of items. */
static inline int64_t
qm_slice (int64_t each)
{
  int64_t rows = (INT64_C (1) << 30) / each;

  return rows > 0 ? rows : 1;
}

/* Blocks of `threads` for `items`, all of them at once. */
static inline unsigned
qm_blocks (int64_t items, int64_t threads)
{
  return (unsigned) ((items + threads - 1) / threads);
}

/* As many blocks of a kernel as run at once, but no more than there is work
 * for.  */
template <class Kernel>
static inline unsigned
qm_resident (const QmCudaContext *context,
             Kernel kernel,
             int threads,
             int64_t blocks)
{
  int each = 0;
  int64_t most;

  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&each, kernel, threads, 0)
          != cudaSuccess
      || each < 1)
    each = 1;
  most = (int64_t) each * context->processors;
  return (unsigned) (blocks < most ? blocks : most);
}

/* How many parts `units` of work of equal size are best divided into, so that
 * the largest is small, where `most` can be worked on at once. */
static inline int64_t
qm_even_parts (int64_t units, int64_t most)
{
  int64_t parts = most > 1 ? most : 1, each = (units + parts - 1) / parts;

  return each > 0 ? (units + each - 1) / each : 1;
}

#endif
