/* SPDX-License-Identifier: Apache-2.0 */

/* Rows and cells of a CSV file as spreadsheets write it: decoded, divided, and
 * nothing more.  Its cells are text; spaces around those without quotes are
 * gone. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_SHEET_MAX_COLUMNS 256
#define QM_SHEET_MAX_ROWS    1000000

typedef struct _QmSheet QmSheet;

/* The UTF-8 text of a file: by its byte order mark, as UTF-16 without one, as
 * UTF-8, or else in an encoding of Windows.
 *
 * encoding: the name of an encoding to use; NULL: find out.
 * used: (out) (transfer none) (optional): the name of the one that was used.
 *
 * Returns: (transfer full): the text, or NULL with an error of QM_READ_ERROR
 *   where it is no text. */
char *qm_sheet_decode (const char *data,
                       gsize size,
                       const char *encoding,
                       gsize *length,
                       const char **used,
                       GError **error);

/* Divides a text into rows.  A first line "sep=;" is not a row.
 *
 * max_rows: at most so many, and what would be an error is left out; 0: all.
 *
 * Returns: (transfer full): the sheet, or NULL with an error of QM_READ_ERROR
 *   where a quote is never closed or there are too many rows or columns, or of
 *   G_IO_ERROR where it was cancelled. */
QmSheet *qm_sheet_new (const char *text,
                       gsize length,
                       char delimiter,
                       guint max_rows,
                       GCancellable *cancellable,
                       GError **error);

void qm_sheet_free (QmSheet *sheet);

guint qm_sheet_n_rows (const QmSheet *sheet);

/* Number of cells in a row. */
guint qm_sheet_n_cells (const QmSheet *sheet, guint row);

/* A cell's text, empty where the row has no such cell; valid as long as the
 * sheet. */
const char *qm_sheet_cell (const QmSheet *sheet, guint row, guint column);

/* Whether all cells of a row are empty. */
gboolean qm_sheet_is_blank (const QmSheet *sheet, guint row);

/* The delimiter of a line "sep=;" at the start; '\0': there is none. */
char qm_sheet_declared_delimiter (const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmSheet, qm_sheet_free)

G_END_DECLS
