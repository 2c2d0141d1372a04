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
  QM_STANDING_MEMORY, /* days with free-lunch settings alone, and with methods
                         that save memory, too */
  QM_N_STANDINGS
} QmStanding;

/* Which of the ways that save memory. */
typedef enum
{
  QM_STANDING_BEST,
  QM_STANDING_MIDDLE, /* the median */
  QM_STANDING_WORST,
  QM_N_STANDING_RANKS
} QmStandingRank;

/* Pointers are the catalog's. */
typedef struct
{
  const QmModel *model;
  const QmGpu *gpu;
  int gpus;
  gboolean measured;
  const QmMeasurement *measurement; /* that `y` is of; NULL: of no single one,
                                       as of QM_STANDING_MEMORY */
  QmStandingRank rank;              /* of QM_STANDING_MEMORY */
  double x, y;                      /* both above 0 */
} QmStandingPoint;

/* Measured times, and of QM_STANDING_PEAK reported and published ones, too, as
 * far as both sides are known.  None of QM_STANDING_MEMORY.
 *
 * Returns: (transfer full): of QmStandingPoint. */
GArray *qm_standing_points (const QmCatalog *catalog,
                            const QmStudy *study,
                            QmStanding standing);

/* Those of QM_STANDING_MEMORY, of the results files in a folder, of which those
 * that cannot be read are left out: of each model, GPU, number of GPUs and
 * software the fastest, the median and the slowest of all ways that save
 * memory. A way that was cut as too slow counts as slower than all that were
 * measured, so that the slowest is not known then.
 *
 * Returns: (transfer full): of QmStandingPoint. */
GArray *qm_standing_memory_points (const QmCatalog *catalog,
                                   const char *folder);

/* The median of y / x of a rank, which of others than QM_STANDING_MEMORY is
 * QM_STANDING_BEST; NaN where there are no points. */
double qm_standing_ratio (const GArray *points, QmStandingRank rank);

G_END_DECLS
