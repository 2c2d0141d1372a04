/* SPDX-License-Identifier: Apache-2.0 */

/* The store's file and those beside it: backups and damaged ones. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

#define BACKUP  ".backup-"
#define DAMAGED ".damaged-"

/* Pages of a copy at a time, between which others may write. */
#define COPY_PAGES 4096

static void
fail_file (const char *path, int code, GError **error)
{
  switch (code)
    {
    case ENOSPC:
    case EDQUOT:
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FULL,
                   _ ("There is no space left to write “%s”."), path);
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_READ_ONLY,
                   _ ("“%s” may not be written: %s"), path, g_strerror (code));
      break;
    default:
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_IO,
                   _ ("“%s” cannot be opened, read or written: %s"), path,
                   g_strerror (code));
      break;
    }
}

gboolean
qm_store_create_file (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int file;

  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      fail_file (folder, errno, error);
      return FALSE;
    }
  /* What vendors offer is nobody else's business; SQLite gives the files
   * beside it the same mode. */
  file = g_open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    {
      fail_file (path, errno, error);
      return FALSE;
    }
  close (file);
  return TRUE;
}

/* A name beside a file that is not taken:
 * "quotes.sqlite.backup-20261121T104559Z" and, within the same second,
 * "...Z-2".  (transfer full) */
static char *
dated_name (const char *path, const char *what)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  char *name = g_strconcat (path, what, date, NULL);

  for (int i = 2; g_file_test (name, G_FILE_TEST_EXISTS); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s%s%s-%d", path, what, date, i);
    }
  return name;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const char *const *p = a;
  const char *const *q = b;

  return strcmp (*p, *q);
}

/* Whether a name is one that dated_name() gives, and not a copy's that is being
 * made. */
static gboolean
is_backup (const char *name, const char *prefix)
{
  return g_str_has_prefix (name, prefix)
         && g_ascii_isdigit (name[strlen (prefix)])
         && strchr (name + strlen (prefix), '.') == NULL;
}

/* The names of the backups beside a file, oldest first.  (transfer full) */
static GPtrArray *
list_backups (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *prefix = g_strconcat (base, BACKUP, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (is_backup (name, prefix))
      g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (names, compare_names);
  return names;
}

char *
qm_store_newest_backup (const char *path)
{
  g_autoptr (GPtrArray) names = list_backups (path);

  if (names->len == 0)
    return NULL;
  return g_strdup (g_ptr_array_index (names, names->len - 1));
}

static void
prune_backups (const char *path)
{
  g_autoptr (GPtrArray) names = list_backups (path);

  for (guint i = 0; i + QM_QUOTE_STORE_BACKUPS < names->len; i++)
    g_unlink (g_ptr_array_index (names, i));
}

/* Copies all pages; returns SQLite's result. */
static int
copy_pages (sqlite3 *from, sqlite3 *to)
{
  sqlite3_backup *backup = sqlite3_backup_init (to, "main", from, "main");
  int result;

  if (backup == NULL)
    return sqlite3_errcode (to);
  do
    {
      result = sqlite3_backup_step (backup, COPY_PAGES);
      if ((result == SQLITE_BUSY || result == SQLITE_LOCKED))
        sqlite3_sleep (10);
    }
  while (result == SQLITE_OK || result == SQLITE_BUSY
         || result == SQLITE_LOCKED);
  result = sqlite3_backup_finish (backup);
  /* One file, which needs no journal beside it. */
  if (result == SQLITE_OK)
    result =
        sqlite3_exec (to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  return result;
}

/* Copies into a file that does not exist yet. */
static gboolean
copy_into (sqlite3 *db, const char *name, GError **error)
{
  sqlite3 *copy = NULL;
  int result;

  if (!qm_store_create_file (name, error))
    return FALSE;
  result = sqlite3_open_v2 (name, &copy, SQLITE_OPEN_READWRITE, NULL);
  if (result == SQLITE_OK)
    result = copy_pages (db, copy);
  if (result != SQLITE_OK)
    {
      gboolean full = (result & 0xff) == SQLITE_FULL;

      g_set_error (error, QM_QUOTE_STORE_ERROR,
                   full ? QM_QUOTE_STORE_ERROR_FULL : QM_QUOTE_STORE_ERROR_IO,
                   _ ("The backup “%s” could not be written: %s"), name,
                   sqlite3_errstr (result));
    }
  sqlite3_close (copy);
  return result == SQLITE_OK;
}

char *
qm_store_copy (sqlite3 *db, const char *path, GError **error)
{
  g_autofree char *name = dated_name (path, BACKUP);
  g_autofree char *partial = g_strconcat (name, ".partial", NULL);

  g_unlink (partial);
  if (!copy_into (db, partial, error))
    {
      g_unlink (partial);
      return NULL;
    }
  if (g_rename (partial, name) != 0)
    {
      fail_file (name, errno, error);
      g_unlink (partial);
      return NULL;
    }
  prune_backups (path);
  return g_steal_pointer (&name);
}

static void
move_journal (const char *path, const char *to, const char *suffix)
{
  g_autofree char *journal = g_strconcat (path, suffix, NULL);
  g_autofree char *name = g_strconcat (to, suffix, NULL);

  g_rename (journal, name);
}

char *
qm_store_move_aside (const char *path, const GStatBuf *identity, GError **error)
{
  g_autofree char *name = dated_name (path, DAMAGED);
  GStatBuf now;

  if (g_stat (path, &now) != 0 || now.st_ino != identity->st_ino
      || now.st_dev != identity->st_dev)
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
                   _ ("Another program has just replaced “%s”; try again."),
                   path);
      return NULL;
    }
  /* The journal first: a new file must never find that of an old one. */
  move_journal (path, name, "-wal");
  move_journal (path, name, "-shm");
  move_journal (path, name, "-journal");
  if (g_rename (path, name) != 0)
    {
      fail_file (path, errno, error);
      return NULL;
    }
  return g_steal_pointer (&name);
}
