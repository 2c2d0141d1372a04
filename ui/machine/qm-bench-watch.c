/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-watch.h"

#include "ui/machine/qm-bench-trouble.h"

#include <math.h>

struct _QmBenchWatch
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkLabel *headline;
  GtkWidget *pause_button;
  GtkWidget *continue_button;
  GtkWidget *again_button;
  GtkWidget *cancel_button;
  GtkWidget *bars;
  GtkProgressBar *overall;
  GtkLabel *overall_label;
  GtkProgressBar *current;
  GtkLabel *current_label;
  GtkLabel *sensors;
  QmBenchTrouble *trouble;
};

G_DEFINE_FINAL_TYPE (QmBenchWatch, qm_bench_watch, GTK_TYPE_WIDGET)

/* A label that is set to what it says already would be drawn anew, and a
 * screen reader told of it. */
static void
set_label (GtkLabel *label, const char *text)
{
  if (text == NULL)
    text = "";
  if (g_strcmp0 (gtk_label_get_text (label), text) != 0)
    gtk_label_set_text (label, text);
  gtk_widget_set_visible (GTK_WIDGET (label), *text != '\0');
}

static void
set_bar (GtkProgressBar *bar, double fraction)
{
  if (isnan (fraction))
    gtk_progress_bar_pulse (bar);
  else if (fabs (gtk_progress_bar_get_fraction (bar) - fraction) > 0.0005)
    gtk_progress_bar_set_fraction (bar, CLAMP (fraction, 0, 1));
}

/* A button that is pressed goes: the keyboard must not go with it. */
static gboolean
has_keyboard (QmBenchWatch *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  return focus != NULL
         && gtk_widget_is_ancestor (focus, gtk_widget_get_parent (
                                               self->cancel_button));
}

static void
show_buttons (QmBenchWatch *self, const QmBenchWatched *watched)
{
  gboolean focused = has_keyboard (self);

  gtk_widget_set_visible (self->pause_button, watched->can_pause);
  gtk_widget_set_visible (self->continue_button, watched->can_continue);
  gtk_widget_set_visible (self->again_button, watched->can_try_again);
  gtk_widget_set_visible (self->cancel_button, watched->can_cancel);
  if (focused && !has_keyboard (self))
    qm_bench_watch_focus (self);
}

void
qm_bench_watch_show (QmBenchWatch *self, const QmBenchWatched *watched)
{
  g_return_if_fail (QM_IS_BENCH_WATCH (self));

  gtk_widget_set_visible (GTK_WIDGET (self), watched != NULL);
  if (watched == NULL)
    return;
  set_label (self->headline, watched->headline);
  show_buttons (self, watched);
  gtk_widget_set_visible (self->bars, watched->running);
  set_bar (self->overall, watched->overall);
  set_label (self->overall_label, watched->overall_text);
  set_bar (self->current, watched->current);
  set_label (self->current_label, watched->current_text);
  set_label (self->sensors, watched->sensors);
  qm_bench_trouble_show (self->trouble, watched->failure, watched->log);
}

void
qm_bench_watch_focus (QmBenchWatch *self)
{
  GtkWidget *buttons[] = { self->pause_button, self->continue_button,
                           self->again_button, self->cancel_button };

  g_return_if_fail (QM_IS_BENCH_WATCH (self));

  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    if (gtk_widget_get_visible (buttons[i])
        && gtk_widget_grab_focus (buttons[i]))
      return;
}

static void
qm_bench_watch_dispose (GObject *object)
{
  g_clear_pointer (&QM_BENCH_WATCH (object)->box, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_bench_watch_parent_class)->dispose (object);
}

static void
qm_bench_watch_class_init (QmBenchWatchClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_bench_watch_dispose;

  g_type_ensure (QM_TYPE_BENCH_TROUBLE);

  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-bench-watch.ui");
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, box);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, headline);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        pause_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        continue_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        again_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        cancel_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, bars);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, overall);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        overall_label);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, current);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch,
                                        current_label);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, sensors);
  gtk_widget_class_bind_template_child (widget_class, QmBenchWatch, trouble);
}

static void
qm_bench_watch_init (QmBenchWatch *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
