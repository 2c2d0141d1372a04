/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-frontier.h"

#include <math.h>

typedef struct
{
  double x;
  double y;
  int index;
} Point;

static int
compare_points (gconstpointer a, gconstpointer b)
{
  const Point *p = a;
  const Point *q = b;

  if (p->x != q->x)
    return p->x < q->x ? -1 : 1;
  if (p->y != q->y)
    return p->y < q->y ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

GArray *
qm_frontier (const double *x, const double *y, const int *use, guint n_use)
{
  GArray *frontier = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (Point));
  double least = INFINITY;

  for (guint i = 0; i < n_use; i++)
    {
      Point point = { x[use[i]], y[use[i]], use[i] };

      g_array_append_val (points, point);
    }
  g_array_sort (points, compare_points);
  for (guint i = 0; i < points->len; i++)
    {
      const Point *point = &g_array_index (points, Point, i);

      if (point->y < least)
        {
          least = point->y;
          g_array_append_val (frontier, point->index);
        }
    }
  return frontier;
}
