/* SPDX-License-Identifier: Apache-2.0 */

/* memmem */
#define _GNU_SOURCE

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-pdf-child.h"
#include "pricing/formats/qm-pdf-table.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The last so many bytes have the mark of the end; programs that sent the file
 * may have put something behind it. */
#define LOOK_BACK ((gsize) 8192)

/* Whether a file has its end (ISO 32000-1, 7.5.5): without, pdftotext would
 * read what there is, and a price could be missing. */
static gboolean
has_end (const char *data, gsize size)
{
  gsize back = MIN (size, LOOK_BACK);

  return memmem (data + size - back, back, "%%EOF", 5) != NULL;
}

GBytes *
qm_import_pdf (GBytes *bytes,
               gboolean *damaged,
               GCancellable *cancellable,
               GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GPtrArray) pages = NULL;
  g_autoptr (QmCells) cells = NULL;
  gboolean found = FALSE;

  if (data == NULL || !has_end (data, size))
    {
      g_set_error_literal (
          error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
          _ ("This PDF is cut off: its end is missing. Get it again."));
      return NULL;
    }
  written = qm_pdf_child_run (data, size, QM_PDF_MOST_TIME, &found, cancellable,
                              error);
  if (written == NULL)
    return NULL;
  data = g_bytes_get_data (written, &size);
  pages = qm_pdf_words_parse (data, size, cancellable, error);
  if (pages == NULL)
    return NULL;
  cells = qm_pdf_cells (pages, cancellable, error);
  if (cells == NULL)
    return NULL;
  if (damaged != NULL)
    *damaged = found;
  return qm_cells_to_csv (cells);
}
