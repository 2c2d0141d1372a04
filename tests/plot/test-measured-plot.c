/* SPDX-License-Identifier: Apache-2.0 */

/* Measured times have solid markers, predicted ones hollow, and both say whose
 * they are.  The catalog has made-up results of an H200 and gets a price. */

#include "config.h"

#include "pricing/qm-format.h"
#include "tests/plot/fixture.h"
#include "tests/pricing/forecasts.h"
#include "ui/plot/qm-advice-plot.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define WIDTH  500
#define HEIGHT 400
#define SCALE  3

/* Solid markers let a little of what is behind them through. */
#define SOLID 48

static QmCatalog *catalog;

/* A question's answer and its plot. */
typedef struct
{
  QmQuestion *question;
  QmAdvice *advice;
  QmAdvicePlot *plot;
  const QmPlotData *data;
  guint h200; /* the point of 1 x H200 */
} Drawing;

static void
draw (Drawing *drawing, const char *model, QmTimesOf times_of)
{
  g_autoptr (GError) error = NULL;
  const QmCandidate *candidates;
  guint n;

  drawing->question = qm_question_new ();
  drawing->question->time_factor = 1;
  drawing->question->model = g_strdup (model);
  drawing->question->times_of = times_of;
  drawing->question->forecasts = qm_forecasts_new ();
  add_forecast (drawing->question->forecasts, "pythia-6.9b", "tuned",
                "h200-141gb-sxm", 1, 350);
  drawing->advice = qm_advice_new (catalog, drawing->question, &error);
  g_assert_no_error (error);
  drawing->plot = qm_advice_plot_new (catalog, drawing->advice,
                                      QM_ADVICE_PLOT_OVERALL, NULL, NULL, TRUE);
  qm_advice_plot_set_legend (drawing->plot, FALSE);
  drawing->data = qm_advice_plot_data (drawing->plot);
  candidates = qm_advice_candidates (drawing->advice, &n);
  g_assert_cmpuint (n, ==, drawing->data->n_points);
  for (drawing->h200 = 0; drawing->h200 < n; drawing->h200++)
    if (strcmp (candidates[drawing->h200].gpu->id, "h200-141gb-sxm") == 0)
      break;
  g_assert_cmpuint (drawing->h200, <, n);
}

static void
clear (Drawing *drawing)
{
  qm_advice_plot_free (drawing->plot);
  qm_advice_free (drawing->advice);
  qm_question_free (drawing->question);
}

/* How far the colour in the middle of the H200's marker is from that of its
 * series, or from grey where others are both cheaper and faster: the greatest
 * difference of a channel in 255ths. */
static guint
distance (const Drawing *drawing, const QmPlotTheme *theme)
{
  const QmPlotPoint *point = &drawing->data->points[drawing->h200];
  guint style = drawing->data->series[point->series].style;
  const QmPlotColor *color =
      point->flags & QM_PLOT_POINT_GREY ? &theme->grey : &theme->palette[style];
  const double wanted[] = { color->red, color->green, color->blue };
  cairo_surface_t *image;
  QmPlotLayout layout;
  guint32 pixel;
  double x, y;
  guint greatest = 0;

  image =
      render (drawing->data, theme, WIDTH, HEIGHT, SCALE, QM_PLOT_LAYER_POINTS);
  qm_plot_layout (drawing->data, WIDTH, HEIGHT, theme, &layout);
  g_assert_true (qm_plot_position (&layout, point->x, point->y, &x, &y));
  pixel = pixel_at (image, (int) (x * SCALE), (int) (y * SCALE));
  for (guint i = 0; i < 3; i++)
    {
      int channel = (int) (pixel >> (16 - 8 * i) & 0xff);

      greatest =
          MAX (greatest, (guint) abs (channel - (int) (wanted[i] * 255 + 0.5)));
    }
  cairo_surface_destroy (image);
  return greatest;
}

static void
test_solid (void)
{
  const QmPlotTheme *themes[] = { qm_plot_theme_light (),
                                  qm_plot_theme_dark () };

  for (int times_of = QM_TIMES_OF_PYTORCH;
       times_of <= QM_TIMES_OF_QUARTERMASTER; times_of++)
    {
      Drawing drawing;

      draw (&drawing, "pythia-1b", (QmTimesOf) times_of);
      g_assert_cmpint (drawing.data->points[drawing.h200].provenance, ==,
                       QM_PLOT_MEASURED);
      for (gsize i = 0; i < G_N_ELEMENTS (themes); i++)
        g_assert_cmpuint (distance (&drawing, themes[i]), <=, SOLID);
      clear (&drawing);
    }
}

static void
test_hollow (void)
{
  const QmPlotTheme *themes[] = { qm_plot_theme_light (),
                                  qm_plot_theme_dark () };
  Drawing drawing;

  draw (&drawing, "pythia-6.9b", QM_TIMES_OF_PYTORCH);
  g_assert_cmpint (drawing.data->points[drawing.h200].provenance, ==,
                   QM_PLOT_PREDICTED);
  for (gsize i = 0; i < G_N_ELEMENTS (themes); i++)
    g_assert_cmpuint (distance (&drawing, themes[i]), >, 2 * SOLID);
  clear (&drawing);
}

/* A predicted time has a bar as long as its interval. */
static void
test_bar (void)
{
  const QmPlotTheme *theme = qm_plot_theme_light ();
  const QmPlotInterval *interval;
  const QmPlotPoint *point;
  cairo_surface_t *with, *without;
  QmPlotLayout layout;
  QmPlotData bare;
  Drawing drawing;
  double x, low, high;
  guint differences[2] = { 0 };

  draw (&drawing, "pythia-6.9b", QM_TIMES_OF_PYTORCH);
  interval = &drawing.data->y_intervals[drawing.h200];
  point = &drawing.data->points[drawing.h200];
  g_assert_cmpfloat (interval->low, <, point->y);
  g_assert_cmpfloat (interval->high, >, point->y);
  qm_plot_layout (drawing.data, WIDTH, HEIGHT, theme, &layout);
  g_assert_cmpfloat (layout.y_min, <=, interval->low);
  g_assert_cmpfloat (layout.y_max, >=, interval->high);
  g_assert_true (qm_plot_position (&layout, point->x, interval->low, &x, &low));
  g_assert_true (
      qm_plot_position (&layout, point->x, interval->high, &x, &high));
  bare = *drawing.data;
  /* The same range without the bars. */
  bare.y.min = layout.y_min;
  bare.y.max = layout.y_max;
  with = render (&bare, theme, WIDTH, HEIGHT, SCALE, QM_PLOT_LAYER_POINTS);
  bare.y_intervals = NULL;
  without = render (&bare, theme, WIDTH, HEIGHT, SCALE, QM_PLOT_LAYER_POINTS);
  for (int y = (int) ((high - 4) * SCALE); y < (int) ((low + 4) * SCALE); y++)
    {
      gboolean inside =
          y >= (int) ((high - 1) * SCALE) && y <= (int) ((low + 1) * SCALE);

      if (pixel_at (with, (int) (x * SCALE), y)
          != pixel_at (without, (int) (x * SCALE), y))
        differences[inside]++;
    }
  g_assert_cmpuint (differences[FALSE], ==, 0);
  g_assert_cmpuint (differences[TRUE], >, 0);
  cairo_surface_destroy (with);
  cairo_surface_destroy (without);
  clear (&drawing);
}

static void
test_names (void)
{
  Drawing drawing;
  const char *const *names;

  draw (&drawing, "pythia-1b", QM_TIMES_OF_PYTORCH);
  names = drawing.data->provenance_names;
  g_assert_null (names[QM_PLOT_PUBLISHED]);
  g_assert_null (names[QM_PLOT_PREDICTED]);
  g_assert_cmpstr (names[QM_PLOT_MEASURED], ==, "Measured, PyTorch");
  qm_advice_plot_set_hovered (drawing.plot, (int) drawing.h200);
  g_assert_nonnull (strstr (drawing.data->hovered_label,
                            "Time measured with PyTorch 2.11.0, transformers "
                            "5.17.0, cuda 13.0, 21 November 2026 ("));
  clear (&drawing);

  draw (&drawing, "pythia-6.9b", QM_TIMES_OF_PYTORCH);
  names = drawing.data->provenance_names;
  g_assert_cmpstr (names[QM_PLOT_PREDICTED], ==, "Predicted, PyTorch");
  qm_advice_plot_set_hovered (drawing.plot, (int) drawing.h200);
  g_assert_nonnull (strstr (drawing.data->hovered_label,
                            "Predicted within 280 days to 438 days"));
  clear (&drawing);
}

/* What is not of the software that was asked for is not drawn. */
static void
test_left_out (void)
{
  Drawing drawing;

  draw (&drawing, "pythia-1b", QM_TIMES_OF_QUARTERMASTER);
  g_assert_cmpuint (drawing.data->n_points, ==, 1);
  g_assert_cmpuint (drawing.h200, ==, 0);
  g_assert_cmpuint (qm_advice_left_out (drawing.advice)->len, ==, 16);
  clear (&drawing);
}

/* Costs, the budget and what is hovered in the money of the question, here at
 * 1.25 USD a euro. */
static void
check_money (const Drawing *drawing,
             QmPurse purse,
             double rate,
             const char *title,
             const char *budget)
{
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (catalog, drawing->advice, QM_ADVICE_PLOT_OVERALL,
                          NULL, &purse, TRUE);
  const QmPlotData *data = qm_advice_plot_data (plot);
  g_autofree char *cost = NULL;

  g_assert_cmpstr (data->x.currency, ==, "EUR");
  g_assert_cmpstr (data->x.title, ==, title);
  for (guint i = 0; i < data->n_points; i++)
    if (isfinite (drawing->data->points[i].x))
      g_assert_cmpfloat_with_epsilon (data->points[i].x,
                                      rate * drawing->data->points[i].x, 0.01);
  qm_advice_plot_set_limits (plot, 10000000, NAN, NULL);
  g_assert_cmpstr (data->x.limit_label, ==, budget);
  g_assert_cmpfloat_with_epsilon (data->x.limit, rate * 100000, 0.01);
  qm_advice_plot_set_hovered (plot, (int) drawing->h200);
  cost = qm_format_money (data->points[drawing->h200].x, "EUR", FALSE);
  g_assert_nonnull (strstr (data->hovered_label, cost));
  g_assert_null (strchr (data->hovered_label, '$'));
}

static void
test_money (void)
{
  const QmRate rate = { "USD", { 2026, 3, 2 }, 1250000000 };
  g_autoptr (QmRates) rates = qm_rates_new (&rate, 1, NULL);
  QmPurse purse = qm_purse_default ();
  Drawing drawing;

  draw (&drawing, "pythia-1b", QM_TIMES_OF_PYTORCH);
  g_assert_true (qm_purse_set_currency (&purse, "EUR", rates,
                                        (QmDate){ 2026, 3, 2 }, NULL));
  check_money (&drawing, purse, 0.8, "Overall cost (EUR)", "Budget €80,000");
  purse.tax_percent = 20;
  check_money (&drawing, purse, 0.8, "Overall cost (EUR without tax)",
               "Budget €80,000");
  purse.gross = TRUE;
  check_money (&drawing, purse, 0.96, "Overall cost (EUR with tax)",
               "Budget €96,000");
  clear (&drawing);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-XXXXXX", NULL);
  g_autofree char *prices = g_build_filename (folder, "prices.csv", NULL);
  QmError error;
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_true (
      g_file_set_contents (prices,
                           "item,kind,price,currency,observed_on,source\n"
                           "h200-141gb-sxm,quote,31000,USD,2026-11-01,offer\n",
                           -1, NULL));
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), folder,
                                    &catalog, &error),
                   ==, QM_OK);
  g_unlink (prices);
  g_rmdir (folder);
  g_test_add_func ("/measured-plot/solid", test_solid);
  g_test_add_func ("/measured-plot/hollow", test_hollow);
  g_test_add_func ("/measured-plot/bar", test_bar);
  g_test_add_func ("/measured-plot/names", test_names);
  g_test_add_func ("/measured-plot/left-out", test_left_out);
  g_test_add_func ("/measured-plot/money", test_money);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
