/* SPDX-License-Identifier: Apache-2.0 */

/* Reading an index from a store. */

#include "config.h"

#include "pricing/qm-exact.h"
#include "pricing/qm-order.h"
#include "pricing/quotes/qm-quote-index-private.h"
#include "pricing/quotes/qm-quote-store-private.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "pricing/quotes/qm-search-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Rows between two looks at the cancellable. */
#define ROWS_AT_ONCE 2048

typedef struct
{
  QmQuoteIndex *index;
  GCancellable *cancellable;
  QmQuote **heads;  /* the amounts of each quote, for its total */
  GArray *amounts;  /* QmQuoteLine without texts, of the current quote */
  GPtrArray *items; /* of the current quote, the index's */
  guint n_read;     /* rows since the last look at the cancellable */
} Reader;

static void
text_init (QmIndexText *text, guint n)
{
  text->text = g_string_new (NULL);
  text->starts = g_new0 (gsize, (gsize) n + 1);
}

/* `text` without what is beyond the limit; returns its length. */
static gsize
limited_length (const char *text)
{
  gsize length = strlen (text);
  const char *end;

  if (length <= QM_QUOTE_INDEX_MAX_TEXT)
    return length;
  end = g_utf8_find_prev_char (text, text + QM_QUOTE_INDEX_MAX_TEXT + 1);
  /* No character begins in what only a damaged file has. */
  return end != NULL ? (gsize) (end - text) : 0;
}

/* Appends a field to the text of the current row. */
static void
append_text (QmIndexText *text, const char *field)
{
  g_autofree char *limited = NULL;
  g_autofree char *folded = NULL;

  if (field == NULL || *field == '\0')
    return;
  limited = g_strndup (field, limited_length (field));
  folded = qm_search_text_fold (limited);
  g_string_append (text->text, folded);
  g_string_append_c (text->text, ' ');
}

static void
end_row (QmIndexText *text, guint row)
{
  g_string_append_c (text->text, '\n');
  text->starts[row + 1] = text->text->len;
}

/* The text of the next column, kept, NULL for none.
 *
 * once: whether many rows have it. */
static const char *
keep_next_text (QmQuoteIndex *index, QmStatement *row, int *n, gboolean once)
{
  const char *text = qm_column_text (row, n);
  g_autofree char *valid = NULL;

  if (text == NULL)
    return NULL;
  if (!g_utf8_validate (text, -1, NULL))
    text = valid = g_utf8_make_valid (text, -1);
  if (once)
    return g_string_chunk_insert_const (index->strings, text);
  return g_string_chunk_insert_len (index->strings, text,
                                    (gssize) limited_length (text));
}

static gboolean
is_cancelled (Reader *reader, GError **error)
{
  if (++reader->n_read % ROWS_AT_ONCE != 0)
    return FALSE;
  return g_cancellable_set_error_if_cancelled (reader->cancellable, error);
}

/* A file whose parts do not fit together, which nobody has noticed so far. */
static gboolean
fail_inconsistent (QmQuoteStore *store, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
               _ ("“%s” is damaged: %s"), store->path,
               _ ("its tables contradict each other"));
  return FALSE;
}

/* The next row, of which there must be one. */
static gboolean
next_row (Reader *reader, QmQuoteStore *store, QmStatement *row, GError **error)
{
  switch (qm_store_step (store, row, error))
    {
    case 1:
      return !is_cancelled (reader, error);
    case 0:
      return fail_inconsistent (store, error);
    default:
      return FALSE;
    }
}

static QmQuote *
read_amounts (QmStatement *row, int *n, gboolean *known)
{
  QmQuote *head = qm_quote_new ();

  head->net_minor = qm_column_amount (row, n, known);
  head->discount_minor = qm_column_amount (row, n, known);
  head->charge_minor = qm_column_amount (row, n, known);
  head->tax_minor = qm_column_amount (row, n, known);
  head->payable_minor = qm_column_amount (row, n, known);
  return head;
}

/* Whether a question of the next two columns, what is asked and what of that
 * has been answered, is open. */
static gboolean
read_is_open (QmStatement *row, int *n, gboolean *known)
{
  guint asked = qm_column_asks (row, n, known);
  guint answered = qm_column_asks (row, n, known);

  return (asked & ~answered) != 0;
}

static void
read_quote (Reader *reader, QmStatement *row, guint i)
{
  QmQuoteIndex *index = reader->index;
  QmQuoteRow *quote = &index->quotes[i];
  QmQuote *head;
  gboolean known = TRUE;
  gint64 deleted_at;
  int n = -1;

  quote->id = qm_column_int (row, &n, &known);
  quote->vendor = keep_next_text (index, row, &n, TRUE);
  quote->number = keep_next_text (index, row, &n, FALSE);
  quote->alternative = keep_next_text (index, row, &n, TRUE);
  quote->source = keep_next_text (index, row, &n, FALSE);
  append_text (&index->quote_text, quote->vendor);
  append_text (&index->quote_text, quote->number);
  append_text (&index->quote_text, quote->alternative);
  append_text (&index->quote_text, quote->source);
  append_text (&index->quote_text, qm_column_text (row, &n));
  end_row (&index->quote_text, i);
  quote->origin = (QmQuoteOrigin) qm_column_word (row, &n, qm_word_of_origin,
                                                  QM_N_QUOTE_ORIGINS, &known);
  quote->kind = (QmPriceKind) qm_column_word (row, &n, qm_word_of_kind,
                                              QM_PRICE_CLOUD + 1, &known);
  quote->unit = (QmPriceUnit) qm_column_word (row, &n, qm_word_of_unit,
                                              QM_PRICE_HOUR + 1, &known);
  qm_column_currency (row, &n, quote->currency, &known);
  quote->issued_on = qm_column_date (row, &n, &known);
  quote->valid_from = qm_column_date (row, &n, &known);
  quote->valid_until = qm_column_date (row, &n, &known);
  quote->tax_included = qm_column_tristate (row, &n, &known);
  quote->read_at = qm_column_int (row, &n, &known);
  deleted_at = qm_column_amount (row, &n, &known);
  quote->deleted_at = deleted_at != QM_AMOUNT_UNSTATED ? deleted_at : 0;
  head = reader->heads[i] = read_amounts (row, &n, &known);
  memcpy (head->currency, quote->currency, sizeof head->currency);
  head->tax_included = quote->tax_included;
  quote->payable_minor = head->payable_minor;
  quote->open = read_is_open (row, &n, &known) || quote->currency[0] == '\0';
  quote->broken = !known;
}

static gboolean
read_quotes (QmQuoteStore *store, Reader *reader, GError **error)
{
  static const char sql[] =
      "SELECT quotes.id, vendors.name, number, alternative, source, note,"
      "  origin, kind, unit, currency, issued_on, valid_from, valid_until, "
      "tax_included,"
      "  read_at, deleted_at, net_minor, discount_minor, charge_minor,"
      "  tax_minor, payable_minor, asked, answered"
      " FROM quotes LEFT JOIN vendors ON vendors.id = vendor"
      " ORDER BY quotes.id";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);

  for (guint i = 0; row != NULL && i < reader->index->n_quotes; i++)
    {
      if (!next_row (reader, store, row, error))
        return FALSE;
      read_quote (reader, row, i);
    }
  return row != NULL;
}

/* The amounts of a line, for the sums. */
static void
read_line_amounts (
    Reader *reader, QmStatement *row, int *n, QmLineRole role, gboolean *known)
{
  QmQuoteLine amounts = { .role = role };

  amounts.quantity_micros = qm_column_amount (row, n, known);
  amounts.price_micros = qm_column_amount (row, n, known);
  amounts.base_quantity_micros = qm_column_amount (row, n, known);
  amounts.discount_minor = qm_column_amount (row, n, known);
  amounts.charge_minor = qm_column_amount (row, n, known);
  amounts.total_minor = qm_column_amount (row, n, known);
  g_array_append_val (reader->amounts, amounts);
}

static void
read_line (Reader *reader, QmStatement *row, guint i, guint quote)
{
  QmQuoteIndex *index = reader->index;
  QmIndexLine *line = &index->lines[i];
  gboolean known = TRUE;
  int n = 0; /* after the quote's id */
  QmLineRole role;
  QmMatchState match;

  line->quote = quote;
  role = (QmLineRole) qm_column_word (row, &n, qm_word_of_role, QM_N_LINE_ROLES,
                                      &known);
  line->item = keep_next_text (index, row, &n, TRUE);
  append_text (&index->line_text, line->item);
  append_text (&index->line_text, qm_column_text (row, &n)); /* description */
  append_text (&index->line_text, qm_column_text (row, &n)); /* part number */
  append_text (&index->line_text, qm_column_text (row, &n)); /* candidates */
  end_row (&index->line_text, i);
  if (line->item != NULL && !g_ptr_array_find (reader->items, line->item, NULL))
    g_ptr_array_add (reader->items, (gpointer) line->item);
  read_line_amounts (reader, row, &n, role, &known);
  qm_column_int (row, &n, &known); /* GPUs */
  match = (QmMatchState) qm_column_word (row, &n, qm_word_of_match,
                                         QM_N_MATCHES, &known);
  qm_column_word (row, &n, qm_word_of_thing, QM_N_THINGS, &known);
  if (read_is_open (row, &n, &known) || match == QM_MATCH_AMBIGUOUS)
    index->quotes[quote].open = TRUE;
  if (!known)
    index->quotes[quote].broken = TRUE;
}

/* What follows from all lines of a quote. */
static void
end_quote (Reader *reader, guint i)
{
  QmQuoteRow *quote = &reader->index->quotes[i];
  QmQuote *head = reader->heads[i];
  QmQuoteTotals totals;

  g_ptr_array_set_free_func (head->lines, NULL);
  for (guint k = 0; k < reader->amounts->len; k++)
    g_ptr_array_add (head->lines,
                     &g_array_index (reader->amounts, QmQuoteLine, k));
  qm_quote_totals_compute (head, &totals);
  quote->total_minor = quote->payable_minor != QM_AMOUNT_UNSTATED
                           ? quote->payable_minor
                           : totals.payable_minor;
  quote->n_lines = reader->amounts->len;
  if (reader->items->len > 0)
    {
      g_autofree char *items = NULL;

      g_ptr_array_sort (reader->items, qm_order_strings);
      g_ptr_array_add (reader->items, NULL);
      items = g_strjoinv (";", (char **) reader->items->pdata);
      quote->items =
          g_string_chunk_insert_const (reader->index->strings, items);
    }
  g_clear_pointer (&reader->heads[i], qm_quote_free);
  g_array_set_size (reader->amounts, 0);
  g_ptr_array_set_size (reader->items, 0);
}

static gboolean
read_lines (QmQuoteStore *store, Reader *reader, GError **error)
{
  static const char sql[] =
      "SELECT quote, role, item, description, part_number, candidates,"
      "  quantity_micros, price_micros, base_quantity_micros, discount_minor,"
      "  charge_minor, total_minor, gpus, match, thing, asked, answered"
      " FROM lines ORDER BY quote, position";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  QmQuoteIndex *index = reader->index;
  guint quote = 0;

  if (row == NULL)
    return FALSE;
  for (guint i = 0; i < index->n_lines; i++)
    {
      gint64 id;

      if (!next_row (reader, store, row, error))
        return FALSE;
      id = sqlite3_column_int64 (row, 0);
      while (quote < index->n_quotes && index->quotes[quote].id < id)
        end_quote (reader, quote++);
      if (quote == index->n_quotes || index->quotes[quote].id != id)
        return fail_inconsistent (store, error);
      read_line (reader, row, i, quote);
    }
  while (quote < index->n_quotes)
    end_quote (reader, quote++);
  return TRUE;
}

static gboolean
read_warnings (QmQuoteStore *store, Reader *reader, GError **error)
{
  static const char sql[] =
      "SELECT quote, count (*) FROM findings WHERE level = 'warning'"
      " GROUP BY quote ORDER BY quote";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  QmQuoteIndex *index = reader->index;
  guint quote = 0;
  int step = -1;

  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      gint64 id = sqlite3_column_int64 (row, 0);

      while (quote < index->n_quotes && index->quotes[quote].id < id)
        quote++;
      if (quote == index->n_quotes || index->quotes[quote].id != id)
        return fail_inconsistent (store, error);
      index->quotes[quote].n_warnings = (guint) sqlite3_column_int (row, 1);
    }
  return step == 0;
}

static gboolean
read_all (QmQuoteStore *store, gpointer data, GError **error)
{
  Reader *reader = data;
  QmQuoteIndex *index = reader->index;
  gint64 changes, n_quotes, n_lines;

  if (!qm_store_number (store, "SELECT changes FROM state", &changes, error)
      || !qm_store_number (store, "SELECT count (*) FROM quotes", &n_quotes,
                           error)
      || !qm_store_number (store, "SELECT count (*) FROM lines", &n_lines,
                           error))
    return FALSE;
  index->changes = (guint64) changes;
  index->n_quotes = (guint) n_quotes;
  index->n_lines = (guint) n_lines;
  index->quotes = g_new0 (QmQuoteRow, index->n_quotes);
  index->lines = g_new0 (QmIndexLine, index->n_lines);
  reader->heads = g_new0 (QmQuote *, index->n_quotes);
  text_init (&index->quote_text, index->n_quotes);
  text_init (&index->line_text, index->n_lines);
  return read_quotes (store, reader, error) && read_lines (store, reader, error)
         && read_warnings (store, reader, error);
}

static void
clear_reader (Reader *reader)
{
  for (guint i = 0; reader->heads != NULL && i < reader->index->n_quotes; i++)
    g_clear_pointer (&reader->heads[i], qm_quote_free);
  g_free (reader->heads);
  g_array_unref (reader->amounts);
  g_ptr_array_unref (reader->items);
}

static void
marks_free (gpointer data)
{
  QmIndexMarks *marks = data;

  g_free (marks->quotes);
  g_free (marks->lines);
  g_free (marks);
}

QmQuoteIndex *
qm_quote_index_new (QmQuoteStore *store,
                    GCancellable *cancellable,
                    GError **error)
{
  g_autoptr (QmQuoteIndex) index = NULL;
  Reader reader = { .cancellable = cancellable };
  gboolean ok;

  g_return_val_if_fail (store != NULL, NULL);

  index = g_new0 (QmQuoteIndex, 1);
  index->strings = g_string_chunk_new (1 << 16);
  index->marks =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, marks_free);
  reader.index = index;
  reader.amounts = g_array_new (FALSE, FALSE, sizeof (QmQuoteLine));
  reader.items = g_ptr_array_new ();
  ok = !g_cancellable_set_error_if_cancelled (cancellable, error)
       && qm_store_read (store, read_all, &reader, error);
  clear_reader (&reader);
  return ok ? g_steal_pointer (&index) : NULL;
}

static void
text_clear (QmIndexText *text)
{
  if (text->text != NULL)
    g_string_free (text->text, TRUE);
  g_free (text->starts);
}

void
qm_quote_index_free (QmQuoteIndex *index)
{
  if (index == NULL)
    return;
  g_string_chunk_free (index->strings);
  g_hash_table_unref (index->marks);
  g_free (index->quotes);
  g_free (index->lines);
  text_clear (&index->quote_text);
  text_clear (&index->line_text);
  g_free (index->order.rows);
  g_free (index);
}
