/* SPDX-License-Identifier: Apache-2.0 */

/* Sentences about the published times beside those of the yardstick,
 * translated: the same words in the window and on the command line. */

#pragma once

#include "pricing/advice/qm-comparison.h"

G_BEGIN_DECLS

/* Why they differ, and what is compared with what; static. */
const char *qm_prose_comparison_why (void);

/* By how much they differ at one kind of settings.  (transfer full) */
char *qm_prose_comparison_sum (const QmComparison *comparison,
                               QmSettings settings);

/* "Optimal" or "Naive"; static. */
const char *qm_prose_settings_name (QmSettings settings);

/* How long a training takes by one of both; "does not fit", "unknown".  Of what
 * is predicted the interval too where `interval` wants it.  `time` may be NULL.
 * (transfer full) */
char *qm_prose_compared_time (const QmMeasurement *time, gboolean interval);

/* The interval of what is predicted; "" of anything else.  (transfer full) */
char *qm_prose_compared_interval (const QmMeasurement *time);

/* "measured", "reported", "predicted"; "" where `time` is NULL; static. */
const char *qm_prose_compared_provenance (const QmMeasurement *time);

/* "impossible (119 %)" of what the GPUs can, "doubtful", or "" where the audit
 * has nothing against the published time.  (transfer full) */
char *qm_prose_compared_verdict (const QmCompared *row);

/* "0.34"; "" where there is no ratio.  (transfer full) */
char *qm_prose_compared_ratio (const QmCompared *row);

/* What the paper recommends and what the yardstick does, how long the
 * yardstick says that the first takes, and that an advice counts more than the
 * steps where it does: a sentence each, NULL-terminated.  (transfer full) */
GStrv qm_prose_comparison_answers (const QmComparison *comparison,
                                   const QmComparedAnswer *as_in_paper,
                                   const QmComparedAnswer *yardstick);

G_END_DECLS
