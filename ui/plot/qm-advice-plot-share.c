/* SPDX-License-Identifier: Apache-2.0 */

/* Axes that plots side by side have in common. */

#include "config.h"

#include "ui/plot/qm-advice-plot-private.h"
#include "ui/plot/qm-plot-contents.h"

#include <math.h>

/* What is left free at either end, as a share of what the points span: half of
 * a large marker. */
#define SPARE 0.08

/* A single value, or one as good as, is shown from this share of it on. */
#define AROUND_ONE 2.0

static void
add_span (QmPlotSpan *span, const QmPlotSpan *other)
{
  if (!other->known)
    return;
  span->min = span->known ? MIN (span->min, other->min) : other->min;
  span->max = span->known ? MAX (span->max, other->max) : other->max;
  span->known = TRUE;
}

/* The range that shows a span, with something to spare. */
static void
set_shared (QmPlotAxis *axis, const QmPlotSpan *span)
{
  double spare;

  axis->shared_min = axis->shared_max = 0;
  if (!span->known)
    return;
  if (axis->log)
    {
      spare = MAX (log (span->max / span->min) * SPARE,
                   span->max > span->min ? 0 : log (AROUND_ONE));
      axis->shared_min = span->min / exp (spare);
      axis->shared_max = span->max * exp (spare);
      return;
    }
  spare = MAX (span->max - span->min, span->max / 100) * SPARE;
  axis->shared_min = span->min < span->max / 2 ? 0 : span->min - spare;
  axis->shared_max = span->max + spare;
}

void
qm_advice_plot_share (QmAdvicePlot *const *plots, guint n)
{
  QmPlotSpan times = { FALSE };
  QmPlotSpan costs[2] = { { FALSE } };

  g_return_if_fail (plots != NULL || n == 0);

  for (guint i = 0; i < n; i++)
    {
      QmPlotContents contents;

      qm_plot_contents_init (&contents, &plots[i]->data);
      add_span (&times, &contents.y);
      add_span (&costs[plots[i]->kind], &contents.x);
    }
  for (guint i = 0; i < n && n > 1; i++)
    {
      set_shared (&plots[i]->data.x, &costs[plots[i]->kind]);
      set_shared (&plots[i]->data.y, &times);
    }
}
