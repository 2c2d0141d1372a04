/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-store.h"
#include "tests/ui/widgets.h"
#include "ui/advisor/qm-advisor-page.h"
#include "ui/advisor/qm-results-view.h"
#include "ui/machine/qm-machine-page.h"
#include "ui/qm-problem-bar.h"
#include "ui/qm-window.h"
#include "ui/quotes/qm-quotes-page.h"
#include "ui/quotes/qm-store-bar.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

static AdwApplication *application;

static QmAdvisor *
advisor_of (GtkWidget *window)
{
  QmAdvisorPage *page = widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0);
  g_autoptr (QmAdvisor) advisor = NULL;

  g_object_get (page, "advisor", &advisor, NULL);

  return advisor; /* the page keeps it */
}

static GtkWidget *
open_window (GSettings *settings)
{
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), settings);

  qm_window_open_catalog (QM_WINDOW (window), widgets_keeper ());
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);

  return window;
}

static void
show_page (GtkWidget *window, const char *name)
{
  gtk_widget_activate_action (window, "win.show-page", "s", name);
  widgets_settle ();
}

static void
close_window (GtkWidget *window)
{
  g_object_add_weak_pointer (G_OBJECT (window), (gpointer *) &window);
  gtk_window_close (GTK_WINDOW (window));
  widgets_settle ();
  g_assert_null (window);
}

static void
test_state_comes_back (void)
{
  static const char *const models[] = { "pythia-160m", "vit-large", NULL };
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  GtkWidget *window = open_window (settings);
  QmAdvisor *advisor = advisor_of (window);
  QmAdvisorPage *page = widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0);
  g_auto (GStrv) restored = NULL;
  double budget;
  gboolean sidebar;
  int width, height;

  g_object_set (advisor, "models", models, "budget", 55000.0, NULL);
  qm_advisor_set_gpu_enabled (advisor, "a6000", FALSE);
  g_object_set (page, "show-sidebar", FALSE, NULL);
  gtk_window_set_default_size (GTK_WINDOW (window), 1100, 700);
  gtk_test_widget_wait_for_draw (window);
  close_window (window);

  window = open_window (settings);
  advisor = advisor_of (window);
  page = widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0);
  g_object_get (advisor, "models", &restored, "budget", &budget, NULL);
  g_assert_true (g_strv_equal ((const char *const *) restored, models));
  g_assert_cmpfloat (budget, ==, 55000);
  g_assert_false (qm_advisor_get_gpu_enabled (advisor, "a6000"));
  g_object_get (page, "show-sidebar", &sidebar, NULL);
  g_assert_false (sidebar);
  gtk_window_get_default_size (GTK_WINDOW (window), &width, &height);
  g_assert_cmpint (width, ==, 1100);
  g_assert_cmpint (height, ==, 700);

  gtk_widget_activate_action (window, "win.reset", NULL);
  g_object_get (advisor, "budget", &budget, NULL);
  g_assert_cmpfloat (budget, ==, 40000);
  close_window (window);
}

static void
test_least_heights (void)
{
  static const char *const models[] = { "pythia-160m", "vit-large",
                                        "mamba-2.8b", NULL };
  GtkWidget *window = open_window (NULL);

  widgets_assert_least_heights (window);
  g_object_set (advisor_of (window), "models", models, NULL);
  widgets_settle ();
  widgets_assert_least_heights (window);
  close_window (window);
}

static int
least_width (GtkWidget *window)
{
  int least;

  widgets_settle ();
  gtk_widget_measure (window, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL,
                      NULL, NULL);
  return least;
}

/* Half of a small screen, or a telephone, cuts nothing off. */
static void
test_narrow (void)
{
  GtkWidget *window = open_window (NULL);
  QmAdvisor *advisor = advisor_of (window);

  g_object_set (advisor, "budget", 300000.0, NULL);
  g_assert_cmpint (least_width (window), <=, 360);
  qm_advisor_add_run (advisor, "pythia-1b", 3);
  qm_advisor_add_run (advisor, "vit-large", 10);
  g_object_set (advisor, "portfolio", TRUE, NULL);
  g_assert_cmpint (least_width (window), <=, 360);
  qm_advisor_add_run (advisor, "mamba-2.8b", 2.25);
  g_assert_cmpint (least_width (window), <=, 360);
  close_window (window);
}

/* So in German, of which words are longer. */
static void
test_narrow_german (void)
{
  g_autofree char *was = g_strdup (setlocale (LC_ALL, NULL));

  if (setlocale (LC_ALL, "de_DE.utf8") == NULL)
    {
      g_test_skip ("the locale de_DE.utf8 is not installed");
      return;
    }
  bindtextdomain (GETTEXT_PACKAGE, g_getenv ("QM_TEST_PO_DIR"));
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  g_assert_cmpstr (g_dgettext (GETTEXT_PACKAGE, "Lifetime"), ==,
                   "Nutzungsdauer");
  test_narrow ();
  setlocale (LC_ALL, was);
}

static void
test_without_settings (void)
{
  close_window (open_window (NULL));
}

/* A catalog that was read anew is asked what the one before was. */
static void
test_catalog_again (void)
{
  static const char *const models[] = { "pythia-160m", "vit-large", NULL };
  GtkWidget *window = open_window (NULL);
  QmAdvisor *advisor = advisor_of (window);
  QmAdvisorPage *page = widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0);
  g_auto (GStrv) asked = NULL;
  QmCatalog *again;
  QmError error;
  double budget, runs;
  gboolean portfolio, sidebar;

  g_object_set (advisor, "models", models, "budget", 55000.0, NULL);
  qm_advisor_set_gpu_enabled (advisor, "a6000", FALSE);
  qm_advisor_set_count_enabled (advisor, 8, FALSE);
  qm_advisor_add_run (advisor, "vit-large", 12);
  g_object_set (advisor, "portfolio", TRUE, NULL);
  g_object_set (page, "show-sidebar", FALSE, NULL);
  gtk_widget_activate_action (window, "win.total-cost", NULL);
  widgets_settle ();

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &again,
                                    &error),
                   ==, QM_OK);
  qm_catalog_keeper_take (widgets_keeper (), again);
  gtk_test_widget_wait_for_draw (window);
  g_assert_true (advisor_of (window) != advisor);
  advisor = advisor_of (window);
  g_assert_true (qm_advisor_get_catalog (advisor) == again);
  g_object_get (advisor, "models", &asked, "budget", &budget, "portfolio",
                &portfolio, NULL);
  g_assert_true (g_strv_equal ((const char *const *) asked, models));
  g_assert_cmpfloat (budget, ==, 55000);
  g_assert_true (portfolio);
  g_assert_false (qm_advisor_get_gpu_enabled (advisor, "a6000"));
  g_assert_true (qm_advisor_get_gpu_enabled (advisor, "rtx3090"));
  g_assert_false (qm_advisor_get_count_enabled (advisor, 8));
  g_assert_cmpuint (qm_advisor_get_n_runs (advisor), ==, 1);
  g_assert_cmpstr (qm_advisor_get_run (advisor, 0, &runs), ==, "vit-large");
  g_assert_cmpfloat (runs, ==, 12);
  g_object_get (widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0), "show-sidebar",
                &sidebar, NULL);
  g_assert_false (sidebar);
  gtk_widget_activate_action (window, "win.reset", NULL);
  close_window (window);
}

/* The user's folder with a model that was not there before. */
static void
write_model (const char *folder, const char *id)
{
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *name = g_strconcat (id, ".json", NULL);
  g_autofree char *path = g_build_filename (models, name, NULL);
  g_autofree char *from = g_build_filename (g_getenv ("QM_TEST_DATA_DIR"),
                                            "models", "pythia-160m.json", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GString) changed = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (from, &text, NULL, &error);
  g_assert_no_error (error);
  changed = g_string_new (text);
  g_string_replace (changed, "\"pythia-160m\"", "\"new-model\"", 0);
  g_string_replace (changed, "\"Pythia (160M)\"", "\"New Model\"", 0);
  g_assert_cmpint (g_mkdir_with_parents (models, 0700), ==, 0);
  g_file_set_contents (path, changed->str, -1, &error);
  g_assert_no_error (error);
}

static gboolean
lists (gpointer page, const char *title)
{
  for (guint i = 0, n = widgets_count (page, ADW_TYPE_ACTION_ROW); i < n; i++)
    if (g_strcmp0 (adw_preferences_row_get_title (
                       widgets_find (page, ADW_TYPE_ACTION_ROW, i)),
                   title)
        == 0)
      return TRUE;
  return FALSE;
}

/* Bytes that the program has asked for and not given back. */
static gsize
bytes_in_use (void)
{
  return mallinfo2 ().uordblks;
}

/* A model that comes while the window is open is on every page, and catalogs
 * that are no longer shown are gone. */
static void
test_catalog_everywhere (void)
{
  g_autofree char *user =
      g_build_filename (g_getenv ("XDG_DATA_HOME"), "quartermaster", NULL);
  g_autoptr (QmCatalogKeeper) keeper = qm_catalog_keeper_new ();
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  QmError error = { 0 };
  gsize catalog, before;
  gpointer page;

  before = bytes_in_use ();
  g_assert_true (qm_catalog_keeper_load (keeper, &error));
  catalog = bytes_in_use () - before;
  qm_window_open_catalog (QM_WINDOW (window), keeper);
  qm_window_open_quotes (QM_WINDOW (window), QM_QUOTE_STORE_IN_MEMORY);
  qm_window_open_machine (QM_WINDOW (window));
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  show_page (window, "quotes");
  show_page (window, "machine");
  page = widgets_find (window, QM_TYPE_MACHINE_PAGE, 0);
  g_assert_true (lists (page, "Pythia (160M)"));
  g_assert_false (lists (page, "New Model"));

  write_model (user, "new-model");
  g_assert_true (qm_catalog_keeper_load (keeper, &error));
  widgets_settle ();
  g_assert_true (lists (page, "Pythia (160M)"));
  g_assert_true (lists (page, "New Model"));
  g_assert_nonnull (qm_catalog_model (
      qm_advisor_get_catalog (advisor_of (window)), "new-model"));

  for (guint i = 0; i < 5; i++)
    g_assert_true (qm_catalog_keeper_load (keeper, &error));
  gtk_test_widget_wait_for_draw (window);
  before = bytes_in_use ();
  for (guint i = 0; i < 20; i++)
    g_assert_true (qm_catalog_keeper_load (keeper, &error));
  gtk_test_widget_wait_for_draw (window);
  g_test_message ("catalog %zu bytes, 20 more: %zd", catalog,
                  (gssize) (bytes_in_use () - before));
  if (catalog > 0) /* a sanitizer counts for itself */
    g_assert_cmpint ((gssize) (bytes_in_use () - before), <,
                     (gssize) catalog * 5);
  close_window (window);
}

/* Own files that help to read quotes: a broken one is named over the page, and
 * the quotes are there. */
static void
test_own_files (void)
{
  g_autofree char *user =
      g_build_filename (g_getenv ("XDG_DATA_HOME"), "quartermaster", NULL);
  g_autofree char *rules = g_build_filename (user, "page-rules.xml", NULL);
  g_autofree char *parts = g_build_filename (user, "part-numbers.csv", NULL);
  g_autofree char *store = g_build_filename (user, "quotes.sqlite", NULL);
  g_autofree char *mappings =
      g_build_filename (user, "csv-mappings.json", NULL);
  g_autoptr (QmCatalogKeeper) keeper = qm_catalog_keeper_new ();
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  QmProblemBar *bar = widgets_find (window, QM_TYPE_PROBLEM_BAR, 0);
  GtkLabel *text = widgets_find (bar, GTK_TYPE_LABEL, 1);
  gpointer quotes;

  g_assert_cmpint (g_mkdir_with_parents (user, 0700), ==, 0);
  g_assert_true (g_file_set_contents (rules, "<rules>", -1, NULL));
  g_assert_true (g_file_set_contents (mappings, "[", -1, NULL));
  g_assert_cmpint (mkfifo (parts, 0600), ==, 0);
  g_assert_true (qm_catalog_keeper_load (keeper, NULL));
  qm_window_open_catalog (QM_WINDOW (window), keeper);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (bar)));
  qm_window_open_quotes (QM_WINDOW (window), store);
  gtk_window_present (GTK_WINDOW (window));
  while (!gtk_widget_get_visible (GTK_WIDGET (bar)))
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (strstr (gtk_label_get_text (text), rules));
  g_assert_nonnull (strstr (gtk_label_get_text (text), parts));
  g_assert_nonnull (strstr (gtk_label_get_text (text), mappings));
  show_page (window, "quotes");
  quotes = widgets_find (window, QM_TYPE_QUOTES_PAGE, 0);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (
                       widgets_find (quotes, GTK_TYPE_STACK, 0)),
                   ==, "empty");

  /* Mended, it is found with the next catalog. */
  g_unlink (rules);
  g_unlink (parts);
  g_unlink (mappings);
  g_assert_true (qm_catalog_keeper_load (keeper, NULL));
  while (gtk_widget_get_visible (GTK_WIDGET (bar)))
    g_main_context_iteration (NULL, TRUE);
  close_window (window);
}

/* Quotes that cannot be read are missed on every page: the advice rests on what
 * is left. */
static void
test_store_everywhere (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("XDG_DATA_HOME"), "foreign.sqlite", NULL);
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  GtkWidget *bar = widgets_find (window, QM_TYPE_STORE_BAR, 0);
  gpointer quotes;

  g_assert_cmpint (g_mkdir_with_parents (g_getenv ("XDG_DATA_HOME"), 0700), ==,
                   0);
  g_assert_true (g_file_set_contents (path, "mine", -1, NULL));
  qm_window_open_catalog (QM_WINDOW (window), widgets_keeper ());
  qm_window_open_quotes (QM_WINDOW (window), path);
  gtk_window_present (GTK_WINDOW (window));
  while (!gtk_widget_get_mapped (bar))
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (
      strstr (gtk_label_get_text (widgets_find (bar, GTK_TYPE_LABEL, 0)),
              "do not count"));
  g_assert_true (
      gtk_widget_get_mapped (widgets_find (window, QM_TYPE_ADVISOR_PAGE, 0)));
  show_page (window, "quotes");
  g_assert_true (gtk_widget_get_mapped (bar));
  /* The page came after the book had failed. */
  quotes = widgets_find (window, QM_TYPE_QUOTES_PAGE, 0);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (
                       widgets_find (quotes, GTK_TYPE_STACK, 0)),
                   ==, "failed");
  close_window (window);
  g_unlink (path);
}

/* What cannot be read again is told; what was read stays. */
static void
test_catalog_gone (void)
{
  g_autoptr (QmCatalogKeeper) keeper = qm_catalog_keeper_new ();
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  const QmCatalog *catalog;
  QmError error = { 0 };

  g_assert_true (qm_catalog_keeper_load (keeper, &error));
  catalog = qm_catalog_keeper_get (keeper);
  qm_window_open_catalog (QM_WINDOW (window), keeper);
  gtk_window_present (GTK_WINDOW (window));
  g_setenv ("QUARTERMASTER_DATA_DIR", "/nonexistent", TRUE);
  g_assert_false (qm_catalog_keeper_load (keeper, &error));
  g_setenv ("QUARTERMASTER_DATA_DIR", g_getenv ("QM_TEST_DATA_DIR"), TRUE);
  g_assert_true (qm_catalog_keeper_get (keeper) == catalog);
  g_assert_true (qm_advisor_get_catalog (advisor_of (window)) == catalog);
  widgets_settle ();
  close_window (window);
}

/* What is begun to be read ahead is taken once, with the folders of then. */
static void
test_catalog_ahead (void)
{
  g_autoptr (QmCatalogKeeper) keeper = qm_catalog_keeper_new ();
  g_autoptr (QmCatalogKeeper) other = qm_catalog_keeper_new ();
  QmError error = { 0 };

  qm_catalog_keeper_load_ahead (keeper);
  qm_catalog_keeper_load_ahead (other); /* and not taken */
  g_assert_null (qm_catalog_keeper_get (keeper));
  g_setenv ("QUARTERMASTER_DATA_DIR", "/nonexistent", TRUE);
  g_assert_true (qm_catalog_keeper_load (keeper, &error));
  g_assert_nonnull (
      qm_catalog_model (qm_catalog_keeper_get (keeper), "pythia-160m"));
  g_assert_false (qm_catalog_keeper_load (keeper, &error));

  qm_catalog_keeper_load_ahead (keeper);
  g_setenv ("QUARTERMASTER_DATA_DIR", g_getenv ("QM_TEST_DATA_DIR"), TRUE);
  g_assert_false (qm_catalog_keeper_load (keeper, &error));
  g_assert_cmpint (error.status, ==, QM_STATUS_NOT_FOUND);
  g_assert_true (qm_catalog_keeper_load (keeper, &error));
}

/* Pages that nobody looks at cost the start nothing. */
static void
test_pages_when_shown (void)
{
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  gpointer quotes, machine;

  qm_window_open_catalog (QM_WINDOW (window), widgets_keeper ());
  qm_window_open_quotes (QM_WINDOW (window), QM_QUOTE_STORE_IN_MEMORY);
  qm_window_open_machine (QM_WINDOW (window));
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  widgets_settle ();
  g_assert_cmpuint (widgets_count (window, QM_TYPE_QUOTES_PAGE), ==, 0);
  g_assert_cmpuint (widgets_count (window, QM_TYPE_MACHINE_PAGE), ==, 0);

  show_page (window, "quotes");
  quotes = widgets_find (window, QM_TYPE_QUOTES_PAGE, 0);
  g_assert_true (gtk_widget_get_mapped (quotes));
  g_assert_cmpuint (widgets_count (window, QM_TYPE_MACHINE_PAGE), ==, 0);
  show_page (window, "machine");
  machine = widgets_find (window, QM_TYPE_MACHINE_PAGE, 0);
  g_assert_true (gtk_widget_get_mapped (machine));

  show_page (window, "advisor");
  show_page (window, "quotes");
  g_assert_true (widgets_find (window, QM_TYPE_QUOTES_PAGE, 0) == quotes);
  g_assert_true (widgets_find (window, QM_TYPE_MACHINE_PAGE, 0) == machine);
  g_assert_cmpuint (widgets_count (window, QM_TYPE_QUOTES_PAGE), ==, 1);
  close_window (window);
}

static void
test_failure (void)
{
  GtkWidget *window = qm_window_new (GTK_APPLICATION (application), NULL);
  AdwStatusPage *status;

  qm_window_show_failure (QM_WINDOW (window), "/no/such <place>: not there");
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  status = widgets_find (window, ADW_TYPE_STATUS_PAGE, 0);
  g_assert_nonnull (
      strstr (adw_status_page_get_description (status), "not there"));

  /* Commands without a catalog do nothing, least of all crash. */
  gtk_widget_activate_action (window, "win.reset", NULL);
  gtk_widget_activate_action (window, "win.search-model", NULL);
  gtk_widget_activate_action (window, "win.export-plot", NULL);
  close_window (window);
}

/* What the menu and the accelerators name must exist in the results. */
static void
test_result_actions (void)
{
  static const char *const own[] = { "win.reset",
                                     "win.search-model",
                                     "win.focus-budget",
                                     "win.import-quotes",
                                     "win.show-page",
                                     "win.total-cost",
                                     "win.compare-published",
                                     "win.models",
                                     "win.new-model",
                                     "win.take-away",
                                     "win.benchmark-elsewhere",
                                     "win.where-you-stand",
                                     "win.import-results",
                                     "win.quote-backups",
                                     "win.open-question",
                                     "win.save-question",
                                     NULL };
  GTypeClass *window_class = g_type_class_ref (QM_TYPE_WINDOW);
  GTypeClass *results_class = g_type_class_ref (QM_TYPE_RESULTS_VIEW);
  const char *name, *property;
  const GVariantType *parameter;
  GType owner;
  guint n = 0;

  for (guint i = 0;
       gtk_widget_class_query_action (GTK_WIDGET_CLASS (window_class), i,
                                      &owner, &name, &parameter, &property);
       i++)
    {
      gboolean found = FALSE;
      const char *other;

      if (owner != QM_TYPE_WINDOW || g_strv_contains (own, name))
        continue;
      for (guint j = 0;
           !found
           && gtk_widget_class_query_action (GTK_WIDGET_CLASS (results_class),
                                             j, &owner, &other, &parameter,
                                             &property);
           j++)
        found = g_str_has_prefix (other, "results.")
                && strcmp (other + strlen ("results."), name + strlen ("win."))
                       == 0;
      if (!found)
        g_error ("nothing answers to %s", name);
      n++;
    }
  g_assert_cmpuint (n, ==, 9);

  g_type_class_unref (window_class);
  g_type_class_unref (results_class);
}

static void
test_problems (void)
{
  static const QmError problems[] = {
    { QM_STATUS_PARSE, 3, 7, "models/mine.json", "a comma is missing" },
    { QM_STATUS_INVALID, 2, 0, "prices.csv", "a price is below zero" },
  };
  GtkWidget *bar = g_object_ref_sink (g_object_new (QM_TYPE_PROBLEM_BAR, NULL));
  GtkLabel *heading = widgets_find (bar, GTK_TYPE_LABEL, 0);
  GtkLabel *text = widgets_find (bar, GTK_TYPE_LABEL, 1);
  GtkRevealer *revealer = widgets_find (bar, GTK_TYPE_REVEALER, 0);

  qm_problem_bar_set_problems (QM_PROBLEM_BAR (bar), NULL, 0, NULL, 0);
  g_assert_false (gtk_widget_get_visible (bar));

  qm_problem_bar_set_problems (QM_PROBLEM_BAR (bar), problems, 2, NULL, 0);
  g_assert_true (gtk_widget_get_visible (bar));
  g_assert_cmpstr (gtk_label_get_text (heading), ==,
                   "2 files were refused; everything else is in use");
  g_assert_cmpstr (gtk_label_get_text (text), ==,
                   "models/mine.json, line 3, column 7: a comma is missing\n"
                   "prices.csv, line 2: a price is below zero");
  g_assert_true (gtk_revealer_get_reveal_child (revealer));

  g_signal_emit_by_name (widgets_find (bar, GTK_TYPE_BUTTON, 0), "clicked");
  g_assert_false (gtk_revealer_get_reveal_child (revealer));

  widgets_finalize (bar);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_setenv ("QUARTERMASTER_DATA_DIR", g_getenv ("QM_TEST_DATA_DIR"), TRUE);
  application =
      adw_application_new ("org.quartermaster.Test", G_APPLICATION_NON_UNIQUE);
  g_application_register (G_APPLICATION (application), NULL, NULL);

  g_test_add_func ("/window/state-comes-back", test_state_comes_back);
  g_test_add_func ("/window/least-heights", test_least_heights);
  g_test_add_func ("/window/narrow", test_narrow);
  g_test_add_func ("/window/narrow-german", test_narrow_german);
  g_test_add_func ("/window/without-settings", test_without_settings);
  g_test_add_func ("/window/catalog-again", test_catalog_again);
  g_test_add_func ("/window/catalog-everywhere", test_catalog_everywhere);
  g_test_add_func ("/window/catalog-gone", test_catalog_gone);
  g_test_add_func ("/window/catalog-ahead", test_catalog_ahead);
  g_test_add_func ("/window/pages-when-shown", test_pages_when_shown);
  g_test_add_func ("/window/own-files", test_own_files);
  g_test_add_func ("/window/store-everywhere", test_store_everywhere);
  g_test_add_func ("/window/failure", test_failure);
  g_test_add_func ("/window/result-actions", test_result_actions);
  g_test_add_func ("/window/problems", test_problems);

  return g_test_run ();
}
