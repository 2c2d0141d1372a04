/* SPDX-License-Identifier: Apache-2.0 */

/* The loss of long rows of 16 bits on Hopper.  A block of each processor keeps
 * a row in its registers while the copy engine fetches the next two to shared
 * memory, so that the memory always has something to do.  A thread adds the
 * exponentials of what it has below its own largest element; how far that is
 * from the row's comes in with the one barrier of a row.
 *
 * A row that is too long for a block is divided between those of a cluster (see
 * loss-shares.h).  To each its share is a row by itself, but for the sums that
 * the warps of all of them tell each other. */

#ifndef QM_KERNELS_CUDA_LOSS_STREAM_CUH
#define QM_KERNELS_CUDA_LOSS_STREAM_CUH

#include "kernels/cuda/clusters.cuh"
#include "kernels/cuda/loss-shares.h"
#include "kernels/cuda/loss.cuh"

namespace qm_loss
{

/* Threads that compute; the copies are started by another warp. */
constexpr int stream_threads = QM_LOSS_THREADS;
constexpr int stream_warps = stream_threads / 32;

/* Groups of a row that a thread keeps. */
constexpr int kept_rounds = QM_LOSS_ROUNDS;

/* Two rows, one behind the other. */
extern __shared__ __align__ (QM_COPY_ALIGNMENT) uint4 copied_rows[];

/* Of a block of a cluster of so many. */
template <int blocks> struct Stream
{
  uint64_t full[2], empty[2];
  uint64_t told[2];           /* of sums, by all blocks */
  float2 sums[2][blocks][32]; /* of warps; of even and odd rows */
};

/* What of each row a block has, as rows of their own. */
template <int blocks> struct Share
{
  Loss loss;
  int first; /* its first column of all */

  __device__ __forceinline__
  Share (const Loss &all)
      : loss (all)
  {
    int columns = qm_loss_share (all.columns, blocks);
    int rank = (int) (blockIdx.x % blocks);

    first = columns * rank;
    loss.classes = qm_loss_within (all.classes, columns, rank);
    loss.columns = qm_loss_within (all.columns, columns, rank);
    loss.logits.data += first * 2;
    loss.dlogits.data += first * 2;
  }
};

/* All of it, where the kernel's parameters are. */
template <> struct Share<1>
{
  static constexpr int first = 0;
  const Loss &loss;

  __device__ __forceinline__
  Share (const Loss &all)
      : loss (all)
  {
  }
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

/* One thread: copies the block's share of the rows that have a label, each as
 * soon as its half of the memory is free. */
template <int blocks>
__device__ __forceinline__ void
copy_rows (const Loss &loss, int64_t rows, Stream<blocks> &stream)
{
  constexpr int piece = 16384;
  const Share<blocks> share (loss);
  int bytes = copied_groups (share.loss) * 16, n = 0;

  for (int64_t t = blockIdx.x / blocks; t < rows; t += gridDim.x / blocks)
    {
      const char *from = share.loss.logits.row (t);
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

/* What the lanes of a warp see of the sums of all warps. */
template <int blocks>
__device__ __forceinline__ Total
sums_told (const Stream<blocks> &stream, int stage)
{
  constexpr int at_once = blocks < 4 ? blocks : 4;
  const float2 nothing = make_float2 (-1e38f, 0);
  int lane = (int) threadIdx.x % 32;
  Total total = { nothing.x, nothing.y };

  if constexpr (blocks == 1)
    {
      float2 other =
          lane < stream_warps ? stream.sums[stage][0][lane] : nothing;

      total = { other.x, other.y };
    }
  else
#pragma unroll
    for (int first = 0; first < blocks; first += at_once)
      {
        float2 other[at_once];
        float most = total.largest;

#pragma unroll
        for (int i = 0; i < at_once; i++)
          {
            other[i] = lane < stream_warps ? stream.sums[stage][first + i][lane]
                                           : nothing;
            most = fmaxf (most, other[i].x);
          }
        if (first > 0)
          total.sum *= qm_power_of_2 ((total.largest - most) * log2_e);
        total.largest = most;
#pragma unroll
        for (int i = 0; i < at_once; i++)
          total.sum +=
              other[i].y * qm_power_of_2 ((other[i].x - most) * log2_e);
      }
  return total;
}

/* The sums of one warp become those of the row.  `stage` alternates, so nobody
 * writes what somebody else still reads: who has sums of the next row to tell
 * has read those of this one, and nobody gets to the row after that before all
 * have told. */
template <int blocks>
__device__ __forceinline__ Total
exchange (const Total &own, Stream<blocks> &stream, int stage, uint32_t parity)
{
  int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  float2 sums = make_float2 (own.largest, own.sum);

  if (blocks == 1)
    {
      if (lane == 0)
        stream.sums[stage][0][warp] = sums;
      all_computed ();
    }
  else
    {
      float2 *there = &stream.sums[stage][blockIdx.x % blocks][warp];
      uint64_t *told = &stream.told[stage];

      if (threadIdx.x == 0)
        qm_copy_expect (told, blocks * stream_warps * (int) sizeof sums);
      if (lane < blocks)
        qm_cluster_send (there, sums, told, lane);
      qm_copy_wait (told, parity);
    }
  return sums_told<blocks> (stream, stage).of_warp ();
}

/* Row t of a block's share, where the label may be outside of it: `n` such rows
 * came before. */
template <class T, int blocks>
__device__ __forceinline__ void
compute_row (
    const Loss &loss, int64_t t, int32_t label, Stream<blocks> &stream, int n)
{
  int stage = n % 2;
  uint32_t parity = (uint32_t) (n / 2) % 2;
  const char *from = loss.logits.row (t);
  const uint4 *copied = copied_rows + stage * copied_groups (loss);
  Row<T> row = { loss, loss.dlogits.row (t), copied_groups (loss),
                 (loss.columns + QM_GROUP - 1) / QM_GROUP };
  /* The label's logit is read before anybody writes the gradient there: before
   * the barrier of a block, or by who has its group. */
  bool tells = blocks == 1 ? threadIdx.x == 0
                           : is_learned (loss, label)
                                 && (uint32_t) label / QM_GROUP % stream_threads
                                        == threadIdx.x;
  float weight = loss.weight[1], wanted = 0;
  Total total;

  qm_copy_wait (&stream.full[stage], parity);
  if (tells)
    wanted =
        qm_to_float (label < row.groups * QM_GROUP ? ((const T *) copied)[label]
                                                   : ((const T *) from)[label]);
  row.keep (copied, from);
  __syncwarp ();
  if (threadIdx.x % 32 == 0)
    qm_copy_arrive (&stream.empty[stage]);
  total = exchange<blocks> (row.total ().of_warp (), stream, stage, parity);
  if (tells)
    loss.losses[t] =
        loss.weight[0] * (logf (total.sum) + (total.largest - wanted));
  /* Errors of the fast logarithms are far below a rounding to 16 bits. */
  row.write (label,
             __log2f (fabsf (weight))
                 - fmaf (total.largest, log2_e, __log2f (total.sum)),
             fabsf (weight), weight < 0 ? 0x80008000u : 0);
}

template <class T, int blocks>
__device__ __forceinline__ void
compute_rows (const Loss &loss, int64_t rows, Stream<blocks> &stream)
{
  const Share<blocks> share (loss);
  int64_t step = gridDim.x / blocks, t = blockIdx.x / blocks;
  int32_t label, next = loss.labels.at (t);
  int n = 0;

  for (; t < rows; t += step)
    {
      label = next;
      if (t + step < rows)
        next = loss.labels.at (t + step);
      if (is_learned (loss, label))
        compute_row<T> (share.loss, t, label - share.first, stream, n++);
      else
        write_ignored<stream_threads> (share.loss, t, label,
                                       (int) threadIdx.x * QM_GROUP,
                                       share.first + threadIdx.x == 0);
    }
}

template <class T, int blocks>
__global__ void
__launch_bounds__ (stream_threads + 32, 1)
    stream_kernel (const __grid_constant__ Loss loss, int64_t rows)
{
#if __CUDA_ARCH__ >= 900
  __shared__ Stream<blocks> stream;

  if (threadIdx.x == 0)
    {
      for (int i = 0; i < 2; i++)
        {
          qm_copy_barrier_init (&stream.full[i], 1);
          qm_copy_barrier_init (&stream.empty[i], stream_warps);
          if (blocks > 1)
            qm_copy_barrier_init (&stream.told[i], 1);
        }
      qm_copy_barriers_ready ();
    }
  /* Nobody tells a barrier that is not there yet. */
  if (blocks > 1)
    qm_cluster_sync ();
  else
    __syncthreads ();
  if (threadIdx.x < stream_threads)
    compute_rows<T> (loss, rows, stream);
  else if (threadIdx.x == stream_threads)
    copy_rows (loss, rows, stream);
  /* Nobody leaves while others may still tell it something. */
  if (blocks > 1)
    qm_cluster_sync ();
#endif
}

/* Whether rows are such as the copy engine takes, long enough to be worth it,
 * and the loss is nothing but cross entropy. */
static inline bool
can_stream (const QmCudaContext *context, const Loss &loss)
{
  return context->architecture >= 90 && loss.aligned && loss.classes > 4096
         && loss.cap == 0 && loss.z_loss == 0
         && loss.logits.type == loss.dlogits.type
         && loss.logits.type != QM_TYPE_F32 && loss.logits.stride % 16 == 0;
}

/* As many clusters as run at once take row after row. */
template <class T, int blocks>
static cudaError_t
start_stream (const QmCudaContext *context,
              cudaStream_t stream,
              const Loss &loss,
              unsigned rows)
{
  static_assert (sizeof (Stream<blocks>) + 1024 <= qm_loss_taken (blocks),
                 "what a block needs besides copies");
  auto kernel = stream_kernel<T, blocks>;
  int bytes = qm_loss_copies (loss.classes, loss.columns, blocks);
  int most = context->processors;
  cudaLaunchAttribute cluster = { .id = cudaLaunchAttributeClusterDimension };
  cudaLaunchConfig_t config = {};
  cudaError_t code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes);

  if (code != cudaSuccess)
    return code;
  config.gridDim = dim3 ((unsigned) most / blocks * blocks);
  config.blockDim = dim3 (stream_threads + 32);
  config.dynamicSmemBytes = (size_t) bytes;
  config.stream = stream;
  if (blocks > 1)
    {
      cluster.val.clusterDim.x = blocks;
      cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
      config.attrs = &cluster;
      config.numAttrs = 1;
      code = cudaOccupancyMaxActiveClusters (&most, kernel, &config);
      if (code != cudaSuccess || most < 1)
        {
          (void) cudaGetLastError ();
          return cudaErrorNotSupported;
        }
    }
  config.gridDim.x = (rows < (unsigned) most ? rows : (unsigned) most) * blocks;
  return cudaLaunchKernelEx (&config, kernel, loss, (int64_t) rows);
}

template <class T>
static cudaError_t
stream_rows_of (const QmCudaContext *context,
                cudaStream_t stream,
                const Loss &loss,
                unsigned rows)
{
  switch (qm_loss_blocks (context->shared_bytes, loss.classes, loss.columns))
    {
    case 1:
      return start_stream<T, 1> (context, stream, loss, rows);
    case 2:
      return start_stream<T, 2> (context, stream, loss, rows);
    case 4:
      return start_stream<T, 4> (context, stream, loss, rows);
    case 8:
      return start_stream<T, 8> (context, stream, loss, rows);
    default:
      return cudaErrorNotSupported;
    }
}

/* cudaErrorNotSupported where rows are not for this kernel, or no clusters of
 * as many blocks as they need fit on the device. */
static inline cudaError_t
stream_rows (const QmCudaContext *context,
             cudaStream_t stream,
             const Loss &loss,
             unsigned rows)
{
  if (!can_stream (context, loss))
    return cudaErrorNotSupported;
  return loss.logits.type == QM_TYPE_F16
             ? stream_rows_of<__half> (context, stream, loss, rows)
             : stream_rows_of<__nv_bfloat16> (context, stream, loss, rows);
}

} /* namespace */

#endif
