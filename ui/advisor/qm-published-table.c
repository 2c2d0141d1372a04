/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-published-table.h"

#include "ui/qm-column-sort.h"
#include "ui/qm-column-view.h"

/* Less wide than this it leaves out what there is no room for. */
#define NARROW 600

/* Texts are cut to that many characters before anything is scrolled; those like
 * "2 × A100 PCIe 80GB" differ at their ends. */
#define LEAST_CHARS_OF_GPUS 18
#define LEAST_CHARS         10

struct _QmPublishedTable
{
  GtkWidget parent_instance;

  GtkWidget *scroller;
  GtkColumnView *view;

  GtkColumnViewColumn *columns[QM_PUBLISHED_N_COLUMNS];
  GListStore *rows; /* QmPublishedItem */
  GtkSorter *sorter;
  QmColumnSort *sort;

  gboolean several;
  gboolean narrow;
  guint narrow_idle;
};

G_DEFINE_FINAL_TYPE (QmPublishedTable, qm_published_table, GTK_TYPE_WIDGET)

static void
sort_changed_cb (QmPublishedTable *self)
{
  gtk_sorter_changed (self->sorter, GTK_SORTER_CHANGE_DIFFERENT);
}

/* Rows that are equal stay in the order that they came in: the sort is
 * stable. */
static int
compare_rows_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  QmPublishedTable *self = data;
  int column = qm_column_sort_get_column (self->sort);

  if (column < 0)
    return GTK_ORDERING_EQUAL;
  return gtk_ordering_from_cmpfunc (qm_published_item_compare (
      (QmPublishedItem *) a, (QmPublishedItem *) b, (QmPublishedColumn) column,
      qm_column_sort_is_descending (self->sort)));
}

/* Cells. */

static void
setup_published_cb (GtkListItemFactory *factory,
                    GtkListItem *list_item,
                    gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);
  QmPublishedColumn column = (QmPublishedColumn) GPOINTER_TO_INT (data);
  gboolean number = qm_published_column_is_number (column);

  gtk_label_set_xalign (GTK_LABEL (label), number ? 1 : 0);
  if (number)
    gtk_widget_add_css_class (label, "numeric");
  else
    {
      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
      gtk_label_set_width_chars (GTK_LABEL (label), column == QM_PUBLISHED_GPUS
                                                        ? LEAST_CHARS_OF_GPUS
                                                        : LEAST_CHARS);
    }
  gtk_list_item_set_child (list_item, label);
}

static void
bind_published_cb (GtkListItemFactory *factory,
                   GtkListItem *list_item,
                   gpointer data)
{
  QmPublishedColumn column = (QmPublishedColumn) GPOINTER_TO_INT (data);
  QmPublishedItem *item = gtk_list_item_get_item (list_item);
  GtkWidget *label = gtk_list_item_get_child (list_item);

  gtk_label_set_label (GTK_LABEL (label),
                       qm_published_item_get_text (item, column));
  if (!qm_published_column_is_number (column))
    gtk_widget_set_tooltip_text (label,
                                 qm_published_item_get_text (item, column));
  if (column == QM_PUBLISHED_AUDIT)
    gtk_widget_add_css_class (label, "error");
  if (column == QM_PUBLISHED_GPUS)
    qm_column_view_name_row (label, qm_published_item_get_name (item));
}

static void
add_published_column (QmPublishedTable *self, QmPublishedColumn id)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (setup_published_cb),
                    GINT_TO_POINTER (id));
  g_signal_connect (factory, "bind", G_CALLBACK (bind_published_cb),
                    GINT_TO_POINTER (id));
  self->columns[id] =
      gtk_column_view_column_new (qm_published_column_title (id), factory);
  qm_column_sort_add (self->sort, self->columns[id], id);
  gtk_column_view_column_set_resizable (self->columns[id], TRUE);
  gtk_column_view_column_set_expand (self->columns[id],
                                     id == QM_PUBLISHED_GPUS);
  gtk_column_view_append_column (self->view, self->columns[id]);
}

/* Columns that come and go. */

static void
show_columns (QmPublishedTable *self)
{
  static const QmPublishedColumn spare[] = { QM_PUBLISHED_PROVENANCE,
                                             QM_PUBLISHED_INTERVAL,
                                             QM_PUBLISHED_AUDIT };

  for (guint i = 0; i < G_N_ELEMENTS (spare); i++)
    gtk_column_view_column_set_visible (self->columns[spare[i]], !self->narrow);
  gtk_column_view_column_set_visible (self->columns[QM_PUBLISHED_MODEL],
                                      self->several);
}

static gboolean
narrow_cb (gpointer data)
{
  QmPublishedTable *self = data;

  self->narrow_idle = 0;
  show_columns (self);
  return G_SOURCE_REMOVE;
}

/* Columns cannot come and go while space is given out. */
static void
qm_published_table_size_allocate (GtkWidget *widget,
                                  int width,
                                  int height,
                                  int baseline)
{
  QmPublishedTable *self = QM_PUBLISHED_TABLE (widget);
  GtkAllocation all = { 0, 0, width, height };

  gtk_widget_size_allocate (self->scroller, &all, baseline);
  if (self->narrow == (width < NARROW))
    return;
  self->narrow = width < NARROW;
  if (self->narrow_idle == 0)
    self->narrow_idle = g_idle_add (narrow_cb, self);
}

static void
qm_published_table_measure (GtkWidget *widget,
                            GtkOrientation orientation,
                            int for_size,
                            int *minimum,
                            int *natural,
                            int *minimum_baseline,
                            int *natural_baseline)
{
  gtk_widget_measure (QM_PUBLISHED_TABLE (widget)->scroller, orientation,
                      for_size, minimum, natural, minimum_baseline,
                      natural_baseline);
  /* What is above it goes first; it takes what is left. */
  if (orientation == GTK_ORIENTATION_VERTICAL)
    *natural = *minimum;
}

void
qm_published_table_set_rows (QmPublishedTable *self,
                             const QmCompared *rows,
                             guint n_rows)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);

  g_return_if_fail (QM_IS_PUBLISHED_TABLE (self));
  g_return_if_fail (rows != NULL || n_rows == 0);

  for (guint i = 0; i < n_rows; i++)
    g_ptr_array_add (items, qm_published_item_new (&rows[i]));
  g_list_store_splice (self->rows, 0,
                       g_list_model_get_n_items (G_LIST_MODEL (self->rows)),
                       items->pdata, items->len);
}

void
qm_published_table_set_several (QmPublishedTable *self, gboolean several)
{
  g_return_if_fail (QM_IS_PUBLISHED_TABLE (self));

  self->several = several;
  show_columns (self);
}

/* Sorts by the n-th visible column, the other way round if it is sorted so. */
static void
sort_published_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_column_sort_toggle (QM_PUBLISHED_TABLE (widget)->sort,
                         g_variant_get_uint32 (parameter));
}

static void
qm_published_table_dispose (GObject *object)
{
  QmPublishedTable *self = QM_PUBLISHED_TABLE (object);

  g_clear_handle_id (&self->narrow_idle, g_source_remove);
  if (self->scroller != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->sort, self);
      gtk_column_view_set_model (self->view, NULL);
    }
  for (guint i = 0; i < QM_PUBLISHED_N_COLUMNS; i++)
    g_clear_object (&self->columns[i]);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->sorter);
  g_clear_object (&self->rows);
  g_clear_object (&self->sort);
  G_OBJECT_CLASS (qm_published_table_parent_class)->dispose (object);
}

static gboolean
qm_published_table_focus (GtkWidget *widget, GtkDirectionType direction)
{
  return !qm_column_view_is_left (widget, direction)
         && GTK_WIDGET_CLASS (qm_published_table_parent_class)
                ->focus (widget, direction);
}

static void
qm_published_table_class_init (QmPublishedTableClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_published_table_dispose;
  widget_class->size_allocate = qm_published_table_size_allocate;
  widget_class->measure = qm_published_table_measure;
  widget_class->focus = qm_published_table_focus;

  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-published-table.ui");
  gtk_widget_class_bind_template_child (widget_class, QmPublishedTable,
                                        scroller);
  gtk_widget_class_bind_template_child (widget_class, QmPublishedTable, view);
  /* The headers of GTK 4.8 never have the keyboard. */
  gtk_widget_class_install_action (widget_class, "table.sort", "u",
                                   sort_published_cb);
  for (guint i = 0; i < QM_PUBLISHED_N_COLUMNS; i++)
    gtk_widget_class_add_binding_action (widget_class, GDK_KEY_1 + i,
                                         GDK_CONTROL_MASK, "table.sort", "u",
                                         i);
}

static void
qm_published_table_init (QmPublishedTable *self)
{
  GtkSortListModel *sorted;
  g_autoptr (GtkSingleSelection) selection = NULL;

  gtk_widget_init_template (GTK_WIDGET (self));

  self->several = TRUE;
  self->rows = g_list_store_new (QM_TYPE_PUBLISHED_ITEM);
  self->sort = qm_column_sort_new (self->view);
  for (guint i = 0; i < QM_PUBLISHED_N_COLUMNS; i++)
    add_published_column (self, (QmPublishedColumn) i);
  self->sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare_rows_cb, self, NULL));
  sorted = gtk_sort_list_model_new (G_LIST_MODEL (g_object_ref (self->rows)),
                                    g_object_ref (self->sorter));
  selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (selection));
  g_signal_connect_object (self->sort, "changed", G_CALLBACK (sort_changed_cb),
                           self, G_CONNECT_SWAPPED);
}
