/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-trouble.h"
#include "ui/qm-show.h"

struct _QmBenchTrouble
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkLabel *sentence;
  GtkToggleButton *log_button;
  GtkLabel *log;
};

G_DEFINE_FINAL_TYPE (QmBenchTrouble, qm_bench_trouble, GTK_TYPE_WIDGET)

void
qm_bench_trouble_show (QmBenchTrouble *self,
                       const char *sentence,
                       const char *log)
{
  g_return_if_fail (QM_IS_BENCH_TROUBLE (self));

  sentence = sentence != NULL ? sentence : "";
  log = log != NULL ? log : "";
  qm_show_text (self->sentence, sentence);
  qm_show_text (self->log, log);
  gtk_widget_set_visible (GTK_WIDGET (self->log_button), *log != '\0');
  if (*log == '\0')
    gtk_toggle_button_set_active (self->log_button, FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self), *sentence != '\0');
}

static void
qm_bench_trouble_dispose (GObject *object)
{
  g_clear_pointer (&QM_BENCH_TROUBLE (object)->box, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_bench_trouble_parent_class)->dispose (object);
}

static void
qm_bench_trouble_class_init (QmBenchTroubleClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_bench_trouble_dispose;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-bench-trouble.ui");
  gtk_widget_class_bind_template_child (widget_class, QmBenchTrouble, box);
  gtk_widget_class_bind_template_child (widget_class, QmBenchTrouble, sentence);
  gtk_widget_class_bind_template_child (widget_class, QmBenchTrouble,
                                        log_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchTrouble, log);
}

static void
qm_bench_trouble_init (QmBenchTrouble *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
