/* SPDX-License-Identifier: Apache-2.0 */

/* The store's file: where it cannot be used, what becomes of an older or newer
 * one, and several programs at once. */

#include "pricing/quotes/qm-quote-index.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "store-folder.h"
#include "stored.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
test_created (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *deep =
      g_build_filename (folder->folder, "a", "b", "quotes.sqlite", NULL);
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
assert_migrated (const StoreFolder *folder)
{
  g_autoptr (QmQuoteStore) store = open_store (folder->path);
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
  g_assert_cmpint (add_quote (store, first, NULL, &already, NULL), ==, 1);
  g_assert_true (already);
  g_assert_cmpint (add_quote (store, third, NULL, &already, NULL), ==, 3);
  g_assert_true (already);
}

static void
test_migration (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (GPtrArray) backups = NULL;
  const char *backup;

  make_version_1 (folder);
  assert_migrated (folder);
  g_assert_cmpint (query (folder->path, "PRAGMA user_version"), ==,
                   QM_STORE_VERSION);

  backups = names_with (folder, ".backup-");
  g_assert_cmpuint (backups->len, ==, 1);
  backup = g_ptr_array_index (backups, 0);
  g_assert_cmpint (query (backup, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (query (backup, "SELECT count (*) FROM quotes"), ==, 3);

  /* Once is enough. */
  assert_migrated (folder);
  g_assert_cmpuint (count_names (folder, ".backup-"), ==, 1);
  /* The tables are those of a file that was made now. */
  {
    static const char sql[] =
        "SELECT (SELECT count (*) FROM pragma_table_info ('quotes'))"
        "  + 1000 * (SELECT count (*) FROM pragma_table_info ('lines'))";
    g_autofree char *fresh =
        g_build_filename (folder->folder, "fresh.sqlite", NULL);

    fill (fresh, 1);
    g_assert_cmpint (query (folder->path, sql), ==, query (fresh, sql));
  }
}

/* A migration that fails leaves the old version, and its backup. */
static void
test_migration_fails (StoreFolder *folder, gconstpointer data)
{
  make_version_1 (folder);
  run_sql (folder->path, "CREATE TABLE watched (in_the_way)");
  assert_refused (folder, QM_QUOTE_STORE_ERROR_IO);
  g_assert_cmpint (query (folder->path, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (query (folder->path,
                          "SELECT count (*) FROM pragma_table_info ('quotes')"
                          " WHERE name = 'deleted_at'"),
                   ==, 0);
  run_sql (folder->path, "DROP TABLE watched");
  assert_migrated (folder);
}

static void
test_newer (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *sql =
      g_strdup_printf ("PRAGMA user_version = %d", QM_STORE_VERSION + 1);

  fill (folder->path, 1);
  run_sql (folder->path, sql);
  assert_refused (folder, QM_QUOTE_STORE_ERROR_NEWER);
  g_assert_cmpint (query (folder->path, "PRAGMA user_version"), ==,
                   QM_STORE_VERSION + 1);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM quotes"), ==, 1);
}

static void
test_full (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (QmQuote) large = plausible_quote (1000, 3000);
  g_autoptr (QmQuote) small = plausible_quote (1, 10);
  g_autoptr (QmQuote) stored = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *limit = NULL;
  gint64 pages;

  fill (folder->path, 5);
  store = open_store (folder->path);
  g_assert_true (qm_store_number (store, "PRAGMA page_count", &pages, NULL));
  limit = g_strdup_printf ("PRAGMA max_page_count = %d", (int) pages + 5);
  g_assert_true (qm_store_number (store, limit, &pages, NULL));
  g_assert_cmpint (add_quote (store, large, NULL, NULL, &error), ==, 0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FULL);
  g_assert_nonnull (strstr (error->message, "quotes.sqlite"));
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM lines"), ==, 50);
  stored = qm_quote_store_get (store, 1, NULL);
  g_assert_true (qm_quote_equal (stored, small));

  /* With space again, it goes on. */
  g_assert_true (
      qm_store_number (store, "PRAGMA max_page_count = 100000", &pages, NULL));
  g_assert_cmpint (add_quote (store, large, NULL, NULL, NULL), >, 0);
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

/* Reading needs no more than reading. */
static int
read_without_rights (const char *path, int n)
{
  g_autoptr (QmQuoteStore) store = NULL;

  if (geteuid () == 0 && (setgid (NOBODY) != 0 || setuid (NOBODY) != 0))
    return 1;
  store = qm_quote_store_open_read (path, NULL);
  return store == NULL || count_quotes (store) != n;
}

static void
test_read_only (StoreFolder *folder, gconstpointer data)
{
  g_autofree char *below =
      g_build_filename (folder->path, "quotes.sqlite", NULL);

  /* No file yet, in a folder that may not be written. */
  g_assert_cmpint (g_chmod (folder->folder, 0555), ==, 0);
  finish (start (open_without_rights, folder->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  /* A file that may only be read. */
  g_assert_cmpint (g_chmod (folder->folder, 0755), ==, 0);
  fill (folder->path, 1);
  g_assert_cmpint (g_chmod (folder->path, 0444), ==, 0);
  finish (start (open_without_rights, folder->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  /* A file that may be written, but nothing beside it. */
  g_assert_cmpint (g_chmod (folder->path, 0666), ==, 0);
  g_assert_cmpint (g_chmod (folder->folder, 0555), ==, 0);
  finish (start (open_without_rights, folder->path,
                 QM_QUOTE_STORE_ERROR_READ_ONLY));
  finish (start (read_without_rights, folder->path, 1));
  /* A folder that is a file. */
  finish (start (open_without_rights, below, QM_QUOTE_STORE_ERROR_IO));
  g_assert_cmpint (g_chmod (folder->folder, 0755), ==, 0);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM quotes"), ==, 1);
  g_assert_cmpuint (count_names (folder, ".damaged-"), ==, 0);
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
  if (add_quote (store, large, NULL, NULL, &error) != 0)
    return 2;
  return error->domain == QM_QUOTE_STORE_ERROR ? 0 : 3;
}

static void
test_write_fails (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = NULL;

  fill (folder->path, 3);
  finish (start (write_to_the_limit, folder->path, 0));
  store = open_store (folder->path);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM lines"), ==, 30);
  g_assert_cmpuint (count_names (folder, ".damaged-"), ==, 0);
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

      if (add_quote (store, quote, NULL, NULL, &error) == 0)
        break;
    }
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  return error != NULL;
}

static void
test_writers (StoreFolder *folder, gconstpointer data)
{
  pid_t children[WRITERS];
  g_autoptr (QmQuoteStore) store = NULL;

  /* They all find no file, and one of them makes it. */
  for (int i = 0; i < WRITERS; i++)
    children[i] = start (write_quotes, folder->path, i);
  for (int i = 0; i < WRITERS; i++)
    finish (children[i]);
  store = open_store (folder->path);
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM quotes"), ==,
                   EACH / 2 + WRITERS * (EACH / 2));
  g_assert_cmpint (query (folder->path, "SELECT count (*) FROM lines"), ==,
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
test_migrators (StoreFolder *folder, gconstpointer data)
{
  pid_t children[WRITERS];

  make_version_1 (folder);
  for (int i = 0; i < WRITERS; i++)
    children[i] = start (just_open, folder->path, 0);
  for (int i = 0; i < WRITERS; i++)
    finish (children[i]);
  g_assert_cmpuint (count_names (folder, ".backup-"), ==, 1);
  assert_migrated (folder);
}

/* Several programs find a damaged store: one of them mends it, once, and
 * nothing is lost that any of them writes. */
static void
test_menders (StoreFolder *folder, gconstpointer data)
{
  pid_t children[WRITERS];

  fill (folder->path, 60);
  break_a_page (folder->path);
  for (int i = 0; i < WRITERS; i++)
    children[i] = start (write_quotes, folder->path, i);
  for (int i = 0; i < WRITERS; i++)
    finish (children[i]);
  /* The file, and the word about it. */
  g_assert_cmpuint (count_names (folder, ".damaged-"), ==, 2);
  g_assert_cmpuint (count_names (folder, ".replacing"), ==, 0);
  g_assert_cmpint (query (folder->path, "SELECT count (DISTINCT id) FROM quotes"
                                        " WHERE id > 60"),
                   >=, WRITERS * (EACH / 2));
}

static QmQuoteStore *
open_beside (const QmQuoteStore *store)
{
  return qm_quote_store_open_again (qm_quote_store_path (store),
                                    qm_quote_store_is_read_only (store), NULL);
}

/* Two windows: each sees what the other one does. */
static void
test_two_windows (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) one = open_store (folder->path);
  g_autoptr (QmQuoteStore) two = open_beside (one);
  g_autoptr (QmQuote) quote = plausible_quote (1, 3);
  g_autoptr (QmQuote) seen = NULL;
  guint64 before = qm_quote_store_changes (two);
  gint64 id = add_quote (one, quote, NULL, NULL, NULL);

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

/* Whoever asked for it has closed its own meanwhile. */
static void
test_opened_later (StoreFolder *folder, gconstpointer data)
{
  QmQuoteStore *first = open_store (folder->path);
  g_autofree char *path = g_strdup (qm_quote_store_path (first));
  g_autoptr (QmQuote) quote = plausible_quote (1, 3);
  g_autoptr (QmQuoteStore) writes = NULL;
  g_autoptr (QmQuoteStore) reads = NULL;
  g_autoptr (GError) error = NULL;

  qm_quote_store_close (first);
  writes = qm_quote_store_open_again (path, FALSE, &error);
  g_assert_no_error (error);
  g_assert_false (qm_quote_store_is_read_only (writes));
  g_assert_cmpint (add_quote (writes, quote, NULL, NULL, NULL), >, 0);
  reads = qm_quote_store_open_again (path, TRUE, &error);
  g_assert_no_error (error);
  g_assert_true (qm_quote_store_is_read_only (reads));
  g_assert_cmpuint (count_quotes (reads), ==, 1);
  g_assert_cmpint (add_quote (reads, quote, NULL, NULL, NULL), ==, 0);
}

/* Reads lists while another thread writes; returns how many were read. */
static gpointer
read_lists (gpointer data)
{
  g_autoptr (QmQuoteStore) store = open_beside (data);
  QmQuoteFilter filter = { 0 };
  guint n = 0, n_quotes = 0;

  g_assert_nonnull (store);
  while (n_quotes < 50)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmQuoteIndex) index = qm_quote_index_new (store, NULL, &error);
      g_autoptr (GPtrArray) rows = NULL;

      g_assert_no_error (error);
      rows = qm_quote_index_quotes (index, &filter, QM_QUOTE_SORT_ADDED, FALSE,
                                    0, G_MAXUINT, NULL);
      g_assert_cmpuint (rows->len, >=, n_quotes);
      n_quotes = rows->len;
      /* Each quote has ten lines, or is not there yet. */
      for (gint64 id = 1; id <= n_quotes; id++)
        g_assert_cmpuint (qm_quote_index_get (index, id)->n_lines, ==, 10);
      n++;
    }
  return GUINT_TO_POINTER (n);
}

static void
test_threads (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) store = open_store (folder->path);
  GThread *reader = g_thread_new ("reader", read_lists, store);

  for (guint32 seed = 1; seed <= 50; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 10);

      g_assert_cmpint (add_quote (store, quote, NULL, NULL, NULL), >, 0);
    }
  g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (reader)), >, 0);
}

static void
test_busy (StoreFolder *folder, gconstpointer data)
{
  g_autoptr (QmQuoteStore) one = open_store (folder->path);
  g_autoptr (QmQuoteStore) two = open_beside (one);
  g_autoptr (QmQuote) quote = plausible_quote (1, 3);
  g_autoptr (GError) error = NULL;

  sqlite3_busy_timeout (two->db, 20);
  g_assert_true (qm_store_execute (one, "BEGIN IMMEDIATE", NULL));
  g_assert_cmpint (add_quote (two, quote, NULL, NULL, &error), ==, 0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY);
  g_assert_true (qm_store_execute (one, "COMMIT", NULL));
  g_assert_cmpint (add_quote (two, quote, NULL, NULL, NULL), >, 0);
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
    void (*test) (StoreFolder *folder, gconstpointer data);
  } tests[] = {
    { "created", test_created },
    { "migration", test_migration },
    { "migration-fails", test_migration_fails },
    { "newer", test_newer },
    { "full", test_full },
    { "read-only", test_read_only },
    { "write-fails", test_write_fails },
    { "writers", test_writers },
    { "migrators", test_migrators },
    { "menders", test_menders },
    { "two-windows", test_two_windows },
    { "opened-later", test_opened_later },
    { "threads", test_threads },
    { "busy", test_busy },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path =
          g_strconcat ("/quote-store-file/", tests[i].name, NULL);

      g_test_add (path, StoreFolder, NULL, set_up, tests[i].test, tear_down);
    }
  g_test_add_func ("/quote-store-file/default-path", test_default_path);
  return g_test_run ();
}
