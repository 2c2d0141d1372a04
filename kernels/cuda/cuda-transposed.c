/* SPDX-License-Identifier: Apache-2.0 */

/* Gradients of weights in TF32 by way of a transposed factor.
 *
 * Tensor cores of Hopper read factors of 32 bits along the sum alone, unless
 * one of them comes by way of registers.  In dw = dy' x neither lies so in
 * memory.  Where the one with fewer columns is transposed before, the product
 * takes two thirds of the time; and where that is dy, the sums of dbias come
 * with it. */

#include "kernels/cuda/cuda-products.h"
#include "kernels/cuda/cuda-workspace.h"

/* The share of the memory's bandwidth that transposing reaches, about. */
#define TRANSPOSE_EFFICIENCY 0.7

/* Tiles of rows whose sums of columns are one part. */
static int
tiles_of_part (int64_t rows)
{
  int64_t tiles = (rows + QM_CUDA_TRANSPOSE_ROWS - 1) / QM_CUDA_TRANSPOSE_ROWS;

  return (int) ((tiles + QM_CUDA_PARTS - 1) / QM_CUDA_PARTS);
}

static bool
transposes_dy (const QmCudaProduct *product)
{
  return product->a.rows <= product->b.columns;
}

static int64_t
transposed_columns (const QmCudaProduct *product)
{
  return transposes_dy (product) ? product->a.rows : product->b.columns;
}

/* `rows` rows of a factor from `first` on, as they lie in memory. */
static QmCudaMatrix
rows_of (const QmCudaMatrix *factor,
         int64_t columns,
         int64_t first,
         int64_t rows)
{
  return (QmCudaMatrix){ .data = (float *) factor->data + first * factor->step,
                         .type = factor->type,
                         .rows = rows,
                         .columns = columns,
                         .step = factor->step };
}

/* The product of `rows` rows of dy and x from `first` on; `product` is that of
 * all of them. */
static QmCudaProduct
slice (const QmCudaProduct *product,
       float *transposed,
       int64_t step,
       int64_t first,
       int64_t rows)
{
  QmCudaProduct part = *product;

  part.a = rows_of (&product->a, rows, first, product->a.rows);
  part.a.transposed = true;
  part.b = rows_of (&product->b, product->b.columns, first, rows);
  if (transposes_dy (product))
    {
      part.a.data = transposed;
      part.a.step = step;
      part.a.transposed = false;
    }
  else
    {
      part.b.data = transposed;
      part.b.step = step;
      part.b.transposed = true;
    }
  return part;
}

bool
qm_cuda_transposed_is_possible (const QmCudaContext *context,
                                const QmCudaProduct *product,
                                const QmTensor *dy,
                                const QmTensor *x)
{
  return qm_cuda_transposes (context->architecture, dy, product->tf32)
         && product->a.transposed && !product->b.transposed
         && transposed_columns (product) % 4 == 0
         && qm_cuda_vectors (transposes_dy (product) ? dy : x, 4);
}

float
qm_cuda_transposed_time (const QmCudaContext *context,
                         cudaStream_t stream,
                         const QmCudaProduct *product,
                         float *transposed,
                         float sums_time)
{
  int64_t rows = product->b.rows, columns = transposed_columns (product);
  int64_t step = qm_cuda_transposed_rows (rows, columns);
  QmCudaProduct part =
      slice (product, transposed, step, 0, step < rows ? step : rows);
  float time = qm_cuda_product_time (context->products, stream, &part);
  double bytes = 2.0 * sizeof (float) * (double) rows * (double) columns;

  if (time < 0)
    return -1;
  return time * (float) rows / (float) part.b.rows
         + (transposes_dy (product) ? 0 : sums_time)
         + (float) (bytes * 1e3 / (TRANSPOSE_EFFICIENCY * context->bandwidth));
}

/* Transposes some rows, and adds to dbias where dy is what is transposed. */
static QmStatus
transpose_rows (cudaStream_t stream,
                const QmCudaProduct *product,
                int64_t first,
                int64_t rows,
                float *transposed,
                int64_t step,
                float *partial,
                const QmTensor *dbias,
                QmError *error)
{
  int64_t columns = transposed_columns (product);
  bool sums = transposes_dy (product) && qm_tensor_present (dbias);
  QmCudaMatrix x = rows_of (transposes_dy (product) ? &product->a : &product->b,
                            columns, first, rows);
  int group = sums ? tiles_of_part (rows) : 1;
  int64_t height = (int64_t) group * QM_CUDA_TRANSPOSE_ROWS;
  QmStatus status =
      qm_cuda_transpose_tf32 (stream, &x, transposed, step,
                              sums ? partial : NULL, group, error);

  if (status != QM_OK || !sums)
    return status;
  return qm_cuda_add_parts (stream, partial, (rows + height - 1) / height,
                            columns, 1, dbias->data, error);
}

QmStatus
qm_cuda_transposed_product (const QmCudaContext *context,
                            cudaStream_t stream,
                            const QmCudaProduct *product,
                            float *transposed,
                            float *partial,
                            const QmTensor *dy,
                            const QmTensor *dbias,
                            QmError *error)
{
  int64_t rows = product->b.rows;
  int64_t step = qm_cuda_transposed_rows (rows, transposed_columns (product));
  QmStatus status = QM_OK;

  for (int64_t first = 0, n; first < rows && status == QM_OK; first += n)
    {
      QmCudaProduct part;

      n = rows - first < step ? rows - first : step;
      part = slice (product, transposed, step, first, n);
      status = transpose_rows (stream, product, first, n, transposed, step,
                               partial, dbias, error);
      if (status == QM_OK)
        status = qm_cuda_product (context->products, stream, &part, error);
    }
  if (status != QM_OK || transposes_dy (product) || !qm_tensor_present (dbias))
    return status;
  return qm_cuda_sum_columns (context, stream, dy, 1, partial, dbias->data,
                              error);
}
