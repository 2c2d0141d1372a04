/* SPDX-License-Identifier: Apache-2.0 */

/* A proposal to a funder, from a question and its answer: what is asked for,
 * the need, what is proposed and why nothing cheaper or dearer, what it costs,
 * what depends on price, time and use, what renting would cost, and what the
 * numbers rest on.  What the program does not know, it does not state: why the
 * work is done, and whether other machines could be used. */

#pragma once

#include "data/funders.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/papers/qm-paper.h"

G_BEGIN_DECLS

typedef struct
{
  const QmCatalog *catalog;
  const QmQuestion *question;
  const QmAdvice *advice;     /* its answer */
  QmRecommendation found;     /* within the question's limits */
  const QmFunderRules *rules; /* NULL: none */
  double project_months;      /* that the machine is written off over; 0:
                                 nobody says */
  QmDate today;
} QmProposal;

/* The document; NULL where nothing can be proposed.  (transfer full) */
QmPaper *qm_proposal_paper_new (const QmProposal *proposal);

G_END_DECLS
