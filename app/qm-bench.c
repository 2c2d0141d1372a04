/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench: real training steps on this machine, and what they tell. */

#include "config.h"

#include "app/qm-bench.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-supervise.h"
#include "app/qm-streams.h"
#include "data/file-kind.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

/* Whether what runs is the last. */
static volatile sig_atomic_t last;

/* What is left of the time to stop in good order, in seconds, when it is asked
 * for: passes of large models on a CPU, or a GPU that hangs, take longer. */
#define PATIENCE 1

/* A path of `unfinished` that is set once, before it is read in a handler. */
static const char *volatile unfinished;

/* Whether a line of progress may be there, without an end. */
static volatile sig_atomic_t on_terminal;

/* The time is over. */
static void
on_alarm (int number)
{
  static const char text[] = "\nqm-bench: interrupted\n";
  size_t skipped = on_terminal ? 0 : 1;
  ssize_t written =
      write (STDERR_FILENO, text + skipped, sizeof text - 1 - skipped);

  if (unfinished != NULL)
    unlink (unfinished);
  _exit (written < 0 ? QM_BENCH_FAILED : QM_BENCH_INTERRUPTED);
}

static void
on_interrupt (int number)
{
  if (interrupted)
    on_alarm (number);
  interrupted = 1;
  alarm (PATIENCE);
}

static void
on_last (int number)
{
  last = 1;
}

/* The first interrupt is obeyed between two passes, or after a while at once,
 * as is the second. */
static void
catch_interrupts (void)
{
  struct sigaction action = { .sa_handler = on_interrupt };
  struct sigaction late = { .sa_handler = on_alarm };
  struct sigaction finish_it = { .sa_handler = on_last,
                                 .sa_flags = SA_RESTART };

  on_terminal = isatty (STDERR_FILENO);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGALRM, &late, NULL);
  sigaction (SIGUSR1, &finish_it, NULL);
  signal (SIGCHLD, SIG_DFL); /* or nobody is told how children end */
}

bool
qm_bench_interrupted (void)
{
  return interrupted != 0;
}

bool
qm_bench_is_last (void)
{
  return last != 0;
}

void
qm_bench_remove_if_killed (const char *path)
{
  unfinished = path;
}

int
qm_bench_fail (const QmError *error)
{
  alarm (0);
  if (error->file[0] != '\0' && error->line > 0)
    qm_bench_say ("%s:%d:%d: %s", error->file, error->line, error->column,
                  error->message);
  else if (error->file[0] != '\0')
    qm_bench_say ("%s: %s", error->file, error->message);
  else
    qm_bench_say ("%s", error->message);
  switch (error->status)
    {
    case QM_STATUS_NO_MEMORY:
    case QM_STATUS_DEVICE_FULL:
      return QM_BENCH_FULL;
    case QM_STATUS_DEVICE:
    case QM_STATUS_GONE:
      return QM_BENCH_DEVICE;
    case QM_STATUS_UNSUPPORTED:
      return QM_BENCH_UNSUPPORTED;
    case QM_STATUS_INTERRUPTED:
      return QM_BENCH_INTERRUPTED;
    case QM_STATUS_USAGE:
      return QM_BENCH_USAGE;
    case QM_OK:
    case QM_STATUS_IO:
    case QM_STATUS_PARSE:
    case QM_STATUS_INVALID:
    case QM_STATUS_NOT_FOUND:
      break;
    }
  return QM_BENCH_FAILED;
}

static int
run_command (const QmBenchOptions *options)
{
  static const struct
  {
    const char *name;
    int (*run) (const QmBenchOptions *options);
    bool works; /* on the device in this process, where it tells no events */
  } commands[] = {
    { "devices", qm_bench_devices, false },
    { "plan", qm_bench_plan, false },
    { "predict", qm_bench_predict, false },
    { "calibrate", qm_bench_calibrate, true },
    { "run", qm_bench_run, true },
    { "check", qm_bench_check, true },
    { "train", qm_bench_train, true },
    { "search", qm_bench_search, false },
    { "results", qm_bench_results, false },
    { "share", qm_bench_share, false },
    { "worker", qm_bench_worker, false },
    { "export", qm_bench_export, false },
    { "framework", qm_bench_framework, false },
    { "links", qm_bench_links, false },
    { "accept", qm_bench_accept, false },
  };

  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp (commands[i].name, options->command) == 0)
      return commands[i].works && options->events
                 ? qm_bench_supervise (options, commands[i].run)
                 : commands[i].run (options);
  qm_bench_say ("there is no command '%.32s'; see --help", options->command);
  return QM_BENCH_USAGE;
}

/* Of the commands that several machines can work on. */
static QmStatus
find_others (QmBenchOptions *options, QmError *error)
{
  static const char *const commands[] = { "run", "train", "search", "links",
                                          "worker" };

  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp (options->command, commands[i]) == 0)
      return qm_bench_find_nodes (options, error);
  return QM_OK;
}

/* Whether what a command writes may take the place of what is there.  It is
 * said before the work. */
static QmStatus
check_place (const QmBenchOptions *options, QmError *error)
{
  static const struct
  {
    const char *command;
    QmFileKind kind;
  } kinds[] = {
    { "calibrate", QM_FILE_SPEEDS },  { "check", QM_FILE_SAFETENSORS },
    { "train", QM_FILE_SAFETENSORS }, { "export", QM_FILE_SETTINGS },
    { "results", QM_FILE_RESULTS },   { "share", QM_FILE_SHARED },
  };

  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    {
      const char *path =
          kinds[i].kind == QM_FILE_RESULTS ? options->merge : options->out;

      if (path != NULL && strcmp (kinds[i].command, options->command) == 0
          && !qm_bench_follows (options))
        return qm_file_check_kind (path, kinds[i].kind, options->force, error);
    }
  return QM_OK;
}

/* The exit status, once what was printed has arrived. */
static int
status_once_flushed (int status)
{
  /* What could not be flushed earlier is forgotten, but for the mark. */
  if ((fflush (stdout) == 0 && !ferror (stdout)) || status != QM_BENCH_OK)
    return status;
  fputs ("qm-bench: standard output cannot be written\n", stderr);
  return QM_BENCH_FAILED;
}

int
main (int argc, char **argv)
{
  QmBenchOptions options;
  QmError error = { 0 };

  qm_streams_keep ();
  if (argc > 1 && strcmp (argv[1], "help") == 0
      && (argc == 2 || qm_bench_is_command (argv[2])))
    {
      qm_bench_print_help (argv[2]);
      return status_once_flushed (QM_BENCH_OK);
    }
  for (int i = 1; i < argc; i++)
    {
      if (strcmp (argv[i], "--help") == 0 || strcmp (argv[i], "-h") == 0)
        {
          qm_bench_print_help (argv[1]);
          return status_once_flushed (QM_BENCH_OK);
        }
      if (strcmp (argv[i], "--version") == 0)
        {
          printf ("qm-bench %s\n", QM_VERSION);
          return status_once_flushed (QM_BENCH_OK);
        }
    }
  if (!qm_bench_parse (argc, argv, &options))
    return QM_BENCH_USAGE;
  catch_interrupts ();
  if (find_others (&options, &error) != QM_OK
      || check_place (&options, &error) != QM_OK)
    return qm_bench_fail (&error);
  return status_once_flushed (run_command (&options));
}
