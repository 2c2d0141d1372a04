/* SPDX-License-Identifier: Apache-2.0 */

/* One run of qm-bench, as a child that may do anything: crash, hang, run out
 * of memory, be killed, or say what is no JSON.  Each costs this run only, and
 * is told in one sentence.
 *
 * Nothing here waits: what the child says comes as signals in the main loop, at
 * most 64 lines in one iteration, and a child that says more is not read from
 * until these are done.
 *
 * It leaves nothing behind.  The child leads a group of its own, all of which
 * is killed when the child ends; and it is killed by the kernel when this
 * program is, by which the workers of qm-bench are, too.
 *
 *   QmBenchProcess *process = qm_bench_process_new (arguments);
 *   g_signal_connect (process, "line", G_CALLBACK (line_cb), self);
 *   g_signal_connect (process, "ended", G_CALLBACK (ended_cb), self);
 *   qm_bench_process_start (process);
 */

#pragma once

#include <gio/gio.h>
#include <jansson.h>

G_BEGIN_DECLS

/* How a run can end badly. */
typedef enum
{
  QM_BENCH_ERROR_MISSING,     /* there is no qm-bench, or it does not start */
  QM_BENCH_ERROR_FAILED,      /* it says why */
  QM_BENCH_ERROR_MEMORY,      /* of the device or the host */
  QM_BENCH_ERROR_DEVICE,      /* failed, was lost or is not there */
  QM_BENCH_ERROR_UNSUPPORTED, /* understood, but nothing it can do */
  QM_BENCH_ERROR_INTERRUPTED, /* by somebody else than its owner */
  QM_BENCH_ERROR_CRASHED,     /* ended by a signal that comes from a mistake */
  QM_BENCH_ERROR_KILLED,      /* by somebody, or for its memory */
  QM_BENCH_ERROR_SILENT,      /* hung, and was given up */
  QM_BENCH_ERROR_GARBAGE      /* said something that is no JSON object */
} QmBenchError;

#define QM_BENCH_ERROR (qm_bench_error_quark ())
GQuark qm_bench_error_quark (void);

/* No line is longer, in bytes, and no more of the standard error is kept. */
#define QM_BENCH_MAX_LINE (256 * 1024)
#define QM_BENCH_MAX_LOG  4096

/* Milliseconds.  Without a line for PATIENCE it is given up, unless the owner
 * says otherwise.  It is asked to stop by SIGINT, after MERCY more by SIGTERM,
 * after MERCY more it is killed.  Where it closed its standard output, it has
 * LINGER to end by itself. */
#define QM_BENCH_PATIENCE 30000
#define QM_BENCH_MERCY    3000
#define QM_BENCH_LINGER   5000

#define QM_TYPE_BENCH_PROCESS (qm_bench_process_get_type ())
G_DECLARE_FINAL_TYPE (
    QmBenchProcess, qm_bench_process, QM, BENCH_PROCESS, GObject)

/* Properties:
 *
 *   "running"   boolean, read-only   from the start to "ended"
 *   "patience"  uint     milliseconds without a line, QM_BENCH_PATIENCE if not
 *                        set; 0: it may be silent for ever
 *   "mercy"     uint     milliseconds, QM_BENCH_MERCY if not set
 *
 * Signals:
 *
 *   "line"   (gpointer object)   a line: a const json_t *, an object; a handler
 *                                that keeps it takes a reference
 *   "ended"  (GError *error)     after the last line, once, and after what it
 *                                started is gone; error is NULL where it did
 *                                what it was asked for, also where that was to
 *                                stop.  QM_BENCH_ERROR with one sentence.
 */

/* `arguments` are those of qm-bench without its name, and end with NULL.  The
 * process keeps itself alive while it runs.  (transfer full) */
QmBenchProcess *qm_bench_process_new (const char *const *arguments);

/* Starts it; to be called once.  That it cannot be started is told by "ended",
 * too, in a later iteration of the main loop. */
void qm_bench_process_start (QmBenchProcess *self);

/* Asks it to stop as its owner wishes; "ended" follows. */
void qm_bench_process_stop (QmBenchProcess *self);

/* Kills it and all that it started; "ended" follows. */
void qm_bench_process_kill (QmBenchProcess *self);

/* The last lines of its standard error: valid UTF-8 without control characters
 * but the ends of lines, QM_BENCH_MAX_LOG bytes before that.  (transfer full)
 */
char *qm_bench_process_get_log (QmBenchProcess *self);

/* Where qm-bench is: what the environment's QUARTERMASTER_BENCH says; else in
 * the folder of this program; else in PATH.  NULL: nowhere.  (transfer full) */
char *qm_bench_find (void);

/* Runs qm-bench and collects the objects that it says, at most
 * QM_BENCH_MAX_ANSWERS.  `patience` as above, 0: QM_BENCH_PATIENCE.  Cancelling
 * stops it. */
#define QM_BENCH_MAX_ANSWERS 4096
void qm_bench_query_async (const char *const *arguments,
                           guint patience,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer data);

/* What it said, a json_t * each.  NULL with QM_BENCH_ERROR or
 * G_IO_ERROR_CANCELLED.  `log`, where it is not NULL, becomes what it said on
 * its standard error, also where this fails.  (transfer full) */
GPtrArray *
qm_bench_query_finish (GAsyncResult *result, char **log, GError **error);

G_END_DECLS
