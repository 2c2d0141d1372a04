/* SPDX-License-Identifier: Apache-2.0 */

/* Words and where they stand on their page, of what pdftotext -bbox-layout has
 * written. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* More words are refused. */
#define QM_PDF_MOST_WORDS 100000

/* In points, from the upper left corner of the page. */
typedef struct
{
  double left, top, right, bottom;
} QmPdfBox;

typedef struct
{
  QmPdfBox box;
  char *text; /* owned by the page */
} QmPdfWord;

typedef struct
{
  double width, height;
  GArray *words; /* of QmPdfWord */
} QmPdfPage;

/* Reads what pdftotext has written.  What stands outside of its page, is too
 * small to be read, or runs up or down the page is left out.
 *
 * Returns: (transfer full): of QmPdfPage, at least one; or NULL with an error
 *   of QM_READ_ERROR where it is not that or has too many pages or words, or of
 *   G_IO_ERROR where it was cancelled. */
GPtrArray *qm_pdf_words_parse (const char *data,
                               gsize size,
                               GCancellable *cancellable,
                               GError **error);

G_END_DECLS
