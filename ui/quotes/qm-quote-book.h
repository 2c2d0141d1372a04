/* SPDX-License-Identifier: Apache-2.0 */

/* The user's quotes behind the window: the store, what lists show of it and
 * what it offers to the advice.
 *
 * Opening and reading happen in other threads; everything here is for the
 * thread that draws.  What somebody else writes, in another window or on the
 * command line, is seen within about a second. */

#pragma once

#include "pricing/advice/qm-offers.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-index.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_BOOK (qm_quote_book_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteBook, qm_quote_book, QM, QUOTE_BOOK, GObject)

/* Signals:
 *
 *   "changed"              another state of the store is there; rows of the
 *                          index before are gone once it has been handled
 *   "failed" (const char*) the store cannot be opened or read, and why
 */

/* Opens a store in the background.
 *
 * catalog: must outlive the book.
 *
 * Returns: (transfer full). */
QmQuoteBook *qm_quote_book_new (const QmCatalog *catalog, const char *path);

/* Waits until nothing is read any more: the catalog may go then.  Nothing is
 * read or told after it. */
void qm_quote_book_close (QmQuoteBook *self);

const QmCatalog *qm_quote_book_get_catalog (QmQuoteBook *self);

/* What lists show; NULL until the first "changed". */
QmQuoteIndex *qm_quote_book_get_index (QmQuoteBook *self);

/* What the quotes offer; NULL until the first "changed". */
QmOffers *qm_quote_book_get_offers (QmQuoteBook *self);

/* The shipped exchange rates and those that were fetched; NULL: none. */
QmRates *qm_quote_book_get_rates (QmQuoteBook *self);

/* What knows the GPUs; NULL until the first "changed".  May be used in other
 * threads while the book is there. */
const QmMatcher *qm_quote_book_get_matcher (QmQuoteBook *self);

/* The store itself, to be read; NULL until the first "changed". */
QmQuoteStore *qm_quote_book_get_store (QmQuoteBook *self);

/* How columns of spreadsheets were mapped before, as JSON; NULL: never. */
const char *qm_quote_book_get_mappings (QmQuoteBook *self);

/* Remembers a mapping in csv-mappings.json beside the store. */
gboolean qm_quote_book_remember_mapping (QmQuoteBook *self,
                                         const char *fingerprint,
                                         const QmCsvMapping *mapping,
                                         GError **error);

/* How quotes that are to be added stand to those that are stored:
 * qm_quote_store_relate().  (transfer full): NULL with an error. */
GArray *
qm_quote_book_relate (QmQuoteBook *self, GPtrArray *quotes, GError **error);

/* Reading and writing, as pricing/quotes/qm-quote-store.h has it; after a
 * change "changed" follows at once. */
QmQuote *qm_quote_book_get (QmQuoteBook *self, gint64 id, GError **error);
GArray *qm_quote_book_add_all (QmQuoteBook *self,
                               GPtrArray *quotes,
                               GPtrArray *attachments,
                               guint *added,
                               GError **error);
gboolean qm_quote_book_update (QmQuoteBook *self,
                               const QmQuote *quote,
                               const QmQuote *before,
                               GError **error);
gboolean qm_quote_book_delete (QmQuoteBook *self, gint64 id, GError **error);
gboolean qm_quote_book_restore (QmQuoteBook *self, gint64 id, GError **error);

/* Reads the price history of an item in the background: a long one takes a
 * while.
 *
 * The answer is what qm_quote_store_price_history() returns.  (transfer full),
 * of QmPricePoint; NULL with an error, G_IO_ERROR_CANCELLED among them. */
void qm_quote_book_read_prices_async (QmQuoteBook *self,
                                      const char *item,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);
GPtrArray *qm_quote_book_read_prices_finish (QmQuoteBook *self,
                                             GAsyncResult *result,
                                             GError **error);

G_END_DECLS
