/* SPDX-License-Identifier: Apache-2.0 */

/* The marker of a GPU as the plots draw it, to stand beside its name. */

#pragma once

#include "ui/plot/qm-plot.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_MARKER (qm_marker_get_type ())
G_DECLARE_FINAL_TYPE (QmMarker, qm_marker, QM, MARKER, GtkWidget)

/* `style` is an index into the palette of colours and shapes of the plots. */
GtkWidget *qm_marker_new (guint style);

/* Shows another marker; of `flags` only QM_PLOT_POINT_CROSSED is looked at. */
void qm_marker_set_look (QmMarker *self,
                         guint style,
                         QmPlotProvenance provenance,
                         QmPlotPointFlags flags);

G_END_DECLS
