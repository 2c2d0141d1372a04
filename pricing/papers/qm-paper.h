/* SPDX-License-Identifier: Apache-2.0 */

/* A document before it has a form: headings, paragraphs, lists and tables, in
 * the user's language.  The same document becomes Markdown, CSV or a
 * spreadsheet here, pages in ui/plot/qm-paper-pdf.h, and widgets or text of a
 * terminal elsewhere, so that all of them say the same. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  QM_PAPER_HEADING,
  QM_PAPER_TEXT,
  QM_PAPER_ITEM, /* of a list */
  QM_PAPER_TABLE
} QmPaperKind;

typedef enum
{
  QM_ROW_PLAIN,
  QM_ROW_STRONG, /* a sum, or what counts most */
  QM_ROW_SECTION /* a heading across all columns, in its first cell */
} QmPaperRowKind;

typedef struct
{
  char *text;    /* may have line breaks; NULL: not known */
  char *number;  /* the same as a plain decimal number for spreadsheets, in the
                    C locale; NULL: it is none */
  gboolean best; /* of its row */
} QmPaperCell;

typedef struct
{
  QmPaperRowKind kind;
  QmPaperCell *cells; /* as many as the table has columns */
} QmPaperRow;

typedef struct
{
  char *name; /* of the sheet */
  guint n_columns;
  char **heads;  /* NULL at the end */
  GArray *rows;  /* of QmPaperRow */
  guint64 words; /* columns that are read, not compared, so that they begin at
                    the left: 1 << each; the first one always is */
} QmPaperTable;

typedef struct
{
  QmPaperKind kind;
  char *text;          /* of all but a table */
  QmPaperTable *table; /* of a table */
} QmPaperBlock;

typedef struct
{
  char *title;
  char *subtitle; /* NULL: none */
  GArray *blocks; /* of QmPaperBlock */
  char *caption;  /* of the one figure, which pages have and other forms have
                     not; NULL: none */
  guint figure;   /* before which block it stands */
} QmPaper;

/* Texts are copied.  (transfer full) */
QmPaper *qm_paper_new (const char *title, const char *subtitle);
void qm_paper_free (QmPaper *paper);

/* Adds a heading, paragraph or item.  The text is copied. */
void qm_paper_add (QmPaper *paper, QmPaperKind kind, const char *text);

/* Says that the one figure stands here.  The caption is copied. */
void qm_paper_add_figure (QmPaper *paper, const char *caption);

/* Adds an empty table.  What it is given is copied.  (transfer none) */
QmPaperTable *
qm_paper_add_table (QmPaper *paper, const char *name, const char *const *heads);

/* Says that these columns are read, a list that ends with 0: the first one
 * needs no word. */
void qm_paper_table_set_words (QmPaperTable *table, const guint *columns);

/* Whether a column is read. */
gboolean qm_paper_table_is_words (const QmPaperTable *table, guint column);

/* Adds a row of unknown cells, of which the first says what it is about.  The
 * text is copied.
 *
 * Returns: (transfer none): its cells, until the next row is added. */
QmPaperCell *qm_paper_table_add_row (QmPaperTable *table,
                                     QmPaperRowKind kind,
                                     const char *text);

/* What a cell says; both are taken over, and may be NULL. */
void qm_paper_cell_set (QmPaperCell *cell, char *text, char *number);

/* The document as Markdown with tables as GitHub has them, the best of each row
 * in bold.  (transfer full) */
char *qm_paper_to_markdown (const QmPaper *paper);

/* The document as LaTeX, complete, with packages that every installation has
 * (booktabs, longtable).  (transfer full) */
char *qm_paper_to_latex (const QmPaper *paper);

/* The first table as CSV (RFC 4180): numbers where cells have one.
 * (transfer full) */
GBytes *qm_paper_to_csv (const QmPaper *paper);

/* The whole document as an OpenDocument spreadsheet (ODF 1.2): a sheet for each
 * table, and one for all texts.  (transfer full) */
GBytes *qm_paper_to_ods (const QmPaper *paper);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPaper, qm_paper_free)

G_END_DECLS
