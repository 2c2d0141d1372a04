/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-progress.h"

#include "app/qm-bench-worker-process.h"
#include "data/clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Seconds between two lines of progress. */
#define PROGRESS_TERMINAL 0.2
#define PROGRESS_FILE     5.0

QmBenchMeter
qm_bench_meter (const QmBenchOptions *options)
{
  return (QmBenchMeter){ .terminal = isatty (STDERR_FILENO),
                         .events =
                             options->events ? qm_bench_events_new () : NULL };
}

/* Shows it to people. */
static void
show_progress (QmBenchMeter *meter, double done, double left)
{
  double time = qm_clock ();

  if (done < 1 && meter->shown > 0
      && time - meter->shown
             < (meter->terminal ? PROGRESS_TERMINAL : PROGRESS_FILE))
    return;
  meter->shown = time;
  fprintf (stderr, "%s%3.0f %%", meter->terminal ? "\r" : "", done * 100);
  if (left >= 0)
    fprintf (stderr, ", %.0f s left", left);
  fprintf (stderr, "%s",
           !meter->terminal ? "\n"
           : done < 1       ? "    "
                            : "    \n");
}

/* The first pass takes longer than all others, so the rest is told from what
 * came after it. */
bool
qm_bench_meter_move (void *data, double done)
{
  QmBenchMeter *meter = data;
  double time = qm_clock (), left = NAN, part;

  if (meter->first <= 0)
    {
      meter->first = time;
      meter->first_done = done;
    }
  part = (done - meter->first_done) / (1 - meter->first_done);
  if (part > 0)
    left = (time - meter->first) * (1 - part) / part;
  if (meter->events != NULL)
    qm_bench_events_progress (meter->events, -1, done, left, NULL);
  else
    show_progress (meter, done, left);
  return !qm_bench_interrupted ();
}

void
qm_bench_meter_break (const QmBenchMeter *meter)
{
  if (meter->terminal && meter->events == NULL && meter->shown > 0)
    fputc ('\n', stderr);
}
