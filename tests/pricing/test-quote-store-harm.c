/* SPDX-License-Identifier: Apache-2.0 */

/* Killed at any moment of an import, a purge, a backup, a salvage or the
 * bringing back of a backup, and with bytes of its files overwritten, a store
 * loses no quote that SQL can still read, and no other file changes.
 *
 * QM_TEST_FULL=1 kills 300 times and overwrites 200 times. */

#include "pricing/quotes/qm-quote-store-backup.h"
#include "store-folder.h"
#include "stored.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUOTES 24
#define BATCH  3

static gboolean
is_full (void)
{
  return g_strcmp0 (g_getenv ("QM_TEST_FULL"), "1") == 0;
}

static int
many (int full)
{
  return is_full () ? full : full / 5;
}

/* --- what is beside the store and is to stay as it is --- */

static const char *const bystanders[] = { "notes.txt",
                                          "quotes.sqlite.backup-of-mine",
                                          "quotes.sqlite.damaged-report.txt",
                                          "quotes.sqlite-journal.old" };

static void
place_bystanders (const StoreFolder *folder)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bystanders); i++)
    {
      g_autofree char *path =
          g_build_filename (folder->folder, bystanders[i], NULL);

      g_assert_true (g_file_set_contents (path, bystanders[i], -1, NULL));
    }
}

static void
assert_bystanders (const StoreFolder *folder)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bystanders); i++)
    {
      g_autofree char *path =
          g_build_filename (folder->folder, bystanders[i], NULL);
      g_autofree char *content = NULL;

      g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
      g_assert_cmpstr (content, ==, bystanders[i]);
    }
}

/* --- quotes --- */

/* Quotes of one document, all of them of `seed`. */
static gboolean
import_batch (QmQuoteStore *store, guint32 seed)
{
  g_autofree char *text = g_strdup_printf ("document %u", seed);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (GPtrArray) documents = g_ptr_array_new_with_free_func (
      (GDestroyNotify) qm_quote_attachment_free);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GArray) ids = NULL;

  g_ptr_array_add (documents, qm_quote_attachment_new (bytes, text, NULL));
  for (guint32 i = 0; i < BATCH; i++)
    g_ptr_array_add (quotes, plausible_quote (seed * BATCH + i, 6));
  ids = qm_quote_store_add_all (store, quotes, documents, NULL, NULL);
  return ids != NULL;
}

static void
import_many (const char *path, guint32 first, guint32 n)
{
  g_autoptr (QmQuoteStore) store = open_store (path);

  for (guint32 i = 0; i < n; i++)
    g_assert_true (import_batch (store, first + i));
}

/* Without findings: that something was lost is told by one more. */
static QmQuote *
get_plain (QmQuoteStore *store, gint64 id)
{
  QmQuote *quote = qm_quote_store_get (store, id, NULL);

  if (quote != NULL)
    g_ptr_array_set_size (quote->findings, 0);
  return quote;
}

/* Every quote can be read, and has its lines. */
static void
assert_sound (QmQuoteStore *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) problems = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) all =
      qm_quote_store_get_all (store, FALSE, problems, NULL, &error);
  gint64 broken = -1;

  g_assert_no_error (error);
  g_assert_cmpuint (problems->len, ==, 0);
  for (guint i = 0; i < all->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (all, i);

      g_assert_cmpuint (quote->lines->len, ==, 6);
    }
  g_assert_true (qm_store_number (store,
                                  "SELECT count (*) FROM pragma_integrity_check"
                                  " WHERE integrity_check <> 'ok'",
                                  &broken, NULL));
  g_assert_cmpint (broken, ==, 0);
}

/* --- killing --- */

/* Says to the parent how far it is. */
static void
report (int to, gint64 number)
{
  if (write (to, &number, sizeof number) != sizeof number)
    _exit (1);
}

typedef void (*Victim) (const char *path, int to);

typedef struct
{
  GRand *random;
  int most_us; /* a process lives at most that long */
  int silent;  /* processes in a row that came to no report */
} Killer;

static void
killer_clear (Killer *killer)
{
  g_rand_free (killer->random);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Killer, killer_clear)

/* On a machine that is busy they need longer to come to something. */
static void
be_patient (Killer *killer, gboolean reported)
{
  killer->silent = reported ? 0 : killer->silent + 1;
  if (killer->silent < 3)
    return;
  killer->silent = 0;
  killer->most_us = MIN (killer->most_us * 2, 2000000);
}

/* Lets a process work and kills it at a random moment.  Returns its last
 * report; -1: none. */
static gint64
kill_at_random (Killer *killer, Victim victim, const char *path)
{
  gulong wait = (gulong) g_rand_int_range (killer->random, 0, killer->most_us);
  gint64 number, last = -1;
  int ends[2], status;
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      close (ends[0]);
      victim (path, ends[1]);
      _exit (0);
    }
  close (ends[1]);
  g_usleep (wait);
  kill (child, SIGKILL);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status)
                 || (WIFEXITED (status) && WEXITSTATUS (status) == 0));
  while (read (ends[0], &number, sizeof number) == sizeof number)
    last = number;
  close (ends[0]);
  be_patient (killer, last >= 0);
  return last;
}

static void
import_for_ever (const char *path, int to)
{
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);
  gint64 n;

  if (store == NULL
      || !qm_store_number (store, "SELECT count (*) FROM quotes", &n, NULL))
    _exit (1);
  for (guint32 batch = (guint32) n / BATCH;; batch++)
    {
      if (!import_batch (store, batch))
        _exit (1);
      report (to, batch);
    }
}

static void
test_import (StoreFolder *folder, gconstpointer data)
{
  g_auto (Killer) killer = { g_rand_new_with_seed (1), 10000, 0 };
  gint64 before = 0;

  place_bystanders (folder);
  for (int i = 0; i < many (100); i++)
    {
      gint64 last = kill_at_random (&killer, import_for_ever, folder->path);
      g_autoptr (QmQuoteStore) reader = NULL;
      g_autoptr (QmQuoteStore) store = NULL;
      guint n = count_files (folder->folder);
      gint64 quotes;

      reader = qm_quote_store_open_read (folder->path, NULL);
      g_assert_cmpuint (count_files (folder->folder), ==, n);
      g_assert_true (reader != NULL || last < 0);
      if (reader != NULL && qm_quote_store_trouble (reader) != NULL)
        g_error ("kill %d: %s", i, qm_quote_store_trouble (reader));
      store = open_store (folder->path);
      quotes = count_quotes (store);
      g_assert_cmpint (quotes % BATCH, ==, 0);
      g_assert_cmpint (quotes, >=, MAX (before, (last + 1) * BATCH));
      g_assert_true (reader == NULL || count_quotes (reader) == quotes);
      assert_sound (store);
      before = quotes;
    }
  g_assert_cmpint (before, >, 0);
  assert_bystanders (folder);
}

static void
erase_for_ever (const char *path, int to)
{
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);

  if (store == NULL)
    _exit (1);
  for (gint64 id = 1; id <= QUOTES; id++)
    {
      g_autoptr (QmQuote) quote = qm_quote_store_get (store, id, NULL);

      if (quote == NULL || id % 2 == 0)
        continue;
      if (!qm_quote_store_erase (store, id, NULL))
        _exit (1);
      report (to, id);
    }
}

/* Quotes with an even number stay, in the store and in its backups. */
static void
assert_even (const char *path, gint64 erased)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store = qm_quote_store_open_read (path, &error);

  g_assert_no_error (error);
  g_assert_null (qm_quote_store_trouble (store));
  for (gint64 id = 1; id <= QUOTES; id++)
    {
      g_autoptr (QmQuote) quote = qm_quote_store_get (store, id, NULL);

      if (id % 2 == 0)
        g_assert_nonnull (quote);
      else if (id <= erased)
        g_assert_null (quote);
    }
  assert_sound (store);
}

static void
test_erase (StoreFolder *folder, gconstpointer data)
{
  g_auto (Killer) killer = { g_rand_new_with_seed (2), 10000, 0 };

  for (int i = 0; i < many (50); i++)
    {
      g_autoptr (GPtrArray) backups = NULL;
      gint64 erased;

      if (i % 5 == 0)
        {
          tear_down (folder, NULL);
          set_up (folder, NULL);
          place_bystanders (folder);
          import_many (folder->path, 0, QUOTES / BATCH);
          for (int j = 0; j < 2; j++)
            {
              g_autoptr (QmQuoteStore) store = open_store (folder->path);
              g_autofree char *name = back_up (store, NULL);

              g_assert_nonnull (name);
            }
        }
      erased = kill_at_random (&killer, erase_for_ever, folder->path);
      assert_even (folder->path, erased);
      backups = qm_quote_store_backups (folder->path);
      g_assert_cmpuint (backups->len, ==, 2);
      for (guint j = 0; j < backups->len; j++)
        {
          const QmStoreBackup *backup = g_ptr_array_index (backups, j);

          g_assert_cmpstr (backup->trouble, ==, NULL);
          assert_even (backup->path, erased);
        }
      assert_bystanders (folder);
    }
}

static void
back_up_for_ever (const char *path, int to)
{
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);

  for (gint64 i = 0; store != NULL; i++)
    {
      g_autofree char *name = back_up (store, NULL);

      if (name == NULL)
        _exit (1);
      report (to, i);
    }
}

static void
test_backup (StoreFolder *folder, gconstpointer data)
{
  g_auto (Killer) killer = { g_rand_new_with_seed (3), 10000, 0 };

  place_bystanders (folder);
  import_many (folder->path, 0, QUOTES / BATCH);
  for (int i = 0; i < many (50); i++)
    {
      gint64 made = kill_at_random (&killer, back_up_for_ever, folder->path);
      g_autoptr (GPtrArray) backups = qm_quote_store_backups (folder->path);

      g_assert_cmpint (backups->len, >=,
                       MIN (made + 1, QM_QUOTE_STORE_BACKUPS));
      g_assert_cmpint (backups->len, <=, QM_QUOTE_STORE_BACKUPS + 1);
      for (guint j = 0; j < backups->len; j++)
        {
          const QmStoreBackup *backup = g_ptr_array_index (backups, j);

          g_assert_cmpstr (backup->trouble, ==, NULL);
          g_assert_cmpint (backup->n_quotes, ==, QUOTES);
        }
      assert_even (folder->path, 0);
    }
  assert_bystanders (folder);
}

/* The first backup has half of the quotes, the second one all. */
static void
restore_for_ever (const char *path, int to)
{
  g_autoptr (GPtrArray) backups = qm_quote_store_backups (path);

  for (guint i = 0;; i++)
    {
      /* Those that come from restoring are at the beginning. */
      const QmStoreBackup *backup =
          g_ptr_array_index (backups, backups->len - 1 - i % 2);

      if (!qm_quote_store_restore_backup (path, backup->path, NULL))
        _exit (1);
      report (to, i);
    }
}

static void
test_restore (StoreFolder *folder, gconstpointer data)
{
  g_auto (Killer) killer = { g_rand_new_with_seed (4), 10000, 0 };
  gboolean seen[2] = { FALSE, FALSE };

  place_bystanders (folder);
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (QmQuoteStore) store = NULL;
      g_autofree char *name = NULL;

      import_many (folder->path, (guint32) i * QUOTES / BATCH / 2,
                   QUOTES / BATCH / 2);
      store = open_store (folder->path);
      name = back_up (store, NULL);
      g_assert_nonnull (name);
    }
  for (int i = 0; i < many (50); i++)
    {
      g_autoptr (QmQuoteStore) store = NULL;

      kill_at_random (&killer, restore_for_ever, folder->path);
      store = open_store (folder->path);
      g_assert_true (count_quotes (store) == QUOTES
                     || count_quotes (store) == QUOTES / 2);
      seen[count_quotes (store) == QUOTES] = TRUE;
      assert_sound (store);
    }
  g_assert_true ((seen[0] && seen[1]) || !is_full ());
  assert_bystanders (folder);
}

static void
salvage_once (const char *path, int to)
{
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, NULL);

  if (store == NULL)
    _exit (1);
  report (to, 1);
}

/* Breaks the last page that is used: lines, so that all quotes stay. */
static void
break_lines (const char *path, char **bytes, gsize *size)
{
  gint64 page = query (path, "SELECT max (pageno) FROM dbstat"
                             " WHERE name = 'lines' AND pagetype = 'leaf'");

  g_assert_true (g_file_get_contents (path, bytes, size, NULL));
  memset (*bytes + (page - 1) * 4096, 0xa5, 4096);
  g_assert_true (g_file_set_contents (path, *bytes, (gssize) *size, NULL));
}

static void
assert_kept (const char *path, const char *bytes, gsize size)
{
  g_autoptr (GPtrArray) damages = qm_quote_store_damages (path);
  g_autofree char *kept = NULL;
  gsize kept_size;
  const QmStoreDamage *damage;

  g_assert_cmpuint (damages->len, ==, 1);
  damage = g_ptr_array_index (damages, 0);
  g_assert_true (g_file_get_contents (damage->path, &kept, &kept_size, NULL));
  g_assert_cmpmem (kept, kept_size, bytes, size);
}

static void
test_salvage (StoreFolder *folder, gconstpointer data)
{
  g_auto (Killer) killer = { g_rand_new_with_seed (5), 10000, 0 };
  g_autofree char *bytes = NULL;
  gsize size = 0;
  int ended = 0;

  for (int i = 0; i < many (50); i++)
    {
      if (i == 0 || ended > 0)
        {
          tear_down (folder, NULL);
          set_up (folder, NULL);
          place_bystanders (folder);
          import_many (folder->path, 0, QUOTES / BATCH);
          g_clear_pointer (&bytes, g_free);
          break_lines (folder->path, &bytes, &size);
        }
      ended = kill_at_random (&killer, salvage_once, folder->path) > 0;
      /* Also while it is half done. */
      {
        g_autoptr (QmQuoteStore) reader =
            qm_quote_store_open_read (folder->path, NULL);

        g_assert_cmpint (count_quotes (reader), ==, QUOTES);
      }
      if (ended || i % 4 == 3)
        {
          g_autoptr (QmQuoteStore) store = open_store (folder->path);

          g_assert_cmpint (count_quotes (store), ==, QUOTES);
          assert_kept (folder->path, bytes, size);
          ended = 1;
        }
      assert_bystanders (folder);
    }
}

/* --- overwriting --- */

/* The files of a store: itself and its journal. */
typedef struct
{
  char *bytes[2];
  gsize sizes[2];
  gboolean journal_cut; /* as if less had ever been written */
} Files;

static const char *const endings[] = { "", "-wal" };

static void
files_read (Files *files, const char *path)
{
  for (int i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strconcat (path, endings[i], NULL);

      if (!g_file_get_contents (name, &files->bytes[i], &files->sizes[i], NULL))
        files->bytes[i] = NULL;
    }
}

static void
files_write (const Files *files, const char *path)
{
  for (int i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strconcat (path, endings[i], NULL);

      if (files->bytes[i] != NULL)
        g_assert_true (g_file_set_contents (name, files->bytes[i],
                                            (gssize) files->sizes[i], NULL));
    }
}

static void
files_clear (Files *files)
{
  g_free (files->bytes[0]);
  g_free (files->bytes[1]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

static void
assert_files (const Files *files, const char *path)
{
  g_auto (Files) now = { 0 };

  files_read (&now, path);
  for (int i = 0; i < 2; i++)
    {
      g_assert_true ((now.bytes[i] == NULL) == (files->bytes[i] == NULL));
      if (now.bytes[i] != NULL)
        g_assert_cmpmem (now.bytes[i], now.sizes[i], files->bytes[i],
                         files->sizes[i]);
    }
}

/* Overwrites up to 300 bytes at a place, or cuts the file off there. */
static void
harm (Files *files, GRand *random)
{
  int which = files->bytes[1] != NULL && g_rand_boolean (random);
  gsize at = (gsize) g_rand_int_range (random, 0, (gint32) files->sizes[which]);
  gsize wanted = (gsize) g_rand_int_range (random, 1, 300);
  gsize n = MIN (wanted, files->sizes[which] - at);

  if (g_rand_int_range (random, 0, 8) == 0)
    {
      files->sizes[which] = at;
      files->journal_cut = which == 1;
    }
  else
    for (gsize i = 0; i < n; i++)
      files->bytes[which][at + i] = (char) g_rand_int (random);
}

static void
finalize_statement (gpointer statement)
{
  sqlite3_finalize (statement);
}

/* What plain SQL reads in a copy: quotes by their id, NULL where it cannot. */
static GPtrArray *
read_by_sql (const StoreFolder *folder, const Files *files)
{
  g_autofree char *copy = g_build_filename (folder->folder, "oracle", NULL);
  GPtrArray *quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  QmQuoteStore plain = {
    .path = copy,
    .statements = g_hash_table_new_full (NULL, NULL, NULL, finalize_statement),
  };

  files_write (files, copy);
  g_assert_cmpint (sqlite3_open (copy, &plain.db), ==, SQLITE_OK);
  g_ptr_array_set_size (quotes, QUOTES + 1);
  for (gint64 id = 1; id <= QUOTES; id++)
    g_ptr_array_index (quotes, id) = get_plain (&plain, id);
  g_hash_table_unref (plain.statements);
  sqlite3_close (plain.db);
  for (int i = 0; i < 3; i++)
    {
      static const char *const all[] = { "", "-wal", "-shm" };
      g_autofree char *name = g_strconcat (copy, all[i], NULL);

      g_remove (name);
    }
  return quotes;
}

static gboolean
has_line (const QmQuote *quote, const QmQuoteLine *line)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *one = g_ptr_array_index (quote->lines, i);

      if (g_strcmp0 (one->description, line->description) == 0
          && one->role == line->role
          && one->quantity_micros == line->quantity_micros
          && one->price_micros == line->price_micros
          && one->total_minor == line->total_minor)
        return TRUE;
    }
  return FALSE;
}

/* A broken tree may end too early for plain SQL, or lead past what is there,
 * and without a word: then more was salvaged. */
static gboolean
has_all_of (QmQuote *seen, const QmQuote *quote)
{
  g_autoptr (QmQuote) head = NULL;

  if (qm_quote_equal (seen, quote))
    return TRUE;
  for (guint i = 0; i < quote->lines->len; i++)
    if (!has_line (seen, g_ptr_array_index (quote->lines, i)))
      return FALSE;
  head = qm_quote_copy (quote);
  if (head->vendor == NULL)
    head->vendor = g_strdup (seen->vendor);
  g_ptr_array_set_size (head->lines, 0);
  g_ptr_array_set_size (seen->lines, 0);
  return qm_quote_equal (seen, head);
}

/* The same as plain SQL says, at least.  Returns how many that was. */
static guint
assert_nothing_lost (QmQuoteStore *store, const GPtrArray *expected)
{
  guint n = 0;

  for (gint64 id = 1; id <= QUOTES; id++)
    {
      const QmQuote *quote = g_ptr_array_index (expected, id);
      g_autoptr (QmQuote) seen = get_plain (store, id);

      if (quote == NULL)
        continue;
      g_assert_nonnull (seen);
      g_assert_true (has_all_of (seen, quote));
      n++;
    }
  return n;
}

/* What a reader and then a writer make of it.  Returns how many quotes both
 * read, -1 where it is no store any more. */
static int
try_files (const StoreFolder *folder, const Files *files)
{
  g_autoptr (GPtrArray) expected = read_by_sql (folder, files);
  g_autoptr (GPtrArray) damages = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) reader = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  gboolean troubled;
  guint n, n_files;

  files_write (files, folder->path);
  n_files = count_files (folder->folder);
  reader = qm_quote_store_open_read (folder->path, &error);
  assert_files (files, folder->path);
  g_assert_cmpuint (count_files (folder->folder), ==, n_files);
  store = qm_quote_store_open (folder->path, NULL);
  if (reader == NULL)
    {
      /* Left as it is, with all that is in it. */
      g_assert_null (store);
      assert_files (files, folder->path);
      g_assert_cmpuint (count_files (folder->folder), ==, n_files);
      return -1;
    }
  g_assert_nonnull (store);
  n = assert_nothing_lost (reader, expected);
  g_assert_cmpuint (assert_nothing_lost (store, expected), ==, n);
  damages = qm_quote_store_damages (folder->path);
  troubled = qm_quote_store_trouble (reader) != NULL;
  g_assert_cmpuint (damages->len, ==, troubled ? 1 : 0);
  if (troubled)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, 0);

      assert_files (files, damage->path);
    }
  /* Nothing goes without a word. */
  g_assert_true (n == QUOTES || troubled || files->journal_cut);
  return (int) n;
}

static int
import_and_end (const char *path, int argument)
{
  QmQuoteStore *store = qm_quote_store_open (path, NULL);

  for (guint32 batch = 4; store != NULL && batch < QUOTES / BATCH; batch++)
    if (!import_batch (store, batch))
      return 1;
  return store == NULL;
}

static void
test_overwritten (StoreFolder *folder, gconstpointer data)
{
  GRand *random = g_rand_new_with_seed (6);
  g_auto (Files) in_file = { 0 };
  g_auto (Files) in_journal = { 0 };
  int refused = 0, lost = 0;

  /* One with all in the file, one with half of it in the journal. */
  import_many (folder->path, 0, QUOTES / BATCH);
  files_read (&in_file, folder->path);
  tear_down (folder, NULL);
  set_up (folder, NULL);
  import_many (folder->path, 0, 4);
  finish (start (import_and_end, folder->path, 0));
  files_read (&in_journal, folder->path);
  g_assert_nonnull (in_journal.bytes[1]);

  for (int i = 0; i < many (200); i++)
    {
      g_auto (Files) files = { 0 };
      int n;

      tear_down (folder, NULL);
      set_up (folder, NULL);
      files_write (i % 2 == 0 ? &in_file : &in_journal, folder->path);
      files_read (&files, folder->path);
      place_bystanders (folder);
      harm (&files, random);
      n = try_files (folder, &files);
      assert_bystanders (folder);
      refused += n < 0;
      lost += n >= 0 && n < QUOTES;
    }
  g_test_message ("%d overwritten: %d no store any more, %d with losses",
                  many (200), refused, lost);
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (StoreFolder *folder, gconstpointer data);
  } tests[] = {
    { "import", test_import },   { "erase", test_erase },
    { "backup", test_backup },   { "restore", test_restore },
    { "salvage", test_salvage }, { "overwritten", test_overwritten },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path =
          g_strconcat ("/quote-store-harm/", tests[i].name, NULL);

      g_test_add (path, StoreFolder, NULL, set_up, tests[i].test, tear_down);
    }
  return g_test_run ();
}
