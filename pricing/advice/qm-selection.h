/* SPDX-License-Identifier: Apache-2.0 */

/* Which times of a model answer a question: those of the software that was
 * asked for, and what takes their place where it was not measured.
 *
 * A place is a GPU type and how many of them.  The times of
 *   PyTorch        are the published ones, which were taken with it, and those
 *                  that were measured with it or do not say with what;
 *   Quartermaster  are those that were measured with its engine;
 *   the publication are the published ones and those that do not say.
 *
 * At each place a measured time goes before a published one and that before a
 * predicted one; the others stay in view as superseded.  Where the software was
 * not measured but the other one was, its time is predicted
 * (pricing/advice/qm-engine-factor.h); what nobody measured at all is added
 * where a question wants that (pricing/advice/qm-predictions.h).  Where that
 * cannot be done either, the time of the other software stays in view as
 * foreign, but for the times of the publication, which stand alone.  Neither
 * superseded nor foreign times are recommended. */

#pragma once

#include "pricing/advice/qm-engine-factor.h"
#include "pricing/advice/qm-predictions.h"
#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

typedef struct
{
  const QmMeasurement *measurement; /* the catalog's or a prediction */
  gboolean foreign;                 /* of other software than was asked for */
  gboolean superseded;            /* there is a better known one at the place */
  const QmPrediction *prediction; /* that the measurement is of, where nobody
                                     measured; else NULL */
} QmSelected;

/* Selects among the measurements of `model` that pass the question's filters,
 * in the order of the catalog.  Predictions that are made are added to
 * `predictions`, which frees them and must outlive the result.
 *
 * Returns: (transfer full): a GArray of QmSelected. */
GArray *qm_selection_new (const QmCatalog *catalog,
                          const QmQuestion *question,
                          const QmModel *model,
                          const QmEnginePairs *pairs,
                          GPtrArray *predictions);

/* Whether a question's filters let so many GPUs of a type through. */
gboolean
qm_selection_allows (const QmQuestion *question, const QmGpu *gpu, int gpus);

/* Whether a measurement is among the times that a question asks for. */
gboolean qm_selection_is_asked_for (const QmQuestion *question,
                                    const QmMeasurement *measurement);

G_END_DECLS
