/* SPDX-License-Identifier: Apache-2.0 */

/* Comma-separated values (RFC 4180) with a header line, read through libcsv
 * with the line and column of every cell.
 *
 * A reader describes its columns, and is called for each row.  Cells are taken
 * out of the row by functions that check them; the first cell that is wrong
 * becomes the error of the file, and what the functions return after that does
 * not matter. */

#ifndef QM_DATA_CSV_TABLE_H
#define QM_DATA_CSV_TABLE_H

#include "data/error.h"
#include "data/money.h"
#include "data/pool.h"

#include <stdbool.h>
#include <stddef.h>

#define QM_CSV_MAX_COLUMNS 32

typedef struct QmCsvColumn
{
  const char *name;
  bool required; /* must be in the header */
} QmCsvColumn;

typedef struct QmCsvCell
{
  const char *text; /* without surrounding blanks; empty where the file has no
                       such column */
  int line;
  int column;
} QmCsvCell;

typedef struct QmCsvRow
{
  const QmCsvColumn *columns;
  const QmCsvCell *cells; /* in the order of `columns` */
  const char *file;
  QmPool *pool; /* for strings */
  QmStatus status;
  QmError *error;
} QmCsvRow;

/* Called for each row; what went wrong is in row->status. */
typedef void (*QmCsvRowFunc) (QmCsvRow *row, void *data);

/* Reads a whole file.  Strings go into `pool`. */
QmStatus qm_csv_read (const char *text,
                      size_t length,
                      const char *file,
                      const QmCsvColumn *columns,
                      size_t n_columns,
                      QmPool *pool,
                      QmCsvRowFunc func,
                      void *data,
                      QmError *error);

/* Makes "column: message" the error of the row, unless it has one. */
void qm_csv_fail (QmCsvRow *row,
                  size_t column,
                  QmStatus status,
                  const char *format,
                  ...) __attribute__ ((format (printf, 4, 5)));

/* Whether a cell is empty, or the file has no such column. */
bool qm_csv_is_empty (const QmCsvRow *row, size_t column);

/* A string of the pool, of a single line; refuses an empty cell where it is
 * `required`. */
const char *qm_csv_text (QmCsvRow *row, size_t column, bool required);

/* A name made of a-z, 0-9, "." and "-". */
const char *qm_csv_id (QmCsvRow *row, size_t column);

/* A number in [min, max], or NaN where the cell is empty. */
double qm_csv_number (QmCsvRow *row, size_t column, double min, double max);

/* The same, or 0 for the word "none". */
double
qm_csv_number_or_none (QmCsvRow *row, size_t column, double min, double max);

/* A whole number in [min, max]; `fallback` where the cell is empty, which is
 * refused if `fallback` is negative. */
int64_t qm_csv_integer (
    QmCsvRow *row, size_t column, int64_t min, int64_t max, int64_t fallback);

/* An amount in micros, or -1 where the cell is empty. */
int64_t qm_csv_micros (QmCsvRow *row, size_t column);

/* An ISO 4217 code. */
void qm_csv_currency (QmCsvRow *row, size_t column, char currency[4]);

/* Names of the file's columns, separated by semicolons, as they stand there. */
const char *qm_csv_columns (QmCsvRow *row, size_t column, size_t n_columns);

/* A date; year 0 where the cell is empty. */
QmDate qm_csv_date (QmCsvRow *row, size_t column);

/* The index of one of some words; `fallback` where the cell is empty, which is
 * refused if `fallback` is negative. */
int qm_csv_word (QmCsvRow *row,
                 size_t column,
                 const char *const *words,
                 size_t n_words,
                 int fallback);

/* Ids are not longer. */
#define QM_ID_MAX_BYTES 64

/* Why text is no id, or NULL where it is one; static. */
const char *qm_id_problem (const char *text);

#endif
