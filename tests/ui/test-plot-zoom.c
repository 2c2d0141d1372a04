/* SPDX-License-Identifier: Apache-2.0 */

/* Visible ranges, walks and the arrangement of small multiples: what the plots
 * of the window do, without a window. */

#include "ui/advisor/qm-plot-grid.h"
#include "ui/qm-plot-walk.h"
#include "ui/qm-plot-zoom.h"

#include <math.h>

#define EPSILON 1e-9

/* 100 pixels square, y from bottom to top. */
static QmPlotLayout
linear (void)
{
  return (QmPlotLayout){ .width = 120,
                         .height = 120,
                         .left = 10,
                         .top = 10,
                         .right = 110,
                         .bottom = 110,
                         .x_min = 0,
                         .x_max = 1000,
                         .y_min = 0,
                         .y_max = 10 };
}

static QmPlotLayout
logarithmic (void)
{
  QmPlotLayout layout = linear ();

  layout.x_log = layout.y_log = TRUE;
  layout.x_min = 1;
  layout.y_min = 0.1;
  return layout;
}

static QmPlotLayout
layout_of (const QmPlotLayout *all, const QmPlotZoom *zoom)
{
  QmPlotLayout now = *all;

  if (qm_plot_zoom_is_all (zoom))
    return now;
  now.x_min = zoom->x_min;
  now.x_max = zoom->x_max;
  now.y_min = zoom->y_min;
  now.y_max = zoom->y_max;
  return now;
}

static void
test_zoom_keeps_the_pointer (void)
{
  QmPlotLayout layouts[] = { linear (), logarithmic () };

  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      const QmPlotLayout *all = &layouts[i];
      double value_x = all->x_min + (all->x_max - all->x_min) / 3;
      double value_y = all->y_min + (all->y_max - all->y_min) / 5;
      double x, y, after_x, after_y;
      QmPlotZoom zoom;
      QmPlotLayout now;

      g_assert_true (qm_plot_position (all, value_x, value_y, &x, &y));
      zoom = qm_plot_zoom_by (all, all, 2, x, y);
      now = layout_of (all, &zoom);
      g_assert_true (
          qm_plot_position (&now, value_x, value_y, &after_x, &after_y));
      g_assert_cmpfloat_with_epsilon (after_x, x, EPSILON);
      g_assert_cmpfloat_with_epsilon (after_y, y, EPSILON);
    }
}

static void
test_zoom_and_back (void)
{
  QmPlotLayout all = linear ();
  QmPlotZoom zoom = qm_plot_zoom_by (&all, &all, 4, 60, 60);
  QmPlotLayout now = layout_of (&all, &zoom);

  g_assert_cmpfloat_with_epsilon (zoom.x_max - zoom.x_min, 250, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max - zoom.y_min, 2.5, EPSILON);
  zoom = qm_plot_zoom_by (&now, &all, 0.25, 60, 60);
  g_assert_true (qm_plot_zoom_is_all (&zoom));
  zoom = qm_plot_zoom_by (&all, &all, 0.5, 60, 60);
  g_assert_true (qm_plot_zoom_is_all (&zoom));
}

static void
test_zoom_has_an_end (void)
{
  QmPlotLayout all = linear ();
  QmPlotZoom zoom = qm_plot_zoom_by (&all, &all, 1e9, 60, 60);

  g_assert_cmpfloat_with_epsilon (zoom.x_max - zoom.x_min, 1, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max - zoom.y_min, 0.01, EPSILON);
}

static void
test_box (void)
{
  QmPlotLayout all = linear ();
  QmPlotLayout log_all = logarithmic ();
  QmPlotZoom zoom = qm_plot_zoom_box (&all, &all, 60, 85, 35, 60);

  g_assert_cmpfloat_with_epsilon (zoom.x_min, 250, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_max, 500, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_min, 2.5, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max, 5, EPSILON);
  /* Three decades over 100 pixels. */
  zoom = qm_plot_zoom_box (&log_all, &log_all, 10, 10, 10 + 100 / 3.0, 60);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, 1, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_max, 10, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_min, 1, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max, 10, EPSILON);
  /* A rectangle that leaves the plot ends at its edge. */
  zoom = qm_plot_zoom_box (&all, &all, -500, -500, 60, 60);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, 0, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max, 10, EPSILON);
}

static void
test_move (void)
{
  QmPlotLayout all = linear ();
  QmPlotZoom zoom = qm_plot_zoom_by (&all, &all, 2, 60, 60);
  QmPlotLayout now = layout_of (&all, &zoom);

  zoom = qm_plot_zoom_move (&now, &all, -20, 20);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, 350, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_max, 850, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_min, 3.5, EPSILON);
  /* No further than there is something to see. */
  zoom = qm_plot_zoom_move (&now, &all, -1e6, 1e6);
  g_assert_cmpfloat_with_epsilon (zoom.x_max, 1000, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, 500, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.y_max, 10, EPSILON);
}

static void
test_reveal (void)
{
  QmPlotLayout all = linear ();
  QmPlotZoom zoom = qm_plot_zoom_by (&all, &all, 2, 60, 60);
  QmPlotLayout now = layout_of (&all, &zoom);
  QmPlotZoom moved = qm_plot_zoom_reveal (&now, &all, 500, 5);

  g_assert_cmpfloat_with_epsilon (moved.x_min, zoom.x_min, EPSILON);
  moved = qm_plot_zoom_reveal (&now, &all, 900, 1);
  g_assert_cmpfloat (moved.x_min, <, 900);
  g_assert_cmpfloat (moved.x_max, >, 900);
  g_assert_cmpfloat (moved.y_min, <, 1);
  g_assert_cmpfloat_with_epsilon (moved.x_max - moved.x_min, 500, EPSILON);
}

/* Beside a logarithmic axis: seen with the least that there is, and a box
 * around it alone leaves the axis as it was. */
static void
test_zero (void)
{
  QmPlotLayout all = logarithmic ();
  QmPlotLayout now;
  QmPlotZoom zoom;

  all.zero_left = 10;
  all.zero_right = 26;
  all.left = 34;
  zoom = qm_plot_zoom_box (&all, &all, 80, 20, 100, 50);
  now = layout_of (&all, &zoom);
  g_assert_cmpfloat (now.x_min, >, 2);
  zoom = qm_plot_zoom_reveal (&now, &all, 0, 1);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, all.x_min, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_max / zoom.x_min,
                                  now.x_max / now.x_min, 1e-6);
  zoom = qm_plot_zoom_box (&all, &all, 12, 20, 24, 50);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, all.x_min, EPSILON);
  g_assert_cmpfloat_with_epsilon (zoom.x_max / all.x_max, 1, EPSILON);
  g_assert_cmpfloat (zoom.y_max, <, all.y_max);
  zoom = qm_plot_zoom_by (&all, &all, 2, 18, 50);
  g_assert_cmpfloat_with_epsilon (zoom.x_min, all.x_min, EPSILON);
  g_assert_cmpfloat (zoom.x_max, <, all.x_max);
}

static const QmPlotPoint points[] = {
  { .x = 3, .y = 1 },
  { .x = 1, .y = 3 },
  { .x = 2, .y = NAN },
  { .x = 1, .y = 2 },
  { .x = 9, .y = 9, .flags = QM_PLOT_POINT_HIDDEN },
  { .x = 2, .y = 2, .flags = QM_PLOT_POINT_DIMMED },
  { .x = -1, .y = 5 },
};

static QmPlotData
walk_data (gboolean log)
{
  QmPlotData data = { .points = points, .n_points = G_N_ELEMENTS (points) };

  data.x.log = data.y.log = log;
  return data;
}

/* Follows a way to its end. */
static void
expect_walk (const QmPlotData *data, QmPlotWalk walk, const int *expected)
{
  int at = -1;

  for (; *expected >= 0; expected++)
    {
      at = qm_plot_walk (data, at, walk);
      g_assert_cmpint (at, ==, *expected);
    }
  g_assert_cmpint (qm_plot_walk (data, at, walk), ==, at);
}

static void
test_walk (void)
{
  QmPlotData data = walk_data (FALSE);
  QmPlotData log_data = walk_data (TRUE);

  expect_walk (&data, QM_PLOT_WALK_RIGHT, (int[]){ 6, 3, 1, 5, 0, -1 });
  expect_walk (&data, QM_PLOT_WALK_LEFT, (int[]){ 0, 5, 1, 3, 6, -1 });
  expect_walk (&data, QM_PLOT_WALK_UP, (int[]){ 0, 3, 5, 1, 6, -1 });
  expect_walk (&data, QM_PLOT_WALK_DOWN, (int[]){ 6, 1, 5, 3, 0, -1 });
  expect_walk (&log_data, QM_PLOT_WALK_RIGHT, (int[]){ 3, 1, 5, 0, -1 });
  g_assert_cmpint (qm_plot_walk (&data, 5, QM_PLOT_WALK_FIRST), ==, 6);
  g_assert_cmpint (qm_plot_walk (&data, 5, QM_PLOT_WALK_LAST), ==, 0);
}

static void
test_walk_zero (void)
{
  const QmPlotPoint with_zero[] = { { .x = 3, .y = 1 }, { .x = 0, .y = 2 } };
  QmPlotData data = { .points = with_zero, .n_points = 2 };

  data.x.log = data.y.log = TRUE;
  expect_walk (&data, QM_PLOT_WALK_RIGHT, (int[]){ 0, -1 });
  data.x.zero = TRUE;
  expect_walk (&data, QM_PLOT_WALK_RIGHT, (int[]){ 1, 0, -1 });
  expect_walk (&data, QM_PLOT_WALK_LEFT, (int[]){ 0, 1, -1 });
}

static void
test_walk_nowhere (void)
{
  QmPlotData data = walk_data (FALSE);

  data.n_points = 0;
  g_assert_cmpint (qm_plot_walk (&data, -1, QM_PLOT_WALK_RIGHT), ==, -1);
  g_assert_cmpint (qm_plot_walk (&data, 3, QM_PLOT_WALK_FIRST), ==, -1);
}

static void
test_columns (void)
{
  g_assert_cmpuint (qm_plot_grid_columns (1, 900, 260, 12), ==, 1);
  g_assert_cmpuint (qm_plot_grid_columns (9, 900, 260, 12), ==, 3);
  g_assert_cmpuint (qm_plot_grid_columns (9, 400, 260, 12), ==, 1);
  g_assert_cmpuint (qm_plot_grid_columns (9, 10, 260, 12), ==, 1);
  /* Four in two rows of two rather than three and one. */
  g_assert_cmpuint (qm_plot_grid_columns (4, 900, 260, 12), ==, 2);
  g_assert_cmpuint (qm_plot_grid_columns (2, 5000, 260, 12), ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot-zoom/keeps-the-pointer", test_zoom_keeps_the_pointer);
  g_test_add_func ("/plot-zoom/and-back", test_zoom_and_back);
  g_test_add_func ("/plot-zoom/has-an-end", test_zoom_has_an_end);
  g_test_add_func ("/plot-zoom/box", test_box);
  g_test_add_func ("/plot-zoom/move", test_move);
  g_test_add_func ("/plot-zoom/reveal", test_reveal);
  g_test_add_func ("/plot-zoom/zero", test_zero);
  g_test_add_func ("/plot-walk/all-ways", test_walk);
  g_test_add_func ("/plot-walk/zero", test_walk_zero);
  g_test_add_func ("/plot-walk/nowhere", test_walk_nowhere);
  g_test_add_func ("/plot-grid/columns", test_columns);
  return g_test_run ();
}
