/* SPDX-License-Identifier: Apache-2.0 */

/* Small helpers for drawing with Cairo; private to the plot. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* A rectangle in user units. */
typedef struct
{
  double x, y, width, height;
} QmPlotBox;

/* Whether a surface is made of pixels. */
gboolean qm_plot_has_pixels (cairo_surface_t *surface);

/* From user units to the pixels of the target. */
cairo_matrix_t qm_plot_pixel_matrix (cairo_t *cr);

void qm_plot_set_color (cairo_t *cr, const QmPlotColor *color, double alpha);

/* Draws a line along an axis, moved so that it covers whole pixels where there
 * are any. */
void qm_plot_straight_line (
    cairo_t *cr, double x1, double y1, double x2, double y2, double width);

/* Adds a rectangle with round corners to the path. */
void qm_plot_rounded_box (cairo_t *cr, const QmPlotBox *box, double radius);

/* Whether two boxes overlap. */
gboolean qm_plot_boxes_meet (const QmPlotBox *a, const QmPlotBox *b);

G_END_DECLS
