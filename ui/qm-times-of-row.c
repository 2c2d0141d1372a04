/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-times-of-row.h"

#include "pricing/qm-prose.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>

struct _QmTimesOfRow
{
  AdwComboRow parent_instance;

  GtkWidget *reset_button;
};

G_DEFINE_FINAL_TYPE (QmTimesOfRow, qm_times_of_row, ADW_TYPE_COMBO_ROW)

static const char *
note_of (guint times_of)
{
  switch (times_of)
    {
    case QM_TIMES_OF_QUARTERMASTER:
      return _ ("What qm-bench measured with its own engine");
    case QM_TIMES_OF_PUBLICATION:
      return _ ("Only the published ones, all taken in the same way");
    case QM_TIMES_OF_PYTORCH:
    default:
      return _ ("Published ones and those that were measured with it");
    }
}

static void
selected_cb (QmTimesOfRow *self)
{
  guint selected = adw_combo_row_get_selected (ADW_COMBO_ROW (self));

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), note_of (selected));
  gtk_widget_set_visible (self->reset_button, selected != QM_TIMES_OF_PYTORCH);
}

static void
reset_cb (QmTimesOfRow *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (GTK_WIDGET (self));
  adw_combo_row_set_selected (ADW_COMBO_ROW (self), QM_TIMES_OF_PYTORCH);
}

static void
qm_times_of_row_constructed (GObject *object)
{
  QmTimesOfRow *self = QM_TIMES_OF_ROW (object);

  G_OBJECT_CLASS (qm_times_of_row_parent_class)->constructed (object);

  qm_input_name_reset (self->reset_button, adw_preferences_row_get_title (
                                               ADW_PREFERENCES_ROW (self)));
}

static void
qm_times_of_row_class_init (QmTimesOfRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = qm_times_of_row_constructed;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-times-of-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmTimesOfRow,
                                        reset_button);
  gtk_widget_class_bind_template_callback (widget_class, reset_cb);
}

static void
qm_times_of_row_init (QmTimesOfRow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  gtk_widget_init_template (GTK_WIDGET (self));
  for (int i = 0; i < QM_N_TIMES_OF; i++)
    gtk_string_list_append (names, qm_prose_times_of_name ((QmTimesOf) i));
  adw_combo_row_set_model (ADW_COMBO_ROW (self), G_LIST_MODEL (names));
  g_signal_connect (self, "notify::selected", G_CALLBACK (selected_cb), NULL);
  selected_cb (self);
}
