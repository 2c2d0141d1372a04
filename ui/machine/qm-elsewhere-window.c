/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-elsewhere-window.h"

#include "ui/machine/qm-elsewhere.h"
#include "ui/qm-field-row.h"
#include "ui/qm-spinner.h"

#include <glib/gi18n-lib.h>

#define FOLDER_NAME "quartermaster-benchmark"
#define MOST_HOURS  8760

static const char *const methods[] = { "all", "free-lunch", "naive" };

struct _QmElsewhereWindow
{
  AdwWindow parent_instance;

  QmSpinner *spinner;
  GtkLabel *problem;
  AdwPreferencesGroup *where;
  GtkSwitch *slurm_switch;
  AdwPreferencesGroup *slurm;
  AdwPreferencesGroup *what;
  AdwComboRow *methods_row;
  AdwPreferencesGroup *models;
  QmFieldRow *partition_row;
  QmFieldRow *account_row;
  QmFieldRow *gpus_row;
  QmFieldRow *limit_row;
  GPtrArray *checks; /* of GtkCheckButton, one for each model */
  GPtrArray *rows;   /* of GtkWidget, that they are in */

  QmCatalogKeeper *keeper;
  GtkFileChooserNative *chooser;
  GCancellable *cancellable; /* of the writing under way */
  char *path;                /* that is being written */
};

enum
{
  WRITTEN,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmElsewhereWindow, qm_elsewhere_window, ADW_TYPE_WINDOW)

static guint signals[N_SIGNALS];

static void
show_problem (QmElsewhereWindow *self, const char *text)
{
  gtk_label_set_text (self->problem, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->problem), text != NULL);
}

static gboolean
is_slurm (QmElsewhereWindow *self)
{
  return gtk_switch_get_active (self->slurm_switch);
}

/* --- Reading the form ----------------------------------------------------- */

/* Takes a word; empty is nothing where that is allowed. */
static gboolean
read_word (QmFieldRow *row, gboolean optional, char **word)
{
  const char *text = qm_field_row_get_text (row);
  const char *problem = NULL;

  g_clear_pointer (word, g_free);
  if (*text == '\0' && !optional)
    problem = _ ("It has to be said how many, as 1 or a100:1");
  else if (*text != '\0' && !qm_elsewhere_is_word (text))
    problem = _ ("Letters, digits and _ . , : @ + - alone");
  else if (*text != '\0')
    *word = g_strdup (text);
  qm_field_row_set_problem (row, problem);
  return problem == NULL;
}

/* Reads hours; nothing is no limit, but of a job. */
static gboolean
read_limit (QmElsewhereWindow *self, gint64 *seconds)
{
  double hours;

  if (!qm_field_row_read_number (self->limit_row, 0.1, MOST_HOURS,
                                 !is_slurm (self), &hours))
    return FALSE;
  *seconds = hours > 0 ? (gint64) (hours * 3600) : 0;
  return TRUE;
}

/* (transfer full) */
static GStrv
ticked_models (QmElsewhereWindow *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < self->checks->len; i++)
    {
      GtkCheckButton *check = g_ptr_array_index (self->checks, i);

      if (gtk_check_button_get_active (check))
        g_strv_builder_add (builder,
                            g_object_get_data (G_OBJECT (check), "model"));
    }
  return g_strv_builder_end (builder);
}

/* What the form says; NULL where something is wrong, which it then says.
 * (transfer full) */
static QmElsewhere *
read_form (QmElsewhereWindow *self)
{
  g_autoptr (QmElsewhere) asked = qm_elsewhere_new ();
  gboolean good = read_limit (self, &asked->time_limit_s);

  asked->slurm = is_slurm (self);
  asked->models = ticked_models (self);
  asked->methods =
      g_strdup (methods[adw_combo_row_get_selected (self->methods_row)]);
  if (asked->slurm)
    {
      good = read_word (self->partition_row, TRUE, &asked->partition) && good;
      good = read_word (self->account_row, TRUE, &asked->account) && good;
      good = read_word (self->gpus_row, FALSE, &asked->gpus) && good;
    }
  return good && asked->models[0] != NULL ? g_steal_pointer (&asked) : NULL;
}

static void
refresh (QmElsewhereWindow *self)
{
  g_autoptr (QmElsewhere) asked = read_form (self);

  gtk_widget_set_visible (GTK_WIDGET (self->slurm), is_slurm (self));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "elsewhere.write",
                                 asked != NULL && self->cancellable == NULL);
}

/* --- Writing -------------------------------------------------------------- */

static void
write_in_thread (GTask *task,
                 gpointer source,
                 gpointer data,
                 GCancellable *cancellable)
{
  const char *path = g_object_get_data (G_OBJECT (task), "path");
  GError *error = NULL;

  if (qm_elsewhere_write (data, path, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
written_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (object);
  g_autoptr (GError) error = NULL;

  g_clear_object (&self->cancellable);
  qm_spinner_set_spinning (self->spinner, FALSE);
  if (g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_signal_emit (self, signals[WRITTEN], 0, self->path);
      gtk_window_close (GTK_WINDOW (self));
      return;
    }
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    show_problem (self, error->message);
  refresh (self);
}

/* A name that is free in a folder.  (transfer full) */
static char *
free_path (const char *folder)
{
  char *path = g_build_filename (folder, FOLDER_NAME, NULL);

  for (int i = 2; g_file_test (path, G_FILE_TEST_EXISTS); i++)
    {
      g_autofree char *name = g_strdup_printf (FOLDER_NAME "-%d", i);

      g_free (path);
      path = g_build_filename (folder, name, NULL);
    }
  return path;
}

static void
write_to (QmElsewhereWindow *self, const char *folder)
{
  QmElsewhere *asked = read_form (self);
  g_autoptr (GTask) task = NULL;

  if (asked == NULL || self->cancellable != NULL)
    {
      qm_elsewhere_free (asked);
      return;
    }
  show_problem (self, NULL);
  g_free (self->path);
  self->path = free_path (folder);
  self->cancellable = g_cancellable_new ();
  qm_spinner_set_spinning (self->spinner, TRUE);
  refresh (self);
  task = g_task_new (self, self->cancellable, written_cb, NULL);
  g_task_set_source_tag (task, write_to);
  g_task_set_task_data (task, asked, (GDestroyNotify) qm_elsewhere_free);
  g_object_set_data_full (G_OBJECT (task), "path", g_strdup (self->path),
                          g_free);
  g_task_run_in_thread (task, write_in_thread);
}

static void
chosen_cb (QmElsewhereWindow *self, int response)
{
  g_autoptr (GFile) folder = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    folder = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (self->chooser));
  if (folder != NULL && g_file_peek_path (folder) != NULL)
    write_to (self, g_file_peek_path (folder));
  else if (folder != NULL)
    show_problem (self, _ ("The folder has to be on this computer"));
  g_clear_object (&self->chooser);
}

static void
write_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (widget);

  if (self->chooser != NULL)
    return;
  self->chooser = gtk_file_chooser_native_new (
      _ ("Where the Folder Goes"), GTK_WINDOW (self),
      GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_signal_connect_object (self->chooser, "response", G_CALLBACK (chosen_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* --- Building ------------------------------------------------------------- */

static void
add_model (QmElsewhereWindow *self, const QmModel *model, gboolean ticked)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *check = gtk_check_button_new ();

  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), ticked);
  gtk_widget_set_valign (check, GTK_ALIGN_CENTER);
  g_object_set_data_full (G_OBJECT (check), "model", g_strdup (model->id),
                          g_free);
  g_signal_connect_object (check, "toggled", G_CALLBACK (refresh), self,
                           G_CONNECT_SWAPPED);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), model->name);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  adw_preferences_group_add (self->models, row);
  g_ptr_array_add (self->checks, check);
  g_ptr_array_add (self->rows, row);
}

static void
fill_models (QmElsewhereWindow *self, const char *const *ticked)
{
  size_t n;
  const QmModel *models =
      qm_catalog_models (qm_catalog_keeper_get (self->keeper), &n);

  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (self->models,
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  g_ptr_array_set_size (self->checks, 0);
  for (size_t i = 0; i < n; i++)
    add_model (self, &models[i], g_strv_contains (ticked, models[i].id));
  refresh (self);
}

static void
catalog_changed_cb (QmElsewhereWindow *self)
{
  g_auto (GStrv) ticked = ticked_models (self);

  fill_models (self, (const char *const *) ticked);
}

GtkWidget *
qm_elsewhere_window_new (GtkWindow *parent,
                         QmCatalogKeeper *keeper,
                         const char *const *chosen)
{
  QmElsewhereWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);
  g_return_val_if_fail (chosen != NULL, NULL);

  self = g_object_new (QM_TYPE_ELSEWHERE_WINDOW, "transient-for", parent,
                       "destroy-with-parent", TRUE, NULL);
  self->keeper = g_object_ref (keeper);
  fill_models (self, chosen);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (catalog_changed_cb),
                           self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static QmFieldRow *
add_field (QmElsewhereWindow *self,
           AdwPreferencesGroup *group,
           const char *title,
           const char *hint)
{
  GtkWidget *row = qm_field_row_new (title, hint);

  g_signal_connect_object (row, "changed", G_CALLBACK (refresh), self,
                           G_CONNECT_SWAPPED);
  adw_preferences_group_add (group, row);
  return QM_FIELD_ROW (row);
}

static void
fill_choice (AdwComboRow *row, const char *const *names)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (names);

  adw_combo_row_set_model (row, G_LIST_MODEL (list));
}

static void
qm_elsewhere_window_dispose (GObject *object)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->chooser);
  g_clear_object (&self->keeper);
  G_OBJECT_CLASS (qm_elsewhere_window_parent_class)->dispose (object);
}

static void
qm_elsewhere_window_finalize (GObject *object)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (object);

  g_clear_object (&self->cancellable);
  g_ptr_array_unref (self->checks);
  g_ptr_array_unref (self->rows);
  g_free (self->path);
  G_OBJECT_CLASS (qm_elsewhere_window_parent_class)->finalize (object);
}

static void
qm_elsewhere_window_class_init (QmElsewhereWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_elsewhere_window_dispose;
  object_class->finalize = qm_elsewhere_window_finalize;
  signals[WRITTEN] =
      g_signal_new ("written", QM_TYPE_ELSEWHERE_WINDOW, G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);

  gtk_widget_class_install_action (widget_class, "elsewhere.write", NULL,
                                   write_cb);
  g_type_ensure (QM_TYPE_SPINNER);
  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-elsewhere-window.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmElsewhereWindow, name)
  BIND (spinner);
  BIND (problem);
  BIND (where);
  BIND (slurm_switch);
  BIND (slurm);
  BIND (what);
  BIND (methods_row);
  BIND (models);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, refresh);
}

static void
qm_elsewhere_window_init (QmElsewhereWindow *self)
{
  const char *names[] = { _ ("Naive, free lunch and all that saves memory"),
                          _ ("Free lunch alone"), _ ("Naive alone"), NULL };
  const char *hint = _ ("As the cluster calls it");

  self->checks = g_ptr_array_new ();
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  self->partition_row = add_field (self, self->slurm, _ ("Partition"), hint);
  self->account_row = add_field (self, self->slurm, _ ("Account"), hint);
  self->gpus_row =
      add_field (self, self->slurm, _ ("GPUs of the node"),
                 _ ("As 1 or a100:1: the benchmark measures on one of them"));
  self->limit_row =
      add_field (self, self->what, _ ("Time limit"),
                 _ ("Hours; what is most telling is measured first"));
  fill_choice (self->methods_row, names);
}
