/* SPDX-License-Identifier: Apache-2.0 */

/* How long the two plots of the advisor take to draw, in software, on one core.
 *
 * The floor: with 20 000 points the marker of the mean weight 3.75 covers about
 * pi (4.0 x sqrt 3.75)^2 = 190 pixels, with its edge 240.  Compositing one
 * pixel reads 4 bytes of the sprite and 4 of the image and writes 4, so all
 * markers of two plots move 2 x 20 000 x 240 x 12 bytes = 115 MB, within the
 * caches.  What memcpy() takes to move as much is printed below the times: no
 * way to composite every marker can be faster.  Leaving out those that others
 * cover, as is done here, saves about half of them. */

#include "config.h"

#include "ui/plot/qm-advice-plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define REPEATS 25

/* Milliseconds of this thread's processor time: other work on the machine does
 * not count. */
static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec * 1000 + (double) time.tv_nsec / 1e6;
}

typedef struct
{
  const QmCatalog *catalog;
  QmAdvice *advice;
  QmAdvicePlot *plots[2];
  cairo_surface_t *surfaces[2];
  int width, height;
} Bench;

static QmCandidate
make_candidate (const QmCatalog *catalog, GRand *random)
{
  static const char *const gpus[] = { "rtx3090", "a6000", "a100-80gb-sxm",
                                      "h100-80gb-sxm" };
  int type = g_rand_int_range (random, 0, G_N_ELEMENTS (gpus));
  int doubling = g_rand_int_range (random, 0, 4);
  double spread = 0;
  double cost;

  for (int i = 0; i < 4; i++)
    spread += g_rand_double (random) - 0.5;
  cost = exp (log (2500) + 1.1 * type + 0.7 * doubling + 0.7 * spread);
  return (QmCandidate){
    .gpu = qm_catalog_gpu (catalog, gpus[type]),
    .gpus = 1 << doubling,
    .machines = 1,
    .cost_minor = (gint64) (cost * 100),
    .days = 370
            * exp (-0.9 * type - 0.7 * doubling
                   + 2 * (g_rand_double (random) - 0.5)),
    .experiment_cost = cost * 50 / 1825,
    .implied_utilization = 0.5,
    .eligible = TRUE,
  };
}

static void
bench_init (
    Bench *bench, const QmCatalog *catalog, guint n, int width, int height)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20000);
  g_autofree QmCandidate *candidates = g_new (QmCandidate, n);

  for (guint i = 0; i < n; i++)
    candidates[i] = make_candidate (catalog, random);
  bench->catalog = catalog;
  bench->advice = qm_advice_new_for_candidates (candidates, n);
  bench->width = width;
  bench->height = height;
  for (int i = 0; i < 2; i++)
    {
      bench->plots[i] = qm_advice_plot_new (catalog, bench->advice, i,
                                            "pythia-1b", NULL, TRUE);
      bench->surfaces[i] =
          cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
    }
}

static void
bench_clear (Bench *bench)
{
  for (int i = 0; i < 2; i++)
    {
      qm_advice_plot_free (bench->plots[i]);
      cairo_surface_destroy (bench->surfaces[i]);
    }
  qm_advice_free (bench->advice);
}

static void
draw (const Bench *bench, QmPlotLayers layers)
{
  for (int i = 0; i < 2; i++)
    {
      cairo_t *cr = cairo_create (bench->surfaces[i]);

      qm_plot_draw (cr, qm_advice_plot_data (bench->plots[i]), bench->width,
                    bench->height, qm_plot_theme_light (), layers);
      cairo_destroy (cr);
    }
}

static void
move_slider (const Bench *bench, guint step)
{
  gint64 budget = (gint64) (step % 50 + 10) * 100000;
  QmRecommendation found = qm_advice_recommend (bench->advice, budget, NAN);

  for (int i = 0; i < 2; i++)
    qm_advice_plot_set_limits (bench->plots[i], budget, NAN, &found);
}

typedef enum
{
  TASK_ALL,
  TASK_POINTS,
  TASK_LIMITS,
  TASK_PICK
} Task;

static int
compare_doubles (const void *a, const void *b)
{
  const double *p = a;
  const double *q = b;

  return (*p > *q) - (*p < *q);
}

/* Median milliseconds for both plots. */
static double
measure (const Bench *bench, Task task)
{
  double times[REPEATS];
  QmPlotLayout layout;

  qm_plot_layout (qm_advice_plot_data (bench->plots[0]), bench->width,
                  bench->height, qm_plot_theme_light (), &layout);
  for (guint i = 0; i < REPEATS; i++)
    {
      double start;

      if (task != TASK_LIMITS)
        move_slider (bench, i);
      start = now ();
      if (task == TASK_ALL)
        draw (bench, QM_PLOT_LAYER_ALL);
      else if (task == TASK_POINTS)
        draw (bench, QM_PLOT_LAYER_POINTS | QM_PLOT_LAYER_OVERLAY);
      else if (task == TASK_LIMITS)
        move_slider (bench, i);
      else
        for (int j = 0; j < 2; j++)
          qm_plot_pick (qm_advice_plot_data (bench->plots[j]), &layout,
                        qm_plot_theme_light (), bench->width / 2.0,
                        bench->height / 2.0, 6);
      times[i] = now () - start;
    }
  qsort (times, REPEATS, sizeof times[0], compare_doubles);
  return times[REPEATS / 2];
}

/* Milliseconds to move those 115 MB. */
static double
measure_floor (void)
{
  enum
  {
    SIZE = 256 * 1024
  };
  g_autofree guint8 *from = g_malloc0 (SIZE);
  g_autofree guint8 *to = g_malloc0 (SIZE);
  double best = HUGE_VAL;

  for (int repeat = 0; repeat < 5; repeat++)
    {
      double start = now ();
      double ms;

      /* A copy moves twice its size. */
      for (int i = 0; i < 115 * 1000 * 1000 / (2 * SIZE); i++)
        {
          memcpy (to, from, SIZE);
          from[i % SIZE] ^= to[SIZE - 1 - i % SIZE];
        }
      ms = now () - start;
      best = MIN (best, ms);
    }
  return best;
}

int
main (void)
{
  static const guint counts[] = { 16, 1000, 20000 };
  static const int sizes[][2] = { { 480, 360 }, { 900, 600 } };
  QmCatalog *catalog = NULL;
  QmError error;

  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    return 1;
  printf ("two plots, milliseconds of processor time (median of %d)\n",
          REPEATS);
  printf ("%7s %9s %9s %15s %9s %9s\n", "points", "size", "all",
          "points+overlay", "limits", "pick");
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (sizes); j++)
      {
        Bench bench;

        bench_init (&bench, catalog, counts[i], sizes[j][0], sizes[j][1]);
        printf ("%7u %4dx%-4d %9.3f %15.3f %9.3f %9.3f\n", counts[i],
                sizes[j][0], sizes[j][1], measure (&bench, TASK_ALL),
                measure (&bench, TASK_POINTS), measure (&bench, TASK_LIMITS),
                measure (&bench, TASK_PICK));
        bench_clear (&bench);
      }
  printf ("floor of the markers of 20000 points: %.3f\n", measure_floor ());
  qm_catalog_free (catalog);
  return 0;
}
