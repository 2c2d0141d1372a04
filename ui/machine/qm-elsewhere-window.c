/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-elsewhere-window.h"

#include "ui/advisor/qm-models.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-elsewhere.h"
#include "ui/qm-dialog.h"
#include "ui/qm-field-row.h"
#include "ui/qm-show.h"
#include "ui/qm-spinner.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#define FOLDER_NAME "quartermaster-benchmark"
#define MOST_HOURS  8760

/* As qm-bench has it of all GPUs. */
#define MOST_NODES 1024

/* Milliseconds between two looks at how far the writing is, and how many such
 * looks later that is shown. */
#define LOOK        100
#define FIRST_LOOKS 8

static const char *const methods[] = { "all", "free-lunch", "naive" };

struct _QmElsewhereWindow
{
  AdwWindow parent_instance;

  QmSpinner *spinner;
  GtkProgressBar *progress;
  GtkLabel *problem;
  AdwPreferencesGroup *where;
  GtkSwitch *slurm_switch;
  AdwActionRow *library_row;
  GtkSwitch *library_switch;
  GtkLabel *size;
  AdwPreferencesGroup *slurm;
  AdwPreferencesGroup *what;
  AdwComboRow *methods_row;
  AdwPreferencesGroup *models;
  QmFieldRow *partition_row;
  QmFieldRow *account_row;
  QmFieldRow *gpus_row, *nodes_row;
  QmFieldRow *limit_row;
  GPtrArray *checks; /* of GtkCheckButton, one for each model */
  GPtrArray *rows;   /* of GtkWidget, that they are in */

  QmCatalogKeeper *keeper;
  GtkFileChooserNative *chooser;
  char *library;        /* the file of cuBLASLt of this computer, or NULL */
  GCancellable *asking; /* of the question where that is */
  GTask *task;          /* of the writing under way, or NULL */
  guint looks;          /* at it, so far */
  guint timer;
};

enum
{
  WRITTEN,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmElsewhereWindow, qm_elsewhere_window, ADW_TYPE_WINDOW)

static guint signals[N_SIGNALS];

/* What the thread that writes has. */
typedef struct
{
  QmElsewhere *asked;
  char *path;
  int permille; /* that is written; of both threads */
} Writing;

static void
writing_free (Writing *writing)
{
  qm_elsewhere_free (writing->asked);
  g_free (writing->path);
  g_free (writing);
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

/* Reads how many machines work together; nothing is one. */
static gboolean
read_nodes (QmElsewhereWindow *self, int *nodes)
{
  double count = 1;

  if (!qm_field_row_read_number (self->nodes_row, 1, MOST_NODES, TRUE, &count))
    return FALSE;
  *nodes = count > 1 ? (int) count : 1;
  return TRUE;
}

/* What the form says; NULL where something is wrong, which it then says.
 * (transfer full) */
static QmElsewhere *
read_form (QmElsewhereWindow *self)
{
  g_autoptr (QmElsewhere) asked = qm_elsewhere_new ();
  gboolean good = read_limit (self, &asked->time_limit_s);

  asked->slurm = is_slurm (self);
  if (gtk_switch_get_active (self->library_switch))
    asked->library = g_strdup (self->library);
  asked->models = qm_models_ticked (self->checks);
  asked->methods =
      g_strdup (methods[adw_combo_row_get_selected (self->methods_row)]);
  if (asked->slurm)
    {
      good = read_word (self->partition_row, TRUE, &asked->partition) && good;
      good = read_word (self->account_row, TRUE, &asked->account) && good;
      good = read_word (self->gpus_row, FALSE, &asked->gpus) && good;
      good = read_nodes (self, &asked->nodes) && good;
    }
  return good && asked->models[0] != NULL ? g_steal_pointer (&asked) : NULL;
}

static void
show_size (QmElsewhereWindow *self)
{
  g_autoptr (QmElsewhere) asked = qm_elsewhere_new ();
  g_autofree char *text = NULL;
  guint64 bytes;

  if (gtk_switch_get_active (self->library_switch))
    asked->library = g_strdup (self->library);
  bytes = qm_elsewhere_measure (asked);
  text = bytes > 0 ? g_format_size (bytes) : g_strdup ("");
  gtk_label_set_text (self->size, text);
}

/* Nothing any more once the window goes away: its widgets go before it. */
static void
refresh_needs (QmElsewhereWindow *self)
{
  g_autoptr (QmElsewhere) asked = NULL;

  if (self->keeper == NULL)
    return;
  asked = read_form (self);
  show_size (self);

  gtk_widget_set_visible (GTK_WIDGET (self->slurm), is_slurm (self));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "elsewhere.write",
                                 asked != NULL && self->task == NULL);
}

/* --- The library of products ---------------------------------------------- */

/* What qm-bench says of its GPUs, or of why there is none. */
static void
read_answer (QmElsewhereWindow *self, const json_t *device, const char **cause)
{
  const json_t *none = json_object_get (device, "no_gpu");
  const char *file = qm_elsewhere_library_of (device);

  if (none != NULL)
    *cause = json_string_value (json_object_get (none, "cause"));
  if (self->library == NULL && file != NULL)
    self->library = g_strdup (file);
}

static void
show_library (QmElsewhereWindow *self, const char *cause)
{
  g_autofree char *text = NULL;
  GStatBuf facts;

  if (self->library != NULL && g_stat (self->library, &facts) != 0)
    g_clear_pointer (&self->library, g_free);
  if (self->library != NULL)
    {
      g_autofree char *size = g_format_size ((guint64) facts.st_size);

      /* Translators: a size, as "542 MB". */
      text = g_strdup_printf (
          _ ("NVIDIA’s library for products of matrices, %s. Without it, a "
             "machine that has neither CUDA 13 nor PyTorch for it measures "
             "with ours, which take longer."),
          size);
    }
  else if (g_strcmp0 (cause, "no-cuda") == 0)
    text = g_strdup (_ ("This qm-bench was built without CUDA: the folder "
                        "measures processors alone."));
  else
    text = g_strdup (_ ("It is not on this computer. A machine that has "
                        "neither CUDA 13 nor PyTorch for it measures with "
                        "products of ours, which take longer."));
  adw_action_row_set_subtitle (self->library_row, text);
  gtk_widget_set_sensitive (GTK_WIDGET (self->library_row),
                            self->library != NULL);
  /* Said of the switch itself, too: who listens is not told of the row. */
  gtk_widget_set_sensitive (GTK_WIDGET (self->library_switch),
                            self->library != NULL);
  gtk_switch_set_active (self->library_switch, self->library != NULL);
  refresh_needs (self);
}

static void
devices_answered_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmElsewhereWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) answers = qm_bench_query_finish (result, NULL, &error);
  const char *cause = NULL;

  g_clear_object (&self->asking);
  if (self->keeper == NULL) /* the answer was there when it was cancelled */
    return;
  for (guint i = 0; answers != NULL && i < answers->len; i++)
    read_answer (self, g_ptr_array_index (answers, i), &cause);
  show_library (self, cause);
}

/* Where cuBLASLt is on this computer, qm-bench knows. */
static void
ask_for_library (QmElsewhereWindow *self)
{
  static const char *const arguments[] = { "devices", "--json", NULL };

  self->asking = g_cancellable_new ();
  qm_bench_query_async (arguments, 0, self->asking, devices_answered_cb,
                        g_object_ref (self));
}

/* --- Writing -------------------------------------------------------------- */

static void
progress_cb (guint64 done, guint64 of, gpointer data)
{
  Writing *writing = data;

  if (of > 0)
    g_atomic_int_set (&writing->permille, (int) MIN (1000, done * 1000 / of));
}

static void
write_in_thread (GTask *task,
                 gpointer source,
                 gpointer data,
                 GCancellable *cancellable)
{
  Writing *writing = data;
  GError *error = NULL;

  if (qm_elsewhere_write (writing->asked, writing->path, progress_cb, writing,
                          cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
folder_written_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (object);
  Writing *writing = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;

  g_clear_object (&self->task);
  g_clear_handle_id (&self->timer, g_source_remove);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), FALSE);
  qm_spinner_set_spinning (self->spinner, FALSE);
  if (g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_signal_emit (self, signals[WRITTEN], 0, writing->path);
      gtk_window_close (GTK_WINDOW (self));
      return;
    }
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    qm_show_where_any (self->problem, error->message);
  refresh_needs (self);
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

static gboolean
look_cb (gpointer data)
{
  QmElsewhereWindow *self = data;
  Writing *writing = g_task_get_task_data (self->task);

  gtk_progress_bar_set_fraction (self->progress,
                                 g_atomic_int_get (&writing->permille) / 1e3);
  if (++self->looks >= FIRST_LOOKS)
    gtk_widget_set_visible (GTK_WIDGET (self->progress), TRUE);
  return G_SOURCE_CONTINUE;
}

static void
write_to (QmElsewhereWindow *self, const char *folder)
{
  QmElsewhere *asked = read_form (self);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Writing *writing;

  if (asked == NULL || self->task != NULL)
    {
      qm_elsewhere_free (asked);
      return;
    }
  qm_show_where_any (self->problem, NULL);
  qm_spinner_set_spinning (self->spinner, TRUE);
  writing = g_new0 (Writing, 1);
  writing->asked = asked;
  writing->path = free_path (folder);
  self->task = g_task_new (self, cancellable, folder_written_cb, NULL);
  g_task_set_source_tag (self->task, write_to);
  g_task_set_task_data (self->task, writing, (GDestroyNotify) writing_free);
  refresh_needs (self);
  self->looks = 0;
  self->timer = g_timeout_add (LOOK, look_cb, self);
  g_task_run_in_thread (self->task, write_in_thread);
}

static void
folder_chosen_cb (QmElsewhereWindow *self, int response)
{
  g_autoptr (GFile) folder = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    folder = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (self->chooser));
  if (folder != NULL && g_file_peek_path (folder) != NULL)
    write_to (self, g_file_peek_path (folder));
  else if (folder != NULL)
    qm_show_where_any (self->problem,
                       _ ("The folder has to be on this computer"));
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
  g_signal_connect_object (self->chooser, "response",
                           G_CALLBACK (folder_chosen_cb), self,
                           G_CONNECT_SWAPPED);
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
  g_signal_connect_object (check, "toggled", G_CALLBACK (refresh_needs), self,
                           G_CONNECT_SWAPPED);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), model->name);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  qm_models_add_row (self->models, ADW_ACTION_ROW (row), model);
  g_ptr_array_add (self->checks, check);
  g_ptr_array_add (self->rows, row);
}

static void
fill_models (QmElsewhereWindow *self, const char *const *ticked)
{
  g_autoptr (GPtrArray) models =
      qm_models_sorted (qm_catalog_keeper_get (self->keeper));

  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (self->models,
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  g_ptr_array_set_size (self->checks, 0);
  for (guint i = 0; i < models->len; i++)
    {
      const QmModel *model = g_ptr_array_index (models, i);

      add_model (self, model, g_strv_contains (ticked, model->id));
    }
  refresh_needs (self);
}

static void
elsewhere_catalog_cb (QmElsewhereWindow *self)
{
  g_auto (GStrv) ticked = qm_models_ticked (self->checks);

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

  self = g_object_new (QM_TYPE_ELSEWHERE_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->keeper = g_object_ref (keeper);
  fill_models (self, chosen);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (elsewhere_catalog_cb),
                           self, G_CONNECT_SWAPPED);
  ask_for_library (self);
  return GTK_WIDGET (self);
}

static QmFieldRow *
add_field (QmElsewhereWindow *self,
           AdwPreferencesGroup *group,
           const char *title,
           const char *hint)
{
  GtkWidget *row = qm_field_row_new (title, hint);

  g_signal_connect_object (row, "changed", G_CALLBACK (refresh_needs), self,
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

  g_clear_handle_id (&self->timer, g_source_remove);
  if (self->asking != NULL)
    g_cancellable_cancel (self->asking);
  if (self->task != NULL)
    g_cancellable_cancel (g_task_get_cancellable (self->task));
  g_clear_object (&self->chooser);
  g_clear_object (&self->keeper);
  G_OBJECT_CLASS (qm_elsewhere_window_parent_class)->dispose (object);
}

static void
qm_elsewhere_window_finalize (GObject *object)
{
  QmElsewhereWindow *self = QM_ELSEWHERE_WINDOW (object);

  g_clear_object (&self->task);
  g_ptr_array_unref (self->checks);
  g_ptr_array_unref (self->rows);
  g_free (self->library);
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
  BIND (progress);
  BIND (library_row);
  BIND (library_switch);
  BIND (size);
  BIND (problem);
  BIND (where);
  BIND (slurm_switch);
  BIND (slurm);
  BIND (what);
  BIND (methods_row);
  BIND (models);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, refresh_needs);
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
  self->nodes_row =
      add_field (self, self->slurm, _ ("Nodes"),
                 _ ("1 if empty; more of them work together, with all of these "
                    "GPUs"));
  self->limit_row =
      add_field (self, self->what, _ ("Time limit"),
                 _ ("Hours; what is most telling is measured first"));
  fill_choice (self->methods_row, names);
}
