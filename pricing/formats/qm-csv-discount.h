/* SPDX-License-Identifier: Apache-2.0 */

/* Words of rows in a spreadsheet that take something off, in the languages of
 * pricing/formats/qm-csv-words.h: discounts, credits, what is paid for old
 * machines. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What words say about that. */
typedef enum
{
  QM_CSV_OFF_NOT,
  QM_CSV_OFF_TAKEN, /* "10 % off, academic", "Credit for trade-in" */
  QM_CSV_OFF_AFTER  /* "Price after discount": what is left */
} QmCsvOff;

/* What the words of a row say.  Something is taken off where they begin with a
 * word for that, or what stands before a comma or "for" ends with one, and
 * names nothing that is sold: neither "RTX A6000, education discount" nor "GPU
 * server, academic discount" do, nor does "Less than container load".  `words`
 * as they are written. */
QmCsvOff qm_csv_words_take_off (const char *words);

/* Whether a normalized word is one for a discount, or ends so
 * ("hochschulrabatt"). */
gboolean qm_csv_word_is_discount (const char *word);

/* Whether normalized words, those behind the one for a total, are of discounts,
 * and not "after discount". */
gboolean qm_csv_words_are_of_discounts (const char *normal);

G_END_DECLS
