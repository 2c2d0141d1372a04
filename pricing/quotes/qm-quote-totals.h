/* SPDX-License-Identifier: Apache-2.0 */

/* What a quote adds up to, recomputed in whole numbers.
 *
 * A line comes to quantity x price / base quantity, rounded to the minor unit
 * with halves away from zero, - discount + charge.  Only quoted lines count:
 * parts are contained in them, substitutes and alternatives come instead.
 *
 * A document's net amount may be meant before or after the discounts and
 * charges of the whole document; both are understood. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* Amounts in minor units; QM_AMOUNT_UNSTATED where something that is needed is
 * not stated, or it is too large. */
typedef struct
{
  gint64 lines_minor;   /* of all quoted lines, as written or computed */
  gint64 net_minor;     /* - discount + charge of the document */
  gint64 payable_minor; /* + tax, unless the prices contain it */
} QmQuoteTotals;

/* What quantity and price of a line come to, or QM_AMOUNT_UNSTATED. */
gint64 qm_quote_line_computed (const QmQuote *quote, const QmQuoteLine *line);

/* What a line costs: its total as written, else computed. */
gint64 qm_quote_line_cost (const QmQuote *quote, const QmQuoteLine *line);

/* Adds up.  A tax that is not stated counts as none. */
void qm_quote_totals_compute (const QmQuote *quote, QmQuoteTotals *totals);

/* Whether the lines, the net amount, the tax and what is to be paid agree, as
 * far as they are stated, but for what rounding explains; and no line's total
 * is more than a tenth off its quantity and price. */
gboolean qm_quote_totals_agree (const QmQuote *quote);

/* Takes QM_ASK_TOTALS back where the amounts agree now: for a quote that was
 * changed without being checked anew. */
void qm_quote_totals_ask_again (QmQuote *quote);

/* Adds a finding for everything that does not add up, with both amounts, and
 * for amounts that are negative, too large for a price, or missing.  What
 * rounding explains (one minor unit a line) is a note.  Where lines, net
 * amount, tax and what is to be paid do not agree, QM_ASK_TOTALS is asked, and
 * else no more.  Changes nothing else.
 *
 * Returns: the number of warnings. */
guint qm_quote_totals_check (QmQuote *quote);

G_END_DECLS
