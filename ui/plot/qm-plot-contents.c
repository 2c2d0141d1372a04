/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-contents.h"

#include <math.h>

/* Makes room for the bar of a point. */
static void
widen (QmPlotSpan *span,
       const QmPlotAxis *axis,
       const QmPlotInterval *intervals,
       guint index)
{
  const QmPlotInterval *interval = qm_plot_interval_at (axis, intervals, index);

  if (interval == NULL)
    return;
  span->min = MIN (span->min, interval->low);
  span->max = MAX (span->max, interval->high);
}

void
qm_plot_contents_init (QmPlotContents *contents, const QmPlotData *data)
{
  QmPlotContents found = { .x = { .min = HUGE_VAL, .max = -HUGE_VAL },
                           .y = { .min = HUGE_VAL, .max = -HUGE_VAL },
                           .weight = 1 };

  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *point = &data->points[i];

      if (!qm_plot_point_drawable (data, point))
        continue;
      found.n++;
      if (data->x.log && point->x == 0)
        {
          found.n_zero++;
          found.zero_weight = MAX (found.zero_weight, point->weight);
        }
      else
        {
          found.x.min = MIN (found.x.min, point->x);
          found.x.max = MAX (found.x.max, point->x);
          widen (&found.x, &data->x, data->x_intervals, i);
        }
      found.y.min = MIN (found.y.min, point->y);
      found.y.max = MAX (found.y.max, point->y);
      widen (&found.y, &data->y, data->y_intervals, i);
      found.weight = MAX (found.weight, point->weight);
      found.styles |= G_GUINT64_CONSTANT (1)
                      << qm_plot_point_style (data, point);
      found.provenances |= 1u << MIN (point->provenance, 7);
      found.crossed |= (point->flags & QM_PLOT_POINT_CROSSED) != 0;
      found.grey |= (point->flags & QM_PLOT_POINT_GREY) != 0;
    }
  found.x.known = found.n > found.n_zero;
  found.y.known = found.n > 0;
  *contents = found;
}
