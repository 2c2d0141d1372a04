/* SPDX-License-Identifier: Apache-2.0 */

/* Patches that are hidden, tokens in their stead, and what was made of them. */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

constexpr int threads = 256;

struct Mask
{
  const float *noise;
  const int32_t *rng; /* one of the two */
  int32_t *kept, *places;
  int64_t batch;
  int all, keeps;
  uint32_t site;

  __device__ __forceinline__ uint32_t
  key (int64_t b, int n) const
  {
    if (noise != nullptr)
      return qm_noise_key (__float_as_uint (noise[b * all + n]));
    return qm_mask_key (rng, site, qm_mask_sample (rng, batch, b), n);
  }
};

/* How many threads before this one say yes; *all of them in the block. */
__device__ __forceinline__ int
count_before (bool yes, int *all)
{
  __shared__ int counts[threads / 32];
  unsigned said = __ballot_sync (0xffffffffu, yes);
  int warp = (int) threadIdx.x / 32, before = 0;

  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    counts[warp] = __popc (said);
  __syncthreads ();
  *all = 0;
#pragma unroll
  for (int i = 0; i < threads / 32; i++)
    {
      before += i < warp ? counts[i] : 0;
      *all += counts[i];
    }
  return before + __popc (said & ((1u << threadIdx.x % 32) - 1));
}

/* A block has a sample.  The largest key that is kept is found bit by bit; keys
 * are made anew each time, which needs no memory, however many patches. */
__global__ void
__launch_bounds__ (threads) mask_kernel (const __grid_constant__ Mask work)
{
  int64_t b = blockIdx.x;
  uint32_t low = 0, high = 0xffffffffu;
  int less = 0, equal = 0, next = 0;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      int count = 0;

      for (int n = (int) threadIdx.x; n - (int) threadIdx.x < work.all;
           n += threads)
        count +=
            __syncthreads_count (n < work.all && work.key (b, n) <= middle);
      if (count >= work.keeps)
        high = middle;
      else
        low = middle + 1;
    }
  for (int n = (int) threadIdx.x; n - (int) threadIdx.x < work.all;
       n += threads)
    less += __syncthreads_count (n < work.all && work.key (b, n) < low);
  for (int n = (int) threadIdx.x; n - (int) threadIdx.x < work.all;
       n += threads)
    {
      uint32_t key = n < work.all ? work.key (b, n) : 0;
      bool same = n < work.all && key == low;
      int same_here, kept_here;
      int same_before = equal + count_before (same, &same_here);
      bool keep = n < work.all
                  && (key < low || (same && same_before < work.keeps - less));
      int place = next + count_before (keep, &kept_here);

      if (n < work.all)
        work.places[b * work.all + n] = keep ? place : -1;
      if (keep)
        work.kept[b * work.keeps + place] = n;
      equal += same_here;
      next += kept_here;
    }
}

struct Restore
{
  QmRows x, token, position, y;
  const int32_t *places;
  QmDivisor length, groups; /* length: all tokens */
  int64_t keeps;            /* tokens that are kept, the first among them */
  uint32_t first, items;    /* first: a sequence */
  int columns;
};

template <bool whole>
__global__ void
__launch_bounds__ (threads)
    restore_kernel (const __grid_constant__ Restore work)
{
  uint32_t i = blockIdx.x * threads + threadIdx.x, group, s;
  uint32_t t = work.groups.quotient (i, group);
  int64_t b = work.length.quotient (t, s) + work.first;
  int64_t row = b * work.length.divisor + s, from = 0;
  int column = (int) group * QM_GROUP;
  QmRaw raw, raw_position = {};
  float x[QM_GROUP], position[QM_GROUP];
  bool hidden;

  if (i >= work.items)
    return;
  if (s > 0)
    from = 1 + work.places[row - b - 1];
  hidden = s > 0 && from == 0;
  raw = qm_fetch_group<whole> (hidden ? work.token.data
                                      : work.x.row (b * work.keeps + from),
                               column, work.columns,
                               hidden ? work.token.type : work.x.type);
  if (work.position)
    raw_position = qm_fetch_group<whole> (work.position.row (s), column,
                                          work.columns, work.position.type);
  qm_unpack (raw, hidden ? work.token.type : work.x.type, x);
  qm_unpack (raw_position, work.position.type, position);
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    x[j] += position[j];
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, x);
}

struct RestoreBackward
{
  QmRows dy, dx;
  const int32_t *places;
  float *partial;             /* [parts, patches, columns] */
  int64_t batch, keeps, each; /* each: sequences of a part */
  int length, columns, groups;
};

/* A thread has one group of a token in the sequences of a part, in their order,
 * and adds up those in which it was hidden. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    restore_backward_kernel (const __grid_constant__ RestoreBackward work)
{
  constexpr int ahead = 8;
  int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int64_t begin = blockIdx.y * work.each, end = begin + work.each;
  int s = (int) (i / work.groups);
  int column = (int) (i % work.groups) * QM_GROUP;
  float sum[QM_GROUP] = {};

  if (s >= work.length)
    return;
  end = end < work.batch ? end : work.batch;
  for (int64_t b = begin; b < end; b += ahead)
    {
      QmRaw raw[ahead];
      int64_t to[ahead];

#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (b + u < end)
          {
            int64_t row = (b + u) * work.length + s;

            raw[u] = qm_fetch_group<whole> (work.dy.row (row), column,
                                            work.columns, work.dy.type);
            to[u] = s == 0 ? 0 : 1 + work.places[row - (b + u) - 1];
          }
#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (b + u < end)
          {
            float x[QM_GROUP];

            qm_unpack (raw[u], work.dy.type, x);
            if (s == 0 || to[u] > 0)
              qm_put_group<whole> (work.dx.row ((b + u) * work.keeps + to[u]),
                                   column, work.columns, work.dx.type, x);
            else
#pragma unroll
              for (int j = 0; j < QM_GROUP; j++)
                sum[j] += x[j];
          }
    }
  if (s == 0)
    return;
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    if (column + j < work.columns)
      work.partial[((int64_t) blockIdx.y * (work.length - 1) + s - 1)
                       * work.columns
                   + column + j] = sum[j];
}

struct PixelLoss
{
  QmRows x, dx;
  QmArray image;
  int64_t stride[4];
  const int32_t *places;
  const float *state;
  float *losses;
  QmDivisor channels, patch, across;
  int all, elements; /* all: patches */
  bool normalized;
  float weight, epsilon;

  /* Element `e` of a patch whose first pixel is at `first`. */
  __device__ __forceinline__ float
  pixel (int64_t first, int e) const
  {
    uint32_t channel, column;
    uint32_t pixel = channels.quotient ((uint32_t) e, channel);
    uint32_t row = patch.quotient (pixel, column);

    return qm_load (image, first + channel * stride[1] + row * stride[2]
                               + column * stride[3]);
  }
};

/* A block has a row. */
__global__ void
__launch_bounds__ (threads)
    pixel_loss_kernel (const __grid_constant__ PixelLoss work)
{
  __shared__ float shared[32];
  int64_t row = blockIdx.x, b = row / (work.all + 1);
  int s = (int) (row % (work.all + 1));
  bool hidden = s > 0 && work.places[row - b - 1] < 0;
  QmArray x = { work.x.row (row), work.x.type };
  QmArray dx = { work.dx.row (row), work.dx.type };
  float slope = 2 * work.weight * work.state[QM_STATE_LOSS_SCALE];
  float mean = 0, factor = 1, sum = 0;
  uint32_t across, down;
  int64_t first;

  if (!hidden)
    {
      for (int e = (int) threadIdx.x; e < work.elements; e += threads)
        qm_store (dx, e, 0);
      if (threadIdx.x == 0)
        work.losses[row] = 0;
      return;
    }
  down = work.across.quotient ((uint32_t) s - 1, across);
  first = b * work.stride[0]
          + (int64_t) down * work.patch.divisor * work.stride[2]
          + (int64_t) across * work.patch.divisor * work.stride[3];
  if (work.normalized)
    {
      for (int e = (int) threadIdx.x; e < work.elements; e += threads)
        sum += work.pixel (first, e);
      mean = qm_block_sum (sum, shared) / (float) work.elements;
      sum = 0;
      for (int e = (int) threadIdx.x; e < work.elements; e += threads)
        {
          float away = work.pixel (first, e) - mean;

          sum += away * away;
        }
      factor = rsqrtf (qm_block_sum (sum, shared) / (float) (work.elements - 1)
                       + work.epsilon);
      sum = 0;
    }
  for (int e = (int) threadIdx.x; e < work.elements; e += threads)
    {
      float wrong = qm_load (x, e) - (work.pixel (first, e) - mean) * factor;

      sum += wrong * wrong;
      qm_store (dx, e, slope * wrong);
    }
  sum = qm_block_sum (sum, shared);
  if (threadIdx.x == 0)
    work.losses[row] = work.weight * sum;
}

} /* namespace */

QmStatus
qm_cuda_mask_patches (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  Mask work = { .noise = (const float *) in[0].data,
                .rng = (const int32_t *) in[1].data,
                .kept = (int32_t *) out[0].data,
                .places = (int32_t *) out[1].data,
                .batch = out[1].shape[0],
                .all = (int) out[1].shape[1],
                .keeps = (int) out[0].shape[1],
                .site = call->attributes.site };

  mask_kernel<<<(unsigned) work.batch, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_restore_tokens (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  const QmTensor *in = call->inputs, &y = call->outputs[0];
  int64_t batch = in[2].shape[0], length = in[2].shape[1] + 1;
  int64_t groups = (y.shape[1] + QM_GROUP - 1) / QM_GROUP;
  int64_t each = length * groups;
  Restore work = { .x = qm_rows (in[0]),
                   .token = qm_rows (in[1]),
                   .position = qm_rows (in[3]),
                   .y = qm_rows (y),
                   .places = (const int32_t *) in[2].data,
                   .length = qm_divisor (length),
                   .groups = qm_divisor (groups),
                   .keeps = in[0].shape[0] / batch,
                   .columns = (int) y.shape[1] };
  bool whole = qm_cuda_vectors (&y, QM_GROUP)
               && qm_cuda_vectors (&in[0], QM_GROUP)
               && qm_cuda_vectors (&in[1], QM_GROUP)
               && qm_cuda_vectors (&in[3], QM_GROUP);

  for (int64_t b = 0, n; b < batch; b += n)
    {
      n = batch - b < qm_slice (each) ? batch - b : qm_slice (each);
      work.first = (uint32_t) b;
      work.items = (uint32_t) (n * each);
      if (whole)
        restore_kernel<true>
            <<<qm_blocks (work.items, threads), threads, 0, stream>>> (work);
      else
        restore_kernel<false>
            <<<qm_blocks (work.items, threads), threads, 0, stream>>> (work);
    }
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_restore_tokens_backward (QmCudaContext *context,
                                 cudaStream_t stream,
                                 const QmOpCall *call,
                                 QmError *error)
{
  const QmTensor &dy = call->inputs[0], &places = call->inputs[1];
  const QmTensor *out = call->outputs;
  int64_t batch = places.shape[0], columns = dy.shape[1], parts;
  RestoreBackward work = { .dy = qm_rows (dy),
                           .dx = qm_rows (out[0]),
                           .places = (const int32_t *) places.data,
                           .partial = (float *) call->workspace,
                           .batch = batch,
                           .keeps = out[0].shape[0] / batch,
                           .length = (int) places.shape[1] + 1,
                           .columns = (int) columns,
                           .groups =
                               (int) ((columns + QM_GROUP - 1) / QM_GROUP) };
  dim3 grid ((unsigned) (((int64_t) work.length * work.groups + 127) / 128));
  QmStatus status;

  work.each = (batch + QM_CUDA_MASK_PARTS - 1) / QM_CUDA_MASK_PARTS;
  parts = (batch + work.each - 1) / work.each;
  grid.y = (unsigned) parts;
  if (qm_cuda_vectors (&dy, QM_GROUP) && qm_cuda_vectors (&out[0], QM_GROUP))
    restore_backward_kernel<true><<<grid, 128, 0, stream>>> (work);
  else
    restore_backward_kernel<false><<<grid, 128, 0, stream>>> (work);
  status = qm_cuda_launched (call, error);
  return status == QM_OK
             ? qm_cuda_add_parts (stream, work.partial, parts * places.shape[1],
                                  columns, 1, (float *) out[1].data, error)
             : status;
}

QmStatus
qm_cuda_pixel_loss (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const QmTensor *in = call->inputs, &dx = call->outputs[0];
  int64_t batch = in[2].shape[0], elements = in[0].shape[1];
  PixelLoss work = { .x = qm_rows (in[0]),
                     .dx = qm_rows (dx),
                     .image = qm_array (in[1]),
                     .places = (const int32_t *) in[2].data,
                     .state = (const float *) in[3].data,
                     .losses = (float *) call->outputs[1].data,
                     .channels = qm_divisor (in[1].shape[1]),
                     .patch = qm_divisor (attributes.patch),
                     .across = qm_divisor (in[1].shape[3] / attributes.patch),
                     .all = (int) in[2].shape[1],
                     .elements = (int) elements,
                     .normalized = attributes.normalized,
                     .weight = (float) (attributes.scale
                                        / ((double) (batch * attributes.count)
                                           * (double) elements)),
                     .epsilon = (float) attributes.epsilon };

  for (int i = 0; i < 4; i++)
    work.stride[i] = in[1].stride[i];
  pixel_loss_kernel<<<(unsigned) in[0].shape[0], threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
