/* SPDX-License-Identifier: Apache-2.0 */

/* The loss of long rows of 16 bits on Hopper.  A block of each processor keeps
 * a row in its registers while the copy engine fetches the next two to shared
 * memory, so that the memory always has something to do.  A thread adds the
 * exponentials of what it has below its own largest element; how far that is
 * from the row's comes in with the one barrier of a row. */

#ifndef QM_KERNELS_CUDA_LOSS_STREAM_CUH
#define QM_KERNELS_CUDA_LOSS_STREAM_CUH

#include "kernels/cuda/copied-rows.cuh"
#include "kernels/cuda/loss.cuh"

namespace qm_loss
{

/* Threads that compute; the copies are started by another warp. */
constexpr int stream_threads = 992;
constexpr int stream_warps = stream_threads / 32;

/* Groups of a row that a thread keeps. */
constexpr int kept_rounds = 7;

/* Two rows, one behind the other. */
extern __shared__ uint4 copied_rows[];

struct Stream
{
  uint64_t full[2], empty[2];
  float2 sums[2][32]; /* of warps; of even and odd rows */
};

/* Groups of a row that are copied; what is left of it is read directly. */
__host__ __device__ __forceinline__ int
copied_groups (const Loss &loss)
{
  return loss.classes / QM_GROUP;
}

__device__ __forceinline__ bool
is_learned (const Loss &loss, int32_t label)
{
  return label >= 0 && label < loss.classes;
}

/* One thread: copies the block's rows that have a label, each as soon as its
 * half of the memory is free. */
__device__ __forceinline__ void
copy_rows (const Loss &loss, int64_t rows, Stream &stream)
{
  constexpr int piece = 16384;
  int bytes = copied_groups (loss) * 16, n = 0;

  for (int64_t t = blockIdx.x; t < rows; t += gridDim.x)
    {
      const char *from = loss.logits.row (t);
      const char *to = (const char *) copied_rows + n % 2 * bytes;
      uint64_t *full = &stream.full[n % 2];

      if (!is_learned (loss, loss.labels.at (t)))
        continue;
      if (n >= 2)
        qm_copy_wait (&stream.empty[n % 2], (uint32_t) (n / 2 - 1) % 2);
      qm_copy_expect (full, bytes);
      for (int at = 0; at < bytes; at += piece)
        qm_copy_start (to + at, from + at,
                       bytes - at < piece ? bytes - at : piece, full);
      n++;
    }
}

/* Two elements, and what of them is needed. */
template <class T> struct Pair;

template <> struct Pair<__half>
{
  using Vector = __half2;
  static constexpr uint32_t lowest = 0xfc00;

  static __device__ __forceinline__ float2
  floats (uint32_t word)
  {
    return __half22float2 (*(const __half2 *) &word);
  }

  static __device__ __forceinline__ uint32_t
  pack (float first, float second)
  {
    return qm_pack_f16 (first, second);
  }
};

template <> struct Pair<__nv_bfloat16>
{
  using Vector = __nv_bfloat162;
  static constexpr uint32_t lowest = 0xff80;

  static __device__ __forceinline__ float2
  floats (uint32_t word)
  {
    return make_float2 (__uint_as_float (word << 16),
                        __uint_as_float (word & 0xffff0000u));
  }

  static __device__ __forceinline__ uint32_t
  pack (float first, float second)
  {
    return qm_pack_bf16 (first, second);
  }
};

template <class T>
__device__ __forceinline__ uint32_t
largest_pair (uint32_t a, uint32_t b)
{
  using Vector = typename Pair<T>::Vector;
  Vector result = __hmax2 (*(const Vector *) &a, *(const Vector *) &b);

  return *(const uint32_t *) &result;
}

/* The end of a row that is no whole group; what is not in the row is minus
 * infinity, whose exponential is zero. */
template <class T>
__device__ __forceinline__ uint4
row_end (const Loss &loss, const char *row, int column)
{
  uint32_t word[QM_GROUP];

#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    word[i] = column + i < loss.classes ? ((const uint16_t *) row)[column + i]
                                        : Pair<T>::lowest;
  return make_uint4 (word[0] | word[1] << 16, word[2] | word[3] << 16,
                     word[4] | word[5] << 16, word[6] | word[7] << 16);
}

template <class T>
__device__ __forceinline__ void
unpack_group (const uint4 &raw, float (&x)[QM_GROUP])
{
  float2 a = Pair<T>::floats (raw.x), b = Pair<T>::floats (raw.y);
  float2 c = Pair<T>::floats (raw.z), d = Pair<T>::floats (raw.w);

  x[0] = a.x, x[1] = a.y, x[2] = b.x, x[3] = b.y;
  x[4] = c.x, x[5] = c.y, x[6] = d.x, x[7] = d.y;
}

__device__ __forceinline__ void
all_computed ()
{
  asm volatile("bar.sync 1, %0;\n" ::"n"(stream_threads) : "memory");
}

/* Exponentials of numbers up to `largest`, and no further below it. */
struct Total
{
  float largest, sum;

  /* Of all lanes, with a largest number of all of them. */
  __device__ __forceinline__ Total
  of_warp () const
  {
    float most = qm_warp_max (largest);

    return { most,
             qm_warp_sum (sum * qm_power_of_2 ((largest - most) * log2_e)) };
  }
};

/* A row as one thread sees it: every 992nd group, and what follows the row. */
template <class T> struct Row
{
  const Loss &loss;
  char *to;
  int groups, end; /* groups copied, and with those that padding adds */
  uint4 kept[kept_rounds];

  static __device__ __forceinline__ int
  group (int round)
  {
    return round * stream_threads + (int) threadIdx.x;
  }

  /* Whether any thread has something of the row then. */
  __device__ __forceinline__ bool
  reaches (int round) const
  {
    return round * stream_threads < end;
  }

  __device__ __forceinline__ void
  keep (const uint4 *copied, const char *from)
  {
    constexpr uint32_t none = Pair<T>::lowest | Pair<T>::lowest << 16;

#pragma unroll
    for (int round = 0; round < kept_rounds; round++)
      {
        int at = group (round);

        kept[round] = make_uint4 (none, none, none, none);
        if (at < groups)
          kept[round] = copied[at];
        else if (at * QM_GROUP < loss.classes)
          kept[round] = row_end<T> (loss, from, at * QM_GROUP);
      }
  }

  __device__ __forceinline__ Total
  total () const
  {
    uint32_t most = Pair<T>::lowest | Pair<T>::lowest << 16;
    float sums[2] = {}, largest, offset;
    float2 pair;

#pragma unroll
    for (int round = 0; round < kept_rounds; round++)
      most = largest_pair<T> (
          most,
          largest_pair<T> (largest_pair<T> (kept[round].x, kept[round].y),
                           largest_pair<T> (kept[round].z, kept[round].w)));
    pair = Pair<T>::floats (most);
    /* Finite, even with nothing but minus infinity. */
    largest = fmaxf (fmaxf (pair.x, pair.y), -1e38f);
    offset = -largest * log2_e;
#pragma unroll
    for (int round = 0; round < kept_rounds; round++)
      if (reaches (round))
        {
          float x[QM_GROUP];

          unpack_group<T> (kept[round], x);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            sums[i % 2] += qm_power_of_2 (fmaf (x[i], log2_e, offset));
        }
    return { largest, sums[0] + sums[1] };
  }

  /* 2^(x log2 e + offset), less `weight` at the label; all with another sign
   * if it has bits. */
  __device__ __forceinline__ void
  write (int32_t label, float offset, float weight, uint32_t sign) const
  {
#pragma unroll
    for (int round = 0; round < kept_rounds; round++)
      {
        int at = group (round), column = at * QM_GROUP;
        float x[QM_GROUP];

        if (at >= end)
          break;
        unpack_group<T> (kept[round], x);
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          x[i] = qm_power_of_2 (fmaf (x[i], log2_e, offset));
        if ((uint32_t) (label - column) < QM_GROUP)
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            x[i] -= column + i == label ? weight : 0;
        if (at >= groups && sign != 0)
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            if (column + i >= loss.classes)
              x[i] = -0.0f;
        put (at, make_uint4 (Pair<T>::pack (x[0], x[1]) ^ sign,
                             Pair<T>::pack (x[2], x[3]) ^ sign,
                             Pair<T>::pack (x[4], x[5]) ^ sign,
                             Pair<T>::pack (x[6], x[7]) ^ sign));
      }
  }

  __device__ __forceinline__ void
  put (int at, const uint4 &raw) const
  {
    const uint32_t word[] = { raw.x, raw.y, raw.z, raw.w };
    int column = at * QM_GROUP;

    if (column + QM_GROUP <= loss.columns)
      ((uint4 *) to)[at] = raw;
    else
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        if (column + i < loss.columns)
          ((uint16_t *) to)[column + i] =
              (uint16_t) (word[i / 2] >> (16 * (i % 2)));
  }
};

/* `stage` alternates, so nobody writes what somebody else still reads. */
template <class T>
__device__ __forceinline__ void
compute_row (const Loss &loss,
             int64_t t,
             int32_t label,
             const uint4 *copied,
             Stream &stream,
             int stage)
{
  const char *from = loss.logits.row (t);
  Row<T> row = { loss, loss.dlogits.row (t), copied_groups (loss),
                 (loss.columns + QM_GROUP - 1) / QM_GROUP };
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  float weight = loss.weight[1], wanted = 0;
  Total total;
  float2 other;

  /* Before the barrier, after which others may write the gradient there. */
  if (threadIdx.x == 0)
    wanted =
        qm_to_float (label < row.groups * QM_GROUP ? ((const T *) copied)[label]
                                                   : ((const T *) from)[label]);
  row.keep (copied, from);
  __syncwarp ();
  if (lane == 0)
    qm_copy_arrive (&stream.empty[stage]);
  total = row.total ().of_warp ();
  if (lane == 0)
    stream.sums[stage][warp] = make_float2 (total.largest, total.sum);
  all_computed ();
  other =
      lane < stream_warps ? stream.sums[stage][lane] : make_float2 (-1e38f, 0);
  total = Total{ other.x, other.y }.of_warp ();
  if (threadIdx.x == 0)
    loss.losses[t] =
        loss.weight[0] * (logf (total.sum) + (total.largest - wanted));
  /* Errors of the fast logarithms are far below a rounding to 16 bits. */
  row.write (label,
             __log2f (fabsf (weight))
                 - fmaf (total.largest, log2_e, __log2f (total.sum)),
             fabsf (weight), weight < 0 ? 0x80008000u : 0);
}

template <class T>
__global__ void
__launch_bounds__ (stream_threads + 32, 1)
    stream_kernel (const __grid_constant__ Loss loss, int64_t rows)
{
#if __CUDA_ARCH__ >= 900
  __shared__ Stream stream;
  int32_t label, next;
  int n = 0;

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < 2; i++)
        {
          qm_copy_barrier_init (&stream.full[i], 1);
          qm_copy_barrier_init (&stream.empty[i], stream_warps);
        }
      qm_copy_barriers_ready ();
    }
  __syncthreads ();
  if (threadIdx.x >= stream_threads)
    {
      if (threadIdx.x == stream_threads)
        copy_rows (loss, rows, stream);
      return;
    }
  next = loss.labels.at (blockIdx.x);
  for (int64_t t = blockIdx.x; t < rows; t += gridDim.x)
    {
      label = next;
      if (t + gridDim.x < rows)
        next = loss.labels.at (t + gridDim.x);
      if (!is_learned (loss, label))
        {
          write_ignored<stream_threads> (loss, t, label,
                                         (int) threadIdx.x * QM_GROUP);
          continue;
        }
      qm_copy_wait (&stream.full[n % 2], (uint32_t) (n / 2) % 2);
      compute_row<T> (loss, t, label,
                      copied_rows + n % 2 * copied_groups (loss), stream,
                      n % 2);
      n++;
    }
#endif
}

/* Whether rows are such as the copy engine takes, long enough to be worth it,
 * and two fit; and the loss is nothing but cross entropy. */
static inline bool
can_stream (const QmCudaContext *context, const Loss &loss)
{
  size_t bytes = 2 * (size_t) copied_groups (loss) * 16;

  return context->architecture >= 90 && loss.aligned && loss.classes > 4096
         && loss.cap == 0 && loss.z_loss == 0
         && loss.columns <= kept_rounds * stream_threads * QM_GROUP
         && loss.logits.type == loss.dlogits.type
         && loss.logits.type != QM_TYPE_F32 && loss.logits.stride % 16 == 0
         && bytes + sizeof (Stream) + 1024 <= context->shared_bytes;
}

static inline cudaError_t
stream_rows (const QmCudaContext *context,
             cudaStream_t stream,
             const Loss &loss,
             unsigned rows)
{
  auto kernel = loss.logits.type == QM_TYPE_F16 ? stream_kernel<__half>
                                                : stream_kernel<__nv_bfloat16>;
  unsigned most = (unsigned) context->processors;
  unsigned blocks = rows < most ? rows : most;
  int bytes = 2 * copied_groups (loss) * 16;
  cudaError_t code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes);

  if (code == cudaSuccess)
    kernel<<<blocks, stream_threads + 32, (size_t) bytes, stream>>> (loss,
                                                                     rows);
  return code;
}

} /* namespace */

#endif
