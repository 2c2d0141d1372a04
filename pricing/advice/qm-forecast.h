/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training will take on a GPU on which it was not measured.
 *
 * A time implies a share of the GPU's peak (pricing/advice/qm-advice.h).  The
 * forecast is the time at the geometric mean of the shares that were measured
 * of the same model with this project's engine on other machines; where it has
 * none, of all models.
 *
 * Its interval is from that time divided by the greatest factor to that time
 * multiplied by it, by which the shares of one model on as many GPUs with the
 * same settings and software differ between two GPU types, among all plausible
 * times of the catalog, published ones too.  It ends where the peak would be
 * reached. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  double days, low, high;
  guint n; /* measured times that it rests on */
} QmForecast;

/* Returns FALSE where nothing was measured, no two GPU types can be compared or
 * the GPU's peak is not known. */
gboolean qm_forecast_days (const QmCatalog *catalog,
                           const QmModel *model,
                           const QmGpu *gpu,
                           QmSettings settings,
                           QmForecast *forecast);

G_END_DECLS
