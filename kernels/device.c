/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "kernels/device.h"

#include "kernels/backend.h"
#include "kernels/cuda/cuda-support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef QM_HAVE_CUDA
size_t
qm_cuda_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size)
{
  snprintf (note, note_size, "This program was built without CUDA.");
  return 0;
}

QmStatus
qm_cuda_open (int index, int architecture, QmDevice **device, QmError *error)
{
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "cuda:%d: this program was built without CUDA", index);
}

QmTrouble
qm_cuda_absence (int *driver, int *runtime)
{
  *driver = *runtime = 0;
  return QM_TROUBLE_NO_CUDA;
}

bool
qm_cuda_peers (int from, int to)
{
  return false;
}

QmStatus
qm_cuda_products_find (QmProducts *products, QmError *error)
{
  memset (products, 0, sizeof *products);
  return QM_OK;
}
#endif

const char *
qm_trouble_name (QmTrouble trouble)
{
  static const char *const names[] = {
    "none",   "no-cuda", "no-driver", "old-driver",
    "no-gpu", "old-gpu", "no-code",   "broken",
  };

  return names[trouble];
}

QmTrouble
qm_device_absence (int *driver_cuda, int *runtime_cuda)
{
  return qm_cuda_absence (driver_cuda, runtime_cuda);
}

QmStatus
qm_device_products (QmProducts *products, QmError *error)
{
  return qm_cuda_products_find (products, error);
}

size_t
qm_device_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size)
{
  size_t n;

  if (note_size > 0)
    note[0] = '\0';
  n = qm_cuda_list (infos, max, note, note_size);
  if (n < max)
    qm_cpu_info (&infos[n]);
  return n + 1;
}

/* Reads "cuda:N". */
static bool
read_index (const char *id, int *index)
{
  const char *digits = id + strlen ("cuda:");

  if (strncmp (id, "cuda:", strlen ("cuda:")) != 0 || *digits == '\0'
      || strlen (digits) > 3
      || strspn (digits, "0123456789") != strlen (digits))
    return false;
  *index = 0;
  for (; *digits != '\0'; digits++)
    *index = *index * 10 + (*digits - '0');
  return true;
}

static QmStatus
no_device (const char *id, QmError *error)
{
  return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                       "there is no device '%.32s'; 'cpu' and 'cuda:0' are "
                       "names of devices",
                       id);
}

/* More than any machine has. */
#define MAX_DEVICES 64

QmStatus
qm_device_describe (const char *id, QmDeviceInfo *info, QmError *error)
{
  QmDeviceInfo *infos;
  char note[192] = "";
  QmStatus status = QM_STATUS_NOT_FOUND;
  int index;
  size_t n;

  if (strcmp (id, "cpu") == 0)
    {
      qm_cpu_info (info);
      return QM_OK;
    }
  if (id[0] != '\0' && !read_index (id, &index))
    return no_device (id, error);
  infos = calloc (MAX_DEVICES, sizeof *infos);
  if (infos == NULL)
    return qm_error_no_memory (error);
  n = qm_device_list (infos, MAX_DEVICES, note, sizeof note);
  for (size_t i = 0; i < n && i < MAX_DEVICES && status != QM_OK; i++)
    if (id[0] == '\0' ? infos[i].trouble[0] == '\0'
                      : strcmp (infos[i].id, id) == 0)
      {
        *info = infos[i];
        status = QM_OK;
      }
  free (infos);
  return status == QM_OK ? QM_OK
                         : qm_error_set (error, status, "", 0, 0,
                                         "there is no device %.16s%s%s", id,
                                         note[0] != '\0' ? ": " : "", note);
}

bool
qm_device_peers (const char *from, const char *to)
{
  int a, b;

  return read_index (from, &a) && read_index (to, &b) && qm_cuda_peers (a, b);
}

QmStatus
qm_device_open (const char *id,
                int architecture,
                QmDevice **device,
                QmError *error)
{
  int index;

  *device = NULL;
  if (strcmp (id, "cpu") == 0 && architecture != 0)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "the CPU is no GPU of compute capability %d.%d",
                         architecture / 10, architecture % 10);
  if (strcmp (id, "cpu") == 0)
    return qm_cpu_open (device, error);
  if (read_index (id, &index))
    return qm_cuda_open (index, architecture, device, error);
  return no_device (id, error);
}

uint64_t
qm_device_free_bytes (QmDevice *device)
{
  return device->backend->free_bytes (device);
}

uint64_t
qm_device_choices (const QmDevice *device)
{
  return device->backend->choices (device);
}

void
qm_device_close (QmDevice *device)
{
  if (device != NULL)
    device->backend->close (device);
}

const QmDeviceInfo *
qm_device_info (const QmDevice *device)
{
  return &device->info;
}

QmStatus
qm_device_allocate (QmDevice *device,
                    size_t bytes,
                    void **memory,
                    QmError *error)
{
  return device->backend->allocate (device, bytes, memory, error);
}

void
qm_device_free (QmDevice *device, void *memory)
{
  if (memory != NULL)
    device->backend->free (device, memory);
}

QmStatus
qm_device_write (QmDevice *device,
                 QmStream *stream,
                 void *to,
                 const void *from_host,
                 size_t bytes,
                 QmError *error)
{
  return device->backend->write (device, stream, to, from_host, bytes, error);
}

QmStatus
qm_device_read (QmDevice *device,
                QmStream *stream,
                void *to_host,
                const void *from,
                size_t bytes,
                QmError *error)
{
  return device->backend->read (device, stream, to_host, from, bytes, error);
}

QmStatus
qm_device_set (QmDevice *device,
               QmStream *stream,
               void *memory,
               int byte,
               size_t bytes,
               QmError *error)
{
  return device->backend->set (device, stream, memory, byte, bytes, error);
}

QmStatus
qm_stream_create (QmDevice *device, QmStream **stream, QmError *error)
{
  return device->backend->stream_create (device, stream, error);
}

void
qm_stream_free (QmDevice *device, QmStream *stream)
{
  if (stream != NULL)
    device->backend->stream_free (device, stream);
}

QmStatus
qm_stream_synchronize (QmDevice *device, QmStream *stream, QmError *error)
{
  return device->backend->stream_synchronize (device, stream, error);
}

QmStatus
qm_event_create (QmDevice *device, QmEvent **event, QmError *error)
{
  return device->backend->event_create (device, event, error);
}

void
qm_event_free (QmDevice *device, QmEvent *event)
{
  if (event != NULL)
    device->backend->event_free (device, event);
}

QmStatus
qm_event_record (QmDevice *device,
                 QmStream *stream,
                 QmEvent *event,
                 QmError *error)
{
  return device->backend->event_record (device, stream, event, error);
}

QmStatus
qm_event_elapsed (QmDevice *device,
                  QmEvent *from,
                  QmEvent *to,
                  double *seconds,
                  QmError *error)
{
  return device->backend->event_elapsed (device, from, to, seconds, error);
}

QmStatus
qm_host_pin (QmDevice *device, void *memory, size_t bytes, QmError *error)
{
  return device->backend->pin (device, memory, bytes, error);
}

void
qm_host_unpin (QmDevice *device, void *memory)
{
  if (memory != NULL)
    device->backend->unpin (device, memory);
}

QmStatus
qm_stream_write (QmDevice *device,
                 QmStream *stream,
                 void *to,
                 const void *from_host,
                 size_t bytes,
                 QmError *error)
{
  return device->backend->stream_write (device, stream, to, from_host, bytes,
                                        error);
}

QmStatus
qm_stream_read (QmDevice *device,
                QmStream *stream,
                void *to_host,
                const void *from,
                size_t bytes,
                QmError *error)
{
  return device->backend->stream_read (device, stream, to_host, from, bytes,
                                       error);
}

QmStatus
qm_stream_wait (QmDevice *device,
                QmStream *stream,
                QmEvent *event,
                QmError *error)
{
  return device->backend->stream_wait (device, stream, event, error);
}

QmStatus
qm_stream_call (QmDevice *device,
                QmStream *stream,
                QmHostFunction function,
                void *data,
                QmError *error)
{
  return device->backend->stream_call (device, stream, function, data, error);
}

QmStatus
qm_stream_post (QmDevice *device,
                QmStream *stream,
                uint32_t *word,
                uint32_t value,
                QmError *error)
{
  return device->backend->stream_word (device, stream, word, value, false,
                                       error);
}

QmStatus
qm_stream_until (QmDevice *device,
                 QmStream *stream,
                 uint32_t *word,
                 uint32_t value,
                 QmError *error)
{
  return device->backend->stream_word (device, stream, word, value, true,
                                       error);
}

QmStatus
qm_capture_begin (QmDevice *device, QmStream *stream, QmError *error)
{
  return device->backend->capture_begin (device, stream, error);
}

QmStatus
qm_capture_end (QmDevice *device,
                QmStream *stream,
                QmCapture **capture,
                QmError *error)
{
  return device->backend->capture_end (device, stream, capture, error);
}

QmStatus
qm_capture_launch (QmDevice *device,
                   QmStream *stream,
                   QmCapture *capture,
                   QmError *error)
{
  return device->backend->capture_launch (device, stream, capture, error);
}

void
qm_capture_free (QmDevice *device, QmCapture *capture)
{
  if (capture != NULL)
    device->backend->capture_free (device, capture);
}

bool
qm_target_is_gpu (const QmTarget *target)
{
  return target->kind != QM_DEVICE_CPU;
}

bool
qm_target_multiplies (const QmTarget *target, QmType type, bool tf32)
{
  return target->kind != QM_DEVICE_CUDA || target->architecture == 0
         || qm_cuda_multiplies (target->architecture, type, tf32);
}

uint64_t
qm_target_reserved (const QmTarget *target)
{
  return target->kind == QM_DEVICE_CUDA
             ? qm_cuda_reserved (target->architecture)
             : 0;
}

size_t
qm_op_workspace (const QmTarget *target, const QmOpCall *call)
{
  return target->kind == QM_DEVICE_CUDA
             ? qm_cuda_workspace (target->architecture, call)
             : qm_cpu_workspace (call);
}

bool
qm_op_has_workspace (const QmTarget *target, QmOp op)
{
  return target->kind == QM_DEVICE_CUDA && qm_cuda_has_workspace (op);
}

bool
qm_target_turns (const QmTarget *target, const QmOpCall *call)
{
  return target->kind == QM_DEVICE_CUDA
         && qm_cuda_turns (target->architecture, call);
}

bool
qm_target_has_turns (const QmTarget *target)
{
  return target->kind == QM_DEVICE_CUDA
         && qm_cuda_has_turns (target->architecture);
}

bool
qm_target_gates (const QmTarget *target, const QmOpCall *call)
{
  return target->kind == QM_DEVICE_CUDA
         && qm_cuda_gates (target->architecture, call);
}

bool
qm_target_has_gates (const QmTarget *target)
{
  return target->kind == QM_DEVICE_CUDA
         && qm_cuda_has_gates (target->architecture);
}

QmStatus
qm_target_takes (const QmTarget *target, const QmOpCall *call, QmError *error)
{
  return target->kind == QM_DEVICE_CUDA
             ? qm_cuda_takes (target->architecture, call, error)
             : QM_OK;
}

bool
qm_op_has_limits (const QmTarget *target, QmOp op)
{
  return target->kind == QM_DEVICE_CUDA && qm_cuda_has_limits (op);
}

QmStatus
qm_op_run (QmDevice *device,
           QmStream *stream,
           const QmOpCall *call,
           QmError *error)
{
  QmStatus status = qm_op_check (call, error);

  /* What no kernel takes is refused for that, whatever its workspace. */
  if (status == QM_OK)
    status = qm_target_takes (&device->info.target, call, error);
  if (status != QM_OK)
    return status;
  if (call->workspace_bytes < qm_op_workspace (&device->info.target, call))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%s: the workspace of %zu bytes is too small",
                         qm_op_name (call->op), call->workspace_bytes);
  return device->backend->run (device, stream, call, error);
}
