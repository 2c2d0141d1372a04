/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-plot-source.h"

enum
{
  REBUILT,
  CHANGED,
  N_SIGNALS
};

G_DEFINE_ABSTRACT_TYPE (QmPlotSource, qm_plot_source, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];

void
qm_plot_source_settle (QmPlotSource *self)
{
  g_return_if_fail (QM_IS_PLOT_SOURCE (self));

  if (QM_PLOT_SOURCE_GET_CLASS (self)->settle != NULL)
    QM_PLOT_SOURCE_GET_CLASS (self)->settle (self);
}

const QmPlotData *
qm_plot_source_get_data (QmPlotSource *self)
{
  g_return_val_if_fail (QM_IS_PLOT_SOURCE (self), NULL);

  return QM_PLOT_SOURCE_GET_CLASS (self)->get_data (self);
}

void
qm_plot_source_set_hovered (QmPlotSource *self, int index)
{
  g_return_if_fail (QM_IS_PLOT_SOURCE (self));

  if (QM_PLOT_SOURCE_GET_CLASS (self)->set_hovered != NULL)
    QM_PLOT_SOURCE_GET_CLASS (self)->set_hovered (self, index);
}

void
qm_plot_source_set_range (QmPlotSource *self, const QmPlotZoom *range)
{
  g_return_if_fail (QM_IS_PLOT_SOURCE (self));

  if (QM_PLOT_SOURCE_GET_CLASS (self)->set_range != NULL)
    QM_PLOT_SOURCE_GET_CLASS (self)->set_range (self, range);
}

char *
qm_plot_source_describe (QmPlotSource *self)
{
  g_return_val_if_fail (QM_IS_PLOT_SOURCE (self), NULL);

  return QM_PLOT_SOURCE_GET_CLASS (self)->describe (self);
}

gboolean
qm_plot_source_select (QmPlotSource *self, int index)
{
  g_return_val_if_fail (QM_IS_PLOT_SOURCE (self), FALSE);

  return QM_PLOT_SOURCE_GET_CLASS (self)->select != NULL
         && QM_PLOT_SOURCE_GET_CLASS (self)->select (self, index);
}

gboolean
qm_plot_source_can_select (QmPlotSource *self)
{
  g_return_val_if_fail (QM_IS_PLOT_SOURCE (self), FALSE);

  return QM_PLOT_SOURCE_GET_CLASS (self)->select != NULL;
}

GMenuModel *
qm_plot_source_create_menu (QmPlotSource *self)
{
  g_return_val_if_fail (QM_IS_PLOT_SOURCE (self), NULL);

  return QM_PLOT_SOURCE_GET_CLASS (self)->create_menu != NULL
             ? QM_PLOT_SOURCE_GET_CLASS (self)->create_menu (self)
             : NULL;
}

void
qm_plot_source_rebuilt (QmPlotSource *self, gboolean whole)
{
  g_return_if_fail (QM_IS_PLOT_SOURCE (self));

  g_signal_emit (self, signals[REBUILT], 0, whole);
}

void
qm_plot_source_changed (QmPlotSource *self, QmPlotSourcePart part)
{
  g_return_if_fail (QM_IS_PLOT_SOURCE (self));

  g_signal_emit (self, signals[CHANGED], 0, (guint) part);
}

static void
qm_plot_source_class_init (QmPlotSourceClass *klass)
{
  signals[REBUILT] =
      g_signal_new ("rebuilt", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
qm_plot_source_init (QmPlotSource *self)
{
}
