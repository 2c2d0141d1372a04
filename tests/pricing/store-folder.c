/* SPDX-License-Identifier: Apache-2.0 */

/* For memmem(). */
#define _GNU_SOURCE

#include "store-folder.h"
#include "stored.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void
set_up (StoreFolder *folder, gconstpointer data)
{
  /* In memory where there is such a place: what a killed process leaves does
   * not depend on the disk, and tests come further. */
  folder->folder = g_strdup ("/dev/shm/quotes-XXXXXX");
  if (g_mkdtemp_full (folder->folder, 0700) == NULL)
    {
      g_free (folder->folder);
      folder->folder = g_dir_make_tmp ("quotes-XXXXXX", NULL);
    }
  folder->path = g_build_filename (folder->folder, "quotes.sqlite", NULL);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_remove (path);
}

void
tear_down (StoreFolder *folder, gconstpointer data)
{
  remove_tree (folder->folder);
  g_free (folder->folder);
  g_free (folder->path);
}

GPtrArray *
names_with (const StoreFolder *folder, const char *word)
{
  g_autoptr (GDir) dir = g_dir_open (folder->folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (strstr (name, word) != NULL && !g_str_has_suffix (name, "-shm")
        && !g_str_has_suffix (name, "-wal"))
      g_ptr_array_add (names, g_build_filename (folder->folder, name, NULL));
  return names;
}

guint
count_names (const StoreFolder *folder, const char *word)
{
  g_autoptr (GPtrArray) names = names_with (folder, word);

  return names->len;
}

guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

guint
count_files_with (const char *folder, const char *bytes)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *content = NULL;
      gsize size;

      g_assert_true (g_file_get_contents (path, &content, &size, NULL));
      n += memmem (content, size, bytes, strlen (bytes)) != NULL;
    }
  return n;
}

gint64
count_quotes (QmQuoteStore *store)
{
  gint64 n = -1;

  g_assert_true (
      qm_store_number (store, "SELECT count (*) FROM quotes", &n, NULL));
  return n;
}

void
break_a_page (const char *path)
{
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  memset (bytes + 4096, 0xa5, 4096);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
}

QmQuoteStore *
open_store (const char *path)
{
  g_autoptr (GError) error = NULL;
  QmQuoteStore *store = qm_quote_store_open (path, &error);

  g_assert_no_error (error);
  return store;
}

void
assert_refused (const StoreFolder *folder, int code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_quote_store_open (folder->path, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, code);
  g_assert_nonnull (strstr (error->message, "quotes.sqlite"));
  g_test_message ("%s", error->message);
  if (code != QM_QUOTE_STORE_ERROR_FOREIGN
      && code != QM_QUOTE_STORE_ERROR_NEWER)
    return;
  g_clear_error (&error);
  g_assert_null (qm_quote_store_open_read (folder->path, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, code);
}

void
run_sql (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  char *message = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  sqlite3_exec (db, sql, NULL, NULL, &message);
  g_assert_cmpstr (message, ==, NULL);
  sqlite3_close (db);
}

gint64
query (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  gint64 number;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==,
                   SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  number = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return number;
}

void
fill (const char *path, guint n)
{
  g_autoptr (QmQuoteStore) store = open_store (path);

  for (guint32 seed = 1; seed <= n; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 10);

      g_assert_cmpint (add_quote (store, quote, NULL, NULL, NULL), >, 0);
    }
}

void
make_version_1 (const StoreFolder *folder)
{
  g_autofree char *sql = NULL;
  g_autofree char *name =
      g_test_build_filename (G_TEST_DIST, "quotes-1.sql", NULL);

  g_assert_true (g_file_get_contents (name, &sql, NULL, NULL));
  run_sql (folder->path, sql);
}

pid_t
start (int (*what) (const char *path, int argument),
       const char *path,
       int argument)
{
  pid_t child = fork ();

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (what (path, argument));
  return child;
}

void
finish (pid_t child)
{
  int status;

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}
