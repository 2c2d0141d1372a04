/* SPDX-License-Identifier: Apache-2.0 */

/* What the totals of a spreadsheet say of tax. */

#include "config.h"

#include "pricing/formats/qm-csv-settle-private.h"

#include "pricing/formats/qm-csv-tax.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>

__extension__ typedef __int128 Wide;

/* The rate of tax by which a line's total is above its quantity times its
 * price, in tenths of a percent; 0: it is not, -1: by no such rate. */
static int
rate_above (const QmQuote *quote, const QmQuoteLine *line)
{
  gint64 cost = qm_quote_line_computed (quote, line);
  int rate;

  if (!qm_amount_is_stated (cost) || !qm_amount_is_stated (line->total_minor)
      || cost <= 0)
    return 0;
  if (line->total_minor == cost)
    return -1;
  rate = qm_csv_tax_rate (cost, line->total_minor - cost, 1);
  return rate > 0 ? rate : -1;
}

void
qm_csv_settle_taxed_totals (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  int rate = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      int above = rate_above (quote, g_ptr_array_index (quote->lines, i));

      if (above < 0 || (above > 0 && rate > 0 && above != rate))
        return;
      rate = MAX (rate, above);
    }
  if (rate == 0 || draft->is_ours || quote->tax_included == QM_YES)
    return;
  /* What a net amount is made of has no tax, whatever else is in it. */
  for (guint i = 0; i < draft->nets->len; i++)
    if (qm_csv_is_same (draft, g_array_index (draft->nets, gint64, i),
                        qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)))
      return;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (rate_above (quote, line) == rate)
        line->total_minor = qm_quote_line_computed (quote, line);
    }
  quote->tax_included = QM_NO;
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                        _ ("The totals of lines contain tax, and the prices do "
                           "not; lines were reckoned by their prices."));
}

void
qm_csv_divide_discount (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 net =
      qm_amount_is_stated (quote->net_minor)
          ? quote->net_minor
          : qm_csv_allow (quote, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED));
  gint64 gross, off = draft->after_tax, tax;
  g_autofree char *of_net = NULL;
  g_autofree char *whole = NULL;

  if (off == 0)
    return;
  if (!qm_amount_is_stated (off) || !qm_amount_is_stated (net) || net <= 0
      || __builtin_add_overflow (net, quote->tax_minor, &gross) || off >= gross)
    {
      qm_read_find (quote, QM_FINDING_WARNING, NULL,
                    _ ("A discount stands below the tax, and from what it is "
                       "taken is not clear; it was left out."));
      return;
    }
  tax = (gint64) (((Wide) quote->tax_minor * off + gross / 2) / gross);
  quote->tax_minor -= tax;
  qm_csv_add_amount (&quote->discount_minor, off - tax);
  whole = qm_minor_for_people (off, quote->currency);
  of_net = qm_minor_for_people (off - tax, quote->currency);
  qm_read_find (quote, QM_FINDING_NOTE, NULL,
                _ ("A discount of %s is taken from the amount with tax; "
                   "without tax it is %s, and the tax becomes less, too."),
                whole, of_net);
}

/* Whether a line may be a tax under a name that nobody knows. */
static gboolean
is_tax_row (const QmCsvDraft *draft, guint i)
{
  const QmCsvLineNote *note = &g_array_index (draft->notes, QmCsvLineNote, i);
  const QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

  return note->bare && note->above > 0 && line->role == QM_LINE_QUOTED
         && qm_amount_is_stated (line->total_minor) && line->total_minor > 0;
}

static void
remove_row (QmCsvDraft *draft, guint i, const char *format)
{
  QmQuote *quote = draft->quote;
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
  g_autofree char *excerpt = qm_read_excerpt (line->description);

  qm_read_find (quote, QM_FINDING_NOTE, NULL, format, excerpt);
  qm_csv_add_amount (&quote->tax_minor, line->total_minor);
  g_ptr_array_remove_index (quote->lines, i);
  g_array_remove_index (draft->notes, i);
  if (draft->n_summed > i)
    draft->n_summed--;
  if (draft->again > i)
    draft->again--;
}

/* What "total" means above such a tax and below it. */
static void
move_total (QmCsvDraft *draft, gint64 above, gint64 below)
{
  if (draft->before != below)
    return;
  draft->after = below;
  draft->before = draft->n_before > 1 ? above : QM_AMOUNT_UNSTATED;
  draft->n_before = MIN (draft->n_before, 1);
}

void
qm_csv_settle_tax_rows (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;

  if (draft->is_ours)
    return;
  for (guint i = quote->lines->len; i > 0; i--)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i - 1);
      QmCsvLineNote note = g_array_index (draft->notes, QmCsvLineNote, i - 1);
      gint64 told =
          qm_amount_is_stated (quote->tax_minor) ? quote->tax_minor : 0;
      gint64 tax = line->total_minor;

      if (!is_tax_row (draft, i - 1))
        continue;
      if (note.below != 0 && note.below == note.above + told + tax
          && qm_csv_tax_rate (note.above, tax, 1) > 0)
        {
          remove_row (draft, i - 1,
                      _ ("“%s” stands between two totals and comes to the rate "
                         "of a tax; it was read as that."));
          move_total (draft, note.above, note.below);
        }
      else if (told == 0 && (note.below == 0 || note.below == note.above)
               && tax < note.above
               && qm_csv_tax_rate (note.above - tax, tax, 1) > 0)
        {
          remove_row (draft, i - 1,
                      _ ("“%s” stands below a total and comes to the tax in "
                         "it; it was read as that."));
          draft->tax_within = TRUE;
        }
    }
}

/* The tax between the net amount and what is to be paid, where the document
 * tells it or it comes to a usual rate; 0: there is none. */
static gint64
find_tax (const QmCsvDraft *draft)
{
  const QmQuote *quote = draft->quote;
  gint64 net = quote->net_minor, gross = quote->payable_minor;

  if (!qm_amount_is_stated (net) || !qm_amount_is_stated (gross) || net <= 0
      || gross <= net)
    return 0;
  if (qm_amount_is_stated (quote->tax_minor))
    return ABS (gross - net - quote->tax_minor) <= 1 ? quote->tax_minor : 0;
  return draft->gross || qm_csv_tax_rate (net, gross - net, 1) > 0 ? gross - net
                                                                   : 0;
}

/* Whether the lines come to what is to be paid, which contains tax. */
static gboolean
are_gross (const QmCsvDraft *draft, gint64 lines)
{
  const QmQuote *quote = draft->quote;

  if (draft->net_said && quote->net_minor == quote->payable_minor)
    return FALSE;
  return qm_csv_is_same (draft, quote->payable_minor, lines)
         && (find_tax (draft) > 0
             || (draft->gross
                 && (!qm_amount_is_stated (quote->tax_minor)
                     || qm_csv_tax_rate (quote->payable_minor
                                             - quote->tax_minor,
                                         quote->tax_minor, 2)
                            > 0)));
}

void
qm_csv_settle_gross (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 lines =
      qm_csv_allow (quote, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED));
  gint64 gross =
      qm_amount_is_stated (quote->payable_minor) ? quote->payable_minor : lines;
  g_autofree char *tax = NULL;

  if (draft->is_ours)
    return;
  if (quote->tax_included == QM_UNSTATED && are_gross (draft, lines))
    {
      quote->tax_included = QM_YES;
      if (!qm_amount_is_stated (quote->tax_minor) && find_tax (draft) > 0)
        quote->tax_minor = find_tax (draft);
      qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                            _ ("The lines come to the total with tax, so "
                               "that they contain it, too."));
    }
  if (quote->tax_included != QM_YES || qm_amount_is_stated (quote->tax_minor)
      || qm_amount_is_stated (quote->net_minor) || draft->tax_rate <= 0
      || !qm_amount_is_stated (gross) || gross <= 0)
    return;
  quote->tax_minor = qm_csv_tax_within (gross, draft->tax_rate);
  tax = qm_minor_for_people (quote->tax_minor, quote->currency);
  qm_read_find (quote, QM_FINDING_NOTE, NULL,
                _ ("How much tax is contained was reckoned from its rate: %s."),
                tax);
}
