/* SPDX-License-Identifier: Apache-2.0 */

/* What qm-bench says on its standard error, and how it ended, for people. */

#pragma once

#include "ui/machine/qm-bench-process.h"

G_BEGIN_DECLS

/* The bytes as valid UTF-8 without control characters but the ends of lines, in
 * whole lines where they begin in the middle of one (`cut`).  (transfer full)
 */
char *qm_bench_log_clean (const char *bytes, gsize length, gboolean cut);

/* The last line in which qm-bench says what is wrong, without its name, else
 * the last line of all; NULL where there is none.  (transfer full) */
char *qm_bench_log_reason (const char *log);

/* One sentence about an end by a signal, and what kind of error that is.
 * (transfer full) */
char *qm_bench_log_signal (int number, QmBenchError *code);

/* One sentence about an exit status that is not 0, with the reason that the log
 * has.  (transfer full) */
char *qm_bench_log_status (int status, const char *log, QmBenchError *code);

G_END_DECLS
