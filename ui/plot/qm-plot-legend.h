/* SPDX-License-Identifier: Apache-2.0 */

/* The legend; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-contents.h"
#include "ui/plot/qm-plot-text.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_ENTRY_SERIES,
  QM_PLOT_ENTRY_HEADING,
  QM_PLOT_ENTRY_WEIGHT,
  QM_PLOT_ENTRY_PROVENANCE,
  QM_PLOT_ENTRY_CROSSED,
  QM_PLOT_ENTRY_GREY,
  QM_PLOT_ENTRY_FRONTIER
} QmPlotEntryKind;

typedef struct
{
  QmPlotEntryKind kind;
  char *text;
  guint value;       /* style, weight or provenance */
  double size;       /* width of the symbol; 0: it has none */
  double symbol;     /* width of the room for it */
  double full_width; /* of the text */
  double text_width; /* of what is shown of it */
  double x, y;       /* of its box, from the legend's corner */
  double height;
} QmPlotEntry;

typedef enum
{
  QM_PLOT_LEGEND_NONE,
  QM_PLOT_LEGEND_COLUMN,
  QM_PLOT_LEGEND_ROWS
} QmPlotLegendPlace;

typedef struct
{
  QmPlotLegendPlace place;
  GArray *entries; /* QmPlotEntry */
  double line_height;
  double x, y, width, height;
} QmPlotLegend;

/* Collects and measures the entries; it has no place yet. */
void qm_plot_legend_init (QmPlotLegend *legend, QmPlotText *text);
void qm_plot_legend_add (QmPlotLegend *legend,
                         const QmPlotData *data,
                         const QmPlotContents *contents,
                         const QmPlotTheme *theme,
                         QmPlotText *text);
void qm_plot_legend_clear (QmPlotLegend *legend);

/* Leaves out all but the series. */
void qm_plot_legend_keep_series (QmPlotLegend *legend);

/* Arranges the entries one below the other, or in rows no wider than
 * `max_width`; sets the legend's width and height. */
void qm_plot_legend_arrange_column (QmPlotLegend *legend, double max_width);
void qm_plot_legend_arrange_rows (QmPlotLegend *legend, double max_width);

/* Draws it where x and y say. */
void qm_plot_legend_draw (const QmPlotLegend *legend,
                          cairo_t *cr,
                          const QmPlotTheme *theme,
                          QmPlotText *text);

/* The line of the frontier. */
void qm_plot_set_frontier_line (cairo_t *cr, const QmPlotTheme *theme);

G_END_DECLS
