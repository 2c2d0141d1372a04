/* SPDX-License-Identifier: Apache-2.0 */

/* Text of pages: from bytes in whatever encoding to UTF-8, and from any UTF-8
 * to what may stand in a quote. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The bytes of a page as UTF-8 without NUL and byte order mark.  Of a byte
 * order mark, `charset` (of the HTTP header, or NULL), the page's own <meta>,
 * the first counts that names an encoding of the web; bytes that are valid
 * UTF-8 with characters beyond ASCII are taken as that whatever it says, and
 * without a name the rest as windows-1252, as are bytes that are called UTF-8
 * and have not one character of it beyond ASCII.  What cannot be converted
 * becomes U+FFFD.
 *
 * length: (out): bytes of the result.
 *
 * Returns: (transfer full): never NULL. */
char *qm_page_to_utf8 (const guint8 *bytes,
                       gsize size,
                       const char *charset,
                       gsize *length);

/* One line: valid UTF-8, runs of space and control characters as one space,
 * none at the ends, at most `max` characters.
 *
 * Returns: (transfer full) (nullable): NULL where nothing is left, or `text` is
 *   NULL. */
char *qm_page_one_line (const char *text, gsize max);

/* The same after resolving HTML entities that were escaped twice ("&amp;amp;",
 * "&quot;", "&#39;").  (transfer full) (nullable) */
char *qm_page_one_line_unescaped (const char *text, gsize max);

G_END_DECLS
