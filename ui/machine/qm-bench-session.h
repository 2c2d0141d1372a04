/* SPDX-License-Identifier: Apache-2.0 */

/* A benchmark of this machine: a search of qm-bench over models and methods on
 * one device or several together, from its estimate to its end.
 *
 *   IDLE --estimate--> ESTIMATING --> READY --start--> RUNNING --> FINISHED
 *                                       ^     |  ^         |
 *                                       |  STOPPING     FAILED
 *                                       |     v  |start    |start
 *                                       |   PAUSED         v
 *                                       +-- cancel ---- RUNNING
 *
 * Each result is on the disk before the next is begun, in a file of this host
 * in the user's data folder, and is not measured again: continuing, estimating
 * anew and another benchmark all go on from there.  A session that was started
 * and neither finished nor cancelled is found again after a crash or a restart,
 * see qm_bench_session_restore().
 *
 * Pausing stops the measurement that runs, of which nothing is kept: it begins
 * anew when the session goes on. */

#pragma once

#include "ui/machine/qm-bench-row.h"
#include "ui/qm-catalog-keeper.h"

G_BEGIN_DECLS

typedef enum
{
  QM_BENCH_SESSION_IDLE,       /* no question, or none that can be planned:
                                  qm_bench_session_get_failure() */
  QM_BENCH_SESSION_ESTIMATING, /* qm-bench plans; rows are those from before */
  QM_BENCH_SESSION_READY,      /* planned; nothing is done yet */
  QM_BENCH_SESSION_RUNNING,
  QM_BENCH_SESSION_STOPPING, /* on its way to PAUSED or READY */
  QM_BENCH_SESSION_PAUSED,
  QM_BENCH_SESSION_FINISHED, /* also where single measurements failed */
  QM_BENCH_SESSION_FAILED    /* qm-bench failed; start goes on */
} QmBenchSessionState;

typedef enum
{
  QM_BENCH_METHODS_NAIVE,      /* off the shelf */
  QM_BENCH_METHODS_FREE_LUNCH, /* what costs nothing */
  QM_BENCH_METHODS_ALL         /* and everything that saves memory */
} QmBenchMethods;

#define QM_TYPE_BENCH_SESSION (qm_bench_session_get_type ())
G_DECLARE_FINAL_TYPE (
    QmBenchSession, qm_bench_session, QM, BENCH_SESSION, GObject)

/* Signals:
 *
 *   "changed"   anything that the functions below return, rows aside; while it
 *               runs about once a second
 *   "measured"  (QmBenchRow *row)  a result is on the disk: what reads results
 *               may read them anew
 *   "finished"  the last state was reached: FINISHED
 */

/* Names of models and predictions come from the catalog that is kept there.
 * (transfer full) */
QmBenchSession *qm_bench_session_new (QmCatalogKeeper *keeper);

/* Plans a benchmark: rows, the time that it will take, and what is known
 * already.  An estimate that is under way is given up for this one; nothing
 * happens while it is busy.  Without `device` or models it is IDLE.
 *
 * `gpus` says how many devices work together: numbers that are joined by commas
 * and measured one after the other, "1,2,4"; `device` then names as many
 * devices as the largest, joined the same way.  NULL: one. */
void qm_bench_session_estimate (QmBenchSession *self,
                                const char *device,
                                const char *gpus,
                                const char *const *models,
                                QmBenchMethods methods);

/* Finds the session again that was left unfinished on this host: it is PAUSED,
 * once its rows are there.  FALSE where there is none. */
gboolean qm_bench_session_restore (QmBenchSession *self);

/* Waits until what sessions left for that is on the disk, or is gone from it:
 * before the program ends, and no longer than QM_PATIENCE_USEC.  FALSE where it
 * is not by then. */
gboolean qm_bench_session_settle (void);

/* Which GPU of the catalog the device of the last estimate or run is: that is
 * what is predicted for, and has a place in the plots.  NULL: none, as a
 * processor.  (transfer none) */
const char *qm_bench_session_get_gpu (QmBenchSession *self);

/* What it is about; NULL or empty while it is IDLE.  (transfer none) */
const char *qm_bench_session_get_device (QmBenchSession *self);
const char *qm_bench_session_get_gpus (QmBenchSession *self);
const char *const *qm_bench_session_get_models (QmBenchSession *self);
QmBenchMethods qm_bench_session_get_methods (QmBenchSession *self);

/* Begins, or goes on where it is PAUSED or FAILED. */
void qm_bench_session_start (QmBenchSession *self);

/* Measures what failed again, when it starts the next time. */
void qm_bench_session_set_again (QmBenchSession *self, gboolean again);

/* Stops the measurement that runs; PAUSED follows. */
void qm_bench_session_pause (QmBenchSession *self);

/* Stops, and forgets what was not done; READY follows. */
void qm_bench_session_cancel (QmBenchSession *self);

/* Whether qm-bench measures, or is about to end. */
gboolean qm_bench_session_is_busy (QmBenchSession *self);

/* Stops as qm_bench_session_pause() does, and calls back when nothing runs any
 * more; for a window that is to be closed. */
void qm_bench_session_stop_async (QmBenchSession *self,
                                  GAsyncReadyCallback callback,
                                  gpointer data);
void qm_bench_session_stop_finish (QmBenchSession *self, GAsyncResult *result);

/* Where it is. */
QmBenchSessionState qm_bench_session_get_state (QmBenchSession *self);

/* The configurations, QmBenchRow, in the order in which they are measured.
 * (transfer none) */
GListModel *qm_bench_session_get_rows (QmBenchSession *self);

/* Rows that are neither waiting nor running. */
guint qm_bench_session_get_n_done (QmBenchSession *self);

/* 0 to 1, by the time that things take. */
double qm_bench_session_get_progress (QmBenchSession *self);

/* Seconds of measuring that are left, predicted: from operations alone at
 * first, from what measuring took as it goes on.  NaN: not known. */
double qm_bench_session_get_seconds_left (QmBenchSession *self);

/* The row that is measured, or NULL.  (transfer none) */
QmBenchRow *qm_bench_session_get_current (QmBenchSession *self);

/* Of the device, while it runs; NaN: not known. */
double qm_bench_session_get_celsius (QmBenchSession *self);
double qm_bench_session_get_watts (QmBenchSession *self);
double qm_bench_session_get_watts_limit (QmBenchSession *self);

/* Why the clocks of the device are not higher, in words, or "". */
const char *qm_bench_session_get_throttle (QmBenchSession *self);

/* Why the last run or estimate failed: a sentence, or NULL; and what qm-bench
 * said last.  (transfer none) */
const char *qm_bench_session_get_failure (QmBenchSession *self);
const char *qm_bench_session_get_log (QmBenchSession *self);

G_END_DECLS
