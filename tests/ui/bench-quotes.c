/* SPDX-License-Identifier: Apache-2.0 */

/* Typing into the search of a window that lists quotes with 100 000 lines: from
 * a key to the frame with the list's new contents, and the longest time that
 * the main loop was busy with one thing, also after the frame. */

#include "tests/pricing/random-quote.h"
#include "tests/ui/widgets.h"
#include "ui/quotes/qm-quote-list.h"
#include "ui/quotes/qm-quotes-page.h"

#include <glib/gstdio.h>
#include <string.h>
#include <time.h>

#define LINES    100000
#define MAX_KEYS 400
#define PAUSE_MS 200 /* of somebody who types slowly */

/* What is wanted: at most so many. */
#define BUSY_MS 50
#define KEY_MS  50

static GPollFunc real_poll;
static double woken;
static double woken_processor;
static gboolean counting;
static gboolean waiting;
static double frame_end;

/* Of what is measured together. */
static double times[MAX_KEYS];
static guint n_times;
static double busiest;
static double busiest_processor;

static double
milliseconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/* All that happens between two polls is one turn of the loop.  How much of it
 * the processor was ours says what it would take on a quiet machine. */
static int
poll_cb (GPollFD *fds, guint n, int timeout)
{
  int answer;

  if (counting)
    {
      busiest = MAX (busiest, milliseconds (CLOCK_MONOTONIC) - woken);
      busiest_processor =
          MAX (busiest_processor,
               milliseconds (CLOCK_THREAD_CPUTIME_ID) - woken_processor);
    }
  answer = real_poll (fds, n, timeout);
  woken = milliseconds (CLOCK_MONOTONIC);
  woken_processor = milliseconds (CLOCK_THREAD_CPUTIME_ID);
  return answer;
}

static void
after_paint_cb (GdkFrameClock *clock)
{
  if (waiting)
    frame_end = milliseconds (CLOCK_MONOTONIC);
  waiting = FALSE;
}

static void
wait_for_frame (void)
{
  waiting = TRUE;
  while (waiting)
    g_main_context_iteration (NULL, TRUE);
}

static void
begin_measuring (void)
{
  counting = FALSE;
  n_times = 0;
  busiest = busiest_processor = 0;
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

static gboolean
over_cb (gpointer over)
{
  *(gboolean *) over = TRUE;
  return G_SOURCE_REMOVE;
}

/* Nothing is left to do for the list after it. */
static void
wait_a_while (void)
{
  gboolean over = FALSE;

  g_timeout_add (PAUSE_MS, over_cb, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* A list that somebody has looked through. */
static void
scroll_down (QmQuoteList *list)
{
  GtkWidget *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);

  gtk_widget_activate_action (widgets_find (view, GTK_TYPE_LIST_VIEW, 0),
                              "list.scroll-to-item", "u",
                              widgets_count_rows (list) / 2);
}

typedef enum
{
  FAST,    /* a key for each frame */
  SLOWLY,  /* the list is whole before the next key */
  FAR_DOWN /* likewise, and it was scrolled before the only key */
} Way;

/* Types a text and takes it back, key by key. */
static void
type (QmQuoteList *list, const char *text, Way way)
{
  GtkEditable *search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  gsize length = way == FAR_DOWN ? 1 : strlen (text);

  for (gsize i = 0; i < 2 * length; i++)
    {
      int at = (int) (i < length ? i : 2 * length - 1 - i);
      double begin;

      if (way != FAST)
        wait_a_while ();
      if (way == FAR_DOWN)
        {
          counting = FALSE;
          scroll_down (list);
          wait_a_while ();
        }
      begin = milliseconds (CLOCK_MONOTONIC);
      /* Keys are handled in a turn of the loop. */
      counting = TRUE;
      woken = begin;
      woken_processor = milliseconds (CLOCK_THREAD_CPUTIME_ID);
      if (i < length)
        gtk_editable_insert_text (search, text + i, 1, &at);
      else
        gtk_editable_delete_text (search, at, at + 1);
      wait_for_frame ();
      times[n_times++] = frame_end - begin;
    }
}

static void
report (const char *what)
{
  qsort (times, n_times, sizeof *times, compare_times);
  g_print ("  %-9s %3u keys: median %.1f ms, 90%% %.1f ms, worst %.1f ms (%d "
           "are wanted); busy for at most %.1f ms at once, %.1f ms of the "
           "processor (%d)\n",
           what, n_times, times[n_times / 2], times[n_times * 9 / 10],
           times[n_times - 1], KEY_MS, busiest, busiest_processor, BUSY_MS);
}

static void
bench_typing (QmQuoteBook *book, guint n_quotes)
{
  static const char *const texts[] = { "nvidia", "h100 80gb", "config 77",
                                       "zzz",    "e a o 0",   "000123",
                                       "g 17" };
  static const char *const ways[] = { "fast", "slowly", "far down" };
  GtkWidget *window = gtk_window_new ();
  QmQuoteList *list;

  gtk_window_set_default_size (GTK_WINDOW (window), 1280, 860);
  gtk_window_set_child (GTK_WINDOW (window), qm_quotes_page_new (book, NULL));
  gtk_window_present (GTK_WINDOW (window));
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint",
                    G_CALLBACK (after_paint_cb), NULL);
  wait_for_frame ();
  list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, n_quotes);
  g_print ("%u quotes of %u lines\n", n_quotes, LINES / n_quotes);
  for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
    {
      begin_measuring ();
      for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
        type (list, texts[i], (Way) way);
      report (ways[way]);
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
bench (guint n_quotes)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-bench-XXXXXX", NULL);
  g_autofree char *path = make_store (folder, n_quotes);
  QmQuoteBook *book = qm_quote_book_new (widgets_keeper (), path);
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
