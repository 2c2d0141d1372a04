/* SPDX-License-Identifier: Apache-2.0 */

/* What the store of quotes keeps besides them: exchange rates, prices that were
 * seen on pages, and the pages that are watched.  Rules of
 * pricing/quotes/qm-quote-store.h. */

#pragma once

#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote-store.h"

G_BEGIN_DECLS

/* Adds rates of a table; where there is one of that currency and day already,
 * the new one replaces it.
 *
 * source: where they come from, an address or a file's name. */
gboolean qm_quote_store_put_rates (QmQuoteStore *store,
                                   QmRates *rates,
                                   const char *source,
                                   GError **error);

/* Returns: (transfer full): all rates that were put, which may be none; NULL
 *   with an error. */
QmRates *qm_quote_store_get_rates (QmQuoteStore *store, GError **error);

/* Where the rate of a currency and day comes from.
 *
 * Returns: (transfer full): NULL where there is no such rate, or with an
 *   error. */
char *qm_quote_store_rate_source (QmQuoteStore *store,
                                  const char *currency,
                                  QmDate date,
                                  GError **error);

/* The price of an item on a day, of a quote or as it was seen. */
typedef struct
{
  char *item; /* id of a GPU or machine of the catalog; NULL: not known, found
                 by its address only */
  QmPriceKind kind;
  QmPriceUnit unit;
  int gpus;      /* in one unit, as of a line; 0: none or unknown */
  QmDate date;   /* a whole date */
  gint64 micros; /* of one unit, in millionths of the major unit; >= 0 */
  char currency[4];
  QmTristate tax_included;
  char *source; /* address or file name */
  gint64 quote; /* id of the quote; 0: a price that was seen */
  char *vendor; /* of the quote; NULL: none */
} QmPricePoint;

void qm_price_point_free (QmPricePoint *point);

/* Keeps many QmPricePoint that were seen, all or none.  Of the same source,
 * item, kind and day only the last one is kept.  `quote` and `vendor` are
 * ignored. */
gboolean qm_quote_store_put_prices (QmQuoteStore *store,
                                    GPtrArray *points,
                                    GError **error);

/* The price history of an item, by date: the prices that were seen, and those
 * of quotes that are not deleted and have a day (issued, else valid from, else
 * read).
 *
 * catalog: (nullable): with it, prices of quotes are those that count, of
 *   qm_quote_offers(): after discounts and without tax; without, those that
 *   quoted lines state.
 *
 * Returns: (transfer full): of QmPricePoint; NULL with an error. */
GPtrArray *qm_quote_store_price_history (QmQuoteStore *store,
                                         const QmCatalog *catalog,
                                         const char *item,
                                         GError **error);

/* The prices that were seen at an address, by date; otherwise the same. */
GPtrArray *qm_quote_store_price_history_of_source (QmQuoteStore *store,
                                                   const char *source,
                                                   GError **error);

/* How many prices were seen at an address on a day: of a feed those of all that
 * it lists, whose sources are the feed's address with "#" and what it is.
 *
 * Returns: -1 with an error. */
gint64 qm_quote_store_count_prices (QmQuoteStore *store,
                                    const char *address,
                                    QmDate date,
                                    GError **error);

/* A page or price feed that is watched.  Texts may be NULL but for the
 * address. */
typedef struct
{
  gint64 id; /* 0: not stored */
  char *address;
  char *title;
  char *item;         /* of the catalog */
  gint64 last_micros; /* QM_AMOUNT_UNSTATED: none was found yet */
  char last_currency[4];
  QmDate last_date; /* of that price; year 0: none */
  char *etag;
  char *last_modified; /* both as the server gave them */
  gint64 tried_at;     /* seconds since 1970, UTC; 0: never */
  char *error;         /* why the last try failed; NULL: it did not */
  gint64 error_at;     /* 0: never */
} QmWatched;

/* Nothing known of an address.  (transfer full) */
QmWatched *qm_watched_new (const char *address);

void qm_watched_free (QmWatched *watched);

/* All watched pages, in the order in which they were added.
 *
 * Returns: (transfer full): of QmWatched; NULL with an error. */
GPtrArray *qm_quote_store_watched (QmQuoteStore *store, GError **error);

/* The one with that address.
 *
 * Returns: (transfer full): NULL with QM_QUOTE_STORE_ERROR_NOT_FOUND or another
 *   error. */
QmWatched *qm_quote_store_get_watched (QmQuoteStore *store,
                                       const char *address,
                                       GError **error);

/* Adds a page, or replaces all that is known of the one with that address.
 *
 * seen: (nullable): a price that was seen there, kept in the same transaction.
 *
 * Returns: its id; 0 with an error. */
gint64 qm_quote_store_put_watched (QmQuoteStore *store,
                                   const QmWatched *watched,
                                   const QmPricePoint *seen,
                                   GError **error);

/* Stops watching; the prices that were seen stay. */
gboolean qm_quote_store_remove_watched (QmQuoteStore *store,
                                        const char *address,
                                        GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPricePoint, qm_price_point_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmWatched, qm_watched_free)

G_END_DECLS
