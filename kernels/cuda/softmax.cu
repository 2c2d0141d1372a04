/* SPDX-License-Identifier: Apache-2.0 */

/* Softmax over rows that are kept in registers.  Rows are dense, so those of an
 * odd length begin anywhere; groups begin where memory is aligned, and the
 * first and the last of a row may belong to it only in part. */

#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Softmax
{
  QmRows x, p, out; /* p: of the gradient, else NULL */
  int64_t rows;
  int columns;
  int before, after; /* row i sees columns i - before .. i + after */
  bool aligned;

  __device__ __forceinline__ QmRaw
  fetch (const QmRows &from, int64_t row, int column, int limit) const
  {
    if (column >= limit)
      return QmRaw{};
    if (aligned && column >= 0 && column + QM_GROUP <= limit)
      return qm_fetch (from.row (row), column, from.type);
    return qm_fetch_part (from.row (row), column, limit, from.type);
  }

  __device__ __forceinline__ void
  put (int64_t row, int column, const float (&y)[QM_GROUP]) const
  {
    if (aligned && column >= 0 && column + QM_GROUP <= columns)
      qm_put (out.row (row), column, out.type, y);
    else
      qm_put_part (out.row (row), column, columns, out.type, y);
  }

  /* The column of a thread's first group. */
  __device__ __forceinline__ int
  first (int64_t row, int lane) const
  {
    int before = aligned ? (int) (row * columns % QM_GROUP) : 0;

    return lane * QM_GROUP - before;
  }
};

template <int threads, int groups>
__global__ void
__launch_bounds__ (threads == 32 ? 128 : threads)
    softmax_kernel (const __grid_constant__ Softmax softmax)
{
  constexpr int each = threads == 32 ? 4 : 1;
  __shared__ float shared[2][32];
  int lane = (int) threadIdx.x % threads;

  for (int64_t row = (int64_t) blockIdx.x * each + threadIdx.x / threads;
       row < softmax.rows; row += (int64_t) gridDim.x * each)
    {
      int n = softmax.columns, first = softmax.first (row, lane);
      int at = (int) (row % n), begin = max (at - softmax.before, 0);
      int limit = min (at + softmax.after + 1, n);
      float x[groups][QM_GROUP], most = -INFINITY, sum = 0;
      QmRaw raw[groups];

#pragma unroll
      for (int g = 0; g < groups; g++)
        raw[g] = softmax.fetch (softmax.x, row, first + g * threads * QM_GROUP,
                                limit);
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          int column = first + g * threads * QM_GROUP;

          if (column >= limit)
            break;
          qm_unpack (raw[g], softmax.x.type, x[g]);
          if (column < begin || column + QM_GROUP > limit)
#pragma unroll
            for (int i = 0; i < QM_GROUP; i++)
              if (column + i < begin || column + i >= limit)
                x[g][i] = -INFINITY;
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            most = fmaxf (most, x[g][i]);
        }
      most = qm_row_max<threads> (most, shared[0]);
#pragma unroll
      for (int g = 0; g < groups; g++)
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          {
            int column = first + g * threads * QM_GROUP + i;

            x[g][i] =
                column >= begin && column < limit ? __expf (x[g][i] - most) : 0;
            sum += x[g][i];
          }
      sum = 1 / qm_row_sum<threads> (sum, shared[1]);
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            x[g][i] *= sum;
          softmax.put (row, first + g * threads * QM_GROUP, x[g]);
        }
    }
}

template <int threads, int groups>
__global__ void
__launch_bounds__ (threads == 32 ? 128 : threads)
    softmax_backward_kernel (const __grid_constant__ Softmax softmax)
{
  constexpr int each = threads == 32 ? 4 : 1;
  __shared__ float shared[2][32];
  int lane = (int) threadIdx.x % threads, parity = 0;

  for (int64_t row = (int64_t) blockIdx.x * each + threadIdx.x / threads;
       row < softmax.rows;
       row += (int64_t) gridDim.x * each, parity = 1 - parity)
    {
      int n = softmax.columns, first = softmax.first (row, lane);
      float dp[groups][QM_GROUP], p[groups][QM_GROUP], dot = 0;
      QmRaw raw[groups], raw_p[groups];

#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          int column = first + g * threads * QM_GROUP;

          raw[g] = softmax.fetch (softmax.x, row, column, n);
          raw_p[g] = softmax.fetch (softmax.p, row, column, n);
        }
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          qm_unpack (raw[g], softmax.x.type, dp[g]);
          qm_unpack (raw_p[g], softmax.p.type, p[g]);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            dot += dp[g][i] * p[g][i];
        }
      dot = qm_row_sum<threads> (dot, shared[parity]);
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            dp[g][i] = p[g][i] * (dp[g][i] - dot);
          softmax.put (row, first + g * threads * QM_GROUP, dp[g]);
        }
    }
}

template <int threads, int groups>
void
launch (const QmCudaContext *context,
        cudaStream_t stream,
        const Softmax &softmax)
{
  constexpr int block = threads == 32 ? 128 : threads;
  auto kernel = softmax.p.data != nullptr
                    ? softmax_backward_kernel<threads, groups>
                    : softmax_kernel<threads, groups>;
  int64_t blocks = threads == 32 ? (softmax.rows + 3) / 4 : softmax.rows;

  kernel<<<qm_resident (context, kernel, block, blocks), block, 0, stream>>> (
      softmax);
}

static_assert (1024 * 4 * QM_GROUP - QM_GROUP == QM_CUDA_SOFTMAX_COLUMNS,
               "longer rows do not fit the registers of a block");

QmStatus
run (const QmCudaContext *context,
     cudaStream_t stream,
     const QmOpCall *call,
     const QmTensor *p,
     QmError *error)
{
  int64_t n = call->inputs[0].shape[3], window = call->attributes.window;
  int reach = (int) (window > 0 && window < n ? window - 1 : n);
  Softmax softmax = {
    .x = qm_dense_rows (call->inputs[0], n),
    .out = qm_dense_rows (call->outputs[0], n),
    .rows = qm_tensor_elements (&call->inputs[0]) / n,
    .columns = (int) n,
    .before = reach,
    .after = call->attributes.causal != QM_CAUSAL_NONE ? 0 : reach,
  };
  /* With the part of a group that may be before the row. */
  int64_t room = n % QM_GROUP == 0 ? n : n + QM_GROUP - 1;

  if (p != nullptr)
    softmax.p = qm_dense_rows (*p, n);
  softmax.aligned = (uintptr_t) softmax.x.data % 16 == 0
                    && (uintptr_t) softmax.p.data % 16 == 0
                    && (uintptr_t) softmax.out.data % 16 == 0;
  if (room <= 256)
    launch<32, 1> (context, stream, softmax);
  else if (room <= 512)
    launch<32, 2> (context, stream, softmax);
  else if (room <= 1024)
    launch<128, 1> (context, stream, softmax);
  else if (room <= 2048)
    launch<256, 1> (context, stream, softmax);
  else if (room <= 4096)
    launch<256, 2> (context, stream, softmax);
  else
    launch<1024, 4> (context, stream, softmax);
  return qm_cuda_launched (call, error);
}

} /* namespace */

QmStatus
qm_cuda_softmax (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  return run (context, stream, call, nullptr, error);
}

QmStatus
qm_cuda_softmax_backward (QmCudaContext *context,
                          cudaStream_t stream,
                          const QmOpCall *call,
                          QmError *error)
{
  return run (context, stream, call, &call->inputs[1], error);
}
