/* SPDX-License-Identifier: Apache-2.0 */

/* What pdftotext may write about a PDF: the table in it can be told apart
 * again, and quotes that are read off it hold. */

#include "pricing/formats/qm-pdf-table.h"
#include "pricing/formats/qm-sheet.h"
#include "tests/fuzz/fuzz-quotes.h"

static void
require_quotes (GBytes *table)
{
  QmImportOptions options = { .matcher = shared_matcher (NULL), .now = 1 };
  GError *error = NULL;
  QmImport *import =
      qm_import_bytes (table, "fuzz", NULL, &options, NULL, &error);

  require_outcome (import != NULL, error);
  for (guint i = 0; import != NULL && i < import->quotes->len; i++)
    require_quote (g_ptr_array_index (import->quotes, i));
  qm_import_free (import);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) pages =
      qm_pdf_words_parse ((const char *) data, size, NULL, &error);
  g_autoptr (QmCells) cells = NULL;
  g_autoptr (GBytes) table = NULL;
  g_autoptr (QmSheet) sheet = NULL;
  const char *text;
  gsize length;

  if (pages != NULL)
    cells = qm_pdf_cells (pages, NULL, &error);
  require ((cells == NULL) == (error != NULL));
  require (error == NULL || error->domain == QM_READ_ERROR);
  if (cells == NULL)
    return 0;
  table = qm_cells_to_csv (cells);
  text = g_bytes_get_data (table, &length);
  require (g_utf8_validate (text, (gssize) length, NULL));
  sheet = qm_sheet_new (text, length, ';', 0, NULL, NULL);
  require (sheet != NULL);
  require_quotes (table);
  return 0;
}
