/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-table.h"

#define GAP            2
#define PARAGRAPH_PIPE 80
#define PARAGRAPH_MAX  100
#define UNKNOWN        "–"

typedef struct
{
  char *heading; /* a heading, else NULL */
  GStrv cells;
  QmCliStyle style;
} Row;

struct _QmCliTable
{
  QmCliColumn *columns;
  char **titles;
  guint n_columns;
  GArray *rows; /* of Row */
};

static void
row_clear (Row *row)
{
  g_free (row->heading);
  g_strfreev (row->cells);
}

QmCliTable *
qm_cli_table_new (const QmCliColumn *columns, guint n_columns)
{
  QmCliTable *table = g_new0 (QmCliTable, 1);

  table->n_columns = n_columns;
  table->columns = g_memdup2 (columns, n_columns * sizeof *columns);
  table->titles = g_new0 (char *, n_columns + 1);
  for (guint i = 0; i < n_columns; i++)
    {
      table->titles[i] = g_strdup (columns[i].title);
      table->columns[i].title = table->titles[i];
    }
  table->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_set_clear_func (table->rows, (GDestroyNotify) row_clear);
  return table;
}

void
qm_cli_table_free (QmCliTable *table)
{
  if (table == NULL)
    return;
  g_free (table->columns);
  g_strfreev (table->titles);
  g_array_unref (table->rows);
  g_free (table);
}

void
qm_cli_table_add_row (QmCliTable *table,
                      QmCliStyle style,
                      const char *const *cells)
{
  Row row = { .style = style, .cells = g_new0 (char *, table->n_columns + 1) };

  for (guint i = 0; i < table->n_columns; i++)
    {
      gboolean known = cells[i] != NULL && *cells[i] != '\0';

      row.cells[i] = known ? qm_cli_escape (cells[i]) : g_strdup (UNKNOWN);
    }
  g_array_append_val (table->rows, row);
}

void
qm_cli_table_add_heading (QmCliTable *table, const char *heading)
{
  Row row = { .heading = qm_cli_escape (heading) };

  g_array_append_val (table->rows, row);
}

static guint
char_width (gunichar c)
{
  if (g_unichar_iszerowidth (c))
    return 0;
  return g_unichar_iswide (c) ? 2 : 1;
}

/* Cells that a text takes. */
static guint
text_width (const char *text)
{
  guint width = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    width += char_width (g_utf8_get_char (text));
  return width;
}

/* Column widths, all text in full. */
static void
width_of_columns (const QmCliTable *table, guint *widths)
{
  for (guint i = 0; i < table->n_columns; i++)
    {
      widths[i] = text_width (table->titles[i]);
      for (guint j = 0; j < table->rows->len; j++)
        {
          const Row *row = &g_array_index (table->rows, Row, j);

          if (row->heading == NULL)
            widths[i] = MAX (widths[i], text_width (row->cells[i]));
        }
    }
}

/* The width of the table with its columns in full, or, `shrunk`, as narrow as
 * they may get. */
static guint
total_width (const QmCliTable *table, const guint *widths, gboolean shrunk)
{
  guint total = 0;

  for (guint i = 0; i < table->n_columns; i++)
    {
      guint shrink = table->columns[i].shrink;

      if (widths[i] == 0)
        continue;
      total += total > 0 ? GAP : 0;
      total += shrunk && shrink > 0 ? MIN (widths[i], shrink) : widths[i];
    }
  return total;
}

static gboolean
drop_column (const QmCliTable *table, guint *widths)
{
  guint found = table->n_columns;
  guint highest = 0;

  for (guint i = 0; i < table->n_columns; i++)
    if (widths[i] > 0 && table->columns[i].drop > highest)
      {
        highest = table->columns[i].drop;
        found = i;
      }
  if (found == table->n_columns)
    return FALSE;
  widths[found] = 0;
  return TRUE;
}

/* Width 0 leaves a column out. */
static void
fit (const QmCliTable *table, guint *widths, guint available)
{
  while (total_width (table, widths, TRUE) > available)
    if (!drop_column (table, widths))
      break;

  for (guint i = 0; i < table->n_columns; i++)
    {
      guint total = total_width (table, widths, FALSE);
      guint shrink = table->columns[i].shrink;

      if (total <= available)
        break;
      if (shrink > 0 && widths[i] > shrink)
        widths[i] -= MIN (total - available, widths[i] - shrink);
    }
}

/* Cuts a text to `width` cells, the last of them an ellipsis.
 * (transfer full) */
static char *
ellipsize (const char *text, guint width)
{
  guint used = 0;
  const char *end = text;

  if (text_width (text) <= width)
    return g_strdup (text);

  while (used + char_width (g_utf8_get_char (end)) < width)
    {
      used += char_width (g_utf8_get_char (end));
      end = g_utf8_next_char (end);
    }
  return g_strdup_printf ("%.*s…", (int) (end - text), text);
}

static void
append_spaces (GString *out, guint n)
{
  g_string_append_printf (out, "%*s", (int) n, "");
}

static void
append_cells (const QmCliTable *table,
              GString *out,
              const QmCliScreen *screen,
              QmCliStyle style,
              char *const *cells,
              const guint *widths)
{
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; i < table->n_columns; i++)
    {
      g_autofree char *cell = NULL;
      guint padding;

      if (widths[i] == 0)
        continue;
      cell = ellipsize (cells[i], widths[i]);
      padding = widths[i] - text_width (cell);
      if (line->len > 0)
        append_spaces (line, GAP);
      if (table->columns[i].alignment == QM_CLI_RIGHT)
        append_spaces (line, padding);
      g_string_append (line, cell);
      if (table->columns[i].alignment == QM_CLI_LEFT)
        append_spaces (line, padding);
    }
  g_strchomp (line->str);
  qm_cli_append_styled (out, screen, style, line->str);
  g_string_append_c (out, '\n');
}

void
qm_cli_table_append (const QmCliTable *table,
                     GString *out,
                     const QmCliScreen *screen)
{
  g_autofree guint *widths = g_new0 (guint, table->n_columns);
  gboolean titled = FALSE;

  width_of_columns (table, widths);
  if (screen->width > 0)
    fit (table, widths, screen->width);

  for (guint i = 0; i < table->rows->len; i++)
    {
      const Row *row = &g_array_index (table->rows, Row, i);

      if (row->heading != NULL)
        {
          if (i > 0)
            g_string_append_c (out, '\n');
          qm_cli_append_styled (out, screen, QM_CLI_STRONG, row->heading);
          g_string_append_c (out, '\n');
        }
      if (!titled)
        append_cells (table, out, screen, QM_CLI_FAINT, table->titles, widths);
      titled = TRUE;
      if (row->heading == NULL)
        append_cells (table, out, screen, row->style, row->cells, widths);
    }
}

void
qm_cli_append_paragraph (GString *out,
                         const QmCliScreen *screen,
                         QmCliStyle style,
                         const char *label,
                         guint indent,
                         const char *text)
{
  guint available =
      screen->width > 0 ? MIN (screen->width, PARAGRAPH_MAX) : PARAGRAPH_PIPE;
  guint used = text_width (label);
  g_autofree char *safe = qm_cli_escape (text);
  g_auto (GStrv) words = g_strsplit (safe, " ", -1);
  g_autoptr (GString) paragraph = g_string_new (label);
  gboolean first_in_line = TRUE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint width = text_width (words[i]);

      if (!first_in_line && used + 1 + width > available)
        {
          g_string_append_c (paragraph, '\n');
          append_spaces (paragraph, indent);
          used = indent;
          first_in_line = TRUE;
        }
      if (!first_in_line)
        {
          g_string_append_c (paragraph, ' ');
          used++;
        }
      g_string_append (paragraph, words[i]);
      used += width;
      first_in_line = FALSE;
    }
  qm_cli_append_styled (out, screen, style, paragraph->str);
  g_string_append_c (out, '\n');
}

char *
qm_cli_date_text (QmDate date)
{
  if (date.year == 0)
    return NULL;
  if (date.month == 0)
    return g_strdup_printf ("%04d", date.year);
  if (date.day == 0)
    return g_strdup_printf ("%04d-%02d", date.year, date.month);
  return g_strdup_printf ("%04d-%02d-%02d", date.year, date.month, date.day);
}
