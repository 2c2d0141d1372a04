/* SPDX-License-Identifier: Apache-2.0 */

/* The two plots of an advice: overall cost and experiment cost (across)
 * against training time (up), the axes of the published analysis, so that the
 * budget is a line that moves the way its slider does.  Of a portfolio, the
 * cost and the time of a year's runs. */

#pragma once

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-purse.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

typedef enum
{
  QM_ADVICE_PLOT_OVERALL,
  QM_ADVICE_PLOT_EXPERIMENT
} QmAdvicePlotKind;

/* The types of GPU of a catalog in the order of their styles: those that have
 * measurements first.  (element-type const QmGpu) (transfer container) */
GPtrArray *qm_advice_plot_gpus (const QmCatalog *catalog);

/* Owns the arrays and strings that its QmPlotData points to.  Point i is
 * candidate i of the advice. */
typedef struct _QmAdvicePlot QmAdvicePlot;

/* `advice` must outlive the plot.  Costs are told in the currency of `purse`,
 * with tax where its amounts contain it; NULL: USD without tax.  A GPU's style
 * is its place in qm_advice_plot_gpus(), so that it looks the same in every
 * plot, and no other one so.  (transfer full) */
QmAdvicePlot *qm_advice_plot_new (const QmCatalog *catalog,
                                  const QmAdvice *advice,
                                  QmAdvicePlotKind kind,
                                  const char *title,
                                  const QmPurse *purse,
                                  gboolean log);

void qm_advice_plot_free (QmAdvicePlot *plot);

/* Marks what the limits exclude and what is recommended; cheap enough for
 * every move of a slider.  Returns whether points are others than before, or
 * look otherwise: else only what is drawn above them does. */
gboolean qm_advice_plot_set_limits (QmAdvicePlot *plot,
                                    gint64 budget_minor,
                                    double deadline_days,
                                    const QmRecommendation *recommendation);

/* Whether of many types of GPU only a few are shown (qm_shortlist_new()), with
 * both ends of the frontier, what is recommended and the alternatives that are
 * told of with it, what is selected, and this machine; all are unless it is
 * set. The line of the frontier is the same with and without. */
void qm_advice_plot_set_shortlist (QmAdvicePlot *plot, gboolean shortlist);

/* Selected and hovered point, -1 for none. */
void qm_advice_plot_set_selected (QmAdvicePlot *plot, int index);
void qm_advice_plot_set_hovered (QmAdvicePlot *plot, int index);

/* Visible range; NaN everywhere shows everything. */
void qm_advice_plot_set_range (
    QmAdvicePlot *plot, double x_min, double x_max, double y_min, double y_max);

/* Gives plots that stand side by side the same range of times, and those of a
 * kind the same range of costs, so that they can be compared.  To be called
 * once their points are known. */
void qm_advice_plot_share (QmAdvicePlot *const *plots, guint n);

/* Whether the legend is drawn. */
void qm_advice_plot_set_legend (QmAdvicePlot *plot, gboolean legend);

/* Has an exported figure tell where it is from, of which day and by which
 * assumptions, and what it shows for who does not see it.  To be called once
 * it is known whether a shortlist is shown. */
void qm_advice_plot_set_words (QmAdvicePlot *plot,
                               const QmQuestion *question,
                               const QmRecommendation *recommendation,
                               QmDate today);

/* What to draw; valid until the plot changes or is freed.  (transfer none) */
const QmPlotData *qm_advice_plot_data (const QmAdvicePlot *plot);

/* How a candidate's time is known, as its marker shows it. */
QmPlotProvenance qm_advice_plot_provenance (const QmCandidate *candidate);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmAdvicePlot, qm_advice_plot_free)

G_END_DECLS
