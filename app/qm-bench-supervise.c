/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-supervise.h"

#include "app/qm-bench-events.h"
#include "app/qm-bench-worker-process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds without an event to give a command up after: opening a GPU for the
 * first time compiles kernels. */
#define PATIENCE 900.0

/* Milliseconds between two looks at whether the user asked to stop. */
#define GLANCE 100

/* Seconds to stop in good order, a little more than a command takes itself
 * before it gives that up. */
#define MERCY 3.0

typedef struct Supervised
{
  QmBenchEvents *events;
  pid_t pid;
  int from;         /* its standard output */
  bool within_line; /* what was handed on does not end with a line */
  double heard;     /* when it said something */
  double stopped;   /* when it was asked to stop; 0: it was not */
  double patience;  /* seconds */
} Supervised;

static QmStatus
fail (QmError *error)
{
  return qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                       "no process can be started: %s", strerror (errno));
}

/* The command's own process; does not return.  The terminal's interrupt reaches
 * the one above alone, which hands it on: twice is at once. */
static void
run_command (const QmBenchOptions *options,
             int (*command) (const QmBenchOptions *options),
             pid_t parent,
             int output)
{
  int status = QM_BENCH_FAILED;

  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () == parent && dup2 (output, STDOUT_FILENO) >= 0)
    {
      close (output);
      status = command (options);
      if (fflush (stdout) != 0 && status == QM_BENCH_OK)
        status = QM_BENCH_FAILED;
    }
  exit (status);
}

static QmStatus
start (Supervised *child,
       const QmBenchOptions *options,
       int (*command) (const QmBenchOptions *options),
       QmError *error)
{
  pid_t parent = getpid ();
  int ends[2];

  if (pipe (ends) != 0)
    return fail (error);
  child->pid = fork ();
  if (child->pid == 0)
    {
      close (ends[0]);
      run_command (options, command, parent, ends[1]);
    }
  close (ends[1]);
  child->from = ends[0];
  if (child->pid > 0)
    return QM_OK;
  close (ends[0]);
  return fail (error);
}

/* Hands on what was said; false at its end, and where nobody listens. */
static bool
hand_on (Supervised *child)
{
  char text[65536];
  ssize_t n = read (child->from, text, sizeof text);

  if (n < 0 && errno == EINTR)
    return true;
  if (n <= 0)
    return false;
  child->heard = qm_bench_now ();
  child->within_line = text[n - 1] != '\n';
  qm_bench_events_said (child->events);
  return fwrite (text, 1, (size_t) n, stdout) == (size_t) n
         && fflush (stdout) == 0;
}

/* Asks it to stop, as the user did, and no longer than it may take. */
static void
obey (Supervised *child)
{
  double time = qm_bench_now ();

  if (child->stopped <= 0)
    {
      alarm (0); /* of our own haste */
      kill (child->pid, SIGINT);
      child->stopped = time;
    }
  else if (time - child->stopped > MERCY)
    kill (child->pid, SIGKILL);
}

/* Listens until it has ended or is given up; returns whether it is. */
static bool
listen_to (Supervised *child)
{
  for (;;)
    {
      struct pollfd from = { .fd = child->from, .events = POLLIN };

      if (poll (&from, 1, GLANCE) > 0)
        {
          if (!hand_on (child))
            return false;
          continue;
        }
      if (qm_bench_interrupted ())
        obey (child);
      else if (qm_bench_now () - child->heard > child->patience)
        return true;
      if (!child->within_line)
        qm_bench_events_alive (child->events);
    }
}

/* Waits for its end, which is near unless nobody listens any more. */
static int
reap (Supervised *child)
{
  int end = 0;

  while (waitpid (child->pid, &end, 0) < 0 && errno == EINTR)
    ;
  return end;
}

int
qm_bench_supervise (const QmBenchOptions *options,
                    int (*command) (const QmBenchOptions *options))
{
  Supervised child = { .heard = qm_bench_now (),
                       .patience = options->patience > 0
                                       ? (double) options->patience
                                       : PATIENCE,
                       .events = qm_bench_events_new () };
  QmError error = { 0 };
  bool given_up;
  int end;

  if (child.events == NULL)
    qm_error_set (&error, QM_STATUS_NO_MEMORY, "", 0, 0,
                  "the host is out of memory");
  if (child.events == NULL || start (&child, options, command, &error) != QM_OK)
    {
      qm_bench_events_free (child.events);
      return qm_bench_fail (&error);
    }
  given_up = listen_to (&child);
  close (child.from);
  if (given_up)
    kill (child.pid, SIGKILL);
  end = reap (&child);
  if (given_up)
    qm_error_set (&error, QM_STATUS_DEVICE, "", 0, 0,
                  "no progress for %.0f s: it was given up",
                  qm_bench_now () - child.heard);
  else if (WIFSIGNALED (end) && !qm_bench_interrupted ())
    qm_error_set (&error, QM_STATUS_DEVICE, "", 0, 0,
                  "the process that measured was ended by signal %d (%s)",
                  WTERMSIG (end), strsignal (WTERMSIG (end)));
  if (!child.within_line)
    qm_bench_events_error (child.events, &error,
                           given_up ? "silence" : "signal");
  qm_bench_events_free (child.events);
  if (error.status != QM_OK)
    return qm_bench_fail (&error);
  return WIFEXITED (end) ? WEXITSTATUS (end) : QM_BENCH_INTERRUPTED;
}
