/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/kernels/cuda-bench.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls before those that are timed: the first chooses how to compute. */
#define WARM_UPS 3

static void
must (QmStatus status, const QmError *error)
{
  if (status == QM_OK)
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

bool
bench_options (int argc, char **argv, int *repeat, const char **only)
{
  for (int i = 1; i < argc; i += 2)
    {
      const char *value = i + 1 < argc ? argv[i + 1] : "";

      if (strcmp (argv[i], "--repeat") == 0 && atoi (value) > 0
          && atoi (value) <= BENCH_MAX_REPEATS)
        *repeat = atoi (value);
      else if (strcmp (argv[i], "--only") == 0 && value[0] != '\0')
        *only = value;
      else
        return false;
    }
  return true;
}

void
bench_open (CudaBench *bench, int repeat)
{
  QmError error = { 0 };

  *bench = (CudaBench){ .repeat = repeat };
  if (qm_device_open ("cuda:0", 0, &bench->device, &error) != QM_OK)
    {
      printf ("%s\n", error.message);
      exit (77);
    }
  must (qm_stream_create (bench->device, &bench->stream, &error), &error);
  must (qm_event_create (bench->device, &bench->begin, &error), &error);
  must (qm_event_create (bench->device, &bench->end, &error), &error);
  must (qm_device_allocate (bench->device, 256, &bench->seed, &error), &error);
  must (qm_device_set (bench->device, bench->stream, bench->seed, 1, 256,
                       &error),
        &error);
  bench->rng = qm_tensor_dense (QM_TYPE_I32, 1, SHAPE (3), bench->seed);
}

void
bench_close (CudaBench *bench)
{
  bench_release (bench);
  qm_device_free (bench->device, bench->seed);
  qm_event_free (bench->device, bench->begin);
  qm_event_free (bench->device, bench->end);
  qm_stream_free (bench->device, bench->stream);
  qm_device_close (bench->device);
}

void *
bench_allocate (CudaBench *bench, size_t bytes)
{
  QmError error = { 0 };
  void *memory;

  if (bench->n == BENCH_MAX_TENSORS)
    exit (1);
  must (qm_device_allocate (bench->device, bytes, &memory, &error), &error);
  bench->memory[bench->n++] = memory;
  return memory;
}

void
bench_release (CudaBench *bench)
{
  while (bench->n > 0)
    qm_device_free (bench->device, bench->memory[--bench->n]);
}

void
bench_write (CudaBench *bench, void *to, const void *from, size_t bytes)
{
  QmError error = { 0 };

  must (qm_device_write (bench->device, bench->stream, to, from, bytes, &error),
        &error);
}

static QmTensor
fill (CudaBench *bench,
      QmType type,
      int32_t rank,
      const int64_t *shape,
      QmAttributes attributes)
{
  QmTensor result = qm_tensor_dense (type, rank, shape, NULL);
  QmOpCall call = { .op = QM_OP_RANDOM, .attributes = attributes };
  QmError error = { 0 };

  result.data = bench_allocate (bench, (size_t) qm_tensor_elements (&result)
                                           * qm_type_size (type));
  call.attributes.site = (uint32_t) bench->n;
  call.inputs[0] = bench->rng;
  call.outputs[0] = result;
  must (qm_op_run (bench->device, bench->stream, &call, &error), &error);
  return result;
}

QmTensor
bench_normal (CudaBench *bench,
              QmType type,
              int32_t rank,
              const int64_t *shape,
              double value,
              double scale)
{
  return fill (bench, type, rank, shape,
               (QmAttributes){ .distribution = QM_DISTRIBUTION_NORMAL,
                               .value = value,
                               .scale = scale });
}

QmTensor
bench_indices (CudaBench *bench,
               int32_t rank,
               const int64_t *shape,
               int64_t count)
{
  return fill (bench, QM_TYPE_I32, rank, shape,
               (QmAttributes){ .distribution = QM_DISTRIBUTION_INDEX,
                               .count = count });
}

void
bench_workspace (CudaBench *bench, QmOpCall *call)
{
  call->workspace_bytes =
      qm_op_workspace (&qm_device_info (bench->device)->target, call);
  call->workspace = bench_allocate (bench, call->workspace_bytes + 256);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
bench_time (CudaBench *bench, const QmOpCall *call)
{
  double times[BENCH_MAX_REPEATS];
  QmError error = { 0 };

  for (int i = 0; i < WARM_UPS; i++)
    {
      QmStatus status = qm_op_run (bench->device, bench->stream, call, &error);

      if (status == QM_STATUS_UNSUPPORTED)
        return -1;
      must (status, &error);
    }
  for (int i = 0; i < bench->repeat; i++)
    {
      must (qm_event_record (bench->device, bench->stream, bench->begin,
                             &error),
            &error);
      must (qm_op_run (bench->device, bench->stream, call, &error), &error);
      must (qm_event_record (bench->device, bench->stream, bench->end, &error),
            &error);
      must (qm_event_elapsed (bench->device, bench->begin, bench->end,
                              &times[i], &error),
            &error);
    }
  qsort (times, (size_t) bench->repeat, sizeof *times, by_value);
  return times[bench->repeat / 2];
}

double
bench_bytes (const QmOpCall *call)
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

double
bench_copy_rate (CudaBench *bench)
{
  const size_t bytes = (size_t) 1 << 31;
  void *from = bench_allocate (bench, bytes);
  void *to = bench_allocate (bench, bytes);
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
  bench_release (bench);
  return 2 * (double) bytes / best * 1e3;
}
