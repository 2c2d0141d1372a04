/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-pdf-table.h"
#include "pricing/qm-amount.h"

#include <string.h>

gboolean
qm_pdf_is_amount (const char *text)
{
  char currency[4];
  gint64 micros;

  return qm_amount_parse (text, QM_DECIMAL_GUESS, &micros, currency);
}

/* So many lines are looked at for names that belong together, ... */
#define LOOK_LINES 6
/* ... on no more lines do they stand, ... */
#define MOST_LINES 10
/* ... which are no further apart than so many heights. */
#define APART 0.8
/* Such a line is one of names, though it names nothing itself: "(EUR)". */
#define TIGHT 0.5
/* A row of a table has so many words in a cell, and is so much wider than a
 * name; the rest of a name is not. */
#define MANY_WORDS 4
#define MUCH_WIDER 2.0
/* Lines of a name beside others overlap these by so much of their height. */
#define BESIDE 0.3
/* Gaps differ by more points than that. */
#define CLOSER 0.7
/* Names overlap where they do by more points than that. */
#define OVERLAP 0.5

static void
free_head (gpointer data)
{
  QmPdfHead *head = data;

  for (guint i = 0; i < head->n_names; i++)
    g_free (head->names[i]);
  g_free (head);
}

static gboolean
overlap (const QmPdfBox *a, const QmPdfBox *b)
{
  return MIN (a->right, b->right) - MAX (a->left, b->left) > OVERLAP;
}

static double
width (const QmPdfBox *box)
{
  return box->right - box->left;
}

static void
join_names (QmPdfHead *head, guint i, const QmPdfBox *box, const char *text)
{
  char *both = g_strjoin (" ", head->names[i], text, NULL);

  g_free (head->names[i]);
  head->names[i] = both;
  qm_pdf_box_join (&head->boxes[i], box);
}

static void
drop_name (QmPdfHead *head, guint i)
{
  g_free (head->names[i]);
  for (head->n_names--; i < head->n_names; i++)
    {
      head->names[i] = head->names[i + 1];
      head->boxes[i] = head->boxes[i + 1];
    }
}

/* A part of a name is put to those that it stands below; between others it is
 * a new one.  FALSE: there are too many. */
static gboolean
add_name (QmPdfHead *head, const QmPdfRun *run)
{
  guint at = 0;

  while (at < head->n_names && head->boxes[at].right <= run->box.left + OVERLAP)
    at++;
  if (at < head->n_names && overlap (&head->boxes[at], &run->box))
    {
      join_names (head, at, &run->box, run->text);
      while (at + 1 < head->n_names
             && overlap (&head->boxes[at], &head->boxes[at + 1]))
        {
          join_names (head, at, &head->boxes[at + 1], head->names[at + 1]);
          drop_name (head, at + 1);
        }
      return TRUE;
    }
  if (head->n_names >= QM_PDF_MOST_COLUMNS)
    return FALSE;
  for (guint i = head->n_names++; i > at; i--)
    {
      head->names[i] = head->names[i - 1];
      head->boxes[i] = head->boxes[i - 1];
    }
  head->names[at] = g_strdup (run->text);
  head->boxes[at] = run->box;
  return TRUE;
}

/* How many fields it names; 0: not those that a head needs. */
static guint
score (QmPdfHead *head)
{
  guint32 seen = 0;
  guint n = 0;

  for (guint i = 0; i < head->n_names; i++)
    {
      int tax;

      if (qm_pdf_is_amount (head->names[i]))
        return 0;
      head->fields[i] = qm_csv_field_of (head->names[i], &tax);
      if (head->fields[i] == QM_CSV_IGNORED
          || (seen & (1u << head->fields[i])) != 0)
        continue;
      seen |= 1u << head->fields[i];
      n++;
    }
  return qm_csv_fields_suffice (seen) ? n : 0;
}

/* The head that these lines are; NULL: they are none. */
static QmPdfHead *
try_lines (const GPtrArray *lines, guint first, guint n, double factor)
{
  QmPdfHead *head = g_new0 (QmPdfHead, 1);
  gboolean good = TRUE;

  head->first = first;
  head->n = n;
  for (guint i = first; good && i < first + n; i++)
    {
      const QmPdfLine *line = qm_pdf_line_at (lines, i);
      g_autoptr (GArray) runs = qm_pdf_line_runs (line, factor * line->space);

      head->height = MAX (head->height, qm_pdf_line_height (line));
      for (guint j = 0; good && j < runs->len; j++)
        good = add_name (head, &g_array_index (runs, QmPdfRun, j));
    }
  head->score = good && head->n_names >= 2 ? score (head) : 0;
  if (head->score > 0)
    return head;
  free_head (head);
  return NULL;
}

/* Whether a line may be one of names with that above. */
static gboolean
is_close (const GPtrArray *lines, guint above, double most)
{
  const QmPdfLine *first, *second;

  if (above + 1 >= lines->len)
    return FALSE;
  first = qm_pdf_line_at (lines, above);
  second = qm_pdf_line_at (lines, above + 1);
  return first->page == second->page
         && second->box.top - first->box.bottom
                <= most * qm_pdf_line_height (first);
}

/* The best head that begins with a line: the one of most fields, then of fewest
 * lines. */
static QmPdfHead *
best_at (const GPtrArray *lines, guint first)
{
  static const double factors[] = { 1, 1.5, 2.5 };
  QmPdfHead *best = NULL;

  for (guint n = 1; n <= LOOK_LINES && first + n <= lines->len; n++)
    {
      if (qm_pdf_line_at (lines, first + n - 1)->words->len
          > 8 * QM_PDF_MOST_COLUMNS)
        break;
      for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
        {
          QmPdfHead *head = try_lines (lines, first, n, factors[i]);

          if (head == NULL || (best != NULL && best->score >= head->score))
            {
              g_clear_pointer (&head, free_head);
              continue;
            }
          g_clear_pointer (&best, free_head);
          best = head;
        }
      if (!is_close (lines, first + n - 1, APART))
        break;
    }
  return best;
}

/* Whether all of a line stands above or below names, and it is neither an
 * amount nor a heading. */
static gboolean
belongs (const QmPdfHead *head, const QmPdfLine *line)
{
  g_autoptr (GArray) runs = qm_pdf_line_runs (line, line->space);
  g_autofree char *text = qm_pdf_line_text (line, 0, line->words->len);
  g_autofree char *alternative = qm_csv_alternative_parse (text, NULL);

  if (alternative != NULL || qm_csv_words_offer (text) > QM_CSV_OFFERED_PERHAPS)
    return FALSE;
  for (guint i = 0; i < runs->len; i++)
    {
      const QmPdfRun *run = &g_array_index (runs, QmPdfRun, i);
      gboolean covered = FALSE;

      for (guint j = 0; j < head->n_names; j++)
        covered = covered
                  || (overlap (&head->boxes[j], &run->box)
                      && (run->n < MANY_WORDS
                          || width (&run->box)
                                 < MUCH_WIDER * width (&head->boxes[j])));
      if (!covered || qm_pdf_is_amount (run->text)
          || qm_csv_cell_is_on_request (run->text))
        return FALSE;
    }
  return TRUE;
}

/* Whether all of a line stands below names of columns of amounts, where a row
 * has numbers: it is the rest of those names. */
static gboolean
is_below_amounts (const QmPdfHead *head, const QmPdfLine *line)
{
  g_autoptr (GArray) runs = qm_pdf_line_runs (line, line->space);

  for (guint i = 0; i < runs->len; i++)
    {
      const QmPdfRun *run = &g_array_index (runs, QmPdfRun, i);
      guint j = 0;

      while (j < head->n_names && !overlap (&head->boxes[j], &run->box))
        j++;
      if (j == head->n_names
          || (head->fields[j] != QM_CSV_PRICE
              && head->fields[j] != QM_CSV_TOTAL)
          || strpbrk (run->text, "0123456789") != NULL
          || qm_csv_cell_is_included (run->text))
        return FALSE;
    }
  return TRUE;
}

/* Whether there is more room below the lines of a head than between them. */
static gboolean
is_set_off (const GPtrArray *lines, guint first, guint end)
{
  double bottom = qm_pdf_line_at (lines, first)->box.bottom, widest = 0;

  for (guint i = first + 1; i < end; i++)
    {
      widest = MAX (widest, qm_pdf_line_at (lines, i)->box.top - bottom);
      bottom = MAX (bottom, qm_pdf_line_at (lines, i)->box.bottom);
    }
  return end == lines->len
         || qm_pdf_line_at (lines, end)->page
                != qm_pdf_line_at (lines, first)->page
         || qm_pdf_line_at (lines, end)->box.top - bottom > widest + 2;
}

/* Whether a head of more lines is to be preferred: it names as much, or is
 * clearly one, so that a name that nobody knows stays one. */
static gboolean
is_whole (const GPtrArray *lines,
          const QmPdfHead *head,
          const QmPdfHead *larger)
{
  return larger->n_names >= head->n_names
         && (larger->score >= head->score
             || is_set_off (lines, larger->first, larger->first + larger->n));
}

/* Whether a head has come before, with these names. */
static gboolean
is_head_known (const GPtrArray *heads, const QmPdfHead *head)
{
  for (guint i = 0; i < heads->len; i++)
    {
      const QmPdfHead *other = g_ptr_array_index (heads, i);
      guint j = 0;

      while (j < head->n_names && j < other->n_names
             && strcmp (head->names[j], other->names[j]) == 0)
        j++;
      if (j == head->n_names && j == other->n_names)
        return TRUE;
    }
  return FALSE;
}

/* Whether a line is closer to the one below than to the one above: it is the
 * first of a row. */
static gboolean
is_closer_below (const GPtrArray *lines, guint i)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i), *next;

  if (i + 1 >= lines->len)
    return FALSE;
  next = qm_pdf_line_at (lines, i + 1);
  return next->page == line->page
         && next->box.top - line->box.bottom + CLOSER
                < line->box.top - qm_pdf_line_at (lines, i - 1)->box.bottom;
}

/* Whether a line stands half a line above or below another of a head, and has
 * but words: its name is of two lines, and stands beside those of one. */
static gboolean
is_beside (const GPtrArray *lines, guint above, guint i)
{
  const QmPdfLine *first = qm_pdf_line_at (lines, above);
  const QmPdfLine *second = qm_pdf_line_at (lines, above + 1);
  g_autofree char *text =
      qm_pdf_line_text (qm_pdf_line_at (lines, i), 0,
                        qm_pdf_line_at (lines, i)->words->len);

  return first->page == second->page
         && second->box.top
                < first->box.bottom - BESIDE * qm_pdf_line_height (first)
         && strpbrk (text, "0123456789") == NULL;
}

/* Takes lines in below (step 1) or above (step -1) that belong to it, until it
 * is one that has come before. */
static QmPdfHead *
extend (QmPdfHead *head,
        const GPtrArray *lines,
        const GPtrArray *heads,
        int step)
{
  guint first = head->first, n = head->n;

  while (n < MOST_LINES && !is_head_known (heads, head))
    {
      guint above = step > 0 ? first + n - 1 : first - 1;
      QmPdfHead *larger;

      if (above >= lines->len || !is_close (lines, above, TIGHT)
          || (!belongs (head,
                        qm_pdf_line_at (lines, step > 0 ? above + 1 : above))
              && !is_beside (lines, above, step > 0 ? above + 1 : above))
          || (step > 0 && is_closer_below (lines, above + 1)))
        break;
      first -= step < 0;
      n++;
      larger = try_lines (lines, first, n, 1);
      if (larger == NULL)
        continue;
      if (is_whole (lines, head, larger)
          || (step > 0 && larger->n_names == head->n_names
              && is_below_amounts (head, qm_pdf_line_at (lines, above + 1))))
        {
          QmPdfHead *smaller = head;

          head = larger;
          larger = smaller;
        }
      free_head (larger);
    }
  return head;
}

static QmPdfHead *
complete (QmPdfHead *head, const GPtrArray *lines, const GPtrArray *heads)
{
  head = extend (head, lines, heads, 1);
  return extend (head, lines, heads, -1);
}

/* The best head at a line, unless one that begins within it is as good. */
static QmPdfHead *
find_at (const GPtrArray *lines, guint first)
{
  QmPdfHead *head = best_at (lines, first);

  for (guint i = 1; head != NULL && i < head->n; i++)
    {
      QmPdfHead *other = best_at (lines, first + i);

      if (other != NULL && other->score >= head->score)
        g_clear_pointer (&head, free_head);
      g_clear_pointer (&other, free_head);
    }
  return head;
}

GPtrArray *
qm_pdf_heads (const GPtrArray *lines)
{
  GPtrArray *heads = g_ptr_array_new_with_free_func (free_head);
  guint best = 0;

  for (guint i = 0; i < lines->len && heads->len < QM_PDF_MOST_HEADS; i++)
    {
      QmPdfHead *head = find_at (lines, i);

      if (head == NULL)
        continue;
      head = complete (head, lines, heads);
      if (head->score > best)
        g_ptr_array_set_size (heads, 0);
      best = MAX (best, head->score);
      if (head->score + 1 < best)
        {
          free_head (head);
          continue;
        }
      i = head->first + head->n - 1;
      g_ptr_array_add (heads, head);
    }
  return heads;
}
