/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-table-csv.h"

#include "pricing/papers/qm-csv.h"

#define HEADER                                                         \
  "model,gpu,gpus,machine,machines,cost_usd,days,experiment_cost_usd," \
  "implied_utilization,verdict,recommended,provenance,source,"         \
  "engine,engine_version,measured_on,days_low,days_high,"              \
  "gpu_price_usd,gpu_price_date,machine_price_usd,machine_price_date," \
  "price_usd,use_gpu_hour_usd,use_walltime_hours\r\n"

static void
append_minor (GString *csv, gint64 minor)
{
  if (minor >= 0)
    g_string_append_printf (csv, "%" G_GINT64_FORMAT ".%02" G_GINT64_FORMAT,
                            minor / 100, minor % 100);
}

static void
append_date (GString *csv, QmDate date)
{
  if (date.year == 0)
    return;
  g_string_append_printf (csv, "%04d", date.year);
  if (date.month == 0)
    return;
  g_string_append_printf (csv, "-%02d", date.month);
  if (date.day != 0)
    g_string_append_printf (csv, "-%02d", date.day);
}

static void
append_price (GString *csv, const QmPrice *price, QmRates *rates)
{
  g_string_append_c (csv, ',');
  if (price != NULL)
    append_minor (csv,
                  qm_money_from_micros (qm_price_counted_micros (price, rates),
                                        "USD")
                      .minor);
  g_string_append_c (csv, ',');
  if (price != NULL)
    append_date (csv, price->observed_on);
}

static void
append_engine (GString *csv, const QmCandidate *candidate)
{
  const QmMeasurement *measurement = candidate->measurement;

  if (measurement == NULL)
    {
      g_string_append (csv, ",,,,,");
      return;
    }
  g_string_append_c (csv, ',');
  qm_csv_append_text (csv, qm_engine_name (measurement->engine));
  g_string_append_c (csv, ',');
  qm_csv_append_text (csv, measurement->engine_version);
  g_string_append_c (csv, ',');
  append_date (csv, measurement->measured_on);
  g_string_append_c (csv, ',');
  qm_csv_append_number (csv, "%.15g",
                        candidate->predicted ? candidate->days_low : NAN);
  g_string_append_c (csv, ',');
  qm_csv_append_number (csv, "%.15g",
                        candidate->predicted ? candidate->days_high : NAN);
}

/* Of its platform, or of the publication's machine; NULL: none. */
static const char *
machine_id (const QmCandidate *candidate)
{
  if (candidate->machine != NULL)
    return candidate->machine->id;
  return candidate->platform != NULL
                 && candidate->carry.problem == QM_CARRY_NONE
             ? candidate->platform->id
             : NULL;
}

/* On which terms it is used instead of bought; nothing for anything else. */
static void
append_use (GString *csv, const QmUse *use)
{
  g_string_append_c (csv, ',');
  if (use != NULL)
    qm_csv_append_number (csv, "%.15g",
                          (double) use->hour_micros / QM_MICROS_PER_UNIT);
  g_string_append_c (csv, ',');
  if (use != NULL)
    qm_csv_append_number (csv, "%.15g", use->walltime_hours);
}

static void
append_row (GString *csv, const QmTableRow *row)
{
  const QmCandidate *candidate = row->candidate;
  const QmMeasurement *measurement = candidate->measurement;

  qm_csv_append_text (csv, row->model);
  g_string_append_c (csv, ',');
  qm_csv_append_text (csv, candidate->gpu->id);
  g_string_append_printf (csv, ",%d,", candidate->gpus);
  qm_csv_append_text (csv, machine_id (candidate));
  g_string_append_printf (csv, ",%d,", candidate->machines);
  append_minor (csv, candidate->cost_minor);
  g_string_append_c (csv, ',');
  qm_csv_append_number (csv, "%.15g", candidate->days);
  g_string_append_c (csv, ',');
  qm_csv_append_number (csv, "%.2f", candidate->experiment_cost);
  g_string_append_c (csv, ',');
  qm_csv_append_number (csv, "%.4f", candidate->implied_utilization);
  g_string_append_printf (csv, ",%s,%s,", qm_verdict_name (candidate->verdict),
                          row->recommended ? "yes" : "no");
  if (measurement != NULL)
    qm_csv_append_text (csv,
                        qm_provenance_name (candidate->predicted
                                                ? QM_PROVENANCE_PREDICTED
                                                : measurement->provenance));
  g_string_append_c (csv, ',');
  if (measurement != NULL)
    qm_csv_append_text (csv, measurement->source);
  append_engine (csv, candidate);
  append_price (csv, candidate->gpu_price, row->rates);
  append_price (csv, candidate->machine_price, row->rates);
  g_string_append_c (csv, ',');
  append_minor (csv, candidate->price_minor);
  append_use (csv, candidate->use);
  g_string_append (csv, "\r\n");
}

char *
qm_table_csv (const QmTableRow *rows, guint n_rows)
{
  GString *csv;

  g_return_val_if_fail (rows != NULL || n_rows == 0, NULL);

  csv = g_string_new (HEADER);
  for (guint i = 0; i < n_rows; i++)
    append_row (csv, &rows[i]);
  return g_string_free (csv, FALSE);
}
