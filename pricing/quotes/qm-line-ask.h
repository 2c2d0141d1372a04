/* SPDX-License-Identifier: Apache-2.0 */

/* What has to be asked about a line by its words, in the languages of
 * pricing/formats/qm-csv-words.h: whether its price is a rent, and of how many
 * pieces. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* Whether words say that something is paid for as long as it is used: "Rental",
 * "pro Monat", "Aluguer".  A warranty of 36 months is none. */
gboolean qm_words_say_rent (const char *text);

/* Whether words say that something is paid once: "Einmalige Einrichtung". */
gboolean qm_words_say_once (const char *text);

/* How many pieces words say that one unit has: 4 for "set of 4", 2 for "2-pack"
 * and "Doppelpack"; 0: they say nothing. */
int qm_words_pack (const char *text);

/* Asks about the line of that index, of which the GPU has been looked for, what
 * its words leave open, with a finding for each question that was not asked
 * before: whether goods are rented, and how many GPUs are in a pack, of which
 * the number is put into `gpus`.  A service may be paid by the year. */
void qm_line_ask_words (const QmCatalog *catalog, QmQuote *quote, guint index);

G_END_DECLS
