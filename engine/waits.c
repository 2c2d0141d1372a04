/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/waits.h"

#include <stdlib.h>

bool
qm_is_exchange (QmOp op)
{
  return op == QM_OP_FETCH || op == QM_OP_SEND || op == QM_OP_ALL_REDUCE
         || op == QM_OP_REDUCE_SCATTER || op == QM_OP_ALL_GATHER;
}

/* Whether the stream may stand still in it. */
static bool
may_wait (QmOp op)
{
  return qm_is_exchange (op) || op == QM_OP_FETCHED || op == QM_OP_SENT
         || op == QM_OP_EXCHANGED;
}

static size_t
count_waits (const QmOpCall *calls, size_t n)
{
  size_t waits = 0;

  for (size_t i = 0; i < n; i++)
    waits += may_wait (calls[i].op);
  return waits;
}

/* Queues calls, with an event before and after each that may wait. */
static QmStatus
queue_watched (QmExecutor *executor,
               const QmOpCall *calls,
               size_t n,
               QmEvent **events,
               QmError *error)
{
  QmDevice *device = qm_executor_device (executor);
  QmStream *stream = qm_executor_stream (executor);
  QmStatus status = QM_OK;
  size_t at = 0;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      bool waits = may_wait (calls[i].op);

      if (waits)
        status = qm_event_record (device, stream, events[at++], error);
      if (status == QM_OK)
        status = qm_executor_queue (executor, &calls[i], error);
      if (status == QM_OK && waits)
        status = qm_event_record (device, stream, events[at++], error);
    }
  return status;
}

static QmStatus
add_up (QmDevice *device,
        QmEvent **events,
        size_t n,
        double *seconds,
        QmError *error)
{
  QmStatus status = QM_OK;

  *seconds = 0;
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      double one = 0;

      status = qm_event_elapsed (device, events[2 * i], events[2 * i + 1], &one,
                                 error);
      *seconds += one;
    }
  return status;
}

static QmStatus
time_phase (QmExecutor *executor,
            QmPhase phase,
            double *seconds,
            QmError *error)
{
  QmDevice *device = qm_executor_device (executor);
  size_t n, made = 0, waits;
  const QmOpCall *calls = qm_executor_calls (executor, phase, &n);
  QmEvent **events;
  QmStatus status = QM_OK;

  waits = count_waits (calls, n);
  events = calloc (2 * waits + 1, sizeof *events);
  if (events == NULL)
    return qm_error_no_memory (error);
  while (status == QM_OK && made < 2 * waits)
    {
      status = qm_event_create (device, &events[made], error);
      made += status == QM_OK;
    }
  if (status == QM_OK)
    status = queue_watched (executor, calls, n, events, error);
  if (status == QM_OK)
    status = qm_executor_synchronize (executor, error);
  if (status == QM_OK)
    status = add_up (device, events, waits, seconds, error);
  for (size_t i = 0; i < made; i++)
    qm_event_free (device, events[i]);
  free (events);
  return status;
}

QmStatus
qm_waits (QmExecutor *executor, bool has_last, QmWaits *waits, QmError *error)
{
  QmStatus status = qm_executor_clear (executor, error);

  *waits = (QmWaits){ 0 };
  if (status == QM_OK)
    status = time_phase (executor, QM_PHASE_FORWARD, &waits->pass, error);
  if (status == QM_OK && has_last)
    status = time_phase (executor, QM_PHASE_LAST, &waits->last, error);
  if (status == QM_OK)
    status = time_phase (executor, QM_PHASE_UPDATE, &waits->update, error);
  return status;
}
