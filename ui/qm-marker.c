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

enum
{
  PROP_0,
  PROP_STYLE,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmMarker, qm_marker, GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];

GtkWidget *
qm_marker_new (guint style)
{
  return g_object_new (QM_TYPE_MARKER, "style", style, NULL);
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
qm_marker_get_property (GObject *object,
                        guint prop_id,
                        GValue *value,
                        GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_STYLE:
      g_value_set_uint (value, QM_MARKER (object)->style);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_marker_set_property (GObject *object,
                        guint prop_id,
                        const GValue *value,
                        GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_STYLE:
      QM_MARKER (object)->style = g_value_get_uint (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_marker_class_init (QmMarkerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_marker_get_property;
  object_class->set_property = qm_marker_set_property;
  widget_class->measure = qm_marker_measure;
  widget_class->snapshot = qm_marker_snapshot;

  properties[PROP_STYLE] =
      g_param_spec_uint ("style", NULL, NULL, 0, G_MAXUINT, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                             | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

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
