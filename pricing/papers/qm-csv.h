/* SPDX-License-Identifier: Apache-2.0 */

/* Tables as CSV (RFC 4180), for the clipboard and for files: in UTF-8, with
 * the numbers of the C locale whatever the user's is. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a cell, in quotes where it needs them.  A text that a spreadsheet
 * would take for a formula gets an apostrophe before it; NULL is empty. */
void qm_csv_append_text (GString *csv, const char *text);

/* Appends a number as `format` says ("%.15g"); nothing where it is not finite:
 * what is unknown is empty. */
void qm_csv_append_number (GString *csv, const char *format, double value);

G_END_DECLS
