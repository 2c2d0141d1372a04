/* SPDX-License-Identifier: Apache-2.0 */

/* A topic of an advisor as a plot: its points are the candidates, of which one
 * is selected in every plot and table at once. */

#pragma once

#include "ui/advisor/qm-advisor.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/qm-plot-source.h"

G_BEGIN_DECLS

#define QM_TYPE_ADVICE_SOURCE (qm_advice_source_get_type ())
G_DECLARE_FINAL_TYPE (
    QmAdviceSource, qm_advice_source, QM, ADVICE_SOURCE, QmPlotSource)

/* A topic of `advisor`.  It follows the advisor; while the advisor has no such
 * topic there is no plot.  (transfer full) */
QmPlotSource *
qm_advice_source_new (QmAdvisor *advisor, guint topic, QmAdvicePlotKind kind);

/* Gives the plots of sources that stand side by side the same axes; to be
 * called after they were rebuilt.  Those without a plot are left out. */
void qm_advice_source_share (QmAdviceSource *const *sources, guint n);

G_END_DECLS
