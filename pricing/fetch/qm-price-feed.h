/* SPDX-License-Identifier: Apache-2.0 */

/* Price feeds: what it costs to rent GPUs, as the sellers' interfaces for
 * programs tell it.  Only what a buyer would pay for Linux machines on demand
 * counts; whatever is rented as spare capacity, reserved for years or comes
 * with a Windows licence is left out.
 *
 * - Azure Retail Prices: pages of rows; an instance has several GPUs, and the
 *   price is for all of them.  Windows differs from Linux in `productName`
 *   alone, spot and low priority in `meterName` and `skuName`, and the price of
 *   a reservation is that of its whole term.  Which instance has which GPUs is
 *   Microsoft's documentation of its sizes; instances with parts of a GPU are
 *   left out.
 * - Vast.ai: offers of many hosts, each for all its GPUs; for each GPU type
 *   there is the median of the verified ones, per GPU, since the cheapest is
 *   seldom to be had.
 * - RunPod: for each GPU type a price per GPU in the secure cloud and one in
 * the community cloud; null where there is none.
 *
 * Amounts are numbers of JSON, which programs read as doubles; they are rounded
 * to millionths, which is exact for up to six decimals below a thousand
 * million. */

#pragma once

#include "pricing/fetch/qm-fetch.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef enum
{
  QM_FEED_AZURE,
  QM_FEED_VAST,
  QM_FEED_RUNPOD,
  QM_N_FEEDS
} QmFeed;

/* Where the feed is, without any key; static. */
const char *qm_feed_address (QmFeed feed);

/* A price of a feed.  Strings are one line of UTF-8. */
typedef struct
{
  char *offer;        /* the seller's name for it: "Standard_ND96isr_H100_v5" */
  char *gpu;          /* the GPU in words: "A100 SXM4 80GB" */
  int gpus;           /* rented together */
  gint64 hour_micros; /* for all of them */
  gint64 low_micros;  /* of the offers that a median is of, else the same */
  gint64 high_micros;
  guint offers; /* 1 where it is no median */
  char currency[4];
  char *region; /* NULL: none */
  char *terms;  /* in the user's language: "median of 14 offers"; NULL: none */
  QmDate effective_on; /* year 0: unstated */
} QmFeedPrice;

/* One answer of a feed. */
typedef struct
{
  GPtrArray *prices; /* QmFeedPrice */
  char *next;        /* where the feed goes on; NULL: here it ends */
  guint rows;
  guint left_out; /* rows that are no Linux machines with GPUs on demand */
  guint broken;   /* rows that make no sense */
} QmFeedPage;

void qm_feed_page_free (QmFeedPage *page);

#define QM_FEED_ERROR (qm_feed_error_quark ())
GQuark qm_feed_error_quark (void);

typedef enum
{
  QM_FEED_ERROR_FORMAT, /* the answer is not of that feed */
  QM_FEED_ERROR_EMPTY,  /* there are no prices: no data, not a price of zero */
  QM_FEED_ERROR_PAGING  /* goes on without end, or elsewhere */
} QmFeedError;

/* Reads one answer.  `name` is how errors call it.
 *
 * Returns: (transfer full): perhaps without prices, or NULL with
 *   QM_FEED_ERROR_FORMAT. */
QmFeedPage *
qm_feed_read (QmFeed feed, GBytes *bytes, const char *name, GError **error);

/* Asks a feed, page by page.
 *
 * address: (nullable): NULL: that of qm_feed_address().
 *
 * Returns: (transfer full): all pages joined, with at least one price; NULL
 * with an error of QM_FEED_ERROR, QM_FETCH_ERROR or G_IO_ERROR_CANCELLED. */
QmFeedPage *qm_feed_fetch (QmFeed feed,
                           const char *address,
                           QmFetcher *fetcher,
                           GCancellable *cancellable,
                           GError **error);

/* The prices as a quote of QM_PRICE_CLOUD by the hour, a line each, issued on
 * `read_on`.
 *
 * Returns: (transfer full): NULL with QM_FEED_ERROR_FORMAT where the prices are
 *   in several currencies. */
QmQuote *qm_feed_page_to_quote (const QmFeedPage *page,
                                QmFeed feed,
                                const char *source,
                                QmDate read_on,
                                GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmFeedPage, qm_feed_page_free)

G_END_DECLS
