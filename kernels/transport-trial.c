/* SPDX-License-Identifier: Apache-2.0 */

/* Which way between devices is the faster one, where nothing else tells. */

#include "kernels/transport.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Sums before those that are timed, which set up what they need, and those. */
#define TRIAL_WARM 2
#define TRIAL_SUMS 5

enum
{
  TAG_REACH = 3000,
  TAG_TIMES,
  TAG_TAKEN
};

static bool
is_open_question (const QmReach *reach, int ranks)
{
  bool several = false;

  for (int i = 0; i < ranks; i++)
    {
      if (reach[i].readable > 0)
        return false;
      several = several || reach[i].neighbours > 0;
    }
  return several;
}

QmTransport
qm_transport_faster (const QmTrialTimes *times,
                     int ranks,
                     QmTransportTrial *trial)
{
  trial->nccl = trial->host = 0;
  for (int i = 0; i < ranks; i++)
    {
      trial->nccl = times[i].nccl > trial->nccl ? times[i].nccl : trial->nccl;
      trial->host = times[i].host > trial->host ? times[i].host : trial->host;
    }
  return trial->host < trial->nccl ? QM_TRANSPORT_HOST : QM_TRANSPORT_NCCL;
}

/* What all have, of each rank; to be freed where it succeeds. */
static QmStatus
gather_all (QmCommunicator *communicator,
            uint32_t tag,
            const void *own,
            size_t bytes,
            void **all,
            QmError *error)
{
  QmStatus status = QM_OK;

  *all = calloc ((size_t) communicator->world->ranks, bytes);
  if (*all == NULL)
    return qm_error_no_memory (error);
  if (!qm_host_gather (communicator->world, communicator->rank, tag, own, *all,
                       bytes))
    status = qm_world_check (communicator->world, error);
  if (status != QM_OK)
    free (*all);
  return status;
}

QmStatus
qm_transport_question (QmCommunicator *communicator,
                       const QmReach *own,
                       bool *open,
                       QmError *error)
{
  void *all;
  QmStatus status =
      gather_all (communicator, TAG_REACH, own, sizeof *own, &all, error);

  if (status != QM_OK)
    return status;
  *open = is_open_question (all, communicator->world->ranks);
  free (all);
  return QM_OK;
}

static QmStatus
open_way (QmCommunicator *communicator,
          const QmTransportWay *way,
          QmError *error)
{
  QmStatus status;

  communicator->transport = way->transport;
  status = way->open (communicator, error);
  status = qm_transport_settle (communicator, status, error);
  communicator->complete = status == QM_OK;
  return status;
}

static void
close_way (QmCommunicator *communicator)
{
  communicator->ways->close (communicator);
  communicator->ways = NULL;
  communicator->state = NULL;
  communicator->complete = false;
}

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

/* So many sums, one after the other, and waits for them. */
static QmStatus
sum (QmCommunicator *communicator,
     QmStream *stream,
     void *memory,
     size_t bytes,
     int n,
     QmError *error)
{
  QmStatus status = QM_OK;

  for (int i = 0; i < n && status == QM_OK; i++)
    status = qm_all_reduce (communicator, stream, memory, memory,
                            bytes / sizeof (float), QM_TYPE_F32, error);
  if (status == QM_OK)
    status = qm_stream_synchronize (communicator->device, stream, error);
  return status == QM_OK ? qm_world_check (communicator->world, error) : status;
}

/* The same, and waits for all: seconds of one.  Where it failed, the others are
 * still in it and wait for a rank that does not come, and are told why. */
static QmStatus
sum_together (QmCommunicator *communicator,
              QmStream *stream,
              void *memory,
              size_t bytes,
              int n,
              double *seconds,
              QmError *error)
{
  double begin = now ();
  QmStatus status = sum (communicator, stream, memory, bytes, n, error);

  *seconds = (now () - begin) / n;
  if (status != QM_OK)
    qm_communicator_abort (communicator, error->message);
  return qm_transport_settle (communicator, status, error);
}

/* Seconds of a sum by the way that is open; all begin together. */
static QmStatus
time_way (QmCommunicator *communicator,
          size_t bytes,
          double *seconds,
          QmError *error)
{
  QmDevice *device = communicator->device;
  QmStream *stream = NULL;
  void *memory = NULL;
  QmStatus status = qm_stream_create (device, &stream, error);

  if (status == QM_OK)
    status = qm_device_allocate (device, bytes, &memory, error);
  if (status == QM_OK)
    status = qm_device_set (device, stream, memory, 0, bytes, error);
  /* Nobody waits for a rank that has no memory. */
  status = qm_transport_settle (communicator, status, error);
  if (status == QM_OK)
    status = sum_together (communicator, stream, memory, bytes, TRIAL_WARM,
                           seconds, error);
  if (status == QM_OK)
    status = sum_together (communicator, stream, memory, bytes, TRIAL_SUMS,
                           seconds, error);
  qm_device_free (device, memory);
  qm_stream_free (device, stream);
  return status;
}

/* All know all times, and rank 0 says what comes of them. */
static QmStatus
decide (QmCommunicator *communicator,
        const QmTrialTimes *own,
        QmTransport *taken,
        QmError *error)
{
  void *all;
  uint32_t said;
  QmStatus status =
      gather_all (communicator, TAG_TIMES, own, sizeof *own, &all, error);

  if (status != QM_OK)
    return status;
  said = (uint32_t) qm_transport_faster (all, communicator->world->ranks,
                                         &communicator->trial);
  free (all);
  status =
      gather_all (communicator, TAG_TAKEN, &said, sizeof said, &all, error);
  if (status != QM_OK)
    return status;
  *taken = (QmTransport) * (const uint32_t *) all;
  free (all);
  return QM_OK;
}

QmStatus
qm_transport_try (QmCommunicator *communicator,
                  const QmTransportWay ways[2],
                  size_t bytes,
                  QmError *error)
{
  QmTrialTimes own = { 0 };
  QmTransport taken = QM_TRANSPORT_HOST;
  QmStatus status = QM_OK;

  for (int i = 0; i < 2 && status == QM_OK; i++)
    {
      double seconds = 0;

      if (i > 0)
        close_way (communicator);
      status = open_way (communicator, &ways[i], error);
      if (status == QM_OK)
        status = time_way (communicator, bytes, &seconds, error);
      if (ways[i].transport == QM_TRANSPORT_NCCL)
        own.nccl = seconds;
      else
        own.host = seconds;
    }
  if (status == QM_OK)
    status = decide (communicator, &own, &taken, error);
  if (status != QM_OK)
    return status;
  communicator->trial.bytes = bytes;
  if (communicator->transport == taken)
    return QM_OK;
  close_way (communicator);
  return open_way (communicator, &ways[ways[1].transport == taken], error);
}
