/* SPDX-License-Identifier: Apache-2.0 */

/* By which of its columns a column view is sorted, and in which direction.
 *
 * GTK 4.8 does not tell it, and sorts by comparing items; unknown values come
 * last in both directions here, and long lists are sorted elsewhere. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_COLUMN_SORT (qm_column_sort_get_type ())
G_DECLARE_FINAL_TYPE (QmColumnSort, qm_column_sort, QM, COLUMN_SORT, GObject)

/* Signals:
 *
 *   "changed"  it is sorted by another column or in the other direction
 */

/* view: borrowed; must outlive what is asked of it.  (transfer full) */
QmColumnSort *qm_column_sort_new (GtkColumnView *view);

/* Lets the view be sorted by a column of it, which is called `id` here. */
void
qm_column_sort_add (QmColumnSort *self, GtkColumnViewColumn *column, guint id);

/* The column that the view is sorted by; -1: none. */
int qm_column_sort_get_column (QmColumnSort *self);

/* Whether the greatest come first; FALSE where it is unsorted. */
gboolean qm_column_sort_is_descending (QmColumnSort *self);

/* Sorts by the n-th of the visible columns that it can be sorted by, from 0;
 * the other way round where it is sorted so.  The headers of GTK 4.8 never have
 * the keyboard. */
void qm_column_sort_toggle (QmColumnSort *self, guint n);

G_END_DECLS
