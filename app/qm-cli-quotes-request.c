/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-acceptance.h"
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
#include "pricing/advice/qm-request.h"
#include "pricing/papers/qm-request-paper.h"
#include "pricing/papers/qm-request-ubl.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define WARRANTY_MAX    20
#define HOST_MEMORY_MAX 1e6

/* The values of the options as they were typed. */
typedef struct
{
  QmCliQuestion question;
  QmCliPaper paper;
  QmCliAcceptance acceptance;
  GStrv against;
  GStrv warranty;
  GStrv host_memory;
  GStrv answer_by;
  GStrv id;
  gboolean json;
} Typed;

static void
clear_typed_request (Typed *typed)
{
  qm_cli_question_clear (&typed->question);
  qm_cli_paper_clear (&typed->paper);
  qm_cli_acceptance_clear (&typed->acceptance);
  g_clear_pointer (&typed->against, g_strfreev);
  g_clear_pointer (&typed->warranty, g_strfreev);
  g_clear_pointer (&typed->host_memory, g_strfreev);
  g_clear_pointer (&typed->answer_by, g_strfreev);
  g_clear_pointer (&typed->id, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_request)

static void
add_request_options (Typed *typed, GArray *options)
{
  typed->paper = (QmCliPaper){ .others = "ubl|json" };
  qm_cli_question_add_options (&typed->question, options);
  qm_cli_options_add_value (options, "against", 0, _ ("NUMBER,…"),
                            _ ("Instead: which of these quotes are complete, "
                               "and what they lack"),
                            &typed->against);
  qm_cli_options_add_value (options, "warranty", 0, _ ("YEARS"),
                            _ ("Of warranty to ask for; 3 if not given"),
                            &typed->warranty);
  qm_cli_options_add_value (options, "host-memory", 0, "GIB",
                            _ ("Of host memory to ask for; as much as all GPUs "
                               "have if not given"),
                            &typed->host_memory);
  qm_cli_options_add_value (options, "answer-by", 0, _ ("DATE"),
                            _ ("Until when offers are awaited"),
                            &typed->answer_by);
  qm_cli_options_add_value (options, "id", 0, _ ("TEXT"),
                            _ ("Number of the request in a UBL document"),
                            &typed->id);
  qm_cli_acceptance_add_options (&typed->acceptance, options);
  qm_cli_paper_add_options (&typed->paper, options);
  qm_cli_options_add_json (options, &typed->json);
}

static gboolean
read_terms (const Typed *typed, QmRequestTerms *terms, GError **error)
{
  const char *warranty, *host_memory;

  *terms = qm_request_terms_default ();
  if (!qm_cli_option_single ("warranty", typed->warranty, &warranty, error)
      || !qm_cli_option_single ("host-memory", typed->host_memory, &host_memory,
                                error)
      || !qm_cli_option_date ("answer-by", typed->answer_by, &terms->answer_by,
                              error))
    return FALSE;
  if (warranty != NULL
      && !qm_cli_read_number (warranty, WARRANTY_MAX, &terms->warranty_years))
    return qm_cli_set_value_error (
        error, "warranty", warranty,
        _ ("is not a number of years above 0 and up to 20"));
  if (host_memory != NULL
      && !qm_cli_read_number (host_memory, HOST_MEMORY_MAX,
                              &terms->host_memory_gib))
    return qm_cli_set_value_error (
        error, "host-memory", host_memory,
        _ ("is not a number of GiB above 0 and up to 1000000"));
  return TRUE;
}

/* --- for programs --- */

static json_t *
needs_json (const QmRequest *request)
{
  json_t *array = json_array ();

  for (guint i = 0; i < request->needs->len; i++)
    {
      const QmNeed *need = &g_array_index (request->needs, QmNeed, i);
      json_t *object = json_object ();

      json_object_set_new (object, "requirement",
                           json_string (qm_need_kind_name (need->kind)));
      json_object_set_new (object, "training",
                           need->training >= 0 ? json_integer (need->training)
                                               : json_null ());
      json_object_set_new (object, "least",
                           qm_cli_json_number (need->least, 4));
      json_object_set_new (object, "name", qm_cli_json_text (need->name));
      json_object_set_new (object, "amount", qm_cli_json_text (need->amount));
      json_array_append_new (array, object);
    }
  return array;
}

static json_t *
trainings_json (const QmRequest *request)
{
  json_t *array = json_array ();

  for (guint i = 0; i < request->trainings->len; i++)
    {
      const QmRequestedTraining *training =
          &g_array_index (request->trainings, QmRequestedTraining, i);
      json_t *object = json_object ();

      json_object_set_new (object, "model", json_string (training->model->id));
      json_object_set_new (object, "days",
                           qm_cli_json_number (training->days, 4));
      json_object_set_new (object, "per_second",
                           qm_cli_json_number (training->per_second, 6));
      json_object_set_new (object, "unit",
                           json_string (training->tokens ? "tokens"
                                                         : "samples"));
      json_object_set_new (object, "runs_per_year",
                           qm_cli_json_number (training->runs_per_year, 4));
      json_array_append_new (array, object);
    }
  return array;
}

static json_t *
offer_json (const QmRequest *request,
            const QmCatalog *catalog,
            const QmQuoteComparison *comparison,
            guint index)
{
  g_autoptr (GArray) answers =
      qm_request_check (request, catalog, comparison, index);
  json_t *object = json_object ();
  json_t *array = json_array ();

  for (guint i = 0; i < answers->len; i++)
    {
      const QmAnswer *answer = &g_array_index (answers, QmAnswer, i);
      json_t *one = json_object ();

      json_object_set_new (
          one, "requirement",
          json_string (qm_need_kind_name (
              g_array_index (request->needs, QmNeed, i).kind)));
      json_object_set_new (one, "met",
                           json_string (qm_answer_state_name (answer->state)));
      json_object_set_new (one, "offered", qm_cli_json_text (answer->text));
      json_array_append_new (array, one);
    }
  json_object_set_new (object, "quote",
                       json_integer (comparison->quotes[index].quote->id));
  json_object_set_new (object, "complete",
                       json_boolean (qm_answers_are_complete (answers)));
  json_object_set_new (object, "answers", array);
  return object;
}

/* (transfer full) */
static char *
to_json (const QmRequest *request,
         const QmCatalog *catalog,
         const QmQuoteComparison *comparison)
{
  json_auto_t *root = json_object ();
  json_t *offers = json_array ();

  json_object_set_new (root, "machines", json_integer (request->machines));
  json_object_set_new (root, "requirements", needs_json (request));
  json_object_set_new (root, "trainings", trainings_json (request));
  for (guint i = 0; comparison != NULL && i < comparison->n_quotes; i++)
    json_array_append_new (offers,
                           offer_json (request, catalog, comparison, i));
  if (comparison != NULL)
    json_object_set_new (root, "offers", offers);
  else
    json_decref (offers);
  return qm_cli_json_to_text (root);
}

/* --- the command --- */

/* The quotes of "--against"; *comparison is NULL where it was not given. */
static gboolean
compare_against (const Typed *typed,
                 const QmCatalog *catalog,
                 QmQuestion *question,
                 QmQuoteComparison **comparison,
                 GPtrArray **quotes,
                 GError **error)
{
  g_auto (GStrv) numbers = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmRates) rates = NULL;
  QmComparedTerms terms = { .lifetime_years = question->lifetime_years,
                            .tax_percent = question->purse.tax_percent,
                            .today = qm_date_today () };

  if (strcmp (question->purse.currency, "USD") != 0)
    g_strlcpy (terms.currency, question->purse.currency, sizeof terms.currency);
  if (!qm_cli_option_list ("against", typed->against, &numbers, error))
    return FALSE;
  if (numbers == NULL)
    return TRUE;
  if ((ids = qm_cli_quote_ids (numbers, 1, QM_COMPARED_MOST, error)) == NULL
      || (store = qm_cli_store_open (typed->question.store, QM_CLI_STORE_READ,
                                     error))
             == NULL
      || (*quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || (rates = qm_cli_store_rates (store, error)) == NULL)
    return FALSE;
  qm_quote_times_ask (question, catalog, *quotes);
  qm_cli_forecast (question, catalog);
  *comparison = qm_quote_comparison_new (catalog, *quotes, rates, &terms);
  return qm_quote_times_add (*comparison, catalog, question, *quotes, error);
}

static gboolean
write_request (const Typed *typed,
               QmQuestion *question,
               const QmRequest *request,
               const QmCatalog *catalog,
               const QmQuoteComparison *comparison,
               const QmCliForm *form,
               GError **error)
{
  g_autoptr (QmPaper) paper = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *id = NULL;

  if (comparison == NULL)
    paper = qm_request_paper_new (request);
  if (!qm_cli_acceptance_write (&typed->acceptance, question, catalog, request,
                                FALSE, form->force, paper, error))
    return FALSE;
  if (typed->json || g_str_equal (form->format, "json"))
    {
      char *text = to_json (request, catalog, comparison);

      bytes = g_bytes_new_take (text, strlen (text));
      return qm_cli_save (bytes, form->output, form->force, error);
    }
  if (!qm_cli_option_text ("id", typed->id, &id, error))
    return FALSE;
  if (g_str_equal (form->format, "ubl"))
    {
      bytes = qm_request_ubl_write (request, id != NULL ? id : "1");
      return bytes != NULL
             && qm_cli_save (bytes, form->output, form->force, error);
    }
  if (comparison != NULL)
    paper = qm_answers_paper_new (request, catalog, comparison);
  return qm_cli_paper_write (paper, form, error);
}

int
qm_cli_quotes_request (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes request",
    .parameters = _ ("[FILE]"),
    .summary =
        _ ("Writes a request for quotation: what a machine has to be and "
           "do so that the plan holds,\nwithout naming a maker; or says "
           "which offers meet it."),
    .description = _ ("FILE is a question that was saved, as in "
                      "gpus.quartermaster; options go before what it asks."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) files = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_autoptr (QmQuestion) asked = NULL;
  g_autoptr (QmRequest) request = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (QmQuoteComparison) comparison = NULL;
  g_autoptr (QmCliCLocale) locale = NULL;
  QmRequestTerms terms;
  QmCliForm form = { 0 };
  int status;

  add_request_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &files, &status, error))
    return status;
  if (!qm_cli_paper_read (&typed.paper, &form, error)
      || !qm_cli_acceptance_check (&typed.acceptance, error)
      || !read_terms (&typed, &terms, error)
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || (question =
              qm_cli_question_whole (&typed.question, files, catalog, error))
             == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if (typed.json || g_str_equal (form.format, "json"))
    locale = qm_cli_c_locale_enter ();
  asked = qm_question_copy (question);
  qm_cli_forecast (question, catalog);
  request = qm_request_new (catalog, question, &terms, error);
  return request != NULL
                 && compare_against (&typed, catalog, asked, &comparison,
                                     &quotes, error)
                 && write_request (&typed, question, request, catalog,
                                   comparison, &form, error)
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}
