/* SPDX-License-Identifier: Apache-2.0 */

/* What there is to draw; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-axis.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* Whether a point can be drawn at all. */
static inline gboolean
qm_plot_point_drawable (const QmPlotData *data, const QmPlotPoint *point)
{
  return !(point->flags & QM_PLOT_POINT_HIDDEN)
         && ABS (point->x) <= QM_PLOT_VALUE_MAX
         && ABS (point->y) <= QM_PLOT_VALUE_MAX
         && (!data->x.log || point->x >= QM_PLOT_LOG_MIN)
         && (!data->y.log || point->y >= QM_PLOT_LOG_MIN);
}

/* What the points that can be drawn are like. */
typedef struct
{
  guint n;
  QmPlotSpan x, y;
  guint weight;      /* the greatest */
  guint provenances; /* 1 << QmPlotProvenance for each that occurs */
  gboolean crossed;  /* some are crossed out */
} QmPlotContents;

void qm_plot_contents_init (QmPlotContents *contents, const QmPlotData *data);

G_END_DECLS
