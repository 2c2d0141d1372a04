/* SPDX-License-Identifier: Apache-2.0 */

/* Opening and closing the store. */

#include "config.h"

#include "data/datadir.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/* How long one program waits for another's writing: longer than the import of
 * ten thousand quotes. */
#define BUSY_MS 10000

/* How often switching the journal is tried, which SQLite does not wait for. */
#define JOURNAL_TRIES 100

static gboolean
in_memory (const char *path)
{
  return strcmp (path, QM_QUOTE_STORE_IN_MEMORY) == 0;
}

char *
qm_quote_store_default_path (void)
{
  char folder[PATH_MAX];

  if (!qm_user_data_dir (folder, sizeof folder))
    return NULL;
  return g_build_filename (folder, "quotes.sqlite", NULL);
}

static void
finalize_statement (gpointer statement)
{
  sqlite3_finalize (statement);
}

void
qm_quote_store_close (QmQuoteStore *store)
{
  if (store == NULL)
    return;
  g_clear_pointer (&store->statements, g_hash_table_unref);
  sqlite3_close (store->db);
  g_free (store->path);
  g_free (store);
}

static gboolean
connect_to (QmQuoteStore *store, GError **error)
{
  static const char pragmas[] = "PRAGMA foreign_keys = ON;"
                                "PRAGMA synchronous = FULL;"
                                "PRAGMA cell_size_check = ON;"
                                "PRAGMA temp_store = MEMORY;"
                                "PRAGMA cache_size = -16384;";

  if (sqlite3_open_v2 (store->path, &store->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                           | SQLITE_OPEN_NOMUTEX,
                       NULL)
      != SQLITE_OK)
    return qm_store_fail (store, error);
  sqlite3_extended_result_codes (store->db, 1);
  sqlite3_busy_timeout (store->db, BUSY_MS);
  /* The file may have come from anywhere: what its schema says is not run. */
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return qm_store_execute (store, pragmas, error);
}

/* (transfer full) */
static QmQuoteStore *
store_new (const char *path)
{
  QmQuoteStore *store = g_new0 (QmQuoteStore, 1);

  store->path =
      in_memory (path) ? g_strdup (path) : g_canonicalize_filename (path, NULL);
  store->statements =
      g_hash_table_new_full (NULL, NULL, NULL, finalize_statement);
  return store;
}

/* Whether it is a store at all, and of which version: 0 for an empty file. */
static gboolean
identify (QmQuoteStore *store, int *version, GError **error)
{
  gint64 application = 0, number = 0, tables = 0;

  if (!qm_store_number (store, "PRAGMA application_id", &application, error)
      || !qm_store_number (store, "PRAGMA user_version", &number, error)
      || !qm_store_number (store, "SELECT count(*) FROM sqlite_master", &tables,
                           error))
    return FALSE;
  if (tables == 0 && number == 0)
    {
      *version = 0;
      return TRUE;
    }
  if (application != QM_STORE_APPLICATION_ID || number < 1)
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FOREIGN,
                   _ ("“%s” is a database of another program."), store->path);
      return FALSE;
    }
  if (number > QM_STORE_VERSION)
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NEWER,
                   _ ("“%s” was written by a newer version of Quartermaster "
                      "(format %d, this one knows up to %d): install that "
                      "version, or use another file."),
                   store->path, (int) number, QM_STORE_VERSION);
      return FALSE;
    }
  *version = (int) number;
  return TRUE;
}

static gboolean
look_through (QmQuoteStore *store, GError **error)
{
  sqlite3_stmt *statement = NULL;
  const char *answer = NULL;
  gboolean ok;

  if (sqlite3_prepare_v2 (store->db, "PRAGMA quick_check(1)", -1, &statement,
                          NULL)
          != SQLITE_OK
      || sqlite3_step (statement) != SQLITE_ROW)
    {
      qm_store_fail (store, error);
      sqlite3_finalize (statement);
      return FALSE;
    }
  answer = (const char *) sqlite3_column_text (statement, 0);
  ok = g_strcmp0 (answer, "ok") == 0;
  /* The first line only says which database. */
  if (answer != NULL && strchr (answer, '\n') != NULL)
    answer = strchr (answer, '\n') + 1;
  if (!ok)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
                 _ ("“%s” is damaged: %s"), store->path,
                 answer != NULL ? answer : "");
  sqlite3_finalize (statement);
  return ok;
}

/* Writes ahead, so that reading and writing do not wait for each other.  On a
 * file system that cannot do that, the journal stays as it is, which is as
 * safe.
 */
static gboolean
choose_journal (QmQuoteStore *store, GError **error)
{
  for (int i = 0;; i++)
    {
      int result = sqlite3_exec (store->db, "PRAGMA journal_mode = WAL", NULL,
                                 NULL, NULL);

      if (result == SQLITE_OK)
        return TRUE;
      if ((result & 0xff) != SQLITE_BUSY || i == JOURNAL_TRIES)
        return qm_store_fail (store, error);
      sqlite3_sleep (BUSY_MS / JOURNAL_TRIES);
    }
}

/* Copies what is there before it is changed.  A connection that is writing
 * cannot be copied from. */
static gboolean
back_up_first (QmQuoteStore *store, GError **error)
{
  g_autoptr (QmQuoteStore) reader = store_new (store->path);
  g_autofree char *name = NULL;

  if (!connect_to (reader, error))
    return FALSE;
  name = qm_store_copy (reader->db, store->path, error);
  return name != NULL;
}

/* In a transaction: whoever else opened the file may have been faster. */
static gboolean
bring_up_to_date (QmQuoteStore *store, GError **error)
{
  int version = 0;
  gboolean ok;

  if (!qm_store_execute (store, "BEGIN IMMEDIATE", error))
    return FALSE;
  ok = identify (store, &version, error);
  if (ok && version < QM_STORE_VERSION)
    {
      if (version > 0)
        ok = back_up_first (store, error);
      ok = ok && qm_store_migrate (store, version, error);
    }
  ok = ok && qm_store_execute (store, "COMMIT", error);
  if (!ok && !sqlite3_get_autocommit (store->db))
    sqlite3_exec (store->db, "ROLLBACK", NULL, NULL, NULL);
  return ok;
}

static gboolean
check_writable (QmQuoteStore *store, GError **error)
{
  if (sqlite3_db_readonly (store->db, "main") == 0)
    return TRUE;
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_READ_ONLY,
               _ ("“%s” may not be written."), store->path);
  return FALSE;
}

static gboolean
open_file (QmQuoteStore *store, GError **error)
{
  int version = 0;

  return connect_to (store, error) && identify (store, &version, error)
         && check_writable (store, error) && look_through (store, error)
         && choose_journal (store, error)
         && (version == QM_STORE_VERSION || bring_up_to_date (store, error));
}

/* Moves a damaged file out of the way and says where to. */
static void
set_damaged_aside (QmQuoteStore *store,
                   const GStatBuf *identity,
                   GError **error)
{
  g_autofree char *name = NULL;
  g_autofree char *backup = qm_store_newest_backup (store->path);
  g_autoptr (GError) damage = g_steal_pointer (error);

  /* Closing must not write the journal into a file that is to be kept. */
  if (store->db != NULL)
    sqlite3_db_config (store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  g_clear_pointer (&store->statements, g_hash_table_unref);
  g_clear_pointer (&store->db, sqlite3_close);
  name = qm_store_move_aside (store->path, identity, error);
  if (name == NULL)
    return;
  if (backup != NULL)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
                 _ ("%s. It was kept as “%s”. The last backup is “%s”. The "
                    "next start begins with no quotes."),
                 damage->message, name, backup);
  else
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
                 _ ("%s. It was kept as “%s”. The next start begins with no "
                    "quotes."),
                 damage->message, name);
}

QmQuoteStore *
qm_quote_store_open (const char *path, GError **error)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) failure = NULL;
  GStatBuf identity = { 0 };

  g_return_val_if_fail (path != NULL && path[0] != '\0', NULL);

  store = store_new (path);
  if (!in_memory (path))
    {
      if (!qm_store_create_file (store->path, error))
        return NULL;
      g_stat (store->path, &identity);
    }
  if (open_file (store, &failure))
    return g_steal_pointer (&store);
  if (!in_memory (path)
      && g_error_matches (failure, QM_QUOTE_STORE_ERROR,
                          QM_QUOTE_STORE_ERROR_DAMAGED))
    set_damaged_aside (store, &identity, &failure);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

QmQuoteStore *
qm_quote_store_open_again (const QmQuoteStore *store, GError **error)
{
  g_autoptr (QmQuoteStore) again = NULL;
  int version = 0;

  g_return_val_if_fail (store != NULL && !in_memory (store->path), NULL);

  again = store_new (store->path);
  if (!connect_to (again, error) || !identify (again, &version, error))
    return NULL;
  if (version != QM_STORE_VERSION)
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
                   _ ("Another program has just replaced “%s”; try again."),
                   store->path);
      return NULL;
    }
  return g_steal_pointer (&again);
}

const char *
qm_quote_store_path (const QmQuoteStore *store)
{
  g_return_val_if_fail (store != NULL, NULL);

  return store->path;
}

guint64
qm_quote_store_changes (QmQuoteStore *store)
{
  static const char sql[] = "SELECT changes FROM state";
  g_autoptr (QmStatement) statement = NULL;

  g_return_val_if_fail (store != NULL, 0);

  statement = qm_store_prepare (store, sql, NULL);
  if (statement != NULL && qm_store_step (store, statement, NULL) == 1)
    store->changes = (guint64) sqlite3_column_int64 (statement, 0);
  return store->changes;
}

char *
qm_quote_store_backup (QmQuoteStore *store, GError **error)
{
  g_return_val_if_fail (store != NULL && !in_memory (store->path), NULL);

  return qm_store_copy (store->db, store->path, error);
}
