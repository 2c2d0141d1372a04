/* SPDX-License-Identifier: Apache-2.0 */

/* Backups: a daily one, what they hold, bringing one back, and taking out of
 * them what was deleted for good. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-backup.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define DAY_S (24 * 60 * 60)

/* --- what there is --- */

static void
free_backup (QmStoreBackup *backup)
{
  if (backup == NULL)
    return;
  g_free (backup->path);
  g_free (backup->trouble);
  g_free (backup);
}

/* The time in a name that qm_store_dated_name() gave. */
static gint64
read_time (const char *name)
{
  const char *stamp = strrchr (name, '.');
  int year, month, day, hour, minute, second;
  g_autoptr (GDateTime) time = NULL;

  if (stamp == NULL
      || sscanf (stamp + strlen (QM_STORE_BACKUP), "%4d%2d%2dT%2d%2d%2dZ",
                 &year, &month, &day, &hour, &minute, &second)
             != 6)
    return 0;
  time = g_date_time_new_utc (year, month, day, hour, minute, second);
  return time != NULL ? g_date_time_to_unix (time) : 0;
}

/* Neither is a count of what was deleted nor of what is lost of interest. */
static void
look_into (QmStoreBackup *backup)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store =
      qm_quote_store_open_read (backup->path, &error);

  if (store == NULL
      || !qm_store_number (
          store, "SELECT count (*) FROM quotes WHERE deleted_at IS NULL",
          &backup->n_quotes, &error))
    backup->trouble = g_strdup (error->message);
  else
    backup->trouble = g_strdup (store->trouble);
}

GPtrArray *
qm_quote_store_backups (const char *path)
{
  GPtrArray *backups =
      g_ptr_array_new_with_free_func ((GDestroyNotify) free_backup);
  g_autofree char *file = NULL;
  g_autoptr (GPtrArray) names = NULL;

  g_return_val_if_fail (path != NULL, backups);

  if (strcmp (path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return backups;
  file = qm_store_canonical (path);
  names = qm_store_list_dated (file, QM_STORE_BACKUP);
  for (guint i = names->len; i > 0; i--)
    {
      QmStoreBackup *backup = g_new0 (QmStoreBackup, 1);

      backup->path = g_strdup (g_ptr_array_index (names, i - 1));
      backup->made_at = read_time (backup->path);
      look_into (backup);
      g_ptr_array_add (backups, backup);
    }
  return backups;
}

char *
qm_quote_store_missing_text (const char *path)
{
  g_autofree char *file = NULL;
  g_autofree char *current = NULL;
  g_autoptr (GPtrArray) names = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  if (strcmp (path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return NULL;
  file = qm_store_canonical (path);
  current = qm_store_current_path (file);
  names = qm_store_list_dated (file, QM_STORE_BACKUP);
  if (names->len == 0 || g_file_test (current, G_FILE_TEST_EXISTS))
    return NULL;
  /* Translators: a file. */
  return g_strdup_printf (_ ("“%s” is not there any more, but backups of it "
                             "are."),
                          file);
}

/* --- bringing one back --- */

/* The numbers of the store that is replaced: an id is not given twice, and
 * whoever watches the count of changes sees one. */
static gboolean
go_on_counting (QmQuoteStore *source, QmQuoteStore *store, GError **error)
{
  g_autofree char *sql = NULL;
  gint64 last = 0, changes = 0;

  if (!qm_store_number (store,
                        "SELECT ifnull (max (seq), 0) FROM sqlite_sequence"
                        " WHERE name = 'quotes'",
                        &last, error)
      || !qm_store_number (store, "SELECT changes FROM state", &changes, error))
    return FALSE;
  sql = g_strdup_printf (
      "PRAGMA query_only = OFF;"
      "UPDATE state SET changes = max (changes, %" G_GINT64_FORMAT ") + 1;"
      "INSERT INTO sqlite_sequence (name, seq) SELECT 'quotes', 0"
      "  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence);"
      "UPDATE sqlite_sequence SET seq = max (seq, %" G_GINT64_FORMAT ")"
      "  WHERE name = 'quotes'",
      changes, last);
  return qm_store_execute (source, sql, error);
}

/* In one transaction, as SQLite copies databases. */
static gboolean
copy_over (QmQuoteStore *source, QmQuoteStore *store, GError **error)
{
  sqlite3_backup *copy =
      sqlite3_backup_init (store->db, "main", source->db, "main");
  int result;

  if (copy == NULL)
    return qm_store_fail (store, error);
  do
    {
      result = sqlite3_backup_step (copy, -1);
      if (result == SQLITE_BUSY || result == SQLITE_LOCKED)
        sqlite3_sleep (10);
    }
  while (result == SQLITE_BUSY || result == SQLITE_LOCKED);
  if (sqlite3_backup_finish (copy) == SQLITE_OK && result == SQLITE_DONE)
    return TRUE;
  return qm_store_fail (store, error);
}

/* Into a store that is whole, as others may have it open. */
static gboolean
restore_into (QmQuoteStore *store, QmQuoteStore *source, GError **error)
{
  /* The oldest one stays this time: it may be what is wanted next. */
  g_autofree char *replaced =
      qm_store_copy (store->db, store->path, FALSE, error);

  return replaced != NULL && go_on_counting (source, store, error)
         && copy_over (source, store, error);
}

/* Over a file that is no store any more.  That it was one is known by the
 * backup beside it. */
static gboolean
restore_over (const char *path, QmQuoteStore *source, GError **error)
{
  GStatBuf identity;

  if (g_stat (path, &identity) != 0 || !S_ISREG (identity.st_mode))
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FOREIGN,
                   _ ("“%s” is no file."), path);
      return FALSE;
    }
  return qm_store_replace (path, &identity, source, NULL, error);
}

gboolean
qm_quote_store_restore_backup (const char *path,
                               const char *backup,
                               GError **error)
{
  g_autoptr (QmQuoteStore) source = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree char *file = NULL;

  g_return_val_if_fail (path != NULL && backup != NULL, FALSE);

  source = qm_quote_store_open_read (backup, error);
  if (source == NULL)
    return FALSE;
  if (source->trouble != NULL)
    {
      g_set_error_literal (error, QM_QUOTE_STORE_ERROR,
                           QM_QUOTE_STORE_ERROR_DAMAGED, source->trouble);
      return FALSE;
    }
  file = qm_store_canonical (path);
  store = qm_quote_store_open (file, &trouble);
  if (store != NULL ? !restore_into (store, source, error)
      : g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                         QM_QUOTE_STORE_ERROR_FOREIGN)
          ? !restore_over (file, source, error)
          : (g_propagate_error (error, g_steal_pointer (&trouble)), TRUE))
    return FALSE;
  return qm_quote_store_accept_damages (file, error);
}

/* --- looking after --- */

/* Whether the newest backup is of today, or holds what is there now. */
static gboolean
is_backed_up (QmQuoteStore *store)
{
  g_autoptr (GPtrArray) names =
      qm_store_list_dated (store->path, QM_STORE_BACKUP);
  g_autoptr (QmQuoteStore) newest = NULL;
  const char *name;

  if (names->len == 0)
    return qm_quote_store_changes (store) == 0;
  name = g_ptr_array_index (names, names->len - 1);
  if (read_time (name) / DAY_S == g_get_real_time () / G_USEC_PER_SEC / DAY_S)
    return TRUE;
  newest = qm_quote_store_open_read (name, NULL);
  return newest != NULL && newest->trouble == NULL
         && qm_quote_store_changes (newest) == qm_quote_store_changes (store);
}

gboolean
qm_quote_store_maintain (QmQuoteStore *store, GError **error)
{
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  g_autofree char *name = NULL;

  g_return_val_if_fail (store != NULL, FALSE);

  if (store->read_only || strcmp (store->path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return TRUE;
  qm_store_sweep (store->path);
  if (qm_quote_store_purge (store, now - QM_QUOTE_STORE_UNDO_DAYS * DAY_S,
                            error)
      < 0)
    return FALSE;
  if (is_backed_up (store))
    return TRUE;
  name = qm_store_copy (store->db, store->path, TRUE, error);
  return name != NULL;
}

/* --- erasing --- */

/* A backup may be of any version; what it does not have need not be cleaned. */
static gboolean
erase_from (const char *path, const GArray *quotes, GError **error)
{
  static const char forget[] =
      "DELETE FROM vendors WHERE NOT EXISTS"
      " (SELECT 1 FROM quotes WHERE vendor = vendors.id)";
  static const char forget_documents[] =
      "DELETE FROM documents WHERE NOT EXISTS"
      " (SELECT 1 FROM attachments WHERE document = documents.id)";
  static const char begin[] = "PRAGMA foreign_keys = ON;"
                              "PRAGMA secure_delete = ON; BEGIN IMMEDIATE";
  sqlite3 *db = NULL;
  int result =
      sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                       NULL);

  if (result == SQLITE_OK)
    {
      sqlite3_busy_timeout (db, QM_STORE_BUSY_MS);
      result = sqlite3_exec (db, begin, NULL, NULL, NULL);
    }
  for (guint i = 0; result == SQLITE_OK && i < quotes->len; i++)
    {
      const QmStoreErased *quote = &g_array_index (quotes, QmStoreErased, i);
      g_autofree char *sql =
          g_strdup_printf ("DELETE FROM quotes WHERE id = %" G_GINT64_FORMAT
                           " AND read_at = %" G_GINT64_FORMAT,
                           quote->id, quote->read_at);

      result = sqlite3_exec (db, sql, NULL, NULL, NULL);
    }
  if (result == SQLITE_OK)
    result = sqlite3_exec (db, forget, NULL, NULL, NULL);
  if (result == SQLITE_OK)
    {
      sqlite3_exec (db, forget_documents, NULL, NULL, NULL);
      result = sqlite3_exec (db, "COMMIT", NULL, NULL, NULL);
    }
  sqlite3_close (db);
  if (result != SQLITE_OK)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_IO,
                 /* Translators: a file, why. */
                 _ ("What was deleted cannot be erased from the backup “%s”: "
                    "%s"),
                 path, sqlite3_errstr (result));
  return result == SQLITE_OK;
}

gboolean
qm_store_erase_from_backups (const char *path,
                             const GArray *quotes,
                             GError **error)
{
  g_autoptr (GPtrArray) names = qm_store_list_dated (path, QM_STORE_BACKUP);

  for (guint i = 0; i < names->len; i++)
    if (!erase_from (g_ptr_array_index (names, i), quotes, error))
      return FALSE;
  return TRUE;
}
