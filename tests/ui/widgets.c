/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/ui/widgets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether it is GTK 4.8's complaint of a button in its own dialog for files: on
 * a busy display the bar of folders is drawn before it has its place. */
static gboolean
is_of_file_dialog (const char *message)
{
  void *widget;

  return sscanf (message, "Trying to snapshot GtkButton %p without a", &widget)
             == 1
         && gtk_widget_get_ancestor (widget, GTK_TYPE_FILE_CHOOSER_WIDGET)
                != NULL;
}

/* A warning ends the test, as in any of GLib's, but for what is not ours. */
static GLogWriterOutput
write_log (GLogLevelFlags level,
           const GLogField *fields,
           gsize n_fields,
           gpointer data)
{
  GLogWriterOutput output =
      g_log_writer_default (level, fields, n_fields, NULL);

  if ((level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) == 0)
    return output;
  for (gsize i = 0; i < n_fields; i++)
    if (g_str_equal (fields[i].key, "MESSAGE") && fields[i].length < 0
        && is_of_file_dialog (fields[i].value))
      return output;
  abort ();
}

void
widgets_init (int *argc, char ***argv)
{
  gtk_test_init (argc, argv, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_log_set_writer_func (write_log, NULL, NULL);
  adw_init ();
}

const QmCatalog *
widgets_catalog (void)
{
  static QmCatalog *catalog;
  QmError error;

  if (catalog == NULL
      && qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
             != QM_OK)
    g_error ("%s", error.message);

  return catalog;
}

QmCatalogKeeper *
widgets_keeper (void)
{
  static QmCatalogKeeper *keeper;

  if (keeper == NULL)
    {
      keeper = qm_catalog_keeper_new ();
      qm_catalog_keeper_take (keeper, qm_catalog_ref (widgets_catalog ()));
    }
  return keeper;
}

static gpointer
find (GtkWidget *widget, GType type, guint *left)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type) && (*left)-- == 0)
    return widget;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      gpointer found = find (child, type, left);

      if (found != NULL)
        return found;
    }

  return NULL;
}

gpointer
widgets_find (gpointer root, GType type, guint index)
{
  guint left = index;
  gpointer found = find (root, type, &left);

  if (found == NULL)
    g_error ("no %s number %u in a %s", g_type_name (type), index,
             G_OBJECT_TYPE_NAME (root));

  return found;
}

GtkWidget *
widgets_find_button (gpointer root, const char *text)
{
  for (guint i = 0;; i++)
    {
      GtkWidget *button = widgets_find (root, GTK_TYPE_BUTTON, i);

      if (g_strcmp0 (gtk_button_get_label (GTK_BUTTON (button)), text) == 0
          || g_strcmp0 (gtk_widget_get_tooltip_text (button), text) == 0)
        return button;
    }
}

guint
widgets_count (gpointer root, GType type)
{
  guint count = G_TYPE_CHECK_INSTANCE_TYPE (root, type) ? 1 : 0;

  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    count += widgets_count (child, type);

  return count;
}

guint
widgets_count_visible (gpointer root, GType type)
{
  guint count = G_TYPE_CHECK_INSTANCE_TYPE (root, type) ? 1 : 0;

  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_get_visible (child) && gtk_widget_get_child_visible (child))
      count += widgets_count_visible (child, type);

  return count;
}

guint
widgets_count_rows (gpointer root)
{
  GtkColumnView *view = widgets_find (root, GTK_TYPE_COLUMN_VIEW, 0);

  return g_list_model_get_n_items (
      G_LIST_MODEL (gtk_column_view_get_model (view)));
}

void
widgets_settle (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
count_cb (guint *count)
{
  (*count)++;
}

double
widgets_get_double (gpointer object, const char *property)
{
  double value;

  g_object_get (object, property, &value, NULL);
  return value;
}

char *
widgets_get_label (gpointer widget)
{
  /* Nothing is called so, and what it is called instead is told. */
  return gtk_test_accessible_check_property (GTK_ACCESSIBLE (widget),
                                             GTK_ACCESSIBLE_PROPERTY_LABEL,
                                             "\n");
}

void
widgets_count_notify (gpointer object, const char *property, guint *count)
{
  g_autofree char *name = g_strconcat ("notify::", property, NULL);

  *count = 0;
  g_signal_connect_swapped (object, name, G_CALLBACK (count_cb), count);
}

static void
assert_least_height (GtkWidget *widget)
{
  int least, width, height;

  gtk_widget_measure (widget, GTK_ORIENTATION_VERTICAL, -1, &least, NULL, NULL,
                      NULL);
  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL,
                      NULL, NULL);
  for (; width < 6000; width += width / 8 + 1)
    {
      gtk_widget_measure (widget, GTK_ORIENTATION_VERTICAL, width, &height,
                          NULL, NULL, NULL);
      if (height < least)
        g_error ("a %s of %d pixels needs a height of %d, and of any %d",
                 G_OBJECT_TYPE_NAME (widget), width, height, least);
    }
}

void
widgets_assert_least_heights (gpointer root)
{
  if (g_str_has_prefix (G_OBJECT_TYPE_NAME (root), "Qm")
      && gtk_widget_get_layout_manager (root) == NULL
      && gtk_widget_should_layout (root))
    assert_least_height (root);
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    widgets_assert_least_heights (child);
}

void
widgets_finalize (gpointer widget)
{
  g_assert_true (g_object_is_floating (widget)
                 || G_OBJECT (widget)->ref_count == 1);
  if (g_object_is_floating (widget))
    g_object_ref_sink (widget);
  g_assert_finalize_object (G_OBJECT (widget));
}

gboolean
widgets_drop (gpointer widget, GType type, gconstpointer content)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  g_auto (GValue) value = G_VALUE_INIT;
  gboolean taken = FALSE;
  guint n = 0;

  g_value_init (&value, type);
  if (type == G_TYPE_STRING)
    g_value_set_string (&value, content);
  else if (G_TYPE_IS_BOXED (type))
    g_value_set_boxed (&value, content);
  else
    g_value_set_object (&value, (gpointer) content);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller =
          g_list_model_get_item (controllers, i);
      GdkContentFormats *formats;

      if (!GTK_IS_DROP_TARGET (controller))
        continue;
      formats = gtk_drop_target_get_formats (GTK_DROP_TARGET (controller));
      g_assert_true (gdk_content_formats_contain_gtype (formats, type));
      g_signal_emit_by_name (controller, "drop", &value, 10.0, 10.0, &taken);
      n++;
    }
  g_assert_cmpuint (n, ==, 1);
  return taken;
}
