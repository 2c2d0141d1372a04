/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the operators of the GPU that are bound by memory move the bytes
 * that they have to move, for the shapes of real models.
 *
 *   bench-cuda-rows [--repeat N] [--only TEXT]
 *
 * Prints the median time of a call, GB/s over inputs read once and outputs
 * written once (twice where they are added to), and that as a share of the
 * fastest of a few plain copies. */

#include "kernels/operators.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(...)  ((int64_t[]){ __VA_ARGS__ })
#define MAX_TENSORS 24

typedef struct Bench
{
  QmDevice *device;
  QmStream *stream;
  QmEvent *begin, *end;
  int repeat;
  const char *only;
  double copy; /* bytes a second */
  QmTensor rng;
  void *memory[MAX_TENSORS];
  size_t n;
} Bench;

typedef struct Model
{
  const char *name;
  QmType type;
  int64_t batch, length, width, heads, vocab, classes, parameters, rotary;
  double dropout;
} Model;

static const Model models[] = {
  { "pythia-160m 64", QM_TYPE_BF16, 64, 2049, 768, 12, 50304, 50304, 162322944,
    16, 0 },
  { "pythia-1b 32", QM_TYPE_BF16, 32, 2049, 2048, 8, 50304, 50304, 1011781632,
    64, 0 },
  { "vit-large 256", QM_TYPE_F32, 256, 197, 1024, 16, 0, 1000, 304326632, 0,
    0 },
  { "roberta-large 64", QM_TYPE_F16, 64, 512, 1024, 16, 50265, 50265, 355359744,
    0, 0.1 },
};

static void
must (QmStatus status, const QmError *error)
{
  if (status == QM_OK)
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

static void
run (Bench *bench, const QmOpCall *call)
{
  QmError error = { 0 };

  must (qm_op_run (bench->device, bench->stream, call, &error), &error);
}

static void *
allocate (Bench *bench, size_t bytes)
{
  QmError error = { 0 };
  void *memory;

  must (qm_device_allocate (bench->device, bytes, &memory, &error), &error);
  bench->memory[bench->n++] = memory;
  return memory;
}

static void
release (Bench *bench)
{
  while (bench->n > 0)
    qm_device_free (bench->device, bench->memory[--bench->n]);
}

/* Random numbers; whole ones in [0, count) for i32. */
static QmTensor
tensor (Bench *bench,
        QmType type,
        int32_t rank,
        const int64_t *shape,
        int64_t count)
{
  QmTensor result = qm_tensor_dense (type, rank, shape, NULL);
  QmOpCall call = { .op = QM_OP_RANDOM };

  result.data = allocate (bench, (size_t) qm_tensor_elements (&result)
                                     * qm_type_size (type));
  call.attributes.distribution =
      type == QM_TYPE_I32 ? QM_DISTRIBUTION_INDEX : QM_DISTRIBUTION_NORMAL;
  call.attributes.count = count;
  call.attributes.scale = 1;
  call.attributes.site = (uint32_t) bench->n;
  call.inputs[0] = bench->rng;
  call.outputs[0] = result;
  run (bench, &call);
  return result;
}

static QmTensor
matrix (Bench *bench, QmType type, int64_t rows, int64_t columns)
{
  return tensor (bench, type, 2, SHAPE (rows, columns), 0);
}

static QmTensor
line (Bench *bench, QmType type, int64_t n)
{
  return tensor (bench, type, 1, &n, 0);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Median seconds. */
static double
measure (Bench *bench, const QmOpCall *call)
{
  double times[64];
  QmError error = { 0 };

  for (int i = 0; i < 2; i++)
    run (bench, call);
  for (int i = 0; i < bench->repeat; i++)
    {
      must (qm_event_record (bench->device, bench->stream, bench->begin,
                             &error),
            &error);
      run (bench, call);
      must (qm_event_record (bench->device, bench->stream, bench->end, &error),
            &error);
      must (qm_event_elapsed (bench->device, bench->begin, bench->end,
                              &times[i], &error),
            &error);
    }
  qsort (times, (size_t) bench->repeat, sizeof *times, by_value);
  return times[bench->repeat / 2];
}

static double
bytes_of (const QmOpCall *call)
{
  double bytes = 0;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    bytes += (double) qm_tensor_elements (&call->inputs[i])
             * (double) qm_type_size (call->inputs[i].type);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    bytes += (double) qm_tensor_elements (&call->outputs[i])
             * (double) qm_type_size (call->outputs[i].type)
             * (qm_op_accumulates (call->op, i) ? 2 : 1);
  return bytes;
}

static void
report (Bench *bench,
        const char *model,
        const char *name,
        QmOpCall *call,
        double bytes)
{
  double seconds;

  if (bench->only == NULL || strstr (name, bench->only) != NULL)
    {
      call->workspace_bytes =
          qm_op_workspace (&qm_device_info (bench->device)->target, call);
      call->workspace = allocate (bench, call->workspace_bytes + 256);
      bytes = bytes > 0 ? bytes : bytes_of (call);
      seconds = measure (bench, call);
      printf ("%-17s %-28s %9.1f us %8.2f GB %6.0f GB/s %5.1f %%\n", model,
              name, seconds * 1e6, bytes * 1e-9, bytes / seconds * 1e-9,
              100 * bytes / seconds / bench->copy);
      fflush (stdout);
    }
  release (bench);
}

static void
bench_norm (Bench *bench, const Model *model, bool branches)
{
  int64_t rows = model->batch * model->length, n = model->width;
  bool both = branches && model->rotary > 0;
  QmType residual = QM_TYPE_F32;
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  call.attributes.epsilon = 1e-5;
  call.attributes.dropout = model->dropout;
  call.inputs[0] = matrix (bench, residual, rows, n);
  call.inputs[1] = line (bench, model->type, n);
  call.inputs[2] = line (bench, model->type, n);
  call.outputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, rows);
  call.outputs[2] = line (bench, QM_TYPE_F32, rows);
  if (branches)
    {
      call.inputs[3] = matrix (bench, model->type, rows, n);
      call.outputs[3] = call.inputs[0];
      call.inputs[7] = bench->rng;
    }
  if (both)
    {
      call.inputs[4] = matrix (bench, model->type, rows, n);
      call.inputs[5] = line (bench, model->type, n);
      call.inputs[6] = line (bench, model->type, n);
      call.outputs[4] = matrix (bench, model->type, rows, n);
    }
  report (bench, model->name,
          both       ? "norm + 2 branches, 2 outputs"
          : branches ? "norm + branch"
                     : "norm",
          &call, 0);
}

static void
bench_norm_backward (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  QmOpCall call = { .op = QM_OP_LAYER_NORM_BACKWARD };

  call.attributes.dropout = model->dropout;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.inputs[1] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[2] = line (bench, model->type, n);
  call.inputs[3] = line (bench, QM_TYPE_F32, rows);
  call.inputs[4] = line (bench, QM_TYPE_F32, rows);
  call.inputs[5] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[8] = bench->rng;
  call.outputs[0] = call.inputs[5];
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  call.outputs[2] = line (bench, QM_TYPE_F32, n);
  if (model->rotary > 0)
    {
      call.inputs[6] = matrix (bench, model->type, rows, n);
      call.inputs[7] = line (bench, model->type, n);
      call.outputs[3] = line (bench, QM_TYPE_F32, n);
      call.outputs[4] = line (bench, QM_TYPE_F32, n);
    }
  else if (model->dropout > 0)
    /* A norm behind its addition: written twice, and nothing beside it. */
    {
      call.inputs[1] = matrix (bench, model->type, rows, n);
      call.inputs[6] = call.inputs[5];
      call.inputs[5] = (QmTensor){ 0 };
    }
  call.outputs[5] = matrix (bench, model->type, rows, n);
  report (bench, model->name, "norm backward", &call, 0);
}

static void
bench_activation (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = 4 * model->width;
  QmOpCall call = { .op = QM_OP_ACTIVATION };

  call.attributes.activation = QM_FUNCTION_GELU;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[0] = matrix (bench, model->type, rows, n);
  report (bench, model->name, "gelu", &call, 0);
  call.op = QM_OP_ACTIVATION_BACKWARD;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.inputs[1] = matrix (bench, model->type, rows, n);
  call.outputs[0] = call.inputs[0];
  report (bench, model->name, "gelu backward", &call, 0);
}

static void
bench_sums (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = 4 * model->width;
  QmOpCall call = { .op = QM_OP_COLUMN_SUM };

  call.attributes.scale = 1;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[0] = line (bench, QM_TYPE_F32, n);
  report (bench, model->name, "column sums", &call, 0);
}

static void
bench_dropout (Bench *bench, const Model *model)
{
  int64_t heads = model->batch * model->heads;
  int64_t s = model->length;
  QmTensor x = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  QmOpCall call = { .op = QM_OP_DROPOUT };

  call.attributes.dropout = 0.1;
  call.inputs[0] = call.outputs[0] = x;
  call.inputs[1] = bench->rng;
  report (bench, model->name, "dropout", &call, 0);
  x = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  call.attributes.tiled = true;
  call.inputs[0] = call.outputs[0] = x;
  report (bench, model->name, "dropout, tiled", &call, 0);
}

static void
bench_softmax (Bench *bench, const Model *model)
{
  int64_t heads = model->length > 1000 ? 32 : 512, s = model->length;
  QmOpCall call = { .op = QM_OP_SOFTMAX };

  call.inputs[0] = call.outputs[0] =
      tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  report (bench, model->name, "softmax", &call, 0);
  call.op = QM_OP_SOFTMAX_BACKWARD;
  call.inputs[0] = call.outputs[0] =
      tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  call.inputs[1] = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  report (bench, model->name, "softmax backward", &call, 0);
}

static void
bench_rotary (Bench *bench, const Model *model)
{
  int64_t width = model->width / model->heads, row = 3 * model->width;
  int64_t rows = model->batch * model->length;
  double size = (double) qm_type_size (model->type);
  QmOpCall call = { .op = QM_OP_ROTARY };

  for (int i = 0; i < 2; i++)
    {
      QmTensor x =
          tensor (bench, model->type, 5,
                  SHAPE (model->batch, model->length, 3, model->heads, width),
                  0);

      x.stride[1] = row;
      x.stride[2] = width;
      x.stride[3] = 3 * width;
      if (i == 0)
        call.inputs[0] = x;
      else
        call.outputs[0] = x;
    }
  call.attributes.rotary = model->rotary;
  call.inputs[1] = matrix (bench, QM_TYPE_F32, model->length, model->rotary);
  report (bench, model->name, "rotary", &call, 0);
  call.inputs[0] =
      tensor (bench, model->type, 5,
              SHAPE (model->batch, model->length, 3, model->heads, width), 0);
  call.inputs[0].stride[1] = row;
  call.inputs[0].stride[2] = width;
  call.inputs[0].stride[3] = 3 * width;
  call.outputs[0] = call.inputs[0];
  call.inputs[1] = matrix (bench, QM_TYPE_F32, model->length, model->rotary);
  report (bench, model->name, "rotary, in place", &call,
          4 * (double) (rows * model->heads * model->rotary) * size);
}

static void
bench_embedding (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  double row = (double) (rows * n), size = (double) qm_type_size (model->type);
  /* Rows of the table that some token has. */
  double touched = (double) model->vocab
                   * (1 - exp (-(double) rows / (double) model->vocab))
                   * (double) n;
  int64_t counts[2] = { model->vocab, 1 };
  QmOpCall call = { .op = QM_OP_EMBEDDING };

  call.inputs[0] = tensor (bench, QM_TYPE_I32, 2,
                           SHAPE (model->batch, model->length), model->vocab);
  call.inputs[1] = matrix (bench, model->type, model->vocab, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model->name, "embedding", &call, touched * size + row * 4);
  call.op = QM_OP_EMBEDDING_BACKWARD;
  call.attributes.padding = -1;
  for (int i = 0; i < 2; i++)
    {
      call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
      call.inputs[1] = tensor (bench, QM_TYPE_I32, 2,
                               SHAPE (model->batch, model->length), counts[i]);
      call.outputs[0] = matrix (bench, QM_TYPE_F32, counts[i], n);
      report (bench, model->name,
              i == 0 ? "embedding backward" : "embedding backward, 1 row",
              &call, row * 4 + (i == 0 ? touched * 8 : 0));
    }
}

static void
bench_images (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  int64_t patches = model->batch * (model->length - 1);
  QmOpCall call = { .op = QM_OP_PATCHIFY };

  call.attributes.patch = 16;
  call.inputs[0] =
      tensor (bench, QM_TYPE_F32, 4, SHAPE (model->batch, 3, 224, 224), 0);
  call.outputs[0] = matrix (bench, model->type, patches, 768);
  report (bench, model->name, "patchify", &call, 0);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN };
  call.inputs[0] = matrix (bench, model->type, patches, n);
  call.inputs[1] = line (bench, model->type, n);
  call.inputs[2] = matrix (bench, model->type, model->length, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model->name, "class token", &call, 0);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN_BACKWARD };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.outputs[0] = matrix (bench, model->type, patches, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  call.outputs[2] = matrix (bench, QM_TYPE_F32, model->length, n);
  report (bench, model->name, "class token backward", &call, 0);
}

static void
bench_loss (Bench *bench, const Model *model)
{
  bool image = model->vocab == 0;
  int64_t length = image ? 1 : model->length, rows = model->batch * length;
  int64_t padded = (model->classes + 63) / 64 * 64;
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };

  call.attributes.shift = !image;
  call.attributes.padded = padded;
  call.inputs[0] = matrix (bench, model->type, rows, padded);
  call.inputs[0].shape[1] = model->classes;
  call.outputs[0] = call.inputs[0];
  call.inputs[1] = tensor (bench, QM_TYPE_I32, 2, SHAPE (model->batch, length),
                           model->classes);
  call.inputs[2] = line (bench, QM_TYPE_F32, 2);
  call.outputs[1] = line (bench, QM_TYPE_F32, rows);
  report (bench, model->name, "cross entropy", &call, 0);
  call = (QmOpCall){ .op = QM_OP_LABEL_WEIGHT };
  call.attributes.scale = 1;
  call.inputs[0] = tensor (bench, QM_TYPE_I32, 2, SHAPE (model->batch, length),
                           model->classes);
  call.inputs[1] = line (bench, QM_TYPE_F32, QM_STATE_SIZE);
  call.outputs[0] = line (bench, QM_TYPE_F32, 2);
  report (bench, model->name, "label weight", &call, 0);
}

static void
bench_update (Bench *bench, const Model *model)
{
  float state[QM_STATE_SIZE] = { 1e-4f, 5, 1, 0, 0, 1, 1, 0 };
  QmError error = { 0 };
  QmOpCall call = { .op = QM_OP_SUM_SQUARES };

  call.inputs[0] = line (bench, QM_TYPE_F32, model->parameters);
  call.outputs[0] = line (bench, QM_TYPE_F32, 1);
  report (bench, model->name, "sum of squares", &call, 0);
  call = (QmOpCall){ .op = QM_OP_ADAM };
  call.attributes.beta1 = 0.9;
  call.attributes.beta2 = 0.95;
  call.attributes.epsilon = 1e-8;
  call.attributes.decoupled = true;
  call.inputs[0] = line (bench, QM_TYPE_F32, QM_STATE_SIZE);
  must (qm_device_write (bench->device, bench->stream, call.inputs[0].data,
                         state, sizeof state, &error),
        &error);
  for (int i = 0; i < 4; i++)
    call.outputs[i] = line (bench, QM_TYPE_F32, model->parameters);
  if (model->type != QM_TYPE_F32)
    call.outputs[4] = line (bench, model->type, model->parameters);
  report (bench, model->name, "adam", &call, 0);
}

static void
bench_model (Bench *bench, const Model *model)
{
  bench_norm (bench, model, false);
  bench_norm (bench, model, true);
  bench_norm_backward (bench, model);
  bench_activation (bench, model);
  bench_sums (bench, model);
  bench_softmax (bench, model);
  bench_loss (bench, model);
  bench_update (bench, model);
  if (model->rotary > 0)
    bench_rotary (bench, model);
  if (model->dropout > 0)
    bench_dropout (bench, model);
  if (model->vocab > 0)
    bench_embedding (bench, model);
  else
    bench_images (bench, model);
}

/* Bytes a second, read and written, of the driver's own copy. */
static double
copy_rate (Bench *bench)
{
  const size_t bytes = (size_t) 1 << 31;
  void *from = allocate (bench, bytes), *to = allocate (bench, bytes);
  cudaEvent_t begin, end;
  float milliseconds = 0, best = INFINITY;

  if (cudaEventCreate (&begin) != cudaSuccess
      || cudaEventCreate (&end) != cudaSuccess)
    exit (1);
  for (int i = 0; i < 8; i++)
    {
      if (cudaEventRecord (begin, NULL) != cudaSuccess
          || cudaMemcpyAsync (to, from, bytes, cudaMemcpyDeviceToDevice, NULL)
                 != cudaSuccess
          || cudaEventRecord (end, NULL) != cudaSuccess
          || cudaEventSynchronize (end) != cudaSuccess
          || cudaEventElapsedTime (&milliseconds, begin, end) != cudaSuccess)
        exit (1);
      best = fminf (best, milliseconds);
    }
  cudaEventDestroy (begin);
  cudaEventDestroy (end);
  release (bench);
  printf ("copy %.0f GB/s\n", 2 * (double) bytes / best * 1e-6);
  return 2 * (double) bytes / best * 1e3;
}

int
main (int argc, char **argv)
{
  Bench bench = { .repeat = 7 };
  QmError error = { 0 };
  void *rng;

  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp (argv[i], "--repeat") == 0 && atoi (argv[i + 1]) > 0
        && atoi (argv[i + 1]) <= 64)
      bench.repeat = atoi (argv[i + 1]);
    else if (strcmp (argv[i], "--only") == 0)
      bench.only = argv[i + 1];
    else
      return 2;
  if (qm_device_open ("cuda:0", &bench.device, &error) != QM_OK)
    {
      printf ("%s\n", error.message);
      return 77;
    }
  must (qm_stream_create (bench.device, &bench.stream, &error), &error);
  must (qm_event_create (bench.device, &bench.begin, &error), &error);
  must (qm_event_create (bench.device, &bench.end, &error), &error);
  must (qm_device_allocate (bench.device, 256, &rng, &error), &error);
  must (qm_device_set (bench.device, bench.stream, rng, 1, 256, &error),
        &error);
  bench.rng = qm_tensor_dense (QM_TYPE_I32, 1, SHAPE (3), rng);
  bench.copy = copy_rate (&bench);
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    bench_model (&bench, &models[i]);
  qm_device_free (bench.device, rng);
  qm_event_free (bench.device, bench.begin);
  qm_event_free (bench.device, bench.end);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return 0;
}
