/* SPDX-License-Identifier: Apache-2.0 */

/* Why something was not measured, for programs that say it in words of their
 * own: beside each `reason`, which is a sentence, results and events have a
 * `cause` that does not change, and what it is about.  They are in
 * qm-bench(1). */

#ifndef QM_APP_QM_BENCH_CAUSE_H
#define QM_APP_QM_BENCH_CAUSE_H

#include "app/qm-bench-worker-process.h"
#include "engine/search.h"

/* Adds that it does not fit, which memory is short, and by how much. */
void qm_bench_cause_shortage (json_t *object, const QmShortage *shortage);

/* Adds why measuring failed in a worker, which may be NULL. */
void qm_bench_cause_failure (json_t *object,
                             QmStatus status,
                             const QmBenchWorker *worker);

/* Adds that it is nothing that the engine can do. */
void qm_bench_cause_unsupported (json_t *object);

/* Adds that it was cut: its step, which `cut_step_s` of the object says, takes
 * longer than `fastest_step` seconds, those of the fastest way that is known.
 */
void qm_bench_cause_slower (json_t *object, double fastest_step);

/* Adds what a line of a results file says of it. */
void qm_bench_cause_of_result (json_t *object, const char *line);

#endif
