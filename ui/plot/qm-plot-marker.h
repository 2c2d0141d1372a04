/* SPDX-License-Identifier: Apache-2.0 */

/* Markers: their shapes, and the two ways to draw them; private to the plot. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* Weights beyond this one draw no larger marker. */
#define QM_PLOT_WEIGHT_MAX 100

/* One for each style.  All of a radius have the area of a circle of it. */
typedef enum
{
  QM_PLOT_SHAPE_CIRCLE,
  QM_PLOT_SHAPE_SQUARE,
  QM_PLOT_SHAPE_TRIANGLE,
  QM_PLOT_SHAPE_DIAMOND,
  QM_PLOT_SHAPE_TRIANGLE_DOWN,
  QM_PLOT_SHAPE_PLUS,
  QM_PLOT_SHAPE_PENTAGON,
  QM_PLOT_SHAPE_TRIANGLE_RIGHT
} QmPlotShape;

/* What a marker is painted with: the shape is filled, its edge stroked, and the
 * cross from (-arm, -arm) to (arm, arm) laid over it. */
typedef struct
{
  QmPlotShape shape;
  double radius;
  double stroke_width;
  double cross_arm; /* 0: no cross */
  double cross_width;
  QmPlotColor fill;
  QmPlotColor stroke;
  QmPlotColor cross;
} QmPlotMarker;

/* The size that a weight is drawn in, 1 to QM_PLOT_WEIGHT_MAX. */
guint qm_plot_weight_size (guint weight);

/* `provenance` and `flags` may be any number. */
void qm_plot_marker_init (QmPlotMarker *marker,
                          const QmPlotTheme *theme,
                          guint style,
                          guint weight,
                          guint provenance,
                          guint flags);

/* Radius of a circle around the shape with its edge, without the cross. */
double qm_plot_marker_reach (const QmPlotMarker *marker);

/* Half the side of a square around everything painted. */
double qm_plot_marker_extent (const QmPlotMarker *marker);

/* Draws the marker as paths around a position. */
void qm_plot_marker_draw (const QmPlotMarker *marker,
                          cairo_t *cr,
                          double x,
                          double y);

G_END_DECLS
