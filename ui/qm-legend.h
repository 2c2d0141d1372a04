/* SPDX-License-Identifier: Apache-2.0 */

/* One legend for all the plots of a window: the markers of the GPUs and what
 * their size means, in as many lines as the width takes. */

#pragma once

#include "ui/plot/qm-plot.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_LEGEND (qm_legend_get_type ())
G_DECLARE_FINAL_TYPE (QmLegend, qm_legend, QM, LEGEND, GtkWidget)

/* What the marks of a plot mean. */
GtkWidget *qm_legend_new (void);

/* Shows every series of `plots` that has a point, once, in the order in which
 * they come, and the marker sizes of the first plot that names some.  Nothing
 * of the plots is kept. */
void qm_legend_set_plots (QmLegend *self,
                          const QmPlotData *const *plots,
                          guint n_plots);

G_END_DECLS
