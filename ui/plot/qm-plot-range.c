/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-axis.h"

#include <math.h>

/* Ranges narrower than this share of their values have labels too long to be of
 * use. */
#define MIN_RELATIVE_SPAN 1e-5

/* Days to either side of a single date. */
#define DAYS_AROUND_ONE 45

static gboolean
usable (double value, gboolean log)
{
  return fabs (value) <= QM_PLOT_VALUE_MAX
         && (!log || value >= QM_PLOT_VALUE_MIN);
}

/* What is shown where neither the axis nor the data say anything. */
static QmPlotSpan
data_span (const QmPlotSpan *span, gboolean log)
{
  QmPlotSpan result = *span;

  if (!span->known)
    {
      result.min = log ? 1 : 0;
      result.max = log ? 10 : 1;
    }
  return result;
}

/* Widens min and max by what the padding is worth, in the axis' own measure;
 * `room` is what is left of the length for the data. */
static void
pad (double *min,
     double *max,
     double length,
     double padding,
     gboolean at_min,
     gboolean at_max)
{
  double room = length - padding * (at_min + at_max);
  double unit = (*max - *min) / room;

  if (at_min)
    *min -= unit * padding;
  if (at_max)
    *max += unit * padding;
}

static gboolean
begins_at_zero (const QmPlotSpan *span)
{
  return span->min >= 0 && span->min < span->max / 2;
}

static void
pad_linear (QmPlotRange *range,
            const QmPlotSpan *span,
            double length,
            double padding,
            gboolean at_min,
            gboolean at_max)
{
  if (at_min && at_max && begins_at_zero (span))
    {
      double unit = range->max / (length - padding);

      /* Zero takes the corner unless a marker would be cut there. */
      if (range->min >= unit * padding)
        {
          range->min = 0;
          range->max += unit * padding;
          return;
        }
    }
  pad (&range->min, &range->max, length, padding, at_min, at_max);
}

static void
pad_log (QmPlotRange *range,
         double length,
         double padding,
         gboolean at_min,
         gboolean at_max)
{
  double min = log10 (range->min);
  double max = log10 (range->max);

  pad (&min, &max, length, padding, at_min, at_max);
  if (at_min)
    range->min = pow (10, min);
  if (at_max)
    range->max = pow (10, max);
}

/* Makes room around a single value, so much to either side where that is not 0,
 * and a little in what is too narrow. */
static void
open_up (QmPlotRange *range, double half_of_one)
{
  double middle = range->min / 2 + range->max / 2;
  double half = fabs (middle) * MIN_RELATIVE_SPAN;

  if (!range->log && range->max - range->min < QM_PLOT_VALUE_MIN)
    range->max = range->min;
  if (range->min == range->max && range->log)
    {
      range->min /= 2;
      range->max *= 2;
    }
  else if (range->min == range->max)
    {
      half = fabs (middle) < QM_PLOT_VALUE_MIN ? 1 : fabs (middle) / 2;
      if (half_of_one > 0)
        half = half_of_one;
      range->min = middle - half;
      range->max = middle + half;
    }
  else if (range->max - range->min < 2 * half)
    {
      range->min = middle - half;
      range->max = middle + half;
    }
}

void
qm_plot_range_init (QmPlotRange *range,
                    const QmPlotAxis *axis,
                    const QmPlotSpan *span,
                    double length,
                    double padding)
{
  QmPlotSpan data = data_span (span, axis->log);
  gboolean auto_min = !usable (axis->min, axis->log);
  gboolean auto_max = !usable (axis->max, axis->log);
  gboolean shared = axis->shared_min < axis->shared_max
                    && usable (axis->shared_min, axis->log)
                    && usable (axis->shared_max, axis->log);

  if (!auto_min && !auto_max && axis->min >= axis->max)
    auto_min = auto_max = TRUE;
  length = MAX (length, 1);
  padding = CLAMP (padding, 0, length / 4);
  range->log = axis->log;
  range->min = auto_min ? data.min : axis->min;
  range->max = auto_max ? data.max : axis->max;
  if (shared && auto_min && auto_max)
    {
      range->min = axis->shared_min;
      range->max = axis->shared_max;
    }
  /* One end was asked for and all data lie beyond it. */
  if (range->min > range->max && auto_min)
    range->min = range->max;
  if (range->min > range->max)
    range->max = range->min;
  open_up (range, axis->unit == QM_PLOT_UNIT_DATE ? DAYS_AROUND_ONE : 0);
  if (shared && auto_min && auto_max)
    ; /* with what it has to spare */
  else if (span->known && range->log)
    pad_log (range, length, padding, auto_min, auto_max);
  else if (span->known)
    pad_linear (range, &data, length, padding, auto_min, auto_max);
  range->tick_min = !axis->log && auto_min && data.min >= 0 ? 0 : -HUGE_VAL;
}

double
qm_plot_range_fraction (const QmPlotRange *range, double value)
{
  if (range->log)
    return log (value / range->min) / log (range->max / range->min);
  return (value - range->min) / (range->max - range->min);
}
