/* SPDX-License-Identifier: Apache-2.0 */

/* What samples have of their own: positions of rows, and what norms and gates
 * are told of a sample.  Rows of a sample are neighbours. */

#include "kernels/cuda/adaptive-norm.h"
#include "kernels/cuda/cuda-rows.cuh"

namespace
{

constexpr int threads = 256;

struct Mix
{
  QmRows x, of, residual, y;
  QmDivisor groups;
  int64_t each; /* gates: rows of a sample; positions: rows of all of them */
  int64_t first;
  uint32_t items; /* of rows from `first` on */
  int columns;
};

/* y = residual + gate x, or x + position. */
template <bool gated, bool whole>
__global__ void
__launch_bounds__ (threads) mix_kernel (const __grid_constant__ Mix work)
{
  uint32_t i = blockIdx.x * threads + threadIdx.x, group;
  int64_t row = work.first + work.groups.quotient (i, group);
  int column = (int) group * QM_GROUP;
  int64_t at = gated ? row / work.each : row % work.each;
  QmRaw raw_x, raw_of, raw_residual = {};
  float x[QM_GROUP], of[QM_GROUP], sum[QM_GROUP];

  if (i >= work.items)
    return;
  raw_x = qm_fetch_group<whole> (work.x.row (row), column, work.columns,
                                 work.x.type);
  raw_of = qm_fetch_group<whole> (work.of.row (at), column, work.columns,
                                  work.of.type);
  if (gated)
    raw_residual = qm_fetch_group<whole> (work.residual.row (row), column,
                                          work.columns, work.residual.type);
  qm_unpack (raw_x, work.x.type, x);
  qm_unpack (raw_of, work.of.type, of);
  qm_unpack (raw_residual, work.residual.type, sum);
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    sum[j] = gated ? sum[j] + of[j] * x[j] : x[j] + of[j];
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type,
                       sum);
}

struct Norm
{
  QmRows x, shift, scale, a, gate, y, sum;
  float *mean, *rstd;
  int64_t rows, each;
  int columns;
  float epsilon;
};

template <bool whole>
__device__ __forceinline__ void
read_group (const QmRows &from,
            int64_t row,
            int column,
            int columns,
            float (&x)[QM_GROUP])
{
  qm_unpack (qm_fetch_group<whole> (from.row (row), column, columns, from.type),
             from.type, x);
}

/* A group of x, or of x + gate a. */
template <bool whole>
__device__ __forceinline__ void
read_sum (
    const Norm &norm, int64_t row, int64_t b, int column, float (&x)[QM_GROUP])
{
  float a[QM_GROUP], gate[QM_GROUP];

  read_group<whole> (norm.x, row, column, norm.columns, x);
  if (!norm.a)
    return;
  read_group<whole> (norm.a, row, column, norm.columns, a);
  read_group<whole> (norm.gate, b, column, norm.columns, gate);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    x[i] += gate[i] * a[i];
}

/* A warp has a row, which it reads three times, but the first time from a
 * cache; it writes the sum last, perhaps over what it read.  Elements beyond
 * the end are 0, and are left out of the squares. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    norm_kernel (const __grid_constant__ Norm norm)
{
  const int begin = (int) threadIdx.x % 32 * QM_GROUP, step = 32 * QM_GROUP;

  for (int64_t row = (int64_t) blockIdx.x * 4 + threadIdx.x / 32;
       row < norm.rows; row += (int64_t) gridDim.x * 4)
    {
      float x[QM_GROUP], shift[QM_GROUP], scale[QM_GROUP];
      float mean = 0, squares = 0, rstd;
      int64_t b = row / norm.each;

#pragma unroll 4
      for (int column = begin; column < norm.columns; column += step)
        {
          read_sum<whole> (norm, row, b, column, x);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            mean += x[i];
        }
      mean = qm_warp_sum (mean) / (float) norm.columns;
#pragma unroll 4
      for (int column = begin; column < norm.columns; column += step)
        {
          read_sum<whole> (norm, row, b, column, x);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            if (column + i < norm.columns)
              squares += (x[i] - mean) * (x[i] - mean);
        }
      squares = qm_warp_sum (squares) / (float) norm.columns;
      rstd = rsqrtf (squares + norm.epsilon);
      if (begin == 0)
        {
          norm.mean[row] = mean;
          norm.rstd[row] = rstd;
        }
#pragma unroll 4
      for (int column = begin; column < norm.columns; column += step)
        {
          read_sum<whole> (norm, row, b, column, x);
          read_group<whole> (norm.shift, b, column, norm.columns, shift);
          read_group<whole> (norm.scale, b, column, norm.columns, scale);
          if (norm.a)
            qm_put_group<whole> (norm.sum.row (row), column, norm.columns,
                                 norm.sum.type, x);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            shift[i] += (x[i] - mean) * rstd * (1 + scale[i]);
          qm_put_group<whole> (norm.y.row (row), column, norm.columns,
                               norm.y.type, shift);
        }
    }
}

struct NormBackward
{
  QmRows dy, x, scale, dsum, dx;
  const float *mean, *rstd;
  int64_t rows, each;
  int columns;
};

/* A warp has a row, which it reads twice, the second time from a cache. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    norm_backward_kernel (const __grid_constant__ NormBackward norm)
{
  int lane = (int) threadIdx.x % 32;

  for (int64_t row = (int64_t) blockIdx.x * 4 + threadIdx.x / 32;
       row < norm.rows; row += (int64_t) gridDim.x * 4)
    {
      float mean = norm.mean[row], rstd = norm.rstd[row], sum = 0, dot = 0;
      float dy[QM_GROUP], x[QM_GROUP], scale[QM_GROUP];
      int64_t b = row / norm.each;

      /* Elements of dy beyond the end of the row are 0. */
#pragma unroll 4
      for (int g = 0; g * 32 * QM_GROUP < norm.columns; g++)
        {
          int column = (g * 32 + lane) * QM_GROUP;

          read_group<whole> (norm.dy, row, column, norm.columns, dy);
          read_group<whole> (norm.x, row, column, norm.columns, x);
          read_group<whole> (norm.scale, b, column, norm.columns, scale);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              dy[i] *= 1 + scale[i];
              sum += dy[i];
              dot += dy[i] * (x[i] - mean) * rstd;
            }
        }
      sum = qm_warp_sum (sum) / (float) norm.columns;
      dot = qm_warp_sum (dot) / (float) norm.columns;
#pragma unroll 4
      for (int g = 0; g * 32 * QM_GROUP < norm.columns; g++)
        {
          int column = (g * 32 + lane) * QM_GROUP;
          float add[QM_GROUP] = {};

          read_group<whole> (norm.dy, row, column, norm.columns, dy);
          read_group<whole> (norm.x, row, column, norm.columns, x);
          read_group<whole> (norm.scale, b, column, norm.columns, scale);
          if (norm.dsum)
            read_group<whole> (norm.dsum, row, column, norm.columns, add);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            add[i] +=
                rstd
                * (dy[i] * (1 + scale[i]) - sum - (x[i] - mean) * rstd * dot);
          qm_put_group<whole> (norm.dx.row (row), column, norm.columns,
                               norm.dx.type, add);
        }
    }
}

struct Sums
{
  QmRows dy, x, gate, dx;   /* gate and dx: of a gate alone */
  QmRows first, second;     /* second: of a norm alone */
  const float *mean, *rstd; /* the same */
  int64_t each;             /* rows of a sample */
  int columns;
};

/* 32 x 8 threads: groups of columns beside each other, rows below, of the
 * sample of a row of blocks. */
constexpr int beside = 32, below = 8, ahead = 4;

/* Sums of what the rows of threads have, in their order, by the first. */
__device__ __forceinline__ void
add_up (float (&shared)[below][QM_GROUP][beside], float (&sums)[QM_GROUP])
{
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    shared[threadIdx.y][i][threadIdx.x] = sums[i];
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      sums[i] = 0;
      for (int y = 0; y < below; y++)
        sums[i] += shared[y][i][threadIdx.x];
    }
}

/* Of a norm, first = sums of dy and second = sums of dy n; of a gate, first =
 * sums of x dy, and dx = gate dy on the way. */
template <bool gated, bool whole>
__global__ void
__launch_bounds__ (beside *below)
    sums_kernel (const __grid_constant__ Sums work)
{
  __shared__ float shared[below][QM_GROUP][beside];
  int column = (int) (blockIdx.x * beside + threadIdx.x) * QM_GROUP;
  int64_t b = blockIdx.y;
  float first[QM_GROUP] = {}, second[QM_GROUP] = {}, gate[QM_GROUP] = {};

  if (gated)
    read_group<whole> (work.gate, b, column, work.columns, gate);
  for (int64_t s = threadIdx.y; s < work.each && column < work.columns;
       s += below * ahead)
    {
      QmRaw raw_dy[ahead], raw_x[ahead];

#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (s + u * below < work.each)
          {
            int64_t row = b * work.each + s + u * below;

            raw_dy[u] = qm_fetch_group<whole> (work.dy.row (row), column,
                                               work.columns, work.dy.type);
            raw_x[u] = qm_fetch_group<whole> (work.x.row (row), column,
                                              work.columns, work.x.type);
          }
#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (s + u * below < work.each)
          {
            int64_t row = b * work.each + s + u * below;
            float mean = gated ? 0 : work.mean[row];
            float rstd = gated ? 1 : work.rstd[row];
            float dy[QM_GROUP], x[QM_GROUP];

            qm_unpack (raw_dy[u], work.dy.type, dy);
            qm_unpack (raw_x[u], work.x.type, x);
#pragma unroll
            for (int i = 0; i < QM_GROUP; i++)
              {
                first[i] += gated ? dy[i] * x[i] : dy[i];
                second[i] += gated ? 0 : dy[i] * (x[i] - mean) * rstd;
                dy[i] *= gate[i];
              }
            if (gated)
              qm_put_group<whole> (work.dx.row (row), column, work.columns,
                                   work.dx.type, dy);
          }
    }
  add_up (shared, first);
  if (!gated)
    add_up (shared, second);
  if (threadIdx.y != 0 || column >= work.columns)
    return;
  qm_put_group<whole> (work.first.row (b), column, work.columns,
                       work.first.type, first);
  if (!gated)
    qm_put_group<whole> (work.second.row (b), column, work.columns,
                         work.second.type, second);
}

/* Whether groups of all tensors may be read at once; i32 and f32 vectors of
 * one number a row do not matter. */
bool
all_whole (const QmOpCall *call)
{
  bool whole = true;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (call->inputs[i].rank == 2)
      whole = whole && qm_cuda_vectors (&call->inputs[i], QM_GROUP);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (call->outputs[i].rank == 2)
      whole = whole && qm_cuda_vectors (&call->outputs[i], QM_GROUP);
  return whole;
}

template <bool gated>
QmStatus
mix (cudaStream_t stream, const QmOpCall *call, QmError *error)
{
  const QmTensor *in = call->inputs, &y = call->outputs[0];
  int64_t rows = y.shape[0], n;
  int64_t groups = (y.shape[1] + QM_GROUP - 1) / QM_GROUP;
  Mix work = { .x = qm_rows (in[0]),
               .of = qm_rows (in[1]),
               .residual = qm_rows (in[2]),
               .y = qm_rows (y),
               .groups = qm_divisor (groups),
               .each = gated ? rows / in[1].shape[0] : in[1].shape[0],
               .columns = (int) y.shape[1] };
  auto kernel =
      all_whole (call) ? mix_kernel<gated, true> : mix_kernel<gated, false>;

  for (int64_t row = 0; row < rows; row += n)
    {
      n = rows - row < qm_slice (groups) ? rows - row : qm_slice (groups);
      work.first = row;
      work.items = (uint32_t) (n * groups);
      kernel<<<qm_blocks (work.items, threads), threads, 0, stream>>> (work);
    }
  return qm_cuda_launched (call, error);
}

template <bool gated>
QmStatus
sum_up (cudaStream_t stream,
        const QmOpCall *call,
        Sums work,
        int64_t batch,
        QmError *error)
{
  auto kernel =
      all_whole (call) ? sums_kernel<gated, true> : sums_kernel<gated, false>;

  work.columns = (int) call->inputs[0].shape[1];
  work.each = call->inputs[0].shape[0] / batch;
  kernel<<<dim3 (qm_blocks (work.columns, beside * QM_GROUP), (unsigned) batch),
           dim3 (beside, below), 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

/* Of the branch that a norm has taken in, when there is dx. */
QmStatus
gate_gradient (QmCudaContext *context,
               cudaStream_t stream,
               const QmOpCall *norm,
               QmError *error)
{
  QmOpCall call = { .op = QM_OP_GATED_ADD_BACKWARD };

  call.inputs[0] = norm->outputs[0];
  call.inputs[1] = norm->inputs[6];
  call.inputs[2] = norm->inputs[7];
  call.outputs[0] = norm->outputs[3];
  call.outputs[1] = norm->outputs[4];
  return qm_cuda_gated_add_backward (context, stream, &call, error);
}

} /* namespace */

QmStatus
qm_cuda_add_positions (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  return mix<false> (stream, call, error);
}

QmStatus
qm_cuda_gated_add (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  return mix<true> (stream, call, error);
}

QmStatus
qm_cuda_adaptive_norm (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  Norm norm = { .x = qm_rows (in[0]),
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
  auto kernel = all_whole (call) ? norm_kernel<true> : norm_kernel<false>;

  if (all_whole (call) && qm_cuda_keeps_adaptive (call))
    return qm_cuda_kept_adaptive_norm (context, stream, call, error);
  kernel<<<qm_resident (context, kernel, 128, (norm.rows + 3) / 4), 128, 0,
           stream>>> (norm);
  return qm_cuda_launched (call, error);
}

/* The sums come first, since dx may be written over dy or x. */
QmStatus
qm_cuda_adaptive_norm_backward (QmCudaContext *context,
                                cudaStream_t stream,
                                const QmOpCall *call,
                                QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t batch = in[2].shape[0];
  Sums sums = { .dy = qm_rows (in[0]),
                .x = qm_rows (in[1]),
                .first = qm_rows (out[1]),
                .second = qm_rows (out[2]),
                .mean = (const float *) in[3].data,
                .rstd = (const float *) in[4].data };
  NormBackward norm = { .dy = sums.dy,
                        .x = sums.x,
                        .scale = qm_rows (in[2]),
                        .dsum = qm_rows (in[5]),
                        .dx = qm_rows (out[0]),
                        .mean = sums.mean,
                        .rstd = sums.rstd,
                        .rows = in[0].shape[0],
                        .each = in[0].shape[0] / batch,
                        .columns = (int) in[0].shape[1] };
  auto kernel = all_whole (call) ? norm_backward_kernel<true>
                                 : norm_backward_kernel<false>;
  QmStatus status;

  if (all_whole (call) && qm_cuda_keeps_adaptive (call))
    return qm_cuda_kept_adaptive_norm_backward (context, stream, call, error);
  status = sum_up<false> (stream, call, sums, batch, error);
  if (status != QM_OK)
    return status;
  kernel<<<qm_resident (context, kernel, 128, (norm.rows + 3) / 4), 128, 0,
           stream>>> (norm);
  status = qm_cuda_launched (call, error);
  return status == QM_OK && qm_tensor_present (&in[6])
             ? gate_gradient (context, stream, call, error)
             : status;
}

QmStatus
qm_cuda_gated_add_backward (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t batch = in[2].shape[0];
  Sums sums = { .dy = qm_rows (in[0]),
                .x = qm_rows (in[1]),
                .gate = qm_rows (in[2]),
                .dx = qm_rows (out[0]),
                .first = qm_rows (out[1]) };

  return sum_up<true> (stream, call, sums, batch, error);
}
