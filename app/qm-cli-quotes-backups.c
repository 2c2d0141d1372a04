/* SPDX-License-Identifier: Apache-2.0 */

/* Backups of the store: which there are, and bringing one back. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/quotes/qm-quote-store-backup.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define NEWEST "newest"

typedef struct
{
  GStrv store;
  GStrv restore;
  gboolean accept;
  gboolean json;
} Typed;

static void
clear_typed_backups (Typed *typed)
{
  g_clear_pointer (&typed->store, g_strfreev);
  g_clear_pointer (&typed->restore, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_backups)

/* What a backup is called here: "20261121T104559Z", the end of its file's
 * name. */
static const char *
stamp_of (const QmStoreBackup *backup)
{
  const char *dash = strrchr (backup->path, '.');

  dash = dash != NULL ? strchr (dash, '-') : NULL;
  return dash != NULL ? dash + 1 : backup->path;
}

/* --- listing --- */

static char *
time_text (gint64 seconds)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc (seconds);
  g_autoptr (GDateTime) here = utc != NULL ? g_date_time_to_local (utc) : NULL;

  return here != NULL ? g_date_time_format (here, "%Y-%m-%d %H:%M")
                      : g_strdup ("");
}

static gboolean
write_backups_json (GPtrArray *backups, GPtrArray *damages, GError **error)
{
  json_auto_t *root = json_object ();
  json_t *list = json_array ();
  json_t *told = json_array ();

  for (guint i = 0; i < backups->len; i++)
    {
      const QmStoreBackup *backup = g_ptr_array_index (backups, i);
      json_t *object = json_object ();

      json_object_set_new (object, "backup",
                           qm_cli_json_text (stamp_of (backup)));
      json_object_set_new (object, "made_at", json_integer (backup->made_at));
      json_object_set_new (object, "quotes", json_integer (backup->n_quotes));
      json_object_set_new (object, "file", qm_cli_json_text (backup->path));
      json_object_set_new (object, "problem",
                           qm_cli_json_text (backup->trouble));
      json_array_append_new (list, object);
    }
  for (guint i = 0; i < damages->len; i++)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, i);
      json_t *object = json_object ();

      json_object_set_new (object, "file", qm_cli_json_text (damage->path));
      json_object_set_new (object, "found_at", json_integer (damage->found_at));
      json_object_set_new (object, "message", qm_cli_json_text (damage->text));
      json_array_append_new (told, object);
    }
  json_object_set_new (root, "backups", list);
  json_object_set_new (root, "damaged", told);
  return qm_cli_json_write (root, error);
}

static gboolean
write_backups_text (GPtrArray *backups, GPtrArray *damages, GError **error)
{
  const QmCliColumn columns[] = {
    { _ ("Backup") },
    { _ ("Made") },
    { _ ("Quotes"), QM_CLI_RIGHT },
    { _ ("File"), .drop = 1, .shrink = 20 },
    { _ ("Problem"), .drop = 2, .shrink = 16 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GString) out = g_string_new (NULL);
  QmCliScreen screen = qm_cli_screen ();

  for (guint i = 0; i < backups->len; i++)
    {
      const QmStoreBackup *backup = g_ptr_array_index (backups, i);
      g_autofree char *made = time_text (backup->made_at);
      g_autofree char *quotes =
          g_strdup_printf ("%" G_GINT64_FORMAT, backup->n_quotes);
      gboolean sound = backup->trouble == NULL;

      qm_cli_table_add_row (table, sound ? QM_CLI_PLAIN : QM_CLI_BAD,
                            (const char *[]){
                                stamp_of (backup), made, sound ? quotes : " ",
                                backup->path, sound ? " " : backup->trouble });
    }
  if (backups->len > 0)
    qm_cli_table_append (table, out, &screen);
  else
    qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                             _ ("There is no backup yet; the first one is made "
                                "when something is stored."));
  for (guint i = 0; i < damages->len; i++)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, i);

      qm_cli_append_paragraph (out, &screen, QM_CLI_BAD, "! ", 2, damage->text);
    }
  return qm_cli_write_text (out->str, error);
}

/* --- bringing one back --- */

static const QmStoreBackup *
find_backup (const char *path,
             GPtrArray *backups,
             const char *word,
             GError **error)
{
  g_autofree char *quoted = qm_cli_quote (word);
  g_autofree char *of = qm_cli_quote (path);

  for (guint i = 0; i < backups->len; i++)
    {
      const QmStoreBackup *backup = g_ptr_array_index (backups, i);

      if (g_str_equal (word, stamp_of (backup))
          || g_str_equal (word, backup->path)
          || (g_str_equal (word, NEWEST) && backup->trouble == NULL))
        return backup;
    }
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               /* Translators: a backup, a file. */
               _ ("there is no backup %s of %s; “quartermaster quotes backups” "
                  "shows them"),
               quoted, of);
  return NULL;
}

static gboolean
restore (const char *path, const char *word, GPtrArray *backups, GError **error)
{
  const QmStoreBackup *backup = find_backup (path, backups, word, error);
  g_autofree char *made = NULL;
  g_autofree char *line = NULL;

  if (backup == NULL
      || !qm_quote_store_restore_backup (path, backup->path, error))
    return FALSE;
  made = time_text (backup->made_at);
  line = g_strdup_printf (
      /* Translators: a number of quotes, a time. */
      ngettext ("%d quote of the backup of %s is in use again; what was there "
                "before is kept.\n",
                "%d quotes of the backup of %s are in use again; what was "
                "there before is kept.\n",
                (gulong) backup->n_quotes),
      (int) backup->n_quotes, made);
  return qm_cli_write_text (line, error);
}

static gboolean
accept (const char *path, guint n, GError **error)
{
  if (n > 0 && !qm_quote_store_accept_damages (path, error))
    return FALSE;
  return qm_cli_write_text (
      n > 0 ? _ ("Accepted: the damaged file stays, and is told of no more.\n")
            : _ ("There is no damage to be told of.\n"),
      error);
}

/* Where there is nothing to be told, whether there is a store at all. */
static gboolean
check_store (const Typed *typed, GError **error)
{
  g_autoptr (QmQuoteStore) store =
      qm_cli_store_open (typed->store, QM_CLI_STORE_READ, error);

  return store != NULL;
}

static gboolean
run_backups (const Typed *typed, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (GPtrArray) backups = NULL;
  g_autoptr (GPtrArray) damages = NULL;
  const char *word;

  if (!qm_cli_option_single ("restore", typed->restore, &word, error)
      || !qm_cli_store_find (typed->store, &path, error))
    return FALSE;
  if ((word != NULL) + typed->accept + typed->json > 1)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("--restore, --accept and --json exclude each "
                              "other"));
      return FALSE;
    }
  backups = qm_quote_store_backups (path);
  damages = qm_quote_store_damages (path);
  if (backups->len == 0 && damages->len == 0 && !check_store (typed, error))
    return FALSE;
  if (word != NULL)
    return restore (path, word, backups, error);
  if (typed->accept)
    return accept (path, damages->len, error);
  return typed->json ? write_backups_json (backups, damages, error)
                     : write_backups_text (backups, damages, error);
}

int
qm_cli_quotes_backups (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes backups",
    .summary = _ ("Shows the backups of your quotes, of which one is made on "
                  "every day with a change and\nthe last three are kept, and "
                  "brings one back.  Where the store was damaged, says what\n"
                  "became of it."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  int status;

  qm_cli_options_add_value (options, "restore", 0, _ ("BACKUP"),
                            _ ("Bring this one back, or the “newest”; what is "
                               "there now becomes a backup"),
                            &typed.restore);
  qm_cli_options_add_flag (options, "accept",
                           _ ("Go on with what could be read of a damaged "
                              "store, and tell of it no more"),
                           &typed.accept);
  qm_cli_store_add_option (options, &typed.store);
  qm_cli_options_add_json (options, &typed.json);
  if (!qm_cli_options_parse (&verb, options, arguments, NULL, &status, error))
    return status;
  return run_backups (&typed, error) ? QM_CLI_EXIT_FOUND
                                     : QM_CLI_EXIT_BAD_INPUT;
}
