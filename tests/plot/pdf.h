/* SPDX-License-Identifier: Apache-2.0 */

/* What tests read of PDF files. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The file, and after it the objects that Cairo 1.18 packs into compressed
 * streams, so that both can be searched.  (transfer full) */
GString *pdf_objects (GBytes *pdf);

/* How often a text stands in it. */
guint pdf_count (const GString *objects, const char *text);

G_END_DECLS
