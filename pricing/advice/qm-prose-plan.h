/* SPDX-License-Identifier: Apache-2.0 */

/* Sentences about a year's runs on one candidate, translated: how many machines
 * and why, what each run takes, how busy they are, what it comes to in the
 * user's money.  And the words of the matrix of runs by machines. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

/* The sentences, of which those about single runs come one after the other.
 * NULL-terminated; empty where it is no portfolio or a time is missing, but for
 * what it costs.  (transfer full) */
GStrv qm_prose_plan (const QmAdvice *advice,
                     const QmQuestion *question,
                     const QmCandidate *candidate);

/* The days of a run, "12 days", or why there are none: "does not fit", "no time
 * known".  (transfer full) */
char *qm_prose_run_days (const QmRunTime *run);

/* Whose time it is, as qm_prose_times_of() has it of a candidate; NULL where
 * there is none.  (transfer full) (nullable) */
char *qm_prose_run_times_of (const QmRunTime *run);

/* What the money of the question is, where that is not USD without tax, and at
 * which rate: one sentence.  (transfer full) (nullable) */
char *qm_prose_purse (const QmPurse *purse);

G_END_DECLS
