/* SPDX-License-Identifier: Apache-2.0 */

/* What is scrolled sideways alone, within a page that is scrolled up and down:
 * GTK 4.8 lets it swallow the turns of a wheel that are the page's. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* From now on what is scrolled up and down over it goes to what it is in; with
 * the shift key it goes sideways, as everywhere. */
void qm_sideways_init (GtkScrolledWindow *scroller);

G_END_DECLS
