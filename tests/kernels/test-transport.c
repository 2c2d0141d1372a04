/* SPDX-License-Identifier: Apache-2.0 */

/* The choice between two ways of exchange: which times mean which way, that all
 * ranks come to the same, and that what is left open works.  What stands for
 * NCCL here is the host's way, too, one of the two slowed down. */

#include "kernels/backend.h"
#include "tests/data/check.h"
#include "tests/kernels/ranks.h"

#include <string.h>
#include <time.h>

/* How ranks try, and what came of it. */
typedef struct Trial
{
  QmTransport slow; /* which of both is */
  int failing;      /* rank that cannot open that one; -1: none */
  int sums;         /* that it opens and does before it fails; -1: none */
  atomic_int opened, closed, summed;
  QmTransportTrial said[4];
  QmTransport taken[4];
} Trial;

static const char trouble[] = "it has no thumbs";
static Trial trial;
static const QmTransportWays *_Atomic plain;

static QmStatus
queue_plain (QmCommunicator *communicator,
             QmStream *stream,
             const QmCollective *call,
             QmError *error)
{
  return atomic_load (&plain)->queue (communicator, stream, call, error);
}

static QmStatus
fall_off (QmDevice *device, QmStream *stream, QmError *error)
{
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "%s", trouble);
}

/* As of a GPU, which takes what is queued and does not do it, and is heard of
 * when its stream is waited for; the others are in the sum. */
static bool
has_fallen_off (QmCommunicator *communicator)
{
  static QmBackend broken;

  if (communicator->rank != trial.failing || trial.sums < 0
      || atomic_fetch_add (&trial.summed, 1) < trial.sums)
    return false;
  broken = *communicator->device->backend;
  broken.stream_synchronize = fall_off;
  communicator->device->backend = &broken;
  return true;
}

/* One rank is late, and all wait for it. */
static QmStatus
queue_slowly (QmCommunicator *communicator,
              QmStream *stream,
              const QmCollective *call,
              QmError *error)
{
  const struct timespec nap = { .tv_nsec = 20000000 };

  if (has_fallen_off (communicator))
    return QM_OK;
  if (communicator->rank == 1)
    nanosleep (&nap, NULL);
  return queue_plain (communicator, stream, call, error);
}

static void
close_counted (QmCommunicator *communicator)
{
  atomic_fetch_add (&trial.closed, 1);
  atomic_load (&plain)->close (communicator);
}

static QmStatus
open_one (QmCommunicator *communicator, bool slow, QmError *error)
{
  static const QmTransportWays quick_ways = { queue_plain, close_counted };
  static const QmTransportWays slow_ways = { queue_slowly, close_counted };
  QmStatus status;

  if (slow && communicator->rank == trial.failing && trial.sums < 0)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "%s", trouble);
  status = qm_host_transport_open (communicator, true, error);
  if (status != QM_OK)
    return status;
  atomic_store (&plain, communicator->ways);
  communicator->ways = slow ? &slow_ways : &quick_ways;
  atomic_fetch_add (&trial.opened, 1);
  return QM_OK;
}

static QmStatus
open_host (QmCommunicator *communicator, QmError *error)
{
  return open_one (communicator, trial.slow == QM_TRANSPORT_HOST, error);
}

static QmStatus
open_nccl (QmCommunicator *communicator, QmError *error)
{
  return open_one (communicator, trial.slow == QM_TRANSPORT_NCCL, error);
}

static void
try_both (Rank *rank)
{
  static const QmTransportWay ways[2] = { { QM_TRANSPORT_HOST, open_host },
                                          { QM_TRANSPORT_NCCL, open_nccl } };
  QmCommunicator communicator = { .world = rank->world,
                                  .device = rank->device,
                                  .rank = rank->rank };
  QmError error = { 0 };
  QmStatus status = qm_transport_try (&communicator, ways, 1 << 16, &error);

  if (trial.failing >= 0)
    {
      EXPECT (rank, status == QM_STATUS_DEVICE);
      EXPECT (rank, strstr (error.message, "rank 1: it has no thumbs") != NULL);
    }
  else
    {
      EXPECT (rank, status == QM_OK && communicator.complete);
      trial.said[rank->rank] = communicator.trial;
      trial.taken[rank->rank] = communicator.transport;
      rank->communicator = &communicator;
      rank_check_collective (rank, QM_ALL_REDUCE, QM_TYPE_F32, 4099, false);
      rank_check_collective (rank, QM_ALL_GATHER, QM_TYPE_BF16, 77, true);
      rank->communicator = NULL;
    }
  if (communicator.ways != NULL)
    communicator.ways->close (&communicator);
}

static void
test_try (QmTransport slow, int n, int failing, int sums)
{
  Ranks ranks = { .options = { .ranks = n, .local = n, .patience = 20 },
                  .device = "cpu" };
  QmError error = { 0 };

  memset (&trial, 0, sizeof trial);
  trial.slow = slow;
  trial.failing = failing;
  trial.sums = sums;
  CHECK_INT (ranks_run (&ranks, false, try_both, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks.failures), 0);
  CHECK_INT (atomic_load (&trial.opened), atomic_load (&trial.closed));
  for (int i = 0; i < n && failing < 0; i++)
    {
      const QmTransportTrial *said = &trial.said[i];
      bool host = slow == QM_TRANSPORT_NCCL;

      CHECK_INT (trial.taken[i], host ? QM_TRANSPORT_HOST : QM_TRANSPORT_NCCL);
      CHECK (memcmp (said, &trial.said[0], sizeof *said) == 0);
      CHECK_INT ((int64_t) said->bytes, 1 << 16);
      CHECK ((host ? said->nccl : said->host) >= 0.02);
      CHECK ((host ? said->host : said->nccl) > 0);
    }
}

/* Of all ranks the slowest counts, each way. */
static void
test_faster (void)
{
  const QmTrialTimes times[3] = { { 0.3, 0.1 }, { 0.2, 0.1 }, { 0.1, 0.4 } };
  QmTransportTrial said = { .bytes = 5 };

  CHECK_INT (qm_transport_faster (times, 2, &said), QM_TRANSPORT_HOST);
  CHECK_NEAR (said.nccl, 0.3, 1e-12);
  CHECK_NEAR (said.host, 0.1, 1e-12);
  CHECK_INT (qm_transport_faster (times, 3, &said), QM_TRANSPORT_NCCL);
  CHECK_NEAR (said.nccl, 0.3, 1e-12);
  CHECK_NEAR (said.host, 0.4, 1e-12);
  CHECK_INT (qm_transport_faster (&(QmTrialTimes){ .nccl = 0.2, .host = 0.2 },
                                  1, &said),
             QM_TRANSPORT_NCCL);
}

static void
ask (Rank *rank)
{
  QmCommunicator communicator = { .world = rank->world, .rank = rank->rank };
  QmReach alone = { 0, 0 }, apart = { 1, 0 }, joined = { 1, 1 };
  bool open = true;

  EXPECT (rank,
          qm_transport_question (&communicator, &alone, &open, NULL) == QM_OK
              && !open);
  EXPECT (rank,
          qm_transport_question (&communicator,
                                 rank->rank == 2 ? &alone : &apart, &open, NULL)
                  == QM_OK
              && open);
  /* One pair is enough. */
  EXPECT (rank, qm_transport_question (&communicator,
                                       rank->rank == 1 ? &joined : &apart,
                                       &open, NULL)
                        == QM_OK
                    && !open);
}

static void
test_question (void)
{
  Ranks ranks = { .options = { .ranks = 3, .local = 3, .patience = 20 },
                  .device = "cpu" };
  QmError error = { 0 };

  CHECK_INT (ranks_run (&ranks, false, ask, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks.failures), 0);
}

/* CPUs have one way, and nothing is tried. */
static void
see_none (Rank *rank)
{
  QmTransportTrial said = qm_communicator_trial (rank->communicator);

  EXPECT (rank, said.bytes == 0);
  EXPECT (rank,
          qm_communicator_transport (rank->communicator) == QM_TRANSPORT_HOST);
}

static void
test_cpus (void)
{
  Ranks ranks = { .options = { .ranks = 2, .local = 2, .patience = 20 },
                  .transport = QM_TRANSPORT_AUTO,
                  .device = "cpu" };
  QmError error = { 0 };

  CHECK_INT (ranks_run (&ranks, true, see_none, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks.failures), 0);
}

int
main (void)
{
  check_case ("which is the faster");
  test_faster ();
  check_case ("whether it is asked");
  test_question ();
  test_cpus ();
  for (int n = 2; n <= 4; n++)
    {
      check_case ("trial");
      test_try (QM_TRANSPORT_NCCL, n, -1, -1);
      test_try (QM_TRANSPORT_HOST, n, -1, -1);
    }
  check_case ("failure");
  /* To open it, in the sums before those that are timed, and in those. */
  for (int sums = -1; sums <= 3; sums += 2)
    {
      test_try (QM_TRANSPORT_NCCL, 3, 1, sums);
      test_try (QM_TRANSPORT_HOST, 3, 1, sums);
    }
  return check_report ();
}
