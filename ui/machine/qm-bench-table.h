/* SPDX-License-Identifier: Apache-2.0 */

/* The table of configurations of a benchmark, which fills while it runs: it
 * sorts by any column, also by Ctrl+1 to Ctrl+9. */

#pragma once

#include "ui/machine/qm-bench-column.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_BENCH_TABLE (qm_bench_table_get_type ())
G_DECLARE_FINAL_TYPE (QmBenchTable, qm_bench_table, QM, BENCH_TABLE, GtkWidget)

/* Signals: "selected": another row, or none, is selected. */

/* What it shows: a model of QmBenchRow.  To be called once. */
void qm_bench_table_set_rows (QmBenchTable *self, GListModel *rows);

/* The rows in the order in which they are shown.  (transfer none) */
GListModel *qm_bench_table_get_rows (QmBenchTable *self);

/* The selected row, or NULL.  (transfer none) */
QmBenchRow *qm_bench_table_get_selected (QmBenchTable *self);

/* Whether it tells how many GPUs work together. */
void qm_bench_table_set_several (QmBenchTable *self, gboolean several);

/* Leaves out what there is no room for on a narrow screen. */
void qm_bench_table_set_narrow (QmBenchTable *self, gboolean narrow);

G_END_DECLS
