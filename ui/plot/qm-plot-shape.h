/* SPDX-License-Identifier: Apache-2.0 */

/* The geometry of the markers' shapes; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-marker.h"

#include <math.h>

G_BEGIN_DECLS

/* Measures of the shapes whose area is pi. */
#define QM_SHAPE_SQUARE_HALF     0.88622693f /* half a side */
#define QM_SHAPE_DIAMOND_HALF    1.25331414f /* half a diagonal */
#define QM_SHAPE_TRIANGLE_INNER  0.77756015f /* from the middle to a side */
#define QM_SHAPE_TRIANGLE_OUTER  1.55512030f /* from the middle to a corner */
#define QM_SHAPE_PENTAGON_INNER  0.92994960f
#define QM_SHAPE_PENTAGON_OUTER  1.14948093f
#define QM_SHAPE_PLUS_HALF_WIDTH 0.39633273f /* of an arm */
#define QM_SHAPE_PLUS_HALF \
  1.18899819f /* from the middle to the end of an arm */

#define QM_SHAPE_SQRT_3_2 0.86602540f
#define QM_SHAPE_SQRT_1_2 0.70710678f

static inline float
qm_shape_triangle (float along, float across)
{
  return MAX (along - QM_SHAPE_TRIANGLE_INNER,
              QM_SHAPE_SQRT_3_2 * fabsf (across) - 0.5f * along
                  - QM_SHAPE_TRIANGLE_INNER);
}

static inline float
qm_shape_box (float x, float y, float half_width, float half_height)
{
  return MAX (fabsf (x) - half_width, fabsf (y) - half_height);
}

/* Distance of a position from the edge of a shape of radius 1, negative inside;
 * beyond corners as if they were mitred. */
static inline float
qm_plot_shape_distance (QmPlotShape shape, float x, float y)
{
  float side;

  switch (shape)
    {
    case QM_PLOT_SHAPE_SQUARE:
      return qm_shape_box (x, y, QM_SHAPE_SQUARE_HALF, QM_SHAPE_SQUARE_HALF);
    case QM_PLOT_SHAPE_TRIANGLE:
      return qm_shape_triangle (y, x);
    case QM_PLOT_SHAPE_DIAMOND:
      return (fabsf (x) + fabsf (y) - QM_SHAPE_DIAMOND_HALF)
             * QM_SHAPE_SQRT_1_2;
    case QM_PLOT_SHAPE_TRIANGLE_DOWN:
      return qm_shape_triangle (-y, x);
    case QM_PLOT_SHAPE_PLUS:
      return MIN (
          qm_shape_box (x, y, QM_SHAPE_PLUS_HALF_WIDTH, QM_SHAPE_PLUS_HALF),
          qm_shape_box (x, y, QM_SHAPE_PLUS_HALF, QM_SHAPE_PLUS_HALF_WIDTH));
    case QM_PLOT_SHAPE_PENTAGON:
      /* The sides look 90, 18 and -54 degrees down from the horizontal. */
      side = MAX (0.95105652f * fabsf (x) + 0.30901699f * y,
                  0.58778525f * fabsf (x) - 0.80901699f * y);
      return MAX (side, y) - QM_SHAPE_PENTAGON_INNER;
    case QM_PLOT_SHAPE_TRIANGLE_RIGHT:
      return qm_shape_triangle (-x, y);
    case QM_PLOT_SHAPE_CIRCLE:
    default:
      return sqrtf (x * x + y * y) - 1;
    }
}

G_END_DECLS
