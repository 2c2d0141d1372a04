/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-table-csv.h"

#include "pricing/qm-csv.h"

#include <math.h>

#define HEADER                                                         \
  "model,gpu,gpus,machine,machines,cost_usd,days,experiment_cost_usd," \
  "implied_utilization,verdict,recommended,provenance,source,"         \
  "engine,engine_version,measured_on,days_low,days_high,"              \
  "gpu_price_usd,gpu_price_date,machine_price_usd,machine_price_date," \
  "price_usd,use_gpu_hour_usd,use_walltime_hours\r\n"

/* Of money; an empty cell where it is negative: not known. */
static void
add_minor (GString *csv, gint64 minor)
{
  qm_csv_add_number (csv, "%.2f", minor >= 0 ? (double) minor / 100 : NAN);
}

/* As far as it is known. */
static void
add_date (GString *csv, QmDate date)
{
  g_autofree char *text =
      g_strdup_printf ("%04d-%02d-%02d", date.year, date.month, date.day);

  text[date.year == 0 ? 0 : date.month == 0 ? 4 : date.day == 0 ? 7 : 10] = 0;
  qm_csv_add_written (csv, text);
}

static void
add_price (GString *csv, const QmPrice *price, QmRates *rates)
{
  const QmPrice none = { 0 };

  add_minor (csv,
             price == NULL
                 ? -1
                 : qm_money_from_micros (qm_price_counted_micros (price, rates),
                                         "USD")
                       .minor);
  add_date (csv, (price != NULL ? price : &none)->observed_on);
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

static void
add_csv_row (GString *csv, const QmTableRow *row)
{
  const QmCandidate *candidate = row->candidate;
  const QmMeasurement *measurement = candidate->measurement;
  const QmUse *use = candidate->use;
  gboolean predicted = measurement != NULL && candidate->predicted;

  qm_csv_add_text (csv, row->model);
  qm_csv_add_text (csv, candidate->gpu->id);
  qm_csv_add_number (csv, "%.0f", candidate->gpus);
  qm_csv_add_text (csv, machine_id (candidate));
  qm_csv_add_number (csv, "%.0f", candidate->machines);
  add_minor (csv, candidate->cost_minor);
  qm_csv_add_number (csv, "%.15g", candidate->days);
  qm_csv_add_number (csv, "%.2f", candidate->experiment_cost);
  qm_csv_add_number (csv, "%.4f", candidate->implied_utilization);
  qm_csv_add_text (csv, qm_verdict_name (candidate->verdict));
  qm_csv_add_text (csv, row->recommended ? "yes" : "no");
  qm_csv_add_text (csv, measurement == NULL ? NULL
                        : predicted
                            ? qm_provenance_name (QM_PROVENANCE_PREDICTED)
                            : qm_provenance_name (measurement->provenance));
  qm_csv_add_text (csv, measurement != NULL ? measurement->source : NULL);
  qm_csv_add_text (csv, measurement != NULL
                            ? qm_engine_name (measurement->engine)
                            : NULL);
  qm_csv_add_text (csv,
                   measurement != NULL ? measurement->engine_version : NULL);
  add_date (csv,
            measurement != NULL ? measurement->measured_on : (QmDate){ 0 });
  qm_csv_add_number (csv, "%.15g", predicted ? candidate->days_low : NAN);
  qm_csv_add_number (csv, "%.15g", predicted ? candidate->days_high : NAN);
  add_price (csv, candidate->gpu_price, row->rates);
  add_price (csv, candidate->machine_price, row->rates);
  add_minor (csv, candidate->price_minor);
  /* On which terms it is used instead of bought. */
  qm_csv_add_number (csv, "%.15g",
                     use != NULL
                         ? (double) use->hour_micros / QM_MICROS_PER_UNIT
                         : NAN);
  qm_csv_add_number (csv, "%.15g", use != NULL ? use->walltime_hours : NAN);
  qm_csv_end_row (csv);
}

char *
qm_table_csv (const QmTableRow *rows, guint n_rows)
{
  GString *csv;

  g_return_val_if_fail (rows != NULL || n_rows == 0, NULL);

  csv = g_string_new (HEADER);
  for (guint i = 0; i < n_rows; i++)
    add_csv_row (csv, &rows[i]);
  return g_string_free (csv, FALSE);
}
