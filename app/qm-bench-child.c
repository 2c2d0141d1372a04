/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-child.h"

#include "app/qm-bench.h"
#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds. */
#define TICK  100  /* between two looks at whether it lives */
#define GRACE 2000 /* to end, when it has nothing more to say */
#define MERCY 300  /* to end, when it was interrupted */

extern char **environ;

static double
now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void
close_end (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

/* A pipe that other programs do not inherit, apart from the standard ones. */
static bool
make_pipe (int ends[2])
{
  int raw[2];

  if (pipe (raw) != 0)
    return false;
  for (int i = 0; i < 2; i++)
    {
      ends[i] = fcntl (raw[i], F_DUPFD_CLOEXEC, 3);
      close (raw[i]);
    }
  if (ends[0] >= 0 && ends[1] >= 0)
    return true;
  close_end (&ends[0]);
  close_end (&ends[1]);
  return false;
}

/* Starts it in a group of its own, with the default for signals. */
static int
spawn (QmBenchChild *child, const char *const *arguments, const int ends[3])
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults, none;
  int result;

  sigemptyset (&none);
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE);
  sigaddset (&defaults, SIGINT);
  sigaddset (&defaults, SIGTERM);
  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);
  for (int i = 0; i < 3; i++)
    posix_spawn_file_actions_adddup2 (&actions, ends[i], i);
  posix_spawnattr_setpgroup (&attributes, 0);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP
                                             | POSIX_SPAWN_SETSIGDEF
                                             | POSIX_SPAWN_SETSIGMASK);
  result = posix_spawnp (&child->pid, child->name, &actions, &attributes,
                         (char *const *) (const void *) arguments, environ);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  if (result != 0)
    child->pid = 0;
  return result;
}

QmStatus
qm_bench_child_start (QmBenchChild *child,
                      const char *const *arguments,
                      QmError *error)
{
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
  int result = 0;

  memset (child, 0, sizeof *child);
  child->name = arguments[0];
  sigaction (SIGPIPE, &ignore, NULL);
  for (int i = 0; i < 3 && result == 0; i++)
    if (!make_pipe (pipes[i]))
      result = errno;
  if (result == 0)
    {
      const int ends[3] = { pipes[0][0], pipes[1][1], pipes[2][1] };

      result = spawn (child, arguments, ends);
    }
  close_end (&pipes[0][0]);
  close_end (&pipes[1][1]);
  close_end (&pipes[2][1]);
  child->in = pipes[0][1];
  child->out = pipes[1][0];
  child->err = pipes[2][0];
  if (result == 0)
    return QM_OK;
  qm_bench_child_close (child, false, NULL, 0);
  return qm_error_set (error, QM_STATUS_IO, child->name, 0, 0,
                       "cannot be started: %s", strerror (result));
}

void
qm_bench_child_send (QmBenchChild *child, const char *text)
{
  size_t n = strlen (text);

  while (n > 0)
    {
      ssize_t written = write (child->in, text, n);

      if (written < 0 && errno == EINTR && !qm_bench_interrupted ())
        continue;
      if (written <= 0)
        return;
      text += written;
      n -= (size_t) written;
    }
}

/* Keeps the last words. */
static void
read_words (QmBenchChild *child)
{
  char text[QM_CHILD_WORDS];
  ssize_t n = read (child->err, text, sizeof text);
  size_t length = n > 0 ? (size_t) n : 0, kept;

  if (n < 0 && errno == EINTR)
    return;
  if (n <= 0)
    {
      close_end (&child->err);
      return;
    }
  kept = sizeof child->words - length < child->n_words
             ? sizeof child->words - length
             : child->n_words;
  memmove (child->words, child->words + child->n_words - kept, kept);
  memcpy (child->words + kept, text, length);
  child->n_words = kept + length;
}

/* Takes a whole line out of what was read. */
static char *
take_line (QmBenchChild *child)
{
  char *begin = child->buffer + child->start;
  char *end = memchr (begin, '\n', child->used - child->start);

  if (end == NULL)
    return NULL;
  *end = '\0';
  child->start = (size_t) (end + 1 - child->buffer);
  return begin;
}

static void
read_more (QmBenchChild *child)
{
  ssize_t n;

  memmove (child->buffer, child->buffer + child->start,
           child->used - child->start);
  child->used -= child->start;
  child->start = 0;
  n = read (child->out, child->buffer + child->used,
            QM_CHILD_MAX_LINE - child->used);
  if (n > 0)
    child->used += (size_t) n;
  else if (n == 0 || errno != EINTR)
    close_end (&child->out);
}

static bool
has_ended (const QmBenchChild *child)
{
  siginfo_t info = { 0 };

  return waitid (P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT)
             != 0
         || info.si_pid != 0;
}

/* Waits a little for something to read, and reads it; false where nothing was
 * there. */
static bool
listen_to (QmBenchChild *child)
{
  struct pollfd ends[2] = { { child->out, POLLIN, 0 },
                            { child->err, POLLIN, 0 } };

  if (poll (ends, 2, TICK) <= 0)
    return false;
  if (ends[1].revents != 0)
    read_words (child);
  if (ends[0].revents != 0)
    read_more (child);
  return true;
}

static QmStatus
check_line (const QmBenchChild *child, const char *line, QmError *error)
{
  QmError ours = { 0 };
  size_t length = (size_t) (child->buffer + child->start - line) - 1;

  if (strlen (line) == length
      && qm_text_check (line, length, child->name, &ours) == QM_OK)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, child->name, 0, 0,
                       "said something that is no text");
}

QmStatus
qm_bench_child_line (QmBenchChild *child,
                     int patience,
                     const char **line,
                     QmError *error)
{
  double begin = now ();

  while ((*line = take_line (child)) == NULL)
    {
      bool ended, heard;

      if (qm_bench_interrupted ())
        return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                             "interrupted");
      if (child->glance != NULL)
        child->glance (child->data);
      if (child->out < 0)
        return QM_OK;
      if (child->used - child->start == QM_CHILD_MAX_LINE)
        return qm_error_set (error, QM_STATUS_INVALID, child->name, 0, 0,
                             "said a line of more than %d KiB",
                             QM_CHILD_MAX_LINE / 1024);
      ended = has_ended (child);
      heard = listen_to (child);
      /* What it started may still have the pipe. */
      if (ended && !heard && !qm_bench_interrupted ())
        return QM_OK;
      if (now () - begin > patience)
        return qm_error_set (error, QM_STATUS_IO, child->name, 0, 0,
                             "said nothing for %d s and was given up",
                             patience);
    }
  return check_line (child, *line, error);
}

/* Waits for the end, reading its last words; false where it does not come. */
static bool
wait_for_end (QmBenchChild *child, int milliseconds)
{
  double begin = now ();

  while (!has_ended (child))
    {
      struct pollfd end = { child->err, POLLIN, 0 };

      if ((now () - begin) * 1e3 > milliseconds)
        return false;
      if (poll (&end, 1, TICK / 10) > 0)
        read_words (child);
    }
  return true;
}

/* What it said before it ended, without waiting for those who have its standard
 * error still. */
static void
read_last_words (QmBenchChild *child)
{
  struct pollfd end = { child->err, POLLIN, 0 };

  for (int i = 0; i < 64 && child->err >= 0 && poll (&end, 1, 0) > 0; i++)
    read_words (child);
}

static void
describe_end (int status, char *how, size_t size)
{
  if (WIFSIGNALED (status))
    snprintf (how, size, "was ended by signal %d (%s)", WTERMSIG (status),
              strsignal (WTERMSIG (status)));
  else
    snprintf (how, size, "ended with status %d", WEXITSTATUS (status));
}

void
qm_bench_child_close (QmBenchChild *child,
                      bool interrupted,
                      char *how,
                      size_t size)
{
  bool open = child->out >= 0;
  int status = 0;

  if (how != NULL)
    how[0] = '\0';
  if (child->pid > 0)
    {
      if (interrupted)
        kill (-child->pid, SIGINT);
      wait_for_end (child, interrupted ? MERCY : open ? 0 : GRACE);
      /* Before it is waited for, so that the number is still its own. */
      kill (-child->pid, SIGKILL);
      while (waitpid (child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
      read_last_words (child);
      if (how != NULL)
        describe_end (status, how, size);
    }
  child->pid = 0;
  close_end (&child->in);
  close_end (&child->out);
  close_end (&child->err);
}

void
qm_bench_child_print_words (const QmBenchChild *child)
{
  bool fresh = true;

  for (size_t i = 0; i < child->n_words; i++)
    {
      unsigned char byte = (unsigned char) child->words[i];

      if (fresh)
        fputs ("  | ", stderr);
      fresh = byte == '\n';
      if ((byte < ' ' && byte != '\n' && byte != '\t') || byte > '~')
        byte = '?';
      fputc (byte, stderr);
    }
  if (!fresh)
    fputc ('\n', stderr);
}
