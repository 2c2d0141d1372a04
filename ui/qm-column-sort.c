/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-column-sort.h"

/* What a column's sorter is asked by. */
typedef struct
{
  QmColumnSort *sort;
  GtkColumnViewColumn *column; /* the view keeps it */
  guint id;
} Column;

struct _QmColumnSort
{
  GObject parent_instance;

  GtkColumnView *view;
  GPtrArray *columns; /* Column */
  GObject *probe[2];  /* every column puts them in this order */
  int column;         /* -1: unsorted */
  gboolean descending;
};

G_DEFINE_FINAL_TYPE (QmColumnSort, qm_column_sort, G_TYPE_OBJECT)

static guint changed_signal;

static int
compare_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  const Column *column = data;

  column->sort->column = (int) column->id;
  return a == column->sort->probe[0] ? GTK_ORDERING_SMALLER
                                     : GTK_ORDERING_LARGER;
}

static void
sorter_changed_cb (QmColumnSort *self,
                   GtkSorterChange change,
                   GtkSorter *view_sorter)
{
  self->column = -1;
  self->descending =
      gtk_sorter_compare (view_sorter, self->probe[0], self->probe[1])
      == GTK_ORDERING_LARGER;
  g_signal_emit (self, changed_signal, 0);
}

QmColumnSort *
qm_column_sort_new (GtkColumnView *view)
{
  QmColumnSort *self;

  g_return_val_if_fail (GTK_IS_COLUMN_VIEW (view), NULL);

  self = g_object_new (QM_TYPE_COLUMN_SORT, NULL);
  self->view = view;
  g_signal_connect_object (gtk_column_view_get_sorter (view), "changed",
                           G_CALLBACK (sorter_changed_cb), self,
                           G_CONNECT_SWAPPED);
  return self;
}

void
qm_column_sort_add (QmColumnSort *self, GtkColumnViewColumn *column, guint id)
{
  g_autoptr (GtkSorter) sorter = NULL;
  Column *added;

  g_return_if_fail (QM_IS_COLUMN_SORT (self));
  g_return_if_fail (GTK_IS_COLUMN_VIEW_COLUMN (column));

  added = g_new (Column, 1);
  *added = (Column){ self, column, id };
  g_ptr_array_add (self->columns, added);
  sorter = GTK_SORTER (gtk_custom_sorter_new (compare_cb, added, NULL));
  gtk_column_view_column_set_sorter (column, sorter);
}

int
qm_column_sort_get_column (QmColumnSort *self)
{
  g_return_val_if_fail (QM_IS_COLUMN_SORT (self), -1);

  return self->column;
}

gboolean
qm_column_sort_is_descending (QmColumnSort *self)
{
  g_return_val_if_fail (QM_IS_COLUMN_SORT (self), FALSE);

  return self->descending;
}

void
qm_column_sort_toggle (QmColumnSort *self, guint n)
{
  g_return_if_fail (QM_IS_COLUMN_SORT (self));

  for (guint i = 0; i < self->columns->len; i++)
    {
      const Column *column = g_ptr_array_index (self->columns, i);

      if (!gtk_column_view_column_get_visible (column->column) || n-- > 0)
        continue;
      gtk_column_view_sort_by_column (self->view, column->column,
                                      self->column == (int) column->id
                                              && !self->descending
                                          ? GTK_SORT_DESCENDING
                                          : GTK_SORT_ASCENDING);
      return;
    }
}

static void
qm_column_sort_finalize (GObject *object)
{
  QmColumnSort *self = QM_COLUMN_SORT (object);

  g_ptr_array_unref (self->columns);
  for (guint i = 0; i < G_N_ELEMENTS (self->probe); i++)
    g_object_unref (self->probe[i]);

  G_OBJECT_CLASS (qm_column_sort_parent_class)->finalize (object);
}

static void
qm_column_sort_class_init (QmColumnSortClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_column_sort_finalize;

  changed_signal =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_column_sort_init (QmColumnSort *self)
{
  self->columns = g_ptr_array_new_with_free_func (g_free);
  self->column = -1;
  for (guint i = 0; i < G_N_ELEMENTS (self->probe); i++)
    self->probe[i] = g_object_new (G_TYPE_OBJECT, NULL);
}
