/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-window-private.h"

#include "data/datadir.h"
#include "ui/advisor/qm-first-dialog.h"
#include "ui/advisor/qm-ownership-window.h"
#include "ui/advisor/qm-published-window.h"
#include "ui/advisor/qm-standing-window.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (QmWindow, qm_window, ADW_TYPE_APPLICATION_WINDOW)

/* Commands of the answers, which the menu and the accelerators reach through
 * the window. */
static const char *const result_actions[] = {
  "export-plot", "copy-plot", "save-table", "copy-table", "print",
  "zoom-in",     "zoom-out",  "zoom-reset", "all-gpus",
};

static void
restore_window (QmWindow *self)
{
  gtk_window_set_default_size (
      GTK_WINDOW (self), g_settings_get_int (self->settings, "window-width"),
      g_settings_get_int (self->settings, "window-height"));
  if (g_settings_get_boolean (self->settings, "window-maximized"))
    gtk_window_maximize (GTK_WINDOW (self));
}

static void
save_window (QmWindow *self)
{
  gboolean maximized = gtk_window_is_maximized (GTK_WINDOW (self));
  int width, height;

  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  if (!maximized && width > 0 && height > 0)
    {
      g_settings_set_int (self->settings, "window-width", width);
      g_settings_set_int (self->settings, "window-height", height);
    }
  g_settings_set_boolean (self->settings, "window-maximized", maximized);
}

static void
save_question (QmWindow *self)
{
  gboolean sidebar;

  qm_advisor_save (self->advisor, self->settings);

  /* A side bar that folded away for want of room was not put away. */
  if (qm_advisor_page_get_folded (self->page))
    return;
  g_object_get (self->page, "show-sidebar", &sidebar, NULL);
  g_settings_set_boolean (self->settings, "sidebar-shown", sidebar);
}

/* A benchmark cannot run without its window: it is stopped first, and the
 * window closes when nothing of it is left. */

static void
stopped_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmWindow) self = data;

  qm_bench_session_stop_finish (QM_BENCH_SESSION (object), result);
  gtk_window_close (GTK_WINDOW (self));
}

void
qm_window_stop_and_close (QmWindow *self)
{
  g_return_if_fail (QM_IS_WINDOW (self));

  if (self->session != NULL && qm_bench_session_is_busy (self->session))
    qm_bench_session_stop_async (self->session, stopped_cb,
                                 g_object_ref (self));
  else
    gtk_window_close (GTK_WINDOW (self));
}

static void
answered_cb (AdwMessageDialog *dialog, const char *response, QmWindow *self)
{
  /* It is on its way out: the next question gets a dialog of its own. */
  g_clear_weak_pointer (&self->question);
  if (g_strcmp0 (response, "stop") == 0)
    qm_window_stop_and_close (self);
}

static void
ask_to_stop (QmWindow *self)
{
  GtkWidget *dialog;

  if (self->question != NULL)
    {
      gtk_window_present (GTK_WINDOW (self->question));
      return;
    }
  dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Stop the Benchmark?"),
                                   _ ("It cannot run without this window. What "
                                      "is measured is kept, and the next start "
                                      "goes on there."));
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "back",
                                    _ ("_Go Back"), "stop",
                                    _ ("_Stop and Close"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog),
                                              "stop", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "back");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "back");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answered_cb), self,
                           0);
  g_set_weak_pointer (&self->question, dialog);
  gtk_window_present (GTK_WINDOW (dialog));
}

static gboolean
qm_window_close_request (GtkWindow *window)
{
  QmWindow *self = QM_WINDOW (window);

  if (self->session != NULL && qm_bench_session_is_busy (self->session))
    {
      ask_to_stop (self);
      return GDK_EVENT_STOP;
    }
  if (self->settings != NULL)
    {
      save_window (self);
      if (self->advisor != NULL)
        save_question (self);
    }

  return GTK_WINDOW_CLASS (qm_window_parent_class)->close_request (window);
}

GtkWidget *
qm_window_new (GtkApplication *application, GSettings *settings)
{
  QmWindow *self;

  g_return_val_if_fail (GTK_IS_APPLICATION (application), NULL);
  g_return_val_if_fail (settings == NULL || G_IS_SETTINGS (settings), NULL);

  self = g_object_new (QM_TYPE_WINDOW, "application", application, NULL);
  if (settings != NULL)
    {
      self->settings = g_object_ref (settings);
      restore_window (self);
    }

  return GTK_WIDGET (self);
}

static void
set_actions_enabled (QmWindow *self, gboolean enabled)
{
  static const char *const own[] = {
    "win.reset",           "win.search-model",      "win.focus-budget",
    "win.total-cost",      "win.compare-published", "win.models",
    "win.where-you-stand", "win.new-model",         "win.benchmark-elsewhere",
    "win.import-results",  "win.take-away",         "win.open-question",
    "win.save-question"
  };

  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    gtk_widget_action_set_enabled (GTK_WIDGET (self), own[i], enabled);
  for (guint i = 0; i < G_N_ELEMENTS (result_actions); i++)
    {
      g_autofree char *name = g_strconcat ("win.", result_actions[i], NULL);

      gtk_widget_action_set_enabled (GTK_WIDGET (self), name, enabled);
    }
  gtk_widget_set_visible (self->sidebar_button, enabled);
}

/* (transfer full) (nullable) */
static QmRates *
shipped_rates (void)
{
  char folder[PATH_MAX];

  return qm_data_dir (folder, sizeof folder)
             ? qm_rates_new_shipped (folder, NULL)
             : NULL;
}

void
qm_window_ensure_rates (QmWindow *self, const char *currency)
{
  g_autoptr (QmRates) rates = NULL;

  if (qm_advisor_get_rates (self->advisor) != NULL
      || g_str_equal (currency, "USD"))
    return;
  rates = shipped_rates ();
  qm_advisor_set_rates (self->advisor, rates);
}

/* Puts a page for the advisor in place of the one before. */
static void
show_advisor (QmWindow *self, gboolean show_sidebar)
{
  g_autoptr (GPropertyAction) action = NULL;

  g_signal_connect_object (self->advisor, "rebuilt",
                           G_CALLBACK (qm_window_ask_where), self,
                           G_CONNECT_SWAPPED);
  self->page = QM_ADVISOR_PAGE (qm_advisor_page_new (self->advisor));
  g_object_set (self->page, "show-sidebar", show_sidebar, NULL);
  adw_bin_set_child (self->advisor_bin, GTK_WIDGET (self->page));
  action = g_property_action_new ("show-sidebar", self->page, "show-sidebar");
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
}

static void
open_advisor (QmWindow *self)
{
  gboolean show_sidebar = TRUE;
  AdwViewStackPage *page;

  self->advisor = qm_advisor_new (qm_catalog_keeper_get (self->keeper));
  qm_advisor_read_host (self->advisor);
  self->advisor_bin = ADW_BIN (adw_bin_new ());
  page = adw_view_stack_add_titled (self->stack, GTK_WIDGET (self->advisor_bin),
                                    "advisor", _ ("Advisor"));
  adw_view_stack_page_set_icon_name (page, QM_APP_ID "-symbolic");
  qm_window_accept_drops (self);
  if (self->settings != NULL)
    {
      g_autofree char *currency =
          g_settings_get_string (self->settings, "currency");

      /* Until the book is read. */
      qm_window_ensure_rates (self, currency);
      qm_advisor_restore (self->advisor, self->settings);
      show_sidebar = g_settings_get_boolean (self->settings, "sidebar-shown");
    }
  show_advisor (self, show_sidebar);
}

/* Where the store cannot be read, the shipped exchange rates serve. */
static void
take_book (QmWindow *self)
{
  QmRates *rates = qm_quote_book_get_rates (self->book);
  g_autoptr (QmRates) shipped = NULL;

  if (rates == NULL)
    rates = shipped = shipped_rates ();
  qm_advisor_set_offers (self->advisor, qm_quote_book_get_offers (self->book));
  qm_advisor_set_rates (self->advisor, rates);
}

static void
renew_advisor (QmWindow *self)
{
  const QmCatalog *catalog = qm_catalog_keeper_get (self->keeper);
  g_autoptr (QmAdvisor) before = g_steal_pointer (&self->advisor);
  g_autoptr (QmHostTimes) host = NULL;
  gboolean show_sidebar;

  g_object_get (self->page, "show-sidebar", &show_sidebar, NULL);
  self->advisor = qm_advisor_new (catalog);
  /* At once, so that it can be selected again. */
  host = qm_host_times_load (catalog, NULL);
  qm_advisor_set_host (self->advisor, host);
  qm_advisor_set_rates (self->advisor, qm_advisor_get_rates (before));
  qm_advisor_ask_like (self->advisor, before);
  if (self->book != NULL)
    take_book (self);
  if (self->quotes != NULL)
    qm_quotes_page_set_advisor (self->quotes, self->advisor);
  if (self->total_cost != NULL)
    gtk_window_destroy (GTK_WINDOW (self->total_cost));
  if (self->published != NULL)
    gtk_window_destroy (GTK_WINDOW (self->published));
  if (self->first != NULL)
    qm_first_dialog_set_advisor (QM_FIRST_DIALOG (self->first), self->advisor);
  show_advisor (self, show_sidebar);
}

/* What of the user's own files, or of the shipped ones, is left out. */
static void
show_problems (QmWindow *self)
{
  const QmCatalog *catalog = qm_catalog_keeper_get (self->keeper);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (QmError));
  size_t n, n_notices;
  const QmError *problems = qm_catalog_problems (catalog, &n);
  const QmError *notices = qm_catalog_notices (catalog, &n_notices);

  g_array_append_vals (all, problems, (guint) n);
  if (self->book != NULL)
    {
      guint n_own;

      problems = qm_quote_book_get_own_problems (self->book, &n_own);
      g_array_append_vals (all, problems, n_own);
    }
  qm_problem_bar_set_problems (self->problem_bar,
                               (const QmError *) (gconstpointer) all->data,
                               all->len, notices, n_notices);
}

static void
catalog_changed_cb (QmWindow *self)
{
  qm_window_note_results (self);
  renew_advisor (self);
  show_problems (self);
}

/* The one before stays in use. */
static void
catalog_failed_cb (QmWindow *self, const char *reason)
{
  /* Translators: what is wrong. */
  g_autofree char *message =
      g_strdup_printf (_ ("The catalog cannot be read again: %s"), reason);

  qm_window_add_toast (self, message);
}

void
qm_window_open_catalog (QmWindow *self, QmCatalogKeeper *keeper)
{
  g_return_if_fail (QM_IS_WINDOW (self));
  g_return_if_fail (QM_IS_CATALOG_KEEPER (keeper));
  g_return_if_fail (qm_catalog_keeper_get (keeper) != NULL);
  g_return_if_fail (self->keeper == NULL);

  self->keeper = g_object_ref (keeper);
  qm_window_note_results (self);
  open_advisor (self);
  show_problems (self);
  set_actions_enabled (self, TRUE);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (catalog_changed_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (keeper, "failed", G_CALLBACK (catalog_failed_cb),
                           self, G_CONNECT_SWAPPED);
}

static void
quotes_changed_cb (QmWindow *self)
{
  if (self->advisor != NULL)
    take_book (self);
  show_problems (self);
  if (!self->opened)
    qm_price_watch_refresh_at_start (self->watch);
  self->opened = TRUE;
}

static gboolean
shows (QmWindow *self, const char *page)
{
  return g_strcmp0 (adw_view_stack_get_visible_child_name (self->stack), page)
         == 0;
}

static void show_plots_cb (QmWindow *self);

/* Pages that the first frame does not show are made when somebody looks: the
 * start would wait for their widgets, and again for the measures of those. */

static void
make_quotes (QmWindow *self)
{
  if (self->quotes != NULL)
    return;
  self->quotes = QM_QUOTES_PAGE (qm_quotes_page_new (self->book, self->watch));
  qm_quotes_page_set_advisor (self->quotes, self->advisor);
  adw_bin_set_child (self->quotes_bin, GTK_WIDGET (self->quotes));
}

static void
make_machine (QmWindow *self)
{
  g_autoptr (QmLocalMachine) machine = NULL;

  if (self->machine != NULL)
    return;
  machine = qm_local_machine_new ();
  self->machine =
      QM_MACHINE_PAGE (qm_machine_page_new (self->keeper, machine,
                                            self->session, self->settings));
  g_signal_connect_object (self->machine, "show-plots",
                           G_CALLBACK (show_plots_cb), self, G_CONNECT_SWAPPED);
  adw_bin_set_child (self->machine_bin, GTK_WIDGET (self->machine));
}

/* The side bar and the plots are the advisor's. */
static void
page_changed_cb (QmWindow *self)
{
  if (self->advisor != NULL)
    gtk_widget_set_visible (self->sidebar_button, shows (self, "advisor"));
  if (shows (self, "quotes"))
    {
      make_quotes (self);
      gtk_widget_child_focus (GTK_WIDGET (self->quotes), GTK_DIR_TAB_FORWARD);
    }
  else if (shows (self, "machine"))
    {
      make_machine (self);
      adw_view_stack_page_set_needs_attention (self->machine_page, FALSE);
      qm_machine_page_focus (self->machine);
    }
  else
    qm_window_refresh_results (self);
}

void
qm_window_open_quotes (QmWindow *self, const char *path)
{
  AdwViewStackPage *page;

  g_return_if_fail (QM_IS_WINDOW (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (self->advisor != NULL && self->book == NULL);

  self->book = qm_quote_book_new (self->keeper, path);
  g_signal_connect_object (self->book, "changed",
                           G_CALLBACK (quotes_changed_cb), self,
                           G_CONNECT_SWAPPED);
  qm_store_bar_set_book (self->store_bar, self->book);
  self->watch = qm_price_watch_new (self->book, self->settings);
  self->quotes_bin = ADW_BIN (adw_bin_new ());
  page = adw_view_stack_add_titled (self->stack, GTK_WIDGET (self->quotes_bin),
                                    "quotes", _ ("Quotes"));
  adw_view_stack_page_set_icon_name (page, "x-office-document-symbolic");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.import-quotes", TRUE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.quote-backups", TRUE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.show-page", TRUE);
}

/* Selects the candidate that this machine is.  FALSE: it is none of what the
 * advisor shows. */
static gboolean
select_here (QmAdvisor *advisor)
{
  guint n_topics = qm_advisor_get_n_topics (advisor);

  for (guint topic = 0; topic < n_topics; topic++)
    {
      guint n;
      const QmCandidate *candidates =
          qm_advice_candidates (qm_advisor_get_advice (advisor, topic), &n);

      for (guint i = 0; i < n; i++)
        if (candidates[i].here && candidates[i].use == NULL
            && qm_known (candidates[i].days))
          {
            qm_advisor_select (advisor, topic, i);
            return TRUE;
          }
    }
  return FALSE;
}

/* The same, with the first measured model for which it is one. */
static gboolean
choose_here (QmWindow *self)
{
  GListModel *rows = qm_bench_session_get_rows (self->session);
  guint n = g_list_model_get_n_items (rows);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);
      const char *const models[] = { qm_bench_row_get_model (row), NULL };

      if (qm_bench_row_get_state (row) != QM_BENCH_ROW_MEASURED)
        continue;
      g_object_set (self->advisor, "models", models, "portfolio", FALSE,
                    "settings",
                    g_str_equal (qm_bench_row_get_settings (row), "naive")
                        ? QM_SETTINGS_NAIVE
                        : QM_SETTINGS_OPTIMAL,
                    NULL);
      if (select_here (self->advisor))
        return TRUE;
    }
  return FALSE;
}

static void
show_plots_cb (QmWindow *self)
{
  if (!select_here (self->advisor) && !choose_here (self))
    {
      qm_window_add_toast (self,
                           _ ("The plots compare GPUs of the catalog, and "
                              "nothing was measured here on one of them"));
      return;
    }
  adw_view_stack_set_visible_child_name (self->stack, "advisor");
}

static void
finished_cb (QmWindow *self)
{
  if (shows (self, "machine"))
    return;
  adw_view_stack_page_set_needs_attention (self->machine_page, TRUE);
  qm_window_add_toast (self, _ ("The benchmark is done"));
}

void
qm_window_open_machine (QmWindow *self)
{
  g_return_if_fail (QM_IS_WINDOW (self));
  g_return_if_fail (self->advisor != NULL && self->session == NULL);

  self->session = qm_bench_session_new (self->keeper);
  qm_window_watch_results (self);
  g_signal_connect_object (self->session, "finished", G_CALLBACK (finished_cb),
                           self, G_CONNECT_SWAPPED);
  self->machine_bin = ADW_BIN (adw_bin_new ());
  self->machine_page =
      adw_view_stack_add_titled (self->stack, GTK_WIDGET (self->machine_bin),
                                 "machine", _ ("This Machine"));
  adw_view_stack_page_set_icon_name (self->machine_page, "computer-symbolic");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.show-page", TRUE);
}

void
qm_window_show_failure (QmWindow *self, const char *reason)
{
  g_autofree char *markup = NULL;
  GtkWidget *status;

  g_return_if_fail (QM_IS_WINDOW (self));
  g_return_if_fail (reason != NULL);

  markup = g_markup_escape_text (reason, -1);
  status =
      g_object_new (ADW_TYPE_STATUS_PAGE, "icon-name", "dialog-error-symbolic",
                    "title", _ ("The Catalog Cannot Be Read"), "description",
                    markup, NULL);
  adw_view_stack_add_titled (self->stack, status, "failure", _ ("Failure"));
}

void
qm_window_add_toast (QmWindow *self, const char *title)
{
  g_return_if_fail (QM_IS_WINDOW (self));
  g_return_if_fail (title != NULL);

  qm_toasts_tell (self->toast_overlay, title);
}

static void
reset_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  qm_advisor_reset (self->advisor);
  qm_window_add_toast (self, _ ("The question is back to its defaults"));
}

/* Searches what is shown. */
static void
search_model_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  if (shows (self, "quotes"))
    qm_quotes_page_focus_search (self->quotes);
  else if (shows (self, "advisor"))
    qm_advisor_page_search_model (self->page);
}

static void
show_page_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  adw_view_stack_set_visible_child_name (
      QM_WINDOW (widget)->stack, g_variant_get_string (parameter, NULL));
}

static void
import_quotes_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  adw_view_stack_set_visible_child_name (self->stack, "quotes");
  gtk_widget_activate_action (GTK_WIDGET (self->quotes), "quotes.import", NULL);
}

static void
quote_backups_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_activate_action (GTK_WIDGET (QM_WINDOW (widget)->store_bar),
                              "store.backups", NULL);
}

static void
focus_budget_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_advisor_page_focus_budget (QM_WINDOW (widget)->page);
}

static void
total_cost_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  if (self->total_cost == NULL)
    g_set_weak_pointer (&self->total_cost,
                        qm_ownership_window_new (GTK_WINDOW (self),
                                                 self->advisor));
  gtk_window_present (GTK_WINDOW (self->total_cost));
}

static void
compare_published_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  if (self->published == NULL)
    g_set_weak_pointer (&self->published,
                        qm_published_window_new (GTK_WINDOW (self),
                                                 self->advisor));
  gtk_window_present (GTK_WINDOW (self->published));
}

static void
where_you_stand_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);

  gtk_window_present (
      GTK_WINDOW (qm_standing_window_new (GTK_WINDOW (self), self->advisor)));
}

static void
result_action_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWindow *self = QM_WINDOW (widget);
  g_autofree char *action =
      g_strconcat ("results.", name + strlen ("win."), NULL);

  if (shows (self, "quotes"))
    {
      if (g_str_equal (name, "win.save-table"))
        gtk_widget_activate_action (GTK_WIDGET (self->quotes),
                                    "quotes.export-csv", NULL);
      return;
    }
  if (shows (self, "machine"))
    {
      if (g_str_equal (name, "win.save-table"))
        gtk_widget_activate_action (GTK_WIDGET (self->machine),
                                    "machine.save-table", NULL);
      else if (g_str_equal (name, "win.copy-table"))
        gtk_widget_activate_action (GTK_WIDGET (self->machine),
                                    "machine.copy-table", NULL);
      return;
    }
  gtk_widget_activate_action_variant (qm_advisor_page_get_results (self->page),
                                      action, NULL);
}

static void
qm_window_dispose (GObject *object)
{
  QmWindow *self = QM_WINDOW (object);

  if (self->watch != NULL)
    qm_price_watch_close (self->watch);
  if (self->book != NULL)
    qm_quote_book_close (self->book);
  g_clear_object (&self->watch);
  g_clear_object (&self->book);
  g_clear_weak_pointer (&self->total_cost);
  g_clear_weak_pointer (&self->published);
  g_clear_weak_pointer (&self->first);
  g_clear_weak_pointer (&self->question);
  g_clear_object (&self->session);
  g_clear_weak_pointer (&self->models);
  g_clear_object (&self->chooser);
  g_clear_object (&self->advisor);
  g_clear_object (&self->keeper);
  g_clear_object (&self->settings);

  G_OBJECT_CLASS (qm_window_parent_class)->dispose (object);
}

static void
qm_window_class_init (QmWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  GtkWindowClass *window_class = GTK_WINDOW_CLASS (klass);

  object_class->dispose = qm_window_dispose;
  window_class->close_request = qm_window_close_request;

  g_type_ensure (QM_TYPE_ADOPT_BAR);
  g_type_ensure (QM_TYPE_PROBLEM_BAR);
  g_type_ensure (QM_TYPE_STORE_BAR);

  qm_window_install_files (widget_class);
  qm_window_install_questions (widget_class);
  gtk_widget_class_install_action (widget_class, "win.reset", NULL, reset_cb);
  gtk_widget_class_install_action (widget_class, "win.search-model", NULL,
                                   search_model_cb);
  gtk_widget_class_install_action (widget_class, "win.focus-budget", NULL,
                                   focus_budget_cb);
  gtk_widget_class_install_action (widget_class, "win.import-quotes", NULL,
                                   import_quotes_cb);
  gtk_widget_class_install_action (widget_class, "win.quote-backups", NULL,
                                   quote_backups_cb);
  gtk_widget_class_install_action (widget_class, "win.show-page", "s",
                                   show_page_cb);
  gtk_widget_class_install_action (widget_class, "win.total-cost", NULL,
                                   total_cost_cb);
  gtk_widget_class_install_action (widget_class, "win.compare-published", NULL,
                                   compare_published_cb);
  gtk_widget_class_install_action (widget_class, "win.where-you-stand", NULL,
                                   where_you_stand_cb);
  for (guint i = 0; i < G_N_ELEMENTS (result_actions); i++)
    {
      g_autofree char *name = g_strconcat ("win.", result_actions[i], NULL);

      gtk_widget_class_install_action (widget_class, name, NULL,
                                       result_action_cb);
    }

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-window.ui");
  gtk_widget_class_bind_template_child (widget_class, QmWindow, toast_overlay);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, sidebar_button);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, problem_bar);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, store_bar);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, adopt_bar);
  gtk_widget_class_bind_template_child (widget_class, QmWindow, stack);
  gtk_widget_class_bind_template_callback (widget_class, page_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class,
                                           qm_window_results_adopted);
  gtk_widget_class_bind_template_callback (widget_class, qm_window_add_toast);
}

static void
qm_window_init (QmWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  set_actions_enabled (self, FALSE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.import-quotes", FALSE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.quote-backups", FALSE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.show-page", FALSE);
}
