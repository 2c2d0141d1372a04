/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-list.h"

#include "ui/qm-column-sort.h"
#include "ui/qm-column-view.h"
#include "ui/quotes/qm-quote-cell.h"
#include "ui/quotes/qm-quote-choice.h"
#include "ui/quotes/qm-quote-item.h"
#include "ui/quotes/qm-quote-model.h"
#include "ui/quotes/qm-quote-text.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

/* A column and the list that it belongs to, for callbacks. */
/* Less wide than so many digits a list does not say when a quote was issued, so
 * that the name of who made it has room. */
#define LEAST_DIGITS 52

typedef struct
{
  QmQuoteList *list;
  QmQuoteCellKind kind;
  GtkColumnViewColumn *column;
} Column;

struct _QmQuoteList
{
  GtkWidget parent_instance;

  GtkWidget *search;
  GtkWidget *filter_button;
  GtkLabel *filtered;
  GtkStack *stack;
  GtkColumnView *view;
  GtkDropDown *vendor;
  GtkDropDown *item;
  GtkCheckButton *valid;

  QmQuoteBook *book;
  Column columns[QM_N_QUOTE_CELLS];
  QmColumnSort *sort;
  QmQuoteModel *model; /* NULL before there is a book */
  GtkSingleSelection *selection;
  GArray *marked;  /* gint64 */
  GStrv vendors;   /* by position in the choice, from 1 */
  GStrv items;     /* ids */
  gint64 selected; /* id; 0: none */
  gboolean refreshing;
  guint fit_idle;
};

enum
{
  SELECTED,
  ACTIVATED,
  MARKED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmQuoteList, qm_quote_list, GTK_TYPE_WIDGET)

static guint signals[N_SIGNALS];

static const QmQuoteSort sorts[QM_N_QUOTE_CELLS] = {
  [QM_QUOTE_CELL_QUOTE] = QM_QUOTE_SORT_VENDOR,
  [QM_QUOTE_CELL_ISSUED] = QM_QUOTE_SORT_ISSUED,
  [QM_QUOTE_CELL_VALIDITY] = QM_QUOTE_SORT_VALID_UNTIL,
  [QM_QUOTE_CELL_TOTAL] = QM_QUOTE_SORT_TOTAL,
};

/* What is listed. */

static GPtrArray *
find_rows (QmQuoteList *self, QmQuoteIndex *index)
{
  int column = qm_column_sort_get_column (self->sort);
  QmQuoteFilter filter = {
    .search = gtk_editable_get_text (GTK_EDITABLE (self->search)),
    .vendor = qm_quote_choice_get (self->vendor, self->vendors),
    .item = qm_quote_choice_get (self->item, self->items),
  };

  if (gtk_check_button_get_active (self->valid))
    filter.valid_on = qm_date_today ();
  return qm_quote_index_quotes (
      index, &filter, column >= 0 ? sorts[column] : QM_QUOTE_SORT_ADDED,
      column < 0 || qm_column_sort_is_descending (self->sort), 0, G_MAXUINT,
      NULL);
}

static void
show_selected (QmQuoteList *self)
{
  guint position = self->model != NULL
                       ? qm_quote_model_find (self->model, self->selected)
                       : GTK_INVALID_LIST_POSITION;

  self->refreshing = TRUE;
  gtk_single_selection_set_selected (self->selection, position);
  self->refreshing = FALSE;
}

static void
show_filtered (QmQuoteList *self, guint n_listed, guint n_all)
{
  gboolean filters = qm_quote_choice_get (self->vendor, self->vendors) != NULL
                     || qm_quote_choice_get (self->item, self->items) != NULL
                     || gtk_check_button_get_active (self->valid);
  g_autofree char *text =
      n_listed == n_all
          ? g_strdup_printf (ngettext ("%u quote", "%u quotes", n_all), n_all)
          : g_strdup_printf (ngettext ("%u of %u quote", "%u of %u quotes",
                                       n_all),
                             n_listed, n_all);

  gtk_label_set_label (self->filtered, text);
  if (filters)
    gtk_widget_add_css_class (self->filter_button, "accent");
  else
    gtk_widget_remove_css_class (self->filter_button, "accent");
}

/* Where the selected item is, the selection would look for among all items that
 * are new. */
static void
show_rows (QmQuoteList *self, GPtrArray *rows, gboolean anew)
{
  self->refreshing = TRUE;
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  qm_quote_model_set_rows (self->model, rows, anew);
  if (anew && rows->len > 0)
    qm_column_view_scroll_to (self->view, 0);
  self->refreshing = FALSE;
  show_selected (self);
}

/* More rows have come. */
static void
grown_cb (QmQuoteList *self)
{
  if (!self->refreshing)
    show_selected (self);
}

static void
refresh_rows (QmQuoteList *self, gboolean anew)
{
  QmQuoteIndex *index =
      self->book != NULL ? qm_quote_book_get_index (self->book) : NULL;
  const QmQuoteFilter everything = { 0 };
  g_autoptr (GPtrArray) rows = NULL;
  guint n_all = 0;

  if (index == NULL || self->refreshing)
    return;
  rows = find_rows (self, index);
  g_ptr_array_unref (qm_quote_index_quotes (
      index, &everything, QM_QUOTE_SORT_ADDED, TRUE, 0, 1, &n_all));
  show_rows (self, rows, anew);
  gtk_stack_set_visible_child_name (self->stack,
                                    rows->len > 0 ? "list" : "nothing");
  show_filtered (self, rows->len, n_all);
}

/* Something else is asked for: the first answers are what is looked for. */
static void
asked_cb (QmQuoteList *self)
{
  refresh_rows (self, TRUE);
}

/* Marks of quotes that are gone. */
static void
drop_marks (QmQuoteList *self)
{
  QmQuoteIndex *index = qm_quote_book_get_index (self->book);
  gboolean dropped = FALSE;

  for (guint i = self->marked->len; i > 0; i--)
    {
      const QmQuoteRow *row =
          qm_quote_index_get (index,
                              g_array_index (self->marked, gint64, i - 1));

      if (row != NULL && row->deleted_at == 0)
        continue;
      g_array_remove_index (self->marked, i - 1);
      dropped = TRUE;
    }
  if (dropped)
    g_signal_emit (self, signals[MARKED], 0);
}

static void
list_of_book_cb (QmQuoteList *self)
{
  const QmQuoteRow *row;

  self->refreshing = TRUE;
  qm_quote_choice_fill_vendors (self->vendor, &self->vendors, self->book);
  qm_quote_choice_fill_items (self->item, &self->items, self->book);
  self->refreshing = FALSE;
  refresh_rows (self, FALSE);
  drop_marks (self);
  row =
      qm_quote_index_get (qm_quote_book_get_index (self->book), self->selected);
  if (row == NULL || row->deleted_at != 0)
    self->selected = 0;
  show_selected (self);
  g_signal_emit (self, signals[SELECTED], 0);
}

static void
stop_search_cb (QmQuoteList *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
}

static void
show_all_cb (QmQuoteList *self)
{
  self->refreshing = TRUE;
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  gtk_drop_down_set_selected (self->vendor, 0);
  gtk_drop_down_set_selected (self->item, 0);
  gtk_check_button_set_active (self->valid, FALSE);
  self->refreshing = FALSE;
  asked_cb (self);
  gtk_widget_grab_focus (self->search);
}

/* Sorts by the n-th visible column, the other way round if it is sorted so. */
static void
sort_quotes_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_column_sort_toggle (QM_QUOTE_LIST (widget)->sort,
                         g_variant_get_uint32 (parameter));
}

/* Columns. */

static void
setup_quote_cb (GtkListItemFactory *factory,
                GtkListItem *list_item,
                gpointer data)
{
  const Column *column = data;

  gtk_list_item_set_child (list_item,
                           qm_quote_cell_new (column->list, column->kind));
}

static void
bind_quote_cb (GtkListItemFactory *factory,
               GtkListItem *list_item,
               gpointer data)
{
  qm_quote_cell_set_item (gtk_list_item_get_child (list_item),
                          gtk_list_item_get_item (list_item));
}

static void
add_quote_column (QmQuoteList *self, QmQuoteCellKind kind, const char *title)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  Column *column = &self->columns[kind];

  column->list = self;
  column->kind = kind;
  g_signal_connect (factory, "setup", G_CALLBACK (setup_quote_cb), column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_quote_cb), column);
  column->column = gtk_column_view_column_new (title, factory);
  gtk_column_view_column_set_expand (column->column,
                                     kind == QM_QUOTE_CELL_QUOTE);
  if (kind != QM_QUOTE_CELL_MARK)
    qm_column_sort_add (self->sort, column->column, kind);
  gtk_column_view_append_column (self->view, column->column);
  g_object_unref (column->column); /* the view keeps it */
}

/* Selection. */

static void
selection_cb (QmQuoteList *self)
{
  QmQuoteItem *item = gtk_single_selection_get_selected_item (self->selection);

  if (self->refreshing)
    return;
  self->selected = item != NULL ? qm_quote_item_get_shown (item)->id : 0;
  g_signal_emit (self, signals[SELECTED], 0);
}

static void
activate_cb (QmQuoteList *self, guint position)
{
  gtk_single_selection_set_selected (self->selection, position);
  g_signal_emit (self, signals[ACTIVATED], 0);
}

gint64
qm_quote_list_get_selected (QmQuoteList *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), 0);

  return self->selected;
}

void
qm_quote_list_select (QmQuoteList *self, gint64 id)
{
  guint position;

  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  self->selected = id;
  show_selected (self);
  position = gtk_single_selection_get_selected (self->selection);
  if (position != GTK_INVALID_LIST_POSITION)
    qm_column_view_scroll_to (self->view, position);
  g_signal_emit (self, signals[SELECTED], 0);
}

void
qm_quote_list_open (QmQuoteList *self, gint64 id)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  qm_quote_list_select (self, id);
  g_signal_emit (self, signals[ACTIVATED], 0);
}

GArray *
qm_quote_list_get_marked (QmQuoteList *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), NULL);

  return self->marked;
}

gboolean
qm_quote_list_is_marked (QmQuoteList *self, gint64 id)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), FALSE);

  for (guint i = 0; i < self->marked->len; i++)
    if (g_array_index (self->marked, gint64, i) == id)
      return TRUE;
  return FALSE;
}

void
qm_quote_list_mark (QmQuoteList *self, gint64 id, gboolean marked)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  if (qm_quote_list_is_marked (self, id) == marked)
    return;
  if (marked)
    g_array_append_val (self->marked, id);
  else
    for (guint i = 0; i < self->marked->len; i++)
      if (g_array_index (self->marked, gint64, i) == id)
        {
          g_array_remove_index (self->marked, i);
          break;
        }
  g_signal_emit (self, signals[MARKED], 0);
}

void
qm_quote_list_unmark_all (QmQuoteList *self)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  g_array_set_size (self->marked, 0);
  self->refreshing = TRUE;
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  if (self->model != NULL)
    qm_quote_model_touch (self->model);
  self->refreshing = FALSE;
  show_selected (self);
  g_signal_emit (self, signals[MARKED], 0);
}

gboolean
qm_quote_list_focus_rows (QmQuoteList *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), FALSE);

  return gtk_widget_get_mapped (GTK_WIDGET (self->view))
         && gtk_widget_grab_focus (GTK_WIDGET (self->view));
}

void
qm_quote_list_focus_search (QmQuoteList *self)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  gtk_widget_grab_focus (self->search);
}

void
qm_quote_list_set_book (QmQuoteList *self, QmQuoteBook *book)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));
  g_return_if_fail (QM_IS_QUOTE_BOOK (book));
  g_return_if_fail (self->book == NULL);

  self->book = g_object_ref (book);
  self->model = qm_quote_model_new (qm_quote_book_get_keeper (book));
  gtk_single_selection_set_model (self->selection, G_LIST_MODEL (self->model));
  g_signal_connect_object (self->model, "items-changed", G_CALLBACK (grown_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (book, "changed", G_CALLBACK (list_of_book_cb), self,
                           G_CONNECT_SWAPPED);
  if (qm_quote_book_get_index (book) != NULL)
    list_of_book_cb (self);
}

void
qm_quote_list_set_narrow (QmQuoteList *self, gboolean narrow)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  gtk_column_view_set_single_click_activate (self->view, narrow);
}

static double
digit_width (GtkWidget *widget)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  int width = pango_font_metrics_get_approximate_digit_width (metrics);

  pango_font_metrics_unref (metrics);
  return (double) width / PANGO_SCALE;
}

static gboolean
fit_cb (gpointer data)
{
  QmQuoteList *self = data;
  GtkAdjustment *across =
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (self->view));

  self->fit_idle = 0;
  gtk_column_view_column_set_visible (
      self->columns[QM_QUOTE_CELL_ISSUED].column,
      gtk_adjustment_get_page_size (across)
          >= LEAST_DIGITS * digit_width (GTK_WIDGET (self->view)));
  return G_SOURCE_REMOVE;
}

/* Columns cannot come and go while space is given out. */
static void
width_cb (QmQuoteList *self)
{
  if (self->fit_idle == 0)
    self->fit_idle = g_idle_add (fit_cb, self);
}

static void
adjustment_cb (QmQuoteList *self)
{
  GtkAdjustment *across =
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (self->view));

  if (across != NULL)
    g_signal_connect_object (across, "notify::page-size", G_CALLBACK (width_cb),
                             self, G_CONNECT_SWAPPED);
}

static void
qm_quote_list_dispose (GObject *object)
{
  QmQuoteList *self = QM_QUOTE_LIST (object);
  GtkWidget *child;

  g_clear_handle_id (&self->fit_idle, g_source_remove);
  if (self->sort != NULL)
    g_signal_handlers_disconnect_by_data (self->sort, self);
  if (self->view != NULL)
    gtk_column_view_set_model (self->view, NULL);
  g_clear_object (&self->selection);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_object (&self->model);
  g_clear_object (&self->book);
  g_clear_object (&self->sort);
  g_clear_pointer (&self->marked, g_array_unref);
  g_clear_pointer (&self->vendors, g_strfreev);
  g_clear_pointer (&self->items, g_strfreev);

  G_OBJECT_CLASS (qm_quote_list_parent_class)->dispose (object);
}

static void
qm_quote_list_class_init (QmQuoteListClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const char *const names[N_SIGNALS] = { "selected", "activated",
                                                "marked" };

  object_class->dispose = qm_quote_list_dispose;

  for (guint i = 0; i < N_SIGNALS; i++)
    signals[i] =
        g_signal_new (names[i], G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                      NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-quote-list.ui");
  /* The headers of GTK 4.8 never have the keyboard. */
  gtk_widget_class_install_action (widget_class, "table.sort", "u",
                                   sort_quotes_cb);
  for (guint i = 0; i + 1 < QM_N_QUOTE_CELLS; i++)
    gtk_widget_class_add_binding_action (widget_class, GDK_KEY_1 + i,
                                         GDK_CONTROL_MASK, "table.sort", "u",
                                         i);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, search);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList,
                                        filter_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, filtered);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, stack);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, view);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, vendor);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, item);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, valid);
  gtk_widget_class_bind_template_callback (widget_class, asked_cb);
  gtk_widget_class_bind_template_callback (widget_class, stop_search_cb);
  gtk_widget_class_bind_template_callback (widget_class, show_all_cb);
  gtk_widget_class_bind_template_callback (widget_class, activate_cb);
}

static void
qm_quote_list_init (QmQuoteList *self)
{
  const char *const titles[QM_N_QUOTE_CELLS] = {
    [QM_QUOTE_CELL_MARK] = NULL,
    [QM_QUOTE_CELL_QUOTE] = _ ("Quote"),
    [QM_QUOTE_CELL_ISSUED] = _ ("Issued"),
    [QM_QUOTE_CELL_VALIDITY] = _ ("Valid"),
    [QM_QUOTE_CELL_TOTAL] = _ ("Total"),
  };

  self->marked = g_array_new (FALSE, FALSE, sizeof (gint64));
  gtk_widget_init_template (GTK_WIDGET (self));

  self->sort = qm_column_sort_new (self->view);
  for (guint i = 0; i < QM_N_QUOTE_CELLS; i++)
    add_quote_column (self, (QmQuoteCellKind) i, titles[i]);
  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_object (self->view, "notify::hadjustment",
                           G_CALLBACK (adjustment_cb), self, G_CONNECT_SWAPPED);
  adjustment_cb (self);
  g_signal_connect_object (self->selection, "notify::selected-item",
                           G_CALLBACK (selection_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->sort, "changed", G_CALLBACK (asked_cb), self,
                           G_CONNECT_SWAPPED);
}
