/* SPDX-License-Identifier: Apache-2.0 */

/* What went wrong in one sentence, with the last lines of the log behind a
 * button that unfolds them. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_BENCH_TROUBLE (qm_bench_trouble_get_type ())
G_DECLARE_FINAL_TYPE (
    QmBenchTrouble, qm_bench_trouble, QM, BENCH_TROUBLE, GtkWidget)

/* Shows it; NULL or "" is no trouble, which is not shown, and no log. */
void qm_bench_trouble_show (QmBenchTrouble *self,
                            const char *sentence,
                            const char *log);

G_END_DECLS
