/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"

#include <glib/gi18n-lib.h>

static json_t *
attachments_json (GPtrArray *attachments)
{
  json_t *array = json_array ();

  for (guint i = 0; i < attachments->len; i++)
    {
      const QmQuoteAttachment *attachment = g_ptr_array_index (attachments, i);
      json_t *object = json_object ();

      json_object_set_new (object, "name", qm_cli_json_text (attachment->name));
      json_object_set_new (object, "sha256",
                           qm_cli_json_text (attachment->sha256));
      json_object_set_new (object, "size", json_integer (attachment->size));
      json_array_append_new (array, object);
    }
  return array;
}

static gboolean
show_stored_quote (QmQuoteStore *store,
                   const QmQuote *quote,
                   QmRates *rates,
                   gboolean json,
                   GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GPtrArray) attachments =
      qm_quote_store_attachments (store, quote->id, error);

  if (attachments == NULL)
    return FALSE;
  if (json)
    {
      g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
      json_auto_t *root = qm_cli_quote_json (quote, rates, qm_date_today ());

      json_object_set_new (root, "attachments", attachments_json (attachments));
      return qm_cli_json_write (root, error);
    }
  qm_cli_quote_append (quote, rates, out, &screen);
  return qm_cli_write_text (out->str, error);
}

int
qm_cli_quotes_show (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes show",
    .parameters = _ ("NUMBER"),
    .summary = _ ("Shows a quote: its lines, what they come to, and what was "
                  "noticed when it was read."),
  };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (QmRates) rates = NULL;
  gboolean json = FALSE;
  int status;

  qm_cli_store_add_option (options, &path);
  qm_cli_options_add_json (options, &json);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  if ((ids = qm_cli_quote_ids (rest, 1, 1, error)) == NULL
      || (store = qm_cli_store_open (path, QM_CLI_STORE_READ, error)) == NULL
      || (quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || (rates = qm_cli_store_rates (store, error)) == NULL
      || !show_stored_quote (store, g_ptr_array_index (quotes, 0), rates, json,
                             error))
    return QM_CLI_EXIT_BAD_INPUT;
  return QM_CLI_EXIT_FOUND;
}
