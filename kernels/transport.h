/* SPDX-License-Identifier: Apache-2.0 */

/* What a transport implements.  Only for kernels/; everybody else uses
 * kernels/communicator.h. */

#ifndef QM_KERNELS_TRANSPORT_H
#define QM_KERNELS_TRANSPORT_H

#include "kernels/host/host-exchange.h"

/* A call, as the functions of kernels/communicator.h were called; checked. */
typedef struct QmCollective
{
  QmCollectiveKind kind;
  const void *from;
  void *to;
  size_t count;
  QmType type;
} QmCollective;

typedef struct QmTransportWays
{
  QmStatus (*queue) (QmCommunicator *communicator,
                     QmStream *stream,
                     const QmCollective *call,
                     QmError *error);
  void (*close) (QmCommunicator *communicator);
} QmTransportWays;

struct QmCommunicator
{
  QmWorld *world;
  QmDevice *device;
  int rank;
  QmTransport transport;
  const QmTransportWays *ways; /* NULL: it was not opened */
  void *state;                 /* of the transport */
  bool complete;               /* all ranks have opened it */
  QmTransportTrial trial;
};

/* As qm_communicator_new(), but with `staged` the host transport takes the way
 * of GPUs, through memory of its own, on any device: so that it can be tried
 * without one. */
QmStatus qm_communicator_new_staged (QmWorld *world,
                                     int rank,
                                     QmDevice *device,
                                     QmTransport transport,
                                     bool staged,
                                     QmCommunicator **communicator,
                                     QmError *error);

/* Bytes that go through the host in one go. */
#define QM_HOST_TRANSPORT_BYTES ((size_t) 8 << 20)

/* Fill in ways and state; where that fails, there is nothing to close.  All
 * ranks call them together, and close them together if all have opened them. */
QmStatus qm_host_transport_open (QmCommunicator *communicator,
                                 bool staged,
                                 QmError *error);
QmStatus qm_nccl_transport_open (QmCommunicator *communicator, QmError *error);

/* Waits for all ranks, and fails everywhere where it failed somewhere. */
QmStatus qm_transport_settle (QmCommunicator *communicator,
                              QmStatus status,
                              QmError *error);

/* What follows is transport-trial.c: a choice between two transports. */

/* Of a rank: others of its machine, and those of them whose memory it may
 * read. */
typedef struct QmReach
{
  uint32_t neighbours, readable;
} QmReach;

/* Whether only a trial can tell which way is the faster one: some ranks are of
 * one machine, and none may read another's memory.  Each knows its own reach,
 * and all come to the same. */
QmStatus qm_transport_question (QmCommunicator *communicator,
                                const QmReach *own,
                                bool *open,
                                QmError *error);

/* Seconds of a sum, of a rank. */
typedef struct QmTrialTimes
{
  double nccl, host;
} QmTrialTimes;

/* The one whose slowest rank is the faster, NCCL where they are equal; and what
 * they took. */
QmTransport qm_transport_faster (const QmTrialTimes *times,
                                 int ranks,
                                 QmTransportTrial *trial);

/* One of two that are tried. */
typedef struct QmTransportWay
{
  QmTransport transport; /* QM_TRANSPORT_HOST or _NCCL */
  QmStatus (*open) (QmCommunicator *communicator, QmError *error);
} QmTransportWay;

/* Opens one after the other, sums `bytes` over all ranks a few times, and
 * leaves the faster one open, of all ranks the same; `trial` of the
 * communicator has what both took.  All ranks call it together. */
QmStatus qm_transport_try (QmCommunicator *communicator,
                           const QmTransportWay ways[2],
                           size_t bytes,
                           QmError *error);

#endif
