/* SPDX-License-Identifier: Apache-2.0 */

/* The gradients of one element type, which the build gives as QM_PRODUCT_T, and
 * how they are started, through a function of the name QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-order.h"
#include "kernels/cuda/hopper-weight-grad.cuh"

namespace qm_weight_grad
{

namespace
{

int64_t
divide_up (int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

cudaError_t
describe (Work *w, const QmHopperWeightGrad &g)
{
  cudaError_t status = make_map<QM_PRODUCT_T> (&w->dy, g.dy, g.rows, g.inner,
                                               g.step_dy, BOX, BK);

  if (status == cudaSuccess)
    status = make_map<QM_PRODUCT_T> (&w->x, g.x, g.columns, g.inner, g.step_x,
                                     BOX, BK);
  if (status == cudaSuccess)
    status = make_map<float> (&w->dw, g.dw, g.columns, g.rows, g.step_dw,
                              PART_COLUMNS, PART_ROWS);
  w->dbias = g.dbias;
  w->sums = (int) g.sums;
  w->steps = (int) divide_up (g.inner, BK);
  w->row_tiles = (int) divide_up (g.rows, CLUSTER * BM);
  w->column_tiles = (int) divide_up (g.columns, BN);
  return status;
}

/* Returns how many clusters have something to do. */
int
divide (Work *w, int clusters)
{
  static_assert (CLUSTER * BM == BN, "rows of tiles are as columns");
  const QmHopperSums sums = qm_hopper_divide (w->row_tiles, w->column_tiles,
                                              w->steps, BN * BK * 2, clusters);

  w->group = sums.group;
  w->slab = sums.slab;
  w->whole = (int) sums.whole;
  w->rest = sums.rest;
  w->parts = sums.parts;
  w->part_steps = sums.part_steps;
  return w->whole > 0 ? clusters : w->rest * w->parts;
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperWeightGrad *grad,
                int processors,
                cudaStream_t stream)
{
  using namespace qm_weight_grad;

  auto kernel = weight_grad_kernel<QM_PRODUCT_T>;
  Work w = {};
  cudaError_t status = describe (&w, *grad);

  if (status == cudaSuccess)
    status = cudaFuncSetAttribute (kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   sizeof (Shared));
  if (status != cudaSuccess)
    return status;
  const int clusters = divide (&w, processors / CLUSTER);
  kernel<<<clusters * CLUSTER, THREADS, sizeof (Shared), stream>>> (w);
  return cudaGetLastError ();
}
