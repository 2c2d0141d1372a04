/* SPDX-License-Identifier: Apache-2.0 */

/* The proposal to a funder as a file. */

#pragma once

#include "ui/advisor/qm-advisor.h"

G_BEGIN_DECLS

/* What the advisor asks and answers, as a proposal
 * (pricing/papers/qm-proposal.h) in a PDF, on the paper of the user's printer,
 * or in LaTeX.
 *
 * Returns: (transfer full): NULL with an error where there is nothing to
 *   propose. */
GBytes *qm_proposal_bytes (QmAdvisor *advisor, gboolean as_pdf, GError **error);

G_END_DECLS
