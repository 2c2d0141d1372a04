/* SPDX-License-Identifier: Apache-2.0 */

/* The places where nobody has measured a model, with what is predicted of
 * them: every GPU type that can be built into a machine x every number of GPUs
 * that a machine of the catalog is made for. */

#pragma once

#include "pricing/advice/qm-forecast.h"
#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* A time is QM_INFEASIBLE, with NaN days, where the training does not fit into
 * the memory. */
typedef struct
{
  QmMeasurement time; /* predicted, with its interval */
  QmForecast forecast;
  QmFit fit;
  gint64 host_bytes; /* that QM_FIT_OFFLOADING takes of the host */
} QmPrediction;

/* How many GPUs the machines of a catalog are made for: an int each, ascending.
 * (transfer full) */
GArray *qm_predictions_sizes (const QmCatalog *catalog);

/* Adds to a selection (an array of QmSelected, pricing/advice/qm-selection.h)
 * of a model the predictions of the places that pass the question's filters, in
 * the numbers of GPUs that it asks for or else in those of machines, and of
 * which it has no time that was asked for.  They are added to `predictions`
 * too, which frees them with g_free(). */
void qm_predictions_add (const QmCatalog *catalog,
                         const QmQuestion *question,
                         const QmModel *model,
                         QmForecasts *forecasts,
                         GArray *selection,
                         GPtrArray *predictions);

G_END_DECLS
