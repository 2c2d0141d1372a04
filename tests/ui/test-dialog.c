/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/qm-dialog.h"

static gboolean
is_open (gpointer window)
{
  GListModel *open = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (open); i++)
    {
      g_autoptr (GtkWindow) other = g_list_model_get_item (open, i);

      if (other == window)
        return TRUE;
    }
  return FALSE;
}

/* A window that a question holds on to goes after its parent, and asks nothing
 * of that any more. */
static void
test_parent_goes_first (void)
{
  GtkWindow *parent = GTK_WINDOW (adw_window_new ());
  GtkWindow *dialog = GTK_WINDOW (adw_window_new ());
  gpointer gone = parent;

  g_object_add_weak_pointer (G_OBJECT (parent), &gone);
  g_object_ref (dialog);
  qm_dialog_follow (dialog, parent);
  g_assert_true (gtk_window_get_transient_for (dialog) == parent);
  gtk_window_present (parent);
  gtk_window_present (dialog);
  widgets_settle ();

  gtk_window_destroy (parent);
  widgets_settle ();
  g_assert_null (gone);
  g_assert_false (is_open (dialog));
  g_assert_null (gtk_window_get_transient_for (dialog));
  g_object_unref (dialog);
}

static void
test_dialog_goes_first (void)
{
  GtkWindow *parent = GTK_WINDOW (adw_window_new ());
  GtkWindow *dialog = GTK_WINDOW (adw_window_new ());

  qm_dialog_follow (dialog, parent);
  gtk_window_present (parent);
  gtk_window_present (dialog);
  gtk_window_destroy (dialog);
  widgets_settle ();
  g_assert_true (is_open (parent));
  gtk_window_destroy (parent);
}

static void
test_none (void)
{
  GtkWindow *dialog = GTK_WINDOW (adw_window_new ());

  qm_dialog_follow (dialog, NULL);
  g_assert_null (gtk_window_get_transient_for (dialog));
  gtk_window_destroy (dialog);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/dialog/parent-goes-first", test_parent_goes_first);
  g_test_add_func ("/dialog/dialog-goes-first", test_dialog_goes_first);
  g_test_add_func ("/dialog/none", test_none);
  return g_test_run ();
}
