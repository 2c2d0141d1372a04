/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-column-view.h"

/* The view cannot be told to scroll, but the list inside it can. */
void
qm_column_view_scroll_to (GtkColumnView *view, guint row)
{
  GtkWidget *child;

  g_return_if_fail (GTK_IS_COLUMN_VIEW (view));

  child = gtk_widget_get_first_child (GTK_WIDGET (view));
  while (child != NULL && !GTK_IS_LIST_VIEW (child))
    child = gtk_widget_get_next_sibling (child);
  if (child != NULL)
    gtk_widget_activate_action (child, "list.scroll-to-item", "u", row);
}

/* The row has no public name or setter. */
void
qm_column_view_name_row (GtkWidget *cell, const char *name)
{
  GtkWidget *parent;
  GtkWidget *row;

  g_return_if_fail (GTK_IS_WIDGET (cell) && name != NULL);

  parent = gtk_widget_get_parent (cell);
  row = parent != NULL ? gtk_widget_get_parent (parent) : NULL;
  if (row != NULL
      && gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (row))
             == GTK_ACCESSIBLE_ROLE_ROW)
    gtk_accessible_update_property (GTK_ACCESSIBLE (row),
                                    GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

gboolean
qm_column_view_is_left (GtkWidget *widget, GtkDirectionType direction)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  return (direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD)
         && focus != NULL && gtk_widget_is_ancestor (focus, widget);
}
