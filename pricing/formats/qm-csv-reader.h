/* SPDX-License-Identifier: Apache-2.0 */

/* What the files share that read a quote out of a spreadsheet: the state, the
 * cells (qm-csv-cells.c), what stands above and below the table
 * (qm-csv-head.c), its rows (qm-quote-csv.c, qm-csv-line.c,
 * qm-csv-total-row.c) and what alternatives have in common
 * (qm-csv-share.c). */

#pragma once

#include "pricing/formats/qm-csv-draft.h"
#include "pricing/formats/qm-quote-csv.h"

/* No document offers more alternatives. */
#define QM_CSV_MAX_ALTERNATIVES 50

typedef struct
{
  const QmSheet *sheet;
  const QmCsvMapping *mapping;
  GPtrArray *mappings; /* of QmCsvMapping, of other headers further down */
  guint n_above;       /* rows of another sheet above the table's own */
  QmQuote *head;       /* what stands above the table */
  GPtrArray *drafts;   /* of QmCsvDraft, owned */
  GHashTable *by_key;  /* borrowed, by vendor, number and alternative */
  GHashTable *terms;   /* what was said about how long a QmQuote holds, owned */
  guint n_loose;       /* rows outside the table so far */
  char *vendor;        /* of the last row that named them */
  char *number;
  char *alternative;      /* under whose heading the rows are; NULL: none */
  guint n_either;         /* "either" and "or" so far */
  QmLineRole role;        /* of lines under the last heading */
  gboolean marks_options; /* the column of alternatives says which lines are
                             options, and names none */
  gboolean thousands;     /* the table says that its amounts are in them, ... */
  gboolean in_thousands[QM_SHEET_MAX_COLUMNS]; /* ... and of which columns */
  gint64 tax_rate;  /* of tax that the prices contain, in millionths of a
                       percent; 0: nothing is said */
  gboolean monthly; /* a column of amounts is for a time */
  gboolean rent;    /* that, or the last heading speaks of a rent */
  gboolean per_hour;
  gboolean is_ours; /* the project has written the table */
  GError *error;    /* the first */
} QmCsvReader;

/* The text of a cell without what spreadsheets put around it; NULL where there
 * is none, or no such column. */
char *qm_csv_cell_text (QmCsvReader *reader, guint row, int column);
char *qm_csv_cell_of (QmCsvReader *reader, guint row, QmCsvField field);
gboolean
qm_csv_cell_is_empty (QmCsvReader *reader, guint row, QmCsvField field);

/* "row 5, column Price" */
char *qm_csv_cell_place (QmCsvReader *reader, guint row, int column);

/* Notes the currency of an amount in a row; see qm_csv_draft_set_currency(). */
void qm_csv_set_currency (QmCsvReader *reader,
                          QmCsvDraft *draft,
                          guint row,
                          const char *currency);

/* Adds a finding: this is not clearly an amount. */
void qm_csv_cell_report (QmCsvReader *reader,
                         QmQuote *quote,
                         guint row,
                         int column,
                         const char *text);

/* The amount in a cell in millionths, or QM_AMOUNT_UNSTATED.  Notes its
 * currency. */
gint64 qm_csv_cell_amount (QmCsvReader *reader,
                           QmCsvDraft *draft,
                           guint row,
                           int column);
gint64 qm_csv_cell_amount_of (QmCsvReader *reader,
                              QmCsvDraft *draft,
                              guint row,
                              QmCsvField field);

/* Whether an amount stands in the cell of a field, whatever its currency. */
gboolean qm_csv_cell_has_amount (QmCsvReader *reader,
                                 guint row,
                                 QmCsvField field,
                                 gint64 *micros);

/* The quantity of a line, which may have its unit beside it ("2 pcs"), ... */
gint64 qm_csv_cell_quantity (QmCsvReader *reader,
                             QmCsvDraft *draft,
                             guint row,
                             QmQuoteLine *line);

/* ... and its discount. */
void qm_csv_cell_discount (QmCsvReader *reader,
                           QmCsvDraft *draft,
                           guint row,
                           QmQuoteLine *line);

/* Puts a value that holds for the whole quote where it belongs.  FALSE where
 * the field is not of that kind. */
gboolean qm_csv_head_set (QmCsvReader *reader,
                          QmQuote *quote,
                          QmCsvField field,
                          guint row,
                          int column,
                          const char *text);

/* Reads a row above or below the table: what is no name with its value becomes
 * the note. */
void qm_csv_head_read_row (QmCsvReader *reader, QmQuote *quote, guint row);

/* Takes the currency that the label of a total has, if the quote has none. */
void qm_csv_head_take_currency (QmQuote *quote, const char *label);

/* Finds out until when a quote holds, once its other dates are known. */
void qm_csv_head_settle (QmCsvReader *reader, QmQuote *quote);

/* One term that is kept for qm_csv_head_settle(); for `reader->terms`. */
void qm_csv_term_note_free (gpointer note);

/* The draft that a row belongs to; made where there is none. */
QmCsvDraft *qm_csv_find_draft (QmCsvReader *reader, guint row);

/* Takes what a row's columns say of the whole quote: dates, currency, note. */
void
qm_csv_read_head_fields (QmCsvReader *reader, QmCsvDraft *draft, guint row);

/* Whether words say that amounts are in thousands: "TEUR", "(k€)". */
gboolean qm_csv_says_thousands (const char *text);

/* Finds out whether what stands around the table says so, and of which
 * currency, ... */
void qm_csv_look_for_thousands (QmCsvReader *reader);

/* ... and of which columns it holds. */
void qm_csv_note_thousands (QmCsvReader *reader);

/* Reads a row of a small table of totals, of which the names stand above the
 * amounts.  FALSE: it is none. */
gboolean qm_csv_read_total_table (QmCsvReader *reader, guint row);

/* The draft of the last row; NULL: there is none. */
QmCsvDraft *qm_csv_last_draft (QmCsvReader *reader);

/* Whether a row has something in a cell for amounts that is none of "included"
 * and "on request". */
gboolean qm_csv_has_amount (QmCsvReader *reader, guint row);

/* Whether a row is the header once more. */
gboolean qm_csv_is_header_again (QmCsvReader *reader, guint row);

/* Whether the column of alternatives has marks and no names: "J" and "N" below
 * "Option" are no options of these names. */
gboolean qm_csv_has_marks (QmCsvReader *reader);

/* Reads a row that is a line (qm-csv-line.c). */
void qm_csv_read_line (QmCsvReader *reader, QmCsvDraft *draft, guint row);

/* Asks about a line what cells beside its own say: that it is a rent, or one of
 * packs (qm-csv-beside.c). */
void qm_csv_read_beside (QmCsvReader *reader,
                         QmCsvDraft *draft,
                         guint row,
                         QmQuoteLine *line);

/* Reads a row of totals (qm-csv-total-row.c).  FALSE: it is none. */
gboolean qm_csv_read_total_row (QmCsvReader *reader, guint row);

/* Whether two quotes have the same vendor and number. */
gboolean qm_csv_is_same_document (const QmQuote *a, const QmQuote *b);

/* Gives the alternatives of a document what it has for all of them, and makes
 * what a whole quote calls options such.  What is left without lines is no
 * quote.  Sets the reader's error where that would be too much. */
void qm_csv_share (QmCsvReader *reader);
