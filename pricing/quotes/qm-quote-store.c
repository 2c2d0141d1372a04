/* SPDX-License-Identifier: Apache-2.0 */

/* Opening and closing the store. */

#include "config.h"

#include "data/datadir.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How often switching the journal is tried, which SQLite does not wait for. */
#define JOURNAL_TRIES 100

/* How often a file that another program has just replaced is looked at anew. */
#define SETTLE_TRIES 3

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

char *
qm_store_canonical (const char *path)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  char *real;

  if (!g_file_test (canonical, G_FILE_TEST_IS_SYMLINK))
    return g_steal_pointer (&canonical);
  /* What belongs to the file lies beside the file, not beside the link. */
  real = realpath (canonical, NULL);
  if (real == NULL)
    return g_steal_pointer (&canonical);
  g_free (canonical);
  canonical = g_strdup (real);
  free (real);
  return g_steal_pointer (&canonical);
}

gboolean
qm_quote_store_is_in_place (const QmQuoteStore *store)
{
  GStatBuf now;

  return store->read_only || in_memory (store->path)
         || (g_stat (store->path, &now) == 0
             && now.st_ino == store->identity.st_ino
             && now.st_dev == store->identity.st_dev);
}

void
qm_quote_store_close (QmQuoteStore *store)
{
  if (store == NULL)
    return;
  g_clear_pointer (&store->statements, g_hash_table_unref);
  /* The journal of that name is another file's by now: closing would write it
   * back and take it away. */
  if (store->db != NULL && !qm_quote_store_is_in_place (store))
    sqlite3_db_config (store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_close (store->db);
  g_free (store->path);
  g_free (store->trouble);
  g_free (store);
}

/* (transfer full) */
static QmQuoteStore *
store_new (const char *path)
{
  QmQuoteStore *store = g_new0 (QmQuoteStore, 1);

  store->path = in_memory (path) ? g_strdup (path) : qm_store_canonical (path);
  store->statements =
      g_hash_table_new_full (NULL, NULL, NULL, finalize_statement);
  return store;
}

static gboolean
set_up_connection (QmQuoteStore *store, GError **error)
{
  /* What is deleted for good is overwritten. */
  static const char pragmas[] = "PRAGMA foreign_keys = ON;"
                                "PRAGMA synchronous = FULL;"
                                "PRAGMA secure_delete = ON;"
                                "PRAGMA cell_size_check = ON;"
                                "PRAGMA temp_store = MEMORY;"
                                "PRAGMA cache_size = -16384;";

  sqlite3_extended_result_codes (store->db, 1);
  sqlite3_busy_timeout (store->db, QM_STORE_BUSY_MS);
  /* The file may have come from anywhere: what its schema says is not run. */
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return qm_store_execute (store, pragmas, error);
}

/* To the file, which is there. */
static gboolean
connect_to (QmQuoteStore *store, GError **error)
{
  if (g_stat (store->path, &store->identity) != 0)
    return qm_store_fail_file (store->path, errno, error);
  if (sqlite3_open_v2 (store->path, &store->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)
      != SQLITE_OK)
    return qm_store_fail (store, error);
  return set_up_connection (store, error);
}

QmQuoteStore *
qm_store_new_in_memory (int version, GError **error)
{
  g_autoptr (QmQuoteStore) store = store_new (QM_QUOTE_STORE_IN_MEMORY);

  if (sqlite3_open_v2 (store->path, &store->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                           | SQLITE_OPEN_NOMUTEX,
                       NULL)
      != SQLITE_OK)
    {
      qm_store_fail (store, error);
      return NULL;
    }
  return set_up_connection (store, error)
                 && qm_store_migrate (store, 0, version, error)
             ? g_steal_pointer (&store)
             : NULL;
}

static gboolean
fail_foreign (const char *path, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FOREIGN,
               _ ("“%s” is a database of another program."), path);
  return FALSE;
}

/* Whether it is a store at all, and of which version. */
static gboolean
identify (QmQuoteStore *store, int *version, GError **error)
{
  gint64 application = 0, number = 0, tables = 0;

  if (!qm_store_number (store, "PRAGMA application_id", &application, error)
      || !qm_store_number (store, "PRAGMA user_version", &number, error)
      || !qm_store_number (store, QM_STORE_OWN_TABLES, &tables, error))
    return FALSE;
  /* One that has lost its id is known by its tables. */
  if (application != QM_STORE_APPLICATION_ID
      && (application != 0 || tables < QM_STORE_N_OWN_TABLES))
    return fail_foreign (store->path, error);
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
  if (number >= 1 && tables == QM_STORE_N_OWN_TABLES)
    return TRUE;
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
               _ ("“%s” is damaged: %s"), store->path,
               _ ("not all of its tables are there"));
  return FALSE;
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
      sqlite3_sleep (QM_STORE_BUSY_MS / JOURNAL_TRIES);
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
  name = qm_store_copy (reader->db, store->path, TRUE, error);
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
      ok = ok && qm_store_migrate (store, version, QM_STORE_VERSION, error);
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

/* --- what a file holds, without touching it --- */

/* What examine() has found. */
typedef struct
{
  QmQuoteStore *copy; /* in memory; NULL: it cannot be read */
  int version;
  GError *damage; /* NULL: it is sound */
} Found;

static void
found_clear (Found *found)
{
  g_clear_pointer (&found->copy, qm_quote_store_close);
  g_clear_error (&found->damage);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

/* Damage is no error where the store is known to be ours. */
static gboolean
judge (Found *found, gboolean ours, GError *trouble, GError **error)
{
  if (g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                       QM_QUOTE_STORE_ERROR_DAMAGED))
    {
      if (ours)
        {
          found->damage = trouble;
          return TRUE;
        }
      g_error_free (trouble);
      return fail_foreign (found->copy->path, error);
    }
  g_propagate_error (error, trouble);
  return FALSE;
}

/* Whether a database need not be read at all to see that it is none of ours.
 * One that has been in use without its id may have its tables in its journal.
 */
static gboolean
check_owner (const char *path, const char *file, GError **error)
{
  guchar header[QM_STORE_HEADER];
  g_autofree char *journal = g_strconcat (file, "-wal", NULL);
  guint32 application;

  if (!qm_store_read_header (file, header, error))
    return FALSE;
  application = qm_store_application (header);
  return application == QM_STORE_APPLICATION_ID
         || (application == 0
             && (qm_store_has_tables (file)
                 || g_file_test (journal, G_FILE_TEST_EXISTS)))
         || fail_foreign (path, error);
}

static gboolean
examine (const char *path, const char *file, Found *found, GError **error)
{
  QmStoreImage image = { 0 };
  GError *trouble = NULL;
  gboolean ours;

  if (!check_owner (path, file, error)
      || !qm_store_image_read (&image, file, error))
    return FALSE;
  ours = image.application == QM_STORE_APPLICATION_ID;
  found->copy = store_new (path);
  found->copy->read_only = TRUE;
  found->copy->db = qm_store_image_open (&image);
  if (found->copy->db == NULL)
    return qm_store_fail_file (path, ENOMEM, error);
  if (!set_up_connection (found->copy, &trouble)
      || !identify (found->copy, &found->version, &trouble))
    return judge (found, ours, trouble, error);
  if (!look_through (found->copy, &trouble)
      || !qm_store_check_content (found->copy, &trouble))
    return judge (found, TRUE, trouble, error);
  if (image.torn)
    g_set_error (&found->damage, QM_QUOTE_STORE_ERROR,
                 QM_QUOTE_STORE_ERROR_DAMAGED, _ ("“%s” is damaged: %s"), path,
                 _ ("it or its journal is cut off or garbled"));
  return TRUE;
}

/* --- opening --- */

static gboolean
check_mode (const char *path, const GStatBuf *identity, GError **error)
{
  /* Whoever may do everything keeps to it, too. */
  return (identity->st_mode & 0222) != 0
         || qm_store_fail_file (path, EACCES, error);
}

static gboolean
create (const char *path, GError **error)
{
  g_autoptr (QmQuoteStore) store = NULL;

  if (!qm_store_create_folder (path, error))
    return FALSE;
  store = qm_store_new_in_memory (QM_STORE_VERSION, error);
  /* Somebody else may have been faster. */
  return store != NULL && qm_store_publish_store (path, store, FALSE, error);
}

/* What can be read of a damaged store takes its place. */
static gboolean
repair (const char *path,
        const Found *found,
        const GStatBuf *identity,
        GError **error)
{
  QmStoreSalvage salvage;
  g_autoptr (QmQuoteStore) salvaged =
      qm_store_salvage (found->copy->db, found->version, &salvage, error);

  return salvaged != NULL
         && qm_store_replace (path, identity, salvaged, &salvage, error);
}

static gboolean
settle_once (const char *path, GError **error)
{
  g_auto (Found) found = { 0 };
  GStatBuf identity;
  gboolean absent = FALSE;

  if (!qm_store_finish_replacing (path, error)
      || !qm_store_check_file (path, &absent, error))
    return FALSE;
  if (absent)
    return create (path, error);
  if (g_stat (path, &identity) != 0)
    return qm_store_fail_file (path, errno, error);
  return examine (path, path, &found, error)
         && check_mode (path, &identity, error)
         && (found.damage == NULL || repair (path, &found, &identity, error));
}

/* Makes sure that a sound store is there, which another program may be doing at
 * the same time. */
static gboolean
settle (const char *path, GError **error)
{
  for (int i = 0; i < SETTLE_TRIES; i++)
    {
      g_autoptr (GError) trouble = NULL;

      if (settle_once (path, &trouble))
        return TRUE;
      if (!g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                            QM_QUOTE_STORE_ERROR_BUSY))
        {
          g_propagate_error (error, g_steal_pointer (&trouble));
          return FALSE;
        }
    }
  return settle_once (path, error);
}

QmQuoteStore *
qm_quote_store_open (const char *path, GError **error)
{
  g_autoptr (QmQuoteStore) store = NULL;
  int version = 0;

  g_return_val_if_fail (path != NULL && path[0] != '\0', NULL);

  if (in_memory (path))
    return qm_store_new_in_memory (QM_STORE_VERSION, error);
  store = store_new (path);
  if (!settle (store->path, error) || !connect_to (store, error)
      || !identify (store, &version, error) || !check_writable (store, error)
      || !choose_journal (store, error)
      || (version != QM_STORE_VERSION && !bring_up_to_date (store, error)))
    return NULL;
  return g_steal_pointer (&store);
}

/* What can be read of a damaged store, and a word about it. */
static gboolean
salvage_copy (Found *found, GError **error)
{
  QmStoreSalvage salvage;
  g_autofree char *what = NULL;
  QmQuoteStore *salvaged =
      qm_store_salvage (found->copy->db, found->version, &salvage, error);

  if (salvaged == NULL)
    return FALSE;
  what = qm_store_salvage_text (&salvage);
  g_free (salvaged->path);
  salvaged->path = g_strdup (found->copy->path);
  salvaged->read_only = TRUE;
  /* Translators: why a file is damaged, what could be read of it. */
  salvaged->trouble =
      g_strdup_printf (_ ("%s: %s."), found->damage->message, what);
  qm_quote_store_close (found->copy);
  found->copy = salvaged;
  return TRUE;
}

QmQuoteStore *
qm_quote_store_open_read (const char *path, GError **error)
{
  g_auto (Found) found = { 0 };
  g_autofree char *named = NULL;
  g_autofree char *file = NULL;

  g_return_val_if_fail (path != NULL && path[0] != '\0', NULL);

  if (in_memory (path))
    return qm_store_new_in_memory (QM_STORE_VERSION, error);
  named = qm_store_canonical (path);
  file = qm_store_current_path (named);
  if (!examine (named, file, &found, error))
    return NULL;
  if (found.damage != NULL
          ? !salvage_copy (&found, error)
          : found.version < QM_STORE_VERSION
                && !qm_store_migrate (found.copy, found.version,
                                      QM_STORE_VERSION, error))
    return NULL;
  if (!qm_store_execute (found.copy, "PRAGMA query_only = ON", error))
    return NULL;
  return g_steal_pointer (&found.copy);
}

gboolean
qm_quote_store_is_read_only (const QmQuoteStore *store)
{
  g_return_val_if_fail (store != NULL, FALSE);

  return store->read_only;
}

const char *
qm_quote_store_trouble (const QmQuoteStore *store)
{
  g_return_val_if_fail (store != NULL, NULL);

  return store->trouble;
}

QmQuoteStore *
qm_quote_store_open_again (const char *path, gboolean read_only, GError **error)
{
  g_autoptr (QmQuoteStore) again = NULL;
  int version = 0;

  g_return_val_if_fail (path != NULL && !in_memory (path), NULL);

  if (read_only)
    return qm_quote_store_open_read (path, error);
  again = store_new (path);
  if (!connect_to (again, error) || !identify (again, &version, error))
    return NULL;
  if (version != QM_STORE_VERSION)
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
                   _ ("Another program has just replaced “%s”; try again."),
                   path);
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
