/* SPDX-License-Identifier: Apache-2.0 */

/* The table of configurations as CSV, and results files of others. */

#include "config.h"

#include "ui/machine/qm-machine-page-private.h"

#include "ui/advisor/qm-results-files.h"
#include "ui/machine/qm-results-import.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static GBytes *
make_bytes (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmMachinePage *self = QM_MACHINE_PAGE (owner);
  char *csv = qm_bench_column_csv (qm_bench_table_get_rows (self->table));

  return g_bytes_new_take (csv, strlen (csv));
}

static void
save_table_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmSaveRequest request = {
    .title = _ ("Save Table"),
    .name = "benchmark.csv",
    .make_bytes = make_bytes,
    .done = (QmDoneFunc) qm_machine_page_tell,
  };

  qm_results_save (widget, &request);
}

static void
copy (QmMachinePage *self, const char *csv, const char *message)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), csv);
  qm_machine_page_tell (self, message);
}

static void
copy_table_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);
  g_autofree char *csv =
      qm_bench_column_csv (qm_bench_table_get_rows (self->table));

  copy (self, csv, _ ("Table copied"));
}

static void
copy_row_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);
  QmBenchRow *row = qm_bench_table_get_selected (self->table);
  g_autofree char *csv = NULL;

  if (row == NULL)
    return;
  csv = qm_bench_column_row_csv (row);
  copy (self, csv, _ ("Row copied"));
}

static void
imported_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmMachinePage) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *message = NULL;
  guint n = qm_results_import_finish (result, &error);

  if (n > 0)
    /* Translators: a number of results of measurements. */
    message = g_strdup_printf (
        ngettext ("%u result imported; it counts from the next start",
                  "%u results imported; they count from the next start", n),
        n);
  else
    /* Translators: what is wrong with the file. */
    message = g_strdup_printf (_ ("Not imported: %s"), error->message);
  qm_machine_page_tell (self, message);
}

static void
chosen_cb (QmMachinePage *self, int response, GtkNativeDialog *dialog)
{
  g_autoptr (GFile) file = NULL;
  g_autofree char *folder = qm_results_import_folder ();

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL && folder != NULL)
    qm_results_import_async (file, folder, NULL, imported_cb,
                             g_object_ref (self));
  g_clear_object (&self->chooser);
}

static void
import_results_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);
  GtkRoot *root = gtk_widget_get_root (widget);
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  if (self->chooser != NULL)
    return;
  self->chooser = gtk_file_chooser_native_new (
      _ ("Import Results"), GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
      GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  gtk_file_filter_set_name (filter, _ ("Results files"));
  gtk_file_filter_add_pattern (filter, "*.jsonl");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (self->chooser), filter);
  g_signal_connect_object (self->chooser, "response", G_CALLBACK (chosen_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

void
qm_machine_page_install_files (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "machine.save-table", NULL,
                                   save_table_cb);
  gtk_widget_class_install_action (widget_class, "machine.copy-table", NULL,
                                   copy_table_cb);
  gtk_widget_class_install_action (widget_class, "machine.copy-row", NULL,
                                   copy_row_cb);
  gtk_widget_class_install_action (widget_class, "machine.import-results", NULL,
                                   import_results_cb);
}
