/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/ui/synthetic.h"
#include "tests/ui/widgets.h"
#include "ui/advisor/qm-candidate-cell.h"
#include "ui/advisor/qm-candidate-item.h"
#include "ui/advisor/qm-candidate-table.h"

#include <math.h>
#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *window;
  QmCandidateTable *table;
  guint changes; /* how often the rows were changed */
} Fixture;

/* The rows in the order in which they are shown. */
static GListModel *
rows_of (Fixture *fixture)
{
  return G_LIST_MODEL (gtk_column_view_get_model (
      widgets_find (fixture->table, GTK_TYPE_COLUMN_VIEW, 0)));
}

static void
count_cb (Fixture *fixture)
{
  fixture->changes++;
}

static void
open_table (Fixture *fixture, const QmCatalog *catalog)
{
  fixture->advisor = qm_advisor_new (catalog);
  g_object_set (fixture->advisor, "measured-only", TRUE, NULL);
  fixture->window = gtk_window_new ();
  fixture->table =
      QM_CANDIDATE_TABLE (g_object_new (QM_TYPE_CANDIDATE_TABLE, NULL));
  qm_candidate_table_set_advisor (fixture->table, fixture->advisor);
  g_signal_connect_swapped (rows_of (fixture), "items-changed",
                            G_CALLBACK (count_cb), fixture);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1000, 700);
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        GTK_WIDGET (fixture->table));
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (fixture->window);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  open_table (fixture, widgets_catalog ());
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  GtkWidget *table = GTK_WIDGET (fixture->table);

  g_object_add_weak_pointer (G_OBJECT (table), (gpointer *) &table);
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_settle ();
  g_assert_null (table);
  g_assert_finalize_object (fixture->advisor);
}

static const QmCandidate *
candidate_at (Fixture *fixture, guint row, guint *topic, guint *index)
{
  g_autoptr (QmCandidateItem) item =
      g_list_model_get_item (rows_of (fixture), row);
  const QmCandidate *candidates;
  guint n;

  *topic = qm_candidate_item_get_topic (item);
  *index = qm_candidate_item_get_index (item);
  candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, *topic),
                            &n);
  g_assert_cmpuint (*index, <, n);
  return &candidates[*index];
}

static guint
n_rows (Fixture *fixture)
{
  return g_list_model_get_n_items (rows_of (fixture));
}

static void
expect_sorted (Fixture *fixture, QmCandidateColumn column, gboolean descending)
{
  for (guint i = 1; i < n_rows (fixture); i++)
    {
      guint topic, index;
      const QmCandidate *a = candidate_at (fixture, i - 1, &topic, &index);
      const QmCandidate *b = candidate_at (fixture, i, &topic, &index);

      g_assert_cmpint (qm_candidate_column_compare (column, a, b, descending),
                       <=, 0);
    }
}

/* The first visible column is that of the GPUs, the fifth that of the days; the
 * same key again turns the order round. */
static void
test_sorting_by_keys (Fixture *fixture, gconstpointer data)
{
  GtkWidget *table = GTK_WIDGET (fixture->table);

  g_assert_true (gtk_widget_activate_action (table, "table.sort", "u", 4));
  expect_sorted (fixture, QM_COLUMN_DAYS, FALSE);
  g_assert_true (gtk_widget_activate_action (table, "table.sort", "u", 4));
  expect_sorted (fixture, QM_COLUMN_DAYS, TRUE);
  g_assert_true (gtk_widget_activate_action (table, "table.sort", "u", 0));
  expect_sorted (fixture, QM_COLUMN_GPU, FALSE);
}

/* As text, 9 would come after 10 and unknown first in one direction. */
static void
test_sorting (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "pythia-6.9b", NULL };
  guint unknown = 0;
  guint topic, index;

  expect_sorted (fixture, QM_COLUMN_COST, FALSE);
  g_object_set (fixture->advisor, "models", models, NULL);
  widgets_settle ();
  g_assert_cmpuint (n_rows (fixture), ==, 16);
  for (guint i = 0; i < 16; i++)
    unknown += !isfinite (candidate_at (fixture, i, &topic, &index)->days);
  for (guint column = QM_COLUMN_GPU; column < QM_N_COLUMNS; column++)
    {
      qm_candidate_table_sort (fixture->table, column, GTK_SORT_ASCENDING);
      expect_sorted (fixture, column, FALSE);
      qm_candidate_table_sort (fixture->table, column, GTK_SORT_DESCENDING);
      expect_sorted (fixture, column, TRUE);
    }
  qm_candidate_table_sort (fixture->table, QM_COLUMN_DAYS, GTK_SORT_DESCENDING);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpint (isfinite (candidate_at (fixture, i, &topic, &index)->days)
                         != 0,
                     ==, i < 16 - unknown);
}

/* The cells of the shown row that say what the candidate's do. */
static QmCandidateCell *
cell_at (Fixture *fixture, guint index)
{
  return widgets_find (fixture->table, QM_TYPE_CANDIDATE_CELL, index);
}

static void
test_cells (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpstr (qm_candidate_cell_get_text (cell_at (fixture, 0)), ==,
                   "GeForce RTX 3090");
  g_assert_cmpstr (qm_candidate_cell_get_text (cell_at (fixture, 3)), ==,
                   "$2,300");
  g_assert_cmpstr (qm_candidate_cell_get_text (cell_at (fixture, 4)), ==,
                   "407");
}

static void
test_selection (Fixture *fixture, gconstpointer data)
{
  GtkColumnView *view = widgets_find (fixture->table, GTK_TYPE_COLUMN_VIEW, 0);
  GtkSingleSelection *selection =
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (view));
  guint topic, index, selected_topic, selected;

  g_assert_false (qm_candidate_table_has_selected (fixture->table));
  gtk_single_selection_set_selected (selection, 5);
  candidate_at (fixture, 5, &topic, &index);
  g_assert_true (
      qm_advisor_get_selected (fixture->advisor, &selected_topic, &selected));
  g_assert_cmpuint (selected_topic, ==, topic);
  g_assert_cmpuint (selected, ==, index);

  candidate_at (fixture, 12, &topic, &index);
  qm_advisor_select (fixture->advisor, topic, index);
  g_assert_cmpuint (gtk_single_selection_get_selected (selection), ==, 12);
  qm_candidate_table_sort (fixture->table, QM_COLUMN_COST, GTK_SORT_DESCENDING);
  g_assert_cmpuint (gtk_single_selection_get_selected (selection), ==, 3);
  g_assert_true (qm_advisor_get_selected (fixture->advisor, NULL, &selected));
  g_assert_cmpuint (selected, ==, index);

  qm_advisor_unselect (fixture->advisor);
  g_assert_false (qm_candidate_table_has_selected (fixture->table));
  gtk_single_selection_set_selected (selection, 1);
  gtk_single_selection_set_selected (selection, GTK_INVALID_LIST_POSITION);
  g_assert_false (qm_advisor_get_selected (fixture->advisor, NULL, NULL));
}

static gboolean
is_recommended (QmCandidateCell *cell)
{
  g_autofree char *problem =
      gtk_test_accessible_check_property (GTK_ACCESSIBLE (cell),
                                          GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                          "Recommended");

  return problem == NULL;
}

/* The row of the recommended candidate, told by its star. */
static int
starred_row (Fixture *fixture)
{
  guint columns = 10; /* without model and machines */
  int found = -1;

  for (guint row = 0; row < n_rows (fixture); row++)
    if (is_recommended (cell_at (fixture, row * columns)))
      {
        g_assert_cmpint (found, ==, -1);
        found = (int) row;
      }
  return found;
}

static void
test_limits_leave_the_rows (Fixture *fixture, gconstpointer data)
{
  guint topic, index;

  g_assert_cmpint (starred_row (fixture), ==, 8);
  fixture->changes = 0;
  for (double budget = 2000; budget < 900000; budget *= 1.3)
    {
      const QmRecommendation *recommendation;
      int row;

      g_object_set (fixture->advisor, "budget", budget, NULL);
      recommendation = qm_advisor_get_recommendation (fixture->advisor, 0);
      row = starred_row (fixture);
      if (recommendation->best < 0)
        g_assert_cmpint (row, ==, -1);
      else
        {
          candidate_at (fixture, (guint) row, &topic, &index);
          g_assert_cmpint (recommendation->best, ==, (int) index);
        }
    }
  g_assert_cmpuint (fixture->changes, ==, 0);
}

/* The same rows with other words in them. */
static void
test_rebuild_keeps_the_rows (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "vit-large", NULL };
  GListModel *rows = rows_of (fixture);
  g_autoptr (QmCandidateItem) first = g_list_model_get_item (rows, 0);
  g_autoptr (QmCandidateItem) still = NULL;
  g_autofree char *days =
      g_strdup (qm_candidate_cell_get_text (cell_at (fixture, 4)));

  g_object_set (fixture->advisor, "models", models, NULL);
  widgets_settle ();
  still = g_list_model_get_item (rows, 0);
  g_assert_true (first == still);
  g_assert_cmpstr (qm_candidate_cell_get_text (cell_at (fixture, 4)), !=, days);
}

static void
test_columns_come_and_go (Fixture *fixture, gconstpointer data)
{
  static const char *const two[] = { "vit-large", "pythia-1b", NULL };
  GtkColumnView *view = widgets_find (fixture->table, GTK_TYPE_COLUMN_VIEW, 0);
  GListModel *columns = gtk_column_view_get_columns (view);
  g_autoptr (GtkColumnViewColumn) model = g_list_model_get_item (columns, 0);
  g_autoptr (GtkColumnViewColumn) machines =
      g_list_model_get_item (columns, QM_COLUMN_MACHINES);

  g_assert_false (gtk_column_view_column_get_visible (model));
  g_assert_false (gtk_column_view_column_get_visible (machines));
  g_object_set (fixture->advisor, "models", two, NULL);
  widgets_settle ();
  g_assert_true (gtk_column_view_column_get_visible (model));
  g_assert_cmpuint (n_rows (fixture), ==, 32);
  qm_candidate_table_sort (fixture->table, QM_COLUMN_MODEL,
                           GTK_SORT_DESCENDING);
  for (guint i = 0; i < 32; i++)
    {
      guint topic, index;

      candidate_at (fixture, i, &topic, &index);
      g_assert_cmpuint (topic, ==, i < 16 ? 1 : 0);
    }

  qm_advisor_add_run (fixture->advisor, "pythia-1b", 12);
  g_object_set (fixture->advisor, "portfolio", TRUE, NULL);
  widgets_settle ();
  g_assert_false (gtk_column_view_column_get_visible (model));
  g_assert_true (gtk_column_view_column_get_visible (machines));
}

static guint
count_lines (const char *csv)
{
  guint n = 0;

  for (const char *c = csv; (c = strstr (c, "\r\n")) != NULL; c += 2)
    n++;
  return n;
}

static void
test_csv (Fixture *fixture, gconstpointer data)
{
  g_autofree char *all = qm_candidate_table_get_csv (fixture->table, FALSE);
  g_autofree char *none = qm_candidate_table_get_csv (fixture->table, TRUE);
  g_autofree char *one = NULL;
  guint topic, index;

  g_assert_cmpuint (count_lines (all), ==, 17);
  g_assert_cmpuint (count_lines (none), ==, 1);
  /* In the order that is seen. */
  g_assert_nonnull (strstr (all, "use_walltime_hours\r\n"
                                 "pythia-1b,rtx3090,1,desktop-1,1,"
                                 "2300.00,407,512.93,"));
  candidate_at (fixture, 15, &topic, &index);
  qm_advisor_select (fixture->advisor, topic, index);
  one = qm_candidate_table_get_csv (fixture->table, TRUE);
  g_assert_cmpuint (count_lines (one), ==, 2);
  g_assert_nonnull (strstr (one, "pythia-1b,h100-80gb-sxm,8,server-8,1,"
                                 "250500.00,4.4,603.95,"));
}

/* How many cells of the table say that. */
static guint
count_cells (Fixture *fixture, const char *what)
{
  guint n = widgets_count (fixture->table, QM_TYPE_CANDIDATE_CELL);
  guint found = 0;

  for (guint i = 0; i < n; i++)
    {
      const char *text = qm_candidate_cell_get_text (
          widgets_find (fixture->table, QM_TYPE_CANDIDATE_CELL, i));

      found += text != NULL && strstr (text, what) != NULL;
    }
  return found;
}

/* A room with less power takes machines away, and the table says which and
 * why; they stay, the last in the order of costs. */
static void
test_room (Fixture *fixture, gconstpointer data)
{
  guint topic, index;

  g_assert_cmpuint (count_cells (fixture, "no machine"), ==, 0);
  g_object_set (fixture->advisor, "room", QM_ROOM_ONE_CIRCUIT, NULL);
  widgets_settle ();
  gtk_test_widget_wait_for_draw (fixture->window);
  g_assert_cmpuint (n_rows (fixture), ==, 16);
  g_assert_cmpuint (count_cells (fixture, "no machine; GPU server for"), ==, 4);
  g_assert_cmpuint (
      count_cells (fixture, "W, and the circuit gives 2,944\u00a0W"), ==, 4);
  for (guint i = 0; i < 16; i++)
    {
      const QmCandidate *candidate = candidate_at (fixture, i, &topic, &index);

      g_assert_true (qm_candidate_is_not_carried (candidate) == (i >= 12));
      g_assert_true ((candidate->cost_minor < 0) == (i >= 12));
    }
  g_object_set (fixture->advisor, "room", QM_ROOM_ANY, NULL);
  widgets_settle ();
  g_assert_cmpuint (count_cells (fixture, "no machine"), ==, 0);
}

/* Only what is seen is made and kept up to date. */
static void
test_large (void)
{
  Fixture fixture = { 0 };
  QmCatalog *catalog =
      synthetic_catalog_new (g_getenv ("QM_TEST_DATA_DIR"), 500);
  guint topic, index;

  open_table (&fixture, catalog);
  g_assert_cmpuint (n_rows (&fixture), ==, 4000);
  expect_sorted (&fixture, QM_COLUMN_COST, FALSE);
  candidate_at (&fixture, 3999, &topic, &index);
  qm_advisor_select (fixture.advisor, topic, index);
  gtk_test_widget_wait_for_draw (fixture.window);
  fixture.changes = 0;
  g_object_set (fixture.advisor, "budget", 100000.0, NULL);
  gtk_test_widget_wait_for_draw (fixture.window);
  g_assert_cmpuint (fixture.changes, ==, 0);
  tear_down (&fixture, NULL);
  qm_catalog_free (catalog);
}

static void
test_without_advisor (void)
{
  GtkWidget *table = g_object_new (QM_TYPE_CANDIDATE_TABLE, NULL);
  g_autofree char *csv =
      qm_candidate_table_get_csv (QM_CANDIDATE_TABLE (table), FALSE);

  g_assert_cmpuint (count_lines (csv), ==, 1);
  widgets_finalize (table);
}

#define ADD(name, function)                                              \
  g_test_add ("/candidate-table/" name, Fixture, NULL, set_up, function, \
              tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("sorting", test_sorting);
  ADD ("sorting-by-keys", test_sorting_by_keys);
  ADD ("cells", test_cells);
  ADD ("selection", test_selection);
  ADD ("limits-leave-the-rows", test_limits_leave_the_rows);
  ADD ("rebuild-keeps-the-rows", test_rebuild_keeps_the_rows);
  ADD ("columns-come-and-go", test_columns_come_and_go);
  ADD ("csv", test_csv);
  ADD ("room", test_room);
  g_test_add_func ("/candidate-table/large", test_large);
  g_test_add_func ("/candidate-table/without-advisor", test_without_advisor);
  return g_test_run ();
}
