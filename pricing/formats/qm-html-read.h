/* SPDX-License-Identifier: Apache-2.0 */

/* What reading the tables of an HTML page or mail came to. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What was read, and what was not. */
typedef struct
{
  guint rows;      /* of tables */
  guint hidden;    /* texts that nobody sees, or that are struck through */
  guint earlier;   /* rows of earlier mails that were left out */
  guint shortened; /* texts, of cells or between tables, that are too long to
                      be read to the end */
  gboolean cut;    /* too deep, or with too many rows, to be read to the end */
  gboolean named;  /* a row names columns that make lines of quotes, ... */
  gboolean counts; /* ... one of them with quantities */
  gboolean priced; /* a row has an amount with its currency beside words */
} QmHtmlRead;

G_END_DECLS
