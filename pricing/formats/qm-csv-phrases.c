/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/words-quotes.h"

#include <string.h>

/* Of a longer text, only so many bytes are looked at. */
#define LONGEST_TEXT 200

/* Letters that do not come apart into a letter and an accent. */
static const char *
plain_letter (gunichar c)
{
  switch (c)
    {
    case 0x0142: /* l with stroke */
      return "l";
    case 0x00f8: /* o with stroke */
      return "o";
    case 0x00e6:
      return "ae";
    case 0x0153:
      return "oe";
    case 0x0111:
      return "d";
    case '%':
      return "percent ";
    default:
      return NULL;
    }
}

/* The same as below for a text that is ASCII alone, as most are; NULL for any
 * other. */
static char *
normalize_ascii (const char *text)
{
  gsize length = strnlen (text, LONGEST_TEXT);
  g_autofree char *normal = g_malloc (length + 1);
  gsize n = 0;

  for (gsize i = 0; i < length; i++)
    {
      char c = text[i];

      if ((c & 0x80) != 0 || c == '%')
        return NULL;
      if (g_ascii_isalnum (c))
        normal[n++] = g_ascii_tolower (c);
      else if (n > 0 && normal[n - 1] != ' ')
        normal[n++] = ' ';
    }
  while (n > 0 && normal[n - 1] == ' ')
    n--;
  normal[n] = '\0';
  return g_steal_pointer (&normal);
}

/* "I.V.A.", "T.V.A.": taxes of which the letters stand apart. */
static void
join_letters (const char *text, char *normal)
{
  static const char *const apart[] = { "i v a", "t v a", "v a t",
                                       "b t w", "t t c", "m w st" };

  if (strchr (text, '.') == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (apart); i++)
    {
      char *found = strstr (normal, apart[i]);
      gsize n = strlen (apart[i]), to = 0;

      if (found == NULL || (found > normal && found[-1] != ' ')
          || (found[n] != ' ' && found[n] != '\0'))
        continue;
      for (gsize j = 0; j < n; j++)
        if (found[j] != ' ')
          found[to++] = found[j];
      memmove (found + to, found + n, strlen (found + n) + 1);
    }
}

char *
qm_csv_normalize (const char *text)
{
  char *plain = normalize_ascii (text);
  g_autofree char *valid = NULL;
  g_autofree char *folded = NULL;
  g_autofree char *apart = NULL;
  GString *normal;

  if (plain != NULL)
    {
      join_letters (text, plain);
      return plain;
    }
  normal = g_string_new (NULL);
  valid = g_utf8_make_valid (text, (gssize) strnlen (text, LONGEST_TEXT));
  folded = g_utf8_casefold (valid, -1);
  apart = g_utf8_normalize (folded, -1, G_NORMALIZE_ALL);
  for (const char *p = apart; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '%' && normal->len > 0 && normal->str[normal->len - 1] != ' ')
        g_string_append_c (normal, ' ');
      if (plain_letter (c) != NULL)
        g_string_append (normal, plain_letter (c));
      else if (g_unichar_isalnum (c))
        g_string_append_unichar (normal, c);
      else if (!g_unichar_ismark (c) && normal->len > 0
               && normal->str[normal->len - 1] != ' ')
        g_string_append_c (normal, ' ');
    }
  g_strchomp (normal->str);
  join_letters (text, normal->str);
  return g_string_free (normal, FALSE);
}

GHashTable *
qm_csv_phrases_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

void
qm_csv_phrases_add (GHashTable *table, const char *list, guint value)
{
  g_auto (GStrv) phrases = g_strsplit (list, "|", -1);

  for (guint i = 0; phrases[i] != NULL; i++)
    if (!g_hash_table_contains (table, phrases[i]))
      g_hash_table_insert (table, g_strdup (phrases[i]),
                           GUINT_TO_POINTER (value));
}

guint
qm_csv_phrases_find (GHashTable *table, const char *text, gsize length)
{
  char copy[QM_CSV_LONGEST_PHRASE + 1];

  if (length > QM_CSV_LONGEST_PHRASE)
    return 0;
  memcpy (copy, text, length);
  copy[length] = '\0';
  return GPOINTER_TO_UINT (g_hash_table_lookup (table, copy));
}

GHashTable *
qm_csv_phrases_once (GHashTable **set, const char *list)
{
  if (g_once_init_enter (set))
    {
      GHashTable *made = qm_csv_phrases_new ();

      qm_csv_phrases_add (made, list, 1);
      g_once_init_leave (set, made);
    }
  return *set;
}

gboolean
qm_csv_phrases_within (GHashTable *set, const char *normal)
{
  for (const char *start = normal; start != NULL && *start != '\0';)
    {
      for (gsize n = 1; start[n - 1] != '\0' && n <= QM_CSV_LONGEST_PHRASE; n++)
        if ((start[n] == ' ' || start[n] == '\0')
            && qm_csv_phrases_find (set, start, n) != 0)
          return TRUE;
      start = strchr (start, ' ');
      if (start != NULL)
        start++;
    }
  return FALSE;
}

gboolean
qm_csv_word_is_tax (const char *word)
{
  static const char list[] = QM_WORDS_TAX;
  static GHashTable *set;

  return word != NULL
         && (g_hash_table_contains (qm_csv_phrases_once (&set, list), word)
             || g_str_has_suffix (word, "steuer"));
}

/* Whether a word is denied by what stands before it, or behind: "do not
 * include", "ne comprennent pas". */
static gboolean
is_denied (char **words, guint i)
{
  static const char list[] = QM_WORDS_DENIAL;
  static GHashTable *set;
  GHashTable *denials = qm_csv_phrases_once (&set, list);

  return (i > 0 && g_hash_table_contains (denials, words[i - 1]))
         || (words[i + 1] != NULL
             && (strcmp (words[i + 1], "pas") == 0
                 || strcmp (words[i + 1], "nicht") == 0));
}

int
qm_csv_tax_in (const char *normal)
{
  static const char with[] = QM_WORDS_TAX_WITH;
  static const char without[] = QM_WORDS_TAX_WITHOUT;
  /* These may be anything's, but for tax. */
  static const char with_tax[] = QM_WORDS_TAX_WITH_SAID;
  static const char without_tax[] = QM_WORDS_TAX_WITHOUT_SAID;
  static GHashTable *sets[4];
  GHashTable *in = qm_csv_phrases_once (&sets[0], with);
  GHashTable *out = qm_csv_phrases_once (&sets[1], without);
  GHashTable *in_tax = qm_csv_phrases_once (&sets[2], with_tax);
  GHashTable *out_tax = qm_csv_phrases_once (&sets[3], without_tax);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      gboolean of_tax = qm_csv_word_is_tax (words[i + 1]);

      if (g_hash_table_contains (in, words[i])
          || (of_tax && g_hash_table_contains (in_tax, words[i])))
        return is_denied (words, i) ? 0 : 1;
      if (g_hash_table_contains (out, words[i])
          || (of_tax && g_hash_table_contains (out_tax, words[i])))
        return 0;
    }
  return -1;
}

/* What a word beside a tax says of it: 1, 0 or -1. */
static int
tax_beside (const char *word)
{
  static const char with[] = QM_WORDS_TAX_BESIDE_WITH;
  static const char without[] = QM_WORDS_TAX_BESIDE_WITHOUT;
  static GHashTable *in, *out;

  if (g_hash_table_contains (qm_csv_phrases_once (&out, without), word))
    return 0;
  return g_hash_table_contains (qm_csv_phrases_once (&in, with), word) ? 1 : -1;
}

static int
tax_of (char **words, guint i)
{
  int tax = tax_beside (words[i]);

  return tax == 1 && is_denied (words, i) ? 0 : tax;
}

int
qm_csv_tax_in_note (const char *normal)
{
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  int n = (int) g_strv_length (words);

  for (int i = 0; i < n; i++)
    {
      int tax = -1;

      if (strcmp (words[i], "ttc") == 0)
        return 1;
      if (strcmp (words[i], "ht") == 0)
        return 0;
      if (!qm_csv_word_is_tax (words[i]))
        continue;
      /* "inkl. der gesetzlichen MwSt. von 19 %", "VAT not included" */
      for (int j = i - 1; j >= 0 && j >= i - 5 && tax < 0; j--)
        tax = tax_of (words, (guint) j);
      for (int j = i + 1; j < n && j <= i + 3 && tax < 0; j++)
        tax = tax_of (words, (guint) j);
      /* "Die Preise enthalten die MwSt. nicht." */
      if (tax == 1 && i + 2 == n && strcmp (words[i + 1], "nicht") == 0)
        return 0;
      if (tax >= 0)
        return tax;
    }
  return -1;
}

char *
qm_csv_strip_additions (const char *normal)
{
  static const char drop[] = QM_WORDS_ADDITION;
  static GHashTable *set;
  GHashTable *dropped = qm_csv_phrases_once (&set, drop);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  GString *rest = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0' && !g_hash_table_contains (dropped, words[i]))
      g_string_append_printf (rest, "%s%s", rest->len > 0 ? " " : "", words[i]);
  return g_string_free (rest, FALSE);
}
