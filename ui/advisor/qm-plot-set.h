/* SPDX-License-Identifier: Apache-2.0 */

/* The plots of all topics as they go into files and onto paper: with titles
 * and legends of their own, selection and limits as on the screen, nothing
 * hovered. */

#pragma once

#include "ui/advisor/qm-advisor.h"
#include "ui/plot/qm-advice-plot.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PLOT_SET_OVERALL = 1 << 0,
  QM_PLOT_SET_EXPERIMENT = 1 << 1,
  QM_PLOT_SET_BOTH = QM_PLOT_SET_OVERALL | QM_PLOT_SET_EXPERIMENT
} QmPlotSetKinds;

/* Valid as long as the advisor's answers are. */
typedef struct _QmPlotSet QmPlotSet;

/* Makes the plots: all topics of one kind, then all of the other.
 * (transfer full) */
QmPlotSet *qm_plot_set_new (QmAdvisor *advisor, QmPlotSetKinds kinds);

void qm_plot_set_free (QmPlotSet *set);

/* Shows a part of a plot only, in data units as qm_advice_plot_set_range()
 * takes them.  A plot that is not in the set is left alone. */
void qm_plot_set_set_range (QmPlotSet *set,
                            guint topic,
                            QmAdvicePlotKind kind,
                            const double range[4]);

/* What to draw; valid until the set changes or is freed.  (transfer none) */
const QmPlotData *const *qm_plot_set_data (QmPlotSet *set, guint *n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPlotSet, qm_plot_set_free)

G_END_DECLS
