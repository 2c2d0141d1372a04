/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-request-paper.h"

#include "data/flops.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static void
add_paper_item (QmPaper *paper, const char *text)
{
  qm_paper_add (paper, QM_PAPER_ITEM, text);
}

/* --- the request --- */

/* "26 November 2026. Offers until ..., valid for at least 60 days."
 * (transfer full) */
static char *
subtitle_of (const QmRequest *request)
{
  g_autofree char *date = qm_format_date (request->terms.today);
  g_autofree char *until = NULL;

  if (request->terms.answer_by.year == 0)
    return g_steal_pointer (&date);
  until = qm_format_date (request->terms.answer_by);
  /* Translators: two days. */
  return g_strdup_printf (_ ("%s; offers are awaited until %s"), date, until);
}

static void
add_subject (QmPaper *paper, const QmRequest *request)
{
  g_autofree char *text = g_strdup_printf (
      ngettext ("We ask for an offer for %d machine with GPUs on which neural "
                "networks are trained, set up and ready to use.",
                "We ask for an offer for %d machines with GPUs on which neural "
                "networks are trained, set up and ready to use.",
                request->machines),
      request->machines);

  qm_paper_add (paper, QM_PAPER_TEXT, text);
  qm_paper_add (paper, QM_PAPER_TEXT,
                _ ("No maker, type or number of GPUs is asked for: whatever "
                   "meets the requirements is welcome, and what exceeds them "
                   "may be offered."));
}

static void
add_requirements (QmPaper *paper, const QmRequest *request)
{
  const char *const heads[] = { _ ("Requirement"), _ ("What is asked for"),
                                NULL };
  QmPaperTable *table;

  qm_paper_add (paper, QM_PAPER_HEADING, _ ("Requirements"));
  table = qm_paper_add_table (paper, _ ("Requirements"), heads);
  qm_paper_table_set_words (table, (const guint[]){ 1, 0 });
  for (guint i = 0; i < request->needs->len; i++)
    {
      const QmNeed *need = &g_array_index (request->needs, QmNeed, i);
      g_autofree char *name = g_strdup_printf ("%u. %s", i + 1, need->name);

      qm_paper_cell_set (&qm_paper_table_add_row (table, QM_ROW_PLAIN, name)[1],
                         g_strdup (need->amount), NULL);
    }
}

static void
set_number (QmPaperCell *cell, double value, int decimals)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    qm_paper_cell_set (cell, qm_format_number (value, decimals),
                       g_strdup (g_ascii_formatd (number, sizeof number, "%.6g",
                                                  value)));
}

static void
add_training (QmPaperTable *table, const QmRequestedTraining *training)
{
  const QmRecipe *recipe = &training->model->recipe;
  g_autofree char *batch = qm_format_number ((double) recipe->batch_size, 0);
  g_autofree char *length =
      qm_format_number ((double) recipe->sequence_length, 0);
  QmPaperCell *cells =
      qm_paper_table_add_row (table, QM_ROW_PLAIN, training->model->name);

  set_number (&cells[1],
              (double) qm_parameter_count (&training->model->config) / 1e6, 0);
  qm_paper_cell_set (&cells[2],
                     training->tokens
                         ? g_strdup_printf ("%s\u00a0×\u00a0%s", batch, length)
                         : g_strdup (batch),
                     NULL);
  qm_paper_cell_set (&cells[3],
                     g_strdup (qm_precision_name (recipe->precision)), NULL);
  set_number (&cells[4], (double) recipe->steps, 0);
  set_number (&cells[5], training->days, 1);
  set_number (&cells[6], training->runs_per_year, 1);
}

static void
add_trainings_table (QmPaper *paper, const QmRequest *request)
{
  const char *const heads[] = {
    _ ("Model"),
    _ ("Million parameters"),
    _ ("Batch (× tokens)"),
    _ ("Number format"),
    _ ("Steps"),
    _ ("Days that it may take"),
    _ ("Trainings a year"),
    NULL,
  };
  QmPaperTable *table;

  qm_paper_add (paper, QM_PAPER_HEADING, _ ("What is trained"));
  table = qm_paper_add_table (paper, _ ("Trainings"), heads);
  qm_paper_table_set_words (table, (const guint[]){ 3, 0 });
  for (guint i = 0; i < request->trainings->len; i++)
    add_training (table,
                  &g_array_index (request->trainings, QmRequestedTraining, i));
  qm_paper_add (paper, QM_PAPER_HEADING, _ ("How the sustained rate is found"));
  add_paper_item (paper,
                  _ ("It is the rate of whole training steps (forward and "
                     "backward pass, exchange between the GPUs, optimizer) of "
                     "one machine on all of its GPUs, with the batch and the "
                     "number format of the table."));
  add_paper_item (
      paper, _ ("It is the mean of at least ten minutes, after the machine "
                "has worked for ten minutes at full load."));
  add_paper_item (paper,
                  _ ("The vendor states for each model the rate that is "
                     "guaranteed, or measured on the same configuration, and "
                     "with which software. The buyer measures it again after "
                     "delivery; the machine is accepted where it is reached."));
}

static void
add_links (QmPaper *paper, const QmRequest *request)
{
  g_autofree char *rate = NULL;
  g_autofree char *text = NULL;

  if (!(request->direct_gbs > 0))
    return;
  rate = qm_format_number (request->direct_gbs, 0);
  /* Translators: a bandwidth in GB/s. */
  text = g_strdup_printf (
      _ ("Our plan counts on GPUs that exchange gradients with each other "
         "directly, at %s GB/s each way. Where another link is offered, its "
         "bandwidth is to be stated; the sustained rates have to be reached "
         "all "
         "the same."),
      rate);
  qm_paper_add (paper, QM_PAPER_TEXT, text);
}

static void
add_form (QmPaper *paper, const QmRequest *request)
{
  g_autofree char *years = qm_format_number (request->lifetime_years, 1);
  g_autofree char *currency =
      /* Translators: a currency. */
      g_strdup_printf (_ ("Each of these has a price of its own: GPUs, server, "
                          "host memory, storage, network, warranty and "
                          "services, shipping. Prices are in %s where that can "
                          "be done; without tax, with the rate of the tax and "
                          "the total beside it."),
                       request->currency);
  g_autofree char *basis =
      /* Translators: a number of years. */
      g_strdup_printf (
          _ ("Offers are compared by their total without and with "
             "tax, for each GPU, and by what each training takes "
             "and costs where the machine serves for %s years. "
             "What is missing in an offer is asked for, or counted "
             "at market price."),
          years);

  qm_paper_add (paper, QM_PAPER_HEADING, _ ("What the offer says"));
  add_paper_item (paper, currency);
  add_paper_item (
      paper, _ ("The type and number of GPUs, their memory and links; the "
                "processors, the host memory and how it can be extended."));
  add_paper_item (paper,
                  _ ("The greatest electric power and heat of a machine, its "
                     "plugs, size and weight, and how loud it is."));
  add_paper_item (
      paper, _ ("The time of delivery, the terms of the warranty, and until "
                "when the offer holds."));
  add_paper_item (
      paper, _ ("Options and alternatives in lines of their own, marked as "
                "such and outside of the total."));
  qm_paper_add (paper, QM_PAPER_HEADING, _ ("How offers are compared"));
  qm_paper_add (paper, QM_PAPER_TEXT, basis);
}

static void
add_basis (QmPaper *paper, const QmRequest *request)
{
  g_autofree char *factor = qm_format_number (request->time_factor, 2);
  g_autofree char *rate =
      /* Translators: a number. */
      g_strdup_printf (
          _ ("The rates follow from the trainings and the days that "
             "they may take; a training takes %s times as long as "
             "its steps alone, for data, evaluation, checkpoints "
             "and restarts."),
          factor);

  qm_paper_add (paper, QM_PAPER_HEADING, _ ("Where the numbers are from"));
  add_paper_item (paper, rate);
  add_paper_item (
      paper,
      request->predicted
          ? _ ("The memory is the least with which the trainings fit, by "
               "a prediction of their memory; the host memory is a rule "
               "of thumb where no plan asks for more.")
          : _ ("The memory is that of GPUs that the trainings were timed "
               "on; the host memory is a rule of thumb where no plan asks "
               "for more."));
  add_paper_item (paper,
                  _ ("Years of warranty and days of validity are the buyer’s "
                     "wish. The place and the day of delivery are to be "
                     "agreed."));
}

QmPaper *
qm_request_paper_new (const QmRequest *request)
{
  g_autofree char *subtitle = NULL;
  QmPaper *paper;

  g_return_val_if_fail (request != NULL, NULL);

  subtitle = subtitle_of (request);
  paper = qm_paper_new (_ ("Request for Quotation"), subtitle);
  add_subject (paper, request);
  add_requirements (paper, request);
  add_trainings_table (paper, request);
  add_links (paper, request);
  add_form (paper, request);
  add_basis (paper, request);
  return paper;
}

/* --- what offers say to it --- */

static const char *
state_text (QmAnswerState state)
{
  return state == QM_ANSWER_YES  ? C_ ("requirement", "yes")
         : state == QM_ANSWER_NO ? C_ ("requirement", "no")
                                 : C_ ("requirement", "not told");
}

static void
set_answer (QmPaperCell *cell, const QmAnswer *answer)
{
  qm_paper_cell_set (cell,
                     answer->text != NULL
                         /* Translators: yes or no, what is offered. */
                         ? g_strdup_printf (_ ("%s: %s"),
                                            state_text (answer->state),
                                            answer->text)
                         : g_strdup (state_text (answer->state)),
                     NULL);
}

/* What a quote does not tell, and what it does not meet, to be asked for. */
static void
add_gaps (QmPaper *paper,
          const QmRequest *request,
          const char *name,
          const GArray *answers)
{
  for (int state = QM_ANSWER_NO; state <= QM_ANSWER_UNTOLD; state++)
    {
      g_autoptr (GString) list = g_string_new (NULL);
      g_autofree char *line = NULL;

      for (guint i = 0; i < answers->len; i++)
        if ((int) g_array_index (answers, QmAnswer, i).state == state)
          g_string_append_printf (
              list, "%s%s", list->len > 0 ? "; " : "",
              g_array_index (request->needs, QmNeed, i).name);
      if (list->len == 0)
        continue;
      line = g_strdup_printf (state == QM_ANSWER_NO
                                  /* Translators: a quote, requirements. */
                                  ? _ ("%s does not meet: %s")
                                  /* Translators: a quote, requirements. */
                                  : _ ("%s does not tell: %s"),
                              name, list->str);
      add_paper_item (paper, line);
    }
}

static void
add_verdict (QmPaper *paper, guint n_complete, guint n_quotes)
{
  g_autofree char *line =
      g_strdup_printf (ngettext ("%u of %u offer is complete.",
                                 "%u of %u offers are complete.", n_quotes),
                       n_complete, n_quotes);

  qm_paper_add (paper, QM_PAPER_TEXT, line);
  if (n_quotes < QM_OFFERS_WANTED)
    qm_paper_add (paper, QM_PAPER_TEXT,
                  _ ("Rules of procurement mostly want to see three offers."));
}

QmPaper *
qm_answers_paper_new (const QmRequest *request,
                      const QmCatalog *catalog,
                      const QmQuoteComparison *comparison)
{
  QmPaper *paper;
  QmPaperTable *table;
  QmPaperCell *cells;
  g_autofree char *date = NULL;
  g_autoptr (GPtrArray) heads = g_ptr_array_new_with_free_func (g_free);
  GArray *answers[QM_COMPARED_MOST] = { NULL };
  guint n_complete = 0;

  g_return_val_if_fail (request != NULL && comparison != NULL, NULL);

  date = qm_format_date (request->terms.today);
  paper = qm_paper_new (_ ("Offers and the Request"), date);
  g_ptr_array_add (heads, g_strdup (_ ("Requirement")));
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      g_ptr_array_add (heads, qm_compared_title (&comparison->quotes[i]));
      answers[i] = qm_request_check (request, catalog, comparison, i);
      n_complete += qm_answers_are_complete (answers[i]) ? 1 : 0;
    }
  g_ptr_array_add (heads, NULL);
  add_verdict (paper, n_complete, comparison->n_quotes);
  table = qm_paper_add_table (paper, _ ("Offers"),
                              (const char *const *) heads->pdata);
  for (guint i = 0; i < comparison->n_quotes; i++)
    qm_paper_table_set_words (table, (const guint[]){ i + 1, 0 });
  cells = qm_paper_table_add_row (table, QM_ROW_STRONG, _ ("Complete"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      cells[i + 1].best = qm_answers_are_complete (answers[i]);
      qm_paper_cell_set (&cells[i + 1],
                         g_strdup (state_text (
                             cells[i + 1].best ? QM_ANSWER_YES : QM_ANSWER_NO)),
                         NULL);
    }
  for (guint j = 0; j < request->needs->len; j++)
    {
      const QmNeed *need = &g_array_index (request->needs, QmNeed, j);
      g_autofree char *name =
          g_strdup_printf ("%s\n%s", need->name, need->amount);

      cells = qm_paper_table_add_row (table, QM_ROW_PLAIN, name);
      for (guint i = 0; i < comparison->n_quotes; i++)
        set_answer (&cells[i + 1], &g_array_index (answers[i], QmAnswer, j));
    }
  if (n_complete < comparison->n_quotes)
    qm_paper_add (paper, QM_PAPER_HEADING, _ ("What to ask vendors for"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      g_autofree char *name = qm_compared_title (&comparison->quotes[i]);

      add_gaps (paper, request, name, answers[i]);
      g_array_unref (answers[i]);
    }
  qm_paper_add (paper, QM_PAPER_TEXT,
                _ ("Rates are what is known or predicted of the GPUs that are "
                   "offered, and not what a vendor guarantees."));
  return paper;
}
