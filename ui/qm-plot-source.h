/* SPDX-License-Identifier: Apache-2.0 */

/* What a plot view shows, and what selecting a point of it does: the half of a
 * plot on the screen that knows what the points are. */

#pragma once

#include "ui/plot/qm-plot.h"
#include "ui/qm-plot-zoom.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_TYPE_PLOT_SOURCE (qm_plot_source_get_type ())
G_DECLARE_DERIVABLE_TYPE (
    QmPlotSource, qm_plot_source, QM, PLOT_SOURCE, GObject)

/* What of a drawing is another, and with it all that lies on top. */
typedef enum
{
  QM_PLOT_SOURCE_POINTS,
  QM_PLOT_SOURCE_OVERLAY
} QmPlotSourcePart;

/* Each may be NULL but for `get_data` and `describe`. */
struct _QmPlotSourceClass
{
  GObjectClass parent_class;

  /* Brings what is late up to date; may tell that it is another plot. */
  void (*settle) (QmPlotSource *self);
  /* What is drawn, with what was set below; NULL: nothing. */
  const QmPlotData *(*get_data) (QmPlotSource *self);
  /* A point that is in the data; -1: none. */
  void (*set_hovered) (QmPlotSource *self, int index);
  void (*set_range) (QmPlotSource *self, const QmPlotZoom *range);
  /* What the plot as a whole is called.  (transfer full) */
  char *(*describe) (QmPlotSource *self);
  /* -1 selects none.  Whether anything was selected before. */
  gboolean (*select) (QmPlotSource *self, int index);
  /* (transfer full) */
  GMenuModel *(*create_menu) (QmPlotSource *self);
};

/* As the functions of the class say; those that it has not do nothing. */
void qm_plot_source_settle (QmPlotSource *self);
const QmPlotData *qm_plot_source_get_data (QmPlotSource *self);
void qm_plot_source_set_hovered (QmPlotSource *self, int index);
void qm_plot_source_set_range (QmPlotSource *self, const QmPlotZoom *range);
char *qm_plot_source_describe (QmPlotSource *self);
gboolean qm_plot_source_select (QmPlotSource *self, int index);

/* Whether points can be selected. */
gboolean qm_plot_source_can_select (QmPlotSource *self);

/* (transfer full) (nullable) */
GMenuModel *qm_plot_source_create_menu (QmPlotSource *self);

/* For those that are derived: tells that the plot is another one, of which
 * everything is to be seen with `whole` and else what was seen before.  Signal
 * "rebuilt" (gboolean). */
void qm_plot_source_rebuilt (QmPlotSource *self, gboolean whole);

/* Likewise, that a part is another.  Signal "changed" (guint). */
void qm_plot_source_changed (QmPlotSource *self, QmPlotSourcePart part);

G_END_DECLS
