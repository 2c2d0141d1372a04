/* SPDX-License-Identifier: Apache-2.0 */

/* Tables that are looked up: rows gathered, and positions counted. */

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
