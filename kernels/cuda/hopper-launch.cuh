/* SPDX-License-Identifier: Apache-2.0 */

/* How the products of one element type, which the build gives as QM_PRODUCT_T,
 * are divided into tiles, described to the copy engine, and started. */

#ifndef QM_KERNELS_CUDA_HOPPER_LAUNCH_CUH
#define QM_KERNELS_CUDA_HOPPER_LAUNCH_CUH

#include "kernels/cuda/hopper-order.h"
#include "kernels/cuda/hopper-product.cuh"

namespace qm_product
{

namespace
{

constexpr int BN = 256;

/* Columns of a tile, of d or of either half of it: those of a gate are
 * multiplied together with those that it gates. */
int
tile_columns (const QmHopperProduct &p)
{
  return p.finish == QM_HOPPER_FINISH_GATE ? BN / 2 : BN;
}

/* Steps from which on an activation is spread over 32: what its slope needs is
 * fetched after these, and has to be there with the next tile. */
constexpr int MANY_STEPS = 48;

int64_t
divide_up (int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* How often every cluster takes a tile. */
int64_t
rounds (const QmHopperProduct &p, bool beside, int clusters)
{
  int64_t rows = divide_up (p.rows, beside ? BM : CLUSTER * BM);
  int64_t columns =
      divide_up (p.columns, (beside ? CLUSTER : 1) * tile_columns (p));

  return divide_up (rows * columns, clusters);
}

/* Row tiles that are worked on together. */
int
group_size (const Work &w, const QmHopperProduct &p, int clusters)
{
  const int64_t columns =
      w.tile_columns * (p.finish == QM_HOPPER_FINISH_GATE ? 2 : 1);
  const QmHopperGrid grid = { .rows = w.row_tiles,
                              .columns = w.column_tiles,
                              .row_bytes = w.tile_rows * p.inner * 2,
                              .column_bytes = columns * p.inner * 2,
                              .clusters = clusters };

  return qm_hopper_group (&grid);
}

/* Blocks beside each other have to fetch a quarter more. */
void
arrange (Work *w, const QmHopperProduct &p, int clusters)
{
  w->beside = rounds (p, true, clusters) < rounds (p, false, clusters);
  w->tile_rows = w->beside ? BM : CLUSTER * BM;
  w->tile_columns = (w->beside ? CLUSTER : 1) * tile_columns (p);
  w->row_tiles = (int) divide_up (p.rows, w->tile_rows);
  w->column_tiles = (int) divide_up (p.columns, w->tile_columns);
  w->group = group_size (*w, p, clusters);
}

/* A matrix of d's rows and columns, in the boxes that warps store and load; of
 * gate and up each in half. */
cudaError_t
describe_parts (CUtensorMap *first,
                CUtensorMap *second,
                const QmHopperProduct &p,
                const void *data,
                int64_t step,
                bool gated)
{
  typedef QM_PRODUCT_T T;

  const int across =
      p.finish == QM_HOPPER_FINISH_GATE_SLOPE ? PAIR_COLUMNS : PART_COLUMNS;
  cudaError_t status =
      make_map<T> (first, data, p.columns, p.rows, step, across, PART_ROWS);

  if (status == cudaSuccess && gated)
    status = make_map<T> (second, static_cast<const T *> (data) + p.columns,
                          p.columns, p.rows, step, across, PART_ROWS);
  return status;
}

cudaError_t
describe (Work *w, const QmHopperProduct &p)
{
  typedef QM_PRODUCT_T T;

  const bool gate = p.finish == QM_HOPPER_FINISH_GATE;
  const bool slope = p.finish == QM_HOPPER_FINISH_GATE_SLOPE;
  const int rows = w->beside ? BM / CLUSTER : BM;
  const int columns = w->beside && !gate ? BN : BN / CLUSTER;
  cudaError_t status =
      make_map<T> (&w->a, p.a, p.inner, p.rows, p.step_a, BK, rows);

  if (status == cudaSuccess)
    status =
        p.transposed
            ? make_map<T> (&w->b, p.b, p.inner, p.columns * (gate ? 2 : 1),
                           p.step_b, BK, columns)
            : make_map<T> (&w->b, p.b, p.columns, p.inner, p.step_b, 64, BK);
  if (status == cudaSuccess)
    status = describe_parts (&w->d, &w->d_up, p, p.d, p.step_d, slope);
  if (status == cudaSuccess && p.pre)
    status = describe_parts (&w->pre, &w->pre_up, p, p.pre, p.step_pre,
                             gate || slope);
  w->table = p.rotary.table;
  w->length = (int) p.rotary.length;
  w->width = (int) p.rotary.width;
  w->count = (int) p.rotary.count;
  w->chunk = (int) p.rotary.chunk;
  w->bias = p.bias;
  w->store_pre = p.pre != NULL;
  w->rows = (int) p.rows;
  w->columns = (int) p.columns;
  w->steps = (int) divide_up (p.inner, BK);
  return status;
}

template <bool DOWN,
          QmHopperFinish FINISH,
          QmFunction F,
          int SPREAD,
          int TURNED = 0>
cudaError_t
launch_spread (const Work &w, int processors, cudaStream_t stream)
{
  auto kernel =
      product_kernel<QM_PRODUCT_T, DOWN, FINISH, F, SPREAD, BN, TURNED>;
  const size_t bytes = sizeof (Shared<BN>);
  cudaError_t status =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            (int) bytes);
  int64_t clusters = (int64_t) w.row_tiles * w.column_tiles;

  if (status != cudaSuccess)
    return status;
  if (clusters > processors / CLUSTER)
    clusters = processors / CLUSTER;
  kernel<<<(unsigned) (clusters * CLUSTER), THREADS, bytes, stream>>> (w);
  return cudaGetLastError ();
}

}

}

#endif
