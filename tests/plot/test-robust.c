/* SPDX-License-Identifier: Apache-2.0 */

/* Whatever the data, the size, the text and the target: no crash, no hang,
 * nothing outside the rectangle. */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-plot-export.h"

#include <math.h>
#include <string.h>

#define LIGHT (qm_plot_theme_light ())

/* At the edge of a clip Cairo 1.18 may let a thirtieth of a colour through. */
static void
assert_green (guint32 pixel)
{
  static const guint32 green = 0xff00ff00;
  const int trace = 8;

  for (guint shift = 0; shift < 32; shift += 8)
    if (ABS ((int) (pixel >> shift & 0xff) - (int) (green >> shift & 0xff))
        > trace)
      g_assert_cmphex (pixel, ==, green);
}

/* Draws into part of an image and checks that the rest keeps its colour. */
static void
draw_checked (const QmPlotData *data,
              const QmPlotTheme *theme,
              double width,
              double height)
{
  const int border = 8;
  int w = (int) ceil (width), h = (int) ceil (height);
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, w + 2 * border,
                                  h + 2 * border);
  cairo_t *cr = cairo_create (image);

  cairo_set_source_rgb (cr, 0, 1, 0);
  cairo_paint (cr);
  cairo_translate (cr, border, border);
  qm_plot_draw (cr, data, width, height, theme, QM_PLOT_LAYER_ALL);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  for (int x = 0; x < w + 2 * border; x++)
    for (int i = 0; i < border; i++)
      {
        assert_green (pixel_at (image, x, i));
        assert_green (pixel_at (image, x, h + 2 * border - 1 - i));
      }
  for (int y = 0; y < h + 2 * border; y++)
    for (int i = 0; i < border; i++)
      {
        assert_green (pixel_at (image, i, y));
        assert_green (pixel_at (image, w + 2 * border - 1 - i, y));
      }
  cairo_surface_destroy (image);
}

static void
test_values (void)
{
  static const double values[] = { NAN,   INFINITY, -INFINITY, 0,     -0.0,
                                   -1,    1,        1e-320,    1e308, -1e308,
                                   1e100, 1e-100,   5e-324,    42,    1e15 };
  const guint n = G_N_ELEMENTS (values);

  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      for (guint is_log = 0; is_log < 2; is_log++)
        {
          g_autoptr (Fixture) fixture = fixture_new_empty ();
          const QmPlotInterval bars[] = { { values[i], values[j] },
                                          { values[j], values[i] },
                                          { values[i], values[j] } };

          fixture->data.x.log = fixture->data.y.log = is_log;
          fixture_add (fixture, values[i], values[j], 0, 1);
          draw_checked (&fixture->data, LIGHT, 200, 120);
          fixture_add (fixture, values[j], values[i], 1, 65535);
          fixture_add (fixture, 3, 4, 60000, 0);
          fixture->data.x_intervals = fixture->data.y_intervals = bars;
          fixture->data.x.limit = values[i];
          fixture->data.y.limit = values[j];
          fixture->data.x.min = values[j];
          fixture->data.y.max = values[i];
          fixture->data.recommended = 1;
          fixture->data.recommended_label = "best";
          draw_checked (&fixture->data, LIGHT, 200, 120);
        }
}

/* Few points, and all in one place. */
static void
test_few (void)
{
  for (guint is_log = 0; is_log < 2; is_log++)
    {
      g_autoptr (Fixture) fixture = fixture_new_empty ();
      QmPlotLayout layout;
      double x, y;

      fixture->data.x.log = fixture->data.y.log = is_log;
      draw_checked (&fixture->data, LIGHT, 300, 200);
      for (guint i = 0; i < 5; i++)
        {
          fixture_add (fixture, 40000, 30, (guint16) i, 4);
          draw_checked (&fixture->data, LIGHT, 300, 200);
          qm_plot_layout (&fixture->data, 300, 200, LIGHT, &layout);
          qm_plot_position (&layout, 40000, 30, &x, &y);
          g_assert_cmpfloat (x, >, layout.left + 20);
          g_assert_cmpfloat (x, <, layout.right - 20);
          g_assert_cmpfloat (y, >, layout.top + 10);
          g_assert_cmpfloat (y, <, layout.bottom - 10);
        }
    }
}

static void
test_sizes (void)
{
  static const double sizes[] = { 0.1, 1,  2,   3.7,   9,   16,
                                  31,  64, 100, 137.3, 250, 1000 };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  fixture_decorate (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sizes); j++)
      draw_checked (&fixture->data, LIGHT, sizes[i], sizes[j]);
  draw_checked (&fixture->data, LIGHT, 16384, 20);
  draw_checked (&fixture->data, LIGHT, 20, 16384);
  draw_checked (&fixture->data, LIGHT, 6000, 4000);
}

static void
test_no_size (void)
{
  static const double sizes[] = { 0, -1, NAN, -INFINITY };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 10, 10);
  cairo_t *cr = cairo_create (image);
  QmPlotLayout layout;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      qm_plot_draw (cr, &fixture->data, sizes[i], 10, LIGHT, QM_PLOT_LAYER_ALL);
      qm_plot_draw (cr, &fixture->data, 10, sizes[i], LIGHT, QM_PLOT_LAYER_ALL);
      qm_plot_layout (&fixture->data, sizes[i], sizes[i], LIGHT, &layout);
      g_assert_cmpfloat (layout.left, <, layout.right);
    }
  qm_plot_draw (cr, &fixture->data, INFINITY, INFINITY, LIGHT,
                QM_PLOT_LAYER_ALL);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  cairo_surface_destroy (image);
}

/* --- Text ---------------------------------------------------------------- */

static void
set_all_texts (Fixture *fixture, const char *text)
{
  QmPlotData *data = &fixture->data;

  data->title = data->x.title = data->y.title = text;
  data->x.limit_label = data->y.limit_label = text;
  data->recommended_label = data->hovered_label = text;
  data->weight_title = data->crossed_name = data->frontier_name = text;
  data->empty_text = data->x.currency = text;
  for (guint i = 0; i < 3; i++)
    data->provenance_names[i] = text;
  for (guint i = 0; i < fixture->series->len; i++)
    g_array_index (fixture->series, QmPlotSeries, i).name = text;
}

static void
test_texts (void)
{
  g_autofree char *endless = g_strnfill (1000000, 'W');
  g_autofree char *lines = g_strnfill (100000, '\n');
  const char *texts[] = {
    NULL,
    "",
    " ",
    "<b>bold</b> & <span foreground='red",
    "&amp;&#0;<![CDATA[",
    "שלום עולם 4 × GPU",
    "مرحبا بالعالم",
    "\xe2\x80\xae reversed \xe2\x80\xac",
    "\xff\xfe broken \xc3\x28 \xe2\x82",
    "a\nb\nc\rd\te\v",
    "\xe2\x80\xa8\xe2\x80\xa9",
    "🦙🦙🦙 👩‍👩‍👧‍👦",
    "%s%n%d",
    endless,
    lines,
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_published (i % 2);

      fixture_decorate (fixture);
      set_all_texts (fixture, texts[i]);
      /* The currency goes to the formatter of money, which wants a code. */
      if (texts[i] != NULL && !g_utf8_validate (texts[i], -1, NULL))
        fixture->data.x.currency = "USD";
      draw_checked (&fixture->data, LIGHT, 500, 300);
      draw_checked (&fixture->data, LIGHT, 120, 100);
      fixture->data.n_points = 0;
      fixture->data.n_frontier = 0;
      draw_checked (&fixture->data, LIGHT, 500, 300);
    }
}

/* Long texts are cut, not squeezed: the plot keeps its room. */
static void
test_long_texts (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  g_autofree char *endless = g_strnfill (2000, 'm');
  QmPlotLayout layout;

  set_all_texts (fixture, endless);
  fixture->data.x.currency = "USD";
  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &layout);
  g_assert_cmpfloat (layout.right - layout.left, >, 250);
  g_assert_cmpfloat (layout.bottom - layout.top, >, 200);
}

/* --- Odd arguments ------------------------------------------------------- */

static void
test_indices (void)
{
  static const int indices[] = { -1, -2, G_MININT, 16, 17, G_MAXINT };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  fixture_decorate (fixture);
  g_array_append_vals (fixture->frontier, indices, G_N_ELEMENTS (indices));
  fixture_sync (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    {
      fixture->data.recommended = indices[i];
      fixture->data.selected = indices[(i + 1) % 6];
      fixture->data.hovered = indices[(i + 2) % 6];
      draw_checked (&fixture->data, LIGHT, 300, 200);
    }
  fixture->data.series = NULL;
  fixture->data.n_series = 0;
  draw_checked (&fixture->data, LIGHT, 300, 200);
}

static void
test_themes (void)
{
  static const double numbers[] = { NAN, -1, 0, 1e-9, 1e9, INFINITY };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  fixture_decorate (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      QmPlotTheme theme = *qm_plot_theme_dark ();

      theme.font_size = theme.marker_radius = numbers[i];
      theme.font = i % 2 ? NULL : "No Such Font, 'quoted\", 12";
      draw_checked (&fixture->data, &theme, 400, 300);
    }
}

/* Any matrix, a group, the caller's clip and operator. */
static void
test_targets (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 300, 300);
  cairo_t *cr;

  fixture_decorate (fixture);
  for (guint i = 0; i < 8; i++)
    {
      cr = cairo_create (image);
      cairo_rectangle (cr, 50.5, 60, 100, 90);
      cairo_arc (cr, 200, 200, 50, 0, 6);
      cairo_clip (cr);
      if (i & 1)
        cairo_push_group (cr);
      if (i & 2)
        cairo_rotate (cr, 0.4);
      if (i & 4)
        cairo_scale (cr, 1.7, 0.4);
      cairo_set_operator (cr, CAIRO_OPERATOR_DEST_OUT);
      cairo_set_dash (cr, (double[]){ 1, 3 }, 2, 0);
      cairo_move_to (cr, 10, 10);
      qm_plot_draw (cr, &fixture->data, 280, 250, LIGHT, QM_PLOT_LAYER_ALL);
      g_assert_cmpint (cairo_get_operator (cr), ==, CAIRO_OPERATOR_DEST_OUT);
      if (i & 1)
        {
          cairo_pop_group_to_source (cr);
          cairo_paint (cr);
        }
      g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
      cairo_destroy (cr);
    }
  cairo_surface_flush (image);
  /* Outside of the clip nothing was drawn. */
  g_assert_cmphex (pixel_at (image, 10, 10), ==, 0);
  g_assert_cmphex (pixel_at (image, 160, 100), ==, 0);
  g_assert_cmphex (pixel_at (image, 100, 100), !=, 0);
  cairo_surface_destroy (image);
}

/* In a group the points lie where they lie outside of one. */
static void
test_group (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_surface_t *images[2];
  guint greatest;

  for (int i = 0; i < 2; i++)
    {
      cairo_t *cr;

      images[i] = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 400, 300);
      cairo_surface_set_device_offset (images[i], 7, 9);
      cr = cairo_create (images[i]);
      cairo_translate (cr, 13, 5);
      cairo_rectangle (cr, 30, 30, 300, 220);
      cairo_clip (cr);
      if (i == 1)
        cairo_push_group (cr);
      qm_plot_draw (cr, &fixture->data, 360, 270, LIGHT, QM_PLOT_LAYER_ALL);
      if (i == 1)
        {
          cairo_pop_group_to_source (cr);
          cairo_paint (cr);
        }
      cairo_destroy (cr);
      cairo_surface_set_device_offset (images[i], 0, 0);
      cairo_surface_flush (images[i]);
    }
  compare_images (images[0], images[1], 0, &greatest);
  g_assert_cmpuint (greatest, <=, 2);
  cairo_surface_destroy (images[0]);
  cairo_surface_destroy (images[1]);
}

/* --- Chance -------------------------------------------------------------- */

static double
any_double (GRand *random)
{
  static const double special[] = { NAN, INFINITY, -INFINITY, 0, -0.0, 1 };

  switch (g_rand_int_range (random, 0, 6))
    {
    case 0:
      return special[g_rand_int_range (random, 0, 6)];
    case 1:
      return g_rand_double_range (random, -10, 10);
    case 2:
      return pow (10, g_rand_double_range (random, -320, 308));
    default:
      return pow (10, g_rand_double_range (random, -1, 6));
    }
}

static void
shuffle_axis (QmPlotAxis *axis, GRand *random)
{
  axis->log = g_rand_boolean (random);
  axis->unit = (QmPlotUnit) g_rand_int_range (random, 0, 3);
  axis->currency = g_rand_boolean (random) ? "USD" : NULL;
  axis->min = g_rand_boolean (random) ? NAN : any_double (random);
  axis->max = g_rand_boolean (random) ? NAN : any_double (random);
  axis->limit = any_double (random);
}

static void
test_random (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (2024);

  for (guint round = 0; round < 400; round++)
    {
      g_autoptr (Fixture) fixture = fixture_new_empty ();
      guint n = (guint) pow (2, g_rand_double_range (random, 0, 9));
      QmPlotLayout layout;

      for (guint i = 0; i < n; i++)
        {
          QmPlotPoint point = { any_double (random),
                                any_double (random),
                                (guint16) g_rand_int_range (random, 0, 12),
                                (guint16) g_rand_int (random),
                                (guint8) g_rand_int (random),
                                (guint8) g_rand_int (random) };
          int index = g_rand_int_range (random, -1, (gint32) n + 2);

          point.weight =
              (guint16) (point.weight >> g_rand_int_range (random, 6, 16));
          g_array_append_val (fixture->points, point);
          if (i % 3 == 0)
            g_array_append_val (fixture->frontier, index);
        }
      fixture_sync (fixture);
      shuffle_axis (&fixture->data.x, random);
      shuffle_axis (&fixture->data.y, random);
      fixture->data.legend = g_rand_boolean (random);
      fixture->data.recommended = g_rand_int_range (random, -1, 4);
      fixture->data.selected = g_rand_int_range (random, -1, 4);
      fixture->data.hovered = g_rand_int_range (random, -1, 4);
      fixture->data.recommended_label = "the best of all";
      fixture->data.hovered_label = "one\ntwo\nthree";
      draw_checked (&fixture->data,
                    g_rand_boolean (random) ? LIGHT : qm_plot_theme_dark (),
                    g_rand_double_range (random, 1, 700),
                    g_rand_double_range (random, 1, 500));
      qm_plot_layout (&fixture->data, 300, 200, LIGHT, &layout);
      g_assert_true (isfinite (layout.x_min) && isfinite (layout.x_max));
      g_assert_cmpfloat (layout.x_min, <, layout.x_max);
      g_assert_cmpfloat (layout.y_min, <, layout.y_max);
      qm_plot_pick (&fixture->data, &layout, LIGHT, any_double (random),
                    any_double (random), any_double (random));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/robust/values", test_values);
  g_test_add_func ("/plot/robust/few", test_few);
  g_test_add_func ("/plot/robust/sizes", test_sizes);
  g_test_add_func ("/plot/robust/no-size", test_no_size);
  g_test_add_func ("/plot/robust/texts", test_texts);
  g_test_add_func ("/plot/robust/long-texts", test_long_texts);
  g_test_add_func ("/plot/robust/indices", test_indices);
  g_test_add_func ("/plot/robust/themes", test_themes);
  g_test_add_func ("/plot/robust/targets", test_targets);
  g_test_add_func ("/plot/robust/group", test_group);
  g_test_add_func ("/plot/robust/random", test_random);
  return g_test_run ();
}
