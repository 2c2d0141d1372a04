/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-private.h"

#include <math.h>

/* Beyond the surfaces that Cairo can make; keeps all sums small. */
#define MAX_SIZE 32767.0

/* Returns FALSE where there is nothing to draw on. */
static gboolean
sound_size (double *width, double *height)
{
  if (!(*width > 0) || !(*height > 0))
    return FALSE;
  *width = MIN (*width, MAX_SIZE);
  *height = MIN (*height, MAX_SIZE);
  return TRUE;
}

void
qm_plot_layout (const QmPlotData *data,
                double width,
                double height,
                const QmPlotTheme *theme,
                QmPlotLayout *layout)
{
  QmPlotFrame frame;

  g_return_if_fail (data != NULL && theme != NULL && layout != NULL);

  if (!sound_size (&width, &height))
    width = height = 1;
  qm_plot_frame_init (&frame, data, width, height, theme, 0);
  *layout = frame.layout;
  qm_plot_frame_clear (&frame);
}

gboolean
qm_plot_has_zero (const QmPlotLayout *layout)
{
  return layout->zero_right > layout->zero_left;
}

gboolean
qm_plot_is_drawn (const QmPlotData *data, guint index)
{
  g_return_val_if_fail (data != NULL, FALSE);

  return index < data->n_points
         && qm_plot_point_drawable (data, &data->points[index]);
}

void
qm_plot_clip_area (cairo_t *cr, const QmPlotLayout *layout)
{
  cairo_rectangle (cr, layout->zero_left, layout->top,
                   layout->right - layout->zero_left,
                   layout->bottom - layout->top);
  cairo_clip (cr);
}

static void
draw_layers (cairo_t *cr,
             const QmPlotData *data,
             const QmPlotTheme *theme,
             const QmPlotFrame *frame,
             QmPlotLayers layers)
{
  g_autofree QmPlotSpot *spots = NULL;
  guint n_spots = 0;

  if (layers & QM_PLOT_LAYER_FRAME)
    qm_plot_draw_frame (cr, data, theme, frame);
  if (layers & (QM_PLOT_LAYER_POINTS | QM_PLOT_LAYER_OVERLAY))
    spots = qm_plot_spots_new (data, theme, frame, &n_spots);
  if (layers & QM_PLOT_LAYER_POINTS)
    qm_plot_draw_points (cr, data, theme, frame, spots, n_spots, NULL);
  if (layers & QM_PLOT_LAYER_OVERLAY)
    {
      QmPlotText text;

      qm_plot_text_init (&text, theme, cr);
      qm_plot_draw_overlay (cr, data, theme, frame, spots, n_spots, &text);
      qm_plot_text_clear (&text);
    }
}

gboolean
qm_plot_begin (cairo_t *cr, double *width, double *height)
{
  if (!sound_size (width, height))
    return FALSE;
  cairo_save (cr);
  cairo_new_path (cr);
  cairo_rectangle (cr, 0, 0, *width, *height);
  cairo_clip (cr);
  cairo_set_operator (cr, CAIRO_OPERATOR_OVER);
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_DEFAULT);
  cairo_set_fill_rule (cr, CAIRO_FILL_RULE_WINDING);
  cairo_set_dash (cr, NULL, 0, 0);
  return TRUE;
}

void
qm_plot_draw_from (cairo_t *cr,
                   const QmPlotData *data,
                   double width,
                   double height,
                   const QmPlotTheme *theme,
                   QmPlotLayers layers,
                   double min_left)
{
  QmPlotFrame frame;

  if (!qm_plot_begin (cr, &width, &height))
    return;
  qm_plot_frame_init (&frame, data, width, height, theme, min_left);
  draw_layers (cr, data, theme, &frame, layers);
  qm_plot_frame_clear (&frame);
  cairo_restore (cr);
}

void
qm_plot_draw (cairo_t *cr,
              const QmPlotData *data,
              double width,
              double height,
              const QmPlotTheme *theme,
              QmPlotLayers layers)
{
  g_return_if_fail (cr != NULL && data != NULL && theme != NULL);

  qm_plot_draw_from (cr, data, width, height, theme, layers, 0);
}

gboolean
qm_plot_position (const QmPlotLayout *layout,
                  double x,
                  double y,
                  double *user_x,
                  double *user_y)
{
  QmPlotProjection projection;

  g_return_val_if_fail (layout != NULL, FALSE);

  if (isnan (x) || isnan (y)
      || (layout->x_log && !(x > 0) && !(x == 0 && qm_plot_has_zero (layout)))
      || (layout->y_log && !(y > 0)))
    return FALSE;
  qm_plot_projection_init (&projection, layout);
  qm_plot_project (&projection, x, y, user_x, user_y);
  return TRUE;
}

static double
square_reach (const QmPlotTheme *theme, const QmPlotPoint *point, double reach)
{
  reach += qm_plot_marker_radius (theme, point->weight);
  return reach > 0 ? reach * reach : 0;
}

int
qm_plot_pick (const QmPlotData *data,
              const QmPlotLayout *layout,
              const QmPlotTheme *theme,
              double user_x,
              double user_y,
              double reach)
{
  QmPlotProjection projection;
  double best = HUGE_VAL;
  guint best_rank = 0;
  int found = -1;

  g_return_val_if_fail (data != NULL && layout != NULL && theme != NULL, -1);

  qm_plot_projection_init (&projection, layout);
  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *point = &data->points[i];
      double distance;
      double x;
      double y;

      if (!qm_plot_point_drawable (data, point))
        continue;
      qm_plot_project (&projection, point->x, point->y, &x, &y);
      if (x < layout->zero_left - 0.5 || x > layout->right + 0.5
          || y < layout->top - 0.5 || y > layout->bottom + 0.5)
        continue;
      distance = (x - user_x) * (x - user_x) + (y - user_y) * (y - user_y);
      if (!(distance <= best) || distance > square_reach (theme, point, reach))
        continue;
      if (distance < best || qm_plot_point_rank (point) >= best_rank)
        {
          best = distance;
          best_rank = qm_plot_point_rank (point);
          found = (int) i;
        }
    }
  return found;
}
