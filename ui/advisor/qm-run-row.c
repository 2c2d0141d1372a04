/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-run-row.h"

#include "ui/advisor/qm-models.h"
#include "ui/qm-input.h"

#include <string.h>

struct _QmRunRow
{
  AdwPreferencesRow parent_instance;

  GtkWidget *model_drop_down;
  GtkWidget *runs_spin;

  GPtrArray *models; /* of const QmModel, as the drop-down lists them */
  gboolean updating;
};

enum
{
  CHANGED,
  REMOVED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmRunRow, qm_run_row, ADW_TYPE_PREFERENCES_ROW)

static guint signals[N_SIGNALS];

GtkWidget *
qm_run_row_new (const QmCatalog *catalog)
{
  QmRunRow *self = g_object_new (QM_TYPE_RUN_ROW, NULL);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  g_return_val_if_fail (catalog != NULL, NULL);

  self->updating = TRUE;
  self->models = qm_models_sorted (catalog);
  for (guint i = 0; i < self->models->len; i++)
    {
      const QmModel *model = self->models->pdata[i];

      gtk_string_list_append (names, model->name);
    }
  gtk_drop_down_set_model (GTK_DROP_DOWN (self->model_drop_down),
                           G_LIST_MODEL (names));
  self->updating = FALSE;

  return GTK_WIDGET (self);
}

const char *
qm_run_row_get_model (QmRunRow *self)
{
  guint selected;

  g_return_val_if_fail (QM_IS_RUN_ROW (self), NULL);

  selected = gtk_drop_down_get_selected (GTK_DROP_DOWN (self->model_drop_down));
  g_return_val_if_fail (selected < self->models->len, NULL);

  return ((const QmModel *) self->models->pdata[selected])->id;
}

double
qm_run_row_get_runs_per_year (QmRunRow *self)
{
  g_return_val_if_fail (QM_IS_RUN_ROW (self), 0);

  return gtk_spin_button_get_value (GTK_SPIN_BUTTON (self->runs_spin));
}

void
qm_run_row_set (QmRunRow *self, const char *model, double runs_per_year)
{
  g_return_if_fail (QM_IS_RUN_ROW (self));
  g_return_if_fail (model != NULL);

  self->updating = TRUE;
  for (guint i = 0; i < self->models->len; i++)
    if (strcmp (((const QmModel *) self->models->pdata[i])->id, model) == 0)
      gtk_drop_down_set_selected (GTK_DROP_DOWN (self->model_drop_down), i);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->runs_spin), runs_per_year);
  self->updating = FALSE;
}

static void
model_changed_cb (QmRunRow *self)
{
  if (!self->updating)
    g_signal_emit (self, signals[CHANGED], 0);
}

static void
runs_changed_cb (QmRunRow *self)
{
  if (!self->updating)
    g_signal_emit (self, signals[CHANGED], 0);
}

static void
remove_run_cb (QmRunRow *self)
{
  g_signal_emit (self, signals[REMOVED], 0);
}

static void
qm_run_row_finalize (GObject *object)
{
  QmRunRow *self = QM_RUN_ROW (object);

  g_clear_pointer (&self->models, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_run_row_parent_class)->finalize (object);
}

static void
qm_run_row_class_init (QmRunRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = qm_run_row_finalize;

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[REMOVED] =
      g_signal_new ("removed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-run-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmRunRow,
                                        model_drop_down);
  gtk_widget_class_bind_template_child (widget_class, QmRunRow, runs_spin);
  gtk_widget_class_bind_template_callback (widget_class, model_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, runs_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, remove_run_cb);
}

static void
qm_run_row_init (QmRunRow *self)
{
  self->updating = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  self->updating = FALSE;
  qm_input_ignore_wheel (self->runs_spin);
  qm_input_short_numbers (GTK_SPIN_BUTTON (self->runs_spin));
}
