/* SPDX-License-Identifier: Apache-2.0 */

/* A folder with a store, for tests that look at its files. */

#pragma once

#include "pricing/quotes/qm-quote-store-private.h"
#include "random-quote.h"

#include <sys/types.h>

typedef struct
{
  char *folder;
  char *path; /* quotes.sqlite in it */
} StoreFolder;

/* A folder of its own, in which there is no store yet. */
void set_up (StoreFolder *folder, gconstpointer data);

/* Removes it with all that is in it. */
void tear_down (StoreFolder *folder, gconstpointer data);

/* The full names in the folder that contain a word, but no journals.
 * (transfer full) */
GPtrArray *names_with (const StoreFolder *folder, const char *word);

/* How many these are. */
guint count_names (const StoreFolder *folder, const char *word);

/* How many names are in a folder. */
guint count_files (const char *folder);

/* How many files of a folder have those bytes. */
guint count_files_with (const char *folder, const char *bytes);

/* How many quotes a store has, deleted ones too. */
gint64 count_quotes (QmQuoteStore *store);

/* Overwrites the second page of a file. */
void break_a_page (const char *path);

/* Opens a store, which must succeed. */
QmQuoteStore *open_store (const char *path);

/* Opening fails with that code and a sentence that names the file; where the
 * file is no store that this version knows, reading does, too. */
void assert_refused (const StoreFolder *folder, int code);

/* Runs SQL on a file that is not open as a store. */
void run_sql (const char *path, const char *sql);

/* The number that SQL says of a file. */
gint64 query (const char *path, const char *sql);

/* Adds so many quotes of ten lines, numbered from 1. */
void fill (const char *path, guint n);

/* A store of format 1. */
void make_version_1 (const StoreFolder *folder);

/* Runs `what` in another process; it returns 0 where all is well. */
pid_t start (int (*what) (const char *path, int argument),
             const char *path,
             int argument);

/* Waits for it. */
void finish (pid_t child);
