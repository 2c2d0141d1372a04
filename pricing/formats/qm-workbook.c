/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-workbook-private.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define ODS "application/vnd.oasis.opendocument.spreadsheet"

gboolean
qm_workbook_may_be (const char *data, gsize size)
{
  return size >= 4 && memcmp (data, "PK\x03\x04", 4) == 0;
}

xmlDoc *
qm_workbook_parse (const QmWorkbook *book, const char *name, GError **error)
{
  g_autoptr (GBytes) bytes =
      qm_zip_read (book->zip, name, QM_READ_MAX_BYTES, error);
  gsize size;
  const char *data;

  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &size);
  return qm_xml_parse (data, size, book->cancellable, error);
}

QmCells *
qm_workbook_begin (QmWorkbook *book, const char *name, GError **error)
{
  QmCells *cells;

  if (book->sheets->len >= QM_WORKBOOK_MOST_SHEETS)
    {
      g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                           _ ("The workbook has too many sheets."));
      return NULL;
    }
  cells = qm_cells_new (name);
  g_ptr_array_add (book->sheets, cells);
  return cells;
}

/* What the archive says that it is; the empty string where it does not. */
static char *
read_type (const QmZip *zip)
{
  g_autoptr (GBytes) bytes = qm_zip_read (zip, "mimetype", 256, NULL);
  gsize size;
  const char *text;

  if (bytes == NULL)
    return g_strdup ("");
  text = g_bytes_get_data (bytes, &size);
  return g_strstrip (g_strndup (text, size));
}

static gboolean
read_kind (QmWorkbook *book, GError **error)
{
  g_autofree char *type = read_type (book->zip);

  if (g_str_has_prefix (type, ODS))
    return qm_workbook_read_ods (book, error);
  if (qm_zip_has (book->zip, "[Content_Types].xml")
      && qm_zip_has (book->zip, "xl/workbook.xml"))
    return qm_workbook_read_xlsx (book, error);
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_KIND,
                       _ ("This is an archive, or a file of a word processor. "
                          "Open it, save its table as a spreadsheet or as CSV, "
                          "and import that."));
  return FALSE;
}

GPtrArray *
qm_workbook_read (const char *data,
                  gsize size,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (QmZip) zip = qm_zip_new (data, size, error);
  g_autoptr (GPtrArray) sheets =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_cells_free);
  QmWorkbook book = { .zip = zip,
                      .sheets = sheets,
                      .cancellable = cancellable };

  if (zip == NULL || !read_kind (&book, error))
    return NULL;
  for (guint i = sheets->len; i > 0; i--)
    if (qm_cells_is_empty (g_ptr_array_index (sheets, i - 1)))
      g_ptr_array_remove_index (sheets, i - 1);
  if (sheets->len == 0)
    {
      g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                           _ ("Nothing is written in the sheets of this "
                              "workbook that are not hidden."));
      return NULL;
    }
  return g_steal_pointer (&sheets);
}
