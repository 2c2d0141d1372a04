/* SPDX-License-Identifier: Apache-2.0 */

/* Where a lab stands: what researchers of a survey have, with this lab's own
 * beside it, and the other comparisons of the publication as plots. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_STANDING_WINDOW (qm_standing_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmStandingWindow, qm_standing_window, QM, STANDING_WINDOW, AdwWindow)

/* The lab's own are the GPUs to use and this machine, as the advisor knows them
 * now. */
GtkWidget *qm_standing_window_new (GtkWindow *parent, QmAdvisor *advisor);

G_END_DECLS
