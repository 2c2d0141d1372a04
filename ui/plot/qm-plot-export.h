/* SPDX-License-Identifier: Apache-2.0 */

/* Plots into files: one plot, or small multiples on a grid. */

#pragma once

#include "ui/plot/qm-plot.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_FORMAT_PNG,
  QM_PLOT_FORMAT_SVG,
  QM_PLOT_FORMAT_PDF
} QmPlotFormat;

/* The format that a file name's ending means, letter case ignored.  Returns
 * FALSE where it means none. */
gboolean qm_plot_format_from_name (const char *name, QmPlotFormat *format);

/* Draws `n` plots on a grid that suits the size (one plot fills it) into the
 * rectangle (0, 0, width, height). */
void qm_plot_draw_grid (cairo_t *cr,
                        const QmPlotData *const *plots,
                        guint n,
                        double width,
                        double height,
                        const QmPlotTheme *theme);

/* Renders plots in memory.  `width` and `height` are in pixels for PNG and in
 * points for SVG and PDF, 16 to 16384 each.  The same arguments give the same
 * bytes: no dates, no random identifiers.
 * What is selected and hovered is left out.
 *
 * Returns: (transfer full): the file's bytes, or NULL with an error. */
GBytes *qm_plot_render (const QmPlotData *const *plots,
                        guint n,
                        QmPlotFormat format,
                        int width,
                        int height,
                        const QmPlotTheme *theme,
                        GError **error);

/* Renders and writes a file: complete or not at all. */
gboolean qm_plot_save (const QmPlotData *const *plots,
                       guint n,
                       GFile *file,
                       QmPlotFormat format,
                       int width,
                       int height,
                       const QmPlotTheme *theme,
                       GError **error);

G_END_DECLS
