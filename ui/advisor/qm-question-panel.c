/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-question-panel.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/advisor/qm-filter-group.h"
#include "ui/advisor/qm-model-picker.h"
#include "ui/advisor/qm-money-group.h"
#include "ui/advisor/qm-portfolio-editor.h"
#include "ui/advisor/qm-uses-editor.h"
#include "ui/qm-choice-row.h"
#include "ui/qm-input.h"
#include "ui/qm-list-row.h"
#include "ui/qm-log-scale.h"

#include <glib/gi18n-lib.h>
#include <math.h>

struct _QmQuestionPanel
{
  AdwBin parent_instance;

  QmModelPicker *model_picker;
  QmLogScale *budget_scale;
  QmLogScale *deadline_scale;
  GtkWidget *run_deadline_scale;
  QmMoneyGroup *money_group;
  QmFilterGroup *filter_group;
  QmListRow *times_of_row;
  GtkWidget *predictions_row;
  QmListRow *settings_row;
  GtkWidget *prices_row;
  GtkWidget *paper_switch;
  GtkWidget *room_row;
  GtkLabel *room_title;
  GtkDropDown *room_list;
  GtkLabel *room_note;
  GtkWidget *room_reset;
  GtkWidget *expired_row;
  GtkWidget *total_cost_row;
  GtkWidget *lifetime_row;
  GtkWidget *factor_row;
  GtkWidget *factor_reset;
  GtkWidget *factor_spin;
  GtkAdjustment *factor_adjustment;
  GtkWidget *slack_row;
  GtkWidget *slack_reset;
  GtkWidget *slack_spin;
  GtkAdjustment *slack_adjustment;
  GtkWidget *expired_switch;
  GtkWidget *total_cost_switch;
  GtkWidget *lifetime_reset;
  GtkWidget *lifetime_spin;
  GtkAdjustment *lifetime_adjustment;
  QmUsesEditor *uses_editor;
  QmPortfolioEditor *portfolio_editor;

  QmAdvisor *advisor;
  double money_scale; /* of the budget's range */
};

G_DEFINE_FINAL_TYPE (QmQuestionPanel, qm_question_panel, ADW_TYPE_BIN)

void
qm_question_panel_search_model (QmQuestionPanel *self)
{
  g_return_if_fail (QM_IS_QUESTION_PANEL (self));

  if (gtk_widget_is_sensitive (GTK_WIDGET (self->model_picker)))
    qm_model_picker_open (self->model_picker);
}

void
qm_question_panel_focus_budget (QmQuestionPanel *self)
{
  g_return_if_fail (QM_IS_QUESTION_PANEL (self));

  qm_log_scale_focus (self->budget_scale);
}

static double
default_number (QmAdvisor *advisor, const char *property)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (advisor), property);

  return G_PARAM_SPEC_DOUBLE (pspec)->default_value;
}

static void
lifetime_changed_cb (QmQuestionPanel *self)
{
  double lifetime;

  g_object_get (self->advisor, "lifetime", &lifetime, NULL);
  gtk_widget_set_visible (self->lifetime_reset,
                          lifetime
                              != default_number (self->advisor, "lifetime"));
}

static void
reset_lifetime_cb (QmQuestionPanel *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->lifetime_reset))
    gtk_widget_grab_focus (self->lifetime_spin);
  g_object_set (self->advisor, "lifetime",
                default_number (self->advisor, "lifetime"), NULL);
}

static void
factor_changed_cb (QmQuestionPanel *self)
{
  double factor;

  g_object_get (self->advisor, "time-factor", &factor, NULL);
  gtk_widget_set_visible (self->factor_reset,
                          factor
                              != default_number (self->advisor, "time-factor"));
}

static void
reset_factor_cb (QmQuestionPanel *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->factor_reset))
    gtk_widget_grab_focus (self->factor_spin);
  g_object_set (self->advisor, "time-factor",
                default_number (self->advisor, "time-factor"), NULL);
}

static void
slack_changed_cb (QmQuestionPanel *self)
{
  double slack;

  g_object_get (self->advisor, "slack", &slack, NULL);
  gtk_widget_set_visible (self->slack_reset,
                          slack != default_number (self->advisor, "slack"));
}

static void
reset_slack_cb (QmQuestionPanel *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->slack_reset))
    gtk_widget_grab_focus (self->slack_spin);
  g_object_set (self->advisor, "slack", default_number (self->advisor, "slack"),
                NULL);
}

static int
default_room (QmAdvisor *advisor)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (advisor), "room");

  return G_PARAM_SPEC_INT (pspec)->default_value;
}

static void
room_changed_cb (QmQuestionPanel *self)
{
  int room;
  double watts;
  g_autofree char *note = NULL;

  g_object_get (self->advisor, "room", &room, NULL);
  watts = qm_room_watts ((QmRoom) room);
  if (isfinite (watts))
    {
      g_autofree char *kilowatts = qm_format_number (watts / 1000, 1);

      /* Translators: a number of kW. */
      note = g_strdup_printf (_ ("What draws more than %s kW is not offered"),
                              kilowatts);
    }
  else
    note = g_strdup (_ ("Nothing draws too much"));
  gtk_label_set_text (self->room_note, note);
  gtk_widget_set_visible (self->room_reset,
                          room != default_room (self->advisor));
  qm_input_name_drop_down (
      self->room_list, gtk_label_get_text (self->room_title),
      gtk_string_object_get_string (
          gtk_drop_down_get_selected_item (self->room_list)));
}

static void
reset_room_cb (QmQuestionPanel *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->room_reset))
    gtk_widget_grab_focus (GTK_WIDGET (self->room_list));
  g_object_set (self->advisor, "room", default_room (self->advisor), NULL);
}

static void
set_up_models (QmQuestionPanel *self)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (self->advisor);
  g_autoptr (QmAdvisor) pristine = qm_advisor_new (catalog);
  g_auto (GStrv) defaults = NULL;

  g_object_get (pristine, "models", &defaults, NULL);
  qm_model_picker_set_catalog (self->model_picker, catalog,
                               (const char *const *) defaults);
  g_object_bind_property (self->advisor, "models", self->model_picker,
                          "selected",
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  /* A portfolio names its own models. */
  g_object_bind_property (self->advisor, "portfolio", self->model_picker,
                          "sensitive",
                          G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
}

static void
bind (QmQuestionPanel *self,
      const char *property,
      gpointer widget,
      const char *widget_property)
{
  g_object_bind_property (self->advisor, property, widget, widget_property,
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
}

/* Which software the times are of. */
static void
set_up_times (QmQuestionPanel *self)
{
  const QmListChoice times_of[] = {
    { QM_TIMES_OF_PYTORCH, qm_prose_times_of_name (QM_TIMES_OF_PYTORCH),
      _ ("Measured or reported with it, or predicted for it") },
    { QM_TIMES_OF_QUARTERMASTER,
      qm_prose_times_of_name (QM_TIMES_OF_QUARTERMASTER),
      _ ("Measured with its own engine, or predicted for it") },
  };
  const QmListChoice settings[] = {
    { QM_SETTINGS_OPTIMAL, _ ("Optimal"),
      _ ("The best of all training methods on each machine, PyTorch compiled "
         "with fused attention") },
    { QM_SETTINGS_EAGER, _ ("Usual (eager)"),
      _ ("As most people train today: PyTorch in mixed precision with fused "
         "attention, not compiled") },
    { QM_SETTINGS_NAIVE, _ ("Naive"),
      _ ("Training off the shelf, without any tuning") },
  };

  qm_list_row_set_choices (self->times_of_row, times_of,
                           G_N_ELEMENTS (times_of));
  qm_list_row_set_choices (self->settings_row, settings,
                           G_N_ELEMENTS (settings));
  bind (self, "times-of", self->times_of_row, "value");
  bind (self, "settings", self->settings_row, "value");
}

static void
set_up_room (QmQuestionPanel *self)
{
  bind (self, "room", self->room_list, "selected");
  qm_input_name_reset (self->room_reset, gtk_label_get_text (self->room_title));
  g_signal_connect_object (self->advisor, "notify::room",
                           G_CALLBACK (room_changed_cb), self,
                           G_CONNECT_SWAPPED);
  room_changed_cb (self);
}

/* What the paper answers by itself. */
static void
set_up_paper (QmQuestionPanel *self)
{
  GtkWidget *const rows[] = { GTK_WIDGET (self->times_of_row),
                              self->predictions_row,
                              self->prices_row,
                              self->room_row,
                              self->expired_row,
                              self->total_cost_row,
                              self->lifetime_row,
                              self->factor_row,
                              self->slack_row,
                              GTK_WIDGET (self->money_group) };

  bind (self, "as-in-paper", self->paper_switch, "active");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_object_bind_property (self->advisor, "as-in-paper", rows[i], "sensitive",
                            G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
}

/* The budget's range is that of a currency of such units; a budget becomes one
 * of about the same size. */
static void
currency_changed_cb (QmQuestionPanel *self)
{
  const QmPurse *purse = qm_advisor_get_purse (self->advisor);
  double scale = qm_purse_scale (purse);
  double before = self->money_scale;
  double budget;

  g_object_get (self->advisor, "budget", &budget, NULL);
  self->money_scale = scale;
  g_object_set (self->budget_scale, "lower",
                MIN (QM_BUDGET_MIN * scale, QM_BUDGET_MIN * before), "upper",
                MAX (QM_BUDGET_MAX * scale, QM_BUDGET_MAX * before), NULL);
  if (scale != before)
    g_object_set (self->advisor, "budget", budget / before * scale, NULL);
  g_object_set (self->budget_scale, "lower", QM_BUDGET_MIN * scale, "upper",
                QM_BUDGET_MAX * scale, "default-value",
                default_number (self->advisor, "budget") * scale, "currency",
                purse->currency, NULL);
}

/* A year's runs have a deadline each, and one of all. */
static void
portfolio_changed_cb (QmQuestionPanel *self)
{
  gboolean portfolio;

  g_object_get (self->advisor, "portfolio", &portfolio, NULL);
  gtk_widget_set_visible (self->run_deadline_scale, portfolio);
}

static void
set_up_limits (QmQuestionPanel *self)
{
  self->money_scale = qm_purse_scale (qm_advisor_get_purse (self->advisor));
  currency_changed_cb (self);
  g_object_set (self->deadline_scale, "lower", QM_DEADLINE_MIN, "upper",
                QM_DEADLINE_MAX, "default-value",
                default_number (self->advisor, "deadline"), NULL);
  g_object_set (self->run_deadline_scale, "lower", QM_DEADLINE_MIN, "upper",
                QM_DEADLINE_MAX, "default-value",
                default_number (self->advisor, "run-deadline"), NULL);
  bind (self, "budget", self->budget_scale, "value");
  bind (self, "deadline", self->deadline_scale, "value");
  bind (self, "run-deadline", self->run_deadline_scale, "value");
  g_signal_connect_object (self->advisor, "notify::currency",
                           G_CALLBACK (currency_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->advisor, "notify::portfolio",
                           G_CALLBACK (portfolio_changed_cb), self,
                           G_CONNECT_SWAPPED);
  portfolio_changed_cb (self);
}

GtkWidget *
qm_question_panel_new (QmAdvisor *advisor)
{
  QmQuestionPanel *self;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_QUESTION_PANEL, NULL);
  self->advisor = g_object_ref (advisor);
  set_up_models (self);
  qm_filter_group_set_advisor (self->filter_group, self->advisor);
  qm_uses_editor_set_advisor (self->uses_editor, self->advisor);
  qm_portfolio_editor_set_advisor (self->portfolio_editor, self->advisor);

  qm_money_group_set_advisor (self->money_group, self->advisor);
  set_up_limits (self);
  bind (self, "measured-only", self->predictions_row, "second");
  bind (self, "any-price", self->prices_row, "second");
  bind (self, "expired-quotes", self->expired_switch, "active");
  bind (self, "total-cost", self->total_cost_switch, "active");
  bind (self, "lifetime", self->lifetime_adjustment, "value");
  bind (self, "time-factor", self->factor_adjustment, "value");
  bind (self, "slack", self->slack_adjustment, "value");
  set_up_times (self);
  set_up_room (self);
  set_up_paper (self);

  g_signal_connect_object (self->advisor, "notify::lifetime",
                           G_CALLBACK (lifetime_changed_cb), self,
                           G_CONNECT_SWAPPED);
  lifetime_changed_cb (self);
  g_signal_connect_object (self->advisor, "notify::time-factor",
                           G_CALLBACK (factor_changed_cb), self,
                           G_CONNECT_SWAPPED);
  factor_changed_cb (self);
  g_signal_connect_object (self->advisor, "notify::slack",
                           G_CALLBACK (slack_changed_cb), self,
                           G_CONNECT_SWAPPED);
  slack_changed_cb (self);
  return GTK_WIDGET (self);
}

static void
qm_question_panel_dispose (GObject *object)
{
  QmQuestionPanel *self = QM_QUESTION_PANEL (object);

  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_question_panel_parent_class)->dispose (object);
}

static void
bind_question_panel (GtkWidgetClass *widget_class)
{
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmQuestionPanel, name)
  BIND (model_picker);
  BIND (budget_scale);
  BIND (deadline_scale);
  BIND (run_deadline_scale);
  BIND (money_group);
  BIND (filter_group);
  BIND (times_of_row);
  BIND (predictions_row);
  BIND (settings_row);
  BIND (prices_row);
  BIND (paper_switch);
  BIND (room_row);
  BIND (room_title);
  BIND (room_list);
  BIND (room_note);
  BIND (room_reset);
  BIND (expired_row);
  BIND (total_cost_row);
  BIND (lifetime_row);
  BIND (expired_switch);
  BIND (total_cost_switch);
  BIND (lifetime_reset);
  BIND (lifetime_spin);
  BIND (lifetime_adjustment);
  BIND (factor_row);
  BIND (factor_reset);
  BIND (factor_spin);
  BIND (factor_adjustment);
  BIND (slack_row);
  BIND (slack_reset);
  BIND (slack_spin);
  BIND (slack_adjustment);
  BIND (uses_editor);
  BIND (portfolio_editor);
#undef BIND
}

static void
qm_question_panel_class_init (QmQuestionPanelClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_question_panel_dispose;

  g_type_ensure (QM_TYPE_CHOICE_ROW);
  g_type_ensure (QM_TYPE_FILTER_GROUP);
  g_type_ensure (QM_TYPE_LIST_ROW);
  g_type_ensure (QM_TYPE_LOG_SCALE);
  g_type_ensure (QM_TYPE_MODEL_PICKER);
  g_type_ensure (QM_TYPE_MONEY_GROUP);
  g_type_ensure (QM_TYPE_PORTFOLIO_EDITOR);
  g_type_ensure (QM_TYPE_USES_EDITOR);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-question-panel.ui");
  bind_question_panel (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, reset_factor_cb);
  gtk_widget_class_bind_template_callback (widget_class, reset_slack_cb);
  gtk_widget_class_bind_template_callback (widget_class, reset_lifetime_cb);
  gtk_widget_class_bind_template_callback (widget_class, reset_room_cb);
}

static void
qm_question_panel_init (QmQuestionPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_input_ignore_wheel (self->lifetime_spin);
  qm_input_short_numbers (GTK_SPIN_BUTTON (self->lifetime_spin));
  qm_input_ignore_wheel (self->factor_spin);
  qm_input_short_numbers (GTK_SPIN_BUTTON (self->factor_spin));
  qm_input_ignore_wheel (self->slack_spin);
  qm_input_short_numbers (GTK_SPIN_BUTTON (self->slack_spin));
}
