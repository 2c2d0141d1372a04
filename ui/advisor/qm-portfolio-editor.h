/* SPDX-License-Identifier: Apache-2.0 */

/* A year's runs: which models are trained how often, and how many machines
 * must stand side by side. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_PORTFOLIO_EDITOR (qm_portfolio_editor_get_type ())
G_DECLARE_FINAL_TYPE (QmPortfolioEditor,
                      qm_portfolio_editor,
                      QM,
                      PORTFOLIO_EDITOR,
                      AdwPreferencesGroup)

/* To be called once. */
void qm_portfolio_editor_set_advisor (QmPortfolioEditor *self,
                                      QmAdvisor *advisor);

G_END_DECLS
