/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-html-table.h"
#include "pricing/pages/qm-page-text.h"

#include <glib/gi18n-lib.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (xmlDoc, xmlFreeDoc)

static GBytes *
refuse (GError **error)
{
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                       _ ("There is no table in this page."));
  return NULL;
}

GBytes *
qm_import_html (GBytes *bytes,
                const char *media_type,
                QmHtmlRead *read,
                GCancellable *cancellable,
                GError **error)
{
  gsize size, length;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree char *charset = qm_import_charset (media_type);
  g_autofree char *text = NULL;
  g_autoptr (xmlDoc) doc = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (QmCells) cells = NULL;
  QmHtmlRead found = { 0 };
  gboolean deep;

  if (size > QM_READ_MAX_BYTES)
    return refuse (error);
  text = qm_page_to_utf8 (data, size, charset, &length);
  if (!qm_page_looks_like_html (text, length))
    return refuse (error);
  doc = qm_page_tree_parse (text, length, &deep);
  if (doc == NULL)
    return refuse (error);
  found.hidden = qm_page_mark_seen (doc);
  if (!qm_page_has_table (xmlDocGetRootElement (doc)))
    return refuse (error);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  found.cut = deep;
  rows = qm_html_rows (doc, &found);
  cells = qm_html_cells (rows, &found, error);
  if (cells == NULL)
    return NULL;
  if (qm_cells_is_empty (cells) || found.rows == 0)
    return refuse (error);
  if (read != NULL)
    *read = found;
  return qm_cells_to_csv (cells);
}
