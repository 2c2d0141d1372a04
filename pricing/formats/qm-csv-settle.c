/* SPDX-License-Identifier: Apache-2.0 */

/* What the totals of a spreadsheet mean, and which lines they are of. */

#include "config.h"

#include "pricing/formats/qm-csv-settle-private.h"

#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

__extension__ typedef __int128 Wide;

static void
to_minor (const QmQuote *quote, gint64 *amount)
{
  if (qm_amount_is_stated (*amount))
    *amount = qm_money_from_micros (*amount, quote->currency).minor;
}

/* Whether the price has been reduced by the discount already: then quantity and
 * price come to the line's total without it. */
static gboolean
contains_discount (const QmQuote *quote, QmQuoteLine *line)
{
  gint64 discount = line->discount_minor, cost;

  line->discount_minor = 0;
  cost = qm_quote_line_computed (quote, line);
  line->discount_minor = discount;
  return cost != QM_AMOUNT_UNSTATED && line->total_minor == cost;
}

/* The discount that a percentage of quantity x price comes to. */
static void
apply_percent (const QmQuote *quote, QmQuoteLine *line, gint64 percent)
{
  const Wide whole = (Wide) 100 * QM_MICROS_PER_UNIT;
  gint64 cost = qm_quote_line_computed (quote, line);

  if (line->discount_minor == 0 && cost != QM_AMOUNT_UNSTATED && cost >= 0)
    line->discount_minor =
        (gint64) (((Wide) cost * percent + whole / 2) / whole);
}

/* Returns whether the discount was left out, being in the price. */
static gboolean
finish_discount (const QmCsvDraft *draft, QmQuoteLine *line, gint64 percent)
{
  const QmQuote *quote = draft->quote;

  if (draft->is_ours || (percent == 0 && line->discount_minor == 0))
    return FALSE;
  if (contains_discount (quote, line))
    {
      line->discount_minor = 0;
      return TRUE;
    }
  if (percent != 0)
    apply_percent (quote, line, percent);
  return FALSE;
}

static gboolean
is_late (const QmCsvDraft *draft, guint i)
{
  return draft->has_totals && i >= draft->n_summed;
}

static gboolean
is_perhaps (const QmCsvDraft *draft, guint i)
{
  return g_array_index (draft->notes, QmCsvLineNote, i).perhaps;
}

static gboolean
is_summed (const QmCsvDraft *draft, guint i, guint which)
{
  const QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

  if (line->role == QM_LINE_OPTION)
    return (which & QM_CSV_WITH_OPTIONS) != 0;
  return line->role == QM_LINE_QUOTED
         && ((which & QM_CSV_WITH_LATE) != 0 || !is_late (draft, i))
         && ((which & QM_CSV_WITH_PERHAPS) != 0 || !is_perhaps (draft, i));
}

gint64
qm_csv_sum_lines (const QmCsvDraft *draft, guint which)
{
  const QmQuote *quote = draft->quote;
  gint64 sum = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      gint64 cost =
          qm_quote_line_cost (quote, g_ptr_array_index (quote->lines, i));

      if (qm_amount_is_stated (cost) && is_summed (draft, i, which)
          && __builtin_add_overflow (sum, cost, &sum))
        return QM_AMOUNT_UNSTATED;
    }
  return sum;
}

gint64
qm_csv_allow (const QmQuote *quote, gint64 lines)
{
  gint64 sum;

  if (!qm_amount_is_stated (lines)
      || __builtin_sub_overflow (
          lines, qm_amount_or_nothing (quote->discount_minor), &sum)
      || __builtin_add_overflow (
          sum, qm_amount_or_nothing (quote->charge_minor), &sum))
    return QM_AMOUNT_UNSTATED;
  return sum;
}

gboolean
qm_csv_is_same (const QmCsvDraft *draft, gint64 a, gint64 b)
{
  Wide difference = (Wide) a - b;

  return qm_amount_is_stated (a) && qm_amount_is_stated (b)
         && (difference < 0 ? -difference : difference)
                <= (Wide) draft->notes->len;
}

/* Whether a total that is written is what such lines come to. */
static gboolean
explains (const QmCsvDraft *draft, gint64 lines)
{
  const QmQuote *quote = draft->quote;
  gint64 net = qm_csv_allow (quote, lines), gross;

  for (guint i = 0; i < draft->nets->len; i++)
    if (qm_csv_is_same (draft, g_array_index (draft->nets, gint64, i), net)
        || qm_csv_is_same (draft, g_array_index (draft->nets, gint64, i),
                           lines))
      return TRUE;
  if (qm_csv_is_same (draft, draft->before, net)
      || qm_csv_is_same (draft, draft->before, lines)
      || qm_csv_is_same (draft, quote->payable_minor, net))
    return TRUE;
  return qm_amount_is_stated (net)
         && !__builtin_add_overflow (net,
                                     qm_amount_or_nothing (quote->tax_minor),
                                     &gross)
         && (qm_csv_is_same (draft, quote->payable_minor, gross)
             || qm_csv_is_same (draft, draft->after, gross));
}

/* Makes options of lines that are quoted, but not among `which`. */
static void
set_options (QmCsvDraft *draft, guint which, const char *finding)
{
  for (guint i = 0; i < draft->quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

      if (line->role == QM_LINE_QUOTED && !is_summed (draft, i, which))
        line->role = QM_LINE_OPTION;
    }
  qm_quote_add_finding (draft->quote, QM_FINDING_NOTE, NULL, finding);
}

static void
set_quoted (QmCsvDraft *draft)
{
  for (guint i = 0; i < draft->quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

      if (line->role == QM_LINE_OPTION)
        line->role = QM_LINE_QUOTED;
    }
  qm_quote_add_finding (draft->quote, QM_FINDING_NOTE, NULL,
                        _ ("What is called optional is in the total, so it "
                           "counts."));
}

/* Whether the totals are what some of the lines come to, and others are left
 * over. */
static gboolean
are_rest (const QmCsvDraft *draft, guint which)
{
  gint64 sum = qm_csv_sum_lines (draft, which);

  return sum != qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)
         && explains (draft, sum);
}

/* What the lines of a part of the table come to. */
static gint64
sum_between (const QmCsvDraft *draft, guint first, guint end)
{
  const QmQuote *quote = draft->quote;
  gint64 sum = 0;

  for (guint i = first; i < end; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      gint64 cost = qm_quote_line_cost (quote, line);

      if (line->role == QM_LINE_QUOTED && qm_amount_is_stated (cost)
          && __builtin_add_overflow (sum, cost, &sum))
        return QM_AMOUNT_UNSTATED;
    }
  return sum;
}

/* Whether the lines below a repeated header are those above it once more: they
 * come to the same amount, with other words, and no total is that of both. */
static gboolean
tells_again (const QmCsvDraft *draft)
{
  const GPtrArray *lines = draft->quote->lines;
  const QmQuoteLine *above = g_ptr_array_index (lines, 0);
  const QmQuoteLine *below = g_ptr_array_index (lines, draft->again);
  gint64 sum = sum_between (draft, 0, draft->again);

  return qm_amount_is_stated (sum) && sum > 0
         && qm_csv_is_same (draft, sum,
                            sum_between (draft, draft->again, lines->len))
         && g_strcmp0 (above->description, below->description) != 0
         && !explains (draft, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED));
}

static gboolean
names_model (const QmQuote *quote, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->description != NULL && qm_words_name_model (line->description))
        return TRUE;
    }
  return FALSE;
}

/* Whether a line is in one above it by its words: what stands there costs no
 * less. */
static gboolean
is_within (const QmCsvDraft *draft, guint i)
{
  const QmQuote *quote = draft->quote;
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
  gint64 cost = qm_quote_line_cost (quote, line), above;
  guint j = i;

  if (!g_array_index (draft->notes, QmCsvLineNote, i).within
      || line->role != QM_LINE_QUOTED || !qm_amount_is_stated (cost)
      || cost <= 0)
    return FALSE;
  while (j > 0 && g_array_index (draft->notes, QmCsvLineNote, j).within)
    j--;
  above = qm_quote_line_cost (quote, g_ptr_array_index (quote->lines, j));
  return qm_amount_is_stated (above) && cost <= above
         && !g_array_index (draft->notes, QmCsvLineNote, j).within;
}

/* What "davon", "of which" and the like say is in the line above counts once,
 * where the totals do without it, or there are none. */
static gboolean
settle_within (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  g_autoptr (GArray) within = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < quote->lines->len; i++)
    if (is_within (draft, i))
      g_array_append_val (within, i);
  for (guint i = 0; i < within->len; i++)
    ((QmQuoteLine *) g_ptr_array_index (quote->lines,
                                        g_array_index (within, guint, i)))
        ->role = QM_LINE_PART;
  if (within->len == 0 || !draft->has_totals
      || explains (draft, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)))
    return within->len > 0;
  for (guint i = 0; i < within->len; i++)
    ((QmQuoteLine *) g_ptr_array_index (quote->lines,
                                        g_array_index (within, guint, i)))
        ->role = QM_LINE_QUOTED;
  return FALSE;
}

/* What is in the total is quoted, whatever words stand beside it; what is not
 * in it, and stands below it or is called an upgrade, can be had besides. */
static void
settle_roles (QmCsvDraft *draft)
{
  if (draft->is_ours
      || explains (draft, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)))
    return;
  if (settle_within (draft))
    {
      qm_quote_add_finding (draft->quote, QM_FINDING_NOTE, NULL,
                            _ ("Lines that say they are in the one above count "
                               "once, as parts of it."));
      return;
    }
  if (qm_csv_nest (draft->quote))
    {
      qm_quote_add_finding (draft->quote, QM_FINDING_NOTE, NULL,
                            _ ("Lines with a number below that of another "
                               "come to its price; they are what it is made "
                               "of, and count once."));
      if (explains (draft, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)))
        return;
    }
  if (are_rest (draft, QM_CSV_AS_QUOTED | QM_CSV_WITH_OPTIONS))
    set_quoted (draft);
  else if (are_rest (draft, QM_CSV_WITH_PERHAPS))
    set_options (draft, QM_CSV_WITH_PERHAPS,
                 _ ("What stands below the total is not in it, so it does "
                    "not count."));
  else if (are_rest (draft, QM_CSV_WITH_LATE) || are_rest (draft, 0))
    set_options (draft,
                 are_rest (draft, QM_CSV_WITH_LATE) ? QM_CSV_WITH_LATE : 0,
                 _ ("What is called an upgrade is not in the total, so it "
                    "does not count."));
}

/* Whether a total is written, and whether one is such an amount. */
static gboolean
has_total_of (const QmCsvDraft *draft, gint64 amount, gboolean *any)
{
  gint64 others[] = { draft->before, draft->after,
                      draft->quote->payable_minor };
  gboolean found = FALSE;

  *any = draft->nets->len > 0;
  for (guint i = 0; i < draft->nets->len; i++)
    found = found
            || qm_csv_is_same (draft, g_array_index (draft->nets, gint64, i),
                               amount);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      *any = *any || qm_amount_is_stated (others[i]);
      found = found || qm_csv_is_same (draft, others[i], amount);
    }
  return found;
}

/* A discount that depends on the payment counts where a total contains it. */
static void
settle_payment (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 with =
      qm_csv_allow (quote, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED));
  gint64 without;
  gboolean any;

  if (draft->by_payment <= 0 || !qm_amount_is_stated (with)
      || qm_amount_or_nothing (quote->discount_minor) < draft->by_payment
      || __builtin_add_overflow (with, draft->by_payment, &without)
      || has_total_of (draft, with, &any)
      || (any && !has_total_of (draft, without, &any)))
    return;
  quote->discount_minor -= draft->by_payment;
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                        _ ("A discount that depends on the payment is in no "
                           "total, so it was not taken off."));
}

/* A discount of which the percentage alone is written is taken off, unless the
 * totals do not know of it. */
static void
settle_percent (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  const Wide whole = (Wide) 100 * QM_MICROS_PER_UNIT;
  gint64 lines = qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED);
  gint64 before = quote->discount_minor, off;
  g_autofree char *amount = NULL;

  if (draft->percent == 0 || !qm_amount_is_stated (lines) || lines <= 0)
    return;
  off = (gint64) (((Wide) lines * draft->percent + whole / 2) / whole);
  qm_csv_add_amount (&quote->discount_minor, off);
  if (draft->has_totals && !explains (draft, lines))
    {
      quote->discount_minor = before;
      return;
    }
  amount = qm_minor_for_people (off, quote->currency);
  qm_read_find (quote, QM_FINDING_NOTE, NULL,
                _ ("A discount is written as a percentage alone; it was "
                   "reckoned as %s."),
                amount);
}

/* Whether the only net amount is that of some lines, below which others are
 * added that name goods: "Zwischensumme", "Montage im Rack", "Gesamt". */
static gboolean
is_before_more (const QmCsvDraft *draft)
{
  const QmQuote *quote = draft->quote;
  gint64 net = g_array_index (draft->nets, gint64, 0);
  gint64 sum = 0;

  if (qm_csv_is_same (draft, net, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED))
      || !explains (draft, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED)))
    return FALSE;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      gint64 cost = qm_quote_line_cost (quote, line);
      const QmCsvLineNote *note =
          &g_array_index (draft->notes, QmCsvLineNote, i);

      if (!qm_amount_is_stated (cost) || line->role != QM_LINE_QUOTED)
        continue;
      if (note->above != net && __builtin_add_overflow (sum, cost, &sum))
        return FALSE;
      if (note->above == net && note->bare)
        return FALSE;
    }
  return qm_csv_is_same (draft, sum, net);
}

/* Whether an amount stands between what is taken off and what is added: of
 * "Subtotal" above "Shipping" the discounts are off, and no charge is in it. */
static gboolean
is_between (const QmCsvDraft *draft, gint64 net, gint64 lines)
{
  gint64 discount = qm_amount_or_nothing (draft->quote->discount_minor);
  gint64 charge = qm_amount_or_nothing (draft->quote->charge_minor);
  gint64 without, with;

  return discount != 0 && charge != 0 && qm_amount_is_stated (lines)
         && !__builtin_sub_overflow (lines, discount, &without)
         && !__builtin_add_overflow (lines, charge, &with)
         && !qm_csv_is_same (draft, net, lines)
         && (qm_csv_is_same (draft, net, without)
             || qm_csv_is_same (draft, net, with));
}

/* Of several rows that may be the net amount, the one that the lines come to
 * once all is taken off, or that agrees with the tax. */
static gint64
choose_net (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 lines = qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED);
  gint64 net = qm_csv_allow (quote, lines), untaxed;
  gint64 wanted[3] = { net, QM_AMOUNT_UNSTATED, lines };

  if (qm_amount_is_stated (quote->payable_minor)
      && qm_amount_is_stated (quote->tax_minor)
      && !__builtin_sub_overflow (quote->payable_minor, quote->tax_minor,
                                  &untaxed))
    wanted[1] = untaxed;
  if (draft->nets->len == 1)
    {
      gint64 only = g_array_index (draft->nets, gint64, 0);

      return is_before_more (draft) || is_between (draft, only, lines)
                 ? QM_AMOUNT_UNSTATED
                 : only;
    }
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    for (guint j = 0; j < draft->nets->len; j++)
      if (qm_csv_is_same (draft, g_array_index (draft->nets, gint64, j),
                          wanted[i]))
        return g_array_index (draft->nets, gint64, j);
  if (draft->nets->len > 1)
    qm_read_find (quote, QM_FINDING_NOTE, NULL,
                  _ ("There are %u subtotals; they were not used."),
                  draft->nets->len);
  return QM_AMOUNT_UNSTATED;
}

/* "Total" before a tax is net, unless that contains it; after it, or without
 * one, to be paid. */
static void
place_generic (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 lines = qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED);

  /* "Summe Los 1", "Summe Los 2" */
  if (draft->n_before > 1 && qm_amount_is_stated (lines)
      && !qm_csv_is_same (draft, draft->before, qm_csv_allow (quote, lines))
      && qm_csv_is_same (draft, draft->sum_before, lines))
    draft->before = draft->sum_before;
  if (qm_amount_is_stated (draft->after)
      && !qm_amount_is_stated (quote->payable_minor))
    quote->payable_minor = draft->after;
  if (draft->tax_within && quote->tax_included == QM_UNSTATED)
    quote->tax_included = QM_YES;
  if (!qm_amount_is_stated (draft->before))
    return;
  /* Prices with tax come to a total with tax, wherever that is told. */
  if (quote->tax_included == QM_YES
      && qm_csv_is_same (
          draft, draft->before,
          qm_csv_allow (quote, qm_csv_sum_lines (draft, QM_CSV_AS_QUOTED))))
    draft->tax_within = TRUE;
  if (!qm_amount_is_stated (quote->payable_minor)
      && (!qm_amount_is_stated (quote->tax_minor) || draft->tax_within))
    quote->payable_minor = draft->before;
  else
    g_array_append_val (draft->nets, draft->before);
}

/* Lines below a repeated header that come to what those above it come to tell
 * of the same goods once more, in detail or in short: the lines of one of them
 * count, those that name GPUs, and so do the totals above. */
static void
settle_repeated (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  guint first = draft->again, n = quote->lines->len;
  gboolean keep_first;

  if (first == 0 || first >= n || draft->is_ours || !tells_again (draft))
    return;
  to_minor (quote, &draft->above.discount);
  to_minor (quote, &draft->above.charge);
  to_minor (quote, &draft->above.tax);
  to_minor (quote, &draft->above.payable);
  to_minor (quote, &draft->above.before);
  to_minor (quote, &draft->above.after);
  to_minor (quote, &draft->above.after_tax);
  keep_first = names_model (quote, 0, first) || !names_model (quote, first, n);
  qm_csv_draft_forget (draft, keep_first ? first : 0,
                       keep_first ? n - first : first);
  draft->n_summed = quote->lines->len;
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                        _ ("The table tells of the same goods twice, in short "
                           "and in detail. They count once."));
}

static void
finish_lines (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gboolean left_out = FALSE;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      to_minor (quote, &line->total_minor);
      to_minor (quote, &line->discount_minor);
      to_minor (quote, &line->charge_minor);
      left_out |= finish_discount (
          draft, line, g_array_index (draft->notes, QmCsvLineNote, i).percent);
    }
  if (left_out)
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("Prices contain the discounts that stand beside "
                             "them."));
}

void
qm_csv_draft_finish (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;

  to_minor (quote, &draft->before);
  to_minor (quote, &draft->sum_before);
  to_minor (quote, &draft->after);
  to_minor (quote, &draft->after_tax);
  for (guint i = 0; i < draft->nets->len; i++)
    to_minor (quote, &g_array_index (draft->nets, gint64, i));
  for (guint i = 0; i < draft->notes->len; i++)
    {
      to_minor (quote, &g_array_index (draft->notes, QmCsvLineNote, i).above);
      to_minor (quote, &g_array_index (draft->notes, QmCsvLineNote, i).below);
    }
  to_minor (quote, &quote->discount_minor);
  to_minor (quote, &quote->charge_minor);
  to_minor (quote, &quote->tax_minor);
  to_minor (quote, &quote->payable_minor);
  to_minor (quote, &draft->by_payment);
  finish_lines (draft);
  qm_csv_settle_taxed_totals (draft);
  settle_repeated (draft);
  qm_csv_settle_tax_rows (draft);
  settle_payment (draft);
  settle_roles (draft);
  settle_percent (draft);
  place_generic (draft);
  quote->net_minor = choose_net (draft);
  qm_csv_settle_gross (draft);
  qm_csv_divide_discount (draft);
  if (draft->pending != 0)
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("A discount below what is to be paid was not "
                             "taken off: it may depend on the payment."));
  if (quote->currency[0] == '\0')
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("The amounts are without a currency."));
}
