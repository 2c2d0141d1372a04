/* SPDX-License-Identifier: Apache-2.0 */

/* What a student learns from a teacher: shares of prototypes, and the cross
 * entropy with them.  Rows are some dozens to thousands, columns are up to
 * hundreds of thousands, and both are bound by memory. */

#include "kernels/cuda/cuda-rows.cuh"

#include <float.h>

namespace
{

constexpr int column_threads = 128;
constexpr int row_threads = 1024;

struct Shares
{
  QmRows x, p;
  float *columns, *rows;
  int64_t n_rows;
  int n_columns;
  float factor; /* of exponents to the base of 2 */
  bool first;   /* rows are 1 yet */

  __device__ __forceinline__ float
  exponential (float cosine) const
  {
    return exp2f ((cosine - 1) * factor);
  }
};

/* A thread has a column, and adds up its rows in their order. */
__global__ void
__launch_bounds__ (column_threads)
    columns_kernel (const __grid_constant__ Shares work)
{
  constexpr int ahead = 8;
  int k = (int) (blockIdx.x * column_threads + threadIdx.x);
  float sum = 0;

  if (k >= work.n_columns)
    return;
  for (int64_t t = 0; t < work.n_rows; t += ahead)
    {
      float x[ahead];

#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (t + i < work.n_rows)
          x[i] = qm_load ({ work.x.row (t + i), work.x.type }, k);
#pragma unroll
      for (int i = 0; i < ahead; i++)
        if (t + i < work.n_rows)
          sum += work.exponential (x[i]) * (work.first ? 1 : work.rows[t + i]);
    }
  work.columns[k] = 1 / sum;
}

/* A block has a row. */
__global__ void
__launch_bounds__ (row_threads)
    rows_kernel (const __grid_constant__ Shares work)
{
  __shared__ float shared[32];
  int64_t t = blockIdx.x;
  QmArray x = { work.x.row (t), work.x.type };
  float sum = 0;

  for (int k = (int) threadIdx.x; k < work.n_columns; k += row_threads)
    sum += work.exponential (qm_load (x, k)) * work.columns[k];
  sum = qm_block_sum (sum, shared);
  if (threadIdx.x == 0)
    work.rows[t] = 1 / sum;
}

__global__ void
__launch_bounds__ (row_threads)
    shares_kernel (const __grid_constant__ Shares work)
{
  int64_t t = blockIdx.x;
  QmArray x = { work.x.row (t), work.x.type };
  QmArray p = { work.p.row (t), work.p.type };
  float row = work.rows[t];

  for (int k = (int) threadIdx.x; k < work.n_columns; k += row_threads)
    qm_store (p, k, work.exponential (qm_load (x, k)) * row * work.columns[k]);
}

struct TeacherLoss
{
  QmRows x, p, dx;
  const float *state;
  float *losses;
  int64_t told, crops, others;
  int columns;
  float factor, scale; /* factor: 1 / temperature */

  /* Of image `image`, but for the crop that is row `r`. */
  __device__ __forceinline__ float
  target (int64_t image, int64_t r, int k) const
  {
    float sum = 0;

    for (int64_t i = image * crops; i < (image + 1) * crops; i++)
      if (i != r)
        sum += qm_load ({ p.row (i), p.type }, k);
    return sum;
  }
};

/* A block has a row.  Each thread keeps its own maximum while it adds up, and
 * they are brought together afterwards: so the row is read but twice. */
__global__ void
__launch_bounds__ (row_threads)
    teacher_loss_kernel (const __grid_constant__ TeacherLoss work)
{
  __shared__ float shared[32];
  int64_t r = blockIdx.x;
  int64_t image =
      r < work.told ? r / work.crops : (r - work.told) / work.others;
  QmArray x = { work.x.row (r), work.x.type };
  QmArray dx = { work.dx.row (r), work.dx.type };
  float largest = -FLT_MAX, sum = 0, told = 0, dot = 0, most, all;
  float slope = work.scale * work.factor * work.state[QM_STATE_LOSS_SCALE];

  for (int k = (int) threadIdx.x; k < work.columns; k += row_threads)
    {
      float y = qm_load (x, k) * work.factor;
      float target = work.target (image, r, k);

      if (y > largest)
        {
          sum *= expf (largest - y);
          largest = y;
        }
      sum += expf (y - largest);
      told += target;
      dot += target * y;
    }
  most = qm_block_max (largest, shared);
  sum = qm_block_sum (sum * expf (largest - most), shared);
  told = qm_block_sum (told, shared);
  dot = qm_block_sum (dot, shared);
  all = logf (sum) + most;
  if (threadIdx.x == 0)
    work.losses[r] = work.scale * (told * all - dot);
  for (int k = (int) threadIdx.x; k < work.columns; k += row_threads)
    {
      float share = expf (qm_load (x, k) * work.factor - all);

      qm_store (dx, k, slope * (told * share - work.target (image, r, k)));
    }
}

} /* namespace */

QmStatus
qm_cuda_share_out (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor &x = call->inputs[0];
  Shares work = { .x = qm_rows (x),
                  .p = qm_rows (call->outputs[0]),
                  .columns = (float *) call->outputs[1].data,
                  .rows = (float *) call->outputs[2].data,
                  .n_rows = x.shape[0],
                  .n_columns = (int) x.shape[1],
                  .factor =
                      (float) (1.4426950408889634 / call->attributes.value),
                  .first = true };
  unsigned rows = (unsigned) x.shape[0];

  for (int64_t i = 0; i < call->attributes.count; i++)
    {
      columns_kernel<<<qm_blocks ((uint32_t) work.n_columns, column_threads),
                       column_threads, 0, stream>>> (work);
      rows_kernel<<<rows, row_threads, 0, stream>>> (work);
      work.first = false;
    }
  shares_kernel<<<rows, row_threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_teacher_loss (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  const QmTensor &x = call->inputs[0], &p = call->inputs[1];
  int64_t crops = call->attributes.count, images = p.shape[0] / crops;
  TeacherLoss work = { .x = qm_rows (x),
                       .p = qm_rows (p),
                       .dx = qm_rows (call->outputs[0]),
                       .state = (const float *) call->inputs[2].data,
                       .losses = (float *) call->outputs[1].data,
                       .told = p.shape[0],
                       .crops = crops,
                       .others = (x.shape[0] - p.shape[0]) / images,
                       .columns = (int) x.shape[1],
                       .factor = (float) (1 / call->attributes.value),
                       .scale = (float) call->attributes.scale };

  teacher_loss_kernel<<<(unsigned) x.shape[0], row_threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
