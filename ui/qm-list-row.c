/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-list-row.h"

#include "ui/qm-input.h"
#include "ui/qm-terms-button.h"

#include <limits.h>

struct _QmListRow
{
  AdwPreferencesRow parent_instance;

  GtkLabel *title_label;
  GtkDropDown *drop_down;
  GtkLabel *note_label;
  GtkWidget *reset_button;
  GtkWidget *terms_button;

  GArray *choices; /* QmListChoice with texts of their own */
};

enum
{
  PROP_0,
  PROP_VALUE,
  PROP_TERMS,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmListRow, qm_list_row, ADW_TYPE_PREFERENCES_ROW)

static GParamSpec *properties[N_PROPS];

static void
choice_clear (gpointer data)
{
  QmListChoice *choice = data;

  g_free ((char *) choice->label);
  g_free ((char *) choice->note);
}

/* The one that is chosen; NULL where there is nothing to choose. */
static const QmListChoice *
chosen (QmListRow *self)
{
  guint selected = gtk_drop_down_get_selected (self->drop_down);

  return selected < self->choices->len
             ? &g_array_index (self->choices, QmListChoice, selected)
             : NULL;
}

static void
sync_note (QmListRow *self)
{
  const QmListChoice *choice = chosen (self);

  if (choice == NULL)
    return;
  qm_input_name_drop_down (self->drop_down,
                           gtk_label_get_text (self->title_label),
                           choice->label);
  gtk_label_set_text (self->note_label, choice->note);
  gtk_widget_set_visible (self->reset_button,
                          gtk_drop_down_get_selected (self->drop_down) != 0);
}

static void
value_selected_cb (QmListRow *self)
{
  sync_note (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_VALUE]);
}

static void
list_reset_cb (QmListRow *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (GTK_WIDGET (self->drop_down));
  gtk_drop_down_set_selected (self->drop_down, 0);
}

/* The title comes after the row was made. */
static void
title_changed_cb (QmListRow *self)
{
  qm_input_name_reset (self->reset_button,
                       gtk_label_get_text (self->title_label));
  sync_note (self);
}

void
qm_list_row_set_choices (QmListRow *self,
                         const QmListChoice *choices,
                         guint n_choices)
{
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);

  g_return_if_fail (QM_IS_LIST_ROW (self));
  g_return_if_fail (choices != NULL && n_choices > 0);

  g_array_set_size (self->choices, 0);
  for (guint i = 0; i < n_choices; i++)
    {
      QmListChoice copy = { choices[i].value, g_strdup (choices[i].label),
                            g_strdup (choices[i].note) };

      g_array_append_val (self->choices, copy);
      gtk_string_list_append (labels, copy.label);
    }
  gtk_drop_down_set_model (self->drop_down, G_LIST_MODEL (labels));
  sync_note (self);
}

static void
choose (QmListRow *self, int value)
{
  for (guint i = 0; i < self->choices->len; i++)
    if (g_array_index (self->choices, QmListChoice, i).value == value)
      gtk_drop_down_set_selected (self->drop_down, i);
}

static void
qm_list_row_get_property (GObject *object,
                          guint prop_id,
                          GValue *value,
                          GParamSpec *pspec)
{
  const QmListChoice *choice = chosen (QM_LIST_ROW (object));

  switch (prop_id)
    {
    case PROP_VALUE:
      g_value_set_int (value, choice != NULL ? choice->value : 0);
      break;

    case PROP_TERMS:
      g_object_get_property (G_OBJECT (QM_LIST_ROW (object)->terms_button),
                             "terms", value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_list_row_set_property (GObject *object,
                          guint prop_id,
                          const GValue *value,
                          GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_VALUE:
      choose (QM_LIST_ROW (object), g_value_get_int (value));
      break;

    case PROP_TERMS:
      g_object_set_property (G_OBJECT (QM_LIST_ROW (object)->terms_button),
                             "terms", value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_list_row_finalize (GObject *object)
{
  g_array_unref (QM_LIST_ROW (object)->choices);
  G_OBJECT_CLASS (qm_list_row_parent_class)->finalize (object);
}

static void
qm_list_row_class_init (QmListRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_list_row_get_property;
  object_class->set_property = qm_list_row_set_property;
  object_class->finalize = qm_list_row_finalize;

  properties[PROP_VALUE] =
      g_param_spec_int ("value", NULL, NULL, INT_MIN, INT_MAX, 0,
                        G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                            | G_PARAM_STATIC_STRINGS);
  properties[PROP_TERMS] =
      g_param_spec_string ("terms", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  g_type_ensure (QM_TYPE_TERMS_BUTTON);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-list-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmListRow, title_label);
  gtk_widget_class_bind_template_child (widget_class, QmListRow, drop_down);
  gtk_widget_class_bind_template_child (widget_class, QmListRow, note_label);
  gtk_widget_class_bind_template_child (widget_class, QmListRow, reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmListRow, terms_button);
  gtk_widget_class_bind_template_callback (widget_class, list_reset_cb);
}

static void
qm_list_row_init (QmListRow *self)
{
  self->choices = g_array_new (FALSE, FALSE, sizeof (QmListChoice));
  g_array_set_clear_func (self->choices, choice_clear);
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->drop_down, "notify::selected",
                            G_CALLBACK (value_selected_cb), self);
  g_signal_connect_swapped (self->title_label, "notify::label",
                            G_CALLBACK (title_changed_cb), self);
  title_changed_cb (self);
}
