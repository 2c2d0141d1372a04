/* SPDX-License-Identifier: Apache-2.0 */

/* One configuration of a benchmark, at one micro-batch: how to train which
 * model, and what became of it. */

#pragma once

#include <gio/gio.h>
#include <jansson.h>

G_BEGIN_DECLS

typedef enum
{
  QM_BENCH_ROW_WAITING,
  QM_BENCH_ROW_RUNNING,
  QM_BENCH_ROW_MEASURED,
  QM_BENCH_ROW_INFEASIBLE, /* does not fit; while nothing ran: as planned */
  QM_BENCH_ROW_FAILED,
  QM_BENCH_ROW_NOT_RUN /* qm-bench cannot train so */
} QmBenchRowState;

/* A number; the ends of its interval where it is predicted, else NaN.  NaN
 * where nothing is known. */
typedef struct
{
  double value, low, high;
} QmBenchFigure;

#define QM_TYPE_BENCH_ROW (qm_bench_row_get_type ())
G_DECLARE_FINAL_TYPE (QmBenchRow, qm_bench_row, QM, BENCH_ROW, GObject)

/* Properties, all read-only:
 *
 *   "state"     int      QmBenchRowState
 *   "progress"  double   0 to 1; 1 where it is not waiting or running
 *
 * Signals:
 *
 *   "changed"   any of what the functions below return; also where "state" and
 *               "progress" changed
 */

/* A row of a "configuration" line of `qm-bench search --events`; `title` is the
 * name of the model for people.  (transfer full) */
QmBenchRow *qm_bench_row_new (const json_t *line, const char *title);

/* Takes over what a later line says about the same configuration. */
void qm_bench_row_update (QmBenchRow *self, const json_t *line);

/* What tells it from all others: model, GPUs, settings, methods, micro-batch,
 * as the line has them.  (transfer full) */
char *qm_bench_row_key (const json_t *line);

/* Of a row that is running. */
void qm_bench_row_set_progress (QmBenchRow *self, double progress);

/* Back to waiting where it was running: the measurement was stopped. */
void qm_bench_row_put_back (QmBenchRow *self);

/* Makes a row that was running one that failed, with a sentence and what
 * qm-bench said last. */
void qm_bench_row_fail (QmBenchRow *self, const char *reason, const char *log);

/* Predicted days, which are those of qm_bench_row_get_days() until it is
 * measured. */
void qm_bench_row_set_predicted (QmBenchRow *self, QmBenchFigure days);

QmBenchRowState qm_bench_row_get_state (QmBenchRow *self);
double qm_bench_row_get_progress (QmBenchRow *self);

/* What is trained: the id in the catalog or the file, and the name for people.
 */
const char *qm_bench_row_get_model (QmBenchRow *self);
const char *qm_bench_row_get_title (QmBenchRow *self);

/* "naive", "free-lunch". */
const char *qm_bench_row_get_settings (QmBenchRow *self);
gboolean qm_bench_row_get_checkpointing (QmBenchRow *self);

/* How many work together. */
int qm_bench_row_get_gpus (QmBenchRow *self);

/* What they share among each other, and what is kept in the memory of the host:
 * "zero_1" .. "zero_3", "fsdp_2", "fsdp_3", or "none". */
const char *qm_bench_row_get_sharding (QmBenchRow *self);
const char *qm_bench_row_get_offloading (QmBenchRow *self);

/* Samples of one pass. */
gint64 qm_bench_row_get_micro_batch (QmBenchRow *self);

/* Seconds of a training step, and days of the training: measured where the
 * state says so; before that days may be predicted, with their interval. */
QmBenchFigure qm_bench_row_get_step (QmBenchRow *self);
QmBenchFigure qm_bench_row_get_days (QmBenchRow *self);

/* The share of the device's peak that was reached; NaN: not known. */
double qm_bench_row_get_mfu (QmBenchRow *self);

/* Bytes of the device's memory: what was used where it was measured and seen,
 * else what is planned; -1: not known. */
gint64 qm_bench_row_get_memory (QmBenchRow *self);

/* Seconds that measuring it will take, predicted; 0 where nothing is left to
 * do, NaN: not known. */
double qm_bench_row_get_cost (QmBenchRow *self);

/* Why it is infeasible, failed or was not run: a sentence in the user's
 * language, and as qm-bench said it, for files; else "". */
const char *qm_bench_row_get_reason (QmBenchRow *self);
const char *qm_bench_row_get_words (QmBenchRow *self);

/* Where it failed because qm-bench did: what that said last; else "". */
const char *qm_bench_row_get_log (QmBenchRow *self);

G_END_DECLS
