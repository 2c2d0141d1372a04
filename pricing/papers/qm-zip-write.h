/* SPDX-License-Identifier: Apache-2.0 */

/* Writing zip archives, such as spreadsheets are: members as they are, without
 * compression and without a date, so that the same document is the same
 * bytes. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *name;
  const char *text; /* up to its end */
} QmZipPart;

/* An archive of parts in that order, of less than 4 GiB.  (transfer full) */
GBytes *qm_zip_write (const QmZipPart *parts, guint n);

G_END_DECLS
