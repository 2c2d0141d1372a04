/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/kernels/ranks.h"

#include "kernels/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64

void
rank_expect (Rank *rank, bool value, const char *what, int line)
{
  if (value)
    return;
  atomic_fetch_add (&rank->all->failures, 1);
  fprintf (stderr, "rank %d, line %d: not so: %s\n", rank->rank, line, what);
}

typedef struct Thread
{
  Rank rank;
  RankBody body;
  bool meet;
  pthread_t thread;
} Thread;

static void *
run_rank (void *data)
{
  Thread *thread = data;
  Rank *rank = &thread->rank;
  Ranks *all = rank->all;
  QmError error = { 0 };
  QmStatus status = QM_OK;
  char id[16];

  snprintf (id, sizeof id, "%s", all->device);
  if (strcmp (id, "cuda") == 0)
    snprintf (id, sizeof id, "cuda:%d", rank->rank);
  status = qm_device_open (id, 0, &rank->device, &error);
  if (status == QM_OK)
    status = qm_stream_create (rank->device, &rank->stream, &error);
  if (status == QM_OK && thread->meet)
    status = qm_communicator_new_staged (
        rank->world, rank->rank, rank->device, all->transport,
        all->staged || strcmp (all->device, "cpu") != 0, &rank->communicator,
        &error);
  EXPECT (rank, status == QM_OK);
  if (status == QM_OK)
    thread->body (rank);
  else
    fprintf (stderr, "rank %d: %s\n", rank->rank, error.message);
  qm_communicator_free (rank->communicator);
  qm_stream_free (rank->device, rank->stream);
  qm_device_close (rank->device);
  return NULL;
}

QmStatus
ranks_run (Ranks *ranks, bool meet, RankBody body, QmError *error)
{
  QmWorld *world = NULL;
  QmStatus status = qm_world_new (&ranks->options, &world, error);
  int n = ranks->options.local;
  Thread *threads = calloc ((size_t) n, sizeof *threads);

  if (threads == NULL)
    abort ();
  for (int i = 0; status == QM_OK && i < n; i++)
    {
      threads[i].rank = (Rank){ .all = ranks,
                                .world = world,
                                .rank = ranks->options.first + i,
                                .ranks = ranks->options.ranks };
      threads[i].body = body;
      threads[i].meet = meet;
      if (pthread_create (&threads[i].thread, NULL, run_rank, &threads[i]) != 0)
        abort ();
    }
  for (int i = 0; status == QM_OK && i < n; i++)
    pthread_join (threads[i].thread, NULL);
  qm_world_free (world);
  free (threads);
  return status;
}

/* A number that rank `rank` has at `i`; of very different sizes, so that the
 * order of a sum matters. */
static float
number (const Rank *rank, int of, size_t i)
{
  uint32_t x = (uint32_t) i * 2654435761u + (uint32_t) of * 40503u + 12345u;

  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  if (rank->all->whole)
    return (float) ((int) (x % 17) - 8);
  return ((float) (x & 0xffffff) * 0x1p-23f - 1.0f)
         * (float) (1 << (x * 747796405u >> 28)) * 0x1p-6f;
}

static void
put (QmType type, void *to, size_t i, float value)
{
  qm_floats_store (type, (char *) to + i * qm_type_size (type), 1, 1, &value);
}

static float
get (QmType type, const void *from, size_t i)
{
  float value = 0;

  qm_floats_load (type, (const char *) from + i * qm_type_size (type), 1, 1,
                  &value);
  return value;
}

/* Each rank's number in the type, in the order of the ranks. */
static float
plain_sum (const Rank *rank, QmType type, size_t i)
{
  float sum = 0;

  for (int r = 0; r < rank->ranks; r++)
    {
      uint32_t bits = 0;
      float value;

      put (type, &bits, 0, number (rank, r, i));
      value = get (type, &bits, 0);
      sum = r == 0 ? value : sum + value;
    }
  return sum;
}

typedef struct Case
{
  Rank *rank;
  QmCollectiveKind kind;
  QmType type;
  size_t count, size;
  bool in_place;
  size_t from_count, to_count;
  char *from, *to;        /* of the device */
  char *memory, *memory2; /* that they are in */
  size_t memory_bytes;
  char *input, *wanted, *got; /* of the host */
} Case;

static void
make_case (Case *c)
{
  const Rank *rank = c->rank;
  size_t all = c->count * (size_t) rank->ranks;
  size_t own = c->count * (size_t) rank->rank;

  c->size = qm_type_size (c->type);
  c->from_count = c->kind == QM_REDUCE_SCATTER ? all : c->count;
  c->to_count = c->kind == QM_ALL_GATHER ? all : c->count;
  c->memory_bytes = all * c->size + GUARD;
  c->input = malloc (c->from_count * c->size + 1);
  c->wanted = malloc (c->to_count * c->size + 1);
  c->got = malloc (c->to_count * c->size + GUARD);
  if (c->input == NULL || c->wanted == NULL || c->got == NULL)
    abort ();
  for (size_t i = 0; i < c->from_count; i++)
    put (c->type, c->input, i, number (rank, rank->rank, i));
  for (size_t i = 0; i < c->to_count; i++)
    {
      float value = 0;

      if (c->kind == QM_ALL_REDUCE)
        value = plain_sum (rank, c->type, i);
      else if (c->kind == QM_REDUCE_SCATTER)
        value = plain_sum (rank, c->type, own + i);
      else
        value = number (rank, (int) (i / c->count), i % c->count);
      put (c->type, c->wanted, i, value);
    }
}

static void
place_case (Case *c)
{
  Rank *rank = c->rank;
  size_t own = c->count * (size_t) rank->rank * c->size;
  void *memory = NULL, *memory2 = NULL;

  EXPECT (rank,
          qm_device_allocate (rank->device, c->memory_bytes, &memory, NULL)
              == QM_OK);
  EXPECT (rank,
          qm_device_allocate (rank->device, c->memory_bytes, &memory2, NULL)
              == QM_OK);
  c->memory = memory;
  c->memory2 = memory2;
  c->from = c->memory;
  c->to = c->in_place ? c->memory : c->memory2;
  if (c->in_place && c->kind == QM_REDUCE_SCATTER)
    c->to += own;
  if (c->in_place && c->kind == QM_ALL_GATHER)
    c->from += own;
}

static void
fill_case (const Case *c)
{
  Rank *rank = c->rank;

  qm_device_set (rank->device, rank->stream, c->memory, 0xa5, c->memory_bytes,
                 NULL);
  qm_device_set (rank->device, rank->stream, c->memory2, 0xa5, c->memory_bytes,
                 NULL);
  EXPECT (rank, qm_device_write (rank->device, rank->stream, c->from, c->input,
                                 c->from_count * c->size, NULL)
                    == QM_OK);
}

static QmStatus
call_case (const Case *c, QmError *error)
{
  const Rank *rank = c->rank;

  switch (c->kind)
    {
    case QM_ALL_REDUCE:
      return qm_all_reduce (rank->communicator, rank->stream, c->from, c->to,
                            c->count, c->type, error);
    case QM_REDUCE_SCATTER:
      return qm_reduce_scatter (rank->communicator, rank->stream, c->from,
                                c->to, c->count, c->type, error);
    case QM_ALL_GATHER:
      return qm_all_gather (rank->communicator, rank->stream, c->from, c->to,
                            c->count, c->type, error);
    case QM_COLLECTIVE_END:
      break;
    }
  return QM_STATUS_INVALID;
}

static void
compare_case (const Case *c)
{
  Rank *rank = c->rank;
  size_t bytes = c->to_count * c->size;
  bool guarded = true;

  EXPECT (rank,
          qm_stream_synchronize (rank->device, rank->stream, NULL) == QM_OK);
  EXPECT (rank, qm_device_read (rank->device, rank->stream, c->got, c->to,
                                bytes, NULL)
                    == QM_OK);
  EXPECT (rank, memcmp (c->got, c->wanted, bytes) == 0);
  qm_device_read (rank->device, rank->stream, c->got,
                  c->memory + c->memory_bytes - GUARD, GUARD, NULL);
  for (int i = 0; i < GUARD; i++)
    guarded = guarded && c->got[i] == (char) 0xa5;
  EXPECT (rank, guarded);
}

static void
run_case (const Case *c)
{
  Rank *rank = c->rank;
  QmCapture *capture = NULL;
  QmError error = { 0 };
  QmStatus status;

  fill_case (c);
  if (!rank->all->capture)
    {
      status = call_case (c, &error);
      EXPECT (rank, status == QM_OK);
      compare_case (c);
      return;
    }
  status = qm_capture_begin (rank->device, rank->stream, &error);
  if (status == QM_OK)
    status = call_case (c, &error);
  EXPECT (rank, qm_capture_end (rank->device, rank->stream, &capture, &error)
                    == QM_OK);
  EXPECT (rank, status == QM_OK);
  for (int i = 0; i < 2 && capture != NULL; i++)
    {
      fill_case (c);
      EXPECT (rank,
              qm_capture_launch (rank->device, rank->stream, capture, &error)
                  == QM_OK);
      compare_case (c);
    }
  qm_capture_free (rank->device, capture);
}

void
rank_check_collective (
    Rank *rank, QmCollectiveKind kind, QmType type, size_t count, bool in_place)
{
  Case c = { .rank = rank,
             .kind = kind,
             .type = type,
             .count = count,
             .in_place = in_place };
  int before = atomic_load (&rank->all->failures);

  make_case (&c);
  place_case (&c);
  run_case (&c);
  if (atomic_load (&rank->all->failures) != before)
    fprintf (stderr, "  %s of %zu %s%s\n", qm_collective_name (kind), count,
             qm_type_name (type), in_place ? ", in place" : "");
  qm_device_free (rank->device, c.memory);
  qm_device_free (rank->device, c.memory2);
  free (c.input);
  free (c.wanted);
  free (c.got);
}

void
rank_check_all (Rank *rank, const size_t *counts, size_t n)
{
  static const QmType types[] = { QM_TYPE_F32, QM_TYPE_F16, QM_TYPE_BF16 };

  for (int kind = QM_ALL_REDUCE; kind < QM_COLLECTIVE_END; kind++)
    for (int t = 0; t < 3; t++)
      for (size_t i = 0; i < n; i++)
        for (int in_place = 0; in_place < 2; in_place++)
          rank_check_collective (rank, (QmCollectiveKind) kind, types[t],
                                 counts[i], in_place != 0);
}
