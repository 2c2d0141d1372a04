/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-overlay.h"

#include <math.h>

#define LIMIT_WIDTH 1.5
#define EXCLUDED    0.07 /* opacity of the shade */
#define RING_GAP    2.5  /* from the marker to a ring */
#define RING_WIDTH  1.6

/* Of more points of a series than this none but the hovered one is coloured. */
#define MAX_COLOURED 150

void
qm_plot_overlay_set_halo (cairo_t *cr, const QmPlotTheme *theme, double alpha)
{
  cairo_set_source_rgba (cr, theme->background.red, theme->background.green,
                         theme->background.blue, alpha);
}

/* --- Frontier ------------------------------------------------------------ */

/* What a line keeps free of; nothing with a radius of 0. */
typedef struct
{
  double x, y, radius;
} Disc;

/* Where a line from within a disc, towards what is so far away, leaves it: as a
 * share of the line; 0 where it does not begin in it. */
static double
leave (const Disc *disc, double x, double y, double to_x, double to_y)
{
  double length = hypot (to_x - x, to_y - y);
  double along, aside;

  if (length <= 0 || hypot (x - disc->x, y - disc->y) >= disc->radius)
    return 0;
  along = ((disc->x - x) * (to_x - x) + (disc->y - y) * (to_y - y)) / length;
  aside = ((disc->x - x) * (to_y - y) - (disc->y - y) * (to_x - x)) / length;
  return (along + sqrt (disc->radius * disc->radius - aside * aside)) / length;
}

/* Adds what of a line is in no marker, the one before it or the one behind. */
static void
add_segment (cairo_t *cr,
             const Disc *before,
             const Disc *behind,
             double x1,
             double y1,
             double x2,
             double y2)
{
  double begin = leave (before, x1, y1, x2, y2);
  double end = 1 - leave (behind, x2, y2, x1, y1);

  if ((end - begin) * hypot (x2 - x1, y2 - y1) <= 2)
    return;
  cairo_move_to (cr, x1 + (x2 - x1) * begin, y1 + (y2 - y1) * begin);
  cairo_line_to (cr, x1 + (x2 - x1) * end, y1 + (y2 - y1) * end);
}

/* From one to the next; as stairs, since between two machines there is none:
 * until one can be paid, it is the time of the cheaper that one has. */
static void
add_step (cairo_t *cr, gboolean stairs, const Disc *one, const Disc *next)
{
  double x = MAX (one->x, next->x), y = MIN (one->y, next->y);

  if (!stairs)
    {
      add_segment (cr, one, next, one->x, one->y, next->x, next->y);
      return;
    }
  add_segment (cr, one, next, one->x, one->y, x, y);
  add_segment (cr, one, next, x, y, next->x, next->y);
}

/* The line is what it is, also where markers are left out. */
static void
draw_frontier (QmPlotOverlay *overlay)
{
  const QmPlotData *data = overlay->data;
  Disc last = { 0, 0, -1 };

  qm_plot_set_frontier_line (overlay->cr, overlay->theme);
  for (guint i = 0; i < data->n_frontier; i++)
    {
      QmPlotPoint point;
      gboolean hidden;
      Disc disc;

      if (data->frontier[i] < 0 || (guint) data->frontier[i] >= data->n_points)
        continue;
      point = data->points[data->frontier[i]];
      hidden = (point.flags & QM_PLOT_POINT_HIDDEN) != 0;
      point.flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
      if (!qm_plot_point_drawable (data, &point))
        continue;
      qm_plot_position (overlay->layout, point.x, point.y, &disc.x, &disc.y);
      disc.radius =
          hidden ? 0 : qm_plot_marker_radius (overlay->theme, point.weight) + 2;
      if (last.radius >= 0)
        add_step (overlay->cr, data->stairs, &last, &disc);
      last = disc;
    }
  cairo_stroke (overlay->cr);
}

/* --- Limits -------------------------------------------------------------- */

/* Whether it lies in the break: beyond zero, before all that is above. */
static gboolean
is_zero_limit (const QmPlotOverlay *overlay)
{
  return overlay->data->x.limit == 0 && qm_plot_has_zero (overlay->layout);
}

gboolean
qm_plot_overlay_has_limit (const QmPlotOverlay *overlay, gboolean vertical)
{
  const QmPlotAxis *axis = vertical ? &overlay->data->y : &overlay->data->x;

  return fabs (axis->limit) <= QM_PLOT_VALUE_MAX
         && (!axis->log || axis->limit > 0
             || (!vertical && is_zero_limit (overlay)));
}

double
qm_plot_overlay_limit (const QmPlotOverlay *overlay,
                       gboolean vertical,
                       int *beyond)
{
  const QmPlotLayout *layout = overlay->layout;
  double x = layout->left;
  double y = layout->top;

  if (vertical)
    qm_plot_position (layout, layout->x_min, overlay->data->y.limit, &x, &y);
  else
    qm_plot_position (layout, overlay->data->x.limit, layout->y_min, &x, &y);
  *beyond = 0;
  if (!vertical && is_zero_limit (overlay))
    return (layout->zero_right + layout->left) / 2;
  if (vertical ? y > layout->bottom : x < layout->left)
    *beyond = -1;
  if (vertical ? y < layout->top : x > layout->right)
    *beyond = 1;
  return vertical ? CLAMP (y, layout->top, layout->bottom)
                  : CLAMP (x, layout->left, layout->right);
}

/* Shades what lies beyond the limits; where two overlap no more than once. */
static void
shade_excluded (QmPlotOverlay *overlay)
{
  const QmPlotLayout *layout = overlay->layout;
  int beyond;
  double right = layout->right;
  double top = layout->top;

  if (qm_plot_overlay_has_limit (overlay, FALSE))
    right = qm_plot_overlay_limit (overlay, FALSE, &beyond);
  if (qm_plot_overlay_has_limit (overlay, TRUE))
    top = qm_plot_overlay_limit (overlay, TRUE, &beyond);
  if (right < layout->right)
    cairo_rectangle (overlay->cr, right, layout->top, layout->right - right,
                     layout->bottom - layout->top);
  if (top > layout->top)
    cairo_rectangle (overlay->cr, layout->zero_left, layout->top,
                     right - layout->zero_left, top - layout->top);
  qm_plot_set_color (overlay->cr, &overlay->theme->limit, EXCLUDED);
  cairo_fill (overlay->cr);
}

static void
draw_limit_lines (QmPlotOverlay *overlay)
{
  const QmPlotLayout *layout = overlay->layout;
  int beyond;
  double at;

  qm_plot_set_color (overlay->cr, &overlay->theme->limit, 1);
  cairo_set_line_cap (overlay->cr, CAIRO_LINE_CAP_BUTT);
  if (qm_plot_overlay_has_limit (overlay, FALSE))
    {
      at = qm_plot_overlay_limit (overlay, FALSE, &beyond);
      if (beyond == 0)
        qm_plot_straight_line (overlay->cr, at, layout->top, at, layout->bottom,
                               LIMIT_WIDTH);
    }
  if (qm_plot_overlay_has_limit (overlay, TRUE))
    {
      at = qm_plot_overlay_limit (overlay, TRUE, &beyond);
      if (beyond == 0)
        qm_plot_straight_line (overlay->cr, layout->zero_left, at,
                               layout->right, at, LIMIT_WIDTH);
    }
}

/* --- Single points ------------------------------------------------------- */

const QmPlotPoint *
qm_plot_overlay_locate (const QmPlotOverlay *overlay,
                        int index,
                        double *x,
                        double *y)
{
  const QmPlotLayout *layout = overlay->layout;
  const QmPlotPoint *point = qm_plot_point_at (overlay->data, index);

  if (point == NULL || !qm_plot_position (layout, point->x, point->y, x, y)
      || *x < layout->zero_left - 0.5 || *x > layout->right + 0.5
      || *y < layout->top - 0.5 || *y > layout->bottom + 0.5)
    return NULL;
  return point;
}

double
qm_plot_overlay_reach (const QmPlotOverlay *overlay, const QmPlotPoint *point)
{
  QmPlotMarker marker;

  qm_plot_marker_init (&marker, overlay->theme,
                       qm_plot_point_style (overlay->data, point),
                       point->weight, point->provenance, point->flags);
  return qm_plot_marker_reach (&marker);
}

/* What a point is without its grey. */
static guint
in_colour (const QmPlotPoint *point)
{
  return point->flags & (guint) ~QM_PLOT_POINT_GREY;
}

/* Draws a marker over what has been drawn of the point, which does not show
 * through where that was grey. */
static void
draw_anew (QmPlotOverlay *overlay,
           const QmPlotPoint *point,
           const QmPlotMarker *marker,
           double x,
           double y)
{
  QmPlotMarker ground = *marker;

  if ((point->flags & QM_PLOT_POINT_GREY) != 0)
    {
      ground.fill = ground.stroke = overlay->theme->background;
      ground.fill.alpha = ground.stroke.alpha = 1;
      ground.cross_arm = 0;
      qm_plot_marker_draw (&ground, overlay->cr, x, y);
    }
  qm_plot_marker_draw (marker, overlay->cr, x, y);
}

/* Gives the other points of a point's series their colour, where they are few
 * enough to be looked at. */
static void
colour_series (QmPlotOverlay *overlay, int index)
{
  const QmPlotData *data = overlay->data;
  const QmPlotPoint *marked = qm_plot_point_at (data, index);
  guint n = 0;

  if (marked == NULL)
    return;
  for (guint i = 0; i < overlay->n_spots; i++)
    n += data->points[overlay->spots[i].index].series == marked->series;
  if (n > MAX_COLOURED)
    return;
  for (guint i = 0; i < overlay->n_spots; i++)
    {
      const QmPlotSpot *spot = &overlay->spots[i];
      const QmPlotPoint *point = &data->points[spot->index];
      QmPlotMarker marker;

      if (point->series != marked->series
          || (point->flags & QM_PLOT_POINT_GREY) == 0)
        continue;
      qm_plot_marker_init (&marker, overlay->theme,
                           qm_plot_point_style (data, point), point->weight,
                           point->provenance, in_colour (point));
      draw_anew (overlay, point, &marker, spot->x, spot->y);
    }
}

/* Draws a marker again in its colour, above the others, with bars that are
 * faint without it, and a ring around it. */
static void
draw_ring (QmPlotOverlay *overlay,
           int index,
           const QmPlotColor *color,
           double gap,
           double width)
{
  cairo_t *cr = overlay->cr;
  const QmPlotPoint *point;
  QmPlotMarker marker;
  double radius;
  double x;
  double y;

  point = qm_plot_overlay_locate (overlay, index, &x, &y);
  if (point == NULL)
    return;
  qm_plot_marker_init (&marker, overlay->theme,
                       qm_plot_point_style (overlay->data, point),
                       point->weight, point->provenance, in_colour (point));
  if (overlay->faint_bars || (point->flags & QM_PLOT_POINT_GREY) != 0)
    qm_plot_draw_interval (cr, overlay->data, overlay->theme, overlay->layout,
                           (guint) index);
  draw_anew (overlay, point, &marker, x, y);
  radius = qm_plot_marker_reach (&marker) + gap;
  cairo_arc (cr, x, y, radius, 0, 2 * G_PI);
  qm_plot_overlay_set_halo (cr, overlay->theme, 0.8);
  cairo_set_line_width (cr, width + 2);
  cairo_stroke_preserve (cr);
  qm_plot_set_color (cr, color, 1);
  cairo_set_line_width (cr, width);
  cairo_stroke (cr);
}

static void
draw_marks (QmPlotOverlay *overlay)
{
  const QmPlotData *data = overlay->data;
  const QmPlotTheme *theme = overlay->theme;
  double selected_gap =
      data->selected == data->recommended
          ? QM_PLOT_RECOMMENDED_GAP + QM_PLOT_RECOMMENDED_RING + 1.5
          : RING_GAP;

  colour_series (overlay, data->hovered);
  draw_ring (overlay, data->recommended, &theme->accent,
             QM_PLOT_RECOMMENDED_GAP, QM_PLOT_RECOMMENDED_RING);
  draw_ring (overlay, data->selected, &theme->text, selected_gap, RING_WIDTH);
  if (data->hovered != data->selected && data->hovered != data->recommended)
    draw_ring (overlay, data->hovered, &theme->faint_text, RING_GAP,
               RING_WIDTH);
}

void
qm_plot_draw_overlay (cairo_t *cr,
                      const QmPlotData *data,
                      const QmPlotTheme *theme,
                      const QmPlotFrame *frame,
                      const QmPlotSpot *spots,
                      guint n,
                      QmPlotText *text)
{
  const QmPlotLayout *layout = &frame->layout;
  QmPlotOverlay overlay = { .cr = cr,
                            .data = data,
                            .theme = theme,
                            .frame = frame,
                            .layout = layout,
                            .text = text,
                            .spots = spots,
                            .n_spots = n };

  overlay.area =
      (QmPlotBox){ layout->zero_left + QM_PLOT_LABEL_EDGE,
                   layout->top + QM_PLOT_LABEL_EDGE,
                   layout->right - layout->zero_left - 2 * QM_PLOT_LABEL_EDGE,
                   layout->bottom - layout->top - 2 * QM_PLOT_LABEL_EDGE };
  qm_plot_clutter_init (&overlay.clutter, data, theme, layout, spots, n);
  overlay.faint_bars = qm_plot_bars_are_many (data, spots, n);
  cairo_save (cr);
  qm_plot_clip_area (cr, layout);
  draw_frontier (&overlay);
  shade_excluded (&overlay);
  draw_limit_lines (&overlay);
  draw_marks (&overlay);
  cairo_restore (cr);
  qm_plot_draw_labels (&overlay);
  qm_plot_clutter_clear (&overlay.clutter);
}
