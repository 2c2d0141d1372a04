/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/plot/fixture.h"

#include <math.h>

static const guint16 legend_weights[] = { 1, 2, 4, 8 };

static void
name_series (Fixture *fixture)
{
  static const char *const names[] = { "RTX 3090",       "RTX A6000",
                                       "A100 SXM4 80GB", "H100 SXM5 80GB",
                                       "GPU five",       "GPU six",
                                       "GPU seven",      "GPU eight" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_array_append_val (fixture->series, ((QmPlotSeries){ names[i], i }));
}

Fixture *
fixture_new_empty (void)
{
  Fixture *fixture = g_new0 (Fixture, 1);
  QmPlotData *data = &fixture->data;

  fixture->points = g_array_new (FALSE, TRUE, sizeof (QmPlotPoint));
  fixture->series = g_array_new (FALSE, TRUE, sizeof (QmPlotSeries));
  fixture->frontier = g_array_new (FALSE, TRUE, sizeof (int));
  name_series (fixture);
  data->title = "Pythia 1B";
  data->x = (QmPlotAxis){
    "Overall cost (USD)", QM_PLOT_UNIT_MONEY, "USD", FALSE, NAN, NAN, NAN,
    "Budget $40,000"
  };
  data->y = (QmPlotAxis){
    "Training time",   QM_PLOT_UNIT_TIME, NULL, FALSE, NAN, NAN, NAN,
    "Deadline 60 days"
  };
  data->recommended = data->selected = data->hovered = -1;
  data->legend = TRUE;
  data->legend_weights = legend_weights;
  data->n_legend_weights = G_N_ELEMENTS (legend_weights);
  data->weight_title = "GPUs";
  data->empty_text = "Nothing to show";
  fixture_sync (fixture);
  return fixture;
}

void
fixture_free (Fixture *fixture)
{
  g_array_unref (fixture->points);
  g_array_unref (fixture->series);
  g_array_unref (fixture->frontier);
  g_free (fixture);
}

void
fixture_sync (Fixture *fixture)
{
  QmPlotData *data = &fixture->data;

  data->points = (const QmPlotPoint *) (void *) fixture->points->data;
  data->n_points = fixture->points->len;
  data->series = (const QmPlotSeries *) (void *) fixture->series->data;
  data->n_series = fixture->series->len;
  data->frontier = (const int *) (void *) fixture->frontier->data;
  data->n_frontier = fixture->frontier->len;
}

void
fixture_add (
    Fixture *fixture, double x, double y, guint16 series, guint16 weight)
{
  QmPlotPoint point = { .x = x, .y = y, .series = series, .weight = weight };

  g_array_append_val (fixture->points, point);
  fixture_sync (fixture);
}

Fixture *
fixture_new_published (gboolean log)
{
  static const double gpu_prices[] = { 1300, 4800, 19000, 30000 };
  static const double machine_prices[] = { 1000, 1500, 7500, 10500 };
  static const double days[4][4] = { { 370, 109, 77, 30 },
                                     { 152, 72, 40, 22 },
                                     { 72, 36, 18, 9 },
                                     { 34, 16, 8, 4 } };
  static const int frontier[] = { 0, 4, 5, 6, 12, 7, 13, 14, 15 };
  Fixture *fixture = fixture_new_empty ();

  for (guint16 gpu = 0; gpu < 4; gpu++)
    for (guint i = 0; i < 4; i++)
      {
        guint16 count = (guint16) (1 << i);

        fixture_add (fixture, machine_prices[i] + count * gpu_prices[gpu],
                     days[gpu][i], gpu, count);
      }
  g_array_set_size (fixture->series, 4);
  g_array_append_vals (fixture->frontier, frontier, G_N_ELEMENTS (frontier));
  fixture->data.x.log = fixture->data.y.log = log;
  fixture_sync (fixture);
  return fixture;
}

Fixture *
fixture_new_random (guint n, guint32 seed, double decades)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  Fixture *fixture = fixture_new_empty ();

  for (guint i = 0; i < n; i++)
    {
      QmPlotPoint point = {
        .x = pow (10, 3 + decades * g_rand_double (random)),
        .y = pow (10, decades * g_rand_double (random)),
        .series = (guint16) g_rand_int_range (random, 0, 8),
        .weight = (guint16) (1 << g_rand_int_range (random, 0, 4)),
        .provenance = (guint8) g_rand_int_range (random, 0, 3),
        .flags = (guint8) g_rand_int_range (random, 0, 4),
      };

      g_array_append_val (fixture->points, point);
    }
  fixture->data.x.log = fixture->data.y.log = TRUE;
  fixture_sync (fixture);
  return fixture;
}

void
fixture_decorate (Fixture *fixture)
{
  QmPlotData *data = &fixture->data;

  data->x.limit = 40000;
  data->y.limit = 60;
  data->recommended = 6;
  data->recommended_label = "4 × RTX A6000, 40 days";
  data->selected = 9;
  data->hovered = 12;
  data->hovered_label = "1 × H100 SXM5 80GB\nOverall cost $31,000\n34 days";
  data->crossed_name = "Impossible time";
  data->frontier_name = "Pareto frontier";
  data->provenance_names[0] = "Published";
  data->provenance_names[1] = "Measured";
  data->provenance_names[2] = "Predicted";
  for (guint i = 0; i < fixture->points->len; i++)
    {
      QmPlotPoint *point = &g_array_index (fixture->points, QmPlotPoint, i);

      point->flags = point->x > 40000 || point->y > 60 ? QM_PLOT_POINT_DIMMED
                                                       : QM_PLOT_POINT_NORMAL;
      if (i == 1 || i == 3)
        point->flags |= QM_PLOT_POINT_CROSSED;
      point->provenance = (guint8) (i % 3);
    }
}

cairo_surface_t *
render (const QmPlotData *data,
        const QmPlotTheme *theme,
        int width,
        int height,
        double scale,
        QmPlotLayers layers)
{
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) (width * scale),
                                  (int) (height * scale));
  cairo_t *cr;

  cairo_surface_set_device_scale (image, scale, scale);
  cr = cairo_create (image);
  qm_plot_draw (cr, data, width, height, theme, layers);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  return image;
}

guint32
pixel_at (cairo_surface_t *image, int x, int y)
{
  const unsigned char *data = cairo_image_surface_get_data (image);
  const guint32 *line =
      (const void *) (data + y * cairo_image_surface_get_stride (image));

  g_assert_cmpint (x, <, cairo_image_surface_get_width (image));
  g_assert_cmpint (y, <, cairo_image_surface_get_height (image));
  return line[x];
}

guint
compare_images (cairo_surface_t *a,
                cairo_surface_t *b,
                guint tolerance,
                guint *greatest)
{
  int width = cairo_image_surface_get_width (a);
  int height = cairo_image_surface_get_height (a);
  guint n = 0;

  g_assert_cmpint (width, ==, cairo_image_surface_get_width (b));
  g_assert_cmpint (height, ==, cairo_image_surface_get_height (b));
  *greatest = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        guint32 p = pixel_at (a, x, y);
        guint32 q = pixel_at (b, x, y);
        guint difference = 0;

        for (int shift = 0; shift < 32; shift += 8)
          {
            int d = (int) (p >> shift & 255) - (int) (q >> shift & 255);

            difference = MAX (difference, (guint) ABS (d));
          }
        *greatest = MAX (*greatest, difference);
        n += difference > tolerance;
      }
  return n;
}
