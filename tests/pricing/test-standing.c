/* SPDX-License-Identifier: Apache-2.0 */

/* The publication's comparisons with the shipped times. */

#include "pricing/advice/qm-standing.h"

#include <math.h>
#include <string.h>

typedef struct
{
  QmCatalog *catalog;
  QmStudy *study;
} Setup;

static void
set_up (Setup *setup, gconstpointer unused)
{
  const char *shipped = g_getenv ("QM_SHIPPED_DATA_DIR");
  QmError error = { 0 };

  g_assert_cmpint (qm_catalog_load (shipped, NULL, &setup->catalog, &error), ==,
                   QM_OK);
  g_assert_cmpint (qm_study_load (shipped, &setup->study, &error), ==, QM_OK);
}

static void
tear_down (Setup *setup, gconstpointer unused)
{
  qm_study_free (setup->study);
  qm_catalog_free (setup->catalog);
}

/* A model stands where its original training was, once for each type of GPU
 * that measured it, with the fewest GPU-days. */
static void
test_original (Setup *setup, gconstpointer unused)
{
  g_autoptr (GArray) points =
      qm_standing_points (setup->catalog, setup->study, QM_STANDING_ORIGINAL);
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (setup->catalog, &n);
  gboolean found = FALSE;

  g_assert_cmpuint (points->len, >, 5);
  for (guint i = 0; i < points->len; i++)
    {
      const QmStandingPoint *point =
          &g_array_index (points, QmStandingPoint, i);
      const QmMeasurement *here = point->measurement;

      g_assert_cmpint (here->provenance, ==, QM_PROVENANCE_MEASURED);
      g_assert_cmpfloat (point->y, ==, here->days * here->gpus);
      /* Nobody says how long that took. */
      g_assert_cmpstr (here->model->id, !=, "mamba-2.8b");
      if (strcmp (here->model->id, "pythia-1b") == 0)
        {
          found = TRUE;
          g_assert_cmpfloat (point->x, ==, 64 * 3);
        }
      for (size_t j = 0; j < n; j++)
        if (all[j].model == here->model && all[j].gpu == here->gpu
            && all[j].provenance == QM_PROVENANCE_MEASURED
            && isfinite (all[j].days))
          g_assert_cmpfloat (all[j].days * all[j].gpus, >=, point->y);
      for (guint j = 0; j < i; j++)
        g_assert_false (
            g_array_index (points, QmStandingPoint, j).measurement->gpu
                == here->gpu
            && g_array_index (points, QmStandingPoint, j).measurement->model
                   == here->model);
    }
  g_assert_true (found);
}

/* What was measured takes longer than the peak says; what was published does
 * not always. */
static void
test_peak (Setup *setup, gconstpointer unused)
{
  g_autoptr (GArray) points =
      qm_standing_points (setup->catalog, setup->study, QM_STANDING_PEAK);
  guint impossible = 0;

  g_assert_cmpuint (points->len, >, 100);
  for (guint i = 0; i < points->len; i++)
    {
      const QmStandingPoint *point =
          &g_array_index (points, QmStandingPoint, i);

      g_assert_cmpint (point->measurement->settings, !=, QM_SETTINGS_NAIVE);
      if (point->measurement->provenance == QM_PROVENANCE_MEASURED)
        g_assert_cmpfloat (point->x, <, point->y);
      impossible += point->x > point->y;
    }
  g_assert_cmpuint (impossible, >, 0);
}

static void
test_free_lunch (Setup *setup, gconstpointer unused)
{
  g_autoptr (GArray) points =
      qm_standing_points (setup->catalog, setup->study, QM_STANDING_FREE_LUNCH);

  g_assert_cmpuint (points->len, >, 5);
  for (guint i = 0; i < points->len; i++)
    g_assert_cmpfloat (g_array_index (points, QmStandingPoint, i).y, <=,
                       g_array_index (points, QmStandingPoint, i).x * 1.01);
  g_assert_cmpfloat (qm_standing_ratio (points), <, 0.9);
}

static void
test_ratio (void)
{
  static const double ys[] = { 8, 1, 3, 2 };
  g_autoptr (GArray) points =
      g_array_new (FALSE, FALSE, sizeof (QmStandingPoint));

  g_assert_true (isnan (qm_standing_ratio (points)));
  for (guint i = 0; i < G_N_ELEMENTS (ys); i++)
    {
      QmStandingPoint point = { NULL, 2, ys[i] };

      g_array_append_val (points, point);
      if (i == 2)
        g_assert_cmpfloat (qm_standing_ratio (points), ==, 1.5);
    }
  g_assert_cmpfloat (qm_standing_ratio (points), ==, 1.25);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/standing/original", Setup, NULL, set_up, test_original,
              tear_down);
  g_test_add ("/standing/peak", Setup, NULL, set_up, test_peak, tear_down);
  g_test_add ("/standing/free-lunch", Setup, NULL, set_up, test_free_lunch,
              tear_down);
  g_test_add_func ("/standing/ratio", test_ratio);
  return g_test_run ();
}
