/* SPDX-License-Identifier: Apache-2.0 */

/* Windows that stand before another one. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows `dialog` before `parent` and closes it together with that; `parent` may
 * be NULL.
 *
 * In place of GtkWindow:destroy-with-parent, after which GTK still knows the
 * parent: it reads it when the last reference to the dialog goes, as of a
 * question that is answered after both were closed. */
void qm_dialog_follow (GtkWindow *dialog, GtkWindow *parent);

G_END_DECLS
