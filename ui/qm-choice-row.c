/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-choice-row.h"

#include "ui/qm-input.h"
#include "ui/qm-terms-button.h"

struct _QmChoiceRow
{
  AdwPreferencesRow parent_instance;

  GtkWidget *title_label;
  GtkWidget *reset_button;
  GtkWidget *first_button;
  GtkWidget *second_button;
  GtkWidget *note_label;
  GtkWidget *terms_button;

  char *first_note;
  char *second_note;
};

enum
{
  PROP_0,
  PROP_FIRST_LABEL,
  PROP_SECOND_LABEL,
  PROP_FIRST_NOTE,
  PROP_SECOND_NOTE,
  PROP_SECOND,
  PROP_TERMS,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmChoiceRow, qm_choice_row, ADW_TYPE_PREFERENCES_ROW)

static GParamSpec *properties[N_PROPS];

gboolean
qm_choice_row_get_second (QmChoiceRow *self)
{
  g_return_val_if_fail (QM_IS_CHOICE_ROW (self), FALSE);

  return gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->second_button));
}

static void
set_second (QmChoiceRow *self, gboolean second)
{
  g_return_if_fail (QM_IS_CHOICE_ROW (self));

  /* In a group a button is turned off by turning another one on. */
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (second ? self->second_button
                                                          : self->first_button),
                                TRUE);
}

static void
sync_note (QmChoiceRow *self)
{
  gboolean second = qm_choice_row_get_second (self);
  const char *note = second ? self->second_note : self->first_note;

  gtk_label_set_text (GTK_LABEL (self->note_label), note ?: "");
  gtk_widget_set_visible (self->reset_button, second);
}

static void
toggled_cb (QmChoiceRow *self)
{
  sync_note (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SECOND]);
}

/* A long translation must not make the panel wider. */
static void
ellipsize (GtkWidget *button)
{
  GtkWidget *label = gtk_button_get_child (GTK_BUTTON (button));

  if (GTK_IS_LABEL (label))
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
}

static void
choice_reset_cb (QmChoiceRow *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (self->first_button);
  set_second (self, FALSE);
}

/* The title comes after the row was made. */
static void
title_changed_cb (QmChoiceRow *self)
{
  qm_input_name_reset (self->reset_button,
                       gtk_label_get_text (GTK_LABEL (self->title_label)));
}

static void
qm_choice_row_constructed (GObject *object)
{
  QmChoiceRow *self = QM_CHOICE_ROW (object);

  G_OBJECT_CLASS (qm_choice_row_parent_class)->constructed (object);

  ellipsize (self->first_button);
  ellipsize (self->second_button);
  g_signal_connect_object (self->title_label, "notify::label",
                           G_CALLBACK (title_changed_cb), self,
                           G_CONNECT_SWAPPED);
  title_changed_cb (self);
  sync_note (self);
}

static void
qm_choice_row_finalize (GObject *object)
{
  QmChoiceRow *self = QM_CHOICE_ROW (object);

  g_clear_pointer (&self->first_note, g_free);
  g_clear_pointer (&self->second_note, g_free);

  G_OBJECT_CLASS (qm_choice_row_parent_class)->finalize (object);
}

static void
qm_choice_row_get_property (GObject *object,
                            guint prop_id,
                            GValue *value,
                            GParamSpec *pspec)
{
  QmChoiceRow *self = QM_CHOICE_ROW (object);

  switch (prop_id)
    {
    case PROP_FIRST_LABEL:
      g_value_set_string (value, gtk_button_get_label (
                                     GTK_BUTTON (self->first_button)));
      break;

    case PROP_SECOND_LABEL:
      g_value_set_string (value, gtk_button_get_label (
                                     GTK_BUTTON (self->second_button)));
      break;

    case PROP_FIRST_NOTE:
      g_value_set_string (value, self->first_note);
      break;

    case PROP_SECOND_NOTE:
      g_value_set_string (value, self->second_note);
      break;

    case PROP_SECOND:
      g_value_set_boolean (value, qm_choice_row_get_second (self));
      break;

    case PROP_TERMS:
      g_object_get_property (G_OBJECT (self->terms_button), "terms", value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_choice_row_set_property (GObject *object,
                            guint prop_id,
                            const GValue *value,
                            GParamSpec *pspec)
{
  QmChoiceRow *self = QM_CHOICE_ROW (object);

  switch (prop_id)
    {
    case PROP_FIRST_LABEL:
      gtk_button_set_label (GTK_BUTTON (self->first_button),
                            g_value_get_string (value));
      break;

    case PROP_SECOND_LABEL:
      gtk_button_set_label (GTK_BUTTON (self->second_button),
                            g_value_get_string (value));
      break;

    case PROP_FIRST_NOTE:
      self->first_note = g_value_dup_string (value);
      break;

    case PROP_SECOND_NOTE:
      self->second_note = g_value_dup_string (value);
      break;

    case PROP_SECOND:
      set_second (self, g_value_get_boolean (value));
      break;

    case PROP_TERMS:
      g_object_set_property (G_OBJECT (self->terms_button), "terms", value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static GParamSpec *
construct_string (const char *name)
{
  return g_param_spec_string (name, NULL, NULL, NULL,
                              G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                  | G_PARAM_STATIC_STRINGS);
}

static void
qm_choice_row_class_init (QmChoiceRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = qm_choice_row_constructed;
  object_class->finalize = qm_choice_row_finalize;
  object_class->get_property = qm_choice_row_get_property;
  object_class->set_property = qm_choice_row_set_property;

  properties[PROP_FIRST_LABEL] = construct_string ("first-label");
  properties[PROP_SECOND_LABEL] = construct_string ("second-label");
  properties[PROP_FIRST_NOTE] = construct_string ("first-note");
  properties[PROP_SECOND_NOTE] = construct_string ("second-note");
  properties[PROP_SECOND] =
      g_param_spec_boolean ("second", NULL, NULL, FALSE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                | G_PARAM_STATIC_STRINGS);
  properties[PROP_TERMS] =
      g_param_spec_string ("terms", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  g_type_ensure (QM_TYPE_TERMS_BUTTON);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-choice-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow, title_label);
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow,
                                        first_button);
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow,
                                        second_button);
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow, note_label);
  gtk_widget_class_bind_template_child (widget_class, QmChoiceRow,
                                        terms_button);
  gtk_widget_class_bind_template_callback (widget_class, toggled_cb);
  gtk_widget_class_bind_template_callback (widget_class, choice_reset_cb);
}

static void
qm_choice_row_init (QmChoiceRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
