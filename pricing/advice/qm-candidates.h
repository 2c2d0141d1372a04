/* SPDX-License-Identifier: Apache-2.0 */

/* From measurements and prices to candidates; the first half of an advice. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

/* The candidates of a question whose models and GPUs have been checked.  Times
 * that had to be predicted are added to `predictions`, which frees them and
 * must outlive the candidates; what single runs of a portfolio take to
 * `run_times`, an array of QmRunTime, in which a candidate has those from its
 * `first_run` on, in the order of the question; times of other software than
 * was asked for to `left_out`, as qm_advice_left_out() has them.
 *
 * Returns: (transfer full): a GArray of QmCandidate; `on_frontier` is not set
 *   yet. */
GArray *qm_candidates_build (const QmCatalog *catalog,
                             const QmQuestion *question,
                             GPtrArray *predictions,
                             GArray *run_times,
                             GPtrArray *left_out);

G_END_DECLS
