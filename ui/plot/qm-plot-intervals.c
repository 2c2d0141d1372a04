/* SPDX-License-Identifier: Apache-2.0 */

/* Bars over what the values of points may be. */

#include "config.h"

#include "ui/plot/qm-plot-private.h"

#include <math.h>

#define BAR_WIDTH 1.25
#define CAP_HALF  3.5 /* of the strokes at both ends */

static double
in_area (const QmPlotLayout *layout, double y)
{
  return CLAMP (y, layout->top - CAP_HALF, layout->bottom + CAP_HALF);
}

static void
draw_arm (cairo_t *cr, double x, double y, double radius, double end)
{
  if (fabs (end - y) <= radius)
    return;
  cairo_move_to (cr, x, end > y ? y + radius : y - radius);
  cairo_line_to (cr, x, end);
  cairo_move_to (cr, x - CAP_HALF, end);
  cairo_line_to (cr, x + CAP_HALF, end);
}

/* The marker stays hollow. */
static void
draw_bar (cairo_t *cr,
          const QmPlotProjection *projection,
          const QmPlotLayout *layout,
          const QmPlotPoint *point,
          const QmPlotInterval *interval,
          double radius)
{
  double x, y, low, high;

  qm_plot_project (projection, point->x, point->y, &x, &y);
  qm_plot_project (projection, point->x, interval->low, &x, &low);
  qm_plot_project (projection, point->x, interval->high, &x, &high);
  draw_arm (cr, x, y, radius, in_area (layout, low));
  draw_arm (cr, x, y, radius, in_area (layout, high));
  cairo_stroke (cr);
}

void
qm_plot_draw_intervals (cairo_t *cr,
                        const QmPlotData *data,
                        const QmPlotTheme *theme,
                        const QmPlotFrame *frame,
                        const QmPlotSpot *spots,
                        guint n)
{
  QmPlotProjection projection;

  if (data->intervals == NULL)
    return;
  qm_plot_projection_init (&projection, &frame->layout);
  cairo_set_line_width (cr, BAR_WIDTH);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_BUTT);
  for (guint i = 0; i < n; i++)
    {
      const QmPlotPoint *point = &data->points[spots[i].index];
      const QmPlotInterval *interval = &data->intervals[spots[i].index];
      const QmPlotColor *color =
          &theme->palette[qm_plot_point_style (data, point) % QM_PLOT_N_STYLES];
      gboolean dimmed = (point->flags & QM_PLOT_POINT_DIMMED) != 0;

      if (!qm_plot_interval_drawable (data, interval))
        continue;
      cairo_set_source_rgba (cr, color->red, color->green, color->blue,
                             color->alpha * (dimmed ? theme->dim_alpha : 1));
      draw_bar (cr, &projection, &frame->layout, point, interval,
                qm_plot_marker_radius (theme, point->weight));
    }
}
