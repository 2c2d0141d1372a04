/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-date.h"
#include "pricing/words-lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of months without accents; three letters or more of one will do. */
#define MONTH(words, number) words,
static const char *const months[] = { QM_ROWS_MONTH (MONTH) };

/* What may stand between the day, the month and the year, ... */
static const char between[] = " " QM_SPACED_DATE_BETWEEN " ";
/* ... before a last day, ... */
static const char until_words[] = " " QM_SPACED_DATE_UNTIL " ";
/* ... before a first one, ... */
static const char from_words[] = " " QM_SPACED_DATE_FROM " ";
/* ... and after a number of days. */
static const char counted_words[] = " " QM_SPACED_DATE_COUNTED " ";

static const char day_words[] = " " QM_SPACED_DATE_DAY " ";
static const char week_words[] = " " QM_SPACED_DATE_WEEK " ";
static const char month_words[] = " " QM_SPACED_DATE_MONTH " ";

/* Whether a word stands in a list that begins and ends with a space. */
static gboolean
is_among (const char *word, const char *list)
{
  gsize n = strlen (word);
  const char *found = list;

  while (n > 0 && (found = strstr (found, word)) != NULL)
    {
      if (found[-1] == ' ' && found[n] == ' ')
        return TRUE;
      found += n;
    }
  return FALSE;
}

static gboolean
make_date (int year, int month, int day, QmDate *date)
{
  char text[16];
  QmDate parsed;

  if (year < 100)
    year += 2000;
  if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1
      || day > 31)
    return FALSE;
  g_snprintf (text, sizeof text, "%04d-%02d-%02d", year, month, day);
  if (!qm_date_parse (text, &parsed))
    return FALSE;
  *date = parsed;
  return TRUE;
}

/* Whether one of the names of a month begins so. */
static gboolean
is_month (const char *list, const char *name)
{
  gsize n = strlen (name);
  const char *found = list;

  while ((found = strstr (found, name)) != NULL)
    {
      if (found == list || found[-1] == '|')
        return TRUE;
      found += n;
    }
  return FALSE;
}

/* The month of a name of three letters or more; 0: none, or several ("jui"). */
static int
month_of (const char *name)
{
  int month = 0;

  if (strlen (name) < 3 || strchr (name, ' ') != NULL)
    return 0;
  for (int i = 0; i < 12; i++)
    if (is_month (months[i], name))
      {
        if (month != 0)
          return 0;
        month = i + 1;
      }
  return month;
}

/* A whole number, perhaps with the ending of an ordinal; 0: none. */
static int
day_or_year (const char *word)
{
  int number, end = 0;

  if (sscanf (word, "%4d%n", &number, &end) != 1 || number < 0
      || (word[end] != '\0'
          && !is_among (word + end, " st nd rd th er e o a ")))
    return 0;
  return number;
}

/* "31 March 2026", "March 31, 2026", "9 de marzo de 2026". */
static gboolean
parse_words (const char *text, QmDate *date)
{
  g_autofree char *normal = qm_csv_normalize (text);
  g_auto (GStrv) words = g_strsplit (normal, " ", 12);
  int numbers[2] = { 0 }, month = 0;
  guint n = 0, month_at = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      int number = day_or_year (words[i]);

      if (is_among (words[i], between) && i > 0)
        continue;
      if (number > 0 && n < 2)
        numbers[n++] = number;
      else if (month == 0 && (month = month_of (words[i])) > 0)
        month_at = n;
      else
        return FALSE;
    }
  if (n != 2 || month == 0 || month_at > 1 || numbers[1] < 1000)
    return FALSE;
  return make_date (numbers[1], month, numbers[0], date);
}

static gboolean
parse_strokes (int first, int second, int year, QmDateOrder order, QmDate *date)
{
  if (order == QM_DATES_GUESS && first <= 12 && second <= 12 && first != second)
    return FALSE;
  if (order == QM_DATES_MONTH_FIRST || (order == QM_DATES_GUESS && second > 12))
    return make_date (year, first, second, date);
  return make_date (year, second, first, date);
}

/* Whether nothing but a time of day is left: "T10:00:00+02:00", " 9:30 pm", or
 * the Polish word for a year. */
static gboolean
ends_with_time (const char *rest)
{
  int hour, minute, end = 0;

  if (rest[0] == '\0' || strcmp (rest, " r.") == 0 || strcmp (rest, "r.") == 0)
    return TRUE;
  if ((rest[0] != 'T' && rest[0] != ' ')
      || sscanf (rest + 1, " %2d:%2d%n", &hour, &minute, &end) != 2)
    return FALSE;
  rest += 1 + end;
  rest += strspn (rest, ":.0123456789");
  while (*rest == ' ')
    rest++;
  if (g_ascii_strncasecmp (rest, "am", 2) == 0
      || g_ascii_strncasecmp (rest, "pm", 2) == 0)
    rest += 2;
  return rest[strspn (rest, "Z+-:0123456789")] == '\0';
}

static gboolean
parse_numbers (const char *text, QmDateOrder order, QmDate *date)
{
  char separator[2], again[2];
  int a, b, c, end = 0;

  if (sscanf (text, "%4d%1[-/.]%2d%1[-/.]%2d%n", &a, separator, &b, again, &c,
              &end)
          == 5
      && a >= 1000 && separator[0] == again[0] && ends_with_time (text + end))
    return make_date (a, b, c, date);
  end = 0;
  if (sscanf (text, "%2d%1[-/.]%2d%1[-/.]%4d%n", &a, separator, &b, again, &c,
              &end)
          != 5
      || a <= 0 || b <= 0 || c <= 0 || separator[0] != again[0]
      || !ends_with_time (text + end))
    return FALSE;
  if (separator[0] == '.')
    return make_date (c, b, a, date);
  return parse_strokes (a, b, c, order, date);
}

gboolean
qm_csv_date_parse (const char *text, QmDateOrder order, QmDate *date)
{
  g_autofree char *bare = NULL;

  g_return_val_if_fail (text != NULL && date != NULL, FALSE);

  bare = g_strstrip (g_strdup (text));
  return parse_numbers (bare, order, date) || parse_words (bare, date);
}

/* What is left of a text behind the words of a list. */
static const char *
skip_words (const char *text, const char *list)
{
  for (;;)
    {
      gsize n;
      g_autofree char *word = NULL;
      g_autofree char *normal = NULL;
      g_auto (GStrv) parts = NULL;

      text += strspn (text, " \t:");
      n = strcspn (text, " \t:");
      word = g_strndup (text, n);
      normal = qm_csv_normalize (word);
      parts = g_strsplit (normal, " ", -1);
      if (parts[0] == NULL)
        return text;
      for (guint i = 0; parts[i] != NULL; i++)
        if (!is_among (parts[i], list))
          return text;
      text += n;
    }
}

/* Reads a date to which the year is added. */
static gboolean
parse_with_year (const char *text, int year, QmDateOrder order, QmDate *date)
{
  static const char *const joints[] = { "", ".", "/", "-", " " };

  for (guint i = 0; i < G_N_ELEMENTS (joints); i++)
    {
      g_autofree char *whole =
          g_strdup_printf ("%s%s%d", text, joints[i], year);

      if (qm_csv_date_parse (whole, order, date))
        return TRUE;
    }
  return FALSE;
}

/* The first day of a term of which the last one has the year, and perhaps the
 * month, for both: "01.06. bis 30.06.2026", "1 - 30 June 2026", "15/12 al
 * 15/01/2027". */
static gboolean
parse_first (const char *text, QmDateOrder order, QmCsvTerm *term)
{
  g_autofree char *bare = g_strstrip (g_strdup (text));
  gsize digits = strspn (bare, "0123456789");
  const char *rest = bare + digits + (bare[digits] == '.');
  const QmDate until = term->until;

  if (digits > 2 || strpbrk (bare, "0123456789") == NULL)
    return FALSE;
  if (digits > 0 && *rest == '\0')
    return make_date (until.year, until.month, atoi (bare), &term->from);
  return (parse_with_year (bare, until.year, order, &term->from)
          && qm_date_compare (term->from, until) <= 0)
         || parse_with_year (bare, until.year - 1, order, &term->from);
}

/* "June 1 - 30, 2026": the month stands in the first half, the year in the
 * second. */
static gboolean
parse_split (const char *first, const char *second, QmCsvTerm *term)
{
  int day, year, end = 0;

  return strpbrk (first, "./-") == NULL
         && sscanf (second, "%2d, %4d%n", &day, &year, &end) == 2
         && second[end] == '\0'
         && parse_with_year (first, year, QM_DATES_GUESS, &term->from)
         && make_date (year, term->from.month, day, &term->until);
}

/* Two dates that are written in the same order. */
static gboolean
parse_two (const char *first,
           const char *second,
           QmDateOrder order,
           QmCsvTerm *term)
{
  const char *from = skip_words (first, from_words);
  const char *until = skip_words (second, until_words);

  if (!qm_csv_date_parse (until, order, &term->until))
    return parse_split (from, until, term)
           && qm_date_compare (term->from, term->until) <= 0;
  return (qm_csv_date_parse (from, order, &term->from)
          || parse_first (from, order, term))
         && qm_date_compare (term->from, term->until) <= 0;
}

static gboolean
parse_halves (const char *first,
              const char *second,
              QmDateOrder order,
              QmCsvTerm *term)
{
  QmCsvTerm days = { 0 }, months_first = { 0 };
  gboolean one, other;

  if (order != QM_DATES_GUESS)
    return parse_two (first, second, order, term);
  one = parse_two (first, second, QM_DATES_DAY_FIRST, &days);
  other = parse_two (first, second, QM_DATES_MONTH_FIRST, &months_first);
  *term = one ? days : months_first;
  return one != other
         || (one && qm_date_compare (days.from, months_first.from) == 0
             && qm_date_compare (days.until, months_first.until) == 0);
}

/* "A - B", "von A bis B".  Nothing but a space, a dash or a word can end the
 * first date, so each of these is tried. */
static gboolean
parse_range (const char *text, QmDateOrder order, QmCsvTerm *term)
{
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      const char *second = g_utf8_next_char (p);
      g_autofree char *first = NULL;
      QmCsvTerm found = { 0 };

      if (c != ' ' && c != '-' && c != 0x2013 && c != 0x2014)
        continue;
      first = g_strndup (text, (gsize) (p - text));
      while (*second == ' ')
        second++;
      if (c == ' ' && second == skip_words (second, until_words)
          && *second != '-' && !g_str_has_prefix (second, "–"))
        continue;
      if (c == ' ' && (*second == '-' || g_str_has_prefix (second, "–")))
        second = g_utf8_next_char (second);
      if (parse_halves (first, second, order, &found))
        {
          *term = found;
          return TRUE;
        }
    }
  return FALSE;
}

/* "30 days from date of quote", "4 Wochen". */
static gboolean
parse_length (const char *text, QmCsvTerm *term)
{
  g_autofree char *normal = qm_csv_normalize (text);
  g_auto (GStrv) words = g_strsplit (normal, " ", 16);
  int n = words[0] != NULL ? day_or_year (words[0]) : 0;

  if (n <= 0 || n > 999 || words[1] == NULL)
    return FALSE;
  for (guint i = 2; words[i] != NULL; i++)
    if (!is_among (words[i], counted_words) && !is_among (words[i], day_words))
      return FALSE;
  if (is_among (words[1], day_words))
    term->days = n;
  else if (is_among (words[1], week_words))
    term->days = 7 * n;
  else if (is_among (words[1], month_words))
    term->months = n;
  return term->days > 0 || term->months > 0;
}

gboolean
qm_csv_term_parse (const char *text, QmDateOrder order, QmCsvTerm *term)
{
  g_autofree char *bare = NULL;
  QmCsvTerm found = { 0 };
  const char *rest;

  g_return_val_if_fail (text != NULL && term != NULL, FALSE);

  bare = g_utf8_make_valid (text, (gssize) strnlen (text, 200));
  g_strstrip (bare);
  rest = skip_words (bare, until_words);
  if (!qm_csv_date_parse (rest, order, &found.until)
      && !parse_range (bare, order, &found) && !parse_length (rest, &found))
    {
      rest = skip_words (bare, from_words);
      if (rest == bare || !qm_csv_date_parse (rest, order, &found.from))
        return FALSE;
    }
  *term = found;
  return TRUE;
}

QmDate
qm_csv_term_end (const QmCsvTerm *term, QmDate issued_on)
{
  g_autoptr (GDate) date = NULL;
  QmDate end = { 0 };

  g_return_val_if_fail (term != NULL, end);

  if ((term->days == 0 && term->months == 0) || issued_on.year == 0
      || issued_on.month == 0 || issued_on.day == 0)
    return end;
  date = g_date_new_dmy ((GDateDay) issued_on.day, (GDateMonth) issued_on.month,
                         (GDateYear) issued_on.year);
  g_date_add_days (date, (guint) term->days);
  g_date_add_months (date, (guint) term->months);
  end.year = g_date_get_year (date);
  end.month = (int) g_date_get_month (date);
  end.day = g_date_get_day (date);
  return end;
}
