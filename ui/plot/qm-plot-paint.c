/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-paint.h"

#include <math.h>

gboolean
qm_plot_has_pixels (cairo_surface_t *surface)
{
  switch ((int) cairo_surface_get_type (surface))
    {
    case CAIRO_SURFACE_TYPE_PDF:
    case CAIRO_SURFACE_TYPE_PS:
    case CAIRO_SURFACE_TYPE_SVG:
    case CAIRO_SURFACE_TYPE_RECORDING:
    case CAIRO_SURFACE_TYPE_SCRIPT:
    case CAIRO_SURFACE_TYPE_XML:
    case CAIRO_SURFACE_TYPE_TEE:
    case CAIRO_SURFACE_TYPE_WIN32_PRINTING:
      return FALSE;
    default:
      return TRUE;
    }
}

cairo_matrix_t
qm_plot_pixel_matrix (cairo_t *cr)
{
  cairo_surface_t *target = cairo_get_group_target (cr);
  cairo_matrix_t user;
  cairo_matrix_t device;
  double x_scale;
  double y_scale;
  double x_offset;
  double y_offset;

  cairo_surface_get_device_scale (target, &x_scale, &y_scale);
  cairo_surface_get_device_offset (target, &x_offset, &y_offset);
  cairo_matrix_init (&device, x_scale, 0, 0, y_scale, x_offset, y_offset);
  cairo_get_matrix (cr, &user);
  cairo_matrix_multiply (&user, &user, &device);
  return user;
}

void
qm_plot_set_color (cairo_t *cr, const QmPlotColor *color, double alpha)
{
  cairo_set_source_rgba (cr, color->red, color->green, color->blue,
                         color->alpha * alpha);
}

/* Nearest place for the middle of a line `width` pixels wide at which its edges
 * are those of pixels. */
static double
sharp (double position, double width)
{
  return (long) width % 2 == 1 ? floor (position) + 0.5 : round (position);
}

void
qm_plot_straight_line (
    cairo_t *cr, double x1, double y1, double x2, double y2, double width)
{
  cairo_matrix_t matrix = qm_plot_pixel_matrix (cr);

  if (qm_plot_has_pixels (cairo_get_group_target (cr)) && matrix.xy == 0
      && matrix.yx == 0 && matrix.xx > 0 && matrix.yy > 0)
    {
      double pixels = CLAMP (round (width * matrix.xx), 1, 64);

      width = pixels / matrix.xx;
      if (x1 == x2)
        x1 = x2 = (sharp (x1 * matrix.xx + matrix.x0, pixels) - matrix.x0)
                  / matrix.xx;
      if (y1 == y2)
        y1 = y2 = (sharp (y1 * matrix.yy + matrix.y0, pixels) - matrix.y0)
                  / matrix.yy;
    }
  cairo_set_line_width (cr, width);
  cairo_move_to (cr, x1, y1);
  cairo_line_to (cr, x2, y2);
  cairo_stroke (cr);
}

void
qm_plot_rounded_box (cairo_t *cr, const QmPlotBox *box, double radius)
{
  double x2 = box->x + box->width;
  double y2 = box->y + box->height;

  radius = MIN (radius, MIN (box->width, box->height) / 2);
  cairo_new_sub_path (cr);
  cairo_arc (cr, x2 - radius, box->y + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, x2 - radius, y2 - radius, radius, 0, G_PI_2);
  cairo_arc (cr, box->x + radius, y2 - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, box->x + radius, box->y + radius, radius, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
}

gboolean
qm_plot_boxes_meet (const QmPlotBox *a, const QmPlotBox *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width
         && a->y < b->y + b->height && b->y < a->y + a->height;
}
