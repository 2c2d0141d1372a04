/* SPDX-License-Identifier: Apache-2.0 */

/* The columns of the table of configurations: what stands in them, how they
 * sort, and the table as CSV. */

#pragma once

#include "ui/machine/qm-bench-row.h"

G_BEGIN_DECLS

typedef enum
{
  QM_BENCH_COLUMN_MODEL,
  QM_BENCH_COLUMN_METHOD,
  QM_BENCH_COLUMN_GPUS,
  QM_BENCH_COLUMN_MICRO_BATCH,
  QM_BENCH_COLUMN_STEP,
  QM_BENCH_COLUMN_DAYS,
  QM_BENCH_COLUMN_MFU,
  QM_BENCH_COLUMN_MEMORY,
  QM_BENCH_COLUMN_STATE,
  QM_BENCH_N_COLUMNS
} QmBenchColumn;

/* The title, in the user's language. */
const char *qm_bench_column_title (QmBenchColumn column);

/* Whether it holds numbers. */
gboolean qm_bench_column_is_number (QmBenchColumn column);

/* What stands in it; "" where that is not known.  (transfer full) */
char *qm_bench_column_text (QmBenchColumn column, QmBenchRow *row);

/* Whether what stands there is predicted, not measured. */
gboolean qm_bench_column_is_predicted (QmBenchRow *row);

/* Whether it tells of a failure. */
gboolean qm_bench_column_is_failure (QmBenchColumn column, QmBenchRow *row);

/* On how many GPUs, if they are several, and by which method.
 * (transfer full) */
char *qm_bench_column_place (QmBenchRow *row);

/* What a screen reader says of a row.  (transfer full) */
char *qm_bench_column_describe (QmBenchRow *row);

/* Compares for sorting; what is not known comes last in both directions. */
int qm_bench_column_compare (QmBenchColumn column,
                             QmBenchRow *a,
                             QmBenchRow *b,
                             gboolean descending);

/* The rows of a model as CSV: a header line, then a line a row, as
 * pricing/qm-csv.h has it.  Predicted values are marked so by the column
 * "provenance".  (transfer full) */
char *qm_bench_column_csv (GListModel *rows);

/* One row, in the same form with its header.  (transfer full) */
char *qm_bench_column_row_csv (QmBenchRow *row);

G_END_DECLS
