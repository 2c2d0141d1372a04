/* SPDX-License-Identifier: Apache-2.0 */

/* Runs pdftotext (of poppler-utils) over a PDF from a stranger.  It is another
 * process, which may do nothing but read what it is given and write what it
 * finds: its time, memory and files are limited, and it has no network where
 * the system allows to take it away. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* More pages are refused. */
#define QM_PDF_MOST_PAGES 100

/* No PDF takes longer, in milliseconds; most take a hundred. */
#define QM_PDF_MOST_TIME 10000

/* The words of a PDF and where they stand, as pdftotext -bbox-layout writes
 * them; of the pages one more than may be, if it has more.
 *
 * data: at most QM_READ_MAX_BYTES bytes.
 * most_time: milliseconds after which it is ended, QM_PDF_MOST_TIME or fewer.
 * damaged: (out): whether pdftotext found something wrong and went on.
 *
 * Returns: (transfer full): what it wrote; or NULL with an error of
 *   QM_READ_ERROR: there is no such program, or the PDF has a password or is
 *   damaged, or takes too long or too much; or of G_IO_ERROR where it was
 *   cancelled. */
GBytes *qm_pdf_child_run (const char *data,
                          gsize size,
                          guint most_time,
                          gboolean *damaged,
                          GCancellable *cancellable,
                          GError **error);

G_END_DECLS
