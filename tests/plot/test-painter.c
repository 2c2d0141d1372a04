/* SPDX-License-Identifier: Apache-2.0 */

/* A painter that is kept draws what a plot drawn once is. */

#include "tests/plot/fixture.h"
#include "ui/plot/qm-plot-painter.h"

#include <string.h>

#define WIDTH  320
#define HEIGHT 240

static cairo_surface_t *
new_image (int scale)
{
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, WIDTH * scale,
                                  HEIGHT * scale);

  cairo_surface_set_device_scale (image, scale, scale);
  return image;
}

/* Draws twice, with the painter and without, and compares every pixel. */
static void
expect_same (QmPlotPainter *painter,
             const QmPlotData *data,
             const QmPlotTheme *theme,
             int scale)
{
  cairo_surface_t *kept = new_image (scale);
  cairo_surface_t *once = new_image (scale);
  cairo_t *cr = cairo_create (kept);

  /* Layer by layer, as a widget does. */
  qm_plot_painter_draw (painter, cr, data, WIDTH, HEIGHT, theme,
                        QM_PLOT_LAYER_FRAME);
  qm_plot_painter_draw (painter, cr, data, WIDTH, HEIGHT, theme,
                        QM_PLOT_LAYER_POINTS);
  qm_plot_painter_draw (painter, cr, data, WIDTH, HEIGHT, theme,
                        QM_PLOT_LAYER_OVERLAY);
  cairo_destroy (cr);
  cr = cairo_create (once);
  qm_plot_draw (cr, data, WIDTH, HEIGHT, theme, QM_PLOT_LAYER_ALL);
  cairo_destroy (cr);
  cairo_surface_flush (kept);
  cairo_surface_flush (once);
  g_assert_cmpmem (
      cairo_image_surface_get_data (kept),
      (gsize) cairo_image_surface_get_stride (kept) * (gsize) (HEIGHT * scale),
      cairo_image_surface_get_data (once),
      (gsize) cairo_image_surface_get_stride (once) * (gsize) (HEIGHT * scale));
  cairo_surface_destroy (kept);
  cairo_surface_destroy (once);
}

/* Not one of the outer points, by which the axes go. */
static gboolean
is_inner (const QmPlotPoint *point)
{
  return point->x > 2e3 && point->x < 5e4 && point->y > 2 && point->y < 50;
}

/* What changes while a slider moves. */
static void
test_moves (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (500, 7, 2);
  g_autoptr (QmPlotPainter) painter = qm_plot_painter_new ();
  QmPlotPoint *points;

  fixture_decorate (fixture);
  points = (QmPlotPoint *) (void *) fixture->points->data;
  for (guint move = 0; move < 5; move++)
    {
      for (guint i = 0; i < fixture->points->len; i++)
        if (i % (move + 2) == 0)
          points[i].flags ^= QM_PLOT_POINT_DIMMED;
      for (guint i = 0; i < fixture->points->len; i++)
        if (i % 3 == move % 3 && is_inner (&points[i]))
          points[i].flags ^= QM_PLOT_POINT_HIDDEN;
      fixture->data.recommended = (int) move * 31;
      fixture->data.selected = (int) move * 17;
      fixture->data.hovered = (int) move * 11;
      expect_same (painter, &fixture->data, qm_plot_theme_light (), 1);
    }
}

static void
test_scales (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (200, 3, 2);
  g_autoptr (QmPlotPainter) painter = qm_plot_painter_new ();

  for (int scale = 1; scale <= 3; scale++)
    expect_same (painter, &fixture->data, qm_plot_theme_dark (), scale);
  expect_same (painter, &fixture->data, qm_plot_theme_dark (), 1);
}

static void
test_reset (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (200, 5, 2);
  g_autoptr (QmPlotPainter) painter = qm_plot_painter_new ();

  expect_same (painter, &fixture->data, qm_plot_theme_light (), 1);
  qm_plot_painter_reset (painter);
  fixture->data.x.log = !fixture->data.x.log;
  expect_same (painter, &fixture->data, qm_plot_theme_high_contrast (TRUE), 1);
}

static void
test_empty (void)
{
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  g_autoptr (QmPlotPainter) painter = qm_plot_painter_new ();

  expect_same (painter, &fixture->data, qm_plot_theme_light (), 1);
}

/* Whether there is anything in it. */
static gboolean
is_drawn (cairo_surface_t *image)
{
  const guchar *bytes;
  gsize n;

  cairo_surface_flush (image);
  bytes = cairo_image_surface_get_data (image);
  n = (gsize) cairo_image_surface_get_stride (image)
      * (gsize) cairo_image_surface_get_height (image);
  for (gsize i = 0; i < n; i++)
    if (bytes[i] != 0)
      return TRUE;
  return FALSE;
}

/* A new size is noticed; one that is none is left alone. */
static void
test_sizes (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (50, 1, 1);
  g_autoptr (QmPlotPainter) painter = qm_plot_painter_new ();
  cairo_surface_t *image = new_image (1);
  cairo_t *cr = cairo_create (image);

  qm_plot_painter_draw (painter, cr, &fixture->data, 0, 100,
                        qm_plot_theme_light (), QM_PLOT_LAYER_ALL);
  g_assert_false (is_drawn (image));
  qm_plot_painter_draw (painter, cr, &fixture->data, 200, 100,
                        qm_plot_theme_light (), QM_PLOT_LAYER_ALL);
  g_assert_true (is_drawn (image));
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_destroy (image);
  expect_same (painter, &fixture->data, qm_plot_theme_light (), 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot-painter/moves", test_moves);
  g_test_add_func ("/plot-painter/scales", test_scales);
  g_test_add_func ("/plot-painter/reset", test_reset);
  g_test_add_func ("/plot-painter/empty", test_empty);
  g_test_add_func ("/plot-painter/sizes", test_sizes);
  return g_test_run ();
}
