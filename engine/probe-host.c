/* SPDX-License-Identifier: Apache-2.0 */

/* What offloading asks of the host: copies to and from a device, adding up
 * gradients, and the update. */

#include "data/clock.h"
#include "engine/probe.h"
#include "kernels/host/host-adam.h"

#include <math.h>
#include <string.h>

/* Elements, far more than caches hold. */
#define PARAMETERS (INT64_C (1) << 26)

/* Bytes of a parameter: weight and moments, the gradient that is added up and
 * one that arrives, and the weight as the device has it. */
#define F32_ARRAYS 4
#define F16_ARRAYS 2

typedef struct HostBench
{
  QmDevice *device;
  QmStream *stream;
  const QmProbeOptions *options;
  QmError *error;
  QmTask *task;
  int64_t n;
  void *memory; /* of the host: all arrays */
  size_t bytes;
  void *far; /* of the device, as large as an array of 16 bits */
  QmHostAdam adam;
  QmHostAdd add;
} HostBench;

typedef QmStatus (*Work) (HostBench *bench);

static QmStatus
copy_up (HostBench *bench)
{
  return qm_stream_write (bench->device, bench->stream, bench->far,
                          bench->adam.weights, (size_t) bench->n * 2,
                          bench->error);
}

static QmStatus
copy_down (HostBench *bench)
{
  return qm_stream_read (bench->device, bench->stream, bench->adam.weights,
                         bench->far, (size_t) bench->n * 2, bench->error);
}

static QmStatus
add_gradients (HostBench *bench)
{
  qm_host_add_start (bench->task, &bench->add, 0, bench->n);
  qm_task_wait (bench->task);
  return QM_OK;
}

static QmStatus
update_on_host (HostBench *bench)
{
  qm_host_adam_start (bench->task, &bench->adam, 0, bench->n);
  qm_task_wait (bench->task);
  return QM_OK;
}

/* Mean seconds of a piece of work, which the first time may take longer. */
static QmStatus
time_work (HostBench *bench, Work work, double *seconds)
{
  double begin = 0, end = 0;
  int n = -1; /* the first is not counted */
  QmStatus status = QM_OK;

  while (status == QM_OK && (n < 1 || end - begin < bench->options->seconds))
    {
      status = work (bench);
      if (status == QM_OK)
        status =
            qm_stream_synchronize (bench->device, bench->stream, bench->error);
      end = qm_clock ();
      if (n++ < 0)
        begin = end;
    }
  *seconds = (end - begin) / n;
  return status;
}

static void
lay_out (HostBench *bench)
{
  static const float state[QM_STATE_SIZE] = {
    [QM_STATE_LEARNING_RATE] = 1e-3f,
    [QM_STATE_UPDATES] = 1,
    [QM_STATE_LOSS_SCALE] = 1,
    [QM_STATE_FACTOR] = 1,
  };
  float *arrays = bench->memory;

  bench->adam = (QmHostAdam){ .kernel = qm_host_kernel_best (),
                              .beta1 = 0.9f,
                              .beta2 = 0.95f,
                              .epsilon = 1e-8f,
                              .decoupled = true,
                              .clear = true,
                              .state = state,
                              .gradient_type = QM_TYPE_F32,
                              .gradient = arrays,
                              .master = arrays + bench->n,
                              .m = arrays + 2 * bench->n,
                              .v = arrays + 3 * bench->n,
                              .weights_type = QM_TYPE_F16,
                              .weights = arrays + F32_ARRAYS * bench->n };
  bench->add = (QmHostAdd){ .kernel = bench->adam.kernel,
                            .type = QM_TYPE_F16,
                            .x = (uint16_t *) bench->adam.weights + bench->n,
                            .sum = arrays };
}

static QmStatus
time_all (HostBench *bench, QmProbes *probes)
{
  double up, down, add, adam, n = (double) bench->n;
  QmStatus status;

  qm_host_adam_touch_start (bench->task, &bench->adam, 0, bench->n);
  qm_task_wait (bench->task);
  memset (bench->adam.weights, 0, (size_t) bench->n * 2 * F16_ARRAYS);
  status =
      qm_host_pin (bench->device, bench->memory, bench->bytes, bench->error);
  if (status != QM_OK)
    return status;
  status = time_work (bench, copy_up, &up);
  if (status == QM_OK)
    status = time_work (bench, copy_down, &down);
  if (status == QM_OK)
    status = time_work (bench, add_gradients, &add);
  if (status == QM_OK)
    status = time_work (bench, update_on_host, &adam);
  qm_host_unpin (bench->device, bench->memory);
  if (status != QM_OK)
    return status;
  probes->up = n * 2 / up;
  probes->down = n * 2 / down;
  probes->add = add / n;
  probes->adam = adam / n;
  return QM_OK;
}

QmStatus
qm_probe_host (QmDevice *device,
               const QmProbeOptions *options,
               QmProbes *probes,
               QmError *error)
{
  HostBench bench = { .device = device,
                      .options = options,
                      .error = error,
                      .n = PARAMETERS / options->smaller / options->smaller };
  QmThreads *threads = NULL;
  QmStatus status = qm_threads_new (0, true, &threads, error);

  bench.bytes = (size_t) bench.n * (4 * F32_ARRAYS + 2 * F16_ARRAYS);
  if (status == QM_OK)
    status = qm_task_new (threads, &bench.task, error);
  if (status == QM_OK)
    status = qm_stream_create (device, &bench.stream, error);
  if (status == QM_OK)
    status =
        qm_device_allocate (device, (size_t) bench.n * 2, &bench.far, error);
  if (status == QM_OK)
    bench.memory = qm_host_memory_new (bench.bytes);
  if (status == QM_OK && bench.memory != NULL)
    {
      lay_out (&bench);
      status = time_all (&bench, probes);
    }
  qm_host_memory_free (bench.memory, bench.bytes);
  qm_device_free (device, bench.far);
  qm_stream_free (device, bench.stream);
  qm_task_free (bench.task);
  qm_threads_free (threads);
  return status == QM_STATUS_DEVICE_FULL ? QM_OK : status;
}
