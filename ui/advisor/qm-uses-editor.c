/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-uses-editor.h"

#include "ui/advisor/qm-use-row.h"

#include <math.h>
#include <string.h>

struct _QmUsesEditor
{
  AdwPreferencesGroup parent_instance;

  GtkWidget *reset_button;
  GtkWidget *add_row;

  QmAdvisor *advisor;
  GPtrArray *rows; /* of QmUseRow, as the advisor's uses */
};

G_DEFINE_FINAL_TYPE (QmUsesEditor, qm_uses_editor, ADW_TYPE_PREFERENCES_GROUP)

static void
sync_actions (QmUsesEditor *self)
{
  guint n = qm_advisor_get_n_uses (self->advisor);

  gtk_widget_set_visible (self->reset_button, n > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "uses.reset", n > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "uses.add",
                                 n < QM_USES_MAX);
}

/* What is in no window cannot have the focus, and GTK 4.18 complains of it. */
static gboolean
in_window (QmUsesEditor *self)
{
  return gtk_widget_get_root (GTK_WIDGET (self)) != NULL;
}

static void
use_changed_cb (QmUsesEditor *self, QmUseRow *row)
{
  guint index;
  QmUse use;

  if (!g_ptr_array_find (self->rows, row, &index))
    return;
  qm_use_row_get (row, &use);
  qm_advisor_set_use (self->advisor, index, &use);
}

static void
use_removed_cb (QmUsesEditor *self, QmUseRow *row)
{
  g_autoptr (QmUseRow) kept = g_object_ref (row);
  guint index;

  if (!g_ptr_array_find (self->rows, row, &index))
    return;

  qm_advisor_remove_use (self->advisor, index);
  g_ptr_array_remove_index (self->rows, index);
  sync_actions (self);
  if (in_window (self))
    gtk_widget_grab_focus (self->add_row);
  adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self),
                                GTK_WIDGET (kept));
}

/* A group can only add rows at its end, so the one below moves again. */
static void
append_row (QmUsesEditor *self)
{
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);
  GtkWidget *row = qm_use_row_new (qm_advisor_get_catalog (self->advisor));

  g_signal_connect_object (row, "changed", G_CALLBACK (use_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (row, "removed", G_CALLBACK (use_removed_cb), self,
                           G_CONNECT_SWAPPED);
  g_ptr_array_add (self->rows, row);

  adw_preferences_group_add (group, row);
  g_object_ref (self->add_row);
  adw_preferences_group_remove (group, self->add_row);
  adw_preferences_group_add (group, self->add_row);
  g_object_unref (self->add_row);
}

/* Rows that are right already stay as they are, with focus and all. */
static void
sync_rows (QmUsesEditor *self)
{
  guint n = qm_advisor_get_n_uses (self->advisor);

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
      const QmUse *use = qm_advisor_get_use (self->advisor, i);
      QmUse shown;

      qm_use_row_get (self->rows->pdata[i], &shown);
      if (!qm_use_equal (use, &shown))
        qm_use_row_set (self->rows->pdata[i], use);
    }
  sync_actions (self);
}

static void
uses_rebuilt_cb (QmUsesEditor *self)
{
  sync_rows (self);
  for (guint i = 0; i < self->rows->len; i++)
    qm_use_row_set_has_time (self->rows->pdata[i],
                             qm_advisor_use_has_time (self->advisor, i));
}

static gboolean
has_use_of (QmUsesEditor *self, const char *gpu)
{
  for (guint i = 0; i < qm_advisor_get_n_uses (self->advisor); i++)
    if (strcmp (qm_advisor_get_use (self->advisor, i)->gpu, gpu) == 0)
      return TRUE;

  return FALSE;
}

/* The first GPU that has no line yet, of those that something is known of if
 * there are any. */
static const QmGpu *
next_gpu (QmUsesEditor *self)
{
  size_t n;
  const QmGpu *gpus =
      qm_catalog_gpus (qm_advisor_get_catalog (self->advisor), &n);
  const QmGpu *next = NULL;

  for (size_t i = 0; i < n; i++)
    {
      if (has_use_of (self, gpus[i].id))
        continue;
      if (qm_advisor_has_gpu (self->advisor, gpus[i].id))
        return &gpus[i];
      if (next == NULL)
        next = &gpus[i];
    }
  return next != NULL ? next : &gpus[0];
}

static void
add_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmUsesEditor *self = QM_USES_EDITOR (widget);
  QmUse use = { .gpu = (char *) next_gpu (self)->id,
                .gpus = 1,
                .walltime_hours = NAN };

  qm_advisor_add_use (self->advisor, &use);
  sync_rows (self);
  if (in_window (self))
    gtk_widget_child_focus (self->rows->pdata[self->rows->len - 1],
                            GTK_DIR_TAB_FORWARD);
}

static void
uses_reset_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmUsesEditor *self = QM_USES_EDITOR (widget);
  gboolean focused = gtk_widget_has_focus (self->reset_button);

  while (qm_advisor_get_n_uses (self->advisor) > 0)
    qm_advisor_remove_use (self->advisor,
                           qm_advisor_get_n_uses (self->advisor) - 1);
  gtk_widget_action_set_enabled (widget, "uses.add", TRUE);
  /* The button is about to go, and the focus must not go with it. */
  if (focused)
    gtk_widget_grab_focus (self->add_row);
  sync_rows (self);
}

void
qm_uses_editor_set_advisor (QmUsesEditor *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_USES_EDITOR (self));
  g_return_if_fail (QM_IS_ADVISOR (advisor));
  g_return_if_fail (self->advisor == NULL);

  self->advisor = g_object_ref (advisor);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (uses_rebuilt_cb),
                           self, G_CONNECT_SWAPPED);
  uses_rebuilt_cb (self);
}

static void
qm_uses_editor_dispose (GObject *object)
{
  QmUsesEditor *self = QM_USES_EDITOR (object);

  g_ptr_array_set_size (self->rows, 0);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_uses_editor_parent_class)->dispose (object);
}

static void
qm_uses_editor_finalize (GObject *object)
{
  QmUsesEditor *self = QM_USES_EDITOR (object);

  g_clear_pointer (&self->rows, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_uses_editor_parent_class)->finalize (object);
}

static void
qm_uses_editor_class_init (QmUsesEditorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_uses_editor_dispose;
  object_class->finalize = qm_uses_editor_finalize;

  gtk_widget_class_install_action (widget_class, "uses.add", NULL, add_cb);
  gtk_widget_class_install_action (widget_class, "uses.reset", NULL,
                                   uses_reset_cb);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-uses-editor.ui");
  gtk_widget_class_bind_template_child (widget_class, QmUsesEditor,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmUsesEditor, add_row);
}

static void
qm_uses_editor_init (QmUsesEditor *self)
{
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}
