/* SPDX-License-Identifier: Apache-2.0 */

/* A worker of qm-bench, as the search sees it. */

#ifndef QM_APP_QM_BENCH_WORKER_PROCESS_H
#define QM_APP_QM_BENCH_WORKER_PROCESS_H

#include "app/qm-bench.h"

/* Told how much of a measurement is done, 0 to 1. */
typedef void (*QmBenchProgress) (void *data, double done);

/* Called while there is nothing to do but to wait. */
typedef void (*QmBenchGlance) (void *data);

typedef struct QmBenchWorker QmBenchWorker;

/* Starts a worker, which opens `device`; what there is of it comes back in
 * *info.  `glance` is called about ten times a second.  Fails as opening the
 * device does; QM_STATUS_INTERRUPTED where the user asked to stop. */
QmStatus qm_bench_worker_start (const QmBenchOptions *options,
                                const char *device,
                                QmBenchGlance glance,
                                void *data,
                                QmDeviceInfo *info,
                                QmBenchWorker **worker,
                                QmError *error);

/* What to wait for. */
typedef struct QmBenchWait
{
  double patience; /* seconds without progress to give up after */
  double stop_at;  /* of qm_clock(): time to stop; 0: none */
  QmBenchProgress progress;
  QmBenchGlance glance;
  void *data;
} QmBenchWait;

/* Has one measurement made, as qm-bench-worker.c describes it, and takes
 * `job`.  *result is the caller's.
 * QM_STATUS_INTERRUPTED where the user asked to stop or it was time to; else
 * what the worker says, and QM_STATUS_DEVICE where it ended or hung.  After
 * both the worker is gone: qm_bench_worker_alive(). */
QmStatus qm_bench_worker_measure (QmBenchWorker *worker,
                                  json_t *job,
                                  const QmBenchWait *wait,
                                  json_t **result,
                                  QmError *error);

/* How a worker came to its end, where that was not its own wish. */
typedef enum QmBenchEndKind
{
  QM_BENCH_NO_END,
  QM_BENCH_END_SIGNAL, /* the number is that of the signal */
  QM_BENCH_END_EXIT,   /* of the exit status */
  QM_BENCH_END_SILENCE /* of the seconds that nothing came in */
} QmBenchEndKind;

typedef struct QmBenchEnd
{
  QmBenchEndKind kind;
  int number;
} QmBenchEnd;

QmBenchEnd qm_bench_worker_end (const QmBenchWorker *worker);

/* How its GPUs exchange, where it had to try: "nccl" or "host", static, and
 * what both took; else NULL and a trial of 0 bytes. */
const char *qm_bench_worker_transport (const QmBenchWorker *worker,
                                       QmTransportTrial *trial);

/* Whether it can measure more. */
bool qm_bench_worker_alive (const QmBenchWorker *worker);

/* Ends it, in good order where it has nothing to do; NULL is allowed. */
void qm_bench_worker_free (QmBenchWorker *worker);

#endif
