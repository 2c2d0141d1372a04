/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-tier.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/words-quotes.h"

#include <stdlib.h>
#include <string.h>

/* Of no more bytes and digits. */
#define LONGEST_TIER 40
#define MOST_DIGITS  5

/* Between the fewest and the most, ... */
static const char to_words[] = QM_WORDS_TIER_TO;
/* ... before the fewest, ... */
static const char from_words[] = QM_WORDS_TIER_FROM;
/* ... before the most, ... */
static const char until_words[] = QM_WORDS_TIER_UNTIL;
/* ... and behind the fewest. */
static const char more_words[] = QM_WORDS_TIER_MORE;
static const char piece_words[] = QM_WORDS_TIER_PIECE;

/* What is left of words behind the longest phrase of a list that they begin
 * with; NULL: there is none. */
static const char *
skip_phrase (GHashTable **set, const char *list, const char *words)
{
  GHashTable *phrases = qm_csv_phrases_once (set, list);
  const char *rest = NULL;

  for (gsize n = 1; n <= strlen (words) && n <= QM_CSV_LONGEST_PHRASE; n++)
    if ((words[n] == ' ' || words[n] == '\0')
        && qm_csv_phrases_find (phrases, words, n) != 0)
      rest = words + n + strspn (words + n, " ");
  return rest;
}

/* A whole number and what is behind it. */
static const char *
skip_number (const char *words, int *number)
{
  gsize n = strspn (words, "0123456789");

  if (n == 0 || n > MOST_DIGITS)
    return NULL;
  *number = atoi (words);
  return words + n + strspn (words + n, " ");
}

/* The words of a range, with words in place of its marks. */
static char *
spell (const char *text)
{
  static const char *const marks[][2] = {
    { "–", " to " },     { "—", " to " },   { "-", " to " },
    { "…", " to " },     { "..", " to " },  { "≥", " from " },
    { ">=", " from " },  { "+", " plus " }, { "≤", " up to " },
    { "<=", " up to " },
  };
  g_autoptr (GString) spelled = g_string_new (text);

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    g_string_replace (spelled, marks[i][0], marks[i][1], 0);
  return qm_csv_normalize (spelled->str);
}

/* pieces: whether the words name what there are so many of. */
static gboolean
parse_tier (const char *text, int *least, gboolean *pieces)
{
  static GHashTable *to, *from, *until, *more, *piece;
  g_autofree char *words = NULL;
  const char *rest, *next, *behind;
  int most = G_MAXINT;
  gboolean range = FALSE;

  if (strlen (text) > LONGEST_TIER || strpbrk (text, "0123456789") == NULL)
    return FALSE;
  words = spell (text);
  rest = words;
  *least = 1;
  if ((next = skip_phrase (&until, until_words, rest)) != NULL)
    {
      rest = skip_number (next, &most);
      range = TRUE;
    }
  else
    {
      next = skip_phrase (&from, from_words, rest);
      range = next != NULL;
      rest = skip_number (next != NULL ? next : rest, least);
      next = rest != NULL ? skip_phrase (&to, to_words, rest) : NULL;
      if (next != NULL && (behind = skip_number (next, &most)) != NULL)
        {
          rest = behind;
          range = TRUE;
        }
    }
  if (rest == NULL || *least < 1 || most < *least)
    return FALSE;
  for (int i = 0; i < 2; i++)
    {
      next = skip_phrase (&piece, piece_words, rest);
      *pieces = *pieces || next != NULL;
      rest = next != NULL ? next : rest;
      next = skip_phrase (&more, more_words, rest);
      range = range || next != NULL;
      rest = next != NULL ? next : rest;
    }
  return range && rest[0] == '\0';
}

gboolean
qm_csv_tier_parse (const char *text, int *least)
{
  gboolean pieces = FALSE;

  g_return_val_if_fail (text != NULL && least != NULL, FALSE);

  return parse_tier (text, least, &pieces);
}

gboolean
qm_csv_tier_find (const char *text, int *least, gsize *length)
{
  gsize n = strlen (text);
  g_autofree char *end = NULL;
  gboolean pieces = FALSE;

  g_return_val_if_fail (least != NULL && length != NULL, FALSE);

  while (n > 0 && strchr (",;([|:\n", text[n - 1]) == NULL)
    n--;
  if (n == 0)
    return FALSE;
  end = g_strdup (text + n);
  g_strdelimit (end, ")]", ' ');
  *length = n - 1;
  return parse_tier (g_strstrip (end), least, &pieces) && pieces;
}
