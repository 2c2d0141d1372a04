/* SPDX-License-Identifier: Apache-2.0 */

/* JSON as it stands in the scripts of pages, where it is often broken: wrapped
 * in CDATA or HTML comments, with raw line breaks in strings, comments,
 * trailing commas, quotes that are not escaped, several values in a row, or
 * written as a JavaScript literal.
 *
 * Nothing is executed.  What is no literal ends the value as unreadable. */

#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

/* Reads the values of a script one after another, strict JSON as it is and
 * broken JSON mended.  Numbers with more than 15 digits or an exponent become
 * strings, as they stand.
 *
 * text: UTF-8, `length` bytes.
 *
 * Returns: (transfer full): a GPtrArray of json_t, owned; empty where there is
 *   nothing that could be read. */
GPtrArray *qm_lax_json_read (const char *text, gsize length);

/* Reads the one object or array that begins at `text` ("{" or "["), whatever
 * stands after it.
 *
 * end: (out) (optional): the first byte after it.
 *
 * Returns: (transfer full) (nullable): NULL where it cannot be read. */
json_t *qm_lax_json_read_one (const char *text, gsize length, gsize *end);

G_END_DECLS
