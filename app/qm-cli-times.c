/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli-times.h"
#include "app/qm-cli.h"
#include "pricing/advice/qm-prose-comparison.h"
#include "pricing/advice/qm-prose.h"

#include <glib/gi18n-lib.h>

/* What both answer about a model. */
typedef struct
{
  const QmModel *model;
  QmComparedAnswer *as_in_paper;
  QmComparedAnswer *yardstick;
} Both;

/* What is to be told. */
typedef struct
{
  const QmCatalog *catalog;
  const QmQuestion *question;
  const GPtrArray *troubles; /* char*; NULL: none */
  QmComparison *comparison;
  GArray *both; /* Both, of the models that are asked about */
} Told;

static void
both_clear (gpointer data)
{
  Both *both = data;

  qm_compared_answer_free (both->as_in_paper);
  qm_compared_answer_free (both->yardstick);
}

static void
told_clear (Told *told)
{
  g_clear_pointer (&told->comparison, qm_comparison_free);
  g_clear_pointer (&told->both, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Told, told_clear)

/* --- for programs --- */

static json_t *
time_json (const QmMeasurement *time)
{
  json_t *object;

  if (time == NULL)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "provenance",
                       json_string (qm_provenance_name (time->provenance)));
  json_object_set_new (object, "feasibility",
                       json_string (qm_feasibility_name (time->feasibility)));
  json_object_set_new (object, "days", qm_cli_json_number (time->days, 4));
  json_object_set_new (object, "days_low",
                       qm_cli_json_number (time->days_low, 4));
  json_object_set_new (object, "days_high",
                       qm_cli_json_number (time->days_high, 4));
  qm_cli_json_add_engine (object, time);
  json_object_set_new (object, "source", qm_cli_json_text (time->source));
  return object;
}

static json_t *
row_json (const QmCompared *row)
{
  const QmMeasurement *published = row->published;
  json_t *object = json_object ();

  json_object_set_new (object, "model", json_string (published->model->id));
  json_object_set_new (object, "gpu", json_string (published->gpu->id));
  json_object_set_new (object, "gpus", json_integer (published->gpus));
  json_object_set_new (object, "settings",
                       json_string (qm_settings_name (published->settings)));
  json_object_set_new (object, "published", time_json (published));
  json_object_set_new (object, "yardstick", time_json (row->yardstick));
  json_object_set_new (object, "ratio", qm_cli_json_number (row->ratio, 4));
  json_object_set_new (object, "verdict",
                       json_string (qm_verdict_name (row->verdict)));
  json_object_set_new (object, "implied_utilization",
                       qm_cli_json_number (row->utilization, 4));
  return object;
}

static json_t *
sum_json (const QmComparison *comparison, QmSettings settings)
{
  QmComparisonSummary sum = qm_comparison_sum_up (comparison, settings);
  json_t *object = json_object ();

  json_object_set_new (object, "settings",
                       json_string (qm_settings_name (settings)));
  json_object_set_new (object, "compared", json_integer (sum.n_compared));
  json_object_set_new (object, "median", qm_cli_json_number (sum.median, 4));
  json_object_set_new (object, "least", qm_cli_json_number (sum.least, 4));
  json_object_set_new (object, "greatest",
                       qm_cli_json_number (sum.greatest, 4));
  json_object_set_new (object, "shorter", json_integer (sum.n_shorter));
  json_object_set_new (object, "predicted", json_integer (sum.n_predicted));
  json_object_set_new (object, "within", json_integer (sum.n_within));
  return object;
}

static json_t *
answer_json (const QmComparedAnswer *answer)
{
  const QmCandidate *best = qm_compared_answer_best (answer);
  g_autofree char *headline =
      qm_prose_headline (answer->advice, answer->question,
                         &answer->recommendation);
  json_t *object = json_object ();

  json_object_set_new (object, "headline", qm_cli_json_text (headline));
  json_object_set_new (object, "recommendation",
                       best != NULL
                           ? qm_cli_json_candidate (best, answer->question,
                                                    qm_date_today ())
                           : json_null ());
  return object;
}

static json_t *
both_json (const Both *both)
{
  json_t *object = json_object ();

  json_object_set_new (object, "model", json_string (both->model->id));
  json_object_set_new (object, "as_in_the_paper",
                       answer_json (both->as_in_paper));
  json_object_set_new (object, "yardstick", answer_json (both->yardstick));
  return object;
}

static gboolean
write_times_json (const Told *told, GError **error)
{
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  json_auto_t *root = json_object ();
  json_t *sums = json_array ();
  json_t *answers = json_array ();
  json_t *places = json_array ();
  guint n;
  const QmCompared *rows = qm_comparison_rows (told->comparison, &n);

  for (guint i = 0; i < G_N_ELEMENTS (qm_comparison_settings); i++)
    json_array_append_new (sums, sum_json (told->comparison,
                                           qm_comparison_settings[i]));
  for (guint i = 0; i < told->both->len; i++)
    json_array_append_new (answers,
                           both_json (&g_array_index (told->both, Both, i)));
  for (guint i = 0; i < n; i++)
    json_array_append_new (places, row_json (&rows[i]));
  json_object_set_new (root, "why",
                       qm_cli_json_text (qm_prose_comparison_why ()));
  json_object_set_new (root, "sums", sums);
  json_object_set_new (root, "answers", answers);
  json_object_set_new (root, "places", places);
  qm_cli_json_add_problems (root, told->catalog);
  qm_cli_json_add_troubles (root, told->troubles);
  return qm_cli_json_write (root, error);
}

/* --- for people --- */

static void
add_compared_row (QmCliTable *table, const QmCompared *row)
{
  const QmMeasurement *published = row->published;
  g_autofree char *gpus =
      g_strdup_printf ("%d × %s", published->gpus, published->gpu->name);
  g_autofree char *said = qm_prose_compared_time (published, FALSE);
  g_autofree char *other = qm_prose_compared_time (row->yardstick, FALSE);
  g_autofree char *interval = qm_prose_compared_interval (row->yardstick);
  g_autofree char *ratio = qm_prose_compared_ratio (row);
  g_autofree char *verdict = qm_prose_compared_verdict (row);
  const char *cells[] = {
    published->model->name,
    gpus,
    qm_prose_settings_name (published->settings),
    said,
    other,
    *interval != '\0' ? interval : " ",
    qm_prose_compared_provenance (row->yardstick),
    ratio,
    *verdict != '\0' ? verdict : " ",
  };

  qm_cli_table_add_row (table, *verdict != '\0' ? QM_CLI_BAD : QM_CLI_PLAIN,
                        cells);
}

static void
append_places (const Told *told, GString *out, const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Model"), .drop = told->both->len == 1 ? 4 : 0, .shrink = 12 },
    { _ ("GPUs"), .shrink = 14 },
    { _ ("Settings") },
    { _ ("Published"), QM_CLI_RIGHT },
    { _ ("Yardstick"), QM_CLI_RIGHT },
    { _ ("Interval"), QM_CLI_RIGHT, .drop = 2 },
    { _ ("Known as"), .drop = 3 },
    { _ ("Ratio"), QM_CLI_RIGHT },
    { _ ("Audit"), .shrink = 12 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  guint n;
  const QmCompared *rows = qm_comparison_rows (told->comparison, &n);

  for (guint i = 0; i < n; i++)
    add_compared_row (table, &rows[i]);
  g_string_append_c (out, '\n');
  qm_cli_table_append (table, out, screen);
}

static void
append_answers (const Told *told,
                const Both *both,
                GString *out,
                const QmCliScreen *screen)
{
  g_auto (GStrv) answers =
      qm_prose_comparison_answers (told->comparison, both->as_in_paper,
                                   both->yardstick);

  g_string_append_c (out, '\n');
  if (told->both->len > 1)
    qm_cli_append_paragraph (out, screen, QM_CLI_STRONG, "", 0,
                             both->model->name);
  for (guint i = 0; answers[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "• ", 2, answers[i]);
}

/* Why something is not predicted; NULL: all is, or nothing was to be. */
static const char *
problem_of (const Told *told)
{
  for (guint i = 0; i < told->both->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (qm_comparison_settings); j++)
      {
        const char *model = g_array_index (told->both, Both, i).model->id;
        g_autoptr (QmQuestion) asked =
            qm_comparison_question (told->question, model,
                                    qm_comparison_settings[j]);
        const char *level = qm_question_level (asked);
        const char *problem =
            level != NULL
                ? qm_forecasts_get_problem (asked->forecasts, model, level)
                : NULL;

        if (problem != NULL)
          return problem;
      }
  return NULL;
}

static void
append_problems (const Told *told, GString *out, const QmCliScreen *screen)
{
  const char *problem = problem_of (told);

  if (problem != NULL)
    {
      g_autofree char *line = g_strdup_printf (
          _ ("Times that nobody measured are not predicted: %s"), problem);

      g_string_append_c (out, '\n');
      qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "! ", 2, line);
    }
  for (guint i = 0; told->troubles != NULL && i < told->troubles->len; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "! ", 2,
                             g_ptr_array_index (told->troubles, i));
}

static gboolean
write_times_text (const Told *told, GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);

  qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                           qm_prose_comparison_why ());
  g_string_append_c (out, '\n');
  for (guint i = 0; i < G_N_ELEMENTS (qm_comparison_settings); i++)
    {
      g_autofree char *sum =
          qm_prose_comparison_sum (told->comparison, qm_comparison_settings[i]);

      qm_cli_append_paragraph (out, &screen, QM_CLI_STRONG, "- ", 2, sum);
    }
  append_problems (told, out, &screen);
  append_places (told, out, &screen);
  for (guint i = 0; i < told->both->len; i++)
    append_answers (told, &g_array_index (told->both, Both, i), out, &screen);
  return qm_cli_write_text (out->str, error);
}

/* --- the command --- */

/* Has everything predicted that is compared, and answers about the model. */
static gboolean
add_compared_model (Told *told, const QmModel *model, GError **error)
{
  g_autoptr (QmQuestion) question = qm_question_copy (told->question);
  Both both = { .model = model };

  g_free (question->model);
  question->model = g_strdup (model->id);
  for (guint i = 0; i < G_N_ELEMENTS (qm_comparison_settings); i++)
    {
      g_autoptr (QmQuestion) asked =
          qm_comparison_question (question, model->id,
                                  qm_comparison_settings[i]);

      qm_cli_forecast (asked, told->catalog);
    }
  qm_cli_forecast_audit (question->forecasts, told->catalog, model->id,
                         question->link);
  both.as_in_paper =
      qm_compared_answer_new (told->catalog, question, TRUE, error);
  both.yardstick =
      both.as_in_paper != NULL
          ? qm_compared_answer_new (told->catalog, question, FALSE, error)
          : NULL;
  g_array_append_val (told->both, both);
  return both.yardstick != NULL;
}

static gboolean
is_published (const QmCatalog *catalog, const QmModel *model)
{
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (all[i].model == model && all[i].provenance == QM_PROVENANCE_PUBLISHED)
      return TRUE;
  return FALSE;
}

/* Of every published model, where `only` is NULL. */
static gboolean
add_models (Told *told, const char *only, GError **error)
{
  size_t n;
  const QmModel *all = qm_catalog_models (told->catalog, &n);

  for (size_t i = 0; i < n; i++)
    if ((only != NULL ? g_str_equal (only, all[i].id)
                      : is_published (told->catalog, &all[i]))
        && !add_compared_model (told, &all[i], error))
      return FALSE;
  return TRUE;
}

static int
tell_times (const QmCatalog *catalog,
            const QmQuestion *question,
            const char *only,
            const GPtrArray *troubles,
            gboolean json,
            GError **error)
{
  g_auto (Told)
      told = { .catalog = catalog, .question = question, .troubles = troubles };

  told.both = g_array_new (FALSE, FALSE, sizeof (Both));
  g_array_set_clear_func (told.both, both_clear);
  if (!add_models (&told, only, error))
    return QM_CLI_EXIT_BAD_INPUT;
  told.comparison =
      qm_comparison_new (catalog, question,
                         only != NULL ? qm_catalog_model (catalog, only)
                                      : NULL);
  return (json ? write_times_json (&told, error)
               : write_times_text (&told, error))
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}

static void
add_times_options (QmCliQuestion *typed, GArray *options)
{
  qm_cli_options_add_value (options, "model", 0, _ ("MODEL"),
                            _ ("What to train, as “catalog models” names it"),
                            &typed->model);
  qm_cli_options_add_value (options, "budget", 0, _ ("USD"),
                            _ ("Most that may be spent: 40000, 40k, 1.5M"),
                            &typed->money.budget);
  qm_cli_options_add_value (
      options, "gpu", 0, _ ("GPU,…"),
      _ ("Only these types, as “catalog gpus” names them"), &typed->gpu);
  qm_cli_options_add_value (options, "gpus", 0, _ ("N,…"),
                            _ ("Only so many GPUs in a machine, as in 1,2,4"),
                            &typed->gpus);
  qm_cli_options_add_value (
      options, "predictions", 0, _ ("WHICH"),
      _ ("Predict what nobody measured: all (the default) or none"),
      &typed->predictions);
  qm_cli_question_add_link (typed, options);
  qm_cli_options_add_flag (options, "no-quotes",
                           _ ("Leave your quotes out of account"),
                           &typed->no_quotes);
  qm_cli_store_add_option (options, &typed->store);
}

int
qm_cli_times (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "times",
    .summary = _ ("Holds the published training times against the yardstick: "
                  "what was measured, reported or\npredicted at the same "
                  "places."),
    .description = _ ("Exit status: 0 done, 2 bad input."),
  };
  g_auto (QmCliQuestion) typed = { .no_this_machine = TRUE };
  gboolean json = FALSE;
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_auto (GStrv) models = NULL;
  int status;

  add_times_options (&typed, options);
  qm_cli_options_add_flag (options, "json", _ ("Answer in JSON, for programs"),
                           &json);
  if (!qm_cli_options_parse (&verb, options, arguments, NULL, &status, error))
    return status;
  if ((catalog = qm_cli_catalog_load (error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if ((typed.model != NULL
       && (models = qm_cli_question_models (&typed, catalog, FALSE, error))
              == NULL)
      || (question = qm_cli_question_read (&typed, catalog, error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if (question->forecasts == NULL)
    question->forecasts = qm_forecasts_new ();
  return tell_times (catalog, question, models != NULL ? models[0] : NULL,
                     typed.troubles, json, error);
}
