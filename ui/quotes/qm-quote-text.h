/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes in words, for lists and details. */

#pragma once

#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* Whether a quote holds on a day. */
typedef enum
{
  QM_VALIDITY_UNSTATED, /* no end is stated */
  QM_VALIDITY_HOLDS,
  QM_VALIDITY_LATER, /* has not begun */
  QM_VALIDITY_EXPIRED
} QmValidity;

QmValidity qm_validity_on (QmDate from, QmDate until, QmDate today);

/* "until 30 November 2026", "expired on 3 May 2026"; `brief` writes dates as
 * 30 Nov 2026.  (transfer full) */
char *
qm_validity_text (QmDate from, QmDate until, QmDate today, gboolean brief);

/* "12,345.67 EUR", or a dash where it is unstated.  (transfer full) */
char *qm_quote_amount_text (gint64 minor, const char *currency);

/* The same for millionths of the major unit, with as many decimals as it
 * needs.  (transfer full) */
char *qm_quote_price_text (gint64 micros, const char *currency);

/* "2026-11-30", or nothing where the year is not known.  For entries.
 * (transfer full) */
char *qm_quote_date_entry_text (QmDate date);

/* The name of a GPU or machine; the id where the catalog has none of it.
 * (transfer full) */
char *qm_quote_item_text (const QmCatalog *catalog, const char *id);

/* Names of several, the ids by ";".  NULL: nothing.  (transfer full) */
char *qm_quote_items_text (const QmCatalog *catalog, const char *ids);

/* "8 × 31,000.00 EUR, 5 % ..." of a line: how it comes to its cost, with its
 * part number.  (transfer full) */
char *qm_quote_line_sum_text (const QmQuote *quote, const QmQuoteLine *line);

/* What it was read from; static. */
const char *qm_quote_origin_text (QmQuoteOrigin origin);

/* "part", "substitute" ...; NULL for a quoted line; static. */
const char *qm_quote_role_text (QmLineRole role);

G_END_DECLS
