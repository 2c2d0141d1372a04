/* SPDX-License-Identifier: Apache-2.0 */

/* All plots of the advisor.  With one topic the plots of both kinds stand side
 * by side, or one above the other where that is too narrow.  With several
 * topics each kind is a grid of small multiples.  Spare height goes to the
 * plots. */

#pragma once

#include "ui/advisor/qm-advice-source.h"
#include "ui/qm-plot-view.h"

G_BEGIN_DECLS

#define QM_TYPE_PLOT_GRID (qm_plot_grid_get_type ())
G_DECLARE_FINAL_TYPE (QmPlotGrid, qm_plot_grid, QM, PLOT_GRID, GtkWidget)

/* Shows another advisor's topics; NULL: none. */
void qm_plot_grid_set_advisor (QmPlotGrid *self, QmAdvisor *advisor);

/* The view of a topic, or NULL.  (transfer none) (nullable) */
QmPlotView *
qm_plot_grid_get_view (QmPlotGrid *self, guint topic, QmAdvicePlotKind kind);

/* Zooms all plots, each at its own point of interest. */
void qm_plot_grid_zoom (QmPlotGrid *self, double factor);
void qm_plot_grid_zoom_reset (QmPlotGrid *self);

/* How `n` small multiples are arranged in `width`: the number of columns, with
 * rows as even as possible.  `least` is the width of a plot that can still be
 * read. */
guint qm_plot_grid_columns (guint n, int width, int least, int gap);

G_END_DECLS
