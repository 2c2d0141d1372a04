/* SPDX-License-Identifier: Apache-2.0 */

/* The loss.  A block reads its row of logits once, and keeps it in shared
 * memory until it writes the gradient; a row that does not fit there is read
 * again, then out of the cache.  On Hopper the copy engine fetches the next
 * long row meanwhile, and what does not fit into a block is divided between
 * some. */

#include "kernels/cuda/loss-stream.cuh"

using namespace qm_loss;

namespace
{

Labels
labels_of (const QmOpCall *call, const QmTensor &labels)
{
  return { (const int32_t *) labels.data, labels.shape[1],
           call->attributes.first, call->attributes.shift };
}

/* One block.  With `shift` the labels that count are those that are not the
 * first of a sequence. */
__global__ void __launch_bounds__ (1024) weight_kernel (const Labels labels,
                                                        int64_t n,
                                                        double scale,
                                                        const float *state,
                                                        float *weight)
{
  __shared__ long long counts[32];
  long long count = 0;

#pragma unroll 8
  for (int64_t t = threadIdx.x; t < n; t += 1024)
    count += labels.labels[t] != QM_IGNORE_LABEL;
  if (labels.shift)
    for (int64_t t = threadIdx.x * labels.length; t < n;
         t += 1024 * labels.length)
      count -= labels.labels[t] != QM_IGNORE_LABEL;
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    count += __shfl_xor_sync (0xffffffffu, count, lanes);
  if (threadIdx.x % 32 == 0)
    counts[threadIdx.x / 32] = count;
  __syncthreads ();
  if (threadIdx.x != 0)
    return;
  for (int warp = 1; warp < 32; warp++)
    count += counts[warp];
  weight[0] = count > 0 ? (float) (scale / (double) count) : 0;
  weight[1] = weight[0] * state[QM_STATE_LOSS_SCALE];
}

/* Groups of the row as they are in memory: their first halves, then, of f32,
 * the second ones.  Each thread finds here what it put here. */
extern __shared__ uint4 kept_row[];

/* A group of logits; what is not in the row is 0. */
__device__ __forceinline__ QmRaw
fetch_logits (const Loss &loss, const char *row, int column)
{
  if (loss.aligned && column >= 0 && column + QM_GROUP <= loss.classes)
    return qm_fetch (row, column, loss.logits.type);
  return qm_fetch_part (row, column, loss.classes, loss.logits.type);
}

/* The largest of a row and the sum of exp (x - largest), as far as one thread
 * sees it, up to now. */
struct Exponentials
{
  float largest, sum;

  __device__ __forceinline__ void
  add (const float (&x)[QM_GROUP], int column, int classes)
  {
    float most = largest, offset;

    if (column >= 0 && column + QM_GROUP <= classes)
      {
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          most = fmaxf (most, x[i]);
        scale_to (most);
        offset = -most * log2_e;
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          sum += qm_power_of_2 (fmaf (x[i], log2_e, offset));
        return;
      }
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      if (column + i >= 0 && column + i < classes)
        most = fmaxf (most, x[i]);
    scale_to (most);
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      if (column + i >= 0 && column + i < classes)
        sum += qm_power_of_2 (fmaf (x[i], log2_e, -most * log2_e));
  }

  __device__ __forceinline__ void
  scale_to (float most)
  {
    if (most > largest)
      {
        sum *= qm_power_of_2 ((largest - most) * log2_e);
        largest = most;
      }
  }
};

/* Groups that a row may have, with what is before it. */
__host__ __device__ __forceinline__ int
kept_groups (int classes)
{
  return (classes + 2 * QM_GROUP - 2) / QM_GROUP;
}

__device__ __forceinline__ void
keep (const Loss &loss, int column, const QmRaw &raw)
{
  int at = (column + QM_GROUP - 1) / QM_GROUP;

  kept_row[at] = raw.low;
  if (loss.logits.type == QM_TYPE_F32)
    kept_row[kept_groups (loss.classes) + at] = raw.high;
}

__device__ __forceinline__ QmRaw
find (const Loss &loss, const char *row, int column)
{
  int at = (column + QM_GROUP - 1) / QM_GROUP;
  QmRaw raw = {};

  if (!loss.kept)
    return fetch_logits (loss, row, column);
  if (column >= loss.classes)
    return raw;
  raw.low = kept_row[at];
  if (loss.logits.type == QM_TYPE_F32)
    raw.high = kept_row[kept_groups (loss.classes) + at];
  return raw;
}

/* Over the block. */
template <int threads, bool capped>
__device__ __forceinline__ Exponentials
sum_row (const Loss &loss, const char *row, int first)
{
  constexpr int ahead = 2;
  __shared__ float shared[2][32];
  Exponentials all = { -FLT_MAX, 0 };
  float most;

  for (int column = first; column < loss.classes;
       column += ahead * threads * QM_GROUP)
    {
      QmRaw raw[ahead];

#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (column + i * threads * QM_GROUP < loss.classes)
          raw[i] = fetch_logits (loss, row, column + i * threads * QM_GROUP);
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (column + i * threads * QM_GROUP < loss.classes)
          {
            float x[QM_GROUP];

            if (loss.kept)
              keep (loss, column + i * threads * QM_GROUP, raw[i]);
            qm_unpack (raw[i], loss.logits.type, x);
            if (capped)
#pragma unroll
              for (int j = 0; j < QM_GROUP; j++)
                x[j] = loss.cap * cap_share (loss, x[j]);
            all.add (x, column + i * threads * QM_GROUP, loss.classes);
          }
    }
  most = qm_row_max<threads> (all.largest, shared[0]);
  all.scale_to (most);
  all.sum = qm_row_sum<threads> (all.sum, shared[1]);
  return all;
}

/* weight x (softmax - 1 at the label), for one group; of capped logits, times
 * the slope of that. */
template <bool capped>
__device__ __forceinline__ void
gradients (const Loss &loss,
           float (&x)[QM_GROUP],
           int column,
           int32_t label,
           float offset,
           float factor,
           float weight)
{
  float slope[QM_GROUP];

#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      if (capped)
        {
          float share = cap_share (loss, x[i]);

          slope[i] = fmaf (-share, share, 1);
          x[i] = loss.cap * share;
        }
      x[i] = factor * qm_power_of_2 (fmaf (x[i], log2_e, offset));
    }
  if (label >= column && label < column + QM_GROUP)
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      x[i] -= column + i == label ? weight : 0;
  if (capped)
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      x[i] *= slope[i];
  if (column + QM_GROUP > loss.classes)
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      x[i] = column + i < loss.classes ? x[i] : 0;
}

template <int threads, bool capped>
__global__ void
__launch_bounds__ (threads, threads == 128 ? 8 : 2)
    loss_kernel (const __grid_constant__ Loss loss)
{
  constexpr int ahead = 2;
  int64_t t = blockIdx.x;
  const char *row = loss.logits.row (t);
  char *to = loss.dlogits.row (t);
  /* Groups begin where memory is aligned, even if rows do not. */
  int before = loss.aligned
                   ? (int) ((uintptr_t) row / loss.logits.size () % QM_GROUP)
                   : 0;
  int first = (int) threadIdx.x * QM_GROUP - before;
  int32_t label = loss.labels.at (t);
  float weight = loss.weight[1], wanted, offset, factor, total;
  Exponentials all;

  if (label < 0 || label >= loss.classes)
    {
      write_ignored<threads> (loss, t, label, first, threadIdx.x == 0);
      return;
    }
  wanted = qm_load ({ (void *) row, loss.logits.type }, label);
  if (capped)
    wanted = loss.cap * cap_share (loss, wanted);
  all = sum_row<threads, capped> (loss, row, first);
  total = logf (all.sum) + all.largest;
  if (threadIdx.x == 0)
    loss.losses[t] = loss.weight[0]
                     * (logf (all.sum) + (all.largest - wanted)
                        + loss.z_loss * total * total);
  offset = -all.largest * log2_e;
  factor = weight / all.sum * fmaf (2 * loss.z_loss, total, 1);
  for (int column = first; column < loss.columns;
       column += ahead * threads * QM_GROUP)
    {
      QmRaw raw[ahead];
      float x[QM_GROUP];

#pragma unroll
      for (int i = 0; i < ahead; i++)
        raw[i] = find (loss, row, column + i * threads * QM_GROUP);
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (column + i * threads * QM_GROUP < loss.columns)
          {
            int at = column + i * threads * QM_GROUP;

            qm_unpack (raw[i], loss.logits.type, x);
            gradients<capped> (loss, x, at, label, offset, factor, weight);
            put_gradients (loss, to, at, x);
          }
    }
}

template <int threads, bool capped>
void
launch_kernel (const QmCudaContext *context,
               cudaStream_t stream,
               Loss loss,
               unsigned rows)
{
  size_t bytes = (size_t) kept_groups (loss.classes) * QM_GROUP
                 * (loss.logits.type == QM_TYPE_F32 ? 4 : 2);
  /* Two blocks have to fit, with what else they have, or the memory stands
   * still while one of them computes. */
  size_t room = context->shared_bytes / 2 - 1024;

  loss.kept =
      bytes <= room
      && cudaFuncSetAttribute (loss_kernel<threads, capped>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) room)
             == cudaSuccess;
  loss_kernel<threads, capped>
      <<<rows, threads, loss.kept ? bytes : 0, stream>>> (loss);
}

template <int threads>
void
launch (const QmCudaContext *context,
        cudaStream_t stream,
        const Loss &loss,
        unsigned rows)
{
  if (loss.cap > 0)
    launch_kernel<threads, true> (context, stream, loss, rows);
  else
    launch_kernel<threads, false> (context, stream, loss, rows);
}

/* Whether groups can be accessed at once: both rows are aligned to a group in
 * the same places. */
bool
is_aligned (const QmTensor &logits, const QmTensor &dlogits)
{
  int64_t from = logits.stride[0] % QM_GROUP;
  int64_t to = dlogits.stride[0] % QM_GROUP;

  return (uintptr_t) logits.data % 32 == 0 && (uintptr_t) dlogits.data % 32 == 0
         && from == to;
}

} /* namespace */

QmStatus
qm_cuda_label_weight (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  const QmTensor *labels = &call->inputs[0];

  weight_kernel<<<1, 1024, 0, stream>>> (labels_of (call, *labels),
                                         qm_tensor_elements (labels),
                                         call->attributes.scale,
                                         (const float *) call->inputs[1].data,
                                         (float *) call->outputs[0].data);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_cross_entropy (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor &logits = call->inputs[0], &dlogits = call->outputs[0];
  int64_t classes = logits.shape[1], padded = call->attributes.padded;
  Loss loss = { .logits = qm_rows (logits),
                .dlogits = qm_rows (dlogits),
                .labels = labels_of (call, call->inputs[1]),
                .weight = (const float *) call->inputs[2].data,
                .losses = (float *) call->outputs[1].data,
                .classes = (int) classes,
                .columns = (int) (padded > classes ? padded : classes),
                .aligned = is_aligned (logits, dlogits),
                .kept = false,
                .cap = (float) call->attributes.cap,
                .z_loss = (float) call->attributes.z_loss };
  unsigned rows = (unsigned) logits.shape[0];
  cudaError_t code = stream_rows (context, stream, loss, rows);

  if (code == cudaErrorNotSupported)
    {
      if (classes <= 4096)
        launch<128> (context, stream, loss, rows);
      else
        launch<768> (context, stream, loss, rows);
    }
  else if (code != cudaSuccess)
    return qm_cuda_failed (code, "cross_entropy", error);
  return qm_cuda_launched (call, error);
}
