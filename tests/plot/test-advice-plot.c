/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-advice-plot.h"

#include <math.h>
#include <string.h>

/* The published candidates of pythia-1b. */
typedef struct
{
  QmCatalog *catalog;
  QmQuestion *question;
  QmAdvice *advice;
  const QmCandidate *candidates;
  guint n;
} Setup;

static void
ask (Setup *setup)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&setup->advice, qm_advice_free);
  setup->advice = qm_advice_new (setup->catalog, setup->question, &error);
  g_assert_no_error (error);
  setup->candidates = qm_advice_candidates (setup->advice, &setup->n);
}

static void
set_up (Setup *setup, gconstpointer unused)
{
  QmError error;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &setup->catalog, &error),
                   ==, QM_OK);
  setup->question = qm_question_new ();
  setup->question->time_factor = 1;
  setup->question->model = g_strdup ("pythia-1b");
  setup->question->times_of = QM_TIMES_OF_PUBLICATION;
  ask (setup);
  g_assert_cmpuint (setup->n, ==, 16);
}

static void
tear_down (Setup *setup, gconstpointer unused)
{
  qm_advice_free (setup->advice);
  qm_question_free (setup->question);
  qm_catalog_free (setup->catalog);
}

static QmAdvicePlot *
new_plot (const Setup *setup, QmAdvicePlotKind kind)
{
  return qm_advice_plot_new (setup->catalog, setup->advice, kind, "Pythia 1B",
                             NULL, TRUE);
}

static int
find (const Setup *setup, const char *gpu, int gpus)
{
  for (guint i = 0; i < setup->n; i++)
    if (g_str_equal (setup->candidates[i].gpu->id, gpu)
        && setup->candidates[i].gpus == gpus)
      return (int) i;
  g_assert_not_reached ();
}

static void
test_points (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) overall = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  g_autoptr (QmAdvicePlot) experiment =
      new_plot (setup, QM_ADVICE_PLOT_EXPERIMENT);
  const QmPlotData *a = qm_advice_plot_data (overall);
  const QmPlotData *b = qm_advice_plot_data (experiment);
  const QmPlotPoint *h100;

  g_assert_cmpuint (a->n_points, ==, 16);
  g_assert_cmpuint (b->n_points, ==, 16);
  g_assert_cmpstr (a->title, ==, "Pythia 1B");
  g_assert_true (a->x.log && a->y.log);
  for (guint i = 0; i < 16; i++)
    {
      const QmCandidate *c = &setup->candidates[i];

      g_assert_cmpfloat (a->points[i].x, ==, c->cost_minor / 100.0);
      g_assert_cmpfloat (a->points[i].y, ==, c->days);
      g_assert_cmpfloat (b->points[i].x, ==, c->experiment_cost);
      g_assert_cmpfloat (b->points[i].y, ==, c->days);
      g_assert_cmpuint (a->points[i].weight, ==, c->gpus);
      g_assert_cmpint (a->points[i].provenance, ==, QM_PLOT_PUBLISHED);
      g_assert_cmpstr (a->series[a->points[i].series].name, ==, c->gpu->name);
    }
  /* As published: 4 x H100, 127 500 USD, 8 days, 559 USD an experiment. */
  h100 = &a->points[find (setup, "h100-80gb-sxm", 4)];
  g_assert_cmpfloat (h100->x, ==, 127500);
  g_assert_cmpfloat (h100->y, ==, 8);
  g_assert_cmpfloat_with_epsilon (b->points[h100 - a->points].x, 559, 0.5);
}

static void
test_series (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) all = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  g_autoptr (QmAdvicePlot) one = NULL;
  const QmPlotData *data = qm_advice_plot_data (all);
  guint style = G_MAXUINT;
  size_t n_gpus;

  /* There is a look for each type. */
  qm_catalog_gpus (setup->catalog, &n_gpus);
  g_assert_cmpuint (n_gpus, <=, QM_PLOT_N_LOOKS);

  g_assert_cmpuint (data->n_series, ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpuint (data->series[i].style, ==, i);
      if (strstr (data->series[i].name, "H100") != NULL)
        style = data->series[i].style;
    }
  g_assert_cmpuint (style, !=, G_MAXUINT);

  /* Alone, a GPU looks the same. */
  setup->question->gpus = g_strsplit ("h100-80gb-sxm", ",", -1);
  ask (setup);
  one = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  data = qm_advice_plot_data (one);
  g_assert_cmpuint (data->n_series, ==, 1);
  g_assert_cmpuint (data->series[0].style, ==, style);
  g_assert_cmpuint (data->points[0].series, ==, 0);
}

static void
test_legend (Setup *setup, gconstpointer unused)
{
  static const guint16 counts[] = { 1, 2, 4, 8 };
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  const QmPlotData *data = qm_advice_plot_data (plot);

  g_assert_true (data->legend);
  g_assert_cmpmem (data->legend_weights,
                   data->n_legend_weights * sizeof (guint16), counts,
                   sizeof counts);
  /* All times are published, which needs no entry. */
  for (guint i = 0; i < G_N_ELEMENTS (data->provenance_names); i++)
    g_assert_null (data->provenance_names[i]);
  qm_advice_plot_set_legend (plot, FALSE);
  g_assert_false (data->legend);
}

static void
test_frontier (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) overall = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  g_autoptr (QmAdvicePlot) experiment =
      new_plot (setup, QM_ADVICE_PLOT_EXPERIMENT);
  QmAdvicePlot *plots[] = { overall, experiment };

  for (guint i = 0; i < 2; i++)
    {
      const QmPlotData *data = qm_advice_plot_data (plots[i]);

      g_assert_cmpuint (data->n_frontier, >, 1);
      for (guint j = 1; j < data->n_frontier; j++)
        {
          const QmPlotPoint *p = &data->points[data->frontier[j - 1]];
          const QmPlotPoint *q = &data->points[data->frontier[j]];

          g_assert_cmpfloat (p->x, <=, q->x);
          g_assert_cmpfloat (p->y, >=, q->y);
        }
    }
}

static void
set_limits (const Setup *setup, QmAdvicePlot *plot, gint64 budget, double days)
{
  QmRecommendation found = qm_advice_recommend (setup->advice, budget, days);

  qm_advice_plot_set_limits (plot, budget, days, &found);
}

static void
test_limits (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  const QmPlotData *data = qm_advice_plot_data (plot);
  int best = find (setup, "h100-80gb-sxm", 1);

  set_limits (setup, plot, 4000000, NAN);
  g_assert_cmpfloat (data->x.limit, ==, 40000);
  g_assert_nonnull (strstr (data->x.limit_label, "40,000"));
  g_assert_true (isnan (data->y.limit));
  g_assert_null (data->y.limit_label);
  for (guint i = 0; i < data->n_points; i++)
    g_assert_cmpint ((data->points[i].flags & QM_PLOT_POINT_DIMMED) != 0, ==,
                     data->points[i].x > 40000);
  g_assert_cmpint (data->recommended, ==, best);
  g_assert_nonnull (strstr (data->recommended_label, "1 × "));
  g_assert_nonnull (strstr (data->recommended_label, "34 days"));

  set_limits (setup, plot, -1, 20);
  g_assert_true (isnan (data->x.limit));
  g_assert_null (data->x.limit_label);
  g_assert_cmpfloat (data->y.limit, ==, 20);
  g_assert_nonnull (strstr (data->y.limit_label, "20 days"));
  for (guint i = 0; i < data->n_points; i++)
    g_assert_cmpint ((data->points[i].flags & QM_PLOT_POINT_DIMMED) != 0, ==,
                     data->points[i].y > 20);

  /* Nothing fits. */
  set_limits (setup, plot, 100, NAN);
  g_assert_cmpint (data->recommended, ==, -1);
  g_assert_null (data->recommended_label);
  for (guint i = 0; i < data->n_points; i++)
    g_assert_true (data->points[i].flags & QM_PLOT_POINT_DIMMED);

  /* And no limits at all: points are others than before, but not once more. */
  g_assert_true (qm_advice_plot_set_limits (plot, -1, NAN, NULL));
  g_assert_false (qm_advice_plot_set_limits (plot, -1, NAN, NULL));
  for (guint i = 0; i < data->n_points; i++)
    g_assert_false (data->points[i].flags & QM_PLOT_POINT_DIMMED);
}

/* A budget is no experiment cost: that plot has no line, yet dims. */
static void
test_experiment_limits (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_EXPERIMENT);
  const QmPlotData *data = qm_advice_plot_data (plot);

  set_limits (setup, plot, 4000000, 60);
  g_assert_true (isnan (data->x.limit));
  g_assert_null (data->x.limit_label);
  g_assert_cmpfloat (data->y.limit, ==, 60);
  for (guint i = 0; i < data->n_points; i++)
    g_assert_cmpint ((data->points[i].flags & QM_PLOT_POINT_DIMMED) != 0, ==,
                     setup->candidates[i].cost_minor > 4000000
                         || setup->candidates[i].days > 60);
}

/* The two that need more than the cards' peak are crossed out and stay. */
static void
test_impossible (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  const QmPlotData *data = qm_advice_plot_data (plot);

  set_limits (setup, plot, 4000000, NAN);
  for (guint i = 0; i < data->n_points; i++)
    {
      gboolean impossible = (int) i == find (setup, "rtx3090", 2)
                            || (int) i == find (setup, "rtx3090", 8);

      g_assert_cmpint ((data->points[i].flags & QM_PLOT_POINT_CROSSED) != 0, ==,
                       impossible);
      g_assert_false (data->points[i].flags & QM_PLOT_POINT_HIDDEN);
    }
  g_assert_nonnull (data->crossed_name);
}

static void
test_hovered (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  const QmPlotData *data = qm_advice_plot_data (plot);

  qm_advice_plot_set_hovered (plot, find (setup, "rtx3090", 8));
  g_assert_cmpint (data->hovered, ==, find (setup, "rtx3090", 8));
  g_assert_true (g_str_has_prefix (data->hovered_label, "8 × "));
  g_assert_nonnull (strstr (data->hovered_label, "20,900"));
  g_assert_nonnull (strstr (data->hovered_label, "30 days"));
  g_assert_nonnull (strstr (data->hovered_label, "344"));
  g_assert_nonnull (strstr (data->hovered_label, "119\u00a0%"));
  g_assert_nonnull (strstr (data->hovered_label, "impossible"));
  g_assert_nonnull (strstr (data->hovered_label, "published"));
  qm_advice_plot_set_hovered (plot, -1);
  g_assert_cmpint (data->hovered, ==, -1);
  g_assert_null (data->hovered_label);
  qm_advice_plot_set_hovered (plot, 16);
  g_assert_cmpint (data->hovered, ==, -1);
  qm_advice_plot_set_selected (plot, 3);
  g_assert_cmpint (data->selected, ==, 3);
  qm_advice_plot_set_selected (plot, 99);
  g_assert_cmpint (data->selected, ==, -1);
}

static void
test_range (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  QmPlotLayout layout;

  qm_advice_plot_set_range (plot, 10000, 50000, 10, 100);
  qm_plot_layout (qm_advice_plot_data (plot), 500, 400, qm_plot_theme_light (),
                  &layout);
  g_assert_cmpfloat (layout.x_min, ==, 10000);
  g_assert_cmpfloat (layout.x_max, ==, 50000);
  g_assert_cmpfloat (layout.y_min, ==, 10);
  g_assert_cmpfloat (layout.y_max, ==, 100);
  qm_advice_plot_set_range (plot, NAN, NAN, NAN, NAN);
  qm_plot_layout (qm_advice_plot_data (plot), 500, 400, qm_plot_theme_light (),
                  &layout);
  g_assert_cmpfloat (layout.x_min, <, 2300);
  g_assert_cmpfloat (layout.x_max, >, 250500);
}

/* Candidates without a time or a price, from no catalog, and very many GPUs. */
static void
test_odd_candidates (Setup *setup, gconstpointer unused)
{
  QmGpu gpu = { .id = "new", .name = "New GPU" };
  QmMeasurement measured = { .provenance = QM_PROVENANCE_MEASURED };
  QmCandidate candidates[] = {
    { .gpu = &gpu,
      .gpus = 8,
      .machines = 1000000,
      .cost_minor = 5000000,
      .days = 3,
      .experiment_cost = 20,
      .implied_utilization = NAN,
      .eligible = TRUE,
      .measurement = &measured },
    { .gpu = &gpu,
      .gpus = 1,
      .machines = 1,
      .cost_minor = -1,
      .days = 3,
      .experiment_cost = NAN,
      .implied_utilization = NAN },
    { .gpu = setup->candidates[0].gpu,
      .gpus = 1,
      .machines = 1,
      .cost_minor = 100,
      .days = NAN,
      .experiment_cost = NAN,
      .implied_utilization = NAN,
      .verdict = QM_VERDICT_INFEASIBLE },
  };
  g_autoptr (QmAdvice) advice =
      qm_advice_new_for_candidates (candidates, G_N_ELEMENTS (candidates));
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_EXPERIMENT,
                          NULL, NULL, FALSE);
  const QmPlotData *data = qm_advice_plot_data (plot);
  cairo_surface_t *image;

  g_assert_cmpuint (data->n_series, ==, 2);
  /* New ones come after all that the catalog has. */
  g_assert_cmpstr (data->series[1].name, ==, "New GPU");
  g_assert_cmpuint (data->series[1].style, >=, 4);
  g_assert_cmpuint (data->points[0].weight, <=, 64);
  g_assert_cmpint (data->points[0].provenance, ==, QM_PLOT_MEASURED);
  g_assert_nonnull (data->provenance_names[QM_PLOT_MEASURED]);
  g_assert_true (isnan (data->points[1].x));
  g_assert_true (isnan (data->points[2].y));
  qm_advice_plot_set_limits (plot, 100, 1, NULL);
  for (int i = 0; i < 3; i++)
    {
      qm_advice_plot_set_hovered (plot, i);
      g_assert_nonnull (data->hovered_label);
      image =
          render (data, qm_plot_theme_dark (), 300, 200, 1, QM_PLOT_LAYER_ALL);
      cairo_surface_destroy (image);
    }
}

/* Of 1, 2, … GPUs at $10,000 each, with intervals of the cost. */
static QmAdvice *
advise_on_costs (const Setup *setup, const gint64 (*ends)[2], guint n)
{
  g_autofree QmCandidate *candidates = g_new0 (QmCandidate, n);

  for (guint i = 0; i < n; i++)
    candidates[i] = (QmCandidate){ .gpu = setup->candidates[0].gpu,
                                   .gpus = (int) i + 1,
                                   .machines = 1,
                                   .cost_minor = (i + 1) * 1000000,
                                   .cost_low_minor = ends[i][0],
                                   .cost_high_minor = ends[i][1],
                                   .days = 30.0 / (i + 1),
                                   .days_low = NAN,
                                   .days_high = NAN,
                                   .experiment_cost = 50,
                                   .implied_utilization = NAN,
                                   .eligible = TRUE };
  return qm_advice_new_for_candidates (candidates, n);
}

/* Costs that are not well known have bars, and the axis has room for them. */
static void
test_cost_intervals (Setup *setup, gconstpointer unused)
{
  static const gint64 ends[][2] = {
    { 900000, 1400000 },  /* far from the cost */
    { 1990000, 2030000 }, /* as wide as is not worth a bar */
    { 2970000, 3030001 }, /* barely wider */
    { -1, -1 },           /* unknown */
  };
  g_autoptr (QmAdvice) advice =
      advise_on_costs (setup, ends, G_N_ELEMENTS (ends));
  g_autoptr (QmAdvice) known = advise_on_costs (setup, ends + 1, 1);
  g_autoptr (QmAdvicePlot) overall =
      qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL, NULL,
                          NULL, TRUE);
  g_autoptr (QmAdvicePlot) experiment =
      qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_EXPERIMENT,
                          NULL, NULL, TRUE);
  const QmPlotData *data = qm_advice_plot_data (overall);
  QmPlotLayout layout;

  g_assert_null (data->y_intervals);
  g_assert_cmpfloat (data->x_intervals[0].low, ==, 9000);
  g_assert_cmpfloat (data->x_intervals[0].high, ==, 14000);
  g_assert_true (isnan (data->x_intervals[1].low));
  g_assert_cmpfloat (data->x_intervals[2].low, ==, 29700);
  g_assert_true (isnan (data->x_intervals[3].low));
  qm_plot_layout (data, 400, 300, qm_plot_theme_light (), &layout);
  g_assert_cmpfloat (layout.x_min, <, 9000);
  qm_advice_plot_set_hovered (overall, 0);
  g_assert_nonnull (strstr (data->hovered_label, "$9,000 to $14,000"));

  /* Its share of an experiment's cost. */
  data = qm_advice_plot_data (experiment);
  g_assert_cmpfloat_with_epsilon (data->x_intervals[0].low, 45, 1e-9);
  g_assert_cmpfloat_with_epsilon (data->x_intervals[0].high, 70, 1e-9);
  g_assert_true (isnan (data->x_intervals[1].high));

  g_clear_pointer (&overall, qm_advice_plot_free);
  overall = qm_advice_plot_new (setup->catalog, setup->advice,
                                QM_ADVICE_PLOT_OVERALL, NULL, NULL, TRUE);
  g_assert_null (qm_advice_plot_data (overall)->x_intervals);
}

/* Counts the pixels of a column that differ between two images, up and down
 * from a place. */
static guint
differing (
    cairo_surface_t *a, cairo_surface_t *b, double x, double y, int reach)
{
  guint n = 0;

  for (int i = -reach; i <= reach; i++)
    n += pixel_at (a, (int) x, (int) y + i)
         != pixel_at (b, (int) x, (int) y + i);
  return n;
}

/* A bar reaches from end to end, with a stroke at each; an end that is out of
 * sight has none. */
static void
test_cost_bar (Setup *setup, gconstpointer unused)
{
  static const gint64 ends[][2] = { { 500000, 2000000 } };
  g_autoptr (QmAdvice) advice = advise_on_costs (setup, ends, 1);
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL, NULL,
                          NULL, TRUE);
  const QmPlotTheme *theme = qm_plot_theme_light ();
  QmPlotLayout layout;
  QmPlotData bare;

  qm_advice_plot_set_legend (plot, FALSE);
  for (int in_sight = 0; in_sight < 2; in_sight++)
    {
      cairo_surface_t *with, *without;
      double left, right, x, y;

      qm_advice_plot_set_range (plot, 4000, in_sight ? 30000 : 15000, 10, 100);
      bare = *qm_advice_plot_data (plot);
      with = render (&bare, theme, 500, 400, 2, QM_PLOT_LAYER_POINTS);
      bare.x_intervals = NULL;
      without = render (&bare, theme, 500, 400, 2, QM_PLOT_LAYER_POINTS);
      qm_plot_layout (&bare, 500, 400, theme, &layout);
      g_assert_true (qm_plot_position (&layout, 5000, 30, &left, &y));
      g_assert_true (qm_plot_position (&layout, 20000, 30, &right, &y));
      g_assert_true (qm_plot_position (&layout, 10000, 30, &x, &y));
      g_assert_cmpuint (differing (with, without, 2 * left - 8, 2 * y, 20), ==,
                        0);
      g_assert_cmpuint (differing (with, without, 2 * left, 2 * y, 20), >, 10);
      g_assert_cmpuint (differing (with, without, left + x, 2 * y, 20), >, 0);
      g_assert_cmpuint (differing (with, without, left + x, 2 * y, 20), <, 6);
      if (in_sight)
        {
          g_assert_cmpuint (differing (with, without, 2 * right, 2 * y, 20), >,
                            10);
          g_assert_cmpuint (differing (with, without, 2 * right + 8, 2 * y, 20),
                            ==, 0);
        }
      else
        g_assert_cmpuint (
            differing (with, without, 2 * layout.right - 3, 2 * y, 20), <, 6);
      cairo_surface_destroy (with);
      cairo_surface_destroy (without);
    }
}

/* The alpha of a bar at its end, where nothing else is. */
static guint
bar_alpha (const QmPlotData *data, QmPlotLayers layers)
{
  const QmPlotTheme *theme = qm_plot_theme_light ();
  QmPlotTheme clear = *theme;
  cairo_surface_t *image;
  QmPlotLayout layout;
  double x, y;
  guint alpha = 0;

  clear.background.alpha = 0;
  image = render (data, &clear, 500, 400, 2, layers);
  qm_plot_layout (data, 500, 400, &clear, &layout);
  g_assert_true (qm_plot_position (&layout, data->x_intervals[0].high,
                                   data->points[0].y, &x, &y));
  for (int i = -2; i <= 2; i++)
    alpha = MAX (alpha,
                 pixel_at (image, (int) (2 * x) + i, (int) (2 * y) + 4) >> 24);
  cairo_surface_destroy (image);
  return alpha;
}

/* Bars of many candidates are faint, and of still more there are none, but for
 * the one that is looked at. */
static void
test_many_bars (Setup *setup, gconstpointer unused)
{
  static const guint numbers[] = { 10, 30, 250 };
  gint64 ends[250][2];

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      ends[i][0] = (i + 1) * 900000;
      ends[i][1] = (i + 1) * 1300000;
    }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autoptr (QmAdvice) advice =
          advise_on_costs (setup, (const gint64 (*)[2]) ends, numbers[i]);
      g_autoptr (QmAdvicePlot) plot =
          qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL,
                              NULL, NULL, TRUE);
      const QmPlotData *data = qm_advice_plot_data (plot);

      qm_advice_plot_set_legend (plot, FALSE);
      if (i == 0)
        g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_POINTS), >, 200);
      else
        g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_POINTS), <, 100);
      if (i == 2)
        g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_POINTS), ==, 0);
      g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_OVERLAY), ==, 0);
      qm_advice_plot_set_selected (plot, 0);
      if (i > 0)
        g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_OVERLAY), >, 200);
      else
        g_assert_cmpuint (bar_alpha (data, QM_PLOT_LAYER_OVERLAY), ==, 0);
    }
}

/* Times are days, and told in the unit that suits them. */
static void
test_times (Setup *setup, gconstpointer unused)
{
  static const struct
  {
    double days;
    const char *said;
  } cases[] = {
    { 3e-5, "2.6 seconds" },
    { 0.01, "14 minutes" },
    { 0.5, "12 hours" },
    { 1.5, "1.5 days" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmCandidate candidates[] = {
        { .gpu = setup->candidates[0].gpu,
          .gpus = 1,
          .machines = 1,
          .cost_minor = 100,
          .days = cases[i].days,
          .days_low = cases[i].days / 2,
          .days_high = cases[i].days,
          .predicted = TRUE,
          .experiment_cost = 1,
          .implied_utilization = NAN,
          .eligible = TRUE },
        { .gpu = setup->candidates[0].gpu,
          .gpus = 2,
          .machines = 1,
          .cost_minor = 100,
          .days = NAN,
          .experiment_cost = 1,
          .implied_utilization = NAN },
      };
      g_autoptr (QmAdvice) advice =
          qm_advice_new_for_candidates (candidates, G_N_ELEMENTS (candidates));
      g_autoptr (QmAdvicePlot) plot =
          qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL,
                              NULL, NULL, TRUE);
      const QmPlotData *data = qm_advice_plot_data (plot);

      g_assert_cmpint (data->y.unit, ==, QM_PLOT_UNIT_TIME);
      g_assert_cmpfloat (data->points[0].y, ==, cases[i].days);
      g_assert_cmpfloat (data->y_intervals[0].low, ==, cases[i].days / 2);
      qm_advice_plot_set_limits (plot, 4000000, 2, NULL);
      g_assert_cmpfloat (data->y.limit, ==, 2);
      qm_advice_plot_set_hovered (plot, 0);
      g_assert_nonnull (strstr (data->hovered_label, cases[i].said));
    }
}

/* What is used instead of bought is told from the same GPUs by words, and is on
 * no frontier of what could be bought. */
static void
test_use (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) plot = NULL;
  const QmPlotData *data;

  qm_question_add_use (setup->question, "h100-80gb-sxm", 8, 500000, NAN);
  ask (setup);
  g_assert_cmpuint (setup->n, ==, 17);
  plot = new_plot (setup, QM_ADVICE_PLOT_OVERALL);
  data = qm_advice_plot_data (plot);
  g_assert_cmpuint (data->n_points, ==, 17);
  g_assert_nonnull (setup->candidates[16].use);
  for (guint i = 0; i < data->n_frontier; i++)
    g_assert_cmpint (data->frontier[i], !=, 16);
  qm_advice_plot_set_hovered (plot, 16);
  /* 8 × 24 × $0.50 × 4 days. */
  g_assert_true (g_str_has_prefix (data->hovered_label,
                                   "8 × H100 SXM5 80GB to use\n"
                                   "Overall cost $384\n"
                                   "Training time 4 days\n"));
}

/* What a portfolio costs and takes is not said to be one experiment. */
static void
test_portfolio (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvicePlot) single = new_plot (setup, QM_ADVICE_PLOT_EXPERIMENT);
  g_autoptr (QmAdvicePlot) plot = NULL;
  const QmPlotData *data = qm_advice_plot_data (single);

  g_assert_cmpstr (data->x.title, ==, "Experiment cost (USD)");
  g_assert_cmpstr (data->y.title, ==, "Training time");
  g_clear_pointer (&single, qm_advice_plot_free);

  qm_question_add_run (setup->question, "pythia-1b", 3);
  ask (setup);
  plot = new_plot (setup, QM_ADVICE_PLOT_EXPERIMENT);
  data = qm_advice_plot_data (plot);
  g_assert_cmpstr (data->x.title, ==, "Cost of a year’s runs (USD)");
  g_assert_cmpstr (data->y.title, ==, "Time of a year’s runs");
  qm_advice_plot_set_hovered (plot, find (setup, "a6000", 8));
  g_assert_nonnull (strstr (data->hovered_label,
                            "\nTime of a year’s runs 66 days\n"
                            "Cost of a year’s runs $1,768\n"));
}

/* Of many types only a few are shown, but the frontier's line and what the
 * answer tells of are as before. */
static void
test_shortlist (Setup *setup, gconstpointer unused)
{
  const QmRecommendation told = { .best = 8,
                                  .runner_up = -1,
                                  .faster = -1,
                                  .cheaper = -1,
                                  .would_do = -1,
                                  .denied = -1 };
  size_t n_gpus;
  const QmGpu *gpus = qm_catalog_gpus (setup->catalog, &n_gpus);
  QmCandidate candidates[9];
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvicePlot) plot = NULL;
  const QmPlotData *data;
  guint n_hidden = 0;

  g_assert_cmpuint (n_gpus, >=, G_N_ELEMENTS (candidates));
  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    {
      candidates[i] = setup->candidates[find (setup, "a6000", 4)];
      candidates[i].gpu = &gpus[i];
      candidates[i].cost_minor = 1000000 * (i + 1);
      candidates[i].days = 100 - 10.0 * i;
    }
  advice = qm_advice_new_for_candidates (candidates, G_N_ELEMENTS (candidates));
  plot = qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL,
                             "Short", NULL, TRUE);
  data = qm_advice_plot_data (plot);
  for (guint i = 0; i < data->n_points; i++)
    g_assert_false (data->points[i].flags & QM_PLOT_POINT_HIDDEN);
  qm_advice_plot_set_shortlist (plot, TRUE);
  for (guint i = 0; i < data->n_points; i++)
    n_hidden += (data->points[i].flags & QM_PLOT_POINT_HIDDEN) != 0;
  g_assert_cmpuint (n_hidden, ==, 3);
  g_assert_cmpuint (data->n_frontier, ==, 9);
  g_assert_true (data->points[2].flags & QM_PLOT_POINT_HIDDEN);
  g_assert_true (data->points[5].flags & QM_PLOT_POINT_HIDDEN);

  /* What is recommended or selected is shown for as long as it is. */
  qm_advice_plot_set_selected (plot, 2);
  g_assert_false (data->points[2].flags & QM_PLOT_POINT_HIDDEN);
  qm_advice_plot_set_selected (plot, -1);
  g_assert_true (data->points[2].flags & QM_PLOT_POINT_HIDDEN);
  qm_advice_plot_set_limits (plot, -1, NAN,
                             &(QmRecommendation){ .best = 5,
                                                  .runner_up = 7,
                                                  .faster = -1,
                                                  .cheaper = -1,
                                                  .would_do = -1,
                                                  .denied = -1 });
  g_assert_false (data->points[5].flags & QM_PLOT_POINT_HIDDEN);
  g_assert_false (data->points[7].flags & QM_PLOT_POINT_HIDDEN);
  qm_advice_plot_set_limits (plot, -1, NAN, &told);
  g_assert_true (data->points[5].flags & QM_PLOT_POINT_HIDDEN);
  qm_advice_plot_set_shortlist (plot, FALSE);
  g_assert_false (data->points[5].flags & QM_PLOT_POINT_HIDDEN);
}

static void
test_nothing (Setup *setup, gconstpointer unused)
{
  g_autoptr (QmAdvice) advice = qm_advice_new_for_candidates (NULL, 0);
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (setup->catalog, advice, QM_ADVICE_PLOT_OVERALL,
                          "Empty", NULL, TRUE);
  cairo_surface_t *image;

  qm_advice_plot_set_limits (plot, 4000000, 60, NULL);
  g_assert_nonnull (qm_advice_plot_data (plot)->empty_text);
  image = render (qm_advice_plot_data (plot), qm_plot_theme_light (), 300, 200,
                  1, QM_PLOT_LAYER_ALL);
  cairo_surface_destroy (image);
}

#define ADD(name, function) \
  g_test_add ("/plot/advice/" name, Setup, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("points", test_points);
  ADD ("portfolio", test_portfolio);
  ADD ("series", test_series);
  ADD ("legend", test_legend);
  ADD ("frontier", test_frontier);
  ADD ("limits", test_limits);
  ADD ("experiment-limits", test_experiment_limits);
  ADD ("impossible", test_impossible);
  ADD ("hovered", test_hovered);
  ADD ("use", test_use);
  ADD ("range", test_range);
  ADD ("odd-candidates", test_odd_candidates);
  ADD ("cost-intervals", test_cost_intervals);
  ADD ("cost-bar", test_cost_bar);
  ADD ("many-bars", test_many_bars);
  ADD ("times", test_times);
  ADD ("shortlist", test_shortlist);
  ADD ("nothing", test_nothing);
  return g_test_run ();
}
