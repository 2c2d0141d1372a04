/* SPDX-License-Identifier: Apache-2.0 */

/* Text that comes from a file: reading it whole, checking that it is text, and
 * the numbers in it.  Nothing here depends on the locale of the process. */

#ifndef QM_DATA_TEXT_H
#define QM_DATA_TEXT_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No file of facts is larger. */
#define QM_TEXT_MAX_BYTES ((size_t) 8 * 1024 * 1024)

/* Reads the regular file at `path`, without a byte order mark.  *text is
 * terminated by a zero byte, owned by the caller and freed with free().
 * QM_STATUS_IO where it cannot be read, is no regular file or is too large;
 * QM_STATUS_PARSE as from qm_text_check(). */
QmStatus qm_text_read_file (const char *path,
                            char **text,
                            size_t *length,
                            QmError *error);

/* Reads the regular file at `path` of up to `most` bytes as it is.  *text is
 * terminated by a zero byte besides those of the file, owned by the caller and
 * freed with free(). */
QmStatus qm_text_read_bytes (
    const char *path, size_t most, char **text, size_t *length, QmError *error);

/* Refuses anything but valid UTF-8 without control characters other than tab,
 * line feed and carriage return. */
QmStatus qm_text_check (const char *text,
                        size_t length,
                        const char *file,
                        QmError *error);

/* Whether text is without line breaks, tabs and other control characters. */
bool qm_text_is_line (const char *text);

/* Drops the bytes of a UTF-8 sequence that the end of a buffer has cut. */
void qm_text_trim (char *text);

/* Line and column, from 1, of the byte at `offset`. */
void qm_text_position (
    const char *text, size_t length, size_t offset, int *line, int *column);

/* Reads a decimal number ("-1.5e3") in whatever locale.  Returns false, leaving
 * *value as it was, on anything else, among it "inf", "nan", hexadecimal and
 * numbers too large for a double. */
bool qm_number_parse (const char *text, double *value);

/* Bytes of the character at `text`, which is not its end, where it can be shown
 * as it is.  0 where it could steer a terminal or hide what is around it, such
 * as controls of C0 and C1 and of direction, and where it is no UTF-8: *code is
 * that character or byte all the same. */
size_t qm_text_next (const char *text, uint32_t *code);

/* Copies text for people to see, whoever wrote it: what qm_text_next() knows as
 * unsafe becomes an escape ("\x1b", "\u202e"), and what is longer than `size`
 * bytes with the end is cut and ends with an ellipsis.  `safe` may not be
 * `text`.  Returns `safe`. */
char *qm_text_escape (const char *text, char *safe, size_t size);

#define QM_QUOTE_BYTES 64

/* Puts text into quotes for a message: 'text', with escapes and cut where it is
 * long, as qm_text_escape() does.  Returns `buffer`. */
const char *qm_text_quote (const char *text, char buffer[QM_QUOTE_BYTES]);

/* Text of malloc(), or NULL, with an end of line more; frees it and returns
 * NULL where there is no memory. */
char *qm_text_end_line (char *text);

#endif
