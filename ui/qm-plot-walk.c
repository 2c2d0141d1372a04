/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-plot-walk.h"

/* Compares points i and j along a way. */
static int
compare (const QmPlotData *data, guint i, guint j, gboolean vertical)
{
  const QmPlotPoint *a = &data->points[i];
  const QmPlotPoint *b = &data->points[j];
  int by_x = (a->x > b->x) - (a->x < b->x);
  int by_y = (a->y > b->y) - (a->y < b->y);
  int first = vertical ? by_y : by_x;
  int second = vertical ? by_x : by_y;

  if (first != 0)
    return first;
  if (second != 0)
    return second;
  return (i > j) - (i < j);
}

int
qm_plot_walk (const QmPlotData *data, int from, QmPlotWalk walk)
{
  gboolean vertical = walk == QM_PLOT_WALK_UP || walk == QM_PLOT_WALK_DOWN;
  gboolean forward = walk == QM_PLOT_WALK_RIGHT || walk == QM_PLOT_WALK_UP
                     || walk == QM_PLOT_WALK_FIRST;
  int next = -1;

  g_return_val_if_fail (data != NULL, -1);

  if (walk == QM_PLOT_WALK_FIRST || walk == QM_PLOT_WALK_LAST || from < 0
      || (guint) from >= data->n_points
      || !qm_plot_is_drawn (data, (guint) from))
    from = -1;

  /* The nearest point on that side of `from`; one pass over the points is
   * cheaper than keeping them sorted. */
  for (guint i = 0; i < data->n_points; i++)
    {
      if ((int) i == from || !qm_plot_is_drawn (data, i))
        continue;
      if (from >= 0
          && (compare (data, i, (guint) from, vertical) > 0) != forward)
        continue;
      if (next < 0
          || (compare (data, i, (guint) next, vertical) < 0) == forward)
        next = (int) i;
    }
  return next >= 0 ? next : from;
}
