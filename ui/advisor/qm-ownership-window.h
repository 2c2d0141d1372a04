/* SPDX-License-Identifier: Apache-2.0 */

/* What the selected machine, or else the recommended one, costs over its life,
 * and whether renting would be cheaper: every part of the sum with a switch and
 * its assumptions, each with its source. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_OWNERSHIP_WINDOW (qm_ownership_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmOwnershipWindow, qm_ownership_window, QM, OWNERSHIP_WINDOW, AdwWindow)

/* A window above `parent`, which may be NULL.  What is switched on and assumed
 * is the advisor's. */
GtkWidget *qm_ownership_window_new (GtkWindow *parent, QmAdvisor *advisor);

G_END_DECLS
