/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-model-picker.h"
#include "ui/advisor/qm-model-row.h"

#include <glib/gstdio.h>

static const char *const defaults[] = { "pythia-1b", NULL };

static QmModelPicker *
new_picker (void)
{
  QmModelPicker *picker =
      g_object_ref_sink (g_object_new (QM_TYPE_MODEL_PICKER, NULL));

  qm_model_picker_set_catalog (picker, widgets_catalog (), defaults);
  widgets_settle (); /* the list is filled after what is shown */

  return picker;
}

static void
assert_selected (QmModelPicker *picker, const char *expected)
{
  g_auto (GStrv) selected = NULL;
  g_autofree char *joined = NULL;

  g_object_get (picker, "selected", &selected, NULL);
  joined = g_strjoinv (" ", selected);
  g_assert_cmpstr (joined, ==, expected);
}

static void
assert_n_selected (QmModelPicker *picker, guint n)
{
  g_auto (GStrv) selected = NULL;

  g_object_get (picker, "selected", &selected, NULL);
  g_assert_cmpuint (g_strv_length (selected), ==, n);
}

static void
assert_summary (QmModelPicker *picker, const char *expected)
{
  GtkWidget *button = widgets_find (picker, GTK_TYPE_MENU_BUTTON, 0);
  GtkWidget *label = gtk_menu_button_get_child (GTK_MENU_BUTTON (button));

  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (label)), ==, expected);
}

static QmModelRow *
row_of (QmModelPicker *picker, const char *id)
{
  for (guint i = 0;; i++)
    {
      QmModelRow *row = widgets_find (picker, QM_TYPE_MODEL_ROW, i);

      if (g_strcmp0 (qm_model_row_get_model (row)->id, id) == 0)
        return row;
    }
}

static void
select_ids (QmModelPicker *picker, const char *ids)
{
  g_auto (GStrv) words = g_strsplit (ids, " ", -1);

  qm_model_picker_set_selected (picker, (const char *const *) words);
}

static void
test_selected (void)
{
  QmModelPicker *picker = new_picker ();
  guint notified;

  widgets_count_notify (picker, "selected", &notified);
  assert_selected (picker, "pythia-1b");
  assert_summary (picker, "Pythia (1B)");
  g_assert_true (qm_model_row_get_checked (row_of (picker, "pythia-1b")));

  /* In the order of the list, each once, unknown ones left out. */
  select_ids (picker, "pythia-2.8b no-such pythia-160m pythia-2.8b");
  assert_selected (picker, "pythia-160m pythia-2.8b");
  assert_summary (picker, "2 models");
  g_assert_false (qm_model_row_get_checked (row_of (picker, "pythia-1b")));
  g_assert_true (qm_model_row_get_checked (row_of (picker, "pythia-2.8b")));
  g_assert_cmpuint (notified, ==, 1);

  select_ids (picker, "no-such");
  qm_model_picker_set_selected (picker, NULL);
  select_ids (picker, "pythia-2.8b pythia-160m");
  assert_selected (picker, "pythia-160m pythia-2.8b");
  g_assert_cmpuint (notified, ==, 1);

  widgets_finalize (picker);
}

static void
test_check (void)
{
  QmModelPicker *picker = new_picker ();
  guint notified;

  widgets_count_notify (picker, "selected", &notified);

  qm_model_row_set_checked (row_of (picker, "vit-large"), TRUE);
  assert_selected (picker, "pythia-1b vit-large");
  qm_model_row_set_checked (row_of (picker, "pythia-1b"), FALSE);
  assert_selected (picker, "vit-large");
  g_assert_cmpuint (notified, ==, 2);

  /* The last one cannot be taken away. */
  qm_model_row_set_checked (row_of (picker, "vit-large"), FALSE);
  assert_selected (picker, "vit-large");
  g_assert_true (qm_model_row_get_checked (row_of (picker, "vit-large")));
  g_assert_cmpuint (notified, ==, 2);

  widgets_finalize (picker);
}

static void
test_activate (void)
{
  QmModelPicker *picker = new_picker ();
  GtkWidget *list = widgets_find (picker, GTK_TYPE_LIST_BOX, 0);

  select_ids (picker, "pythia-160m pythia-410m pythia-1b");
  g_signal_emit_by_name (list, "row-activated", row_of (picker, "pythia-6.9b"));
  assert_selected (picker, "pythia-6.9b");

  widgets_finalize (picker);
}

static guint
count_found (QmModelPicker *picker, const char *query)
{
  GtkWidget *list = widgets_find (picker, GTK_TYPE_LIST_BOX, 0);
  GtkWidget *search = widgets_find (picker, GTK_TYPE_SEARCH_ENTRY, 0);

  gtk_editable_set_text (GTK_EDITABLE (search), query);

  return widgets_count_visible (list, QM_TYPE_MODEL_ROW);
}

static void
test_search (void)
{
  QmModelPicker *picker = new_picker ();
  GtkWidget *search = widgets_find (picker, GTK_TYPE_SEARCH_ENTRY, 0);
  size_t n;

  qm_catalog_models (widgets_catalog (), &n);
  g_assert_cmpuint (count_found (picker, ""), ==, n);
  g_assert_cmpuint (count_found (picker, "PYTHIA"), ==, 5);
  g_assert_cmpuint (count_found (picker, "pythia 2.8"), ==, 1);
  g_assert_cmpuint (count_found (picker, "2.8 neox"), ==, 1);
  g_assert_cmpuint (count_found (picker, "no such model"), ==, 0);

  /* Enter takes the first that was found, and nothing where none was. */
  g_signal_emit_by_name (search, "activate");
  assert_selected (picker, "pythia-1b");
  count_found (picker, "pythia 2.8");
  g_signal_emit_by_name (search, "activate");
  assert_selected (picker, "pythia-2.8b");

  widgets_finalize (picker);
}

static void
test_all_and_one (void)
{
  QmModelPicker *picker = new_picker ();
  GtkWidget *all = widgets_find_button (picker, "All");
  GtkWidget *one = widgets_find_button (picker, "Just One");
  size_t n;

  qm_catalog_models (widgets_catalog (), &n);
  g_assert_false (gtk_widget_get_sensitive (one));

  g_signal_emit_by_name (all, "clicked");
  assert_n_selected (picker, (guint) n);
  g_assert_false (gtk_widget_get_sensitive (all));
  g_assert_true (gtk_widget_get_sensitive (one));

  g_signal_emit_by_name (one, "clicked");
  assert_n_selected (picker, 1);

  widgets_finalize (picker);
}

static void
test_reset (void)
{
  QmModelPicker *picker = new_picker ();
  GtkWidget *reset = widgets_find_button (picker, "Reset to the default");

  g_assert_false (gtk_widget_get_visible (reset));
  select_ids (picker, "vit-large");
  g_assert_true (gtk_widget_get_visible (reset));
  g_signal_emit_by_name (reset, "clicked");
  assert_selected (picker, "pythia-1b");
  g_assert_false (gtk_widget_get_visible (reset));

  widgets_finalize (picker);
}

static void
test_names (void)
{
  QmModelPicker *picker = new_picker ();

  gtk_test_accessible_assert_property (
      GTK_ACCESSIBLE (widgets_find (picker, GTK_TYPE_MENU_BUTTON, 0)),
      GTK_ACCESSIBLE_PROPERTY_LABEL, "Model: Pythia (1B)");

  widgets_finalize (picker);
}

/* A model's file again, under another id and in another group. */
static void
write_model (const char *folder, const char *id, const char *group)
{
  g_autofree char *from = g_build_filename (g_getenv ("QM_TEST_DATA_DIR"),
                                            "models", "pythia-1b.json", NULL);
  g_autofree char *name = g_strconcat (id, ".json", NULL);
  g_autofree char *to = g_build_filename (folder, "models", name, NULL);
  g_autofree char *own = g_strconcat ("\"id\": \"", id, "\"", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GString) changed = NULL;

  g_assert_true (g_file_get_contents (from, &text, NULL, NULL));
  changed = g_string_new (text);
  g_assert_cmpuint (g_string_replace (changed, "\"id\": \"pythia-1b\"", own, 1),
                    ==, 1);
  g_assert_cmpuint (
      g_string_replace (changed, "  \"group\": \"publication\",\n", group, 1),
      ==, 1);
  g_assert_true (g_file_set_contents (to, changed->str, -1, NULL));
}

/* Headers of the rows that are shown, and what is under each. */
static char *
list_rows (QmModelPicker *picker)
{
  GString *text = g_string_new (NULL);
  size_t n;

  qm_catalog_models (widgets_catalog (), &n);
  for (guint i = 0; i < n + 3; i++)
    {
      GtkWidget *row = widgets_find (picker, QM_TYPE_MODEL_ROW, i);
      GtkWidget *header = gtk_list_box_row_get_header (GTK_LIST_BOX_ROW (row));

      if (!gtk_widget_get_child_visible (row))
        continue;
      if (header != NULL)
        g_string_append_printf (text, "[%s] ",
                                gtk_label_get_text (GTK_LABEL (header)));
      g_string_append_printf (text, "%s ",
                              qm_model_row_get_model (QM_MODEL_ROW (row))->id);
    }
  return g_string_free (text, FALSE);
}

/* One's own models, those of today, and those of the publication. */
static void
test_groups (void)
{
  g_autofree char *folder = g_dir_make_tmp ("models-XXXXXX", NULL);
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *shown = NULL, *found = NULL;
  QmModelPicker *picker =
      g_object_ref_sink (g_object_new (QM_TYPE_MODEL_PICKER, NULL));
  QmCatalog *catalog = NULL;

  g_assert_cmpint (g_mkdir (models, 0700), ==, 0);
  write_model (folder, "later", "  \"group\": \"today\",\n");
  write_model (folder, "newer", "  \"group\": \"today\",\n");
  write_model (folder, "mine", "");
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), folder,
                                    &catalog, NULL),
                   ==, QM_OK);
  qm_model_picker_set_catalog (picker, catalog, defaults);
  g_assert_cmpuint (widgets_count (picker, QM_TYPE_MODEL_ROW), ==, 0);
  assert_selected (picker, "pythia-1b");
  assert_summary (picker, "Pythia (1B)");
  widgets_settle ();
  shown = list_rows (picker);
  g_assert_true (g_str_has_prefix (
      shown, "[Your Own] mine [Trained Today] later newer "
             "[Of the Publication] pythia-160m pythia-410m pythia-1b "));
  g_assert_cmpuint (count_found (picker, "pythia 2.8"), ==, 1);
  found = list_rows (picker);
  g_assert_cmpstr (found, ==, "[Of the Publication] pythia-2.8b ");

  widgets_finalize (picker);
  qm_catalog_free (catalog);
  for (const char *const *name =
           (const char *[]){ "later.json", "newer.json", "mine.json", NULL };
       *name != NULL; name++)
    {
      g_autofree char *path = g_build_filename (models, *name, NULL);

      g_unlink (path);
    }
  g_rmdir (models);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/model-picker/selected", test_selected);
  g_test_add_func ("/model-picker/check", test_check);
  g_test_add_func ("/model-picker/activate", test_activate);
  g_test_add_func ("/model-picker/search", test_search);
  g_test_add_func ("/model-picker/all-and-one", test_all_and_one);
  g_test_add_func ("/model-picker/reset", test_reset);
  g_test_add_func ("/model-picker/names", test_names);
  g_test_add_func ("/model-picker/groups", test_groups);

  return g_test_run ();
}
