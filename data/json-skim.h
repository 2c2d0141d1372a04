/* SPDX-License-Identifier: Apache-2.0 */

/* JSON objects without what nobody reads of them.
 *
 * A line of a results file is some kilobytes, most of which is for who studies
 * one measurement, and a parser that makes an object of each value takes longer
 * over them than everything else that is read at the start.  They are walked
 * over here, and only what is read is handed on. */

#ifndef QM_DATA_JSON_SKIM_H
#define QM_DATA_JSON_SKIM_H

#include <stddef.h>

#define QM_JSON_PART_NAMES 6

/* A member of an object, and which members of its value are read; a member of
 * which none is, is left out. */
typedef struct QmJsonPart
{
  const char *name;
  const char *read[QM_JSON_PART_NAMES]; /* NULL after the last */
} QmJsonPart;

/* Copies the object in `length` bytes of text to `out`, which has room for as
 * many: members that are no part as they are, and of parts what is read.
 * Returns how many bytes that are, or 0 where the text is not what programs
 * write: there is something wrong in it, or what is left out has a backslash, a
 * name twice, or is deep, long or large.  Such text must be parsed as a whole.
 * What a parser finds in the copy it finds in the text, and it refuses neither
 * or both. */
size_t qm_json_skim (const char *text,
                     size_t length,
                     const QmJsonPart *parts,
                     size_t n_parts,
                     char *out);

#endif
