/* SPDX-License-Identifier: Apache-2.0 */

/* The products of groups of one element type, which the build gives as
 * QM_PRODUCT_T, and how they are started, through a function of the name
 * QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-grouped.h"

#include "kernels/cuda/hopper-grouped.cuh"

namespace qm_grouped
{

namespace
{

typedef QM_PRODUCT_T T;

constexpr int BN = 256;
/* Row tiles that are worked on together, so that they share columns in the L2
 * cache: about as many as a group has. */
constexpr int TOGETHER = 8;

int
divide_up (int64_t a, int64_t b)
{
  return (int) ((a + b - 1) / b);
}

template <class Kernel, class AnyWork>
cudaError_t
launch (Kernel kernel,
        const AnyWork &work,
        int threads,
        size_t bytes,
        int64_t most,
        int processors,
        cudaStream_t stream)
{
  const int64_t all = processors / CLUSTER;
  const int64_t clusters = most < all ? most : all;
  cudaError_t status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            (int) bytes);

  if (status != cudaSuccess)
    return status;
  kernel<<<(unsigned) (clusters * CLUSTER), threads, bytes, stream>>> (work);
  return cudaGetLastError ();
}

/* Blocks of a cluster lie beside each other, and share the rows of a tile: of
 * those, the last of a group is partly empty. */
cudaError_t
run_rows (const QmOpCall *call, int processors, cudaStream_t stream)
{
  using qm_product::BK, qm_product::BM;
  using qm_product::make_map, qm_product::THREADS;
  using qm_product::PART_COLUMNS, qm_product::PART_ROWS;

  const QmTensor &a = call->inputs[0], &b = call->inputs[1];
  const QmTensor &d = call->outputs[0];
  const bool down = call->op == QM_OP_GROUPED_INPUT_GRAD;
  const size_t bytes = sizeof (qm_product::Shared<BN>) + sizeof (Groups);
  RowWork w = {};
  cudaError_t status;

  w.offsets = (const int32_t *) call->inputs[2].data;
  w.groups = (int) b.shape[0];
  w.height = (int) b.shape[1];
  w.rows_of_d = d.data;
  w.step_d = d.stride[0];
  w.beside = true;
  w.tile_rows = BM;
  w.tile_columns = CLUSTER * BN;
  w.column_tiles = divide_up (d.shape[1], w.tile_columns);
  w.group = TOGETHER;
  w.rows = (int) a.shape[0];
  w.columns = (int) d.shape[1];
  w.steps = divide_up (a.shape[1], BK);
  status = make_map<T> (&w.a, a.data, a.shape[1], a.shape[0], a.stride[0], BK,
                        BM / CLUSTER);
  if (status == cudaSuccess)
    status = down ? make_map<T> (&w.b, b.data, b.shape[2],
                                 b.shape[0] * b.shape[1], b.stride[1], 64, BK)
                  : make_map<T> (&w.b, b.data, b.shape[2],
                                 b.shape[0] * b.shape[1], b.stride[1], BK, BN);
  if (status == cudaSuccess)
    status = make_map<T> (&w.d, d.data, d.shape[1], d.shape[0], d.stride[0],
                          PART_COLUMNS, PART_ROWS);
  if (status != cudaSuccess)
    return status;
  const int64_t most =
      (a.shape[0] / BM + b.shape[0]) * (int64_t) w.column_tiles;
  return down ? launch (rows_kernel<T, true, BN>, w, THREADS, bytes, most,
                        processors, stream)
              : launch (rows_kernel<T, false, BN>, w, THREADS, bytes, most,
                        processors, stream);
}

cudaError_t
run_weights (const QmOpCall *call, int processors, cudaStream_t stream)
{
  using qm_product::make_map, qm_weight_grad::THREADS;
  using qm_weight_grad::BK, qm_weight_grad::BM, qm_weight_grad::BOX;
  using qm_weight_grad::PART_COLUMNS, qm_weight_grad::PART_ROWS;

  const QmTensor &dy = call->inputs[0], &x = call->inputs[1];
  const QmTensor &dw = call->outputs[0];
  const size_t bytes = sizeof (qm_weight_grad::Shared) + sizeof (Groups);
  WeightWork w = {};
  cudaError_t status = make_map<T> (&w.dy, dy.data, dy.shape[1], dy.shape[0],
                                    dy.stride[0], BOX, BK);

  if (status == cudaSuccess)
    status = make_map<T> (&w.x, x.data, x.shape[1], x.shape[0], x.stride[0],
                          BOX, BK);
  if (status == cudaSuccess)
    status =
        make_map<float> (&w.dw, dw.data, dw.shape[2], dw.shape[0] * dw.shape[1],
                         dw.stride[1], PART_COLUMNS, PART_ROWS);
  if (status != cudaSuccess)
    return status;
  w.offsets = (const int32_t *) call->inputs[2].data;
  w.groups = (int) dw.shape[0];
  w.height = (int) dw.shape[1];
  w.row_tiles = divide_up (dw.shape[1], CLUSTER * BM);
  w.column_tiles = divide_up (dw.shape[2], BN);
  return launch (weights_kernel<T>, w, THREADS, bytes,
                 (int64_t) w.groups * w.row_tiles * w.column_tiles, processors,
                 stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmOpCall *call, int processors, cudaStream_t stream)
{
  return call->op == QM_OP_GROUPED_WEIGHT_GRAD
             ? qm_grouped::run_weights (call, processors, stream)
             : qm_grouped::run_rows (call, processors, stream);
}
