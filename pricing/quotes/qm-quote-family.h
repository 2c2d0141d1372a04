/* SPDX-License-Identifier: Apache-2.0 */

/* Which quotes are one: revisions, and documents that were read twice. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* The number of a quote without the mark of its revision ("Q-100 Rev. 2",
 * "Q-100-R2", "Q-100 v2": "Q-100"), as far as a word or letter says that it is
 * one; folded for comparison.
 *
 * revision: (out) (optional): 2 here; "Rev. B" is 2, too; 0: none.
 *
 * Returns: (transfer full): "" for NULL. */
char *qm_quote_number_family (const char *number, int *revision);

/* What the revisions of one quote have in common: vendor, alternative and the
 * family of its number.
 *
 * Returns: (transfer full) (nullable): NULL where it names no vendor or number,
 *   or the user has answered that it is no revision. */
char *qm_quote_family_key (const QmQuote *quote);

/* Of each quote the one that counts in its place: the newest revision of it
 * that holds on a day, or the quote itself where there is none.  One that is
 * undated counts in the place of another only where it says that it is newer.
 *
 * quotes: of QmQuote, in any order.
 *
 * Returns: (transfer container): as many QmQuote. */
GPtrArray *qm_quote_newest_revisions (GPtrArray *quotes, QmDate on);

G_END_DECLS
