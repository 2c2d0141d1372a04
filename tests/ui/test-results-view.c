/* SPDX-License-Identifier: Apache-2.0 */

/* Files, clipboard and paper, through the actions and dialogs of the view. */

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-plot-grid.h"
#include "ui/advisor/qm-report-print.h"
#include "ui/advisor/qm-results-view.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *window;
  GtkWidget *view;
  char *message;
  char *directory;
} Fixture;

static void
message_cb (Fixture *fixture, const char *message)
{
  g_free (fixture->message);
  fixture->message = g_strdup (message);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->directory = g_dir_make_tmp ("quartermaster-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  fixture->window = gtk_window_new ();
  fixture->view =
      g_object_new (QM_TYPE_RESULTS_VIEW, "advisor", fixture->advisor, NULL);
  g_signal_connect_swapped (fixture->view, "message", G_CALLBACK (message_cb),
                            fixture);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 900, 700);
  gtk_window_set_child (GTK_WINDOW (fixture->window), fixture->view);
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (fixture->window);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  GtkWidget *view = fixture->view;

  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_settle ();
  g_assert_null (view);
  g_assert_finalize_object (fixture->advisor);
  g_free (fixture->message);
  g_rmdir (fixture->directory);
  g_free (fixture->directory);
}

static void
act (Fixture *fixture, const char *action, const char *kind)
{
  g_clear_pointer (&fixture->message, g_free);
  g_assert_true (gtk_widget_activate_action_variant (
      fixture->view, action,
      kind != NULL ? g_variant_new_string (kind) : NULL));
}

static void
wait_for_message (Fixture *fixture)
{
  while (fixture->message == NULL)
    g_main_context_iteration (NULL, TRUE);
}

static GtkWidget *
wait_for_dialog (void)
{
  for (;;)
    {
      GListModel *windows = gtk_window_get_toplevels ();

      for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
        {
          g_autoptr (GtkWidget) window = g_list_model_get_item (windows, i);

          if (GTK_IS_FILE_CHOOSER_DIALOG (window)
              && gtk_widget_get_mapped (window))
            return window;
        }
      g_main_context_iteration (NULL, TRUE);
    }
}

static void
set_flag_cb (gpointer data)
{
  *(gboolean *) data = TRUE;
}

static void
wait_a_little (void)
{
  gboolean over = FALSE;

  g_timeout_add_once (300, set_flag_cb, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* Names the file in the dialog, which reads folders in its own time. */
static GtkWidget *
choose_file (const char *directory, const char *name)
{
  GtkWidget *dialog = wait_for_dialog ();
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (dialog);
  g_autoptr (GFile) folder = g_file_new_for_path (directory);
  g_autoptr (GFile) wanted = g_file_get_child (folder, name);
  gboolean chosen = FALSE;

  for (guint i = 0; i < 20 && !chosen; i++)
    {
      g_autoptr (GFile) file = NULL;
      g_autoptr (GError) error = NULL;

      wait_a_little ();
      gtk_file_chooser_set_current_folder (chooser, folder, &error);
      g_assert_no_error (error);
      gtk_file_chooser_set_current_name (chooser, name);
      wait_a_little ();
      file = gtk_file_chooser_get_file (chooser);
      chosen = file != NULL && g_file_equal (file, wanted);
    }
  g_assert_true (chosen);
  return dialog;
}

/* Answers the dialog with a file and returns what is then in it. */
static GBytes *
save_as (Fixture *fixture, const char *name, int response)
{
  GtkWidget *dialog = choose_file (fixture->directory, name);
  g_autofree char *path = g_build_filename (fixture->directory, name, NULL);
  g_autoptr (GError) error = NULL;
  char *contents;
  gsize size;

  gtk_dialog_response (GTK_DIALOG (dialog), response);
  if (response != GTK_RESPONSE_ACCEPT)
    {
      widgets_settle ();
      return NULL;
    }
  wait_for_message (fixture);
  g_test_message ("%s", fixture->message);
  g_file_get_contents (path, &contents, &size, &error);
  g_assert_no_error (error);
  g_remove (path);
  return g_bytes_new_take (contents, size);
}

static gboolean
begins_with (GBytes *bytes, const char *magic)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return size > strlen (magic) && memcmp (data, magic, strlen (magic)) == 0;
}

static void
test_export (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name, *magic, *action, *kind;
  } cases[] = {
    { "plot.png", "\x89PNG", "results.export-plot", NULL },
    { "plot.svg", "<?xml", "results.export-kind", "overall" },
    { "plot.PDF", "%PDF", "results.export-kind", "experiment" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = NULL;
      g_autofree char *message =
          g_strdup_printf ("Saved as “%s”", cases[i].name);

      act (fixture, cases[i].action, cases[i].kind);
      bytes = save_as (fixture, cases[i].name, GTK_RESPONSE_ACCEPT);
      g_assert_true (begins_with (bytes, cases[i].magic));
      g_assert_cmpstr (fixture->message, ==, message);
    }
}

static void
test_save_table (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) bytes = NULL;

  act (fixture, "results.save-table", NULL);
  bytes = save_as (fixture, "table.csv", GTK_RESPONSE_ACCEPT);
  g_assert_true (begins_with (bytes, "model,gpu,"));
}

static void
test_cancel (Fixture *fixture, gconstpointer data)
{
  act (fixture, "results.save-table", NULL);
  g_assert_null (save_as (fixture, "table.csv", GTK_RESPONSE_CANCEL));
  g_assert_null (fixture->message);
}

/* A folder in which nobody can make files. */
static void
test_cannot_write (Fixture *fixture, gconstpointer data)
{
  GtkWidget *dialog;

  act (fixture, "results.save-table", NULL);
  dialog = choose_file ("/proc", "table.csv");
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  wait_for_message (fixture);
  g_assert_true (
      g_str_has_prefix (fixture->message, "Could not write “table.csv”: "));
}

static void
text_cb (GObject *clipboard, GAsyncResult *result, gpointer data)
{
  char **text = data;

  *text =
      gdk_clipboard_read_text_finish (GDK_CLIPBOARD (clipboard), result, NULL);
}

static char *
clipboard_text (Fixture *fixture)
{
  char *text = NULL;

  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (fixture->view), NULL,
                                 text_cb, &text);
  while (text == NULL)
    g_main_context_iteration (NULL, TRUE);
  return text;
}

static void
test_copy_table (Fixture *fixture, gconstpointer data)
{
  g_autofree char *all = NULL;
  g_autofree char *still_all = NULL;
  g_autofree char *row = NULL;

  act (fixture, "results.copy-table", NULL);
  g_assert_cmpstr (fixture->message, ==, "Table copied");
  all = clipboard_text (fixture);
  g_assert_nonnull (strstr (all, "h100-80gb-sxm,8,"));
  act (fixture, "results.copy-row", NULL);
  still_all = clipboard_text (fixture);
  g_assert_cmpstr (all, ==, still_all);
  qm_advisor_select (fixture->advisor, 0, 0);
  act (fixture, "results.copy-row", NULL);
  g_assert_cmpstr (fixture->message, ==, "Row copied");
  row = clipboard_text (fixture);
  g_assert_null (strstr (row, "h100-80gb-sxm,8,"));
}

static void
test_copy_plot (Fixture *fixture, gconstpointer data)
{
  GdkClipboard *clipboard = gtk_widget_get_clipboard (fixture->view);

  act (fixture, "results.copy-plot", NULL);
  g_assert_cmpstr (fixture->message, ==, "Plots copied");
  g_assert_true (gdk_content_formats_contain_gtype (
      gdk_clipboard_get_formats (clipboard), GDK_TYPE_TEXTURE));
  act (fixture, "results.copy-kind", "overall");
  g_assert_cmpstr (fixture->message, ==, "Plot copied");
}

static void
test_zoom (Fixture *fixture, gconstpointer data)
{
  QmPlotView *plot = widgets_find (fixture->view, QM_TYPE_PLOT_VIEW, 0);

  act (fixture, "results.zoom-in", NULL);
  g_assert_true (qm_plot_view_is_zoomed (plot));
  act (fixture, "results.zoom-out", NULL);
  act (fixture, "results.zoom-out", NULL);
  g_assert_false (qm_plot_view_is_zoomed (plot));
  act (fixture, "results.zoom-in", NULL);
  act (fixture, "results.zoom-reset", NULL);
  g_assert_false (qm_plot_view_is_zoomed (plot));
}

static void
test_axes (Fixture *fixture, gconstpointer data)
{
  GtkToggleButton *linear =
      GTK_TOGGLE_BUTTON (widgets_find_button (fixture->view, "Linear"));
  GtkToggleButton *logarithmic =
      GTK_TOGGLE_BUTTON (widgets_find_button (fixture->view, "Log"));
  gboolean log_axes;

  g_assert_true (gtk_toggle_button_get_active (logarithmic));
  gtk_toggle_button_set_active (linear, TRUE);
  g_object_get (fixture->advisor, "log-axes", &log_axes, NULL);
  g_assert_false (log_axes);
  g_object_set (fixture->advisor, "log-axes", TRUE, NULL);
  g_assert_true (gtk_toggle_button_get_active (logarithmic));
  g_assert_false (gtk_toggle_button_get_active (linear));
  g_object_set (fixture->advisor, "log-axes", FALSE, NULL);
  g_assert_true (gtk_toggle_button_get_active (linear));
}

/* Selecting in one place selects everywhere. */
static void
test_select_everywhere (Fixture *fixture, gconstpointer data)
{
  GtkColumnView *table = widgets_find (fixture->view, GTK_TYPE_COLUMN_VIEW, 0);
  GtkSingleSelection *rows =
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (table));

  gtk_single_selection_set_selected (rows, 3);
  for (guint i = 0; i < 2; i++)
    {
      QmPlotView *plot = widgets_find (fixture->view, QM_TYPE_PLOT_VIEW, i);
      guint candidate;

      g_assert_true (
          qm_advisor_get_selected (fixture->advisor, NULL, &candidate));
      g_assert_cmpint (qm_plot_view_get_data (plot)->selected, ==,
                       (int) candidate);
    }
  qm_advisor_unselect (fixture->advisor);
  g_assert_cmpuint (gtk_single_selection_get_selected (rows), ==,
                    GTK_INVALID_LIST_POSITION);
}

static void
test_print (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GtkPrintOperation) operation =
      qm_report_print_operation_new (fixture->advisor);
  g_autofree char *path =
      g_build_filename (fixture->directory, "page.pdf", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  gtk_print_operation_set_export_filename (operation, path);
  g_assert_cmpint (
      gtk_print_operation_run (operation, GTK_PRINT_OPERATION_ACTION_EXPORT,
                               GTK_WINDOW (fixture->window), &error),
      ==, GTK_PRINT_OPERATION_RESULT_APPLY);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_true (g_str_has_prefix (text, "%PDF"));
  g_assert_cmpuint (size, >, 5000);
  g_remove (path);
}

static float
top_of (gpointer widget, gpointer within)
{
  graphene_point_t origin = GRAPHENE_POINT_INIT (0, 0), top;

  g_assert_true (gtk_widget_compute_point (widget, within, &origin, &top));
  return top.y;
}

/* The first line that says what to buy. */
static GtkWidget *
find_headline (Fixture *fixture)
{
  for (guint i = 0;; i++)
    {
      GtkWidget *label = widgets_find (fixture->view, GTK_TYPE_LABEL, i);

      if (gtk_widget_get_mapped (label)
          && g_str_has_prefix (gtk_label_get_text (GTK_LABEL (label)), "Buy "))
        return label;
    }
}

/* Nobody scrolls past plots to an answer, of a model, of several, of a year. */
static void
test_answer_above (Fixture *fixture, gconstpointer data)
{
  static const char *const several[] = { "pythia-160m", "pythia-1b",
                                         "vit-large", NULL };
  GtkWidget *plots = widgets_find (fixture->view, QM_TYPE_PLOT_GRID, 0);

  for (guint i = 0; i < 3; i++)
    {
      GtkWidget *headline;

      if (i == 1)
        g_object_set (fixture->advisor, "models", several, NULL);
      if (i == 2)
        {
          qm_advisor_add_run (fixture->advisor, "pythia-1b", 3);
          qm_advisor_add_run (fixture->advisor, "vit-large", 10);
          g_object_set (fixture->advisor, "portfolio", TRUE, NULL);
        }
      widgets_settle ();
      gtk_test_widget_wait_for_draw (fixture->window);
      headline = find_headline (fixture);
      g_assert_cmpfloat (top_of (headline, fixture->view)
                             + gtk_widget_get_height (headline),
                         <=, top_of (plots, fixture->view));
    }
}

#define ADD(name, function) \
  g_test_add ("/results-view/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("export", test_export);
  ADD ("save-table", test_save_table);
  ADD ("cancel", test_cancel);
  ADD ("cannot-write", test_cannot_write);
  ADD ("copy-table", test_copy_table);
  ADD ("copy-plot", test_copy_plot);
  ADD ("zoom", test_zoom);
  ADD ("axes", test_axes);
  ADD ("select-everywhere", test_select_everywhere);
  ADD ("print", test_print);
  ADD ("answer-above", test_answer_above);
  return g_test_run ();
}
