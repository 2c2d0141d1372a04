/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-list.h"

#include "ui/quotes/qm-quote-choice.h"
#include "ui/quotes/qm-quote-item.h"
#include "ui/quotes/qm-quote-model.h"
#include "ui/quotes/qm-quote-text.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>
#include <string.h>

typedef enum
{
  COLUMN_MARK,
  COLUMN_QUOTE,
  COLUMN_ISSUED,
  COLUMN_VALIDITY,
  COLUMN_TOTAL,
  N_COLUMNS
} ColumnId;

/* A column and the list that it belongs to, for callbacks. */
typedef struct
{
  QmQuoteList *list;
  ColumnId id;
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
  Column columns[N_COLUMNS];
  QmQuoteModel *model; /* NULL before there is a book */
  GtkSingleSelection *selection;
  GArray *marked;  /* gint64 */
  GStrv vendors;   /* by position in the choice, from 1 */
  GStrv items;     /* ids */
  gint64 selected; /* id; 0: none */
  gboolean refreshing;

  QmQuoteItem *probe[2];
  int sort_column; /* -1: unsorted */
  gboolean sort_descending;
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

static const QmQuoteSort sorts[N_COLUMNS] = {
  [COLUMN_QUOTE] = QM_QUOTE_SORT_VENDOR,
  [COLUMN_ISSUED] = QM_QUOTE_SORT_ISSUED,
  [COLUMN_VALIDITY] = QM_QUOTE_SORT_VALID_UNTIL,
  [COLUMN_TOTAL] = QM_QUOTE_SORT_TOTAL,
};

/* What is listed. */

static GPtrArray *
find_rows (QmQuoteList *self, QmQuoteIndex *index)
{
  QmQuoteFilter filter = {
    .search = gtk_editable_get_text (GTK_EDITABLE (self->search)),
    .vendor = qm_quote_choice_get (self->vendor, self->vendors),
    .item = qm_quote_choice_get (self->item, self->items),
  };

  if (gtk_check_button_get_active (self->valid))
    filter.valid_on = qm_date_today ();
  return qm_quote_index_quotes (
      index, &filter,
      self->sort_column > 0 ? sorts[self->sort_column] : QM_QUOTE_SORT_ADDED,
      self->sort_column > 0 ? self->sort_descending : TRUE, 0, G_MAXUINT, NULL);
}

/* A column view cannot be told to scroll, but the list inside it can. */
static void
scroll_to (QmQuoteList *self, guint row)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->view));

  while (child != NULL && !GTK_IS_LIST_VIEW (child))
    child = gtk_widget_get_next_sibling (child);
  if (child != NULL)
    gtk_widget_activate_action (child, "list.scroll-to-item", "u", row);
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
show_rows (QmQuoteList *self, GPtrArray *rows)
{
  self->refreshing = TRUE;
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  qm_quote_model_set_rows (self->model, rows);
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
refresh_cb (QmQuoteList *self)
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
  show_rows (self, rows);
  gtk_stack_set_visible_child_name (self->stack,
                                    rows->len > 0 ? "list" : "nothing");
  show_filtered (self, rows->len, n_all);
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
changed_cb (QmQuoteList *self)
{
  const QmQuoteRow *row;

  self->refreshing = TRUE;
  qm_quote_choice_fill_vendors (self->vendor, &self->vendors, self->book);
  qm_quote_choice_fill_items (self->item, &self->items, self->book);
  self->refreshing = FALSE;
  refresh_cb (self);
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
  refresh_cb (self);
  gtk_widget_grab_focus (self->search);
}

/* Sorting: the column view tells its column and direction only by comparing. */

static int
compare_probe_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  Column *column = data;

  column->list->sort_column = (int) column->id;
  return a == column->list->probe[0] ? GTK_ORDERING_SMALLER
                                     : GTK_ORDERING_LARGER;
}

static void
sorter_changed_cb (QmQuoteList *self,
                   GtkSorterChange change,
                   GtkSorter *view_sorter)
{
  self->sort_column = -1;
  self->sort_descending =
      gtk_sorter_compare (view_sorter, self->probe[0], self->probe[1])
      == GTK_ORDERING_LARGER;
  refresh_cb (self);
}

/* Cells. */

static GtkWidget *
new_cell_label (float xalign, gboolean ellipsize)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), xalign);
  gtk_label_set_justify (GTK_LABEL (label),
                         xalign > 0 ? GTK_JUSTIFY_RIGHT : GTK_JUSTIFY_LEFT);
  if (ellipsize)
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  else
    {
      gtk_label_set_wrap (GTK_LABEL (label), TRUE);
      gtk_label_set_width_chars (GTK_LABEL (label), 10);
      gtk_label_set_max_width_chars (GTK_LABEL (label), 16);
    }
  return label;
}

static void
mark_cb (GtkCheckButton *button, GParamSpec *pspec, QmQuoteList *self)
{
  gint64 *id = g_object_get_data (G_OBJECT (button), "id");

  if (id != NULL)
    qm_quote_list_mark (self, *id, gtk_check_button_get_active (button));
}

/* GTK 4.8 gives the keyboard to what is in a row and never to the row itself,
 * so that Enter would mark what it should open. */
static gboolean
open_cb (GtkEventControllerKey *controller,
         guint keyval,
         guint keycode,
         GdkModifierType state,
         QmQuoteList *self)
{
  GtkWidget *button =
      gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller));
  const gint64 *id = g_object_get_data (G_OBJECT (button), "id");

  if (id == NULL
      || (keyval != GDK_KEY_Return && keyval != GDK_KEY_KP_Enter
          && keyval != GDK_KEY_ISO_Enter)
      || (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return FALSE;
  qm_quote_list_select (self, *id);
  g_signal_emit (self, signals[ACTIVATED], 0);
  return TRUE;
}

static GtkWidget *
new_mark_cell (QmQuoteList *self)
{
  GtkWidget *button = gtk_check_button_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect_object (button, "notify::active", G_CALLBACK (mark_cb), self,
                           0);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_object (keys, "key-pressed", G_CALLBACK (open_cb), self, 0);
  gtk_widget_add_controller (button, keys);
  return button;
}

static GtkWidget *
new_quote_cell (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *detail = new_cell_label (0, TRUE);

  gtk_box_append (GTK_BOX (box), new_cell_label (0, TRUE));
  gtk_widget_add_css_class (detail, "caption");
  gtk_widget_add_css_class (detail, "dim-label");
  gtk_box_append (GTK_BOX (box), detail);
  return box;
}

static void
setup_cb (GtkListItemFactory *factory, GtkListItem *list_item, gpointer data)
{
  Column *column = data;
  GtkWidget *cell;

  if (column->id == COLUMN_MARK)
    cell = new_mark_cell (column->list);
  else if (column->id == COLUMN_QUOTE)
    cell = new_quote_cell ();
  else
    cell = new_cell_label (column->id == COLUMN_TOTAL ? 1 : 0, FALSE);
  if (column->id == COLUMN_TOTAL)
    gtk_widget_add_css_class (cell, "numeric");
  gtk_list_item_set_child (list_item, cell);
}

/* The row that a cell is in has no public name or setter in GTK 4.8; without a
 * label a screen reader announces its type. */
static void
name_row (GtkListItem *list_item, const QmQuoteShown *shown)
{
  GtkWidget *cell = gtk_widget_get_parent (gtk_list_item_get_child (list_item));
  GtkWidget *row = cell != NULL ? gtk_widget_get_parent (cell) : NULL;
  g_autofree char *what = NULL;

  if (row == NULL
      || gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (row))
             != GTK_ACCESSIBLE_ROLE_ROW)
    return;
  what = g_strdup_printf ("%s, %s, %s, %s", shown->title, shown->detail,
                          shown->validity, shown->total);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
}

static gboolean
is_marked (QmQuoteList *self, gint64 id)
{
  for (guint i = 0; i < self->marked->len; i++)
    if (g_array_index (self->marked, gint64, i) == id)
      return TRUE;
  return FALSE;
}

static void
fill_mark (QmQuoteList *self, GtkWidget *cell, const QmQuoteShown *shown)
{
  gint64 *id = g_new (gint64, 1);
  g_autofree char *label = g_strdup_printf (_ ("Compare: %s"), shown->title);

  *id = shown->id;
  g_object_set_data (G_OBJECT (cell), "id", NULL);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (cell),
                               is_marked (self, shown->id));
  g_object_set_data_full (G_OBJECT (cell), "id", id, g_free);
  gtk_widget_set_tooltip_text (cell, _ ("Mark to compare"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static void
set_class (GtkWidget *widget, const char *name, gboolean on)
{
  if (on)
    gtk_widget_add_css_class (widget, name);
  else
    gtk_widget_remove_css_class (widget, name);
}

static void
fill_quote (GtkWidget *cell, const QmQuoteShown *shown)
{
  GtkWidget *title = gtk_widget_get_first_child (cell);
  GtkWidget *detail = gtk_widget_get_last_child (cell);

  gtk_label_set_label (GTK_LABEL (title), shown->title);
  gtk_label_set_label (GTK_LABEL (detail), shown->detail);
  gtk_widget_set_visible (detail, *shown->detail != '\0');
  gtk_widget_set_tooltip_text (cell, shown->title);
  set_class (title, "dim-label", shown->expired);
}

static void
bind_cb (GtkListItemFactory *factory, GtkListItem *list_item, gpointer data)
{
  Column *column = data;
  const QmQuoteShown *shown =
      qm_quote_item_get_shown (gtk_list_item_get_item (list_item));
  GtkWidget *cell = gtk_list_item_get_child (list_item);

  name_row (list_item, shown);
  switch (column->id)
    {
    case COLUMN_MARK:
      fill_mark (column->list, cell, shown);
      break;
    case COLUMN_QUOTE:
      fill_quote (cell, shown);
      break;
    case COLUMN_ISSUED:
      gtk_label_set_label (GTK_LABEL (cell), shown->issued);
      break;
    case COLUMN_VALIDITY:
      gtk_label_set_label (GTK_LABEL (cell), shown->validity);
      set_class (cell, "error", shown->expired);
      break;
    case COLUMN_TOTAL:
    case N_COLUMNS:
    default:
      gtk_label_set_label (GTK_LABEL (cell), shown->total);
      set_class (cell, "warning", shown->warned);
      gtk_widget_set_tooltip_text (
          cell,
          shown->warned ? _ ("Something in this quote needs a look") : NULL);
    }
}

static void
add_column (QmQuoteList *self, ColumnId id, const char *title)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  Column *column = &self->columns[id];

  column->list = self;
  column->id = id;
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cb), column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cb), column);
  column->column = gtk_column_view_column_new (title, factory);
  gtk_column_view_column_set_expand (column->column, id == COLUMN_QUOTE);
  if (id != COLUMN_MARK)
    {
      g_autoptr (GtkSorter) sorter =
          GTK_SORTER (gtk_custom_sorter_new (compare_probe_cb, column, NULL));

      gtk_column_view_column_set_sorter (column->column, sorter);
    }
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
    scroll_to (self, position);
  g_signal_emit (self, signals[SELECTED], 0);
}

GArray *
qm_quote_list_get_marked (QmQuoteList *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), NULL);

  return self->marked;
}

void
qm_quote_list_mark (QmQuoteList *self, gint64 id, gboolean marked)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  if (is_marked (self, id) == marked)
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

guint
qm_quote_list_get_n_listed (QmQuoteList *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_LIST (self), 0);

  return self->model != NULL ? qm_quote_model_n_rows (self->model) : 0;
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
  self->model = qm_quote_model_new (qm_quote_book_get_catalog (book));
  gtk_single_selection_set_model (self->selection, G_LIST_MODEL (self->model));
  g_signal_connect_object (self->model, "items-changed", G_CALLBACK (grown_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (book, "changed", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
  if (qm_quote_book_get_index (book) != NULL)
    changed_cb (self);
}

void
qm_quote_list_set_narrow (QmQuoteList *self, gboolean narrow)
{
  g_return_if_fail (QM_IS_QUOTE_LIST (self));

  gtk_column_view_column_set_visible (self->columns[COLUMN_ISSUED].column,
                                      !narrow);
  gtk_column_view_set_single_click_activate (self->view, narrow);
}

static void
qm_quote_list_dispose (GObject *object)
{
  QmQuoteList *self = QM_QUOTE_LIST (object);
  GtkWidget *child;

  if (self->view != NULL)
    gtk_column_view_set_model (self->view, NULL);
  g_clear_object (&self->selection);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_object (&self->model);
  g_clear_object (&self->book);
  g_clear_object (&self->probe[0]);
  g_clear_object (&self->probe[1]);
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
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, search);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList,
                                        filter_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, filtered);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, stack);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, view);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, vendor);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, item);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteList, valid);
  gtk_widget_class_bind_template_callback (widget_class, refresh_cb);
  gtk_widget_class_bind_template_callback (widget_class, stop_search_cb);
  gtk_widget_class_bind_template_callback (widget_class, show_all_cb);
  gtk_widget_class_bind_template_callback (widget_class, activate_cb);
}

static void
qm_quote_list_init (QmQuoteList *self)
{
  const char *const titles[N_COLUMNS] = {
    [COLUMN_MARK] = NULL,           [COLUMN_QUOTE] = _ ("Quote"),
    [COLUMN_ISSUED] = _ ("Issued"), [COLUMN_VALIDITY] = _ ("Valid"),
    [COLUMN_TOTAL] = _ ("Total"),
  };

  self->marked = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->sort_column = -1;
  for (guint i = 0; i < 2; i++)
    self->probe[i] = g_object_new (QM_TYPE_QUOTE_ITEM, NULL);
  gtk_widget_init_template (GTK_WIDGET (self));

  for (guint i = 0; i < N_COLUMNS; i++)
    add_column (self, (ColumnId) i, titles[i]);
  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_object (self->selection, "notify::selected-item",
                           G_CALLBACK (selection_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_column_view_get_sorter (self->view), "changed",
                           G_CALLBACK (sorter_changed_cb), self,
                           G_CONNECT_SWAPPED);
}
