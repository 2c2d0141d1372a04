/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-draft.h"

#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

__extension__ typedef __int128 Wide;

QmCsvDraft *
qm_csv_draft_new (const QmQuote *head)
{
  QmCsvDraft *draft = g_new0 (QmCsvDraft, 1);

  draft->quote = qm_quote_copy (head);
  draft->notes = g_array_new (FALSE, TRUE, sizeof (QmCsvLineNote));
  draft->nets = g_array_new (FALSE, FALSE, sizeof (gint64));
  draft->before = QM_AMOUNT_UNSTATED;
  draft->after = QM_AMOUNT_UNSTATED;
  return draft;
}

void
qm_csv_draft_free (QmCsvDraft *draft)
{
  qm_quote_free (draft->quote);
  g_array_unref (draft->notes);
  g_array_unref (draft->nets);
  g_free (draft->folded);
  g_free (draft->tier);
  g_free (draft);
}

QmQuoteLine *
qm_csv_draft_add (QmCsvDraft *draft, QmLineRole role)
{
  g_array_set_size (draft->notes, draft->notes->len + 1);
  return qm_quote_add_line (draft->quote, role);
}

void
qm_csv_draft_set_percent (QmCsvDraft *draft, gint64 micros)
{
  g_array_index (draft->notes, QmCsvLineNote, draft->notes->len - 1).percent =
      micros;
}

void
qm_csv_draft_set_perhaps (QmCsvDraft *draft)
{
  g_array_index (draft->notes, QmCsvLineNote, draft->notes->len - 1).perhaps =
      TRUE;
}

void
qm_csv_draft_set_currency (QmCsvDraft *draft,
                           const char *currency,
                           guint row,
                           GError **error)
{
  if (draft->quote->currency[0] == '\0')
    memcpy (draft->quote->currency, currency, 4);
  else if (strcmp (draft->quote->currency, currency) != 0 && *error == NULL)
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_CURRENCY,
                 _ ("Row %u: amounts are in %s and in %s; a quote with several "
                    "currencies is not read."),
                 row + 1, draft->quote->currency, currency);
}

/* Adds to a sum that may not be stated yet. */
static void
add (gint64 *sum, gint64 amount)
{
  if (*sum == QM_AMOUNT_UNSTATED)
    *sum = amount;
  else if (__builtin_add_overflow (*sum, amount, sum))
    *sum = QM_AMOUNT_UNSTATED;
}

/* Below a tax it is taken from the amount with tax. */
static void
take_discount (QmCsvDraft *draft, gint64 amount)
{
  gint64 tax = draft->quote->tax_minor;

  if (tax != QM_AMOUNT_UNSTATED && tax > 0 && !draft->tax_within
      && draft->quote->tax_included != QM_YES)
    add (&draft->after_tax, amount);
  else
    add (&draft->quote->discount_minor, amount);
}

static void
add_discount (QmCsvDraft *draft, gint64 micros)
{
  gint64 amount = micros > G_MININT64 + 1 ? ABS (micros) : 0;

  if (draft->quote->payable_minor != QM_AMOUNT_UNSTATED
      || draft->after != QM_AMOUNT_UNSTATED)
    add (&draft->pending, amount);
  else
    take_discount (draft, amount);
}

/* A total below discounts contains them. */
static void
take_pending (QmCsvDraft *draft)
{
  if (draft->pending != 0)
    take_discount (draft, draft->pending);
  draft->pending = 0;
}

void
qm_csv_draft_add_total (QmCsvDraft *draft, QmCsvRowKind kind, gint64 micros)
{
  QmQuote *quote = draft->quote;

  draft->has_totals = TRUE;
  if (kind == QM_CSV_ROW_NET || kind == QM_CSV_ROW_TOTAL
      || kind == QM_CSV_ROW_PAYABLE)
    draft->n_summed = quote->lines->len;
  switch (kind)
    {
    case QM_CSV_ROW_NET:
      g_array_append_val (draft->nets, micros);
      break;
    case QM_CSV_ROW_DISCOUNT:
      add_discount (draft, micros);
      break;
    case QM_CSV_ROW_CHARGE:
      add (&quote->charge_minor, micros);
      break;
    case QM_CSV_ROW_TAX_WITHIN:
      draft->tax_within = TRUE;
      add (&quote->tax_minor, micros);
      break;
    case QM_CSV_ROW_TAX:
      if (micros != draft->table_tax)
        add (&quote->tax_minor, micros);
      break;
    case QM_CSV_ROW_PAYABLE:
      take_pending (draft);
      quote->payable_minor = micros;
      break;
    case QM_CSV_ROW_TOTAL:
      take_pending (draft);
      *(quote->tax_minor != QM_AMOUNT_UNSTATED ? &draft->after
                                               : &draft->before) = micros;
      break;
    case QM_CSV_ROW_LINE:
    default:
      break;
    }
}

void
qm_csv_draft_add_percent (QmCsvDraft *draft, gint64 micros)
{
  draft->percent =
      MIN (draft->percent + micros, 100 * (gint64) QM_MICROS_PER_UNIT);
}

/* Takes what is stated there and not here. */
static void
take_head (QmQuote *quote, const QmQuote *common)
{
  if (quote->issued_on.year == 0)
    quote->issued_on = common->issued_on;
  if (quote->valid_from.year == 0)
    quote->valid_from = common->valid_from;
  if (quote->valid_until.year == 0)
    quote->valid_until = common->valid_until;
  quote->asked |= common->asked;
  if (quote->currency[0] == '\0')
    memcpy (quote->currency, common->currency, 4);
  if (quote->note == NULL)
    quote->note = g_strdup (common->note);
}

/* Copies lines and what is known of them to a place among others. */
static void
insert_lines (QmCsvDraft *draft, guint at, const QmCsvDraft *other)
{
  g_autoptr (QmQuote) copy = qm_quote_copy (other->quote);
  gsize n;
  g_autofree gpointer *lines = g_ptr_array_steal (copy->lines, &n);

  if (n > 0)
    g_array_insert_vals (draft->notes, at, other->notes->data, (guint) n);
  for (gsize i = 0; i < n; i++)
    g_ptr_array_insert (draft->quote->lines, (int) (at + i), lines[i]);
}

void
qm_csv_draft_add_common (QmCsvDraft *draft, const QmCsvDraft *common)
{
  const QmQuote *from = common->quote;

  take_head (draft->quote, from);
  insert_lines (draft, 0, common);
  draft->n_summed += common->quote->lines->len;
  if (from->discount_minor != QM_AMOUNT_UNSTATED)
    add (&draft->quote->discount_minor, from->discount_minor);
  if (from->charge_minor != QM_AMOUNT_UNSTATED)
    add (&draft->quote->charge_minor, from->charge_minor);
  if (draft->percent == 0)
    draft->percent = common->percent;
}

void
qm_csv_draft_add_besides (QmCsvDraft *draft, const QmCsvDraft *besides)
{
  guint first = draft->quote->lines->len;

  insert_lines (draft, first, besides);
  for (guint i = first; i < draft->quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

      if (line->role == QM_LINE_QUOTED || line->role == QM_LINE_PART)
        line->role = QM_LINE_OPTION;
    }
}

static gboolean
is_stated (gint64 amount)
{
  return amount != QM_AMOUNT_UNSTATED;
}

static gint64
or_nothing (gint64 amount)
{
  return is_stated (amount) ? amount : 0;
}

static void
to_minor (const QmQuote *quote, gint64 *amount)
{
  if (is_stated (*amount))
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

/* Which lines are added up besides those that are surely quoted. */
enum
{
  WITH_OPTIONS = 1,
  WITH_LATE = 2,    /* below the last total */
  WITH_PERHAPS = 4, /* that may be in none */
  AS_QUOTED = WITH_LATE | WITH_PERHAPS
};

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
    return (which & WITH_OPTIONS) != 0;
  return line->role == QM_LINE_QUOTED
         && ((which & WITH_LATE) != 0 || !is_late (draft, i))
         && ((which & WITH_PERHAPS) != 0 || !is_perhaps (draft, i));
}

static gint64
sum_lines (const QmCsvDraft *draft, guint which)
{
  const QmQuote *quote = draft->quote;
  gint64 sum = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      gint64 cost =
          qm_quote_line_cost (quote, g_ptr_array_index (quote->lines, i));

      if (is_stated (cost) && is_summed (draft, i, which)
          && __builtin_add_overflow (sum, cost, &sum))
        return QM_AMOUNT_UNSTATED;
    }
  return sum;
}

/* Lines less the discounts of the whole quote, with its charges. */
static gint64
allow (const QmQuote *quote, gint64 lines)
{
  gint64 sum;

  if (!is_stated (lines)
      || __builtin_sub_overflow (lines, or_nothing (quote->discount_minor),
                                 &sum)
      || __builtin_add_overflow (sum, or_nothing (quote->charge_minor), &sum))
    return QM_AMOUNT_UNSTATED;
  return sum;
}

/* Whether two amounts are one but for the rounding of each line. */
static gboolean
is_same (const QmCsvDraft *draft, gint64 a, gint64 b)
{
  Wide difference = (Wide) a - b;

  return is_stated (a) && is_stated (b)
         && (difference < 0 ? -difference : difference)
                <= (Wide) draft->notes->len;
}

/* Whether a total that is written is what such lines come to. */
static gboolean
explains (const QmCsvDraft *draft, gint64 lines)
{
  const QmQuote *quote = draft->quote;
  gint64 net = allow (quote, lines), gross;

  for (guint i = 0; i < draft->nets->len; i++)
    if (is_same (draft, g_array_index (draft->nets, gint64, i), net)
        || is_same (draft, g_array_index (draft->nets, gint64, i), lines))
      return TRUE;
  if (is_same (draft, draft->before, net)
      || is_same (draft, draft->before, lines)
      || is_same (draft, quote->payable_minor, net))
    return TRUE;
  return is_stated (net)
         && !__builtin_add_overflow (net, or_nothing (quote->tax_minor), &gross)
         && (is_same (draft, quote->payable_minor, gross)
             || is_same (draft, draft->after, gross));
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
  gint64 sum = sum_lines (draft, which);

  return sum != sum_lines (draft, AS_QUOTED) && explains (draft, sum);
}

/* What is in the total is quoted, whatever words stand beside it; what is not
 * in it, and stands below it or is called an upgrade, can be had besides. */
static void
settle_roles (QmCsvDraft *draft)
{
  if (draft->is_ours || explains (draft, sum_lines (draft, AS_QUOTED)))
    return;
  if (qm_csv_nest (draft->quote))
    {
      qm_quote_add_finding (draft->quote, QM_FINDING_NOTE, NULL,
                            _ ("Lines with a number below that of another "
                               "come to its price; they are what it is made "
                               "of, and count once."));
      if (explains (draft, sum_lines (draft, AS_QUOTED)))
        return;
    }
  if (are_rest (draft, AS_QUOTED | WITH_OPTIONS))
    set_quoted (draft);
  else if (are_rest (draft, WITH_PERHAPS))
    set_options (draft, WITH_PERHAPS,
                 _ ("What stands below the total is not in it, so it does "
                    "not count."));
  else if (are_rest (draft, WITH_LATE) || are_rest (draft, 0))
    set_options (draft, are_rest (draft, WITH_LATE) ? WITH_LATE : 0,
                 _ ("What is called an upgrade is not in the total, so it "
                    "does not count."));
}

/* A discount of which the percentage alone is written is taken off, unless the
 * totals do not know of it. */
static void
settle_percent (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  const Wide whole = (Wide) 100 * QM_MICROS_PER_UNIT;
  gint64 lines = sum_lines (draft, AS_QUOTED);
  gint64 before = quote->discount_minor, off;
  g_autofree char *amount = NULL;

  if (draft->percent == 0 || !is_stated (lines) || lines <= 0)
    return;
  off = (gint64) (((Wide) lines * draft->percent + whole / 2) / whole);
  add (&quote->discount_minor, off);
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

/* Of several rows that may be the net amount, the one that the lines come to
 * once all is taken off, or that agrees with the tax. */
static gint64
choose_net (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 lines = sum_lines (draft, AS_QUOTED);
  gint64 net = allow (quote, lines), untaxed;
  gint64 wanted[3] = { net, QM_AMOUNT_UNSTATED, lines };

  if (is_stated (quote->payable_minor) && is_stated (quote->tax_minor)
      && !__builtin_sub_overflow (quote->payable_minor, quote->tax_minor,
                                  &untaxed))
    wanted[1] = untaxed;
  if (draft->nets->len == 1)
    return g_array_index (draft->nets, gint64, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    for (guint j = 0; j < draft->nets->len; j++)
      if (is_same (draft, g_array_index (draft->nets, gint64, j), wanted[i]))
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

  if (is_stated (draft->after) && !is_stated (quote->payable_minor))
    quote->payable_minor = draft->after;
  if (draft->tax_within && quote->tax_included == QM_UNSTATED)
    quote->tax_included = QM_YES;
  if (!is_stated (draft->before))
    return;
  /* Prices with tax come to a total with tax, wherever that is told. */
  if (quote->tax_included == QM_YES
      && is_same (draft, draft->before,
                  allow (quote, sum_lines (draft, AS_QUOTED))))
    draft->tax_within = TRUE;
  if (!is_stated (quote->payable_minor)
      && (!is_stated (quote->tax_minor) || draft->tax_within))
    quote->payable_minor = draft->before;
  else
    g_array_append_val (draft->nets, draft->before);
}

/* A discount that is taken from the amount with tax makes both what is to be
 * paid and the tax in it less. */
static void
divide_discount (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 net = is_stated (quote->net_minor)
                   ? quote->net_minor
                   : allow (quote, sum_lines (draft, AS_QUOTED));
  gint64 gross, off = draft->after_tax, tax;
  g_autofree char *of_net = NULL;
  g_autofree char *whole = NULL;

  if (off == 0)
    return;
  if (!is_stated (off) || !is_stated (net) || net <= 0
      || __builtin_add_overflow (net, quote->tax_minor, &gross) || off >= gross)
    {
      qm_read_find (quote, QM_FINDING_WARNING, NULL,
                    _ ("A discount stands below the tax, and from what it is "
                       "taken is not clear; it was left out."));
      return;
    }
  tax = (gint64) (((Wide) quote->tax_minor * off + gross / 2) / gross);
  quote->tax_minor -= tax;
  add (&quote->discount_minor, off - tax);
  whole = qm_minor_for_people (off, quote->currency);
  of_net = qm_minor_for_people (off - tax, quote->currency);
  qm_read_find (quote, QM_FINDING_NOTE, NULL,
                _ ("A discount of %s is taken from the amount with tax; "
                   "without tax it is %s, and the tax becomes less, too."),
                whole, of_net);
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
  to_minor (quote, &draft->after);
  to_minor (quote, &draft->after_tax);
  for (guint i = 0; i < draft->nets->len; i++)
    to_minor (quote, &g_array_index (draft->nets, gint64, i));
  to_minor (quote, &quote->discount_minor);
  to_minor (quote, &quote->charge_minor);
  to_minor (quote, &quote->tax_minor);
  to_minor (quote, &quote->payable_minor);
  finish_lines (draft);
  settle_roles (draft);
  settle_percent (draft);
  place_generic (draft);
  quote->net_minor = choose_net (draft);
  divide_discount (draft);
  if (draft->pending != 0)
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("A discount below what is to be paid was not "
                             "taken off: it may depend on the payment."));
  if (quote->currency[0] == '\0')
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("The amounts are without a currency."));
}
