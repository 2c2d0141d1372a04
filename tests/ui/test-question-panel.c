/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-filter-group.h"
#include "ui/advisor/qm-model-picker.h"
#include "ui/advisor/qm-question-panel.h"
#include "ui/qm-choice-row.h"
#include "ui/qm-log-scale.h"

#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *panel;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  fixture->panel = g_object_ref_sink (qm_question_panel_new (fixture->advisor));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  widgets_finalize (fixture->panel);
  g_assert_finalize_object (fixture->advisor);
}

static GtkCheckButton *
check_of (Fixture *fixture, const char *name)
{
  QmFilterGroup *group = widgets_find (fixture->panel, QM_TYPE_FILTER_GROUP, 0);

  for (guint i = 0;; i++)
    {
      GtkCheckButton *check = widgets_find (group, GTK_TYPE_CHECK_BUTTON, i);
      GtkWidget *child = gtk_check_button_get_child (check);
      const char *label =
          child != NULL
              ? gtk_label_get_text (widgets_find (child, GTK_TYPE_LABEL, 0))
              : gtk_check_button_get_label (check);

      if (g_strcmp0 (label, name) == 0)
        return check;
    }
}

static gboolean
flag (Fixture *fixture, const char *property)
{
  gboolean value;

  g_object_get (fixture->advisor, property, &value, NULL);

  return value;
}

static double
number (Fixture *fixture, const char *property)
{
  double value;

  g_object_get (fixture->advisor, property, &value, NULL);

  return value;
}

static void
test_limits (Fixture *fixture, gconstpointer data)
{
  QmLogScale *budget = widgets_find (fixture->panel, QM_TYPE_LOG_SCALE, 0);
  QmLogScale *deadline = widgets_find (fixture->panel, QM_TYPE_LOG_SCALE, 1);
  guint notified;

  g_assert_cmpfloat (widgets_get_double (budget, "value"), ==, 40000);
  g_assert_cmpfloat (widgets_get_double (deadline, "value"), ==, 0);

  widgets_count_notify (fixture->advisor, "budget", &notified);
  qm_log_scale_set_value (budget, 127500);
  g_assert_cmpfloat (number (fixture, "budget"), ==, 127500);
  g_assert_cmpuint (notified, ==, 1);
  g_object_set (fixture->advisor, "budget", 20900.0, NULL);
  g_assert_cmpfloat (widgets_get_double (budget, "value"), ==, 20900);
  g_assert_cmpuint (notified, ==, 2);

  widgets_count_notify (fixture->advisor, "deadline", &notified);
  qm_log_scale_set_value (deadline, 30);
  g_assert_cmpfloat (number (fixture, "deadline"), ==, 30);
  g_object_set (fixture->advisor, "deadline", 0.0, NULL);
  g_assert_cmpfloat (widgets_get_double (deadline, "value"), ==, 0);
  g_assert_cmpuint (notified, ==, 2);

  /* The ends of the sliders are those of the advisor. */
  qm_log_scale_set_value (budget, 1);
  g_assert_cmpfloat (number (fixture, "budget"), ==, QM_BUDGET_MIN);
  qm_log_scale_set_value (budget, 1e12);
  g_assert_cmpfloat (number (fixture, "budget"), ==, QM_BUDGET_MAX);
  qm_log_scale_set_value (deadline, 1e12);
  g_assert_cmpfloat (number (fixture, "deadline"), ==, QM_DEADLINE_MAX);
}

static void
test_models (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "pythia-160m", "vit-large", NULL };
  QmModelPicker *picker =
      widgets_find (fixture->panel, QM_TYPE_MODEL_PICKER, 0);
  g_auto (GStrv) selected = NULL;
  g_auto (GStrv) actual = NULL;

  g_object_set (fixture->advisor, "models", models, NULL);
  g_object_get (picker, "selected", &selected, NULL);
  g_assert_true (g_strv_equal ((const char *const *) selected, models));

  qm_model_picker_set_selected (picker, models + 1);
  g_object_get (fixture->advisor, "models", &actual, NULL);
  g_assert_true (g_strv_equal ((const char *const *) actual, models + 1));

  g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (picker)));
  g_object_set (fixture->advisor, "portfolio", TRUE, NULL);
  g_assert_false (gtk_widget_get_sensitive (GTK_WIDGET (picker)));
}

static void
test_choices (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "measured-only", "any-price" };
  static const char *const labels[] = { "None", "Any" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      QmChoiceRow *row = widgets_find (fixture->panel, QM_TYPE_CHOICE_ROW, i);
      GtkWidget *reset = widgets_find_button (row, "Reset to the default");
      guint notified;

      widgets_count_notify (fixture->advisor, names[i], &notified);
      g_assert_false (qm_choice_row_get_second (row));
      g_assert_false (gtk_widget_get_visible (reset));

      gtk_toggle_button_set_active (
          GTK_TOGGLE_BUTTON (widgets_find_button (row, labels[i])), TRUE);
      g_assert_true (flag (fixture, names[i]));
      g_assert_true (gtk_widget_get_visible (reset));
      g_assert_cmpuint (notified, ==, 1);

      g_signal_emit_by_name (reset, "clicked");
      g_assert_false (flag (fixture, names[i]));
      g_assert_false (gtk_widget_get_visible (reset));

      g_object_set (fixture->advisor, names[i], TRUE, NULL);
      g_assert_true (qm_choice_row_get_second (row));
      g_assert_cmpuint (notified, ==, 3);
    }
}

static GtkWidget *
row_titled (Fixture *fixture, const char *title)
{
  guint n = widgets_count (fixture->panel, ADW_TYPE_PREFERENCES_ROW);

  for (guint i = 0; i < n; i++)
    {
      GtkWidget *row =
          widgets_find (fixture->panel, ADW_TYPE_PREFERENCES_ROW, i);

      if (g_strcmp0 (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)),
                     title)
          == 0)
        return row;
    }
  g_error ("no row “%s”", title);
}

/* What the paper settles cannot be set beside it, and what was set stays. */
static void
test_as_in_paper (Fixture *fixture, gconstpointer data)
{
  static const char *const settled[] = {
    "Times of",           "Predictions",         "Prices",
    "Power of the _room", "Use _expired quotes", "Count the _total cost",
    "_Lifetime",          "Time _factor",        "_Nearly as fast, in percent"
  };
  GtkWidget *row = row_titled (fixture, "As in the _paper");
  GtkSwitch *paper = widgets_find (row, GTK_TYPE_SWITCH, 0);
  guint notified;

  g_object_set (fixture->advisor, "any-price", TRUE, NULL);
  widgets_count_notify (fixture->advisor, "as-in-paper", &notified);
  g_assert_false (gtk_switch_get_active (paper));
  for (int on = TRUE; on >= FALSE; on--)
    {
      gtk_switch_set_active (paper, on);
      g_assert_true (flag (fixture, "as-in-paper") == on);
      for (guint i = 0; i < G_N_ELEMENTS (settled); i++)
        g_assert_true (
            gtk_widget_get_sensitive (row_titled (fixture, settled[i])) == !on);
      /* The paper has times at both. */
      g_assert_true (
          gtk_widget_get_sensitive (row_titled (fixture, "Settings")));
    }
  g_assert_cmpuint (notified, ==, 2);
  g_assert_true (flag (fixture, "any-price"));
  g_object_set (fixture->advisor, "as-in-paper", TRUE, NULL);
  g_assert_true (gtk_switch_get_active (paper));
}

static int
room (Fixture *fixture)
{
  int value;

  g_object_get (fixture->advisor, "room", &value, NULL);

  return value;
}

static void
expect_name (gpointer accessible, const char *expected)
{
  g_autofree char *problem = gtk_test_accessible_check_property (
      GTK_ACCESSIBLE (accessible), GTK_ACCESSIBLE_PROPERTY_LABEL, expected);

  g_assert_cmpstr (problem, ==, NULL);
}

static void
test_room (Fixture *fixture, gconstpointer data)
{
  GtkWidget *row = row_titled (fixture, "Power of the _room");
  GtkDropDown *list = widgets_find (row, GTK_TYPE_DROP_DOWN, 0);
  GtkWidget *reset = widgets_find_button (row, "Reset to the default");
  GtkLabel *note = GTK_LABEL (gtk_widget_get_prev_sibling (reset));
  guint notified;

  widgets_count_notify (fixture->advisor, "room", &notified);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==,
                    QM_ROOM_THREE_PHASES);
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (list)),
                    ==, QM_N_ROOMS);
  g_assert_cmpstr (gtk_label_get_text (note), ==,
                   "What draws more than 17.7 kW is not offered");
  g_assert_false (gtk_widget_get_visible (reset));
  expect_name (list, "Power of the room: Three phases of 32 A");
  expect_name (reset, "Reset: Power of the room");

  gtk_drop_down_set_selected (list, QM_ROOM_ONE_CIRCUIT);
  g_assert_cmpint (room (fixture), ==, QM_ROOM_ONE_CIRCUIT);
  g_assert_cmpstr (gtk_label_get_text (note), ==,
                   "What draws more than 2.9 kW is not offered");
  expect_name (list, "Power of the room: One circuit of 16 A");
  g_assert_true (gtk_widget_get_visible (reset));

  g_object_set (fixture->advisor, "room", QM_ROOM_ANY, NULL);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==, QM_ROOM_ANY);
  g_assert_null (strstr (gtk_label_get_text (note), "kW"));
  expect_name (list, "Power of the room: Any");

  g_signal_emit_by_name (reset, "clicked");
  g_assert_cmpint (room (fixture), ==, QM_ROOM_THREE_PHASES);
  g_assert_false (gtk_widget_get_visible (reset));
  g_assert_cmpuint (notified, ==, 3);
}

/* Types that nobody tried are there where they are predicted, and while they
 * are switched off. */
static void
test_predicted_filters (Fixture *fixture, gconstpointer data)
{
  GtkCheckButton *check = check_of (fixture, "GeForce RTX 4090");

  qm_advisor_get_n_topics (fixture->advisor);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (check)));
  while (!gtk_widget_get_visible (GTK_WIDGET (check)))
    g_main_context_iteration (NULL, TRUE);
  gtk_check_button_set_active (check, FALSE);
  g_assert_false (qm_advisor_get_gpu_enabled (fixture->advisor, "rtx4090"));
  qm_advisor_get_n_topics (fixture->advisor);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (check)));
  gtk_check_button_set_active (check, TRUE);
  g_object_set (fixture->advisor, "measured-only", TRUE, NULL);
  qm_advisor_get_n_topics (fixture->advisor);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (check)));
}

static void
test_filters (Fixture *fixture, gconstpointer data)
{
  QmFilterGroup *group = widgets_find (fixture->panel, QM_TYPE_FILTER_GROUP, 0);
  GtkWidget *reset = widgets_find_button (group, "Let all hardware take part");

  g_assert_false (gtk_widget_get_visible (reset));
  gtk_check_button_set_active (check_of (fixture, "RTX A6000"), FALSE);
  g_assert_false (qm_advisor_get_gpu_enabled (fixture->advisor, "a6000"));
  g_assert_true (qm_advisor_get_gpu_enabled (fixture->advisor, "rtx3090"));
  g_assert_true (gtk_widget_get_visible (reset));

  gtk_check_button_set_active (check_of (fixture, "8"), FALSE);
  g_assert_false (qm_advisor_get_count_enabled (fixture->advisor, 8));
  g_assert_true (qm_advisor_get_count_enabled (fixture->advisor, 4));

  gtk_check_button_set_active (check_of (fixture, "Desktop"), FALSE);
  g_assert_false (flag (fixture, "desktops"));
  g_assert_true (flag (fixture, "servers"));

  g_signal_emit_by_name (reset, "clicked");
  g_assert_true (qm_advisor_get_gpu_enabled (fixture->advisor, "a6000"));
  g_assert_true (qm_advisor_get_count_enabled (fixture->advisor, 8));
  g_assert_true (flag (fixture, "desktops"));
  g_assert_true (gtk_check_button_get_active (check_of (fixture, "8")));
  g_assert_false (gtk_widget_get_visible (reset));

  qm_advisor_set_gpu_enabled (fixture->advisor, "rtx3090", FALSE);
  g_object_set (fixture->advisor, "servers", FALSE, NULL);
  widgets_settle ();
  g_assert_false (
      gtk_check_button_get_active (check_of (fixture, "GeForce RTX 3090")));
  g_assert_false (gtk_check_button_get_active (check_of (fixture, "Server")));
  g_assert_true (gtk_widget_get_visible (reset));
}

static void
test_time_factor (Fixture *fixture, gconstpointer data)
{
  GtkWidget *row = row_titled (fixture, "Time _factor");
  GtkSpinButton *spin = widgets_find (row, GTK_TYPE_SPIN_BUTTON, 0);
  GtkWidget *reset = widgets_find_button (row, "Reset to the default");

  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "1.1");
  g_assert_false (gtk_widget_get_visible (reset));
  gtk_spin_button_set_value (spin, 1.25);
  g_assert_cmpfloat (number (fixture, "time-factor"), ==, 1.25);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "1.25");
  g_assert_cmpfloat (qm_advisor_get_question (fixture->advisor, 0)->time_factor,
                     ==, 1.25);
  gtk_spin_button_set_value (spin, 0.5);
  g_assert_cmpfloat (number (fixture, "time-factor"), ==, 1);
  gtk_spin_button_set_value (spin, 100);
  g_assert_cmpfloat (number (fixture, "time-factor"), ==, 10);
  g_assert_true (gtk_widget_get_visible (reset));
  g_signal_emit_by_name (reset, "clicked");
  g_assert_cmpfloat (number (fixture, "time-factor"), ==, 1.1);
  g_assert_false (gtk_widget_get_visible (reset));
  g_object_set (fixture->advisor, "as-in-paper", TRUE, NULL);
  g_assert_cmpfloat (qm_advisor_get_question (fixture->advisor, 0)->time_factor,
                     ==, 1);
}

static double
slack_of (Fixture *fixture)
{
  return qm_advisor_get_question (fixture->advisor, 0)->slack_percent;
}

static void
test_slack (Fixture *fixture, gconstpointer data)
{
  GtkWidget *row = row_titled (fixture, "_Nearly as fast, in percent");
  GtkSpinButton *spin = widgets_find (row, GTK_TYPE_SPIN_BUTTON, 0);
  GtkWidget *reset = widgets_find_button (row, "Reset to the default");

  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "5");
  g_assert_cmpfloat (slack_of (fixture), ==, 5);
  g_assert_false (gtk_widget_get_visible (reset));
  gtk_spin_button_set_value (spin, 0);
  g_assert_cmpfloat (slack_of (fixture), ==, 0);
  g_assert_true (gtk_widget_get_visible (reset));
  gtk_spin_button_set_value (spin, 1000);
  g_assert_cmpfloat (slack_of (fixture), ==, 100);
  g_signal_emit_by_name (reset, "clicked");
  g_assert_cmpfloat (slack_of (fixture), ==, 5);
  g_assert_false (gtk_widget_get_visible (reset));
  g_object_set (fixture->advisor, "as-in-paper", TRUE, NULL);
  g_assert_cmpfloat (slack_of (fixture), ==, 0);
}

static void
test_lifetime (Fixture *fixture, gconstpointer data)
{
  GtkSpinButton *spin =
      widgets_find (row_titled (fixture, "_Lifetime"), GTK_TYPE_SPIN_BUTTON, 0);
  GtkWidget *row, *reset;

  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "5");
  gtk_spin_button_set_value (spin, 2.5);
  g_assert_cmpfloat (number (fixture, "lifetime"), ==, 2.5);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (spin)), ==, "2.5");
  gtk_spin_button_set_value (spin, 100);
  g_assert_cmpfloat (number (fixture, "lifetime"), ==, 20);
  g_object_set (fixture->advisor, "lifetime", 7.0, NULL);
  g_assert_cmpfloat (gtk_spin_button_get_value (spin), ==, 7);

  row = gtk_widget_get_ancestor (GTK_WIDGET (spin), ADW_TYPE_ACTION_ROW);
  reset = widgets_find_button (row, "Reset to the default");
  g_assert_true (gtk_widget_get_visible (reset));
  g_signal_emit_by_name (reset, "clicked");
  g_assert_cmpfloat (number (fixture, "lifetime"), ==, 5);
  g_assert_false (gtk_widget_get_visible (reset));
}

static void
test_reset (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "vit-large", NULL };
  g_auto (GStrv) selected = NULL;

  g_object_set (fixture->advisor, "models", models, "budget", 1234.0,
                "deadline", 12.0, "lifetime", 3.0, "as-in-paper", TRUE,
                "desktops", FALSE, NULL);
  qm_advisor_set_count_enabled (fixture->advisor, 1, FALSE);
  widgets_settle ();

  qm_advisor_reset (fixture->advisor);
  widgets_settle ();
  for (guint i = 0; i < 2; i++)
    {
      QmLogScale *scale = widgets_find (fixture->panel, QM_TYPE_LOG_SCALE, i);

      g_assert_cmpfloat (widgets_get_double (scale, "value"), ==,
                         i == 0 ? 40000 : 0);
    }
  g_assert_true (gtk_check_button_get_active (check_of (fixture, "1")));
  g_assert_true (gtk_check_button_get_active (check_of (fixture, "Desktop")));
  g_object_get (widgets_find (fixture->panel, QM_TYPE_MODEL_PICKER, 0),
                "selected", &selected, NULL);
  g_assert_cmpstr (selected[0], ==, "pythia-1b");
}

#define ADD(name, function)                                             \
  g_test_add ("/question-panel/" name, Fixture, NULL, set_up, function, \
              tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("limits", test_limits);
  ADD ("models", test_models);
  ADD ("choices", test_choices);
  ADD ("as-in-paper", test_as_in_paper);
  ADD ("room", test_room);
  ADD ("predicted-filters", test_predicted_filters);
  ADD ("filters", test_filters);
  ADD ("lifetime", test_lifetime);
  ADD ("time-factor", test_time_factor);
  ADD ("slack", test_slack);
  ADD ("reset", test_reset);

  return g_test_run ();
}
