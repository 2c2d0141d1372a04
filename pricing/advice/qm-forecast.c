/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-forecast.h"

#include "pricing/advice/qm-advice.h"

/* The share of the peak that a time implies, NaN where it says none that can be
 * believed. */
static double
share_of (const QmMeasurement *time)
{
  double share = NAN;

  if (time->feasibility != QM_FEASIBLE
      || time->provenance == QM_PROVENANCE_PREDICTED
      || qm_audit_measurement (time, &share) != QM_VERDICT_OK)
    return NAN;
  return share;
}

/* Whether two times differ by the GPU type alone. */
static gboolean
is_comparable (const QmMeasurement *a, const QmMeasurement *b)
{
  return a->model == b->model && a->gpu != b->gpu && a->gpus == b->gpus
         && a->settings == b->settings && a->provenance == b->provenance
         && a->engine == b->engine;
}

/* The greatest factor between the shares of two GPU types; 0: none. */
static double
find_spread (const QmCatalog *catalog)
{
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (catalog, &n);
  g_autofree double *shares = g_new (double, n + 1);
  double spread = 0;

  for (size_t i = 0; i < n; i++)
    shares[i] = share_of (&times[i]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (qm_known (shares[i]) && qm_known (shares[j])
          && is_comparable (&times[i], &times[j]))
        spread =
            fmax (spread, fmax (shares[i] / shares[j], shares[j] / shares[i]));
  return spread;
}

/* The geometric mean of the shares of the engine on one GPU, of one model or,
 * with NULL, of all; NaN where there is none. */
static double
mean_share (const QmCatalog *catalog,
            const QmModel *model,
            QmSettings settings,
            guint *count)
{
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (catalog, &n);
  double sum = 0;

  *count = 0;
  for (size_t i = 0; i < n; i++)
    {
      double share = share_of (&times[i]);

      if (times[i].engine != QM_ENGINE_QUARTERMASTER || times[i].gpus != 1
          || times[i].settings != settings || !qm_known (share)
          || (model != NULL && times[i].model != model))
        continue;
      sum += log (share);
      ++*count;
    }
  return *count > 0 ? exp (sum / *count) : NAN;
}

gboolean
qm_forecast_days (const QmCatalog *catalog,
                  const QmModel *model,
                  const QmGpu *gpu,
                  QmSettings settings,
                  QmForecast *forecast)
{
  double at_peak, share, spread;
  guint n;

  g_return_val_if_fail (catalog != NULL && model != NULL, FALSE);
  g_return_val_if_fail (gpu != NULL && forecast != NULL, FALSE);

  share = mean_share (catalog, model, settings, &n);
  if (n == 0)
    share = mean_share (catalog, NULL, settings, &n);
  spread = find_spread (catalog);
  /* In one day; so many days take it to the peak. */
  at_peak = qm_audit_utilization (model, gpu, 1, settings, 1);
  if (n == 0 || !(spread >= 1) || !qm_known (at_peak))
    return FALSE;
  forecast->n = n;
  forecast->days = at_peak / share;
  forecast->low = fmax (forecast->days / spread, at_peak);
  forecast->high = forecast->days * spread;
  return TRUE;
}
