/* SPDX-License-Identifier: Apache-2.0 */

/* What column views of GTK 4.8 can do but do not offer. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Scrolls to a row, by its position in the model. */
void qm_column_view_scroll_to (GtkColumnView *view, guint row);

/* Names the row that a cell is in, for screen readers, which would announce its
 * type.
 *
 * cell: the child of its list item. */
void qm_column_view_name_row (GtkWidget *cell, const char *name);

/* Whether the focus should leave the widget that a table fills: with Tab, which
 * GTK 4.8 would send through every row, while arrow keys do that as well. */
gboolean qm_column_view_is_left (GtkWidget *widget, GtkDirectionType direction);

G_END_DECLS
