/* SPDX-License-Identifier: Apache-2.0 */

/* Searching, filtering and sorting what an index holds. */

#include "config.h"

#include "pricing/quotes/qm-quote-index-private.h"
#include "pricing/quotes/qm-search-text.h"

#include <string.h>

/* How many words' rows are kept; a byte a row and word. */
#define WORDS_KEPT 16

gboolean
qm_quote_index_is_current (const QmQuoteIndex *index, QmQuoteStore *store)
{
  g_return_val_if_fail (index != NULL && store != NULL, FALSE);

  return qm_quote_store_changes (store) == index->changes;
}

const QmQuoteRow *
qm_quote_index_get (const QmQuoteIndex *index, gint64 id)
{
  guint low = 0, high;

  g_return_val_if_fail (index != NULL, NULL);

  high = index->n_quotes;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (index->quotes[middle].id < id)
        low = middle + 1;
      else
        high = middle;
    }
  return low < index->n_quotes && index->quotes[low].id == id
             ? &index->quotes[low]
             : NULL;
}

gboolean
qm_quote_row_holds (const QmQuoteRow *quote, QmDate on)
{
  g_return_val_if_fail (quote != NULL, FALSE);

  return !quote->broken
         && qm_quote_dates_hold (quote->issued_on, quote->valid_from,
                                 quote->valid_until, on);
}

/* --- What is found --- */

/* Marks the rows that a word is in. */
static void
mark_word (const QmIndexText *text, const char *word, guint8 *marks)
{
  const char *begin = text->text->str;
  guint row = 0;

  for (const char *at = begin; (at = strstr (at, word)) != NULL;
       at = begin + text->starts[row + 1])
    {
      while (text->starts[row + 1] <= (gsize) (at - begin))
        row++;
      marks[row] = 1;
    }
}

/* The rows that a word is in, from the cache where it was looked for before. */
static const QmIndexMarks *
marks_of (QmQuoteIndex *index, const char *word)
{
  QmIndexMarks *marks = g_hash_table_lookup (index->marks, word);

  if (marks != NULL)
    return marks;
  if (g_hash_table_size (index->marks) >= WORDS_KEPT)
    g_hash_table_remove_all (index->marks);
  marks = g_new0 (QmIndexMarks, 1);
  marks->quotes = g_new0 (guint8, index->n_quotes);
  marks->lines = g_new0 (guint8, index->n_lines);
  mark_word (&index->quote_text, word, marks->quotes);
  mark_word (&index->line_text, word, marks->lines);
  g_hash_table_insert (index->marks, g_strdup (word), marks);
  return marks;
}

/* Leaves alive the quotes that a word is in, or in a line of which it is. */
static void
narrow_quotes (QmQuoteIndex *index, const char *word, guint8 *alive)
{
  const QmIndexMarks *marks = marks_of (index, word);
  g_autofree guint8 *found = g_memdup2 (marks->quotes, index->n_quotes);

  for (guint i = 0; i < index->n_lines; i++)
    found[index->lines[i].quote] |= marks->lines[i];
  for (guint i = 0; i < index->n_quotes; i++)
    alive[i] &= found[i];
}

/* Whether a quote passes what does not depend on its lines. */
static gboolean
quote_passes (const QmQuoteRow *quote, const QmQuoteFilter *filter)
{
  return (quote->deleted_at != 0) == (filter->deleted != FALSE)
         && (filter->vendor == NULL
             || g_strcmp0 (quote->vendor, filter->vendor) == 0)
         && (filter->valid_on.year == 0
             || qm_quote_row_holds (quote, filter->valid_on));
}

/* A byte for each quote: whether it passes.  (transfer full) */
static guint8 *
pass_quotes (const QmQuoteIndex *index, const QmQuoteFilter *filter)
{
  guint8 *passing = g_new0 (guint8, index->n_quotes);

  for (guint i = 0; i < index->n_quotes; i++)
    passing[i] = quote_passes (&index->quotes[i], filter);
  return passing;
}

static guint8 *
find_quotes (QmQuoteIndex *index, const QmQuoteFilter *filter)
{
  g_auto (GStrv) words = qm_search_text_words (filter->search);
  guint8 *alive = pass_quotes (index, filter);

  if (filter->item != NULL)
    {
      g_autofree guint8 *have = g_new0 (guint8, index->n_quotes);

      for (guint i = 0; i < index->n_lines; i++)
        have[index->lines[i].quote] |=
            g_strcmp0 (index->lines[i].item, filter->item) == 0;
      for (guint i = 0; i < index->n_quotes; i++)
        alive[i] &= have[i];
    }
  for (guint k = 0; words[k] != NULL; k++)
    narrow_quotes (index, words[k], alive);
  return alive;
}

/* --- In which order --- */

/* What a row is sorted by; the first that differs counts. */
typedef struct
{
  gboolean unknown;
  const char *text; /* NULL: none */
  gint64 number;
  gint64 quote; /* ids of equals fall */
  guint row;
} Key;

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const Key *p = a;
  const Key *q = b;
  const gboolean *descending = data;
  int order;

  if (p->unknown != q->unknown)
    return p->unknown ? 1 : -1;
  order = g_strcmp0 (p->text, q->text);
  if (order == 0)
    order = (p->number > q->number) - (p->number < q->number);
  if (order != 0)
    return *descending ? -order : order;
  return (p->quote < q->quote) - (p->quote > q->quote);
}

static void
set_key_text (Key *key, const char *text, GStringChunk *strings)
{
  g_autofree char *folded = NULL;

  key->unknown = text == NULL || *text == '\0';
  if (key->unknown)
    return;
  folded = qm_search_text_fold (text);
  key->text = g_string_chunk_insert (strings, folded);
}

static void
set_date (Key *key, QmDate date)
{
  key->unknown = date.year == 0;
  key->number =
      date.year * G_GINT64_CONSTANT (10000) + date.month * 100 + date.day;
}

static void
set_amount (Key *key, const char *currency, gint64 amount)
{
  key->unknown = amount == QM_AMOUNT_UNSTATED;
  key->text = currency;
  key->number = key->unknown ? 0 : amount;
}

static void
set_key (Key *key,
         const QmQuoteRow *quote,
         QmQuoteSort sort,
         GStringChunk *strings)
{
  key->quote = quote->id;
  switch (sort)
    {
    case QM_QUOTE_SORT_VENDOR:
      set_key_text (key, quote->vendor, strings);
      break;
    case QM_QUOTE_SORT_NUMBER:
      set_key_text (key, quote->number, strings);
      break;
    case QM_QUOTE_SORT_ISSUED:
      set_date (key, quote->issued_on);
      break;
    case QM_QUOTE_SORT_VALID_UNTIL:
      set_date (key, quote->valid_until);
      break;
    case QM_QUOTE_SORT_TOTAL:
      set_amount (key, quote->currency, quote->total_minor);
      break;
    case QM_QUOTE_SORT_LINES:
      key->number = quote->n_lines;
      break;
    case QM_QUOTE_SORT_ITEM:
      set_key_text (key, quote->items, strings);
      break;
    case QM_QUOTE_SORT_ADDED:
    case QM_N_QUOTE_SORTS:
    default:
      key->number = quote->id;
      break;
    }
}

/* The quotes in order, from the cache where that is the same. */
static const guint *
order_quotes (QmQuoteIndex *index, QmQuoteSort sort, gboolean descending)
{
  QmIndexOrder *order = &index->order;
  guint n = index->n_quotes;
  g_autofree Key *keys = NULL;
  GStringChunk *strings;

  if (order->known && order->sort == sort && order->descending == descending)
    return order->rows;
  keys = g_new0 (Key, n);
  strings = g_string_chunk_new (1 << 16);
  for (guint i = 0; i < n; i++)
    {
      keys[i].row = i;
      set_key (&keys[i], &index->quotes[i], sort, strings);
    }
  if (n > 0)
    g_qsort_with_data (keys, (gint) n, sizeof *keys, compare_keys, &descending);
  if (order->rows == NULL)
    order->rows = g_new (guint, n);
  for (guint i = 0; i < n; i++)
    order->rows[i] = keys[i].row;
  order->known = TRUE;
  order->sort = sort;
  order->descending = descending;
  g_string_chunk_free (strings);
  return order->rows;
}

GPtrArray *
qm_quote_index_quotes (QmQuoteIndex *index,
                       const QmQuoteFilter *filter,
                       QmQuoteSort sort,
                       gboolean descending,
                       guint offset,
                       guint limit,
                       guint *n_found)
{
  g_autofree guint8 *alive = NULL;
  GPtrArray *rows = g_ptr_array_new ();
  const guint *order;
  guint found = 0;

  g_return_val_if_fail (index != NULL && filter != NULL, rows);

  alive = find_quotes (index, filter);
  order = order_quotes (index, sort, descending != FALSE);
  for (guint i = 0; i < index->n_quotes; i++)
    if (alive[order[i]] && found++ >= offset && rows->len < limit)
      g_ptr_array_add (rows, &index->quotes[order[i]]);
  if (n_found != NULL)
    *n_found = found;
  return rows;
}
