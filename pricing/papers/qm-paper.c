/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper.h"

#include "pricing/qm-csv.h"

#include <string.h>

static void
row_clear (QmPaperRow *row, guint n_columns)
{
  for (guint i = 0; i < n_columns; i++)
    {
      g_free (row->cells[i].text);
      g_free (row->cells[i].number);
    }
  g_free (row->cells);
}

static void
table_free (QmPaperTable *table)
{
  if (table == NULL)
    return;
  for (guint i = 0; i < table->rows->len; i++)
    row_clear (&g_array_index (table->rows, QmPaperRow, i), table->n_columns);
  g_array_unref (table->rows);
  g_strfreev (table->heads);
  g_free (table->name);
  g_free (table);
}

static void
block_clear (gpointer data)
{
  QmPaperBlock *block = data;

  g_free (block->text);
  table_free (block->table);
}

QmPaper *
qm_paper_new (const char *title, const char *subtitle)
{
  QmPaper *paper = g_new0 (QmPaper, 1);

  paper->title = g_strdup (title);
  paper->subtitle = g_strdup (subtitle);
  paper->blocks = g_array_new (FALSE, FALSE, sizeof (QmPaperBlock));
  g_array_set_clear_func (paper->blocks, block_clear);
  return paper;
}

void
qm_paper_free (QmPaper *paper)
{
  if (paper == NULL)
    return;
  g_array_unref (paper->blocks);
  g_free (paper->caption);
  g_free (paper->subtitle);
  g_free (paper->title);
  g_free (paper);
}

void
qm_paper_add (QmPaper *paper, QmPaperKind kind, const char *text)
{
  QmPaperBlock block = { .kind = kind };

  g_return_if_fail (paper != NULL && text != NULL && kind != QM_PAPER_TABLE);

  block.text = g_strdup (text);
  g_array_append_val (paper->blocks, block);
}

void
qm_paper_add_figure (QmPaper *paper, const char *caption)
{
  g_return_if_fail (paper != NULL && paper->caption == NULL);

  paper->caption = g_strdup (caption);
  paper->figure = paper->blocks->len;
}

QmPaperTable *
qm_paper_add_table (QmPaper *paper, const char *name, const char *const *heads)
{
  QmPaperBlock block = { .kind = QM_PAPER_TABLE };

  g_return_val_if_fail (paper != NULL && name != NULL && heads != NULL, NULL);

  block.table = g_new0 (QmPaperTable, 1);
  block.table->name = g_strdup (name);
  block.table->heads = g_strdupv ((char **) heads);
  block.table->n_columns = g_strv_length (block.table->heads);
  block.table->rows = g_array_new (FALSE, FALSE, sizeof (QmPaperRow));
  g_array_append_val (paper->blocks, block);
  return block.table;
}

void
qm_paper_table_set_words (QmPaperTable *table, const guint *columns)
{
  g_return_if_fail (table != NULL && columns != NULL);

  for (guint i = 0; columns[i] != 0; i++)
    table->words |= G_GUINT64_CONSTANT (1) << MIN (columns[i], 63);
}

gboolean
qm_paper_table_is_words (const QmPaperTable *table, guint column)
{
  return column == 0
         || (table->words & G_GUINT64_CONSTANT (1) << MIN (column, 63)) != 0;
}

QmPaperCell *
qm_paper_table_add_row (QmPaperTable *table,
                        QmPaperRowKind kind,
                        const char *text)
{
  QmPaperRow row = { .kind = kind };

  g_return_val_if_fail (table != NULL && table->n_columns > 0, NULL);

  row.cells = g_new0 (QmPaperCell, table->n_columns);
  row.cells[0].text = g_strdup (text);
  g_array_append_val (table->rows, row);
  return row.cells;
}

void
qm_paper_cell_set (QmPaperCell *cell, char *text, char *number)
{
  g_return_if_fail (cell != NULL);

  g_free (cell->text);
  g_free (cell->number);
  cell->text = text;
  cell->number = number;
}

/* --- Markdown --- */

/* Appends a text so that nothing of it is taken for markup, and in one line
 * where it stands in a table. */
static void
append_marked (GString *out, const char *text, gboolean in_table)
{
  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\n')
      g_string_append (out, in_table ? "<br>" : "  \n");
    else if (strchr ("\\`*_[]<>#|~", *p) != NULL)
      {
        g_string_append_c (out, '\\');
        g_string_append_c (out, *p);
      }
    else
      g_string_append_c (out, *p);
}

static void
append_markdown_cell (GString *out, const char *text, gboolean bold)
{
  g_string_append (out, bold && text != NULL ? "| **" : "| ");
  append_marked (out, text != NULL ? text : "–", TRUE);
  g_string_append (out, bold && text != NULL ? "** " : " ");
}

static void
append_markdown_table (GString *out, const QmPaperTable *table)
{
  for (guint i = 0; i < table->n_columns; i++)
    append_markdown_cell (out, table->heads[i], FALSE);
  g_string_append (out, "|\n");
  for (guint i = 0; i < table->n_columns; i++)
    g_string_append (out,
                     qm_paper_table_is_words (table, i) ? "| --- " : "| ---: ");
  g_string_append (out, "|\n");
  for (guint i = 0; i < table->rows->len; i++)
    {
      const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, i);

      for (guint j = 0; j < table->n_columns; j++)
        {
          gboolean empty = row->kind == QM_ROW_SECTION && j > 0;

          append_markdown_cell (out, empty ? "" : row->cells[j].text,
                                !empty
                                    && (row->cells[j].best
                                        || (row->kind != QM_ROW_PLAIN
                                            && j == 0)));
        }
      g_string_append (out, "|\n");
    }
  g_string_append_c (out, '\n');
}

char *
qm_paper_to_markdown (const QmPaper *paper)
{
  GString *out = g_string_new ("# ");

  g_return_val_if_fail (paper != NULL, NULL);

  append_marked (out, paper->title, FALSE);
  g_string_append (out, "\n\n");
  if (paper->subtitle != NULL)
    {
      append_marked (out, paper->subtitle, FALSE);
      g_string_append (out, "\n\n");
    }
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);
      gboolean more = i + 1 < paper->blocks->len && block->kind == QM_PAPER_ITEM
                      && g_array_index (paper->blocks, QmPaperBlock, i + 1).kind
                             == QM_PAPER_ITEM;

      if (block->kind == QM_PAPER_TABLE)
        {
          append_markdown_table (out, block->table);
          continue;
        }
      g_string_append (out, block->kind == QM_PAPER_HEADING ? "## "
                            : block->kind == QM_PAPER_ITEM  ? "- "
                                                            : "");
      append_marked (out, block->text, FALSE);
      g_string_append (out, more ? "\n" : "\n\n");
    }
  /* One line break at the end. */
  while (out->len > 1 && out->str[out->len - 2] == '\n')
    g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}

/* --- CSV --- */

static void
add_csv_cell (GString *csv, const QmPaperCell *cell)
{
  if (cell->number != NULL)
    qm_csv_add_written (csv, cell->number);
  else
    qm_csv_add_text (csv, cell->text);
}

GBytes *
qm_paper_to_csv (const QmPaper *paper)
{
  GString *csv = g_string_new (NULL);
  const QmPaperTable *table = NULL;

  g_return_val_if_fail (paper != NULL, NULL);

  for (guint i = 0; table == NULL && i < paper->blocks->len; i++)
    table = g_array_index (paper->blocks, QmPaperBlock, i).table;
  for (guint i = 0; table != NULL && i < table->n_columns; i++)
    qm_csv_add_text (csv, table->heads[i]);
  if (table != NULL)
    qm_csv_end_row (csv);
  for (guint i = 0; table != NULL && i < table->rows->len; i++)
    {
      const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, i);

      for (guint j = 0; j < table->n_columns; j++)
        add_csv_cell (csv, &row->cells[j]);
      qm_csv_end_row (csv);
    }
  return g_string_free_to_bytes (csv);
}
