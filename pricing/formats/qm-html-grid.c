/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-html-table.h"

#include "pricing/pages/qm-page-private.h"
#include "pricing/qm-amount.h"

#include <string.h>

/* No cell of a quote spans more rows, ... */
#define MOST_ROWS 500
/* ... and one with more text is not said again, in bytes. */
#define MOST_TEXT 200

void
qm_html_row_free (QmHtmlRow *row)
{
  if (row == NULL)
    return;
  g_clear_pointer (&row->cells, g_ptr_array_unref);
  g_clear_pointer (&row->above, g_ptr_array_unref);
  g_free (row);
}

gboolean
qm_html_row_is_blank (const QmHtmlRow *row)
{
  for (guint i = 0; i < row->cells->len; i++)
    if (g_ptr_array_index (row->cells, i) != NULL)
      return FALSE;
  return TRUE;
}

void
qm_html_grid_clear (QmHtmlGrid *grid)
{
  for (guint i = 0; i < QM_HTML_MOST_COLUMNS; i++)
    {
      g_clear_pointer (&grid->spans[i].text, g_free);
      grid->spans[i].left = 0;
    }
}

/* How far a cell reaches: 1 where it does not say, or says nonsense, as
 * browsers have it.  No rows at all are all that follow. */
static guint
span_of (const xmlNode *cell, const char *name, guint of_none, guint most)
{
  const char *text = qm_page_attribute (cell, name);
  guint64 span;

  if (text == NULL)
    return 1;
  text += strspn (text, " \t\r\n\f");
  text += *text == '+';
  if (!g_ascii_isdigit (*text))
    return 1;
  span = g_ascii_strtoull (text, NULL, 10);
  return span == 0 ? of_none : (guint) MIN (span, most);
}

static gboolean
is_number (const char *text)
{
  char currency[4];
  gint64 micros;

  return qm_amount_parse (text, QM_DECIMAL_GUESS, &micros, currency);
}

static void
set_at (GPtrArray *array, guint at, const char *text)
{
  if (at >= array->len)
    g_ptr_array_set_size (array, (int) at + 1);
  g_free (g_ptr_array_index (array, at));
  g_ptr_array_index (array, at) = g_strdup (text);
}

/* Has a cell cover its columns in the rows below. */
static void
cover (
    QmHtmlGrid *grid, const xmlNode *cell, guint at, guint n, const char *text)
{
  guint left = span_of (cell, "rowspan", MOST_ROWS, MOST_ROWS) - 1;

  for (guint i = at; left > 0 && i < at + n; i++)
    {
      g_free (grid->spans[i].text);
      grid->spans[i].text = i == at && text != NULL
                                    && strlen (text) <= MOST_TEXT
                                    && !is_number (text)
                                ? g_strdup (text)
                                : NULL;
      /* One more: this row is counted as well. */
      grid->spans[i].left = left + 1;
    }
}

/* Says again what reaches into a row, if it has an amount of its own, and takes
 * the row off. */
static void
end_row (QmHtmlGrid *grid,
         QmHtmlRow *row,
         const gboolean *covered,
         gboolean own)
{
  for (guint i = 0; i < QM_HTML_MOST_COLUMNS; i++)
    {
      if (covered[i] && own && grid->spans[i].text != NULL)
        set_at (row->cells, i, grid->spans[i].text);
      if (grid->spans[i].left > 0 && --grid->spans[i].left == 0)
        g_clear_pointer (&grid->spans[i].text, g_free);
    }
}

QmHtmlRow *
qm_html_grid_row (QmHtmlGrid *grid,
                  const GPtrArray *cells,
                  const GPtrArray *texts)
{
  QmHtmlRow *row = g_new0 (QmHtmlRow, 1);
  gboolean covered[QM_HTML_MOST_COLUMNS] = { FALSE };
  gboolean own = FALSE;
  guint at = 0;

  row->cells = g_ptr_array_new_with_free_func (g_free);
  row->above = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < QM_HTML_MOST_COLUMNS; i++)
    covered[i] = grid->spans[i].left > 0;
  for (guint i = 0; i < cells->len; i++)
    {
      const char *text = g_ptr_array_index (texts, i);
      guint n;

      while (at < QM_HTML_MOST_COLUMNS && covered[at])
        at++;
      if (at >= QM_HTML_MOST_COLUMNS)
        break;
      n = span_of (g_ptr_array_index (cells, i), "colspan", 1,
                   QM_HTML_MOST_COLUMNS - at);
      set_at (row->cells, at, text);
      for (guint j = 0; j < n; j++)
        set_at (row->above, at + j, text);
      own = own || (text != NULL && is_number (text));
      cover (grid, g_ptr_array_index (cells, i), at, n, text);
      at += n;
    }
  end_row (grid, row, covered, own);
  return row;
}
