/* SPDX-License-Identifier: Apache-2.0 */

/* Typing into the search of a window that lists quotes with 100 000 lines: from
 * a key to the frame with the list's new contents, and the longest time that
 * the main loop was busy with one thing. */

#include "tests/pricing/random-quote.h"
#include "tests/ui/widgets.h"
#include "ui/quotes/qm-quote-list.h"
#include "ui/quotes/qm-quotes-page.h"

#include <glib/gstdio.h>
#include <string.h>

#define LINES    100000
#define MAX_KEYS 200
#define BUSY_MS  50.0 /* at most so many are wanted */

static GPollFunc real_poll;
static gint64 woken;
static gint64 busiest;
static gint64 frame_end;
static gboolean waiting;

/* All that happens between two polls is one turn of the loop. */
static int
poll_cb (GPollFD *fds, guint n, int timeout)
{
  int answer;

  if (woken != 0)
    busiest = MAX (busiest, g_get_monotonic_time () - woken);
  answer = real_poll (fds, n, timeout);
  woken = g_get_monotonic_time ();
  return answer;
}

static void
after_paint_cb (GdkFrameClock *clock)
{
  if (waiting)
    frame_end = g_get_monotonic_time ();
  waiting = FALSE;
}

static void
wait_for_frame (void)
{
  waiting = TRUE;
  while (waiting)
    g_main_context_iteration (NULL, TRUE);
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const double *p = a;
  const double *q = b;

  return (*p > *q) - (*p < *q);
}

static char *
make_store (const char *folder, guint n_quotes)
{
  char *path = g_build_filename (folder, "quotes.sqlite", NULL);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GError) error = NULL;
  QmQuoteStore *store = qm_quote_store_open (path, &error);
  g_autoptr (GArray) ids = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < n_quotes; i++)
    g_ptr_array_add (quotes, plausible_quote (i, LINES / n_quotes));
  ids = qm_quote_store_add_all (store, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
  qm_quote_store_close (store);
  return path;
}

/* Types a text and takes it back, key by key.  How many keys that were. */
static guint
type (GtkEditable *search, const char *text, double *times)
{
  guint n = 0;
  gsize length = strlen (text);

  for (gsize i = 0; i < 2 * length; i++)
    {
      int at = (int) (i < length ? i : 2 * length - 1 - i);
      gint64 begin = g_get_monotonic_time ();

      if (i < length)
        gtk_editable_insert_text (search, text + i, 1, &at);
      else
        gtk_editable_delete_text (search, at, at + 1);
      wait_for_frame ();
      times[n++] = (double) (frame_end - begin) / 1000;
    }
  return n;
}

static void
bench_typing (QmQuoteBook *book, guint n_quotes)
{
  static const char *const texts[] = { "nvidia", "h100 80gb", "config 77",
                                       "zzz", "e a o 0" };
  GtkWidget *window = gtk_window_new ();
  GtkEditable *search;
  QmQuoteList *list;
  double times[MAX_KEYS];
  guint n = 0;

  gtk_window_set_default_size (GTK_WINDOW (window), 1280, 860);
  gtk_window_set_child (GTK_WINDOW (window), qm_quotes_page_new (book, NULL));
  gtk_window_present (GTK_WINDOW (window));
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint",
                    G_CALLBACK (after_paint_cb), NULL);
  wait_for_frame ();
  list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  widgets_settle ();
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, n_quotes);
  busiest = woken = 0;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    n += type (search, texts[i], times + n);
  qsort (times, n, sizeof *times, compare_times);
  g_print ("%5u quotes of %4u lines, %u keys: median %.1f ms, 90%% %.1f ms, "
           "worst %.1f ms; the loop was busy for at most %.1f ms at once "
           "(%.0f are wanted)\n",
           n_quotes, LINES / n_quotes, n, times[n / 2], times[n * 9 / 10],
           times[n - 1], (double) busiest / 1000, BUSY_MS);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
bench (guint n_quotes)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-bench-XXXXXX", NULL);
  g_autofree char *path = make_store (folder, n_quotes);
  QmQuoteBook *book = qm_quote_book_new (widgets_catalog (), path);
  static const char *const endings[] = { "", "-wal", "-shm" };

  while (qm_quote_book_get_index (book) == NULL)
    g_main_context_iteration (NULL, TRUE);
  bench_typing (book, n_quotes);
  qm_quote_book_close (book);
  g_object_unref (book);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *name = g_strconcat (path, endings[i], NULL);

      g_unlink (name);
    }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  adw_init ();
  real_poll = g_main_context_get_poll_func (NULL);
  g_main_context_set_poll_func (NULL, poll_cb);
  bench (1000);
  bench (10000);
  return 0;
}
