/* SPDX-License-Identifier: Apache-2.0 */

/* Axes that plots side by side have in common, and those of dates. */

#include "config.h"

#include "tests/plot/fixture.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/plot/qm-plot-axis.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define LIGHT (qm_plot_theme_light ())

static QmCatalog *catalog;

static QmCandidate
candidate (double cost, double days)
{
  return (QmCandidate){
    .gpu = qm_catalog_gpu (catalog, "rtx3090"),
    .gpus = 1,
    .machines = 1,
    .cost_minor = (gint64) (cost * 100),
    .days = days,
    .experiment_cost = cost / 50,
    .eligible = TRUE,
  };
}

static QmPlotLayout
layout_of (const QmAdvicePlot *plot)
{
  QmPlotLayout layout;

  qm_plot_layout (qm_advice_plot_data (plot), 400, 300, LIGHT, &layout);
  return layout;
}

static void
check_shown (const QmAdvicePlot *plot)
{
  const QmPlotData *data = qm_advice_plot_data (plot);
  QmPlotLayout layout = layout_of (plot);

  for (guint i = 0; i < data->n_points; i++)
    {
      g_assert_cmpfloat (data->points[i].x, >=, layout.x_min);
      g_assert_cmpfloat (data->points[i].x, <=, layout.x_max);
      g_assert_cmpfloat (data->points[i].y, >=, layout.y_min);
      g_assert_cmpfloat (data->points[i].y, <=, layout.y_max);
    }
}

/* A model that takes hours beside one that takes weeks. */
static void
test_share (gconstpointer log)
{
  const QmCandidate small[] = { candidate (1000, 0.5), candidate (9000, 0.1) };
  const QmCandidate large[] = { candidate (4000, 90), candidate (60000, 20) };
  g_autoptr (QmAdvice) first = qm_advice_new_for_candidates (small, 2);
  g_autoptr (QmAdvice) second = qm_advice_new_for_candidates (large, 2);
  QmAdvicePlot *plots[4];

  for (guint i = 0; i < 4; i++)
    plots[i] = qm_advice_plot_new (catalog, i % 2 ? second : first,
                                   (QmAdvicePlotKind) (i / 2), NULL, NULL,
                                   log != NULL);
  qm_advice_plot_share (plots, 4);
  for (guint i = 0; i < 4; i++)
    {
      QmPlotLayout layout = layout_of (plots[i]);

      check_shown (plots[i]);
      g_assert_cmpfloat (layout.y_min, ==, layout_of (plots[0]).y_min);
      g_assert_cmpfloat (layout.y_max, ==, layout_of (plots[0]).y_max);
      g_assert_cmpfloat (layout.x_min, ==, layout_of (plots[i / 2 * 2]).x_min);
      g_assert_cmpfloat (layout.x_max, ==, layout_of (plots[i / 2 * 2]).x_max);
    }
  g_assert_cmpfloat_with_epsilon (qm_advice_plot_data (plots[0])->points[0].y,
                                  0.5, 1e-12);
  /* What is looked at closely has a range of its own. */
  qm_advice_plot_set_range (plots[0], 900, 1100, 0.4, 0.6);
  g_assert_cmpfloat (layout_of (plots[0]).x_max, ==, 1100);
  for (guint i = 0; i < 4; i++)
    qm_advice_plot_free (plots[i]);
}

/* Beside one that shows nothing, and alone. */
static void
test_share_nothing (void)
{
  const QmCandidate some[] = { candidate (1000, 5), candidate (9000, 1) };
  g_autoptr (QmAdvice) advice = qm_advice_new_for_candidates (some, 2);
  g_autoptr (QmAdvice) none = qm_advice_new_for_candidates (NULL, 0);
  QmAdvicePlot *plots[] = {
    qm_advice_plot_new (catalog, advice, QM_ADVICE_PLOT_OVERALL, NULL, NULL,
                        TRUE),
    qm_advice_plot_new (catalog, none, QM_ADVICE_PLOT_EXPERIMENT, NULL, NULL,
                        TRUE)
  };

  qm_advice_plot_share (NULL, 0);
  qm_advice_plot_share (plots, 1);
  g_assert_cmpfloat (qm_advice_plot_data (plots[0])->x.shared_max, ==, 0);
  qm_advice_plot_share (plots, 2);
  check_shown (plots[0]);
  for (guint i = 0; i < 2; i++)
    qm_advice_plot_free (plots[i]);
}

/* The ticks from a day to another, and how they are labelled. */
static void
check_dates (QmDate from, QmDate to, const char *first, const char *like)
{
  static const QmDate epoch = { 1970, 1, 1 };
  const QmPlotAxis axis = { .unit = QM_PLOT_UNIT_DATE, .limit = NAN };
  const QmPlotRange range = { qm_date_days_between (epoch, from),
                              qm_date_days_between (epoch, to), -HUGE_VAL,
                              FALSE };
  QmPlotTicks ticks = { 0 };
  QmPlotText text;

  qm_plot_text_init (&text, LIGHT, NULL);
  qm_plot_ticks_init (&ticks, &axis, &range, 500, FALSE, &text);
  g_assert_cmpuint (ticks.n_major, >=, 3);
  g_assert_cmpstr (ticks.major[0].label, ==, first);
  for (guint i = 0; i < ticks.n_major; i++)
    {
      const char *label = ticks.major[i].label;

      g_assert_cmpfloat (ticks.major[i].value, ==,
                         floor (ticks.major[i].value));
      g_assert_true (g_regex_match_simple (like, label, 0, 0));
      if (i > 0)
        g_assert_cmpstr (label, !=, ticks.major[i - 1].label);
    }
  qm_plot_ticks_clear (&ticks);
  qm_plot_text_clear (&text);
}

static void
test_dates (void)
{
  check_dates ((QmDate){ 2026, 3, 6 }, (QmDate){ 2026, 3, 11 }, "6 Mar 2026",
               "^[0-9]+ Mar 2026$");
  check_dates ((QmDate){ 2025, 11, 20 }, (QmDate){ 2026, 5, 3 }, "Dec 2025",
               "^[A-Z][a-z][a-z] 202[56]$");
  check_dates ((QmDate){ 2025, 1, 20 }, (QmDate){ 2026, 11, 3 }, "Apr 2025",
               "^[A-Z][a-z][a-z] 202[56]$");
  check_dates ((QmDate){ 2008, 6, 1 }, (QmDate){ 2026, 11, 3 }, "2010",
               "^20[0-9][0-9]$");
}

/* A single date has weeks around it, not decades. */
static void
test_one_date (void)
{
  const QmPlotAxis axis = {
    .unit = QM_PLOT_UNIT_DATE, .min = NAN, .max = NAN, .limit = NAN
  };
  const QmPlotSpan span = { TRUE, 20500, 20500 };
  QmPlotRange range;

  qm_plot_range_init (&range, &axis, &span, 400, 10);
  g_assert_cmpfloat (range.max - range.min, <, 150);
  g_assert_cmpfloat (range.min, <, 20480);
  g_assert_cmpfloat (range.max, >, 20520);
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  setlocale (LC_ALL, "C.UTF-8");
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  g_test_add_data_func ("/plot/shared/linear", NULL, test_share);
  g_test_add_data_func ("/plot/shared/log", "log", test_share);
  g_test_add_func ("/plot/shared/nothing", test_share_nothing);
  g_test_add_func ("/plot/shared/dates", test_dates);
  g_test_add_func ("/plot/shared/one-date", test_one_date);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
