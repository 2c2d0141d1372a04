/* SPDX-License-Identifier: Apache-2.0 */

/* What the parts of a proposal share. */

#pragma once

#include "pricing/papers/qm-proposal.h"

G_BEGIN_DECLS

typedef struct
{
  const QmProposal *proposal;
  const QmCandidate *candidate; /* that is proposed */
  QmPaper *paper;
} QmProposalMaker;

/* USD cents without tax in the money of the question, as people read it.
 * (transfer full) */
char *qm_proposal_money (const QmProposalMaker *maker,
                         double usd_minor,
                         gboolean with_tax);

/* Sets a cell to such an amount, without tax; nothing where it is NaN. */
void qm_proposal_set_money (const QmProposalMaker *maker,
                            QmPaperCell *cell,
                            double usd_minor,
                            gboolean with_tax);

/* Sets a cell to a number; nothing where it is NaN. */
void qm_proposal_set_number (QmPaperCell *cell, double value, int decimals);

/* Days of training on all machines in a year, or of one training. */
double qm_proposal_work_days (const QmProposalMaker *maker);

/* The sections about money. */
void qm_proposal_add_cost (const QmProposalMaker *maker);
void qm_proposal_add_sensitivity (const QmProposalMaker *maker);
void qm_proposal_add_rent (const QmProposalMaker *maker);
void qm_proposal_add_rules (const QmProposalMaker *maker);

G_END_DECLS
