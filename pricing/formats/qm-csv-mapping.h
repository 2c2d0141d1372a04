/* SPDX-License-Identifier: Apache-2.0 */

/* How to read one kind of spreadsheet: where its header is, what each column
 * holds, how numbers and dates are written.  It is guessed, can be changed by
 * the user, and remembered under the fingerprint of the header. */

#pragma once

#include "data/catalog.h"
#include "pricing/formats/qm-csv-words.h"
#include "pricing/formats/qm-sheet.h"
#include "pricing/qm-amount.h"

G_BEGIN_DECLS

typedef enum
{
  QM_DATES_GUESS, /* 2026-03-31 and 31.3.2026 are clear; 3/4/2026 is not */
  QM_DATES_DAY_FIRST,
  QM_DATES_MONTH_FIRST,
  QM_N_DATE_ORDERS
} QmDateOrder;

typedef struct
{
  char delimiter; /* "," ";" "|" or a tab */
  char *encoding; /* that of the file where it is not UTF-8; NULL: found out */
  int header_row; /* from 0; -1: there is none, lines begin in row 0 */
  QmDecimal decimal;
  QmDateOrder date_order;
  char currency[4]; /* of amounts that do not say theirs; empty: unknown */
  QmTristate tax_included;
  GArray *columns; /* of QmCsvField */
} QmCsvMapping;

/* A mapping of no columns. */
QmCsvMapping *qm_csv_mapping_new (void);

QmCsvMapping *qm_csv_mapping_copy (const QmCsvMapping *mapping);

void qm_csv_mapping_free (QmCsvMapping *mapping);

/* The field of a column; QM_CSV_IGNORED beyond the last. */
QmCsvField qm_csv_mapping_field (const QmCsvMapping *mapping, guint column);

/* Has a column hold a field.  Another column that held it is ignored then. */
void qm_csv_mapping_set_field (QmCsvMapping *mapping,
                               guint column,
                               QmCsvField field);

/* The column that holds a field, or -1. */
int qm_csv_mapping_column (const QmCsvMapping *mapping, QmCsvField field);

/* Whether lines can be read with it: it has a description or part number, and
 * a price or total.  Otherwise QM_READ_ERROR_MAPPING says what is missing. */
gboolean qm_csv_mapping_check (const QmCsvMapping *mapping, GError **error);

/* Guesses how a file is to be read.
 *
 * Returns: (transfer full): a mapping that may fail qm_csv_mapping_check(), or
 *   NULL with an error of QM_READ_ERROR where the file is no text or its rows
 *   cannot be told apart. */
QmCsvMapping *
qm_csv_mapping_guess (const char *data, gsize size, GError **error);

/* How well a row serves as a header: how many fields it names; 0 where it lacks
 * those that are needed. */
guint qm_csv_header_score (const QmSheet *sheet, guint row);

/* The same for a mapping of which delimiter, encoding and header row are
 * decided: everything else is guessed from the sheet. */
void qm_csv_mapping_guess_columns (QmCsvMapping *mapping, const QmSheet *sheet);

/* Whether a column that is not used has the quantities and the prices together,
 * and none has the quantities: as it stands, each line would be of one. */
gboolean qm_csv_mapping_is_merged (const QmCsvMapping *mapping,
                                   const QmSheet *sheet);

/* Whether a column that is not used has the amounts of another offer beside
 * those that are: "Price A", "Price B". */
gboolean qm_csv_mapping_has_twins (const QmCsvMapping *mapping,
                                   const QmSheet *sheet);

/* What the header of a file is remembered by: 16 hexadecimal digits; NULL where
 * the mapping has no header row. */
char *qm_csv_mapping_fingerprint (const QmCsvMapping *mapping,
                                  const QmSheet *sheet);

/* Remembered mappings are a JSON document, of which the caller keeps the text.
 *
 * json: NULL or anything that is no such document: nothing is remembered.
 *
 * Returns: (transfer full): the mapping under a fingerprint, or NULL. */
QmCsvMapping *qm_csv_mappings_find (const char *json, const char *fingerprint);

/* Remembers a mapping.
 *
 * Returns: (transfer full): the new document, which has what `json` had. */
char *qm_csv_mappings_add (const char *json,
                           const char *fingerprint,
                           const QmCsvMapping *mapping);

/* Whether that is such a document. */
gboolean qm_csv_mappings_check (const char *json);

/* Reads the file of such a document.
 *
 * problems: (nullable) (element-type QmError): gets what is wrong with a file
 *   that cannot be read or is none.
 *
 * Returns: (transfer full) (nullable): NULL where there is nothing to use. */
char *qm_csv_mappings_load (const char *path, GArray *problems);

/* Writes the file, and the folder that it is in.  What is there and is no such
 * document is not lost: it gets the name with ".damaged" behind it. */
gboolean
qm_csv_mappings_save (const char *path, const char *json, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCsvMapping, qm_csv_mapping_free)

G_END_DECLS
