/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-pdf-table.h"
#include "pricing/qm-amount.h"

#include <math.h>
#include <string.h>

/* An amount is of no more words: "- 1 234,50 EUR". */
#define MOST_WORDS 5
/* What is written smaller than so much of the head is no part of its table. */
#define SMALL 0.75
/* What stands at the foot of a page is written smaller than so much of it, or
 * is so many heights away. */
#define MUCH_SMALLER 0.93
#define FAR          3.0
/* So many lines above are compared with it. */
#define MOST_LOOKED 100
/* A row counts as so many labels. */
#define WEIGHT 16
/* Two heads stand at the same places, in points. */
#define SAME_PLACE 1.5

typedef struct
{
  QmPdfBox box;
  gboolean plain; /* nothing but digits */
} Amount;

typedef struct
{
  double at;
  int step;
} Event;

/* Whether a place is below or beside the name of a column of amounts; strictly,
 * below it. */
static gboolean
is_below_amounts (const QmPdfHead *head,
                  double left,
                  double right,
                  gboolean strictly)
{
  double x = (left + right) / 2;

  for (guint i = 0; i < head->n_names; i++)
    if (qm_pdf_has_amounts (head->fields[i])
        && (i == 0 || x > head->boxes[i - 1].right)
        && (i + 1 == head->n_names || x < head->boxes[i + 1].left)
        && (!strictly
            || (right > head->boxes[i].left && left < head->boxes[i].right)))
      return TRUE;
  return FALSE;
}

static gboolean
says_amount (const char *text)
{
  char currency[4];
  gint64 micros;

  return qm_amount_parse (text, QM_DECIMAL_GUESS, &micros, currency)
         || qm_csv_cell_is_included (text) || qm_csv_cell_is_on_request (text);
}

/* Whether a run is an amount in such a column, or ends with one below its
 * name. */
static gboolean
ends_with_amount (const QmPdfHead *head,
                  const QmPdfLine *line,
                  const QmPdfRun *run,
                  Amount *amount)
{
  guint end = run->first + run->n;

  for (guint n = MIN (run->n, MOST_WORDS); n > 0; n--)
    {
      g_autofree char *text = qm_pdf_line_text (line, end - n, end);
      double left = g_array_index (line->words, QmPdfWord, end - n).box.left;

      if (is_below_amounts (head, left, run->box.right, n < run->n)
          && says_amount (text))
        {
          amount->box = run->box;
          amount->box.left = left;
          amount->plain = text[strspn (text, "0123456789")] == '\0';
          return TRUE;
        }
    }
  return FALSE;
}

/* Whether something stands half a line above or below. */
static gboolean
has_neighbour (const GPtrArray *lines, guint i)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i);
  double middle = (line->box.top + line->box.bottom) / 2;
  double least = 0.2 * qm_pdf_line_height (line);

  if (i > 0 && qm_pdf_line_at (lines, i - 1)->page == line->page
      && qm_pdf_line_at (lines, i - 1)->box.bottom > middle - least)
    return TRUE;
  return i + 1 < lines->len && qm_pdf_line_at (lines, i + 1)->page == line->page
         && qm_pdf_line_at (lines, i + 1)->box.top < middle + least;
}

/* Whether a line has such an amount, and where the last one stands. */
static gboolean
find_amount (const QmPdfHead *head,
             const GPtrArray *lines,
             guint i,
             Amount *amount)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i);
  g_autoptr (GArray) runs = NULL;

  if (qm_pdf_line_height (line) < SMALL * head->height
      || (line->words->len < 2 && !has_neighbour (lines, i)))
    return FALSE;
  runs = qm_pdf_line_runs (line, line->space);
  for (guint j = runs->len; j > 0; j--)
    if (ends_with_amount (head, line, &g_array_index (runs, QmPdfRun, j - 1),
                          amount))
      return TRUE;
  return FALSE;
}

gboolean
qm_pdf_has_amount (const QmPdfHead *head, const GPtrArray *lines, guint i)
{
  Amount amount;

  return find_amount (head, lines, i, &amount);
}

static gboolean
is_below (const QmPdfBox *a, const QmPdfBox *b)
{
  return fabs (a->right - b->right) < SAME_PLACE
         || fabs (a->left - b->left) < SAME_PLACE
         || fabs (a->left + a->right - b->left - b->right) < SAME_PLACE;
}

/* Whether there is as much room as that above the lines that a line is one of,
 * which are as close as those of a text. */
static gboolean
is_set_off (const GPtrArray *lines, guint i, double room)
{
  for (; i > 0
         && qm_pdf_line_at (lines, i - 1)->page
                == qm_pdf_line_at (lines, i)->page;
       i--)
    {
      double gap = qm_pdf_line_at (lines, i)->box.top
                   - qm_pdf_line_at (lines, i - 1)->box.bottom;

      if (gap > room)
        return TRUE;
      if (gap > qm_pdf_line_height (qm_pdf_line_at (lines, i)))
        return FALSE;
    }
  return FALSE;
}

/* Whether a line stands at the same place of another page, word for word. */
static gboolean
is_repeated (const GPtrArray *lines, guint i)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i);
  g_autofree char *text = qm_pdf_line_text (line, 0, line->words->len);

  for (guint j = 0; j < lines->len; j++)
    {
      const QmPdfLine *other = qm_pdf_line_at (lines, j);
      g_autofree char *same = NULL;

      if (other->page == line->page
          || fabs (other->box.top - line->box.top) > SAME_PLACE)
        continue;
      same = qm_pdf_line_text (other, 0, other->words->len);
      if (strcmp (text, same) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Whether a line at the end of a page is what vendors print at its foot, though
 * there is a number in it below the amounts: it is far from them or of smaller
 * letters, and none of them begins or ends where that number does and is
 * written so. */
static gboolean
is_foot (const QmPdfHead *head, const GPtrArray *lines, guint first, guint i)
{
  const QmPdfLine *line = qm_pdf_line_at (lines, i);
  double height = qm_pdf_line_height (line);
  gboolean apart = height <= MUCH_SMALLER * head->height;
  gboolean alone = TRUE;
  double widest = 0;
  Amount amount, other;

  if (!find_amount (head, lines, i, &amount))
    return FALSE;
  if (is_set_off (lines, i, FAR * height) && is_repeated (lines, i))
    return TRUE;
  for (guint j = i; j > first && i - j < MOST_LOOKED; j--)
    {
      const QmPdfLine *above = qm_pdf_line_at (lines, j - 1);

      widest =
          MAX (widest, qm_pdf_line_at (lines, j)->box.top - above->box.bottom);
      if (!find_amount (head, lines, j - 1, &other))
        continue;
      apart = apart || (alone && widest > FAR * height);
      alone = FALSE;
      if (qm_pdf_line_height (above) > height - 0.1
          && amount.plain <= other.plain && is_below (&amount.box, &other.box))
        return FALSE;
    }
  return alone ? widest > 2 * FAR * height : apart;
}

guint
qm_pdf_body_end (const QmPdfHead *head,
                 const GPtrArray *lines,
                 guint first,
                 guint end)
{
  while (end > first
         && (!qm_pdf_has_amount (head, lines, end - 1)
             || is_foot (head, lines, first, end - 1)))
    end--;
  return end;
}

static gboolean
has_same_columns (const QmPdfHead *a, const QmPdfHead *b)
{
  if (a->n_names != b->n_names)
    return FALSE;
  for (guint i = 0; i < a->n_names; i++)
    if (fabs (a->boxes[i].left - b->boxes[i].left) > SAME_PLACE
        || fabs (a->boxes[i].right - b->boxes[i].right) > SAME_PLACE)
      return FALSE;
  return TRUE;
}

static void
cover (
    GArray *events, const QmPdfBox *box, double first, double last, int weight)
{
  Event begin = { MAX (box->left, first), weight };
  Event end = { MIN (box->right, last), -weight };

  if (begin.at >= end.at)
    return;
  g_array_append_val (events, begin);
  g_array_append_val (events, end);
}

/* Notes what of a place the lines of a body cover; spaces between words are
 * covered.  Rows of the table count more than headings and labels of totals,
 * which may reach over the ends of columns. */
static void
cover_body (GArray *events,
            const QmPdfBody *body,
            const GPtrArray *lines,
            double first,
            double last)
{
  for (guint i = body->first; i < body->end; i++)
    {
      g_autoptr (GArray) runs =
          qm_pdf_line_runs (qm_pdf_line_at (lines, i),
                            qm_pdf_line_at (lines, i)->space);
      int weight = runs->len >= MIN (3, body->head->n_names) ? WEIGHT : 1;

      for (guint j = 0; j < runs->len; j++)
        cover (events, &g_array_index (runs, QmPdfRun, j).box, first, last,
               weight);
    }
}

static int
compare_events (gconstpointer a, gconstpointer b)
{
  const Event *first = a, *second = b;

  if (first->at != second->at)
    return first->at < second->at ? -1 : 1;
  return first->step - second->step;
}

/* The middle of the widest stretch that fewest lines cover. */
static double
find_edge (GArray *events, double first, double last)
{
  double from = first, width = -1, edge = (first + last) / 2;
  int covered = 0, least = G_MAXINT;

  g_array_sort (events, compare_events);
  for (guint i = 0; i <= events->len; i++)
    {
      const Event *event =
          i < events->len ? &g_array_index (events, Event, i) : NULL;
      double to = event != NULL ? event->at : last;

      if (to > from
          && (covered < least || (covered == least && to - from > width)))
        {
          least = covered;
          width = to - from;
          edge = (from + to) / 2;
        }
      if (event != NULL)
        covered += event->step;
      from = to;
    }
  return edge;
}

static void
find_edges (QmPdfBody *body, const GArray *bodies, const GPtrArray *lines)
{
  const QmPdfHead *head = body->head;

  for (guint i = 0; i + 1 < head->n_names; i++)
    {
      g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (Event));
      double first = head->boxes[i].right, last = head->boxes[i + 1].left;

      for (guint j = 0; j < bodies->len; j++)
        {
          const QmPdfBody *other = &g_array_index (bodies, QmPdfBody, j);

          if (has_same_columns (head, other->head))
            cover_body (events, other, lines, first, last);
        }
      body->edges[i] = find_edge (events, first, last);
    }
  body->edges[head->n_names - 1] = G_MAXDOUBLE;
}

void
qm_pdf_edges (GArray *bodies, const GPtrArray *lines)
{
  for (guint i = 0; i < bodies->len; i++)
    {
      QmPdfBody *body = &g_array_index (bodies, QmPdfBody, i);
      guint j = 0;

      while (j < i
             && !has_same_columns (body->head,
                                   g_array_index (bodies, QmPdfBody, j).head))
        j++;
      if (j == i)
        find_edges (body, bodies, lines);
      else
        memcpy (body->edges, g_array_index (bodies, QmPdfBody, j).edges,
                sizeof body->edges);
    }
}
