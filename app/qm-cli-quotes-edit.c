/* SPDX-License-Identifier: Apache-2.0 */

/* Deleting quotes, and taking that back. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-store-backup.h"

#include <glib/gi18n-lib.h>

typedef gboolean (*Edit) (QmQuoteStore *store, gint64 id, GError **error);

/* What is done to each quote, and what is said about it. */
typedef struct
{
  Edit edit;
  const char *done;
  const char *missing;
  const char *after; /* said once at the end; NULL: nothing */
  gboolean away;     /* it is to be gone at the end */
} Change;

/* Where else it may be. */
static void
append_kept (GString *out, QmQuoteStore *store)
{
  g_autofree char *kept =
      qm_quote_store_kept_text (qm_quote_store_path (store));
  g_autofree char *safe = kept != NULL ? qm_cli_escape (kept) : NULL;

  if (safe != NULL)
    g_string_append_printf (out, "%s\n", safe);
}

/* What was done before one that fails stays done, and is said. */
static gboolean
edit_all (QmQuoteStore *store,
          const GArray *ids,
          const Change *change,
          GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean whole = TRUE;

  for (guint i = 0; whole && i < ids->len; i++)
    {
      gint64 id = g_array_index (ids, gint64, i);
      g_autoptr (GError) trouble = NULL;

      whole = change->edit (store, id, &trouble);
      if (!whole)
        qm_cli_quote_missing (trouble,
                              g_strdup_printf ("%s %" G_GINT64_FORMAT,
                                               change->missing, id),
                              error);
      else
        g_string_append_printf (out, "%s %" G_GINT64_FORMAT "\n", change->done,
                                id);
    }
  if (out->len > 0)
    qm_cli_store_done (store);
  if (out->len > 0 && change->after != NULL)
    g_string_append_printf (out, "%s\n", change->after);
  if (out->len > 0 && change->away)
    append_kept (out, store);
  return qm_cli_write_text (out->str, whole ? error : NULL) && whole;
}

static int
edit_quotes (GStrv path, GStrv numbers, const Change *change, GError **error)
{
  g_autoptr (GArray) ids = qm_cli_quote_ids (numbers, 1, G_MAXUINT, error);
  g_autoptr (QmQuoteStore) store = NULL;

  if (ids == NULL
      || (store = qm_cli_store_open (path, QM_CLI_STORE_CHANGE, error)) == NULL
      || !edit_all (store, ids, change, error))
    return QM_CLI_EXIT_BAD_INPUT;
  return QM_CLI_EXIT_FOUND;
}

/* Until when what is deleted now can be brought back.  (transfer full) */
static char *
erased_text (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autoptr (GDateTime) last =
      g_date_time_add_days (now, QM_QUOTE_STORE_UNDO_DAYS);
  g_autofree char *date = g_date_time_format (last, "%Y-%m-%d");

  return g_strdup_printf (
      /* Translators: a date. */
      _ ("“quartermaster quotes restore” brings it back until %s; then it is "
         "erased, from the backups too. --erase does so at once."),
      date);
}

int
qm_cli_quotes_delete (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes delete",
    .parameters = _ ("NUMBER…"),
    .summary = _ ("Takes quotes away.  “quartermaster quotes restore” brings "
                  "them back for 30 days; then\nthey are erased, from the "
                  "backups too."),
  };
  g_autofree char *after = erased_text ();
  const Change deletion = { qm_quote_store_delete, _ ("Deleted quote"),
                            _ ("there is no quote"), after, TRUE };
  const Change erasure = { qm_quote_store_erase, _ ("Erased quote"),
                           _ ("there is no quote"), NULL, TRUE };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  gboolean at_once = FALSE;
  int status;

  qm_cli_options_add_flag (options, "erase",
                           _ ("For good and at once, from the backups too; "
                              "deleted ones as well"),
                           &at_once);
  qm_cli_store_add_option (options, &path);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  return edit_quotes (path, rest, at_once ? &erasure : &deletion, error);
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
  const Change restoring = { qm_quote_store_restore, _ ("Restored quote"),
                             _ ("there is no deleted quote"), NULL, FALSE };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  int status;

  qm_cli_store_add_option (options, &path);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  return edit_quotes (path, rest, &restoring, error);
}
