/* SPDX-License-Identifier: Apache-2.0 */

/* The advisor: the question in a side bar, the answer beside it. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Properties: "advisor" (QmAdvisor, construct only), "show-sidebar" (boolean)
 * and "folded" (boolean, read only: the side bar lies over the answer). */
#define QM_TYPE_ADVISOR_PAGE (qm_advisor_page_get_type ())
G_DECLARE_FINAL_TYPE (QmAdvisorPage, qm_advisor_page, QM, ADVISOR_PAGE, AdwBin)

/* The question at the side, the answer beside it. */
GtkWidget *qm_advisor_page_new (QmAdvisor *advisor);

/* Whether there is only room for one of the two. */
gboolean qm_advisor_page_get_folded (QmAdvisorPage *self);

/* The widget with the answers, where the actions of the prefix "results" are.
 * (transfer none) */
GtkWidget *qm_advisor_page_get_results (QmAdvisorPage *self);

/* Show the side bar and go to one of its controls. */
void qm_advisor_page_search_model (QmAdvisorPage *self);
void qm_advisor_page_focus_budget (QmAdvisorPage *self);

G_END_DECLS
