/* SPDX-License-Identifier: Apache-2.0 */

/* Products of matrices without a library, for every GPU that there are kernels
 * for: where cuBLASLt is not installed, so that a benchmark runs on a node with
 * nothing but the driver.  Plain rather than fast. */

#include "kernels/cuda/portable-product.h"

#include "kernels/cuda/portable-tiles.cuh"

namespace
{

using namespace qm_portable;

/* Row tiles that are worked on together, so that they share columns in the L2
 * cache. */
constexpr int GROUP = 8;
/* A sum is divided between blocks where there are few tiles, but not into
 * shorter parts than so many steps. */
constexpr int FEWEST_STEPS = 16;
constexpr int MOST_BATCH = 65535; /* of a grid */

struct Work
{
  Factor a, b;
  int64_t inner;
  QmArray c, d, bias;
  int64_t step_c, step_d, stride_c, stride_d;
  float alpha;
  int row_tiles, column_tiles;
  int64_t part; /* of the sum that a block does */
  bool divided; /* whether others add to the same elements of d */
};

/* d = alpha sum + bias + c of one element. */
__device__ __forceinline__ void
finish (const Work &work, int64_t row, int64_t column, float sum)
{
  int64_t batch = blockIdx.z, at;

  if (row >= work.a.outer || column >= work.b.outer)
    return;
  at = batch * work.stride_d + row * work.step_d + column;
  sum *= work.alpha;
  if (work.divided)
    {
      atomicAdd ((float *) work.d.data + at, sum);
      return;
    }
  if (work.bias)
    sum += qm_load (work.bias, column);
  if (work.c)
    sum += qm_load (work.c, batch * work.stride_c + row * work.step_c + column);
  qm_store (work.d, at, sum);
}

/* The tile of d of a block. */
__device__ __forceinline__ void
find_tile (const Work &work, int64_t *row, int64_t *column)
{
  int group = GROUP * work.column_tiles;
  int first = (int) blockIdx.x / group * GROUP;
  int rows = work.row_tiles - first < GROUP ? work.row_tiles - first : GROUP;
  int index = (int) blockIdx.x % group;

  *row = (int64_t) (first + index % rows) * TILE;
  *column = (int64_t) (index / rows) * TILE;
}

template <class T, bool ALONG_A, bool ALONG_B, class Sums>
__global__ void
__launch_bounds__ (THREADS) multiply (const Work work)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const T *a = (const T *) work.a.data + blockIdx.z * work.a.batch_stride;
  const T *b = (const T *) work.b.data + blockIdx.z * work.b.batch_stride;
  int64_t begin = blockIdx.y * work.part, end = begin + work.part, row, column;
  Sums sums;

  end = end < work.inner ? end : work.inner;
  find_tile (work, &row, &column);
  add_steps<T, ALONG_A, ALONG_B> (sums, shared, work.a, a, work.b, b, row,
                                  column, begin, end);
  sums.store (row, column, [&] (int64_t r, int64_t c, float sum) {
    finish (work, r, c, sum);
  });
}

template <class T, bool ALONG_A, bool ALONG_B, class Sums>
cudaError_t
launch (const Work &work, int batch, int parts, cudaStream_t stream)
{
  auto kernel = multiply<T, ALONG_A, ALONG_B, Sums>;
  int bytes = tile_bytes<T, ALONG_A, ALONG_B> ();
  dim3 grid ((unsigned) (work.row_tiles * work.column_tiles), (unsigned) parts,
             (unsigned) batch);
  cudaError_t code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes);

  if (code != cudaSuccess)
    return code;
  kernel<<<grid, THREADS, bytes, stream>>> (work);
  return cudaGetLastError ();
}

/* The kernel for a type and where the factors lie along the sum. */
template <class T, bool EXACT>
cudaError_t
choose (const Work &work,
        bool along_a,
        bool along_b,
        int batch,
        int parts,
        cudaStream_t stream)
{
#define LAUNCH(A, B)                                                  \
  if constexpr (EXACT)                                                \
    return launch<T, A, B, Exact<A, B>> (work, batch, parts, stream); \
  else                                                                \
    return launch<T, A, B, Tensor<T, A, B>> (work, batch, parts, stream)

  if (along_a && along_b)
    LAUNCH (true, true);
  else if (along_a)
    LAUNCH (true, false);
  else if (along_b)
    LAUNCH (false, true);
  else
    LAUNCH (false, false);
#undef LAUNCH
}

Factor
factor_of (const QmCudaMatrix &m, int64_t outer, int64_t batch)
{
  size_t size = qm_type_size (m.type);
  bool vectors = (uintptr_t) m.data % CHUNK == 0
                 && (size_t) m.step * size % CHUNK == 0
                 && (batch == 1 || (size_t) m.batch_stride * size % CHUNK == 0);

  return { m.data, outer, m.step, m.batch_stride, vectors };
}

/* Divides the sum where there are few tiles, and where parts of it may be added
 * to what is there in any order; returns into how many parts. */
int
divide (Work *work, const QmCudaProduct &product, int processors)
{
  int64_t step = product.a.type == QM_TYPE_F32 ? 16 : 32;
  int64_t steps = (work->inner + step - 1) / step;
  int64_t tiles =
      (int64_t) work->row_tiles * work->column_tiles * product.batch;
  int64_t parts = 2 * processors / (tiles > 0 ? tiles : 1);
  int64_t each;

  work->part = work->inner;
  if (!product.any_order || product.d.type != QM_TYPE_F32
      || product.c.data != product.d.data || product.bias != NULL)
    return 1;
  if (parts > steps / FEWEST_STEPS)
    parts = steps / FEWEST_STEPS;
  if (parts < 2)
    return 1;
  each = (steps + parts - 1) / parts;
  work->part = each * step;
  work->divided = true;
  return (int) ((steps + each - 1) / each);
}

Work
work_of (const QmCudaProduct &product)
{
  Work work = {};

  work.a = factor_of (product.a, product.d.rows, product.batch);
  work.b = factor_of (product.b, product.d.columns, product.batch);
  work.inner = product.a.columns;
  work.c = { product.c.data, product.d.type };
  work.d = { product.d.data, product.d.type };
  work.bias = { product.bias, product.d.type };
  work.step_c = product.c.step;
  work.step_d = product.d.step;
  work.stride_c = product.c.batch_stride;
  work.stride_d = product.d.batch_stride;
  work.alpha = product.alpha;
  work.row_tiles = (int) ((product.d.rows + TILE - 1) / TILE);
  work.column_tiles = (int) ((product.d.columns + TILE - 1) / TILE);
  return work;
}

/* The rest of a batch, from `first` on. */
Work
from_batch (const Work &work, QmType type, int64_t first)
{
  size_t size = qm_type_size (type), size_d = qm_type_size (work.d.type);
  Work rest = work;

  rest.a.data = (const char *) work.a.data
                + (size_t) (first * work.a.batch_stride) * size;
  rest.b.data = (const char *) work.b.data
                + (size_t) (first * work.b.batch_stride) * size;
  rest.d.data =
      (char *) work.d.data + (size_t) (first * work.stride_d) * size_d;
  if (work.c.data != nullptr)
    rest.c.data =
        (char *) work.c.data + (size_t) (first * work.stride_c) * size_d;
  return rest;
}

} /* namespace */

extern "C" QmStatus
qm_cuda_portable_product (int processors,
                          cudaStream_t stream,
                          const QmCudaProduct *product,
                          QmError *error)
{
  Work work = work_of (*product);
  bool along_a = !product->a.transposed, along_b = product->b.transposed;
  int parts = divide (&work, *product, processors);
  cudaError_t code = cudaSuccess;

  if (product->epilogue != QM_CUDA_EPILOGUE_NONE
      && product->epilogue != QM_CUDA_EPILOGUE_BIAS)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "without cuBLASLt no product ends with this");
  for (int64_t first = 0; first < product->batch && code == cudaSuccess;
       first += MOST_BATCH)
    {
      Work rest = from_batch (work, product->a.type, first);
      int64_t left = product->batch - first;
      int batch = (int) (left < MOST_BATCH ? left : MOST_BATCH);

      if (product->a.type == QM_TYPE_F16)
        code = choose<__half, false> (rest, along_a, along_b, batch, parts,
                                      stream);
      else if (product->a.type == QM_TYPE_BF16)
        code = choose<__nv_bfloat16, false> (rest, along_a, along_b, batch,
                                             parts, stream);
      else if (product->tf32)
        code =
            choose<float, false> (rest, along_a, along_b, batch, parts, stream);
      else
        code =
            choose<float, true> (rest, along_a, along_b, batch, parts, stream);
    }
  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, "a product", error);
}
