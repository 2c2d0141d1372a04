/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/host/host-exchange.h"

#include "kernels/host/host-sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
qm_collective_name (uint32_t kind)
{
  static const char *const names[] = {
    "nothing",
    "all_reduce",
    "reduce_scatter",
    "all_gather",
  };

  return kind < QM_COLLECTIVE_END ? names[kind] : names[0];
}

/* An exchange as a whole process sees it. */
typedef struct Scene
{
  QmWorld *world;
  QmMeeting *meeting;
  const QmMeetingTopic *topic;
} Scene;

static Scene
scene_of (QmWorld *world, QmChannel channel)
{
  QmMeeting *meeting = &world->meetings[channel];

  return (Scene){ world, meeting, &meeting->topics[0] };
}

/* Where the part of a rank begins that it sums. */
static size_t
slice (const Scene *scene, int rank)
{
  size_t count = scene->topic->count, ranks = (size_t) scene->world->ranks;
  size_t each = count / ranks, more = count % ranks, r = (size_t) rank;

  return r * each + (r < more ? r : more);
}

/* Elements that a rank sums. */
static size_t
slice_count (const Scene *scene, int rank)
{
  if (scene->topic->what == QM_REDUCE_SCATTER)
    return scene->topic->count;
  return slice (scene, rank + 1) - slice (scene, rank);
}

/* What rank `local` of this process brings for the sum of rank `of`. */
static const unsigned char *
brought (const Scene *scene, int local, int of)
{
  size_t at = scene->topic->what == QM_REDUCE_SCATTER
                  ? (size_t) of * scene->meeting->stride[local]
                  : slice (scene, of);

  return (const unsigned char *) scene->meeting->from[local]
         + at * scene->topic->size;
}

/* Elements that all ranks of this process sum together. */
static size_t
span (const Scene *scene)
{
  size_t all = 0;

  for (int i = 0; i < scene->world->local; i++)
    all += slice_count (scene, scene->world->first + i);
  return all;
}

/* Where what a rank of another process brought for the sum of rank `of`, of
 * this process, is kept. */
static unsigned char *
received (const Scene *scene, int rank, int of)
{
  const QmWorld *world = scene->world;
  size_t row = (size_t) (rank < world->first ? rank : rank - world->local);
  size_t at = row * span (scene);

  for (int i = world->first; i < of; i++)
    at += slice_count (scene, i);
  return scene->meeting->scratch + at * scene->topic->size;
}

static bool
is_local (const QmWorld *world, int rank)
{
  return rank >= world->first && rank < world->first + world->local;
}

/* The sum of this rank's part goes to where it belongs. */
static void
sum_part (const Scene *scene, int rank)
{
  const QmWorld *world = scene->world;
  int local = rank - world->first;
  const void *from[QM_WORLD_MAX];
  unsigned char *to = scene->meeting->to[local];

  for (int i = 0; i < world->ranks; i++)
    from[i] = is_local (world, i) ? brought (scene, i - world->first, rank)
                                  : received (scene, i, rank);
  if (scene->topic->what == QM_ALL_REDUCE)
    to += slice (scene, rank) * scene->topic->size;
  qm_host_sum ((QmType) scene->topic->type, from, world->ranks, to,
               slice_count (scene, rank));
}

/* What rank `rank` has for all, in memory of rank `local` of this process: of
 * its own as it brought or made it, of another where it is to be. */
static unsigned char *
result (const Scene *scene, int local, int rank, size_t *bytes)
{
  const QmMeetingTopic *topic = scene->topic;
  unsigned char *to = scene->meeting->to[local];
  bool own = rank - scene->world->first == local;

  switch (topic->what)
    {
    case QM_ALL_REDUCE:
      *bytes = slice_count (scene, rank) * topic->size;
      return to + slice (scene, rank) * topic->size;
    case QM_ALL_GATHER:
      *bytes = topic->count * topic->size;
      if (own)
        return (unsigned char *) scene->meeting->from[local];
      return to + (size_t) rank * scene->meeting->stride[local] * topic->size;
    default:
      *bytes = 0;
      return to;
    }
}

/* Copies to this rank what the others have for all; what other processes have
 * came to the first rank of this one. */
static void
copy_results (const Scene *scene, int rank)
{
  const QmWorld *world = scene->world;
  int local = rank - world->first;

  for (int i = 0; i < world->ranks; i++)
    {
      int holder = is_local (world, i) ? i - world->first : 0;
      size_t bytes;
      const unsigned char *from = result (scene, holder, i, &bytes);
      unsigned char *to = scene->meeting->to[local];

      if (scene->topic->what == QM_ALL_GATHER)
        to += (size_t) i * scene->meeting->stride[local] * scene->topic->size;
      else
        to = result (scene, local, i, &bytes);
      if (to != from && bytes > 0)
        memcpy (to, from, bytes);
    }
}

/* Lists of what goes to each process and comes from it. */
typedef struct Lists
{
  QmPieces *out, *in; /* of all processes, one behind the other */
  int n;
  bool complete;
} Lists;

static Lists
make_lists (const QmWorld *world)
{
  size_t n = (size_t) world->n_peers;
  Lists lists = { .n = world->n_peers };

  lists.out = calloc (2 * n, sizeof *lists.out);
  lists.in = lists.out != NULL ? lists.out + n : NULL;
  lists.complete = lists.out != NULL;
  return lists;
}

/* Sends and receives what is in them; frees them. */
static bool
transfer (const Scene *scene, QmChannel channel, Lists *lists)
{
  bool done = false;

  if (lists->complete)
    done = qm_links_transfer (scene->world, channel, scene->topic, lists->out,
                              lists->in);
  else
    qm_world_fail (scene->world, "the host is out of memory");
  for (int i = 0; lists->out != NULL && i < 2 * lists->n; i++)
    free (lists->out[i].items);
  free (lists->out);
  return done;
}

static bool
grow_scratch (const Scene *scene)
{
  const QmWorld *world = scene->world;
  QmMeeting *meeting = scene->meeting;
  size_t bytes = (size_t) (world->ranks - world->local) * span (scene)
                 * scene->topic->size;
  unsigned char *scratch;

  if (bytes <= meeting->scratch_bytes)
    return true;
  scratch = realloc (meeting->scratch, bytes);
  if (scratch == NULL)
    return false;
  meeting->scratch = scratch;
  meeting->scratch_bytes = bytes;
  return true;
}

/* What the ranks of this process bring for the sums of others goes to them, and
 * what others bring for ours comes. */
static bool
spread_parts (const Scene *scene, QmChannel channel)
{
  const QmWorld *world = scene->world;
  Lists lists = make_lists (world);

  lists.complete = lists.complete && grow_scratch (scene);
  for (int p = 0; p < world->n_peers && lists.complete; p++)
    {
      const QmPeer *peer = &world->peers[p];

      for (int i = 0; i < world->local; i++)
        for (int of = peer->first; of < peer->first + peer->local; of++)
          lists.complete =
              lists.complete
              && qm_pieces_add (&lists.out[p], brought (scene, i, of),
                                slice_count (scene, of) * scene->topic->size);
      for (int i = peer->first; i < peer->first + peer->local; i++)
        for (int of = world->first; of < world->first + world->local; of++)
          lists.complete =
              lists.complete
              && qm_pieces_add (&lists.in[p], received (scene, i, of),
                                slice_count (scene, of) * scene->topic->size);
    }
  return transfer (scene, channel, &lists);
}

/* What the ranks of this process have for all goes to the others, and what they
 * have comes to the first rank of this one. */
static bool
spread_results (const Scene *scene, QmChannel channel)
{
  const QmWorld *world = scene->world;
  Lists lists = make_lists (world);
  const void *data;
  size_t bytes;

  for (int p = 0; p < world->n_peers && lists.complete; p++)
    {
      const QmPeer *peer = &world->peers[p];

      for (int i = 0; i < world->local; i++)
        {
          data = result (scene, i, world->first + i, &bytes);
          lists.complete =
              lists.complete && qm_pieces_add (&lists.out[p], data, bytes);
        }
      for (int i = peer->first; i < peer->first + peer->local; i++)
        {
          data = result (scene, 0, i, &bytes);
          lists.complete =
              lists.complete && qm_pieces_add (&lists.in[p], data, bytes);
        }
    }
  return transfer (scene, channel, &lists);
}

/* All have to be about the same. */
static bool
compare_topics (const Scene *scene)
{
  const QmWorld *world = scene->world;
  const QmMeetingTopic *one = scene->topic;

  for (int i = 1; i < world->local; i++)
    {
      const QmMeetingTopic *other = &scene->meeting->topics[i];

      if (memcmp (one, other, sizeof *one) == 0)
        continue;
      if (one->what != other->what)
        qm_world_fail (scene->world, "rank %d called %s and rank %d %s",
                       world->first, qm_collective_name (one->what),
                       world->first + i, qm_collective_name (other->what));
      else
        qm_world_fail (scene->world,
                       "%s: rank %d brought %llu elements of %s and rank %d "
                       "%llu of %s%s",
                       qm_collective_name (one->what), world->first,
                       (unsigned long long) one->total,
                       qm_type_name ((QmType) one->type), world->first + i,
                       (unsigned long long) other->total,
                       qm_type_name ((QmType) other->type),
                       one->tag != other->tag ? ", for something else" : "");
      return false;
    }
  return true;
}

/* When all have come. */
static bool
begin_together (QmWorld *world, QmChannel channel, void *data)
{
  Scene scene = scene_of (world, channel);

  if (!compare_topics (&scene))
    return false;
  if (world->n_peers == 0)
    return true;
  return scene.topic->what == QM_ALL_REDUCE
                 || scene.topic->what == QM_REDUCE_SCATTER
             ? spread_parts (&scene, channel)
             : spread_results (&scene, channel);
}

/* When all parts are summed. */
static bool
go_on (QmWorld *world, QmChannel channel, void *data)
{
  Scene scene = scene_of (world, channel);

  return world->n_peers == 0 || spread_results (&scene, channel);
}

bool
qm_host_exchange (QmWorld *world,
                  QmChannel channel,
                  int rank,
                  const QmExchange *exchange)
{
  QmMeeting *meeting = &world->meetings[channel];
  const Scene scene = scene_of (world, channel);
  const uint32_t what = exchange->topic.what;
  int local = rank - world->first;

  meeting->topics[local] = exchange->topic;
  meeting->from[local] = exchange->from;
  meeting->to[local] = exchange->to;
  meeting->stride[local] = exchange->stride;
  if (!qm_world_meet (world, channel, rank, false, begin_together, NULL))
    return false;
  if (what == QM_ALL_REDUCE || what == QM_REDUCE_SCATTER)
    sum_part (&scene, rank);
  if (what == QM_ALL_REDUCE
      && !qm_world_meet (world, channel, rank, false, go_on, NULL))
    return false;
  if (what != QM_REDUCE_SCATTER)
    copy_results (&scene, rank);
  return qm_world_meet (world, channel, rank, true, NULL, NULL);
}

bool
qm_host_gather (QmWorld *world,
                int rank,
                uint32_t tag,
                const void *from,
                void *to,
                size_t bytes)
{
  QmExchange exchange = {
    .topic = { .what = QM_ALL_GATHER,
               .tag = tag,
               .size = 1,
               .total = bytes,
               .count = bytes },
    .from = from,
    .to = to,
    .stride = bytes,
  };

  return qm_host_exchange (world, QM_CHANNEL_THREAD, rank, &exchange);
}
