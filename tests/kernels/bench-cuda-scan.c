/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the GPU scans, beside what it could do at best.
 *
 *   bench-cuda-scan [--repeat N] [--channels N] [--states N] [--rows N]
 *
 * By default a layer of mamba-2.8b in bf16, for sequences of 2048 and 2049 rows
 * and batches of 1 to 8.  Prints the median time of a call, beside it the time
 * that the driver's own copy takes for the bytes that must be read and written,
 * and that of one exponential a row, channel and state at 16 a cycle on every
 * multiprocessor, and what share of the copy's speed the call reaches. */

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
  int64_t channels, n;
  double copy;         /* bytes a second */
  double exponentials; /* a second */
  QmTensor rng;
  void *memory[MAX_TENSORS];
  size_t used;
} Bench;

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
  bench->memory[bench->used++] = memory;
  return memory;
}

static void
release (Bench *bench)
{
  while (bench->used > 0)
    qm_device_free (bench->device, bench->memory[--bench->used]);
}

/* Random numbers, `scale` wide around `value`. */
static QmTensor
tensor (Bench *bench,
        QmType type,
        int32_t rank,
        const int64_t *shape,
        double value,
        double scale)
{
  QmTensor result = qm_tensor_dense (type, rank, shape, NULL);
  QmOpCall call = { .op = QM_OP_RANDOM };

  result.data = allocate (bench, (size_t) qm_tensor_elements (&result)
                                     * qm_type_size (type));
  call.attributes.distribution = QM_DISTRIBUTION_NORMAL;
  call.attributes.value = value;
  call.attributes.scale = scale;
  call.attributes.site = (uint32_t) bench->used;
  call.inputs[0] = bench->rng;
  call.outputs[0] = result;
  run (bench, &call);
  return result;
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

  for (int i = 0; i < 3; i++)
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
report (
    Bench *bench, const char *name, int64_t batch, int64_t rows, QmOpCall *call)
{
  double bytes = bytes_of (call), seconds;
  double cells =
      (double) (batch * rows) * (double) (bench->channels * bench->n);

  call->workspace_bytes =
      qm_op_workspace (&qm_device_info (bench->device)->target, call);
  call->workspace = allocate (bench, call->workspace_bytes + 256);
  seconds = measure (bench, call);
  printf ("%lld x %lld %-16s chunk %-4lld %9.1f us, copy %7.1f us, "
          "exponentials %7.1f us, %5.1f %% of copy\n",
          (long long) batch, (long long) rows, name,
          (long long) call->attributes.chunk, seconds * 1e6,
          bytes / bench->copy * 1e6, cells / bench->exponentials * 1e6,
          100 * bytes / bench->copy / seconds);
  fflush (stdout);
}

static void
bench_scan (Bench *bench, int64_t batch, int64_t rows, int64_t chunk)
{
  QmType type = QM_TYPE_BF16;
  int64_t d = bench->channels, n = bench->n;
  int64_t *wide = SHAPE (batch * rows, d), *narrow = SHAPE (batch * rows, n);
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN }, back;

  call.attributes.width = rows;
  call.attributes.chunk = chunk;
  call.inputs[0] = tensor (bench, type, 2, wide, 0, 1);
  call.inputs[1] = tensor (bench, type, 2, wide, 0, 1);
  call.inputs[2] = tensor (bench, QM_TYPE_F32, 2, SHAPE (d, n), 1.5, 0.5);
  call.inputs[3] = tensor (bench, type, 2, narrow, 0, 1);
  call.inputs[4] = tensor (bench, type, 2, narrow, 0, 1);
  call.inputs[5] = tensor (bench, QM_TYPE_F32, 1, &d, 1, 0.1);
  call.inputs[6] = tensor (bench, QM_TYPE_F32, 1, &d, -4, 1);
  call.inputs[7] = tensor (bench, type, 2, wide, 0, 1);
  call.outputs[0] = tensor (bench, type, 2, wide, 0, 1);
  call.outputs[1] =
      tensor (bench, QM_TYPE_F32, 4,
              SHAPE (batch, (rows + chunk - 1) / chunk, n, d), 0, 1);
  report (bench, "scan", batch, rows, &call);
  back = (QmOpCall){ .op = QM_OP_SELECTIVE_SCAN_BACKWARD,
                     .attributes = call.attributes };
  back.inputs[0] = call.outputs[0];
  memcpy (&back.inputs[1], call.inputs, 8 * sizeof call.inputs[0]);
  back.inputs[9] = call.outputs[1];
  for (int i = 0; i < 8; i++)
    back.outputs[i] = tensor (bench, call.inputs[i].type, call.inputs[i].rank,
                              call.inputs[i].shape, 0, 1);
  report (bench, "gradient of scan", batch, rows, &back);
  release (bench);
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
  return 2 * (double) bytes / best * 1e3;
}

static void
set_rates (Bench *bench)
{
  int kilohertz = 0;

  if (cudaDeviceGetAttribute (&kilohertz, cudaDevAttrClockRate, 0)
      != cudaSuccess)
    exit (1);
  bench->copy = copy_rate (bench);
  bench->exponentials =
      16e3 * kilohertz * qm_device_info (bench->device)->processors;
  printf ("copy %.0f GB/s, exponentials %.2f T/s at %.0f MHz\n",
          bench->copy * 1e-9, bench->exponentials * 1e-12, kilohertz * 1e-3);
}

int
main (int argc, char **argv)
{
  Bench bench = { .repeat = 15, .channels = 5120, .n = 16 };
  QmError error = { 0 };
  int64_t only = 0;
  void *rng;

  for (int i = 1; i + 1 < argc; i += 2)
    {
      int64_t value = atoll (argv[i + 1]);

      if (value < 1)
        return 2;
      if (strcmp (argv[i], "--repeat") == 0 && value <= 64)
        bench.repeat = (int) value;
      else if (strcmp (argv[i], "--channels") == 0)
        bench.channels = value;
      else if (strcmp (argv[i], "--states") == 0)
        bench.n = value;
      else if (strcmp (argv[i], "--rows") == 0)
        only = value;
      else
        return 2;
    }
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
  set_rates (&bench);
  for (int64_t batch = 1; batch <= 8; batch *= 2)
    for (int64_t rows = only > 0 ? only : 2048;
         rows <= (only > 0 ? only : 2049); rows++)
      bench_scan (&bench, batch, rows,
                  rows < QM_SCAN_CHUNK ? rows : QM_SCAN_CHUNK);
  bench_scan (&bench, 1, only > 0 ? only : 2048, 1);
  qm_device_free (bench.device, rng);
  qm_event_free (bench.device, bench.begin);
  qm_event_free (bench.device, bench.end);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return 0;
}
