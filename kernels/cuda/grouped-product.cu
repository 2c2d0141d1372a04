/* SPDX-License-Identifier: Apache-2.0 */

/* Products of groups of rows, each with a matrix of its own, for every GPU.
 * Where groups begin is in memory of the device: a launch has as many blocks as
 * there can be tiles at the most, each finds its own, and the few that are over
 * end at once.  A group takes whole tiles of rows, and what of the last one is
 * not its own is neither read nor written. */

#include "kernels/cuda/grouped-product.h"

#include "kernels/cuda/portable-tiles.cuh"

#include <type_traits>

namespace
{

using namespace qm_portable;

constexpr unsigned ALL = 0xffffffffu;
/* Row tiles that are worked on together, so that they share columns in the L2
 * cache. */
constexpr int GROUP = 8;

struct Work
{
  Factor a, b;
  QmArray d;
  const int32_t *offsets;
  int64_t step_d;
  int64_t matrix; /* elements of b, or of d, of a group */
  int64_t inner;  /* of a product of rows */
  int groups;
  int row_tiles, column_tiles; /* row_tiles: of all groups at the most, or of
                                  each */
};

/* Rows of a group from a tile of them on. */
struct Rows
{
  int group;
  int64_t first, end;
};

/* The tile of that number, by a warp: 32 groups at a time.  A group without end
 * is none. */
__device__ __forceinline__ Rows
find_rows (const int32_t *offsets, int groups, int tile)
{
  const int lane = (int) threadIdx.x % 32;
  int before = 0;

  for (int base = 0; base < groups; base += 32)
    {
      int group = base + lane, begin = 0, end = 0, tiles, sum;

      if (group < groups)
        {
          begin = offsets[group];
          end = offsets[group + 1];
        }
      tiles = (end - begin + TILE - 1) / TILE;
      sum = tiles;
#pragma unroll
      for (int i = 1; i < 32; i *= 2)
        {
          int other = __shfl_up_sync (ALL, sum, i);

          sum += lane >= i ? other : 0;
        }
      unsigned found = __ballot_sync (ALL, before + sum > tile);
      if (found != 0)
        {
          int from = __ffs ((int) found) - 1;
          int first = begin + (tile - before - sum + tiles) * TILE;

          return { base + from, __shfl_sync (ALL, first, from),
                   __shfl_sync (ALL, end, from) };
        }
      before += __shfl_sync (ALL, sum, 31);
    }
  return { -1, 0, 0 };
}

/* d = a b of rows. */
template <class T, bool ALONG_B, class Sums>
__global__ void
__launch_bounds__ (THREADS) rows_kernel (const Work work)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int in_group = GROUP * work.column_tiles;
  const int first = (int) blockIdx.x / in_group * GROUP;
  const int tiles = min (work.row_tiles - first, GROUP);
  const int index = (int) blockIdx.x % in_group;
  const int64_t column = (int64_t) (index / tiles) * TILE;
  const Rows rows =
      find_rows (work.offsets, work.groups, first + index % tiles);
  Factor a = work.a;
  Sums sums;

  if (rows.group < 0)
    return;
  a.outer = rows.end;
  add_steps<T, true, ALONG_B> (sums, shared, a, (const T *) a.data, work.b,
                               (const T *) work.b.data
                                   + rows.group * work.matrix,
                               rows.first, column, 0, work.inner);
  sums.store (rows.first, column, [&] (int64_t r, int64_t c, float sum) {
    if (r < rows.end && c < work.b.outer)
      qm_store (work.d, r * work.step_d + c, sum);
  });
}

/* d += a b over the rows of a group, which are steps of the sum; nobody else
 * adds to that tile. */
template <class T, class Sums>
__global__ void
__launch_bounds__ (THREADS) weights_kernel (const Work work)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int group = (int) blockIdx.y;
  const int64_t begin = work.offsets[group], end = work.offsets[group + 1];
  const int64_t row = (int64_t) (blockIdx.x % work.row_tiles) * TILE;
  const int64_t column = (int64_t) (blockIdx.x / work.row_tiles) * TILE;
  float *d = (float *) work.d.data + group * work.matrix;
  Sums sums;

  if (begin >= end)
    return;
  add_steps<T, false, false> (sums, shared, work.a, (const T *) work.a.data,
                              work.b, (const T *) work.b.data, row, column,
                              begin, end);
  sums.store (row, column, [&] (int64_t r, int64_t c, float sum) {
    if (r < work.a.outer && c < work.b.outer)
      d[r * work.step_d + c] += sum;
  });
}

template <class Kernel>
cudaError_t
launch (
    Kernel kernel, const Work &work, dim3 grid, int bytes, cudaStream_t stream)
{
  cudaError_t code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes);

  if (code != cudaSuccess)
    return code;
  kernel<<<grid, THREADS, bytes, stream>>> (work);
  return cudaGetLastError ();
}

template <class T, bool EXACT>
cudaError_t
run (const Work &work, QmOp op, cudaStream_t stream)
{
  const unsigned tiles = (unsigned) work.row_tiles * work.column_tiles;

#define SUMS(A, B)                                           \
  typename std::conditional<EXACT, qm_portable::Exact<A, B>, \
                            qm_portable::Tensor<T, A, B>>::type
  if (op == QM_OP_GROUPED_LINEAR)
    return launch (rows_kernel<T, true, SUMS (true, true)>, work, dim3 (tiles),
                   tile_bytes<T, true, true> (), stream);
  if (op == QM_OP_GROUPED_INPUT_GRAD)
    return launch (rows_kernel<T, false, SUMS (true, false)>, work,
                   dim3 (tiles), tile_bytes<T, true, false> (), stream);
  return launch (weights_kernel<T, SUMS (false, false)>, work,
                 dim3 (tiles, (unsigned) work.groups),
                 tile_bytes<T, false, false> (), stream);
#undef SUMS
}

int
tiles_of (int64_t n)
{
  return (int) ((n + TILE - 1) / TILE);
}

/* Rows of `step` elements, `outer` of them or along them. */
Factor
factor_of (const QmTensor &x, int64_t outer, int64_t step)
{
  size_t size = qm_type_size (x.type);
  bool vectors =
      (uintptr_t) x.data % CHUNK == 0 && (size_t) step * size % CHUNK == 0;

  return { x.data, outer, step, 0, vectors };
}

/* Of the rows of inputs 0 with the matrices of input 1. */
Work
rows_work (const QmOpCall *call)
{
  const QmTensor &x = call->inputs[0], &w = call->inputs[1];
  const QmTensor &y = call->outputs[0];
  Work work = {};

  work.groups = (int) w.shape[0];
  work.a = factor_of (x, x.shape[0], x.stride[0]);
  work.b = factor_of (w, y.shape[1], w.stride[1]);
  work.matrix = w.stride[0];
  work.b.vectors = work.b.vectors
                   && (size_t) work.matrix * qm_type_size (w.type) % CHUNK == 0;
  work.inner = x.shape[1];
  work.step_d = y.stride[0];
  /* Each group may begin a tile that it does not fill. */
  work.row_tiles = (int) (x.shape[0] / TILE) + work.groups;
  work.column_tiles = tiles_of (y.shape[1]);
  return work;
}

Work
weights_work (const QmOpCall *call)
{
  const QmTensor &dy = call->inputs[0], &x = call->inputs[1];
  const QmTensor &dw = call->outputs[0];
  Work work = {};

  work.groups = (int) dw.shape[0];
  work.a = factor_of (dy, dw.shape[1], dy.stride[0]);
  work.b = factor_of (x, dw.shape[2], x.stride[0]);
  work.matrix = dw.stride[0];
  work.step_d = dw.stride[1];
  work.row_tiles = tiles_of (dw.shape[1]);
  work.column_tiles = tiles_of (dw.shape[2]);
  return work;
}

} /* namespace */

extern "C" QmStatus
qm_cuda_portable_grouped (cudaStream_t stream,
                          const QmOpCall *call,
                          QmError *error)
{
  bool weights = call->op == QM_OP_GROUPED_WEIGHT_GRAD;
  QmType type = call->inputs[0].type;
  Work work = weights ? weights_work (call) : rows_work (call);
  cudaError_t code;

  work.offsets = (const int32_t *) call->inputs[2].data;
  work.d = qm_array (call->outputs[0]);
  if (type == QM_TYPE_F16)
    code = run<__half, false> (work, call->op, stream);
  else if (type == QM_TYPE_BF16)
    code = run<__nv_bfloat16, false> (work, call->op, stream);
  else if (call->attributes.tf32)
    code = run<float, false> (work, call->op, stream);
  else
    code = run<float, true> (work, call->op, stream);
  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, qm_op_name (call->op), error);
}
