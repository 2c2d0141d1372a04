/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-pairs.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/words-lines.h"

#include <string.h>

/* No name is of more words, no value of a day longer, in bytes. */
#define MOST_WORDS   6
#define LONGEST_DATE 48
/* Of a longer text, only so many bytes are looked at. */
#define LONGEST_TEXT 400

static gboolean
is_letter (char c)
{
  return g_ascii_isalnum (c) || (c & 0x80) != 0;
}

/* What stands between the words of a name. */
static const char *
skip_inside (const char *text)
{
  return text + strspn (text, " '.-");
}

static gboolean
is_wanted (QmCsvField field, const char *end)
{
  switch (field)
    {
    case QM_CSV_QUOTE:
    case QM_CSV_ISSUED:
    case QM_CSV_VALID_FROM:
    case QM_CSV_VALID_UNTIL:
      return TRUE;
    case QM_CSV_VENDOR:
    case QM_CSV_CURRENCY:
      return end[strspn (end, " ")] == ':';
    default:
      return FALSE;
    }
}

/* The longest name that a text begins with: its end.  NULL: none. */
static const char *
find_name (const char *text, QmCsvField *field)
{
  const char *end = text, *found = NULL;

  for (guint i = 0; i < MOST_WORDS && is_letter (*end); i++)
    {
      g_autofree char *name = NULL;
      g_autofree char *normal = NULL;
      QmCsvField of;

      while (is_letter (*end))
        end++;
      name = g_strndup (text, (gsize) (end - text));
      normal = qm_csv_normalize (name);
      of = qm_csv_field_exactly (normal);
      if (is_wanted (of, end))
        {
          *field = of;
          found = end;
        }
      end = skip_inside (end);
    }
  return found;
}

/* Whether a word stands in a list that begins and ends with a space. */
static gboolean
is_among (const char *word, gsize n, const char *list)
{
  g_autofree char *spaced = g_strdup_printf (" %.*s ", (int) n, word);
  g_autofree char *low = g_utf8_strdown (spaced, -1);

  return strstr (list, low) != NULL;
}

/* The bytes of a mark that a text begins with; 0: none. */
static gsize
mark_before (const char *text, gsize n)
{
  static const char *const marks[] = { "–", "—", "•", "·" };

  if (n > 0 && strchr (" \t\r\n:;,|/()[]-.", text[0]) != NULL)
    return 1;
  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (strlen (marks[i]) <= n
        && strncmp (text, marks[i], strlen (marks[i])) == 0)
      return strlen (marks[i]);
  return 0;
}

/* The same for the end. */
static gsize
mark_behind (const char *text, gsize n)
{
  for (gsize length = 1; length <= MIN (n, 3); length++)
    if (mark_before (text + n - length, length) == length)
      return length;
  return 0;
}

/* A value without marks and small words around it. */
static char *
strip (const char *text, gsize n)
{
  static const char before[] = " " QM_SPACED_PAIR_BEFORE " ";
  static const char after[] = " " QM_SPACED_PAIR_AFTER " ";

  for (;;)
    {
      gsize word = 0, last, mark;

      for (; (mark = mark_before (text, n)) > 0; n -= mark)
        text += mark;
      while ((mark = mark_behind (text, n)) > 0)
        n -= mark;
      while (word < n && text[word] != ' ')
        word++;
      if (word > 0 && is_among (text, word, before))
        {
          text += word;
          n -= word;
          continue;
        }
      for (last = n; last > 0 && text[last - 1] != ' ';)
        last--;
      if (n == 0 || !is_among (text + last, n - last, after))
        return g_strndup (text, n);
      n = last;
    }
}

static void
clear_pair (gpointer data)
{
  QmCsvPair *pair = data;

  g_free (pair->value);
}

static void
add_pair (GArray *pairs, QmCsvField field, const char *value, const char *end)
{
  QmCsvPair pair = { field, NULL };

  if (field == QM_CSV_IGNORED)
    return;
  pair.value = strip (value, (gsize) (end - value));
  g_array_append_val (pairs, pair);
}

GArray *
qm_csv_pairs_split (const char *text, QmCsvField first)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (QmCsvPair));
  g_autofree char *valid =
      g_utf8_make_valid (text, (gssize) strnlen (text, LONGEST_TEXT));
  const char *value = valid;
  QmCsvField field = first;

  g_array_set_clear_func (pairs, clear_pair);
  for (const char *p = valid; *p != '\0';)
    {
      QmCsvField next = QM_CSV_IGNORED;
      const char *end = find_name (p, &next);

      if (end != NULL)
        {
          add_pair (pairs, field, value, p);
          field = next;
          value = end;
          p = end;
        }
      while (end == NULL && is_letter (*p))
        p++;
      while (*p != '\0' && !is_letter (*p))
        p++;
    }
  add_pair (pairs, field, value, valid + strlen (valid));
  return pairs;
}

gboolean
qm_csv_pair_is_dated (const QmCsvPair *pair)
{
  return strlen (pair->value) <= LONGEST_DATE
         && strpbrk (pair->value, "0123456789") != NULL;
}
