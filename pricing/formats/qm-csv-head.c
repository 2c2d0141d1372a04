/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-date.h"
#include "pricing/formats/qm-csv-pairs.h"
#include "pricing/formats/qm-csv-tax.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A name and its value in one cell are no longer than this, in bytes. */
#define LONGEST_PAIR 120
/* The name of a town is no longer. */
#define LONGEST_TOWN 30
/* Of so many rows outside the table, what they say is looked for; others are
 * notes. */
#define MOST_LOOSE 1000

/* What was said about how long a quote holds. */
typedef struct
{
  guint row;
  int column;
  char *text;
} TermNote;

void
qm_csv_term_note_free (gpointer note)
{
  TermNote *term = note;

  g_free (term->text);
  g_free (term);
}

/* Leaves a date out that is not clearly one, and asks; in a column once. */
static void
ask_date (QmCsvReader *reader,
          QmQuote *quote,
          guint row,
          int column,
          const char *text,
          QmAsk ask)
{
  g_autofree char *place = NULL;
  g_autofree char *excerpt = NULL;

  if ((quote->asked & ask) != 0)
    return;
  place = qm_csv_cell_place (reader, row, column);
  excerpt = qm_read_excerpt (text);
  qm_quote_ask (quote, ask);
  qm_read_find (quote, QM_FINDING_WARNING, place,
                _ ("“%s” is not clearly a date; it was left out."), excerpt);
}

static void
set_first_text (char **text, const char *value)
{
  if (*text == NULL)
    *text = qm_read_text (value);
}

/* What is behind "N°", "Nr." before a number. */
static const char *
skip_number_sign (const char *text)
{
  static const char *const signs[] = { "N°",  "n°",  "Nº",  "nº", "Nr.",
                                       "nr.", "No.", "no.", "#" };

  for (guint i = 0; i < G_N_ELEMENTS (signs); i++)
    if (g_str_has_prefix (text, signs[i]))
      {
        const char *rest = text + strlen (signs[i]);

        rest += strspn (rest, " :");
        return rest[0] != '\0' ? rest : text;
      }
  return text;
}

/* "Angebot 26-4417 vom 02.07.2026": a number and a date. */
static gboolean
read_number (QmCsvReader *reader, QmQuote *quote, guint row, const char *text)
{
  gsize n = strcspn (text, " ");
  g_autofree char *number = g_strndup (text, n);
  QmCsvTerm term = { 0 };

  if (strpbrk (number, "0123456789") == NULL)
    return FALSE;
  if (text[n] != '\0'
      && (!qm_csv_term_parse (text + n, reader->mapping->date_order, &term)
          || term.from.year == 0 || term.until.year != 0))
    {
      /* "DEV-26-0719 du 06/07/2026", of which nothing says which is the day. */
      if (!qm_csv_term_parse (text + n, QM_DATES_DAY_FIRST, &term)
          || term.from.year == 0 || term.until.year != 0)
        return FALSE;
      ask_date (reader, quote, row, -1, text + n + 1, QM_ASK_DATE);
      term.from = (QmDate){ 0 };
    }
  if (quote->issued_on.year == 0)
    quote->issued_on = term.from;
  set_first_text (&quote->number, number);
  return TRUE;
}

/* Of two days that are written in the same order, one may tell that of the
 * other: 05/03/2026 before 30/04/2026. */
static QmDateOrder
order_of_pairs (const GArray *pairs, QmDateOrder order)
{
  gboolean clear[QM_N_DATE_ORDERS] = { FALSE };

  if (order != QM_DATES_GUESS)
    return order;
  for (int tried = 0; tried < QM_N_DATE_ORDERS; tried++)
    {
      clear[tried] = TRUE;
      for (guint i = 0; i < pairs->len && clear[tried]; i++)
        {
          const QmCsvPair *pair = &g_array_index (pairs, QmCsvPair, i);
          QmDate date;

          clear[tried] =
              strchr (pair->value, '/') == NULL
              || qm_csv_date_parse (pair->value, (QmDateOrder) tried, &date);
        }
    }
  if (clear[QM_DATES_DAY_FIRST] != clear[QM_DATES_MONTH_FIRST])
    return clear[QM_DATES_DAY_FIRST] ? QM_DATES_DAY_FIRST
                                     : QM_DATES_MONTH_FIRST;
  return order;
}

/* What a name says with this value: a number with its day is a day of issue
 * without the number, and a first day with a last one is a term. */
static QmCsvField
field_of_pair (const QmCsvPair *pair, QmDateOrder order)
{
  QmCsvTerm term = { 0 };
  gboolean is_term = qm_csv_term_parse (pair->value, order, &term);

  if (pair->field == QM_CSV_QUOTE && is_term && term.days == 0
      && term.months == 0)
    return QM_CSV_ISSUED;
  if (pair->field == QM_CSV_VALID_FROM && is_term && term.from.year != 0
      && term.until.year != 0)
    return QM_CSV_VALID_UNTIL;
  return pair->field;
}

static gboolean
is_of_days (QmCsvField field)
{
  return field == QM_CSV_ISSUED || field == QM_CSV_VALID_FROM
         || field == QM_CSV_VALID_UNTIL;
}

/* Whether a text is names with their values, and at least two of them: one is
 * read as a whole. */
static gboolean
are_pairs (const GArray *pairs)
{
  guint n_days = 0, n = 0;

  for (guint i = 0; i < pairs->len; i++)
    {
      const QmCsvPair *pair = &g_array_index (pairs, QmCsvPair, i);

      if (is_of_days (pair->field) && !qm_csv_pair_is_dated (pair))
        return FALSE;
      n_days += is_of_days (pair->field);
      n += pair->value[0] != '\0';
    }
  return n_days > 0 && n > 1;
}

static void
set_pair (QmCsvReader *reader,
          QmQuote *quote,
          guint row,
          int column,
          const QmCsvPair *pair,
          QmDateOrder order)
{
  QmCsvField field = field_of_pair (pair, order);
  QmDate *date =
      field == QM_CSV_ISSUED ? &quote->issued_on : &quote->valid_from;
  QmCsvTerm term = { 0 };

  if (field == QM_CSV_QUOTE)
    read_number (reader, quote, row, pair->value);
  else if (field == QM_CSV_VALID_UNTIL && order != reader->mapping->date_order
           && quote->valid_until.year == 0
           && qm_csv_date_parse (pair->value, order, &term.until))
    quote->valid_until = term.until;
  else if (field != QM_CSV_ISSUED && field != QM_CSV_VALID_FROM)
    qm_csv_head_set (reader, quote, field, row, column, pair->value);
  else if (date->year == 0 && !qm_csv_date_parse (pair->value, order, date))
    {
      if (qm_csv_term_parse (pair->value, order, &term) && term.from.year != 0
          && term.until.year == 0)
        *date = term.from;
      else
        ask_date (reader, quote, row, column, pair->value,
                  field == QM_CSV_ISSUED ? QM_ASK_DATE : QM_ASK_VALIDITY);
    }
}

/* "Datum: 12.03.2026, gültig bis 30.04.2026": several names with their values
 * in one cell.  first: what it begins with. */
static gboolean
read_pairs (QmCsvReader *reader,
            QmQuote *quote,
            QmCsvField first,
            guint row,
            int column,
            const char *text)
{
  g_autoptr (GArray) pairs = qm_csv_pairs_split (text, first);
  QmDateOrder order;

  if (!are_pairs (pairs))
    return FALSE;
  order = order_of_pairs (pairs, reader->mapping->date_order);
  for (guint i = 0; i < pairs->len; i++)
    set_pair (reader, quote, row, column, &g_array_index (pairs, QmCsvPair, i),
              order);
  return TRUE;
}

static void
set_date (QmCsvReader *reader,
          QmQuote *quote,
          QmCsvField field,
          guint row,
          int column,
          const char *text)
{
  gboolean issued = field == QM_CSV_ISSUED;
  QmDate *date = issued ? &quote->issued_on : &quote->valid_from;

  if (date->year == 0
      && !qm_csv_date_parse (text, reader->mapping->date_order, date)
      && !read_pairs (reader, quote, field, row, column, text))
    ask_date (reader, quote, row, column, text,
              issued ? QM_ASK_DATE : QM_ASK_VALIDITY);
}

/* It may be counted from a day of issue that stands further down. */
static void
note_term (QmCsvReader *reader,
           QmQuote *quote,
           guint row,
           int column,
           const char *text)
{
  TermNote *term;

  /* In a column it is the same in each row. */
  if (g_hash_table_contains (reader->terms, quote)
      || read_pairs (reader, quote, QM_CSV_VALID_UNTIL, row, column, text))
    return;
  term = g_new0 (TermNote, 1);
  term->row = row;
  term->column = column;
  term->text = g_strdup (text);
  g_hash_table_insert (reader->terms, (gpointer) quote, term);
}

static void
settle_term (QmCsvReader *reader, QmQuote *quote, const TermNote *note)
{
  QmCsvTerm term;
  QmDate end;

  if (quote->valid_until.year != 0)
    return;
  if (!qm_csv_term_parse (note->text, reader->mapping->date_order, &term))
    {
      ask_date (reader, quote, note->row, note->column, note->text,
                QM_ASK_VALIDITY);
      return;
    }
  if (quote->valid_from.year == 0)
    quote->valid_from = term.from;
  quote->valid_until = term.until;
  if (term.days == 0 && term.months == 0)
    return;
  end = qm_csv_term_end (&term, quote->issued_on);
  if (end.year == 0)
    {
      ask_date (reader, quote, note->row, note->column, note->text,
                QM_ASK_VALIDITY);
      return;
    }
  {
    g_autofree char *place =
        qm_csv_cell_place (reader, note->row, note->column);
    g_autofree char *excerpt = qm_read_excerpt (note->text);

    quote->valid_until = end;
    qm_read_find (quote, QM_FINDING_NOTE, place,
                  _ ("The quote says for how long it holds, “%s”. Its last day "
                     "was counted from that."),
                  excerpt);
  }
}

void
qm_csv_head_settle (QmCsvReader *reader, QmQuote *quote)
{
  const TermNote *own = g_hash_table_lookup (reader->terms, quote);
  const TermNote *common = g_hash_table_lookup (reader->terms, reader->head);

  if (own != NULL)
    settle_term (reader, quote, own);
  else if (common != NULL)
    settle_term (reader, quote, common);
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

/* "US dollars": of the dollars those that no symbol tells apart. */
static gboolean
says_us_dollars (const char *text)
{
  static const char list[] = QM_WORDS_US_DOLLAR;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (text);

  return qm_csv_phrases_within (qm_csv_phrases_once (&set, list), normal);
}

gboolean
qm_csv_head_set (QmCsvReader *reader,
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
      set_first_text (&quote->vendor, text);
      return TRUE;
    case QM_CSV_QUOTE:
      set_first_text (&quote->number, skip_number_sign (text));
      return TRUE;
    case QM_CSV_SUPERSEDES:
      set_first_text (&quote->supersedes, text);
      return TRUE;
    case QM_CSV_NOTE:
      append_note (quote, text);
      return TRUE;
    case QM_CSV_ISSUED:
    case QM_CSV_VALID_FROM:
      set_date (reader, quote, field, row, column, text);
      return TRUE;
    case QM_CSV_VALID_UNTIL:
      note_term (reader, quote, row, column, text);
      return TRUE;
    case QM_CSV_CURRENCY:
      if (qm_amount_parse_currency (text, currency) && currency[0] != '\0'
          && quote->currency[0] == '\0')
        memcpy (quote->currency, currency, 4);
      else
        qm_csv_head_take_currency (quote, text);
      return TRUE;
    default:
      return FALSE;
    }
}

/* Whether a sentence about an offer or its prices ends with words such as
 * "valid until". */
static gboolean
tells_validity (const char *sentence)
{
  static const char offers[] = QM_WORDS_VALIDITY_OF;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (sentence);
  const char *last = normal + strlen (normal);
  int tax;

  if (!qm_csv_phrases_within (qm_csv_phrases_once (&set, offers), normal))
    return FALSE;
  for (guint words = 0; words < 4 && last > normal;)
    {
      last--;
      if (last > normal && last[-1] != ' ')
        continue;
      words++;
      if (words >= 2 && qm_csv_field_of (last, &tax) == QM_CSV_VALID_UNTIL)
        return TRUE;
    }
  return FALSE;
}

/* "Offre valable jusqu'au 06/03/2026", "Angebot AN-4711", "Datum 1. Mai 2026":
 * a name and its value with nothing but a space between them. */
static gboolean
read_glued (QmCsvReader *reader, QmQuote *quote, guint row, const char *text)
{
  QmDateOrder order = reader->mapping->date_order;
  QmCsvTerm term;
  QmDate date;

  for (const char *p = strchr (text, ' ');
       p != NULL && p - text <= LONGEST_PAIR; p = strchr (p + 1, ' '))
    {
      g_autofree char *name = g_strndup (text, (gsize) (p - text));
      const char *value = p + 1;
      int tax;
      QmCsvField field = qm_csv_field_of (name, &tax);
      gboolean is_value = FALSE;

      if (field == QM_CSV_QUOTE && qm_csv_date_parse (value, order, &date))
        field = QM_CSV_ISSUED;
      if (field == QM_CSV_QUOTE && read_number (reader, quote, row, value))
        return TRUE;
      if (field == QM_CSV_IGNORED && g_ascii_isdigit (*value)
          && tells_validity (name))
        field = QM_CSV_VALID_UNTIL;
      if (field == QM_CSV_VALID_UNTIL)
        is_value =
            g_ascii_isdigit (*value) || qm_csv_term_parse (value, order, &term);
      else if (field == QM_CSV_ISSUED || field == QM_CSV_VALID_FROM)
        is_value = qm_csv_date_parse (value, order, &date);
      if (is_value && qm_csv_head_set (reader, quote, field, row, -1, value))
        return TRUE;
    }
  return FALSE;
}

/* A day behind "den", "le", "dnia"; or behind nothing, where it can be one. */
static gboolean
read_day (const char *text, QmDateOrder order, gboolean bare, QmDate *date)
{
  static const char *const before[] = { "den ", "le ", "li ", "il ", "dnia ",
                                        "a ",   "em ", "d. ", "am " };

  text += strspn (text, " ");
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    if (g_str_has_prefix (text, before[i]))
      return qm_csv_date_parse (text + strlen (before[i]), order, date);
  return bare && qm_csv_date_parse (text, order, date);
}

/* "Berlin, den 16.6.26", "Milano, 12 giugno 2026": a town and a day. */
static gboolean
read_town (QmCsvReader *reader, QmQuote *quote, const char *text)
{
  const char *comma = strchr (text, ',');
  gboolean above = reader->drafts->len == 0 && !qm_words_name_goods (text);

  if (comma == NULL || quote->issued_on.year != 0 || comma - text > LONGEST_TOWN
      || !g_unichar_isupper (g_utf8_get_char (text))
      || strcspn (text, "0123456789:") < (gsize) (comma - text)
      || !read_day (comma + 1, reader->mapping->date_order, above,
                    &quote->issued_on))
    return FALSE;
  return TRUE;
}

/* The first word of a text with a digit, without marks around it; NULL: there
 * is none. */
static char *
number_in (const char *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \t\n:;()\"", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (strpbrk (words[i], "0123456789") != NULL)
      {
        gsize n = strlen (words[i]);

        while (n > 0 && strchr (".,", words[i][n - 1]) != NULL)
          words[i][--n] = '\0';
        return qm_read_text (words[i]);
      }
  return NULL;
}

/* "Ersetzt Angebot 4711", "This quote replaces Q-17", in one cell or in two. */
static gboolean
read_replaced (QmCsvReader *reader,
               QmQuote *quote,
               guint row,
               const char *text,
               guint *column)
{
  static const char replaces[] = QM_WORDS_REPLACES;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (text);
  g_autofree char *next = NULL;

  if (quote->supersedes != NULL
      || !qm_csv_phrases_within (qm_csv_phrases_once (&set, replaces), normal))
    return FALSE;
  quote->supersedes = number_in (text);
  if (quote->supersedes != NULL)
    return TRUE;
  next = qm_csv_cell_text (reader, row, (int) *column + 1);
  quote->supersedes = next != NULL ? number_in (next) : NULL;
  if (quote->supersedes != NULL)
    (*column)++;
  return quote->supersedes != NULL;
}

/* "Valid until: 31.12.2026" in one cell, or in two. */
static gboolean
read_pair (QmCsvReader *reader, QmQuote *quote, guint row, guint *column)
{
  g_autofree char *text = qm_csv_cell_text (reader, row, (int) *column);
  g_autofree char *value = NULL;
  char *colon = text != NULL ? strchr (text, ':') : NULL;
  guint next = *column + 1;
  QmCsvField field;
  int tax;

  if (text == NULL || read_replaced (reader, quote, row, text, column)
      || read_pairs (reader, quote, QM_CSV_IGNORED, row, -1, text))
    return TRUE;
  if (colon != NULL && colon[1] != '\0')
    {
      *colon = '\0';
      field = qm_csv_field_of (text, &tax);
      if (qm_csv_head_set (reader, quote, field, row, -1,
                           g_strstrip (colon + 1)))
        return TRUE;
      *colon = ':';
      return FALSE;
    }
  while (next < qm_sheet_n_cells (reader->sheet, row)
         && qm_sheet_cell (reader->sheet, row, next)[0] == '\0')
    next++;
  value = qm_csv_cell_text (reader, row, (int) next);
  field = qm_csv_field_of (text, &tax);
  if (value != NULL && qm_csv_head_set (reader, quote, field, row, -1, value))
    {
      *column = next;
      return TRUE;
    }
  return read_glued (reader, quote, row, text)
         || read_town (reader, quote, text);
}

/* The code of a word that is a currency and nothing else in any language, which
 * may be in thousands: "TEUR", "k€". */
static gboolean
is_currency (const char *word, char currency[4])
{
  g_autofree char *lower = NULL;
  char again[4];

  if (strchr ("TKtk", word[0]) != NULL && strlen (word) > 1
      && qm_csv_says_thousands (word))
    word++;
  lower = g_ascii_strdown (word, -1);

  if (g_str_has_prefix (lower, "euro") && strlen (lower) <= 5)
    {
      memcpy (currency, "EUR", 4);
      return TRUE;
    }
  return qm_amount_parse_currency (word, currency) && currency[0] != '\0'
         && (!g_ascii_isalpha (word[0]) || strchr (word, '$') != NULL
             || qm_amount_parse_currency (lower, again));
}

void
qm_csv_head_take_currency (QmQuote *quote, const char *label)
{
  g_auto (GStrv) words = g_strsplit_set (label, " ()[]/:;,.", -1);
  char found[4] = "";

  if (says_us_dollars (label))
    memcpy (found, "USD", 4);
  for (guint i = 0; words[i] != NULL; i++)
    {
      char currency[4] = "";

      if (words[i][0] == '\0' || !is_currency (words[i], currency))
        continue;
      if (found[0] != '\0' && strcmp (found, currency) != 0)
        return;
      memcpy (found, currency, 4);
    }
  if (quote->currency[0] == '\0')
    memcpy (quote->currency, found, 4);
}

/* "All prices in USD", "Preise in Euro, zzgl. MwSt.": what a sentence about
 * prices says of their currency and tax. */
static void
take_of_note (QmCsvReader *reader, QmQuote *quote, const char *text)
{
  static const char prices[] = QM_WORDS_PRICES;
  static const char *const before[] = { "in", "en", "em", "w", "IN", "EN" };
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (text);
  g_auto (GStrv) words = g_strsplit_set (text, " ()[]/:;,.", -1);
  int tax;

  if (says_us_dollars (text))
    qm_csv_head_take_currency (quote, text);
  for (guint i = 1; words[i - 1] != NULL && words[i] != NULL; i++)
    for (guint j = 0; j < G_N_ELEMENTS (before); j++)
      if (strcmp (words[i - 1], before[j]) == 0)
        qm_csv_head_take_currency (quote, words[i]);
  if (quote->tax_included != QM_UNSTATED
      || (!qm_csv_phrases_within (qm_csv_phrases_once (&set, prices), normal)
          && qm_csv_words_tax (text) == QM_CSV_TAX_NONE))
    return;
  tax = qm_csv_tax_in_note (normal);
  if (tax >= 0)
    quote->tax_included = tax == 1 ? QM_YES : QM_NO;
  if (tax == 1 && reader->tax_rate == 0)
    reader->tax_rate = qm_csv_percent_in (text);
}

void
qm_csv_head_read_row (QmCsvReader *reader, QmQuote *quote, guint row)
{
  gboolean look = reader->n_loose++ < MOST_LOOSE;

  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      g_autofree char *text = qm_csv_cell_text (reader, row, (int) i);

      if (text == NULL || (look && read_pair (reader, quote, row, &i)))
        continue;
      if (look)
        take_of_note (reader, quote, text);
      append_note (quote, text);
    }
}
