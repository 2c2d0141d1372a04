/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers as people read them, in the user's language and locale.  Only for
 * screens and prose; files are written in the C locale. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* "$127,500"; cents only where `cents` asks for them.  (transfer full) */
char *qm_format_money (double major, const char *currency, gboolean cents);

/* "$30,000", or "$28,000 to $35,000" of a range.  (transfer full) */
char *qm_format_price (const QmPrice *price, gboolean cents);

/* "$40k", "$1.5M": at most three significant digits.  (transfer full) */
char *qm_format_money_short (double major, const char *currency);

/* "40,000" or "0.5": grouped, with at most `decimals` decimals and no trailing
 * zeros.  (transfer full) */
char *qm_format_number (double value, int decimals);

/* How long something takes, wherever that is said: "8 days", "1 day", "2.3
 * years" from two years on; what takes less than a day is "9 hours 35 minutes",
 * "12 minutes" or "2.6 seconds".  (transfer full) */
char *qm_format_days (double days);

/* An interval of that: "28 to 46 days", "40 minutes to 2 hours"; `value` alone
 * where there is none.  (transfer full) */
char *qm_format_days_range (double value, double low, double high);

/* "119 %" of a share of 1.19.  Between number and sign no line ends, neither
 * here nor below.  (transfer full) */
char *qm_format_percent (double share);

/* "19 %" or "7.5 %" of a number of percent, with so many decimals at most.
 * (transfer full) */
char *qm_format_percentage (double percent, int decimals);

/* "21 September 2024", "August 2025", "2026" or "undated".  (transfer full) */
char *qm_format_date (QmDate date);

/* The same with the month cut short, for lists: "21 Sep 2024".  (transfer
 * full) */
char *qm_format_date_brief (QmDate date);

/* "21 September 2024, 14:30" of seconds since 1970, in the time of this
 * machine; empty where that is no time.  (transfer full) */
char *qm_format_moment (gint64 seconds);

/* "today", "3 months old", "2 years old" or "undated".  (transfer full) */
char *qm_format_age (QmDate date, QmDate today);

/* Reads an amount as people type it in the user's locale: "40,000", "$40k",
 * "1.5M".  Returns FALSE on anything that is not one positive amount. */
gboolean qm_parse_amount (const char *text, double *major);

G_END_DECLS
