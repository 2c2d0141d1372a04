/* SPDX-License-Identifier: Apache-2.0 */

/* What widgets show, set in one word. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows a text.  Most changes change no word, and a label that says it already
 * keeps what is selected in it. */
void qm_show_text (GtkLabel *label, const char *text);

/* Shows a label with a text where there is one, and none for NULL. */
void qm_show_where_any (GtkLabel *label, const char *text);

/* Gives a widget a class of CSS, or takes it away. */
void qm_show_class (GtkWidget *widget, const char *name, gboolean on);

G_END_DECLS
