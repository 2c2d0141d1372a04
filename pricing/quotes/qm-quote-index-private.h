/* SPDX-License-Identifier: Apache-2.0 */

/* What reading an index and asking it share. */

#pragma once

#include "pricing/quotes/qm-quote-index.h"

G_BEGIN_DECLS

/* The folded texts of all rows, a line each, in one piece. */
typedef struct
{
  GString *text;
  gsize *starts; /* of each row, and the end */
} QmIndexText;

/* The rows that a word is in, a byte for each: while somebody types, all words
 * but the last one stay. */
typedef struct
{
  guint8 *quotes; /* in the quote itself */
  guint8 *lines;
} QmIndexMarks;

/* The order of the last list, which stays while somebody types. */
typedef struct
{
  gboolean known;
  QmQuoteSort sort;
  gboolean descending;
  guint *rows;
} QmIndexOrder;

/* What is asked of a line. */
typedef struct
{
  guint quote;      /* its row */
  const char *item; /* NULL: none */
} QmIndexLine;

struct _QmQuoteIndex
{
  guint64 changes; /* of the store, when it was read */
  GStringChunk *strings;
  QmQuoteRow *quotes; /* by id */
  guint n_quotes;
  QmIndexLine *lines; /* by quote and position */
  guint n_lines;
  QmIndexText quote_text; /* vendor, number, note and source */
  QmIndexText line_text;
  GHashTable *marks; /* word -> QmIndexMarks, of the last searches */
  QmIndexOrder order;
};

G_END_DECLS
