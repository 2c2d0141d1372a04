/* SPDX-License-Identifier: Apache-2.0 */

/* Visible ranges and ticks; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-text.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* Values beyond these count as infinite: what is left of a double's range keeps
 * every sum and product of an axis finite. */
#define QM_PLOT_VALUE_MAX 1e100
#define QM_PLOT_VALUE_MIN 1e-100

/* A visible range: finite, min < max, on a logarithmic axis both positive. */
typedef struct
{
  double min, max;
  double tick_min; /* no tick lies below */
  gboolean log;
} QmPlotRange;

/* What the points of a plot span in one direction. */
typedef struct
{
  gboolean known; /* there is a point */
  double min, max;
} QmPlotSpan;

/* The range of an axis `length` user units long: what the axis asks for and
 * else the data's, with `padding` user units to spare on either side; linear
 * axes begin at zero where that costs less than half their length. */
void qm_plot_range_init (QmPlotRange *range,
                         const QmPlotAxis *axis,
                         const QmPlotSpan *span,
                         double length,
                         double padding);

/* Place of a value on the axis: 0 at min, 1 at max. */
double qm_plot_range_fraction (const QmPlotRange *range, double value);

#define QM_PLOT_MAX_TICKS 12
#define QM_PLOT_MAX_MINOR 160

typedef struct
{
  double value;
  char *label;
  double width; /* of the label */
  guint unit;   /* of times: the QmPlotTimeUnit that it is told in */
} QmPlotTick;

/* Labelled ticks and the minor ones of a logarithmic axis, in rising order. */
typedef struct
{
  QmPlotTick major[QM_PLOT_MAX_TICKS];
  guint n_major;
  double minor[QM_PLOT_MAX_MINOR];
  guint n_minor;
} QmPlotTicks;

/* Chooses the ticks of an axis `length` user units long: round values, as many
 * as stand comfortably apart, at least three where that many can stand without
 * touching. */
void qm_plot_ticks_init (QmPlotTicks *ticks,
                         const QmPlotAxis *axis,
                         const QmPlotRange *range,
                         double length,
                         gboolean vertical,
                         QmPlotText *text);

/* Writes the labels anew with units in short, where there are units. */
void qm_plot_ticks_shorten (QmPlotTicks *ticks,
                            const QmPlotAxis *axis,
                            QmPlotText *text);

void qm_plot_ticks_clear (QmPlotTicks *ticks);

/* The day that a number of days since 1970-01-01 comes to; NULL: none that has
 * a name.  (transfer full) */
GDateTime *qm_plot_date (double days);

/* Days since 1970-01-01 of the first of a month (1 to 12); NaN: it has no
 * name. */
double qm_plot_days_of_month (int year, int month);

/* Writes the labels of values that rise, with as many digits as tell them
 * apart; `brief`: with units in short. */
void qm_plot_tick_labels (QmPlotTick *ticks,
                          guint n,
                          const QmPlotAxis *axis,
                          gboolean brief);

G_END_DECLS
