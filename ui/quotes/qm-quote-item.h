/* SPDX-License-Identifier: Apache-2.0 */

/* A place in the list of quotes, with what it shows: another quote moves into
 * it where the list changes, so that its widgets can stay. */

#pragma once

#include "pricing/quotes/qm-quote-index.h"

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_ITEM (qm_quote_item_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteItem, qm_quote_item, QM, QUOTE_ITEM, GObject)

/* Signals:
 *
 *   "changed"  it shows something else
 */

/* What is shown: texts are the item's own. */
typedef struct
{
  gint64 id;
  char *title;  /* vendor, or what stands for it */
  char *detail; /* number or source, and what it is about */
  char *issued;
  char *validity;
  char *total;
  gboolean expired;
  gboolean warned; /* something in it was not understood or does not add up */
  gboolean open;   /* there is something to be said about it */
  gboolean broken; /* it could not be read completely */
} QmQuoteShown;

/* Why a quote needs a look, the worst first: a sentence without its stop, and
 * the name of an icon; static, NULL where it needs none. */
const char *qm_quote_shown_note (const QmQuoteShown *shown);
const char *qm_quote_shown_icon (const QmQuoteShown *shown);

/* Copies what a list shows of a row of an index.  (transfer full) */
QmQuoteItem *qm_quote_item_new (const QmCatalog *catalog,
                                const QmQuoteRow *row,
                                QmDate today);

/* What is shown, until it is "changed". */
const QmQuoteShown *qm_quote_item_get_shown (QmQuoteItem *self);

/* Shows another row, or the same in another state. */
void qm_quote_item_set_row (QmQuoteItem *self,
                            const QmCatalog *catalog,
                            const QmQuoteRow *row,
                            QmDate today);

/* Something that others know of it has changed: says "changed". */
void qm_quote_item_touch (QmQuoteItem *self);

G_END_DECLS
