/* SPDX-License-Identifier: Apache-2.0 */

/* The answer to a year's runs above the plots, the money that it is in, and
 * questions that are files. */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-money-group.h"
#include "ui/advisor/qm-question-panel.h"
#include "ui/advisor/qm-year-view.h"
#include "ui/qm-log-scale.h"

#include <math.h>
#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  QmYearView *view;
} Fixture;

/* A euro is worth 1.25 USD, and 150 yen. */
static void
give_rates (QmAdvisor *advisor)
{
  const QmRate list[] = { { "USD", { 2026, 3, 2 }, 1250000000 },
                          { "JPY", { 2026, 3, 2 }, 150 * QM_RATE_NANOS } };
  g_autoptr (QmRates) rates = qm_rates_new (list, G_N_ELEMENTS (list), NULL);

  g_assert_nonnull (rates);
  qm_advisor_set_rates (advisor, rates);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  g_object_set (fixture->advisor, "measured-only", TRUE, "time-factor", 1.0,
                "budget", 500000.0, "room", QM_ROOM_ANY, NULL);
  give_rates (fixture->advisor);
  fixture->view = g_object_ref_sink (g_object_new (QM_TYPE_YEAR_VIEW, NULL));
  qm_year_view_set_advisor (fixture->view, fixture->advisor);
  widgets_settle ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  widgets_finalize (fixture->view);
  g_assert_finalize_object (fixture->advisor);
}

static void
ask_year (QmAdvisor *advisor)
{
  qm_advisor_add_run (advisor, "pythia-1b", 3);
  qm_advisor_add_run (advisor, "vit-large", 10);
  g_object_set (advisor, "portfolio", TRUE, NULL);
  widgets_settle ();
}

/* The label in the view with that text, or NULL. */
static GtkWidget *
find_label (gpointer root, const char *text)
{
  GtkWidget *widget = root;

  if (GTK_IS_LABEL (widget)
      && strstr (gtk_label_get_text (GTK_LABEL (widget)), text) != NULL)
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_label (child, text);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
test_only_for_a_year (Fixture *fixture, gconstpointer data)
{
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (fixture->view)));
  ask_year (fixture->advisor);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (fixture->view)));
  g_object_set (fixture->advisor, "portfolio", FALSE, NULL);
  widgets_settle ();
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (fixture->view)));
}

/* 226 days on 8 x RTX A6000: runs of 22 and of 16 days. */
static void
test_matrix (Fixture *fixture, gconstpointer data)
{
  GtkWidget *cell;
  g_autofree char *tooltip = NULL;

  g_object_set (fixture->advisor, "budget", 50000.0, NULL);
  ask_year (fixture->advisor);
  g_assert_nonnull (find_label (fixture->view, "Buy 8 × RTX A6000"));
  g_assert_nonnull (
      find_label (fixture->view, "it trains 62\u00a0% of the year."));
  g_assert_nonnull (find_label (fixture->view, "ViT (large): 16 days a run"));
  cell = find_label (fixture->view, "22 days");
  g_assert_nonnull (cell);
  cell = NULL;
  for (guint i = 0; cell == NULL; i++)
    {
      GtkWidget *label = widgets_find (fixture->view, GTK_TYPE_LABEL, i);

      if (strcmp (gtk_label_get_text (GTK_LABEL (label)), "22 days") == 0)
        cell = label;
    }
  g_object_get (cell, "tooltip-text", &tooltip, NULL);
  g_assert_cmpstr (tooltip, ==,
                   "Pythia (1B) on 8 × RTX A6000: 22 days; PyTorch");
  g_assert_false (gtk_widget_has_css_class (cell, "error"));

  /* A limit of a run marks it without anything being built anew. */
  g_object_set (fixture->advisor, "run-deadline", 20.0, NULL);
  g_assert_true (gtk_widget_has_css_class (cell, "error")
                 || find_label (fixture->view, "Nothing") != NULL);
}

static void
test_selects (Fixture *fixture, gconstpointer data)
{
  guint topic, candidate, n;
  const QmCandidate *candidates;
  GtkWidget *button;

  g_object_set (fixture->advisor, "budget", 50000.0, NULL);
  ask_year (fixture->advisor);
  button = widgets_find_button (fixture->view, "8 × RTX A6000");
  g_assert_true (gtk_widget_has_css_class (button, "suggested-action"));
  g_signal_emit_by_name (button, "clicked");
  g_assert_true (
      qm_advisor_get_selected (fixture->advisor, &topic, &candidate));
  candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);
  g_assert_cmpstr (candidates[candidate].gpu->id, ==, "a6000");
  g_assert_cmpint (candidates[candidate].gpus, ==, 8);
}

/* 55,000 EUR with 19 % tax are 57,773.109 USD without, at 1.25, and 57,773.11
 * are told as 55,000.00 EUR, too. */
static void
test_money (Fixture *fixture, gconstpointer data)
{
  const char *not_added = "Not added: the total cost contains a tax already";
  g_autoptr (QmMoneyGroup) group =
      g_object_ref_sink (g_object_new (QM_TYPE_MONEY_GROUP, NULL));

  ask_year (fixture->advisor);
  g_object_set (fixture->advisor, "currency", "EUR", "tax", 19.0, "gross", TRUE,
                "budget", 55000.0, NULL);
  widgets_settle ();
  g_assert_cmpint (qm_advisor_get_budget_minor (fixture->advisor), ==, 5777311);
  /* 2 x (7,500 + 4 x 4,800) USD */
  g_assert_nonnull (find_label (
      fixture->view,
      "It costs €42,720 without tax and €50,837 with tax of 19\u00a0%."));
  g_assert_nonnull (find_label (fixture->view, "€4,163 of the budget"));
  /* A total cost that has tax has it already, which is said. */
  qm_money_group_set_advisor (group, fixture->advisor);
  g_assert_null (find_label (GTK_WIDGET (group), not_added));
  {
    QmOwnershipSettings ownership = qm_ownership_settings_default ();

    ownership.parts = QM_OWNERSHIP_TAX;
    qm_advisor_set_ownership (fixture->advisor, &ownership);
    g_object_set (fixture->advisor, "total-cost", TRUE, NULL);
    g_assert_cmpint (qm_advisor_get_budget_minor (fixture->advisor), ==,
                     6875000);
    widgets_settle ();
    g_assert_nonnull (find_label (GTK_WIDGET (group), not_added));
    ownership.parts = 0;
    qm_advisor_set_ownership (fixture->advisor, &ownership);
    widgets_settle ();
    g_assert_null (find_label (GTK_WIDGET (group), not_added));
  }
}

/* The deadline of all makes more machines of it. */
static void
test_deadline (Fixture *fixture, gconstpointer data)
{
  ask_year (fixture->advisor);
  g_object_set (fixture->advisor, "budget", 150000.0, "deadline", 60.0, NULL);
  widgets_settle ();
  for (guint i = 0, n; i < 1; i++)
    {
      const QmAdvice *advice = qm_advisor_get_advice (fixture->advisor, 0);
      const QmCandidate *candidates = qm_advice_candidates (advice, &n);

      for (guint c = 0; c < n; c++)
        if (strcmp (candidates[c].gpu->id, "a6000") == 0
            && candidates[c].gpus == 8)
          g_assert_cmpint (candidates[c].machines, ==, 4);
    }
}

/* The whole of a question survives a file, for one training and for a year. */
static void
test_file (Fixture *fixture, gconstpointer data)
{
  QmAdvisor *advisor = fixture->advisor;
  QmAdvisor *other = qm_advisor_new (widgets_catalog ());
  g_autoptr (QmAsked) asked = NULL;
  g_autoptr (QmAsked) again = NULL;
  g_autofree char *text = NULL;
  g_autofree char *same = NULL;
  g_autoptr (GError) error = NULL;
  gboolean portfolio;

  give_rates (other);
  ask_year (advisor);
  g_object_set (advisor, "currency", "EUR", "tax", 19.0, "gross", TRUE,
                "budget", 61234.0, "deadline", 300.0, "run-deadline", 42.0,
                "at-once", 2, "machine-most", 50000.0, "room",
                QM_ROOM_ONE_CIRCUIT, "desktops", FALSE, "lifetime", 4.0, NULL);
  qm_advisor_set_gpu_enabled (advisor, "rtx3090", FALSE);
  qm_advisor_set_count_enabled (advisor, 2, FALSE);
  for (int year = 1; year >= 0; year--)
    {
      g_object_set (advisor, "portfolio", year == 1, NULL);
      g_clear_pointer (&asked, qm_asked_free);
      g_clear_pointer (&again, qm_asked_free);
      g_clear_pointer (&text, g_free);
      g_clear_pointer (&same, g_free);
      asked = qm_advisor_get_asked (advisor);
      text = qm_asked_write (asked);
      g_assert_nonnull (strstr (text, "\"budget\": 61234"));
      g_assert_true (qm_advisor_take_asked (other, asked, &error));
      g_assert_no_error (error);
      again = qm_advisor_get_asked (other);
      same = qm_asked_write (again);
      g_assert_cmpstr (text, ==, same);
      g_object_get (other, "portfolio", &portfolio, NULL);
      g_assert_cmpint (portfolio, ==, year);
      g_assert_cmpint (qm_advisor_get_budget_minor (other), ==,
                       qm_advisor_get_budget_minor (advisor));
    }
  g_assert_finalize_object (other);
}

/* What has no place in the window changes nothing. */
static void
test_refused (Fixture *fixture, gconstpointer data)
{
  static const char *const fields[] = {
    "\"link\": \"pcie\"",
    "\"room\": 1234",
    "\"gpus\": [3]",
    "\"lifetime_years\": 50",
    "\"money\": {\"currency\": \"USD\", \"budget\": 5}",
    "\"money\": {\"currency\": \"CHF\", \"budget\": 5000}",
    "\"gpu\": [\"nothing\"]",
  };
  g_autoptr (QmAsked) before = qm_advisor_get_asked (fixture->advisor);
  g_autofree char *kept = qm_asked_write (before);

  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "{\"format\": \"quartermaster-question\", \"version\": 1, "
          "\"models\": [\"vit-large\"], %s}",
          fields[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmAsked) asked =
          qm_asked_read (text, strlen (text), "x", &error);
      g_autoptr (QmAsked) after = NULL;
      g_autofree char *now = NULL;

      g_assert_no_error (error);
      g_assert_false (qm_advisor_take_asked (fixture->advisor, asked, &error));
      g_assert_nonnull (error);
      after = qm_advisor_get_asked (fixture->advisor);
      now = qm_asked_write (after);
      g_assert_cmpstr (kept, ==, now);
    }
}

/* The question panel in step: the range of a budget follows its currency, and a
 * budget of the file is what it says. */
static void
test_panel (Fixture *fixture, gconstpointer data)
{
  QmAdvisor *advisor = fixture->advisor;
  GtkWidget *panel = g_object_ref_sink (qm_question_panel_new (advisor));
  QmLogScale *budget = widgets_find (panel, QM_TYPE_LOG_SCALE, 0);
  GtkWidget *run = widgets_find (panel, QM_TYPE_LOG_SCALE, 2);
  static const char text[] =
      "{\"format\": \"quartermaster-question\", \"version\": 1, \"runs\": "
      "[{\"model\": \"vit-large\", \"runs_per_year\": 2}], "
      "\"run_deadline_days\": 42, \"money\": {\"currency\": \"JPY\", "
      "\"budget\": 7000000}}";
  g_autoptr (QmAsked) asked = NULL;
  double value;

  g_assert_false (gtk_widget_get_visible (run));
  g_object_set (advisor, "budget", 60000.0, "currency", "EUR", NULL);
  g_assert_cmpfloat (widgets_get_double (budget, "value"), ==, 60000);
  g_object_set (advisor, "currency", "JPY", NULL);
  g_assert_cmpfloat_with_epsilon (widgets_get_double (budget, "value"), 6000000,
                                  1);
  asked = qm_asked_read (text, strlen (text), "x", NULL);
  g_object_set (advisor, "currency", "USD", NULL);
  g_assert_true (qm_advisor_take_asked (advisor, asked, NULL));
  g_object_get (advisor, "budget", &value, NULL);
  g_assert_cmpfloat (value, ==, 7000000);
  g_assert_cmpfloat (widgets_get_double (budget, "value"), ==, 7000000);
  g_assert_true (gtk_widget_get_visible (run));
  g_assert_cmpfloat (widgets_get_double (QM_LOG_SCALE (run), "value"), ==, 42);
  qm_advisor_reset (advisor);
  g_object_get (advisor, "budget", &value, NULL);
  g_assert_cmpfloat (value, ==, 40000);
  g_assert_cmpfloat (widgets_get_double (budget, "value"), ==, 40000);
  widgets_finalize (panel);
}

/* The phase of what a widget has to be scrolled by itself, and (transfer none)
 * who looks at events before it. */
static GtkPropagationPhase
phase_of (GtkWidget *widget, GtkEventController **before)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  GtkPropagationPhase phase = GTK_PHASE_TARGET;

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) one =
          g_list_model_get_item (controllers, i);

      if (!GTK_IS_EVENT_CONTROLLER_SCROLL (one))
        continue;
      if (g_strcmp0 (gtk_event_controller_get_name (one), "sideways") == 0)
        *before = one;
      else if (gtk_event_controller_get_propagation_phase (one)
               != GTK_PHASE_CAPTURE)
        phase = gtk_event_controller_get_propagation_phase (one);
    }
  return phase;
}

/* A wheel over the table scrolls the page. */
static void
test_wheel (Fixture *fixture, gconstpointer data)
{
  static const double turns[][2] = { { 0, 1 }, { 1, 0 }, { 0, -1 }, { 2, 1 } };
  GtkWidget *scroller =
      widgets_find (fixture->view, GTK_TYPE_SCROLLED_WINDOW, 0);
  GtkEventController *before = NULL;

  g_assert_cmpint (phase_of (scroller, &before), ==, GTK_PHASE_BUBBLE);
  g_assert_nonnull (before);
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    {
      gboolean handled = TRUE;

      g_signal_emit_by_name (before, "scroll", turns[i][0], turns[i][1],
                             &handled);
      g_assert_false (handled);
      g_assert_cmpint (phase_of (scroller, &before), ==,
                       i % 2 ? GTK_PHASE_BUBBLE : GTK_PHASE_NONE);
    }
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
#define ADD(name, function) \
  g_test_add ("/year-view/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("only-for-a-year", test_only_for_a_year);
  ADD ("matrix", test_matrix);
  ADD ("selects", test_selects);
  ADD ("money", test_money);
  ADD ("deadline", test_deadline);
  ADD ("file", test_file);
  ADD ("refused", test_refused);
  ADD ("panel", test_panel);
  ADD ("wheel", test_wheel);
#undef ADD
  return g_test_run ();
}
