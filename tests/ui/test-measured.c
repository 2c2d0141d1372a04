/* SPDX-License-Identifier: Apache-2.0 */

/* Measured times in the window's parts: the choice of whose times, the column
 * that tells it, and what the card says about them.  The catalog has made-up
 * results of an H200, which has no price. */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-candidate-cell.h"
#include "ui/advisor/qm-candidate-table.h"
#include "ui/advisor/qm-question-panel.h"
#include "ui/advisor/qm-recommendation-card.h"
#include "ui/qm-list-row.h"
#include "ui/qm-text.h"

#include <string.h>

static int
times_of (QmAdvisor *advisor)
{
  int value;

  g_object_get (advisor, "times-of", &value, NULL);
  return value;
}

static void
test_row (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  GtkWidget *panel = g_object_ref_sink (qm_question_panel_new (advisor));
  QmListRow *row = widgets_find (panel, QM_TYPE_LIST_ROW, 1);
  GtkDropDown *list = widgets_find (row, GTK_TYPE_DROP_DOWN, 0);
  GtkWidget *reset = widgets_find_button (row, "Reset to the default");
  guint notified;

  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (list)),
                    ==, QM_TIMES_OF_PUBLICATION);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==, QM_TIMES_OF_PYTORCH);
  g_assert_false (gtk_widget_get_visible (reset));

  widgets_count_notify (advisor, "times-of", &notified);
  gtk_drop_down_set_selected (list, QM_TIMES_OF_QUARTERMASTER);
  g_assert_cmpint (times_of (advisor), ==, QM_TIMES_OF_QUARTERMASTER);
  g_assert_cmpint (qm_advisor_get_question (advisor, 0)->times_of, ==,
                   QM_TIMES_OF_QUARTERMASTER);
  g_assert_cmpuint (notified, ==, 1);
  g_assert_true (gtk_widget_get_visible (reset));

  g_signal_emit_by_name (reset, "clicked");
  g_assert_cmpint (times_of (advisor), ==, QM_TIMES_OF_PYTORCH);
  g_assert_false (gtk_widget_get_visible (reset));

  g_object_set (advisor, "times-of", QM_TIMES_OF_QUARTERMASTER, NULL);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==,
                    QM_TIMES_OF_QUARTERMASTER);
  qm_advisor_reset (advisor);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==, QM_TIMES_OF_PYTORCH);
  widgets_finalize (panel);
}

/* It comes back at the next start, and nonsense does not. */
static void
test_settings (void)
{
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  g_autoptr (QmAdvisor) next = qm_advisor_new (widgets_catalog ());

  for (int i = QM_TIMES_OF_QUARTERMASTER; i >= 0; i--)
    {
      g_autofree char *saved = NULL;

      g_object_set (advisor, "times-of", i, "time-factor", 1.25 + i, "slack",
                    2.5 + i, NULL);
      qm_advisor_save (advisor, settings);
      saved = g_settings_get_string (settings, "times-of");
      g_assert_cmpstr (saved, ==, qm_times_of_name ((QmTimesOf) i));
      qm_advisor_restore (next, settings);
      g_assert_cmpint (times_of (next), ==, i);
      g_assert_cmpfloat (qm_advisor_get_question (next, 0)->time_factor, ==,
                         1.25 + i);
      g_assert_cmpfloat (qm_advisor_get_question (next, 0)->slack_percent, ==,
                         2.5 + i);
    }
}

static int
settings_of (QmAdvisor *advisor)
{
  int value;

  g_object_get (advisor, "settings", &value, NULL);
  return value;
}

/* So do the settings; what an earlier version kept of them counts once. */
static void
test_levels (void)
{
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  g_autoptr (QmAdvisor) next = qm_advisor_new (widgets_catalog ());

  g_settings_set_boolean (settings, "naive-settings", TRUE);
  qm_advisor_restore (next, settings);
  g_assert_cmpint (settings_of (next), ==, QM_SETTINGS_NAIVE);
  for (int i = QM_N_SETTINGS - 1; i >= 0; i--)
    {
      g_object_set (advisor, "settings", i, NULL);
      g_assert_cmpint (qm_advisor_get_question (advisor, 0)->settings, ==, i);
      qm_advisor_save (advisor, settings);
      qm_advisor_restore (next, settings);
      g_assert_cmpint (settings_of (next), ==, i);
    }
  g_assert_false (g_settings_get_boolean (settings, "naive-settings"));
}

/* The row has all of them, the tuned ones first. */
static void
test_levels_row (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  GtkWidget *panel = g_object_ref_sink (qm_question_panel_new (advisor));
  QmListRow *row = widgets_find (panel, QM_TYPE_LIST_ROW, 2);
  GtkDropDown *list = widgets_find (row, GTK_TYPE_DROP_DOWN, 0);
  static const QmSettings order[] = { QM_SETTINGS_OPTIMAL, QM_SETTINGS_EAGER,
                                      QM_SETTINGS_NAIVE };

  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (list)),
                    ==, QM_N_SETTINGS);
  for (guint i = G_N_ELEMENTS (order); i-- > 0;)
    {
      gtk_drop_down_set_selected (list, i);
      g_assert_cmpint (settings_of (advisor), ==, order[i]);
    }
  g_object_set (advisor, "settings", QM_SETTINGS_EAGER, NULL);
  g_assert_cmpuint (gtk_drop_down_get_selected (list), ==, 1);
  g_signal_emit_by_name (widgets_find_button (row, "Reset to the default"),
                         "clicked");
  g_assert_cmpint (settings_of (advisor), ==, QM_SETTINGS_OPTIMAL);
  widgets_finalize (panel);
}

static GtkColumnViewColumn *
column_of (QmCandidateTable *table, const char *title)
{
  GtkColumnView *view = widgets_find (table, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *columns = gtk_column_view_get_columns (view);

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column =
          g_list_model_get_item (columns, i);

      if (strcmp (gtk_column_view_column_get_title (column), title) == 0)
        return column;
    }
  g_assert_not_reached ();
}

static void
test_column (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  QmCandidateTable *table = g_object_ref_sink (
      QM_CANDIDATE_TABLE (g_object_new (QM_TYPE_CANDIDATE_TABLE, NULL)));
  GtkColumnViewColumn *column;

  qm_candidate_table_set_advisor (table, advisor);
  column = column_of (table, "Times of");
  g_assert_true (gtk_column_view_column_get_visible (column));
  g_object_set (advisor, "as-in-paper", TRUE, NULL);
  widgets_settle ();
  g_assert_false (gtk_column_view_column_get_visible (column));
  widgets_finalize (GTK_WIDGET (table));
}

/* Whether a visible line of the card says that. */
static gboolean
says (GtkWidget *widget, const char *words)
{
  if (!gtk_widget_get_visible (widget))
    return FALSE;
  if (QM_IS_TEXT (widget))
    {
      g_autofree char *text = widgets_get_label (widget);

      if (strstr (text, words) != NULL)
        return TRUE;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (says (child, words))
      return TRUE;
  return FALSE;
}

static void
test_card (void)
{
  static const char *const predicted[] = { "pythia-6.9b", NULL };
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  GtkWidget *card =
      g_object_ref_sink (g_object_new (QM_TYPE_RECOMMENDATION_CARD, NULL));

  qm_recommendation_card_set_advisor (QM_RECOMMENDATION_CARD (card), advisor);
  g_assert_true (says (card, "H200 SXM 141GB: no dealer’s price is known"));

  g_object_set (advisor, "models", predicted, NULL);
  while (!says (card, "times are predicted for compiled PyTorch"))
    g_main_context_iteration (NULL, TRUE);

  g_object_set (advisor, "times-of", QM_TIMES_OF_QUARTERMASTER, NULL);
  widgets_settle ();
  while (!says (card, "predicted for Quartermaster"))
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (says (card, "compiled PyTorch"));
  g_object_set (advisor, "measured-only", TRUE, NULL);
  widgets_settle ();
  g_assert_false (says (card, "predicted for Quartermaster"));
  g_assert_true (says (card, "no time of Quartermaster is known there"));

  g_object_set (advisor, "as-in-paper", TRUE, NULL);
  widgets_settle ();
  g_assert_false (says (card, "H200"));
  widgets_finalize (card);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/measured/row", test_row);
  g_test_add_func ("/measured/settings", test_settings);
  g_test_add_func ("/measured/levels", test_levels);
  g_test_add_func ("/measured/levels-row", test_levels_row);
  g_test_add_func ("/measured/column", test_column);
  g_test_add_func ("/measured/card", test_card);
  return g_test_run ();
}
