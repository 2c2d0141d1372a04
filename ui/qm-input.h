/* SPDX-License-Identifier: Apache-2.0 */

/* How controls for numbers behave in the side panel. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Leaves the wheel to whatever scrolls around the widget, a GtkRange or
 * GtkSpinButton: scrolling a panel must not change the value that happens to
 * be under the pointer. */
void qm_input_ignore_wheel (GtkWidget *widget);

/* Names a button otherwise than by the text that it shows. */
void qm_input_name_button (GtkWidget *button, const char *name);

/* Names a list to drop down by what it chooses and what is chosen. */
void qm_input_name_drop_down (GtkDropDown *drop_down,
                              const char *title,
                              const char *choice);

/* Names a button that resets what `title` titles. */
void qm_input_name_reset (GtkWidget *button, const char *title);

/* Writes whole numbers without decimals. */
void qm_input_short_numbers (GtkSpinButton *spin);

G_END_DECLS
