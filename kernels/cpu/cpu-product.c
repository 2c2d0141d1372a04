/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

QmCpuMatrix
qm_cpu_matrix (const QmTensor *tensor, int64_t offset)
{
  int32_t last = tensor->rank - 1;

  return (QmCpuMatrix){
    .type = tensor->type,
    .data = qm_cpu_at (tensor, offset),
    .rows = tensor->shape[last - 1],
    .columns = tensor->shape[last],
    .row_stride = tensor->stride[last - 1],
    .column_stride = tensor->stride[last],
  };
}

QmCpuMatrix
qm_cpu_transpose (QmCpuMatrix matrix)
{
  return (QmCpuMatrix){
    .type = matrix.type,
    .data = matrix.data,
    .rows = matrix.columns,
    .columns = matrix.rows,
    .row_stride = matrix.column_stride,
    .column_stride = matrix.row_stride,
  };
}

static void
load_row (const QmCpuMatrix *matrix, int64_t row, float *to)
{
  const char *start =
      (const char *) matrix->data
      + (size_t) (row * matrix->row_stride) * qm_type_size (matrix->type);

  qm_floats_load (matrix->type, start, matrix->column_stride, matrix->columns,
                  to);
}

typedef struct Product
{
  QmCpuMatrix a;
  const float *b;
  int64_t n;
  float *c;
} Product;

/* Four floats that lie anywhere. */
typedef float Four __attribute__ ((vector_size (16), aligned (4), may_alias));

/* c += the sum of factors[i] * row i of b, added in this order: one visit of c
 * for four rows, four columns at a time. */
static void
add_four_rows (float *c, const float *factors, const float *b, int64_t n)
{
  const float *b1 = b + n, *b2 = b + 2 * n, *b3 = b + 3 * n;
  float f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
  int64_t j = 0;

  for (; j + 4 <= n; j += 4)
    {
      Four sum = *(Four *) (c + j) + f0 * *(const Four *) (b + j);

      sum += f1 * *(const Four *) (b1 + j);
      sum += f2 * *(const Four *) (b2 + j);
      *(Four *) (c + j) = sum + f3 * *(const Four *) (b3 + j);
    }
  for (; j < n; j++)
    {
      float sum = c[j] + f0 * b[j];

      sum += f1 * b1[j];
      sum += f2 * b2[j];
      c[j] = sum + f3 * b3[j];
    }
}

static bool
product_rows (void *data, int64_t begin, int64_t end)
{
  Product *product = data;
  int64_t k = product->a.columns, n = product->n;
  float *row = qm_cpu_floats (k);

  if (row == NULL)
    return false;
  for (int64_t i = begin; i < end; i++)
    {
      float *c = product->c + i * n;
      int64_t l = 0;

      load_row (&product->a, i, row);
      for (int64_t j = 0; j < n; j++)
        c[j] = 0;
      for (; l + 4 <= k; l += 4)
        add_four_rows (c, row + l, product->b + l * n, n);
      for (; l < k; l++)
        {
          const float *b = product->b + l * n;

          for (int64_t j = 0; j < n; j++)
            c[j] += row[l] * b[j];
        }
    }
  free (row);
  return true;
}

bool
qm_cpu_product (QmThreads *threads, QmCpuMatrix a, QmCpuMatrix b, float *c)
{
  float *dense = qm_cpu_floats (b.rows * b.columns);
  Product product = { .a = a, .b = dense, .n = b.columns, .c = c };
  bool ok;

  if (dense == NULL)
    return false;
  for (int64_t i = 0; i < b.rows; i++)
    load_row (&b, i, dense + i * b.columns);
  ok = qm_cpu_parallel (threads, a.rows,
                        2.0 * (double) a.rows * (double) a.columns
                            * (double) b.columns,
                        product_rows, &product);
  free (dense);
  return ok;
}

bool
qm_cpu_linear (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0];
  const QmTensor *bias = &call->inputs[2];
  const QmTensor *y = &call->outputs[0];
  const QmTensor *pre = &call->outputs[1];
  int64_t rows = x->shape[0], out = y->shape[1];
  float *c = qm_cpu_floats (rows * out), *offsets = qm_cpu_floats (out);
  bool ok =
      c != NULL && offsets != NULL
      && qm_cpu_product (threads, qm_cpu_matrix (x, 0),
                         qm_cpu_transpose (qm_cpu_matrix (&call->inputs[1], 0)),
                         c);

  if (ok && qm_tensor_present (bias))
    qm_cpu_load (bias, 0, out, offsets);
  for (int64_t r = 0; ok && r < rows; r++)
    {
      float *row = c + r * out;

      if (qm_tensor_present (bias))
        for (int64_t j = 0; j < out; j++)
          row[j] += offsets[j];
      if (qm_tensor_present (pre))
        qm_cpu_store (pre, r * pre->stride[0], out, row);
      for (int64_t j = 0; j < out; j++)
        row[j] = qm_cpu_function (call->attributes.activation, row[j]);
      qm_cpu_store (y, r * y->stride[0], out, row);
    }
  free (c);
  free (offsets);
  return ok;
}

bool
qm_cpu_gated_linear (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *bias = &call->inputs[2];
  const QmTensor *y = &call->outputs[0], *pre = &call->outputs[1];
  int64_t rows = x->shape[0], n = y->shape[1];
  float *c = qm_cpu_floats (rows * 2 * n), *offsets = qm_cpu_floats (2 * n);
  bool ok =
      c != NULL && offsets != NULL
      && qm_cpu_product (threads, qm_cpu_matrix (x, 0),
                         qm_cpu_transpose (qm_cpu_matrix (&call->inputs[1], 0)),
                         c);

  if (ok && qm_tensor_present (bias))
    qm_cpu_load (bias, 0, 2 * n, offsets);
  for (int64_t r = 0; ok && r < rows; r++)
    {
      float *gate = c + r * 2 * n, *up = gate + n;

      if (qm_tensor_present (bias))
        for (int64_t j = 0; j < 2 * n; j++)
          gate[j] += offsets[j];
      if (qm_tensor_present (pre))
        qm_cpu_store (pre, r * pre->stride[0], 2 * n, gate);
      for (int64_t j = 0; j < n; j++)
        up[j] *= qm_cpu_function (call->attributes.activation, gate[j]);
      qm_cpu_store (y, r * y->stride[0], n, up);
    }
  free (c);
  free (offsets);
  return ok;
}

bool
qm_cpu_gated_input_grad (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *pre = &call->inputs[2], *dpre = &call->outputs[0];
  QmFunction function = call->attributes.activation;
  int64_t rows = dpre->shape[0], n = call->inputs[1].shape[1];
  float *c = qm_cpu_floats (rows * n), *gate = qm_cpu_floats (2 * n);
  bool ok = c != NULL && gate != NULL
            && qm_cpu_product (threads, qm_cpu_matrix (&call->inputs[0], 0),
                               qm_cpu_matrix (&call->inputs[1], 0), c);

  for (int64_t r = 0; ok && r < rows; r++)
    {
      const float *d = c + r * n;

      qm_cpu_load (pre, r * pre->stride[0], 2 * n, gate);
      for (int64_t j = 0; j < n; j++)
        {
          float g = gate[j], up = gate[n + j];

          gate[j] = d[j] * up * qm_cpu_function_slope (function, g);
          gate[n + j] = d[j] * qm_cpu_function (function, g);
        }
      qm_cpu_store (dpre, r * dpre->stride[0], 2 * n, gate);
    }
  free (c);
  free (gate);
  return ok;
}

bool
qm_cpu_linear_input_grad (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *pre = &call->inputs[2];
  const QmTensor *add = &call->inputs[3];
  const QmTensor *dx = &call->outputs[0];
  int64_t rows = dx->shape[0], in = dx->shape[1];
  float *c = qm_cpu_floats (rows * in), *other = qm_cpu_floats (in);
  bool ok = c != NULL && other != NULL
            && qm_cpu_product (threads, qm_cpu_matrix (&call->inputs[0], 0),
                               qm_cpu_matrix (&call->inputs[1], 0), c);

  for (int64_t r = 0; ok && r < rows; r++)
    {
      float *row = c + r * in;

      if (qm_tensor_present (pre))
        {
          qm_cpu_load (pre, r * pre->stride[0], in, other);
          for (int64_t j = 0; j < in; j++)
            row[j] *=
                qm_cpu_function_slope (call->attributes.activation, other[j]);
        }
      if (qm_tensor_present (add))
        {
          qm_cpu_load (add, r * add->stride[0], in, other);
          for (int64_t j = 0; j < in; j++)
            row[j] += other[j];
        }
      qm_cpu_store (dx, r * dx->stride[0], in, row);
    }
  free (c);
  free (other);
  return ok;
}

static bool
add_column_sums (const QmTensor *x, float scale, float *sums)
{
  int64_t rows = x->shape[0], columns = x->shape[1];
  double *totals = calloc ((size_t) columns, sizeof *totals);
  float *row = qm_cpu_floats (columns);
  bool ok = totals != NULL && row != NULL;

  for (int64_t r = 0; ok && r < rows; r++)
    {
      qm_cpu_load (x, r * x->stride[0], columns, row);
      for (int64_t j = 0; j < columns; j++)
        totals[j] += row[j];
    }
  for (int64_t j = 0; ok && j < columns; j++)
    sums[j] += scale * (float) totals[j];
  free (totals);
  free (row);
  return ok;
}

bool
qm_cpu_linear_weight_grad (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0];
  const QmTensor *dw = &call->outputs[0];
  int64_t out = dw->shape[0], in = dw->shape[1];
  float *c = qm_cpu_floats (out * in);
  bool ok =
      c != NULL
      && qm_cpu_product (threads, qm_cpu_transpose (qm_cpu_matrix (dy, 0)),
                         qm_cpu_matrix (&call->inputs[1], 0), c);

  for (int64_t o = 0; ok && o < out; o++)
    {
      float *row = qm_cpu_at (dw, o * dw->stride[0]);

      for (int64_t j = 0; j < in; j++)
        row[j] += c[o * in + j];
    }
  free (c);
  if (ok && qm_tensor_present (&call->outputs[1]))
    ok = add_column_sums (dy, 1, call->outputs[1].data);
  return ok;
}

bool
qm_cpu_column_sum (QmThreads *threads, const QmOpCall *call)
{
  return add_column_sums (&call->inputs[0], (float) call->attributes.scale,
                          call->outputs[0].data);
}

/* Offset of pair (b, h) of a batch of matrices. */
static int64_t
pair_offset (const QmTensor *tensor, int64_t index)
{
  return index / tensor->shape[1] * tensor->stride[0]
         + index % tensor->shape[1] * tensor->stride[1];
}

static bool
matmul_pairs (void *data, int64_t begin, int64_t end)
{
  const QmOpCall *call = data;
  const QmTensor *a = &call->inputs[0], *b = &call->inputs[1];
  const QmTensor *c = &call->outputs[0];
  int64_t m = c->shape[2], n = c->shape[3];
  float *product = qm_cpu_floats (m * n);
  bool ok = product != NULL;

  for (int64_t i = begin; ok && i < end; i++)
    {
      ok = qm_cpu_product (NULL, qm_cpu_matrix (a, pair_offset (a, i)),
                           qm_cpu_matrix (b, pair_offset (b, i)), product);
      for (int64_t r = 0; ok && r < m; r++)
        {
          int64_t offset = pair_offset (c, i) + r * c->stride[2];

          for (int64_t j = 0; j < n; j++)
            product[r * n + j] *= (float) call->attributes.scale;
          qm_floats_store (c->type, qm_cpu_at (c, offset), c->stride[3], n,
                           product + r * n);
        }
    }
  free (product);
  return ok;
}

bool
qm_cpu_matmul (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *a = &call->inputs[0];
  int64_t pairs = a->shape[0] * a->shape[1];

  return qm_cpu_parallel (threads, pairs, qm_op_flops (call), matmul_pairs,
                          (void *) call);
}
