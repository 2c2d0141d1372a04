/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/kernels/compare.h"

#include "kernels/convert.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
must (QmStatus status, const QmError *error)
{
  CHECK_INT (status, QM_OK);
  if (status == QM_OK)
    return;
  fprintf (stderr, "%s\n", error->message);
  if (status == QM_STATUS_DEVICE)
    exit (1);
}

bool
compare_open (Compare *compare, int architecture)
{
  QmError error = { 0 };

  *compare = (Compare){ .seed = 20250611,
                        .neighbours = 1,
                        .older = architecture != 0 };
  if (qm_device_open ("cuda:0", architecture, &compare->gpu, &error) != QM_OK)
    {
      printf ("%s\n", error.message);
      return false;
    }
  must (qm_device_open ("cpu", 0, &compare->cpu, &error), &error);
  must (qm_stream_create (compare->cpu, &compare->cpu_stream, &error), &error);
  must (qm_stream_create (compare->gpu, &compare->gpu_stream, &error), &error);
  return true;
}

void
compare_close (Compare *compare)
{
  qm_stream_free (compare->cpu, compare->cpu_stream);
  qm_stream_free (compare->gpu, compare->gpu_stream);
  qm_device_close (compare->cpu);
  qm_device_close (compare->gpu);
}

static uint64_t
draw (Compare *compare)
{
  compare->seed ^= compare->seed << 13;
  compare->seed ^= compare->seed >> 7;
  compare->seed ^= compare->seed << 17;
  return compare->seed >> 11;
}

int64_t
compare_between (Compare *compare, int64_t low, int64_t high)
{
  return low + (int64_t) (draw (compare) % (uint64_t) (high - low + 1));
}

bool
compare_toss (Compare *compare)
{
  return compare_between (compare, 0, 1) == 1;
}

QmType
compare_type (Compare *compare)
{
  static const QmType types[] = { QM_TYPE_F32, QM_TYPE_F16, QM_TYPE_BF16 };
  const QmTarget *target = &qm_device_info (compare->gpu)->target;
  bool bf16 = qm_target_multiplies (target, QM_TYPE_BF16, false);

  return types[draw (compare) % (bf16 ? 3 : 2)];
}

/* About normal. */
static float
noise (Compare *compare)
{
  float sum = 0;

  for (int i = 0; i < 3; i++)
    sum += (float) (draw (compare) % 65536) / 32768 - 1;
  return sum;
}

QmTensor
compare_tensor (Compare *compare,
                QmType type,
                int32_t rank,
                const int64_t *shape,
                int64_t gap,
                int64_t offset)
{
  QmTensor tensor = qm_tensor_dense (type, rank, shape, NULL);
  CompareBuffer *buffer = &compare->buffers[compare->n++];
  int64_t stride = shape[rank - 1] + gap, n;

  for (int32_t i = rank - 2; i >= 0; i--)
    {
      tensor.stride[i] = stride;
      stride *= shape[i];
    }
  n = offset + stride;
  buffer->bytes = (size_t) n * qm_type_size (type);
  buffer->initial = malloc (buffer->bytes);
  buffer->cpu = malloc (buffer->bytes);
  buffer->gpu = malloc (buffer->bytes);
  for (int64_t i = 0; i < n; i++)
    if (type == QM_TYPE_I32)
      ((int32_t *) buffer->initial)[i] =
          (int32_t) compare_between (compare, 0, 99);
    else
      {
        float x = noise (compare);

        qm_floats_store (type,
                         buffer->initial + (size_t) i * qm_type_size (type), 1,
                         1, &x);
      }
  tensor.data = buffer->initial + (size_t) offset * qm_type_size (type);
  return tensor;
}

QmTensor
compare_rng (Compare *compare)
{
  return compare_tensor (compare, QM_TYPE_I32, 1, (int64_t[]){ 3 }, 0, 0);
}

static CompareBuffer *
buffer_of (Compare *compare, const QmTensor *tensor)
{
  unsigned char *data = tensor->data;

  for (size_t i = 0; i < compare->n; i++)
    if (data >= compare->buffers[i].initial
        && data < compare->buffers[i].initial + compare->buffers[i].bytes)
      return &compare->buffers[i];
  abort ();
}

static void
move (Compare *compare, QmTensor *tensor, bool gpu)
{
  CompareBuffer *buffer;
  unsigned char *base;

  if (!qm_tensor_present (tensor))
    return;
  buffer = buffer_of (compare, tensor);
  base = gpu ? buffer->device : buffer->cpu;
  tensor->data = base + ((unsigned char *) tensor->data - buffer->initial);
}

/* The call on memory of one of the devices. */
static QmOpCall
moved (Compare *compare, const QmOpCall *call, bool gpu)
{
  QmOpCall result = *call;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    move (compare, &result.inputs[i], gpu);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    move (compare, &result.outputs[i], gpu);
  return result;
}

static void
run_cpu (Compare *compare, const QmOpCall *call)
{
  QmOpCall here;
  QmError error = { 0 };

  for (size_t i = 0; i < compare->n; i++)
    memcpy (compare->buffers[i].cpu, compare->buffers[i].initial,
            compare->buffers[i].bytes);
  here = moved (compare, call, false);
  must (qm_op_run (compare->cpu, compare->cpu_stream, &here, &error), &error);
}

static void
queue (Compare *compare, const QmOpCall *call, bool capture)
{
  QmCapture *captured = NULL;
  QmError error = { 0 };

  if (!capture)
    {
      QmStatus status =
          qm_op_run (compare->gpu, compare->gpu_stream, call, &error);

      compare->refused = status == QM_STATUS_UNSUPPORTED && compare->older;
      if (!compare->refused)
        must (status, &error);
      return;
    }
  must (qm_capture_begin (compare->gpu, compare->gpu_stream, &error), &error);
  must (qm_op_run (compare->gpu, compare->gpu_stream, call, &error), &error);
  must (qm_capture_end (compare->gpu, compare->gpu_stream, &captured, &error),
        &error);
  must (qm_capture_launch (compare->gpu, compare->gpu_stream, captured, &error),
        &error);
  must (qm_stream_synchronize (compare->gpu, compare->gpu_stream, &error),
        &error);
  qm_capture_free (compare->gpu, captured);
}

/* Runs on the GPU, with a workspace of NaNs; true if all bytes of memory are
 * what buffers[].gpu had before. */
static bool
run_gpu (Compare *compare, const QmOpCall *call, bool capture)
{
  QmOpCall there = moved (compare, call, true);
  QmError error = { 0 };
  bool same = true;

  there.workspace_bytes =
      qm_op_workspace (&qm_device_info (compare->gpu)->target, call);
  must (qm_device_allocate (compare->gpu, there.workspace_bytes + 256,
                            &there.workspace, &error),
        &error);
  must (qm_device_set (compare->gpu, compare->gpu_stream, there.workspace, 0xff,
                       there.workspace_bytes + 256, &error),
        &error);
  for (size_t i = 0; i < compare->n; i++)
    must (qm_device_write (compare->gpu, compare->gpu_stream,
                           compare->buffers[i].device,
                           compare->buffers[i].initial,
                           compare->buffers[i].bytes, &error),
          &error);
  queue (compare, &there, capture);
  for (size_t i = 0; i < compare->n; i++)
    {
      CompareBuffer *buffer = &compare->buffers[i];
      unsigned char *read = malloc (buffer->bytes);

      must (qm_device_read (compare->gpu, compare->gpu_stream, read,
                            buffer->device, buffer->bytes, &error),
            &error);
      same = same && memcmp (read, buffer->gpu, buffer->bytes) == 0;
      free (buffer->gpu);
      buffer->gpu = read;
    }
  qm_device_free (compare->gpu, there.workspace);
  return same;
}

static int64_t
offset_of (const QmTensor *tensor, int64_t index)
{
  int64_t offset = 0;

  for (int32_t i = tensor->rank - 1; i >= 0; i--)
    {
      offset += index % tensor->shape[i] * tensor->stride[i];
      index /= tensor->shape[i];
    }
  return offset;
}

/* Relative L2 difference; infinite where only one is not a number. */
static double
difference (const QmTensor *tensor,
            const unsigned char *a,
            const unsigned char *b)
{
  double sum = 0, norm = 0;

  for (int64_t i = 0; i < qm_tensor_elements (tensor); i++)
    {
      size_t at = (size_t) offset_of (tensor, i) * qm_type_size (tensor->type);
      float x, y;

      qm_floats_load (tensor->type, a + at, 1, 1, &x);
      qm_floats_load (tensor->type, b + at, 1, 1, &y);
      if (isfinite (x) != isfinite (y) || isnan (x) != isnan (y))
        return INFINITY;
      if (!isfinite (y))
        continue;
      sum += ((double) x - y) * ((double) x - y);
      norm += (double) y * y;
    }
  return sum == 0 ? 0 : sqrt (sum / norm);
}

/* What roundings to a 16-bit type may differ by: that two sums are rounded to
 * neighbours, one in the type's last place (2^-7 of bf16, 2^-10 of f16) apart,
 * may happen to `neighbours` elements in 16 of bf16, to one in 4 of f16, and to
 * four more, which are much of the norm where elements are few. */
static double
rounding_tolerance (const QmTensor *tensor, int neighbours)
{
  double count = fmax ((double) qm_tensor_elements (tensor), 1);

  if (tensor->type == QM_TYPE_BF16)
    return 0x1p-7 * sqrt (fmin (count * neighbours / 16 + 4, count) / count);
  if (tensor->type == QM_TYPE_F16)
    return 0x1p-10 * sqrt (fmin (count / 4 + 4, count) / count);
  return 0;
}

/* Compares an output and makes the bytes of the CPU those of the GPU, so that
 * all others can be compared afterwards. */
static void
check_output (Compare *compare,
              const QmOpCall *call,
              int slot,
              double tolerance)
{
  const QmTensor *tensor = &call->outputs[slot];
  CompareBuffer *buffer = buffer_of (compare, tensor);
  size_t first = (size_t) ((unsigned char *) tensor->data - buffer->initial);
  size_t size = qm_type_size (tensor->type);
  double error;

  if (tensor->type == QM_TYPE_I32)
    return;
  tolerance =
      fmax (tolerance, rounding_tolerance (tensor, compare->neighbours));
  error = difference (tensor, buffer->gpu + first, buffer->cpu + first);
  if (error / tolerance > compare->worst)
    compare->worst = error / tolerance;
  if (!(error <= tolerance))
    fprintf (stderr, "%s: output %d (%s) differs by %.2g\n",
             qm_op_name (call->op), slot, qm_type_name (tensor->type), error);
  CHECK (error <= tolerance);
  for (int64_t i = 0; i < qm_tensor_elements (tensor); i++)
    {
      size_t at = first + (size_t) offset_of (tensor, i) * size;

      memcpy (buffer->cpu + at, buffer->gpu + at, size);
    }
}

static void
print_call (const QmOpCall *call)
{
  fprintf (stderr, "  %s", qm_op_name (call->op));
  for (int i = 0; i < QM_OP_MAX_INPUTS + QM_OP_MAX_OUTPUTS; i++)
    {
      const QmTensor *tensor = i < QM_OP_MAX_INPUTS
                                   ? &call->inputs[i]
                                   : &call->outputs[i - QM_OP_MAX_INPUTS];

      if (i == QM_OP_MAX_INPUTS)
        fprintf (stderr, " ->");
      if (!qm_tensor_present (tensor))
        continue;
      fprintf (stderr, " %s[", qm_type_name (tensor->type));
      for (int d = 0; d < tensor->rank; d++)
        fprintf (stderr, "%s%lld:%lld", d > 0 ? "," : "",
                 (long long) tensor->shape[d], (long long) tensor->stride[d]);
      fprintf (stderr, "]");
    }
  fprintf (stderr, "\n");
}

static void
release (Compare *compare)
{
  for (size_t i = 0; i < compare->n; i++)
    {
      free (compare->buffers[i].initial);
      free (compare->buffers[i].cpu);
      free (compare->buffers[i].gpu);
      qm_device_free (compare->gpu, compare->buffers[i].device);
    }
  compare->n = 0;
}

void
compare_run (Compare *compare, const QmOpCall *call, double tolerance)
{
  QmError error = { 0 };
  /* The order in which gradients of weights are added up is another each time,
   * unless it has to be the same. */
  bool same =
      call->op != QM_OP_LINEAR_WEIGHT_GRAD || call->attributes.deterministic;
  bool repeats, around = true;

  check_case (qm_op_name (call->op));
  for (size_t i = 0; i < compare->n; i++)
    must (qm_device_allocate (compare->gpu, compare->buffers[i].bytes,
                              &compare->buffers[i].device, &error),
          &error);
  run_cpu (compare, call);
  run_gpu (compare, call, false);
  if (compare->refused)
    {
      release (compare);
      compare->refusals++;
      return;
    }
  repeats = run_gpu (compare, call, true) || !same;
  CHECK (repeats);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (qm_tensor_present (&call->outputs[i]))
      check_output (compare, call, i, tolerance);
  for (size_t i = 0; i < compare->n; i++)
    around = around
             && memcmp (compare->buffers[i].cpu, compare->buffers[i].gpu,
                        compare->buffers[i].bytes)
                    == 0;
  CHECK (around);
  if (!repeats || !around)
    print_call (call);
  release (compare);
  compare->calls++;
}
