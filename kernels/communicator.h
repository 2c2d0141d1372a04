/* SPDX-License-Identifier: Apache-2.0 */

/* What several devices do together: sums and copies between them.
 *
 * A world is the ranks that train together, one device and one thread each; the
 * ranks of one machine belong to one process.  Every rank calls the same
 * functions in the same order with the same counts; where they differ, all
 * fail, unless it is NCCL, which does not notice.  What a rank queues on a
 * stream of its device happens in the order of that stream, and is recorded
 * between capture begin and end like an operator.  Where several streams of a
 * device are used, or captures are launched, one waits for the other, so that a
 * communicator has one thing to do at a time.
 *
 * Two ways lead from device to device: NCCL, which is loaded when it is first
 * asked for, and the memory of the host, through which copies go to where a
 * thread of the host adds them up; between machines it is sockets.  The second
 * is how CPU devices talk.  GPUs take the first where one of a machine may read
 * another's memory; where none may, both go through the host, and the one that
 * is the faster by measurement is taken.
 *
 * A rank that fails, or is told to stop, ends the waits of all others, which
 * fail with QM_STATUS_DEVICE and the sentence of the first that failed.  What
 * fails in a stream, after it was queued, is told by the next call and by
 * qm_world_check(), not by the stream: whoever has waited for one looks there
 * before using what came of it.
 */

#ifndef QM_KERNELS_COMMUNICATOR_H
#define QM_KERNELS_COMMUNICATOR_H

#include "kernels/device.h"
#include "kernels/tensor.h"

typedef struct QmWorld QmWorld;
typedef struct QmCommunicator QmCommunicator;

/* How data gets from device to device. */
typedef enum QmTransport
{
  QM_TRANSPORT_AUTO, /* between GPUs NCCL, or the faster of both; else the host
                      */
  QM_TRANSPORT_NCCL,
  QM_TRANSPORT_HOST
} QmTransport;

/* "auto", "nccl", "host"; static. */
const char *qm_transport_name (QmTransport transport);

/* Bytes that the exchange of so many ranks takes of the memory of each such
 * device, for itself: of one rank and of a CPU none.  What NCCL took on two
 * H200 joined by NVLink, 925 to 949 million bytes more than on one in 38
 * trainings (NCCL 2.28.3, 24 November 2026); plans that have it were then right
 * within 0.06 % on two and eight; through the memory of the host it is next to
 * nothing. */
uint64_t qm_communicator_reserved (const QmTarget *target, int ranks);

/* Who takes part. */
typedef struct QmWorldOptions
{
  int ranks; /* of all processes, 1 to QM_WORLD_MAX */
  int first; /* the first rank of this process */
  int local; /* and how many it has */
  /* "HOST:PORT" where the process of rank 0 listens; NULL: there is one
   * process. */
  const char *rendezvous;
  /* Seconds until a rank that does not come, or does not go on, is given up;
   * 0: 120.  Not of work that streams do with NCCL, which waits as long as the
   * ranks are there. */
  double patience;
  /* Seconds to wait for all processes to come; 0: as `patience`. */
  double coming;
  /* What only processes of this world know, of any length; NULL: nothing.  Who
   * comes with another is sent away, and the others go on waiting.  A digest of
   * it goes over the network: it keeps out who cannot listen there. */
  const char *secret;
  /* The version of the program and what it is about to do, which have to be
   * equal in all processes; NULL: not compared. */
  const char *version, *purpose;
  /* Seconds that another process may be silent, which says twice a second that
   * it lives, before it is taken for lost; 0: 8. */
  double silence;
} QmWorldOptions;

enum
{
  QM_WORLD_MAX = 1024
};

/* Makes the world as this process sees it; with several processes, waits until
 * all have come.  QM_STATUS_INVALID for counts that do not fit each other or
 * those of another process; QM_STATUS_GONE, naming the ranks that did not come,
 * where some did not; QM_STATUS_IO for a place where nobody can meet.  Any of
 * its threads may use it afterwards. */
QmStatus
qm_world_new (const QmWorldOptions *options, QmWorld **world, QmError *error);

/* Once no communicator of it is left; NULL is allowed. */
void qm_world_free (QmWorld *world);

/* Whether it failed because a process of it is gone, or silent: where nobody
 * can be met again.  Only after it failed. */
bool qm_world_lost (QmWorld *world);

/* Of all processes. */
int qm_world_ranks (const QmWorld *world);

/* Ends the waits of all ranks, of other processes too, now and from now on;
 * `why` is a sentence, which names the rank.  From any thread; the first call
 * counts. */
void qm_world_abort (QmWorld *world, int rank, const char *why);

/* Whether somebody did so, or a process is gone; fills the error with the
 * sentence. */
QmStatus qm_world_check (QmWorld *world, QmError *error);

/* Whether NCCL can be used; `note`, of `size` bytes, becomes its version and
 * file, "NCCL 2.28.3 (/usr/lib/...)", or a sentence why not. */
bool qm_nccl_find (char *note, size_t size);

/* Brings the ranks together: called by the thread of each, waits until all have
 * called it, with the same transport.  The device is kept and must outlive it.
 * QM_STATUS_UNSUPPORTED, with a sentence why, where this transport cannot be
 * used: for all ranks, which can then try another.  A rank has one at a time
 * (QM_STATUS_INVALID).  With QM_TRANSPORT_AUTO some sums may be timed, for
 * which a GPU needs 64 MiB of its memory. */
QmStatus qm_communicator_new (QmWorld *world,
                              int rank,
                              QmDevice *device,
                              QmTransport transport,
                              QmCommunicator **communicator,
                              QmError *error);

/* Waits for the work of its device first and, of NCCL, for all ranks to free
 * theirs, unless the world was aborted; NULL is allowed.  Captures with its
 * calls are not launched any more. */
void qm_communicator_free (QmCommunicator *communicator);

/* Which one this is, and of how many. */
int qm_communicator_rank (const QmCommunicator *communicator);
int qm_communicator_ranks (const QmCommunicator *communicator);

/* What it became: QM_TRANSPORT_NCCL or _HOST. */
QmTransport qm_communicator_transport (const QmCommunicator *communicator);

/* How long a sum over all ranks took both ways. */
typedef struct QmTransportTrial
{
  size_t bytes;      /* of each rank; 0: they were not tried */
  double nccl, host; /* seconds, of the slowest rank */
} QmTransportTrial;

/* What it was taken for, where that was tried: of all ranks the same. */
QmTransportTrial qm_communicator_trial (const QmCommunicator *communicator);

/* qm_world_abort() of its world by this rank, whose number `why` gets before
 * it, and qm_world_check(). */
void qm_communicator_abort (QmCommunicator *communicator, const char *why);
QmStatus qm_communicator_check (const QmCommunicator *communicator,
                                QmError *error);

/* The type of sums is QM_TYPE_F32, _F16 or _BF16, of copies any; `count` of
 * elements may be 0. Sums through the host are taken in fp32 in the order of
 * the ranks, and rounded once; those of NCCL are taken in the type of the
 * elements, in an order of its own.
 *
 * Queues the sum of all ranks' `count` elements of `from` into `to` of every
 * rank; they may be the same memory. */
QmStatus qm_all_reduce (QmCommunicator *communicator,
                        QmStream *stream,
                        const void *from,
                        void *to,
                        size_t count,
                        QmType type,
                        QmError *error);

/* Queues the sum of all ranks' ranks x `count` elements of `from`; rank r gets
 * the r-th `count` of them in `to`, which may be that part of `from`. */
QmStatus qm_reduce_scatter (QmCommunicator *communicator,
                            QmStream *stream,
                            const void *from,
                            void *to,
                            size_t count,
                            QmType type,
                            QmError *error);

/* Queues copying `count` elements of every rank's `from` to the r-th `count` of
 * `to` of all; `from` may be that part of `to`. */
QmStatus qm_all_gather (QmCommunicator *communicator,
                        QmStream *stream,
                        const void *from,
                        void *to,
                        size_t count,
                        QmType type,
                        QmError *error);

/* How the values of all ranks become one. */
typedef enum QmAgreement
{
  QM_AGREE_MAXIMUM,
  QM_AGREE_MINIMUM,
  QM_AGREE_SUM
} QmAgreement;

/* Waits until all ranks have brought their `n` values (at most 64), and makes
 * each the maximum, the minimum or, in the order of the ranks, the sum of
 * theirs: what all have to decide alike.  Of the host; no device waits. */
QmStatus qm_communicator_agree (QmCommunicator *communicator,
                                QmAgreement agreement,
                                double *values,
                                size_t n,
                                QmError *error);

/* Waits until all ranks have brought their `bytes` (at most 4096), and fills
 * `all`, as many times as there are ranks, with those of each in their order.
 */
QmStatus qm_communicator_gather (QmCommunicator *communicator,
                                 const void *own,
                                 void *all,
                                 size_t bytes,
                                 QmError *error);

/* Waits until all ranks have come, and fills the `bytes` (at most 4096) of each
 * with those of rank 0. */
QmStatus qm_communicator_tell (QmCommunicator *communicator,
                               void *data,
                               size_t bytes,
                               QmError *error);

#endif
