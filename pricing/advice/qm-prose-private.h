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

/* Adds what the user's quotes offer that is not among the candidates, and
 * why. */
void qm_prose_note_quotes (GStrvBuilder *builder,
                           const QmAdvice *advice,
                           const QmQuestion *question);

G_END_DECLS
