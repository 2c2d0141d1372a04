/* SPDX-License-Identifier: Apache-2.0 */

/* A year's runs by machines: what each run takes on each of them. */

#pragma once

#include "app/qm-cli-output.h"
#include "pricing/advice/qm-advice.h"

#include <jansson.h>

G_BEGIN_DECLS

/* Appends a table of the runs by the candidates of the frontier and what is
 * recommended (-1: nothing); nothing where it is about one training. */
void qm_cli_matrix_append (const QmAdvice *advice,
                           const QmQuestion *question,
                           int recommended,
                           GString *out,
                           const QmCliScreen *screen);

/* Adds to a candidate's object what its runs are, "runs" (null where it is
 * about one training), and "longest_days", "machine_days", "busy", "late",
 * "unfunded" and "cost", in the question's money. */
void qm_cli_matrix_add (json_t *object,
                        const QmAdvice *advice,
                        const QmQuestion *question,
                        const QmCandidate *candidate);

/* The money that a question counts in. */
json_t *qm_cli_matrix_purse (const QmPurse *purse);

G_END_DECLS
