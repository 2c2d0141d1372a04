/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-questions.h"

#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>

/* What a button answers. */
typedef struct
{
  QmQuestionFunc func;
  gpointer user_data;
  guint line;
  QmAsk ask;
  int number;
  GtkSpinButton *spin; /* of which the number is; NULL: `number` */
} Answer;

static void
answer_free (gpointer data, GClosure *closure)
{
  g_free (data);
}

/* The button may be gone when the answer has been taken. */
static void
clicked_cb (GtkButton *button, gpointer data)
{
  const Answer answer = *(const Answer *) data;
  int number = answer.spin != NULL
                   ? gtk_spin_button_get_value_as_int (answer.spin)
                   : answer.number;

  answer.func (answer.user_data, answer.line, answer.ask, number);
}

static void
add_button (GtkBox *box, const char *label, Answer answer)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  g_autofree char *name =
      g_strdup_printf ("%s %s", qm_ask_text (answer.ask), label);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  qm_input_name_button (button, name);
  g_signal_connect_data (button, "clicked", G_CALLBACK (clicked_cb),
                         g_memdup2 (&answer, sizeof answer), answer_free, 0);
  gtk_box_append (box, button);
}

static void
add_buttons (GtkBox *box, Answer answer, int gpus)
{
  Answer no = answer;

  answer.number = 1;
  switch (answer.ask)
    {
    case QM_ASK_PACK:
      answer.spin =
          GTK_SPIN_BUTTON (gtk_spin_button_new_with_range (1, 1024, 1));
      gtk_spin_button_set_value (answer.spin, MAX (gpus, 1));
      gtk_widget_set_valign (GTK_WIDGET (answer.spin), GTK_ALIGN_CENTER);
      gtk_accessible_update_property (GTK_ACCESSIBLE (answer.spin),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      qm_ask_text (answer.ask), -1);
      gtk_box_append (box, GTK_WIDGET (answer.spin));
      add_button (box, _ ("For So Many"), answer);
      break;
    case QM_ASK_PRICE:
    case QM_ASK_TOTALS:
      add_button (box, _ ("It Is Right"), answer);
      break;
    case QM_ASK_DATE:
    case QM_ASK_VALIDITY:
      add_button (box, _ ("It Is Not Said"), answer);
      break;
    case QM_ASK_RENT:
    case QM_ASK_REVISION:
    default:
      add_button (box, _ ("Yes"), answer);
      add_button (box, _ ("No"), no);
      break;
    }
}

static GtkWidget *
new_question (Answer answer, int gpus)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = gtk_label_new (qm_ask_text (answer.ask));

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_add_css_class (label, "warning");
  gtk_box_append (GTK_BOX (box), label);
  add_buttons (GTK_BOX (box), answer, gpus);
  return box;
}

GtkWidget *
qm_quote_questions_new (
    guint asks, guint line, int gpus, QmQuestionFunc func, gpointer user_data)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  g_return_val_if_fail (func != NULL, box);

  for (guint i = 0; i < QM_N_ASKS; i++)
    if ((asks & (1u << i)) != 0)
      gtk_box_append (GTK_BOX (box),
                      new_question ((Answer){ .func = func,
                                              .user_data = user_data,
                                              .line = line,
                                              .ask = (QmAsk) (1u << i) },
                                    gpus));
  return box;
}

gboolean
qm_quote_apply_answer (QmQuote *quote, guint line, QmAsk ask, int number)
{
  g_return_val_if_fail (quote != NULL, FALSE);

  if (line == QM_QUESTION_OF_QUOTE)
    {
      if (ask == QM_ASK_REVISION && number == 0)
        g_clear_pointer (&quote->supersedes, g_free);
      else if (ask == QM_ASK_REVISION && quote->supersedes == NULL)
        quote->supersedes = g_strdup (quote->number);
      qm_quote_answer (quote, ask);
      return TRUE;
    }
  return line < quote->lines->len
         && qm_quote_line_answer (g_ptr_array_index (quote->lines, line), ask,
                                  number);
}
