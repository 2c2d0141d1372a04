/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes from spreadsheets, as CSV.
 *
 * Above the header may stand what holds for all lines ("Valid until:",
 * "31.12.2026"), below the lines their totals.  Where columns name the vendor,
 * the number of a quote or an alternative, each combination is a quote of its
 * own, and so is what stands below a heading such as "Option A".  A row with a
 * description and no amount is a part of the line above it.  What is not clear
 * is left out and asked (QmAsk); pricing/README.md tells how each kind of row
 * is understood. */

#pragma once

#include "pricing/formats/qm-csv-date.h"
#include "pricing/formats/qm-csv-mapping.h"
#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Reads quotes with a mapping.
 *
 * n_above: how many rows above are not the table's own, but of another sheet;
 *   what is found is told by the rows of its own, from 1.
 *
 * Returns: (transfer full): of QmQuote, at least one; or NULL with an error of
 *   QM_READ_ERROR: no text, rows that cannot be told apart, columns that are
 *   missing (QM_READ_ERROR_MAPPING), several currencies in one quote, no lines;
 *   or of G_IO_ERROR where it was cancelled. */
GPtrArray *qm_quote_csv_read (const char *data,
                              gsize size,
                              const QmCsvMapping *mapping,
                              guint n_above,
                              GCancellable *cancellable,
                              GError **error);

/* Writes quotes as one table, with a comma, decimal points and English column
 * names, that qm_quote_csv_read() understands.  A text that a spreadsheet could
 * take for a formula is preceded by an apostrophe, which the reader takes off
 * again.  Findings are left out.
 *
 * quotes: of QmQuote.
 *
 * Returns: (transfer full): UTF-8 with a byte order mark and CR LF, so that
 *   spreadsheets read it as it is meant. */
GBytes *qm_quote_csv_write (GPtrArray *quotes);

G_END_DECLS
