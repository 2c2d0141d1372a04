/* SPDX-License-Identifier: Apache-2.0 */

/* "Preise in TEUR", "(k€)", "$ in thousands": what a table says its amounts are
 * in. */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* So many rows at the end are looked at for notes, and of each so many
 * bytes. */
#define LOOK_ROWS    40
#define LONGEST_NOTE 160
/* A note that says nothing else has no more words. */
#define FEW_WORDS 3

/* Words that say so, normalized, ... */
static const char thousand_words[] = QM_WORDS_THOUSAND;
/* ... and signs that are not left once they are. */
static const char *const thousand_signs[] = { "k€", "t€", "€k", "k$",
                                              "$k", "k£", "£k" };

static gboolean
has_sign (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *low = g_utf8_strdown (valid, -1);

  for (guint i = 0; i < G_N_ELEMENTS (thousand_signs); i++)
    {
      const char *sign = strstr (low, thousand_signs[i]);
      const char *before = sign;

      while (before != NULL && before > low && before[-1] == ' ')
        before--;
      if (sign != NULL && (before == low || !g_ascii_isalnum (before[-1])))
        return TRUE;
    }
  return FALSE;
}

/* Whether a word of the kind stands there, and no number before it: "300 TEUR"
 * is an amount. */
static gboolean
has_word (const char *normal)
{
  static GHashTable *set;
  GHashTable *words = qm_csv_phrases_once (&set, thousand_words);

  for (const char *p = normal; p != NULL && *p != '\0';)
    {
      gboolean counted = p > normal + 1 && g_ascii_isdigit (p[-2]);

      for (gsize n = 1; p[n - 1] != '\0' && n <= QM_CSV_LONGEST_PHRASE; n++)
        if ((p[n] == ' ' || p[n] == '\0') && !counted
            && qm_csv_phrases_find (words, p, n) != 0)
          return TRUE;
      p = strchr (p, ' ');
      if (p != NULL)
        p++;
    }
  return FALSE;
}

gboolean
qm_csv_says_thousands (const char *text)
{
  g_autofree char *normal = NULL;

  if (text[0] == '\0' || strlen (text) > LONGEST_NOTE)
    return FALSE;
  normal = qm_csv_normalize (text);
  return has_word (normal) || has_sign (text);
}

/* Whether a cell outside the table says it of all amounts. */
static gboolean
is_note (const char *text)
{
  static const char amounts[] = QM_WORDS_THOUSAND_OF;
  static GHashTable *set;
  g_autofree char *normal = NULL;
  guint words = 1;

  if (!qm_csv_says_thousands (text))
    return FALSE;
  normal = qm_csv_normalize (text);
  for (const char *p = normal; *p != '\0'; p++)
    words += *p == ' ';
  return words <= FEW_WORDS
         || qm_csv_phrases_within (qm_csv_phrases_once (&set, amounts), normal);
}

static void
look_at_row (QmCsvReader *reader, guint row)
{
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      const char *cell = qm_sheet_cell (reader->sheet, row, i);

      if (!is_note (cell))
        continue;
      reader->thousands = TRUE;
      qm_csv_head_take_currency (reader->head, cell);
    }
}

/* Whether a name has a currency without a word for thousands. */
static gboolean
names_currency (const char *name)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  qm_csv_head_take_currency (quote, name);
  return quote->currency[0] != '\0';
}

/* Whether the amounts of a column are in thousands: as its name says, or else
 * as is said of all. */
static gboolean
is_in_thousands (QmCsvReader *reader, int column)
{
  const char *name =
      reader->mapping->header_row >= 0
          ? qm_sheet_cell (reader->sheet, (guint) reader->mapping->header_row,
                           (guint) column)
          : "";

  if (qm_csv_says_thousands (name))
    return TRUE;
  return reader->thousands && !names_currency (name);
}

static gboolean
has_thousands (QmCsvReader *reader, int column)
{
  static const QmCsvField amounts[] = { QM_CSV_TOTAL, QM_CSV_PRICE };
  QmCsvField field = qm_csv_mapping_field (reader->mapping, (guint) column);

  if (field == QM_CSV_QUANTITY || field == QM_CSV_BASE_QUANTITY)
    return FALSE;
  /* A total may stand anywhere. */
  for (guint i = 0; i < G_N_ELEMENTS (amounts)
                    && (field == QM_CSV_IGNORED || field == QM_CSV_DESCRIPTION);
       i++)
    {
      int other = qm_csv_mapping_column (reader->mapping, amounts[i]);

      if (other >= 0)
        return is_in_thousands (reader, other);
    }
  return is_in_thousands (reader, column);
}

void
qm_csv_look_for_thousands (QmCsvReader *reader)
{
  guint n = qm_sheet_n_rows (reader->sheet);
  guint first = (guint) (reader->mapping->header_row + 1);

  if (reader->is_ours)
    return;
  for (guint i = 0; i + 1 < first; i++)
    look_at_row (reader, i);
  for (guint i = n > first + LOOK_ROWS ? n - LOOK_ROWS : first; i < n; i++)
    look_at_row (reader, i);
}

void
qm_csv_note_thousands (QmCsvReader *reader)
{
  for (int i = 0; i < QM_SHEET_MAX_COLUMNS && !reader->is_ours; i++)
    reader->in_thousands[i] = has_thousands (reader, i);
}
