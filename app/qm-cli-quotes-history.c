/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>

static gboolean
check_item (const QmCatalog *catalog, const char *item, GError **error)
{
  size_t n_gpus, n_machines;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n_gpus);
  const QmMachine *machines = qm_catalog_machines (catalog, &n_machines);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (qm_catalog_gpu (catalog, item) != NULL
      || qm_catalog_machine (catalog, item) != NULL)
    return TRUE;
  for (size_t i = 0; i < n_gpus; i++)
    g_ptr_array_add (names, (gpointer) gpus[i].id);
  for (size_t i = 0; i < n_machines; i++)
    g_ptr_array_add (names, (gpointer) machines[i].id);
  return qm_cli_set_unknown (error, _ ("unknown GPU or machine %s"), item,
                             (const char *const *) names->pdata, names->len,
                             _ ("“quartermaster catalog gpus” lists all"));
}

static json_t *
point_json (const QmPricePoint *point)
{
  g_autofree char *amount = qm_micros_to_text (point->micros, 0);
  json_t *object = json_object ();

  json_object_set_new (object, "date", qm_cli_json_date (point->date));
  json_object_set_new (object, "price", json_string (amount));
  json_object_set_new (object, "currency", qm_cli_json_text (point->currency));
  json_object_set_new (object, "kind",
                       json_string (qm_price_kind_name (point->kind)));
  json_object_set_new (object, "unit",
                       json_string (qm_price_unit_name (point->unit)));
  json_object_set_new (object, "gpus",
                       point->gpus > 0 ? json_integer (point->gpus)
                                       : json_null ());
  json_object_set_new (object, "tax_included",
                       point->tax_included == QM_UNSTATED
                           ? json_null ()
                           : json_boolean (point->tax_included == QM_YES));
  json_object_set_new (object, "quote",
                       point->quote != 0 ? json_integer (point->quote)
                                         : json_null ());
  json_object_set_new (object, "vendor", qm_cli_json_text (point->vendor));
  json_object_set_new (object, "source", qm_cli_json_text (point->source));
  return object;
}

static gboolean
write_points_json (const char *item, GPtrArray *points, GError **error)
{
  json_auto_t *root = json_object ();
  json_t *array = json_array ();

  for (guint i = 0; i < points->len; i++)
    json_array_append_new (array, point_json (g_ptr_array_index (points, i)));
  json_object_set_new (root, "item", json_string (item));
  json_object_set_new (root, "prices", array);
  return qm_cli_json_write (root, error);
}

static void
add_point_row (const QmPricePoint *point, QmCliTable *table)
{
  const QmPrice price = { .kind = point->kind };
  g_autofree char *date = qm_cli_date_text (point->date);
  g_autofree char *amount =
      qm_cli_quote_micros_text (point->micros, point->currency);
  g_autofree char *quote =
      point->quote != 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, point->quote)
                        : NULL;
  g_autofree char *gpus =
      point->gpus > 0 ? g_strdup_printf ("%d", point->gpus) : NULL;

  qm_cli_table_add_row (table, QM_CLI_PLAIN,
                        (const char *[]){
                            date, amount,
                            point->unit == QM_PRICE_HOUR ? _ ("an hour")
                                                         : _ ("a piece"),
                            gpus, qm_cli_catalog_price_kind (&price), quote,
                            point->vendor, point->source });
}

static gboolean
write_points_text (GPtrArray *points, GError **error)
{
  const QmCliColumn columns[] = {
    { _ ("Date") },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("For"), .drop = 1 },
    { _ ("GPUs"), QM_CLI_RIGHT, .drop = 2 },
    { _ ("Kind") },
    { _ ("Quote"), QM_CLI_RIGHT },
    { _ ("Vendor"), .shrink = 12 },
    { _ ("Source"), .drop = 3, .shrink = 12 },
  };
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));

  for (guint i = 0; i < points->len; i++)
    add_point_row (g_ptr_array_index (points, i), table);
  if (points->len > 0)
    qm_cli_table_append (table, out, &screen);
  else
    qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                             _ ("No quote and no watched page has a price of "
                                "it."));
  return qm_cli_write_text (out->str, error);
}

static gboolean
show_history (GStrv path, const char *item, gboolean json, GError **error)
{
  g_autoptr (QmCatalog) catalog = qm_cli_catalog_load (error);
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) points = NULL;

  if (catalog == NULL || !check_item (catalog, item, error)
      || (store = qm_cli_store_open (path, QM_CLI_STORE_READ, error)) == NULL
      || (points = qm_quote_store_price_history (store, catalog, item, error))
             == NULL)
    return FALSE;
  return json ? write_points_json (item, points, error)
              : write_points_text (points, error);
}

int
qm_cli_quotes_history (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes history",
    .parameters = _ ("ITEM"),
    .summary = _ ("Shows what a GPU or machine of the catalog cost over time: "
                  "in quotes, and on watched\npages."),
  };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  gboolean json = FALSE;
  int status;

  qm_cli_store_add_option (options, &path);
  qm_cli_options_add_json (options, &json);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  if (rest[0] == NULL || rest[1] != NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("one GPU or machine is needed, as in “quotes "
                              "history h100-80gb-sxm”"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  return show_history (path, rest[0], json, error) ? QM_CLI_EXIT_FOUND
                                                   : QM_CLI_EXIT_BAD_INPUT;
}
