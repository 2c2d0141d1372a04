/* SPDX-License-Identifier: Apache-2.0 */

/* What the words of a row in a spreadsheet say that it is, in the languages of
 * pricing/formats/qm-csv-words.h: a total, a discount, a heading above
 * alternatives, something to be had besides. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a row below the lines states. */
typedef enum
{
  QM_CSV_ROW_LINE, /* none: it is a line */
  QM_CSV_ROW_NET,
  QM_CSV_ROW_DISCOUNT,
  QM_CSV_ROW_CHARGE,
  QM_CSV_ROW_TAX,
  QM_CSV_ROW_TAX_WITHIN, /* a tax that the total above it contains */
  QM_CSV_ROW_TOTAL,      /* net or to be paid */
  QM_CSV_ROW_PAYABLE
} QmCsvRowKind;

/* What the words at the beginning of a row of totals mean.  A discount is known
 * wherever its word stands: "Education Discount", "abzgl. 3 % Hochschulrabatt";
 * but "Total after discount" is a total. */
QmCsvRowKind qm_csv_row_kind_of (const char *words);

/* How something is offered. */
typedef enum
{
  QM_CSV_OFFERED_PLAINLY,
  QM_CSV_OFFERED_PERHAPS, /* "Upgrade to", "Mehrpreis": the total tells */
  QM_CSV_OFFERED_BESIDES, /* "optional" */
  QM_CSV_OFFERED_INSTEAD  /* "Alternativposition", "anstelle Pos. 2" */
} QmCsvOffered;

/* What words say about that; what is offered besides or instead is in no
 * total. */
QmCsvOffered qm_csv_words_offer (const char *words);

/* Whether words say that what they name is in the line above: "davon 4 x L40S",
 * "of which", "- Netzteil". */
gboolean qm_csv_words_break_down (const char *words);

/* Whether a cell for an amount says that there is nothing to pay, or that the
 * price is to be asked for. */
gboolean qm_csv_cell_is_included (const char *text);
gboolean qm_csv_cell_is_on_request (const char *text);

/* Whether words make something depend on when it is paid: "2 % Skonto bei
 * Zahlung innerhalb von 10 Tagen". */
gboolean qm_csv_words_are_of_payment (const char *words);

/* Whether words are of a payment of a part, in advance or by and by, or of what
 * is left to be paid after it: no total, and nothing that is taken off. */
gboolean qm_csv_words_are_instalment (const char *words);

/* The percentage in the words of a discount, in millionths; 0: none. */
gint64 qm_csv_percent_in (const char *words);

G_END_DECLS
