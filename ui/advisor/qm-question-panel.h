/* SPDX-License-Identifier: Apache-2.0 */

/* The side panel: every control of the question. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUESTION_PANEL (qm_question_panel_get_type ())
G_DECLARE_FINAL_TYPE (
    QmQuestionPanel, qm_question_panel, QM, QUESTION_PANEL, AdwBin)

GtkWidget *qm_question_panel_new (QmAdvisor *advisor);

/* Opens the list of models with the focus in its search. */
void qm_question_panel_search_model (QmQuestionPanel *self);

/* Moves the focus to the budget. */
void qm_question_panel_focus_budget (QmQuestionPanel *self);

G_END_DECLS
