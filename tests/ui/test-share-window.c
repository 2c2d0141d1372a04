/* SPDX-License-Identifier: Apache-2.0 */

/* The window that gives results away: what it has is what would be saved, and
 * nothing is saved by who has not signed.  The catalog has made-up results of
 * an H200, which become those of this machine. */

#include "config.h"

#include "data/results-file.h"
#include "data/shared.h"
#include "tests/ui/folder.h"
#include "tests/ui/widgets.h"
#include "ui/machine/qm-share-window.h"
#include "ui/machine/qm-share.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

static char *
text_of (GtkWidget *window)
{
  GtkTextBuffer *buffer =
      gtk_text_view_get_buffer (widgets_find (window, GTK_TYPE_TEXT_VIEW, 0));
  char *text;

  g_object_get (buffer, "text", &text, NULL);
  return text;
}

static guint
count_results (const char *text)
{
  QmResults *results = qm_results_new ();
  QmError error;
  size_t n;

  g_assert_cmpint (qm_shared_parse (results, text, strlen (text), "text",
                                    &error),
                   ==, QM_OK);
  qm_results_list (results, &n);
  qm_results_free (results);
  return (guint) n;
}

/* As if a search had run here. */
static void
measure (void)
{
  char path[PATH_MAX];
  g_autofree char *from =
      g_build_filename (g_getenv ("QM_TEST_DATA_DIR"), "measurements",
                        "h200-test.jsonl", NULL);
  g_autofree char *folder = NULL;
  g_autofree char *text = NULL;
  gsize length;

  g_assert_true (qm_results_default_path (path, sizeof path));
  folder = g_path_get_dirname (path);
  g_assert_true (g_file_get_contents (from, &text, &length, NULL));
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
}

static void
test_nothing (void)
{
  GtkWidget *window = qm_share_window_new (NULL, widgets_keeper ());
  GtkWidget *save = widgets_find_button (window, "_Save…");

  gtk_window_present (GTK_WINDOW (window));
  widgets_settle ();
  g_assert_false (gtk_widget_get_sensitive (save));
  g_assert_cmpuint (widgets_count_visible (window, ADW_TYPE_STATUS_PAGE), ==,
                    1);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_file (void)
{
  g_autofree char *text = NULL;
  g_autofree char *less = NULL;
  g_autofree char *name = NULL;
  guint all;
  GtkWidget *window, *save;
  AdwExpanderRow *row;
  GtkCheckButton *model, *sign;

  measure ();
  window = qm_share_window_new (NULL, widgets_keeper ());
  save = widgets_find_button (window, "_Save…");
  sign = widgets_find (window, GTK_TYPE_CHECK_BUTTON,
                       widgets_count (window, GTK_TYPE_CHECK_BUTTON) - 1);
  model = widgets_find (window, GTK_TYPE_CHECK_BUTTON, 0);
  row = widgets_find (window, ADW_TYPE_EXPANDER_ROW, 0);
  gtk_window_present (GTK_WINDOW (window));
  widgets_settle ();
  g_assert_cmpuint (widgets_count_visible (window, ADW_TYPE_STATUS_PAGE), ==,
                    0);
  widgets_assert_least_heights (window);

  /* It is what would be saved. */
  text = text_of (window);
  all = count_results (text);
  g_assert_cmpuint (all, >, 10);

  /* By who signs. */
  g_assert_false (gtk_widget_get_sensitive (save));
  gtk_check_button_set_active (sign, TRUE);
  g_assert_true (gtk_widget_get_sensitive (save));

  /* A model may stay. */
  name = widgets_get_label (model);
  g_assert_cmpstr (name, ==,
                   adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)));
  gtk_check_button_set_active (model, FALSE);
  less = text_of (window);
  g_assert_cmpuint (count_results (less), <, all);
  for (guint i = 0; i + 1 < widgets_count (window, GTK_TYPE_CHECK_BUTTON); i++)
    gtk_check_button_set_active (
        widgets_find (window, GTK_TYPE_CHECK_BUTTON, i), FALSE);
  g_assert_false (gtk_widget_get_sensitive (save));
  gtk_check_button_set_active (model, TRUE);
  g_assert_true (gtk_widget_get_sensitive (save));
  gtk_check_button_set_active (sign, FALSE);
  g_assert_false (gtk_widget_get_sensitive (save));

  /* Each of its results is told once. */
  for (guint i = 0; i < 3; i++)
    {
      adw_expander_row_set_expanded (row, i != 1);
      widgets_settle ();
    }
  g_assert_cmpuint (widgets_count (row, ADW_TYPE_ACTION_ROW), >=,
                    all - count_results (less));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The file says in English what was signed, here in whatever language. */
static void
test_statement (void)
{
  g_assert_cmpstr (qm_share_statement (), ==, QM_SHARED_STATEMENT);
}

int
main (int argc, char **argv)
{
  g_autofree char *home = g_dir_make_tmp ("qm-share-XXXXXX", NULL);
  int status;

  g_setenv ("XDG_DATA_HOME", home, TRUE);
  widgets_init (&argc, &argv);
  g_test_add_func ("/ui/share-window/nothing", test_nothing);
  g_test_add_func ("/ui/share-window/statement", test_statement);
  g_test_add_func ("/ui/share-window/file", test_file);
  status = g_test_run ();
  remove_folder (home);
  return status;
}
