/* SPDX-License-Identifier: Apache-2.0 */

/* Reading a document of quotes in a thread of its own: a file, what lies on the
 * clipboard, or what is at an address. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_READER (qm_quote_reader_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteReader, qm_quote_reader, QM, QUOTE_READER, GObject)

/* Each returns (transfer full) a reader of one document; `book` must be open
 * and is kept. */
QmQuoteReader *qm_quote_reader_new_for_file (QmQuoteBook *book, GFile *file);
QmQuoteReader *qm_quote_reader_new_for_text (QmQuoteBook *book,
                                             const char *text);
QmQuoteReader *qm_quote_reader_new_for_address (QmQuoteBook *book,
                                                const char *address);

/* Whether a text is an address to be fetched and nothing else. */
gboolean qm_quote_reader_is_address (const char *text);

/* What is read, for people. */
const char *qm_quote_reader_get_name (QmQuoteReader *self);

/* Bytes so far, and of how many; -1 where that is not known. */
void
qm_quote_reader_get_progress (QmQuoteReader *self, gint64 *done, gint64 *total);

/* Reads; the document is fetched only the first time.
 *
 * mapping: (nullable): of the columns of a spreadsheet. */
void qm_quote_reader_read_async (QmQuoteReader *self,
                                 const QmCsvMapping *mapping,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data);

/* Returns: (transfer full): as qm_import_bytes(). */
QmImport *qm_quote_reader_read_finish (QmQuoteReader *self,
                                       GAsyncResult *result,
                                       GError **error);

/* The document as it is kept with its quotes; NULL before it was read.
 * (transfer full) */
QmQuoteAttachment *qm_quote_reader_attachment (QmQuoteReader *self);

G_END_DECLS
