/* SPDX-License-Identifier: Apache-2.0 */

/* Products of matrices without a library, for every GPU that there are kernels
 * for: where cuBLASLt is not installed, so that a benchmark runs on a node with
 * nothing but the driver.  Plain rather than fast.
 *
 * A block makes a tile of d from tiles of a and b that copies bring to shared
 * memory some steps ahead.  Numbers of 16 bits, and of 32 in TF32, go through
 * tensor cores, others are multiplied one by one. */

#include "kernels/cuda/portable-product.h"

#include "kernels/cuda/attention-mma.cuh"
#include "kernels/cuda/cuda-common.cuh"

namespace
{

constexpr int TILE = 128; /* rows and columns of d of a block */
constexpr int THREADS = 256, STAGES = 3;
constexpr int CHUNK = 16; /* bytes that are copied at once */
/* Row tiles that are worked on together, so that they share columns in the L2
 * cache. */
constexpr int GROUP = 8;
/* A sum is divided between blocks where there are few tiles, but not into
 * shorter parts than so many steps. */
constexpr int FEWEST_STEPS = 16;
constexpr int MOST_BATCH = 65535; /* of a grid */

/* One factor: `outer` of it are rows of a or columns of b. */
struct Factor
{
  const void *data;
  int64_t outer, step, batch_stride;
  bool vectors; /* whether chunks lie where they can be copied at once */
};

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

/* How a tile of a factor lies in shared memory: as in memory, ALONG the sum or
 * across it.  Rows are a little longer, so that reads do not meet in a bank. */
template <class T, bool ALONG> struct Layout
{
  static constexpr int EACH = CHUNK / (int) sizeof (T);
  static constexpr int INNER = 4 * EACH; /* steps of the sum in a tile */
  static constexpr int ROWS = ALONG ? TILE : INNER;
  static constexpr int COLUMNS = ALONG ? INNER : TILE;
  static constexpr int LD = COLUMNS + (ALONG ? EACH : 8);
  static constexpr int SIZE = ROWS * LD;
};

/* Starts to bring a tile of a factor, `outer` and `inner` being where it
 * begins; what is outside of the matrix, or from `end` of the sum on, is 0. */
template <class T, bool ALONG>
__device__ __forceinline__ void
bring (T *tile,
       const Factor &factor,
       const T *data,
       int64_t outer,
       int64_t inner,
       int64_t end)
{
  using L = Layout<T, ALONG>;
  constexpr int PER_ROW = L::COLUMNS / L::EACH;
  const int64_t rows = ALONG ? factor.outer - outer : end - inner;
  const int64_t columns = ALONG ? end - inner : factor.outer - outer;
  const T *from = ALONG ? data + outer * factor.step + inner
                        : data + inner * factor.step + outer;

#pragma unroll
  for (int i = 0; i < L::ROWS * PER_ROW / THREADS; i++)
    {
      int chunk = (int) threadIdx.x + i * THREADS;
      int row = chunk / PER_ROW, column = chunk % PER_ROW * L::EACH;
      T *to = tile + row * L::LD + column;
      int64_t there = row < rows ? columns - column : 0;
      int n = there < 0 ? 0 : there < L::EACH ? (int) there : L::EACH;

      if (factor.vectors)
        qm_async_copy<CHUNK> (to,
                              n > 0 ? from + row * factor.step + column : data,
                              n * (int) sizeof (T));
      else
#pragma unroll
        for (int j = 0; j < L::EACH; j++)
          to[j] = j < n ? from[row * factor.step + column + j]
                        : qm_from_float<T> (0);
    }
}

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

/* Through tensor cores: eight warps, each with 64 x 32 elements of d. */
template <class T, bool ALONG_A, bool ALONG_B> struct Tensor
{
  using Mma = qm_attention::Mma<T>;
  using LA = Layout<T, ALONG_A>;
  using LB = Layout<T, ALONG_B>;
  static constexpr int ROWS = 64, COLUMNS = 32;

  float sums[ROWS / 16][COLUMNS / 8][4];
  int lane, row, column;

  __device__ __forceinline__
  Tensor ()
      : sums{}
  {
    int warp = (int) threadIdx.x / 32;

    lane = (int) threadIdx.x % 32;
    row = warp / 4 * ROWS;
    column = warp % 4 * COLUMNS;
  }

  static __device__ __forceinline__ void
  load_a (uint32_t (&a)[4], const T *s, int row, int k, int lane)
  {
    if constexpr (ALONG_A)
      Mma::load_a (a, s, LA::LD, row, k, lane);
    else if constexpr (sizeof (T) == 2)
      Mma::load_a_trans (a, s, LA::LD, row, k, lane);
    else
      {
        const float *p = s + (k + lane % 4) * LA::LD + row + lane / 4;

        a[0] = Mma::round (p[0]);
        a[1] = Mma::round (p[8]);
        a[2] = Mma::round (p[4 * LA::LD]);
        a[3] = Mma::round (p[4 * LA::LD + 8]);
      }
  }

  static __device__ __forceinline__ void
  load_b (uint32_t (&b)[2][2], const T *s, int n, int k, int lane)
  {
    if constexpr (ALONG_B)
      Mma::load_b (b, s, LB::LD, n, k, lane);
    else if constexpr (sizeof (T) == 2)
      Mma::load_b_trans (b, s, LB::LD, n, k, lane);
    else
      {
        const float *p = s + (k + lane % 4) * LB::LD + n + lane / 4;

        b[0][0] = Mma::round (p[0]);
        b[0][1] = Mma::round (p[4 * LB::LD]);
        b[1][0] = Mma::round (p[8]);
        b[1][1] = Mma::round (p[4 * LB::LD + 8]);
      }
  }

  __device__ __forceinline__ void
  add (const T *a, const T *b)
  {
#pragma unroll
    for (int k = 0; k < LA::INNER; k += Mma::K)
      {
        uint32_t fa[ROWS / 16][4], fb[COLUMNS / 16][2][2];

#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
          load_a (fa[i], a, row + i * 16, k, lane);
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; j++)
          load_b (fb[j], b, column + j * 16, k, lane);
#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
          for (int j = 0; j < COLUMNS / 8; j++)
            Mma::multiply (sums[i][j], fa[i], fb[j / 2][j % 2]);
      }
  }

  __device__ __forceinline__ void
  store (const Work &work, int64_t first_row, int64_t first_column) const
  {
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
        for (int n = 0; n < 4; n++)
          finish (work, first_row + row + i * 16 + lane / 4 + n / 2 * 8,
                  first_column + column + j * 8 + lane % 4 * 2 + n % 2,
                  sums[i][j][n]);
  }
};

/* In fp32: 16 x 16 threads, each with 8 x 8 elements of d that lie 16 apart. */
template <bool ALONG_A, bool ALONG_B> struct Exact
{
  using LA = Layout<float, ALONG_A>;
  using LB = Layout<float, ALONG_B>;
  static constexpr int APART = 16, EACH = TILE / APART, STEPS = 4;

  float sums[EACH][EACH];
  int row, column;

  __device__ __forceinline__
  Exact ()
      : sums{}
  {
    row = (int) threadIdx.x / APART;
    column = (int) threadIdx.x % APART;
  }

  template <bool ALONG>
  static __device__ __forceinline__ void
  load (float (&x)[EACH][STEPS], const float *s, int first, int k)
  {
    constexpr int LD = Layout<float, ALONG>::LD;

#pragma unroll
    for (int i = 0; i < EACH; i++)
      if constexpr (ALONG)
        {
          float4 four = *(const float4 *) (s + (first + i * APART) * LD + k);

          x[i][0] = four.x;
          x[i][1] = four.y;
          x[i][2] = four.z;
          x[i][3] = four.w;
        }
      else
#pragma unroll
        for (int j = 0; j < STEPS; j++)
          x[i][j] = s[(k + j) * LD + first + i * APART];
  }

  __device__ __forceinline__ void
  add (const float *a, const float *b)
  {
#pragma unroll 1
    for (int k = 0; k < LA::INNER; k += STEPS)
      {
        float xa[EACH][STEPS], xb[EACH][STEPS];

        load<ALONG_A> (xa, a, row, k);
        load<ALONG_B> (xb, b, column, k);
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
          for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
              sums[i][j] += xa[i][step] * xb[j][step];
      }
  }

  __device__ __forceinline__ void
  store (const Work &work, int64_t first_row, int64_t first_column) const
  {
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
      for (int j = 0; j < EACH; j++)
        finish (work, first_row + row + i * APART,
                first_column + column + j * APART, sums[i][j]);
  }
};

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
  using LA = Layout<T, ALONG_A>;
  using LB = Layout<T, ALONG_B>;
  constexpr int STEP = LA::INNER;
  extern __shared__ __align__ (16) unsigned char shared[];
  T *tiles_a = (T *) shared, *tiles_b = tiles_a + STAGES * LA::SIZE;
  const T *a = (const T *) work.a.data + blockIdx.z * work.a.batch_stride;
  const T *b = (const T *) work.b.data + blockIdx.z * work.b.batch_stride;
  int64_t begin = blockIdx.y * work.part, end = begin + work.part, row, column;
  Sums sums;

  end = end < work.inner ? end : work.inner;
  find_tile (work, &row, &column);
  int steps = (int) ((end - begin + STEP - 1) / STEP);

  auto bring_step = [&] (int step) {
    if (step < steps)
      {
        int64_t inner = begin + (int64_t) step * STEP;
        int stage = step % STAGES;

        bring<T, ALONG_A> (tiles_a + stage * LA::SIZE, work.a, a, row, inner,
                           end);
        bring<T, ALONG_B> (tiles_b + stage * LB::SIZE, work.b, b, column, inner,
                           end);
      }
    qm_async_commit ();
  };

#pragma unroll
  for (int step = 0; step < STAGES - 1; step++)
    bring_step (step);
  for (int step = 0; step < steps; step++)
    {
      qm_async_wait<STAGES - 2> ();
      /* Also: nobody reads any longer what is overwritten now. */
      __syncthreads ();
      bring_step (step + STAGES - 1);
      sums.add (tiles_a + step % STAGES * LA::SIZE,
                tiles_b + step % STAGES * LB::SIZE);
    }
  sums.store (work, row, column);
}

template <class T, bool ALONG_A, bool ALONG_B, class Sums>
cudaError_t
launch (const Work &work, int batch, int parts, cudaStream_t stream)
{
  using LA = Layout<T, ALONG_A>;
  using LB = Layout<T, ALONG_B>;
  auto kernel = multiply<T, ALONG_A, ALONG_B, Sums>;
  int bytes = STAGES * (LA::SIZE + LB::SIZE) * (int) sizeof (T);
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
