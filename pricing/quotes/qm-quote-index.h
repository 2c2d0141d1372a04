/* SPDX-License-Identifier: Apache-2.0 */

/* Lists of the quotes, to be searched while typing.
 *
 * An index holds what lists show of one state of a store.  It is read at once
 * (about 0.2 s for 100 000 lines) and then answers in milliseconds, whatever is
 * searched for: a look through a hundred thousand lines in memory costs less
 * than an index on disk does for a word that many of them have.  It never
 * changes; where qm_quote_index_is_current() says no, another one is made.
 *
 * What is searched is taken literally: no character is a wildcard.  Words are
 * separated by blanks and may stand anywhere, within others too; case and
 * accents do not matter.  A quote is found that has all of them, in its own
 * fields or those of its lines.  Of a text, the first QM_QUOTE_INDEX_MAX_TEXT
 * bytes are searched.
 *
 * An index is used by one thread at a time; it may be made in another, with a
 * store of that thread. */

#pragma once

#include "pricing/quotes/qm-quote-store.h"

G_BEGIN_DECLS

#define QM_QUOTE_INDEX_MAX_TEXT 4096

/* What a list shows of a quote; all texts are the index's, NULL where there is
 * none. */
typedef struct
{
  gint64 id;
  const char *vendor;
  const char *number;
  const char *alternative; /* of its document; NULL: it is the only one */
  const char *source;
  QmQuoteOrigin origin;
  QmPriceKind kind;
  QmPriceUnit unit;
  char currency[4];
  QmDate issued_on;
  QmDate valid_from;
  QmDate valid_until;
  QmTristate tax_included;
  gint64 read_at;
  gint64 deleted_at;    /* 0: is not */
  gint64 payable_minor; /* as written */
  gint64 total_minor;   /* as written, else computed by
                           pricing/quotes/qm-quote-totals.h, else unstated */
  const char *items;    /* ids of the catalog in its lines, by ";", sorted */
  guint n_lines;        /* of all roles */
  guint n_warnings;
  gboolean open;   /* there is something to be said: a question about it or a
                      line, which GPU a line is, or its currency */
  gboolean broken; /* says something that is damaged or of a later version:
                      what is here is not to be relied on, it cannot be got */
} QmQuoteRow;

/* What to list; all zero for everything that is not deleted. */
typedef struct
{
  const char *search; /* as typed; NULL: everything */
  const char *vendor; /* exactly; NULL: any */
  const char *item;   /* of one of its lines; NULL: any */
  QmDate valid_on;    /* year 0: whether valid or not */
  gboolean deleted;   /* those that are deleted, in place of the others */
} QmQuoteFilter;

/* Amounts are sorted by currency first.  What is not stated comes last, either
 * way; equals, the newest quote first. */
typedef enum
{
  QM_QUOTE_SORT_ADDED, /* when it was stored */
  QM_QUOTE_SORT_VENDOR,
  QM_QUOTE_SORT_NUMBER, /* of the quote */
  QM_QUOTE_SORT_ISSUED,
  QM_QUOTE_SORT_VALID_UNTIL,
  QM_QUOTE_SORT_TOTAL,
  QM_QUOTE_SORT_LINES, /* how many */
  QM_QUOTE_SORT_ITEM,
  QM_N_QUOTE_SORTS
} QmQuoteSort;

typedef struct _QmQuoteIndex QmQuoteIndex;

/* Reads the store as it is now.
 *
 * Returns: (transfer full): NULL with QM_QUOTE_STORE_ERROR or
 *   G_IO_ERROR_CANCELLED. */
QmQuoteIndex *qm_quote_index_new (QmQuoteStore *store,
                                  GCancellable *cancellable,
                                  GError **error);

void qm_quote_index_free (QmQuoteIndex *index);

/* Whether the store is as it was read; microseconds. */
gboolean qm_quote_index_is_current (const QmQuoteIndex *index,
                                    QmQuoteStore *store);

/* Lists quotes.
 *
 * offset, limit: which of them; G_MAXUINT: all.
 * n_found: (out) (optional): how many there are without that.
 *
 * Returns: (transfer container): of const QmQuoteRow, the index's. */
GPtrArray *qm_quote_index_quotes (QmQuoteIndex *index,
                                  const QmQuoteFilter *filter,
                                  QmQuoteSort sort,
                                  gboolean descending,
                                  guint offset,
                                  guint limit,
                                  guint *n_found);

/* The row of a quote, or NULL. */
const QmQuoteRow *qm_quote_index_get (const QmQuoteIndex *index, gint64 id);

/* Whether a quote holds on a day, as qm_quote_dates_hold() says; one that is
 * broken does not. */
gboolean qm_quote_row_holds (const QmQuoteRow *quote, QmDate on);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuoteIndex, qm_quote_index_free)

G_END_DECLS
