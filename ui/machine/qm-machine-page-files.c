/* SPDX-License-Identifier: Apache-2.0 */

/* The table of configurations as CSV. */

#include "config.h"

#include "ui/machine/qm-machine-page-private.h"

#include "ui/advisor/qm-results-files.h"

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

void
qm_machine_page_install_files (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "machine.save-table", NULL,
                                   save_table_cb);
  gtk_widget_class_install_action (widget_class, "machine.copy-table", NULL,
                                   copy_table_cb);
  gtk_widget_class_install_action (widget_class, "machine.copy-row", NULL,
                                   copy_row_cb);
}
