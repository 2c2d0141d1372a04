/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers that count nothing: "Pos. 2: NVIDIA H100 NVL" is the second line of a
 * quote, and no two GPUs. */

#include "config.h"

#include "pricing/quotes/qm-match-private.h"
#include "pricing/words-lines.h"

#include <string.h>

#define MAX_DIGITS 3 /* more are a model's: "Nr. 4090" */

/* What stands before the number of a line, ... */
static const char position_words[] = QM_SPACED_POSITION_POSITION;

/* ... and what does so as the first word, or where a mark follows: "No. 2",
 * but not "los 2 servidores". */
static const char first_words[] = QM_SPACED_POSITION_FIRST;

/* What is numbered where a mark follows: "Option 2:". */
static const char heading_words[] = QM_SPACED_POSITION_HEADING;

/* What makes a number that of pieces. */
static const char counted_words[] = QM_SPACED_POSITION_COUNTED;

/* What stands between the numbers of lines. */
static const char and_words[] = QM_SPACED_POSITION_AND;

static gsize
count_digits (const char *text)
{
  return strspn (text, "0123456789");
}

/* The letters at the start of a text, in lower case; "": none, or too many.
 *
 * Returns: how many there are. */
static gsize
get_letters (const char *text, char word[QM_MATCH_WORD_BYTES])
{
  gsize n = 0;

  for (; g_ascii_isalpha (text[n]); n++)
    if (n < QM_MATCH_WORD_BYTES - 1)
      word[n] = g_ascii_tolower (text[n]);
  word[n < QM_MATCH_WORD_BYTES ? n : 0] = '\0';
  return n;
}

/* The length of a position at the start of a text, "2", "1.2", "2a"; 0: there
 * is none, or it counts something. */
static gsize
number_length (const char *text)
{
  gsize n = count_digits (text), more;
  char next[QM_MATCH_WORD_BYTES];
  gsize length;

  if (n == 0 || (n > MAX_DIGITS && text[0] != '0'))
    return 0;
  while (text[n] == '.' && (more = count_digits (text + n + 1)) > 0
         && more <= MAX_DIGITS)
    n += 1 + more;
  if (text[n] != '\0' && strchr ("abcdef", g_ascii_tolower (text[n])) != NULL
      && !g_ascii_isalnum (text[n + 1]))
    n++;
  if (g_ascii_isalnum (text[n]))
    return 0;
  text += n + strspn (text + n, " -");
  length = get_letters (text, next);
  return !g_ascii_isdigit (text[length]) && qm_word_in (next, counted_words)
             ? 0
             : n;
}

/* Where the next number may stand behind one that ends at `p`: "2-4",
 * "1 + 2", "2 und 3"; NULL: nowhere. */
static const char *
next_number (const char *p, gboolean commas)
{
  char word[QM_MATCH_WORD_BYTES];
  gsize length;

  if (*p == '-')
    return p + 1;
  p += strspn (p, " ");
  if (*p != '\0' && strchr (commas ? "/+&," : "/+&", *p) != NULL)
    return p + 1 + strspn (p + 1, " ");
  length = get_letters (p, word);
  return p[length] == ' ' && qm_word_in (word, and_words) ? p + length + 1
                                                          : NULL;
}

/* The same with those that follow; a comma is between numbers only where a
 * colon ends them: "Pos. 2, 3: L40S", but "Pos. 2, 4 L40S". */
static gsize
numbers_length (const char *text, gboolean commas)
{
  gsize n = number_length (text);
  gsize more = n;
  const char *p;

  while (more > 0 && (p = next_number (text + n, commas)) != NULL)
    if ((more = number_length (p)) > 0)
      n = (gsize) (p - text) + more;
  return commas && text[n] != ':' ? numbers_length (text, FALSE) : n;
}

static gboolean
is_marked (const char *p)
{
  return (*p != '\0' && strchr (":.),;]", *p) != NULL)
         || g_str_has_prefix (p, " -") || g_str_has_prefix (p, " :");
}

/* Where a number may stand behind a word that ends at `p`. */
static char *
skip_to_number (char *p)
{
  return *p == '-' ? p + 1 : p + strspn (p, " .:#?");
}

static void
blank (char *from, gsize length)
{
  memset (from, ' ', length);
}

/* Blanks "2.", "2)", "1.2" or "2:" at the start.
 *
 * Returns: where to read on. */
static char *
blank_leading (char *text)
{
  char *p = text + strspn (text, " \t");
  gsize n = number_length (p);
  gsize marks = strspn (p + n, ".):");
  char next = p[n + marks];

  if (n == 0 || (marks == 0 && memchr (p, '.', n) == NULL)
      || (next != ' ' && next != '\0' && !g_ascii_isalpha (next)))
    return text;
  blank (p, n + marks);
  return p + n + marks;
}

/* Blanks the position that the word at `word` tells, but not that word where
 * something stands before it: "for item 2: L40S" is not "for L40S".
 *
 * first: nothing stands before it.
 *
 * Returns: where to read on. */
static char *
blank_named (char *word, gboolean first)
{
  char name[QM_MATCH_WORD_BYTES];
  char *end = word + get_letters (word, name);
  char *number = skip_to_number (end);
  gboolean always = qm_word_in (name, position_words);
  gboolean often = qm_word_in (name, first_words) && number > end;
  gsize n;

  if (!always && !often && !qm_word_in (name, heading_words))
    return end;
  n = numbers_length (number, TRUE);
  if (n == 0
      || !(always || is_marked (number + n)
           || (often && (first || *end == '.' || *end == '?'))))
    return end;
  if (first)
    {
      n += strspn (number + n, ":.)");
      blank (word, (gsize) (end - word));
    }
  blank (end, (gsize) (number + n - end));
  return number + n;
}

void
qm_text_blank_positions (char *ascii)
{
  gboolean first = TRUE;
  char *p = blank_leading (ascii);

  while (*p != '\0')
    if (g_ascii_isalpha (*p) && (p == ascii || !g_ascii_isalnum (p[-1])))
      {
        p = blank_named (p, first);
        first = FALSE;
      }
    else if (*p == '#' && number_length (p + 1) > 0)
      {
        gsize n = 1 + number_length (p + 1);

        blank (p, n);
        if (!first)
          memcpy (p, "no", 2);
        p += n;
      }
    else
      p++;
}
