/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "kernels/communicator.h"

#include "kernels/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef QM_HAVE_CUDA
bool
qm_nccl_find (char *note, size_t size)
{
  snprintf (note, size, "This program was built without CUDA.");
  return false;
}

QmStatus
qm_nccl_transport_open (QmCommunicator *communicator, QmError *error)
{
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "this program was built without CUDA");
}
#endif

static const char *const transport_names[] = { "auto", "nccl", "host" };

#define NCCL_BYTES (UINT64_C (896) << 20)

uint64_t
qm_communicator_reserved (const QmTarget *target, int ranks)
{
  return target->kind == QM_DEVICE_CUDA && ranks > 1 ? NCCL_BYTES : 0;
}

const char *
qm_transport_name (QmTransport transport)
{
  return transport_names[transport];
}

/* What every rank tells the others before they choose; what is compared is the
 * same only for the same. */
typedef struct Offer
{
  uint32_t wish;
  uint32_t is_gpu;
  uint32_t has_nccl;
  uint32_t zero;
  char host[64];
  char id[32];  /* of the device */
  char bus[32]; /* of the GPU */
  char note[160];
} Offer;

/* How it went. */
typedef struct Outcome
{
  uint32_t status;
  char message[252];
} Outcome;

enum
{
  TAG_OFFER = 1000,
  TAG_OUTCOME,
  TAG_TELL,
  TAG_GATHER
};

/* Fills `all`, one of each rank, with what all have. */
static QmStatus
share (QmCommunicator *communicator,
       uint32_t tag,
       const void *own,
       void *all,
       size_t bytes,
       QmError *error)
{
  if (qm_host_gather (communicator->world, communicator->rank, tag, own, all,
                      bytes))
    return QM_OK;
  return qm_world_check (communicator->world, error);
}

static void
make_offer (const QmCommunicator *communicator,
            QmTransport transport,
            Offer *offer)
{
  const QmDeviceInfo *info = qm_device_info (communicator->device);

  memset (offer, 0, sizeof *offer);
  offer->wish = (uint32_t) transport;
  offer->is_gpu = qm_target_is_gpu (&info->target);
  if (gethostname (offer->host, sizeof offer->host - 1) != 0)
    offer->host[0] = '\0';
  snprintf (offer->id, sizeof offer->id, "%s", info->id);
  snprintf (offer->bus, sizeof offer->bus, "%s", info->bus);
  if (transport != QM_TRANSPORT_HOST && offer->is_gpu)
    offer->has_nccl = qm_nccl_find (offer->note, sizeof offer->note);
}

/* Another rank that has the same GPU, or -1. */
static int
find_twin (const Offer *offers, int rank)
{
  for (int i = 0; i < rank; i++)
    if (memcmp (offers[i].host, offers[rank].host, sizeof offers[i].host) == 0
        && memcmp (offers[i].bus, offers[rank].bus, sizeof offers[i].bus) == 0)
      return i;
  return -1;
}

/* Whether all can use NCCL; says why not. */
static bool
can_use_nccl (const Offer *offers, int ranks, char *why, size_t size)
{
  for (int i = 0; i < ranks; i++)
    {
      int twin = offers[i].is_gpu ? find_twin (offers, i) : -1;

      if (!offers[i].is_gpu)
        snprintf (why, size, "NCCL is for NVIDIA GPUs, and rank %d has none",
                  i);
      else if (!offers[i].has_nccl)
        snprintf (why, size, "NCCL cannot be used by rank %d: %.*s", i,
                  (int) sizeof offers[i].note, offers[i].note);
      else if (twin >= 0)
        snprintf (why, size,
                  "ranks %d and %d have the same GPU, and NCCL wants one each",
                  twin, i);
      else
        continue;
      return false;
    }
  return true;
}

/* All come to the same, as all have the same offers. */
static QmStatus
choose_transport (const Offer *offers,
                  int ranks,
                  QmTransport *transport,
                  QmError *error)
{
  char why[256] = "";
  QmTransport wish = (QmTransport) offers[0].wish;

  for (int i = 1; i < ranks; i++)
    if (offers[i].wish != offers[0].wish || offers[i].wish > QM_TRANSPORT_HOST)
      return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "rank %d asked for another transport than rank 0",
                           i);
  *transport = QM_TRANSPORT_HOST;
  if (wish == QM_TRANSPORT_HOST)
    return QM_OK;
  if (can_use_nccl (offers, ranks, why, sizeof why))
    *transport = QM_TRANSPORT_NCCL;
  else if (wish == QM_TRANSPORT_NCCL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0, "%s", why);
  return QM_OK;
}

/* How many of this machine there are besides this one, and may be read. */
static QmReach
find_reach (const QmCommunicator *communicator, const Offer *offers)
{
  const QmWorld *world = communicator->world;
  const Offer *own = &offers[communicator->rank];
  QmReach reach = { 0 };

  for (int i = world->first; i < world->first + world->local; i++)
    if (i != communicator->rank)
      {
        reach.neighbours++;
        reach.readable += qm_device_peers (own->id, offers[i].id);
      }
  return reach;
}

/* And whether that has to be tried. */
static QmStatus
agree_on_transport (QmCommunicator *communicator,
                    QmTransport transport,
                    bool *open,
                    QmError *error)
{
  int ranks = communicator->world->ranks;
  Offer *offers = calloc ((size_t) ranks, sizeof *offers);
  Offer own;
  QmStatus status;

  if (offers == NULL)
    return qm_error_no_memory (error);
  make_offer (communicator, transport, &own);
  status = share (communicator, TAG_OFFER, &own, offers, sizeof own, error);
  if (status == QM_OK)
    status = choose_transport (offers, ranks, &communicator->transport, error);
  *open = false;
  if (status == QM_OK && transport == QM_TRANSPORT_AUTO
      && communicator->transport == QM_TRANSPORT_NCCL)
    {
      const QmReach reach = find_reach (communicator, offers);

      status = qm_transport_question (communicator, &reach, open, error);
    }
  free (offers);
  return status;
}

QmStatus
qm_transport_settle (QmCommunicator *communicator,
                     QmStatus status,
                     QmError *error)
{
  int ranks = communicator->world->ranks;
  Outcome *all = calloc ((size_t) ranks, sizeof *all);
  Outcome own = { .status = (uint32_t) status };
  QmStatus shared;

  if (all == NULL)
    return qm_error_no_memory (error);
  if (status != QM_OK)
    snprintf (own.message, sizeof own.message, "%.250s", error->message);
  shared = share (communicator, TAG_OUTCOME, &own, all, sizeof own, error);
  for (int i = 0; i < ranks && shared == QM_OK; i++)
    if (all[i].status != QM_OK)
      shared = qm_error_set (error,
                             all[i].status <= QM_STATUS_USAGE
                                 ? (QmStatus) all[i].status
                                 : QM_STATUS_DEVICE,
                             "", 0, 0, "rank %d: %.*s", i,
                             (int) sizeof all[i].message, all[i].message);
  free (all);
  return shared;
}

static QmStatus
open_staged (QmCommunicator *communicator, QmError *error)
{
  return qm_host_transport_open (communicator, true, error);
}

/* That ranks exchange in a step, or more of it. */
#define TRIAL_BYTES ((size_t) 64 << 20)

static QmStatus
open_transport (QmCommunicator *communicator,
                QmTransport transport,
                bool staged,
                QmError *error)
{
  static const QmTransportWay ways[2] = { { QM_TRANSPORT_HOST, open_staged },
                                          { QM_TRANSPORT_NCCL,
                                            qm_nccl_transport_open } };
  bool open = false;
  QmStatus status = agree_on_transport (communicator, transport, &open, error);

  if (status != QM_OK)
    return status;
  if (open)
    return qm_transport_try (communicator, ways, TRIAL_BYTES, error);
  if (communicator->transport == QM_TRANSPORT_NCCL)
    status = qm_nccl_transport_open (communicator, error);
  else
    status = qm_host_transport_open (communicator, staged, error);
  status = qm_transport_settle (communicator, status, error);
  communicator->complete = status == QM_OK;
  return status;
}

/* A rank has one communicator: streams meet on one channel. */
static QmStatus
take_rank (QmWorld *world, int rank, bool taken, QmError *error)
{
  QmStatus status = QM_OK;

  if (rank < world->first || rank >= world->first + world->local)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "rank %d is not of this process", rank);
  pthread_mutex_lock (&world->lock);
  if (taken && world->taken[rank - world->first])
    status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "rank %d has a communicator", rank);
  else
    world->taken[rank - world->first] = taken;
  pthread_mutex_unlock (&world->lock);
  return status;
}

static void
drop (QmCommunicator *communicator)
{
  if (communicator->ways != NULL)
    communicator->ways->close (communicator);
  take_rank (communicator->world, communicator->rank, false, NULL);
  free (communicator);
}

QmStatus
qm_communicator_new_staged (QmWorld *world,
                            int rank,
                            QmDevice *device,
                            QmTransport transport,
                            bool staged,
                            QmCommunicator **communicator,
                            QmError *error)
{
  QmError own = { 0 };
  QmStatus status = take_rank (world, rank, true, error);
  QmCommunicator *new;

  *communicator = NULL;
  if (status != QM_OK)
    return status;
  new = calloc (1, sizeof *new);
  if (new == NULL)
    {
      take_rank (world, rank, false, NULL);
      return qm_error_no_memory (error);
    }
  new->world = world;
  new->device = device;
  new->rank = rank;
  status =
      open_transport (new, transport, staged, error != NULL ? error : &own);
  if (status == QM_OK)
    *communicator = new;
  else
    drop (new);
  return status;
}

QmStatus
qm_communicator_new (QmWorld *world,
                     int rank,
                     QmDevice *device,
                     QmTransport transport,
                     QmCommunicator **communicator,
                     QmError *error)
{
  return qm_communicator_new_staged (
      world, rank, device, transport,
      qm_target_is_gpu (&qm_device_info (device)->target), communicator, error);
}

void
qm_communicator_free (QmCommunicator *communicator)
{
  if (communicator != NULL)
    drop (communicator);
}

void
qm_communicator_abort (QmCommunicator *communicator, const char *why)
{
  char sentence[QM_WORLD_WHY];

  snprintf (sentence, sizeof sentence, "rank %d: %s", communicator->rank, why);
  qm_world_abort (communicator->world, communicator->rank, sentence);
}

QmStatus
qm_communicator_check (const QmCommunicator *communicator, QmError *error)
{
  return qm_world_check (communicator->world, error);
}

int
qm_communicator_rank (const QmCommunicator *communicator)
{
  return communicator->rank;
}

int
qm_communicator_ranks (const QmCommunicator *communicator)
{
  return communicator->world->ranks;
}

QmTransport
qm_communicator_transport (const QmCommunicator *communicator)
{
  return communicator->transport;
}

QmTransportTrial
qm_communicator_trial (const QmCommunicator *communicator)
{
  return communicator->trial;
}

static QmStatus
check_call (const QmCommunicator *communicator,
            const QmCollective *call,
            QmError *error)
{
  const char *name = qm_collective_name ((uint32_t) call->kind);
  size_t size = qm_type_size (call->type);
  bool sums = call->kind == QM_ALL_REDUCE || call->kind == QM_REDUCE_SCATTER;

  if (size == 0 || (sums && call->type == QM_TYPE_I32))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%s: not for the type %s", name,
                         qm_type_name (call->type));
  if (call->count > SIZE_MAX / size / (size_t) communicator->world->ranks)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%s: there are no %zu elements", name, call->count);
  return QM_OK;
}

/* A rank that cannot queue a call would be waited for.  Its error stays its
 * own, unless the world has failed before. */
static QmStatus
queue_checked (QmCommunicator *communicator,
               QmStream *stream,
               const QmCollective *call,
               QmError *error)
{
  QmWorld *world = communicator->world;
  QmError own = { 0 };
  QmStatus status = check_call (communicator, call, error);

  if (status == QM_OK)
    status = qm_world_check (world, error);
  if (status != QM_OK)
    return status;
  status = communicator->ways->queue (communicator, stream, call, &own);
  if (status == QM_OK || qm_world_check (world, NULL) != QM_OK)
    return qm_world_check (world, error);
  qm_world_fail (world, "rank %d: %s", communicator->rank, own.message);
  if (error != NULL)
    *error = own;
  return status;
}

QmStatus
qm_all_reduce (QmCommunicator *communicator,
               QmStream *stream,
               const void *from,
               void *to,
               size_t count,
               QmType type,
               QmError *error)
{
  const QmCollective call = { QM_ALL_REDUCE, from, to, count, type };

  return queue_checked (communicator, stream, &call, error);
}

QmStatus
qm_reduce_scatter (QmCommunicator *communicator,
                   QmStream *stream,
                   const void *from,
                   void *to,
                   size_t count,
                   QmType type,
                   QmError *error)
{
  const QmCollective call = { QM_REDUCE_SCATTER, from, to, count, type };

  return queue_checked (communicator, stream, &call, error);
}

QmStatus
qm_all_gather (QmCommunicator *communicator,
               QmStream *stream,
               const void *from,
               void *to,
               size_t count,
               QmType type,
               QmError *error)
{
  const QmCollective call = { QM_ALL_GATHER, from, to, count, type };

  return queue_checked (communicator, stream, &call, error);
}

static double
agree_on (QmAgreement agreement, double a, double b)
{
  switch (agreement)
    {
    case QM_AGREE_MAXIMUM:
      return b > a ? b : a;
    case QM_AGREE_MINIMUM:
      return b < a ? b : a;
    case QM_AGREE_SUM:
      break;
    }
  return a + b;
}

QmStatus
qm_communicator_agree (QmCommunicator *communicator,
                       QmAgreement agreement,
                       double *values,
                       size_t n,
                       QmError *error)
{
  const size_t most = 64;
  size_t ranks = (size_t) communicator->world->ranks;
  double *all;
  QmStatus status;

  if (n > most)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "ranks agree on up to %zu numbers, not %zu", most, n);
  all = calloc (ranks * n + 1, sizeof *all);
  if (all == NULL)
    return qm_error_no_memory (error);
  status = share (communicator, (uint32_t) agreement, values, all,
                  n * sizeof *all, error);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      values[i] = all[i];
      for (size_t r = 1; r < ranks; r++)
        values[i] = agree_on (agreement, values[i], all[r * n + i]);
    }
  free (all);
  return status;
}

/* Bytes that a rank tells the others at a time. */
static QmStatus
check_told (size_t bytes, QmError *error)
{
  const size_t most = 4096;

  if (bytes <= most)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "ranks are told up to %zu bytes, not %zu", most, bytes);
}

QmStatus
qm_communicator_gather (QmCommunicator *communicator,
                        const void *own,
                        void *all,
                        size_t bytes,
                        QmError *error)
{
  QmStatus status = check_told (bytes, error);

  return status == QM_OK
             ? share (communicator, TAG_GATHER, own, all, bytes, error)
             : status;
}

QmStatus
qm_communicator_tell (QmCommunicator *communicator,
                      void *data,
                      size_t bytes,
                      QmError *error)
{
  unsigned char *all;
  QmStatus status = check_told (bytes, error);

  if (status != QM_OK)
    return status;
  all = calloc ((size_t) communicator->world->ranks + 1, bytes + 1);
  if (all == NULL)
    return qm_error_no_memory (error);
  status = share (communicator, TAG_TELL, data, all, bytes, error);
  if (status == QM_OK)
    memcpy (data, all, bytes);
  free (all);
  return status;
}
