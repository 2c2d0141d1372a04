/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-times-of-row.h"

#include "pricing/advice/qm-prose.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>

struct _QmTimesOfRow
{
  AdwPreferencesRow parent_instance;

  GtkLabel *title_label;
  GtkDropDown *drop_down;
  GtkLabel *note_label;
  GtkWidget *reset_button;
};

enum
{
  PROP_0,
  PROP_TIMES_OF,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmTimesOfRow, qm_times_of_row, ADW_TYPE_PREFERENCES_ROW)

static GParamSpec *properties[N_PROPS];

static const char *
note_of (guint times_of)
{
  switch (times_of)
    {
    case QM_TIMES_OF_QUARTERMASTER:
      return _ ("Measured with its own engine, or predicted for it");
    case QM_TIMES_OF_PUBLICATION:
    case QM_TIMES_OF_PYTORCH:
    default:
      return _ ("Measured or reported with it, or predicted for it");
    }
}

static void
sync_note (QmTimesOfRow *self)
{
  guint selected = gtk_drop_down_get_selected (self->drop_down);

  qm_input_name_drop_down (self->drop_down,
                           gtk_label_get_text (self->title_label),
                           qm_prose_times_of_name ((QmTimesOf) selected));
  gtk_label_set_text (self->note_label, note_of (selected));
  gtk_widget_set_visible (self->reset_button, selected != QM_TIMES_OF_PYTORCH);
}

static void
selected_cb (QmTimesOfRow *self)
{
  sync_note (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TIMES_OF]);
}

static void
reset_cb (QmTimesOfRow *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (GTK_WIDGET (self->drop_down));
  gtk_drop_down_set_selected (self->drop_down, QM_TIMES_OF_PYTORCH);
}

static void
qm_times_of_row_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_TIMES_OF:
      g_value_set_int (value, (int) gtk_drop_down_get_selected (
                                  QM_TIMES_OF_ROW (object)->drop_down));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_times_of_row_set_property (GObject *object,
                              guint prop_id,
                              const GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_TIMES_OF:
      gtk_drop_down_set_selected (QM_TIMES_OF_ROW (object)->drop_down,
                                  (guint) g_value_get_int (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_times_of_row_class_init (QmTimesOfRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_times_of_row_get_property;
  object_class->set_property = qm_times_of_row_set_property;

  properties[PROP_TIMES_OF] = g_param_spec_int (
      "times-of", NULL, NULL, 0, QM_TIMES_OF_QUARTERMASTER, QM_TIMES_OF_PYTORCH,
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-times-of-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmTimesOfRow,
                                        title_label);
  gtk_widget_class_bind_template_child (widget_class, QmTimesOfRow, drop_down);
  gtk_widget_class_bind_template_child (widget_class, QmTimesOfRow, note_label);
  gtk_widget_class_bind_template_child (widget_class, QmTimesOfRow,
                                        reset_button);
  gtk_widget_class_bind_template_callback (widget_class, reset_cb);
}

static void
qm_times_of_row_init (QmTimesOfRow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  gtk_widget_init_template (GTK_WIDGET (self));
  for (int i = 0; i < QM_TIMES_OF_PUBLICATION; i++)
    gtk_string_list_append (names, qm_prose_times_of_name ((QmTimesOf) i));
  gtk_drop_down_set_model (self->drop_down, G_LIST_MODEL (names));
  g_signal_connect_swapped (self->drop_down, "notify::selected",
                            G_CALLBACK (selected_cb), self);
  qm_input_name_reset (self->reset_button,
                       gtk_label_get_text (self->title_label));
  sync_note (self);
}
