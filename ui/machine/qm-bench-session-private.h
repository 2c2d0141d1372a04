/* SPDX-License-Identifier: Apache-2.0 */

/* What a session is; between qm-bench-session.c, which is asked, and
 * qm-bench-session-run.c, which listens to qm-bench. */

#pragma once

#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-bench-session.h"
#include "ui/machine/qm-forecaster.h"

G_BEGIN_DECLS

/* What is to be measured. */
typedef struct
{
  char *device; /* or several, joined by commas */
  char *gpus;   /* numbers of them; NULL: one */
  GStrv models; /* ids */
  QmBenchMethods methods;
} QmBenchQuestion;

struct _QmBenchSession
{
  GObject parent_instance;

  QmCatalogKeeper *keeper;
  QmBenchQuestion question;
  gboolean again;

  QmBenchSessionState state;
  QmBenchSessionState next; /* where STOPPING, or an estimate, leads to */
  guint delay;              /* until an estimate begins */
  GPtrArray *waiting;       /* GTask: for the end of the run */

  QmBenchProcess *process;
  gboolean measures;   /* it does not only plan */
  gboolean listing;    /* configurations are told the first time */
  GPtrArray *listed;   /* QmBenchRow, while that lasts; of all numbers of GPUs
                          where it only plans */
  GPtrArray *numbered; /* QmBenchRow: those of the number of GPUs that is worked
                          on, by their numbers */
  GListStore *rows;    /* by the number of GPUs, then by their numbers */
  GHashTable *by_key;  /* of these; owns keys and rows */
  QmBenchRow *current;
  guint n_over; /* numbers of GPUs of which it said that nothing more comes */
  gint64 left;  /* configurations, of these */
  double seconds_left;
  double elapsed; /* of measuring, before `began` */
  gint64 began;   /* monotonic time; 0: does not measure */

  QmForecaster *forecaster;
  char *gpu; /* of the device: id in the catalog, or NULL */
  double celsius, watts, watts_limit;
  char *throttle;
  char *failure;
  char *trouble; /* what qm-bench said that it is; NULL: nothing */
  char *log;
};

/* Starts qm-bench to plan or to measure. */
void qm_bench_session_run (QmBenchSession *self, gboolean measure);

/* Tells a row what is predicted of it, or has it predicted; all rows; all of
 * them anew, from the catalog as it is now. */
void qm_bench_session_predict (QmBenchSession *self, QmBenchRow *row);
void qm_bench_session_predict_rows (QmBenchSession *self);
void qm_bench_session_predict_again (QmBenchSession *self);

/* Ends it without waiting for what it says. */
void qm_bench_session_drop (QmBenchSession *self);

/* Changes the state and tells that something changed. */
void qm_bench_session_set_state (QmBenchSession *self,
                                 QmBenchSessionState state);
void qm_bench_session_tell (QmBenchSession *self);
void qm_bench_session_tell_measured (QmBenchSession *self, QmBenchRow *row);

/* How many numbers of GPUs are asked for. */
guint qm_bench_session_n_counts (QmBenchSession *self);

/* Seconds that were spent measuring. */
double qm_bench_session_elapsed (QmBenchSession *self);

/* Keeps what is unfinished for the next time, and forgets it. */
void qm_bench_session_keep (QmBenchSession *self);
void qm_bench_session_forget (void);

/* Reads it; FALSE where there is nothing that makes sense. */
gboolean qm_bench_session_recall (QmBenchSession *self);

G_END_DECLS
