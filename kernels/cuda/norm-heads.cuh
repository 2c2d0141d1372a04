/* SPDX-License-Identifier: Apache-2.0 */

/* Norms of many short rows, as of the heads of queries and keys: as many rows
 * share a warp as it has lanes for, and each thread has several of them under
 * way, for with one there is too little to wait for at a time.  Norms of one
 * input and one output alone, both of one type. */

#ifndef QM_KERNELS_CUDA_NORM_HEADS_CUH
#define QM_KERNELS_CUDA_NORM_HEADS_CUH

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct NormHeads
{
  QmRows x, y, gamma, beta;
  QmRows dy, dx; /* of the backward pass */
  float *mean, *rstd;
  float *parts[2]; /* [gridDim.x, columns] of the gradients of gamma and beta */
  int64_t rows;
  int columns;
  float epsilon;
  bool rms;
};

constexpr int heads_threads = 256;
constexpr int heads_at_once = 4; /* rows that a thread has under way */

/* Of the lanes that share a row. */
template <int lanes>
__device__ __forceinline__ float
heads_sum (float x)
{
#pragma unroll
  for (int other = lanes / 2; other > 0; other /= 2)
    x += __shfl_xor_sync (0xffffffffu, x, other);
  return x;
}

template <QmType type, int lanes>
__global__ void
__launch_bounds__ (heads_threads)
    norm_heads_kernel (const __grid_constant__ NormHeads norm)
{
  constexpr int each = heads_threads / lanes;
  int lane = (int) threadIdx.x % lanes, slot = (int) threadIdx.x / lanes;
  int column = lane * QM_GROUP, columns = norm.columns;
  float scale[QM_GROUP], shift[QM_GROUP] = {}, share = 1 / (float) columns;

  qm_unpack (qm_fetch_group<true> (norm.gamma.data, column, columns,
                                   norm.gamma.type),
             norm.gamma.type, scale);
  if (norm.beta)
    qm_unpack (qm_fetch_group<true> (norm.beta.data, column, columns,
                                     norm.beta.type),
               norm.beta.type, shift);
  for (int64_t begin = (int64_t) blockIdx.x * each * heads_at_once;
       begin < norm.rows; begin += (int64_t) gridDim.x * each * heads_at_once)
    {
      QmRaw raw[heads_at_once];

#pragma unroll
      for (int k = 0; k < heads_at_once; k++)
        {
          int64_t row = begin + k * each + slot;

          raw[k] = row < norm.rows
                       ? qm_fetch_group<true> (norm.x.row (row), column,
                                               columns, type)
                       : QmRaw{};
        }
#pragma unroll
      for (int k = 0; k < heads_at_once; k++)
        {
          int64_t row = begin + k * each + slot;
          float x[QM_GROUP], mean = 0, rstd = 0;

          qm_unpack (raw[k], type, x);
          if (!norm.rms)
            {
#pragma unroll
              for (int i = 0; i < QM_GROUP; i++)
                mean += x[i];
              mean = heads_sum<lanes> (mean) * share;
            }
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              x[i] = column < columns ? x[i] - mean : 0;
              rstd += x[i] * x[i];
            }
          rstd = rsqrtf (heads_sum<lanes> (rstd) * share + norm.epsilon);
          if (row >= norm.rows)
            continue;
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            x[i] = x[i] * rstd * scale[i] + shift[i];
          qm_put_group<true> (norm.y.row (row), column, columns, type, x);
          if (lane == 0)
            {
              if (norm.mean != nullptr)
                norm.mean[row] = mean;
              norm.rstd[row] = rstd;
            }
        }
    }
}

/* One row of the sums of this block, of those of its threads. */
template <int lanes>
__device__ __forceinline__ void
heads_part (float *part, int columns, const float (&sums)[QM_GROUP])
{
  constexpr int width = lanes * QM_GROUP;
  __shared__ float shared[heads_threads * QM_GROUP];

  __syncthreads ();
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    shared[(int) threadIdx.x * QM_GROUP + i] = sums[i];
  __syncthreads ();
  if ((int) threadIdx.x < columns)
    {
      float sum = 0;

#pragma unroll 8
      for (int at = (int) threadIdx.x; at < heads_threads * QM_GROUP;
           at += width)
        sum += shared[at];
      part[(int64_t) blockIdx.x * columns + threadIdx.x] = sum;
    }
}

template <QmType type, int lanes>
__global__ void
__launch_bounds__ (heads_threads)
    norm_heads_backward_kernel (const __grid_constant__ NormHeads norm)
{
  constexpr int each = heads_threads / lanes;
  int lane = (int) threadIdx.x % lanes, slot = (int) threadIdx.x / lanes;
  int column = lane * QM_GROUP, columns = norm.columns;
  float scale[QM_GROUP], dgamma[QM_GROUP] = {}, dbeta[QM_GROUP] = {};
  float share = 1 / (float) columns;

  qm_unpack (qm_fetch_group<true> (norm.gamma.data, column, columns,
                                   norm.gamma.type),
             norm.gamma.type, scale);
  for (int64_t begin = (int64_t) blockIdx.x * each * heads_at_once;
       begin < norm.rows; begin += (int64_t) gridDim.x * each * heads_at_once)
    {
      QmRaw x[heads_at_once], dy[heads_at_once];
      float mean[heads_at_once], rstd[heads_at_once];

#pragma unroll
      for (int k = 0; k < heads_at_once; k++)
        {
          int64_t row = begin + k * each + slot;
          bool inside = row < norm.rows;

          x[k] = inside ? qm_fetch_group<true> (norm.x.row (row), column,
                                                columns, type)
                        : QmRaw{};
          dy[k] = inside ? qm_fetch_group<true> (norm.dy.row (row), column,
                                                 columns, type)
                         : QmRaw{};
          mean[k] = inside && !norm.rms ? norm.mean[row] : 0;
          rstd[k] = inside ? norm.rstd[row] : 0;
        }
#pragma unroll
      for (int k = 0; k < heads_at_once; k++)
        {
          int64_t row = begin + k * each + slot;
          float n[QM_GROUP], d[QM_GROUP], total = 0, dot = 0;

          qm_unpack (x[k], type, n);
          qm_unpack (dy[k], type, d);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              n[i] = (n[i] - mean[k]) * rstd[k];
              dgamma[i] += d[i] * n[i];
              dbeta[i] += d[i];
              d[i] *= scale[i];
              total += d[i];
              dot += d[i] * n[i];
            }
          total = norm.rms ? 0 : heads_sum<lanes> (total) * share;
          dot = heads_sum<lanes> (dot) * share;
          if (row >= norm.rows)
            continue;
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            d[i] = rstd[k] * (d[i] - total - n[i] * dot);
          qm_put_group<true> (norm.dx.row (row), column, columns, type, d);
        }
    }
  heads_part<lanes> (norm.parts[0], columns, dgamma);
  heads_part<lanes> (norm.parts[1], columns, dbeta);
}

using NormHeadsKernel = void (*) (NormHeads);

/* Whether rows are so short, and all of one type. */
bool
are_heads (int64_t columns, QmType type, QmType other)
{
  return columns <= 32 * QM_GROUP && type == other;
}

/* The kernel for rows of that type and length. */
template <template <QmType, int> class Kernel>
NormHeadsKernel
choose_heads (QmType type, int columns, int *lanes)
{
  *lanes = columns <= 8 * QM_GROUP ? 8 : columns <= 16 * QM_GROUP ? 16 : 32;
#define CHOOSE(its_type)                              \
  return *lanes == 8    ? Kernel<its_type, 8>::value  \
         : *lanes == 16 ? Kernel<its_type, 16>::value \
                        : Kernel<its_type, 32>::value
  if (type == QM_TYPE_F32)
    CHOOSE (QM_TYPE_F32);
  if (type == QM_TYPE_F16)
    CHOOSE (QM_TYPE_F16);
  CHOOSE (QM_TYPE_BF16);
#undef CHOOSE
}

/* Launches it; returns the number of its blocks, at most `most`. */
template <template <QmType, int> class Kernel>
unsigned
launch_heads (const QmCudaContext *context,
              cudaStream_t stream,
              const NormHeads &norm,
              QmType type,
              int64_t most)
{
  int lanes;
  NormHeadsKernel kernel = choose_heads<Kernel> (type, norm.columns, &lanes);
  int64_t each = heads_threads / lanes * heads_at_once;
  int64_t blocks = (norm.rows + each - 1) / each;
  unsigned resident = qm_resident (context, kernel, heads_threads,
                                   blocks < most ? blocks : most);

  kernel<<<resident, heads_threads, 0, stream>>> (norm);
  return resident;
}

template <QmType type, int lanes> struct NormHeadsForward
{
  static constexpr NormHeadsKernel value = norm_heads_kernel<type, lanes>;
};

template <QmType type, int lanes> struct NormHeadsBackward
{
  static constexpr NormHeadsKernel value =
      norm_heads_backward_kernel<type, lanes>;
};

} /* namespace */

#endif
