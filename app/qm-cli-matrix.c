/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-matrix.h"
#include "app/qm-cli-table.h"
#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* --- for people --- */

/* Columns before and after those of the runs. */
enum
{
  N_BEFORE = 2,
  N_AFTER = 2
};

/* "≈ 12 days" where that is predicted. */
static char *
cell_of (const QmRunTime *run)
{
  g_autofree char *days = qm_prose_run_days (run);
  gboolean wide = g_get_charset (NULL);

  if (run->measurement == NULL)
    return NULL;
  if (!qm_known (run->days))
    return g_steal_pointer (&days);
  return g_strdup_printf ("%s%s",
                          !run->predicted ? ""
                          : wide          ? "≈ "
                                          : "~ ",
                          days);
}

static void
add_matrix_row (const QmAdvice *advice,
                const QmCandidate *candidate,
                gboolean best,
                QmCliTable *table)
{
  guint n;
  const QmRunTime *runs = qm_advice_runs (advice, candidate, &n);
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (cells, g_strdup (!best                  ? " "
                                    : g_get_charset (NULL) ? "→"
                                                           : ">"));
  g_ptr_array_add (cells, qm_prose_candidate (candidate));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (cells, cell_of (&runs[i]));
  g_ptr_array_add (cells, qm_known (candidate->busy)
                              ? qm_format_percent (candidate->busy)
                              : NULL);
  g_ptr_array_add (cells,
                   g_strdup (candidate->late ? _ ("a run is too slow") : " "));
  qm_cli_table_add_row (table,
                        best              ? QM_CLI_GOOD
                        : candidate->late ? QM_CLI_FAINT
                                          : QM_CLI_PLAIN,
                        (const char *const *) cells->pdata);
}

/* A column for each run, which is called as its model is. */
static QmCliTable *
table_new (const QmAdvice *advice, const QmQuestion *question, guint n_runs)
{
  g_autofree QmCliColumn *columns =
      g_new0 (QmCliColumn, N_BEFORE + n_runs + N_AFTER);
  gboolean limited = qm_known (qm_advice_get_run_deadline (advice));

  columns[0].title = "";
  columns[1].title = _ ("GPUs");
  for (guint i = 0; i < n_runs; i++)
    columns[N_BEFORE + i] =
        (QmCliColumn){ g_array_index (question->runs, QmRun, i).model,
                       QM_CLI_RIGHT };
  columns[N_BEFORE + n_runs] = (QmCliColumn){ _ ("Busy"), QM_CLI_RIGHT };
  columns[N_BEFORE + n_runs + 1] = (QmCliColumn){ _ ("Limits"), .drop = 1 };
  /* All rows have the last cell. */
  if (!limited)
    columns[N_BEFORE + n_runs + 1].title = "";
  return qm_cli_table_new (columns, N_BEFORE + n_runs + N_AFTER);
}

void
qm_cli_matrix_append (const QmAdvice *advice,
                      const QmQuestion *question,
                      int recommended,
                      GString *out,
                      const QmCliScreen *screen)
{
  guint n_candidates, n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);
  const int *frontier = qm_advice_frontier (advice, &n);
  gboolean seen = FALSE;
  g_autoptr (QmCliTable) table = NULL;

  if (!qm_advice_is_portfolio (advice) || n == 0)
    return;
  table = table_new (advice, question, question->runs->len);
  qm_cli_table_add_heading (table, _ ("What one run takes"));
  for (guint i = 0; i < n; i++)
    {
      add_matrix_row (advice, &candidates[frontier[i]],
                      frontier[i] == recommended, table);
      seen |= frontier[i] == recommended;
    }
  if (!seen && recommended >= 0)
    add_matrix_row (advice, &candidates[recommended], TRUE, table);
  g_string_append_c (out, '\n');
  qm_cli_table_append (table, out, screen);
  g_string_append_c (out, '\n');
  qm_cli_append_paragraph (
      out, screen, QM_CLI_FAINT, "", 0,
      g_get_charset (NULL)
          ? _ ("≈: predicted, other times were measured or reported. Busy: the "
               "share of the year that all machines of a line train.")
          : _ ("~: predicted, other times were measured or reported. Busy: the "
               "share of the year that all machines of a line train."));
}

/* --- for programs --- */

static json_t *
run_json (const QmRun *asked, const QmRunTime *run)
{
  const QmMeasurement *measurement = run->measurement;
  json_t *object = json_object ();

  json_object_set_new (object, "model", qm_cli_json_text (asked->model));
  json_object_set_new (object, "runs_per_year",
                       qm_cli_json_number (asked->runs_per_year, 6));
  json_object_set_new (object, "days", qm_cli_json_number (run->days, 6));
  json_object_set_new (object, "days_low",
                       qm_cli_json_number (run->days_low, 6));
  json_object_set_new (object, "days_high",
                       qm_cli_json_number (run->days_high, 6));
  json_object_set_new (object, "fits",
                       measurement == NULL
                           ? json_null ()
                           : json_boolean (run->verdict
                                           != QM_VERDICT_INFEASIBLE));
  json_object_set_new (object, "provenance",
                       measurement != NULL ? json_string (
                           qm_provenance_name (measurement->provenance))
                                           : json_null ());
  json_object_set_new (object, "source",
                       measurement != NULL
                           ? qm_cli_json_text (measurement->source)
                           : json_null ());
  json_object_set_new (object, "verdict",
                       json_string (qm_verdict_name (run->verdict)));
  return object;
}

static json_t *
runs_json (const QmAdvice *advice,
           const QmQuestion *question,
           const QmCandidate *candidate)
{
  guint n;
  const QmRunTime *runs = qm_advice_runs (advice, candidate, &n);
  json_t *array;

  if (n == 0)
    return json_null ();
  array = json_array ();
  for (guint i = 0; i < n; i++)
    json_array_append_new (
        array, run_json (&g_array_index (question->runs, QmRun, i), &runs[i]));
  return array;
}

/* What it costs, net and gross, in the question's currency. */
static json_t *
cost_json (const QmPurse *purse, gint64 usd_minor)
{
  json_t *object;
  int decimals = qm_currency_decimals (purse->currency);

  if (usd_minor < 0)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "currency", json_string (purse->currency));
  json_object_set_new (object, "net",
                       qm_cli_json_number (qm_purse_from_usd (purse, usd_minor,
                                                              FALSE),
                                           decimals));
  json_object_set_new (
      object, "gross",
      purse->tax_percent > 0 || purse->tax_free
          ? qm_cli_json_number (qm_purse_from_usd (purse, usd_minor, TRUE),
                                decimals)
          : json_null ());
  return object;
}

void
qm_cli_matrix_add (json_t *object,
                   const QmAdvice *advice,
                   const QmQuestion *question,
                   const QmCandidate *candidate)
{
  json_object_set_new (object, "runs", runs_json (advice, question, candidate));
  json_object_set_new (object, "longest_days",
                       qm_cli_json_number (candidate->longest_days, 6));
  json_object_set_new (object, "machine_days",
                       qm_cli_json_number (candidate->machine_days, 6));
  json_object_set_new (object, "busy", qm_cli_json_number (candidate->busy, 6));
  json_object_set_new (object, "late", json_boolean (candidate->late));
  json_object_set_new (object, "unfunded", json_boolean (candidate->unfunded));
  json_object_set_new (object, "cost",
                       cost_json (&question->purse, candidate->cost_minor));
}

/* An amount of the purse, in major units; null for none. */
static json_t *
amount_json (const QmPurse *purse, gint64 minor)
{
  QmMoney money = { .minor = minor };

  if (minor < 0)
    return json_null ();
  g_strlcpy (money.currency, purse->currency, sizeof money.currency);
  return qm_cli_json_number (qm_money_to_double (money),
                             qm_currency_decimals (purse->currency));
}

json_t *
qm_cli_matrix_purse (const QmPurse *purse)
{
  g_autofree char *rate = qm_cross_rate_text (&purse->rate);
  gboolean converted = g_strcmp0 (purse->currency, "USD") != 0;
  json_t *object = json_object ();

  json_object_set_new (object, "currency", json_string (purse->currency));
  json_object_set_new (object, "budget",
                       amount_json (purse, purse->budget_minor));
  json_object_set_new (object, "gross", json_boolean (purse->gross));
  json_object_set_new (object, "tax_percent",
                       qm_cli_json_number (purse->tax_percent, 6));
  json_object_set_new (object, "machine_least",
                       amount_json (purse, purse->machine_least));
  json_object_set_new (object, "machine_most",
                       amount_json (purse, purse->machine_most));
  json_object_set_new (object, "rate",
                       converted ? json_string (rate) : json_null ());
  json_object_set_new (object, "rate_date",
                       converted ? qm_cli_json_date (purse->rate.date)
                                 : json_null ());
  json_object_set_new (object, "rate_stale",
                       converted ? json_boolean (purse->rate.stale)
                                 : json_null ());
  return object;
}
