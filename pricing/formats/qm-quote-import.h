/* SPDX-License-Identifier: Apache-2.0 */

/* The one way in for documents from outside: finds out by its content what a
 * document is, has it read, matched to the catalog and added up, and hands back
 * quotes that have not been stored.  Nothing is loaded from anywhere meanwhile.
 *
 * All functions may run in a thread; what the options point to must not change
 * meanwhile. */

#pragma once

#include "pricing/formats/qm-csv-mapping.h"
#include "pricing/formats/qm-html-read.h"
#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-match.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* What a document is. */
typedef enum
{
  QM_DOCUMENT_XML,  /* UBL, or else refused by its root */
  QM_DOCUMENT_JSON, /* the project's own */
  QM_DOCUMENT_PAGE, /* HTML, of a shop, or a mail or page with a table */
  QM_DOCUMENT_CSV,
  QM_DOCUMENT_WORKBOOK, /* XLSX or ODS, or else refused by what it has */
  QM_DOCUMENT_PDF,      /* with text, or else refused */
  QM_DOCUMENT_MAIL,     /* saved, with what is attached to it */
  QM_DOCUMENT_OTHER     /* nothing that is read */
} QmDocumentKind;

/* Reads a web page; what it says its product costs is a quote.  One that does
 * not say so is an error with the reason.
 *
 * address: where the page comes from, or the name of its file.
 *
 * Returns: (transfer full): of QmQuote, or NULL with an error. */
typedef GPtrArray *(*QmPageReader) (const char *data,
                                    gsize size,
                                    const char *address,
                                    const char *media_type,
                                    gpointer user_data,
                                    GCancellable *cancellable,
                                    GError **error);

/* Reads a page with pricing/pages/qm-page.h; `user_data` is a QmPageContext, of
 * which the address is not looked at, or NULL.  Without an encoding there, it
 * is the one that the media type names. */
GPtrArray *qm_import_read_page (const char *data,
                                gsize size,
                                const char *address,
                                const char *media_type,
                                gpointer user_data,
                                GCancellable *cancellable,
                                GError **error);

typedef struct
{
  const QmMatcher *matcher;    /* NULL: lines are not matched */
  const QmCsvMapping *mapping; /* of a spreadsheet, as the user has said; NULL:
                                  as remembered, or else guessed */
  const char *mappings;        /* what is remembered, as JSON; may be NULL */
  QmPageReader page_reader;    /* NULL: qm_import_read_page() */
  gpointer page_data;          /* for it */
  QmRates *rates;              /* for prices in other currencies to be checked
                                  against known ones; NULL: only those in USD
                                  are */
  gint64 now; /* time of reading, seconds since 1970; 0: that of the clock */
} QmImportOptions;

typedef struct
{
  QmDocumentKind kind;
  GPtrArray *quotes; /* of QmQuote; none where a mapping is wanted */
  /* Of a spreadsheet: */
  QmCsvMapping *mapping;   /* that was used, or is to be completed; else NULL */
  gboolean mapping_wanted; /* the user has to say which column is what */
  gboolean mapping_guessed; /* it was neither given nor remembered */
  char *mapping_reason;     /* what is missing, as a sentence; NULL: nothing */
  char *fingerprint;        /* to remember the mapping by; NULL: no header */
  QmSheet *sample;          /* the first rows, to be shown beside it */
  /* Of a mail, the document in it that the mapping is of; else NULL: */
  GBytes *part;
  char *part_name; /* NULL for a text of its own */
  char *part_type; /* its media type */
} QmImport;

void qm_import_free (QmImport *import);

/* What a document is, by its first bytes; the name and media type decide only
 * where those do not. */
QmDocumentKind qm_document_kind (const char *data,
                                 gsize size,
                                 const char *name,
                                 const char *media_type);

/* The table of a workbook: its first sheet that can be read as quotes, else its
 * first one, as CSV.  Above it stand the rows of cover sheets that say what it
 * does not: the number of the quote, its date, until when it holds.
 *
 * sheet: (out) (optional) (transfer full): the name of that sheet.
 * others: (out) (optional) (transfer full): the names of others that could be
 *   read as quotes, joined for people; NULL: there are none.
 * n_above: (out) (optional): the rows of other sheets above it.
 *
 * Returns: (transfer full): the table; or NULL with an error, as
 *   qm_workbook_read(). */
GBytes *qm_import_sheet (GBytes *bytes,
                         char **sheet,
                         char **others,
                         guint *n_above,
                         GCancellable *cancellable,
                         GError **error);

/* The table of a PDF, as CSV, with what stands around it.  Another process
 * reads it: pricing/formats/qm-pdf-child.h.
 *
 * damaged: (out) (optional): whether something in it could not be read.
 *
 * Returns: (transfer full): the table; or NULL with an error of QM_READ_ERROR:
 *   there is no pdftotext, or the PDF has no text, a password or too much, or
 *   is damaged; or of G_IO_ERROR where it was cancelled. */
GBytes *qm_import_pdf (GBytes *bytes,
                       gboolean *damaged,
                       GCancellable *cancellable,
                       GError **error);

/* The table of an HTML page or mail, as CSV, with what stands around it.
 *
 * media_type: (nullable): its encoding counts where the page says none.
 * read: (out) (optional): what was read, and what was left out.
 *
 * Returns: (transfer full): the table; or NULL with an error of QM_READ_ERROR:
 *   there is none, or too much; or of G_IO_ERROR where it was cancelled. */
GBytes *qm_import_html (GBytes *bytes,
                        const char *media_type,
                        QmHtmlRead *read,
                        GCancellable *cancellable,
                        GError **error);

/* The encoding that a media type names, "text/html; charset=utf-8"; NULL where
 * it names none, or is NULL. (transfer full) */
char *qm_import_charset (const char *media_type);

/* Reads a document.
 *
 * name: of the file, without its folder, or the address; it becomes the quotes'
 *   source.
 * media_type: as the server or the system has it, or NULL.
 * options: NULL: all defaults.
 *
 * Returns: (transfer full): at least one quote, or a mapping that is wanted;
 *   NULL with an error of QM_READ_ERROR, of the page reader's, or of G_IO_ERROR
 *   where it was cancelled. */
QmImport *qm_import_bytes (GBytes *bytes,
                           const char *name,
                           const char *media_type,
                           const QmImportOptions *options,
                           GCancellable *cancellable,
                           GError **error);

/* Checks what a reader leaves to check: totals (qm_quote_totals_check()), dates
 * that contradict each other, lines without a price.  For quotes that were
 * typed in or changed too; findings are added, so clear the old ones.
 *
 * Returns: the number of warnings. */
guint qm_quote_check (QmQuote *quote);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmImport, qm_import_free)

G_END_DECLS
