/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-proposal-private.h"

#include "data/flops.h"
#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/advice/qm-shortlist.h"
#include "pricing/qm-format.h"
#include "pricing/qm-terms.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* What a watt is in BTU an hour (NIST SP 811, appendix B.9). */
#define BTU_PER_HOUR 3.412142

/* The candidate that is proposed: the recommended one, or where nothing fits
 * the limits the one that would do; NULL: there is none. */
static const QmCandidate *
find_proposed (const QmProposal *proposal)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (proposal->advice, &n);
  int index = proposal->found.best >= 0 ? proposal->found.best
                                        : proposal->found.would_do;
  return index >= 0 && candidates[index].price_minor > 0
                 && qm_known (candidates[index].days)
             ? &candidates[index]
             : NULL;
}

char *
qm_proposal_money (const QmProposalMaker *maker,
                   double usd_minor,
                   gboolean with_tax)
{
  const QmPurse *purse = &maker->proposal->question->purse;

  return qm_format_money (
      qm_purse_from_usd (purse, (gint64) llround (usd_minor), with_tax),
      purse->currency, FALSE);
}

void
qm_proposal_set_money (const QmProposalMaker *maker,
                       QmPaperCell *cell,
                       double usd_minor,
                       gboolean with_tax)
{
  const QmPurse *purse = &maker->proposal->question->purse;
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (usd_minor))
    return;
  g_ascii_formatd (number, sizeof number, "%.2f",
                   qm_purse_from_usd (purse, (gint64) llround (usd_minor),
                                      with_tax));
  qm_paper_cell_set (cell, qm_proposal_money (maker, usd_minor, with_tax),
                     g_strdup (number));
}

void
qm_proposal_set_number (QmPaperCell *cell, double value, int decimals)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return;
  qm_paper_cell_set (cell, qm_format_number (value, decimals),
                     g_strdup (g_ascii_formatd (number, sizeof number, "%.6g",
                                                value)));
}

double
qm_proposal_work_days (const QmProposalMaker *maker)
{
  return maker->candidate->machine_days;
}

static gboolean
is_portfolio (const QmProposalMaker *maker)
{
  return qm_question_is_portfolio (maker->proposal->question);
}

static const char *
model_name (const QmProposalMaker *maker, const char *id)
{
  const QmModel *model = qm_catalog_model (maker->proposal->catalog, id);

  return model != NULL ? model->name : id;
}

/* --- the request in a sentence --- */

/* "5 trainings of Pythia (1B) and 3 trainings of ViT (large) a year".
 * (transfer full) */
static char *
work_text (const QmProposalMaker *maker)
{
  const QmQuestion *question = maker->proposal->question;
  GString *list = g_string_new (NULL);

  if (!is_portfolio (maker))
    {
      g_string_printf (list, _ ("a training of %s"),
                       model_name (maker, question->model));
      return g_string_free (list, FALSE);
    }
  for (guint i = 0; i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);
      g_autofree char *number = qm_format_number (run->runs_per_year, 1);

      g_string_append (list, i == 0                        ? ""
                             : i + 1 < question->runs->len ? ", "
                                                           : _ (" and "));
      g_string_append_printf (list, "%s\u00a0×\u00a0%s", number,
                              model_name (maker, run->model));
    }
  /* Translators: "5 × Pythia and 3 × ViT". */
  g_string_append (list, _ (" a year"));
  return g_string_free (list, FALSE);
}

static void
add_request (const QmProposalMaker *maker)
{
  const QmQuestion *question = maker->proposal->question;
  const QmCandidate *candidate = maker->candidate;
  double price = (double) candidate->price_minor;
  g_autofree char *net = qm_proposal_money (maker, price, FALSE);
  g_autofree char *gross = qm_proposal_money (maker, price, TRUE);
  g_autofree char *percent =
      qm_format_percentage (question->purse.tax_percent, 2);
  g_autofree char *gpus = qm_prose_candidate (candidate);
  g_autofree char *machine = qm_prose_machine (candidate);
  g_autofree char *work = work_text (maker);
  g_autofree char *money =
      question->purse.tax_percent > 0
          /* Translators: amounts without and with tax, its percentage. */
          ? g_strdup_printf (_ ("%s without tax (%s with tax of %s)"), net,
                             gross, percent)
          : g_strdup_printf (_ ("%s without tax"), net);
  g_autofree char *sentence =
      /* Translators: an amount, GPUs, a machine, trainings. */
      g_strdup_printf (
          _ ("We ask for %s for %s in %s, on which these trainings "
             "are carried out: %s."),
          money, gpus, machine, work);

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("The request"));
  qm_paper_add (maker->paper, QM_PAPER_TEXT, sentence);
  if (question->purse.gross && question->purse.tax_percent > 0)
    qm_paper_add (maker->paper, QM_PAPER_TEXT,
                  _ ("The options are told with tax. What owning and renting "
                     "cost, by the month, the day and the training, is told "
                     "without."));
  if (maker->proposal->found.best < 0)
    qm_paper_add (maker->paper, QM_PAPER_TEXT,
                  _ ("This is beyond the limits that were set: nothing within "
                     "them will do, as the options below show."));
}

/* --- the need --- */

/* One row of the need. */
typedef struct
{
  const char *model;
  double runs_per_year; /* NaN: one training */
  double days, low, high;
  char *times_of; /* owned */
} Need;

static void
add_need_row (const QmProposalMaker *maker, QmPaperTable *table, Need *need)
{
  const QmModel *model =
      qm_catalog_model (maker->proposal->catalog, need->model);
  QmPaperCell *cells = qm_paper_table_add_row (table, QM_ROW_PLAIN,
                                               model_name (maker, need->model));

  if (model != NULL)
    qm_proposal_set_number (&cells[1],
                            (double) qm_parameter_count (&model->config) / 1e6,
                            0);
  qm_proposal_set_number (&cells[2], need->runs_per_year, 1);
  qm_proposal_set_number (&cells[3], need->days, need->days < 10 ? 1 : 0);
  if (isfinite (need->low) && isfinite (need->high))
    qm_paper_cell_set (&cells[4],
                       qm_format_days_range (need->days, need->low, need->high),
                       NULL);
  qm_paper_cell_set (&cells[5], g_steal_pointer (&need->times_of), NULL);
  qm_proposal_set_number (
      &cells[6],
      need->days * (qm_known (need->runs_per_year) ? need->runs_per_year : 1),
      0);
}

static void
add_need_rows (const QmProposalMaker *maker, QmPaperTable *table)
{
  const QmQuestion *question = maker->proposal->question;
  const QmCandidate *candidate = maker->candidate;
  QmPaperCell *cells;
  guint n;
  const QmRunTime *runs =
      qm_advice_runs (maker->proposal->advice, candidate, &n);

  if (!is_portfolio (maker))
    {
      Need need = { .model = question->model,
                    .runs_per_year = (double) NAN,
                    .days = candidate->days,
                    .low = candidate->days_low,
                    .high = candidate->days_high,
                    .times_of = qm_prose_times_of (candidate) };

      add_need_row (maker, table, &need);
      return;
    }
  for (guint i = 0; i < n; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);
      Need need = { .model = run->model,
                    .runs_per_year = run->runs_per_year,
                    .days = runs[i].days,
                    .low = runs[i].days_low,
                    .high = runs[i].days_high,
                    .times_of = qm_prose_run_times_of (&runs[i]) };

      add_need_row (maker, table, &need);
    }
  cells = qm_paper_table_add_row (table, QM_ROW_STRONG, _ ("All of them"));
  qm_proposal_set_number (&cells[6], qm_proposal_work_days (maker), 0);
}

static void
add_need (const QmProposalMaker *maker)
{
  const QmQuestion *question = maker->proposal->question;
  const QmCandidate *candidate = maker->candidate;
  const char *const heads[] = {
    _ ("Model"),
    _ ("Million parameters"),
    _ ("Trainings a year"),
    _ ("Days of one"),
    _ ("Nine of ten are within"),
    _ ("The time is of"),
    _ ("Machine days"),
    NULL,
  };
  g_autofree char *factor = qm_format_number (question->time_factor, 2);
  g_autofree char *basis =
      /* Translators: a number. */
      g_strdup_printf (
          _ ("Days are those of the proposed machine, %s times what "
             "the steps alone take: for data, evaluation, "
             "checkpoints and restarts."),
          factor);
  QmPaperTable *table;

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("What is needed"));
  table = qm_paper_add_table (maker->paper, _ ("Need"), heads);
  qm_paper_table_set_words (table, (const guint[]){ 4, 5, 0 });
  add_need_rows (maker, table);
  if (is_portfolio (maker) && qm_known (candidate->busy))
    {
      g_autofree char *busy = qm_format_percent (candidate->busy);
      g_autofree char *text = g_strdup_printf (
          ngettext ("%d machine does this work and trains %s of the year.",
                    "%d machines do this work and train %s of the year.",
                    candidate->machines),
          candidate->machines, busy);

      qm_paper_add (maker->paper, QM_PAPER_TEXT, text);
    }
  if (qm_known (question->run_deadline_days))
    {
      g_autofree char *allowed = qm_format_days (question->run_deadline_days);
      g_autofree char *longest = qm_format_days (candidate->longest_days);
      g_autofree char *text =
          /* Translators: two times. */
          g_strdup_printf (
              _ ("A training has to be back within %s; the longest "
                 "takes %s."),
              allowed, longest);

      qm_paper_add (maker->paper, QM_PAPER_TEXT, text);
    }
  qm_paper_add (maker->paper, QM_PAPER_TEXT, basis);
}

/* --- what is proposed --- */

static void
add_power (const QmProposalMaker *maker)
{
  const QmCandidate *candidate = maker->candidate;
  g_autofree char *watts = NULL;
  g_autofree char *heat = NULL;
  g_autofree char *text = NULL;
  double whole;

  if (candidate->platform == NULL || !qm_known (candidate->carry.wall_watts))
    return;
  /* Of the watts that are told, so that who multiplies them finds the same. */
  whole = round (candidate->carry.wall_watts);
  watts = qm_format_number (whole, 0);
  heat = qm_format_number (whole * BTU_PER_HOUR, 0);
  text =
      /* Translators: a power, the same as heat. */
      g_strdup_printf (
          _ ("The %s\u00a0W that a machine draws from the wall at full "
             "load, by what its parts are rated at, become heat: "
             "%s\u00a0BTU/h."),
          watts, heat);
  qm_paper_add (maker->paper, QM_PAPER_TEXT, text);
}

static void
add_proposed (const QmProposalMaker *maker)
{
  const QmProposal *proposal = maker->proposal;
  g_autofree char *about =
      qm_prose_about_machine (maker->candidate, &proposal->question->purse);
  g_autofree char *why =
      qm_prose_why (proposal->advice, proposal->question, &proposal->found);

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("What is proposed"));
  if (proposal->found.best >= 0)
    qm_paper_add (maker->paper, QM_PAPER_TEXT, why);
  if (about != NULL)
    qm_paper_add (maker->paper, QM_PAPER_TEXT, about);
  add_power (maker);
}

/* --- options --- */

/* Why another one is not proposed.  (transfer full) */
static char *
why_not (const QmProposalMaker *maker, const QmCandidate *other)
{
  const QmQuestion *question = maker->proposal->question;
  const QmCandidate *candidate = maker->candidate;

  if (other == candidate)
    return g_strdup (_ ("proposed"));
  if (other->verdict == QM_VERDICT_IMPOSSIBLE)
    return g_strdup (_ ("its time is impossible"));
  if (other->outlived)
    return g_strdup (_ ("a training takes longer than the machine serves"));
  if (other->late)
    return g_strdup (_ ("a training takes longer than allowed"));
  if (question->budget_minor >= 0 && other->cost_minor > question->budget_minor)
    return g_strdup (_ ("beyond the budget"));
  if (qm_known (question->deadline_days)
      && other->days > question->deadline_days)
    return g_strdup (_ ("too slow for the deadline"));
  if (other->days > candidate->days)
    return g_strdup (_ ("slower"));
  return g_strdup (_ ("costs more"));
}

static void
add_option (const QmProposalMaker *maker,
            QmPaperTable *table,
            int index,
            GHashTable *told)
{
  guint n;
  const QmCandidate *candidates =
      qm_advice_candidates (maker->proposal->advice, &n);
  const QmCandidate *other;
  g_autofree char *name = NULL;
  QmPaperCell *cells;

  if (index < 0 || !g_hash_table_add (told, GINT_TO_POINTER (index)))
    return;
  other = &candidates[index];
  name = qm_prose_candidate (other);
  cells = qm_paper_table_add_row (
      table, other == maker->candidate ? QM_ROW_STRONG : QM_ROW_PLAIN, name);
  qm_paper_cell_set (&cells[1], qm_prose_machine (other), NULL);
  if (other->price_minor > 0)
    qm_proposal_set_money (maker, &cells[2], (double) other->price_minor,
                           maker->proposal->question->purse.gross);
  if (qm_known (other->longest_days))
    qm_paper_cell_set (&cells[3], qm_format_days (other->longest_days), NULL);
  if (qm_known (other->days))
    qm_paper_cell_set (&cells[4], qm_format_days (other->days), NULL);
  qm_paper_cell_set (&cells[5], why_not (maker, other), NULL);
}

static void
add_options (const QmProposalMaker *maker)
{
  const QmRecommendation *found = &maker->proposal->found;
  const int indices[] = { found->best >= 0 ? found->best : found->would_do,
                          found->sooner,
                          found->runner_up,
                          found->cheaper,
                          found->faster,
                          found->denied };
  const char *const heads[] = {
    _ ("Option"),
    _ ("Machine"),
    maker->proposal->question->purse.gross ? _ ("Price with tax")
                                           : _ ("Price without tax"),
    _ ("Longest training"),
    _ ("All work"),
    _ ("Why not"),
    NULL,
  };
  g_autoptr (GHashTable) told = g_hash_table_new (NULL, NULL);
  g_auto (GStrv) sentences =
      qm_prose_alternatives (maker->proposal->advice, found, NULL);
  QmPaperTable *table;

  qm_paper_add (maker->paper, QM_PAPER_HEADING,
                _ ("Options, and why neither cheaper nor dearer"));
  table = qm_paper_add_table (maker->paper, _ ("Options"), heads);
  qm_paper_table_set_words (table, (const guint[]){ 1, 5, 0 });
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    add_option (maker, table, indices[i], told);
  for (guint i = 0; sentences[i] != NULL; i++)
    qm_paper_add (maker->paper, QM_PAPER_ITEM, sentences[i]);
}

/* --- what the numbers rest on --- */

/* Where a price is from; nothing where there is none. */
static void
add_price_source (const QmProposalMaker *maker,
                  const char *name,
                  const QmPrice *price)
{
  g_autofree char *date = NULL;
  g_autofree char *line = NULL;

  if (price == NULL)
    return;
  date = qm_format_date (price->observed_on);
  /* Translators: what costs it, where the price is from, its day. */
  line = g_strdup_printf (_ ("%s: %s (%s)"), name, price->source, date);
  qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
}

/* Where the times of the proposed machine are from, each source once. */
static void
add_time_sources (const QmProposalMaker *maker)
{
  guint n;
  const QmRunTime *runs =
      qm_advice_runs (maker->proposal->advice, maker->candidate, &n);
  g_autoptr (GHashTable) told =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < MAX (n, 1); i++)
    {
      const QmMeasurement *measurement =
          n > 0 ? runs[i].measurement : maker->candidate->measurement;
      g_autofree char *source =
          measurement != NULL ? qm_prose_source (measurement) : NULL;
      g_autofree char *line = NULL;

      if (source == NULL || g_hash_table_contains (told, source))
        continue;
      line = g_strdup_printf (_ ("Training times: %s."), source);
      qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
      g_hash_table_add (told, g_steal_pointer (&source));
    }
}

static void
add_basis (const QmProposalMaker *maker)
{
  const QmProposal *proposal = maker->proposal;
  g_auto (GStrv) warnings =
      qm_prose_warnings (proposal->advice, proposal->question, &proposal->found,
                         proposal->today);
  g_autofree char *purse = qm_prose_purse (&proposal->question->purse);
  g_autofree char *quality =
      qm_prose_price_quality (maker->candidate, proposal->today);

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("What the numbers rest on"));
  for (guint i = 0; warnings[i] != NULL; i++)
    qm_paper_add (maker->paper, QM_PAPER_ITEM, warnings[i]);
  if (quality != NULL)
    {
      g_autofree char *line =
          /* Translators: "used, 2 years old". */
          g_strdup_printf (_ ("The price is no offer (%s): a quote has to "
                              "confirm it."),
                           quality);

      qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
    }
  if (purse != NULL)
    qm_paper_add (maker->paper, QM_PAPER_ITEM, purse);
  add_time_sources (maker);
  add_price_source (maker, _ ("Price of the GPUs"),
                    maker->candidate->gpu_price);
  add_price_source (maker, _ ("Price of the machine"),
                    maker->candidate->machine_price);
  add_price_source (maker, _ ("Price of host memory"),
                    maker->candidate->memory_price);
}

static void
add_unknown (const QmProposalMaker *maker)
{
  qm_paper_add (maker->paper, QM_PAPER_HEADING,
                _ ("What is for the applicants to say"));
  qm_paper_add (maker->paper, QM_PAPER_TEXT,
                _ ("Why these models have to be trained, and so often; which "
                   "machines there are already, and why they do not suffice; "
                   "whether there is only one source; who runs the machine and "
                   "where it stands; delivery and warranty, which are in the "
                   "quotes. Nothing of this follows from the numbers above."));
}

static void
add_words (const QmProposalMaker *maker)
{
  static const char *const ids[] = { "measured",    "reported",  "predicted",
                                     "interval",    "frontier",  "utilization",
                                     "machinedays", "experiment" };

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("Words"));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autofree char *line = NULL;
      QmTerm term;

      if (!qm_term_find (ids[i], &term))
        continue;
      /* Translators: a word, what it means. */
      line = g_strdup_printf (_ ("%s: %s"), term.name, term.text);
      qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
    }
}

/* The plot is the caller's, of a shortlist where there is one. */
static void
add_figure (const QmProposalMaker *maker)
{
  g_autoptr (GHashTable) shortlist = qm_shortlist_new (maker->proposal->advice);
  const char *what =
      is_portfolio (maker)
          ? _ ("price against the days that a year’s trainings take")
          : _ ("price against the days that the training takes");
  g_autofree char *caption =
      shortlist != NULL
          /* Translators: "price against the days that …". */
          ? g_strdup_printf (_ ("%s, for some of the types of GPU that were "
                                "looked at, spread along the line; what is "
                                "recommended is marked, and nothing on the "
                                "line is beaten in both."),
                             what)
          /* Translators: "price against the days that …". */
          : g_strdup_printf (
              _ ("%s, for every machine that was looked at; what "
                 "is recommended is marked, and nothing on the "
                 "line is beaten in both."),
              what);

  qm_paper_add_figure (maker->paper, caption);
}

QmPaper *
qm_proposal_paper_new (const QmProposal *proposal)
{
  QmProposalMaker maker = { .proposal = proposal };
  g_autofree char *date = NULL;

  g_return_val_if_fail (proposal != NULL && proposal->advice != NULL, NULL);

  maker.candidate = find_proposed (proposal);
  if (maker.candidate == NULL)
    return NULL;
  date = qm_format_date (proposal->today);
  maker.paper = qm_paper_new (_ ("Proposal for a Machine to Train On"), date);
  add_request (&maker);
  add_need (&maker);
  add_proposed (&maker);
  add_options (&maker);
  add_figure (&maker);
  qm_proposal_add_cost (&maker);
  qm_proposal_add_sensitivity (&maker);
  qm_proposal_add_rent (&maker);
  qm_proposal_add_rules (&maker);
  add_basis (&maker);
  add_unknown (&maker);
  add_words (&maker);
  return maker.paper;
}
