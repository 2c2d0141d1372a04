/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-column.h"

#include "pricing/qm-csv.h"
#include "pricing/qm-format.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

const char *
qm_bench_column_title (QmBenchColumn column)
{
  switch (column)
    {
    case QM_BENCH_COLUMN_MODEL:
      return _ ("Model");
    case QM_BENCH_COLUMN_METHOD:
      return _ ("Method");
    case QM_BENCH_COLUMN_GPUS:
      return _ ("GPUs");
    case QM_BENCH_COLUMN_MICRO_BATCH:
      return _ ("Micro-batch");
    case QM_BENCH_COLUMN_STEP:
      return _ ("Step (s)");
    case QM_BENCH_COLUMN_DAYS:
      return _ ("Time of all steps");
    case QM_BENCH_COLUMN_MFU:
      /* Translators: model FLOPs utilisation. */
      return _ ("MFU");
    case QM_BENCH_COLUMN_MEMORY:
      return _ ("Memory");
    case QM_BENCH_COLUMN_STATE:
    case QM_BENCH_N_COLUMNS:
    default:
      return _ ("State");
    }
}

gboolean
qm_bench_column_is_number (QmBenchColumn column)
{
  return column >= QM_BENCH_COLUMN_GPUS && column <= QM_BENCH_COLUMN_MEMORY;
}

static gboolean
is_measured (QmBenchRow *row)
{
  return qm_bench_row_get_state (row) == QM_BENCH_ROW_MEASURED;
}

gboolean
qm_bench_column_is_predicted (QmBenchRow *row)
{
  return !is_measured (row);
}

gboolean
qm_bench_column_is_failure (QmBenchColumn column, QmBenchRow *row)
{
  return column == QM_BENCH_COLUMN_STATE
         && qm_bench_row_get_state (row) == QM_BENCH_ROW_FAILED;
}

static char *
describe_state (QmBenchRow *row)
{
  const char *reason = qm_bench_row_get_reason (row);
  g_autofree char *percent = NULL;

  switch (qm_bench_row_get_state (row))
    {
    case QM_BENCH_ROW_WAITING:
      return g_strdup (_ ("Waiting"));
    case QM_BENCH_ROW_RUNNING:
      percent = qm_format_percent (qm_bench_row_get_progress (row));
      /* Translators: how much of a measurement is done, "40 %". */
      return g_strdup_printf (_ ("Measuring, %s"), percent);
    case QM_BENCH_ROW_MEASURED:
      return g_strdup (_ ("Measured"));
    case QM_BENCH_ROW_INFEASIBLE:
      /* Translators: a sentence says why. */
      return g_strdup_printf (_ ("Does not fit: %s"), reason);
    case QM_BENCH_ROW_FAILED:
      return g_strdup_printf (_ ("Failed: %s"), reason);
    case QM_BENCH_ROW_NOT_RUN:
      return g_strdup_printf (_ ("Not run: %s"), reason);
    default:
      return g_strdup ("");
    }
}

/* A time is measured, or else predicted with its interval. */
static char *
figure_text (QmBenchRow *row, QmBenchFigure figure, gboolean days)
{
  g_autofree char *text = NULL;

  if (!isfinite (figure.value))
    return g_strdup ("");
  if (is_measured (row))
    return days ? qm_format_days (figure.value)
                : qm_machine_text_figure (figure.value);
  text = days
             ? qm_format_days_range (figure.value, figure.low, figure.high)
             : qm_machine_text_interval (figure.value, figure.low, figure.high);
  if (*text == '\0')
    return g_steal_pointer (&text);
  /* Translators: a predicted number or interval, marked as such. */
  return g_strdup_printf (_ ("≈ %s"), text);
}

char *
qm_bench_column_text (QmBenchColumn column, QmBenchRow *row)
{
  switch (column)
    {
    case QM_BENCH_COLUMN_MODEL:
      return g_strdup (qm_bench_row_get_title (row));
    case QM_BENCH_COLUMN_METHOD:
      return qm_machine_text_method (qm_bench_row_get_settings (row),
                                     qm_bench_row_get_checkpointing (row),
                                     qm_bench_row_get_sharding (row),
                                     qm_bench_row_get_offloading (row));
    case QM_BENCH_COLUMN_GPUS:
      return qm_format_number (qm_bench_row_get_gpus (row), 0);
    case QM_BENCH_COLUMN_MICRO_BATCH:
      return qm_bench_row_get_micro_batch (row) > 0
                 ? qm_format_number (qm_bench_row_get_micro_batch (row), 0)
                 : g_strdup ("");
    case QM_BENCH_COLUMN_STEP:
      return figure_text (row, qm_bench_row_get_step (row), FALSE);
    case QM_BENCH_COLUMN_DAYS:
      return figure_text (row, qm_bench_row_get_days (row), TRUE);
    case QM_BENCH_COLUMN_MFU:
      return isfinite (qm_bench_row_get_mfu (row))
                 ? qm_format_percent (qm_bench_row_get_mfu (row))
                 : g_strdup ("");
    case QM_BENCH_COLUMN_MEMORY:
      return qm_machine_text_bytes (qm_bench_row_get_memory (row));
    case QM_BENCH_COLUMN_STATE:
    case QM_BENCH_N_COLUMNS:
    default:
      return describe_state (row);
    }
}

char *
qm_bench_column_place (QmBenchRow *row)
{
  g_autofree char *method = qm_bench_column_text (QM_BENCH_COLUMN_METHOD, row);
  int gpus = qm_bench_row_get_gpus (row);

  if (gpus == 1)
    return g_steal_pointer (&method);
  /* Translators: a number of more than one, and how they train. */
  return g_strdup_printf (_ ("%d GPUs, %s"), gpus, method);
}

char *
qm_bench_column_describe (QmBenchRow *row)
{
  g_autofree char *method = qm_bench_column_place (row);
  g_autofree char *days = qm_bench_column_text (QM_BENCH_COLUMN_DAYS, row);
  g_autofree char *state = describe_state (row);

  if (*days == '\0')
    return g_strdup_printf ("%s, %s: %s", qm_bench_row_get_title (row), method,
                            state);
  /* Translators: model, method, state, a time. */
  return g_strdup_printf (_ ("%s, %s: %s, %s"), qm_bench_row_get_title (row),
                          method, state, days);
}

/* NaN: not known. */
static double
number_of (QmBenchColumn column, QmBenchRow *row)
{
  switch (column)
    {
    case QM_BENCH_COLUMN_GPUS:
      return qm_bench_row_get_gpus (row);
    case QM_BENCH_COLUMN_MICRO_BATCH:
      return qm_bench_row_get_micro_batch (row) > 0
                 ? (double) qm_bench_row_get_micro_batch (row)
                 : NAN;
    case QM_BENCH_COLUMN_STEP:
      return qm_bench_row_get_step (row).value;
    case QM_BENCH_COLUMN_DAYS:
      return qm_bench_row_get_days (row).value;
    case QM_BENCH_COLUMN_MFU:
      return qm_bench_row_get_mfu (row);
    case QM_BENCH_COLUMN_MEMORY:
      return qm_bench_row_get_memory (row) >= 0
                 ? (double) qm_bench_row_get_memory (row)
                 : NAN;
    case QM_BENCH_COLUMN_STATE:
      return qm_bench_row_get_state (row);
    case QM_BENCH_COLUMN_MODEL:
    case QM_BENCH_COLUMN_METHOD:
    case QM_BENCH_N_COLUMNS:
    default:
      return NAN;
    }
}

static int
compare_numbers (double a, double b, gboolean descending)
{
  if (isnan (a) || isnan (b))
    return isnan (a) - isnan (b);
  return descending ? (a < b) - (a > b) : (a > b) - (a < b);
}

int
qm_bench_column_compare (QmBenchColumn column,
                         QmBenchRow *a,
                         QmBenchRow *b,
                         gboolean descending)
{
  g_autofree char *text_a = NULL;
  g_autofree char *text_b = NULL;
  int order;

  if (column != QM_BENCH_COLUMN_MODEL && column != QM_BENCH_COLUMN_METHOD)
    return compare_numbers (number_of (column, a), number_of (column, b),
                            descending);
  text_a = qm_bench_column_text (column, a);
  text_b = qm_bench_column_text (column, b);
  order = g_utf8_collate (text_a, text_b);
  return descending ? -order : order;
}

/* As CSV. */

static const char *
state_name (QmBenchRow *row)
{
  switch (qm_bench_row_get_state (row))
    {
    case QM_BENCH_ROW_MEASURED:
      return "measured";
    case QM_BENCH_ROW_INFEASIBLE:
      return "infeasible";
    case QM_BENCH_ROW_FAILED:
      return "failed";
    case QM_BENCH_ROW_NOT_RUN:
      return "not run";
    case QM_BENCH_ROW_WAITING:
    case QM_BENCH_ROW_RUNNING:
    default:
      return "left";
    }
}

/* Of the times; "" where there are none. */
static const char *
provenance_of (QmBenchRow *row)
{
  if (is_measured (row))
    return "measured";
  return isfinite (qm_bench_row_get_days (row).value) ? "predicted" : "";
}

static void
add_figure (GString *csv, QmBenchFigure figure)
{
  qm_csv_add_number (csv, "%.9g", figure.value);
  qm_csv_add_number (csv, "%.9g", figure.low);
  qm_csv_add_number (csv, "%.9g", figure.high);
}

static void
add_csv_row (GString *csv, QmBenchRow *row)
{
  qm_csv_add_text (csv, qm_bench_row_get_model (row));
  qm_csv_add_text (csv, qm_bench_row_get_settings (row));
  qm_csv_add_text (csv, qm_bench_row_get_checkpointing (row) ? "yes" : "no");
  qm_csv_add_text (csv, qm_bench_row_get_sharding (row));
  qm_csv_add_text (csv, qm_bench_row_get_offloading (row));
  qm_csv_add_number (csv, "%.0f", qm_bench_row_get_gpus (row));
  qm_csv_add_number (csv, "%.0f", number_of (QM_BENCH_COLUMN_MICRO_BATCH, row));
  qm_csv_add_text (csv, state_name (row));
  qm_csv_add_text (csv, provenance_of (row));
  add_figure (csv, qm_bench_row_get_step (row));
  add_figure (csv, qm_bench_row_get_days (row));
  qm_csv_add_number (csv, "%.4f", qm_bench_row_get_mfu (row));
  qm_csv_add_number (csv, "%.0f", number_of (QM_BENCH_COLUMN_MEMORY, row));
  qm_csv_add_text (csv, qm_bench_row_get_words (row));
  qm_csv_end_row (csv);
}

#define HEADER                                                         \
  "model,settings,checkpointing,sharding,offloading,gpus,micro_batch," \
  "state,provenance,step_s,step_low_s,step_high_s,days,days_low,"      \
  "days_high,mfu,memory_bytes,reason\r\n"

char *
qm_bench_column_csv (GListModel *rows)
{
  GString *csv = g_string_new (HEADER);
  guint n = g_list_model_get_n_items (rows);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);

      add_csv_row (csv, row);
    }
  return g_string_free (csv, FALSE);
}

char *
qm_bench_column_row_csv (QmBenchRow *row)
{
  GString *csv = g_string_new (HEADER);

  add_csv_row (csv, row);
  return g_string_free (csv, FALSE);
}
