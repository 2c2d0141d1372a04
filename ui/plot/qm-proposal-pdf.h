/* SPDX-License-Identifier: Apache-2.0 */

/* A proposal (pricing/papers/qm-proposal.h) as pages, with the plot of its
 * answer as the one figure. */

#pragma once

#include "pricing/papers/qm-proposal.h"
#include "ui/plot/qm-paper-pdf.h"

G_BEGIN_DECLS

/* (transfer full): NULL where Cairo failed. */
GBytes *qm_proposal_to_pdf (const QmProposal *proposal,
                            const QmPaper *paper,
                            QmPageSize size);

G_END_DECLS
