/* SPDX-License-Identifier: Apache-2.0 */

/* What is not a store, what is a damaged one, and what is lost of it: nothing
 * that can still be read. */

#include "pricing/quotes/qm-quote-index.h"
#include "pricing/quotes/qm-quote-store-backup.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "store-folder.h"
#include "stored.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is no store is refused, by readers and writers, and nothing is made,
 * moved or changed. */
static void
assert_untouched (const StoreFolder *folder)
{
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  gsize size = 0, size_after = 0;
  guint n = count_files (folder->folder);

  g_assert_true (g_file_get_contents (folder->path, &before, &size, NULL));
  assert_refused (folder, QM_QUOTE_STORE_ERROR_FOREIGN);
  g_assert_true (g_file_get_contents (folder->path, &after, &size_after, NULL));
  g_assert_cmpmem (before, size, after, size_after);
  g_assert_cmpuint (count_files (folder->folder), ==, n);
}

static void
test_foreign (StoreFolder *folder, gconstpointer data)
{
  static const struct
  {
    const char *bytes;
    gssize size;
  } files[] = {
    { "", 0 },
    { "a", 1 },
    { "Dear diary, this is no database, and longer than its header: ......."
      "................................................................",
      -1 },
    { "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16 },
    { "SQLite format 3\0", 16 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_assert_true (g_file_set_contents (folder->path, files[i].bytes,
                                          files[i].size, NULL));
      assert_untouched (folder);
    }
  g_remove (folder->path);
  run_sql (folder->path, "CREATE TABLE bookmarks (id)");
  assert_untouched (folder);
  run_sql (folder->path, "PRAGMA user_version = 2");
  assert_untouched (folder);
  run_sql (folder->path, "PRAGMA application_id = 7;"
                         "CREATE TABLE quotes (id); CREATE TABLE lines (id)");
  assert_untouched (folder);
  run_sql (folder->path, "PRAGMA journal_mode = WAL; DROP TABLE quotes");
  assert_untouched (folder);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM bookmarks"), ==,
                   0);
}

/* Neither is a pipe waited for, nor a folder or a link to nothing taken for a
 * file. */
static void
test_no_file (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *target = g_build_filename (folder->folder, "none", NULL);

  g_assert_cmpint (mkfifo (folder->path, 0600), ==, 0);
  assert_refused (folder, QM_QUOTE_STORE_ERROR_FOREIGN);
  g_assert_cmpint (g_remove (folder->path), ==, 0);
  g_assert_cmpint (g_mkdir (folder->path, 0700), ==, 0);
  assert_refused (folder, QM_QUOTE_STORE_ERROR_FOREIGN);
  g_assert_cmpint (g_rmdir (folder->path), ==, 0);
  g_assert_cmpint (symlink (target, folder->path), ==, 0);
  assert_refused (folder, QM_QUOTE_STORE_ERROR_ABSENT);
  g_assert_cmpuint (count_files (folder->folder), ==, 1);
}

/* What somebody else keeps under a name that replacing uses is left alone. */
static void
test_names (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *taken = g_strconcat (folder->path, ".replacing", NULL);
  g_autofree char *content = NULL;
  g_autoptr (QmQuoteStore) store = NULL;

  fill (folder->path, 1);
  g_assert_true (g_file_set_contents (taken, "mine", -1, NULL));
  store = open_store (folder->path);
  g_assert_cmpint (count_quotes (store), ==, 1);
  g_clear_pointer (&store, qm_quote_store_close);
  store = qm_quote_store_open_read (folder->path, NULL);
  g_assert_cmpint (count_quotes (store), ==, 1);
  g_assert_true (g_file_get_contents (taken, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "mine");
}

/* A link stays one, and what lies beside the store lies beside the file. */
static void
test_link (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *real = g_build_filename (folder->folder, "real", NULL);
  g_autofree char *file = g_build_filename (real, "file", NULL);
  g_autoptr (QmQuoteStore) store = NULL;
  g_autofree char *backup = NULL;

  g_assert_cmpint (g_mkdir (real, 0700), ==, 0);
  fill (file, 2);
  g_assert_cmpint (symlink (file, folder->path), ==, 0);
  store = open_store (folder->path);
  g_assert_cmpstr (qm_quote_store_path (store), ==, file);
  backup = back_up (store, NULL);
  g_assert_true (g_str_has_prefix (backup, real));
  g_clear_pointer (&store, qm_quote_store_close);
  break_a_page (file);
  store = open_store (folder->path);
  g_assert_true (g_file_test (folder->path, G_FILE_TEST_IS_SYMLINK));
  g_assert_cmpuint (count_files (folder->folder), ==, 2);
}

static void
test_backups (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *first = NULL;
  g_autofree char *last = NULL;
  g_autofree char *kept = g_strconcat (folder->path, ".backup-of-my-own", NULL);
  g_autoptr (QmQuoteStore) store = NULL;

  fill (folder->path, 5);
  g_assert_true (g_file_set_contents (kept, "x", 1, NULL));
  store = open_store (folder->path);
  first = back_up (store, NULL);
  g_assert_cmpint (query (first, "SELECT count (*) FROM lines"), ==, 50);
  for (int i = 0; i < QM_QUOTE_STORE_BACKUPS; i++)
    {
      g_free (last);
      last = back_up (store, NULL);
    }
  g_assert_cmpuint (count_names (folder, ".backup-2"), ==,
                    QM_QUOTE_STORE_BACKUPS);
  g_assert_false (g_file_test (first, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (last, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (kept, G_FILE_TEST_EXISTS));
  /* A backup is a store. */
  g_clear_pointer (&store, qm_quote_store_close);
  store = open_store (last);
  g_assert_nonnull (store);
}

/* Asks for a quote as SQL has it. */
static gboolean
is_readable (sqlite3 *db, gint64 id)
{
  g_autofree char *sql = g_strdup_printf (
      "SELECT *, (SELECT count (*) FROM lines WHERE quote = %" G_GINT64_FORMAT
      ") FROM quotes WHERE id = %" G_GINT64_FORMAT,
      id, id);
  sqlite3_stmt *row = NULL;
  gboolean readable = sqlite3_prepare_v2 (db, sql, -1, &row, NULL) == SQLITE_OK
                      && sqlite3_step (row) == SQLITE_ROW;

  sqlite3_finalize (row);
  return readable;
}

/* The ids that SQL can still read in a copy of a file.  (transfer full) */
static GArray *
list_readable (const StoreFolder *folder, const char *bytes, gsize size)
{
  g_autofree char *copy = g_build_filename (folder->folder, "oracle", NULL);
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  sqlite3 *db = NULL;

  g_assert_true (g_file_set_contents (copy, bytes, (gssize) size, NULL));
  g_assert_cmpint (sqlite3_open (copy, &db), ==, SQLITE_OK);
  for (gint64 id = 1; id <= 60; id++)
    if (is_readable (db, id))
      g_array_append_val (ids, id);
  sqlite3_close (db);
  g_remove (copy);
  return ids;
}

/* A reader gets what is readable and is told, and leaves the file as it is; a
 * writer keeps it, puts what is readable in its place and tells that until it
 * is accepted. */
static void
assert_salvaged (const StoreFolder *folder, const char *bytes, gsize size)
{
  g_autoptr (GArray) ids = list_readable (folder, bytes, size);
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GPtrArray) damages = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *kept = NULL;
  g_autoptr (QmQuoteStore) reader =
      qm_quote_store_open_read (folder->path, &error);
  g_autoptr (QmQuoteStore) store = NULL;
  gsize kept_size;

  g_assert_no_error (error);
  g_assert_nonnull (qm_quote_store_trouble (reader));
  g_test_message ("%s", qm_quote_store_trouble (reader));
  g_assert_cmpuint (count_files (folder->folder), ==, 1);
  store = open_store (folder->path);
  for (guint i = 0; i < ids->len; i++)
    {
      gint64 id = g_array_index (ids, gint64, i);
      g_autoptr (QmQuote) seen = qm_quote_store_get (reader, id, &error);
      g_autoptr (QmQuote) salvaged = qm_quote_store_get (store, id, &error);

      g_assert_no_error (error);
      g_assert_true (qm_quote_equal (seen, salvaged));
    }
  names = names_with (folder, ".damaged-");
  /* The file, and the word about it. */
  g_assert_cmpuint (names->len, ==, 2);
  damages = qm_quote_store_damages (folder->path);
  g_assert_cmpuint (damages->len, ==, 1);
  {
    const QmStoreDamage *damage = g_ptr_array_index (damages, 0);

    g_test_message ("%s", damage->text);
    g_assert_true (g_file_get_contents (damage->path, &kept, &kept_size, NULL));
  }
  g_assert_cmpmem (kept, kept_size, bytes, size);
  g_clear_pointer (&store, qm_quote_store_close);
  store = open_store (folder->path);
  g_clear_pointer (&damages, g_ptr_array_unref);
  damages = qm_quote_store_damages (folder->path);
  g_assert_cmpuint (damages->len, ==, 1);
  g_assert_true (qm_quote_store_accept_damages (folder->path, NULL));
  g_clear_pointer (&damages, g_ptr_array_unref);
  damages = qm_quote_store_damages (folder->path);
  g_assert_cmpuint (damages->len, ==, 0);
}

static void
test_damaged (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *whole = NULL;
  g_autofree char *template =
      g_build_filename (folder->folder, "template", NULL);
  gsize size;

  fill (template, 60);
  g_assert_true (g_file_get_contents (template, &whole, &size, NULL));
  g_assert_cmpuint (size, >, 40000);
  g_remove (template);

  for (int kind = 0; kind < 4; kind++)
    {
      g_autofree char *bytes = g_memdup2 (whole, size);
      gsize length = size;

      switch (kind)
        {
        case 0: /* cut off */
          length = size / 2;
          break;
        case 1: /* cut off within the first page */
          length = 2000;
          break;
        case 2: /* a page of garbage */
          memset (bytes + 4096, 0xa5, 4096);
          break;
        case 3: /* garbage in many pages, the first one whole */
          for (gsize at = 3 * 4096; at + 4096 < size; at += 2 * 4096)
            memset (bytes + at, 0x0f, 4096);
          break;
        default:
          g_assert_not_reached ();
        }
      g_assert_true (
          g_file_set_contents (folder->path, bytes, (gssize) length, NULL));
      assert_salvaged (folder, bytes, length);
      tear_down (folder, NULL);
      set_up (folder, NULL);
    }
}

/* The header gone, it is known no more, and left alone; a backup beside it can
 * still be brought back. */
static void
test_no_header (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *backup = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  fill (folder->path, 5);
  store = open_store (folder->path);
  backup = back_up (store, NULL);
  g_clear_pointer (&store, qm_quote_store_close);
  g_assert_true (g_file_get_contents (folder->path, &bytes, &size, NULL));
  memset (bytes, 0, 100);
  g_assert_true (
      g_file_set_contents (folder->path, bytes, (gssize) size, NULL));
  assert_untouched (folder);
  g_assert_true (qm_quote_store_restore_backup (folder->path, backup, &error));
  g_assert_no_error (error);
  store = open_store (folder->path);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM quotes"), ==, 5);
  g_assert_cmpuint (count_names (folder, ".damaged-"), ==, 1);
}

/* Reads what lists and plots are made of. */
static void
read_everything (QmQuoteStore *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteIndex) index = qm_quote_index_new (store, NULL, &error);
  g_autoptr (GPtrArray) history =
      qm_quote_store_price_history (store, NULL, "a6000", NULL);
  QmQuoteFilter filter = { .search = "config" };

  g_assert_true ((index == NULL) == (error != NULL));
  for (int sort = 0; index != NULL && sort < QM_N_QUOTE_SORTS; sort++)
    g_ptr_array_unref (qm_quote_index_quotes (
        index, &filter, (QmQuoteSort) sort, FALSE, 0, 10, NULL));
}

/* Flipped bytes may go unnoticed at first, but nothing may crash or go on
 * without an end. */
static void
test_flipped (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *whole = NULL;
  g_autofree char *template =
      g_build_filename (folder->folder, "template", NULL);
  GRand *random = g_rand_new_with_seed (5);
  gsize size;

  fill (template, 20);
  g_assert_true (g_file_get_contents (template, &whole, &size, NULL));
  for (int round = 0; round < 60; round++)
    {
      g_autofree char *bytes = g_memdup2 (whole, size);
      g_autoptr (QmQuoteStore) store = NULL;
      g_autoptr (GError) error = NULL;

      for (int i = 0; i < 1 + round / 4; i++)
        bytes[g_rand_int_range (random, 100, (gint32) size)] ^=
            (char) (1 << g_rand_int_range (random, 0, 8));
      g_assert_true (
          g_file_set_contents (folder->path, bytes, (gssize) size, NULL));
      store = qm_quote_store_open (folder->path, &error);
      g_assert_true ((store == NULL) == (error != NULL));
      for (gint64 id = 1; store != NULL && id <= 20; id++)
        {
          g_autoptr (GError) reason = NULL;
          g_autoptr (QmQuote) quote = qm_quote_store_get (store, id, &reason);

          g_assert_true ((quote == NULL) == (reason != NULL));
        }
      if (store != NULL)
        read_everything (store);
    }
  g_rand_free (random);
}

/* Lets a child write quotes and end without closing its store, so that they are
 * in the journal only. */
static int
leave_a_journal (const char *path, int n)
{
  QmQuoteStore *store = qm_quote_store_open (path, NULL);

  for (guint32 seed = 100; store != NULL && seed < 100 + (guint) n; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 10);

      if (add_quote (store, quote, NULL, NULL, NULL) <= 0)
        return 1;
    }
  return store == NULL;
}

/* A journal of which a byte is wrong is noticed, where SQLite passes over all
 * that was committed behind that byte. */
static void
test_damaged_journal (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *wal = g_strconcat (folder->path, "-wal", NULL);
  g_autofree char *journal = NULL;
  g_autofree char *kept = NULL;
  g_autofree char *moved = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmQuoteStore) reader = NULL;
  g_autoptr (GPtrArray) damages = NULL;
  const QmStoreDamage *damage;
  gsize size, kept_size;

  fill (folder->path, 3);
  finish (start (leave_a_journal, folder->path, 8));
  reader = qm_quote_store_open_read (folder->path, NULL);
  g_assert_null (qm_quote_store_trouble (reader));
  g_assert_cmpint (count_quotes (reader), ==, 11);
  g_clear_pointer (&reader, qm_quote_store_close);

  g_assert_true (g_file_get_contents (wal, &journal, &size, NULL));
  journal[size / 2] ^= 0x10;
  g_assert_true (g_file_set_contents (wal, journal, (gssize) size, NULL));
  reader = qm_quote_store_open_read (folder->path, NULL);
  g_assert_nonnull (qm_quote_store_trouble (reader));
  store = open_store (folder->path);
  g_assert_cmpint (count_quotes (store), >, 3);
  g_assert_cmpint (count_quotes (store), ==, count_quotes (reader));
  damages = qm_quote_store_damages (folder->path);
  g_assert_cmpuint (damages->len, ==, 1);
  damage = g_ptr_array_index (damages, 0);
  moved = g_strconcat (damage->path, "-wal", NULL);
  g_assert_true (g_file_get_contents (moved, &kept, &kept_size, NULL));
  g_assert_cmpmem (kept, kept_size, journal, size);
}

/* Who is killed between the head and the page of a transaction's last frame
 * leaves a head above some other page, and the next writer what is behind that;
 * neither is damage, and all that was committed is there. */
static void
test_killed_journal (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *wal = g_strconcat (folder->path, "-wal", NULL);
  g_autofree char *journal = NULL;
  gsize size, frame;

  fill (folder->path, 3);
  finish (start (leave_a_journal, folder->path, 8));
  g_assert_true (g_file_get_contents (wal, &journal, &size, NULL));
  frame = 24 + ((gsize) (guchar) journal[10] << 8) + (guchar) journal[11];
  g_assert_cmpuint ((size - 32) % frame, ==, 0);
  for (int behind = 0; behind < 2; behind++)
    {
      /* The last frame again, which nothing leads to. */
      g_autofree char *left = g_malloc0 (size + 2 * frame);
      g_autoptr (QmQuoteStore) reader = NULL;
      gsize end = size + (gsize) behind * frame;

      memcpy (left, journal, size);
      memcpy (left + end, journal + size - frame, frame);
      left[end + frame - 1] ^= 0x10;
      g_assert_true (
          g_file_set_contents (wal, left, (gssize) (end + frame), NULL));
      reader = qm_quote_store_open_read (folder->path, NULL);
      g_assert_cmpstr (qm_quote_store_trouble (reader), ==, NULL);
      g_assert_cmpint (count_quotes (reader), ==, 11);
    }
}

/* Readers leave nothing behind, whoever else has the store open. */
static void
test_readers (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) reader = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmQuote) quote = plausible_quote (7, 10);
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_quote_store_open_read (folder->path, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_ABSENT);
  g_clear_error (&error);
  g_assert_cmpuint (count_files (folder->folder), ==, 0);
  fill (folder->path, 3);
  g_assert_cmpuint (count_files (folder->folder), ==, 1);
  reader = qm_quote_store_open_read (folder->path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (count_quotes (reader), ==, 3);
  g_assert_cmpuint (count_files (folder->folder), ==, 1);
  g_assert_cmpint (add_quote (reader, quote, NULL, NULL, &error), ==, 0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_READ_ONLY);
  g_clear_pointer (&reader, qm_quote_store_close);

  /* What is in the journal only is read, and the writer's lock is no matter. */
  store = open_store (folder->path);
  g_assert_cmpint (add_quote (store, quote, NULL, NULL, NULL), >, 0);
  g_assert_true (qm_store_execute (store, "BEGIN EXCLUSIVE", NULL));
  reader = qm_quote_store_open_read (folder->path, NULL);
  g_assert_cmpint (count_quotes (reader), ==, 4);
  g_assert_true (qm_store_execute (store, "ROLLBACK", NULL));
  g_clear_pointer (&reader, qm_quote_store_close);
  g_clear_pointer (&store, qm_quote_store_close);

  /* An older one is brought up to date in memory only. */
  g_remove (folder->path);
  make_version_1 (folder);
  reader = qm_quote_store_open_read (folder->path, NULL);
  g_assert_cmpint (count_quotes (reader), ==, 3);
  g_assert_cmpint (query (folder->path, "PRAGMA user_version"), ==, 1);
  g_assert_cmpuint (count_files (folder->folder), ==, 1);
}

/* What was deleted long ago is nowhere any more. */
static void
test_erased (StoreFolder *folder, gconstpointer data)
{
  static const char secret[] = "Confidential Computing of Zwiesel";
  g_autoptr (QmQuoteStore) store = open_store (folder->path);
  g_autoptr (QmQuote) quote = plausible_quote (7, 10);
  g_autoptr (QmQuote) other = plausible_quote (8, 10);
  g_autoptr (GError) error = NULL;
  g_autofree char *backup = NULL;
  gint64 id;

  g_free (quote->vendor);
  quote->vendor = g_strdup (secret);
  g_free (quote->note);
  quote->note = g_strdup (secret);
  id = add_quote (store, quote, NULL, NULL, NULL);
  g_assert_cmpint (add_quote (store, other, NULL, NULL, NULL), >, 0);
  backup = back_up (store, NULL);
  g_assert_true (qm_quote_store_delete (store, id, NULL));
  g_assert_cmpuint (count_files_with (folder->folder, secret), >=, 2);

  /* A day later it can still be restored ... */
  g_assert_true (qm_quote_store_maintain (store, &error));
  g_assert_true (qm_quote_store_restore (store, id, NULL));
  g_assert_true (qm_quote_store_delete (store, id, NULL));
  /* ... and a month later it is gone. */
  g_assert_true (qm_store_execute (
      store, "UPDATE quotes SET deleted_at = deleted_at - 31 * 86400", NULL));
  g_assert_true (qm_quote_store_maintain (store, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count_files_with (folder->folder, secret), ==, 0);
  g_assert_cmpint (count_quotes (store), ==, 1);
  g_assert_cmpint (query (backup, "SELECT count (*) FROM quotes"), ==, 1);

  /* Or at once. */
  g_assert_true (qm_quote_store_erase (store, id + 1, &error));
  g_assert_cmpint (query (backup, "SELECT count (*) FROM quotes"), ==, 0);
  g_assert_false (qm_quote_store_erase (store, id + 1, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (StoreFolder *folder, gconstpointer data);
  } tests[] = {
    { "foreign", test_foreign },
    { "no-file", test_no_file },
    { "names", test_names },
    { "link", test_link },
    { "backups", test_backups },
    { "damaged", test_damaged },
    { "no-header", test_no_header },
    { "flipped", test_flipped },
    { "damaged-journal", test_damaged_journal },
    { "killed-journal", test_killed_journal },
    { "readers", test_readers },
    { "erased", test_erased },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path =
          g_strconcat ("/quote-store-damage/", tests[i].name, NULL);

      g_test_add (path, StoreFolder, NULL, set_up, tests[i].test, tear_down);
    }
  return g_test_run ();
}
