/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/pricing/forecasts.h"

json_t *
forecast_line (const char *level,
               const char *gpu,
               int gpus,
               double days,
               gint64 host_bytes)
{
  return json_pack (
      "{s:s, s:s, s:i, s:b, s:f, s:f, s:f, s:I, s:i, s:b, s:s, s:b, s:s}",
      "gpu_id", gpu, "level", level, "gpus", gpus, "fits", TRUE, "days", days,
      "days_low", 0.8 * days, "days_high", 1.25 * days, "host_bytes",
      (json_int_t) host_bytes, "micro_batch", 16, "checkpointing", FALSE,
      "sharding", host_bytes > 0 ? "zero_2" : "none", "offloading",
      host_bytes > 0, "bound", "power");
}

json_t *
misfit_line (const char *level, const char *gpu, int gpus, gint64 bytes)
{
  return json_pack ("{s:s, s:s, s:i, s:b, s:I}", "gpu_id", gpu, "level", level,
                    "gpus", gpus, "fits", FALSE, "smallest_bytes",
                    (json_int_t) bytes);
}

void
add_forecast (QmForecasts *forecasts,
              const char *model,
              const char *level,
              const char *gpu,
              int gpus,
              double days)
{
  json_t *line = days > 0 ? forecast_line (level, gpu, gpus, days, 0)
                          : misfit_line (level, gpu, gpus, 1);

  g_assert_nonnull (line);
  g_assert_true (qm_forecasts_add (forecasts, model, line));
  json_decref (line);
}

void
add_forecasts (QmForecasts *forecasts,
               const QmCatalog *catalog,
               const char *model,
               const char *level,
               double days)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (qm_gpu_is_card (&gpus[i]) || qm_gpu_is_mezzanine (&gpus[i]))
      for (int count = 1; count <= 8; count *= 2)
        add_forecast (forecasts, model, level, gpus[i].id, count,
                      days * (1 + (double) i / 1000) / count);
}
