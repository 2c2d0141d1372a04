/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-marker.h"

#include "ui/qm-theme.h"

#define MARKER_SIZE 16

struct _QmMarker
{
  GtkWidget parent_instance;

  guint style;
  QmPlotProvenance provenance;
  QmPlotPointFlags flags;
};

G_DEFINE_FINAL_TYPE (QmMarker, qm_marker, GTK_TYPE_WIDGET)

GtkWidget *
qm_marker_new (guint style)
{
  QmMarker *self = g_object_new (QM_TYPE_MARKER, NULL);

  self->style = style;
  return GTK_WIDGET (self);
}

static void
qm_marker_measure (GtkWidget *widget,
                   GtkOrientation orientation,
                   int for_size,
                   int *minimum,
                   int *natural,
                   int *minimum_baseline,
                   int *natural_baseline)
{
  *minimum = *natural = MARKER_SIZE;
}

static void
qm_marker_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  QmMarker *self = QM_MARKER (widget);
  const QmPlotTheme *theme = qm_theme_current ();
  double width = gtk_widget_get_width (widget);
  double height = gtk_widget_get_height (widget);
  double scale = 0.3 * MARKER_SIZE / qm_plot_marker_radius (theme, 1);
  cairo_t *cr;

  cr = gtk_snapshot_append_cairo (snapshot,
                                  &GRAPHENE_RECT_INIT (0, 0, width, height));
  cairo_translate (cr, width / 2, height / 2);
  cairo_scale (cr, scale, scale);
  qm_plot_draw_marker (cr, theme, self->style, 1, self->provenance,
                       self->flags);
  cairo_destroy (cr);
}

static void
qm_marker_class_init (QmMarkerClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->measure = qm_marker_measure;
  widget_class->snapshot = qm_marker_snapshot;

  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
qm_marker_init (QmMarker *self)
{
  qm_theme_watch (GTK_WIDGET (self), gtk_widget_queue_draw);
}

void
qm_marker_set_look (QmMarker *self,
                    guint style,
                    QmPlotProvenance provenance,
                    QmPlotPointFlags flags)
{
  g_return_if_fail (QM_IS_MARKER (self));

  flags &= QM_PLOT_POINT_CROSSED;
  if (self->style == style && self->provenance == provenance
      && self->flags == flags)
    return;
  self->style = style;
  self->provenance = provenance;
  self->flags = flags;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
