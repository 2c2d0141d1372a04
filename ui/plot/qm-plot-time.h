/* SPDX-License-Identifier: Apache-2.0 */

/* Ticks of lengths of time, in the units that people count in; private to the
 * plot. */

#pragma once

#include "ui/plot/qm-plot-axis.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_SECONDS,
  QM_PLOT_MINUTES,
  QM_PLOT_HOURS,
  QM_PLOT_DAYS,
  QM_PLOT_WEEKS,
  QM_PLOT_MONTHS, /* a twelfth of a year */
  QM_PLOT_YEARS,  /* 365.25 days */
  QM_PLOT_N_TIME_UNITS
} QmPlotTimeUnit;

/* How many of one in days, without the rounding of the division where that
 * comes to a whole number. */
double qm_plot_time_count (double days, QmPlotTimeUnit unit);

/* A rule by which ticks of times are laid out: multiples of a step or, on a
 * logarithmic axis, the marks of a ladder of round times. */
typedef struct
{
  gboolean ladder;
  QmPlotTimeUnit unit; /* of the steps */
  double step;         /* that many of it */
  guint rung;          /* of ladders: which one */
  int stride;          /* of them: of decades below seconds and above years */
} QmPlotTimeRule;

#define QM_PLOT_MAX_TIME_RULES 56

/* Lists the rules for a range from fine to coarse; returns how many. */
guint qm_plot_time_rules (const QmPlotRange *range,
                          QmPlotTimeRule rules[QM_PLOT_MAX_TIME_RULES]);

/* A tick, in days. */
typedef struct
{
  double value;
  QmPlotTimeUnit unit; /* that it is told in */
} QmPlotTimeMark;

/* Lists the ticks of a rule in the range, at most `max`, in rising order.
 * Returns how many there are, or more than `max` where that is too few. */
guint qm_plot_time_marks (const QmPlotRange *range,
                          const QmPlotTimeRule *rule,
                          QmPlotTimeMark *marks,
                          guint max);

/* The rule of the minor ticks of a logarithmic axis, the finest first; FALSE:
 * there is none so coarse. */
gboolean qm_plot_time_minor_rule (guint coarseness, QmPlotTimeRule *rule);

/* "6 h", "2 weeks", or "2 wk" if `brief`: so many of a unit.  (transfer full)
 */
char *
qm_plot_time_label (const char *number, QmPlotTimeUnit unit, gboolean brief);

G_END_DECLS
