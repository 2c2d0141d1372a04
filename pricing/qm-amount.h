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
 * or after it, "-" or parentheses for negative amounts, "1.234,-" for none.
 * At most 6 decimals.  Nothing else may stand in the text.
 *
 * micros: (out): millionths of the major unit.
 * currency: (out): an ISO 4217 code where the text has one or a sign that means
 *   only one ("€"); empty otherwise ("$", "kr").
 *
 * Returns: FALSE where the text is no amount, or not clearly one; nothing is
 *   written then. */
gboolean qm_amount_parse (const char *text,
                          QmDecimal decimal,
                          gint64 *micros,
                          char currency[4]);

G_END_DECLS
