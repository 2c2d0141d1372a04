/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-adopt-bar.h"

#include "data/results-adopt.h"
#include "data/results-file.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

struct _QmAdoptBar
{
  AdwBin parent_instance;

  GtkLabel *label;
};

enum
{
  ADOPTED,
  FAILED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmAdoptBar, qm_adopt_bar, ADW_TYPE_BIN)

static guint signals[N_SIGNALS];

void
qm_adopt_bar_ask (QmAdoptBar *self, guint n)
{
  g_autofree char *text = NULL;
  g_autofree char *base = NULL;
  g_autofree char *name = NULL;
  char path[PATH_MAX];

  g_return_if_fail (QM_IS_ADOPT_BAR (self));

  gtk_widget_set_visible (GTK_WIDGET (self), n > 0);
  if (n == 0 || !qm_results_default_path (path, sizeof path))
    return;
  base = g_path_get_basename (path);
  name = g_filename_display_name (base);
  text = g_strdup_printf (
      /* Translators: a number, a file. */
      ngettext ("%u result in %s does not say where it was measured, and does "
                "not count as this machine’s. Where was that?",
                "%u results in %s do not say where they were measured, and do "
                "not count as this machine’s. Where was that?",
                n),
      n, name);
  gtk_label_set_text (self->label, text);
}

/* The file may be large, and its disk far away. */
static void
adopt_thread_cb (GTask *task,
                 gpointer source,
                 gpointer task_data,
                 GCancellable *cancellable)
{
  const QmIdentity *machine = task_data;
  char path[PATH_MAX];
  QmError error = { 0 };
  size_t n;

  if (!qm_results_default_path (path, sizeof path)
      || qm_results_adopt (path, machine, &n, &error) != QM_OK)
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s",
                             error.message);
  else
    g_task_return_boolean (task, TRUE);
}

static void
done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  QmAdoptBar *self = QM_ADOPT_BAR (source);
  g_autoptr (GError) error = NULL;

  gtk_widget_set_sensitive (GTK_WIDGET (self), TRUE);
  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_signal_emit (self, signals[FAILED], 0, error->message);
      return;
    }
  qm_adopt_bar_ask (self, 0);
  g_signal_emit (self, signals[ADOPTED], 0);
}

static void
answer (QmAdoptBar *self, const QmIdentity *machine)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, done_cb, NULL);

  gtk_widget_set_sensitive (GTK_WIDGET (self), FALSE);
  g_task_set_source_tag (task, answer);
  g_task_set_task_data (task, g_memdup2 (machine, sizeof *machine), g_free);
  g_task_run_in_thread (task, adopt_thread_cb);
}

static void
here_cb (QmAdoptBar *self)
{
  QmIdentity here;

  qm_identity_here (&here);
  answer (self, &here);
}

static void
another_cb (QmAdoptBar *self)
{
  const QmIdentity another = { .machine = QM_IDENTITY_ANOTHER };

  answer (self, &another);
}

static void
qm_adopt_bar_class_init (QmAdoptBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  signals[ADOPTED] =
      g_signal_new ("adopted", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] =
      g_signal_new ("failed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-adopt-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, QmAdoptBar, label);
  gtk_widget_class_bind_template_callback (widget_class, here_cb);
  gtk_widget_class_bind_template_callback (widget_class, another_cb);
}

static void
qm_adopt_bar_init (QmAdoptBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
