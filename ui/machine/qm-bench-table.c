/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-table.h"

#include "ui/qm-column-sort.h"
#include "ui/qm-column-view.h"
#include "ui/qm-show.h"

#include <glib/gi18n-lib.h>

/* A column and the table that it belongs to, for callbacks. */
typedef struct
{
  QmBenchTable *table;
  QmBenchColumn id;
  GtkColumnViewColumn *column;
} Column;

struct _QmBenchTable
{
  GtkWidget parent_instance;

  GtkWidget *scroller;
  GtkColumnView *view;

  Column columns[QM_BENCH_N_COLUMNS];
  GtkSorter *sorter;
  GtkSortListModel *sorted;
  GtkSingleSelection *selection;

  QmColumnSort *sort;
  guint sort_idle;
  gboolean narrow;
  gboolean several; /* GPUs together: a column more */
};

enum
{
  SELECTED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmBenchTable, qm_bench_table, GTK_TYPE_WIDGET)

static guint signals[N_SIGNALS];

/* Sorting. */

static void
sort_changed_cb (QmBenchTable *self)
{
  gtk_sorter_changed (self->sorter, GTK_SORTER_CHANGE_DIFFERENT);
}

/* Rows that are equal stay in the order of the work: the sort is stable. */
static int
compare_rows_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  QmBenchTable *self = data;

  if (qm_column_sort_get_column (self->sort) < 0)
    return GTK_ORDERING_EQUAL;
  return gtk_ordering_from_cmpfunc (qm_bench_column_compare (
      (QmBenchColumn) qm_column_sort_get_column (self->sort), (QmBenchRow *) a,
      (QmBenchRow *) b, qm_column_sort_is_descending (self->sort)));
}

static gboolean
sort_again_cb (gpointer data)
{
  QmBenchTable *self = data;

  self->sort_idle = 0;
  gtk_sorter_changed (self->sorter, GTK_SORTER_CHANGE_DIFFERENT);
  return G_SOURCE_REMOVE;
}

/* Cells. */

/* In characters: as much as tells rows apart, and where there is no room for
 * that, what leaves some for the state. */
static int
least_width (QmBenchTable *self, QmBenchColumn id)
{
  switch (id)
    {
    case QM_BENCH_COLUMN_METHOD:
      return self->narrow ? 10 : self->several ? 18 : 28;
    case QM_BENCH_COLUMN_STATE:
      return self->narrow ? 10 : 16;
    default:
      return self->narrow ? 8 : 12;
    }
}

static void
fill_cell (GtkListItem *list_item, Column *column)
{
  QmBenchRow *row = gtk_list_item_get_item (list_item);
  GtkWidget *label = gtk_list_item_get_child (list_item);
  g_autofree char *text = NULL;

  if (row == NULL || label == NULL)
    return;
  text = qm_bench_column_text (column->id, row);
  gtk_label_set_label (GTK_LABEL (label), text);
  if (!qm_bench_column_is_number (column->id))
    gtk_label_set_width_chars (GTK_LABEL (label),
                               least_width (column->table, column->id));
  if (!qm_bench_column_is_number (column->id))
    gtk_widget_set_tooltip_text (label, text);
  qm_show_class (label, "dim-label", qm_bench_column_is_predicted (row));
  qm_show_class (label, "error", qm_bench_column_is_failure (column->id, row));
  if (column->id == QM_BENCH_COLUMN_STATE)
    {
      g_autofree char *what = qm_bench_column_describe (row);

      qm_column_view_name_row (label, what);
    }
}

static void
row_changed_cb (QmBenchRow *row, GtkListItem *list_item)
{
  Column *column = g_object_get_data (G_OBJECT (list_item), "column");

  fill_cell (list_item, column);
  if (column->id == QM_BENCH_COLUMN_MODEL && column->table->sort_idle == 0
      && qm_column_sort_get_column (column->table->sort) >= 0)
    column->table->sort_idle = g_idle_add (sort_again_cb, column->table);
}

static void
setup_bench_row_cb (GtkListItemFactory *factory,
                    GtkListItem *list_item,
                    gpointer data)
{
  Column *column = data;
  GtkWidget *label = gtk_label_new (NULL);
  gboolean number = qm_bench_column_is_number (column->id);

  gtk_label_set_xalign (GTK_LABEL (label), number ? 1 : 0);
  if (number)
    gtk_widget_add_css_class (label, "numeric");
  else
    /* Sizes of a model stand at the end of its name. */
    gtk_label_set_ellipsize (GTK_LABEL (label),
                             column->id == QM_BENCH_COLUMN_MODEL
                                 ? PANGO_ELLIPSIZE_MIDDLE
                                 : PANGO_ELLIPSIZE_END);
  g_object_set_data (G_OBJECT (list_item), "column", column);
  gtk_list_item_set_child (list_item, label);
}

static void
bind_bench_row_cb (GtkListItemFactory *factory,
                   GtkListItem *list_item,
                   gpointer data)
{
  fill_cell (list_item, data);
  g_signal_connect (gtk_list_item_get_item (list_item), "changed",
                    G_CALLBACK (row_changed_cb), list_item);
}

static void
unbind_cb (GtkListItemFactory *factory, GtkListItem *list_item, gpointer data)
{
  g_signal_handlers_disconnect_by_func (gtk_list_item_get_item (list_item),
                                        row_changed_cb, list_item);
}

static void
add_bench_column (QmBenchTable *self, QmBenchColumn id)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  Column *column = &self->columns[id];

  column->table = self;
  column->id = id;
  g_signal_connect (factory, "setup", G_CALLBACK (setup_bench_row_cb), column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_bench_row_cb), column);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cb), column);
  column->column =
      gtk_column_view_column_new (qm_bench_column_title (id), factory);
  qm_column_sort_add (self->sort, column->column, id);
  gtk_column_view_column_set_resizable (column->column, TRUE);
  gtk_column_view_column_set_expand (column->column,
                                     id == QM_BENCH_COLUMN_METHOD
                                         || id == QM_BENCH_COLUMN_STATE);
  gtk_column_view_append_column (self->view, column->column);
}

/* Sorts by the n-th visible column, the other way round if it is sorted so. */
static void
sort_bench_rows_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_column_sort_toggle (QM_BENCH_TABLE (widget)->sort,
                         g_variant_get_uint32 (parameter));
}

static void
bench_row_selected_cb (QmBenchTable *self)
{
  g_signal_emit (self, signals[SELECTED], 0);
}

void
qm_bench_table_set_rows (QmBenchTable *self, GListModel *rows)
{
  g_return_if_fail (QM_IS_BENCH_TABLE (self));
  g_return_if_fail (G_IS_LIST_MODEL (rows));

  gtk_sort_list_model_set_model (self->sorted, rows);
}

GListModel *
qm_bench_table_get_rows (QmBenchTable *self)
{
  g_return_val_if_fail (QM_IS_BENCH_TABLE (self), NULL);

  return G_LIST_MODEL (self->sorted);
}

QmBenchRow *
qm_bench_table_get_selected (QmBenchTable *self)
{
  g_return_val_if_fail (QM_IS_BENCH_TABLE (self), NULL);

  return gtk_single_selection_get_selected_item (self->selection);
}

/* Makes titles and cells as wide as there is room. */
static void
fit (QmBenchTable *self, gboolean narrow, gboolean several)
{
  if (self->narrow == narrow && self->several == several)
    return;
  self->narrow = narrow;
  self->several = several;
  gtk_column_view_column_set_title (
      self->columns[QM_BENCH_COLUMN_DAYS].column,
      narrow || several ? _ ("Time")
                        : qm_bench_column_title (QM_BENCH_COLUMN_DAYS));
  /* Cells that are there are filled anew. */
  gtk_column_view_set_model (self->view, NULL);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
}

void
qm_bench_table_set_several (QmBenchTable *self, gboolean several)
{
  g_return_if_fail (QM_IS_BENCH_TABLE (self));

  gtk_column_view_column_set_visible (
      self->columns[QM_BENCH_COLUMN_GPUS].column, several);
  fit (self, self->narrow, several);
}

void
qm_bench_table_set_narrow (QmBenchTable *self, gboolean narrow)
{
  static const QmBenchColumn spare[] = { QM_BENCH_COLUMN_MICRO_BATCH,
                                         QM_BENCH_COLUMN_STEP,
                                         QM_BENCH_COLUMN_MFU,
                                         QM_BENCH_COLUMN_MEMORY };

  g_return_if_fail (QM_IS_BENCH_TABLE (self));

  for (guint i = 0; i < G_N_ELEMENTS (spare); i++)
    gtk_column_view_column_set_visible (self->columns[spare[i]].column,
                                        !narrow);
  fit (self, narrow, self->several);
}

static void
qm_bench_table_dispose (GObject *object)
{
  QmBenchTable *self = QM_BENCH_TABLE (object);

  g_clear_handle_id (&self->sort_idle, g_source_remove);
  if (self->view != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->sort, self);
      gtk_column_view_set_model (self->view, NULL);
    }
  g_clear_object (&self->selection);
  g_clear_object (&self->sorted);
  g_clear_object (&self->sorter);
  for (guint i = 0; i < QM_BENCH_N_COLUMNS; i++)
    g_clear_object (&self->columns[i].column);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->sort);

  G_OBJECT_CLASS (qm_bench_table_parent_class)->dispose (object);
}

static gboolean
qm_bench_table_focus (GtkWidget *widget, GtkDirectionType direction)
{
  return !qm_column_view_is_left (widget, direction)
         && GTK_WIDGET_CLASS (qm_bench_table_parent_class)
                ->focus (widget, direction);
}

static void
qm_bench_table_class_init (QmBenchTableClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_bench_table_dispose;
  widget_class->focus = qm_bench_table_focus;

  signals[SELECTED] =
      g_signal_new ("selected", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-bench-table.ui");
  gtk_widget_class_bind_template_child (widget_class, QmBenchTable, scroller);
  gtk_widget_class_bind_template_child (widget_class, QmBenchTable, view);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c,
                                       GDK_CONTROL_MASK, "machine.copy-row",
                                       NULL);
  /* The headers of GTK 4.8 never have the keyboard. */
  gtk_widget_class_install_action (widget_class, "table.sort", "u",
                                   sort_bench_rows_cb);
  for (guint i = 0; i < QM_BENCH_N_COLUMNS; i++)
    gtk_widget_class_add_binding_action (widget_class, GDK_KEY_1 + i,
                                         GDK_CONTROL_MASK, "table.sort", "u",
                                         i);
}

static void
qm_bench_table_init (QmBenchTable *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));

  self->sort = qm_column_sort_new (self->view);
  for (guint i = 0; i < QM_BENCH_N_COLUMNS; i++)
    add_bench_column (self, (QmBenchColumn) i);

  self->sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare_rows_cb, self, NULL));
  self->sorted = gtk_sort_list_model_new (NULL, g_object_ref (self->sorter));
  self->selection =
      gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->sorted)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  g_signal_connect_object (self->selection, "notify::selected-item",
                           G_CALLBACK (bench_row_selected_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_object (self->sort, "changed", G_CALLBACK (sort_changed_cb),
                           self, G_CONNECT_SWAPPED);
}
