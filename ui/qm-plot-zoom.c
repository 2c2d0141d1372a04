/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-plot-zoom.h"

#include <math.h>

/* The narrowest range, as a share of everything. */
#define MIN_SHARE 1e-3

/* How far inside a revealed point should be, as a share of what is seen. */
#define REVEAL_MARGIN 0.08

/* One axis as a plain interval: logarithms on a logarithmic axis. */
typedef struct
{
  double min, max;
} Span;

static double
to_span (double value, gboolean log)
{
  return log ? log10 (value) : value;
}

static double
from_span (double value, gboolean log)
{
  return log ? pow (10, value) : value;
}

static Span
span_x (const QmPlotLayout *layout)
{
  return (Span){ to_span (layout->x_min, layout->x_log),
                 to_span (layout->x_max, layout->x_log) };
}

static Span
span_y (const QmPlotLayout *layout)
{
  return (Span){ to_span (layout->y_min, layout->y_log),
                 to_span (layout->y_max, layout->y_log) };
}

/* Position along an axis, 0 at its minimum. */
static double
share_x (const QmPlotLayout *layout, double user_x)
{
  return (user_x - layout->left) / MAX (layout->right - layout->left, 1);
}

static double
share_y (const QmPlotLayout *layout, double user_y)
{
  return (layout->bottom - user_y) / MAX (layout->bottom - layout->top, 1);
}

/* Clamps to what there is, keeping the centre where possible. */
static Span
fit (Span span, Span all)
{
  double whole = all.max - all.min;
  double size = CLAMP (span.max - span.min, whole * MIN_SHARE, whole);
  double min = (span.min + span.max) / 2 - size / 2;

  min = CLAMP (min, all.min, all.max - size);
  return (Span){ min, min + size };
}

static gboolean
fills (Span span, Span all)
{
  return span.max - span.min >= (all.max - all.min) * (1 - 1e-9);
}

static QmPlotZoom
zoom_of (Span x, Span y, const QmPlotLayout *all)
{
  x = fit (x, span_x (all));
  y = fit (y, span_y (all));
  if (fills (x, span_x (all)) && fills (y, span_y (all)))
    return qm_plot_zoom_all ();
  return (QmPlotZoom){ from_span (x.min, all->x_log),
                       from_span (x.max, all->x_log),
                       from_span (y.min, all->y_log),
                       from_span (y.max, all->y_log) };
}

QmPlotZoom
qm_plot_zoom_all (void)
{
  return (QmPlotZoom){ NAN, NAN, NAN, NAN };
}

gboolean
qm_plot_zoom_is_all (const QmPlotZoom *range)
{
  return isnan (range->x_min);
}

static Span
zoomed (Span now, double factor, double share)
{
  double at = now.min + (now.max - now.min) * share;

  return (Span){ at - (at - now.min) / factor, at + (now.max - at) / factor };
}

QmPlotZoom
qm_plot_zoom_by (const QmPlotLayout *now,
                 const QmPlotLayout *all,
                 double factor,
                 double user_x,
                 double user_y)
{
  double x = CLAMP (share_x (now, user_x), 0, 1);
  double y = CLAMP (share_y (now, user_y), 0, 1);

  g_return_val_if_fail (factor > 0, qm_plot_zoom_all ());

  return zoom_of (zoomed (span_x (now), factor, x),
                  zoomed (span_y (now), factor, y), all);
}

static Span
cut (Span now, double share1, double share2)
{
  double size = now.max - now.min;
  double from = CLAMP (MIN (share1, share2), 0, 1);
  double to = CLAMP (MAX (share1, share2), 0, 1);

  return (Span){ now.min + size * from, now.min + size * to };
}

QmPlotZoom
qm_plot_zoom_box (const QmPlotLayout *now,
                  const QmPlotLayout *all,
                  double user_x1,
                  double user_y1,
                  double user_x2,
                  double user_y2)
{
  Span x = span_x (now);
  Span y = cut (span_y (now), share_y (now, user_y1), share_y (now, user_y2));

  /* A box around zero alone says nothing of the axis beside it. */
  if (MAX (user_x1, user_x2) > now->left)
    x = cut (x, share_x (now, user_x1), share_x (now, user_x2));
  return zoom_of (x, y, all);
}

static Span
moved (Span now, double share)
{
  double distance = (now.max - now.min) * share;

  return (Span){ now.min + distance, now.max + distance };
}

QmPlotZoom
qm_plot_zoom_move (const QmPlotLayout *now,
                   const QmPlotLayout *all,
                   double user_dx,
                   double user_dy)
{
  double width = MAX (now->right - now->left, 1);
  double height = MAX (now->bottom - now->top, 1);

  return zoom_of (moved (span_x (now), -user_dx / width),
                  moved (span_y (now), user_dy / height), all);
}

static Span
revealed (Span now, double value)
{
  double margin = (now.max - now.min) * REVEAL_MARGIN;
  double distance = 0;

  if (value < now.min + margin)
    distance = value - (now.min + margin);
  else if (value > now.max - margin)
    distance = value - (now.max - margin);
  return (Span){ now.min + distance, now.max + distance };
}

QmPlotZoom
qm_plot_zoom_reveal (const QmPlotLayout *now,
                     const QmPlotLayout *all,
                     double x,
                     double y)
{
  /* Zero stands beside the least that there is. */
  if (now->x_log && x == 0)
    x = all->x_min;
  return zoom_of (revealed (span_x (now), to_span (x, now->x_log)),
                  revealed (span_y (now), to_span (y, now->y_log)), all);
}
