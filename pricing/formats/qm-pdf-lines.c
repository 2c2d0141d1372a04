/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-pdf-lines.h"

/* Middles of words of one line are no further apart than so much of the lower
 * one's height. */
#define SAME_LINE 0.4
/* Spaces are between so many heights of a line, ... */
#define LEAST  0.1
#define WIDEST 0.8
/* ... told apart in so many steps; of fewer nothing is concluded, but that they
 * are as usual. */
#define STEPS 35
#define FEW   12
#define USUAL 0.29
/* Narrower than that none are taken to be. */
#define NARROWEST 0.265
/* A gap that is so many times a space is none, ... */
#define MORE 1.45
/* ... or so many times that of a typewriter's face, where all are the same and
 * no other has them as wide, in heights; ... */
#define MORE_TYPED 1.25
#define TYPED      0.4
/* ... and so many times, not one between words that have to do with each
 * other. */
#define MUCH_MORE 2.2

void
qm_pdf_line_free (QmPdfLine *line)
{
  if (line == NULL)
    return;
  g_array_unref (line->words);
  g_free (line);
}

static void
clear_run (gpointer data)
{
  g_free (((QmPdfRun *) data)->text);
}

void
qm_pdf_box_join (QmPdfBox *box, const QmPdfBox *other)
{
  box->left = MIN (box->left, other->left);
  box->top = MIN (box->top, other->top);
  box->right = MAX (box->right, other->right);
  box->bottom = MAX (box->bottom, other->bottom);
}

static double
middle (const QmPdfBox *box)
{
  return (box->top + box->bottom) / 2;
}

static double
height (const QmPdfBox *box)
{
  return box->bottom - box->top;
}

static int
compare_places (double a, double b)
{
  return (a > b) - (a < b);
}

static int
compare_middles (gconstpointer a, gconstpointer b)
{
  const QmPdfWord *first = a, *second = b;

  return compare_places (middle (&first->box), middle (&second->box));
}

static int
compare_lefts (gconstpointer a, gconstpointer b)
{
  const QmPdfWord *first = a, *second = b;

  return compare_places (first->box.left, second->box.left);
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  const QmPdfLine *const *first = a, *const *second = b;

  return compare_places (middle (&(*first)->box), middle (&(*second)->box));
}

/* The line that a word is on: the last one, as they come in order. */
static gboolean
is_on (const QmPdfLine *line, const QmPdfWord *word)
{
  const QmPdfWord *other = &g_array_index (line->words, QmPdfWord, 0);
  double most = SAME_LINE * MIN (height (&other->box), height (&word->box));

  return middle (&word->box) - middle (&other->box) <= most;
}

static void
add_lines (GPtrArray *lines, const QmPdfPage *page, guint number)
{
  g_autoptr (GArray) words = g_array_copy (page->words);
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  QmPdfLine *line = NULL;

  g_array_set_clear_func (words, NULL);
  g_array_sort (words, compare_middles);
  for (guint i = 0; i < words->len; i++)
    {
      const QmPdfWord *word = &g_array_index (words, QmPdfWord, i);

      if (line == NULL || !is_on (line, word))
        {
          line = g_new0 (QmPdfLine, 1);
          line->page = number;
          line->box = word->box;
          line->words = g_array_new (FALSE, FALSE, sizeof (QmPdfWord));
          g_ptr_array_add (found, line);
        }
      g_array_append_val (line->words, *word);
      qm_pdf_box_join (&line->box, &word->box);
    }
  g_ptr_array_sort (found, compare_lines);
  for (guint i = 0; i < found->len; i++)
    {
      line = g_ptr_array_index (found, i);
      g_array_sort (line->words, compare_lefts);
      g_ptr_array_add (lines, line);
    }
}

/* What most spaces between words are, in heights: those in most lines of a
 * document are alike, and in typewriter faces wider than in others. */
static double
common_space (const GPtrArray *lines)
{
  guint counts[STEPS + 2] = { 0 }, most = 0;
  double common = USUAL;

  for (guint i = 0; i < lines->len; i++)
    {
      const QmPdfLine *line = g_ptr_array_index (lines, i);
      double high = qm_pdf_line_height (line);

      for (guint j = 1; j < line->words->len; j++)
        {
          double gap =
              g_array_index (line->words, QmPdfWord, j).box.left
              - g_array_index (line->words, QmPdfWord, j - 1).box.right;

          if (gap > LEAST * high && gap < WIDEST * high)
            counts[(guint) (gap / high / WIDEST * STEPS) + 1]++;
        }
    }
  for (guint i = 1; i <= STEPS; i++)
    {
      guint n = counts[i - 1] + 2 * counts[i] + counts[i + 1];

      if (n > most)
        {
          most = n;
          common = (i - 0.5) * WIDEST / STEPS;
        }
    }
  return most >= FEW ? MAX (common, NARROWEST) : USUAL;
}

GPtrArray *
qm_pdf_lines (const GPtrArray *pages)
{
  GPtrArray *lines =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_pdf_line_free);
  double space;

  for (guint i = 0; i < pages->len; i++)
    add_lines (lines, g_ptr_array_index (pages, i), i);
  space = common_space (lines);
  for (guint i = 0; i < lines->len; i++)
    {
      QmPdfLine *line = g_ptr_array_index (lines, i);

      line->space = (space > TYPED ? MORE_TYPED : MORE) * space
                    * qm_pdf_line_height (line);
      line->gap = MUCH_MORE * space * qm_pdf_line_height (line);
    }
  return lines;
}

double
qm_pdf_line_height (const QmPdfLine *line)
{
  double most = 0;

  for (guint i = 0; i < line->words->len; i++)
    most = MAX (most, height (&g_array_index (line->words, QmPdfWord, i).box));
  return most;
}

char *
qm_pdf_line_text (const QmPdfLine *line, guint first, guint end)
{
  GString *text = g_string_new (NULL);

  for (guint i = first; i < end; i++)
    g_string_append_printf (text, "%s%s", i > first ? " " : "",
                            g_array_index (line->words, QmPdfWord, i).text);
  return g_string_free (text, FALSE);
}

static void
end_run (GArray *runs, const QmPdfLine *line, guint first, guint end)
{
  QmPdfRun run = { .first = first, .n = end - first };

  run.box = g_array_index (line->words, QmPdfWord, first).box;
  for (guint i = first + 1; i < end; i++)
    qm_pdf_box_join (&run.box, &g_array_index (line->words, QmPdfWord, i).box);
  run.text = qm_pdf_line_text (line, first, end);
  g_array_append_val (runs, run);
}

GArray *
qm_pdf_line_runs (const QmPdfLine *line, double gap)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (QmPdfRun));
  double right = 0;
  guint first = 0;

  g_array_set_clear_func (runs, clear_run);
  for (guint i = 0; i < line->words->len; i++)
    {
      const QmPdfBox *box = &g_array_index (line->words, QmPdfWord, i).box;

      if (i > first && box->left - right > gap)
        {
          end_run (runs, line, first, i);
          first = i;
          right = box->right;
        }
      right = i > first ? MAX (right, box->right) : box->right;
    }
  if (line->words->len > 0)
    end_run (runs, line, first, line->words->len);
  return runs;
}
