/* SPDX-License-Identifier: Apache-2.0 */

/* Collectives of NCCL, one communicator of its for each rank, each used by the
 * thread of its rank.
 *
 * Nothing of NCCL waits: its communicators are told not to, and where a call is
 * still going on when it returns, it is asked again until it is through or the
 * world has failed.  A thread watches over each communicator.  It passes on
 * what NCCL finds out between calls, and when the world fails it aborts the
 * communicator, so that streams end in which work waits for ranks that do not
 * come. */

#include "kernels/cuda/nccl.h"

#include "kernels/cuda/cuda-stream.h"
#include "kernels/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds: between two looks at a call that goes on, between two at what NCCL
 * found out, and that a call may take to return before it is aborted. */
#define LOOK      50e-6
#define WATCH     0.2
#define LAST_CALL 2

enum
{
  TAG_ID = 2000,
  TAG_END
};

typedef struct NcclTransport
{
  QmNccl nccl;
  QmCommunicator *communicator;
  pthread_mutex_t lock; /* of what follows, and of calls with it */
  ncclComm_t comm;      /* NULL: aborted */
  pthread_t watcher;
  bool watching, ending; /* ending belongs to the lock of the world */
} NcclTransport;

/* What rank 0 tells the others. */
typedef struct Invitation
{
  ncclUniqueId id;
  uint32_t status;
  char why[124];
} Invitation;

static void
nap (double seconds)
{
  struct timespec until = qm_deadline (seconds);

  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static QmStatus
nccl_failed (const NcclTransport *transport,
             const char *what,
             int code,
             QmError *error)
{
  const char *more = transport->nccl.last_error (transport->comm);

  if (more == NULL)
    more = "";
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "NCCL: %s: %s%s%.120s", what,
                       transport->nccl.error_string (code),
                       more[0] != '\0' ? ": " : "", more);
}

/* Where somebody aborted it. */
static QmStatus
was_aborted (const NcclTransport *transport, QmError *error)
{
  QmStatus status = qm_world_check (transport->communicator->world, error);

  return status != QM_OK ? status
                         : qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                                         "NCCL was stopped");
}

/* Waits until a call that returned `code` is through. */
static QmStatus
settle_nccl (NcclTransport *transport,
             const char *what,
             int code,
             QmError *error)
{
  QmWorld *world = transport->communicator->world;
  struct timespec deadline = qm_deadline (world->patience);
  QmStatus status = QM_OK;

  while (code == NCCL_IN_PROGRESS && status == QM_OK)
    {
      int asked = NCCL_SUCCESS;

      pthread_mutex_lock (&transport->lock);
      if (transport->comm == NULL)
        status = was_aborted (transport, error);
      else
        asked = transport->nccl.async_error (transport->comm, &code);
      pthread_mutex_unlock (&transport->lock);
      if (asked != NCCL_SUCCESS)
        code = asked;
      if (status == QM_OK && code == NCCL_IN_PROGRESS)
        {
          status = qm_world_check (world, error);
          nap (LOOK);
        }
      if (status == QM_OK && code == NCCL_IN_PROGRESS
          && qm_deadline_left (&deadline) <= 0)
        status = qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                               "NCCL: %s: nothing came of it within %g s", what,
                               world->patience);
    }
  if (status != QM_OK)
    return status;
  return code == NCCL_SUCCESS ? QM_OK
                              : nccl_failed (transport, what, code, error);
}

/* Ends what its streams wait for. */
static void
abort_comm (NcclTransport *transport)
{
  struct timespec deadline = qm_deadline (LAST_CALL);
  bool locked = false;

  /* A call that does not return waits for a stream that only this can end. */
  while (!(locked = pthread_mutex_trylock (&transport->lock) == 0)
         && qm_deadline_left (&deadline) > 0)
    nap (LOOK);
  if (transport->comm != NULL
      && qm_cuda_enter (transport->communicator->device, NULL) == QM_OK)
    transport->nccl.abort (transport->comm);
  transport->comm = NULL;
  if (locked)
    pthread_mutex_unlock (&transport->lock);
}

/* Passes on what NCCL found out by itself. */
static void
look_at_comm (NcclTransport *transport)
{
  int code = NCCL_SUCCESS;
  QmError error = { 0 };

  if (pthread_mutex_trylock (&transport->lock) != 0)
    return;
  if (transport->comm != NULL)
    {
      int asked = transport->nccl.async_error (transport->comm, &code);

      code = asked != NCCL_SUCCESS ? asked : code;
      if (code != NCCL_SUCCESS && code != NCCL_IN_PROGRESS)
        nccl_failed (transport, "it failed", code, &error);
    }
  pthread_mutex_unlock (&transport->lock);
  if (error.status != QM_OK)
    qm_world_fail (transport->communicator->world, "rank %d: %.200s",
                   transport->communicator->rank, error.message);
}

static void *
watch (void *data)
{
  NcclTransport *transport = data;
  QmWorld *world = transport->communicator->world;

  pthread_mutex_lock (&world->lock);
  while (!world->failed && !transport->ending)
    {
      struct timespec deadline = qm_deadline (WATCH);

      if (pthread_cond_timedwait (&world->changed, &world->lock, &deadline)
          == ETIMEDOUT)
        {
          pthread_mutex_unlock (&world->lock);
          look_at_comm (transport);
          pthread_mutex_lock (&world->lock);
        }
    }
  if (world->failed)
    {
      pthread_mutex_unlock (&world->lock);
      abort_comm (transport);
      return NULL;
    }
  pthread_mutex_unlock (&world->lock);
  return NULL;
}

static void
stop_watching (NcclTransport *transport)
{
  QmWorld *world = transport->communicator->world;

  if (!transport->watching)
    return;
  pthread_mutex_lock (&world->lock);
  transport->ending = true;
  pthread_cond_broadcast (&world->changed);
  pthread_mutex_unlock (&world->lock);
  pthread_join (transport->watcher, NULL);
  transport->watching = false;
}

/* When all ranks have done their work: together, as NCCL wants it. */
static void
nccl_finish (NcclTransport *transport)
{
  QmCommunicator *communicator = transport->communicator;
  const char own = 0;
  char *all = calloc ((size_t) communicator->world->ranks, 1);
  bool met = false;
  int code;

  /* Ends where the watcher aborts it. */
  if (qm_cuda_enter (communicator->device, NULL) == QM_OK)
    met = cudaDeviceSynchronize () == cudaSuccess;
  met = all != NULL && met
        && qm_host_gather (communicator->world, communicator->rank, TAG_END,
                           &own, all, sizeof own);
  free (all);
  stop_watching (transport);
  if (!met || transport->comm == NULL)
    return;
  code = transport->nccl.finalize (transport->comm);
  if (settle_nccl (transport, "it does not end", code, NULL) == QM_OK
      && transport->nccl.destroy (transport->comm) == NCCL_SUCCESS)
    transport->comm = NULL;
}

static void
close_transport (QmCommunicator *communicator)
{
  NcclTransport *transport = communicator->state;

  if (communicator->complete)
    nccl_finish (transport);
  stop_watching (transport);
  abort_comm (transport);
  pthread_mutex_destroy (&transport->lock);
  free (transport);
}

static int
type_of (QmType type)
{
  switch (type)
    {
    case QM_TYPE_F16:
      return NCCL_FLOAT16;
    case QM_TYPE_BF16:
      return NCCL_BFLOAT16;
    case QM_TYPE_F32:
    case QM_TYPE_I32:
    case QM_TYPE_E4M3:
    case QM_TYPE_E5M2:
    case QM_TYPE_NONE:
      break;
    }
  return NCCL_FLOAT32;
}

/* The lock is held. */
static int
call_nccl (const NcclTransport *transport,
           cudaStream_t stream,
           const QmCollective *call)
{
  const QmNccl *nccl = &transport->nccl;
  const int type = type_of (call->type);
  const size_t bytes = call->count * qm_type_size (call->type);

  switch (call->kind)
    {
    case QM_ALL_REDUCE:
      return nccl->all_reduce (call->from, call->to, call->count, type,
                               NCCL_SUM, transport->comm, stream);
    case QM_REDUCE_SCATTER:
      return nccl->reduce_scatter (call->from, call->to, call->count, type,
                                   NCCL_SUM, transport->comm, stream);
    case QM_ALL_GATHER:
      return nccl->all_gather (call->from, call->to, bytes, NCCL_UINT8,
                               transport->comm, stream);
    case QM_COLLECTIVE_END:
      break;
    }
  return NCCL_SUCCESS;
}

static QmStatus
nccl_queue (QmCommunicator *communicator,
            QmStream *stream,
            const QmCollective *call,
            QmError *error)
{
  NcclTransport *transport = communicator->state;
  QmStatus status = qm_cuda_enter (communicator->device, error);
  int code = NCCL_SUCCESS;

  if (status != QM_OK || call->count == 0)
    return status;
  pthread_mutex_lock (&transport->lock);
  if (transport->comm == NULL)
    status = was_aborted (transport, error);
  else
    code = call_nccl (transport, qm_cuda_stream (stream), call);
  pthread_mutex_unlock (&transport->lock);
  if (status != QM_OK)
    return status;
  return settle_nccl (transport, qm_collective_name ((uint32_t) call->kind),
                      code, error);
}

/* Rank 0 makes the name of the communicator, and all get it. */
static QmStatus
share_id (NcclTransport *transport, ncclUniqueId *id, QmError *error)
{
  QmCommunicator *communicator = transport->communicator;
  size_t ranks = (size_t) communicator->world->ranks;
  Invitation *all = calloc (ranks, sizeof *all);
  Invitation own = { .status = 0 };
  QmStatus status = QM_OK;
  int code;

  if (all == NULL)
    return qm_error_no_memory (error);
  if (communicator->rank == 0)
    {
      code = transport->nccl.get_unique_id (&own.id);
      own.status = code != NCCL_SUCCESS;
      if (code != NCCL_SUCCESS)
        snprintf (own.why, sizeof own.why, "%s",
                  transport->nccl.error_string (code));
    }
  if (!qm_host_gather (communicator->world, communicator->rank, TAG_ID, &own,
                       all, sizeof own))
    status = qm_world_check (communicator->world, error);
  else if (all[0].status != 0)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                           "NCCL does not start: %.*s", (int) sizeof all[0].why,
                           all[0].why);
  *id = all[0].id;
  free (all);
  return status;
}

/* Brings the ranks together; all of them call it. */
static QmStatus
connect_ranks (NcclTransport *transport, const ncclUniqueId *id, QmError *error)
{
  QmCommunicator *communicator = transport->communicator;
  QmNcclConfig config = { .size = sizeof config,
                          .magic = NCCL_CONFIG_MAGIC,
                          .version = NCCL_CONFIG_VERSION,
                          .blocking = 0 };
  QmStatus status = qm_cuda_enter (communicator->device, error);
  int code;

  if (status != QM_OK)
    return status;
  code = transport->nccl.init (&transport->comm, communicator->world->ranks,
                               *id, communicator->rank, &config);
  if (code != NCCL_SUCCESS && code != NCCL_IN_PROGRESS)
    return nccl_failed (transport, "it does not start", code, error);
  if (pthread_create (&transport->watcher, NULL, watch, transport) != 0)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the system gives no thread");
  transport->watching = true;
  return settle_nccl (transport, "it does not start", code, error);
}

/* The others would wait for this rank. */
static QmStatus
fail_for_all (const NcclTransport *transport,
              QmStatus status,
              const QmError *error)
{
  const QmCommunicator *communicator = transport->communicator;

  if (status != QM_OK)
    qm_world_fail (communicator->world, "rank %d: %.200s", communicator->rank,
                   error->message);
  return status;
}

static QmStatus
load_nccl (NcclTransport *transport, QmError *error)
{
  QmStatus status = qm_nccl_load (&transport->nccl, error);

  if (status == QM_OK && transport->nccl.library.handle == NULL)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0, "%.200s",
                           transport->nccl.library.note);
  return status;
}

QmStatus
qm_nccl_transport_open (QmCommunicator *communicator, QmError *error)
{
  static const QmTransportWays ways = { nccl_queue, close_transport };
  NcclTransport *transport = calloc (1, sizeof *transport);
  ncclUniqueId id;
  QmStatus status;

  if (transport == NULL)
    return qm_error_no_memory (error);
  transport->communicator = communicator;
  pthread_mutex_init (&transport->lock, NULL);
  communicator->state = transport;
  status = fail_for_all (transport, load_nccl (transport, error), error);
  if (status == QM_OK)
    status = share_id (transport, &id, error);
  if (status == QM_OK)
    status =
        fail_for_all (transport, connect_ranks (transport, &id, error), error);
  if (status == QM_OK)
    communicator->ways = &ways;
  else
    close_transport (communicator);
  return status;
}
