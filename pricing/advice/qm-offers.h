/* SPDX-License-Identifier: Apache-2.0 */

/* What the user's quotes offer, as prices that an advice counts with: of each
 * GPU and machine the cheapest quote that holds today, and of whole machines
 * the same for each GPU type and number of GPUs in it.  Of the revisions of one
 * quote the newest that holds counts, and an undated quote only where there is
 * no dated one.
 *
 * A quote counts as a whole (pricing/quotes/qm-quote-offer.h), with discounts,
 * shipping and other charges, and without tax where the quote tells the tax. It
 * is converted to USD at the day of the quote.
 */

#pragma once

#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* What one quote offers of one thing. */
typedef struct
{
  QmPrice price;     /* of one, in USD; `item` is a GPU or a machine, `gpus` how
                        many of that GPU are in a whole machine, else 1;
                        `observed_on` the day of the quote, where that is not
                        stated the one on which it was read */
  gint64 tax_micros; /* on top of that, in USD; -1: not told */
  gboolean is_gpu;   /* or a machine with GPUs, not one without */
  gboolean whole;    /* a machine with its GPUs ... */
  QmMachineKind kind;      /* ... of this kind */
  gboolean board;          /* GPUs that come together, without a machine */
  gboolean variant;        /* with a substitute or alternative of the quote */
  gboolean holds;          /* neither expired nor to begin later */
  gboolean undated;        /* see qm_quote_is_undated() */
  gboolean taxed;          /* contains tax that is not told */
  double tax_assumed;      /* percent that was taken off for tax which the quote
                              does not tell: see qm_offers_with_tax(); 0: none */
  gint64 quote_id;         /* in the store; 0: not stored */
  guint line;              /* in the quote, from 0 */
  const char *vendor;      /* NULL: unnamed */
  const char *number;      /* of the quote; NULL: none */
  const char *alternative; /* of its document; NULL: it is the only one */
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

/* The same to one who pays tax of so many percent: prices that contain a tax
 * which the quote does not tell are taken for prices with that one.  Of offers
 * that were made so it starts from what they were made of.
 *
 * Returns: (transfer full): the offers themselves where that changes nothing.
 */
QmOffers *qm_offers_with_tax (QmOffers *offers, double percent);

/* One more, or one less, who needs it; the last one frees it. */
QmOffers *qm_offers_ref (QmOffers *offers);
void qm_offers_unref (QmOffers *offers);

/* All of them: those that hold today first, from the cheapest, then the others,
 * from the newest; undated ones after dated ones.  They belong to the offers.
 */
const QmOffer *qm_offers_list (QmOffers *offers, guint *n);

/* The best offer of a GPU, or of a machine without GPUs, or NULL.
 *
 * expired: also one that does not hold today, where none does. */
const QmOffer *
qm_offers_find (QmOffers *offers, const char *item, gboolean expired);

/* The best offer of a whole machine with that many GPUs of a type, or NULL.
 *
 * kinds: bits 1 << QmMachineKind of machines that would do. */
const QmOffer *qm_offers_find_whole (
    QmOffers *offers, const char *gpu, int gpus, guint kinds, gboolean expired);

/* Why lines that name a GPU or machine are no offers, a sentence each;
 * NULL-terminated, belongs to the offers. */
const char *const *qm_offers_left_out (QmOffers *offers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmOffers, qm_offers_unref)

G_END_DECLS
