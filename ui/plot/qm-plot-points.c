/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-private.h"
#include "ui/plot/qm-plot-sprite.h"

#include <math.h>

/* An image of more pixels than this is not worth its memory, nor is a sprite
 * of more than this. */
#define MAX_PIXELS        (256.0 * 1024 * 1024)
#define MAX_SPRITE_PIXELS 512.0

/* So many points cannot be told one from the other. */
#define CROWD 4000

G_STATIC_ASSERT (QM_PLOT_N_RANKS <= G_MAXUINT16);

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
  projection->zero = qm_plot_has_zero (layout)
                         ? (layout->zero_left + layout->zero_right) / 2
                         : -HUGE_VAL;
}

void
qm_plot_project (const QmPlotProjection *projection,
                 double x,
                 double y,
                 double *user_x,
                 double *user_y)
{
  if (projection->x_log && x == 0)
    *user_x = projection->zero;
  else
    *user_x = (projection->x_log ? log (x) : x) * projection->x_scale
              + projection->x_offset;
  if (projection->y_log)
    y = log (y);
  *user_y = y * projection->y_scale + projection->y_offset;
}

guint
qm_plot_point_rank (const QmPlotPoint *point)
{
  guint rank = QM_PLOT_WEIGHT_MAX - qm_plot_weight_size (point->weight);

  if ((point->flags & QM_PLOT_POINT_GREY) == 0)
    rank += QM_PLOT_WEIGHT_MAX + 1;
  if ((point->flags & QM_PLOT_POINT_DIMMED) == 0)
    rank += 2 * (QM_PLOT_WEIGHT_MAX + 1);
  return rank;
}

/* No marker is drawn further than this from its middle. */
static double
marker_reach (const QmPlotTheme *theme, const QmPlotFrame *frame)
{
  return 2 * qm_plot_marker_radius (theme, frame->contents.weight) + 4;
}

static gboolean
in_sight (const QmPlotLayout *layout, double x, double y, double reach)
{
  return x >= layout->zero_left - reach && x <= layout->right + reach
         && y >= layout->top - reach && y <= layout->bottom + reach;
}

/* The rank of a point that is hidden: after all others, where none counts. */
#define HIDDEN QM_PLOT_N_RANKS

/* Sorts by counting: there are few ranks and many points. */
QmPlotSpot *
qm_plot_spots_sort (const QmPlotData *data,
                    const QmPlotSpot *spots,
                    guint n,
                    guint *n_sorted)
{
  guint first[QM_PLOT_N_RANKS + 2] = { 0 };
  g_autofree guint16 *ranks = g_new (guint16, n);
  QmPlotSpot *sorted = g_new (QmPlotSpot, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    {
      const QmPlotPoint *point = &data->points[spots[i].index];

      ranks[i] = point->flags & QM_PLOT_POINT_HIDDEN
                     ? HIDDEN
                     : (guint16) qm_plot_point_rank (point);
      first[ranks[i] + 1]++;
    }
  *n_sorted = n - first[HIDDEN + 1];
  for (guint i = 1; i < G_N_ELEMENTS (first); i++)
    first[i] += first[i - 1];
  for (guint i = 0; i < n; i++)
    sorted[first[ranks[i]]++] = spots[i];
  return sorted;
}

QmPlotSpot *
qm_plot_spots_find (const QmPlotData *data,
                    const QmPlotTheme *theme,
                    const QmPlotFrame *frame,
                    guint *n)
{
  const QmPlotLayout *layout = &frame->layout;
  double reach = marker_reach (theme, frame);
  QmPlotSpot *spots = g_new (QmPlotSpot, MAX (data->n_points, 1));
  QmPlotProjection projection;
  guint n_spots = 0;

  qm_plot_projection_init (&projection, layout);
  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *point = &data->points[i];
      double x;
      double y;

      if (!qm_plot_point_placed (data, point))
        continue;
      qm_plot_project (&projection, point->x, point->y, &x, &y);
      if (in_sight (layout, x, y, reach))
        spots[n_spots++] = (QmPlotSpot){ (float) x, (float) y, i };
    }
  *n = n_spots;
  return spots;
}

QmPlotSpot *
qm_plot_spots_new (const QmPlotData *data,
                   const QmPlotTheme *theme,
                   const QmPlotFrame *frame,
                   guint *n)
{
  g_autofree QmPlotSpot *spots = qm_plot_spots_find (data, theme, frame, n);

  return qm_plot_spots_sort (data, spots, *n, n);
}

/* Points that are drawn into one image, with what they do not share left
 * out. */
typedef struct
{
  const QmPlotData *data;
  const QmPlotTheme *theme;
  const QmPlotSpot *spots;
  guint n;
} Batch;

static void
draw_batch_by_path (cairo_t *cr, const Batch *batch)
{
  for (guint i = 0; i < batch->n; i++)
    {
      const QmPlotSpot *spot = &batch->spots[i];
      const QmPlotPoint *point = &batch->data->points[spot->index];
      QmPlotMarker marker;

      qm_plot_marker_init (&marker, batch->theme,
                           qm_plot_point_style (batch->data, point),
                           point->weight, point->provenance,
                           point->flags & (guint) ~QM_PLOT_POINT_DIMMED);
      qm_plot_marker_draw (&marker, cr, spot->x, spot->y);
    }
}

/* How points lie on the pixels of the target. */
typedef struct
{
  cairo_matrix_t matrix; /* from user units */
  QmPlotSprites *sprites;
  double reach;                    /* of markers, in pixels */
  double left, top, right, bottom; /* what can be drawn on */
} Raster;

/* Returns FALSE where the target is not made of pixels that lie square to the
 * plot. */
static gboolean
raster_init (Raster *raster, cairo_t *cr, double reach)
{
  cairo_matrix_t *matrix = &raster->matrix;

  *matrix = qm_plot_pixel_matrix (cr);
  if (!qm_plot_has_pixels (cairo_get_group_target (cr)) || matrix->xy != 0
      || matrix->yx != 0 || !(matrix->xx > 0) || matrix->xx != matrix->yy)
    return FALSE;
  raster->reach = reach * matrix->xx;
  cairo_clip_extents (cr, &raster->left, &raster->top, &raster->right,
                      &raster->bottom);
  cairo_matrix_transform_point (matrix, &raster->left, &raster->top);
  cairo_matrix_transform_point (matrix, &raster->right, &raster->bottom);
  return raster->reach <= MAX_SPRITE_PIXELS
         && (raster->right - raster->left) * (raster->bottom - raster->top)
                <= MAX_PIXELS;
}

/* The pixels that the markers of a batch can touch; empty: none. */
static cairo_rectangle_int_t
batch_pixels (const Batch *batch, const Raster *raster)
{
  const cairo_matrix_t *matrix = &raster->matrix;
  float left = HUGE_VALF;
  float top = HUGE_VALF;
  float right = -HUGE_VALF;
  float bottom = -HUGE_VALF;
  double x1;
  double y1;
  double x2;
  double y2;

  for (guint i = 0; i < batch->n; i++)
    {
      left = MIN (left, batch->spots[i].x);
      right = MAX (right, batch->spots[i].x);
      top = MIN (top, batch->spots[i].y);
      bottom = MAX (bottom, batch->spots[i].y);
    }
  x1 = left * matrix->xx + matrix->x0 - raster->reach;
  y1 = top * matrix->yy + matrix->y0 - raster->reach;
  x2 = right * matrix->xx + matrix->x0 + raster->reach;
  y2 = bottom * matrix->yy + matrix->y0 + raster->reach;
  x1 = floor (MAX (x1, raster->left));
  y1 = floor (MAX (y1, raster->top));
  x2 = ceil (MIN (x2, raster->right));
  y2 = ceil (MIN (y2, raster->bottom));
  if (!(x2 > x1) || !(y2 > y1))
    return (cairo_rectangle_int_t){ 0, 0, 0, 0 };
  return (cairo_rectangle_int_t){ (int) x1, (int) y1, (int) (x2 - x1),
                                  (int) (y2 - y1) };
}

/* Shows an image whose corner is at a pixel of the target. */
static void
show_pixels (cairo_t *cr,
             cairo_surface_t *image,
             const cairo_rectangle_int_t *pixels,
             double opacity)
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
  cairo_paint_with_alpha (cr, opacity);
  cairo_restore (cr);
}

/* Returns FALSE where there is no memory for an image. */
static gboolean
draw_batch_by_pixels (cairo_t *cr,
                      const Batch *batch,
                      const Raster *raster,
                      double opacity)
{
  const cairo_matrix_t *matrix = &raster->matrix;
  cairo_rectangle_int_t pixels = batch_pixels (batch, raster);
  cairo_surface_t *image;
  QmPlotCanvas canvas;

  if (pixels.width == 0)
    return TRUE;
  image = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, pixels.width,
                                      pixels.height);
  if (cairo_surface_status (image) != CAIRO_STATUS_SUCCESS)
    {
      cairo_surface_destroy (image);
      return FALSE;
    }
  qm_plot_canvas_init (&canvas, image);
  for (const QmPlotSpot *spot = batch->spots + batch->n; spot-- > batch->spots;)
    {
      const QmPlotPoint *point = &batch->data->points[spot->index];

      qm_plot_sprites_draw (raster->sprites, &canvas,
                            spot->x * matrix->xx + matrix->x0 - pixels.x,
                            spot->y * matrix->yy + matrix->y0 - pixels.y,
                            qm_plot_point_style (batch->data, point),
                            point->weight, point->provenance, point->flags);
    }
  qm_plot_canvas_clear (&canvas);
  show_pixels (cr, image, &pixels, opacity);
  cairo_surface_destroy (image);
  return TRUE;
}

/* Dimmed points come first: how many there are. */
static guint
count_dimmed (const QmPlotData *data, const QmPlotSpot *spots, guint n)
{
  guint dimmed = 0;

  while (dimmed < n
         && data->points[spots[dimmed].index].flags & QM_PLOT_POINT_DIMMED)
    dimmed++;
  return dimmed;
}

gboolean
qm_plot_draw_points_by_pixels (cairo_t *cr,
                               const QmPlotData *data,
                               const QmPlotTheme *theme,
                               const QmPlotFrame *frame,
                               const QmPlotSpot *spots,
                               guint n,
                               QmPlotSprites **sprites)
{
  guint dimmed = count_dimmed (data, spots, n);
  Batch below = { data, theme, spots, dimmed };
  Batch above = { data, theme, spots + dimmed, n - dimmed };
  gboolean crowd = data->n_points > CROWD;
  QmPlotSprites *own = NULL;
  gboolean drawn;
  Raster raster;

  if (!raster_init (&raster, cr, marker_reach (theme, frame)))
    return FALSE;
  if (sprites == NULL)
    sprites = &own;
  if (*sprites != NULL
      && !qm_plot_sprites_suit (*sprites, theme, raster.matrix.xx, crowd))
    g_clear_pointer (sprites, qm_plot_sprites_free);
  if (*sprites == NULL)
    *sprites = qm_plot_sprites_new (theme, raster.matrix.xx, crowd);
  raster.sprites = *sprites;
  drawn = draw_batch_by_pixels (cr, &below, &raster, theme->dim_alpha)
          && draw_batch_by_pixels (cr, &above, &raster, 1);
  g_clear_pointer (&own, qm_plot_sprites_free);
  return drawn;
}

void
qm_plot_draw_points_by_path (cairo_t *cr,
                             const QmPlotData *data,
                             const QmPlotTheme *theme,
                             const QmPlotSpot *spots,
                             guint n)
{
  guint dimmed = count_dimmed (data, spots, n);
  Batch below = { data, theme, spots, dimmed };
  Batch above = { data, theme, spots + dimmed, n - dimmed };

  if (below.n > 0)
    {
      cairo_push_group (cr);
      draw_batch_by_path (cr, &below);
      cairo_pop_group_to_source (cr);
      cairo_paint_with_alpha (cr, theme->dim_alpha);
    }
  draw_batch_by_path (cr, &above);
}

void
qm_plot_draw_points (cairo_t *cr,
                     const QmPlotData *data,
                     const QmPlotTheme *theme,
                     const QmPlotFrame *frame,
                     const QmPlotSpot *spots,
                     guint n,
                     QmPlotSprites **sprites)
{
  if (n == 0)
    return;
  cairo_save (cr);
  qm_plot_clip_area (cr, &frame->layout);
  qm_plot_draw_intervals (cr, data, theme, frame, spots, n);
  if (!qm_plot_draw_points_by_pixels (cr, data, theme, frame, spots, n,
                                      sprites))
    qm_plot_draw_points_by_path (cr, data, theme, spots, n);
  cairo_restore (cr);
}
