/* SPDX-License-Identifier: Apache-2.0 */

/* What `accept` found; between qm-bench-accept.c, which measures, and
 * qm-bench-accept-report.c, which tells. */

#ifndef QM_APP_QM_BENCH_ACCEPT_H
#define QM_APP_QM_BENCH_ACCEPT_H

#include "app/qm-bench.h"

#include "data/acceptance.h"
#include "data/results-file.h"
#include "data/sha256.h"

/* One training of the file, and how it went. */
typedef struct QmBenchTrial
{
  const QmAcceptanceTraining *asked;
  char reason[256]; /* why it does not pass, a sentence; empty: it does */
  bool measured;
  int gpus;          /* that it was measured on */
  char way[96];      /* how it was trained, in words */
  double per_second; /* tokens or samples */
  double days;       /* of the whole training */
  double seconds;    /* that were timed, after as many of load */
  int64_t throttle;  /* what held any GPU back */
  bool watched;      /* else nothing is known of that */
} QmBenchTrial;

typedef struct QmBenchAcceptance
{
  const QmBenchOptions *options;
  QmAcceptance asked;
  char digest[QM_SHA256_HEX]; /* of the file */
  char begun[QM_RESULTS_TIME_BYTES];
  QmDeviceInfo devices[QM_ACCEPTANCE_MOST_GPUS];
  char gpus[QM_ACCEPTANCE_MOST_GPUS][64]; /* ids in the catalog, or empty */
  int n_devices;
  QmBenchTrial trials[QM_ACCEPTANCE_MAX];
} QmBenchAcceptance;

/* Whether all trainings passed. */
bool qm_bench_accepted (const QmBenchAcceptance *acceptance);

/* Prints what was found: a page for the files, or a line of JSON; the fields
 * are in qm-bench(1). */
void qm_bench_print_acceptance (const QmBenchAcceptance *acceptance);
void qm_bench_print_acceptance_json (const QmBenchAcceptance *acceptance);

#endif
