/* SPDX-License-Identifier: Apache-2.0 */

/* Deleting quotes, and taking that back. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"

#include <glib/gi18n-lib.h>

typedef gboolean (*Edit) (QmQuoteStore *store, gint64 id, GError **error);

/* What was done before one that fails stays done, and is said. */
static gboolean
edit_all (QmQuoteStore *store,
          const GArray *ids,
          Edit edit,
          const char *done,
          const char *missing,
          GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean whole = TRUE;

  for (guint i = 0; whole && i < ids->len; i++)
    {
      gint64 id = g_array_index (ids, gint64, i);
      g_autoptr (GError) trouble = NULL;

      whole = edit (store, id, &trouble);
      if (!whole)
        qm_cli_quote_missing (
            trouble, g_strdup_printf ("%s %" G_GINT64_FORMAT, missing, id),
            error);
      else
        g_string_append_printf (out, "%s %" G_GINT64_FORMAT "\n", done, id);
    }
  return qm_cli_write_text (out->str, whole ? error : NULL) && whole;
}

static int
run (const QmCliVerb *verb,
     const char *const *arguments,
     Edit edit,
     const char *done,
     const char *missing,
     GError **error)
{
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  QmCliParse parsed;

  qm_cli_store_add_option (options, &path);
  parsed = qm_cli_options_parse (verb, options, arguments, &rest, error);
  if (parsed != QM_CLI_PARSE_READY)
    return parsed == QM_CLI_PARSE_HELPED ? QM_CLI_EXIT_FOUND
                                         : QM_CLI_EXIT_BAD_INPUT;
  if ((ids = qm_cli_quote_ids (rest, 1, G_MAXUINT, error)) == NULL
      || (store = qm_cli_store_open (path, FALSE, error)) == NULL
      || !edit_all (store, ids, edit, done, missing, error))
    return QM_CLI_EXIT_BAD_INPUT;
  return QM_CLI_EXIT_FOUND;
}

int
qm_cli_quotes_delete (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes delete",
    .parameters = _ ("NUMBER…"),
    .summary = _ ("Takes quotes away.  “quartermaster quotes restore” brings "
                  "them back."),
  };

  return run (&verb, arguments, qm_quote_store_delete, _ ("Deleted quote"),
              _ ("there is no quote"), error);
}

int
qm_cli_quotes_restore (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes restore",
    .parameters = _ ("NUMBER…"),
    .summary = _ ("Brings deleted quotes back; “quartermaster quotes list "
                  "--deleted” shows them."),
  };

  return run (&verb, arguments, qm_quote_store_restore, _ ("Restored quote"),
              _ ("there is no deleted quote"), error);
}
