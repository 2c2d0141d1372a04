/* SPDX-License-Identifier: Apache-2.0 */

/* The places where nobody has measured a model, with what is predicted of
 * them: every GPU type that can be built into a machine x every number of GPUs
 * that a machine of the catalog is made for. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* A time is QM_INFEASIBLE, with NaN days, where the training does not fit into
 * the memory. */
typedef struct
{
  QmMeasurement time;   /* predicted, with its interval */
  QmForecast forecast;  /* `unsupported` is NULL */
  const QmGpu *held_by; /* a GPU that is no worse, as fast as which its time was
                           made, since that was measured and it was predicted to
                           be faster; or NULL */
  gboolean slowed;      /* it is the time in places of half the card's lanes */
} QmPredicted;

/* How many GPUs the machines of a catalog are made for: an int each, ascending.
 * (transfer full) */
GArray *qm_predictions_sizes (const QmCatalog *catalog);

/* The numbers of GPUs that a question is about: those of machines, those that
 * it asks for and those to use; "1,2,4,8".  `question` may be NULL.
 * (transfer full) */
char *qm_predictions_counts (const QmCatalog *catalog,
                             const QmQuestion *question);

/* Where a question (NULL: the catalog) has times of a model that are to be
 * audited: the GPUs, and the numbers of them, as "a6000,rtx4090" and "1,2,4".
 * FALSE: nowhere. (transfer full) */
gboolean qm_predictions_to_audit (const QmCatalog *catalog,
                                  const QmQuestion *question,
                                  const char *model,
                                  char **gpus,
                                  char **counts);

/* What is predicted for a question at one place; NULL where nothing is known.
 * Freed with g_free().  (transfer full) (nullable) */
QmPredicted *qm_predictions_make (const QmQuestion *question,
                                  const QmModel *model,
                                  const QmGpu *gpu,
                                  int gpus);

/* Adds to a selection (an array of QmSelected, pricing/advice/qm-selection.h)
 * of a model the predictions of the places that pass the question's filters, in
 * the numbers of GPUs that it asks for or else in those of machines, and of
 * which it has no time.  None is faster than what was measured of as many GPUs
 * that are no worse: with the same settings they would be as fast at least, and
 * so much is known of them.  They are added to `predictions` too, which frees
 * them with g_free(). */
void qm_predictions_add (const QmCatalog *catalog,
                         const QmQuestion *question,
                         const QmModel *model,
                         GArray *selection,
                         GPtrArray *predictions);

/* Adds to `gpus` (an array of const QmGpu*) the types that a question names, or
 * that pass its filters and that somebody sells, of which nothing can be
 * predicted of a model in any number that it asks for; to `fp8` those of which
 * it is for QM_PREDICT_NO_FP8 in one number at least. */
void qm_predictions_add_unsupported (const QmCatalog *catalog,
                                     const QmQuestion *question,
                                     const QmModel *model,
                                     GPtrArray *gpus,
                                     GPtrArray *fp8);

G_END_DECLS
