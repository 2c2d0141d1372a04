/* SPDX-License-Identifier: Apache-2.0 */

/* A request for quotation as a document, and what offers say to it. */

#pragma once

#include "pricing/advice/qm-request.h"
#include "pricing/papers/qm-paper.h"

G_BEGIN_DECLS

/* The specification as vendors get it: no brand, no budget.
 * (transfer full) */
QmPaper *qm_request_paper_new (const QmRequest *request);

/* Which offers of a comparison are complete, and which requirement each of them
 * meets; the trainings of the request have been added to the comparison in
 * their order.  (transfer full) */
QmPaper *qm_answers_paper_new (const QmRequest *request,
                               const QmCatalog *catalog,
                               const QmQuoteComparison *comparison);

/* So many offers procurement rules mostly want to see. */
#define QM_OFFERS_WANTED 3

G_END_DECLS
