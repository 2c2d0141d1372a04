/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-workbook.h"

/* Whether its columns say enough for quotes. */
static gboolean
is_quote (GBytes *table)
{
  gsize size;
  const char *data = g_bytes_get_data (table, &size);
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_guess (data, size, NULL);

  return mapping != NULL && qm_csv_mapping_check (mapping, NULL);
}

GBytes *
qm_import_sheet (GBytes *bytes,
                 char **sheet,
                 char **others,
                 GCancellable *cancellable,
                 GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autoptr (GPtrArray) sheets =
      qm_workbook_read (data, size, cancellable, error);
  g_autoptr (GBytes) found = NULL;
  g_autoptr (GString) names = g_string_new (NULL);
  guint at = 0;

  if (sheets == NULL)
    return NULL;
  for (guint i = 0; i < sheets->len; i++)
    {
      const QmCells *cells = g_ptr_array_index (sheets, i);
      g_autoptr (GBytes) table = qm_cells_to_csv (cells);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      if (!is_quote (table))
        continue;
      if (found != NULL)
        g_string_append_printf (names, "%s“%s”", names->len > 0 ? ", " : "",
                                qm_cells_get_name (cells));
      else
        {
          found = g_steal_pointer (&table);
          at = i;
        }
    }
  if (found == NULL)
    found = qm_cells_to_csv (g_ptr_array_index (sheets, 0));
  if (sheet != NULL)
    *sheet = g_strdup (qm_cells_get_name (g_ptr_array_index (sheets, at)));
  if (others != NULL)
    *others = names->len > 0 ? g_strdup (names->str) : NULL;
  return g_steal_pointer (&found);
}
