/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-compare.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

/* By what lines are found to be about the same thing, the surest first. */
typedef enum
{
  BY_PART_NUMBER,
  BY_ITEM,
  BY_WORDS,
  N_WAYS
} Way;

/* The rows of one key. */
typedef struct
{
  GPtrArray *rows; /* QmComparedLine, borrowed */
  guint taken;     /* of these the quote in hand has lines in, from the start */
  guint quote;     /* that `taken` is of */
} Shelf;

typedef struct
{
  GPtrArray *rows; /* QmComparedLine */
  GHashTable *shelves[N_WAYS];
  guint n_quotes;
} Aligner;

static void
row_free (gpointer data)
{
  QmComparedLine *row = data;

  g_free (row->lines);
  g_free (row);
}

static void
shelf_free (gpointer data)
{
  Shelf *shelf = data;

  g_ptr_array_unref (shelf->rows);
  g_free (shelf);
}

/* What a line is looked for by; NULL where it has no such thing. */
static char *
key_of (const QmQuoteLine *line, Way way)
{
  g_auto (GStrv) words = NULL;
  g_autofree char *joined = NULL;

  switch (way)
    {
    case BY_PART_NUMBER:
      joined = line->part_number != NULL
                   ? g_utf8_casefold (line->part_number, -1)
                   : NULL;
      break;
    case BY_ITEM:
      joined = line->item != NULL
                   ? g_strdup_printf ("%d %s", MAX (line->gpus, 1), line->item)
                   : NULL;
      break;
    case BY_WORDS:
    default:
      if (line->description == NULL)
        return NULL;
      words = g_str_tokenize_and_fold (line->description, NULL, NULL);
      joined = g_strjoinv (" ", words);
      break;
    }
  if (joined == NULL || *joined == '\0')
    return NULL;
  return g_strdup_printf ("%d %s", (int) line->role, joined);
}

/* The next row of a key that has no line of that quote yet, or NULL. */
static QmComparedLine *
next_free (Shelf *shelf, guint quote)
{
  if (shelf->quote != quote)
    {
      shelf->quote = quote;
      shelf->taken = 0;
    }
  for (; shelf->taken < shelf->rows->len; shelf->taken++)
    {
      QmComparedLine *row = g_ptr_array_index (shelf->rows, shelf->taken);

      if (row->lines[quote] == NULL)
        return row;
    }
  return NULL;
}

static QmComparedLine *
find_row (const Aligner *aligner, const QmQuoteLine *line, guint quote)
{
  for (int way = 0; way < N_WAYS; way++)
    {
      g_autofree char *key = key_of (line, (Way) way);
      Shelf *shelf =
          key != NULL ? g_hash_table_lookup (aligner->shelves[way], key) : NULL;
      QmComparedLine *row = shelf != NULL ? next_free (shelf, quote) : NULL;

      if (row != NULL)
        return row;
    }
  return NULL;
}

/* Lets a row be found by what a line of it has. */
static void
file_row (const Aligner *aligner, QmComparedLine *row, const QmQuoteLine *line)
{
  for (int way = 0; way < N_WAYS; way++)
    {
      g_autofree char *key = key_of (line, (Way) way);
      Shelf *shelf;

      if (key == NULL)
        continue;
      shelf = g_hash_table_lookup (aligner->shelves[way], key);
      if (shelf == NULL)
        {
          shelf = g_new0 (Shelf, 1);
          shelf->rows = g_ptr_array_new ();
          g_hash_table_insert (aligner->shelves[way], g_steal_pointer (&key),
                               shelf);
        }
      g_ptr_array_add (shelf->rows, row);
    }
}

static void
add_quote (const Aligner *aligner, const QmQuote *quote, guint index)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      QmComparedLine *row = index > 0 ? find_row (aligner, line, index) : NULL;

      if (row == NULL)
        {
          row = g_new0 (QmComparedLine, 1);
          row->role = line->role;
          row->lines = g_new0 (const QmQuoteLine *, aligner->n_quotes);
          g_ptr_array_add (aligner->rows, row);
        }
      row->lines[index] = line;
      file_row (aligner, row, line);
    }
}

static void
find_differences (QmComparedLine *row, GPtrArray *quotes)
{
  const QmQuote *first_quote = NULL;
  const QmQuoteLine *first = NULL;

  for (guint i = 0; i < quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (quotes, i);
      const QmQuoteLine *line = row->lines[i];

      if (line == NULL)
        row->differences |= QM_DIFFERS_MISSING;
      else if (first == NULL)
        {
          first = line;
          first_quote = quote;
        }
      else
        {
          if (line->quantity_micros != first->quantity_micros)
            row->differences |= QM_DIFFERS_QUANTITY;
          if (strcmp (quote->currency, first_quote->currency) == 0
              && (line->price_micros != first->price_micros
                  || line->base_quantity_micros != first->base_quantity_micros
                  || (line->quantity_micros == first->quantity_micros
                      && qm_quote_line_cost (quote, line)
                             != qm_quote_line_cost (first_quote, first))))
            row->differences |= QM_DIFFERS_PRICE;
        }
    }
}

GPtrArray *
qm_quote_compare (GPtrArray *quotes)
{
  Aligner aligner = { .rows = g_ptr_array_new_with_free_func (row_free) };

  g_return_val_if_fail (quotes != NULL, NULL);

  aligner.n_quotes = quotes->len;
  for (int way = 0; way < N_WAYS; way++)
    aligner.shelves[way] =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, shelf_free);
  for (guint i = 0; i < quotes->len; i++)
    add_quote (&aligner, g_ptr_array_index (quotes, i), i);
  for (guint i = 0; i < aligner.rows->len; i++)
    find_differences (g_ptr_array_index (aligner.rows, i), quotes);
  for (int way = 0; way < N_WAYS; way++)
    g_hash_table_unref (aligner.shelves[way]);
  return aligner.rows;
}
