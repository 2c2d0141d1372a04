/* SPDX-License-Identifier: Apache-2.0 */

/* The publication's comparisons with the shipped times. */

#include "pricing/advice/qm-standing.h"

#include <glib/gstdio.h>
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
  g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_BEST), <, 0.9);
}

/* The fastest way is no slower than the median, which is no slower than the
 * slowest, and of what was cut the slowest is not known. */
static void
test_memory (Setup *setup, gconstpointer unused)
{
  g_autofree char *folder =
      g_build_filename (g_getenv ("QM_SHIPPED_DATA_DIR"), "measurements", NULL);
  g_autoptr (GArray) points =
      qm_standing_memory_points (setup->catalog, folder);
  g_autoptr (GArray) none =
      qm_standing_memory_points (setup->catalog, "/nowhere");
  guint counts[QM_N_STANDING_RANKS] = { 0 };

  g_assert_cmpuint (none->len, ==, 0);
  for (guint i = 0; i < points->len; i++)
    {
      const QmStandingPoint *point =
          &g_array_index (points, QmStandingPoint, i);
      const QmStandingPoint *before =
          i > 0 ? &g_array_index (points, QmStandingPoint, i - 1) : NULL;

      counts[point->rank]++;
      if (point->rank == QM_STANDING_BEST)
        continue;
      g_assert_true (before->model == point->model && before->x == point->x);
      g_assert_cmpfloat (before->y, <=, point->y);
    }
  g_assert_cmpuint (counts[QM_STANDING_BEST], >, 20);
  g_assert_cmpuint (counts[QM_STANDING_WORST], >, 5);
  g_assert_cmpuint (counts[QM_STANDING_WORST], <, counts[QM_STANDING_BEST]);
  g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_BEST), <,
                     qm_standing_ratio (points, QM_STANDING_WORST));
}

#define TIMES                             \
  ",\"pass\":{\"mean_s\":1},\"update\":{" \
  "\"mean_s\":1},\"step\":{\"mean_s\":2}"

static void
write_line (GString *text,
            gboolean checkpointing,
            const char *sharding,
            const char *days)
{
  g_string_append_printf (
      text,
      "{\"schema\":1,\"status\":\"%s\",\"time\":\"2026-11-21T06:40:00Z\","
      "\"model\":\"pythia-1b\",\"model_key\":\"0123456789abcdef\","
      "\"gpu\":\"h200-141gb-sxm\",\"gpus\":2,\"engine\":\"quartermaster\","
      "\"version\":\"0.1.0\",\"settings\":\"free-lunch\","
      "\"checkpointing\":%s,\"sharding\":\"%s\",\"offloading\":false,"
      "\"deterministic\":false,"
      "\"precision\":\"bf16\",\"micro_batch\":1,\"accumulation\":512,"
      "\"device\":{\"id\":\"cuda:0\",\"name\":\"NVIDIA H200\",\"driver\":"
      "\"580\",\"architecture\":90}%s%s}\n",
      days != NULL ? "measured" : "cut", checkpointing ? "true" : "false",
      sharding, days != NULL ? TIMES ",\"days\":" : ",\"reason\":\"slow\"",
      days != NULL ? days : "");
}

/* Three ways of which one was cut: the slowest is not known, the median is. */
static void
test_cut (Setup *setup, gconstpointer unused)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-standing-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "some.jsonl", NULL);
  g_autofree char *broken = g_build_filename (folder, "broken.jsonl", NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GArray) points = NULL;

  write_line (text, FALSE, "none", "10");
  write_line (text, TRUE, "none", "13");
  write_line (text, FALSE, "zero_2", "9");
  write_line (text, TRUE, "zero_2", NULL);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  g_assert_true (g_file_set_contents (broken, "{\n", -1, NULL));
  points = qm_standing_memory_points (setup->catalog, folder);
  g_assert_cmpuint (points->len, ==, 2);
  g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_BEST), ==, 0.9);
  g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_MIDDLE), ==, 1.3);
  g_assert_true (isnan (qm_standing_ratio (points, QM_STANDING_WORST)));
  g_unlink (path);
  g_unlink (broken);
  g_rmdir (folder);
}

static void
test_ratio (void)
{
  static const double ys[] = { 8, 1, 3, 2 };
  g_autoptr (GArray) points =
      g_array_new (FALSE, FALSE, sizeof (QmStandingPoint));

  g_assert_true (isnan (qm_standing_ratio (points, QM_STANDING_BEST)));
  for (guint i = 0; i < G_N_ELEMENTS (ys); i++)
    {
      QmStandingPoint point = { .x = 2, .y = ys[i] };

      g_array_append_val (points, point);
      if (i == 2)
        g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_BEST), ==,
                           1.5);
    }
  g_assert_cmpfloat (qm_standing_ratio (points, QM_STANDING_BEST), ==, 1.25);
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
  g_test_add ("/standing/memory", Setup, NULL, set_up, test_memory, tear_down);
  g_test_add ("/standing/cut", Setup, NULL, set_up, test_cut, tear_down);
  g_test_add_func ("/standing/ratio", test_ratio);
  return g_test_run ();
}
