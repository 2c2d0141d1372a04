/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-csv-words.h"
#include "pricing/formats/qm-workbook.h"
#include "pricing/qm-csv.h"

#include <string.h>

/* A cover sheet has no more rows with something in them, nor have all of them
 * together, so that the header is found below them. */
#define MOST_COVER 30

/* What a sheet says of the quote as a whole: bits of a set. */
enum
{
  SAYS_NUMBER = 1 << 0,
  SAYS_DATE = 1 << 1,
  SAYS_VALIDITY = 1 << 2
};

static QmSheet *
read_rows (GBytes *table)
{
  gsize size;
  const char *text = g_bytes_get_data (table, &size);

  return qm_sheet_new (text, size, ';', 0, NULL, NULL);
}

/* Whether its columns say enough for quotes.
 *
 * header_row: (out) */
static gboolean
is_quote (GBytes *table, int *header_row)
{
  gsize size;
  const char *data = g_bytes_get_data (table, &size);
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_guess (data, size, NULL);

  if (mapping == NULL || !qm_csv_mapping_check (mapping, NULL))
    return FALSE;
  *header_row = mapping->header_row;
  return TRUE;
}

/* What a row names: "Angebot Nr.", "Date : 15/06/2026". */
static guint
says_of_row (const QmSheet *sheet, guint row)
{
  guint says = 0;

  for (guint i = 0; i < qm_sheet_n_cells (sheet, row); i++)
    {
      const char *cell = qm_sheet_cell (sheet, row, i);
      g_autofree char *name = g_strndup (cell, strcspn (cell, ":0123456789"));
      int tax;

      switch (qm_csv_field_of (name, &tax))
        {
        case QM_CSV_QUOTE:
          says |= SAYS_NUMBER;
          break;
        case QM_CSV_ISSUED:
          says |= SAYS_DATE;
          break;
        case QM_CSV_VALID_FROM:
        case QM_CSV_VALID_UNTIL:
          says |= SAYS_VALIDITY;
          break;
        default:
          break;
        }
    }
  return says;
}

/* What the rows before one name. */
static guint
says_above (const QmSheet *sheet, guint end)
{
  guint says = 0;

  for (guint i = 0; i < end && i < qm_sheet_n_rows (sheet); i++)
    says |= says_of_row (sheet, i);
  return says;
}

static void
append_sheet_row (GString *text, const QmSheet *sheet, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (sheet, row); i++)
    {
      if (i > 0)
        g_string_append_c (text, ';');
      qm_csv_quote (text, qm_sheet_cell (sheet, row, i));
    }
  g_string_append_c (text, '\n');
}

/* Appends the rows of a sheet that is no quote, but says of one what the sheet
 * with its table does not: its number, its date, until when it holds. */
static void
append_cover (GString *text, guint *n_above, GBytes *cover, guint known)
{
  g_autoptr (QmSheet) sheet = read_rows (cover);
  guint n = 0;

  if (sheet == NULL
      || (says_above (sheet, qm_sheet_n_rows (sheet)) & ~known) == 0)
    return;
  for (guint i = 0; i < qm_sheet_n_rows (sheet); i++)
    n += !qm_sheet_is_blank (sheet, i);
  if (*n_above + n > MOST_COVER)
    return;
  for (guint i = 0; i < qm_sheet_n_rows (sheet); i++)
    if (!qm_sheet_is_blank (sheet, i) && (says_of_row (sheet, i) & known) == 0)
      {
        append_sheet_row (text, sheet, i);
        (*n_above)++;
      }
}

/* Puts above a table what other sheets say of its quote. */
static GBytes *
add_covers (GPtrArray *tables, guint at, int header_row, guint *n_above)
{
  GBytes *table = g_ptr_array_index (tables, at);
  g_autoptr (QmSheet) sheet = read_rows (table);
  g_autoptr (GString) text = g_string_new (NULL);
  gsize size;
  const char *data = g_bytes_get_data (table, &size);
  guint known = sheet != NULL && header_row > 0
                    ? says_above (sheet, (guint) header_row)
                    : 0;
  int ignored;

  *n_above = 0;
  for (guint i = 0; i < tables->len; i++)
    if (i != at && !is_quote (g_ptr_array_index (tables, i), &ignored))
      append_cover (text, n_above, g_ptr_array_index (tables, i), known);
  if (*n_above == 0)
    return g_bytes_ref (table);
  g_string_prepend (text, "sep=;\n");
  data += strlen ("sep=;\n");
  g_string_append_len (text, data, (gssize) (size - strlen ("sep=;\n")));
  size = text->len;
  return g_bytes_new_take (g_string_free (g_steal_pointer (&text), FALSE),
                           size);
}

GBytes *
qm_import_sheet (GBytes *bytes,
                 char **sheet,
                 char **others,
                 guint *n_above,
                 GCancellable *cancellable,
                 GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autoptr (GPtrArray) sheets =
      qm_workbook_read (data, size, cancellable, error);
  g_autoptr (GPtrArray) tables =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GString) names = g_string_new (NULL);
  int at = -1, header_row = -1;
  guint above = 0;
  GBytes *table;

  if (sheets == NULL)
    return NULL;
  for (guint i = 0; i < sheets->len; i++)
    {
      const QmCells *cells = g_ptr_array_index (sheets, i);
      int header;

      table = qm_cells_to_csv (cells);
      g_ptr_array_add (tables, table);
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      if (!is_quote (table, &header))
        continue;
      if (at >= 0)
        g_string_append_printf (names, "%s“%s”", names->len > 0 ? ", " : "",
                                qm_cells_get_name (cells));
      else
        {
          at = (int) i;
          header_row = header;
        }
    }
  table = at >= 0 ? add_covers (tables, (guint) at, header_row, &above)
                  : g_bytes_ref (g_ptr_array_index (tables, 0));
  if (n_above != NULL)
    *n_above = above;
  if (sheet != NULL)
    *sheet = g_strdup (
        qm_cells_get_name (g_ptr_array_index (sheets, (guint) MAX (at, 0))));
  if (others != NULL)
    *others = names->len > 0 ? g_strdup (names->str) : NULL;
  return table;
}
