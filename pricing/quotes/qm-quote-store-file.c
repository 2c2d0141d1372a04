/* SPDX-License-Identifier: Apache-2.0 */

/* Writing the store's file and those beside it. */

#include "config.h"

#include "pricing/qm-order.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/* What is being written, until it gets its name. */
#define PARTIAL ".partial-"

/* Older than this, whoever was writing it has been killed. */
#define SWEEP_S 3600

/* Pages of a copy at a time, between which others may write. */
#define COPY_PAGES 4096

gboolean
qm_store_fail_file (const char *path, int code, GError **error)
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
  return FALSE;
}

gboolean
qm_store_create_folder (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  return g_mkdir_with_parents (folder, 0700) == 0
         || qm_store_fail_file (folder, errno, error);
}

/* What was renamed or linked in a folder is to outlast a power cut.  Not all
 * file systems can say so. */
static void
sync_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int file = g_open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

  if (file < 0)
    return;
  fsync (file);
  close (file);
}

/* Returns 0, or an errno. */
static int
write_whole (int file, const char *bytes, gsize size)
{
  gsize at = 0;

  while (at < size)
    {
      gssize n = write (file, bytes + at, MIN (size - at, 1 << 30));

      if (n < 0 && errno != EINTR)
        return errno;
      at += n > 0 ? (gsize) n : 0;
    }
  return fsync (file) == 0 ? 0 : errno;
}

/* Gives a file its name unless that is taken, which is no error.  Returns 0, or
 * an errno. */
static int
name_first (const char *temporary, const char *path)
{
  if (link (temporary, path) == 0 || errno == EEXIST)
    return unlink (temporary) == 0 ? 0 : errno;
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS)
    return errno;
  /* A file system without links. */
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return unlink (temporary) == 0 ? 0 : errno;
  return g_rename (temporary, path) == 0 ? 0 : errno;
}

gboolean
qm_store_publish (const char *path,
                  const void *bytes,
                  gsize size,
                  gboolean replace,
                  GError **error)
{
  g_autofree char *temporary = g_strconcat (path, PARTIAL "XXXXXX", NULL);
  /* What vendors offer is nobody else's business; SQLite gives the files
   * beside it the same mode. */
  int file = g_mkstemp_full (temporary, O_RDWR | O_CLOEXEC, 0600);
  int trouble;

  if (file < 0)
    return qm_store_fail_file (path, errno, error);
  trouble = write_whole (file, bytes, size);
  close (file);
  if (trouble == 0 && replace)
    trouble = g_rename (temporary, path) == 0 ? 0 : errno;
  else if (trouble == 0)
    trouble = name_first (temporary, path);
  if (trouble == 0)
    {
      sync_folder (path);
      return TRUE;
    }
  g_unlink (temporary);
  return qm_store_fail_file (path, trouble, error);
}

gboolean
qm_store_publish_store (const char *path,
                        QmQuoteStore *store,
                        gboolean replace,
                        GError **error)
{
  gsize size = 0;
  guchar *bytes = qm_store_serialize (store->db, &size);
  gboolean ok;

  if (bytes == NULL)
    return qm_store_fail_file (path, ENOMEM, error);
  ok = qm_store_publish (path, bytes, size, replace, error);
  sqlite3_free (bytes);
  return ok;
}

char *
qm_store_dated_name (const char *path, const char *what)
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

/* Whether the end of a name is one that qm_store_dated_name() gives: "2026...Z"
 * or "2026...Z-2", and not that of a journal or of a copy that is being made.
 */
static gboolean
is_date (const char *end)
{
  return strlen (end) >= strlen ("20261121T104559Z")
         && strspn (end, "0123456789") == 8 && end[8] == 'T'
         && strspn (end + 9, "0123456789") == 6 && end[15] == 'Z'
         && (end[16] == '\0'
             || (end[16] == '-' && end[17] != '\0'
                 && end[17 + strspn (end + 17, "0123456789")] == '\0'));
}

/* The full names of what lies beside a file and begins with its name and
 * `what`.  (transfer full) */
static GPtrArray *
list_beside (const char *path, const char *what)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *prefix = g_strconcat (base, what, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, prefix))
      g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  return names;
}

GPtrArray *
qm_store_list_dated (const char *path, const char *what)
{
  GPtrArray *names = list_beside (path, what);
  gsize length = strlen (path) + strlen (what);

  for (guint i = names->len; i > 0; i--)
    {
      const char *name = g_ptr_array_index (names, i - 1);

      if (strlen (name) < length || !is_date (name + length))
        g_ptr_array_remove_index (names, i - 1);
    }
  g_ptr_array_sort (names, qm_order_strings);
  return names;
}

void
qm_store_sweep (const char *path)
{
  static const char *const kinds[] = { PARTIAL, QM_STORE_BACKUP };
  gint64 old = g_get_real_time () / G_USEC_PER_SEC - SWEEP_S;

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    {
      g_autoptr (GPtrArray) names = list_beside (path, kinds[kind]);

      for (guint i = 0; i < names->len; i++)
        {
          const char *name = g_ptr_array_index (names, i);
          GStatBuf status;

          if (strstr (name + strlen (path), PARTIAL) != NULL
              && g_lstat (name, &status) == 0 && status.st_mtime < old)
            g_unlink (name);
        }
    }
}

static void
prune_backups (const char *path)
{
  g_autoptr (GPtrArray) names = qm_store_list_dated (path, QM_STORE_BACKUP);

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

/* Creates an empty file for this user alone. */
static gboolean
create_file (const char *path, GError **error)
{
  int file = g_open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  if (file < 0)
    return qm_store_fail_file (path, errno, error);
  close (file);
  return TRUE;
}

/* Copies into a file that does not exist yet. */
static gboolean
copy_into (sqlite3 *db, const char *name, GError **error)
{
  sqlite3 *copy = NULL;
  int result;

  if (!create_file (name, error))
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
qm_store_copy (sqlite3 *db, const char *path, gboolean prune, GError **error)
{
  g_autofree char *name = qm_store_dated_name (path, QM_STORE_BACKUP);
  g_autofree char *partial =
      g_strdup_printf ("%s" PARTIAL "%d", name, (int) getpid ());

  /* What one that was killed before it came to that has left. */
  if (prune)
    prune_backups (path);
  g_unlink (partial);
  if (!copy_into (db, partial, error))
    {
      g_unlink (partial);
      return NULL;
    }
  if (g_rename (partial, name) != 0)
    {
      qm_store_fail_file (name, errno, error);
      g_unlink (partial);
      return NULL;
    }
  sync_folder (path);
  if (prune)
    prune_backups (path);
  return g_steal_pointer (&name);
}
