/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-results-files.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* One plot of a file, in points, and how many pixels a point has in a PNG:
 * sharp on paper at about 180 dots an inch. */
#define PLOT_WIDTH  560
#define PLOT_HEIGHT 420
#define PNG_SCALE   2

static const struct
{
  const char *name, *pattern, *ending;
} plot_types[] = {
  [QM_PLOT_FORMAT_PNG] = { N_ ("PNG image"), "*.png", ".png" },
  [QM_PLOT_FORMAT_SVG] = { N_ ("SVG drawing"), "*.svg", ".svg" },
  [QM_PLOT_FORMAT_PDF] = { N_ ("PDF document"), "*.pdf", ".pdf" },
};

/* A request under way. */
typedef struct
{
  QmSaveRequest request;
  GtkFileChooserNative *dialog;
  GWeakRef owner;
  GFile *file;
} Saving;

static void
saving_free (Saving *saving)
{
  g_clear_object (&saving->dialog);
  g_clear_object (&saving->file);
  g_weak_ref_clear (&saving->owner);
  g_free (saving);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Saving, saving_free)

static void
tell_saved (Saving *saving, const GError *error)
{
  g_autoptr (GObject) owner = g_weak_ref_get (&saving->owner);
  g_autofree char *name = g_file_get_basename (saving->file);
  g_autofree char *shown = g_filename_display_name (name);
  g_autofree char *message = NULL;

  if (owner == NULL)
    return;
  if (error != NULL)
    /* Translators: file name, what went wrong. */
    message =
        g_strdup_printf (_ ("Could not write “%s”: %s"), shown, error->message);
  else
    /* Translators: file name. */
    message = g_strdup_printf (_ ("Saved as “%s”"), shown);
  saving->request.done (owner, message);
}

static void
results_written_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (Saving) saving = data;
  g_autoptr (GError) error = NULL;

  g_file_replace_contents_finish (G_FILE (object), result, NULL, &error);
  tell_saved (saving, error);
}

/* The format that the name asks for, else the one of the chosen filter, whose
 * ending the name then gets. */
static QmPlotFormat
settle_format (Saving *saving)
{
  GtkFileFilter *filter =
      gtk_file_chooser_get_filter (GTK_FILE_CHOOSER (saving->dialog));
  g_autofree char *name = g_file_get_basename (saving->file);
  g_autoptr (GFile) folder = NULL;
  g_autofree char *full = NULL;
  QmPlotFormat format = QM_PLOT_FORMAT_PNG;

  if (qm_plot_format_from_name (name, &format))
    return format;
  for (guint i = 0; i < G_N_ELEMENTS (plot_types) && filter != NULL; i++)
    if (g_strcmp0 (gtk_file_filter_get_name (filter), _ (plot_types[i].name))
        == 0)
      format = i;
  folder = g_file_get_parent (saving->file);
  if (folder == NULL)
    return format;
  full = g_strconcat (name, plot_types[format].ending, NULL);
  g_object_unref (saving->file);
  saving->file = g_file_get_child (folder, full);
  return format;
}

static void
response_cb (GtkNativeDialog *dialog, int response, gpointer data)
{
  g_autoptr (Saving) saving = data;
  g_autoptr (GObject) owner = g_weak_ref_get (&saving->owner);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  QmPlotFormat format = QM_PLOT_FORMAT_PNG;

  saving->file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (response != GTK_RESPONSE_ACCEPT || saving->file == NULL || owner == NULL)
    return;
  if (saving->request.plot)
    format = settle_format (saving);
  bytes =
      saving->request.make_bytes (owner, format, saving->request.kinds, &error);
  if (bytes == NULL)
    {
      tell_saved (saving, error);
      return;
    }
  g_file_replace_contents_bytes_async (saving->file, bytes, NULL, FALSE,
                                       G_FILE_CREATE_REPLACE_DESTINATION, NULL,
                                       results_written_cb, saving);
  g_steal_pointer (&saving);
}

static void
add_filter (GtkFileChooser *chooser, const char *name, const char *pattern)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, name);
  gtk_file_filter_add_pattern (filter, pattern);
  gtk_file_chooser_add_filter (chooser, filter);
}

void
qm_results_save (GtkWidget *owner, const QmSaveRequest *request)
{
  GtkRoot *root = gtk_widget_get_root (owner);
  Saving *saving;
  GtkFileChooser *chooser;

  g_return_if_fail (GTK_IS_WIDGET (owner) && request != NULL);

  saving = g_new0 (Saving, 1);
  saving->request = *request;
  g_weak_ref_init (&saving->owner, owner);
  saving->dialog = gtk_file_chooser_native_new (
      request->title, GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
      GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
  chooser = GTK_FILE_CHOOSER (saving->dialog);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (saving->dialog), TRUE);
  gtk_file_chooser_set_current_name (chooser, request->name);
  if (request->plot)
    for (guint i = 0; i < G_N_ELEMENTS (plot_types); i++)
      add_filter (chooser, _ (plot_types[i].name), plot_types[i].pattern);
  else if (request->filter_name != NULL)
    add_filter (chooser, request->filter_name, request->filter_pattern);
  else
    add_filter (chooser, _ ("Comma-separated values"), "*.csv");
  g_signal_connect (saving->dialog, "response", G_CALLBACK (response_cb),
                    saving);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (saving->dialog));
}

GBytes *
qm_results_render (const QmPlotData *const *plots,
                   guint n,
                   QmPlotFormat format,
                   GError **error)
{
  QmPlotTheme theme = *qm_plot_theme_light ();
  int columns = MAX ((int) ceil (sqrt (n)), 1);
  int rows = MAX (((int) n + columns - 1) / columns, 1);
  int scale = format == QM_PLOT_FORMAT_PNG ? PNG_SCALE : 1;

  theme.font_size *= scale;
  theme.marker_radius *= scale;
  return qm_plot_render (plots, n, format, columns * PLOT_WIDTH * scale,
                         rows * PLOT_HEIGHT * scale, &theme, error);
}

QmPageSize
qm_results_page (void)
{
  return g_str_equal (gtk_paper_size_get_default (), GTK_PAPER_NAME_LETTER)
             ? QM_PAGE_LETTER
             : QM_PAGE_A4;
}

GBytes *
qm_results_pdf (const QmPaper *paper, GError **error)
{
  GBytes *bytes = qm_paper_to_pdf (paper, qm_results_page (), NULL, NULL, NULL);

  if (bytes == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         _ ("the pages could not be drawn"));
  return bytes;
}
