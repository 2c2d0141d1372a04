/* SPDX-License-Identifier: Apache-2.0 */

/* A candidate to be taken along: its settings for Transformers or DeepSpeed, to
 * be copied or saved, and a page about it as a PDF. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_TAKE_AWAY_WINDOW (qm_take_away_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmTakeAwayWindow, qm_take_away_window, QM, TAKE_AWAY_WINDOW, AdwWindow)

/* About the candidate that is selected, else the recommended one; NULL where
 * there is neither. */
GtkWidget *qm_take_away_window_new (GtkWindow *parent, QmAdvisor *advisor);

G_END_DECLS
