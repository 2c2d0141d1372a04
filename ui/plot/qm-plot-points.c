/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-private.h"
#include "ui/plot/qm-plot-sprite.h"

#include <math.h>

/* An image of more pixels than this is not worth its memory, nor is a sprite
 * of more than this. */
#define MAX_PIXELS        (256.0 * 1024 * 1024)
#define MAX_SPRITE_PIXELS 512.0

guint
qm_plot_point_style (const QmPlotData *data, const QmPlotPoint *point)
{
  return point->series < data->n_series ? data->series[point->series].style
                                        : point->series;
}

const QmPlotPoint *
qm_plot_point_at (const QmPlotData *data, int index)
{
  if (index < 0 || (guint) index >= data->n_points
      || !qm_plot_point_drawable (data, &data->points[index]))
    return NULL;
  return &data->points[index];
}

void
qm_plot_projection_init (QmPlotProjection *projection,
                         const QmPlotLayout *layout)
{
  double x_min = layout->x_log ? log (layout->x_min) : layout->x_min;
  double x_max = layout->x_log ? log (layout->x_max) : layout->x_max;
  double y_min = layout->y_log ? log (layout->y_min) : layout->y_min;
  double y_max = layout->y_log ? log (layout->y_max) : layout->y_max;

  projection->x_log = layout->x_log;
  projection->y_log = layout->y_log;
  projection->x_scale = (layout->right - layout->left) / (x_max - x_min);
  projection->y_scale = (layout->top - layout->bottom) / (y_max - y_min);
  projection->x_offset = layout->left - x_min * projection->x_scale;
  projection->y_offset = layout->bottom - y_min * projection->y_scale;
}

void
qm_plot_project (const QmPlotProjection *projection,
                 double x,
                 double y,
                 double *user_x,
                 double *user_y)
{
  if (projection->x_log)
    x = log (x);
  if (projection->y_log)
    y = log (y);
  *user_x = x * projection->x_scale + projection->x_offset;
  *user_y = y * projection->y_scale + projection->y_offset;
}

guint
qm_plot_point_rank (const QmPlotPoint *point)
{
  guint rank = QM_PLOT_WEIGHT_MAX - qm_plot_weight_size (point->weight);

  return point->flags & QM_PLOT_POINT_DIMMED ? rank
                                             : rank + QM_PLOT_WEIGHT_MAX + 1;
}

/* No marker is drawn further than this from its middle. */
static double
marker_reach (const QmPlotTheme *theme, const QmPlotFrame *frame)
{
  return 2 * qm_plot_marker_radius (theme, frame->contents.weight) + 4;
}

QmPlotSpot *
qm_plot_spots_new (const QmPlotData *data,
                   const QmPlotTheme *theme,
                   const QmPlotFrame *frame,
                   guint *n)
{
  const QmPlotLayout *layout = &frame->layout;
  double reach = marker_reach (theme, frame);
  g_autofree QmPlotSpot *found = g_new (QmPlotSpot, data->n_points);
  guint first[QM_PLOT_N_RANKS + 1] = { 0 };
  QmPlotProjection projection;
  QmPlotSpot *spots;
  guint n_found = 0;

  qm_plot_projection_init (&projection, layout);
  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *point = &data->points[i];
      double x;
      double y;

      if (!qm_plot_point_drawable (data, point))
        continue;
      qm_plot_project (&projection, point->x, point->y, &x, &y);
      if (x < layout->left - reach || x > layout->right + reach
          || y < layout->top - reach || y > layout->bottom + reach)
        continue;
      found[n_found++] = (QmPlotSpot){ (float) x, (float) y, i };
      first[qm_plot_point_rank (point) + 1]++;
    }
  for (guint i = 1; i < G_N_ELEMENTS (first); i++)
    first[i] += first[i - 1];
  spots = g_new (QmPlotSpot, MAX (n_found, 1));
  for (guint i = 0; i < n_found; i++)
    spots[first[qm_plot_point_rank (&data->points[found[i].index])]++] =
        found[i];
  *n = n_found;
  return spots;
}

void
qm_plot_draw_points_by_path (cairo_t *cr,
                             const QmPlotData *data,
                             const QmPlotTheme *theme,
                             const QmPlotSpot *spots,
                             guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const QmPlotPoint *point = &data->points[spots[i].index];
      QmPlotMarker marker;

      qm_plot_marker_init (&marker, theme, qm_plot_point_style (data, point),
                           point->weight, point->provenance, point->flags);
      qm_plot_marker_draw (&marker, cr, spots[i].x, spots[i].y);
    }
}

/* The part of the plotting area that drawing can reach, in pixels of the
 * target. */
static gboolean
visible_pixels (cairo_t *cr,
                const cairo_matrix_t *matrix,
                cairo_rectangle_int_t *pixels)
{
  double x1;
  double y1;
  double x2;
  double y2;

  cairo_clip_extents (cr, &x1, &y1, &x2, &y2);
  cairo_matrix_transform_point (matrix, &x1, &y1);
  cairo_matrix_transform_point (matrix, &x2, &y2);
  x1 = floor (x1);
  y1 = floor (y1);
  x2 = ceil (x2);
  y2 = ceil (y2);
  if (!(x2 > x1) || !(y2 > y1) || (x2 - x1) * (y2 - y1) > MAX_PIXELS)
    return FALSE;
  *pixels = (cairo_rectangle_int_t){ (int) x1, (int) y1, (int) (x2 - x1),
                                     (int) (y2 - y1) };
  return TRUE;
}

/* Shows an image whose corner is at a pixel of the target. */
static void
show_pixels (cairo_t *cr,
             cairo_surface_t *image,
             const cairo_rectangle_int_t *pixels)
{
  cairo_surface_t *target = cairo_get_group_target (cr);
  double x_scale;
  double y_scale;
  double x_offset;
  double y_offset;

  cairo_surface_mark_dirty (image);
  cairo_surface_get_device_scale (target, &x_scale, &y_scale);
  cairo_surface_get_device_offset (target, &x_offset, &y_offset);
  cairo_surface_set_device_scale (image, x_scale, y_scale);
  cairo_save (cr);
  cairo_identity_matrix (cr);
  cairo_set_source_surface (cr, image, (pixels->x - x_offset) / x_scale,
                            (pixels->y - y_offset) / y_scale);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  cairo_restore (cr);
}

gboolean
qm_plot_draw_points_by_pixels (cairo_t *cr,
                               const QmPlotData *data,
                               const QmPlotTheme *theme,
                               const QmPlotFrame *frame,
                               const QmPlotSpot *spots,
                               guint n)
{
  cairo_matrix_t matrix = qm_plot_pixel_matrix (cr);
  cairo_rectangle_int_t pixels;
  cairo_surface_t *image;
  QmPlotSprites *sprites;

  if (!qm_plot_has_pixels (cairo_get_group_target (cr)) || matrix.xy != 0
      || matrix.yx != 0 || !(matrix.xx > 0) || matrix.xx != matrix.yy
      || matrix.xx * marker_reach (theme, frame) > MAX_SPRITE_PIXELS
      || !visible_pixels (cr, &matrix, &pixels))
    return FALSE;
  image = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, pixels.width,
                                      pixels.height);
  if (cairo_surface_status (image) != CAIRO_STATUS_SUCCESS)
    {
      cairo_surface_destroy (image);
      return FALSE;
    }
  sprites = qm_plot_sprites_new (image, matrix.xx, theme);
  for (guint i = 0; i < n; i++)
    {
      const QmPlotPoint *point = &data->points[spots[i].index];

      qm_plot_sprites_draw (sprites,
                            spots[i].x * matrix.xx + matrix.x0 - pixels.x,
                            spots[i].y * matrix.yy + matrix.y0 - pixels.y,
                            qm_plot_point_style (data, point), point->weight,
                            point->provenance, point->flags);
    }
  qm_plot_sprites_free (sprites);
  show_pixels (cr, image, &pixels);
  cairo_surface_destroy (image);
  return TRUE;
}

void
qm_plot_draw_points (cairo_t *cr,
                     const QmPlotData *data,
                     const QmPlotTheme *theme,
                     const QmPlotFrame *frame,
                     const QmPlotSpot *spots,
                     guint n)
{
  if (n == 0)
    return;
  cairo_save (cr);
  qm_plot_clip_area (cr, &frame->layout);
  if (!qm_plot_draw_points_by_pixels (cr, data, theme, frame, spots, n))
    qm_plot_draw_points_by_path (cr, data, theme, spots, n);
  cairo_restore (cr);
}
