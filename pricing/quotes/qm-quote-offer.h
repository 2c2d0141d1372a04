/* SPDX-License-Identifier: Apache-2.0 */

/* What a quote offers to buy, each with its share of everything on the quote.
 *
 * A quote counts as a whole: what it comes to is its lines - discount + charges
 * (shipping and the like), or what the document itself says is to be paid, and
 * tax is told apart from it.
 *
 * GPUs of one type with a machine, or with the processors of one, are one
 * machine: it costs what the quote comes to / how many machines there are,
 * whatever else is on it.  Everything else, GPUs alone or several machines,
 * costs its own line's share of what the quote comes to, where services and
 * shipping are shared among all goods.
 *
 * A substitute or alternative makes a variant: the same with that line instead
 * of the quoted one.  Options, rents and lines with an open question do not
 * count, nor does a quote of which the amounts contradict each other until the
 * user has said that what it comes to is right. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* Amounts are in minor units of the quote's currency. */
typedef struct
{
  guint line;       /* that it is about: of the machine, or of the GPU */
  gboolean variant; /* with that line instead of the quoted one */
  const char *item; /* GPU or machine of the catalog; the quote's own */
  int gpus;         /* in one whole machine; 0: it is none */
  gboolean desktop; /* the whole machine is one for a desk, not for a rack */
  gboolean board;   /* the GPUs come together, on a baseboard or in a pack */
  gint64 pieces;    /* machines or else GPUs that the amounts are for */
  gint64 net_minor; /* of all pieces without tax, >= 0; with it where taxed */
  gint64 tax_minor; /* of all pieces; QM_AMOUNT_UNSTATED: not told */
  gboolean taxed;   /* the net amount contains tax that is not told */
} QmQuoteOffer;

/* What names a GPU or machine, but is not offered, and why. */
typedef struct
{
  guint line;
  char *reason; /* in the user's language */
} QmQuoteOmission;

/* Finds out what a quote offers.
 *
 * left_out: (out) (optional) (transfer full): of QmQuoteOmission.
 *
 * Returns: (transfer full): of QmQuoteOffer, in the order of their lines.  None
 *   where the quote is of hours, or without a currency, which leaves it out. */
GArray *qm_quote_offers (const QmCatalog *catalog,
                         const QmQuote *quote,
                         GArray **left_out);

/* What one piece costs in millionths of the major unit; FALSE where that is
 * nothing or too much. */
gboolean qm_quote_offer_price (const QmQuote *quote,
                               const QmQuoteOffer *offer,
                               gint64 *micros);

/* Whether nothing in the quote tells if its prices contain tax: they are taken
 * as without, and who reads what it comes to is told so. */
gboolean qm_quote_tax_is_untold (const QmQuote *quote);

/* What the quote comes to without tax, and the tax; each QM_AMOUNT_UNSTATED
 * where that is not known.
 *
 * taxed: (out): whether the former contains tax that is not told. */
void qm_quote_come_to (const QmQuote *quote,
                       gint64 *net_minor,
                       gint64 *tax_minor,
                       gboolean *taxed);

G_END_DECLS
