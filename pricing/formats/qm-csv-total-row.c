/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of a spreadsheet that are totals, discounts, charges or taxes. */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-discount.h"
#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/formats/qm-csv-tax.h"
#include "pricing/qm-amount.h"
#include "pricing/qm-exact.h"
#include "pricing/quotes/qm-line-ask.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Between names of totals and the amounts below them there are no more rows of
 * something else. */
#define MOST_BETWEEN 40

/* The first cell of a row that is no number. */
static char *
find_words (QmCsvReader *reader, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      g_autofree char *text = qm_csv_cell_text (reader, row, (int) i);
      QmCsvField field = qm_csv_mapping_field (reader->mapping, i);
      char currency[4];
      gint64 micros;

      if (text != NULL && field != QM_CSV_VENDOR && field != QM_CSV_QUOTE
          && field != QM_CSV_SUPERSEDES && field != QM_CSV_ALTERNATIVE
          && field != QM_CSV_CURRENCY && field != QM_CSV_ROLE
          && field != QM_CSV_ISSUED && field != QM_CSV_VALID_FROM
          && field != QM_CSV_VALID_UNTIL
          && !qm_amount_parse (text, reader->mapping->decimal, &micros,
                               currency)
          && !qm_amount_parse_currency (text, currency))
        return g_steal_pointer (&text);
    }
  return NULL;
}

/* The column with a row's amount: that of totals, or else the last. */
static int
find_amount (QmCsvReader *reader, guint row)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_TOTAL);
  int quantity = qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY);
  gint64 micros;
  char currency[4];

  if (column >= 0
      && qm_sheet_cell (reader->sheet, row, (guint) column)[0] != '\0')
    return column;
  for (column = (int) qm_sheet_n_cells (reader->sheet, row) - 1; column > 0;
       column--)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, (guint) column);

      if (column == quantity)
        continue;
      if (cell[0] == '=')
        return column;
      if (cell[0] != '\0' && strchr (cell, '%') == NULL
          && qm_amount_parse (cell, reader->mapping->decimal, &micros,
                              currency))
        return column;
    }
  return -1;
}

/* Whether a cell for amounts has a minus of any kind. */
static gboolean
may_be_negative (QmCsvReader *reader, guint row)
{
  static const QmCsvField fields[] = { QM_CSV_PRICE, QM_CSV_TOTAL };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int column = qm_csv_mapping_column (reader->mapping, fields[i]);

      if (column >= 0)
        for (const char *p = qm_sheet_cell (reader->sheet, row, (guint) column);
             *p != '\0'; p++)
          if (*p == '-' || *p == '(' || *p == 'C' || (*p & 0x80) != 0)
            return TRUE;
    }
  return FALSE;
}

/* Whether a row takes something off: its amount is below zero. */
static gboolean
is_negative (QmCsvReader *reader, guint row)
{
  gint64 amount = 0;

  if (!may_be_negative (reader, row))
    return FALSE;
  return (qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &amount)
          || qm_csv_cell_has_amount (reader, row, QM_CSV_PRICE, &amount))
         && amount < 0;
}

/* How many pieces a row has, in millionths; one where it does not say. */
static gint64
pieces_of (QmCsvReader *reader, guint row)
{
  g_autofree char *quantity = qm_csv_cell_of (reader, row, QM_CSV_QUANTITY);
  g_autofree char *number = NULL;
  gint64 micros;
  char currency[4];

  if (quantity == NULL)
    return QM_MICROS_PER_UNIT;
  number = g_strndup (quantity, strspn (quantity, "0123456789., "));
  g_strchomp (number);
  return qm_amount_parse (number, reader->mapping->decimal, &micros, currency)
                 && micros > 0
             ? micros
             : QM_MICROS_PER_UNIT;
}

/* Whether a row that has a quantity is a discount, though its amount is above
 * zero, or its rate alone is written. */
static gboolean
takes_off (QmCsvReader *reader, guint row, const char *words)
{
  g_autofree char *said = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);
  const char *text = said != NULL ? said : words;
  gint64 amount;

  if (qm_csv_words_take_off (text) != QM_CSV_OFF_TAKEN)
    return FALSE;
  return qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &amount)
         || qm_csv_cell_has_amount (reader, row, QM_CSV_PRICE, &amount)
         || qm_csv_percent_in (text) != 0;
}

static gboolean
draft_is_begun (QmCsvReader *reader)
{
  return qm_csv_last_draft (reader) != NULL
         && qm_csv_last_draft (reader)->quote->lines->len > 0;
}

/* Whether the price of what can be had besides, or instead, stands in brackets:
 * it takes nothing off. */
static gboolean
is_in_brackets (QmCsvReader *reader, guint row, const char *words)
{
  g_autofree char *total = qm_csv_cell_of (reader, row, QM_CSV_TOTAL);
  g_autofree char *said = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);

  return total != NULL && strchr (total, '(') != NULL
         && qm_csv_words_offer (said != NULL ? said : words)
                >= QM_CSV_OFFERED_BESIDES;
}

/* Whether a row has a quantity.  The label of a total may stand in its column,
 * "Total". */
static gboolean
has_quantity (QmCsvReader *reader, guint row)
{
  g_autofree char *text = qm_csv_cell_of (reader, row, QM_CSV_QUANTITY);

  return text != NULL
         && (strpbrk (text, "0123456789") != NULL
             || qm_csv_row_kind_of (text) == QM_CSV_ROW_LINE);
}

/* What a row of totals means.  Totals have no quantity; something taken off may
 * have one. */
static QmCsvRowKind
kind_of_row (QmCsvReader *reader, guint row, const char *words)
{
  g_autofree char *part = qm_csv_cell_of (reader, row, QM_CSV_PART_NUMBER);
  gboolean negative = is_negative (reader, row);
  QmCsvRowKind kind;

  if (reader->is_ours && !qm_csv_cell_is_empty (reader, row, QM_CSV_ROLE))
    return QM_CSV_ROW_LINE;
  if (has_quantity (reader, row) || (part != NULL && strcmp (part, words) != 0))
    {
      if ((negative && !is_in_brackets (reader, row, words))
          || takes_off (reader, row, words))
        return QM_CSV_ROW_DISCOUNT;
      /* "1 x VAT 20 %" */
      return part == NULL && draft_is_begun (reader)
                     && qm_csv_words_tax (words) != QM_CSV_TAX_NONE
                 ? qm_csv_row_kind_of (words)
                 : QM_CSV_ROW_LINE;
    }
  kind = qm_csv_row_kind_of (words);
  if (negative && (kind == QM_CSV_ROW_LINE || kind == QM_CSV_ROW_CHARGE))
    return QM_CSV_ROW_DISCOUNT;
  return kind;
}

/* The draft that a row of totals is of: the one that its words name. */
static QmCsvDraft *
find_draft_named (QmCsvReader *reader, guint row, const char *words)
{
  g_autofree char *normal = qm_csv_normalize (words);

  for (guint i = reader->drafts->len; i > 0; i--)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i - 1);

      if (draft->folded == NULL
          || i + QM_CSV_MAX_ALTERNATIVES < reader->drafts->len)
        break;
      if (qm_csv_words_name (normal, draft->folded))
        return draft;
    }
  return qm_csv_find_draft (reader, row);
}

/* The total with tax that stands beside the one without. */
static void
read_gross (QmCsvReader *reader,
            QmCsvDraft *draft,
            guint row,
            QmCsvRowKind kind,
            gint64 micros)
{
  gint64 gross = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_TOTAL_GROSS);

  if (gross == QM_AMOUNT_UNSTATED || kind != QM_CSV_ROW_TOTAL)
    qm_csv_draft_add_total (draft, kind, micros);
  else
    {
      qm_csv_draft_add_total (draft, QM_CSV_ROW_NET, micros);
      qm_csv_draft_add_total (draft, QM_CSV_ROW_PAYABLE, gross);
    }
}

/* Whether a cell is the name of a total or a tax. */
static QmCsvRowKind
kind_of_cell (const char *cell)
{
  QmCsvRowKind kind;

  if (cell[0] == '\0' || g_ascii_isdigit (cell[0]))
    return QM_CSV_ROW_LINE;
  kind = qm_csv_row_kind_of (cell);
  return kind == QM_CSV_ROW_NET || kind == QM_CSV_ROW_TAX
                 || kind == QM_CSV_ROW_TOTAL || kind == QM_CSV_ROW_PAYABLE
             ? kind
             : QM_CSV_ROW_LINE;
}

/* Whether an amount, and no percentage, stands in a cell. */
static gboolean
is_amount (QmCsvReader *reader, guint row, guint column)
{
  const char *cell = qm_sheet_cell (reader->sheet, row, column);
  char currency[4];
  gint64 micros;

  return cell[0] != '\0'
         && qm_amount_parse (cell, reader->mapping->decimal, &micros, currency);
}

/* "Net 100.00 | VAT 20.00 | Total 120.00": several names with their amounts in
 * one row.  FALSE: there is but one. */
static gboolean
read_pairs (QmCsvReader *reader, QmCsvDraft *draft, guint row)
{
  guint n_cells = qm_sheet_n_cells (reader->sheet, row);
  QmCsvRowKind kind = QM_CSV_ROW_LINE;
  guint n = 0;

  for (int pass = 0; pass < 2 && !reader->is_ours; pass++)
    for (guint i = 0; i < n_cells; i++)
      {
        QmCsvRowKind next =
            kind_of_cell (qm_sheet_cell (reader->sheet, row, i));

        if (next != QM_CSV_ROW_LINE)
          kind = next;
        else if (kind != QM_CSV_ROW_LINE && is_amount (reader, row, i))
          {
            if (pass == 0)
              n++;
            else if (n > 1)
              qm_csv_draft_add_total (draft, kind,
                                      qm_csv_cell_amount (reader, draft, row,
                                                          (int) i));
            kind = QM_CSV_ROW_LINE;
          }
      }
  return n > 1;
}

/* Whether a row has the names of several totals and no amounts. */
static gboolean
has_total_names (QmCsvReader *reader, guint row)
{
  guint n_cells = qm_sheet_n_cells (reader->sheet, row), n = 0;

  for (guint i = 0; i < n_cells; i++)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, i);

      if (strpbrk (cell, "0123456789") != NULL && strchr (cell, '%') == NULL)
        return FALSE;
    }
  for (guint i = 0; i < n_cells; i++)
    n +=
        kind_of_cell (qm_sheet_cell (reader->sheet, row, i)) != QM_CSV_ROW_LINE;
  return n > 1;
}

/* Whether a row is none of the table: its header once more, or nothing in its
 * columns, as at the end of a page. */
static gboolean
is_between (QmCsvReader *reader, guint row)
{
  guint header = (guint) reader->mapping->header_row;

  if (reader->mapping->header_row < 0)
    return FALSE;
  if (qm_csv_is_header_again (reader, row))
    return TRUE;
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, header); i++)
    if (qm_sheet_cell (reader->sheet, row, i)[0] != '\0')
      return FALSE;
  return TRUE;
}

/* The next row of the table, or the one before. */
static guint
next_row (QmCsvReader *reader, guint row)
{
  guint end = MIN (row + MOST_BETWEEN, qm_sheet_n_rows (reader->sheet));

  do
    row++;
  while (row < end && is_between (reader, row));
  return row;
}

static guint
row_before (QmCsvReader *reader, guint row)
{
  guint end = row > MOST_BETWEEN ? row - MOST_BETWEEN : 0;

  do
    row--;
  while (row > end && is_between (reader, row));
  return row;
}

/* "8.1 %", "MWST 8.1 %" */
static gboolean
is_rate (const char *cell)
{
  return strchr (cell, '%') != NULL
         && (qm_csv_words_tax (cell) != QM_CSV_TAX_NONE
             || cell[strspn (cell, "0123456789.,% ")] == '\0');
}

/* How many amounts of a row stand below the names of totals, where it has no
 * words. */
static guint
count_below (QmCsvReader *reader, guint names, guint row)
{
  guint n = 0;

  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, i);

      if (cell[0] != '\0' && !is_rate (cell) && !is_amount (reader, row, i))
        return 0;
    }
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, names); i++)
    n += kind_of_cell (qm_sheet_cell (reader->sheet, names, i))
             != QM_CSV_ROW_LINE
         && is_amount (reader, row, i);
  return n;
}

/* Whether a row has names of totals and the next one the amounts. */
static gboolean
is_total_table (QmCsvReader *reader, guint names)
{
  return has_total_names (reader, names)
         && count_below (reader, names, next_row (reader, names)) > 1;
}

static void
take_below (QmCsvReader *reader, QmCsvDraft *draft, guint names, guint row)
{
  gboolean known = draft->quote->tax_minor != QM_AMOUNT_UNSTATED;

  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, names); i++)
    {
      QmCsvRowKind kind =
          kind_of_cell (qm_sheet_cell (reader->sheet, names, i));
      gint64 micros;

      if (kind == QM_CSV_ROW_LINE || !is_amount (reader, row, i))
        continue;
      micros = qm_csv_cell_amount (reader, draft, row, (int) i);
      /* A table that sums up what stands above it says it once more. */
      if (micros == QM_AMOUNT_UNSTATED || known)
        continue;
      qm_csv_draft_add_total (draft, kind, micros);
      if (kind == QM_CSV_ROW_TAX)
        draft->table_tax = micros;
    }
}

gboolean
qm_csv_read_total_table (QmCsvReader *reader, guint row)
{
  guint names;

  if (reader->drafts->len == 0 || reader->is_ours)
    return FALSE;
  if (is_total_table (reader, row))
    return TRUE;
  if (row == 0)
    return FALSE;
  names = row_before (reader, row);
  if (!is_total_table (reader, names))
    return FALSE;
  take_below (reader,
              g_ptr_array_index (reader->drafts, reader->drafts->len - 1),
              names, row);
  return TRUE;
}

/* `format` takes the words. */
static void
note_row (QmCsvReader *reader,
          QmQuote *quote,
          guint row,
          const char *words,
          const char *format)
{
  g_autofree char *place = qm_csv_cell_place (reader, row, -1);
  g_autofree char *excerpt = qm_read_excerpt (words);

  qm_read_find (quote, QM_FINDING_NOTE, place, format, excerpt);
}

/* The draft that a row without a quantity is below the lines of; NULL: none. */
static QmCsvDraft *
find_draft_above (QmCsvReader *reader, guint row)
{
  if (reader->drafts->len == 0 || reader->is_ours || has_quantity (reader, row))
    return NULL;
  return g_ptr_array_index (reader->drafts, reader->drafts->len - 1);
}

/* The percentage that stands anywhere in a row. */
static gint64
percent_of_row (QmCsvReader *reader, guint row)
{
  gint64 percent = 0;

  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row) && percent == 0;
       i++)
    percent = qm_csv_percent_in (qm_sheet_cell (reader->sheet, row, i));
  return percent;
}

/* A discount of which only the percentage is written. */
static gboolean
read_percent (QmCsvReader *reader,
              guint row,
              QmCsvRowKind kind,
              const char *words)
{
  gint64 percent;

  if (kind != QM_CSV_ROW_DISCOUNT || reader->role != QM_LINE_QUOTED
      || qm_csv_words_are_of_payment (words))
    return FALSE;
  percent = percent_of_row (reader, row);
  if (percent == 0)
    return FALSE;
  qm_csv_draft_add_percent (find_draft_named (reader, row, words), percent);
  return TRUE;
}

/* "Acompte 30 %", "Anzahlung", "12x sem juros" below a total: that one is to be
 * paid in all, and what is left of it afterwards is none. */
static gboolean
read_instalment (QmCsvReader *reader, guint row, const char *words)
{
  QmCsvDraft *draft = find_draft_above (reader, row);

  if (draft == NULL || (!draft->has_totals && !is_negative (reader, row))
      || !qm_csv_words_are_instalment (words))
    return FALSE;
  draft->advance = TRUE;
  note_row (reader, draft->quote, row, words,
            _ ("“%s” tells how it is paid, and is no part of the price."));
  return TRUE;
}

/* An amount below the lines without a word beside it is what they come to. */
static gboolean
read_nameless (QmCsvReader *reader, guint row)
{
  QmCsvDraft *draft;
  gint64 micros;

  if (reader->is_ours || reader->drafts->len == 0
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_QUANTITY)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_NUMBER)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_DESCRIPTION)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_PART_NUMBER)
      || !qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &micros)
      || micros <= 0)
    return FALSE;
  draft = g_ptr_array_index (reader->drafts, reader->drafts->len - 1);
  if (draft->quote->lines->len == 0)
    return FALSE;
  micros = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_TOTAL);
  if (micros != QM_AMOUNT_UNSTATED)
    qm_csv_draft_add_total (draft, QM_CSV_ROW_TOTAL, micros);
  return TRUE;
}

/* "Kurs NBP", "Exchange rate": a number that is no amount. */
static gboolean
is_exchange_rate (const char *words)
{
  static const char list[] = QM_WORDS_EXCHANGE_RATE;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (words);

  return qm_csv_phrases_within (qm_csv_phrases_once (&set, list), normal)
         && !qm_words_name_goods (words);
}

/* Whether the words of a total name another currency than the prices have. */
static gboolean
is_in_other_currency (QmCsvReader *reader,
                      const QmCsvDraft *draft,
                      const char *words)
{
  g_autoptr (QmQuote) named = qm_quote_new ();
  const char *currency = draft->quote->currency[0] != '\0'
                             ? draft->quote->currency
                             : reader->mapping->currency;

  qm_csv_head_take_currency (named, words);
  return currency[0] != '\0' && named->currency[0] != '\0'
         && strcmp (currency, named->currency) != 0;
}

/* "Rundung", "Arrotondamento": what makes the total a round one. */
static gboolean
is_rounding (const char *words)
{
  static const char list[] = QM_WORDS_ROUNDING;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (words);

  return qm_csv_phrases_find (qm_csv_phrases_once (&set, list), normal,
                              strlen (normal))
         != 0;
}

/* Leaves a row below the lines out that is no amount of the quote. */
static gboolean
read_beside (QmCsvReader *reader, guint row, const char *words)
{
  QmCsvDraft *draft = find_draft_above (reader, row);

  if (draft == NULL || !draft->has_totals)
    return FALSE;
  if (is_rounding (words))
    return TRUE;
  if ((!is_exchange_rate (words)
       && !(qm_csv_row_kind_of (words) != QM_CSV_ROW_LINE
            && is_in_other_currency (reader, draft, words))))
    return FALSE;
  note_row (reader, draft->quote, row, words,
            _ ("“%s” is a rate, or an amount in another currency; it was left "
               "out."));
  return TRUE;
}

/* What a line costs, in millionths; unstated where it does not say. */
static gint64
cost_of_line (const QmQuoteLine *line)
{
  gint64 cost;

  if (line->total_minor != QM_AMOUNT_UNSTATED)
    return line->total_minor;
  return line->price_micros != QM_AMOUNT_UNSTATED
                 && line->quantity_micros != QM_AMOUNT_UNSTATED
                 && qm_exact_scale (line->price_micros, line->quantity_micros,
                                    QM_MICROS_PER_UNIT, &cost)
             ? cost
             : QM_AMOUNT_UNSTATED;
}

/* Whether a row without a quantity, which all lines above have, names no goods
 * and has what these come to, before or after what was taken off: a total,
 * whatever it is called. */
static gboolean
is_sum (QmCsvReader *reader, guint row, const char *words)
{
  const QmCsvDraft *draft = find_draft_above (reader, row);
  gint64 off, amount, sum = 0;

  if (draft == NULL || draft->quote->lines->len < 2
      || qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY) < 0
      || reader->role != QM_LINE_QUOTED
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_NUMBER)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_PART_NUMBER)
      || !qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &amount)
      || amount <= 0 || qm_words_name_goods (words))
    return FALSE;
  for (guint i = 0; i < draft->quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);
      gint64 cost = cost_of_line (line);

      if (line->role == QM_LINE_QUOTED
          && (line->quantity_micros == QM_AMOUNT_UNSTATED
              || cost == QM_AMOUNT_UNSTATED || !qm_exact_add (&sum, cost)))
        return FALSE;
    }
  off = draft->quote->discount_minor != QM_AMOUNT_UNSTATED
            ? draft->quote->discount_minor
            : 0;
  return amount == sum || amount == sum - off;
}

/* Notes that a total contains tax, and at which rate. */
static void
note_gross (QmCsvReader *reader,
            QmCsvDraft *draft,
            guint row,
            QmCsvRowKind kind,
            const char *words)
{
  g_autofree char *normal = qm_csv_normalize (words);

  if (kind == QM_CSV_ROW_NET && qm_csv_tax_in (normal) == 0)
    draft->net_said = TRUE;
  if (kind != QM_CSV_ROW_PAYABLE || !qm_csv_words_say_gross (words))
    return;
  draft->gross = TRUE;
  if (draft->tax_rate == 0)
    draft->tax_rate = percent_of_row (reader, row);
}

gboolean
qm_csv_read_total_row (QmCsvReader *reader, guint row)
{
  g_autofree char *words = find_words (reader, row);
  QmCsvRowKind kind;
  QmCsvDraft *draft;
  gint64 micros;
  int column;

  if (words == NULL)
    return read_nameless (reader, row);
  if (read_instalment (reader, row, words) || read_beside (reader, row, words))
    return TRUE;
  kind = kind_of_row (reader, row, words);
  if (kind == QM_CSV_ROW_LINE && is_sum (reader, row, words))
    kind = QM_CSV_ROW_TOTAL;
  if (kind == QM_CSV_ROW_LINE)
    return FALSE;
  column = find_amount (reader, row);
  if (column < 0)
    return read_percent (reader, row, kind, words);
  draft = find_draft_named (reader, row, words);
  /* What comes to a total below what is offered besides is that alone, and what
   * is to be paid below a payment is the rest. */
  if (draft->has_totals && (reader->role != QM_LINE_QUOTED || draft->advance))
    return TRUE;
  if (read_pairs (reader, draft, row))
    return TRUE;
  qm_csv_read_head_fields (reader, draft, row);
  qm_csv_head_take_currency (draft->quote, words);
  draft->rent = draft->rent || qm_words_say_rent (words);
  micros = qm_csv_cell_amount (reader, draft, row, column);
  if (micros == QM_AMOUNT_UNSTATED
      || (column == qm_csv_mapping_column (reader->mapping, QM_CSV_PRICE)
          && !qm_exact_scale (micros, pieces_of (reader, row),
                              QM_MICROS_PER_UNIT, &micros)))
    return TRUE;
  note_gross (reader, draft, row, kind, words);
  read_gross (reader, draft, row, kind, micros);
  if (kind == QM_CSV_ROW_DISCOUNT && qm_csv_words_are_of_payment (words)
      && draft->pending == 0 && draft->after_tax == 0)
    draft->by_payment += ABS (micros);
  if (kind == QM_CSV_ROW_DISCOUNT)
    note_row (reader, draft->quote, row, words,
              _ ("“%s” was read as a discount of the whole quote."));
  return TRUE;
}
