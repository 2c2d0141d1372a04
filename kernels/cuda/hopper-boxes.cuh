/* SPDX-License-Identifier: Apache-2.0 */

/* Boxes of matrices, which Hopper's copy engine brings to shared memory and
 * takes from there, and clusters of two blocks that share what it brings. */

#ifndef QM_KERNELS_CUDA_HOPPER_BOXES_CUH
#define QM_KERNELS_CUDA_HOPPER_BOXES_CUH

#include "kernels/cuda/attention-wgmma.cuh"

#include <type_traits>

namespace qm_product
{

using namespace qm_attention;

constexpr int CLUSTER = 2;

/* -- clusters -------------------------------------------------------------- */

/* Of an address in shared memory: above it is the rank of the block. */
constexpr uint32_t IN_BLOCK = (1 << 24) - 1;

__device__ __forceinline__ int
cluster_rank ()
{
  int rank;

  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void
cluster_sync ()
{
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;\n" ::
                   : "memory");
}

/* Arrives at the same barrier of a block of the cluster.  No memory has to
 * become visible by this: what was read stays as it was. */
__device__ __forceinline__ void
barrier_arrive_at (uint64_t *barrier, int rank)
{
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}\n" ::"r"(shared_u32 (barrier)),
               "r"(rank)
               : "memory");
}

/* -- copies ---------------------------------------------------------------- */

__device__ __forceinline__ void
load_box (void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y)
{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier"
               "::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\n" ::"r"(
                   shared_u32 (to)),
               "l"(map), "r"(shared_u32 (barrier)), "r"(x), "r"(y)
               : "memory");
}

/* To the L2 cache. */
__device__ __forceinline__ void
prefetch_box (const CUtensorMap *map, int x, int y)
{
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile"
               " [%0, {%1, %2}];\n" ::"l"(map),
               "r"(x), "r"(y)
               : "memory");
}

/* To the same place in both blocks, whose barriers are told. */
__device__ __forceinline__ void
load_box_for_all (
    void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y)
{
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier"
      "::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2],"
      " %5;\n" ::"r"(shared_u32 (to)),
      "l"(map), "r"(shared_u32 (barrier)), "r"(x), "r"(y),
      "h"((uint16_t) ((1 << CLUSTER) - 1))
      : "memory");
}

__device__ __forceinline__ void
store_box (const CUtensorMap *map, const void *from, int x, int y)
{
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%2, %3}], [%1];\n" ::"l"(map),
               "r"(shared_u32 (from)), "r"(x), "r"(y)
               : "memory");
}

/* Adds a box of floats. */
__device__ __forceinline__ void
add_box (const CUtensorMap *map, const void *from, int x, int y)
{
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2, %3}], [%1];\n" ::"l"(map),
      "r"(shared_u32 (from)), "r"(x), "r"(y)
      : "memory");
}

/* -- maps ------------------------------------------------------------------ */

/* Describes a matrix to the copy engine, in boxes of `across` x `down`, whose
 * rows are of 128 bytes, or of 64. */
template <class T>
inline cudaError_t
make_map (CUtensorMap *map,
          const void *data,
          int64_t columns,
          int64_t rows,
          int64_t step,
          int across,
          int down)
{
  typedef CUresult (*Encode) (CUtensorMap *, CUtensorMapDataType, cuuint32_t,
                              void *, const cuuint64_t *, const cuuint64_t *,
                              const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  const cuuint64_t sizes[2] = { (cuuint64_t) columns, (cuuint64_t) rows };
  /* that of a single row is never used, but must be one that is allowed */
  const cuuint64_t strides[1] = { rows > 1 ? (cuuint64_t) step * sizeof (T)
                                           : 16 };
  const cuuint32_t box[2] = { (cuuint32_t) across, (cuuint32_t) down };
  const cuuint32_t steps[2] = { 1, 1 };
  cudaDriverEntryPointQueryResult found;
  void *entry = NULL;
  cudaError_t status =
      cudaGetDriverEntryPointByVersion ("cuTensorMapEncodeTiled", &entry, 12000,
                                        cudaEnableDefault, &found);

  if (status != cudaSuccess)
    return status;
  if (found != cudaDriverEntryPointSuccess || !entry)
    return cudaErrorInsufficientDriver;
  return reinterpret_cast<Encode> (entry) (
             map,
             std::is_same<T, float>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
             : std::is_same<T, __half>::value
                 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
             2, const_cast<void *> (data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             across * sizeof (T) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
                 == CUDA_SUCCESS
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

}

#endif
