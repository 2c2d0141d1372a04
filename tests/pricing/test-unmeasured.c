/* SPDX-License-Identifier: Apache-2.0 */

/* Times of models that nobody has measured. */

#include "config.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-unmeasured.h"

#include <math.h>

static QmCatalog *catalog;

static gboolean
predict (const char *model,
         const char *gpu,
         double longer,
         QmTimesOf times_of,
         QmUnmeasured *predicted)
{
  const QmModel *entry = qm_catalog_model (catalog, model);
  QmRecipe recipe = entry->recipe;

  recipe.steps = (gint64) ((double) recipe.steps * longer);
  return qm_unmeasured_predict (catalog, &entry->config, &recipe,
                                qm_catalog_gpu (catalog, gpu), times_of,
                                predicted);
}

/* A model of which the time is known lies in the interval, since it is one of
 * those that make it. */
static void
test_known (void)
{
  const QmMeasurement *all;
  size_t n;
  guint n_checked = 0;

  all = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *one = &all[i];
      QmUnmeasured predicted;

      if (one->gpus != 1 || one->settings != QM_SETTINGS_OPTIMAL
          || qm_audit_measurement (one, NULL) != QM_VERDICT_OK)
        continue;
      g_assert_true (predict (one->model->id, one->gpu->id, 1,
                              QM_TIMES_OF_PYTORCH, &predicted));
      g_assert_cmpfloat (predicted.low, <=, one->days * (1 + 1e-9));
      g_assert_cmpfloat (predicted.high, >=, one->days * (1 - 1e-9));
      g_assert_cmpfloat (predicted.low, <=, predicted.days);
      g_assert_cmpfloat (predicted.high, >=, predicted.days);
      g_assert_cmpfloat_with_epsilon (
          qm_audit_utilization (one->model, one->gpu, 1, QM_SETTINGS_OPTIMAL,
                                predicted.days),
          predicted.share, 1e-9);
      g_assert_cmpuint (predicted.n_models, >=, QM_UNMEASURED_MIN);
      n_checked++;
    }
  g_assert_cmpuint (n_checked, >, 10);
}

/* Twice the steps take twice as long. */
static void
test_scale (void)
{
  QmUnmeasured once, twice;

  g_assert_true (
      predict ("pythia-1b", "h100-80gb-sxm", 1, QM_TIMES_OF_PYTORCH, &once));
  g_assert_true (
      predict ("pythia-1b", "h100-80gb-sxm", 2, QM_TIMES_OF_PYTORCH, &twice));
  g_assert_cmpfloat_with_epsilon (twice.days, once.days * 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (twice.high, once.high * 2, 1e-6);
}

/* Where nothing is known of a GPU or a software, nothing is said. */
static void
test_nothing (void)
{
  QmUnmeasured predicted;

  g_assert_false (
      predict ("pythia-1b", "rtx4090", 1, QM_TIMES_OF_PYTORCH, &predicted));
  g_assert_false (predict ("pythia-1b", "h100-80gb-sxm", 1,
                           QM_TIMES_OF_QUARTERMASTER, &predicted));
}

int
main (int argc, char **argv)
{
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  g_test_add_func ("/unmeasured/known", test_known);
  g_test_add_func ("/unmeasured/scale", test_scale);
  g_test_add_func ("/unmeasured/nothing", test_nothing);
  status = g_test_run ();
  qm_catalog_free (catalog);
  return status;
}
