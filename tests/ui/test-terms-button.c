/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-terms.h"
#include "tests/ui/widgets.h"
#include "ui/qm-choice-row.h"
#include "ui/qm-terms-button.h"

/* Whether a label below the widget says that. */
static gboolean
says (GtkWidget *widget, const char *text)
{
  if (GTK_IS_LABEL (widget)
      && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), text))
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (says (child, text))
      return TRUE;
  return FALSE;
}

static void
test_find (void)
{
  QmTerm term;

  g_assert_true (qm_term_find ("frontier", &term));
  g_assert_cmpstr (term.name, ==, "Pareto frontier");
  g_assert_true (g_str_has_suffix (term.text, "."));
  g_assert_false (qm_term_find ("", &term));
  g_assert_false (qm_term_find ("frontiers", &term));
}

static void
test_popover (void)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *terms = g_object_new (QM_TYPE_TERMS_BUTTON, "terms",
                                   "interval nonsense naive", NULL);
  GtkWidget *button = widgets_find (terms, GTK_TYPE_BUTTON, 0);
  GtkWidget *popover;
  QmTerm interval, naive;

  gtk_window_set_child (GTK_WINDOW (window), terms);
  gtk_window_present (GTK_WINDOW (window));
  g_assert_true (gtk_widget_get_visible (terms));
  g_assert_true (gtk_widget_get_focusable (button));
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (button),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "Interval, Naive");
  g_assert_cmpuint (widgets_count (button, GTK_TYPE_POPOVER), ==, 0);
  g_signal_emit_by_name (button, "clicked");
  popover = widgets_find (button, GTK_TYPE_POPOVER, 0);
  g_assert_true (gtk_widget_get_visible (popover));
  g_assert_true (qm_term_find ("interval", &interval));
  g_assert_true (qm_term_find ("naive", &naive));
  g_assert_true (says (popover, interval.name)
                 && says (popover, interval.text));
  g_assert_true (says (popover, naive.name) && says (popover, naive.text));
  gtk_popover_popdown (GTK_POPOVER (popover));

  /* Other terms, another popover; no terms, nothing to press. */
  g_object_set (terms, "terms", "naive", NULL);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (button),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, "Naive");
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (button),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       naive.text);
  g_signal_emit_by_name (button, "clicked");
  g_assert_false (
      says (widgets_find (button, GTK_TYPE_POPOVER, 0), interval.name));
  g_object_set (terms, "terms", "nonsense", NULL);
  g_assert_false (gtk_widget_get_visible (terms));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
explain_cb (GSimpleAction *action, GVariant *parameter, gpointer asked)
{
  g_string_append_printf (asked, "%s ", g_variant_get_string (parameter, NULL));
}

/* Each term leads to its place in the guide, and is named so. */
static void
test_guide (void)
{
  static const GActionEntry entries[] = {
    { .name = "explain", .activate = explain_cb, .parameter_type = "s" },
  };
  g_autoptr (GSimpleActionGroup) actions = g_simple_action_group_new ();
  g_autoptr (GString) asked = g_string_new (NULL);
  GtkWidget *window = gtk_window_new ();
  GtkWidget *terms =
      g_object_new (QM_TYPE_TERMS_BUTTON, "terms", "zero nonsense audit", NULL);
  GtkWidget *button = widgets_find (terms, GTK_TYPE_BUTTON, 0);

  g_action_map_add_action_entries (G_ACTION_MAP (actions), entries,
                                   G_N_ELEMENTS (entries), asked);
  gtk_widget_insert_action_group (window, "app", G_ACTION_GROUP (actions));
  gtk_window_set_child (GTK_WINDOW (window), terms);
  gtk_window_present (GTK_WINDOW (window));
  g_assert_cmpuint (widgets_count (terms, GTK_TYPE_BUTTON), ==, 1);
  for (guint i = 0; i < 2; i++)
    {
      GtkWidget *popover, *link;

      g_signal_emit_by_name (button, "clicked");
      popover = widgets_find (button, GTK_TYPE_POPOVER, 0);
      g_assert_cmpuint (widgets_count (popover, GTK_TYPE_BUTTON), ==, 2);
      link = widgets_find (popover, GTK_TYPE_BUTTON, i);
      g_assert_true (gtk_widget_get_focusable (link));
      gtk_test_accessible_assert_property (
          GTK_ACCESSIBLE (link), GTK_ACCESSIBLE_PROPERTY_LABEL,
          i == 0 ? "ZeRO in the user guide" : "Audited in the user guide");
      g_signal_emit_by_name (link, "clicked");
      g_assert_false (gtk_widget_get_visible (popover));
    }
  g_assert_cmpstr (asked->str, ==, "zero audit ");
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_row (void)
{
  GtkWidget *row = g_object_ref_sink (
      g_object_new (QM_TYPE_CHOICE_ROW, "title", "Predictions", NULL));
  GtkWidget *terms = widgets_find (row, QM_TYPE_TERMS_BUTTON, 0);
  g_autofree char *ids = NULL;

  g_assert_false (gtk_widget_get_visible (terms));
  g_object_set (row, "terms", "predicted", NULL);
  g_assert_true (gtk_widget_get_visible (terms));
  g_object_get (row, "terms", &ids, NULL);
  g_assert_cmpstr (ids, ==, "predicted");
  g_object_unref (row);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/ui/terms/find", test_find);
  g_test_add_func ("/ui/terms/popover", test_popover);
  g_test_add_func ("/ui/terms/guide", test_guide);
  g_test_add_func ("/ui/terms/row", test_row);
  return g_test_run ();
}
