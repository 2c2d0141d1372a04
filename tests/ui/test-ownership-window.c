/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-ownership-window.h"

#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *window;
} Fixture;

static GtkWidget *
open_window (Fixture *fixture)
{
  GtkWidget *window = qm_ownership_window_new (NULL, fixture->advisor);

  gtk_window_present (GTK_WINDOW (window));
  widgets_settle ();
  return window;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  fixture->window = open_window (fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_settle ();
  g_assert_finalize_object (fixture->advisor);
}

static GtkWidget *
find_row (GtkWidget *root, const char *title)
{
  if (ADW_IS_PREFERENCES_ROW (root)
      && strcmp (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (root)),
                 title)
             == 0)
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_row (child, title);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static AdwPreferencesRow *
row_of (Fixture *fixture, const char *title)
{
  GtkWidget *row = find_row (fixture->window, title);

  g_assert_nonnull (row);
  return ADW_PREFERENCES_ROW (row);
}

/* The first amount that is shown in a row, or NULL. */
static const char *
find_amount (GtkWidget *root)
{
  const char *found = NULL;

  if (GTK_IS_LABEL (root)
      && strchr (gtk_label_get_text (GTK_LABEL (root)), '$') != NULL)
    return gtk_label_get_text (GTK_LABEL (root));
  for (GtkWidget *child = gtk_widget_get_first_child (root);
       child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_amount (child);
  return found;
}

static const char *
amount_of (Fixture *fixture, const char *title)
{
  return find_amount (GTK_WIDGET (row_of (fixture, title)));
}

static void
enable (Fixture *fixture, const char *title, gboolean on)
{
  adw_expander_row_set_enable_expansion (
      ADW_EXPANDER_ROW (row_of (fixture, title)), on);
  widgets_settle ();
}

static GtkSpinButton *
spin_of (Fixture *fixture, const char *title)
{
  return widgets_find (row_of (fixture, title), GTK_TYPE_SPIN_BUTTON, 0);
}

/* As the published analysis has it: 1 x H100 in a desktop. */
static void
test_price_alone (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpstr (amount_of (fixture, "When it is bought"), ==, "$31,000");
  g_assert_cmpstr (amount_of (fixture, "Each month after that"), ==, "$0");
  g_assert_cmpstr (amount_of (fixture, "In all"), ==, "$31,000");
  g_assert_cmpstr (amount_of (fixture, "One training"), ==, "$635");
}

static void
test_parts (Fixture *fixture, gconstpointer data)
{
  enable (fixture, "Tax", TRUE);
  gtk_spin_button_set_value (spin_of (fixture, "Tax (%)"), 10);
  widgets_settle ();
  g_assert_cmpstr (amount_of (fixture, "When it is bought"), ==, "$34,100");
  g_assert_cmpstr (amount_of (fixture, "Tax"), ==, "$3,100");
  enable (fixture, "Residual value", TRUE);
  gtk_spin_button_set_value (spin_of (fixture, "Residual value (%)"), 20);
  widgets_settle ();
  g_assert_cmpstr (amount_of (fixture, "In all"), ==, "$27,900");
  /* (700 W + 300 W of the machine) / 0.92 in its supply, x 1.5 for the
   * building, all hours of a month. */
  enable (fixture, "Electricity", TRUE);
  g_assert_cmpstr (amount_of (fixture, "Each month after that"), ==, "$143");
  g_assert_nonnull (
      strstr (adw_expander_row_get_subtitle (
                  ADW_EXPANDER_ROW (row_of (fixture, "Electricity"))),
              "1.1\u00a0kW at full load, by what the catalog states"));
  g_assert_nonnull (strstr (adw_expander_row_get_subtitle (
                                ADW_EXPANDER_ROW (row_of (fixture, "Tax"))),
                            "with tax of 10"));
  enable (fixture, "Tax", FALSE);
  g_assert_cmpstr (amount_of (fixture, "When it is bought"), ==, "$31,000");

  /* The same again in another window. */
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  fixture->window = open_window (fixture);
  g_assert_cmpstr (amount_of (fixture, "Each month after that"), ==, "$143");
  enable (fixture, "Tax", TRUE);
  g_assert_cmpstr (amount_of (fixture, "When it is bought"), ==, "$34,100");
}

static void
test_rent (Fixture *fixture, gconstpointer data)
{
  AdwComboRow *rents =
      ADW_COMBO_ROW (row_of (fixture, "Instead of _renting from"));
  guint n = g_list_model_get_n_items (adw_combo_row_get_model (rents));
  gboolean owning = FALSE;
  AdwPreferencesRow *answer;
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (
      gtk_widget_get_ancestor (GTK_WIDGET (rents), ADW_TYPE_PREFERENCES_GROUP));

  /* What no rent has in it. */
  g_assert_nonnull (
      strstr (adw_preferences_group_get_description (group), "reserved"));
  g_assert_nonnull (
      strstr (adw_preferences_group_get_description (group), "egress"));
  g_assert_cmpuint (n, >, 1);
  for (guint i = 0; i < n; i++)
    {
      adw_combo_row_set_selected (rents, i);
      widgets_settle ();
      answer = widgets_find (gtk_widget_get_parent (GTK_WIDGET (rents)),
                             ADW_TYPE_PREFERENCES_ROW, 1);
      owning |= g_str_has_prefix (adw_preferences_row_get_title (answer),
                                  "Owning is cheaper after ");
    }
  g_assert_true (owning);
  /* Who never uses it, rents; of the first, that rents out as many GPUs. */
  adw_combo_row_set_selected (rents, 0);
  gtk_spin_button_set_value (spin_of (fixture, "Use, of all hours (%)"), 0);
  widgets_settle ();
  answer = widgets_find (gtk_widget_get_parent (GTK_WIDGET (rents)),
                         ADW_TYPE_PREFERENCES_ROW, 1);
  g_assert_true (g_str_has_prefix (adw_preferences_row_get_title (answer),
                                   "Renting is always cheaper"));
}

/* It is about what is selected. */
static void
test_selection (Fixture *fixture, gconstpointer data)
{
  guint n;
  const QmCandidate *candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, "a6000") == 0 && candidates[i].gpus == 4)
      qm_advisor_select (fixture->advisor, 0, i);
  widgets_settle ();
  g_assert_cmpstr (amount_of (fixture, "When it is bought"), ==, "$26,700");
  qm_advisor_unselect (fixture->advisor);
  g_object_set (fixture->advisor, "budget", 1000.0, NULL);
  widgets_settle ();
  g_assert_null (amount_of (fixture, "When it is bought"));
  g_assert_true (gtk_widget_get_visible (
      GTK_WIDGET (row_of (fixture, "No machine is selected or recommended"))));
}

/* The cost of 4 x A6000 in the plots. */
static gint64
cost_in_plots (Fixture *fixture)
{
  guint n;
  const QmCandidate *candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, "a6000") == 0 && candidates[i].gpus == 4)
      return candidates[i].cost_minor;
  g_assert_not_reached ();
}

/* Counted in the plots only when that is switched on; what is selected stays.
 */
static void
test_counted (Fixture *fixture, gconstpointer data)
{
  GtkSwitch *count =
      widgets_find (row_of (fixture, "Count it in the plots and the _advice"),
                    GTK_TYPE_SWITCH, 0);
  guint n;
  const QmCandidate *candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, "a6000") == 0 && candidates[i].gpus == 4)
      qm_advisor_select (fixture->advisor, 0, i);
  enable (fixture, "Tax", TRUE);
  gtk_spin_button_set_value (spin_of (fixture, "Tax (%)"), 10);
  widgets_settle ();
  g_assert_cmpint (cost_in_plots (fixture), ==, 2670000);
  gtk_switch_set_active (count, TRUE);
  widgets_settle ();
  g_assert_cmpint (cost_in_plots (fixture), ==, 2937000);
  g_assert_true (qm_advisor_get_selected (fixture->advisor, NULL, NULL));
  gtk_spin_button_set_value (spin_of (fixture, "Tax (%)"), 20);
  widgets_settle ();
  g_assert_cmpint (cost_in_plots (fixture), ==, 3204000);
  g_assert_cmpstr (amount_of (fixture, "In all"), ==, "$32,040");
  gtk_switch_set_active (count, FALSE);
  widgets_settle ();
  g_assert_cmpint (cost_in_plots (fixture), ==, 2670000);
  g_assert_cmpstr (amount_of (fixture, "In all"), ==, "$32,040");
}

/* From one start of the program to the next. */
static void
test_kept (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  g_autoptr (QmAdvisor) next = qm_advisor_new (widgets_catalog ());
  gboolean counted;

  enable (fixture, "Tax", TRUE);
  gtk_spin_button_set_value (spin_of (fixture, "Tax (%)"), 7.25);
  g_object_set (fixture->advisor, "total-cost", TRUE, NULL);
  qm_advisor_save (fixture->advisor, settings);
  qm_advisor_restore (next, settings);
  g_object_get (next, "total-cost", &counted, NULL);
  g_assert_true (counted);
  g_assert_cmpint (qm_advisor_get_ownership (next)->tax_ppm, ==, 72500);
  g_assert_cmpint (qm_advisor_get_ownership (next)->parts, ==,
                   QM_OWNERSHIP_TAX);

  /* What cannot be, as somebody wrote it there by hand, is left out. */
  g_settings_set_value (settings, "ownership-values",
                        g_variant_new_parsed ("{'pue': 0.5, 'tax': 3.0}"));
  qm_advisor_restore (next, settings);
  g_assert_cmpint (qm_advisor_get_ownership (next)->pue_ppm, ==,
                   qm_ownership_settings_default ().pue_ppm);
  g_assert_cmpint (qm_advisor_get_ownership (next)->tax_ppm, ==, 30000);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add ("/ownership/price-alone", Fixture, NULL, set_up, test_price_alone,
              tear_down);
  g_test_add ("/ownership/parts", Fixture, NULL, set_up, test_parts, tear_down);
  g_test_add ("/ownership/rent", Fixture, NULL, set_up, test_rent, tear_down);
  g_test_add ("/ownership/selection", Fixture, NULL, set_up, test_selection,
              tear_down);
  g_test_add ("/ownership/counted", Fixture, NULL, set_up, test_counted,
              tear_down);
  g_test_add ("/ownership/kept", Fixture, NULL, set_up, test_kept, tear_down);
  return g_test_run ();
}
