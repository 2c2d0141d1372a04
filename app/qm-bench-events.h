/* SPDX-License-Identifier: Apache-2.0 */

/* What a search tells while it works, as JSON lines, to a program that shows
 * it; the lines are in qm-bench(1).  Each function does nothing where the
 * events are NULL. */

#ifndef QM_APP_QM_BENCH_EVENTS_H
#define QM_APP_QM_BENCH_EVENTS_H

#include "app/qm-bench.h"

struct QmBenchSearch;
struct QmBenchEntry;

typedef struct QmBenchEvents QmBenchEvents;

/* NULL where memory is out. */
QmBenchEvents *qm_bench_events_new (void);
void qm_bench_events_free (QmBenchEvents *events);

/* Says that it is alive, unless something was said in the last second. */
void qm_bench_events_alive (QmBenchEvents *events);

/* Begins to watch the device of a search, and says what it is and where results
 * go. */
void qm_bench_events_begin (QmBenchEvents *events,
                            const struct QmBenchSearch *search,
                            const char *path);

/* Tells of one configuration, whether it is `running`. */
void qm_bench_events_entry (QmBenchEvents *events,
                            const struct QmBenchSearch *search,
                            const struct QmBenchEntry *entry,
                            bool running);

/* Tells of all of them, and how long they will take together. */
void qm_bench_events_list (QmBenchEvents *events,
                           const struct QmBenchSearch *search);

/* Tells how much of an entry is done, and how the device is; seconds that it
 * will take, and those after it.  Not more often than twice a second. */
void qm_bench_events_progress (QmBenchEvents *events,
                               const struct QmBenchSearch *search,
                               size_t entry,
                               double done,
                               double left,
                               double after);

/* Says that nothing more comes, and what is left. */
void qm_bench_events_end (QmBenchEvents *events,
                          const struct QmBenchSearch *search);

#endif
