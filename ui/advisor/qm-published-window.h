/* SPDX-License-Identifier: Apache-2.0 */

/* The published times against the yardstick: why they differ and by how much,
 * what both recommend at the advisor's budget, and a table of all places. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_PUBLISHED_WINDOW (qm_published_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmPublishedWindow, qm_published_window, QM, PUBLISHED_WINDOW, AdwWindow)

/* Shows the model that the advisor advises on, where times of it are published,
 * else all of them.  What was not measured is predicted meanwhile. */
GtkWidget *qm_published_window_new (GtkWindow *parent, QmAdvisor *advisor);

G_END_DECLS
