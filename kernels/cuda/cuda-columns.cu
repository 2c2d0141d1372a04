/* SPDX-License-Identifier: Apache-2.0 */

/* What is done along the rows and columns of the matrices of a linear layer,
 * beside its product. */

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/cuda-products.h"

/* Threads of a block: 32 beside each other, each with a group of columns, and
 * so many below each other. */
#define ROWS 8

/* Adds rows first, first + ROWS, ... of one group of columns; several fetches
 * are under way at once. */
template <bool whole>
__device__ __forceinline__ void
sum_rows (const QmRows &x,
          int64_t first,
          int64_t end,
          int column,
          int columns,
          float (&sum)[QM_GROUP])
{
  constexpr int ahead = 4;

  for (int64_t row = first; row < end; row += ahead * ROWS)
    {
      QmRaw raw[ahead];

#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (row + i * ROWS < end)
          raw[i] = qm_fetch_group<whole> (x.row (row + i * ROWS), column,
                                          columns, x.type);
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (row + i * ROWS < end)
          {
            float values[QM_GROUP];

            qm_unpack (raw[i], x.type, values);
#pragma unroll
            for (int c = 0; c < QM_GROUP; c++)
              sum[c] += values[c];
          }
    }
}

/* Row `blockIdx.y` of `partial` = the sums of one of gridDim.y groups of
 * rows. */
template <bool whole>
__global__ void
partial_sums_kernel (QmRows x, int64_t rows, int columns, float *partial)
{
  constexpr int N = QM_GROUP;
  __shared__ float sums[ROWS][32 * N];
  int column = (int) (blockIdx.x * 32 + threadIdx.x) * N;
  int64_t group = (rows + gridDim.y - 1) / gridDim.y;
  int64_t begin = blockIdx.y * group;
  int64_t end = begin + group < rows ? begin + group : rows;
  float sum[N] = {};

  if (column < columns)
    sum_rows<whole> (x, begin + threadIdx.y, end, column, columns, sum);
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
      if (whole || column + i < columns)
        partial[blockIdx.y * (int64_t) columns + column + i] = total;
    }
}

/* Sums that are added up at once, one in each row of blocks. */
struct Parts
{
  const float *partial[QM_CUDA_MOST_SUMS];
  float *sums[QM_CUDA_MOST_SUMS];
};

__global__ void
add_parts_kernel (const __grid_constant__ Parts each,
                  int64_t parts,
                  int64_t columns,
                  float scale)
{
  __shared__ float rows[32][33];
  const float *partial = each.partial[blockIdx.y];
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
    each.sums[blockIdx.y][column] += scale * sum;
}

QmStatus
qm_cuda_add_all_parts (cudaStream_t stream,
                       int n,
                       const float *const *partial,
                       int64_t parts,
                       int64_t columns,
                       float scale,
                       float *const *sums,
                       QmError *error)
{
  dim3 grid ((unsigned) ((columns + 31) / 32), (unsigned) n);
  Parts each = {};
  cudaError_t code;

  for (int i = 0; i < n; i++)
    {
      each.partial[i] = partial[i];
      each.sums[i] = sums[i];
    }
  add_parts_kernel<<<grid, dim3 (32, 32), 0, stream>>> (each, parts, columns,
                                                        scale);
  code = cudaGetLastError ();
  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, "sums of rows", error);
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
  return qm_cuda_add_all_parts (stream, 1, &partial, parts, columns, scale,
                                &sums, error);
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
  bool whole = qm_cuda_vectors (x, QM_GROUP) && columns % QM_GROUP == 0;
  int64_t blocks = (columns + 32 * QM_GROUP - 1) / (32 * QM_GROUP);
  int64_t parts = (8 * (int64_t) context->processors + blocks - 1) / blocks;

  if (parts > (rows + 4 * ROWS - 1) / (4 * ROWS))
    parts = (rows + 4 * ROWS - 1) / (4 * ROWS);
  if (parts > QM_CUDA_PARTS)
    parts = QM_CUDA_PARTS;
  dim3 grid ((unsigned) blocks, (unsigned) parts), block (32, ROWS);

  if (whole)
    partial_sums_kernel<true><<<grid, block, 0, stream>>> (qm_rows (*x), rows,
                                                           (int) columns,
                                                           partial);
  else
    partial_sums_kernel<false><<<grid, block, 0, stream>>> (qm_rows (*x), rows,
                                                            (int) columns,
                                                            partial);
  return qm_cuda_add_parts (stream, partial, parts, columns, scale, sums,
                            error);
}

/* One row, which may be as long as all weights of a layer. */
template <bool whole>
__global__ void __launch_bounds__ (256)
    add_row_kernel (QmRows x, int64_t columns, float scale, float *sums)
{
  int64_t column = ((int64_t) blockIdx.x * 256 + threadIdx.x) * QM_GROUP;
  float values[QM_GROUP];

  if (column >= columns)
    return;
  qm_unpack (qm_fetch_group<whole> (x.data, (int) column, (int) columns,
                                    x.type),
             x.type, values);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    if (whole || column + i < columns)
      sums[column + i] += scale * values[i];
}

static QmStatus
add_row_to_all (cudaStream_t stream, const QmOpCall *call, QmError *error)
{
  const QmTensor &x = call->inputs[0];
  int64_t columns = x.shape[1];
  bool whole = qm_cuda_vectors (&x, QM_GROUP) && columns % QM_GROUP == 0;
  float scale = (float) call->attributes.scale;
  float *sums = (float *) call->outputs[0].data;
  unsigned blocks = qm_blocks (columns, 256 * QM_GROUP);

  if (whole)
    add_row_kernel<true>
        <<<blocks, 256, 0, stream>>> (qm_rows (x), columns, scale, sums);
  else
    add_row_kernel<false>
        <<<blocks, 256, 0, stream>>> (qm_rows (x), columns, scale, sums);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_column_sum (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  if (call->inputs[0].shape[0] == 1)
    return add_row_to_all (stream, call, error);
  return qm_cuda_sum_columns (context, stream, &call->inputs[0],
                              (float) call->attributes.scale,
                              (float *) call->workspace,
                              (float *) call->outputs[0].data, error);
}

/* What is left to do to the result of a product, see qm_cuda_finish_linear()
 * and qm_cuda_finish_input_grad(). */
struct Finish
{
  QmRows x, bias, pre, add, y;
  QmFunction activation;
  QmDivisor groups; /* of a row */
  uint32_t items, rows;
  int columns;
};

/* One group of columns of so many rows is a thread's: the bias is read once for
 * them, and their memory at the same time. */
template <bool backward> constexpr int finished_rows = backward ? 2 : 4;

template <bool whole>
__device__ __forceinline__ void
finish_linear (const Finish &work,
               uint32_t row,
               int column,
               const QmRaw &raw,
               const float (&bias)[QM_GROUP])
{
  float x[QM_GROUP];

  qm_unpack (raw, work.x.type, x);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    x[i] += bias[i];
  if (work.pre)
    qm_put_group<whole> (work.pre.row (row), column, work.columns,
                         work.pre.type, x);
  qm_activate<false> (work.activation, work.y.type, x, x);
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, x);
}

template <bool whole>
__device__ __forceinline__ void
finish_input_grad (const Finish &work,
                   uint32_t row,
                   int column,
                   const QmRaw &raw,
                   const QmRaw &raw_pre,
                   const QmRaw &raw_add)
{
  float dx[QM_GROUP], other[QM_GROUP];

  qm_unpack (raw, work.x.type, dx);
  if (work.pre)
    {
      qm_unpack (raw_pre, work.pre.type, other);
      qm_activate<true> (work.activation, work.y.type, other, dx);
    }
  if (work.add)
    {
      qm_unpack (raw_add, work.add.type, other);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        dx[i] += other[i];
    }
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, dx);
}

template <bool backward, bool whole>
__global__ void __launch_bounds__ (256)
    finish_kernel (const __grid_constant__ Finish work)
{
  uint32_t item = blockIdx.x * 256 + threadIdx.x, group;
  uint32_t first = work.groups.quotient (item, group) * finished_rows<backward>;
  int column = (int) group * QM_GROUP;
  QmRaw x[finished_rows<backward>], pre[finished_rows<backward>],
      add[finished_rows<backward>];
  float bias[QM_GROUP] = {};

  if (item >= work.items)
    return;
#pragma unroll
  for (int r = 0; r < finished_rows<backward>; r++)
    {
      uint32_t row = first + r < work.rows ? first + r : work.rows - 1;

      x[r] = qm_fetch_group<whole> (work.x.row (row), column, work.columns,
                                    work.x.type);
      if (backward && work.pre)
        pre[r] = qm_fetch_group<whole> (work.pre.row (row), column,
                                        work.columns, work.pre.type);
      if (backward && work.add)
        add[r] = qm_fetch_group<whole> (work.add.row (row), column,
                                        work.columns, work.add.type);
    }
  if (!backward && work.bias)
    qm_unpack (qm_fetch_group<whole> (work.bias.data, column, work.columns,
                                      work.bias.type),
               work.bias.type, bias);
#pragma unroll
  for (int r = 0; r < finished_rows<backward>; r++)
    if (first + r < work.rows)
      {
        if (backward)
          finish_input_grad<whole> (work, first + r, column, x[r], pre[r],
                                    add[r]);
        else
          finish_linear<whole> (work, first + r, column, x[r], bias);
      }
}

static bool
all_vectors (const QmTensor *const *tensors, int n)
{
  for (int i = 0; i < n; i++)
    if (tensors[i] != nullptr
        && (tensors[i]->shape[tensors[i]->rank - 1] % QM_GROUP != 0
            || !qm_cuda_vectors (tensors[i], QM_GROUP)))
      return false;
  return true;
}

static QmRows
rows_of (const QmTensor *tensor)
{
  return tensor != nullptr ? qm_rows (*tensor) : QmRows{};
}

/* Rows from `first` on of a matrix; no tensor stays none. */
static QmRows
rows_from (QmRows rows, int64_t first)
{
  if (rows.data != nullptr)
    rows.data += first * rows.stride;
  return rows;
}

template <bool backward>
static QmStatus
finish_columns (cudaStream_t stream,
                const Finish &whole_work,
                const QmTensor *const *tensors,
                int n,
                int64_t rows,
                QmError *error)
{
  bool whole = all_vectors (tensors, n);
  int64_t groups = (whole_work.columns + QM_GROUP - 1) / QM_GROUP;
  int64_t slice = qm_slice (groups) * finished_rows<backward>;
  cudaError_t code;

  for (int64_t first = 0; first < rows; first += slice)
    {
      int64_t count = rows - first < slice ? rows - first : slice;
      Finish work = whole_work;

      work.x = rows_from (work.x, first);
      work.pre = rows_from (work.pre, first);
      work.add = rows_from (work.add, first);
      work.y = rows_from (work.y, first);
      work.groups = qm_divisor (groups);
      work.rows = (uint32_t) count;
      work.items = (uint32_t) ((count + finished_rows<backward> - 1)
                               / finished_rows<backward> * groups);
      if (whole)
        finish_kernel<backward, true>
            <<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
      else
        finish_kernel<backward, false>
            <<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
    }
  code = cudaGetLastError ();
  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, backward ? "linear_input_grad" : "linear",
                               error);
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
  Finish work = { .x = rows_of (x),
                  .bias = rows_of (bias),
                  .pre = rows_of (pre),
                  .y = rows_of (y),
                  .activation = activation,
                  .columns = (int) y->shape[1] };

  return finish_columns<false> (stream, work, tensors, 4, y->shape[0], error);
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
  Finish work = { .x = rows_of (dx),
                  .pre = rows_of (pre),
                  .add = rows_of (add),
                  .y = rows_of (dx),
                  .activation = activation,
                  .columns = (int) dx->shape[1] };

  return finish_columns<true> (stream, work, tensors, 3, dx->shape[0], error);
}
