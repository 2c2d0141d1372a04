/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of an HTML page or mail as one sheet.  Mails use tables for where
 * things stand, most of them within others: those become the lines that people
 * read in them.  What is left are rows of cells, and lines between them. */

#pragma once

#include "pricing/formats/qm-cells.h"
#include "pricing/formats/qm-html-read.h"
#include "pricing/pages/qm-page-tree.h"

G_BEGIN_DECLS

/* No table has more columns; spans are cut there. */
#define QM_HTML_MOST_COLUMNS 64
/* A page with more rows and lines is read up to there. */
#define QM_HTML_MOST_ROWS 20000

/* A row of a table, or a line outside of all. */
typedef struct
{
  GPtrArray *cells; /* of char *, owned; NULL: empty */
  GPtrArray *above; /* likewise, each text in all columns that its cell spans;
                       NULL: no cell spans any */
  guint table;      /* which one it is in, from 1; 0: in none */
  gboolean quoted;  /* it is of an earlier mail that this one repeats */
} QmHtmlRow;

void qm_html_row_free (QmHtmlRow *row);

/* Whether no cell has anything. */
gboolean qm_html_row_is_blank (const QmHtmlRow *row);

/* How many columns of quotes the cells name, of texts in a row; 0 where those
 * make no lines.
 *
 * counts: (out) (optional): whether one is of quantities. */
guint qm_html_names (const GPtrArray *cells, gboolean *counts);

/* The rows and lines of a page, in the order in which people read them.
 *
 * read: whether there were too many, or they were too deep, and how many texts
 * were too long, is added.
 *
 * Returns: (transfer full): of QmHtmlRow. */
GPtrArray *qm_html_rows (xmlDoc *doc, QmHtmlRead *read);

/* Cells of earlier rows that reach into the next ones. */
typedef struct
{
  struct
  {
    guint left; /* rows that it still covers */
    char *text; /* what to say there again; NULL: nothing */
  } spans[QM_HTML_MOST_COLUMNS];
} QmHtmlGrid;

/* Begins another table. */
void qm_html_grid_clear (QmHtmlGrid *grid);

/* Lays out a row.  A cell that spans rows has its text in the first; words are
 * in all rows that have an amount of their own.
 *
 * cells: of xmlNode.
 * texts: of char *, as many.
 *
 * Returns: (transfer full). */
QmHtmlRow *qm_html_grid_row (QmHtmlGrid *grid,
                             const GPtrArray *cells,
                             const GPtrArray *texts);

/* The sheet that rows make, as a reader of CSV files expects it.
 *
 * rows: of QmHtmlRow.
 * read: what was read is added.
 *
 * Returns: (transfer full): NULL with an error of QM_READ_ERROR where there is
 *   too much. */
QmCells *qm_html_cells (GPtrArray *rows, QmHtmlRead *read, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmHtmlRow, qm_html_row_free)

G_END_DECLS
