/* SPDX-License-Identifier: Apache-2.0 */

/* How long the trainings of a question take where nobody measured them, as
 * qm-bench predicts it. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* Asks qm-bench, and waits for it; `arguments` end with NULL.
 * (transfer full) (nullable): the lines of its answer, a json_t * each. */
GPtrArray *qm_cli_forecast_ask (const char *const *arguments, GError **error);

/* Asks qm-bench about every model of the question, also what is to be audited,
 * and waits for it.  That it does not answer the advice says. */
void qm_cli_forecast (QmQuestion *question, const QmCatalog *catalog);

/* The same of what this project's engine takes on so many GPUs alone, whatever
 * software the question is about. */
void qm_cli_forecast_engine (QmQuestion *question,
                             const char *model,
                             const QmGpu *gpu,
                             int gpus);

/* What the times of a catalog are to be held against: asks qm-bench about all
 * models that have some, and waits for it.  What it does not answer is not
 * predicted.  (transfer full) */
QmForecasts *qm_cli_forecast_audits (const QmCatalog *catalog);

/* Has predicted what every time of a model in the catalog is to be held
 * against, published ones too, and waits for it. */
void qm_cli_forecast_audit (QmForecasts *forecasts,
                            const QmCatalog *catalog,
                            const char *model,
                            QmGpuLink link);

G_END_DECLS
