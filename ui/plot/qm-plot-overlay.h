/* SPDX-License-Identifier: Apache-2.0 */

/* What is drawn above the points; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-clutter.h"
#include "ui/plot/qm-plot-private.h"

G_BEGIN_DECLS

/* Labels keep this far from the edges. */
#define QM_PLOT_LABEL_EDGE 3.0

/* From the marker to the ring of what is recommended, and its width. */
#define QM_PLOT_RECOMMENDED_GAP  4.5
#define QM_PLOT_RECOMMENDED_RING 2.4

typedef struct
{
  cairo_t *cr;
  const QmPlotData *data;
  const QmPlotTheme *theme;
  const QmPlotFrame *frame;
  const QmPlotLayout *layout;
  QmPlotText *text;
  QmPlotClutter clutter;
  const QmPlotSpot *spots;
  guint n_spots;
  gboolean faint_bars;
  QmPlotBox area; /* where labels may be */
} QmPlotOverlay;

/* A background that labels can be read on, whatever lies below. */
void
qm_plot_overlay_set_halo (cairo_t *cr, const QmPlotTheme *theme, double alpha);

/* Whether x (or, `vertical`, y) has a limit that can be drawn. */
gboolean qm_plot_overlay_has_limit (const QmPlotOverlay *overlay,
                                    gboolean vertical);

/* Where the limit of an axis lies, kept within the plotting area; `beyond`
 * becomes -1 or 1 where it really lies before or after it. */
double qm_plot_overlay_limit (const QmPlotOverlay *overlay,
                              gboolean vertical,
                              int *beyond);

/* Where a point lies.  Returns NULL where it is not in sight. */
const QmPlotPoint *qm_plot_overlay_locate (const QmPlotOverlay *overlay,
                                           int index,
                                           double *x,
                                           double *y);

/* How far its marker reaches from its middle. */
double qm_plot_overlay_reach (const QmPlotOverlay *overlay,
                              const QmPlotPoint *point);

/* Draws the labels of limits, of what is recommended, of the frontier and of
 * what is hovered, where they do not cover each other. */
void qm_plot_draw_labels (QmPlotOverlay *overlay);

G_END_DECLS
