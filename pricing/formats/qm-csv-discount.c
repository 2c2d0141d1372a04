/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-discount.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* The words of a discount are not more, where its word is the last one. */
#define MOST_DISCOUNT 10
/* Among so few, the one for a discount may stand anywhere. */
#define FEW_WORDS 4

/* Words for discounts; longer ones end so, too ("Hochschulrabatt"). */
static const char discount_words[] = QM_WORDS_DISCOUNT;
static const char *const discount_ends[] = {
  "rabatt",     "nachlass",    "korting",   "discount", "skonto",
  "gutschrift", "ermassigung", "vergutung", "bonus",    "rabatte",
  "abzug",      "abschlag",    "inruil",    "vorteil",  "reduzierung",
};
/* Words that mean something else besides; first or last in what is said they
 * are discounts, too. */
static const char ambiguous_words[] = QM_WORDS_DISCOUNT_AMBIGUOUS;
/* Beside one of these they are not. */
static const char other_words[] = QM_WORDS_DISCOUNT_OTHER;
/* Several words that are one for a discount. */
static const char phrases[] = QM_WORDS_DISCOUNT_PHRASE;
/* Words before something that is taken off. */
static const char less_words[] = QM_WORDS_LESS;
static const char less_phrases[] = QM_WORDS_LESS_PHRASE;
/* Words of what is left once a discount has been taken, or before. */
static const char after_words[] = QM_WORDS_LESS_AFTER;
/* What that is said of. */
static const char left_words[] = QM_WORDS_LESS_OF;
/* What is said behind these is why, and on what. */
static const char why_words[] = QM_WORDS_LESS_WHY;

gboolean
qm_csv_word_is_discount (const char *word)
{
  static GHashTable *set;

  if (g_hash_table_contains (qm_csv_phrases_once (&set, discount_words), word))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (discount_ends); i++)
    if (g_str_has_suffix (word, discount_ends[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_after (const char *word)
{
  static GHashTable *set;

  return g_hash_table_contains (qm_csv_phrases_once (&set, after_words), word);
}

gboolean
qm_csv_words_are_of_discounts (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  gboolean any = FALSE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (is_after (words[i]))
        return FALSE;
      any = any || qm_csv_word_is_discount (words[i]);
    }
  return any;
}

/* Whether a normalized text begins with a phrase. */
static gboolean
begins_with (GHashTable *set, const char *normal)
{
  for (gsize n = 1; n <= MIN (strlen (normal), QM_CSV_LONGEST_PHRASE); n++)
    if ((normal[n] == ' ' || normal[n] == '\0')
        && qm_csv_phrases_find (set, normal, n) != 0)
      return TRUE;
  return FALSE;
}

/* Without numbers at the beginning: "10 percent off" is "percent off". */
static const char *
skip_rate (const char *normal)
{
  while (g_ascii_isdigit (normal[0]) || normal[0] == ' ')
    {
      gsize n = strspn (normal, "0123456789");

      if (normal[n] != ' ' && normal[n] != '\0')
        break;
      normal += n + (normal[n] == ' ');
      if (n == 0 && normal[0] == '\0')
        break;
    }
  return normal;
}

static gboolean
is_ambiguous (char **words, guint i)
{
  static GHashTable *set, *others;
  GHashTable *other = qm_csv_phrases_once (&others, other_words);

  return g_hash_table_contains (qm_csv_phrases_once (&set, ambiguous_words),
                                words[i])
         && (i == 0 || !g_hash_table_contains (other, words[i - 1]))
         && (words[i + 1] == NULL
             || !g_hash_table_contains (other, words[i + 1]));
}

/* What stands before "for" and the like; the first word is always of it. */
static char *
before_why (const char *normal)
{
  static GHashTable *why;
  GHashTable *reasons = qm_csv_phrases_once (&why, why_words);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  GString *before = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL
                    && (i == 0 || !g_hash_table_contains (reasons, words[i]));
       i++)
    g_string_append_printf (before, "%s%s", i > 0 ? " " : "", words[i]);
  return g_string_free (before, FALSE);
}

static gboolean
names_goods_before_why (const char *normal)
{
  g_autofree char *before = before_why (normal);

  return qm_words_name_goods (before);
}

/* Whether words begin as something that is taken off: "Less", "Credit for",
 * "10 % off". */
static gboolean
begins_off (const char *normal)
{
  static GHashTable *less, *less_set, *set;
  const char *text = skip_rate (normal);
  g_auto (GStrv) words = NULL;

  if (begins_with (qm_csv_phrases_once (&set, phrases), text)
      || begins_with (qm_csv_phrases_once (&less_set, less_phrases), text))
    return TRUE;
  if (g_str_has_prefix (text, "percent "))
    text = skip_rate (text + strlen ("percent "));
  words = g_strsplit (text, " ", -1);
  if (words[0] == NULL)
    return FALSE;
  if (g_hash_table_contains (qm_csv_phrases_once (&less, less_words), words[0]))
    return g_strcmp0 (words[1], "than") != 0;
  return qm_csv_word_is_discount (words[0])
         || (is_ambiguous (words, 0) && !names_goods_before_why (text));
}

/* Whether the last word is one for a discount. */
static gboolean
ends_with_discount (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  guint n = g_strv_length (words);

  return n > 0 && n <= MOST_DISCOUNT
         && (qm_csv_word_is_discount (words[n - 1])
             || is_ambiguous (words, n - 1));
}

/* Whether words end as it, or are few and have its word. */
static gboolean
ends_off (const char *normal)
{
  static GHashTable *set;
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  guint n = g_strv_length (words);

  if (n <= MOST_DISCOUNT
      && (ends_with_discount (normal)
          || qm_csv_phrases_within (qm_csv_phrases_once (&set, phrases),
                                    normal)))
    return TRUE;
  for (guint i = 0; i < n && n <= FEW_WORDS; i++)
    if (qm_csv_word_is_discount (words[i]))
      return TRUE;
  return FALSE;
}

/* Whether a word about what is left, or about what is contained, stands before
 * one for a discount: "price after discount", "server with rebate". */
static gboolean
is_left (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  gboolean after = FALSE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (after && qm_csv_word_is_discount (words[i]))
        return TRUE;
      after = after || (i > 0 && is_after (words[i]))
              || strcmp (words[i], "discounted") == 0;
    }
  return FALSE;
}

/* The words up to a mark that ends what they name. */
static char *
first_part (const char *words)
{
  const char *end = words;

  for (; *end != '\0'; end++)
    if (strchr (",;([|\n", *end) != NULL || (*end == ':' && end[1] != '\0')
        || (end > words && end[-1] == ' ' && *end == '-' && end[1] == ' ')
        || g_str_has_prefix (end, "–") || g_str_has_prefix (end, "—"))
      {
        /* "1,5 % Rabatt" */
        if (*end == ',' && end > words && g_ascii_isdigit (end[-1])
            && g_ascii_isdigit (end[1]))
          continue;
        break;
      }
  return g_strndup (words, (gsize) (end - words));
}

QmCsvOff
qm_csv_words_take_off (const char *words)
{
  static GHashTable *left;
  g_autofree char *first = first_part (words);
  g_autofree char *part = qm_csv_normalize (first);
  g_autofree char *named = before_why (part);
  g_autofree char *normal = qm_csv_normalize (words);
  g_auto (GStrv) all = g_strsplit (normal, " ", -1);

  if (begins_off (part[0] != '\0' ? part : normal))
    return QM_CSV_OFF_TAKEN;
  if (is_left (normal))
    return all[0] != NULL
                   && g_hash_table_contains (
                       qm_csv_phrases_once (&left, left_words), all[0])
               ? QM_CSV_OFF_AFTER
               : QM_CSV_OFF_NOT;
  if (ends_with_discount (named) && !qm_words_name_model (named))
    return QM_CSV_OFF_TAKEN;
  if (qm_words_name_model (first))
    return QM_CSV_OFF_NOT;
  if (ends_off (part))
    return QM_CSV_OFF_TAKEN;
  /* "Academic program: 10 % discount", but "GPU server, academic discount" is
   * a server. */
  return !qm_words_name_goods (first) && ends_off (normal) ? QM_CSV_OFF_TAKEN
                                                           : QM_CSV_OFF_NOT;
}
