/* SPDX-License-Identifier: Apache-2.0 */

/* The proposal to a funder as a file. */

#pragma once

#include "ui/advisor/qm-advisor.h"

G_BEGIN_DECLS

/* What it is written as: pages for the user's printer, LaTeX, or a text to be
 * worked on in an office program. */
typedef enum
{
  QM_PROPOSAL_PDF,
  QM_PROPOSAL_LATEX,
  QM_PROPOSAL_ODT
} QmProposalForm;

/* What the advisor asks and answers, as a proposal
 * (pricing/papers/qm-proposal.h).
 *
 * Returns: (transfer full): NULL with an error where there is nothing to
 *   propose. */
GBytes *
qm_proposal_bytes (QmAdvisor *advisor, QmProposalForm form, GError **error);

G_END_DECLS
