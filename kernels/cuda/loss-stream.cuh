/* SPDX-License-Identifier: Apache-2.0 */

/* The loss of long rows of 16 bits on Hopper.  A block of each processor works
 * on a row in shared memory while the copy engine fetches the next one, so that
 * the memory always has something to do.  A row is gone over three times: its
 * largest element, the sum of its exponentials, its gradient. */

#ifndef QM_KERNELS_CUDA_LOSS_STREAM_CUH
#define QM_KERNELS_CUDA_LOSS_STREAM_CUH

#include "kernels/cuda/loss.cuh"

namespace qm_loss
{

/* Threads that compute; the copies are started by another warp. */
constexpr int stream_threads = 960;
constexpr int stream_warps = stream_threads / 32;

/* Two rows, one behind the other. */
extern __shared__ uint4 copied_rows[];

struct Stream
{
  uint64_t full[2], empty[2];
  float largest[2][32], sum[2][32]; /* of warps; of even and odd rows */
};

/* Groups of a row that are copied; what is left of it is read directly. */
__host__ __device__ __forceinline__ int
copied_groups (const Loss &loss)
{
  return loss.classes / QM_GROUP;
}

__device__ __forceinline__ uint32_t
shared_address (const void *p)
{
  return (uint32_t) __cvta_generic_to_shared (p);
}

__device__ __forceinline__ void
wait_for (uint64_t *barrier, uint32_t parity)
{
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}\n" ::"r"(shared_address (barrier)),
               "r"(parity)
               : "memory");
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
      uint32_t to = shared_address (copied_rows) + (uint32_t) (n % 2 * bytes);
      uint32_t full = shared_address (&stream.full[n % 2]);

      if (!is_learned (loss, loss.labels.at (t)))
        continue;
      if (n >= 2)
        wait_for (&stream.empty[n % 2], (uint32_t) (n / 2 - 1) % 2);
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(
              full),
          "r"(bytes)
          : "memory");
      for (int at = 0; at < bytes; at += piece)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
                     "::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(to
                                                                          + at),
                     "l"(from + at),
                     "r"(bytes - at < piece ? bytes - at : piece), "r"(full)
                     : "memory");
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

/* A row as one thread sees it. */
template <class T> struct Row
{
  const Loss &loss;
  const uint4 *copied;
  const char *from;
  char *to;
  int groups, end; /* groups copied, and with those that padding adds */

  /* Of group `at`, which may be the last and not whole. */
  __device__ __forceinline__ uint4
  group (int at) const
  {
    return at < groups ? copied[at] : row_end<T> (loss, from, at * QM_GROUP);
  }

  __device__ __forceinline__ float
  largest () const
  {
    uint32_t most = Pair<T>::lowest | Pair<T>::lowest << 16;
    float2 pair;

#pragma unroll 4
    for (int at = (int) threadIdx.x; at * QM_GROUP < loss.classes;
         at += stream_threads)
      {
        uint4 raw = group (at);

        most =
            largest_pair<T> (most,
                             largest_pair<T> (largest_pair<T> (raw.x, raw.y),
                                              largest_pair<T> (raw.z, raw.w)));
      }
    pair = Pair<T>::floats (most);
    return qm_warp_max (fmaxf (pair.x, pair.y));
  }

  __device__ __forceinline__ float
  sum (float offset) const
  {
    float sums[2] = {};

#pragma unroll 2
    for (int at = (int) threadIdx.x; at * QM_GROUP < loss.classes;
         at += stream_threads)
      {
        float x[QM_GROUP];

        unpack_group<T> (group (at), x);
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          sums[i % 2] += qm_power_of_2 (fmaf (x[i], log2_e, offset));
      }
    return qm_warp_sum (sums[0] + sums[1]);
  }

  /* 2^(x log2 e + offset), less `weight` at the label; all with another sign
   * if it has bits. */
  __device__ __forceinline__ void
  write (int32_t label, float offset, float weight, uint32_t sign) const
  {
#pragma unroll 2
    for (int at = (int) threadIdx.x; at < end; at += stream_threads)
      {
        int column = at * QM_GROUP;
        float x[QM_GROUP];

        unpack_group<T> (group (at), x);
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

/* From one value of each warp, one of each lane. */
__device__ __forceinline__ float
of_warps (float value, float *shared, float missing)
{
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;

  if (lane == 0)
    shared[warp] = value;
  all_computed ();
  return lane < stream_warps ? shared[lane] : missing;
}

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
  Row<T> row = { loss,
                 copied,
                 loss.logits.row (t),
                 loss.dlogits.row (t),
                 copied_groups (loss),
                 (loss.columns + QM_GROUP - 1) / QM_GROUP };
  float weight = loss.weight[1], wanted = 0, most, sum;

  /* Before the barrier, after which others may write the gradient there. */
  if (threadIdx.x == 0)
    wanted = qm_to_float (label < row.groups * QM_GROUP
                              ? ((const T *) copied)[label]
                              : ((const T *) row.from)[label]);
  most = row.largest ();
  most = qm_warp_max (of_warps (most, stream.largest[stage], -FLT_MAX));
  sum = row.sum (-most * log2_e);
  sum = qm_warp_sum (of_warps (sum, stream.sum[stage], 0));
  if (threadIdx.x == 0)
    loss.losses[t] = loss.weight[0] * (logf (sum) + (most - wanted));
  row.write (label, -most * log2_e + log2f (fabsf (weight) / sum),
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
          asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n" ::"r"(
                           shared_address (&stream.full[i]))
                       : "memory");
          asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(
                           shared_address (&stream.empty[i])),
                       "n"(stream_warps)
                       : "memory");
        }
      asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
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
      wait_for (&stream.full[n % 2], (uint32_t) (n / 2) % 2);
      compute_row<T> (loss, t, label,
                      copied_rows + n % 2 * copied_groups (loss), stream,
                      n % 2);
      __syncwarp ();
      if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(
                         shared_address (&stream.empty[n % 2]))
                     : "memory");
      n++;
    }
#endif
}

/* Whether rows are such as the copy engine takes, long enough to be worth it,
 * and two fit. */
static inline bool
can_stream (const QmCudaContext *context, const Loss &loss)
{
  size_t bytes = 2 * (size_t) copied_groups (loss) * 16;

  return context->architecture >= 90 && loss.aligned && loss.classes > 4096
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
