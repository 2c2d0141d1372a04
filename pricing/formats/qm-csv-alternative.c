/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-alternative.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* What alternatives are called, before a number or letter. */
static const char group_words[] = QM_WORDS_GROUP;
/* Of these there may be several that are no alternatives, so that at the end of
 * a text a mark has to stand before them. */
static const char weak_words[] = QM_WORDS_GROUP_WEAK;

gboolean
qm_csv_word_is_group (const char *word)
{
  static GHashTable *set;

  return g_hash_table_contains (qm_csv_phrases_once (&set, group_words), word);
}

/* What is behind how many there are: "1/2", "1 of 2". */
static const char *
skip_number_of_all (const char *text)
{
  static const char *const of[] = { "/",    " of ",  " von ", " de ",
                                    " di ", " van ", " z " };

  for (guint i = 0; i < G_N_ELEMENTS (of); i++)
    if (g_str_has_prefix (text, of[i])
        && g_ascii_isdigit (text[strlen (of[i])]))
      {
        const char *end = text + strlen (of[i]);

        return end + strspn (end, "0123456789");
      }
  return text;
}

/* The end of a number or letter that tells alternatives apart; NULL: this is
 * none. */
static const char *
skip_label (const char *text)
{
  gsize n = strspn (text, "0123456789");

  if (n > 0 && n <= 2)
    return skip_number_of_all (text + n);
  if (n == 0)
    n = strspn (text, "IVX");
  if (n == 0 && g_ascii_isalpha (text[0]))
    n = 1;
  return n == 0 || n > 4 ? NULL : text + n;
}

/* The same where the text may go on behind it. */
static const char *
label_end (const char *text)
{
  const char *end = skip_label (text);

  if (end == NULL || (*end == '.' && g_ascii_isalnum (end[1])))
    return NULL;
  if (*end == '\0')
    return g_ascii_islower (text[0]) ? NULL : end;
  if (strchr (":).;,-(]", *end) != NULL || g_str_has_prefix (end, "–"))
    return end;
  if (*end != ' ')
    return NULL;
  end += strspn (end, " ");
  if (strchr (":-(=", *end) != NULL || g_str_has_prefix (end, "–"))
    return end;
  /* "Option A GPU server": a capital alone is nothing else. */
  return g_ascii_isupper (text[0]) && text[1] == ' ' ? end : NULL;
}

/* The bytes of a label without how many there are of them. */
static gsize
label_length (const char *label)
{
  gsize n = 0;

  while (g_ascii_isalnum (label[n]))
    n++;
  return n;
}

char *
qm_csv_alternative_parse (const char *text, const char **rest)
{
  g_autofree char *word = NULL;
  g_autofree char *normal = NULL;
  const char *label, *end;
  gsize n;

  text += strspn (text, " \t([");
  n = strcspn (text, " :#\n");
  label = text + n + strspn (text + n, " :#");
  end = n < QM_CSV_LONGEST_PHRASE ? label_end (label) : NULL;
  if (end == NULL)
    return NULL;
  word = g_strndup (text, n);
  normal = qm_csv_normalize (word);
  if (!qm_csv_word_is_group (normal))
    return NULL;
  if (rest != NULL)
    *rest = end + strspn (end, " :).;,-]");
  return g_strndup (text, (gsize) (label - text) + label_length (label));
}

/* The name that a text is, from the beginning to the end. */
static char *
parse_whole (const char *text)
{
  g_autofree char *word = NULL;
  g_autofree char *normal = NULL;
  const char *label, *end;
  gsize n;

  text += strspn (text, " ");
  n = strcspn (text, " :#.-_");
  label = text + n + strspn (text + n, " :#.-_");
  end = label > text + n ? skip_label (label) : NULL;
  if (end == NULL || end[strspn (end, " .,;:")] != '\0')
    return NULL;
  word = g_strndup (text, n);
  normal = qm_csv_normalize (word);
  if (!qm_csv_word_is_group (normal))
    return NULL;
  return g_strdup_printf ("%s %.*s", word, (int) label_length (label), label);
}

char *
qm_csv_alternative_in_brackets (const char *text)
{
  for (const char *open = text; (open = strpbrk (open, "([")) != NULL; open++)
    {
      gsize n = strcspn (open + 1, "()[]");
      g_autofree char *inside = g_strndup (open + 1, n);
      char *name = parse_whole (inside);

      if (name != NULL)
        return name;
    }
  return NULL;
}

/* Whether a mark stands at the end of the first `n` bytes. */
static gboolean
ends_with_mark (const char *text, gsize n)
{
  while (n > 0 && text[n - 1] == ' ')
    n--;
  return n > 0
         && (strchr (",;:-|/.", text[n - 1]) != NULL
             || (n >= 3 && strncmp (text + n - 3, "–", 3) == 0)
             || (n >= 3 && strncmp (text + n - 3, "—", 3) == 0));
}

/* The name at the end, whatever stands before. */
static char *
find_at_end (const char *text)
{
  static GHashTable *set;
  GHashTable *weak = qm_csv_phrases_once (&set, weak_words);

  for (const char *p = strchr (text, ' '); p != NULL; p = strchr (p + 1, ' '))
    {
      g_autofree char *name = parse_whole (p + 1);
      g_autofree char *word = NULL;
      g_autofree char *normal = NULL;

      if (name == NULL)
        continue;
      word = g_strndup (name, strcspn (name, " "));
      normal = qm_csv_normalize (word);
      if (!g_hash_table_contains (weak, normal)
          || ends_with_mark (text, (gsize) (p - text)))
        return g_steal_pointer (&name);
    }
  return NULL;
}

char *
qm_csv_alternative_find (const char *text)
{
  const char *rest = NULL;
  char *name = qm_csv_alternative_parse (text, &rest);

  if (name != NULL && rest[0] == '\0')
    g_clear_pointer (&name, g_free);
  else if (name == NULL)
    name = qm_csv_alternative_in_brackets (text);
  return name != NULL ? name : find_at_end (text);
}

gboolean
qm_csv_words_name (const char *normal, const char *name)
{
  gsize length = strlen (name);

  if (length == 0)
    return FALSE;
  for (const char *p = normal; (p = strstr (p, name)) != NULL; p += length)
    if ((p == normal || p[-1] == ' ')
        && (p[length] == ' ' || p[length] == '\0'))
      return TRUE;
  return FALSE;
}

/* The words that a text begins with among those of a list; 0: none. */
static gsize
begin_length (GHashTable *set, const char *normal, gboolean whole)
{
  gsize length = strlen (normal), longest = 0;

  for (gsize n = 1; n <= length && n <= QM_CSV_LONGEST_PHRASE; n++)
    if ((normal[n] == '\0' || (normal[n] == ' ' && !whole))
        && qm_csv_phrases_find (set, normal, n) != 0)
      longest = n;
  return longest;
}

/* Before each of two, in some languages, ... */
static const char both_words[] = QM_WORDS_CHOICE_BOTH;
/* ... and before the first, or the second. */
static const char either_words[] = QM_WORDS_CHOICE_EITHER;
static const char or_words[] = QM_WORDS_CHOICE_OR;

char *
qm_csv_alternative_either (const char *text, gboolean whole, guint *n)
{
  static GHashTable *first_set, *second_set, *both_set;
  g_autofree char *normal = qm_csv_normalize (text);
  GHashTable *both = qm_csv_phrases_once (&both_set, both_words);
  gsize length =
      begin_length (*n == 0 ? qm_csv_phrases_once (&first_set, either_words)
                            : qm_csv_phrases_once (&second_set, or_words),
                    normal, whole);

  if (length == 0)
    length = begin_length (both, normal, whole);
  /* "Ou" and "o" alone begin no list of alternatives. */
  if (length == 0 || (*n == 0 && length <= 2)
      || (*n == 0 && !whole && length <= 3))
    return NULL;
  (*n)++;
  normal[length] = '\0';
  return *n > 2 || (*n == 2 && qm_csv_phrases_find (both, normal, length) != 0)
             ? g_strdup_printf ("%s %u", normal, *n)
             : g_strdup (normal);
}

gboolean
qm_csv_words_say_or (const char *text, gboolean whole)
{
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (text);

  /* "O" alone is also "the". */
  return begin_length (qm_csv_phrases_once (&set, or_words), normal, whole)
         > (whole ? 0 : 1);
}
