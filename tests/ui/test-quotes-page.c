/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/quotes/qm-quote-compare-view.h"
#include "ui/quotes/qm-quote-list.h"
#include "ui/quotes/qm-quote-reader.h"
#include "ui/quotes/qm-quote-view.h"
#include "ui/quotes/qm-quotes-page.h"

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
      qm_quote_book_new (widgets_catalog (), QM_QUOTE_STORE_IN_MEMORY);

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
show_page (QmQuoteBook *book)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), 1200, 800);
  gtk_window_set_child (GTK_WINDOW (window), qm_quotes_page_new (book, NULL));
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  return window;
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
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, 2);
  gtk_editable_set_text (GTK_EDITABLE (search), "nord");
  widgets_settle ();
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, 1);
  gtk_editable_set_text (GTK_EDITABLE (search), "no such thing");
  widgets_settle ();
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, 0);
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
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, 1);
  g_assert_cmpint (qm_quote_list_get_selected (list), ==, 0);
  gtk_widget_activate_action (page, "quotes.undo", NULL);
  widgets_settle ();
  g_assert_cmpuint (qm_quote_list_get_n_listed (list), ==, 2);
  g_assert_cmpint (qm_quote_list_get_selected (list), ==, first);
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
  g_test_add_func ("/quotes-page/choose-a-gpu", test_choose_a_gpu);
  g_test_add_func ("/quotes-page/compare", test_compare);
  g_test_add_func ("/quotes-page/addresses", test_addresses);
  return g_test_run ();
}
