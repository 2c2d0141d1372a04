/* SPDX-License-Identifier: Apache-2.0 */

/* A row of the list of quotes, with what it shows. */

#pragma once

#include "pricing/quotes/qm-quote-index.h"

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_ITEM (qm_quote_item_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteItem, qm_quote_item, QM, QUOTE_ITEM, GObject)

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
} QmQuoteShown;

/* Copies what a list shows of a row of an index.  (transfer full) */
QmQuoteItem *qm_quote_item_new (const QmCatalog *catalog,
                                const QmQuoteRow *row,
                                QmDate today);

const QmQuoteShown *qm_quote_item_get_shown (QmQuoteItem *self);

/* Whether two show the same. */
gboolean qm_quote_item_equal (QmQuoteItem *a, QmQuoteItem *b);

G_END_DECLS
