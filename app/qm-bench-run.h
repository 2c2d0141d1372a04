/* SPDX-License-Identifier: Apache-2.0 */

/* What a run is and found; between qm-bench-run.c, which measures, and
 * qm-bench-result.c, which prints. */

#ifndef QM_APP_QM_BENCH_RUN_H
#define QM_APP_QM_BENCH_RUN_H

#include "app/qm-bench.h"

#include "engine/measure.h"
#include "kernels/communicator.h"

/* A run on one device, or one rank of a run on several, of which the first has
 * the others. */
typedef struct QmBenchRun
{
  const QmBenchOptions *options;
  const QmBenchModel *model;
  char id[32];     /* of the device, where it is one of several; or empty */
  int rank, ranks; /* of all machines */
  int local;       /* how many this process has */
  bool broken;     /* its device failed */
  bool lost;       /* another machine is gone, after a failure */
  struct QmBenchRun *others; /* of the first rank: 1 to local - 1 */
  QmWorld *world;            /* NULL: they have not met */
  QmCommunicator *communicator;
  QmTransport wish;       /* of the first rank; what came of a trial stays */
  QmTransportTrial trial; /* of the first rank */
  QmDeviceInfo info;
  QmMonitor *monitor; /* NULL: nothing is known of clocks and power */
  char silence[QM_MESSAGE_BYTES]; /* why not; empty for a CPU */
  QmFacts facts;
  QmDevice *device;
  bool brief;       /* as QmMeasureOptions has it */
  double cut_above; /* as QmMeasureOptions has it */
  double busy;      /* when the device was last kept busy by a measurement */
  QmPlan *plan;
  QmMeasureResult result;
  char gpu[64];                    /* id in the catalog, or empty */
  double mfu;                      /* NaN: not known */
  int64_t used_before, used_bytes; /* of the GPU's memory; -1: not known */
  const char *used_source;
  json_t *seen; /* of the first rank of several machines' first process: what
                   was seen of all ranks, as qm_bench_json_rank() has it; else
                   NULL */
  double begin, open_seconds, plan_seconds, total_seconds;
} QmBenchRun;

/* Opens the device, or as many as --gpus says, and begins to watch them before
 * anything of their memory is used.  Several runs may follow on them. */
QmStatus qm_bench_run_open (QmBenchRun *run, QmError *error);

/* Brings the ranks of all machines together, where they are not; waits `wait`
 * seconds for those of others, or as long as --wait says where it is 0. */
QmStatus qm_bench_run_meet (QmBenchRun *run, double wait, QmError *error);

/* Whether only a trial can tell how ranks of this machine exchange, which they
 * do when they meet: none can read another's memory, and nothing was said. */
bool qm_bench_run_has_to_try (const QmBenchRun *run);

/* Tells all ranks what the first machine's process says: up to 4096 bytes. */
QmStatus
qm_bench_run_tell (QmBenchRun *run, char *text, size_t size, QmError *error);

/* Ends the waits of the others with a sentence, and forgets them. */
void qm_bench_run_part (QmBenchRun *run, const char *why);

/* Plans and measures what the options and the model say; of several devices,
 * the first failure ends it for all. */
QmStatus qm_bench_run_measure (QmBenchRun *run,
                               QmProgress progress,
                               void *data,
                               QmError *error);

/* Brings together what all machines saw of their ranks, where there are
 * several; all call it, once they have measured. */
QmStatus qm_bench_run_gather (QmBenchRun *run, QmError *error);

/* The one with that number of this process. */
static inline const QmBenchRun *
qm_bench_run_rank (const QmBenchRun *run, int rank)
{
  return rank == 0 ? run : &run->others[rank - 1];
}

/* Frees what was measured; the devices stay open. */
void qm_bench_run_clear (QmBenchRun *run);

/* Closes the devices. */
void qm_bench_run_close (QmBenchRun *run);

/* What is told of one of several ranks, that with that number of this process.
 */
json_t *qm_bench_json_rank (const QmBenchRun *run, int number);

/* A run that succeeded, as JSON; the fields are in qm-bench(1). */
json_t *qm_bench_json_result (const QmBenchRun *run);

/* Prints it for people. */
void qm_bench_print_result (const QmBenchRun *run);

#endif
