/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the prose share. */

#pragma once

#include "pricing/advice/qm-prose.h"

G_BEGIN_DECLS

/* That the recommendation rests on a prediction, and what would change at the
 * ends of its interval; or that a predicted candidate may be faster.
 * (transfer full) (nullable) */
char *qm_prose_warn_about_prediction (const QmAdvice *advice,
                                      const QmQuestion *question,
                                      const QmRecommendation *found);

/* Adds what to know of what nobody measured: from what it is predicted, how
 * sure that is, and whether it was seen to fit. */
void qm_prose_note_predictions (GStrvBuilder *builder,
                                const QmAdvice *advice,
                                const QmQuestion *question);

/* The GPU types of the candidates that are so, each once; NULL: none.
 * (transfer full) (nullable) */
typedef gboolean (*QmProseIs) (const QmCandidate *candidate);
char *qm_prose_gpu_names (const QmAdvice *advice, QmProseIs is);

/* Why one of the models of a question is not predicted at a level, or at all
 * of QM_FORECAST_LEVELS; NULL: all are. */
const char *qm_prose_problem (const QmQuestion *question, const char *level);

/* That the time of what is recommended, or would do, is doubtful or impossible;
 * NULL where it is neither.  (transfer full) (nullable) */
char *qm_prose_warn_about_time (const QmCandidate *best,
                                const QmQuestion *question);

/* That a run of what is recommended, or would do, takes longer than the machine
 * is to serve; NULL where it does not, or the reason says it.  (transfer full)
 * (nullable) */
char *qm_prose_warn_about_lifetime (const QmCandidate *candidate,
                                    const QmQuestion *question);

/* Why nothing is recommended where machines are left out that a run would
 * outlive: which is the closest, by how much, and what would have to change.
 * NULL where that is not why.  (transfer full) (nullable) */
char *qm_prose_why_outlived (const QmAdvice *advice,
                             const QmQuestion *question,
                             const QmRecommendation *recommendation);

/* That a candidate is left out for an impossible time.  (transfer full) */
char *qm_prose_warn_about_denied (const QmCandidate *denied,
                                  const QmQuestion *question);

/* Adds what the audit could not hold against anything predicted, and why. */
void qm_prose_note_audit (GStrvBuilder *builder,
                          const QmAdvice *advice,
                          const QmQuestion *question);

/* Adds what the user's quotes offer that is not among the candidates, and
 * why. */
void qm_prose_note_quotes (GStrvBuilder *builder,
                           const QmAdvice *advice,
                           const QmQuestion *question);

G_END_DECLS
