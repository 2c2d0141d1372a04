/* SPDX-License-Identifier: Apache-2.0 */

/* Descriptions of tensors for the copy engine.  The driver's encoder is
 * looked up at run time, so that nothing links against the driver. */

#ifndef QM_KERNELS_CUDA_ATTENTION_MAP_CUH
#define QM_KERNELS_CUDA_ATTENTION_MAP_CUH

#include "kernels/cuda/attention-wgmma.cuh"

namespace qm_attention
{

/* `heads` of t. */
template <int D>
cudaError_t
make_map (CUtensorMap *map,
          const Params &p,
          const QmAttentionTensor &t,
          int heads,
          int rows,
          bool bf16,
          bool chunks)
{
  using C = Chunk<D>;
  typedef CUresult (*Encode) (CUtensorMap *, CUtensorMapDataType, cuuint32_t,
                              void *, const cuuint64_t *, const cuuint64_t *,
                              const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  /* a stride of a dimension of one element is never used, but must be one
   * that the encoder takes */
  const cuuint64_t sizes[5] = { chunks ? C::ELEMENTS : (cuuint64_t) p.head_dim,
                                (cuuint64_t) p.seq,
                                chunks ? (cuuint64_t) p.head_dim / C::ELEMENTS
                                       : 1,
                                (cuuint64_t) heads, (cuuint64_t) p.batch };
  const cuuint64_t strides[4] = {
    p.seq > 1 ? (cuuint64_t) t.seq_stride * 2 : 16, C::BYTES,
    heads > 1 ? (cuuint64_t) t.head_stride * 2 : 16,
    p.batch > 1 ? (cuuint64_t) t.batch_stride * 2 : 16
  };
  const cuuint32_t box[5] = { C::ELEMENTS, (cuuint32_t) rows,
                              chunks ? (cuuint32_t) C::COUNT : 1, 1, 1 };
  const cuuint32_t steps[5] = { 1, 1, 1, 1, 1 };
  cudaDriverEntryPointQueryResult found;
  void *entry = NULL;
  cudaError_t status =
      cudaGetDriverEntryPointByVersion ("cuTensorMapEncodeTiled", &entry, 12000,
                                        cudaEnableDefault, &found);

  if (status != cudaSuccess)
    return status;
  if (found != cudaDriverEntryPointSuccess || !entry)
    return cudaErrorInsufficientDriver;
  return reinterpret_cast<Encode> (
             entry) (map,
                     bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                          : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                     5, t.data, sizes, strides, box, steps,
                     CU_TENSOR_MAP_INTERLEAVE_NONE,
                     C::BYTES == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                     : C::BYTES == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                      : CU_TENSOR_MAP_SWIZZLE_32B,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
                 == CUDA_SUCCESS
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

}

#endif
