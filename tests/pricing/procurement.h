/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement and what a person reads off them. */

#pragma once

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
