/* SPDX-License-Identifier: Apache-2.0 */

/* Tables that are looked up: rows gathered, positions counted, and what is done
 * to rows by their tokens. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Gather
{
  const int32_t *ids;
  QmRows w, y;
  QmDivisor groups; /* of eight a row */
  uint32_t items;
  int columns;
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    gather_kernel (const __grid_constant__ Gather gather)
{
  constexpr int each = 4;
  uint32_t first = blockIdx.x * (256 * each) + threadIdx.x;
  uint32_t row[each], group[each];
  QmRaw raw[each];

#pragma unroll
  for (int u = 0; u < each; u++)
    if (first + u * 256 < gather.items)
      {
        row[u] = gather.groups.quotient (first + u * 256, group[u]);
        raw[u] = qm_fetch_group<whole> (gather.w.row (gather.ids[row[u]]),
                                        group[u] * QM_GROUP, gather.columns,
                                        gather.w.type);
      }
#pragma unroll
  for (int u = 0; u < each; u++)
    if (first + u * 256 < gather.items)
      {
        float x[QM_GROUP];

        qm_unpack (raw[u], gather.w.type, x);
        qm_put_group<whole> (gather.y.row (row[u]), group[u] * QM_GROUP,
                             gather.columns, gather.y.type, x);
      }
}

/* One block a sequence; `padding` as in the table of operators. */
__global__ void
positions_kernel (const int32_t *ids, int32_t *y, int64_t length, int padding)
{
  __shared__ int counts[32];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int64_t first = blockIdx.x * length;
  int before = 0;

  for (int64_t begin = 0; begin < length; begin += blockDim.x)
    {
      int64_t s = begin + threadIdx.x;
      bool counted = s < length && (padding < 0 || ids[first + s] != padding);
      unsigned mask = __ballot_sync (0xffffffffu, counted);
      int rank = __popc (mask & ((2u << lane) - 1)), total = 0;

      __syncthreads ();
      if (lane == 0)
        counts[warp] = __popc (mask);
      __syncthreads ();
      for (int w = 0; w < (int) blockDim.x / 32; w++)
        {
          if (w == warp)
            rank += total;
          total += counts[w];
        }
      if (s < length)
        y[first + s] = padding < 0 ? (int32_t) s
                       : counted   ? padding + before + rank
                                   : padding;
      before += total;
    }
}

struct TokenDropout
{
  const int32_t *ids;
  QmRows x, y;
  int length, columns;
  int hidden;
  float value;
  unsigned blocks; /* of a sequence */
};

/* Rows of a block: few enough to fill a GPU, and so many that counting the
 * tokens of their sequence is little beside them. */
#define DROPOUT_ROWS 16

template <bool whole>
__global__ void __launch_bounds__ (256)
    token_dropout_kernel (const __grid_constant__ TokenDropout dropout)
{
  __shared__ int seen;
  const int64_t sequence = blockIdx.x / dropout.blocks;
  const int first = (int) (blockIdx.x % dropout.blocks) * DROPOUT_ROWS;
  const int end = min (first + DROPOUT_ROWS, dropout.length);
  const int32_t *ids = dropout.ids + sequence * dropout.length;
  const int groups = (dropout.columns + QM_GROUP - 1) / QM_GROUP;
  int own = 0;
  float factor;

  if (threadIdx.x == 0)
    seen = 0;
  __syncthreads ();
  for (int s = (int) threadIdx.x; s < dropout.length; s += 256)
    own += ids[s] != dropout.hidden;
  atomicAdd (&seen, own);
  __syncthreads ();
  factor = dropout.value * (float) dropout.length / (float) seen;
  for (int s = first; s < end; s++)
    {
      const int64_t row = sequence * dropout.length + s;
      const bool hidden = ids[s] == dropout.hidden;

      for (int group = (int) threadIdx.x; group < groups; group += 256)
        {
          float x[QM_GROUP];

          qm_unpack (qm_fetch_group<whole> (dropout.x.row (row),
                                            group * QM_GROUP, dropout.columns,
                                            dropout.x.type),
                     dropout.x.type, x);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            x[i] = hidden ? 0 : factor * x[i];
          qm_put_group<whole> (dropout.y.row (row), group * QM_GROUP,
                               dropout.columns, dropout.y.type, x);
        }
    }
}

} /* namespace */

QmStatus
qm_cuda_embedding (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor *w = &call->inputs[1], *y = &call->outputs[0];
  int64_t rows = y->shape[0], groups = (y->shape[1] + QM_GROUP - 1) / QM_GROUP;
  Gather gather = { .ids = (const int32_t *) call->inputs[0].data,
                    .w = qm_rows (*w),
                    .y = qm_rows (*y),
                    .groups = qm_divisor (groups),
                    .columns = (int) y->shape[1] };
  bool whole = qm_cuda_vectors (w, QM_GROUP) && qm_cuda_vectors (y, QM_GROUP);

  for (int64_t row = 0, n; row < rows; row += n)
    {
      n = rows - row < qm_slice (groups) ? rows - row : qm_slice (groups);
      gather.items = (uint32_t) (n * groups);
      if (whole)
        gather_kernel<true>
            <<<qm_blocks (gather.items, 1024), 256, 0, stream>>> (gather);
      else
        gather_kernel<false>
            <<<qm_blocks (gather.items, 1024), 256, 0, stream>>> (gather);
      gather.ids += n;
      gather.y.data += n * gather.y.stride;
    }
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_positions (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor *ids = &call->inputs[0];

  positions_kernel<<<(unsigned) ids->shape[0], 256, 0, stream>>> (
      (const int32_t *) ids->data, (int32_t *) call->outputs[0].data,
      ids->shape[1], (int) call->attributes.padding);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_token_dropout (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int64_t *shape = call->inputs[1].shape;
  const unsigned blocks =
      (unsigned) ((shape[1] + DROPOUT_ROWS - 1) / DROPOUT_ROWS);
  const TokenDropout dropout = { .ids = (const int32_t *) call->inputs[1].data,
                                 .x = qm_rows (*x),
                                 .y = qm_rows (*y),
                                 .length = (int) shape[1],
                                 .columns = (int) x->shape[1],
                                 .hidden = (int) call->attributes.padding,
                                 .value = (float) call->attributes.value,
                                 .blocks = blocks };
  const unsigned grid = (unsigned) shape[0] * blocks;

  if (qm_cuda_vectors (x, QM_GROUP) && qm_cuda_vectors (y, QM_GROUP))
    token_dropout_kernel<true><<<grid, 256, 0, stream>>> (dropout);
  else
    token_dropout_kernel<false><<<grid, 256, 0, stream>>> (dropout);
  return qm_cuda_launched (call, error);
}
