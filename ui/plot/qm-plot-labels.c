/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-overlay.h"

#include <math.h>

#define LABEL_X      6.0 /* padding of a label's box */
#define LABEL_Y      3.0
#define LABEL_RADIUS 5.0
#define HALO         0.6 /* behind labels without a border */
#define HOVERED_GAP  4.1 /* from the marker, for its ring */

/* Widths of labels, as shares of the width that there is. */
#define MAX_LABEL_SHARE 0.6
#define MAX_RECOMMENDED 0.6

/* Narrower plots, small multiples mostly, have no room for the name of a limit
 * where points are. */
#define SMALL_WIDTH   280
#define MAX_HOVER_EMS 26

/* Labels of all kinds, with lines that they keep off; more are no help. */
#define MAX_NAMES 16

/* The least that a character takes, and how many are counted of a name. */
#define MIN_CHAR_EMS 0.35
#define MAX_NAME     64

/* Names have less around them. */
#define NAME_X 2.0

/* Parts of a label's box. */
typedef struct
{
  const QmPlotColor *text;
  const QmPlotColor *border; /* NULL: none */
  double opacity;
  double pad_x, pad_y;
} LabelStyle;

/* Draws what the text has taken up in a rounded box. */
static void
draw_label (QmPlotOverlay *overlay,
            const QmPlotBox *box,
            const LabelStyle *style)
{
  cairo_t *cr = overlay->cr;

  qm_plot_rounded_box (cr, box, LABEL_RADIUS);
  qm_plot_overlay_set_halo (cr, overlay->theme, style->opacity);
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
  qm_plot_text_show (overlay->text, cr, box->x + style->pad_x,
                     box->y + style->pad_y);
}

/* The size of a box around what the text has taken up. */
static void
measure_label (QmPlotOverlay *overlay, const LabelStyle *style, QmPlotBox *box)
{
  qm_plot_text_get_size (overlay->text, &box->width, &box->height);
  box->width = ceil (box->width) + 2 * style->pad_x;
  box->height = ceil (box->height) + 2 * style->pad_y;
}

/* --- Limits -------------------------------------------------------------- */

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
move_along (const QmPlotOverlay *overlay, gboolean vertical, QmPlotBox *box)
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
draw_limit_label (QmPlotOverlay *overlay, gboolean vertical)
{
  const QmPlotAxis *axis = vertical ? &overlay->data->y : &overlay->data->x;
  const QmPlotBox *area = &overlay->area;
  LabelStyle style = { &overlay->theme->limit, NULL, HALO, LABEL_X, LABEL_Y };
  g_autofree char *label = NULL;
  QmPlotBox box;
  int beyond;
  double at;

  if (!qm_plot_overlay_has_limit (overlay, vertical)
      || axis->limit_label == NULL || *axis->limit_label == '\0')
    return;
  at = qm_plot_overlay_limit (overlay, vertical, &beyond);
  label = limit_text (axis, vertical, beyond);
  qm_plot_text_set (overlay->text, label, QM_PLOT_FONT_NORMAL,
                    area->width * MAX_LABEL_SHARE);
  measure_label (overlay, &style, &box);
  if (box.width > area->width || box.height > area->height)
    return;
  /* Beyond the line, at the end away from the origin, if it fits there. */
  box.x =
      vertical ? area->x + area->width - box.width : at + QM_PLOT_LABEL_EDGE;
  box.y = vertical ? at - QM_PLOT_LABEL_EDGE - box.height : area->y;
  if (!vertical && box.x + box.width > area->x + area->width)
    box.x = at - QM_PLOT_LABEL_EDGE - box.width;
  if (vertical && box.y < area->y)
    box.y = at + QM_PLOT_LABEL_EDGE;
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

/* --- What is recommended ------------------------------------------------- */

/* A thin line from a ring or a marker to a label that had to go further away.
 */
static void
draw_leader (QmPlotOverlay *overlay,
             const QmPlotColor *color,
             double x,
             double y,
             double radius,
             const QmPlotBox *box)
{
  double end_x = CLAMP (x, box->x, box->x + box->width);
  double end_y = CLAMP (y, box->y, box->y + box->height);
  double length = hypot (end_x - x, end_y - y);

  if (length <= radius + 2)
    return;
  cairo_move_to (overlay->cr, x + (end_x - x) * radius / length,
                 y + (end_y - y) * radius / length);
  cairo_line_to (overlay->cr, end_x, end_y);
  qm_plot_set_color (overlay->cr, color, 0.7);
  cairo_set_line_width (overlay->cr, 1);
  cairo_stroke (overlay->cr);
}

/* Takes up the label of the recommended point, or the short one where it would
 * hide half of the plot.  Returns FALSE where neither fits. */
static gboolean
set_recommended_text (QmPlotOverlay *overlay,
                      const LabelStyle *style,
                      QmPlotBox *box)
{
  const char *labels[] = { overlay->data->recommended_label,
                           overlay->data->recommended_short };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      if (labels[i] == NULL || *labels[i] == '\0')
        continue;
      qm_plot_text_set (overlay->text, labels[i], QM_PLOT_FONT_STRONG,
                        overlay->area.width * 2);
      measure_label (overlay, style, box);
      if (box->width <= overlay->area.width * MAX_RECOMMENDED
          && box->height <= overlay->area.height)
        return TRUE;
    }
  return FALSE;
}

static void
draw_recommended_label (QmPlotOverlay *overlay)
{
  LabelStyle style = { &overlay->theme->text, &overlay->theme->accent, 0.94,
                       LABEL_X, LABEL_Y };
  const QmPlotPoint *point;
  QmPlotBox box;
  double distance;
  double radius;
  double x;
  double y;

  point = qm_plot_overlay_locate (overlay, overlay->data->recommended, &x, &y);
  if (point == NULL || !set_recommended_text (overlay, &style, &box))
    return;
  radius = qm_plot_overlay_reach (overlay, point) + QM_PLOT_RECOMMENDED_GAP
           + QM_PLOT_RECOMMENDED_RING / 2;
  distance = qm_plot_clutter_place (&overlay->clutter, &overlay->area, x, y,
                                    radius, FALSE, &box);
  if (distance > 10)
    draw_leader (overlay, &overlay->theme->accent, x, y, radius, &box);
  draw_label (overlay, &box, &style);
  qm_plot_clutter_take (&overlay->clutter, &box);
}

/* --- Names of the frontier ----------------------------------------------- */

/* The ring of what is recommended, which names keep off. */
static void
take_ring (QmPlotOverlay *overlay)
{
  const QmPlotPoint *point;
  double x, y, radius;

  point = qm_plot_overlay_locate (overlay, overlay->data->recommended, &x, &y);
  if (point == NULL)
    return;
  radius = qm_plot_overlay_reach (overlay, point) + QM_PLOT_RECOMMENDED_GAP
           + QM_PLOT_RECOMMENDED_RING;
  qm_plot_clutter_take (&overlay->clutter,
                        &(QmPlotBox){ x - radius, y - radius, 2 * radius,
                                      2 * radius });
}

/* Lines of the limits, likewise. */
static void
take_limits (QmPlotOverlay *overlay)
{
  const QmPlotLayout *layout = overlay->layout;
  int beyond;
  double at;

  if (qm_plot_overlay_has_limit (overlay, FALSE))
    {
      at = qm_plot_overlay_limit (overlay, FALSE, &beyond);
      qm_plot_clutter_take (&overlay->clutter,
                            &(QmPlotBox){ at - 1, layout->top, 2,
                                          layout->bottom - layout->top });
    }
  if (qm_plot_overlay_has_limit (overlay, TRUE))
    {
      at = qm_plot_overlay_limit (overlay, TRUE, &beyond);
      qm_plot_clutter_take (&overlay->clutter,
                            &(QmPlotBox){ layout->zero_left, at - 1,
                                          layout->right - layout->zero_left,
                                          2 });
    }
}

/* A text is hardly ever narrower than this: whether to look at it at all. */
static QmPlotBox
least_box (const QmPlotOverlay *overlay, const char *name)
{
  guint n = 0;

  /* Bytes that begin a character. */
  for (const char *c = name; *c != '\0' && n < MAX_NAME; c++)
    n += (*c & 0xc0) != 0x80;
  return (QmPlotBox){ 0, 0, MIN_CHAR_EMS * overlay->text->size * n,
                      overlay->text->size };
}

/* Draws the name beside the point, if it covers nothing there. */
static gboolean
draw_name (QmPlotOverlay *overlay,
           const QmPlotPoint *point,
           double x,
           double y,
           const char *name)
{
  const QmPlotTheme *theme = overlay->theme;
  LabelStyle style = { &theme->text, NULL, HALO, NAME_X, 0 };
  double radius = qm_plot_overlay_reach (overlay, point);
  QmPlotBox box;

  if (name == NULL || *name == '\0')
    return FALSE;
  box = least_box (overlay, name);
  if (!qm_plot_clutter_find_free (&overlay->clutter, &overlay->area, x, y,
                                  radius, &box))
    return FALSE;
  qm_plot_text_set (overlay->text, name, QM_PLOT_FONT_NORMAL,
                    overlay->area.width * 2);
  measure_label (overlay, &style, &box);
  if (!qm_plot_clutter_find_free (&overlay->clutter, &overlay->area, x, y,
                                  radius, &box))
    return FALSE;
  if ((point->flags & QM_PLOT_POINT_DIMMED) != 0)
    style.text = &theme->faint_text;
  draw_leader (overlay, &theme->faint_text, x, y, radius + 2, &box);
  draw_label (overlay, &box, &style);
  qm_plot_clutter_take (&overlay->clutter, &box);
  return TRUE;
}

static void
draw_name_of (QmPlotOverlay *overlay, guint i)
{
  const QmPlotData *data = overlay->data;
  const char *names[] = {
    data->frontier_names != NULL ? data->frontier_names[i] : NULL,
    data->frontier_short_names != NULL ? data->frontier_short_names[i] : NULL
  };
  const QmPlotPoint *point;
  double x, y;

  if (data->frontier[i] == data->recommended && data->recommended_label != NULL)
    return;
  point = qm_plot_overlay_locate (overlay, data->frontier[i], &x, &y);
  if (point == NULL || (point->flags & QM_PLOT_POINT_GREY) != 0)
    return;
  for (guint j = 0; j < G_N_ELEMENTS (names); j++)
    if (draw_name (overlay, point, x, y, names[j]))
      return;
}

/* The ends first, then what is halfway between those that are named. */
static void
draw_names (QmPlotOverlay *overlay)
{
  const QmPlotData *data = overlay->data;
  const guint n = data->n_frontier;
  guint step = 1;

  if (n == 0
      || (data->frontier_names == NULL && data->frontier_short_names == NULL))
    return;
  take_limits (overlay);
  take_ring (overlay);
  draw_name_of (overlay, 0);
  if (n > 1)
    draw_name_of (overlay, n - 1);
  while (step < n)
    step *= 2;
  for (; step > 1; step /= 2)
    for (guint i = step / 2; i + 1 < n; i += step)
      if (overlay->clutter.n_taken < MAX_NAMES)
        draw_name_of (overlay, i);
}

/* --- What is hovered ----------------------------------------------------- */

static void
draw_hovered_label (QmPlotOverlay *overlay)
{
  LabelStyle style = { &overlay->theme->text, &overlay->theme->faint_text, 0.97,
                       LABEL_X, LABEL_Y };
  const QmPlotLayout *layout = overlay->layout;
  QmPlotBox bounds = { QM_PLOT_LABEL_EDGE, QM_PLOT_LABEL_EDGE,
                       layout->width - 2 * QM_PLOT_LABEL_EDGE,
                       layout->height - 2 * QM_PLOT_LABEL_EDGE };
  const char *label = overlay->data->hovered_label;
  const QmPlotPoint *point;
  QmPlotBox box;
  double x;
  double y;

  point = qm_plot_overlay_locate (overlay, overlay->data->hovered, &x, &y);
  if (point == NULL || label == NULL || *label == '\0'
      || bounds.width < 4 * LABEL_X || bounds.height < 4 * LABEL_Y)
    return;
  qm_plot_text_set_lines (overlay->text, label,
                          MIN (bounds.width - 2 * LABEL_X,
                               MAX_HOVER_EMS * overlay->text->size));
  measure_label (overlay, &style, &box);
  qm_plot_clutter_place (&overlay->clutter, &bounds, x, y,
                         qm_plot_overlay_reach (overlay, point) + HOVERED_GAP,
                         TRUE, &box);
  draw_label (overlay, &box, &style);
}

void
qm_plot_draw_labels (QmPlotOverlay *overlay)
{
  draw_limit_label (overlay, FALSE);
  draw_limit_label (overlay, TRUE);
  draw_recommended_label (overlay);
  draw_names (overlay);
  draw_hovered_label (overlay);
}
