/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/world.h"

#include "data/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 120
#define SILENCE  8

/* More than a day is as good as no end, and what a wait can be asked for. */
#define MOST_PATIENCE 1e6

const char *
qm_ranks_name (int first, int local, char *text, size_t size)
{
  if (local == 1)
    snprintf (text, size, "rank %d", first);
  else
    snprintf (text, size, "ranks %d to %d", first, first + local - 1);
  return text;
}

const char *
qm_ranks_missing (
    const bool *come, int first, int ranks, char *text, size_t size)
{
  const int most = 8;
  int missing = 0, said = 0;
  size_t used;

  for (int i = 0; i < ranks; i++)
    missing += !come[i];
  snprintf (text, size, missing == 1 ? "rank" : "ranks");
  for (int i = 0; i < ranks && said < most; i++)
    if (!come[i])
      {
        const char *between = said == 0             ? " "
                              : said + 1 == missing ? " and "
                                                    : ", ";

        used = strlen (text);
        snprintf (text + used, size - used, "%s%d", between, first + i);
        said++;
      }
  used = strlen (text);
  if (said < missing)
    snprintf (text + used, size - used, " and %d more", missing - said);
  return text;
}

/* The lock is held. */
static void
fail_locked (QmWorld *world, bool lost, const char *why)
{
  if (world->failed)
    return;
  world->failed = true;
  world->lost = lost;
  snprintf (world->why, sizeof world->why, "%s", why);
  qm_text_trim (world->why);
  pthread_cond_broadcast (&world->changed);
  for (int i = 0; i < QM_CHANNELS; i++)
    pthread_cond_broadcast (&world->meetings[i].moved);
  qm_links_tell (world);
}

void
qm_world_fail (QmWorld *world, const char *format, ...)
{
  char why[QM_WORLD_WHY];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (why, sizeof why, format, arguments);
  va_end (arguments);
  pthread_mutex_lock (&world->lock);
  fail_locked (world, false, why);
  pthread_mutex_unlock (&world->lock);
}

void
qm_world_lose (QmWorld *world, const char *format, ...)
{
  char why[QM_WORLD_WHY];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (why, sizeof why, format, arguments);
  va_end (arguments);
  pthread_mutex_lock (&world->lock);
  fail_locked (world, true, why);
  pthread_mutex_unlock (&world->lock);
}

bool
qm_world_lost (QmWorld *world)
{
  bool lost;

  pthread_mutex_lock (&world->lock);
  lost = world->lost;
  pthread_mutex_unlock (&world->lock);
  return lost;
}

void
qm_world_abort (QmWorld *world, int rank, const char *why)
{
  if (why != NULL && why[0] != '\0')
    qm_world_fail (world, "%s", why);
  else
    qm_world_fail (world, "rank %d stopped", rank);
}

QmStatus
qm_world_check (QmWorld *world, QmError *error)
{
  QmStatus status = QM_OK;

  pthread_mutex_lock (&world->lock);
  if (world->failed)
    status = qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "%s", world->why);
  pthread_mutex_unlock (&world->lock);
  return status;
}

int
qm_world_ranks (const QmWorld *world)
{
  return world->ranks;
}

/* Names those that have not come.  The lock is held. */
static void
fail_missing (QmWorld *world, const QmMeeting *meeting)
{
  char names[128], why[QM_WORLD_WHY];

  qm_ranks_missing (meeting->here, world->first, world->local, names,
                    sizeof names);
  snprintf (why, sizeof why, "%s did not come to the others within %g s", names,
            world->patience);
  fail_locked (world, false, why);
}

/* Waits for the others; the lock is held. */
static void
wait_for_turn (QmWorld *world, QmMeeting *meeting)
{
  struct timespec deadline = qm_deadline (world->patience);
  uint64_t turn = meeting->turn;

  while (meeting->turn == turn && !world->failed)
    if (meeting->leading)
      pthread_cond_wait (&meeting->moved, &world->lock);
    else if (pthread_cond_timedwait (&meeting->moved, &world->lock, &deadline)
                 == ETIMEDOUT
             && meeting->turn == turn && !meeting->leading)
      fail_missing (world, meeting);
}

/* Everybody is here: does the work, then lets them go on.  The lock is held,
 * but not while it works. */
static void
lead (QmWorld *world,
      QmChannel channel,
      bool last,
      QmMeetingWork work,
      void *data)
{
  QmMeeting *meeting = &world->meetings[channel];

  meeting->leading = true;
  pthread_mutex_unlock (&world->lock);
  if (work != NULL)
    work (world, channel, data);
  pthread_mutex_lock (&world->lock);
  meeting->leading = false;
  if (!world->failed)
    {
      meeting->turn++;
      meeting->arrived = 0;
      for (int i = 0; i < world->local; i++)
        {
          meeting->here[i] = false;
          meeting->inside[i] = !last;
        }
      meeting->n_inside = last ? 0 : world->local;
    }
  pthread_cond_broadcast (&meeting->moved);
}

bool
qm_world_meet (QmWorld *world,
               QmChannel channel,
               int rank,
               bool last,
               QmMeetingWork work,
               void *data)
{
  QmMeeting *meeting = &world->meetings[channel];
  int self = rank - world->first;
  uint64_t turn;
  bool met;

  pthread_mutex_lock (&world->lock);
  turn = meeting->turn;
  if (meeting->inside[self])
    {
      meeting->inside[self] = false;
      meeting->n_inside--;
      pthread_cond_broadcast (&meeting->moved);
    }
  if (!world->failed)
    {
      meeting->here[self] = true;
      meeting->arrived++;
      if (meeting->arrived == world->local)
        lead (world, channel, last, work, data);
      else
        wait_for_turn (world, meeting);
    }
  met = meeting->turn != turn;
  while (!met && (meeting->n_inside > 0 || meeting->leading))
    pthread_cond_wait (&meeting->moved, &world->lock);
  pthread_mutex_unlock (&world->lock);
  return met;
}

static void
free_meeting (QmMeeting *meeting)
{
  free (meeting->here);
  free (meeting->inside);
  free (meeting->topics);
  free (meeting->from);
  free (meeting->to);
  free (meeting->stride);
  free (meeting->scratch);
  pthread_cond_destroy (&meeting->moved);
}

static bool
make_meeting (QmMeeting *meeting, int local)
{
  size_t n = (size_t) local;

  meeting->here = calloc (n, sizeof *meeting->here);
  meeting->inside = calloc (n, sizeof *meeting->inside);
  meeting->topics = calloc (n, sizeof *meeting->topics);
  meeting->from = calloc (n, sizeof *meeting->from);
  meeting->to = calloc (n, sizeof *meeting->to);
  meeting->stride = calloc (n, sizeof *meeting->stride);
  return qm_condition_init (&meeting->moved) && meeting->here != NULL
         && meeting->inside != NULL && meeting->topics != NULL
         && meeting->from != NULL && meeting->to != NULL
         && meeting->stride != NULL;
}

void
qm_world_free (QmWorld *world)
{
  if (world == NULL)
    return;
  qm_links_close (world);
  for (int i = 0; i < QM_CHANNELS; i++)
    free_meeting (&world->meetings[i]);
  pthread_cond_destroy (&world->changed);
  pthread_mutex_destroy (&world->lock);
  free (world->taken);
  free (world->peers);
  free (world);
}

static QmStatus
check_options (const QmWorldOptions *options, QmError *error)
{
  if (options->ranks < 1 || options->ranks > QM_WORLD_MAX)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "a world has 1 to %d ranks, not %d", QM_WORLD_MAX,
                         options->ranks);
  if (options->first < 0 || options->local < 1
      || options->local > options->ranks
      || options->first > options->ranks - options->local)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "a world of %d ranks has no %d from rank %d",
                         options->ranks, options->local, options->first);
  if (options->rendezvous == NULL && options->local != options->ranks)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%d of %d ranks are in other processes, and nothing "
                         "says where to meet them",
                         options->ranks - options->local, options->ranks);
  if (!(options->patience >= 0 && options->patience <= MOST_PATIENCE))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "nobody waits %g s for a rank", options->patience);
  if (!(options->coming >= 0 && options->coming <= MOST_PATIENCE))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "nobody waits %g s for a rank", options->coming);
  return QM_OK;
}

static QmStatus
make_world (const QmWorldOptions *options, QmWorld **world, QmError *error)
{
  QmWorld *new = calloc (1, sizeof *new);
  bool made = new != NULL;

  *world = new;
  if (new != NULL)
    {
      new->ranks = options->ranks;
      new->first = options->first;
      new->local = options->local;
      new->patience = options->patience > 0 ? options->patience : PATIENCE;
      new->coming = options->coming > 0 ? options->coming : new->patience;
      new->silence = options->silence > 0 ? options->silence : SILENCE;
      qm_pass_make (options, &new->pass);
      new->alarm = -1;
      pthread_mutex_init (&new->lock, NULL);
      made = qm_condition_init (&new->changed);
      for (int i = 0; i < QM_CHANNELS; i++)
        made = make_meeting (&new->meetings[i], new->local) && made;
      new->taken = calloc ((size_t) new->local, sizeof *new->taken);
      made = made && new->taken != NULL;
    }
  return made ? QM_OK : qm_error_no_memory (error);
}

QmStatus
qm_world_new (const QmWorldOptions *options, QmWorld **world, QmError *error)
{
  QmStatus status = check_options (options, error);

  *world = NULL;
  if (status == QM_OK)
    status = make_world (options, world, error);
  if (status == QM_OK && options->local != options->ranks)
    {
      status = qm_world_join (*world, options->rendezvous, error);
      if (status == QM_OK)
        status = qm_links_listen (*world, error);
    }
  if (status != QM_OK)
    {
      qm_world_free (*world);
      *world = NULL;
    }
  return status;
}
