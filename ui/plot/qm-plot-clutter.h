/* SPDX-License-Identifier: Apache-2.0 */

/* Where in a plot a label covers least; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-private.h"

G_BEGIN_DECLS

#define QM_PLOT_MAX_LABELS 32

/* Counts of markers, bars and steps of the frontier on a coarse grid, summed so
 * that those under any box are known from four of them, and the boxes of
 * labels. */
typedef struct
{
  QmPlotBox area; /* the plotting area */
  int columns, rows;
  double columns_per_unit, rows_per_unit;
  int *sums; /* (columns + 1) x (rows + 1) */
  QmPlotBox taken[QM_PLOT_MAX_LABELS];
  guint n_taken;
} QmPlotClutter;

void qm_plot_clutter_init (QmPlotClutter *clutter,
                           const QmPlotData *data,
                           const QmPlotTheme *theme,
                           const QmPlotLayout *layout,
                           const QmPlotSpot *spots,
                           guint n);
void qm_plot_clutter_clear (QmPlotClutter *clutter);

/* Keeps others away from a box. */
void qm_plot_clutter_take (QmPlotClutter *clutter, const QmPlotBox *box);

/* How much a box covers; 0 is nothing. */
double qm_plot_clutter_cost (const QmPlotClutter *clutter,
                             const QmPlotBox *box);

/* Moves a box of a given size to where it covers least around a marker of
 * `radius` in the middle of (x, y), and stays within `bounds`, with `near` only
 * right beside the marker.  Returns how far from the marker it came to be. */
double qm_plot_clutter_place (const QmPlotClutter *clutter,
                              const QmPlotBox *bounds,
                              double x,
                              double y,
                              double radius,
                              gboolean near,
                              QmPlotBox *box);

/* Moves a box of a given size right beside such a marker, to where it covers
 * nothing.  Returns FALSE where there is no such place within `bounds`. */
gboolean qm_plot_clutter_find_free (const QmPlotClutter *clutter,
                                    const QmPlotBox *bounds,
                                    double x,
                                    double y,
                                    double radius,
                                    QmPlotBox *box);

G_END_DECLS
