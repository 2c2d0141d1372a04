/* SPDX-License-Identifier: Apache-2.0 */

/* The window's commands for models and results that come from files or go into
 * them. */

#include "config.h"

#include "ui/qm-window-private.h"

#include "ui/advisor/qm-take-away-window.h"
#include "ui/machine/qm-elsewhere-window.h"
#include "ui/machine/qm-results-import.h"
#include "ui/models/qm-model-editor.h"
#include "ui/models/qm-models-window.h"

#include <glib/gi18n-lib.h>

static void
models_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  if (self->models == NULL)
    g_set_weak_pointer (&self->models,
                        qm_models_window_new (GTK_WINDOW (self), self->keeper));
  gtk_window_present (GTK_WINDOW (self->models));
}

static void
model_saved_cb (QmWindow *self, const char *id)
{
  qm_window_add_toast (self, _ ("The model is saved: choose it on the left"));
}

static void
new_model_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  qm_model_editor_choose (GTK_WINDOW (self), self->keeper,
                          G_CALLBACK (model_saved_cb), self);
}

static void
written_cb (QmWindow *self, const char *path)
{
  g_autofree char *shown = g_filename_display_name (path);
  /* Translators: path of a folder. */
  g_autofree char *message =
      g_strdup_printf (_ ("Written: %s. Its README says what to do."), shown);

  qm_window_add_toast (self, message);
}

static void
elsewhere_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);
  g_auto (GStrv) chosen = NULL;
  GtkWidget *window;

  g_object_get (self->advisor, "models", &chosen, NULL);
  window = qm_elsewhere_window_new (GTK_WINDOW (self), self->keeper,
                                    (const char *const *) chosen);
  g_signal_connect_object (window, "written", G_CALLBACK (written_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (window));
}

static void
imported_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmWindow) self = data;
  g_autofree char *base = g_file_get_basename (G_FILE (source));
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *message = NULL;
  g_autoptr (GError) error = NULL;
  QmResultsImport done;

  if (!qm_results_import_finish (result, &done, &error))
    {
      /* Translators: file name, what is wrong. */
      message = g_strdup_printf (_ ("“%s” was not imported: %s"), name,
                                 error->message);
      qm_window_add_toast (self, message);
      return;
    }
  if (done.other)
    message = g_strdup_printf (
        /* Translators: number of results, name of a machine. */
        ngettext ("%u result of another machine called %s is imported",
                  "%u results of another machine called %s are imported",
                  done.added),
        done.added, done.host);
  else if (done.added > 0)
    message = g_strdup_printf (
        /* Translators: number of results, name of a machine. */
        ngettext ("%u result of %s is imported",
                  "%u results of %s are imported", done.added),
        done.added, done.host);
  else
    /* Translators: name of a machine. */
    message =
        g_strdup_printf (_ ("All results of %s were there before"), done.host);
  g_free (done.host);
  qm_window_add_toast (self, message);
  /* The window may be gone by now. */
  if (self->keeper != NULL)
    qm_catalog_keeper_load (self->keeper, NULL);
}

static void
import_results (QmWindow *self, GFile *file)
{
  qm_results_import_async (file, NULL, imported_cb, g_object_ref (self));
}

static void
results_chosen_cb (QmWindow *self, int response)
{
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (self->chooser));
  if (file != NULL)
    import_results (self, file);
  g_clear_object (&self->chooser);
}

static void
import_results_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  if (self->chooser != NULL)
    return;
  self->chooser =
      gtk_file_chooser_native_new (_ ("Import Results"), GTK_WINDOW (self),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  gtk_file_filter_set_name (filter, _ ("Results (HOST.jsonl)"));
  gtk_file_filter_add_pattern (filter, "*.jsonl");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (self->chooser), filter);
  g_signal_connect_object (self->chooser, "response",
                           G_CALLBACK (results_chosen_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* A configuration that is dropped on the advisor becomes a model, results are
 * imported and a question is asked. */
static gboolean
drop_cb (QmWindow *self, const GValue *value)
{
  GFile *file = g_value_get_object (value);
  g_autofree char *name = file != NULL ? g_file_get_basename (file) : NULL;
  GtkWidget *editor;

  if (file == NULL)
    return FALSE;
  if (g_str_has_suffix (name, ".jsonl"))
    {
      import_results (self, file);
      return TRUE;
    }
  if (g_str_has_suffix (name, QM_ASKED_SUFFIX))
    {
      qm_window_open_question (self, file);
      return TRUE;
    }
  editor = qm_model_editor_new (GTK_WINDOW (self), self->keeper);
  g_signal_connect_object (editor, "saved", G_CALLBACK (model_saved_cb), self,
                           G_CONNECT_SWAPPED);
  qm_model_editor_open (QM_MODEL_EDITOR (editor), file);
  gtk_window_present (GTK_WINDOW (editor));
  return TRUE;
}

void
qm_window_accept_drops (QmWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (G_TYPE_FILE, GDK_ACTION_COPY);

  g_signal_connect_object (target, "drop", G_CALLBACK (drop_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_add_controller (GTK_WIDGET (self->advisor_bin),
                             GTK_EVENT_CONTROLLER (target));
}

static void
take_away_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);
  GtkWidget *window =
      qm_take_away_window_new (GTK_WINDOW (self), self->advisor);

  if (window != NULL)
    gtk_window_present (GTK_WINDOW (window));
  else
    qm_window_add_toast (self, _ ("No machine is selected or recommended"));
}

void
qm_window_install_files (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "win.models", NULL, models_cb);
  gtk_widget_class_install_action (widget_class, "win.new-model", NULL,
                                   new_model_cb);
  gtk_widget_class_install_action (widget_class, "win.benchmark-elsewhere",
                                   NULL, elsewhere_cb);
  gtk_widget_class_install_action (widget_class, "win.import-results", NULL,
                                   import_results_cb);
  gtk_widget_class_install_action (widget_class, "win.take-away", NULL,
                                   take_away_cb);
}
