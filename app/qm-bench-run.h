/* SPDX-License-Identifier: Apache-2.0 */

/* What a run is and found; between qm-bench-run.c, which measures, and
 * qm-bench-result.c, which prints. */

#ifndef QM_APP_QM_BENCH_RUN_H
#define QM_APP_QM_BENCH_RUN_H

#include "app/qm-bench.h"

#include "engine/measure.h"

typedef struct QmBenchRun
{
  const QmBenchOptions *options;
  QmBenchModel model;
  QmDeviceInfo info;
  QmMonitor *monitor; /* NULL: nothing is known of clocks and power */
  char silence[256];  /* why not; empty for a CPU */
  QmFacts facts;
  QmDevice *device;
  bool brief;  /* as QmMeasureOptions has it */
  double busy; /* when the device was last kept busy by a measurement */
  QmPlan *plan;
  QmMeasureResult result;
  char gpu[64];                    /* id in the catalog, or empty */
  double mfu;                      /* NaN: not known */
  int64_t used_before, used_bytes; /* of the GPU's memory; -1: not known */
  const char *used_source;
  double begin, open_seconds, plan_seconds, total_seconds;
} QmBenchRun;

/* Opens the device, and begins to watch it before anything of its memory is
 * used.  Several runs may follow on it. */
QmStatus qm_bench_run_open (QmBenchRun *run, QmError *error);

/* Plans and measures what the options and the model say. */
QmStatus qm_bench_run_measure (QmBenchRun *run,
                               QmProgress progress,
                               void *data,
                               QmError *error);

/* Frees what was measured; the device stays open. */
void qm_bench_run_clear (QmBenchRun *run);

/* Closes the device. */
void qm_bench_run_close (QmBenchRun *run);

/* A run that succeeded, as JSON; the fields are in qm-bench(1). */
json_t *qm_bench_json_result (const QmBenchRun *run);

/* Prints it for people. */
void qm_bench_print_result (const QmBenchRun *run);

#endif
