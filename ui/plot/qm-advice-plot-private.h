/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of an advice's plot share; private to them. */

#pragma once

#include "ui/plot/qm-advice-plot.h"

G_BEGIN_DECLS

#define QM_ADVICE_PLOT_LEGEND_WEIGHTS 5

/* Points that are shown whatever the shortlist: the ends of the frontier, what
 * is selected, and those of a recommendation. */
#define QM_ADVICE_PLOT_SHOWN 10

struct _QmAdvicePlot
{
  QmAdvicePlotKind kind;
  gboolean portfolio;
  gboolean ownership; /* costs are totals */
  const QmAdvice *advice;
  const QmCandidate *candidates;   /* the advice's */
  GHashTable *shortlist;           /* of QmGpu; NULL: all are shown */
  QmRecommendation told;           /* what is shown in any case */
  int shown[QM_ADVICE_PLOT_SHOWN]; /* the points that it was when last looked */
  QmPurse purse;                   /* that costs are told in */
  double rate;                     /* its major units of a USD without tax */
  QmPlotData data;
  QmPlotPoint *points;
  QmPlotInterval *x_intervals; /* NULL: all costs are known */
  QmPlotInterval *y_intervals; /* NULL: nothing is predicted */
  GArray *series;              /* QmPlotSeries */
  guint16 legend_weights[QM_ADVICE_PLOT_LEGEND_WEIGHTS];
  char **frontier_names; /* of as many points as are on it */
  char **frontier_short_names;
  char *title;
  char *cost_title;
  char *budget_label;
  char *deadline_label;
  char *recommended_label;
  char *recommended_short;
  char *hovered_label;
  char *note;
  char *summary;
};

/* --- Points -------------------------------------------------------------- */

/* Makes the points of the candidates, with their series and bars.  The frontier
 * must be known. */
void _qm_advice_plot_fill (QmAdvicePlot *plot, const QmCatalog *catalog);

/* Shows the areas of the counts that occur, a few from the least to the most
 * where there are many. */
void _qm_advice_plot_choose_legend_weights (QmAdvicePlot *plot);

/* --- Words --------------------------------------------------------------- */

/* Names how times are known, where they are not the published ones, which stand
 * alone. */
void _qm_advice_plot_name_provenances (QmAdvicePlot *plot);

/* Names what is on the frontier, which must be known. */
void _qm_advice_plot_name_frontier (QmAdvicePlot *plot);

/* What the axis of costs is called.  (transfer full) */
char *_qm_advice_plot_cost_title (const QmAdvicePlot *plot);

/* What is told of a point that is hovered, in lines.  (transfer full) */
char *_qm_advice_plot_describe (const QmAdvicePlot *plot,
                                const QmCandidate *candidate);

G_END_DECLS
