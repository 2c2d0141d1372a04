/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-portfolio-editor.h"
#include "ui/advisor/qm-run-row.h"

typedef struct
{
  QmAdvisor *advisor;
  QmPortfolioEditor *editor;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  g_object_set (fixture->advisor, "measured-only", TRUE, NULL);
  fixture->editor =
      g_object_ref_sink (g_object_new (QM_TYPE_PORTFOLIO_EDITOR, NULL));
  qm_portfolio_editor_set_advisor (fixture->editor, fixture->advisor);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  widgets_finalize (fixture->editor);
  g_assert_finalize_object (fixture->advisor);
}

static GtkSwitch *
toggle_of (Fixture *fixture)
{
  return widgets_find (fixture->editor, GTK_TYPE_SWITCH, 0);
}

static guint
count_rows (Fixture *fixture)
{
  return widgets_count_visible (fixture->editor, QM_TYPE_RUN_ROW);
}

static QmRunRow *
row_at (Fixture *fixture, guint index)
{
  return widgets_find (fixture->editor, QM_TYPE_RUN_ROW, index);
}

static gboolean
in_use (Fixture *fixture)
{
  gboolean portfolio;

  g_object_get (fixture->advisor, "portfolio", &portfolio, NULL);

  return portfolio;
}

static void
assert_run (Fixture *fixture, guint index, const char *model, double runs)
{
  double actual;

  g_assert_cmpstr (qm_advisor_get_run (fixture->advisor, index, &actual), ==,
                   model);
  g_assert_cmpfloat (actual, ==, runs);
  g_assert_cmpstr (qm_run_row_get_model (row_at (fixture, index)), ==, model);
  g_assert_cmpfloat (qm_run_row_get_runs_per_year (row_at (fixture, index)), ==,
                     runs);
}

static void
test_toggle (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "vit-large", "pythia-1b", NULL };

  g_object_set (fixture->advisor, "models", models, NULL);
  g_assert_cmpuint (count_rows (fixture), ==, 0);

  /* The chosen models are where a portfolio begins. */
  gtk_switch_set_active (toggle_of (fixture), TRUE);
  g_assert_true (in_use (fixture));
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  assert_run (fixture, 0, "vit-large", 10);
  assert_run (fixture, 1, "pythia-1b", 10);

  /* Its lines stay while it is off. */
  gtk_switch_set_active (toggle_of (fixture), FALSE);
  g_assert_false (in_use (fixture));
  g_assert_cmpuint (count_rows (fixture), ==, 0);
  g_assert_cmpuint (qm_advisor_get_n_runs (fixture->advisor), ==, 2);
  gtk_switch_set_active (toggle_of (fixture), TRUE);
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  g_assert_cmpuint (qm_advisor_get_n_runs (fixture->advisor), ==, 2);
}

static void
count_cb (guint *count)
{
  (*count)++;
}

static void
test_change (Fixture *fixture, gconstpointer data)
{
  GtkSpinButton *spin;
  GtkDropDown *models;
  guint rebuilt = 0;
  QmRunRow *row;

  gtk_switch_set_active (toggle_of (fixture), TRUE);
  widgets_settle ();
  g_signal_connect_swapped (fixture->advisor, "rebuilt", G_CALLBACK (count_cb),
                            &rebuilt);

  row = row_at (fixture, 0);
  spin = widgets_find (row, GTK_TYPE_SPIN_BUTTON, 0);
  gtk_spin_button_set_value (spin, 24);
  widgets_settle ();
  assert_run (fixture, 0, "pythia-1b", 24);
  g_assert_cmpuint (rebuilt, ==, 1);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "24");

  models = widgets_find (row, GTK_TYPE_DROP_DOWN, 0);
  gtk_drop_down_set_selected (models, 0);
  widgets_settle ();
  g_assert_cmpstr (qm_advisor_get_run (fixture->advisor, 0, NULL), !=,
                   "pythia-1b");
  assert_run (fixture, 0, qm_run_row_get_model (row), 24);
  g_assert_cmpuint (rebuilt, ==, 2);

  /* No row was made anew under the user's hands. */
  g_assert_true (row_at (fixture, 0) == row);
}

static void
test_add_and_remove (Fixture *fixture, gconstpointer data)
{
  const char *second, *third;

  gtk_switch_set_active (toggle_of (fixture), TRUE);
  g_signal_emit_by_name (widgets_find (fixture->editor, ADW_TYPE_ACTION_ROW, 1),
                         "activated");
  g_signal_emit_by_name (widgets_find (fixture->editor, ADW_TYPE_ACTION_ROW, 1),
                         "activated");
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 3);
  g_assert_cmpuint (qm_advisor_get_n_runs (fixture->advisor), ==, 3);

  /* Each a model that had no line yet. */
  second = qm_advisor_get_run (fixture->advisor, 1, NULL);
  third = qm_advisor_get_run (fixture->advisor, 2, NULL);
  g_assert_cmpstr (second, !=, "pythia-1b");
  g_assert_cmpstr (third, !=, "pythia-1b");
  g_assert_cmpstr (third, !=, second);

  g_signal_emit_by_name (widgets_find_button (row_at (fixture, 0), "Remove"),
                         "clicked");
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  assert_run (fixture, 0, second, 10);

  /* Without a line there is nothing to plan. */
  g_signal_emit_by_name (widgets_find_button (row_at (fixture, 0), "Remove"),
                         "clicked");
  g_signal_emit_by_name (widgets_find_button (row_at (fixture, 0), "Remove"),
                         "clicked");
  widgets_settle ();
  g_assert_false (in_use (fixture));
  g_assert_false (gtk_switch_get_active (toggle_of (fixture)));
}

static void
test_advisor_changes (Fixture *fixture, gconstpointer data)
{
  GtkSpinButton *at_once;

  qm_advisor_add_run (fixture->advisor, "pythia-2.8b", 0.5);
  qm_advisor_add_run (fixture->advisor, "vit-large", 100000);
  g_object_set (fixture->advisor, "portfolio", TRUE, "at-once", 3, NULL);
  widgets_settle ();
  g_assert_true (gtk_switch_get_active (toggle_of (fixture)));
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  assert_run (fixture, 0, "pythia-2.8b", 0.5);
  assert_run (fixture, 1, "vit-large", 100000);

  at_once = widgets_find (fixture->editor, GTK_TYPE_SPIN_BUTTON, 2);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (at_once), ==, 3);
  gtk_spin_button_set_value (at_once, 7);
  {
    int value;

    g_object_get (fixture->advisor, "at-once", &value, NULL);
    g_assert_cmpint (value, ==, 7);
  }

  qm_advisor_reset (fixture->advisor);
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 0);
  g_assert_false (gtk_switch_get_active (toggle_of (fixture)));
  g_assert_cmpint (gtk_spin_button_get_value_as_int (at_once), ==, 1);
}

static void
test_reset (Fixture *fixture, gconstpointer data)
{
  GtkWidget *reset =
      widgets_find_button (fixture->editor, "Forget the year’s runs");

  g_assert_false (gtk_widget_get_visible (reset));
  gtk_switch_set_active (toggle_of (fixture), TRUE);
  g_assert_true (gtk_widget_get_visible (reset));
  gtk_switch_set_active (toggle_of (fixture), FALSE);
  g_assert_true (gtk_widget_get_visible (reset));

  g_signal_emit_by_name (reset, "clicked");
  g_assert_false (gtk_widget_get_visible (reset));
  g_assert_cmpuint (qm_advisor_get_n_runs (fixture->advisor), ==, 0);
  g_assert_false (in_use (fixture));
}

#define ADD(name, function)                                               \
  g_test_add ("/portfolio-editor/" name, Fixture, NULL, set_up, function, \
              tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("toggle", test_toggle);
  ADD ("change", test_change);
  ADD ("add-and-remove", test_add_and_remove);
  ADD ("advisor-changes", test_advisor_changes);
  ADD ("reset", test_reset);

  return g_test_run ();
}
