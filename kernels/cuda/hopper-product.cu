/* SPDX-License-Identifier: Apache-2.0 */

/* The products of one element type, which the build gives as QM_PRODUCT_T, and
 * how they are started, through a function of the name QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-product.cuh"

namespace qm_product
{

namespace
{

constexpr int BN = 256;
/* Rows that are worked on together, so that they share columns in the L2
 * cache. */
constexpr int GROUP_ROWS = 2048, FEW_GROUPS = 8;
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
  int64_t columns = divide_up (p.columns, beside ? CLUSTER * BN : BN);

  return divide_up (rows * columns, clusters);
}

/* Row tiles that are worked on together.  Where there are few groups, a last
 * one of few tiles would fetch all columns once more for itself alone: it is
 * divided between the others. */
int
group_size (int row_tiles, int tile_rows)
{
  const int size = GROUP_ROWS / tile_rows;
  const int groups = row_tiles / size, rest = row_tiles % size;

  return groups > 0 && groups < FEW_GROUPS && rest * 2 < size
             ? (int) divide_up (row_tiles, groups)
             : size;
}

/* Blocks beside each other have to fetch a quarter more. */
void
arrange (Work *w, const QmHopperProduct &p, int clusters)
{
  w->beside = rounds (p, true, clusters) < rounds (p, false, clusters);
  w->tile_rows = w->beside ? BM : CLUSTER * BM;
  w->tile_columns = w->beside ? CLUSTER * BN : BN;
  w->row_tiles = (int) divide_up (p.rows, w->tile_rows);
  w->column_tiles = (int) divide_up (p.columns, w->tile_columns);
  w->group = group_size (w->row_tiles, w->tile_rows);
}

cudaError_t
describe (Work *w, const QmHopperProduct &p)
{
  typedef QM_PRODUCT_T T;

  const int rows = w->beside ? BM / CLUSTER : BM;
  const int columns = w->beside ? BN : BN / CLUSTER;
  cudaError_t status =
      make_map<T> (&w->a, p.a, p.inner, p.rows, p.step_a, BK, rows);

  if (status == cudaSuccess)
    status = p.transposed ? make_map<T> (&w->b, p.b, p.inner, p.columns,
                                         p.step_b, BK, columns)
                          : make_map<T> (&w->b, p.b, p.columns, p.inner,
                                         p.step_b, 64, BK);
  if (status == cudaSuccess)
    status = make_map<T> (&w->d, p.d, p.columns, p.rows, p.step_d, PART_COLUMNS,
                          PART_ROWS);
  if (status == cudaSuccess && p.pre)
    status = make_map<T> (&w->pre, p.pre, p.columns, p.rows, p.step_pre,
                          PART_COLUMNS, PART_ROWS);
  w->bias = p.bias;
  w->store_pre = p.pre != NULL;
  w->rows = (int) p.rows;
  w->columns = (int) p.columns;
  w->steps = (int) divide_up (p.inner, BK);
  return status;
}

template <bool DOWN, QmHopperFinish FINISH, QmFunction F, int SPREAD>
cudaError_t
launch_spread (const Work &w, int processors, cudaStream_t stream)
{
  auto kernel = product_kernel<QM_PRODUCT_T, DOWN, FINISH, F, SPREAD, BN>;
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

template <bool DOWN, QmHopperFinish FINISH, QmFunction F>
cudaError_t
launch (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  Work w = {};
  cudaError_t status;

  arrange (&w, p, processors / CLUSTER);
  status = describe (&w, p);

  if (status != cudaSuccess)
    return status;
  if constexpr (FINISH != QM_HOPPER_FINISH_NONE)
    {
      if (w.steps >= MANY_STEPS)
        return launch_spread<DOWN, FINISH, F, 32> (w, processors, stream);
      if (w.steps >= 16)
        return launch_spread<DOWN, FINISH, F, 16> (w, processors, stream);
      if (w.steps >= 12)
        return launch_spread<DOWN, FINISH, F, 12> (w, processors, stream);
    }
  return launch_spread<DOWN, FINISH, F, 8> (w, processors, stream);
}

cudaError_t
run (const QmHopperProduct &p, int processors, cudaStream_t stream)
{
  const bool tanh = p.activation == QM_FUNCTION_GELU_TANH;

  if (p.finish == QM_HOPPER_FINISH_ACTIVATE)
    return tanh ? launch<false, QM_HOPPER_FINISH_ACTIVATE,
                         QM_FUNCTION_GELU_TANH> (p, processors, stream)
                : launch<false, QM_HOPPER_FINISH_ACTIVATE, QM_FUNCTION_GELU> (
                    p, processors, stream);
  if (p.finish == QM_HOPPER_FINISH_SLOPE)
    return tanh ? launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU_TANH> (
               p, processors, stream)
                : launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU> (
                    p, processors, stream);
  return p.transposed ? launch<false, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
             p, processors, stream)
                      : launch<true, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
                          p, processors, stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperProduct *product,
                int processors,
                cudaStream_t stream)
{
  return qm_product::run (*product, processors, stream);
}
