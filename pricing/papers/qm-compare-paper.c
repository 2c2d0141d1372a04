/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-compare-paper.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Lines of one part that are told; more are counted. */
#define LINES_TOLD 6

/* Characters of a line that are told. */
#define CHARACTERS_TOLD 160

/* The document and what it is made of. */
typedef struct
{
  const QmQuoteComparison *comparison;
  QmPaper *paper;
  QmPaperTable *table;
} Maker;

static void
set_amount (const Maker *maker, QmPaperCell *cell, gint64 minor)
{
  const char *currency = maker->comparison->terms.currency;

  if (qm_amount_is_stated (minor))
    qm_paper_cell_set (cell, qm_minor_for_people (minor, currency),
                       qm_minor_to_text (minor, currency));
}

static void
add_section (const Maker *maker, const char *text)
{
  qm_paper_table_add_row (maker->table, QM_ROW_SECTION, text);
}

/* --- what it comes to --- */

/* Appends a remark to what a cell says. */
static void
add_remark (QmPaperCell *cell, const char *remark)
{
  char *text = cell->text != NULL
                   ? g_strdup_printf ("%s\n%s", cell->text, remark)
                   : g_strdup (remark);

  g_free (cell->text);
  cell->text = text;
}

static void
add_payable (const Maker *maker)
{
  QmPaperCell *cells =
      qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, _ ("To be paid"));

  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      const QmQuote *quote = maker->comparison->quotes[i].quote;
      QmQuoteTotals totals;
      gint64 payable = quote->payable_minor;

      qm_quote_totals_compute (quote, &totals);
      if (!qm_amount_is_stated (payable))
        payable = totals.payable_minor;
      if (qm_amount_is_stated (payable) && qm_currency_valid (quote->currency))
        qm_paper_cell_set (&cells[i + 1],
                           qm_minor_for_people (payable, quote->currency),
                           NULL);
    }
}

static void
add_rates (const Maker *maker)
{
  QmPaperCell *cells = NULL;

  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      const QmCrossRate *rate = &maker->comparison->quotes[i].rate;
      g_autofree char *number = NULL;
      g_autofree char *date = NULL;

      if (rate->from[0] == '\0' || strcmp (rate->from, rate->to) == 0)
        continue;
      if (cells == NULL)
        cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN,
                                        _ ("Exchange rate"));
      number = qm_cross_rate_text (rate);
      date = qm_format_date (rate->date);
      qm_paper_cell_set (&cells[i + 1],
                         /* Translators: currency, number, currency, date. */
                         g_strdup_printf (_ ("1 %s = %s %s\n%s"), rate->from,
                                          number, rate->to, date),
                         NULL);
    }
}

static void
add_validity (const Maker *maker)
{
  QmPaperCell *cells =
      qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, _ ("Valid until"));

  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      const QmComparedQuote *compared = &maker->comparison->quotes[i];

      if (compared->quote->valid_until.year == 0)
        continue;
      qm_paper_cell_set (&cells[i + 1],
                         qm_format_date (compared->quote->valid_until), NULL);
      if (!compared->holds)
        add_remark (&cells[i + 1], _ ("does not hold today"));
    }
}

/* What a measure is called: "Pythia 1B: days of one training".
 * (transfer full) */
static char *
measure_text (const QmQuoteComparison *comparison,
              const QmComparedMeasure *measure)
{
  const char *title =
      measure->training >= 0 && comparison->trainings->len > 0
          ? g_array_index (comparison->trainings, QmComparedTraining,
                           measure->training)
                .title
          : "";

  switch (measure->kind)
    {
    case QM_MEASURE_NET:
      return g_strdup (_ ("Without tax"));
    case QM_MEASURE_GROSS:
      return g_strdup (_ ("With tax"));
    case QM_MEASURE_PER_GPU:
      return g_strdup (_ ("For each GPU"));
    case QM_MEASURE_DAY:
      return g_strdup (_ ("For each day of its life"));
    case QM_MEASURE_RUN_DAYS:
      /* Translators: a model. */
      return g_strdup_printf (_ ("%s: one training"), title);
    case QM_MEASURE_RUN_COST:
      /* Translators: a model. */
      return g_strdup_printf (_ ("%s: cost of one training"), title);
    case QM_MEASURE_YEAR_DAYS:
      return g_strdup (_ ("All runs of a year"));
    case QM_MEASURE_YEAR_COST:
      return g_strdup (_ ("Cost of all runs of a year"));
    case QM_N_MEASURES:
    default:
      return g_strdup ("");
    }
}

/* A row of a measure, with the best marked. */
static QmPaperCell *
add_measure (const Maker *maker, const QmComparedMeasure *measure)
{
  g_autofree char *text = measure_text (maker->comparison, measure);
  QmPaperCell *cells = qm_paper_table_add_row (
      maker->table,
      measure->kind <= QM_MEASURE_GROSS ? QM_ROW_STRONG : QM_ROW_PLAIN, text);

  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      double value = measure->values[i];
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      if (!isfinite (value))
        continue;
      if (qm_measure_is_days (measure->kind))
        qm_paper_cell_set (&cells[i + 1], qm_format_days (value),
                           g_strdup (g_ascii_formatd (number, sizeof number,
                                                      "%.2f", value)));
      else
        set_amount (maker, &cells[i + 1], (gint64) llround (value));
      cells[i + 1].best = (measure->winners & 1u << i) != 0;
    }
  return cells;
}

static QmPaperCell *
add_known (const Maker *maker, QmMeasureKind kind, int training)
{
  const QmComparedMeasure *measure =
      qm_quote_comparison_measure (maker->comparison, kind, training);

  return measure != NULL ? add_measure (maker, measure) : NULL;
}

static void
add_totals (const Maker *maker)
{
  const QmQuoteComparison *comparison = maker->comparison;
  QmPaperCell *cells;
  gboolean taxed = FALSE;

  add_section (maker, _ ("What it comes to"));
  add_payable (maker);
  cells = add_known (maker, QM_MEASURE_NET, -1);
  for (guint i = 0; cells != NULL && i < comparison->n_quotes; i++)
    if (comparison->quotes[i].net_derived)
      add_remark (&cells[i + 1], _ ("tax taken off"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    taxed = taxed || qm_amount_is_stated (comparison->quotes[i].tax_minor);
  if (taxed)
    {
      cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, _ ("Tax"));
      for (guint i = 0; i < comparison->n_quotes; i++)
        set_amount (maker, &cells[i + 1], comparison->quotes[i].tax_minor);
    }
  cells = add_known (maker, QM_MEASURE_GROSS, -1);
  for (guint i = 0; cells != NULL && i < comparison->n_quotes; i++)
    if (comparison->quotes[i].gross_derived)
      add_remark (&cells[i + 1], _ ("tax added"));
  add_rates (maker);
  add_validity (maker);
}

/* --- what is offered --- */

/* The parts that a quote lacks, "Server, Host memory"; NULL: none.
 * (transfer full) (nullable) */
static char *
lacks_text (guint parts)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < QM_N_PARTS; i++)
    if ((parts & 1u << i) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              qm_offer_part_text ((QmOfferPart) i));
  return g_string_free (text, text->len == 0);
}

static void
add_offered (const Maker *maker)
{
  const QmQuoteComparison *comparison = maker->comparison;
  QmPaperCell *cells;

  add_section (maker, _ ("What is offered"));
  cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, _ ("GPUs"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    if (comparison->quotes[i].gpu != NULL)
      qm_paper_cell_set (&cells[i + 1],
                         g_strdup_printf ("%" G_GINT64_FORMAT " × %s",
                                          comparison->quotes[i].gpus,
                                          comparison->quotes[i].gpu),
                         NULL);
  cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, _ ("Machines"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    qm_paper_cell_set (
        &cells[i + 1],
        g_strdup_printf ("%" G_GINT64_FORMAT, comparison->quotes[i].machines),
        g_strdup_printf ("%" G_GINT64_FORMAT, comparison->quotes[i].machines));
  cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN,
                                  _ ("Missing, and in another quote"));
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      char *lacks = lacks_text (comparison->quotes[i].lacks);

      qm_paper_cell_set (&cells[i + 1],
                         lacks != NULL ? lacks : g_strdup (_ ("nothing")),
                         NULL);
    }
  add_known (maker, QM_MEASURE_PER_GPU, -1);
  add_known (maker, QM_MEASURE_DAY, -1);
}

/* --- trainings --- */

static void
add_days (const Maker *maker, guint index)
{
  const QmComparedTraining *training =
      &g_array_index (maker->comparison->trainings, QmComparedTraining, index);
  QmPaperCell *cells = add_known (maker, QM_MEASURE_RUN_DAYS, (int) index);

  if (cells == NULL)
    {
      /* Translators: a model. */
      g_autofree char *text =
          g_strdup_printf (_ ("%s: one training"), training->title);

      cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN, text);
    }
  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      const QmTrainingTime *time = &training->times[i];
      g_autofree char *range = NULL;

      if (time->reason != NULL)
        add_remark (&cells[i + 1], time->reason);
      if (!isfinite (time->low) || !isfinite (time->high))
        continue;
      range = qm_format_days_range (time->days, time->low, time->high);
      add_remark (&cells[i + 1], range);
    }
}

static void
add_added (const Maker *maker)
{
  const QmComparedTraining *training =
      &g_array_index (maker->comparison->trainings, QmComparedTraining, 0);
  QmPaperCell *cells = NULL;

  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    {
      const QmTrainingTime *time = &training->times[i];
      g_autofree char *amount = NULL;

      if (time->added == NULL)
        continue;
      if (cells == NULL)
        cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN,
                                        _ ("Counted besides"));
      if (isfinite (time->added_minor))
        amount = qm_minor_for_people (llround (time->added_minor),
                                      maker->comparison->terms.currency);
      qm_paper_cell_set (
          &cells[i + 1],
          g_strdup_printf ("%s\n%s", time->added,
                           amount != NULL ? amount : _ ("no price is known")),
          NULL);
    }
}

static void
add_compared_trainings (const Maker *maker)
{
  if (maker->comparison->trainings->len == 0)
    return;
  add_section (maker, _ ("What trainings take and cost"));
  for (guint i = 0; i < maker->comparison->trainings->len; i++)
    {
      add_days (maker, i);
      add_known (maker, QM_MEASURE_RUN_COST, (int) i);
    }
  add_known (maker, QM_MEASURE_YEAR_DAYS, 0);
  add_known (maker, QM_MEASURE_YEAR_COST, 0);
  add_added (maker);
}

/* --- part by part --- */

/* "8 × NVIDIA H100".  (transfer full) */
static char *
line_text (const QmQuoteLine *line)
{
  const char *words =
      line->description != NULL ? line->description : line->part_number;
  g_autofree char *first =
      g_strndup (words != NULL ? words : "",
                 words != NULL ? strcspn (words, "\n") : 0);
  g_autofree char *quantity = NULL;

  if (g_utf8_strlen (first, -1) > CHARACTERS_TOLD)
    {
      char *end = g_utf8_offset_to_pointer (first, CHARACTERS_TOLD - 1);
      char *cut;

      *end = '\0';
      cut = g_strconcat (first, "…", NULL);
      g_free (first);
      first = cut;
    }
  if (line->quantity_micros == QM_AMOUNT_UNSTATED
      || line->quantity_micros == QM_MICROS_PER_UNIT)
    return g_steal_pointer (&first);
  quantity = qm_micros_to_text (line->quantity_micros, 0);
  return g_strdup_printf ("%s × %s", quantity, first);
}

static void
set_part (const Maker *maker, QmPaperCell *cell, const QmComparedPart *part)
{
  guint told = MIN (part->lines->len, LINES_TOLD);

  if (part->state == QM_STATE_PRICED)
    set_amount (maker, cell, part->minor);
  else
    add_remark (cell, part->state == QM_STATE_CONTAINED  ? _ ("contained")
                      : part->state == QM_STATE_UNPRICED ? _ ("no price told")
                                                         : _ ("not named"));
  for (guint i = 0; i < told; i++)
    {
      g_autofree char *text = line_text (g_ptr_array_index (part->lines, i));

      if (*text != '\0')
        add_remark (cell, text);
    }
  if (told < part->lines->len)
    {
      guint n = part->lines->len - told;
      g_autofree char *more = g_strdup_printf (
          ngettext ("and %u more line", "and %u more lines", n), n);

      add_remark (cell, more);
    }
}

static void
add_parts (const Maker *maker)
{
  add_section (maker, _ ("Part by part, without tax"));
  for (guint i = 0; i < QM_N_PARTS; i++)
    {
      gboolean offered = FALSE;
      QmPaperCell *cells;

      for (guint j = 0; j < maker->comparison->n_quotes; j++)
        offered =
            offered
            || maker->comparison->quotes[j].parts[i].state != QM_STATE_MISSING;
      if (!offered)
        continue;
      cells = qm_paper_table_add_row (maker->table, QM_ROW_PLAIN,
                                      qm_offer_part_text ((QmOfferPart) i));
      for (guint j = 0; j < maker->comparison->n_quotes; j++)
        if (i == QM_PART_OPTIONS
            && maker->comparison->quotes[j].parts[i].state != QM_STATE_MISSING)
          {
            QmComparedPart options = maker->comparison->quotes[j].parts[i];

            options.state = QM_STATE_PRICED;
            set_part (maker, &cells[j + 1], &options);
          }
        else
          set_part (maker, &cells[j + 1],
                    &maker->comparison->quotes[j].parts[i]);
    }
}

/* --- what to know --- */

static void
add_best (const Maker *maker)
{
  const QmQuoteComparison *comparison = maker->comparison;
  gboolean told = FALSE;

  for (guint i = 0; i < comparison->measures->len; i++)
    {
      const QmComparedMeasure *measure =
          &g_array_index (comparison->measures, QmComparedMeasure, i);
      g_autofree char *text = measure_text (comparison, measure);
      g_autoptr (GString) names = g_string_new (NULL);
      g_autofree char *line = NULL;

      for (guint j = 0; j < comparison->n_quotes; j++)
        if ((measure->winners & 1u << j) != 0)
          {
            g_autofree char *name = qm_compared_title (&comparison->quotes[j]);

            g_string_append_printf (names, "%s%s", names->len > 0 ? "; " : "",
                                    name);
          }
      if (names->len == 0)
        continue;
      if (!told)
        qm_paper_add (maker->paper, QM_PAPER_HEADING,
                      _ ("Lowest by each measure"));
      told = TRUE;
      /* Translators: what is compared, the quotes that are lowest. */
      line = g_strdup_printf (_ ("%s: %s"), text, names->str);
      qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
    }
}

static void
add_note (const Maker *maker, const char *name, const char *note)
{
  g_autofree char *line = name != NULL
                              ? g_strdup_printf (_ ("%s: %s"), name, note)
                              : g_strdup (note);

  qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
}

/* What holds for all of them. */
static void
add_common_notes (const Maker *maker)
{
  const QmComparedTerms *terms = &maker->comparison->terms;
  g_autofree char *years = qm_format_number (terms->lifetime_years, 1);
  g_autofree char *basis =
      g_strdup_printf (_ ("Amounts are in %s and without tax, unless they say "
                          "otherwise; each is converted at the reference rate "
                          "of the European Central Bank of the quote’s day."),
                       terms->currency);
  g_autofree char *life =
      /* Translators: a number of years. */
      g_strdup_printf (_ ("A day of its life is the amount without tax spread "
                          "over %s years of 365 days; a training costs its "
                          "days of that of one machine."),
                       years);
  g_autofree char *factor =
      qm_prose_time_factor (maker->comparison->time_factor);

  add_note (maker, NULL, basis);
  if (terms->tax_percent > 0 || terms->tax_free)
    {
      g_autofree char *percent = qm_format_percentage (terms->tax_percent, 2);
      g_autofree char *tax =
          /* Translators: a percentage. */
          g_strdup_printf (_ ("Where a quote does not tell its tax, %s are "
                              "counted."),
                           percent);

      add_note (maker, NULL, tax);
    }
  add_note (maker, NULL, life);
  if (factor != NULL)
    add_note (maker, NULL, factor);
}

/* The lines that are not known to be of which GPU. */
static void
add_notes_of_lines (const Maker *maker, const char *name, const QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = qm_quote_line_at (quote, i);
      g_auto (GStrv) ids = NULL;
      g_autofree char *all = NULL;
      g_autofree char *note = NULL;

      if (line->match != QM_MATCH_AMBIGUOUS || line->candidates == NULL)
        continue;
      ids = g_strsplit (line->candidates, ";", 0);
      all = g_strjoinv (", ", ids);
      note =
          /* Translators: a number, ids of GPUs. */
          g_strdup_printf (_ ("line %u may be one of %s, and its GPUs do not "
                              "count until you say which"),
                           i + 1, all);
      add_note (maker, name, note);
    }
}

static void
add_notes_of (const Maker *maker, const QmComparedQuote *compared)
{
  g_autofree char *name = qm_compared_title (compared);
  g_autofree char *lacks = lacks_text (
      compared->lacks & (1u << QM_PART_GPUS | 1u << QM_PART_SERVER));
  guint n_open = qm_quote_n_open (compared->quote);

  if (compared->reason != NULL)
    add_note (maker, name, compared->reason);
  if (lacks != NULL)
    {
      g_autofree char *note =
          /* Translators: parts of an offer: "Server". */
          g_strdup_printf (_ ("not a whole offer (%s is missing), and so never "
                              "the lowest amount"),
                           lacks);

      add_note (maker, name, note);
    }
  if (n_open > 0)
    {
      g_autofree char *note = g_strdup_printf (
          ngettext ("%u question about it is open, so that not all of it may "
                    "count",
                    "%u questions about it are open, so that not all of it "
                    "may count",
                    n_open),
          n_open);

      add_note (maker, name, note);
    }
  add_notes_of_lines (maker, name, compared->quote);
  if (compared->net_minor >= 0 && qm_quote_tax_is_untold (compared->quote))
    add_note (maker, name,
              _ ("whether its prices contain tax is not told: they are taken "
                 "as without, so ask the vendor"));
}

static void
add_notes (const Maker *maker)
{
  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("About the numbers"));
  add_common_notes (maker);
  for (guint i = 0; i < maker->comparison->n_quotes; i++)
    add_notes_of (maker, &maker->comparison->quotes[i]);
}

QmPaper *
qm_compare_paper_new (const QmQuoteComparison *comparison)
{
  Maker maker = { .comparison = comparison };
  g_autoptr (GPtrArray) heads = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *date = NULL;

  g_return_val_if_fail (comparison != NULL, NULL);

  date = qm_format_date (comparison->terms.today);
  maker.paper = qm_paper_new (_ ("Comparison of Quotes"), date);
  g_ptr_array_add (heads, g_strdup (comparison->terms.currency));
  for (guint i = 0; i < comparison->n_quotes; i++)
    g_ptr_array_add (heads, qm_compared_title (&comparison->quotes[i]));
  g_ptr_array_add (heads, NULL);
  maker.table = qm_paper_add_table (maker.paper, _ ("Comparison"),
                                    (const char *const *) heads->pdata);
  add_totals (&maker);
  add_offered (&maker);
  add_compared_trainings (&maker);
  add_parts (&maker);
  add_best (&maker);
  add_notes (&maker);
  return maker.paper;
}
