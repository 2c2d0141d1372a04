/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-row.h"

#include "data/money.h"
#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-discount.h"
#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/formats/qm-csv-tax.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* What follows the word for a total in its row is not longer: bytes, words. */
#define LONGEST_REST 40
#define MOST_REST    3

typedef struct
{
  QmCsvRowKind kind;
  const char *words;
} RowWords;

#define ROW(words, kind) { QM_CSV_ROW_##kind, words },
static const RowWords rows[] = { QM_ROWS_ROW (ROW) };

static const char optional_words[] = QM_WORDS_OPTIONAL;
/* At the beginning alone: "Option: ..." is offered besides, a "second power
 * supply option" may not be. */
static const char option_beginnings[] = QM_WORDS_OPTION_BEGINNING;
/* At the end, in brackets or behind a dash: "Warranty (option)". */
static const char *const option_endings[] = {
  "(option)", "[option]", "- option",  "(optie)", "(opcja)",
  "(opcion)", "(opción)", "(opzione)", "(opção)", "(opcao)",
};
/* Before a colon: "Variante : 8 x L40S". */
static const char variant_words[] = QM_WORDS_VARIANT;
static const char upgrade_beginnings[] = QM_WORDS_UPGRADE_BEGINNING;
static const char instead_words[] = QM_WORDS_INSTEAD;

static const char within_words[] = QM_WORDS_WITHIN;

static const char included_words[] = QM_WORDS_INCLUDED;
static const char request_words[] = QM_WORDS_ON_REQUEST;
/* Of a discount that depends on the payment. */
static const char payment_words[] = QM_WORDS_PAYMENT;
/* Payments of a part of what is to be paid: wherever they stand, ... */
static const char advance_words[] = QM_WORDS_ADVANCE;
/* ... and at the beginning. */
static const char advance_beginnings[] = QM_WORDS_ADVANCE_BEGINNING;

static GHashTable *
row_phrases (void)
{
  static GHashTable *table;

  if (g_once_init_enter (&table))
    {
      GHashTable *made = qm_csv_phrases_new ();

      for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
        qm_csv_phrases_add (made, rows[i].words, rows[i].kind);
      g_once_init_leave (&table, made);
    }
  return table;
}

static guint
count_words (const char *normal)
{
  guint n = normal[0] != '\0';

  for (; *normal != '\0'; normal++)
    n += *normal == ' ';
  return n;
}

/* Without rates: "zzgl 19 percent mwst" is "zzgl mwst". */
static char *
strip_rates (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  GString *rest = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][strspn (words[i], "0123456789")] != '\0'
        && strcmp (words[i], "percent") != 0)
      g_string_append_printf (rest, "%s%s", rest->len > 0 ? " " : "", words[i]);
  return g_string_free (rest, FALSE);
}

/* What is left of the words behind a total's, without those about tax and
 * which alternative it is of. */
static char *
strip_rest (const char *rest)
{
  g_autofree char *stripped = qm_csv_strip_additions (rest);
  g_auto (GStrv) words = g_strsplit (stripped, " ", -1);
  GString *left = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (qm_csv_word_is_group (words[i]))
        {
          if (words[i + 1] != NULL && strlen (words[i + 1]) <= 2)
            i++;
          continue;
        }
      g_string_append_printf (left, "%s%s", left->len > 0 ? " " : "", words[i]);
    }
  return g_string_free (left, FALSE);
}

/* Words that no phrase of a row begins. */
static QmCsvRowKind
kind_of_tax (const char *words)
{
  switch (qm_csv_words_tax (words))
    {
    case QM_CSV_TAX_ON_TOP:
      return QM_CSV_ROW_TAX;
    case QM_CSV_TAX_WITHIN:
      return QM_CSV_ROW_TAX_WITHIN;
    case QM_CSV_TAX_NONE:
    default:
      return QM_CSV_ROW_LINE;
    }
}

static QmCsvRowKind
kind_of_discount (const char *words)
{
  switch (qm_csv_words_take_off (words))
    {
    case QM_CSV_OFF_TAKEN:
      return QM_CSV_ROW_DISCOUNT;
    case QM_CSV_OFF_AFTER:
      return QM_CSV_ROW_TOTAL;
    case QM_CSV_OFF_NOT:
    default:
      return QM_CSV_ROW_LINE;
    }
}

/* "Hardware total", "Server gesamt": the sum of a group. */
static gboolean
ends_as_total (const char *words, const char *normal)
{
  static const char list[] = QM_WORDS_TOTAL_ROW;
  static GHashTable *set;
  const char *last = strrchr (normal, ' ');

  return last != NULL && count_words (normal) <= MOST_REST + 1
         && g_hash_table_contains (qm_csv_phrases_once (&set, list), last + 1)
         && !qm_words_name_model (words);
}

/* "Totale + IVA": a total, and the tax comes on top of it. */
static gboolean
adds_tax (const char *words)
{
  const char *plus = strchr (words, '+');
  g_autofree char *before = NULL;
  g_autofree char *behind = NULL;
  g_autofree char *normal = NULL;
  g_autofree char *tax = NULL;

  if (plus == NULL)
    return FALSE;
  before = g_strndup (words, (gsize) (plus - words));
  normal = qm_csv_normalize (before);
  behind = qm_csv_normalize (plus + 1);
  tax = strip_rates (behind);
  return qm_csv_phrases_find (row_phrases (), normal, strlen (normal))
             == QM_CSV_ROW_TOTAL
         && qm_csv_words_all_tax (tax);
}

QmCsvRowKind
qm_csv_row_kind_of (const char *words)
{
  g_autofree char *whole = qm_csv_normalize (words);
  g_autofree char *normal = strip_rates (whole);
  g_autofree char *rest = NULL;
  gsize length = strlen (normal), longest = 0;
  QmCsvRowKind kind = QM_CSV_ROW_LINE;

  if (adds_tax (words))
    return QM_CSV_ROW_NET;
  /* The longest phrase that it begins with; the rest says which tax, or of
   * what. */
  for (gsize n = 1; n <= MIN (length, QM_CSV_LONGEST_PHRASE); n++)
    if (normal[n] == ' ' || normal[n] == '\0')
      {
        guint found = qm_csv_phrases_find (row_phrases (), normal, n);

        if (found != 0)
          {
            kind = (QmCsvRowKind) found;
            longest = n;
          }
      }
  rest = strip_rest (normal + longest + (normal[longest] == ' '));
  if (kind == QM_CSV_ROW_LINE || strlen (rest) > LONGEST_REST
      || count_words (rest) > MOST_REST)
    {
      kind = kind_of_discount (words);
      if (kind == QM_CSV_ROW_LINE)
        kind = kind_of_tax (words);
      return kind == QM_CSV_ROW_LINE && ends_as_total (words, normal)
                 ? QM_CSV_ROW_NET
                 : kind;
    }
  if (kind != QM_CSV_ROW_DISCOUNT && qm_csv_words_are_of_discounts (rest))
    return QM_CSV_ROW_DISCOUNT;
  /* "Totale (IVA esclusa)" is no tax. */
  if (kind == QM_CSV_ROW_TAX && g_str_has_prefix (normal, "total")
      && qm_csv_tax_in_note (normal) >= 0)
    kind = QM_CSV_ROW_TOTAL;
  if (kind == QM_CSV_ROW_TAX && qm_csv_words_tax_within (normal))
    return QM_CSV_ROW_TAX_WITHIN;
  /* "Summe MwSt.", "Totaal btw" */
  if (kind == QM_CSV_ROW_TOTAL && strpbrk (words, "+&") == NULL
      && normal[longest] != '\0' && qm_csv_words_all_tax (normal + longest + 1))
    return QM_CSV_ROW_TAX;
  if (kind == QM_CSV_ROW_TOTAL
      && (qm_csv_tax_in (normal) == 1 || qm_csv_tax_in_note (normal) == 1))
    return QM_CSV_ROW_PAYABLE;
  if (kind == QM_CSV_ROW_TOTAL && qm_csv_tax_in (normal) == 0)
    return QM_CSV_ROW_NET;
  return kind;
}

gint64
qm_csv_percent_in (const char *words)
{
  const char *sign = strchr (words, '%');
  const char *start = sign;
  g_autofree char *number = NULL;
  gint64 micros;

  while (start != NULL && start > words && start[-1] == ' ')
    start--;
  sign = start;
  while (start != NULL && start > words
         && (g_ascii_isdigit (start[-1]) || strchr (".,", start[-1]) != NULL))
    start--;
  if (start == sign)
    return 0;
  number = g_strndup (start, (gsize) (sign - start));
  g_strdelimit (number, ",", '.');
  if (!qm_micros_parse (number, &micros)
      || micros > 100 * G_GINT64_CONSTANT (1000000))
    return 0;
  return micros;
}

static gboolean
begins_with (GHashTable *set, const char *normal)
{
  gsize length = strlen (normal);

  for (gsize n = 1; n <= MIN (length, QM_CSV_LONGEST_PHRASE); n++)
    if ((normal[n] == ' ' || normal[n] == '\0')
        && qm_csv_phrases_find (set, normal, n) != 0)
      return TRUE;
  return FALSE;
}

/* Whether a set has the words that a text begins or ends with. */
static gboolean
stands_at_ends (GHashTable *set, const char *normal)
{
  gsize length = strlen (normal);

  for (gsize n = 1; n <= MIN (length, QM_CSV_LONGEST_PHRASE); n++)
    {
      if ((normal[n] == ' ' || normal[n] == '\0')
          && qm_csv_phrases_find (set, normal, n) != 0)
        return TRUE;
      if ((n == length || normal[length - n - 1] == ' ')
          && qm_csv_phrases_find (set, normal + length - n, n) != 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
ends_as_option (const char *words)
{
  g_autofree char *valid = g_utf8_make_valid (words, -1);
  g_autofree char *low = g_utf8_strdown (g_strstrip (valid), -1);

  for (guint i = 0; i < G_N_ELEMENTS (option_endings); i++)
    if (g_str_has_suffix (low, option_endings[i]))
      return TRUE;
  return FALSE;
}

static gboolean
begins_as_variant (const char *words)
{
  static GHashTable *set;
  const char *colon = strchr (words, ':');
  g_autofree char *before = NULL;
  g_autofree char *normal = NULL;

  if (colon == NULL)
    return FALSE;
  before = g_strndup (words, (gsize) (colon - words));
  normal = qm_csv_normalize (before);
  return qm_csv_phrases_find (qm_csv_phrases_once (&set, variant_words), normal,
                              strlen (normal))
         != 0;
}

QmCsvOffered
qm_csv_words_offer (const char *words)
{
  static GHashTable *instead, *besides, *options, *upgrades;
  g_autofree char *normal = qm_csv_normalize (words);

  if (begins_as_variant (words)
      || qm_csv_phrases_within (qm_csv_phrases_once (&instead, instead_words),
                                normal))
    return QM_CSV_OFFERED_INSTEAD;
  if (ends_as_option (words)
      || stands_at_ends (qm_csv_phrases_once (&besides, optional_words), normal)
      || begins_with (qm_csv_phrases_once (&options, option_beginnings),
                      normal))
    return QM_CSV_OFFERED_BESIDES;
  return begins_with (qm_csv_phrases_once (&upgrades, upgrade_beginnings),
                      normal)
             ? QM_CSV_OFFERED_PERHAPS
             : QM_CSV_OFFERED_PLAINLY;
}

gboolean
qm_csv_words_break_down (const char *words)
{
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (words);

  return strchr ("-*>", words[0]) != NULL || g_str_has_prefix (words, "–")
         || g_str_has_prefix (words, "•") || g_str_has_prefix (words, "·")
         || begins_with (qm_csv_phrases_once (&set, within_words), normal);
}

gboolean
qm_csv_words_are_of_payment (const char *words)
{
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (words);

  return qm_csv_phrases_within (qm_csv_phrases_once (&set, payment_words),
                                normal);
}

gboolean
qm_csv_words_are_instalment (const char *words)
{
  static GHashTable *set, *beginnings;
  g_autofree char *normal = qm_csv_normalize (words);

  /* "Balance due" alone is to be paid, and "desconto à vista" is a discount. */
  if ((g_str_has_prefix (normal, "balance due")
       && strstr (normal, "deliver") == NULL)
      || qm_csv_words_are_of_discounts (normal))
    return FALSE;
  return qm_csv_phrases_within (qm_csv_phrases_once (&set, advance_words),
                                normal)
         || begins_with (qm_csv_phrases_once (&beginnings, advance_beginnings),
                         normal);
}

gboolean
qm_csv_cell_is_included (const char *text)
{
  static GHashTable *set;
  g_autofree char *normal = NULL;

  if (strpbrk (text, "0123456789") != NULL)
    return FALSE;
  normal = qm_csv_normalize (text);
  return g_hash_table_contains (qm_csv_phrases_once (&set, included_words),
                                normal);
}

gboolean
qm_csv_cell_is_on_request (const char *text)
{
  static GHashTable *set;
  g_autofree char *normal = NULL;

  if (strpbrk (text, "0123456789") != NULL)
    return FALSE;
  normal = qm_csv_normalize (text);
  return g_hash_table_contains (qm_csv_phrases_once (&set, request_words),
                                normal);
}
