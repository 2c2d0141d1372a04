/* SPDX-License-Identifier: Apache-2.0 */

/* RMS norm of what is gated, and its gradient.  A block has a row at a time,
 * each of its threads `groups` groups of it, the same of every row: what it
 * reads of gamma, and sums for the gradient of gamma, stay in registers.  While
 * it waits for the sum over a row, the next is on its way.  Rows are read once
 * and written once: what is gated is made again for the gradient. */

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

struct GatedNorm
{
  QmRows dy, gate, x, gamma, first, second; /* dy, second: of the gradient */
  float *rstd, *parts;                      /* parts: [gridDim.x, columns] */
  QmFunction function;
  int64_t rows;
  int columns;
  float epsilon;
};

/* Groups of a thread, as they are in memory; of 16 bits, where `narrow`. */
template <int threads, int groups, bool whole, bool narrow> struct Row
{
  QmRaw raw[groups];

  __device__ __forceinline__ static int
  column (int g)
  {
    return (g * threads + (int) threadIdx.x) * QM_GROUP;
  }

  __device__ __forceinline__ void
  fetch (const QmRows &from, int64_t row, int columns)
  {
#pragma unroll
    for (int g = 0; g < groups; g++)
      if constexpr (narrow)
        {
          raw[g].low = {};
          if (column (g) < columns)
            raw[g].low = *(const uint4 *) (from.row (row) + column (g) * 2);
        }
      else
        raw[g] = qm_fetch_group<whole> (from.row (row), column (g), columns,
                                        from.type);
  }

  __device__ __forceinline__ void
  unpack (int g, QmType type, float (&x)[QM_GROUP]) const
  {
    if (narrow && type == QM_TYPE_F32)
      __builtin_unreachable ();
    qm_unpack (raw[g], type, x);
  }
};

/* gamma, zero beyond the row. */
template <int threads, int groups, bool whole>
__device__ __forceinline__ void
fetch_gamma (const GatedNorm &norm, float (&gamma)[groups][QM_GROUP])
{
#pragma unroll
  for (int g = 0; g < groups; g++)
    {
      int column = (g * threads + (int) threadIdx.x) * QM_GROUP;

      qm_unpack (qm_fetch_group<whole> (norm.gamma.data, column, norm.columns,
                                        norm.gamma.type),
                 norm.gamma.type, gamma[g]);
    }
}

template <int threads, int groups, bool whole, bool narrow>
__global__ void
__launch_bounds__ (threads)
    forward_kernel (const __grid_constant__ GatedNorm norm)
{
  using Part = Row<threads, groups, whole, narrow>;
  __shared__ float shared[2][32];
  float gamma[groups][QM_GROUP];
  Part gate, x;
  int turn = 0;

  fetch_gamma<threads, groups, whole> (norm, gamma);
  gate.fetch (norm.gate, blockIdx.x, norm.columns);
  x.fetch (norm.x, blockIdx.x, norm.columns);
  for (int64_t row = blockIdx.x; row < norm.rows; row += gridDim.x, turn ^= 1)
    {
      float y[groups][QM_GROUP], squares = 0, rstd;

#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          float a[QM_GROUP];

          gate.unpack (g, norm.gate.type, a);
          x.unpack (g, norm.x.type, y[g]);
          qm_activate<false> (norm.function, QM_TYPE_F32, a, a);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              y[g][i] *= a[i];
              squares += y[g][i] * y[g][i];
            }
        }
      if (row + gridDim.x < norm.rows)
        {
          gate.fetch (norm.gate, row + gridDim.x, norm.columns);
          x.fetch (norm.x, row + gridDim.x, norm.columns);
        }
      squares = qm_row_sum<threads> (squares, shared[turn]);
      rstd = rsqrtf (squares / (float) norm.columns + norm.epsilon);
      if (threadIdx.x == 0)
        norm.rstd[row] = rstd;
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            y[g][i] *= rstd * gamma[g][i];
          qm_put_group<whole> (norm.first.row (row), Part::column (g),
                               norm.columns, norm.first.type, y[g]);
        }
    }
}

/* Of a group, `n` becomes what it was normalized to, and `dn` the gradient of
 * that; the gradient of gamma is added up. */
__device__ __forceinline__ void
begin_group (const GatedNorm &norm,
             const float (&gate)[QM_GROUP],
             const float (&gamma)[QM_GROUP],
             float rstd,
             float (&n)[QM_GROUP],
             float (&dn)[QM_GROUP],
             float (&sums)[QM_GROUP],
             float &dot)
{
  float a[QM_GROUP];

  qm_activate<false> (norm.function, QM_TYPE_F32, gate, a);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      n[i] *= a[i] * rstd;
      sums[i] += dn[i] * n[i];
      dn[i] *= gamma[i];
      dot += dn[i] * n[i];
    }
}

/* dgate and dx of a group, when the mean of n dn is known.  What went before is
 * made again, for want of registers to keep it in. */
template <bool whole>
__device__ __forceinline__ void
end_group (const GatedNorm &norm,
           int64_t row,
           int column,
           const float (&gate)[QM_GROUP],
           const float (&gamma)[QM_GROUP],
           float rstd,
           float mean,
           const float (&x)[QM_GROUP],
           float (&d)[QM_GROUP])
{
  float a[QM_GROUP], slope[QM_GROUP];

  qm_activate<false> (norm.function, QM_TYPE_F32, gate, a);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      d[i] = rstd * (d[i] * gamma[i] - x[i] * a[i] * rstd * mean);
      a[i] *= d[i];
      slope[i] = d[i] * x[i];
    }
  qm_put_group<whole> (norm.second.row (row), column, norm.columns,
                       norm.second.type, a);
  qm_activate<true> (norm.function, QM_TYPE_F32, gate, slope);
  qm_put_group<whole> (norm.first.row (row), column, norm.columns,
                       norm.first.type, slope);
}

/* Two blocks of 256 threads, as 128 registers of each let there be. */
template <int threads, int groups, bool whole, bool narrow>
__global__ void
__launch_bounds__ (threads, threads <= 256 ? 512 / threads : 1)
    backward_kernel (const __grid_constant__ GatedNorm norm)
{
  using Part = Row<threads, groups, whole, narrow>;
  __shared__ float shared[2][32];
  float gamma[groups][QM_GROUP], sums[groups][QM_GROUP] = {};
  float next_rstd = norm.rstd[blockIdx.x];
  Part next[3]; /* dy, gate and x */
  int turn = 0;

  fetch_gamma<threads, groups, whole> (norm, gamma);
  next[0].fetch (norm.dy, blockIdx.x, norm.columns);
  next[1].fetch (norm.gate, blockIdx.x, norm.columns);
  next[2].fetch (norm.x, blockIdx.x, norm.columns);
  for (int64_t row = blockIdx.x; row < norm.rows; row += gridDim.x, turn ^= 1)
    {
      const Part dy = next[0], gate = next[1], x = next[2];
      float a[QM_GROUP], b[QM_GROUP], d[QM_GROUP];
      float rstd = next_rstd, mean = 0;

#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          dy.unpack (g, norm.dy.type, d);
          gate.unpack (g, norm.gate.type, a);
          x.unpack (g, norm.x.type, b);
          begin_group (norm, a, gamma[g], rstd, b, d, sums[g], mean);
        }
      if (row + gridDim.x < norm.rows)
        {
          next[0].fetch (norm.dy, row + gridDim.x, norm.columns);
          next[1].fetch (norm.gate, row + gridDim.x, norm.columns);
          next[2].fetch (norm.x, row + gridDim.x, norm.columns);
          next_rstd = norm.rstd[row + gridDim.x];
        }
      mean = qm_row_sum<threads> (mean, shared[turn]) / (float) norm.columns;
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          dy.unpack (g, norm.dy.type, d);
          gate.unpack (g, norm.gate.type, a);
          x.unpack (g, norm.x.type, b);
          end_group<whole> (norm, row, Part::column (g), a, gamma[g], rstd,
                            mean, b, d);
        }
    }
#pragma unroll
  for (int g = 0; g < groups; g++)
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      if (Part::column (g) + i < norm.columns)
        norm.parts[(int64_t) blockIdx.x * norm.columns + Part::column (g) + i] =
            sums[g][i];
}

/* Launches the kernel; returns the number of its blocks. */
template <int threads, int groups, bool whole, bool narrow>
unsigned
launch (const QmCudaContext *context,
        cudaStream_t stream,
        const GatedNorm &norm)
{
  bool backward = norm.dy.data != nullptr;
  auto kernel = backward ? backward_kernel<threads, groups, whole, narrow>
                         : forward_kernel<threads, groups, whole, narrow>;
  int64_t most = backward && norm.rows > QM_CUDA_NORM_PARTS ? QM_CUDA_NORM_PARTS
                                                            : norm.rows;
  unsigned blocks = qm_resident (context, kernel, threads, most);

  kernel<<<blocks, threads, 0, stream>>> (norm);
  return blocks;
}

template <bool narrow>
unsigned
launch_whole (const QmCudaContext *context,
              cudaStream_t stream,
              const GatedNorm &norm)
{
  int n = norm.columns;

  return n <= 512    ? launch<64, 1, true, narrow> (context, stream, norm)
         : n <= 1024 ? launch<128, 1, true, narrow> (context, stream, norm)
         : n <= 2048 ? launch<256, 1, true, narrow> (context, stream, norm)
         : n <= 4096 ? launch<256, 2, true, narrow> (context, stream, norm)
         : n <= 8192 ? launch<512, 2, true, narrow> (context, stream, norm)
                     : launch<1024, 4, true, false> (context, stream, norm);
}

static_assert (1024 * 4 * QM_GROUP == QM_CUDA_NORM_COLUMNS,
               "longer rows do not fit the registers of a block");

bool
are_narrow (const QmOpCall *call, int inputs)
{
  for (int i = 0; i < inputs; i++)
    if (call->inputs[i].type == QM_TYPE_F32)
      return false;
  return true;
}

/* `inputs`: how many of the call's are rows. */
unsigned
launch_any (QmCudaContext *context,
            cudaStream_t stream,
            const QmOpCall *call,
            int inputs,
            const GatedNorm &norm)
{
  bool whole = norm.columns % QM_GROUP == 0;

  for (int i = 0; i <= inputs; i++) /* and gamma */
    whole = whole && qm_cuda_vectors (&call->inputs[i], QM_GROUP);
  for (int i = 0; i < inputs - 1; i++)
    whole = whole && qm_cuda_vectors (&call->outputs[i], QM_GROUP);
  if (whole)
    return are_narrow (call, inputs)
               ? launch_whole<true> (context, stream, norm)
               : launch_whole<false> (context, stream, norm);
  return norm.columns <= 1024
             ? launch<128, 1, false, false> (context, stream, norm)
             : launch<1024, 4, false, false> (context, stream, norm);
}

} /* namespace */

QmStatus
qm_cuda_gated_norm (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  GatedNorm norm = { .gate = qm_rows (in[0]),
                     .x = qm_rows (in[1]),
                     .gamma = qm_rows (in[2]),
                     .first = qm_rows (out[0]),
                     .rstd = (float *) out[1].data,
                     .function = call->attributes.activation,
                     .rows = in[0].shape[0],
                     .columns = (int) in[0].shape[1],
                     .epsilon = (float) call->attributes.epsilon };

  launch_any (context, stream, call, 2, norm);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_gated_norm_backward (QmCudaContext *context,
                             cudaStream_t stream,
                             const QmOpCall *call,
                             QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  GatedNorm norm = { .dy = qm_rows (in[0]),
                     .gate = qm_rows (in[1]),
                     .x = qm_rows (in[2]),
                     .gamma = qm_rows (in[3]),
                     .first = qm_rows (out[0]),
                     .second = qm_rows (out[1]),
                     .rstd = (float *) in[4].data,
                     .parts = (float *) call->workspace,
                     .function = call->attributes.activation,
                     .rows = in[0].shape[0],
                     .columns = (int) in[0].shape[1] };
  unsigned parts = launch_any (context, stream, call, 3, norm);
  QmStatus status = qm_cuda_launched (call, error);

  return status == QM_OK
             ? qm_cuda_add_parts (stream, norm.parts, parts, norm.columns, 1,
                                  (float *) out[2].data, error)
             : status;
}
