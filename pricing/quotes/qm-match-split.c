/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-match-private.h"

#include <stdlib.h>
#include <string.h>

gboolean
qm_word_in (const char *word, const char *list)
{
  gsize length = strlen (word);

  for (const char *p = list; length > 0 && (p = strstr (p, word)) != NULL;
       p += length)
    if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
      return TRUE;
  return FALSE;
}

gboolean
qm_words_have (const QmWords *words, const char *list)
{
  for (int i = 0; i < words->n; i++)
    if (qm_word_in (words->words[i], list))
      return TRUE;
  return FALSE;
}

const char *
qm_words_at (const QmWords *words, int i)
{
  return i >= 0 && i < words->n ? words->words[i] : "";
}

int
qm_word_memory (const char *word)
{
  gsize digits = strspn (word, "0123456789");

  if (digits == 0 || digits > 4 || !qm_word_in (word + digits, "g gb go gib"))
    return 0;
  return atoi (word);
}

static void
append_word (QmWords *words, const char *word, gsize length)
{
  if (words->n >= QM_MATCH_MAX_WORDS || length == 0)
    return;
  length = MIN (length, QM_MATCH_WORD_BYTES - 1);
  words->parted[words->n] = FALSE;
  memcpy (words->words[words->n], word, length);
  words->words[words->n++][length] = '\0';
}

/* The length of what a word begins with and is to be cut off; 0: nothing. */
static gsize
find_prefix (const char *word)
{
  static const char *const prefixes[] = { "geforce", "nvidia", "quadro",
                                          "tesla",   "rtx",    "gtx",
                                          "dgx",     "hgx" };
  gsize digits = strspn (word, "0123456789");
  gsize length = strlen (word);

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (word, prefixes[i]) && length > strlen (prefixes[i]))
      return strlen (prefixes[i]);
  if (digits >= 1 && digits <= 2 && word[digits] == 'x' && length > digits + 2)
    return digits + 1;
  if (digits == 4 && qm_word_in (word + 4, "ti super d ada tisuper"))
    return 4;
  if (g_str_has_prefix (word, "pro") && length == 7
      && strspn (word + 3, "0123456789") == 4)
    return 3;
  if (digits >= 1 && digits <= 2 && qm_word_in (word + digits, "gpu gpus"))
    return digits;
  return 0;
}

/* The same for the end: where it begins. */
static gsize
find_suffix (const char *word)
{
  static const char *const suffixes[] = { "pcie", "sxm",  "sxm2", "sxm3",
                                          "sxm4", "sxm5", "sxm6", "nvl" };
  gsize length = strlen (word);

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (word, suffixes[i])
        && length > strlen (suffixes[i]) + 1
        && g_ascii_isdigit (word[length - strlen (suffixes[i]) - 1]))
      return length - strlen (suffixes[i]);
  return 0;
}

static void
append_apart (QmWords *words, const char *word)
{
  gsize at = find_prefix (word);

  if (at > 0)
    {
      append_word (words, word, at);
      append_apart (words, word + at);
      return;
    }
  at = find_suffix (word);
  if (at > 0)
    {
      append_word (words, word, at);
      append_word (words, word + at, strlen (word + at));
      return;
    }
  append_word (words, word, strlen (word));
}

/* Puts together what belongs together: "80 GB", "Max-Q", "PCI-E". */
static void
join (QmWords *words)
{
  int n = 0;

  for (int i = 0; i < words->n; i++)
    {
      char *word = words->words[i];
      const char *next = i + 1 < words->n ? words->words[i + 1] : "";
      char joined[QM_MATCH_WORD_BYTES] = "";
      gsize digits = strspn (word, "0123456789");

      if (digits > 0 && digits <= 4 && word[digits] == '\0'
          && qm_word_in (next, "gb go gib"))
        g_snprintf (joined, sizeof joined, "%sgb", word);
      else if (strcmp (word, "max") == 0 && strcmp (next, "q") == 0)
        g_strlcpy (joined, "maxq", sizeof joined);
      else if (strcmp (word, "pci") == 0 && qm_word_in (next, "e express"))
        g_strlcpy (joined, "pcie", sizeof joined);
      else if (qm_word_in (word, "water wasser")
               && qm_word_in (next, "block blocks"))
        g_strlcpy (joined, "waterblock", sizeof joined);
      words->parted[n] = words->parted[i];
      if (joined[0] != '\0')
        {
          g_strlcpy (words->words[n++], joined, QM_MATCH_WORD_BYTES);
          i++;
        }
      else if (n++ != i)
        memcpy (words->words[n - 1], word, QM_MATCH_WORD_BYTES);
    }
  words->n = n;
}

/* Words of Japanese and Chinese that tell what is sold; of others, nothing is
 * left in ASCII. */
static char *
to_ascii (const char *text)
{
  static const char *const names[][2] = {
    { "保守", " maintenance " },
    { "サポート", " support " },
    { "保証", " warranty " },
    { "保修", " warranty " },
    { "维保", " maintenance " },
    { "維護", " maintenance " },
    { "维护", " maintenance " },
    { "技术支持", " support " },
    { "オンサイト", " onsite " },
    { "サーバ", " server " },
    { "服务器", " server " },
    { "年間", " years " },
    { "年", " years " },
    { "ヶ月", " months " },
    { "か月", " months " },
    { "个月", " months " },
    { "、", ", " },
    { "，", ", " },
  };
  g_autoptr (GString) names_replaced = NULL;

  if (g_str_is_ascii (text))
    return g_strdup (text);
  names_replaced = g_string_new (text);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_replace (names_replaced, names[i][0], names[i][1], 0);
  return g_str_to_ascii (names_replaced->str, "C");
}

/* Whether a mark ends what was said: a comma, a bracket, a dash with spaces
 * around it. */
static gboolean
is_mark (const char *text, const char *p)
{
  return strchr (",;:([+|\n", *p) != NULL
         || (*p == '-' && p > text && p[-1] == ' ' && p[1] == ' ');
}

void
qm_words_split (QmWords *words, const char *text)
{
  g_autofree char *ascii = to_ascii (text);
  char word[QM_MATCH_WORD_BYTES * 2];
  gboolean mark = FALSE;
  gsize n = 0;

  qm_text_blank_positions (ascii);
  words->n = 0;
  for (const char *p = ascii;; p++)
    {
      int first = words->n;

      if (g_ascii_isalnum (*p))
        {
          if (n < sizeof word - 1)
            word[n++] = g_ascii_tolower (*p);
          continue;
        }
      word[n] = '\0';
      if (n > 0)
        append_apart (words, word);
      if (words->n > first)
        {
          words->parted[first] = mark;
          mark = FALSE;
        }
      n = 0;
      if (*p == '\0')
        break;
      mark = mark || is_mark (ascii, p);
    }
  join (words);
}
