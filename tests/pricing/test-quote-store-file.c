/* SPDX-License-Identifier: Apache-2.0 */

/* The store's file: where it cannot be used, what becomes of it, and of an
 * older or newer or damaged one. */

#include "pricing/quotes/qm-quote-index.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "pricing/quotes/qm-quote-store-private.h"
#include "random-quote.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  char *folder;
  char *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("quotes-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, "quotes.sqlite", NULL);
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

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_tree (fixture->folder);
  g_free (fixture->folder);
  g_free (fixture->path);
}

/* The names in the folder that contain a word, but no journals.
 * (transfer full) */
static GPtrArray *
names_with (const Fixture *fixture, const char *word)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (strstr (name, word) != NULL && !g_str_has_suffix (name, "-shm")
        && !g_str_has_suffix (name, "-wal"))
      g_ptr_array_add (names, g_build_filename (fixture->folder, name, NULL));
  return names;
}

static guint
count_names (const Fixture *fixture, const char *word)
{
  g_autoptr (GPtrArray) names = names_with (fixture, word);

  return names->len;
}

static QmQuoteStore *
open_store (const char *path)
{
  g_autoptr (GError) error = NULL;
  QmQuoteStore *store = qm_quote_store_open (path, &error);

  g_assert_no_error (error);
  return store;
}

/* Opening fails with that code and a sentence that names the file. */
static void
assert_refused (const Fixture *fixture, int code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_quote_store_open (fixture->path, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, code);
  g_assert_nonnull (strstr (error->message, "quotes.sqlite"));
  g_test_message ("%s", error->message);
}

/* Runs SQL on a file that is not open as a store. */
static void
run_sql (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  char *message = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  sqlite3_exec (db, sql, NULL, NULL, &message);
  g_assert_cmpstr (message, ==, NULL);
  sqlite3_close (db);
}

static gint64
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

static void
fill (const char *path, guint n)
{
  g_autoptr (QmQuoteStore) store = open_store (path);

  for (guint32 seed = 1; seed <= n; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 10);

      g_assert_cmpint (qm_quote_store_add (store, quote, NULL, NULL, NULL), >,
                       0);
    }
}

static void
make_version_1 (const Fixture *fixture)
{
  g_autofree char *sql = NULL;
  g_autofree char *name =
      g_test_build_filename (G_TEST_DIST, "quotes-1.sql", NULL);

  g_assert_true (g_file_get_contents (name, &sql, NULL, NULL));
  run_sql (fixture->path, sql);
}

static void
test_created (Fixture *fixture, gconstpointer data)
{
  g_autofree char *deep =
      g_build_filename (fixture->folder, "a", "b", "quotes.sqlite", NULL);
  g_autoptr (QmQuoteStore) store = open_store (deep);
  GStatBuf status;

  g_assert_cmpint (g_stat (deep, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 0777, ==, 0600);
  g_assert_cmpstr (qm_quote_store_path (store), ==, deep);
  g_assert_cmpint (query (deep, "PRAGMA user_version"), ==, QM_STORE_VERSION);
  g_assert_cmpint (
      query (deep, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), ==,
      1);
}

static void
assert_migrated (const Fixture *fixture)
{
  g_autoptr (QmQuoteStore) store = open_store (fixture->path);
  g_autoptr (QmQuote) first = qm_quote_store_get (store, 1, NULL);
  g_autoptr (QmQuote) third = qm_quote_store_get (store, 3, NULL);
  g_autoptr (QmQuote) fourth = qm_quote_store_get (store, 4, NULL);
  g_autoptr (GPtrArray) documents = qm_quote_store_attachments (store, 1, NULL);
  g_autoptr (GPtrArray) same = qm_quote_store_attachments (store, 4, NULL);
  g_autoptr (QmRates) rates = qm_quote_store_get_rates (store, NULL);
  const QmQuoteLine *line = g_ptr_array_index (first->lines, 0);
  const QmQuoteAttachment *document = g_ptr_array_index (documents, 0);
  const QmQuoteAttachment *again = g_ptr_array_index (same, 0);
  gboolean already = FALSE;
  gsize n;

  g_assert_cmpstr (first->vendor, ==, "Delta Computing");
  g_assert_cmpint (first->payable_minor, ==, 3020000);
  g_assert_cmpint (first->discount_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (first->tax_included, ==, QM_NO);
  g_assert_cmpint (first->valid_until.day, ==, 30);
  g_assert_cmpuint (first->lines->len, ==, 2);
  g_assert_cmpint (line->price_micros, ==, 30000000000);
  g_assert_cmpuint (first->findings->len, ==, 1);
  g_assert_cmpstr (third->vendor, ==, "Königsweg");
  g_assert_cmpint (third->issued_on.day, ==, 0);
  g_assert_cmpint (fourth->kind, ==, QM_PRICE_CLOUD);
  g_assert_null (fourth->vendor);
  g_assert_cmpstr (document->name, ==, "q-1.xml");
  g_assert_cmpuint (g_bytes_get_size (document->bytes), ==, 3);
  g_assert_cmpstr (again->name, ==, "again.xml");
  g_assert_true (g_bytes_equal (again->bytes, document->bytes));
  qm_rates_list (rates, &n);
  g_assert_cmpuint (n, ==, 2);

  /* What tells documents apart has been worked out for the old quotes. */
  g_assert_cmpint (qm_quote_store_add (store, first, NULL, &already, NULL), ==,
                   1);
  g_assert_true (already);
  g_assert_cmpint (qm_quote_store_add (store, third, NULL, &already, NULL), ==,
                   3);
  g_assert_true (already);
}

static void
test_migration (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GPtrArray) backups = NULL;
  const char *backup;

  make_version_1 (fixture);
  assert_migrated (fixture);
  g_assert_cmpint (query (fixture->path, "PRAGMA user_version"), ==,
                   QM_STORE_VERSION);

  backups = names_with (fixture, ".backup-");
  g_assert_cmpuint (backups->len, ==, 1);
  backup = g_ptr_array_index (backups, 0);
  g_assert_cmpint (query (backup, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (query (backup, "SELECT count (*) FROM quotes"), ==, 3);

  /* Once is enough. */
  assert_migrated (fixture);
  g_assert_cmpuint (count_names (fixture, ".backup-"), ==, 1);
  /* The tables are those of a file that was made now. */
  {
    static const char sql[] =
        "SELECT (SELECT count (*) FROM pragma_table_info ('quotes'))"
        "  + 1000 * (SELECT count (*) FROM pragma_table_info ('lines'))";
    g_autofree char *fresh =
        g_build_filename (fixture->folder, "fresh.sqlite", NULL);

    fill (fresh, 1);
    g_assert_cmpint (query (fixture->path, sql), ==, query (fresh, sql));
  }
}

/* A migration that fails leaves the old version, and its backup. */
static void
test_migration_fails (Fixture *fixture, gconstpointer data)
{
  make_version_1 (fixture);
  run_sql (fixture->path, "CREATE TABLE watched (in_the_way)");
  assert_refused (fixture, QM_QUOTE_STORE_ERROR_IO);
  g_assert_cmpint (query (fixture->path, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (query (fixture->path,
                          "SELECT count (*) FROM pragma_table_info ('quotes')"
                          " WHERE name = 'deleted_at'"),
                   ==, 0);
  run_sql (fixture->path, "DROP TABLE watched");
  assert_migrated (fixture);
}

static void
test_newer (Fixture *fixture, gconstpointer data)
{
  fill (fixture->path, 1);
  run_sql (fixture->path, "PRAGMA user_version = 99");
  assert_refused (fixture, QM_QUOTE_STORE_ERROR_NEWER);
  g_assert_cmpint (query (fixture->path, "PRAGMA user_version"), ==, 99);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM quotes"), ==,
                   1);
}

static void
test_foreign (Fixture *fixture, gconstpointer data)
{
  run_sql (fixture->path, "CREATE TABLE bookmarks (id)");
  assert_refused (fixture, QM_QUOTE_STORE_ERROR_FOREIGN);
  run_sql (fixture->path, "PRAGMA user_version = 2");
  assert_refused (fixture, QM_QUOTE_STORE_ERROR_FOREIGN);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM bookmarks"), ==,
                   0);
  g_assert_cmpuint (count_names (fixture, "quotes"), ==, 1);
}

static void
test_backups (Fixture *fixture, gconstpointer data)
{
  g_autofree char *first = NULL;
  g_autofree char *last = NULL;
  g_autofree char *kept =
      g_strconcat (fixture->path, ".backup-of-my-own", NULL);
  g_autoptr (QmQuoteStore) store = NULL;

  fill (fixture->path, 5);
  g_assert_true (g_file_set_contents (kept, "x", 1, NULL));
  store = open_store (fixture->path);
  first = qm_quote_store_backup (store, NULL);
  g_assert_cmpint (query (first, "SELECT count (*) FROM lines"), ==, 50);
  for (int i = 0; i < QM_QUOTE_STORE_BACKUPS; i++)
    {
      g_free (last);
      last = qm_quote_store_backup (store, NULL);
    }
  g_assert_cmpuint (count_names (fixture, ".backup-2"), ==,
                    QM_QUOTE_STORE_BACKUPS);
  g_assert_false (g_file_test (first, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (last, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (kept, G_FILE_TEST_EXISTS));
  /* A backup is a store. */
  g_clear_pointer (&store, qm_quote_store_close);
  store = open_store (last);
  g_assert_nonnull (store);
}

/* Moved aside as it was, said once, and then an empty store. */
static void
assert_moved_aside (const Fixture *fixture, const char *bytes, gsize size)
{
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *kept = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  gsize kept_size;

  assert_refused (fixture, QM_QUOTE_STORE_ERROR_DAMAGED);
  g_assert_false (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
  names = names_with (fixture, ".damaged-");
  g_assert_cmpuint (names->len, ==, 1);
  g_assert_true (g_file_get_contents (g_ptr_array_index (names, 0), &kept,
                                      &kept_size, NULL));
  g_assert_cmpmem (kept, kept_size, bytes, size);
  store = open_store (fixture->path);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM quotes"), ==,
                   0);
  g_remove (g_ptr_array_index (names, 0));
}

static void
test_damaged (Fixture *fixture, gconstpointer data)
{
  g_autofree char *whole = NULL;
  g_autofree char *template =
      g_build_filename (fixture->folder, "template", NULL);
  gsize size;

  fill (template, 60);
  g_assert_true (g_file_get_contents (template, &whole, &size, NULL));
  g_assert_cmpuint (size, >, 40000);

  for (int kind = 0; kind < 5; kind++)
    {
      g_autofree char *bytes = g_memdup2 (whole, size);
      gsize length = size;

      switch (kind)
        {
        case 0: /* not a database at all */
          length = 5000;
          memset (bytes, 'A', length);
          break;
        case 1: /* cut off */
          length = size / 2;
          break;
        case 2: /* cut off within the header */
          length = 60;
          break;
        case 3: /* a page of garbage */
          memset (bytes + 4096, 0xa5, 4096);
          break;
        case 4: /* garbage in many pages, the first one whole */
          for (gsize at = 3 * 4096; at + 4096 < size; at += 2 * 4096)
            memset (bytes + at, 0x0f, 4096);
          break;
        default:
          g_assert_not_reached ();
        }
      g_assert_true (
          g_file_set_contents (fixture->path, bytes, (gssize) length, NULL));
      assert_moved_aside (fixture, bytes, length);
      tear_down (fixture, NULL);
      set_up (fixture, NULL);
    }
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
    g_ptr_array_unref (qm_quote_index_lines (index, &filter, (QmQuoteSort) sort,
                                             FALSE, 0, 10, NULL));
}

/* Flipped bytes may go unnoticed at first, but nothing may crash or go on
 * without an end. */
static void
test_flipped (Fixture *fixture, gconstpointer data)
{
  g_autofree char *whole = NULL;
  g_autofree char *template =
      g_build_filename (fixture->folder, "template", NULL);
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
          g_file_set_contents (fixture->path, bytes, (gssize) size, NULL));
      store = qm_quote_store_open (fixture->path, &error);
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

/* The journal of a damaged file goes with it. */
static void
test_damaged_journal (Fixture *fixture, gconstpointer data)
{
  g_autofree char *wal = g_strconcat (fixture->path, "-wal", NULL);
  g_autofree char *moved = NULL;
  g_autofree char *journal = NULL;
  g_autoptr (GPtrArray) names = NULL;

  g_assert_true (g_file_set_contents (fixture->path,
                                      "garbage that is long "
                                      "enough to be a header "
                                      "of a database but none"
                                      "................",
                                      -1, NULL));
  g_assert_true (g_file_set_contents (wal, "journal", -1, NULL));
  assert_refused (fixture, QM_QUOTE_STORE_ERROR_DAMAGED);
  g_assert_false (g_file_test (wal, G_FILE_TEST_EXISTS));
  names = names_with (fixture, ".damaged-");
  g_assert_cmpuint (names->len, ==, 1);
  moved = g_strconcat (g_ptr_array_index (names, 0), "-wal", NULL);
  g_assert_true (g_file_get_contents (moved, &journal, NULL, NULL));
  g_assert_cmpstr (journal, ==, "journal");
}

static void
test_full (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmQuote) large = plausible_quote (1000, 3000);
  g_autoptr (QmQuote) small = plausible_quote (1, 10);
  g_autoptr (QmQuote) stored = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *limit = NULL;
  gint64 pages;

  fill (fixture->path, 5);
  store = open_store (fixture->path);
  g_assert_true (qm_store_number (store, "PRAGMA page_count", &pages, NULL));
  limit = g_strdup_printf ("PRAGMA max_page_count = %d", (int) pages + 5);
  g_assert_true (qm_store_number (store, limit, &pages, NULL));
  g_assert_cmpint (qm_quote_store_add (store, large, NULL, NULL, &error), ==,
                   0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FULL);
  g_assert_nonnull (strstr (error->message, "quotes.sqlite"));
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM lines"), ==,
                   50);
  stored = qm_quote_store_get (store, 1, NULL);
  g_assert_true (qm_quote_equal (stored, small));

  /* With space again, it goes on. */
  g_assert_true (
      qm_store_number (store, "PRAGMA max_page_count = 100000", &pages, NULL));
  g_assert_cmpint (qm_quote_store_add (store, large, NULL, NULL, NULL), >, 0);
}

/* Runs `what` in another process; it returns 0 where all is well. */
static pid_t
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

static void
finish (pid_t child)
{
  int status;

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

#define NOBODY 65534

/* Opening fails with one of two codes. */
static int
open_without_rights (const char *path, int code)
{
  g_autoptr (GError) error = NULL;

  if (geteuid () == 0 && (setgid (NOBODY) != 0 || setuid (NOBODY) != 0))
    return 1;
  if (qm_quote_store_open (path, &error) != NULL)
    return 2;
  return g_error_matches (error, QM_QUOTE_STORE_ERROR, code)
                 || g_error_matches (error, QM_QUOTE_STORE_ERROR,
                                     QM_QUOTE_STORE_ERROR_IO)
             ? 0
             : 3;
}

static void
test_read_only (Fixture *fixture, gconstpointer data)
{
  g_autofree char *below =
      g_build_filename (fixture->path, "quotes.sqlite", NULL);

  /* No file yet, in a folder that may not be written. */
  g_assert_cmpint (g_chmod (fixture->folder, 0555), ==, 0);
  finish (start (open_without_rights, fixture->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  /* A file that may only be read. */
  g_assert_cmpint (g_chmod (fixture->folder, 0755), ==, 0);
  fill (fixture->path, 1);
  g_assert_cmpint (g_chmod (fixture->path, 0444), ==, 0);
  finish (start (open_without_rights, fixture->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  /* A file that may be written, but nothing beside it. */
  g_assert_cmpint (g_chmod (fixture->path, 0666), ==, 0);
  g_assert_cmpint (g_chmod (fixture->folder, 0555), ==, 0);
  finish (start (open_without_rights, fixture->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  /* A folder that is a file. */
  finish (start (open_without_rights, below, QM_QUOTE_STORE_ERROR_IO));
  g_assert_cmpint (g_chmod (fixture->folder, 0755), ==, 0);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM quotes"), ==,
                   1);
  g_assert_cmpuint (count_names (fixture, ".damaged-"), ==, 0);
}

/* Writes until the process may not make files any larger. */
static int
write_to_the_limit (const char *path, int argument)
{
  struct rlimit limit = { 200000, 200000 };
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);
  g_autoptr (QmQuote) large = plausible_quote (1000, 3000);
  g_autoptr (GError) error = NULL;

  signal (SIGXFSZ, SIG_IGN);
  if (store == NULL || setrlimit (RLIMIT_FSIZE, &limit) != 0)
    return 1;
  if (qm_quote_store_add (store, large, NULL, NULL, &error) != 0)
    return 2;
  return error->domain == QM_QUOTE_STORE_ERROR ? 0 : 3;
}

static void
test_write_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = NULL;

  fill (fixture->path, 3);
  finish (start (write_to_the_limit, fixture->path, 0));
  store = open_store (fixture->path);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM lines"), ==,
                   30);
  g_assert_cmpuint (count_names (fixture, ".damaged-"), ==, 0);
}

#define WRITERS 3
#define EACH    60

/* Adds quotes of which half are the same for all writers. */
static int
write_quotes (const char *path, int writer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, &error);

  for (int i = 0; store != NULL && i < EACH; i++)
    {
      guint32 seed = (guint32) (i % 2 == 0 ? i : 1000 * (writer + 1) + i);
      g_autoptr (QmQuote) quote = plausible_quote (seed, 5);

      if (qm_quote_store_add (store, quote, NULL, NULL, &error) == 0)
        break;
    }
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  return error != NULL;
}

static void
test_writers (Fixture *fixture, gconstpointer data)
{
  pid_t children[WRITERS];
  g_autoptr (QmQuoteStore) store = NULL;

  /* They all find no file, and one of them makes it. */
  for (int i = 0; i < WRITERS; i++)
    children[i] = start (write_quotes, fixture->path, i);
  for (int i = 0; i < WRITERS; i++)
    finish (children[i]);
  store = open_store (fixture->path);
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM quotes"), ==,
                   EACH / 2 + WRITERS * (EACH / 2));
  g_assert_cmpint (query (fixture->path, "SELECT count (*) FROM lines"), ==,
                   5 * (EACH / 2 + WRITERS * (EACH / 2)));
  g_assert_cmpuint (qm_quote_store_changes (store), ==, WRITERS * EACH);
}

static int
just_open (const char *path, int argument)
{
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);

  return store == NULL;
}

static void
test_migrators (Fixture *fixture, gconstpointer data)
{
  pid_t children[WRITERS];

  make_version_1 (fixture);
  for (int i = 0; i < WRITERS; i++)
    children[i] = start (just_open, fixture->path, 0);
  for (int i = 0; i < WRITERS; i++)
    finish (children[i]);
  g_assert_cmpuint (count_names (fixture, ".backup-"), ==, 1);
  assert_migrated (fixture);
}

/* Two windows: each sees what the other one does. */
static void
test_two_windows (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteStore) one = open_store (fixture->path);
  g_autoptr (QmQuoteStore) two = qm_quote_store_open_again (one, NULL);
  g_autoptr (QmQuote) quote = plausible_quote (1, 3);
  g_autoptr (QmQuote) seen = NULL;
  guint64 before = qm_quote_store_changes (two);
  gint64 id = qm_quote_store_add (one, quote, NULL, NULL, NULL);

  g_assert_nonnull (two);
  g_assert_cmpuint (qm_quote_store_changes (two), !=, before);
  g_assert_cmpuint (qm_quote_store_changes (two), ==,
                    qm_quote_store_changes (one));
  seen = qm_quote_store_get (two, id, NULL);
  g_assert_true (qm_quote_equal (seen, quote));
  g_assert_true (qm_quote_store_delete (two, id, NULL));
  g_assert_false (qm_quote_store_delete (one, id, NULL));
  g_assert_true (qm_quote_store_restore (one, id, NULL));
}

/* Reads lists while another thread writes; returns how many were read. */
static gpointer
read_lists (gpointer data)
{
  const QmQuoteStore *shared = data;
  g_autoptr (QmQuoteStore) store = qm_quote_store_open_again (shared, NULL);
  guint n = 0, n_quotes = 0;

  g_assert_nonnull (store);
  while (n_quotes < 50)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmQuoteIndex) index = qm_quote_index_new (store, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (qm_quote_index_n_quotes (index), >=, n_quotes);
      n_quotes = qm_quote_index_n_quotes (index);
      /* Each quote has ten lines, or is not there yet. */
      g_assert_cmpuint (qm_quote_index_n_lines (index), ==, 10 * n_quotes);
      for (gint64 id = 1; id <= n_quotes; id++)
        g_assert_cmpuint (qm_quote_index_get (index, id)->n_lines, ==, 10);
      n++;
    }
  return GUINT_TO_POINTER (n);
}

static void
test_threads (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = open_store (fixture->path);
  GThread *reader = g_thread_new ("reader", read_lists, store);

  for (guint32 seed = 1; seed <= 50; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 10);

      g_assert_cmpint (qm_quote_store_add (store, quote, NULL, NULL, NULL), >,
                       0);
    }
  g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (reader)), >, 0);
}

static void
test_busy (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteStore) one = open_store (fixture->path);
  g_autoptr (QmQuoteStore) two = qm_quote_store_open_again (one, NULL);
  g_autoptr (QmQuote) quote = plausible_quote (1, 3);
  g_autoptr (GError) error = NULL;

  sqlite3_busy_timeout (two->db, 20);
  g_assert_true (qm_store_execute (one, "BEGIN IMMEDIATE", NULL));
  g_assert_cmpint (qm_quote_store_add (two, quote, NULL, NULL, &error), ==, 0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY);
  g_assert_true (qm_store_execute (one, "COMMIT", NULL));
  g_assert_cmpint (qm_quote_store_add (two, quote, NULL, NULL, NULL), >, 0);
}

static void
test_default_path (void)
{
  g_autofree char *path = NULL;

  g_setenv ("XDG_DATA_HOME", "/somewhere", TRUE);
  path = qm_quote_store_default_path ();
  g_assert_cmpstr (path, ==, "/somewhere/quartermaster/quotes.sqlite");
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "created", test_created },
    { "migration", test_migration },
    { "migration-fails", test_migration_fails },
    { "newer", test_newer },
    { "foreign", test_foreign },
    { "backups", test_backups },
    { "damaged", test_damaged },
    { "flipped", test_flipped },
    { "damaged-journal", test_damaged_journal },
    { "full", test_full },
    { "read-only", test_read_only },
    { "write-fails", test_write_fails },
    { "writers", test_writers },
    { "migrators", test_migrators },
    { "two-windows", test_two_windows },
    { "threads", test_threads },
    { "busy", test_busy },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path =
          g_strconcat ("/quote-store-file/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
    }
  g_test_add_func ("/quote-store-file/default-path", test_default_path);
  return g_test_run ();
}
