/* SPDX-License-Identifier: Apache-2.0 */

/* Answering what is asked about a stored quote. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* One answer as it was typed: "2:pack=4" or "date=2026-11-05". */
typedef struct
{
  const char *typed;
  char *name;
  const char *value;
  QmQuoteLine *line; /* NULL: about the quote */
} Answer;

static gboolean
fail_answer (const Answer *answer, const char *how, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (answer->typed);

  /* Translators: what was typed, how it is to be written. */
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("%s is no answer; write it like %s"), quoted, how);
  return FALSE;
}

/* 1 for yes, 0 for no, -1 for another word. */
static int
yes_or_no (const char *value)
{
  if (g_str_equal (value, "yes"))
    return 1;
  return g_str_equal (value, "no") ? 0 : -1;
}

static gboolean
answer_pack (const Answer *answer, GError **error)
{
  guint64 number;

  if (g_ascii_string_to_unsigned (answer->value, 10, 1, 1024, &number, NULL)
      && qm_quote_line_answer (answer->line, QM_ASK_PACK, (int) number))
    return TRUE;
  return fail_answer (answer, "2:pack=4", error);
}

static gboolean
answer_item (const Answer *answer, const QmCatalog *catalog, GError **error)
{
  if (qm_catalog_gpu (catalog, answer->value) == NULL
      && qm_catalog_machine (catalog, answer->value) == NULL)
    return fail_answer (answer, "2:item=a100-80gb-sxm", error);
  g_free (answer->line->item);
  answer->line->item = g_strdup (answer->value);
  answer->line->match = QM_MATCH_CHOSEN;
  answer->line->gpus = MAX (answer->line->gpus, 1);
  g_clear_pointer (&answer->line->candidates, g_free);
  return TRUE;
}

static gboolean
answer_thing (const Answer *answer, GError **error)
{
  for (int i = QM_THING_UNSTATED + 1; i < QM_N_THINGS; i++)
    if (g_str_equal (answer->value, qm_line_thing_name ((QmLineThing) i)))
      {
        answer->line->thing = (QmLineThing) i;
        return TRUE;
      }
  return fail_answer (
      answer, "2:thing=gpu, machine, part, service, shipping, rent, other",
      error);
}

static gboolean
answer_role (const Answer *answer, GError **error)
{
  for (int i = 0; i < QM_N_LINE_ROLES; i++)
    if (g_str_equal (answer->value, qm_line_role_name ((QmLineRole) i)))
      {
        answer->line->role = (QmLineRole) i;
        return TRUE;
      }
  return fail_answer (answer,
                      "2:role=quoted, part, substitute, alternative, option",
                      error);
}

static gboolean
answer_line (const Answer *answer, const QmCatalog *catalog, GError **error)
{
  int yes = yes_or_no (answer->value);

  if (g_str_equal (answer->name, "rent") && yes >= 0)
    return qm_quote_line_answer (answer->line, QM_ASK_RENT, yes);
  if (g_str_equal (answer->name, "price") && yes == 1)
    return qm_quote_line_answer (answer->line, QM_ASK_PRICE, 0);
  if (g_str_equal (answer->name, "pack"))
    return answer_pack (answer, error);
  if (g_str_equal (answer->name, "item"))
    return answer_item (answer, catalog, error);
  if (g_str_equal (answer->name, "thing"))
    return answer_thing (answer, error);
  if (g_str_equal (answer->name, "role"))
    return answer_role (answer, error);
  return fail_answer (
      answer,
      "2:rent=no, 2:pack=4, 2:price=yes, 2:item=ID, 2:thing=machine, "
      "2:role=option",
      error);
}

/* A full date, or "none". */
static gboolean
read_day (const Answer *answer, QmDate *date, GError **error)
{
  QmDate day = { 0 };

  if (!g_str_equal (answer->value, "none")
      && (!qm_date_parse (answer->value, &day) || day.day == 0))
    return fail_answer (answer, "date=2026-03-31, validity=none", error);
  *date = day;
  return TRUE;
}

static gboolean
answer_quote (QmQuote *quote, const Answer *answer, GError **error)
{
  int yes = yes_or_no (answer->value);

  if (g_str_equal (answer->name, "date"))
    {
      if (!read_day (answer, &quote->issued_on, error))
        return FALSE;
      qm_quote_answer (quote, QM_ASK_DATE);
      return TRUE;
    }
  if (g_str_equal (answer->name, "validity"))
    {
      if (!read_day (answer, &quote->valid_until, error))
        return FALSE;
      qm_quote_answer (quote, QM_ASK_VALIDITY);
      return TRUE;
    }
  if (g_str_equal (answer->name, "revision") && yes >= 0)
    {
      if (yes == 0)
        g_clear_pointer (&quote->supersedes, g_free);
      else if (quote->supersedes == NULL)
        quote->supersedes = g_strdup (quote->number);
      qm_quote_answer (quote, QM_ASK_REVISION);
      return TRUE;
    }
  if (g_str_equal (answer->name, "totals") && yes == 1)
    {
      qm_quote_answer (quote, QM_ASK_TOTALS);
      return TRUE;
    }
  return fail_answer (
      answer,
      "date=2026-03-31, validity=2026-03-31, revision=no, totals=yes, "
      "2:rent=no",
      error);
}

/* Takes an answer apart and applies it. */
static gboolean
apply (QmQuote *quote,
       const char *typed,
       const QmCatalog *catalog,
       GError **error)
{
  const char *sign = strchr (typed, '=');
  g_autofree char *left =
      g_strndup (typed, sign != NULL ? (gsize) (sign - typed) : strlen (typed));
  char *colon = strchr (left, ':');
  Answer answer = { .typed = typed,
                    .name = colon != NULL ? colon + 1 : left,
                    .value = sign != NULL ? sign + 1 : "" };
  guint64 position;

  if (colon == NULL)
    return answer_quote (quote, &answer, error);
  *colon = '\0';
  if (quote->lines->len == 0
      || !g_ascii_string_to_unsigned (left, 10, 1, quote->lines->len, &position,
                                      NULL))
    {
      g_autofree char *quoted = qm_cli_quote (typed);

      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("%s: the quote has no such line"), quoted);
      return FALSE;
    }
  answer.line = g_ptr_array_index (quote->lines, (guint) position - 1);
  return answer_line (&answer, catalog, error);
}

static gboolean
answer_all (QmQuoteStore *store,
            const QmCatalog *catalog,
            const QmQuote *quote,
            GStrv answers,
            GError **error)
{
  g_autoptr (QmQuote) changed = qm_quote_copy (quote);
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (QmRates) rates = qm_cli_store_rates (store, error);

  if (rates == NULL)
    return FALSE;
  for (guint i = 0; answers[i] != NULL; i++)
    if (!apply (changed, answers[i], catalog, error))
      return FALSE;
  qm_quote_totals_ask_again (changed);
  if (!qm_quote_store_update (store, changed, quote, error))
    return FALSE;
  qm_cli_quote_append (changed, rates, out, &screen);
  return qm_cli_write_text (out->str, error);
}

int
qm_cli_quotes_answer (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes answer",
    .parameters = _ ("NUMBER ANSWER…"),
    .summary =
        _ ("Answers what is asked about a quote: LINE:rent=no, "
           "LINE:pack=4, LINE:price=yes,\nLINE:item=ID, "
           "LINE:thing=machine, LINE:role=option, date=2026-03-31,\n"
           "validity=none, revision=no, totals=yes.  “quartermaster quotes "
           "show” lists the\nquestions."),
  };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  g_auto (GStrv) number = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  int status;

  qm_cli_store_add_option (options, &path);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  if (rest[0] == NULL || rest[1] == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("a quote and an answer are needed, as in “quotes "
                              "answer 7 2:rent=no”"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  number = g_strsplit (rest[0], "\n", 1);
  if ((ids = qm_cli_quote_ids (number, 1, 1, error)) == NULL
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || (store = qm_cli_store_open (path, QM_CLI_STORE_CHANGE, error)) == NULL
      || (quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || !answer_all (store, catalog, g_ptr_array_index (quotes, 0), rest + 1,
                      error))
    return QM_CLI_EXIT_BAD_INPUT;
  return QM_CLI_EXIT_FOUND;
}
