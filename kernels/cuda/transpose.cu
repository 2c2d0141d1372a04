/* SPDX-License-Identifier: Apache-2.0 */

/* Transposes for products in TF32, whose tensor cores on Hopper read their
 * factors along the sum alone. */

#include "kernels/cuda/cuda-products.h"
#include "kernels/cuda/cuda-workspace.h"

#include <cuda_runtime.h>

namespace
{

/* Of x: a block's tile at a time.  A warp reads 4 rows of 32 columns, and
 * writes 4 columns of 32 rows; with this step of the tile neither meets itself
 * in the banks of shared memory. */
constexpr int tile_rows = QM_CUDA_TRANSPOSE_ROWS, tile_columns = 64;
constexpr int tile_step = tile_columns + 1;
constexpr int threads = 256, steps = tile_rows / 16;

struct Transpose
{
  const float *x;
  float *y, *partial; /* partial: sums of columns of each group of rows */
  int64_t x_step, y_step, rows;
  int columns, group; /* group: tiles below each other of a block */
};

__device__ __forceinline__ float
round_to_tf32 (float x)
{
#if __CUDA_ARCH__ >= 800
  uint32_t bits;

  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float (bits);
#else
  return x; /* such a GPU has no TF32, and nothing calls for it */
#endif
}

__device__ __forceinline__ void
read_tile (const Transpose &work,
           int64_t row,
           int column,
           float4 (&values)[steps])
{
#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      values[i] = make_float4 (0, 0, 0, 0);
      if (column < work.columns && row + i * 16 < work.rows)
        values[i] =
            *(const float4 *) (work.x + (row + i * 16) * work.x_step + column);
    }
}

/* Four neighbours in a row of y, which are four rows of the tile. */
__device__ __forceinline__ void
write_four (const Transpose &work, int64_t row, int column, const float *tile)
{
  float4 four = make_float4 (tile[0], tile[tile_step], tile[2 * tile_step],
                             tile[3 * tile_step]);
  float *to = work.y + column * work.y_step + row;

  if (column < work.columns && row < work.rows)
    /* Rows of y have room for a multiple of four. */
    *(float4 *) to = four;
}

__device__ __forceinline__ void
write_sums (
    const Transpose &work, float4 sum, int from, int column, float *shared)
{
  __syncthreads ();
  *(float4 *) (shared + from * tile_columns + column) = sum;
  __syncthreads ();
  if (threadIdx.x >= tile_columns)
    return;
  column = (int) (blockIdx.x * tile_columns + threadIdx.x);
  if (column >= work.columns)
    return;
  float total = 0;
  for (int i = 0; i < 16; i++)
    total += shared[i * tile_columns + threadIdx.x];
  work.partial[(int64_t) blockIdx.y * work.columns + column] = total;
}

/* To the tile, rounded. */
__device__ __forceinline__ void
keep_tile (const float4 (&values)[steps], float *to, float4 &sum)
{
#pragma unroll
  for (int i = 0; i < steps; i++, to += 16 * tile_step)
    {
      sum.x += values[i].x;
      sum.y += values[i].y;
      sum.z += values[i].z;
      sum.w += values[i].w;
      to[0] = round_to_tf32 (values[i].x);
      to[1] = round_to_tf32 (values[i].y);
      to[2] = round_to_tf32 (values[i].z);
      to[3] = round_to_tf32 (values[i].w);
    }
}

/* The next tile is on its way while one is written. */
__global__ void
__launch_bounds__ (threads)
    transpose_kernel (const __grid_constant__ Transpose work)
{
  __shared__ __align__ (16) float tile[tile_rows * tile_step];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int column = warp % 2 * 32 + lane % 8 * 4, row = warp / 2 * 4 + lane / 8;
  int first_column = (int) blockIdx.x * tile_columns;
  int64_t first = (int64_t) blockIdx.y * work.group * tile_rows;
  float4 sum = make_float4 (0, 0, 0, 0), values[steps];

  read_tile (work, first + row, first_column + column, values);
  for (int t = 0; t < work.group && first < work.rows; t++, first += tile_rows)
    {
      __syncthreads ();
      keep_tile (values, tile + row * tile_step + column, sum);
      __syncthreads ();
      if (t + 1 < work.group)
        read_tile (work, first + tile_rows + row, first_column + column,
                   values);
#pragma unroll
      for (int i = 0; i < steps; i++)
        {
          /* Warps take 16 times 4 columns, four times 32 rows. */
          int at = warp + i * 8;
          int c = at % 16 * 4 + lane / 8, r = at / 16 * 32 + lane % 8 * 4;

          write_four (work, first + r, first_column + c,
                      tile + r * tile_step + c);
        }
    }
  if (work.partial != nullptr)
    write_sums (work, sum, row, column, tile);
}

} /* namespace */

QmStatus
qm_cuda_transpose_tf32 (cudaStream_t stream,
                        const QmCudaMatrix *x,
                        float *y,
                        int64_t y_step,
                        float *partial,
                        int group,
                        QmError *error)
{
  Transpose work = {
    (const float *) x->data, y,    partial, x->step, y_step, x->rows,
    (int) x->columns,        group
  };
  int64_t tiles = (x->rows + tile_rows - 1) / tile_rows;
  dim3 grid ((unsigned) ((x->columns + tile_columns - 1) / tile_columns),
             (unsigned) ((tiles + group - 1) / group));
  cudaError_t code;

  transpose_kernel<<<grid, threads, 0, stream>>> (work);
  code = cudaGetLastError ();
  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, "transpose", error);
}
