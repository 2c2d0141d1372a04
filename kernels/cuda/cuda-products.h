/* SPDX-License-Identifier: Apache-2.0 */

/* Products of matrices through cuBLASLt, and by a plain kernel of our own where
 * there is none; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_PRODUCTS_H
#define QM_KERNELS_CUDA_CUDA_PRODUCTS_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* A matrix in memory, row by row, or column by column where `transposed`;
   * `step` elements from one row (column) to the next. */
  typedef struct QmCudaMatrix
  {
    void *data;
    QmType type;
    bool transposed;
    int64_t rows, columns, step;
    int64_t batch_stride;
  } QmCudaMatrix;

  typedef enum QmCudaEpilogue
  {
    QM_CUDA_EPILOGUE_NONE,
    QM_CUDA_EPILOGUE_BIAS,      /* d = a b + bias */
    QM_CUDA_EPILOGUE_GELU,      /* pre = a b; d = gelu_tanh (pre) */
    QM_CUDA_EPILOGUE_GELU_BIAS, /* pre = a b + bias; d = gelu_tanh (pre) */
    QM_CUDA_EPILOGUE_DGELU,     /* d = a b gelu_tanh' (pre) */
    QM_CUDA_EPILOGUE_ROW_SUMS   /* bias[i] = sum over k of a[i, k] */
  } QmCudaEpilogue;

  /* d = epilogue (alpha a b + c), for each of `batch` triples of matrices; c
   * may be d, or have no data.  d is stored row by row.  Factors in FP8 lie
   * along the sum, a by its rows and b by its columns, and are multiplied by
   * their scale, or with `by_row` each row of a and each column of b by its
   * own; 128 at a time are added up in fp32, which on Hopper have about 13 bits
   * below the largest of 32 each. */
  typedef struct QmCudaProduct
  {
    QmCudaMatrix a, b, c, d;
    int64_t batch;
    float alpha;
    bool tf32;
    bool deterministic; /* computed in the way that cuBLASLt proposes first */
    bool any_order;     /* of what is added: last bits may differ each time */
    bool by_row;
    const float *scale_a, *scale_b; /* of the device; factors in FP8 alone */
    QmCudaEpilogue epilogue;
    void *bias; /* of the type of d, as `pre` is; bf16 for FP8 to f32 */
    void *pre;
    int64_t pre_step;
    void *workspace;
    size_t workspace_bytes;
  } QmCudaProduct;

  /* For a GPU of so many multiprocessors. */
  QmStatus qm_cuda_products_new (int processors,
                                 QmCudaProducts **products,
                                 QmError *error);
  void qm_cuda_products_free (QmCudaProducts *products);

  /* Whether cuBLASLt was found. */
  bool qm_cuda_products_have_library (const QmCudaProducts *products);

  /* Queues a product.  How it is computed is chosen when a shape is seen for
   * the first time, by timing what cuBLASLt proposes, unless the stream is
   * being captured or the product has to be deterministic; that first call may
   * wait and allocate.
   * QM_STATUS_UNSUPPORTED where there is no kernel for it. */
  QmStatus qm_cuda_product (QmCudaProducts *products,
                            cudaStream_t stream,
                            const QmCudaProduct *product,
                            QmError *error);

  /* Of how many shapes ways were timed. */
  size_t qm_cuda_products_timed (const QmCudaProducts *products);

  /* How long such a product took when its shape was learned, in milliseconds;
   * negative where it was not timed or cannot be done. */
  float qm_cuda_product_time (QmCudaProducts *products,
                              cudaStream_t stream,
                              const QmCudaProduct *product);

  /* y = activation (pre), pre = x + bias, of [rows, columns]; x may be y or
   * pre, bias and pre may be NULL. */
  QmStatus qm_cuda_finish_linear (const QmCudaContext *context,
                                  cudaStream_t stream,
                                  const QmTensor *x,
                                  const QmTensor *bias,
                                  const QmTensor *pre,
                                  QmFunction activation,
                                  const QmTensor *y,
                                  QmError *error);

  /* dx = dx activation' (pre) + add; pre and add may be NULL. */
  QmStatus qm_cuda_finish_input_grad (const QmCudaContext *context,
                                      cudaStream_t stream,
                                      const QmTensor *pre,
                                      const QmTensor *add,
                                      QmFunction activation,
                                      const QmTensor *dx,
                                      QmError *error);

  /* sums += scale x the sums of the columns of x; `partial` has room for
   * QM_CUDA_PARTS rows. */
#define QM_CUDA_PARTS 264
  QmStatus qm_cuda_sum_columns (const QmCudaContext *context,
                                cudaStream_t stream,
                                const QmTensor *x,
                                float scale,
                                float *partial,
                                float *sums,
                                QmError *error);

  /* y[c, r] = x[r, c] rounded to TF32, for x stored row by row, rows of y
   * y_step apart, 4 of it a multiple no smaller than the rows of x; those of x
   * and of y are read and written 4 at a time.  Where `partial` is not NULL,
   * its rows are the sums of the columns of x over groups of `group` times
   * QM_CUDA_TRANSPOSE_ROWS rows. */
  QmStatus qm_cuda_transpose_tf32 (cudaStream_t stream,
                                   const QmCudaMatrix *x,
                                   float *y,
                                   int64_t y_step,
                                   float *partial,
                                   int group,
                                   QmError *error);

  /* Whether the gradient of weights, `product` of dy' and x, may go by way of
   * one of them transposed. */
  bool qm_cuda_transposed_is_possible (const QmCudaContext *context,
                                       const QmCudaProduct *product,
                                       const QmTensor *dy,
                                       const QmTensor *x);

  /* About how many milliseconds that takes, where sums of the columns of dy
   * take `sums_time`; negative where it is not known.  `transposed` is a part
   * of the workspace. */
  float qm_cuda_transposed_time (const QmCudaContext *context,
                                 cudaStream_t stream,
                                 const QmCudaProduct *product,
                                 float *transposed,
                                 float sums_time);

  /* Does it; `partial` as for qm_cuda_sum_columns(), dbias may be absent. */
  QmStatus qm_cuda_transposed_product (const QmCudaContext *context,
                                       cudaStream_t stream,
                                       const QmCudaProduct *product,
                                       float *transposed,
                                       float *partial,
                                       const QmTensor *dy,
                                       const QmTensor *dbias,
                                       QmError *error);

#ifdef __cplusplus
}
#endif

#endif
