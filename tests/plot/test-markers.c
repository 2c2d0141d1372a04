/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-plot-private.h"
#include "ui/plot/qm-plot-shape.h"

#include <math.h>
#include <string.h>

#define LIGHT (qm_plot_theme_light ())

static const QmPlotTheme *
nth_theme (guint i)
{
  const QmPlotTheme *themes[] = { qm_plot_theme_light (), qm_plot_theme_dark (),
                                  qm_plot_theme_high_contrast (FALSE),
                                  qm_plot_theme_high_contrast (TRUE) };

  return i < G_N_ELEMENTS (themes) ? themes[i] : NULL;
}

/* --- Shapes -------------------------------------------------------------- */

/* Area by the distance function, in squares of radii. */
static double
area_by_distance (QmPlotShape shape)
{
  const int n = 800;
  int inside = 0;

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      inside += qm_plot_shape_distance (shape, 4 * (i + 0.5f) / n - 2,
                                        4 * (j + 0.5f) / n - 2)
                < 0;
  return inside * 16.0 / (n * n);
}

/* Area by the alpha of what Cairo draws. */
static double
area_by_path (QmPlotShape shape, double radius)
{
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 400, 400);
  cairo_t *cr = cairo_create (image);
  QmPlotMarker marker = { .shape = shape,
                          .radius = radius,
                          .fill = { 0, 0, 0, 1 } };
  double sum = 0;

  qm_plot_marker_draw (&marker, cr, 200, 200);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  for (int y = 0; y < 400; y++)
    for (int x = 0; x < 400; x++)
      sum += (pixel_at (image, x, y) >> 24) / 255.0;
  cairo_surface_destroy (image);
  return sum;
}

/* Area says the weight, so it must not depend on the shape. */
static void
test_areas (void)
{
  for (int shape = 0; shape < QM_PLOT_N_STYLES; shape++)
    {
      g_assert_cmpfloat_with_epsilon (area_by_distance (shape), G_PI, 0.02);
      g_assert_cmpfloat_with_epsilon (area_by_path (shape, 100),
                                      G_PI * 100 * 100, 150);
    }
  for (guint weight = 1; weight < 100; weight++)
    g_assert_cmpfloat_with_epsilon (pow (qm_plot_marker_radius (LIGHT, weight)
                                             / qm_plot_marker_radius (LIGHT, 1),
                                         2),
                                    weight, 1e-9);
  g_assert_cmpfloat (qm_plot_marker_radius (LIGHT, 0), ==,
                     qm_plot_marker_radius (LIGHT, 1));
  g_assert_cmpfloat (qm_plot_marker_radius (LIGHT, 65535), <, 50);
}

/* Nothing is painted further out than markers say that they reach. */
static void
test_extents (void)
{
  for (guint style = 0; style < QM_PLOT_N_STYLES; style++)
    for (guint kind = 0; kind < 6; kind++)
      {
        cairo_surface_t *recording =
            cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
        cairo_t *cr = cairo_create (recording);
        double x, y, width, height;
        QmPlotMarker marker;
        double extent;

        qm_plot_marker_init (&marker, LIGHT, style, 8, kind % 3,
                             kind / 3 ? QM_PLOT_POINT_CROSSED : 0);
        extent = qm_plot_marker_extent (&marker);
        qm_plot_marker_draw (&marker, cr, 0, 0);
        cairo_destroy (cr);
        cairo_recording_surface_ink_extents (recording, &x, &y, &width,
                                             &height);
        cairo_surface_destroy (recording);
        /* Ink extents are whole units. */
        g_assert_cmpfloat (x, >=, -ceil (extent) - 1);
        g_assert_cmpfloat (y, >=, -ceil (extent) - 1);
        g_assert_cmpfloat (x + width, <=, ceil (extent) + 1);
        g_assert_cmpfloat (y + height, <=, ceil (extent) + 1);
      }
}

/* Whoever names each type of GPU in a legend finds one with each look. */
static void
test_looks (void)
{
  for (guint i = 0; i < QM_PLOT_N_LOOKS; i++)
    for (guint j = 0; j < i; j++)
      {
        QmPlotMarker a, b;

        qm_plot_marker_init (&a, LIGHT, i, 1, QM_PLOT_MEASURED, 0);
        qm_plot_marker_init (&b, LIGHT, j, 1, QM_PLOT_MEASURED, 0);
        if (a.shape == b.shape && memcmp (&a.fill, &b.fill, sizeof a.fill) == 0)
          g_test_message ("styles %u and %u look alike", j, i);
        g_assert_true (a.shape != b.shape
                       || memcmp (&a.fill, &b.fill, sizeof a.fill) != 0);
      }
}

static void
test_hidden_marker (void)
{
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 20, 20);
  cairo_t *cr = cairo_create (image);

  cairo_translate (cr, 10, 10);
  qm_plot_draw_marker (cr, LIGHT, 0, 1, QM_PLOT_PUBLISHED,
                       QM_PLOT_POINT_HIDDEN);
  cairo_surface_flush (image);
  g_assert_cmphex (pixel_at (image, 10, 10), ==, 0);
  qm_plot_draw_marker (cr, LIGHT, 1000, 1, (QmPlotProvenance) 77,
                       QM_PLOT_POINT_NORMAL);
  cairo_surface_flush (image);
  g_assert_cmphex (pixel_at (image, 10, 10), !=, 0);
  cairo_destroy (cr);
  cairo_surface_destroy (image);
}

/* --- Two ways to draw ---------------------------------------------------- */

/* Every kind of marker once, apart from each other, the middles on halves of
 * pixels (where sprites are exact) or anywhere. */
static Fixture *
all_kinds (gboolean anywhere)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  Fixture *fixture = fixture_new_empty ();

  for (guint i = 0; i < QM_PLOT_N_STYLES * 3 * 4 * 3; i++)
    {
      QmPlotPoint point = {
        .series = (guint16) (i % QM_PLOT_N_STYLES),
        .provenance = (guint8) (i / QM_PLOT_N_STYLES % 3),
        .flags = (guint8) (i / (QM_PLOT_N_STYLES * 3) % 4),
        .weight = (guint16) (1 << 2 * (i / (QM_PLOT_N_STYLES * 12))),
      };

      point.x = 40.0 * (i % 24);
      point.y = 40.0 * (i / 24);
      point.x += anywhere ? g_rand_double (random)
                          : 0.5 * g_rand_int_range (random, 0, 2);
      point.y += anywhere ? g_rand_double (random)
                          : 0.5 * g_rand_int_range (random, 0, 2);
      g_array_append_val (fixture->points, point);
    }
  fixture_sync (fixture);
  return fixture;
}

/* A frame in which data units are user units. */
static void
unit_frame (QmPlotFrame *frame, Fixture *fixture, double width, double height)
{
  *frame = (QmPlotFrame){
    .layout = { width, height, 0, 0, width, height, -30, width - 30,
                height - 30, -30, FALSE, FALSE },
    .contents = { .n = fixture->points->len, .weight = 16 },
  };
}

static cairo_surface_t *
draw_points (Fixture *fixture, gboolean by_pixels, double scale)
{
  const int width = 1000, height = 520;
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) (width * scale),
                                  (int) (height * scale));
  g_autofree QmPlotSpot *spots = NULL;
  QmPlotFrame frame;
  cairo_t *cr;
  guint n;

  cairo_surface_set_device_scale (image, scale, scale);
  cr = cairo_create (image);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  unit_frame (&frame, fixture, width, height);
  spots = qm_plot_spots_new (&fixture->data, LIGHT, &frame, &n);
  g_assert_cmpuint (n, ==, fixture->points->len);
  if (by_pixels)
    g_assert_true (qm_plot_draw_points_by_pixels (cr, &fixture->data, LIGHT,
                                                  &frame, spots, n, NULL));
  else
    qm_plot_draw_points_by_path (cr, &fixture->data, LIGHT, spots, n);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  return image;
}

static double
mean_difference (cairo_surface_t *a, cairo_surface_t *b)
{
  double sum = 0;
  guint n = 0;

  for (int y = 0; y < cairo_image_surface_get_height (a); y++)
    for (int x = 0; x < cairo_image_surface_get_width (a); x++)
      {
        guint32 p = pixel_at (a, x, y), q = pixel_at (b, x, y);

        if (p == 0xffffffff && q == 0xffffffff)
          continue;
        for (int shift = 0; shift < 24; shift += 8)
          sum += ABS ((int) (p >> shift & 255) - (int) (q >> shift & 255));
        n += 3;
      }
  return sum / n;
}

/* `many` is how many pixels of a thousand painted ones may differ by more than
 * a sixth of the range. */
static void
check_likeness (gboolean anywhere, double scale, double many, double mean)
{
  g_autoptr (Fixture) fixture = all_kinds (anywhere);
  cairo_surface_t *paths = draw_points (fixture, FALSE, scale);
  cairo_surface_t *pixels = draw_points (fixture, TRUE, scale);
  guint painted = 0;
  guint greatest;
  guint n;

  for (int y = 0; y < cairo_image_surface_get_height (paths); y++)
    for (int x = 0; x < cairo_image_surface_get_width (paths); x++)
      painted += pixel_at (paths, x, y) != 0xffffffff;
  n = compare_images (paths, pixels, 255 / 6, &greatest);
  g_test_message ("scale %g: greatest %u, %u of %u, mean %.2f", scale, greatest,
                  n, painted, mean_difference (paths, pixels));
  g_assert_cmpfloat (1000.0 * n / painted, <=, many);
  g_assert_cmpfloat (mean_difference (paths, pixels), <, mean);
  cairo_surface_destroy (paths);
  cairo_surface_destroy (pixels);
}

/* Sprites look like what Cairo draws: where they may be exact they differ by
 * the rounding of edges and corners alone, and else by a quarter of a pixel. */
static void
test_likeness (void)
{
  check_likeness (FALSE, 1, 2, 1.5);
  check_likeness (FALSE, 2, 2, 1.0);
  check_likeness (TRUE, 1, 50, 6.0);
  check_likeness (TRUE, 2, 50, 4.0);
}

/* In a crowd too, where what is covered is left out. */
static void
test_crowd (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (6000, 4, 1.5);
  cairo_surface_t *images[2];

  for (int i = 0; i < 2; i++)
    {
      cairo_t *cr;
      g_autofree QmPlotSpot *spots = NULL;
      QmPlotFrame frame;
      guint n;

      images[i] = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 400, 300);
      cr = cairo_create (images[i]);
      cairo_set_source_rgb (cr, 1, 1, 1);
      cairo_paint (cr);
      qm_plot_frame_init (&frame, &fixture->data, 400, 300, LIGHT, 0);
      spots = qm_plot_spots_new (&fixture->data, LIGHT, &frame, &n);
      if (i == 0)
        qm_plot_draw_points_by_path (cr, &fixture->data, LIGHT, spots, n);
      else
        g_assert_true (qm_plot_draw_points_by_pixels (cr, &fixture->data, LIGHT,
                                                      &frame, spots, n, NULL));
      cairo_destroy (cr);
      cairo_surface_flush (images[i]);
      qm_plot_frame_clear (&frame);
    }
  g_test_message ("mean %.2f", mean_difference (images[0], images[1]));
  g_assert_cmpfloat (mean_difference (images[0], images[1]), <, 24);
  cairo_surface_destroy (images[0]);
  cairo_surface_destroy (images[1]);
}

/* Which way is taken depends on the target alone. */
static void
test_choice (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 300);
  cairo_surface_t *recording =
      cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
  cairo_t *on_image = cairo_create (image);
  cairo_t *on_recording = cairo_create (recording);
  g_autofree QmPlotSpot *spots = NULL;
  QmPlotFrame frame;
  guint n;

  qm_plot_frame_init (&frame, &fixture->data, 400, 300, LIGHT, 0);
  spots = qm_plot_spots_new (&fixture->data, LIGHT, &frame, &n);
  g_assert_true (qm_plot_draw_points_by_pixels (on_image, &fixture->data, LIGHT,
                                                &frame, spots, n, NULL));
  g_assert_true (qm_plot_draw_points_by_pixels (on_image, &fixture->data, LIGHT,
                                                &frame, spots, 0, NULL));
  g_assert_false (qm_plot_draw_points_by_pixels (
      on_recording, &fixture->data, LIGHT, &frame, spots, n, NULL));
  cairo_rotate (on_image, 0.3);
  g_assert_false (qm_plot_draw_points_by_pixels (
      on_image, &fixture->data, LIGHT, &frame, spots, n, NULL));
  cairo_identity_matrix (on_image);
  cairo_scale (on_image, 1, 2);
  g_assert_false (qm_plot_draw_points_by_pixels (
      on_image, &fixture->data, LIGHT, &frame, spots, n, NULL));
  qm_plot_frame_clear (&frame);
  cairo_destroy (on_image);
  cairo_destroy (on_recording);
  cairo_surface_destroy (image);
  cairo_surface_destroy (recording);
}

/* --- Colours ------------------------------------------------------------- */

static double
linear (double channel)
{
  return channel <= 0.04045 ? channel / 12.92
                            : pow ((channel + 0.055) / 1.055, 2.4);
}

/* WCAG 2.1, relative luminance. */
static double
luminance (const QmPlotColor *color)
{
  return 0.2126 * linear (color->red) + 0.7152 * linear (color->green)
         + 0.0722 * linear (color->blue);
}

static double
contrast (const QmPlotColor *a, const QmPlotColor *b)
{
  double la = luminance (a), lb = luminance (b);

  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}

static void
test_contrast (void)
{
  const QmPlotTheme *theme;

  for (guint i = 0; (theme = nth_theme (i)) != NULL; i++)
    {
      const QmPlotColor *ground = &theme->background;

      g_assert_cmpfloat (ground->alpha, ==, 1);
      g_assert_cmpfloat (contrast (&theme->text, ground), >=, 7);
      g_assert_cmpfloat (contrast (&theme->faint_text, ground), >=, 4.5);
      g_assert_cmpfloat (contrast (&theme->limit, ground), >=, 4.5);
      g_assert_cmpfloat (contrast (&theme->accent, ground), >=, 3);
      g_assert_cmpfloat (contrast (&theme->grey, ground), >=, 3);
      g_assert_cmpfloat (contrast (&theme->grid, ground), <, 3.5);
      for (guint style = 0; style < QM_PLOT_N_STYLES; style++)
        {
          QmPlotMarker marker;

          g_assert_cmpfloat (contrast (&theme->palette[style], ground), >=,
                             i >= 2 ? 4.5 : 3);
          for (guint kind = 0; kind < 3; kind++)
            {
              qm_plot_marker_init (&marker, theme, style, 1, kind, 0);
              g_assert_cmpfloat (marker.stroke.alpha, ==, 1);
              g_assert_cmpfloat (contrast (&marker.stroke, ground), >=, 3);
            }
        }
    }
}

/* The limit's label stands on its own shade. */
static void
test_contrast_in_shade (void)
{
  const QmPlotTheme *theme;

  for (guint i = 0; (theme = nth_theme (i)) != NULL; i++)
    {
      QmPlotColor shade = theme->background;

      shade.red += 0.07 * (theme->limit.red - shade.red);
      shade.green += 0.07 * (theme->limit.green - shade.green);
      shade.blue += 0.07 * (theme->limit.blue - shade.blue);
      g_assert_cmpfloat (contrast (&theme->limit, &shade), >=, 4.5);
      g_assert_cmpfloat (contrast (&theme->text, &shade), >=, 4.5);
    }
}

/* How colours look without one kind of cone: Machado, Oliveira and Fernandes
 * (2009), severity 1, on linear RGB. */
static const double sights[][3][3] = {
  { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  { { 0.152286, 1.052583, -0.204868 },
    { 0.114503, 0.786281, 0.099216 },
    { -0.003882, -0.048116, 1.051998 } },
  { { 0.367322, 0.860646, -0.227968 },
    { 0.280085, 0.672501, 0.047413 },
    { -0.011820, 0.042940, 0.968881 } },
  { { 1.255528, -0.076749, -0.178779 },
    { -0.078411, 0.930809, 0.147602 },
    { 0.004733, 0.691367, 0.303900 } },
};

/* Oklab coordinates (Ottosson 2020) of a colour as seen. */
static void
seen (const QmPlotColor *color, const double sight[3][3], double lab[3])
{
  double rgb[3] = { linear (color->red), linear (color->green),
                    linear (color->blue) };
  double s[3], l, m, n;

  for (int i = 0; i < 3; i++)
    s[i] = CLAMP (sight[i][0] * rgb[0] + sight[i][1] * rgb[1]
                      + sight[i][2] * rgb[2],
                  0, 1);
  l = cbrt (0.4122214708 * s[0] + 0.5363325363 * s[1] + 0.0514459929 * s[2]);
  m = cbrt (0.2119034982 * s[0] + 0.6806995451 * s[1] + 0.1073969566 * s[2]);
  n = cbrt (0.0883024619 * s[0] + 0.2817188376 * s[1] + 0.6299787005 * s[2]);
  lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * n;
  lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * n;
  lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * n;
}

/* Series can be told apart by colour alone, however one sees; and each has its
 * own shape besides. */
static void
test_palette (void)
{
  const QmPlotTheme *theme;

  for (guint t = 0; (theme = nth_theme (t)) != NULL; t++)
    for (guint k = 0; k < G_N_ELEMENTS (sights); k++)
      for (guint i = 0; i < QM_PLOT_N_STYLES; i++)
        for (guint j = 0; j < i; j++)
          {
            double a[3], b[3], distance;

            seen (&theme->palette[i], sights[k], a);
            seen (&theme->palette[j], sights[k], b);
            distance = sqrt (pow (a[0] - b[0], 2) + pow (a[1] - b[1], 2)
                             + pow (a[2] - b[2], 2));
            if (distance < 0.065 || (i < 4 && distance < 0.1))
              g_test_message ("theme %u sight %u: %u and %u are %.3f apart", t,
                              k, i, j, distance);
            g_assert_cmpfloat (distance, >=, 0.065);
            if (i < 4)
              g_assert_cmpfloat (distance, >=, 0.1);
          }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/markers/areas", test_areas);
  g_test_add_func ("/plot/markers/extents", test_extents);
  g_test_add_func ("/plot/markers/looks", test_looks);
  g_test_add_func ("/plot/markers/hidden", test_hidden_marker);
  g_test_add_func ("/plot/sprites/likeness", test_likeness);
  g_test_add_func ("/plot/sprites/crowd", test_crowd);
  g_test_add_func ("/plot/sprites/choice", test_choice);
  g_test_add_func ("/plot/themes/contrast", test_contrast);
  g_test_add_func ("/plot/themes/contrast-in-shade", test_contrast_in_shade);
  g_test_add_func ("/plot/themes/palette", test_palette);
  return g_test_run ();
}
