/* SPDX-License-Identifier: Apache-2.0 */

/* Taxes in a spreadsheet: rows that name one, totals that say that it is in
 * them, and rates. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a row with an amount states of a tax. */
typedef enum
{
  QM_CSV_TAX_NONE,   /* it names none, or goods or a total besides */
  QM_CSV_TAX_ON_TOP, /* "Omzetbelasting 21 %" */
  QM_CSV_TAX_WITHIN  /* "darin enthaltene 19 % USt": a total contains it */
} QmCsvTaxRow;

QmCsvTaxRow qm_csv_words_tax (const char *words);

/* Whether words that begin with the name of a tax say that a total contains
 * it. */
gboolean qm_csv_words_tax_within (const char *normal);

/* Whether all words from a place on are names of taxes, and there is one: what
 * is a total before them is that of the tax. */
gboolean qm_csv_words_all_tax (const char *normal);

/* Whether the words of a total say that tax is in it: "Gesamtbetrag inkl.
 * MwSt.", "Total TTC". */
gboolean qm_csv_words_say_gross (const char *words);

/* The rate by which one amount is a tax on the other, in tenths of a percent,
 * if some country has such a one; 0: none.
 *
 * slack: by how many minor units rounding may be off. */
int qm_csv_tax_rate (gint64 net, gint64 tax, gint64 slack);

/* The tax that an amount contains by a rate in millionths of a percent. */
gint64 qm_csv_tax_within (gint64 gross, gint64 rate);

G_END_DECLS
