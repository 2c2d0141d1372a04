/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/quotes/qm-line-ask.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>

#define MAX_QUOTES 100000
/* A header further down has so many names, of which so many are known. */
#define LEAST_NAMES 3
#define LEAST_SCORE 2

/* The name in the column of alternatives: "A" below "Option" is "Option A". */
static char *
alternative_in_column (QmCsvReader *reader, guint row, int column)
{
  g_autofree char *value = qm_csv_cell_text (reader, row, column);
  g_autofree char *header = NULL;
  g_autofree char *both = NULL;
  char *name;

  if (value == NULL || reader->is_ours || reader->mapping->header_row < 0)
    return g_steal_pointer (&value);
  if (reader->marks_options)
    return NULL;
  name = qm_csv_alternative_parse (value, NULL);
  if (name != NULL)
    return name;
  header =
      qm_csv_cell_text (reader, (guint) reader->mapping->header_row, column);
  both = g_strdup_printf ("%s %s", header, value);
  return qm_csv_alternative_parse (both, NULL);
}

/* The name in the description, "Variante A: Workstation", "Server (option B)",
 * or in a cell beside it.  A name alone is that of a line where it has a
 * quantity. */
static char *
alternative_in_words (QmCsvReader *reader, guint row)
{
  static const QmCsvField beside[] = { QM_CSV_NUMBER, QM_CSV_PART_NUMBER,
                                       QM_CSV_NOTE };
  g_autofree char *words = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);
  char *name = NULL;

  if (words != NULL)
    name = qm_csv_alternative_find (words);
  /* "Soit 12 000 € TTC" is an amount once more. */
  if (name == NULL && words != NULL && qm_csv_has_amount (reader, row)
      && qm_words_name_goods (words))
    name = qm_csv_alternative_either (words, FALSE, &reader->n_either);
  if (name == NULL && words != NULL
      && !qm_csv_cell_is_empty (reader, row, QM_CSV_QUANTITY))
    name = qm_csv_alternative_parse (words, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (beside) && name == NULL; i++)
    {
      g_autofree char *text = qm_csv_cell_of (reader, row, beside[i]);
      const char *rest = "";

      if (text != NULL)
        name = qm_csv_alternative_parse (text, &rest);
      if (rest[0] != '\0')
        g_clear_pointer (&name, g_free);
    }
  return name;
}

/* Which alternative a row is of: as its column says, or as its words say,
 * or as the heading above it.  A part is of that of the row above.
 * NULL: of none. */
static char *
alternative_of (QmCsvReader *reader, guint row)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_ALTERNATIVE);
  const QmCsvDraft *last = qm_csv_last_draft (reader);
  char *name = column >= 0 ? alternative_in_column (reader, row, column)
                           : alternative_in_words (reader, row);

  if (name != NULL || reader->is_ours)
    return name;
  if (reader->alternative != NULL && column < 0)
    return g_strdup (reader->alternative);
  return last != NULL && !qm_csv_has_amount (reader, row)
             ? g_strdup (last->quote->alternative)
             : NULL;
}

static void
replace (char **text, char *value)
{
  g_free (*text);
  *text = value;
}

static QmCsvDraft *
add_draft (QmCsvReader *reader, const char *alternative)
{
  QmCsvDraft *draft = qm_csv_draft_new (reader->head);

  if (reader->vendor != NULL)
    replace (&draft->quote->vendor, g_strdup (reader->vendor));
  if (reader->number != NULL)
    replace (&draft->quote->number, g_strdup (reader->number));
  draft->quote->alternative = g_strdup (alternative);
  draft->folded = alternative != NULL ? qm_csv_normalize (alternative) : NULL;
  draft->is_ours = reader->is_ours;
  g_ptr_array_add (reader->drafts, draft);
  return draft;
}

/* The draft of what the row before was of, and an alternative. */
static QmCsvDraft *
find_alternative (QmCsvReader *reader, const char *alternative)
{
  g_autofree char *folded =
      alternative != NULL ? qm_csv_normalize (alternative) : g_strdup ("");
  g_autofree char *key =
      g_strjoin ("\n", reader->vendor != NULL ? reader->vendor : "",
                 reader->number != NULL ? reader->number : "", folded, NULL);
  QmCsvDraft *draft = g_hash_table_lookup (reader->by_key, key);

  if (draft == NULL)
    {
      draft = add_draft (reader, alternative);
      g_hash_table_insert (reader->by_key, g_steal_pointer (&key), draft);
    }
  return draft;
}

QmCsvDraft *
qm_csv_find_draft (QmCsvReader *reader, guint row)
{
  g_autofree char *vendor = qm_csv_cell_of (reader, row, QM_CSV_VENDOR);
  g_autofree char *number = qm_csv_cell_of (reader, row, QM_CSV_QUOTE);
  g_autofree char *alternative = alternative_of (reader, row);

  if (vendor != NULL || number != NULL)
    {
      replace (&reader->vendor, g_steal_pointer (&vendor));
      replace (&reader->number, g_steal_pointer (&number));
    }
  return find_alternative (reader, alternative);
}

void
qm_csv_read_head_fields (QmCsvReader *reader, QmCsvDraft *draft, guint row)
{
  static const QmCsvField fields[] = { QM_CSV_ISSUED, QM_CSV_VALID_FROM,
                                       QM_CSV_VALID_UNTIL, QM_CSV_NOTE,
                                       QM_CSV_SUPERSEDES };
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_CURRENCY);
  g_autofree char *code = qm_csv_cell_text (reader, row, column);
  char currency[4] = "";

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int place = qm_csv_mapping_column (reader->mapping, fields[i]);
      g_autofree char *text = qm_csv_cell_text (reader, row, place);

      if (text != NULL)
        qm_csv_head_set (reader, draft->quote, fields[i], row, place, text);
    }
  if (code == NULL)
    return;
  if (qm_amount_parse_currency (code, currency) && currency[0] != '\0')
    qm_csv_set_currency (reader, draft, row, currency);
  else
    qm_csv_cell_report (reader, draft->quote, row, column, code);
}

/* The only text of a row, if it has but one and no amount. */
static char *
only_text (QmCsvReader *reader, guint row)
{
  g_autofree char *text = NULL;
  char currency[4];
  gint64 micros;

  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      g_autofree char *cell = qm_csv_cell_text (reader, row, (int) i);

      if (cell == NULL)
        continue;
      if (text != NULL
          || qm_amount_parse (cell, reader->mapping->decimal, &micros,
                              currency))
        return NULL;
      text = g_steal_pointer (&cell);
    }
  return g_steal_pointer (&text);
}

/* "Option A", "Optional:": what the rows below are. */
static gboolean
read_heading (QmCsvReader *reader, guint row)
{
  g_autofree char *text = reader->is_ours ? NULL : only_text (reader, row);
  g_autofree char *name = NULL;
  QmCsvOffered offered;

  if (text == NULL)
    return FALSE;
  name = qm_csv_alternative_parse (text, NULL);
  if (name == NULL)
    name = qm_csv_alternative_in_brackets (text);
  if (name == NULL)
    name = qm_csv_alternative_either (text, TRUE, &reader->n_either);
  if (name != NULL)
    {
      replace (&reader->alternative, g_steal_pointer (&name));
      reader->role = QM_LINE_QUOTED;
      reader->rent = reader->monthly || qm_words_say_rent (text);
      return TRUE;
    }
  offered = qm_csv_words_say_or (text, TRUE) ? QM_CSV_OFFERED_INSTEAD
                                             : qm_csv_words_offer (text);
  if (offered < QM_CSV_OFFERED_BESIDES)
    return FALSE;
  reader->role =
      offered == QM_CSV_OFFERED_INSTEAD ? QM_LINE_ALTERNATIVE : QM_LINE_OPTION;
  qm_csv_head_read_row (reader,
                        qm_csv_last_draft (reader) != NULL
                            ? qm_csv_last_draft (reader)->quote
                            : reader->head,
                        row);
  return TRUE;
}

/* Whether a row is the rest of the header above it, as where the names of
 * columns stand on several lines: words in columns of amounts, and no number.
 */
static gboolean
is_rest_of_header (QmCsvReader *reader, guint row)
{
  guint n = qm_sheet_n_cells (reader->sheet, row);

  if (reader->is_ours || reader->mapping->header_row + 1 != (int) row
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_DESCRIPTION)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_PART_NUMBER)
      || (qm_csv_cell_is_empty (reader, row, QM_CSV_PRICE)
          && qm_csv_cell_is_empty (reader, row, QM_CSV_TOTAL)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strpbrk (qm_sheet_cell (reader->sheet, row, i), "0123456789=") != NULL)
      return FALSE;
  return TRUE;
}

/* It may have the currency. */
static void
read_rest_of_header (QmCsvReader *reader, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    qm_csv_head_take_currency (reader->head,
                               qm_sheet_cell (reader->sheet, row, i));
}

/* A row with nothing that a line needs. */
static gboolean
is_loose (QmCsvReader *reader, guint row)
{
  gboolean has_words =
      !qm_csv_cell_is_empty (reader, row, QM_CSV_DESCRIPTION)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_PART_NUMBER);
  const QmCsvDraft *last = qm_csv_last_draft (reader);

  if (!qm_csv_cell_is_empty (reader, row, QM_CSV_PRICE)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_TOTAL)
      || !qm_csv_cell_is_empty (reader, row, QM_CSV_ROLE))
    return FALSE;
  if (!has_words || last == NULL)
    return TRUE;
  return last->n_summed > 0
         && qm_csv_cell_is_empty (reader, row, QM_CSV_QUANTITY);
}

/* What stands below the table is said of all alternatives. */
static void
read_loose (QmCsvReader *reader, guint row)
{
  QmCsvDraft *last = qm_csv_last_draft (reader);

  if (last == NULL)
    qm_csv_head_read_row (reader, reader->head, row);
  else if (last->quote->alternative == NULL)
    qm_csv_head_read_row (reader, last->quote, row);
  else
    for (guint i = 0; i < MIN (reader->drafts->len, QM_CSV_MAX_ALTERNATIVES);
         i++)
      {
        QmCsvDraft *draft =
            g_ptr_array_index (reader->drafts, reader->drafts->len - 1 - i);

        if (qm_csv_is_same_document (draft->quote, last->quote))
          qm_csv_head_read_row (reader, draft->quote, row);
      }
}

/* Whether the names of the columns of amounts say for which time they are, and
 * which tax is in them. */
static void
look_at_amounts (QmCsvReader *reader)
{
  static const QmCsvField fields[] = { QM_CSV_PRICE, QM_CSV_TOTAL };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int column = qm_csv_mapping_column (reader->mapping, fields[i]);
      const char *name;
      g_autofree char *normal = NULL;

      if (column < 0 || reader->mapping->header_row < 0)
        continue;
      name = qm_sheet_cell (reader->sheet, (guint) reader->mapping->header_row,
                            (guint) column);
      normal = qm_csv_normalize (name);
      if (strstr (normal, "hour") != NULL || strstr (normal, "stunde") != NULL
          || strstr (normal, "heure") != NULL)
        reader->per_hour = reader->per_hour || fields[i] == QM_CSV_PRICE;
      else if (qm_words_say_rent (name))
        reader->monthly = TRUE;
      if (reader->tax_rate == 0 && qm_csv_tax_in (normal) == 1)
        reader->tax_rate = qm_csv_percent_in (name);
    }
  reader->rent = reader->monthly;
}

static void
look_at_columns (QmCsvReader *reader)
{
  look_at_amounts (reader);
  qm_csv_note_thousands (reader);
  reader->marks_options = !reader->is_ours && qm_csv_has_marks (reader);
}

/* Whether a row of a table that the project wrote is the header of quotes whose
 * prices are others: it differs from the first in their name alone. */
static gboolean
is_our_other_header (QmCsvReader *reader, guint row)
{
  guint header = (guint) reader->mapping->header_row;
  guint others = 0;

  if (reader->drafts->len == 0 || reader->mapping->header_row < 0)
    return FALSE;
  for (guint i = 0; i < reader->mapping->columns->len; i++)
    if (strcmp (qm_sheet_cell (reader->sheet, row, i),
                qm_sheet_cell (reader->sheet, header, i))
        != 0)
      {
        others++;
        if (qm_csv_mapping_field (reader->mapping, i) != QM_CSV_PRICE)
          return FALSE;
      }
  return others > 0;
}

/* Whether a row is the header of another table, with columns of its own. */
static gboolean
is_other_header (QmCsvReader *reader, guint row)
{
  guint names = 0;

  if (reader->is_ours)
    return is_our_other_header (reader, row);
  if (reader->drafts->len == 0 || reader->mapping->header_row < 0)
    return FALSE;
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, i);

      names += cell[0] != '\0';
      if (strpbrk (cell, "0123456789") != NULL)
        return FALSE;
    }
  return names >= LEAST_NAMES
         && qm_csv_header_score (reader->sheet, row) >= LEAST_SCORE;
}

/* Reads on by the columns of another header. */
static void
change_columns (QmCsvReader *reader, guint row)
{
  QmCsvMapping *mapping = qm_csv_mapping_copy (reader->mapping);
  QmTristate tax = mapping->tax_included;
  QmDecimal decimal = mapping->decimal;
  QmDateOrder order = mapping->date_order;

  mapping->header_row = (int) row;
  qm_csv_mapping_guess_columns (mapping, reader->sheet);
  mapping->decimal = decimal;
  mapping->date_order = order;
  if (!reader->is_ours && tax != QM_UNSTATED
      && mapping->tax_included != QM_UNSTATED && tax != mapping->tax_included)
    {
      g_autofree char *place = qm_csv_cell_place (reader, row, -1);

      qm_quote_add_finding (qm_csv_last_draft (reader)->quote,
                            QM_FINDING_WARNING, place,
                            _ ("From here on prices are with tax, or without, "
                               "and above it is the other way round."));
    }
  g_ptr_array_add (reader->mappings, mapping);
  reader->mapping = mapping;
  if (reader->is_ours)
    reader->per_hour = FALSE;
  look_at_columns (reader);
}

/* Whether a row is a header below the first one. */
static gboolean
read_header (QmCsvReader *reader, guint row)
{
  gboolean again = qm_csv_is_header_again (reader, row);
  QmCsvDraft *draft = qm_csv_last_draft (reader);

  if (!again && !is_other_header (reader, row))
    return FALSE;
  if (draft != NULL && draft->quote->alternative == NULL && !reader->is_ours)
    qm_csv_draft_begin_again (draft);
  if (!again)
    change_columns (reader, row);
  return TRUE;
}

static void
read_quote_row (QmCsvReader *reader, guint row)
{
  QmCsvDraft *draft;

  if (qm_sheet_is_blank (reader->sheet, row) || read_header (reader, row)
      || read_heading (reader, row) || qm_csv_read_total_table (reader, row)
      || qm_csv_read_total_row (reader, row))
    return;
  if (is_rest_of_header (reader, row))
    {
      read_rest_of_header (reader, row);
      return;
    }
  if (is_loose (reader, row))
    {
      read_loose (reader, row);
      return;
    }
  draft = qm_csv_find_draft (reader, row);
  draft->rent = draft->rent || reader->rent;
  draft->taxed = reader->mapping->tax_included;
  draft->per_hour = reader->per_hour;
  qm_csv_read_head_fields (reader, draft, row);
  qm_csv_read_line (reader, draft, row);
}

/* Which columns were not used. */
static void
report_columns (QmCsvReader *reader, QmQuote *quote)
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

/* A quote that is for a month or the like is asked about, line by line. */
static void
ask_rent (QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->role == QM_LINE_QUOTED
          && (line->description == NULL
              || !qm_words_say_once (line->description)))
        qm_quote_line_ask (line, QM_ASK_RENT);
    }
  qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                        _ ("The prices seem to be for a month or another time, "
                           "as those of a rent. They do not count until you "
                           "have said whether they are."));
}

static gboolean
has_thousands (QmCsvReader *reader)
{
  int price = qm_csv_mapping_column (reader->mapping, QM_CSV_PRICE);
  int total = qm_csv_mapping_column (reader->mapping, QM_CSV_TOTAL);

  return (price >= 0 && reader->in_thousands[price])
         || (total >= 0 && reader->in_thousands[total]);
}

static void
finish_draft (QmCsvReader *reader, QmCsvDraft *draft, const char *encoding)
{
  QmQuote *quote = draft->quote;

  QmTristate taxed =
      reader->is_ours ? draft->taxed : reader->mapping->tax_included;
  gboolean per_hour = reader->is_ours ? draft->per_hour : reader->per_hour;

  if (taxed != QM_UNSTATED)
    quote->tax_included = taxed;
  if (per_hour)
    quote->unit = QM_PRICE_HOUR;
  if (quote->currency[0] == '\0')
    memcpy (quote->currency, reader->mapping->currency, 4);
  report_columns (reader, quote);
  if (qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY) < 0)
    qm_read_find (quote, QM_FINDING_NOTE, NULL,
                  _ ("There is no column of quantities; each price was "
                     "taken as that of one piece."));
  if (has_thousands (reader))
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("The table says that its amounts are in "
                             "thousands; they were read so."));
  if (strcmp (encoding, "UTF-8") != 0)
    qm_read_find (quote, QM_FINDING_NOTE, NULL,
                  _ ("The file was read in the encoding %s."), encoding);
  if (draft->tax_rate == 0)
    draft->tax_rate = reader->tax_rate;
  qm_csv_draft_finish (draft);
  if (draft->rent && !per_hour)
    ask_rent (quote);
}

static void
finish_drafts (QmCsvReader *reader, const char *encoding, GPtrArray *quotes)
{
  for (guint i = 0; i < reader->drafts->len; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);

      qm_csv_head_settle (reader, draft->quote);
    }
  qm_csv_share (reader);
  if (reader->error != NULL)
    return;
  for (guint i = 0; i < reader->drafts->len; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);

      if (draft->quote->lines->len == 0)
        continue;
      finish_draft (reader, draft, encoding);
      g_ptr_array_add (quotes, g_steal_pointer (&draft->quote));
    }
}

/* Too many to be what they seem. */
static void
check_count (QmCsvReader *reader)
{
  if (reader->drafts->len > MAX_QUOTES && reader->error == NULL)
    reader->error = g_error_new_literal (QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                                         _ ("There are too many quotes."));
}

static void
read_rows (QmCsvReader *reader, GCancellable *cancellable)
{
  guint n = qm_sheet_n_rows (reader->sheet);
  const QmCsvMapping *mapping = reader->mapping;
  int header = mapping->header_row;

  reader->is_ours = qm_csv_mapping_column (reader->mapping, QM_CSV_ROLE) >= 0;
  qm_csv_look_for_thousands (reader);
  look_at_columns (reader);
  for (int i = 0; i < header && (guint) i < n; i++)
    qm_csv_head_read_row (reader, reader->head, (guint) i);
  for (guint i = (guint) (header + 1); i < n && reader->error == NULL; i++)
    {
      if (i % 4096 == 0
          && g_cancellable_set_error_if_cancelled (cancellable, &reader->error))
        return;
      read_quote_row (reader, i);
      check_count (reader);
    }
  /* What holds for a quote as a whole is said by its first header. */
  reader->mapping = mapping;
  look_at_columns (reader);
}

GPtrArray *
qm_quote_csv_read (const char *data,
                   gsize size,
                   const QmCsvMapping *mapping,
                   guint n_above,
                   GCancellable *cancellable,
                   GError **error)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) drafts =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_csv_draft_free);
  g_autoptr (GHashTable) terms =
      g_hash_table_new_full (NULL, NULL, NULL, qm_csv_term_note_free);
  g_autoptr (GHashTable) by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) mappings =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_csv_mapping_free);
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
    QmCsvReader reader = { .sheet = sheet,
                           .mapping = mapping,
                           .mappings = mappings,
                           .n_above = n_above,
                           .head = head,
                           .drafts = drafts,
                           .by_key = by_key,
                           .terms = terms };

    head->origin = QM_QUOTE_FROM_CSV;
    read_rows (&reader, cancellable);
    if (reader.error == NULL)
      finish_drafts (&reader, encoding, quotes);
    g_free (reader.vendor);
    g_free (reader.number);
    g_free (reader.alternative);
    if (reader.error != NULL)
      {
        g_propagate_error (error, reader.error);
        return NULL;
      }
  }
  if (quotes->len > 0)
    return g_steal_pointer (&quotes);
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                       _ ("There are no lines with a price in the table."));
  return NULL;
}
