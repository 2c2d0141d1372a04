/* SPDX-License-Identifier: Apache-2.0 */

/* What the tests of widgets share. */

#pragma once

#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

/* Starts GTK and the test program. */
void widgets_init (int *argc, char ***argv);

/* The shipped catalog, loaded once, and who keeps it. */
const QmCatalog *widgets_catalog (void);
QmCatalogKeeper *widgets_keeper (void);

/* The `index`th widget of that type in `root`, depth first; fails the test
 * where there is none. */
gpointer widgets_find (gpointer root, GType type, guint index);

/* Likewise the button with that label or tooltip. */
GtkWidget *widgets_find_button (gpointer root, const char *text);

/* How many widgets of that type are in `root`, and are shown in it. */
guint widgets_count (gpointer root, GType type);
guint widgets_count_visible (gpointer root, GType type);

/* How many rows the first table in `root` has. */
guint widgets_count_rows (gpointer root);

/* Runs the main loop until nothing is pending. */
void widgets_settle (void);

/* The value of a property that is a double. */
double widgets_get_double (gpointer object, const char *property);

/* What a widget is called for assistive technology. (transfer full) */
char *widgets_get_label (gpointer widget);

/* Counts notifications in *count. */
void widgets_count_notify (gpointer object, const char *property, guint *count);

/* That the least height of each widget in `root` that measures itself is that
 * of any width: GTK 4.18 gives it no less, and warns where that is more than it
 * then asks for. */
void widgets_assert_least_heights (gpointer root);

/* Whether the one drop target of a widget takes what is dropped on it, of a
 * type that it must ask for: a string, a boxed type, or an object. */
gboolean widgets_drop (gpointer widget, GType type, gconstpointer content);

/* Drops the widget, which must be its last reference. */
void widgets_finalize (gpointer widget);
