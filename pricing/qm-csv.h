/* SPDX-License-Identifier: Apache-2.0 */

/* Tables as CSV (RFC 4180), for the clipboard and for files: in UTF-8, with
 * the numbers of the C locale whatever the user's is.  Cells follow each other
 * until the row ends. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a cell, in quotes where it needs them.  A text that a spreadsheet
 * would take for a formula gets an apostrophe before it, and so does one that
 * begins with one, so that ours can be told; NULL is empty. */
void qm_csv_add_text (GString *csv, const char *text);

/* A number as `format` says ("%.15g"); an empty cell where it is not finite:
 * what is unknown is empty. */
void qm_csv_add_number (GString *csv, const char *format, double value);

/* What is written already as the C locale has it, such as an exact number or a
 * day; NULL is empty. */
void qm_csv_add_written (GString *csv, const char *text);

/* Appends the text alone, in quotes and otherwise as it is: a part of a table
 * that is written for our own readers, with a delimiter of its own. */
void qm_csv_quote (GString *csv, const char *text);

/* Ends the row, of one cell at least. */
void qm_csv_end_row (GString *csv);

G_END_DECLS
