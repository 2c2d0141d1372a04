/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-tax.h"

#include "data/money.h"
#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/words-quotes.h"

#include <string.h>

__extension__ typedef __int128 Wide;

/* Words that name a total besides a tax: what it is with or without. */
static const char total_words[] = QM_WORDS_TAX_TOTAL;
/* A total before the tax. */
static const char apart_words[] = QM_WORDS_TAX_APART;
static const char within_words[] = QM_WORDS_TAX_WITHIN;
static const char within_phrases[] = QM_WORDS_TAX_WITHIN_PHRASE;
static const char not_words[] = QM_WORDS_TAX_NOT;

static gboolean
is_phrase_of (GHashTable **set, const char *list, const char *word)
{
  return g_hash_table_contains (qm_csv_phrases_once (set, list), word);
}

gboolean
qm_csv_words_tax_within (const char *normal)
{
  static GHashTable *within, *phrases, *nots;
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);

  if (qm_csv_phrases_within (qm_csv_phrases_once (&phrases, within_phrases),
                             normal))
    return TRUE;
  for (guint i = 0; words[i] != NULL; i++)
    if (is_phrase_of (&within, within_words, words[i])
        && (i == 0 || !is_phrase_of (&nots, not_words, words[i - 1])))
      return TRUE;
  return FALSE;
}

QmCsvTaxRow
qm_csv_words_tax (const char *words)
{
  static GHashTable *totals, *apart;
  g_autofree char *normal = qm_csv_normalize (words);
  g_auto (GStrv) split = g_strsplit (normal, " ", -1);
  gboolean named = FALSE;

  for (guint i = 0; split[i] != NULL; i++)
    {
      if (is_phrase_of (&totals, total_words, split[i])
          || is_phrase_of (&apart, apart_words, split[i]))
        return QM_CSV_TAX_NONE;
      named = named || qm_csv_word_is_tax (split[i]);
    }
  if (!named || qm_words_name_goods (words))
    return QM_CSV_TAX_NONE;
  return qm_csv_words_tax_within (normal) ? QM_CSV_TAX_WITHIN
                                          : QM_CSV_TAX_ON_TOP;
}

gboolean
qm_csv_words_all_tax (const char *normal)
{
  static const char between[] = QM_WORDS_TAX_BETWEEN;
  static GHashTable *set;
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  gboolean named = FALSE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (!qm_csv_word_is_tax (words[i]) && words[i][0] != '\0'
          && !is_phrase_of (&set, between, words[i]))
        return FALSE;
      named = named || qm_csv_word_is_tax (words[i]);
    }
  return named;
}

gboolean
qm_csv_words_say_gross (const char *words)
{
  static const char list[] = QM_WORDS_GROSS;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (words);
  g_auto (GStrv) split = g_strsplit (normal, " ", -1);

  if (qm_csv_tax_in_note (normal) == 1)
    return TRUE;
  for (guint i = 0; split[i] != NULL; i++)
    if (is_phrase_of (&set, list, split[i]))
      return TRUE;
  return FALSE;
}

int
qm_csv_tax_rate (gint64 net, gint64 tax, gint64 slack)
{
  /* Those of the countries of Europe, of Canada, Australia and Brazil; 5.2 is
   * Spain's "recargo de equivalencia". */
  static const int rates[] = { 50,  52,  55,  60,  70,  77,  80,  81,  90,
                               100, 120, 130, 150, 160, 170, 180, 190, 200,
                               210, 220, 230, 240, 250, 255, 270 };

  for (guint i = 0; net > 0 && i < G_N_ELEMENTS (rates); i++)
    {
      Wide difference = ((Wide) net * rates[i] + 500) / 1000 - tax;

      if (difference >= -slack && difference <= slack)
        return rates[i];
    }
  return 0;
}

gint64
qm_csv_tax_within (gint64 gross, gint64 rate)
{
  const Wide whole = (Wide) 100 * QM_MICROS_PER_UNIT + rate;

  g_return_val_if_fail (gross >= 0 && rate >= 0, 0);

  return (gint64) (((Wide) gross * rate + whole / 2) / whole);
}
