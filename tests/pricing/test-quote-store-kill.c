/* SPDX-License-Identifier: Apache-2.0 */

/* Killed at any moment, a store holds whole quotes only, and all of those whose
 * writing had returned. */

#include "pricing/quotes/qm-quote-store-private.h"
#include "random-quote.h"
#include "stored.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLS        200
#define KILLS_A_FILE 20

/* What a quote was made of is in its number: "SEED/EDITION". */
static QmQuote *
make_quote (guint32 seed, guint32 edition)
{
  QmQuote *quote = random_quote (seed * 7919 + edition);

  g_free (quote->number);
  quote->number = g_strdup_printf ("%u/%u", seed, edition);
  g_free (quote->sha256);
  quote->sha256 = NULL;
  return quote;
}

/* What the child has done, written to the parent after each time. */
typedef struct
{
  gint64 id;
  guint32 seed;
  guint32 edition;
} Done;

/* Writes without an end: new quotes, and every third time a new edition of the
 * last one. */
static void
write_for_ever (const char *path, guint32 seed, int report)
{
  QmQuoteStore *store = qm_quote_store_open (path, NULL);
  Done done = { 0, seed, 0 };

  /* The parent knows that something is wrong by what is missing. */
  while (store != NULL)
    {
      QmQuote *quote;
      gboolean ok;

      if (done.id != 0 && done.seed % 3 == 0 && done.edition == 0)
        done.edition = 1;
      else
        done = (Done){ 0, done.seed + 1, 0 };
      quote = make_quote (done.seed, done.edition);
      quote->id = done.id;
      if (done.edition == 0)
        ok = (done.id = add_quote (store, quote, NULL, NULL, NULL)) > 0;
      else
        ok = qm_quote_store_update (store, quote, NULL, NULL);
      if (!ok || write (report, &done, sizeof done) != sizeof done)
        break;
      qm_quote_free (quote);
    }
  _exit (1);
}

/* Whether a stored quote is what its number says. */
static void
assert_whole (QmQuoteStore *store, gint64 id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) stored = qm_quote_store_get (store, id, &error);
  g_autoptr (QmQuote) expected = NULL;
  g_auto (GStrv) parts = NULL;

  g_assert_no_error (error);
  parts = g_strsplit (stored->number, "/", 2);
  expected = make_quote ((guint32) g_ascii_strtoull (parts[0], NULL, 10),
                         (guint32) g_ascii_strtoull (parts[1], NULL, 10));
  g_assert_true (qm_quote_equal (stored, expected));
}

/* All quotes since `first`; returns the id of the last one. */
static gint64
assert_all_whole (QmQuoteStore *store, gint64 first)
{
  gint64 last = 0;

  g_assert_true (qm_store_number (
      store, "SELECT ifnull (max (id), 0) FROM quotes", &last, NULL));
  /* What was rolled back has used up no number. */
  for (gint64 id = first; id <= last; id++)
    assert_whole (store, id);
  return last;
}

/* What had been reported is there, in that edition or a later one. */
static void
assert_kept (QmQuoteStore *store, int reports)
{
  Done done;

  while (read (reports, &done, sizeof done) == sizeof done)
    {
      g_autoptr (QmQuote) stored = qm_quote_store_get (store, done.id, NULL);
      guint seed = 0, edition = 0;

      g_assert_nonnull (stored);
      g_assert_cmpint (sscanf (stored->number, "%u/%u", &seed, &edition), ==,
                       2);
      g_assert_cmpuint (seed, ==, done.seed);
      g_assert_cmpuint (edition, >=, done.edition);
    }
}

/* Kills a writer: some at once, while it may still be opening the store, the
 * others some time after it has written something. */
static void
kill_one (const char *path, guint32 seed, GRand *random, int *reports)
{
  gboolean early = g_rand_int_range (random, 0, 5) == 0;
  gint32 wait = g_rand_int_range (random, 0, 6000);
  int ends[2], status;
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      close (ends[0]);
      write_for_ever (path, seed, ends[1]);
    }
  close (ends[1]);
  if (!early)
    {
      fd_set set;

      FD_ZERO (&set);
      FD_SET (ends[0], &set);
      g_assert_cmpint (select (ends[0] + 1, &set, NULL, NULL,
                               &(struct timeval){ 20, 0 }),
                       ==, 1);
    }
  g_usleep ((gulong) wait);
  g_assert_cmpint (kill (child, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  *reports = ends[0];
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_null (strstr (name, ".damaged-"));
      g_remove (path);
    }
  g_rmdir (folder);
}

/* Kills one writer after the other on one file, and looks at what they left.
 * Returns how many quotes that was. */
static gint64
kill_many (const char *path, guint32 first_seed, GRand *random)
{
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) error = NULL;
  gint64 last = 0, broken = -1;

  for (guint32 i = 0; i < KILLS_A_FILE; i++)
    {
      int reports;

      kill_one (path, (first_seed + i) * 100000, random, &reports);
      store = qm_quote_store_open (path, &error);
      g_assert_no_error (error);
      assert_kept (store, reports);
      last = assert_all_whole (store, last + 1);
      close (reports);
      g_clear_pointer (&store, qm_quote_store_close);
    }

  store = qm_quote_store_open (path, &error);
  g_assert_no_error (error);
  assert_all_whole (store, 1);
  g_assert_true (qm_store_number (store,
                                  "SELECT count (*) FROM pragma_integrity_check"
                                  " WHERE integrity_check <> 'ok'",
                                  &broken, NULL));
  g_assert_cmpint (broken, ==, 0);
  g_assert_true (qm_store_number (
      store, "SELECT count (*) FROM pragma_foreign_key_check", &broken, NULL));
  g_assert_cmpint (broken, ==, 0);
  return last;
}

/* A folder in memory where there is one: what a killed process leaves does not
 * depend on the disk, and the writers come further. */
static char *
make_folder (void)
{
  char *folder = g_strdup ("/dev/shm/quotes-XXXXXX");

  if (g_mkdtemp_full (folder, 0700) != NULL)
    return folder;
  g_free (folder);
  return g_dir_make_tmp ("quotes-XXXXXX", NULL);
}

static void
test_kill (void)
{
  GRand *random = g_rand_new_with_seed (9);
  gint64 quotes = 0;

  for (guint32 i = 0; i < KILLS; i += KILLS_A_FILE)
    {
      g_autofree char *folder = make_folder ();
      g_autofree char *path = g_build_filename (folder, "quotes.sqlite", NULL);

      quotes += kill_many (path, i + 1, random);
      remove_folder (folder);
    }
  g_rand_free (random);
  g_test_message ("%d kills left %d whole quotes", KILLS, (int) quotes);
  g_assert_cmpint (quotes, >=, KILLS / 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-store/kill", test_kill);
  return g_test_run ();
}
