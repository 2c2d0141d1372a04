/* SPDX-License-Identifier: Apache-2.0 */

/* Layer norm and RMS norm.  A row is kept in registers by a warp or by a block:
 * it is read once and written once. */

#include "kernels/cuda/copied-rows.cuh"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/norm-heads.cuh"

namespace
{

struct Norm
{
  QmRows x, a, b, sum, y, y2, gamma, beta, gamma2, beta2, gain;
  float *mean, *rstd;
  QmDropout drop_a, drop_b;
  int64_t rows, sample; /* rows of a sample, where there is a gain */
  int columns;
  float epsilon;
  bool rms;
  int at_x, at_a, at_b; /* in the copy of a row */
};

/* x += dropout (branch) for the groups of one thread. */
template <int threads, int groups, bool whole>
__device__ __forceinline__ void
add_branch (const Norm &norm,
            const QmRows &branch,
            const QmDropout &dropout,
            const QmRaw (&raw)[groups],
            int64_t row,
            int lane,
            float (&x)[groups][QM_GROUP])
{
#pragma unroll
  for (int g = 0; g < groups; g++)
    {
      int column = (g * threads + lane) * QM_GROUP;
      float add[QM_GROUP];

      qm_unpack (raw[g], branch.type, add);
      if (dropout.rng != nullptr)
        qm_drop_group<whole> (dropout, row * norm.columns + column, add);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        x[g][i] += add[i];
    }
}

/* x += factor gain a */
__device__ __forceinline__ void
add_scaled (const Norm &norm,
            const QmRaw &raw,
            const float (&gain)[QM_GROUP],
            float factor,
            float (&x)[QM_GROUP])
{
  float a[QM_GROUP];

  qm_unpack (raw, norm.a.type, a);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    x[i] += factor * gain[i] * a[i];
}

/* The same for the groups of one thread. */
template <int threads, int groups, bool whole>
__device__ __forceinline__ void
add_scaled_branch (const Norm &norm,
                   const QmRaw (&raw)[groups],
                   float factor,
                   int lane,
                   float (&x)[groups][QM_GROUP])
{
#pragma unroll
  for (int g = 0; g < groups; g++)
    {
      int column = (g * threads + lane) * QM_GROUP;
      float gain[QM_GROUP];

      qm_unpack (qm_fetch_group<whole> (norm.gain.data, column, norm.columns,
                                        norm.gain.type),
                 norm.gain.type, gain);
      add_scaled (norm, raw[g], gain, factor, x[g]);
    }
}

template <int threads, int groups, bool whole>
__device__ __forceinline__ void
fetch_row (const QmRows &from,
           int64_t row,
           int lane,
           int columns,
           QmRaw (&raw)[groups])
{
  const char *at = from.row (row);

#pragma unroll
  for (int g = 0; g < groups; g++)
    raw[g] = qm_fetch_group<whole> (at, (g * threads + lane) * QM_GROUP,
                                    columns, from.type);
}

/* x + dropout (a) + dropout (b), or x + factor gain a, written to `sum` where
 * there is a. */
template <int threads, int groups, bool whole, bool scaled>
__device__ __forceinline__ void
read_row (const Norm &norm,
          int64_t row,
          float factor,
          int lane,
          float (&x)[groups][QM_GROUP])
{
  QmRaw raw[groups], raw_a[groups], raw_b[groups];

  fetch_row<threads, groups, whole> (norm.x, row, lane, norm.columns, raw);
  if (norm.a)
    fetch_row<threads, groups, whole> (norm.a, row, lane, norm.columns, raw_a);
  if (!scaled && norm.b)
    fetch_row<threads, groups, whole> (norm.b, row, lane, norm.columns, raw_b);
#pragma unroll
  for (int g = 0; g < groups; g++)
    qm_unpack (raw[g], norm.x.type, x[g]);
  if (!norm.a)
    return;
  if constexpr (scaled)
    add_scaled_branch<threads, groups, whole> (norm, raw_a, factor, lane, x);
  else
    add_branch<threads, groups, whole> (norm, norm.a, norm.drop_a, raw_a, row,
                                        lane, x);
  if (!scaled && norm.b)
    add_branch<threads, groups, whole> (norm, norm.b, norm.drop_b, raw_b, row,
                                        lane, x);
#pragma unroll
  for (int g = 0; g < groups; g++)
    qm_put_group<whole> (norm.sum.row (row), (g * threads + lane) * QM_GROUP,
                         norm.columns, norm.sum.type, x[g]);
}

template <int threads, int groups, bool whole>
__device__ __forceinline__ void
write_row (const Norm &norm,
           const QmRows &y,
           const QmRows &gamma,
           const QmRows &beta,
           int64_t row,
           int lane,
           const float (&n)[groups][QM_GROUP])
{
#pragma unroll
  for (int g = 0; g < groups; g++)
    {
      int column = (g * threads + lane) * QM_GROUP;
      float scale[QM_GROUP], shift[QM_GROUP] = {};

      qm_unpack (qm_fetch_group<whole> (gamma.data, column, norm.columns,
                                        gamma.type),
                 gamma.type, scale);
      if (beta)
        qm_unpack (qm_fetch_group<whole> (beta.data, column, norm.columns,
                                          beta.type),
                   beta.type, shift);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        scale[i] = n[g][i] * scale[i] + shift[i];
      qm_put_group<whole> (y.row (row), column, norm.columns, y.type, scale);
    }
}

template <int threads, int groups, bool whole, bool scaled>
__global__ void
__launch_bounds__ (threads == 32 ? 128 : threads)
    norm_kernel (const __grid_constant__ Norm norm)
{
  constexpr int each = threads == 32 ? 4 : 1;
  __shared__ float shared[2][32];
  int lane = (int) threadIdx.x % threads;
  QmDepths depths = { norm.drop_a, norm.sample, (int64_t) gridDim.x * each };

  for (int64_t row = (int64_t) blockIdx.x * each + threadIdx.x / threads;
       row < norm.rows; row += (int64_t) gridDim.x * each)
    {
      float x[groups][QM_GROUP], mean = 0, squares = 0, rstd;
      float factor = scaled ? depths.next (row) : 1;

      read_row<threads, groups, whole, scaled> (norm, row, factor, lane, x);
      if (!norm.rms)
        {
#pragma unroll
          for (int g = 0; g < groups; g++)
#pragma unroll
            for (int i = 0; i < QM_GROUP; i++)
              mean += x[g][i];
          mean = qm_row_sum<threads> (mean, shared[0]) / (float) norm.columns;
        }
      else if (threads > 32)
        __syncthreads ();
#pragma unroll
      for (int g = 0; g < groups; g++)
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          {
            x[g][i] -= mean;
            if ((g * threads + lane) * QM_GROUP + (whole ? 0 : i)
                < norm.columns)
              squares += x[g][i] * x[g][i];
          }
      squares = qm_row_sum<threads> (squares, shared[1]);
      rstd = rsqrtf (squares / (float) norm.columns + norm.epsilon);
#pragma unroll
      for (int g = 0; g < groups; g++)
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          x[g][i] *= rstd;
      if (lane == 0)
        {
          if (norm.mean != nullptr)
            norm.mean[row] = mean;
          norm.rstd[row] = rstd;
        }
      write_row<threads, groups, whole> (norm, norm.y, norm.gamma, norm.beta,
                                         row, lane, x);
      if (norm.y2)
        write_row<threads, groups, whole> (norm, norm.y2, norm.gamma2,
                                           norm.beta2, row, lane, x);
    }
}

/* What a thread has of a row: one group.  `scaled`: there is a gain. */
template <bool scaled> struct Column
{
  QmRaw x, a, b;

  __device__ __forceinline__ void
  fetch (const Norm &norm, int64_t row, int column)
  {
    if (row >= norm.rows)
      return;
    x = qm_fetch_group<true> (norm.x.row (row), column, norm.columns,
                              norm.x.type);
    if (scaled || norm.a)
      a = qm_fetch_group<true> (norm.a.row (row), column, norm.columns,
                                norm.a.type);
    if (!scaled && norm.b)
      b = qm_fetch_group<true> (norm.b.row (row), column, norm.columns,
                                norm.b.type);
  }

  /* x + dropout (a) + dropout (b), or x + factor gain a */
  __device__ __forceinline__ void
  sum (const Norm &norm,
       const float (&gain)[QM_GROUP],
       float factor,
       int64_t row,
       int column,
       float (&to)[QM_GROUP]) const
  {
    qm_unpack (x, norm.x.type, to);
    if (!scaled && !norm.a)
      return;
    if constexpr (scaled)
      add_scaled (norm, a, gain, factor, to);
    else
      add (norm, norm.a, norm.drop_a, a, row, column, to);
    if (!scaled && norm.b)
      add (norm, norm.b, norm.drop_b, b, row, column, to);
    qm_put_group<true> (norm.sum.row (row), column, norm.columns, norm.sum.type,
                        to);
  }

  static __device__ __forceinline__ void
  add (const Norm &norm,
       const QmRows &branch,
       const QmDropout &dropout,
       const QmRaw &raw,
       int64_t row,
       int column,
       float (&to)[QM_GROUP])
  {
    float values[QM_GROUP];

    qm_unpack (raw, branch.type, values);
    if (dropout.rng != nullptr)
      qm_drop_group<true> (dropout, row * norm.columns + column, values);
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      to[i] += values[i];
  }
};

/* One of the two affine outputs. */
struct Affine
{
  float scale[QM_GROUP], shift[QM_GROUP];

  __device__ __forceinline__ void
  fetch (const QmRows &gamma, const QmRows &beta, int column, int columns)
  {
    qm_unpack (qm_fetch_group<true> (gamma.data, column, columns, gamma.type),
               gamma.type, scale);
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      shift[i] = 0;
    if (beta)
      qm_unpack (qm_fetch_group<true> (beta.data, column, columns, beta.type),
                 beta.type, shift);
  }

  __device__ __forceinline__ void
  write (const QmRows &y,
         int64_t row,
         int column,
         int columns,
         const float (&n)[QM_GROUP]) const
  {
    float out[QM_GROUP];

#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      out[i] = n[i] * scale[i] + shift[i];
    qm_put_group<true> (y.row (row), column, columns, y.type, out);
  }
};

/* A gain, where there is one. */
template <bool scaled>
__device__ __forceinline__ void
fetch_gain (const Norm &norm, int column, float (&gain)[QM_GROUP])
{
  if constexpr (scaled)
    qm_unpack (qm_fetch_group<true> (norm.gain.data, column, norm.columns,
                                     norm.gain.type),
               norm.gain.type, gain);
}

/* Rows of up to 8 x threads elements, one group a thread: gamma, beta and the
 * gain stay in registers, and the next row is fetched while this one is
 * computed.  With a gain there is no second output. */
template <int threads, bool scaled>
__global__ void
__launch_bounds__ (threads) column_kernel (const __grid_constant__ Norm norm)
{
  __shared__ __align__ (16) float shared[2][threads / 32];
  int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  int64_t row = blockIdx.x;
  float gain[QM_GROUP] = {};
  QmDepths depths = { norm.drop_a, norm.sample, gridDim.x };
  Affine first, second;
  Column<scaled> next;

  next.fetch (norm, row, column);
  first.fetch (norm.gamma, norm.beta, column, columns);
  fetch_gain<scaled> (norm, column, gain);
  if (!scaled && norm.y2)
    second.fetch (norm.gamma2, norm.beta2, column, columns);
  for (; row < norm.rows; row += gridDim.x)
    {
      Column<scaled> now = next;
      float x[QM_GROUP], mean = 0, squares = 0, rstd;

      next.fetch (norm, row + gridDim.x, column);
      now.sum (norm, gain, scaled ? depths.next (row) : 1, row, column, x);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        mean += x[i];
      mean = qm_short_row_sum<threads> (mean, shared[0]) / (float) columns;
      if (norm.rms)
        mean = 0;
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        {
          x[i] -= mean;
          squares += x[i] * x[i];
        }
      squares =
          qm_short_row_sum<threads> (column < columns ? squares : 0, shared[1]);
      rstd = rsqrtf (squares / (float) columns + norm.epsilon);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        x[i] *= rstd;
      if (threadIdx.x == 0)
        {
          if (norm.mean != nullptr)
            norm.mean[row] = mean;
          norm.rstd[row] = rstd;
        }
      first.write (norm.y, row, column, columns, x);
      if (!scaled && norm.y2)
        second.write (norm.y2, row, column, columns, x);
    }
}

/* Rows of up to 8 x threads elements, one group a thread, on Hopper.  A block
 * has two at a time, since it waits as long for the sums of two.  With a gain
 * there is no second output. */
template <int threads, bool scaled>
__global__ void
__launch_bounds__ (threads)
    stream_kernel (const __grid_constant__ Norm norm,
                   const __grid_constant__ QmCopied copied)
{
#if __CUDA_ARCH__ >= 900
  constexpr int each = 2;
  extern __shared__ __align__ (QM_COPY_ALIGNMENT) uint4 memory[];
  __shared__ uint64_t full[QM_MOST_STAGES];
  __shared__ float shared[2][2][32];
  QmCopier copier = { copied, full, (char *) memory, norm.rows };
  int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  float share = 1 / (float) columns, gain[QM_GROUP] = {};
  QmDepths depths = { norm.drop_a, norm.sample, gridDim.x };
  Affine first, second;
  float2 both;

  copier.begin ();
  first.fetch (norm.gamma, norm.beta, column, columns);
  fetch_gain<scaled> (norm, column, gain);
  if (!scaled && norm.y2)
    second.fetch (norm.gamma2, norm.beta2, column, columns);
  for (int64_t begin = blockIdx.x; begin < norm.rows; begin += each * gridDim.x)
    {
      float x[each][QM_GROUP] = {}, mean[each] = {}, rstd[each] = {};

#pragma unroll
      for (int k = 0; k < each; k++)
        {
          int64_t row = begin + k * gridDim.x;
          const char *at;
          Column<scaled> now;

          if (row >= norm.rows)
            break;
          at = copier.row (k);
          now.x = qm_fetch_group<true> (at + norm.at_x, column, columns,
                                        norm.x.type);
          if (scaled || norm.a)
            now.a = qm_fetch_group<true> (at + norm.at_a, column, columns,
                                          norm.a.type);
          if (!scaled && norm.b)
            now.b = qm_fetch_group<true> (at + norm.at_b, column, columns,
                                          norm.b.type);
          now.sum (norm, gain, scaled ? depths.next (row) : 1, row, column,
                   x[k]);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            mean[k] += x[k][i];
        }
      both = qm_sum_both (mean[0], mean[1], shared[0]);
      mean[0] = norm.rms ? 0 : both.x * share;
      mean[1] = norm.rms ? 0 : both.y * share;
      copier.release (begin, each);
#pragma unroll
      for (int k = 0; k < each; k++)
        {
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              x[k][i] -= mean[k];
              rstd[k] += x[k][i] * x[k][i];
            }
          rstd[k] = column < columns ? rstd[k] : 0;
        }
      both = qm_sum_both (rstd[0], rstd[1], shared[1]);
      rstd[0] = rsqrtf (both.x * share + norm.epsilon);
      rstd[1] = rsqrtf (both.y * share + norm.epsilon);
#pragma unroll
      for (int k = 0; k < each; k++)
        {
          int64_t row = begin + k * gridDim.x;

          if (row >= norm.rows)
            break;
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            x[k][i] *= rstd[k];
          if (threadIdx.x == 0)
            {
              if (norm.mean != nullptr)
                norm.mean[row] = mean[k];
              norm.rstd[row] = rstd[k];
            }
          first.write (norm.y, row, column, columns, x[k]);
          if (!scaled && norm.y2)
            second.write (norm.y2, row, column, columns, x[k]);
        }
    }
#endif
}

template <int most_threads, bool scaled>
void
launch_stream (const QmCudaContext *context, cudaStream_t stream, Norm norm)
{
  auto kernel = stream_kernel<most_threads, scaled>;
  int threads = (norm.columns + 32 * QM_GROUP - 1) / (32 * QM_GROUP) * 32;
  QmCopied copied = {};
  unsigned blocks;
  size_t bytes;

  norm.at_x = copied.add (norm.x, norm.columns);
  norm.at_a = copied.add (norm.a, norm.columns);
  norm.at_b = copied.add (norm.b, norm.columns);
  blocks =
      qm_resident_copier (context, kernel, threads, norm.rows, copied, &bytes);
  kernel<<<blocks, threads, bytes, stream>>> (norm, copied);
}

template <int threads>
void
launch_columns (const QmCudaContext *context,
                cudaStream_t stream,
                const Norm &norm)
{
  auto kernel = norm.gain.data != nullptr ? column_kernel<threads, true>
                                          : column_kernel<threads, false>;

  kernel<<<qm_resident (context, kernel, threads, norm.rows), threads, 0,
           stream>>> (norm);
}

template <int threads, int groups, bool whole>
void
launch (const QmCudaContext *context, cudaStream_t stream, const Norm &norm)
{
  constexpr int block = threads == 32 ? 128 : threads;
  auto kernel = norm.gain.data != nullptr
                    ? norm_kernel<threads, groups, whole, true>
                    : norm_kernel<threads, groups, whole, false>;
  int64_t blocks = threads == 32 ? (norm.rows + 3) / 4 : norm.rows;

  kernel<<<qm_resident (context, kernel, block, blocks), block, 0, stream>>> (
      norm);
}

void
launch_as_heads (const QmCudaContext *context,
                 cudaStream_t stream,
                 const Norm &norm)
{
  NormHeads heads = { .x = norm.x,
                      .y = norm.y,
                      .gamma = norm.gamma,
                      .beta = norm.beta,
                      .mean = norm.mean,
                      .rstd = norm.rstd,
                      .rows = norm.rows,
                      .columns = norm.columns,
                      .epsilon = norm.epsilon,
                      .rms = norm.rms };

  launch_heads<NormHeadsForward> (context, stream, heads, norm.x.type,
                                  norm.rows);
}

/* Rows with a gain and one output, of one group a thread; longer ones where
 * there is a copy engine, which has more of them under way than registers would
 * hold. */
void
launch_scaled_columns (const QmCudaContext *context,
                       cudaStream_t stream,
                       const Norm &norm)
{
  int n = norm.columns;

  if (n <= 768)
    launch_columns<96> (context, stream, norm);
  else if (n <= 1024)
    launch_columns<128> (context, stream, norm);
  else if (n <= 2048)
    launch_stream<256, true> (context, stream, norm);
  else if (n <= 4096)
    launch_stream<512, true> (context, stream, norm);
  else
    launch_stream<640, true> (context, stream, norm);
}

void
launch_whole (const QmCudaContext *context,
              cudaStream_t stream,
              const Norm &norm)
{
  int n = norm.columns;
  bool hopper = qm_cuda_has_hopper (context),
       scaled = norm.gain.data != nullptr;
  bool streams = hopper && n > 3072 && n <= 640 * QM_GROUP;

  if (norm.a.data == nullptr && norm.y2.data == nullptr
      && are_heads (n, norm.x.type, norm.y.type))
    launch_as_heads (context, stream, norm);
  else if (n <= 256)
    launch<32, 1, true> (context, stream, norm);
  else if (n <= 512)
    launch<32, 2, true> (context, stream, norm);
  else if (scaled && norm.y2.data == nullptr
           && n <= (hopper ? 640 * QM_GROUP : 1024))
    launch_scaled_columns (context, stream, norm);
  else if (streams && !scaled && n <= 4096)
    launch_stream<512, false> (context, stream, norm);
  else if (streams && !scaled)
    launch_stream<640, false> (context, stream, norm);
  else if (n <= 768 && norm.a.data == nullptr)
    launch<32, 3, true> (context, stream, norm);
  else if (n <= 768 && !scaled)
    launch_columns<96> (context, stream, norm);
  else if (n <= 1024 && !scaled)
    launch_columns<128> (context, stream, norm);
  else if (n <= 2048)
    launch<128, 2, true> (context, stream, norm);
  else if (n <= 3072)
    launch<128, 3, true> (context, stream, norm);
  else if (n <= 4096)
    launch<256, 2, true> (context, stream, norm);
  else if (n <= 8192)
    launch<512, 2, true> (context, stream, norm);
  else
    launch<1024, 4, true> (context, stream, norm);
}

} /* namespace */

static_assert (1024 * 4 * QM_GROUP == QM_CUDA_NORM_COLUMNS,
               "longer rows do not fit the registers of a block");

QmStatus
qm_cuda_layer_norm (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  const QmAttributes &attributes = call->attributes;
  Norm norm = { .x = qm_rows (in[0]),
                .a = qm_rows (in[3]),
                .b = qm_rows (in[4]),
                .sum = qm_rows (out[3]),
                .y = qm_rows (out[0]),
                .y2 = qm_rows (out[4]),
                .gamma = qm_rows (in[1]),
                .beta = qm_rows (in[2]),
                .gamma2 = qm_rows (in[5]),
                .beta2 = qm_rows (in[6]),
                .gain = qm_rows (in[8]),
                .mean = (float *) out[1].data,
                .rstd = (float *) out[2].data,
                .drop_a = qm_dropout (attributes, attributes.site, in[7]),
                .drop_b = qm_dropout (attributes, attributes.site2, in[7]),
                .rows = in[0].shape[0],
                .sample = attributes.height * attributes.width,
                .columns = (int) in[0].shape[1],
                .epsilon = (float) attributes.epsilon,
                .rms = attributes.rms };

  if (!qm_tensor_present (&in[5]))
    {
      norm.gamma2 = norm.gamma;
      norm.beta2 = norm.beta;
    }
  bool whole = in[0].shape[1] % QM_GROUP == 0
               && qm_cuda_vectors (&out[0], QM_GROUP)
               && qm_cuda_vectors (&out[3], QM_GROUP)
               && qm_cuda_vectors (&out[4], QM_GROUP);

  for (int i = 0; i <= 8; i++)
    whole = whole && (i == 7 || qm_cuda_vectors (&in[i], QM_GROUP));
  if (whole)
    launch_whole (context, stream, norm);
  else if (norm.columns <= 1024)
    launch<128, 1, false> (context, stream, norm);
  else
    launch<1024, 4, false> (context, stream, norm);
  return qm_cuda_launched (call, error);
}
