/* SPDX-License-Identifier: Apache-2.0 */

/* What the files share that decide what the totals of a spreadsheet mean: which
 * lines they are of (qm-csv-settle.c), and tax (qm-csv-settle-tax.c).  Amounts
 * are in minor units. */

#pragma once

#include "pricing/formats/qm-csv-draft.h"

/* Which lines are added up besides those that are surely quoted. */
enum
{
  QM_CSV_WITH_OPTIONS = 1,
  QM_CSV_WITH_LATE = 2,    /* below the last total */
  QM_CSV_WITH_PERHAPS = 4, /* that may be in none */
  QM_CSV_AS_QUOTED = QM_CSV_WITH_LATE | QM_CSV_WITH_PERHAPS
};

/* What such lines come to. */
gint64 qm_csv_sum_lines (const QmCsvDraft *draft, guint which);

/* Lines less the discounts of the whole quote, with its charges. */
gint64 qm_csv_allow (const QmQuote *quote, gint64 lines);

/* Whether two amounts are one but for the rounding of each line. */
gboolean qm_csv_is_same (const QmCsvDraft *draft, gint64 a, gint64 b);

/* A discount that is taken from the amount with tax makes both what is to be
 * paid and the tax in it less. */
void qm_csv_divide_discount (QmCsvDraft *draft);

/* Totals of lines that are above quantity times price by one rate of tax, all
 * of them, contain it, and the prices do not. */
void qm_csv_settle_taxed_totals (QmCsvDraft *draft);

/* Rows below a total of which the words name no goods: what they add to it, or
 * say that it contains, is a tax if it comes to the rate of one. */
void qm_csv_settle_tax_rows (QmCsvDraft *draft);

/* Lines that come to a total which says that tax is in it contain the tax, and
 * how much that is follows from its rate, where that is said. */
void qm_csv_settle_gross (QmCsvDraft *draft);
