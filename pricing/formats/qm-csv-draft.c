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
  draft->percents = g_array_new (FALSE, TRUE, sizeof (gint64));
  draft->generic[0] = QM_AMOUNT_UNSTATED;
  draft->generic[1] = QM_AMOUNT_UNSTATED;
  return draft;
}

void
qm_csv_draft_free (QmCsvDraft *draft)
{
  qm_quote_free (draft->quote);
  g_array_unref (draft->percents);
  g_free (draft);
}

QmQuoteLine *
qm_csv_draft_add (QmCsvDraft *draft, QmLineRole role)
{
  g_array_set_size (draft->percents, draft->percents->len + 1);
  return qm_quote_add_line (draft->quote, role);
}

void
qm_csv_draft_set_percent (QmCsvDraft *draft, gint64 micros)
{
  g_array_index (draft->percents, gint64, draft->percents->len - 1) = micros;
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

void
qm_csv_draft_add_total (QmCsvDraft *draft, QmCsvRowKind kind, gint64 micros)
{
  QmQuote *quote = draft->quote;

  draft->has_totals = TRUE;
  switch (kind)
    {
    case QM_CSV_ROW_NET:
      quote->net_minor = micros;
      draft->n_net++;
      break;
    case QM_CSV_ROW_DISCOUNT:
      add (&quote->discount_minor, ABS (micros));
      break;
    case QM_CSV_ROW_CHARGE:
      add (&quote->charge_minor, micros);
      break;
    case QM_CSV_ROW_TAX:
      add (&quote->tax_minor, micros);
      break;
    case QM_CSV_ROW_PAYABLE:
      quote->payable_minor = micros;
      break;
    case QM_CSV_ROW_TOTAL:
      draft->generic[quote->tax_minor != QM_AMOUNT_UNSTATED] = micros;
      break;
    case QM_CSV_ROW_LINE:
    default:
      break;
    }
}

/* "Total" before a tax is net; after it, or without one, to be paid. */
static void
place_generic (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gint64 before = draft->generic[0], after = draft->generic[1];

  if (draft->n_net > 1)
    {
      quote->net_minor = QM_AMOUNT_UNSTATED;
      qm_read_find (quote, QM_FINDING_NOTE, NULL,
                    _ ("There are %u subtotals; they were not used."),
                    draft->n_net);
    }
  if (after != QM_AMOUNT_UNSTATED && quote->payable_minor == QM_AMOUNT_UNSTATED)
    quote->payable_minor = after;
  if (before == QM_AMOUNT_UNSTATED)
    return;
  if (quote->payable_minor == QM_AMOUNT_UNSTATED
      && quote->tax_minor == QM_AMOUNT_UNSTATED)
    quote->payable_minor = before;
  else if (quote->net_minor == QM_AMOUNT_UNSTATED)
    quote->net_minor = before;
}

static void
to_minor (QmQuote *quote, gint64 *amount)
{
  if (*amount != QM_AMOUNT_UNSTATED)
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

void
qm_csv_draft_finish (QmCsvDraft *draft)
{
  QmQuote *quote = draft->quote;
  gboolean left_out = FALSE;

  place_generic (draft);
  to_minor (quote, &quote->net_minor);
  to_minor (quote, &quote->discount_minor);
  to_minor (quote, &quote->charge_minor);
  to_minor (quote, &quote->tax_minor);
  to_minor (quote, &quote->payable_minor);
  for (guint i = 0; i < quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      to_minor (quote, &line->total_minor);
      to_minor (quote, &line->discount_minor);
      to_minor (quote, &line->charge_minor);
      left_out |= finish_discount (draft, line,
                                   g_array_index (draft->percents, gint64, i));
    }
  if (left_out)
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("Prices contain the discounts that stand beside "
                             "them."));
  if (quote->currency[0] == '\0')
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("The amounts are without a currency."));
}
