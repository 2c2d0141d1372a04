/* SPDX-License-Identifier: Apache-2.0 */

/* How far a command is that takes seconds to minutes, told to people as a line
 * on standard error, or to programs as events. */

#ifndef QM_APP_QM_BENCH_PROGRESS_H
#define QM_APP_QM_BENCH_PROGRESS_H

#include "app/qm-bench-events.h"

typedef struct QmBenchMeter
{
  double first, first_done; /* when progress was first heard of */
  double shown;             /* when; 0: never */
  bool terminal;
  QmBenchEvents *events; /* NULL: for people; owned */
} QmBenchMeter;

/* As the options say. */
QmBenchMeter qm_bench_meter (const QmBenchOptions *options);

/* A QmProgress, whose data is a meter: says how much is done, 0 to 1, and what
 * is left; false where the user wants to stop. */
bool qm_bench_meter_move (void *meter, double done);

/* Ends a line that stands there unfinished. */
void qm_bench_meter_break (const QmBenchMeter *meter);

#endif
