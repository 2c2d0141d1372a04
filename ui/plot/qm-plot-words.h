/* SPDX-License-Identifier: Apache-2.0 */

/* What an exported figure says besides its plots; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-export.h"

G_BEGIN_DECLS

/* Draws a note on the lower edge of a figure, in lines as long as there is
 * room. Returns the height that it takes: 0 where there is too little room, or
 * `note` is NULL. */
double qm_plot_words_draw (cairo_t *cr,
                           const char *note,
                           double width,
                           double height,
                           const QmPlotTheme *theme);

/* Adds a title and a summary, where they are not NULL, to an SVG or PNG file
 * for who does not see it; a PDF has them from its surface. */
void qm_plot_words_add (GByteArray *file,
                        QmPlotFormat format,
                        const char *title,
                        const char *summary);

G_END_DECLS
