/* SPDX-License-Identifier: Apache-2.0 */

/* How long what is to be measured will take, as it is predicted. */

#include "config.h"

#include "ui/machine/qm-bench-session-private.h"

#include <math.h>

#define LEVEL "engine"

/* Predicts a row that saves no memory and trains with all methods: of the best
 * way such is known, of others not. */
static QmBenchFigure
figure_of (QmBenchSession *self, QmBenchRow *row)
{
  const QmBenchFigure unknown = { NAN, NAN, NAN };
  const QmCatalog *catalog = qm_catalog_keeper_get (self->keeper);
  const char *model = qm_bench_row_get_model (row);
  int gpus = qm_bench_row_get_gpus (row);
  g_autofree char *count = g_strdup_printf ("%d", gpus);
  const QmGpu *gpu =
      self->gpu != NULL ? qm_catalog_gpu (catalog, self->gpu) : NULL;
  const QmForecast *forecast;

  if (gpu == NULL || qm_catalog_model (catalog, model) == NULL
      || qm_bench_row_get_checkpointing (row)
      || !g_str_equal (qm_bench_row_get_offloading (row), "none")
      || g_str_equal (qm_bench_row_get_settings (row), "naive"))
    return unknown;
  qm_forecaster_ask (self->forecaster, model, LEVEL, gpu->id, count);
  forecast = qm_forecasts_look (qm_forecaster_get (self->forecaster), model,
                                LEVEL, gpu, gpus);
  if (forecast == NULL || forecast->fit != QM_FIT_WELL
      || forecast->checkpointing
      || !g_str_equal (forecast->sharding, qm_bench_row_get_sharding (row)))
    return unknown;
  return (QmBenchFigure){ forecast->days, forecast->low, forecast->high };
}

void
qm_bench_session_predict (QmBenchSession *self, QmBenchRow *row)
{
  qm_bench_row_set_predicted (row, figure_of (self, row));
}

void
qm_bench_session_predict_rows (QmBenchSession *self)
{
  GListModel *rows = G_LIST_MODEL (self->rows);
  guint n = g_list_model_get_n_items (rows);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);

      qm_bench_session_predict (self, row);
    }
  qm_bench_session_tell (self);
}

void
qm_bench_session_predict_again (QmBenchSession *self)
{
  qm_forecaster_forget (self->forecaster);
  qm_bench_session_predict_rows (self);
}
