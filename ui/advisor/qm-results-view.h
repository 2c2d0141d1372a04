/* SPDX-License-Identifier: Apache-2.0 */

/* The answer: the plots, the recommendation and the table of candidates.
 *
 * Property "advisor" (QmAdvisor, construct only).
 *
 * Signal "message" (const char *text): something to tell the user in passing,
 * that a file has been written, or why it could not be.
 *
 * Actions: results.export-plot, .copy-plot (both kinds of plots),
 * .export-kind, .copy-kind (of one kind: "overall" or "experiment"),
 * .save-table, .copy-table, .copy-row (the selected row, or the table where
 * none is), .print, .zoom-in, .zoom-out, .zoom-reset.
 */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_RESULTS_VIEW (qm_results_view_get_type ())
G_DECLARE_FINAL_TYPE (
    QmResultsView, qm_results_view, QM, RESULTS_VIEW, GtkWidget)

G_END_DECLS
