/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-child-private.h"

#include "data/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes that are read at once where there are no lines. */
#define CHUNK ((size_t) 65536)

void
qm_child_close_end (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

int64_t
qm_child_count_memory_kills (const char *counters)
{
  FILE *file = fopen (counters, "re");
  long long count = -1;
  char line[128];

  while (file != NULL && count < 0 && fgets (line, sizeof line, file) != NULL)
    if (sscanf (line, "oom_kill %lld", &count) != 1)
      count = -1;
  if (file != NULL)
    fclose (file);
  return count;
}

/* A pipe that no program inherits, apart from the standard streams. */
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
  qm_child_close_end (&ends[0]);
  qm_child_close_end (&ends[1]);
  return false;
}

/* The pipes of a start: of the standard streams, and one by which a program
 * tells why it cannot be run. */
typedef struct Pipes
{
  int ends[4][2]; /* to read, to write; -1: none */
} Pipes;

enum
{
  REPORT = 3
};

static void
close_all (Pipes *pipes)
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++)
      qm_child_close_end (&pipes->ends[i][j]);
}

static bool
make_pipes (const QmChildStart *start, Pipes *pipes)
{
  for (int i = 0; i < 4; i++)
    if ((i == REPORT ? start->program != NULL : (start->pipes >> i & 1) != 0)
        && !make_pipe (pipes->ends[i]))
      return false;
  return true;
}

/* The child's end of a standard stream. */
static int
theirs (const Pipes *pipes, int stream)
{
  return pipes->ends[stream][stream == STDIN_FILENO ? 0 : 1];
}

/* What a program finds as if a shell had started it. */
static void
reset_signals (void)
{
  static const int numbers[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
  struct sigaction usual = { .sa_handler = SIG_DFL };
  sigset_t none;

  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    sigaction (numbers[i], &usual, NULL);
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
}

/* The child; does not return.  Other threads may have been in the middle of
 * anything, so that up to exec nothing is called that needs a lock. */
static void
be_the_child (const QmChildStart *start, Pipes *pipes, pid_t parent)
{
  bool good = true;
  int status, problem;

  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != parent)
    _exit (127); /* it was too late to be told */
  for (int i = 0; i < 3 && good; i++)
    good = theirs (pipes, i) < 0 || dup2 (theirs (pipes, i), i) >= 0;
  if (start->program == NULL && good)
    {
      close_all (pipes);
      status = start->run (start->data);
      if (fflush (stdout) != 0 && status == 0)
        status = 1;
      exit (status);
    }
  if (good)
    {
      reset_signals ();
      execvp (start->program, (char *const *) (const void *) start->arguments);
    }
  problem = errno;
  if (write (pipes->ends[REPORT][1], &problem, sizeof problem) < 0)
    _exit (126);
  _exit (127);
}

/* Why the program could not be run; 0: it could.  Returns at the latest when it
 * was. */
static int
read_report (int fd)
{
  int problem = 0;
  ssize_t n;

  do
    n = read (fd, &problem, sizeof problem);
  while (n < 0 && errno == EINTR);
  return n == (ssize_t) sizeof problem ? problem : 0;
}

static void
await (pid_t pid)
{
  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    continue;
}

/* Returns an errno; 0 where it works. */
static int
launch_child (QmChild *child, const QmChildStart *start, Pipes *pipes)
{
  pid_t parent = getpid (), pid;
  int problem = 0;

  if (!make_pipes (start, pipes))
    return errno;
  /* What is buffered is to be said once. */
  if (start->program == NULL)
    fflush (stdout);
  pid = fork ();
  if (pid < 0)
    return errno;
  if (pid == 0)
    be_the_child (start, pipes, parent);
  setpgid (pid, pid); /* whoever is first */
  qm_child_close_end (&pipes->ends[REPORT][1]);
  if (start->program != NULL)
    problem = read_report (pipes->ends[REPORT][0]);
  if (problem != 0)
    {
      await (pid);
      return problem;
    }
  child->pid = pid;
  return 0;
}

/* Takes our ends of the pipes. */
static void
take_pipes (QmChild *child, Pipes *pipes)
{
  int *ours[3][2] = { { &pipes->ends[0][1], &child->in },
                      { &pipes->ends[1][0], &child->out },
                      { &pipes->ends[2][0], &child->err } };

  for (int i = 0; i < 3; i++)
    {
      *ours[i][1] = *ours[i][0];
      *ours[i][0] = -1;
    }
  if (child->in >= 0)
    fcntl (child->in, F_SETFL, O_NONBLOCK);
}

static QmChild *
new_child (const QmChildStart *start)
{
  QmChild *child = calloc (1, sizeof *child);
  size_t size = start->longest > 0 ? start->longest + 1 : CHUNK;

  if (child == NULL)
    return NULL;
  child->in = child->out = child->err = -1;
  child->lines = start->longest > 0;
  child->size = size;
  child->buffer = malloc (size + 1);
  if (child->buffer == NULL)
    {
      free (child);
      return NULL;
    }
  child->counters = start->counters != NULL ? start->counters : "/proc/vmstat";
  child->memory_kills = qm_child_count_memory_kills (child->counters);
  child->got_on = qm_clock ();
  return child;
}

QmStatus
qm_child_start (const QmChildStart *start, QmChild **child, QmError *error)
{
  Pipes pipes = { { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } } };
  QmChild *new = new_child (start);
  int problem;

  *child = NULL;
  if (new == NULL)
    return qm_error_no_memory (error);
  problem = launch_child (new, start, &pipes);
  if (problem == 0)
    {
      take_pipes (new, &pipes);
      *child = new;
    }
  else
    qm_child_free (new);
  close_all (&pipes);
  if (problem == 0)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_IO, "", 0, 0, "cannot be started: %s",
                       strerror (problem));
}
