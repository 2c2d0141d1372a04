/* SPDX-License-Identifier: Apache-2.0 */

/* Files that are read and written as a whole: nothing waits for a pipe, nothing
 * but a regular file is replaced, and what is there stays until the new one is
 * complete. */

#ifndef QM_DATA_FILE_H
#define QM_DATA_FILE_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether something has that name, be it a link that leads nowhere or something
 * that may not be looked at: a file that is simply not there is no mistake, and
 * anything else is to be told. */
bool qm_file_exists (const char *path);

/* Opens the regular file at `path` for reading; *stream is the caller's, to be
 * closed with fclose().  QM_STATUS_IO where it cannot be opened or is something
 * else. */
QmStatus
qm_file_open (const char *path, FILE **stream, uint64_t *size, QmError *error);

/* Where a file that is to be written at `path` belongs: there, or where a link
 * leads that is there.  QM_STATUS_IO where something other than a regular file
 * is in its place, or one that nobody may write, or the path is longer than
 * `size` allows. */
QmStatus
qm_file_place (const char *path, char *place, size_t size, QmError *error);

/* The name that a file at `place` has in this process until it is complete;
 * false where `size` is too small. */
bool qm_file_part_name (const char *place, char *name, size_t size);

/* Makes a file for writing, in place of one that a process with the same number
 * has left behind; NULL, with errno, where that cannot be done. */
FILE *qm_file_create_part (const char *name);

/* Writes a file whole, onto the disk, in place of one that is there, whose mode
 * it has then. */
QmStatus qm_file_replace (const char *path,
                          const char *bytes,
                          size_t length,
                          QmError *error);

/* The same of a text, with a line feed behind it. */
QmStatus qm_file_write (const char *path, const char *text, QmError *error);

/* Makes the folders that the file at `path` is to be in. */
QmStatus qm_file_make_folders (const char *path, QmError *error);

/* Makes what was created in the folder of a file last, where that is possible.
 */
void qm_file_synchronize_folder (const char *path);

#endif
