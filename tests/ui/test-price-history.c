/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/folder.h"
#include "tests/ui/widgets.h"
#include "ui/qm-legend.h"
#include "ui/qm-plot-view.h"
#include "ui/quotes/qm-price-history.h"
#include "ui/quotes/qm-price-source.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define RATES                                                             \
  "<gesmes:Envelope xmlns:gesmes='http://www.gesmes.org/xml/2002-08-01' " \
  "xmlns='http://www.ecb.int/vocabulary/2002-08-01/eurofxref'>"           \
  "<Cube><Cube time='2026-02-10'><Cube currency='USD' rate='1.2500'/>"    \
  "</Cube></Cube></gesmes:Envelope>"

static void
add_price (GPtrArray *history,
           QmDate date,
           gint64 units,
           const char *currency,
           const char *vendor,
           QmPriceUnit unit)
{
  QmPricePoint *price = g_new0 (QmPricePoint, 1);

  price->item = g_strdup ("h100-80gb-sxm");
  price->unit = unit;
  price->gpus = unit == QM_PRICE_HOUR ? 8 : 1;
  price->date = date;
  price->micros = units * QM_MICROS_PER_UNIT;
  g_strlcpy (price->currency, currency, sizeof price->currency);
  price->vendor = g_strdup (vendor);
  price->source = g_strdup ("https://shop.example/a?b=1&c=2");
  g_ptr_array_add (history, price);
}

static GPtrArray *
make_history (void)
{
  GPtrArray *history =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_price_point_free);

  add_price (history, (QmDate){ 2026, 1, 5 }, 21000, "EUR", "Nordsee",
             QM_PRICE_EACH);
  add_price (history, (QmDate){ 2026, 1, 10 }, 28000, "USD", "Delta & Co",
             QM_PRICE_EACH);
  add_price (history, (QmDate){ 2026, 2, 10 }, 20000, "EUR", "Nordsee",
             QM_PRICE_EACH);
  add_price (history, (QmDate){ 2026, 3, 10 }, 27000, "USD", NULL,
             QM_PRICE_EACH);
  add_price (history, (QmDate){ 2026, 3, 11 }, 16, "USD", NULL, QM_PRICE_HOUR);
  add_price (history, (QmDate){ 2026, 8, 1 }, 19000, "EUR", "Nordsee",
             QM_PRICE_EACH);
  return history;
}

static QmRates *
make_rates (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (RATES, strlen (RATES));
  g_autoptr (GError) error = NULL;
  QmRates *rates = qm_rates_new_from_ecb (bytes, "rates.xml", &error);

  g_assert_no_error (error);
  return rates;
}

static void
test_groups (void)
{
  static const char *const expected[] = { "All, in USD", "EUR", "USD",
                                          "USD, for an hour" };
  g_autoptr (GPtrArray) history = make_history ();
  g_autoptr (GArray) groups = qm_price_groups (history);

  g_assert_cmpuint (groups->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < groups->len; i++)
    {
      g_autofree char *text =
          qm_price_group_text (&g_array_index (groups, QmPriceGroup, i));

      g_assert_cmpstr (text, ==, expected[i]);
    }
  g_ptr_array_remove_range (history, 1, history->len - 1);
  g_array_unref (g_steal_pointer (&groups));
  groups = qm_price_groups (history);
  g_assert_cmpuint (groups->len, ==, 1);
}

/* Shows a group; how many prices of it cannot be shown. */
static guint
show (QmPlotSource *source, GArray *groups, guint index)
{
  return qm_price_source_set_group (
      QM_PRICE_SOURCE (source), &g_array_index (groups, QmPriceGroup, index));
}

static void
test_currencies_are_not_mixed (void)
{
  g_autoptr (GPtrArray) history = make_history ();
  g_autoptr (GArray) groups = qm_price_groups (history);
  g_autoptr (QmRates) rates = make_rates ();
  g_autoptr (QmPlotSource) source =
      qm_price_source_new ("H100", history, rates);
  const QmPlotData *data = qm_plot_source_get_data (source);

  g_assert_cmpuint (data->n_points, ==, 0);
  /* The first price is older than the first rate. */
  g_assert_cmpuint (show (source, groups, 0), ==, 1);
  g_assert_cmpuint (data->n_points, ==, 4);
  g_assert_cmpfloat_with_epsilon (data->points[1].y, 25000, 1e-6);
  qm_plot_source_set_hovered (source, 3);
  g_assert_cmpstr (data->hovered_label, ==,
                   "19,000.00 EUR, 23,750.00 USD at the rate of 10 February "
                   "2026\nNordsee, 1 August 2026");
  g_assert_cmpstr (data->y.currency, ==, "USD");

  g_assert_cmpuint (show (source, groups, 1), ==, 0);
  g_assert_cmpuint (data->n_points, ==, 3);
  g_assert_cmpfloat_with_epsilon (data->points[2].y, 19000, 1e-6);
  g_assert_cmpstr (data->y.currency, ==, "EUR");
  g_assert_cmpuint (data->n_series, ==, 1);

  g_assert_cmpuint (show (source, groups, 2), ==, 0);
  g_assert_cmpuint (data->n_points, ==, 2);
  g_assert_cmpuint (data->n_series, ==, 2);
  g_assert_cmpstr (data->series[0].name, ==, "Delta & Co");
  g_assert_cmpstr (data->series[1].name, ==, "shop.example");

  /* Eight GPUs for an hour cost 16 $. */
  g_assert_cmpuint (show (source, groups, 3), ==, 0);
  g_assert_cmpuint (data->n_points, ==, 1);
  g_assert_cmpfloat_with_epsilon (data->points[0].y, 2, 1e-6);
}

static void
test_many_vendors (void)
{
  g_autoptr (GPtrArray) history =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_price_point_free);
  g_autoptr (QmPlotSource) source = NULL;
  g_autoptr (GArray) groups = NULL;
  const QmPlotData *data;

  for (int i = 0; i < 20; i++)
    {
      g_autofree char *vendor = g_strdup_printf ("Vendor %d", i);

      add_price (history, (QmDate){ 2026, 1, i + 1 }, 100 + i, "CHF", vendor,
                 QM_PRICE_EACH);
    }
  groups = qm_price_groups (history);
  source = qm_price_source_new ("H100", history, NULL);
  g_assert_cmpuint (show (source, groups, 0), ==, 0);
  data = qm_plot_source_get_data (source);
  g_assert_cmpuint (data->n_points, ==, 20);
  g_assert_cmpuint (data->n_series, ==, QM_PLOT_N_STYLES);
  g_assert_cmpstr (data->series[QM_PLOT_N_STYLES - 1].name, ==, "Others");
  g_assert_cmpuint (data->points[19].series, ==, QM_PLOT_N_STYLES - 1);
}

static void
add_quote (QmQuoteBook *book,
           const char *vendor,
           QmDate day,
           gint64 units,
           const char *currency,
           const char *item)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  g_autoptr (GError) error = NULL;
  GArray *ids;

  quote->vendor = g_strdup (vendor);
  quote->issued_on = day;
  g_strlcpy (quote->currency, currency, sizeof quote->currency);
  line->description = g_strdup ("H100");
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = units * QM_MICROS_PER_UNIT;
  line->item = g_strdup (item);
  line->match = QM_MATCH_CHOSEN;
  g_ptr_array_add (quotes, quote);
  ids = qm_quote_book_add_all (book, quotes, NULL, NULL, &error);
  g_assert_no_error (error);
  g_array_unref (ids);
}

static gboolean
press (QmPlotView *view, guint key)
{
  g_autoptr (GListModel) controllers =
      gtk_widget_observe_controllers (GTK_WIDGET (view));
  gboolean handled = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller =
          g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", key, 0, 0, &handled);
    }
  return handled;
}

static void
expect_label (QmPlotView *view, const char *label)
{
  g_autofree char *problem =
      gtk_test_accessible_check_property (GTK_ACCESSIBLE (view),
                                          GTK_ACCESSIBLE_PROPERTY_LABEL, label);

  g_assert_cmpstr (problem, ==, NULL);
}

/* How many prices are drawn. */
static guint
n_points (GtkWidget *window)
{
  const QmPlotData *data = NULL;

  if (widgets_count_visible (window, QM_TYPE_PLOT_VIEW) > 0)
    data = qm_plot_view_get_data (widgets_find (window, QM_TYPE_PLOT_VIEW, 0));
  return data != NULL ? data->n_points : 0;
}

static void
wait_for_prices (GtkWidget *window)
{
  while (n_points (window) == 0)
    g_main_context_iteration (NULL, TRUE);
}

/* Walking, zooming and another currency, in the window. */
static void
test_window (void)
{
  g_autoptr (QmQuoteBook) book =
      qm_quote_book_new (widgets_keeper (), QM_QUOTE_STORE_IN_MEMORY);
  GtkWidget *window;
  GtkDropDown *group;
  QmPlotView *view;

  while (qm_quote_book_get_index (book) == NULL)
    g_main_context_iteration (NULL, TRUE);
  add_quote (book, "Delta", (QmDate){ 2026, 1, 10 }, 28000, "USD",
             "h100-80gb-sxm");
  add_quote (book, "Nordsee", (QmDate){ 2026, 2, 10 }, 27000, "USD",
             "h100-80gb-sxm");
  add_quote (book, "Nordsee", (QmDate){ 2026, 3, 10 }, 20000, "EUR",
             "h100-80gb-sxm");
  window = qm_price_history_new (NULL, book, "h100-80gb-sxm");
  gtk_window_present (GTK_WINDOW (window));
  wait_for_prices (window);
  gtk_test_widget_wait_for_draw (window);
  view = widgets_find (window, QM_TYPE_PLOT_VIEW, 0);
  group = widgets_find (window, GTK_TYPE_DROP_DOWN, 0);

  /* "All" is first, then the currency with the most prices. */
  gtk_drop_down_set_selected (group, 1);
  g_assert_cmpuint (n_points (window), ==, 2);
  g_assert_true (
      gtk_widget_get_mapped (widgets_find (window, QM_TYPE_LEGEND, 0)));
  g_assert_true (press (view, GDK_KEY_Home));
  expect_label (view, "28,000.00 USD\nDelta, 10 January 2026");
  g_assert_true (press (view, GDK_KEY_Right));
  expect_label (view, "27,000.00 USD\nNordsee, 10 February 2026");
  /* Nothing is selected by it. */
  g_assert_false (press (view, GDK_KEY_Return));
  g_assert_true (press (view, GDK_KEY_plus));
  g_assert_true (qm_plot_view_is_zoomed (view));
  gtk_widget_activate_action (window, "history.zoom-reset", NULL);
  g_assert_false (qm_plot_view_is_zoomed (view));
  gtk_widget_activate_action (window, "history.zoom-in", NULL);
  g_assert_true (qm_plot_view_is_zoomed (view));

  gtk_drop_down_set_selected (group, 2);
  g_assert_false (qm_plot_view_is_zoomed (view));
  expect_label (view, "Prices of H100 SXM5 80GB: 20,000.00 EUR\n"
                      "Nordsee, 10 March 2026");
  gtk_window_destroy (GTK_WINDOW (window));
}

static QmQuoteBook *
make_book (const char *path)
{
  QmQuoteBook *book = qm_quote_book_new (widgets_keeper (), path);

  while (qm_quote_book_get_index (book) == NULL)
    g_main_context_iteration (NULL, TRUE);
  add_quote (book, "Delta", (QmDate){ 2026, 1, 10 }, 28000, "USD",
             "h100-80gb-sxm");
  add_quote (book, "Delta", (QmDate){ 2026, 1, 10 }, 9000, "USD",
             "a100-80gb-sxm");
  add_quote (book, "Delta", (QmDate){ 2026, 2, 10 }, 8000, "USD",
             "a100-80gb-sxm");
  return book;
}

/* What is asked for last is shown, of a store that another thread reads. */
static void
test_another_item (void)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "quotes.sqlite", NULL);
  g_autoptr (QmQuoteBook) book = make_book (path);
  GtkWidget *window = qm_price_history_new (NULL, book, "h100-80gb-sxm");
  QmPriceHistory *history = QM_PRICE_HISTORY (window);

  gtk_window_present (GTK_WINDOW (window));
  g_assert_cmpuint (n_points (window), ==, 0);
  qm_price_history_set_item (history, "a100-80gb-sxm");
  wait_for_prices (window);
  g_assert_cmpuint (n_points (window), ==, 2);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==,
                   "Prices of A100 SXM4 80GB");
  qm_price_history_set_item (history, "h100-80gb-sxm");
  g_assert_cmpuint (n_points (window), ==, 0);
  wait_for_prices (window);
  g_assert_cmpuint (n_points (window), ==, 1);
  g_assert_false (widgets_count_visible (window, ADW_TYPE_ACTION_ROW) > 1);

  /* Closed while it reads. */
  qm_price_history_set_item (history, "a100-80gb-sxm");
  gtk_window_destroy (GTK_WINDOW (window));
  qm_quote_book_close (book);
  remove_folder (folder);
}

static void
count_prices_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  guint *read = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) prices =
      qm_quote_book_read_prices_finish (QM_QUOTE_BOOK (source), result, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (prices->len, >, 0);
  (*read)++;
}

/* Whoever reads prices has the catalog that there was, and nobody else. */
static void
test_catalog_replaced (void)
{
  const guint often = 20;
  g_autofree char *folder = g_dir_make_tmp ("qm-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "quotes.sqlite", NULL);
  g_autoptr (QmQuoteBook) book = make_book (path);
  guint read = 0;

  for (guint i = 0; i < often; i++)
    {
      QmCatalog *catalog;

      qm_quote_book_read_prices_async (book, "a100-80gb-sxm", NULL,
                                       count_prices_cb, &read);
      g_usleep (i * 100);
      g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                        &catalog, NULL),
                       ==, QM_OK);
      qm_catalog_keeper_take (widgets_keeper (), catalog);
    }
  while (read < often)
    g_main_context_iteration (NULL, TRUE);
  qm_quote_book_close (book);
  remove_folder (folder);
}

/* A store that is broken meanwhile. */
static void
test_failure (void)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "quotes.sqlite", NULL);
  g_autoptr (QmQuoteBook) book = make_book (path);
  GtkWidget *window;

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  window = qm_price_history_new (NULL, book, "h100-80gb-sxm");
  gtk_window_present (GTK_WINDOW (window));
  while (
      !gtk_widget_get_mapped (widgets_find (window, ADW_TYPE_STATUS_PAGE, 0)))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (n_points (window), ==, 0);
  gtk_window_destroy (GTK_WINDOW (window));
  qm_quote_book_close (book);
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/price-history/groups", test_groups);
  g_test_add_func ("/price-history/currencies", test_currencies_are_not_mixed);
  g_test_add_func ("/price-history/many-vendors", test_many_vendors);
  g_test_add_func ("/price-history/window", test_window);
  g_test_add_func ("/price-history/another-item", test_another_item);
  g_test_add_func ("/price-history/catalog-replaced", test_catalog_replaced);
  g_test_add_func ("/price-history/failure", test_failure);
  return g_test_run ();
}
