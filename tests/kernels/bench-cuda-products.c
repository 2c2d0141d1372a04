/* SPDX-License-Identifier: Apache-2.0 */

/* How fast a GPU computes the linear operators of real models: with our own
 * products, with those of cuBLASLt, and as the engine chooses.
 *
 *   bench-cuda-products [--repeat N] [--only TEXT]
 *
 * Prints medians of milliseconds, and the floor: the operations at 790 TFLOP/s
 * or the bytes at 4.2 TB/s, whichever takes longer.  Leaves with 77 where there
 * is no GPU. */

#include "kernels/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(...)  ((int64_t[]){ __VA_ARGS__ })
#define MAX_TENSORS 8
#define MAX_REPEATS 64

/* What an H200 reaches: of products, and of memory. */
#define OPERATIONS 790e12
#define BANDWIDTH  4.2e12

typedef struct Bench
{
  QmDevice *device;
  QmStream *stream;
  QmEvent *begin, *end;
  int repeat;
  const char *only;
  QmTensor rng;
  void *memory[MAX_TENSORS];
  size_t n;
} Bench;

/* A linear layer of a model, x [rows, in] to y [rows, out]. */
typedef struct Layer
{
  const char *name;
  QmType type;
  int64_t rows, in, out;
  bool activated;
} Layer;

static const Layer layers[] = {
  { "pythia-160m qkv", QM_TYPE_F16, 131136, 768, 2304, false },
  { "pythia-160m out", QM_TYPE_F16, 131136, 768, 768, false },
  { "pythia-160m up", QM_TYPE_F16, 131136, 768, 3072, true },
  { "pythia-160m down", QM_TYPE_F16, 131136, 3072, 768, false },
  { "pythia-160m head", QM_TYPE_F16, 131136, 768, 50304, false },
  { "pythia-410m qkv", QM_TYPE_F16, 65568, 1024, 3072, false },
  { "pythia-410m up", QM_TYPE_F16, 65568, 1024, 4096, true },
  { "pythia-410m down", QM_TYPE_F16, 65568, 4096, 1024, false },
  { "pythia-1b qkv", QM_TYPE_BF16, 65568, 2048, 6144, false },
  { "pythia-1b up", QM_TYPE_BF16, 65568, 2048, 8192, true },
  { "pythia-1b down", QM_TYPE_BF16, 65568, 8192, 2048, false },
  { "pythia-2.8b qkv", QM_TYPE_F16, 16392, 2560, 7680, false },
  { "pythia-2.8b up", QM_TYPE_F16, 16392, 2560, 10240, true },
  { "pythia-2.8b down", QM_TYPE_F16, 16392, 10240, 2560, false },
  { "pythia-6.9b qkv", QM_TYPE_F16, 4098, 4096, 12288, false },
  { "pythia-6.9b up", QM_TYPE_F16, 4098, 4096, 16384, true },
  { "pythia-6.9b down", QM_TYPE_F16, 4098, 16384, 4096, false },
  { "roberta-large qkv", QM_TYPE_F16, 32768, 1024, 3072, false },
  { "roberta-large up", QM_TYPE_F16, 32768, 1024, 4096, true },
  { "roberta-large down", QM_TYPE_F16, 32768, 4096, 1024, false },
};

static void
must (QmStatus status, const QmError *error)
{
  if (status == QM_OK)
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
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

/* Normal random numbers. */
static QmTensor
tensor (Bench *bench, QmType type, int32_t rank, const int64_t *shape)
{
  QmTensor result = qm_tensor_dense (type, rank, shape, NULL);
  QmOpCall call = { .op = QM_OP_RANDOM };
  QmError error = { 0 };

  result.data = allocate (bench, (size_t) qm_tensor_elements (&result)
                                     * qm_type_size (type));
  call.attributes.distribution = QM_DISTRIBUTION_NORMAL;
  call.attributes.scale = 1;
  call.attributes.site = (uint32_t) bench->n;
  call.inputs[0] = bench->rng;
  call.outputs[0] = result;
  must (qm_op_run (bench->device, bench->stream, &call, &error), &error);
  return result;
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Median milliseconds; negative where there is no such way. */
static double
measure (Bench *bench, const QmOpCall *call, QmCudaPreference preference)
{
  double times[MAX_REPEATS];
  QmError error = { 0 };
  QmStatus status;

  qm_cuda_prefer (bench->device, preference);
  for (int i = 0; i < bench->repeat + 2; i++)
    {
      double *seconds = &times[i < 2 ? 0 : i - 2];

      must (qm_event_record (bench->device, bench->stream, bench->begin,
                             &error),
            &error);
      status = qm_op_run (bench->device, bench->stream, call, &error);
      if (status == QM_STATUS_UNSUPPORTED)
        return -1;
      must (status, &error);
      must (qm_event_record (bench->device, bench->stream, bench->end, &error),
            &error);
      must (qm_event_elapsed (bench->device, bench->begin, bench->end, seconds,
                              &error),
            &error);
    }
  qsort (times, (size_t) bench->repeat, sizeof *times, by_value);
  return times[bench->repeat / 2] * 1e3;
}

static double
bytes_of (const QmOpCall *call)
{
  double bytes = 0;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (qm_tensor_present (&call->inputs[i]))
      bytes += (double) qm_tensor_elements (&call->inputs[i])
               * (double) qm_type_size (call->inputs[i].type);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (qm_tensor_present (&call->outputs[i]))
      bytes += (double) qm_tensor_elements (&call->outputs[i])
               * (double) qm_type_size (call->outputs[i].type);
  return bytes;
}

static void
report (Bench *bench, const Layer *layer, QmOpCall *call)
{
  double operations =
      2.0 * (double) layer->rows * (double) layer->in * (double) layer->out;
  double by_bytes = bytes_of (call) / BANDWIDTH * 1e3;
  double least = operations / OPERATIONS * 1e3;
  double times[3];

  call->workspace_bytes =
      qm_op_workspace (&qm_device_info (bench->device)->target, call);
  call->workspace = allocate (bench, call->workspace_bytes);
  for (int i = 0; i < 3; i++)
    times[i] = measure (bench, call, (QmCudaPreference) i);
  printf ("%-18s %-18s %s%s %7lld x %5lld -> %5lld  floor %7.3f  chosen %7.3f  "
          "own %7.3f  library %7.3f\n",
          layer->name, qm_op_name (call->op), qm_type_name (layer->type),
          call->attributes.activation == QM_FUNCTION_GELU ? " gelu" : "     ",
          (long long) layer->rows, (long long) layer->in,
          (long long) layer->out, by_bytes > least ? by_bytes : least, times[0],
          times[1], times[2]);
  fflush (stdout);
  release (bench);
}

static void
bench_layer (Bench *bench, const Layer *layer)
{
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  QmOpCall call = { .op = QM_OP_LINEAR };

  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.inputs[2] = tensor (bench, layer->type, 1, SHAPE (out));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  if (layer->activated)
    {
      call.attributes.activation = QM_FUNCTION_GELU;
      call.outputs[1] = tensor (bench, layer->type, 2, SHAPE (rows, out));
    }
  report (bench, layer, &call);

  /* The gradient of what an activated layer feeds goes through the slope. */
  call = (QmOpCall){ .op = QM_OP_LINEAR_INPUT_GRAD };
  if (layer->activated)
    {
      int64_t swap = in;

      in = out;
      out = swap;
      call.attributes.activation = QM_FUNCTION_GELU;
      call.inputs[2] = tensor (bench, layer->type, 2, SHAPE (rows, in));
    }
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  report (bench, layer, &call);

  call = (QmOpCall){ .op = QM_OP_LINEAR_WEIGHT_GRAD };
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, layer->out));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (rows, layer->in));
  call.outputs[0] =
      tensor (bench, QM_TYPE_F32, 2, SHAPE (layer->out, layer->in));
  call.outputs[1] = tensor (bench, QM_TYPE_F32, 1, SHAPE (layer->out));
  report (bench, layer, &call);
}

int
main (int argc, char **argv)
{
  Bench bench = { .repeat = 7 };
  QmError error = { 0 };
  void *rng;

  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp (argv[i], "--repeat") == 0 && atoi (argv[i + 1]) > 0
        && atoi (argv[i + 1]) <= MAX_REPEATS)
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
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (bench.only == NULL || strstr (layers[i].name, bench.only) != NULL)
      bench_layer (&bench, &layers[i]);
  qm_device_free (bench.device, rng);
  qm_event_free (bench.device, bench.begin);
  qm_event_free (bench.device, bench.end);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return 0;
}
