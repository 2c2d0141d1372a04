/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-draft.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

QmCsvDraft *
qm_csv_draft_new (const QmQuote *head)
{
  QmCsvDraft *draft = g_new0 (QmCsvDraft, 1);

  draft->quote = qm_quote_copy (head);
  draft->notes = g_array_new (FALSE, TRUE, sizeof (QmCsvLineNote));
  draft->nets = g_array_new (FALSE, FALSE, sizeof (gint64));
  draft->before = QM_AMOUNT_UNSTATED;
  draft->sum_before = QM_AMOUNT_UNSTATED;
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
  QmCsvLineNote note = { .above = draft->last_total };

  g_array_append_val (draft->notes, note);
  return qm_quote_add_line (draft->quote, role);
}

void
qm_csv_draft_set_percent (QmCsvDraft *draft, gint64 micros)
{
  g_array_index (draft->notes, QmCsvLineNote, draft->notes->len - 1).percent =
      micros;
}

void
qm_csv_draft_set_within (QmCsvDraft *draft)
{
  g_array_index (draft->notes, QmCsvLineNote, draft->notes->len - 1).within =
      TRUE;
}

void
qm_csv_draft_set_bare (QmCsvDraft *draft)
{
  g_array_index (draft->notes, QmCsvLineNote, draft->notes->len - 1).bare =
      TRUE;
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

void
qm_csv_add_amount (gint64 *sum, gint64 amount)
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
    qm_csv_add_amount (&draft->after_tax, amount);
  else
    qm_csv_add_amount (&draft->quote->discount_minor, amount);
}

static void
add_discount (QmCsvDraft *draft, gint64 micros)
{
  gint64 amount = micros > G_MININT64 + 1 ? ABS (micros) : 0;

  if (draft->quote->payable_minor != QM_AMOUNT_UNSTATED
      || draft->after != QM_AMOUNT_UNSTATED)
    qm_csv_add_amount (&draft->pending, amount);
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

/* The lines above are in it. */
static void
note_total (QmCsvDraft *draft, gint64 micros)
{
  for (guint i = draft->n_summed; i < draft->notes->len; i++)
    g_array_index (draft->notes, QmCsvLineNote, i).below = micros;
  draft->n_summed = draft->quote->lines->len;
  draft->last_total = micros;
}

void
qm_csv_draft_add_total (QmCsvDraft *draft, QmCsvRowKind kind, gint64 micros)
{
  QmQuote *quote = draft->quote;

  draft->has_totals = TRUE;
  if (kind == QM_CSV_ROW_NET || kind == QM_CSV_ROW_TOTAL
      || kind == QM_CSV_ROW_PAYABLE)
    note_total (draft, micros);
  switch (kind)
    {
    case QM_CSV_ROW_NET:
      g_array_append_val (draft->nets, micros);
      break;
    case QM_CSV_ROW_DISCOUNT:
      add_discount (draft, micros);
      break;
    case QM_CSV_ROW_CHARGE:
      qm_csv_add_amount (&quote->charge_minor, micros);
      break;
    case QM_CSV_ROW_TAX_WITHIN:
      draft->tax_within = TRUE;
      qm_csv_add_amount (&quote->tax_minor, micros);
      break;
    case QM_CSV_ROW_TAX:
      /* "Split payment": who buys pays the tax to the state. */
      if ((draft->table_tax == 0 || micros != draft->table_tax)
          && !(micros < 0 && micros == -quote->tax_minor))
        qm_csv_add_amount (&quote->tax_minor, micros);
      break;
    case QM_CSV_ROW_PAYABLE:
      take_pending (draft);
      quote->payable_minor = micros;
      break;
    case QM_CSV_ROW_TOTAL:
      take_pending (draft);
      if (quote->tax_minor == QM_AMOUNT_UNSTATED)
        {
          draft->n_before++;
          qm_csv_add_amount (&draft->sum_before, micros);
        }
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
  if (draft->again > 0 && draft->again >= at)
    draft->again += (guint) n;
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
    qm_csv_add_amount (&draft->quote->discount_minor, from->discount_minor);
  if (from->charge_minor != QM_AMOUNT_UNSTATED)
    qm_csv_add_amount (&draft->quote->charge_minor, from->charge_minor);
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

void
qm_csv_draft_begin_again (QmCsvDraft *draft)
{
  const QmQuote *quote = draft->quote;

  /* Where it comes on each page, totals may be below one of them, too. */
  if ((draft->again > 0 && draft->again < quote->lines->len)
      || !draft->has_totals)
    return;
  draft->again = quote->lines->len;
  draft->above = (QmCsvTotals){ .discount = quote->discount_minor,
                                .charge = quote->charge_minor,
                                .tax = quote->tax_minor,
                                .payable = quote->payable_minor,
                                .before = draft->before,
                                .after = draft->after,
                                .after_tax = draft->after_tax,
                                .pending = draft->pending,
                                .percent = draft->percent,
                                .n_nets = draft->nets->len };
}

void
qm_csv_draft_forget (QmCsvDraft *draft, guint first, guint n)
{
  QmQuote *quote = draft->quote;
  const QmCsvTotals *above = &draft->above;

  g_ptr_array_remove_range (quote->lines, first, n);
  g_array_remove_range (draft->notes, first, n);
  quote->discount_minor = above->discount;
  quote->charge_minor = above->charge;
  quote->tax_minor = above->tax;
  quote->payable_minor = above->payable;
  draft->before = above->before;
  draft->after = above->after;
  draft->after_tax = above->after_tax;
  draft->pending = above->pending;
  draft->percent = above->percent;
  g_array_set_size (draft->nets, above->n_nets);
}
