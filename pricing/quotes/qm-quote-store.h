/* SPDX-License-Identifier: Apache-2.0 */

/* Where quotes are kept: one SQLite file in the user's data directory.
 *
 * A write is one transaction: a process that is killed, or a power cut, leaves
 * all of it or nothing.  Several processes, and several stores of one process,
 * may be open on the same file; they wait for each other for a while, and see
 * each other's changes (qm_quote_store_changes()).
 *
 * Threads: a store is used by one thread at a time.  A thread of its own gets
 * a store of its own from qm_quote_store_open_again(), which is cheap.
 *
 * Only a store of ours is ever touched: any other file is refused and left as
 * it is.  Whoever only reads, with qm_quote_store_open_read(), changes, creates
 * and locks nothing.  Opening looks the file through.  Where it is damaged,
 * what can be read of it is taken: a reader gets that, and is told
 * (qm_quote_store_trouble()); a writer puts it into a new file, keeps the
 * damaged one beside it, and it is told from then on until the user has decided
 * (pricing/quotes/qm-quote-store-backup.h).  A file of an older version of the
 * program is brought up to date by a writer, with a backup beside it first; one
 * of a newer version is left alone and refused.
 *
 * Exchange rates, observed prices and watched pages are in the same file:
 * pricing/quotes/qm-quote-store-prices.h.  Lists with search, filters and
 * sorting are those of pricing/quotes/qm-quote-index.h. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _QmQuoteStore QmQuoteStore;

/* Opens the store in memory, for tests. */
#define QM_QUOTE_STORE_IN_MEMORY ":memory:"

/* No quote has more lines or findings, no text is longer, ... */
#define QM_QUOTE_STORE_MAX_LINES 100000
#define QM_QUOTE_STORE_MAX_TEXT  (16 << 20)
/* ... and the bytes of a larger document are not kept with it. */
#define QM_QUOTE_STORE_MAX_ATTACHMENT (8 << 20)

/* How many dated backups stay beside the file. */
#define QM_QUOTE_STORE_BACKUPS 3

#define QM_QUOTE_STORE_ERROR (qm_quote_store_error_quark ())
GQuark qm_quote_store_error_quark (void);

/* Every message is a sentence that names the file. */
typedef enum
{
  QM_QUOTE_STORE_ERROR_BUSY,      /* another program is writing; try again */
  QM_QUOTE_STORE_ERROR_DAMAGED,   /* damaged beyond what can be salvaged */
  QM_QUOTE_STORE_ERROR_FOREIGN,   /* no store of ours */
  QM_QUOTE_STORE_ERROR_ABSENT,    /* there is no such file */
  QM_QUOTE_STORE_ERROR_NEWER,     /* of a newer version of the program */
  QM_QUOTE_STORE_ERROR_FULL,      /* no space left */
  QM_QUOTE_STORE_ERROR_READ_ONLY, /* may not be written */
  QM_QUOTE_STORE_ERROR_IO,        /* cannot be opened, read or written */
  QM_QUOTE_STORE_ERROR_INVALID,   /* a quote that is none, or is too large */
  QM_QUOTE_STORE_ERROR_NOT_FOUND, /* no such quote, or it is deleted */
  QM_QUOTE_STORE_ERROR_CHANGED,   /* somebody else has changed it since */
  QM_QUOTE_STORE_ERROR_EXISTS     /* the same document is there already */
} QmQuoteStoreError;

/* A document that came with a quote. */
typedef struct
{
  char *sha256; /* 64 hexadecimal digits */
  char *name;   /* without its folder; NULL: none */
  char *media_type;
  gint64 size;
  GBytes *bytes; /* NULL: not kept */
} QmQuoteAttachment;

void qm_quote_attachment_free (QmQuoteAttachment *attachment);

/* A document with its digest; its bytes are kept up to
 * QM_QUOTE_STORE_MAX_ATTACHMENT.  `name` and `media_type` may be NULL.
 * (transfer full) */
QmQuoteAttachment *qm_quote_attachment_new (GBytes *bytes,
                                            const char *name,
                                            const char *media_type);

/* quotes.sqlite in the user's data directory (data/datadir.h); NULL where there
 * is no home.  (transfer full) (nullable) */
char *qm_quote_store_default_path (void);

/* Opens the store in a file to write in it; the file is created with its folder
 * where it is not there, for this user alone.
 *
 * path: a file, or QM_QUOTE_STORE_IN_MEMORY.
 *
 * Returns: (transfer full): the store, or NULL with an error. */
QmQuoteStore *qm_quote_store_open (const char *path, GError **error);

/* Opens it as it is now, to read only: what others write later is not seen.
 * Works for whatever may be read, also where nothing may be written.
 *
 * Returns: (transfer full): the store, or NULL with an error:
 *   QM_QUOTE_STORE_ERROR_ABSENT where there is no file. */
QmQuoteStore *qm_quote_store_open_read (const char *path, GError **error);

/* Whether it was opened by qm_quote_store_open_read(). */
gboolean qm_quote_store_is_read_only (const QmQuoteStore *store);

/* Whether what is at its path is still the file that was opened, and not one
 * that has come in its place: then nothing is written any more, and it is to be
 * opened again. */
gboolean qm_quote_store_is_in_place (const QmQuoteStore *store);

/* Of a damaged store that was opened to be read: that it is damaged and how
 * much of it is there, a sentence for people; NULL: it is whole. */
const char *qm_quote_store_trouble (const QmQuoteStore *store);

/* Another store on the file of one that is open, or was, for another thread,
 * without looking the file through again: as qm_quote_store_path() and
 * qm_quote_store_is_read_only() say of the first one.  Not for one in memory.
 *
 * Returns: (transfer full). */
QmQuoteStore *qm_quote_store_open_again (const char *path,
                                         gboolean read_only,
                                         GError **error);

/* Closes a store, which may be NULL. */
void qm_quote_store_close (QmQuoteStore *store);

/* Its path, from the root; of a link what it leads to. */
const char *qm_quote_store_path (const QmQuoteStore *store);

/* Whether quotes, vendors, rates, prices or watched pages may have changed,
 * through this store or any other: a number that only stays the same while
 * nothing has.  Takes microseconds: to be asked every second or so. */
guint64 qm_quote_store_changes (QmQuoteStore *store);

/* How a quote that has been read stands to those that are stored. */
typedef struct
{
  gint64 same;  /* the quote of the same bytes: it would not be added again; 0:
                   none */
  gint64 older; /* the newest other quote of the same vendor and number, of
                   which it is a revision; 0: none */
} QmQuoteRelation;

/* Looks for quotes that are stored already.  One that has the vendor and number
 * of another (pricing/quotes/qm-quote-family.h) is asked about
 * (QM_ASK_REVISION): `supersedes` becomes the other's number and a finding says
 * so, so that it counts in its place until the user says otherwise.
 *
 * quotes: of QmQuote, as they are to be added; changed.
 *
 * Returns: (transfer full): of QmQuoteRelation, in the same order; NULL with an
 *   error. */
GArray *
qm_quote_store_relate (QmQuoteStore *store, GPtrArray *quotes, GError **error);

/* Adds many QmQuote, all or none.  One of the same sha256, vendor, number and
 * alternative that is not deleted is the same quote, whatever its file was
 * called, also where the user has changed it since: nothing is added then.
 * Several of the same document, vendor and number are told apart by their
 * order.
 *
 * attachments: (nullable): QmQuoteAttachment, each with every quote.
 * added: (out) (optional): how many were not there.
 *
 * Returns: (transfer full): a GArray of gint64, the ids in the same order, also
 *   of those that were there; NULL with an error. */
GArray *qm_quote_store_add_all (QmQuoteStore *store,
                                GPtrArray *quotes,
                                GPtrArray *attachments,
                                guint *added,
                                GError **error);

/* Returns: (transfer full): the quote, deleted or not, with its id; or NULL
 *   with QM_QUOTE_STORE_ERROR_NOT_FOUND or another error. */
QmQuote *qm_quote_store_get (QmQuoteStore *store, gint64 id, GError **error);

/* All quotes that are not deleted, in the order in which they were added.
 *
 * with_items: only those of which a line is about a GPU or machine of the
 *   catalog, or may be about one of several: what pricing/advice/qm-offers.h
 * wants.
 * problems: of char *, which it frees: a sentence for people is added for each
 *   quote that is left out because it says something that nobody understands.
 *
 * Returns: (transfer full): of QmQuote; NULL with an error of the store or
 *   G_IO_ERROR_CANCELLED. */
GPtrArray *qm_quote_store_get_all (QmQuoteStore *store,
                                   gboolean with_items,
                                   GPtrArray *problems,
                                   GCancellable *cancellable,
                                   GError **error);

/* Its documents, without what was too large to be kept.
 *
 * Returns: (transfer full): of QmQuoteAttachment; NULL with an error. */
GPtrArray *
qm_quote_store_attachments (QmQuoteStore *store, gint64 id, GError **error);

/* Replaces the quote quote->id; its documents stay.
 *
 * before: (nullable): the quote as it was got; where what is stored says
 *   something else by now, QM_QUOTE_STORE_ERROR_CHANGED. */
gboolean qm_quote_store_update (QmQuoteStore *store,
                                const QmQuote *quote,
                                const QmQuote *before,
                                GError **error);

/* Deletes a quote so that it can be restored. */
gboolean qm_quote_store_delete (QmQuoteStore *store, gint64 id, GError **error);

/* Takes that back.  Where its document has been added again meanwhile,
 * QM_QUOTE_STORE_ERROR_EXISTS. */
gboolean
qm_quote_store_restore (QmQuoteStore *store, gint64 id, GError **error);

/* Erases what was deleted before `before`, in seconds since 1970, from the
 * store and its backups: the bytes are overwritten.
 *
 * Returns: how many quotes; -1 with an error. */
int qm_quote_store_purge (QmQuoteStore *store, gint64 before, GError **error);

/* Erases a quote likewise, whether it was deleted or not. */
gboolean qm_quote_store_erase (QmQuoteStore *store, gint64 id, GError **error);

/* Vendors of quotes that are not deleted, those with most quotes first.
 *
 * typed: (nullable): only those of which a word begins so; case and accents do
 *   not matter.
 *
 * Returns: (transfer full): NULL with an error. */
GStrv qm_quote_store_vendors (QmQuoteStore *store,
                              const char *typed,
                              guint limit,
                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuoteStore, qm_quote_store_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuoteAttachment, qm_quote_attachment_free)

G_END_DECLS
