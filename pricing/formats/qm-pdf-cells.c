/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-pdf-table.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Above the table no more rows are put: a reader looks for its head in the
 * first rows.  Those that are further up come last. */
#define MOST_ABOVE 40
/* What is on several pages stands at the same place, in points. */
#define SAME_PLACE 3.0
/* Lines of a cell begin or end at the same place, in points. */
#define SAME_EDGE 1.5

typedef struct
{
  GPtrArray *lines; /* of QmPdfLine */
  GPtrArray *heads; /* of QmPdfHead */
  GArray *bodies;   /* of QmPdfBody, in order */
  GHashTable *seen; /* of lines outside of the table: on which page */
  const QmPdfHead *main;
  QmCells *cells;
  guint row;
  GError **error;
} Table;

/* "Page 2 of 3", "- 2 -": nothing but which page it is. */
static gboolean
is_page_number (const QmPdfLine *line)
{
  static const char words[] = QM_WORDS_PAGE_NUMBER;
  static GHashTable *set;
  GHashTable *table = qm_csv_phrases_once (&set, words);
  gboolean named = FALSE;
  guint digits = 0;

  for (guint i = 0; i < line->words->len; i++)
    {
      const char *word = g_array_index (line->words, QmPdfWord, i).text;
      g_autofree char *normal = qm_csv_normalize (word);

      if (word[strspn (word, "0123456789/-.")] == '\0')
        {
          for (const char *p = word; *p != '\0'; p++)
            digits += g_ascii_isdigit (*p) ? 1 : 0;
          continue;
        }
      if (!g_hash_table_contains (table, normal))
        return FALSE;
      named = TRUE;
    }
  return line->words->len <= 6 && digits > 0 && digits <= (named ? 8 : 4);
}

/* What a line is known by on other pages: its text without numbers, and its
 * place. */
static char *
mark_of (const QmPdfLine *line)
{
  g_autofree char *text = qm_pdf_line_text (line, 0, line->words->len);

  for (char *p = text; *p != '\0'; p++)
    if (g_ascii_isdigit (*p))
      *p = '#';
  return g_strdup_printf ("%d %s", (int) lrint (line->box.top / SAME_PLACE),
                          text);
}

/* Leaves page numbers out. */
static void
drop_page_numbers (GPtrArray *lines, const GPtrArray *pages)
{
  guint n = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      QmPdfLine *line = g_ptr_array_index (lines, i);
      const QmPdfPage *page = g_ptr_array_index (pages, line->page);
      gboolean edge = line->box.top < 0.1 * page->height
                      || line->box.bottom > 0.9 * page->height;
      gboolean drop = edge && is_page_number (line);

      g_ptr_array_index (lines, i) = NULL;
      if (drop)
        qm_pdf_line_free (line);
      else
        g_ptr_array_index (lines, n++) = line;
    }
  g_ptr_array_set_size (lines, (int) n);
}

/* Whether a line outside of the table stands at the same place of an earlier
 * page. */
static gboolean
is_repeated (Table *table, const QmPdfLine *line)
{
  g_autofree char *mark = mark_of (line);
  gpointer before;

  if (g_hash_table_lookup_extended (table->seen, mark, NULL, &before))
    return GPOINTER_TO_UINT (before) != line->page;
  g_hash_table_insert (table->seen, g_steal_pointer (&mark),
                       GUINT_TO_POINTER (line->page));
  return FALSE;
}

static gboolean
add_cell (Table *table, guint column, const char *text)
{
  return text == NULL || *text == '\0'
         || qm_cells_add_text (table->cells, table->row, column, text,
                               table->error);
}

/* A line outside of the table: its parts beside each other from a column on. */
static gboolean
add_loose (Table *table, const QmPdfLine *line, guint column)
{
  g_autoptr (GArray) runs = NULL;

  if (is_repeated (table, line))
    return TRUE;
  runs = qm_pdf_line_runs (line, line->gap);
  for (guint i = 0; i < runs->len && column + i < QM_PDF_MOST_COLUMNS * 4; i++)
    if (!add_cell (table, column + i, g_array_index (runs, QmPdfRun, i).text))
      return FALSE;
  table->row++;
  return TRUE;
}

/* The main head's column that a column of another one continues; behind the
 * last where there is none. */
static guint
column_in_main (const Table *table, const QmPdfHead *head, guint column)
{
  const QmPdfHead *main = table->main;

  for (guint i = 0; i < main->n_names; i++)
    if (strcmp (main->names[i], head->names[column]) == 0)
      return i;
  for (guint i = 0; i < main->n_names; i++)
    if (head->fields[column] != QM_CSV_IGNORED
        && main->fields[i] == head->fields[column])
      return i;
  return main->n_names + column;
}

/* Puts cells of a head's columns into a row; two never come together in one,
 * as fields of a head may, but for names. */
static gboolean
put_cells (Table *table, const QmPdfHead *head, char *const *cells)
{
  char *row[2 * QM_PDF_MOST_COLUMNS] = { NULL };
  gboolean good = TRUE;

  for (guint i = 0; i < head->n_names; i++)
    {
      guint column = column_in_main (table, head, i);

      if (row[column] == NULL)
        row[column] = cells[i];
      else if (cells[i] != NULL)
        row[table->main->n_names + i] = cells[i];
    }
  for (guint i = 0; good && i < G_N_ELEMENTS (row); i++)
    good = add_cell (table, i, row[i]);
  table->row++;
  return good;
}

/* "Carried forward": what the rows so far come to, at the end of a page and at
 * the beginning of the next. */
static gboolean
is_carried (char *const *cells, guint n)
{
  static const char words[] = QM_WORDS_CARRIED;
  static GHashTable *set;
  GHashTable *table = qm_csv_phrases_once (&set, words);

  for (guint i = 0; i < n; i++)
    if (cells[i] != NULL)
      {
        g_autofree char *normal = qm_csv_normalize (cells[i]);
        gsize length = strlen (normal);

        while (length > 0 && strchr ("0123456789 ", normal[length - 1]) != NULL)
          normal[--length] = '\0';
        if (g_hash_table_contains (table, normal))
          return TRUE;
      }
  return FALSE;
}

static void
clear_cells (char *cells[QM_PDF_MOST_COLUMNS])
{
  for (guint i = 0; i < QM_PDF_MOST_COLUMNS; i++)
    g_clear_pointer (&cells[i], g_free);
}

/* Whether a text goes on where another left off: "(optional)", "memory
 * (optional)", but not "optional: memory". */
static gboolean
goes_on (const char *text)
{
  g_autofree char *word = g_strndup (text, strcspn (text, " "));

  return *text == '('
         || (g_unichar_islower (g_utf8_get_char (text))
             && qm_csv_words_offer (word) <= QM_CSV_OFFERED_PERHAPS);
}

/* Whether a row is the rest of the one above, which had more to say than fits
 * a line: it has but words below the description, with no more room above than
 * lines of one cell have. */
static gboolean
is_rest (const Table *table,
         const QmPdfBody *body,
         guint line,
         char *const *cells,
         char *const *above)
{
  const QmPdfLine *second = qm_pdf_line_at (table->lines, line);
  guint description = QM_PDF_MOST_COLUMNS;
  g_autofree char *alternative = NULL;
  double gap;

  for (guint i = 0; i < body->head->n_names; i++)
    {
      if (body->head->fields[i] == QM_CSV_DESCRIPTION && cells[i] != NULL)
        description = i;
      else if (cells[i] != NULL)
        return FALSE;
    }
  if (line == body->first || description == QM_PDF_MOST_COLUMNS
      || above[description] == NULL
      || g_str_has_suffix (cells[description], ":"))
    return FALSE;
  gap = second->box.top - qm_pdf_line_at (table->lines, line - 1)->box.bottom;
  alternative = qm_csv_alternative_parse (cells[description], NULL);
  return gap < 0.3 * qm_pdf_line_height (second) && alternative == NULL
         && qm_csv_row_kind_of (cells[description]) == QM_CSV_ROW_LINE
         && (goes_on (cells[description])
             || qm_csv_words_offer (cells[description])
                    == QM_CSV_OFFERED_PLAINLY);
}

/* Whether a row has an amount, so that another may be the rest of it. */
static gboolean
is_item (const Table *table, const QmPdfBody *body, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (qm_pdf_has_amount (body->head, table->lines, i))
      return TRUE;
  return FALSE;
}

static void
join_rest (const QmPdfBody *body, char **above, char **cells)
{
  for (guint i = 0; i < body->head->n_names; i++)
    if (cells[i] != NULL)
      {
        char *both = g_strjoin (" ", above[i], cells[i], NULL);

        g_free (above[i]);
        above[i] = both;
      }
}

static gboolean
add_kept (Table *table, const QmPdfBody *body, char *cells[QM_PDF_MOST_COLUMNS])
{
  gboolean good = is_carried (cells, body->head->n_names)
                  || put_cells (table, body->head, cells);

  clear_cells (cells);
  return good;
}

static gboolean
add_body (Table *table, const QmPdfBody *body)
{
  g_autoptr (GArray) rows = qm_pdf_rows (body, table->lines);
  char *kept[QM_PDF_MOST_COLUMNS] = { NULL };
  char *cells[QM_PDF_MOST_COLUMNS] = { NULL };
  gboolean has_kept = FALSE, is_of_item = FALSE, good = TRUE;

  for (guint i = 0; good && i + 1 < rows->len; i++)
    {
      guint first = g_array_index (rows, guint, i);
      guint end = g_array_index (rows, guint, i + 1);

      qm_pdf_row_cells (body, table->lines, first, end, cells);
      if (has_kept && is_of_item && is_rest (table, body, first, cells, kept))
        {
          join_rest (body, kept, cells);
          clear_cells (cells);
          continue;
        }
      good = !has_kept || add_kept (table, body, kept);
      memcpy (kept, cells, sizeof kept);
      memset (cells, 0, sizeof cells);
      has_kept = TRUE;
      is_of_item = is_item (table, body, first, end);
    }
  if (good && has_kept)
    good = add_kept (table, body, kept);
  clear_cells (kept);
  return good;
}

/* Whether a line stands below a cell of one of those above: it begins or ends
 * where that does. */
static gboolean
is_below_cell (const Table *table,
               const QmPdfLine *line,
               guint first,
               guint end)
{
  for (guint i = first; i < end; i++)
    {
      const QmPdfLine *above = qm_pdf_line_at (table->lines, i);
      g_autoptr (GArray) runs = qm_pdf_line_runs (above, above->space);

      for (guint j = 0; j < runs->len; j++)
        {
          const QmPdfBox *box = &g_array_index (runs, QmPdfRun, j).box;

          if (fabs (box->left - line->box.left) < SAME_EDGE
              || fabs (box->right - line->box.right) < SAME_EDGE)
            return TRUE;
        }
    }
  return FALSE;
}

/* Whether a line begins with the name of a total. */
static gboolean
is_total (const QmPdfLine *line)
{
  g_autoptr (GArray) runs = qm_pdf_line_runs (line, line->space);

  return qm_csv_row_kind_of (g_array_index (runs, QmPdfRun, 0).text)
         != QM_CSV_ROW_LINE;
}

/* Which lines behind a body still are of its last row: those that are as close
 * as lines of a cell.  Between a total and the next head there is a heading,
 * however close. */
static guint
end_of_last_row (const Table *table,
                 const QmPdfBody *body,
                 guint most,
                 gboolean before_head)
{
  guint end = body->end;

  for (; end < most; end++)
    {
      const QmPdfLine *above = qm_pdf_line_at (table->lines, end - 1);
      const QmPdfLine *line = qm_pdf_line_at (table->lines, end);
      g_autofree char *text = qm_pdf_line_text (line, 0, line->words->len);
      double gap = line->box.top - above->box.bottom;
      double height = qm_pdf_line_height (line);
      guint first = MAX (body->first, end > 3 ? end - 3 : 0);

      if (gap > 0.2 * height || height < 0.9 * qm_pdf_line_height (above)
          || (before_head && end + 1 == most && is_total (above)
              && !goes_on (text))
          || !is_below_cell (table, line, first, end))
        break;
      /* Where rows are as close as that, words tell. */
      if ((body->common == G_MAXDOUBLE || body->common < gap + 2)
          && !goes_on (text)
          && qm_csv_words_offer (text) > QM_CSV_OFFERED_PERHAPS)
        break;
    }
  return end;
}

/* The first line of a page's first row, where the head is on an earlier page:
 * what stands above is none of the table. */
static guint
first_row (const Table *table, const QmPdfHead *head, guint first, guint end)
{
  guint i = first;

  while (i < end && !qm_pdf_has_amount (head, table->lines, i))
    i++;
  while (i > first && i < end
         && qm_pdf_line_at (table->lines, i)->box.top
                    - qm_pdf_line_at (table->lines, i - 1)->box.bottom
                < 0.2 * qm_pdf_line_height (qm_pdf_line_at (table->lines, i)))
    i--;
  return i;
}

/* The bodies below a head, up to the next one: one on each page.  With names of
 * totals of which the amounts come first below the next head ends a page. */
static void
find_bodies (Table *table, const QmPdfHead *head, const QmPdfHead *next)
{
  guint end = next != NULL ? next->first : table->lines->len;
  guint first = head->first + head->n;
  guint page = qm_pdf_line_at (table->lines, head->first)->page;

  while (first < end)
    {
      guint last = first;
      QmPdfBody body = { .head = head, .first = first };

      while (last < end
             && qm_pdf_line_at (table->lines, last)->page
                    == qm_pdf_line_at (table->lines, first)->page)
        last++;
      if (qm_pdf_line_at (table->lines, first)->page != page)
        body.first = first_row (table, head, first, last);
      body.end = qm_pdf_body_end (head, table->lines, body.first, last);
      if (next != NULL && body.end < last
          && qm_pdf_is_total_table (table->lines, body.end,
                                    next->first + next->n))
        body.end++;
      if (body.end > body.first)
        g_array_append_val (table->bodies, body);
      first = last;
    }
}

/* Takes in what still is of the last rows.  Where a page has too few rows to
 * tell how far they are from each other, other pages do. */
static void
complete_bodies (Table *table)
{
  double common = G_MAXDOUBLE;

  for (guint i = 0; i < table->bodies->len; i++)
    {
      QmPdfBody *body = &g_array_index (table->bodies, QmPdfBody, i);

      body->common = qm_pdf_common_gap (body, table->lines);
      common = MIN (common, body->common);
    }
  for (guint i = 0; i < table->bodies->len; i++)
    {
      QmPdfBody *body = &g_array_index (table->bodies, QmPdfBody, i);
      const QmPdfLine *last = qm_pdf_line_at (table->lines, body->end - 1);
      guint most = body->end;
      gboolean before_head = FALSE;

      while (most < table->lines->len
             && qm_pdf_line_at (table->lines, most)->page == last->page)
        most++;
      for (guint j = 0; j < table->heads->len; j++)
        {
          const QmPdfHead *head = g_ptr_array_index (table->heads, j);

          if (head->first >= body->end && head->first <= most)
            {
              before_head = qm_pdf_line_at (table->lines, head->first)->page
                            == last->page;
              most = head->first;
            }
        }
      if (body->common == G_MAXDOUBLE)
        body->common = common;
      body->end = end_of_last_row (table, body, most, before_head);
    }
}

/* Whether a text is the name of something that holds for a whole quote. */
static gboolean
is_name_of_quote (const char *text)
{
  int tax;

  switch (qm_csv_field_of (text, &tax))
    {
    case QM_CSV_VENDOR:
    case QM_CSV_QUOTE:
    case QM_CSV_SUPERSEDES:
    case QM_CSV_ISSUED:
    case QM_CSV_VALID_FROM:
    case QM_CSV_VALID_UNTIL:
    case QM_CSV_CURRENCY:
      return TRUE;
    default:
      return FALSE;
    }
}

/* The only run that stands below a name; NULL: there is none, or the name that
 * is there has a name below. */
static const QmPdfRun *
value_below (const QmPdfRun *name, const GArray *values)
{
  const QmPdfRun *found = NULL;

  for (guint i = 0; i < values->len; i++)
    {
      const QmPdfRun *value = &g_array_index (values, QmPdfRun, i);

      if (MIN (name->box.right, value->box.right)
          <= MAX (name->box.left, value->box.left))
        continue;
      if (found != NULL || is_name_of_quote (value->text))
        return NULL;
      found = value;
    }
  return found;
}

/* "Number    Date    Valid until" and their values below: each name and its
 * value beside each other.  FALSE without an error: it is not that. */
static gboolean
add_names (Table *table,
           const QmPdfLine *line,
           const QmPdfLine *below,
           guint column)
{
  g_autoptr (GArray) names = qm_pdf_line_runs (line, line->gap);
  g_autoptr (GArray) values = qm_pdf_line_runs (below, below->gap);

  if (line->page != below->page || names->len < 2 || values->len != names->len
      || names->len > QM_PDF_MOST_COLUMNS
      || below->box.top - line->box.bottom > 1.5 * qm_pdf_line_height (line))
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      const QmPdfRun *name = &g_array_index (names, QmPdfRun, i);

      if (!is_name_of_quote (name->text) || value_below (name, values) == NULL)
        return FALSE;
    }
  for (guint i = 0; i < names->len; i++)
    {
      const QmPdfRun *name = &g_array_index (names, QmPdfRun, i);

      if (!add_cell (table, column + 2 * i, name->text)
          || !add_cell (table, column + 2 * i + 1,
                        value_below (name, values)->text))
        return FALSE;
    }
  table->row++;
  return TRUE;
}

static gboolean
add_lines (Table *table, guint first, guint end, guint column)
{
  for (guint i = first; i < end; i++)
    {
      const QmPdfLine *line = qm_pdf_line_at (table->lines, i);

      if (i + 1 < end
          && add_names (table, line, qm_pdf_line_at (table->lines, i + 1),
                        column))
        i++;
      else if (*table->error != NULL || !add_loose (table, line, column))
        return FALSE;
    }
  return TRUE;
}

/* From a head to before the next one. */
static gboolean
add_section (Table *table, guint number, GCancellable *cancellable)
{
  const QmPdfHead *head = g_ptr_array_index (table->heads, number);
  guint at = head->first + head->n;
  guint end =
      number + 1 < table->heads->len
          ? ((QmPdfHead *) g_ptr_array_index (table->heads, number + 1))->first
          : table->lines->len;

  if (!put_cells (table, head, (char *const *) head->names))
    return FALSE;
  for (guint i = 0; i < table->bodies->len; i++)
    {
      const QmPdfBody *body = &g_array_index (table->bodies, QmPdfBody, i);

      if (g_cancellable_set_error_if_cancelled (cancellable, table->error))
        return FALSE;
      if (body->head != head)
        continue;
      if (!add_lines (table, at, body->first, table->main->n_names)
          || !add_body (table, body))
        return FALSE;
      at = body->end;
    }
  return add_lines (table, at, end, table->main->n_names);
}

static gboolean
add_table (Table *table, GCancellable *cancellable)
{
  guint above, first;

  if (table->heads->len == 0)
    return add_lines (table, 0, table->lines->len, 0);
  table->main = g_ptr_array_index (table->heads, 0);
  for (guint i = 0; i < table->heads->len; i++)
    {
      guint next = i + 1;

      find_bodies (table, g_ptr_array_index (table->heads, i),
                   next < table->heads->len
                       ? g_ptr_array_index (table->heads, next)
                       : NULL);
    }
  complete_bodies (table);
  qm_pdf_edges (table->bodies, table->lines);
  above = table->main->first;
  first = above > MOST_ABOVE ? above - MOST_ABOVE : 0;
  if (!add_lines (table, first, above, 0))
    return FALSE;
  for (guint i = 0; i < table->heads->len; i++)
    if (!add_section (table, i, cancellable))
      return FALSE;
  return add_lines (table, 0, first, table->main->n_names);
}

QmCells *
qm_pdf_cells (const GPtrArray *pages, GCancellable *cancellable, GError **error)
{
  g_autoptr (QmCells) cells = qm_cells_new ("");
  g_autoptr (GPtrArray) lines = qm_pdf_lines (pages);
  g_autoptr (GPtrArray) heads = NULL;
  g_autoptr (GArray) bodies = g_array_new (FALSE, FALSE, sizeof (QmPdfBody));
  g_autoptr (GError) problem = NULL;
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Table table = { .lines = lines,
                  .bodies = bodies,
                  .seen = seen,
                  .cells = cells,
                  .error = &problem };

  if (lines->len == 0)
    {
      g_set_error_literal (
          error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
          _ ("This PDF has no text, only pictures, as one that was scanned. "
             "Ask the vendor for one with text or for a spreadsheet, or type "
             "the quote in."));
      return NULL;
    }
  drop_page_numbers (lines, pages);
  heads = qm_pdf_heads (lines);
  table.heads = heads;
  if (!add_table (&table, cancellable))
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
  return g_steal_pointer (&cells);
}
