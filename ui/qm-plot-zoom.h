/* SPDX-License-Identifier: Apache-2.0 */

/* Visible ranges of a plot: zooming and moving, on linear and logarithmic axes
 * alike.  Every range lies within `all`, the layout of the plot that shows
 * everything, and spans at least a thousandth of it.
 */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* In data units; NaN everywhere: everything. */
typedef struct
{
  double x_min, x_max, y_min, y_max;
} QmPlotZoom;

QmPlotZoom qm_plot_zoom_all (void);
gboolean qm_plot_zoom_is_all (const QmPlotZoom *range);

/* Zooms `now` by a factor, above 1 goes nearer; the value at the position stays
 * where it is as far as `all` allows. */
QmPlotZoom qm_plot_zoom_by (const QmPlotLayout *now,
                            const QmPlotLayout *all,
                            double factor,
                            double user_x,
                            double user_y);

/* The range of a rectangle of `now`, of which any two opposite corners are
 * given in user units. */
QmPlotZoom qm_plot_zoom_box (const QmPlotLayout *now,
                             const QmPlotLayout *all,
                             double user_x1,
                             double user_y1,
                             double user_x2,
                             double user_y2);

/* Moves what is seen by a distance in user units, as if dragged. */
QmPlotZoom qm_plot_zoom_move (const QmPlotLayout *now,
                              const QmPlotLayout *all,
                              double user_dx,
                              double user_dy);

/* Moves just as far as it takes to see a point well. */
QmPlotZoom qm_plot_zoom_reveal (const QmPlotLayout *now,
                                const QmPlotLayout *all,
                                double x,
                                double y);

G_END_DECLS
