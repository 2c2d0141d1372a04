/* SPDX-License-Identifier: Apache-2.0 */

/* What the GPUs of this machine do together, in worlds of 1 up to all of them,
 * through NCCL and through the host.  Leaves with 77 where there is no GPU. */

#include "tests/data/check.h"
#include "tests/kernels/ranks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MOST 16

static int
count_gpus (void)
{
  QmDeviceInfo infos[MOST + 1];
  char note[192];
  size_t n = qm_device_list (infos, MOST + 1, note, sizeof note);
  int gpus = 0;

  /* Rank r has cuda:r. */
  for (size_t i = 0; i < n && i <= MOST; i++)
    if (infos[i].target.kind == QM_DEVICE_CUDA && infos[i].trouble[0] == '\0')
      gpus++;
    else
      break;
  if (gpus == 0)
    printf ("skipped: %s\n", note);
  return gpus;
}

static Ranks
some_ranks (int n, QmTransport transport)
{
  return (Ranks){ .options = { .ranks = n, .local = n, .patience = 60 },
                  .transport = transport,
                  .whole = transport == QM_TRANSPORT_NCCL,
                  .device = "cuda" };
}

static void
check_run (Ranks *ranks, RankBody body)
{
  QmError error = { 0 };

  CHECK_INT (ranks_run (ranks, true, body, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks->failures), 0);
}

static void
collectives (Rank *rank)
{
  const size_t counts[] = { 0, 1, 7, 4099 };
  double value = rank->rank;

  EXPECT (rank, qm_communicator_transport (rank->communicator)
                    == rank->all->transport);
  rank_check_all (rank, counts, 4);
  /* Several pieces through the host. */
  rank_check_collective (rank, QM_ALL_REDUCE, QM_TYPE_F32, 5000011, false);
  rank_check_collective (rank, QM_REDUCE_SCATTER, QM_TYPE_BF16, 3000001, true);
  rank_check_collective (rank, QM_ALL_GATHER, QM_TYPE_F16, 3000001, true);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_MAXIMUM,
                                       &value, 1, NULL)
                    == QM_OK);
  EXPECT (rank, value == rank->ranks - 1);
  EXPECT (rank,
          qm_stream_synchronize (rank->device, rank->stream, NULL) == QM_OK);
}

/* Rank 0 waits for work that rank 1 never joins. */
static void
stop_while_waiting (Rank *rank)
{
  struct timespec from, to, pause = { .tv_nsec = 300000000 };
  void *memory = NULL;
  QmError error = { 0 };
  double one = 1;

  EXPECT (rank,
          qm_device_allocate (rank->device, 4096, &memory, NULL) == QM_OK);
  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, memory, memory,
                               1024, QM_TYPE_F32, NULL)
                    == QM_OK);
  EXPECT (rank,
          qm_stream_synchronize (rank->device, rank->stream, NULL) == QM_OK);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, &one,
                                       1, NULL)
                    == QM_OK);
  clock_gettime (CLOCK_MONOTONIC, &from);
  if (rank->rank == 1)
    {
      nanosleep (&pause, NULL);
      qm_world_abort (rank->world, 1, "rank 1: the fox came");
    }
  else
    {
      qm_all_reduce (rank->communicator, rank->stream, memory, memory, 1024,
                     QM_TYPE_F32, NULL);
      qm_stream_synchronize (rank->device, rank->stream, NULL);
    }
  clock_gettime (CLOCK_MONOTONIC, &to);
  EXPECT (rank, to.tv_sec - from.tv_sec < 8);
  EXPECT (rank, qm_world_check (rank->world, &error) == QM_STATUS_DEVICE);
  EXPECT (rank, strcmp (error.message, "rank 1: the fox came") == 0);
  qm_device_free (rank->device, memory);
}

static void
test_transport (QmTransport transport, int gpus)
{
  check_case (qm_transport_name (transport));
  for (int n = 1; n <= gpus; n++)
    for (int capture = 0; capture < 2; capture++)
      {
        Ranks ranks = some_ranks (n, transport);

        ranks.capture = capture != 0;
        check_run (&ranks, collectives);
        printf ("%s, %d of %d GPUs%s: done\n", qm_transport_name (transport), n,
                gpus, capture ? ", captured" : "");
        fflush (stdout);
      }
  if (gpus > 1)
    {
      Ranks ranks = some_ranks (gpus, transport);

      check_run (&ranks, stop_while_waiting);
    }
}

int
main (void)
{
  int gpus = count_gpus ();
  char note[600];

  if (gpus == 0)
    return CHECK_SKIPPED;
  test_transport (QM_TRANSPORT_HOST, gpus);
  if (qm_nccl_find (note, sizeof note))
    test_transport (QM_TRANSPORT_NCCL, gpus);
  printf ("%s\n", note);
  return check_report ();
}
