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
  QmPlan *plan;
  QmMeasureResult result;
  char gpu[64];                    /* id in the catalog, or empty */
  double mfu;                      /* NaN: not known */
  int64_t used_before, used_bytes; /* of the GPU's memory; -1: not known */
  const char *used_source;
  double begin, open_seconds, plan_seconds, total_seconds;
} QmBenchRun;

/* Print a run that succeeded. */
void qm_bench_print_result (const QmBenchRun *run);
void qm_bench_print_result_json (const QmBenchRun *run);

#endif
