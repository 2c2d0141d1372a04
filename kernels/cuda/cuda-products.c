/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-products.h"

#include "kernels/cuda/cuda-blas.h"
#include "kernels/cuda/cuda-choice.h"
#include "kernels/cuda/portable-product.h"

#include <stdlib.h>
#include <string.h>

/* Of the ways that cuBLASLt proposes, best first, so many are timed, so often;
 * a later one has to be faster than an earlier one by more than what timings
 * scatter, so that runs rarely differ in their choice. */
#define CANDIDATES 24
#define ROUNDS     2
#define MARGIN     0.97f

/* A product is repeated until it was timed for this many milliseconds. */
#define TIMED_MILLISECONDS 0.5f
#define MAX_REPEATS        8

/* One that takes so many times as long as the best is not timed again; its
 * first run may wait so long for its code. */
#define HOPELESS             1.2f
#define LOADING_MILLISECONDS 5.0f

/* After so long no more than the first few are tried, and none once more: of
 * what takes long a short time tells enough. */
#define TRIAL_MILLISECONDS 150.0f
#define FEWEST             3

/* A product without its addresses.  cuBLASLt stores matrices by columns, so it
 * is asked for d' = b' a'. */
typedef struct Shape
{
  int64_t m, n, k, batch;
  int64_t step_a, step_b, step_c, step_d, step_pre;
  int64_t stride_a, stride_b, stride_c, stride_d;
  int64_t workspace;
  int32_t type_a, type_b, type_d, add, tf32, epilogue, by_row;
  int32_t transposed_a, transposed_b;
  int32_t alignment_a, alignment_b, alignment_c, alignment_d;
  int32_t deterministic;
} Shape;

typedef struct Entry
{
  const QmCudaBlas *blas;
  Shape shape;
  bool supported;
  float milliseconds; /* negative where it was not timed */
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t a, b, c, d;
  cublasLtMatmulAlgo_t algorithm;
} Entry;

struct QmCudaProducts
{
  QmCudaBlas blas;
  cublasLtHandle_t handle; /* NULL: there is no library */
  int processors;
  cudaEvent_t begin, end;
  Entry *entries;
  size_t n, capacity;
  size_t n_timed; /* products of which ways were timed */
};

static QmStatus
blas_failed (const QmCudaBlas *blas, cublasStatus_t code, QmError *error)
{
  QmStatus status = code == CUBLAS_STATUS_ALLOC_FAILED ? QM_STATUS_DEVICE_FULL
                    : code == CUBLAS_STATUS_NOT_SUPPORTED
                        ? QM_STATUS_UNSUPPORTED
                        : QM_STATUS_DEVICE;

  return qm_error_set (error, status, "", 0, 0, "cuBLASLt: %s",
                       blas->status_string (code));
}

static QmStatus
product_failed (cublasStatus_t code, const Entry *entry, QmError *error)
{
  const Shape *shape = &entry->shape;
  QmError inner;
  QmStatus status = blas_failed (entry->blas, code, &inner);

  return qm_error_set (error, status, "", 0, 0,
                       "product of %lld x %lld by %lld, %s and %s to %s, "
                       "epilogue %d: %s",
                       (long long) shape->n, (long long) shape->k,
                       (long long) shape->m, qm_type_name (shape->type_b),
                       qm_type_name (shape->type_a),
                       qm_type_name (shape->type_d), shape->epilogue,
                       inner.message);
}

static QmStatus
start_library (QmCudaProducts *products, QmError *error)
{
  QmStatus status = qm_cuda_blas_load (&products->blas, error);
  cublasStatus_t code;

  if (status != QM_OK || products->blas.library.handle == NULL)
    return status;
  code = products->blas.create (&products->handle);
  return code == CUBLAS_STATUS_SUCCESS
             ? QM_OK
             : blas_failed (&products->blas, code, error);
}

bool
qm_cuda_products_have_library (const QmCudaProducts *products)
{
  return products->handle != NULL;
}

QmStatus
qm_cuda_products_new (int processors, QmCudaProducts **result, QmError *error)
{
  QmCudaProducts *products = calloc (1, sizeof *products);
  QmStatus status;
  cudaError_t code;

  *result = NULL;
  if (products == NULL)
    return qm_error_no_memory (error);
  products->processors = processors;
  status = start_library (products, error);
  if (status != QM_OK)
    {
      free (products);
      return status;
    }
  code = cudaEventCreate (&products->begin);
  if (code == cudaSuccess)
    code = cudaEventCreate (&products->end);
  if (code != cudaSuccess)
    {
      qm_cuda_products_free (products);
      return qm_cuda_failed (code, "timing", error);
    }
  *result = products;
  return QM_OK;
}

static void
clear_entry (Entry *entry)
{
  cublasLtMatrixLayout_t layouts[] = { entry->a, entry->b, entry->c, entry->d };

  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
    if (layouts[i] != NULL)
      entry->blas->layout_destroy (layouts[i]);
  if (entry->description != NULL)
    entry->blas->description_destroy (entry->description);
}

void
qm_cuda_products_free (QmCudaProducts *products)
{
  if (products == NULL)
    return;
  for (size_t i = 0; i < products->n; i++)
    clear_entry (&products->entries[i]);
  free (products->entries);
  if (products->begin != NULL)
    cudaEventDestroy (products->begin);
  if (products->end != NULL)
    cudaEventDestroy (products->end);
  if (products->handle != NULL)
    products->blas.destroy (products->handle);
  free (products);
}

static cudaDataType_t
data_type (int32_t type)
{
  return type == QM_TYPE_F16    ? CUDA_R_16F
         : type == QM_TYPE_BF16 ? CUDA_R_16BF
         : type == QM_TYPE_E4M3 ? CUDA_R_8F_E4M3
         : type == QM_TYPE_E5M2 ? CUDA_R_8F_E5M2
                                : CUDA_R_32F;
}

/* The largest power of two up to 256 that divides an address. */
static int32_t
alignment (const void *address)
{
  uintptr_t bits = (uintptr_t) address | 256;

  return (int32_t) (bits & (~bits + 1));
}

static Shape
shape_of (const QmCudaProduct *product)
{
  Shape shape;

  memset (&shape, 0, sizeof shape);
  shape.m = product->d.columns;
  shape.n = product->d.rows;
  shape.k = product->a.columns;
  shape.batch = product->batch;
  shape.step_a = product->b.step;
  shape.step_b = product->a.step;
  shape.step_c = product->c.data != NULL ? product->c.step : product->d.step;
  shape.step_d = product->d.step;
  shape.step_pre = product->pre != NULL ? product->pre_step : 0;
  shape.stride_a = product->b.batch_stride;
  shape.stride_b = product->a.batch_stride;
  shape.stride_c = product->c.data != NULL ? product->c.batch_stride
                                           : product->d.batch_stride;
  shape.stride_d = product->d.batch_stride;
  shape.workspace = (int64_t) product->workspace_bytes;
  shape.type_a = product->b.type;
  shape.type_b = product->a.type;
  shape.type_d = product->d.type;
  shape.add = product->c.data != NULL;
  shape.tf32 = product->tf32 && product->a.type == QM_TYPE_F32;
  shape.epilogue = product->epilogue;
  shape.by_row = product->by_row;
  shape.deterministic = product->deterministic;
  shape.transposed_a = product->b.transposed;
  shape.transposed_b = product->a.transposed;
  shape.alignment_a = alignment (product->b.data);
  shape.alignment_b = alignment (product->a.data);
  shape.alignment_d = alignment (product->d.data);
  shape.alignment_c =
      product->c.data != NULL ? alignment (product->c.data) : shape.alignment_d;
  return shape;
}

static cublasStatus_t
set (const Entry *entry,
     cublasLtMatmulDescAttributes_t attribute,
     const void *value,
     size_t size)
{
  return entry->blas->description_set (entry->description, attribute, value,
                                       size);
}

static cublasStatus_t
make_layout (const QmCudaBlas *blas,
             cublasLtMatrixLayout_t *layout,
             int32_t type,
             int64_t rows,
             int64_t columns,
             int64_t step,
             int64_t batch,
             int64_t stride)
{
  int32_t count = (int32_t) batch;
  cublasStatus_t code =
      blas->layout_create (layout, data_type (type), (uint64_t) rows,
                           (uint64_t) columns, step);

  if (code != CUBLAS_STATUS_SUCCESS || batch == 1)
    return code;
  code = blas->layout_set (*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                           sizeof count);
  if (code == CUBLAS_STATUS_SUCCESS)
    code =
        blas->layout_set (*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                          &stride, sizeof stride);
  return code;
}

static cublasStatus_t
make_layouts (Entry *entry)
{
  const Shape *s = &entry->shape;
  bool ta = s->transposed_a, tb = s->transposed_b;
  cublasStatus_t code;

  /* Row by row in memory is column by column of the transpose. */
  code = make_layout (entry->blas, &entry->a, s->type_a, ta ? s->k : s->m,
                      ta ? s->m : s->k, s->step_a, s->batch, s->stride_a);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = make_layout (entry->blas, &entry->b, s->type_b, tb ? s->n : s->k,
                        tb ? s->k : s->n, s->step_b, s->batch, s->stride_b);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = make_layout (entry->blas, &entry->c, s->type_d, s->m, s->n,
                        s->step_c, s->batch, s->stride_c);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = make_layout (entry->blas, &entry->d, s->type_d, s->m, s->n,
                        s->step_d, s->batch, s->stride_d);
  return code;
}

static cublasStatus_t
set_epilogue (Entry *entry)
{
  static const cublasLtEpilogue_t epilogues[] = {
    [QM_CUDA_EPILOGUE_NONE] = CUBLASLT_EPILOGUE_DEFAULT,
    [QM_CUDA_EPILOGUE_BIAS] = CUBLASLT_EPILOGUE_BIAS,
    [QM_CUDA_EPILOGUE_GELU] = CUBLASLT_EPILOGUE_GELU_AUX,
    [QM_CUDA_EPILOGUE_GELU_BIAS] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    [QM_CUDA_EPILOGUE_DGELU] = CUBLASLT_EPILOGUE_DGELU,
    [QM_CUDA_EPILOGUE_ROW_SUMS] = CUBLASLT_EPILOGUE_BGRADB,
  };
  const Shape *shape = &entry->shape;
  cublasLtEpilogue_t epilogue = epilogues[shape->epilogue];
  cublasStatus_t code =
      set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);

  if (code == CUBLAS_STATUS_SUCCESS && shape->step_pre > 0)
    code = set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &shape->step_pre,
                sizeof shape->step_pre);
  return code;
}

/* Sums of 128 products in FP8 are added up in fp32: tensor cores of Hopper keep
 * fewer bits by themselves. */
static cublasStatus_t
set_scales (Entry *entry)
{
  const Shape *shape = &entry->shape;
  const int8_t fast = 0;
  const int32_t mode = shape->by_row
                           ? CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F
                           : CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  const int32_t bias = CUDA_R_16BF;
  cublasStatus_t code =
      set (entry, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);

  if (code == CUBLAS_STATUS_SUCCESS && shape->by_row)
    code = set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &mode, sizeof mode);
  if (code == CUBLAS_STATUS_SUCCESS && shape->by_row)
    code = set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &mode, sizeof mode);
  if (code == CUBLAS_STATUS_SUCCESS && shape->epilogue == QM_CUDA_EPILOGUE_BIAS
      && shape->type_d == QM_TYPE_F32)
    code = set (entry, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias, sizeof bias);
  return code;
}

static cublasStatus_t
describe_product (Entry *entry)
{
  const Shape *shape = &entry->shape;
  cublasComputeType_t compute =
      shape->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasOperation_t a = shape->transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t b = shape->transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasStatus_t code = entry->blas->description_create (&entry->description,
                                                         compute, CUDA_R_32F);

  if (code == CUBLAS_STATUS_SUCCESS)
    code = set (entry, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = set (entry, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = set_epilogue (entry);
  if (code == CUBLAS_STATUS_SUCCESS && qm_type_is_fp8 (shape->type_a))
    code = set_scales (entry);
  return code == CUBLAS_STATUS_SUCCESS ? make_layouts (entry) : code;
}

static cublasStatus_t
set_pointers (Entry *entry, const QmCudaProduct *product)
{
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;

  if (product->bias != NULL)
    code = set (entry, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &product->bias,
                sizeof product->bias);
  if (code == CUBLAS_STATUS_SUCCESS && product->pre != NULL)
    code = set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &product->pre,
                sizeof product->pre);
  /* The library's a is our b. */
  if (code == CUBLAS_STATUS_SUCCESS && product->scale_b != NULL)
    code = set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &product->scale_b,
                sizeof product->scale_b);
  if (code == CUBLAS_STATUS_SUCCESS && product->scale_a != NULL)
    code = set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &product->scale_a,
                sizeof product->scale_a);
  return code;
}

static cublasStatus_t
prefer (const QmCudaBlas *blas,
        cublasLtMatmulPreference_t preference,
        const Shape *shape)
{
  const struct
  {
    cublasLtMatmulPreferenceAttributes_t attribute;
    uint32_t value;
  } values[] = {
    { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      (uint32_t) shape->alignment_a },
    { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      (uint32_t) shape->alignment_b },
    { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      (uint32_t) shape->alignment_c },
    { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
      (uint32_t) shape->alignment_d },
    /* Parts of a sum are added in fp32, not in the type of the result. */
    { CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE },
  };
  size_t workspace = (size_t) shape->workspace;
  cublasStatus_t code =
      blas->preference_set (preference,
                            CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                            &workspace, sizeof workspace);

  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    if (code == CUBLAS_STATUS_SUCCESS)
      code = blas->preference_set (preference, values[i].attribute,
                                   &values[i].value, sizeof values[i].value);
  return code;
}

/* What cuBLASLt proposes, best first; returns how many. */
static int
propose (QmCudaProducts *products,
         Entry *entry,
         cublasLtMatmulHeuristicResult_t *candidates)
{
  const QmCudaBlas *blas = &products->blas;
  cublasLtMatmulPreference_t preference = NULL;
  int n = 0;

  if (blas->preference_create (&preference) != CUBLAS_STATUS_SUCCESS)
    return 0;
  if (prefer (blas, preference, &entry->shape) != CUBLAS_STATUS_SUCCESS
      || blas->propose (products->handle, entry->description, entry->a,
                        entry->b, entry->c, entry->d, preference, CANDIDATES,
                        candidates, &n)
             != CUBLAS_STATUS_SUCCESS)
    n = 0;
  blas->preference_destroy (preference);
  return n;
}

static cublasStatus_t
multiply_with (QmCudaProducts *products,
               const Entry *entry,
               const cublasLtMatmulAlgo_t *algorithm,
               const QmCudaProduct *product,
               cudaStream_t stream)
{
  float beta = product->c.data != NULL ? 1 : 0;
  const void *c = product->c.data != NULL ? product->c.data : product->d.data;

  return products->blas.multiply (products->handle, entry->description,
                                  &product->alpha, product->b.data, entry->a,
                                  product->a.data, entry->b, &beta, c, entry->c,
                                  product->d.data, entry->d, algorithm,
                                  product->workspace, product->workspace_bytes,
                                  stream);
}

/* Milliseconds of a product, the mean of some; negative where it fails. */
static float
time_runs (QmCudaProducts *products,
           const Entry *entry,
           const cublasLtMatmulAlgo_t *algorithm,
           const QmCudaProduct *product,
           cudaStream_t stream,
           int runs)
{
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
  float elapsed;

  if (cudaEventRecord (products->begin, stream) != cudaSuccess)
    return -1;
  for (int i = 0; i < runs && code == CUBLAS_STATUS_SUCCESS; i++)
    code = multiply_with (products, entry, algorithm, product, stream);
  if (code != CUBLAS_STATUS_SUCCESS
      || cudaEventRecord (products->end, stream) != cudaSuccess
      || cudaEventSynchronize (products->end) != cudaSuccess
      || cudaEventElapsedTime (&elapsed, products->begin, products->end)
             != cudaSuccess)
    return -1;
  return elapsed / (float) runs;
}

/* Milliseconds of a candidate that took `expected` the last time; negative: it
 * did not run yet, and runs once more before, unless that shows that it is no
 * match for `best`, what the best one takes so far.  All that it took is added
 * to *spent. */
static float
time_candidate (QmCudaProducts *products,
                const Entry *entry,
                const cublasLtMatmulAlgo_t *algorithm,
                const QmCudaProduct *product,
                cudaStream_t stream,
                float expected,
                float best,
                float *spent)
{
  int runs = MAX_REPEATS;
  float time;

  if (expected < 0)
    {
      expected = time_runs (products, entry, algorithm, product, stream, 1);
      *spent += expected > 0 ? expected : 0;
      if (expected < 0
          || (best >= 0 && expected > HOPELESS * best + LOADING_MILLISECONDS))
        return expected;
    }
  if (expected * MAX_REPEATS > TIMED_MILLISECONDS)
    runs = (int) (TIMED_MILLISECONDS / expected) + 1;
  time = time_runs (products, entry, algorithm, product, stream, runs);
  *spent += time > 0 ? time * (float) runs : 0;
  return time;
}

/* The fastest candidate, or -1 if none works.  What is added to is replaced by
 * scratch memory while timing; without such memory the first candidate has to
 * do. */
static int
fastest (QmCudaProducts *products,
         const Entry *entry,
         const cublasLtMatmulHeuristicResult_t *candidates,
         int n,
         const QmCudaProduct *product,
         cudaStream_t stream,
         float *milliseconds)
{
  float times[CANDIDATES], least = -1, spent = 0;
  QmCudaProduct trial = *product;
  void *scratch = NULL;
  int best = 0;

  if (product->c.data != NULL)
    {
      int64_t last = (product->batch - 1) * product->d.batch_stride
                     + product->d.rows * product->d.step;
      int64_t other = (product->batch - 1) * product->c.batch_stride
                      + product->d.rows * product->c.step;
      size_t bytes = (size_t) (last > other ? last : other)
                     * qm_type_size (product->d.type);

      if (cudaMalloc (&scratch, bytes) != cudaSuccess)
        {
          cudaGetLastError ();
          return 0;
        }
      cudaMemsetAsync (scratch, 0, bytes, stream);
      trial.c.data = trial.d.data = scratch;
    }
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < n; i++)
      {
        float expected = round > 0 ? times[i] : -1, time;

        if (round > 0 && (expected < 0 || expected > HOPELESS * least))
          continue;
        if (spent > TRIAL_MILLISECONDS && i >= FEWEST)
          n = i;
        if (spent > TRIAL_MILLISECONDS && (i >= FEWEST || round > 0))
          break;
        time = time_candidate (products, entry, &candidates[i].algo, &trial,
                               stream, expected, least, &spent);
        if (round == 0 || (time >= 0 && time < times[i]))
          times[i] = time;
        if (times[i] >= 0 && (least < 0 || times[i] < least))
          least = times[i];
      }
  for (int i = 1; i < n; i++)
    if (times[i] >= 0 && (times[best] < 0 || times[i] < MARGIN * times[best]))
      best = i;
  cudaGetLastError ();
  cudaFree (scratch);
  *milliseconds = times[best];
  return times[best] >= 0 ? best : -1;
}

static Entry *
new_entry (QmCudaProducts *products)
{
  if (products->n == products->capacity)
    {
      size_t capacity = products->capacity * 2 + 32;
      Entry *entries = realloc (products->entries, capacity * sizeof *entries);

      if (entries == NULL)
        return NULL;
      products->entries = entries;
      products->capacity = capacity;
    }
  memset (&products->entries[products->n], 0, sizeof (Entry));
  products->entries[products->n].blas = &products->blas;
  return &products->entries[products->n++];
}

/* Whether what is fastest for a known product is so for another: they differ in
 * one dimension alone, which is long in both. */
static bool
holds_for (const Entry *known, const Shape *shape)
{
  Shape rows = known->shape, inner = known->shape;

  rows.n = shape->n;
  inner.k = shape->k;
  rows.workspace = inner.workspace = shape->workspace;
  return known->supported && known->milliseconds >= 0
         && ((memcmp (&rows, shape, sizeof rows) == 0
              && qm_cuda_stretched (known->shape.n, shape->n))
             || (memcmp (&inner, shape, sizeof inner) == 0
                 && qm_cuda_stretched (known->shape.k, shape->k)));
}

/* Takes over how a product is computed that differs little; false where none is
 * known, or where it cannot be taken over. */
static bool
take_over (QmCudaProducts *products, Entry *entry)
{
  for (size_t i = 0; i + 1 < products->n; i++)
    {
      const Entry *known = &products->entries[i];
      cublasLtMatmulHeuristicResult_t result;

      if (!holds_for (known, &entry->shape)
          || products->blas.check (products->handle, entry->description,
                                   entry->a, entry->b, entry->c, entry->d,
                                   &known->algorithm, &result)
                 != CUBLAS_STATUS_SUCCESS
          || result.workspaceSize > (size_t) entry->shape.workspace)
        continue;
      entry->algorithm = known->algorithm;
      entry->milliseconds =
          (float) (known->milliseconds * (double) entry->shape.n
                   * (double) entry->shape.k
                   / ((double) known->shape.n * (double) known->shape.k));
      return true;
    }
  return false;
}

/* Finds out how to compute a product of a shape that was not seen before. */
static QmStatus
learn (QmCudaProducts *products,
       Entry *entry,
       const QmCudaProduct *product,
       cudaStream_t stream,
       QmError *error)
{
  cublasLtMatmulHeuristicResult_t candidates[CANDIDATES];
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cublasStatus_t code = describe_product (entry);
  int n, best = 0;

  if (code == CUBLAS_STATUS_SUCCESS)
    code = set_pointers (entry, product);
  if (code != CUBLAS_STATUS_SUCCESS)
    return product_failed (code, entry, error);
  entry->milliseconds = -1;
  entry->supported = take_over (products, entry);
  if (entry->supported)
    return QM_OK;
  products->n_timed++;
  n = propose (products, entry, candidates);
  if (n == 0)
    return QM_OK;
  if (!product->deterministic
      && cudaStreamIsCapturing (stream, &capture) == cudaSuccess
      && capture == cudaStreamCaptureStatusNone)
    best = fastest (products, entry, candidates, n, product, stream,
                    &entry->milliseconds);
  entry->supported = best >= 0;
  if (entry->supported)
    entry->algorithm = candidates[best].algo;
  return QM_OK;
}

/* What is known of the product's shape, learned now if it is seen for the first
 * time. */
static QmStatus
find_entry (QmCudaProducts *products,
            cudaStream_t stream,
            const QmCudaProduct *product,
            Entry **result,
            QmError *error)
{
  Shape shape = shape_of (product);
  QmStatus status;

  *result = NULL;
  for (size_t i = 0; i < products->n && *result == NULL; i++)
    if (memcmp (&products->entries[i].shape, &shape, sizeof shape) == 0)
      *result = &products->entries[i];
  if (*result != NULL)
    return QM_OK;
  *result = new_entry (products);
  if (*result == NULL)
    return qm_error_no_memory (error);
  (*result)->shape = shape;
  status = learn (products, *result, product, stream, error);
  if (status != QM_OK)
    {
      clear_entry (*result);
      products->n--;
    }
  return status;
}

size_t
qm_cuda_products_timed (const QmCudaProducts *products)
{
  return products->n_timed;
}

float
qm_cuda_product_time (QmCudaProducts *products,
                      cudaStream_t stream,
                      const QmCudaProduct *product)
{
  Entry *entry;

  if (products->handle == NULL
      || find_entry (products, stream, product, &entry, NULL) != QM_OK)
    return -1;
  return entry->supported ? entry->milliseconds : -1;
}

QmStatus
qm_cuda_product (QmCudaProducts *products,
                 cudaStream_t stream,
                 const QmCudaProduct *product,
                 QmError *error)
{
  Entry *entry;
  QmStatus status;
  cublasStatus_t code;

  if (products->handle == NULL && qm_type_is_fp8 (product->a.type))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "products in FP8 need cuBLASLt, which was not found");
  if (products->handle == NULL)
    return qm_cuda_portable_product (products->processors, stream, product,
                                     error);
  status = find_entry (products, stream, product, &entry, error);
  if (status != QM_OK)
    return status;
  if (!entry->supported)
    return product_failed (CUBLAS_STATUS_NOT_SUPPORTED, entry, error);
  code = set_pointers (entry, product);
  if (code == CUBLAS_STATUS_SUCCESS)
    code = multiply_with (products, entry, &entry->algorithm, product, stream);
  return code == CUBLAS_STATUS_SUCCESS ? QM_OK
                                       : product_failed (code, entry, error);
}
