/* SPDX-License-Identifier: Apache-2.0 */

/* What the commands that take long tell while they work, as JSON lines, to a
 * program that shows it; the lines are in qm-bench(1).  Each function does
 * nothing where the events are NULL. */

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

/* Something was said by others. */
void qm_bench_events_said (QmBenchEvents *events);

/* Begins to watch the device, and says what it is, which GPU of the catalog,
 * and where results go; each may be NULL. */
void qm_bench_events_begin (QmBenchEvents *events,
                            const QmDeviceInfo *info,
                            const char *gpu,
                            const char *results);

/* The same of a device that a command opened, whose GPU is looked for in the
 * catalog, and of which no results are kept. */
void qm_bench_events_open (QmBenchEvents *events, const QmDeviceInfo *info);

/* Says an object as an event of that name, and takes it, also where nobody
 * wants to hear of it. */
void
qm_bench_events_say (QmBenchEvents *events, const char *name, json_t *object);

/* Tells how much is done, 0 to 1, and how the device is; of a search of which
 * entry, and else -1; seconds that are left, NaN where that is not known; and
 * what is being done, or NULL.  Not more often than twice a second. */
void qm_bench_events_progress (QmBenchEvents *events,
                               int64_t entry,
                               double done,
                               double left,
                               const char *note);

/* Tells of one configuration, whether it is `running`. */
void qm_bench_events_entry (QmBenchEvents *events,
                            const struct QmBenchSearch *search,
                            const struct QmBenchEntry *entry,
                            bool running);

/* Tells of all of them, and how long they will take together. */
void qm_bench_events_list (QmBenchEvents *events,
                           const struct QmBenchSearch *search);

/* Says what failed, unless nothing did, and the command with it; `cause` is a
 * word for it that does not change, or NULL. */
void qm_bench_events_error (QmBenchEvents *events,
                            const QmError *error,
                            const char *cause);

/* Says that nothing more comes, and what is left of a search; NULL: it was
 * none.
 */
void qm_bench_events_end (QmBenchEvents *events,
                          const struct QmBenchSearch *search);

#endif
