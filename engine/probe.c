/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the time of a probe, how much is not counted, while clocks settle. */
#define SETTLING 0.3

/* The most calls that are queued at once. */
#define MOST_CALLS 100000

static const QmProbeCall calls[] = {
  { "product-16-1024",
    QM_PROBE_PRODUCT_16,
    QM_OP_LINEAR,
    { 16384, 1024, 4096 } },
  { "product-16-4096",
    QM_PROBE_PRODUCT_16,
    QM_OP_LINEAR,
    { 8192, 4096, 16384 } },
  { "product-16-weights",
    QM_PROBE_PRODUCT_16,
    QM_OP_LINEAR_WEIGHT_GRAD,
    { 16384, 2048, 8192 } },
  { "product-tf32-1024",
    QM_PROBE_PRODUCT_TF32,
    QM_OP_LINEAR,
    { 16384, 1024, 4096 } },
  { "product-tf32-4096",
    QM_PROBE_PRODUCT_TF32,
    QM_OP_LINEAR,
    { 8192, 4096, 8192 } },
  { "product-tf32-weights",
    QM_PROBE_PRODUCT_TF32,
    QM_OP_LINEAR_WEIGHT_GRAD,
    { 25088, 1024, 4096 } },
  { "product-fp32-1024",
    QM_PROBE_PRODUCT_FP32,
    QM_OP_LINEAR,
    { 8192, 1024, 4096 } },
  { "attention-64", QM_PROBE_ATTENTION, QM_OP_ATTENTION, { 8, 16, 2048, 64 } },
  { "attention-128",
    QM_PROBE_ATTENTION,
    QM_OP_ATTENTION,
    { 2, 16, 4096, 128 } },
  { "attention-64-backward",
    QM_PROBE_ATTENTION_BACKWARD,
    QM_OP_ATTENTION_BACKWARD,
    { 8, 16, 2048, 64 } },
  { "attention-128-backward",
    QM_PROBE_ATTENTION_BACKWARD,
    QM_OP_ATTENTION_BACKWARD,
    { 2, 16, 4096, 128 } },
  { "copy", QM_PROBE_BYTES, QM_OP_COPY, { 65536, 2048 } },
  { "norm", QM_PROBE_BYTES, QM_OP_LAYER_NORM, { 65536, 2048 } },
  { "norm-backward",
    QM_PROBE_BYTES,
    QM_OP_LAYER_NORM_BACKWARD,
    { 65536, 2048 } },
};

#define N_CALLS (sizeof calls / sizeof calls[0])

const QmProbeCall *
qm_probe_calls (size_t *n)
{
  *n = N_CALLS;
  return calls;
}

/* Operations a second at the highest clock, or bytes a second. */
static double
speed (const QmProbes *probes, const QmProbe *probe, QmProbeKind kind)
{
  if (kind == QM_PROBE_BYTES)
    return probe->bytes / probe->seconds;
  return probe->flops / probe->seconds * (probes->sm_mhz_max / probe->sm_mhz);
}

double
qm_probe_ratio (const QmProbes *own, const QmProbes *other, QmProbeKind kind)
{
  double sum = 0;
  int n = 0;

  for (size_t i = 0; i < N_CALLS; i++)
    {
      const QmProbe *a = qm_probes_find (own, calls[i].name);
      const QmProbe *b = qm_probes_find (other, calls[i].name);
      double ratio;

      if (calls[i].kind != kind || a == NULL || b == NULL)
        continue;
      ratio = speed (own, a, kind) / speed (other, b, kind);
      if (!(ratio > 0) || !isfinite (ratio))
        continue;
      sum += log (ratio);
      n++;
    }
  return n > 0 ? exp (sum / n) : NAN;
}

/* What a probe has of the device. */
typedef struct Bench
{
  QmDevice *device;
  QmStream *stream;
  QmEvent *begin, *end;
  const QmProbeOptions *options;
  QmTensor rng;
  void *memory[QM_OP_MAX_INPUTS + QM_OP_MAX_OUTPUTS + 2];
  size_t n;
  QmStatus status; /* of what was done to make tensors */
  QmError *error;
} Bench;

static void *
allocate (Bench *bench, size_t bytes)
{
  void *memory = NULL;

  if (bench->status == QM_OK)
    bench->status =
        qm_device_allocate (bench->device, bytes, &memory, bench->error);
  if (bench->status == QM_OK)
    bench->memory[bench->n++] = memory;
  return memory;
}

static void
release (Bench *bench)
{
  while (bench->n > 0)
    qm_device_free (bench->device, bench->memory[--bench->n]);
}

/* A dense tensor of normal numbers. */
static QmTensor
normal (Bench *bench, QmType type, int32_t rank, const int64_t *shape)
{
  QmTensor tensor = qm_tensor_dense (type, rank, shape, NULL);
  QmOpCall call = { .op = QM_OP_RANDOM,
                    .attributes = { .distribution = QM_DISTRIBUTION_NORMAL,
                                    .scale = 1,
                                    .site = (uint32_t) bench->n } };

  tensor.data = allocate (bench, (size_t) qm_tensor_elements (&tensor)
                                     * qm_type_size (type));
  call.inputs[0] = bench->rng;
  call.outputs[0] = tensor;
  if (bench->status == QM_OK)
    bench->status =
        qm_op_run (bench->device, bench->stream, &call, bench->error);
  return tensor;
}

#define NORMAL(bench, type, ...)                                              \
  normal (bench, type,                                                        \
          (int32_t) (sizeof ((int64_t[]){ __VA_ARGS__ }) / sizeof (int64_t)), \
          (int64_t[]){ __VA_ARGS__ })

static int64_t
smaller (const Bench *bench, int64_t size)
{
  return size > bench->options->smaller ? size / bench->options->smaller : 1;
}

static void
make_product (Bench *bench, const QmProbeCall *probe, QmOpCall *call)
{
  int64_t rows = smaller (bench, probe->size[0]);
  int64_t in = smaller (bench, probe->size[1]);
  int64_t out = smaller (bench, probe->size[2]);
  QmType type = probe->kind == QM_PROBE_PRODUCT_16 ? QM_TYPE_F16 : QM_TYPE_F32;
  QmTensor x = NORMAL (bench, type, rows, in);

  call->attributes.tf32 = probe->kind == QM_PROBE_PRODUCT_TF32;
  if (probe->op == QM_OP_LINEAR)
    {
      call->inputs[0] = x;
      call->inputs[1] = NORMAL (bench, type, out, in);
      call->outputs[0] = NORMAL (bench, type, rows, out);
      return;
    }
  call->inputs[0] = NORMAL (bench, type, rows, out);
  call->inputs[1] = x;
  call->outputs[0] = NORMAL (bench, QM_TYPE_F32, out, in);
}

/* A third of a packed tensor of queries, keys and values. */
static QmTensor
third_of (const QmTensor *packed, int part)
{
  const int64_t *shape = packed->shape, *stride = packed->stride;

  return (QmTensor){ .type = packed->type,
                     .rank = 4,
                     .shape = { shape[0], shape[3], shape[1], shape[4] },
                     .stride = { stride[0], stride[3], stride[1], stride[4] },
                     .data = (char *) packed->data
                             + (size_t) (part * stride[2])
                                   * qm_type_size (packed->type) };
}

/* Heads beside each other in rows, as products leave them. */
static QmTensor
heads_of (Bench *bench, const int64_t *size)
{
  QmTensor rows =
      NORMAL (bench, QM_TYPE_F16, size[0], size[2], 1, size[1], size[3]);

  return third_of (&rows, 0);
}

static void
make_attention (Bench *bench, const QmProbeCall *probe, QmOpCall *call)
{
  const int64_t size[4] = { smaller (bench, probe->size[0]),
                            smaller (bench, probe->size[1]),
                            smaller (bench, probe->size[2]), probe->size[3] };
  bool backward = probe->op == QM_OP_ATTENTION_BACKWARD;
  QmTensor packed, gradients;

  packed = NORMAL (bench, QM_TYPE_F16, size[0], size[2], 3, size[1], size[3]);
  call->attributes.causal = QM_CAUSAL_RESULT;
  call->attributes.scale = 1 / sqrt ((double) size[3]);
  if (backward)
    call->inputs[0] = heads_of (bench, size);
  for (int i = 0; i < 3; i++)
    call->inputs[backward + i] = third_of (&packed, i);
  if (!backward)
    {
      call->outputs[0] = heads_of (bench, size);
      call->outputs[1] = NORMAL (bench, QM_TYPE_F32, size[0], size[1], size[2]);
      return;
    }
  gradients =
      NORMAL (bench, QM_TYPE_F16, size[0], size[2], 3, size[1], size[3]);
  call->inputs[4] = heads_of (bench, size);
  call->inputs[5] = NORMAL (bench, QM_TYPE_F32, size[0], size[1], size[2]);
  for (int i = 0; i < 3; i++)
    call->outputs[i] = third_of (&gradients, i);
}

static void
make_mover (Bench *bench, const QmProbeCall *probe, QmOpCall *call)
{
  int64_t rows = smaller (bench, probe->size[0]);
  int64_t features = smaller (bench, probe->size[1]);

  call->attributes.epsilon = 1e-5;
  call->inputs[0] = NORMAL (bench, QM_TYPE_F16, rows, features);
  call->outputs[0] = NORMAL (bench, QM_TYPE_F16, rows, features);
  if (probe->op == QM_OP_COPY)
    return;
  call->outputs[1] = NORMAL (bench, QM_TYPE_F32, rows);
  call->outputs[2] = NORMAL (bench, QM_TYPE_F32, rows);
  if (probe->op == QM_OP_LAYER_NORM)
    {
      call->inputs[1] = NORMAL (bench, QM_TYPE_F16, features);
      call->inputs[2] = NORMAL (bench, QM_TYPE_F16, features);
      return;
    }
  call->inputs[1] = NORMAL (bench, QM_TYPE_F16, rows, features);
  call->inputs[2] = NORMAL (bench, QM_TYPE_F16, features);
  call->inputs[3] = call->outputs[1];
  call->inputs[4] = call->outputs[2];
  call->inputs[5] = NORMAL (bench, QM_TYPE_F16, rows, features);
  call->outputs[1] = NORMAL (bench, QM_TYPE_F32, features);
  call->outputs[2] = NORMAL (bench, QM_TYPE_F32, features);
}

static void
make_call (Bench *bench, const QmProbeCall *probe, QmOpCall *call)
{
  memset (call, 0, sizeof *call);
  call->op = probe->op;
  if (probe->kind <= QM_PROBE_PRODUCT_FP32)
    make_product (bench, probe, call);
  else if (probe->kind == QM_PROBE_BYTES)
    make_mover (bench, probe, call);
  else
    make_attention (bench, probe, call);
  if (bench->status != QM_OK)
    return;
  call->workspace_bytes =
      qm_op_workspace (&qm_device_info (bench->device)->target, call);
  call->workspace = allocate (bench, call->workspace_bytes + 256);
}

/* Seconds of so many calls, one behind the other. */
static QmStatus
time_calls (Bench *bench, const QmOpCall *call, int n, double *seconds)
{
  QmError *error = bench->error;
  QmStatus status =
      qm_event_record (bench->device, bench->stream, bench->begin, error);

  for (int i = 0; i < n && status == QM_OK; i++)
    status = qm_op_run (bench->device, bench->stream, call, error);
  if (status == QM_OK)
    status = qm_event_record (bench->device, bench->stream, bench->end, error);
  if (status == QM_OK)
    status = qm_event_elapsed (bench->device, bench->begin, bench->end, seconds,
                               error);
  return status;
}

/* How many calls take so long. */
static int
calls_in (double seconds, double one)
{
  double n = ceil (seconds / fmax (one, 1e-7));

  return n < 1 ? 1 : n > MOST_CALLS ? MOST_CALLS : (int) n;
}

/* Mean watts of a watch, by the meter of joules where the board has one. */
static double
watts_of (const QmWatch *watch)
{
  return watch->joules > 0 && watch->seconds > 0
             ? watch->joules / watch->seconds
             : watch->watts.mean;
}

/* So many calls for so many seconds, told that one takes `one`, which is
 * brought up to date. */
static QmStatus
time_for (Bench *bench, const QmOpCall *call, double seconds, double *one)
{
  int n = calls_in (seconds, *one);
  QmStatus status = time_calls (bench, call, n, one);

  *one /= n;
  return status;
}

/* The first call chooses how it is computed; those before the clock is read
 * bring the device to the clock that it can hold. */
static QmStatus
time_probe (Bench *bench, const QmOpCall *call, QmProbe *probe)
{
  const QmProbeOptions *options = bench->options;
  QmWatch watch = qm_watch_nothing ();
  double one = INFINITY;
  QmStatus status = time_for (bench, call, 0, &one);

  if (status == QM_OK)
    status = time_for (bench, call, 2 * one, &one);
  if (status == QM_OK)
    status = time_for (bench, call, options->seconds * SETTLING, &one);
  if (status == QM_OK && options->monitor != NULL)
    status = qm_monitor_begin (options->monitor, bench->error);
  if (status != QM_OK)
    return status;
  status = time_for (bench, call, options->seconds, &one);
  if (options->monitor != NULL)
    qm_monitor_end (options->monitor, &watch);
  probe->seconds = one;
  probe->flops = qm_op_flops (call);
  probe->bytes = qm_op_bytes (call);
  probe->sm_mhz = watch.sm_mhz.mean;
  probe->watts = watts_of (&watch);
  return status;
}

/* Adds a call to the probes, unless the device cannot do it. */
static QmStatus
add_probe (Bench *bench, const QmProbeCall *listed, QmProbes *probes)
{
  QmProbe *probe = &probes->probes[probes->n];
  QmOpCall call;
  QmStatus status;

  bench->status = QM_OK;
  make_call (bench, listed, &call);
  status = bench->status;
  if (status == QM_OK)
    status = time_probe (bench, &call, probe);
  release (bench);
  if (status == QM_STATUS_UNSUPPORTED || status == QM_STATUS_DEVICE_FULL)
    return QM_OK;
  if (status == QM_OK)
    {
      snprintf (probe->name, sizeof probe->name, "%s", listed->name);
      probes->n++;
    }
  return status;
}

static QmStatus
open_bench (Bench *bench, QmError *error)
{
  void *seed = NULL;
  QmStatus status = qm_stream_create (bench->device, &bench->stream, error);

  if (status == QM_OK)
    status = qm_event_create (bench->device, &bench->begin, error);
  if (status == QM_OK)
    status = qm_event_create (bench->device, &bench->end, error);
  if (status == QM_OK)
    status = qm_device_allocate (bench->device, 256, &seed, error);
  bench->rng = qm_tensor_dense (QM_TYPE_I32, 1, (int64_t[]){ 3 }, seed);
  if (status == QM_OK)
    status = qm_device_set (bench->device, bench->stream, seed, 1, 256, error);
  return status;
}

static void
close_bench (Bench *bench)
{
  qm_device_free (bench->device, bench->rng.data);
  qm_event_free (bench->device, bench->begin);
  qm_event_free (bench->device, bench->end);
  qm_stream_free (bench->device, bench->stream);
}

static void
describe_probe (const QmDevice *device,
                const QmProbeOptions *options,
                QmProbes *probes)
{
  const QmDeviceInfo *info = qm_device_info (device);
  QmFacts facts = { .sm_mhz_max = NAN, .watts_max = NAN };

  memset (probes, 0, sizeof *probes);
  snprintf (probes->device, sizeof probes->device, "%s", info->name);
  snprintf (probes->driver, sizeof probes->driver, "%s", info->driver);
  snprintf (probes->products, sizeof probes->products, "%s",
            info->products.name);
  probes->architecture = info->target.architecture;
  if (options->monitor != NULL)
    qm_monitor_facts (options->monitor, &facts);
  probes->sm_mhz_max = facts.sm_mhz_max;
  probes->watts_limit = facts.watts_max;
  probes->down = probes->up = probes->add = probes->adam = NAN;
}

QmStatus
qm_probe_device (QmDevice *device,
                 const QmProbeOptions *options,
                 QmProbes *probes,
                 QmError *error)
{
  Bench bench = { .device = device, .options = options, .error = error };
  QmStatus status = open_bench (&bench, error);

  describe_probe (device, options, probes);
  for (size_t i = 0; i < N_CALLS && status == QM_OK; i++)
    {
      status = add_probe (&bench, &calls[i], probes);
      if (status == QM_OK && options->progress != NULL
          && !options->progress (options->data,
                                 (double) (i + 1) / (N_CALLS + 1)))
        status = qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
    }
  close_bench (&bench);
  if (status == QM_OK)
    status = qm_probe_host (device, options, probes, error);
  if (status == QM_OK && options->progress != NULL)
    options->progress (options->data, 1);
  return status;
}
