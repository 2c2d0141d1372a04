/* SPDX-License-Identifier: Apache-2.0 */

/* The products of one element type, which the build gives as QM_PRODUCT_T, and
 * how they are started, through a function of the name QM_PRODUCT_RUN. */

#include "kernels/cuda/hopper-product.cuh"

#include <type_traits>

namespace qm_product
{

namespace
{

constexpr int BN = 256;
/* Row tiles that are worked on together, so that they share columns in the L2
 * cache. */
constexpr int GROUP = 8;

/* Describes a matrix to the copy engine, in boxes of `across` x `down`. */
cudaError_t
make_map (CUtensorMap *map, const void *data, int64_t columns, int64_t rows,
          int64_t step, int across, int down)
{
  typedef CUresult (*Encode) (CUtensorMap *, CUtensorMapDataType, cuuint32_t,
                              void *, const cuuint64_t *, const cuuint64_t *,
                              const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);
  const cuuint64_t sizes[2] = { (cuuint64_t) columns, (cuuint64_t) rows };
  /* that of a single row is never used, but must be one that is allowed */
  const cuuint64_t strides[1] = { rows > 1 ? (cuuint64_t) step * 2 : 16 };
  const cuuint32_t box[2] = { (cuuint32_t) across, (cuuint32_t) down };
  const cuuint32_t steps[2] = { 1, 1 };
  cudaDriverEntryPointQueryResult found;
  void *entry = NULL;
  cudaError_t status = cudaGetDriverEntryPointByVersion (
    "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);

  if (status != cudaSuccess)
    return status;
  if (found != cudaDriverEntryPointSuccess || !entry)
    return cudaErrorInsufficientDriver;
  return reinterpret_cast<Encode> (entry) (
           map,
           std::is_same<QM_PRODUCT_T, __half>::value
             ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
             : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
           2, const_cast<void *> (data), sizes, strides, box, steps,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
           CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
             == CUDA_SUCCESS
           ? cudaSuccess
           : cudaErrorInvalidValue;
}

cudaError_t
describe (Work *w, const QmHopperProduct &p)
{
  const bool down = !p.transposed;
  cudaError_t status
    = make_map (&w->a, p.a, p.inner, p.rows, p.step_a, BK, BM);

  if (status == cudaSuccess)
    status = down ? make_map (&w->b, p.b, p.columns, p.inner, p.step_b, 64, BK)
                  : make_map (&w->b, p.b, p.inner, p.columns, p.step_b, BK,
                              BN / CLUSTER);
  if (status == cudaSuccess)
    status = make_map (&w->d, p.d, p.columns, p.rows, p.step_d, PART_COLUMNS,
                       PART_ROWS);
  if (status == cudaSuccess && p.pre)
    status = make_map (&w->pre, p.pre, p.columns, p.rows, p.step_pre,
                       PART_COLUMNS, PART_ROWS);
  w->bias = p.bias;
  w->store_pre = p.pre != NULL;
  w->rows = (int) p.rows;
  w->columns = (int) p.columns;
  w->steps = (int) ((p.inner + BK - 1) / BK);
  w->row_tiles = (int) ((p.rows + CLUSTER * BM - 1) / (CLUSTER * BM));
  w->column_tiles = (int) ((p.columns + BN - 1) / BN);
  w->group = GROUP;
  return status;
}

template <bool DOWN, QmHopperFinish FINISH, QmFunction F, int SPREAD>
cudaError_t
launch_spread (const Work &w, int processors, cudaStream_t stream)
{
  auto kernel = product_kernel<QM_PRODUCT_T, DOWN, FINISH, F, SPREAD, BN>;
  const size_t bytes = sizeof (Shared<BN>);
  cudaError_t status = cudaFuncSetAttribute (
    kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes);
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
  cudaError_t status = describe (&w, p);

  if (status != cudaSuccess)
    return status;
  if constexpr (FINISH != QM_HOPPER_FINISH_NONE)
    {
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
    return tanh
             ? launch<false, QM_HOPPER_FINISH_ACTIVATE, QM_FUNCTION_GELU_TANH> (
                 p, processors, stream)
             : launch<false, QM_HOPPER_FINISH_ACTIVATE, QM_FUNCTION_GELU> (
                 p, processors, stream);
  if (p.finish == QM_HOPPER_FINISH_SLOPE)
    return tanh ? launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU_TANH> (
                    p, processors, stream)
                : launch<true, QM_HOPPER_FINISH_SLOPE, QM_FUNCTION_GELU> (
                    p, processors, stream);
  return p.transposed
           ? launch<false, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
               p, processors, stream)
           : launch<true, QM_HOPPER_FINISH_NONE, QM_FUNCTION_NONE> (
               p, processors, stream);
}

}

}

extern "C" cudaError_t
QM_PRODUCT_RUN (const QmHopperProduct *product, int processors,
                cudaStream_t stream)
{
  return qm_product::run (*product, processors, stream);
}
