/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-between.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "engine/links.h"

/* Bytes of the least exchange. */
#define LEAST ((size_t) 4096)

QmStatus
qm_bench_time_two (QmCommunicator *communicator,
                   const QmBenchEnd *end,
                   QmBenchBetween *found,
                   QmError *error)
{
  size_t bytes = end->bytes / (2 * sizeof (float)) * (2 * sizeof (float));
  double seconds = 0;
  QmStatus status =
      qm_links_time (communicator, end->device, QM_LINKS_ALL_GATHER,
                     end->memory, bytes, &seconds, error);

  if (status == QM_OK)
    status = qm_links_time (communicator, end->device, QM_LINKS_ALL_GATHER,
                            end->memory, LEAST, &found->latency, error);
  found->bandwidth =
      qm_links_bandwidth (QM_LINKS_ALL_GATHER, 2, bytes, seconds);
  return status;
}

/* Two machines that have met. */
typedef struct Meeting
{
  const QmBenchOptions *options;
  const QmBenchEnd *end;
  QmTransport transport;
  QmWorld *world;
  QmCommunicator *communicator;
  QmBenchBetween found;
} Meeting;

static QmStatus
time_meeting (void *data, int number, QmError *error)
{
  Meeting *meeting = data;
  int rank = qm_bench_follows (meeting->options) ? 1 : 0;
  QmStatus status =
      qm_communicator_new (meeting->world, rank, meeting->end->device,
                           meeting->transport, &meeting->communicator, error);

  return status == QM_OK
             ? qm_bench_time_two (meeting->communicator, meeting->end,
                                  &meeting->found, error)
             : status;
}

static void
leave_meeting (void *data, int number)
{
  Meeting *meeting = data;

  qm_communicator_free (meeting->communicator);
}

/* Of the first machine and this one, or of this first one and another. */
static QmStatus
meet_machine (const QmBenchOptions *options,
              const QmBenchEnd *end,
              QmTransport transport,
              QmBenchBetween *found,
              QmError *error)
{
  Meeting meeting = { .options = options, .end = end, .transport = transport };
  QmStatus status = qm_bench_join_first (options, &meeting.world, error);

  if (status == QM_OK)
    status =
        qm_bench_ranks_do (qm_bench_follows (options) ? 1 : 0, 1, meeting.world,
                           time_meeting, leave_meeting, &meeting, error);
  qm_world_free (meeting.world);
  *found = meeting.found;
  return status;
}

/* A machine has its turn when all have come to it: they meet where the first
 * one listens, which can be for one other at a time. */
static QmStatus
take_turns (const QmBenchOptions *options,
            const QmBenchEnd *end,
            QmTransport transport,
            QmCommunicator *all,
            QmBenchBetween *found,
            QmError *error)
{
  int self = options->nodes.self;
  QmStatus status = QM_OK;

  for (int turn = 1; turn < options->nodes.count && status == QM_OK; turn++)
    {
      QmBenchBetween own;
      double here = 1;

      if (qm_bench_interrupted ())
        status = qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
      if (status == QM_OK)
        status = qm_communicator_agree (all, QM_AGREE_SUM, &here, 1, error);
      if (status == QM_OK && (self == 0 || self == turn))
        status = meet_machine (options, end, transport,
                               self == 0 ? &found[turn - 1] : &own, error);
    }
  /* Nobody goes before all are done. */
  if (status == QM_OK)
    {
      double here = 1;

      status = qm_communicator_agree (all, QM_AGREE_SUM, &here, 1, error);
    }
  return status;
}

QmStatus
qm_bench_time_between (const QmBenchOptions *options,
                       const QmBenchEnd *end,
                       QmTransport transport,
                       QmBenchBetween *found,
                       QmError *error)
{
  QmWorld *world = NULL;
  QmCommunicator *all = NULL;
  QmStatus status = qm_bench_join (options, NULL, 1, 0, &world, error);

  if (status == QM_OK)
    status = qm_communicator_new (world, options->nodes.self, end->device,
                                  QM_TRANSPORT_HOST, &all, error);
  if (status == QM_OK)
    status = take_turns (options, end, transport, all, found, error);
  if (status != QM_OK && world != NULL)
    qm_world_abort (world, options->nodes.self,
                    error != NULL ? error->message : "it failed");
  qm_communicator_free (all);
  qm_world_free (world);
  return status;
}
