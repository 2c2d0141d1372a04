/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement and what a person reads off them. */

#pragma once

#include "pricing/formats/qm-csv-mapping.h"
#include "pricing/formats/qm-sheet.h"

#include <gio/gio.h>

/* Loads the facts that are shipped; frees them. */
void procurement_begin (void);
void procurement_end (void);

const char *procurement_folder (void);

/* The files with one of these endings, in order. (transfer full) */
GPtrArray *procurement_files (const char *const *endings);

/* What a person reads off a table. (transfer full) */
GKeyFile *procurement_expected (const char *file);

/* The quotes that are read from a document. (transfer full): of QmQuote. */
GPtrArray *procurement_quotes (const char *file, GBytes *bytes);

/* Whether it is asked which of its columns is what. */
gboolean procurement_asks_columns (const char *file, GBytes *bytes);

/* Reads a document and ends the test where it does not come to what a person
 * reads off it, or to a question.
 *
 * file: its name up to the first point says what it should come to. */
void procurement_check (const char *file, GBytes *bytes);

/* The table of a file, to be written in another format; NULL where its head is
 * not known, or names no column of that kind.
 *
 * named: QM_CSV_IGNORED: of any.
 * mapping: (out) (transfer full): of its columns.
 *
 * Returns: (transfer full) (nullable) */
QmSheet *
procurement_sheet (const char *file, QmCsvField named, QmCsvMapping **mapping);

/* Whether a file is tried in one of so many layouts: each in one, which is the
 * same whatever other files there are, or with QM_TEST_FULL in all. */
gboolean procurement_takes (const char *file, guint layout, guint n_layouts);

/* Writes what was made to where a variable of the environment says, to look at
 * it.
 *
 * bytes: (nullable) */
void procurement_keep (const char *variable, GBytes *bytes);
