/* SPDX-License-Identifier: Apache-2.0 */

/* The watch list: pages and price feeds whose prices are looked at again when
 * this command is given, and at no other time. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-own.h"
#include "app/qm-cli-progress.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/fetch/qm-watch-refresh.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/* The values of the options as they were typed. */
typedef struct
{
  GStrv arguments;
  GStrv add;
  GStrv item;
  GStrv remove;
  GStrv store;
  gboolean list;
  gboolean json;
} Typed;

/* A refresh. */
typedef struct
{
  QmCatalog *catalog;
  QmMatcher *matcher;
  guint failed;
  json_t *outcomes;
  QmCliScreen screen;
  GString *text;
} Refresh;

static void
clear_typed_fetch (Typed *typed)
{
  g_clear_pointer (&typed->arguments, g_strfreev);
  g_clear_pointer (&typed->add, g_strfreev);
  g_clear_pointer (&typed->item, g_strfreev);
  g_clear_pointer (&typed->remove, g_strfreev);
  g_clear_pointer (&typed->store, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_fetch)

static void
refresh_clear (Refresh *refresh)
{
  g_clear_pointer (&refresh->matcher, qm_matcher_free);
  g_clear_pointer (&refresh->catalog, qm_catalog_free);
  g_clear_pointer (&refresh->outcomes, json_decref);
  if (refresh->text != NULL)
    g_string_free (refresh->text, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Refresh, refresh_clear)

/* --- the list --- */

static json_t *
watched_json (const QmWatched *watched)
{
  json_t *object = json_object ();
  g_autofree char *price = watched->last_micros != QM_AMOUNT_UNSTATED
                               ? qm_micros_to_text (watched->last_micros, 0)
                               : NULL;

  json_object_set_new (object, "address", qm_cli_json_text (watched->address));
  json_object_set_new (object, "title", qm_cli_json_text (watched->title));
  json_object_set_new (object, "item", qm_cli_json_text (watched->item));
  json_object_set_new (object, "price", qm_cli_json_text (price));
  json_object_set_new (object, "currency",
                       qm_cli_json_text (watched->last_currency));
  json_object_set_new (object, "date", qm_cli_json_date (watched->last_date));
  json_object_set_new (object, "error", qm_cli_json_text (watched->error));
  return object;
}

static void
add_watched_row (const QmWatched *watched, QmCliTable *table)
{
  g_autofree char *price =
      qm_cli_quote_micros_text (watched->last_micros, watched->last_currency);
  g_autofree char *date = qm_cli_date_text (watched->last_date);

  qm_cli_table_add_row (
      table, watched->error != NULL ? QM_CLI_BAD : QM_CLI_PLAIN,
      (const char *[]){ watched->item, price, date, watched->title,
                        watched->address,
                        watched->error != NULL ? watched->error : " " });
}

static gboolean
list (const Typed *typed, GError **error)
{
  const QmCliColumn columns[] = {
    { _ ("In the catalog") },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Date") },
    { _ ("Name"), .drop = 1, .shrink = 12 },
    { _ ("Address"), .shrink = 20 },
    { _ ("Last failure"), .drop = 2, .shrink = 16 },
  };
  g_autoptr (QmQuoteStore) store =
      qm_cli_store_open (typed->store, QM_CLI_STORE_READ, error);
  g_autoptr (GPtrArray) watched =
      store != NULL ? qm_quote_store_watched (store, error) : NULL;
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GString) out = g_string_new (NULL);
  QmCliScreen screen = qm_cli_screen ();
  json_auto_t *array = json_array ();

  if (watched == NULL)
    return FALSE;
  for (guint i = 0; i < watched->len; i++)
    {
      const QmWatched *one = g_ptr_array_index (watched, i);

      json_array_append_new (array, watched_json (one));
      add_watched_row (one, table);
    }
  if (typed->json)
    return qm_cli_json_write (array, error);
  if (watched->len > 0)
    qm_cli_table_append (table, out, &screen);
  else
    qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                             _ ("No page is watched; --add ADDRESS --item ID "
                                "adds one."));
  return qm_cli_write_text (out->str, error);
}

static gboolean
check_item (const char *item, GError **error)
{
  g_autoptr (QmCatalog) catalog = qm_cli_catalog_load (error);
  g_autofree char *quoted = NULL;

  if (catalog == NULL)
    return FALSE;
  if (item == NULL || qm_catalog_gpu (catalog, item) != NULL
      || qm_catalog_machine (catalog, item) != NULL)
    return TRUE;
  quoted = qm_cli_quote (item);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("unknown GPU or machine %s; “quartermaster catalog gpus” "
                  "lists all"),
               quoted);
  return FALSE;
}

static gboolean
watch_address (const Typed *typed, const char *address, GError **error)
{
  const char *item;
  g_autofree char *checked = NULL;
  g_autofree char *line = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmWatched) watched = NULL;

  if (!qm_cli_option_single ("item", typed->item, &item, error)
      || (checked = qm_cli_check_address (address, error)) == NULL
      || !check_item (item, error)
      || (store = qm_cli_store_open (typed->store, QM_CLI_STORE_CREATE, error))
             == NULL)
    return FALSE;
  watched = qm_quote_store_get_watched (store, checked, NULL);
  if (watched == NULL)
    watched = qm_watched_new (checked);
  g_free (watched->item);
  watched->item = g_strdup (item);
  if (qm_quote_store_put_watched (store, watched, NULL, error) == 0)
    return FALSE;
  qm_cli_store_done (store);
  /* Translators: an address. */
  line = g_strdup_printf (_ ("Watching %s\n"), checked);
  return qm_cli_write_text (line, error);
}

static gboolean
take_off (const Typed *typed, const char *address, GError **error)
{
  g_autofree char *checked = qm_cli_check_address (address, error);
  g_autofree char *quoted = qm_cli_quote (address);
  g_autofree char *line = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) trouble = NULL;

  if (checked == NULL
      || (store = qm_cli_store_open (typed->store, QM_CLI_STORE_CHANGE, error))
             == NULL)
    return FALSE;
  if (!qm_quote_store_remove_watched (store, checked, &trouble))
    {
      qm_cli_quote_missing (trouble,
                            g_strdup_printf (_ ("%s is not watched"), quoted),
                            error);
      return FALSE;
    }
  qm_cli_store_done (store);
  /* Translators: an address. */
  line = g_strdup_printf (_ ("No longer watching %s\n"), checked);
  return qm_cli_write_text (line, error);
}

/* --- refreshing --- */

static const char *
outcome_name (QmWatchOutcome outcome)
{
  switch (outcome)
    {
    case QM_WATCH_FIRST:
      return "first";
    case QM_WATCH_CHANGED:
      return "changed";
    case QM_WATCH_SAME:
      return "same";
    case QM_WATCH_FAILED:
      return "failed";
    case QM_WATCH_CANCELLED:
    case QM_N_WATCH_OUTCOMES:
    default:
      return "cancelled";
    }
}

/* One line about a page or feed.  (transfer full) */
static char *
outcome_text (const QmWatch *watch,
              const QmWatched *watched,
              QmWatchOutcome outcome,
              gint64 before)
{
  g_autofree char *price =
      qm_cli_quote_micros_text (watched->last_micros, watched->last_currency);
  g_autofree char *old =
      qm_cli_quote_micros_text (before, watched->last_currency);
  g_autofree char *date = qm_cli_date_text (watched->last_date);

  if (outcome == QM_WATCH_CANCELLED)
    return g_strdup (_ ("not looked at"));
  if (watched->error != NULL && price == NULL)
    /* Translators: why. */
    return g_strdup_printf (_ ("no price: %s"), watched->error);
  if (watched->error != NULL)
    /* Translators: a price, a date, why there is no newer one. */
    return g_strdup_printf (_ ("still %s of %s: %s"), price, date,
                            watched->error);
  if (watch->kind != QM_WATCH_PAGE && watch->quote != NULL)
    /* Translators: how many prices a feed has. */
    return g_strdup_printf (ngettext ("%u price", "%u prices",
                                      watch->quote->lines->len),
                            watch->quote->lines->len);
  if (price == NULL)
    return g_strdup (_ ("no price in a currency that is clear"));
  if (old == NULL || before == watched->last_micros)
    return g_steal_pointer (&price);
  /* Translators: the price now and the price before. */
  return g_strdup_printf (_ ("%s, was %s"), price, old);
}

static void
kept_cb (const QmWatch *watch,
         const QmWatched *before,
         const QmWatched *watched,
         QmWatchOutcome outcome,
         guint done,
         guint total,
         gpointer user_data)
{
  Refresh *refresh = user_data;
  g_autofree char *line = NULL;
  g_autofree char *text = NULL;
  g_autofree char *label = NULL;
  json_t *object;

  /* Translators: two numbers, an address. */
  line = g_strdup_printf (_ ("%u of %u: %s"), done, total, watch->address);
  qm_cli_progress (line);
  object = watched_json (watched);
  json_object_set_new (object, "outcome", json_string (outcome_name (outcome)));
  json_array_append_new (refresh->outcomes, object);
  text =
      outcome_text (watch, watched, outcome,
                    before != NULL ? before->last_micros : QM_AMOUNT_UNSTATED);
  label = g_strdup_printf ("%s: ", watched->address);
  qm_cli_append_paragraph (refresh->text, &refresh->screen,
                           outcome == QM_WATCH_FAILED ? QM_CLI_BAD
                                                      : QM_CLI_PLAIN,
                           label, 2, text);
  refresh->failed += outcome == QM_WATCH_FAILED;
}

static gboolean
is_asked (const QmWatch *watch, const char *const *addresses)
{
  return addresses[0] == NULL || g_strv_contains (addresses, watch->address);
}

/* Those that are asked for; an error where one is not watched.
 * (transfer full): of QmWatch. */
static GPtrArray *
choose_watches (QmQuoteStore *store, GStrv addresses, GError **error)
{
  g_autoptr (GPtrArray) watches = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) checked = NULL;

  for (guint i = 0; addresses[i] != NULL; i++)
    {
      g_autofree char *address = qm_cli_check_address (addresses[i], error);
      g_autoptr (QmWatched) watched = NULL;

      if (address == NULL)
        return NULL;
      watched = qm_quote_store_get_watched (store, address, NULL);
      if (watched == NULL)
        {
          g_autofree char *quoted = qm_cli_quote (addresses[i]);

          g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("%s is not watched; --add adds it"), quoted);
          return NULL;
        }
      g_strv_builder_add (builder, address);
    }
  checked = g_strv_builder_end (builder);
  watches = qm_watch_store_load (store, error);
  for (guint i = watches != NULL ? watches->len : 0; i > 0; i--)
    if (!is_asked (g_ptr_array_index (watches, i - 1),
                   (const char *const *) checked))
      g_ptr_array_remove_index (watches, i - 1);
  return g_steal_pointer (&watches);
}

/* What finds the GPUs of the catalog in the lines of feeds. */
static gboolean
prepare_matcher (Refresh *refresh, GError **error)
{
  refresh->catalog = qm_cli_catalog_load (error);
  if (refresh->catalog != NULL)
    refresh->matcher = qm_cli_own_matcher (refresh->catalog);
  return refresh->matcher != NULL;
}

static int
refresh_all (const Typed *typed, GError **error)
{
  g_auto (Refresh)
      refresh = { .outcomes = json_array (), .text = g_string_new (NULL) };
  g_autoptr (GCancellable) cancellable = qm_cli_cancellable_new ();
  g_autoptr (QmFetcher) fetcher = qm_fetcher_new (NULL);
  g_autoptr (QmQuoteStore) store =
      qm_cli_store_open (typed->store, QM_CLI_STORE_CHANGE, error);
  g_autoptr (QmPageRules) rules = qm_cli_own_rules (NULL);
  g_autoptr (GPtrArray) watches = NULL;
  g_autoptr (QmRates) rates = NULL;
  g_autoptr (GError) trouble = NULL;

  if (store == NULL || (rates = qm_cli_store_rates (store, error)) == NULL
      || (watches = choose_watches (store, typed->arguments, error)) == NULL
      || !prepare_matcher (&refresh, error))
    return QM_CLI_EXIT_BAD_INPUT;
  if (watches->len == 0)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("no page is watched; --add ADDRESS --item ID "
                              "adds one"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  qm_watch_refresh (store, watches, fetcher, rules, refresh.matcher, rates,
                    kept_cb, &refresh, cancellable, &trouble);
  qm_cli_progress (NULL);
  qm_cli_store_done (store);
  if (!(typed->json ? qm_cli_json_write (refresh.outcomes, error)
                    : qm_cli_write_text (refresh.text->str, error)))
    return QM_CLI_EXIT_BAD_INPUT;
  if (trouble != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  if (g_cancellable_is_cancelled (cancellable))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("interrupted; what was looked at until then is "
                              "stored"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  return refresh.failed > 0 ? QM_CLI_EXIT_NOTHING_FITS : QM_CLI_EXIT_FOUND;
}

/* --- the command --- */

static int
fetch (const Typed *typed, GError **error)
{
  const char *added, *removed;
  gboolean done;

  if (!qm_cli_option_single ("add", typed->add, &added, error)
      || !qm_cli_option_single ("remove", typed->remove, &removed, error))
    return QM_CLI_EXIT_BAD_INPUT;
  if ((added != NULL) + (removed != NULL) + typed->list
              + (typed->arguments[0] != NULL)
          > 1
      || (typed->item != NULL && added == NULL))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("--add with --item, --remove, --list and "
                              "addresses exclude each other"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  if (added != NULL)
    done = watch_address (typed, added, error);
  else if (removed != NULL)
    done = take_off (typed, removed, error);
  else if (typed->list)
    done = list (typed, error);
  else
    return refresh_all (typed, error);
  return done ? QM_CLI_EXIT_FOUND : QM_CLI_EXIT_BAD_INPUT;
}

int
qm_cli_quotes_fetch (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes fetch",
    .parameters = _ ("[ADDRESS…]"),
    .summary = _ ("Looks at the prices of watched pages and price feeds again, "
                  "and only then: all of\nthem, or those that are named.  "
                  "Where one fails, its last price stands with its date."),
    .description = _ ("Exit status: 0 done, 1 some failed, 2 bad input."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  int status;

  qm_cli_options_add_value (options, "add", 0, _ ("ADDRESS"),
                            _ ("Watch a page or price feed"), &typed.add);
  qm_cli_options_add_value (
      options, "item", 0, _ ("ID"),
      _ ("With --add: the GPU or machine of the catalog that it sells"),
      &typed.item);
  qm_cli_options_add_value (options, "remove", 0, _ ("ADDRESS"),
                            _ ("Watch it no longer; its prices stay"),
                            &typed.remove);
  qm_cli_options_add_flag (options, "list",
                           _ ("What is watched, and its last prices"),
                           &typed.list);
  qm_cli_store_add_option (options, &typed.store);
  qm_cli_options_add_json (options, &typed.json);
  if (!qm_cli_options_parse (&verb, options, arguments, &typed.arguments,
                             &status, error))
    return status;
  return fetch (&typed, error);
}
