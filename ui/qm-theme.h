/* SPDX-License-Identifier: Apache-2.0 */

/* The theme of plots and markers on the screen. */

#pragma once

#include "ui/plot/qm-plot.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The theme that fits the desktop's style as it is now; static. */
const QmPlotTheme *qm_theme_current (void);

/* Calls `callback` with `widget` as its only argument whenever
 * qm_theme_current() changes, as long as the widget lives. */
void qm_theme_watch (GtkWidget *widget, void (*callback) (GtkWidget *widget));

G_END_DECLS
