/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-models-window.h"

#include "data/flops.h"
#include "pricing/qm-format.h"
#include "ui/models/qm-model-editor.h"
#include "ui/qm-dialog.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>

/* How long undoing is offered; the keyboard can do it afterwards, too. */
#define UNDO_SECONDS 15

struct _QmModelsWindow
{
  AdwWindow parent_instance;

  AdwToastOverlay *toasts;
  GtkStack *stack;
  AdwPreferencesGroup *group;

  QmCatalogKeeper *keeper;
  GPtrArray *models;  /* of QmOwnModel */
  GPtrArray *rows;    /* of GtkWidget, likewise */
  char *removed_path; /* of the last that was deleted; NULL: none */
  GBytes *removed;
  AdwToast *undo_toast; /* weak: what offers to undo it */
};

G_DEFINE_FINAL_TYPE (QmModelsWindow, qm_models_window, ADW_TYPE_WINDOW)

static void list_models (QmModelsWindow *self);

static void
tell_with_undo (QmModelsWindow *self, const char *title)
{
  g_autofree char *markup = g_markup_escape_text (title, -1);
  AdwToast *toast = adw_toast_new (markup);

  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "models.undo");
  adw_toast_set_timeout (toast, UNDO_SECONDS);
  g_set_weak_pointer (&self->undo_toast, toast);
  qm_toasts_show (self->toasts, toast);
}

static GtkWidget *
open_editor (QmModelsWindow *self)
{
  GtkWidget *editor = qm_model_editor_new (GTK_WINDOW (self), self->keeper);

  g_signal_connect_object (editor, "saved", G_CALLBACK (list_models), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (editor));
  return editor;
}

static void
new_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_model_editor_choose (GTK_WINDOW (widget),
                          QM_MODELS_WINDOW (widget)->keeper,
                          G_CALLBACK (list_models), widget);
}

static const QmOwnModel *
model_at (QmModelsWindow *self, GVariant *parameter)
{
  guint index = g_variant_get_uint32 (parameter);

  return index < self->models->len ? g_ptr_array_index (self->models, index)
                                   : NULL;
}

static void
edit_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmModelsWindow *self = QM_MODELS_WINDOW (widget);
  const QmOwnModel *model = model_at (self, parameter);

  if (model != NULL)
    qm_model_editor_edit (QM_MODEL_EDITOR (open_editor (self)), model);
}

/* What cannot be undone any more is not offered. */
static void
forget_removed (QmModelsWindow *self)
{
  if (self->undo_toast != NULL)
    qm_toasts_dismiss (self->toasts, self->undo_toast);
  g_clear_weak_pointer (&self->undo_toast);
  g_clear_pointer (&self->removed_path, g_free);
  g_clear_pointer (&self->removed, g_bytes_unref);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "models.undo", FALSE);
}

static void
delete_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmModelsWindow *self = QM_MODELS_WINDOW (widget);
  const QmOwnModel *model = model_at (self, parameter);
  g_autoptr (GError) error = NULL;
  g_autofree char *message = NULL;
  GBytes *content;
  guint n;

  if (model == NULL)
    return;
  content = qm_model_folder_remove (model->path, &error);
  if (content == NULL)
    {
      qm_toasts_tell (self->toasts, error->message);
      return;
    }
  forget_removed (self);
  self->removed = content;
  self->removed_path = g_strdup (model->path);
  gtk_widget_action_set_enabled (widget, "models.undo", TRUE);
  n = qm_model_folder_count_times (qm_catalog_keeper_get (self->keeper),
                                   model->file.id);
  if (n > 0)
    message = g_strdup_printf (
        /* Translators: name of a model. */
        ngettext ("“%s” is deleted; %u training time is without its model",
                  "“%s” is deleted; %u training times are without their model",
                  n),
        model->file.name, n);
  else
    message = g_strdup_printf (_ ("“%s” is deleted"), model->file.name);
  tell_with_undo (self, message);
  list_models (self);
  qm_catalog_keeper_load (self->keeper, NULL);
}

static void
undo_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmModelsWindow *self = QM_MODELS_WINDOW (widget);
  g_autoptr (GError) error = NULL;

  if (self->removed == NULL)
    return;
  if (!qm_model_folder_restore (self->removed_path, self->removed, &error))
    {
      qm_toasts_tell (self->toasts, error->message);
      return;
    }
  forget_removed (self);
  list_models (self);
  qm_catalog_keeper_load (self->keeper, NULL);
}

/* "gpt_neox · 1,011,781,632 parameters · 3 training times refer to it".
 * (transfer full) */
static char *
describe_model (QmModelsWindow *self, const QmModelFile *file)
{
  g_autofree char *parameters =
      qm_format_number ((double) qm_parameter_count (&file->config), 0);
  guint n = qm_model_folder_count_times (qm_catalog_keeper_get (self->keeper),
                                         file->id);
  GString *text = g_string_new (file->id);

  g_string_append_printf (text, " · %s · ",
                          qm_family_name (file->config.family));
  /* Translators: a number. */
  g_string_append_printf (text, _ ("%s parameters"), parameters);
  if (n > 0)
    {
      g_string_append (text, " · ");
      g_string_append_printf (text,
                              ngettext ("%u training time refers to it",
                                        "%u training times refer to it", n),
                              n);
    }
  return g_string_free (text, FALSE);
}

static GtkWidget *
make_button (const char *icon,
             const char *tip,
             const char *name,
             const char *action,
             guint index)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);
  /* Translators: what a button does, name of a model. */
  g_autofree char *label = g_strdup_printf (_ ("%s: %s"), tip, name);

  gtk_widget_set_tooltip_text (button, tip);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "u", index);
  return button;
}

static void
add_model_row (QmModelsWindow *self, guint index)
{
  const QmOwnModel *model = g_ptr_array_index (self->models, index);
  g_autofree char *text = describe_model (self, &model->file);
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), model->file.name);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), text);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 0);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row),
                             make_button ("document-edit-symbolic",
                                          _ ("Change"), model->file.name,
                                          "models.edit", index));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row),
                             make_button ("user-trash-symbolic", _ ("Delete"),
                                          model->file.name, "models.delete",
                                          index));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "models.edit");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "u", index);
  adw_preferences_group_add (self->group, row);
  g_ptr_array_add (self->rows, row);
}

/* Reads the folder again. */
static void
list_models (QmModelsWindow *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (self->group,
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  g_clear_pointer (&self->models, g_ptr_array_unref);
  self->models = qm_model_folder_list ();
  for (guint i = 0; i < self->models->len; i++)
    add_model_row (self, i);
  gtk_stack_set_visible_child_name (self->stack,
                                    self->models->len > 0 ? "list" : "none");
}

static gboolean
model_dropped_cb (QmModelsWindow *self, const GValue *value)
{
  GFile *file = g_value_get_object (value);

  if (file == NULL)
    return FALSE;
  qm_model_editor_open (QM_MODEL_EDITOR (open_editor (self)), file);
  return TRUE;
}

GtkWidget *
qm_models_window_new (GtkWindow *parent, QmCatalogKeeper *keeper)
{
  QmModelsWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);

  self = g_object_new (QM_TYPE_MODELS_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->keeper = g_object_ref (keeper);
  list_models (self);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (list_models), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
qm_models_window_finalize (GObject *object)
{
  QmModelsWindow *self = QM_MODELS_WINDOW (object);

  g_clear_object (&self->keeper);
  g_clear_pointer (&self->models, g_ptr_array_unref);
  g_ptr_array_unref (self->rows);
  g_clear_weak_pointer (&self->undo_toast);
  g_clear_pointer (&self->removed, g_bytes_unref);
  g_free (self->removed_path);
  G_OBJECT_CLASS (qm_models_window_parent_class)->finalize (object);
}

static void
qm_models_window_class_init (QmModelsWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_models_window_finalize;
  gtk_widget_class_install_action (widget_class, "models.new", NULL, new_cb);
  gtk_widget_class_install_action (widget_class, "models.edit", "u", edit_cb);
  gtk_widget_class_install_action (widget_class, "models.delete", "u",
                                   delete_cb);
  gtk_widget_class_install_action (widget_class, "models.undo", NULL, undo_cb);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-models-window.ui");
  gtk_widget_class_bind_template_child (widget_class, QmModelsWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, QmModelsWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, QmModelsWindow, group);
  gtk_widget_class_bind_template_callback (widget_class, model_dropped_cb);
}

static void
qm_models_window_init (QmModelsWindow *self)
{
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "models.undo", FALSE);
}
