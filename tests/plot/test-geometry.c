/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-plot-clutter.h"
#include "ui/plot/qm-plot-private.h"

#include <math.h>

#define LIGHT (qm_plot_theme_light ())

/* A theme that paints no background, so that ink is what is drawn. */
static QmPlotTheme
clear_theme (void)
{
  QmPlotTheme theme = *LIGHT;

  theme.background.alpha = 0;
  return theme;
}

/* The box of all ink of some layers. */
static cairo_rectangle_t
ink_of (const QmPlotData *data,
        double width,
        double height,
        QmPlotLayers layers)
{
  QmPlotTheme theme = clear_theme ();
  cairo_surface_t *recording =
      cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
  cairo_t *cr = cairo_create (recording);
  cairo_rectangle_t ink;

  qm_plot_draw (cr, data, width, height, &theme, layers);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_recording_surface_ink_extents (recording, &ink.x, &ink.y, &ink.width,
                                       &ink.height);
  cairo_surface_destroy (recording);
  return ink;
}

static void
assert_within (const cairo_rectangle_t *ink, double width, double height)
{
  g_assert_cmpfloat (ink->x, >=, -0.01);
  g_assert_cmpfloat (ink->y, >=, -0.01);
  g_assert_cmpfloat (ink->x + ink->width, <=, width + 0.01);
  g_assert_cmpfloat (ink->y + ink->height, <=, height + 0.01);
}

/* --- Positions ----------------------------------------------------------- */

static double
expected (double value, double min, double max, gboolean is_log)
{
  return is_log ? (log10 (value) - log10 (min)) / (log10 (max) - log10 (min))
                : (value - min) / (max - min);
}

static void
test_positions (void)
{
  for (guint is_log = 0; is_log < 2; is_log++)
    {
      g_autoptr (Fixture) fixture = fixture_new_published (is_log);
      QmPlotLayout l;

      qm_plot_layout (&fixture->data, 900, 600, LIGHT, &l);
      g_assert_cmpint (l.x_log, ==, is_log);
      for (guint i = 0; i < fixture->data.n_points; i++)
        {
          const QmPlotPoint *p = &fixture->data.points[i];
          double x, y;

          g_assert_true (qm_plot_position (&l, p->x, p->y, &x, &y));
          g_assert_cmpfloat_with_epsilon (x,
                                          l.left
                                              + expected (p->x, l.x_min,
                                                          l.x_max, is_log)
                                                    * (l.right - l.left),
                                          1e-6);
          g_assert_cmpfloat_with_epsilon (y,
                                          l.bottom
                                              - expected (p->y, l.y_min,
                                                          l.y_max, is_log)
                                                    * (l.bottom - l.top),
                                          1e-6);
        }
    }
}

static void
test_no_position (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  QmPlotLayout layout;
  double x, y;

  qm_plot_layout (&fixture->data, 400, 300, LIGHT, &layout);
  g_assert_false (qm_plot_position (&layout, 0, 1, &x, &y));
  g_assert_false (qm_plot_position (&layout, 1, -1, &x, &y));
  g_assert_false (qm_plot_position (&layout, NAN, 1, &x, &y));
  g_assert_true (qm_plot_position (&layout, 1, 1e6, &x, &y));
  g_assert_cmpfloat (x, <, layout.left);
  g_assert_cmpfloat (y, <, layout.top);
}

/* A single point's ink is its marker, where the layout says. */
static void
test_marker_ink (void)
{
  static const guint16 weights[] = { 1, 3, 8, 40 };

  for (guint16 style = 0; style < QM_PLOT_N_STYLES; style++)
    for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
      {
        g_autoptr (Fixture) fixture = fixture_new_empty ();
        double radius = qm_plot_marker_radius (LIGHT, weights[i]);
        cairo_rectangle_t ink;
        QmPlotLayout layout;
        double x, y;

        fixture_add (fixture, 5, 7, style, weights[i]);
        qm_plot_layout (&fixture->data, 500, 400, LIGHT, &layout);
        g_assert_true (qm_plot_position (&layout, 5, 7, &x, &y));
        ink = ink_of (&fixture->data, 500, 400, QM_PLOT_LAYER_POINTS);
        g_assert_cmpfloat (ink.x, <=, x - 0.8 * radius);
        g_assert_cmpfloat (ink.x, >=, x - 1.6 * radius - 3);
        g_assert_cmpfloat (ink.x + ink.width, >=, x + 0.8 * radius);
        g_assert_cmpfloat (ink.x + ink.width, <=, x + 1.6 * radius + 3);
        g_assert_cmpfloat (ink.y, <=, y - 0.8 * radius);
        g_assert_cmpfloat (ink.y, >=, y - 1.6 * radius - 3);
        g_assert_cmpfloat (ink.y + ink.height, >=, y + 0.8 * radius);
        g_assert_cmpfloat (ink.y + ink.height, <=, y + 1.6 * radius + 3);
      }
}

/* All markers lie wholly within the plotting area unless a range was asked
 * for; the ends of the data are near its edges. */
static void
test_margins (void)
{
  static const int sizes[][2] = { { 320, 240 }, { 480, 360 }, { 900, 600 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_published (i % 2);
      int width = sizes[i / 2][0], height = sizes[i / 2][1];
      cairo_rectangle_t ink =
          ink_of (&fixture->data, width, height, QM_PLOT_LAYER_POINTS);
      QmPlotLayout l;

      qm_plot_layout (&fixture->data, width, height, LIGHT, &l);
      g_assert_cmpfloat (ink.x, >, l.left);
      g_assert_cmpfloat (ink.x, <, l.left + 0.1 * width);
      g_assert_cmpfloat (ink.y, >, l.top);
      g_assert_cmpfloat (ink.y, <, l.top + 0.15 * height);
      g_assert_cmpfloat (ink.x + ink.width, <, l.right);
      g_assert_cmpfloat (ink.x + ink.width, >, l.right - 0.05 * width);
      g_assert_cmpfloat (ink.y + ink.height, <, l.bottom);
      g_assert_cmpfloat (ink.y + ink.height, >, l.bottom - 0.1 * height);
      /* Most of the room is the plot's. */
      g_assert_cmpfloat ((l.right - l.left) * (l.bottom - l.top), >,
                         (width < 400 ? 0.3 : 0.4) * width * height);
    }
}

/* --- Ink ----------------------------------------------------------------- */

static void
test_nothing_outside (void)
{
  static const int sizes[][2] = { { 320, 240 }, { 900, 600 }, { 60, 40 },
                                  { 150, 500 }, { 700, 90 },  { 5, 5 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_published (i % 2);
      int width = sizes[i / 2][0], height = sizes[i / 2][1];
      cairo_rectangle_t ink;

      fixture_decorate (fixture);
      ink = ink_of (&fixture->data, width, height, QM_PLOT_LAYER_ALL);
      assert_within (&ink, width, height);
      g_assert_cmpfloat (ink.width, >, width * 0.5);
    }
}

/* The same on pixels, where sprites are used: nothing around the rectangle is
 * touched. */
static void
test_pixels_outside (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (3000, 5, 2);
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 500, 400);
  cairo_t *cr = cairo_create (image);

  fixture->data.x.min = 1e4;
  fixture->data.x.max = 2e4;
  fixture->data.hovered = 3;
  fixture->data.hovered_label = "A label\nof two lines";
  cairo_set_source_rgb (cr, 1, 0, 1);
  cairo_paint (cr);
  cairo_translate (cr, 70, 50);
  qm_plot_draw (cr, &fixture->data, 360, 300, LIGHT, QM_PLOT_LAYER_ALL);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  for (int y = 0; y < 400; y++)
    for (int x = 0; x < 500; x++)
      if (x < 70 || x >= 430 || y < 50 || y >= 350)
        g_assert_cmphex (pixel_at (image, x, y), ==, 0xffff00ff);
  cairo_surface_destroy (image);
}

static double
channel (guint32 pixel, int shift)
{
  return (pixel >> shift & 255) / 255.0;
}

/* The middle of a marker has its series' colour, over white. */
static void
test_marker_colour (void)
{
  for (guint16 style = 0; style < QM_PLOT_N_STYLES; style++)
    {
      g_autoptr (Fixture) fixture = fixture_new_empty ();
      const QmPlotColor *color = &LIGHT->palette[style];
      cairo_surface_t *image;
      QmPlotLayout layout;
      double x, y;
      guint32 pixel;

      fixture_add (fixture, 5, 7, style, 8);
      qm_plot_layout (&fixture->data, 300, 200, LIGHT, &layout);
      qm_plot_position (&layout, 5, 7, &x, &y);
      image = render (&fixture->data, LIGHT, 300, 200, 1,
                      QM_PLOT_LAYER_FRAME | QM_PLOT_LAYER_POINTS);
      pixel = pixel_at (image, (int) x + 2, (int) y - 1);
      g_assert_cmpfloat_with_epsilon (channel (pixel, 16),
                                      1 - 0.66 * (1 - color->red), 0.08);
      g_assert_cmpfloat_with_epsilon (channel (pixel, 8),
                                      1 - 0.66 * (1 - color->green), 0.08);
      g_assert_cmpfloat_with_epsilon (channel (pixel, 0),
                                      1 - 0.66 * (1 - color->blue), 0.08);
      cairo_surface_destroy (image);
    }
}

/* --- Layers -------------------------------------------------------------- */

static void
test_layers (void)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_published (i % 2);
      double scale = i / 2 + 1;
      cairo_surface_t *all, *parts;
      cairo_t *cr;
      guint greatest;

      fixture_decorate (fixture);
      all = render (&fixture->data, LIGHT, 480, 360, scale, QM_PLOT_LAYER_ALL);
      parts =
          render (&fixture->data, LIGHT, 480, 360, scale, QM_PLOT_LAYER_FRAME);
      cr = cairo_create (parts);
      qm_plot_draw (cr, &fixture->data, 480, 360, LIGHT, QM_PLOT_LAYER_POINTS);
      qm_plot_draw (cr, &fixture->data, 480, 360, LIGHT, QM_PLOT_LAYER_OVERLAY);
      cairo_destroy (cr);
      g_assert_cmpuint (compare_images (all, parts, 0, &greatest), ==, 0);
      cairo_surface_destroy (parts);

      /* Each cached on its own, as a widget does. */
      parts =
          render (&fixture->data, LIGHT, 480, 360, scale, QM_PLOT_LAYER_FRAME);
      for (int layer = QM_PLOT_LAYER_POINTS; layer <= QM_PLOT_LAYER_OVERLAY;
           layer *= 2)
        {
          cairo_surface_t *one = render (&fixture->data, LIGHT, 480, 360, scale,
                                         (QmPlotLayers) layer);

          cr = cairo_create (parts);
          cairo_set_source_surface (cr, one, 0, 0);
          cairo_paint (cr);
          cairo_destroy (cr);
          cairo_surface_destroy (one);
        }
      compare_images (all, parts, 0, &greatest);
      g_assert_cmpuint (greatest, <=, 4);
      cairo_surface_destroy (parts);
      cairo_surface_destroy (all);
    }
}

/* What a slider moves is not in the frame, which may be cached. */
static void
test_frame_is_stable (void)
{
  g_autoptr (Fixture) plain = fixture_new_published (TRUE);
  g_autoptr (Fixture) decorated = fixture_new_published (TRUE);
  cairo_surface_t *before, *after;
  guint greatest;

  decorated->data.x.limit = 40000;
  decorated->data.y.limit = 30;
  decorated->data.recommended = 3;
  decorated->data.recommended_label = "This one";
  for (guint i = 5; i < decorated->points->len; i++)
    g_array_index (decorated->points, QmPlotPoint, i).flags |=
        QM_PLOT_POINT_DIMMED;
  before = render (&plain->data, LIGHT, 480, 360, 1, QM_PLOT_LAYER_FRAME);
  after = render (&decorated->data, LIGHT, 480, 360, 1, QM_PLOT_LAYER_FRAME);
  g_assert_cmpuint (compare_images (before, after, 0, &greatest), ==, 0);
  cairo_surface_destroy (before);
  cairo_surface_destroy (after);
}

/* Points that cannot be drawn leave no trace. */
static void
test_not_drawn (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 0, -5 };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_surface_t *before =
      render (&fixture->data, LIGHT, 400, 300, 1, QM_PLOT_LAYER_ALL);
  cairo_surface_t *after;
  guint greatest;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      fixture_add (fixture, bad[i], 10, 1, 8);
      fixture_add (fixture, 10000, bad[i], 1, 8);
    }
  fixture_add (fixture, 1, 1e6, 0, 100);
  g_array_index (fixture->points, QmPlotPoint, fixture->points->len - 1).flags =
      QM_PLOT_POINT_HIDDEN;
  after = render (&fixture->data, LIGHT, 400, 300, 1, QM_PLOT_LAYER_ALL);
  g_assert_cmpuint (compare_images (before, after, 0, &greatest), ==, 0);
  cairo_surface_destroy (before);
  cairo_surface_destroy (after);
}

/* --- Overlay ------------------------------------------------------------- */

static void
test_limits (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_rectangle_t ink;
  cairo_surface_t *image;
  QmPlotLayout layout;
  double x, y;

  fixture->data.n_frontier = 0;
  fixture->data.x.limit = 40000;
  fixture->data.x.limit_label = NULL;
  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &layout);
  qm_plot_position (&layout, 40000, 50, &x, &y);
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  /* The line, and the shade to its right. */
  g_assert_cmpfloat_with_epsilon (ink.x, x, 2);
  g_assert_cmpfloat_with_epsilon (ink.x + ink.width, layout.right, 1);
  g_assert_cmpfloat_with_epsilon (ink.y, layout.top, 1);
  g_assert_cmpfloat_with_epsilon (ink.y + ink.height, layout.bottom, 1);
  image = render (&fixture->data, LIGHT, 600, 400, 1,
                  QM_PLOT_LAYER_FRAME | QM_PLOT_LAYER_OVERLAY);
  g_assert_cmphex (pixel_at (image, (int) x - 4, (int) layout.top + 5), ==,
                   0xffffffff);
  g_assert_cmphex (pixel_at (image, (int) x + 4, (int) layout.top + 5), !=,
                   0xffffffff);
  cairo_surface_destroy (image);

  /* Out of sight on the far side nothing is excluded, on the near side all
   * is. */
  fixture->data.x.limit = 1e7;
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpfloat (ink.width, ==, 0);
  fixture->data.x.limit = 10;
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpfloat_with_epsilon (ink.width, layout.right - layout.left, 0.1);
}

/* Whether there is ink at a place, or beside it. */
static gboolean
has_ink (cairo_surface_t *image, double x, double y)
{
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (pixel_at (image, (int) x + dx, (int) y + dy) != 0)
        return TRUE;
  return FALSE;
}

/* Between two machines there is none: the line goes by the cost of the dearer
 * and the time of the slower, whichever comes first, and leaves markers free.
 */
static void
test_stairs (void)
{
  static const int orders[2][2] = { { 0, 15 }, { 15, 0 } };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  QmPlotLayout layout;
  double x[2], y[2], radius;

  fixture->data.n_frontier = 2;
  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &layout);
  for (int i = 0; i < 2; i++)
    qm_plot_position (&layout, fixture->data.points[orders[0][i]].x,
                      fixture->data.points[orders[0][i]].y, &x[i], &y[i]);
  g_assert_cmpfloat (x[1] - x[0], >, 100);
  g_assert_cmpfloat (y[1] - y[0], >, 100);
  radius =
      qm_plot_marker_radius (LIGHT, fixture->data.points[orders[0][0]].weight);
  for (int i = 0; i < 4; i++)
    {
      gboolean stairs = i < 2;
      cairo_surface_t *image;

      fixture->data.frontier = orders[i % 2];
      fixture->data.stairs = stairs;
      image =
          render (&fixture->data, LIGHT, 600, 400, 1, QM_PLOT_LAYER_OVERLAY);
      g_assert_true (has_ink (image, x[1], y[0]) == stairs);
      g_assert_true (has_ink (image, (x[0] + x[1]) / 2, y[0]) == stairs);
      g_assert_true (has_ink (image, x[1], (y[0] + y[1]) / 2) == stairs);
      g_assert_true (has_ink (image, (x[0] + x[1]) / 2, (y[0] + y[1]) / 2)
                     != stairs);
      g_assert_false (has_ink (image, x[0], y[0]));
      g_assert_false (has_ink (image, x[0] + radius - 1, y[0]));
      g_assert_false (has_ink (image, x[1], y[1]));
      cairo_surface_destroy (image);
    }
}

static void
test_ring_and_labels (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  cairo_rectangle_t ink;
  QmPlotLayout layout;
  double x, y;

  fixture->data.n_frontier = 0;
  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &layout);
  qm_plot_position (&layout, fixture->data.points[6].x,
                    fixture->data.points[6].y, &x, &y);
  fixture->data.recommended = 6;
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpfloat_with_epsilon (ink.x + ink.width / 2, x, 1);
  g_assert_cmpfloat_with_epsilon (ink.y + ink.height / 2, y, 1);
  g_assert_cmpfloat (ink.width, >, 2 * qm_plot_marker_radius (LIGHT, 4));
  g_assert_cmpfloat (ink.width, <, 6 * qm_plot_marker_radius (LIGHT, 4));
  fixture->data.recommended_label = "4 × RTX A6000";
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpfloat (ink.width, >, 90);

  /* A point out of sight has neither. */
  fixture->data.x.min = 100000;
  fixture->data.x.max = 200000;
  fixture->data.hovered = 6;
  fixture->data.hovered_label = "Here";
  ink = ink_of (&fixture->data, 600, 400, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpfloat (ink.width, ==, 0);
}

/* Labels keep within the plot and, where there is room, off the points. */
static void
test_label_places (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  QmPlotFrame frame;
  g_autofree QmPlotSpot *spots = NULL;
  QmPlotClutter clutter;
  QmPlotBox bounds;
  guint n;

  qm_plot_frame_init (&frame, &fixture->data, 900, 600, LIGHT, 0);
  spots = qm_plot_spots_new (&fixture->data, LIGHT, &frame, &n);
  g_assert_cmpuint (n, ==, 16);
  qm_plot_clutter_init (&clutter, &fixture->data, LIGHT, &frame.layout, spots,
                        n);
  bounds = clutter.area;
  for (guint i = 0; i < 500; i++)
    {
      const QmPlotSpot *spot = &spots[i % n];
      QmPlotBox box = { 0, 0, g_rand_double_range (random, 5, 1000),
                        g_rand_double_range (random, 5, 800) };
      gboolean fits = box.width <= bounds.width && box.height <= bounds.height;
      gboolean small = box.width < 150 && box.height < 30;

      qm_plot_clutter_place (&clutter, &bounds, spot->x, spot->y, 15, FALSE,
                             &box);
      g_assert_cmpfloat (box.x, >=, bounds.x);
      g_assert_cmpfloat (box.y, >=, bounds.y);
      if (fits)
        {
          g_assert_cmpfloat (box.x + box.width, <=,
                             bounds.x + bounds.width + 1e-9);
          g_assert_cmpfloat (box.y + box.height, <=,
                             bounds.y + bounds.height + 1e-9);
        }
      if (small)
        g_assert_cmpfloat (qm_plot_clutter_cost (&clutter, &box), ==, 0);
    }
  qm_plot_clutter_clear (&clutter);
  qm_plot_frame_clear (&frame);
}

/* --- Parts around the plot ----------------------------------------------- */

static void
test_legend (void)
{
  static const int sizes[][2] = { { 900, 600 }, { 480, 360 }, { 320, 240 } };
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      QmPlotFrame frame;
      const QmPlotLegend *legend = &frame.legend;

      qm_plot_frame_init (&frame, &fixture->data, sizes[i][0], sizes[i][1],
                          LIGHT, 0);
      g_assert_cmpint (legend->place, !=, QM_PLOT_LEGEND_NONE);
      /* Beside or above the points, never on them. */
      if (legend->place == QM_PLOT_LEGEND_COLUMN)
        g_assert_cmpfloat (legend->x, >, frame.layout.right);
      else
        g_assert_cmpfloat (legend->y + legend->height, <, frame.layout.top);
      g_assert_cmpfloat (legend->x + legend->width, <=, sizes[i][0]);
      g_assert_cmpfloat (legend->y + legend->height, <=, sizes[i][1]);
      for (guint j = 0; j < legend->entries->len; j++)
        for (guint k = 0; k < j; k++)
          {
            const QmPlotEntry *a =
                &g_array_index (legend->entries, QmPlotEntry, j);
            const QmPlotEntry *b =
                &g_array_index (legend->entries, QmPlotEntry, k);
            QmPlotBox box_a = { a->x, a->y, a->symbol + a->text_width,
                                a->height };
            QmPlotBox box_b = { b->x, b->y, b->symbol + b->text_width,
                                b->height };

            g_assert_false (qm_plot_boxes_meet (&box_a, &box_b));
          }
      qm_plot_frame_clear (&frame);
    }
}

/* Not more than there is: without legend, title and axis titles the plot gets
 * their room. */
static void
test_parts (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  QmPlotLayout full, bare;

  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &full);
  fixture->data.legend = FALSE;
  fixture->data.title = "";
  fixture->data.x.title = fixture->data.y.title = NULL;
  qm_plot_layout (&fixture->data, 600, 400, LIGHT, &bare);
  g_assert_cmpfloat (bare.right, >, full.right + 80);
  g_assert_cmpfloat (bare.top, <, full.top - 10);
  g_assert_cmpfloat (bare.bottom, >, full.bottom + 10);
  g_assert_cmpfloat (bare.left, <, full.left - 10);
}

static void
test_empty (void)
{
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  cairo_rectangle_t ink;
  QmPlotLayout layout;
  QmPlotFrame frame;

  fixture->data.legend = FALSE;
  qm_plot_frame_init (&frame, &fixture->data, 400, 300, LIGHT, 0);
  g_assert_cmpuint (frame.x_ticks.n_major, ==, 0);
  qm_plot_frame_clear (&frame);
  fixture->data.title = fixture->data.x.title = fixture->data.y.title = NULL;
  fixture->data.x.log = TRUE;
  qm_plot_layout (&fixture->data, 400, 300, LIGHT, &layout);
  ink = ink_of (&fixture->data, 400, 300, QM_PLOT_LAYER_FRAME);
  assert_within (&ink, 400, 300);
  {
    /* The text is in the middle: ink of it against the same without. */
    QmPlotTheme theme = clear_theme ();
    cairo_surface_t *with =
        render (&fixture->data, &theme, 400, 300, 1, QM_PLOT_LAYER_FRAME);
    cairo_surface_t *without;
    double sum_x = 0, sum_y = 0;
    guint n = 0;

    fixture->data.empty_text = NULL;
    without = render (&fixture->data, &theme, 400, 300, 1, QM_PLOT_LAYER_FRAME);
    for (int y = 0; y < 300; y++)
      for (int x = 0; x < 400; x++)
        if (pixel_at (with, x, y) != pixel_at (without, x, y))
          {
            sum_x += x;
            sum_y += y;
            n++;
          }
    g_assert_cmpuint (n, >, 100);
    g_assert_cmpfloat_with_epsilon (sum_x / n, (layout.left + layout.right) / 2,
                                    6);
    g_assert_cmpfloat_with_epsilon (sum_y / n, (layout.top + layout.bottom) / 2,
                                    6);
    cairo_surface_destroy (with);
    cairo_surface_destroy (without);
  }
}

/* --- Picking ------------------------------------------------------------- */

static int
pick_slowly (const QmPlotData *data,
             const QmPlotLayout *layout,
             double user_x,
             double user_y,
             double reach)
{
  double best = HUGE_VAL;
  int found = -1;

  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *p = &data->points[i];
      double x, y, distance;

      if (p->flags & QM_PLOT_POINT_HIDDEN)
        continue;
      if (!qm_plot_position (layout, p->x, p->y, &x, &y))
        continue;
      distance = hypot (x - user_x, y - user_y);
      if (distance <= qm_plot_marker_radius (LIGHT, p->weight) + reach
          && distance < best)
        {
          best = distance;
          found = (int) i;
        }
    }
  return found;
}

static void
test_pick (void)
{
  g_autoptr (Fixture) fixture = fixture_new_random (300, 11, 2);
  g_autoptr (GRand) random = g_rand_new_with_seed (12);
  QmPlotLayout layout;
  guint found = 0;

  for (guint i = 0; i < 300; i += 7)
    g_array_index (fixture->points, QmPlotPoint, i).flags =
        QM_PLOT_POINT_HIDDEN;
  qm_plot_layout (&fixture->data, 640, 480, LIGHT, &layout);
  for (guint i = 0; i < 2000; i++)
    {
      double x = g_rand_double_range (random, 0, 640);
      double y = g_rand_double_range (random, 0, 480);
      double reach = g_rand_double_range (random, 0, 8);
      int picked = qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, reach);

      g_assert_cmpint (picked, ==,
                       pick_slowly (&fixture->data, &layout, x, y, reach));
      found += picked >= 0;
    }
  g_assert_cmpuint (found, >, 400);
  g_assert_cmpuint (found, <, 2000);
}

/* Of points in the same place the one drawn last is picked. */
static void
test_pick_topmost (void)
{
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  QmPlotLayout layout;
  QmPlotPoint *points;
  double x, y;

  fixture_add (fixture, 5, 5, 0, 1);
  fixture_add (fixture, 5, 5, 1, 8);
  fixture_add (fixture, 5, 5, 2, 1);
  points = (QmPlotPoint *) (void *) fixture->points->data;
  qm_plot_layout (&fixture->data, 300, 200, LIGHT, &layout);
  qm_plot_position (&layout, 5, 5, &x, &y);
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, 0), ==,
                   2);
  points[2].flags = QM_PLOT_POINT_DIMMED;
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, 0), ==,
                   0);
  points[0].flags = points[2].flags = QM_PLOT_POINT_HIDDEN;
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, 0), ==,
                   1);
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, NAN, y, 5), ==,
                   -1);
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x + 100, y, 5),
                   ==, -1);
}

/* A point that a zoom has put out of sight cannot be picked. */
static void
test_pick_zoomed (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  QmPlotLayout layout;
  double x, y;

  fixture->data.x.min = 10000;
  fixture->data.x.max = 20000;
  qm_plot_layout (&fixture->data, 300, 200, LIGHT, &layout);
  qm_plot_position (&layout, fixture->data.points[0].x,
                    fixture->data.points[0].y, &x, &y);
  g_assert_cmpfloat (x, <, layout.left);
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, 10), ==,
                   -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/geometry/positions", test_positions);
  g_test_add_func ("/plot/geometry/no-position", test_no_position);
  g_test_add_func ("/plot/geometry/marker-ink", test_marker_ink);
  g_test_add_func ("/plot/geometry/margins", test_margins);
  g_test_add_func ("/plot/geometry/nothing-outside", test_nothing_outside);
  g_test_add_func ("/plot/geometry/pixels-outside", test_pixels_outside);
  g_test_add_func ("/plot/geometry/marker-colour", test_marker_colour);
  g_test_add_func ("/plot/layers/equal-all", test_layers);
  g_test_add_func ("/plot/layers/frame-is-stable", test_frame_is_stable);
  g_test_add_func ("/plot/layers/not-drawn", test_not_drawn);
  g_test_add_func ("/plot/overlay/stairs", test_stairs);
  g_test_add_func ("/plot/overlay/limits", test_limits);
  g_test_add_func ("/plot/overlay/ring-and-labels", test_ring_and_labels);
  g_test_add_func ("/plot/overlay/label-places", test_label_places);
  g_test_add_func ("/plot/parts/legend", test_legend);
  g_test_add_func ("/plot/parts/room", test_parts);
  g_test_add_func ("/plot/parts/empty", test_empty);
  g_test_add_func ("/plot/pick/random", test_pick);
  g_test_add_func ("/plot/pick/topmost", test_pick_topmost);
  g_test_add_func ("/plot/pick/zoomed", test_pick_zoomed);
  return g_test_run ();
}
