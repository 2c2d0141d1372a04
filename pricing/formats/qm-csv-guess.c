/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-mapping.h"
#include "pricing/formats/qm-csv-reader.h"
#include "pricing/qm-amount.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"

#include <stdio.h>
#include <string.h>

/* So many bytes and rows are looked at for the header, ... */
#define LOOK_BYTES ((gsize) 1 << 17)
#define LOOK_ROWS  60
/* ... and so many rows below it for how numbers and dates are written. */
#define SAMPLE_ROWS 2000
/* A row further down that names more fields is another header. */
#define MOST_NAMES 2

guint
qm_csv_header_score (const QmSheet *sheet, guint row)
{
  guint n = qm_sheet_n_cells (sheet, row);
  guint32 seen = 0, score = 0;
  int tax;

  for (guint i = 0; i < n; i++)
    {
      QmCsvField field = qm_csv_field_of (qm_sheet_cell (sheet, row, i), &tax);

      if (field != QM_CSV_IGNORED && (seen & (1u << field)) == 0)
        {
          seen |= 1u << field;
          score++;
        }
    }
  return qm_csv_fields_suffice (seen) ? score : 0;
}

static int
find_header (const QmSheet *sheet, guint *best)
{
  int header = -1;

  *best = 0;
  for (guint i = 0; i < MIN (qm_sheet_n_rows (sheet), LOOK_ROWS); i++)
    {
      guint score = qm_csv_header_score (sheet, i);

      if (score > *best)
        {
          *best = score;
          header = (int) i;
        }
    }
  return header;
}

/* Whether a row has two names or more and no numbers, and numbers stand
 * below it. */
static gboolean
could_be_header (const QmSheet *sheet, guint row)
{
  guint n = qm_sheet_n_cells (sheet, row), names = 0;
  gboolean numbers = FALSE;

  for (guint i = 0; i < n; i++)
    {
      const char *cell = qm_sheet_cell (sheet, row, i);
      const char *below = qm_sheet_cell (sheet, row + 1, i);

      if (g_ascii_isdigit (cell[0]))
        return FALSE;
      names += cell[0] != '\0';
      numbers = numbers || g_ascii_isdigit (below[0]);
    }
  return names >= 2 && numbers;
}

/* How many rows have as many cells as most do, if that is more than one. */
static guint
score_rows (const QmSheet *sheet)
{
  guint counts[QM_SHEET_MAX_COLUMNS + 1] = { 0 };
  guint best = 0;

  for (guint i = 0; i < MIN (qm_sheet_n_rows (sheet), LOOK_ROWS); i++)
    counts[qm_sheet_n_cells (sheet, i)]++;
  for (guint i = 2; i <= QM_SHEET_MAX_COLUMNS; i++)
    best = MAX (best, counts[i]);
  return best;
}

/* Tries one encoding and delimiter; keeps them where they are better. */
static void
try_delimiter (QmCsvMapping *mapping,
               const char *text,
               gsize length,
               char delimiter,
               const char *encoding,
               guint *best)
{
  g_autoptr (QmSheet) sheet =
      qm_sheet_new (text, length, delimiter, LOOK_ROWS, NULL, NULL);
  guint score, header_score;
  int header;

  if (sheet == NULL)
    return;
  header = find_header (sheet, &header_score);
  score = header_score * 1000 + score_rows (sheet) + 1;
  if (score <= *best)
    return;
  *best = score;
  mapping->delimiter = delimiter;
  mapping->header_row = header;
  g_free (mapping->encoding);
  mapping->encoding = g_strdup (encoding);
}

/* The beginning of a text, up to the end of a row. */
static gsize
beginning (const char *text, gsize length)
{
  const char *end;

  if (length <= LOOK_BYTES)
    return length;
  end = g_strrstr_len (text, LOOK_BYTES, "\n");
  return end != NULL ? (gsize) (end - text) + 1 : LOOK_BYTES;
}

static gboolean
try_encoding (QmCsvMapping *mapping,
              const char *data,
              gsize size,
              const char *encoding,
              guint *best,
              GError **error)
{
  static const char delimiters[] = ",;\t|";
  const char *used;
  gsize length;
  g_autofree char *text =
      qm_sheet_decode (data, size, encoding, &length, &used, error);
  char declared;

  if (text == NULL)
    return FALSE;
  declared = qm_sheet_declared_delimiter (text);
  if (strcmp (used, "UTF-8") == 0)
    used = NULL;
  for (const char *d = delimiters; *d != '\0'; d++)
    if (declared == '\0' || declared == *d)
      try_delimiter (mapping, text, beginning (text, length), *d, used, best);
  return TRUE;
}

/* Notes which decimal point an amount can only have. */
static void
count_decimal (const char *cell, guint *points, guint *commas)
{
  const char *last = NULL;
  gsize n = 0;
  gboolean both = strchr (cell, '.') != NULL && strchr (cell, ',') != NULL;

  for (const char *p = cell; *p != '\0'; p++)
    if (*p == '.' || *p == ',')
      {
        last = p;
        n = 0;
      }
    else if (g_ascii_isdigit (*p))
      n++;
  if (last == NULL || (n == 3 && !both) || n == 0 || n > 6)
    return;
  *(*last == '.' ? points : commas) += 1;
}

/* Notes whether the dates with strokes in a cell can only begin with their day
 * or month. */
static void
count_order (const char *cell, guint *days, guint *months)
{
  for (const char *p = cell; *p != '\0'; p++)
    {
      int first, second, year, end = 0;

      if (!g_ascii_isdigit (*p) || (p > cell && g_ascii_isalnum (p[-1])))
        continue;
      if ((sscanf (p, "%2d/%2d/%4d%n", &first, &second, &year, &end) != 3
           && sscanf (p, "%2d-%2d-%4d%n", &first, &second, &year, &end) != 3)
          || g_ascii_isdigit (p[end]))
        continue;
      if (first > 12 && first <= 31 && second <= 12)
        (*days)++;
      else if (second > 12 && second <= 31 && first <= 12)
        (*months)++;
      p += end - 1;
    }
}

static void
guess_formats (QmCsvMapping *mapping, const QmSheet *sheet)
{
  guint points = 0, commas = 0, days = 0, months = 0;
  guint first = (guint) (mapping->header_row + 1);
  guint end = MIN (qm_sheet_n_rows (sheet), first + SAMPLE_ROWS);

  /* Only the project's own tables have roles. */
  if (qm_csv_mapping_column (mapping, QM_CSV_ROLE) >= 0)
    {
      mapping->decimal = QM_DECIMAL_POINT;
      return;
    }
  for (guint row = 0; row < end; row++)
    for (guint i = 0; i < MAX (mapping->columns->len,
                               row < first ? qm_sheet_n_cells (sheet, row) : 0);
         i++)
      {
        const char *cell = qm_sheet_cell (sheet, row, i);
        QmCsvField field = qm_csv_mapping_field (mapping, i);

        if (row >= first
            && (field == QM_CSV_PRICE || field == QM_CSV_TOTAL
                || field == QM_CSV_DISCOUNT || field == QM_CSV_CHARGE))
          count_decimal (cell, &points, &commas);
        else
          count_order (cell, &days, &months);
      }
  if ((points > 0) != (commas > 0))
    mapping->decimal = points > 0 ? QM_DECIMAL_POINT : QM_DECIMAL_COMMA;
  else
    mapping->decimal = QM_DECIMAL_GUESS;
  if ((days > 0) != (months > 0))
    mapping->date_order = days > 0 ? QM_DATES_DAY_FIRST : QM_DATES_MONTH_FIRST;
  else
    mapping->date_order = QM_DATES_GUESS;
}

/* The currency that a column's name has: "Price (EUR)", "Total in €". */
static void
guess_currency (QmCsvMapping *mapping, const char *name)
{
  g_auto (GStrv) words = g_strsplit_set (name, " ()[]/:,", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *word = words[i];
      char currency[4] = "";

      /* "k€", "TEUR" */
      if (word[0] != '\0' && strchr ("kKtT", word[0]) != NULL
          && qm_csv_says_thousands (word))
        word++;
      if (word[0] != '\0' && qm_amount_parse_currency (word, currency)
          && currency[0] != '\0' && mapping->currency[0] == '\0')
        memcpy (mapping->currency, currency, 4);
    }
}

/* "Qty per server": how many go into one of several. */
static gboolean
is_of_one (const char *name)
{
  static const char *const words[] = { " per ", " pro ", " je ",
                                       " par ", " por ", " za " };
  g_autofree char *normal = qm_csv_normalize (name);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (normal, words[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* Whether a column is a better holder of a field than the one before: of
 * prices with and without tax, those without; of quantities, those of all. */
static gboolean
is_better_column (const QmCsvMapping *mapping,
                  const QmSheet *sheet,
                  QmCsvField field,
                  int tax)
{
  int before = qm_csv_mapping_column (mapping, field);

  return before < 0
         || (field == QM_CSV_PRICE && tax == 0
             && mapping->tax_included == QM_YES)
         || (field == QM_CSV_QUANTITY
             && is_of_one (qm_sheet_cell (sheet, (guint) mapping->header_row,
                                          (guint) before)));
}

static gboolean
is_number (const char *cell)
{
  char currency[4];
  gint64 micros;

  return cell[0] != '\0'
         && (cell[strspn (cell, "0123456789.")] == '\0'
             || qm_amount_parse (cell, QM_DECIMAL_GUESS, &micros, currency));
}

/* How much stands in a column below the header; `numbers` is whether most of
 * its cells are numbers. */
static gsize
measure_column (const QmSheet *sheet,
                guint first,
                guint column,
                gboolean *numbers)
{
  guint end = MIN (qm_sheet_n_rows (sheet), first + LOOK_ROWS);
  guint cells = 0, plain = 0;
  gsize length = 0;

  /* Further down another table may begin. */
  for (guint row = first;
       row < end && qm_csv_header_score (sheet, row) <= MOST_NAMES; row++)
    {
      const char *cell = qm_sheet_cell (sheet, row, column);

      length += strlen (cell);
      cells += cell[0] != '\0';
      plain += is_number (cell);
    }
  *numbers = 2 * plain >= cells;
  return length;
}

/* Whether a column names goods below the header. */
static gboolean
has_words (const QmSheet *sheet, guint first, guint column)
{
  guint end = MIN (qm_sheet_n_rows (sheet), first + LOOK_ROWS);

  for (guint row = first; row < end; row++)
    if (qm_words_name_goods (qm_sheet_cell (sheet, row, column)))
      return TRUE;
  return FALSE;
}

/* Of two columns for the description ("Item", "Description") the one with more
 * in it is meant; the other may be the number of the line or part. */
static void
choose_description (QmCsvMapping *mapping, const QmSheet *sheet, guint second)
{
  guint below = (guint) mapping->header_row + 1;
  guint first = (guint) qm_csv_mapping_column (mapping, QM_CSV_DESCRIPTION);
  gboolean first_numbers, second_numbers, numbers;
  gsize first_length = measure_column (sheet, below, first, &first_numbers);
  gsize second_length = measure_column (sheet, below, second, &second_numbers);
  guint loser = second_length > first_length ? first : second;

  if (loser == first)
    qm_csv_mapping_set_field (mapping, second, QM_CSV_DESCRIPTION);
  numbers = loser == first ? first_numbers : second_numbers;
  if (numbers && qm_csv_mapping_column (mapping, QM_CSV_NUMBER) < 0)
    qm_csv_mapping_set_field (mapping, loser, QM_CSV_NUMBER);
  else if (!numbers && qm_csv_mapping_column (mapping, QM_CSV_PART_NUMBER) < 0)
    qm_csv_mapping_set_field (mapping, loser, QM_CSV_PART_NUMBER);
}

/* "Item" may be the name of a column of numbers, and what is sold stand in one
 * with another name: the only one with words. */
static void
find_description (QmCsvMapping *mapping, const QmSheet *sheet)
{
  guint below = (guint) mapping->header_row + 1;
  int description = qm_csv_mapping_column (mapping, QM_CSV_DESCRIPTION);
  int found = -1;
  gboolean numbers;

  if (description < 0)
    return;
  measure_column (sheet, below, (guint) description, &numbers);
  for (guint i = 0; numbers && i < mapping->columns->len; i++)
    {
      gboolean other;

      if (qm_csv_mapping_field (mapping, i) != QM_CSV_IGNORED
          || !has_words (sheet, below, i))
        continue;
      measure_column (sheet, below, i, &other);
      if (other)
        continue;
      if (found >= 0)
        return;
      found = (int) i;
    }
  if (found < 0)
    return;
  qm_csv_mapping_set_field (mapping, (guint) found, QM_CSV_DESCRIPTION);
  if (qm_csv_mapping_column (mapping, QM_CSV_NUMBER) < 0)
    qm_csv_mapping_set_field (mapping, (guint) description, QM_CSV_NUMBER);
}

/* Of two columns of totals the one with tax is kept beside the other. */
static void
set_total (QmCsvMapping *mapping, guint column, int tax, int *tax_of_total)
{
  int before = qm_csv_mapping_column (mapping, QM_CSV_TOTAL);

  if (before >= 0 && tax == 1 && *tax_of_total != 1)
    {
      qm_csv_mapping_set_field (mapping, column, QM_CSV_TOTAL_GROSS);
      return;
    }
  if (before >= 0 && (tax == 1 || *tax_of_total != 1))
    return;
  qm_csv_mapping_set_field (mapping, column, QM_CSV_TOTAL);
  if (before >= 0)
    qm_csv_mapping_set_field (mapping, (guint) before, QM_CSV_TOTAL_GROSS);
  *tax_of_total = tax;
}

static void
note_tax (QmCsvMapping *mapping, QmCsvField field, int tax)
{
  if ((field == QM_CSV_PRICE
       || (field == QM_CSV_TOTAL
           && qm_csv_mapping_column (mapping, QM_CSV_PRICE) < 0))
      && tax >= 0)
    mapping->tax_included = tax == 1 ? QM_YES : QM_NO;
}

/* Without a description, "Variant" names what is sold. */
static void
name_alternatives (QmCsvMapping *mapping)
{
  int column = qm_csv_mapping_column (mapping, QM_CSV_ALTERNATIVE);

  if (column >= 0 && qm_csv_mapping_column (mapping, QM_CSV_DESCRIPTION) < 0
      && qm_csv_mapping_column (mapping, QM_CSV_PART_NUMBER) < 0)
    qm_csv_mapping_set_field (mapping, (guint) column, QM_CSV_DESCRIPTION);
}

/* The same for a mapping of which delimiter, encoding and header row are
 * decided: everything else is guessed from the sheet. */
void
qm_csv_mapping_guess_columns (QmCsvMapping *mapping, const QmSheet *sheet)
{
  guint row, n;
  int tax_of_total = -1;

  g_return_if_fail (mapping != NULL && sheet != NULL);

  row = (guint) MAX (mapping->header_row, 0);
  n = qm_sheet_n_cells (sheet, row);
  g_array_set_size (mapping->columns, 0);
  g_array_set_size (mapping->columns, n);
  mapping->tax_included = QM_UNSTATED;
  mapping->currency[0] = '\0';
  for (guint i = 0; i < n && mapping->header_row >= 0; i++)
    {
      const char *name = qm_sheet_cell (sheet, row, i);
      int tax;
      QmCsvField field = qm_csv_field_of (name, &tax);

      if (field == QM_CSV_DESCRIPTION
          && qm_csv_mapping_column (mapping, field) >= 0)
        {
          choose_description (mapping, sheet, i);
          continue;
        }
      if (field == QM_CSV_TOTAL)
        set_total (mapping, i, tax, &tax_of_total);
      else if (field != QM_CSV_IGNORED
               && is_better_column (mapping, sheet, field, tax))
        qm_csv_mapping_set_field (mapping, i, field);
      if (field == QM_CSV_IGNORED || qm_csv_mapping_field (mapping, i) != field)
        continue;
      note_tax (mapping, field, tax);
      if (field == QM_CSV_PRICE || field == QM_CSV_TOTAL)
        guess_currency (mapping, name);
    }
  find_description (mapping, sheet);
  name_alternatives (mapping);
  guess_formats (mapping, sheet);
}

/* Whether a name is those of a quantity and of a price, as where columns of a
 * PDF stand too close: "Menge / Einzelpreis / Quantité". */
static gboolean
names_both (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", 0);
  gboolean quantity = FALSE, price = FALSE;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      int tax;
      QmCsvField field = qm_csv_field_of (parts[i], &tax);

      quantity = quantity || field == QM_CSV_QUANTITY;
      price = price || field == QM_CSV_PRICE;
    }
  return quantity && price;
}

/* "Importe A" and "Importe B": names that differ in a letter, a digit or a
 * Roman number. */
static gboolean
are_twins (const char *a, const char *b)
{
  g_autofree char *first = qm_csv_normalize (a);
  g_autofree char *second = qm_csv_normalize (b);
  g_auto (GStrv) words = g_strsplit (first, " ", -1);
  g_auto (GStrv) others = g_strsplit (second, " ", -1);
  guint n = g_strv_length (words), differ = 0;

  if (n < 2 || g_strv_length (others) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const char *pair[] = { words[i], others[i] };

      if (strcmp (pair[0], pair[1]) == 0)
        continue;
      differ++;
      for (guint j = 0; j < 2; j++)
        if (strlen (pair[j]) != 1 && pair[j][strspn (pair[j], "iv")] != '\0')
          return FALSE;
    }
  return differ == 1;
}

gboolean
qm_csv_mapping_has_twins (const QmCsvMapping *mapping, const QmSheet *sheet)
{
  g_return_val_if_fail (mapping != NULL && sheet != NULL, FALSE);

  for (guint i = 0; mapping->header_row >= 0 && i < mapping->columns->len; i++)
    {
      guint header = (guint) mapping->header_row;
      const char *name = qm_sheet_cell (sheet, header, i);
      int tax, used;
      QmCsvField field = qm_csv_field_of (name, &tax);
      gboolean numbers;

      if (qm_csv_mapping_field (mapping, i) != QM_CSV_IGNORED
          || (field != QM_CSV_TOTAL && field != QM_CSV_PRICE))
        continue;
      used = qm_csv_mapping_column (mapping, field);
      if (used >= 0 && measure_column (sheet, header + 1, i, &numbers) > 0
          && numbers
          && are_twins (name, qm_sheet_cell (sheet, header, (guint) used)))
        return TRUE;
    }
  return FALSE;
}

gboolean
qm_csv_mapping_is_merged (const QmCsvMapping *mapping, const QmSheet *sheet)
{
  g_return_val_if_fail (mapping != NULL && sheet != NULL, FALSE);

  if (mapping->header_row < 0
      || qm_csv_mapping_column (mapping, QM_CSV_QUANTITY) >= 0)
    return FALSE;
  for (guint i = 0; i < mapping->columns->len; i++)
    if (qm_csv_mapping_field (mapping, i) == QM_CSV_IGNORED
        && names_both (qm_sheet_cell (sheet, (guint) mapping->header_row, i)))
      return TRUE;
  return FALSE;
}

QmCsvMapping *
qm_csv_mapping_guess (const char *data, gsize size, GError **error)
{
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_new ();
  g_autoptr (QmSheet) sheet = NULL;
  g_autofree char *text = NULL;
  const char *used;
  guint best = 0;
  gsize length;

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  data = data != NULL ? data : "";
  if (!try_encoding (mapping, data, size, NULL, &best, error))
    return NULL;
  if (mapping->encoding != NULL
      && g_str_has_prefix (mapping->encoding, "WINDOWS"))
    try_encoding (mapping, data, size, "WINDOWS-1250", &best, NULL);
  text = qm_sheet_decode (data, size, mapping->encoding, &length, &used, error);
  if (text == NULL)
    return NULL;
  sheet = qm_sheet_new (text, beginning (text, length), mapping->delimiter,
                        SAMPLE_ROWS, NULL, error);
  if (sheet == NULL)
    return NULL;
  for (guint i = 0; i < LOOK_ROWS && mapping->header_row < 0; i++)
    if (could_be_header (sheet, i))
      mapping->header_row = (int) i;
  qm_csv_mapping_guess_columns (mapping, sheet);
  return g_steal_pointer (&mapping);
}
