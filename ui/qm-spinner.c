/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-spinner.h"

struct _QmSpinner
{
  AdwBin parent_instance;

  GtkSpinner *spinner;
  gboolean spinning;
};

enum
{
  PROP_0,
  PROP_SPINNING,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmSpinner, qm_spinner, ADW_TYPE_BIN)

static GParamSpec *properties[N_PROPS];

static void
update_spinning (QmSpinner *self)
{
  gtk_spinner_set_spinning (self->spinner,
                            self->spinning
                                && gtk_widget_get_mapped (GTK_WIDGET (self)));
}

void
qm_spinner_set_spinning (QmSpinner *self, gboolean spinning)
{
  g_return_if_fail (QM_IS_SPINNER (self));

  if (self->spinning == !!spinning)
    return;
  self->spinning = !!spinning;
  update_spinning (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SPINNING]);
}

static void
qm_spinner_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (qm_spinner_parent_class)->map (widget);
  update_spinning (QM_SPINNER (widget));
}

static void
qm_spinner_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (qm_spinner_parent_class)->unmap (widget);
  update_spinning (QM_SPINNER (widget));
}

static void
qm_spinner_get_property (GObject *object,
                         guint property,
                         GValue *value,
                         GParamSpec *pspec)
{
  if (property == PROP_SPINNING)
    g_value_set_boolean (value, QM_SPINNER (object)->spinning);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property, pspec);
}

static void
qm_spinner_set_property (GObject *object,
                         guint property,
                         const GValue *value,
                         GParamSpec *pspec)
{
  if (property == PROP_SPINNING)
    qm_spinner_set_spinning (QM_SPINNER (object), g_value_get_boolean (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property, pspec);
}

static void
qm_spinner_class_init (QmSpinnerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_spinner_get_property;
  object_class->set_property = qm_spinner_set_property;
  widget_class->map = qm_spinner_map;
  widget_class->unmap = qm_spinner_unmap;

  properties[PROP_SPINNING] =
      g_param_spec_boolean ("spinning", NULL, NULL, FALSE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
qm_spinner_init (QmSpinner *self)
{
  self->spinner = GTK_SPINNER (gtk_spinner_new ());
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->spinner));
}
