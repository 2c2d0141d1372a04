/* SPDX-License-Identifier: Apache-2.0 */

/* Has times predicted by qm-bench in a child process, one model after the
 * other, and each once for a level of software. */

#pragma once

#include "pricing/advice/qm-forecast.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_TYPE_FORECASTER (qm_forecaster_get_type ())
G_DECLARE_FINAL_TYPE (QmForecaster, qm_forecaster, QM, FORECASTER, GObject)

/* A new one knows nothing.  Signal "changed": an answer is there, or failed. */
QmForecaster *qm_forecaster_new (void);

/* Asks about a model of the catalog, at a level of software
 * (pricing/advice/qm-forecast.h), or several between commas, on a GPU, several
 * or "all", in numbers such as "1,2,4,8". */
void qm_forecaster_ask (QmForecaster *self,
                        const char *model,
                        const char *level,
                        const char *gpu,
                        const char *counts);

/* What is known by now.  After qm_forecaster_forget() it is another.
 * (transfer none) */
QmForecasts *qm_forecaster_get (QmForecaster *self);

/* Ends what is under way, and forgets all answers. */
void qm_forecaster_forget (QmForecaster *self);

G_END_DECLS
