/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-clutter.h"
#include "ui/plot/qm-plot-private.h"

#include <math.h>
#include <string.h>

#define LIMIT_WIDTH  1.5
#define EXCLUDED     0.07 /* opacity of the shade */
#define LABEL_X      6.0  /* padding of a label's box */
#define LABEL_Y      3.0
#define LABEL_RADIUS 5.0
#define EDGE         3.0 /* labels keep this far from the edges */
#define HALO         0.6 /* behind labels without a border */

#define RING_GAP         2.5 /* from the marker to a ring */
#define RING_WIDTH       1.6
#define RECOMMENDED_GAP  4.5
#define RECOMMENDED_RING 2.4

/* Widths of labels, as shares of the width that there is. */
#define MAX_LABEL_SHARE 0.6
#define MAX_RECOMMENDED 0.6

/* Narrower plots, small multiples mostly, have no room for the name of a limit
 * where points are. */
#define SMALL_WIDTH   280
#define MAX_HOVER_EMS 26

typedef struct
{
  cairo_t *cr;
  const QmPlotData *data;
  const QmPlotTheme *theme;
  const QmPlotFrame *frame;
  const QmPlotLayout *layout;
  QmPlotText text;
  QmPlotClutter clutter;
  gboolean faint_bars;
  QmPlotBox area; /* where labels may be */
} Overlay;

/* Parts of a label's box. */
typedef struct
{
  const QmPlotColor *text;
  const QmPlotColor *border; /* NULL: none */
  double opacity;
} LabelStyle;

/* A background that labels can be read on, whatever lies below. */
static void
set_halo (cairo_t *cr, const QmPlotTheme *theme, double alpha)
{
  cairo_set_source_rgba (cr, theme->background.red, theme->background.green,
                         theme->background.blue, alpha);
}

/* Draws what the text has taken up in a rounded box. */
static void
draw_label (Overlay *overlay, const QmPlotBox *box, const LabelStyle *style)
{
  cairo_t *cr = overlay->cr;

  qm_plot_rounded_box (cr, box, LABEL_RADIUS);
  set_halo (cr, overlay->theme, style->opacity);
  if (style->border != NULL)
    {
      cairo_fill_preserve (cr);
      qm_plot_set_color (cr, style->border, 1);
      cairo_set_line_width (cr, 1);
      cairo_stroke (cr);
    }
  else
    {
      cairo_fill (cr);
    }
  qm_plot_set_color (cr, style->text, 1);
  qm_plot_text_show (&overlay->text, cr, box->x + LABEL_X, box->y + LABEL_Y);
}

/* The size of a box around what the text has taken up. */
static void
measure_label (Overlay *overlay, QmPlotBox *box)
{
  qm_plot_text_get_size (&overlay->text, &box->width, &box->height);
  box->width = ceil (box->width) + 2 * LABEL_X;
  box->height = ceil (box->height) + 2 * LABEL_Y;
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
draw_frontier (Overlay *overlay)
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
is_zero_limit (const Overlay *overlay)
{
  return overlay->data->x.limit == 0 && qm_plot_has_zero (overlay->layout);
}

static gboolean
has_limit (const Overlay *overlay, gboolean vertical)
{
  const QmPlotAxis *axis = vertical ? &overlay->data->y : &overlay->data->x;

  return fabs (axis->limit) <= QM_PLOT_VALUE_MAX
         && (!axis->log || axis->limit > 0
             || (!vertical && is_zero_limit (overlay)));
}

/* Where the limit of an axis lies, kept within the plotting area; `beyond`
 * becomes -1 or 1 where it really lies before or after it. */
static double
limit_position (const Overlay *overlay, gboolean vertical, int *beyond)
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
shade_excluded (Overlay *overlay)
{
  const QmPlotLayout *layout = overlay->layout;
  int beyond;
  double right = layout->right;
  double top = layout->top;

  if (has_limit (overlay, FALSE))
    right = limit_position (overlay, FALSE, &beyond);
  if (has_limit (overlay, TRUE))
    top = limit_position (overlay, TRUE, &beyond);
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
draw_limit_lines (Overlay *overlay)
{
  const QmPlotLayout *layout = overlay->layout;
  int beyond;
  double at;

  qm_plot_set_color (overlay->cr, &overlay->theme->limit, 1);
  cairo_set_line_cap (overlay->cr, CAIRO_LINE_CAP_BUTT);
  if (has_limit (overlay, FALSE))
    {
      at = limit_position (overlay, FALSE, &beyond);
      if (beyond == 0)
        qm_plot_straight_line (overlay->cr, at, layout->top, at, layout->bottom,
                               LIMIT_WIDTH);
    }
  if (has_limit (overlay, TRUE))
    {
      at = limit_position (overlay, TRUE, &beyond);
      if (beyond == 0)
        qm_plot_straight_line (overlay->cr, layout->zero_left, at,
                               layout->right, at, LIMIT_WIDTH);
    }
}

/* The label, with an arrow to where the limit is when it is out of sight. */
static char *
limit_text (const QmPlotAxis *axis, gboolean vertical, int beyond)
{
  if (beyond < 0)
    return g_strconcat (vertical ? "↓ " : "← ", axis->limit_label, NULL);
  if (beyond > 0)
    return g_strconcat (axis->limit_label, vertical ? " ↑" : " →", NULL);
  return g_strdup (axis->limit_label);
}

/* Moves the label of a limit along its line to where it covers nothing. Returns
 * FALSE where there is no such place. */
static gboolean
move_along (const Overlay *overlay, gboolean vertical, QmPlotBox *box)
{
  const QmPlotBox *area = &overlay->area;
  QmPlotBox moved = *box;

  while (moved.x >= area->x && moved.y + moved.height <= area->y + area->height)
    {
      if (qm_plot_clutter_cost (&overlay->clutter, &moved) <= 0)
        {
          *box = moved;
          return TRUE;
        }
      if (vertical)
        moved.x -= box->height;
      else
        moved.y += box->height;
    }
  return FALSE;
}

static void
draw_limit_label (Overlay *overlay, gboolean vertical)
{
  const QmPlotAxis *axis = vertical ? &overlay->data->y : &overlay->data->x;
  const QmPlotBox *area = &overlay->area;
  LabelStyle style = { &overlay->theme->limit, NULL, HALO };
  g_autofree char *label = NULL;
  QmPlotBox box;
  int beyond;
  double at;

  if (!has_limit (overlay, vertical) || axis->limit_label == NULL
      || *axis->limit_label == '\0')
    return;
  at = limit_position (overlay, vertical, &beyond);
  label = limit_text (axis, vertical, beyond);
  qm_plot_text_set (&overlay->text, label, QM_PLOT_FONT_NORMAL,
                    area->width * MAX_LABEL_SHARE);
  measure_label (overlay, &box);
  if (box.width > area->width || box.height > area->height)
    return;
  /* Beyond the line, at the end away from the origin, if it fits there. */
  box.x = vertical ? area->x + area->width - box.width : at + EDGE;
  box.y = vertical ? at - EDGE - box.height : area->y;
  if (!vertical && box.x + box.width > area->x + area->width)
    box.x = at - EDGE - box.width;
  if (vertical && box.y < area->y)
    box.y = at + EDGE;
  box.x = CLAMP (box.x, area->x, area->x + area->width - box.width);
  box.y = CLAMP (box.y, area->y, area->y + area->height - box.height);
  for (guint i = 0; i < overlay->clutter.n_taken; i++)
    if (qm_plot_boxes_meet (&box, &overlay->clutter.taken[i]))
      box.y = MIN (overlay->clutter.taken[i].y
                       + overlay->clutter.taken[i].height + 1,
                   area->y + area->height - box.height);
  if (area->width < SMALL_WIDTH && !move_along (overlay, vertical, &box))
    return;
  draw_label (overlay, &box, &style);
  qm_plot_clutter_take (&overlay->clutter, &box);
}

/* --- Single points ------------------------------------------------------- */

/* Where a point lies.  Returns NULL where it is not in sight. */
static const QmPlotPoint *
locate (const Overlay *overlay, int index, double *x, double *y)
{
  const QmPlotLayout *layout = overlay->layout;
  const QmPlotPoint *point = qm_plot_point_at (overlay->data, index);

  if (point == NULL || !qm_plot_position (layout, point->x, point->y, x, y)
      || *x < layout->zero_left - 0.5 || *x > layout->right + 0.5
      || *y < layout->top - 0.5 || *y > layout->bottom + 0.5)
    return NULL;
  return point;
}

static double
reach_of (const Overlay *overlay, const QmPlotPoint *point)
{
  QmPlotMarker marker;

  qm_plot_marker_init (&marker, overlay->theme,
                       qm_plot_point_style (overlay->data, point),
                       point->weight, point->provenance, point->flags);
  return qm_plot_marker_reach (&marker);
}

/* Draws a marker again, above the others, with bars that are faint without it,
 * and a ring around it. */
static void
draw_ring (Overlay *overlay,
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

  point = locate (overlay, index, &x, &y);
  if (point == NULL)
    return;
  qm_plot_marker_init (&marker, overlay->theme,
                       qm_plot_point_style (overlay->data, point),
                       point->weight, point->provenance, point->flags);
  if (overlay->faint_bars)
    qm_plot_draw_interval (cr, overlay->data, overlay->theme, overlay->layout,
                           (guint) index);
  qm_plot_marker_draw (&marker, cr, x, y);
  radius = qm_plot_marker_reach (&marker) + gap;
  cairo_arc (cr, x, y, radius, 0, 2 * G_PI);
  set_halo (cr, overlay->theme, 0.8);
  cairo_set_line_width (cr, width + 2);
  cairo_stroke_preserve (cr);
  qm_plot_set_color (cr, color, 1);
  cairo_set_line_width (cr, width);
  cairo_stroke (cr);
}

/* A thin line from a ring to a label that had to go further away. */
static void
draw_leader (
    Overlay *overlay, double x, double y, double radius, const QmPlotBox *box)
{
  double end_x = CLAMP (x, box->x, box->x + box->width);
  double end_y = CLAMP (y, box->y, box->y + box->height);
  double length = hypot (end_x - x, end_y - y);

  if (length <= radius + 2)
    return;
  cairo_move_to (overlay->cr, x + (end_x - x) * radius / length,
                 y + (end_y - y) * radius / length);
  cairo_line_to (overlay->cr, end_x, end_y);
  qm_plot_set_color (overlay->cr, &overlay->theme->accent, 0.7);
  cairo_set_line_width (overlay->cr, 1);
  cairo_stroke (overlay->cr);
}

/* Takes up the label of the recommended point, or the short one where it would
 * hide half of the plot.  Returns FALSE where neither fits. */
static gboolean
set_recommended_text (Overlay *overlay, QmPlotBox *box)
{
  const char *labels[] = { overlay->data->recommended_label,
                           overlay->data->recommended_short };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      if (labels[i] == NULL || *labels[i] == '\0')
        continue;
      qm_plot_text_set (&overlay->text, labels[i], QM_PLOT_FONT_STRONG,
                        overlay->area.width * 2);
      measure_label (overlay, box);
      if (box->width <= overlay->area.width * MAX_RECOMMENDED
          && box->height <= overlay->area.height)
        return TRUE;
    }
  return FALSE;
}

static void
draw_recommended_label (Overlay *overlay)
{
  LabelStyle style = { &overlay->theme->text, &overlay->theme->accent, 0.94 };
  const QmPlotPoint *point;
  QmPlotBox box;
  double distance;
  double radius;
  double x;
  double y;

  point = locate (overlay, overlay->data->recommended, &x, &y);
  if (point == NULL || !set_recommended_text (overlay, &box))
    return;
  radius = reach_of (overlay, point) + RECOMMENDED_GAP + RECOMMENDED_RING / 2;
  distance = qm_plot_clutter_place (&overlay->clutter, &overlay->area, x, y,
                                    radius, FALSE, &box);
  if (distance > 10)
    draw_leader (overlay, x, y, radius, &box);
  draw_label (overlay, &box, &style);
  qm_plot_clutter_take (&overlay->clutter, &box);
}

static void
draw_hovered_label (Overlay *overlay)
{
  LabelStyle style = { &overlay->theme->text, &overlay->theme->faint_text,
                       0.97 };
  const QmPlotLayout *layout = overlay->layout;
  QmPlotBox bounds = { EDGE, EDGE, layout->width - 2 * EDGE,
                       layout->height - 2 * EDGE };
  const char *label = overlay->data->hovered_label;
  const QmPlotPoint *point;
  QmPlotBox box;
  double x;
  double y;

  point = locate (overlay, overlay->data->hovered, &x, &y);
  if (point == NULL || label == NULL || *label == '\0'
      || bounds.width < 4 * LABEL_X || bounds.height < 4 * LABEL_Y)
    return;
  qm_plot_text_set_lines (&overlay->text, label,
                          MIN (bounds.width - 2 * LABEL_X,
                               MAX_HOVER_EMS * overlay->text.size));
  measure_label (overlay, &box);
  qm_plot_clutter_place (&overlay->clutter, &bounds, x, y,
                         reach_of (overlay, point) + RING_GAP + RING_WIDTH,
                         TRUE, &box);
  draw_label (overlay, &box, &style);
}

static void
draw_marks (Overlay *overlay)
{
  const QmPlotData *data = overlay->data;
  const QmPlotTheme *theme = overlay->theme;
  double selected_gap = data->selected == data->recommended
                            ? RECOMMENDED_GAP + RECOMMENDED_RING + 1.5
                            : RING_GAP;

  draw_ring (overlay, data->recommended, &theme->accent, RECOMMENDED_GAP,
             RECOMMENDED_RING);
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
                      guint n)
{
  const QmPlotLayout *layout = &frame->layout;
  Overlay overlay = { cr, data, theme, frame, layout };

  overlay.area = (QmPlotBox){ layout->zero_left + EDGE, layout->top + EDGE,
                              layout->right - layout->zero_left - 2 * EDGE,
                              layout->bottom - layout->top - 2 * EDGE };
  qm_plot_text_init (&overlay.text, theme, cr);
  qm_plot_clutter_init (&overlay.clutter, data, theme, layout, spots, n);
  overlay.faint_bars = qm_plot_bars_are_many (data, spots, n);
  cairo_save (cr);
  qm_plot_clip_area (cr, layout);
  draw_frontier (&overlay);
  shade_excluded (&overlay);
  draw_limit_lines (&overlay);
  draw_marks (&overlay);
  cairo_restore (cr);
  draw_limit_label (&overlay, FALSE);
  draw_limit_label (&overlay, TRUE);
  draw_recommended_label (&overlay);
  draw_hovered_label (&overlay);
  qm_plot_clutter_clear (&overlay.clutter);
  qm_plot_text_clear (&overlay.text);
}
