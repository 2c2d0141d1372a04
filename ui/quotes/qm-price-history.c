/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-price-history.h"

#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "ui/qm-legend.h"
#include "ui/qm-plot-view.h"
#include "ui/qm-spinner.h"
#include "ui/quotes/qm-price-source.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define ZOOM_STEP 1.25

/* Rows of the list; the plot has all prices. */
#define MAX_ROWS 200

struct _QmPriceHistory
{
  AdwWindow parent_instance;

  GtkStack *stack;
  AdwStatusPage *failed;
  AdwBin *plot_bin;
  AdwBin *legend_bin;
  GtkWidget *group_box;
  GtkDropDown *group;
  GtkListBox *list;
  GtkLabel *left_out;

  QmQuoteBook *book;
  GCancellable *cancellable; /* of what is read; NULL: nothing is */
  char *name;                /* of the item */

  /* NULL until they are read: */
  GPtrArray *history; /* QmPricePoint */
  GArray *groups;     /* QmPriceGroup */
  QmPlotSource *source;
  QmPlotView *view;
  QmLegend *legend;
};

G_DEFINE_FINAL_TYPE (QmPriceHistory, qm_price_history, ADW_TYPE_WINDOW)

static void
show_left_out (QmPriceHistory *self, guint n)
{
  g_autofree char *text = g_strdup_printf (
      ngettext ("%u price is not drawn: no exchange rate of its day is known",
                "%u prices are not drawn: no exchange rate of their day is "
                "known",
                n),
      n);

  gtk_label_set_label (self->left_out, text);
  gtk_widget_set_visible (GTK_WIDGET (self->left_out), n > 0);
}

static void
group_cb (QmPriceHistory *self)
{
  guint selected = gtk_drop_down_get_selected (self->group);
  const QmPlotData *data;

  if (self->source == NULL || selected >= self->groups->len)
    return;
  show_left_out (self,
                 qm_price_source_set_group (
                     QM_PRICE_SOURCE (self->source),
                     &g_array_index (self->groups, QmPriceGroup, selected)));
  data = qm_plot_source_get_data (self->source);
  qm_legend_set_plots (self->legend, &data, 1);
  gtk_widget_set_visible (GTK_WIDGET (self->legend_bin), data->n_series > 1);
}

static void
fill_groups (QmPriceHistory *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint i = 0; i < self->groups->len; i++)
    {
      g_autofree char *name =
          qm_price_group_text (&g_array_index (self->groups, QmPriceGroup, i));

      gtk_string_list_append (names, name);
    }
  gtk_drop_down_set_model (self->group, G_LIST_MODEL (names));
  gtk_widget_set_visible (self->group_box, self->groups->len > 1);
}

static void
add_history_row (QmPriceHistory *self, const QmPricePoint *price)
{
  g_autofree char *amount =
      qm_quote_price_text (price->micros, price->currency);
  g_autofree char *day = qm_format_date_brief (price->date);
  const char *where = price->vendor != NULL ? price->vendor : price->source;
  g_autofree char *markup =
      g_markup_escape_text (where != NULL ? where : "", -1);
  g_autofree char *title =
      price->unit == QM_PRICE_HOUR
          /* Translators: a date, a price. */
          ? g_strdup_printf (_ ("%s: %s for an hour"), day, amount)
          : g_strdup_printf ("%s: %s", day, amount);
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title,
                                 "subtitle", markup, NULL);

  gtk_list_box_append (self->list, row);
}

static void
clear_list (QmPriceHistory *self)
{
  GtkWidget *row;

  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, row);
}

static void
fill_list (QmPriceHistory *self)
{
  guint n = MIN (self->history->len, MAX_ROWS);
  guint more = self->history->len - n;

  for (guint i = 0; i < n; i++)
    add_history_row (self, g_ptr_array_index (self->history,
                                              self->history->len - 1 - i));
  if (more > 0)
    {
      g_autofree char *text =
          g_strdup_printf (ngettext ("%u older price is in the plot only",
                                     "%u older prices are in the plot only",
                                     more),
                           more);

      gtk_list_box_append (self->list, g_object_new (ADW_TYPE_ACTION_ROW,
                                                     "title", text, NULL));
    }
}

static void
add_plot (QmPriceHistory *self)
{
  self->source = qm_price_source_new (self->name, self->history,
                                      qm_quote_book_get_rates (self->book));
  self->view = QM_PLOT_VIEW (qm_plot_view_new (self->source));
  self->legend = QM_LEGEND (qm_legend_new ());
  adw_bin_set_child (self->plot_bin, GTK_WIDGET (self->view));
  adw_bin_set_child (self->legend_bin, GTK_WIDGET (self->legend));
  group_cb (self);
}

/* Nothing is shown, and what is being read is not shown any more. */
static void
forget (QmPriceHistory *self)
{
  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->source);
  g_clear_pointer (&self->history, g_ptr_array_unref);
  g_clear_pointer (&self->groups, g_array_unref);
  g_clear_pointer (&self->name, g_free);
}

static void
enable_zoom (QmPriceHistory *self, gboolean enabled)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "history.zoom-in", enabled);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "history.zoom-out",
                                 enabled);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "history.zoom-reset",
                                 enabled);
}

static void
show_failure (QmPriceHistory *self, const char *message)
{
  g_autofree char *markup = g_markup_escape_text (message, -1);

  adw_status_page_set_description (self->failed, markup);
  gtk_stack_set_visible_child_name (self->stack, "failed");
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (QmPriceHistory) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) history =
      qm_quote_book_read_prices_finish (QM_QUOTE_BOOK (source), result, &error);

  /* It is closed, or something else was asked for. */
  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return;
  g_clear_object (&self->cancellable);
  if (history == NULL)
    {
      show_failure (self, error->message);
      return;
    }
  self->history = g_steal_pointer (&history);
  self->groups = qm_price_groups (self->history);
  fill_groups (self);
  fill_list (self);
  add_plot (self);
  enable_zoom (self, TRUE);
  gtk_stack_set_visible_child_name (self->stack, "prices");
}

void
qm_price_history_set_item (QmPriceHistory *self, const char *item)
{
  g_autofree char *title = NULL;

  g_return_if_fail (QM_IS_PRICE_HISTORY (self) && item != NULL);

  forget (self);
  clear_list (self);
  enable_zoom (self, FALSE);
  self->name =
      qm_quote_item_text (qm_quote_book_get_catalog (self->book), item);
  /* Translators: name of a GPU or machine. */
  title = g_strdup_printf (_ ("Prices of %s"), self->name);
  gtk_window_set_title (GTK_WINDOW (self), title);
  gtk_stack_set_visible_child_name (self->stack, "reading");
  self->cancellable = g_cancellable_new ();
  qm_quote_book_read_prices_async (self->book, item, self->cancellable, read_cb,
                                   g_object_ref (self));
}

GtkWidget *
qm_price_history_new (GtkWindow *parent, QmQuoteBook *book, const char *item)
{
  QmPriceHistory *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book) && item != NULL, NULL);

  self = g_object_new (QM_TYPE_PRICE_HISTORY, "transient-for", parent, NULL);
  self->book = g_object_ref (book);
  qm_price_history_set_item (self, item);
  return GTK_WIDGET (self);
}

static void
zoom_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmPriceHistory *self = QM_PRICE_HISTORY (widget);

  if (g_str_equal (name, "history.zoom-reset"))
    qm_plot_view_zoom_reset (self->view);
  else
    qm_plot_view_zoom (self->view,
                       g_str_equal (name, "history.zoom-in") ? ZOOM_STEP
                                                             : 1 / ZOOM_STEP,
                       NAN, NAN);
}

static void
qm_price_history_dispose (GObject *object)
{
  QmPriceHistory *self = QM_PRICE_HISTORY (object);

  forget (self);
  g_clear_object (&self->book);

  G_OBJECT_CLASS (qm_price_history_parent_class)->dispose (object);
}

static void
install_zoom (GtkWidgetClass *widget_class)
{
  static const struct
  {
    const char *action;
    guint keys[3];
  } zooms[] = {
    { "history.zoom-in", { GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add } },
    { "history.zoom-out", { GDK_KEY_minus, GDK_KEY_KP_Subtract } },
    { "history.zoom-reset", { GDK_KEY_0, GDK_KEY_KP_0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    {
      gtk_widget_class_install_action (widget_class, zooms[i].action, NULL,
                                       zoom_cb);
      for (guint k = 0; k < G_N_ELEMENTS (zooms[i].keys); k++)
        if (zooms[i].keys[k] != 0)
          gtk_widget_class_add_binding_action (widget_class, zooms[i].keys[k],
                                               GDK_CONTROL_MASK,
                                               zooms[i].action, NULL);
    }
}

static void
qm_price_history_class_init (QmPriceHistoryClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_price_history_dispose;

  install_zoom (widget_class);
  g_type_ensure (QM_TYPE_SPINNER);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-price-history.ui");
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, stack);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, failed);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, plot_bin);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory,
                                        legend_bin);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory,
                                        group_box);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, group);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, list);
  gtk_widget_class_bind_template_child (widget_class, QmPriceHistory, left_out);
  gtk_widget_class_bind_template_callback (widget_class, group_cb);
}

static void
qm_price_history_init (QmPriceHistory *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
