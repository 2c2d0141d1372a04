/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-proposal-pdf.h"

#include "ui/plot/qm-advice-plot.h"
#include "ui/plot/qm-plot-export.h"

#include <glib/gi18n-lib.h>

/* How far paper shrinks a plot, so that its text is as large as a table's. */
#define SCALE 0.68

static void
draw_plot (cairo_t *cr, double width, double height, gpointer data)
{
  const QmPlotData *plot = qm_advice_plot_data (data);

  cairo_scale (cr, SCALE, SCALE);
  qm_plot_draw_grid (cr, &plot, 1, width / SCALE, height / SCALE,
                     qm_plot_theme_light ());
}

GBytes *
qm_proposal_to_pdf (const QmProposal *proposal,
                    const QmPaper *paper,
                    QmPageSize size)
{
  const QmQuestion *question = proposal->question;
  const QmModel *model =
      question->model != NULL
          ? qm_catalog_model (proposal->catalog, question->model)
          : NULL;
  g_autoptr (QmAdvicePlot) plot =
      qm_advice_plot_new (proposal->catalog, proposal->advice,
                          QM_ADVICE_PLOT_OVERALL,
                          model != NULL ? model->name : _ ("A year’s runs"),
                          &question->purse, TRUE);

  qm_advice_plot_set_shortlist (plot, TRUE);
  qm_advice_plot_set_limits (plot, question->budget_minor,
                             question->deadline_days, &proposal->found);
  return qm_paper_to_pdf (paper, size, draw_plot, plot, NULL);
}
