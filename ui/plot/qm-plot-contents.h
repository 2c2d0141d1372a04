/* SPDX-License-Identifier: Apache-2.0 */

/* What there is to draw; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-axis.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* Whether a point has a place on the axes. */
static inline gboolean
qm_plot_point_placed (const QmPlotData *data, const QmPlotPoint *point)
{
  return ABS (point->x) <= QM_PLOT_VALUE_MAX
         && ABS (point->y) <= QM_PLOT_VALUE_MAX
         && (!data->x.log || point->x >= QM_PLOT_VALUE_MIN
             || (data->x.zero && point->x == 0))
         && (!data->y.log || point->y >= QM_PLOT_VALUE_MIN);
}

/* Whether it can be drawn, and is to be. */
static inline gboolean
qm_plot_point_drawable (const QmPlotData *data, const QmPlotPoint *point)
{
  return !(point->flags & QM_PLOT_POINT_HIDDEN)
         && qm_plot_point_placed (data, point);
}

/* The interval of a point along an axis, one of x_intervals and y_intervals;
 * NULL where there is none that both ends of can be drawn. */
static inline const QmPlotInterval *
qm_plot_interval_at (const QmPlotAxis *axis,
                     const QmPlotInterval *intervals,
                     guint index)
{
  const QmPlotInterval *interval = intervals + index;

  return intervals != NULL && ABS (interval->low) <= QM_PLOT_VALUE_MAX
                 && ABS (interval->high) <= QM_PLOT_VALUE_MAX
                 && (!axis->log || interval->low >= QM_PLOT_VALUE_MIN)
                 && (!axis->log || interval->high >= QM_PLOT_VALUE_MIN)
             ? interval
             : NULL;
}

/* The style of a point's series. */
static inline guint
qm_plot_point_style (const QmPlotData *data, const QmPlotPoint *point)
{
  guint style = point->series < data->n_series
                    ? data->series[point->series].style
                    : point->series;

  return style % QM_PLOT_N_LOOKS;
}

/* What the points that can be drawn are like. */
typedef struct
{
  guint n;
  guint n_zero;      /* those of them with an x that the axis has not */
  QmPlotSpan x, y;   /* of those that the axes have */
  guint64 styles;    /* 1 << style for each that occurs */
  guint weight;      /* the greatest */
  guint zero_weight; /* likewise, of those that `n_zero` counts */
  guint provenances; /* 1 << QmPlotProvenance for each that occurs */
  gboolean crossed;  /* some are */
  gboolean grey;     /* some are */
} QmPlotContents;

void qm_plot_contents_init (QmPlotContents *contents, const QmPlotData *data);

G_END_DECLS
