/* SPDX-License-Identifier: Apache-2.0 */

/* The place of an x of 0 beside a logarithmic axis. */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/plot/qm-plot-private.h"

#include <math.h>
#include <string.h>

#define LIGHT (qm_plot_theme_light ())

#define WIDTH  500
#define HEIGHT 400

/* The published candidates and one more that costs nothing: the last. */
static Fixture *
with_zero (gboolean is_log)
{
  Fixture *fixture = fixture_new_published (is_log);

  fixture->data.x.zero = TRUE;
  fixture_add (fixture, 0, 100, 1, 1);
  return fixture;
}

static guint
last_of (const Fixture *fixture)
{
  return fixture->data.n_points - 1;
}

static void
lay_out (const Fixture *fixture, QmPlotLayout *layout)
{
  qm_plot_layout (&fixture->data, WIDTH, HEIGHT, LIGHT, layout);
}

static gboolean
find_zero (const QmPlotLayout *layout, double *x, double *y)
{
  return qm_plot_position (layout, 0, 100, x, y);
}

static void
test_place (void)
{
  g_autoptr (Fixture) fixture = with_zero (TRUE);
  QmPlotLayout layout;
  double x, y, least, same;

  lay_out (fixture, &layout);
  g_assert_true (find_zero (&layout, &x, &y));
  g_assert_cmpfloat (layout.zero_left, <, layout.zero_right);
  g_assert_cmpfloat (layout.zero_right, <, layout.left);
  g_assert_cmpfloat (x, ==, (layout.zero_left + layout.zero_right) / 2);
  g_assert_true (qm_plot_position (&layout, layout.x_min, 100, &least, &same));
  g_assert_cmpfloat_with_epsilon (least, layout.left, 1e-9);
  g_assert_cmpfloat (same, ==, y);
  g_assert_true (qm_plot_is_drawn (&fixture->data, last_of (fixture)));
  g_assert_false (qm_plot_is_drawn (&fixture->data, last_of (fixture) + 1));
  g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x + 2, y - 2,
                                 4),
                   ==, (int) last_of (fixture));
}

/* There is none where it is not asked for, nothing is 0, or the axis has it. */
static void
test_no_place (void)
{
  g_autoptr (Fixture) fixture = with_zero (TRUE);
  g_autoptr (Fixture) without = fixture_new_published (TRUE);
  g_autoptr (Fixture) linear = with_zero (FALSE);
  QmPlotLayout layout;
  double x, y;

  fixture->data.x.zero = FALSE;
  lay_out (fixture, &layout);
  g_assert_cmpfloat (layout.zero_left, ==, layout.left);
  g_assert_cmpfloat (layout.zero_right, ==, layout.left);
  g_assert_false (find_zero (&layout, &x, &y));
  g_assert_false (qm_plot_is_drawn (&fixture->data, last_of (fixture)));

  without->data.x.zero = TRUE;
  lay_out (without, &layout);
  g_assert_cmpfloat (layout.zero_right, ==, layout.left);

  lay_out (linear, &layout);
  g_assert_cmpfloat (layout.zero_right, ==, layout.left);
  g_assert_true (find_zero (&layout, &x, &y));
  g_assert_cmpfloat (x, >=, layout.left);

  fixture->data.x.zero = TRUE;
  g_array_index (fixture->points, QmPlotPoint, last_of (fixture)).x = -1;
  lay_out (fixture, &layout);
  g_assert_cmpfloat (layout.zero_right, ==, layout.left);
  g_assert_false (qm_plot_is_drawn (&fixture->data, last_of (fixture)));
}

/* It goes out of sight together with the least value above it, which is 2300,
 * and comes back with it. */
static void
test_zoomed (void)
{
  const struct
  {
    double min;
    gboolean shown;
  } cases[] = {
    { 1000, TRUE }, { 2299, TRUE }, { 2301, FALSE }, { 9000, FALSE }
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Fixture) fixture = with_zero (TRUE);
      QmPlotLayout layout;
      double x = 50, y = 50;

      fixture->data.x.min = cases[i].min;
      fixture->data.x.max = 100000;
      lay_out (fixture, &layout);
      g_assert_cmpint (find_zero (&layout, &x, &y), ==, cases[i].shown);
      g_assert_cmpint (qm_plot_pick (&fixture->data, &layout, LIGHT, x, y, 5),
                       ==, cases[i].shown ? (int) last_of (fixture) : -1);
      g_assert_cmpfloat_with_epsilon (layout.x_min, cases[i].min, 1e-6);
    }
}

/* How much of a box of pixels differs between two images. */
static guint
differences (cairo_surface_t *a,
             cairo_surface_t *b,
             double left,
             double right,
             double top,
             double bottom)
{
  guint n = 0;

  for (int y = (int) top; y < (int) bottom; y++)
    for (int x = (int) left; x < (int) right; x++)
      n += pixel_at (a, x, y) != pixel_at (b, x, y);
  return n;
}

static cairo_surface_t *
draw (const Fixture *fixture, QmPlotLayers layers)
{
  return render (&fixture->data, LIGHT, WIDTH, HEIGHT, 1, layers);
}

/* The marker, the ring of what is selected and the label are drawn there and
 * nowhere else. */
static void
test_drawn (void)
{
  g_autoptr (Fixture) fixture = with_zero (TRUE);
  cairo_surface_t *points, *none, *plain, *selected;
  QmPlotLayout layout;
  double x, y;

  lay_out (fixture, &layout);
  g_assert_true (find_zero (&layout, &x, &y));
  points = draw (fixture, QM_PLOT_LAYER_POINTS);
  plain = draw (fixture, QM_PLOT_LAYER_OVERLAY);
  fixture->data.selected = (int) last_of (fixture);
  selected = draw (fixture, QM_PLOT_LAYER_OVERLAY);
  fixture->data.selected = -1;
  g_array_index (fixture->points, QmPlotPoint, last_of (fixture)).y = 90;
  none = draw (fixture, QM_PLOT_LAYER_POINTS);
  g_assert_cmpuint (differences (points, none, x - 4, x + 4, y - 4, y + 4), >,
                    20);
  g_assert_cmpuint (differences (points, none, layout.left, WIDTH, 0, HEIGHT),
                    ==, 0);
  g_assert_cmpuint (differences (plain, selected, layout.zero_left,
                                 layout.zero_right, y - 12, y + 12),
                    >, 40);
  g_assert_cmpuint (
      differences (plain, selected, layout.left, WIDTH, 0, HEIGHT), ==, 0);
  cairo_surface_destroy (points);
  cairo_surface_destroy (none);
  cairo_surface_destroy (plain);
  cairo_surface_destroy (selected);
}

/* No budget is too small for it: the shade begins beyond it. */
static void
test_budget (void)
{
  static const double budgets[] = { 0, 1, 5000 };

  for (gsize i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      g_autoptr (Fixture) fixture = with_zero (TRUE);
      cairo_surface_t *without, *with;
      QmPlotLayout layout;

      fixture->data.x.limit_label = NULL;
      lay_out (fixture, &layout);
      without = draw (fixture, QM_PLOT_LAYER_OVERLAY);
      fixture->data.x.limit = budgets[i];
      with = draw (fixture, QM_PLOT_LAYER_OVERLAY);
      g_assert_cmpuint (differences (without, with, layout.zero_left,
                                     layout.zero_right, layout.top,
                                     layout.bottom),
                        ==, 0);
      g_assert_cmpuint (differences (without, with, layout.right - 20,
                                     layout.right - 10, layout.top + 10,
                                     layout.bottom - 10),
                        >, 1000);
      cairo_surface_destroy (without);
      cairo_surface_destroy (with);
    }
}

/* A deadline counts for it as for all others. */
static void
test_deadline (void)
{
  g_autoptr (Fixture) fixture = with_zero (TRUE);
  cairo_surface_t *without, *with;
  QmPlotLayout layout;

  fixture->data.y.limit_label = NULL;
  lay_out (fixture, &layout);
  without = draw (fixture, QM_PLOT_LAYER_OVERLAY);
  fixture->data.y.limit = 60;
  with = draw (fixture, QM_PLOT_LAYER_OVERLAY);
  g_assert_cmpuint (differences (without, with, layout.zero_left + 2,
                                 layout.zero_right, layout.top + 2,
                                 layout.top + 22),
                    >, 200);
  cairo_surface_destroy (without);
  cairo_surface_destroy (with);
}

/* Where nothing else is known, the axis counts nothing. */
static void
test_alone (void)
{
  g_autoptr (Fixture) fixture = fixture_new_empty ();
  QmPlotFrame frame;
  double x, y;

  fixture->data.x.log = fixture->data.y.log = fixture->data.x.zero = TRUE;
  fixture_add (fixture, 0, 100, 0, 4);
  qm_plot_frame_init (&frame, &fixture->data, WIDTH, HEIGHT, LIGHT, 0);
  g_assert_cmpuint (frame.x_ticks.n_major, ==, 0);
  g_assert_cmpuint (frame.y_ticks.n_major, >=, 2);
  g_assert_cmpstr (frame.zero_tick.label, ==, "$0");
  g_assert_true (find_zero (&frame.layout, &x, &y));
  g_assert_cmpint (qm_plot_pick (&fixture->data, &frame.layout, LIGHT, x, y, 1),
                   ==, 0);
  qm_plot_frame_clear (&frame);
}

/* Its label does not touch the first one of the axis, at any width. */
static void
test_labels (void)
{
  for (double width = 60; width < 700; width += 7)
    {
      g_autoptr (Fixture) fixture = with_zero (TRUE);
      const QmPlotTick *first, *zero;
      QmPlotFrame frame;
      double x, y;

      qm_plot_frame_init (&frame, &fixture->data, width, 300, LIGHT, 0);
      zero = &frame.zero_tick;
      g_assert_cmpfloat (frame.layout.left, <, frame.layout.right);
      g_assert_cmpfloat (frame.layout.zero_left, <=, frame.layout.zero_right);
      g_assert_cmpfloat (frame.layout.zero_right, <=, frame.layout.left);
      if (width > 200)
        g_assert_nonnull (zero->label);
      if (zero->label != NULL && frame.x_ticks.n_major > 0)
        {
          first = &frame.x_ticks.major[0];
          qm_plot_position (&frame.layout, first->value, 100, &x, &y);
          g_assert_cmpfloat ((frame.layout.zero_left + frame.layout.zero_right)
                                     / 2
                                 + zero->width / 2,
                             <, x - first->width / 2);
        }
      qm_plot_frame_clear (&frame);
    }
}

/* Plots one below the other begin at the same place. */
static void
test_aligned (void)
{
  g_autoptr (Fixture) fixture = with_zero (TRUE);
  QmPlotFrame frame;

  qm_plot_frame_init (&frame, &fixture->data, WIDTH, HEIGHT, LIGHT, 120);
  g_assert_cmpfloat (frame.layout.zero_left, ==, 120);
  g_assert_cmpfloat (frame.layout.left, >, 120);
  qm_plot_frame_clear (&frame);
}

/* This machine has its place among the candidates of an advice. */
static void
test_advice (void)
{
  QmGpu gpu = { .id = "gpu", .name = "GPU" };
  QmCandidate candidates[] = {
    { .gpu = &gpu,
      .gpus = 1,
      .machines = 1,
      .price_minor = 100000,
      .cost_minor = 100000,
      .days = 10,
      .experiment_cost = 100,
      .eligible = TRUE },
    { .gpu = &gpu, .gpus = 1, .machines = 1, .days = 20, .here = TRUE },
  };
  QmCatalog *catalog = NULL;
  QmError error;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  for (guint kind = 0; kind < 2; kind++)
    {
      QmAdvice *advice = qm_advice_new_for_candidates (candidates, 2);
      QmAdvicePlot *plot =
          qm_advice_plot_new (catalog, advice, (QmAdvicePlotKind) kind, "Model",
                              TRUE);
      const QmPlotData *data = qm_advice_plot_data (plot);

      g_assert_true (qm_plot_is_drawn (data, 1));
      qm_advice_plot_set_limits (plot, 0, NAN, NULL);
      g_assert_cmpint (data->points[1].flags & QM_PLOT_POINT_DIMMED, ==, 0);
      g_assert_cmpint (data->points[0].flags & QM_PLOT_POINT_DIMMED, !=, 0);
      qm_advice_plot_set_hovered (plot, 1);
      g_assert_nonnull (strstr (data->hovered_label, "This machine"));
      g_assert_nonnull (strstr (data->hovered_label, "Overall cost $0"));
      qm_advice_plot_free (plot);
      qm_advice_free (advice);
    }
  qm_catalog_free (catalog);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/zero/place", test_place);
  g_test_add_func ("/zero/no-place", test_no_place);
  g_test_add_func ("/zero/zoomed", test_zoomed);
  g_test_add_func ("/zero/drawn", test_drawn);
  g_test_add_func ("/zero/budget", test_budget);
  g_test_add_func ("/zero/deadline", test_deadline);
  g_test_add_func ("/zero/alone", test_alone);
  g_test_add_func ("/zero/labels", test_labels);
  g_test_add_func ("/zero/aligned", test_aligned);
  g_test_add_func ("/zero/advice", test_advice);
  return g_test_run ();
}
