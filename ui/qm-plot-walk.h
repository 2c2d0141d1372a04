/* SPDX-License-Identifier: Apache-2.0 */

/* Walking the points of a plot one by one. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_WALK_LEFT,  /* smaller x */
  QM_PLOT_WALK_RIGHT, /* larger x */
  QM_PLOT_WALK_DOWN,  /* smaller y */
  QM_PLOT_WALK_UP,    /* larger y */
  QM_PLOT_WALK_FIRST, /* smallest x */
  QM_PLOT_WALK_LAST   /* largest x */
} QmPlotWalk;

/* The next point from point `from` among those that can be drawn, whether or
 * not they are in the visible range.  Points of the same x follow each other by
 * y and the other way round, so that every point is reached.  At the end, the
 * way stops where it is.  From a point that is not drawn (-1), the walk starts
 * at its beginning.  Returns -1 where no point can be drawn. */
int qm_plot_walk (const QmPlotData *data, int from, QmPlotWalk walk);

G_END_DECLS
