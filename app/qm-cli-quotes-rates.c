/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-progress.h"
#include "app/qm-cli-quotes-input.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The shorter of the bank's histories begins so many days ago. */
#define SHORT_HISTORY_DAYS 85

/* The values of the options as they were typed. */
typedef struct
{
  GStrv arguments;
  GStrv date;
  GStrv address;
  GStrv store;
  gboolean json;
} Typed;

static void
clear_typed_rates (Typed *typed)
{
  g_clear_pointer (&typed->arguments, g_strfreev);
  g_clear_pointer (&typed->date, g_strfreev);
  g_clear_pointer (&typed->address, g_strfreev);
  g_clear_pointer (&typed->store, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_rates)

/* --- newer ones --- */

/* The shortest of the bank's documents that has every day that is missing. */
static const char *
choose_address (QmRates *rates)
{
  QmDate last = qm_rates_last_day (rates);

  if (last.year != 0
      && qm_date_days_between (last, qm_date_today ()) < SHORT_HISTORY_DAYS)
    return QM_RATES_ECB_90_DAYS;
  return QM_RATES_ECB_HISTORY;
}

/* (transfer full): those that an address has. */
static QmRates *
fetch (const char *address, GError **error)
{
  g_autoptr (GCancellable) cancellable = qm_cli_cancellable_new ();
  g_autoptr (QmFetcher) fetcher = qm_fetcher_new (NULL);
  const QmFetchRequest request = {
    .address = address,
    .max_bytes = QM_RATES_MAX_BYTES,
  };
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (fetcher, &request, qm_cli_input_progress,
                        (gpointer) address, cancellable, error);

  qm_cli_progress (NULL);
  return result != NULL ? qm_rates_new_from_ecb (result->body, address, error)
                        : NULL;
}

static gboolean
tell_update (QmRates *rates, const char *address, gboolean json, GError **error)
{
  g_autofree char *first = qm_cli_date_text (qm_rates_first_day (rates));
  g_autofree char *last = qm_cli_date_text (qm_rates_last_day (rates));
  g_autofree char *number = NULL;
  g_autofree char *line = NULL;
  gsize n;

  qm_rates_list (rates, &n);
  if (json)
    {
      json_auto_t *root = json_object ();

      json_object_set_new (root, "source", qm_cli_json_text (address));
      json_object_set_new (root, "rates", json_integer ((json_int_t) n));
      json_object_set_new (root, "first_day", qm_cli_json_text (first));
      json_object_set_new (root, "last_day", qm_cli_json_text (last));
      return qm_cli_json_write (root, error);
    }
  /* Translators: a number, two dates, an address. */
  number = g_strdup_printf ("%" G_GSIZE_FORMAT, n);
  line = g_strdup_printf (_ ("Stored %s rates from %s to %s, of %s.\n"), number,
                          first, last, address);
  return qm_cli_write_text (line, error);
}

static gboolean
fetch_newer_rates (const Typed *typed, GError **error)
{
  const char *address;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmRates) known = NULL;
  g_autoptr (QmRates) rates = NULL;

  if (!qm_cli_option_single ("address", typed->address, &address, error))
    return FALSE;
  if (typed->arguments[1] != NULL || typed->date != NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("“quotes rates update” takes neither currencies "
                              "nor a date"));
      return FALSE;
    }
  store = qm_cli_store_open (typed->store,
                             typed->json ? QM_CLI_STORE_CREATE_QUIETLY
                                         : QM_CLI_STORE_CREATE,
                             error);
  if (store == NULL || (known = qm_cli_store_rates (store, error)) == NULL)
    return FALSE;
  if (address == NULL)
    address = choose_address (known);
  rates = fetch (address, error);
  if (rates == NULL || !qm_quote_store_put_rates (store, rates, address, error))
    return FALSE;
  qm_cli_store_done (store);
  return tell_update (rates, address, typed->json, error);
}

/* --- what is known --- */

/* Where a rate comes from; of the euro there is none.  (transfer full) */
static char *
source_of_rate (QmQuoteStore *store, const QmCrossRate *rate)
{
  const char *currency = strcmp (rate->to, "EUR") != 0 ? rate->to : rate->from;
  char *source = qm_quote_store_rate_source (store, currency, rate->date, NULL);

  return source != NULL ? source : g_strdup (_ ("the shipped table"));
}

static gboolean
show_pair (QmQuoteStore *store,
           QmRates *rates,
           const char *from,
           const char *to,
           QmDate date,
           gboolean json,
           GError **error)
{
  QmCrossRate rate = { 0 };
  g_autofree char *source = NULL;
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;

  if (!qm_rates_find (rates, from, to, date, QM_RATES_STALE_DAYS, &rate, error))
    return FALSE;
  source = source_of_rate (store, &rate);
  if (json)
    {
      json_auto_t *root = NULL;
      g_autofree char *number = qm_cross_rate_text (&rate);

      root = json_object ();
      json_object_set_new (root, "from", json_string (rate.from));
      json_object_set_new (root, "to", json_string (rate.to));
      json_object_set_new (root, "rate", json_string (number));
      json_object_set_new (root, "date", qm_cli_json_date (rate.date));
      json_object_set_new (root, "asked", qm_cli_json_date (rate.asked));
      json_object_set_new (root, "age_days", json_integer (rate.age_days));
      json_object_set_new (root, "stale", json_boolean (rate.stale));
      json_object_set_new (root, "source", qm_cli_json_text (source));
      return qm_cli_json_write (root, error);
    }
  text = qm_cli_rate_text (&rate);
  line = g_strdup_printf ("%s (%s)\n", text, source);
  return qm_cli_write_text (line, error);
}

/* What one euro was worth in every currency. */
static gboolean
show_all (QmQuoteStore *store,
          QmRates *rates,
          QmDate date,
          gboolean json,
          GError **error)
{
  const char *const *currencies = qm_rates_currencies (rates);
  const QmCliColumn columns[] = {
    { _ ("Currency") },
    { _ ("For 1 EUR"), QM_CLI_RIGHT },
    { _ ("Date") },
    { _ ("Source"), .drop = 1, .shrink = 12 },
  };
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GString) out = g_string_new (NULL);
  json_auto_t *array = json_array ();

  for (guint i = 0; currencies[i] != NULL; i++)
    {
      QmCrossRate rate = { 0 };
      g_autofree char *number = NULL;
      g_autofree char *day = NULL;
      g_autofree char *source = NULL;

      if (!qm_rates_find (rates, "EUR", currencies[i], date,
                          QM_RATES_STALE_DAYS, &rate, NULL))
        continue;
      number = qm_cross_rate_text (&rate);
      day = qm_cli_date_text (rate.date);
      source = source_of_rate (store, &rate);
      json_array_append_new (array, qm_cli_rate_json (&rate));
      qm_cli_table_add_row (table, rate.stale ? QM_CLI_FAINT : QM_CLI_PLAIN,
                            (const char *[]){ currencies[i], number, day,
                                              source });
    }
  if (json)
    return qm_cli_json_write (array, error);
  qm_cli_table_append (table, out, &screen);
  return qm_cli_write_text (out->str, error);
}

/* A currency's code in upper case.  (transfer full): NULL with an error. */
static char *
read_currency (const char *word, GError **error)
{
  char *const words[] = { (char *) word, NULL };
  char currency[4] = "";

  return qm_cli_option_currency ("currency", (GStrv) words, currency, error)
             ? g_strdup (currency)
             : NULL;
}

static gboolean
show_rates (const Typed *typed, GError **error)
{
  GStrv words = typed->arguments + 1;
  QmDate date = qm_date_today ();
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmRates) rates = NULL;
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  if (!qm_cli_option_date ("date", typed->date, &date, error))
    return FALSE;
  if (typed->address != NULL || g_strv_length (words) > 2)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("“quotes rates show” takes a date and two "
                              "currencies, as in “--date 2026-03-31 EUR USD”"));
      return FALSE;
    }
  store = qm_cli_store_open (typed->store, QM_CLI_STORE_READ, error);
  if (store == NULL || (rates = qm_cli_store_rates (store, error)) == NULL)
    return FALSE;
  if (words[0] == NULL)
    return show_all (store, rates, date, typed->json, error);
  from = read_currency (words[0], error);
  to = from != NULL ? read_currency (words[1] != NULL ? words[1] : "USD", error)
                    : NULL;
  return to != NULL
         && show_pair (store, rates, from, to, date, typed->json, error);
}

int
qm_cli_quotes_rates (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes rates",
    .parameters = _ ("update|show [FROM [TO]]"),
    .summary =
        _ ("Shows exchange rates of the European Central Bank with their "
           "days, or fetches newer\nones.  Without a network the "
           "shipped table serves."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  gboolean done;
  int status;

  qm_cli_options_add_value (options, "date", 0, _ ("DATE"),
                            _ ("With show: on this day; today if not given"),
                            &typed.date);
  qm_cli_options_add_value (
      options, "address", 0, _ ("ADDRESS"),
      _ ("With update: of the bank’s XML, if not where the bank has it"),
      &typed.address);
  qm_cli_store_add_option (options, &typed.store);
  qm_cli_options_add_json (options, &typed.json);
  if (!qm_cli_options_parse (&verb, options, arguments, &typed.arguments,
                             &status, error))
    return status;
  if (typed.arguments[0] != NULL && g_str_equal (typed.arguments[0], "update"))
    done = fetch_newer_rates (&typed, error);
  else if (typed.arguments[0] != NULL
           && g_str_equal (typed.arguments[0], "show"))
    done = show_rates (&typed, error);
  else
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("“quotes rates” needs “update” or “show”"));
      done = FALSE;
    }
  return done ? QM_CLI_EXIT_FOUND : QM_CLI_EXIT_BAD_INPUT;
}
