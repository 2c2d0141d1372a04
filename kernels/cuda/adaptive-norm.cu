/* SPDX-License-Identifier: Apache-2.0 */

/* Norms of samples, of rows that a block keeps in registers.  A block has rows
 * that follow each other, so that what is told of their sample stays in
 * registers, too, and fetches the next one while it works on one: four blocks
 * on each multiprocessor then have as much under way as its memory takes. */

#include "kernels/cuda/adaptive-norm.h"
#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

constexpr int most_threads = 256, most_warps = most_threads / 32;

struct KeptNorm
{
  QmRows x, shift, scale, a, gate, y, sum;
  float *mean, *rstd;
  int64_t rows, each; /* each: rows of a sample */
  int columns;
  float epsilon;
};

template <QmType type>
__device__ __forceinline__ void
fetch_kept (const QmRows &from, int64_t row, int column, int columns, QmRaw &to)
{
  to = qm_fetch_group<true> (from.row (row), column, columns, type);
}

/* The sum over a block of what is in `shared`, of which absent warps have 0. */
__device__ __forceinline__ float
sum_of_warps (const float *shared)
{
  const float4 low = *(const float4 *) shared;
  const float4 high = *(const float4 *) (shared + 4);

  return ((low.x + low.y) + (low.z + low.w))
         + ((high.x + high.y) + (high.z + high.w));
}

/* Calls that follow each other take different memory. */
__device__ __forceinline__ float
sum_over_block (float x, float *shared)
{
  x = qm_warp_sum (x);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  return sum_of_warps (shared);
}

/* Two at once: half a warp has one of them, half the other. */
__device__ __forceinline__ float2
sum_both_over_block (float first, float second, float (*shared)[most_warps])
{
  int half = (int) threadIdx.x % 32 / 16;
  float sum = half == 0 ? first : second, other = half == 0 ? second : first;

  sum += __shfl_xor_sync (0xffffffffu, other, 16);
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, lanes);
  if (threadIdx.x % 16 == 0)
    shared[half][threadIdx.x / 32] = sum;
  __syncthreads ();
  return make_float2 (sum_of_warps (shared[0]), sum_of_warps (shared[1]));
}

/* x + gate a. */
template <QmType type>
__device__ __forceinline__ void
add_gated (const QmRaw &raw_a, const QmRaw &raw_gate, float (&x)[QM_GROUP])
{
  float a[QM_GROUP], gate[QM_GROUP];

  qm_unpack (raw_a, type, a);
  qm_unpack (raw_gate, type, gate);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    x[i] += gate[i] * a[i];
}

template <QmType type, bool gated>
__global__ void
__launch_bounds__ (most_threads, type == QM_TYPE_F32 ? 3 : 4)
    kept_kernel (const __grid_constant__ KeptNorm norm)
{
  __shared__ __align__ (16) float shared[2][most_warps];
  const int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  const int64_t end = norm.rows * (blockIdx.x + 1) / gridDim.x;
  int64_t row = norm.rows * blockIdx.x / gridDim.x, turn = row;
  const float share = 1 / (float) columns;
  QmRaw x, a, shift, scale, gate;

  if (threadIdx.x < 2 * most_warps)
    shared[threadIdx.x / most_warps][threadIdx.x % most_warps] = 0;
  __syncthreads ();
  fetch_kept<QM_TYPE_F32> (norm.x, row, column, columns, x);
  if (gated)
    fetch_kept<type> (norm.a, row, column, columns, a);
  for (; row < end; row++)
    {
      float n[QM_GROUP], mean = 0, squares = 0, rstd;

      if (row == turn)
        {
          int64_t b = row / norm.each;

          turn = (b + 1) * norm.each;
          fetch_kept<type> (norm.shift, b, column, columns, shift);
          fetch_kept<type> (norm.scale, b, column, columns, scale);
          if (gated)
            fetch_kept<type> (norm.gate, b, column, columns, gate);
        }
      qm_unpack (x, QM_TYPE_F32, n);
      if (gated)
        add_gated<type> (a, gate, n);
      if (row + 1 < end)
        {
          fetch_kept<QM_TYPE_F32> (norm.x, row + 1, column, columns, x);
          if (gated)
            fetch_kept<type> (norm.a, row + 1, column, columns, a);
        }
      if (gated)
        qm_put_group<true> (norm.sum.row (row), column, columns, QM_TYPE_F32,
                            n);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        mean += n[i];
      mean = sum_over_block (mean, shared[0]) * share;
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        {
          n[i] -= mean;
          squares += n[i] * n[i];
        }
      squares = sum_over_block (column < columns ? squares : 0, shared[1]);
      rstd = rsqrtf (squares * share + norm.epsilon);
      if (threadIdx.x == 0)
        {
          norm.mean[row] = mean;
          norm.rstd[row] = rstd;
        }
      {
        float one[QM_GROUP], y[QM_GROUP];

        qm_unpack (scale, type, one);
        qm_unpack (shift, type, y);
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          y[i] += n[i] * rstd * (1 + one[i]);
        qm_put_group<true> (norm.y.row (row), column, columns, type, y);
      }
    }
}

struct KeptBackward
{
  QmRows dy, sum, scale, dsum, a, gate, dx, da;
  QmRows sums[3]; /* dshift, dscale and dgate */
  const float *mean, *rstd;
  float *parts; /* [batch, parts, 3 or 2, columns]; NULL: there is one */
  int64_t each;
  int columns;
};

/* What a thread has of a row.  What the sums over the row need is fetched for
 * the next one before these are there, the rest when it was used. */
template <QmType type, bool gated> struct KeptRow
{
  QmRaw dy, sum, dsum, a;
  float mean, rstd;

  __device__ __forceinline__ void
  fetch_first (const KeptBackward &norm, int64_t row, int column)
  {
    fetch_kept<type> (norm.dy, row, column, norm.columns, dy);
    fetch_kept<QM_TYPE_F32> (norm.sum, row, column, norm.columns, sum);
    mean = norm.mean[row];
    rstd = norm.rstd[row];
  }

  __device__ __forceinline__ void
  fetch_second (const KeptBackward &norm, int64_t row, int column)
  {
    dsum = QmRaw{};
    if (norm.dsum)
      fetch_kept<QM_TYPE_F32> (norm.dsum, row, column, norm.columns, dsum);
    if (gated)
      fetch_kept<type> (norm.a, row, column, norm.columns, a);
  }
};

/* dx, and what the gate makes of it. */
template <QmType type, bool gated>
__device__ __forceinline__ void
write_kept (const KeptBackward &norm,
            int64_t row,
            int column,
            const QmRaw &raw_a,
            const QmRaw &raw_gate,
            float (&dx)[QM_GROUP],
            float (&dgate)[QM_GROUP])
{
  float a[QM_GROUP], gate[QM_GROUP];

  qm_put_group<true> (norm.dx.row (row), column, norm.columns, QM_TYPE_F32, dx);
  if (!gated)
    return;
  qm_unpack (raw_a, type, a);
  qm_unpack (raw_gate, type, gate);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      dgate[i] += a[i] * dx[i];
      dx[i] *= gate[i];
    }
  qm_put_group<true> (norm.da.row (row), column, norm.columns, type, dx);
}

/* The sums of a block, to their part or, where it has a whole sample, to where
 * they belong. */
template <QmType type, bool gated>
__device__ __forceinline__ void
write_sums (const KeptBackward &norm,
            int column,
            const float (&sums)[gated ? 3 : 2][QM_GROUP])
{
  constexpr int n = gated ? 3 : 2;
  int64_t part = (int64_t) blockIdx.y * gridDim.x + blockIdx.x;

#pragma unroll
  for (int k = 0; k < n; k++)
    if (norm.parts == nullptr)
      qm_put_group<true> (norm.sums[k].row (blockIdx.y), column, norm.columns,
                          type, sums[k]);
    else
      qm_put_group<true> ((char *) (norm.parts + (part * n + k) * norm.columns),
                          column, norm.columns, QM_TYPE_F32, sums[k]);
}

/* A row of blocks has a sample, and each of them an equal share of its rows. */
template <QmType type, bool gated>
__global__ void
__launch_bounds__ (most_threads, 2)
    kept_backward_kernel (const __grid_constant__ KeptBackward norm)
{
  __shared__ __align__ (16) float shared[2][2][most_warps];
  const int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  const int64_t begin = blockIdx.y * norm.each;
  const int64_t end = begin + norm.each * (blockIdx.x + 1) / gridDim.x;
  int64_t row = begin + norm.each * blockIdx.x / gridDim.x;
  const float share = 1 / (float) columns;
  float sums[gated ? 3 : 2][QM_GROUP] = {};
  QmRaw scale, gate = {};
  KeptRow<type, gated> now;

  if (threadIdx.x < 4 * most_warps)
    shared[0][0][threadIdx.x] = 0;
  __syncthreads ();
  now.fetch_first (norm, row, column);
  now.fetch_second (norm, row, column);
  fetch_kept<type> (norm.scale, blockIdx.y, column, columns, scale);
  if (gated)
    fetch_kept<type> (norm.gate, blockIdx.y, column, columns, gate);
  for (int turn = 0; row < end; row++, turn = 1 - turn)
    {
      float n[QM_GROUP], d[QM_GROUP], one[QM_GROUP], rstd = now.rstd;
      float2 both = {};

      qm_unpack (now.sum, QM_TYPE_F32, n);
      qm_unpack (now.dy, type, d);
      qm_unpack (scale, type, one);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        {
          n[i] = (n[i] - now.mean) * rstd;
          sums[0][i] += d[i];
          sums[1][i] += d[i] * n[i];
          d[i] *= 1 + one[i];
          both.x += d[i];
          both.y += d[i] * n[i];
        }
      if (row + 1 < end)
        now.fetch_first (norm, row + 1, column);
      both = sum_both_over_block (both.x, both.y, shared[turn]);
      both.x *= share;
      both.y *= share;
      qm_unpack (now.dsum, QM_TYPE_F32, one);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        d[i] = one[i] + rstd * (d[i] - both.x - n[i] * both.y);
      write_kept<type, gated> (norm, row, column, now.a, gate, d,
                               sums[gated ? 2 : 0]);
      if (row + 1 < end)
        now.fetch_second (norm, row + 1, column);
    }
  if (column < columns)
    write_sums<type, gated> (norm, column, sums);
}

/* Adds up the parts of every sample, in their order; a row of blocks for each
 * of the sums. */
__global__ void __launch_bounds__ (128) add_samples_kernel (
    const __grid_constant__ KeptBackward norm, int64_t batch, int parts, int n)
{
  const int groups = norm.columns / QM_GROUP, k = (int) blockIdx.y;
  const int64_t item = (int64_t) blockIdx.x * 128 + threadIdx.x;
  const int64_t b = item / groups;
  const int column = (int) (item % groups) * QM_GROUP;
  const QmRows &to = k == 0   ? norm.sums[0]
                     : k == 1 ? norm.sums[1]
                              : norm.sums[2];
  float sum[QM_GROUP] = {};

  if (b >= batch)
    return;
  for (int part = 0; part < parts; part++)
    {
      float x[QM_GROUP];

      qm_load_as<float, QM_GROUP> (
          norm.parts, ((b * parts + part) * n + k) * norm.columns + column, x);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        sum[i] += x[i];
    }
  qm_put_group<true> (to.row (b), column, norm.columns, to.type, sum);
}

/* A thread for each group of columns. */
int
threads_of (int64_t columns)
{
  return (int) (columns + 32 * QM_GROUP - 1) / (32 * QM_GROUP) * 32;
}

template <QmType type>
void
launch_norm (const QmCudaContext *context,
             cudaStream_t stream,
             const KeptNorm &norm)
{
  auto kernel =
      norm.a.data ? kept_kernel<type, true> : kept_kernel<type, false>;
  int threads = threads_of (norm.columns);

  kernel<<<qm_resident (context, kernel, threads, norm.rows), threads, 0,
           stream>>> (norm);
}

template <QmType type>
void
launch_backward (const QmCudaContext *context,
                 cudaStream_t stream,
                 KeptBackward norm,
                 int64_t batch,
                 float *workspace)
{
  auto kernel = norm.a.data ? kept_backward_kernel<type, true>
                            : kept_backward_kernel<type, false>;
  int threads = threads_of (norm.columns), n = norm.a.data ? 3 : 2;
  int64_t parts = qm_cuda_sample_parts (norm.each * batch, batch, norm.columns);
  int64_t most = qm_resident (context, kernel, threads, INT32_MAX) / batch;

  parts = parts < most ? parts : most;
  parts = parts > 1 ? parts : 1;
  norm.parts = parts > 1 ? workspace : nullptr;
  kernel<<<dim3 ((unsigned) parts, (unsigned) batch), threads, 0, stream>>> (
      norm);
  if (parts > 1)
    add_samples_kernel<<<
        dim3 (qm_blocks (batch * (norm.columns / QM_GROUP), 128), (unsigned) n),
        128, 0, stream>>> (norm, batch, (int) parts, n);
}

bool
are_all (const QmTensor *tensors, const int *slots, int n, QmType type)
{
  for (int i = 0; i < n; i++)
    if (qm_tensor_present (&tensors[slots[i]])
        && tensors[slots[i]].type != type)
      return false;
  return true;
}

} /* namespace */

bool
qm_cuda_keeps_adaptive (const QmOpCall *call)
{
  static const int wide_in[] = { 0 }, in[] = { 1, 2, 3, 4 };
  static const int wide_out[] = { 3 }, out[] = { 0 };
  static const int backward_wide_in[] = { 1, 5 }, backward_in[] = { 2, 6, 7 };
  static const int backward_wide_out[] = { 0 };
  static const int backward_out[] = { 1, 2, 3, 4 };
  const QmTensor *inputs = call->inputs, *outputs = call->outputs;

  if (inputs[0].shape[1] > most_threads * QM_GROUP)
    return false;
  if (call->op == QM_OP_ADAPTIVE_NORM)
    return are_all (inputs, wide_in, 1, QM_TYPE_F32)
           && are_all (outputs, wide_out, 1, QM_TYPE_F32)
           && are_all (inputs, in, 4, outputs[0].type)
           && are_all (outputs, out, 1, outputs[0].type);
  return are_all (inputs, backward_wide_in, 2, QM_TYPE_F32)
         && are_all (outputs, backward_wide_out, 1, QM_TYPE_F32)
         && are_all (inputs, backward_in, 3, inputs[0].type)
         && are_all (outputs, backward_out, 4, inputs[0].type);
}

QmStatus
qm_cuda_kept_adaptive_norm (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  KeptNorm norm = { .x = qm_rows (in[0]),
                    .shift = qm_rows (in[1]),
                    .scale = qm_rows (in[2]),
                    .a = qm_rows (in[3]),
                    .gate = qm_rows (in[4]),
                    .y = qm_rows (out[0]),
                    .sum = qm_rows (out[3]),
                    .mean = (float *) out[1].data,
                    .rstd = (float *) out[2].data,
                    .rows = in[0].shape[0],
                    .each = in[0].shape[0] / in[1].shape[0],
                    .columns = (int) in[0].shape[1],
                    .epsilon = (float) call->attributes.epsilon };

  if (out[0].type == QM_TYPE_F16)
    launch_norm<QM_TYPE_F16> (context, stream, norm);
  else if (out[0].type == QM_TYPE_BF16)
    launch_norm<QM_TYPE_BF16> (context, stream, norm);
  else
    launch_norm<QM_TYPE_F32> (context, stream, norm);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_kept_adaptive_norm_backward (QmCudaContext *context,
                                     cudaStream_t stream,
                                     const QmOpCall *call,
                                     QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t batch = in[2].shape[0];
  float *workspace = (float *) call->workspace;
  KeptBackward norm = { .dy = qm_rows (in[0]),
                        .sum = qm_rows (in[1]),
                        .scale = qm_rows (in[2]),
                        .dsum = qm_rows (in[5]),
                        .a = qm_rows (in[6]),
                        .gate = qm_rows (in[7]),
                        .dx = qm_rows (out[0]),
                        .da = qm_rows (out[3]),
                        .sums = { qm_rows (out[1]), qm_rows (out[2]),
                                  qm_rows (out[4]) },
                        .mean = (const float *) in[3].data,
                        .rstd = (const float *) in[4].data,
                        .each = in[0].shape[0] / batch,
                        .columns = (int) in[0].shape[1] };

  if (in[0].type == QM_TYPE_F16)
    launch_backward<QM_TYPE_F16> (context, stream, norm, batch, workspace);
  else if (in[0].type == QM_TYPE_BF16)
    launch_backward<QM_TYPE_BF16> (context, stream, norm, batch, workspace);
  else
    launch_backward<QM_TYPE_F32> (context, stream, norm, batch, workspace);
  return qm_cuda_launched (call, error);
}
