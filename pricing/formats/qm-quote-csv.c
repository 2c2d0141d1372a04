/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-csv.h"

#include "pricing/formats/qm-csv-draft.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>

#define MAX_QUOTES 100000

typedef struct
{
  const QmSheet *sheet;
  const QmCsvMapping *mapping;
  QmQuote *head;      /* what stands above the table */
  GPtrArray *drafts;  /* of QmCsvDraft, owned */
  GHashTable *by_key; /* borrowed, by vendor and number */
  gboolean per_hour;
  GError *error; /* the first */
} Reader;

/* A cell without what spreadsheets put around text: ="text" and 'text. */
static char *
cell_text (Reader *reader, guint row, int column)
{
  const char *cell;
  gsize length;

  if (column < 0)
    return NULL;
  cell = qm_sheet_cell (reader->sheet, row, (guint) column);
  length = strlen (cell);
  if (length >= 3 && g_str_has_prefix (cell, "=\"") && cell[length - 1] == '"')
    {
      g_autofree char *inner = g_strndup (cell + 2, length - 3);

      return qm_read_text (inner);
    }
  if (cell[0] == '\'' && cell[1] != '\0' && strchr ("=+-@'\t\r", cell[1]))
    cell++;
  return qm_read_text (cell);
}

static char *
field_text (Reader *reader, guint row, QmCsvField field)
{
  return cell_text (reader, row,
                    qm_csv_mapping_column (reader->mapping, field));
}

static gboolean
field_is_empty (Reader *reader, guint row, QmCsvField field)
{
  int column = qm_csv_mapping_column (reader->mapping, field);

  return column < 0
         || qm_sheet_cell (reader->sheet, row, (guint) column)[0] == '\0';
}

/* "row 5, column Price" */
static char *
make_place (Reader *reader, guint row, int column)
{
  g_autofree char *name = NULL;

  if (column >= 0 && reader->mapping->header_row >= 0)
    name = qm_read_excerpt (qm_sheet_cell (
        reader->sheet, (guint) reader->mapping->header_row, (guint) column));
  if (name == NULL || name[0] == '\0')
    return g_strdup_printf (_ ("row %u"), row + 1);
  return g_strdup_printf (_ ("row %u, column %s"), row + 1, name);
}

static void
report_cell (
    Reader *reader, QmQuote *quote, guint row, int column, const char *text)
{
  g_autofree char *place = make_place (reader, row, column);
  g_autofree char *excerpt = qm_read_excerpt (text);

  if (text[0] == '=')
    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("“%s” is a formula, not its result; it was left out. "
                     "Save the table as CSV once more with values shown."),
                  excerpt);
  else
    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("“%s” is not clearly an amount; it was left out."),
                  excerpt);
}

/* The amount in a cell in millionths.  Notes its currency. */
static gint64
read_amount (Reader *reader, QmCsvDraft *draft, guint row, int column)
{
  g_autofree char *text = cell_text (reader, row, column);
  char currency[4] = "";
  gint64 micros;

  if (text == NULL || strcmp (text, "-") == 0 || strcmp (text, "–") == 0)
    return QM_AMOUNT_UNSTATED;
  if (text[0] == '='
      || !qm_amount_parse (text, reader->mapping->decimal, &micros, currency))
    {
      report_cell (reader, draft->quote, row, column, text);
      return QM_AMOUNT_UNSTATED;
    }
  if (currency[0] != '\0')
    qm_csv_draft_set_currency (draft, currency, row, &reader->error);
  return micros;
}

static gint64
read_field (Reader *reader, QmCsvDraft *draft, guint row, QmCsvField field)
{
  int column = qm_csv_mapping_column (reader->mapping, field);

  return column >= 0 ? read_amount (reader, draft, row, column)
                     : QM_AMOUNT_UNSTATED;
}

/* A quantity may have its unit beside it: "2 pcs". */
static gint64
read_quantity (Reader *reader, QmCsvDraft *draft, guint row, QmQuoteLine *line)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY);
  g_autofree char *text = cell_text (reader, row, column);
  g_autofree char *number = NULL;
  char currency[4];
  gint64 micros;
  gsize n;

  if (text == NULL)
    return QM_AMOUNT_UNSTATED;
  n = strspn (text, "-0123456789.,");
  number = g_strndup (text, n);
  if (n == 0
      || !qm_amount_parse (number, reader->mapping->decimal, &micros, currency))
    {
      report_cell (reader, draft->quote, row, column, text);
      return QM_AMOUNT_UNSTATED;
    }
  while (text[n] == ' ')
    n++;
  if (text[n] != '\0' && line->unit == NULL
      && g_ascii_strcasecmp (text + n, "x") != 0)
    line->unit = qm_read_text (text + n);
  return micros;
}

static void
read_discount (Reader *reader, QmCsvDraft *draft, guint row, QmQuoteLine *line)
{
  static const QmCsvField fields[] = { QM_CSV_DISCOUNT,
                                       QM_CSV_DISCOUNT_PERCENT };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int column = qm_csv_mapping_column (reader->mapping, fields[i]);
      g_autofree char *text = cell_text (reader, row, column);
      char *sign = text != NULL ? strchr (text, '%') : NULL;
      char currency[4];
      gint64 micros;

      if (text == NULL)
        continue;
      if (sign == NULL && fields[i] == QM_CSV_DISCOUNT)
        {
          gint64 amount = read_amount (reader, draft, row, column);

          line->discount_minor =
              amount != QM_AMOUNT_UNSTATED ? ABS (amount) : 0;
          continue;
        }
      if (sign != NULL)
        *sign = '\0';
      if (qm_amount_parse (text, reader->mapping->decimal, &micros, currency)
          && ABS (micros) <= 100 * (gint64) QM_MICROS_PER_UNIT)
        qm_csv_draft_set_percent (draft, ABS (micros));
      else
        report_cell (reader, draft->quote, row, column, text);
    }
}

/* The date in a text, or the days for which a quote holds. */
static QmDate
read_date (
    Reader *reader, QmQuote *quote, guint row, int column, const char *text)
{
  QmDate date = { 0 };
  char word[16];
  int days;

  if (qm_csv_date_parse (text, reader->mapping->date_order, &date))
    return date;
  if (sscanf (text, "%3d %15s", &days, word) == 2 && days > 0
      && strchr ("dDtTjJgG", word[0]) != NULL && quote->issued_on.day != 0)
    {
      g_autofree char *place = make_place (reader, row, column);

      qm_read_find (quote, QM_FINDING_NOTE, place,
                    _ ("The quote says for how long it holds: %d days. Its "
                       "last day was counted from that."),
                    days);
      return qm_read_date_add (quote->issued_on, days);
    }
  {
    g_autofree char *place = make_place (reader, row, column);
    g_autofree char *excerpt = qm_read_excerpt (text);

    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("“%s” is not clearly a date; it was left out."), excerpt);
  }
  return (QmDate){ 0 };
}

static void
set_date (Reader *reader,
          QmQuote *quote,
          QmDate *date,
          guint row,
          int column,
          const char *text)
{
  if (date->year == 0)
    *date = read_date (reader, quote, row, column, text);
}

/* Adds to the note what is not in it yet. */
static void
append_note (QmQuote *quote, const char *text)
{
  g_autofree char *both = NULL;

  if (quote->note != NULL && strstr (quote->note, text) != NULL)
    return;
  both = g_strconcat (quote->note != NULL ? quote->note : "", "\n", text, NULL);
  g_free (quote->note);
  quote->note = qm_read_text (both);
}

/* Puts a value that holds for the whole quote where it belongs.  FALSE where
 * the field is not of that kind. */
static gboolean
set_head (Reader *reader,
          QmQuote *quote,
          QmCsvField field,
          guint row,
          int column,
          const char *text)
{
  char currency[4] = "";

  switch (field)
    {
    case QM_CSV_VENDOR:
      if (quote->vendor == NULL)
        quote->vendor = qm_read_text (text);
      return TRUE;
    case QM_CSV_QUOTE:
      if (quote->number == NULL)
        quote->number = qm_read_text (text);
      return TRUE;
    case QM_CSV_ALTERNATIVE:
      if (quote->alternative == NULL)
        quote->alternative = qm_read_text (text);
      return TRUE;
    case QM_CSV_SUPERSEDES:
      if (quote->supersedes == NULL)
        quote->supersedes = qm_read_text (text);
      return TRUE;
    case QM_CSV_NOTE:
      append_note (quote, text);
      return TRUE;
    case QM_CSV_ISSUED:
      set_date (reader, quote, &quote->issued_on, row, column, text);
      return TRUE;
    case QM_CSV_VALID_FROM:
      set_date (reader, quote, &quote->valid_from, row, column, text);
      return TRUE;
    case QM_CSV_VALID_UNTIL:
      set_date (reader, quote, &quote->valid_until, row, column, text);
      return TRUE;
    case QM_CSV_CURRENCY:
      if (qm_amount_parse_currency (text, currency) && currency[0] != '\0'
          && quote->currency[0] == '\0')
        memcpy (quote->currency, currency, 4);
      return TRUE;
    default:
      return FALSE;
    }
}

/* "Valid until: 31.12.2026" in one cell, or in two. */
static gboolean
read_pair (Reader *reader, QmQuote *quote, guint row, guint *column)
{
  g_autofree char *text = cell_text (reader, row, (int) *column);
  g_autofree char *value = NULL;
  char *colon = text != NULL ? strchr (text, ':') : NULL;
  guint next = *column + 1;
  QmCsvField field;
  int tax;

  if (text == NULL)
    return TRUE;
  if (colon != NULL && colon[1] != '\0')
    {
      *colon = '\0';
      field = qm_csv_field_of (text, &tax);
      if (set_head (reader, quote, field, row, -1, g_strstrip (colon + 1)))
        return TRUE;
      *colon = ':';
      return FALSE;
    }
  while (next < qm_sheet_n_cells (reader->sheet, row)
         && qm_sheet_cell (reader->sheet, row, next)[0] == '\0')
    next++;
  value = cell_text (reader, row, (int) next);
  field = qm_csv_field_of (text, &tax);
  if (value == NULL || !set_head (reader, quote, field, row, -1, value))
    return FALSE;
  *column = next;
  return TRUE;
}

/* A row above or below the table: what is no pair becomes the note. */
static void
read_loose_row (Reader *reader, QmQuote *quote, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      g_autofree char *text = cell_text (reader, row, (int) i);

      if (!read_pair (reader, quote, row, &i))
        append_note (quote, text);
    }
}

/* The draft that a row belongs to, by its vendor, number and alternative. */
static QmCsvDraft *
find_draft (Reader *reader, guint row)
{
  g_autofree char *vendor = field_text (reader, row, QM_CSV_VENDOR);
  g_autofree char *number = field_text (reader, row, QM_CSV_QUOTE);
  g_autofree char *alternative = field_text (reader, row, QM_CSV_ALTERNATIVE);
  g_autofree char *key = NULL;
  QmCsvDraft *draft;

  if (vendor == NULL && number == NULL && reader->drafts->len > 0)
    return g_ptr_array_index (reader->drafts, reader->drafts->len - 1);
  key = g_strconcat (vendor != NULL ? vendor : "", "\n",
                     number != NULL ? number : "", "\n",
                     alternative != NULL ? alternative : "", NULL);
  draft = g_hash_table_lookup (reader->by_key, key);
  if (draft != NULL)
    return draft;
  draft = qm_csv_draft_new (reader->head);
  if (vendor != NULL)
    {
      g_free (draft->quote->vendor);
      draft->quote->vendor = g_steal_pointer (&vendor);
    }
  if (number != NULL)
    {
      g_free (draft->quote->number);
      draft->quote->number = g_steal_pointer (&number);
    }
  g_ptr_array_add (reader->drafts, draft);
  g_hash_table_insert (reader->by_key, g_steal_pointer (&key), draft);
  return draft;
}

static void
read_head_fields (Reader *reader, QmCsvDraft *draft, guint row)
{
  static const QmCsvField fields[] = { QM_CSV_ISSUED,      QM_CSV_VALID_FROM,
                                       QM_CSV_VALID_UNTIL, QM_CSV_NOTE,
                                       QM_CSV_ALTERNATIVE, QM_CSV_SUPERSEDES };
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_CURRENCY);
  g_autofree char *code = cell_text (reader, row, column);
  char currency[4] = "";

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int place = qm_csv_mapping_column (reader->mapping, fields[i]);
      g_autofree char *text = cell_text (reader, row, place);

      if (text != NULL)
        set_head (reader, draft->quote, fields[i], row, place, text);
    }
  if (code == NULL)
    return;
  if (qm_amount_parse_currency (code, currency) && currency[0] != '\0')
    qm_csv_draft_set_currency (draft, currency, row, &reader->error);
  else
    report_cell (reader, draft->quote, row, column, code);
}

static QmLineRole
read_role (Reader *reader,
           guint row,
           gboolean has_amount,
           const QmCsvDraft *draft)
{
  g_autofree char *word = field_text (reader, row, QM_CSV_ROLE);

  for (int i = 0; word != NULL && i < QM_N_LINE_ROLES; i++)
    if (strcmp (word, qm_line_role_name ((QmLineRole) i)) == 0)
      return (QmLineRole) i;
  return has_amount || draft->quote->lines->len == 0 ? QM_LINE_QUOTED
                                                     : QM_LINE_PART;
}

static QmLineThing
read_thing (Reader *reader, guint row)
{
  g_autofree char *word = field_text (reader, row, QM_CSV_THING);

  for (int i = 0; word != NULL && i < QM_N_THINGS; i++)
    if (strcmp (word, qm_line_thing_name ((QmLineThing) i)) == 0)
      return (QmLineThing) i;
  return QM_THING_UNSTATED;
}

static void
read_line (Reader *reader, QmCsvDraft *draft, guint row)
{
  gboolean has_amount = !field_is_empty (reader, row, QM_CSV_PRICE)
                        || !field_is_empty (reader, row, QM_CSV_TOTAL);
  QmQuoteLine *line =
      qm_csv_draft_add (draft, read_role (reader, row, has_amount, draft));
  gint64 charge, base;

  line->thing = read_thing (reader, row);
  line->number = field_text (reader, row, QM_CSV_NUMBER);
  line->part_number = field_text (reader, row, QM_CSV_PART_NUMBER);
  line->description = field_text (reader, row, QM_CSV_DESCRIPTION);
  line->unit = field_text (reader, row, QM_CSV_UNIT);
  line->quantity_micros = read_quantity (reader, draft, row, line);
  line->price_micros = read_field (reader, draft, row, QM_CSV_PRICE);
  line->total_minor = read_field (reader, draft, row, QM_CSV_TOTAL);
  if (line->price_micros != QM_AMOUNT_UNSTATED
      && qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY) < 0)
    line->quantity_micros = QM_MICROS_PER_UNIT;
  base = read_field (reader, draft, row, QM_CSV_BASE_QUANTITY);
  if (base > 0)
    line->base_quantity_micros = base;
  charge = read_field (reader, draft, row, QM_CSV_CHARGE);
  if (charge > 0)
    line->charge_minor = charge;
  read_discount (reader, draft, row, line);
}

/* The first cell of a row that is no number. */
static char *
find_words (Reader *reader, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      g_autofree char *text = cell_text (reader, row, (int) i);
      QmCsvField field = qm_csv_mapping_field (reader->mapping, i);
      char currency[4];
      gint64 micros;

      if (text != NULL && field != QM_CSV_VENDOR && field != QM_CSV_QUOTE
          && field != QM_CSV_ALTERNATIVE && field != QM_CSV_SUPERSEDES
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
find_amount (Reader *reader, guint row)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_TOTAL);
  gint64 micros;
  char currency[4];

  if (column >= 0
      && qm_sheet_cell (reader->sheet, row, (guint) column)[0] != '\0')
    return column;
  for (column = (int) qm_sheet_n_cells (reader->sheet, row) - 1; column > 0;
       column--)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, (guint) column);

      if (cell[0] == '=')
        return column;
      if (cell[0] != '\0' && strchr (cell, '%') == NULL
          && qm_amount_parse (cell, reader->mapping->decimal, &micros,
                              currency))
        return column;
    }
  return -1;
}

/* Reads a row of totals.  FALSE: it is none. */
static gboolean
read_total_row (Reader *reader, guint row)
{
  g_autofree char *words = find_words (reader, row);
  g_autofree char *part = field_text (reader, row, QM_CSV_PART_NUMBER);
  QmCsvRowKind kind;
  QmCsvDraft *draft;
  gint64 micros;
  int column;

  if (words == NULL || !field_is_empty (reader, row, QM_CSV_QUANTITY)
      || !field_is_empty (reader, row, QM_CSV_ROLE)
      || (part != NULL && strcmp (part, words) != 0))
    return FALSE;
  kind = qm_csv_row_kind_of (words);
  column = find_amount (reader, row);
  if (kind == QM_CSV_ROW_LINE || column < 0)
    return FALSE;
  draft = find_draft (reader, row);
  read_head_fields (reader, draft, row);
  micros = read_amount (reader, draft, row, column);
  if (micros != QM_AMOUNT_UNSTATED)
    qm_csv_draft_add_total (draft, kind, micros);
  return TRUE;
}

static gboolean
is_header_again (Reader *reader, guint row)
{
  guint header = (guint) reader->mapping->header_row;

  if (reader->mapping->header_row < 0)
    return FALSE;
  for (guint i = 0; i < reader->mapping->columns->len; i++)
    if (strcmp (qm_sheet_cell (reader->sheet, row, i),
                qm_sheet_cell (reader->sheet, header, i))
        != 0)
      return FALSE;
  return TRUE;
}

/* A row with nothing that a line needs. */
static gboolean
is_loose (Reader *reader, guint row)
{
  gboolean has_amount = !field_is_empty (reader, row, QM_CSV_PRICE)
                        || !field_is_empty (reader, row, QM_CSV_TOTAL);
  gboolean has_words = !field_is_empty (reader, row, QM_CSV_DESCRIPTION)
                       || !field_is_empty (reader, row, QM_CSV_PART_NUMBER);
  const QmCsvDraft *last =
      reader->drafts->len > 0
          ? g_ptr_array_index (reader->drafts, reader->drafts->len - 1)
          : NULL;

  if (has_amount || !field_is_empty (reader, row, QM_CSV_ROLE))
    return FALSE;
  if (!has_words || last == NULL)
    return TRUE;
  return last->has_totals && field_is_empty (reader, row, QM_CSV_QUANTITY);
}

static void
read_row (Reader *reader, guint row)
{
  QmCsvDraft *draft;

  if (qm_sheet_is_blank (reader->sheet, row) || is_header_again (reader, row)
      || read_total_row (reader, row))
    return;
  if (is_loose (reader, row))
    {
      draft = reader->drafts->len > 0
                  ? g_ptr_array_index (reader->drafts, reader->drafts->len - 1)
                  : NULL;
      read_loose_row (reader, draft != NULL ? draft->quote : reader->head, row);
      return;
    }
  draft = find_draft (reader, row);
  read_head_fields (reader, draft, row);
  read_line (reader, draft, row);
}

/* Which columns were not used. */
static void
report_columns (Reader *reader, QmQuote *quote)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint header = (guint) reader->mapping->header_row;

  for (guint i = 0;
       reader->mapping->header_row >= 0 && i < reader->mapping->columns->len;
       i++)
    {
      g_autofree char *name =
          qm_read_text (qm_sheet_cell (reader->sheet, header, i));

      if (name != NULL
          && qm_csv_mapping_field (reader->mapping, i) == QM_CSV_IGNORED
          && names->len < 400)
        g_string_append_printf (names, "%s“%s”", names->len > 0 ? ", " : "",
                                name);
    }
  if (names->len > 0)
    qm_read_find (quote, QM_FINDING_NOTE, NULL,
                  _ ("Columns that were not used: %s."), names->str);
}

static void
look_for_hours (Reader *reader)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_PRICE);
  g_autofree char *name = NULL;

  if (column < 0 || reader->mapping->header_row < 0)
    return;
  name = qm_csv_normalize (qm_sheet_cell (
      reader->sheet, (guint) reader->mapping->header_row, (guint) column));
  reader->per_hour = strstr (name, "hour") != NULL
                     || strstr (name, "stunde") != NULL
                     || strstr (name, "heure") != NULL;
}

static void
finish_drafts (Reader *reader, const char *encoding, GPtrArray *quotes)
{
  for (guint i = 0; i < reader->drafts->len; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);
      QmQuote *quote = draft->quote;

      if (quote->lines->len == 0)
        continue;
      quote->tax_included = reader->mapping->tax_included;
      if (reader->per_hour)
        quote->unit = QM_PRICE_HOUR;
      if (quote->currency[0] == '\0')
        memcpy (quote->currency, reader->mapping->currency, 4);
      report_columns (reader, quote);
      if (qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY) < 0)
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      _ ("There is no column of quantities; each price was "
                         "taken as that of one piece."));
      if (strcmp (encoding, "UTF-8") != 0)
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      _ ("The file was read in the encoding %s."), encoding);
      draft->is_ours =
          qm_csv_mapping_column (reader->mapping, QM_CSV_ROLE) >= 0;
      qm_csv_draft_finish (draft);
      g_ptr_array_add (quotes, g_steal_pointer (&draft->quote));
    }
}

static void
read_rows (Reader *reader, GCancellable *cancellable)
{
  guint n = qm_sheet_n_rows (reader->sheet);
  int header = reader->mapping->header_row;

  look_for_hours (reader);
  for (int i = 0; i < header && (guint) i < n; i++)
    read_loose_row (reader, reader->head, (guint) i);
  for (guint i = (guint) (header + 1); i < n && reader->error == NULL; i++)
    {
      if (i % 4096 == 0
          && g_cancellable_set_error_if_cancelled (cancellable, &reader->error))
        return;
      read_row (reader, i);
      if (reader->drafts->len > MAX_QUOTES)
        reader->error =
            g_error_new_literal (QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                                 _ ("There are too many quotes."));
    }
}

GPtrArray *
qm_quote_csv_read (const char *data,
                   gsize size,
                   const QmCsvMapping *mapping,
                   GCancellable *cancellable,
                   GError **error)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) drafts =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_csv_draft_free);
  g_autoptr (GHashTable) by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (QmQuote) head = qm_quote_new ();
  g_autoptr (QmSheet) sheet = NULL;
  g_autofree char *text = NULL;
  const char *encoding;
  gsize length;

  g_return_val_if_fail (mapping != NULL, NULL);

  if (!qm_csv_mapping_check (mapping, error))
    return NULL;
  text = qm_sheet_decode (data != NULL ? data : "", size, mapping->encoding,
                          &length, &encoding, error);
  if (text == NULL)
    return NULL;
  sheet =
      qm_sheet_new (text, length, mapping->delimiter, 0, cancellable, error);
  if (sheet == NULL)
    return NULL;
  {
    Reader reader = { sheet, mapping, head, drafts, by_key, FALSE, NULL };

    head->origin = QM_QUOTE_FROM_CSV;
    read_rows (&reader, cancellable);
    if (reader.error != NULL)
      {
        g_propagate_error (error, reader.error);
        return NULL;
      }
    finish_drafts (&reader, encoding, quotes);
  }
  if (quotes->len > 0)
    return g_steal_pointer (&quotes);
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                       _ ("There are no lines with a price in the table."));
  return NULL;
}
