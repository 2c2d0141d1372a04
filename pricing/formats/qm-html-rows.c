/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-html-table.h"

#include "pricing/pages/qm-page-private.h"
#include "pricing/quotes/qm-quote-read.h"

/* A cell that names a column has no more text, in bytes. */
#define MOST_NAME 120
/* So much of a text between tables is read, in bytes. */
#define MOST_RUN ((gsize) 8 * QM_READ_MAX_TEXT)
/* Rows of a table in which its head is looked for. */
#define LOOK_ROWS 60

typedef struct
{
  GPtrArray *rows;    /* of QmHtmlRow, owned */
  GHashTable *within; /* of cells_with_text() */
  guint n_tables;
  guint quotes;    /* elements around that repeat an earlier mail */
  guint shortened; /* texts that were too long */
  gboolean behind; /* all that comes does */
  gboolean cut;
} Walk;

static void walk_children (Walk *walk, xmlNode *node, guint depth);

/* Elements that stand within tables but are no part of them, as forms do. */
static gboolean
is_table_part (const xmlNode *node)
{
  static const char *const names[] = { "table", "thead",    "tbody", "tfoot",
                                       "tr",    "td",       "th",    "caption",
                                       "col",   "colgroup", NULL };

  return qm_page_is_any (node, names);
}

static gboolean
is_cell (const xmlNode *node)
{
  return qm_page_is (node, "td") || qm_page_is (node, "th");
}

static void
add_cells (xmlNode *row, GPtrArray *cells, guint depth)
{
  for (xmlNode *node = row->children; node != NULL; node = node->next)
    if (node->type != XML_ELEMENT_NODE || qm_page_is_hidden (node))
      continue;
    else if (is_cell (node))
      g_ptr_array_add (cells, node);
    else if (!is_table_part (node) && depth < QM_PAGE_DEPTH_MAX)
      add_cells (node, cells, depth + 1);
}

/* The cells of a row that people see. (transfer container) */
static GPtrArray *
cells_of_row (xmlNode *row)
{
  GPtrArray *cells = g_ptr_array_new ();

  add_cells (row, cells, 0);
  return cells;
}

/* Rows of a part of a table, or of one of its parts: of the head, the foot, or
 * all others.  Cells outside of rows are one. */
static void
add_rows (xmlNode *part, const char *wanted, GPtrArray *rows, guint depth)
{
  gboolean loose = FALSE;

  for (xmlNode *node = part->children; node != NULL; node = node->next)
    {
      gboolean edge = qm_page_is (node, "thead") || qm_page_is (node, "tfoot");

      if (node->type != XML_ELEMENT_NODE || qm_page_is_hidden (node)
          || (edge ? wanted == NULL || !qm_page_is (node, wanted)
                   : wanted != NULL && depth == 0))
        continue;
      if (qm_page_is (node, "tr"))
        g_ptr_array_add (rows, node);
      else if (is_cell (node) && !loose)
        {
          loose = TRUE;
          g_ptr_array_add (rows, part);
        }
      else if (!is_cell (node) && !qm_page_is (node, "table")
               && depth < QM_PAGE_DEPTH_MAX)
        add_rows (node, edge ? NULL : wanted, rows, depth + 1);
    }
}

/* The rows of a table, as they are seen: first those of the head, last those of
 * the foot. */
static void
add_rows_of_table (xmlNode *table, GPtrArray *rows)
{
  add_rows (table, "thead", rows, 0);
  add_rows (table, NULL, rows, 0);
  add_rows (table, "tfoot", rows, 0);
}

/* shortened: (nullable): whether there is more than `max` bytes is added.
 *
 * Returns: (transfer full) (nullable) */
static char *
text_of (const xmlNode *node, gsize max, guint *shortened)
{
  GString *text = g_string_new (NULL);

  if (!qm_page_append_seen (node->children, NULL, max, text)
      && shortened != NULL)
    (*shortened)++;
  return g_string_free (text, text->len == 0);
}

/* The innermost cell around, from a node on; NULL: none is. */
static xmlNode *
cell_around (xmlNode *node)
{
  while (node != NULL && !is_cell (node))
    node = node->parent;
  return node;
}

/* How many cells with text of their own there are within each cell, 2 standing
 * for more: it has a table then that puts things beside or below each other.
 * Others are there for a margin.  Each cell is counted once, however deep it
 * is. */
static GHashTable *
cells_with_text (xmlNode *top)
{
  GHashTable *within = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (xmlNode *at = top; at != NULL;)
    {
      gboolean hidden = qm_page_is_hidden (at);

      if (!hidden && at->type == XML_TEXT_NODE && at->content != NULL
          && qm_page_is_seen_text ((const char *) at->content))
        {
          xmlNode *cell = cell_around (at->parent);

          if (cell != NULL && g_hash_table_add (seen, cell))
            while ((cell = cell_around (cell->parent)) != NULL)
              {
                guint n = GPOINTER_TO_UINT (g_hash_table_lookup (within, cell));

                /* Those around have no fewer. */
                if (n == 2)
                  break;
                g_hash_table_insert (within, cell, GUINT_TO_POINTER (n + 1));
              }
        }
      at = qm_page_next (top, at, !hidden);
    }
  return within;
}

static void
keep_row (Walk *walk, QmHtmlRow *row, guint table)
{
  row->table = table;
  row->quoted = walk->quotes > 0 || walk->behind;
  if (walk->rows->len >= QM_HTML_MOST_ROWS)
    walk->cut = TRUE;
  if (walk->cut || qm_html_row_is_blank (row))
    qm_html_row_free (row);
  else
    g_ptr_array_add (walk->rows, row);
}

static void
take_line (Walk *walk, const char *text, guint table)
{
  QmHtmlRow *row = g_new0 (QmHtmlRow, 1);

  row->cells = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (row->cells, g_strdup (text));
  keep_row (walk, row, table);
}

static void
take_lines (Walk *walk, const char *text, guint table)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    take_line (walk, lines[i], table);
}

/* Takes the text of siblings that have no table. */
static void
take_run (Walk *walk, const xmlNode *first, const xmlNode *end)
{
  g_autoptr (GString) text = g_string_new (NULL);

  walk->shortened += !qm_page_append_seen (first, end, MOST_RUN, text);
  if (text->len > 0)
    take_lines (walk, text->str, 0);
}

static guint
count_lines (const char *text)
{
  guint n = 1;

  for (; text != NULL && *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

/* The lines of cells that have as many stand beside each other. */
static void
take_beside (Walk *walk, const QmHtmlRow *row, guint n_lines, guint table)
{
  g_autoptr (GPtrArray) lines =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);

  for (guint j = 0; j < row->cells->len; j++)
    {
      const char *text = g_ptr_array_index (row->cells, j);

      g_ptr_array_add (lines,
                       text != NULL ? g_strsplit (text, "\n", -1) : NULL);
    }
  for (guint i = 0; i < n_lines && !walk->cut; i++)
    {
      QmHtmlRow *line = g_new0 (QmHtmlRow, 1);

      line->cells = g_ptr_array_new_with_free_func (g_free);
      for (guint j = 0; j < lines->len; j++)
        {
          char **of_cell = g_ptr_array_index (lines, j);

          g_ptr_array_add (line->cells,
                           of_cell != NULL ? g_strdup (of_cell[i]) : NULL);
        }
      keep_row (walk, line, table);
    }
}

/* A row outside of a table with named columns, of which cells may have several
 * lines: as many in all, that stand beside each other; or each by itself. */
static void
take_loose (Walk *walk, QmHtmlRow *row, guint table)
{
  guint most = 1, least = G_MAXUINT, filled = 0;

  for (guint i = 0; i < row->cells->len; i++)
    if (g_ptr_array_index (row->cells, i) != NULL)
      {
        guint n = count_lines (g_ptr_array_index (row->cells, i));

        most = MAX (most, n);
        least = MIN (least, n);
        filled++;
      }
  if (most == 1 || filled == 0)
    {
      keep_row (walk, row, table);
      return;
    }
  if (filled > 1 && least == most)
    take_beside (walk, row, most, table);
  else
    for (guint j = 0; j < row->cells->len; j++)
      if (g_ptr_array_index (row->cells, j) != NULL)
        take_lines (walk, g_ptr_array_index (row->cells, j), table);
  qm_html_row_free (row);
}

static GPtrArray *
texts_of (const GPtrArray *cells, gsize max, guint *shortened)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < cells->len; i++)
    g_ptr_array_add (texts,
                     text_of (g_ptr_array_index (cells, i), max, shortened));
  return texts;
}

/* The row that names the columns of a table itself, and not by a table within;
 * as many as there are rows: none does. */
static guint
find_names (const GPtrArray *rows)
{
  for (guint i = 0; i < MIN (rows->len, LOOK_ROWS); i++)
    {
      g_autoptr (GPtrArray) cells = cells_of_row (g_ptr_array_index (rows, i));
      g_autoptr (GPtrArray) texts = NULL;

      if (cells->len < 2 || cells->len > QM_HTML_MOST_COLUMNS)
        continue;
      texts = texts_of (cells, MOST_NAME, NULL);
      if (qm_html_names (texts, NULL) > 0)
        return i;
    }
  return rows->len;
}

static gboolean
is_layout_row (const Walk *walk, const GPtrArray *cells)
{
  for (guint i = 0; i < cells->len; i++)
    if (g_hash_table_lookup (walk->within, g_ptr_array_index (cells, i))
        == GUINT_TO_POINTER (2))
      return TRUE;
  return FALSE;
}

static void
take_table (Walk *walk, xmlNode *table, guint depth)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  guint number = ++walk->n_tables;
  QmHtmlGrid grid = { 0 };
  guint names;

  for (xmlNode *node = table->children; node != NULL; node = node->next)
    if (qm_page_is (node, "caption") && !qm_page_is_hidden (node))
      walk_children (walk, node, depth + 1);
  add_rows_of_table (table, rows);
  names = find_names (rows);
  for (guint i = 0; i < rows->len && !walk->cut; i++)
    {
      g_autoptr (GPtrArray) cells = cells_of_row (g_ptr_array_index (rows, i));
      g_autoptr (GPtrArray) texts = NULL;
      QmHtmlRow *row;

      if (i < names && is_layout_row (walk, cells))
        {
          for (guint j = 0; j < cells->len; j++)
            walk_children (walk, g_ptr_array_index (cells, j), depth + 1);
          continue;
        }
      texts = texts_of (cells, QM_READ_MAX_TEXT, &walk->shortened);
      row = qm_html_grid_row (&grid, cells, texts);
      if (i < names)
        take_loose (walk, row, number);
      else
        keep_row (walk, row, number);
    }
  qm_html_grid_clear (&grid);
}

/* Whether an element repeats an earlier mail, as the programs mark it. */
static gboolean
is_quoted (const xmlNode *node)
{
  static const char *const classes[] = { "gmail_quote", "yahoo_quoted",
                                         "moz-forward-container", NULL };

  return qm_page_is (node, "blockquote")
         || qm_page_holds_any (qm_page_attribute (node, "class"), classes);
}

/* Whether all that comes is of earlier mails. */
static gboolean
is_border (const xmlNode *node)
{
  return g_strcmp0 (qm_page_attribute (node, "id"), "divRplyFwdMsg") == 0;
}

static void
walk_children (Walk *walk, xmlNode *node, guint depth)
{
  xmlNode *start = node->children;

  if (depth > QM_PAGE_DEPTH_MAX)
    {
      walk->cut = TRUE;
      return;
    }
  for (xmlNode *child = start; child != NULL && !walk->cut; child = child->next)
    {
      gboolean quoted = is_quoted (child);

      if (is_border (child))
        {
          take_run (walk, start, child);
          start = child;
          walk->behind = TRUE;
        }
      if (qm_page_is_hidden (child) || (!quoted && !qm_page_has_table (child)))
        continue;
      take_run (walk, start, child);
      start = child->next;
      walk->quotes += quoted;
      if (qm_page_is (child, "table"))
        take_table (walk, child, depth + 1);
      else
        walk_children (walk, child, depth + 1);
      walk->quotes -= quoted;
    }
  take_run (walk, start, NULL);
}

GPtrArray *
qm_html_rows (xmlDoc *doc, QmHtmlRead *read)
{
  xmlNode *top = xmlDocGetRootElement (doc);
  Walk walk = { .rows = g_ptr_array_new_with_free_func (
                    (GDestroyNotify) qm_html_row_free),
                .within = cells_with_text (top) };

  if (!qm_page_is_hidden (top))
    {
      if (qm_page_is (top, "table"))
        take_table (&walk, top, 0);
      else
        walk_children (&walk, top, 0);
    }
  g_hash_table_unref (walk.within);
  read->cut = read->cut || walk.cut;
  read->shortened += walk.shortened;
  return walk.rows;
}
