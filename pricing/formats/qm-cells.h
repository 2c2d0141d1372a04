/* SPDX-License-Identifier: Apache-2.0 */

/* The cells of one sheet of a workbook, and the table of text that its program
 * would save them as. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* More cells with something in them are refused. */
#define QM_CELLS_MOST 1000000

typedef struct _QmCells QmCells;

/* name: of the sheet, which is copied. */
QmCells *qm_cells_new (const char *name);

void qm_cells_free (QmCells *cells);

const char *qm_cells_get_name (const QmCells *cells);

/* Whether there is anything in it. */
gboolean qm_cells_is_empty (const QmCells *cells);

/* Adds a cell with text, from 0; they come from left to right and from above.
 *
 * Returns: FALSE with an error of QM_READ_ERROR where there are too many rows,
 *   columns or cells, or it does not come in that order. */
gboolean qm_cells_add_text (
    QmCells *cells, guint row, guint column, const char *text, GError **error);

/* Likewise one with a number.
 *
 * decimals: as many as are shown; where those are fewer than two, as many are
 *   kept as it has.
 * unit: behind it, "EUR" or "%"; NULL: none. */
gboolean qm_cells_add_number (QmCells *cells,
                              guint row,
                              guint column,
                              double value,
                              guint decimals,
                              const char *unit,
                              GError **error);

/* Likewise one with a day, as spreadsheets count them from `epoch`. */
gboolean qm_cells_add_day (QmCells *cells,
                           guint row,
                           guint column,
                           const GDate *epoch,
                           double days,
                           GError **error);

/* The table as CSV that qm_sheet_new() reads, in UTF-8, with a first line
 * "sep=;".  Rows keep their numbers.  Numbers have the decimal sign of those
 * that were written as text, else a point, never three decimals, and nothing
 * between thousands: there is one way to read them.  Days are as in ISO 8601.
 *
 * Returns: (transfer full). */
GBytes *qm_cells_to_csv (const QmCells *cells);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCells, qm_cells_free)

G_END_DECLS
