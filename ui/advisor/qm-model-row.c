/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-model-row.h"

#include "data/flops.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmModelRow
{
  GtkListBoxRow parent_instance;

  GtkWidget *check;
  GtkWidget *name_label;
  GtkWidget *details_label;

  const QmModel *model;
  char *haystack; /* what a search looks through, case folded */
};

enum
{
  PROP_0,
  PROP_CHECKED,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmModelRow, qm_model_row, GTK_TYPE_LIST_BOX_ROW)

static GParamSpec *properties[N_PROPS];

GtkWidget *
qm_model_row_new (const QmModel *model)
{
  QmModelRow *self = g_object_new (QM_TYPE_MODEL_ROW, NULL);
  g_autofree char *text = NULL;
  g_autofree char *millions = NULL;
  g_autofree char *details = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  self->model = model;
  text = g_strjoin (" ", model->name, model->id,
                    qm_family_name (model->config.family), NULL);
  self->haystack = g_utf8_casefold (text, -1);

  millions =
      qm_format_number ((double) qm_parameter_count (&model->config) / 1e6, 0);
  /* Translators: the parameter is a number such as 410. */
  details = g_strdup_printf (_ ("%s million parameters"), millions);
  gtk_label_set_text (GTK_LABEL (self->name_label), model->name);
  gtk_label_set_text (GTK_LABEL (self->details_label), details);

  return GTK_WIDGET (self);
}

const QmModel *
qm_model_row_get_model (QmModelRow *self)
{
  g_return_val_if_fail (QM_IS_MODEL_ROW (self), NULL);

  return self->model;
}

gboolean
qm_model_row_get_checked (QmModelRow *self)
{
  g_return_val_if_fail (QM_IS_MODEL_ROW (self), FALSE);

  return gtk_check_button_get_active (GTK_CHECK_BUTTON (self->check));
}

void
qm_model_row_set_checked (QmModelRow *self, gboolean checked)
{
  g_return_if_fail (QM_IS_MODEL_ROW (self));

  gtk_check_button_set_active (GTK_CHECK_BUTTON (self->check), checked);
}

gboolean
qm_model_row_matches (QmModelRow *self, const char *query)
{
  g_autofree char *folded = NULL;
  g_auto (GStrv) words = NULL;

  g_return_val_if_fail (QM_IS_MODEL_ROW (self), FALSE);
  g_return_val_if_fail (query != NULL, FALSE);

  folded = g_utf8_casefold (query, -1);
  words = g_strsplit_set (folded, " \t", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (self->haystack, words[i]) == NULL)
      return FALSE;

  return TRUE;
}

static void
check_toggled_cb (QmModelRow *self)
{
  gtk_accessible_update_state (GTK_ACCESSIBLE (self),
                               GTK_ACCESSIBLE_STATE_CHECKED,
                               qm_model_row_get_checked (self)
                                   ? GTK_ACCESSIBLE_TRISTATE_TRUE
                                   : GTK_ACCESSIBLE_TRISTATE_FALSE,
                               -1);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CHECKED]);
}

static gboolean
toggle_cb (GtkWidget *widget, GVariant *args, gpointer user_data)
{
  QmModelRow *self = QM_MODEL_ROW (widget);

  qm_model_row_set_checked (self, !qm_model_row_get_checked (self));

  return TRUE;
}

static void
qm_model_row_finalize (GObject *object)
{
  QmModelRow *self = QM_MODEL_ROW (object);

  g_clear_pointer (&self->haystack, g_free);

  G_OBJECT_CLASS (qm_model_row_parent_class)->finalize (object);
}

static void
qm_model_row_get_property (GObject *object,
                           guint prop_id,
                           GValue *value,
                           GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_CHECKED:
      g_value_set_boolean (value,
                           qm_model_row_get_checked (QM_MODEL_ROW (object)));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_model_row_set_property (GObject *object,
                           guint prop_id,
                           const GValue *value,
                           GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_CHECKED:
      qm_model_row_set_checked (QM_MODEL_ROW (object),
                                g_value_get_boolean (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_model_row_class_init (QmModelRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = qm_model_row_finalize;
  object_class->get_property = qm_model_row_get_property;
  object_class->set_property = qm_model_row_set_property;

  properties[PROP_CHECKED] =
      g_param_spec_boolean ("checked", NULL, NULL, FALSE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gtk_widget_class_add_binding (widget_class, GDK_KEY_space, 0, toggle_cb,
                                NULL);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-model-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmModelRow, check);
  gtk_widget_class_bind_template_child (widget_class, QmModelRow, name_label);
  gtk_widget_class_bind_template_child (widget_class, QmModelRow,
                                        details_label);
  gtk_widget_class_bind_template_callback (widget_class, check_toggled_cb);
}

static void
qm_model_row_init (QmModelRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
