/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-portfolio-editor.h"

#include "ui/advisor/qm-models.h"
#include "ui/advisor/qm-run-row.h"
#include "ui/qm-input.h"

#include <string.h>

#define DEFAULT_RUNS_PER_YEAR 10.0

struct _QmPortfolioEditor
{
  AdwPreferencesGroup parent_instance;

  GtkWidget *reset_button;
  GtkWidget *toggle_row;
  GtkWidget *toggle;
  GtkWidget *add_row;
  GtkWidget *at_once_row;
  GtkWidget *at_once_spin;
  GtkAdjustment *at_once_adjustment;

  QmAdvisor *advisor;
  GPtrArray *rows;   /* of QmRunRow, as the advisor's runs */
  gboolean updating; /* the switch is being set from the advisor */
};

G_DEFINE_FINAL_TYPE (QmPortfolioEditor,
                     qm_portfolio_editor,
                     ADW_TYPE_PREFERENCES_GROUP)

static void sync_rows (QmPortfolioEditor *self);

static void
sync_reset (QmPortfolioEditor *self)
{
  gboolean portfolio;
  int at_once;

  g_object_get (self->advisor, "portfolio", &portfolio, "at-once", &at_once,
                NULL);
  gtk_widget_set_visible (self->reset_button,
                          portfolio || at_once != 1
                              || qm_advisor_get_n_runs (self->advisor) > 0);
}

/* What is in no window cannot have the focus, and GTK 4.18 complains of it. */
static gboolean
in_window (QmPortfolioEditor *self)
{
  return gtk_widget_get_root (GTK_WIDGET (self)) != NULL;
}

static void
run_changed_cb (QmPortfolioEditor *self, QmRunRow *row)
{
  guint index;

  if (g_ptr_array_find (self->rows, row, &index))
    qm_advisor_set_run (self->advisor, index, qm_run_row_get_model (row),
                        qm_run_row_get_runs_per_year (row));
}

static void
run_removed_cb (QmPortfolioEditor *self, QmRunRow *row)
{
  guint index;

  if (!g_ptr_array_find (self->rows, row, &index))
    return;

  if (in_window (self))
    gtk_widget_grab_focus (self->toggle);
  g_ptr_array_remove_index (self->rows, index);
  adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self), GTK_WIDGET (row));
  qm_advisor_remove_run (self->advisor, index);
  if (self->rows->len == 0)
    g_object_set (self->advisor, "portfolio", FALSE, NULL);
  sync_rows (self);
}

/* A group can only add rows at its end, so those below move again. */
static void
append_row (QmPortfolioEditor *self)
{
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);
  GtkWidget *row = qm_run_row_new (qm_advisor_get_catalog (self->advisor));
  GtkWidget *below[] = { self->add_row, self->at_once_row };

  g_signal_connect_object (row, "changed", G_CALLBACK (run_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (row, "removed", G_CALLBACK (run_removed_cb), self,
                           G_CONNECT_SWAPPED);
  g_object_bind_property (self->toggle, "active", row, "visible",
                          G_BINDING_SYNC_CREATE);
  g_ptr_array_add (self->rows, row);

  adw_preferences_group_add (group, row);
  for (guint i = 0; i < G_N_ELEMENTS (below); i++)
    {
      g_object_ref (below[i]);
      adw_preferences_group_remove (group, below[i]);
      adw_preferences_group_add (group, below[i]);
      g_object_unref (below[i]);
    }
}

/* Rows that are right already stay as they are, with focus and all. */
static void
sync_rows (QmPortfolioEditor *self)
{
  guint n = qm_advisor_get_n_runs (self->advisor);

  while (self->rows->len > n)
    {
      GtkWidget *row =
          g_ptr_array_steal_index (self->rows, self->rows->len - 1);

      adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self), row);
    }
  while (self->rows->len < n)
    append_row (self);

  for (guint i = 0; i < n; i++)
    {
      QmRunRow *row = self->rows->pdata[i];
      double runs;
      const char *model = qm_advisor_get_run (self->advisor, i, &runs);

      if (strcmp (model, qm_run_row_get_model (row)) != 0
          || runs != qm_run_row_get_runs_per_year (row))
        qm_run_row_set (row, model, runs);
    }
  sync_reset (self);
}

static gboolean
has_run_of (QmPortfolioEditor *self, const char *model)
{
  for (guint i = 0; i < qm_advisor_get_n_runs (self->advisor); i++)
    if (strcmp (qm_advisor_get_run (self->advisor, i, NULL), model) == 0)
      return TRUE;

  return FALSE;
}

static void
add_chosen_models (QmPortfolioEditor *self)
{
  g_auto (GStrv) models = NULL;

  g_object_get (self->advisor, "models", &models, NULL);
  for (guint i = 0; models[i] != NULL; i++)
    qm_advisor_add_run (self->advisor, models[i], DEFAULT_RUNS_PER_YEAR);
}

static void
portfolio_changed_cb (QmPortfolioEditor *self)
{
  gboolean portfolio;

  g_object_get (self->advisor, "portfolio", &portfolio, NULL);
  self->updating = TRUE;
  gtk_switch_set_active (GTK_SWITCH (self->toggle), portfolio);
  self->updating = FALSE;
  sync_rows (self);
}

static void
toggle_changed_cb (QmPortfolioEditor *self)
{
  gboolean active = gtk_switch_get_active (GTK_SWITCH (self->toggle));

  if (self->updating)
    return;

  if (active && qm_advisor_get_n_runs (self->advisor) == 0)
    add_chosen_models (self);
  g_object_set (self->advisor, "portfolio", active, NULL);
  sync_rows (self);
}

/* Adds the first model of the list that has no line yet. */
static void
add_cb (QmPortfolioEditor *self)
{
  g_autoptr (GPtrArray) models =
      qm_models_sorted (qm_advisor_get_catalog (self->advisor));
  const QmModel *choice = models->pdata[0];

  for (guint i = 0; i < models->len; i++)
    {
      const QmModel *model = models->pdata[i];

      if (!has_run_of (self, model->id))
        {
          choice = model;
          break;
        }
    }

  qm_advisor_add_run (self->advisor, choice->id, DEFAULT_RUNS_PER_YEAR);
  sync_rows (self);
  if (in_window (self))
    gtk_widget_child_focus (self->rows->pdata[self->rows->len - 1],
                            GTK_DIR_TAB_FORWARD);
}

static void
portfolio_reset_cb (QmPortfolioEditor *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (self->toggle);

  g_object_set (self->advisor, "portfolio", FALSE, "at-once", 1, NULL);
  while (qm_advisor_get_n_runs (self->advisor) > 0)
    qm_advisor_remove_run (self->advisor, 0);
  sync_rows (self);
}

void
qm_portfolio_editor_set_advisor (QmPortfolioEditor *self, QmAdvisor *advisor)
{
  GParamSpec *at_once;

  g_return_if_fail (QM_IS_PORTFOLIO_EDITOR (self));
  g_return_if_fail (QM_IS_ADVISOR (advisor));
  g_return_if_fail (self->advisor == NULL);

  self->advisor = g_object_ref (advisor);

  at_once =
      g_object_class_find_property (G_OBJECT_GET_CLASS (advisor), "at-once");
  gtk_adjustment_set_upper (self->at_once_adjustment,
                            G_PARAM_SPEC_INT (at_once)->maximum);
  g_object_bind_property (advisor, "at-once", self->at_once_adjustment, "value",
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  g_signal_connect_object (advisor, "notify::at-once", G_CALLBACK (sync_reset),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "notify::portfolio",
                           G_CALLBACK (portfolio_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (sync_rows), self,
                           G_CONNECT_SWAPPED);
  portfolio_changed_cb (self);
}

static void
qm_portfolio_editor_dispose (GObject *object)
{
  QmPortfolioEditor *self = QM_PORTFOLIO_EDITOR (object);

  g_ptr_array_set_size (self->rows, 0);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_portfolio_editor_parent_class)->dispose (object);
}

static void
qm_portfolio_editor_finalize (GObject *object)
{
  QmPortfolioEditor *self = QM_PORTFOLIO_EDITOR (object);

  g_clear_pointer (&self->rows, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_portfolio_editor_parent_class)->finalize (object);
}

static void
qm_portfolio_editor_class_init (QmPortfolioEditorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_portfolio_editor_dispose;
  object_class->finalize = qm_portfolio_editor_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-portfolio-editor.ui");
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        toggle_row);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        toggle);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        add_row);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        at_once_row);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        at_once_spin);
  gtk_widget_class_bind_template_child (widget_class, QmPortfolioEditor,
                                        at_once_adjustment);
  gtk_widget_class_bind_template_callback (widget_class, toggle_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, add_cb);
  gtk_widget_class_bind_template_callback (widget_class, portfolio_reset_cb);
}

static void
qm_portfolio_editor_init (QmPortfolioEditor *self)
{
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_input_ignore_wheel (self->at_once_spin);
}
