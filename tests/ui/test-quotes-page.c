/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/qm-column-view.h"
#include "ui/quotes/qm-quote-compare-view.h"
#include "ui/quotes/qm-quote-draft.h"
#include "ui/quotes/qm-quote-item.h"
#include "ui/quotes/qm-quote-list.h"
#include "ui/quotes/qm-quote-reader.h"
#include "ui/quotes/qm-quote-view.h"
#include "ui/quotes/qm-quotes-page.h"

#include <glib/gstdio.h>
#include <string.h>

static QmQuote *
make_quote (const char *vendor, const char *number, QmDate until)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->vendor = g_strdup (vendor);
  quote->number = g_strdup (number);
  g_strlcpy (quote->currency, "USD", sizeof quote->currency);
  quote->issued_on = (QmDate){ 2026, 1, 1 };
  quote->valid_until = until;
  line->description = g_strdup ("A100 GPU");
  line->quantity_micros = 2 * QM_MICROS_PER_UNIT;
  line->price_micros = 9000 * (gint64) QM_MICROS_PER_UNIT;
  line->match = QM_MATCH_AMBIGUOUS;
  line->candidates = g_strdup ("a100-40gb-pcie;a100-80gb-sxm");
  return quote;
}

static QmQuoteBook *
open_book (void)
{
  QmQuoteBook *book =
      qm_quote_book_new (widgets_keeper (), QM_QUOTE_STORE_IN_MEMORY);

  while (qm_quote_book_get_index (book) == NULL)
    g_main_context_iteration (NULL, TRUE);
  return book;
}

/* Ids of two quotes, the second expired. */
static GArray *
add_two (QmQuoteBook *book)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GError) error = NULL;
  GArray *ids;

  g_ptr_array_add (quotes,
                   make_quote ("Delta", "Q-1", (QmDate){ 9999, 12, 31 }));
  g_ptr_array_add (quotes,
                   make_quote ("Nordsee", "A-2", (QmDate){ 2026, 2, 1 }));
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
  return ids;
}

static GtkWidget *
show_page_of (QmQuoteBook *book, int width)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), width, 800);
  gtk_window_set_child (GTK_WINDOW (window), qm_quotes_page_new (book, NULL));
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  return window;
}

static GtkWidget *
show_page (QmQuoteBook *book)
{
  return show_page_of (book, 1200);
}

/* Where there is no room, the day of issue makes way for the names. */
static void
test_columns (void)
{
  static const int widths[] = { 1200, 760, 1200 };
  g_autoptr (QmQuoteBook) book = open_book ();
  g_autoptr (GArray) ids = add_two (book);

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    {
      GtkWidget *window = show_page_of (book, widths[i]);
      GListModel *columns = gtk_column_view_get_columns (
          widgets_find (window, GTK_TYPE_COLUMN_VIEW, 0));
      guint n_shown = 0;

      widgets_settle ();
      for (guint j = 0; j < g_list_model_get_n_items (columns); j++)
        {
          g_autoptr (GtkColumnViewColumn) column =
              g_list_model_get_item (columns, j);

          n_shown += gtk_column_view_column_get_visible (column);
        }
      g_assert_cmpuint (n_shown, ==, widths[i] > 1000 ? 5 : 4);
      gtk_window_destroy (GTK_WINDOW (window));
    }
}

static void
test_list_and_search (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  g_autoptr (GArray) ids = add_two (book);

  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, 2);
  gtk_editable_set_text (GTK_EDITABLE (search), "nord");
  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, 1);
  gtk_editable_set_text (GTK_EDITABLE (search), "no such thing");
  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, 0);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_delete_and_undo (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  g_autoptr (GArray) ids = add_two (book);
  gint64 first = g_array_index (ids, gint64, 0);

  qm_quote_list_select (list, first);
  gtk_widget_activate_action (page, "quotes.delete", NULL);
  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, 1);
  g_assert_cmpint (qm_quote_list_get_selected (list), ==, 0);
  gtk_widget_activate_action (page, "quotes.undo", NULL);
  widgets_settle ();
  g_assert_cmpuint (widgets_count_rows (list), ==, 2);
  g_assert_cmpint (qm_quote_list_get_selected (list), ==, first);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Whatever is gone, the page has the keyboard, so that its Ctrl+Z works. */
static void
test_delete_all_and_undo (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  g_autoptr (GArray) ids = add_two (book);
  GtkWidget *focus;

  for (guint i = 0; i < ids->len; i++)
    {
      qm_quote_list_select (list, g_array_index (ids, gint64, i));
      widgets_settle ();
      gtk_window_set_focus (GTK_WINDOW (window), NULL);
      gtk_widget_activate_action (page, "quotes.delete", NULL);
      widgets_settle ();
      focus = gtk_root_get_focus (GTK_ROOT (window));
      g_assert_nonnull (focus);
      g_assert_true (gtk_widget_get_mapped (focus));
      g_assert_true (gtk_widget_is_ancestor (focus, page));
    }
  g_assert_cmpuint (widgets_count_rows (list), ==, 0);
  for (guint i = 1; i <= ids->len; i++)
    {
      gtk_widget_activate_action (page, "quotes.undo", NULL);
      widgets_settle ();
      g_assert_cmpuint (widgets_count_rows (list), ==, i);
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_choose_a_gpu (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  QmQuoteView *view = widgets_find (window, QM_TYPE_QUOTE_VIEW, 0);
  g_autoptr (GArray) ids = add_two (book);
  gint64 first = g_array_index (ids, gint64, 0);
  g_autoptr (QmQuote) stored = NULL;
  const QmQuoteLine *line;
  GtkDropDown *choice;
  guint n;

  qm_offers_list (qm_quote_book_get_offers (book), &n);
  g_assert_cmpuint (n, ==, 0);
  qm_quote_list_select (list, first);
  choice = widgets_find (view, GTK_TYPE_DROP_DOWN, 0);
  gtk_drop_down_set_selected (choice, 2);
  stored = qm_quote_book_get (book, first, NULL);
  line = g_ptr_array_index (stored->lines, 0);
  g_assert_cmpint (line->match, ==, QM_MATCH_CHOSEN);
  g_assert_cmpstr (line->item, ==, "a100-80gb-sxm");
  qm_offers_list (qm_quote_book_get_offers (book), &n);
  g_assert_cmpuint (n, ==, 1);
  /* The choice itself has stayed where it was. */
  g_assert_true (widgets_find (view, GTK_TYPE_DROP_DOWN, 0) == choice);
  gtk_window_destroy (GTK_WINDOW (window));
}

static GArray *
add_asked (QmQuoteBook *book)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GError) error = NULL;
  QmQuote *quote = make_quote ("Delta", "Q-1", (QmDate){ 9999, 12, 31 });
  QmQuoteLine *line = g_ptr_array_index (quote->lines, 0);
  GArray *ids;

  qm_quote_line_choose (line, widgets_catalog (), "a6000");
  g_clear_pointer (&line->candidates, g_free);
  qm_quote_line_ask (line, QM_ASK_PACK);
  qm_quote_line_ask (line, QM_ASK_PRICE);
  qm_quote_ask (quote, QM_ASK_VALIDITY);
  g_ptr_array_add (quotes, quote);
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
  return ids;
}

static void
answer (GtkWidget *window, const char *button)
{
  QmQuoteView *view = widgets_find (window, QM_TYPE_QUOTE_VIEW, 0);

  g_signal_emit_by_name (widgets_find_button (view, button), "clicked");
  widgets_settle ();
}

/* What is asked does not count until it is answered, each once. */
static void
test_answer (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  g_autoptr (GArray) ids = add_asked (book);
  gint64 id = g_array_index (ids, gint64, 0);
  g_autoptr (QmQuote) stored = NULL;
  const QmOffer *offers;
  GtkSpinButton *spin;
  guint n;

  qm_offers_list (qm_quote_book_get_offers (book), &n);
  g_assert_cmpuint (n, ==, 0);
  qm_quote_list_select (list, id);
  widgets_settle ();
  answer (window, "It Is Not Said");
  answer (window, "It Is Right");
  spin = widgets_find (widgets_find (window, QM_TYPE_QUOTE_VIEW, 0),
                       GTK_TYPE_SPIN_BUTTON, 0);
  gtk_spin_button_set_value (spin, 4);
  answer (window, "For So Many");
  stored = qm_quote_book_get (book, id, NULL);
  g_assert_cmpuint (qm_quote_n_open (stored), ==, 0);
  g_assert_false (qm_quote_is_undated (stored));
  while (
      (offers = qm_offers_list (qm_quote_book_get_offers (book), &n), n == 0))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (offers[0].price.micros, ==,
                   (gint64) 2250 * QM_MICROS_PER_UNIT);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_compare (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  g_autoptr (GArray) ids = add_two (book);

  for (guint i = 0; i < ids->len; i++)
    qm_quote_list_mark (list, g_array_index (ids, gint64, i), TRUE);
  gtk_widget_activate_action (page, "quotes.compare", NULL);
  widgets_settle ();
  g_assert_true (gtk_widget_get_mapped (
      widgets_find (window, QM_TYPE_QUOTE_COMPARE_VIEW, 0)));
  qm_quote_list_unmark_all (list);
  widgets_settle ();
  g_assert_cmpuint (qm_quote_list_get_marked (list)->len, ==, 0);
  g_assert_true (
      gtk_widget_get_mapped (widgets_find (window, QM_TYPE_QUOTE_VIEW, 0))
      || qm_quote_list_get_selected (list) == 0);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
add_many (QmQuoteBook *book, guint n)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) ids = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *number = g_strdup_printf ("Q-%05u", i);

      g_ptr_array_add (quotes, make_quote (i % 2 == 0 ? "Even" : "Odd", number,
                                           (QmDate){ 9999, 12, 31 }));
    }
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* The number of the quote in a row of the list as GTK has it. */
static char *
number_at (GListModel *model, guint position)
{
  g_autoptr (QmQuoteItem) item = g_list_model_get_item (model, position);

  return g_strndup (qm_quote_item_get_shown (item)->detail, strlen ("Q-00000"));
}

/* A long list comes bit by bit, and is all there in the end. */
static void
test_many (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  GtkColumnView *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (view));
  g_autofree char *first = NULL;
  g_autofree char *last = NULL;

  add_many (book, 1000);
  g_assert_cmpuint (g_list_model_get_n_items (model), <, 100);
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 1000);
  first = number_at (model, 0);
  last = number_at (model, 999);
  g_assert_cmpstr (first, ==, "Q-00999");
  g_assert_cmpstr (last, ==, "Q-00000");

  gtk_editable_set_text (GTK_EDITABLE (search), "q-0050");
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 10);
  gtk_editable_set_text (GTK_EDITABLE (search), "no such thing");
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 0);
  gtk_editable_set_text (GTK_EDITABLE (search), "odd");
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 500);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Waits until a row of the list is of that quote. */
static void
wait_for_number (GListModel *model, guint position, guint number)
{
  g_autofree char *expected = g_strdup_printf ("Q-%05u", number);

  for (;;)
    {
      g_autofree char *now = number_at (model, position);

      if (strcmp (now, expected) == 0)
        return;
      g_main_context_iteration (NULL, TRUE);
    }
}

static void
count_cb (
    GListModel *model, guint position, guint removed, guint added, guint *total)
{
  *total += removed + added;
}

/* What has not changed keeps its place. */
static void
test_few_changes (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  GtkColumnView *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (view));
  guint total = 0;

  add_many (book, 100);
  widgets_settle ();
  qm_quote_list_select (list, 50);
  g_signal_connect (model, "items-changed", G_CALLBACK (count_cb), &total);
  gtk_widget_activate_action (page, "quotes.delete", NULL);
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 99);
  g_assert_cmpuint (total, ==, 1);
  gtk_widget_activate_action (page, "quotes.undo", NULL);
  widgets_settle ();
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 100);
  g_assert_cmpuint (total, ==, 2);
  g_assert_cmpint (qm_quote_list_get_selected (list), ==, 50);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* What the first row of the list shows below the name of the vendor. */
static const char *
first_detail (GtkColumnView *view)
{
  GtkWidget *rows = widgets_find (view, GTK_TYPE_LIST_VIEW, 0);

  return gtk_label_get_label (widgets_find (rows, GTK_TYPE_LABEL, 1));
}

/* Other quotes move into the rows that are there. */
static void
test_places (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkEditable *search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  GtkColumnView *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (view));
  g_autoptr (QmQuoteItem) before = NULL;
  g_autoptr (QmQuoteItem) after = NULL;
  guint total = 0;

  add_many (book, 1000);
  widgets_settle ();
  g_assert_true (g_str_has_prefix (first_detail (view), "Q-00999"));
  before = g_list_model_get_item (model, 0);
  g_signal_connect (model, "items-changed", G_CALLBACK (count_cb), &total);
  gtk_editable_set_text (search, "even");
  while (widgets_count_rows (list) != 500)
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (g_str_has_prefix (first_detail (view), "Q-00998"));
  for (guint i = 0; i < 500; i++)
    wait_for_number (model, i, 998 - 2 * i);
  after = g_list_model_get_item (model, 0);
  g_assert_true (before == after);
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 500);
  g_assert_cmpuint (total, ==, 500);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* What is found is shown from the first quote on, wherever the list was. */
static void
test_from_far_down (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkEditable *search = widgets_find (list, GTK_TYPE_SEARCH_ENTRY, 0);
  GtkColumnView *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (view));
  GtkAdjustment *scrolled = gtk_scrollable_get_vadjustment (
      GTK_SCROLLABLE (widgets_find (view, GTK_TYPE_LIST_VIEW, 0)));

  add_many (book, 1000);
  widgets_settle ();
  gtk_test_widget_wait_for_draw (window);
  qm_column_view_scroll_to (view, 700);
  gtk_test_widget_wait_for_draw (window);
  g_assert_cmpfloat (gtk_adjustment_get_value (scrolled), >, 10000);
  gtk_editable_set_text (search, "even");
  widgets_settle ();
  gtk_test_widget_wait_for_draw (window);
  g_assert_cmpfloat (gtk_adjustment_get_value (scrolled), ==, 0);
  g_assert_true (g_str_has_prefix (first_detail (view), "Q-00998"));
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 500);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
wait_for_vendor (GListModel *model, guint position, const char *vendor)
{
  for (;;)
    {
      g_autoptr (QmQuoteItem) item = g_list_model_get_item (model, position);

      if (item != NULL
          && strcmp (qm_quote_item_get_shown (item)->title, vendor) == 0)
        return;
      g_main_context_iteration (NULL, TRUE);
    }
}

/* The columns are sorted by the keyboard, the first one first. */
static void
test_sort (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  QmQuoteList *list = widgets_find (window, QM_TYPE_QUOTE_LIST, 0);
  GtkColumnView *view = widgets_find (list, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (view));
  static const char *const vendors[] = { "Even", "Odd" };

  add_many (book, 101);
  for (guint turn = 0; turn < G_N_ELEMENTS (vendors); turn++)
    {
      gtk_widget_activate_action (GTK_WIDGET (list), "table.sort", "u", 0);
      wait_for_vendor (model, 0, vendors[turn]);
      wait_for_vendor (model, 100, vendors[1 - turn]);
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The window that shows what was read, when it has read it. */
static GtkWidget *
wait_for_draft (void)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (;;)
    {
      for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
        {
          g_autoptr (GtkWidget) window = g_list_model_get_item (windows, i);

          if (QM_IS_QUOTE_DRAFT (window)
              && gtk_widget_get_mapped (
                  widgets_find (window, QM_TYPE_QUOTE_VIEW, 0)))
            return window;
        }
      g_main_context_iteration (NULL, TRUE);
    }
}

static void
expect_draft (GtkWidget *window, const char *vendor)
{
  GtkWidget *draft = wait_for_draft ();
  const QmQuote *quote =
      qm_quote_view_get_quote (widgets_find (draft, QM_TYPE_QUOTE_VIEW, 0));

  g_assert_true (gtk_window_get_transient_for (GTK_WINDOW (draft))
                 == GTK_WINDOW (window));
  g_assert_cmpstr (quote->vendor, ==, vendor);
  gtk_window_destroy (GTK_WINDOW (draft));
  widgets_settle ();
}

#define DROPPED                                        \
  "Vendor,Quote,Description,Quantity,Price,Currency\n" \
  "%s,D-1,A100 GPU,2,9000,USD\n"

static void
test_drop (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  g_autofree char *folder = g_dir_make_tmp ("qm-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "an offer.csv", NULL);
  g_autofree char *of_file = g_strdup_printf (DROPPED, "File");
  g_autofree char *of_text = g_strdup_printf (DROPPED, "Text");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GSList) files = g_slist_append (NULL, file);
  GdkFileList *list = gdk_file_list_new_from_list (files);

  g_assert_true (g_file_set_contents (path, of_file, -1, NULL));
  g_assert_true (widgets_drop (page, GDK_TYPE_FILE_LIST, list));
  expect_draft (window, "File");
  g_assert_true (widgets_drop (page, G_TYPE_STRING, of_text));
  expect_draft (window, "Text");
  g_assert_false (widgets_drop (page, G_TYPE_STRING, NULL));

  g_boxed_free (GDK_TYPE_FILE_LIST, list);
  g_unlink (path);
  g_rmdir (folder);
  gtk_window_destroy (GTK_WINDOW (window));
}

static gboolean
shows_label (GtkWidget *widget, const char *text)
{
  if (GTK_IS_LABEL (widget)
      && strcmp (gtk_label_get_label (GTK_LABEL (widget)), text) == 0)
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (shows_label (child, text))
      return TRUE;
  return FALSE;
}

/* What is on the clipboard is no quote. */
static void
test_paste_nothing (void)
{
  g_autoptr (QmQuoteBook) book = open_book ();
  GtkWidget *window = show_page (book);
  GtkWidget *page = gtk_window_get_child (GTK_WINDOW (window));
  guint n_windows = g_list_model_get_n_items (gtk_window_get_toplevels ());

  gdk_clipboard_set (gtk_widget_get_clipboard (page), G_TYPE_INT, 1);
  gtk_widget_activate_action (page, "quotes.paste", NULL);
  g_assert_true (shows_label (window, "There is no text and no file to paste"));
  g_assert_cmpuint (g_list_model_get_n_items (gtk_window_get_toplevels ()), ==,
                    n_windows);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_addresses (void)
{
  g_assert_true (qm_quote_reader_is_address (" https://example.org/a?b=c\n"));
  g_assert_false (qm_quote_reader_is_address ("two words"));
  g_assert_false (qm_quote_reader_is_address ("ftp://example.org/a"));
  g_assert_false (qm_quote_reader_is_address ("a,b\n1,2\n"));
  g_assert_false (qm_quote_reader_is_address (NULL));
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/quotes-page/list-and-search", test_list_and_search);
  g_test_add_func ("/quotes-page/delete-and-undo", test_delete_and_undo);
  g_test_add_func ("/quotes-page/delete-all-and-undo",
                   test_delete_all_and_undo);
  g_test_add_func ("/quotes-page/choose-a-gpu", test_choose_a_gpu);
  g_test_add_func ("/quotes-page/answer", test_answer);
  g_test_add_func ("/quotes-page/compare", test_compare);
  g_test_add_func ("/quotes-page/many", test_many);
  g_test_add_func ("/quotes-page/few-changes", test_few_changes);
  g_test_add_func ("/quotes-page/places", test_places);
  g_test_add_func ("/quotes-page/from-far-down", test_from_far_down);
  g_test_add_func ("/quotes-page/columns", test_columns);
  g_test_add_func ("/quotes-page/sort", test_sort);
  g_test_add_func ("/quotes-page/drop", test_drop);
  g_test_add_func ("/quotes-page/paste-nothing", test_paste_nothing);
  g_test_add_func ("/quotes-page/addresses", test_addresses);
  return g_test_run ();
}
