/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-ranks.h"

#include "kernels/deadline.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 64

/* Seconds to come back after others have failed. */
#define HURRY 7

/* How often in a second that is looked at. */
#define LOOKS 10

/* Two ranks of one GPU would wait for each other for ever: what one of them
 * waits for, the other cannot begin. */
static QmStatus
refuse_twice (int ranks, char ids[][32], QmError *error)
{
  for (int i = 0; i < ranks; i++)
    for (int j = 0; j < i; j++)
      if (strcmp (ids[i], "cpu") != 0 && strcmp (ids[i], ids[j]) == 0)
        return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                             "--device names %s twice", ids[i]);
  return QM_OK;
}

/* Takes the names that are joined by commas. */
static QmStatus
named_devices (const char *names, int ranks, char ids[][32], QmError *error)
{
  int n = 0;

  for (;; names++)
    {
      int length = (int) strcspn (names, ",");

      if (n < ranks)
        snprintf (ids[n], sizeof ids[n], "%.*s", length, names);
      n++;
      names += length;
      if (*names == '\0')
        break;
    }
  if (n == 1 && strcmp (ids[0], "cpu") == 0)
    for (; n < ranks; n++)
      snprintf (ids[n], sizeof ids[n], "cpu");
  if (n == ranks)
    return refuse_twice (ranks, ids, error);
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--device names %d, and --gpus says %d", n, ranks);
}

void
qm_bench_first_devices (const char *names, int n, char *text, size_t size)
{
  size_t length = 0;

  for (; n > 0 && names[length] != '\0'; n--)
    {
      length += names[length] == ',';
      length += strcspn (names + length, ",");
    }
  snprintf (text, size, "%.*s", (int) length, names);
}

QmStatus
qm_bench_rank_devices (const QmBenchOptions *options,
                       int ranks,
                       char ids[][32],
                       QmError *error)
{
  QmDeviceInfo infos[MOST_DEVICES];
  char note[192];
  size_t n;
  int found = 0;

  if (options->device != NULL)
    return named_devices (options->device, ranks, ids, error);
  n = qm_device_list (infos, MOST_DEVICES, note, sizeof note);
  for (size_t i = 0; i < n && found < ranks; i++)
    if (qm_target_is_gpu (&infos[i].target) && infos[i].trouble[0] == '\0')
      snprintf (ids[found++], sizeof ids[0], "%s", infos[i].id);
  if (found == 0)
    return named_devices ("cpu", ranks, ids, error);
  if (found == ranks)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "there %s %d GPU%s here that can be used, and --gpus "
                       "says %d",
                       found == 1 ? "is" : "are", found, found == 1 ? "" : "s",
                       ranks);
}

/* What all ranks of a call share. */
typedef struct Together
{
  QmWorld *world;
  QmBenchRankWork work;
  QmBenchRankEnd end;
  void *data;
  int offset;           /* of the first in the world */
  pthread_mutex_t lock; /* of what follows */
  QmStatus status;
  bool echo, over;
  pthread_cond_t ended;
  QmError first;
} Together;

typedef struct Part
{
  Together *together;
  int rank;
  pthread_t thread;
  bool started;
} Part;

/* Whether an error is what a rank was told of that of another. */
static bool
is_echo (const Together *together, const QmError *error)
{
  QmError said = { 0 };

  return together->world != NULL && error->status == QM_STATUS_DEVICE
         && qm_world_check (together->world, &said) != QM_OK
         && strcmp (said.message, error->message) == 0;
}

/* Who fails while it measures ends the world before it comes back here. */
bool
qm_bench_ranks_own_fault (QmWorld *world, int rank, const QmError *error)
{
  QmError said = { 0 };
  char name[24];
  int length = snprintf (name, sizeof name, "rank %d: ", rank);

  return world == NULL || qm_world_check (world, &said) == QM_OK
         || (strncmp (said.message, name, (size_t) length) == 0
             && strcmp (said.message, error->message) != 0);
}

/* Remembers the first failure, or an echo of it where it is not heard of
 * itself, and has the others fail. */
static void
fail_together (Together *together, int rank, const QmError *error)
{
  bool echo = is_echo (together, error);
  char why[QM_MESSAGE_BYTES];

  pthread_mutex_lock (&together->lock);
  if (together->status == QM_OK || (together->echo && !echo))
    {
      together->status = error->status;
      together->echo = echo;
      together->first = *error;
      if (!echo
          && (error->status == QM_STATUS_DEVICE
              || error->status == QM_STATUS_DEVICE_FULL))
        snprintf (together->first.message, sizeof together->first.message,
                  "rank %d: %.230s", together->offset + rank, error->message);
    }
  snprintf (why, sizeof why, "%s", together->first.message);
  pthread_mutex_unlock (&together->lock);
  if (together->world != NULL)
    qm_world_abort (together->world, together->offset + rank, why);
}

static void *
run_part (void *data)
{
  Part *part = data;
  Together *together = part->together;
  QmError error = { 0 };

  error.status = together->work (together->data, part->rank, &error);
  if (error.status != QM_OK)
    fail_together (together, part->rank, &error);
  if (together->end != NULL)
    together->end (together->data, part->rank);
  return NULL;
}

/* Ends the program where the world has failed and somebody does not hear. */
static void *
watch (void *data)
{
  Together *together = data;
  QmError error = { 0 };
  bool over = false;

  for (int failed = 0; !over && failed < HURRY * LOOKS;)
    {
      struct timespec until = qm_deadline (1.0 / LOOKS);

      pthread_mutex_lock (&together->lock);
      if (!together->over)
        pthread_cond_timedwait (&together->ended, &together->lock, &until);
      over = together->over;
      pthread_mutex_unlock (&together->lock);
      failed += qm_world_check (together->world, &error) != QM_OK;
    }
  if (!over)
    _exit (qm_bench_fail (&error));
  return NULL;
}

/* The calling thread is the first part. */
static void
run_all (Together *together, Part *parts, int ranks)
{
  for (int i = 0; i < ranks; i++)
    parts[i] = (Part){ .together = together, .rank = i };
  for (int i = 1; i < ranks; i++)
    {
      parts[i].started =
          pthread_create (&parts[i].thread, NULL, run_part, &parts[i]) == 0;
      if (!parts[i].started)
        {
          QmError none = { .status = QM_STATUS_NO_MEMORY,
                           .message = "the host has no thread for it" };

          fail_together (together, i, &none);
        }
    }
  run_part (&parts[0]);
  for (int i = 1; i < ranks; i++)
    if (parts[i].started)
      pthread_join (parts[i].thread, NULL);
}

QmStatus
qm_bench_ranks_do (int first,
                   int ranks,
                   QmWorld *world,
                   QmBenchRankWork work,
                   QmBenchRankEnd end,
                   void *data,
                   QmError *error)
{
  Together together = {
    .world = world, .work = work, .end = end, .data = data, .offset = first
  };
  bool others = world != NULL && qm_world_ranks (world) > ranks, watching;
  pthread_t watcher;
  Part parts[QM_BENCH_MOST_RANKS];

  if (ranks == 1 && !others)
    {
      QmStatus status = work (data, 0, error);

      if (end != NULL)
        end (data, 0);
      return status;
    }
  if (!qm_condition_init (&together.ended))
    return qm_error_no_memory (error);
  pthread_mutex_init (&together.lock, NULL);
  watching = others && pthread_create (&watcher, NULL, watch, &together) == 0;
  run_all (&together, parts, ranks);
  pthread_mutex_lock (&together.lock);
  together.over = true;
  pthread_cond_signal (&together.ended);
  pthread_mutex_unlock (&together.lock);
  if (watching)
    pthread_join (watcher, NULL);
  pthread_cond_destroy (&together.ended);
  pthread_mutex_destroy (&together.lock);
  if (together.status != QM_OK && error != NULL)
    *error = together.first;
  return together.status;
}
