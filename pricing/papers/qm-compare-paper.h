/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes side by side as a document. */

#pragma once

#include "pricing/papers/qm-paper.h"
#include "pricing/quotes/qm-quote-compare.h"

G_BEGIN_DECLS

/* A table of what quotes come to, offer, take and cost, one column for each,
 * which is best by each measure, and what to know about the numbers.
 * (transfer full) */
QmPaper *qm_compare_paper_new (const QmQuoteComparison *comparison);

G_END_DECLS
