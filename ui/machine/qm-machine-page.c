/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-question.h"
#include "ui/machine/qm-machine-page-private.h"
#include "ui/machine/qm-share-window.h"
#include "ui/qm-catalog-keeper.h"
#include "ui/qm-terms-button.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>

enum
{
  SHOW_PLOTS,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmMachinePage, qm_machine_page, ADW_TYPE_BIN)

static guint signals[N_SIGNALS];

void
qm_machine_page_tell (QmMachinePage *self, const char *message)
{
  qm_toasts_tell (self->overlay, message);
}

/* The actions. */

/* A benchmark that can go on must not be planned anew by accident. */
static gboolean
is_locked (QmMachinePage *self)
{
  return self->restoring || qm_bench_session_is_busy (self->session)
         || qm_bench_session_get_state (self->session)
                == QM_BENCH_SESSION_PAUSED;
}

static void
update_actions (QmMachinePage *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  QmBenchSessionState state = qm_bench_session_get_state (self->session);
  guint n =
      g_list_model_get_n_items (qm_bench_session_get_rows (self->session));
  gboolean running = state == QM_BENCH_SESSION_RUNNING;
  gboolean stopped =
      state == QM_BENCH_SESSION_PAUSED || state == QM_BENCH_SESSION_FAILED;

  gtk_widget_action_set_enabled (widget, "machine.start",
                                 qm_machine_page_can_start (self));
  gtk_widget_action_set_enabled (widget, "machine.pause", running);
  gtk_widget_action_set_enabled (widget, "machine.continue", stopped);
  gtk_widget_action_set_enabled (widget, "machine.cancel", running || stopped);
  gtk_widget_action_set_enabled (
      widget, "machine.again",
      state == QM_BENCH_SESSION_FINISHED
          && qm_machine_page_count (self->session, QM_BENCH_ROW_FAILED) > 0);
  gtk_widget_action_set_enabled (widget, "machine.save-table", n > 0);
  gtk_widget_action_set_enabled (widget, "machine.copy-table", n > 0);
  gtk_widget_action_set_enabled (widget, "machine.copy-row",
                                 qm_bench_table_get_selected (self->table)
                                     != NULL);
  qm_bench_setup_set_locked (self->setup, is_locked (self));
  qm_bench_setup_set_busy (self->setup,
                           qm_bench_session_is_busy (self->session));
}

static void
result_selected_cb (QmMachinePage *self)
{
  QmBenchRow *row = qm_bench_table_get_selected (self->table);

  qm_bench_trouble_show (self->trouble,
                         row != NULL ? qm_bench_row_get_reason (row) : NULL,
                         row != NULL ? qm_bench_row_get_log (row) : NULL);
  update_actions (self);
}

/* What is planned for all models stays until another device or other methods
 * are chosen.  Nothing is planned beside a measurement: it would be slowed. */
static void
plan_overview (QmMachinePage *self)
{
  const char *device = qm_bench_setup_get_device (self->setup);
  const char *gpus = qm_bench_setup_get_gpus (self->setup);
  QmBenchMethods methods = qm_bench_setup_get_methods (self->setup);
  QmBenchSessionState state = qm_bench_session_get_state (self->overview);
  g_auto (GStrv) all = NULL;

  if (device == NULL || qm_bench_session_is_busy (self->session)
      || qm_bench_setup_is_measuring (self->setup))
    return;
  if (!self->stale
      && g_strcmp0 (device, qm_bench_session_get_device (self->overview)) == 0
      && g_strcmp0 (gpus, qm_bench_session_get_gpus (self->overview)) == 0
      && methods == qm_bench_session_get_methods (self->overview)
      && state != QM_BENCH_SESSION_IDLE)
    return;
  all = qm_catalog_list_models (qm_catalog_keeper_get (self->keeper));
  self->stale = FALSE;
  qm_bench_session_estimate (self->overview, device, gpus,
                             (const char *const *) all, methods);
}

static void
session_changed_cb (QmMachinePage *self)
{
  guint n =
      g_list_model_get_n_items (qm_bench_session_get_rows (self->session));
  gboolean busy = qm_bench_session_is_busy (self->session);

  if (qm_bench_session_get_state (self->session) != QM_BENCH_SESSION_ESTIMATING)
    self->restoring = FALSE;
  if (self->busy && !busy)
    plan_overview (self);
  self->busy = busy;
  qm_machine_page_show_watch (self);
  qm_machine_page_show_estimate (self);
  qm_bench_table_set_several (
      self->table, qm_bench_session_get_gpus (self->session) != NULL);
  result_selected_cb (self);
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "table" : "empty");
  update_actions (self);
}

static void
save_choice (QmMachinePage *self, const char *const *models)
{
  const char *gpus = qm_bench_setup_get_gpus (self->setup);

  if (self->settings == NULL)
    return;
  g_settings_set_strv (self->settings, "bench-models", models);
  g_settings_set_enum (self->settings, "bench-methods",
                       (int) qm_bench_setup_get_methods (self->setup));
  if (qm_bench_setup_get_device (self->setup) != NULL)
    g_settings_set_string (self->settings, "bench-gpus",
                           gpus != NULL ? gpus : "1");
}

static void
setup_changed_cb (QmMachinePage *self)
{
  const char *device = qm_bench_setup_get_device (self->setup);
  QmBenchMethods methods = qm_bench_setup_get_methods (self->setup);
  g_autofree const char **models = qm_bench_setup_get_models (self->setup);

  plan_overview (self);
  if (is_locked (self))
    return;
  save_choice (self, models);
  qm_bench_session_estimate (self->session, device,
                             qm_bench_setup_get_gpus (self->setup), models,
                             methods);
}

/* Other models, or the same with another recipe.  The setup has followed. */
static void
machine_catalog_cb (QmMachinePage *self)
{
  QmBenchSessionState state = qm_bench_session_get_state (self->session);

  self->stale = TRUE;
  qm_machine_page_show_predictions (self);
  if (state == QM_BENCH_SESSION_IDLE || state == QM_BENCH_SESSION_READY)
    setup_changed_cb (self);
  else
    plan_overview (self);
}

/* Nothing is planned or measured beside it. */
static void
links_cb (QmMachinePage *self)
{
  update_actions (self);
  if (!qm_bench_setup_is_measuring (self->setup))
    plan_overview (self);
}

static void
start_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);

  qm_bench_session_start (self->session);
  adw_leaflet_set_visible_child_name (self->leaflet, "watch");
  qm_bench_watch_focus (self->watch);
}

static void
pause_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_bench_session_pause (QM_MACHINE_PAGE (widget)->session);
}

static void
continue_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_bench_session_start (QM_MACHINE_PAGE (widget)->session);
}

static void
again_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);

  qm_bench_session_set_again (self->session, TRUE);
  qm_bench_session_start (self->session);
}

/* One key for both. */
static void
toggle_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  if (qm_bench_session_get_state (QM_MACHINE_PAGE (widget)->session)
      == QM_BENCH_SESSION_RUNNING)
    gtk_widget_activate_action (widget, "machine.pause", NULL);
  else
    gtk_widget_activate_action (widget, "machine.continue", NULL);
}

static void
cancel_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_bench_session_cancel (QM_MACHINE_PAGE (widget)->session);
}

static void
reload_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_local_machine_reload (QM_MACHINE_PAGE (widget)->machine);
}

static void
show_plots_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_signal_emit (widget, signals[SHOW_PLOTS], 0);
}

static void
share_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);
  GtkRoot *root = gtk_widget_get_root (widget);

  gtk_window_present (GTK_WINDOW (qm_share_window_new (
      GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL, self->keeper)));
}

/* On a narrow screen. */

static void
back_cb (QmMachinePage *self)
{
  adw_leaflet_set_visible_child_name (self->leaflet, "setup");
}

static void
folded_cb (QmMachinePage *self)
{
  gboolean folded = adw_leaflet_get_folded (self->leaflet);

  gtk_widget_set_visible (self->back_button, folded);
  qm_bench_table_set_narrow (self->table, folded);
}

void
qm_machine_page_focus (QmMachinePage *self)
{
  g_return_if_fail (QM_IS_MACHINE_PAGE (self));

  if (qm_bench_session_is_busy (self->session))
    qm_bench_watch_focus (self->watch);
  else
    gtk_widget_child_focus (GTK_WIDGET (self->setup), GTK_DIR_TAB_FORWARD);
}

/* With what was left unfinished, or else with what was chosen last. */
static void
open_setup (QmMachinePage *self)
{
  g_auto (GStrv) chosen = NULL;
  g_autofree char *gpus = NULL;
  QmBenchMethods methods = QM_BENCH_METHODS_FREE_LUNCH;

  self->restoring = qm_bench_session_restore (self->session);
  if (self->restoring)
    {
      chosen =
          g_strdupv ((char **) qm_bench_session_get_models (self->session));
      methods = qm_bench_session_get_methods (self->session);
      gpus = g_strdup (qm_bench_session_get_gpus (self->session));
      if (gpus == NULL)
        gpus = g_strdup ("1");
    }
  else if (self->settings != NULL)
    {
      chosen = g_settings_get_strv (self->settings, "bench-models");
      methods = (QmBenchMethods) g_settings_get_enum (self->settings,
                                                      "bench-methods");
      gpus = g_settings_get_string (self->settings, "bench-gpus");
    }
  if (gpus != NULL && *gpus == '\0')
    g_clear_pointer (&gpus, g_free);
  qm_bench_setup_open (self->setup, self->keeper, self->machine,
                       qm_bench_session_get_device (self->session), gpus,
                       (const char *const *) chosen, methods);
  session_changed_cb (self);
}

GtkWidget *
qm_machine_page_new (QmCatalogKeeper *keeper,
                     QmLocalMachine *machine,
                     QmBenchSession *session,
                     GSettings *settings)
{
  QmMachinePage *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (machine), NULL);
  g_return_val_if_fail (QM_IS_BENCH_SESSION (session), NULL);

  self = g_object_new (QM_TYPE_MACHINE_PAGE, NULL);
  self->machine = g_object_ref (machine);
  self->session = g_object_ref (session);
  g_set_object (&self->settings, settings);
  self->keeper = g_object_ref (keeper);
  self->overview = qm_bench_session_new (keeper);
  qm_bench_table_set_rows (self->table, qm_bench_session_get_rows (session));
  g_signal_connect_object (session, "changed", G_CALLBACK (session_changed_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->overview, "changed",
                           G_CALLBACK (qm_machine_page_show_predictions), self,
                           G_CONNECT_SWAPPED);
  open_setup (self);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (machine_catalog_cb),
                           self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

/* Drivers may have to wake up: they are not asked before somebody looks. */
static void
qm_machine_page_map (GtkWidget *widget)
{
  QmMachinePage *self = QM_MACHINE_PAGE (widget);

  GTK_WIDGET_CLASS (qm_machine_page_parent_class)->map (widget);
  if (self->asked)
    return;
  self->asked = TRUE;
  qm_local_machine_reload (self->machine);
}

static void
qm_machine_page_dispose (GObject *object)
{
  QmMachinePage *self = QM_MACHINE_PAGE (object);

  g_clear_object (&self->overview);
  g_clear_object (&self->session);
  g_clear_object (&self->machine);
  g_clear_object (&self->settings);
  g_clear_object (&self->keeper);

  G_OBJECT_CLASS (qm_machine_page_parent_class)->dispose (object);
}

static const struct
{
  const char *name;
  GtkWidgetActionActivateFunc activate;
  const char *trigger; /* NULL: none */
} actions[] = {
  { "machine.start", start_cb, "<Control>Return" },
  { "machine.toggle", toggle_cb, "<Control><Shift>p" },
  { "machine.cancel", cancel_cb, "<Control><Shift>x" },
  { "machine.show-plots", show_plots_cb, "<Control>g" },
  { "machine.share", share_cb, "<Control><Shift>s" },
  { "machine.reload", reload_cb, "F5" },
  { "machine.pause", pause_cb, NULL },
  { "machine.continue", continue_cb, NULL },
  { "machine.again", again_cb, "<Control><Shift>r" },
};

static void
install_actions (GtkWidgetClass *widget_class)
{
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (widget_class, actions[i].name, NULL,
                                     actions[i].activate);
  qm_machine_page_install_files (widget_class);
}

/* They work wherever on the page the keyboard is, also where it was on a button
 * that has gone. */
static void
add_shortcuts (QmMachinePage *self)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_shortcut_controller_set_scope (GTK_SHORTCUT_CONTROLLER (controller),
                                     GTK_SHORTCUT_SCOPE_GLOBAL);
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    if (actions[i].trigger != NULL)
      gtk_shortcut_controller_add_shortcut (
          GTK_SHORTCUT_CONTROLLER (controller),
          gtk_shortcut_new (gtk_shortcut_trigger_parse_string (
                                actions[i].trigger),
                            gtk_named_action_new (actions[i].name)));
  gtk_widget_add_controller (GTK_WIDGET (self), controller);
}

static void
qm_machine_page_class_init (QmMachinePageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_machine_page_dispose;
  widget_class->map = qm_machine_page_map;

  g_type_ensure (QM_TYPE_BENCH_SETUP);
  g_type_ensure (QM_TYPE_BENCH_TABLE);
  g_type_ensure (QM_TYPE_BENCH_TROUBLE);
  g_type_ensure (QM_TYPE_BENCH_WATCH);

  signals[SHOW_PLOTS] =
      g_signal_new ("show-plots", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                    0, NULL, NULL, NULL, G_TYPE_NONE, 0);

  g_type_ensure (QM_TYPE_TERMS_BUTTON);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-machine-page.ui");
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, overlay);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, leaflet);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, setup);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage,
                                        back_button);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, watch);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage,
                                        plots_button);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, stack);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, empty);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, table);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, trouble);
  gtk_widget_class_bind_template_callback (widget_class, back_cb);
  gtk_widget_class_bind_template_callback (widget_class, folded_cb);
  gtk_widget_class_bind_template_callback (widget_class, setup_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, links_cb);
  gtk_widget_class_bind_template_callback (widget_class, result_selected_cb);
  install_actions (widget_class);
}

static void
qm_machine_page_init (QmMachinePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_shortcuts (self);
  folded_cb (self);
  qm_machine_page_show_promises (self, TRUE);
}
