/* SPDX-License-Identifier: Apache-2.0 */

/* Draws one plot again and again.
 *
 * What stays the same from one drawing to the next is kept: the layout with its
 * ticks, the places of the points and the pixels of their markers, which for a
 * slider's move are the greater part of the work.  The drawing is the same as
 * qm_plot_draw()'s. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

typedef struct _QmPlotPainter QmPlotPainter;

/* (transfer full) */
QmPlotPainter *qm_plot_painter_new (void);

void qm_plot_painter_free (QmPlotPainter *painter);

/* Forgets what it has kept.  To be called whenever anything else changes in the
 * data or the theme than the limits, the frontier, the recommended, selected
 * and hovered point, and whether points are dimmed. */
void qm_plot_painter_reset (QmPlotPainter *painter);

/* Draws as qm_plot_draw() does.  A change of the size is noticed. */
void qm_plot_painter_draw (QmPlotPainter *painter,
                           cairo_t *cr,
                           const QmPlotData *data,
                           double width,
                           double height,
                           const QmPlotTheme *theme,
                           QmPlotLayers layers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPlotPainter, qm_plot_painter_free)

G_END_DECLS
