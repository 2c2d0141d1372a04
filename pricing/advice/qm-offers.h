/* SPDX-License-Identifier: Apache-2.0 */

/* What the user's quotes offer, as prices that an advice counts with: of each
 * GPU and machine the newest quote that holds today, and of whole servers the
 * same for each GPU type and number of GPUs in it.
 *
 * The price of one is what the line costs / its quantity, less its share of the
 * discount of the whole quote, and without tax where the quote tells the tax.
 * Shipping and other charges of the whole quote are no part of it.  It is
 * converted to USD at the day of the quote.
 */

#pragma once

#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* One line of one quote. */
typedef struct
{
  QmPrice price;   /* of one, in USD; `item` is a GPU or a machine, `gpus` how
                      many of that GPU are in a whole server, else 1;
                      `observed_on` the day of the quote */
  gboolean whole;  /* a machine with its GPUs */
  gboolean holds;  /* neither expired nor to begin later */
  gboolean taxed;  /* contains tax that is not told */
  gint64 quote_id; /* in the store; 0: not stored */
  guint line;      /* in the quote, from 0 */
  const char *vendor; /* NULL: unnamed */
  const char *number; /* of the quote; NULL: none */
  const char *description;
  QmDate valid_until; /* year 0: unstated */
  char currency[4];   /* of the quote */
  QmCrossRate rate;   /* from it to USD */
} QmOffer;

typedef struct _QmOffers QmOffers;

/* Reads offers out of quotes, which are not needed afterwards.
 *
 * quotes: (element-type QmQuote): in any order.
 * rates: (nullable): without, only quotes in USD count.
 * today: the day that quotes have to hold on.
 *
 * Returns: (transfer full). */
QmOffers *qm_offers_new (const QmCatalog *catalog,
                         GPtrArray *quotes,
                         QmRates *rates,
                         QmDate today);

/* One more, or one less, who needs it; the last one frees it. */
QmOffers *qm_offers_ref (QmOffers *offers);
void qm_offers_unref (QmOffers *offers);

/* All of them, newest first.  They belong to the offers. */
const QmOffer *qm_offers_list (QmOffers *offers, guint *n);

/* The newest offer of a GPU, or of a machine without GPUs, or NULL.
 *
 * expired: also one that does not hold today, where none does. */
const QmOffer *
qm_offers_find (QmOffers *offers, const char *item, gboolean expired);

/* The newest offer of a whole machine with that many GPUs of a type, or
 * NULL. */
const QmOffer *qm_offers_find_whole (QmOffers *offers,
                                     const char *gpu,
                                     int gpus,
                                     gboolean expired);

/* Why lines that name a GPU or machine are no offers, a sentence each;
 * NULL-terminated, belongs to the offers. */
const char *const *qm_offers_left_out (QmOffers *offers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmOffers, qm_offers_unref)

G_END_DECLS
