/* SPDX-License-Identifier: Apache-2.0 */

/* A paragraph that changes often.
 *
 * A label that wraps shapes its text about five times for every change: for its
 * least and natural width and height, and to draw it.  This one says nothing of
 * its width, so that once will do. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_TEXT (qm_text_get_type ())
G_DECLARE_FINAL_TYPE (QmText, qm_text, QM, TEXT, GtkWidget)

/* An empty paragraph. */
GtkWidget *qm_text_new (void);

/* Shows a text, which is also what the widget is called for assistive
 * technology.  Costs nothing where it shows it already. */
void qm_text_set_text (QmText *self, const char *text);

G_END_DECLS
