/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-standing.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/qm-order.h"

#include <math.h>
#include <string.h>

static gboolean
has_days (const QmMeasurement *measurement)
{
  return isfinite (measurement->days) && measurement->days > 0;
}

static void
add_standing_point (GArray *points,
                    const QmMeasurement *measurement,
                    double x,
                    double y)
{
  QmStandingPoint point = {
    .model = measurement->model,
    .gpu = measurement->gpu,
    .gpus = measurement->gpus,
    .measured = measurement->provenance == QM_PROVENANCE_MEASURED,
    .measurement = measurement,
    .x = x,
    .y = y,
  };

  if (isfinite (x) && x > 0 && isfinite (y) && y > 0)
    g_array_append_val (points, point);
}

/* The fewest GPU-days of a model on each type of GPU. */
static void
add_original (GArray *points,
              const QmCatalog *catalog,
              const QmOriginalRun *run)
{
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);
  const guint first = points->len;

  for (size_t i = 0; i < n; i++)
    {
      double here = all[i].days * all[i].gpus;
      guint j;

      if (!has_days (&all[i]) || all[i].provenance != QM_PROVENANCE_MEASURED
          || strcmp (all[i].model->id, run->model) != 0)
        continue;
      for (j = first; j < points->len; j++)
        if (g_array_index (points, QmStandingPoint, j).gpu == all[i].gpu)
          break;
      if (j == points->len)
        add_standing_point (points, &all[i], run->gpus * run->days, here);
      else if (here < g_array_index (points, QmStandingPoint, j).y)
        {
          g_array_index (points, QmStandingPoint, j).measurement = &all[i];
          g_array_index (points, QmStandingPoint, j).gpus = all[i].gpus;
          g_array_index (points, QmStandingPoint, j).y = here;
        }
    }
}

static void
add_peak (GArray *points, const QmMeasurement *measurement)
{
  if (has_days (measurement) && measurement->settings != QM_SETTINGS_NAIVE
      && measurement->provenance != QM_PROVENANCE_PREDICTED)
    add_standing_point (
        points, measurement,
        measurement->days
            * qm_audit_utilization (measurement->model, measurement->gpu,
                                    measurement->gpus, measurement->settings,
                                    measurement->days),
        measurement->days);
}

/* The naive time of the same place. */
static void
add_free_lunch (GArray *points,
                const QmCatalog *catalog,
                const QmMeasurement *best)
{
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  if (!has_days (best) || best->settings != QM_SETTINGS_OPTIMAL
      || best->provenance != QM_PROVENANCE_MEASURED)
    return;
  for (size_t i = 0; i < n; i++)
    if (all[i].settings == QM_SETTINGS_NAIVE && has_days (&all[i])
        && all[i].provenance == QM_PROVENANCE_MEASURED
        && all[i].model == best->model && all[i].gpu == best->gpu
        && all[i].gpus == best->gpus && all[i].engine == best->engine)
      {
        add_standing_point (points, best, all[i].days, best->days);
        return;
      }
}

GArray *
qm_standing_points (const QmCatalog *catalog,
                    const QmStudy *study,
                    QmStanding standing)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (QmStandingPoint));
  size_t n, n_runs = 0;
  const QmMeasurement *all;
  const QmOriginalRun *runs = NULL;

  g_return_val_if_fail (catalog != NULL, points);

  all = qm_catalog_measurements (catalog, &n);
  if (study != NULL)
    runs = qm_study_runs (study, &n_runs);
  for (size_t i = 0; standing == QM_STANDING_ORIGINAL && i < n_runs; i++)
    add_original (points, catalog, &runs[i]);
  for (size_t i = 0; standing != QM_STANDING_ORIGINAL && i < n; i++)
    if (standing == QM_STANDING_PEAK)
      add_peak (points, &all[i]);
    else if (standing == QM_STANDING_FREE_LUNCH)
      add_free_lunch (points, catalog, &all[i]);
  return points;
}

double
qm_standing_ratio (const GArray *points, QmStandingRank rank)
{
  g_autofree double *ratios = NULL;
  guint n = 0;

  g_return_val_if_fail (points != NULL, NAN);

  ratios = g_new (double, points->len + 1);
  for (guint i = 0; i < points->len; i++)
    {
      const QmStandingPoint *point =
          &g_array_index (points, QmStandingPoint, i);

      if (point->rank == rank)
        ratios[n++] = point->y / point->x;
    }
  if (n == 0)
    return NAN;
  qsort (ratios, n, sizeof *ratios, qm_order_doubles);
  return n % 2 == 1 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
}
