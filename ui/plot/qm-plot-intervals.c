/* SPDX-License-Identifier: Apache-2.0 */

/* Bars over what the values of points may be. */

#include "config.h"

#include "ui/plot/qm-plot-private.h"

#include <math.h>

#define BAR_WIDTH 1.25
#define CAP_HALF  3.5 /* of the strokes at both ends */

/* The bars of more points than that would hide the markers, and of still more
 * nothing could be read; who wants them marks a point. */
#define MANY     24
#define TOO_MANY 200
#define FAINT    0.25

/* What is out of the plotting area ends at its edge, without a stroke. */
static void
draw_arm_across (cairo_t *cr,
                 const QmPlotLayout *layout,
                 double x,
                 double y,
                 double radius,
                 double end)
{
  double seen = CLAMP (end, layout->left, layout->right);

  if (fabs (end - x) <= radius)
    return;
  cairo_move_to (cr, end > x ? x + radius : x - radius, y);
  cairo_line_to (cr, seen, y);
  if (seen != end)
    return;
  cairo_move_to (cr, end, y - CAP_HALF);
  cairo_line_to (cr, end, y + CAP_HALF);
}

static void
draw_arm_down (cairo_t *cr,
               const QmPlotLayout *layout,
               double x,
               double y,
               double radius,
               double end)
{
  double seen = CLAMP (end, layout->top, layout->bottom);

  if (fabs (end - y) <= radius)
    return;
  cairo_move_to (cr, x, end > y ? y + radius : y - radius);
  cairo_line_to (cr, x, seen);
  if (seen != end)
    return;
  cairo_move_to (cr, x - CAP_HALF, end);
  cairo_line_to (cr, x + CAP_HALF, end);
}

/* The marker stays hollow. */
static void
draw_bars (cairo_t *cr,
           const QmPlotProjection *projection,
           const QmPlotLayout *layout,
           const QmPlotPoint *point,
           const QmPlotInterval *of_x,
           const QmPlotInterval *of_y,
           double radius)
{
  double x, y, left, right, lower, upper, unused;

  qm_plot_project (projection, point->x, point->y, &x, &y);
  if (of_x != NULL)
    {
      qm_plot_project (projection, of_x->low, point->y, &left, &unused);
      qm_plot_project (projection, of_x->high, point->y, &right, &unused);
      draw_arm_across (cr, layout, x, y, radius, left);
      draw_arm_across (cr, layout, x, y, radius, right);
    }
  if (of_y != NULL)
    {
      qm_plot_project (projection, point->x, of_y->low, &unused, &lower);
      qm_plot_project (projection, point->x, of_y->high, &unused, &upper);
      draw_arm_down (cr, layout, x, y, radius, lower);
      draw_arm_down (cr, layout, x, y, radius, upper);
    }
  cairo_stroke (cr);
}

/* Draws the bars of one point, if it has any. */
static void
draw_bars_of (cairo_t *cr,
              const QmPlotData *data,
              const QmPlotTheme *theme,
              const QmPlotLayout *layout,
              const QmPlotProjection *projection,
              guint index,
              gboolean grey,
              double alpha)
{
  const QmPlotPoint *point = &data->points[index];
  const QmPlotInterval *of_x =
      qm_plot_interval_at (&data->x, data->x_intervals, index);
  const QmPlotInterval *of_y =
      qm_plot_interval_at (&data->y, data->y_intervals, index);
  const QmPlotColor *color =
      grey ? &theme->grey
           : &theme->palette[qm_plot_point_style (data, point)
                             % QM_PLOT_N_STYLES];

  if (of_x == NULL && of_y == NULL)
    return;
  if ((point->flags & QM_PLOT_POINT_DIMMED) != 0)
    alpha *= theme->dim_alpha;
  cairo_set_source_rgba (cr, color->red, color->green, color->blue,
                         color->alpha * alpha);
  cairo_set_line_width (cr, BAR_WIDTH);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_BUTT);
  draw_bars (cr, projection, layout, point, of_x, of_y,
             qm_plot_marker_radius (theme, point->weight));
}

/* How many points have bars, no more than `most`. */
static guint
count_bars (const QmPlotData *data,
            const QmPlotSpot *spots,
            guint n,
            guint most)
{
  guint bars = 0;

  for (guint i = 0; i < n && bars < most; i++)
    bars += qm_plot_interval_at (&data->x, data->x_intervals, spots[i].index)
                != NULL
            || qm_plot_interval_at (&data->y, data->y_intervals, spots[i].index)
                   != NULL;
  return bars;
}

gboolean
qm_plot_bars_are_many (const QmPlotData *data, const QmPlotSpot *spots, guint n)
{
  return count_bars (data, spots, n, MANY + 1) > MANY;
}

gboolean
qm_plot_bars_are_too_many (const QmPlotData *data,
                           const QmPlotSpot *spots,
                           guint n)
{
  return count_bars (data, spots, n, TOO_MANY + 1) > TOO_MANY;
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
  double alpha;

  if ((data->x_intervals == NULL && data->y_intervals == NULL)
      || qm_plot_bars_are_too_many (data, spots, n))
    return;
  alpha = qm_plot_bars_are_many (data, spots, n) ? FAINT : 1;
  qm_plot_projection_init (&projection, &frame->layout);
  for (guint i = 0; i < n; i++)
    {
      guint index = spots[i].index;

      draw_bars_of (cr, data, theme, &frame->layout, &projection, index,
                    data->points[index].flags & QM_PLOT_POINT_GREY, alpha);
    }
}

void
qm_plot_draw_interval (cairo_t *cr,
                       const QmPlotData *data,
                       const QmPlotTheme *theme,
                       const QmPlotLayout *layout,
                       guint index)
{
  QmPlotProjection projection;

  qm_plot_projection_init (&projection, layout);
  draw_bars_of (cr, data, theme, layout, &projection, index, FALSE, 1);
}
