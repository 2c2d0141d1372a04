/* SPDX-License-Identifier: Apache-2.0 */

/* A test program without GLib: checks that count, and go on after a failure.
 * main() ends with `return check_report ();`. */

#ifndef QM_TESTS_DATA_CHECK_H
#define QM_TESTS_DATA_CHECK_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status by which meson knows that a test could not run. */
#define CHECK_SKIPPED 77

void check_true (bool value, const char *what, const char *file, int line);
void check_int (
    int64_t got, int64_t wanted, const char *what, const char *file, int line);
void check_string (const char *got,
                   const char *wanted,
                   const char *what,
                   const char *file,
                   int line);
void check_contains (const char *got,
                     const char *wanted,
                     const char *what,
                     const char *file,
                     int line);
void check_near (double got,
                 double wanted,
                 double relative,
                 const char *what,
                 const char *file,
                 int line);

#define CHECK(value)           check_true (value, #value, __FILE__, __LINE__)
#define CHECK_INT(got, wanted) check_int (got, wanted, #got, __FILE__, __LINE__)
#define CHECK_STRING(got, wanted) \
  check_string (got, wanted, #got, __FILE__, __LINE__)
#define CHECK_CONTAINS(got, wanted) \
  check_contains (got, wanted, #got, __FILE__, __LINE__)
#define CHECK_NEAR(got, wanted, relative) \
  check_near (got, wanted, relative, #got, __FILE__, __LINE__)

/* Names the case that the following checks belong to, for messages. */
void check_case (const char *name);

/* The text with the first of a word for another, which has to be in it; to be
 * freed. */
char *check_replaced (const char *text, const char *from, const char *to);

/* Prints what passed and failed; the exit status. */
int check_report (void);

/* A directory for this program alone. */
const char *scratch_begin (void);

/* Removes it. */
void scratch_end (void);

/* Removes what is in it. */
void scratch_clear (void);

/* The path of `name` in the scratch directory; valid until the next call. */
const char *scratch_path (const char *name);

/* Writes a file, making the directories that it needs. */
void scratch_write (const char *name, const char *text, size_t length);
void scratch_write_text (const char *name, const char *text);

/* Makes a directory and those that it needs. */
void scratch_directory (const char *name);

#endif
