/* SPDX-License-Identifier: Apache-2.0 */

/* Markers as ready-made pixels; private to the plot.
 *
 * A sprite is painted once for every kind of marker and every fraction of a
 * pixel that its middle falls on, from the distance to the shape's edge; from
 * then on it is a stamp. */

#pragma once

#include "ui/plot/qm-plot-canvas.h"
#include "ui/plot/qm-plot-marker.h"
#include "ui/plot/qm-plot-private.h"

G_BEGIN_DECLS

/* For canvases of `scale` pixels a user unit; in a `crowd` places need not be
 * as exact. */
QmPlotSprites *
qm_plot_sprites_new (const QmPlotTheme *theme, double scale, gboolean crowd);
void qm_plot_sprites_free (QmPlotSprites *sprites);

/* Whether the sprites are such. */
gboolean qm_plot_sprites_suit (const QmPlotSprites *sprites,
                               const QmPlotTheme *theme,
                               double scale,
                               gboolean crowd);

/* Puts a marker below what is on the canvas, its middle at a position in
 * pixels.  Of the flags only QM_PLOT_POINT_CROSSED and _GREY count. */
void qm_plot_sprites_draw (QmPlotSprites *sprites,
                           QmPlotCanvas *canvas,
                           double x,
                           double y,
                           guint style,
                           guint weight,
                           guint provenance,
                           guint flags);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPlotSprites, qm_plot_sprites_free)

G_END_DECLS
