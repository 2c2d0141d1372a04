/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-html-table.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-words.h"
#include "pricing/qm-amount.h"
#include "pricing/quotes/qm-quote.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* Above the table no more rows are put: a reader looks for its head in the
 * first rows.  Those that are further up come last. */
#define MOST_ABOVE 40
/* Rows that are multiplied to see which column has the quantity. */
#define MOST_TRIED 200

/* The columns that a row names. */
typedef struct
{
  guint n; /* of the row */
  int description;
  int amount; /* total, or else price */
} Head;

static const char *
cell_of (const QmHtmlRow *row, guint column)
{
  return column < row->cells->len ? g_ptr_array_index (row->cells, column)
                                  : NULL;
}

static gboolean
amount_of (const char *text, gint64 *micros)
{
  char currency[4];

  return text != NULL
         && qm_amount_parse (text, QM_DECIMAL_GUESS, micros, currency);
}

guint
qm_html_names (const GPtrArray *cells, gboolean *counts)
{
  guint32 seen = 0;
  guint n = 0;
  gint64 micros;
  int tax;

  for (guint i = 0; i < cells->len; i++)
    {
      const char *text = g_ptr_array_index (cells, i);
      QmCsvField field;

      if (text == NULL)
        continue;
      /* Names stand above amounts, and not beside them. */
      if (amount_of (text, &micros))
        return 0;
      field = qm_csv_field_of (text, &tax);
      if (field == QM_CSV_IGNORED || (seen & (1u << field)) != 0)
        continue;
      seen |= 1u << field;
      n++;
    }
  if (counts != NULL)
    *counts = (seen & (1u << QM_CSV_QUANTITY)) != 0;
  return qm_csv_fields_suffice (seen) ? n : 0;
}

/* A name of two rows, "Price (EUR)" above "Total": what the lower one means, if
 * it means something, with as much of the upper one as leaves it that. */
static char *
join_names (const char *above, const char *below)
{
  const char *bracket = above != NULL ? strchr (above, '(') : NULL;
  char *tries[3];
  QmCsvField field;
  char *found = NULL;
  int tax;

  if (above == NULL || below == NULL || strcmp (above, below) == 0)
    return g_strdup (below != NULL ? below : above);
  field = qm_csv_field_of (below, &tax);
  tries[0] = g_strjoin (" ", below, above, NULL);
  tries[1] = g_strjoin (" ", above, below, NULL);
  tries[2] = g_strjoin (" ", below, bracket, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      QmCsvField is = qm_csv_field_of (tries[i], &tax);

      if (found == NULL && is != QM_CSV_IGNORED
          && (is == field || field == QM_CSV_IGNORED))
        found = tries[i];
      else
        g_free (tries[i]);
    }
  if (found == NULL && field == QM_CSV_IGNORED
      && qm_csv_field_of (above, &tax) != QM_CSV_IGNORED)
    found = g_strdup (above);
  return found != NULL ? found : g_strdup (below);
}

static const char *
above_of (const QmHtmlRow *row, guint column)
{
  return row->above != NULL && column < row->above->len
             ? g_ptr_array_index (row->above, column)
             : NULL;
}

/* Whether all that a row has stands below what another says for several
 * columns, or below nothing. */
static gboolean
is_below_spans (const QmHtmlRow *first, const QmHtmlRow *second)
{
  guint filled = 0, below = 0;
  gint64 micros;

  for (guint i = 0; i < MAX (first->cells->len, second->cells->len); i++)
    {
      const char *above = cell_of (first, i);
      const char *text = cell_of (second, i);

      if (amount_of (above, &micros) || amount_of (text, &micros))
        return FALSE;
      filled += above != NULL;
      if (text == NULL)
        continue;
      below++;
      if (above != NULL
          && (cell_of (first, i + 1) != NULL
              || g_strcmp0 (above_of (first, i + 1), above) != 0))
        return FALSE;
    }
  return filled > 1 && below > 1;
}

/* The names that two rows have together. (transfer full) (nullable) */
static GPtrArray *
joined_names (const QmHtmlRow *first, const QmHtmlRow *second)
{
  GPtrArray *names = NULL;

  if (first->table == 0 || first->table != second->table || first->above == NULL
      || second->above == NULL || !is_below_spans (first, second))
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < MAX (first->above->len, second->above->len); i++)
    g_ptr_array_add (names,
                     join_names (above_of (first, i), above_of (second, i)));
  return names;
}

/* Heads of two rows, "Price" above "each" and "total", become one. */
static void
join_heads (GPtrArray *rows)
{
  for (guint i = 0; i + 1 < rows->len; i++)
    {
      QmHtmlRow *first = g_ptr_array_index (rows, i);
      QmHtmlRow *second = g_ptr_array_index (rows, i + 1);
      g_autoptr (GPtrArray) names = joined_names (first, second);

      if (names == NULL
          || qm_html_names (names, NULL)
                 <= MAX (qm_html_names (first->cells, NULL),
                         qm_html_names (second->cells, NULL)))
        continue;
      g_ptr_array_unref (first->cells);
      first->cells = g_steal_pointer (&names);
      g_clear_pointer (&first->above, g_ptr_array_unref);
      g_ptr_array_remove_index (rows, i + 1);
    }
}

/* Leaves earlier mails out where the one above has a table of its own. */
static void
drop_earlier (GPtrArray *rows, QmHtmlRead *read)
{
  gboolean own = FALSE;

  for (guint i = 0; i < rows->len; i++)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, i);

      own = own || (!row->quoted && qm_html_names (row->cells, NULL) > 0);
    }
  for (guint i = rows->len; own && i > 0; i--)
    if (((QmHtmlRow *) g_ptr_array_index (rows, i - 1))->quoted)
      {
        g_ptr_array_remove_index (rows, i - 1);
        read->earlier++;
      }
}

/* Whether a row says something of a mail: "From: Dana Reed", "Sent" beside a
 * day.
 */
static gboolean
is_of_mail (const QmHtmlRow *row)
{
  static const char words[] = QM_WORDS_MAIL_HEAD;
  static GHashTable *set;
  const char *text = cell_of (row, 0);
  g_autofree char *name = NULL;
  g_autofree char *normal = NULL;
  gsize n = text != NULL ? strcspn (text, ":") : 0;

  if (text == NULL || n > 20 || row->cells->len > 2
      || (text[n] == '\0' && row->cells->len < 2))
    return FALSE;
  name = g_strndup (text, n);
  normal = qm_csv_normalize (name);
  return g_hash_table_contains (qm_csv_phrases_once (&set, words), normal);
}

/* Leaves out who sent a mail and when: three such lines, or more, follow each
 * other.  The day of a mail is not that of a quote. */
static void
drop_mail_heads (GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      guint end = i;

      while (end < rows->len && is_of_mail (g_ptr_array_index (rows, end)))
        end++;
      if (end >= i + 3)
        g_ptr_array_remove_range (rows, i, end - i);
      else if (end > i)
        i = end - 1;
    }
}

/* Columns of a table without names, of which one is the product of two. */
typedef struct
{
  guint quantity, price, total, description;
} Product;

/* Whether a text is written as a number of pieces is. */
static gboolean
is_count (const char *text)
{
  gsize n = text != NULL ? strspn (text, "0123456789") : 0;

  return n > 0 && n <= 5 && text[n] == '\0' && *text != '0';
}

/* Whether in all rows with an amount in its column a total is a product, of
 * which one number is written as an amount somewhere, ...
 *
 * rows: of QmHtmlRow. */
static gboolean
is_product (const GPtrArray *rows, guint first, guint end, const Product *is)
{
  gboolean told = FALSE;
  guint n = 0;

  for (guint i = first; i < end; i++)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, i);
      gint64 quantity, price, total;

      if (!amount_of (cell_of (row, is->total), &total)
          || !amount_of (cell_of (row, is->price), &price))
        continue;
      if (!is_count (cell_of (row, is->quantity))
          || !amount_of (cell_of (row, is->quantity), &quantity) || price <= 0
          || price > G_MAXINT64 / 100000 / 2
          || quantity / QM_MICROS_PER_UNIT * price != total)
        return FALSE;
      told = told || !is_count (cell_of (row, is->price));
      /* 1 x 5 = 5 does not tell which is which. */
      n += quantity > QM_MICROS_PER_UNIT;
    }
  return n > 0 && told;
}

/* ... and which column has most words there. */
static gboolean
find_words (const GPtrArray *rows, guint first, guint end, Product *is)
{
  gsize most = 0;

  for (guint j = 0; j < QM_HTML_MOST_COLUMNS; j++)
    {
      gsize size = 0;
      gint64 micros;

      for (guint i = first; i < end; i++)
        {
          const char *text = cell_of (g_ptr_array_index (rows, i), j);

          if (text != NULL && !amount_of (text, &micros))
            size += strlen (text);
        }
      if (size > most)
        {
          most = size;
          is->description = j;
        }
    }
  return most > 0;
}

static gboolean
find_product (const GPtrArray *rows, guint first, guint end, Product *is)
{
  guint n = ((QmHtmlRow *) g_ptr_array_index (rows, first))->cells->len;

  n = MIN (n, 10);
  for (is->total = 2; is->total < n; is->total++)
    for (is->price = 0; is->price < is->total; is->price++)
      for (is->quantity = 0; is->quantity < is->total; is->quantity++)
        if (is->quantity != is->price && is_product (rows, first, end, is)
            && find_words (rows, first, end, is)
            && is->description != is->quantity && is->description != is->price
            && is->description != is->total)
          return TRUE;
  return FALSE;
}

static void
insert_names (GPtrArray *rows, guint at, const Product *is)
{
  QmHtmlRow *row = g_new0 (QmHtmlRow, 1);
  guint n = MAX (is->total, is->description) + 1;

  row->cells = g_ptr_array_new_with_free_func (g_free);
  row->table = ((QmHtmlRow *) g_ptr_array_index (rows, at))->table;
  g_ptr_array_set_size (row->cells, (int) n);
  g_ptr_array_index (row->cells, is->description) =
      g_strdup (qm_csv_field_name (QM_CSV_DESCRIPTION));
  g_ptr_array_index (row->cells, is->quantity) =
      g_strdup (qm_csv_field_name (QM_CSV_QUANTITY));
  g_ptr_array_index (row->cells, is->price) =
      g_strdup (qm_csv_field_name (QM_CSV_PRICE));
  g_ptr_array_index (row->cells, is->total) =
      g_strdup (qm_csv_field_name (QM_CSV_TOTAL));
  g_ptr_array_insert (rows, (int) at, row);
}

/* A table without names gets some where one column is what two others come to
 * multiplied, in every row.  Where it does not say so, nothing is guessed. */
static void
name_columns (GPtrArray *rows)
{
  for (guint first = 0; first < rows->len;)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, first);
      guint n = row->cells->len, end = first + 1;
      Product is = { 0 };

      while (end < rows->len && end - first < MOST_TRIED && n >= 4
             && ((QmHtmlRow *) g_ptr_array_index (rows, end))->cells->len == n)
        end++;
      if (row->table > 0 && n >= 4 && find_product (rows, first, end, &is))
        {
          insert_names (rows, first, &is);
          return;
        }
      first = end;
    }
}

/* The first row that names columns; as many as there are: none does.
 *
 * head: (out): the columns of the first of those that name most. */
static guint
find_head (const GPtrArray *rows, Head *head, QmHtmlRead *read)
{
  guint found = rows->len, best = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, i);
      gboolean counts;
      guint n = qm_html_names (row->cells, &counts);

      if (n == 0)
        continue;
      if (found == rows->len)
        found = i;
      if (n <= best)
        continue;
      best = n;
      read->named = TRUE;
      read->counts = counts;
      *head = (Head){ .n = row->cells->len, .description = -1, .amount = -1 };
      for (guint j = 0; j < row->cells->len; j++)
        {
          const char *text = g_ptr_array_index (row->cells, j);
          int tax;
          QmCsvField field =
              text != NULL ? qm_csv_field_of (text, &tax) : QM_CSV_IGNORED;

          if (field == QM_CSV_DESCRIPTION
              || (field == QM_CSV_PART_NUMBER && head->description < 0))
            head->description = (int) j;
          if (field == QM_CSV_TOTAL
              || (field == QM_CSV_PRICE && head->amount < 0))
            head->amount = (int) j;
        }
    }
  return found;
}

/* Where a row outside of the table goes below its head: a name and an amount as
 * those of the table, the name of an alternative where that begins, all else
 * behind the last column. */
static guint
column_below (const QmHtmlRow *row, const Head *head, gboolean *is_total)
{
  const char *first = NULL, *last = NULL;
  guint filled = 0;
  gint64 micros;
  g_autofree char *alternative = NULL;

  for (guint i = 0; i < row->cells->len; i++)
    {
      const char *text = g_ptr_array_index (row->cells, i);

      if (text == NULL)
        continue;
      first = first == NULL ? text : first;
      last = text;
      filled++;
    }
  *is_total = filled == 2 && head->description >= 0
              && head->amount > head->description && !amount_of (first, &micros)
              && amount_of (last, &micros);
  if (filled == 1)
    alternative = qm_csv_alternative_parse (first, NULL);
  if (*is_total || alternative != NULL)
    return (guint) MAX (head->description, 0);
  return head->n;
}

static gboolean
add_below (QmCells *cells,
           guint at,
           const QmHtmlRow *row,
           const Head *head,
           GError **error)
{
  gboolean is_total, good = TRUE;
  guint column = column_below (row, head, &is_total), n = 0;

  for (guint i = 0; good && i < row->cells->len; i++)
    {
      const char *text = g_ptr_array_index (row->cells, i);

      if (text == NULL)
        continue;
      if (is_total && n > 0)
        good = qm_cells_add_text (cells, at, (guint) head->amount, text, error);
      else
        good = qm_cells_add_text (cells, at, column + n, text, error);
      n++;
    }
  return good;
}

static gboolean
add_row (QmCells *cells, guint at, const QmHtmlRow *row, GError **error)
{
  for (guint i = 0; i < row->cells->len; i++)
    {
      const char *text = g_ptr_array_index (row->cells, i);

      if (text != NULL && !qm_cells_add_text (cells, at, i, text, error))
        return FALSE;
    }
  return TRUE;
}

/* Whether a row of another table than the head's goes on below it: it is no
 * wider and has an amount where that has some. */
static gboolean
goes_on (const QmHtmlRow *row, const Head *head)
{
  gint64 micros;

  return row->table > 0 && row->cells->len > 2 && row->cells->len <= head->n
         && head->amount >= 0
         && amount_of (cell_of (row, (guint) head->amount), &micros);
}

static gboolean
add_rows (QmCells *cells,
          const GPtrArray *rows,
          guint first,
          const Head *head,
          GError **error)
{
  guint from =
      first == rows->len || first <= MOST_ABOVE ? 0 : first - MOST_ABOVE;
  guint table = 0, at = 0;

  for (guint i = from; i < rows->len; i++, at++)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, i);

      if (i >= first && qm_html_names (row->cells, NULL) > 0)
        table = row->table;
      if (!(i < first || row->table == table || goes_on (row, head)
                ? add_row (cells, at, row, error)
                : add_below (cells, at, row, head, error)))
        return FALSE;
    }
  for (guint i = 0; i < from; i++, at++)
    if (!add_below (cells, at, g_ptr_array_index (rows, i), head, error))
      return FALSE;
  return TRUE;
}

/* Whether a row has three cells, words in one and an amount with its currency
 * in another. */
static gboolean
is_priced (const QmHtmlRow *row)
{
  guint filled = 0, words = 0, amounts = 0;

  for (guint i = 0; i < row->cells->len; i++)
    {
      const char *text = g_ptr_array_index (row->cells, i);
      char currency[4] = "";
      gint64 micros;

      if (text == NULL)
        continue;
      filled++;
      if (!qm_amount_parse (text, QM_DECIMAL_GUESS, &micros, currency))
        words++;
      else if (currency[0] != '\0')
        amounts++;
    }
  return filled >= 3 && words > 0 && amounts > 0;
}

static void
count_rows (const GPtrArray *rows, QmHtmlRead *read)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const QmHtmlRow *row = g_ptr_array_index (rows, i);

      if (row->table == 0 || row->cells->len < 2)
        continue;
      read->rows++;
      read->priced = read->priced || is_priced (row);
    }
}

QmCells *
qm_html_cells (GPtrArray *rows, QmHtmlRead *read, GError **error)
{
  g_autoptr (QmCells) cells = qm_cells_new ("");
  Head head = { 0 };
  guint first;

  drop_earlier (rows, read);
  drop_mail_heads (rows);
  join_heads (rows);
  first = find_head (rows, &head, read);
  if (first == rows->len)
    {
      name_columns (rows);
      first = find_head (rows, &head, read);
    }
  count_rows (rows, read);
  if (!add_rows (cells, rows, first, &head, error))
    return NULL;
  return g_steal_pointer (&cells);
}
