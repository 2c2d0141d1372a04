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

#endif
