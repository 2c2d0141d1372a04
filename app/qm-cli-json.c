/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-matrix.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-table.h"

#include <glib/gi18n-lib.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* Every decimal of that many significant digits survives the way into a double
 * and back, so that amounts come out as they went in (IEEE 754 binary64:
 * DBL_DIG). */
#define SIGNIFICANT_DIGITS 15

struct _QmCliCLocale
{
  locale_t before;
  locale_t c;
};

QmCliCLocale *
qm_cli_c_locale_enter (void)
{
  QmCliCLocale *locale = g_new0 (QmCliCLocale, 1);

  locale->c = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  locale->before = uselocale (locale->c);
  return locale;
}

void
qm_cli_c_locale_leave (QmCliCLocale *locale)
{
  uselocale (locale->before);
  if (locale->c != (locale_t) 0)
    freelocale (locale->c);
  g_free (locale);
}

json_t *
qm_cli_json_text (const char *text)
{
  g_autofree char *valid = NULL;

  if (text == NULL || *text == '\0')
    return json_null ();
  valid = g_utf8_make_valid (text, -1);
  return json_string (valid);
}

json_t *
qm_cli_json_number (double value, int decimals)
{
  double scale = pow (10, decimals);
  double rounded = round (value * scale) / scale;

  if (!isfinite (value))
    return json_null ();
  return json_real (isfinite (rounded) ? rounded : value);
}

/* An amount in major units from minor ones, with two decimals; null below
 * zero. */
static json_t *
minor_or_null (gint64 minor)
{
  return minor < 0 ? json_null () : json_real ((double) minor / 100);
}

json_t *
qm_cli_json_micros (gint64 micros)
{
  if (micros < 0)
    return json_null ();
  return json_real ((double) micros / QM_MICROS_PER_UNIT);
}

json_t *
qm_cli_json_date (QmDate date)
{
  g_autofree char *text = qm_cli_date_text (date);

  return qm_cli_json_text (text);
}

json_t *
qm_cli_json_strings (const char *const *strings)
{
  json_t *array = json_array ();

  for (guint i = 0; strings[i] != NULL; i++)
    json_array_append_new (array, qm_cli_json_text (strings[i]));
  return array;
}

static json_t *
counts_json (const GArray *counts)
{
  json_t *array;

  if (counts == NULL)
    return json_null ();
  array = json_array ();
  for (guint i = 0; i < counts->len; i++)
    json_array_append_new (array,
                           json_integer (g_array_index (counts, int, i)));
  return array;
}

static json_t *
runs_json (const GArray *runs)
{
  json_t *array;

  if (runs == NULL || runs->len == 0)
    return json_null ();
  array = json_array ();
  for (guint i = 0; i < runs->len; i++)
    {
      const QmRun *run = &g_array_index (runs, QmRun, i);
      json_t *row = json_object ();

      json_object_set_new (row, "model", qm_cli_json_text (run->model));
      json_object_set_new (row, "runs_per_year",
                           qm_cli_json_number (run->runs_per_year, 6));
      json_array_append_new (array, row);
    }
  return array;
}

static json_t *
uses_json (const GArray *uses)
{
  json_t *array = json_array ();

  for (guint i = 0; uses != NULL && i < uses->len; i++)
    {
      const QmUse *use = &g_array_index (uses, QmUse, i);
      json_t *row = json_object ();

      json_object_set_new (row, "gpu", qm_cli_json_text (use->gpu));
      json_object_set_new (row, "gpus", json_integer (use->gpus));
      json_object_set_new (row, "hour_usd",
                           qm_cli_json_micros (use->hour_micros));
      json_object_set_new (row, "walltime_hours",
                           qm_cli_json_number (use->walltime_hours, 6));
      json_array_append_new (array, row);
    }
  return array;
}

static const char *
kinds_name (QmMachineKinds kinds)
{
  if (kinds == QM_KINDS_DESKTOP)
    return qm_machine_kind_name (QM_MACHINE_DESKTOP);
  if (kinds == QM_KINDS_SERVER)
    return qm_machine_kind_name (QM_MACHINE_SERVER);
  return "all";
}

json_t *
qm_cli_json_question (const QmQuestion *question)
{
  json_t *object = json_object ();

  json_object_set_new (object, "model", qm_cli_json_text (question->model));
  json_object_set_new (object, "runs", runs_json (question->runs));
  json_object_set_new (object, "at_once", json_integer (question->at_once));
  json_object_set_new (object, "budget_usd",
                       minor_or_null (question->budget_minor));
  json_object_set_new (object, "deadline_days",
                       qm_cli_json_number (question->deadline_days, 6));
  json_object_set_new (object, "run_deadline_days",
                       qm_cli_json_number (question->run_deadline_days, 6));
  json_object_set_new (object, "money", qm_cli_matrix_purse (&question->purse));
  json_object_set_new (object, "gpu",
                       question->gpus != NULL ? qm_cli_json_strings (
                           (const char *const *) question->gpus)
                                              : json_null ());
  json_object_set_new (object, "gpus", counts_json (question->counts));
  json_object_set_new (object, "machine",
                       json_string (kinds_name (question->kinds)));
  json_object_set_new (object, "as_in_the_paper",
                       json_boolean (question->as_in_paper));
  json_object_set_new (object, "times_of",
                       json_string (qm_times_of_name (question->times_of)));
  json_object_set_new (object, "predictions",
                       json_string (
                           qm_predictions_name (question->predictions)));
  json_object_set_new (object, "link",
                       json_string (qm_gpu_link_name (question->link)));
  json_object_set_new (object, "uses", uses_json (question->uses));
  json_object_set_new (object, "any_price", json_boolean (question->any_price));
  json_object_set_new (object, "room_watts",
                       qm_cli_json_number (question->room_watts, 0));
  json_object_set_new (object, "settings",
                       json_string (qm_settings_name (question->settings)));
  json_object_set_new (object, "lifetime_years",
                       qm_cli_json_number (question->lifetime_years, 6));
  json_object_set_new (object, "time_factor",
                       qm_cli_json_number (question->time_factor, 6));
  json_object_set_new (object, "slack_percent",
                       qm_cli_json_number (question->slack_percent, 6));
  json_object_set_new (object, "costs",
                       json_string (question->ownership != NULL ? "total"
                                                                : "prices"));
  return object;
}

json_t *
qm_cli_json_price (const QmPrice *price, QmDate today)
{
  json_t *object;

  if (price == NULL)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "item", qm_cli_json_text (price->item));
  json_object_set_new (object, "amount", qm_cli_json_micros (price->micros));
  json_object_set_new (object, "amount_low",
                       qm_cli_json_micros (price->low_micros));
  json_object_set_new (object, "amount_high",
                       qm_cli_json_micros (price->high_micros));
  json_object_set_new (object, "currency", qm_cli_json_text (price->currency));
  json_object_set_new (object, "tax_percent", json_real (price->tax_percent));
  json_object_set_new (object, "kind",
                       json_string (qm_price_kind_name (price->kind)));
  json_object_set_new (object, "unit",
                       json_string (qm_price_unit_name (price->unit)));
  json_object_set_new (object, "gpus", json_integer (price->gpus));
  json_object_set_new (object, "observed_on",
                       qm_cli_json_date (price->observed_on));
  json_object_set_new (
      object, "age_days",
      price->observed_on.year == 0
          ? json_null ()
          : json_integer (qm_date_days_between (price->observed_on, today)));
  json_object_set_new (object, "source", qm_cli_json_text (price->source));
  json_object_set_new (object, "from_user", json_boolean (price->from_user));
  return object;
}

void
qm_cli_json_add_engine (json_t *object, const QmMeasurement *measurement)
{
  gboolean stated =
      measurement != NULL && measurement->engine != QM_ENGINE_UNSTATED;
  gboolean versioned = stated && *measurement->engine_version != '\0';

  json_object_set_new (object, "engine",
                       stated
                           ? json_string (qm_engine_name (measurement->engine))
                           : json_null ());
  json_object_set_new (object, "engine_version",
                       versioned
                           ? qm_cli_json_text (measurement->engine_version)
                           : json_null ());
  json_object_set_new (object, "measured_on",
                       measurement != NULL
                           ? qm_cli_json_date (measurement->measured_on)
                           : json_null ());
}

/* How a time was predicted that nobody measured. */
static json_t *
prediction_json (const QmPredicted *prediction)
{
  const QmForecast *forecast = &prediction->forecast;
  json_t *object = json_object ();

  json_object_set_new (object, "level", json_string (forecast->level));
  json_object_set_new (object, "fits",
                       json_string (qm_fit_name (forecast->fit)));
  json_object_set_new (object, "bound", qm_cli_json_text (forecast->bound));
  json_object_set_new (object, "link", qm_cli_json_text (forecast->link));
  json_object_set_new (object, "bridged_days",
                       qm_cli_json_number (forecast->bridged, 6));
  json_object_set_new (object, "half_lanes_days",
                       qm_cli_json_number (forecast->half_lanes, 6));
  json_object_set_new (object, "half_lanes", json_boolean (prediction->slowed));
  json_object_set_new (object, "host_bytes",
                       json_integer (forecast->host_bytes));
  return object;
}

/* What the training time rests on. */
static void
add_measurement (json_t *object, const QmCandidate *candidate)
{
  const QmMeasurement *measurement = candidate->measurement;

  json_object_set_new (object, "source",
                       measurement != NULL
                           ? qm_cli_json_text (measurement->source)
                           : json_null ());
  json_object_set_new (object, "provenance",
                       measurement != NULL ? json_string (
                           qm_provenance_name (measurement->provenance))
                                           : json_null ());
  qm_cli_json_add_engine (object, measurement);
  json_object_set_new (
      object, "days_low",
      qm_cli_json_number (candidate->predicted ? candidate->days_low : NAN, 6));
  json_object_set_new (
      object, "days_high",
      qm_cli_json_number (candidate->predicted ? candidate->days_high : NAN,
                          6));
  json_object_set_new (object, "predicted",
                       json_boolean (candidate->predicted));
  json_object_set_new (object, "prediction",
                       candidate->prediction != NULL
                           ? prediction_json (candidate->prediction)
                           : json_null ());
}

/* The quote that a price is of. */
static json_t *
offer_json (const QmOffer *offer)
{
  gboolean converted = offer->rate.denominator != 0;
  g_autofree char *rate = converted ? qm_cross_rate_text (&offer->rate) : NULL;
  json_t *object = json_object ();

  json_object_set_new (object, "id", json_integer (offer->quote_id));
  json_object_set_new (object, "vendor", qm_cli_json_text (offer->vendor));
  json_object_set_new (object, "number", qm_cli_json_text (offer->number));
  json_object_set_new (object, "date",
                       qm_cli_json_date (offer->price.observed_on));
  json_object_set_new (object, "valid_until",
                       qm_cli_json_date (offer->valid_until));
  json_object_set_new (object, "holds", json_boolean (offer->holds));
  json_object_set_new (object, "line", json_integer (offer->line + 1));
  json_object_set_new (object, "description",
                       qm_cli_json_text (offer->description));
  json_object_set_new (object, "currency", qm_cli_json_text (offer->currency));
  json_object_set_new (object, "rate", qm_cli_json_text (rate));
  json_object_set_new (object, "rate_date",
                       converted ? qm_cli_json_date (offer->rate.date)
                                 : json_null ());
  json_object_set_new (object, "rate_stale",
                       converted ? json_boolean (offer->rate.stale)
                                 : json_null ());
  json_object_set_new (object, "contains_tax", json_boolean (offer->taxed));
  json_object_set_new (object, "tax_assumed_percent",
                       offer->tax_assumed > 0
                           ? qm_cli_json_number (offer->tax_assumed, 6)
                           : json_null ());
  json_object_set_new (object, "tax",
                       offer->tax_micros >= 0
                           ? qm_cli_json_micros (offer->tax_micros)
                           : json_null ());
  json_object_set_new (object, "alternative",
                       qm_cli_json_text (offer->alternative));
  json_object_set_new (object, "variant", json_boolean (offer->variant));
  json_object_set_new (object, "undated", json_boolean (offer->undated));
  json_object_set_new (object, "whole_machine", json_boolean (offer->whole));
  return object;
}

/* A price and which quote it is of: null where it is of none. */
static json_t *
offered_price (const QmPrice *price, const QmOffer *offer, QmDate today)
{
  json_t *object = qm_cli_json_price (price, today);

  if (price == NULL)
    return object;
  json_object_set_new (object, "quote",
                       offer != NULL ? json_integer (offer->quote_id)
                                     : json_null ());
  json_object_set_new (object, "quote_holds",
                       offer != NULL ? json_boolean (offer->holds)
                                     : json_null ());
  if (offer != NULL)
    json_object_set_new (object, "offer", offer_json (offer));
  return object;
}

static void
add_prices (json_t *object, const QmCandidate *candidate, QmDate today)
{
  json_t *prices = json_object ();

  json_object_set_new (prices, "gpu",
                       offered_price (candidate->gpu_price,
                                      candidate->gpu_offer, today));
  json_object_set_new (prices, "machine",
                       offered_price (candidate->machine_price,
                                      candidate->machine_offer, today));
  json_object_set_new (prices, "memory_gib",
                       qm_cli_json_price (candidate->memory_price, today));
  json_object_set_new (object, "prices", prices);
}

/* The id of its platform, or of the publication's machine. */
static json_t *
machine_json (const QmCandidate *candidate)
{
  if (candidate->machine != NULL)
    return qm_cli_json_text (candidate->machine->id);
  if (candidate->platform == NULL || candidate->carry.problem != QM_CARRY_NONE)
    return json_null ();
  return qm_cli_json_text (candidate->platform->id);
}

/* Why no machine carries its GPUs, and which is nearest to it; null where one
 * does. */
static json_t *
not_carried_json (const QmCandidate *candidate)
{
  const QmCarry *carry = &candidate->carry;
  json_t *object;

  if (candidate->here || carry->problem == QM_CARRY_NONE)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "problem",
                       json_string (qm_carry_problem_name (carry->problem)));
  json_object_set_new (object, "nearest",
                       candidate->platform != NULL
                           ? qm_cli_json_text (candidate->platform->id)
                           : json_null ());
  json_object_set_new (object, "needed", qm_cli_json_number (carry->needed, 6));
  json_object_set_new (object, "available",
                       qm_cli_json_number (carry->available, 6));
  return object;
}

/* What is used instead of bought; null for anything else. */
static json_t *
use_json (const QmCandidate *candidate)
{
  const QmUse *use = candidate->use;
  json_t *object;

  if (use == NULL)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "hour_usd",
                       qm_cli_json_micros (use->hour_micros));
  json_object_set_new (object, "walltime_hours",
                       qm_cli_json_number (use->walltime_hours, 6));
  json_object_set_new (object, "jobs",
                       json_integer (qm_candidate_jobs (candidate)));
  return object;
}

json_t *
qm_cli_json_candidate (const QmCandidate *candidate,
                       const QmQuestion *question,
                       QmDate today)
{
  json_t *object = json_object ();
  gboolean within = qm_candidate_within (candidate, question->budget_minor,
                                         question->deadline_days);

  json_object_set_new (object, "gpu", qm_cli_json_text (candidate->gpu->id));
  json_object_set_new (object, "gpus", json_integer (candidate->gpus));
  json_object_set_new (object, "machine", machine_json (candidate));
  json_object_set_new (object, "machines", json_integer (candidate->machines));
  json_object_set_new (object, "price_usd",
                       minor_or_null (candidate->price_minor));
  json_object_set_new (object, "cost_usd",
                       minor_or_null (candidate->cost_minor));
  json_object_set_new (object, "cost_low_usd",
                       minor_or_null (candidate->cost_low_minor));
  json_object_set_new (object, "cost_high_usd",
                       minor_or_null (candidate->cost_high_minor));
  json_object_set_new (object, "not_carried", not_carried_json (candidate));
  json_object_set_new (object, "wall_watts",
                       qm_cli_json_number (candidate->carry.wall_watts
                                               * candidate->machines,
                                           0));
  json_object_set_new (object, "host_gib",
                       qm_cli_json_number (candidate->host_gib, 1));
  json_object_set_new (object, "extra_gib",
                       qm_cli_json_number (candidate->extra_gib, 0));
  json_object_set_new (object, "days", qm_cli_json_number (candidate->days, 6));
  json_object_set_new (object, "time_factor",
                       qm_cli_json_number (question->time_factor, 6));
  json_object_set_new (object, "experiment_cost_usd",
                       qm_cli_json_number (candidate->experiment_cost, 2));
  add_measurement (object, candidate);
  json_object_set_new (object, "implied_utilization",
                       qm_cli_json_number (candidate->implied_utilization, 6));
  json_object_set_new (object, "reachable_days",
                       qm_cli_json_number (candidate->reachable_days, 6));
  json_object_set_new (object, "verdict",
                       json_string (qm_verdict_name (candidate->verdict)));
  json_object_set_new (
      object, "here", json_boolean (candidate->here && candidate->use == NULL));
  json_object_set_new (object, "use", use_json (candidate));
  json_object_set_new (object, "insufficient",
                       json_boolean (candidate->insufficient));
  json_object_set_new (object, "superseded",
                       json_boolean (candidate->superseded));
  json_object_set_new (object, "weak_price", json_boolean (candidate->weak));
  json_object_set_new (object, "eligible", json_boolean (candidate->eligible));
  json_object_set_new (object, "on_frontier",
                       json_boolean (candidate->on_frontier));
  json_object_set_new (object, "within_limits", json_boolean (within));
  add_prices (object, candidate, today);
  return object;
}

json_t *
qm_cli_json_errors (const QmError *problems, size_t n)
{
  json_t *array = json_array ();

  for (size_t i = 0; i < n; i++)
    {
      json_t *row = json_object ();

      json_object_set_new (row, "file", qm_cli_json_text (problems[i].file));
      json_object_set_new (row, "line",
                           problems[i].line > 0
                               ? json_integer (problems[i].line)
                               : json_null ());
      json_object_set_new (row, "column",
                           problems[i].column > 0
                               ? json_integer (problems[i].column)
                               : json_null ());
      json_object_set_new (row, "message",
                           qm_cli_json_text (problems[i].message));
      json_array_append_new (array, row);
    }
  return array;
}

void
qm_cli_json_add_problems (json_t *object, const QmCatalog *catalog)
{
  size_t n_problems, n_notices;
  const QmError *problems = qm_catalog_problems (catalog, &n_problems);
  const QmError *notices = qm_catalog_notices (catalog, &n_notices);

  json_object_set_new (object, "problems",
                       qm_cli_json_errors (problems, n_problems));
  json_object_set_new (object, "notices",
                       qm_cli_json_errors (notices, n_notices));
}

void
qm_cli_json_add_troubles (json_t *object, const GPtrArray *troubles)
{
  json_t *array = json_object_get (object, "problems");

  for (guint i = 0; troubles != NULL && i < troubles->len; i++)
    {
      json_t *row = json_object ();

      json_object_set_new (row, "file", json_null ());
      json_object_set_new (row, "line", json_null ());
      json_object_set_new (row, "column", json_null ());
      json_object_set_new (row, "message",
                           qm_cli_json_text (g_ptr_array_index (troubles, i)));
      json_array_append_new (array, row);
    }
}

char *
qm_cli_json_to_text (const json_t *root)
{
  char *text =
      json_dumps (root, JSON_INDENT (2) | JSON_PRESERVE_ORDER
                            | JSON_REAL_PRECISION (SIGNIFICANT_DIGITS));
  char *line = text != NULL ? g_strconcat (text, "\n", NULL) : NULL;

  free (text);
  return line;
}

gboolean
qm_cli_json_write (const json_t *root, GError **error)
{
  g_autofree char *line = qm_cli_json_to_text (root);

  if (line == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
                           _ ("cannot write JSON: out of memory"));
      return FALSE;
    }
  return qm_cli_write_bytes (line, strlen (line), error);
}
