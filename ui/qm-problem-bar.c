/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-problem-bar.h"

#include <glib/gi18n-lib.h>

struct _QmProblemBar
{
  AdwBin parent_instance;

  GtkWidget *revealer;
  GtkWidget *heading_label;
  GtkWidget *problems_label;
};

G_DEFINE_FINAL_TYPE (QmProblemBar, qm_problem_bar, ADW_TYPE_BIN)

static char *
describe_problem (const QmError *problem)
{
  if (problem->line > 0 && problem->column > 0)
    /* Translators: file, line, column, reason. */
    return g_strdup_printf (_ ("%s, line %d, column %d: %s"), problem->file,
                            problem->line, problem->column, problem->message);
  if (problem->line > 0)
    /* Translators: file, line, reason. */
    return g_strdup_printf (_ ("%s, line %d: %s"), problem->file, problem->line,
                            problem->message);
  /* Translators: file, reason. */
  return g_strdup_printf (_ ("%s: %s"), problem->file, problem->message);
}

static void
append_lines (GString *text, const QmError *problems, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      g_autofree char *line = describe_problem (&problems[i]);
      g_autofree char *valid = g_utf8_make_valid (line, -1);

      if (text->len > 0)
        g_string_append_c (text, '\n');
      g_string_append (text, valid);
    }
}

void
qm_problem_bar_set_problems (QmProblemBar *self,
                             const QmError *problems,
                             size_t n,
                             const QmError *notices,
                             size_t n_notices)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *heading = NULL;
  gboolean any = n > 0 || n_notices > 0;

  g_return_if_fail (QM_IS_PROBLEM_BAR (self));

  append_lines (text, problems, n);
  append_lines (text, notices, n_notices);
  /* What was closed stays so until something else is wrong. */
  if (any
      && g_strcmp0 (gtk_label_get_text (GTK_LABEL (self->problems_label)),
                    text->str)
             == 0)
    return;
  if (n > 0)
    heading = g_strdup_printf (
        ngettext ("A file was refused; everything else is in use",
                  "%u files were refused; everything else is in use", n),
        (guint) n);
  else
    heading =
        g_strdup (_ ("Some results were left out; everything else is in use"));
  gtk_label_set_text (GTK_LABEL (self->heading_label), heading);
  gtk_label_set_text (GTK_LABEL (self->problems_label), text->str);
  gtk_widget_set_visible (GTK_WIDGET (self), any);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->revealer), any);
}

static void
close_cb (QmProblemBar *self)
{
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->revealer), FALSE);
}

static void
qm_problem_bar_class_init (QmProblemBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-problem-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, QmProblemBar, revealer);
  gtk_widget_class_bind_template_child (widget_class, QmProblemBar,
                                        heading_label);
  gtk_widget_class_bind_template_child (widget_class, QmProblemBar,
                                        problems_label);
  gtk_widget_class_bind_template_callback (widget_class, close_cb);
}

static void
qm_problem_bar_init (QmProblemBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
