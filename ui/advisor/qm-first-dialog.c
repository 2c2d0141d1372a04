/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-first-dialog.h"

#include "ui/advisor/qm-model-picker.h"
#include "ui/qm-dialog.h"
#include "ui/qm-log-scale.h"

struct _QmFirstDialog
{
  AdwMessageDialog parent_instance;

  QmModelPicker *model_picker;
  QmLogScale *budget_scale;
  QmLogScale *deadline_scale;

  QmAdvisor *advisor;
};

G_DEFINE_FINAL_TYPE (QmFirstDialog, qm_first_dialog, ADW_TYPE_MESSAGE_DIALOG)

static void
list_models (QmFirstDialog *self)
{
  g_auto (GStrv) models = NULL;

  g_object_get (self->advisor, "models", &models, NULL);
  qm_model_picker_set_catalog (self->model_picker,
                               qm_advisor_get_catalog (self->advisor),
                               (const char *const *) models);
}

GtkWidget *
qm_first_dialog_new (GtkWindow *parent, QmAdvisor *advisor)
{
  QmFirstDialog *self;
  const QmPurse *purse;
  double budget, deadline, scale;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_FIRST_DIALOG, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->advisor = g_object_ref (advisor);
  list_models (self);
  g_object_get (advisor, "budget", &budget, "deadline", &deadline, NULL);
  purse = qm_advisor_get_purse (advisor);
  scale = qm_purse_scale (purse);
  g_object_set (self->budget_scale, "upper", QM_BUDGET_MAX * scale, "lower",
                QM_BUDGET_MIN * scale, "default-value", budget, "currency",
                purse->currency, "value", budget, NULL);
  g_object_set (self->deadline_scale, "upper", QM_DEADLINE_MAX, "lower",
                QM_DEADLINE_MIN, "default-value", deadline, "value", deadline,
                NULL);
  return GTK_WIDGET (self);
}

void
qm_first_dialog_set_advisor (QmFirstDialog *self, QmAdvisor *advisor)
{
  g_auto (GStrv) chosen = NULL;

  g_return_if_fail (QM_IS_FIRST_DIALOG (self));
  g_return_if_fail (QM_IS_ADVISOR (advisor));

  g_object_get (self->model_picker, "selected", &chosen, NULL);
  g_set_object (&self->advisor, advisor);
  list_models (self);
  qm_model_picker_set_selected (self->model_picker,
                                (const char *const *) chosen);
}

static void
qm_first_dialog_response (AdwMessageDialog *dialog, const char *response)
{
  QmFirstDialog *self = QM_FIRST_DIALOG (dialog);
  g_auto (GStrv) models = NULL;
  double budget, deadline;

  if (g_strcmp0 (response, "advise") != 0)
    return;
  g_object_get (self->model_picker, "selected", &models, NULL);
  g_object_get (self->budget_scale, "value", &budget, NULL);
  g_object_get (self->deadline_scale, "value", &deadline, NULL);
  g_object_set (self->advisor, "models", models, "budget", budget, "deadline",
                deadline, NULL);
}

static void
qm_first_dialog_dispose (GObject *object)
{
  g_clear_object (&QM_FIRST_DIALOG (object)->advisor);

  G_OBJECT_CLASS (qm_first_dialog_parent_class)->dispose (object);
}

static void
qm_first_dialog_class_init (QmFirstDialogClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_first_dialog_dispose;
  ADW_MESSAGE_DIALOG_CLASS (klass)->response = qm_first_dialog_response;

  g_type_ensure (QM_TYPE_MODEL_PICKER);
  g_type_ensure (QM_TYPE_LOG_SCALE);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-first-dialog.ui");
  gtk_widget_class_bind_template_child (widget_class, QmFirstDialog,
                                        model_picker);
  gtk_widget_class_bind_template_child (widget_class, QmFirstDialog,
                                        budget_scale);
  gtk_widget_class_bind_template_child (widget_class, QmFirstDialog,
                                        deadline_scale);
}

static void
qm_first_dialog_init (QmFirstDialog *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
