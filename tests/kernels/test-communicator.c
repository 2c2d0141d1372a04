/* SPDX-License-Identifier: Apache-2.0 */

/* What ranks in threads of one process do together, on CPU devices. */

#include "tests/data/check.h"
#include "tests/kernels/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static Ranks
some_ranks (int n)
{
  return (Ranks){ .options = { .ranks = n, .local = n, .patience = 20 },
                  .transport = QM_TRANSPORT_AUTO,
                  .device = "cpu" };
}

static void
check_run (Ranks *ranks, RankBody body)
{
  QmError error = { 0 };

  CHECK_INT (ranks_run (ranks, true, body, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks->failures), 0);
}

static void
small_counts (Rank *rank)
{
  const size_t counts[] = { 0, 1, 7, 4099 };

  EXPECT (rank, qm_communicator_rank (rank->communicator) == rank->rank);
  EXPECT (rank, qm_communicator_ranks (rank->communicator) == rank->ranks);
  EXPECT (rank,
          qm_communicator_transport (rank->communicator) == QM_TRANSPORT_HOST);
  rank_check_all (rank, counts, 4);
}

static void
large_counts (Rank *rank)
{
  /* Several pieces, the last one odd. */
  rank_check_collective (rank, QM_ALL_REDUCE, QM_TYPE_F32, 4200011, false);
  rank_check_collective (rank, QM_REDUCE_SCATTER, QM_TYPE_BF16, 2200001, true);
  rank_check_collective (rank, QM_ALL_GATHER, QM_TYPE_F16, 2200001, true);
}

static void
test_collectives (void)
{
  check_case ("collectives");
  for (int n = 1; n <= 4; n++)
    for (int way = 0; way < 4; way++)
      {
        Ranks ranks = some_ranks (n);

        ranks.staged = (way & 1) != 0;
        ranks.capture = (way & 2) != 0;
        check_run (&ranks, small_counts);
      }
  for (int way = 0; way < 3; way++)
    {
      Ranks ranks = some_ranks (way == 2 ? 3 : 2);

      ranks.staged = way > 0;
      ranks.capture = way == 2;
      check_run (&ranks, large_counts);
    }
}

/* Many calls in a row, without waiting, and in one capture. */
static void
in_a_row (Rank *rank)
{
  float x[100], sum = 0, want = 1;
  void *memory = NULL;
  QmCapture *capture = NULL;

  for (int i = 0; i < 100; i++)
    x[i] = 1;
  EXPECT (rank,
          qm_device_allocate (rank->device, sizeof x, &memory, NULL) == QM_OK);
  qm_device_write (rank->device, rank->stream, memory, x, sizeof x, NULL);
  EXPECT (rank, qm_capture_begin (rank->device, rank->stream, NULL) == QM_OK);
  for (int i = 0; i < 5; i++)
    EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, memory,
                                 memory, 100, QM_TYPE_F32, NULL)
                      == QM_OK);
  EXPECT (rank,
          qm_capture_end (rank->device, rank->stream, &capture, NULL) == QM_OK);
  for (int i = 0; i < 2; i++)
    EXPECT (rank, qm_capture_launch (rank->device, rank->stream, capture, NULL)
                      == QM_OK);
  for (int i = 0; i < 10; i++)
    want *= (float) rank->ranks;
  qm_device_read (rank->device, rank->stream, x, memory, sizeof x, NULL);
  for (int i = 0; i < 100; i++)
    sum += x[i];
  EXPECT (rank, sum == 100 * want);
  qm_capture_free (rank->device, capture);
  qm_device_free (rank->device, memory);
}

static void
test_row (void)
{
  Ranks ranks = some_ranks (3);

  check_case ("in a row");
  check_run (&ranks, in_a_row);
  ranks.staged = true;
  check_run (&ranks, in_a_row);
}

static void
agree (Rank *rank)
{
  double values[3] = { rank->rank, -rank->rank, 0.1 * (rank->rank + 1) };
  double sum = 0, most[65] = { 0 };
  QmError error = { 0 };

  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_MAXIMUM,
                                       values, 2, NULL)
                    == QM_OK);
  EXPECT (rank, values[0] == rank->ranks - 1 && values[1] == 0);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_MINIMUM,
                                       values + 1, 1, NULL)
                    == QM_OK);
  EXPECT (rank, values[1] == 0);
  for (int i = 0; i < rank->ranks; i++)
    sum = i == 0 ? 0.1 : sum + 0.1 * (i + 1);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM,
                                       values + 2, 1, NULL)
                    == QM_OK);
  EXPECT (rank, values[2] == sum);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, most,
                                       64, NULL)
                    == QM_OK);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, most,
                                       0, NULL)
                    == QM_OK);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, most,
                                       65, &error)
                    == QM_STATUS_INVALID);
}

/* What ranks bring stands in their order, of as many bytes as a page. */
static void
gather (Rank *rank)
{
  unsigned char own[4097], *all = calloc ((size_t) rank->ranks, sizeof own);
  QmError error = { 0 };

  memset (own, rank->rank + 1, sizeof own);
  EXPECT (rank, all != NULL
                    && qm_communicator_gather (rank->communicator, own, all,
                                               4096, NULL)
                           == QM_OK);
  for (int i = 0; all != NULL && i < rank->ranks; i++)
    EXPECT (rank, all[i * 4096] == i + 1 && all[i * 4096 + 4095] == i + 1);
  EXPECT (rank,
          qm_communicator_gather (rank->communicator, own, all, 4097, &error)
              == QM_STATUS_INVALID);
  free (all);
}

static void
test_agree (void)
{
  check_case ("agree");
  for (int n = 1; n <= 3; n++)
    {
      Ranks ranks = some_ranks (n);

      check_run (&ranks, agree);
    }
  check_case ("gather");
  for (int n = 1; n <= 3; n++)
    {
      Ranks ranks = some_ranks (n);

      check_run (&ranks, gather);
    }
}

/* What a rank of a failing world is expected to hear. */
static void
expect_sentence (Rank *rank, const char *sentence)
{
  QmError error = { 0 };

  EXPECT (rank, qm_world_check (rank->world, &error) == QM_STATUS_DEVICE);
  EXPECT (rank, strstr (error.message, sentence) != NULL);
  if (strstr (error.message, sentence) == NULL)
    CHECK_STRING (error.message, sentence);
}

/* Rank 0 stops while the others wait for it. */
static void
stop_while_waiting (Rank *rank)
{
  struct timespec pause = { .tv_nsec = 50000000 };
  double from = now (), one = 1;
  float x[8] = { 0 };
  QmError error = { 0 };

  if (rank->rank == 0)
    {
      nanosleep (&pause, NULL);
      qm_world_abort (rank->world, 0, "rank 0: the fox came");
      qm_world_abort (rank->world, 0, "rank 0: and went");
    }
  else if (rank->rank == 1)
    EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, &one,
                                         1, &error)
                      == QM_STATUS_DEVICE);
  else
    EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                                 QM_TYPE_F32, &error)
                      == QM_STATUS_DEVICE);
  EXPECT (rank, now () - from < 5);
  expect_sentence (rank, "rank 0: the fox came");
  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                               QM_TYPE_F32, &error)
                    == QM_STATUS_DEVICE);
  EXPECT (rank, strcmp (error.message, "rank 0: the fox came") == 0);
}

/* The same inside of what was captured: it is told afterwards. */
static void
stop_in_capture (Rank *rank)
{
  QmCapture *capture = NULL;
  float *x = rank->all->data;
  double all_here = 1;

  x += 8 * rank->rank;
  EXPECT (rank, qm_capture_begin (rank->device, rank->stream, NULL) == QM_OK);
  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                               QM_TYPE_F32, NULL)
                    == QM_OK);
  EXPECT (rank,
          qm_capture_end (rank->device, rank->stream, &capture, NULL) == QM_OK);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM,
                                       &all_here, 1, NULL)
                    == QM_OK);
  if (rank->rank == 0)
    qm_world_abort (rank->world, 0, "");
  else
    EXPECT (rank, qm_capture_launch (rank->device, rank->stream, capture, NULL)
                      == QM_OK);
  expect_sentence (rank, "rank 0 stopped");
  qm_capture_free (rank->device, capture);
}

/* Rank 1 does not come. */
static void
stay_away (Rank *rank)
{
  double from = now ();
  float x[8] = { 0 };
  QmError error = { 0 };

  if (rank->rank == 1)
    return;
  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                               QM_TYPE_F32, &error)
                    == QM_STATUS_DEVICE);
  EXPECT (rank, now () - from > 0.5 && now () - from < 5);
  expect_sentence (rank, "rank 1 did not come");
}

/* All differ in something. */
static void
differ_in_count (Rank *rank)
{
  float x[8] = { 0 };

  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x,
                               rank->rank == 2 ? 7 : 8, QM_TYPE_F32, NULL)
                    == QM_STATUS_DEVICE);
  expect_sentence (rank, "brought 8 elements of f32 and rank 2 7 of f32");
}

static void
differ_in_type (Rank *rank)
{
  float x[8] = { 0 };

  EXPECT (rank,
          qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                         rank->rank == 1 ? QM_TYPE_BF16 : QM_TYPE_F32, NULL)
              == QM_STATUS_DEVICE);
  expect_sentence (rank, "8 of bf16");
}

static void
differ_in_call (Rank *rank)
{
  float x[8] = { 0 };

  if (rank->rank == 1)
    EXPECT (rank, qm_reduce_scatter (rank->communicator, rank->stream, x, x, 2,
                                     QM_TYPE_F32, NULL)
                      == QM_STATUS_DEVICE);
  else
    EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                                 QM_TYPE_F32, NULL)
                      == QM_STATUS_DEVICE);
  expect_sentence (rank, "rank 0 called all_reduce and rank 1 reduce_scatter");
}

static void
differ_in_agreement (Rank *rank)
{
  double one = 1;

  EXPECT (rank, qm_communicator_agree (rank->communicator,
                                       rank->rank == 1 ? QM_AGREE_SUM
                                                       : QM_AGREE_MAXIMUM,
                                       &one, 1, NULL)
                    == QM_STATUS_DEVICE);
  expect_sentence (rank, "for something else");
}

static void
differ_in_pieces (Rank *rank)
{
  /* One piece and two: the second would be waited for. */
  size_t count = QM_HOST_TRANSPORT_BYTES / 4 + (rank->rank == 1);
  void *x = NULL;

  EXPECT (rank,
          qm_device_allocate (rank->device, count * 4, &x, NULL) == QM_OK);
  qm_device_set (rank->device, rank->stream, x, 0, count * 4, NULL);
  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, count,
                               QM_TYPE_F32, NULL)
                    == QM_STATUS_DEVICE);
  expect_sentence (rank, "brought");
  qm_device_free (rank->device, x);
}

static void
test_failures (void)
{
  static const RankBody bodies[] = {
    stop_while_waiting, stop_in_capture, stay_away,        differ_in_count,
    differ_in_type,     differ_in_call,  differ_in_pieces, differ_in_agreement,
  };
  float memory[24] = { 0 };

  check_case ("failures");
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
    for (int staged = 0; staged < 2; staged++)
      {
        Ranks ranks = some_ranks (3);

        ranks.staged = staged != 0;
        ranks.data = memory;
        if (bodies[i] == stay_away)
          ranks.options.patience = 0.7;
        check_run (&ranks, bodies[i]);
      }
}

/* What is wrong is refused, and can be called rightly afterwards. */
static void
refusals (Rank *rank)
{
  QmCommunicator *second = rank->communicator;
  float x[8] = { 0 };
  QmError error = { 0 };

  EXPECT (rank, qm_all_reduce (rank->communicator, rank->stream, x, x, 8,
                               QM_TYPE_I32, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, strstr (error.message, "i32") != NULL);
  EXPECT (rank, qm_all_gather (rank->communicator, rank->stream, x, x, 8,
                               QM_TYPE_NONE, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, qm_all_gather (rank->communicator, rank->stream, x, x,
                               SIZE_MAX / 4, QM_TYPE_F32, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, qm_communicator_new (rank->world, rank->rank, rank->device,
                                     QM_TRANSPORT_HOST, &second, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, second == NULL);
  EXPECT (rank, qm_communicator_new (rank->world, 7, rank->device,
                                     QM_TRANSPORT_HOST, &second, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, qm_all_gather (rank->communicator, rank->stream,
                               x + 2 * rank->rank, x, 2, QM_TYPE_I32, &error)
                    == QM_OK);
}

static void
no_nccl (Rank *rank)
{
  QmCommunicator *communicator = NULL;
  QmError error = { 0 };

  EXPECT (rank, qm_communicator_new (rank->world, rank->rank, rank->device,
                                     QM_TRANSPORT_NCCL, &communicator, &error)
                    == QM_STATUS_UNSUPPORTED);
  EXPECT (rank, strstr (error.message, "NCCL is for NVIDIA GPUs") != NULL);
  EXPECT (rank, qm_communicator_new (rank->world, rank->rank, rank->device,
                                     rank->rank == 0 ? QM_TRANSPORT_HOST
                                                     : QM_TRANSPORT_AUTO,
                                     &communicator, &error)
                    == QM_STATUS_INVALID);
  EXPECT (rank, qm_communicator_new (rank->world, rank->rank, rank->device,
                                     QM_TRANSPORT_HOST, &communicator, &error)
                    == QM_OK);
  qm_communicator_free (communicator);
}

static void
test_refusals (void)
{
  static const QmWorldOptions wrong[] = {
    { .ranks = 0, .local = 0 },
    { .ranks = QM_WORLD_MAX + 1, .local = 1 },
    { .ranks = 2, .local = 1 },
    { .ranks = 2, .first = 1, .local = 2 },
    { .ranks = 2, .first = -1, .local = 2 },
    { .ranks = 1, .local = 1, .patience = -1 },
    { .ranks = 2, .local = 1, .rendezvous = "nowhere" },
    { .ranks = 2, .local = 1, .rendezvous = ":1234" },
    { .ranks = 2, .local = 1, .rendezvous = "localhost:0" },
    { .ranks = 2, .local = 1, .rendezvous = "localhost:123456" },
    { .ranks = 2, .local = 1, .rendezvous = "localhost:12x" },
  };
  Ranks ranks = some_ranks (2);
  QmWorld *world;
  QmError error = { 0 };

  check_case ("refusals");
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    {
      error.message[0] = '\0';
      CHECK_INT (qm_world_new (&wrong[i], &world, &error), QM_STATUS_INVALID);
      CHECK (world == NULL && error.message[0] != '\0');
    }
  check_run (&ranks, refusals);
  CHECK_INT (ranks_run (&ranks, false, no_nccl, &error), QM_OK);
  CHECK_INT (atomic_load (&ranks.failures), 0);
  qm_world_free (NULL);
  qm_communicator_free (NULL);
}

static void
test_names (void)
{
  char note[256] = "";

  check_case ("names");
  CHECK_STRING (qm_transport_name (QM_TRANSPORT_AUTO), "auto");
  CHECK_STRING (qm_transport_name (QM_TRANSPORT_NCCL), "nccl");
  CHECK_STRING (qm_transport_name (QM_TRANSPORT_HOST), "host");
  qm_nccl_find (note, sizeof note);
  CHECK (note[0] != '\0');
}

int
main (void)
{
  test_names ();
  test_collectives ();
  test_row ();
  test_agree ();
  test_failures ();
  test_refusals ();
  return check_report ();
}
