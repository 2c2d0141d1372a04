/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-price-history.h"

#include "pricing/quotes/qm-quote-store-prices.h"
#include "ui/plot/qm-plot.h"
#include "ui/qm-theme.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Days before the first and after the last price. */
#define MARGIN_DAYS 30

struct _QmPriceHistory
{
  AdwWindow parent_instance;

  GtkWidget *area;
  GtkListBox *list;
  GtkLabel *left_out;

  char *title;
  GArray *points; /* QmPlotPoint */
};

G_DEFINE_FINAL_TYPE (QmPriceHistory, qm_price_history, ADW_TYPE_WINDOW)

static void
draw_cb (GtkDrawingArea *area,
         cairo_t *cr,
         int width,
         int height,
         gpointer user_data)
{
  QmPriceHistory *self = user_data;
  const QmPlotSeries series[] = { { _ ("Quoted"), 0 }, { _ ("Seen"), 1 } };
  QmPlotData data = {
    .title = self->title,
    .x = { .title = _ ("Day"), .unit = QM_PLOT_UNIT_DATE, .limit = NAN },
    .y = { .title = _ ("Price of one"),
           .unit = QM_PLOT_UNIT_MONEY,
           .currency = "USD",
           .min = NAN,
           .max = NAN,
           .limit = NAN },
    .series = series,
    .n_series = G_N_ELEMENTS (series),
    .points = (const QmPlotPoint *) (gpointer) self->points->data,
    .n_points = self->points->len,
    .recommended = -1,
    .selected = -1,
    .hovered = -1,
    .legend = TRUE,
    .empty_text = _ ("No price is known"),
  };

  data.x.min = data.x.max = NAN;
  if (self->points->len > 0)
    {
      data.x.min = g_array_index (self->points, QmPlotPoint, 0).x - MARGIN_DAYS;
      data.x.max =
          g_array_index (self->points, QmPlotPoint, self->points->len - 1).x
          + MARGIN_DAYS;
    }
  qm_plot_draw (cr, &data, width, height, qm_theme_current (),
                QM_PLOT_LAYER_ALL);
}

/* The price in USD at the rate of its day; FALSE where there is no rate. */
static gboolean
convert (QmRates *rates, const QmPricePoint *point, gint64 *micros)
{
  QmCrossRate rate;

  return rates != NULL
         && qm_rates_find (rates, point->currency, "USD", point->date,
                           QM_RATES_STALE_DAYS, &rate, NULL)
         && qm_cross_rate_convert_micros (&rate, point->micros, micros, NULL);
}

static void
add_row (QmPriceHistory *self, const QmPricePoint *point)
{
  g_autofree char *price = qm_quote_price_text (point->micros, point->currency);
  g_autofree char *day = qm_quote_date_entry_text (point->date);
  const char *where = point->vendor != NULL ? point->vendor : point->source;
  g_autofree char *markup =
      g_markup_escape_text (where != NULL ? where : "", -1);
  g_autofree char *title = g_strdup_printf ("%s: %s", day, price);
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title,
                                 "subtitle", markup, NULL);

  gtk_list_box_prepend (self->list, row);
}

static void
fill (QmPriceHistory *self, QmQuoteBook *book, GPtrArray *history)
{
  const QmDate epoch = { 1970, 1, 1 };
  guint n_left_out = 0;
  g_autofree char *text = NULL;

  for (guint i = 0; i < history->len; i++)
    {
      const QmPricePoint *known = g_ptr_array_index (history, i);
      QmPlotPoint point = { .weight = 1 };
      gint64 micros;

      if (known->unit != QM_PRICE_EACH)
        continue;
      add_row (self, known);
      if (!convert (qm_quote_book_get_rates (book), known, &micros))
        {
          n_left_out++;
          continue;
        }
      point.x = qm_date_days_between (epoch, known->date);
      point.y = (double) micros / QM_MICROS_PER_UNIT;
      point.series = known->quote != 0 ? 0 : 1;
      g_array_append_val (self->points, point);
    }
  text = g_strdup_printf (
      ngettext ("%u price is not drawn: no exchange rate of its day is known",
                "%u prices are not drawn: no exchange rate of their day is "
                "known",
                n_left_out),
      n_left_out);
  gtk_label_set_label (self->left_out, text);
  gtk_widget_set_visible (GTK_WIDGET (self->left_out), n_left_out > 0);
}

GtkWidget *
qm_price_history_new (GtkWindow *parent, QmQuoteBook *book, const char *item)
{
  QmPriceHistory *self;
  g_autoptr (GPtrArray) history = NULL;
  g_autofree char *name = NULL;
  g_autofree char *label = NULL;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book) && item != NULL, NULL);

  name = qm_quote_item_text (qm_quote_book_get_catalog (book), item);
  self = g_object_new (QM_TYPE_PRICE_HISTORY, "transient-for", parent, NULL);
  self->title = g_strdup (name);
  /* Translators: name of a GPU or machine. */
  label = g_strdup_printf (_ ("Prices of %s"), name);
  gtk_window_set_title (GTK_WINDOW (self), label);
  history =
      qm_quote_store_price_history (qm_quote_book_get_store (book), item, NULL);
  if (history != NULL)
    fill (self, book, history);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->area),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ ("The list below says the same"), -1);
  return GTK_WIDGET (self);
}

guint
qm_price_history_get_n_points (QmPriceHistory *self)
{
  g_return_val_if_fail (QM_IS_PRICE_HISTORY (self), 0);

  return self->points->len;
}

static void
qm_price_history_finalize (GObject *object)
{
  QmPriceHistory *self = QM_PRICE_HISTORY (object);

  g_clear_pointer (&self->points, g_array_unref);
  g_free (self->title);

  G_OBJECT_CLASS (qm_price_history_parent_class)->finalize (object);
}

static void
qm_price_history_class_init (QmPriceHistoryClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_price_history_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-price-history.ui");
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, area);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, list);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, left_out);
}

static void
qm_price_history_init (QmPriceHistory *self)
{
  self->points = g_array_new (FALSE, FALSE, sizeof (QmPlotPoint));
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->area), draw_cb, self,
                                  NULL);
  qm_theme_watch (self->area, gtk_widget_queue_draw);
}
