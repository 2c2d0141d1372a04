/* SPDX-License-Identifier: Apache-2.0 */

/* Amounts as people and shops write them. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which of "." and "," is the decimal point. */
typedef enum
{
  QM_DECIMAL_GUESS, /* as the amount itself tells; an amount that could be
                       either ("1.234" of a currency with two decimals is
                       grouping; "1,234" likewise) is a group of three */
  QM_DECIMAL_POINT,
  QM_DECIMAL_COMMA
} QmDecimal;

/* Reads an amount: digits with groups ("1,234.50", "1.234,50", "1 234,50" with
 * any kind of space, "1'234.50", Indian groups), a currency code or sign before
 * or after it or both, "-" or parentheses for negative amounts, "1.234,-" for
 * none, "299€95" as in France.  Digits may be those of any script.  At most 6
 * decimals.  Nothing else may stand in the text but space around it and marks
 * that have no width.
 *
 * Of a currency with three decimals that is named in the text, "1.234" has
 * three decimals and "1,234" is not clearly an amount unless `decimal` says so.
 *
 * text: UTF-8; anything else is no amount.
 * micros: (out): millionths of the major unit.
 * currency: (out): an ISO 4217 code where the text has one or a sign that means
 *   only one ("€", "US$", "zł"); empty otherwise ("$", "kr", "¥").  Codes of
 *   which the lower case might be a word ("all", "top") are read in upper case
 *   alone.
 *
 * Returns: FALSE where the text is no amount, or not clearly one, as with two
 *   different currencies; nothing is written then. */
gboolean qm_amount_parse (const char *text,
                          QmDecimal decimal,
                          gint64 *micros,
                          char currency[4]);

/* Whether a text names a currency and nothing else: a code, or a sign as in
 * amounts.
 *
 * currency: (out): as qm_amount_parse() has it; empty for a sign that may mean
 *   several. */
gboolean qm_amount_parse_currency (const char *text, char currency[4]);

/* Whether `sign`, "$", "kr" or the like, may stand for an ISO 4217 code.  FALSE
 * for a text that is no sign or code. */
gboolean qm_amount_sign_may_mean (const char *sign, const char *code);

G_END_DECLS
