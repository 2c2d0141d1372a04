/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-marker.h"
#include "ui/plot/qm-plot-paint.h"
#include "ui/plot/qm-plot-shape.h"

#include <math.h>

#define DEFAULT_RADIUS 4.0
#define MIN_RADIUS     0.5
#define MAX_RADIUS     50.0

/* How strong the inside of a marker is, so that what lies below shows. */
#define FILL_PUBLISHED 0.66
#define FILL_MEASURED  0.85
#define FILL_PREDICTED 0.08

#define STROKE_THIN  1.1
#define STROKE_HEAVY 1.7
#define CROSS_WIDTH  1.4

/* Apart from the number of shapes, so that every round is another one. */
#define SHAPE_STEP 3

typedef struct
{
  guint n;
  float points[12][2];
} Outline;

#define T  QM_SHAPE_TRIANGLE_OUTER
#define T2 QM_SHAPE_TRIANGLE_INNER
#define T3 (QM_SHAPE_SQRT_3_2 * QM_SHAPE_TRIANGLE_OUTER)
#define P  QM_SHAPE_PLUS_HALF
#define P3 QM_SHAPE_PLUS_HALF_WIDTH

/* The corners; the circle has none. */
static const Outline outlines[] = {
  [QM_PLOT_SHAPE_SQUARE] = { 4,
                             { { -QM_SHAPE_SQUARE_HALF, -QM_SHAPE_SQUARE_HALF },
                               { QM_SHAPE_SQUARE_HALF, -QM_SHAPE_SQUARE_HALF },
                               { QM_SHAPE_SQUARE_HALF, QM_SHAPE_SQUARE_HALF },
                               { -QM_SHAPE_SQUARE_HALF,
                                 QM_SHAPE_SQUARE_HALF } } },
  [QM_PLOT_SHAPE_TRIANGLE] = { 3, { { 0, -T }, { T3, T2 }, { -T3, T2 } } },
  [QM_PLOT_SHAPE_DIAMOND] = { 4,
                              { { 0, -QM_SHAPE_DIAMOND_HALF },
                                { QM_SHAPE_DIAMOND_HALF, 0 },
                                { 0, QM_SHAPE_DIAMOND_HALF },
                                { -QM_SHAPE_DIAMOND_HALF, 0 } } },
  [QM_PLOT_SHAPE_TRIANGLE_DOWN] = { 3,
                                    { { 0, T }, { -T3, -T2 }, { T3, -T2 } } },
  [QM_PLOT_SHAPE_PLUS] = { 12,
                           { { -P3, -P },
                             { P3, -P },
                             { P3, -P3 },
                             { P, -P3 },
                             { P, P3 },
                             { P3, P3 },
                             { P3, P },
                             { -P3, P },
                             { -P3, P3 },
                             { -P, P3 },
                             { -P, -P3 },
                             { -P3, -P3 } } },
  [QM_PLOT_SHAPE_PENTAGON] = { 5,
                               { { 0, -1.14948093f },
                                 { 1.09322133f, -0.35520914f },
                                 { 0.67564794f, 0.92994960f },
                                 { -0.67564794f, 0.92994960f },
                                 { -1.09322133f, -0.35520914f } } },
  [QM_PLOT_SHAPE_TRIANGLE_RIGHT] = { 3,
                                     { { T, 0 }, { -T2, T3 }, { -T2, -T3 } } },
};

guint
qm_plot_weight_size (guint weight)
{
  return CLAMP (weight, 1, QM_PLOT_WEIGHT_MAX);
}

double
qm_plot_marker_radius (const QmPlotTheme *theme, guint weight)
{
  double radius =
      theme->marker_radius >= MIN_RADIUS && theme->marker_radius <= MAX_RADIUS
          ? theme->marker_radius
          : DEFAULT_RADIUS;

  return radius * sqrt (qm_plot_weight_size (weight));
}

/* The edge of a filled marker stands out a little from its inside, so that
 * markers can be told apart where they overlap. */
#define EDGE_SHARE 0.22

static QmPlotColor
mix (const QmPlotColor *a, const QmPlotColor *b, double share)
{
  return (QmPlotColor){ a->red + (b->red - a->red) * share,
                        a->green + (b->green - a->green) * share,
                        a->blue + (b->blue - a->blue) * share, a->alpha };
}

static QmPlotColor
with_alpha (const QmPlotColor *color, double alpha)
{
  QmPlotColor result = *color;

  result.alpha *= alpha;
  return result;
}

/* Each round through the colours begins with another shape. */
static QmPlotShape
shape_of (guint style)
{
  guint round = style % QM_PLOT_N_LOOKS / QM_PLOT_N_STYLES;

  return (QmPlotShape) ((style + SHAPE_STEP * round) % QM_PLOT_N_STYLES);
}

void
qm_plot_marker_init (QmPlotMarker *marker,
                     const QmPlotTheme *theme,
                     guint style,
                     guint weight,
                     guint provenance,
                     guint flags)
{
  const QmPlotColor *color = flags & QM_PLOT_POINT_GREY
                                 ? &theme->grey
                                 : &theme->palette[style % QM_PLOT_N_STYLES];
  QmPlotColor stroke = *color;
  double fill = FILL_PUBLISHED;
  double dim =
      flags & QM_PLOT_POINT_DIMMED ? CLAMP (theme->dim_alpha, 0, 1) : 1;

  marker->shape = shape_of (style);
  marker->radius = qm_plot_marker_radius (theme, weight);
  marker->stroke_width = STROKE_THIN;
  if (provenance == QM_PLOT_MEASURED)
    {
      fill = FILL_MEASURED;
      stroke = flags & QM_PLOT_POINT_GREY ? theme->faint_text : theme->text;
      marker->stroke_width = STROKE_HEAVY;
    }
  else if (provenance == QM_PLOT_PREDICTED)
    {
      fill = FILL_PREDICTED;
      marker->stroke_width = STROKE_HEAVY;
    }
  else
    {
      stroke = mix (color, &theme->text, EDGE_SHARE);
    }
  marker->fill = with_alpha (color, fill * dim);
  marker->stroke = with_alpha (&stroke, dim);
  marker->cross = with_alpha (&theme->text, dim);
  marker->cross_width = CROSS_WIDTH;
  marker->cross_arm =
      flags & QM_PLOT_POINT_CROSSED ? marker->radius * 0.9 + 1.5 : 0;
}

/* Radius of the circle around a shape of radius 1, and how much further than
 * half its width a stroke's mitre reaches. */
static double
outer_radius (QmPlotShape shape, double *mitre)
{
  switch (shape)
    {
    case QM_PLOT_SHAPE_SQUARE:
    case QM_PLOT_SHAPE_DIAMOND:
      *mitre = 1.4142;
      return QM_SHAPE_DIAMOND_HALF;
    case QM_PLOT_SHAPE_TRIANGLE:
    case QM_PLOT_SHAPE_TRIANGLE_DOWN:
    case QM_PLOT_SHAPE_TRIANGLE_RIGHT:
      *mitre = 2;
      return QM_SHAPE_TRIANGLE_OUTER;
    case QM_PLOT_SHAPE_PLUS:
      *mitre = 1.4142;
      return hypot (QM_SHAPE_PLUS_HALF, QM_SHAPE_PLUS_HALF_WIDTH);
    case QM_PLOT_SHAPE_PENTAGON:
      *mitre = 1.2361;
      return QM_SHAPE_PENTAGON_OUTER;
    case QM_PLOT_SHAPE_CIRCLE:
    default:
      *mitre = 1;
      return 1;
    }
}

double
qm_plot_marker_reach (const QmPlotMarker *marker)
{
  double mitre;
  double radius = outer_radius (marker->shape, &mitre) * marker->radius;

  return radius + mitre * marker->stroke_width / 2;
}

double
qm_plot_marker_extent (const QmPlotMarker *marker)
{
  double cross =
      marker->cross_arm > 0 ? marker->cross_arm + marker->cross_width / 2 : 0;

  return MAX (qm_plot_marker_reach (marker), cross);
}

static void
add_shape (const QmPlotMarker *marker, cairo_t *cr, double x, double y)
{
  const Outline *outline = &outlines[marker->shape];
  double r = marker->radius;

  cairo_new_sub_path (cr);
  if (marker->shape == QM_PLOT_SHAPE_CIRCLE)
    cairo_arc (cr, x, y, r, 0, 2 * G_PI);
  for (guint i = 0; i < outline->n; i++)
    cairo_line_to (cr, x + r * outline->points[i][0],
                   y + r * outline->points[i][1]);
  cairo_close_path (cr);
}

static void
draw_cross (const QmPlotMarker *marker, cairo_t *cr, double x, double y)
{
  double arm = marker->cross_arm;

  cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_width (cr, marker->cross_width);
  cairo_move_to (cr, x - arm, y - arm);
  cairo_line_to (cr, x + arm, y + arm);
  cairo_move_to (cr, x - arm, y + arm);
  cairo_line_to (cr, x + arm, y - arm);
  qm_plot_set_color (cr, &marker->cross, 1);
  cairo_stroke (cr);
}

void
qm_plot_marker_draw (const QmPlotMarker *marker,
                     cairo_t *cr,
                     double x,
                     double y)
{
  add_shape (marker, cr, x, y);
  qm_plot_set_color (cr, &marker->fill, 1);
  cairo_fill_preserve (cr);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_MITER);
  cairo_set_line_width (cr, marker->stroke_width);
  qm_plot_set_color (cr, &marker->stroke, 1);
  cairo_stroke (cr);
  if (marker->cross_arm > 0)
    draw_cross (marker, cr, x, y);
}

void
qm_plot_draw_marker (cairo_t *cr,
                     const QmPlotTheme *theme,
                     guint style,
                     guint weight,
                     QmPlotProvenance provenance,
                     QmPlotPointFlags flags)
{
  QmPlotMarker marker;

  g_return_if_fail (cr != NULL && theme != NULL);

  if (flags & QM_PLOT_POINT_HIDDEN)
    return;
  qm_plot_marker_init (&marker, theme, style, weight, provenance, flags);
  cairo_save (cr);
  cairo_new_path (cr);
  qm_plot_marker_draw (&marker, cr, 0, 0);
  cairo_restore (cr);
}
