/* SPDX-License-Identifier: Apache-2.0 */

/* A plot on the screen; its source says what the points are.
 *
 * Pointing at a point shows its label, a click selects it and a click beside
 * the points unselects.  Dragging draws the rectangle to zoom to, Ctrl and the
 * wheel or a pinch zoom at the pointer, the middle button moves a zoomed plot
 * and a double click shows everything again.  With the keyboard the arrow keys
 * walk the points, Home and End go to the first and the last across, Return
 * selects, Escape leaves, + - 0 zoom.
 *
 * A walked point is what the widget is called for a screen reader, so that it
 * is spoken; otherwise the name sums the plot up.
 */

#pragma once

#include "ui/qm-plot-source.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_PLOT_VIEW (qm_plot_view_get_type ())
G_DECLARE_FINAL_TYPE (QmPlotView, qm_plot_view, QM, PLOT_VIEW, GtkWidget)

/* A view of a source.  It follows the source; while that has no plot it shows
 * nothing. */
GtkWidget *qm_plot_view_new (QmPlotSource *source);

/* What is drawn; NULL while there is nothing.  (transfer none) (nullable) */
const QmPlotData *qm_plot_view_get_data (QmPlotView *self);

/* What it was made for. */
/* Zooms by a factor (above 1 goes nearer) at a position of the widget, or with
 * NaN at the selected or recommended point where that is in sight and else at
 * the middle.  Never shows more than everything. */
void qm_plot_view_zoom (QmPlotView *self, double factor, double x, double y);

/* Shows everything again. */
void qm_plot_view_zoom_reset (QmPlotView *self);

/* Whether less than everything is shown. */
gboolean qm_plot_view_is_zoomed (QmPlotView *self);

/* The visible range in data units, NaN everywhere where that is everything. */
void qm_plot_view_get_range (QmPlotView *self, double range[4]);

G_END_DECLS
