/* SPDX-License-Identifier: Apache-2.0 */

/* The gradients of one element type, which the build gives as QM_PRODUCT_T, and
 * how they are started, through a function of the name QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-weight-grad.cuh"

namespace qm_weight_grad
{

namespace
{

/* Row tiles that are worked on together. */
constexpr int GROUP = 8;
/* Units for each cluster from which on the sum is not divided further, and
 * steps of which a slab has to have so many: adding a tile to dw takes as long
 * as about 3. */
constexpr int UNITS = 4, LEAST_SLAB = 32;

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
  w->group = GROUP;
  return status;
}

/* Returns how many clusters have something to do. */
int
divide (Work *w, int clusters)
{
  const int64_t tiles = (int64_t) w->row_tiles * w->column_tiles;
  int64_t slabs = divide_up ((int64_t) UNITS * clusters, tiles), units;

  if (slabs > w->steps / LEAST_SLAB)
    slabs = w->steps / LEAST_SLAB;
  if (slabs < 1)
    slabs = 1;
  w->slab = (int) divide_up (w->steps, slabs);
  units = tiles * divide_up (w->steps, w->slab);
  w->whole = (int) (units / clusters * clusters);
  w->rest = (units - w->whole) * w->slab;
  return w->whole > 0 || w->rest >= clusters ? clusters : (int) w->rest;
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
