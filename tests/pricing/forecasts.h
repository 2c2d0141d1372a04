/* SPDX-License-Identifier: Apache-2.0 */

/* What qm-bench would predict, made up. */

#pragma once

#include "pricing/advice/qm-forecast.h"

/* A line of it about so many GPUs, in the interval of 0.8 to 1.25 of the days;
 * with host_bytes > 0 by offloading. */
json_t *forecast_line (const char *level,
                       const char *gpu,
                       int gpus,
                       double days,
                       gint64 host_bytes);

/* A line of what does not fit. */
json_t *
misfit_line (const char *level, const char *gpu, int gpus, gint64 bytes);

/* Adds such a line, days <= 0: that it does not fit. */
void add_forecast (QmForecasts *forecasts,
                   const char *model,
                   const char *level,
                   const char *gpu,
                   int gpus,
                   double days);

/* Adds `days` / GPUs, and a thousandth more for each that goes before it, for
 * every GPU of a catalog that is a card or sold on boards, 1, 2, 4 and 8 of
 * them. */
void add_forecasts (QmForecasts *forecasts,
                    const QmCatalog *catalog,
                    const char *model,
                    const char *level,
                    double days);
