/* SPDX-License-Identifier: Apache-2.0 */

/* Text of a plot; private to the plot.  Any bytes are drawn as they are: never
 * markup, broken UTF-8 made valid, what is too long cut. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_FONT_NORMAL,
  QM_PLOT_FONT_STRONG,
  QM_PLOT_FONT_TITLE
} QmPlotFont;

/* One Pango layout, used for one string after the other; or one a string, where
 * they are kept. */
typedef struct
{
  PangoContext *context;
  PangoLayout *layout; /* of what was taken up */
  GHashTable *kept;    /* string, font and width -> PangoLayout; NULL: none */
  double size;         /* of tick labels, in user units */
  QmPlotFont font;
  gboolean pixels, rounded; /* how outlines and advances are */
} QmPlotText;

/* Text to draw on `cr`, or where that is NULL to measure. */
void
qm_plot_text_init (QmPlotText *text, const QmPlotTheme *theme, cairo_t *cr);
void qm_plot_text_clear (QmPlotText *text);

/* From now on keeps what has been shaped of one line, for text that is drawn
 * again and again: shaping a name takes longer than drawing it. */
void qm_plot_text_keep (QmPlotText *text);

/* Whether it is laid out as for `cr`.  Of the theme it knows nothing. */
gboolean qm_plot_text_suits (const QmPlotText *text, cairo_t *cr);

/* Takes up a string on one line that is no wider than `max_width` (negative:
 * any width); NULL is like "". */
void qm_plot_text_set (QmPlotText *text,
                       const char *string,
                       QmPlotFont font,
                       double max_width);

/* Takes up several lines of which the first stands out. */
void
qm_plot_text_set_lines (QmPlotText *text, const char *string, double max_width);

/* Size of what was taken up. */
void qm_plot_text_get_size (QmPlotText *text, double *width, double *height);

/* Draws what was taken up in the source colour of `cr`, its upper left corner
 * at that position. */
void qm_plot_text_show (QmPlotText *text, cairo_t *cr, double x, double y);

/* Width of a string on one line. */
double
qm_plot_text_measure (QmPlotText *text, const char *string, QmPlotFont font);

double qm_plot_text_line_height (QmPlotText *text, QmPlotFont font);

G_END_DECLS
