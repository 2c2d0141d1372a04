/* SPDX-License-Identifier: Apache-2.0 */

/* Which times of a model answer a question: those of the software that was
 * asked for, and what is predicted of it where it was not measured.
 *
 * A place is a GPU type and how many of them.  The times of
 *   PyTorch        are those that were measured or reported with it, or do not
 *                  say with what;
 *   Quartermaster  are those that were measured with its engine;
 *   the publication are the published ones, and no others: they were read from
 *                  a clock that did not wait for the GPU, and are compared with
 *                  nothing but themselves.
 *
 * At each place a measured time goes before a reported one, and of several the
 * shortest before the others, which stay in view as superseded.  What nobody
 * measured is predicted, where a question wants that
 * (pricing/advice/qm-predictions.h).  A place of which only times of other
 * software are known is left out, and named: two levels of software in one
 * comparison would tell apart programs, not machines.  Superseded times are not
 * recommended. */

#pragma once

#include "pricing/advice/qm-predictions.h"
#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

typedef struct
{
  const QmMeasurement *measurement; /* the catalog's or a prediction */
  gboolean superseded;           /* there is a better known one at the place */
  const QmPredicted *prediction; /* that the measurement is of, where nobody
                                    measured; else NULL */
} QmSelected;

/* Selects among the measurements of `model` that pass the question's filters
 * and are of the software that it asks for, in the order of the catalog.
 *
 * Returns: (transfer full): a GArray of QmSelected. */
GArray *qm_selection_new (const QmCatalog *catalog,
                          const QmQuestion *question,
                          const QmModel *model);

/* Appends to `left_out` the training times (const QmMeasurement*, the
 * catalog's, each once) of `model` that pass the question's filters but are of
 * other software, where the selection, with what was predicted, has nothing. */
void qm_selection_leave_out (const QmCatalog *catalog,
                             const QmQuestion *question,
                             const QmModel *model,
                             const GArray *selection,
                             GPtrArray *left_out);

/* Whether a question's filters let so many GPUs of a type through. */
gboolean
qm_selection_allows (const QmQuestion *question, const QmGpu *gpu, int gpus);

/* Whether a measurement is among the times that a question asks for. */
gboolean qm_selection_is_asked_for (const QmQuestion *question,
                                    const QmMeasurement *measurement);

G_END_DECLS
