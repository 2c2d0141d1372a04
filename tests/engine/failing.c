/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/engine/failing.h"

#include "kernels/backend.h"
#include "tests/data/check.h"

static QmBackend real, failing;

/* What the stand-in counts. */
static int64_t calls, failing_call, allocated, streams, events, captures;
static int64_t pinned;

static bool
fails (QmStatus status, QmError *error)
{
  if (calls++ != failing_call)
    return false;
  qm_error_set (error, status, "", 0, 0, FAILING_MESSAGE);
  return true;
}

static QmStatus
fake_allocate (QmDevice *d, size_t bytes, void **memory, QmError *error)
{
  *memory = NULL;
  if (fails (QM_STATUS_DEVICE_FULL, error))
    return QM_STATUS_DEVICE_FULL;
  allocated++;
  return real.allocate (d, bytes, memory, error);
}

static void
fake_free (QmDevice *d, void *memory)
{
  allocated--;
  real.free (d, memory);
}

static QmStatus
fake_read (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.read (d, s, to, from, n, e);
}

static QmStatus
fake_write (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.write (d, s, to, from, n, e);
}

static QmStatus
fake_stream (QmDevice *d, QmStream **stream, QmError *e)
{
  *stream = NULL;
  if (fails (QM_STATUS_DEVICE, e))
    return QM_STATUS_DEVICE;
  streams++;
  return real.stream_create (d, stream, e);
}

static void
fake_stream_free (QmDevice *d, QmStream *stream)
{
  streams--;
  real.stream_free (d, stream);
}

static QmStatus
fake_event (QmDevice *d, QmEvent **event, QmError *e)
{
  *event = NULL;
  if (fails (QM_STATUS_DEVICE, e))
    return QM_STATUS_DEVICE;
  events++;
  return real.event_create (d, event, e);
}

static void
fake_event_free (QmDevice *d, QmEvent *event)
{
  events--;
  real.event_free (d, event);
}

static QmStatus
fake_elapsed (QmDevice *d, QmEvent *from, QmEvent *to, double *t, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.event_elapsed (d, from, to, t, e);
}

static QmStatus
fake_synchronize (QmDevice *d, QmStream *s, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.stream_synchronize (d, s, e);
}

static QmStatus
fake_end (QmDevice *d, QmStream *s, QmCapture **capture, QmError *e)
{
  QmStatus status = real.capture_end (d, s, capture, e);

  if (status == QM_OK && fails (QM_STATUS_DEVICE, e))
    {
      real.capture_free (d, *capture);
      *capture = NULL;
      return QM_STATUS_DEVICE;
    }
  captures += status == QM_OK;
  return status;
}

static void
fake_capture_free (QmDevice *d, QmCapture *capture)
{
  captures--;
  real.capture_free (d, capture);
}

static QmStatus
fake_launch (QmDevice *d, QmStream *s, QmCapture *capture, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.capture_launch (d, s, capture, e);
}

static QmStatus
fake_run (QmDevice *d, QmStream *s, const QmOpCall *call, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.run (d, s, call, e);
}

static QmStatus
fake_pin (QmDevice *d, void *memory, size_t n, QmError *e)
{
  if (fails (QM_STATUS_DEVICE_FULL, e))
    return QM_STATUS_DEVICE_FULL;
  pinned++;
  return real.pin (d, memory, n, e);
}

static void
fake_unpin (QmDevice *d, void *memory)
{
  pinned--;
  real.unpin (d, memory);
}

static QmStatus
fake_stream_write (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.stream_write (d, s, to, from, n, e);
}

static QmStatus
fake_stream_read (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.stream_read (d, s, to, from, n, e);
}

static QmStatus
fake_wait (QmDevice *d, QmStream *s, QmEvent *event, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e) ? QM_STATUS_DEVICE
                                     : real.stream_wait (d, s, event, e);
}

static QmStatus
fake_call (
    QmDevice *d, QmStream *s, QmHostFunction function, void *data, QmError *e)
{
  return fails (QM_STATUS_DEVICE, e)
             ? QM_STATUS_DEVICE
             : real.stream_call (d, s, function, data, e);
}

QmDevice *
failing_open (void)
{
  QmDevice *device = NULL;

  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  real = failing = *device->backend;
  failing.allocate = fake_allocate;
  failing.free = fake_free;
  failing.read = fake_read;
  failing.write = fake_write;
  failing.stream_create = fake_stream;
  failing.stream_free = fake_stream_free;
  failing.event_create = fake_event;
  failing.event_free = fake_event_free;
  failing.event_elapsed = fake_elapsed;
  failing.stream_synchronize = fake_synchronize;
  failing.capture_end = fake_end;
  failing.capture_free = fake_capture_free;
  failing.capture_launch = fake_launch;
  failing.run = fake_run;
  failing.pin = fake_pin;
  failing.unpin = fake_unpin;
  failing.stream_write = fake_stream_write;
  failing.stream_read = fake_stream_read;
  failing.stream_wait = fake_wait;
  failing.stream_call = fake_call;
  device->backend = &failing;
  return device;
}

void
failing_close (QmDevice *device)
{
  device->backend = &real;
  qm_device_close (device);
}

void
failing_at (int64_t call)
{
  failing_call = call;
  calls = 0;
}

int64_t
failing_calls (void)
{
  return calls;
}

void
failing_check_empty (void)
{
  CHECK_INT (allocated, 0);
  CHECK_INT (streams, 0);
  CHECK_INT (events, 0);
  CHECK_INT (captures, 0);
  CHECK_INT (pinned, 0);
}
