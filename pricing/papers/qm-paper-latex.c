/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper.h"

#include <string.h>

static const char preamble[] = "\\documentclass[11pt]{article}\n"
                               "\\usepackage[utf8]{inputenc}\n"
                               "\\usepackage[T1]{fontenc}\n"
                               "\\usepackage{textcomp,amssymb}\n"
                               "\\usepackage[margin=25mm]{geometry}\n"
                               "\\usepackage{array,booktabs,longtable}\n"
                               "\\setlength{\\parindent}{0pt}\n"
                               "\\setlength{\\parskip}{6pt}\n"
                               "\\DeclareUnicodeCharacter{2248}{$\\approx$}\n"
                               "\\DeclareUnicodeCharacter{2605}{$\\bigstar$}\n"
                               "\\DeclareUnicodeCharacter{2212}{$-$}\n"
                               "\\DeclareUnicodeCharacter{202F}{\\,}\n"
                               "\\begin{document}\n";

/* Appends a text of which nothing is taken for a command. */
static void
append_escaped (GString *out, const char *text, gboolean in_table)
{
  static const struct
  {
    char c;
    const char *text;
  } special[] = {
    { '\\', "\\textbackslash{}" },
    { '{', "\\{" },
    { '}', "\\}" },
    { '$', "\\$" },
    { '&', "\\&" },
    { '#', "\\#" },
    { '%', "\\%" },
    { '_', "\\_" },
    { '^', "\\textasciicircum{}" },
    { '~', "\\textasciitilde{}" },
    { '<', "\\textless{}" },
    { '>', "\\textgreater{}" },
    { '|', "\\textbar{}" },
    { '"', "\\textquotedbl{}" },
  };

  for (const char *p = text; *p != '\0'; p++)
    {
      const char *instead = NULL;

      for (guint i = 0; i < G_N_ELEMENTS (special); i++)
        if (special[i].c == *p)
          instead = special[i].text;
      if (*p == '\n')
        g_string_append (out, in_table ? "\\newline " : "\\\\\n");
      else if (instead != NULL)
        g_string_append (out, instead);
      else if ((guchar) *p >= ' ')
        g_string_append_c (out, *p);
    }
}

static void
append_command (GString *out, const char *command, const char *text)
{
  g_string_append_printf (out, "\\%s{", command);
  append_escaped (out, text, FALSE);
  g_string_append (out, "}\n\n");
}

static void
append_cell (GString *out, const char *text, gboolean bold)
{
  g_string_append (out, bold ? "\\textbf{" : "");
  append_escaped (out, text != NULL ? text : "–", TRUE);
  g_string_append (out, bold ? "}" : "");
}

static void
append_row (GString *out, const QmPaperRow *row, guint n_columns)
{
  if (row->kind == QM_ROW_SECTION)
    {
      g_string_append_printf (out, "\\multicolumn{%u}{l}{", n_columns);
      append_cell (out, row->cells[0].text, TRUE);
      g_string_append (out, "} \\\\\n");
      return;
    }
  for (guint i = 0; i < n_columns; i++)
    {
      g_string_append (out, i > 0 ? " & " : "");
      append_cell (out, row->cells[i].text,
                   row->cells[i].best
                       || (row->kind == QM_ROW_STRONG && i == 0));
    }
  g_string_append (out, " \\\\\n");
}

/* All columns but the first alike, as wide as the page leaves. */
static void
append_table (GString *out, const QmPaperTable *table)
{
  const guint n = table->n_columns;
  const double first = n > 1 ? 0.28 : 0.95;
  char width[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (out, "{\\small\n\\begin{longtable}{");
  for (guint i = 0; i < n; i++)
    {
      g_ascii_formatd (width, sizeof width, "%.3f",
                       i == 0 ? first : (0.92 - first) / (n - 1) - 0.015);
      g_string_append_printf (out, ">{\\%s\\arraybackslash}p{%s\\linewidth}",
                              qm_paper_table_is_words (table, i) ? "raggedright"
                                                                 : "raggedleft",
                              width);
    }
  g_string_append (out, "}\n\\toprule\n");
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i > 0 ? " & " : "");
      append_cell (out, table->heads[i], TRUE);
    }
  g_string_append (out, " \\\\\n\\midrule\n\\endhead\n");
  for (guint i = 0; i < table->rows->len; i++)
    append_row (out, &g_array_index (table->rows, QmPaperRow, i), n);
  g_string_append (out, "\\bottomrule\n\\end{longtable}}\n\n");
}

char *
qm_paper_to_latex (const QmPaper *paper)
{
  GString *out = g_string_new (preamble);
  gboolean in_list = FALSE;

  g_return_val_if_fail (paper != NULL, NULL);

  append_command (out, "section*", paper->title);
  if (paper->subtitle != NULL)
    {
      append_escaped (out, paper->subtitle, FALSE);
      g_string_append (out, "\n\n");
    }
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if ((block->kind == QM_PAPER_ITEM) != in_list)
        g_string_append (out,
                         in_list ? "\\end{itemize}\n\n" : "\\begin{itemize}\n");
      in_list = block->kind == QM_PAPER_ITEM;
      if (block->kind == QM_PAPER_TABLE)
        append_table (out, block->table);
      else if (block->kind == QM_PAPER_HEADING)
        append_command (out, "subsection*", block->text);
      else
        {
          g_string_append (out, in_list ? "\\item " : "");
          append_escaped (out, block->text, FALSE);
          g_string_append (out, in_list ? "\n" : "\n\n");
        }
    }
  g_string_append (out, in_list ? "\\end{itemize}\n" : "");
  g_string_append (out, "\\end{document}\n");
  return g_string_free (out, FALSE);
}
