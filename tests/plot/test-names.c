/* SPDX-License-Identifier: Apache-2.0 */

/* Names beside the frontier, and grey for what is not on it. */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/plot/qm-plot-clutter.h"

#include <math.h>
#include <string.h>

#define LIGHT (qm_plot_theme_light ())

static const char *const long_names[] = { "a", "eight of the fastest of all",
                                          "b", "c",
                                          "d", "e",
                                          "f", "g",
                                          "h", "i",
                                          "k", "l",
                                          "m", "n",
                                          "o", "p" };

/* Of the thin line from a point to its name some may cross a marker. */
#define OF_LINES 40

/* Pixels that names change, by whether a marker or the edge is there. */
static void
count_changes (const QmPlotData *with,
               int width,
               int height,
               guint *free_pixels,
               guint *covered)
{
  QmPlotData without = *with;
  cairo_surface_t *named, *bare;
  QmPlotLayout layout;

  without.frontier_names = without.frontier_short_names = NULL;
  named = render (with, LIGHT, width, height, 1, QM_PLOT_LAYER_ALL);
  bare = render (&without, LIGHT, width, height, 1, QM_PLOT_LAYER_ALL);
  qm_plot_layout (with, width, height, LIGHT, &layout);
  *free_pixels = *covered = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        gboolean taken = x < layout.zero_left || x > layout.right
                         || y < layout.top || y > layout.bottom;

        if (pixel_at (named, x, y) == pixel_at (bare, x, y))
          continue;
        for (guint i = 0; i < with->n_points && !taken; i++)
          {
            const QmPlotPoint *point = &with->points[i];
            double at_x, at_y;

            if (!qm_plot_is_drawn (with, i)
                || !qm_plot_position (&layout, point->x, point->y, &at_x,
                                      &at_y))
              continue;
            taken = hypot (x + 0.5 - at_x, y + 0.5 - at_y)
                    < qm_plot_marker_radius (LIGHT, point->weight);
          }
        ++*(taken ? covered : free_pixels);
      }
  cairo_surface_destroy (named);
  cairo_surface_destroy (bare);
}

static void
test_cover_nothing (void)
{
  static const int sizes[][2] = { { 640, 440 }, { 420, 300 }, { 260, 190 } };

  for (guint log = 0; log < 2; log++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      {
        g_autoptr (Fixture) fixture = fixture_new_published (log);
        guint free_pixels, covered;

        g_assert_cmpuint (fixture->frontier->len, <=,
                          G_N_ELEMENTS (long_names));
        fixture->data.frontier_names = long_names;
        count_changes (&fixture->data, sizes[i][0], sizes[i][1], &free_pixels,
                       &covered);
        g_assert_cmpuint (covered, <, OF_LINES);
        g_assert_cmpuint (free_pixels, >, 10);
      }
}

/* Where a name is too long for any place, the short one stands; where that is,
 * too, none. */
static void
test_short (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  const char *names[G_N_ELEMENTS (long_names)];
  guint free_pixels, covered;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    names[i] = "a name that is longer than any plot of this width can hold";
  fixture->data.frontier_names = names;
  count_changes (&fixture->data, 300, 240, &free_pixels, &covered);
  g_assert_cmpuint (free_pixels + covered, ==, 0);
  fixture->data.frontier_short_names = long_names;
  count_changes (&fixture->data, 300, 240, &free_pixels, &covered);
  g_assert_cmpuint (free_pixels, >, 10);
  g_assert_cmpuint (covered, <, OF_LINES);
}

static void
test_free_place (void)
{
  static const QmPlotBox bounds = { 0, 0, 400, 300 };
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  const QmPlotLayout layout = { .width = 400,
                                .height = 300,
                                .right = 400,
                                .bottom = 300,
                                .x_max = 400,
                                .y_max = 300 };
  QmPlotBox box = { 0, 0, 60, 14 }, large = { 0, 0, 395, 290 };
  QmPlotClutter clutter;
  QmPlotSpot spot = { 396, 150, 0 };

  fixture_add (fixture, 396, 150, 0, 1);
  fixture_sync (fixture);
  qm_plot_clutter_init (&clutter, &fixture->data, LIGHT, &layout, &spot, 1);
  g_assert_true (
      qm_plot_clutter_find_free (&clutter, &bounds, 396, 150, 4, &box));
  g_assert_cmpfloat (box.x + box.width, <=, 392);
  g_assert_cmpfloat (box.x, >, 300);
  g_assert_false (
      qm_plot_clutter_find_free (&clutter, &bounds, 396, 150, 4, &large));
  /* Once it is taken another place is found, as long as there is one. */
  for (guint i = 0; i < 2; i++)
    {
      QmPlotBox last = box;

      qm_plot_clutter_take (&clutter, &last);
      g_assert_true (
          qm_plot_clutter_find_free (&clutter, &bounds, 396, 150, 4, &box));
      g_assert_false (qm_plot_boxes_meet (&box, &last));
    }
  qm_plot_clutter_take (&clutter, &bounds);
  g_assert_false (
      qm_plot_clutter_find_free (&clutter, &bounds, 396, 150, 4, &box));
  qm_plot_clutter_clear (&clutter);
}

/* The greatest difference between the channels of a pixel. */
static guint
colourfulness (guint32 pixel)
{
  guint red = pixel >> 16 & 0xff, green = pixel >> 8 & 0xff,
        blue = pixel & 0xff;

  return MAX (MAX (red, green), blue) - MIN (MIN (red, green), blue);
}

static guint
colour_at (const QmPlotData *data, guint index)
{
  const int width = 400, height = 300;
  cairo_surface_t *image =
      render (data, LIGHT, width, height, 1, QM_PLOT_LAYER_ALL);
  QmPlotLayout layout;
  double x, y;
  guint found;

  qm_plot_layout (data, width, height, LIGHT, &layout);
  g_assert_true (qm_plot_position (&layout, data->points[index].x,
                                   data->points[index].y, &x, &y));
  found = colourfulness (pixel_at (image, (int) x, (int) y));
  cairo_surface_destroy (image);
  return found;
}

static void
test_grey (void)
{
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  QmPlotPoint *points;

  /* Three of one series, and one of another. */
  fixture_add (fixture, 10, 10, 0, 8);
  fixture_add (fixture, 50, 90, 0, 8);
  fixture_add (fixture, 90, 50, 0, 8);
  fixture_add (fixture, 90, 90, 1, 8);
  fixture_sync (fixture);
  points = (QmPlotPoint *) (void *) fixture->points->data;
  for (guint i = 1; i < 4; i++)
    points[i].flags |= QM_PLOT_POINT_GREY;
  g_assert_cmpuint (colour_at (&fixture->data, 0), >, 60);
  for (guint i = 1; i < 4; i++)
    g_assert_cmpuint (colour_at (&fixture->data, i), <, 12);
  /* In colour while it is marked, and others of its series with it. */
  fixture->data.hovered = 1;
  g_assert_cmpuint (colour_at (&fixture->data, 1), >, 60);
  g_assert_cmpuint (colour_at (&fixture->data, 2), >, 60);
  g_assert_cmpuint (colour_at (&fixture->data, 3), <, 12);
  fixture->data.hovered = -1;
  fixture->data.selected = 3;
  g_assert_cmpuint (colour_at (&fixture->data, 3), >, 60);
  g_assert_cmpuint (colour_at (&fixture->data, 1), <, 12);
}

/* Of an advice: what is not on the frontier is grey, what is has a name. */
static void
check_advice (const QmCatalog *catalog,
              const QmAdvice *advice,
              QmAdvicePlotKind kind)
{
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (catalog, advice, kind, NULL, NULL, TRUE);
  const QmPlotData *data = qm_advice_plot_data (plot);
  guint n_grey = 0, n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < data->n_points; i++)
    n_grey += (data->points[i].flags & QM_PLOT_POINT_GREY) != 0;
  g_assert_cmpuint (data->n_frontier, >, 0);
  g_assert_cmpuint (n_grey, ==, data->n_points - data->n_frontier);
  for (guint i = 0; i < data->n_frontier; i++)
    {
      const QmCandidate *c = &candidates[data->frontier[i]];
      const char *short_name = data->frontier_short_names[i];
      g_autofree char *name =
          g_strdup_printf ("%d × %s", c->gpus, c->gpu->name);

      g_assert_false (data->points[data->frontier[i]].flags
                      & QM_PLOT_POINT_GREY);
      g_assert_cmpstr (data->frontier_names[i], ==, name);
      g_assert_cmpuint (strlen (short_name), <=, strlen (name));
      if (g_str_equal (c->gpu->id, "h100-80gb-sxm"))
        g_assert_true (g_str_has_suffix (short_name, " × H100"));
      if (g_str_equal (c->gpu->id, "rtx3090"))
        g_assert_true (g_str_has_suffix (short_name, " × RTX 3090"));
    }
}

static void
test_advice (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (GError) error = NULL;
  QmCatalog *catalog;
  QmError problem;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &problem),
                   ==, QM_OK);
  question->model = g_strdup ("pythia-1b");
  question->times_of = QM_TIMES_OF_PUBLICATION;
  advice = qm_advice_new (catalog, question, &error);
  g_assert_no_error (error);
  check_advice (catalog, advice, QM_ADVICE_PLOT_OVERALL);
  check_advice (catalog, advice, QM_ADVICE_PLOT_EXPERIMENT);
  g_clear_pointer (&advice, qm_advice_free);
  qm_catalog_free (catalog);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/names/cover-nothing", test_cover_nothing);
  g_test_add_func ("/plot/names/short", test_short);
  g_test_add_func ("/plot/names/free-place", test_free_place);
  g_test_add_func ("/plot/names/grey", test_grey);
  g_test_add_func ("/plot/names/advice", test_advice);
  return g_test_run ();
}
