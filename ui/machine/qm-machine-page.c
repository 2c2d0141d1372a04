/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-machine-page-private.h"

#include "pricing/qm-format.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

enum
{
  SHOW_PLOTS,
  IMPORTED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmMachinePage, qm_machine_page, ADW_TYPE_BIN)

static guint signals[N_SIGNALS];

void
qm_machine_page_tell (QmMachinePage *self, const char *message)
{
  g_autofree char *markup = g_markup_escape_text (message, -1);

  adw_toast_overlay_add_toast (self->overlay, adw_toast_new (markup));
}

/* What is said of a session. */

static char *
describe_sensors (QmBenchSession *session)
{
  double celsius = qm_bench_session_get_celsius (session);
  double watts = qm_bench_session_get_watts (session);
  double limit = qm_bench_session_get_watts_limit (session);
  GString *text = g_string_new (NULL);

  if (isfinite (celsius))
    g_string_append_printf (text, _ ("%.0f °C"), celsius);
  if (isfinite (watts) && text->len > 0)
    g_string_append (text, " · ");
  if (isfinite (watts) && isfinite (limit))
    /* Translators: power that is used, and its limit, in watts. */
    g_string_append_printf (text, _ ("%.0f of %.0f W"), watts, limit);
  else if (isfinite (watts))
    g_string_append_printf (text, _ ("%.0f W"), watts);
  return g_string_free (text, FALSE);
}

static char *
describe_left (QmBenchSession *session)
{
  double seconds = qm_bench_session_get_seconds_left (session);
  g_autofree char *time = NULL;
  guint n = g_list_model_get_n_items (qm_bench_session_get_rows (session));
  guint done = qm_bench_session_get_n_done (session);

  if (!isfinite (seconds))
    return g_strdup_printf (_ ("%u of %u configurations"), done, n);
  time = qm_machine_text_duration (seconds);
  /* Translators: done, all, a time: "3 of 12 configurations, about 12 minutes
   * left". */
  return g_strdup_printf (_ ("%u of %u configurations, about %s left"), done, n,
                          time);
}

static const char *
headline_of (QmBenchSession *session)
{
  switch (qm_bench_session_get_state (session))
    {
    case QM_BENCH_SESSION_RUNNING:
      return _ ("Measuring");
    case QM_BENCH_SESSION_STOPPING:
      return _ ("Stopping");
    case QM_BENCH_SESSION_PAUSED:
      return _ ("Paused");
    case QM_BENCH_SESSION_FINISHED:
      return _ ("The benchmark is done");
    case QM_BENCH_SESSION_FAILED:
      return _ ("The benchmark stopped");
    case QM_BENCH_SESSION_IDLE:
    case QM_BENCH_SESSION_ESTIMATING:
    case QM_BENCH_SESSION_READY:
    default:
      return NULL;
    }
}

static char *
describe_current (QmBenchSession *session)
{
  QmBenchRow *row = qm_bench_session_get_current (session);
  g_autofree char *method = NULL;

  if (row == NULL)
    return NULL;
  method = qm_bench_column_text (QM_BENCH_COLUMN_METHOD, row);
  if (qm_bench_row_get_micro_batch (row) <= 0)
    return g_strdup_printf ("%s, %s", qm_bench_row_get_title (row), method);
  /* Translators: model, method, a number of samples. */
  return g_strdup_printf (_ ("%s, %s, micro-batch %" G_GINT64_FORMAT),
                          qm_bench_row_get_title (row), method,
                          qm_bench_row_get_micro_batch (row));
}

static void
show_watch (QmMachinePage *self)
{
  QmBenchSession *session = self->session;
  QmBenchSessionState state = qm_bench_session_get_state (session);
  QmBenchRow *row = qm_bench_session_get_current (session);
  g_autofree char *left = describe_left (session);
  g_autofree char *current = describe_current (session);
  g_autofree char *sensors = describe_sensors (session);
  QmBenchWatched watched = {
    .headline = headline_of (session),
    .running = state == QM_BENCH_SESSION_RUNNING
               || state == QM_BENCH_SESSION_STOPPING
               || state == QM_BENCH_SESSION_PAUSED,
    .can_pause = state == QM_BENCH_SESSION_RUNNING,
    .can_continue =
        state == QM_BENCH_SESSION_PAUSED || state == QM_BENCH_SESSION_FAILED,
    .can_cancel =
        state == QM_BENCH_SESSION_RUNNING || state == QM_BENCH_SESSION_PAUSED,
    .overall = qm_bench_session_get_progress (session),
    .overall_text = left,
    .current = row != NULL ? qm_bench_row_get_progress (row) : 0,
    .current_text = current,
    .sensors = sensors,
    .failure = qm_bench_session_get_failure (session),
    .log = qm_bench_session_get_log (session),
  };

  qm_bench_watch_show (self->watch,
                       watched.headline != NULL || watched.failure != NULL
                           ? &watched
                           : NULL);
}

/* The actions. */

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
                                 state == QM_BENCH_SESSION_READY);
  gtk_widget_action_set_enabled (widget, "machine.pause", running);
  gtk_widget_action_set_enabled (widget, "machine.continue", stopped);
  gtk_widget_action_set_enabled (widget, "machine.cancel", running || stopped);
  gtk_widget_action_set_enabled (widget, "machine.save-table", n > 0);
  gtk_widget_action_set_enabled (widget, "machine.copy-table", n > 0);
  gtk_widget_action_set_enabled (widget, "machine.copy-row",
                                 qm_bench_table_get_selected (self->table)
                                     != NULL);
  qm_bench_setup_set_locked (self->setup,
                             qm_bench_session_is_busy (self->session));
}

static void
session_changed_cb (QmMachinePage *self)
{
  guint n =
      g_list_model_get_n_items (qm_bench_session_get_rows (self->session));

  show_watch (self);
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "table" : "empty");
  update_actions (self);
}

static void
setup_changed_cb (QmMachinePage *self)
{
  g_autofree const char **models = qm_bench_setup_get_models (self->setup);

  if (self->settings != NULL)
    g_settings_set_strv (self->settings, "bench-models", models);
  qm_bench_session_estimate (self->session,
                             qm_bench_setup_get_device (self->setup), models,
                             qm_bench_setup_get_methods (self->setup));
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

GtkWidget *
qm_machine_page_new (const QmCatalog *catalog,
                     QmLocalMachine *machine,
                     QmBenchSession *session,
                     GSettings *settings)
{
  QmMachinePage *self;
  g_auto (GStrv) chosen = NULL;

  g_return_val_if_fail (catalog != NULL, NULL);
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (machine), NULL);
  g_return_val_if_fail (QM_IS_BENCH_SESSION (session), NULL);

  self = g_object_new (QM_TYPE_MACHINE_PAGE, NULL);
  self->machine = g_object_ref (machine);
  self->session = g_object_ref (session);
  g_set_object (&self->settings, settings);
  if (settings != NULL)
    chosen = g_settings_get_strv (settings, "bench-models");
  qm_bench_table_set_rows (self->table, qm_bench_session_get_rows (session));
  g_signal_connect_object (session, "changed", G_CALLBACK (session_changed_cb),
                           self, G_CONNECT_SWAPPED);
  qm_bench_setup_open (self->setup, catalog, machine,
                       (const char *const *) chosen);
  session_changed_cb (self);
  return GTK_WIDGET (self);
}

static void
qm_machine_page_dispose (GObject *object)
{
  QmMachinePage *self = QM_MACHINE_PAGE (object);

  g_clear_object (&self->chooser);
  g_clear_object (&self->session);
  g_clear_object (&self->machine);
  g_clear_object (&self->settings);

  G_OBJECT_CLASS (qm_machine_page_parent_class)->dispose (object);
}

static void
install_actions (GtkWidgetClass *widget_class)
{
  static const struct
  {
    const char *name;
    GtkWidgetActionActivateFunc activate;
    guint key;
    GdkModifierType modifiers;
  } actions[] = {
    { "machine.start", start_cb, GDK_KEY_Return, GDK_CONTROL_MASK },
    { "machine.toggle", toggle_cb, GDK_KEY_p,
      GDK_CONTROL_MASK | GDK_SHIFT_MASK },
    { "machine.cancel", cancel_cb, GDK_KEY_x,
      GDK_CONTROL_MASK | GDK_SHIFT_MASK },
    { "machine.show-plots", show_plots_cb, GDK_KEY_g, GDK_CONTROL_MASK },
    { "machine.reload", reload_cb, GDK_KEY_F5, 0 },
    { "machine.pause", pause_cb, 0, 0 },
    { "machine.continue", continue_cb, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      gtk_widget_class_install_action (widget_class, actions[i].name, NULL,
                                       actions[i].activate);
      if (actions[i].key != 0)
        gtk_widget_class_add_binding_action (widget_class, actions[i].key,
                                             actions[i].modifiers,
                                             actions[i].name, NULL);
    }
  qm_machine_page_install_files (widget_class);
}

static void
qm_machine_page_class_init (QmMachinePageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const char *const names[N_SIGNALS] = { "show-plots", "imported" };

  G_OBJECT_CLASS (klass)->dispose = qm_machine_page_dispose;

  g_type_ensure (QM_TYPE_BENCH_SETUP);
  g_type_ensure (QM_TYPE_BENCH_TABLE);
  g_type_ensure (QM_TYPE_BENCH_WATCH);

  for (guint i = 0; i < N_SIGNALS; i++)
    signals[i] =
        g_signal_new (names[i], G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                      NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-machine-page.ui");
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, overlay);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, leaflet);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, setup);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage,
                                        back_button);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, watch);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, stack);
  gtk_widget_class_bind_template_child (widget_class, QmMachinePage, table);
  gtk_widget_class_bind_template_callback (widget_class, back_cb);
  gtk_widget_class_bind_template_callback (widget_class, folded_cb);
  gtk_widget_class_bind_template_callback (widget_class, setup_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, update_actions);
  install_actions (widget_class);
}

static void
qm_machine_page_init (QmMachinePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  folded_cb (self);
}
