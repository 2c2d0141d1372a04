/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-compare.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MOST 4

/* Quotes side by side. */
typedef struct
{
  GPtrArray *quotes;  /* QmQuote */
  GPtrArray *rows;    /* QmComparedLine */
  char currency[4];   /* of the totals */
  gint64 total[MOST]; /* in that currency; QM_AMOUNT_UNSTATED */
  gint64 net[MOST];   /* the same without tax, which an advice counts */
  QmCrossRate rate[MOST];
  char *reason[MOST]; /* why there is no total; NULL: there is */
} Comparison;

static void
comparison_clear (Comparison *comparison)
{
  g_clear_pointer (&comparison->quotes, g_ptr_array_unref);
  g_clear_pointer (&comparison->rows, g_ptr_array_unref);
  for (guint i = 0; i < MOST; i++)
    g_clear_pointer (&comparison->reason[i], g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Comparison, comparison_clear)

/* The currency of all of them, else USD. */
static void
choose_currency (Comparison *comparison)
{
  const QmQuote *first = g_ptr_array_index (comparison->quotes, 0);
  gboolean same = qm_currency_valid (first->currency);

  if (comparison->currency[0] != '\0')
    return;
  for (guint i = 1; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);

      same = same && strcmp (quote->currency, first->currency) == 0;
    }
  g_strlcpy (comparison->currency, same ? first->currency : "USD",
             sizeof comparison->currency);
}

static void
add_up (Comparison *comparison, QmRates *rates)
{
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      gint64 total = qm_cli_quote_total (quote);
      gint64 net, tax;
      gboolean taxed;
      g_autoptr (GError) error = NULL;

      qm_quote_come_to (quote, &net, &tax, &taxed);
      comparison->net[i] = QM_AMOUNT_UNSTATED;
      if (!taxed)
        qm_cli_quote_convert (quote, net, rates, comparison->currency,
                              &comparison->net[i], &comparison->rate[i], NULL);
      if (!qm_cli_quote_convert (quote, total, rates, comparison->currency,
                                 &comparison->total[i], &comparison->rate[i],
                                 &error))
        comparison->reason[i] = g_strdup (error->message);
      else if (total == QM_AMOUNT_UNSTATED)
        comparison->reason[i] =
            g_strdup (_ ("the quote tells neither its sum nor all prices"));
    }
}

/* --- for programs --- */

static json_t *
text_or_null (char *text)
{
  json_t *value = qm_cli_json_text (text);

  g_free (text);
  return value;
}

static json_t *
cell_json (const QmQuote *quote, const QmQuoteLine *line)
{
  json_t *object;
  gint64 cost;

  if (line == NULL)
    return json_null ();
  object = json_object ();
  cost = qm_quote_line_cost (quote, line);
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
                       cost != QM_AMOUNT_UNSTATED ? text_or_null (
                           qm_minor_to_text (cost, quote->currency))
                                                  : json_null ());
  json_object_set_new (object, "currency", qm_cli_json_text (quote->currency));
  return object;
}

static json_t *
differences_json (QmLineDifferences differences)
{
  json_t *array = json_array ();

  if (differences & QM_DIFFERS_MISSING)
    json_array_append_new (array, json_string ("missing"));
  if (differences & QM_DIFFERS_QUANTITY)
    json_array_append_new (array, json_string ("quantity"));
  if (differences & QM_DIFFERS_PRICE)
    json_array_append_new (array, json_string ("price"));
  return array;
}

static json_t *
lines_json (const Comparison *comparison)
{
  json_t *array = json_array ();

  for (guint i = 0; i < comparison->rows->len; i++)
    {
      const QmComparedLine *row = g_ptr_array_index (comparison->rows, i);
      json_t *object = json_object ();
      json_t *cells = json_array ();

      for (guint j = 0; j < comparison->quotes->len; j++)
        json_array_append_new (
            cells, cell_json (g_ptr_array_index (comparison->quotes, j),
                              row->lines[j]));
      json_object_set_new (object, "role",
                           json_string (qm_line_role_name (row->role)));
      json_object_set_new (object, "differences",
                           differences_json (row->differences));
      json_object_set_new (object, "quotes", cells);
      json_array_append_new (array, object);
    }
  return array;
}

static gboolean
write_json (const Comparison *comparison, QmRates *rates, GError **error)
{
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  json_auto_t *root = json_object ();
  json_t *quotes = json_array ();
  json_t *totals = json_array ();

  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      json_t *object = json_object ();

      json_array_append_new (
          quotes, qm_cli_quote_json (g_ptr_array_index (comparison->quotes, i),
                                     rates, qm_date_today ()));
      json_object_set_new (object, "amount",
                           comparison->total[i] != QM_AMOUNT_UNSTATED
                               ? text_or_null (qm_minor_to_text (
                                   comparison->total[i], comparison->currency))
                               : json_null ());
      json_object_set_new (object, "net",
                           comparison->net[i] != QM_AMOUNT_UNSTATED
                               ? text_or_null (qm_minor_to_text (
                                   comparison->net[i], comparison->currency))
                               : json_null ());
      json_object_set_new (object, "rate",
                           qm_cli_rate_json (&comparison->rate[i]));
      json_object_set_new (object, "reason",
                           qm_cli_json_text (comparison->reason[i]));
      json_array_append_new (totals, object);
    }
  json_object_set_new (root, "currency", json_string (comparison->currency));
  json_object_set_new (root, "totals", totals);
  json_object_set_new (root, "lines", lines_json (comparison));
  json_object_set_new (root, "quotes", quotes);
  return qm_cli_json_write (root, error);
}

/* --- for people --- */

/* "8 × 27,500.00 USD".  (transfer full) (nullable) */
static char *
cell_text (const QmQuote *quote, const QmQuoteLine *line)
{
  g_autofree char *quantity = NULL;
  g_autofree char *price = NULL;

  if (line == NULL)
    return NULL;
  quantity = qm_cli_quote_quantity_text (line->quantity_micros);
  price = qm_cli_line_price_text (quote, line);
  if (price == NULL)
    price = qm_cli_quote_minor_text (line->total_minor, quote->currency);
  if (price == NULL)
    return g_strdup (quantity != NULL ? quantity : _ ("contained"));
  if (quantity == NULL)
    return g_steal_pointer (&price);
  return g_strdup_printf ("%s × %s", quantity, price);
}

/* What a row is about.  (transfer full) */
static char *
row_name (const Comparison *comparison, const QmComparedLine *row)
{
  const char *name = NULL;
  g_autofree char *line = NULL;

  for (guint i = 0; name == NULL && i < comparison->quotes->len; i++)
    if (row->lines[i] != NULL)
      name = row->lines[i]->description != NULL ? row->lines[i]->description
                                                : row->lines[i]->part_number;
  line = qm_cli_one_line (name != NULL ? name : "");
  if (row->role == QM_LINE_QUOTED)
    return g_steal_pointer (&line);
  return g_strdup_printf ("%s: %s", qm_cli_line_role_text (row->role), line);
}

static void
add_row (const Comparison *comparison,
         const QmComparedLine *row,
         QmCliTable *table)
{
  g_autofree char *name = row_name (comparison, row);
  const char *cells[MOST + 2] = { row->differences != 0 ? "*" : " ", name };
  char *texts[MOST] = { NULL };

  for (guint i = 0; i < comparison->quotes->len; i++)
    cells[i + 2] = texts[i] =
        cell_text (g_ptr_array_index (comparison->quotes, i), row->lines[i]);
  qm_cli_table_add_row (table,
                        row->differences != 0 ? QM_CLI_STRONG : QM_CLI_PLAIN,
                        cells);
  for (guint i = 0; i < MOST; i++)
    g_free (texts[i]);
}

typedef char *(*Fact) (const Comparison *comparison, guint index);

static char *
total_text (const Comparison *comparison, guint index)
{
  const QmQuote *quote = g_ptr_array_index (comparison->quotes, index);

  return qm_cli_quote_minor_text (qm_cli_quote_total (quote), quote->currency);
}

static char *
converted_text (const Comparison *comparison, guint index)
{
  return qm_cli_quote_minor_text (comparison->total[index],
                                  comparison->currency);
}

static char *
net_text (const Comparison *comparison, guint index)
{
  return qm_cli_quote_minor_text (comparison->net[index], comparison->currency);
}

static char *
issued_text (const Comparison *comparison, guint index)
{
  const QmQuote *quote = g_ptr_array_index (comparison->quotes, index);

  return qm_cli_date_text (quote->issued_on);
}

static char *
until_text (const Comparison *comparison, guint index)
{
  const QmQuote *quote = g_ptr_array_index (comparison->quotes, index);
  g_autofree char *date = qm_cli_date_text (quote->valid_until);

  if (date == NULL || qm_cli_quote_holds (quote, qm_date_today ()))
    return g_steal_pointer (&date);
  /* Translators: "until 2026-03-31". */
  return g_strdup_printf (_ ("%s, not today"), date);
}

static char *
tax_text (const Comparison *comparison, guint index)
{
  const QmQuote *quote = g_ptr_array_index (comparison->quotes, index);

  if (quote->tax_included == QM_UNSTATED)
    return NULL;
  return g_strdup (quote->tax_included == QM_YES ? _ ("with tax")
                                                 : _ ("without tax"));
}

static void
add_fact (const Comparison *comparison,
          const char *name,
          Fact fact,
          QmCliTable *table)
{
  const char *cells[MOST + 2] = { " ", name };
  char *texts[MOST] = { NULL };
  gboolean differs = FALSE;

  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      cells[i + 2] = texts[i] = fact (comparison, i);
      differs = differs || g_strcmp0 (texts[i], texts[0]) != 0;
    }
  if (differs)
    cells[0] = "*";
  qm_cli_table_add_row (table, differs ? QM_CLI_STRONG : QM_CLI_PLAIN, cells);
  for (guint i = 0; i < MOST; i++)
    g_free (texts[i]);
}

static void
append_table (const Comparison *comparison,
              GString *out,
              const QmCliScreen *screen)
{
  QmCliColumn columns[MOST + 2] = { { "" }, { _ ("Line"), .shrink = 16 } };
  g_autofree char *in_one =
      /* Translators: the code of a currency. */
      g_strdup_printf (_ ("Total in %s"), comparison->currency);
  g_autofree char *net_in_one =
      /* Translators: the code of a currency. */
      g_strdup_printf (_ ("Without tax in %s"), comparison->currency);
  char *titles[MOST] = { NULL };
  guint n = comparison->quotes->len;
  QmCliTable *table;

  for (guint i = 0; i < n; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);

      titles[i] = g_strdup_printf ("%" G_GINT64_FORMAT ": %s", quote->id,
                                   quote->vendor != NULL ? quote->vendor : "");
      columns[i + 2] = (QmCliColumn){ titles[i], QM_CLI_RIGHT };
    }
  table = qm_cli_table_new (columns, n + 2);
  for (guint i = 0; i < comparison->rows->len; i++)
    add_row (comparison, g_ptr_array_index (comparison->rows, i), table);
  add_fact (comparison, _ ("Total"), total_text, table);
  add_fact (comparison, in_one, converted_text, table);
  add_fact (comparison, net_in_one, net_text, table);
  add_fact (comparison, _ ("Issued"), issued_text, table);
  add_fact (comparison, _ ("Valid until"), until_text, table);
  add_fact (comparison, _ ("Prices"), tax_text, table);
  qm_cli_table_append (table, out, screen);
  qm_cli_table_free (table);
  for (guint i = 0; i < MOST; i++)
    g_free (titles[i]);
}

static gboolean
write_text (const Comparison *comparison, GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);

  append_table (comparison, out, &screen);
  g_string_append_c (out, '\n');
  qm_cli_append_paragraph (out, &screen, QM_CLI_FAINT, "* ", 2,
                           _ ("differs between the quotes, or is not in all "
                              "of them."));
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      const QmCrossRate *rate = &comparison->rate[i];
      g_autofree char *label =
          g_strdup_printf ("%" G_GINT64_FORMAT ": ", quote->id);
      g_autofree char *how = NULL;

      if (comparison->reason[i] == NULL && strcmp (rate->from, rate->to) != 0)
        how = qm_cli_rate_text (rate);
      if (comparison->reason[i] != NULL || how != NULL)
        qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, label, 3,
                                 how != NULL ? how : comparison->reason[i]);
    }
  return qm_cli_write_text (out->str, error);
}

int
qm_cli_quotes_compare (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes compare",
    .parameters = _ ("NUMBER NUMBER…"),
    .summary = _ ("Shows two to four quotes side by side: lines about the same "
                  "thing in one row, what\ndiffers marked, totals in one "
                  "currency at the rate of each quote’s day."),
  };
  g_auto (Comparison) comparison = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  g_auto (GStrv) currency = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmRates) rates = NULL;
  gboolean json = FALSE;
  QmCliParse parsed;

  qm_cli_options_add_value (
      options, "currency", 0, _ ("CODE"),
      _ ("Totals in this one; if not given, the quotes’ own or USD"),
      &currency);
  qm_cli_store_add_option (options, &path);
  qm_cli_options_add_flag (options, "json",
                           _ ("Everything in JSON, for programs"), &json);
  parsed = qm_cli_options_parse (&verb, options, arguments, &rest, error);
  if (parsed != QM_CLI_PARSE_READY)
    return parsed == QM_CLI_PARSE_HELPED ? QM_CLI_EXIT_FOUND
                                         : QM_CLI_EXIT_BAD_INPUT;
  if (!qm_cli_option_currency ("currency", currency, comparison.currency, error)
      || (ids = qm_cli_quote_ids (rest, 2, MOST, error)) == NULL
      || (store = qm_cli_store_open (path, FALSE, error)) == NULL
      || (comparison.quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || (rates = qm_cli_store_rates (store, error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  comparison.rows = qm_quote_compare (comparison.quotes);
  choose_currency (&comparison);
  add_up (&comparison, rates);
  return (json ? write_json (&comparison, rates, error)
               : write_text (&comparison, error))
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}
