/* SPDX-License-Identifier: Apache-2.0 */

/* Comparisons of "$100K or 100 Days" (arXiv 2410.23261) with the times that the
 * catalog has: what trainings took first and take here, what the peak of GPUs
 * says and what was measured, what free-lunch settings gain. */

#pragma once

#include "data/catalog.h"
#include "data/study.h"

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  QM_STANDING_ORIGINAL, /* GPU-days of the original training, and here the
                           fewest on each type of GPU that measured it */
  QM_STANDING_PEAK,     /* days that the FLOPs take at the peak, and those that
                           are known */
  QM_STANDING_FREE_LUNCH, /* days with naive settings, and with the best */
  QM_N_STANDINGS
} QmStanding;

typedef struct
{
  const QmMeasurement *measurement; /* that `y` is of; the catalog's */
  double x, y;                      /* both above 0 */
} QmStandingPoint;

/* Measured times, and of QM_STANDING_PEAK reported and published ones, too, as
 * far as both sides are known.
 *
 * Returns: (transfer full): of QmStandingPoint. */
GArray *qm_standing_points (const QmCatalog *catalog,
                            const QmStudy *study,
                            QmStanding standing);

/* The median of y / x; NaN where there are no points. */
double qm_standing_ratio (const GArray *points);

G_END_DECLS
