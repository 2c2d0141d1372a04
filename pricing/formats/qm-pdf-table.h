/* SPDX-License-Identifier: Apache-2.0 */

/* The table of a PDF: nothing in the file says that there is one, so it is
 * found by the names of its columns and by where words stand below them. */

#pragma once

#include "pricing/formats/qm-cells.h"
#include "pricing/formats/qm-csv-words.h"
#include "pricing/formats/qm-pdf-lines.h"

G_BEGIN_DECLS

/* No table has more columns, ... */
#define QM_PDF_MOST_COLUMNS 32
/* ... and comes with its names more often. */
#define QM_PDF_MOST_HEADS 200

/* The names of a table's columns, which may stand on several lines. */
typedef struct
{
  guint first, n; /* lines */
  guint n_names;
  QmPdfBox boxes[QM_PDF_MOST_COLUMNS]; /* from left to right, apart */
  char *names[QM_PDF_MOST_COLUMNS];
  QmCsvField fields[QM_PDF_MOST_COLUMNS];
  double height; /* of its letters */
  guint score;   /* how many fields it names */
} QmPdfHead;

/* Lines of a table below one of its heads. */
typedef struct
{
  const QmPdfHead *head;
  guint first, end;                  /* lines */
  double edges[QM_PDF_MOST_COLUMNS]; /* the right ends of its columns */
  double common;                     /* the gap between two rows */
} QmPdfBody;

/* Whether a text is an amount of money, with or without its currency. */
gboolean qm_pdf_is_amount (const char *text);

/* Whether a column has amounts. */
static inline gboolean
qm_pdf_has_amounts (QmCsvField field)
{
  return field == QM_CSV_PRICE || field == QM_CSV_TOTAL;
}

/* All heads of the table that is the quote's, from the one that names most; the
 * head may come again on the next page, or for the next alternative.
 *
 * Returns: (transfer full): of QmPdfHead, in order; none where nothing is a
 *   head. */
GPtrArray *qm_pdf_heads (const GPtrArray *lines);

/* Whether there is an amount, or a word for one, at the end of a line, in a
 * column of amounts. */
gboolean
qm_pdf_has_amount (const QmPdfHead *head, const GPtrArray *lines, guint line);

/* Where a body ends: behind the last line with an amount before `end`. */
guint qm_pdf_body_end (const QmPdfHead *head,
                       const GPtrArray *lines,
                       guint first,
                       guint end);

/* Finds the ends of the columns of bodies: those places between two names that
 * fewest lines of all bodies with the same columns cross.
 *
 * bodies: of QmPdfBody. */
void qm_pdf_edges (GArray *bodies, const GPtrArray *lines);

/* The gap between two rows of a body, as most have it that have nothing between
 * them, in points; where there are none, the narrowest that is clearly wider
 * than those between lines of a cell.  G_MAXDOUBLE: it is not known. */
double qm_pdf_common_gap (const QmPdfBody *body, const GPtrArray *lines);

/* Whether a line has names of several totals, "Net", "VAT", "Total", and those
 * of lines[below] are amounts alone: a small table, of which the names stand
 * above the amounts, on this page or at the end of the one before. */
gboolean
qm_pdf_is_total_table (const GPtrArray *lines, guint names, guint below);

/* The rows of a body, by its common gap: those of its lines that belong
 * together.
 *
 * Returns: (transfer full): of guint, the first line of each and the end. */
GArray *qm_pdf_rows (const QmPdfBody *body, const GPtrArray *lines);

/* The text of a row's cells; those that are empty are NULL.
 *
 * cells: (out) (array): as many as the head has names; to be freed. */
void qm_pdf_row_cells (const QmPdfBody *body,
                       const GPtrArray *lines,
                       guint first,
                       guint end,
                       char *cells[QM_PDF_MOST_COLUMNS]);

/* All that is written, as a sheet: what stands above the table, its rows, and
 * what stands below, behind its last column.  Where no table is found, each
 * line is a row.
 *
 * pages: of QmPdfPage.
 *
 * Returns: (transfer full): NULL with an error of QM_READ_ERROR where there is
 *   nothing or too much, or of G_IO_ERROR where it was cancelled. */
QmCells *qm_pdf_cells (const GPtrArray *pages,
                       GCancellable *cancellable,
                       GError **error);

G_END_DECLS
