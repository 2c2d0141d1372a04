/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-index.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>

/* The values of the options as they were typed. */
typedef struct
{
  GStrv search;
  GStrv vendor;
  GStrv gpu;
  GStrv valid_on;
  GStrv sort;
  GStrv limit;
  GStrv store;
  gboolean valid;
  gboolean deleted;
  gboolean reverse;
  gboolean json;
} Typed;

/* What to list. */
typedef struct
{
  QmQuoteFilter filter;
  char *search;
  char *vendor;
  char *gpu;
  QmQuoteSort sort;
  gboolean descending;
  guint limit;
} Query;

static void
clear_typed_list (Typed *typed)
{
  g_clear_pointer (&typed->search, g_strfreev);
  g_clear_pointer (&typed->vendor, g_strfreev);
  g_clear_pointer (&typed->gpu, g_strfreev);
  g_clear_pointer (&typed->valid_on, g_strfreev);
  g_clear_pointer (&typed->sort, g_strfreev);
  g_clear_pointer (&typed->limit, g_strfreev);
  g_clear_pointer (&typed->store, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_list)

static void
query_clear (Query *query)
{
  g_clear_pointer (&query->search, g_free);
  g_clear_pointer (&query->vendor, g_free);
  g_clear_pointer (&query->gpu, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Query, query_clear)

/* The first of each sort is the one that people look for first. */
static const struct
{
  const char *name;
  QmQuoteSort sort;
  gboolean descending;
} sorts[] = {
  { "added", QM_QUOTE_SORT_ADDED, TRUE },
  { "issued", QM_QUOTE_SORT_ISSUED, TRUE },
  { "valid-until", QM_QUOTE_SORT_VALID_UNTIL, FALSE },
  { "vendor", QM_QUOTE_SORT_VENDOR, FALSE },
  { "number", QM_QUOTE_SORT_NUMBER, FALSE },
  { "total", QM_QUOTE_SORT_TOTAL, FALSE },
  { "lines", QM_QUOTE_SORT_LINES, TRUE },
  { "item", QM_QUOTE_SORT_ITEM, FALSE },
};

static gboolean
read_sort (const Typed *typed, Query *query, GError **error)
{
  const char *names[G_N_ELEMENTS (sorts)];
  int index = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sorts); i++)
    names[i] = sorts[i].name;
  if (!qm_cli_option_choice ("sort", typed->sort, names, G_N_ELEMENTS (names),
                             &index, error))
    return FALSE;
  query->sort = sorts[index].sort;
  query->descending = sorts[index].descending != typed->reverse;
  return TRUE;
}

static gboolean
read_limit (const Typed *typed, Query *query, GError **error)
{
  const char *value;
  g_autofree char *quoted = NULL;
  guint64 limit;

  query->limit = G_MAXUINT;
  if (!qm_cli_option_single ("limit", typed->limit, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  if (g_ascii_string_to_unsigned (value, 10, 1, G_MAXUINT - 1, &limit, NULL))
    {
      query->limit = (guint) limit;
      return TRUE;
    }
  quoted = qm_cli_quote (value);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("--limit: %s is not a number of quotes; write it like 20"),
               quoted);
  return FALSE;
}

static gboolean
read_query (const Typed *typed, Query *query, GError **error)
{
  if (!qm_cli_option_text ("search", typed->search, &query->search, error)
      || !qm_cli_option_text ("vendor", typed->vendor, &query->vendor, error)
      || !qm_cli_option_text ("gpu", typed->gpu, &query->gpu, error)
      || !read_sort (typed, query, error) || !read_limit (typed, query, error))
    return FALSE;
  if (typed->valid)
    query->filter.valid_on = qm_date_today ();
  if (!qm_cli_option_date ("valid-on", typed->valid_on, &query->filter.valid_on,
                           error))
    return FALSE;
  query->filter.search = query->search;
  query->filter.vendor = query->vendor;
  query->filter.item = query->gpu;
  query->filter.deleted = typed->deleted;
  return TRUE;
}

static gboolean
check_vendor (const Query *query, QmQuoteStore *store, GError **error)
{
  g_auto (GStrv) vendors = NULL;

  if (query->vendor == NULL || query->filter.deleted)
    return TRUE;
  vendors = qm_quote_store_vendors (store, NULL, G_MAXINT, error);
  if (vendors == NULL)
    return FALSE;
  if (g_strv_contains ((const char *const *) vendors, query->vendor))
    return TRUE;
  return qm_cli_set_unknown (error, _ ("there is no quote of a vendor %s"),
                             query->vendor, (const char *const *) vendors,
                             g_strv_length (vendors),
                             _ ("“quartermaster quotes list” shows all"));
}

static json_t *
row_json (const QmQuoteRow *row, QmDate today)
{
  json_t *object = json_object ();
  json_t *items = json_array ();
  g_auto (GStrv) ids =
      g_strsplit (row->items != NULL ? row->items : "", ";", 0);
  g_autofree char *total =
      row->total_minor != QM_AMOUNT_UNSTATED
          ? qm_minor_to_text (row->total_minor, row->currency)
          : NULL;

  for (guint i = 0; ids[i] != NULL; i++)
    json_array_append_new (items, qm_cli_json_text (ids[i]));
  json_object_set_new (object, "id", json_integer (row->id));
  json_object_set_new (object, "vendor", qm_cli_json_text (row->vendor));
  json_object_set_new (object, "number", qm_cli_json_text (row->number));
  json_object_set_new (object, "alternative",
                       qm_cli_json_text (row->alternative));
  json_object_set_new (object, "issued_on", qm_cli_json_date (row->issued_on));
  json_object_set_new (object, "valid_from",
                       qm_cli_json_date (row->valid_from));
  json_object_set_new (object, "valid_until",
                       qm_cli_json_date (row->valid_until));
  json_object_set_new (object, "holds",
                       json_boolean (qm_quote_row_holds (row, today)));
  json_object_set_new (object, "total", qm_cli_json_text (total));
  json_object_set_new (object, "currency", qm_cli_json_text (row->currency));
  json_object_set_new (object, "items", items);
  json_object_set_new (object, "lines", json_integer (row->n_lines));
  json_object_set_new (object, "warnings", json_integer (row->n_warnings));
  json_object_set_new (object, "kind",
                       json_string (qm_price_kind_name (row->kind)));
  json_object_set_new (object, "origin",
                       json_string (qm_quote_origin_name (row->origin)));
  json_object_set_new (object, "source", qm_cli_json_text (row->source));
  json_object_set_new (object, "open", json_boolean (row->open));
  json_object_set_new (object, "broken", json_boolean (row->broken));
  json_object_set_new (object, "deleted", json_boolean (row->deleted_at != 0));
  return object;
}

static gboolean
write_quotes_json (GPtrArray *rows, guint found, GError **error)
{
  json_auto_t *root = json_object ();
  json_t *quotes = json_array ();

  for (guint i = 0; i < rows->len; i++)
    json_array_append_new (quotes, row_json (g_ptr_array_index (rows, i),
                                             qm_date_today ()));
  json_object_set_new (root, "found", json_integer (found));
  json_object_set_new (root, "quotes", quotes);
  return qm_cli_json_write (root, error);
}

/* "?" where the user is asked something, "!" where something is wrong. */
static const char *
mark_of (const QmQuoteRow *row)
{
  gboolean wrong = row->broken || row->n_warnings > 0;

  if (row->open)
    return wrong ? "?!" : "?";
  return wrong ? "!" : " ";
}

static void
add_quote_row (const QmQuoteRow *row, QmCliTable *table)
{
  gboolean holds = qm_quote_row_holds (row, qm_date_today ());
  g_autofree char *id = g_strdup_printf ("%" G_GINT64_FORMAT, row->id);
  g_autofree char *issued = qm_cli_date_text (row->issued_on);
  g_autofree char *until = qm_cli_date_text (row->valid_until);
  g_autofree char *total =
      qm_cli_quote_minor_text (row->total_minor, row->currency);
  g_autofree char *lines = g_strdup_printf ("%u", row->n_lines);
  g_auto (GStrv) ids =
      g_strsplit (row->items != NULL ? row->items : "", ";", 0);
  g_autofree char *items = g_strjoinv (", ", ids);
  g_autofree char *number =
      row->number != NULL
          ? g_strjoin (", ", row->number, row->alternative, NULL)
          : g_strdup (row->alternative);

  qm_cli_table_add_row (table, holds ? QM_CLI_PLAIN : QM_CLI_FAINT,
                        (const char *[]){ id, row->vendor, number, issued,
                                          until, holds ? _ ("yes") : _ ("no"),
                                          total, items, lines, mark_of (row),
                                          row->source });
}

static gboolean
write_quotes_text (GPtrArray *rows, guint found, GError **error)
{
  const QmCliColumn columns[] = {
    { _ ("Quote"), QM_CLI_RIGHT },
    { _ ("Vendor"), .shrink = 12 },
    { _ ("Number"), .drop = 2, .shrink = 8 },
    { _ ("Issued"), .drop = 1 },
    { _ ("Valid until") },
    { _ ("Holds"), .drop = 5 },
    { _ ("Total"), QM_CLI_RIGHT },
    { _ ("In the catalog"), .shrink = 14 },
    { _ ("Lines"), QM_CLI_RIGHT, .drop = 3 },
    { "" },
    { _ ("Source"), .drop = 4, .shrink = 12 },
  };
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));

  for (guint i = 0; i < rows->len; i++)
    add_quote_row (g_ptr_array_index (rows, i), table);
  if (rows->len > 0)
    qm_cli_table_append (table, out, &screen);
  else
    qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                             _ ("There are no such quotes."));
  if (found > rows->len)
    {
      g_string_append_printf (out, _ ("… and %u more"), found - rows->len);
      g_string_append_c (out, '\n');
    }
  return qm_cli_write_text (out->str, error);
}

/* Says of those that cannot be relied on what is wrong. */
static void
warn_of_broken (QmQuoteStore *store, GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const QmQuoteRow *row = g_ptr_array_index (rows, i);
      g_autoptr (GError) trouble = NULL;
      g_autoptr (QmQuote) quote =
          row->broken ? qm_quote_store_get (store, row->id, &trouble) : NULL;

      if (trouble != NULL)
        qm_cli_store_warn (trouble->message);
    }
}

static gboolean
list_quotes (const Typed *typed, const Query *query, GError **error)
{
  g_autoptr (QmQuoteStore) store =
      qm_cli_store_open (typed->store, QM_CLI_STORE_READ, error);
  g_autoptr (QmQuoteIndex) index = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  guint found = 0;

  if (store == NULL || !check_vendor (query, store, error)
      || (index = qm_quote_index_new (store, NULL, error)) == NULL)
    return FALSE;
  rows = qm_quote_index_quotes (index, &query->filter, query->sort,
                                query->descending, 0, query->limit, &found);
  warn_of_broken (store, rows);
  return typed->json ? write_quotes_json (rows, found, error)
                     : write_quotes_text (rows, found, error);
}

static void
add_list_options (Typed *typed, GArray *options)
{
  qm_cli_options_add_value (options, "search", 0, _ ("TEXT"),
                            _ ("Only quotes that have all these words"),
                            &typed->search);
  qm_cli_options_add_value (options, "vendor", 0, _ ("NAME"),
                            _ ("Only quotes of this vendor"), &typed->vendor);
  qm_cli_options_add_value (
      options, "gpu", 0, _ ("ID"),
      _ ("Only quotes of this GPU or machine of the catalog"), &typed->gpu);
  qm_cli_options_add_flag (options, "valid", _ ("Only quotes that hold today"),
                           &typed->valid);
  qm_cli_options_add_value (options, "valid-on", 0, _ ("DATE"),
                            _ ("Only quotes that hold on that day"),
                            &typed->valid_on);
  qm_cli_options_add_flag (options, "deleted",
                           _ ("Those that are deleted, to be restored"),
                           &typed->deleted);
  qm_cli_options_add_value (options, "sort", 0, _ ("KEY"),
                            _ ("By added, issued, valid-until, vendor, number, "
                               "total, lines or item"),
                            &typed->sort);
  qm_cli_options_add_flag (options, "reverse", _ ("The other way round"),
                           &typed->reverse);
  qm_cli_options_add_value (options, "limit", 0, _ ("N"),
                            _ ("Only the first so many"), &typed->limit);
  qm_cli_store_add_option (options, &typed->store);
  qm_cli_options_add_json (options, &typed->json);
}

int
qm_cli_quotes_list (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes list",
    .summary = _ ("Lists the quotes that are stored."),
  };
  g_auto (Typed) typed = { 0 };
  g_auto (Query) query = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  int status;

  add_list_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, NULL, &status, error))
    return status;
  return read_query (&typed, &query, error)
                 && list_quotes (&typed, &query, error)
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}
