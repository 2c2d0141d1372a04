/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-paper.h"
#include "app/qm-cli-save.h"
#include "app/qm-cli-table.h"
#include "ui/plot/qm-paper-pdf.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Columns after the first shrink to that on a narrow terminal. */
#define LEAST_WIDTH 12

static const struct
{
  const char *format;
  const char *ending;
} endings[] = {
  { "markdown", ".md" }, { "latex", ".tex" }, { "odt", ".odt" },
  { "pdf", ".pdf" },     { "csv", ".csv" },   { "ods", ".ods" },
  { "xlsx", ".xlsx" },   { "json", ".json" }, { "ubl", ".xml" },
  { "text", ".txt" },
};

void
qm_cli_paper_add_options (QmCliPaper *typed, GArray *options)
{
  g_autofree char *formats =
      g_strconcat ("text|markdown|latex|odt|pdf",
                   typed->sheets ? "|csv|ods|xlsx" : "",
                   typed->others != NULL ? "|" : "", typed->others, NULL);

  qm_cli_options_add_value (options, "output", 'o', _ ("FILE"),
                            _ ("Where to; standard output if not given"),
                            &typed->output);
  qm_cli_options_add_value (options, "format", 0, g_intern_string (formats),
                            _ ("Whatever the file’s ending"), &typed->format);
  qm_cli_options_add_value (options, "page", 0, "a4|letter",
                            _ ("Paper of a PDF; A4 if not given"),
                            &typed->page);
  qm_cli_options_add_flag (options, "force", _ ("Replace a file that exists"),
                           &typed->force);
}

void
qm_cli_paper_clear (QmCliPaper *typed)
{
  g_clear_pointer (&typed->output, g_strfreev);
  g_clear_pointer (&typed->format, g_strfreev);
  g_clear_pointer (&typed->page, g_strfreev);
}

gboolean
qm_cli_paper_read (const QmCliPaper *typed, QmCliForm *form, GError **error)
{
  static const char *const pages[] = { "a4", "letter" };
  const char *names[G_N_ELEMENTS (endings)];
  guint n = 0;
  int page = 0;
  int index = -1;

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      const char *format = endings[i].format;
      gboolean sheet = g_str_equal (format, "csv")
                       || g_str_equal (format, "ods")
                       || g_str_equal (format, "xlsx");
      gboolean other =
          g_str_equal (format, "json") || g_str_equal (format, "ubl");

      if (sheet ? typed->sheets
          : other
              ? typed->others != NULL && strstr (typed->others, format) != NULL
              : TRUE)
        names[n++] = format;
    }
  if (!qm_cli_option_single ("output", typed->output, &form->output, error)
      || !qm_cli_option_choice ("page", typed->page, pages, 2, &page, error)
      || !qm_cli_option_choice ("format", typed->format, names, n, &index,
                                error))
    return FALSE;
  form->format = index >= 0 ? names[index] : "text";
  for (guint i = 0; index < 0 && form->output != NULL && i < n; i++)
    for (guint j = 0; j < G_N_ELEMENTS (endings); j++)
      {
        g_autofree char *lower = g_ascii_strdown (form->output, -1);

        if (g_str_equal (endings[j].format, names[i])
            && g_str_has_suffix (lower, endings[j].ending))
          form->format = names[i];
      }
  form->letter = page == 1;
  form->force = typed->force;
  return TRUE;
}

/* --- text --- */

/* Breaks a text into lines of at most `width` characters (0: any), between
 * words where that can be done.  (transfer full) */
static GStrv
wrap (const char *text, guint width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GPtrArray) wrapped = g_ptr_array_new ();

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);
      GString *line = g_string_new (NULL);

      for (guint j = 0; words[j] != NULL; j++)
        {
          if (width > 0 && line->len > 0
              && g_utf8_strlen (line->str, -1) + 1
                         + g_utf8_strlen (words[j], -1)
                     > width)
            {
              g_ptr_array_add (wrapped, g_string_free (line, FALSE));
              line = g_string_new (NULL);
            }
          g_string_append_printf (line, line->len > 0 ? " %s" : "%s", words[j]);
        }
      g_ptr_array_add (wrapped, g_string_free (line, FALSE));
    }
  g_ptr_array_add (wrapped, NULL);
  return (GStrv) g_ptr_array_free (g_steal_pointer (&wrapped), FALSE);
}

/* Adds a row, in as many lines as its cells have. */
static void
add_paper_row (QmCliTable *table,
               const QmPaperRow *row,
               guint n_columns,
               guint width)
{
  g_autofree GStrv *lines = g_new0 (GStrv, n_columns);
  g_autofree const char **cells = g_new0 (const char *, n_columns);
  guint height = 1;

  for (guint i = 0; i < n_columns; i++)
    {
      const char *best = !row->cells[i].best    ? ""
                         : g_get_charset (NULL) ? "★ "
                                                : "* ";
      g_autofree char *text = row->cells[i].text != NULL
                                  ? g_strconcat (best, row->cells[i].text, NULL)
                                  : g_strdup ("");

      lines[i] = wrap (text, width);
      height = MAX (height, g_strv_length (lines[i]));
    }
  for (guint y = 0; y < height; y++)
    {
      for (guint i = 0; i < n_columns; i++)
        cells[i] = y < g_strv_length (lines[i]) ? lines[i][y]
                   : y == 0                     ? ""
                                                : " ";
      qm_cli_table_add_row (table,
                            row->kind == QM_ROW_STRONG ? QM_CLI_STRONG
                                                       : QM_CLI_PLAIN,
                            cells);
    }
  for (guint i = 0; i < n_columns; i++)
    g_strfreev (lines[i]);
}

static void
append_paper_table (GString *out,
                    const QmPaperTable *table,
                    const QmCliScreen *screen)
{
  g_autofree QmCliColumn *columns = g_new0 (QmCliColumn, table->n_columns);
  g_autoptr (QmCliTable) shown = NULL;
  /* Two spaces are between columns. */
  const guint width =
      screen->width > 0
          ? MAX (screen->width / table->n_columns, LEAST_WIDTH + 2) - 2
          : 0;

  for (guint i = 0; i < table->n_columns; i++)
    columns[i] = (QmCliColumn){ .title = table->heads[i],
                                .alignment = qm_paper_table_is_words (table, i)
                                                 ? QM_CLI_LEFT
                                                 : QM_CLI_RIGHT,
                                .shrink = LEAST_WIDTH };
  shown = qm_cli_table_new (columns, table->n_columns);
  for (guint i = 0; i < table->rows->len; i++)
    {
      const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, i);

      if (row->kind == QM_ROW_SECTION)
        qm_cli_table_add_heading (shown, row->cells[0].text);
      else
        add_paper_row (shown, row, table->n_columns, width);
    }
  qm_cli_table_append (shown, out, screen);
}

/* (transfer full) */
static char *
to_text (const QmPaper *paper)
{
  QmCliScreen screen = qm_cli_screen ();
  GString *out = g_string_new (NULL);

  qm_cli_append_styled (out, &screen, QM_CLI_STRONG, paper->title);
  g_string_append_c (out, '\n');
  if (paper->subtitle != NULL)
    qm_cli_append_paragraph (out, &screen, QM_CLI_FAINT, "", 0,
                             paper->subtitle);
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if (block->kind != QM_PAPER_ITEM || i == 0
          || g_array_index (paper->blocks, QmPaperBlock, i - 1).kind
                 == QM_PAPER_TABLE)
        g_string_append_c (out, '\n');
      if (block->kind == QM_PAPER_TABLE)
        append_paper_table (out, block->table, &screen);
      else if (block->kind == QM_PAPER_HEADING)
        {
          qm_cli_append_styled (out, &screen, QM_CLI_STRONG, block->text);
          g_string_append_c (out, '\n');
        }
      else
        qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN,
                                 block->kind == QM_PAPER_ITEM ? "- " : "",
                                 block->kind == QM_PAPER_ITEM ? 2 : 0,
                                 block->text);
    }
  return g_string_free (out, FALSE);
}

static GBytes *
bytes_of_text (char *text)
{
  return g_bytes_new_take (text, strlen (text));
}

gboolean
qm_cli_paper_write (const QmPaper *paper, const QmCliForm *form, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (paper != NULL && form != NULL, FALSE);

  if (g_str_equal (form->format, "text") && form->output == NULL)
    {
      g_autofree char *text = to_text (paper);

      return qm_cli_write_text (text, error);
    }
  if (g_str_equal (form->format, "markdown"))
    bytes = bytes_of_text (qm_paper_to_markdown (paper));
  else if (g_str_equal (form->format, "latex"))
    bytes = bytes_of_text (qm_paper_to_latex (paper));
  else if (g_str_equal (form->format, "csv"))
    bytes = qm_paper_to_csv (paper);
  else if (g_str_equal (form->format, "ods"))
    bytes = qm_paper_to_ods (paper);
  else if (g_str_equal (form->format, "xlsx"))
    bytes = qm_paper_to_xlsx (paper);
  else if (g_str_equal (form->format, "odt"))
    bytes = qm_paper_to_odt (paper);
  else if (g_str_equal (form->format, "pdf"))
    bytes = qm_paper_to_pdf (paper, form->letter ? QM_PAGE_LETTER : QM_PAGE_A4,
                             NULL, NULL, NULL);
  else
    bytes = bytes_of_text (to_text (paper));
  if (bytes == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
                           _ ("the pages could not be drawn"));
      return FALSE;
    }
  return qm_cli_save (bytes, form->output, form->force, error);
}
