/* SPDX-License-Identifier: Apache-2.0 */

/* What the window says of a store that is damaged, or may not be written, and
 * the way back. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-backup.h"
#include "tests/pricing/stored.h"
#include "tests/ui/widgets.h"
#include "ui/quotes/qm-backups-window.h"
#include "ui/quotes/qm-store-bar.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (fixture->folder);
  g_free (fixture->folder);
  g_free (fixture->path);
}

static QmQuote *
make_quote (int number)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->number = g_strdup_printf ("Q-%d", number);
  g_strlcpy (quote->currency, "USD", sizeof quote->currency);
  line->description = g_strnfill (2000, 'x');
  return quote;
}

static void
add_quotes (const char *path, int n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteStore) store = qm_quote_store_open (path, &error);

  g_assert_no_error (error);
  for (int i = 0; i < n; i++)
    {
      g_autoptr (QmQuote) quote = make_quote (i);

      g_assert_cmpint (add_quote (store, quote, NULL, NULL, &error), >, 0);
    }
}

/* Overwrites a page in the middle. */
static void
damage (const char *path)
{
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  memset (bytes + size / 4096 / 2 * 4096, 0xa5, 4096);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
}

static QmQuoteBook *
open_book (const char *path)
{
  QmQuoteBook *book = qm_quote_book_new (widgets_keeper (), path);

  while (qm_quote_book_get_index (book) == NULL
         && qm_quote_book_get_problems (book)[0] == NULL)
    g_main_context_iteration (NULL, TRUE);
  widgets_settle ();
  return book;
}

static void
wait_for_problems (QmQuoteBook *book, gboolean some)
{
  while ((qm_quote_book_get_problems (book)[0] != NULL) != some)
    g_main_context_iteration (NULL, TRUE);
  widgets_settle ();
}

/* How many quotes the book lists. */
static guint
listed (QmQuoteBook *book)
{
  QmQuoteFilter filter = { 0 };
  g_autoptr (GPtrArray) rows =
      qm_quote_index_quotes (qm_quote_book_get_index (book), &filter,
                             QM_QUOTE_SORT_ADDED, FALSE, 0, G_MAXUINT, NULL);

  return rows->len;
}

static GtkWidget *
show_bar (QmQuoteBook *book)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *bar = g_object_new (QM_TYPE_STORE_BAR, NULL);

  /* A window of some height, whether the bar is there or not. */
  gtk_window_set_default_size (GTK_WINDOW (window), 360, 400);
  gtk_box_append (GTK_BOX (box), bar);
  gtk_window_set_child (GTK_WINDOW (window), box);
  qm_store_bar_set_book (QM_STORE_BAR (bar), book);
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  return window;
}

static void
close_all (GtkWidget *window, QmQuoteBook *book)
{
  gtk_window_destroy (GTK_WINDOW (window));
  qm_quote_book_close (book);
  widgets_settle ();
}

static const char *
bar_text (GtkWidget *window)
{
  GtkWidget *bar = widgets_find (window, QM_TYPE_STORE_BAR, 0);

  if (!gtk_widget_get_visible (bar))
    return "";
  return gtk_label_get_text (widgets_find (bar, GTK_TYPE_LABEL, 0));
}

static void
press (GtkWidget *window, const char *label)
{
  GtkWidget *button = widgets_find_button (window, label);

  g_assert_true (gtk_widget_get_visible (button));
  g_signal_emit_by_name (button, "clicked");
}

/* Told at every start, until it is accepted. */
static void
test_damaged (Fixture *fixture, gconstpointer data)
{
  add_quotes (fixture->path, 30);
  damage (fixture->path);
  for (int start = 0; start < 3; start++)
    {
      g_autoptr (QmQuoteBook) book = open_book (fixture->path);
      GtkWidget *window = show_bar (book);

      if (start < 2)
        {
          g_assert_nonnull (strstr (bar_text (window), "was damaged"));
          g_assert_nonnull (strstr (bar_text (window), "30 quotes"));
        }
      else
        g_assert_cmpstr (bar_text (window), ==, "");
      if (start == 1)
        {
          press (window, "Keep What Was Read");
          wait_for_problems (book, FALSE);
          g_assert_cmpstr (bar_text (window), ==, "");
        }
      g_assert_nonnull (qm_quote_book_get_index (book));
      close_all (window, book);
    }
}

static void
test_bring_back (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = NULL;
  GtkWidget *window;
  GtkWidget *backups;

  add_quotes (fixture->path, 3);
  {
    g_autoptr (QmQuoteStore) store = qm_quote_store_open (fixture->path, NULL);
    g_autofree char *name = back_up (store, NULL);

    g_assert_nonnull (name);
  }
  add_quotes (fixture->path, 27);
  damage (fixture->path);
  book = open_book (fixture->path);
  window = show_bar (book);
  backups = qm_backups_window_new (GTK_WINDOW (window), book);
  gtk_window_present (GTK_WINDOW (backups));
  gtk_test_widget_wait_for_draw (backups);
  widgets_find_button (backups, "Show File");
  press (backups, "Bring Back");
  wait_for_problems (book, FALSE);
  while (listed (book) != 3)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (bar_text (window), ==, "");
  gtk_window_destroy (GTK_WINDOW (backups));
  close_all (window, book);
}

/* Quotes that may not be changed count, and it is said; once they may be, the
 * next try finds out. */
static void
test_read_only (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = NULL;
  GtkWidget *window;

  add_quotes (fixture->path, 3);
  g_assert_cmpint (g_chmod (fixture->path, 0444), ==, 0);
  book = open_book (fixture->path);
  window = show_bar (book);
  g_assert_nonnull (strstr (bar_text (window), "may not be written"));
  g_assert_cmpuint (listed (book), ==, 3);
  g_assert_false (qm_quote_book_is_writable (book));
  g_assert_cmpint (g_chmod (fixture->path, 0600), ==, 0);
  press (window, "Try Again");
  wait_for_problems (book, FALSE);
  g_assert_true (qm_quote_book_is_writable (book));
  close_all (window, book);
}

/* From now on no file of this process can grow, as on a full disk; or else all
 * can again. */
static void
fill_disk (gboolean full)
{
  static struct rlimit before;
  struct rlimit limit;

  if (full)
    g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  if (full)
    limit.rlim_cur = 0;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
}

/* A disk that is full when the window opens: quotes count, and it is said that
 * they cannot be changed; once there is room, the next try finds out. */
static void
test_full_disk (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = NULL;
  GtkWidget *window;

  add_quotes (fixture->path, 3);
  fill_disk (TRUE);
  book = open_book (fixture->path);
  window = show_bar (book);
  fill_disk (FALSE);
  g_assert_nonnull (strstr (bar_text (window), fixture->path));
  g_assert_cmpuint (listed (book), ==, 3);
  g_assert_false (qm_quote_book_is_writable (book));
  press (window, "Try Again");
  wait_for_problems (book, FALSE);
  g_assert_true (qm_quote_book_is_writable (book));
  g_assert_cmpstr (bar_text (window), ==, "");
  close_all (window, book);
}

/* One that becomes full while it is open: what is not stored is told, and
 * nothing else is lost. */
static void
test_fills_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (QmQuoteBook) book = NULL;
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GArray) ids = NULL;
  g_autoptr (GError) error = NULL;
  GtkWidget *window;

  add_quotes (fixture->path, 3);
  book = open_book (fixture->path);
  window = show_bar (book);
  g_ptr_array_add (quotes, make_quote (4));
  fill_disk (TRUE);
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  fill_disk (FALSE);
  g_assert_null (ids);
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, fixture->path));
  g_clear_error (&error);
  g_assert_cmpuint (listed (book), ==, 3);

  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
  while (listed (book) != 4)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (bar_text (window), ==, "");
  close_all (window, book);
}

/* A file that is none of ours is left alone, and the advice without quotes says
 * so. */
static void
test_foreign (Fixture *fixture, gconstpointer data)
{
  g_autofree char *bytes = NULL;
  g_autoptr (QmQuoteBook) book = NULL;
  GtkWidget *window;

  g_assert_true (g_file_set_contents (fixture->path, "mine", -1, NULL));
  book = open_book (fixture->path);
  window = show_bar (book);
  g_assert_null (qm_quote_book_get_index (book));
  g_assert_nonnull (strstr (bar_text (window), "no store of quotes"));
  g_assert_nonnull (strstr (bar_text (window), "do not count"));
  g_assert_true (g_file_get_contents (fixture->path, &bytes, NULL, NULL));
  g_assert_cmpstr (bytes, ==, "mine");
  g_remove (fixture->path);
  press (window, "Try Again");
  wait_for_problems (book, FALSE);
  g_assert_nonnull (qm_quote_book_get_index (book));
  close_all (window, book);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  signal (SIGXFSZ, SIG_IGN);
  g_test_add ("/store-bar/damaged", Fixture, NULL, set_up, test_damaged,
              tear_down);
  g_test_add ("/store-bar/bring-back", Fixture, NULL, set_up, test_bring_back,
              tear_down);
  g_test_add ("/store-bar/read-only", Fixture, NULL, set_up, test_read_only,
              tear_down);
  g_test_add ("/store-bar/full-disk", Fixture, NULL, set_up, test_full_disk,
              tear_down);
  g_test_add ("/store-bar/fills-up", Fixture, NULL, set_up, test_fills_up,
              tear_down);
  g_test_add ("/store-bar/foreign", Fixture, NULL, set_up, test_foreign,
              tear_down);
  return g_test_run ();
}
