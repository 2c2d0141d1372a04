/* SPDX-License-Identifier: Apache-2.0 */

/* Forecasts rest on what was measured, and their interval on how GPU types
 * differ. */

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-forecast.h"

#include <string.h>

static QmCatalog *measured, *published;

static const QmMeasurement *
find (const char *model, QmSettings settings)
{
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (measured, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (all[i].model->id, model) == 0 && all[i].settings == settings
        && all[i].engine == QM_ENGINE_QUARTERMASTER)
      return &all[i];
  g_assert_not_reached ();
}

static QmForecast
forecast (const char *model, const char *gpu, QmSettings settings)
{
  QmForecast result = { 0 };

  g_assert_true (qm_forecast_days (measured, qm_catalog_model (measured, model),
                                   qm_catalog_gpu (measured, gpu), settings,
                                   &result));
  g_assert_cmpfloat (result.low, >, 0);
  g_assert_cmpfloat (result.low, <, result.days);
  g_assert_cmpfloat (result.high, >, result.days);
  g_assert_cmpuint (result.n, >, 0);
  return result;
}

/* A model that was measured on one GPU: there it is that time, elsewhere that
 * at the same share of another peak. */
static void
test_same_model (void)
{
  const QmMeasurement *known = find ("pythia-1b", QM_SETTINGS_OPTIMAL);
  QmForecast there =
      forecast ("pythia-1b", known->gpu->id, QM_SETTINGS_OPTIMAL);
  QmForecast other = forecast ("pythia-1b", "a6000", QM_SETTINGS_OPTIMAL);
  const QmGpu *a6000 = qm_catalog_gpu (measured, "a6000");
  double peaks =
      qm_gpu_peak_tflops (known->gpu, known->model->recipe.precision, TRUE)
      / qm_gpu_peak_tflops (a6000, known->model->recipe.precision, TRUE);

  g_assert_cmpuint (there.n, ==, 1);
  g_assert_cmpfloat_with_epsilon (there.days, known->days, 1e-6);
  g_assert_cmpfloat_with_epsilon (other.days, known->days * peaks, 1e-6);
  g_assert_cmpfloat_with_epsilon (other.high / other.days,
                                  there.high / there.days, 1e-9);
}

/* No faster than the peak allows. */
static void
test_peak (void)
{
  QmForecast result =
      forecast ("pythia-160m", "h100-80gb-sxm", QM_SETTINGS_OPTIMAL);
  double share =
      qm_audit_utilization (qm_catalog_model (measured, "pythia-160m"),
                            qm_catalog_gpu (measured, "h100-80gb-sxm"), 1,
                            QM_SETTINGS_OPTIMAL, result.low);

  g_assert_cmpfloat (share, <=, 1 + 1e-9);
}

/* Other models stand in for one that was not measured. */
static void
test_other_model (void)
{
  QmForecast result =
      forecast ("convnext-xlarge", "a6000", QM_SETTINGS_OPTIMAL);

  g_assert_cmpuint (result.n, >, 1);
}

static void
test_nothing (void)
{
  QmForecast result;

  g_assert_false (qm_forecast_days (published,
                                    qm_catalog_model (published, "pythia-1b"),
                                    qm_catalog_gpu (published, "a6000"),
                                    QM_SETTINGS_OPTIMAL, &result));
}

int
main (int argc, char **argv)
{
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), NULL,
                                    &measured, &error),
                   ==, QM_OK);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &published, &error),
                   ==, QM_OK);
  g_test_add_func ("/forecast/same-model", test_same_model);
  g_test_add_func ("/forecast/peak", test_peak);
  g_test_add_func ("/forecast/other-model", test_other_model);
  g_test_add_func ("/forecast/nothing", test_nothing);
  status = g_test_run ();
  qm_catalog_free (measured);
  qm_catalog_free (published);
  return status;
}
