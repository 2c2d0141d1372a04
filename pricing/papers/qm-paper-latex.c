/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Between columns, on either side, and the width of a line, in points. */
#define COLUMN_GAP 4.0
#define LINE_WIDTH 455.0

/* Of a cell no more characters than this ask for width, nor less than this. */
#define MOST_CHARS  34
#define LEAST_CHARS 4

/* Characters that a line of a table has room for, about. */
#define LINE_CHARS 88

/* Bold characters are wider. */
#define BOLD 1.15

/* Words longer than this may be parted at their marks. */
#define LONG_WORD 24

/* With \needroom a heading goes to the next page where what follows it has no
 * room. */
static const char preamble[] =
    "\\documentclass[11pt]{article}\n"
    "\\usepackage[utf8]{inputenc}\n"
    "\\usepackage[T1]{fontenc}\n"
    "\\usepackage{textcomp,amssymb}\n"
    "\\IfFileExists{lmodern.sty}"
    "{\\usepackage{lmodern}}{}\n"
    "\\usepackage[margin=25mm]{geometry}\n"
    "\\usepackage{array,booktabs,longtable}\n"
    "\\setlength{\\parindent}{0pt}\n"
    "\\setlength{\\parskip}{6pt}\n"
    "\\setlength{\\tabcolsep}{4pt}\n"
    "\\emergencystretch=3em\n"
    "\\newcommand{\\needroom}{\\par\\dimen0=\\pagegoal"
    "\\advance\\dimen0-\\pagetotal"
    "\\ifdim\\dimen0<10\\baselineskip"
    "\\pagebreak\\fi}\n"
    "\\DeclareUnicodeCharacter{2192}"
    "{$\\rightarrow$}\n"
    "\\DeclareUnicodeCharacter{2264}{$\\leq$}\n"
    "\\DeclareUnicodeCharacter{2265}{$\\geq$}\n"
    "\\DeclareUnicodeCharacter{2248}{$\\approx$}\n"
    "\\DeclareUnicodeCharacter{2605}{$\\bigstar$}\n"
    "\\DeclareUnicodeCharacter{2212}{$-$}\n"
    "\\DeclareUnicodeCharacter{202F}{\\,}\n";

/* Characters of the word that begins there. */
static gsize
word_length (const char *text)
{
  return strcspn (text, " \n");
}

/* Hyphenation as the language has it, where that is installed. */
static void
append_language (GString *out)
{
  /* Translators: the name of your language for LaTeX's babel. */
  const char *name = C_ ("LaTeX", "english");

  g_string_append_printf (out,
                          "\\IfFileExists{%s.ldf}{\\usepackage[%s]{babel}}{}\n"
                          "\\begin{document}\n",
                          name, name);
}

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
    { '[', "{[}" },
    { ']', "{]}" },
  };
  gsize word = 0; /* length of the one that we are in */

  for (const char *p = text; *p != '\0'; p++)
    {
      const char *instead = NULL;

      if (p == text || p[-1] == ' ' || p[-1] == '\n')
        word = word_length (p);
      for (guint i = 0; i < G_N_ELEMENTS (special); i++)
        if (special[i].c == *p)
          instead = special[i].text;
      if (*p == '\n')
        g_string_append (out, in_table ? "\\newline " : "\\\\\n");
      else if (instead != NULL)
        g_string_append (out, instead);
      else if ((guchar) *p >= ' ')
        g_string_append_c (out, *p);
      if (word > LONG_WORD && strchr ("/-._?&=,", *p) != NULL)
        g_string_append (out, "\\allowbreak{}");
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
append_latex_cell (GString *out, const char *text, gboolean bold)
{
  g_string_append (out, bold ? "\\textbf{" : "");
  append_escaped (out, text != NULL ? text : "–", TRUE);
  g_string_append (out, bold ? "}" : "");
}

static void
append_latex_row (GString *out, const QmPaperRow *row, guint n_columns)
{
  if (row->kind == QM_ROW_SECTION)
    {
      g_string_append_printf (out, "\\multicolumn{%u}{l}{", n_columns);
      append_latex_cell (out, row->cells[0].text, TRUE);
      g_string_append (out, "} \\\\\n");
      return;
    }
  for (guint i = 0; i < n_columns; i++)
    {
      g_string_append (out, i > 0 ? " & " : "");
      append_latex_cell (out, row->cells[i].text,
                         row->cells[i].best
                             || (row->kind == QM_ROW_STRONG && i == 0));
    }
  g_string_append (out, " \\\\\n");
}

/* How wide a column would like to be, and has to be, in characters. */
static void
measure_cell (const char *text, gboolean bold, double *natural, double *least)
{
  double factor = bold ? BOLD : 1;
  glong n = text != NULL ? g_utf8_strlen (text, -1) : 1;

  *natural = MAX (*natural, factor * (double) MIN (n, MOST_CHARS));
  for (const char *p = text; p != NULL && *p != '\0';)
    {
      gsize length = word_length (p);
      glong chars = g_utf8_strlen (p, (gssize) length);

      if (length <= LONG_WORD)
        *least = MAX (*least, factor * (double) chars + 1);
      p += length;
      p += *p != '\0';
    }
}

/* The widths of the columns as shares of the line: what each needs for its
 * longest word, and of what is left as much as its cells would like. */
static void
measure_columns (const QmPaperTable *table, double *widths)
{
  const guint n = table->n_columns;
  g_autofree double *natural = g_new0 (double, n);
  double all_natural = 0, all_least = 0, sum = 0, of_head = 0;
  const double room = 1 - n * 2 * COLUMN_GAP / LINE_WIDTH - 0.002;

  for (guint i = 0; i < n; i++)
    {
      widths[i] = LEAST_CHARS;
      /* A head may always be parted. */
      measure_cell (table->heads[i], TRUE, &of_head, &widths[i]);
      for (guint j = 0; j < table->rows->len; j++)
        {
          const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, j);

          if (row->kind != QM_ROW_SECTION)
            measure_cell (row->cells[i].text, row->cells[i].best, &natural[i],
                          &widths[i]);
        }
      /* An amount is not parted from its unit. */
      if (!qm_paper_table_is_words (table, i))
        widths[i] = MAX (widths[i], MIN (natural[i] + 1, LONG_WORD));
      natural[i] = MAX (natural[i], widths[i]);
      all_natural += natural[i];
      all_least += widths[i];
    }
  for (guint i = 0; i < n; i++)
    {
      double part =
          all_natural > all_least
              ? CLAMP ((LINE_CHARS - all_least) / (all_natural - all_least), 0,
                       1)
              : 1;

      widths[i] += (natural[i] - widths[i]) * part;
      sum += widths[i];
    }
  for (guint i = 0; i < n; i++)
    widths[i] *= room / sum;
}

static void
append_latex_table (GString *out, const QmPaperTable *table)
{
  const guint n = table->n_columns;
  g_autofree double *widths = g_new0 (double, n);
  char width[G_ASCII_DTOSTR_BUF_SIZE];

  measure_columns (table, widths);
  g_string_append (out, "{\\small\n\\begin{longtable}{");
  for (guint i = 0; i < n; i++)
    {
      g_ascii_formatd (width, sizeof width, "%.3f", widths[i]);
      g_string_append_printf (out, ">{\\%s\\arraybackslash}p{%s\\linewidth}",
                              qm_paper_table_is_words (table, i) ? "raggedright"
                                                                 : "raggedleft",
                              width);
    }
  g_string_append (out, "}\n\\toprule\n");
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i > 0 ? " & " : "");
      append_latex_cell (out, table->heads[i], TRUE);
    }
  g_string_append (out, " \\\\\n\\midrule\n\\endhead\n");
  for (guint i = 0; i < table->rows->len; i++)
    append_latex_row (out, &g_array_index (table->rows, QmPaperRow, i), n);
  g_string_append (out, "\\bottomrule\n\\end{longtable}}\n\n");
}

char *
qm_paper_to_latex (const QmPaper *paper)
{
  GString *out = g_string_new (preamble);
  gboolean in_list = FALSE;

  g_return_val_if_fail (paper != NULL, NULL);

  append_language (out);
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
        append_latex_table (out, block->table);
      else if (block->kind == QM_PAPER_HEADING)
        {
          g_string_append (out, "\\needroom\n");
          append_command (out, "subsection*", block->text);
        }
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
