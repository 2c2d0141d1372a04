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

/* What a measure is called: "Pythia 1B: days of one training".
 * (transfer full) */
char *qm_compare_measure_text (const QmQuoteComparison *comparison,
                               const QmComparedMeasure *measure);

/* The parts that a quote lacks, "server, host memory"; NULL: none.
 * (transfer full) (nullable) */
char *qm_compare_lacks_text (guint parts);

G_END_DECLS
