/* SPDX-License-Identifier: Apache-2.0 */

/* The answer to a year's runs: what to buy, how many of them and how busy they
 * are, and what each run takes on each machine of the frontier.  It is there
 * while the advisor advises on a year. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_YEAR_VIEW (qm_year_view_get_type ())
G_DECLARE_FINAL_TYPE (QmYearView, qm_year_view, QM, YEAR_VIEW, GtkWidget)

/* To be called once. */
void qm_year_view_set_advisor (QmYearView *self, QmAdvisor *advisor);

G_END_DECLS
