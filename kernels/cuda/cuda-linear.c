/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-choice.h"
#include "kernels/cuda/cuda-products.h"
#include "kernels/cuda/cuda-workspace.h"
#include "kernels/cuda/hopper-product.h"
#include "kernels/cuda/hopper-weight-grad.h"

static size_t
floats (int64_t count)
{
  return ((size_t) count * sizeof (float) + 255) & ~(size_t) 255;
}

static int64_t
at_least (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* The matrix of the last two dimensions of a tensor, one of whose strides is
 * 1. */
static QmCudaMatrix
matrix (const QmTensor *tensor)
{
  int last = tensor->rank - 1;
  int64_t rows = tensor->shape[last - 1], columns = tensor->shape[last];
  int64_t down = tensor->stride[last - 1], right = tensor->stride[last];
  QmCudaMatrix m = {
    .data = tensor->data, .type = tensor->type, .rows = rows, .columns = columns
  };

  m.transposed = right != 1 && columns != 1;
  if (m.transposed)
    m.step = columns > 1 ? right : at_least (right, rows);
  else
    m.step = rows > 1 ? down : at_least (down, columns);
  return m;
}

static QmCudaMatrix
transpose (QmCudaMatrix m)
{
  int64_t rows = m.rows;

  m.rows = m.columns;
  m.columns = rows;
  m.transposed = !m.transposed;
  return m;
}

/* Columns that are computed: those that padding adds as well, where rows have
 * room for them. */
static int64_t
computed (const QmOpCall *call, int64_t columns)
{
  return at_least (call->attributes.padded, columns);
}

static QmStatus
refuse_type (const QmOpCall *call, QmError *error)
{
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "%s: a GPU has no product of these types",
                       qm_op_name (call->op));
}

/* What products of factors of one type may be written as. */
static bool
type_fits (const QmTensor *factor,
           const QmTensor *other,
           const QmTensor *result)
{
  return factor->type == other->type
         && (result->type == factor->type || result->type == QM_TYPE_F32);
}

/* Our own product for a, b and d of another. */
static QmHopperProduct
own_product (const QmCudaProduct *product)
{
  return (QmHopperProduct){
    .type = product->d.type,
    .transposed = product->b.transposed,
    .rows = product->d.rows,
    .columns = product->d.columns,
    .inner = product->a.columns,
    .step_a = product->a.step,
    .step_b = product->b.step,
    .step_d = product->d.step,
    .a = product->a.data,
    .b = product->b.data,
    .d = product->d.data,
  };
}

/* Whether our own product is to be taken.  A call that has to be deterministic
 * takes it, which times cannot change. */
static bool
choose_own (QmCudaContext *context,
            cudaStream_t stream,
            const QmHopperProduct *own,
            QmStatus (*library) (QmCudaContext *context,
                                 cudaStream_t stream,
                                 const void *what,
                                 QmError *error),
            const QmOpCall *call)
{
  const QmCudaFacts facts = {
    { call->op, own->type, own->finish, own->activation, own->transposed,
      own->rows, own->columns, own->inner, own->step_a, own->step_b,
      own->step_d, own->step_pre, own->bias != NULL, own->pre != NULL }
  };
  const QmCudaWay ours = { qm_hopper_product_way, own },
                  theirs = { library, call };

  return qm_hopper_product_required (context, call)
         || qm_cuda_choose_own (context, stream, &facts, &ours, &theirs);
}

/* Through cuBLASLt in one step where the activation is one that it has. */
static QmStatus
fused_linear (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmCudaProduct product,
              QmError *error)
{
  const QmTensor *bias = &call->inputs[2], *y = &call->outputs[0];
  const QmTensor *pre = &call->outputs[1];

  if (qm_tensor_present (bias))
    product.bias = bias->data;
  product.epilogue = QM_CUDA_EPILOGUE_BIAS;
  if (qm_tensor_present (pre))
    {
      product.pre = pre->data;
      product.pre_step = pre->stride[0];
      product.epilogue = product.bias != NULL ? QM_CUDA_EPILOGUE_GELU_BIAS
                                              : QM_CUDA_EPILOGUE_GELU;
    }
  product.d.data = y->data;
  return qm_cuda_product (context->products, stream, &product, error);
}

/* The product of x and w', to be written to y or pre. */
static QmCudaProduct
linear_product (const QmOpCall *call, const QmTensor *to)
{
  QmCudaProduct product = {
    .a = matrix (&call->inputs[0]),
    .b = transpose (matrix (&call->inputs[1])),
    .d = matrix (to),
    .batch = 1,
    .alpha = 1,
    .tf32 = call->attributes.tf32,
    .deterministic = call->attributes.deterministic,
    .workspace = call->workspace,
    .workspace_bytes = call->workspace_bytes,
  };

  product.d.columns = product.b.columns = computed (call, to->shape[1]);
  return product;
}

static QmStatus
library_linear (QmCudaContext *context,
                cudaStream_t stream,
                const void *what,
                QmError *error)
{
  const QmOpCall *call = what;
  const QmTensor *bias = &call->inputs[2], *y = &call->outputs[0];
  const QmTensor *pre = &call->outputs[1];
  QmFunction activation = call->attributes.activation;
  bool has_bias = qm_tensor_present (bias), has_pre = qm_tensor_present (pre);
  const QmTensor *first = has_pre ? pre : y;
  QmCudaProduct product = linear_product (call, first);
  bool plain = activation == QM_FUNCTION_NONE && !has_pre;
  bool gelu = activation == QM_FUNCTION_GELU_TANH && has_pre
              && pre->type == y->type && pre->stride[0] == y->stride[0];
  QmStatus status = QM_STATUS_UNSUPPORTED;

  if (!type_fits (&call->inputs[0], &call->inputs[1], first))
    return refuse_type (call, error);
  if (plain && !has_bias)
    return qm_cuda_product (context->products, stream, &product, error);
  if ((plain || gelu) && (!has_bias || bias->type == y->type))
    status = fused_linear (context, stream, call, product, error);
  if (status != QM_STATUS_UNSUPPORTED)
    return status;
  if (has_bias && bias->type == first->type)
    {
      product.epilogue = QM_CUDA_EPILOGUE_BIAS;
      product.bias = bias->data;
      status = qm_cuda_product (context->products, stream, &product, error);
      if (status == QM_OK)
        return plain ? QM_OK
                     : qm_cuda_finish_linear (context, stream, first, NULL,
                                              NULL, activation, y, error);
      if (status != QM_STATUS_UNSUPPORTED)
        return status;
      product.epilogue = QM_CUDA_EPILOGUE_NONE;
      product.bias = NULL;
    }
  status = qm_cuda_product (context->products, stream, &product, error);
  if (status != QM_OK)
    return status;
  return qm_cuda_finish_linear (context, stream, first, has_bias ? bias : NULL,
                                has_pre && has_bias ? pre : NULL, activation, y,
                                error);
}

/* As one product of our own; in `fits` whether all types are those of x. */
static QmHopperProduct
own_linear (const QmOpCall *call, bool *fits)
{
  const QmTensor *bias = &call->inputs[2], *y = &call->outputs[0];
  const QmTensor *pre = &call->outputs[1];
  QmType type = call->inputs[0].type;
  QmCudaProduct product = linear_product (call, y);
  QmHopperProduct own = own_product (&product);

  own.activation = call->attributes.activation;
  own.finish = own.activation == QM_FUNCTION_NONE ? QM_HOPPER_FINISH_NONE
                                                  : QM_HOPPER_FINISH_ACTIVATE;
  *fits = call->inputs[1].type == type && y->type == type
          && !product.a.transposed && !product.d.transposed;
  if (qm_tensor_present (bias))
    {
      own.bias = bias->data;
      *fits = *fits && bias->type == type;
    }
  if (qm_tensor_present (pre))
    {
      own.pre = pre->data;
      own.step_pre = matrix (pre).step;
      *fits = *fits && pre->type == type && !matrix (pre).transposed
              && own.finish == QM_HOPPER_FINISH_ACTIVATE;
    }
  return own;
}

QmStatus
qm_cuda_linear (QmCudaContext *context,
                cudaStream_t stream,
                const QmOpCall *call,
                QmError *error)
{
  bool fits;
  QmHopperProduct own = own_linear (call, &fits);

  if (fits && qm_hopper_product_fits (context->architecture, &own)
      && choose_own (context, stream, &own, library_linear, call))
    return qm_hopper_product (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return library_linear (context, stream, call, error);
}

static QmCudaProduct
input_grad_product (const QmOpCall *call)
{
  QmCudaProduct product = {
    .a = matrix (&call->inputs[0]),
    .b = matrix (&call->inputs[1]),
    .d = matrix (&call->outputs[0]),
    .batch = 1,
    .alpha = 1,
    .tf32 = call->attributes.tf32,
    .deterministic = call->attributes.deterministic,
    .workspace = call->workspace,
    .workspace_bytes = call->workspace_bytes,
  };

  product.a.columns = product.b.rows = computed (call, product.a.columns);
  return product;
}

static QmStatus
library_input_grad (QmCudaContext *context,
                    cudaStream_t stream,
                    const void *what,
                    QmError *error)
{
  const QmOpCall *call = what;
  const QmTensor *pre = &call->inputs[2], *add = &call->inputs[3];
  const QmTensor *dx = &call->outputs[0];
  QmFunction activation = call->attributes.activation;
  bool has_pre = qm_tensor_present (pre) && activation != QM_FUNCTION_NONE;
  bool has_add = qm_tensor_present (add);
  QmCudaProduct product = input_grad_product (call);
  QmStatus status = QM_STATUS_UNSUPPORTED;

  if (!type_fits (&call->inputs[0], &call->inputs[1], dx))
    return refuse_type (call, error);
  if (!has_pre && has_add && add->type == dx->type)
    {
      QmCudaProduct sum = product;

      sum.c = matrix (add);
      status = qm_cuda_product (context->products, stream, &sum, error);
      if (status != QM_STATUS_UNSUPPORTED)
        return status;
    }
  if (has_pre && activation == QM_FUNCTION_GELU_TANH && pre->type == dx->type)
    {
      QmCudaProduct fused = product;

      fused.epilogue = QM_CUDA_EPILOGUE_DGELU;
      fused.pre = pre->data;
      fused.pre_step = pre->stride[0];
      if (!has_add)
        status = qm_cuda_product (context->products, stream, &fused, error);
      if (status != QM_STATUS_UNSUPPORTED)
        return status;
    }
  /* An addend that shares its memory with the result has to be added by the
   * product, before the memory is overwritten. */
  if (has_add && add->data == dx->data)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s: the addend is in the place of the result",
                         qm_op_name (call->op));
  status = qm_cuda_product (context->products, stream, &product, error);
  if (status != QM_OK || (!has_pre && !has_add))
    return status;
  return qm_cuda_finish_input_grad (context, stream, has_pre ? pre : NULL,
                                    has_add ? add : NULL, activation, dx,
                                    error);
}

QmStatus
qm_cuda_linear_input_grad (QmCudaContext *context,
                           cudaStream_t stream,
                           const QmOpCall *call,
                           QmError *error)
{
  const QmTensor *pre = &call->inputs[2], *dx = &call->outputs[0];
  QmType type = call->inputs[0].type;
  QmCudaProduct product = input_grad_product (call);
  QmHopperProduct own = own_product (&product);
  bool fits = call->inputs[1].type == type && dx->type == type
              && !product.a.transposed && !product.b.transposed
              && !product.d.transposed && !qm_tensor_present (&call->inputs[3]);

  if (qm_tensor_present (pre)
      && call->attributes.activation != QM_FUNCTION_NONE)
    {
      own.finish = QM_HOPPER_FINISH_SLOPE;
      own.activation = call->attributes.activation;
      own.pre = pre->data;
      own.step_pre = matrix (pre).step;
      fits = fits && pre->type == type && !matrix (pre).transposed;
    }
  if (fits && qm_hopper_product_fits (context->architecture, &own)
      && choose_own (context, stream, &own, library_input_grad, call))
    return qm_hopper_product (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return library_input_grad (context, stream, call, error);
}

/* The share of the memory's bandwidth that sums of columns reach, about. */
#define COLUMN_EFFICIENCY 0.8

/* Milliseconds that sums of the columns of dy take. */
static float
sums_time (const QmCudaContext *context, const QmCudaProduct *product)
{
  double bytes = (double) product->a.rows * (double) product->a.columns
                 * (double) qm_type_size (product->a.type);

  return (float) (bytes * 1e3 / (COLUMN_EFFICIENCY * context->bandwidth));
}

/* The ways to the gradient of weights. */
typedef enum WeightGrad
{
  PLAIN,
  SUMS_IN_PRODUCT, /* the product makes the sums for dbias as well */
  TRANSPOSED
} WeightGrad;

/* The fastest way, as far as products of the shape were timed. */
static WeightGrad
choose_weight_grad (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmCudaProduct *plain,
                    const QmCudaProduct *fused,
                    float *transposed)
{
  float best = qm_cuda_product_time (context->products, stream, plain), other;
  float sums = fused != NULL ? sums_time (context, plain) : 0;
  WeightGrad choice = PLAIN;

  if (best < 0)
    return PLAIN;
  if (fused != NULL)
    {
      best += sums;
      other = qm_cuda_product_time (context->products, stream, fused);
      if (other >= 0 && other < best)
        {
          best = other;
          choice = SUMS_IN_PRODUCT;
        }
    }
  if (transposed != NULL)
    {
      other =
          qm_cuda_transposed_time (context, stream, plain, transposed, sums);
      if (other >= 0 && other < best)
        choice = TRANSPOSED;
    }
  return choice;
}

static QmStatus
library_weight_grad (QmCudaContext *context,
                     cudaStream_t stream,
                     const void *what,
                     QmError *error)
{
  const QmOpCall *call = what;
  const QmTensor *dy = &call->inputs[0], *dbias = &call->outputs[1];
  bool has_dbias = qm_tensor_present (dbias);
  int64_t columns = computed (call, dy->shape[1]);
  size_t sums = has_dbias ? floats (QM_CUDA_PARTS * columns) : 0;
  QmCudaProduct product = {
    .a = transpose (matrix (dy)),
    .b = matrix (&call->inputs[1]),
    .c = matrix (&call->outputs[0]),
    .d = matrix (&call->outputs[0]),
    .batch = 1,
    .alpha = 1,
    .tf32 = call->attributes.tf32,
    .deterministic = call->attributes.deterministic,
    .any_order = !call->attributes.deterministic,
  };
  QmCudaProduct fused;
  float *transposed = NULL;
  QmStatus status;

  if (!type_fits (dy, &call->inputs[1], &call->outputs[0]))
    return refuse_type (call, error);
  product.a.rows = product.c.rows = product.d.rows = columns;
  if (qm_cuda_transposed_is_possible (context, &product, dy, &call->inputs[1]))
    {
      transposed = (float *) ((char *) call->workspace + sums);
      sums += floats (
          qm_cuda_transposed_size (dy->shape[0], columns, product.b.columns));
    }
  product.workspace = (char *) call->workspace + sums;
  product.workspace_bytes = call->workspace_bytes - sums;
  fused = product;
  fused.epilogue = QM_CUDA_EPILOGUE_ROW_SUMS;
  fused.bias = call->workspace;
  switch (choose_weight_grad (context, stream, &product,
                              has_dbias ? &fused : NULL, transposed))
    {
    case TRANSPOSED:
      return qm_cuda_transposed_product (context, stream, &product, transposed,
                                         call->workspace, dy, dbias, error);
    case SUMS_IN_PRODUCT:
      status = qm_cuda_product (context->products, stream, &fused, error);
      return status != QM_OK
                 ? status
                 : qm_cuda_add_parts (stream, call->workspace, 1, dy->shape[1],
                                      1, dbias->data, error);
    case PLAIN:
      break;
    }
  status = qm_cuda_product (context->products, stream, &product, error);
  if (status != QM_OK || !has_dbias)
    return status;
  return qm_cuda_sum_columns (context, stream, dy, 1, call->workspace,
                              dbias->data, error);
}

static QmStatus
run_own_weight_grad (QmCudaContext *context,
                     cudaStream_t stream,
                     const void *what,
                     QmError *error)
{
  return qm_hopper_weight_grad (context, stream, what, error);
}

/* As one of our own; in `fits` whether all lie as it wants them. */
static QmHopperWeightGrad
own_weight_grad (const QmOpCall *call, bool *fits)
{
  const QmTensor *dbias = &call->outputs[1];
  QmCudaMatrix dy = matrix (&call->inputs[0]), x = matrix (&call->inputs[1]);
  QmCudaMatrix dw = matrix (&call->outputs[0]);

  *fits = !dy.transposed && !x.transposed && !dw.transposed && x.type == dy.type
          && dw.type == QM_TYPE_F32;
  return (QmHopperWeightGrad){
    .type = dy.type,
    .rows = computed (call, dy.columns),
    .columns = x.columns,
    .inner = dy.rows,
    .sums = dy.columns,
    .step_dy = dy.step,
    .step_x = x.step,
    .step_dw = dw.step,
    .dy = dy.data,
    .x = x.data,
    .dw = dw.data,
    .dbias = qm_tensor_present (dbias) ? dbias->data : NULL,
  };
}

/* Times both ways on memory that nobody needs, because both add to what is
 * there; where there is no such memory, it is ours. */
static bool
choose_own_weight_grad (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmHopperWeightGrad *own,
                        const QmOpCall *call)
{
  const QmCudaFacts facts = {
    { call->op, own->type, own->rows, own->columns, own->inner, own->sums,
      own->step_dy, own->step_x, own->step_dw, own->dbias != NULL }
  };
  QmHopperWeightGrad grad = *own;
  QmOpCall other = *call;
  const QmCudaWay ours = { run_own_weight_grad, &grad };
  const QmCudaWay theirs = { library_weight_grad, &other };
  size_t bytes = floats (own->rows * own->step_dw);
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  int known = qm_cuda_choice (context, &facts);
  void *scratch;
  bool choice;

  if (known >= 0)
    return known != 0;
  if (cudaStreamIsCapturing (stream, &capture) != cudaSuccess
      || capture != cudaStreamCaptureStatusNone)
    return true;
  if (cudaMalloc (&scratch, bytes + floats (own->sums)) != cudaSuccess)
    {
      cudaGetLastError ();
      return true;
    }
  cudaMemsetAsync (scratch, 0, bytes + floats (own->sums), stream);
  other.outputs[0].data = grad.dw = scratch;
  if (own->dbias != NULL)
    other.outputs[1].data = grad.dbias =
        (float *) (void *) ((char *) scratch + bytes);
  choice = qm_cuda_choose_own (context, stream, &facts, &ours, &theirs);
  cudaFree (scratch);
  return choice;
}

QmStatus
qm_cuda_linear_weight_grad (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  bool fits;
  QmHopperWeightGrad own = own_weight_grad (call, &fits);

  if (fits && !call->attributes.deterministic
      && qm_hopper_weight_grad_fits (context, &own)
      && choose_own_weight_grad (context, stream, &own, call))
    return qm_hopper_weight_grad (context, stream, &own, error);
  if (context->preference == QM_CUDA_PREFER_OWN)
    return qm_hopper_product_refuse (call, error);
  return library_weight_grad (context, stream, call, error);
}

/* Sets the leading dimensions of a tensor aside: the one that is counted within
 * a product's batch, and the one that products are queued for one by one. */
static void
split_batch (QmCudaMatrix *m, const QmTensor *tensor, int inner)
{
  m->batch_stride = tensor->stride[inner];
}

/* Whether the pairs of leading indices are one sequence with one stride. */
static bool
one_batch (const QmTensor *tensor)
{
  return tensor->shape[0] == 1 || tensor->shape[1] == 1
         || tensor->stride[0] == tensor->shape[1] * tensor->stride[1];
}

static void *
shifted (const QmTensor *tensor, int outer, int64_t index)
{
  return (char *) tensor->data
         + (size_t) (index * tensor->stride[outer])
               * qm_type_size (tensor->type);
}

QmStatus
qm_cuda_matmul (QmCudaContext *context,
                cudaStream_t stream,
                const QmOpCall *call,
                QmError *error)
{
  const QmTensor *a = &call->inputs[0], *b = &call->inputs[1];
  const QmTensor *c = &call->outputs[0];
  int64_t pairs = a->shape[0] * a->shape[1];
  bool one = one_batch (a) && one_batch (b) && one_batch (c);
  int inner = (one && a->shape[1] > 1) || a->shape[1] > a->shape[0] ? 1 : 0;
  QmCudaProduct product = {
    .a = matrix (a),
    .b = matrix (b),
    .d = matrix (c),
    .batch = one ? pairs : a->shape[inner],
    .alpha = (float) call->attributes.scale,
    .tf32 = call->attributes.tf32,
    .deterministic = call->attributes.deterministic,
    .workspace = call->workspace,
    .workspace_bytes = call->workspace_bytes,
  };
  bool turned = product.d.transposed;
  QmStatus status = QM_OK;

  if (!type_fits (a, b, c))
    return refuse_type (call, error);
  split_batch (&product.a, a, inner);
  split_batch (&product.b, b, inner);
  split_batch (&product.d, c, inner);
  if (turned)
    {
      QmCudaMatrix left = product.a;

      product.a = transpose (product.b);
      product.b = transpose (left);
      product.d = transpose (product.d);
    }
  for (int64_t i = 0; i < pairs / product.batch && status == QM_OK; i++)
    {
      product.a.data = shifted (turned ? b : a, 1 - inner, i);
      product.b.data = shifted (turned ? a : b, 1 - inner, i);
      product.d.data = shifted (c, 1 - inner, i);
      status = qm_cuda_product (context->products, stream, &product, error);
    }
  return status;
}
