/* SPDX-License-Identifier: Apache-2.0 */

/* What is done along the rows and columns of the matrices of a linear layer,
 * beside its product. */

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/cuda-products.h"

#define WIDTH 8

/* Threads of a block: 32 beside each other, each with WIDTH columns, and so
 * many below each other. */
#define ROWS 8

/* A matrix as an argument of a kernel. */
struct Matrix
{
  QmArray array;
  int64_t step;
};

static Matrix
matrix (const QmTensor *tensor)
{
  if (tensor == nullptr)
    return {};
  return { qm_array (*tensor), qm_row_stride (*tensor) };
}

/* Row `blockIdx.y` of `partial` = the sums of one of gridDim.y groups of
 * rows. */
template <int N>
__global__ void
partial_sums_kernel (Matrix x, int64_t rows, int64_t columns, float *partial)
{
  __shared__ float sums[ROWS][32 * N];
  int64_t column = (blockIdx.x * (int64_t) 32 + threadIdx.x) * N;
  int64_t group = (rows + gridDim.y - 1) / gridDim.y;
  int64_t begin = blockIdx.y * group;
  int64_t end = begin + group < rows ? begin + group : rows;
  float sum[N] = {};

  if (column < columns)
#pragma unroll 4
    for (int64_t row = begin + threadIdx.y; row < end; row += ROWS)
      {
        float values[N];

        qm_load<N> (x.array, row * x.step + column, values);
#pragma unroll
        for (int i = 0; i < N; i++)
          sum[i] += values[i];
      }
#pragma unroll
  for (int i = 0; i < N; i++)
    sums[threadIdx.y][i * 32 + threadIdx.x] = sum[i];
  __syncthreads ();
  if (threadIdx.y != 0 || column >= columns)
    return;
#pragma unroll
  for (int i = 0; i < N; i++)
    {
      float total = 0;

      for (int row = 0; row < ROWS; row++)
        total += sums[row][i * 32 + threadIdx.x];
      partial[blockIdx.y * columns + column + i] = total;
    }
}

__global__ void
add_parts_kernel (const float *partial,
                  int64_t parts,
                  int64_t columns,
                  float scale,
                  float *sums)
{
  __shared__ float rows[32][33];
  int64_t column = blockIdx.x * (int64_t) 32 + threadIdx.x;
  float sum = 0;

  if (column < columns)
#pragma unroll 4
    for (int64_t part = threadIdx.y; part < parts; part += 32)
      sum += partial[part * columns + column];
  rows[threadIdx.x][threadIdx.y] = sum;
  __syncthreads ();
  sum = qm_warp_sum (rows[threadIdx.y][threadIdx.x]);
  column = blockIdx.x * (int64_t) 32 + threadIdx.y;
  if (threadIdx.x == 0 && column < columns)
    sums[column] += scale * sum;
}

QmStatus
qm_cuda_add_parts (cudaStream_t stream,
                   const float *partial,
                   int64_t parts,
                   int64_t columns,
                   float scale,
                   float *sums,
                   QmError *error)
{
  cudaError_t code;

  add_parts_kernel<<<(unsigned) ((columns + 31) / 32), dim3 (32, 32), 0,
                     stream>>> (partial, parts, columns, scale, sums);
  code = cudaGetLastError ();
  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, "sums of rows", error);
}

QmStatus
qm_cuda_sum_columns (const QmCudaContext *context,
                     cudaStream_t stream,
                     const QmTensor *x,
                     float scale,
                     float *partial,
                     float *sums,
                     QmError *error)
{
  int64_t rows = x->shape[0], columns = x->shape[1];
  bool vectors = qm_cuda_vectors (x, WIDTH);
  int64_t beside = 32 * (vectors ? WIDTH : 1);
  int64_t blocks = (columns + beside - 1) / beside;
  int64_t parts = (8 * (int64_t) context->processors + blocks - 1) / blocks;

  if (parts > (rows + 4 * ROWS - 1) / (4 * ROWS))
    parts = (rows + 4 * ROWS - 1) / (4 * ROWS);
  if (parts > QM_CUDA_PARTS)
    parts = QM_CUDA_PARTS;
  dim3 grid ((unsigned) blocks, (unsigned) parts), block (32, ROWS);

  if (vectors)
    partial_sums_kernel<WIDTH>
        <<<grid, block, 0, stream>>> (matrix (x), rows, columns, partial);
  else
    partial_sums_kernel<1>
        <<<grid, block, 0, stream>>> (matrix (x), rows, columns, partial);
  return qm_cuda_add_parts (stream, partial, parts, columns, scale, sums,
                            error);
}

QmStatus
qm_cuda_column_sum (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  return qm_cuda_sum_columns (context, stream, &call->inputs[0],
                              (float) call->attributes.scale,
                              (float *) call->workspace,
                              (float *) call->outputs[0].data, error);
}

/* pre = x + bias, y = activation (pre); pre and bias may be absent. */
template <int N>
__global__ void
finish_linear_kernel (Matrix x,
                      QmArray bias,
                      Matrix pre,
                      QmFunction activation,
                      Matrix y,
                      int64_t rows,
                      int64_t vectors)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < rows * vectors; item += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t row = item / vectors, column = item % vectors * N;
      float values[N], offsets[N] = {};

      qm_load<N> (x.array, row * x.step + column, values);
      if (bias)
        qm_load<N> (bias, column, offsets);
#pragma unroll
      for (int i = 0; i < N; i++)
        values[i] += offsets[i];
      if (pre.array)
        qm_store<N> (pre.array, row * pre.step + column, values);
#pragma unroll
      for (int i = 0; i < N; i++)
        values[i] = qm_function (activation, values[i]);
      qm_store<N> (y.array, row * y.step + column, values);
    }
}

/* dx = dx activation' (pre) + add; pre and add may be absent. */
template <int N>
__global__ void
finish_input_grad_kernel (Matrix pre,
                          Matrix add,
                          QmFunction activation,
                          Matrix dx,
                          int64_t rows,
                          int64_t vectors)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < rows * vectors; item += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t row = item / vectors, column = item % vectors * N;
      float values[N], other[N];

      qm_load<N> (dx.array, row * dx.step + column, values);
      if (pre.array)
        {
          qm_load<N> (pre.array, row * pre.step + column, other);
#pragma unroll
          for (int i = 0; i < N; i++)
            values[i] *= qm_function_slope (activation, other[i]);
        }
      if (add.array)
        {
          qm_load<N> (add.array, row * add.step + column, other);
#pragma unroll
          for (int i = 0; i < N; i++)
            values[i] += other[i];
        }
      qm_store<N> (dx.array, row * dx.step + column, values);
    }
}

static bool
all_vectors (const QmTensor *const *tensors, int n)
{
  for (int i = 0; i < n; i++)
    if (tensors[i] != nullptr && !qm_cuda_vectors (tensors[i], WIDTH))
      return false;
  return true;
}

static QmStatus
launched (const char *what, QmError *error)
{
  cudaError_t code = cudaGetLastError ();

  return code == cudaSuccess ? QM_OK : qm_cuda_failed (code, what, error);
}

QmStatus
qm_cuda_finish_linear (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmTensor *x,
                       const QmTensor *bias,
                       const QmTensor *pre,
                       QmFunction activation,
                       const QmTensor *y,
                       QmError *error)
{
  const QmTensor *tensors[] = { x, bias, pre, y };
  int width = all_vectors (tensors, 4) ? WIDTH : 1;
  int64_t rows = y->shape[0], vectors = y->shape[1] / width;
  unsigned grid = qm_grid (context, rows * vectors, 256);
  QmArray offsets = bias != nullptr ? qm_array (*bias) : QmArray{};

  if (width == WIDTH)
    finish_linear_kernel<WIDTH>
        <<<grid, 256, 0, stream>>> (matrix (x), offsets, matrix (pre),
                                    activation, matrix (y), rows, vectors);
  else
    finish_linear_kernel<1>
        <<<grid, 256, 0, stream>>> (matrix (x), offsets, matrix (pre),
                                    activation, matrix (y), rows, vectors);
  return launched ("linear", error);
}

QmStatus
qm_cuda_finish_input_grad (const QmCudaContext *context,
                           cudaStream_t stream,
                           const QmTensor *pre,
                           const QmTensor *add,
                           QmFunction activation,
                           const QmTensor *dx,
                           QmError *error)
{
  const QmTensor *tensors[] = { pre, add, dx };
  int width = all_vectors (tensors, 3) ? WIDTH : 1;
  int64_t rows = dx->shape[0], vectors = dx->shape[1] / width;
  unsigned grid = qm_grid (context, rows * vectors, 256);

  if (width == WIDTH)
    finish_input_grad_kernel<WIDTH>
        <<<grid, 256, 0, stream>>> (matrix (pre), matrix (add), activation,
                                    matrix (dx), rows, vectors);
  else
    finish_input_grad_kernel<1>
        <<<grid, 256, 0, stream>>> (matrix (pre), matrix (add), activation,
                                    matrix (dx), rows, vectors);
  return launched ("linear_input_grad", error);
}
