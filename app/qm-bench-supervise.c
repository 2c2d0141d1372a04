/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-supervise.h"

#include "app/qm-bench-events.h"
#include "app/qm-bench-worker-process.h"
#include "app/qm-child.h"
#include "data/clock.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Seconds without an event to give a command up after: opening a GPU for the
 * first time compiles kernels. */
#define PATIENCE 900.0

/* Seconds to stop in good order, a little more than a command takes itself
 * before it gives that up. */
#define MERCY 3.0

typedef struct Supervised
{
  const QmBenchOptions *options;
  int (*command) (const QmBenchOptions *options);
  QmBenchEvents *events;
  QmChild *child;
  bool within_line; /* what was handed on does not end with a line */
  bool unheard;     /* nobody listens to what is handed on */
  double stopped;   /* when it was asked to stop; 0: it was not */
} Supervised;

/* The command's own process.  The terminal's interrupt reaches the one above
 * alone, which hands it on: twice is at once. */
static int
run_command (void *data)
{
  const Supervised *supervised = data;

  return supervised->command (supervised->options);
}

/* Asks it to stop, as the user did, and no longer than it may take. */
static void
obey (Supervised *supervised)
{
  double time = qm_clock ();

  if (supervised->stopped <= 0)
    {
      alarm (0); /* of our own haste */
      qm_child_signal (supervised->child, SIGINT);
      supervised->stopped = time;
    }
  else if (time - supervised->stopped > MERCY)
    qm_child_signal (supervised->child, SIGKILL);
}

static void
on_glance_at_child (void *data)
{
  Supervised *supervised = data;

  if (qm_bench_interrupted ())
    obey (supervised);
  if (!supervised->within_line)
    qm_bench_events_alive (supervised->events);
}

/* Hands on what was said. */
static void
hand_on (Supervised *supervised, const QmChildNews *news)
{
  qm_child_got_on (supervised->child);
  supervised->within_line = news->text[news->length - 1] != '\n';
  qm_bench_events_said (supervised->events);
  supervised->unheard =
      fwrite (news->text, 1, news->length, stdout) != news->length
      || fflush (stdout) != 0;
}

/* Listens until it has ended, nobody does any more, or it is given up: returns
 * whether it is. */
static bool
listen_to (Supervised *supervised)
{
  const QmChildWait wait = { .patience =
                                 supervised->options->patience > 0
                                     ? (double) supervised->options->patience
                                     : PATIENCE,
                             .glance = on_glance_at_child,
                             .data = supervised };

  while (!supervised->unheard)
    {
      QmChildNews news = qm_children_hear (&supervised->child, 1, &wait);

      if (news.kind == QM_CHILD_SILENT && supervised->stopped > 0)
        {
          qm_child_signal (supervised->child, SIGKILL);
          qm_child_got_on (supervised->child);
        }
      else if (news.kind != QM_CHILD_SAID)
        return news.kind == QM_CHILD_SILENT;
      else
        hand_on (supervised, &news);
    }
  return false;
}

/* Says how a command ended that did not end by itself; returns the exit
 * status. */
static int
conclude_command (Supervised *supervised, bool given_up, double silence)
{
  QmChildEnd end = qm_child_end (supervised->child);
  QmError error = { 0 };
  char how[128];

  if (supervised->unheard)
    return QM_BENCH_OK; /* what could not be written is found in the end */
  qm_child_describe_end (end, how, sizeof how);
  if (given_up)
    qm_error_set (&error, QM_STATUS_DEVICE, "", 0, 0,
                  "no progress for %.0f s: it was given up", silence);
  else if (end.kind == QM_CHILD_SIGNAL && !qm_bench_interrupted ())
    qm_error_set (&error,
                  end.out_of_memory ? QM_STATUS_NO_MEMORY : QM_STATUS_DEVICE,
                  "", 0, 0, "the process that measured %s", how);
  if (!supervised->within_line)
    qm_bench_events_error (supervised->events, &error,
                           given_up            ? "silence"
                           : end.out_of_memory ? "out-of-memory"
                                               : "signal");
  if (error.status != QM_OK)
    return qm_bench_fail (&error);
  if (end.kind != QM_CHILD_EXIT)
    return QM_BENCH_INTERRUPTED;
  return end.number >= 0 ? end.number : QM_BENCH_FAILED;
}

int
qm_bench_supervise (const QmBenchOptions *options,
                    int (*command) (const QmBenchOptions *options))
{
  Supervised supervised = { .options = options,
                            .command = command,
                            .events = qm_bench_events_new () };
  const QmChildStart start = { .run = run_command,
                               .data = &supervised,
                               .pipes = QM_CHILD_OUT };
  QmError ours = { 0 }, error = { 0 };
  int status;

  if (supervised.events == NULL)
    qm_error_no_memory (&error);
  else if (qm_child_start (&start, &supervised.child, &ours) != QM_OK)
    qm_error_set (&error, ours.status, "", 0, 0, "a process to measure in %s",
                  ours.message);
  if (error.status != QM_OK)
    status = qm_bench_fail (&error);
  else
    {
      bool given_up = listen_to (&supervised);
      double silence = qm_child_silence (supervised.child);

      qm_children_end (&supervised.child, 1,
                       given_up ? &(QmChildMercy){ 0, 0, NULL, NULL }
                                : &(QmChildMercy){ SIGINT, MERCY, NULL, NULL });
      status = conclude_command (&supervised, given_up, silence);
    }
  qm_child_free (supervised.child);
  qm_bench_events_free (supervised.events);
  return status;
}
