/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-paper.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-save.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/advice/qm-quote-times.h"
#include "pricing/papers/qm-compare-paper.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* --- for programs --- */

static json_t *
text_or_null (char *text)
{
  json_t *value = qm_cli_json_text (text);

  g_free (text);
  return value;
}

static json_t *
amount_json (gint64 minor, const char *currency)
{
  return minor != QM_AMOUNT_UNSTATED
             ? text_or_null (qm_minor_to_text (minor, currency))
             : json_null ();
}

static json_t *
line_json (const QmQuote *quote, const QmQuoteLine *line)
{
  json_t *object = json_object ();

  json_object_set_new (object, "role",
                       json_string (qm_line_role_name (line->role)));
  json_object_set_new (object, "description",
                       qm_cli_json_text (line->description));
  json_object_set_new (object, "part_number",
                       qm_cli_json_text (line->part_number));
  json_object_set_new (object, "item", qm_cli_json_text (line->item));
  json_object_set_new (object, "gpus",
                       line->gpus > 0 ? json_integer (line->gpus)
                                      : json_null ());
  json_object_set_new (object, "quantity",
                       text_or_null (
                           qm_cli_quote_quantity_text (line->quantity_micros)));
  json_object_set_new (object, "price",
                       line->price_micros != QM_AMOUNT_UNSTATED ? text_or_null (
                           qm_micros_to_text (line->price_micros, 0))
                                                                : json_null ());
  json_object_set_new (object, "total",
                       amount_json (qm_quote_line_cost (quote, line),
                                    quote->currency));
  json_object_set_new (object, "currency", qm_cli_json_text (quote->currency));
  return object;
}

static json_t *
part_names_json (guint parts)
{
  json_t *array = json_array ();

  for (guint i = 0; i < QM_N_PARTS; i++)
    if ((parts & 1u << i) != 0)
      json_array_append_new (array, json_string (
                                        qm_offer_part_name ((QmOfferPart) i)));
  return array;
}

static json_t *
total_json (const QmComparedQuote *compared, const char *currency)
{
  json_t *object = json_object ();
  const struct
  {
    const char *name;
    gint64 minor;
  } amounts[] = {
    { "amount", compared->payable_minor },
    { "net", compared->net_minor },
    { "tax", compared->tax_minor },
    { "gross", compared->gross_minor },
    { "per_gpu", compared->per_gpu_minor },
    { "per_day", isfinite (compared->day_minor)
                     ? (gint64) llround (compared->day_minor)
                     : QM_AMOUNT_UNSTATED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (amounts); i++)
    json_object_set_new (object, amounts[i].name,
                         amount_json (amounts[i].minor, currency));
  json_object_set_new (object, "net_is_derived",
                       json_boolean (compared->net_derived));
  json_object_set_new (object, "gross_is_derived",
                       json_boolean (compared->gross_derived));
  json_object_set_new (object, "gpu", qm_cli_json_text (compared->gpu));
  json_object_set_new (object, "gpus", json_integer (compared->gpus));
  json_object_set_new (object, "machines", json_integer (compared->machines));
  json_object_set_new (object, "lacks", part_names_json (compared->lacks));
  json_object_set_new (object, "rate",
                       compared->rate.from[0] != '\0'
                           ? qm_cli_rate_json (&compared->rate)
                           : json_null ());
  json_object_set_new (object, "reason", qm_cli_json_text (compared->reason));
  return object;
}

static json_t *
part_json (const QmQuoteComparison *comparison, guint part)
{
  static const char *const states[] = { "missing", "contained", "unpriced",
                                        "priced" };
  json_t *object = json_object ();
  json_t *quotes = json_array ();

  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      const QmComparedPart *compared = &comparison->quotes[i].parts[part];
      json_t *one = json_object ();
      json_t *lines = json_array ();

      for (guint j = 0; j < compared->lines->len; j++)
        json_array_append_new (
            lines, line_json (comparison->quotes[i].quote,
                              g_ptr_array_index (compared->lines, j)));
      json_object_set_new (one, "state", json_string (states[compared->state]));
      json_object_set_new (one, "net",
                           amount_json (compared->minor,
                                        comparison->terms.currency));
      json_object_set_new (one, "lines", lines);
      json_array_append_new (quotes, one);
    }
  json_object_set_new (object, "part",
                       json_string (qm_offer_part_name ((QmOfferPart) part)));
  json_object_set_new (object, "quotes", quotes);
  return object;
}

static json_t *
training_json (const QmComparedTraining *training, guint n_quotes)
{
  json_t *object = json_object ();
  json_t *quotes = json_array ();

  for (guint i = 0; i < n_quotes; i++)
    {
      const QmTrainingTime *time = &training->times[i];
      json_t *one = json_object ();

      json_object_set_new (one, "days", qm_cli_json_number (time->days, 4));
      json_object_set_new (one, "days_low", qm_cli_json_number (time->low, 4));
      json_object_set_new (one, "days_high",
                           qm_cli_json_number (time->high, 4));
      json_object_set_new (one, "added", qm_cli_json_text (time->added));
      json_object_set_new (one, "added_usd",
                           time->added_usd_minor >= 0 ? qm_cli_json_number (
                               (double) time->added_usd_minor / 100, 2)
                                                      : json_null ());
      json_object_set_new (one, "reason", qm_cli_json_text (time->reason));
      json_array_append_new (quotes, one);
    }
  json_object_set_new (object, "model", json_string (training->title));
  json_object_set_new (object, "runs_per_year",
                       qm_cli_json_number (training->runs_per_year, 4));
  json_object_set_new (object, "quotes", quotes);
  return object;
}

static json_t *
measure_json (const QmQuoteComparison *comparison,
              const QmComparedMeasure *measure)
{
  json_t *object = json_object ();
  json_t *values = json_array ();
  json_t *lowest = json_array ();
  const char *currency = comparison->terms.currency;

  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      double value = measure->values[i];

      if (qm_measure_is_days (measure->kind))
        json_array_append_new (values, qm_cli_json_number (value, 4));
      else
        json_array_append_new (
            values, amount_json (isfinite (value) ? (gint64) llround (value)
                                                  : QM_AMOUNT_UNSTATED,
                                 currency));
      if ((measure->winners & 1u << i) != 0)
        json_array_append_new (lowest, json_integer (i));
    }
  json_object_set_new (object, "measure",
                       json_string (qm_measure_name (measure->kind)));
  json_object_set_new (object, "training",
                       measure->training >= 0
                               && (measure->kind == QM_MEASURE_RUN_DAYS
                                   || measure->kind == QM_MEASURE_RUN_COST)
                           ? json_integer (measure->training)
                           : json_null ());
  json_object_set_new (object, "values", values);
  json_object_set_new (object, "lowest", lowest);
  return object;
}

static void
add_lists (json_t *root, const QmQuoteComparison *comparison)
{
  json_t *parts = json_array ();
  json_t *trainings = json_array ();
  json_t *measures = json_array ();

  for (guint i = 0; i < QM_N_PARTS; i++)
    json_array_append_new (parts, part_json (comparison, i));
  for (guint i = 0; i < comparison->trainings->len; i++)
    json_array_append_new (
        trainings, training_json (&g_array_index (comparison->trainings,
                                                  QmComparedTraining, i),
                                  comparison->n_quotes));
  for (guint i = 0; i < comparison->measures->len; i++)
    json_array_append_new (
        measures,
        measure_json (comparison, &g_array_index (comparison->measures,
                                                  QmComparedMeasure, i)));
  json_object_set_new (root, "measures", measures);
  json_object_set_new (root, "trainings", trainings);
  json_object_set_new (root, "parts", parts);
}

/* (transfer full): with a line's end. */
static char *
to_json (const QmQuoteComparison *comparison, QmRates *rates)
{
  json_auto_t *root = json_object ();
  json_t *quotes = json_array ();
  json_t *totals = json_array ();

  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      json_array_append_new (
          quotes, qm_cli_quote_json (comparison->quotes[i].quote, rates,
                                     comparison->terms.today));
      json_array_append_new (totals, total_json (&comparison->quotes[i],
                                                 comparison->terms.currency));
    }
  json_object_set_new (root, "currency",
                       json_string (comparison->terms.currency));
  json_object_set_new (root, "tax_percent",
                       qm_cli_json_number (comparison->terms.tax_percent, 4));
  json_object_set_new (root, "lifetime_years",
                       qm_cli_json_number (comparison->terms.lifetime_years,
                                           4));
  json_object_set_new (root, "time_factor",
                       qm_cli_json_number (comparison->time_factor, 4));
  json_object_set_new (root, "totals", totals);
  add_lists (root, comparison);
  json_object_set_new (root, "quotes", quotes);
  return qm_cli_json_to_text (root);
}

/* --- the command --- */

/* The values of the options as they were typed. */
typedef struct
{
  QmCliQuestion question;
  QmCliPaper paper;
  GStrv path;
  GStrv file; /* of a question */
  GStrv currency;
  GStrv tax;
  GStrv lifetime;
  gboolean json;
} Typed;

static void
clear_typed_compare (Typed *typed)
{
  qm_cli_question_clear (&typed->question);
  qm_cli_paper_clear (&typed->paper);
  g_clear_pointer (&typed->path, g_strfreev);
  g_clear_pointer (&typed->file, g_strfreev);
  g_clear_pointer (&typed->currency, g_strfreev);
  g_clear_pointer (&typed->tax, g_strfreev);
  g_clear_pointer (&typed->lifetime, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_compare)

static void
add_compare_options (Typed *typed, GArray *options)
{
  typed->paper = (QmCliPaper){ .others = "json", .sheets = TRUE };
  qm_cli_options_add_value (options, "model", 0, "ID[,ID…]",
                            _ ("Models of which a training is held against the "
                               "quotes"),
                            &typed->question.model);
  qm_cli_options_add_value (options, "question", 0, _ ("FILE"),
                            _ ("A saved question, of which the runs, the money "
                               "and the lifetime count"),
                            &typed->file);
  qm_cli_options_add_value (
      options, "currency", 0, _ ("CODE"),
      _ ("Amounts in this one; if not given, the quotes’ own or USD"),
      &typed->currency);
  qm_cli_options_add_value (options, "tax", 0, _ ("PERCENT"),
                            _ ("Count such a tax where a quote does not tell "
                               "its own"),
                            &typed->tax);
  qm_cli_options_add_value (options, "lifetime", 0, _ ("YEARS"),
                            _ ("How long the machine is used; 5 if not given"),
                            &typed->lifetime);
  qm_cli_store_add_option (options, &typed->path);
  qm_cli_paper_add_options (&typed->paper, options);
  qm_cli_options_add_json (options, &typed->json);
}

/* The question, *question is NULL where nothing is asked. */
static gboolean
read_question (Typed *typed,
               const QmCatalog *catalog,
               QmQuestion **question,
               GStrv *models,
               GError **error)
{
  const char *file;

  if (!qm_cli_option_single ("question", typed->file, &file, error))
    return FALSE;
  if (file == NULL && typed->question.model == NULL)
    return TRUE;
  if (file != NULL
      && !qm_cli_question_open (
          &typed->question, (char *[]){ (char *) file, NULL }, catalog, error))
    return FALSE;
  typed->question.no_quotes = TRUE;
  typed->question.no_this_machine = TRUE;
  *models = qm_cli_question_models (&typed->question, catalog, TRUE, error);
  if (*models == NULL)
    return FALSE;
  *question = qm_cli_question_read (&typed->question, catalog, error);
  return *question != NULL;
}

static gboolean
read_terms (const Typed *typed,
            const QmQuestion *question,
            QmComparedTerms *terms,
            GError **error)
{
  const char *tax, *lifetime;

  *terms = (QmComparedTerms){ .lifetime_years = QM_LIFETIME_DEFAULT,
                              .today = qm_date_today () };
  if (question != NULL)
    {
      terms->lifetime_years = question->lifetime_years;
      terms->tax_percent = question->purse.tax_percent;
      terms->tax_free = question->purse.tax_free;
      if (strcmp (question->purse.currency, "USD") != 0)
        memcpy (terms->currency, question->purse.currency,
                sizeof terms->currency);
    }
  if (!qm_cli_option_currency ("currency", typed->currency, terms->currency,
                               error)
      || !qm_cli_option_single ("tax", typed->tax, &tax, error)
      || !qm_cli_option_single ("lifetime", typed->lifetime, &lifetime, error))
    return FALSE;
  if (tax != NULL
      && !qm_cli_read_tax (tax, &terms->tax_percent, &terms->tax_free))
    return qm_cli_set_value_error (error, "tax", tax,
                                   _ ("is not a number of percent from 0 to "
                                      "100; write it like 19"));
  if (lifetime != NULL
      && !qm_cli_read_number (lifetime, QM_ASKED_YEARS_MAX,
                              &terms->lifetime_years))
    return qm_cli_set_value_error (
        error, "lifetime", lifetime,
        _ ("is not a number of years above 0 and up to 100"));
  return TRUE;
}

/* Adds the trainings of the models, or of the portfolio. */
static gboolean
add_trainings_compared (QmQuoteComparison *comparison,
                        const QmCatalog *catalog,
                        QmQuestion *question,
                        GStrv models,
                        GPtrArray *quotes,
                        GError **error)
{
  qm_quote_times_ask (question, catalog, quotes);
  for (guint i = 0; i < MAX (g_strv_length (models), 1); i++)
    {
      g_autoptr (QmQuestion) one = qm_question_copy (question);

      g_free (one->model);
      one->model = g_strdup (models[i]);
      qm_cli_forecast (one, catalog);
      if (!qm_quote_times_add (comparison, catalog, one, quotes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_comparison (const QmQuoteComparison *comparison,
                  QmRates *rates,
                  const QmCliForm *form,
                  gboolean is_json,
                  GError **error)
{
  g_autoptr (QmPaper) paper = NULL;

  if (is_json)
    {
      char *text = to_json (comparison, rates);
      g_autoptr (GBytes) bytes = g_bytes_new_take (text, strlen (text));

      return qm_cli_save (bytes, form->output, form->force, error);
    }
  paper = qm_compare_paper_new (comparison);
  return qm_cli_paper_write (paper, form, error);
}

int
qm_cli_quotes_compare (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes compare",
    .parameters = _ ("NUMBER NUMBER…"),
    .summary = _ ("Holds two to four quotes against each other on one basis: "
                  "without and with tax, in one\ncurrency at the rate of each "
                  "quote’s day, for each GPU, day and training, part by part."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) models = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (QmRates) rates = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_autoptr (QmQuoteComparison) comparison = NULL;
  QmComparedTerms terms;
  g_autoptr (QmCliCLocale) locale = NULL;
  QmCliForm form = { 0 };
  gboolean is_json;
  int status;

  add_compare_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  if ((ids = qm_cli_quote_ids (rest, 2, QM_COMPARED_MOST, error)) == NULL
      || !qm_cli_paper_read (&typed.paper, &form, error)
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || !read_question (&typed, catalog, &question, &models, error)
      || !read_terms (&typed, question, &terms, error)
      || (store = qm_cli_store_open (typed.path, QM_CLI_STORE_READ, error))
             == NULL
      || (quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || (rates = qm_cli_store_rates (store, error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  is_json = typed.json || g_str_equal (form.format, "json");
  if (is_json)
    locale = qm_cli_c_locale_enter ();
  comparison = qm_quote_comparison_new (catalog, quotes, rates, &terms);
  if (question != NULL)
    {
      question->lifetime_years = terms.lifetime_years;
      qm_rates_unref (question->rates);
      question->rates = qm_rates_ref (rates);
      if (!add_trainings_compared (comparison, catalog, question, models,
                                   quotes, error))
        return QM_CLI_EXIT_BAD_INPUT;
    }
  return write_comparison (comparison, rates, &form, is_json, error)
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}
