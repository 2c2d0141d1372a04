/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-pdf-table.h"
#include "pricing/qm-amount.h"

#include <string.h>

/* Gaps between lines are the same within so many points. */
#define SAME_GAP 0.7
/* One is wider than another by so many points. */
#define CLEARLY 2.0
/* Of the way from the gap between lines of a cell to that between rows, that of
 * another row has gone so much. */
#define ROW 0.7
/* Lines of one cell are closer than so many heights. */
#define WITHIN_CELL 0.35
/* Between a label and the amount beside it there is no less, in heights. */
#define NARROW 0.12

/* The gap above a line, to the lowest of those before it from `first` on; it is
 * below zero where they overlap. */
static double
gap_above (const GPtrArray *lines, guint first, guint i)
{
  double bottom = qm_pdf_line_at (lines, first)->box.bottom;

  for (guint j = i; j > first && j + 4 > i; j--)
    bottom = MAX (bottom, qm_pdf_line_at (lines, j - 1)->box.bottom);
  return qm_pdf_line_at (lines, i)->box.top - bottom;
}

static int
compare_gaps (gconstpointer a, gconstpointer b)
{
  double first = *(const double *) a, second = *(const double *) b;

  return (first > second) - (first < second);
}

double
qm_pdf_common_gap (const QmPdfBody *body, const GPtrArray *lines)
{
  g_autoptr (GArray) gaps = g_array_new (FALSE, FALSE, sizeof (double));
  double widest = -G_MAXDOUBLE, narrowest = G_MAXDOUBLE, least = G_MAXDOUBLE;
  guint last = G_MAXUINT;

  for (guint i = body->first; i < body->end; i++)
    {
      double gap = i > body->first ? gap_above (lines, body->first, i) : 0;

      if (last != G_MAXUINT)
        {
          widest = MAX (widest, gap);
          narrowest = MIN (narrowest, gap);
        }
      if (!qm_pdf_has_amount (body->head, lines, i))
        continue;
      if (last != G_MAXUINT && last + 1 == i)
        g_array_append_val (gaps, gap);
      else if (last != G_MAXUINT && widest > narrowest + CLEARLY)
        least = MIN (least, widest);
      widest = -G_MAXDOUBLE;
      narrowest = G_MAXDOUBLE;
      last = i;
    }
  if (gaps->len == 0)
    return least;
  g_array_sort (gaps, compare_gaps);
  return g_array_index (gaps, double, gaps->len / 2);
}

/* Whether a line is the name of an alternative and nothing else, "Option A",
 * "either", "or": it is never of one row with another. */
static gboolean
is_name (const GPtrArray *lines, guint i)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i);
  g_autofree char *text = NULL;
  g_autofree char *name = NULL;
  g_autofree char *either = NULL;
  const char *rest = "";
  guint n = 0;

  if (line->words->len > 4)
    return FALSE;
  text = qm_pdf_line_text (line, 0, line->words->len);
  either = qm_csv_alternative_either (text, TRUE, &n);
  if (either != NULL || qm_csv_words_say_or (text, TRUE))
    return TRUE;
  name = qm_csv_alternative_parse (text, &rest);
  return name != NULL && rest[strspn (rest, " :.-")] == '\0';
}

gboolean
qm_pdf_is_total_table (const GPtrArray *lines, guint names, guint below)
{
  g_autoptr (GArray) above = NULL;
  g_autoptr (GArray) amounts = NULL;
  guint n = 0;

  if (below >= lines->len)
    return FALSE;
  above = qm_pdf_line_runs (qm_pdf_line_at (lines, names),
                            qm_pdf_line_at (lines, names)->space);
  amounts = qm_pdf_line_runs (qm_pdf_line_at (lines, below),
                              qm_pdf_line_at (lines, below)->space);
  for (guint i = 0; i < amounts->len; i++)
    if (!qm_pdf_is_amount (g_array_index (amounts, QmPdfRun, i).text))
      return FALSE;
  for (guint i = 0; i < above->len; i++)
    {
      const char *text = g_array_index (above, QmPdfRun, i).text;

      if (qm_pdf_is_amount (text))
        return FALSE;
      n += qm_csv_row_kind_of (text) != QM_CSV_ROW_LINE;
    }
  return n > 1 && amounts->len > 1;
}

/* Whether a row begins at a line, however close the one above is. */
static gboolean
begins_row (const GPtrArray *lines, guint i)
{
  return is_name (lines, i) || is_name (lines, i - 1)
         || qm_pdf_is_total_table (lines, i, i + 1)
         || qm_pdf_is_total_table (lines, i - 1, i);
}

/* Divides the lines behind one with an amount, up to the next one: where the
 * gap is as wide as between rows, there begins a row. */
static void
divide (GArray *rows,
        const QmPdfBody *body,
        const GPtrArray *lines,
        guint from,
        guint to,
        double common)
{
  double widest = -G_MAXDOUBLE, narrowest = G_MAXDOUBLE, least;

  for (guint i = from + 1; i <= to; i++)
    {
      double gap = gap_above (lines, body->first, i);

      widest = MAX (widest, gap);
      narrowest = MIN (narrowest, gap);
    }
  least = MIN (widest, common) - SAME_GAP;
  if (least > narrowest + CLEARLY)
    least = narrowest + ROW * (least - narrowest);
  for (guint i = from + 1; i <= to; i++)
    if (gap_above (lines, body->first, i) >= least || begins_row (lines, i))
      g_array_append_val (rows, i);
}

/* Before the first amount and behind the last there is no row to compare
 * with. */
static void
divide_end (GArray *rows,
            const QmPdfBody *body,
            const GPtrArray *lines,
            guint from,
            guint to,
            double common)
{
  double least =
      WITHIN_CELL * qm_pdf_line_height (qm_pdf_line_at (lines, body->first));

  if (common < G_MAXDOUBLE)
    least = common - SAME_GAP;
  for (guint i = from + 1; i <= to; i++)
    if (gap_above (lines, body->first, i) >= least || begins_row (lines, i))
      g_array_append_val (rows, i);
}

GArray *
qm_pdf_rows (const QmPdfBody *body, const GPtrArray *lines)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (guint));
  double common = body->common;
  guint last = body->first;
  gboolean any = FALSE;

  if (body->first >= body->end)
    return rows;
  g_array_append_val (rows, body->first);
  for (guint i = body->first; i < body->end; i++)
    if (qm_pdf_has_amount (body->head, lines, i))
      {
        if (any)
          divide (rows, body, lines, last, i, common);
        else
          divide_end (rows, body, lines, last, i, common);
        any = TRUE;
        last = i;
      }
  divide_end (rows, body, lines, last, body->end - 1, common);
  g_array_append_val (rows, body->end);
  return rows;
}

static const QmPdfWord *
word_at (const QmPdfLine *line, guint i)
{
  return &g_array_index (line->words, QmPdfWord, i);
}

/* Whether a number begins with a word that is all there is in its cell. */
static gboolean
begins_number (const QmPdfLine *line, guint i)
{
  guint n = line->words->len;
  g_autofree char *rest = qm_pdf_line_text (line, i, MIN (n, i + 4));
  const QmPdfBox *box = &word_at (line, i)->box;

  if (qm_pdf_is_amount (rest))
    return TRUE;
  return qm_pdf_is_amount (word_at (line, i)->text)
         && (i + 1 == n || qm_pdf_is_amount (word_at (line, i + 1)->text)
             || word_at (line, i + 1)->box.left - box->right > line->space);
}

/* Whether a line is divided before a word: there is more than a space, or a
 * column ends there and a number begins.  A label may reach over the end of a
 * column of amounts, and a heading over that of any other.
 *
 * whole: there are but spaces in the line. */
static gboolean
is_cut (const QmPdfBody *body, const QmPdfLine *line, guint i, gboolean whole)
{
  const QmPdfBox *before = &word_at (line, i - 1)->box;
  const QmPdfBox *behind = &word_at (line, i)->box;
  double height = qm_pdf_line_height (line);
  double gap = behind->left - before->right;

  /* What is printed over another is none of it. */
  if (gap > line->gap || gap < -NARROW * height)
    return TRUE;
  for (guint j = 0; j + 1 < body->head->n_names; j++)
    {
      double edge = body->edges[j];
      gboolean between = edge > before->right - 0.5;

      if (edge < before->left || edge > behind->left + 0.5)
        continue;
      if (gap > line->space && between)
        return TRUE;
      if (gap > NARROW * height && begins_number (line, i)
          && ((between && !whole)
              || qm_pdf_has_amounts (body->head->fields[j + 1])))
        return TRUE;
    }
  return FALSE;
}

/* The column that has most of a run; one of quantities, which tells a line from
 * a total, has none of what reaches into others. */
static guint
column_of (const QmPdfBody *body, const QmPdfBox *box)
{
  double most = -1, left = -G_MAXDOUBLE;
  guint column = 0;

  for (guint i = 0; i < body->head->n_names; i++)
    {
      double right = body->edges[i];
      double part = MIN (right, box->right) - MAX (left, box->left);

      left = right;
      if (part >= 0.9 * (box->right - box->left))
        return i;
      if (part > most && body->head->fields[i] != QM_CSV_QUANTITY)
        {
          most = part;
          column = i;
        }
    }
  return column;
}

/* Adds a part of a cell; a word that is divided at the end of a line stays
 * one. */
static void
append_to_row (char **cell, const char *text)
{
  gsize n = *cell != NULL ? strlen (*cell) : 0;
  gboolean divided =
      n > 1 && (*cell)[n - 1] == '-' && (*cell)[n - 2] != ' '
      && (g_ascii_isalnum ((*cell)[n - 2]) || ((*cell)[n - 2] & 0x80) != 0)
      && g_unichar_isalpha (g_utf8_get_char (text));
  char *both = *cell != NULL ? g_strjoin (divided ? "" : " ", *cell, text, NULL)
                             : g_strdup (text);

  g_free (*cell);
  *cell = both;
}

/* The column of a text; a label of a total is put to the descriptions where it
 * stands below the quantities, which would make it a line. */
static guint
column_of_text (const QmPdfBody *body, const QmPdfBox *box, const char *text)
{
  const QmPdfHead *head = body->head;
  guint column = column_of (body, box);

  if (head->fields[column] != QM_CSV_QUANTITY
      || qm_csv_row_kind_of (text) == QM_CSV_ROW_LINE)
    return column;
  for (guint i = 0; i < head->n_names; i++)
    if (head->fields[i] == QM_CSV_DESCRIPTION)
      return i;
  return column;
}

static void
add_run (const QmPdfBody *body,
         const QmPdfLine *line,
         guint first,
         guint end,
         char **cells)
{
  QmPdfBox box = g_array_index (line->words, QmPdfWord, first).box;
  g_autofree char *text = qm_pdf_line_text (line, first, end);

  for (guint i = first + 1; i < end; i++)
    qm_pdf_box_join (&box, &g_array_index (line->words, QmPdfWord, i).box);
  append_to_row (&cells[column_of_text (body, &box, text)], text);
}

void
qm_pdf_row_cells (const QmPdfBody *body,
                  const GPtrArray *lines,
                  guint first,
                  guint end,
                  char *cells[QM_PDF_MOST_COLUMNS])
{
  memset (cells, 0, QM_PDF_MOST_COLUMNS * sizeof *cells);
  for (guint i = first; i < end; i++)
    {
      const QmPdfLine *line = qm_pdf_line_at (lines, i);
      g_autoptr (GArray) runs = qm_pdf_line_runs (line, line->space);
      guint n = line->words->len, from = 0;

      for (guint j = 1; j <= n; j++)
        {
          guint next = j;

          if (j < n && !is_cut (body, line, j, runs->len == 1))
            continue;
          add_run (body, line, from, j, cells);
          from = next;
        }
    }
}
