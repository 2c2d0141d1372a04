/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/links.h"

#include "kernels/host/host-adam.h"

#include <math.h>

/* Of calls that are timed together, and how many there are at most. */
#define SECONDS 0.1
#define MOST    1000

/* What is timed. */
typedef struct Timing
{
  QmCommunicator *communicator; /* NULL: copies */
  QmDevice *device;
  QmStream *stream;
  QmEvent *begin, *end;
  QmLinksOp collective;
  char *memory;
  size_t bytes;
  void *host;
  bool up;
} Timing;

static QmStatus
queue_collective (const Timing *t, QmError *error)
{
  size_t n = t->bytes / sizeof (float);
  size_t each = n / (size_t) qm_communicator_ranks (t->communicator);
  char *part =
      t->memory
      + (size_t) qm_communicator_rank (t->communicator) * each * sizeof (float);

  switch (t->collective)
    {
    case QM_LINKS_ALL_REDUCE:
      return qm_all_reduce (t->communicator, t->stream, t->memory, t->memory, n,
                            QM_TYPE_F32, error);
    case QM_LINKS_REDUCE_SCATTER:
      return qm_reduce_scatter (t->communicator, t->stream, t->memory, part,
                                each, QM_TYPE_F32, error);
    default:
      return qm_all_gather (t->communicator, t->stream, part, t->memory, each,
                            QM_TYPE_F32, error);
    }
}

static QmStatus
queue_timed (const Timing *t, QmError *error)
{
  if (t->communicator != NULL)
    return queue_collective (t, error);
  return t->up ? qm_stream_write (t->device, t->stream, t->memory, t->host,
                                  t->bytes, error)
               : qm_stream_read (t->device, t->stream, t->host, t->memory,
                                 t->bytes, error);
}

/* Mean seconds of `n` calls, of the slowest rank. */
static QmStatus
time_calls (const Timing *t, int n, double *seconds, QmError *error)
{
  QmStatus status = qm_event_record (t->device, t->stream, t->begin, error);

  for (int i = 0; i < n && status == QM_OK; i++)
    status = queue_timed (t, error);
  if (status == QM_OK)
    status = qm_event_record (t->device, t->stream, t->end, error);
  if (status == QM_OK)
    status = qm_event_elapsed (t->device, t->begin, t->end, seconds, error);
  *seconds /= n;
  return status == QM_OK && t->communicator != NULL
             ? qm_communicator_agree (t->communicator, QM_AGREE_MAXIMUM,
                                      seconds, 1, error)
             : status;
}

static QmStatus
time_it (Timing *t, double *seconds, QmError *error)
{
  int n = 1;
  QmStatus status = qm_stream_create (t->device, &t->stream, error);

  *seconds = 0;
  if (status == QM_OK)
    status = qm_event_create (t->device, &t->begin, error);
  if (status == QM_OK)
    status = qm_event_create (t->device, &t->end, error);
  /* The first sets up what it needs, the second tells how many to time. */
  for (int i = 0; i < 2 && status == QM_OK; i++)
    status = time_calls (t, 1, seconds, error);
  if (status == QM_OK)
    n = (int) fmin (MOST, fmax (1, SECONDS / fmax (*seconds, 1e-9)));
  if (status == QM_OK)
    status = time_calls (t, n, seconds, error);
  qm_event_free (t->device, t->begin);
  qm_event_free (t->device, t->end);
  qm_stream_free (t->device, t->stream);
  return status;
}

QmStatus
qm_links_time (QmCommunicator *communicator,
               QmDevice *device,
               QmLinksOp collective,
               void *memory,
               size_t bytes,
               double *seconds,
               QmError *error)
{
  Timing t = { .communicator = communicator,
               .device = device,
               .collective = collective,
               .memory = memory,
               .bytes = bytes };

  return time_it (&t, seconds, error);
}

double
qm_links_bandwidth (QmLinksOp collective,
                    int ranks,
                    size_t bytes,
                    double seconds)
{
  double moved = (double) bytes * (ranks - 1) / ranks;

  return (collective == QM_LINKS_ALL_REDUCE ? 2 : 1) * moved / seconds;
}

QmStatus
qm_links_host (QmDevice *device,
               void *memory,
               size_t bytes,
               QmHostRates *rates,
               QmError *error)
{
  Timing t = { .device = device,
               .memory = memory,
               .bytes = bytes,
               .host = qm_host_memory_new (bytes) };
  double seconds;
  QmStatus status;

  *rates = (QmHostRates){ 0, 0 };
  if (t.host == NULL)
    return qm_error_no_memory (error);
  status = qm_host_pin (device, t.host, bytes, error);
  for (int up = 0; up < 2 && status == QM_OK; up++)
    {
      t.up = up != 0;
      status = time_it (&t, &seconds, error);
      *(up ? &rates->up : &rates->down) = (double) bytes / seconds;
    }
  qm_host_unpin (device, t.host);
  qm_host_memory_free (t.host, bytes);
  return status;
}
