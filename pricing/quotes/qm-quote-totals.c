/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-totals.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>

__extension__ typedef __int128 Wide;

/* a + sign x b; unstated where one is, or where it is too large. */
static gint64
plus (gint64 a, int sign, gint64 b)
{
  gint64 sum;

  if (!qm_amount_is_stated (a) || !qm_amount_is_stated (b))
    return QM_AMOUNT_UNSTATED;
  if (sign < 0 ? __builtin_sub_overflow (a, b, &sum)
               : __builtin_add_overflow (a, b, &sum))
    return QM_AMOUNT_UNSTATED;
  return sum;
}

/* Micros of the major unit in one minor unit. */
static gint64
micros_per_minor (const QmQuote *quote)
{
  gint64 scale = QM_MICROS_PER_UNIT;

  for (int i = qm_currency_decimals (quote->currency); i > 0; i--)
    scale /= 10;
  return scale;
}

/* Quantity x price, wide: |q|, |p| <= 2^63, so the product fits. */
static gboolean
multiply (const QmQuote *quote, const QmQuoteLine *line, Wide *minor)
{
  Wide divisor = (Wide) line->base_quantity_micros * micros_per_minor (quote);
  Wide product;

  if (!qm_amount_is_stated (line->quantity_micros)
      || !qm_amount_is_stated (line->price_micros)
      || !qm_amount_is_stated (line->base_quantity_micros)
      || line->base_quantity_micros <= 0)
    return FALSE;
  product = (Wide) line->quantity_micros * line->price_micros;
  *minor = product / divisor;
  product -= *minor * divisor;
  if (product < 0 ? -product >= divisor + product
                  : product >= divisor - product)
    *minor += product < 0 ? -1 : 1;
  return TRUE;
}

gint64
qm_quote_line_computed (const QmQuote *quote, const QmQuoteLine *line)
{
  Wide minor;
  gint64 sum;

  g_return_val_if_fail (quote != NULL && line != NULL, QM_AMOUNT_UNSTATED);

  if (!multiply (quote, line, &minor) || minor > G_MAXINT64
      || minor <= G_MININT64)
    return QM_AMOUNT_UNSTATED;
  sum = plus ((gint64) minor, -1, qm_amount_or_nothing (line->discount_minor));
  return plus (sum, 1, qm_amount_or_nothing (line->charge_minor));
}

gint64
qm_quote_line_cost (const QmQuote *quote, const QmQuoteLine *line)
{
  g_return_val_if_fail (quote != NULL && line != NULL, QM_AMOUNT_UNSTATED);

  return qm_amount_is_stated (line->total_minor)
             ? line->total_minor
             : qm_quote_line_computed (quote, line);
}

static gint64
sum_lines (const QmQuote *quote, guint *n)
{
  gint64 sum = 0;

  *n = 0;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->role != QM_LINE_QUOTED)
        continue;
      sum = plus (sum, 1, qm_quote_line_cost (quote, line));
      (*n)++;
    }
  return *n > 0 ? sum : QM_AMOUNT_UNSTATED;
}

/* - discount + charge of the whole document. */
static gint64
allow (const QmQuote *quote, gint64 amount)
{
  amount = plus (amount, -1, qm_amount_or_nothing (quote->discount_minor));
  return plus (amount, 1, qm_amount_or_nothing (quote->charge_minor));
}

static gint64
add_tax (const QmQuote *quote, gint64 amount)
{
  return quote->tax_included == QM_YES
             ? amount
             : plus (amount, 1, qm_amount_or_nothing (quote->tax_minor));
}

void
qm_quote_totals_compute (const QmQuote *quote, QmQuoteTotals *totals)
{
  guint n;

  g_return_if_fail (quote != NULL && totals != NULL);

  totals->lines_minor = sum_lines (quote, &n);
  totals->net_minor = allow (quote, totals->lines_minor);
  totals->payable_minor = add_tax (quote, totals->net_minor);
}

/* How far apart two amounts are; wide enough for any two. */
static Wide
distance (gint64 a, gint64 b)
{
  Wide difference = (Wide) a - b;

  return difference < 0 ? -difference : difference;
}

/* "What: written, computed", as a note where rounding explains it. */
static guint
note_difference (QmQuote *quote,
                 const char *place,
                 const char *format,
                 gint64 written,
                 gint64 computed,
                 guint tolerance)
{
  g_autofree char *is = qm_minor_for_people (written, quote->currency);
  g_autofree char *should = qm_minor_for_people (computed, quote->currency);
  g_autofree char *message = NULL;

  if (written == computed)
    return 0;
  message = g_strdup_printf (format, is, should);
  if (distance (written, computed) <= tolerance)
    {
      qm_read_find (quote, QM_FINDING_NOTE, place,
                    _ ("%s The difference is one of rounding."), message);
      return 0;
    }
  qm_read_find (quote, QM_FINDING_WARNING, place, "%s", message);
  return 1;
}

static guint
warn (QmQuote *quote, const char *place, const char *message)
{
  qm_read_find (quote, QM_FINDING_WARNING, place, "%s", message);
  return 1;
}

/* Amounts that no price has. */
static guint
check_size (QmQuote *quote, const char *place, const QmQuoteLine *line)
{
  gint64 most = QM_READ_MAX_UNITS * QM_MICROS_PER_UNIT;
  gint64 cost = qm_quote_line_cost (quote, line);
  gint64 per_unit = QM_MICROS_PER_UNIT / micros_per_minor (quote);
  guint n = 0;

  /* Of what can be had besides there may be none yet. */
  if (qm_amount_is_stated (line->quantity_micros) && line->quantity_micros <= 0
      && (line->quantity_micros < 0 || line->role != QM_LINE_OPTION))
    n += warn (quote, place, _ ("The quantity is not above zero."));
  if (qm_amount_is_stated (line->price_micros) && line->price_micros < 0)
    n += warn (quote, place, _ ("The price is negative."));
  else if (qm_amount_is_stated (cost) && cost < 0)
    n += warn (quote, place, _ ("The total of the line is negative."));
  if ((qm_amount_is_stated (line->price_micros) && line->price_micros > most)
      || (qm_amount_is_stated (cost) && cost / per_unit > QM_READ_MAX_UNITS))
    n += warn (quote, place, _ ("The amount is too large for a price."));
  return n;
}

static guint
check_line (QmQuote *quote, const QmQuoteLine *line, guint row)
{
  g_autofree char *place = line->number != NULL
                               ? g_strdup_printf (_ ("line %s"), line->number)
                               : g_strdup_printf (_ ("line %u"), row);
  gint64 computed = qm_quote_line_computed (quote, line);
  guint n = check_size (quote, place, line);
  Wide ignored;

  if (!qm_amount_is_stated (computed) && multiply (quote, line, &ignored))
    return n
           + warn (quote, place,
                   _ ("Quantity times price is too large to be computed."));
  if (qm_amount_is_stated (computed) && qm_amount_is_stated (line->total_minor))
    return n
           + note_difference (
               quote, place,
               _ ("The line says %s, but quantity and price come to "
                  "%s."),
               line->total_minor, computed, 1);
  if (line->role == QM_LINE_QUOTED
      && !qm_amount_is_stated (qm_quote_line_cost (quote, line)))
    qm_quote_add_finding (quote, QM_FINDING_WARNING, place,
                          _ ("The line says neither its total nor a quantity "
                             "and a price."));
  return n;
}

/* Whether a line that counts says another total than its quantity and price
 * come to, by so much that one of them must be wrong: no fee or discount beside
 * it is more than a tenth. */
static gboolean
is_torn (const QmQuote *quote, const QmQuoteLine *line)
{
  gint64 computed = qm_quote_line_computed (quote, line);

  return line->role == QM_LINE_QUOTED && qm_amount_is_stated (computed)
         && qm_amount_is_stated (line->total_minor)
         && distance (line->total_minor, computed)
                > distance (line->total_minor, 0) / 10 + 1;
}

static gboolean
any_torn (const QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    if (is_torn (quote, g_ptr_array_index (quote->lines, i)))
      return TRUE;
  return FALSE;
}

/* The net amount against the lines, before or after what the whole document
 * takes off or adds.  Where prices contain tax, it may be without. */
static guint
check_net (QmQuote *quote, gint64 lines, guint n_lines)
{
  gint64 after = allow (quote, lines);

  if (!qm_amount_is_stated (quote->net_minor) || !qm_amount_is_stated (lines)
      || (qm_amount_is_stated (after)
          && distance (quote->net_minor, after) <= n_lines))
    return 0;
  if (quote->tax_included == QM_YES)
    {
      gint64 gross =
          plus (quote->net_minor, 1, qm_amount_or_nothing (quote->tax_minor));

      if (qm_amount_is_stated (gross)
          && (distance (gross, lines) <= n_lines
              || (qm_amount_is_stated (after)
                  && distance (gross, after) <= n_lines)))
        return 0;
    }
  return note_difference (
      quote, NULL,
      _ ("The document says that its lines come to %s, but they "
         "add up to %s."),
      quote->net_minor, lines, n_lines);
}

/* Whether the net amount is written with what the whole document takes off or
 * adds. */
static gboolean
is_net_after (const QmQuote *quote, gint64 lines, guint n_lines)
{
  gint64 after = allow (quote, lines);

  return qm_amount_is_stated (quote->net_minor) && qm_amount_is_stated (after)
         && distance (quote->net_minor, after) <= n_lines;
}

/* Whether an amount is a round one in place of another, as where the smallest
 * coin is one of five or ten: "30,368.90" for 30,368.89. */
static gboolean
is_rounded (gint64 amount, gint64 exact)
{
  return qm_amount_is_stated (exact)
         && ((amount % 5 == 0 && distance (amount, exact) <= 2)
             || (amount % 10 == 0 && distance (amount, exact) <= 5));
}

/* What is to be paid, from the net amount or else the lines. */
static guint
check_payable (QmQuote *quote, gint64 lines, guint n_lines)
{
  gboolean gross_lines = quote->tax_included == QM_YES;
  gint64 base =
      qm_amount_is_stated (quote->net_minor) ? quote->net_minor : lines;
  gint64 tax = qm_amount_or_nothing (quote->tax_minor);
  gint64 before, after;

  if (!qm_amount_is_stated (quote->payable_minor)
      || !qm_amount_is_stated (base))
    return 0;
  if (gross_lines && !qm_amount_is_stated (quote->net_minor))
    tax = 0;
  before = plus (allow (quote, base), 1, tax);
  after = plus (base, 1, tax);
  if (is_net_after (quote, lines, n_lines))
    before = after;
  if ((qm_amount_is_stated (after) && qm_amount_is_stated (quote->net_minor)
       && (distance (quote->payable_minor, after) <= 1
           || is_rounded (quote->payable_minor, after)))
      || !qm_amount_is_stated (before))
    return 0;
  if (gross_lines && qm_amount_is_stated (allow (quote, lines))
      && distance (quote->payable_minor, allow (quote, lines)) <= n_lines)
    return 0;
  if (!qm_amount_is_stated (quote->tax_minor) && quote->payable_minor > before)
    {
      g_autofree char *more =
          qm_minor_for_people (plus (quote->payable_minor, -1, before),
                               quote->currency);

      qm_read_find (quote, QM_FINDING_NOTE, NULL,
                    _ ("To be paid is %s more than the net amount; what for, "
                       "tax perhaps, the document does not say."),
                    more);
      return 0;
    }
  return note_difference (
      quote, NULL,
      _ ("The document says that %s is to be paid, but its amounts "
         "come to %s."),
      quote->payable_minor, before,
      qm_amount_is_stated (quote->net_minor) ? 1 : n_lines);
}

/* Asks whether what the quote comes to is right, or no more. */
static void
ask_totals (QmQuote *quote, gboolean agree)
{
  if (!agree)
    qm_quote_ask (quote, QM_ASK_TOTALS);
  else if ((quote->answered & QM_ASK_TOTALS) == 0)
    quote->asked &= ~(guint) QM_ASK_TOTALS;
}

void
qm_quote_totals_ask_again (QmQuote *quote)
{
  g_return_if_fail (quote != NULL);

  if ((quote->asked & QM_ASK_TOTALS) != 0)
    ask_totals (quote, qm_quote_totals_agree (quote));
}

gboolean
qm_quote_totals_agree (const QmQuote *quote)
{
  g_autoptr (QmQuote) copy = NULL;
  guint n_lines;
  gint64 lines;

  g_return_val_if_fail (quote != NULL, TRUE);

  copy = qm_quote_copy (quote);
  lines = sum_lines (copy, &n_lines);
  return !any_torn (copy) && check_net (copy, lines, n_lines) == 0
         && check_payable (copy, lines, n_lines) == 0;
}

guint
qm_quote_totals_check (QmQuote *quote)
{
  guint n = 0, n_lines, n_apart;
  gint64 lines;

  g_return_val_if_fail (quote != NULL, 0);

  for (guint i = 0; i < quote->lines->len; i++)
    n += check_line (quote, g_ptr_array_index (quote->lines, i), i + 1);
  lines = sum_lines (quote, &n_lines);
  n_apart = check_net (quote, lines, n_lines);
  n_apart += check_payable (quote, lines, n_lines);
  ask_totals (quote, n_apart == 0 && !any_torn (quote));
  n += n_apart;
  if (qm_amount_is_stated (quote->payable_minor) && quote->payable_minor < 0)
    n += warn (quote, NULL, _ ("The amount to be paid is negative."));
  return n;
}
